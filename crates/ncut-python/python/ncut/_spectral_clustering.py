"""A drop-in for scikit-learn's estimator."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import cluster as sklearn_cluster
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.neighbors import NearestNeighbors, kneighbors_graph
from sklearn.utils import Tags
from sklearn.utils.validation import check_symmetric, validate_data

from ncut._cluster import solve, solver_settings
from ncut._graphs import symmetric_source
from ncut._nodes import refuse_cells
from ncut._progress import Listener
from ncut._settings import threads

PRECOMPUTED = ("precomputed", "precomputed_nearest_neighbors")
# They steer eigenvectors and k-means, and there are neither.
WITHOUT_EFFECT = ("eigen_solver", "n_components", "n_init", "eigen_tol", "assign_labels")

_told: set[str] = set()


class SpectralClustering(sklearn_cluster.SpectralClustering):  # type: ignore[misc]
    """`sklearn.cluster.SpectralClustering`, with every parameter of it, solved by Normalized Cut.

    The graph is the one that scikit-learn makes: a full kernel, or nearest neighbours. Instead of eigenvectors and
    k-means, the clusters themselves are optimised. Exactly `n_clusters` clusters come back, none of them empty and none
    with less than a quarter of the mean volume, and the same on every run. `NormalizedCut` has more settings, makes a
    sparse graph of its own and can predict: start there in new code.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    eigen_solver : {"arpack", "lobpcg", "amg"}, default=None
        No effect: there are no eigenvectors.
    n_components : int, default=None
        No effect: there are no eigenvectors.
    random_state : int, RandomState instance, default=None
        Seed of whatever is random: ties between equals, variations. None is the same as 0: results never change from
        run to run.
    n_init : int, default=10
        No effect: there is no k-means.
    gamma : float, default=1.0
        Coefficient of the kernels rbf, poly, sigmoid, laplacian and chi2.
    affinity : str or callable, default="rbf"
        How points become a graph.

        - "nearest_neighbors": the mean of both directions of `sklearn.neighbors.kneighbors_graph`, each point being
          among its own neighbours.
        - "rbf" or any other kernel of `sklearn.metrics.pairwise.pairwise_kernels`: the full matrix of the kernel.
        - "precomputed": `X` is a matrix of weights, none negative; a matrix that is not symmetric is averaged with its
          transpose, with a warning.
        - "precomputed_nearest_neighbors": `X` is a matrix of distances, of which the `n_neighbors` smallest of each row
          are links.
        - a callable: called with two points, it returns the weight of their link.

        Kernels that give negative values for `X` (linear, cosine, poly and sigmoid may) are refused: Normalized Cut
        needs weights from 0 up.
    n_neighbors : int, default=10
        Neighbours of each point, for the affinities of that name.
    eigen_tol : float, default="auto"
        No effect: there are no eigenvectors.
    assign_labels : {"kmeans", "discretize", "cluster_qr"}, default="kmeans"
        No effect: labels are optimised themselves.
    degree : float, default=3
        Degree of the kernel poly.
    coef0 : float, default=1
        Constant of the kernels poly and sigmoid.
    kernel_params : dict of str to any, default=None
        Parameters of a callable or of other kernels.
    n_jobs : int, default=None
        Threads, as scikit-learn counts them. The labels do not depend on it.
    verbose : bool, default=False
        Whether to show a progress bar (by tqdm if installed, else lines on standard error).

    Attributes
    ----------
    affinity_matrix_ : ndarray or sparse matrix of shape (n_samples, n_samples)
        The graph. Its diagonal has no part in the clustering, as with scikit-learn.
    labels_ : ndarray of shape (n_samples,), dtype int32
        Cluster of every sample, numbered by first appearance.
    objective_ : float
        ``sum_c A_c / D_c``, the weight inside each cluster over its volume: larger is better.
    ncut_ : float
        Normalized Cut, the number of clusters less the objective: smaller is better.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen during `fit`, when all are strings.

    See Also
    --------
    NormalizedCut : With a sparse graph of its own, more settings and `predict`.

    Notes
    -----
    Whoever gives a parameter that has no effect here is told so by a warning, once for each of them.

    Examples
    --------
    >>> import numpy as np
    >>> from ncut import SpectralClustering
    >>> X = np.array([[1, 1], [2, 1], [1, 0], [4, 7], [3, 5], [3, 6]])
    >>> SpectralClustering(n_clusters=2, random_state=0).fit(X).labels_
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = self.affinity in PRECOMPUTED
        return tags

    def fit(self, X: Any, y: Any = None) -> SpectralClustering:
        """Cluster the points, or the graph.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            The points, or for a precomputed affinity the matrix.
        y : Ignored
            Not used, present for API consistency by convention.

        Returns
        -------
        SpectralClustering
            The fitted estimator.
        """
        self._validate_params()
        self._tell_without_effect()
        refuse_cells(X)
        X = validate_data(self, X, accept_sparse=["csr", "csc", "coo"], dtype=np.float64, ensure_min_samples=2)
        n_threads = threads(self.n_jobs)
        affinity = self._affinity_of(X)
        source = symmetric_source(_without_diagonal(check_symmetric(affinity)))
        settings = solver_settings(
            self.n_clusters, "default", "ncut", None, None, "all", None, None, 50, 1e-9, self.random_state
        )
        # The matrix is symmetric but for the rounding of a kernel.
        found = solve(source, settings, "average", n_threads, Listener(None, self.verbose))
        self.affinity_matrix_ = affinity
        self.labels_ = found["labels"]
        self.objective_ = found["objective"]
        self.ncut_ = found["ncut"]
        if found["n_components"] > 1:
            warnings.warn(
                f"The graph is not fully connected: it has {found['n_components']} components, and a cluster may hold "
                "whole ones; more neighbours or a smaller gamma connect it.",
                stacklevel=2,
            )
        return self

    def _tell_without_effect(self) -> None:
        defaults = {name: parameter.default for name, parameter in _parameters()}
        given = {name for name in WITHOUT_EFFECT if getattr(self, name) != defaults[name]} - _told
        if given:
            _told.update(given)
            names = ", ".join(name for name in WITHOUT_EFFECT if name in given)
            warnings.warn(
                f"ncut.SpectralClustering makes no use of {names}: it computes no eigenvectors and runs no k-means. "
                "This is said once.",
                stacklevel=3,
            )

    def _affinity_of(self, X: Any) -> Any:
        """The graph, made as scikit-learn makes it."""
        if self.affinity in PRECOMPUTED and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"X is {X.shape[0]} x {X.shape[1]}; a precomputed affinity is square, a row and a column a sample"
            )
        if self.affinity == "precomputed":
            _check_weights(X, "Negative values in data passed to SpectralClustering: ", "make them positive")
            return X
        if self.affinity == "precomputed_nearest_neighbors":
            nearest = NearestNeighbors(n_neighbors=self.n_neighbors, n_jobs=self.n_jobs, metric="precomputed").fit(X)
            connectivity = nearest.kneighbors_graph(X=X, mode="connectivity")
            return 0.5 * (connectivity + connectivity.T)
        if self.affinity == "nearest_neighbors":
            connectivity = kneighbors_graph(X, n_neighbors=self.n_neighbors, include_self=True, n_jobs=self.n_jobs)
            return 0.5 * (connectivity + connectivity.T)
        parameters = dict(self.kernel_params or {})
        if not callable(self.affinity):
            parameters |= {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        kernel = pairwise_kernels(X, metric=self.affinity, filter_params=True, **parameters)
        name = "the callable" if callable(self.affinity) else f"the kernel {self.affinity!r}"
        _check_weights(
            kernel,
            f"{name} gives negative values for these points: ",
            "use affinity='rbf', or bring the features to values from 0 up (sklearn.preprocessing.MinMaxScaler)",
        )
        return kernel


def _parameters() -> Any:
    from inspect import signature

    return signature(sklearn_cluster.SpectralClustering).parameters.items()


def _check_weights(matrix: Any, problem: str, remedy: str) -> None:
    values = matrix.data if sparse.issparse(matrix) else matrix
    if values.size and values.min() < 0:
        if sparse.issparse(matrix):
            entries = matrix.tocoo()
            worst = int(np.argmin(entries.data))
            row, column = entries.row[worst], entries.col[worst]
        else:
            row, column = np.unravel_index(int(np.argmin(matrix)), matrix.shape)
        raise ValueError(
            f"{problem}{values.min():.6g} between samples {row} and {column}; Normalized Cut needs weights from 0 up: "
            f"{remedy}"
        )


def _without_diagonal(matrix: Any) -> Any:
    """A copy by rows whose diagonal is 0, which is left out of graphs."""
    rows = sparse.csr_array(matrix, copy=True)
    loops = np.flatnonzero(rows.diagonal())
    if len(loops):
        rows[loops, loops] = 0.0
    return rows
