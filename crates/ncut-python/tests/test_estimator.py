"""scikit-learn's manners."""

from __future__ import annotations

import inspect
import pickle

import ncut
import numpy as np
import pytest
from conftest import accuracy, objective, planted
from joblib import parallel_config
from ncut import NormalizedCut, _ncut
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score, make_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

NOT_SQUARE = {"check_clustering": "its matrix is not square, as a precomputed affinity is"}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize(
    ("estimator", "expected"),
    [
        (NormalizedCut(), {}),
        (NormalizedCut(affinity="nearest_neighbors"), {}),
        (NormalizedCut(affinity="rbf"), {}),
        (NormalizedCut(affinity="cosine"), {}),
        (NormalizedCut(affinity="adaptive"), {}),
        (NormalizedCut(affinity="precomputed"), NOT_SQUARE),
    ],
)
def test_check_estimator_passes(estimator, expected):
    results = check_estimator(estimator, expected_failed_checks=expected)
    odd = {r["check_name"]: r["status"] for r in results if r["status"] not in ("passed", "xfail")}
    # Unless SCIPY_ARRAY_API is set, that one has nothing to check.
    assert odd in ({}, {"check_array_api_input": "skipped"})
    assert {r["check_name"] for r in results if r["status"] == "xfail"} == set(expected)


def test_tags_tell_what_is_precomputed():
    for affinity in ("precomputed", "precomputed_nearest_neighbors"):
        tags = NormalizedCut(affinity=affinity).__sklearn_tags__().input_tags
        assert tags.sparse and tags.pairwise and tags.positive_only
    tags = NormalizedCut().__sklearn_tags__().input_tags
    assert tags.sparse and not tags.pairwise and not tags.positive_only


def test_the_signature_is_the_contract():
    signature = (
        "(n_clusters=8, *, affinity='self_tuning', n_neighbors=25, gamma=None, preset='default', min_share=None, "
        "components='all', init=None, time_limit=None, max_iter=50, tol=1e-09, n_jobs=None, random_state=None, "
        "verbose=False, objective='ncut', resolution=None, connected=None, fixed=None, must_link=None, "
        "cannot_link=None, max_share=None, node_weight=None, symmetrize=None)"
    )
    parameters = inspect.signature(NormalizedCut).parameters.values()
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters]
    assert str(inspect.Signature(bare)) == signature


def test_defaults_are_those_of_the_library():
    model = NormalizedCut()
    preset, max_iter, tol, min_share, n_neighbors = _ncut.settings("default")
    assert (model.preset, model.max_iter, model.tol) == (preset, max_iter, tol)
    assert model.n_neighbors == n_neighbors
    assert min_share == 0.25 and _ncut.settings("paper")[3] == 0.0


def test_what_a_fit_leaves_behind(digits):
    X, y = digits
    model = NormalizedCut(n_clusters=10).fit(X)
    assert model.labels_.dtype == np.int32 and set(model.labels_) == set(range(10))
    assert model.n_features_in_ == 64 and model.n_iter_ >= 1
    assert model.objective_ == pytest.approx(objective(model.affinity_matrix_, model.labels_), abs=1e-9)
    assert model.ncut_ == pytest.approx(10 - model.objective_)
    assert model.stop_reason_ in ("local-optimum", "small-improvement", "sweep-limit")
    assert model.clusters_["size"].sum() == len(X)
    assert accuracy(model.labels_, y) > 0.85


def test_results_never_change():
    X, _ = make_blobs(400, centers=6, cluster_std=2.0, random_state=3)
    first = NormalizedCut(6).fit(X)
    for n_jobs in (1, 2, 3, -1):
        other = NormalizedCut(6, n_jobs=n_jobs, random_state=0).fit(X)
        assert np.array_equal(first.labels_, other.labels_) and first.objective_ == other.objective_
    with parallel_config("threading", n_jobs=2):
        assert np.array_equal(first.labels_, NormalizedCut(6).fit_predict(X))


def test_clone_pickle_and_representation(digits):
    X, _ = digits
    model = NormalizedCut(n_clusters=10, preset="fast", min_share=0.1).fit(X)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.labels_, model.labels_)
    assert np.array_equal(again.predict(X[:50]), model.predict(X[:50]))
    assert clone(model).get_params() == model.get_params()
    assert not hasattr(clone(model), "labels_")
    assert repr(model) == "NormalizedCut(min_share=0.1, n_clusters=10, preset='fast')"
    assert "NormalizedCut" in model._repr_html_()


