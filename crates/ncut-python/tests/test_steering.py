"""Known labels, pairs, shares, weights, confidence and updates, from Python."""

import ncut
import networkx
import numpy as np
import pytest
from ncut import NormalizedCut
from sklearn.datasets import make_blobs, make_moons


def planted(n_nodes=300, k=3, seed=0):
    random = np.random.default_rng(seed)
    group = np.arange(n_nodes) * k // n_nodes
    chance = np.where(group[:, None] == group[None, :], 0.12, 0.01)
    upper = np.triu(random.random((n_nodes, n_nodes)) < chance, 1)
    return (upper | upper.T).astype(float), group


@pytest.mark.parametrize("preset", ["fast", "default", "best"])
@pytest.mark.parametrize("objective", ["ncut", "ratio_cut", "modularity"])
def test_wishes_are_kept(preset, objective):
    graph, group = planted()
    fixed = np.full(300, -1)
    fixed[[5, 105, 205]] = [2, 0, 1]
    found = ncut.cluster(
        graph,
        3,
        preset=preset,
        objective=objective,
        fixed=fixed,
        must_link=[(1, 150)],
        cannot_link=[(2, 3), (3, 4)],
        max_share=1.3,
        time_limit=5,
    )
    labels = found.labels
    assert labels[[5, 105, 205]].tolist() == [2, 0, 1]
    assert labels[1] == labels[150]
    assert labels[2] != labels[3]
    assert labels[3] != labels[4]
    assert found.largest_share <= 1.3 + 1e-9
    assert found.clusters["share"].max() == found.largest_share


def test_nodes_go_by_name():
    graph = networkx.karate_club_graph()
    graph = networkx.relabel_nodes(graph, {node: f"n{node}" for node in graph})
    found = ncut.cluster(
        graph, 2, fixed={"n33": 0, "n0": 1}, cannot_link=[("n1", "n2")], node_weight=dict.fromkeys(graph, 1.0)
    )
    label = dict(zip(found.nodes, found.labels.tolist(), strict=True))
    assert (label["n33"], label["n0"]) == (0, 1)
    assert label["n1"] != label["n2"]
    with pytest.raises(ValueError, match="must_link names 'who', which is no node of the graph"):
        ncut.cluster(graph, 2, must_link=[("who", "n1")])


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ({"fixed": [0, 1]}, "2 known labels were given for 300 nodes"),
        ({"fixed": {0: 7}}, "known label 7"),
        ({"fixed": {900: 0}}, "the nodes are 0 to 299"),
        ({"must_link": [(0, 1, 2)]}, "it must hold pairs of nodes"),
        ({"must_link": [(0, 400)]}, "the nodes of the graph are 0 to 299"),
        ({"must_link": []}, "holds no pairs"),
        ({"cannot_link": [(3, 3)]}, "apart from itself"),
        ({"must_link": [(0, 1), (1, 2)], "cannot_link": [(0, 2)]}, "0 is to be with 1, 1 is to be with 2"),
        ({"max_share": 0.3}, "max_share is 0.3"),
        ({"node_weight": [1.0, 2.0]}, "2 node weights were given for 300 nodes"),
        ({"node_weight": {0: 1.0}}, "node_weight has no value for node 1"),
        ({"fixed": {0: 0}, "preset": "paper", "min_share": 0}, "paper"),
    ],
)
def test_bad_wishes_are_refused(wish, message):
    with pytest.raises(ValueError, match=message):
        ncut.cluster(planted()[0], 3, **wish)


