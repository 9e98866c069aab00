"""The data sets, prepared as in the paper, and the synthetic ones."""

import os
from dataclasses import dataclass

import numpy as np
import skimage.data
import skimage.io
import sklearn.datasets


@dataclass(frozen=True)
class DataSet:
    name: str
    k: int
    printed: str | None = None  # its name in the paper
    is_same: bool = False  # the file the paper used, not another sample
    is_image: bool = False  # grey values 0..255

    def load(self, folder):
        """Points and classes; rows sorted by class, stably, as in the paper's files."""
        if self.name == "digits":
            return sklearn.datasets.load_digits(return_X_y=True)
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
