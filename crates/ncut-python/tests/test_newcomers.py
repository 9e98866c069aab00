"""What newcomers stumbled over, numbered as in the list made of it; the rest is in the tests of the command line."""

from __future__ import annotations

import os
import re
import select
import signal
import struct
import subprocess
import sys
import time

import ncut
import numpy as np
import pytest
from conftest import objective, planted
from joblib import Parallel, delayed, parallel_config
from ncut import NormalizedCut
from ncut._settings import threads
from scipy import sparse
from scipy.cluster.hierarchy import cut_tree, dendrogram, fcluster, is_monotonic, is_valid_linkage
from sklearn.datasets import load_digits, make_blobs
from sklearn.metrics import adjusted_rand_score

pandas = pytest.importorskip("pandas")
networkx = pytest.importorskip("networkx")
pty = pytest.importorskip("pty")

GRAPH, TRUTH = planted(4, 40, 3)
# Two triangles and an edge between them, and its clusters in every shape.
FRIENDS = networkx.Graph(
    [("ann", "bo"), ("bo", "cy"), ("cy", "ann"), ("cy", "di"), ("di", "ed"), ("ed", "flo"), ("flo", "di")]
)
BY_NAME = {"ann": 0, "bo": 0, "cy": 0, "di": 1, "ed": 1, "flo": 1}
LABELS = {
    "dict": BY_NAME,
    "Series": pandas.Series(BY_NAME).sample(frac=1, random_state=0),
    "sets": [{"ann", "bo", "cy"}, {"di", "ed", "flo"}],
    "frozensets": [frozenset({"cy", "bo", "ann"}), frozenset({"di", "ed", "flo"})],
    "lists": [["ann", "bo", "cy"], ["di", "ed", "flo"]],
    "generator": lambda: ({*group} for group in (("ann", "bo", "cy"), ("di", "ed", "flo"))),
    "list": [0, 0, 0, 1, 1, 1],
    "array": np.array([0, 0, 0, 1, 1, 1]),
}


def shaped(shape):
    labels = LABELS[shape]
    return labels() if callable(labels) else labels


# N5


def test_n05_floats_from_0_to_255_are_refused_where_their_scale_counts():
    picture = np.random.default_rng(0).uniform(0, 255, size=(12, 12))
    with pytest.raises(ValueError, match=r"up to 25[0-9.]+; links='radius' .* from 0 to 1: divide by 255"):
        ncut.segment(picture, 2, links="radius")
    with pytest.raises(ValueError, match="divide by 255"):
        ncut.image_graph(picture, links="radius")
    scaled = ncut.segment(picture / 255, 2, links="radius")
    assert scaled.shape == (12, 12)
    # Gradients are measured by their own spread.
    assert np.array_equal(ncut.segment(picture, 2), ncut.segment(picture / 255, 2))


# N7


def test_n07_heights_of_merges_mean_what_they_cost():
    found = ncut.cluster(GRAPH, 4)
    tree = found.hierarchy
    links = tree.linkage()
    assert is_valid_linkage(links) and is_monotonic(links)
    heights = links[:, 2]
    assert (np.diff(heights) >= 0).all() and heights.min() >= 0 and heights.max() <= 2
    # The last merges are those of the clusters: what they cost is computed from the graph.
    before = found.objective
    for k in (3, 2, 1):
        after = objective(GRAPH, tree.labels(k))
        assert heights[-k] == pytest.approx(1 + before - after, abs=1e-9)
        before = after
    # They stand out, so that the drawing shows four branches.
    assert heights[-3] > heights[-4] + 0.1
    assert len(set(np.round(heights, 6))) > len(heights) / 2
    assert adjusted_rand_score(fcluster(links, 4, "maxclust"), found.labels) == 1
    for k in (2, 3):
        assert adjusted_rand_score(fcluster(links, k, "maxclust"), tree.labels(k)) == 1
        assert adjusted_rand_score(cut_tree(links, k).ravel(), tree.labels(k)) == 1
    assert len(dendrogram(links, no_plot=True)["leaves"]) == 160


