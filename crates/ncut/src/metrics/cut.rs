//! The cut values of a labelling, computed afresh from the graph.

use std::collections::BTreeMap;

use super::{Label, UNLABELLED};
use crate::disjoint::DisjointSets;
use crate::error::{Error, Result};
use crate::graph::{Graph, NodeId};
use crate::objective::{Modularity, NormalizedCut, Objective, ObjectiveKind, Sums, with_objective};
use crate::parallel::prelude::*;
use crate::partition::Sum;

/// Nodes whose rows are looked at side by side before their sums are added up in order, and by how many at least.
const NODES_PER_PIECE: usize = 1 << 16;
const NODES_PER_TASK: usize = 1 << 10;

/// The cut values of a labelling.
#[derive(Clone, Debug, PartialEq)]
pub struct CutScore {
    /// What was asked for, larger is better: by default `sum_c A_c / D_c`, at most the number of clusters.
    pub objective: f64,
    /// Normalized Cut, `sum_c (D_c - A_c) / D_c`; smaller is better.
    pub ncut: f64,
    /// Ratio-Cut, `sum_c (D_c - A_c) / n_c`; smaller is better.
    pub ratio_cut: f64,
    /// Modularity at resolution 1; larger is better. Nodes that are left out do not count.
    pub modularity: f64,
    /// The smallest cluster's volume (for Ratio-Cut: its size) over the mean of the clusters.
    pub smallest_share: f64,
    /// The largest cluster's volume (for Ratio-Cut: its size) over the mean of the clusters.
    pub largest_share: f64,
    /// Clusters that are not connected, the components of the graph that they hold as a whole left aside.
    pub n_disconnected: usize,
    /// One row a cluster, by label.
    pub clusters: Vec<ClusterSummary>,
}

/// What labels are measured by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measure<'m> {
    pub(crate) kind: ObjectiveKind,
    /// Whether shares are measured in the sizes of the nodes, whatever the objective.
    pub(crate) is_weighed: bool,
    /// Pairs of nodes that count as linked where pieces of clusters are counted.
    pub(crate) together: &'m [(NodeId, NodeId)],
}

/// One cluster in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClusterSummary {
    /// Its label.
    pub label: Label,
    /// Number of nodes.
    pub size: usize,
    /// Sum of the weights of its nodes; the number of nodes where they have none.
    pub weight: f64,
    /// What shares are measured in, over the mean of the clusters.
    pub share: f64,
    /// Sum of the degrees of its nodes.
    pub volume: f64,
    /// Weight inside it, every edge in both directions.
    pub association: f64,
    /// The share of the volume that is inside: association over volume.
    pub inside: f64,
    /// Weight between the cluster and the rest over the volume of the smaller of the two; the volume of all clusters is that
    /// of the graph.
    pub conductance: f64,
    /// Connected pieces; components of the graph that it holds as a whole count as one together.
    pub n_pieces: usize,
}

