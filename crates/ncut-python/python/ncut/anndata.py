"""Clusters of cells, in the manners of scanpy.

>>> import scanpy  # doctest: +SKIP
>>> scanpy.pp.neighbors(adata)  # doctest: +SKIP
>>> ncut.anndata.cluster(adata, 10)  # doctest: +SKIP
>>> scanpy.pl.umap(adata, color=["ncut", "ncut_confidence"])  # doctest: +SKIP

Nothing of anndata or scanpy is imported: whoever has an `AnnData` has them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ncut._cluster import cluster as cluster_graph
from ncut._graphs import NamedMatrix

__all__ = ["cluster"]

DEFAULT_KEY = "ncut"
# What steers a clustering from outside and is too large for `uns`.
STEERING = ("init", "fixed", "must_link", "cannot_link", "node_weight")
# What is told in `uns` of a clustering.
TOLD = (
    "objective",
    "ncut",
    "modularity",
    "resolution",
    "smallest_share",
    "largest_share",
    "n_clusters",
    "n_components",
    "n_disconnected",
    "stop_reason",
)


def cluster(
    adata: Any,
    n_clusters: int | str | None,
    *,
    neighbors_key: str | None = None,
    obsp: str | Mapping[str, float] | Sequence[str] | None = None,
    layers: Mapping[str, float] | Sequence[str] | None = None,
    restrict_to: tuple[str, Sequence[str]] | None = None,
    key_added: str = DEFAULT_KEY,
    copy: bool = False,
    objective: str | None = None,
    random_state: int = 0,
    **settings: Any,
) -> Any:
    """Cluster cells by their graph of neighbours into exactly `n_clusters`, as `scanpy.tl.leiden` does by a resolution.

    Parameters
    ----------
    adata : AnnData
        Annotated data with a graph of cells: run `scanpy.pp.neighbors` first.
    n_clusters : int, "auto" or None
        Number of clusters: exactly as many come back. "auto" finds out how many there are, by N-Cut; None is as many
        as modularity makes.
    neighbors_key : str, default=None
        The graph is ``adata.obsp[adata.uns[neighbors_key]["connectivities_key"]]``. None is
        ``adata.obsp["connectivities"]``.
    obsp : str, dict or list of str, default=None
        The graph is ``adata.obsp[obsp]``. A dict or a list names several graphs that are clustered jointly, see
        `layers`.
    layers : dict of str to float or list of str, default=None
        Graphs of ``adata.obsp`` that are clustered jointly, with the weight of each:
        ``{"connectivities": 1, "spatial_connectivities": 0.5}``; 1 each in a list. Each graph is divided by its mean
        degree first, so that weights compare graphs and not the units of their edges.
    restrict_to : tuple of str and list of str, default=None
        Cluster only the cells of some categories, ``(key of adata.obs, categories)``; the others keep their category.
    key_added : str, default="ncut"
        Key of ``adata.obs`` and ``adata.uns`` for the results; with `restrict_to` the default is "ncut_R".
    copy : bool, default=False
        Return a copy with the results instead of writing them into `adata`.
    objective : {"modularity", "ncut", "ratio_cut"}, default=None
        What is optimised. None is "modularity", which `scanpy.tl.leiden` optimises, too, at the resolution that makes
        `n_clusters`; and "ncut" for "auto". On the blood cells that scanpy ships, agreement with the known names is
        that of Leiden or higher for 3 to 10 clusters; "ncut" agrees better there for up to 7, less for 8 to 10.
    random_state : int, default=0
        Seed of whatever is random: ties between equals, variations.
    **settings : dict, optional
        Anything else that `ncut.cluster` takes: ``preset``, ``resolution``, ``min_share``, ``fixed``, ``n_jobs``, ...
        Cells are named by ``adata.obs_names``.

    Returns
    -------
    AnnData or None
        None, or with `copy` the annotated copy. It has

        - ``obs[key_added]``: the clusters as categories "0", "1", ..., "0" being the largest, unless `fixed` numbers
          them; missing where a cell is in no cluster.
        - ``obs[key_added + "_confidence"]``: how firmly each cell sits in its cluster, from 0 on the boundary to 1.
        - ``uns[key_added]``: ``params``, the objective and the like.

    Raises
    ------
    KeyError
        When there is no such graph; the message tells what to run first.
    ValueError
        When the graph or a setting is refused.

    See Also
    --------
    ncut.cluster : The same for graphs.

    Examples
    --------
    >>> import anndata, ncut, numpy as np
    >>> adata = anndata.AnnData(np.zeros((6, 1), dtype=np.float32))
    >>> adata.obsp["connectivities"] = np.kron(np.eye(2), np.ones((3, 3))) + 0.01
    >>> ncut.anndata.cluster(adata, 2)
    >>> adata.obs["ncut"].tolist()
    ['0', '0', '0', '1', '1', '1']
    """
    for attribute in ("obs", "obsp", "uns", "obs_names"):
        if not hasattr(adata, attribute):
            raise TypeError(f"adata is a {type(adata).__name__}; give an AnnData, or use ncut.cluster for a graph")
    weights = _graphs(adata, neighbors_key, obsp, layers)
    inside = None if restrict_to is None else _restricted(adata, restrict_to)
    if restrict_to is not None and key_added == DEFAULT_KEY:
        key_added += "_R"
    adata = adata.copy() if copy else adata
    names = adata.obs_names if inside is None else adata.obs_names[inside]
    matrix = _joint(adata, weights, inside)
    if objective is None:
        objective = "ncut" if n_clusters == "auto" else "modularity"
    settings |= {"objective": objective, "random_state": random_state}
    found = cluster_graph(NamedMatrix(matrix, list(names)), n_clusters, **settings)
    labels = found.labels if settings.get("fixed") is not None else _by_size(found.labels)
    _store(adata, key_added, labels, found.confidence, restrict_to, inside)
    params = {"n_clusters": n_clusters, "obsp": list(weights), **settings}
    # What is too large to keep is named, so that nobody takes the clusters for found without help.
    params["steered_by"] = [name for name in STEERING if settings.get(name) is not None]
    if len(weights) > 1:
        params["weights"] = list(weights.values())
    if restrict_to is not None:
        params |= {"restrict_to": restrict_to[0], "categories": list(restrict_to[1])}
    adata.uns[key_added] = {"params": _storable(params), **_storable({name: getattr(found, name) for name in TOLD})}
    return adata if copy else None


class MissingKey(KeyError, ValueError):
    """A key that is not there. It is a KeyError, and a ValueError as scanpy's is."""

    def __str__(self) -> str:
        return str(self.args[0])


