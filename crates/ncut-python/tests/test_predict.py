"""New points."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import accuracy, planted
from ncut import NormalizedCut, self_tuning_graph
from scipy import sparse
from sklearn.datasets import make_blobs


def test_the_training_set_is_given_back(digits):
    X, _ = digits
    model = NormalizedCut(10).fit(X)
    assert np.mean(model.predict(X) == model.labels_) >= 0.97


def test_a_held_out_half_fares_like_a_fit_on_everything(digits):
    X, y = digits
    everything = accuracy(NormalizedCut(10).fit_predict(X), y)
    predicted = NormalizedCut(10).fit(X[::2]).predict(X[1::2])
    assert accuracy(predicted, y[1::2]) >= everything - 0.02


@pytest.mark.parametrize("half", range(5))
def test_a_held_out_half_fares_like_the_half_that_was_seen(digits, half):
    X, y = digits
    places = np.random.default_rng(half).permutation(len(X))
    train, test = places[::2], places[1::2]
    model = NormalizedCut(10).fit(X[train])
    assert accuracy(model.predict(X[test]), y[test]) >= accuracy(model.labels_, y[train]) - 0.03


def by_hand(links, graph, labels):
    """The cluster of largest gain, from dense matrices."""
    graph = graph.toarray() if sparse.issparse(graph) else graph
    placed = []
    for row in links:
        gains = []
        for label in range(labels.max() + 1):
            members = labels == label
            inside, volume = graph[np.ix_(members, members)].sum(), graph[members].sum()
            gains.append((inside + 2 * row[members].sum()) / (volume + row.sum()) - inside / volume)
        placed.append(int(np.argmax(gains)))
    return placed


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_precomputed_links_decide_by_the_gain(container):
    graph, _ = planted(4, 20, 0)
    rng = np.random.default_rng(1)
    links = rng.random((50, 80)) * (rng.random((50, 80)) < 0.1)
    model = NormalizedCut(4, affinity="precomputed").fit(graph)
    assert model.predict(container(links)).tolist() == by_hand(links, graph, model.labels_)


def test_new_points_are_linked_like_old_ones(digits):
    X, _ = digits
    train, new = X[:600], X[600:650]
    model = NormalizedCut(10, n_neighbors=8).fit(train)
    # The lengths around the training points, from the graph alone.
    graph = self_tuning_graph(train, 8).toarray()
    distances = np.sqrt(((train[:, np.newaxis] - train) ** 2).sum(axis=2))
    sigma = np.array([distances[i, graph[i] > 0].mean() for i in range(len(train))])
    to_new = np.sqrt(((new[:, np.newaxis] - train) ** 2).sum(axis=2))
    links = np.zeros_like(to_new)
    for row, nearest in enumerate(np.argsort(to_new, axis=1, kind="stable")[:, :8]):
        lengths = to_new[row, nearest]
        links[row, nearest] = np.exp(-(lengths**2) / (2 * lengths.mean() * sigma[nearest]))
    assert model.predict(new).tolist() == by_hand(links, graph, model.labels_)


@pytest.mark.parametrize("affinity", ["self_tuning", "nearest_neighbors", "rbf", "cosine", "adaptive"])
def test_every_affinity_predicts_dense_and_sparse(affinity):
    X, y = make_blobs(400, centers=4, n_features=6, random_state=5)
    model = NormalizedCut(4, affinity=affinity, n_neighbors=10).fit(X[:200])
    predicted = model.predict(X[200:])
    assert accuracy(predicted, y[200:]) > 0.95
    assert np.array_equal(predicted, model.predict(sparse.csr_array(X[200:])))
    assert np.array_equal(predicted[:1], model.predict(X[200:201]))
    narrow = model.predict(X[200:].astype(np.float32))
    assert np.mean(narrow == predicted) > 0.99
    far = model.predict(1e6 * X[200:])
    assert far.min() >= 0


def test_callables_and_distances_predict():
    X, y = make_blobs(120, centers=3, random_state=2)
    train, test = X[:80], X[80:]
    model = NormalizedCut(3, affinity=lambda a, b: np.exp(-((a - b) ** 2).sum())).fit(train)
    assert accuracy(model.predict(test), y[80:]) > 0.95
    old = np.sqrt(((train[:, np.newaxis] - train) ** 2).sum(axis=2))
    new = np.sqrt(((test[:, np.newaxis] - train) ** 2).sum(axis=2))
    model = NormalizedCut(3, affinity="precomputed_nearest_neighbors", n_neighbors=8).fit(old)
    assert accuracy(model.predict(new), y[80:]) > 0.95


def test_what_belongs_nowhere():
    graph = sparse.block_diag([planted(2, 30, 0)[0], np.ones((3, 3))]).tocsr()
    model = NormalizedCut(2, affinity="precomputed", components="largest").fit(graph)
    links = np.zeros((3, 63))
    links[0, :5] = 1.0
    links[1, 60:] = 1.0
    first, aside, unlinked = model.predict(links)
    largest = model.clusters_["label"][np.argmax(model.clusters_["volume"])]
    assert first == model.labels_[0] and aside == -1 and unlinked == largest
    with pytest.raises(ValueError, match="must not be negative"):
        model.predict(-links)
    with pytest.raises(ValueError, match="X has 62 features, but NormalizedCut is expecting 63"):
        model.predict(links[:, 1:])
