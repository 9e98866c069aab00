//! Rows of a matrix on their way to becoming a graph, and how they are checked.

use std::ops::Range;

use super::{Array, NodeId, Weights};
use crate::error::{Error, Result};

/// Rows of a matrix on their way to becoming a graph.
pub(crate) struct Csr<'a> {
    pub(crate) offsets: Array<'a, u64>,
    pub(crate) columns: Array<'a, NodeId>,
    pub(crate) weights: Weights<'a>,
}

impl Csr<'_> {
    pub(super) fn n_rows(&self) -> usize {
        self.offsets.len() - 1
    }

    pub(super) fn row(&self, row: usize) -> Range<usize> {
        self.offsets[row] as usize..self.offsets[row + 1] as usize
    }

    pub(super) fn check_structure(&self) -> Result<()> {
        let n_entries = self.columns.len() as u64;
        let Some(n_rows) = self.offsets.len().checked_sub(1) else {
            return Err(Error::shape("the row offsets are empty; a matrix of n rows has n + 1 of them"));
        };
        if n_rows == 0 {
            return Err(Error::EmptyGraph);
        }
        if n_rows > NodeId::MAX as usize {
            return Err(Error::TooManyNodes { n_nodes: n_rows as u64 });
        }
        if self.offsets[0] != 0 {
            return Err(Error::shape(format!("the row offsets start at {} instead of 0", self.offsets[0])));
        }
        if let Some(row) = self.offsets.windows(2).position(|pair| pair[0] > pair[1]) {
            return Err(Error::shape(format!(
                "the row offsets fall from {} to {} at row {row}; they must not decrease",
                self.offsets[row],
                self.offsets[row + 1]
            )));
        }
        if self.offsets[n_rows] != n_entries {
            return Err(Error::shape(format!(
                "the row offsets end at {}, but there are {n_entries} column numbers",
                self.offsets[n_rows]
            )));
        }
        if let Some(n_weights) = self.weights.len().filter(|&len| len as u64 != n_entries) {
            return Err(Error::shape(format!(
                "there are {n_entries} column numbers but {n_weights} weights"
            )));
        }
        if let Some(entry) = self.columns.iter().position(|&column| column as usize >= n_rows) {
            let row = self.offsets.partition_point(|&offset| offset <= entry as u64) - 1;
            return Err(Error::NodeOutOfRange {
                from: row as u64,
                to: self.columns[entry].into(),
                n_nodes: n_rows,
            });
        }
        Ok(())
    }

    pub(super) fn check_weights(&self) -> Result<()> {
        if self.weights.len().is_some() {
            for row in 0..self.n_rows() {
                for entry in self.row(row) {
                    check_weight(row as NodeId, self.columns[entry], self.weights.at(entry))?;
                }
            }
        }
        Ok(())
    }

    /// Rows strictly ascending and no stored zero.
    pub(super) fn is_tidy(&self) -> bool {
        let no_zero = match &self.weights {
            Weights::Unit => true,
            Weights::F32(weights) => weights.iter().all(|&weight| weight != 0.0),
            Weights::F64(weights) => weights.iter().all(|&weight| weight != 0.0),
        };
        no_zero && (0..self.n_rows()).all(|row| ascends(&self.columns[self.row(row)]))
    }
}

pub(super) fn check_weight(from: NodeId, to: NodeId, weight: f64) -> Result<()> {
    if (0.0..f64::INFINITY).contains(&weight) {
        Ok(())
    } else {
        Err(Error::BadWeight { from: from.into(), to: to.into(), weight })
    }
}

/// A zeroed array for a graph of `n_nodes` and `n_entries`, or a clear error where there is no memory for it.
pub(super) fn zeros<T: Copy + Default>(len: usize, n_nodes: usize, n_entries: usize) -> Result<Vec<T>> {
    let mut trial = Vec::<T>::new();
    trial.try_reserve_exact(len).map_err(|_| Error::OutOfMemory { n_nodes, n_entries })?;
    // Not to be left out as useless.
    drop(std::hint::black_box(trial));
    // Zeros that the system gives: pages are there when they are first touched, by whichever thread does so.
    Ok(vec![T::default(); len])
}

pub(super) fn ascends(row: &[NodeId]) -> bool {
    row.windows(2).all(|pair| pair[0] < pair[1])
}
