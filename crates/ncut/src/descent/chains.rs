//! Chains of moves (Fiduccia and Mattheyses): a descent that may get worse for a while.
//!
//! A chain starts at a node on a boundary and moves, again and again, the node next to the chain whose move gains
//! most, or costs least. What follows its best point is taken back. A node takes part in one chain a round.

use std::collections::BinaryHeap;

use crate::graph::NodeId;
use crate::objective::Objective;
use crate::partition::{Candidate, Links, Move, Partition};
use crate::progress::{Clock, Progress, Stage};
use crate::random::Random;

use super::settle::MIN_GAIN;

/// Moves without a new best point after which a chain ends.
const PATIENCE: usize = 24;
/// Times a node's gain is computed anew before it is passed over.
const MAX_RENEWALS: u32 = 3;
/// Gains computed anew before the best known node moves: when a hub has moved, those of all its neighbours are out of date.
const MAX_RENEWALS_A_STEP: usize = 2048;
/// Chains between two reports to the clock.
const CHAINS_PER_REPORT: usize = 64;

/// One round of chains from every boundary node among `nodes`, in an order made from `seed`. Tells how much was gained.
pub(crate) fn chains<O: Objective>(
    partition: &mut Partition<'_, O>,
    nodes: impl Iterator<Item = NodeId>,
    seed: u64,
    links: &mut Links,
    clock: &Clock<'_>,
) -> f64 {
    let n_nodes = partition.graph().n_nodes();
    let mut starts: Vec<NodeId> = nodes.filter(|&node| is_boundary(partition, node)).collect();
    shuffle(&mut starts, seed);
    let mut round = Round { was_moved: vec![false; n_nodes], met_by: vec![0; n_nodes], chain: 0 };
    let mut progress = Progress::new(Stage::Descent, starts.len() as u64);
    let mut gained = 0.0;
    for (number, &start) in starts.iter().enumerate() {
        if number.is_multiple_of(CHAINS_PER_REPORT) {
            progress.done = number as u64;
            if clock.report(&progress).is_err() {
                break;
            }
        }
        gained += round.chain_from(partition, start, links);
    }
    gained
}

/// What the chains of one round leave each other.
struct Round {
    was_moved: Vec<bool>,
    /// The last chain that has met a node.
    met_by: Vec<u32>,
    chain: u32,
}

impl Round {
    fn chain_from<O: Objective>(
        &mut self,
        partition: &mut Partition<'_, O>,
        start: NodeId,
        links: &mut Links,
    ) -> f64 {
        let min_gain = MIN_GAIN * partition.table().objective_type().unit();
        self.chain += 1;
        let mut heap = BinaryHeap::new();
        self.meet(partition, start, links, &mut heap);
        let mut steps: Vec<Move> = Vec::new();
        let (mut gain, mut best_gain, mut n_best) = (0.0, 0.0, 0);
        let mut n_renewed = 0;
        while let Some((candidate, n_renewals)) = heap.pop() {
            if steps.len() >= n_best + PATIENCE {
                break;
            }
            let Some(step) = partition.best_departure(candidate.node, links) else { continue };
            let renewed = Candidate { gain: step.gain(), node: candidate.node };
            let may_wait = n_renewals < MAX_RENEWALS && n_renewed < MAX_RENEWALS_A_STEP;
            if may_wait && heap.peek().is_some_and(|(next, _)| renewed < *next) {
                heap.push((renewed, n_renewals + 1));
                n_renewed += 1;
                continue;
            }
            n_renewed = 0;
            partition.apply(step);
            self.was_moved[step.node() as usize] = true;
            gain += step.gain();
            steps.push(step);
            if gain > best_gain + min_gain {
                (best_gain, n_best) = (gain, steps.len());
            }
            let graph = partition.graph();
            graph.for_each_neighbor(step.node(), |neighbor, _| {
                self.meet(partition, neighbor, links, &mut heap);
            });
        }
        for step in steps.drain(n_best..).rev() {
            partition.take_back(&step);
        }
        best_gain
    }

    fn meet<O: Objective>(
        &mut self,
        partition: &Partition<'_, O>,
        node: NodeId,
        links: &mut Links,
        heap: &mut BinaryHeap<(Candidate, u32)>,
    ) {
        let met_by = &mut self.met_by[node as usize];
        if self.was_moved[node as usize] || std::mem::replace(met_by, self.chain) == self.chain {
            return;
        }
        if let Some(step) = partition.best_departure(node, links) {
            heap.push((Candidate { gain: step.gain(), node }, 0));
        }
    }
}

fn is_boundary<O: Objective>(partition: &Partition<'_, O>, node: NodeId) -> bool {
    let labels = partition.labels();
    let mut outside = false;
    let own = labels[node as usize];
    partition.graph().for_each_neighbor(node, |neighbor, _| outside |= labels[neighbor as usize] != own);
    outside
}

fn shuffle(nodes: &mut [NodeId], seed: u64) {
    let mut random = Random::new(seed);
    for place in (1..nodes.len()).rev() {
        nodes.swap(place, random.below(place as u32 + 1) as usize);
    }
}
