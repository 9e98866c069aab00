//! Labels whose clusters are below the floor, brought to it.

use crate::descent::Proof;
use crate::error::{Result, or_stopped};
use crate::graph::Graph;
use crate::hierarchy::Merging;
use crate::objective::Objective;
use crate::partition::ClusterId;

use super::multilevel::completed;
use super::solution::Solution;
use super::split::split_until_enough;
use super::task::Task;

/// A solution brought to the floor, where it is not there and there is time.
pub(super) fn at_the_floor<O: Objective>(
    graph: &Graph<'_>,
    start: Solution,
    task: &Task<'_, O>,
) -> Result<Solution> {
    if start.is_feasible() || task.is_stopped() {
        return Ok(start);
    }
    let labels = repair(graph, start.labels, task)?;
    task.improve(graph, labels, Proof::Full, 0)
}

/// Merges clusters below the floor into those with which it costs least, and splits others in return.
pub(super) fn repair<O: Objective>(
    graph: &Graph<'_>,
    labels: Vec<ClusterId>,
    task: &Task<'_, O>,
) -> Result<Vec<ClusterId>> {
    let quotient = or_stopped(graph.contract_observed(&labels, task.n_clusters, task.clock))?;
    let merging = Merging {
        floor: task.floor,
        connected: task.merges_linked_only(),
        ceiling: task.ceiling,
        ..task.merging_down_to(task.n_clusters)
    };
    let groups = match quotient {
        Ok(quotient) => or_stopped(merging.merge_all(&quotient, task.clock))?,
        Err(stopped) => Err(stopped),
    };
    let Ok(groups) = groups else { return Ok(labels) };
    let merged = labels.iter().map(|&label| groups.of_node[label as usize]).collect::<Vec<_>>();
    drop(labels);
    if task.plan.is_large {
        return Ok(completed(graph, &merged, groups.count, task)?.labels);
    }
    split_until_enough(graph, merged, groups.count, task)
}
