"""How many clusters, and how good they can be at most."""

from __future__ import annotations

import ncut
import numpy as np
import pytest
from conftest import planted
from ncut import NormalizedCut
from sklearn.datasets import make_blobs

X, _ = make_blobs(400, centers=[[0, 0], [9, 0], [0, 9], [9, 9]], random_state=1)


def test_blobs_are_counted():
    curve = ncut.choose(ncut.self_tuning_graph(X), 1, 10)
    assert curve.suggested == 4 and curve.by_eigengap == 4
    assert curve.n_clusters.tolist() == list(range(1, 11))
    assert np.isnan(curve.gaps[0]) and (np.diff(curve.gaps[1:]) <= 1e-12).all()
    assert curve.rule == "boundaries" and curve.best_in_range == 4 and "thinner" in curve.reason and not curve.is_rough
    cloud = np.random.default_rng(0).normal(size=(500, 3))
    assert ncut.choose(ncut.self_tuning_graph(cloud), 1, 8).suggested == 1


def test_the_suggestion_does_not_depend_on_the_range():
    graph = ncut.self_tuning_graph(X)
    for least, most, nearest in [(1, 20, 4), (4, 4, 4), (1, 3, 3), (6, 9, 6)]:
        curve = ncut.choose(graph, least, most)
        assert (curve.suggested, curve.best_in_range) == (4, nearest)
    by_gap = ncut.choose(graph, 1, 10, rule="gap")
    assert (by_gap.suggested, by_gap.rule) == (4, "gap")
    with pytest.raises(ValueError, match="rule"):
        ncut.choose(graph, rule="elbow")


def test_auto_takes_the_suggestion():
    model = NormalizedCut(n_clusters="auto").fit(X)
    assert len(set(model.labels_)) == 4
    assert ncut.cluster(model.affinity_matrix_, "auto").n_clusters == 4
    with pytest.raises(ValueError, match="starting labels need a number of clusters"):
        NormalizedCut(n_clusters="auto", init=np.zeros(400, int)).fit(X)
    with pytest.raises(ValueError, match="n_clusters is 'many'"):
        ncut.cluster(model.affinity_matrix_, "many")


def test_the_bound_is_the_sum_of_eigenvalues():
    graph, _ = planted(5, 40, 7)
    dense = graph.toarray()
    roots = np.sqrt(dense.sum(axis=1))
    values = np.sort(np.linalg.eigvalsh(dense / roots / roots[:, np.newaxis]))[::-1]
    for k in (1, 5, 12):
        bound, status = ncut.upper_bound(graph, k)
        assert status == "verified" and values[:k].sum() - 1e-12 <= bound < values[:k].sum() + 1e-7
        assert ncut.cluster(graph, k, min_share=0).objective <= bound
