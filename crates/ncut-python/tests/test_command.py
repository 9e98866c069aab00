"""The same as the command line, and the same in every process."""

from __future__ import annotations

import subprocess
import sys

import ncut
import numpy as np
import pytest
from conftest import planted
from scipy import sparse


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("graphs")
    weighted, _ = planted(6, 150, 3, between=2)
    made = {
        "weighted": weighted,
        "narrow": weighted.astype(np.float32),
        "ones": weighted.astype(bool).astype(float),
    }
    for name, graph in made.items():
        sparse.save_npz(folder / f"{name}.npz", graph)
    return folder, made


@pytest.mark.parametrize("name", ["weighted", "narrow", "ones"])
@pytest.mark.parametrize(
    ("settings", "options"),
    [
        ({}, []),
        ({"preset": "paper"}, ["--preset", "paper"]),
        ({"preset": "fast", "random_state": 5}, ["--preset", "fast", "--seed", "5"]),
        ({"random_state": 7, "min_share": 0.0, "n_jobs": 2}, ["--seed", "7", "--min-share", "0"]),
    ],
)
def test_labels_are_those_of_the_command_line(command, graphs, name, settings, options, tmp_path):
    folder, made = graphs
    out = tmp_path / "labels.npy"
    subprocess.run([command, "cluster", folder / f"{name}.npz", "-k", "6", "-o", out, "--quiet", *options], check=True)
    assert np.array_equal(np.load(out), ncut.cluster(made[name], 6, **settings).labels)
    model = ncut.NormalizedCut(6, affinity="precomputed", **settings).fit(made[name])
    assert np.array_equal(np.load(out), model.labels_)


@pytest.mark.parametrize(
    ("affinity", "option"),
    [
        ("self_tuning", "self-tuning"),
        ("nearest_neighbors", "knn"),
        ("rbf", "rbf"),
        ("cosine", "cosine"),
        ("adaptive", "adaptive"),
    ],
)
def test_points_are_clustered_alike(command, digits, affinity, option, tmp_path):
    X = digits[0][:700]
    np.save(tmp_path / "X.npy", X)
    out = tmp_path / "labels.npy"
    subprocess.run(
        [command, "points", tmp_path / "X.npy", "-k", "10", "-o", out, "--quiet", "--affinity", option], check=True
    )
    assert np.array_equal(np.load(out), ncut.NormalizedCut(10, affinity=affinity).fit_predict(X))


def test_points_of_32_bits_are_clustered_alike(command, digits, tmp_path):
    X = digits[0][:700].astype(np.float32)
    np.save(tmp_path / "X.npy", X)
    out = tmp_path / "labels.npy"
    subprocess.run([command, "points", tmp_path / "X.npy", "-k", "10", "-o", out, "--quiet"], check=True)
    assert np.array_equal(np.load(out), ncut.NormalizedCut(10).fit_predict(X))


def test_pictures_are_divided_alike(command, tmp_path):
    image = pytest.importorskip("skimage.data").coins()
    from skimage import io

    io.imsave(tmp_path / "coins.png", image)
    out = tmp_path / "labels.npy"
    options = ["--blur", "2", "--scale", "0.2", "--preset", "fast"]
    subprocess.run([command, "segment", tmp_path / "coins.png", "-k", "25", "-o", out, "--quiet", *options], check=True)
    assert np.array_equal(np.load(out), ncut.segment(image, 25, blur=2, scale=0.2, preset="fast"))


def test_every_process_finds_the_same(digits):
    program = (
        "import sys; from ncut import NormalizedCut; from sklearn.datasets import load_digits;"
        "model = NormalizedCut(10, n_jobs=int(sys.argv[1])).fit(load_digits().data);"
        "print(repr(model.objective_), model.labels_.tolist())"
    )
    outputs = {
        subprocess.run([sys.executable, "-c", program, n_jobs], check=True, capture_output=True).stdout
        for n_jobs in ("1", "1", "2", "-1")
    }
    assert len(outputs) == 1
