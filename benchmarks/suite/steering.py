"""Steering: known labels, largest shares, updates, confidence, each beside what people use for it today.

Graphs are those of the folder NCUT_DATA, scikit-learn's digits, and a planted graph.
"""

import json
import os
import statistics
import sys
import tempfile

import numpy as np
import scipy.sparse
from contest import N_THREADS, checked, say
from networks import labelled, objective

N_DRAWS = 10
LABELS_A_CLASS = 20
MAX_SHARE = 1.05
# Graphs for the largest share, and numbers of clusters.
MESHES = [("4elt", 16), ("4elt", 64), ("airfoil1", 16)]
PLANTED_FOR_SHARE = (20_000, 20)
INSIDE_FOR_SHARE = 0.4
PRESETS = ["fast", "default", "best"]
# Graphs that lose edges, and numbers of clusters.
CHANGING = [("PGPgiantcompo", 50), ("ego_facebook", 20), ("4elt", 32), ("lastfm", 18)]
PLANTED_TO_CHANGE = (1_000_000, 100)
DROPPED = 0.015
N_STREAM = 20
# Sets for confidence, and the lowest area under the curve that is asked for.
SURE = {"digits": 0.64, "mnist10_like": 0.80, "lastfm": 0.65}


def planted(n_nodes, k, seed, degree=20, inside=0.8):
    """Groups of one size; each node has about so many links, this share of them inside its group."""
    random = np.random.default_rng(seed)
    n_edges = n_nodes * degree // 2
    group = random.permutation(n_nodes) % k
    members = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[members], np.arange(k + 1))
    source = random.integers(0, n_nodes, n_edges)
    own = group[source]
    size = starts[own + 1] - starts[own]
    near = members[starts[own] + (random.random(n_edges) * size).astype(int)]
    target = np.where(random.random(n_edges) < inside, near, random.integers(0, n_nodes, n_edges))
    kept = source != target
    matrix = scipy.sparse.coo_matrix((np.ones(kept.sum()), (source[kept], target[kept])), (n_nodes, n_nodes)).tocsr()
    matrix = matrix + matrix.T
    matrix.data[:] = 1.0
    return matrix, group


def call(programs, place, command, *options):
    """Labels and the report of a command."""
    labels, report = os.path.join(place, "labels.npy"), os.path.join(place, "report.json")
    options = [str(option) for option in options]
    checked([programs.ncut, command, *options, "--threads", str(N_THREADS), "--quiet", "--json", report, "-o", labels])
    with open(report) as file:
        return np.load(labels), json.load(file)


def saved(place, matrix, name="graph.npz"):
    file = os.path.join(place, name)
    scipy.sparse.save_npz(file, matrix, compressed=False)
    return file


# Known labels -----------------------------------------------------------------------------------------------


