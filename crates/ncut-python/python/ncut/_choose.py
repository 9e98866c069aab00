"""How many clusters, and how good they can be at most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ncut import _ncut, _page
from ncut._cluster import solver_settings
from ncut._graphs import Csr, adjacency, naming_nodes, symmetric_source
from ncut._progress import Listener, OnProgress
from ncut._settings import RandomState, choice, count, seed, threads


@dataclass(frozen=True, eq=False)
class CountCurve:
    """What `choose` found.

    Attributes
    ----------
    suggested : int
        The number of clusters; 1 if the data show none. By rule "boundaries" it does not depend on the range, and may
        lie outside.
    reason : str
        Why, to follow the number in a sentence.
    rule : {"boundaries", "gap"}
        By which rule.
    best_in_range : int
        The number of the range that is nearest to the suggestion: itself, unless it lies outside.
    is_rough : bool
        Whether the work was cut short.
    by_eigengap : int or None
        The number, from 2 on, after which the eigenvalues fall most.
    n_clusters : ndarray
        The numbers.
    objectives : ndarray
        The objective of each.
    gaps : ndarray
        What the last cluster of each gained, evened out so that it never rises; NaN for one cluster.
    turns : ndarray
        How much the curve turns at each: 0.9 and more is clear.
    eigenvalues : ndarray
        The eigenvalues of ``D^-1/2 A D^-1/2``.
    eigengaps : ndarray
        How much they fall after each number.
    labels : ndarray
        The labels of the largest number.
    """

    suggested: int
    reason: str
    rule: str = field(repr=False)
    best_in_range: int = field(repr=False)
    is_rough: bool = field(repr=False)
    by_eigengap: int | None
    n_clusters: NDArray[np.int64] = field(repr=False)
    objectives: NDArray[np.float64] = field(repr=False)
    gaps: NDArray[np.float64] = field(repr=False)
    turns: NDArray[np.float64] = field(repr=False)
    eigenvalues: NDArray[np.float64] = field(repr=False)
    eigengaps: NDArray[np.float64] = field(repr=False)
    labels: NDArray[np.int32] = field(repr=False)
    _graph: _ncut.Graph | Csr = field(repr=False)
    _symmetrize: str | None = field(repr=False)
    _n_threads: int = field(repr=False)

    def to_html(
        self,
        path: str | PathLike[str] | None = None,
        *,
        title: str = "A graph",
        names: Sequence[Any] | None = None,
        points: ArrayLike | None = None,
        feature_names: Sequence[str] | None = None,
        truth: Sequence[Any] | NDArray[Any] | None = None,
        max_nodes: int = _page.MAX_NODES,
    ) -> str | None:
        """A page to look at: the curve, and the clusters at every number.

        Parameters
        ----------
        path : str or path, default=None
            As for `Clustering.to_html`, and so are the others.
        title : str, default="A graph"
            What it is about.
        names : sequence of shape (n_nodes,), default=None
            What the nodes are called.
        points : array-like of shape (n_nodes, n_features), default=None
            The points that the graph was made of.
        feature_names : sequence of str, default=None
            Names of the features.
        truth : sequence of shape (n_nodes,), default=None
            Known classes of the nodes.
        max_nodes : int, default=100000
            Nodes drawn at most.

        Returns
        -------
        str or None
            The page, unless it was written to a file.
        """
        curve = {
            "n_clusters": self.n_clusters,
            "objectives": self.objectives,
            "gaps": self.gaps,
            "eigengaps": self.eigengaps,
            "suggested": self.suggested,
            "best_in_range": self.best_in_range,
            "by_eigengap": self.by_eigengap,
        }
        html = _page.page(
            self._graph,
            self._symmetrize,
            self.labels,
            self._n_threads,
            title=title,
            names=names,
            points=points,
            feature_names=feature_names,
            truth=truth,
            curve=curve,
            reason=self.reason,
            asked=[("Range", f"{self.n_clusters[0]} to {self.n_clusters[-1]}"), ("Rule", self.rule)],
            remarks=["Stopped early: the suggestion is rough."] if self.is_rough else [],
            max_nodes=max_nodes,
        )
        if path is None:
            return html
        _page.write(path, html)
        return None

    def _repr_html_(self) -> str:
        return _page.framed(self.to_html(max_nodes=_page.MAX_NODES_IN_NOTEBOOK) or "")


def choose(
    graph: Any,
    least: int = 1,
    most: int = 20,
    *,
    rule: str = "boundaries",
    min_share: float | None = None,
    symmetrize: str | None = None,
    weight: str | None = "weight",
    n_jobs: int | None = None,
    random_state: RandomState = None,
    on_progress: OnProgress | None = None,
    verbose: bool | int = False,
) -> CountCurve:
    """Suggest a number of clusters.

    Clusters are counted where the boundaries between them are clearly thinner than any cut through them. In networks
    whose degrees differ much, communities are counted instead, if their modularity is clearly above that of chance.
    The suggestion does not depend on the range, which says for which numbers the objective is computed.

    Parameters
    ----------
    graph : sparse matrix or array, ndarray, networkx or igraph graph
        As for `cluster`.
    least : int, default=1
        Smallest number of clusters.
    most : int, default=20
        Largest number of clusters.
    rule : {"boundaries", "gap"}, default="boundaries"
        How clusters are counted. "gap" is the paper's: the number of the range after which the objective gains much
        less.
    min_share : float, default=None
        As for `cluster`.
    symmetrize : {None, "average", "max"}, default=None
        As for `cluster`.
    weight : str or None, default="weight"
        As for `cluster`.
    n_jobs : int, default=None
        Threads, as scikit-learn counts them.
    random_state : int, RandomState, Generator or None, default=None
        Seed of whatever is random; None is always the same.
    on_progress : callable, default=None
        Told how it goes; a true answer stops, with RuntimeError.
    verbose : bool, default=False
        Whether to show a progress bar.

    Returns
    -------
    CountCurve
        The suggestion and the curve behind it.

    Examples
    --------
    >>> import ncut, numpy as np
    >>> blocks = np.kron(np.eye(3), np.ones((10, 10))) + 0.05
    >>> ncut.choose(blocks, 1, 6).suggested
    3
    """
    matrix, nodes = adjacency(graph, weight)
    source = symmetric_source(matrix)
    symmetrize = None if symmetrize is None else choice(symmetrize, "symmetrize")
    settings = solver_settings(
        1, "default", "ncut", None, min_share, "all", None, None, 50, 1e-9, random_state, rule=rule
    )
    listener = Listener(on_progress, verbose)
    numbers, n_threads = (count(least, "least", 1), count(most, "most", 1)), threads(n_jobs)
    try:
        with naming_nodes(graph, nodes):
            found = _ncut.choose(source, settings, symmetrize, numbers, n_threads, listener.told)
    finally:
        listener.close()
    own: dict[str, Any] = {"_graph": source, "_symmetrize": symmetrize, "_n_threads": n_threads}
    return CountCurve(**own, **found)


def upper_bound(
    graph: Any,
    n_clusters: int,
    *,
    objective: str = "ncut",
    symmetrize: str | None = None,
    weight: str | None = "weight",
    n_jobs: int | None = None,
    random_state: RandomState = None,
    on_progress: OnProgress | None = None,
    verbose: bool | int = False,
) -> tuple[float, str]:
    """What the objective of no clustering can exceed: the sum of the largest eigenvalues.

    Parameters
    ----------
    graph : sparse matrix or array, ndarray, networkx or igraph graph
        As for `cluster`.
    n_clusters : int
        Number of clusters.
    objective : {"ncut", "ratio_cut"}, default="ncut"
        As for `cluster`. For Ratio-Cut the bound is minus the sum of the smallest eigenvalues of the Laplacian.
    symmetrize : {None, "average", "max"}, default=None
        As for `cluster`.
    weight : str or None, default="weight"
        As for `cluster`.
    n_jobs : int, default=None
        Threads, as scikit-learn counts them.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the first vectors; None is always the same.
    on_progress : callable, default=None
        Told how it goes; a true answer stops, with RuntimeError.
    verbose : bool, default=False
        Whether to show a progress bar.

    Returns
    -------
    bound : float
        The bound.
    status : {"verified", "estimated"}
        Whether it was confirmed that no eigenvalue was missed.

    Examples
    --------
    >>> import ncut, numpy as np
    >>> ring = np.roll(np.eye(6), 1, axis=1) + np.roll(np.eye(6), -1, axis=1)
    >>> bound, status = ncut.upper_bound(ring, 2)
    >>> round(bound, 6), status
    (1.5, 'verified')
    """
    matrix, nodes = adjacency(graph, weight)
    source = symmetric_source(matrix)
    symmetrize = None if symmetrize is None else choice(symmetrize, "symmetrize")
    listener = Listener(on_progress, verbose)
    n_clusters = count(n_clusters, "n_clusters", 1)
    try:
        settings = choice(objective, "objective"), seed(random_state)
        with naming_nodes(graph, nodes):
            return _ncut.upper_bound(source, symmetrize, n_clusters, settings, threads(n_jobs), listener.told)
    finally:
        listener.close()
