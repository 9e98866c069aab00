"""Whatever people keep their graphs in, as a sparse matrix by rows."""

from __future__ import annotations

import sys
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ncut._ncut import Graph


class Csr(TypedDict):
    """The three arrays of a sparse matrix by rows."""

    indptr: NDArray[Any]
    indices: NDArray[Any]
    data: NDArray[Any]


def adjacency(graph: Any, weight: str | None = "weight") -> tuple[Any, list[Any] | None]:
    """The matrix of a graph, not copied where it need not be, and the names of its nodes if they have any.

    A `Graph` stays what it is.
    """
    if isinstance(graph, Graph):
        return graph, None
    networkx = sys.modules.get("networkx")
    if networkx is not None and isinstance(graph, networkx.Graph):
        return _from_networkx(networkx, graph, weight)
    igraph = sys.modules.get("igraph")
    if igraph is not None and isinstance(graph, igraph.Graph):
        return _from_igraph(graph, weight)
    if sparse.issparse(graph):
        return _square(graph), None
    try:
        matrix = np.asarray(graph)
    except ValueError as error:
        raise ValueError(f"a {type(graph).__name__} is no graph: {error}") from None
    if matrix.ndim != 2:
        raise ValueError(
            f"a {type(graph).__name__} is no graph: give a scipy sparse array, a square array, "
            "a graph of networkx or igraph, or an ncut.Graph"
        )
    return _square(matrix), None


def csr(matrix: Any) -> Csr:
    """The arrays of a matrix (sparse or dense) by rows, in place where format and types fit."""
    if not sparse.issparse(matrix):
        matrix = sparse.csr_array(_floats(matrix))
    elif matrix.format != "csr":
        matrix = matrix.tocsr()
    return {
        "indptr": _integers(matrix.indptr),
        "indices": _integers(matrix.indices),
        "data": plain(_floats(matrix.data)),
    }


def plain(values: Any, dtype: Any = None) -> NDArray[Any]:
    """The array as the compiled code reads it, one value after the other; not copied where it is so."""
    return np.require(values, dtype=dtype, requirements=["C_CONTIGUOUS", "ALIGNED"])


def symmetric_source(matrix: Any) -> Graph | Csr:
    """What the compiled code makes a graph of: as `csr`, but columns may serve as rows, for both are alike."""
    if isinstance(matrix, Graph):
        return matrix
    return csr(matrix.T if sparse.issparse(matrix) and matrix.format == "csc" else matrix)


def graph_source(graph: Any, weight: str | None) -> Graph | Csr:
    """The same of whatever people keep their graphs in."""
    return symmetric_source(adjacency(graph, weight)[0])


def matrix_of(graph: Graph) -> Any:
    """The matrix of a graph."""
    return rows_matrix(graph._arrays(), graph.n_nodes, graph.n_nodes)


def rows_matrix(arrays: tuple[Any, Any, Any], n_rows: int, n_columns: int) -> Any:
    """The matrix of arrays that the compiled code gave."""
    indptr, indices, data = arrays
    matrix = sparse.csr_array((data, indices, indptr), shape=(n_rows, n_columns))
    matrix.has_canonical_format = True
    return matrix


def _square(matrix: Any) -> Any:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        shape = " x ".join(str(length) for length in matrix.shape)
        raise ValueError(f"the matrix is {shape}; that of a graph is square")
    return matrix


def _floats(values: Any) -> Any:
    dtype = values.dtype
    if dtype in (np.float32, np.float64) and dtype.isnative:
        return values
    if dtype.kind == "f":
        return values.astype(np.float32 if dtype.itemsize <= 4 else np.float64)
    if dtype.kind in "biu":
        return values.astype(np.float64)
    if dtype.kind == "O":
        try:
            return values.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"the weights are no numbers: {error}") from None
    raise ValueError(f"the weights are {dtype}; they must be real numbers")


def _integers(values: NDArray[Any]) -> NDArray[Any]:
    wanted = np.int32 if values.dtype == np.int32 else np.int64
    return plain(values, wanted)


def _from_networkx(networkx: Any, graph: Any, weight: str | None) -> tuple[Any, list[Any]]:
    nodes = list(graph)
    if not nodes:
        raise ValueError("the graph has no nodes")
    if weight not in (None, "weight") and not any(weight in data for _, _, data in graph.edges(data=True)):
        raise ValueError(f"no edge has the attribute {weight!r}; weight=None counts every edge as 1")
    try:
        matrix = networkx.to_scipy_sparse_array(graph, nodelist=nodes, weight=weight, dtype=np.float64, format="csr")
    except (TypeError, ValueError) as error:
        raise ValueError(f"the edges' attribute {weight!r} is no weight everywhere: {error}") from None
    return matrix, nodes


def _from_igraph(graph: Any, weight: str | None) -> tuple[Any, list[Any]]:
    n_nodes = graph.vcount()
    if not n_nodes:
        raise ValueError("the graph has no nodes")
    nodes = graph.vs["name"] if "name" in graph.vs.attributes() else list(range(n_nodes))
    ends = np.asarray(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    if weight is not None and weight in graph.es.attributes():
        try:
            weights = np.asarray(graph.es[weight], dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"the edges' attribute {weight!r} is no weight everywhere: {error}") from None
    elif weight not in (None, "weight"):
        raise ValueError(f"no edge has the attribute {weight!r}; weight=None counts every edge as 1")
    else:
        weights = np.ones(len(ends))
    if not graph.is_directed():
        others = ends[:, 0] != ends[:, 1]
        ends = np.concatenate([ends, ends[others][:, ::-1]])
        weights = np.concatenate([weights, weights[others]])
    matrix = sparse.coo_array((weights, (ends[:, 0], ends[:, 1])), shape=(n_nodes, n_nodes))
    return matrix.tocsr(), nodes
