//! Weights for the edges between neighbours.

use super::{NeighborSearch, Neighbors, Own, Points, SearchMethod};
use crate::error::{Error, Result};
use crate::graph::{Graph, GraphBuilder, NodeId};
use crate::neighbors::Metric;
use crate::progress::{Observer, unobserved};

/// Points for which all pairs can be linked: more would not fit the memory of ordinary machines.
const MOST_DENSE: usize = 20_000;

/// What an edge between neighbours weighs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Affinity {
    /// The paper's: `exp(-l^2 / (2 sigma_i sigma_j))` for an edge of length `l`, `sigma_i` being the mean
    /// length of the edges at `i`.
    #[default]
    SelfTuning,
    /// 1.
    Knn,
    /// `exp(-gamma l^2)`; without `gamma` it is `1 / (2 m^2)`, `m` being the median length of the edges.
    Rbf {
        /// Falloff.
        gamma: Option<f64>,
    },
    /// The cosine of the angle between the points, for neighbours by angle; edges at 90° or more are dropped.
    Cosine,
}

/// Which neighbours are linked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Linking {
    /// Two points are linked when either is a neighbour of the other.
    #[default]
    Union,
    /// Only when each is a neighbour of the other.
    Mutual,
}

/// How points become a graph.
///
/// ```
/// use ncut::neighbors::{Affinity, PointGraph, Points};
/// let line = [0.0, 1.0, 2.0, 10.0, 11.0, 12.0];
/// let settings = PointGraph { n_neighbors: 2, affinity: Affinity::Knn, ..PointGraph::default() };
/// let graph = settings.build(Points::new(&line[..], 1)?, &mut ncut::unobserved)?;
/// assert_eq!(graph.components().count(), 2);
/// # Ok::<(), ncut::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointGraph {
    /// What edges weigh.
    pub affinity: Affinity,
    /// Neighbours of each point; all others where there are fewer.
    pub n_neighbors: usize,
    /// Which of them are linked.
    pub linking: Linking,
    /// How they are found.
    pub method: SearchMethod,
    /// Seed of the approximate search.
    pub seed: u64,
}

impl Default for PointGraph {
    /// The paper's graph: self-tuning, 25 neighbours, linked when either wants it.
    fn default() -> Self {
        Self {
            affinity: Affinity::default(),
            n_neighbors: 25,
            linking: Linking::default(),
            method: SearchMethod::default(),
            seed: 0,
        }
    }
}

impl PointGraph {
    /// The graph of `points`.
    ///
    /// The self-tuning graph follows the paper's code: of a point's distances to all points, itself included,
    /// the `n_neighbors + 1` smallest are taken, the lowest number first among equals, and the first is
    /// dropped. Among duplicates the point itself may therefore stay, as a self-loop of weight 1. The other
    /// graphs never link a point to itself.
    ///
    /// # Errors
    /// When a setting is out of range, or `observe` says stop.
    pub fn build(&self, points: Points<'_>, observe: Observer<'_>) -> Result<Graph<'static>> {
        if let Affinity::Rbf { gamma: Some(gamma) } = self.affinity
            && !(gamma > 0.0 && gamma.is_finite())
        {
            let (value, expected) = (gamma.to_string(), "a positive number");
            return Err(Error::BadSetting { name: "gamma", value, expected });
        }
        let own = if self.affinity == Affinity::SelfTuning { Own::DropFirst } else { Own::Skip };
        let neighbors = self.search().run_with(points, own, observe)?;
        let edges = linked(&neighbors, self.linking);
        weigh(points.count(), edges, self.affinity)
    }
}

impl PointGraph {
    /// Whether all pairs of `points` are considered.
    pub fn is_exact(&self, points: Points<'_>) -> bool {
        self.search().is_exact(points)
    }

    fn search(&self) -> NeighborSearch {
        let metric = if self.affinity == Affinity::Cosine { Metric::Cosine } else { Metric::Euclidean };
        NeighborSearch { n_neighbors: self.n_neighbors, metric, method: self.method, seed: self.seed }
    }
}

