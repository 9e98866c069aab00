"""The benchmark suite: every section is measured into a file of its own, the page is made of the latest of all."""

import argparse
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import time

from contest import ENOUGH_CORES, N_THREADS, Programs, checked, free_cores, ncut_report, peers_for, rows, say
import choose
import communities
import connected
import networks
import regimes
import steering
from graphs import Spec, made, write_edge_list
from results import write_page

PACKAGES = [
    "numpy",
    "scipy",
    "scikit-learn",
    "igraph",
    "pymetis",
    "kaminpar",
    "networkit",
    "scikit-network",
    "polars",
]
GROWTH_EDGES = [1_000_000, 3_000_000, 10_000_000, 30_000_000, 100_000_000]
MOST_PEER_EDGES = 10_000_000
LOADTXT_LINES = 1_000_000


class Suite:
    """The sections, and where their graphs are made."""

    def __init__(self, programs, folder, largest, is_quick):
        self.programs, self.folder, self.largest, self.is_quick = programs, folder, largest, is_quick

    def sweep(self):
        n_nodes = min(1_000_000, self.largest // 10)
        say(f"sweep: {n_nodes} nodes")
        k = max(20, n_nodes // 1000)
        return {"text": checked([self.programs.sweep, str(n_nodes), str(k)])}

    def peers(self):
        """A graph small enough for SpectralClustering, a mesh, and the graph of ten million edges."""
        small, middle = (10_000, 30_000) if self.is_quick else (50_000, min(3_000_000, self.largest))
        specs = [
            Spec("planted", small // 10, max(2, small // 5000)),
            Spec.of_edges("mesh", middle),
            Spec.of_edges("planted", min(10_000_000, self.largest)),
        ]
        return [self.contest(spec) for spec in specs]

    def contest(self, spec):
        with made(spec, self.programs, self.folder) as graph:
            facts = graph.facts()
            if graph.truth is not None:
                facts["truth"] = graph.objective(graph.truth)
            presets = [("fast", N_THREADS), ("default", N_THREADS), ("fast", 1), ("default", 1)]
            return facts | {"rows": rows(self.programs, graph, presets, peers_for(graph.n_nodes))}

    def growth(self):
        edges = [10_000, 30_000, 100_000] if self.is_quick else GROWTH_EDGES
        found = []
        for kind in ("planted", "mesh"):
            for n_edges in edges:
                if n_edges > self.largest:
                    continue
                spec = Spec.of_edges(kind, n_edges)
                # Spectral clustering has its place among the small graphs of the other section.
                peers = [name for name in peers_for(10**9) if n_edges <= MOST_PEER_EDGES]
                with made(spec, self.programs, self.folder) as graph:
                    presets = [("fast", N_THREADS), ("default", N_THREADS)]
                    found.append(graph.facts() | {"rows": rows(self.programs, graph, presets, peers)})
        return found

    def reading(self):
        spec = Spec.of_edges("planted", min(10_000_000, self.largest))
        with made(spec, self.programs, self.folder) as graph:
            text = os.path.join(graph.folder, "edges.txt")
            write_edge_list(text, graph)
            facts = graph.facts() | {"text_bytes": os.path.getsize(text)}
            files = {"edge list": text, "scipy's .npz": graph.matrix_file}
            if graph.ncut_file != graph.matrix_file:
                files["ncut's .ncut, mapped and verified"] = graph.ncut_file
            found = []
            for kind, file in files.items():
                for n_threads in (1, N_THREADS) if file == text else (N_THREADS,):
                    found.append(self.read_by_ncut(kind, file, n_threads))
            found += [read_by_numpy(text, graph.n_edges, kind) for kind in ("float", "numpy.int64")]
            found.append(read_by_polars(text))
            for reading in found:
                say(f"reading: {reading['reader']}: {reading['seconds']:.3f} s")
            return facts | {"rows": found}

    def regimes(self):
        return regimes.run(self.programs, self.folder, self.is_quick)

    def communities(self):
        return communities.run(self.programs, self.folder, self.is_quick, self.largest)

    def choose(self):
        return choose.run(self.programs, self.folder, self.is_quick)

    def networks(self):
        return networks.run(self.programs, self.folder, self.is_quick)

    def connected(self):
        return connected.run(self.programs, self.folder, self.is_quick)

    def steering(self):
        return steering.run(self.programs, self.folder, self.is_quick)

    def read_by_ncut(self, kind, file, n_threads):
        """With one cluster there is nothing to solve."""
        report = ncut_report(self.programs, file, 1, "fast", n_threads)
        seconds = sum(report["seconds"].get(step) or 0 for step in ("read", "verify", "build"))
        name = f"ncut: {kind}"
        return {"reader": name, "seconds": seconds, "peak_bytes": report["peak_memory_bytes"], "threads": n_threads}


def read_by_numpy(text, n_lines, kind):
    """On the first lines only, scaled: with some releases all of them would take long."""
    n_read = min(LOADTXT_LINES, n_lines)
    program = f"import numpy; numpy.loadtxt(FILE, dtype={kind}, max_rows={n_read})"
    report = timed(program, text)
    name = "numpy.loadtxt" + (" as it is" if kind == "float" else f", dtype={kind}") + ": edge list, no matrix"
    if n_read < n_lines:
        name += f" ({n_read} lines, time scaled)"
        report["peak_bytes"] = None
    return report | {"reader": name, "seconds": report["seconds"] * n_lines / n_read, "threads": 1}


def read_by_polars(text):
    program = """
import numpy, polars, scipy.sparse
edges = polars.read_csv(FILE, has_header=False, separator=" ", new_columns=["from", "to"])
ends = numpy.concatenate([edges["from"].to_numpy(), edges["to"].to_numpy()])
others = numpy.concatenate([edges["to"].to_numpy(), edges["from"].to_numpy()])
n = int(ends.max()) + 1
scipy.sparse.coo_matrix((numpy.ones(len(ends), dtype=numpy.float32), (ends, others)), (n, n)).tocsr()
"""
    return timed(program, text) | {"reader": "polars.read_csv and scipy: edge list", "threads": N_THREADS}


def timed(program, file):
    """A piece of Python in a process of its own; importing does not count."""
    whole = f"""
import sys, time
sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r})
import numpy, polars, scipy.sparse, peer
FILE = {file!r}
started = time.perf_counter()
{program}
print(time.perf_counter() - started, peer.peak_bytes())
"""
    seconds, peak = checked([sys.executable, "-c", whole]).split()
    return {"seconds": float(seconds), "peak_bytes": int(peak)}


def machine(programs):
    """What a reader has to know, and no names."""
    versions = {name: importlib.metadata.version(name) for name in PACKAGES}
    ncut = subprocess.run([programs.ncut, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "processor": processor(),
        "memory_gib": round(memory / 2**30),
        "system": platform.system(),
        "versions": {"ncut": ncut, "Python": platform.python_version()} | versions,
    }


def processor():
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


def main():
    own_pages = {
        "regimes": regimes,
        "communities": communities,
        "choose": choose,
        "networks": networks,
        "connected": connected,
        "steering": steering,
    }
    sections = ["sweep", "peers", "growth", "reading", *own_pages]
    parser = argparse.ArgumentParser(prog="benchmarks/run", description="ncut beside its peers, as one page")
    parser.add_argument("--quick", action="store_true", help="tiny graphs, to try the suite itself")
    parser.add_argument(
        "--largest", type=lambda text: int(float(text)), metavar="EDGES", help="no graph with more edges"
    )
    parser.add_argument("--only", choices=sections, help="measure this section, keep the others as they were")
    options = parser.parse_args()
    folder = os.path.join("target", "benchmarks", "quick" if options.quick else "full")
    os.makedirs(folder, exist_ok=True)
    programs = Programs(os.path.join("target", "release"))
    largest = options.largest or (100_000 if options.quick else GROWTH_EDGES[-1])
    if largest < 10_000:
        parser.error("--largest must be at least 10000")
    suite = Suite(programs, folder, largest, options.quick)
    for section in [options.only] if options.only else sections:
        started = time.perf_counter()
        free_before = free_cores()
        found = getattr(suite, section)()
        # Others may have come or gone meanwhile: the page tells the worse.
        free = min(free_before, free_cores())
        if free < ENOUGH_CORES:
            say(f"{section}: {N_THREADS} busy processes had {free:.1f} cores: something else is running")
        with open(os.path.join(folder, f"{section}.json"), "w") as file:
            json.dump({"machine": machine(programs), "free_cores": free, "found": found}, file, indent=1)
        say(f"{section}: measured in {time.perf_counter() - started:.0f} s")
    measured = {}
    for section in sections:
        path = os.path.join(folder, f"{section}.json")
        if os.path.exists(path):
            with open(path) as file:
                measured[section] = json.load(file)
    pages = folder if options.quick else "benchmarks"
    for section, module in own_pages.items():
        if section in measured:
            with open(os.path.join(pages, f"{section}.md"), "w") as file:
                file.write(module.page(measured.pop(section)))
    page = os.path.join(pages, "results.md")
    write_page(page, measured)
    say(f"{page} written")


if __name__ == "__main__":
    main()
