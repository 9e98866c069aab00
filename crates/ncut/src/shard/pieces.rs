//! Connected pieces of groups that reach over several shards.
//!
//! A piece is named by the first of its nodes in the order of a hash: by the lowest number, the first shards would have most of the
//! coarse nodes.

use super::{NO_LABEL, Shard};
use crate::disjoint::DisjointSets;
use crate::error::Result;
use crate::graph::NodeId;
use crate::random::mixed;

/// Pieces on their way to be found.
///
/// Local nodes and ghosts that hang together by local rows are joined at once. What reaches further is found by rounds: every
/// shard tells the first nodes that its nodes are in reach of, until nobody has anything new to tell.
pub struct Pieces {
    /// The set of every local node and ghost.
    sets: Vec<NodeId>,
    /// The first node in reach of each set.
    first: Vec<u64>,
    /// What was told last about every local node.
    told: Vec<u64>,
    /// What was heard last about every ghost.
    heard: Vec<u64>,
}

impl Pieces {
    /// The pieces that nodes of the same label are in; `labels` are those of local nodes and ghosts.
    ///
    /// # Errors
    /// When there is not one label for each.
    pub fn new(shard: &Shard, labels: &[u32]) -> Result<Self> {
        shard.check_known("labels", labels.len())?;
        let mut sets = DisjointSets::new(shard.n_known());
        for node in 0..shard.n_local() as NodeId {
            let label = labels[node as usize];
            if label == NO_LABEL {
                continue;
            }
            shard.for_each_entry(node, |other, _| {
                if labels[other as usize] == label {
                    sets.join(node as usize, other as usize);
                }
            });
        }
        let sets: Vec<NodeId> = (0..shard.n_known()).map(|known| sets.find(known) as NodeId).collect();
        // Each set begins with one of its own.
        let mut first: Vec<u64> = (0..shard.n_known()).map(|known| shard.number(known)).collect();
        for (known, &set) in sets.iter().enumerate() {
            let first = &mut first[set as usize];
            *first = earlier(shard.number(known), *first);
        }
        let told = (0..shard.n_local()).map(|node| shard.number(node)).collect();
        let heard = (shard.n_local()..shard.n_known()).map(|ghost| shard.number(ghost)).collect();
        Ok(Self { sets, first, told, heard })
    }

    /// What each other shard is to hear: positions of its ghosts, and the first nodes in their reach.
    pub fn news(&mut self, shard: &Shard) -> Vec<(Vec<u32>, Vec<u64>)> {
        let Self { sets, first, told, .. } = self;
        let reach = |node: NodeId| first[sets[node as usize] as usize];
        let news = shard.told(|node| reach(node) != told[node as usize]);
        let news =
            news.into_iter().map(|(positions, nodes)| (positions, nodes.into_iter().map(reach).collect()));
        let news = news.collect();
        for (node, told) in told.iter_mut().enumerate() {
            *told = first[sets[node] as usize];
        }
        news
    }

    /// Takes in what another shard tells.
    ///
    /// # Errors
    /// When it tells of nodes that are no ghosts here.
    pub fn hear(&mut self, shard: &Shard, from: usize, positions: &[u32], numbers: &[u64]) -> Result<()> {
        for (&position, &number) in positions.iter().zip(numbers) {
            let ghost = shard.ghost(from, position)?;
            self.heard[ghost - shard.n_local()] = number;
            let first = &mut self.first[self.sets[ghost] as usize];
            *first = earlier(number, *first);
        }
        Ok(())
    }

    /// The pieces of local nodes and ghosts, when there is no more news.
    pub fn all(&self) -> Vec<u64> {
        let n_local = self.told.len();
        let local = self.sets[..n_local].iter().map(|&set| self.first[set as usize]);
        local.chain(self.heard.iter().copied()).collect()
    }
}

/// The one of two nodes that comes first by hash.
fn earlier(one: u64, other: u64) -> u64 {
    if (mixed(one), one) < (mixed(other), other) { one } else { other }
}
