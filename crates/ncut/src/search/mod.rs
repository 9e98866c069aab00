//! Beyond the paper: multilevel merging, split-merge and recombination.

mod task;
mod bisect;
mod complete;
mod multilevel;
mod split_merge;
mod recombine;
mod starts;

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
    pub(crate) first_neighbors: bool,
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
    let only = std::env::var("ONLY").unwrap_or_default();
    let merged = || {
        let merged = multilevel(graph, &task, &Coarsening { within: None, noise: 0.0, seed })?;
        let more = split_merge(graph, merged.clone(), effort.split_rounds, &mut SplitCache::default(), &task, seed)?;
        Ok((merged, more))
    };
    let papered = || {
        let paper = starts::paper(graph, &task, false)?;
        let more = split_merge(graph, paper.clone(), effort.split_rounds, &mut SplitCache::default(), &task, seed)?;
        Ok((paper, more))
    };
    let (m, p): (Result<(Solution, Solution)>, Result<(Solution, Solution)>) = rayon::join(merged, papered);
    let ((m, mx), (p, px)) = (m?, p?);
    let mut best = p.clone();
    let all = [("p", &p), ("px", &px), ("m", &m), ("mx", &mx)];
    for (name, candidate) in all {
        if std::env::var("DBG").is_ok() { eprintln!("{name} {:.6} {:.4}", candidate.objective, modularity(graph, candidate, &task)); }
        let better = if min_share > 0.0 && only != "obj" { candidate.objective >= p.objective && modularity(graph, candidate, &task) > modularity(graph, &best, &task) } else { candidate.is_better_than(&best) };
        if better { best = candidate.clone(); }
    }
    for cycle in 0..effort.cycles {
        let how = Coarsening { within: Some(&best.labels), noise: 0.2, seed: seed.wrapping_add(cycle as u64) };
        let found = multilevel(graph, &task, &how)?;
        if std::env::var("DBG").is_ok() { eprintln!("cycle {:.6} {:.4}", found.objective, modularity(graph, &found, &task)); }
        best = best.or_better(found);
    }
    if effort.evolve {
        best = evolve(graph, vec![best], &task, seed)?;
    }
    let stop_reason = if task.is_stopped() { StopReason::Cancelled } else { StopReason::LocalOptimum };
    Ok(Searched { labels: best.labels, sweeps: tally.sweeps(), moves: tally.moves(), stop_reason })
}

fn modularity(graph: &Graph<'_>, s: &Solution, task: &Task<'_>) -> f64 {
    let p = crate::partition::Partition::new(graph, s.labels.clone(), task.n_clusters).unwrap();
    let w = graph.volume();
    (0..task.n_clusters as u32).map(|c| p.association(c) / w - (p.volume(c) / w).powi(2)).sum()
}
