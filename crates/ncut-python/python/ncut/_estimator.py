"""The estimator."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from ncut import _ncut
from ncut._cluster import Hierarchy, constraint_settings, solve, solver_settings, sureness
from ncut._graphs import Csr, csr, matrix_of, plain, rows_matrix, symmetric_source
from ncut._nodes import label_array, names_of, refuse_cells
from ncut._points import link, link_new_sparse, link_sparse, point_settings
from ncut._progress import Listener
from ncut._settings import seed, threads

POINT_AFFINITIES = ("self_tuning", "nearest_neighbors", "rbf", "cosine", "adaptive")
PRECOMPUTED = ("precomputed", "precomputed_nearest_neighbors")


class NormalizedCut(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Clustering by Normalized Cut, in place of `sklearn.cluster.SpectralClustering`.

    The points become a graph of nearest neighbours, and the graph is divided so that its Normalized Cut is small.
    Spectral clustering solves a relaxed problem and rounds the answer; this works on the real one. Exactly
    `n_clusters` non-empty clusters come back, always, and the same on every run, machine and number of threads.

    Parameters
    ----------
    n_clusters : int, "auto" or None, default=8
        Number of clusters: exactly as many come back. "auto" finds out how many there are, 1 if the data
        show none; see `choose`. None, for objective "modularity" only, is as many as that makes.
    affinity : str or callable, default="self_tuning"
        How points become a graph.

        - "self_tuning": nearest neighbours, weights ``exp(-l^2 / (2 sigma_i sigma_j))`` for a link of length ``l``,
          ``sigma_i`` being the mean length of the links at ``i`` (the paper's graph).
        - "nearest_neighbors": nearest neighbours, weights 1.
        - "rbf": nearest neighbours, weights ``exp(-gamma l^2)``.
        - "cosine": nearest neighbours by angle, weights the cosine.
        - "adaptive": nearest neighbours, among which each point shares a weight of 1, more for nearer ones (the graph
          that CLR begins with); worth a try with ``n_neighbors=15`` where groups are small or lie on thin shapes.
        - "precomputed": ``X`` is a symmetric matrix of weights, none negative, sparse or dense.
        - "precomputed_nearest_neighbors": ``X`` is a matrix of distances, sparse as
          `sklearn.neighbors.kneighbors_graph` makes it or dense; the `n_neighbors` smallest of each row are links
          of weight 1.
        - a callable: called with two points, it returns the weight of their link, as in `SpectralClustering`.
    n_neighbors : int, default=25
        Neighbours of each point.
    gamma : float, default=None
        Falloff of "rbf"; None is ``1 / (2 m^2)`` with ``m`` the median length of the links.
    preset : {"paper", "fast", "default", "best"}, default="default"
        Which algorithms run. "paper" is N2HI and Fast-CD as published; "fast" one multilevel pass; "default"
        several starts, split-merge and V-cycles; "best" looks longest for a high objective, until
        `time_limit` or until nothing better turns up.
    min_share : float, default=None
        No cluster's volume falls below this share of the mean volume; 0 is plain N-Cut, which likes slivers.
        None is 0.25, and 0 for "modularity" and for preset "paper", which has none.
    components : {"all", "largest"}, default="all"
        Which part of a disconnected graph is clustered; the rest is labelled -1.
    init : array-like of shape (n_samples,), dict, Series or list of sets, default=None
        Labels to start from; -1 leaves a sample to its neighbours. By number of the sample in a dict, by index in a
        pandas Series (that of `X`, if it is a DataFrame), or a set of samples for each cluster.
    time_limit : float, default=None
        Seconds after which the best so far is kept, once the graph is there.
    max_iter : int, default=50
        Sweeps at most of every coordinate descent.
    tol : float, default=1e-9
        A descent ends when a sweep changes the objective by less, relatively.
    n_jobs : int, default=None
        Threads, as scikit-learn counts them: None is 1 (or what a joblib context says), -1 all cores. The labels
        do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of whatever is random: ties between equals, variations. None is the same as 0: results never change
        from run to run.
    verbose : bool, default=False
        Whether to show a progress bar (by tqdm if installed, else lines on standard error).
    objective : {"ncut", "ratio_cut", "modularity"}, default="ncut"
        What is optimised: Normalized Cut; Ratio-Cut, which weighs a cluster by its number of points instead of its
        volume; or modularity, how much more of the weight is inside clusters than chance would put there. Preset
        "paper" and ``n_clusters="auto"`` know "ncut" only.
    resolution : float, default=None
        The resolution of "modularity": the higher, the more clusters. None is 1, or with `n_clusters` the one that
        makes so many.
    connected : bool, default=None
        Whether every cluster is to be connected, which goes before `min_share`; of a disconnected graph a cluster may
        hold whole components besides. None is True, and False for preset "paper".
    fixed : array-like of shape (n_samples,) or dict, default=None
        Known labels from 0 to ``n_clusters - 1``: samples with one keep exactly that cluster; -1 is free. A dict has
        the labels of some samples by their numbers; of a DataFrame whose index is not 0, 1, 2 and so on, by the index.
    must_link, cannot_link : iterable of pairs of samples, default=None
        Samples that are in the same cluster, and samples that are in different ones, named as for `fixed`.
    max_share : float, default=None
        No cluster's volume (for Ratio-Cut: its size) exceeds so many times the mean; at least 1.
    node_weight : array-like of shape (n_samples,), default=None
        Shares are measured in these weights instead of volumes; for Ratio-Cut they are the sizes of the samples.
    symmetrize : {None, "average", "max"}, default=None
        What to do about a precomputed matrix that is not symmetric: refuse it, or take the mean or the larger of both
        directions.

    Attributes
    ----------
    n_clusters_ : int
        Number of clusters: the one asked for, or the one found.
    hierarchy_ : Hierarchy
        How the samples and then the clusters come together, see `Clustering`; made when it is first asked for.
    confidence_ : ndarray of shape (n_samples,)
        How firmly every sample sits in its cluster, from 0 on the boundary to 1; see the notes of `cluster`.
    membership_ : sparse array of shape (n_samples, n_clusters)
        The shares of the three clusters that pull most on each sample.
    labels_ : ndarray of shape (n_samples,), dtype int32
        Cluster of every sample, numbered by first appearance; -1 for those left out.
    objective_ : float
        ``sum_c A_c / D_c``, the weight inside each cluster over its volume: larger is better.
    resolution_ : float or None
        The resolution of modularity, where that was optimised: the one asked for, or the one found.
    ncut_ : float
        Normalized Cut, the number of clusters less the objective: smaller is better.
    n_iter_ : int
        Sweeps of coordinate descent.
    stop_reason_ : str
        Why the work ended: "local-optimum", "small-improvement", "sweep-limit" or "time-limit".
    clusters_ : structured ndarray of shape (n_clusters,)
        One row a cluster, as in `Clustering`.
    affinity_matrix_ : sparse array or ndarray of shape (n_samples, n_samples)
        The graph; for "precomputed" what was given, not a copy.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen during `fit`, when all are strings.

    See Also
    --------
    cluster : The same for graphs, with more to tell.
    sklearn.cluster.SpectralClustering : The relaxed problem.

    Notes
    -----
    `predict` gives new points to the clusters found: each to the one whose objective gains most when it joins,
    ``(A_c + 2 w_c) / (D_c + d) - A_c / D_c`` for a point of degree ``d`` with weight ``w_c`` to cluster ``c``. Its
    links go to its `n_neighbors` nearest training points and are weighed like theirs; the degrees of those stay as
    they are. A point far from everything is linked to the nearest alone.

    Examples
    --------
    >>> from ncut import NormalizedCut
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(300, noise=0.05, random_state=0)
    >>> model = NormalizedCut(n_clusters=2, n_neighbors=10).fit(X)
    >>> from sklearn.metrics import adjusted_rand_score
    >>> adjusted_rand_score(y, model.labels_)
    1.0
    >>> model.predict([[0.0, 1.0], [1.0, -0.5]]).tolist() == [model.labels_[y == 0][0], model.labels_[y == 1][0]]
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"}), None],
        "affinity": [StrOptions({*POINT_AFFINITIES, *PRECOMPUTED}), callable],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "gamma": [Interval(Real, 0, None, closed="neither"), None],
        "preset": [StrOptions({"paper", "fast", "default", "best"})],
        "objective": [StrOptions({"ncut", "ratio_cut", "modularity"})],
        "resolution": [Interval(Real, 0, None, closed="neither"), None],
        "connected": ["boolean", None],
        "fixed": ["array-like", dict, None],
        "must_link": [Iterable, None],
        "cannot_link": [Iterable, None],
        "max_share": [Interval(Real, 1, None, closed="left"), None],
        "node_weight": ["array-like", dict, None],
        "symmetrize": [StrOptions({"average", "max"}), None],
        "min_share": [Interval(Real, 0, 1, closed="both"), None],
        "components": [StrOptions({"all", "largest"})],
        "init": ["array-like", dict, Iterable, None],
        "time_limit": [Interval(Real, 0, None, closed="left"), None],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_clusters: int | str | None = 8,
        *,
        affinity: Any = "self_tuning",
        n_neighbors: int = 25,
        gamma: float | None = None,
        preset: str = "default",
        min_share: float | None = None,
        components: str = "all",
        init: ArrayLike | None = None,
        time_limit: float | None = None,
        max_iter: int = 50,
        tol: float = 1e-9,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool | int = False,
        objective: str = "ncut",
        resolution: float | None = None,
        connected: bool | None = None,
        fixed: Any = None,
        must_link: Any = None,
        cannot_link: Any = None,
        max_share: float | None = None,
        node_weight: Any = None,
        symmetrize: str | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.gamma = gamma
        self.preset = preset
        self.min_share = min_share
        self.components = components
        self.init = init
        self.time_limit = time_limit
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.objective = objective
        self.resolution = resolution
        self.connected = connected
        self.fixed = fixed
        self.must_link = must_link
        self.cannot_link = cannot_link
        self.max_share = max_share
        self.node_weight = node_weight
        self.symmetrize = symmetrize

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.affinity in PRECOMPUTED
        tags.input_tags.positive_only = self.affinity in PRECOMPUTED
        return tags

    def fit(self, X: Any, y: Any = None) -> NormalizedCut:
        """Cluster the points, or the graph.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            The points, or for a precomputed affinity the matrix. float32 stays float32, a CSR matrix is used in
            place, and nothing is modified.
        y : Ignored
            Not used, present for API consistency by convention.

        Returns
        -------
        NormalizedCut
            The fitted estimator.
        """
        self._validate_params()
        refuse_cells(X)
        names = names_of(X)
        X = validate_data(
            self,
            X,
            accept_sparse=["csr", "csc"],
            dtype=[np.float64, np.float32],
            order="C",
            ensure_all_finite=not self._checks_points(X),
            ensure_min_samples=2,
        )
        n_threads = threads(self.n_jobs)
        random_state = seed(self.random_state)
        listener = Listener(None, self.verbose)
        graph = self._link(X, random_state, n_threads, listener)
        settings = solver_settings(
            self.n_clusters,
            self.preset,
            self.objective,
            self.resolution,
            self.min_share,
            self.components,
            None if self.init is None else label_array(self.init, names, X.shape[0], "init"),
            self.time_limit,
            self.max_iter,
            self.tol,
            random_state,
            self.connected,
        )
        settings |= constraint_settings(
            self.fixed, self.must_link, self.cannot_link, self.max_share, self.node_weight, names, X.shape[0]
        )
        try:
            found = solve(symmetric_source(graph), settings, self.symmetrize, n_threads, listener)
        except ValueError as error:
            # scikit-learn has words of its own for this.
            if graph is X and _least(X) < 0:
                raise ValueError(f"Negative values in data passed to NormalizedCut: {error}") from None
            raise
        self._affinity: Any = graph
        self._dtype = X.dtype
        self._hierarchy: Hierarchy | None = None
        self.labels_ = found["labels"]
        self.n_clusters_ = len(found["clusters"])
        self.objective_ = found["objective"]
        self.resolution_ = found["resolution"]
        self.ncut_ = found["ncut"]
        # A graph so small that all labellings were tried had no sweep; it was looked at once all the same.
        self.n_iter_ = max(found["n_iter"], 1)
        self.stop_reason_ = found["stop_reason"]
        self.clusters_ = found["clusters"]
        self._sure: Any = None
        return self

    def _sureness(self) -> Any:
        check_is_fitted(self)
        # One sweep, for those who ask.
        if self._sure is None:
            source = symmetric_source(self._affinity)
            self._sure = sureness(
                source, self.symmetrize, self.labels_, self.objective, self.n_clusters_, threads(self.n_jobs)
            )
        return self._sure

    @property
    def hierarchy_(self) -> Hierarchy:
        """How the samples and then the clusters come together."""
        check_is_fitted(self)
        if self._hierarchy is None:
            source = symmetric_source(self._affinity)
            self._hierarchy = Hierarchy.of(source, self.symmetrize, self.labels_, threads(self.n_jobs))
        return self._hierarchy

    @property
    def confidence_(self) -> NDArray[np.float64]:
        """How firmly every sample sits in its cluster, from 0 on the boundary to 1."""
        confidence: NDArray[np.float64] = self._sureness()[0]
        return confidence

    @property
    def membership_(self) -> Any:
        """The shares of the three clusters that pull most on each sample, as a sparse array."""
        return self._sureness()[1]

    def predict_membership(self, X: Any) -> NDArray[np.float64]:
        """The shares of all clusters in the pulls on new points, as `membership_` has them for the training points.

        They are no probabilities, though they add up to 1; see the notes of `cluster`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_new, n_features) or (n_new, n_samples)
            New points, as for `predict`.

        Returns
        -------
        ndarray of shape (n_new, n_clusters)
            A row for each point; all 0 for one without links.
        """
        links = self._new_links(X)
        weights, volumes = (plain(self.clusters_[name]) for name in ("weight", "volume"))
        shares = _ncut.lean(links, self.labels_, weights, volumes, self.objective)
        return shares.reshape(-1, len(self.clusters_))

    def predict(self, X: Any) -> NDArray[np.int32]:
        """The clusters of new points; see the notes of the class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_new, n_features) or (n_new, n_samples)
            New points; for "precomputed" the weights of their links to the training points, for
            "precomputed_nearest_neighbors" the distances to them.

        Returns
        -------
        ndarray of shape (n_new,), dtype int32
            The cluster of every point; -1 for one whose links all go to training points without a cluster.
        """
        links = self._new_links(X)
        weights, volumes, associations = (plain(self.clusters_[name]) for name in ("weight", "volume", "association"))
        return _ncut.place(links, self.labels_, weights, volumes, associations, (self.objective, self.resolution_))

    def _new_links(self, X: Any) -> Csr:
        check_is_fitted(self)
        try:
            X = validate_data(
                self,
                X,
                accept_sparse=["csr"],
                dtype=[np.float64, np.float32],
                order="C",
                ensure_all_finite=not self._checks_points(X),
                reset=False,
            )
        except ValueError as error:
            raise self._unpredictable(error) from None
        return csr(self._link_new(X))

    def _unpredictable(self, error: ValueError) -> ValueError:
        """Says more about points that come where there were none to compare them with."""
        if self.affinity not in PRECOMPUTED or "features, but" not in str(error):
            return error
        what = "weights of the links" if self.affinity == "precomputed" else "distances"
        n_samples = self.n_features_in_
        return ValueError(
            f"{error}: after affinity={self.affinity!r} there are no points to compare new ones with, so that predict "
            f"needs the {what} between each new sample and all {n_samples} samples of the training, a column for each; "
            "to predict from points, fit with points and another affinity"
        )

    @property
    def affinity_matrix_(self) -> Any:
        """The graph as a matrix; for "precomputed" what was given, not a copy."""
        try:
            affinity = self._affinity
        except AttributeError:
            raise AttributeError("affinity_matrix_ is there after fit") from None
        # The solver needs no matrix: it is made when it is first asked for, and takes the place of the graph.
        if isinstance(affinity, _ncut.Graph):
            affinity = self._affinity = matrix_of(affinity, self._dtype)
        return affinity

    def _checks_points(self, X: Any) -> bool:
        """Whether the points go straight to the compiled code, which checks them."""
        return self.affinity in POINT_AFFINITIES and not sparse.issparse(X)

    def _link(self, X: Any, random_state: int, n_threads: int, listener: Listener) -> Any:
        """The graph of the training points, or its matrix; remembers what links to new ones need."""
        self._fit_X: Any = None
        self._settings: dict[str, Any] = {}
        self._lengths = np.empty(0)
        if self.affinity == "precomputed":
            return _square(X)
        if self.affinity == "precomputed_nearest_neighbors":
            nearest = _nearest(_square(X), self.n_neighbors)
            nearest.setdiag(0)
            nearest.eliminate_zeros()
            return nearest.maximum(nearest.T).tocsr()
        self._fit_X = X
        if callable(self.affinity):
            return pairwise_kernels(X, metric=self.affinity)
        self._settings = point_settings(self.affinity, self.n_neighbors, self.gamma, False, "auto", random_state)
        if sparse.issparse(X):
            linked = link_sparse(X, self._settings, self.n_jobs)
        else:
            linked = link(plain(X), self._settings, n_threads, listener)
        self._lengths = linked.scale
        return linked.graph

    def _link_new(self, X: Any) -> Any:
        """The weights of the links of new points to the training points, (n_new, n_samples)."""
        if self.affinity == "precomputed":
            return X
        if self.affinity == "precomputed_nearest_neighbors":
            return _nearest(X, self.n_neighbors)
        training = self._fit_X
        if callable(self.affinity):
            return pairwise_kernels(X, training, metric=self.affinity)
        n_points = training.shape[0]
        if sparse.issparse(X) or sparse.issparse(training):
            arrays = link_new_sparse(X, training, self._settings, self._lengths, self.n_jobs)
        else:
            arrays = _ncut.link_new_points(
                plain(X), plain(training), self._settings, self._lengths, threads(self.n_jobs)
            )
        return rows_matrix(arrays, X.shape[0], n_points)


def _square(X: Any) -> Any:
    if X.shape[0] != X.shape[1]:
        raise ValueError(
            f"X is {X.shape[0]} x {X.shape[1]}; a precomputed affinity is square, a row and a column for each sample"
        )
    return X


def _least(X: Any) -> float:
    # Not `X.min()`: scipy's tidies a sparse matrix in place.
    values = X.data if sparse.issparse(X) else X
    return float(values.min()) if values.size else 0.0


def _nearest(distances: Any, n_neighbors: int) -> Any:
    """Ones for the `n_neighbors` smallest distances of each row, of equals those that are stored first."""
    n_rows, n_columns = distances.shape
    if sparse.issparse(distances):
        distances = distances.tocsr()
        counts = np.diff(distances.indptr)
        fewest = int(counts.min())
    else:
        fewest = n_columns
    if _least(distances) < 0:
        raise ValueError("Negative values in data passed to NormalizedCut: distances must not be negative")
    if fewest < n_neighbors:
        raise ValueError(
            f"{n_neighbors} neighbours of each sample are needed, but one has only {fewest} distances; "
            "ask for fewer, or compute more"
        )
    if sparse.issparse(distances):
        rows = np.repeat(np.arange(n_rows), counts)
        order = np.lexsort((distances.data, rows))
        place = np.arange(len(rows)) - np.repeat(distances.indptr[:-1], counts)
        columns = distances.indices[order[place < n_neighbors]]
    else:
        columns = np.argsort(distances, axis=1, kind="stable")[:, :n_neighbors].ravel()
    indptr = np.arange(0, n_rows * n_neighbors + 1, n_neighbors)
    return sparse.csr_array((np.ones(len(columns)), columns, indptr), shape=(n_rows, n_columns))
