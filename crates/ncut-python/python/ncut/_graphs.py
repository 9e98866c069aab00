"""Whatever people keep their graphs in, as a sparse matrix by rows."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ncut import _ncut
from ncut._ncut import Graph


class NamedMatrix(NamedTuple):
    """A matrix whose nodes have names that it does not know itself."""

    matrix: Any
    nodes: list[Any]


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
    if isinstance(graph, NamedMatrix):
        return _square(graph.matrix), graph.nodes
    networkx = sys.modules.get("networkx")
    if networkx is not None and isinstance(graph, networkx.Graph):
        return _from_networkx(networkx, graph, weight)
    igraph = sys.modules.get("igraph")
    if igraph is not None and isinstance(graph, igraph.Graph):
        return _from_igraph(graph, weight)
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(graph, pandas.DataFrame):
        return _from_frame(pandas, graph, weight)
    if sparse.issparse(graph):
        return _square(graph), None
    if type(graph).__name__ == "AnnData":
        raise ValueError("an AnnData is no graph, but may hold one: use ncut.anndata.cluster(adata, n_clusters)")
    if isinstance(graph, list) and graph and all(isinstance(pair, tuple) and len(pair) in (2, 3) for pair in graph):
        raise ValueError(
            "a list of tuples may be edges or the rows of a matrix: for edges give networkx.Graph(edges) or a "
            "DataFrame of them, for a matrix a numpy array"
        )
    try:
        matrix = np.asarray(graph)
    except ValueError as error:
        raise ValueError(f"a {type(graph).__name__} is no graph: {error}") from None
    if matrix.ndim != 2:
        raise ValueError(
            f"a {type(graph).__name__} is no graph: give a scipy sparse array, a square array, a DataFrame, "
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


@contextmanager
def naming_nodes(graph: Any, nodes: Sequence[Any] | None) -> Iterator[None]:
    """Refusals inside name nodes as the caller does, and tell a directed graph from a matrix."""
    try:
        yield
    except ValueError as error:
        raise with_names(error, graph, nodes) from None


def with_names(error: ValueError, graph: Any, nodes: Sequence[Any] | None) -> ValueError:
    """The same refusal in the caller's words."""
    marked = getattr(error, "with_marked_nodes", None)
    if marked is None:
        return error
    if callable(getattr(graph, "is_directed", None)) and graph.is_directed():
        marked = marked.replace("the matrix is not symmetric", "the graph is directed, its matrix not symmetric", 1)
    return ValueError(re.sub("\0([0-9]+)\0", lambda node: _name(nodes, int(node[1])), marked))


def named_refusal(error: ValueError, graph: Any, weight: str | None) -> ValueError:
    """As `with_names`, where the names are still to be found out."""
    return with_names(error, graph, adjacency(graph, weight)[1])


def _name(nodes: Sequence[Any] | None, node: int) -> str:
    return str(node) if nodes is None or node >= len(nodes) else repr(nodes[node])


def matrix_of(graph: Graph, dtype: Any = None) -> Any:
    """The matrix of a graph; weights that are all 1 have the type asked for."""
    matrix = rows_matrix(graph._arrays(), graph.n_nodes, graph.n_nodes)
    return matrix if dtype is None else matrix.astype(dtype, copy=False)


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
    if graph.is_directed():
        return sparse.coo_array((weights, (ends[:, 0], ends[:, 1])), shape=(n_nodes, n_nodes)).tocsr(), nodes
    return _both_directions(ends, weights, n_nodes), nodes


def _from_frame(pandas: Any, frame: Any, weight: str | None) -> tuple[Any, list[Any] | None]:
    """A table of edges, or a square table whose rows and columns have the same names."""
    n_rows, n_columns = frame.shape
    if n_rows == n_columns and set(frame.index) == set(frame.columns):
        return _from_square_frame(pandas, frame)
    columns = _ncut.edge_columns([str(column) for column in frame.columns])
    if columns is None:
        listed = ", ".join(repr(column) for column in frame.columns[:10]) + (", ..." if n_columns > 10 else "")
        raise ValueError(
            f"the DataFrame is no graph: its columns are {listed}. For a list of edges call two of them source and "
            "target, and one weight if there is one; a matrix has the same names for rows and columns"
        )
    first, second, weights_column = columns
    if weight is None:
        weights_column = None
    elif weight != "weight":
        if weight not in frame.columns:
            raise ValueError(f"there is no column {weight!r}; weight=None counts every edge as 1")
        weights_column = list(frame.columns).index(weight)
    ends = [frame.iloc[:, place] for place in (first, second)]
    if not n_rows:
        raise ValueError("the DataFrame has no edges")
    for end in ends:
        if end.isna().any():
            row = frame.index[int(end.isna().to_numpy().argmax())]
            raise ValueError(f"row {row!r} has no {end.name!r}; remove such rows first")
    # Read row by row: nodes are numbered as the command line numbers them.
    values = np.empty(2 * n_rows, dtype=object)
    values[0::2], values[1::2] = (end.to_numpy(dtype=object) for end in ends)
    numbers, nodes = pandas.factorize(values)
    pairs = numbers.reshape(-1, 2)
    if weights_column is None:
        weights = np.ones(n_rows)
    else:
        column = frame.iloc[:, weights_column]
        try:
            weights = column.to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError) as error:
            raise ValueError(f"the column {column.name!r} is no weight everywhere: {error}") from None
    return _both_directions(pairs, weights, len(nodes)), list(nodes)


def _from_square_frame(pandas: Any, frame: Any) -> tuple[Any, list[Any] | None]:
    for names in (frame.index, frame.columns):
        if names.has_duplicates:
            twice = names[names.duplicated()][0]
            raise ValueError(f"the DataFrame names {twice!r} twice; every node needs a name of its own")
    frame = frame.loc[:, frame.index]
    if all(isinstance(dtype, pandas.SparseDtype) for dtype in frame.dtypes):
        matrix = frame.sparse.to_coo().tocsr()
    else:
        matrix = _square(frame.to_numpy())
    nodes = list(frame.index)
    return matrix, None if nodes == list(range(len(nodes))) else nodes


def _both_directions(ends: NDArray[Any], weights: NDArray[Any], n_nodes: int) -> Any:
    """The matrix of edges that were given once."""
    others = ends[:, 0] != ends[:, 1]
    ends = np.concatenate([ends, ends[others][:, ::-1]])
    weights = np.concatenate([weights, weights[others]])
    return sparse.coo_array((weights, (ends[:, 0], ends[:, 1])), shape=(n_nodes, n_nodes)).tocsr()
