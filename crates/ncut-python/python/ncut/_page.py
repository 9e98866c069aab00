"""Pages to look at in a browser, and figures for a paper."""

from __future__ import annotations

import html as markup
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ncut import _ncut
from ncut._graphs import Csr, matrix_of, plain
from ncut._settings import count

if TYPE_CHECKING:
    from ncut._cluster import Clustering

MAX_NODES = 100_000
"""Nodes drawn on a page at most."""
MAX_NODES_IN_NOTEBOOK = 10_000
"""A notebook keeps every page it shows."""
MAX_DRAWN_ENTRIES = 10_000
"""Entries of the matrix up to which a figure draws the edges."""
MATRIX_SIDE = 400
"""Rows and columns at most of the picture of a matrix."""


def page(
    graph: _ncut.Graph | Csr,
    symmetrize: str | None,
    labels: NDArray[np.int32],
    n_threads: int,
    *,
    title: str,
    objective: str = "ncut",
    names: Sequence[Any] | None = None,
    points: ArrayLike | None = None,
    feature_names: Sequence[str] | None = None,
    picture: ArrayLike | None = None,
    truth: Sequence[Any] | NDArray[Any] | None = None,
    curve: dict[str, Any] | None = None,
    reason: str | None = None,
    asked: Sequence[tuple[str, str]] = (),
    remarks: Sequence[str] = (),
    max_nodes: int = MAX_NODES,
) -> str:
    """The page as HTML."""
    if points is not None and picture is not None:
        raise ValueError("a graph is made of points or of a picture; give one of the two")
    table = None
    if points is not None:
        feature_names = list(getattr(points, "columns", ())) if feature_names is None else feature_names
        table = _table(points, len(labels))
    pixels = None if picture is None else _picture(picture, len(labels))
    if isinstance(names, Mapping):
        raise TypeError("names is a dict; give a list with the name of every node, in the order of the nodes")
    if names is not None and len(names) != len(labels):
        raise ValueError(f"there are {len(names)} names for {len(labels)} nodes; give one for each")
    classes, class_names = (None, []) if truth is None else _classes(truth, len(labels))
    description = {
        "title": str(title),
        "objective": objective,
        "names": None if names is None else [str(name) for name in names],
        "points": table,
        "feature_names": [str(name) for name in feature_names or ()],
        "picture": pixels,
        "regions": None if picture is None else labels,
        "truth": classes,
        "class_names": class_names,
        "curve": curve,
        "reason": reason,
        "asked": list(asked),
        "remarks": list(remarks),
        "max_nodes": count(max_nodes, "max_nodes", 1),
    }
    return _ncut.page(graph, symmetrize, labels, description, n_threads)


def write(path: str | os.PathLike[str], html: str) -> None:
    """Writes a page, whole or not at all."""
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{target}: a page is HTML; choose a name that ends in .html")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{target}: there is no folder {target.parent}")
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=target.parent, suffix=".tmp", delete=False) as file:
        try:
            file.write(html)
            file.close()
            # Temporary files are for their owner alone; pages are as other files.
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(file.name, 0o666 & ~mask)
            os.replace(file.name, target)
        except BaseException:
            file.close()
            os.unlink(file.name)
            raise


def framed(html: str) -> str:
    """A page inside another, such as a notebook."""
    return (
        f'<iframe srcdoc="{markup.escape(html)}" title="ncut" '
        'style="border:0;width:100%;height:760px" sandbox="allow-scripts"></iframe>'
    )


def _classes(truth: Sequence[Any] | NDArray[Any], n_nodes: int) -> tuple[NDArray[np.int32], list[str]]:
    """Classes numbered by first appearance, and their names; None, NaN, -1 and an empty name are none."""
    if isinstance(truth, Mapping):
        raise TypeError("truth is a dict; give a list with the class of every node, in the order of the nodes")
    known = np.asarray(truth).tolist()
    if len(known) != n_nodes:
        raise ValueError(f"there are {len(known)} known classes for {n_nodes} nodes; give one for each")
    numbers: dict[str, int] = {}
    classes = np.full(n_nodes, -1, dtype=np.int32)
    for node, value in enumerate(known):
        name = "" if value is None or value != value else str(value)
        if name not in ("", "-1", "-1.0"):
            classes[node] = numbers.setdefault(name, len(numbers))
    return classes, list(numbers)


