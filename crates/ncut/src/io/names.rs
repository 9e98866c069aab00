//! The nodes' own ids, numbered by first appearance.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::error::{Error, Result};
use crate::graph::NodeId;

/// The ids of all nodes: `get` tells a node's id, `find` the node of an id.
///
/// All ids stand in one string, so a million of them take little more than their letters.
#[derive(Clone, Debug, Default)]
pub struct Names {
    text: String,
    /// Where each id ends in `text`.
    ends: Vec<usize>,
    numbers: HashTable<NodeId>,
    hasher: DefaultHashBuilder,
}

impl Names {
    /// Number of ids.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The id of a node.
    ///
    /// # Panics
    /// When there is no such node.
    pub fn get(&self, node: NodeId) -> &str {
        name(&self.text, &self.ends, node)
    }

    /// All ids in node order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len() as NodeId).map(|node| self.get(node))
    }

    /// The node with this id.
    pub fn find(&self, id: &str) -> Option<NodeId> {
        self.numbers.find(self.hasher.hash_one(id), |&node| self.get(node) == id).copied()
    }

    /// The node with this id, the next free number if it is new.
    ///
    /// # Errors
    /// When there are more ids than node numbers.
    pub(crate) fn number(&mut self, id: &str) -> Result<NodeId> {
        let Self { text, ends, numbers, hasher } = self;
        let hash = hasher.hash_one(id);
        if let Some(&node) = numbers.find(hash, |&node| name(text, ends, node) == id) {
            return Ok(node);
        }
        let node = ends.len() as NodeId;
        if node == NodeId::MAX {
            return Err(Error::TooManyNodes { n_nodes: u64::from(node) + 1 });
        }
        text.push_str(id);
        ends.push(text.len());
        numbers.insert_unique(hash, node, |&other| hasher.hash_one(name(text, ends, other)));
        Ok(node)
    }
}

fn name<'t>(text: &'t str, ends: &[usize], node: NodeId) -> &'t str {
    let start = (node as usize).checked_sub(1).map_or(0, |before| ends[before]);
    &text[start..ends[node as usize]]
}
