"""scikit-learn's own tests of SpectralClustering with ours in its place, and what they do not ask (newcomers, 8)."""

from __future__ import annotations

import importlib
import inspect
import pickle
import subprocess
import sys
import types
import warnings

import ncut
import numpy as np
import pytest
import sklearn.cluster
import sklearn.cluster.tests.test_spectral as theirs
from conftest import objective
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_circles
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.neighbors import kneighbors_graph
from sklearn.utils.estimator_checks import check_estimator

SpectralClustering = ncut.SpectralClustering

# Two blobs far apart are no connected graph; those tests that ask for the warning get it all the same.
pytestmark = pytest.mark.filterwarnings("ignore:The graph is not fully connected")

# Every test of theirs that cannot be asked of ours, and why.
CANNOT_HOLD = {
    "test_cluster_qr": "about scikit-learn's private function cluster_qr",
    "test_cluster_qr_permutation_invariance": "about scikit-learn's private function cluster_qr",
    "test_discretize": "about scikit-learn's private function discretize",
    "test_spectral_clustering_not_infinite_loop": "about scikit-learn's private function discretize",
    "test_spectral_clustering_with_arpack_amg_solvers": "about the function spectral_clustering and its eigensolvers",
    "test_spectral_clustering_np_matrix_raises": "about the function spectral_clustering, not the class",
    "test_verbose": "about what its k-means prints; there is no k-means here",
}

THEIRS = {name: test for name, test in vars(theirs).items() if name.startswith("test_")}
# They run as tests of this module, with their own parameters.
globals().update({name: test for name, test in THEIRS.items() if name not in CANNOT_HOLD})

SQUARE_ONLY = {"check_clustering": "its matrix is not square, as a precomputed affinity is"}
BLOBS, TRUTH = make_blobs(n_samples=60, random_state=0, centers=[[1, 1], [-1, -1], [1, -1]], cluster_std=0.15)


@pytest.fixture(autouse=True)
def ours_in_place_of_theirs(monkeypatch, request):
    monkeypatch.setattr(theirs, "SpectralClustering", SpectralClustering)
    module = importlib.import_module("ncut._spectral_clustering")
    everything = set(module.WITHOUT_EFFECT) if request.node.originalname in THEIRS else set()
    monkeypatch.setattr(module, "_told", everything)


@pytest.fixture(params=[0, 1, 42])
def global_random_seed(request):
    """What scikit-learn's own configuration gives to its tests."""
    return request.param


def test_every_test_of_theirs_runs_or_is_listed():
    assert set(CANNOT_HOLD) <= set(THEIRS)
    assert len(THEIRS) - len(CANNOT_HOLD) >= 5
    for name in set(THEIRS) - set(CANNOT_HOLD):
        assert isinstance(globals()[name], types.FunctionType)
    # Those that are left out never ask the class, but for one.
    for name in set(CANNOT_HOLD) - {"test_verbose"}:
        assert "SpectralClustering(" not in inspect.getsource(THEIRS[name])


def test_every_parameter_of_theirs_is_there_with_its_default():
    assert inspect.signature(SpectralClustering) == inspect.signature(sklearn.cluster.SpectralClustering)
    assert SpectralClustering().get_params() == sklearn.cluster.SpectralClustering().get_params()
    assert isinstance(SpectralClustering(), sklearn.cluster.SpectralClustering)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore:ncut.SpectralClustering makes no use of n_components")
@pytest.mark.parametrize(
    ("affinity", "expected"), [("rbf", {}), ("nearest_neighbors", {}), ("precomputed", SQUARE_ONLY)]
)
def test_check_estimator_passes(affinity, expected):
    results = check_estimator(SpectralClustering(affinity=affinity), expected_failed_checks=expected, on_fail=None)
    odd = {r["check_name"]: r["exception"] for r in results if r["status"] not in ("passed", "xfail")}
    assert set(odd) <= {"check_array_api_input"}, odd
    assert {r["check_name"] for r in results if r["status"] == "xfail"} == set(expected)


