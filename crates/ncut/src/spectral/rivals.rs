//! The solvers of the relaxed problem: eigenvectors, then labels from them by k-means or by rotation. Models other than N-Cut
//! are [`LaplacianRank`](super::LaplacianRank) and [`BalancedCut`](super::BalancedCut).

use faer::Mat;

use super::{KMeans, Spectrum};
use crate::error::{Error, Result};
use crate::graph::{Graph, NodeId};
use crate::partition::ClusterId;
use crate::progress::{Clock, Stopped};

/// Rounds at most of a rotation; it ends when the labels stay the same.
const MAX_ROUNDS: usize = 200;
/// A move of a rotation gains more than this.
const MIN_GAIN: f64 = 1e-14;

/// How eigenvectors become labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rival {
    /// Ng, Jordan and Weiss ("EVD+KM" in the paper): rows of the eigenvectors of `D^-1/2 A D^-1/2` scaled to length 1,
    /// then k-means.
    NgJordanWeiss,
    /// Shi and Malik: rows of the solutions of the generalised problem `L f = lambda D f`, then k-means.
    ShiMalik,
    /// Yu and Shi: the rotation of the rows, scaled to length 1, that brings them nearest to indicators.
    Rotation,
    /// Improved Spectral Rotation ("ISR"): the rotation of the eigenvectors that brings them nearest to scaled
    /// indicators `D^1/2 Y (Y^T D Y)^-1/2`, whose labels coordinate descent finds.
    ImprovedRotation,
}

impl Rival {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::NgJordanWeiss, Self::ShiMalik, Self::Rotation, Self::ImprovedRotation];

    /// The name used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::NgJordanWeiss => "EVD+KM",
            Self::ShiMalik => "Shi-Malik",
            Self::Rotation => "rotation",
            Self::ImprovedRotation => "ISR",
        }
    }

    /// Labels from the k largest eigenpairs of `graph`, k being their number, starting from labels with all k clusters:
    /// their means, or the rotation that suits them. Exactly k clusters come back.
    ///
    /// # Errors
    /// When spectrum and start are not about the graph, the start leaves a cluster empty, or the clock says stop.
    pub fn solve(
        self,
        graph: &Graph<'_>,
        spectrum: &Spectrum,
        start: &[ClusterId],
        clock: &Clock<'_>,
    ) -> Result<Vec<ClusterId>> {
        let k = spectrum.count();
        let n = graph.n_nodes();
        if spectrum.vectors.len() != n * k {
            return Err(Error::labels(format!("{} starting labels were given for {n} nodes", start.len())));
        }
        check_start(graph, k, start)?;
        let means = KMeans { max_iterations: 100, ..KMeans::new(k) };
        match self {
            Self::NgJordanWeiss => Ok(means.run_from_by(&unit_rows(spectrum), k, start, clock)?.labels),
            Self::ShiMalik => Ok(means.run_from_by(&walk_rows(graph, spectrum), k, start, clock)?.labels),
            Self::Rotation => Ok(rotate(&unit_rows(spectrum), k, start, clock)?),
            Self::ImprovedRotation => Ok(rotate_improved(graph, spectrum, start, clock)?),
        }
    }

    /// The same from `n_starts` starts by k-means++, the best by its own measure; the rotations start from that of
    /// the scaled rows.
    ///
    /// # Errors
    /// When the spectrum is not about the graph.
    pub fn solve_from_random(
        self,
        graph: &Graph<'_>,
        spectrum: &Spectrum,
        n_starts: usize,
        seed: u64,
    ) -> Result<Vec<ClusterId>> {
        let k = spectrum.count();
        let rows = if self == Self::ShiMalik { walk_rows(graph, spectrum) } else { unit_rows(spectrum) };
        let labels = KMeans { n_starts, seed, ..KMeans::new(k) }.run(&rows, k)?.labels;
        match self {
            Self::NgJordanWeiss | Self::ShiMalik => Ok(labels),
            Self::Rotation | Self::ImprovedRotation => self.solve(graph, spectrum, &labels, &Clock::new()),
        }
    }
}

