//! The cluster of every node, a second time in as few bits as will do.

use super::ClusterId;
use crate::graph::NodeId;

/// The cluster of every node.
///
/// A visit looks up the clusters of all neighbours, anywhere in memory. The shorter the labels, the more of them are in
/// the cache.
#[derive(Clone, Debug)]
pub(super) struct Labels {
    all: Vec<ClusterId>,
    short: Short,
}

/// Labels once more, as short as they can be.
#[derive(Clone, Debug)]
pub(super) enum Short {
    /// They would be no shorter, or are too few to matter.
    None,
    /// In one byte each.
    Bytes(Vec<u8>),
    /// In two.
    Pairs(Vec<u16>),
}

impl Labels {
    /// Labels below `n_clusters`, the second time short where there are at least `min_short` of them.
    pub(super) fn new(all: Vec<ClusterId>, n_clusters: usize, min_short: usize) -> Self {
        let short = if all.len() < min_short {
            Short::None
        } else if n_clusters <= 1 << u8::BITS {
            Short::Bytes(all.iter().map(|&label| label as u8).collect())
        } else if n_clusters <= 1 << u16::BITS {
            Short::Pairs(all.iter().map(|&label| label as u16).collect())
        } else {
            Short::None
        };
        Self { all, short }
    }

    #[inline]
    pub(super) fn of(&self, node: NodeId) -> ClusterId {
        self.all[node as usize]
    }

    pub(super) fn all(&self) -> &[ClusterId] {
        &self.all
    }

    pub(super) fn into_all(self) -> Vec<ClusterId> {
        self.all
    }

    #[inline]
    pub(super) fn short(&self) -> &Short {
        &self.short
    }

    #[inline]
    pub(super) fn set(&mut self, node: NodeId, label: ClusterId) {
        let node = node as usize;
        self.all[node] = label;
        match &mut self.short {
            Short::None => {}
            Short::Bytes(labels) => labels[node] = label as u8,
            Short::Pairs(labels) => labels[node] = label as u16,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIN_SHORT: usize = 1 << 16;

    #[test]
    fn labels_are_the_same_in_any_length() {
        let n_nodes = MIN_SHORT + 3;
        for n_clusters in [2, 255, 256, 257, 1 << 16, (1 << 16) + 1] {
            let all = (0..n_nodes).map(|node| (node * 7 % n_clusters) as ClusterId).collect();
            let mut labels = Labels::new(all, n_clusters, MIN_SHORT);
            labels.set(5, n_clusters as ClusterId - 1);
            labels.set(n_nodes as NodeId - 1, 1);
            let longer: Vec<ClusterId> = match labels.short() {
                Short::None => {
                    assert!(n_clusters > 1 << 16);
                    continue;
                }
                Short::Bytes(labels) => labels.iter().map(|&label| label.into()).collect(),
                Short::Pairs(labels) => labels.iter().map(|&label| label.into()).collect(),
            };
            assert_eq!(longer, labels.all());
        }
        assert!(matches!(Labels::new(vec![0; MIN_SHORT - 1], 2, MIN_SHORT).short(), Short::None));
    }
}
