"""The experiments: each function runs one and returns its numbers."""

from dataclasses import dataclass

import numpy as np

import data
import rivals
from program import load_matrix

N_TIMED = 3
N_SEEDS = 20
BEST_SECONDS = 5
NOISES = (50, 100, 150)
MOST_CLUSTERS = 10
SHARE_0 = ("--min-share", "0")
PAPER = ("--preset", "paper")
CLR_NEIGHBORS = 10
LEARNED_NEIGHBORS = 15
MOST_SECONDS = 300
LEARNED = ("CLR-l1", "CLR-l1 + search", "CLR-l2", "CLR-l2 + search")
NEIGHBORS = (5, 10, 15, 25, 50)
AFFINITIES = {
    "self-tuning": ("self-tuning",),
    "knn": ("knn",),
    "knn, mutual": ("knn", "--mutual"),
    "adaptive": ("adaptive",),
}
SOLVERS = ("EVD+KM", "ISR", "Fast-CD")
CONTEST = (*SOLVERS, "preset default")
CURVE_SETS = ("mnist10_like", "umist")


@dataclass
class Measured:
    """A graph and what all solvers made of it."""

    graph: str
    k: int
    truth: str | None
    report: dict
    solvers: dict
    seconds: dict  # by solver, without the start, the best of N_TIMED runs

    def gap(self, solver):
        return self.solvers[solver]["gap"]

    def is_highest(self, name, names):
        return missing(self.solvers, name, names) <= 1e-9


def measure(ncut, graph, k, truth=None):
    """All solvers on a graph, several times for the times, preset `best` once."""
    options = ("--truth", truth) if truth else ()
    report, solvers = ncut.compare(graph, k, *options, "--best", BEST_SECONDS)
    runs = [(report, solvers)] + [ncut.compare(graph, k, *options) for _ in range(N_TIMED - 1)]
    # The paper's times leave the start out; those of `compare` include it.
    seconds = {name: min(run[name]["seconds"] - run["N2HI"]["seconds"] for _, run in runs) for name in SOLVERS}
    seconds["eigenvectors"] = min(run["spectrum_seconds"] for run, _ in runs)
    return Measured(graph, k, truth, report, solvers, seconds)


def measure_set(ncut, data_set, folder):
    points, classes = data_set.load(folder)
    graph = ncut.neighbor_graph(data_set.name, points, data_set.k)
    return measure(ncut, graph, data_set.k, ncut.save(f"{data_set.name}.classes.npy", classes))


@dataclass
class OtherModels:
    """CLR, SBMC and what may be EBMC on a set: rows of `ncut compare --all` by solver."""

    seconds: float  # of Fast-CD without the start
    tuned: dict  # on the self-tuning graph, the paper's
    adaptive: dict  # on the graph CLR begins with
    refused: dict  # why a solver gave nothing on the adaptive graph
    readings: dict | None  # NMI of other readings on the self-tuning graph


def other_models(ncut, data_set, measured, folder, with_readings):
    points, _ = data_set.load(folder)
    graph = ncut.neighbor_graph(data_set.name, points, data_set.k, CLR_NEIGHBORS, "adaptive")
    tuned = of_other_models(ncut, measured.graph, measured)[0]
    adaptive, refused = of_other_models(ncut, graph, measured)
    readings = None
    if with_readings:
        matrix, start = load_matrix(measured.graph), ncut.n2hi(measured.graph, measured.k)
        truth = ("--truth", measured.truth)
        readings = {
            name: ncut.report_of_labels(measured.graph, labels, *truth)["nmi"]
            for name, labels in rivals.other_readings(matrix, start).items()
        }
    return OtherModels(measured.seconds["Fast-CD"], tuned, adaptive, refused, readings)


def of_other_models(ncut, graph, measured):
    report, solvers = ncut.compare(graph, measured.k, "--truth", measured.truth, "--all")
    start = solvers["N2HI"]["seconds"]
    found = {name: solvers[name] for name in solvers if name.startswith(("CLR", "SBMC"))}
    if "SBMC" in found:
        found["SBMC"] = found["SBMC"] | {"seconds": found["SBMC"]["seconds"] - start}
    return found, {row["solver"]: row["reason"] for row in report.get("refused", [])}


