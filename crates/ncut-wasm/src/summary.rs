//! What is told about a result, as JSON under the names of the command line's report.

use ncut::spectral::UpperBound;
use ncut::{Agreement, Clustering, Graph};
use serde::Serialize;

use crate::settings::Settings;

#[derive(Serialize)]
pub(crate) struct Summary {
    n_nodes: usize,
    n_edges: usize,
    n_components: usize,
    n_isolated: usize,
    preset: &'static str,
    objective_name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    resolution: Option<f64>,
    min_share: f64,
    connected: bool,
    seed: u64,
    n_clusters: usize,
    objective: f64,
    ncut: f64,
    ratio_cut: f64,
    modularity: f64,
    smallest_share: f64,
    largest_share: f64,
    n_disconnected_clusters: usize,
    /// The clusters' numbers of nodes.
    sizes: Vec<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper_bound: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    accuracy: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nmi: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ari: Option<f64>,
    /// Why so many clusters, where the number was to be found out.
    #[serde(skip_serializing_if = "Option::is_none")]
    count_reason: Option<String>,
    stop_reason: &'static str,
    /// What was seen in the file and should be known: a header that was taken for one, columns that were not read.
    notes: Vec<String>,
}

impl Summary {
    pub(crate) fn new(
        graph: &Graph<'_>,
        settings: &Settings,
        found: &Clustering,
        bound: Option<UpperBound>,
        agreement: Option<Agreement>,
        notes: Vec<String>,
    ) -> Self {
        Self {
            n_nodes: graph.n_nodes(),
            n_edges: graph.n_edges(),
            n_components: found.n_components,
            n_isolated: graph.n_isolated(),
            preset: settings.preset.preset().name(),
            objective_name: found.objective_kind.name(),
            resolution: found.resolution,
            min_share: settings.min_share(),
            connected: settings.is_connected(),
            seed: settings.seed,
            n_clusters: found.clusters.len(),
            objective: found.objective,
            ncut: found.ncut,
            ratio_cut: found.ratio_cut,
            modularity: found.modularity,
            smallest_share: found.smallest_share,
            largest_share: found.largest_share,
            n_disconnected_clusters: found.n_disconnected,
            sizes: found.clusters.iter().map(|cluster| cluster.size).collect(),
            upper_bound: bound.map(|bound| bound.value),
            accuracy: agreement.and_then(|agreement| agreement.accuracy),
            nmi: agreement.map(|agreement| agreement.nmi),
            ari: agreement.map(|agreement| agreement.ari),
            count_reason: found.count.as_ref().map(|count| count.reason.to_string()),
            stop_reason: found.stop_reason.name(),
            notes,
        }
    }
}
