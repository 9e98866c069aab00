//! Agreement of two labellings: accuracy, normalised mutual information, adjusted Rand index.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use pathfinding::kuhn_munkres::kuhn_munkres;
use pathfinding::matrix::Matrix;

use super::{Label, UNLABELLED};
use crate::disjoint::DisjointSets;
use crate::error::{Error, Result};

/// Steps of the largest optimal assignment that is computed: rows x rows x columns, a few seconds.
const MAX_STEPS: f64 = 4e9;

/// What mutual information is divided by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum NmiNormalization {
    /// The larger entropy, as in the paper.
    #[default]
    Max,
    /// The mean entropy, as in scikit-learn.
    Arithmetic,
    /// The geometric mean of the entropies.
    Geometric,
    /// The smaller entropy.
    Min,
}

/// How well found labels agree with true ones.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Agreement {
    /// Share of nodes that agree under the best one-to-one naming of clusters; `None` when there are
    /// too many clusters to find it (thousands that overlap with thousands).
    pub accuracy: Option<f64>,
    /// Mutual information over the larger entropy, as in the paper.
    pub nmi: f64,
    /// Mutual information over the mean entropy, as in scikit-learn.
    pub nmi_arithmetic: f64,
    /// Adjusted Rand index.
    pub ari: f64,
    /// Nodes that were compared: those labelled on both sides.
    pub n_compared: usize,
}

impl Agreement {
    /// Compares two labellings of the same nodes; a node labelled -1 in either is skipped.
    ///
    /// # Errors
    /// When the two differ in length, or no node has a label in both.
    ///
    /// ```
    /// let agreement = ncut::metrics::Agreement::new(&[1, 1, 0, 0], &[0, 0, 1, 1])?;
    /// assert_eq!((agreement.accuracy, agreement.nmi, agreement.ari), (Some(1.0), 1.0, 1.0));
    /// # Ok::<(), ncut::Error>(())
    /// ```
    pub fn new(found: &[Label], truth: &[Label]) -> Result<Self> {
        let table = Contingency::new(found, truth)?;
        if table.n_nodes == 0 {
            return Err(Error::labels("no node is labelled on both sides, so there is nothing to compare"));
        }
        Ok(Self {
            accuracy: table.accuracy(),
            nmi: table.nmi(NmiNormalization::Max),
            nmi_arithmetic: table.nmi(NmiNormalization::Arithmetic),
            ari: table.ari(),
            n_compared: table.n_nodes as usize,
        })
    }
}

/// How many nodes carry each pair of labels; only pairs that occur are stored.
#[derive(Clone, Debug)]
pub struct Contingency {
    /// `(found, true) -> nodes`, both numbered from 0.
    cells: BTreeMap<(usize, usize), u64>,
    found_sizes: Vec<u64>,
    true_sizes: Vec<u64>,
    n_nodes: u64,
}

impl Contingency {
    /// Counts the pairs of labels; a node labelled -1 in either is skipped.
    ///
    /// # Errors
    /// When the two labellings differ in length, or a label is below -1.
    pub fn new(found: &[Label], truth: &[Label]) -> Result<Self> {
        if found.len() != truth.len() {
            return Err(Error::labels(format!(
                "{} labels cannot be compared with {} true ones",
                found.len(),
                truth.len()
            )));
        }
        if let Some(label) = found.iter().chain(truth).find(|&&label| label < UNLABELLED) {
            return Err(Error::labels(format!("a label is {label}; labels are 0 or above, -1 for none")));
        }
        let mut table =
            Self { cells: BTreeMap::new(), found_sizes: Vec::new(), true_sizes: Vec::new(), n_nodes: 0 };
        let (mut found_rows, mut true_rows) = (BTreeMap::new(), BTreeMap::new());
        for (&found, &truth) in found.iter().zip(truth) {
            if found == UNLABELLED || truth == UNLABELLED {
                continue;
            }
            let row = count(&mut found_rows, &mut table.found_sizes, found);
            let column = count(&mut true_rows, &mut table.true_sizes, truth);
            *table.cells.entry((row, column)).or_insert(0) += 1;
            table.n_nodes += 1;
        }
        Ok(table)
    }

    /// Share of nodes that agree when clusters are matched one to one in the best way; 1 when there is
    /// nothing to compare, `None` when the table is too large for an optimal assignment.
    pub fn accuracy(&self) -> Option<f64> {
        if self.n_nodes == 0 {
            return Some(1.0);
        }
        let agreeing: u64 = self.blocks().iter().map(Block::best_assignment).sum::<Option<u64>>()?;
        Some(agreeing as f64 / self.n_nodes as f64)
    }

