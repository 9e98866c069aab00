"""Whether every cluster is connected: graphs of many kinds and sizes, presets, shares and objectives, by code of its own."""

import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import scipy.sparse
from contest import N_THREADS, checked, say
from networks import clusters_in_pieces

SIZES = [1_000, 10_000, 100_000, 1_000_000]
K = 20
# Preset `best` works as long as it may.
BEST_SECONDS = 10
WAYS = {
    "fast": ["--preset", "fast"],
    "default": ["--preset", "default"],
    "default, share 0": ["--preset", "default", "--min-share", "0"],
    "best": ["--preset", "best", "--time-limit", str(BEST_SECONDS)],
    "ratio-cut": ["--objective", "ratio-cut"],
    "modularity": ["--objective", "modularity"],
}


def symmetric(ends, others, n_nodes):
    rows, columns = np.concatenate([ends, others]), np.concatenate([others, ends])
    matrix = scipy.sparse.csr_matrix((np.ones(len(rows), dtype=np.float32), (rows, columns)), (n_nodes, n_nodes))
    matrix.data[:] = 1
    matrix.setdiag(0)
    matrix.eliminate_zeros()
    return matrix


def delaunay(n_nodes, random):
    from scipy.spatial import Delaunay

    corners = Delaunay(random.uniform(size=(n_nodes, 2))).simplices
    return symmetric(corners.ravel(), np.roll(corners, 1, axis=1).ravel(), n_nodes)


def barabasi_albert(n_nodes, random):
    """Four links a node, to ends of earlier links."""
    n_links = 4
    targets = np.empty(n_nodes * n_links, dtype=np.int64)
    ends = np.empty(2 * n_nodes * n_links, dtype=np.int64)
    filled = 0
    for node in range(n_nodes):
        first, last = node * n_links, (node + 1) * n_links
        chosen = ends[random.integers(0, filled, n_links)] if filled else np.zeros(n_links, dtype=np.int64)
        targets[first:last] = chosen
        ends[filled : filled + n_links] = chosen
        ends[filled + n_links : filled + 2 * n_links] = node
        filled += 2 * n_links
    return symmetric(np.repeat(np.arange(n_nodes), n_links), targets, n_nodes)


def grid(n_nodes, random):
    side = int(n_nodes**0.5)
    numbers = np.arange(side * side).reshape(side, side)
    ends = np.concatenate([numbers[:, :-1].ravel(), numbers[:-1].ravel()])
    others = np.concatenate([numbers[:, 1:].ravel(), numbers[1:].ravel()])
    return symmetric(ends, others, side * side)


def neighbors(n_nodes, random):
    """Ten nearest neighbours of points in space, linked by a path of all so that the graph is connected."""
    from scipy.spatial import cKDTree

    points = random.normal(size=(n_nodes, 3))
    near = cKDTree(points).query(points, 11, workers=N_THREADS)[1][:, 1:]
    by_place = np.argsort(points[:, 0])
    ends = np.concatenate([np.repeat(np.arange(n_nodes), 10), by_place[:-1]])
    return symmetric(ends, np.concatenate([near.ravel(), by_place[1:]]), n_nodes)


def planted(programs, place, n_nodes):
    file = os.path.join(place, "planted.npz")
    arguments = [n_nodes, K, 1, file, os.path.join(place, "truth.npy")]
    subprocess.run([programs.planted, *map(str, arguments)], check=True)
    return scipy.sparse.load_npz(file).tocsr()


def graphs(programs, place, sizes):
    for n_nodes in sizes:
        random = np.random.default_rng(n_nodes)
        yield "delaunay", delaunay(n_nodes, random)
        yield "planted", planted(programs, place, n_nodes)
        yield "Barabasi-Albert", barabasi_albert(n_nodes, random)
        yield "grid", grid(n_nodes, random)
        yield "neighbours", neighbors(n_nodes, random)


def run(programs, folder, is_quick):
    found = []
    with tempfile.TemporaryDirectory(dir=folder) as place:
        file, labels = os.path.join(place, "graph.npz"), os.path.join(place, "labels.npy")
        for name, matrix in graphs(programs, place, SIZES[:1] if is_quick else SIZES):
            scipy.sparse.save_npz(file, matrix, compressed=False)
            runs = {}
            for way, options in WAYS.items():
                command = [programs.ncut, "cluster", file, "-k", str(K), *options, "--threads", str(N_THREADS)]
                report = json.loads(checked([*command, "--quiet", "--json", "-", "-o", labels]))
                runs[way] = {
                    "in_pieces": clusters_in_pieces(matrix, np.load(labels)),
                    "reported": report["n_disconnected_clusters"],
                    "smallest_share": report["smallest_share"],
                    "seconds": report["seconds"]["solve"],
                }
            found.append({"name": name, "nodes": matrix.shape[0], "edges": int(matrix.nnz // 2), "runs": runs})
            say(f"{name}, {matrix.shape[0]} nodes: {[run['in_pieces'] for run in runs.values()]}")
    return found


def page(measured_section):
    """The page as text."""
    found = measured_section["found"]
    ways = list(WAYS)
    lines = [
        "# Connected clusters",
        "",
        f"How many of {K} clusters are not connected, counted by scipy; in brackets the share of the smallest and the seconds.",
        f"Preset `best` has {BEST_SECONDS} seconds. `benchmarks/run --only connected` makes this page.",
        "",
        "| graph | nodes | edges | " + " | ".join(ways) + " |",
        "| --- | --- | --- | " + " | ".join("---" for _ in ways) + " |",
    ]
    for row in found:
        cells = [
            f"{run['in_pieces']} ({run['smallest_share']:.2f}, {run['seconds']:.1f} s)" for run in row["runs"].values()
        ]
        lines.append(f"| {row['name']} | {row['nodes']} | {row['edges']} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit("run benchmarks/run --only connected")
