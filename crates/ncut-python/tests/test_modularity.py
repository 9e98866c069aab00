"""Modularity: communities of a free number, exactly k of them, and what is refused."""

import ncut
import numpy as np
import pytest
from ncut import NormalizedCut
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.datasets import make_blobs


def modularity(matrix, labels, resolution=1.0):
    """`sum_c A_c / W - g (D_c / W)^2`, computed here."""
    members = sparse.csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))))
    between = (members @ matrix @ members.T).toarray()
    total = between.sum()
    return float((np.diag(between) / total - resolution * (between.sum(axis=1) / total) ** 2).sum())


def cliques(n_cliques=6, size=5):
    """A ring of cliques, and two nodes without edges."""
    n_nodes = n_cliques * size
    matrix = np.kron(np.eye(n_cliques), 1 - np.eye(size))
    for first in range(0, n_nodes, size):
        matrix[first, first - 1] = matrix[first - 1, first] = 1
    return sparse.csr_array(np.pad(matrix, (0, 2)))


GRAPH = cliques()


def test_communities_are_found_without_a_number():
    found = ncut.cluster(GRAPH, None, objective="modularity")
    expected = [*np.repeat(np.arange(6), 5), 6, 7]
    assert found.labels.tolist() == expected
    assert (found.n_clusters, found.resolution) == (8, 1.0)
    assert found.objective == found.modularity == pytest.approx(modularity(GRAPH, found.labels))


@pytest.mark.parametrize("resolution", [0.2, 3.0])
def test_a_resolution_is_used_and_reported(resolution):
    found = ncut.cluster(GRAPH, None, objective="modularity", resolution=resolution)
    assert found.resolution == resolution
    assert found.objective == pytest.approx(modularity(GRAPH, found.labels, resolution))


@pytest.mark.parametrize("k", [1, 2, 3, 6, 11, 30, 31])
def test_exactly_k_connected_clusters_come_back(k):
    for resolution in (None, 1.0):
        found = ncut.cluster(GRAPH, k, objective="modularity", resolution=resolution)
        assert found.n_clusters == k
        assert found.objective == pytest.approx(modularity(GRAPH, found.labels, found.resolution))
        for label in range(k):
            nodes = np.flatnonzero(found.labels[:30] == label)
            if len(nodes):
                assert connected_components(GRAPH[nodes][:, nodes])[0] == 1


def test_the_estimator_finds_communities_of_points():
    X, y = make_blobs(300, centers=3, cluster_std=0.5, random_state=0)
    model = NormalizedCut(n_clusters=None, objective="modularity", resolution=0.2, n_neighbors=15).fit(X)
    assert model.resolution_ == 0.2
    assert len(model.clusters_) == len(set(model.labels_)) >= 3
    exact = NormalizedCut(n_clusters=3, objective="modularity").fit(X)
    assert len(exact.clusters_) == 3
    assert len({(a, b) for a, b in zip(exact.labels_.tolist(), y.tolist(), strict=True)}) == 3
    assert np.mean(exact.predict(X) == exact.labels_) > 0.99


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_clusters": None}, 'only objective "modularity" can do without'),
        ({"n_clusters": 2, "resolution": 2.0}, "resolution is 2; it must be left out"),
        ({"n_clusters": None, "objective": "modularity", "resolution": -1}, "resolution is -1; it must be a positive"),
        ({"n_clusters": 2, "objective": "modularity", "resolution": "high"}, "resolution is 'high'"),
        ({"n_clusters": 2, "objective": "modularity", "preset": "paper"}, "objective is modularity"),
        ({"n_clusters": None, "objective": "modularity", "min_share": 0.5}, "min_share is 0.5"),
    ],
)
def test_what_makes_no_sense_is_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        ncut.cluster(GRAPH, **settings)
