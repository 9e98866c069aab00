"""Communities beside Leiden: modularity at three resolutions, time, and how many communities are connected.

Networks come from the folder NCUT_DATA (its `graphs/*.npz`, largest components) if it is set; planted graphs are made.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time

import numpy as np
import scipy.sparse
from contest import N_THREADS, checked, say
from scipy.sparse.csgraph import connected_components

NETWORKS = ["email-Eu-core", "planetoid_cora", "lastfm", "ego_facebook", "PGPgiantcompo", "hep-th"]
RESOLUTIONS = [0.5, 1.0, 2.0]
N_SEEDS = 5
# igraph takes a minute a run beyond.
MOST_SEEDED_EDGES = 1_000_000


def largest_component(matrix):
    of_node = connected_components(matrix, directed=False)[1]
    kept = np.flatnonzero(of_node == np.argmax(np.bincount(of_node)))
    return matrix[kept][:, kept].tocsr()


def modularity(matrix, labels, resolution):
    """`sum_c A_c / W - g (D_c / W)^2`, by code that knows nothing of ours."""
    degrees = np.asarray(matrix.sum(axis=1)).ravel()
    rows = np.repeat(labels, np.diff(matrix.indptr))
    inside = rows == labels[matrix.indices]
    volume = np.bincount(labels, degrees)
    total = degrees.sum()
    return float(matrix.data[inside].sum() / total - resolution * ((volume / total) ** 2).sum())


def in_pieces(matrix, labels):
    """Communities that are not connected."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    inside = labels[rows] == labels[matrix.indices]
    kept = scipy.sparse.csr_matrix((matrix.data[inside], (rows[inside], matrix.indices[inside])), matrix.shape)
    return connected_components(kept, directed=False)[0] - len(np.unique(labels))


def by_ncut(programs, file, resolution, preset):
    labels = file.replace(".npz", ".labels.npy")
    options = ["--objective", "modularity", "--resolution", str(resolution), "--preset", preset]
    command = [programs.ncut, "cluster", file, *options, "--threads", str(N_THREADS), "--quiet", "--json", "-"]
    report = json.loads(checked([*command, "-o", labels]))
    return np.load(labels), report["seconds"]["solve"]


def by_igraph(matrix, resolution, seeds):
    """The best of some seeds, and the seconds of one run."""
    import igraph

    upper = scipy.sparse.triu(matrix, format="coo")
    graph = igraph.Graph(n=matrix.shape[0], edges=np.column_stack([upper.row, upper.col]))
    found, started = [], time.perf_counter()
    for seed in seeds:
        random.seed(seed)
        igraph.set_random_number_generator(random)
        parts = graph.community_leiden("modularity", resolution=resolution, n_iterations=-1)
        labels = np.asarray(parts.membership)
        found.append((modularity(matrix, labels, resolution), labels))
    seconds = (time.perf_counter() - started) / len(seeds)
    return max(found, key=lambda pair: pair[0])[1], seconds


def by_networkit(matrix, resolution):
    import networkit

    networkit.setNumberOfThreads(N_THREADS)
    networkit.setSeed(1, False)
    upper = scipy.sparse.triu(matrix, format="coo")
    ends = (upper.row.astype(np.uint64), upper.col.astype(np.uint64))
    graph = networkit.GraphFromCoo(ends, n=matrix.shape[0])
    started = time.perf_counter()
    parts = networkit.community.ParallelLeiden(graph, gamma=resolution).run().getPartition()
    seconds = time.perf_counter() - started
    return np.asarray(parts.getVector()), seconds


def graphs(programs, place, is_quick, largest):
    """Names and matrices."""
    data = os.environ.get("NCUT_DATA")
    if data:
        for name in NETWORKS[:2] if is_quick else NETWORKS:
            path = os.path.join(data, "graphs", name + ".npz")
            if os.path.exists(path):
                yield name, largest_component(scipy.sparse.load_npz(path).tocsr())
    sizes = [(2000, 20)] if is_quick else [(20_000, 100), (100_000, 100), (1_000_000, 1000)]
    for n_nodes, k in sizes:
        if n_nodes * 10 <= largest or is_quick:
            file = os.path.join(place, "planted.npz")
            arguments = [n_nodes, k, 1, file, os.path.join(place, "truth.npy")]
            subprocess.run([programs.planted, *map(str, arguments)], check=True)
            yield f"planted, {n_nodes} nodes, {k} clusters", scipy.sparse.load_npz(file).tocsr()


def run(programs, folder, is_quick, largest):
    found = []
    with tempfile.TemporaryDirectory(dir=folder) as place:
        for name, matrix in graphs(programs, place, is_quick, largest):
            file = os.path.join(place, "graph.npz")
            scipy.sparse.save_npz(file, matrix, compressed=False)
            is_small = matrix.nnz // 2 <= MOST_SEEDED_EDGES
            for resolution in RESOLUTIONS if is_small else [1.0]:
                seeds = range(N_SEEDS if is_small else 1)
                runs = {
                    "ncut fast": by_ncut(programs, file, resolution, "fast"),
                    "ncut default": by_ncut(programs, file, resolution, "default"),
                    "igraph Leiden": by_igraph(matrix, resolution, seeds),
                    "networkit ParallelLeiden": by_networkit(matrix, resolution),
                }
                row = {"name": name, "nodes": matrix.shape[0], "edges": int(matrix.nnz // 2), "resolution": resolution}
                row["runs"] = {
                    method: {
                        "modularity": modularity(matrix, labels, resolution),
                        "communities": len(np.unique(labels)),
                        "in_pieces": in_pieces(matrix, labels),
                        "seconds": seconds,
                    }
                    for method, (labels, seconds) in runs.items()
                }
                found.append(row)
                best = {method: f"{run['modularity']:.6f}" for method, run in row["runs"].items()}
                say(f"{name}, resolution {resolution}: {best}")
    return found


def page(measured_section):
    """The page as text."""
    found = measured_section["found"]
    methods = list(found[0]["runs"]) if found else []
    lines = [
        "# Communities",
        "",
        f"Modularity at a resolution, in brackets the communities and the seconds; igraph is the best of {N_SEEDS}",
        "seeds (`n_iterations=-1`, seconds of one) up to a million edges, of one beyond. Communities in pieces are told",
        "where there are any. `benchmarks/run --only communities` makes this page.",
        f"Free cores while it was made: {measured_section['free_cores']:.1f}.",
        "",
        "| graph | edges | resolution | " + " | ".join(methods) + " |",
        "| --- | --- | --- | " + " | ".join("---" for _ in methods) + " |",
    ]
    for row in found:
        cells = []
        for method in methods:
            run = row["runs"][method]
            pieces = f", {run['in_pieces']} more pieces" if run["in_pieces"] else ""
            cells.append(f"{run['modularity']:.6f} ({run['communities']}, {run['seconds']:.2f} s{pieces})")
        lines.append(f"| {row['name']} | {row['edges']} | {row['resolution']} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit("run benchmarks/run --only communities")