def by_affinity(ncut, data_set, folder):
    """ACC and NMI of preset `default` for every affinity and number of neighbours."""
    points, classes = data_set.load(folder)
    table, truth = ncut.save("points.npy", points), ncut.save("classes.npy", classes)
    found = {}
    for affinity, options in AFFINITIES.items():
        for neighbors in NEIGHBORS:
            options_of_graph = ("--affinity", *options, "--neighbors", neighbors)
            report = ncut.report("points", table, "-k", data_set.k, "--truth", truth, *options_of_graph)
            found[affinity, neighbors] = (report["accuracy"], report["nmi"])
    return found


def learned(ncut, data_set, folder):
    """ACC and NMI of the ordinary search on the adaptive graph and on what CLR makes of it, where it makes anything."""
    points, classes = data_set.load(folder)
    graph = ncut.neighbor_graph("learned", points, data_set.k, LEARNED_NEIGHBORS, "adaptive")
    truth = ("--truth", ncut.save("classes.npy", classes))
    plain = ncut.report("cluster", graph, "-k", data_set.k, *truth)
    solvers = ncut.compare(graph, data_set.k, "--all", *truth, "--time-limit", MOST_SECONDS)[1]
    rows = {"adaptive": plain} | {name: solvers[name] for name in LEARNED if name in solvers}
    return {name: (row["accuracy"], row["nmi"]) for name, row in rows.items()}


def measure_coins(ncut):
    """The coins of scikit-learn's example."""
    picture, graph = data.coins_file(ncut.file("coins.png")), ncut.file("coins.npz")
    recipe = ("--blur", 2, "--scale", 0.2, "--graph-out", graph, *PAPER)
    ncut.report("segment", picture, "-k", 25, "-o", ncut.file("coins.npy"), *recipe)
    return measure(ncut, graph, 25)


def relaxed_labels(ncut, graph, k):
    """Labels of the paper's rivals, by this folder's own implementation."""
    matrix, start = load_matrix(graph), ncut.n2hi(graph, k)
    vectors = rivals.eigenvectors(matrix, k)
    return {"EVD+KM": rivals.evd_km(vectors, start), "ISR": rivals.isr(vectors, rivals.degrees_of(matrix), start)}


def all_labels(ncut, graph, k):
    """Labels and objectives of the solvers of the figures."""
    labels = relaxed_labels(ncut, graph, k)
    labels["Fast-CD"] = ncut.labels(graph, k, *PAPER)
    labels["preset default"] = ncut.labels(graph, k, *SHARE_0)
    matrix = load_matrix(graph)
    return {name: (found, rivals.objective(matrix, found)) for name, found in labels.items()}


def largest_difference(found, solvers):
    """Between the objectives of labels found here and those `ncut compare` reports."""
    return max(abs(value - solvers[name]["objective"]) for name, (_, value) in found.items())


def variants(ncut, measured):
    """Scores of other readings of the paper's rivals."""
    matrix, start = load_matrix(measured.graph), ncut.n2hi(measured.graph, measured.k)
    vectors = rivals.eigenvectors(matrix, measured.k)
    found = rivals.variants(vectors, rivals.degrees_of(matrix), start)
    truth = ("--truth", measured.truth) if measured.truth else ()
    return {name: ncut.report_of_labels(measured.graph, labels, *truth) for name, labels in found.items()}


@dataclass
class Blocks:
    """Figure 1: suggestions over all seeds, and matrix and curves of the first."""

    matrix: np.ndarray
    curves: dict
    suggested: list
    by_eigengap: list
    by_paper: list


def five_blocks(ncut):
    numbers = range(1, MOST_CLUSTERS + 1)
    blocks = Blocks(data.five_blocks(0), {}, [], [], [])
    for seed in range(N_SEEDS):
        graph = ncut.save_matrix("blocks.npz", data.five_blocks(seed))
        report = ncut.report("choose", graph, "--from", 1, "--to", MOST_CLUSTERS)
        paper = {k: ncut.report("cluster", graph, "-k", k, *PAPER)["objective"] for k in numbers}
        if seed == 0:
            chosen = {row["n_clusters"]: row["objective"] for row in report["curve"]}
            blocks.curves = {"ncut choose": chosen, "Fast-CD": paper}
        blocks.suggested.append(report["suggested"])
        blocks.by_eigengap.append(eigengap_after_one(report["curve"]))
        blocks.by_paper.append(sharpest_turn(list(paper.values())))
    return blocks