def test_n07_clusters_without_links_merge_at_the_top():
    apart = sparse.block_diag([planted(1, 20, 1)[0], planted(1, 20, 2)[0]])
    heights = ncut.cluster(apart, 2).hierarchy.linkage()[:, 2]
    assert heights[-1] == pytest.approx(2.0) and heights[-2] < 1.5


# N8 is in test_drop_in.py, but for what concerns NormalizedCut.


def test_n08_the_estimator_symmetrizes():
    directed = sparse.triu(GRAPH).tocsr()
    with pytest.raises(ValueError, match="symmetrize"):
        NormalizedCut(4, affinity="precomputed").fit(directed)
    for how in ("average", "max"):
        model = NormalizedCut(4, affinity="precomputed", symmetrize=how).fit(directed)
        assert np.array_equal(model.labels_, ncut.cluster(directed, 4, symmetrize=how).labels)
        assert model.hierarchy_.children.shape == (159, 2) and model.confidence_.shape == (160,)
    with pytest.raises(ValueError, match="The 'symmetrize' parameter"):
        NormalizedCut(4, affinity="precomputed", symmetrize="min").fit(directed)


# N9


def test_n09_attributes_of_a_fit():
    X, _ = make_blobs(120, centers=3, random_state=0)
    model = NormalizedCut("auto").fit(X)
    assert model.n_clusters_ == len(set(model.labels_))
    model = NormalizedCut(3).fit(X)
    assert model.n_clusters_ == 3
    assert np.array_equal(model.hierarchy_.labels(3), model.labels_)
    assert model.hierarchy_ is model.hierarchy_
    before = model.hierarchy_
    assert model.fit(X[:100]).hierarchy_ is not before and model.hierarchy_.children.shape == (99, 2)


@pytest.mark.parametrize("affinity", ["precomputed", "precomputed_nearest_neighbors"])
def test_n09_predict_after_precomputed_says_what_it_needs(affinity):
    X = load_digits().data[:200]
    matrix = (
        ncut.self_tuning_graph(X, 10) if affinity == "precomputed" else np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    )
    model = NormalizedCut(5, affinity=affinity, n_neighbors=10).fit(matrix)
    with pytest.raises(ValueError, match="there are no points to compare new ones with.* fit with points and another"):
        model.predict(X)
    assert model.predict(matrix[:20]).shape == (20,)


@pytest.mark.parametrize("affinity", ["self_tuning", "nearest_neighbors", "rbf", "cosine", "adaptive"])
def test_n09_sparse_points_are_linked_as_dense_ones(affinity):
    X = np.random.default_rng(0).normal(size=(150, 6))
    for real in (np.float64, np.float32):
        dense = ncut.neighbor_graph(X.astype(real), 8, affinity=affinity)
        sparsely = ncut.neighbor_graph(sparse.csr_array(X.astype(real)), 8, affinity=affinity)
        assert abs(dense - sparsely).max() < 1e-4 and dense.nnz == sparsely.nnz
        assert sparsely.dtype == dense.dtype == real
    tuned = ncut.self_tuning_graph(sparse.coo_array(X), 8)
    assert abs(tuned - ncut.self_tuning_graph(X, 8)).max() < 1e-6
    assert ncut.neighbor_graph(sparse.csr_array(X), 8, mutual=True).nnz < ncut.neighbor_graph(X, 8).nnz


