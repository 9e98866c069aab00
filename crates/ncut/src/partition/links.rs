//! The neighbours of one node, summed up by their clusters.

use super::ClusterId;
use crate::graph::{Graph, NodeId, Weights};

/// The weight between one node and every cluster: work space of [`Partition::best_move`](super::Partition::best_move).
#[derive(Clone, Debug)]
pub struct Links {
    pub(super) weights: Vec<f64>,
    /// The clusters with a weight, in the order met.
    pub(super) adjacent: Vec<ClusterId>,
    /// Clusters and weights of the neighbours in other clusters than the node; where all weights are 1, they are not noted.
    outside: Vec<ClusterId>,
    outside_weights: Vec<f64>,
    n_outside: usize,
    is_unit: bool,
    /// The weights of the neighbours in its own.
    inside_weights: Vec<f64>,
}

impl Links {
    /// Work space for partitions into `n_clusters`.
    pub fn new(n_clusters: usize) -> Self {
        Self {
            weights: vec![0.0; n_clusters],
            adjacent: Vec::new(),
            outside: Vec::new(),
            outside_weights: Vec::new(),
            n_outside: 0,
            is_unit: true,
            inside_weights: Vec::new(),
        }
    }

    /// Meets the neighbours of a node; tells the weight to its own cluster. The weights to the others have to be
    /// [summed](Self::sum_outside) before they are looked at.
    ///
    /// Who is outside is as good as random, and wrong guesses would take most of the time: everybody is noted on both
    /// lists, without a branch, and stays on one.
    #[inline]
    pub(super) fn meet(&mut self, graph: &Graph<'_>, labels: &[ClusterId], node: NodeId) -> f64 {
        let row = &graph.columns()[graph.entries(node)];
        if self.outside.len() <= row.len() {
            self.outside.resize(2 * row.len() + 1, 0);
            self.outside_weights.resize(2 * row.len() + 1, 0.0);
            self.inside_weights.resize(2 * row.len() + 1, 0.0);
        }
        let own = labels[node as usize];
        let outside = &mut self.outside[..=row.len()];
        let mut n_outside = 0;
        self.is_unit = matches!(graph.weights(), Weights::Unit);
        if self.is_unit {
            for &neighbor in row {
                let cluster = labels[neighbor as usize];
                outside[n_outside] = cluster;
                n_outside += usize::from(cluster != own);
            }
            self.n_outside = n_outside;
            return (row.len() - n_outside) as f64 - graph.self_loop(node);
        }
        let (outside_weights, inside_weights) =
            (&mut self.outside_weights[..=row.len()], &mut self.inside_weights[..=row.len()]);
        let mut n_inside = 0;
        graph.for_each_neighbor(node, |neighbor, weight| {
            let cluster = labels[neighbor as usize];
            outside[n_outside] = cluster;
            outside_weights[n_outside] = weight;
            inside_weights[n_inside] = weight;
            n_outside += usize::from(cluster != own);
            n_inside += usize::from(cluster == own);
        });
        self.n_outside = n_outside;
        inside_weights[..n_inside].iter().sum()
    }

    #[inline]
    pub(super) fn sum_outside(&mut self) {
        for cluster in self.adjacent.drain(..) {
            self.weights[cluster as usize] = 0.0;
        }
        let outside = &self.outside[..self.n_outside];
        let mut add = |cluster: ClusterId, weight: f64| {
            let link = &mut self.weights[cluster as usize];
            if *link == 0.0 {
                self.adjacent.push(cluster);
            }
            *link += weight;
        };
        if self.is_unit {
            outside.iter().for_each(|&cluster| add(cluster, 1.0));
        } else {
            outside.iter().zip(&self.outside_weights).for_each(|(&cluster, &weight)| add(cluster, weight));
        }
    }
}
