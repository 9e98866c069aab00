"""How many clusters: `-k auto` beside the paper's gap and the number of Leiden's communities on the same graphs.

Points are scikit-learn's data and generators, and the sets of the folder NCUT_DATA (its `features/*.npz`) if it is set; their
graphs are those of `ncut points`. Networks are planted, random, or of NCUT_DATA (largest components).
"""

import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time

import numpy as np
import scipy.sparse
from communities import largest_component
from contest import N_THREADS, checked, say

# Sets of grey values, which are divided by 255.
PICTURES = {"umist", "mnist10_like", "msra25"}
FEATURES = ["segment", "umist", "mnist10_like", "msra25", "waveform21_5000", "german", "keel_letter"]
NETWORKS = ["lastfm", "planetoid_cora", "email-Eu-core"]


def standardized(table):
    return (table - table.mean(axis=0)) / table.std(axis=0)


def generated():
    """Names, tables and true numbers of clusters."""
    from sklearn import datasets

    draw = np.random.default_rng
    yield "digits", datasets.load_digits().data, 10
    yield "wine, standardized", standardized(datasets.load_wine().data), 3
    yield "iris", datasets.load_iris().data, 3
    yield "breast cancer, standardized", standardized(datasets.load_breast_cancer().data), 2
    yield "moons", datasets.make_moons(1000, noise=0.05, random_state=0)[0], 2
    yield "moons, more noise", datasets.make_moons(1000, noise=0.1, random_state=1)[0], 2
    yield "circles", datasets.make_circles(1000, noise=0.05, factor=0.5, random_state=0)[0], 2
    yield "blobs, 3 in the plane", datasets.make_blobs(600, 2, centers=3, random_state=10)[0], 3
    yield "blobs, 8 in 5 dimensions", datasets.make_blobs(2000, 5, centers=8, cluster_std=2.0, random_state=3)[0], 8
    yield "blobs, 30 in 10 dimensions", datasets.make_blobs(3000, 10, centers=30, random_state=7)[0], 30
    yield "one Gaussian, 2 dimensions", draw(0).normal(size=(1000, 2)), 1
    yield "one Gaussian, 10 dimensions", draw(1).normal(size=(1000, 10)), 1
    yield "square", draw(2).uniform(size=(1000, 2)), 1
    yield "cube", draw(3).uniform(size=(3000, 3)), 1
    yield "strip, 30 times as long", draw(4).uniform(size=(1000, 2)) * [30, 1], 1
    yield "swiss roll", datasets.make_swiss_roll(1500, random_state=0)[0], 1


def stored(data):
    for name in FEATURES:
        path = os.path.join(data, "features", name + ".npz")
        if os.path.exists(path):
            found = np.load(path)
            table = found["X"].astype(float)
            yield name, table / 255 if name in PICTURES else table, len(np.unique(found["y"]))


def networks(programs, place, is_quick, data):
    """Names, matrices and true numbers of clusters."""
    sizes = [(1500, 15), (3000, 60), (10_000, 200)]
    for n_nodes, k in sizes[:1] if is_quick else sizes:
        file = os.path.join(place, "planted.npz")
        arguments = [n_nodes, k, 1, file, os.path.join(place, "truth.npy")]
        subprocess.run([programs.planted, *map(str, arguments)], check=True)
        yield f"planted, {k}", scipy.sparse.load_npz(file).tocsr(), k
    draw = np.random.default_rng(5)
    ends = draw.integers(0, 2000, (2, 10_000))
    ends = ends[:, ends[0] != ends[1]]
    edges = scipy.sparse.coo_matrix((np.ones(ends.shape[1]), tuple(ends)), (2000, 2000)).tocsr()
    matrix = edges + edges.T
    matrix.data[:] = 1
    yield "random graph", largest_component(matrix), 1
    for name in NETWORKS if data and not is_quick else []:
        path = os.path.join(data, "graphs", name + ".npz")
        if os.path.exists(path):
            labels = np.load(path.replace(".npz", ".labels.npz"))["y"]
            yield name, largest_component(scipy.sparse.load_npz(path).tocsr()), len(np.unique(labels[labels >= 0]))


def by_ncut(programs, file, rule):
    command = [programs.ncut, "cluster", file, "-k", "auto", "--rule", rule, "--threads", str(N_THREADS)]
    started = time.perf_counter()
    report = json.loads(checked([*command, "--quiet", "--json", "-"]))
    return report["n_clusters"], time.perf_counter() - started


def by_leiden(matrix):
    import igraph

    upper = scipy.sparse.triu(matrix, 1, format="coo")
    graph = igraph.Graph(n=matrix.shape[0], edges=np.column_stack([upper.row, upper.col]))
    random.seed(0)
    igraph.set_random_number_generator(random)
    parts = graph.community_leiden("modularity", weights=upper.data.tolist(), n_iterations=-1)
    return len(parts)


def graphs(programs, place, is_quick):
    data = os.environ.get("NCUT_DATA")
    tables = list(generated())[:: 4 if is_quick else 1] + (list(stored(data)) if data and not is_quick else [])
    for name, table, k in tables:
        points, file = os.path.join(place, "points.npy"), os.path.join(place, "graph.npz")
        np.save(points, np.ascontiguousarray(table, dtype=float))
        checked([programs.ncut, "points", points, "-k", "2", "--preset", "fast", "--graph-out", file, "--quiet"])
        yield name, scipy.sparse.load_npz(file).tocsr(), k
    yield from networks(programs, place, is_quick, data)


def run(programs, folder, is_quick):
    found = []
    with tempfile.TemporaryDirectory(dir=folder) as place:
        for name, matrix, k in graphs(programs, place, is_quick):
            file = os.path.join(place, "asked.npz")
            scipy.sparse.save_npz(file, matrix, compressed=False)
            boundaries, seconds = by_ncut(programs, file, "boundaries")
            counts = {"boundaries": boundaries, "gap": by_ncut(programs, file, "gap")[0], "leiden": by_leiden(matrix)}
            found.append({"name": name, "nodes": matrix.shape[0], "true": k, "seconds": seconds, **counts})
            say(f"{name}: {k} clusters, found {counts}")
    return found


def page(measured_section):
    """The page as text."""
    found = measured_section["found"]
    lines = [
        "# How many clusters",
        "",
        "The number of clusters that `-k auto` finds by its rule of boundaries and by the paper's gap (`--rule gap`), and",
        "the number of Leiden's communities (igraph, modularity, resolution 1) on the same graph. The seconds are those",
        "of `ncut cluster -k auto`, clustering included. `benchmarks/run --only choose` makes this page.",
        f"Free cores while it was made: {measured_section['free_cores']:.1f}.",
        "",
        "| data | nodes | true | boundaries | gap | Leiden | seconds |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in found:
        cells = [row[key] for key in ("name", "nodes", "true", "boundaries", "gap", "leiden")]
        lines.append("| " + " | ".join(map(str, cells)) + f" | {row['seconds']:.1f} |")
    mean = {
        rule: np.mean([abs(math.log2(row[rule] / row["true"])) for row in found])
        for rule in ("boundaries", "gap", "leiden")
    }
    lines += [
        "",
        f"Mean of `|log2(found / true)|`: boundaries {mean['boundaries']:.2f}, gap {mean['gap']:.2f}, Leiden {mean['leiden']:.2f}.",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit("run benchmarks/run --only choose")
