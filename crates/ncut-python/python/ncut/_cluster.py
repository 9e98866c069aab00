"""Functions for people with graphs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ncut import _ncut, _page
from ncut._graphs import Csr, adjacency, matrix_of, naming_nodes, plain, symmetric_source
from ncut._nodes import Labelled, class_array, in_node_order, label_array, numbers_of, pair_array
from ncut._progress import Listener, OnProgress
from ncut._settings import RandomState, choice, count, real, seed, threads

STOPPED_EARLY = ("time-limit", "cancelled")

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

    Cut at the number of clusters it gives their labels back; cut lower, clusters of these clusters. Clusters that gain
    most, or lose least, merge first.

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
    n_clusters : int
        Clusters that the tree was made of: the last ``n_clusters - 1`` merges join them.

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
    n_clusters: int = 1

    @classmethod
    def of(
        cls, graph: _ncut.Graph | Csr, symmetrize: str | None, labels: NDArray[np.int32], n_threads: int
    ) -> Hierarchy:
        """The tree of a labelling.

        Parameters
        ----------
        graph : Graph or dict
            The graph, or the arrays of its matrix.
        symmetrize : {None, "average", "max"}
            As for `cluster`.
        labels : ndarray of shape (n_nodes,)
            The labels.
        n_threads : int
            Threads to work with.

        Returns
        -------
        Hierarchy
            The tree.
        """
        leaves, first, second, gains = _ncut.merge_tree(graph, symmetrize, labels, n_threads)
        n_clusters = len(np.unique(labels[labels >= 0]))
        return cls(leaves, np.column_stack([first, second]), gains, len(labels), n_clusters)

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

        The height of a merge tells what it costs: 1 less the change of the objective ``sum_c A_c / D_c``, from 0 to 2.
        Below 1 the merge gains, above 1 it loses, and at 2 two clusters without any link became one. Where a merge
        costs less than one below it, it has the height of that one, and merges of clusters are as high as the highest
        inside clusters at least, so that heights never fall on the way up. Merges are in the order of their heights.

        Returns
        -------
        ndarray of shape (n_leaves - 1, 4)
            Both children, the height and the number of leaves below.

        Examples
        --------
        >>> import ncut, numpy as np
        >>> from scipy.cluster.hierarchy import fcluster
        >>> blocks = np.kron(np.eye(3), np.ones((4, 4))) + 0.01
        >>> found = ncut.cluster(blocks, 3)
        >>> links = found.hierarchy.linkage()
        >>> links[-2:, 2].round(3).tolist()
        [1.971, 1.971]
        >>> (fcluster(links, 1.5, "distance") - 1).tolist() == found.labels.tolist()
        True
        """
        n_leaves, n_merges = len(self.leaves), len(self.children)
        n_inside = n_merges - (self.n_clusters - 1)
        heights = np.zeros(n_leaves + n_merges)
        heights[n_leaves:] = np.maximum(1.0 - self.gains, 0.0)
        for merge, (first, second) in enumerate(self.children.tolist(), start=n_leaves):
            heights[merge] = max(heights[merge], heights[first], heights[second])
        highest = heights[: n_leaves + n_inside].max(initial=0.0)
        # The clusters themselves merge in the order of the tree, so that it is cut alike by height and by `labels`.
        top = np.maximum.accumulate(np.maximum(heights[n_leaves + n_inside :], highest))
        # No two alike: where they were, scipy's `fcluster` by number would give fewer clusters.
        heights[n_leaves + n_inside :] = top + 1e-12 * np.arange(1, len(top) + 1)
        order = np.argsort(heights[n_leaves:], kind="stable")
        place = np.concatenate([np.arange(n_leaves), np.empty(n_merges, dtype=np.int64)])
        place[n_leaves + order] = np.arange(n_leaves, n_leaves + n_merges)
        children = np.sort(place[self.children[order]], axis=1)
        sizes = np.ones(n_leaves + n_merges)
        for merge, (first, second) in enumerate(children.tolist(), start=n_leaves):
            sizes[merge] = sizes[first] + sizes[second]
        return np.column_stack([children, heights[n_leaves:][order], sizes[n_leaves:]]).astype(np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class Clustering(Labelled):
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
        The nodes' names in the order of the labels, for graphs that have them: networkx, igraph, pandas.
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
    _asked: tuple[tuple[str, str], ...] = ()

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
        return Hierarchy.of(self._graph, self._symmetrize, self.labels, self._n_threads)

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
        communities: list[list[Hashable]] = [[] for _ in self.clusters]
        for name, label in zip(self._names, self.labels.tolist(), strict=True):
            if label >= 0:
                communities[label].append(name)
        return communities

    def to_html(
        self,
        path: str | PathLike[str] | None = None,
        *,
        title: str = "A graph",
        names: Sequence[Any] | None = None,
        points: ArrayLike | None = None,
        feature_names: Sequence[str] | None = None,
        picture: ArrayLike | None = None,
        truth: Sequence[Any] | NDArray[Any] | None = None,
        max_nodes: int = _page.MAX_NODES,
    ) -> str | None:
        """A page to look at: what the clusters are, whether they are good, which are odd, what is in them.

        One file that needs no network. A notebook shows it by itself.

        Parameters
        ----------
        path : str or path, default=None
            The file to write, ending in .html; None returns the page.
        title : str, default="A graph"
            What it is about.
        names : sequence of shape (n_nodes,), default=None
            What the nodes are called; None is `nodes`, or their numbers.
        points : array-like of shape (n_nodes, n_features), default=None
            The points that the graph was made of: the page maps them, and tells which features set a cluster apart.
        feature_names : sequence of str, default=None
            Names of the features; None is the columns of a DataFrame, or their numbers.
        picture : array-like of shape (height, width) or (height, width, 1, 3 or 4), default=None
            The picture that the graph was made of, with as many pixels as nodes.
        truth : sequence of shape (n_nodes,), default=None
            Known classes of the nodes, by number or by name, None or -1 for none: the page shows which of them each
            cluster has.
        max_nodes : int, default=100000
            Nodes drawn at most; of more some are chosen evenly.

        Returns
        -------
        str or None
            The page, unless it was written to a file.

        Examples
        --------
        >>> import ncut, numpy as np
        >>> ring = np.roll(np.eye(6), 1, axis=1) + np.roll(np.eye(6), -1, axis=1)
        >>> html = ncut.cluster(ring, 2).to_html(title="A ring")
        >>> "2 clusters" in html
        True
        """
        html = _page.page(
            self._graph,
            self._symmetrize,
            self.labels,
            self._n_threads,
            title=title,
            objective=self._objective,
            names=self.nodes if names is None else names,
            points=points,
            feature_names=feature_names,
            picture=picture,
            truth=truth,
            asked=[("Clusters", str(self.n_clusters)), ("Objective", self._objective), *self._asked],
            remarks=["Stopped early: this is the best so far."] if self.stop_reason in STOPPED_EARLY else [],
            max_nodes=max_nodes,
        )
        if path is None:
            return html
        _page.write(path, html)
        return None

    def _repr_html_(self) -> str:
        return _page.framed(self.to_html(max_nodes=_page.MAX_NODES_IN_NOTEBOOK) or "")

    def plot(
        self,
        *,
        points: ArrayLike | None = None,
        picture: ArrayLike | None = None,
        kind: str = "auto",
        ax: Any = None,
    ) -> Any:
        """Draw the clusters by matplotlib, for a paper.

        Parameters
        ----------
        points : array-like of shape (n_nodes, n_features), default=None
            The points that the graph was made of, drawn by their first two principal components; two features are
            drawn as they are.
        picture : array-like of shape (height, width) or (height, width, 1, 3 or 4), default=None
            The picture that the graph was made of, drawn with the borders of its regions.
        kind : {"auto", "map", "matrix"}, default="auto"
            "map" places the nodes as the page of `to_html` does; "matrix" is the matrix with its rows and columns by
            cluster. "auto" is a map where there is a good one.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        matplotlib Axes
            The axes; ``ax.figure.savefig("clusters.pdf")`` keeps them.
        """
        return _page.plot(self, points=points, picture=picture, kind=kind, ax=ax)

    def to_networkx(self, graph: Any = None, *, attribute: str = "cluster") -> Any:
        """The graph with the cluster of every node as an attribute, to draw or to write.

        Parameters
        ----------
        graph : networkx.Graph, default=None
            The graph that was clustered: a copy of it is made, with all attributes it has. None makes a graph of nodes
            and weights alone.
        attribute : str, default="cluster"
            Name of the attribute.

        Returns
        -------
        networkx.Graph
            The graph.
        """
        try:
            import networkx
        except ImportError:
            raise ImportError("to_networkx needs networkx: pip install networkx") from None
        numbers_of(self.nodes)
        names = list(self._names)
        if graph is None:
            matrix = matrix_of(_ncut.restored_graph(self._graph, self._symmetrize))
            numbered = networkx.from_scipy_sparse_array(matrix)
            graph = networkx.Graph()
            # In one step: names may be numbers, too, in another order.
            graph.add_nodes_from(names)
            graph.add_weighted_edges_from(
                (names[a], names[b], weight) for a, b, weight in numbered.edges(data="weight")
            )
        elif not isinstance(graph, networkx.Graph):
            raise TypeError(
                f"graph is of type {type(graph).__name__}; give the networkx graph that was clustered, or None"
            )
        else:
            graph = graph.copy()
            unknown = next((name for name in names if name not in graph), None)
            if unknown is not None:
                raise ValueError(
                    f"{unknown!r} was clustered, but is no node of this graph; give the one that was clustered"
                )
        networkx.set_node_attributes(graph, self.to_dict(), attribute)
        return graph

    def _columns(self) -> dict[str, NDArray[Any]]:
        return {**super()._columns(), "confidence": self.confidence}


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
    init: ArrayLike | Mapping[Any, int] | Iterable[Iterable[Any]] | Labelled | None = None,
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
    graph : sparse matrix or array, ndarray, DataFrame, networkx or igraph graph, Graph
        A symmetric matrix of weights, none negative, or a graph. A pandas DataFrame is a list of edges (columns
        ``source``, ``target`` and, if there is one, ``weight``, or names like these), or a matrix whose rows and
        columns have the same names. CSR (and CSC) matrices with float32 or float64
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
    init : array-like of shape (n_nodes,), dict, Series, list of sets or Clustering, default=None
        Labels to start from; -1 leaves a node to its neighbours. By node in a dict, by index in a pandas Series, or a
        set of nodes for each cluster.
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
    n_nodes = n_nodes_of(matrix)
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
        None if init is None else label_array(init, nodes, n_nodes, "init"),
        time_limit,
        max_iter,
        tol,
        random_state,
        connected,
    )
    settings |= constraint_settings(fixed, must_link, cannot_link, max_share, node_weight, nodes, n_nodes)
    with naming_nodes(graph, nodes):
        found = solve(source, settings, symmetrize, n_threads, Listener(on_progress, verbose))
    own: dict[str, Any] = {
        "_graph": source,
        "_symmetrize": symmetrize,
        "_n_threads": n_threads,
        "_objective": objective,
        "_asked": _asked(settings),
    }
    return Clustering(nodes=nodes, **own, **found)


