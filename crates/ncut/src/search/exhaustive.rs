//! All labellings of a tiny graph, one after the other.

use crate::error::Result;
use crate::graph::{Graph, NodeId};
use crate::objective::{Objective, Sums};
use crate::partition::ClusterId;
use crate::progress::StopReason;

use super::solution::{Solution, shortfall};
use super::task::Task;

/// The best of all labellings that are allowed; of equals the first in the order of the labels. `None` where there is none.
pub(super) fn best_of_all<O: Objective>(graph: &Graph<'_>, task: &Task<'_, O>) -> Result<Option<Solution>> {
    let n_clusters = task.n_clusters;
    let mut visit = Visit {
        graph,
        objective: task.objective,
        floor: task.floor,
        ceiling: task.ceiling,
        links: task.connected.then(|| Links::of(graph)),
        labels: vec![0; graph.n_nodes()],
        clusters: vec![Sums::default(); n_clusters],
        best: None,
    };
    visit.place(0, 0);
    if visit.best.is_none() && task.is_steered(graph) {
        // Holding together yields to what must be.
        visit.links = None;
        visit.place(0, 0);
    }
    let Some((_, _, labels)) = visit.best else { return Ok(None) };
    Ok(Some(task.solution(task.partition(graph, labels)?, StopReason::LocalOptimum)))
}

/// A labelling of the first nodes.
struct Visit<'g, O> {
    graph: &'g Graph<'g>,
    objective: O,
    floor: f64,
    ceiling: f64,
    /// Where clusters are to hold together.
    links: Option<Links>,
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
            if !self.is_allowed(node, cluster) {
                self.clusters[cluster] = before;
                continue;
            }
            self.labels[node] = cluster as ClusterId;
            self.place(node + 1, n_used.max(cluster + 1));
            self.clusters[cluster] = before;
        }
    }

    /// Whether a cluster may have a node, by the nodes before it.
    fn is_allowed(&self, node: usize, cluster: usize) -> bool {
        let is_with =
            |partner: NodeId| (partner as usize) < node && self.labels[partner as usize] as usize == cluster;
        let apart = self.graph.apart();
        self.objective.mass(&self.clusters[cluster]) <= self.ceiling
            && !apart.is_some_and(|apart| apart.partners(node as NodeId).any(is_with))
    }

    fn compare(&mut self) {
        let objective = self.clusters.iter().map(|sums| self.objective.value(sums)).sum::<f64>();
        let masses = self.clusters.iter().map(|sums| self.objective.mass(sums));
        let shortfall = shortfall(masses.fold(f64::INFINITY, f64::min), self.floor);
        let is_better = self
            .best
            .as_ref()
            .is_none_or(|best| shortfall < best.0 || (shortfall == best.0 && objective > best.1));
        let is_allowed = || self.links.as_ref().is_none_or(|links| links.hold(&self.labels));
        if is_better && is_allowed() {
            self.best = Some((shortfall, objective, self.labels.clone()));
        }
    }
}

/// Nodes as bits: the neighbours of every node, itself among them.
struct Links {
    of_node: Vec<u64>,
}

impl Links {
    fn of(graph: &Graph<'_>) -> Self {
        let of_node =
            |node: NodeId| graph.neighbors(node).fold(1 << node, |bits, (near, _)| bits | 1 << near);
        Self { of_node: (0..graph.n_nodes() as NodeId).map(of_node).collect() }
    }

    /// The nodes that `first` is linked to by way of nodes among `allowed`, which it is one of.
    fn reached(&self, first: usize, allowed: u64) -> u64 {
        let (mut reached, mut visited) = (1u64 << first, 0u64);
        while reached != visited {
            let node = (reached & !visited).trailing_zeros() as usize;
            visited |= 1 << node;
            reached |= self.of_node[node] & allowed;
        }
        reached
    }

    /// Whether all clusters hold together, the components that they hold as a whole left aside.
    fn hold(&self, labels: &[ClusterId]) -> bool {
        let mut n_parts = vec![0; labels.len()];
        let mut left = u64::MAX >> (64 - labels.len());
        while left != 0 {
            let first = left.trailing_zeros() as usize;
            let own = (0..labels.len()).filter(|&node| labels[node] == labels[first]);
            let piece = self.reached(first, own.fold(0, |bits, node| bits | 1 << node));
            left &= !piece;
            n_parts[labels[first] as usize] += usize::from(piece != self.reached(first, u64::MAX));
        }
        n_parts.iter().all(|&n_parts| n_parts <= 1)
    }
}
