"""Handwritten digits
==================

Half of them clustered, the other half placed in the clusters by ``predict``.

Every row is a cluster. On the left are its most central images, those with the most weight to their own cluster; on the
right are images that the clustering never saw. A frame marks an image whose digit is not the most frequent of its row.

``python digits.py [picture.png]``
"""

import sys

import matplotlib.pyplot as plt
import ncut
import numpy as np
from matplotlib.patches import Rectangle
from sklearn.datasets import load_digits

N_COLUMNS = 12
CELL = 10  # an image of 8 x 8 and its margin


def main(path="digits.png"):
    X, y = load_digits(return_X_y=True)
    X_seen, y_seen, X_new, y_new = X[::2], y[::2], X[1::2], y[1::2]
    model = ncut.NormalizedCut(n_clusters=10).fit(X_seen)
    placed = model.predict(X_new)

    seen = ncut.score(model.affinity_matrix_, model.labels_, truth=y_seen)
    new = ncut.score(ncut.self_tuning_graph(X_new), placed, truth=y_new)
    for name, scored in ("clustered", seen), ("predicted", new):
        print(f"{name}: accuracy {scored.accuracy:.3f}, NMI {scored.nmi:.3f}, N-Cut {scored.ncut:.3f}")

    digit = np.array([np.bincount(y_seen[model.labels_ == c]).argmax() for c in range(10)])
    rows = np.argsort(digit, kind="stable")
    order = np.argsort(-weight_inside(model), kind="stable")
    central = [order[model.labels_[order] == c][:N_COLUMNS] for c in rows]
    first = [np.flatnonzero(placed == c)[:N_COLUMNS] for c in rows]

    plt.switch_backend("Agg")
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
    draw_rows(left, X_seen, y_seen, central, digit[rows])
    draw_rows(right, X_new, y_new, first, digit[rows])
    left.set_title(f"Clustered: accuracy {seen.accuracy:.0%}, NMI {seen.nmi:.2f}")
    right.set_title(f"New, by predict: accuracy {new.accuracy:.0%}, NMI {new.nmi:.2f}")
    left.set_ylabel("cluster, by its most frequent digit")
    figure.savefig(path, dpi=120)


def weight_inside(model):
    """The weight of every point's links to its own cluster."""
    links = model.affinity_matrix_.tocoo()
    own = model.labels_[links.row] == model.labels_[links.col]
    return np.bincount(links.row[own], links.data[own], minlength=links.shape[0])


def draw_rows(axes, images, truth, rows, digits):
    montage = np.zeros((len(rows) * CELL, N_COLUMNS * CELL))
    for i, row in enumerate(rows):
        for j, image in enumerate(row):
            montage[i * CELL + 1 : i * CELL + 9, j * CELL + 1 : j * CELL + 9] = images[image].reshape(8, 8)
            if truth[image] != digits[i]:
                corner = j * CELL, i * CELL
                axes.add_patch(Rectangle(corner, CELL - 1, CELL - 1, fill=False, edgecolor="#d55e00", linewidth=1.5))
    axes.imshow(montage, cmap="gray_r")
    axes.set_xticks([])
    axes.set_yticks(CELL * (np.arange(len(rows)) + 0.45), digits)
    axes.tick_params(length=0)
    axes.set_frame_on(False)


if __name__ == "__main__":
    main(*sys.argv[1:])
