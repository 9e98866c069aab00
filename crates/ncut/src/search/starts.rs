//! Starts that do not come from merging.

use crate::communities::{Communities, Thoroughness};
use crate::descent::{Proof, descend};
use crate::error::Result;
use crate::graph::{Graph, NodeId};
use crate::hierarchy::n2hi;
use crate::objective::Objective;
use crate::parallel::prelude::*;
use crate::partition::{ClusterId, Partition};
use crate::progress::{Clock, StopReason};

use super::multilevel::completed;
use super::repair::{at_the_floor, repair};
use super::solution::Solution;
use super::task::Task;

/// Resolutions of modularity at which communities are looked for; `None` for the one that makes as many as asked for.
const RESOLUTIONS: [Option<f64>; 2] = [None, Some(1.0)];

/// The paper's labels (N2HI, then Fast-CD), brought to the floor where they are not.
pub(super) fn paper_at_the_floor<O: Objective>(graph: &Graph<'_>, task: &Task<'_, O>) -> Result<Solution> {
    at_the_floor(graph, task.held_together(graph, paper(graph, task)?)?, task)
}

/// The paper's labels, whatever their masses.
pub(super) fn paper<O: Objective>(graph: &Graph<'_>, task: &Task<'_, O>) -> Result<Solution> {
    descended(graph, hierarchy(graph, task)?, task)
}

/// The labels of N2HI.
pub(super) fn hierarchy<O: Objective>(graph: &Graph<'_>, task: &Task<'_, O>) -> Result<Vec<ClusterId>> {
    Ok(n2hi(graph, task.n_clusters, task.clock)?.labels)
}

/// Labels after Fast-CD, which knows no floor.
pub(super) fn descended<O: Objective>(
    graph: &Graph<'_>,
    labels: Vec<ClusterId>,
    task: &Task<'_, O>,
) -> Result<Solution> {
    let mut partition = unconstrained(graph, labels, task)?;
    let descent = descend(&mut partition, &task.rule, task.clock);
    task.count(&descent);
    Ok(task.solution(partition, descent.stop_reason))
}

/// The paper's labels brought to a stricter floor, which is released at the end; `None` where they are at it.
pub(super) fn paper_released<O: Objective>(
    graph: &Graph<'_>,
    paper: &Solution,
    strict: &Task<'_, O>,
    task: &Task<'_, O>,
) -> Result<Option<Solution>> {
    let partition = unconstrained(graph, paper.labels.clone(), task)?;
    if task.is_stopped() || strict.solution(partition, paper.stop_reason).is_feasible() {
        return Ok(None);
    }
    let labels = repair(graph, paper.labels.clone(), strict)?;
    task.improve(graph, labels, Proof::Full, 0).map(Some)
}

/// Given labels after a descent, brought to the floor where they are not.
pub(super) fn given<O: Objective>(
    graph: &Graph<'_>,
    labels: Vec<ClusterId>,
    task: &Task<'_, O>,
) -> Result<Solution> {
    let start = task.solution(unconstrained(graph, labels, task)?, StopReason::SweepLimit);
    let start = task.held_together(graph, start)?;
    if start.is_feasible() {
        return task.improve(graph, start.labels, Proof::Full, 0);
    }
    at_the_floor(graph, start, task)
}

/// Communities of high modularity after a descent: those of the resolution that makes as many as asked for, and of some
/// others, merged down to as many.
pub(super) fn communities<O: Objective>(
    graph: &Graph<'_>,
    task: &Task<'_, O>,
    seed: u64,
) -> Result<Vec<Solution>> {
    let start = |&resolution: &Option<f64>| {
        let (limits, thoroughness) = (&task.plan.limits, Thoroughness::Start);
        let asked = Communities { resolution, thoroughness, seed, limits };
        // Volumes are not what the floor of other objectives is measured in.
        let min_volume = if task.objective.weighs_by_size() { 0.0 } else { task.floor };
        let found = asked.find_exactly(graph, task.n_clusters, min_volume, None, task.clock)?;
        given(graph, found.labels, task)
    };
    RESOLUTIONS.par_iter().with_max_len(1).map(start).collect()
}

/// Times that labels spread over all nodes, there and back, and how many numbers may be looked at.
const SPREADINGS: usize = 60;
const MAX_SPREAD: usize = 1 << 28;

/// Known labels spread over the graph, and a descent from them. `None` where there are fewer than two, or the graph is too large.
pub(super) fn known<O: Objective>(
    graph: &Graph<'_>,
    task: &Task<'_, O>,
    seed: u64,
) -> Result<Option<Solution>> {
    let Some((labels, n_known)) = spread(graph, task.clock) else { return Ok(None) };
    let complete = match n_known < task.n_clusters {
        true => completed(graph, &labels, n_known, task)?.labels,
        false => labels,
    };
    task.improve(graph, complete, Proof::Full, seed).map(Some)
}

/// Known labels spread over the graph: every node has the one that a random walk from it most likely meets first (Zhu,
/// Ghahramani and Lafferty 2003; Grady 2006). Also how many there are.
pub(super) fn spread(graph: &Graph<'_>, clock: &Clock<'_>) -> Option<(Vec<ClusterId>, usize)> {
    let known = graph.apart().map_or(&[][..], |apart| apart.all_apart());
    let (n_nodes, n_known) = (graph.n_nodes(), known.len());
    let work = (2 * SPREADINGS * n_known).saturating_mul(graph.columns().len());
    if n_known < 2 || work > MAX_SPREAD || clock.is_stopped() {
        return None;
    }
    let mut is_known = vec![false; n_nodes];
    let mut chances = vec![0.0f32; n_nodes * n_known];
    for (label, &node) in known.iter().enumerate() {
        is_known[node as usize] = true;
        chances[node as usize * n_known + label] = 1.0;
    }
    let mut sums = vec![0.0f64; n_known];
    let mut visit = |node: usize, chances: &mut [f32]| {
        if is_known[node] {
            return;
        }
        sums.fill(0.0);
        let mut degree = 0.0;
        graph.for_each_neighbor(node as NodeId, |neighbor, weight| {
            degree += weight;
            for (sum, &chance) in sums.iter_mut().zip(&chances[neighbor as usize * n_known..]) {
                *sum += weight * f64::from(chance);
            }
        });
        if degree > 0.0 {
            for (chance, sum) in chances[node * n_known..].iter_mut().zip(&sums) {
                *chance = (sum / degree) as f32;
            }
        }
    };
    for _ in 0..SPREADINGS {
        if clock.is_stopped() {
            break;
        }
        (0..n_nodes).for_each(|node| visit(node, &mut chances));
        (0..n_nodes).rev().for_each(|node| visit(node, &mut chances));
    }
    let most = |row: &[f32]| {
        let mut best = 0;
        for label in 1..n_known {
            if row[label] > row[best] {
                best = label;
            }
        }
        best as ClusterId
    };
    Some((chances.chunks_exact(n_known).map(most).collect(), n_known))
}

/// A partition without a floor.
fn unconstrained<'g, O: Objective>(
    graph: &'g Graph<'g>,
    labels: Vec<ClusterId>,
    task: &Task<'_, O>,
) -> Result<Partition<'g, O>> {
    Ok(task.partition(graph, labels)?.with_floor(0.0))
}