def _table(points: ArrayLike, n_nodes: int) -> NDArray[np.float64]:
    table = plain(np.asarray(points), np.float64)
    if table.ndim != 2 or table.shape[0] != n_nodes:
        shape = " x ".join(str(length) for length in table.shape)
        raise ValueError(f"the points are {shape}; there must be one row for each of the {n_nodes} nodes")
    return table


def _picture(picture: ArrayLike, n_nodes: int) -> tuple[NDArray[np.float64], float, bool]:
    from ncut._images import pixels_of

    pixels, white, is_whole = pixels_of(np.asarray(picture))
    height, width = pixels.shape[:2]
    if height * width != n_nodes:
        raise ValueError(
            f"the picture has {height} x {width} pixels; there must be one for each of the {n_nodes} nodes"
        )
    # Floats beyond 1 are shades of an 8-bit picture.
    white = 255.0 if not is_whole and pixels.size and pixels.max() > 1.0 else white
    return pixels, white, is_whole


def plot(
    found: Clustering,
    *,
    points: ArrayLike | None,
    picture: ArrayLike | None,
    kind: str,
    ax: Any,
) -> Any:
    """Draws a clustering by matplotlib."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plot needs matplotlib; install it with pip install 'ncut[plot]'") from None
    if kind not in ("auto", "map", "matrix"):
        raise ValueError(f"kind is {kind!r}; it must be one of 'auto', 'map', 'matrix'")
    if points is not None and picture is not None:
        raise ValueError("a graph is made of points or of a picture; give one of the two")
    if ax is None:
        ax = plt.subplots(figsize=(5.0, 4.6), layout="constrained")[1]
    if picture is not None:
        _plot_picture(ax, found, picture)
        return ax
    places = None if kind == "matrix" else _places(found, points)
    if kind == "auto" and points is None and places is not None and not _is_spread(places):
        places = None
    if places is None and kind == "map":
        raise ValueError("nothing places the nodes of this graph on a map; kind='matrix' draws its matrix")
    if places is None:
        _plot_matrix(ax, found)
    else:
        _plot_map(ax, found, places, has_edges=points is None)
    return ax


def _colours(n_clusters: int) -> list[Any]:
    """Colours in matplotlib's own cycle while it lasts, then around the hues at two lightnesses."""
    import matplotlib as mpl

    if n_clusters <= 10:
        return [f"C{number}" for number in range(n_clusters)]
    hues = mpl.colormaps["twilight_shifted" if n_clusters > 40 else "tab20"]
    return [
        hues((number * 7 % n_clusters) / n_clusters) if n_clusters > 20 else hues(number)
        for number in range(n_clusters)
    ]


def _places(found: Clustering, points: ArrayLike | None) -> NDArray[np.float64] | None:
    if points is not None:
        table = _table(points, len(found.labels))
        if table.shape[1] == 1:
            return np.column_stack([table[:, 0], np.zeros(len(table))])
        if table.shape[1] == 2:
            return table
        centred = table - table.mean(axis=0)
        axes = np.linalg.eigh(centred.T @ centred)[1][:, ::-1][:, :2]
        # The sign is that of the largest entry.
        signs = np.sign(axes[np.abs(axes).argmax(axis=0), [0, 1]])
        return np.asarray(centred @ (axes * signs))
    flat = _ncut.node_places(found._graph, found._symmetrize, found.labels, found._n_threads)
    return None if flat is None else flat.reshape(-1, 2)


def _is_spread(places: NDArray[np.float64]) -> bool:
    """Whether nodes are spread over the map; eigenvectors of some graphs put nearly all in one place."""
    side = 24
    least, most = places.min(axis=0), places.max(axis=0)
    cells = ((places - least) / np.maximum(most - least, np.finfo(float).tiny) * (side - 1)).astype(int)
    return len(np.unique(cells, axis=0)) >= 0.15 * min(side * side, len(places))


