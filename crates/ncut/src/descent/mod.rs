//! Fast-CD (the paper's section 3): coordinate descent on the labels, one node at a time.

mod settle;
mod connected;
mod chains;
mod exchange;

use crate::graph::NodeId;
use crate::objective::Objective;
use crate::partition::{Links, Partition};
use crate::progress::{Clock, Progress, Stage, StopReason, Stopped};

pub(crate) use chains::chains;
pub(crate) use connected::{Bridges, settle_connected};
pub(crate) use exchange::exchange;
pub use settle::settle;
pub(crate) use settle::{Proof, settle_active, settle_all};

/// Nodes between two reports to the clock.
const NODES_PER_REPORT: usize = 4096;
/// Sweeps between two recomputations of the sums.
const SWEEPS_PER_REFRESH: usize = 4;
/// A recomputation that changes the value of a cluster by more than this, in units of the objective, may open moves that rounding had hidden.
const VISIBLE: f64 = 1e-10;

/// When to stop sweeping.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoppingRule {
    /// Sweeps at most.
    pub max_sweeps: usize,
    /// Stop when a sweep changes the objective by less than this, relatively. [`descend`] looks at it from the third sweep
    /// on, as the paper does; [`settle`] always.
    pub tolerance: f64,
}

impl Default for StoppingRule {
    /// The paper's: 50 sweeps, 1e-9.
    fn default() -> Self {
        Self { max_sweeps: 50, tolerance: 1e-9 }
    }
}

impl StoppingRule {
    /// Why to stop after a sweep, if so: nothing moved, or it was not worth it.
    fn rests(&self, moves: u64, before: f64, after: f64) -> Option<StopReason> {
        if moves == 0 {
            Some(StopReason::LocalOptimum)
        } else if (after - before).abs() < self.tolerance * before.abs() {
            Some(StopReason::SmallImprovement)
        } else {
            None
        }
    }

    /// Whether a descent by whole sweeps ends after one. The paper looks at the improvement from the third sweep on.
    fn check(&self, sweeps: usize, moves: u64, before: f64, after: f64) -> Option<StopReason> {
        match self.rests(moves, before, after) {
            Some(StopReason::SmallImprovement) if sweeps < 3 => None,
            Some(reason) => Some(reason),
            None => None,
        }
        .or((sweeps >= self.max_sweeps).then_some(StopReason::SweepLimit))
    }
}

/// How a descent went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Descent {
    /// Sweeps begun; only the last may have been broken off.
    pub sweeps: usize,
    /// Moves in all.
    pub moves: u64,
    /// Why it ended.
    pub stop_reason: StopReason,
}

/// Sweeps over the nodes in order, giving each its best cluster, until `rule` is met. The objective never
/// falls, and a cluster never becomes empty.
pub fn descend<O: Objective>(
    partition: &mut Partition<'_, O>,
    rule: &StoppingRule,
    clock: &Clock<'_>,
) -> Descent {
    partition.keep_node_cluster_weights();
    let mut links = Links::new(partition.n_clusters());
    let mut progress = Progress::new(Stage::Descent, partition.graph().n_nodes() as u64);
    progress.objective = Some(partition.objective());
    let visible = VISIBLE * partition.table().objective_type().unit();
    let stop_reason = loop {
        if progress.sweeps >= rule.max_sweeps {
            break StopReason::SweepLimit;
        }
        let (moves_before, before) = (progress.moves, partition.objective());
        let swept = sweep(partition, &mut links, &mut progress, clock);
        progress.sweeps += 1;
        if progress.sweeps.is_multiple_of(SWEEPS_PER_REFRESH) {
            partition.refresh();
        }
        let after = partition.objective();
        progress.objective = Some(after);
        if let Err(Stopped(reason)) = swept.and_then(|()| clock.report(&progress)) {
            break reason;
        }
        let moves = progress.moves - moves_before;
        if moves == 0 && partition.refresh() > visible {
            continue;
        }
        if let Some(reason) = rule.check(progress.sweeps, moves, before, after) {
            break reason;
        }
    };
    partition.refresh();
    Descent { sweeps: progress.sweeps, moves: progress.moves, stop_reason }
}

/// One visit to every node.
fn sweep<O: Objective>(
    partition: &mut Partition<'_, O>,
    links: &mut Links,
    progress: &mut Progress,
    clock: &Clock<'_>,
) -> Result<(), Stopped> {
    for node in 0..partition.graph().n_nodes() {
        if node.is_multiple_of(NODES_PER_REPORT) {
            progress.done = node as u64;
            clock.report(progress)?;
        }
        if let Some(step) = partition.best_move(node as NodeId, links) {
            partition.apply(step);
            progress.moves += 1;
        }
    }
    progress.done = progress.total;
    Ok(())
}