def test_the_estimator_steers():
    points, truth = make_blobs(200, centers=3, cluster_std=0.7, random_state=0)
    known = np.full(200, -1)
    for label in range(3):
        known[np.flatnonzero(truth == label)[:2]] = (label + 1) % 3
    model = NormalizedCut(3, n_neighbors=8, fixed=known, max_share=1.2).fit(points)
    assert (model.labels_[known >= 0] == known[known >= 0]).all()
    assert (model.labels_ == (truth + 1) % 3).mean() > 0.9
    assert model.confidence_.shape == (200,)
    assert model.confidence_.min() >= 0
    assert model.confidence_.max() <= 1
    rows = np.asarray(model.membership_.sum(axis=1)).ravel()
    assert np.allclose(rows[rows > 0], 1)
    # Where a new point goes is where it leans to, for groups that are apart.
    new, _ = make_blobs(50, centers=3, cluster_std=0.7, random_state=0)
    shares = model.predict_membership(new)
    assert shares.shape == (50, 3)
    assert np.allclose(shares.sum(axis=1), 1)
    assert (shares.argmax(axis=1) == model.predict(new)).mean() > 0.9


def test_confidence_is_low_on_the_boundary():
    points, _ = make_moons(300, noise=0.05, random_state=0)
    model = NormalizedCut(2, n_neighbors=10).fit(points)
    graph = model.affinity_matrix_
    found = ncut.cluster(graph, 2)
    assert np.array_equal(found.labels, model.labels_)
    assert np.allclose(found.confidence, model.confidence_)
    links = graph.tocoo()
    crossing = np.unique(links.row[found.labels[links.row] != found.labels[links.col]])
    if len(crossing):
        assert found.confidence[crossing].mean() < found.confidence.mean()


def test_update_keeps_numbers():
    graph, _ = planted()
    first = ncut.cluster(graph, 3)
    changed = graph.copy()
    pairs = np.argwhere(np.triu(graph))[::50]
    changed[pairs[:, 0], pairs[:, 1]] = changed[pairs[:, 1], pairs[:, 0]] = 0
    after = ncut.update(changed, first)
    assert (after.labels == first.labels).mean() > 0.98
    assert len(after.moved) == (after.labels != first.labels).sum()
    assert after.new == []
    four = ncut.update(changed, after, n_clusters=4)
    assert four.appeared.tolist() == [3]
    with pytest.raises(ValueError, match="so there is nothing to update"):
        ncut.update(graph, np.full(300, -1))
    with pytest.raises(ValueError, match="stay is -1"):
        ncut.update(graph, first, -1)


def test_update_goes_by_name():
    graph = networkx.karate_club_graph()
    first = ncut.cluster(graph, 2)
    before = dict(zip(first.nodes, first.labels.tolist(), strict=True))
    graph.remove_node(11)
    graph.add_edge(33, "late")
    after = ncut.update(graph, before)
    assert after.gone == [11]
    assert after.new == ["late"]
    assert after.as_dict()["late"] == before[33]
    assert ncut.update(graph, after).moved == []


def test_the_default_price_is_the_library_s():
    import inspect

    assert inspect.signature(ncut.update).parameters["stay"].default == ncut._ncut.default_stay()


def test_seeds_and_masks_of_pictures():
    picture = np.zeros((20, 30))
    picture[:, 15:] = 1
    seeds = np.full((20, 30), -1)
    seeds[2, 2], seeds[2, 27], seeds[18, 0] = 1, 0, 0
    found = ncut.segment(picture, 2, seeds=seeds)
    assert (found[seeds >= 0] == seeds[seeds >= 0]).all()
    assert (found[5, 3], found[5, 20]) == (1, 0)
    assert (ncut.segment(picture, 2, seeds=seeds, scale=0.5)[seeds >= 0] == seeds[seeds >= 0]).all()
    mask = np.zeros((20, 30), dtype=bool)
    mask[:10] = True
    found = ncut.segment(picture, 2, mask=mask, max_share=1.1)
    assert (found[10:] == -1).all()
    assert set(np.unique(found[:10])) == {0, 1}
    with pytest.raises(ValueError, match="seeds has the shape"):
        ncut.segment(picture, 2, seeds=seeds[:3])
    with pytest.raises(ValueError, match="false everywhere"):
        ncut.segment(picture, 2, mask=np.zeros((20, 30)))
