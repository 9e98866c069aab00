"""Sample files for the examples of the command line.

python samples.py FOLDER
"""

import sys
from pathlib import Path

import networkx as nx
import numpy as np
import skimage
from PIL import Image, ImageDraw
from scipy import io, sparse
from scipy.spatial import Delaunay
from sklearn import datasets


def main(folder):
    folder = Path(folder)
    folder.mkdir(parents=True)
    friends(folder / "friends.csv")
    digits(folder)
    iris(folder / "iris.csv")
    mesh(folder / "mesh.mtx")
    photograph(folder)
    web(folder / "web.txt.gz")


def friends(path):
    """Who meets whom in Les Misérables, and how often."""
    edges = nx.les_miserables_graph().edges(data="weight")
    lines = [f"{first},{second},{weight}" for first, second, weight in edges]
    path.write_text("\n".join(["source,target,weight", *lines]) + "\n", encoding="utf-8")


def web(path):
    """A graph with twenty clusters: an edge list without header or weights, packed."""
    rng = np.random.default_rng(0)
    clusters = rng.integers(20, size=(30_000, 2))
    clusters[:20_000, 1] = clusters[:20_000, 0]
    ends = 100 * clusters + rng.integers(100, size=clusters.shape)
    ends = np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0)
    np.savetxt(path, ends, fmt="%d")


def digits(folder):
    """scikit-learn's handwritten digits, and which digit each is."""
    images, classes = datasets.load_digits(return_X_y=True)
    np.save(folder / "digits.npy", images)
    np.savetxt(folder / "classes.txt", classes, fmt="%d")


def iris(path):
    frame = datasets.load_iris(as_frame=True)
    table = frame.data.assign(species=frame.target_names[frame.target])
    table.index.name = "name"
    table.index = [f"flower{number}" for number in table.index]
    table.to_csv(path, index_label="name")


def mesh(path):
    """Triangles on a plate with a hole."""
    points = np.random.default_rng(0).uniform(-1, 1, size=(4000, 2))
    points = points[np.hypot(*points.T) > 0.35]
    corners = Delaunay(points).simplices
    ends = np.vstack([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [0, 2]]])
    lengths = np.linalg.norm(points[ends[:, 0]] - points[ends[:, 1]], axis=1)
    ends = np.unique(np.sort(ends[lengths < 0.2], axis=1), axis=0)
    shape = (len(points), len(points))
    below = sparse.coo_array((np.ones(len(ends)), (ends[:, 1], ends[:, 0])), shape=shape)
    io.mmwrite(path, below + below.T, field="pattern", symmetry="symmetric")


def photograph(folder):
    """A cup of coffee, and strokes of paint over the table (blue) and the cup (red)."""
    picture = Image.fromarray(skimage.data.coffee())
    picture.save(folder / "coffee.png")
    strokes = Image.new("RGBA", picture.size, (0, 0, 0, 0))
    draw = ImageDraw.Draw(strokes)
    for colour, points in (
        ((40, 90, 255, 255), [(20, 30), (200, 8), (420, 8), (570, 60), (575, 360)]),
        ((40, 90, 255, 255), [(25, 180), (40, 330), (160, 385), (420, 395)]),
        ((255, 40, 40, 255), [(150, 200), (240, 300), (380, 290), (460, 200)]),
        ((255, 40, 40, 255), [(250, 130), (330, 110), (400, 150)]),
    ):
        draw.line(points, fill=colour, width=9, joint="curve")
    strokes.save(folder / "strokes.png")


if __name__ == "__main__":
    main(*sys.argv[1:])
