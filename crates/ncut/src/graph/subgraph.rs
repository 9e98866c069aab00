//! Some nodes of a graph as a graph of their own, and the way back.

use super::{Graph, NodeId};
use crate::error::Result;

/// A part of a graph, or all of it: what is computed for the part is [scattered](Self::scatter) back to the whole.
pub(crate) struct Subgraph<'g> {
    part: Part<'g>,
    n_nodes: usize,
}

enum Part<'g> {
    Whole(&'g Graph<'g>),
    /// The graph between some nodes, and these, ascending.
    Between(Box<Graph<'g>>, Vec<NodeId>),
}

impl<'g> Subgraph<'g> {
    /// All of a graph.
    pub(crate) fn whole(graph: &'g Graph<'g>) -> Self {
        Self { part: Part::Whole(graph), n_nodes: graph.n_nodes() }
    }

    /// The graph between the given nodes, ascending. Where that is all of them nothing is copied.
    pub(crate) fn between(graph: &'g Graph<'g>, nodes: Vec<NodeId>) -> Result<Self> {
        let n_nodes = graph.n_nodes();
        let part = match nodes.len() == n_nodes {
            true => Part::Whole(graph),
            false => Part::Between(Box::new(graph.induced(&nodes)?), nodes),
        };
        Ok(Self { part, n_nodes })
    }

    /// The graph between the nodes of positive degree; if there are none, all of it.
    pub(crate) fn without_isolated(graph: &'g Graph<'g>) -> Result<Self> {
        let (n_nodes, n_isolated) = (graph.n_nodes(), graph.n_isolated());
        let part = match n_isolated == 0 || n_isolated == n_nodes {
            true => Part::Whole(graph),
            false => Part::Between(Box::new(graph.without_isolated()?), graph.connected_nodes()),
        };
        Ok(Self { part, n_nodes })
    }

    /// The largest connected component, of several the one with the lowest node.
    pub(crate) fn largest_component(graph: &'g Graph<'g>) -> Result<Self> {
        Self::between(graph, graph.components().largest())
    }

    pub(crate) fn graph(&self) -> &Graph<'g> {
        match &self.part {
            Part::Whole(graph) => graph,
            Part::Between(graph, _) => graph,
        }
    }

    /// The nodes of the part, ascending; `None` where it is all of the graph.
    pub(crate) fn nodes(&self) -> Option<&[NodeId]> {
        match &self.part {
            Part::Whole(_) => None,
            Part::Between(_, nodes) => Some(nodes),
        }
    }

    /// The node of the whole graph that a node of the part is.
    pub(crate) fn original(&self, node: NodeId) -> NodeId {
        self.nodes().map_or(node, |nodes| nodes[node as usize])
    }

    /// Values of the nodes of the whole graph as values of the nodes of the part.
    pub(crate) fn gather<T: Copy>(&self, values: &[T]) -> Vec<T> {
        match &self.part {
            Part::Whole(_) => values.to_vec(),
            Part::Between(_, nodes) => nodes.iter().map(|&node| values[node as usize]).collect(),
        }
    }

    /// Values of the nodes of the part as values of the nodes of the whole graph, the others getting `other`.
    pub(crate) fn scatter<T: Copy>(&self, values: Vec<T>, other: T) -> Vec<T> {
        match &self.part {
            Part::Whole(_) => values,
            Part::Between(_, nodes) => {
                let mut all = vec![other; self.n_nodes];
                for (&node, &value) in nodes.iter().zip(&values) {
                    all[node as usize] = value;
                }
                all
            }
        }
    }
}