/// The paper's graph of `n_neighbors` neighbours; see [`PointGraph::build`].
///
/// # Errors
/// When `n_neighbors` is 0.
pub fn self_tuning_graph(points: Points<'_>, n_neighbors: usize) -> Result<Graph<'static>> {
    PointGraph { n_neighbors, ..PointGraph::default() }.build(points, &mut unobserved)
}

/// The graph that links all pairs of points, with weight `exp(-gamma l^2)`: for small sets.
///
/// # Errors
/// When `gamma` is no positive number, or there are more than 20 000 points.
pub fn dense_rbf_graph(points: Points<'_>, gamma: f64) -> Result<Graph<'static>> {
    if !(gamma > 0.0 && gamma.is_finite()) {
        let (value, expected) = (gamma.to_string(), "a positive number");
        return Err(Error::BadSetting { name: "gamma", value, expected });
    }
    let n_points = points.count();
    if n_points > MOST_DENSE {
        return Err(Error::shape(format!(
            "{n_points} points are too many to link all pairs; {MOST_DENSE} is the most, use neighbours instead"
        )));
    }
    let space = super::points::Space::new(points, Metric::Euclidean);
    let mut builder = GraphBuilder::new(n_points)?;
    let mut measured = Vec::new();
    for from in 0..n_points {
        let others = from as NodeId + 1..n_points as NodeId;
        measured.clear();
        space.squared_distances(from, &space, others, &mut measured);
        for &(squared, to) in &measured {
            builder.add_edge(from as NodeId, to, libm::exp(-gamma * squared))?;
        }
    }
    builder.finish()
}

/// An edge, its lower end first, and its squared length.
type Edge = (NodeId, NodeId, f64);

/// Every linked pair once.
fn linked(neighbors: &Neighbors, linking: Linking) -> Vec<Edge> {
    let mut wanted: Vec<Edge> = Vec::with_capacity(neighbors.n_points() * neighbors.n_neighbors());
    for point in 0..neighbors.n_points() as NodeId {
        let others = neighbors.of(point);
        wanted.extend(others.map(|(other, squared)| (point.min(other), point.max(other), squared)));
    }
    wanted.sort_unstable_by_key(|edge| (edge.0, edge.1));
    match linking {
        Linking::Union => wanted.dedup_by_key(|edge| (edge.0, edge.1)),
        Linking::Mutual => {
            let both = |run: &&[Edge]| run.len() == 2 || run[0].0 == run[0].1;
            let runs = wanted.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1));
            wanted = runs.filter(both).map(|run| run[0]).collect();
        }
    }
    wanted
}

fn weigh(n_points: usize, edges: Vec<Edge>, affinity: Affinity) -> Result<Graph<'static>> {
    let mut builder = GraphBuilder::new(n_points)?;
    let mut add = |weight: &dyn Fn(&Edge) -> f64| -> Result<()> {
        for edge in &edges {
            // Points in the same place are alike, however short all distances are.
            let weight = if edge.2 == 0.0 { 1.0 } else { weight(edge) };
            builder.add_edge(edge.0, edge.1, weight)?;
        }
        Ok(())
    };
    // The portable exponential: the same graph on every machine.
    match affinity {
        Affinity::SelfTuning => {
            let sigma = mean_lengths(n_points, &edges);
            add(&|&(from, to, squared)| {
                libm::exp(-squared / (2.0 * sigma[from as usize] * sigma[to as usize]))
            })?;
        }
        Affinity::Knn => add(&|_| 1.0)?,
        Affinity::Rbf { gamma } => {
            let gamma = gamma.unwrap_or_else(|| 0.5 / median_square(&edges));
            add(&|edge| libm::exp(-gamma * edge.2))?;
        }
        Affinity::Cosine => add(&|edge| (1.0 - edge.2 / 2.0).max(0.0))?,
    }
    drop(edges);
    builder.finish()
}

/// The mean length of the edges at every point, 0 without any.
fn mean_lengths(n_points: usize, edges: &[Edge]) -> Vec<f64> {
    let mut sums = vec![(0.0, 0u32); n_points];
    for &(from, to, squared) in edges {
        for end in [Some(from), (from != to).then_some(to)].into_iter().flatten() {
            let (total, count) = &mut sums[end as usize];
            *total += squared.sqrt();
            *count += 1;
        }
    }
    sums.iter().map(|&(total, count)| if count > 0 { total / f64::from(count) } else { 0.0 }).collect()
}

/// The median of the squared lengths: the square of the median length.
fn median_square(edges: &[Edge]) -> f64 {
    let mut squares: Vec<f64> = edges.iter().map(|edge| edge.2).collect();
    if squares.is_empty() {
        return 1.0;
    }
    let middle = squares.len() / 2;
    *squares.select_nth_unstable_by(middle, f64::total_cmp).1
}
