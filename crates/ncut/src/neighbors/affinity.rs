//! Weights for the edges between neighbours.

use super::{NeighborSearch, Neighbors, Own, Points, SearchMethod, Values};
use crate::error::{Error, Result};
use crate::graph::{Graph, GraphBuilder, NodeId};
use crate::neighbors::Metric;
use crate::out_of_sample::OutOfSample;
use crate::progress::Clock;

/// Points for which all pairs can be linked: more would not fit the memory of ordinary machines.
const MAX_DENSE: usize = 20_000;

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
    /// Adaptive neighbours (Nie, Wang, Jordan and Huang, AAAI 2016): point `i` shares a weight of 1 among its `m` nearest,
    /// `(r_i - l^2) / (m r_i - sum of their l^2)` for one at the distance `l`, `r_i` being the squared distance of the
    /// neighbour after them. An edge weighs the mean of what its two ends give.
    Adaptive,
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
/// let graph = settings.build(Points::new(&line[..], 1)?, &ncut::Clock::new())?;
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
    /// When a setting is out of range, or the clock says stop.
    pub fn build(&self, points: Points<'_>, clock: &Clock<'_>) -> Result<Graph<'static>> {
        Ok(self.link(points, clock)?.graph)
    }

    /// As [`build`](Self::build), with what [`link_new`](Self::link_new) needs to know.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn link(&self, points: Points<'_>, clock: &Clock<'_>) -> Result<LinkedPoints> {
        self.check()?;
        let own = if self.affinity == Affinity::SelfTuning { Own::DropFirst } else { Own::Skip };
        let linked = self.weigh(&self.search().run_with(points, own, clock)?)?;
        match points.values {
            // Numbers of 32 bits tell no more about weights.
            Values::F32(_) => Ok(LinkedPoints { graph: linked.graph.narrowed()?, ..linked }),
            Values::F64(_) => Ok(linked),
        }
    }

    /// The graph of neighbours that were found elsewhere; for adaptive weights one more than are linked, unless there are
    /// no more.
    ///
    /// # Errors
    /// When a setting is out of range.
    pub fn weigh(&self, neighbors: &Neighbors) -> Result<LinkedPoints> {
        self.check()?;
        let n_linked = n_linked(neighbors, self.affinity == Affinity::Adaptive);
        let edges = linked(neighbors, n_linked, self.linking);
        weigh(neighbors, edges, self.affinity)
    }

    /// The links of new points to their nearest among `points`, whose graph was made with these settings and had
    /// `scale`. The lengths around the old points stay as they were; for the self-tuning graph `sigma` of a new point
    /// is the mean length of its links. A point so far away that no weight is above 0 is linked to the nearest alone.
    ///
    /// # Errors
    /// When the points do not have the same features, `scale` is that of another graph, or the clock says stop.
    pub fn link_new(
        &self,
        new: Points<'_>,
        points: Points<'_>,
        scale: &Scale,
        clock: &Clock<'_>,
    ) -> Result<OutOfSample<'static>> {
        if new.n_features() != points.n_features() {
            return Err(Error::shape(format!(
                "the new points have {} features, those of the graph {}",
                new.n_features(),
                points.n_features()
            )));
        }
        weigh_new(&self.search().run_among(new, points, clock)?, scale, points.count())
    }

    fn check(&self) -> Result<()> {
        match self.affinity {
            Affinity::Rbf { gamma: Some(gamma) } if !(gamma > 0.0 && gamma.is_finite()) => {
                let (value, expected) = (gamma.to_string(), "a positive number");
                Err(Error::BadSetting { name: "gamma", value, expected })
            }
            _ => Ok(()),
        }
    }
}