@pytest.mark.parametrize("affinity", ["self_tuning", "nearest_neighbors", "rbf", "cosine", "adaptive"])
def test_n09_points_of_32_bits_make_a_graph_of_32_bits(affinity):
    X = np.random.default_rng(0).normal(size=(150, 6)).astype(np.float32)
    for points in (X, sparse.csr_array(X)):
        model = NormalizedCut(4, affinity=affinity, n_neighbors=8).fit(points)
        assert model.affinity_matrix_.dtype == np.float32
        # It is the very graph that was clustered.
        assert np.array_equal(ncut.cluster(model.affinity_matrix_, 4).labels, model.labels_)
        assert model.predict(points[:5]).shape == (5,)
    wide = NormalizedCut(4, affinity=affinity, n_neighbors=8).fit(X.astype(np.float64))
    assert wide.affinity_matrix_.dtype == np.float64
    assert (
        abs(wide.affinity_matrix_ - NormalizedCut(4, affinity=affinity, n_neighbors=8).fit(X).affinity_matrix_).max()
        < 1e-6
    )


# N10


def test_n10_dir_lists_what_is_public():
    names = dir(ncut)
    assert {"NormalizedCut", "SpectralClustering", "cluster", "score", "anndata"} <= set(names)
    assert not {"Any", "TYPE_CHECKING", "import_module", "annotations"} & set(names)
    assert all(not name.startswith("_") or name == "__version__" for name in names)
    assert set(ncut.__all__) <= set(names)
    for name in names:
        assert getattr(ncut, name) is not None
    with pytest.raises(AttributeError, match="module 'ncut' has no attribute 'clutser'"):
        _ = ncut.clutser


# N13


@pytest.mark.parametrize(
    ("graph", "place"),
    [
        (networkx.Graph([("ann", "bo", {"weight": 2.0}), ("bo", "cy", {"weight": -1.0})]), r"\('bo', 'cy'\) is -1"),
        (
            networkx.DiGraph([("ann", "bo"), ("bo", "cy")]),
            r"the graph is directed.*\('ann', 'bo'\) is 1, that of \('bo', 'ann'\) is 0",
        ),
        (
            pandas.DataFrame([[0, 1], [3, 0]], index=["x", "y"], columns=["x", "y"]),
            r"not symmetric: the weight of \('x', 'y'\) is 1, that of \('y', 'x'\) is 3",
        ),
        (pandas.DataFrame({"source": ["a"], "target": ["b"], "weight": [np.nan]}), r"\('a', 'b'\) is NaN"),
    ],
)
def test_n13_refusals_name_nodes(graph, place):
    for refuse in (
        lambda: ncut.cluster(graph, 1),
        lambda: ncut.score(graph, [0] * 3),
        lambda: ncut.choose(graph, 1, 2),
        lambda: ncut.upper_bound(graph, 1),
        lambda: ncut.Graph(graph),
    ):
        with pytest.raises(ValueError, match=place):
            refuse()


def test_n13_positions_stay_where_there_are_no_names():
    with pytest.raises(ValueError, match=r"the weight of \(0, 1\) is 1, that of \(1, 0\) is 3"):
        ncut.cluster([[0, 1], [3, 0]], 1)


def test_n13_an_anndata_is_told_where_to_go():
    anndata = pytest.importorskip("anndata")
    with pytest.raises(ValueError, match=r"use ncut.anndata.cluster\(adata, n_clusters\)"):
        ncut.cluster(anndata.AnnData(np.zeros((3, 1), dtype=np.float32)), 2)


# N14


def seen(arguments, *, interrupt_after=None, seconds=60):
    """What a program writes on a terminal of 100 columns, as lines that replace each other, and its exit code."""
    terminal, end = pty.openpty()
    import fcntl
    import termios

    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    program = subprocess.Popen(arguments, stdin=end, stdout=end, stderr=end, close_fds=True, start_new_session=True)
    os.close(end)
    written, started = b"", time.monotonic()
    try:
        while True:
            if select.select([terminal], [], [], 0.05)[0]:
                try:
                    piece = os.read(terminal, 1 << 16)
                except OSError:
                    break
                if not piece:
                    break
                written += piece
            if interrupt_after and b"clustering" in written and time.monotonic() > started + interrupt_after:
                program.send_signal(signal.SIGINT)
                interrupt_after = None
            assert time.monotonic() < started + seconds, written[-2000:]
    finally:
        program.kill()
        code = program.wait()
        os.close(terminal)
    return re.split(r"\r\x1b\[2K|\r\n|\x1b\[1A", written.decode()), code


