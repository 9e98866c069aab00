"""One peer on one graph, in a process of its own: peer.py NAME GRAPH K THREADS LABELS; prints a report as JSON.

Its peak of memory is that of the whole process during the calls; what was resident before them, the peer's own form
of the graph and Python, is told beside it.
"""

import gc
import glob
import json
import random
import re
import resource
import sys
import time
import warnings

import numpy as np
import scipy.sparse

# What is quick is repeated: the best time is the least disturbed.
SECONDS_EACH, MOST_TIMES = 5.0, 3
LEAST_TICKS = 50


def igraph_leiden(file, k, n_threads):
    import igraph

    upper = scipy.sparse.triu(load(file), format="coo")
    graph = igraph.Graph(n=upper.shape[0], edges=np.column_stack([upper.row, upper.col]))
    random.seed(1)
    return lambda: graph.community_leiden(objective_function="modularity", n_iterations=2).membership


def metis(file, k, n_threads):
    import pymetis

    matrix = load(file)
    offsets, columns = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
    if hasattr(pymetis, "zero_copy_dtype"):
        kind = pymetis.zero_copy_dtype()
        offsets, columns = offsets.astype(kind), columns.astype(kind)
    return lambda: pymetis.part_graph(k, xadj=offsets, adjncy=columns)[1]


def kaminpar(file, k, n_threads):
    import kaminpar

    # It reads graphs from files only.
    graph = kaminpar.load_graph(file.replace(".npz", ".graph"), kaminpar.GraphFileFormat.METIS)
    kaminpar.reseed(1)
    instance = kaminpar.KaMinPar(num_threads=n_threads, ctx=kaminpar.default_context())
    return lambda: instance.compute_partition(graph, k)


def networkit_leiden(file, k, n_threads):
    import networkit

    networkit.setNumberOfThreads(n_threads)
    networkit.setSeed(1, False)
    upper = scipy.sparse.triu(load(file), format="coo")
    graph = networkit.GraphFromCoo((upper.row.astype(np.uint64), upper.col.astype(np.uint64)), n=upper.shape[0])

    def run():
        return networkit.community.ParallelLeiden(graph).run().getPartition().getVector()

    return run


def scikit_network_louvain(file, k, n_threads):
    from sknetwork.clustering import Louvain

    matrix = load(file)
    return lambda: Louvain(random_state=1, return_probs=False, return_aggregate=False).fit_predict(matrix)


def scikit_learn_spectral(file, k, n_threads):
    from sklearn.cluster import SpectralClustering

    matrix = load(file)
    return lambda: SpectralClustering(k, affinity="precomputed", random_state=1, n_jobs=n_threads).fit_predict(matrix)


PEERS = {
    "KaMinPar": kaminpar,
    "networkit ParallelLeiden": networkit_leiden,
    "METIS": metis,
    "igraph Leiden": igraph_leiden,
    "scikit-network Louvain": scikit_network_louvain,
    "scikit-learn SpectralClustering": scikit_learn_spectral,
}


def load(file):
    return scipy.sparse.load_npz(file).tocsr()


def main(name, file, k, n_threads, labels_file):
    warnings.filterwarnings("ignore")
    run = PEERS[name](file, int(k), int(n_threads))
    gc.collect()
    before = forget_peak()
    seconds, labels, ticks = [], None, ticks_by_thread()
    while len(seconds) < MOST_TIMES and (not seconds or sum(seconds) < SECONDS_EACH):
        started = time.perf_counter()
        found = run()
        seconds.append(time.perf_counter() - started)
        labels = found if labels is None else labels
    peak, n_busy = peak_bytes(), busy_threads(ticks)
    np.save(labels_file, np.asarray(labels, dtype=np.int64))
    # The last line: some peers print too.
    print(json.dumps({"seconds": min(seconds), "busy_threads": n_busy, "peak_bytes": peak, "before_bytes": before}))


def forget_peak():
    """Lets the peak begin anew; the bytes resident now. Nothing is forgotten where there is no /proc."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        return status("VmRSS")
    except OSError:
        return None


def peak_bytes():
    try:
        return status("VmHWM")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def ticks_by_thread():
    """Processor time by thread, in ticks; none where there is no /proc."""
    found = {}
    for path in glob.glob("/proc/self/task/*/stat"):
        with open(path) as file:
            # The name, in parentheses, may hold anything.
            fields = file.read().rpartition(")")[2].split()
        found[path] = int(fields[11]) + int(fields[12])
    return found


def busy_threads(before):
    """How many threads had a twentieth or more of the work since; None when there was too little to tell.

    Unlike the ratio of processor time to time, this is the same on a busy machine.
    """
    spent = [ticks - before.get(thread, 0) for thread, ticks in ticks_by_thread().items()]
    return sum(ticks >= sum(spent) / 20 for ticks in spent) if sum(spent) >= LEAST_TICKS else None


def status(field):
    with open("/proc/self/status") as file:
        return 1024 * int(re.search(rf"{field}:\s+(\d+)", file.read())[1])


if __name__ == "__main__":
    main(*sys.argv[1:])