/// Refuses starting labels that are not one a node, or leave a cluster empty.
pub(super) fn check_start(graph: &Graph<'_>, n_clusters: usize, start: &[ClusterId]) -> Result<()> {
    let n_nodes = graph.n_nodes();
    if n_clusters == 0 || n_clusters > n_nodes {
        return Err(Error::BadClusterCount { n_clusters, n_nodes, nodes: "nodes" });
    }
    if start.len() != n_nodes {
        return Err(Error::labels(format!("{} starting labels were given for {n_nodes} nodes", start.len())));
    }
    let mut sizes = vec![0usize; n_clusters];
    for &label in start {
        *sizes
            .get_mut(label as usize)
            .ok_or_else(|| Error::labels(format!("there is no cluster {label}")))? += 1;
    }
    match sizes.iter().position(|&size| size == 0) {
        Some(empty) => Err(Error::labels(format!("starting cluster {empty} is empty"))),
        None => Ok(()),
    }
}

/// The rows of the eigenvectors, scaled to length 1; a row of zeros stays.
fn unit_rows(spectrum: &Spectrum) -> Vec<f64> {
    let mut rows = spectrum.vectors.clone();
    for row in rows.chunks_exact_mut(spectrum.count()) {
        let length = row.iter().map(|value| value * value).sum::<f64>().sqrt();
        if length > 0.0 {
            row.iter_mut().for_each(|value| *value /= length);
        }
    }
    rows
}

/// The rows of `D^-1/2` times the eigenvectors; those of isolated nodes are zeros.
fn walk_rows(graph: &Graph<'_>, spectrum: &Spectrum) -> Vec<f64> {
    let mut rows = spectrum.vectors.clone();
    for (node, row) in rows.chunks_exact_mut(spectrum.count()).enumerate() {
        let root = graph.degree(node as NodeId).sqrt();
        row.iter_mut().for_each(|value| *value = if root > 0.0 { *value / root } else { 0.0 });
    }
    rows
}

/// `rows rotation`, row after row.
fn rotated(rows: &[f64], rotation: &Mat<f64>) -> Vec<f64> {
    let k = rotation.nrows();
    let mut result = Vec::with_capacity(rows.len());
    for row in rows.chunks_exact(k) {
        result.extend((0..k).map(|c| (0..k).map(|r| row[r] * rotation[(r, c)]).sum::<f64>()));
    }
    result
}

/// The rotation `R` that makes the trace of `R^T products` largest: `U V^T` of its singular vectors.
fn best_rotation(products: &Mat<f64>) -> Option<Mat<f64>> {
    let svd = products.svd().ok()?;
    Some(svd.U() * svd.V().transpose())
}

/// Yu and Shi: the best rotation for the labels, the best labels for the rotation, in turn.
fn rotate(rows: &[f64], k: usize, start: &[ClusterId], clock: &Clock<'_>) -> Result<Vec<ClusterId>, Stopped> {
    let mut labels = start.to_vec();
    for _ in 0..MAX_ROUNDS {
        clock.check()?;
        // rows^T Y: the sums of the rows of each cluster.
        let mut products = Mat::<f64>::zeros(k, k);
        for (row, &label) in rows.chunks_exact(k).zip(&labels) {
            for (r, value) in row.iter().enumerate() {
                products[(r, label as usize)] += value;
            }
        }
        let Some(rotation) = best_rotation(&products) else { break };
        let turned = rotated(rows, &rotation);
        let next = fill_empty(turned.chunks_exact(k).map(largest).collect(), &turned, k);
        if next == labels {
            break;
        }
        labels = next;
    }
    Ok(labels)
}

/// The place of the largest, the first among equals.
pub(super) fn largest(row: &[f64]) -> ClusterId {
    let mut best = 0;
    for place in 1..row.len() {
        if row[place] > row[best] {
            best = place;
        }
    }
    best as ClusterId
}

/// Gives every empty cluster the node that is nearest to it among those of clusters that have others.
pub(super) fn fill_empty(mut labels: Vec<ClusterId>, turned: &[f64], k: usize) -> Vec<ClusterId> {
    let mut sizes = vec![0usize; k];
    labels.iter().for_each(|&label| sizes[label as usize] += 1);
    for empty in 0..k {
        if sizes[empty] > 0 {
            continue;
        }
        let mut nearest: Option<usize> = None;
        for node in 0..labels.len() {
            let is_nearer = |other: usize| turned[node * k + empty] > turned[other * k + empty];
            if sizes[labels[node] as usize] > 1 && nearest.is_none_or(is_nearer) {
                nearest = Some(node);
            }
        }
        let node = nearest.expect("there are at least as many nodes as clusters");
        sizes[labels[node] as usize] -= 1;
        sizes[empty] = 1;
        labels[node] = empty as ClusterId;
    }
    labels
}

