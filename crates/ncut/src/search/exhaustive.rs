//! All labellings of a tiny graph, one after the other.

use crate::error::Result;
use crate::graph::{Graph, NodeId};
use crate::partition::{ClusterId, Partition, density};
use crate::progress::StopReason;

use super::task::{Solution, Task};

/// Graphs of at most this many nodes are solved by looking at everything: 678 570 labellings.
pub(super) const MOST_NODES: usize = 11;

/// The best of all labellings; of equals the first in the order of the labels.
pub(super) fn best_of_all(graph: &Graph<'_>, task: &Task<'_>) -> Result<Solution> {
    let n_clusters = task.n_clusters;
    let mut visit = Visit {
        graph,
        floor: task.floor,
        labels: vec![0; graph.n_nodes()],
        associations: vec![0.0; n_clusters],
        volumes: vec![0.0; n_clusters],
        best: None,
    };
    visit.place(0, 0);
    let (_, _, labels) = visit.best.expect("there are as many nodes as clusters");
    let partition = Partition::new(graph, labels, n_clusters)?;
    Ok(Solution::new(partition, StopReason::LocalOptimum, task))
}

/// A labelling of the first nodes.
struct Visit<'g> {
    graph: &'g Graph<'g>,
    floor: f64,
    labels: Vec<ClusterId>,
    associations: Vec<f64>,
    volumes: Vec<f64>,
    /// Shortfall, objective and labels of the best so far.
    best: Option<(f64, f64, Vec<ClusterId>)>,
}

impl Visit<'_> {
    /// Gives node `node` every cluster in turn, `n_used` of which have nodes.
    fn place(&mut self, node: usize, n_used: usize) {
        let (n_nodes, n_clusters) = (self.labels.len(), self.volumes.len());
        if node == n_nodes {
            self.compare();
            return;
        }
        // The nodes left must suffice for the clusters that are still empty.
        let first = if n_clusters - n_used == n_nodes - node { n_used } else { 0 };
        for cluster in first..(n_used + 1).min(n_clusters) {
            let before = (self.associations[cluster], self.volumes[cluster]);
            let inside = |&(neighbor, _): &(NodeId, f64)| {
                (neighbor as usize) < node && self.labels[neighbor as usize] as usize == cluster
            };
            let link: f64 =
                self.graph.neighbors(node as NodeId).filter(inside).map(|(_, weight)| weight).sum();
            self.associations[cluster] += 2.0 * link + self.graph.self_loop(node as NodeId);
            self.volumes[cluster] += self.graph.degree(node as NodeId);
            self.labels[node] = cluster as ClusterId;
            self.place(node + 1, n_used.max(cluster + 1));
            (self.associations[cluster], self.volumes[cluster]) = before;
        }
    }

    fn compare(&mut self) {
        let objective =
            self.associations.iter().zip(&self.volumes).map(|(&a, &d)| density(a, d)).sum::<f64>();
        let lowest = self.volumes.iter().copied().fold(f64::INFINITY, f64::min);
        let shortfall = (self.floor * (1.0 - 1e-9) - lowest).max(0.0);
        let is_better = self
            .best
            .as_ref()
            .is_none_or(|best| shortfall < best.0 || (shortfall == best.0 && objective > best.1));
        if is_better {
            self.best = Some((shortfall, objective, self.labels.clone()));
        }
    }
}
