//! What chance would show: quantiles, false discoveries, and a graph of the same degrees without clusters.

use crate::error::Result;
use crate::graph::{Graph, NodeId};
use crate::random::Random;

/// Of the scores how many are significant, and of how many, so that the expected share of wrong ones among them is `share` at the
/// most (Benjamini, Hochberg 1995). Scores that chance makes are standard normal, or lower.
pub(super) fn significant(mut scores: Vec<f64>, share: f64) -> (usize, usize) {
    scores.sort_by(|a, b| b.total_cmp(a));
    let n_all = scores.len();
    let is_significant =
        |&(rank, score): &(usize, f64)| score >= normal_quantile(share * rank as f64 / n_all as f64);
    let n_clear = (1..).zip(scores).filter(is_significant).map(|(rank, _)| rank).max();
    (n_clear.unwrap_or(0), n_all)
}

/// What a standard normal number exceeds with the given probability, below 1/2 (Abramowitz, Stegun 26.2.23; wrong by 4.5e-4
/// at the most).
pub(super) fn normal_quantile(probability: f64) -> f64 {
    let root = (-2.0 * libm::log(probability.clamp(1e-300, 0.5))).sqrt();
    let above = 2.515_517 + root * (0.802_853 + root * 0.010_328);
    let below = 1.0 + root * (1.432_788 + root * (0.189_269 + root * 0.001_308));
    root - above / below
}

/// A graph whose nodes have as many edges as in `graph`, but to anybody: the ends of all edges are drawn anew.
pub(crate) fn rewired(graph: &Graph<'_>, seed: u64) -> Result<Graph<'static>> {
    let mut edges: Vec<(NodeId, NodeId, f64)> = Vec::with_capacity(graph.columns().len() / 2);
    for node in 0..graph.n_nodes() as NodeId {
        graph.for_each_neighbor(node, |neighbor, weight| {
            if neighbor > node {
                edges.push((node, neighbor, weight));
            }
        });
    }
    let mut random = Random::new(seed);
    // Which end of an edge is its first says something about its number: half of them are turned round.
    for edge in &mut edges {
        if random.next() & 1 == 1 {
            (edge.0, edge.1) = (edge.1, edge.0);
        }
    }
    for last in (1..edges.len()).rev() {
        let other = random.below(last as u32 + 1) as usize;
        (edges[last].1, edges[other].1) = (edges[other].1, edges[last].1);
    }
    Graph::from_edges(graph.n_nodes(), edges.into_iter().filter(|edge| edge.0 != edge.1))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (probability, quantile) in [(0.05, 1.6449), (0.025, 1.96), (0.001, 3.0902), (0.5, 0.0)] {
            assert!((normal_quantile(probability) - quantile).abs() < 1e-3);
        }
    }

    #[test]
    fn where_most_are_significant_less_is_enough() {
        assert_eq!(significant(vec![2.0, 0.1, -0.3, 0.4, 0.0], 0.05), (0, 5));
        assert_eq!(significant(vec![2.0, 4.0, 5.0, 3.0, 0.0], 0.05), (4, 5));
        assert_eq!(significant(Vec::new(), 0.05), (0, 0));
    }

    #[test]
    fn rewiring_keeps_what_nodes_have() {
        let edges =
            (0..40).flat_map(|node: NodeId| [(node, (node + 1) % 40, 1.0), (node, (node + 7) % 40, 1.0)]);
        let ring = Graph::from_edges(40, edges).unwrap();
        let random = rewired(&ring, 1).unwrap();
        assert!(random.volume() <= ring.volume() && random.volume() > 0.8 * ring.volume());
        assert!(random.degrees().iter().all(|&degree| degree <= 4.0));
    }
}
