//! What a result must obey: known labels, pairs together and apart, a largest size, weights of the nodes.
//!
//! [`Constraints`] say what is asked for. They are checked once, before any work ([`Steering`]): contradictions are refused,
//! naming the nodes of a chain of pairs. Nodes that belong together, by a pair or by the same known label, become one node for
//! the work, so that the search knows nothing of them; it only sees a graph some of whose nodes are never in one cluster
//! ([`Graph::apart`]), and a ceiling. What comes out is checked once more, from the graph ([`Constraints::check_kept`]).

mod contradictions;
mod kept;
mod steering;

use crate::error::{Error, Result};
use crate::graph::{Graph, NodeId};
use crate::metrics::{CutScore, Label, Measure, UNLABELLED};
use crate::objective::ObjectiveKind;

pub use kept::Violations;
pub(crate) use steering::Steering;

/// What a result must obey.
///
/// Known labels, pairs and the largest share are kept exactly, or the work ends in an error that says what could not be had.
/// The [smallest share](crate::Ncut::min_share) and [connected](crate::Ncut::connected) clusters yield to them.
///
/// ```
/// use ncut::{Constraints, Graph, Ncut};
/// let path = Graph::from_edges(6, [0, 1, 2, 3, 4].map(|node| (node, node + 1, 1.0)))?;
/// // Node 5 is in cluster 0, nodes 1 and 2 are apart.
/// let asked = Constraints::new().fixed(vec![-1, -1, -1, -1, -1, 0]).cannot_link([(1, 2)]);
/// let found = Ncut::new(2).constraints(asked).solve(&path)?;
/// assert_eq!(found.labels, [1, 1, 0, 0, 0, 0]);
/// # Ok::<(), ncut::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Constraints {
    pub(crate) fixed: Option<Vec<Label>>,
    pub(crate) must_link: Vec<(NodeId, NodeId)>,
    pub(crate) cannot_link: Vec<(NodeId, NodeId)>,
    pub(crate) max_share: Option<f64>,
    pub(crate) node_weights: Option<Vec<f64>>,
}

impl Constraints {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// Known labels, one a node, -1 for a node that is free: the cluster of a node with a label has that number.
    #[must_use]
    pub fn fixed(self, labels: Vec<Label>) -> Self {
        Self { fixed: Some(labels), ..self }
    }

    /// Pairs of nodes that are in the same cluster. Such a pair counts as a link where clusters are to be connected.
    #[must_use]
    pub fn must_link(self, pairs: impl IntoIterator<Item = (NodeId, NodeId)>) -> Self {
        Self { must_link: pairs.into_iter().collect(), ..self }
    }

    /// Pairs of nodes that are in different clusters.
    #[must_use]
    pub fn cannot_link(self, pairs: impl IntoIterator<Item = (NodeId, NodeId)>) -> Self {
        Self { cannot_link: pairs.into_iter().collect(), ..self }
    }

    /// Lets no cluster's volume (for Ratio-Cut: its size; with [weights of the nodes](Self::node_weights): its weight) exceed so
    /// many times the mean of the clusters.
    #[must_use]
    pub fn max_share(self, max_share: f64) -> Self {
        Self { max_share: Some(max_share), ..self }
    }

    /// Weights that shares are measured in, one a node, instead of degrees; for Ratio-Cut they are the sizes of the nodes.
    #[must_use]
    pub fn node_weights(self, weights: Vec<f64>) -> Self {
        Self { node_weights: Some(weights), ..self }
    }

    /// The known labels, if any.
    pub fn fixed_labels(&self) -> Option<&[Label]> {
        self.fixed.as_deref()
    }

    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether there are labels that would be wrong; weights of the nodes alone forbid nothing.
    pub(crate) fn forbids_something(&self) -> bool {
        self.fixed.is_some()
            || !self.must_link.is_empty()
            || !self.cannot_link.is_empty()
            || self.max_share.is_some()
    }

    /// The fewest clusters that known labels allow.
    pub(crate) fn min_clusters(&self) -> usize {
        let highest = self.fixed.iter().flatten().copied().max().unwrap_or(UNLABELLED);
        (highest + 1).max(1) as usize
    }

    /// Scores labels by an objective, in the weights of the nodes where there are any; pairs that must be together count as
    /// linked.
    ///
    /// # Errors
    /// As [`CutScore::by`], and when there is not one weight a node.
    pub fn score(&self, kind: ObjectiveKind, graph: &Graph<'_>, labels: &[Label]) -> Result<CutScore> {
        let weighed = self.weighed(graph)?;
        let measure = Measure { kind, is_weighed: self.node_weights.is_some(), together: &self.must_link };
        CutScore::measured(&measure, &weighed, labels)
    }

