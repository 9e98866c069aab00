//! Clusters of nearly the same mass on a coarse graph, for ceilings that leave little room: the graph is cut in two again and
//! again, each time in the masses that the clusters of both sides need.
//!
//! A side is grown from a node, always by the node that leaves the smallest cut, and then nodes change sides by turns
//! (Fiduccia and Mattheyses). The best of several attempts is kept. What this leaves to be wished for, the refinement on the way
//! back to the graph finds.

use std::collections::BinaryHeap;

use crate::graph::{Graph, NodeId};
use crate::objective::Objective;
use crate::partition::{Candidate, ClusterId};
use crate::random::{Random, mix};

use super::task::Task;

/// Nodes of the coarse graph for each cluster, and how heavy they may be in means of a cluster's mass.
pub(super) const NODES_PER_CLUSTER: usize = 40;
pub(super) const MAX_NODE_SHARE: f64 = 0.08;
/// Ceilings above this share of the mean leave so much room that merging finds better clusters.
pub(super) const MAX_SHARE: f64 = 1.6;
/// Sides that are grown for each cut.
const ATTEMPTS: u64 = 12;
/// Passes of exchange for each, and moves without a better state after which one ends.
const MAX_PASSES: usize = 8;
const PATIENCE: usize = 120;

/// Labels of a coarse graph.
pub(super) fn balanced<O: Objective>(graph: &Graph<'_>, task: &Task<'_, O>, seed: u64) -> Vec<ClusterId> {
    let masses = task.masses(graph);
    let mut labels = vec![0; graph.n_nodes()];
    let mut halving = Halving { graph, masses: &masses, ceiling: task.ceiling, labels: &mut labels };
    let everyone: Vec<NodeId> = (0..graph.n_nodes() as NodeId).collect();
    halving.divide(&everyone, 0, task.n_clusters, seed);
    labels
}

struct Halving<'h> {
    graph: &'h Graph<'h>,
    masses: &'h [f64],
    ceiling: f64,
    labels: &'h mut [ClusterId],
}

impl Halving<'_> {
    /// Divides nodes, all labelled `first`, into so many clusters from that number on.
    fn divide(&mut self, nodes: &[NodeId], first: usize, n_clusters: usize, seed: u64) {
        if n_clusters < 2 || nodes.len() < 2 {
            return;
        }
        let n_inside = n_clusters / 2;
        let total: f64 = nodes.iter().map(|&node| self.masses[node as usize]).sum();
        // The room that is left is shared out among the cuts that are still to come.
        let n_cuts = f64::from(usize::BITS - (n_clusters - 1).leading_zeros());
        let room = libm::pow((self.ceiling * n_clusters as f64 / total).max(1.0), 1.0 / n_cuts);
        let share = n_inside as f64 / n_clusters as f64;
        let most = [room * total * (1.0 - share), room * total * share];
        let mut best: Option<(f64, f64, Vec<bool>)> = None;
        let mut random = Random::new(mix(seed, first as u64 * 4096 + n_clusters as u64));
        let mut cut = Cut::new(self, nodes, first as ClusterId);
        for _ in 0..ATTEMPTS {
            cut.grow(random.below(nodes.len() as u32) as usize, share * total);
            for _ in 0..MAX_PASSES {
                if !cut.exchange(&most) {
                    break;
                }
            }
            let (excess, weight) = (cut.excess(&most), cut.weight);
            if best.as_ref().is_none_or(|best| (excess, weight) < (best.0, best.1)) {
                best = Some((excess, weight, cut.is_inside.clone()));
            }
        }
        let Some((_, _, is_inside)) = best else { return };
        let (mut inside, mut outside) = (Vec::new(), Vec::new());
        for (&node, is_inside) in nodes.iter().zip(is_inside) {
            if is_inside { inside.push(node) } else { outside.push(node) }
        }
        let n_outside = n_clusters - n_inside;
        for &node in &inside {
            self.labels[node as usize] = (first + n_outside) as ClusterId;
        }
        self.divide(&outside, first, n_outside, seed);
        self.divide(&inside, first + n_outside, n_inside, seed);
    }
}

/// Two sides of some nodes.
struct Cut {
    /// Links among the nodes, by their places.
    links: Vec<Vec<(u32, f64)>>,
    masses: Vec<f64>,
    is_inside: Vec<bool>,
    /// Masses outside and inside.
    sides: [f64; 2],
    /// Weight between the sides.
    weight: f64,
    /// How much smaller the cut gets when a node changes sides.
    gains: Vec<f64>,
}

impl Cut {
    fn new(halving: &Halving<'_>, nodes: &[NodeId], label: ClusterId) -> Self {
        let mut place = vec![u32::MAX; halving.graph.n_nodes()];
        for (number, &node) in (0..).zip(nodes) {
            place[node as usize] = number;
        }
        let links = nodes.iter().map(|&node| {
            let own =
                halving.graph.neighbors(node).filter(|&(other, _)| halving.labels[other as usize] == label);
            own.map(|(other, weight)| (place[other as usize], weight)).collect()
        });
        let n_nodes = nodes.len();
        Self {
            links: links.collect(),
            masses: nodes.iter().map(|&node| halving.masses[node as usize]).collect(),
            is_inside: vec![false; n_nodes],
            sides: [0.0; 2],
            weight: 0.0,
            gains: vec![0.0; n_nodes],
        }
    }