/// The links of new points whose `nearest` of `n_points` were found elsewhere; see [`PointGraph::link_new`].
///
/// # Errors
/// When `scale` is that of another graph, or a neighbour is no point of it.
pub fn weigh_new(nearest: &Neighbors, scale: &Scale, n_points: usize) -> Result<OutOfSample<'static>> {
    let n_lengths = match scale {
        Scale::SelfTuning(lengths) => lengths.len(),
        // Of arrays of different lengths the shorter one is refused.
        Scale::Adaptive { reach, total, .. } if reach.len() == n_points => total.len(),
        Scale::Adaptive { reach, .. } => reach.len(),
        Scale::Knn | Scale::Rbf { .. } | Scale::Cosine => n_points,
    };
    if n_lengths != n_points {
        return Err(Error::shape(format!("{n_lengths} lengths were given for {n_points} points")));
    }
    if let Some(&id) = nearest.ids().iter().find(|&&id| id as usize >= n_points) {
        return Err(Error::shape(format!("neighbour {id} is none of {n_points} points")));
    }
    let (mut columns, mut weights) = (Vec::new(), Vec::new());
    let mut offsets = vec![0];
    let n_linked = n_linked(nearest, matches!(scale, Scale::Adaptive { .. }));
    for point in 0..nearest.n_points() as NodeId {
        let first = columns.len();
        let lengths = nearest.of(point).map(|(_, squared)| squared.sqrt());
        let own = match scale {
            Scale::Adaptive { .. } => End::Shares(Shares::of(nearest, point, n_linked)),
            _ => End::Length(lengths.sum::<f64>() / nearest.n_neighbors() as f64),
        };
        for (other, squared) in nearest.of(point).take(n_linked) {
            let weight = scale.weight(squared, own, other);
            if weight > 0.0 {
                columns.push(other);
                weights.push(weight);
            }
        }
        if columns.len() == first
            && let Some((other, _)) = nearest.of(point).next()
        {
            columns.push(other);
            weights.push(1.0);
        }
        offsets.push(columns.len() as u64);
    }
    OutOfSample::new(offsets, columns, weights, n_points)
}

/// A graph of points and what its weights were made with.
#[derive(Clone, Debug)]
pub struct LinkedPoints {
    /// The graph.
    pub graph: Graph<'static>,
    /// What was measured of the points.
    pub scale: Scale,
}

/// What an [`Affinity`] measured of the points it linked.
#[derive(Clone, Debug, PartialEq)]
pub enum Scale {
    /// The mean length of the edges at every point.
    SelfTuning(Vec<f64>),
    /// Nothing: every edge weighs 1.
    Knn,
    /// The falloff.
    Rbf {
        /// As given, or by the median length.
        gamma: f64,
    },
    /// Nothing: the angle is all.
    Cosine,
    /// How every point shares a weight of 1 among its nearest.
    Adaptive {
        /// Among so many.
        n_neighbors: usize,
        /// The squared distance of the neighbour after them, ...
        reach: Vec<f64>,
        /// ... and what they are nearer than that, added up.
        total: Vec<f64>,
    },
}

/// What was measured at the end of an edge that is not stored in the scale.
#[derive(Clone, Copy)]
enum End {
    /// The mean length of its edges; any number where the affinity does not ask for it.
    Length(f64),
    Shares(Shares),
}

/// How a point shares a weight of 1 among its nearest.
#[derive(Clone, Copy)]
struct Shares {
    n_neighbors: usize,
    reach: f64,
    total: f64,
}

impl Shares {
    /// Those of a point among the first `n_linked` of its neighbours.
    fn of(neighbors: &Neighbors, point: NodeId, n_linked: usize) -> Self {
        let reach = neighbors.of(point).last().map_or(0.0, |(_, squared)| squared);
        let total = neighbors.of(point).take(n_linked).map(|(_, squared)| reach - squared).sum();
        Self { n_neighbors: n_linked, reach, total }
    }

    /// The share of a point at that squared distance.
    fn at(self, squared: f64) -> f64 {
        if self.total > 0.0 {
            // A new point may be nearer than all that were there.
            ((self.reach - squared) / self.total).clamp(0.0, 1.0)
        } else if squared <= self.reach {
            // All are as far.
            1.0 / self.n_neighbors as f64
        } else {
            0.0
        }
    }
}

impl Scale {
    /// The shares of all points among their neighbours, the last of whom is the one after the nearest.
    fn adaptive(neighbors: &Neighbors) -> Self {
        let n_neighbors = n_linked(neighbors, true);
        let shares = |point| Shares::of(neighbors, point as NodeId, n_neighbors);
        let (reach, total) = (0..neighbors.n_points()).map(shares).map(|own| (own.reach, own.total)).unzip();
        Self::Adaptive { n_neighbors, reach, total }
    }

    /// What was measured at a point.
    fn end(&self, point: NodeId) -> End {
        let at = point as usize;
        match self {
            Self::SelfTuning(sigma) => End::Length(sigma[at]),
            Self::Adaptive { n_neighbors, reach, total } => {
                End::Shares(Shares { n_neighbors: *n_neighbors, reach: reach[at], total: total[at] })
            }
            Self::Knn | Self::Rbf { .. } | Self::Cosine => End::Length(0.0),
        }
    }

