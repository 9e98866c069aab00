//! Levels of the hierarchy: everybody joins its most similar neighbour.

use crate::disjoint::DisjointSets;
use crate::error::Result;
use crate::graph::{Graph, LEFT_OUT, NodeId, Triangle};
use crate::partition::ClusterId;
use crate::progress::Clock;

/// A level of the hierarchy, as a labelling of the original nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    /// Cluster of every node, numbered by first appearance; [`LEFT_OUT`] for isolated nodes.
    pub labels: Vec<ClusterId>,
    /// Number of clusters.
    pub n_clusters: usize,
}

impl Level {
    /// The level below the first: every node of positive degree by itself.
    pub fn singletons(graph: &Graph<'_>) -> Self {
        let mut n_clusters = 0;
        let labels = graph.degrees().iter().map(|&degree| {
            if degree == 0.0 {
                return LEFT_OUT;
            }
            n_clusters += 1;
            n_clusters - 1
        });
        Self { labels: labels.collect(), n_clusters: n_clusters as usize }
    }

    /// Similarity of the clusters, computed from the original graph: the mean weight over all pairs of
    /// nodes, not the mean of means that a chain of levels gives.
    ///
    /// # Errors
    /// When `graph` is not the one the level belongs to.
    pub fn similarity(&self, graph: &Graph<'_>) -> Result<Graph<'static>> {
        graph.contract_average(&self.labels, self.n_clusters)
    }

    /// Volume of every cluster in the original graph.
    pub fn volumes(&self, graph: &Graph<'_>) -> Vec<f64> {
        let mut volumes = vec![0.0; self.n_clusters];
        for (&label, &degree) in self.labels.iter().zip(graph.degrees()) {
            if let Some(volume) = volumes.get_mut(label as usize) {
                *volume += degree;
            }
        }
        volumes
    }
}

/// The levels from fine to coarse, each with fewer clusters than the one before. They end when one
/// cluster is left, or when nothing has a neighbour any more (a disconnected graph).
#[derive(Clone, Debug)]
pub struct FirstNeighborLevels<'g> {
    graph: &'g Graph<'g>,
    level: Level,
    /// Mean similarities between the clusters of `level`; none before the first level.
    similarity: Option<Triangle<f64>>,
}

impl<'g> FirstNeighborLevels<'g> {
    /// The levels of `graph`.
    pub fn new(graph: &'g Graph<'g>) -> Self {
        Self { graph, level: Level::singletons(graph), similarity: None }
    }
}

impl Iterator for FirstNeighborLevels<'_> {
    type Item = Level;

    fn next(&mut self) -> Option<Level> {
        self.next_by(&Clock::new()).ok().flatten()
    }
}

impl FirstNeighborLevels<'_> {
    /// The next level; stays at the level before when the clock says stop.
    pub(super) fn next_by(&mut self, clock: &Clock<'_>) -> Result<Option<Level>> {
        let joined = match &self.similarity {
            None => joined(&nearest_nodes(self.graph), |node| self.graph.degree(node) > 0.0),
            // Here a node without links is a whole component, and stays a cluster.
            Some(similarity) => joined(&nearest_clusters(similarity), |_| true),
        };
        if joined.n_clusters == self.level.n_clusters {
            return Ok(None);
        }
        let similarity = match &self.similarity {
            None => self.graph.averages(&joined.labels, joined.n_clusters, clock)?,
            Some(similarity) => similarity.averages(&joined.labels, joined.n_clusters, clock)?,
        };
        self.level = match &self.similarity {
            None => joined,
            Some(_) => {
                let label = |&label: &ClusterId| joined.labels.get(label as usize).copied();
                let labels = self.level.labels.iter().map(|of_node| label(of_node).unwrap_or(LEFT_OUT));
                Level { labels: labels.collect(), n_clusters: joined.n_clusters }
            }
        };
        self.similarity = Some(similarity);
        Ok(Some(self.level.clone()))
    }
}

/// The nearest neighbour of every node: the one with the largest weight, the lowest number among equals, the diagonal
/// not counted. A node without neighbours is its own.
fn nearest_nodes(graph: &Graph<'_>) -> Vec<NodeId> {
    let nearest = |node: NodeId| {
        let mut nearest = (0.0, node);
        graph.for_each_neighbor(node, |neighbor, weight| {
            if weight > nearest.0 {
                nearest = (weight, neighbor);
            }
        });
        nearest.1
    };
    (0..graph.n_nodes() as NodeId).map(nearest).collect()
}

/// As [`nearest_nodes`]: neighbours come up in ascending order here too.
fn nearest_clusters(similarity: &Triangle<f64>) -> Vec<NodeId> {
    let mut nearest: Vec<NodeId> = (0..similarity.n_rows() as NodeId).collect();
    let mut weights = vec![0.0; nearest.len()];
    similarity.for_each_edge(|from, to, weight| {
        for (cluster, other) in [(from, to), (to, from)] {
            if weight > weights[cluster as usize] {
                weights[cluster as usize] = weight;
                nearest[cluster as usize] = other;
            }
        }
    });
    nearest
}

/// The connected components of "i's nearest neighbour is j", among the nodes that `belongs` admits.
fn joined(nearest: &[NodeId], belongs: impl Fn(NodeId) -> bool) -> Level {
    let n_nodes = nearest.len();
    let mut sets = DisjointSets::new(n_nodes);
    for (node, &nearest) in nearest.iter().enumerate() {
        sets.join(node, nearest as usize);
    }
    let mut labels = vec![LEFT_OUT; n_nodes];
    let mut n_clusters = 0;
    for node in 0..n_nodes {
        if belongs(node as NodeId) {
            let first = sets.find(node);
            if first == node {
                labels[node] = n_clusters;
                n_clusters += 1;
            } else {
                labels[node] = labels[first];
            }
        }
    }
    Level { labels, n_clusters: n_clusters as usize }
}
