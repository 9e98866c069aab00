//! Starts that do not come from merging.

use crate::descent::{Proof, descend};
use crate::error::Result;
use crate::graph::Graph;
use crate::hierarchy::n2hi;
use crate::objective::Objective;
use crate::partition::{ClusterId, Partition};
use crate::progress::StopReason;

use super::repair::{at_the_floor, repair};
use super::solution::Solution;
use super::task::Task;

/// The paper's labels (N2HI, then Fast-CD), brought to the floor where they are not.
pub(super) fn paper_at_the_floor<O: Objective>(graph: &Graph<'_>, task: &Task<'_, O>) -> Result<Solution> {
    at_the_floor(graph, paper(graph, task)?, task)
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
    if start.is_feasible() {
        return task.improve(graph, start.labels, Proof::Full, 0);
    }
    at_the_floor(graph, start, task)
}

/// A partition without a floor.
fn unconstrained<'g, O: Objective>(
    graph: &'g Graph<'g>,
    labels: Vec<ClusterId>,
    task: &Task<'_, O>,
) -> Result<Partition<'g, O>> {
    Ok(task.partition(graph, labels)?.with_floor(0.0))
}
