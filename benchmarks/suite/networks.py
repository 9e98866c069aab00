"""Networks with known groups: how far clusters agree with them, beside Leiden, spectral clustering and METIS.

Networks are those of the folder NCUT_DATA that have labels (`graphs/*.labels.npz`), largest components, the true number of groups.
"""

import json
import os
import random
import sys
import tempfile

import numpy as np
import scipy.sparse
from contest import N_THREADS, checked, say
from scipy.sparse.csgraph import connected_components

NETWORKS = ["email-Eu-core", "planetoid_cora", "lastfm"]
N_SEEDS = 5
# Steps of the search for the resolution at which Leiden finds as many communities as asked for.
N_STEPS = 40
NCUT = {
    "ncut": [],
    "ncut, share 0": ["--min-share", "0"],
    "ncut, modularity": ["--objective", "modularity"],
    "ncut, preset paper": ["--preset", "paper"],
}


def labelled(data, name):
    """The largest component, and the classes of its nodes (-1: unknown)."""
    matrix = scipy.sparse.load_npz(os.path.join(data, "graphs", name + ".npz")).tocsr()
    truth = np.load(os.path.join(data, "graphs", name + ".labels.npz"))["y"]
    of_node = connected_components(matrix, directed=False)[1]
    kept = np.flatnonzero(of_node == np.argmax(np.bincount(of_node)))
    return matrix[kept][:, kept].tocsr(), truth[kept]


def objective(matrix, labels):
    """`sum_c A_c / D_c`, by code that knows nothing of ours."""
    degrees = np.asarray(matrix.sum(axis=1)).ravel()
    rows = np.repeat(labels, np.diff(matrix.indptr))
    is_inside = rows == labels[matrix.indices]
    inside = np.bincount(rows[is_inside], matrix.data[is_inside], minlength=labels.max() + 1)
    volume = np.bincount(labels, degrees)
    return float(sum(a / d for a, d in zip(inside, volume) if d > 0))


def by_ncut(programs, file, k, options):
    labels = file.replace(".npz", ".labels.npy")
    command = [programs.ncut, "cluster", file, "-k", str(k), *options, "--threads", str(N_THREADS), "--quiet"]
    report = json.loads(checked([*command, "--json", "-", "-o", labels]))
    return np.load(labels), report["seconds"]["solve"]


def by_leiden(matrix, k, seed):
    """igraph's Leiden at the resolution that gives k communities, or as nearly so many as a bisection finds."""
    import igraph

    upper = scipy.sparse.triu(matrix, format="coo")
    graph = igraph.Graph(n=matrix.shape[0], edges=np.column_stack([upper.row, upper.col]))
    low, high, nearest = 1e-3, 50.0, None
    for _ in range(N_STEPS):
        resolution = (low * high) ** 0.5
        random.seed(seed)
        igraph.set_random_number_generator(random)
        found = np.asarray(graph.community_leiden("modularity", resolution=resolution, n_iterations=-1).membership)
        n_found = found.max() + 1
        if nearest is None or abs(n_found - k) < abs(nearest.max() + 1 - k):
            nearest = found
        if n_found == k:
            break
        low, high = (resolution, high) if n_found < k else (low, resolution)
    return nearest


def by_spectral(matrix, k):
    from sklearn.cluster import SpectralClustering

    return SpectralClustering(k, affinity="precomputed", random_state=0, assign_labels="kmeans").fit_predict(matrix)


def by_metis(matrix, k):
    import pymetis

    adjacency = pymetis.CSRAdjacency(matrix.indptr, matrix.indices)
    return np.asarray(pymetis.part_graph(k, adjacency=adjacency)[1])


def measured(matrix, truth, labels):
    from sklearn.metrics import normalized_mutual_info_score

    known = truth >= 0
    return {
        "nmi": float(normalized_mutual_info_score(truth[known], labels[known])),
        "objective": objective(matrix, labels),
        "clusters": len(np.unique(labels)),
        "in_pieces": clusters_in_pieces(matrix, labels),
    }


def clusters_in_pieces(matrix, labels):
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    inside = labels[rows] == labels[matrix.indices]
    kept = scipy.sparse.csr_matrix((matrix.data[inside], (rows[inside], matrix.indices[inside])), matrix.shape)
    piece = connected_components(kept, directed=False)[1]
    pieces = {(label, number) for label, number in zip(labels.tolist(), piece.tolist())}
    return int((np.bincount([label for label, _ in pieces]) > 1).sum())


def run(programs, folder, is_quick):
    data = os.environ.get("NCUT_DATA")
    if not data:
        say("networks: none without the folder NCUT_DATA")
        return []
    found = []
    with tempfile.TemporaryDirectory(dir=folder) as place:
        for name in NETWORKS[:1] if is_quick else NETWORKS:
            matrix, truth = labelled(data, name)
            k = len(np.unique(truth[truth >= 0]))
            file = os.path.join(place, "graph.npz")
            scipy.sparse.save_npz(file, matrix)
            runs = {
                method: measured(matrix, truth, by_ncut(programs, file, k, options)[0])
                for method, options in NCUT.items()
            }
            leiden = [measured(matrix, truth, by_leiden(matrix, k, seed)) for seed in range(N_SEEDS)]
            runs["Leiden"] = sorted(leiden, key=lambda run: run["nmi"])[N_SEEDS // 2]
            runs["SpectralClustering"] = measured(matrix, truth, by_spectral(matrix, k))
            runs["METIS"] = measured(matrix, truth, by_metis(matrix, k))
            found.append({"name": name, "nodes": matrix.shape[0], "k": k, "runs": runs})
            say(f"{name}: " + ", ".join(f"{method} {run['nmi']:.3f}" for method, run in runs.items()))
    return found


def page(measured_section):
    """The page as text."""
    found = measured_section["found"]
    methods = list(found[0]["runs"]) if found else []
    lines = [
        "# Networks with known groups",
        "",
        "Largest components, as many clusters as there are groups: NMI (arithmetic) with the groups, the N-Cut objective, and",
        "how many clusters are not connected. Leiden is igraph's, its resolution sought so that it finds as many",
        f"communities (in brackets where it does not), median of {N_SEEDS} seeds by NMI; the others are run once.",
        "`NCUT_DATA=FOLDER benchmarks/run --only networks` makes this page.",
        "",
        "| network | k | " + " | ".join(methods) + " |",
        "| --- | --- | " + " | ".join("---" for _ in methods) + " |",
    ]
    for row in found:
        cells = []
        for run in row["runs"].values():
            count = "" if run["clusters"] == row["k"] else f" ({run['clusters']} clusters)"
            pieces = f", {run['in_pieces']} in pieces" if run["in_pieces"] else ""
            cells.append(f"{run['nmi']:.3f}, {run['objective']:.3f}{pieces}{count}")
        lines.append(f"| {row['name']} | {row['k']} | " + " | ".join(cells) + " |")
    if found:
        means = [sum(row["runs"][method]["nmi"] for row in found) / len(found) for method in methods]
        lines.append("| mean NMI | | " + " | ".join(f"{mean:.3f}" for mean in means) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit("run benchmarks/run --only networks")
