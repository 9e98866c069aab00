//! Beyond the paper: multilevel merging, split-merge and recombination.

mod task;
mod bisect;
mod complete;
mod multilevel;
mod split_merge;
mod recombine;

use crate::descent::StoppingRule;
use crate::error::Result;
use crate::graph::Graph;
use crate::partition::ClusterId;
use crate::progress::{StopReason, Watch};

use multilevel::{Coarsening, multilevel};
use recombine::evolve;
use split_merge::{SplitCache, split_merge};
use task::{Solution, Tally, Task};

/// How much is done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Effort {
    pub(crate) chains: bool,
    pub(crate) split_rounds: usize,
    pub(crate) cycles: usize,
    pub(crate) evolve: bool,
}

/// Labels and how they were found.
pub(crate) struct Searched {
    pub(crate) labels: Vec<ClusterId>,
    pub(crate) sweeps: usize,
    pub(crate) moves: u64,
    pub(crate) stop_reason: StopReason,
}

/// Clusters a graph without isolated nodes that has more nodes than clusters are asked for.
pub(crate) fn search(
    graph: &Graph<'_>,
    n_clusters: usize,
    min_share: f64,
    rule: StoppingRule,
    effort: &Effort,
    seed: u64,
    watch: &dyn Watch,
) -> Result<Searched> {
    let tally = Tally::default();
    let floor = min_share * graph.volume() / n_clusters as f64;
    let task = Task { n_clusters, floor, rule, chains: effort.chains, watch, tally: &tally };
    let mut best = multilevel(graph, &task, &Coarsening { within: None, noise: 0.0, seed })?;
    let mut cache = SplitCache::default();
    best = split_merge(graph, best, effort.split_rounds, &mut cache, &task, seed)?;
    for cycle in 0..effort.cycles {
        let how = Coarsening { within: Some(&best.labels), noise: 0.2, seed: seed.wrapping_add(cycle as u64) };
        let found = multilevel(graph, &task, &how)?;
        best = best.or_better(found);
    }
    if effort.evolve {
        best = evolve(graph, vec![best], &task, seed)?;
    }
    let stop_reason = if task.is_stopped() { StopReason::Cancelled } else { StopReason::LocalOptimum };
    Ok(Searched { labels: best.labels, sweeps: tally.sweeps(), moves: tally.moves(), stop_reason })
}
