from typing import Any, TypedDict, final

import numpy as np
from numpy.typing import NDArray

from ncut._graphs import Csr
from ncut._progress import Told

__all__ = [
    "Graph",
    "__version__",
    "choose",
    "cluster",
    "confidence",
    "cut_tree",
    "default_stay",
    "lean",
    "link_new_neighbors",
    "link_new_points",
    "merge_tree",
    "neighbor_graph",
    "picture_graph",
    "place",
    "point_graph",
    "resize_labels",
    "restored_graph",
    "score",
    "settings",
    "update",
    "upper_bound",
]

__version__: str

_Columns = tuple[
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.int64],
]
_CsrArrays = tuple[NDArray[Any], NDArray[np.int32], NDArray[np.float64]]
_Linked = tuple[Graph, NDArray[np.float64]]
_Tree = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]

@final
class Graph:
    def __new__(cls, graph: Any, *, symmetrize: str | None = None, weight: str | None = "weight") -> Graph: ...
    @property
    def n_nodes(self) -> int: ...
    @property
    def n_edges(self) -> int: ...
    def _arrays(self) -> _CsrArrays: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

def restored_graph(source: Graph | Csr, symmetrize: str | None = None) -> Graph: ...

class _Found(TypedDict):
    labels: NDArray[np.int32]
    objective: float
    resolution: float | None
    ncut: float
    ratio_cut: float
    modularity: float
    smallest_share: float
    largest_share: float
    n_disconnected: int
    clusters: _Columns
    n_components: int
    n_iter: int
    n_moves: int
    stop_reason: str

class _Renewed(TypedDict):
    labels: NDArray[np.int32]
    objective: float
    ncut: float
    ratio_cut: float
    modularity: float
    smallest_share: float
    largest_share: float
    n_disconnected: int
    clusters: _Columns
    moved: NDArray[np.int64]
    new: NDArray[np.int64]
    vanished: NDArray[np.int32]
    appeared: NDArray[np.int32]
    n_iter: int
    n_moves: int
    stop_reason: str

class _Scored(TypedDict):
    objective: float
    ncut: float
    ratio_cut: float
    modularity: float
    smallest_share: float
    largest_share: float
    n_disconnected: int
    clusters: _Columns
    accuracy: float | None
    nmi: float | None
    nmi_arithmetic: float | None
    ari: float | None

def cluster(
    graph: Graph | Csr, settings: dict[str, Any], symmetrize: str | None, n_threads: int, on_progress: Told | None
) -> _Found: ...
def update(
    graph: Graph | Csr,
    settings: dict[str, Any],
    symmetrize: str | None,
    old: tuple[NDArray[np.int32], NDArray[np.int32]],
    stay: float,
    n_threads: int,
    on_progress: Told | None,
) -> _Renewed: ...
def confidence(
    graph: Graph | Csr,
    symmetrize: str | None,
    labels: NDArray[np.int32],
    objective: str,
    n_best: int,
    n_threads: int,
) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.float64]]: ...
def default_stay() -> float: ...
def upper_bound(
    graph: Graph | Csr,
    symmetrize: str | None,
    n_clusters: int,
    settings: tuple[str, int],
    n_threads: int,
    on_progress: Told | None,
) -> tuple[float, str]: ...

class _Chosen(TypedDict):
    suggested: int
    reason: str
    rule: str
    best_in_range: int
    is_rough: bool
    by_eigengap: int | None
    n_clusters: NDArray[np.int64]
    objectives: NDArray[np.float64]
    gaps: NDArray[np.float64]
    turns: NDArray[np.float64]
    eigenvalues: NDArray[np.float64]

def choose(
    graph: Graph | Csr,
    settings: dict[str, Any],
    symmetrize: str | None,
    numbers: tuple[int, int],
    n_threads: int,
    on_progress: Told | None,
) -> _Chosen: ...
def settings(preset: str) -> tuple[str, int, float, float, int]: ...
def score(
    graph: Graph | Csr, symmetrize: str | None, labels: NDArray[np.int32], truth: NDArray[np.int32] | None
) -> _Scored: ...
def merge_tree(graph: Graph | Csr, symmetrize: str | None, labels: NDArray[np.int32], n_threads: int) -> _Tree: ...
def cut_tree(
    n_nodes: int,
    leaves: NDArray[np.int64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    n_clusters: int,
) -> NDArray[np.int32]: ...
def point_graph(table: NDArray[Any], settings: dict[str, Any], n_threads: int, on_progress: Told | None) -> _Linked: ...
def link_new_points(
    new: NDArray[Any],
    table: NDArray[Any],
    settings: dict[str, Any],
    lengths: NDArray[np.float64],
    n_threads: int,
) -> _CsrArrays: ...
def neighbor_graph(ids: NDArray[np.int64], squared: NDArray[np.float64], settings: dict[str, Any]) -> _Linked: ...
def link_new_neighbors(
    ids: NDArray[np.int64],
    squared: NDArray[np.float64],
    n_points: int,
    settings: dict[str, Any],
    lengths: NDArray[np.float64],
) -> _CsrArrays: ...
def place(
    links: Csr,
    labels: NDArray[np.int32],
    weights: NDArray[np.float64],
    volumes: NDArray[np.float64],
    associations: NDArray[np.float64],
    objective: tuple[str, float | None],
) -> NDArray[np.int32]: ...
def lean(
    links: Csr,
    labels: NDArray[np.int32],
    weights: NDArray[np.float64],
    volumes: NDArray[np.float64],
    objective: str,
) -> NDArray[np.float64]: ...
def picture_graph(
    pixels: NDArray[np.float64],
    white: float,
    is_whole: bool,
    settings: dict[str, Any],
    n_threads: int,
    on_progress: Told | None,
) -> tuple[Graph, tuple[int, int]]: ...
def resize_labels(labels: NDArray[np.int32], from_: tuple[int, int], to: tuple[int, int]) -> NDArray[np.int32]: ...