@pytest.fixture(scope="module")
def long_work(tmp_path_factory):
    path = tmp_path_factory.mktemp("long") / "graph.npz"
    sparse.save_npz(path, planted(40, 500, 1, between=6)[0])
    return path


def test_n14_one_line_of_progress_only_goes_forward(long_work):
    call = [
        sys.executable,
        "-m",
        "ncut",
        "cluster",
        str(long_work),
        "-k",
        "40",
        "--preset",
        "best",
        "--time-limit",
        "3",
    ]
    lines, code = seen(call)
    assert code == 0
    shown = [line for line in lines if re.match(r"[0-9.]+ s  ", line)]
    assert len(shown) > 5
    times = [float(line.split(" ")[0]) for line in shown]
    assert times == sorted(times) and times[-1] > 2
    best = [float(number) for line in shown for number in re.findall(r"best objective ([0-9.]+)", line)]
    assert best and best == sorted(best)
    kept = next(float(number) for line in lines for number in re.findall(r"\(objective ([0-9.]+)", line))
    assert kept >= best[-1] - 1e-4
    bars = [line.count("█") for line in shown]
    assert bars == sorted(bars) and bars[-1] > bars[0]
    assert max(map(len, shown)) <= 100


def test_n14_no_line_is_left_behind_after_ctrl_c(long_work, tmp_path):
    labels = tmp_path / "labels.txt"
    call = [sys.executable, "-m", "ncut", "cluster", str(long_work), "-k", "40", "--preset", "best", "-o", str(labels)]
    lines, code = seen(call, interrupt_after=2.0)
    assert code == 0 and labels.exists()
    said = next(place for place, line in enumerate(lines) if line.startswith("ncut: stopping"))
    # What is said stands on a line of its own, and nothing is drawn after it.
    assert not any(re.match(r"[0-9.]+ s  ", line) for line in lines[said:])
    assert "the best so far" in "".join(lines[said:])


def test_n14_progress_in_python_only_goes_forward(capfd, monkeypatch, long_work):
    graph = sparse.load_npz(long_work)
    told = []
    found = ncut.cluster(graph, 40, preset="fast", on_progress=told.append)
    best = [progress.best for progress in told if progress.best is not None]
    assert best and best == sorted(best) and found.objective >= best[-2:][0] - 1e-9
    ncut.cluster(graph, 40, preset="fast", verbose=True)
    shown = capfd.readouterr().err
    assert re.search(r"ncut: clustering.*\[[0-9]+:[0-9]+\]", shown) and "100%" not in shown
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    ncut.cluster(graph, 40, preset="fast", verbose=True)
    assert re.search(r"ncut: clustering.*, [0-9.]+ s\n", capfd.readouterr().err)


# N15 and N16


def test_n15_adjacency_tables_keep_their_names():
    matrix = networkx.to_pandas_adjacency(FRIENDS)
    found = ncut.cluster(matrix, 2)
    assert found.to_dict() == BY_NAME
    mixed = matrix.loc[:, ["flo", "ann", "bo", "cy", "di", "ed"]]
    assert ncut.cluster(mixed, 2).to_dict() == BY_NAME
    assert ncut.cluster(matrix.astype(pandas.SparseDtype(float, 0.0)), 2).to_dict() == BY_NAME
    assert ncut.cluster(pandas.DataFrame(GRAPH.toarray()), 4).nodes is None
    with pytest.raises(ValueError, match="names 'ann' twice"):
        ncut.cluster(pandas.DataFrame(np.ones((2, 2)), index=["ann", "ann"], columns=["ann", "ann"]), 1)


