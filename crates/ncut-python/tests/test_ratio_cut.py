"""Ratio-Cut beside what rounds the eigenvectors of the Laplacian by k-means."""

import os
from pathlib import Path

import ncut
import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import eigsh
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

DATA = os.environ.get("NCUT_DATA")
needs_data = pytest.mark.skipif(DATA is None, reason="NCUT_DATA is not set")


def ratio_cut(matrix, labels):
    """`sum_c cut_c / n_c`, computed here."""
    members = sparse.csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))))
    between = (members @ matrix @ members.T).toarray()
    cuts = between.sum(axis=1) - np.diag(between)
    return float((cuts / np.bincount(labels)).sum())


def rounded(matrix, n_clusters):
    """Labels by k-means of the eigenvectors of the Laplacian with the smallest values."""
    laplacian = sparse.csc_array(sparse.diags_array(matrix.sum(axis=1)) - matrix)
    if matrix.shape[0] < 3000:
        vectors = np.linalg.eigh(laplacian.toarray())[1][:, :n_clusters]
    else:
        vectors = eigsh(laplacian, k=n_clusters, sigma=-1e-3, which="LM")[1]
    return KMeans(n_clusters, n_init=10, random_state=0).fit(vectors).labels_


def check(matrix, n_clusters):
    found = ncut.cluster(matrix, n_clusters, objective="ratio_cut", min_share=0.0)
    assert found.ratio_cut == pytest.approx(ratio_cut(matrix, found.labels), rel=1e-9)
    assert found.objective == -found.ratio_cut
    assert found.ratio_cut <= ratio_cut(matrix, rounded(matrix, n_clusters))
    bound, _ = ncut.upper_bound(matrix, n_clusters, objective="ratio_cut")
    assert found.objective <= bound + 1e-6 * matrix.sum()


def test_digits():
    check(sparse.csr_array(ncut.self_tuning_graph(load_digits().data)), 10)


@needs_data
@pytest.mark.parametrize(("name", "n_clusters"), [("4elt", 32), ("airfoil1", 16), ("email-Eu-core", 42)])
def test_graphs(name, n_clusters):
    matrix = sparse.csr_array(sparse.load_npz(Path(DATA) / f"graphs/{name}.npz")).astype(float)
    # Isolated nodes are set aside: clusters of them alone would cost nothing.
    linked = matrix.sum(axis=1) > 0
    check(matrix[linked][:, linked].tocsr(), n_clusters)


@needs_data
def test_umist():
    points = np.load(Path(DATA) / "features/umist.npz")
    check(sparse.csr_array(ncut.self_tuning_graph(points["X"] / 255.0)), 20)


def test_an_estimator_and_its_prediction():
    points = load_digits().data
    model = ncut.NormalizedCut(10, objective="ratio_cut").fit(points)
    assert len(set(model.labels_)) == 10
    assert np.mean(model.predict(points) == model.labels_) > 0.9


def test_an_unknown_objective_is_refused():
    with pytest.raises(ValueError, match="objective"):
        ncut.cluster(np.ones((3, 3)) - np.eye(3), 2, objective="cut")
