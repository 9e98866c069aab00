"""NormalizedCut beside SpectralClustering: seconds, and the objective of both on the same graph."""

import sys
import time
import warnings
from functools import partial

import numpy as np
import sklearn
from ncut import NormalizedCut, image_graph, self_tuning_graph
from scipy import sparse
from skimage import data as pictures
from sklearn.cluster import SpectralClustering
from sklearn.datasets import load_digits

# More repetitions of what is quick: the best of them is the least disturbed.
SECONDS_EACH, MOST_TIMES = 3.0, 40


def objective(matrix, labels):
    """sum_c A_c / D_c, by code that knows nothing of ours."""
    matrix = sparse.csr_array(matrix)
    degrees = np.asarray(matrix.sum(axis=1)).ravel()
    total = 0.0
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        total += matrix[members][:, members].sum() / degrees[members].sum()
    return total


def timed(make, X):
    """The fitted model, and the best time of several fits."""
    seconds = []
    while len(seconds) < MOST_TIMES and (len(seconds) < 2 or sum(seconds) < SECONDS_EACH):
        started = time.perf_counter()
        model = make().fit(X)
        seconds.append(time.perf_counter() - started)
    return model, min(seconds)


def rows(name, X, theirs, ours):
    """One row for scikit-learn and one for each of our settings; objectives are on our graph."""
    model, their_seconds = timed(theirs, X)
    fits = [(settings, *timed(make, X)) for settings, make in ours.items()]
    graph = fits[0][1].affinity_matrix_
    print(f"| {name} | SpectralClustering | {their_seconds:.3f} | | {objective(graph, model.labels_):.6f} |")
    for settings, fit, seconds in fits:
        ratio = their_seconds / seconds
        print(f"| | {settings} | {seconds:.3f} | {ratio:.1f}x | {objective(graph, fit.labels_):.6f} |")


def main():
    folder, n_threads = sys.argv[1], int(sys.argv[2])
    warnings.filterwarnings("ignore", message="Graph is not fully connected")
    digits = load_digits().data
    mnist = np.load(f"{folder}/features/mnist10_like.npz")["X"] / 255.0
    own_graph = self_tuning_graph(mnist)
    coins = image_graph(pictures.coins(), blur=2, scale=0.2)

    def spectral(k, affinity, **more):
        return lambda: SpectralClustering(k, affinity=affinity, random_state=0, n_jobs=n_threads, **more)

    def ours(k, affinity, **more):
        settings = {
            "`fast`, `min_share=0`": {"preset": "fast", "min_share": 0.0},
            "`fast`": {"preset": "fast"},
            "`default`, `min_share=0`": {"min_share": 0.0},
            "`default`": {},
        }
        model = partial(NormalizedCut, k, affinity=affinity, n_jobs=n_threads, **more)
        return {name: partial(model, **chosen) for name, chosen in settings.items()}

    print(f"\n{n_threads} thread{'s' if n_threads > 1 else ''} each, scikit-learn {sklearn.__version__}:\n")
    print("| data | solver | seconds | faster | objective |")
    print("| --- | --- | --- | --- | --- |")
    neighbors = {"affinity": "nearest_neighbors", "n_neighbors": 10}
    rows("digits, 10 neighbours", digits, spectral(10, **neighbors), ours(10, **neighbors))
    rows("mnist10_like, 10 neighbours", mnist, spectral(10, **neighbors), ours(10, **neighbors))
    rows("mnist10_like's graph", own_graph, spectral(10, "precomputed"), ours(10, "precomputed"))
    rows("coins' graph", coins, spectral(25, "precomputed", assign_labels="kmeans"), ours(25, "precomputed"))


main()