def test_pipelines_and_grids():
    X, y = make_blobs(300, centers=4, cluster_std=0.7, random_state=1)
    labels = make_pipeline(StandardScaler(), NormalizedCut(4)).fit_predict(X)
    assert adjusted_rand_score(y, labels) > 0.95
    grid = GridSearchCV(NormalizedCut(4), {"n_clusters": [2, 4, 8]}, scoring=make_scorer(adjusted_rand_score), cv=3)
    assert grid.fit(X, y).best_params_ == {"n_clusters": 4}


def test_feature_names_are_kept():
    pandas = pytest.importorskip("pandas")
    X, _ = make_blobs(60, centers=3, random_state=0)
    frame = pandas.DataFrame(X, columns=["a", "b"])
    model = NormalizedCut(3).fit(frame)
    assert list(model.feature_names_in_) == ["a", "b"]
    assert np.array_equal(model.labels_, NormalizedCut(3).fit_predict(X))


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_clusters": 0},
        {"n_clusters": 2.5},
        {"affinity": "magic"},
        {"n_neighbors": 0},
        {"gamma": 0},
        {"preset": "turbo"},
        {"min_share": 1.5},
        {"components": "some"},
        {"time_limit": -1},
        {"max_iter": -1},
        {"tol": -1e-9},
        {"n_jobs": 1.5},
        {"random_state": "seed"},
    ],
)
def test_wrong_parameters_are_refused_by_name(wrong):
    with pytest.raises(ValueError, match=f"The '{next(iter(wrong))}' parameter of NormalizedCut"):
        NormalizedCut(**wrong).fit(np.random.default_rng(0).normal(size=(20, 2)))


def test_refusals_are_the_library_s():
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ValueError, match="50 clusters were asked of 20 nodes; .* at most 20"):
        NormalizedCut(50).fit(X)
    with pytest.raises(ValueError, match="19 starting labels were given for 20 nodes"):
        NormalizedCut(2, init=np.zeros(19, int)).fit(X)
    with pytest.raises(ValueError, match="min_share is 0.5; it must be 0 with preset `paper`"):
        NormalizedCut(2, preset="paper", min_share=0.5).fit(X)
    asymmetric = np.triu(np.ones((4, 4)))
    with pytest.raises(ValueError, match=r"not symmetric: the weight of \(0, 1\) is 1, that of \(1, 0\) is 0"):
        NormalizedCut(2, affinity="precomputed").fit(asymmetric)


def test_a_time_limit_keeps_the_best_so_far():
    graph, _ = planted(50, 200, 0)
    model = NormalizedCut(50, affinity="precomputed", preset="best", time_limit=0.05).fit(graph)
    assert model.stop_reason_ == "time-limit" and len(set(model.labels_)) == 50


def test_a_start_is_used_and_largest_leaves_small_components_aside():
    graph = sparse.block_diag([planted(3, 30, 1)[0], planted(1, 10, 2)[0]]).tocsr()
    model = NormalizedCut(3, affinity="precomputed", components="largest").fit(graph)
    assert (model.labels_[90:] == -1).all() and set(model.labels_[:90]) == {0, 1, 2}
    start = np.concatenate([np.repeat([0, 1, 2], 30), np.repeat(-1, 10)])
    model = NormalizedCut(3, affinity="precomputed", components="largest", init=start, preset="paper").fit(graph)
    assert np.array_equal(model.labels_, start)


def test_the_affinity_matrix_is_made_when_it_is_asked_for():
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = NormalizedCut(3, n_neighbors=5)
    assert not hasattr(model, "affinity_matrix_")
    model.fit(X)
    again = pickle.loads(pickle.dumps(model))
    matrix = model.affinity_matrix_
    assert sparse.issparse(matrix) and matrix is model.affinity_matrix_
    assert abs(matrix - ncut.self_tuning_graph(X, 5)).max() == 0
    assert abs(matrix - again.affinity_matrix_).max() == 0
    assert np.array_equal(ncut.cluster(matrix, 3).labels, model.labels_)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_points_that_are_no_numbers_are_refused_by_place(bad):
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = NormalizedCut(3, n_neighbors=5).fit(X)
    X[7, 2] = bad
    for use in (model.fit, model.predict):
        with pytest.raises(ValueError, match="row 7, column 2 is (NaN|inf); fill in or remove such points first"):
            use(X)
