"""Cells of an AnnData, in the manners of scanpy."""

from __future__ import annotations

import subprocess
import sys
import warnings

import ncut
import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

anndata = pytest.importorskip("anndata")
# What other packages warn of among themselves.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def scanpy():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("scanpy")


@pytest.fixture(scope="module")
def loaded(scanpy):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return scanpy.datasets.pbmc68k_reduced()


@pytest.fixture
def cells(loaded):
    """700 blood cells with the names that were given to them; it is shipped with scanpy."""
    return loaded.copy()


def blocks(n_cells=6):
    """Two blocks of cells."""
    adata = anndata.AnnData(np.zeros((n_cells, 1), dtype=np.float32))
    adata.obs_names = [f"cell {number}" for number in range(n_cells)]
    adata.obsp["connectivities"] = sparse.csr_array(np.kron(np.eye(2), np.ones((n_cells // 2,) * 2)) + 0.01)
    return adata


def leiden(scanpy, adata, n_clusters):
    """Leiden's clusters at the resolution that makes so many, sought by halving."""
    low, high = 0.01, 8.0
    for _ in range(40):
        middle = (low + high) / 2
        settings = {"flavor": "igraph", "n_iterations": 2, "directed": False}
        scanpy.tl.leiden(adata, resolution=middle, key_added="sought", **settings)
        found = len(adata.obs["sought"].cat.categories)
        if found == n_clusters:
            return adata.obs["sought"]
        low, high = (middle, high) if found < n_clusters else (low, middle)
    pytest.fail(f"no resolution makes {n_clusters} clusters")


@pytest.mark.parametrize("n_clusters", [4, 6, 7, 8, 9, 10])
def test_blood_cells_in_one_call_exactly_k_and_no_lower_than_leiden(scanpy, cells, n_clusters):
    assert ncut.anndata.cluster(cells, n_clusters) is None
    found = cells.obs["ncut"]
    assert found.dtype == "category"
    assert list(found.cat.categories) == [str(number) for number in range(n_clusters)]
    sizes = found.value_counts(sort=False)
    assert sizes.min() > 0 and (np.diff(sizes) <= 0).all()
    ours = adjusted_rand_score(cells.obs["bulk_labels"], found)
    theirs = adjusted_rand_score(cells.obs["bulk_labels"], leiden(scanpy, cells, n_clusters))
    print(f"k = {n_clusters}: ARI {ours:.3f}, Leiden {theirs:.3f}")
    assert ours >= theirs


def test_what_is_left_in_the_object():
    adata = blocks()
    ncut.anndata.cluster(adata, 2, objective="ncut", preset="fast", min_share=0.1)
    assert adata.obs["ncut"].tolist() == ["0", "0", "0", "1", "1", "1"]
    sure = adata.obs["ncut_confidence"]
    assert ((sure > 0) & (sure <= 1)).all()
    told = adata.uns["ncut"]
    assert told["n_clusters"] == 2 and told["objective"] == pytest.approx(2 - told["ncut"])
    params = told["params"]
    assert (params["n_clusters"], params["preset"], params["min_share"]) == (2, "fast", 0.1)
    assert params["random_state"] == 0 and list(params["obsp"]) == ["connectivities"]
    graph = adata.obsp["connectivities"]
    assert told["objective"] == pytest.approx(ncut.score(graph, adata.obs["ncut"].cat.codes.to_numpy()).objective)


def test_a_copy_leaves_the_object_alone():
    adata = blocks()
    copied = ncut.anndata.cluster(adata, 2, copy=True, key_added="mine")
    assert "mine" in copied.obs and "mine" in copied.uns and "mine_confidence" in copied.obs
    assert not len(adata.obs.columns) and not adata.uns


def test_clusters_are_numbered_by_size_unless_numbers_are_given():
    sizes = (5, 9, 6)
    adata = anndata.AnnData(np.zeros((20, 1), dtype=np.float32))
    adata.obs_names = [f"cell {number}" for number in range(20)]
    block = sparse.block_diag([np.ones((size, size)) for size in sizes]).toarray() + 0.01
    adata.obsp["connectivities"] = block
    ncut.anndata.cluster(adata, 3)
    assert adata.obs["ncut"].tolist() == ["2"] * 5 + ["0"] * 9 + ["1"] * 6
    ncut.anndata.cluster(adata, 3, fixed={"cell 0": 1, "cell 5": 2}, key_added="fixed")
    assert adata.obs["fixed"].tolist() == ["1"] * 5 + ["2"] * 9 + ["0"] * 6


def test_restricted_to_some_categories(cells):
    kinds = ["CD14+ Monocyte", "Dendritic"]
    ncut.anndata.cluster(cells, 3, restrict_to=("bulk_labels", kinds))
    found = cells.obs["ncut_R"]
    inside = cells.obs["bulk_labels"].isin(kinds)
    assert set(found[inside]) == {f"CD14+ Monocyte-Dendritic,{number}" for number in range(3)}
    assert (found[~inside] == cells.obs["bulk_labels"][~inside].astype(str)).all()
    assert cells.obs["ncut_R_confidence"].isna().equals(~inside)
    assert cells.uns["ncut_R"]["params"]["restrict_to"] == "bulk_labels"


def test_cells_in_no_cluster_are_missing():
    adata = blocks()
    graph = adata.obsp["connectivities"].toarray()
    graph[5], graph[:, 5] = 0, 0
    adata.obsp["connectivities"] = graph
    ncut.anndata.cluster(adata, 2, components="largest")
    assert adata.obs["ncut"].isna().tolist() == [False] * 5 + [True]


def test_neighbors_by_another_key(scanpy, cells):
    scanpy.pp.neighbors(cells, n_neighbors=5, key_added="few")
    ncut.anndata.cluster(cells, 5, neighbors_key="few", key_added="a")
    ncut.anndata.cluster(cells, 5, obsp="few_connectivities", key_added="b")
    assert cells.obs["a"].equals(cells.obs["b"])
    assert list(cells.uns["a"]["params"]["obsp"]) == ["few_connectivities"]


def tissue(n_cells=900, seed=0):
    """Four groups of cells whose expressions overlap, and so do the places they are in."""
    rng = np.random.default_rng(seed)
    group = rng.integers(4, size=n_cells)
    expression = rng.normal(size=(n_cells, 6))
    expression[:, :4] += 2.6 * np.eye(4)[group]
    place = rng.normal(size=(n_cells, 2)) + 2.6 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])[group]
    adata = anndata.AnnData(expression.astype(np.float32), obs={"group": group.astype(str)})
    adata.obsp["connectivities"] = ncut.self_tuning_graph(expression, 15)
    adata.obsp["spatial_connectivities"] = ncut.neighbor_graph(place, 6)
    return adata


def test_two_graphs_jointly_tell_more_than_either():
    adata = tissue()
    scores = {}
    for name, graphs in {
        "expression": "connectivities",
        "space": "spatial_connectivities",
        "both": {"connectivities": 1, "spatial_connectivities": 0.5},
    }.items():
        ncut.anndata.cluster(adata, 4, obsp=graphs, key_added=name)
        scores[name] = adjusted_rand_score(adata.obs["group"], adata.obs[name])
    print(scores)
    assert scores["both"] > max(scores["expression"], scores["space"]) + 0.1
    assert list(adata.uns["both"]["params"]["weights"]) == [1.0, 0.5]
    ncut.anndata.cluster(adata, 4, layers=["connectivities", "spatial_connectivities"], key_added="layers")
    ncut.anndata.cluster(adata, 4, obsp={"connectivities": 1, "spatial_connectivities": 1}, key_added="same")
    assert adata.obs["layers"].equals(adata.obs["same"])


def test_units_of_edges_do_not_weigh():
    adata = tissue()
    graphs = {"connectivities": 1, "spatial_connectivities": 0.5}
    ncut.anndata.cluster(adata, 4, obsp=graphs)
    adata.obsp["spatial_connectivities"] = 1024.0 * adata.obsp["spatial_connectivities"]
    ncut.anndata.cluster(adata, 4, obsp=graphs, key_added="again")
    assert adata.obs["ncut"].equals(adata.obs["again"])


def test_written_and_read_again(cells, tmp_path):
    ncut.anndata.cluster(cells, 6, preset="fast", min_share=0.25, fixed=None)
    ncut.anndata.cluster(cells, 3, restrict_to=("bulk_labels", ["Dendritic"]))
    cells.write_h5ad(tmp_path / "cells.h5ad")
    again = anndata.read_h5ad(tmp_path / "cells.h5ad")
    for key in ("ncut", "ncut_R"):
        assert again.obs[key].equals(cells.obs[key])
        assert again.obs[f"{key}_confidence"].equals(cells.obs[f"{key}_confidence"])
        assert again.uns[key]["objective"] == cells.uns[key]["objective"]
    assert again.uns["ncut"]["params"]["preset"] == "fast"
    assert list(again.uns["ncut"]["params"]["obsp"]) == ["connectivities"]


def test_results_never_change(cells):
    labels = []
    for n_jobs in (1, 2):
        ncut.anndata.cluster(cells, 7, n_jobs=n_jobs)
        labels.append(cells.obs["ncut"].tolist())
    assert labels[0] == labels[1]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"obsp": "nothing"}, "adata.obsp has no 'nothing': make that graph first; there is 'connectivities'"),
        ({"neighbors_key": "few"}, r"adata.uns has no 'few': run scanpy.pp.neighbors\(adata, key_added='few'\) first"),
        ({"layers": ["spatial_connectivities"]}, r"run squidpy.gr.spatial_neighbors\(adata\) first"),
        ({"obsp": "a", "neighbors_key": "b"}, "neighbors_key and obsp each tell which graph to cluster; give one"),
        ({"obsp": {"connectivities": 0}}, "the weight of 'connectivities' is 0; it must be a positive number"),
        ({"obsp": []}, "it must name graphs of adata.obsp"),
        ({"restrict_to": ("kind", ["a"])}, "adata.obs has no 'kind'"),
        ({"restrict_to": "kind"}, "restrict_to is 'kind'; it must be"),
        ({"preset": "turbo"}, 'preset is "turbo"'),
    ],
)
def test_refusals_tell_what_to_do(settings, message):
    with pytest.raises(ValueError, match=message):
        ncut.anndata.cluster(blocks(), 2, **settings)