def _plot_map(ax: Any, found: Clustering, places: NDArray[np.float64], *, has_edges: bool) -> None:
    from matplotlib.collections import LineCollection

    colours = _colours(found.n_clusters)
    size = float(np.clip(9000 / max(len(places), 1), 2.0, 36.0))
    matrix = _matrix(found).tocoo() if has_edges else None
    if matrix is not None and matrix.nnz <= MAX_DRAWN_ENTRIES:
        is_first = matrix.row < matrix.col
        ends = np.stack([places[matrix.row[is_first]], places[matrix.col[is_first]]], axis=1)
        ax.add_collection(LineCollection(list(ends), colors="0.6", linewidths=0.3, alpha=0.6, zorder=0))
    unlabelled = found.labels < 0
    if unlabelled.any():
        ax.scatter(*places[unlabelled].T, s=size, color="0.8", linewidths=0)
    for row, label in enumerate(found.clusters["label"]):
        own = places[found.labels == label]
        ax.scatter(*own.T, s=size, color=colours[row], linewidths=0.2, edgecolors="white", label=str(label))
        middle = np.median(own, axis=0)
        nearest = own[((own - middle) ** 2).sum(axis=1).argmin()]
        ax.annotate(
            str(label),
            nearest,
            ha="center",
            va="center",
            fontweight="bold",
            bbox={"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.75},
        )
    ax.set(xticks=[], yticks=[])
    ax.set_title(_title(found))


def _plot_matrix(ax: Any, found: Clustering) -> None:
    """The matrix with its rows and columns by cluster: what is inside stands on the diagonal."""
    matrix = _matrix(found)
    ranks = np.where(found.labels < 0, np.iinfo(np.int32).max, found.labels)
    order = np.argsort(ranks, kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    side = min(MATRIX_SIDE, len(order))
    entries = matrix.tocoo()
    scaled = place * side // len(order)
    shown = np.zeros((side, side))
    np.add.at(shown, (scaled[entries.row], scaled[entries.col]), entries.data)
    ax.imshow(np.log1p(shown), cmap="Greys", interpolation="nearest", extent=(0, len(order), len(order), 0))
    ends = np.cumsum(found.clusters["size"])
    for colour, label, start, end in zip(
        _colours(found.n_clusters), found.clusters["label"], [0, *ends[:-1]], ends, strict=True
    ):
        ax.plot([start, end, end, start, start], [start, start, end, end, start], color=colour, linewidth=1.4)
        ax.text(end, (start + end) / 2, f" {label}", va="center", color=colour, fontweight="bold", clip_on=False)
    ax.set(xticks=[], yticks=[])
    ax.set_title(_title(found))


def _matrix(found: Clustering) -> Any:
    from scipy import sparse

    graph = found._graph
    if isinstance(graph, _ncut.Graph):
        return matrix_of(graph)
    n_nodes = len(found.labels)
    return sparse.csr_array((graph["data"], graph["indices"], graph["indptr"]), shape=(n_nodes, n_nodes))


def _plot_picture(ax: Any, found: Clustering, picture: ArrayLike) -> None:
    image = np.asarray(picture)
    pixels, _, _ = _picture(image, len(found.labels))
    height, width = pixels.shape[:2]
    regions = found.labels.reshape(height, width)
    ax.imshow(image if image.ndim == 2 or image.shape[2] > 1 else image[:, :, 0], cmap="gray")
    colours = _colours(found.n_clusters)
    for row, label in enumerate(found.clusters["label"]):
        own = regions == label
        if 0 < own.sum() < own.size:
            ax.contour(own, levels=[0.5], colors=[colours[row]], linewidths=1.4)
    ax.set(xticks=[], yticks=[])
    ax.set_title(_title(found))


def _title(found: Clustering) -> str:
    inside = found.clusters["association"].sum() / max(found.clusters["volume"].sum(), np.finfo(float).tiny)
    share = f"{100 * inside:.{1 if inside > 0.99 else 0}f}"
    return f"{found.n_clusters} clusters, {share} % of the weight inside"
