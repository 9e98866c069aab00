"""Calls of the command line `ncut`, and the files it reads and writes."""

import json
import os
import subprocess

import numpy as np
import scipy.sparse


class Ncut:
    """The program, and a folder for its files."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def file(self, name):
        return os.path.join(self.folder, name)

    def report(self, command, *arguments):
        """What a command says of its work."""
        options = ["--quiet", "--threads", "1", "--json", "-"]
        done = subprocess.run([self.program, command, *map(str, arguments), *options], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"ncut {command} failed: {done.stderr.strip()}")
        return json.loads(done.stdout)

    def compare(self, graph, k, *options):
        """All solvers by name; beside them what holds for the graph."""
        report = self.report("compare", graph, "-k", k, *options)
        return report, {row["solver"]: row for row in report["solvers"]}

    def labels(self, graph, k, *options):
        """The labels `ncut cluster` writes."""
        output = self.file("labels.npy")
        self.report("cluster", graph, "-k", k, "-o", output, *options)
        return np.load(output).astype(int)

    def n2hi(self, graph, k):
        """The labels of N2HI: preset `paper` without a sweep."""
        return self.labels(graph, k, "--preset", "paper", "--max-sweeps", 0)

    def report_of_labels(self, graph, labels, *options):
        """How good labels are, by preset `paper` started from them, without a sweep."""
        init = self.save("scored.npy", labels)
        k = labels.max() + 1
        return self.report("cluster", graph, "-k", k, "--preset", "paper", "--max-sweeps", 0, "--init", init, *options)

    def neighbor_graph(self, name, points, k, neighbors=25, affinity="self-tuning"):
        """The file of a graph of points."""
        table, graph = self.save(f"{name}.points.npy", points), self.file(f"{name}.{affinity}.npz")
        kind = ("--neighbors", neighbors, "--affinity", affinity)
        self.report("points", table, "-k", k, "--preset", "paper", "--graph-out", graph, *kind)
        return graph

    def save(self, name, array):
        path = self.file(name)
        np.save(path, array)
        return path

    def save_matrix(self, name, matrix):
        path = self.file(name)
        scipy.sparse.save_npz(path, scipy.sparse.csr_matrix(matrix))
        return path


def load_matrix(path):
    return scipy.sparse.load_npz(path).tocsr()
