//! The cut values of a labelling, computed afresh from the graph.

use std::collections::BTreeMap;

use super::{Label, UNLABELLED};
use crate::error::{Error, Result};
use crate::graph::{Graph, NodeId};
use crate::parallel::prelude::*;
use crate::partition::{Sum, density};

/// Nodes whose rows are looked at side by side before their sums are added up in order, and by how many at least.
const NODES_PER_PIECE: usize = 1 << 16;
const NODES_PER_TASK: usize = 1 << 10;

/// The cut values of a labelling.
#[derive(Clone, Debug, PartialEq)]
pub struct CutScore {
    /// `sum_c A_c / D_c`: larger is better, at most the number of clusters.
    pub objective: f64,
    /// Normalized Cut: the number of clusters less the objective; smaller is better.
    pub ncut: f64,
    /// The smallest cluster's volume over the mean volume of the clusters.
    pub smallest_share: f64,
    /// One row a cluster, by label.
    pub clusters: Vec<ClusterSummary>,
}

/// One cluster in numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClusterSummary {
    /// Its label.
    pub label: Label,
    /// Number of nodes.
    pub size: usize,
    /// Sum of the degrees of its nodes.
    pub volume: f64,
    /// Weight inside it, every edge in both directions.
    pub association: f64,
}

impl CutScore {
    /// Scores `labels` on `graph`; nodes labelled -1 are left out. O(|E|), and independent of the sums a
    /// solver keeps.
    ///
    /// # Errors
    /// When the number of labels is not that of the nodes, a label is below -1, or all are -1.
    ///
    /// ```
    /// use ncut::{Graph, metrics::CutScore};
    /// let graph = Graph::from_edges(4, [(0, 1, 5.0), (1, 2, 0.1), (2, 3, 5.0)])?;
    /// let score = CutScore::new(&graph, &[0, 0, 1, 1])?;
    /// assert!((score.ncut - 2.0 * 0.1 / 10.1).abs() < 1e-15);
    /// # Ok::<(), ncut::Error>(())
    /// ```
    pub fn new(graph: &Graph<'_>, labels: &[Label]) -> Result<Self> {
        graph.verify()?;
        if labels.len() != graph.n_nodes() {
            return Err(Error::labels(format!(
                "{} labels were given for {} nodes",
                labels.len(),
                graph.n_nodes()
            )));
        }
        let mut row_of = BTreeMap::new();
        for (node, &label) in labels.iter().enumerate() {
            if label < UNLABELLED {
                return Err(Error::labels(format!(
                    "node {node} has label {label}; labels are 0 or above, -1 for none"
                )));
            }
            if label != UNLABELLED {
                row_of.insert(label, 0);
            }
        }
        if row_of.is_empty() {
            return Err(Error::labels("all nodes are labelled -1, so there is nothing to score"));
        }
        for (row, place) in row_of.values_mut().enumerate() {
            *place = row;
        }

        let mut sizes = vec![0; row_of.len()];
        let mut volumes = vec![Sum::default(); row_of.len()];
        let mut associations = volumes.clone();
        let inside = |(node, &label): (usize, &Label)| {
            let mut inside = graph.self_loop(node as NodeId);
            graph.for_each_neighbor(node as NodeId, |neighbor, weight| {
                inside += if labels[neighbor as usize] == label { weight } else { 0.0 };
            });
            inside
        };
        for (piece, labels) in labels.chunks(NODES_PER_PIECE).enumerate() {
            let first = piece * NODES_PER_PIECE;
            let insides: Vec<f64> = if graph.n_nodes() <= NODES_PER_PIECE {
                labels.iter().enumerate().map(inside).collect()
            } else {
                let nodes = labels.par_iter().enumerate().with_min_len(NODES_PER_TASK);
                nodes.map(|(place, label)| inside((first + place, label))).collect()
            };
            for (place, (label, inside)) in labels.iter().zip(insides).enumerate() {
                let Some(&row) = row_of.get(label) else { continue };
                sizes[row] += 1;
                volumes[row].add(graph.degree((first + place) as NodeId));
                associations[row].add(inside);
            }
        }
        let clusters: Vec<_> = row_of
            .into_iter()
            .map(|(label, row)| ClusterSummary {
                label,
                size: sizes[row],
                volume: volumes[row].total(),
                association: associations[row].total(),
            })
            .collect();

        let objective = clusters.iter().map(|c| density(c.association, c.volume)).sum::<f64>();
        // Not `k - objective`, which would cancel the digits of a small cut.
        let ncut = clusters.iter().map(|c| 1.0 - density(c.association, c.volume)).sum();
        let mean = clusters.iter().map(|c| c.volume).sum::<f64>() / clusters.len() as f64;
        let smallest = clusters.iter().map(|c| c.volume).fold(f64::INFINITY, f64::min);
        let smallest_share = if mean > 0.0 { smallest / mean } else { 0.0 };
        Ok(Self { objective, ncut, smallest_share, clusters })
    }
}
