//! Labels that are allowed, by trying: for graphs so small, or wishes so tight, that luck does not find any.

use crate::graph::{Graph, NodeId};
use crate::objective::Objective;
use crate::partition::ClusterId;

/// Nodes that are given a cluster, one after the other, before it is given up.
const MAX_STEPS: usize = 1 << 20;
/// Graphs with more nodes are not tried.
const MAX_NODES: usize = 1 << 10;

/// Labels for all nodes, isolated ones too, that keep nodes apart and clusters below a ceiling, no cluster being empty. The node
/// with the fewest clusters left for it is next (Brélaz), the heaviest among equals. `None` where there are none, or none were
/// found in time.
pub(crate) fn labels_by_backtracking<O: Objective>(
    graph: &Graph<'_>,
    objective: O,
    n_clusters: usize,
    ceiling: f64,
) -> Option<Vec<ClusterId>> {
    let n_nodes = graph.n_nodes();
    if n_nodes > MAX_NODES || n_clusters > n_nodes {
        return None;
    }
    let masses: Vec<f64> =
        (0..n_nodes as NodeId).map(|node| objective.mass(&graph.node_sums::<O>(node))).collect();
    let mut attempt = Attempt {
        graph,
        ceiling,
        masses,
        labels: vec![NONE; n_nodes],
        filled: vec![0.0; n_clusters],
        n_used: 0,
        n_left: n_nodes,
        n_steps: 0,
    };
    attempt.place().then_some(attempt.labels)
}

const NONE: ClusterId = ClusterId::MAX;

struct Attempt<'a> {
    graph: &'a Graph<'a>,
    ceiling: f64,
    masses: Vec<f64>,
    labels: Vec<ClusterId>,
    filled: Vec<f64>,
    /// The clusters from here on are empty, and all alike.
    n_used: usize,
    n_left: usize,
    n_steps: usize,
}

impl Attempt<'_> {
    /// The clusters a node may join, the one it is most linked to first; of the empty ones the first.
    fn choices(&self, node: NodeId) -> Vec<ClusterId> {
        let n_clusters = self.filled.len();
        let mut is_free = vec![true; n_clusters];
        for partner in self.graph.apart().into_iter().flat_map(|apart| apart.partners(node)) {
            if self.labels[partner as usize] != NONE {
                is_free[self.labels[partner as usize] as usize] = false;
            }
        }
        let mut links = vec![0.0; n_clusters];
        self.graph.for_each_neighbor(node, |neighbor, weight| {
            if self.labels[neighbor as usize] != NONE {
                links[self.labels[neighbor as usize] as usize] += weight;
            }
        });
        // As many nodes as there are empty clusters must be left for these.
        let first = if n_clusters - self.n_used >= self.n_left { self.n_used } else { 0 };
        let fits = |cluster: &usize| {
            is_free[*cluster] && self.filled[*cluster] + self.masses[node as usize] <= self.ceiling
        };
        let mut choices: Vec<usize> = (first..(self.n_used + 1).min(n_clusters)).filter(fits).collect();
        choices.sort_by(|&a, &b| links[b].total_cmp(&links[a]).then(a.cmp(&b)));
        choices.into_iter().map(|cluster| cluster as ClusterId).collect()
    }

    fn place(&mut self) -> bool {
        if self.n_left == 0 {
            return true;
        }
        self.n_steps += 1;
        if self.n_steps > MAX_STEPS {
            return false;
        }
        let mut next: Option<(usize, NodeId, Vec<ClusterId>)> = None;
        for node in (0..self.labels.len() as NodeId).filter(|&node| self.labels[node as usize] == NONE) {
            let choices = self.choices(node);
            let is_harder = |known: &(usize, NodeId, Vec<ClusterId>)| {
                (choices.len(), -self.masses[node as usize]) < (known.0, -self.masses[known.1 as usize])
            };
            if next.as_ref().is_none_or(is_harder) {
                let is_none = choices.is_empty();
                next = Some((choices.len(), node, choices));
                if is_none {
                    return false;
                }
            }
        }
        let Some((_, node, choices)) = next else { return true };
        for cluster in choices {
            let (filled, n_used) = (self.filled[cluster as usize], self.n_used);
            self.labels[node as usize] = cluster;
            self.filled[cluster as usize] += self.masses[node as usize];
            self.n_used = n_used.max(cluster as usize + 1);
            self.n_left -= 1;
            if self.place() {
                return true;
            }
            self.labels[node as usize] = NONE;
            self.filled[cluster as usize] = filled;
            self.n_used = n_used;
            self.n_left += 1;
            if self.n_steps > MAX_STEPS {
                return false;
            }
        }
        false
    }
}