def sharpest_turn(objectives):
    """The number of clusters, from 2 on, after which the gain falls most."""
    return int(np.diff(objectives, 2).argmin()) + 2


def eigengap_after_one(curve):
    """The number of clusters, from 2 on, with the largest eigengap."""
    return max((row for row in curve if row["n_clusters"] > 1), key=lambda row: row["eigengap"] or 0)["n_clusters"]


@dataclass
class Circles:
    """Figure 3: the solvers by name, for every noise and seed."""

    runs: dict

    def count_best(self, noise, name, rivals):
        """How often a solver is at least every rival."""
        return sum(missing(run, name, rivals) <= 1e-9 for run in self.runs[noise])

    def count_separated(self, noise, name):
        return sum(is_separated(run, name) for run in self.runs[noise])

    def violations(self):
        """Noise and seed where preset default is below a rival."""
        return self.below(CONTEST)

    def below(self, names):
        """Noise and seed where preset default is below another."""
        return [
            (noise, seed)
            for noise, runs in self.runs.items()
            for seed, run in enumerate(runs)
            if missing(run, "preset default", names) > 1e-9
        ]

    def missed(self):
        """Noise and seed where the circles themselves lead higher than preset default."""
        return self.below(["from the circles", "preset default"])

    def seed_as_printed(self):
        """The first seed that shows what the paper's middle row shows: only Fast-CD separates. Otherwise 0."""
        for seed, run in enumerate(self.runs[100]):
            if [is_separated(run, name) for name in SOLVERS] == [False, False, True]:
                return seed
        return 0


def missing(run, name, rivals):
    """What a solver's objective lacks to the highest."""
    return max(run[rival]["objective"] for rival in rivals) - run[name]["objective"]


def is_separated(run, name):
    """At most 2 % of the points on the circles are wrong."""
    return run[name]["accuracy"] >= 0.98


def two_circles(ncut):
    return Circles({noise: [circle_run(ncut, noise, seed) for seed in range(N_SEEDS)] for noise in NOISES})


def circle_run(ncut, noise, seed):
    """All solvers by name, and Fast-CD started from the circles themselves."""
    graph, truth, _ = circle_graph(ncut, noise, seed)
    run = ncut.compare(graph, 2, "--truth", truth)[1]
    return run | {"from the circles": ncut.report("cluster", graph, "-k", 2, *PAPER, "--init", truth)}


def circle_graph(ncut, noise, seed):
    """The files of the graph of the two circles and of their labels, and the points."""
    points, labels = data.two_circles(noise, seed)
    return ncut.neighbor_graph("circles", points, 2, neighbors=10), ncut.save("circles.truth.npy", labels), points


def circle_rows(ncut, seed):
    """For the figure: a row for each noise."""
    rows, difference = [], 0.0
    for noise in NOISES:
        graph, truth, points = circle_graph(ncut, noise, seed)
        found = all_labels(ncut, graph, 2)
        difference = max(difference, largest_difference(found, ncut.compare(graph, 2, "--truth", truth)[1]))
        rows.append((f"{noise} noise points", points, found))
    return rows, difference


def sweep_curves(ncut, measured):
    """Objectives and NMIs after every sweep of Fast-CD, by the name of its start."""
    start = ncut.save("start.npy", relaxed_labels(ncut, measured.graph, measured.k)["EVD+KM"])
    starts = {"N2HI": (), "EVD+KM": ("--init", start)}
    return {name: one_curve(ncut, measured, options) for name, options in starts.items()}


def one_curve(ncut, measured, options):
    objectives, agreements = [], []
    while True:
        limit = ("--max-sweeps", len(objectives), "--truth", measured.truth)
        report = ncut.report("cluster", measured.graph, "-k", measured.k, *PAPER, *options, *limit)
        if objectives and report["sweeps"] < len(objectives):
            return objectives, agreements
        objectives.append(report["objective"])
        agreements.append(report["nmi"])


def agreement_by_preset(ncut, measured):
    """Accuracy and NMI of the paper's labels, of preset default as it is, and of it without a share."""
    presets = {"paper": PAPER, "default": (), "default, share 0": SHARE_0}
    reports = {}
    for name, options in presets.items():
        truth = ("--truth", measured.truth)
        reports[name] = ncut.report("cluster", measured.graph, "-k", measured.k, *options, *truth)
    return reports
