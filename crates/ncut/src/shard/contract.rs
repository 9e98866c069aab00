//! Rows of a shard summed up to rows of the coarse graph, a portion at a time.

use super::Shard;
use crate::error::{Error, Result};
use crate::graph::{NodeId, RowSums};

/// The coarse node of those that have none: isolated nodes.
const NO_GROUP: u64 = u64::MAX;

/// A shard whose nodes have a place in a coarse graph.
pub struct Contraction {
    /// The local nodes by coarse node, ascending.
    order: Vec<NodeId>,
    /// The coarse nodes that are known, ascending.
    names: Vec<u64>,
    /// The places in `names` of local nodes and ghosts.
    groups: Vec<u32>,
}

/// Entries of the coarse graph: rows, columns, weights.
#[derive(Clone, Debug, Default)]
pub struct Portion {
    /// Coarse nodes.
    pub rows: Vec<u64>,
    /// Their neighbours.
    pub columns: Vec<u64>,
    /// The weights between them.
    pub weights: Vec<f64>,
}

impl Contraction {
    /// `coarse` are the coarse nodes of some groups, `u64::MAX` for none, and `groups` those of local nodes and ghosts, by their
    /// places in `coarse`.
    ///
    /// # Errors
    /// When there is not a group for each, or one that is not in `coarse`.
    pub fn new(shard: &Shard, coarse: &[u64], mut groups: Vec<u32>) -> Result<Self> {
        shard.check_known("groups", groups.len())?;
        if let Some(group) = groups.iter().find(|&&group| group as usize >= coarse.len()) {
            return Err(Error::shape(format!(
                "group {group} is none of the {} that are known",
                coarse.len()
            )));
        }
        let mut names = coarse.to_vec();
        names.sort_unstable();
        names.dedup();
        let places: Vec<u32> =
            coarse.iter().map(|group| names.partition_point(|name| name < group) as u32).collect();
        for group in &mut groups {
            *group = places[*group as usize];
        }
        let mut order: Vec<NodeId> = (0..shard.n_local() as NodeId).collect();
        order.sort_by_key(|&node| groups[node as usize]);
        Ok(Self { order, names, groups })
    }

    /// Coarse nodes and the sizes that local nodes bring to them.
    pub fn sizes(&self, shard: &Shard) -> (Vec<u64>, Vec<f64>) {
        let of_group = |nodes: &[NodeId]| {
            let name = self.names[self.groups[nodes[0] as usize] as usize];
            (name, nodes.iter().map(|&node| shard.size(node)).sum())
        };
        let groups = self.order.chunk_by(|&a, &b| self.groups[a as usize] == self.groups[b as usize]);
        groups.map(of_group).filter(|&(name, _): &(u64, f64)| name != NO_GROUP).unzip()
    }

    /// What the rows of local nodes add to those of coarse nodes from `start` to, and without, `end`.
    pub fn portion(&self, shard: &Shard, start: u64, end: u64) -> Portion {
        let name = |node: NodeId| self.names[self.groups[node as usize] as usize];
        let first = self.order.partition_point(|&node| name(node) < start);
        let last = self.order.partition_point(|&node| name(node) < end);
        let nodes = &self.order[first..last.max(first)];
        let mut sums = RowSums::new(self.names.len());
        let mut portion = Portion::default();
        for nodes in nodes.chunk_by(|&a, &b| self.groups[a as usize] == self.groups[b as usize]) {
            let row = name(nodes[0]);
            sums.expect(|| nodes.iter().map(|&node| shard.entries(node).len()).sum());
            for &node in nodes {
                shard.for_each_entry(node, |other, weight| sums.add(self.groups[other as usize], weight));
            }
            sums.for_each(|group, weight| {
                portion.rows.push(row);
                portion.columns.push(self.names[group as usize]);
                portion.weights.push(weight);
            });
            sums.clear();
        }
        portion
    }
}
