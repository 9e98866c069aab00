//! Multilevel: merge nodes into fewer and fewer, cluster those, refine on the way back.

use std::ops::ControlFlow;

use crate::descent::Proof;
use crate::error::Result;
use crate::graph::{Graph, Weights};
use crate::hierarchy::{Groups, Merging, Quotient, merge_in_order};
use crate::partition::ClusterId;

use super::complete::complete;
use super::is_large;
use super::split_merge::split_merge;
use super::task::{Solution, Task};

/// A level is kept for refinement when it has at most this share of the nodes of the one kept before.
pub(super) const KEPT_SHARE: f64 = 0.6;
/// What the levels that are kept beside a large graph take, all together, as a share of its entries.
const HELD_SHARE: f64 = 0.4;
/// As [`HELD_SHARE`], where entries of the graph have no weights and take half of what those of levels do, for tasks that
/// are done in little memory; and how many may be kept in any case.
const HELD_SHARE_OF_UNIT: f64 = 0.15;
const HELD_OF_UNIT: f64 = 40e6;
/// Levels that are kept and the graph that comes next may take so many times what levels may.
const HELD_WITH_NEXT: f64 = 1.5;
/// Coarse graphs with more entries than this and this share of those of the graph are not made where there is a way
/// around them.
const MOST_MADE: usize = 1 << 23;
const MOST_MADE_SHARE: f64 = 0.125;
/// A level that was not kept is made anew for refinement when it has this many times the nodes of the last refined.
const MADE_ANEW: usize = 4;
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
    /// `None` when there was no room to keep it: it is made anew when it is needed.
    graph: Option<Graph<'static>>,
    groups: Groups,
}

impl Level {
    pub(super) fn new(graph: Graph<'static>, group_of: Vec<u32>) -> Self {
        Self { groups: Groups { of_node: group_of, count: graph.n_nodes() }, graph: Some(graph) }
    }

    pub(super) fn graph(&self) -> Option<&Graph<'static>> {
        self.graph.as_ref()
    }
}

/// The levels above a graph, and the groups that the nodes of the last of them end in.
struct Levels {
    kept: Vec<Level>,
    last: Groups,
    is_cut_short: bool,
}

/// Labels that fewer clusters are named by than are asked for, completed on a coarse level and refined.
pub(super) fn completed(
    graph: &Graph<'_>,
    labels: &[ClusterId],
    n_given: usize,
    task: &Task<'_>,
) -> Result<Solution> {
    let how = Coarsening { within: Some(labels), ..Coarsening::default() };
    let mut levels = coarsen(graph, task, &how)?.kept;
    let labels = carried_up(&levels, labels);
    uncoarsen(graph, &mut levels, labels, n_given, task, how.seed)
}

/// One pass down and up again. With a start to keep within, the result is never worse.
pub(super) fn multilevel(graph: &Graph<'_>, task: &Task<'_>, how: &Coarsening<'_>) -> Result<Solution> {
    let mut levels = coarsen(graph, task, how)?;
    let labels = refined(graph, &mut levels, task, how)?;
    drop(levels);
    task.improve(graph, labels, Proof::Full, how.seed)
}

/// As [`multilevel`], and a second time under a stricter floor, which is released at the end. The levels on which no
/// node reaches a floor are the same. For graphs that are not large.
pub(super) fn multilevel_twice(
    graph: &Graph<'_>,
    task: &Task<'_>,
    strict: &Task<'_>,
    how: &Coarsening<'_>,
) -> Result<[Solution; 2]> {
    let mut levels = coarsen(graph, task, how)?;
    let labels = refined(graph, &mut levels, task, how)?;
    let first = task.improve(graph, labels, Proof::Full, how.seed)?;
    let is_below = |level: &Level| {
        level.graph().is_some_and(|graph| graph.degrees().iter().all(|&degree| degree < task.floor))
    };
    let n_shared = levels.kept.partition_point(is_below);
    levels.kept.truncate(n_shared);
    let top = levels.kept.last().and_then(Level::graph).unwrap_or(graph);
    let Levels { kept, last, is_cut_short } = coarsen(top, strict, how)?;
    levels.kept.extend(kept);
    let labels = refined(graph, &mut Levels { last, is_cut_short, ..levels }, strict, how)?;
    Ok([first, task.improve(graph, labels, Proof::Full, how.seed)?])
}

