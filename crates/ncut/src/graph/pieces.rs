//! The connected pieces of clusters.

use super::{Graph, NodeId};
use crate::disjoint::DisjointSets;

/// Neighbours in the same cluster that are joined before anything is known.
const FIRST_NEIGHBORS: usize = 2;

/// The connected pieces of the clusters of a labelling.
pub(crate) struct Pieces {
    /// Piece of every node, numbered by first appearance.
    pub(crate) of_node: Vec<u32>,
    pub(crate) count: usize,
}

impl Graph<'_> {
    /// The connected pieces of the clusters of `labels`, all below `n_labels`. O(|E|), and mostly O(|V|).
    pub(crate) fn pieces(&self, labels: &[u32], n_labels: usize) -> Pieces {
        let mut sets = DisjointSets::new(self.n_nodes());
        let nodes = || 0..self.n_nodes();
        for node in nodes() {
            let row = &self.columns[self.entries(node as NodeId)];
            let inside = row.iter().filter(|&&neighbor| labels[neighbor as usize] == labels[node]);
            for &neighbor in inside.take(FIRST_NEIGHBORS) {
                sets.join(node, neighbor as usize);
            }
        }
        // Most nodes of a cluster are in one set by now (a vote finds it); what links the others to it is known from their side.
        let mut votes: Vec<(u32, u32)> = vec![(0, 0); n_labels];
        for node in nodes() {
            let set = sets.find(node) as u32;
            let (voted, count) = &mut votes[labels[node] as usize];
            match *count {
                0 => (*voted, *count) = (set, 1),
                _ if *voted == set => *count += 1,
                _ => *count -= 1,
            }
        }
        for node in nodes() {
            let label = labels[node];
            let (voted, _) = votes[label as usize];
            if sets.find(node) == sets.find(voted as usize) {
                continue;
            }
            for &neighbor in &self.columns[self.entries(node as NodeId)] {
                if labels[neighbor as usize] == label {
                    sets.join(node, neighbor as usize);
                }
            }
        }
        let (of_node, count) = sets.numbered();
        Pieces { of_node, count }
    }
}
