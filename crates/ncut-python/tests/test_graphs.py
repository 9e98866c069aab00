"""Functions for people with graphs."""

from __future__ import annotations

import pickle

import ncut
import numpy as np
import pytest
from conftest import objective, planted
from scipy import sparse
from scipy.cluster.hierarchy import dendrogram, is_valid_linkage
from sklearn.metrics import adjusted_rand_score

GRAPH, TRUTH = planted(5, 40, 7)
PLAIN = ncut.cluster(GRAPH, 5)


def test_what_a_clustering_holds():
    assert adjusted_rand_score(TRUTH, PLAIN.labels) > 0.95
    assert PLAIN.labels.dtype == np.int32
    assert PLAIN.objective == pytest.approx(objective(GRAPH, PLAIN.labels), abs=1e-12)
    assert PLAIN.ncut == pytest.approx(5 - PLAIN.objective)
    assert PLAIN.n_clusters == 5 and PLAIN.n_components == 1 and PLAIN.nodes is None
    sums = ("label", "size", "weight", "share", "volume", "association")
    assert PLAIN.clusters.dtype.names == (*sums, "inside", "conductance", "n_pieces")
    assert PLAIN.n_disconnected == 0 and (PLAIN.clusters["n_pieces"] == 1).all()
    assert PLAIN.clusters["size"].tolist() == np.bincount(PLAIN.labels).tolist()
    volumes = np.bincount(PLAIN.labels, np.asarray(GRAPH.sum(axis=1)).ravel())
    assert PLAIN.clusters["volume"] == pytest.approx(volumes)
    densities = PLAIN.clusters["association"] / PLAIN.clusters["volume"]
    assert densities.sum() == pytest.approx(PLAIN.objective)
    assert repr(PLAIN).startswith("<Clustering: 200 nodes in 5 clusters, objective=")
    assert [len(nodes) for nodes in PLAIN.communities()] == PLAIN.clusters["size"].tolist()
    again = pickle.loads(pickle.dumps(PLAIN))
    assert np.array_equal(again.labels, PLAIN.labels)


def unsorted(matrix):
    """The same matrix, every row back to front and its first entry in two halves."""
    indptr, indices, data = [0], [], []
    for row in range(matrix.shape[0]):
        entries = range(matrix.indptr[row + 1] - 1, matrix.indptr[row] - 1, -1)
        columns, weights = [matrix.indices[e] for e in entries], [matrix.data[e] for e in entries]
        indices += [columns[0], *columns]
        data += [weights[0] / 2, weights[0] / 2, *weights[1:]]
        indptr.append(len(indices))
    return sparse.csr_array((np.array(data), np.array(indices), np.array(indptr)), shape=matrix.shape)


@pytest.mark.parametrize(
    "convert",
    [
        sparse.csr_array,
        sparse.csr_matrix,
        sparse.csc_array,
        sparse.csc_matrix,
        sparse.coo_array,
        sparse.coo_matrix,
        sparse.lil_array,
        sparse.dok_array,
        sparse.bsr_array,
        lambda graph: graph.toarray(),
        lambda graph: np.asfortranarray(graph.toarray()),
        lambda graph: graph.toarray().tolist(),
        lambda graph: graph.toarray().astype(">f8"),
        unsorted,
    ],
)
def test_every_container_gives_the_same(convert):
    assert np.array_equal(ncut.cluster(convert(GRAPH), 5).labels, PLAIN.labels)


@pytest.mark.parametrize("real", [np.float16, np.float32, np.float64, np.longdouble, int, bool, np.uint8, object])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_every_width_is_welcome(real, index):
    if real is object:
        graph = GRAPH.astype(bool).toarray().astype(object)
    else:
        graph = GRAPH.astype(bool).astype(np.float64)
        graph.data = graph.data.astype(real)
        graph.indices, graph.indptr = graph.indices.astype(index), graph.indptr.astype(index)
    unweighted = ncut.cluster(GRAPH.astype(bool), 5)
    assert np.array_equal(ncut.cluster(graph, 5).labels, unweighted.labels)


def test_nothing_is_modified_and_a_fitting_matrix_is_used_in_place():
    graph = unsorted(GRAPH)
    before = [array.copy() for array in (graph.indptr, graph.indices, graph.data)]
    for array in (graph.indptr, graph.indices, graph.data):
        array.setflags(write=False)
    ncut.cluster(graph, 5)
    ncut.score(graph, PLAIN.labels)
    model = ncut.NormalizedCut(5, affinity="precomputed").fit(graph)
    assert all(map(np.array_equal, before, (graph.indptr, graph.indices, graph.data)))
    assert model.affinity_matrix_ is graph or np.shares_memory(model.affinity_matrix_.data, graph.data)
    assert np.shares_memory(ncut.cluster(GRAPH, 5)._graph["data"], GRAPH.data)
    assert np.shares_memory(ncut.cluster(GRAPH, 5)._graph["indices"], GRAPH.indices)
    columns = GRAPH.tocsc()
    assert np.shares_memory(ncut.cluster(columns, 5)._graph["data"], columns.data)


