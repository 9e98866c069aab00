//! Multilevel: merge nodes into fewer and fewer, cluster those, refine on the way back.

use std::ops::ControlFlow;

use crate::descent::Proof;
use crate::error::Result;
use crate::graph::Graph;
use crate::hierarchy::{Groups, Merging, merge_in_order};
use crate::partition::ClusterId;

use super::complete::complete;
use super::is_large;
use super::split_merge::split_merge;
use super::task::{Solution, Task};

/// A level is kept for refinement when it has at most this share of the nodes of the one kept before.
const KEPT_SHARE: f64 = 0.6;
/// Clusters are split on a level with at least this many nodes a cluster.
const NODES_PER_CLUSTER: usize = 12;

/// On a level with more nodes a cluster splits cost as much as on the graph itself.
const MOST_NODES_PER_CLUSTER: usize = 100;
/// Nodes without a partner come together in groups of a cluster's mean volume divided by this.
const CROWDS_PER_CLUSTER: f64 = 48.0;

/// How nodes are merged.
#[derive(Clone, Copy, Default)]
pub(super) struct Coarsening<'a> {
    /// Nodes of different clusters of this labelling stay apart, and it is the start of the refinement.
    pub(super) within: Option<&'a [ClusterId]>,
    /// Weights are looked at as if up to this share larger or smaller.
    pub(super) noise: f64,
    pub(super) seed: u64,
}

/// A graph whose nodes are groups of the nodes of the level below.
pub(super) struct Level {
    pub(super) graph: Graph<'static>,
    pub(super) group_of: Vec<u32>,
}

/// The levels above a graph, and the groups that the nodes of the last of them end in.
struct Levels {
    kept: Vec<Level>,
    last: Groups,
    is_cut_short: bool,
}

/// One pass down and up again. With a start to keep within, the result is never worse.
pub(super) fn multilevel(graph: &Graph<'_>, task: &Task<'_>, how: &Coarsening<'_>) -> Result<Solution> {
    let levels = coarsen(graph, task, how)?;
    let labels = refined(graph, &levels, task, how)?;
    task.improve(graph, labels, Proof::Full, how.seed)
}

/// As [`multilevel`], and a second time under a stricter floor, which is released at the end. The levels on which no
/// node reaches a floor are the same.
pub(super) fn multilevel_twice(
    graph: &Graph<'_>,
    task: &Task<'_>,
    strict: &Task<'_>,
    how: &Coarsening<'_>,
) -> Result<[Solution; 2]> {
    let mut levels = coarsen(graph, task, how)?;
    let labels = refined(graph, &levels, task, how)?;
    let first = task.improve(graph, labels, Proof::Full, how.seed)?;
    let is_below = |level: &Level| level.graph.degrees().iter().all(|&degree| degree < task.floor);
    let n_shared = levels.kept.partition_point(is_below);
    levels.kept.truncate(n_shared);
    let Levels { kept, last, is_cut_short } =
        coarsen(levels.kept.last().map_or(graph, |level| &level.graph), strict, how)?;
    levels.kept.extend(kept);
    let labels = refined(graph, &Levels { last, is_cut_short, ..levels }, strict, how)?;
    Ok([first, task.improve(graph, labels, Proof::Full, how.seed)?])
}

/// The labels that the levels above a graph give it, refined on all of them.
fn refined(
    graph: &Graph<'_>,
    levels: &Levels,
    task: &Task<'_>,
    how: &Coarsening<'_>,
) -> Result<Vec<ClusterId>> {
    let top = levels.kept.last().map_or(graph, |level| &level.graph);
    let labels = match how.within {
        Some(within) => carried_up(&levels.kept, within),
        None if levels.is_cut_short => merge_in_order(top.degrees(), task.n_clusters),
        None => levels.last.of_node.clone(),
    };
    let n_given =
        if how.within.is_some() || levels.is_cut_short { task.n_clusters } else { levels.last.count };
    carried_down(graph, &levels.kept, labels, n_given, task, how.seed)
}

