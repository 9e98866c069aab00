//! Uncoarsening: labels of the coarsest level are projected from level to level, and refined on each.

use crate::error::{Result, or_stopped};
use crate::graph::Graph;
use crate::partition::ClusterId;
use crate::progress::Clock;

use super::coarsen::{Level, rebuild_level};

/// What is done on every level.
pub(super) trait Refiner {
    /// Whether the graph of a level that was not kept is to be made anew. `n_nodes` are those of the level.
    fn wants_rebuilt(&self, n_nodes: usize) -> bool;

    /// Refines labels on the graph of a level. `n_below` levels are still below it; with none it is the graph itself.
    fn refine(&mut self, level: &Graph<'_>, labels: Vec<ClusterId>, n_below: usize)
    -> Result<Vec<ClusterId>>;
}

/// What becomes of the graphs of levels.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AfterUse {
    /// They are used again.
    Keep,
    /// They, and what their nodes stand for, make room for the next finer level.
    Drop,
}

/// Projects labels of the last level down to `graph`, refining them on all levels and on the graph.
pub(super) fn uncoarsen(
    graph: &Graph<'_>,
    levels: &mut [Level],
    mut labels: Vec<ClusterId>,
    after_use: AfterUse,
    refiner: &mut dyn Refiner,
    clock: &Clock<'_>,
) -> Result<Vec<ClusterId>> {
    for n_below in (0..=levels.len()).rev() {
        if let Some(coarser) = levels.get_mut(n_below) {
            if after_use == AfterUse::Drop {
                coarser.graph = None;
            }
            labels = coarser.groups.project(&labels);
            if after_use == AfterUse::Drop {
                coarser.groups.of_node = Vec::new();
            }
        }
        let Some(level) = levels[..n_below].last() else {
            labels = refiner.refine(graph, labels, 0)?;
            continue;
        };
        if let Some(level) = &level.graph {
            labels = refiner.refine(level, labels, n_below)?;
        } else if n_below == 1 || refiner.wants_rebuilt(level.groups.count) {
            // Without time the level is passed over; the labels are valid as they are.
            if let Ok(level) = or_stopped(rebuild_level(graph, &levels[..n_below], clock))? {
                labels = refiner.refine(&level, labels, n_below)?;
            }
        }
    }
    Ok(labels)
}

/// Labels of the nodes below all levels as labels of the nodes of the last.
pub(super) fn restricted(levels: &[Level], labels: &[ClusterId]) -> Vec<ClusterId> {
    levels.iter().fold(labels.to_vec(), |labels, level| level.groups.restrict(&labels))
}
