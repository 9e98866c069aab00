//! Graphs in several pieces.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::iter::successors;

use crate::graph::{Graph, NodeId};
use crate::hierarchy::Groups;
use crate::objective::Objective;
use crate::partition::ClusterId;

use super::task::Task;

/// The components of a graph and their masses.
pub(super) struct Pieces {
    of_node: Vec<u32>,
    masses: Vec<f64>,
}

impl Pieces {
    pub(super) fn new<O: Objective>(graph: &Graph<'_>, task: &Task<'_, O>) -> Self {
        let components = graph.components();
        let of_node = components.of_node;
        let mut masses = vec![0.0; components.sizes.len()];
        for (node, &piece) in of_node.iter().enumerate() {
            masses[piece as usize] += task.mass(graph, node as NodeId);
        }
        Self { of_node, masses }
    }

    pub(super) fn count(&self) -> usize {
        self.masses.len()
    }

    /// Whole components, grouped into clusters of about the same mass: nothing is cut, so that nothing is better.
    /// `None` when there are too few, or a cluster would be below the floor.
    pub(super) fn grouped(&self, n_clusters: usize, floor: f64) -> Option<Vec<ClusterId>> {
        let everything: Vec<u32> = (0..self.count() as u32).collect();
        let bins = self.packed(&everything, n_clusters, floor)?;
        Some(self.of_node.iter().map(|&piece| bins[piece as usize]).collect())
    }

    /// Groups of nodes in which components below the floor are bundled, into as many bundles at or above it as they
    /// make, every other node being by itself. `None` when there are no such components.
    pub(super) fn bundled(&self, n_clusters: usize, floor: f64) -> Option<Groups> {
        let small: Vec<u32> =
            (0..self.count() as u32).filter(|&piece| self.masses[piece as usize] < floor).collect();
        if small.len() < 2 {
            return None;
        }
        let total: f64 = small.iter().map(|&piece| self.masses[piece as usize]).sum();
        let most = ((total / floor) as usize).min(n_clusters);
        let fewer = |&n_bins: &usize| (n_bins > 1).then(|| n_bins - n_bins.div_ceil(16));
        let bins = successors(Some(most), fewer).find_map(|n_bins| self.packed(&small, n_bins, floor));
        let bins = bins.unwrap_or_else(|| {
            let mut bins = vec![NO_BIN; self.count()];
            for &piece in &small {
                bins[piece as usize] = 0;
            }
            bins
        });
        // The first node of a bundle stands for it.
        let n_nodes = self.of_node.len();
        let mut first = vec![None; small.len()];
        let representative = (0..n_nodes).map(|node| {
            let bin = bins[self.of_node[node] as usize];
            if bin == NO_BIN { node as u32 } else { *first[bin as usize].get_or_insert(node as u32) }
        });
        Some(Groups::numbered(representative.collect()))
    }

    /// The bin of each of some pieces, the largest first, each into the least full bin.
    fn packed(&self, pieces: &[u32], n_bins: usize, floor: f64) -> Option<Vec<u32>> {
        if n_bins == 0 || pieces.len() < n_bins {
            return None;
        }
        let mass = |piece: u32| self.masses[piece as usize];
        let mut by_mass = pieces.to_vec();
        by_mass.sort_by(|&a, &b| mass(b).total_cmp(&mass(a)).then(a.cmp(&b)));
        let mut bins = vec![NO_BIN; self.count()];
        let mut fill = vec![0.0f64; n_bins];
        // Masses are not negative: their bits are in the order of their values.
        let mut least_full: BinaryHeap<Reverse<(u64, u32)>> =
            (0..n_bins as u32).map(|bin| Reverse((0, bin))).collect();
        for piece in by_mass {
            let Reverse((_, bin)) = least_full.pop()?;
            bins[piece as usize] = bin;
            fill[bin as usize] += mass(piece);
            least_full.push(Reverse((fill[bin as usize].to_bits(), bin)));
        }
        fill.iter().all(|&fill| fill >= floor).then_some(bins)
    }
}

const NO_BIN: u32 = u32::MAX;