def draw_known(truth, seed):
    random = np.random.default_rng(seed)
    known = np.full(len(truth), -1)
    for label in np.unique(truth[truth >= 0]):
        members = np.flatnonzero(truth == label)
        known[random.choice(members, min(LABELS_A_CLASS, len(members) // 2), replace=False)] = label
    return known


def by_label_spreading(matrix, known):
    from sklearn.semi_supervised import LabelSpreading

    model = LabelSpreading(kernel=lambda a, b: matrix.toarray().astype(float), max_iter=1000)
    return model.fit(np.arange(len(known)).reshape(-1, 1), known).transduction_


def by_leiden(matrix, known, seed):
    import igraph
    import leidenalg

    upper = scipy.sparse.triu(matrix, format="coo")
    graph = igraph.Graph(n=matrix.shape[0], edges=np.column_stack([upper.row, upper.col]))
    k, free = known.max() + 1, known < 0
    start = known.copy()
    # Free nodes begin as communities of their own, and may only end in one of the known ones if they like.
    start[free] = k + np.arange(free.sum())
    partition = leidenalg.RBConfigurationVertexPartition(graph, initial_membership=start.tolist())
    optimiser = leidenalg.Optimiser()
    optimiser.set_rng_seed(seed)
    optimiser.optimise_partition(partition, n_iterations=-1, is_membership_fixed=(~free).tolist())
    return np.asarray(partition.membership)


def known_labels(programs, place, data, is_quick):
    try:
        matrix, truth = labelled(data, "planetoid_cora")
    except FileNotFoundError:
        return []
    k = truth.max() + 1
    file = saved(place, matrix)
    runs = {}
    for seed in range(2 if is_quick else N_DRAWS):
        known = draw_known(truth, seed)
        rest = (known < 0) & (truth >= 0)
        fixed = os.path.join(place, "known.npy")
        np.save(fixed, known)
        found = {}
        for preset in PRESETS[:2]:
            found[f"ncut {preset}"], _ = call(programs, place, "cluster", file, "-k", k, "--fix", fixed, "--preset", preset)
        for labels in found.values():
            assert (labels[known >= 0] == known[known >= 0]).all(), "a known label was changed"
        found["LabelSpreading"] = by_label_spreading(matrix, known)
        found["leidenalg, fixed membership"] = by_leiden(matrix, known, seed)
        for method, labels in found.items():
            runs.setdefault(method, []).append(float((labels[rest] == truth[rest]).mean()))
    rows = [{"method": method, "mean": statistics.mean(all), "lowest": min(all)} for method, all in runs.items()]
    say("known labels: " + ", ".join(f"{row['method']} {row['mean']:.3f}" for row in rows))
    return rows


# Largest share ----------------------------------------------------------------------------------------------


def largest_share(matrix, labels):
    volumes = np.bincount(labels, np.asarray(matrix.sum(axis=1)).ravel())
    return float(volumes.max() / volumes.mean())


def by_metis(matrix, k):
    import pymetis

    degrees = np.asarray(matrix.sum(axis=1)).ravel().astype(int)
    options = pymetis.Options(ufactor=round(1000 * (MAX_SHARE - 1)))
    adjacency = pymetis.CSRAdjacency(matrix.indptr, matrix.indices)
    return np.asarray(pymetis.part_graph(k, adjacency=adjacency, vweights=degrees, options=options, recursive=False)[1])


def by_kaminpar(matrix, k):
    import kaminpar

    degrees = np.asarray(matrix.sum(axis=1)).ravel().astype(int)
    with tempfile.NamedTemporaryFile("w", suffix=".metis") as file:
        file.write(f"{matrix.shape[0]} {matrix.nnz // 2} 10\n")
        for row in range(matrix.shape[0]):
            near = matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]] + 1
            file.write(f"{degrees[row]} {' '.join(map(str, near))}\n")
        file.flush()
        graph = kaminpar.load_graph(file.name, kaminpar.GraphFileFormat.METIS)
        kaminpar.reseed(0)
        solver = kaminpar.KaMinPar(num_threads=N_THREADS, ctx=kaminpar.context_by_name("strong"))
        return np.asarray(solver.compute_partition(graph, k, eps=MAX_SHARE - 1))


def largest_shares(programs, place, data, is_quick):
    graphs = []
    for name, k in MESHES[:1] if is_quick else MESHES:
        path = os.path.join(data or "", "graphs", name + ".npz")
        if os.path.exists(path):
            graphs.append((name, scipy.sparse.load_npz(path).tocsr(), k))
    n_nodes, k = (2_000, 5) if is_quick else PLANTED_FOR_SHARE
    graphs.append((f"planted, {n_nodes} nodes", planted(n_nodes, k, 1, inside=INSIDE_FOR_SHARE)[0], k))
    rows = []
    for name, matrix, k in graphs:
        file = saved(place, matrix)
        runs = {}
        for preset in PRESETS:
            limit = ["--time-limit", "30"] if preset == "best" else []
            labels, report = call(
                programs, place, "cluster", file, "-k", k, "--max-share", MAX_SHARE, "--preset", preset, *limit
            )
            share = largest_share(matrix, labels)
            assert share <= MAX_SHARE * (1 + 1e-8), f"{name}: a cluster has {share} times the mean"
            runs[f"ncut {preset}"] = {"objective": objective(matrix, labels), "share": share, "seconds": report["seconds"]["solve"]}
        for method, labels in {"METIS": by_metis(matrix, k), "KaMinPar": by_kaminpar(matrix, k)}.items():
            runs[method] = {"objective": objective(matrix, labels), "share": largest_share(matrix, labels)}
        rows.append({"name": name, "k": k, "runs": runs})
        say(f"largest share, {name}, k {k}: " + ", ".join(f"{m} {r['objective']:.4f} ({r['share']:.3f})" for m, r in runs.items()))
    return rows


# Updates ----------------------------------------------------------------------------------------------------


def without_edges(matrix, share, random):
    upper = scipy.sparse.triu(matrix, k=1, format="coo")
    kept = random.random(upper.nnz) >= share
    half = scipy.sparse.coo_matrix((upper.data[kept], (upper.row[kept], upper.col[kept])), matrix.shape).tocsr()
    return (half + half.T + scipy.sparse.diags(matrix.diagonal().astype(float))).tocsr()


def updates(programs, place, data, is_quick):
    graphs = []
    for name, k in CHANGING[1:2] if is_quick else CHANGING:
        path = os.path.join(data or "", "graphs", name + ".npz")
        if os.path.exists(path):
            graphs.append((name, scipy.sparse.load_npz(path).tocsr(), k))
    n_nodes, k = (20_000, 20) if is_quick else PLANTED_TO_CHANGE
    graphs.append((f"planted, {n_nodes} nodes", planted(n_nodes, k, 1)[0], k))
    rows = []
    for name, matrix, k in graphs:
        first, _ = call(programs, place, "cluster", saved(place, matrix), "-k", k)
        old = os.path.join(place, "old.npy")
        is_large = matrix.shape[0] > 100_000
        kept, lost, seconds, fresh_seconds, renumbered = [], [], [], [], []
        for draw in range(2 if is_quick or is_large else N_DRAWS):
            changed = without_edges(matrix, DROPPED, np.random.default_rng(draw))
            file = saved(place, changed)
            np.save(old, first)
            labels, report = call(programs, place, "update", old, file)
            fresh, fresh_report = call(programs, place, "cluster", file, "-k", k)
            kept.append(float((labels == first).mean()))
            renumbered.append(float((fresh == first).mean()))
            lost.append(objective(changed, labels) / objective(changed, fresh))
            seconds.append(report["seconds"]["solve"])
            fresh_seconds.append(fresh_report["seconds"]["solve"])
        labels = first
        for step in range(2 if is_quick else N_STREAM):
            np.save(old, labels)
            changed = without_edges(matrix, DROPPED, np.random.default_rng(1000 + step))
            labels, _ = call(programs, place, "update", old, saved(place, changed))
        row = {
            "name": name,
            "k": k,
            "kept": min(kept),
            "fresh_kept": statistics.mean(renumbered),
            "objective": min(lost),
            "mean_objective": statistics.mean(lost),
            "seconds": statistics.median(seconds),
            "fresh_seconds": statistics.median(fresh_seconds),
            "stream": float((labels == first).mean()),
        }
        rows.append(row)
        say(
            f"update, {name}: {row['kept']:.4f} keep their number ({row['fresh_kept']:.3f} in a fresh run), "
            f"objective {row['objective']:.5f} of a fresh run's at least, {row['mean_objective']:.5f} on average, {row['seconds']:.2f} s for {row['fresh_seconds']:.2f} s; "
            f"after a stream {row['stream']:.4f}"
        )
    return rows


# Confidence -------------------------------------------------------------------------------------------------


def confidence(programs, place, data, is_quick):
    from sklearn.datasets import load_digits
    from sklearn.metrics import roc_auc_score

    sets = {}
    points, truth = load_digits(return_X_y=True)
    sets["digits"] = ("points", points, truth)
    if data and not is_quick:
        archive = np.load(os.path.join(data, "features", "mnist10_like.npz"))
        sets["mnist10_like"] = ("points", archive["X"] / 255.0, archive["y"])
        matrix = scipy.sparse.load_npz(os.path.join(data, "graphs", "lastfm.npz"))
        sets["lastfm"] = ("cluster", matrix, np.load(os.path.join(data, "graphs", "lastfm.labels.npz"))["y"])
    rows = []
    for name, (command, source, truth) in sets.items():
        truth = np.unique(truth, return_inverse=True)[1]
        file = os.path.join(place, "table.npy")
        if command == "points":
            np.save(file, source.astype(float))
        else:
            file = saved(place, source)
        sure = os.path.join(place, "sure.txt")
        labels, _ = call(programs, place, command, file, "-k", truth.max() + 1, "--confidence", sure)
        values = np.loadtxt(sure)[:, 1]
        counts = np.zeros((labels.max() + 1, truth.max() + 1))
        np.add.at(counts, (labels, truth), 1)
        is_right = counts.argmax(axis=1)[labels] == truth
        purity = (counts.max(axis=1) / counts.sum(axis=1))[labels]
        row = {
            "name": name,
            "area": float(roc_auc_score(is_right, values)),
            "oracle": float(roc_auc_score(is_right, purity)),
            "asked": SURE[name],
        }
        rows.append(row)
        say(f"confidence, {name}: {row['area']:.3f}, at least {row['asked']} (oracle {row['oracle']:.3f})")
    return rows


def run(programs, folder, is_quick):
    data = os.environ.get("NCUT_DATA")
    if not data:
        say("steering: only what needs no data without the folder NCUT_DATA")
    parts = [confidence, largest_shares, updates]
    parts = [known_labels, *parts] if data else parts
    wanted = os.environ.get("STEERING_PART")
    with tempfile.TemporaryDirectory(dir=folder) as place:
        found = {part.__name__: part(programs, place, data, is_quick) for part in parts if wanted in (None, part.__name__)}
    return found


def page(measured_section):
    """The page as text."""
    found = measured_section["found"]
    lines = [
        "# Steering",
        "",
        "`NCUT_DATA=FOLDER benchmarks/run --only steering` makes this page.",
        "",
        "## Known labels",
        "",
        f"The largest component of Cora, {LABELS_A_CLASS} labels of each class known, {N_DRAWS} draws: accuracy on the rest.",
        "LabelSpreading is scikit-learn's with its default alpha, on the same graph; leidenalg keeps the membership of the",
        "known nodes and may make further communities, whose nodes then count as wrong.",
        "",
        "| method | mean | lowest |",
        "| --- | --- | --- |",
    ]
    for row in found.get("known_labels", []):
        lines.append(f"| {row['method']} | {row['mean']:.3f} | {row['lowest']:.3f} |")
    lines += [
        "",
        "## Largest share",
        "",
        f"`--max-share {MAX_SHARE}`: the N-Cut objective and the largest share of the mean volume. METIS and KaMinPar (strong) are",
        "given degrees as weights of the nodes and the same imbalance. Preset `best` has 30 seconds.",
        "",
    ]
    rows = found.get("largest_shares", [])
    if rows:
        methods = list(rows[0]["runs"])
        lines += ["| graph | k | " + " | ".join(methods) + " |", "| --- | --- |" + " --- |" * len(methods)]
        for row in rows:
            cells = [f"{run['objective']:.4f} ({run['share']:.4f})" for run in row["runs"].values()]
            lines.append(f"| {row['name']} | {row['k']} | " + " | ".join(cells) + " |")
    lines += [
        "",
        "## Updates",
        "",
        f"{DROPPED:.1%} of the edges go, {N_DRAWS} draws (2 for the planted graph): the least share of nodes that keep their number,",
        "and the objective as a share of a fresh run's. Then a stream of",
        f"{N_STREAM} changes in a row, each without other edges of the first graph: how many nodes still have their first number.",
        "",
        "| graph | k | keep their number | in a fresh run | objective of a fresh run's, mean (least) | seconds | fresh | after the stream |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in found.get("updates", []):
        lines.append(
            f"| {row['name']} | {row['k']} | {row['kept']:.2%} | {row['fresh_kept']:.1%} | {row['mean_objective']:.2%} ({row['objective']:.2%}) | "
            f"{row['seconds']:.2f} | {row['fresh_seconds']:.2f} | {row['stream']:.1%} |"
        )
    lines += [
        "",
        "## Confidence",
        "",
        "Area under the curve for \"this node is in the class that its cluster mostly has\". The oracle knows the purity of every",
        "cluster, and nothing of single nodes.",
        "",
        "| set | confidence | oracle |",
        "| --- | --- | --- |",
    ]
    for row in found.get("confidence", []):
        lines.append(f"| {row['name']} | {row['area']:.3f} | {row['oracle']:.3f} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit("run benchmarks/run --only steering")
