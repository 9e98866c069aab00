//! Descent that visits only where something changed, on all threads.

use std::ops::ControlFlow;

use crate::blocks::Blocks;
use crate::graph::NodeId;
use crate::partition::{Links, Move, Partition};
use crate::progress::{Observer, Progress, SharedObserver, Stage, StopReason, Watch};

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

/// As [`descend`](super::descend), on all threads, and after the first sweep only nodes next to a change are visited,
/// until a last sweep over all of them finds no move. What comes out does not depend on the number of threads.
///
/// ```
/// use ncut::descent::{StoppingRule, settle};
/// use ncut::{Graph, Partition, unobserved};
/// let path = Graph::from_edges(4, [(0, 1, 5.0), (1, 2, 0.1), (2, 3, 5.0)])?;
/// let mut partition = Partition::new(&path, vec![0, 1, 1, 1], 2)?;
/// settle(&mut partition, &StoppingRule::default(), &mut unobserved);
/// assert_eq!(partition.labels(), [0, 0, 1, 1]);
/// # Ok::<(), ncut::Error>(())
/// ```
pub fn settle(partition: &mut Partition<'_>, rule: &StoppingRule, observe: Observer<'_>) -> Descent {
    let mut links = Links::new(partition.n_clusters());
    let settled = settle_all(partition, rule, Proof::Full, &mut links, &SharedObserver::new(observe));
    partition.refresh();
    settled
}

/// As [`settle`], but moves gain more than [`LEAST_GAIN`], and the sums are not computed afresh at the end.
pub(crate) fn settle_all(
    partition: &mut Partition<'_>,
    rule: &StoppingRule,
    proof: Proof,
    links: &mut Links,
    watch: &dyn Watch,
) -> Descent {
    let awake = vec![true; partition.graph().n_nodes()];
    settle_awake(partition, awake, rule, proof, links, watch)
}

/// As [`settle_all`], but only the nodes that are `awake` are visited in the first sweep.
pub(crate) fn settle_awake(
    partition: &mut Partition<'_>,
    mut awake: Vec<bool>,
    rule: &StoppingRule,
    proof: Proof,
    links: &mut Links,
    watch: &dyn Watch,
) -> Descent {
    let n_nodes = partition.graph().n_nodes();
    let mut progress = Progress::new(Stage::Descent, n_nodes as u64);
    progress.objective = Some(partition.objective());
    let mut is_full = awake.iter().all(|&awake| awake);
    if is_full {
        partition.keep_bonds();
    }
    let blocks = Blocks::of(partition.graph().n_nodes(), partition.graph().columns().len());
    let stop_reason = loop {
        if progress.sweeps >= rule.max_sweeps {
            break StopReason::SweepLimit;
        }
        let (moves_before, before) = (progress.moves, partition.objective());
        progress.sweeps += 1;
        let mut sweep = Sweep { partition, awake: &mut awake, links, progress: &mut progress };
        let swept = match &blocks {
            None => sweep.one_by_one(watch),
            Some(blocks) => sweep.by_blocks(blocks, watch),
        };
        if swept.is_break() {
            break StopReason::Cancelled;
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

/// One visit to every node that is awake.
struct Sweep<'s, 'g> {
    partition: &'s mut Partition<'g>,
    awake: &'s mut [bool],
    links: &'s mut Links,
    progress: &'s mut Progress,
}

impl Sweep<'_, '_> {
    fn one_by_one(&mut self, watch: &dyn Watch) -> ControlFlow<()> {
        for node in 0..self.awake.len() {
            if node.is_multiple_of(NODES_PER_REPORT) {
                self.progress.done = node as u64;
                watch.report(self.progress)?;
            }
            if std::mem::take(&mut self.awake[node]) {
                self.visit(node as NodeId);
            }
        }
        ControlFlow::Continue(())
    }

    fn visit(&mut self, node: NodeId) {
        if let Some(step) = self.partition.best_move(node, self.links) {
            self.carry_out(step);
        }
    }

    fn carry_out(&mut self, step: Move) {
        if step.gain() > LEAST_GAIN {
            self.partition.apply(step);
            self.progress.moves += 1;
            let graph = self.partition.graph();
            graph.for_each_neighbor(step.node(), |neighbor, _| self.awake[neighbor as usize] = true);
        }
    }

    /// The nodes of a block are asked side by side, all in the same state of the partition; then their moves are carried
    /// out in order, each with the gain it has by then.
    fn by_blocks(&mut self, blocks: &Blocks<Links>, watch: &dyn Watch) -> ControlFlow<()> {
        for block in blocks.ranges() {
            self.progress.done = block.start as u64;
            watch.report(self.progress)?;
            let partition = &*self.partition;
            let links = || Links::new(partition.n_clusters());
            let asked = blocks.ask(block, self.awake, links, |node, links| partition.best_move(node, links));
            for step in asked {
                // Awake again: a neighbour has moved since it was asked.
                if std::mem::take(&mut self.awake[step.node() as usize]) {
                    self.visit(step.node());
                } else if let Some(step) = self.partition.renewed(step) {
                    self.carry_out(step);
                }
            }
        }
        ControlFlow::Continue(())
    }
}