@pytest.mark.parametrize(
    "names",
    [("source", "target", "weight"), ("Weight", "FROM", "to"), ("id", "src", "dst"), ("to", "note", "weight", "from")],
)
def test_n16_tables_of_edges_by_the_names_of_their_columns(names):
    edges = networkx.to_pandas_edgelist(FRIENDS.copy())
    columns = {"note": "x", "id": range(len(edges)), "weight": 1.0, "Weight": 1.0}
    for source in ("source", "from", "FROM", "src"):
        columns[source] = edges["source"]
    for target in ("target", "to", "dst"):
        columns[target] = edges["target"]
    table = pandas.DataFrame({name: columns[name] for name in names}, index=edges.index)
    assert ncut.cluster(table, 2).to_dict() == BY_NAME


def test_n16_tables_of_edges_have_weights_or_are_refused():
    table = pandas.DataFrame({"source": [1, 2, 3, 1], "target": [2, 3, 4, 1], "n": 1, "weight": [5.0, 0.1, 5.0, 0.5]})
    found = ncut.cluster(table, 2)
    assert found.to_dict() == {1: 0, 2: 0, 3: 1, 4: 1}
    assert found.clusters["volume"].tolist() == [10.6, 10.1]
    assert ncut.cluster(table, 2, weight=None).clusters["volume"].sum() == 7.0
    assert ncut.cluster(table, 2, weight="n").clusters["volume"].sum() == 7.0
    for broken, message in (
        (
            table.rename(columns={"source": "p", "target": "q"}),
            "its columns are 'p', 'q', 'n', 'weight'.*call two of them source",
        ),
        (table.assign(source=[1, 2, None, 1]), "row 2 has no 'source'"),
        (table.assign(weight=["a", "b", "c", "d"]), "the column 'weight' is no weight everywhere"),
        (table[:0], "has no edges"),
    ):
        with pytest.raises(ValueError, match=message):
            ncut.cluster(broken, 2)
    with pytest.raises(ValueError, match="there is no column 'wieght'"):
        ncut.cluster(table, 2, weight="wieght")


@pytest.mark.parametrize("shape", LABELS)
def test_n16_labels_in_every_shape(shape):
    scored = ncut.score(FRIENDS, shaped(shape), truth=shaped(shape))
    assert scored.ari == 1.0 and scored.accuracy == 1.0
    assert scored.objective == pytest.approx(ncut.score(FRIENDS, [0, 0, 0, 1, 1, 1]).objective)
    found = ncut.cluster(FRIENDS, 2, init=shaped(shape), preset="paper")
    assert found.to_dict() == BY_NAME
    if shape != "generator":
        model = NormalizedCut(2, affinity="precomputed", init=shaped(shape) if shape in ("list", "array") else None)
        assert model.fit(networkx.to_scipy_sparse_array(FRIENDS)).n_clusters_ == 2


def test_n16_labels_of_points_by_the_index_of_their_table():
    X, y = make_blobs(60, centers=3, random_state=0)
    frame = pandas.DataFrame(X, index=[f"p{number}" for number in range(60)], columns=["a", "b"])
    start = pandas.Series(y, index=frame.index).sample(frac=1, random_state=1)
    model = NormalizedCut(3, preset="paper", init=start).fit(frame)
    assert np.array_equal(model.labels_, NormalizedCut(3, preset="paper", init=y).fit(X).labels_)
    fixed = NormalizedCut(3, fixed={"p0": 2}).fit(frame)
    assert fixed.labels_[0] == 2
    with pytest.raises(ValueError, match="init is a Series, taken by its index, and 'p[0-9]+' is no node.*to_numpy"):
        NormalizedCut(3, init=start).fit(X)


