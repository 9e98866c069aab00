//! Communities: clusters of high modularity, as many as there are or exactly as many as asked for, each connected.

mod moving;
mod refine;
mod leiden;
mod recombine;

use crate::error::Result;
use crate::graph::Graph;
use crate::limits::Limits;
use crate::objective::Modularity;
use crate::partition::ClusterId;
use crate::progress::Clock;
use leiden::{Labelling, Leiden};
use moving::Number;
use recombine::Patience;

/// Gains below this may be rounding.
const MIN_GAIN: f64 = 1e-14;

pub fn experiment(graph: &Graph<'_>, resolution: f64, n_starts: usize, max_failures: usize, seed: u64) -> Result<(Vec<ClusterId>, usize, f64)> {
    let limits = Limits::default();
    let modularity = Modularity { total: graph.volume(), resolution };
    let leiden = Leiden { modularity, number: Number::Free, limits: &limits };
    let patience = Patience { n_starts, max_cycles: usize::MAX, max_failures };
    let start = Labelling::singletons(graph.n_nodes());
    let found = leiden.search(graph, &start, &patience, seed, &Clock::new())?;
    let quality = leiden.quality(graph, &found);
    Ok((found.labels, found.count, quality))
}
