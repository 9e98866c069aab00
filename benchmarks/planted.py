"""A planted partition, found by ncut, igraph's Leiden and METIS.

20 edges a node, 30 % of them random, sizes of the clusters by Pareto(1.5), none under 0.3 of the mean. The objective
`sum_c A_c / D_c` is computed here, for all alike. ncut's time is that of solving, by its own report; the peers' that of
the call. Leiden chooses the number of clusters itself.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

import igraph
import numpy as np
import pymetis
import scipy.sparse


def objective(matrix, labels):
    """`sum_c A_c / D_c`."""
    rows = np.repeat(labels, np.diff(matrix.indptr))
    inside = rows == labels[matrix.indices]
    association = np.bincount(rows[inside], matrix.data[inside], labels.max() + 1)
    volume = np.bincount(rows, matrix.data, labels.max() + 1)
    return float((association[volume > 0] / volume[volume > 0]).sum())


def ncut(program, graph, n_clusters, folder, *options):
    """Labels and seconds of a run of the command line."""
    labels = os.path.join(folder, "found.npy")
    command = [program, "cluster", graph, "-k", str(n_clusters), "-q", "-o", labels, "--json", "-", *options]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return np.load(labels), report["seconds"]["solve"]


def leiden(matrix):
    """Labels and seconds of igraph's Leiden, by modularity."""
    upper = scipy.sparse.triu(matrix, format="coo")
    graph = igraph.Graph(n=matrix.shape[0], edges=np.column_stack([upper.row, upper.col]))
    started = time.perf_counter()
    found = graph.community_leiden(objective_function="modularity", n_iterations=2)
    return np.array(found.membership), time.perf_counter() - started


def metis(matrix, n_clusters):
    """Labels and seconds of METIS."""
    started = time.perf_counter()
    _, found = pymetis.part_graph(n_clusters, xadj=matrix.indptr, adjncy=matrix.indices)
    return np.array(found), time.perf_counter() - started


def main(programs, n_nodes, n_clusters):
    with tempfile.TemporaryDirectory() as folder:
        graph, truth = os.path.join(folder, "planted.npz"), os.path.join(folder, "planted.npy")
        planted = os.path.join(programs, "examples", "planted")
        subprocess.run([planted, n_nodes, n_clusters, "1", graph, truth], check=True)
        matrix, planted_labels = scipy.sparse.load_npz(graph).tocsr(), np.load(truth)
        k, program = int(n_clusters), os.path.join(programs, "ncut")
        print(f"{matrix.shape[0]} nodes, {matrix.nnz // 2} edges, {k} planted clusters; {os.cpu_count()} cores\n")
        print("| method | clusters | objective | seconds | times `default` |")
        print("| --- | --- | --- | --- | --- |")
        print(f"| planted labels | {k} | {objective(matrix, planted_labels):.3f} | | |")
        runs = {
            "ncut default": lambda: ncut(program, graph, k, folder),
            "ncut default, share 0": lambda: ncut(program, graph, k, folder, "--min-share", "0"),
            "ncut fast": lambda: ncut(program, graph, k, folder, "--preset", "fast"),
            "ncut paper": lambda: ncut(program, graph, k, folder, "--preset", "paper"),
            "igraph Leiden": lambda: leiden(matrix),
            "METIS": lambda: metis(matrix, k),
        }
        yardstick = None
        for name, run in runs.items():
            labels, seconds = run()
            yardstick = yardstick or seconds
            n_found, value = len(np.unique(labels)), objective(matrix, labels)
            print(f"| {name} | {n_found} | {value:.3f} | {seconds:.1f} | {seconds / yardstick:.2f} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
