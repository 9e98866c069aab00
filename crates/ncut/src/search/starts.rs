//! Starts that do not come from merging.

use crate::descent::{Proof, descend};
use crate::error::Result;
use crate::graph::Graph;
use crate::hierarchy::n2hi;
use crate::partition::{ClusterId, Partition};
use crate::progress::StopReason;

use super::complete::repair;
use super::task::{Solution, Task};

/// The paper's labels (N2HI, then Fast-CD), brought to the floor where they are not.
pub(super) fn first_neighbors(graph: &Graph<'_>, task: &Task<'_>) -> Result<Solution> {
    at_the_floor(graph, paper(graph, task)?, task)
}

/// The paper's labels, whatever their volumes.
pub(super) fn paper(graph: &Graph<'_>, task: &Task<'_>) -> Result<Solution> {
    descended(graph, hierarchy(graph, task)?, task)
}

/// The labels of N2HI.
pub(super) fn hierarchy(graph: &Graph<'_>, task: &Task<'_>) -> Result<Vec<ClusterId>> {
    let mut observe = |progress: &_| task.watch.report(progress);
    Ok(n2hi(graph, task.n_clusters, &mut observe)?.labels)
}

/// Labels after Fast-CD.
pub(super) fn descended(graph: &Graph<'_>, labels: Vec<ClusterId>, task: &Task<'_>) -> Result<Solution> {
    let mut observe = |progress: &_| task.watch.report(progress);
    let mut partition = Partition::new(graph, labels, task.n_clusters)?;
    let descent = descend(&mut partition, &task.rule, &mut observe);
    task.count(graph, &descent);
    Ok(Solution::new(partition, descent.stop_reason, task))
}

/// The paper's labels brought to a stricter floor, which is released at the end; `None` where they are at it.
pub(super) fn first_neighbors_released(
    graph: &Graph<'_>,
    paper: &Solution,
    strict: &Task<'_>,
    task: &Task<'_>,
) -> Result<Option<Solution>> {
    let partition = Partition::new(graph, paper.labels.clone(), task.n_clusters)?;
    if task.is_stopped() || Solution::new(partition, paper.stop_reason, strict).is_feasible() {
        return Ok(None);
    }
    let labels = repair(graph, paper.labels.clone(), strict)?;
    task.improve(graph, labels, Proof::Full, 0).map(Some)
}

/// Given labels after a descent, brought to the floor where they are not.
pub(super) fn given(graph: &Graph<'_>, labels: Vec<ClusterId>, task: &Task<'_>) -> Result<Solution> {
    let partition = Partition::new(graph, labels, task.n_clusters)?;
    let start = Solution::new(partition, StopReason::SweepLimit, task);
    if start.is_feasible() {
        return task.improve(graph, start.labels, Proof::Full, 0);
    }
    at_the_floor(graph, start, task)
}

pub(super) fn at_the_floor(graph: &Graph<'_>, start: Solution, task: &Task<'_>) -> Result<Solution> {
    if start.is_feasible() || task.is_stopped() {
        return Ok(start);
    }
    let labels = repair(graph, start.labels, task)?;
    task.improve(graph, labels, Proof::Full, 0)
}
