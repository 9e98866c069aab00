"""Normalized-Cut clustering: direct, fast, deterministic, exact in the number of clusters.

For tables of points there is an estimator with scikit-learn's manners:

>>> from ncut import NormalizedCut
>>> from sklearn.datasets import load_iris
>>> labels = NormalizedCut(n_clusters=3).fit_predict(load_iris().data)
>>> len(labels), len(set(labels.tolist()))
(150, 3)

For graphs there are functions:

>>> import ncut, numpy as np
>>> path = np.array([[0, 5, 0, 0], [5, 0, 0.1, 0], [0, 0.1, 0, 5], [0, 0, 5, 0]])
>>> ncut.cluster(path, 2).labels
array([0, 0, 1, 1], dtype=int32)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ncut._ncut import Graph, __version__

if TYPE_CHECKING:
    from ncut._choose import CountCurve, choose, upper_bound
    from ncut._cluster import Clustering, Hierarchy, Score, cluster, score
    from ncut._errors import InternalError
    from ncut._estimator import NormalizedCut
    from ncut._images import image_graph, segment
    from ncut._points import neighbor_graph, self_tuning_graph
    from ncut._progress import Progress
    from ncut._spectral_clustering import SpectralClustering
    from ncut._update import Update, update

__all__ = [
    "Clustering",
    "CountCurve",
    "Graph",
    "Hierarchy",
    "InternalError",
    "NormalizedCut",
    "Progress",
    "Score",
    "SpectralClustering",
    "Update",
    "__version__",
    "choose",
    "cluster",
    "image_graph",
    "neighbor_graph",
    "score",
    "segment",
    "self_tuning_graph",
    "update",
    "upper_bound",
]

# Imported when they are asked for: the command line waits for none of them, and only estimators need scikit-learn.
_HOMES = {
    "_choose": ("CountCurve", "choose", "upper_bound"),
    "_cluster": ("Clustering", "Hierarchy", "Score", "cluster", "score"),
    "_errors": ("InternalError",),
    "_estimator": ("NormalizedCut",),
    "_images": ("image_graph", "segment"),
    "_points": ("neighbor_graph", "self_tuning_graph"),
    "_progress": ("Progress",),
    "_spectral_clustering": ("SpectralClustering",),
    "_update": ("Update", "update"),
}
# Modules of their own, which need extras.
_MODULES = ("anndata", "distributed")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"ncut.{name}")
    for home, names in _HOMES.items():
        if name in names:
            value = getattr(import_module(f"ncut.{home}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'ncut' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES])
