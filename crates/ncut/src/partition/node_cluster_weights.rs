//! The weight between every node and every cluster, kept while nodes move: the paper's `y_k' A`.

use super::ClusterId;
use crate::graph::{Graph, NodeId};
use crate::limits::Limits;
use crate::parallel::prelude::*;

/// They pay off where rows have at least so many entries for every cluster.
const ENTRIES_PER_CLUSTER: usize = 2;
/// Nodes at most: no row has more entries.
const MAX_NODES: usize = 1 << 21;
/// Moves until the weights are to be summed up afresh.
const MAX_MOVES: usize = 1 << 22;
/// Weights are off by this share of the node's degree, at most.
///
/// No sum is ever more than the degree, so each addition rounds by a share of 2^-53 of it at most. There are
/// [`MAX_NODES`] of them in a row that is summed up, as many in the sum it is compared with, and one for each move.
const MAX_ROUNDED: f64 = 1e-9;
const _: () = assert!((2 * MAX_NODES + MAX_MOVES) as f64 * (f64::EPSILON / 2.0) < MAX_ROUNDED);
/// Nodes whose weights one thread sums up at a time.
const NODES_PER_TASK: usize = 64;

/// The weight between every node and every cluster, self-loops left out, but for rounding.
#[derive(Clone, Debug)]
pub(super) struct NodeClusterWeights {
    n_clusters: usize,
    /// Those of a node side by side.
    weights: Vec<f64>,
    n_moves: usize,
}

impl NodeClusterWeights {
    /// Sums them up, where that pays off for visits to all nodes.
    pub(super) fn where_they_pay(
        graph: &Graph<'_>,
        labels: &[ClusterId],
        n_clusters: usize,
        limits: &Limits,
    ) -> Option<Self> {
        let (n_nodes, n_entries) = (graph.n_nodes(), graph.columns().len());
        let min_row =
            limits.min_row_for_node_cluster_weights.max(n_clusters.saturating_mul(ENTRIES_PER_CLUSTER));
        let pays_off = n_entries >= min_row.saturating_mul(n_nodes);
        let n_weights = n_clusters.saturating_mul(n_nodes);
        let has_room = n_weights <= limits.max_node_cluster_weights && n_nodes <= MAX_NODES;
        (pays_off && has_room).then(|| Self::new(graph, labels, n_clusters))
    }

    fn new(graph: &Graph<'_>, labels: &[ClusterId], n_clusters: usize) -> Self {
        let mut table = Self { n_clusters, weights: vec![0.0; n_clusters * graph.n_nodes()], n_moves: 0 };
        table.sum_up(graph, labels);
        table
    }

    fn sum_up(&mut self, graph: &Graph<'_>, labels: &[ClusterId]) {
        self.n_moves = 0;
        let rows = self.weights.par_chunks_exact_mut(self.n_clusters).enumerate();
        rows.with_min_len(NODES_PER_TASK).for_each(|(node, row)| {
            row.fill(0.0);
            graph.for_each_neighbor(node as NodeId, |neighbor, weight| {
                row[labels[neighbor as usize] as usize] += weight;
            });
        });
    }

    /// Follows a node to another cluster; `labels` are those after its move.
    pub(super) fn follow(
        &mut self,
        node: NodeId,
        (from, to): (ClusterId, ClusterId),
        graph: &Graph<'_>,
        labels: &[ClusterId],
    ) {
        if self.n_moves == MAX_MOVES {
            return self.sum_up(graph, labels);
        }
        self.n_moves += 1;
        graph.for_each_neighbor(node, |neighbor, weight| {
            let row = &mut self.weights[neighbor as usize * self.n_clusters..][..self.n_clusters];
            row[from as usize] -= weight;
            row[to as usize] += weight;
        });
    }

    /// The weights between a node of the given degree and the clusters, and by how much they are off at most.
    #[inline]
    pub(super) fn of_node(&self, node: NodeId, degree: f64) -> (&[f64], f64) {
        (&self.weights[node as usize * self.n_clusters..][..self.n_clusters], MAX_ROUNDED * degree)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Result;
    use crate::partition::{Links, Partition};
    use crate::random::mix;

    /// Nearly all pairs linked, some nodes to themselves. Weights are few, so that many scores are equal, or many.
    fn dense(n_nodes: u32, seed: u64, n_weights: u64) -> Result<Graph<'static>> {
        let pairs = (0..n_nodes).flat_map(|from| (from..n_nodes).map(move |to| (from, to)));
        let edges = pairs.filter_map(|(from, to)| {
            let draw = mix(seed, u64::from(from * n_nodes + to));
            let is_edge = !draw.is_multiple_of(if from == to { 3 } else { 8 });
            is_edge.then(|| (from, to, (1 + (draw >> 20) % n_weights) as f64 / 7.0))
        });
        Graph::from_edges(n_nodes as usize, edges)
    }

    #[test]
    fn visits_find_the_same_moves() -> Result<()> {
        let (n_nodes, k) = (80, 4);
        let mut n_skipped = 0;
        for seed in 0..40 {
            let graph = dense(n_nodes, seed, [1, 3, 1 << 30][seed as usize % 3])?;
            let labels = (0..n_nodes).map(|node| mix(seed, u64::from(node)) as u32 % k).collect();
            let mut plain =
                Partition::new(&graph, labels, k as usize)?.with_floor(seed as f64 / 300.0 * graph.volume());
            let mut bound = plain.clone();
            bound.keep_node_cluster_weights();
            assert!(bound.node_cluster_weights.is_some());
            let mut links = Links::new(k as usize);
            for visit in 0..8 * n_nodes {
                let node = visit % n_nodes;
                let step = plain.best_move(node, &mut links);
                assert_eq!(step, bound.best_move(node, &mut links));
                n_skipped += usize::from(plain.may_leave(node) && bound.is_surely_best_where_it_is(node));
                // Where none gains anything, another one now and then keeps things moving.
                let detour = || plain.move_to(node, visit / n_nodes % k).filter(|_| visit % 9 == 0);
                if let Some(step) = step.or_else(detour) {
                    plain.apply(step);
                    bound.apply(step);
                }
            }
        }
        assert!(n_skipped > 8_000, "{n_skipped} visits met no neighbour");
        Ok(())
    }

    #[test]
    fn weights_are_those_summed_up_afresh() -> Result<()> {
        let graph = dense(60, 1, 1 << 30)?;
        let mut partition = Partition::new(&graph, (0..60).map(|node| node % 3).collect(), 3)?;
        partition.keep_node_cluster_weights();
        for draw in 0..5_000 {
            let (node, cluster) = (mix(1, draw) as u32 % 60, mix(2, draw) as u32 % 3);
            if let Some(step) = partition.move_to(node, cluster) {
                partition.apply(step);
            }
        }
        let followed = partition.node_cluster_weights.clone().expect("they were kept");
        let afresh = NodeClusterWeights::new(&graph, partition.labels(), 3);
        for node in 0..60 {
            let (weights, rounded) = followed.of_node(node, graph.degree(node));
            for (followed, afresh) in weights.iter().zip(afresh.of_node(node, 0.0).0) {
                assert!((followed - afresh).abs() < rounded);
            }
        }
        Ok(())
    }

    #[test]
    fn they_are_kept_where_rows_are_long() -> Result<()> {
        let graph = dense(80, 1, 1)?;
        let labels = vec![0; 80];
        let kept = |k| NodeClusterWeights::where_they_pay(&graph, &labels, k, &Limits::default());
        assert!(kept(2).is_some());
        assert!(kept(40).is_none());
        assert!(kept(usize::MAX).is_none());
        Ok(())
    }
}