/// The labels that the levels above a graph give it, refined on all of them.
fn refined(
    graph: &Graph<'_>,
    levels: &mut Levels,
    task: &Task<'_>,
    how: &Coarsening<'_>,
) -> Result<Vec<ClusterId>> {
    let labels = match how.within {
        Some(within) => carried_up(&levels.kept, within),
        None if levels.is_cut_short => cut_in_order(graph, &levels.kept, task.n_clusters),
        None => levels.last.of_node.clone(),
    };
    let n_given =
        if how.within.is_some() || levels.is_cut_short { task.n_clusters } else { levels.last.count };
    carried_down(graph, &mut levels.kept, labels, n_given, task, how.seed)
}

/// Refines labels of the last level on all levels down to `graph`. Where they name fewer clusters than asked for,
/// the missing ones are made on the way. The graphs of levels above a large one go as soon as they were used.
pub(super) fn uncoarsen(
    graph: &Graph<'_>,
    levels: &mut [Level],
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
    levels: &mut [Level],
    mut labels: Vec<ClusterId>,
    n_given: usize,
    task: &Task<'_>,
    seed: u64,
) -> Result<Vec<ClusterId>> {
    let mut is_complete = n_given == task.n_clusters;
    let mut splits_left = task.coarse_split_rounds;
    let mut n_refined = 0;
    for place in (0..=levels.len()).rev() {
        if let Some(coarser) = levels.get_mut(place) {
            if is_large(graph) {
                coarser.graph = None;
            }
            labels = coarser.groups.of_node.iter().map(|&group| labels[group as usize]).collect();
        }
        let n_nodes = levels[..place].last().map_or(graph.n_nodes(), |level| level.groups.count);
        let is_kept = place == 0 || levels[place - 1].graph.is_some();
        if !is_kept && place > 1 && is_complete && n_nodes < MADE_ANEW * n_refined {
            continue;
        }
        let made_anew;
        let level = match levels[..place].last().map(|level| &level.graph) {
            None => graph,
            Some(Some(level)) => level,
            Some(None) => match made(graph, &levels[..place], task)? {
                ControlFlow::Continue(level) => {
                    made_anew = level;
                    &made_anew
                }
                ControlFlow::Break(()) => continue,
            },
        };
        if !is_complete && (place == 0 || level.n_nodes() >= NODES_PER_CLUSTER * task.n_clusters) {
            labels = complete(level, labels, n_given, task)?;
            is_complete = true;
        }
        if place > 0 && is_complete && !task.is_stopped() {
            n_refined = n_nodes;
            let mut found = task.improve(level, labels, Proof::None, seed)?;
            let is_coarse = is_large(graph) || level.n_nodes() <= MOST_NODES_PER_CLUSTER * task.n_clusters;
            // On a large graph itself there are no splits: its first level is the last chance.
            let is_last = is_large(graph) && place == 1;
            let is_fine = is_last || level.n_nodes() >= NODES_PER_CLUSTER * task.n_clusters;
            if splits_left > 0 && is_coarse && is_fine {
                found = split_merge(level, found, std::mem::take(&mut splits_left), task, seed)?;
            }
            labels = found.labels;
        }
    }
    Ok(labels)
}

fn carried_up(levels: &[Level], labels: &[ClusterId]) -> Vec<ClusterId> {
    levels.iter().fold(labels.to_vec(), |labels, level| level.groups.carried(&labels))
}

