//! What is written of a graph whose nodes are listed: ids, clusters, edges.

use std::borrow::Cow;

use super::names::Names;
use crate::graph::{Graph, NodeId, Weights};
use crate::metrics::Label;

/// A graph to be written, with the ids and the clusters of its nodes where there are any.
#[derive(Clone, Copy)]
pub(super) struct Outline<'a> {
    pub(super) graph: &'a Graph<'a>,
    pub(super) names: Option<&'a Names>,
    pub(super) labels: Option<&'a [Label]>,
}

impl<'a> Outline<'a> {
    pub(super) fn nodes(&self) -> std::ops::Range<NodeId> {
        0..self.graph.n_nodes() as NodeId
    }

    /// The id of a node, or its number where nodes have none.
    pub(super) fn id(&self, node: NodeId) -> Cow<'a, str> {
        match self.names {
            Some(names) => names.get(node),
            None => Cow::Owned(node.to_string()),
        }
    }

    pub(super) fn label(&self, node: NodeId) -> Option<Label> {
        self.labels.map(|labels| labels[node as usize])
    }

    /// Whether edges differ in weight.
    pub(super) fn is_weighted(&self) -> bool {
        !matches!(self.graph.weights(), Weights::Unit)
    }
}
