"""The paper's rivals in numpy: EVD+KM and ISR, both started from given labels; other readings of SBMC and of EBMC.

`ncut compare` reports their scores but writes no labels; the pictures and the starts of the curves need labels.
The page checks that both implementations reach the same objectives.
"""

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

MOST_ROUNDS = 200
LEAST_GAIN = 1e-14
MOST_DENSE = 1000


def degrees_of(matrix):
    return np.asarray(matrix.sum(axis=1)).ravel()


def objective(matrix, labels):
    """`sum_c A_c / D_c`."""
    rows = np.repeat(labels, np.diff(matrix.indptr))
    inside = rows == labels[matrix.indices]
    association = np.bincount(rows[inside], matrix.data[inside], labels.max() + 1)
    volume = np.bincount(rows, matrix.data, labels.max() + 1)
    return float((association[volume > 0] / volume[volume > 0]).sum())


def eigenvectors(matrix, k):
    """Of the k largest eigenvalues of `D^-1/2 A D^-1/2`; no degree may be 0."""
    scale = scipy.sparse.diags(1 / np.sqrt(degrees_of(matrix)))
    normalized = (scale @ matrix @ scale).tocsc()
    if matrix.shape[0] <= MOST_DENSE:
        return np.linalg.eigh(normalized.toarray())[1][:, ::-1][:, :k]
    # The largest eigenvalue is 1: those nearest to a number a little above are the largest.
    start = np.ones(matrix.shape[0])
    return scipy.sparse.linalg.eigsh(normalized, k, sigma=1.001, v0=start, ncv=4 * k + 20)[1][:, ::-1]


