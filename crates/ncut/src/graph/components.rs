//! Connected components.

use super::{Graph, NodeId};
use crate::disjoint::DisjointSets;

/// Neighbours of every node that are joined before anything is known.
const FIRST_NEIGHBORS: usize = 2;
/// Nodes that are asked which component is a large one.
const SAMPLED: usize = 1024;

/// The connected components of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Components {
    /// Component of every node, numbered by first appearance.
    pub of_node: Vec<u32>,
    /// Number of nodes of every component.
    pub sizes: Vec<usize>,
}

impl Components {
    /// Number of components.
    pub fn count(&self) -> usize {
        self.sizes.len()
    }

    /// The nodes of the largest component, ascending; of several the one with the lowest node.
    pub fn largest(&self) -> Vec<NodeId> {
        let Some(&size) = self.sizes.iter().max() else { return Vec::new() };
        let first = self.sizes.iter().position(|&other| other == size);
        let wanted = first.expect("the maximum is one of the sizes") as u32;
        (0..self.of_node.len() as NodeId).filter(|&node| self.of_node[node as usize] == wanted).collect()
    }
}

impl Graph<'_> {
    /// The connected components, an isolated node being one of its own. O(|E|), and mostly O(|V|): the first neighbours
    /// of all nodes nearly always bring a large component together, and what the nodes of that are linked to is known
    /// from the other side of their edges.
    pub fn components(&self) -> Components {
        let mut sets = DisjointSets::new(self.n_nodes());
        let nodes = || 0..self.n_nodes() as NodeId;
        for place in 0..FIRST_NEIGHBORS {
            for node in nodes() {
                if let Some(&neighbor) = self.columns[self.entries(node)].get(place) {
                    sets.join(node as usize, neighbor as usize);
                }
            }
        }
        let large = self.frequent_set(&mut sets);
        for node in nodes() {
            if sets.find(node as usize) != sets.find(large) {
                for &neighbor in self.columns[self.entries(node)].iter().skip(FIRST_NEIGHBORS) {
                    sets.join(node as usize, neighbor as usize);
                }
            }
        }
        let (of_node, count) = sets.numbered();
        let mut sizes = vec![0; count];
        of_node.iter().for_each(|&component| sizes[component as usize] += 1);
        Components { of_node, sizes }
    }

    /// A node of the set that most of a few nodes are in.
    fn frequent_set(&self, sets: &mut DisjointSets) -> usize {
        let step = (self.n_nodes() / SAMPLED).max(1);
        let mut found: Vec<usize> = (0..self.n_nodes()).step_by(step).map(|node| sets.find(node)).collect();
        found.sort_unstable();
        let runs = found.chunk_by(|a, b| a == b);
        runs.max_by_key(|run| run.len()).map_or(0, |run| run[0])
    }
}
