//! N2HI (the paper's section 4): a hierarchy of first-neighbour merges, cut at exactly k clusters.

mod first_neighbors;
mod similar_pairs;
mod dense_pairs;
mod greedy;
mod propagation;
mod quotient;
mod tree;

use std::ops::ControlFlow;

use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::partition::ClusterId;
use crate::progress::{Observer, Progress, Stage};

pub use first_neighbors::{FirstNeighborLevels, Level};
pub(crate) use greedy::{Groups, Merging};
pub(crate) use quotient::Quotient;
pub(crate) use similar_pairs::merge_in_order;
pub use tree::{Merge, MergeTree};

/// Labels to start from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitialLabels {
    /// Cluster of every node, numbered by first appearance among the nodes of positive degree. Isolated
    /// nodes are in cluster 0.
    pub labels: Vec<ClusterId>,
    /// The observer broke the work off: the labels are valid, but made in haste.
    pub cancelled: bool,
}

/// The labels N2HI gives a graph: exactly `n_clusters` clusters, each with a node of positive degree.
///
/// The level with exactly that many clusters is the answer; without one, the coarsest level with more is
/// merged further, the most similar pair first.
///
/// # Errors
/// When there are no clusters to make, or more than nodes of positive degree.
///
/// ```
/// use ncut::{Graph, hierarchy::n2hi, unobserved};
/// let graph = Graph::from_edges(4, [(0, 1, 5.0), (1, 2, 0.1), (2, 3, 5.0)])?;
/// assert_eq!(n2hi(&graph, 2, &mut unobserved)?.labels, [0, 0, 1, 1]);
/// # Ok::<(), ncut::Error>(())
/// ```
pub fn n2hi(graph: &Graph<'_>, n_clusters: usize, observe: Observer<'_>) -> Result<InitialLabels> {
    let n_connected = graph.n_nodes() - graph.n_isolated();
    if n_clusters == 0 || n_clusters > n_connected {
        return Err(Error::BadClusterCount { n_clusters, n_nodes: n_connected, nodes: "nodes with edges" });
    }
    graph.verify()?;
    let mut levels = FirstNeighborLevels::new(graph);
    let mut coarsest = Level::singletons(graph);
    let mut cancelled = false;
    while coarsest.n_clusters > n_clusters {
        if observe_levels(graph, &coarsest, observe).is_break() {
            cancelled = true;
            break;
        }
        match levels.next_observed(observe) {
            ControlFlow::Continue(Some(level)) if level.n_clusters >= n_clusters => coarsest = level,
            ControlFlow::Continue(_) => break,
            ControlFlow::Break(()) => {
                cancelled = true;
                break;
            }
        }
    }
    drop(levels);
    let merged_to = if coarsest.n_clusters == n_clusters {
        (0..n_clusters as u32).collect()
    } else {
        let volumes = coarsest.volumes(graph);
        let similarity = if cancelled {
            ControlFlow::Break(())
        } else {
            graph.contract_average_observed(&coarsest.labels, coarsest.n_clusters, observe)?
        };
        match similarity {
            ControlFlow::Continue(similarity) => {
                let merge = similar_pairs::merge(similarity, &volumes, n_clusters, observe);
                cancelled = merge.cancelled;
                merge.merged_to
            }
            ControlFlow::Break(()) => {
                cancelled = true;
                similar_pairs::merge_in_order(&volumes, n_clusters)
            }
        }
    };
    let labels = coarsest.labels.iter().map(|&label| merged_to.get(label as usize).copied().unwrap_or(0));
    Ok(InitialLabels { labels: labels.collect(), cancelled })
}

fn observe_levels(graph: &Graph<'_>, level: &Level, observe: Observer<'_>) -> ControlFlow<()> {
    let n_nodes = graph.n_nodes() as u64;
    let mut progress = Progress::new(Stage::Hierarchy, n_nodes);
    progress.done = n_nodes.saturating_sub(level.n_clusters as u64);
    observe(&progress)
}