/// Labels for the nodes of the last level when there is no time to make better ones.
fn cut_in_order(graph: &Graph<'_>, levels: &[Level], n_clusters: usize) -> Vec<ClusterId> {
    let mut degrees = graph.degrees().to_vec();
    for level in levels {
        let mut summed = vec![0.0; level.groups.count];
        for (&group, degree) in level.groups.of_node.iter().zip(&degrees) {
            summed[group as usize] += degree;
        }
        degrees = summed;
    }
    merge_in_order(&degrees, n_clusters)
}

/// Groups of the nodes of the last level, as groups of the nodes below all levels.
fn composed(levels: &[Level], last: &Groups) -> Groups {
    let mut of_node = last.of_node.clone();
    for level in levels.iter().rev() {
        of_node = level.groups.of_node.iter().map(|&group| of_node[group as usize]).collect();
    }
    Groups { of_node, count: last.count }
}

/// The graph of the last of some levels, made from the graph below all of them; breaks when the observer does.
fn made(graph: &Graph<'_>, levels: &[Level], task: &Task<'_>) -> Result<ControlFlow<(), Graph<'static>>> {
    let (last, others) = levels.split_last().expect("a level that was not kept");
    let groups = composed(others, &last.groups);
    graph.contract_narrow(&groups.of_node, groups.count, &mut |progress| task.watch.report(progress))
}

/// Merges round by round. Of rounds that shrink the graph little only every few are kept as a level.
///
/// Merging may leave nearly all edges in place, as in a graph without clusters. So that never two graphs of the size
/// of a large one are there beside it, one that has not shrunk much goes before the next is made, from the graph below
/// all levels; and of the graphs of levels those of the last are kept, as many as there is room for.
fn coarsen(graph: &Graph<'_>, task: &Task<'_>, how: &Coarsening<'_>) -> Result<Levels> {
    let cap = graph.volume() / task.n_clusters as f64;
    let merging = Merging {
        floor: if how.within.is_some() { 0.0 } else { task.floor },
        propagates: task.propagation,
        hurries: task.coarse_split_rounds > 0,
        cap,
        // Clusters that are kept are found again, however nodes come together inside them.
        crowd: if how.within.is_some() { cap / CROWDS_PER_CLUSTER } else { 0.0 },
        noise: how.noise,
        seed: how.seed,
        ..Merging::down_to(task.n_clusters)
    };
    let room = if is_large(graph) { room_beside(graph, task) } else { usize::MAX };
    let contracted = |graph: &Graph<'_>, groups: &Groups| {
        let observe = &mut |progress: &_| task.watch.report(progress);
        match room {
            usize::MAX => graph.contract_observed(&groups.of_node, groups.count, observe),
            _ => graph.contract_narrow(&groups.of_node, groups.count, observe),
        }
    };
    let mut kept: Vec<Level> = Vec::new();
    let mut within: Option<Vec<u32>> = how.within.map(<[u32]>::to_vec);
    // The groups that the nodes of the last level are in by now, and the graph of these.
    let mut last = Groups::single(graph.n_nodes());
    let mut current: Option<Graph<'static>> = None;
    if let (Some(bundles), None) = (task.bundles, how.within) {
        last.follow(bundles);
        match contracted(graph, bundles)? {
            ControlFlow::Continue(bundled) => current = Some(bundled),
            ControlFlow::Break(()) => return Ok(Levels { kept, last, is_cut_short: true }),
        }
    }
    loop {
        let of_level = kept.last().and_then(|level| level.graph.as_ref());
        let top = current.as_ref().or(of_level);
        let allowed = Merging { within: within.as_deref(), ..merging };
        let Some(round) = allowed.round(top.unwrap_or(graph), task.watch) else {
            return Ok(Levels { kept, last, is_cut_short: task.is_stopped() });
        };
        last.follow(&round);
        within = within.map(|within| round.carried(&within));
        if top.is_none() && graph.columns().len() > MOST_MADE {
            while let Some(more) = propagated_beside(graph, &last, within.as_deref(), &merging, task)? {
                last.follow(&more);
                within = within.map(|within| more.carried(&within));
            }
        }
        let n_groups = last.count;
        let next = match top.filter(|top| cost(top) <= room) {
            Some(top) => contracted(top, &round)?,
            None => {
                drop((round, current.take()));
                kept.iter_mut().for_each(|level| level.graph = None);
                contracted(graph, &composed(&kept, &last))?
            }
        };
        let ControlFlow::Continue(next) = next else {
            return Ok(Levels { kept, last, is_cut_short: true });
        };
        let n_before = kept.last().map_or(graph.n_nodes(), |level| level.groups.count);
        if (n_groups as f64) < KEPT_SHARE * n_before as f64 && n_groups > task.n_clusters {
            kept.push(Level {
                graph: Some(next),
                groups: std::mem::replace(&mut last, Groups::single(n_groups)),
            });
            current = None;
        } else {
            current = Some(next);
        }
        make_room(&mut kept, current.as_ref().map_or(0, cost), room);
    }
}

