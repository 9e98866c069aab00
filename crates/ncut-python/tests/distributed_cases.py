"""Cases for a Ray cluster; `test_distributed.py` runs them in a network namespace."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import ncut
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import ray
from ncut import distributed
from ray.cluster_utils import Cluster

# Ray leaves sockets and files to the end of the process.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

K = 12
N_NODES = 12_000
# So small that two levels are made of a graph of this size.
SMALL = {"fit_entries": 30_000, "n_shards": 3}


@pytest.fixture(scope="session")
def cluster():
    memory = 200 << 20
    # A removed node is to be noticed within seconds.
    noticing = {
        "health_check_initial_delay_ms": 1000,
        "health_check_period_ms": 500,
        "health_check_failure_threshold": 4,
    }
    head = {"num_cpus": 1, "node_ip_address": "127.0.0.2", "object_store_memory": memory, "include_dashboard": False}
    head["_system_config"] = noticing
    cluster = Cluster(initialize_head=True, head_node_args=head)
    for number in (3, 4):
        cluster.add_node(num_cpus=1, node_ip_address=f"127.0.0.{number}", object_store_memory=memory)
    ray.init(address=cluster.address, log_to_driver=False)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def planted(n_nodes, k, n_edges, seed=0, mixing=0.25):
    random = np.random.default_rng(seed)
    labels = random.integers(k, size=n_nodes)
    members = [np.flatnonzero(labels == label) for label in range(k)]
    source = random.integers(n_nodes, size=n_edges)
    draws = zip(labels[source], random.random(n_edges), strict=True)
    target = np.array([members[label][int(draw * len(members[label]))] for label, draw in draws])
    noise = random.random(n_edges) < mixing
    target[noise] = random.integers(n_nodes, size=int(noise.sum()))
    return source, target


def ids_of(numbers):
    """Ids that are neither dense nor in order."""
    return (numbers * 7919 + 13) % 1_000_003 * 1_000_000_007


@pytest.fixture(scope="session")
def edges(tmp_path_factory):
    folder = tmp_path_factory.mktemp("edges")
    source, target = planted(N_NODES, K, 100_000)
    # Some edges twice, in both directions, and self-loops.
    source, target = np.append(source, target[:500]), np.append(target, source[:500])
    source, target = np.append(source, np.arange(50)), np.append(target, np.arange(50))
    weight = 1.0 + np.arange(len(source)) % 3
    for part, rows in enumerate(np.array_split(np.arange(len(source)), 4)):
        table = pa.table({"source": ids_of(source[rows]), "target": ids_of(target[rows]), "weight": weight[rows]})
        pq.write_table(table, folder / f"part-{part}.parquet")
    return folder


def read_all(folder):
    table = pa.concat_tables([pq.read_table(path) for path in sorted(folder.glob("*.parquet"))])
    return tuple(np.asarray(table.column(name)) for name in ("source", "target", "weight"))


def labels_by_place(labels, ids):
    """Labels of ids, in their order, from parts in any order."""
    names, values = np.asarray(labels.column("id")), np.asarray(labels.column("label"))
    assert len(np.unique(names)) == len(names)
    order = np.argsort(names)
    places = np.searchsorted(names[order], ids)
    assert (names[order][places] == ids).all()
    return values[order][places]


def n_pieces(source, target, labels, n_nodes):
    """Connected pieces of clusters, by scipy."""
    from scipy import sparse

    inside = labels[source] == labels[target]
    matrix = sparse.coo_array((np.ones(inside.sum()), (source[inside], target[inside])), shape=(n_nodes, n_nodes))
    return sparse.csgraph.connected_components(matrix, directed=False)[0]


def scored(source, target, weight, labels, k):
    """N-Cut's objective, with nothing of ncut's."""
    volume = np.bincount(labels[source], weight, k) + np.bincount(labels[target], weight * (source != target), k)
    inside = np.where(labels[source] == labels[target], weight * np.where(source == target, 1, 2), 0.0)
    return float((np.bincount(labels[source], inside, k) / volume).sum())


@pytest.fixture(scope="session")
def found(cluster, edges, tmp_path_factory):
    """An undisturbed run."""
    told = []
    result = distributed.cluster(edges, K, storage=tmp_path_factory.mktemp("storage"), on_progress=told.append, **SMALL)
    assert {step.phase for step in told} >= {"reading", "coarsening", "solving", "refining", "writing", "done"}
    assert told[-1].n_bytes > 0
    return result


def test_exactly_k_connected_clusters_with_the_objective_of_one_machine(found, edges):
    source, target, weight = read_all(edges)
    ids, places = np.unique(np.append(source, target), return_inverse=True)
    source, target = places[: len(source)], places[len(source) :]
    labels = labels_by_place(found.labels, ids)
    assert len(found.labels) == len(ids) == found.report["n_nodes"]
    assert sorted(set(labels.tolist())) == list(range(K))
    assert labels[0] == 0
    assert n_pieces(source, target, labels, len(ids)) == K
    assert found.report["n_disconnected_clusters"] == 0
    assert scored(source, target, weight, labels, K) == pytest.approx(found.objective, abs=1e-9)
    from scipy import sparse

    matrix = sparse.coo_array((weight, (source, target)), shape=(len(ids), len(ids))).tocsr()
    matrix = matrix + sparse.triu(matrix, 1).T + sparse.tril(matrix, -1).T
    whole = ncut.cluster(matrix, K)
    assert found.objective >= 0.995 * whole.objective
    again = ncut.score(matrix, labels)
    assert found.report["ncut"] == pytest.approx(again.ncut)
    assert found.report["ratio_cut"] == pytest.approx(again.ratio_cut)
    assert found.report["modularity"] == pytest.approx(again.modularity)
    assert found.report["smallest_share"] == pytest.approx(again.smallest_share) and again.smallest_share >= 0.25
    assert len(found.report["levels"]) > 1


def worker_processes():
    """The workers of this network namespace."""
    own = os.readlink("/proc/self/ns/net")
    found = []
    for process in Path("/proc").iterdir():
        try:
            title = (process / "cmdline").read_bytes()
            if title.startswith(b"ray::Worker") and os.readlink(process / "ns" / "net") == own:
                found.append(int(process.name))
        except OSError:
            continue
    return sorted(found)


@pytest.mark.parametrize("phase", ["reading", "coarsening", "solving", "refining"])
def test_a_killed_worker_changes_nothing(found, edges, tmp_path, phase):
    killed = []

    def kill_once(step):
        if step.phase == phase and not killed:
            killed.append(worker_processes()[0])
            os.kill(killed[0], signal.SIGKILL)

    again = distributed.cluster(edges, K, storage=tmp_path / "state", on_progress=kill_once, **SMALL)
    assert killed and again.report["n_faults"] >= 1
    assert again.labels.equals(found.labels)


def test_a_run_goes_on_after_the_death_of_the_driver(cluster, found, edges, tmp_path):
    command = [sys.executable, "-m", "ncut.distributed", str(edges), "-k", str(K), "-o", str(tmp_path / "out")]
    command += ["--address", cluster.address, "--shards", "3", "--fit-entries", str(SMALL["fit_entries"])]
    driver = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    for line in driver.stderr:
        if "refining" in line:
            driver.kill()
            break
    driver.wait()
    driver.stderr.close()
    assert not list((tmp_path / "out").glob("labels-*"))
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert "reading" not in ended.stderr
    parts = [pq.read_table(path) for path in sorted((tmp_path / "out").glob("labels-*"))]
    assert pa.concat_tables(parts).equals(found.labels)
    # Done is done: the same call again only says so, and one with other settings is refused.
    assert subprocess.run(command, capture_output=True).returncode == 0
    other = subprocess.run([*command, "--min-share", "0"], capture_output=True, text=True)
    assert other.returncode == 1 and "other settings" in other.stderr


def test_ctrl_c_leaves_a_state_to_go_on_from(cluster, found, edges, tmp_path):
    command = [sys.executable, "-m", "ncut.distributed", str(edges), "-k", str(K), "-o", str(tmp_path)]
    command += ["--address", cluster.address, "--shards", "3", "--fit-entries", str(SMALL["fit_entries"])]
    driver = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    said = []
    for line in driver.stderr:
        said.append(line)
        if "coarsening" in line:
            driver.send_signal(signal.SIGINT)
            break
    said += driver.stderr.readlines()
    driver.stderr.close()
    assert driver.wait() == 130 and "the same call goes on" in said[-1]
    ended = subprocess.run([*command, "--quiet"], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    parts = [pq.read_table(path) for path in sorted(tmp_path.glob("labels-*"))]
    assert pa.concat_tables(parts).equals(found.labels)


def test_words_in_text_are_ids_as_well_as_numbers(cluster, tmp_path):
    source, target = planted(3_000, 5, 30_000, seed=3)
    half = len(source) // 2
    for name, rows, separator in [("a.csv", slice(0, half), ","), ("b.txt", slice(half, None), " ")]:
        lines = [f"n{one}{separator}n{other}" for one, other in zip(source[rows], target[rows], strict=True)]
        header = "source,target" if separator == "," else "# a comment"
        (tmp_path / name).write_text("\n".join([header, *lines]) + "\n")
    result = distributed.cluster([tmp_path / "a.csv", tmp_path / "b.txt"], 5, n_shards=2, fit_entries=10_000)
    labels = dict(zip(*(column.to_pylist() for column in result.labels.columns), strict=True))
    assert len(labels) == len(np.unique(np.append(source, target))) and set(labels.values()) == set(range(5))
    values = np.array([labels.get(f"n{node}", 0) for node in range(3_000)])
    assert scored(source, target, np.ones(len(source)), values, 5) == pytest.approx(result.objective, abs=1e-9)
    (tmp_path / "b.txt").write_text("n1 n2\nn1 n2 n3 n4\n")
    with pytest.raises(ValueError, match=r"b\.txt: line 2"):
        distributed.cluster([tmp_path / "a.csv", tmp_path / "b.txt"], 5, n_shards=2)


@pytest.mark.parametrize("objective", ["ratio_cut", "modularity"])
def test_other_objectives(cluster, edges, objective):
    result = distributed.cluster(edges, K, objective=objective, **SMALL)
    assert len(set(result.labels.column("label").to_pylist())) == K
    assert result.report["n_disconnected_clusters"] == 0
    expected = {"ratio_cut": -result.report["ratio_cut"]}.get(objective)
    if expected is not None:
        assert result.objective == pytest.approx(expected)
    else:
        assert result.report["modularity"] > 0.5


def test_a_full_disk_is_an_error_and_the_run_goes_on_elsewhere(cluster, found, edges, tmp_path):
    folder = tmp_path / "small"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder], check=True)
    mounted = Path(folder)
    # The workers were started by nodes that see the mount, too: all are in one mount namespace.
    with pytest.raises(OSError, match="storage is full"):
        distributed.cluster(edges, K, storage=mounted, **SMALL)
    subprocess.run(["mount", "-o", "remount,size=64m", folder], check=True)
    again = distributed.cluster(edges, K, storage=mounted, **SMALL)
    assert again.labels.equals(found.labels)
    assert not [path for path in mounted.rglob(".*") if path.is_file()]
    del again
    time.sleep(0.1)
    subprocess.run(["umount", "-l", folder], check=True)


def test_a_removed_node_changes_nothing(cluster, found, edges, tmp_path):
    removed = []

    def remove_once(step):
        if step.phase == "refining" and not removed:
            # Any but the head, without which there is no cluster.
            removed.append(cluster.list_all_nodes()[-1])
            cluster.remove_node(removed[0], allow_graceful=False)

    again = distributed.cluster(edges, K, storage=tmp_path / "state", on_progress=remove_once, **SMALL)
    assert removed
    assert again.labels.equals(found.labels)
