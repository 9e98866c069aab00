//! A graph of the strongest edges alone.

use crate::error::Result;
use crate::graph::{Graph, NodeId, Weights};

/// Edges of a node that stay at the least.
const MIN_EDGES: usize = 5;

/// The edges that are among the strongest of one of their ends: `divisor` times fewer than nodes have on average. `None` where weights
/// say nothing, or too few edges would stay.
pub(super) fn sparser(graph: &Graph<'_>, divisor: usize) -> Result<Option<Graph<'static>>> {
    let n_nodes = graph.n_nodes();
    let n_kept = (graph.columns().len() / (divisor * n_nodes.max(1))).max(MIN_EDGES);
    if matches!(graph.weights(), Weights::Unit) || n_kept * n_nodes >= graph.columns().len() {
        return Ok(None);
    }
    let strongest: Vec<(f64, NodeId)> = (0..n_nodes as NodeId)
        .map(|node| {
            let mut row: Vec<(f64, NodeId)> = Vec::new();
            graph.for_each_neighbor(node, |neighbor, weight| row.push((weight, neighbor)));
            row.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            // The weakest edge that stays; without edges none would.
            row.get(n_kept - 1).or(row.last()).copied().unwrap_or((f64::INFINITY, 0))
        })
        .collect();
    let is_kept = |node: NodeId, neighbor: NodeId, weight: f64| {
        let (least, last) = strongest[node as usize];
        weight > least || weight == least && neighbor <= last
    };
    let mut edges = Vec::with_capacity(n_kept * n_nodes);
    for node in 0..n_nodes as NodeId {
        graph.for_each_neighbor(node, |neighbor, weight| {
            if neighbor > node && (is_kept(node, neighbor, weight) || is_kept(neighbor, node, weight)) {
                edges.push((node, neighbor, weight));
            }
        });
    }
    Graph::from_edges(n_nodes, edges).map(Some)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_strongest_edges_stay() {
        let edges = (0..20).flat_map(|a: NodeId| (a + 1..20).map(move |b| (a, b, 1.0 / f64::from(b - a))));
        let graph = Graph::from_edges(20, edges).unwrap();
        let sparse = sparser(&graph, 3).unwrap().unwrap();
        assert!(sparse.columns().len() < graph.columns().len() / 2);
        for node in 6..14 {
            let mut farthest = 0;
            sparse.for_each_neighbor(node, |neighbor, _| farthest = farthest.max(neighbor.abs_diff(node)));
            assert!(farthest <= 6, "{node}: {farthest}");
        }
        let unit = Graph::from_edges(3, [(0, 1, 1.0), (1, 2, 1.0)]).unwrap();
        assert!(sparser(&unit, 2).unwrap().is_none());
    }
}
