"""Functions for people with graphs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ncut import _ncut
from ncut._graphs import Csr, adjacency, graph_source, plain, symmetric_source
from ncut._progress import Listener, OnProgress
from ncut._settings import RandomState, choice, count, real, seed, threads

CLUSTER_ROW = np.dtype(
    [
        ("label", np.int32),
        ("size", np.int64),
        ("weight", np.float64),
        ("share", np.float64),
        ("volume", np.float64),
        ("association", np.float64),
        ("inside", np.float64),
        ("conductance", np.float64),
        ("n_pieces", np.int64),
    ],
    align=True,
)


@dataclass(frozen=True, eq=False, repr=False)
class Hierarchy:
    """A merge tree over the labelled nodes: first inside the clusters, then of the clusters.

    Cut at the number of clusters it gives their labels back; cut lower, clusters of these clusters.

    Attributes
    ----------
    leaves : ndarray of shape (n_leaves,)
        The nodes that the tree is about: those with a label.
    children : ndarray of shape (n_leaves - 1, 2)
        What every merge joins: a number below `n_leaves` is a leaf, any other the merge made so many
        before, as scipy and scikit-learn number them.
    gains : ndarray of shape (n_leaves - 1,)
        How every merge changes the objective.
    n_nodes : int
        Nodes of the graph.

    Examples
    --------
    >>> import ncut, numpy as np
    >>> ring = np.roll(np.eye(6), 1, axis=1) + np.roll(np.eye(6), -1, axis=1)
    >>> tree = ncut.cluster(ring, 3).hierarchy
    >>> tree.children.shape
    (5, 2)
    >>> len(set(tree.labels(2).tolist()))
    2
    """

    leaves: NDArray[np.int64]
    children: NDArray[np.int64]
    gains: NDArray[np.float64]
    n_nodes: int

    def __repr__(self) -> str:
        return f"<Hierarchy: {len(self.children)} merges of {len(self.leaves)} nodes>"

    def labels(self, n_clusters: int) -> NDArray[np.int32]:
        """The labels when the tree is cut.

        Parameters
        ----------
        n_clusters : int
            Number of clusters, up to the number of leaves.

        Returns
        -------
        ndarray of shape (n_nodes,)
            The labels, -1 for nodes that are no leaves.
        """
        first, second = (np.ascontiguousarray(side) for side in self.children.T)
        n_clusters = count(n_clusters, "n_clusters", 1)
        return _ncut.cut_tree(self.n_nodes, self.leaves, first, second, n_clusters)

    def linkage(self) -> NDArray[np.float64]:
        """The tree as `scipy.cluster.hierarchy.dendrogram` draws it.

        Returns
        -------
        ndarray of shape (n_leaves - 1, 4)
            Both children, the height, which is the place of the merge in the order of all, and the number of
            leaves below.
        """
        n_leaves = len(self.leaves)
        counts = np.ones(n_leaves + len(self.children), dtype=np.int64)
        for merge, (first, second) in enumerate(self.children):
            counts[n_leaves + merge] = counts[first] + counts[second]
        heights = np.arange(1, n_leaves)
        return np.column_stack([self.children, heights, counts[n_leaves:]]).astype(np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class Clustering:
    """What `cluster` found.

    Attributes
    ----------
    labels : ndarray of shape (n_nodes,), dtype int32
        Cluster of every node, numbered by first appearance; -1 for nodes left out.
    objective : float
        What was optimised, larger is better: for N-Cut ``sum_c A_c / D_c``, the weight inside each cluster over its
        volume; for Ratio-Cut minus `ratio_cut`; for modularity its value at `resolution`.
    resolution : float or None
        The resolution of modularity, where that was optimised: the one asked for, or the one found.
    ncut : float
        Normalized Cut, ``sum_c (D_c - A_c) / D_c``: smaller is better.
    ratio_cut : float
        Ratio-Cut, ``sum_c (D_c - A_c) / n_c``: smaller is better.
    modularity : float
        Modularity at resolution 1: larger is better.
    smallest_share : float
        The smallest cluster's volume (for Ratio-Cut: its size; with weights of the nodes: its weight) over the mean of
        the clusters.
    largest_share : float
        The same of the largest.
    n_disconnected : int
        Clusters that are not connected, the components of the graph that they hold as a whole left aside.
    clusters : structured ndarray
        One row a cluster: ``label``, ``size``, ``weight`` (the sum of the weights of its nodes, 1 each where they have
        none), ``share`` (what shares are measured in, over the mean), ``volume``, ``association``, ``inside``
        (association over volume), ``conductance`` (weight to other clusters over the volume of the smaller side) and
        ``n_pieces`` (connected pieces; whole components count as one). ``pandas.DataFrame(clusters)`` shows it.
    n_components : int
        Connected components of the graph.
    n_iter : int
        Sweeps of coordinate descent.
    n_moves : int
        Moves of single nodes.
    stop_reason : str
        Why the work ended: "local-optimum", "small-improvement", "sweep-limit", "time-limit" or "cancelled".
    nodes : list or None
        The nodes' names in the order of the labels, for graphs of networkx and igraph.
    """

    labels: NDArray[np.int32]
    objective: float
    resolution: float | None
    ncut: float
    ratio_cut: float
    modularity: float
    smallest_share: float
    largest_share: float
    n_disconnected: int
    clusters: NDArray[np.void]
    n_components: int
    n_iter: int
    n_moves: int
    stop_reason: str
    nodes: list[Any] | None
    _graph: _ncut.Graph | Csr
    _symmetrize: str | None
    _n_threads: int
    _objective: str = "ncut"

    def __repr__(self) -> str:
        return (
            f"<Clustering: {len(self.labels)} nodes in {self.n_clusters} clusters, objective={self.objective:.6g}, "
            f"ncut={self.ncut:.6g}, stop_reason={self.stop_reason!r}>"
        )

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.clusters)

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """How the nodes and then the clusters come together; made when it is first asked for."""
        leaves, first, second, gains = _ncut.merge_tree(self._graph, self._symmetrize, self.labels, self._n_threads)
        return Hierarchy(leaves, np.column_stack([first, second]), gains, len(self.labels))

    @cached_property
    def _sure(self) -> tuple[NDArray[np.float64], Any]:
        return sureness(self._graph, self._symmetrize, self.labels, self._objective, self.n_clusters, self._n_threads)

    @property
    def confidence(self) -> NDArray[np.float64]:
        """How sure the label of every node is, from 0 to 1; see the notes of `cluster`."""
        return self._sure[0]

    @property
    def membership(self) -> Any:
        """The clusters that each node leans to, a sparse array of shape (n_nodes, n_clusters); see `cluster`."""
        return self._sure[1]

    def communities(self) -> list[list[Hashable]]:
        """The clusters as lists of nodes.

        Returns
        -------
        list of lists
            The nodes of each cluster, by name where they have names.
        """
        names = self.nodes if self.nodes is not None else range(len(self.labels))
        communities: list[list[Hashable]] = [[] for _ in self.clusters]
        for name, label in zip(names, self.labels.tolist(), strict=True):
            if label >= 0:
                communities[label].append(name)
        return communities


@dataclass(frozen=True, eq=False)
class Score:
    """What `score` measured.

    Attributes
    ----------
    objective : float
        ``sum_c A_c / D_c``: larger is better.
    ncut : float
        Normalized Cut, the number of clusters less the objective: smaller is better.
    ratio_cut : float
        Ratio-Cut: smaller is better.
    modularity : float
        Modularity at resolution 1: larger is better.
    smallest_share : float
        The smallest cluster's volume over the mean volume of the clusters.
    largest_share : float
        The largest cluster's.
    n_disconnected : int
        Clusters that are not connected, the components of the graph that they hold as a whole left aside.
    clusters : structured ndarray
        One row a cluster, as in `Clustering`.
    accuracy : float or None
        Share of nodes whose cluster stands for their class under the best one-to-one assignment. None without a
        truth, or where there are too many clusters for it.
    nmi : float or None
        Normalized mutual information by the larger entropy, as in the paper.
    nmi_arithmetic : float or None
        The same by the mean of both entropies, as in scikit-learn.
    ari : float or None
        Adjusted Rand index.
    """

    objective: float
    ncut: float
    ratio_cut: float
    modularity: float
    smallest_share: float
    largest_share: float
    n_disconnected: int
    clusters: NDArray[np.void] = field(repr=False)
    accuracy: float | None
    nmi: float | None
    nmi_arithmetic: float | None
    ari: float | None


def cluster(
    graph: Any,
    n_clusters: int | str | None,
    *,
    preset: str = "default",
    objective: str = "ncut",
    resolution: float | None = None,
    min_share: float | None = None,
    connected: bool | None = None,
    components: str = "all",
    init: ArrayLike | None = None,
    fixed: ArrayLike | Mapping[Any, int] | None = None,
    must_link: Iterable[tuple[Any, Any]] | None = None,
    cannot_link: Iterable[tuple[Any, Any]] | None = None,
    max_share: float | None = None,
    node_weight: ArrayLike | Mapping[Any, float] | None = None,
    time_limit: float | None = None,
    max_iter: int = 50,
    tol: float = 1e-9,
    symmetrize: str | None = None,
    weight: str | None = "weight",
    n_jobs: int | None = None,
    random_state: RandomState = None,
    on_progress: OnProgress | None = None,
    verbose: bool | int = False,
) -> Clustering:
    """Cluster a graph by its Normalized Cut into exactly `n_clusters`.

    Parameters
    ----------
    graph : sparse matrix or array, ndarray, networkx or igraph graph, Graph
        A symmetric matrix of weights, none negative, or a graph. CSR (and CSC) matrices with float32 or float64
        weights and 32-bit indices are used in place, not copied; nothing is ever modified.
    n_clusters : int, "auto" or None
        Number of clusters: exactly as many come back. "auto" finds out how many there are, 1 if the data
        show none; see `choose`. None, for "modularity" only, is as many as that makes.
    preset : {"paper", "fast", "default", "best"}, default="default"
        Which algorithms run. "paper" is N2HI and Fast-CD as published; "fast" one multilevel pass; "default"
        several starts, split-merge and V-cycles; "best" looks longest for a high objective, until
        `time_limit` or until nothing better turns up.
    objective : {"ncut", "ratio_cut", "modularity"}, default="ncut"
        What is optimised. "ncut" is Normalized Cut, the weight cut from a cluster over its volume; "ratio_cut" is
        Ratio-Cut, over its number of nodes; "modularity" is how much more of the weight is inside clusters than chance
        would put there, and every cluster is connected. Preset "paper" and "auto" know "ncut" only.
    resolution : float, default=None
        The resolution of "modularity": the higher, the more clusters. None is 1, or with `n_clusters` the one that
        makes so many.
    min_share : float, default=None
        No cluster's volume (for Ratio-Cut: its size) falls below this share of the mean; 0 is the plain objective,
        which likes slivers. None is 0.25, and 0 for "modularity" and for preset "paper", which has none.
    connected : bool, default=None
        Whether every cluster is to be connected, which goes before `min_share`; of a disconnected graph a cluster may
        hold whole components besides. None is True, and False for preset "paper".
    components : {"all", "largest"}, default="all"
        Which part of a disconnected graph is clustered; the rest is labelled -1.
    init : array-like of shape (n_nodes,), default=None
        Labels to start from; -1 leaves a node to its neighbours.
    fixed : array-like of shape (n_nodes,) or dict, default=None
        Known labels from 0 to ``n_clusters - 1``: nodes with one keep exactly that cluster; -1 is free. A dict has the
        labels of some nodes, by name where they have names.
    must_link, cannot_link : iterable of pairs of nodes, default=None
        Nodes that are in the same cluster, and nodes that are in different ones; by name where they have names. Wishes
        that contradict each other are refused before any work.
    max_share : float, default=None
        No cluster's volume (for Ratio-Cut: its size) exceeds so many times the mean; at least 1.
    node_weight : array-like of shape (n_nodes,) or dict, default=None
        Shares are measured in these weights instead of volumes; for Ratio-Cut they are the sizes of the nodes.
    time_limit : float, default=None
        Seconds after which the best so far is returned.
    max_iter : int, default=50
        Sweeps at most of every coordinate descent.
    tol : float, default=1e-9
        A descent ends when a sweep changes the objective by less, relatively.
    symmetrize : {None, "average", "max"}, default=None
        What to do about a matrix that is not symmetric: refuse it, or take the mean or the larger of both
        directions.
    weight : str or None, default="weight"
        Edge attribute that holds the weights in graphs of networkx and igraph; edges without it weigh 1, and all
        do if None.
    n_jobs : int, default=None
        Threads, as scikit-learn counts them: None is 1 (or what a joblib context says), -1 all cores. The labels
        do not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed of whatever is random: ties between equals, variations. None is the same as 0: results never change
        from run to run.
    on_progress : callable, default=None
        Called about twenty times a second with a `Progress`, on the calling thread. When it returns something
        true, or raises StopIteration, the work stops and the best so far is returned.
    verbose : bool, default=False
        Whether to show a progress bar (by tqdm if installed, else lines on standard error).

    Returns
    -------
    Clustering
        Labels, objective, N-Cut, a row for each cluster, the merge tree on demand.

    Raises
    ------
    ValueError
        When the graph or a setting is refused; the message tells why, where and what to do.
    KeyboardInterrupt
        On Ctrl-C, within a second.

    See Also
    --------
    NormalizedCut : The estimator for tables of points.
    score : The objective of labels from anywhere.
    update : Clusters of a graph that has changed a little.

    Notes
    -----
    Known labels, pairs and `max_share` are kept exactly, or there is an error that says what could not be had;
    `min_share` and `connected` (unless asked for) yield to them. A pair that must be together counts as linked.

    `Clustering.confidence` and `Clustering.membership` come from the pulls of the clusters on a node: the weight
    between both over the square root of the cluster's volume (for Ratio-Cut: its size), which is how fast the
    objective rises when the node moves a little towards the cluster. Membership is the share of each of the three
    strongest in all pulls. Confidence is the margin of the own cluster before the strongest other,
    ``margin / (margin + mean pull)``: 0 on the boundary. They tell how firmly a node sits in these clusters of this
    graph, not how likely it is that a label is right.

    Examples
    --------
    >>> import ncut
    >>> from scipy import sparse
    >>> weights, ends = [5.0, 0.1, 5.0], ([0, 1, 2], [1, 2, 3])
    >>> upper = sparse.coo_array((weights, ends), shape=(4, 4))
    >>> found = ncut.cluster(upper + upper.T, 2)
    >>> found.labels
    array([0, 0, 1, 1], dtype=int32)
    >>> round(found.ncut, 6)
    0.019802

    Communities, as many as there are:

    >>> ncut.cluster(upper + upper.T, None, objective="modularity").labels
    array([0, 0, 1, 1], dtype=int32)

    What is known stays:

    >>> ncut.cluster(upper + upper.T, 2, fixed=[1, -1, -1, -1], cannot_link=[(1, 0)]).labels
    array([1, 0, 0, 0], dtype=int32)
    """
    matrix, nodes = adjacency(graph, weight)
    symmetrize = None if symmetrize is None else choice(symmetrize, "symmetrize")
    source = symmetric_source(matrix)
    n_threads = threads(n_jobs)
    settings = solver_settings(
        n_clusters,
        preset,
        objective,
        resolution,
        min_share,
        components,
        init,
        time_limit,
        max_iter,
        tol,
        random_state,
        connected,
    )
    settings |= constraint_settings(fixed, must_link, cannot_link, max_share, node_weight, nodes, n_nodes_of(matrix))
    found = solve(source, settings, symmetrize, n_threads, Listener(on_progress, verbose))
    own: dict[str, Any] = {
        "_graph": source,
        "_symmetrize": symmetrize,
        "_n_threads": n_threads,
        "_objective": objective,
    }
    return Clustering(nodes=nodes, **own, **found)


def score(
    graph: Any,
    labels: ArrayLike | Clustering,
    *,
    truth: ArrayLike | None = None,
    symmetrize: str | None = None,
    weight: str | None = "weight",
) -> Score:
    """Score labels on a graph: N-Cut, and agreement with known labels.

    Parameters
    ----------
    graph : sparse matrix or array, ndarray, networkx or igraph graph
        As for `cluster`.
    labels : array-like of shape (n_nodes,) or Clustering
        Labels from 0, in any order and with gaps if you like; -1 is left out.
    truth : array-like of shape (n_nodes,), default=None
        Known labels to compare with, numbers or names; -1 is skipped.
    symmetrize : {None, "average", "max"}, default=None
        As for `cluster`.
    weight : str or None, default="weight"
        As for `cluster`.

    Returns
    -------
    Score
        Objective, N-Cut, a row for each cluster; with a truth accuracy, NMI and ARI.

    Examples
    --------
    >>> import ncut, numpy as np
    >>> ring = np.roll(np.eye(6), 1, axis=1) + np.roll(np.eye(6), -1, axis=1)
    >>> scored = ncut.score(ring, [0, 0, 0, 1, 1, 1], truth=[0, 0, 0, 1, 1, 1])
    >>> scored.ncut, scored.accuracy
    (0.6666666666666667, 1.0)
    """
    source = graph_source(graph, weight)
    known = None if truth is None else label_array(_numbered(truth), "truth")
    if isinstance(labels, Clustering):
        labels = labels.labels
    found: dict[str, Any] = dict(_ncut.score(source, symmetrize, label_array(labels, "labels"), known))
    return Score(**{**found, "clusters": _table(found["clusters"])})


def solver_settings(
    n_clusters: int | str | None,
    preset: str,
    objective: str,
    resolution: float | None,
    min_share: float | None,
    components: str,
    init: ArrayLike | None,
    time_limit: float | None,
    max_iter: int,
    tol: float,
    random_state: RandomState,
    connected: bool | None = None,
    rule: str = "boundaries",
) -> dict[str, Any]:
    """The settings as the compiled code takes them."""
    if n_clusters is None and objective != "modularity":
        raise ValueError('n_clusters is None; only objective "modularity" can do without a number of clusters')
    is_auto = isinstance(n_clusters, str) and n_clusters == "auto"
    return {
        "n_clusters": None if is_auto or n_clusters is None else count(n_clusters, "n_clusters", 1),
        "is_free": n_clusters is None,
        "resolution": None if resolution is None else real(resolution, "resolution"),
        "preset": choice(preset, "preset"),
        "objective": choice(objective, "objective"),
        "min_share": None if min_share is None else real(min_share, "min_share"),
        "connected": None if connected is None else bool(connected),
        "components": choice(components, "components"),
        "init": None if init is None else label_array(init, "init"),
        "time_limit": None if time_limit is None else real(time_limit, "time_limit"),
        "max_iter": count(max_iter, "max_iter", 0),
        "tol": real(tol, "tol"),
        "seed": seed(random_state),
        "rule": choice(rule, "rule"),
        **constraint_settings(None, None, None, None, None, None, 0),
    }


def n_nodes_of(matrix: Any) -> int:
    """Nodes of a graph in whatever shape."""
    return int(matrix.n_nodes) if isinstance(matrix, _ncut.Graph) else int(matrix.shape[0])


def constraint_settings(
    fixed: Any,
    must_link: Any,
    cannot_link: Any,
    max_share: float | None,
    node_weight: Any,
    nodes: Sequence[Any] | None,
    n_nodes: int,
) -> dict[str, Any]:
    """What clusters must obey, as the compiled code takes it; `nodes` are the names of nodes that have names."""
    number: dict[Any, int] | None = None
    if nodes is not None and any(wish is not None for wish in (fixed, must_link, cannot_link, node_weight)):
        number = {name: place for place, name in enumerate(nodes)}
    labels = None if fixed is None else label_array(by_node(fixed, -1, number, n_nodes, "fixed"), "fixed")
    weights = None if node_weight is None else by_node(node_weight, None, number, n_nodes, "node_weight")
    if weights is not None and np.asarray(weights).ndim != 1:
        raise ValueError(
            f"node_weight has {np.asarray(weights).ndim} dimensions; it must have one, a weight for each node"
        )
    return {
        "fixed": labels,
        "must_link": pair_array(must_link, number, "must_link"),
        "cannot_link": pair_array(cannot_link, number, "cannot_link"),
        "max_share": None if max_share is None else real(max_share, "max_share"),
        "node_weight": None if weights is None else plain(np.asarray(weights), np.float64),
    }


def by_node(values: Any, missing: Any, number: dict[Any, int] | None, n_nodes: int, name: str) -> Any:
    """Values in the order of the nodes, from a dict or as they are."""
    if not isinstance(values, Mapping):
        return values
    all_values = [missing] * n_nodes
    for node, value in values.items():
        all_values[node_number(node, number, n_nodes, name)] = value
    if missing is None and None in all_values:
        raise ValueError(f"{name} has no value for node {all_values.index(None)}; give one for each")
    return all_values


def node_number(node: Any, number: dict[Any, int] | None, n_nodes: int | None, name: str) -> int:
    """The number of a node that is named by whoever has the graph."""
    if number is not None:
        try:
            return number[node]
        except (KeyError, TypeError):
            raise ValueError(f"{name} names {node!r}, which is no node of the graph") from None
    place = count(node, name, 0)
    if n_nodes is not None and place >= n_nodes:
        raise ValueError(f"{name} names node {place}, but the nodes are 0 to {n_nodes - 1}")
    return place


def pair_array(pairs: Any, number: dict[Any, int] | None, name: str) -> NDArray[np.int64] | None:
    """Both nodes of every pair, one pair after the other."""
    if pairs is None:
        return None
    numbers: list[int] = []
    for pair in pairs:
        try:
            first, second = pair
        except (TypeError, ValueError):
            raise ValueError(f"{name} holds {pair!r}; it must hold pairs of nodes") from None
        numbers += [node_number(node, number, None, name) for node in (first, second)]
    if not numbers:
        raise ValueError(f"{name} holds no pairs; leave it out")
    return np.asarray(numbers, dtype=np.int64)


def sureness(
    graph: _ncut.Graph | Csr,
    symmetrize: str | None,
    labels: NDArray[np.int32],
    objective: str,
    n_clusters: int,
    n_threads: int,
) -> tuple[NDArray[np.float64], Any]:
    """The confidence of every label, and the memberships as a sparse array."""
    from scipy import sparse

    n_best = min(3, n_clusters)
    values, clusters, shares = _ncut.confidence(graph, symmetrize, labels, objective, n_best, n_threads)
    rows = np.repeat(np.arange(len(labels)), n_best)
    known = clusters >= 0
    entries = (shares[known], (rows[known], clusters[known]))
    return values, sparse.csr_array(entries, shape=(len(labels), n_clusters))


def solve(
    graph: _ncut.Graph | Csr, settings: dict[str, Any], symmetrize: str | None, n_threads: int, listener: Listener
) -> dict[str, Any]:
    """Runs the solver."""
    try:
        found = _ncut.cluster(graph, settings, symmetrize, n_threads, listener.told)
        listener.finish(found["n_iter"], found["n_moves"], found["objective"])
    finally:
        listener.close()
    return {**found, "clusters": _table(found["clusters"])}


def label_array(labels: ArrayLike, name: str) -> NDArray[np.int32]:
    """Labels as 32-bit integers; what does not fit is refused."""
    array = np.asarray(labels)
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} dimensions; it must have one, a label for each node")
    if array.dtype.kind not in "iub":
        whole = array.dtype.kind == "f" and bool(np.all(array == np.floor(array)))
        if not whole and array.size:
            raise ValueError(f"{name} holds {array.dtype} values; labels are whole numbers")
    bounds = np.iinfo(np.int32)
    if array.size and not (bounds.min <= array.min() and array.max() <= bounds.max):
        raise ValueError(f"{name} holds numbers beyond 32 bits; number the clusters from 0")
    return plain(array, np.int32)


def _numbered(names: ArrayLike) -> NDArray[Any]:
    """Classes by number, where they have names."""
    array = np.asarray(names)
    if array.ndim == 1 and array.dtype.kind in "USO":
        return np.unique(array.astype(str), return_inverse=True)[1].reshape(-1)
    return array


def _table(columns: Sequence[NDArray[Any]]) -> NDArray[np.void]:
    table = np.empty(len(columns[0]), dtype=CLUSTER_ROW)
    for name, column in zip(CLUSTER_ROW.names or (), columns, strict=True):
        table[name] = column
    return table
