"""Values of nodes, in whatever people keep them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncut._graphs import plain
from ncut._settings import count

Names = Sequence[Any] | None
"""The names of nodes in their order; None where they are numbers from 0 up."""


class Labelled:
    """Labels of nodes that may have names, in the containers people use."""

    labels: NDArray[np.int32]
    nodes: list[Any] | None

    def to_dict(self) -> dict[Any, int]:
        """The label of every node, by name where nodes have names.

        Returns
        -------
        dict
            Labels by node.
        """
        numbers_of(self.nodes)
        numbers_of(self.nodes)
        return dict(zip(self._names, self.labels.tolist(), strict=True))

    def to_frame(self) -> Any:
        """The labels as a table, the nodes being its index.

        Returns
        -------
        pandas.DataFrame
            A row for each node, with its ``cluster`` and, where it is known, the ``confidence`` of that.
        """
        try:
            import pandas
        except ImportError:
            raise ImportError("to_frame needs pandas: pip install pandas") from None
        index = pandas.Index(self._names, name="node", tupleize_cols=False)
        return pandas.DataFrame(self._columns(), index=index)

    def _columns(self) -> dict[str, NDArray[Any]]:
        return {"cluster": self.labels}

    @property
    def _names(self) -> Sequence[Any]:
        return self.nodes if self.nodes is not None else range(len(self.labels))


def refuse_cells(X: Any) -> None:
    """An AnnData looks like an array to numpy, and takes minutes to become one."""
    if type(X).__name__ == "AnnData":
        raise TypeError(
            "X is an AnnData: use ncut.anndata.cluster(adata, n_clusters) for its graph of cells, or give adata.X or "
            "adata.obsm['X_pca']"
        )


def names_of(X: Any) -> Names:
    """The names of the rows of a DataFrame, unless they are their numbers."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(X, pandas.DataFrame):
        return None
    names = list(X.index)
    return None if names == list(range(len(names))) or len(set(names)) < len(names) else names


def label_array(values: Any, nodes: Names, n_nodes: int, name: str) -> NDArray[np.int32]:
    """Labels as 32-bit integers in the order of the nodes, -1 for nodes without one; what does not fit is refused."""
    return whole_labels(in_node_order(values, -1, nodes, n_nodes, name), name)


def class_array(values: Any, nodes: Names, n_nodes: int, name: str) -> NDArray[np.int32]:
    """Known classes as labels: numbers, or names, which are numbered; -1 for None, NaN, -1 and empty names."""
    values = in_node_order(values, -1, nodes, n_nodes, name)
    # Numbers among names are to stay numbers.
    array = np.asarray(values) if hasattr(values, "dtype") else np.asarray(values, dtype=object)
    if array.ndim == 1 and array.dtype.kind in "USOf":
        listed = [None if _is_missing(value) else value for value in array.tolist()]
        if any(isinstance(value, str | bytes) for value in listed):
            known = [None if value is None or str(value) in ("", "-1") else str(value) for value in listed]
            number = {text: place for place, text in enumerate(sorted({text for text in known if text is not None}))}
            array = np.array([-1 if text is None else number[text] for text in known])
        else:
            array = np.array([-1 if value is None else value for value in listed])
    return whole_labels(array, name)


def whole_labels(labels: Any, name: str) -> NDArray[np.int32]:
    """Labels in the order of the nodes as 32-bit integers."""
    array = np.asarray(labels)
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} dimensions; it must have one, a label for each node")
    if array.dtype.kind in "OU" and array.size:
        # Categories of pandas and scanpy are numbers written as text.
        try:
            array = np.array([int(value) for value in array.tolist()])
        except (TypeError, ValueError):
            strange = next(value for value in array.tolist() if not _is_whole(value))
            raise ValueError(
                f"{name} holds {strange!r}; labels are whole numbers, -1 for none (pandas.factorize numbers names)"
            ) from None
    if array.dtype.kind not in "iub" and array.size:
        whole = array.dtype.kind == "f" and bool(np.all(array == np.floor(array)))
        if not whole:
            raise ValueError(f"{name} holds {array.dtype} values; labels are whole numbers")
    bounds = np.iinfo(np.int32)
    if array.size and not (bounds.min <= array.min() and array.max() <= bounds.max):
        raise ValueError(f"{name} holds numbers beyond 32 bits; number the clusters from 0")
    return plain(array, np.int32)


def _is_whole(value: Any) -> bool:
    try:
        return bool(int(value) == float(value))
    except (TypeError, ValueError, OverflowError):
        return False


