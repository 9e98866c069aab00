//! The clusters of a labelling as graphs of their own.

use super::{Graph, Members, NodeId};
use crate::error::Result;

/// The clusters of a labelling, from which each can be taken as a graph.
pub(crate) struct Parts<'g> {
    graph: &'g Graph<'g>,
    labels: &'g [u32],
    members: Members,
    /// Place of every node among those of its cluster.
    place: Vec<NodeId>,
}

impl<'g> Parts<'g> {
    /// The clusters `0..n_clusters` of `labels`, none of them empty.
    pub(crate) fn new(graph: &'g Graph<'g>, labels: &'g [u32], n_clusters: usize) -> Result<Self> {
        let members = Members::new(labels, n_clusters, graph)?;
        let mut place = vec![0; graph.n_nodes()];
        for cluster in 0..n_clusters {
            for (number, &node) in members.of(cluster).iter().enumerate() {
                place[node as usize] = number as NodeId;
            }
        }
        Ok(Self { graph, labels, members, place })
    }

    /// The nodes of a cluster, ascending.
    pub(crate) fn nodes(&self, cluster: u32) -> &[NodeId] {
        self.members.of(cluster as usize)
    }

    /// The graph between the nodes of a cluster, without the rest.
    pub(crate) fn induced(&self, cluster: u32) -> Result<Graph<'static>> {
        let nodes = self.nodes(cluster);
        let number =
            |node: NodeId| (self.labels[node as usize] == cluster).then(|| self.place[node as usize]);
        let (offsets, columns, weights) = self.graph.rows_between(nodes, number);
        let graph = Graph::from_parts(offsets.into(), columns.into(), weights)?;
        let (sizes, apart) = self.graph.carried_to(nodes);
        Ok(Graph { sizes, apart, ..graph })
    }

    /// The graph between the nodes of a cluster, every node keeping the degree it has in the whole: the
    /// objective of a labelling is then what its clusters contribute to the objective of the whole graph.
    pub(crate) fn graph(&self, cluster: u32) -> Result<Graph<'static>> {
        let nodes = self.nodes(cluster);
        let number =
            |node: NodeId| (self.labels[node as usize] == cluster).then(|| self.place[node as usize]);
        let (offsets, columns, weights) = self.graph.rows_between(nodes, number);
        let degrees = nodes.iter().map(|&node| self.graph.degree(node)).collect();
        let graph = Graph::from_parts_with_degrees(offsets.into(), columns.into(), weights, degrees)?;
        let (sizes, apart) = self.graph.carried_to(nodes);
        Ok(Graph { sizes, apart, ..graph })
    }
}
