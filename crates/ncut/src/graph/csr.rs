//! Rows of a matrix on their way to becoming a graph: placing, checking, tidying.

use std::ops::Range;

use super::{Array, NodeId, Weights};
use crate::error::{Error, Result};

/// Rows of at most so many entries are short.
pub(super) const SHORT_ROW: usize = 64;

/// Rows of a matrix on their way to becoming a graph.
pub(crate) struct Csr<'a> {
    pub(crate) offsets: Array<'a, u64>,
    pub(crate) columns: Array<'a, NodeId>,
    pub(crate) weights: Weights<'a>,
}

/// Whether an entry stands for its mirror image too.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Mirror {
    Yes,
    No,
}

impl Csr<'static> {
    /// Rows from entries in any order, by counting sort.
    pub(super) fn from_entries(
        n_rows: usize,
        entries: &[(NodeId, NodeId)],
        weights: &Weights<'_>,
        mirror: Mirror,
    ) -> Result<Self> {
        let mirrored = |row, column| mirror == Mirror::Yes && row != column;
        let mut offsets = zeros::<u64>(n_rows + 1, n_rows, entries.len())?;
        for &(row, column) in entries {
            offsets[row as usize + 1] += 1;
            if mirrored(row, column) {
                offsets[column as usize + 1] += 1;
            }
        }
        for row in 0..n_rows {
            offsets[row + 1] += offsets[row];
        }
        let n_entries = offsets[n_rows] as usize;
        let mut free = zeros::<u64>(n_rows, n_rows, n_entries)?;
        free.copy_from_slice(&offsets[..n_rows]);
        // Where each entry goes, and its mirror image.
        let mut columns = zeros::<NodeId>(n_entries, n_rows, n_entries)?;
        let mut places = |put: &mut dyn FnMut(usize, usize)| {
            for (entry, &(row, column)) in entries.iter().enumerate() {
                let mut place = |row: NodeId, column: NodeId| {
                    let slot = free[row as usize] as usize;
                    free[row as usize] += 1;
                    columns[slot] = column;
                    put(entry, slot);
                };
                place(row, column);
                if mirrored(row, column) {
                    place(column, row);
                }
            }
        };
        let weights = match weights {
            Weights::Unit => {
                places(&mut |_, _| {});
                Weights::Unit
            }
            Weights::F32(given) => {
                let mut placed = zeros::<f32>(n_entries, n_rows, n_entries)?;
                places(&mut |entry, slot| placed[slot] = given[entry]);
                Weights::F32(placed.into())
            }
            Weights::F64(given) => {
                let mut placed = zeros::<f64>(n_entries, n_rows, n_entries)?;
                places(&mut |entry, slot| placed[slot] = given[entry]);
                Weights::F64(placed.into())
            }
        };
        Ok(Self { offsets: offsets.into(), columns: columns.into(), weights })
    }
}

impl<'a> Csr<'a> {
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

    /// Sorts the rows, adds up duplicates in the order they were given, drops zeros.
    pub(super) fn tidy(&mut self) -> Result<()> {
        if let Weights::Unit = self.weights {
            let mut duplicates = false;
            let columns = self.columns.to_mut();
            for pair in self.offsets.windows(2) {
                let row = &mut columns[pair[0] as usize..pair[1] as usize];
                row.sort_unstable();
                duplicates |= !ascends(row);
            }
            if !duplicates {
                return Ok(());
            }
            let mut ones = zeros::<f64>(columns.len(), self.offsets.len() - 1, columns.len())?;
            ones.fill(1.0);
            self.weights = Weights::F64(ones.into());
        }
        let offsets = self.offsets.to_mut();
        let columns = self.columns.to_mut();
        match &mut self.weights {
            Weights::Unit => {}
            Weights::F32(weights) => merge_rows(offsets, columns, weights.to_mut(), |sum| sum as f32),
            Weights::F64(weights) => merge_rows(offsets, columns, weights.to_mut(), |sum| sum),
        }
        Ok(())
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

/// Sorts every row by column, stably, adds up equal columns and drops zeros, packing rows to the front. Sums
/// are 64-bit and rounded once, so that both directions of an edge come out alike.
fn merge_rows<W>(offsets: &mut [u64], columns: &mut Vec<NodeId>, weights: &mut Vec<W>, round: fn(f64) -> W)
where
    W: Copy + Into<f64>,
{
    let mut row: Vec<(NodeId, f64)> = Vec::new();
    let mut end = 0;
    let mut start = 0;
    for offset in &mut offsets[1..] {
        let entries = start..*offset as usize;
        start = *offset as usize;
        row.clear();
        row.extend(entries.clone().map(|entry| (columns[entry], weights[entry].into())));
        row.sort_by_key(|&(column, _)| column);
        row.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        row.retain(|&(_, weight)| weight != 0.0);
        for &(column, weight) in &row {
            columns[end] = column;
            weights[end] = round(weight);
            end += 1;
        }
        *offset = end as u64;
    }
    columns.truncate(end);
    weights.truncate(end);
}