/// Refines labels of the last level on all levels down to `graph`. Where they name fewer clusters than asked for,
/// the missing ones are made on the way.
pub(super) fn uncoarsen(
    graph: &Graph<'_>,
    levels: &[Level],
    labels: Vec<ClusterId>,
    n_given: usize,
    task: &Task<'_>,
    seed: u64,
) -> Result<Solution> {
    let labels = carried_down(graph, levels, labels, n_given, task, seed)?;
    task.improve(graph, labels, Proof::Full, seed)
}

fn carried_down(
    graph: &Graph<'_>,
    levels: &[Level],
    mut labels: Vec<ClusterId>,
    n_given: usize,
    task: &Task<'_>,
    seed: u64,
) -> Result<Vec<ClusterId>> {
    let mut is_complete = n_given == task.n_clusters;
    let mut splits_left = task.coarse_split_rounds;
    for place in (0..=levels.len()).rev() {
        let level = if place == 0 { graph } else { &levels[place - 1].graph };
        if let Some(coarser) = levels.get(place) {
            labels = coarser.group_of.iter().map(|&group| labels[group as usize]).collect();
        }
        if !is_complete && (place == 0 || level.n_nodes() >= NODES_PER_CLUSTER * task.n_clusters) {
            labels = complete(level, labels, n_given, task)?;
            is_complete = true;
        }
        if place > 0 && is_complete && !task.is_stopped() {
            let mut found = task.improve(level, labels, Proof::None, seed)?;
            let is_coarse = is_large(graph) || level.n_nodes() <= MOST_NODES_PER_CLUSTER * task.n_clusters;
            if splits_left > 0 && is_coarse && level.n_nodes() >= NODES_PER_CLUSTER * task.n_clusters {
                found = split_merge(level, found, std::mem::take(&mut splits_left), task, seed)?;
            }
            labels = found.labels;
        }
    }
    Ok(labels)
}

fn carried_up(levels: &[Level], labels: &[ClusterId]) -> Vec<ClusterId> {
    let mut labels = labels.to_vec();
    for level in levels {
        let mut carried = vec![0; level.graph.n_nodes()];
        for (&group, &label) in level.group_of.iter().zip(&labels) {
            carried[group as usize] = label;
        }
        labels = carried;
    }
    labels
}

/// Merges round by round. Of rounds that shrink the graph little only every few are kept as a level.
fn coarsen(graph: &Graph<'_>, task: &Task<'_>, how: &Coarsening<'_>) -> Result<Levels> {
    let cap = graph.volume() / task.n_clusters as f64;
    let merging = Merging {
        floor: if how.within.is_some() { 0.0 } else { task.floor },
        propagates: task.propagation,
        cap,
        // Clusters that are kept are found again, however nodes come together inside them.
        crowd: if how.within.is_some() { cap / CROWDS_PER_CLUSTER } else { 0.0 },
        noise: how.noise,
        seed: how.seed,
        ..Merging::down_to(task.n_clusters)
    };
    let mut kept: Vec<Level> = Vec::new();
    let mut within: Option<Vec<u32>> = how.within.map(<[u32]>::to_vec);
    // The groups that the nodes of the last kept level are in by now, and the graph of these.
    let mut last = Groups::single(graph.n_nodes());
    let mut current: Option<Graph<'static>> = None;
    loop {
        let base = kept.last().map_or(graph, |level| &level.graph);
        let round_graph = current.as_ref().unwrap_or(base);
        let Some(round) = (Merging { within: within.as_deref(), ..merging }).round(round_graph, task.watch)
        else {
            return Ok(Levels { kept, last, is_cut_short: task.is_stopped() });
        };
        within = within.map(|within| round.carried(&within));
        let next =
            round_graph.contract_observed(&round.of_node, round.count, &mut |p| task.watch.report(p))?;
        let ControlFlow::Continue(next) = next else {
            return Ok(Levels { kept, last, is_cut_short: true });
        };
        last.follow(&round);
        let is_level =
            (round.count as f64) < KEPT_SHARE * base.n_nodes() as f64 && round.count > task.n_clusters;
        if is_level {
            let group_of = std::mem::replace(&mut last, Groups::single(round.count)).of_node;
            kept.push(Level { graph: next, group_of });
            current = None;
        } else {
            current = Some(next);
        }
    }
}
