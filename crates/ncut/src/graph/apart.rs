//! Pairs of nodes that are never in one cluster.

use super::{LEFT_OUT, NodeId};

const NO_PLACE: u32 = u32::MAX;

/// Pairs of nodes that are never in one cluster. A graph carries them along when it is contracted or taken apart, as it does
/// with the sizes of its nodes.
///
/// Most nodes are in no pair. Some nodes, one for each known label, may all be apart from each other; they are a list, not
/// pairs, of which there would be too many.
#[derive(Clone, Debug, Default)]
pub(crate) struct Apart {
    /// Place of every node among those that are bound, [`NO_PLACE`] for the others.
    place: Vec<u32>,
    /// The nodes that are in a pair or in the list, ascending.
    bound: Vec<NodeId>,
    /// Where the partners of a bound node begin and end.
    offsets: Vec<u32>,
    partners: Vec<NodeId>,
    /// Nodes that are all apart from each other, ascending.
    all_apart: Vec<NodeId>,
    /// Of every bound node.
    is_in_list: Vec<bool>,
}

impl Apart {
    /// Pairs of nodes below `n_nodes`, and nodes that are all apart from each other; `None` where there are none. A pair of a
    /// node with itself is left out: it has been put into one group, and nothing can be done about it here.
    pub(crate) fn new(
        n_nodes: usize,
        pairs: impl IntoIterator<Item = (NodeId, NodeId)>,
        mut all_apart: Vec<NodeId>,
    ) -> Option<Self> {
        all_apart.sort_unstable();
        all_apart.dedup();
        if all_apart.len() < 2 {
            all_apart.clear();
        }
        let both = pairs.into_iter().filter(|(a, b)| a != b).flat_map(|(a, b)| [(a, b), (b, a)]);
        let mut directed: Vec<(NodeId, NodeId)> = both.collect();
        directed.sort_unstable();
        directed.dedup();
        let mut bound: Vec<NodeId> =
            directed.iter().map(|&(node, _)| node).chain(all_apart.iter().copied()).collect();
        bound.sort_unstable();
        bound.dedup();
        if bound.is_empty() {
            return None;
        }
        let mut place = vec![NO_PLACE; n_nodes];
        for (number, &node) in (0..).zip(&bound) {
            place[node as usize] = number;
        }
        let mut is_in_list = vec![false; bound.len()];
        for &node in &all_apart {
            is_in_list[place[node as usize] as usize] = true;
        }
        let mut offsets = vec![0; bound.len() + 1];
        for &(node, _) in &directed {
            offsets[place[node as usize] as usize + 1] += 1;
        }
        for number in 0..bound.len() {
            offsets[number + 1] += offsets[number];
        }
        let partners = directed.into_iter().map(|(_, partner)| partner).collect();
        Some(Self { place, bound, offsets, partners, all_apart, is_in_list })
    }

    /// The nodes that are apart from another one, ascending.
    pub(crate) fn bound(&self) -> &[NodeId] {
        &self.bound
    }

    /// The nodes that are all apart from each other, ascending: one for each known label.
    pub(crate) fn all_apart(&self) -> &[NodeId] {
        &self.all_apart
    }

    #[inline]
    pub(crate) fn is_bound(&self, node: NodeId) -> bool {
        self.place[node as usize] != NO_PLACE
    }

    /// The nodes that a node must not be with.
    #[inline]
    pub(crate) fn partners(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let place = self.place[node as usize];
        let (own, listed): (&[NodeId], &[NodeId]) = match place {
            NO_PLACE => (&[], &[]),
            _ => {
                let place = place as usize;
                let own = &self.partners[self.offsets[place] as usize..self.offsets[place + 1] as usize];
                (own, if self.is_in_list[place] { &self.all_apart } else { &[] })
            }
        };
        own.iter().chain(listed).copied().filter(move |&partner| partner != node)
    }

    /// Whether a node is among those that are all apart from each other.
    #[inline]
    pub(crate) fn is_in_list(&self, node: NodeId) -> bool {
        let place = self.place[node as usize];
        place != NO_PLACE && self.is_in_list[place as usize]
    }

    /// Whether two nodes must not be together.
    #[inline]
    pub(crate) fn are_apart(&self, a: NodeId, b: NodeId) -> bool {
        self.is_bound(a) && self.is_bound(b) && self.partners(a).any(|partner| partner == b)
    }

    /// How many pairs are together under some labels.
    pub(crate) fn n_together(&self, labels: &[u32]) -> usize {
        let is_together = |node: NodeId| {
            let own = labels[node as usize];
            self.partners(node).filter(|&partner| partner > node && labels[partner as usize] == own).count()
        };
        // Of the list, which may be long, the labels are counted.
        let mut listed: Vec<u32> = self.all_apart.iter().map(|&node| labels[node as usize]).collect();
        listed.sort_unstable();
        if self.partners.is_empty() {
            return listed.windows(2).filter(|pair| pair[0] == pair[1]).count();
        }
        self.bound.iter().map(|&node| is_together(node)).sum()
    }

    /// The pairs between other nodes that stand for these: groups of them, or some of them. `new` is the number of a node
    /// there, `None` for one that is left out.
    fn renumbered(&self, n_new: usize, new: impl Fn(NodeId) -> Option<NodeId>) -> Option<Self> {
        let own = self.bound.iter().enumerate().flat_map(|(place, &node)| {
            let partners = &self.partners[self.offsets[place] as usize..self.offsets[place + 1] as usize];
            partners.iter().filter(move |&&partner| partner > node).map(move |&partner| (node, partner))
        });
        let pairs = own.filter_map(|(a, b)| Some((new(a)?, new(b)?)));
        let all_apart = self.all_apart.iter().filter_map(|&node| new(node)).collect();
        Self::new(n_new, pairs.collect::<Vec<_>>(), all_apart)
    }

    /// The pairs of groups of nodes.
    pub(super) fn contracted(&self, group_of: &[u32], n_groups: usize) -> Option<Self> {
        self.renumbered(n_groups, |node| Some(group_of[node as usize]).filter(|&group| group != LEFT_OUT))
    }

    /// The pairs among some nodes, ascending.
    pub(super) fn among(&self, nodes: &[NodeId]) -> Option<Self> {
        self.renumbered(nodes.len(), |node| nodes.binary_search(&node).ok().map(|place| place as NodeId))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_follow_the_nodes_into_groups() -> Result<(), &'static str> {
        let apart = Apart::new(6, [(0, 1), (1, 4), (2, 2)], vec![3, 5]).ok_or("there are pairs")?;
        assert!(apart.are_apart(0, 1) && apart.are_apart(4, 1) && apart.are_apart(5, 3));
        assert!(!apart.are_apart(0, 4) && !apart.is_bound(2));
        assert_eq!(apart.n_together(&[0, 0, 0, 1, 0, 1]), 3);
        let groups = apart.contracted(&[0, 1, 1, 2, 0, 3], 4).ok_or("there are pairs")?;
        assert_eq!(groups.partners(1).collect::<Vec<_>>(), [0]);
        assert!(groups.are_apart(2, 3));
        assert!(apart.among(&[0, 2, 4, 5]).is_none());
        Ok(())
    }
}