def test_networkx():
    networkx = pytest.importorskip("networkx")
    karate = networkx.karate_club_graph()
    found = ncut.cluster(karate, 2)
    assert found.nodes == list(karate)
    assert sorted(map(len, found.communities())) == sorted(np.bincount(found.labels))
    matrix = networkx.to_scipy_sparse_array(karate, weight="weight")
    assert np.array_equal(found.labels, ncut.cluster(matrix, 2).labels)
    plain = networkx.to_scipy_sparse_array(karate, weight=None)
    assert np.array_equal(ncut.cluster(karate, 2, weight=None).labels, ncut.cluster(plain, 2).labels)
    named = networkx.relabel_nodes(karate, {node: f"member {node}" for node in karate})
    assert ncut.cluster(named, 2).communities()[0][0] == "member 0"
    directed = networkx.DiGraph([(0, 1), (1, 2), (2, 3)])
    with pytest.raises(ValueError, match="not symmetric"):
        ncut.cluster(directed, 2)
    assert ncut.cluster(directed, 2, symmetrize="max").labels.tolist() == [0, 0, 1, 1]
    twice = networkx.MultiGraph([(0, 1), (0, 1), (1, 2), (2, 3), (2, 3)])
    assert ncut.cluster(twice, 2).clusters["association"].tolist() == [4.0, 4.0]
    with pytest.raises(ValueError, match="no nodes"):
        ncut.cluster(networkx.Graph(), 1)
    worded = networkx.Graph()
    worded.add_edge(0, 1, weight="strong")
    with pytest.raises(ValueError, match="attribute 'weight' is no weight everywhere"):
        ncut.cluster(worded, 1)
    with pytest.raises(ValueError, match="no edge has the attribute 'wieght'"):
        ncut.cluster(karate, 2, weight="wieght")


def test_igraph():
    igraph = pytest.importorskip("igraph")
    ends = np.stack(sparse.triu(GRAPH).tocoo().coords, axis=1)
    graph = igraph.Graph(n=GRAPH.shape[0], edges=ends.tolist())
    unweighted = ncut.cluster(GRAPH.astype(bool), 5)
    assert np.array_equal(ncut.cluster(graph, 5).labels, unweighted.labels)
    graph.es["weight"] = sparse.triu(GRAPH).tocoo().data.tolist()
    found = ncut.cluster(graph, 5)
    assert np.array_equal(found.labels, PLAIN.labels) and found.nodes == list(range(200))
    graph.vs["name"] = [f"v{i}" for i in range(200)]
    assert ncut.cluster(graph, 5).nodes[3] == "v3"
    loops = igraph.Graph(n=3, edges=[(0, 0), (0, 1), (1, 2)])
    assert ncut.score(loops, [0, 0, 0]).clusters["volume"].tolist() == [5.0]
    with pytest.raises(ValueError, match="not symmetric"):
        ncut.cluster(igraph.Graph(edges=[(0, 1), (1, 2)], directed=True), 2)


def test_scores_agree_with_others():
    from sklearn.metrics import normalized_mutual_info_score

    labels = np.random.default_rng(0).integers(4, size=200)
    scored = ncut.score(GRAPH, labels, truth=TRUTH)
    assert scored.objective == pytest.approx(objective(GRAPH, labels))
    assert scored.ari == pytest.approx(adjusted_rand_score(TRUTH, labels))
    assert scored.nmi == pytest.approx(normalized_mutual_info_score(TRUTH, labels, average_method="max"))
    assert scored.nmi_arithmetic == pytest.approx(normalized_mutual_info_score(TRUTH, labels))
    assert 0.2 < scored.accuracy < 0.5
    assert ncut.score(GRAPH, labels).accuracy is None
    names = np.array(["a", "b", "c", "d", "e"])[TRUTH]
    assert ncut.score(GRAPH, labels, truth=names).ari == scored.ari
    assert ncut.score(GRAPH, PLAIN).objective == PLAIN.objective
    assert ncut.score(GRAPH, 10 * labels + 3).objective == scored.objective


