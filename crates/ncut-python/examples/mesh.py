"""Parts of a mesh
===============

A plate with three holes in twelve parts: as N-Cut has them, of like size, and of like cost.

On the left sizes differ where the mesh does: parts end at the holes. In the middle no part has more than 1.02 times the
mean volume. On the right the triangles near the holes cost more, and the parts are balanced by that.

``python mesh.py [picture.png]``
"""

import sys

import matplotlib.pyplot as plt
import ncut
import numpy as np
from matplotlib.tri import Triangulation
from scipy import sparse

N_PARTS = 12
HOLES = np.array([[-1.1, 0.0], [0.2, 0.25], [1.2, -0.2]])
RADIUS = 0.38


def main(path="mesh.png"):
    points, triangles = plate()
    links = np.vstack([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    ones = np.ones(2 * len(links))
    ends = np.vstack([links, links[:, ::-1]]).T
    graph = sparse.coo_array((ones, tuple(ends)), shape=(len(points), len(points))).tocsr()
    graph.data[:] = 1

    cost = 1 + 8 * np.exp(-8 * (distance_to_holes(points) - RADIUS))
    contest = [
        ("as N-Cut has them", {}),
        ("like size: max_share=1.02", {"max_share": 1.02}),
        ("like cost: node_weight", {"max_share": 1.02, "node_weight": cost}),
    ]
    plt.switch_backend("Agg")
    figure, panels = plt.subplots(1, len(contest), figsize=(13, 3.1), layout="compressed")
    for axes, (name, options) in zip(panels, contest, strict=True):
        found = ncut.cluster(graph, N_PARTS, **options)
        print(f"{name}: N-Cut {found.ncut:.3f}, the largest part has {found.largest_share:.2f} of the mean")
        drawn = Triangulation(*points.T, triangles)
        same = (found.labels[triangles] == found.labels[triangles[:, :1]]).all(axis=1)
        axes.tripcolor(drawn, np.where(same, found.labels[triangles[:, 0]], np.nan), cmap="Paired")
        axes.triplot(drawn, color="black", linewidth=0.15)
        axes.set_title(f"{name}\nN-Cut {found.ncut:.3f}, largest part {found.largest_share:.2f}")
        axes.set(aspect="equal")
        axes.set_axis_off()
    figure.savefig(path, dpi=110)


def plate():
    """Points of a plate with holes, denser near them, and the triangles between them."""
    rng = np.random.default_rng(0)
    points = rng.uniform((-2, -1), (2, 1), size=(9000, 2))
    away = distance_to_holes(points) - RADIUS
    points = points[(away > 0) & (rng.random(len(points)) < np.exp(-1.5 * away) + 0.1)]
    corners = Triangulation(*points.T).triangles
    middle = points[corners].mean(axis=1)
    return points, corners[distance_to_holes(middle) > RADIUS]


def distance_to_holes(points):
    """How far points are from the middle of the nearest hole."""
    return np.linalg.norm(points[:, None] - HOLES, axis=2).min(axis=1)


if __name__ == "__main__":
    main(*sys.argv[1:])