def unit_rows(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def evd_km(vectors, labels):
    """Ng, Jordan and Weiss: Lloyd's iterations on the rows scaled to length 1, from the means of the labels."""
    rows = unit_rows(vectors)
    return lloyd(rows, cluster_means(rows, labels, vectors.shape[1]))


def variants(vectors, degrees, labels):
    """Other readings of the recipes, by name."""
    rows, k = unit_rows(vectors), vectors.shape[1]
    return {
        "EVD+KM, first means from the unscaled eigenvectors": lloyd(rows, cluster_means(vectors, labels, k)),
        "EVD+KM, then moves of single points, as MATLAB does": single_moves(rows, evd_km(vectors, labels), k),
        "EVD+KM, spherical k-means": lloyd(rows, unit_rows(cluster_means(rows, labels, k)), unit_rows),
        "ISR, one sweep over the nodes per rotation": isr(vectors, degrees, labels, most_sweeps=1),
    }


def lloyd(rows, means, adjust=lambda means: means):
    """Nearest means and means of the nearest, in turn, until the labels stay."""
    k, labels = len(means), None
    for _ in range(MOST_ROUNDS):
        distances = (means**2).sum(axis=1) - 2 * rows @ means.T
        nearest = fill_empty(distances.argmin(axis=1), distances, k)
        if np.array_equal(nearest, labels):
            break
        labels = nearest
        means = adjust(cluster_means(rows, labels, k))
    return labels


def single_moves(rows, labels, k):
    """Moves one point after the other to where the sum of squared distances falls most, until none does."""
    labels = labels.copy()
    means, sizes = cluster_means(rows, labels, k), np.bincount(labels, minlength=k)
    last_moved, node = 0, 0
    while node - last_moved < len(labels) and node < MOST_ROUNDS * len(labels):
        point = node % len(labels)
        node += 1
        row, old = rows[point], labels[point]
        if sizes[old] == 1:
            continue
        costs = ((means - row) ** 2).sum(axis=1) * sizes / (sizes + 1)
        costs[old] *= (sizes[old] + 1) / (sizes[old] - 1)
        new = costs.argmin()
        if costs[new] < costs[old] - LEAST_GAIN:
            means[old] -= (row - means[old]) / (sizes[old] - 1)
            means[new] += (row - means[new]) / (sizes[new] + 1)
            sizes[old] -= 1
            sizes[new] += 1
            labels[point], last_moved = new, node
    return labels


def isr(vectors, degrees, labels, most_sweeps=MOST_ROUNDS):
    """Improved Spectral Rotation: the best rotation for the labels and coordinate descent on the labels, in turn."""
    k = vectors.shape[1]
    roots, labels = np.sqrt(degrees), labels.copy()
    for _ in range(MOST_ROUNDS):
        volumes = np.bincount(labels, degrees, k)
        indicators = np.zeros_like(vectors)
        indicators[np.arange(len(labels)), labels] = roots / np.sqrt(volumes[labels])
        left, _, right = np.linalg.svd(vectors.T @ indicators)
        if not rotation_descent(roots[:, None] * (vectors @ left @ right), degrees, labels, most_sweeps):
            break
    return labels


def rotation_descent(shares, degrees, labels, most_sweeps):
    """Raises `sum_c (sum of shares_ic over i in c) / volume_c^1/2` node by node until none moves; whether any did."""
    k = shares.shape[1]
    sizes, volumes = np.bincount(labels, minlength=k), np.bincount(labels, degrees, k)
    sums = np.bincount(labels, shares[np.arange(len(labels)), labels], k)
    terms = sums / np.sqrt(volumes)
    has_moved = False
    for _ in range(most_sweeps):
        n_moves = 0
        for node, degree in enumerate(degrees):
            old = labels[node]
            if sizes[old] == 1:
                continue
            row = shares[node]
            gains = (sums + row) / np.sqrt(volumes + degree) - terms
            gains[old] = terms[old] - (sums[old] - row[old]) / np.sqrt(volumes[old] - degree)
            new = gains.argmax()
            if gains[new] <= gains[old] + LEAST_GAIN:
                continue
            for cluster, sign in ((old, -1), (new, 1)):
                sums[cluster] += sign * row[cluster]
                volumes[cluster] += sign * degree
                sizes[cluster] += sign
                terms[cluster] = sums[cluster] / np.sqrt(volumes[cluster])
            labels[node] = new
            n_moves += 1
        has_moved |= n_moves > 0
        if n_moves == 0:
            break
    return has_moved


def cluster_means(rows, labels, k):
    indicator = scipy.sparse.csr_matrix((np.ones(len(labels)), labels, np.arange(len(labels) + 1)), (len(labels), k))
    return (indicator.T @ rows) / np.maximum(np.bincount(labels, minlength=k), 1)[:, None]


def fill_empty(labels, distances, k):
    """Gives every empty cluster the farthest point of a cluster that has others."""
    distances = distances[np.arange(len(labels)), labels]
    for empty in np.flatnonzero(np.bincount(labels, minlength=k) == 0):
        has_others = np.bincount(labels, minlength=k)[labels] > 1
        point = np.flatnonzero(has_others)[distances[has_others].argmax()]
        labels[point], distances[point] = empty, -np.inf
    return labels


def other_readings(matrix, labels):
    """Other readings of SBMC, and what EBMC may be, by name; all from the same labels."""
    k = labels.max() + 1
    random = np.random.default_rng(0).integers(k, size=len(labels))
    random[:k] = np.arange(k)
    return {
        "SBMC, the penalty half as large": sbmc(matrix, labels, penalty=0.5),
        "SBMC, twice as large": sbmc(matrix, labels, penalty=2),
        "SBMC, labels nearest to G alone": sbmc(matrix, labels, nearest_to_relaxed=True),
        "SBMC, labels nearest to G alone, the penalty a tenth": sbmc(matrix, labels, 0.1, nearest_to_relaxed=True),
        "SBMC, from random labels": sbmc(matrix, random),
        "SBMC's model, by moves of single nodes": model_descent(matrix, labels, one_number),
        "a number for every cluster (EBMC?), by moves of single nodes": model_descent(matrix, labels, number_each),
        "the same with volumes instead of sizes": model_descent(matrix, labels, number_each, degrees_of(matrix)),
        "N2HI, the start of all": labels,
    }


def sbmc(matrix, labels, penalty=1.0, nearest_to_relaxed=False, growth=1.5):
    """Self-balanced min-cut by augmented Lagrangian steps, as in the library; or with a simpler step of the labels."""
    k = labels.max() + 1
    for _ in range(50):
        inside, sizes, _ = cluster_sums(matrix, labels, k)
        scale = inside.sum() / (sizes**2).sum()
        first = penalty * matrix.sum() / len(labels)
        found = lagrangian_steps(matrix, labels, k, scale, first, nearest_to_relaxed, growth)
        inside_found, sizes_found, _ = cluster_sums(matrix, found, k)
        if one_number(inside_found, sizes_found) <= one_number(inside, sizes):
            break
        labels = found
    return labels


def lagrangian_steps(matrix, labels, k, scale, penalty, nearest_to_relaxed, growth):
    def theta(rows):
        return scale / 2 * rows.sum(axis=0) - matrix @ rows

    multipliers = np.zeros((len(labels), k))
    indicators = np.eye(k)[labels]
    for _ in range(300):
        relaxed = indicators + (multipliers - theta(indicators)) / penalty
        target = relaxed if nearest_to_relaxed else relaxed - (multipliers + theta(relaxed)) / penalty
        labels = fill_empty(target.argmax(axis=1), -target, k)
        indicators = np.eye(k)[labels]
        if np.linalg.norm(indicators - relaxed) <= 1e-6:
            break
        multipliers += penalty * (indicators - relaxed)
        penalty *= growth
    return labels


def cluster_sums(matrix, labels, k, masses=None):
    """Of each cluster the weight inside, and the sum of the masses of its nodes (1 each by default)."""
    rows = np.repeat(labels, np.diff(matrix.indptr))
    same = rows == labels[matrix.indices]
    inside = np.bincount(rows[same], matrix.data[same], k)
    masses = np.ones(len(labels)) if masses is None else masses
    return inside, np.bincount(labels, masses, k), masses


def one_number(inside, sizes):
    """By how much `s Y Y^T` brings `|A|^2` down with the best number `s`."""
    return inside.sum() ** 2 / (sizes**2).sum()


def number_each(inside, sizes):
    """The same with a number for each cluster."""
    return ((inside / sizes) ** 2).sum()


def model_descent(matrix, labels, value, masses=None):
    """Moves single nodes where a model fits the matrix better, until none does."""
    labels, k = labels.copy(), labels.max() + 1
    inside, sums, masses = cluster_sums(matrix, labels, k, masses)
    sizes, loops = np.bincount(labels, minlength=k), matrix.diagonal()
    for _ in range(MOST_ROUNDS):
        n_moves = 0
        for node in range(len(labels)):
            old = labels[node]
            if sizes[old] == 1:
                continue
            row = slice(matrix.indptr[node], matrix.indptr[node + 1])
            links = np.bincount(labels[matrix.indices[row]], matrix.data[row], k)
            links[old] -= loops[node]
            gains = 2 * links + loops[node]
            inside[old] -= gains[old]
            sums[old] -= masses[node]
            moved = zip(np.diag(gains), masses[node] * np.eye(k), strict=True)
            values = [value(inside + gain, sums + mass) for gain, mass in moved]
            new = int(np.argmax(values))
            if values[new] <= values[old] + LEAST_GAIN * abs(values[old]):
                new = old
            inside[new] += gains[new]
            sums[new] += masses[node]
            sizes[old] -= 1
            sizes[new] += 1
            labels[node] = new
            n_moves += new != old
        if n_moves == 0:
            break
    return labels
