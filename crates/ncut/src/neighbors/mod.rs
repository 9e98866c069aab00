//! From points to a graph: each point is linked to its nearest neighbours.

mod affinity;
mod approximate;
mod exact;
mod forest;
mod space;
mod rows;

use crate::error::{Error, Result};
use crate::graph::NodeId;
use crate::memory;
use crate::progress::{Clock, Progress, Stage};

pub use affinity::{
    Affinity, LinkedPoints, Linking, PointGraph, Scale, dense_rbf_graph, self_tuning_graph, weigh_new,
};

pub use crate::points::{Points, Values};
pub use space::Metric;

/// Multiplications up to which the exact search is quick: seconds.
const QUICK: f64 = 5e11;
/// What looking at a pair costs beside its multiplications.
const PER_PAIR: f64 = 40.0;

/// How neighbours are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SearchMethod {
    /// Exactly while that takes seconds, approximately beyond.
    #[default]
    Auto,
    /// Exactly: every pair is considered.
    Exact,
    /// Approximately: about 99 of 100 neighbours are the true ones, in a fraction of the time.
    Approximate,
}

/// A search for the nearest neighbours of every point among all others.
///
/// ```
/// use ncut::neighbors::{NeighborSearch, Points};
/// let line = [0.0, 1.0, 3.0, 7.0];
/// let search = NeighborSearch { n_neighbors: 1, ..NeighborSearch::default() };
/// let neighbors = search.run(Points::new(&line[..], 1)?, &ncut::Clock::new())?;
/// assert_eq!(neighbors.of(3).collect::<Vec<_>>(), [(2, 16.0)]);
/// # Ok::<(), ncut::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeighborSearch {
    /// Neighbours of each point; all others where there are fewer.
    pub n_neighbors: usize,
    /// Which distance.
    pub metric: Metric,
    /// How they are found.
    pub method: SearchMethod,
    /// Seed of the approximate search.
    pub seed: u64,
}

impl Default for NeighborSearch {
    fn default() -> Self {
        Self { n_neighbors: 25, metric: Metric::default(), method: SearchMethod::default(), seed: 0 }
    }
}

/// The nearest neighbours of all points.
#[derive(Clone, Debug, PartialEq)]
pub struct Neighbors {
    n_points: usize,
    n_neighbors: usize,
    ids: Vec<NodeId>,
    squared: Vec<f64>,
}

impl Neighbors {
    /// `n_neighbors` of those found for each point, the first `n_dropped` left out.
    fn new(found: Vec<exact::Nearest>, n_neighbors: usize, n_dropped: usize) -> Self {
        let n_points = found.len();
        let n_ids = n_points * n_neighbors;
        let (mut ids, mut squared) = (Vec::with_capacity(n_ids), Vec::with_capacity(n_ids));
        for nearest in found {
            for (distance, id) in nearest.into_iter().skip(n_dropped) {
                ids.push(id);
                squared.push(distance);
            }
        }
        Self { n_points, n_neighbors, ids, squared }
    }

    /// Neighbours that were found elsewhere: `n_neighbors` of each point, nearest first, one row after the other.
    ///
    /// # Errors
    /// When the arrays do not divide into such rows, or a squared distance is negative or not finite.
    pub fn from_rows(n_neighbors: usize, ids: Vec<NodeId>, squared: Vec<f64>) -> Result<Self> {
        if n_neighbors == 0 || ids.len() != squared.len() || !ids.len().is_multiple_of(n_neighbors) {
            return Err(Error::shape(format!(
                "{} neighbours and {} distances are no rows of {n_neighbors} each",
                ids.len(),
                squared.len()
            )));
        }
        if let Some(distance) = squared.iter().find(|&&distance| !(0.0..f64::INFINITY).contains(&distance)) {
            return Err(Error::shape(format!("a squared distance is {distance}")));
        }
        Ok(Self { n_points: ids.len() / n_neighbors, n_neighbors, ids, squared })
    }

    /// Number of points.
    pub fn n_points(&self) -> usize {
        self.n_points
    }

    /// Neighbours of each point.
    pub fn n_neighbors(&self) -> usize {
        self.n_neighbors
    }

