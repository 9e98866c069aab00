//! Multilevel: coarsen the graph, cluster the coarsest level, refine on the way back.

use crate::descent::Proof;
use crate::error::Result;
use crate::graph::Graph;
use crate::hierarchy::{Merging, merge_in_order};
use crate::objective::Objective;
use crate::partition::ClusterId;

use super::balanced::{MAX_NODE_SHARE, MAX_SHARE, NODES_PER_CLUSTER, balanced};
use super::coarsen::{Coarsening, Level, Levels, rebuild_level};
use super::gather::at_most_asked;
use super::solution::Solution;
use super::split::split_until_enough;
use super::split_merge::split_merge;
use super::task::Task;
use super::uncoarsen::{AfterUse, Refiner, restricted, uncoarsen};

/// In a V-cycle, nodes without a partner come together in groups of a cluster's mean mass divided by this. The clusters stay as
/// they are, so it matters little how nodes are grouped inside them.
const GROUPS_PER_CLUSTER: f64 = 48.0;

/// One pass: how nodes are merged, and what is done on the way back.
#[derive(Clone, Copy)]
pub(super) struct Pass<'a> {
    /// Nodes of different clusters of this labelling stay apart, and it is the start of the refinement: a V-cycle.
    pub(super) within: Option<&'a [ClusterId]>,
    /// Weights are looked at as if up to this share larger or smaller.
    pub(super) noise: f64,
    pub(super) seed: u64,
    /// Rounds of split-merge on one of the levels.
    pub(super) split_rounds: usize,
}

/// Clusters a graph by one pass. With a start to keep within, the result is never worse.
pub(super) fn multilevel<O: Objective>(
    graph: &Graph<'_>,
    task: &Task<'_, O>,
    pass: &Pass<'_>,
) -> Result<Solution> {
    let mut levels = coarsening(graph, task, pass).run(graph)?;
    let (labels, n_given) = initial(graph, &levels, task, pass)?;
    let after_use = if task.plan.is_large { AfterUse::Drop } else { AfterUse::Keep };
    levels.last.of_node = Vec::new();
    levels.top = None;
    refine(graph, &mut levels.kept, labels, after_use, Refinement::new(task, task, n_given, pass))
}

/// As [`multilevel`], and a second time under a stricter floor, which is released at the end. The levels on which no
/// node reaches a floor are the same. For graphs that are not large.
pub(super) fn multilevel_twice<O: Objective>(
    graph: &Graph<'_>,
    task: &Task<'_, O>,
    strict: &Task<'_, O>,
    pass: &Pass<'_>,
) -> Result<[Solution; 2]> {
    let mut levels = coarsening(graph, task, pass).run(graph)?;
    let (labels, n_given) = initial(graph, &levels, task, pass)?;
    let refinement = Refinement::new(task, task, n_given, pass);
    let first = refine(graph, &mut levels.kept, labels, AfterUse::Keep, refinement)?;
    let is_below = |level: &Level| {
        let graph = level.graph.as_ref();
        graph.is_some_and(|graph| task.masses(graph).iter().all(|&mass| mass < task.floor))
    };
    let n_shared = levels.kept.partition_point(is_below);
    levels.kept.truncate(n_shared);
    let top = levels.kept.last().and_then(|level| level.graph.as_ref()).unwrap_or(graph);
    let Levels { kept, last, top, stopped } = coarsening(top, strict, pass).run(top)?;
    levels.kept.extend(kept);
    let mut levels = Levels { last, top, stopped, ..levels };
    let (labels, n_given) = initial(graph, &levels, strict, pass)?;
    let refinement = Refinement::new(strict, task, n_given, pass);
    Ok([first, refine(graph, &mut levels.kept, labels, AfterUse::Keep, refinement)?])
}

/// Clusters a graph by one pass that begins with groups of nodes that look alike; `None` where there are no such groups.
pub(super) fn multilevel_of_alike<O: Objective>(
    graph: &Graph<'_>,
    task: &Task<'_, O>,
    pass: &Pass<'_>,
) -> Result<Option<Solution>> {
    let merging = coarsening(graph, task, pass).merging;
    // Without time there are none either.
    let Ok(Some(groups)) = merging.alike(graph, task.clock) else { return Ok(None) };
    multilevel(graph, &Task { bundles: Some(&groups), ..*task }, pass).map(Some)
}

