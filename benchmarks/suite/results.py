"""The page: each function writes one section as Markdown."""

import json
import math
import os

from contest import ENOUGH_CORES, N_THREADS
from markdown import table, wrapped
from plots import Plots


def write_page(path, measured):
    """The page, and its pictures in a folder beside it."""
    folder = os.path.splitext(path)[0]
    os.makedirs(folder, exist_ok=True)
    plots, place = Plots(folder), os.path.basename(folder)
    writers = {"peers": peers, "growth": growth, "sweep": sweep, "reading": reading}
    parts = [introduction(measured)]
    for section, write in writers.items():
        if section in measured:
            parts.append(write(measured[section]["found"], plots, place))
    with open(path, "w") as file:
        file.write(wrapped("\n\n".join(parts)) + "\n")


def introduction(measured):
    groups = {}
    for section, part in measured.items():
        groups.setdefault(json.dumps(part["machine"], sort_keys=True), []).append(section)
    machines = "\n".join(
        f"- {', '.join(sections)}: {machine_sentence(json.loads(facts))}" for facts, sections in groups.items()
    )
    return f"""# ncut beside its peers

Written by `benchmarks/run`; `benchmarks/run --only SECTION` measures one section anew. Every run has a process of its
own and {N_THREADS} threads, where it can use them. The *objective* `sum_c A_c / D_c` (the share of a cluster's volume
that stays inside it, summed over the clusters; higher is better) is computed by a few lines of numpy for all alike.

- Time is that of clustering, the graph being in memory, in each library's own form: ncut's by its own report
  (`seconds.solve`), the peers' that of the call. What takes less than a few seconds is repeated, and the best time
  counts.
- Memory is the peak of the resident set of the whole process while it clusters: program, graph and all. For peers,
  *before* is what was resident already when the call began: Python, the packages and the graph. ncut maps its graph
  from a file, which counts as resident too.
- *Threads* of a peer are those seen at work, where its run is long enough to tell; all may use {N_THREADS}.
- KaMinPar and METIS look for clusters of equal size with few edges between them, Leiden and Louvain for modularity;
  Leiden and Louvain choose the number of clusters themselves, so that their objective, a sum over clusters, does
  not compare. Only ncut and spectral clustering aim at the objective of this page.

The machine and the versions, by section:

{machines}{warning(measured)}"""


def warning(measured):
    """Which sections were measured on a machine with other work to do."""
    busy = {name: part["free_cores"] for name, part in measured.items() if part["free_cores"] < ENOUGH_CORES}
    if not busy:
        return ""
    sections = ", ".join(f"{name} {free:.1f}" for name, free in busy.items())
    return f"""

**The machine was not idle.** {N_THREADS} busy processes did the work of so many cores, before or after the section:
{sections}. Times of those sections are too long, two threads gain too little, and peers that wait by spinning
(networkit) suffer most. Objectives and memory hardly depend on it; measure the times again."""


def machine_sentence(facts):
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    return f"{facts['cores']} cores ({facts['processor']}), {facts['memory_gib']} GiB, {facts['system']}; {versions}"


def peers(contests, plots, place):
    parts = ["## Peers on one graph"]
    for number, contest in enumerate(contests):
        name = f"peers-{number + 1}.svg"
        plots.contest(name, contest)
        title = {"planted": "Planted clusters", "mesh": "A mesh"}[contest["kind"]]
        sizes = f"{spaced(contest['nodes'])} nodes, {spaced(contest['edges'])} edges, k = {contest['k']}"
        header = ["method", "threads", "clusters", "objective", "seconds", "times default", "peak MB", "before MB"]
        parts.append(f"### {title}: {sizes}\n\n{about(contest)}\n\n{table(header, contest_rows(contest))}")
        parts.append(f"![objective, time and memory by method]({place}/{name})")
    return "\n\n".join(parts)


def about(contest):
    if contest["kind"] == "mesh":
        return "A square grid with one diagonal in every cell, three edges a node, nodes numbered row by row."
    return """20 edges a node, 30 % of them random, sizes of the clusters by Pareto(1.5), none under 0.3 of the mean;
nodes numbered at random. The first row is what was planted."""


def contest_rows(contest):
    yardstick = next(
        (row["seconds"] for row in contest["rows"] if row["method"] == "ncut default" and "seconds" in row), 1
    )
    found = (
        [["planted labels", "", contest["k"], f"{contest['truth']:.3f}", "", "", "", ""]] if "truth" in contest else []
    )
    for row in contest["rows"]:
        if "failure" in row:
            found.append([row["method"], "", "", row["failure"], "", "", "", ""])
            continue
        found.append(
            [
                row["method"].removesuffix(", 1 thread"),
                row.get("busy_threads") or row["threads"],
                row["clusters"],
                f"{row['objective']:.3f}",
                short(row["seconds"]),
                f"{row['seconds'] / yardstick:.2f}",
                f"{row['peak_bytes'] / 1e6:.0f}",
                f"{row['before_bytes'] / 1e6:.0f}" if row.get("before_bytes") else "",
            ]
        )
    return found


