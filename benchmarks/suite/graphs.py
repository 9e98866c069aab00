"""The graphs of the benchmarks: planted clusters and triangulated grids, all of unit weights."""

import contextlib
import os
import subprocess
import tempfile
from dataclasses import dataclass

import numpy as np
import scipy.sparse

NODES_PER_PLANTED_CLUSTER, NODES_PER_PIECE, FEWEST_PIECES = 1000, 10_000, 32
# Entries looked at in one go by the objective, so that it needs little memory.
CHUNK = 20_000_000


@dataclass
class Spec:
    """What to make: of `planted` clusters the seed and the mean degree are fixed here, a `mesh` is a square."""

    kind: str
    n_nodes: int
    k: int
    mean_degree: int = 20

    @classmethod
    def of_edges(cls, kind, n_edges):
        """The graph of the growth series with about so many edges."""
        if kind == "mesh":
            n_nodes = round((n_edges / 3) ** 0.5) ** 2
            return cls(kind, n_nodes, max(FEWEST_PIECES, n_nodes // NODES_PER_PIECE))
        if n_edges >= 100_000_000:
            return cls(kind, n_edges // 20, 1000, mean_degree=40)
        return cls(kind, n_edges // 10, max(2, n_edges // 10 // NODES_PER_PLANTED_CLUSTER))


@dataclass
class MadeGraph:
    """A graph as files: scipy's `.npz` for all, the same for ncut in the format it likes best."""

    spec: Spec
    folder: str
    matrix_file: str
    ncut_file: str
    offsets: np.ndarray
    columns: np.ndarray
    truth: np.ndarray | None

    @property
    def n_nodes(self):
        return len(self.offsets) - 1

    @property
    def n_edges(self):
        return len(self.columns) // 2

    @property
    def csr_bytes(self):
        """Of the rows and columns of the matrix, no weights: the least that a graph takes."""
        return 8 * (self.n_nodes + 1) + 4 * len(self.columns)

    def facts(self):
        return {
            "kind": self.spec.kind,
            "nodes": self.n_nodes,
            "edges": self.n_edges,
            "k": self.spec.k,
            "csr_bytes": self.csr_bytes,
        }

    def objective(self, labels):
        """`sum_c A_c / D_c`, by code that knows nothing of ours."""
        labels = np.asarray(labels)
        association = np.zeros(labels.max() + 1)
        volume = np.bincount(labels, np.diff(self.offsets), len(association))
        start = 0
        while start < self.n_nodes:
            end = int(np.searchsorted(self.offsets, self.offsets[start] + CHUNK, side="right")) - 1
            end = min(max(end, start + 1), self.n_nodes)
            rows = np.repeat(labels[start:end], np.diff(self.offsets[start : end + 1]))
            inside = rows == labels[self.columns[self.offsets[start] : self.offsets[end]]]
            association += np.bincount(rows[inside], minlength=len(association))
            start = end
        return float((association[volume > 0] / volume[volume > 0]).sum())


@contextlib.contextmanager
def made(spec, programs, folder):
    """The graph, for as long as it is needed."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        matrix_file, truth = os.path.join(place, "graph.npz"), None
        if spec.kind == "mesh":
            write_mesh(matrix_file, round(spec.n_nodes**0.5))
        else:
            labels = os.path.join(place, "truth.npy")
            arguments = [spec.n_nodes, spec.k, 1, matrix_file, labels, spec.mean_degree]
            subprocess.run([programs.planted, *map(str, arguments)], check=True)
            truth = np.load(labels)
        with np.load(matrix_file) as arrays:
            offsets, columns = arrays["indptr"].astype(np.int64), arrays["indices"].astype(np.int32, copy=False)
        yield MadeGraph(spec, place, matrix_file, mapped(programs, matrix_file), offsets, columns, truth)


def mapped(programs, matrix_file):
    """ncut's own format where this ncut has one, otherwise the file as it is."""
    binary = os.path.join(os.path.dirname(matrix_file), "graph.ncut")
    done = subprocess.run([programs.ncut, "convert", "--quiet", matrix_file, binary], capture_output=True)
    return matrix_file if done.returncode else binary


def write_mesh(path, side):
    """A square of nodes, row by row, each linked to the next in its row, below it, and diagonally below."""
    n_nodes = side * side
    row, column = np.divmod(np.arange(n_nodes, dtype=np.int32), np.int32(side))
    inner = {"up": row > 0, "left": column > 0, "right": column < side - 1, "down": row < side - 1}
    # In ascending order of the neighbour.
    neighbors = {
        -side - 1: inner["up"] & inner["left"],
        -side: inner["up"],
        -1: inner["left"],
        1: inner["right"],
        side: inner["down"],
        side + 1: inner["down"] & inner["right"],
    }
    del row, column
    is_there = np.column_stack(list(neighbors.values()))
    offsets = np.concatenate([[0], np.cumsum(is_there.sum(axis=1, dtype=np.int64))])
    steps = np.array(list(neighbors), dtype=np.int32)
    columns = (np.arange(n_nodes, dtype=np.int32)[:, None] + steps)[is_there]
    ones = np.ones(len(columns), dtype=np.float32)
    index = np.int32 if len(columns) < 2**31 else np.int64
    matrix = scipy.sparse.csr_matrix((n_nodes, n_nodes), dtype=np.float32)
    matrix.data, matrix.indices, matrix.indptr = ones, columns, offsets.astype(index)
    scipy.sparse.save_npz(path, matrix, compressed=False)


def write_edge_list(path, graph):
    """Two numbers a line, every edge once."""
    import polars

    rows = np.repeat(np.arange(graph.n_nodes, dtype=np.int32), np.diff(graph.offsets))
    is_upper = rows < graph.columns
    edges = polars.DataFrame({"from": rows[is_upper], "to": graph.columns[is_upper]})
    edges.write_csv(path, include_header=False, separator=" ")
