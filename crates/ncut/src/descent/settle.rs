//! Descent that visits only where something changed, on all threads.

use crate::blocks::Blocks;
use crate::graph::NodeId;
use crate::objective::Objective;
use crate::partition::{Links, Move, Partition};
use crate::progress::{Clock, Progress, Stage, StopReason, Stopped};

use super::{Descent, NODES_PER_REPORT, StoppingRule};

/// Gains below this, in units of the objective, may be rounding, and could make a partition go round in circles.
pub(crate) const MIN_GAIN: f64 = 1e-14;

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
/// use ncut::{Clock, Graph, Partition};
/// let path = Graph::from_edges(4, [(0, 1, 5.0), (1, 2, 0.1), (2, 3, 5.0)])?;
/// let mut partition = Partition::new(&path, vec![0, 1, 1, 1], 2)?;
/// settle(&mut partition, &StoppingRule::default(), &Clock::new());
/// assert_eq!(partition.labels(), [0, 0, 1, 1]);
/// # Ok::<(), ncut::Error>(())
/// ```
pub fn settle<O: Objective>(
    partition: &mut Partition<'_, O>,
    rule: &StoppingRule,
    clock: &Clock<'_>,
) -> Descent {
    let mut links = Links::new(partition.n_clusters());
    let settled = settle_all(partition, rule, Proof::Full, &mut links, clock);
    partition.refresh();
    settled
}

/// As [`settle`], but the sums are not computed afresh at the end.
pub(crate) fn settle_all<O: Objective>(
    partition: &mut Partition<'_, O>,
    rule: &StoppingRule,
    proof: Proof,
    links: &mut Links,
    clock: &Clock<'_>,
) -> Descent {
    let active = vec![true; partition.graph().n_nodes()];
    settle_active(partition, active, rule, proof, links, clock)
}

/// As [`settle_all`], but only the nodes that are `active` are visited in the first sweep.
pub(crate) fn settle_active<O: Objective>(
    partition: &mut Partition<'_, O>,
    mut active: Vec<bool>,
    rule: &StoppingRule,
    proof: Proof,
    links: &mut Links,
    clock: &Clock<'_>,
) -> Descent {
    let n_nodes = partition.graph().n_nodes();
    let mut progress = Progress::new(Stage::Descent, n_nodes as u64);
    progress.objective = Some(partition.objective());
    let mut is_full = active.iter().all(|&active| active);
    if is_full {
        partition.keep_node_cluster_weights();
    }
    let n_entries = partition.graph().columns().len();
    let blocks = Blocks::of(n_nodes, n_entries, partition.limits().min_entries_for_blocks);
    let min_gain = partition.price().max(MIN_GAIN * partition.table().objective_type().unit());
    let stop_reason = loop {
        if progress.sweeps >= rule.max_sweeps {
            break StopReason::SweepLimit;
        }
        let (moves_before, before) = (progress.moves, partition.objective());
        progress.sweeps += 1;
        let mut sweep = Sweep { partition, active: &mut active, links, progress: &mut progress, min_gain };
        let swept = match &blocks {
            None => sweep.one_by_one(clock),
            Some(blocks) => sweep.by_blocks(blocks, clock),
        };
        if let Err(Stopped(reason)) = swept {
            break reason;
        }
        let after = partition.objective();
        progress.objective = Some(after);
        let moves = progress.moves - moves_before;
        let rests = rule.rests(moves, before, after);
        if let Some(reason) = rests.filter(|_| is_full || proof == Proof::None) {
            break reason;
        }
        // The sums of clusters that all gains depend on have changed too: all nodes are visited again.
        is_full = rests.is_some();
        if is_full {
            active.fill(true);
        }
    };
    Descent { sweeps: progress.sweeps, moves: progress.moves, stop_reason }
}

/// One visit to every node that is active.
struct Sweep<'s, 'g, O> {
    partition: &'s mut Partition<'g, O>,
    active: &'s mut [bool],
    links: &'s mut Links,
    progress: &'s mut Progress,
    min_gain: f64,
}

impl<O: Objective> Sweep<'_, '_, O> {
    fn one_by_one(&mut self, clock: &Clock<'_>) -> Result<(), Stopped> {
        for node in 0..self.active.len() {
            if node.is_multiple_of(NODES_PER_REPORT) {
                self.progress.done = node as u64;
                clock.report(self.progress)?;
            }
            if std::mem::take(&mut self.active[node]) {
                self.visit(node as NodeId);
            }
        }
        Ok(())
    }

    fn visit(&mut self, node: NodeId) {
        if let Some(step) = self.partition.best_move(node, self.links) {
            self.carry_out(step);
        }
    }

    fn carry_out(&mut self, step: Move) {
        if step.gain() > self.min_gain {
            self.partition.apply(step);
            self.progress.moves += 1;
            let graph = self.partition.graph();
            graph.for_each_neighbor(step.node(), |neighbor, _| self.active[neighbor as usize] = true);
        }
    }

    /// The nodes of a block are asked side by side, all in the same state of the partition; then their moves are carried
    /// out in order, each with the gain it has by then.
    fn by_blocks(&mut self, blocks: &Blocks<Links>, clock: &Clock<'_>) -> Result<(), Stopped> {
        for block in blocks.ranges() {
            self.progress.done = block.start as u64;
            clock.report(self.progress)?;
            let partition = &*self.partition;
            let links = || Links::new(partition.n_clusters());
            let asked = blocks.ask(block, self.active, links, |node, links| partition.best_move(node, links));
            for step in asked {
                // Awake again: a neighbour has moved since it was asked.
                if std::mem::take(&mut self.active[step.node() as usize]) {
                    self.visit(step.node());
                } else if let Some(step) = self.partition.renewed(step) {
                    self.carry_out(step);
                }
            }
        }
        Ok(())
    }
}