def in_node_order(values: Any, missing: Any, nodes: Names, n_nodes: int, name: str) -> Any:
    """Values in the order of the nodes: of a dict by node, of a pandas Series by its index, of communities the number
    of each node's, of a result by name where both sides have names; anything else is in that order already."""
    pandas = sys.modules.get("pandas")
    pairs: Iterable[tuple[Any, Any]]
    values = column_of(values, name)
    if isinstance(values, Labelled):
        if nodes is None or values.nodes is None:
            return values.labels
        values = values.to_dict()
    if isinstance(values, Mapping):
        pairs = values.items()
    elif pandas is not None and isinstance(values, pandas.Series):
        pairs = _pairs_of_series(values, nodes, n_nodes, name)
    elif hasattr(values, "membership"):
        # igraph's and leidenalg's clusterings.
        theirs = _vertex_names(values)
        if nodes is None or theirs is None:
            return values.membership
        pairs = zip(theirs, values.membership, strict=True)
    else:
        communities = _communities(values)
        if communities is None:
            return values
        pairs = _pairs_of_communities(communities, name)
    number = numbers_of(nodes)
    ordered = [missing] * n_nodes
    for node, value in pairs:
        ordered[node_number(node, number, n_nodes, name)] = value
    if missing is None and None in ordered:
        first = ordered.index(None)
        raise ValueError(
            f"{name} has no value for node {first if nodes is None else nodes[first]!r}; give one for each"
        )
    return ordered


def column_of(values: Any, name: str) -> Any:
    """The labels in a table, such as `to_frame` makes; anything else stays what it is."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(values, pandas.DataFrame):
        return values
    if "cluster" in values.columns:
        return values["cluster"]
    if len(values.columns) == 1:
        return values.iloc[:, 0]
    raise ValueError(f"{name} is a DataFrame without a column 'cluster'; give one of its columns")


def numbers_of(nodes: Names) -> dict[Any, int] | None:
    """The number of each name."""
    if nodes is None:
        return None
    number = {name: place for place, name in enumerate(nodes)}
    if len(number) < len(nodes):
        twice = next(name for place, name in enumerate(nodes) if number[name] != place)
        raise ValueError(f"two nodes are called {twice!r}, so that a name does not tell which; give every node its own")
    return number


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


def _pairs_of_series(series: Any, nodes: Names, n_nodes: int, name: str) -> Iterable[tuple[Any, Any]]:
    if series.index.has_duplicates:
        twice = series.index[series.index.duplicated()][0]
        raise ValueError(f"{name} is a Series that names {twice!r} twice; give every node once")
    known = set(range(n_nodes) if nodes is None else nodes)
    unknown = next((index for index in series.index if index not in known), None)
    if unknown is not None:
        whose = f"nodes are the numbers 0 to {n_nodes - 1}" if nodes is None else f"one is called {nodes[0]!r}"
        raise ValueError(
            f"{name} is a Series, taken by its index, and {unknown!r} is no node: {whose}; give {name}.to_numpy() if "
            "it is in the order of the nodes"
        )
    if nodes is None and len(series) == n_nodes and not series.index.is_monotonic_increasing:
        raise ValueError(
            f"{name} is a Series whose index is in another order than the nodes; give {name}.sort_index() if the index "
            f"names the nodes, {name}.to_numpy() if it is in their order already"
        )
    pairs: Iterable[tuple[Any, Any]] = series.items()
    return pairs


def _vertex_names(clustering: Any) -> list[Any] | None:
    """The names of the nodes that a clustering of igraph or leidenalg is of."""
    graph = getattr(clustering, "graph", None)
    if graph is None or "name" not in graph.vs.attributes():
        return None
    names: list[Any] = graph.vs["name"]
    return names if len(set(names)) == len(names) else None


def _communities(values: Any) -> list[Any] | None:
    """The communities, if values are such: any collection of sets or lists of nodes."""
    if isinstance(values, str | bytes) or hasattr(values, "__array__") or not isinstance(values, Iterable):
        return None
    values = list(values)
    are_sets = bool(values) and all(isinstance(value, Set | list | tuple) for value in values)
    return values if are_sets else None


def _pairs_of_communities(communities: list[Any], name: str) -> Iterable[tuple[Any, int]]:
    seen: dict[Any, int] = {}
    for place, community in enumerate(communities):
        for node in community:
            if isinstance(node, Set | list):
                raise ValueError(
                    f"{name} holds communities of communities, as girvan_newman gives; give one, such as next(...)"
                )
            if seen.setdefault(node, place) != place:
                raise ValueError(
                    f"{name} has {node!r} in communities {seen[node]} and {place}; a node is in one cluster only"
                )
    return seen.items()


def _is_missing(value: Any) -> bool:
    """Whether a value is None, NaN or pandas' NA, none of which is a class."""
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True
