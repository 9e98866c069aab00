"""Methods for many points, in numpy, beside `ncut points`: large.py PROGRAM DATA FOLDER writes large.md.

Each stands for a way round the eigenvectors of a large matrix that the paper names.
"""

import os
import resource
import sys
import tempfile

import numpy as np
import scipy.sparse
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.metrics import normalized_mutual_info_score

import data
from markdown import table, wrapped
from program import Ncut, load_matrix
from rivals import degrees_of, unit_rows

NUMBERS = (70_000, 500_000)
KINDS = {True: "Apart", False: "Bridged"}
K = 10
N_LANDMARKS = 1000
LANDMARKS_OF_A_POINT = 5
POWERS = 50
ROWS = 20_000
MOST_FOR_MEANS = 50_000
FALLOFF = 0.25


def squared_distances(points, others):
    lengths = (points**2).sum(axis=1)[:, None] + (others**2).sum(axis=1)
    return np.maximum(lengths - 2 * points @ others.T, 0)


def means(rows, k):
    return KMeans(k, n_init=3, max_iter=100, random_state=0).fit_predict(rows)


def sample(points):
    return points[np.random.default_rng(0).choice(len(points), N_LANDMARKS, replace=False)]


def nystrom(points, falloff):
    """Fowlkes et al. 2004: a thousand columns of the Gaussian matrix stand for all; `falloff` in median lengths."""
    landmarks = sample(points)
    among = squared_distances(landmarks, landmarks)
    gamma = 1 / (2 * falloff**2 * np.median(among[np.triu_indices(N_LANDMARKS, 1)]))
    values, vectors = np.linalg.eigh(np.exp(-gamma * among))
    kept = values > 1e-8 * values[-1]
    root = vectors[:, kept] / np.sqrt(values[kept])
    # The matrix is F F^T.
    blocks = [points[first : first + ROWS] for first in range(0, len(points), ROWS)]
    factor = np.concatenate([np.exp(-gamma * squared_distances(block, landmarks)) @ root for block in blocks])
    degrees = factor @ factor.sum(axis=0)
    factor /= np.sqrt(np.maximum(degrees, 1e-12))[:, None]
    vectors = np.linalg.eigh(factor.T @ factor)[1][:, ::-1][:, :K]
    return means(unit_rows(factor @ vectors + 1e-300), K)


def landmarks(points):
    """Cai and Chen 2015 (LSC-K): each point as a mixture of its five nearest of a thousand means."""
    centers = few_means(points, N_LANDMARKS).cluster_centers_
    ids, weights = [], []
    for first in range(0, len(points), ROWS):
        squares = squared_distances(points[first : first + ROWS], centers)
        nearest = np.argpartition(squares, LANDMARKS_OF_A_POINT, axis=1)[:, :LANDMARKS_OF_A_POINT]
        ids.append(nearest)
        weights.append(np.take_along_axis(squares, nearest, axis=1))
    ids, squares = np.concatenate(ids), np.concatenate(weights)
    weights = np.exp(-squares / (2 * squares.mean()))
    weights /= weights.sum(axis=1, keepdims=True)
    starts = np.arange(0, ids.size + 1, LANDMARKS_OF_A_POINT)
    mixture = scipy.sparse.csr_matrix((weights.ravel(), ids.ravel(), starts), (len(points), N_LANDMARKS))
    mixture = mixture @ scipy.sparse.diags(1 / np.sqrt(np.maximum(np.asarray(mixture.sum(axis=0)).ravel(), 1e-12)))
    vectors = np.linalg.eigh((mixture.T @ mixture).toarray())[1][:, ::-1][:, :K]
    return means(unit_rows(mixture @ vectors + 1e-300), K)


def few_means(points, n_means):
    """Means of as many points as say enough about them."""
    chosen = points[np.random.default_rng(0).permutation(len(points))[:MOST_FOR_MEANS]]
    return MiniBatchKMeans(n_means, batch_size=5000, max_iter=10, n_init=1, random_state=0).fit(chosen)


def kasp(ncut, points):
    """Yan, Huang and Jordan 2009: a thousand means are clustered, each point goes with its mean."""
    found = few_means(points, N_LANDMARKS)
    centers = ncut.save("centers.npy", found.cluster_centers_.astype(float))
    output = ncut.file("centers.labels.npy")
    ncut.report("points", centers, "-k", K, "-o", output)
    return np.load(output).astype(int)[found.predict(points)]


def power_iteration(graph):
    """Lin and Cohen 2010, Boutsidis et al. 2015: powers of `D^-1 A` on ten random vectors instead of eigenvectors."""
    matrix = load_matrix(graph)
    walk = scipy.sparse.diags(1 / np.maximum(degrees_of(matrix), 1e-300)) @ matrix
    rows = np.random.default_rng(0).normal(size=(matrix.shape[0], K))
    for _ in range(POWERS):
        rows = np.linalg.qr(walk @ rows)[0]
    return means(unit_rows(rows), K)


def accuracy(truth, labels):
    counts = np.zeros((truth.max() + 1, labels.max() + 1))
    np.add.at(counts, (truth, labels), 1)
    return counts[linear_sum_assignment(-counts)].sum() / len(truth)


def nmi(one, other):
    return normalized_mutual_info_score(one, other, average_method="max")


def timed(work):
    started = processor_seconds()
    return work(), processor_seconds() - started