/// Groups of groups whose graph is too large to be made while there are many of them.
fn propagated_beside(
    graph: &Graph<'_>,
    groups: &Groups,
    within: Option<&[u32]>,
    merging: &Merging<'_>,
    task: &Task<'_>,
) -> Result<Option<Groups>> {
    if !merging.may_propagate(groups.count) {
        return Ok(None);
    }
    let quotient = Quotient::new(graph, groups)?;
    let most_made = MOST_MADE.max((MOST_MADE_SHARE * graph.columns().len() as f64) as usize);
    if quotient.estimated_entries() <= most_made {
        return Ok(None);
    }
    let merging = Merging { within, ..*merging };
    if quotient.is_fine() {
        return Ok(merging.propagated(&quotient, task.watch));
    }
    let links = quotient.strongest_links(task.watch);
    Ok(links.and_then(|links| merging.propagated(&links, task.watch)))
}

/// The entries that levels of a large graph may have to be kept.
fn room_beside(graph: &Graph<'_>, task: &Task<'_>) -> usize {
    let n_entries = graph.columns().len() as f64;
    let is_unit = matches!(graph.weights(), Weights::Unit);
    // Without splits there is a quick task, which may be all that memory allows.
    let share = if is_unit && task.coarse_split_rounds == 0 { HELD_SHARE_OF_UNIT } else { HELD_SHARE };
    (share * n_entries).max(if is_unit { HELD_OF_UNIT } else { 0.0 }) as usize
}

/// What a coarse graph takes, in entries: its nodes have an offset, a degree and a self-loop each.
fn cost(graph: &Graph<'_>) -> usize {
    graph.columns().len() + 3 * graph.n_nodes()
}

/// Drops the graphs of the first levels, those with the most entries, until the others fit in. The last stays, unless
/// one with `n_next` entries has been made of it since and both are too many.
fn make_room(levels: &mut [Level], n_next: usize, room: usize) {
    let mut n_entries = 0;
    for (place, level) in levels.iter_mut().rev().enumerate() {
        n_entries += level.graph.as_ref().map_or(0, cost);
        let is_last = place == 0 && n_next == 0;
        let is_too_much = n_entries > room && place > 0;
        if !is_last && (is_too_much || (n_entries + n_next) as f64 > HELD_WITH_NEXT * room as f64) {
            level.graph = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_level_that_the_next_is_made_of_stays_whatever_the_room() -> Result<()> {
        let path = || Graph::from_edges(4, [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0)]);
        let kept = |n_next, room| -> Result<Vec<bool>> {
            let mut levels = vec![Level::new(path()?, vec![0; 8]), Level::new(path()?, vec![0; 4])];
            make_room(&mut levels, n_next, room);
            Ok(levels.iter().map(|level| level.graph.is_some()).collect())
        };
        let cost = cost(&path()?);
        assert_eq!(kept(0, 2 * cost)?, [true, true]);
        assert_eq!(kept(0, cost)?, [false, true]);
        assert_eq!(kept(0, 0)?, [false, true]);
        assert_eq!(kept(1, 2 * cost)?, [true, true]);
        assert_eq!(kept(1, 0)?, [false, false]);
        Ok(())
    }
}
