//! Whether labels obey, looked at independently of the search.

use super::Constraints;
use crate::error::{Error, Result};
use crate::graph::{Graph, NodeId};
use crate::metrics::{CutScore, Label, UNLABELLED};
use crate::objective::ObjectiveKind;

/// A largest share may be exceeded by so much, relatively, by rounding.
const ROUNDING: f64 = 1e-8;

/// What labels do not keep of what was asked for.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Violations {
    /// Nodes whose label is not the one that is known.
    pub fixed: Vec<NodeId>,
    /// Pairs that are to be together and are not.
    pub parted: Vec<(NodeId, NodeId)>,
    /// Pairs that are to be apart and are not.
    pub together: Vec<(NodeId, NodeId)>,
    /// Clusters above the largest share.
    pub too_large: Vec<Label>,
}

impl Violations {
    /// Whether everything is kept.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.fixed.len() + self.parted.len() + self.together.len() + self.too_large.len()
    }
}

impl Constraints {
    /// What `labels` do not keep. Nodes labelled -1 are in no cluster: a pair with one of them is as it should be, and so is a
    /// node with a known label only if it has it.
    ///
    /// # Errors
    /// When the constraints or the labels do not fit the graph.
    pub fn violations(&self, kind: ObjectiveKind, graph: &Graph<'_>, labels: &[Label]) -> Result<Violations> {
        self.check_shape(graph.n_nodes())?;
        let score = self.score(kind, graph, labels)?;
        Ok(self.violations_of(&score, labels))
    }

    fn violations_of(&self, score: &CutScore, labels: &[Label]) -> Violations {
        let fixed = (0..).zip(self.fixed.iter().flatten().zip(labels));
        let fixed = fixed.filter(|(_, (known, label))| **known != UNLABELLED && known != label);
        let label = |node: NodeId| labels[node as usize];
        let is_known = |&&(a, b): &&(NodeId, NodeId)| label(a) != UNLABELLED && label(b) != UNLABELLED;
        let parted = self.must_link.iter().filter(is_known).filter(|&&(a, b)| label(a) != label(b));
        let together = self.cannot_link.iter().filter(is_known).filter(|&&(a, b)| label(a) == label(b));
        let most = self.max_share.unwrap_or(f64::INFINITY) * (1.0 + ROUNDING);
        let too_large = score.clusters.iter().filter(|cluster| cluster.share > most);
        Violations {
            fixed: fixed.map(|(node, _)| node).collect(),
            parted: parted.copied().collect(),
            together: together.copied().collect(),
            too_large: too_large.map(|cluster| cluster.label).collect(),
        }
    }

    /// Refuses a result that does not keep what was asked for, saying what could not be had.
    pub(crate) fn check_kept(&self, score: &CutScore, labels: &[Label]) -> Result<()> {
        let violations = self.violations_of(score, labels);
        if violations.is_empty() {
            return Ok(());
        }
        let n_more = match violations.count() - 1 {
            0 => String::new(),
            more => format!(", nor {more} more wishes"),
        };
        let (what, nodes) = if let Some(&(a, b)) = violations.together.first() {
            ("{0} and {1} apart".to_owned(), vec![a, b])
        } else if let Some(&(a, b)) = violations.parted.first() {
            ("{0} and {1} together".to_owned(), vec![a, b])
        } else if let Some(&node) = violations.fixed.first() {
            ("the known label of {0}".to_owned(), vec![node])
        } else {
            let share = score.largest_share;
            (
                format!("every cluster below `max_share` (the largest has {share:.4} times the mean)"),
                Vec::new(),
            )
        };
        let problem = format!(
            "no clusters were found that keep {what}{n_more}; there may be none: leave some wishes out, ask for more clusters, or \
             a larger `max_share`"
        );
        Err(Error::Contradiction { problem, nodes })
    }
}