def _asked(settings: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """What a page tells about the settings."""
    share = settings["min_share"]
    return (
        ("Preset", settings["preset"]),
        *(() if share is None else (("Smallest share", f"{share:g} of the mean volume"),)),
        ("Seed", str(settings["seed"])),
    )


def score(
    graph: Any,
    labels: ArrayLike | Mapping[Any, int] | Iterable[Iterable[Any]] | Labelled,
    *,
    truth: ArrayLike | Mapping[Any, Any] | Iterable[Iterable[Any]] | Labelled | None = None,
    symmetrize: str | None = None,
    weight: str | None = "weight",
) -> Score:
    """Score labels on a graph: N-Cut, and agreement with known labels.

    Parameters
    ----------
    graph : sparse matrix or array, ndarray, networkx or igraph graph
        As for `cluster`.
    labels : array-like of shape (n_nodes,), dict, Series, list of sets or Clustering
        Labels from 0, in any order and with gaps if you like; -1 is left out. By node in a dict, by index in a pandas
        Series, or a set of nodes for each cluster; nodes that are not named are left out.
    truth : array-like of shape (n_nodes,), dict, Series, list of sets or Clustering, default=None
        Known labels to compare with, numbers or names; -1, None and NaN are skipped.
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
    matrix, nodes = adjacency(graph, weight)
    n_nodes = n_nodes_of(matrix)
    given = label_array(labels, nodes, n_nodes, "labels")
    known = None if truth is None else class_array(truth, nodes, n_nodes, "truth")
    with naming_nodes(graph, nodes):
        found: dict[str, Any] = dict(_ncut.score(symmetric_source(matrix), symmetrize, given, known))
    return Score(**{**found, "clusters": _table(found["clusters"])})


def solver_settings(
    n_clusters: int | str | None,
    preset: str,
    objective: str,
    resolution: float | None,
    min_share: float | None,
    components: str,
    init: NDArray[np.int32] | None,
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
        "init": init,
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
    number = None if must_link is None and cannot_link is None else numbers_of(nodes)
    labels = None if fixed is None else label_array(fixed, nodes, n_nodes, "fixed")
    weights = None if node_weight is None else in_node_order(node_weight, None, nodes, n_nodes, "node_weight")
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


def _table(columns: Sequence[NDArray[Any]]) -> NDArray[np.void]:
    table = np.empty(len(columns[0]), dtype=CLUSTER_ROW)
    for name, column in zip(CLUSTER_ROW.names or (), columns, strict=True):
        table[name] = column
    return table
