"""From points to graphs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ncut import _ncut
from ncut._graphs import matrix_of, plain
from ncut._progress import Listener, OnProgress
from ncut._settings import RandomState, choice, count, real, seed, threads


class LinkedPoints(NamedTuple):
    """A graph of points and what its weights were made with."""

    graph: _ncut.Graph
    scale: NDArray[np.float64]


def neighbor_graph(
    X: ArrayLike,
    n_neighbors: int = 25,
    *,
    affinity: str = "nearest_neighbors",
    gamma: float | None = None,
    mutual: bool = False,
    method: str = "auto",
    n_jobs: int | None = None,
    random_state: RandomState = None,
    on_progress: OnProgress | None = None,
    verbose: bool | int = False,
) -> Any:
    """The graph of points that links each to its nearest neighbours.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_points, n_features)
        The points; of float32 the graph is float32, too.
    n_neighbors : int, default=25
        Neighbours of each point, itself not among them; all others where there are fewer.
    affinity : {"nearest_neighbors", "self_tuning", "rbf", "cosine", "adaptive"}, default="nearest_neighbors"
        What an edge of length ``l`` weighs: 1; ``exp(-l^2 / (2 sigma_i sigma_j))`` with ``sigma_i`` the mean length
        of the edges at ``i``; ``exp(-gamma l^2)``; the cosine of the angle, for neighbours by angle; the mean of what
        both ends give it when each point shares a weight of 1 among its neighbours, in proportion to ``r_i - l^2`` with
        ``r_i`` the squared distance of the next neighbour (the initial graph of CLR).
    gamma : float, default=None
        Falloff of "rbf"; None is ``1 / (2 m^2)`` with ``m`` the median length of the edges.
    mutual : bool, default=False
        Link two points only if each is a neighbour of the other, instead of if either is.
    method : {"auto", "exact", "approximate"}, default="auto"
        How neighbours are found: exactly while that takes seconds, approximately beyond.
    n_jobs : int, default=None
        Threads, as scikit-learn counts them.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the approximate search; None is always the same.
    on_progress : callable, default=None
        As for `cluster`; stopping raises RuntimeError, for half a graph is none.
    verbose : bool, default=False
        Whether to show a progress bar.

    Returns
    -------
    scipy.sparse.csr_array of shape (n_points, n_points)
        The symmetric matrix of weights.

    Examples
    --------
    >>> import ncut
    >>> graph = ncut.neighbor_graph([[0.0], [1.0], [10.0], [11.0]], n_neighbors=1)
    >>> graph.toarray().astype(int).tolist()
    [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]
    """
    settings = point_settings(affinity, n_neighbors, gamma, mutual, method, random_state)
    points = sparse_table(X) if sparse.issparse(X) else table(X)
    if sparse.issparse(points):
        linked = link_sparse(points, settings, n_jobs)
    else:
        linked = link(points, settings, threads(n_jobs), Listener(on_progress, verbose))
    return matrix_of(linked.graph, points.dtype)


def self_tuning_graph(
    X: ArrayLike,
    n_neighbors: int = 25,
    *,
    method: str = "auto",
    n_jobs: int | None = None,
    random_state: RandomState = None,
    on_progress: OnProgress | None = None,
    verbose: bool | int = False,
) -> Any:
    """The paper's graph of points: nearest neighbours, weights tuned to the lengths around each point.

    Of a point's distances to all points, itself included, the ``n_neighbors + 1`` smallest are taken and the first is
    dropped, as the paper's code does it; among duplicates the point itself may stay, as a self-loop.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_points, n_features)
        The points; of float32 the graph is float32, too.
    n_neighbors : int, default=25
        Neighbours of each point.
    method : {"auto", "exact", "approximate"}, default="auto"
        How neighbours are found.
    n_jobs : int, default=None
        Threads, as scikit-learn counts them.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the approximate search; None is always the same.
    on_progress : callable, default=None
        As for `neighbor_graph`.
    verbose : bool, default=False
        Whether to show a progress bar.

    Returns
    -------
    scipy.sparse.csr_array of shape (n_points, n_points)
        The symmetric matrix of weights.

    See Also
    --------
    neighbor_graph : Other weights.

    Examples
    --------
    >>> import ncut
    >>> from sklearn.datasets import load_iris
    >>> ncut.self_tuning_graph(load_iris().data).shape
    (150, 150)
    """
    return neighbor_graph(
        X,
        n_neighbors,
        affinity="self_tuning",
        method=method,
        n_jobs=n_jobs,
        random_state=random_state,
        on_progress=on_progress,
        verbose=verbose,
    )


def table(X: ArrayLike) -> NDArray[Any]:
    """Points as rows of floats, in place where they are."""
    array = np.asarray(X)
    if array.dtype not in (np.float32, np.float64) or not array.dtype.isnative:
        if array.dtype.kind not in "fbiuO":
            raise ValueError(f"the points hold {array.dtype} values; they must be numbers")
        array = array.astype(np.float32 if array.dtype == np.float16 else np.float64)
    if array.ndim != 2:
        raise ValueError(f"the points have {array.ndim} dimensions; they must have two, one point a row")
    if not array.size:
        raise ValueError(
            f"there are {array.shape[0]} points with {array.shape[1]} features; at least one of each is needed"
        )
    return plain(array)


def sparse_table(X: Any) -> Any:
    """Sparse points by rows, of finite floats."""
    from sklearn.utils import check_array

    return check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], input_name="X")


def point_settings(
    affinity: str,
    n_neighbors: int,
    gamma: float | None,
    mutual: bool,
    method: str,
    random_state: RandomState,
) -> dict[str, Any]:
    """The settings as the compiled code takes them."""
    return {
        "affinity": choice(affinity, "affinity"),
        "n_neighbors": count(n_neighbors, "n_neighbors", 1),
        "gamma": None if gamma is None else real(gamma, "gamma"),
        "mutual": bool(mutual),
        "method": choice(method, "method"),
        "seed": seed(random_state),
    }


def link(X: NDArray[Any], settings: dict[str, Any], n_threads: int, listener: Listener) -> LinkedPoints:
    """Links points."""
    try:
        graph, scale = _ncut.point_graph(X, settings, n_threads, listener.told)
    finally:
        listener.close()
    return LinkedPoints(graph, scale)


def link_sparse(X: Any, settings: dict[str, Any], n_jobs: int | None) -> LinkedPoints:
    """Links sparse points, whose neighbours scikit-learn finds."""
    n_neighbors = min(_n_searched(settings), X.shape[0] - 1)
    search = _search(X, settings, n_jobs)
    if settings["affinity"] == "self_tuning":
        distances, ids = search.kneighbors(X, n_neighbors + 1)
        distances, ids = distances[:, 1:], ids[:, 1:]
    else:
        distances, ids = search.kneighbors(None, n_neighbors)
    is_narrow = X.dtype == np.float32
    squared = _squared(distances, settings)
    return LinkedPoints(*_ncut.neighbor_graph(plain(ids, np.int64), squared, settings, is_narrow))


def link_new_sparse(
    new: Any, X: Any, settings: dict[str, Any], lengths: NDArray[np.float64], n_jobs: int | None
) -> Any:
    """The links of new points to sparse ones, or of sparse ones, as rows of a matrix."""
    n_points = X.shape[0]
    distances, ids = _search(X, settings, n_jobs).kneighbors(new, min(_n_searched(settings), n_points))
    squared = _squared(distances, settings)
    return _ncut.link_new_neighbors(plain(ids, np.int64), squared, n_points, settings, lengths)


def _n_searched(settings: dict[str, Any]) -> int:
    # Adaptive weights are measured by the neighbour after those that are linked.
    return int(settings["n_neighbors"]) + int(settings["affinity"] == "adaptive")


def _search(X: Any, settings: dict[str, Any], n_jobs: int | None) -> Any:
    from sklearn.neighbors import NearestNeighbors

    metric = "cosine" if settings["affinity"] == "cosine" else "euclidean"
    return NearestNeighbors(algorithm="brute", metric=metric, n_jobs=n_jobs).fit(X)


def _squared(distances: NDArray[Any], settings: dict[str, Any]) -> NDArray[np.float64]:
    # Between directions of length 1 the squared distance is 2 (1 - cosine).
    squared = 2.0 * distances if settings["affinity"] == "cosine" else distances**2
    return plain(np.maximum(squared, 0.0), np.float64)