def test_without_neighbors_it_says_what_to_run():
    adata = anndata.AnnData(np.zeros((6, 1), dtype=np.float32))
    with pytest.raises(KeyError, match=r"adata.obsp has no 'connectivities': run scanpy.pp.neighbors\(adata\) first"):
        ncut.anndata.cluster(adata, 2)
    adata.obs["kind"] = ["a", "b"] * 3
    adata.obsp["connectivities"] = np.ones((6, 6))
    with pytest.raises(ValueError, match="'c' is no category of 'kind'; these are: 'a', 'b'"):
        ncut.anndata.cluster(adata, 2, restrict_to=("kind", ["c"]))
    with pytest.raises(TypeError, match="adata is a ndarray; give an AnnData, or use ncut.cluster"):
        ncut.anndata.cluster(np.ones((6, 6)), 2)


def test_refusals_name_cells():
    adata = blocks()
    graph = adata.obsp["connectivities"].toarray()
    graph[0, 1] = 5.0
    adata.obsp["connectivities"] = graph
    with pytest.raises(ValueError, match=r"not symmetric: the weight of \('cell 0', 'cell 1'\) is 5"):
        ncut.anndata.cluster(adata, 2)
    ncut.anndata.cluster(adata, 2, symmetrize="average")
    assert adata.uns["ncut"]["params"]["symmetrize"] == "average"


def test_nothing_of_anndata_is_imported():
    program = "import sys, ncut.anndata; assert not {'anndata', 'scanpy', 'pandas'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)
