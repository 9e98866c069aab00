from typing import Any, TypedDict, final

import numpy as np
from numpy.typing import NDArray

from ncut._graphs import Csr
from ncut._progress import Told

__all__ = [
    "CoarseBuilder",
    "Contraction",
    "Graph",
    "Pieces",
    "Propagation",
    "Refinement",
    "Shard",
    "ShardBuilder",
    "__version__",
    "attach_pieces",
    "choose",
    "cluster",
    "confidence",
    "cut_tree",
    "default_stay",
    "edge_columns",
    "lean",
    "link_new_neighbors",
    "link_new_points",
    "merge_tree",
    "neighbor_graph",
    "node_places",
    "page",
    "parse_edges",
    "picture_graph",
    "piece_links",
    "place",
    "point_graph",
    "resize_labels",
    "restored_graph",
    "run_command",
    "score",
    "score_clusters",
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
_CsrArrays = tuple[NDArray[Any], NDArray[np.int32], NDArray[Any]]
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

def edge_columns(names: list[str]) -> tuple[int, int, int | None] | None: ...
def run_command(arguments: list[str]) -> int: ...
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
    eigengaps: NDArray[np.float64]
    labels: NDArray[np.int32]

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
def page(
    graph: Graph | Csr,
    symmetrize: str | None,
    labels: NDArray[np.int32],
    description: dict[str, Any],
    n_threads: int,
) -> str: ...
def node_places(
    graph: Graph | Csr, symmetrize: str | None, labels: NDArray[np.int32], n_threads: int
) -> NDArray[np.float64] | None: ...
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
def neighbor_graph(
    ids: NDArray[np.int64], squared: NDArray[np.float64], settings: dict[str, Any], is_narrow: bool
) -> _Linked: ...
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

_Aim = tuple[str, float, float, float]
_News = tuple[NDArray[np.uint32], NDArray[np.uint32]]
# Numbers of nodes, in four bytes where all fit.
_Numbers = NDArray[np.uint32] | NDArray[np.uint64]
_PieceNews = tuple[NDArray[np.uint32], _Numbers]
_GroupNews = tuple[NDArray[np.uint32], _Numbers, NDArray[np.uint32], NDArray[np.float64]]
_Entries = tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.float64]]
_Links = tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float64]]

@final
class Shard:
    @staticmethod
    def load(path: str) -> Shard: ...
    def save(self, path: str) -> None: ...
    def set_receiver(self, shard: int, nodes: NDArray[np.uint32]) -> None: ...
    @property
    def n_local(self) -> int: ...
    @property
    def n_known(self) -> int: ...
    @property
    def n_entries(self) -> int: ...
    @property
    def n_bytes(self) -> int: ...
    @property
    def n_loops(self) -> int: ...
    def ghosts(self) -> NDArray[np.uint64]: ...
    def bounds(self) -> NDArray[np.uint64]: ...
    def for_ghosts(self, values: NDArray[np.uint32]) -> list[NDArray[np.uint32]]: ...
    def has_degree(self) -> NDArray[np.bool_]: ...
    def degrees(self) -> NDArray[np.float64]: ...
    def sizes(self) -> NDArray[np.float64]: ...
    def totals(self) -> tuple[float, float, int, float]: ...
    def offsets(self) -> NDArray[np.uint64]: ...
    def entries(self, start: int, end: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]: ...

