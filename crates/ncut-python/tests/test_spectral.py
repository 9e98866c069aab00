"""What scikit-learn asks of SpectralClustering and makes sense for anybody, asked of NormalizedCut."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from ncut import NormalizedCut
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.cluster import SpectralClustering
from sklearn.datasets import make_blobs, make_circles
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import KNeighborsTransformer, NearestNeighbors, kneighbors_graph

BLOBS, TRUTH = make_blobs(n_samples=60, random_state=0, centers=[[1, 1], [-1, -1], [1, -1]], cluster_std=0.15)
BLOCKS = np.array(
    [
        [1.0, 1.0, 1.0, 0.2, 0.0, 0.0, 0.0],
        [1.0, 1.0, 1.0, 0.2, 0.0, 0.0, 0.0],
        [1.0, 1.0, 1.0, 0.2, 0.0, 0.0, 0.0],
        [0.2, 0.2, 0.2, 1.0, 1.0, 1.0, 1.0],
        [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0],
        [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0],
        [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0],
    ]
)


@pytest.mark.parametrize("preset", ["paper", "fast", "default", "best"])
@pytest.mark.parametrize(
    "container", [np.asarray, sparse.csr_matrix, sparse.csr_array, sparse.csc_array, sparse.coo_array]
)
def test_precomputed_blocks(preset, container):
    model = NormalizedCut(2, affinity="precomputed", preset=preset).fit(container(BLOCKS))
    assert adjusted_rand_score(model.labels_, [1, 1, 1, 0, 0, 0, 0]) == 1
    again = pickle.loads(pickle.dumps(model))
    assert again.n_clusters == 2
    assert_array_equal(again.labels_, model.labels_)


def test_a_sparse_similarity():
    similarity = rbf_kernel(BLOBS, gamma=5)
    similarity = sparse.coo_array(np.maximum(similarity - 1e-4, 0))
    labels = NormalizedCut(3, affinity="precomputed", random_state=0).fit_predict(similarity)
    assert adjusted_rand_score(TRUTH, labels) == 1


@pytest.mark.parametrize("affinity", ["self_tuning", "nearest_neighbors", "rbf", "cosine", "adaptive"])
def test_blobs_are_found(affinity):
    labels = NormalizedCut(3, affinity=affinity, n_neighbors=10).fit_predict(BLOBS)
    assert adjusted_rand_score(TRUTH, labels) == 1
    sparsely = NormalizedCut(3, affinity=affinity, n_neighbors=10).fit_predict(sparse.csr_array(BLOBS))
    assert adjusted_rand_score(TRUTH, sparsely) == 1


def test_affinities_of_a_callable():
    labels = NormalizedCut(3, affinity=lambda x, y: np.exp(-5 * ((x - y) ** 2).sum())).fit(BLOBS).labels_
    assert adjusted_rand_score(TRUTH, labels) == 1
    assert set(NormalizedCut(2, affinity=lambda x, y: 1).fit(BLOBS).labels_) == {0, 1}

    def histogram(x, y):
        return np.minimum(x, y).sum()

    X = np.random.default_rng(0).random((30, 5))
    assert NormalizedCut(2, affinity=histogram).fit(X).labels_.shape == (30,)


@pytest.mark.filterwarnings("ignore:Graph is not fully connected")
def test_circles_by_their_neighbors():
    X, y = make_circles(300, factor=0.5, noise=0.03, random_state=0)
    for affinity in ("nearest_neighbors", "self_tuning"):
        labels = NormalizedCut(2, affinity=affinity, n_neighbors=10).fit_predict(X)
        assert adjusted_rand_score(y, labels) == 1
    # The same parameters fit both.
    both = {"n_clusters": 2, "affinity": "nearest_neighbors", "n_neighbors": 10, "random_state": 0, "n_jobs": 1}
    theirs = SpectralClustering(**both).fit_predict(X)
    assert adjusted_rand_score(theirs, NormalizedCut(**both).fit_predict(X)) == 1


def test_precomputed_neighbors_are_those_of_the_points():
    labels = NormalizedCut(3, affinity="nearest_neighbors", n_neighbors=10).fit_predict(BLOBS)
    graph = kneighbors_graph(BLOBS, 10, mode="distance")
    precomputed = NormalizedCut(3, affinity="precomputed_nearest_neighbors", n_neighbors=10)
    assert_array_equal(labels, precomputed.fit_predict(graph))
    transformer = KNeighborsTransformer(n_neighbors=10, mode="distance")
    assert adjusted_rand_score(TRUTH, precomputed.fit_predict(transformer.fit_transform(BLOBS))) == 1
    distances = np.sqrt(((BLOBS[:, np.newaxis] - BLOBS) ** 2).sum(axis=2))
    assert adjusted_rand_score(TRUTH, precomputed.fit_predict(distances)) == 1


def test_more_precomputed_neighbors_than_needed_change_nothing():
    X, _ = make_blobs(n_samples=250, random_state=0, centers=[[1, 1], [-1, -1]], cluster_std=0.01)
    results = []
    for additional in (0, 10):
        nearest = NearestNeighbors(n_neighbors=2 + additional).fit(X)
        graph = nearest.kneighbors_graph(X, mode="connectivity")
        model = NormalizedCut(2, affinity="precomputed_nearest_neighbors", n_neighbors=2)
        results.append(model.fit(graph).labels_)
    assert_array_equal(*results)
    with pytest.raises(ValueError, match="5 neighbours of each sample are needed, but one has only 2"):
        NormalizedCut(2, affinity="precomputed_nearest_neighbors", n_neighbors=5).fit(
            NearestNeighbors(n_neighbors=2).fit(X).kneighbors_graph(X)
        )


def test_one_cluster_and_as_many_as_points():
    assert set(NormalizedCut(1).fit_predict(BLOBS)) == {0}
    assert len(set(NormalizedCut(60).fit_predict(BLOBS))) == 60


def test_a_graph_in_pieces_raises_no_warning():
    pieces = sparse.block_diag([BLOCKS, BLOCKS, np.zeros((2, 2))]).tocsr()
    for k in (2, 3, 5):
        model = NormalizedCut(k, affinity="precomputed").fit(pieces)
        assert len(set(model.labels_)) == k


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_no_width_is_refused_or_widened(index, real):
    graph = sparse.csr_array(BLOCKS.astype(real))
    graph.indices, graph.indptr = graph.indices.astype(index), graph.indptr.astype(index)
    model = NormalizedCut(2, affinity="precomputed").fit(graph)
    assert model.affinity_matrix_.dtype == real
    assert adjusted_rand_score(model.labels_, [1, 1, 1, 0, 0, 0, 0]) == 1


def test_a_kernel_in_32_bits_is_symmetric_enough():
    similarity = rbf_kernel(BLOBS.astype(np.float32), gamma=5)
    similarity[0, 1] = np.nextafter(similarity[0, 1], np.float32(2))
    labels = NormalizedCut(3, affinity="precomputed").fit_predict(similarity)
    assert adjusted_rand_score(TRUTH, labels) == 1
