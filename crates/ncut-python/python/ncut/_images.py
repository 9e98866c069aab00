"""Pictures: their graphs and their regions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ncut import _ncut
from ncut._cluster import constraint_settings, solve, solver_settings
from ncut._graphs import matrix_of, plain, symmetric_source
from ncut._nodes import whole_labels
from ncut._progress import Listener, OnProgress
from ncut._settings import RandomState, choice, real, threads


def image_graph(
    image: ArrayLike,
    *,
    links: str = "grid4",
    blur: float = 0.0,
    scale: float = 1.0,
    beta: float = 10.0,
    epsilon: float = 1e-6,
    radius: float = 5.0,
    sigma_value: float = 0.1,
    sigma_distance: float = 4.0,
) -> Any:
    """The graph of a picture: a node for every pixel, links to those around it.

    In the grids two pixels that differ by ``g`` are linked with weight ``exp(-beta g / std) + epsilon``, where ``std``
    is the standard deviation of the data of scikit-learn's `img_to_graph`: the recipe of its segmentation of coins.
    Within a radius the weight is ``exp(-g^2 / sigma_value^2) exp(-distance^2 / sigma_distance^2)`` with values from 0
    to 1, as Shi and Malik have it.

    Parameters
    ----------
    image : array-like of shape (height, width) or (height, width, 1, 3 or 4)
        Grey or colour; integers of 8 or 16 bits, or floats from 0 to 1. What is transparent is seen over white.
    links : {"grid4", "grid8", "radius"}, default="grid4"
        Which pixels are linked: the four beside, above and below; the eight around; all within `radius`.
    blur : float, default=0.0
        Blur the picture first, by a Gaussian of so many pixels.
    scale : float, default=1.0
        Then scale it by this factor.
    beta : float, default=10.0
        How fast the weight falls with the difference (grids).
    epsilon : float, default=1e-6
        What every weight has at least, so that the picture stays connected (grids).
    radius : float, default=5.0
        How far linked pixels are apart at most ("radius").
    sigma_value : float, default=0.1
        Difference at which the weight has fallen to 1/e ("radius").
    sigma_distance : float, default=4.0
        Distance at which the weight has fallen to 1/e ("radius").

    Returns
    -------
    scipy.sparse.csr_array of shape (n_pixels, n_pixels)
        The symmetric matrix of weights; pixel ``(row, column)`` is node ``row * width + column``.

    Examples
    --------
    >>> import ncut, numpy as np
    >>> ncut.image_graph(np.zeros((3, 4))).nnz
    34
    """
    settings = _settings(links, blur, scale, beta, epsilon, radius, sigma_value, sigma_distance)
    return matrix_of(_graph(image, settings, 1, Listener(None, False))[0])


def segment(
    image: ArrayLike,
    n_clusters: int,
    *,
    links: str = "grid4",
    blur: float = 0.0,
    scale: float | None = None,
    beta: float = 10.0,
    epsilon: float = 1e-6,
    radius: float = 5.0,
    sigma_value: float = 0.1,
    sigma_distance: float = 4.0,
    preset: str = "default",
    objective: str = "ncut",
    min_share: float | None = None,
    connected: bool | None = None,
    seeds: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    max_share: float | None = None,
    time_limit: float | None = None,
    max_iter: int = 50,
    tol: float = 1e-9,
    n_jobs: int | None = None,
    random_state: RandomState = None,
    on_progress: OnProgress | None = None,
    verbose: bool | int = False,
) -> NDArray[np.int32]:
    """Divide a picture into regions.

    Parameters
    ----------
    image : array-like of shape (height, width) or (height, width, 1, 3 or 4)
        As for `image_graph`.
    n_clusters : int
        Number of regions: exactly as many come back.
    links : {"grid4", "grid8", "radius"}, default="grid4"
        As for `image_graph`, and so are the next.
    blur : float, default=0.0
        Blur the picture first, by a Gaussian of so many pixels.
    scale : float, default=None
        Then scale it by this factor; the labels have the size of the picture all the same. None is 1, and for a picture
        of more than two million pixels what leaves so many.
    beta : float, default=10.0
        How fast the weight falls with the difference (grids).
    epsilon : float, default=1e-6
        What every weight has at least (grids).
    radius : float, default=5.0
        How far linked pixels are apart at most ("radius").
    sigma_value : float, default=0.1
        Difference at which the weight has fallen to 1/e ("radius").
    sigma_distance : float, default=4.0
        Distance at which the weight has fallen to 1/e ("radius").
    preset : {"paper", "fast", "default", "best"}, default="default"
        As for `cluster`, and so are the others.
    objective : {"ncut", "ratio_cut", "modularity"}, default="ncut"
        What is optimised.
    min_share : float, default=None
        No region's volume falls below this share of the mean volume; None is 0.25, and 0 for "modularity" and preset
        "paper". 0 finds the smallest things, specks of light among them.
    connected : bool, default=None
        Whether every region is to be in one piece; None is True, and False for preset "paper".
    seeds : array-like of shape (height, width), default=None
        Known regions of some pixels, scribbles say, from 0 to ``n_clusters - 1``; -1 is free.
    mask : array-like of shape (height, width), default=None
        Only pixels where it is true are divided; the others are labelled -1.
    max_share : float, default=None
        No region's volume exceeds so many times the mean; at least 1.
    time_limit : float, default=None
        Seconds after which the best so far is returned, once the graph is there.
    max_iter : int, default=50
        Sweeps at most of every coordinate descent.
    tol : float, default=1e-9
        A descent ends when a sweep changes the objective by less, relatively.
    n_jobs : int, default=None
        Threads, as scikit-learn counts them.
    random_state : int, RandomState, Generator or None, default=None
        Seed of whatever is random; None is always the same.
    on_progress : callable, default=None
        Told how it goes; a true answer stops and keeps the best so far, once the graph is there (RuntimeError before).
    verbose : bool, default=False
        Whether to show a progress bar.

    Returns
    -------
    ndarray of shape (height, width), dtype int32
        The region of every pixel.

    Examples
    --------
    >>> import ncut, numpy as np
    >>> picture = np.zeros((4, 6)); picture[:, 3:] = 1.0
    >>> ncut.segment(picture, 2)[0]
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    >>> known = np.full((4, 6), -1); known[0, 0], known[0, 5] = 1, 0
    >>> ncut.segment(picture, 2, seeds=known)[0]
    array([1, 1, 1, 0, 0, 0], dtype=int32)
    """
    n_threads = threads(n_jobs)
    solving = solver_settings(
        n_clusters, preset, objective, None, min_share, "all", None, time_limit, max_iter, tol, random_state, connected
    )
    listener = Listener(on_progress, verbose)
    settings = _settings(links, blur, scale, beta, epsilon, radius, sigma_value, sigma_distance)
    graph, size, scaled = _graph(image, settings, n_threads, listener)
    known = None if seeds is None else _guide(seeds, "seeds", size)
    inside = None if mask is None else _guide(mask, "mask", size).astype(bool)
    if known is not None and (known[inside] >= 0 if inside is not None else known >= 0).all():
        raise ValueError(
            "seeds has a label for every pixel, so there is nothing left to find out; pixels that are free are -1 "
            "(where 0 means free, as in scikit-image, give seeds - 1)"
        )
    fixed = None if known is None else _scaled_seeds(known, scaled).ravel()
    if inside is None:
        solving |= constraint_settings(fixed, None, None, max_share, None, None, graph.n_nodes)
        labels = solve(graph, solving, None, n_threads, listener)["labels"]
    else:
        small = _ncut.resize_labels(plain(inside.ravel(), np.int32), size, scaled) == 1
        if not small.any():
            raise ValueError("the mask is false everywhere, so there is nothing to divide")
        part = matrix_of(graph)[small][:, small]
        fixed = None if fixed is None else fixed[small]
        solving |= constraint_settings(fixed, None, None, max_share, None, None, part.shape[0])
        labels = np.full(graph.n_nodes, -1, dtype=np.int32)
        labels[small] = solve(symmetric_source(part.tocsr()), solving, None, n_threads, listener)["labels"]
    regions = _ncut.resize_labels(labels, scaled, size).reshape(size)
    if known is not None:
        regions = np.where(known >= 0, known, regions).astype(np.int32)
    return regions if inside is None else np.where(inside, regions, -1).astype(np.int32)


def _guide(values: ArrayLike, name: str, size: tuple[int, int]) -> NDArray[Any]:
    array = np.asarray(values)
    if array.shape != size:
        raise ValueError(f"{name} has the shape {array.shape}, but the picture has {size}; they must be the same")
    return array


def _scaled_seeds(seeds: NDArray[Any], scaled: tuple[int, int]) -> NDArray[np.int32]:
    """Seeds of a picture of another size: most of those in the place of each pixel, the lowest among equals."""
    labels = whole_labels(seeds.ravel(), "seeds")
    height, width = seeds.shape
    if scaled == seeds.shape:
        return labels.reshape(scaled)
    row, column = np.divmod(np.flatnonzero(labels >= 0), width)
    place = (row * scaled[0] // height) * scaled[1] + column * scaled[1] // width
    known = labels[labels >= 0]
    pairs, votes = np.unique(np.column_stack([place, known]), axis=0, return_counts=True)
    found = np.full(scaled[0] * scaled[1], -1, dtype=np.int32)
    # The last of equal places wins: those with the most votes, then the lowest.
    order = np.lexsort((-pairs[:, 1], votes))
    found[pairs[order, 0]] = pairs[order, 1]
    return found.reshape(scaled)


def _settings(
    links: str,
    blur: float,
    scale: float | None,
    beta: float,
    epsilon: float,
    radius: float,
    sigma_value: float,
    sigma_distance: float,
) -> dict[str, Any]:
    return {
        "links": choice(links, "links"),
        "blur": real(blur, "blur"),
        "scale": None if scale is None else real(scale, "scale"),
        "beta": real(beta, "beta"),
        "epsilon": real(epsilon, "epsilon"),
        "radius": real(radius, "radius"),
        "sigma_value": real(sigma_value, "sigma_value"),
        "sigma_distance": real(sigma_distance, "sigma_distance"),
    }


def _graph(
    image: ArrayLike, settings: dict[str, Any], n_threads: int, listener: Listener
) -> tuple[_ncut.Graph, tuple[int, int], tuple[int, int]]:
    """The graph, the picture's height and width, and those it was scaled to."""
    pixels, white, is_whole = pixels_of(np.asarray(image))
    if settings["links"] == "radius" and not is_whole and pixels.size and pixels.max() > 1.0:
        raise ValueError(
            f"the image holds floats up to {pixels.max():.6g}; links='radius' compares values on a scale from 0 to 1: "
            "divide by 255, or give whole numbers (uint8)"
        )
    try:
        graph, scaled = _ncut.picture_graph(pixels, white, is_whole, settings, n_threads, listener.told)
    finally:
        listener.close()
    return graph, (pixels.shape[0], pixels.shape[1]), scaled


