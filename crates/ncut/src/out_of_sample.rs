//! New nodes beside a clustering that stays as it is.

use std::borrow::Cow;

use crate::error::{Error, Result};
use crate::graph::NodeId;
use crate::metrics::{ClusterSummary, Label, UNLABELLED};
use crate::objective::{NormalizedCut, Objective, Sums};

/// New nodes and the weights of their links to the nodes of a graph: row `i` of a matrix (new x old) holds the
/// entries `offsets[i]..offsets[i + 1]` of `columns` and `weights`.
///
/// ```
/// use ncut::out_of_sample::OutOfSample;
/// use ncut::{CutScore, Graph};
/// let graph = Graph::from_edges(4, [(0, 1, 5.0), (1, 2, 0.1), (2, 3, 5.0)])?;
/// let labels = [0, 0, 1, 1];
/// let clusters = CutScore::new(&graph, &labels)?.clusters;
/// let new = OutOfSample::new(vec![0, 2, 3], vec![2, 3, 0], vec![1.0, 2.0, 1.0], 4)?;
/// assert_eq!(new.place(&labels, &clusters)?, [1, 0]);
/// # Ok::<(), ncut::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct OutOfSample<'a> {
    offsets: Cow<'a, [u64]>,
    columns: Cow<'a, [NodeId]>,
    weights: Cow<'a, [f64]>,
    n_old: usize,
}

impl<'a> OutOfSample<'a> {
    /// Links to `n_old` nodes.
    ///
    /// # Errors
    /// When the arrays do not fit together, a column is not below `n_old`, or a weight is negative, NaN or infinite.
    pub fn new(
        offsets: impl Into<Cow<'a, [u64]>>,
        columns: impl Into<Cow<'a, [NodeId]>>,
        weights: impl Into<Cow<'a, [f64]>>,
        n_old: usize,
    ) -> Result<Self> {
        let new = Self { offsets: offsets.into(), columns: columns.into(), weights: weights.into(), n_old };
        let ends_fit =
            new.offsets.first() == Some(&0) && new.offsets.last() == Some(&(new.columns.len() as u64));
        if !ends_fit || !new.offsets.is_sorted() {
            return Err(Error::shape(
                "the row offsets of the new nodes must ascend from 0 to the number of their links",
            ));
        }
        if new.columns.len() != new.weights.len() {
            return Err(Error::shape(format!(
                "there are {} column numbers but {} weights",
                new.columns.len(),
                new.weights.len()
            )));
        }
        for row in 0..new.count() {
            for entry in new.row(row) {
                let (from, to, weight) = (row as u64, u64::from(new.columns[entry]), new.weights[entry]);
                if to >= n_old as u64 {
                    return Err(Error::shape(format!(
                        "new node {from} is linked to node {to}, but the graph has {n_old} nodes"
                    )));
                }
                if !(0.0..f64::INFINITY).contains(&weight) {
                    return Err(Error::BadWeight { from, to, weight });
                }
            }
        }
        Ok(new)
    }

    /// Number of new nodes.
    pub fn count(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Where the rows begin and end.
    pub fn offsets(&self) -> &[u64] {
        &self.offsets
    }

    /// The old nodes that are linked, row after row.
    pub fn columns(&self) -> &[NodeId] {
        &self.columns
    }

    /// The weights of the links.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    fn row(&self, new: usize) -> std::ops::Range<usize> {
        self.offsets[new] as usize..self.offsets[new + 1] as usize
    }

    /// The cluster of every new node: the one that gains most, `(A_c + 2 w_c) / (D_c + d) - A_c / D_c` for a node of
    /// degree `d` with weight `w_c` to cluster `c`, of equals the lowest. The degrees of the old nodes stay as they
    /// are, and every new node is looked at by itself.
    ///
    /// A node without links joins the cluster of largest volume, as isolated nodes do; one whose links all go to nodes
    /// without a label gets none either.
    ///
    /// # Errors
    /// When `labels` is not about the old nodes, or names a cluster that `clusters` does not hold.
    pub fn place(&self, labels: &[Label], clusters: &[ClusterSummary]) -> Result<Vec<Label>> {
        self.place_by(NormalizedCut, labels, clusters)
    }

    /// As [`place`](Self::place), by the gain of another objective; every new node has the size 1.
    ///
    /// # Errors
    /// As [`place`](Self::place).
    pub fn place_by<O: Objective>(
        &self,
        objective: O,
        labels: &[Label],
        clusters: &[ClusterSummary],
    ) -> Result<Vec<Label>> {
        if labels.len() != self.n_old {
            let (n_labels, n_old) = (labels.len(), self.n_old);
            return Err(Error::labels(format!("{n_labels} labels were given for {n_old} nodes")));
        }
        let mut row_of = vec![None; clusters.iter().map(|c| c.label.max(0) as usize + 1).max().unwrap_or(0)];
        for (row, cluster) in clusters.iter().enumerate().filter(|(_, cluster)| cluster.label >= 0) {
            row_of[cluster.label as usize] = Some(row);
        }
        let row_of = |label: Label| row_of.get(usize::try_from(label).ok()?).copied().flatten();
        if let Some(&label) = labels.iter().find(|&&label| label != UNLABELLED && row_of(label).is_none()) {
            return Err(Error::labels(format!("there is no cluster {label}")));
        }
        let mut largest = UNLABELLED;
        let mut most = f64::NEG_INFINITY;
        for cluster in clusters {
            if cluster.volume > most {
                (largest, most) = (cluster.label, cluster.volume);
            }
        }
        let mut links = vec![0.0; clusters.len()];
        let place = |new: usize| {
            links.fill(0.0);
            let (mut degree, mut labelled) = (0.0, 0.0);
            for entry in self.row(new) {
                let weight = self.weights[entry];
                degree += weight;
                if let Some(row) = row_of(labels[self.columns[entry] as usize]) {
                    links[row] += weight;
                    labelled += weight;
                }
            }
            if labelled == 0.0 {
                return if degree == 0.0 { largest } else { UNLABELLED };
            }
            let (mut best, mut most) = (UNLABELLED, f64::NEG_INFINITY);
            for (cluster, &link) in clusters.iter().zip(&links) {
                let sums = cluster.sums();
                // Above 1 is no rounding here: the old nodes' degrees do not count the new links.
                let before = if sums.volume > 0.0 { objective.unclamped(&sums) } else { 0.0 };
                let node = Sums { association: 0.0, volume: degree, size: 1.0 };
                let gain = objective.unclamped(&sums.with(&node, link)) - before;
                if gain > most {
                    (best, most) = (cluster.label, gain);
                }
            }
            best
        };
        Ok((0..self.count()).map(place).collect())
    }
}
