//! A descent whose moves keep every cluster connected.

use crate::graph::NodeId;
use crate::objective::Objective;
use crate::partition::{Links, Partition};
use crate::progress::{Clock, Progress, Stage, StopReason, Stopped};

use super::settle::MIN_GAIN;
use super::{Descent, NODES_PER_REPORT, StoppingRule};

/// Entries of rows that are looked at before a node is taken for one that its cluster needs.
const MAX_ENTRIES: usize = 4096;
/// No clock is asked inside a row: nodes with more neighbours than this stay where they are.
const MAX_ROW: usize = 1 << 16;

/// As [`settle_active`](super::settle_active), but a node moves only to a cluster it is linked to, and only if its own cluster
/// stays connected without it. One by one: it is for what is near a few changes, or for small graphs.
pub(crate) fn settle_connected<O: Objective>(
    partition: &mut Partition<'_, O>,
    mut active: Vec<bool>,
    rule: &StoppingRule,
    links: &mut Links,
    clock: &Clock<'_>,
) -> Descent {
    let n_nodes = partition.graph().n_nodes();
    let min_gain = partition.price().max(MIN_GAIN * partition.table().objective_type().unit());
    let mut bridges = Bridges::new(n_nodes);
    let mut progress = Progress::new(Stage::Descent, n_nodes as u64);
    let stop_reason = loop {
        if progress.sweeps >= rule.max_sweeps {
            break StopReason::SweepLimit;
        }
        let (moves_before, before) = (progress.moves, partition.objective());
        progress.sweeps += 1;
        progress.objective = Some(before);
        if let Err(Stopped(reason)) =
            sweep(partition, &mut active, min_gain, links, &mut bridges, &mut progress, clock)
        {
            break reason;
        }
        if let Some(reason) = rule.rests(progress.moves - moves_before, before, partition.objective()) {
            break reason;
        }
    };
    Descent { sweeps: progress.sweeps, moves: progress.moves, stop_reason }
}

fn sweep<O: Objective>(
    partition: &mut Partition<'_, O>,
    active: &mut [bool],
    min_gain: f64,
    links: &mut Links,
    bridges: &mut Bridges,
    progress: &mut Progress,
    clock: &Clock<'_>,
) -> Result<(), Stopped> {
    for node in 0..active.len() {
        if node.is_multiple_of(NODES_PER_REPORT) {
            progress.done = node as u64;
            clock.report(progress)?;
        }
        if !std::mem::take(&mut active[node]) {
            continue;
        }
        let Some(step) = partition.best_departure(node as NodeId, links) else { continue };
        if step.gain() <= min_gain || bridges.is_bridge(partition, node as NodeId) {
            continue;
        }
        partition.apply(step);
        progress.moves += 1;
        partition.graph().for_each_neighbor(node as NodeId, |neighbor, _| active[neighbor as usize] = true);
    }
    Ok(())
}

/// Finds out whether a cluster falls apart without a node.
pub(crate) struct Bridges {
    /// Number of every node that the search has met, [`UNKNOWN`] for others.
    number: Vec<u32>,
    /// The nodes met, in the order of their numbers.
    met: Vec<NodeId>,
    /// Sets of numbers, each with a lower one or itself.
    parent: Vec<u32>,
}

const UNKNOWN: u32 = u32::MAX;

impl Bridges {
    pub(crate) fn new(n_nodes: usize) -> Self {
        Self { number: vec![UNKNOWN; n_nodes], met: Vec::new(), parent: Vec::new() }
    }

    /// Whether the cluster of `node` may fall apart without it. The search goes out from all its neighbours in the cluster at
    /// once, until they have met; where that takes too long the answer is yes.
    pub(crate) fn is_bridge<O: Objective>(&mut self, partition: &Partition<'_, O>, node: NodeId) -> bool {
        let (graph, labels) = (partition.graph(), partition.labels());
        let own = labels[node as usize];
        let row = &graph.columns()[graph.entries(node)];
        if row.len() > MAX_ROW {
            return true;
        }
        for &neighbor in row.iter().filter(|&&neighbor| neighbor != node) {
            if labels[neighbor as usize] == own {
                self.meet(neighbor);
            }
        }
        let mut n_sets = self.met.len();
        let mut n_entries = 0;
        let mut next = 0;
        while n_sets > 1 && next < self.met.len() && n_entries <= MAX_ENTRIES.max(4 * row.len()) {
            let from = self.met[next];
            let row = &graph.columns()[graph.entries(from)];
            n_entries += row.len();
            for &neighbor in row {
                if neighbor == node || labels[neighbor as usize] != own {
                    continue;
                }
                let known = self.number[neighbor as usize];
                let number = if known == UNKNOWN { self.meet(neighbor) } else { known };
                let (a, b) = (self.find(next as u32), self.find(number));
                if a != b {
                    self.parent[a.max(b) as usize] = a.min(b);
                    n_sets -= usize::from(known != UNKNOWN);
                }
            }
            next += 1;
        }
        for met in self.met.drain(..) {
            self.number[met as usize] = UNKNOWN;
        }
        self.parent.clear();
        n_sets > 1
    }

    fn meet(&mut self, node: NodeId) -> u32 {
        let number = self.met.len() as u32;
        self.number[node as usize] = number;
        self.met.push(node);
        self.parent.push(number);
        number
    }

    fn find(&mut self, mut number: u32) -> u32 {
        while self.parent[number as usize] != number {
            let above = self.parent[self.parent[number as usize] as usize];
            self.parent[number as usize] = above;
            number = above;
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Result;
    use crate::graph::Graph;
    use crate::random::Random;

    /// Against counting the pieces of the cluster without the node.
    #[test]
    fn a_bridge_is_a_node_without_which_its_cluster_is_in_more_pieces() -> Result<()> {
        let mut random = Random::new(3);
        for _ in 0..500 {
            let n_nodes = 5 + random.below(12);
            let n_edges = n_nodes + random.below(n_nodes);
            let edges: Vec<_> =
                (0..n_edges).map(|_| (random.below(n_nodes), random.below(n_nodes), 1.0)).collect();
            let graph = Graph::from_edges(n_nodes as usize, edges)?;
            let labels: Vec<u32> = (0..n_nodes).map(|node| u32::from(node % 5 == 4)).collect();
            let partition = Partition::new(&graph, labels.clone(), 2)?;
            let mut bridges = Bridges::new(n_nodes as usize);
            for node in 0..n_nodes {
                let near = graph
                    .neighbors(node)
                    .filter(|&(other, _)| labels[other as usize] == labels[node as usize]);
                let mut without = labels.clone();
                without[node as usize] = 2;
                let pieces = graph.pieces(&without, 3);
                let mut reached: Vec<u32> = near.map(|(other, _)| pieces.of_node[other as usize]).collect();
                reached.sort_unstable();
                reached.dedup();
                assert_eq!(bridges.is_bridge(&partition, node), reached.len() > 1);
            }
        }
        Ok(())
    }
}
