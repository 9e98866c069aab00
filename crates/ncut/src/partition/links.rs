//! The neighbours of one node, summed up by their clusters.

use super::ClusterId;
use super::labels::{Labels, Short};
use crate::graph::{Graph, NodeId, Weights};

/// The weight between one node and every cluster: work space of [`Partition::best_move`](super::Partition::best_move).
#[derive(Clone, Debug)]
pub struct Links {
    pub(super) weights: Vec<f64>,
    /// The clusters with a weight, in the order met, and more room.
    adjacent: Vec<ClusterId>,
    n_adjacent: usize,
    /// The weights of the neighbours in the node's own cluster.
    inside: Vec<f64>,
    /// Those of the others, and their clusters.
    outside: Vec<(ClusterId, f64)>,
}

impl Links {
    /// Work space for partitions into `n_clusters`.
    pub fn new(n_clusters: usize) -> Self {
        let (adjacent, inside, outside) = (Vec::new(), Vec::new(), Vec::new());
        Self { weights: vec![0.0; n_clusters], adjacent, n_adjacent: 0, inside, outside }
    }

    /// Sums up the row of a node in cluster `own`: the clusters of its neighbours and the weights to them, the node's own
    /// included. For those who have a row but no graph.
    pub fn sum_row(&mut self, own: ClusterId, row: impl IntoIterator<Item = (ClusterId, f64)>) {
        for &cluster in &self.adjacent[..self.n_adjacent] {
            self.weights[cluster as usize] = 0.0;
        }
        self.weights[own as usize] = 0.0;
        self.adjacent.clear();
        for (cluster, weight) in row {
            let link = &mut self.weights[cluster as usize];
            if *link == 0.0 {
                self.adjacent.push(cluster);
            }
            *link += weight;
        }
        self.n_adjacent = self.adjacent.len();
    }

    /// The weight that was [summed up](Self::sum_row) for a cluster.
    #[inline]
    pub fn weight(&self, cluster: ClusterId) -> f64 {
        self.weights[cluster as usize]
    }

    /// The clusters that were [summed up](Self::sum_outside), in the order met.
    pub(super) fn adjacent(&self) -> &[ClusterId] {
        &self.adjacent[..self.n_adjacent]
    }

    /// The weight between a node and its own cluster. For most nodes that is all one needs to know.
    #[inline]
    pub(super) fn inside(&mut self, graph: &Graph<'_>, labels: &Labels, node: NodeId) -> f64 {
        match labels.short() {
            Short::None => self.inside_by(graph, labels.all(), node),
            Short::Bytes(labels) => self.inside_by(graph, labels, node),
            Short::Pairs(labels) => self.inside_by(graph, labels, node),
        }
    }

    /// Sums up the weights between a node and the other clusters; tells the largest.
    #[inline]
    pub(super) fn sum_outside(&mut self, graph: &Graph<'_>, labels: &Labels, node: NodeId) -> f64 {
        match labels.short() {
            Short::None => self.sum_outside_by(graph, labels.all(), node),
            Short::Bytes(labels) => self.sum_outside_by(graph, labels, node),
            Short::Pairs(labels) => self.sum_outside_by(graph, labels, node),
        }
    }

    /// Who is outside is as good as random, and wrong guesses would take most of the time: every weight is noted, without
    /// a branch, and the next one written over it if it does not count.
    #[inline]
    fn inside_by<L: Copy + PartialEq>(&mut self, graph: &Graph<'_>, labels: &[L], node: NodeId) -> f64 {
        let own = labels[node as usize];
        let row = &graph.columns()[graph.entries(node)];
        if matches!(graph.weights(), Weights::Unit) {
            let n_inside: usize = row.iter().map(|&other| usize::from(labels[other as usize] == own)).sum();
            return n_inside as f64 - graph.self_loop(node);
        }
        let inside = with_room(&mut self.inside, row.len());
        let mut n_inside = 0;
        graph.for_each_neighbor(node, |neighbor, weight| {
            inside[n_inside] = weight;
            n_inside += usize::from(labels[neighbor as usize] == own);
        });
        inside[..n_inside].iter().sum()
    }

    #[inline]
    fn sum_outside_by<L: Copy + Into<ClusterId>>(
        &mut self,
        graph: &Graph<'_>,
        labels: &[L],
        node: NodeId,
    ) -> f64 {
        for &cluster in &self.adjacent[..self.n_adjacent] {
            self.weights[cluster as usize] = 0.0;
        }
        let own: ClusterId = labels[node as usize].into();
        let n_entries = graph.entries(node).len();
        let outside = with_room(&mut self.outside, n_entries);
        let mut n_outside = 0;
        graph.for_each_neighbor(node, |neighbor, weight| {
            let cluster: ClusterId = labels[neighbor as usize].into();
            outside[n_outside] = (cluster, weight);
            n_outside += usize::from(cluster != own);
        });
        let (weights, adjacent) = (&mut self.weights[..], with_room(&mut self.adjacent, n_outside));
        let (mut n_adjacent, mut largest) = (0, 0.0);
        for &(cluster, weight) in &outside[..n_outside] {
            let link = &mut weights[cluster as usize];
            adjacent[n_adjacent] = cluster;
            n_adjacent += usize::from(*link == 0.0);
            *link += weight;
            largest = if *link > largest { *link } else { largest };
        }
        self.n_adjacent = n_adjacent;
        largest
    }
}

/// Room for so many, and one that is written over.
#[inline]
fn with_room<T: Copy + Default>(space: &mut Vec<T>, n: usize) -> &mut [T] {
    if space.len() <= n {
        space.resize(2 * n + 1, T::default());
    }
    &mut space[..=n]
}
