//! From points to a graph: each point is linked to its nearest neighbours.

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::graph::{Graph, GraphBuilder, NodeId};

/// Rows of numbers: one point a row.
#[derive(Clone, Copy, Debug)]
pub struct Points<'a> {
    values: &'a [f64],
    n_features: usize,
}

impl<'a> Points<'a> {
    /// Points of `n_features` coordinates each, one after the other in `values`.
    ///
    /// # Errors
    /// When `values` does not divide into points, is empty, or holds a NaN or an infinity.
    pub fn new(values: &'a [f64], n_features: usize) -> Result<Self> {
        if values.is_empty() || n_features == 0 || !values.len().is_multiple_of(n_features) {
            return Err(Error::shape(format!(
                "{} numbers are no table of points with {n_features} features each",
                values.len()
            )));
        }
        if let Some(place) = values.iter().position(|value| !value.is_finite()) {
            return Err(Error::shape(format!(
                "row {}, column {} is {}; fill in or remove such points first",
                place / n_features,
                place % n_features,
                values[place]
            )));
        }
        Ok(Self { values, n_features })
    }

    /// Number of points.
    pub fn count(&self) -> usize {
        self.values.len() / self.n_features
    }

    fn point(&self, index: usize) -> &'a [f64] {
        &self.values[index * self.n_features..][..self.n_features]
    }
}

/// The paper's graph of points: each is linked to its `n_neighbors` nearest, an edge standing when either
/// end wants it, and an edge of length `l` between `i` and `j` weighs `exp(-l^2 / (2 sigma_i sigma_j))`,
/// `sigma_i` being the mean length of the edges at `i`.
///
/// Exactly as in the paper's code: of a point's distances to all points, itself included, the
/// `n_neighbors + 1` smallest are taken, the lowest number first among equals, and the first is dropped.
/// Among duplicates the point itself may therefore stay, as a self-loop of weight 1.
///
/// Compares all pairs: O(n² · features) time, O(n · neighbours) memory.
///
/// # Errors
/// When `n_neighbors` is 0 or there are too many points.
///
/// ```
/// use ncut::neighbors::{Points, self_tuning_graph};
/// let line = [0.0, 1.0, 2.0, 10.0, 11.0, 12.0];
/// let graph = self_tuning_graph(Points::new(&line, 1)?, 2)?;
/// assert_eq!(graph.components().count(), 2);
/// # Ok::<(), ncut::Error>(())
/// ```
pub fn self_tuning_graph(points: Points<'_>, n_neighbors: usize) -> Result<Graph<'static>> {
    if n_neighbors == 0 {
        return Err(Error::BadSetting { name: "n_neighbors", value: "0".into(), expected: "at least 1" });
    }
    let n_points = points.count();
    if n_points > NodeId::MAX as usize {
        return Err(Error::TooManyNodes { n_nodes: n_points as u64 });
    }
    let nearest: Vec<Vec<(f64, NodeId)>> = (0..n_points)
        .into_par_iter()
        .map(|from| {
            let mut others: Vec<(f64, NodeId)> = (0..n_points)
                .map(|to| (squared_distance(points.point(from), points.point(to)), to as NodeId))
                .collect();
            let taken = (n_neighbors + 1).min(n_points);
            let by_distance = |a: &(f64, NodeId), b: &(f64, NodeId)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
            if taken < n_points {
                others.select_nth_unstable_by(taken - 1, by_distance);
                others.truncate(taken);
            }
            others.sort_unstable_by(by_distance);
            others.remove(0);
            others
        })
        .collect();

    // Every edge once: (lower end, upper end, squared length).
    let mut edges: Vec<(NodeId, NodeId, f64)> = Vec::with_capacity(n_points * n_neighbors);
    for (from, others) in nearest.iter().enumerate() {
        let from = from as NodeId;
        edges.extend(others.iter().map(|&(squared, to)| (from.min(to), from.max(to), squared)));
    }
    edges.sort_unstable_by_key(|edge| (edge.0, edge.1));
    edges.dedup_by_key(|edge| (edge.0, edge.1));

    let mut lengths = vec![(0.0, 0u32); n_points];
    for &(from, to, squared) in &edges {
        for end in [Some(from), (from != to).then_some(to)].into_iter().flatten() {
            let (total, count) = &mut lengths[end as usize];
            *total += squared.sqrt();
            *count += 1;
        }
    }
    let sigma: Vec<f64> = lengths
        .iter()
        .map(|&(total, count)| if count > 0 { total / f64::from(count) } else { 0.0 })
        .collect();

    let mut builder = GraphBuilder::new(n_points)?;
    for (from, to, squared) in edges {
        let weight = if squared == 0.0 {
            1.0
        } else {
            // The portable exponential: the same graph on every machine.
            libm::exp(-squared / (2.0 * sigma[from as usize] * sigma[to as usize]))
        };
        builder.add_edge(from, to, weight)?;
    }
    builder.finish()
}

/// Squared Euclidean distance, summed in eight lanes: fast, and the same on every machine.
fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    let mut lanes = [0.0; LANES];
    let (a_blocks, b_blocks) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f64 =
        a_blocks.remainder().iter().zip(b_blocks.remainder()).map(|(a, b)| (a - b) * (a - b)).sum();
    for (a, b) in a_blocks.zip(b_blocks) {
        for lane in 0..LANES {
            let difference = a[lane] - b[lane];
            lanes[lane] += difference * difference;
        }
    }
    lanes.iter().sum::<f64>() + rest
}
