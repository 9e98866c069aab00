//! Starts that do not come from merging.

use crate::communities::{Communities, Thoroughness};
use crate::descent::{Proof, descend};
use crate::error::Result;
use crate::graph::Graph;
use crate::hierarchy::n2hi;
use crate::objective::Objective;
use crate::parallel::prelude::*;
use crate::partition::{ClusterId, Partition};
use crate::progress::StopReason;

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
        let min_volume = if O::USES_SIZES { 0.0 } else { task.floor };
        let found = asked.find_exactly(graph, task.n_clusters, min_volume, None, task.clock)?;
        given(graph, found.labels, task)
    };
    RESOLUTIONS.par_iter().with_max_len(1).map(start).collect()
}

/// A partition without a floor.
fn unconstrained<'g, O: Objective>(
    graph: &'g Graph<'g>,
    labels: Vec<ClusterId>,
    task: &Task<'_, O>,
) -> Result<Partition<'g, O>> {
    Ok(task.partition(graph, labels)?.with_floor(0.0))
}
