"""How many clusters?
==================

The objective for k = 1..15, and where its gap closes.

Seven blobs and some noise. With every k up to the true one the objective gains nearly 1, a whole cluster; from there on
blobs are broken and it gains less. The rule of the paper: choose the k with a large gain before it and a small one
after. This is a clear case: where random blobs overlap the step blurs, and of the seeds 0 to 19 eleven give 7, nearly
all others 6 or 8.

``python choosing_k.py [picture.png]``
"""

import sys

import matplotlib.pyplot as plt
import ncut
import numpy as np
from sklearn.datasets import make_blobs

COLORS = plt.color_sequences["petroff10"]
COUNTS = np.arange(1, 16)


def main(path="choosing_k.png"):
    blobs, _ = make_blobs(500, centers=7, cluster_std=0.7, center_box=(-8, 8), random_state=0)
    noise = np.random.default_rng(0).uniform(-9, 9, size=(50, 2))
    points = np.vstack([blobs, noise])
    graph = ncut.self_tuning_graph(points, n_neighbors=40)

    # Plain N-Cut, as in the paper: a least share would forbid some clusters for some k and bend the curve.
    found = [ncut.cluster(graph, k, min_share=0) for k in COUNTS]
    objectives = np.array([clustering.objective for clustering in found])
    best = suggested(COUNTS, objectives)
    labels = found[best - 1].labels
    gains = np.diff(objectives)
    print(f"suggested: k = {best}")
    print(f"the objective gains {gains[best - 2]:.3f} before it and {gains[best - 1]:.3f} after")

    plt.switch_backend("Agg")
    figure, axes = plt.subplot_mosaic(
        [["objective", "points"], ["gains", "points"]], figsize=(10.5, 5), width_ratios=[1.1, 1], layout="constrained"
    )
    axes["objective"].plot(COUNTS, objectives, "o-", color=COLORS[0], markersize=4)
    axes["objective"].set(ylabel="objective")
    axes["gains"].bar(COUNTS[1:], gains, color=[COLORS[0] if k <= best else "#b0b0b0" for k in COUNTS[1:]])
    axes["gains"].set(ylabel="gained by the last cluster", xlabel="number of clusters k")
    for panel in axes["objective"], axes["gains"]:
        panel.axvline(best, color=COLORS[1], linestyle="--", zorder=0)
        panel.set(xlim=(0.4, 15.6), xticks=COUNTS)
        panel.spines[["top", "right"]].set_visible(False)
    axes["points"].scatter(*points.T, s=12, c=[COLORS[label] for label in labels])
    axes["points"].set(title=f"The suggestion: {best} clusters", xticks=[], yticks=[], aspect="equal")
    figure.savefig(path, dpi=110)


def suggested(counts, objectives):
    """The count whose objective lies furthest above the mean of its neighbours': much gained before, little after."""
    gains = np.diff(objectives)
    return counts[1 + np.argmax(gains[:-1] - gains[1:])]


if __name__ == "__main__":
    main(*sys.argv[1:])
