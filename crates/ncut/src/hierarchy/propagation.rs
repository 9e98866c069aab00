//! Label propagation with bounded clusters: the first step down for graphs that pairs coarsen badly.
//!
//! Where weights are all alike, the best partner of a node is one of many equals, and next to a hub hardly anyone
//! is picked back. Here every node joins the cluster it is most linked to, again and again, as long as that cluster
//! has room; the votes of all its neighbours tell what a single edge does not.

use crate::graph::{Graph, NodeId};
use crate::partition::ClusterId;
use crate::progress::{Progress, Stage, Watch};
use crate::random::mixed;

use super::greedy::Groups;

/// Nodes between two calls of the observer.
const NODES_PER_REPORT: usize = 4096;
/// A sweep that moves fewer than one node in this many is the last.
const SETTLED: usize = 50;

/// How labels spread.
#[derive(Clone, Copy)]
pub(crate) struct Propagation<'a> {
    /// Volume that no cluster exceeds, unless it is a single node.
    pub(crate) largest: f64,
    pub(crate) max_sweeps: usize,
    /// Only nodes with the same label come together.
    pub(crate) within: Option<&'a [u32]>,
    pub(crate) seed: u64,
}

impl Propagation<'_> {
    /// Clusters of `graph`; `None` when the observer said stop.
    pub(crate) fn run(&self, graph: &Graph<'_>, watch: &dyn Watch) -> Option<Groups> {
        let n_nodes = graph.n_nodes();
        let mut labels: Vec<ClusterId> = (0..n_nodes as ClusterId).collect();
        let mut volumes: Vec<f64> = graph.degrees().to_vec();
        let mut links = vec![0.0; n_nodes];
        let mut adjacent: Vec<ClusterId> = Vec::new();
        let mut awake = vec![true; n_nodes];
        let mut progress = Progress::new(Stage::Coarsening, n_nodes as u64);
        for sweep in 0..self.max_sweeps {
            let mut n_moves = 0;
            for node in 0..n_nodes {
                if node.is_multiple_of(NODES_PER_REPORT) {
                    progress.done = node as u64;
                    if watch.report(&progress).is_break() {
                        return None;
                    }
                }
                if !std::mem::take(&mut awake[node]) {
                    continue;
                }
                let (own, degree) = (labels[node], graph.degree(node as NodeId));
                graph.for_each_neighbor(node as NodeId, |neighbor, weight| {
                    if self.within.is_some_and(|within| within[node] != within[neighbor as usize]) {
                        return;
                    }
                    let label = labels[neighbor as usize];
                    if links[label as usize] == 0.0 {
                        adjacent.push(label);
                    }
                    links[label as usize] += weight;
                });
                let salt = mixed(self.seed ^ (node as u64) << 8 ^ sweep as u64);
                let tie = |label: ClusterId| mixed(salt ^ u64::from(label));
                // Staying wins against equals; among others a hash decides.
                let mut best = (links[own as usize], own);
                for &label in &adjacent {
                    let link = links[label as usize];
                    let is_better =
                        link > best.0 || (link == best.0 && best.1 != own && tie(label) < tie(best.1));
                    if label != own && is_better && volumes[label as usize] + degree <= self.largest {
                        best = (link, label);
                    }
                }
                for label in adjacent.drain(..) {
                    links[label as usize] = 0.0;
                }
                if best.1 != own {
                    volumes[own as usize] -= degree;
                    volumes[best.1 as usize] += degree;
                    labels[node] = best.1;
                    n_moves += 1;
                    graph.for_each_neighbor(node as NodeId, |neighbor, _| awake[neighbor as usize] = true);
                }
            }
            if n_moves < n_nodes / SETTLED {
                break;
            }
        }
        Some(Groups::numbered(labels))
    }
}
