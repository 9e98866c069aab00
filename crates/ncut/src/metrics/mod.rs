//! How good a labelling is: its cut values on the graph, and its agreement with known labels.

mod agreement;
mod cut;

use std::collections::HashMap;

pub use agreement::{Agreement, Contingency, NmiNormalization};
pub(crate) use cut::Measure;
pub use cut::{ClusterSummary, CutScore};

/// Label of a node in inputs and results: a cluster, or [`UNLABELLED`].
pub type Label = i32;

/// Label of a node that belongs to no cluster and is left out of all counts.
pub const UNLABELLED: Label = -1;

/// Renames the clusters so that they appear in ascending order; -1 stays.
pub(crate) fn number_by_appearance(labels: &mut [Label]) {
    let mut names: HashMap<Label, Label> = HashMap::new();
    for label in labels.iter_mut().filter(|label| **label != UNLABELLED) {
        let next = names.len() as Label;
        *label = *names.entry(*label).or_insert(next);
    }
}