/// Clusters the finest level of at most `max_entries` entries by `solve`, and refines its labels down to the graph; `None` where
/// there is no such level.
pub(super) fn from_level<O: Objective>(
    graph: &Graph<'_>,
    task: &Task<'_, O>,
    pass: &Pass<'_>,
    max_entries: usize,
    solve: &dyn Fn(&Graph<'_>) -> Result<Vec<ClusterId>>,
) -> Result<Option<Solution>> {
    let mut levels = coarsening(graph, task, pass).run(graph)?.kept;
    let is_small =
        |level: &Level| level.graph.as_ref().is_some_and(|graph| graph.columns().len() <= max_entries);
    let Some(place) = levels.iter().position(is_small) else { return Ok(None) };
    levels.truncate(place + 1);
    let Some(level) = levels[place].graph.as_ref().filter(|level| level.n_nodes() > task.n_clusters) else {
        return Ok(None);
    };
    let labels = solve(level)?;
    refined(graph, &mut levels, labels, task, pass.seed).map(Some)
}

/// Labels that name fewer clusters than are asked for, completed on a coarse level and refined.
pub(super) fn completed<O: Objective>(
    graph: &Graph<'_>,
    labels: &[ClusterId],
    n_given: usize,
    task: &Task<'_, O>,
) -> Result<Solution> {
    let split_rounds = task.plan.coarse_split_rounds;
    let pass = Pass { within: Some(labels), noise: 0.0, seed: 0, split_rounds };
    let mut levels = coarsening(graph, task, &pass).run(graph)?.kept;
    let labels = restricted(&levels, labels);
    let after_use = if task.plan.is_large { AfterUse::Drop } else { AfterUse::Keep };
    refine(graph, &mut levels, labels, after_use, Refinement::new(task, task, n_given, &pass))
}

/// Refines labels of the last of some levels, all clusters named, down to the graph.
pub(super) fn refined<O: Objective>(
    graph: &Graph<'_>,
    levels: &mut [Level],
    labels: Vec<ClusterId>,
    task: &Task<'_, O>,
    seed: u64,
) -> Result<Solution> {
    let pass = Pass { within: None, noise: 0.0, seed, split_rounds: task.plan.coarse_split_rounds };
    refine(graph, levels, labels, AfterUse::Keep, Refinement::new(task, task, task.n_clusters, &pass))
}

fn coarsening<'c, O: Objective>(graph: &Graph<'_>, task: &Task<'c, O>, pass: &Pass<'c>) -> Coarsening<'c, O> {
    let (plan, is_cycle) = (task.plan, pass.within.is_some());
    let cap = task.total_mass(graph) / task.n_clusters as f64;
    if !is_cycle && is_tight(graph, task) {
        // Light nodes, many for each cluster, from which clusters of nearly the same mass can be made.
        let merging = Merging {
            connected: task.connected,
            propagates: plan.propagation,
            max_mass: MAX_NODE_SHARE * cap,
            ceiling: MAX_NODE_SHARE * cap,
            cap: MAX_NODE_SHARE * cap,
            noise: pass.noise,
            seed: pass.seed,
            ..task.merging_down_to(NODES_PER_CLUSTER * task.n_clusters)
        };
        return coarsening_by(merging, task);
    }
    let merging = Merging {
        floor: if is_cycle { 0.0 } else { task.floor },
        connected: task.merges_linked_only(),
        within: pass.within,
        ceiling: task.ceiling,
        propagates: plan.propagation,
        has_splits_later: pass.split_rounds > 0,
        cap,
        cluster_small_to: if is_cycle { cap / GROUPS_PER_CLUSTER } else { 0.0 },
        noise: pass.noise,
        seed: pass.seed,
        ..task.merging_down_to(task.n_clusters)
    };
    coarsening_by(merging, task)
}

/// Whether the ceiling leaves so little room that clusters are made of the same mass from the beginning.
fn is_tight<O: Objective>(graph: &Graph<'_>, task: &Task<'_, O>) -> bool {
    task.ceiling < MAX_SHARE * task.total_mass(graph) / task.n_clusters as f64
}

fn coarsening_by<'c, O: Objective>(merging: Merging<'c, O>, task: &Task<'c, O>) -> Coarsening<'c, O> {
    let plan = task.plan;
    Coarsening {
        merging,
        bundles: task.bundles,
        kept_share: plan.limits.coarsening.kept_share,
        min_kept_nodes: task.n_clusters,
        held_entries: plan.held_entries,
        is_narrow: plan.is_large,
        clock: task.clock,
    }
}

/// Labels of the last level, and how many clusters they name.
fn initial<O: Objective>(
    graph: &Graph<'_>,
    levels: &Levels,
    task: &Task<'_, O>,
    pass: &Pass<'_>,
) -> Result<(Vec<ClusterId>, usize)> {
    Ok(match pass.within {
        Some(within) => (restricted(&levels.kept, within), task.n_clusters),
        None if levels.stopped.is_some() => (merge_in_haste(graph, &levels.kept, task), task.n_clusters),
        None if levels.last.count > task.n_clusters => gathered(graph, levels, task, pass)?,
        None => (levels.last.of_node.clone(), levels.last.count),
    })
}