def test_n16_classes_may_be_named_or_missing():
    names = {"ann": "x", "bo": "x", "cy": None, "di": "y", "ed": np.nan, "flo": "y"}
    assert ncut.score(FRIENDS, BY_NAME, truth=names).ari == 1.0
    assert ncut.score(FRIENDS, BY_NAME, truth={"ann": "x", "di": "y"}).ari == 1.0
    kinds = pandas.Series(["x", "x", "x", "y", "y", None], index=list(BY_NAME), dtype="category")
    assert ncut.score(FRIENDS, BY_NAME, truth=kinds).accuracy == 1.0
    assert ncut.score(FRIENDS, BY_NAME, truth=[1.0, 1.0, 1.0, 2.0, 2.0, np.nan]).ari == 1.0


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({"zoe": 1}, "labels names 'zoe', which is no node of the graph"),
        ([{"ann"}, {"ann", "bo"}], "labels has 'ann' in communities 0 and 1"),
        (pandas.Series([0, 1], index=["ann", "ann"]), "names 'ann' twice"),
        (pandas.Series([0, 1], index=[0, 1]), "0 is no node: one is called 'ann'"),
        (["x"] * 6, "labels are whole numbers"),
        (np.zeros((6, 2), int), "labels has 2 dimensions"),
    ],
)
def test_n16_labels_that_do_not_fit_are_refused(labels, message):
    with pytest.raises(ValueError, match=message):
        ncut.score(FRIENDS, labels)


def test_n16_clusterings_of_other_packages_are_labels():
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph.from_networkx(FRIENDS)
    found = graph.community_leiden(objective_function="modularity")
    assert ncut.score(graph, found, truth=[0, 0, 0, 1, 1, 1]).ari == 1.0
    communities = networkx.community.greedy_modularity_communities(FRIENDS)
    assert ncut.score(FRIENDS, communities, truth=BY_NAME).ari == 1.0


def test_n16_results_in_other_shapes():
    found = ncut.cluster(FRIENDS, 2)
    assert found.to_dict() == BY_NAME
    frame = found.to_frame()
    assert frame.index.name == "node" and frame["cluster"].to_dict() == BY_NAME
    assert frame["confidence"].between(0, 1).all()
    drawn = found.to_networkx()
    assert networkx.get_node_attributes(drawn, "cluster") == BY_NAME
    assert networkx.utils.graphs_equal(networkx.Graph(drawn.edges), networkx.Graph(FRIENDS.edges))
    FRIENDS.nodes["ann"]["age"] = 7
    kept = found.to_networkx(FRIENDS, attribute="group")
    assert kept.nodes["ann"] == {"age": 7, "group": 0} and "group" not in FRIENDS.nodes["ann"]
    with pytest.raises(ValueError, match="'ann' was clustered, but is no node of this graph"):
        found.to_networkx(networkx.path_graph(3))
    numbers = ncut.cluster(GRAPH, 4)
    assert numbers.to_dict() == dict(enumerate(numbers.labels.tolist()))
    assert numbers.to_frame().shape == (160, 2)
    assert numbers.to_networkx().number_of_edges() == sparse.triu(GRAPH).nnz
    changed = ncut.update(FRIENDS, found)
    assert changed.to_dict() == changed.as_dict() == BY_NAME
    assert changed.to_frame()["cluster"].to_dict() == BY_NAME


def test_n16_an_old_clustering_scores_by_name():
    mixed = networkx.Graph()
    mixed.add_nodes_from(reversed(list(FRIENDS)))
    mixed.add_edges_from(FRIENDS.edges)
    found = ncut.cluster(FRIENDS, 2)
    assert ncut.score(mixed, found, truth=found).ncut == pytest.approx(found.ncut)
    assert ncut.cluster(mixed, 2, init=found, fixed=found).to_dict() == found.to_dict()


# The command that comes with the package, and threads.


def run(*arguments, **settings):
    return subprocess.run([sys.executable, "-m", "ncut", *arguments], capture_output=True, text=True, **settings)


