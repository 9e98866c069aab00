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

from typing import TYPE_CHECKING, Any

from ncut._choose import CountCurve, choose, upper_bound
from ncut._cluster import Clustering, Hierarchy, Score, cluster, score
from ncut._errors import InternalError
from ncut._images import image_graph, segment
from ncut._ncut import Graph, __version__
from ncut._points import neighbor_graph, self_tuning_graph
from ncut._progress import Progress
from ncut._update import Update, update

if TYPE_CHECKING:
    from ncut._estimator import NormalizedCut

__all__ = [
    "Clustering",
    "CountCurve",
    "Graph",
    "Hierarchy",
    "InternalError",
    "NormalizedCut",
    "Progress",
    "Score",
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


def __getattr__(name: str) -> Any:
    # Only who asks for the estimator waits for scikit-learn.
    if name == "NormalizedCut":
        from ncut._estimator import NormalizedCut

        return NormalizedCut
    raise AttributeError(f"module 'ncut' has no attribute {name!r}")
