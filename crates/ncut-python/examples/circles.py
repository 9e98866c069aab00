"""Two noisy circles
=================

The Normalized Cut itself, its spectral relaxation, and k-means.

The first two cluster the same graph of nearest neighbours, and all are scored on it. Spectral clustering cuts through
both circles; the cut between them has less than half the cost. Every method has one thread.

``python circles.py [picture.png]``
"""

import sys
import time

import matplotlib.pyplot as plt
import ncut
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import make_circles
from threadpoolctl import threadpool_limits

COLORS = ["#0072b2", "#e69f00"]


def main(path="circles.png"):
    X, y = make_circles(1500, noise=0.1, factor=0.5, random_state=0)
    graph = ncut.self_tuning_graph(X)
    contest = [
        (ncut.NormalizedCut(2, affinity="precomputed"), graph),
        (SpectralClustering(2, affinity="precomputed", random_state=0), graph),
        (KMeans(2, random_state=0), X),
    ]

    plt.switch_backend("Agg")
    figure, panels = plt.subplots(1, 3, figsize=(12, 4.5), layout="compressed")
    for axes, (model, data) in zip(panels, contest, strict=True):
        name = type(model).__name__
        with threadpool_limits(1):
            start = time.perf_counter()
            labels = model.fit_predict(data)
            milliseconds = 1e3 * (time.perf_counter() - start)

        scored = ncut.score(graph, labels, truth=y)
        print(f"{name}: N-Cut {scored.ncut:.4f}, accuracy {scored.accuracy:.3f}, {milliseconds:.0f} ms")
        axes.scatter(*X.T, s=7, c=[COLORS[label] for label in labels])
        axes.set_title(f"{name}\nN-Cut {scored.ncut:.4f}, {milliseconds:.0f} ms")
        axes.set(aspect="equal", xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:])