/// Labels of the last level where merging has left more groups than there are to be clusters.
fn gathered<O: Objective>(
    graph: &Graph<'_>,
    levels: &Levels,
    task: &Task<'_, O>,
    pass: &Pass<'_>,
) -> Result<(Vec<ClusterId>, usize)> {
    let last = levels.kept.last();
    let of_last = last.and_then(|level| level.graph.as_ref());
    let rebuilt;
    let groups = match levels.top.as_ref().or(of_last) {
        Some(groups) => groups,
        None if last.is_none() => graph,
        None => {
            rebuilt = rebuild_level(graph, &levels.kept, task.clock)?;
            &rebuilt
        }
    };
    if is_tight(graph, task) {
        let of_group = balanced(groups, task, pass.seed);
        let labels = levels.last.of_node.iter().map(|&group| of_group[group as usize]).collect();
        return Ok((labels, task.n_clusters));
    }
    let (of_group, count) = at_most_asked(groups, task)
        .unwrap_or_else(|| ((0..groups.n_nodes() as ClusterId).collect(), groups.n_nodes()));
    let labels = levels.last.of_node.iter().map(|&group| of_group[group as usize]).collect();
    Ok((labels, count))
}

/// Labels for the nodes of the last level when there is no time to make better ones.
fn merge_in_haste<O: Objective>(graph: &Graph<'_>, levels: &[Level], task: &Task<'_, O>) -> Vec<ClusterId> {
    let mut masses = task.masses(graph);
    for level in levels {
        let mut summed = vec![0.0; level.groups.count];
        for (&group, mass) in level.groups.of_node.iter().zip(&masses) {
            summed[group as usize] += mass;
        }
        masses = summed;
    }
    merge_in_order(&masses, task.n_clusters)
}

fn refine<O: Objective>(
    graph: &Graph<'_>,
    levels: &mut [Level],
    labels: Vec<ClusterId>,
    after_use: AfterUse,
    mut refinement: Refinement<'_, O>,
) -> Result<Solution> {
    let clock = refinement.graph_task.clock;
    uncoarsen(graph, levels, labels, after_use, &mut refinement, clock)?;
    Ok(refinement.refined.expect("the graph itself comes last"))
}

/// Makes missing clusters where there are enough nodes for it, refines on every level, and lets split-merge run on one.
struct Refinement<'r, O> {
    /// What is asked for on levels, and on the graph itself.
    level_task: Task<'r, O>,
    graph_task: &'r Task<'r, O>,
    seed: u64,
    /// Clusters that the labels name before all are there.
    n_given: usize,
    splits_left: usize,
    /// Nodes of the last level that was refined.
    n_refined: usize,
    refined: Option<Solution>,
}

impl<'r, O: Objective> Refinement<'r, O> {
    fn new(level_task: &Task<'r, O>, graph_task: &'r Task<'r, O>, n_given: usize, pass: &Pass<'_>) -> Self {
        Self {
            level_task: level_task.uncounted(),
            graph_task,
            seed: pass.seed,
            n_given,
            splits_left: pass.split_rounds,
            n_refined: 0,
            refined: None,
        }
    }

    fn is_complete(&self) -> bool {
        self.n_given == self.level_task.n_clusters
    }

    /// Whether split-merge is to run on a level with the given number of nodes.
    fn splits_here(&self, n_nodes: usize, n_below: usize) -> bool {
        let Task { plan, n_clusters, .. } = self.level_task;
        let (min, max) = plan.limits.coarsening.nodes_per_cluster_for_splits;
        // On a large graph itself there are no splits: its first level is the last chance.
        let is_last_chance = plan.is_large && n_below == 1;
        let is_fine = is_last_chance || n_nodes >= min * n_clusters;
        self.splits_left > 0 && is_fine && (plan.is_large || n_nodes <= max * n_clusters)
    }
}

impl<O: Objective> Refiner for Refinement<'_, O> {
    fn wants_rebuilt(&self, n_nodes: usize) -> bool {
        let factor = self.level_task.plan.limits.coarsening.rebuild_factor;
        !self.is_complete() || n_nodes >= factor * self.n_refined
    }

    fn refine(
        &mut self,
        level: &Graph<'_>,
        mut labels: Vec<ClusterId>,
        n_below: usize,
    ) -> Result<Vec<ClusterId>> {
        let (task, n_nodes) = (self.level_task, level.n_nodes());
        let min_nodes = task.plan.limits.coarsening.nodes_per_cluster_for_splits.0;
        if !self.is_complete() && (n_below == 0 || n_nodes >= min_nodes * task.n_clusters) {
            labels = split_until_enough(level, labels, self.n_given, &task)?;
            self.n_given = task.n_clusters;
        }
        if n_below == 0 {
            self.refined = Some(self.graph_task.improve(level, labels, Proof::Full, self.seed)?);
            return Ok(Vec::new());
        }
        if !self.is_complete() || task.is_stopped() {
            return Ok(labels);
        }
        self.n_refined = n_nodes;
        let mut found = task.improve(level, labels, Proof::None, self.seed)?;
        if self.splits_here(n_nodes, n_below) {
            let rounds = std::mem::take(&mut self.splits_left);
            found = split_merge(level, found, rounds, &task, self.seed)?;
        }
        Ok(found.labels)
    }
}