/// ISR: the best rotation for the scaled indicators, then coordinate descent on the labels, in turn.
fn rotate_improved(
    graph: &Graph<'_>,
    spectrum: &Spectrum,
    start: &[ClusterId],
    clock: &Clock<'_>,
) -> Result<Vec<ClusterId>, Stopped> {
    let k = spectrum.count();
    let degrees = graph.degrees();
    let mut labels = start.to_vec();
    for _ in 0..MAX_ROUNDS {
        let mut sums = Sums::of_volumes(degrees, &labels, k);
        // H^T D^1/2 Y (Y^T D Y)^-1/2.
        let mut products = Mat::<f64>::zeros(k, k);
        for (node, row) in spectrum.vectors.chunks_exact(k).enumerate() {
            let label = labels[node] as usize;
            if sums.volumes[label] > 0.0 {
                let factor = (degrees[node] / sums.volumes[label]).sqrt();
                for (r, value) in row.iter().enumerate() {
                    products[(r, label)] += factor * value;
                }
            }
        }
        let Some(rotation) = best_rotation(&products) else { break };
        // m_ic = d_i^1/2 (H R)_ic; the measure is sum_c (sum of m_ic over i in c) / volume_c^1/2.
        let mut shares = rotated(&spectrum.vectors, &rotation);
        for (row, degree) in shares.chunks_exact_mut(k).zip(degrees) {
            row.iter_mut().for_each(|value| *value *= degree.sqrt());
        }
        for (row, &label) in shares.chunks_exact(k).zip(&labels) {
            sums.shares[label as usize] += row[label as usize];
        }
        if !sums.descend(&shares, degrees, &mut labels, clock)? {
            break;
        }
    }
    Ok(labels)
}

/// What the measure of the improved rotation is made of.
struct Sums {
    volumes: Vec<f64>,
    shares: Vec<f64>,
    sizes: Vec<usize>,
}

impl Sums {
    fn of_volumes(degrees: &[f64], labels: &[ClusterId], k: usize) -> Self {
        let mut sums = Self { volumes: vec![0.0; k], shares: vec![0.0; k], sizes: vec![0; k] };
        for (degree, &label) in degrees.iter().zip(labels) {
            sums.volumes[label as usize] += degree;
            sums.sizes[label as usize] += 1;
        }
        sums
    }

    /// Sweeps until no node moves; whether any did.
    fn descend(
        &mut self,
        shares: &[f64],
        degrees: &[f64],
        labels: &mut [ClusterId],
        clock: &Clock<'_>,
    ) -> Result<bool, Stopped> {
        let k = self.volumes.len();
        let ratio = |share: f64, volume: f64| if volume > 0.0 { share / volume.sqrt() } else { 0.0 };
        let mut has_moved = false;
        for _ in 0..MAX_ROUNDS {
            clock.check()?;
            let mut n_moves = 0;
            for (node, row) in shares.chunks_exact(k).enumerate() {
                let (from, degree) = (labels[node] as usize, degrees[node]);
                // An isolated node contributes nothing wherever it is.
                if self.sizes[from] == 1 || degree == 0.0 {
                    continue;
                }
                let without = (self.shares[from] - row[from], self.volumes[from] - degree);
                let stays = ratio(self.shares[from], self.volumes[from]) - ratio(without.0, without.1);
                let (mut to, mut most) = (from, stays);
                for other in 0..k {
                    let gain = ratio(self.shares[other] + row[other], self.volumes[other] + degree)
                        - ratio(self.shares[other], self.volumes[other]);
                    if other != from && gain > most && gain > stays + MIN_GAIN {
                        (to, most) = (other, gain);
                    }
                }
                if to != from {
                    (self.shares[from], self.volumes[from]) = without;
                    self.sizes[from] -= 1;
                    self.shares[to] += row[to];
                    self.volumes[to] += degree;
                    self.sizes[to] += 1;
                    labels[node] = to as ClusterId;
                    n_moves += 1;
                }
            }
            has_moved |= n_moves > 0;
            if n_moves == 0 {
                break;
            }
        }
        Ok(has_moved)
    }
}
