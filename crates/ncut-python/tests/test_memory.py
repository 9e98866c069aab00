"""How much memory a fit takes, measured in a process of its own."""

from __future__ import annotations

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
graph = circulant(1_000_000, np.arange(1, 11)) if kind == "ring" else random(500_000, 40)
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
    assert int(n_entries) > 19_000_000 and (real, index) == ("float64", "int32")
    assert float(rise) <= 1.5
