"""What several tests use."""

from __future__ import annotations

import os

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits


@pytest.fixture(scope="session")
def digits():
    return load_digits(return_X_y=True)


@pytest.fixture(scope="session")
def command():
    """The command line `ncut`."""
    path = os.environ.get("NCUT_COMMAND")
    if not path:
        pytest.skip("NCUT_COMMAND is not set")
    return path


def objective(matrix, labels):
    """sum_c A_c / D_c, by code that knows nothing of ours."""
    matrix = sparse.csr_array(matrix)
    degrees = np.asarray(matrix.sum(axis=1)).ravel()
    total = 0.0
    for label in np.unique(labels[labels >= 0]):
        members = np.flatnonzero(labels == label)
        total += matrix[members][:, members].sum() / degrees[members].sum()
    return total


def planted(n_clusters, size, seed, *, inside=8, between=1):
    """Clusters of random links with weights, few between them."""
    rng = np.random.default_rng(seed)
    n = n_clusters * size
    truth = np.repeat(np.arange(n_clusters), size)
    n_inside, n_between = n * inside // 2, n * between // 2
    first = rng.integers(n, size=n_inside)
    second = first // size * size + rng.integers(size, size=n_inside)
    ends = np.concatenate([np.stack([first, second]), rng.integers(n, size=(2, n_between))], axis=1)
    ends = ends[:, ends[0] != ends[1]]
    weights = rng.uniform(0.5, 1.5, ends.shape[1])
    upper = sparse.coo_array((weights, (ends[0], ends[1])), shape=(n, n)).tocsr()
    return (upper + upper.T).tocsr(), truth


def accuracy(labels, truth):
    from scipy.optimize import linear_sum_assignment
    from sklearn.metrics.cluster import contingency_matrix

    table = contingency_matrix(truth, labels)
    return table[linear_sum_assignment(-table)].sum() / len(truth)
