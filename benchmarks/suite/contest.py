"""Runs of ncut and of its peers, each in a process of its own, all alike to the page."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import partial

import numpy as np
from peer import MOST_TIMES, PEERS, SECONDS_EACH

N_THREADS = 2
# With fewer free cores the times say little about threads.
ENOUGH_CORES = 0.85 * N_THREADS
LIMIT_SECONDS = 3600
# Where a run is long enough to tell, the page goes by `busy_threads` of the report instead.
ONE_THREADED = {"METIS", "igraph Leiden", "scikit-network Louvain"}
# Its shift-invert eigensolver factorises the matrix, which fills up.
MOST_SPECTRAL_NODES = 5000


@dataclass
class Programs:
    """What cargo built."""

    folder: str

    @property
    def ncut(self):
        return os.path.join(self.folder, "ncut")

    @property
    def planted(self):
        return os.path.join(self.folder, "examples", "planted")

    @property
    def sweep(self):
        return os.path.join(self.folder, "examples", "sweep")


def say(text):
    print(text, file=sys.stderr, flush=True)


def free_cores():
    """How many times the work of one busy process N_THREADS of them do side by side: less where others work too."""
    alone = burned(1)
    return N_THREADS * alone / burned(N_THREADS)


def burned(n_processes):
    """Seconds until so many processes have done the same work each; the best of three."""
    work = "import time; s = time.perf_counter(); x = sum(range(20_000_000)); print(time.perf_counter() - s)"
    times = []
    for _ in range(3):
        running = [
            subprocess.Popen([sys.executable, "-c", work], stdout=subprocess.PIPE, text=True)
            for _ in range(n_processes)
        ]
        times.append(max(float(process.communicate()[0]) for process in running))
    return min(times)


class Failed(Exception):
    """A run that came to nothing; one word or two for the table."""


def checked(command, n_threads=N_THREADS):
    """The last line that a command writes."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS")
    environment = os.environ | {name: str(n_threads) for name in names}
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=LIMIT_SECONDS)
    except subprocess.TimeoutExpired as late:
        raise Failed(f"over {LIMIT_SECONDS} s") from late
    if done.returncode:
        say(done.stderr.strip()[-500:])
        raise Failed("killed" if done.returncode < 0 else "failed")
    return done.stdout


def ncut_report(programs, graph_file, k, preset, n_threads=N_THREADS, labels=None):
    """What the command line says of a run."""
    output = [] if labels is None else ["-o", labels]
    options = ["--preset", preset, "--threads", str(n_threads), "--quiet", "--json", "-"]
    return json.loads(checked([programs.ncut, "cluster", graph_file, "-k", str(k), *options, *output]))


def measured_ncut(programs, graph, preset, n_threads=N_THREADS):
    """The best time of a few runs for solving, and the highest of the peaks."""
    labels, seconds, peaks = os.path.join(graph.folder, "labels.npy"), [], []
    while len(seconds) < MOST_TIMES and (not seconds or sum(seconds) < SECONDS_EACH):
        report = ncut_report(programs, graph.ncut_file, graph.spec.k, preset, n_threads, labels)
        seconds.append(report["seconds"]["solve"])
        peaks.append(report["peak_memory_bytes"])
    return labels, {"seconds": min(seconds), "peak_bytes": max(peaks), "threads": n_threads}


def measured_peer(graph, name):
    labels = os.path.join(graph.folder, "labels.npy")
    script = os.path.join(os.path.dirname(__file__), "peer.py")
    command = [sys.executable, script, name, graph.matrix_file, str(graph.spec.k), str(N_THREADS), labels]
    report = json.loads(checked(command).splitlines()[-1])
    return labels, report | {"threads": 1 if name in ONE_THREADED else N_THREADS}


def row(graph, name, measure):
    """One line of a table: name, seconds, bytes, clusters, objective; or how it failed."""
    try:
        labels, report = measure()
    except Failed as failure:
        say(f"{graph.spec.kind}, {graph.n_edges} edges: {name}: {failure}")
        return {"method": name, "failure": str(failure)}
    found = np.load(labels)
    report |= {"method": name, "clusters": len(np.unique(found)), "objective": graph.objective(found)}
    say(
        f"{graph.spec.kind}, {graph.n_edges} edges: {name}: {report['seconds']:.3f} s, "
        f"{report['peak_bytes'] / 1e6:.0f} MB, objective {report['objective']:.3f} of {report['clusters']} clusters"
    )
    return report


def rows(programs, graph, presets, peers):
    """`presets` of ncut by (name, threads), then the peers by name."""
    found = []
    for preset, n_threads in presets:
        name = f"ncut {preset}" + (", 1 thread" if n_threads == 1 else "")
        found.append(row(graph, name, partial(measured_ncut, programs, graph, preset, n_threads)))
    if "KaMinPar" in peers:
        text = graph.matrix_file.replace(".npz", ".graph")
        subprocess.run([programs.ncut, "convert", "--quiet", graph.ncut_file, text], check=True)
    found += [row(graph, name, partial(measured_peer, graph, name)) for name in peers]
    return found


def peers_for(n_nodes):
    """The names of the peers for whom so many nodes are not too many."""
    spectral = "scikit-learn SpectralClustering"
    return [name for name in PEERS if name != spectral or n_nodes <= MOST_SPECTRAL_NODES]
