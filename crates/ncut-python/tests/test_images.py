"""Pictures."""

from __future__ import annotations

import ncut
import numpy as np
import pytest
from sklearn.feature_extraction.image import img_to_graph


def test_the_graph_is_scikit_learn_s():
    image = np.random.default_rng(0).integers(256, size=(12, 9)).astype(np.uint8)
    theirs = img_to_graph(image.astype(float))
    theirs.data = np.exp(-10 * theirs.data / theirs.data.std()) + 1e-6
    theirs = theirs.tocsr()
    theirs.setdiag(0)
    theirs.eliminate_zeros()
    ours = ncut.image_graph(image)
    assert abs(ours - theirs).max() < 1e-12 and ours.nnz == theirs.nnz


def test_every_kind_of_picture():
    stripes = np.zeros((10, 20))
    stripes[:, 10:] = 1.0
    expected = (stripes > 0).astype(int)
    for image in (
        stripes,
        stripes > 0,
        (255 * stripes).astype(np.uint8),
        (65535 * stripes).astype(np.uint16),
        (255 * stripes).astype(int),
        stripes.astype(np.float32),
        np.dstack([stripes] * 3),
        np.dstack([stripes] * 3 + [np.ones_like(stripes)]),
        stripes[:, :, np.newaxis],
        stripes.tolist(),
    ):
        labels = ncut.segment(image, 2)
        assert labels.dtype == np.int32 and np.array_equal(labels, expected)
    for links in ("grid8", "radius"):
        assert np.array_equal(ncut.segment(stripes, 2, links=links), expected)
    assert ncut.segment(stripes, 2, scale=0.5).shape == (10, 20)
    # What is transparent is white.
    clear = np.dstack([0 * stripes] * 3 + [1 - stripes])
    assert np.array_equal(ncut.segment(clear, 2), expected)


@pytest.mark.parametrize(
    ("image", "settings", "message"),
    [
        (np.zeros(5), {}, "the image is 5; it must be height x width"),
        (np.zeros((5, 5, 2)), {}, "the image is 5 x 5 x 2"),
        (np.zeros((0, 5)), {}, "no pixels"),
        (np.full((3, 3), np.nan), {}, "pixels must be finite"),
        (np.array([["a"]]), {}, "must be an array of numbers"),
        ("coins.png", {}, "must be an array of numbers"),
        (np.zeros((3, 3)), {"links": "grid5"}, 'links is "grid5"'),
        (np.zeros((3, 3)), {"beta": -1}, "beta is -1"),
        (np.zeros((3, 3)), {"scale": 0}, "scale is 0"),
    ],
)
def test_refusals(image, settings, message):
    with pytest.raises(ValueError, match=message):
        ncut.segment(image, 2, **settings)


def test_coins():
    skimage = pytest.importorskip("skimage.data")
    labels = ncut.segment(skimage.coins(), 25, blur=2, scale=0.2, preset="paper")
    assert labels.shape == (303, 384) and set(labels.ravel()) == set(range(25))
    # A coin in each row and column of the picture has a region of its own.
    places = [(row, column) for row in (50, 120, 190, 260) for column in (50, 110, 170, 230, 290, 350)]
    assert len({labels[place] for place in places}) >= 20