    fn change(&mut self, node: usize) {
        let side = usize::from(self.is_inside[node]);
        self.is_inside[node] = side == 0;
        self.sides[side] -= self.masses[node];
        self.sides[1 - side] += self.masses[node];
        self.weight -= self.gains[node];
        self.gains[node] = -self.gains[node];
        for &(other, weight) in &self.links[node] {
            let is_together = self.is_inside[other as usize] == self.is_inside[node];
            self.gains[other as usize] += if is_together { -2.0 * weight } else { 2.0 * weight };
        }
    }

    /// Grows the inside from a node to a mass, from further nodes where there is nothing left to grow to.
    fn grow(&mut self, first: usize, mass: f64) {
        let n_nodes = self.masses.len();
        self.is_inside.fill(false);
        self.sides = [self.masses.iter().sum(), 0.0];
        self.weight = 0.0;
        for (gain, links) in self.gains.iter_mut().zip(&self.links) {
            *gain = -links.iter().map(|link| link.1).sum::<f64>();
        }
        let mut heap = BinaryHeap::new();
        let mut next = first;
        let mut n_inside = 0;
        while self.sides[1] < mass && n_inside + 1 < n_nodes {
            let node = loop {
                match heap.pop() {
                    Some(Candidate { gain, node }) => {
                        let node = node as usize;
                        if !self.is_inside[node] && gain == self.gains[node] {
                            break Some(node);
                        }
                    }
                    None => {
                        break (0..n_nodes)
                            .map(|step| (next + step) % n_nodes)
                            .find(|&node| !self.is_inside[node]);
                    }
                }
            };
            let Some(node) = node else { return };
            next = node;
            if self.sides[1] + 0.5 * self.masses[node] > mass && n_inside > 0 {
                return;
            }
            self.change(node);
            n_inside += 1;
            for &(other, _) in &self.links[node] {
                if !self.is_inside[other as usize] {
                    heap.push(Candidate { gain: self.gains[other as usize], node: other });
                }
            }
        }
    }

    fn excess(&self, most: &[f64; 2]) -> f64 {
        (0..2).map(|side| (self.sides[side] - most[side]).max(0.0)).sum()
    }

    /// One pass in which every node changes sides at most once; what follows the best state is taken back. Tells whether the
    /// state is better than before.
    fn exchange(&mut self, most: &[f64; 2]) -> bool {
        let n_nodes = self.masses.len();
        let mut heaps = [BinaryHeap::new(), BinaryHeap::new()];
        for node in 0..n_nodes {
            heaps[usize::from(self.is_inside[node])]
                .push(Candidate { gain: self.gains[node], node: node as NodeId });
        }
        let mut was_moved = vec![false; n_nodes];
        let before = (self.excess(most), self.weight);
        let (mut best, mut n_best) = (before, 0);
        let mut moved = Vec::new();
        let mut n_of_side = [0usize; 2];
        self.is_inside.iter().for_each(|&is_inside| n_of_side[usize::from(is_inside)] += 1);
        while moved.len() < n_best + PATIENCE {
            let mut choice: Option<(f64, usize, usize)> = None;
            for side in 0..2 {
                while let Some(&Candidate { gain, node }) = heaps[side].peek() {
                    let node = node as usize;
                    let is_current = !was_moved[node]
                        && usize::from(self.is_inside[node]) == side
                        && gain == self.gains[node];
                    if is_current {
                        break;
                    }
                    heaps[side].pop();
                }
                let Some(&Candidate { gain, node }) = heaps[side].peek() else { continue };
                let has_room = self.sides[1 - side] + self.masses[node as usize] <= most[1 - side];
                let is_too_full = self.sides[side] > most[side];
                if n_of_side[side] < 2 || !(has_room || is_too_full) {
                    continue;
                }
                // A side that is too full gives first.
                let key = if is_too_full { f64::INFINITY } else { gain };
                if choice.is_none_or(|choice| key > choice.0) {
                    choice = Some((key, side, node as usize));
                }
            }
            let Some((_, side, node)) = choice else { break };
            heaps[side].pop();
            self.change(node);
            n_of_side[side] -= 1;
            n_of_side[1 - side] += 1;
            was_moved[node] = true;
            moved.push(node);
            for place in 0..self.links[node].len() {
                let other = self.links[node][place].0 as usize;
                if !was_moved[other] {
                    let candidate = Candidate { gain: self.gains[other], node: other as NodeId };
                    heaps[usize::from(self.is_inside[other])].push(candidate);
                }
            }
            let here = (self.excess(most), self.weight);
            let is_better = here.0 < best.0 || (here.0 == best.0 && here.1 < best.1 * (1.0 - 1e-12));
            if is_better {
                (best, n_best) = (here, moved.len());
            }
        }
        for &node in moved[n_best..].iter().rev() {
            self.change(node);
        }
        n_best > 0 && best < before
    }
}