def pixels_of(image: NDArray[Any]) -> tuple[NDArray[np.float64], float, bool]:
    """The picture as (height, width, 1 or 3) floats, the value of white, and whether all are whole numbers."""
    if image.dtype.kind not in "fbiu":
        raise ValueError(f"the image holds {image.dtype} values; it must be an array of numbers")
    if image.ndim not in (2, 3) or (image.ndim == 3 and image.shape[2] not in (1, 3, 4)):
        shape = " x ".join(str(length) for length in image.shape)
        raise ValueError(f"the image is {shape}; it must be height x width, or height x width x 1, 3 or 4 channels")
    is_whole = image.dtype in (np.uint8, np.uint16)
    white = float(np.iinfo(image.dtype).max) if is_whole else 1.0
    if image.dtype.kind in "iu" and not is_whole:
        # Integers of other widths: those of 8 bits if they can be, else of 16.
        is_whole, white = True, 255.0 if image.size == 0 or image.max() <= 255 else 65535.0
    pixels = np.asarray(image, dtype=np.float64)
    if pixels.ndim == 2:
        pixels = pixels[:, :, np.newaxis]
    if pixels.shape[2] == 4:
        if not is_whole and pixels.size and pixels.max() > 1.0:
            raise ValueError(
                f"the image has four channels and floats up to {pixels.max():.6g}; opacity goes from 0 to 1: divide by "
                "255, or give whole numbers (uint8)"
            )
        opacity = pixels[:, :, 3:] / white
        pixels = pixels[:, :, :3] * opacity + white * (1.0 - opacity)
        pixels = np.rint(pixels) if is_whole else pixels
    return plain(pixels), white, is_whole