def processor_seconds():
    """Of this program and of those it called: whatever else the machine does."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(part.ru_utime + part.ru_stime for part in used)


def contest(ncut, points, truth):
    """Rows of a table: method, seconds, ACC, NMI, agreement with `ncut points`; the share of neighbours in its time."""
    file, output, graph = ncut.save("many.npy", points), ncut.file("labels.npy"), ncut.file("many.npz")
    whole, seconds = timed(lambda: ncut.report("points", file, "-k", K, "-o", output, "--graph-out", graph))
    ours, found = np.load(output).astype(int), {}
    found["`ncut points`"] = ours, seconds
    building = whole["seconds"]["build"] / whole["seconds"]["total"]
    for preset in ("fast", "paper"):
        labels, more = timed(lambda preset=preset: ncut.labels(graph, K, "--preset", preset))
        found[f"`ncut points --preset {preset}`"] = labels, building * seconds + more
    labels, more = timed(lambda: power_iteration(graph))
    found["power iteration, on ncut's graph"] = labels, building * seconds + more
    wide = points.astype(float)
    found["Nyström"] = timed(lambda: nystrom(wide, FALLOFF))
    found["landmarks (LSC-K)"] = timed(lambda: landmarks(wide))
    found["KASP, ncut on the means"] = timed(lambda: kasp(ncut, wide))
    found["k-means of the points"] = timed(lambda: MiniBatchKMeans(K, n_init=3, random_state=0).fit_predict(wide))
    rows = []
    for name, (labels, seconds) in found.items():
        values = (accuracy(truth, labels), nmi(truth, labels), nmi(ours, labels))
        rows.append([name, f"{seconds:.1f}", *(f"{value:.3f}" for value in values)])
    return rows, building


def page(results):
    header = ["method", "seconds", "ACC", "NMI", "NMI with `ncut points`"]
    parts = []
    for (within_classes, n_points), (rows, building) in results.items():
        size = f"{KINDS[within_classes]}, {n_points // 1000} 000 points"
        parts.append(f"{size}; neighbours take {building:.0%} of the time of `ncut points`:")
        parts.append(table(header, rows))
    tables = "\n\n".join(parts)
    return f"""# Many points: what the paper names, and whether ncut needs it

The paper lists ways round the eigenvectors of a large matrix. `ncut` computes no eigenvectors for clusters, so all
there is to win is the time of the neighbours. Written by `experiments/run`; seconds are those of the processor, on
one thread.

The points are made of `mnist10_like` from a seed, in its 50 principal axes: each lies on the way from an image to one
of its ten nearest and has the class of the first; {K} clusters. *Apart* means the nearest of its own class, as SMOTE
makes samples: with 500 000 such points nearly no neighbour is of another class, which is easy for whoever looks at
neighbours. *Bridged* means the nearest of all images: then bridges of points lead from class to class, and which of
two classes a point on a bridge belongs to is chance.

{tables}

Nyström takes {N_LANDMARKS} points, landmarks and KASP as many means, made from {MOST_FOR_MEANS // 1000} 000 points.
The falloff of Nyström is {FALLOFF} median lengths, the best of 0.25, 0.5 and 1. k-means of embedded rows has three
starts. Presets `fast` and `paper`, and power iteration, are given the graph; their times include its making.

- **Nyström** (Fowlkes, Belongie, Chung, Malik 2004): not needed. It approximates the Gaussian matrix of all pairs by
  some of its columns. With the falloff of a neighbourhood most points are far from all of them, with a longer one the
  clusters blur. It takes longer than `ncut points`, and agrees less with the classes on both kinds of points.
- **Landmarks, anchors** (Cai and Chen 2015, LSC-K): not needed for time, of which it takes about as much. It sees only
  the means, and so no fine structure: less than `ncut points` finds where the classes are apart; as much or more, above
  all by ACC, where bridges join them.
- **KASP** (Yan, Huang, Jordan 2009): needs nothing new. Means by any k-means, `ncut points` on the means, each point
  with its mean. It is faster than `ncut points` on all points, most where there are very many, and the way where they
  do not fit in memory.
- **Power iteration** (Lin and Cohen 2010; Boutsidis, Kambadur, Gittens 2015): not needed. It replaces eigenvectors
  and needs the same graph; {POWERS} powers do not come near the leading eigenvectors of a graph of that size, whose
  eigenvalues are close together.

Named by the paper and not measured: subsampling within the eigensolver (Chen et al. 2006), filtered random signals
(Tremblay et al. 2016), random binning features (Wu et al. 2018). All three are ways to eigenvectors.
"""


def main(program, folder_of_data, folder):
    results = {}
    with tempfile.TemporaryDirectory() as scratch:
        ncut = Ncut(os.path.abspath(program), scratch)
        for within_classes in KINDS:
            for n_points in NUMBERS:
                results[within_classes, n_points] = measured(ncut, folder_of_data, within_classes, n_points)
    with open(os.path.join(folder, "large.md"), "w", encoding="utf-8") as file:
        file.write(wrapped(page(results).strip()) + "\n")


def measured(ncut, folder_of_data, within_classes, n_points):
    print(f"{n_points} points, {KINDS[within_classes].lower()}", file=sys.stderr, flush=True)
    source = next(data_set for data_set in data.SETS if data_set.name == "mnist10_like")
    return contest(ncut, *data.between_neighbors(*source.load(folder_of_data), n_points, 0, within_classes))


if __name__ == "__main__":
    main(*sys.argv[1:])