def test_the_hierarchy():
    tree = PLAIN.hierarchy
    assert tree is PLAIN.hierarchy
    assert np.array_equal(tree.labels(5), PLAIN.labels)
    for k in (1, 3, 50, 200):
        assert len(set(tree.labels(k))) == k
    coarse = tree.labels(2)
    assert all(len(set(coarse[PLAIN.labels == label])) == 1 for label in range(5))
    assert is_valid_linkage(tree.linkage())
    assert len(dendrogram(tree.linkage(), no_plot=True)["leaves"]) == 200
    with pytest.raises(ValueError, match="201 clusters were asked of 200 leaves"):
        tree.labels(201)
    with pytest.raises(ValueError, match="n_clusters is -1"):
        tree.labels(-1)
    assert pickle.loads(pickle.dumps(tree)).children.shape == (199, 2)


@pytest.mark.parametrize(
    ("graph", "k", "settings", "message"),
    [
        (GRAPH, 0, {}, "n_clusters is 0; it must be a whole number from 1"),
        (GRAPH, 2.5, {}, "n_clusters is 2.5"),
        (GRAPH, 201, {}, "201 clusters were asked of 200 nodes; .* at most 200"),
        (GRAPH[:, :7], 2, {}, "the matrix is 200 x 7; that of a graph is square"),
        (GRAPH, 2, {"preset": "turbo"}, 'preset is "turbo"; it must be one of "paper", "fast"'),
        (GRAPH, 2, {"components": "some"}, 'components is "some"'),
        (GRAPH, 2, {"symmetrize": "min"}, 'symmetrize is "min"'),
        (GRAPH, 2, {"min_share": 2}, "min_share is 2; it must be from 0 to 1"),
        (GRAPH, 2, {"tol": -1}, "tolerance is -1"),
        (GRAPH, 2, {"time_limit": float("nan")}, "time_limit is NaN"),
        (GRAPH, 2, {"init": [0, 1]}, "2 starting labels were given for 200 nodes"),
        (GRAPH, 2, {"init": np.full(200, 0.5)}, "init holds float64 values; labels are whole numbers"),
        (GRAPH, 2, {"init": np.full(200, 2**40)}, "init holds numbers beyond 32 bits"),
        (GRAPH, 2, {"random_state": -1}, "random_state is -1; it must be a whole number from 0"),
        (GRAPH, 2, {"random_state": "luck"}, "random_state is 'luck'"),
        (GRAPH, 2, {"n_jobs": 0}, "n_jobs == 0"),
        (GRAPH, 2, {"n_jobs": 1.5}, "n_jobs is 1.5"),
        (GRAPH, 2**70, {}, "n_clusters is 1180591620717411303424"),
        (GRAPH, 2, {"random_state": 2**80}, "random_state is 1208925819614629174706176"),
        (GRAPH, 2, {"min_share": "some"}, "min_share is 'some'; it must be a number"),
        (GRAPH, 2, {"symmetrize": True}, "symmetrize is True; it must be a string"),
        (GRAPH, 2, {"preset": None}, "preset is None"),
        (GRAPH, 2, {"on_progress": 5}, "on_progress is 5; it must be something to call"),
        (-GRAPH, 2, {}, "weights must not be negative"),
        (GRAPH * np.inf, 2, {}, "weights must be finite"),
        (GRAPH * np.nan, 2, {}, "weights must be finite"),
        (sparse.triu(GRAPH), 2, {}, "not symmetric"),
        (GRAPH.astype(complex), 2, {}, "weights are complex128; they must be real"),
        (np.zeros((0, 0)), 1, {}, "no nodes"),
        (np.ones(5), 1, {}, "a ndarray is no graph"),
        ("roads.mtx", 1, {}, "a str is no graph"),
        ([[1, 2], [3]], 1, {}, "a list is no graph"),
        ([["a", "b"], ["c", "d"]], 1, {}, "must be real numbers"),
        (None, 1, {}, "a NoneType is no graph"),
    ],
)
def test_refusals_name_what_and_why(graph, k, settings, message):
    with pytest.raises(ValueError, match=message):
        ncut.cluster(graph, k, **settings)


def test_a_broken_matrix_is_refused():
    for array, place, value in (("indices", 3, 4000), ("indices", 3, -1), ("indptr", 5, -7), ("indptr", 200, 3)):
        graph = GRAPH.copy()
        getattr(graph, array)[place] = value
        with pytest.raises(ValueError):
            ncut.cluster(graph, 2)


def test_seeds_are_what_scikit_learn_takes():
    by_default = ncut.cluster(GRAPH, 7).labels
    assert np.array_equal(by_default, ncut.cluster(GRAPH, 7, random_state=0).labels)
    for make in (np.random.RandomState, np.random.default_rng):
        first, second = (ncut.cluster(GRAPH, 7, random_state=make(3)).labels for _ in range(2))
        assert np.array_equal(first, second)


def shared_weights(X, n_neighbors):
    """Adaptive weights from their formula: the mean of what both ends give."""
    squares = ((X[:, None] - X) ** 2).sum(axis=2)
    given = np.zeros(squares.shape)
    for row, lengths in enumerate(squares):
        nearest = np.argsort(lengths)[1 : n_neighbors + 2]
        reach = lengths[nearest[-1]]
        given[row, nearest[:-1]] = (reach - lengths[nearest[:-1]]) / (reach - lengths[nearest[:-1]]).sum()
    return (given + given.T) / 2