def growth(found, plots, place):
    plots.growth("growth.svg", found)
    methods = list(dict.fromkeys(row["method"] for graph in found for row in graph["rows"]))
    parts = []
    for kind in dict.fromkeys(graph["kind"] for graph in found):
        graphs = [graph for graph in found if graph["kind"] == kind]
        columns = [f"{rounded(graph['edges'])} edges" for graph in graphs]
        bytes_of_graph = ["the graph, MB", *(f"{graph['csr_bytes'] / 1e6:.0f}" for graph in graphs)]
        sizes = [["nodes", *(rounded(graph["nodes"]) for graph in graphs), ""]]
        sizes.append(["clusters asked for", *(graph["k"] for graph in graphs), ""])
        seconds, memory, values = [], [], []
        for method in methods:
            cells = [cell(graph, method) for graph in graphs]
            exponent = fitted(graphs, method)
            seconds.append([method, *(short(row["seconds"]) if row else "" for row in cells), exponent])
            multiples = [
                f"{row['peak_bytes'] / graph['csr_bytes']:.1f}" if row else ""
                for graph, row in zip(graphs, cells, strict=True)
            ]
            memory.append([method, *multiples])
            if method.startswith("ncut"):
                values.append([method, *(f"{row['objective']:.2f}" if row else "" for row in cells)])
        parts.append(f"""### {"Planted clusters" if kind == "planted" else "Meshes"}

Seconds; the last column is the exponent of the straight line through the logarithms of time over edges:

{table(["seconds", *columns, "exponent"], [*sizes, *seconds])}

Peak memory of the whole process, as a multiple of the graph:

{table(["memory / graph", *columns], [bytes_of_graph, *memory])}

{table(["objective", *columns], values)}""")
    body = "\n\n".join(parts)
    return f"""## Growth

Planted graphs have 20 edges a node and a cluster for every 1000 nodes; that of 100 million edges has 5 million nodes,
40 edges a node and 1000 clusters. Meshes have a cluster for every 10 000 nodes, but at least 32. *The graph* means
`8(n+1)+4*2m` bytes, a matrix in compressed rows without weights. Small processes are mostly program: read the
memory from right to left.

![time and memory over edges]({place}/growth.svg)

{body}"""


def cell(graph, method):
    """The row of a method on a graph, unless it failed or was not run."""
    return next((row for row in graph["rows"] if row["method"] == method and "seconds" in row), None)


def fitted(graphs, method):
    """The slope of log(seconds) over log(edges), of at least three graphs."""
    points = [(graph["edges"], row["seconds"]) for graph in graphs if (row := cell(graph, method))]
    if len(points) < 3:
        return ""
    x, y = [[math.log(value) for value in values] for values in zip(*points, strict=True)]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    covariance = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return f"{covariance / sum((a - mean_x) ** 2 for a in x):.2f}"


def sweep(found, plots, place):
    sizes, lines = found["text"].strip().split("\n\n")
    return f"""## A sweep beside a matrix-vector product

One sweep of coordinate descent over a planted graph ({sizes}), in products of the same matrix with a vector, by the
example `sweep`: with labels of which one in ten is wrong, so that nodes move, and with labels at rest. *Products* are
those that one sweep on one thread takes; *faster* is what two threads gain.

{lines}"""


def reading(found, plots, place):
    yardstick = min(row["seconds"] for row in found["rows"] if row["reader"] == "ncut: edge list")
    rows = [
        [
            row["reader"],
            row["threads"],
            short(row["seconds"]),
            f"{row['seconds'] / yardstick:.2f}",
            f"{row['peak_bytes'] / 1e6:.0f}" if row["peak_bytes"] else "",
        ]
        for row in found["rows"]
    ]
    return f"""## Reading

An edge list of {spaced(found["edges"])} lines, {found["text_bytes"] / 1e6:.0f} MB, two numbers a line, from a disk
whose cache is warm, into a symmetric matrix in compressed rows; and the same graph from binary files. ncut's time is
`seconds.read`, `build` and `verify` of its report; importing Python's packages does not count.

{table(["reader", "threads", "seconds", "times ncut", "peak MB"], rows)}"""


def spaced(number):
    return f"{number:,}".replace(",", " ")


def rounded(number):
    """1 000 000 as 1M."""
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if number >= 0.95 * size:
            return f"{number / size:.{0 if number >= 9.5 * size else 1}f}{unit}".replace(".0", "")
    return str(number)


def short(seconds):
    """Three digits that count."""
    digits = 1 if seconds >= 10 else 2 if seconds >= 1 else 3
    return f"{seconds:.{digits}f}"
