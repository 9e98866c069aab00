//! How good a labelling is: its cut values on the graph, and its agreement with known labels.

mod agreement;
mod cut;

pub use agreement::{Agreement, Contingency, NmiNormalization};
pub use cut::{ClusterSummary, CutScore};

/// Label of a node in inputs and results: a cluster, or [`UNLABELLED`].
pub type Label = i32;

/// Label of a node that belongs to no cluster and is left out of all counts.
pub const UNLABELLED: Label = -1;