def _graphs(adata: Any, neighbors_key: str | None, obsp: Any, layers: Any) -> dict[str, float]:
    """The keys of the graphs in `obsp`, and their weights."""
    given = {"neighbors_key": neighbors_key, "obsp": obsp, "layers": layers}
    named = [name for name, value in given.items() if value is not None]
    if len(named) > 1:
        raise ValueError(f"{' and '.join(named)} each tell which graph to cluster; give one of them")
    if neighbors_key is not None:
        if neighbors_key not in adata.uns:
            raise MissingKey(
                f"adata.uns has no {neighbors_key!r}: run scanpy.pp.neighbors(adata, key_added={neighbors_key!r}) first"
            )
        chosen = {adata.uns[neighbors_key].get("connectivities_key", "connectivities"): 1.0}
    elif obsp is None and layers is None:
        chosen = {"connectivities": 1.0}
    else:
        chosen = _weights(obsp if layers is None else layers, named[0])
    for key in chosen:
        if key not in adata.obsp:
            raise MissingKey(f"adata.obsp has no {key!r}: {_remedy(adata, key)}")
    return chosen


def _weights(graphs: Any, name: str) -> dict[str, float]:
    if isinstance(graphs, str):
        return {graphs: 1.0}
    if isinstance(graphs, Mapping):
        weights = dict(graphs)
    elif isinstance(graphs, Iterable):
        weights = dict.fromkeys(graphs, 1.0)
    else:
        weights = {}
    if not weights:
        raise ValueError(f"{name} is {graphs!r}; it must name graphs of adata.obsp")
    for key, weight in weights.items():
        if not isinstance(weight, int | float | np.number) or not 0.0 < weight < np.inf:
            raise ValueError(f"the weight of {key!r} is {weight!r}; it must be a positive number")
    return {key: float(weight) for key, weight in weights.items()}