    /// The graph whose nodes have the given weights as sizes, where there are any.
    pub(crate) fn weighed<'g>(&self, graph: &'g Graph<'_>) -> Result<Graph<'g>> {
        let graph = graph.borrowed();
        match &self.node_weights {
            None => Ok(graph),
            Some(weights) => graph.with_weights(weights.clone()),
        }
    }

    /// What is asked of some of the nodes, `nodes[i]` becoming node `i`; the others get no label.
    ///
    /// # Errors
    /// When something is asked of a node that is left out.
    pub(crate) fn among(&self, nodes: &[NodeId], n_nodes: usize) -> Result<Self> {
        const OUTSIDE: NodeId = NodeId::MAX;
        self.check_shape(n_nodes)?;
        let mut number = vec![OUTSIDE; n_nodes];
        for (new, &old) in (0..).zip(nodes) {
            number[old as usize] = new;
        }
        let outside = |node: NodeId, what: &str| {
            let problem = format!(
                "node {{0}} {what}, but is outside the largest component, which alone is clustered; leave it out, or cluster \
                 all components"
            );
            Error::Contradiction { problem, nodes: vec![node] }
        };
        let known = |node: usize| self.fixed.as_ref().is_some_and(|fixed| fixed[node] != UNLABELLED);
        if let Some(node) = (0..n_nodes).find(|&node| number[node] == OUTSIDE && known(node)) {
            return Err(outside(node as NodeId, "has a known label"));
        }
        let pairs = |pairs: &[(NodeId, NodeId)]| -> Result<Vec<(NodeId, NodeId)>> {
            let inside = |node: NodeId| match number[node as usize] {
                OUTSIDE => Err(outside(node, "is in a pair")),
                number => Ok(number),
            };
            pairs.iter().map(|&(a, b)| Ok((inside(a)?, inside(b)?))).collect()
        };
        let gather = |values: &Vec<Label>| nodes.iter().map(|&node| values[node as usize]).collect();
        Ok(Self {
            fixed: self.fixed.as_ref().map(gather),
            must_link: pairs(&self.must_link)?,
            cannot_link: pairs(&self.cannot_link)?,
            max_share: self.max_share,
            node_weights: self
                .node_weights
                .as_ref()
                .map(|weights| nodes.iter().map(|&node| weights[node as usize]).collect()),
        })
    }

    /// Refuses what does not fit the nodes of a graph.
    pub(crate) fn check_shape(&self, n_nodes: usize) -> Result<()> {
        if let Some(fixed) = self.fixed.as_ref().filter(|fixed| fixed.len() != n_nodes) {
            return Err(Error::labels(format!(
                "{} known labels were given for {n_nodes} nodes",
                fixed.len()
            )));
        }
        let lowest = self.fixed.iter().flatten().enumerate().find(|(_, label)| **label < UNLABELLED);
        if let Some((node, label)) = lowest {
            let problem = format!(
                "node {{0}} has the known label {label}; labels are 0 or above, -1 for a node that is free"
            );
            return Err(Error::Contradiction { problem, nodes: vec![node as NodeId] });
        }
        for (name, pairs) in [("together", &self.must_link), ("apart", &self.cannot_link)] {
            if let Some(&(a, b)) = pairs.iter().find(|&&(a, b)| a.max(b) as usize >= n_nodes) {
                return Err(Error::labels(format!(
                    "nodes {a} and {b} are to be {name}, but the nodes of the graph are 0 to {}",
                    n_nodes.saturating_sub(1)
                )));
            }
        }
        if let Some(weights) = &self.node_weights {
            if weights.len() != n_nodes {
                return Err(Error::labels(format!(
                    "{} node weights were given for {n_nodes} nodes",
                    weights.len()
                )));
            }
            let is_bad = |weight: &f64| !(*weight >= 0.0 && weight.is_finite());
            if let Some(node) = weights.iter().position(is_bad) {
                let problem = format!(
                    "the weight of node {{0}} is {}; weights of nodes must be numbers of at least 0",
                    weights[node]
                );
                return Err(Error::Contradiction { problem, nodes: vec![node as NodeId] });
            }
            let total: f64 = weights.iter().sum();
            if !(total > 0.0 && total.is_finite()) {
                return Err(Error::labels(format!(
                    "the node weights add up to {total}; some must be above 0"
                )));
            }
        }
        Ok(())
    }
}
