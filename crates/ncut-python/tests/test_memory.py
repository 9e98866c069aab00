"""How much memory a fit takes, measured in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import sys
import numpy as np
from ncut import NormalizedCut
from scipy import sparse


def peak(reset=False):
    if reset:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


def circulant(n, steps):
    # Row i is linked to i + s and i - s, with a weight that both ends agree on.
    steps = np.concatenate([steps, -steps])
    columns = (np.arange(n, dtype=np.int64)[:, np.newaxis] + steps) % n
    low, high = np.minimum(columns, np.arange(n)[:, np.newaxis]), np.maximum(columns, np.arange(n)[:, np.newaxis])
    weights = 0.5 + (low * 7919 + high * 104729) % 1000 / 1000
    order = np.argsort(columns, axis=1)
    columns = np.take_along_axis(columns, order, axis=1).astype(np.int32)
    weights = np.take_along_axis(weights, order, axis=1)
    indptr = np.arange(0, n * len(steps) + 1, len(steps), dtype=np.int32)
    return sparse.csr_array((weights.ravel(), columns.ravel(), indptr), shape=(n, n))


def random(n, degree):
    rng = np.random.default_rng(0)
    ends = rng.integers(n, size=(2, n * degree // 2), dtype=np.int32)
    upper = sparse.coo_array((rng.uniform(0.5, 1.5, ends.shape[1]), (ends[0], ends[1])), shape=(n, n)).tocsr()
    matrix = (upper + upper.T).tocsr()
    return sparse.csr_array(
        (matrix.data, matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)), shape=(n, n)
    )


kind, preset = sys.argv[1:]
# A first fit brings in what the interpreter needs.
NormalizedCut(2, affinity="precomputed").fit(circulant(100, np.arange(1, 4)))
graph = circulant(1_000_000, np.arange(1, 11)) if kind == "ring" else random(125_000, 40)
size = graph.data.nbytes + graph.indices.nbytes + graph.indptr.nbytes
before = [array.copy()[::1000] for array in (graph.data, graph.indices, graph.indptr)]
resting = peak(reset=True)
NormalizedCut(20, affinity="precomputed", preset=preset).fit(graph)
rise = (peak() - resting) / size
assert all(map(np.array_equal, before, (a[::1000] for a in (graph.data, graph.indices, graph.indptr))))
print(graph.nnz, graph.data.dtype, graph.indices.dtype, rise)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read as on Linux")
@pytest.mark.parametrize("kind", ["ring", "random"])
@pytest.mark.parametrize("preset", ["default"])
def test_a_fit_takes_at_most_one_and_a_half_of_the_matrix(kind, preset):
    output = subprocess.run(
        [sys.executable, "-c", PROGRAM, kind, preset], check=True, capture_output=True, text=True
    ).stdout
    n_entries, real, index, rise = output.split()
    assert int(n_entries) > (19_000_000 if kind == "ring" else 4_900_000) and (real, index) == ("float64", "int32")
    assert float(rise) <= 1.5


LIMITED = """
import resource
import sys
import numpy as np
import ncut
from scipy import sparse

what, size, first, last, n_steps = sys.argv[1], *map(int, sys.argv[2:])
rng = np.random.default_rng(0)
if what in ("fit", "choose"):
    groups = rng.integers(20, size=size)
    members = [np.flatnonzero(groups == group) for group in range(20)]
    rows = np.arange(size).repeat(8)
    columns = np.concatenate([rng.choice(members[group], size=8) for group in groups])
    upper = sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=(size, size)).tocsr()
    data = (upper + upper.T).tocsr()
elif what == "points":
    data = rng.normal(size=(size, 8)) + 3 * rng.integers(10, size=size)[:, np.newaxis]
else:
    data = rng.uniform(size=(size, size))
calls = {
    "fit": lambda: ncut.NormalizedCut(20, affinity="precomputed", preset="fast", time_limit=5, n_jobs=2).fit(data),
    "choose": lambda: ncut.choose(data, 1, 4, n_jobs=2),
    "points": lambda: ncut.NormalizedCut(10, preset="fast", time_limit=5, n_jobs=2).fit(data),
    "segment": lambda: ncut.segment(data, 5, preset="fast", time_limit=5, n_jobs=2),
}
call = calls[what]
# First calls bring in what the interpreter needs.
ncut.NormalizedCut(2).fit(rng.normal(size=(60, 2)))
ncut.segment(rng.uniform(size=(8, 8)), 2)
ncut.choose(sparse.eye_array(9, k=1) + sparse.eye_array(9, k=-1), 1, 3)


def taken():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmSize"))


for step in range(n_steps):
    megabytes = first * (last / first) ** (step / max(n_steps - 1, 1))
    # Beyond what the interpreter has: libraries for arrays take much before any work is done.
    resource.setrlimit(resource.RLIMIT_AS, (taken() + int(megabytes * 1e6), resource.RLIM_INFINITY))
    try:
        call()
        print(round(megabytes), "done", flush=True)
    except MemoryError as error:
        print(round(megabytes), "MemoryError:", error, flush=True)
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
"""


def outcomes(what, size, first, last, n_steps):
    arguments = [sys.executable, "-c", LIMITED, what, *map(str, (size, first, last, n_steps))]
    run = subprocess.run(arguments, capture_output=True, text=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
    assert run.returncode == 0, (run.returncode, run.stdout, run.stderr)
    lines = run.stdout.splitlines()
    assert len(lines) == n_steps
    print(what, *lines, sep="\n")
    return lines


@pytest.mark.skipif(sys.platform != "linux", reason="address space is limited as on Linux")
@pytest.mark.parametrize(("what", "size"), [("fit", 30_000), ("choose", 10_000), ("points", 5_000), ("segment", 300)])
def test_little_memory_is_a_result_or_a_memory_error(what, size):
    lines = outcomes(what, size, 50, 1500, 4)
    assert "MemoryError" in lines[0]
    assert lines[-1].endswith("done")


@pytest.mark.skipif("NCUT_LONG" not in os.environ, reason="some minutes; set NCUT_LONG to run it")
@pytest.mark.parametrize(
    ("what", "size"), [("fit", 300_000), ("choose", 100_000), ("points", 100_000), ("segment", 1500)]
)
def test_any_limit_of_memory_is_a_result_or_a_memory_error(what, size):
    outcomes(what, size, 50, 2000, 20)
