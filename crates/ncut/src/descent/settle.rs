//! Descent that visits only where something changed.

use crate::graph::NodeId;
use crate::partition::{Links, Partition};
use crate::progress::{Progress, Stage, StopReason, Watch};

use super::{Descent, NODES_PER_REPORT, StoppingRule};

/// Gains below this may be rounding, and could make a partition go round in circles.
pub(crate) const LEAST_GAIN: f64 = 1e-14;

/// When a settling partition may rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    /// A last sweep over all nodes finds no move.
    Full,
    /// Nothing changed around any node since its last visit.
    None,
}

/// As [`descend`](super::descend), but after the first sweep only nodes next to a change are visited. Moves gain
/// more than [`LEAST_GAIN`]. The sums are not computed afresh at the end.
pub(crate) fn settle(
    partition: &mut Partition<'_>,
    rule: &StoppingRule,
    proof: Proof,
    links: &mut Links,
    watch: &dyn Watch,
) -> Descent {
    let awake = vec![true; partition.graph().n_nodes()];
    settle_awake(partition, awake, rule, proof, links, watch)
}

/// As [`settle`], but only the nodes that are `awake` are visited in the first sweep.
pub(crate) fn settle_awake(
    partition: &mut Partition<'_>,
    mut awake: Vec<bool>,
    rule: &StoppingRule,
    proof: Proof,
    links: &mut Links,
    watch: &dyn Watch,
) -> Descent {
    let graph = partition.graph();
    let n_nodes = graph.n_nodes();
    let mut progress = Progress::new(Stage::Descent, n_nodes as u64);
    progress.objective = Some(partition.objective());
    let mut is_full = awake.iter().all(|&awake| awake);
    let stop_reason = 'sweeps: loop {
        if progress.sweeps >= rule.max_sweeps {
            break StopReason::SweepLimit;
        }
        let (moves_before, before) = (progress.moves, partition.objective());
        progress.sweeps += 1;
        for node in 0..n_nodes {
            if node.is_multiple_of(NODES_PER_REPORT) {
                progress.done = node as u64;
                if watch.report(&progress).is_break() {
                    break 'sweeps StopReason::Cancelled;
                }
            }
            if !std::mem::take(&mut awake[node]) {
                continue;
            }
            let step = partition.best_move(node as NodeId, links);
            if let Some(step) = step.filter(|step| step.gain() > LEAST_GAIN) {
                partition.apply(step);
                progress.moves += 1;
                graph.for_each_neighbor(node as NodeId, |neighbor, _| awake[neighbor as usize] = true);
            }
        }
        let after = partition.objective();
        progress.objective = Some(after);
        let moves = progress.moves - moves_before;
        let rests = moves == 0 || (after - before).abs() < rule.tolerance * before.abs();
        if rests && (is_full || proof == Proof::None) {
            break if moves == 0 { StopReason::LocalOptimum } else { StopReason::SmallImprovement };
        }
        // The volumes and associations that all gains depend on have changed too: everybody is asked again.
        is_full = rests;
        if is_full {
            awake.fill(true);
        }
    };
    Descent { sweeps: progress.sweeps, moves: progress.moves, stop_reason }
}