def test_the_command_comes_with_the_package(tmp_path):
    script = os.path.join(os.path.dirname(sys.executable), "ncut")
    assert os.path.exists(script)
    told = subprocess.run([script, "--version"], capture_output=True, text=True, check=True)
    assert told.stdout == f"ncut {ncut.__version__}\n"
    (tmp_path / "g.txt").write_text("ann bo\nbo cy\ncy ann\ncy di\ndi ed\ned flo\nflo di\n")
    told = run("cluster", "g.txt", "-k", "2", "-o", "-", "--quiet", cwd=tmp_path)
    assert (told.returncode, told.stdout) == (0, "".join(f"{name}\t{label}\n" for name, label in BY_NAME.items()))
    for arguments, code, message in (
        (["cluster", "none.txt", "-k", "2"], 1, "none.txt: cannot be opened"),
        (["cluster", "g.txt", "-k", "abc"], 2, "it must be a whole number, or `auto`"),
        ([], 2, "Usage: ncut"),
    ):
        told = run(*arguments, cwd=tmp_path)
        assert told.returncode == code and message in told.stderr and "Traceback" not in told.stderr


def test_clusterings_of_igraph_go_by_the_names_of_nodes():
    igraph = pytest.importorskip("igraph")
    names = list(BY_NAME)
    drawn = igraph.Graph.from_networkx(FRIENDS)
    drawn.vs["name"] = drawn.vs["_nx_name"]
    theirs = igraph.VertexClustering(drawn, [BY_NAME[name] for name in drawn.vs["name"]])
    other = networkx.Graph()
    other.add_nodes_from(reversed(names))
    other.add_edges_from(FRIENDS.edges)
    assert ncut.score(other, theirs).objective == ncut.score(FRIENDS, BY_NAME).objective


def test_a_name_of_two_nodes_is_refused_where_it_would_tell_one():
    named = pandas.DataFrame(np.ones((3, 3)) - np.eye(3), index=["a", "a", "b"], columns=["a", "a", "b"])
    with pytest.raises(ValueError, match="'a'"):
        ncut.cluster(named, 2, fixed={"a": 0})


def test_pictures_with_opacity_have_floats_up_to_one():
    picture = np.full((4, 4, 4), 255.0)
    with pytest.raises(ValueError, match="opacity goes from 0 to 1"):
        ncut.segment(picture, 2)
    assert ncut.segment(picture / 255.0, 2).shape == (4, 4)


def test_a_page_takes_shades_up_to_255_and_no_dict_of_names():
    picture = np.zeros((4, 4))
    picture[:, 2:] = 100.0
    found = ncut.cluster(ncut.image_graph(picture), 2)
    assert found.to_html(picture=picture) == found.to_html(picture=picture.astype(np.uint8))
    with pytest.raises(TypeError, match="names is a dict"):
        found.to_html(names={0: "first"})


def test_an_annotated_matrix_is_no_table():
    anndata = pytest.importorskip("anndata")
    cells = anndata.AnnData(np.ones((6, 2), dtype=np.float32))
    for estimator in (NormalizedCut(2), ncut.SpectralClustering(2)):
        with pytest.raises(TypeError, match=r"ncut\.anndata\.cluster"):
            estimator.fit(cells)


def test_what_comes_out_goes_in_again():
    found = ncut.cluster(FRIENDS, 3)
    assert ncut.score(FRIENDS, found.to_frame()).objective == found.objective
    assert ncut.update(FRIENDS, found.to_frame()).moved == []
    # As scanpy and pandas keep them.
    kept = pandas.Series([str(label) for label in found.labels], index=found.nodes, dtype="category")
    assert ncut.score(FRIENDS, kept).objective == found.objective
    with pytest.raises(ValueError, match="'first'; labels are whole numbers"):
        ncut.score(FRIENDS, ["first"] * len(FRIENDS))


