"""The regimes: graphs of every kind, size and noise, each solved by all presets beside METIS, KaMinPar and the planted
labels. What counts is the objective, computed here by code that knows nothing of ours; times are told beside it.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

import numpy as np
import scipy.sparse
from contest import Failed, checked, say

# What a preset has to reach of the planted objective, where METIS or a spectral start reach FOUND of it.
BARS = {"fast": 0.98, "default": 0.995, "best": 0.995}
FOUND = 0.9
# Objectives are compared up to rounding.
ROUNDING = 1e-9
BEST_SECONDS, MOST_BEST_ENTRIES = 10, 700_000


@dataclass
class Regime:
    """A graph and what is asked of it."""

    name: str
    k: int
    make: callable
    seed: int = 1


def planted(n, k, inside, degree=16, weighted=False, sizes="equal", degrees="equal", bipartite=False):
    """Clusters whose edges stay inside with the given chance; ends are drawn by the degrees that nodes are to have."""

    def make(random):
        shares = np.ones(k) if sizes == "equal" else 1 + random.pareto(1.5, k).clip(max=20)
        counts = np.maximum(2, (n * shares / shares.sum()).astype(int))
        labels = random.permutation(np.repeat(np.arange(k), counts))
        n_nodes, n_edges = len(labels), len(labels) * degree // 2
        wanted = np.ones(n_nodes) if degrees == "equal" else (1 + random.pareto(2.0, n_nodes)).clip(max=n_nodes**0.5)
        ends = Drawing(labels, wanted, k)
        is_inside = random.random(n_edges) < inside
        first = ends.anywhere(random, n_edges)
        second = np.where(is_inside, ends.in_cluster(random, labels[first]), ends.anywhere(random, n_edges))
        if bipartite:
            # Two sides in every cluster: edges go across.
            side = random.random(n_nodes) < 0.5
            keep = side[first] != side[second]
            first, second = first[keep], second[keep]
        weights = random.uniform(0.5, 1.5, len(first)) if weighted else np.ones(len(first))
        return symmetric(n_nodes, first, second, weights, weighted), labels

    return make


class Drawing:
    """Draws nodes by weight, from all or from given clusters."""

    def __init__(self, labels, wanted, k):
        self.order = np.argsort(labels, kind="stable")
        self.sums = np.cumsum(wanted[self.order])
        starts = np.searchsorted(labels[self.order], np.arange(k + 1))
        self.bounds = np.concatenate([[0.0], self.sums])[starts]

    def anywhere(self, random, count):
        return self.at(random.random(count) * self.sums[-1])

    def in_cluster(self, random, clusters):
        low, high = self.bounds[clusters], self.bounds[clusters + 1]
        return self.at(low + random.random(len(clusters)) * (high - low))

    def at(self, places):
        return self.order[np.searchsorted(self.sums, places, side="right").clip(max=len(self.sums) - 1)]


def symmetric(n_nodes, first, second, weights, weighted):
    keep = first != second
    half = scipy.sparse.coo_matrix((weights[keep], (first[keep], second[keep])), (n_nodes, n_nodes)).tocsr()
    matrix = (half + half.T).tocsr()
    if not weighted:
        matrix.data[:] = 1.0
    matrix.sort_indices()
    return matrix


def lattice(side, diagonal):
    def make(random):
        node = np.arange(side * side).reshape(side, side)
        pairs = [(node[:, :-1], node[:, 1:]), (node[:-1], node[1:])]
        if diagonal:
            pairs.append((node[:-1, :-1], node[1:, 1:]))
        first, second = (np.concatenate([pair[end].ravel() for pair in pairs]) for end in (0, 1))
        return symmetric(side * side, first, second, np.ones(len(first)), False), None

    return make


def tree(n, kind):
    """A path, a star, a binary tree, or one in which every node hangs on a random earlier one."""

    def make(random):
        child = np.arange(1, n)
        parent = {
            "path": child - 1,
            "star": np.zeros(n - 1, int),
            "binary": (child - 1) // 2,
            "random": (random.random(n - 1) * child).astype(int),
        }[kind]
        return symmetric(n, parent, child, np.ones(n - 1), False), None

    return make


def neighbors(n, k, spread):
    """The ten nearest neighbours of points around k centres."""

    def make(random):
        from sklearn.neighbors import kneighbors_graph

        labels = np.arange(n) % k
        points = random.normal(size=(k, 8))[labels] + spread * random.normal(size=(n, 8))
        graph = kneighbors_graph(points, 10, mode="connectivity").tocoo()
        return symmetric(n, graph.row, graph.col, np.ones(len(graph.row)), False), labels

    return make


def regimes(is_quick):
    """The cases of the page. With --quick small ones of every kind."""
    cases = []

    def add(name, k, make):
        cases.append(Regime(name, k, make))

    sizes = [1_000, 5_000] if is_quick else [1_000, 20_000, 100_000, 400_000]
    for n in sizes:
        for k in (2, 5, 20, 100):
            if n < 40 * k:
                continue
            for inside in (0.4, 0.5, 0.6, 0.7, 0.9):
                add(f"planted {n}, inside {inside}", k, planted(n, k, inside))
        k = 20 if n >= 800 else 5
        add(f"planted {n}, inside 0.6, weights", k, planted(n, k, 0.6, weighted=True))
        add(f"planted {n}, inside 0.6, Pareto sizes", k, planted(n, k, 0.6, sizes="pareto"))
        add(f"planted {n}, inside 0.6, power-law degrees", k, planted(n, k, 0.6, degrees="power"))
        add(f"planted {n}, inside 0.6, two sides", k, planted(n, k, 0.6, degree=32, bipartite=True))
        add(f"neighbours {n}", k, neighbors(n, k, 0.35))
        side = round(n**0.5)
        add(f"mesh {side} x {side}", k, lattice(side, True))
        add(f"grid {side} x {side}", k, lattice(side, False))
        for kind in ("path", "star", "binary", "random"):
            add(f"{kind} tree {n}", k, tree(n, kind))
    if not is_quick:
        for inside in (0.5, 0.7):
            add(f"planted 1000000, inside {inside}", 1000, planted(1_000_000, 1000, inside, degree=20))
            add(f"planted 1000000, inside {inside}", 20, planted(1_000_000, 20, inside))
    return cases


def objective(matrix, labels):
    labels = np.unique(np.asarray(labels), return_inverse=True)[1]
    k, n = labels.max() + 1, len(labels)
    volume = np.bincount(labels, np.asarray(matrix.sum(axis=1)).ravel(), k)
    member = scipy.sparse.csr_matrix((np.ones(n), (np.arange(n), labels)), (n, k))
    association = (member.T @ matrix @ member).diagonal()
    return float((association[volume > 0] / volume[volume > 0]).sum())


def solved(programs, file, regime, matrix, preset, share):
    labels_file = os.path.join(os.path.dirname(file), "labels.npy")
    command = [programs.ncut, "cluster", file, "-k", str(regime.k), "--preset", preset, "-o", labels_file]
    command += ["--quiet", "--json", "-"] + (["--min-share", "0"] if share == 0 else [])
    if preset == "best":
        command += ["--time-limit", str(BEST_SECONDS)]
    report = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    labels = np.load(labels_file)
    assert len(np.unique(labels)) == regime.k
    return objective(matrix, labels), report["seconds"]["solve"]


def peer(name, file, regime, matrix):
    labels_file = os.path.join(os.path.dirname(file), "labels.npy")
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peer.py")
    try:
        report = json.loads(checked([sys.executable, program, name, file, str(regime.k), "2", labels_file]).splitlines()[-1])
    except Failed:
        return None, None
    labels = np.load(labels_file)
    return (objective(matrix, labels), report["seconds"]) if len(np.unique(labels)) == regime.k else (None, None)


def measured(programs, folder, regime):
    """Objectives and seconds by solver, and the planted objective."""
    random = np.random.default_rng(regime.seed)
    matrix, labels = regime.make(random)
    isolated = np.diff(matrix.indptr) == 0
    if isolated.any():
        kept = np.flatnonzero(~isolated)
        matrix, labels = matrix[kept][:, kept].tocsr(), None if labels is None else labels[kept]
    facts = {"name": regime.name, "k": regime.k, "nodes": matrix.shape[0], "entries": int(matrix.nnz)}
    facts["planted"] = objective(matrix, labels) if labels is not None else None
    with tempfile.TemporaryDirectory(dir=folder) as place:
        file = os.path.join(place, "graph.npz")
        scipy.sparse.save_npz(file, matrix, compressed=False)
        runs = {}
        for preset in ("fast", "default", "best"):
            if preset == "best" and matrix.nnz > MOST_BEST_ENTRIES:
                continue
            for share in (None, 0):
                runs[preset + (", share 0" if share == 0 else "")] = solved(programs, file, regime, matrix, preset, share)
        is_unit = bool((matrix.data == 1).all())
        if is_unit and matrix.nnz > 0:
            subprocess.run([programs.ncut, "convert", "--quiet", file, file.replace(".npz", ".graph")], check=True)
            for name in ("METIS", "KaMinPar"):
                runs[name] = peer(name, file, regime, matrix)
    return facts | {"runs": runs}


def failures(found):
    """What a regime breaks, in words."""
    runs = {name: run[0] for name, run in found["runs"].items() if run[0] is not None}
    peers = {name: runs[name] for name in ("METIS", "KaMinPar") if name in runs}
    said = []
    for preset, bar in BARS.items():
        for name in (preset, preset + ", share 0"):
            if name not in runs:
                continue
            if found["planted"] and runs[name] < bar * found["planted"] and best_peer(found, peers) >= FOUND:
                said.append(f"{name}: {runs[name] / found['planted']:.4f} of the planted objective")
            said += [
                f"{name}: {runs[name]:.6f} below {peer} {value:.6f}"
                for peer, value in peers.items()
                if runs[name] < value * (1 - ROUNDING)
            ]
    for low, high in (("fast", "default"), ("default", "best")):
        for share in ("", ", share 0"):
            if high + share in runs and runs[high + share] < runs[low + share] * (1 - ROUNDING):
                said.append(f"{high}{share} below {low}{share}")
    for preset in BARS:
        if preset in runs and runs[preset + ", share 0"] < runs[preset] * (1 - ROUNDING):
            said.append(f"{preset}: share 0 below the usual share")
    return said


def best_peer(found, peers):
    """What others reach of the planted objective; our own best counts for a spectral start."""
    own = [run[0] for name, run in found["runs"].items() if name not in peers and run[0] is not None]
    return max([*peers.values(), *own]) / found["planted"]


def run(programs, folder, is_quick):
    found = []
    for regime in regimes(is_quick):
        started = time.perf_counter()
        result = measured(programs, folder, regime)
        result["failures"] = failures(result)
        found.append(result)
        said = "; ".join(result["failures"]) or "holds"
        say(f"{regime.name}, k = {regime.k}: {said} ({time.perf_counter() - started:.0f} s)")
    return found


def page(measured_section):
    """The page as text."""
    found = measured_section["found"]
    names = ["fast", "default", "best", "fast, share 0", "default, share 0", "best, share 0", "METIS", "KaMinPar"]
    lines = [
        "# Regimes",
        "",
        "Graphs of every kind, size and noise; objectives as a share of that of the planted labels, or of the best found",
        "where nothing is planted; in brackets seconds. `benchmarks/run --only regimes` makes this page.",
        "",
        f"{sum(bool(result['failures']) for result in found)} of {len(found)} graphs break a bar: `default` and `best`",
        "0.995 of the planted objective, `fast` 0.98, where anybody reaches 0.9; nobody below METIS or KaMinPar; more effort",
        "and fewer constraints never below less and more.",
        "",
        "| graph | k | planted | " + " | ".join(names) + " |",
        "| --- | --- | --- | " + " | ".join("---" for _ in names) + " |",
    ]
    for result in found:
        runs = result["runs"]
        reference = result["planted"] or max(run[0] for run in runs.values() if run[0] is not None)
        cells = []
        for name in names:
            value, seconds = runs.get(name) or (None, None)
            cells.append("" if value is None else f"{value / reference:.4f} ({seconds:.1f})")
        planted_objective = "" if result["planted"] is None else f"{result['planted']:.3f}"
        lines.append(f"| {result['name']} | {result['k']} | {planted_objective} | " + " | ".join(cells) + " |")
    broken = [f"- {result['name']}, k = {result['k']}: {said}" for result in found for said in result["failures"]]
    return "\n".join(lines + (["", "Broken:", "", *broken] if broken else [])) + "\n"