impl ClusterSummary {
    /// What the objective is made of.
    pub fn sums(&self) -> Sums {
        Sums { association: self.association, volume: self.volume, size: self.weight }
    }
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
        Self::by(ObjectiveKind::NormalizedCut, graph, labels)
    }

    /// As [`new`](Self::new), by another objective.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn by(kind: ObjectiveKind, graph: &Graph<'_>, labels: &[Label]) -> Result<Self> {
        Self::measured(&Measure { kind, is_weighed: false, together: &[] }, graph, labels)
    }

    /// As [`by`](Self::by), by a measure.
    pub(crate) fn measured(measure: &Measure<'_>, graph: &Graph<'_>, labels: &[Label]) -> Result<Self> {
        let kind = measure.kind;
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
        let mut weights = vec![0.0; row_of.len()];
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
                weights[row] += graph.size((first + place) as NodeId);
                volumes[row].add(graph.degree((first + place) as NodeId));
                associations[row].add(inside);
            }
        }
        let sums: Vec<Sums> = (0..sizes.len())
            .map(|row| Sums {
                association: associations[row].total(),
                volume: volumes[row].total(),
                size: weights[row],
            })
            .collect();
        let total = sums.iter().map(|sums| sums.volume).sum();
        let row_or_none = |label: &Label| row_of.get(label).map_or(sums.len() as u32, |&row| row as u32);
        let rows: Vec<u32> = labels.iter().map(row_or_none).collect();
        let pieces = count_pieces(graph, &rows, sums.len(), measure.together);
        drop(rows);
        let (objective, mut shares) =
            with_objective!(kind, graph, |objective| total_and_shares(objective, &sums));
        if measure.is_weighed {
            shares = shares_of(&weights);
        }
        let clusters = row_of
            .into_iter()
            .map(|(label, row)| ClusterSummary {
                label,
                size: sizes[row],
                weight: weights[row],
                share: shares[row],
                volume: sums[row].volume,
                association: sums[row].association,
                inside: sums[row].inside(),
                conductance: sums[row].conductance(total),
                n_pieces: pieces[row].n_parts + usize::from(pieces[row].has_whole),
            })
            .collect();
        let ratio_cut = with_objective!(ObjectiveKind::RatioCut, graph, |objective| cut(objective, &sums));
        let mut score = Self {
            objective,
            ncut: cut(NormalizedCut, &sums),
            ratio_cut,
            modularity: 0.0,
            smallest_share: shares.iter().copied().fold(f64::INFINITY, f64::min),
            largest_share: shares.iter().copied().fold(0.0, f64::max),
            n_disconnected: pieces.iter().filter(|pieces| pieces.n_parts > 1).count(),
            clusters,
        };
        (_, score.modularity) = score.modularity_at(1.0);
        if kind == ObjectiveKind::Modularity {
            score.objective = score.modularity;
        }
        Ok(score)
    }

    /// Modularity of another resolution, and its value. The volume of the graph is that of all clusters.
    pub(crate) fn modularity_at(&self, resolution: f64) -> (Modularity, f64) {
        let total = self.clusters.iter().map(|cluster| cluster.volume).sum();
        let modularity = Modularity { total, resolution };
        (modularity, self.clusters.iter().map(|cluster| modularity.value(&cluster.sums())).sum())
    }
}

/// What a cluster is in.
#[derive(Clone, Copy, Default)]
struct PieceCount {
    /// Connected pieces that are no whole components of the graph.
    n_parts: usize,
    /// Whether it holds whole components.
    has_whole: bool,
}

/// The pieces of every cluster by row; nodes without a label have the row after all. Pairs that are `together` count as linked.
fn count_pieces(
    graph: &Graph<'_>,
    rows: &[u32],
    n_rows: usize,
    together: &[(NodeId, NodeId)],
) -> Vec<PieceCount> {
    let mut pieces = graph.pieces(rows, n_rows + 1);
    if !together.is_empty() {
        let mut sets = DisjointSets::new(pieces.count);
        for &(a, b) in together.iter().filter(|&&(a, b)| rows[a as usize] == rows[b as usize]) {
            sets.join(pieces.of_node[a as usize] as usize, pieces.of_node[b as usize] as usize);
        }
        let (of_piece, count) = sets.numbered();
        pieces.of_node.iter_mut().for_each(|piece| *piece = of_piece[*piece as usize]);
        pieces.count = count;
    }
    let mut row_of = vec![0; pieces.count];
    let mut is_whole = vec![true; pieces.count];
    for (node, (&piece, &row)) in (0..).zip(pieces.of_node.iter().zip(rows)) {
        row_of[piece as usize] = row as usize;
        if is_whole[piece as usize] {
            let row_of_node = &graph.columns()[graph.entries(node)];
            is_whole[piece as usize] = row_of_node.iter().all(|&neighbor| rows[neighbor as usize] == row);
        }
    }
    let mut counts = vec![PieceCount::default(); n_rows + 1];
    for (row, is_whole) in row_of.into_iter().zip(is_whole) {
        counts[row].has_whole |= is_whole;
        counts[row].n_parts += usize::from(!is_whole);
    }
    counts.truncate(n_rows);
    counts
}

/// What is minimised. Not what the objective of all lacks, which would cancel the digits of a small cut.
fn cut<O: Objective>(objective: O, sums: &[Sums]) -> f64 {
    sums.iter().map(|sums| objective.cut(objective.value(sums), 1)).sum()
}

/// The objective, and the mass of every cluster over the mean.
fn total_and_shares<O: Objective>(objective: O, sums: &[Sums]) -> (f64, Vec<f64>) {
    let masses: Vec<f64> = sums.iter().map(|sums| objective.mass(sums)).collect();
    (sums.iter().map(|sums| objective.value(sums)).sum(), shares_of(&masses))
}

fn shares_of(masses: &[f64]) -> Vec<f64> {
    let mean = masses.iter().sum::<f64>() / masses.len() as f64;
    masses.iter().map(|mass| if mean > 0.0 { mass / mean } else { 0.0 }).collect()
}