def test_names_that_are_there_twice_lose_no_node():
    igraph = pytest.importorskip("igraph")
    drawn = igraph.Graph.Ring(6)
    drawn.vs["name"] = ["x"] * 3 + ["y"] * 3
    found = ncut.cluster(drawn, 2)
    for refused in (found.to_dict, lambda: ncut.update(drawn, found), found.to_networkx):
        with pytest.raises(ValueError, match="two nodes are called 'x'"):
            refused()


def test_a_series_in_another_order_than_the_nodes_is_not_guessed_about():
    blocks = np.kron(np.eye(2), np.ones((3, 3)))
    truth = pandas.Series([0, 0, 0, 1, 1, 1])
    assert ncut.score(blocks, [0, 0, 0, 1, 1, 1], truth=truth).accuracy == 1
    with pytest.raises(ValueError, match=r"truth\.to_numpy\(\)"):
        ncut.score(blocks, [0, 0, 0, 1, 1, 1], truth=truth.sample(frac=1, random_state=0))


def test_what_is_no_graph_and_no_clustering_is_told_so(tmp_path):
    with pytest.raises(ValueError, match="edges or the rows of a matrix"):
        ncut.cluster([(0, 1), (1, 2)], 2)
    with pytest.raises(ValueError, match="communities of communities"):
        ncut.score(FRIENDS, networkx.community.girvan_newman(FRIENDS))
    found = ncut.cluster(FRIENDS, 2)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        found.to_html(tmp_path / "missing" / "page.html")
    igraph = pytest.importorskip("igraph")
    with pytest.raises(TypeError, match="networkx graph that was clustered"):
        found.to_networkx(igraph.Graph.Ring(3))


def test_seeds_leave_pixels_free():
    strokes = np.zeros((4, 4), dtype=int)
    strokes[0, 0], strokes[3, 3] = 1, 2
    with pytest.raises(ValueError, match="seeds - 1"):
        ncut.segment(np.eye(4), 3, seeds=strokes)
    regions = ncut.segment(np.eye(4), 2, seeds=strokes - 1)
    assert (regions[0, 0], regions[3, 3]) == (0, 1)


def test_the_tree_is_cut_to_any_number_by_scipy():
    from scipy.cluster.hierarchy import fcluster

    found = ncut.cluster(networkx.les_miserables_graph(), 8)
    for k in range(1, 9):
        cut = fcluster(found.hierarchy.linkage(), k, "maxclust")
        assert ncut.score(networkx.les_miserables_graph(), found.hierarchy.labels(k), truth=cut).ari == pytest.approx(1)


def test_the_command_does_not_wait_for_numpy():
    program = (
        "import sys; sys.argv = ['ncut', '--version']; from ncut.__main__ import main;"
        "assert main() == 0; assert 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)


def test_the_same_labels_by_the_command_of_the_package(tmp_path):
    sparse.save_npz(tmp_path / "g.npz", GRAPH)
    assert run("cluster", "g.npz", "-k", "4", "-o", "l.npy", cwd=tmp_path).returncode == 0
    assert np.array_equal(np.load(tmp_path / "l.npy"), ncut.cluster(GRAPH, 4).labels)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system knows no affinity")
def test_threads_are_those_the_process_may_use():
    program = (
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))});"
        "from ncut._settings import threads; print(threads(-1), threads(8), threads(None))"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["1", "1", "1"]


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_workers_of_joblib_share_the_cores(backend):
    cores = threads(-1)
    told = Parallel(n_jobs=2, backend=backend)(delayed(threads)(-1) for _ in range(4))
    assert all(1 <= n_threads <= max(1, cores // 2) for n_threads in told)
    assert Parallel(n_jobs=2, backend=backend)(delayed(threads)(None) for _ in range(2)) == [1, 1]
    with parallel_config("threading", n_jobs=2):
        assert threads(None) == min(2, cores)