@pytest.mark.parametrize(
    ("affinity", "settings"),
    [
        ("rbf", {"gamma": 0.7}),
        ("laplacian", {"gamma": 0.3}),
        ("poly", {"degree": 2, "coef0": 3, "gamma": 0.5}),
        ("polynomial", {"degree": 2}),
        ("sigmoid", {"gamma": 0.1, "coef0": 0.2}),
        ("cosine", {}),
        ("linear", {}),
        ("chi2", {"gamma": 0.5}),
    ],
)
def test_kernels_are_full_and_those_of_scikit_learn(affinity, settings):
    X = BLOBS - BLOBS.min() + 0.1
    model = SpectralClustering(3, affinity=affinity, **settings).fit(X)
    known = {"gamma": 1.0, "degree": 3, "coef0": 1, **settings}
    kernel = pairwise_kernels(X, metric=affinity, filter_params=True, **known)
    assert np.array_equal(model.affinity_matrix_, kernel)
    assert model.affinity_matrix_.shape == (60, 60) and set(model.labels_) == {0, 1, 2}
    same = sklearn.cluster.SpectralClustering(3, affinity=affinity, random_state=0, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.array_equal(same.fit(X).affinity_matrix_, kernel)
    without = kernel - np.diag(np.diag(kernel))
    assert model.objective_ == pytest.approx(objective(without, model.labels_))
    volumes = np.bincount(same.labels_, without.sum(axis=1))
    if volumes.min() >= 0.25 * volumes.mean():
        assert model.objective_ >= objective(without, same.labels_) - 1e-9


@pytest.mark.filterwarnings("ignore:Graph is not fully connected")
def test_neighbors_are_those_of_scikit_learn():
    X, y = make_circles(300, factor=0.5, noise=0.03, random_state=0)
    model = SpectralClustering(2, affinity="nearest_neighbors").fit(X)
    links = kneighbors_graph(X, 10, include_self=True)
    assert abs(model.affinity_matrix_ - 0.5 * (links + links.T)).nnz == 0
    assert adjusted_rand_score(y, model.labels_) == 1
    both = {"n_clusters": 2, "affinity": "nearest_neighbors", "n_neighbors": 7, "random_state": 0}
    theirs_found = sklearn.cluster.SpectralClustering(**both).fit(X)
    assert abs(SpectralClustering(**both).fit(X).affinity_matrix_ - theirs_found.affinity_matrix_).nnz == 0
    distances = kneighbors_graph(X, 15, mode="distance")
    both["affinity"] = "precomputed_nearest_neighbors"
    with warnings.catch_warnings():
        # scikit-learn sorts what is not sorted, and says so.
        warnings.simplefilter("ignore")
        theirs_found = sklearn.cluster.SpectralClustering(**both).fit(distances)
        found = SpectralClustering(**both).fit(distances)
    assert abs(found.affinity_matrix_ - theirs_found.affinity_matrix_).nnz == 0
    assert adjusted_rand_score(theirs_found.labels_, found.labels_) == 1


def test_callables_and_their_parameters():
    def kernel(x, y, width=1.0):
        return np.exp(-((x - y) ** 2).sum() / width)

    given = {"width": 0.5}
    model = SpectralClustering(3, affinity=kernel, kernel_params=given).fit(BLOBS)
    assert model.affinity_matrix_[0, 1] == kernel(BLOBS[0], BLOBS[1], 0.5)
    assert given == {"width": 0.5}
    assert adjusted_rand_score(TRUTH, model.labels_) == 1


def test_what_has_no_effect_is_said_once():
    with pytest.warns(UserWarning, match="makes no use of eigen_solver, n_init: it computes no eigenvectors") as told:
        SpectralClustering(3, eigen_solver="arpack", n_init=3).fit(BLOBS)
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SpectralClustering(3, eigen_solver="lobpcg", n_init=20).fit(BLOBS)
        SpectralClustering(3, gamma=2.0, random_state=1, n_jobs=2).fit(BLOBS)
    with pytest.warns(UserWarning, match="makes no use of assign_labels: "):
        SpectralClustering(3, n_init=3, assign_labels="discretize").fit(BLOBS)


@pytest.mark.parametrize("affinity", ["linear", "cosine", "poly", "sigmoid"])
def test_negative_kernels_are_refused_with_a_remedy(affinity):
    with pytest.raises(
        ValueError, match=f"the kernel '{affinity}' gives negative values .* between samples .*affinity='rbf'"
    ):
        SpectralClustering(3, affinity=affinity, coef0=0).fit(BLOBS)
    with pytest.raises(ValueError, match="the callable gives negative values"):
        SpectralClustering(3, affinity=lambda x, y: -1.0).fit(BLOBS)
    with pytest.raises(
        ValueError, match="Negative values in data passed to SpectralClustering: -2 between samples 0 and 1"
    ):
        SpectralClustering(2, affinity="precomputed").fit(sparse.csr_array([[0.0, -2.0], [-2.0, 0.0]]))


def test_what_is_not_symmetric_is_averaged_as_scikit_learn_does():
    matrix = np.triu(pairwise_kernels(BLOBS, metric="rbf", gamma=5.0))
    with pytest.warns(UserWarning, match="Array is not symmetric"):
        model = SpectralClustering(3, affinity="precomputed").fit(matrix)
    assert adjusted_rand_score(TRUTH, model.labels_) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_clusters": 0},
        {"eigen_solver": "magic"},
        {"n_components": 0},
        {"n_init": 0},
        {"gamma": -1},
        {"affinity": "magic"},
        {"n_neighbors": 0},
        {"eigen_tol": -1.0},
        {"assign_labels": "magic"},
        {"degree": -1},
        {"kernel_params": 3},
        {"n_jobs": 1.5},
        {"verbose": "loud"},
        {"random_state": "luck"},
    ],
)
def test_wrong_parameters_are_refused_by_name(wrong):
    with pytest.raises(ValueError, match=f"The '{next(iter(wrong))}' parameter of SpectralClustering"):
        SpectralClustering(**wrong).fit(BLOBS)


def test_what_a_fit_leaves_behind():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(BLOBS, columns=["a", "b"])
    model = SpectralClustering(3)
    assert np.array_equal(model.fit_predict(frame), model.labels_)
    assert list(model.feature_names_in_) == ["a", "b"] and model.n_features_in_ == 2
    assert model.ncut_ == pytest.approx(3 - model.objective_)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.labels_, model.labels_) and np.array_equal(
        again.affinity_matrix_, model.affinity_matrix_
    )
    assert not hasattr(clone(model), "labels_")
    before = frame.to_numpy().copy()
    SpectralClustering(3, affinity="rbf").fit(before)
    assert np.array_equal(before, frame)


def test_a_precomputed_matrix_is_left_as_it_is():
    matrix = sparse.csr_array(pairwise_kernels(BLOBS, metric="rbf", gamma=5.0))
    before = matrix.copy()
    model = SpectralClustering(3, affinity="precomputed").fit(matrix)
    assert abs(matrix - before).nnz == 0 and abs(model.affinity_matrix_ - before).nnz == 0


def test_verbose_shows_progress(capsys):
    SpectralClustering(3, verbose=True).fit(BLOBS)
    assert "ncut: objective" in capsys.readouterr().err


def test_it_comes_with_the_package_only_when_asked_for():
    program = "import sys, ncut; assert 'sklearn' not in sys.modules; ncut.SpectralClustering"
    subprocess.run([sys.executable, "-c", program], check=True)
