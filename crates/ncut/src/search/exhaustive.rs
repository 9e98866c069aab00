//! All labellings of a tiny graph, one after the other.

use crate::error::Result;
use crate::graph::{Graph, NodeId};
use crate::objective::{Objective, Sums};
use crate::partition::ClusterId;
use crate::progress::StopReason;

use super::solution::{Solution, shortfall};
use super::task::Task;

/// The best of all labellings; of equals the first in the order of the labels.
pub(super) fn best_of_all<O: Objective>(graph: &Graph<'_>, task: &Task<'_, O>) -> Result<Solution> {
    let n_clusters = task.n_clusters;
    let mut visit = Visit {
        graph,
        objective: task.objective,
        floor: task.floor,
        labels: vec![0; graph.n_nodes()],
        clusters: vec![Sums::default(); n_clusters],
        best: None,
    };
    visit.place(0, 0);
    let (_, _, labels) = visit.best.expect("there are as many nodes as clusters");
    Ok(task.solution(task.partition(graph, labels)?, StopReason::LocalOptimum))
}

/// A labelling of the first nodes.
struct Visit<'g, O> {
    graph: &'g Graph<'g>,
    objective: O,
    floor: f64,
    labels: Vec<ClusterId>,
    clusters: Vec<Sums>,
    /// Shortfall, objective and labels of the best so far.
    best: Option<(f64, f64, Vec<ClusterId>)>,
}

impl<O: Objective> Visit<'_, O> {
    /// Gives node `node` every cluster in turn, `n_used` of which have nodes.
    fn place(&mut self, node: usize, n_used: usize) {
        let (n_nodes, n_clusters) = (self.labels.len(), self.clusters.len());
        if node == n_nodes {
            self.compare();
            return;
        }
        // The nodes left must suffice for the clusters that are still empty.
        let first = if n_clusters - n_used == n_nodes - node { n_used } else { 0 };
        for cluster in first..(n_used + 1).min(n_clusters) {
            let before = self.clusters[cluster];
            let inside = |&(neighbor, _): &(NodeId, f64)| {
                (neighbor as usize) < node && self.labels[neighbor as usize] as usize == cluster
            };
            let link: f64 =
                self.graph.neighbors(node as NodeId).filter(inside).map(|(_, weight)| weight).sum();
            self.clusters[cluster] = before.with(&self.graph.node_sums::<O>(node as NodeId), link);
            self.labels[node] = cluster as ClusterId;
            self.place(node + 1, n_used.max(cluster + 1));
            self.clusters[cluster] = before;
        }
    }

    fn compare(&mut self) {
        let objective = self.clusters.iter().map(|sums| self.objective.value(sums)).sum::<f64>();
        let masses = self.clusters.iter().map(|sums| self.objective.mass(sums));
        let shortfall = shortfall(masses.fold(f64::INFINITY, f64::min), self.floor);
        let is_better = self
            .best
            .as_ref()
            .is_none_or(|best| shortfall < best.0 || (shortfall == best.0 && objective > best.1));
        if is_better {
            self.best = Some((shortfall, objective, self.labels.clone()));
        }
    }
}
