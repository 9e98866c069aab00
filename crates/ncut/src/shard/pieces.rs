//! Connected pieces of groups that reach over several shards.
//!
//! A piece is named by the first of its nodes in the order of a hash: by the lowest number, the first shards would have most of the
//! coarse nodes.

use std::ops::Range;

use super::{NO_LABEL, Numbers, Shard};
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
    first: Numbers,
    /// What was told last about every local node.
    told: Numbers,
    /// What was heard last about every ghost.
    heard: Numbers,
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
        let sets = sets.into_lowest();
        let numbers =
            |known: Range<usize>| Numbers::new(shard.n_nodes(), known.map(|known| shard.number(known)));
        // Each set begins with one of its own.
        let mut first = numbers(0..shard.n_known());
        for (known, &set) in sets.iter().enumerate() {
            first.set(set as usize, earlier(shard.number(known), first.at(set as usize)));
        }
        let (told, heard) = (numbers(0..shard.n_local()), numbers(shard.n_local()..shard.n_known()));
        Ok(Self { sets, first, told, heard })
    }

    fn reach(&self, known: usize) -> u64 {
        self.first.at(self.sets[known] as usize)
    }

    /// What a shard is to hear: positions of its ghosts, and the first nodes in their reach.
    pub fn news(&self, shard: &Shard, to: usize) -> (Vec<u32>, Numbers) {
        let (positions, nodes) =
            shard.told(to, |node| self.reach(node as usize) != self.told.at(node as usize));
        let numbers = nodes.into_iter().map(|node| self.reach(node as usize));
        (positions, Numbers::new(shard.n_nodes(), numbers))
    }

    /// All shards were told the news.
    pub fn set_told(&mut self) {
        for node in 0..self.told.len() {
            self.told.set(node, self.first.at(self.sets[node] as usize));
        }
    }

    /// Takes in what another shard tells.
    ///
    /// # Errors
    /// When it tells of nodes that are no ghosts here.
    pub fn hear(&mut self, shard: &Shard, from: usize, positions: &[u32], numbers: &Numbers) -> Result<()> {
        for (&position, number) in positions.iter().zip(numbers.iter()) {
            let ghost = shard.ghost(from, position)?;
            self.heard.set(ghost - shard.n_local(), number);
            let set = self.sets[ghost] as usize;
            self.first.set(set, earlier(number, self.first.at(set)));
        }
        Ok(())
    }

    /// The pieces of local nodes and ghosts, when there is no more news.
    pub fn all(&self) -> Vec<u64> {
        (0..self.told.len()).map(|node| self.reach(node)).chain(self.heard.iter()).collect()
    }

    /// The local nodes with a degree that name a piece, by number.
    pub fn representatives(&self, shard: &Shard) -> Vec<u64> {
        let is_one =
            |&node: &usize| self.reach(node) == shard.number(node) && shard.degree(node as NodeId) > 0.0;
        (0..self.told.len()).filter(is_one).map(|node| shard.number(node)).collect()
    }

    /// The different pieces, ascending, and for every local node and ghost the place of its own among them.
    pub fn into_places(self, shard: &Shard) -> (Vec<u64>, Vec<u32>) {
        let local = (0..self.told.len()).map(|node| self.reach(node));
        let all = Numbers::new(shard.n_nodes(), local.chain(self.heard.iter()));
        drop(self);
        let names = all.distinct();
        let places = all.iter().map(|piece| names.rank(piece) as u32).collect();
        (names.iter().collect(), places)
    }
}

/// The one of two nodes that comes first by hash.
fn earlier(one: u64, other: u64) -> u64 {
    if (mixed(one), one) < (mixed(other), other) { one } else { other }
}