    /// The neighbours of a point and their squared distances, nearest first, the lowest number first among
    /// equals.
    pub fn of(&self, point: NodeId) -> impl Iterator<Item = (NodeId, f64)> + '_ {
        let first = point as usize * self.n_neighbors;
        (first..first + self.n_neighbors).map(|place| (self.ids[place], self.squared[place]))
    }

    /// The neighbours of all points, one row after the other.
    pub fn ids(&self) -> &[NodeId] {
        &self.ids
    }

    /// Their squared distances.
    pub fn squared_distances(&self) -> &[f64] {
        &self.squared
    }
}

/// Bytes that a point takes by itself, for each of its neighbours and for each of its features; see `tests/needs.rs`.
const PER_POINT: u64 = 200;
const PER_NEIGHBOR: u64 = 110;
const PER_FEATURE: u64 = 16;

/// What is done about a point being nearest to itself.
#[derive(Clone, Copy, PartialEq)]
enum Own {
    /// It is passed over, by number.
    Skip,
    /// One more neighbour is taken and the first dropped, whoever it is (the paper's code).
    DropFirst,
}

impl NeighborSearch {
    /// The nearest neighbours of every point; a point is never its own.
    ///
    /// # Errors
    /// When `n_neighbors` is 0, or the clock says stop.
    pub fn run(&self, points: Points<'_>, clock: &Clock<'_>) -> Result<Neighbors> {
        self.run_with(points, Own::Skip, clock)
    }

    fn run_with(&self, points: Points<'_>, own: Own, clock: &Clock<'_>) -> Result<Neighbors> {
        self.check()?;
        let n_points = points.count();
        let n_neighbors = self.n_neighbors.min(n_points - 1);
        let (what, remedy) = ("the graph of the points", "use fewer neighbours or points");
        memory::check(clock, what, self.memory_needed(points), remedy)?;
        let n_searched = n_neighbors + usize::from(own == Own::DropFirst);
        let space = space::Space::new(points, self.metric);
        let mut progress = Progress::new(Stage::Neighbors, n_points as u64);
        let mut report = |n_done: usize| {
            progress.done = n_done as u64;
            clock.report(&progress)
        };
        let found = if self.is_exact(points) {
            let skip_own = own == Own::Skip;
            let search =
                exact::Search { queries: &space, targets: &space, n_neighbors: n_searched, skip_own };
            exact::nearest_of_all(&search, &mut report)
        } else {
            approximate::nearest(&space, n_searched, own == Own::Skip, self.seed, &mut report)
        };
        Ok(Neighbors::new(found?, n_neighbors, n_searched - n_neighbors))
    }

    /// The nearest of `points` to every one of `new`, exactly.
    fn run_among(&self, new: Points<'_>, points: Points<'_>, clock: &Clock<'_>) -> Result<Neighbors> {
        self.check()?;
        let n_neighbors = self.n_neighbors.min(points.count());
        let (queries, targets) =
            (space::Space::new(new, self.metric), space::Space::new(points, self.metric));
        let search = exact::Search { queries: &queries, targets: &targets, n_neighbors, skip_own: false };
        let everyone: Vec<NodeId> = (0..new.count() as NodeId).collect();
        let mut progress = Progress::new(Stage::Neighbors, new.count() as u64);
        let found = exact::nearest(&search, &everyone, &mut |n_done| {
            progress.done = n_done as u64;
            clock.report(&progress)
        });
        Ok(Neighbors::new(found?, n_neighbors, 0))
    }

    /// Bytes of memory that the search and a graph of what it finds take, at the most: the points in an order of their own,
    /// lists of candidates, the neighbours, and their links as they are sorted.
    pub fn memory_needed(&self, points: Points<'_>) -> u64 {
        let n_neighbors = self.n_neighbors.min(points.count()) as u64;
        let per_point = PER_POINT + PER_NEIGHBOR * n_neighbors + PER_FEATURE * points.n_features() as u64;
        memory::BASE + per_point.saturating_mul(points.count() as u64)
    }

    fn check(&self) -> Result<()> {
        if self.n_neighbors == 0 {
            return Err(Error::BadSetting { name: "n_neighbors", value: "0".into(), expected: "at least 1" });
        }
        Ok(())
    }

    /// Whether all pairs are considered.
    pub fn is_exact(&self, points: Points<'_>) -> bool {
        let n_points = points.count() as f64;
        match self.method {
            SearchMethod::Exact => true,
            SearchMethod::Approximate => false,
            SearchMethod::Auto => n_points * n_points * (points.n_features() as f64 + PER_PAIR) <= QUICK,
        }
    }
}
