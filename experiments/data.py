"""The data sets, prepared as in the paper, and the synthetic ones."""

import os
from dataclasses import dataclass

import numpy as np
import skimage.data
import skimage.io
import sklearn.datasets
import sklearn.decomposition
import sklearn.neighbors


FROM_SKLEARN = {
    "digits": sklearn.datasets.load_digits,
    "iris": sklearn.datasets.load_iris,
    "wine": sklearn.datasets.load_wine,
    "breast cancer": sklearn.datasets.load_breast_cancer,
}


def standardized(points):
    return (points - points.mean(axis=0)) / points.std(axis=0)


@dataclass(frozen=True)
class DataSet:
    name: str
    k: int
    printed: str | None = None  # its name in the paper
    is_same: bool = False  # the file the paper used, not another sample
    is_image: bool = False  # grey values 0..255
    is_standardized: bool = False  # columns of different units

    def load(self, folder):
        """Points and classes; rows sorted by class, stably, as in the paper's files."""
        if self.name in FROM_SKLEARN:
            points, classes = FROM_SKLEARN[self.name](return_X_y=True)
            return (standardized(points) if self.is_standardized else points), classes
        with np.load(os.path.join(folder, "features", f"{self.name}.npz")) as file:
            points, classes = file["X"].astype(float), file["y"].astype(np.int64)
        order = np.argsort(classes, kind="stable")
        return points[order] / (255 if self.is_image else 1), classes[order]


SETS = [
    DataSet("german", 2, "German", is_same=True),
    DataSet("segment", 7, "Segment", is_same=True),
    DataSet("umist", 20, "UMist", is_same=True, is_image=True),
    DataSet("mnist10_like", 10, "MNIST10", is_image=True),
    DataSet("msra25", 12, "MSRA50", is_image=True),
    DataSet("waveform21_5000", 3, "Waveform-21"),
    DataSet("digits", 10),
    DataSet("keel_letter", 26),
]
# For the table of affinities.
LABELLED = [
    *SETS,
    DataSet("iris", 3),
    DataSet("wine", 3, is_standardized=True),
    DataSet("breast cancer", 2, is_standardized=True),
]


def five_blocks(seed):
    """500 nodes in 5 blocks; weights uniform in 0..1 inside a block, in 0..0.5 between blocks."""
    random = np.random.default_rng(seed)
    block = np.repeat(np.arange(5), 100)
    most = np.where(block[:, None] == block, 1.0, 0.5)
    upper = np.triu(most * random.random(most.shape), 1)
    return upper + upper.T


def two_circles(n_noise, seed):
    """200 points on each of two circles, jittered, and uniform noise, whose label is -1."""
    random = np.random.default_rng(seed)
    radii = np.repeat([0.5, 1.0], 200)
    angles = 2 * np.pi * random.random(400)
    circles = radii[:, None] * np.column_stack([np.cos(angles), np.sin(angles)]) + 0.02 * random.normal(size=(400, 2))
    noise = random.uniform(-1.2, 1.2, (n_noise, 2))
    labels = np.repeat([0, 1, -1], [200, 200, n_noise])
    return np.vstack([circles, noise]), labels


def coins_file(path):
    """Writes scikit-image's picture of coins."""
    skimage.io.imsave(path, coins(), check_contrast=False)
    return path


def coins():
    return skimage.data.coins()


def between_neighbors(points, classes, n_points, seed, within_classes):
    """Many points shaped as a few are, in their 50 principal axes: each on the way from one of them to one of its ten
    nearest, of its class alone (as SMOTE makes samples) or of all."""
    random = np.random.default_rng(seed)
    axes = sklearn.decomposition.PCA(50, random_state=0).fit_transform(points)
    groups = classes if within_classes else np.zeros_like(classes)
    nearest = np.empty((len(axes), 10), dtype=int)
    for group in np.unique(groups):
        own = np.flatnonzero(groups == group)
        search = sklearn.neighbors.NearestNeighbors(n_neighbors=11).fit(axes[own])
        nearest[own] = own[search.kneighbors(axes[own], return_distance=False)[:, 1:]]
    one = random.integers(len(axes), size=n_points)
    other = nearest[one, random.integers(10, size=n_points)]
    way = random.random((n_points, 1))
    return (axes[one] + way * (axes[other] - axes[one])).astype(np.float32), classes[one]
