"""Clusters of graphs that change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ncut import _ncut
from ncut._cluster import _table, n_nodes_of, solver_settings
from ncut._graphs import adjacency, naming_nodes, symmetric_source
from ncut._nodes import Labelled, column_of, in_node_order, numbers_of, whole_labels
from ncut._progress import Listener, OnProgress
from ncut._settings import choice, count, real, threads


@dataclass(frozen=True, eq=False, repr=False)
class Update(Labelled):
    """What `update` found.

    Attributes
    ----------
    labels : ndarray of shape (n_nodes,), dtype int32
        Cluster of every node. Clusters that were there before have the numbers they had.
    moved : list
        Nodes that have another label than before, by name where they have names.
    new : list
        Nodes that had none.
    gone : list
        Nodes that the graph does not have any more, where nodes have names.
    vanished : ndarray
        Numbers of clusters that are no more; they are not used again.
    appeared : ndarray
        Numbers of clusters that were not there before, above all old ones.
    objective, ncut, ratio_cut, modularity, smallest_share, largest_share : float
        As in `Clustering`.
    n_disconnected : int
        Clusters that are not connected.
    clusters : structured ndarray
        One row a cluster, as in `Clustering`.
    n_iter, n_moves : int
        Sweeps, and moves of single nodes.
    stop_reason : str
        Why the work ended.
    nodes : list or None
        The nodes' names in the order of the labels.
    """

    labels: NDArray[np.int32]
    moved: list[Any]
    new: list[Any]
    gone: list[Any]
    vanished: NDArray[np.int32]
    appeared: NDArray[np.int32]
    objective: float
    ncut: float
    ratio_cut: float
    modularity: float
    smallest_share: float
    largest_share: float
    n_disconnected: int
    clusters: NDArray[np.void]
    n_iter: int
    n_moves: int
    stop_reason: str
    nodes: list[Any] | None

    def __repr__(self) -> str:
        return (
            f"<Update: {len(self.labels)} nodes in {len(self.clusters)} clusters, {len(self.moved)} moved, "
            f"{len(self.new)} new, {len(self.gone)} gone>"
        )

    def as_dict(self) -> dict[Any, int]:
        """The labels by node, to update from the next time."""
        return self.to_dict()


def update(
    graph: Any,
    labels: ArrayLike | Mapping[Any, int] | Labelled,
    stay: float = 0.2,
    *,
    n_clusters: int | None = None,
    objective: str = "ncut",
    resolution: float | None = None,
    min_share: float | None = None,
    connected: bool | None = None,
    time_limit: float | None = None,
    symmetrize: str | None = None,
    weight: str | None = "weight",
    n_jobs: int | None = None,
    on_progress: OnProgress | None = None,
    verbose: bool | int = False,
) -> Update:
    """Bring clusters up to date after a small change of the graph: numbers stay, few nodes move.

    Parameters
    ----------
    graph : sparse matrix or array, ndarray, networkx or igraph graph, Graph
        The graph as it is now; as for `cluster`.
    labels : array-like of shape (n_nodes,), dict, Series, list of sets, Clustering or Update
        The labels so far: in the order of the nodes, -1 for new ones; or by name, nodes that are not in it being new
        and names that are not in the graph being gone.
    stay : float, default=0.2
        What a move must gain: so many times what a node contributes to the objective on average. 0 is any gain.
    n_clusters : int, default=None
        Number of clusters; None is as many as before. Clusters are cut in two, or merged, the larger keeping its
        number.
    objective : {"ncut", "ratio_cut", "modularity"}, default="ncut"
        As for `cluster`, and so are the others.
    resolution : float, default=None
        The resolution of "modularity"; None is 1.
    min_share : float, default=None
        No move makes a cluster smaller than this share of the mean.
    connected : bool, default=None
        Whether every cluster is to be connected; None is True.
    time_limit : float, default=None
        Seconds after which the best so far is returned.
    symmetrize : {None, "average", "max"}, default=None
        What to do about a matrix that is not symmetric.
    weight : str or None, default="weight"
        Edge attribute that holds the weights in graphs of networkx and igraph.
    n_jobs : int, default=None
        Threads, as scikit-learn counts them.
    on_progress : callable, default=None
        Told how it goes; a true answer stops and keeps the best so far.
    verbose : bool, default=False
        Whether to show a progress bar.

    Returns
    -------
    Update
        Labels, and what moved, what is new, what is gone.

    Examples
    --------
    >>> import ncut, networkx
    >>> graph = networkx.Graph([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e"), ("e", "f"), ("f", "d")])
    >>> before = {"a": 4, "b": 4, "c": 4, "d": 7, "e": 7, "g": 7}
    >>> after = ncut.update(graph, before)
    >>> after.as_dict()
    {'a': 4, 'b': 4, 'c': 4, 'd': 7, 'e': 7, 'f': 7}
    >>> after.moved, after.new, after.gone
    ([], ['f'], ['g'])
    """
    matrix, nodes = adjacency(graph, weight)
    symmetrize = None if symmetrize is None else choice(symmetrize, "symmetrize")
    source = symmetric_source(matrix)
    n_threads = threads(n_jobs)
    old, gone = _old_labels(labels, nodes, n_nodes_of(matrix))
    settings = solver_settings(
        1, "default", objective, resolution, min_share, "all", None, time_limit, 50, 1e-9, None, connected
    )
    # 0 is as many as before.
    settings["n_clusters"] = 0 if n_clusters is None else count(n_clusters, "n_clusters", 1)
    listener = Listener(on_progress, verbose)
    gone_labels = whole_labels([label for _, label in gone], "labels")
    try:
        with naming_nodes(graph, nodes):
            found = _ncut.update(
                source, settings, symmetrize, (old, gone_labels), real(stay, "stay"), n_threads, listener.told
            )
    finally:
        listener.close()
    names = nodes if nodes is not None else range(len(old))
    named = {key: [names[node] for node in found[key].tolist()] for key in ("moved", "new")}
    rest: dict[str, Any] = {**found, **named, "clusters": _table(found["clusters"])}
    return Update(nodes=nodes, gone=[name for name, _ in gone], **rest)


def _old_labels(labels: Any, nodes: list[Any] | None, n_nodes: int) -> tuple[NDArray[np.int32], list[tuple[Any, int]]]:
    """The old label of every node, and the nodes that are gone with theirs."""
    # Where two nodes have one name it tells neither.
    numbers_of(nodes)
    labels = column_of(labels, "labels")
    if isinstance(labels, Labelled):
        labels = labels.labels if labels.nodes is None else labels.to_dict()
    elif not isinstance(labels, Mapping) and callable(getattr(labels, "to_dict", None)):
        labels = labels.to_dict()
    if not isinstance(labels, Mapping):
        return whole_labels(in_node_order(labels, -1, nodes, n_nodes, "labels"), "labels"), []
    here = nodes if nodes is not None else range(n_nodes)
    known = set(here)
    old = whole_labels([labels.get(name, -1) for name in here], "labels")
    gone = [(name, int(label)) for name, label in labels.items() if name not in known and label >= 0]
    return old, gone
