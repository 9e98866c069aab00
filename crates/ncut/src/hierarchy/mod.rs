//! Ways to merge nodes into fewer and fewer: N2HI (the paper's section 4), a hierarchy of first-neighbour merges cut at
//! exactly k clusters; matching by the gain of the objective; label propagation; the merge tree of a result.

mod first_neighbors;
mod similarity;
mod dense_pairs;
mod sparse_pairs;
mod similar_pairs;
mod groups;
mod quotient;
mod propagation;
mod affinity;
mod matching;
mod tree;

use crate::error::{Error, Result, or_stopped};
use crate::graph::Graph;
use crate::partition::ClusterId;
use crate::progress::{Clock, Progress, Stage, StopReason, Stopped};

pub use first_neighbors::{FirstNeighborLevels, Level};
pub(crate) use groups::Groups;
pub(crate) use matching::Merging;
pub(crate) use quotient::Quotient;
pub(crate) use similar_pairs::merge_in_order;
pub use tree::{Merge, MergeTree};

/// Labels to start from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitialLabels {
    /// Cluster of every node, numbered by first appearance among the nodes of positive degree. Isolated
    /// nodes are in cluster 0.
    pub labels: Vec<ClusterId>,
    /// Why the work ended early: the labels are valid, but made in haste.
    pub stopped: Option<StopReason>,
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
/// use ncut::{Clock, Graph, hierarchy::n2hi};
/// let graph = Graph::from_edges(4, [(0, 1, 5.0), (1, 2, 0.1), (2, 3, 5.0)])?;
/// assert_eq!(n2hi(&graph, 2, &Clock::new())?.labels, [0, 0, 1, 1]);
/// # Ok::<(), ncut::Error>(())
/// ```
pub fn n2hi(graph: &Graph<'_>, n_clusters: usize, clock: &Clock<'_>) -> Result<InitialLabels> {
    let n_connected = graph.n_nodes() - graph.n_isolated();
    if n_clusters == 0 || n_clusters > n_connected {
        return Err(Error::BadClusterCount { n_clusters, n_nodes: n_connected, nodes: "nodes with edges" });
    }
    graph.verify()?;
    let mut levels = FirstNeighborLevels::new(graph);
    let mut coarsest = Level::singletons(graph);
    let mut stopped = None;
    while coarsest.n_clusters > n_clusters && stopped.is_none() {
        let next = match report_level(graph, &coarsest, clock) {
            Ok(()) => or_stopped(levels.next_by(clock))?,
            Err(stopped) => Err(stopped),
        };
        match next {
            Ok(Some(level)) if level.n_clusters >= n_clusters => coarsest = level,
            Ok(_) => break,
            Err(reason) => stopped = Some(reason),
        }
    }
    drop(levels);
    let merged_to = if coarsest.n_clusters == n_clusters {
        (0..n_clusters as u32).collect()
    } else {
        let volumes = coarsest.volumes(graph);
        let similarity = match stopped {
            Some(stopped) => Err(stopped),
            None => {
                or_stopped(graph.contract_average_observed(&coarsest.labels, coarsest.n_clusters, clock))?
            }
        };
        match similarity {
            Ok(similarity) => {
                let merge = similar_pairs::merge(similarity, &volumes, n_clusters, clock);
                stopped = merge.stopped;
                merge.merged_to
            }
            Err(reason) => {
                stopped = Some(reason);
                similar_pairs::merge_in_order(&volumes, n_clusters)
            }
        }
    };
    let labels = coarsest.labels.iter().map(|&label| merged_to.get(label as usize).copied().unwrap_or(0));
    Ok(InitialLabels { labels: labels.collect(), stopped: stopped.map(|Stopped(reason)| reason) })
}

fn report_level(graph: &Graph<'_>, level: &Level, clock: &Clock<'_>) -> Result<(), Stopped> {
    let n_nodes = graph.n_nodes() as u64;
    let mut progress = Progress::new(Stage::Hierarchy, n_nodes);
    progress.done = n_nodes.saturating_sub(level.n_clusters as u64);
    clock.report(&progress)
}
