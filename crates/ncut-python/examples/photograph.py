"""A cup of coffee
===============

A photograph in twelve regions, and in two by strokes of paint.

On the left nothing is told but the number of regions; each is in one piece, and none is small. In the middle are two
strokes that somebody might paint, over the table and over the cup. On the right are the two regions that hold them.

``python photograph.py [picture.png]``
"""

import sys

import matplotlib.pyplot as plt
import ncut
import numpy as np
from skimage.data import coffee
from skimage.draw import line
from skimage.segmentation import mark_boundaries
from skimage.transform import rescale

TABLE, CUP = 0, 1
COLORS = {TABLE: (0.16, 0.35, 1.0), CUP: (1.0, 0.16, 0.16)}
# Corners of the strokes, (row, column) in the photograph of 400 x 600 pixels.
STROKES = [
    (TABLE, [(30, 20), (8, 200), (8, 420), (60, 570), (360, 575)]),
    (TABLE, [(180, 25), (330, 40), (385, 160), (395, 420)]),
    (CUP, [(200, 150), (300, 240), (290, 380), (200, 460)]),
    (CUP, [(130, 250), (110, 330), (150, 400)]),
]


def main(path="photograph.png"):
    image = rescale(coffee(), 0.5, anti_aliasing=True, channel_axis=-1)
    seeds = painted(image.shape[:2])
    regions = ncut.segment(image, 12)
    cup = ncut.segment(image, 2, seeds=seeds)
    print(f"{regions.max() + 1} regions, the smallest of {np.bincount(regions.ravel()).min()} pixels")
    print(f"the cup and its saucer are {np.mean(cup == CUP):.0%} of the photograph")

    drawn = image.copy()
    for region, color in COLORS.items():
        drawn[thick(seeds == region)] = color
    shown = [
        ("twelve regions", mark_boundaries(image, regions, color=(1, 0.9, 0.2))),
        ("strokes of paint", drawn),
        ("what they divide", np.where((cup == CUP)[..., None], image, 0.25 * image + 0.75)),
    ]
    plt.switch_backend("Agg")
    figure, panels = plt.subplots(1, len(shown), figsize=(12, 3.1), layout="compressed")
    for axes, (title, picture) in zip(panels, shown, strict=True):
        axes.imshow(picture)
        axes.set_title(title)
        axes.set_axis_off()
    figure.savefig(path, dpi=110)


def painted(shape):
    """The region of every painted pixel, -1 elsewhere."""
    seeds = np.full(shape, -1)
    for region, corners in STROKES:
        for (row, column), (next_row, next_column) in zip(corners, corners[1:], strict=False):
            seeds[line(row // 2, column // 2, next_row // 2, next_column // 2)] = region
    return seeds


def thick(mask):
    """The mask and the pixels beside it, so that it can be seen."""
    wide = mask.copy()
    for axis in (0, 1):
        wide |= np.roll(wide, 1, axis) | np.roll(wide, -1, axis)
    return wide


if __name__ == "__main__":
    main(*sys.argv[1:])