    /// What an edge of that squared length between one end and point `to` weighs.
    fn weight(&self, squared: f64, one: End, to: NodeId) -> f64 {
        match (one, self.end(to)) {
            (End::Shares(one), End::Shares(other)) => f64::midpoint(one.at(squared), other.at(squared)),
            // Points in the same place are alike, however short all distances are.
            _ if squared == 0.0 => 1.0,
            // The portable exponential: the same graph on every machine.
            (End::Length(one), End::Length(other)) => match self {
                Self::SelfTuning(_) => libm::exp(-squared / (2.0 * one * other)),
                Self::Rbf { gamma } => libm::exp(-gamma * squared),
                Self::Cosine => (1.0 - squared / 2.0).max(0.0),
                Self::Knn | Self::Adaptive { .. } => 1.0,
            },
            (End::Shares(_), End::Length(_)) | (End::Length(_), End::Shares(_)) => 0.0,
        }
    }
}

/// How many of the neighbours found for each point are linked to it: for shares the last is the one that follows.
fn n_linked(neighbors: &Neighbors, by_shares: bool) -> usize {
    let n_neighbors = neighbors.n_neighbors();
    if by_shares { n_neighbors.saturating_sub(1).max(1) } else { n_neighbors }
}

impl PointGraph {
    /// Whether all pairs of `points` are considered.
    pub fn is_exact(&self, points: Points<'_>) -> bool {
        self.search().is_exact(points)
    }

    fn search(&self) -> NeighborSearch {
        let metric = if self.affinity == Affinity::Cosine { Metric::Cosine } else { Metric::Euclidean };
        let n_neighbors = match self.affinity {
            // One more, unless none are asked for, which is refused.
            Affinity::Adaptive if self.n_neighbors > 0 => self.n_neighbors.saturating_add(1),
            _ => self.n_neighbors,
        };
        NeighborSearch { n_neighbors, metric, method: self.method, seed: self.seed }
    }
}

/// The paper's graph of `n_neighbors` neighbours; see [`PointGraph::build`].
///
/// # Errors
/// When `n_neighbors` is 0.
pub fn self_tuning_graph(points: Points<'_>, n_neighbors: usize) -> Result<Graph<'static>> {
    PointGraph { n_neighbors, ..PointGraph::default() }.build(points, &Clock::new())
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
    if n_points > MAX_DENSE {
        return Err(Error::shape(format!(
            "{n_points} points are too many to link all pairs; {MAX_DENSE} is the most, use neighbours instead"
        )));
    }
    let space = super::space::Space::new(points, Metric::Euclidean);
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
fn linked(neighbors: &Neighbors, n_linked: usize, linking: Linking) -> Vec<Edge> {
    // By lower ends first, which are counted, then by upper ends.
    let n_points = neighbors.n_points();
    let mut places = vec![0; n_points + 1];
    for point in 0..n_points as NodeId {
        for (other, _) in neighbors.of(point).take(n_linked) {
            places[other.min(point) as usize + 1] += 1;
        }
    }
    for point in 0..n_points {
        places[point + 1] += places[point];
    }
    let mut wanted: Vec<Edge> = vec![(0, 0, 0.0); places[n_points]];
    for point in 0..n_points as NodeId {
        for (other, squared) in neighbors.of(point).take(n_linked) {
            let place = &mut places[point.min(other) as usize];
            wanted[*place] = (point.min(other), point.max(other), squared);
            *place += 1;
        }
    }
    for edges in wanted.chunk_by_mut(|a, b| a.0 == b.0) {
        edges.sort_unstable_by_key(|edge| edge.1);
    }
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

/// Weighs the edges, which are linked by `neighbors`.
fn weigh(neighbors: &Neighbors, edges: Vec<Edge>, affinity: Affinity) -> Result<LinkedPoints> {
    let n_points = neighbors.n_points();
    let scale = match affinity {
        Affinity::Adaptive => Scale::adaptive(neighbors),
        Affinity::SelfTuning => Scale::SelfTuning(mean_lengths(n_points, &edges)),
        Affinity::Knn => Scale::Knn,
        Affinity::Rbf { gamma } => Scale::Rbf { gamma: gamma.unwrap_or_else(|| 0.5 / median_square(&edges)) },
        Affinity::Cosine => Scale::Cosine,
    };
    let mut builder = GraphBuilder::new(n_points)?;
    for &(from, to, squared) in &edges {
        builder.add_edge(from, to, scale.weight(squared, scale.end(from), to))?;
    }
    drop(edges);
    Ok(LinkedPoints { graph: builder.finish()?, scale })
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