    /// Normalised mutual information: 0 for independent labellings, 1 for equal ones.
    pub fn nmi(&self, normalization: NmiNormalization) -> f64 {
        if self.found_sizes.len() <= 1 && self.true_sizes.len() <= 1 {
            return 1.0;
        }
        let n = self.n_nodes as f64;
        let entropy = |sizes: &[u64]| -> f64 {
            sizes.iter().map(|&size| size as f64 / n).map(|share| -share * libm::log(share)).sum()
        };
        let information: f64 = self
            .cells
            .iter()
            .map(|(&(row, column), &nodes)| {
                let expected = self.found_sizes[row] as f64 * self.true_sizes[column] as f64 / n;
                nodes as f64 / n * libm::log(nodes as f64 / expected)
            })
            .sum();
        let (found, truth) = (entropy(&self.found_sizes), entropy(&self.true_sizes));
        let scale = match normalization {
            NmiNormalization::Max => found.max(truth),
            NmiNormalization::Arithmetic => f64::midpoint(found, truth),
            NmiNormalization::Geometric => (found * truth).sqrt(),
            NmiNormalization::Min => found.min(truth),
        };
        if scale > 0.0 { (information / scale).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Adjusted Rand index: 1 for equal labellings, about 0 for independent ones.
    pub fn ari(&self) -> f64 {
        // Ordered pairs of nodes that are together in both, in the first, in the second.
        let together = |sizes: &mut dyn Iterator<Item = u64>| -> f64 {
            sizes.map(|size| size as f64 * (size as f64 - 1.0)).sum()
        };
        let both = together(&mut self.cells.values().copied());
        let found = together(&mut self.found_sizes.iter().copied());
        let truth = together(&mut self.true_sizes.iter().copied());
        if both == found && both == truth {
            return 1.0;
        }
        let all = together(&mut std::iter::once(self.n_nodes));
        let expected = found * truth / all;
        (both - expected) / (f64::midpoint(found, truth) - expected)
    }

    /// The connected parts of the table. Labels of different parts never meet, so an optimal assignment
    /// of the whole is made of those of the parts.
    fn blocks(&self) -> Vec<Block> {
        let n_rows = self.found_sizes.len();
        let mut linked = DisjointSets::new(n_rows + self.true_sizes.len());
        for &(row, column) in self.cells.keys() {
            linked.join(row, n_rows + column);
        }
        let mut blocks: BTreeMap<usize, Block> = BTreeMap::new();
        for (&(row, column), &nodes) in &self.cells {
            blocks.entry(linked.find(row)).or_default().cells.push((row, column, nodes));
        }
        blocks.into_values().collect()
    }
}

/// A connected part of a contingency table.
#[derive(Default)]
struct Block {
    cells: Vec<(usize, usize, u64)>,
}

impl Block {
    /// Most nodes that a one-to-one matching of rows and columns can hold; `None` if out of reach.
    fn best_assignment(&self) -> Option<u64> {
        let mut rows: Vec<usize> = self.cells.iter().map(|cell| cell.0).collect();
        let mut columns: Vec<usize> = self.cells.iter().map(|cell| cell.1).collect();
        for numbers in [&mut rows, &mut columns] {
            numbers.sort_unstable();
            numbers.dedup();
        }
        // The solver wants no more rows than columns.
        let (short, long) = (rows.len().min(columns.len()), rows.len().max(columns.len()));
        if short as f64 * short as f64 * long as f64 > MAX_STEPS {
            return None;
        }
        let mut weights = Matrix::new(short, long, 0i64);
        for &(row, column, nodes) in &self.cells {
            let row = rows.binary_search(&row).expect("collected above");
            let column = columns.binary_search(&column).expect("collected above");
            let place = if rows.len() <= columns.len() { (row, column) } else { (column, row) };
            weights[place] = nodes as i64;
        }
        Some(kuhn_munkres(&weights).0 as u64)
    }
}

/// Number of `label`, given out by first appearance, counting one more node for it.
fn count(rows: &mut BTreeMap<Label, usize>, sizes: &mut Vec<u64>, label: Label) -> usize {
    let row = match rows.entry(label) {
        Entry::Occupied(row) => *row.get(),
        Entry::Vacant(row) => {
            sizes.push(0);
            *row.insert(sizes.len() - 1)
        }
    };
    sizes[row] += 1;
    row
}
