//! What is said about a number of clusters that was found out.

use ncut::FoundCount;
use serde::Serialize;

/// The report on a number of clusters.
#[derive(Serialize)]
pub(crate) struct CountReport {
    rule: &'static str,
    reason: String,
    /// Whether there was no time to compare everything.
    is_rough: bool,
}

impl CountReport {
    pub(crate) fn new(found: &FoundCount) -> Self {
        let FoundCount { rule, reason, stopped, .. } = *found;
        Self { rule: rule.name(), reason: reason.to_string(), is_rough: stopped.is_some() }
    }
}

/// A remark for the summary when the data show no clusters.
pub(crate) const NO_CLUSTERS: &str =
    "the data show no clusters: all nodes are in one; ask for a number with -k to cut it anyway";