def _remedy(adata: Any, key: str) -> str:
    if key.startswith("spatial"):
        return "run squidpy.gr.spatial_neighbors(adata) first"
    if key == "connectivities":
        return "run scanpy.pp.neighbors(adata) first"
    there = ", ".join(repr(other) for other in adata.obsp)
    return f"make that graph first; there {'is ' + there if there else 'are none'}"


def _restricted(adata: Any, restrict_to: tuple[str, Sequence[str]]) -> NDArray[np.bool_]:
    """Which cells are clustered."""
    try:
        key, categories = restrict_to
    except (TypeError, ValueError):
        raise ValueError(f"restrict_to is {restrict_to!r}; it must be (key of adata.obs, categories)") from None
    if key not in adata.obs:
        raise MissingKey(f"adata.obs has no {key!r}: cluster all cells first, or name another annotation")
    if isinstance(categories, str) or not len(categories):
        raise ValueError(f"the categories of restrict_to are {categories!r}; give a list of some")
    column = adata.obs[key].astype("category")
    for category in categories:
        if category not in column.cat.categories:
            known = ", ".join(repr(category) for category in column.cat.categories)
            raise ValueError(f"{category!r} is no category of {key!r}; these are: {known}")
    inside: NDArray[np.bool_] = column.isin(list(categories)).to_numpy()
    return inside


def _joint(adata: Any, weights: dict[str, float], inside: NDArray[np.bool_] | None) -> Any:
    """The graph to cluster: the one, or the sum of several of equal mean degree."""
    matrices = {key: adata.obsp[key] for key in weights}
    if inside is not None:
        matrices = {key: matrix[inside][:, inside] for key, matrix in matrices.items()}
    if len(matrices) == 1:
        return next(iter(matrices.values()))
    total: Any = 0
    for key, matrix in matrices.items():
        volume = matrix.sum(dtype=np.float64)
        if not volume > 0.0:
            raise ValueError(f"the graph {key!r} has no edges between these cells; leave it out")
        total = total + sparse.csr_array(matrix, dtype=np.float64) * (weights[key] * matrix.shape[0] / volume)
    return total


def _by_size(labels: NDArray[np.int32]) -> NDArray[np.int32]:
    """The same clusters, the largest being number 0."""
    inside = labels >= 0
    order = np.argsort(-np.bincount(labels[inside]), kind="stable")
    number = np.empty(len(order), dtype=np.int32)
    number[order] = np.arange(len(order))
    return np.where(inside, number[labels], -1).astype(np.int32)


def _store(
    adata: Any,
    key: str,
    labels: NDArray[np.int32],
    confidence: NDArray[np.float64],
    restrict_to: tuple[str, Sequence[str]] | None,
    inside: NDArray[np.bool_] | None,
) -> None:
    import pandas

    texts = [str(label) if label >= 0 else None for label in labels.tolist()]
    ordered = [str(label) for label in np.unique(labels[labels >= 0]).tolist()]
    if restrict_to is not None and inside is not None:
        prefix = "-".join(map(str, restrict_to[1])) + ","
        column = adata.obs[restrict_to[0]].astype("category")
        others = [str(category) for category in column.cat.categories if category not in restrict_to[1]]
        values = np.array(
            [None if missing else str(value) for value, missing in zip(column, column.isna(), strict=True)]
        )
        values = values.astype(object)
        values[inside] = [None if text is None else prefix + text for text in texts]
        texts, ordered = values.tolist(), others + [prefix + text for text in ordered]
        sure = np.full(adata.n_obs, np.nan)
        sure[inside] = confidence
        confidence = sure
    adata.obs[key] = pandas.Categorical(texts, categories=ordered)
    adata.obs[f"{key}_confidence"] = confidence


def _storable(values: dict[str, Any]) -> dict[str, Any]:
    """What an `.h5ad` file can hold of some values: numbers, texts and lists of these."""
    plain = (bool, int, float, str, np.number)
    kept: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, plain):
            kept[name] = value
        elif isinstance(value, list | tuple) and value and all(isinstance(item, plain) for item in value):
            kept[name] = np.asarray(value, dtype=object if isinstance(value[0], str) else None)
    return kept
