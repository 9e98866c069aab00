//! Connected components.

use super::{Graph, NodeId};

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
    /// The connected components, an isolated node being one of its own. O(|E|).
    pub fn components(&self) -> Components {
        const UNSEEN: u32 = u32::MAX;
        let mut of_node = vec![UNSEEN; self.n_nodes()];
        let mut sizes = Vec::new();
        let mut queue: Vec<NodeId> = Vec::new();
        for start in 0..self.n_nodes() as NodeId {
            if of_node[start as usize] != UNSEEN {
                continue;
            }
            let component = sizes.len() as u32;
            of_node[start as usize] = component;
            queue.push(start);
            let mut size = 0;
            while let Some(node) = queue.pop() {
                size += 1;
                for &neighbor in &self.columns[self.entries(node)] {
                    if of_node[neighbor as usize] == UNSEEN {
                        of_node[neighbor as usize] = component;
                        queue.push(neighbor);
                    }
                }
            }
            sizes.push(size);
        }
        Components { of_node, sizes }
    }
}