def test_graphs_of_points():
    X = np.random.default_rng(0).normal(size=(300, 4))
    tuned = ncut.self_tuning_graph(X, 10)
    assert isinstance(tuned, sparse.csr_array) and tuned.shape == (300, 300)
    assert tuned.indices.dtype == np.int32 and tuned.has_sorted_indices
    assert abs(tuned - tuned.T).nnz == 0
    same = ncut.neighbor_graph(X, 10, affinity="self_tuning")
    assert abs(tuned - same).nnz == 0
    links = ncut.neighbor_graph(X, 10)
    assert set(links.data) == {1.0} and np.diff(links.indptr).min() >= 10
    assert ncut.neighbor_graph(X, 10, mutual=True).nnz < links.nnz
    assert ncut.neighbor_graph(X, 10, affinity="rbf", gamma=0.5).max() <= 1
    adaptive = ncut.neighbor_graph(X, 10, affinity="adaptive")
    assert abs(adaptive - shared_weights(X, 10)).max() < 1e-12 and abs(adaptive - adaptive.T).nnz == 0
    narrow = ncut.neighbor_graph(X.astype(np.float32), 10)
    assert abs(narrow - ncut.neighbor_graph(X.astype(np.float32).astype(float), 10)).nnz == 0
    assert abs(links - ncut.neighbor_graph(X.tolist(), 10)).nnz == 0
    assert abs(links - ncut.neighbor_graph(np.asfortranarray(X), 10)).nnz == 0
    for wrong, message in (
        ((X[0],), "have 1 dimensions"),
        ((X[:0],), "there are 0 points with 4 features"),
        ((X, 1.7), "n_neighbors is 1.7"),
        ((X * np.nan,), "row 0, column 0 is NaN"),
        ((X, 0), "n_neighbors is 0"),
        ((sparse.csr_array(X * np.nan),), "contains NaN"),
        ((np.array([["a"]]),), "they must be numbers"),
    ):
        with pytest.raises(ValueError, match=message):
            ncut.neighbor_graph(*wrong)
    with pytest.raises(ValueError, match='affinity is "far"'):
        ncut.neighbor_graph(X, affinity="far")


def test_a_graph_that_was_checked_once_gives_the_same_everywhere():
    graph = ncut.Graph(GRAPH)
    assert (graph.n_nodes, graph.n_edges) == (200, GRAPH.nnz // 2)
    assert repr(graph) == f"<Graph: 200 nodes, {GRAPH.nnz // 2} edges>"
    found = ncut.cluster(graph, 5)
    assert np.array_equal(found.labels, PLAIN.labels) and found.objective == PLAIN.objective
    assert np.array_equal(found.hierarchy.children, PLAIN.hierarchy.children)
    assert ncut.score(graph, PLAIN).ncut == ncut.score(GRAPH, PLAIN).ncut
    assert ncut.upper_bound(graph, 5) == ncut.upper_bound(GRAPH, 5)
    assert ncut.choose(graph, 1, 3).objectives.tolist() == ncut.choose(GRAPH, 1, 3).objectives.tolist()
    assert ncut.Graph(graph).n_edges == graph.n_edges
    with pytest.raises(ValueError, match='symmetrize is "min"'):
        ncut.cluster(graph, 5, symmetrize="min")


def test_a_graph_is_a_copy_and_never_changes():
    matrix = GRAPH.copy()
    graph = ncut.Graph(matrix)
    matrix.data[:] = 1.0
    assert np.array_equal(ncut.cluster(graph, 5).labels, PLAIN.labels)
    with pytest.raises(AttributeError):
        graph.n_nodes = 3
    for again in (pickle.loads(pickle.dumps(graph)), pickle.loads(pickle.dumps(ncut.cluster(graph, 5)))._graph):
        assert np.array_equal(ncut.cluster(again, 5).labels, PLAIN.labels)


def test_a_graph_is_made_of_whatever_is_one_and_refused_otherwise():
    networkx = pytest.importorskip("networkx")
    karate = networkx.karate_club_graph()
    assert np.array_equal(ncut.cluster(ncut.Graph(karate), 2).labels, ncut.cluster(karate, 2).labels)
    assert ncut.Graph([[0, 1], [0, 0]], symmetrize="max").n_edges == 1
    with pytest.raises(ValueError, match="not symmetric"):
        ncut.Graph([[0, 1], [0, 0]])
    with pytest.raises(ValueError, match="that of a graph is square"):
        ncut.Graph(np.zeros((2, 3)))