@final
class ShardBuilder:
    def __new__(cls, own: tuple[int, int], span: tuple[int, int], n_entries: int) -> ShardBuilder: ...
    def see(self, ids: NDArray[np.int64]) -> None: ...
    def number(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
    def count(self, rows: NDArray[np.int64]) -> None: ...
    def allocate(self, weight_bits: int) -> None: ...
    def fill(
        self, rows: NDArray[np.int64], columns: NDArray[np.int64], weights: NDArray[np.float64] | None
    ) -> None: ...
    def add_ghosts(self, numbers: NDArray[np.uint64]) -> None: ...
    def finish(self, index: int, bounds: NDArray[np.uint64]) -> Shard: ...

@final
class CoarseBuilder:
    def __new__(cls, index: int, bounds: NDArray[np.uint64]) -> CoarseBuilder: ...
    def add_sizes(self, nodes: NDArray[np.uint64], sizes: NDArray[np.float64]) -> None: ...
    def add_rows(self, end: int, portions: list[_Entries]) -> None: ...
    def finish(self) -> Shard: ...

@final
class Propagation:
    def __new__(cls, shard: Shard, max_mass: float, by_size: bool, seed: int) -> Propagation: ...
    def ask(self) -> None: ...
    def questions(self, shard: Shard, owner: int) -> NDArray[np.uint32]: ...
    def count_askers(self, shard: Shard, questions: NDArray[np.uint32]) -> None: ...
    def answers(self, shard: Shard, questions: NDArray[np.uint32]) -> NDArray[np.float64]: ...
    def learn(self, shard: Shard, owner: int, answers: NDArray[np.float64]) -> None: ...
    def sweep(self, shard: Shard) -> int: ...
    def news(self, shard: Shard, to: int) -> _GroupNews: ...
    def hear(self, shard: Shard, from_shard: int, news: _GroupNews) -> None: ...
    def take_groups(self) -> NDArray[np.uint32]: ...

@final
class Pieces:
    def __new__(cls, shard: Shard, labels: NDArray[np.uint32]) -> Pieces: ...
    def news(self, shard: Shard, to: int) -> _PieceNews: ...
    def set_told(self) -> None: ...
    def hear(self, shard: Shard, from_shard: int, news: _PieceNews) -> None: ...
    def all(self) -> NDArray[np.uint64]: ...
    def representatives(self, shard: Shard) -> NDArray[np.uint64]: ...
    def take_places(self, shard: Shard) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]: ...

@final
class Contraction:
    def __new__(cls, shard: Shard, coarse: NDArray[np.uint64], groups: NDArray[np.uint32]) -> Contraction: ...
    def sizes(self, shard: Shard) -> tuple[NDArray[np.uint64], NDArray[np.float64]]: ...
    def portion(self, shard: Shard, start: int, end: int) -> _Entries: ...

@final
class Refinement:
    def __new__(cls, shard: Shard, labels: NDArray[np.uint32], n_clusters: int) -> Refinement: ...
    def propose(
        self,
        shard: Shard,
        arguments: _Aim,
        table: NDArray[np.float64],
        floor: float,
        round: tuple[float, int, bool],
    ) -> int: ...
    def news(self, shard: Shard, to: int) -> _News: ...
    def hear(self, shard: Shard, from_shard: int, news: _News) -> None: ...
    def sums(self, shard: Shard) -> NDArray[np.float64]: ...
    def keep(self) -> None: ...
    def undo(self) -> None: ...
    def active(self) -> NDArray[np.bool_]: ...
    def set_active(self, is_active: NDArray[np.bool_]) -> None: ...
    def labels(self) -> NDArray[np.uint32]: ...
    def relabel(
        self, shard: Shard, pieces: NDArray[np.uint64], moved: NDArray[np.uint64], to: NDArray[np.uint32]
    ) -> int: ...

def score_clusters(arguments: _Aim, table: NDArray[np.float64]) -> tuple[float, NDArray[np.float64], float]: ...
def piece_links(
    shard: Shard, labels: NDArray[np.uint32], pieces: NDArray[np.uint64], moving: NDArray[np.uint64]
) -> tuple[NDArray[np.float64], _Links]: ...
def attach_pieces(
    arguments: _Aim,
    table: NDArray[np.float64],
    from_clusters: NDArray[np.uint32],
    sums: NDArray[np.float64],
    links: _Links,
) -> NDArray[np.int64]: ...
def parse_edges(
    lines: bytes, ending: str, columns: str | None
) -> tuple[NDArray[np.int64] | list[str], NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float64]]: ...
