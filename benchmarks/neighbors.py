"""Search for 25 neighbours: ncut beside scikit-learn, faiss, pynndescent and hnswlib, with equal threads.

ncut is timed by its own report: `seconds.build` of `ncut points`, which includes weighing the edges and building the
graph. The others only search. Every recall is measured against ncut's exact search on the same points, through the
graph it writes; that search is checked against scikit-learn's first.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

THREADS = min(2, os.cpu_count() or 1)
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[name] = str(THREADS)

import numpy as np  # noqa: E402  the thread counts must be set before it is loaded

NEIGHBORS = 25


def interpolated(points, classes, count, seed):
    """`count` points between two of the same class, with noise."""
    random = np.random.default_rng(seed)
    wanted = random.integers(0, classes.max() + 1, count)
    made = np.empty((count, points.shape[1]), np.float32)
    for label in range(classes.max() + 1):
        of_class = np.flatnonzero(classes == label)
        rows = np.flatnonzero(wanted == label)
        share = random.uniform(0, 0.5, (len(rows), 1))
        first, second = (points[random.choice(of_class, len(rows))] for _ in range(2))
        noise = random.normal(0, 8 / 255, (len(rows), points.shape[1]))
        made[rows] = (1 - share) * first + share * second + noise
    return made


def ncut(binary, points, method, folder):
    """Seconds and the graph of an `ncut points` run."""
    import scipy.sparse

    table, graph = os.path.join(folder, "points.npy"), os.path.join(folder, "graph.npz")
    np.save(table, points)
    command = [binary, "points", table, "-k", "2", "--affinity", "knn", "--max-sweeps", "0", "--quiet", "--json", "-"]
    command += ["--search", method, "--graph-out", graph, "--threads", str(THREADS)]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return report["seconds"]["build"], scipy.sparse.load_npz(graph)


def scikit_learn(points):
    from sklearn.neighbors import NearestNeighbors

    search = NearestNeighbors(n_neighbors=NEIGHBORS, algorithm="brute", n_jobs=THREADS)
    return search.fit(points).kneighbors(return_distance=False)


def faiss_flat(points):
    import faiss

    faiss.omp_set_num_threads(THREADS)
    index = faiss.IndexFlatL2(points.shape[1])
    index.add(points)
    return index.search(points, NEIGHBORS + 1)[1]


def pynndescent(points):
    import pynndescent

    search = pynndescent.NNDescent(points, n_neighbors=NEIGHBORS + 1, n_jobs=THREADS, random_state=0)
    return search.neighbor_graph[0]


def hnsw(points):
    import hnswlib

    index = hnswlib.Index("l2", points.shape[1])
    index.init_index(len(points), ef_construction=100, M=16, random_seed=0)
    index.set_ef(80)
    index.set_num_threads(THREADS)
    index.add_items(points)
    return index.knn_query(points, NEIGHBORS + 1)[0]


def without_own(found):
    """The first 25 of each row that are not the row itself."""
    own = np.arange(len(found))[:, None]
    kept = np.where(found == own, -1, found)
    return [row[row >= 0][:NEIGHBORS] for row in kept]


def edges(found):
    """The pairs of a search, linked when either end wants it."""
    import scipy.sparse

    rows = np.repeat(np.arange(len(found)), [len(row) for row in found])
    columns = np.concatenate(found)
    matrix = scipy.sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(found),) * 2)
    return matrix.maximum(matrix.T)


def shared(graph, truth):
    """Share of the true edges that are there."""
    return (graph > 0).multiply(truth > 0).nnz / truth.nnz


def timed(search, points):
    started = time.perf_counter()
    found = search(points)
    seconds = time.perf_counter() - started
    return seconds, edges(without_own(np.asarray(found).astype(np.int64)))


def main():
    data, binary = sys.argv[1:3]
    archive = np.load(os.path.join(data, "features", "mnist10_like.npz"))
    digits, classes = (archive["X"] / 255).astype(np.float32), archive["y"].astype(int)
    pynndescent(digits[:2000])  # compiled on first use

    print(f"25 neighbours, {THREADS} threads; `against ncut` compares with its search of the same kind\n")
    print("| points | method | seconds | against ncut | recall |")
    print("| --- | --- | --- | --- | --- |")
    for count in (len(digits), 20_000, 70_000):
        points = digits if count == len(digits) else interpolated(digits, classes, count, 0)
        with tempfile.TemporaryDirectory() as folder:
            exact, truth = ncut(binary, points, "exact", folder)
            approximate, approximate_graph = ncut(binary, points, "approximate", folder)
        rows = [("ncut exact", exact, truth), ("ncut approximate", approximate, approximate_graph)]
        if count <= 20_000:
            rows += [(f"{name}, exact", *timed(search, points)) for name, search in
                     [("scikit-learn", scikit_learn), ("faiss", faiss_flat)]]
        rows += [(name, *timed(search, points)) for name, search in [("pynndescent", pynndescent), ("hnswlib", hnsw)]]
        for name, seconds, graph in rows:
            base = exact if "exact" in name else approximate
            print(f"| {count} x {points.shape[1]} | {name} | {seconds:.2f} | {seconds / base:.2f}x | "
                  f"{shared(graph, truth):.4f} |", flush=True)


if __name__ == "__main__":
    main()
