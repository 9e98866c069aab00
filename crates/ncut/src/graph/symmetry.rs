//! Both directions of an edge: comparing them and making them agree.

use super::csr::{Csr, zeros};
use super::{NodeId, Symmetrize, Weights};
use crate::error::{Error, Result};

/// Two directions of an edge that differ by no more than this, relatively, are rounding: averaged.
const ROUNDING: f64 = 1e-10;
/// The same for 32-bit weights, which tell numbers apart that differ by 6e-8.
const ROUNDING_F32: f64 = 1e-6;

/// How far a matrix is from its transpose.
enum Symmetry {
    Exact,
    Rounded,
}

impl<'a> Csr<'a> {
    /// The same rows if they are symmetric, or what `symmetrize` makes of them.
    pub(super) fn symmetrized(mut self, symmetrize: Symmetrize) -> Result<Self> {
        match (self.symmetry(), symmetrize) {
            (Ok(Symmetry::Exact), _) => Ok(self),
            (Ok(Symmetry::Rounded), Symmetrize::Refuse) => {
                self.average_in_place();
                Ok(self)
            }
            (Err(asymmetric), Symmetrize::Refuse) => Err(asymmetric),
            (_, Symmetrize::Average) => self.combined(f64::midpoint),
            (_, Symmetrize::Max) => self.combined(f64::max),
        }
    }

    /// Compares every entry with its mirror image.
    fn symmetry(&self) -> Result<Symmetry> {
        let mut exact = true;
        let rounding = if matches!(self.weights, Weights::F32(_)) { ROUNDING_F32 } else { ROUNDING };
        self.for_each_mirror(|row, column, entry, mirror| {
            let (weight, mirrored) = (self.weights.at(entry), self.weights.at(mirror));
            exact &= weight == mirrored;
            if (weight - mirrored).abs() > rounding * weight.max(mirrored) {
                return Err(asymmetric(column, row, mirrored, weight));
            }
            Ok(())
        })?;
        Ok(if exact { Symmetry::Exact } else { Symmetry::Rounded })
    }

    /// Calls `visit(row, column, entry, mirror)` for every stored entry below the diagonal, `mirror` being
    /// the entry at (column, row).
    ///
    /// Rows are visited in ascending order, so the mirrors in any one row come up from left to right: one
    /// cursor a row finds them all in O(entries).
    fn for_each_mirror(&self, mut visit: impl FnMut(usize, usize, usize, usize) -> Result<()>) -> Result<()> {
        let n_rows = self.n_rows();
        let mut cursor = zeros::<usize>(n_rows, n_rows, self.columns.len())?;
        for (row, cursor) in cursor.iter_mut().enumerate() {
            let entries = self.row(row);
            *cursor = entries.start + self.columns[entries].partition_point(|&c| c as usize <= row);
        }
        // The entry under the cursor of `row` is one that its mirror's row skipped.
        let unmatched = |row: usize, entry: usize| {
            asymmetric(row, self.columns[entry] as usize, self.weights.at(entry), 0.0)
        };
        for row in 0..n_rows {
            for entry in self.row(row) {
                let column = self.columns[entry] as usize;
                if column >= row {
                    break;
                }
                let mirror = cursor[column];
                let expected = self.row(column).end;
                match self.columns[..expected].get(mirror).map(|&c| c as usize) {
                    Some(found) if found == row => visit(row, column, entry, mirror)?,
                    Some(found) if found < row => return Err(unmatched(column, mirror)),
                    _ => return Err(unmatched(row, entry)),
                }
                cursor[column] += 1;
            }
        }
        match (0..n_rows).find(|&row| cursor[row] < self.row(row).end) {
            Some(row) => Err(unmatched(row, cursor[row])),
            None => Ok(()),
        }
    }

    /// Replaces both directions of every edge by their mean; the pattern is symmetric already.
    fn average_in_place(&mut self) {
        self.weights = match &self.weights {
            Weights::Unit => Weights::Unit,
            Weights::F32(weights) => self.averaged(weights, |mean| mean as f32).into(),
            Weights::F64(weights) => self.averaged(weights, |mean| mean).into(),
        };
    }

    fn averaged<W: Copy + Into<f64>>(&self, weights: &[W], round: fn(f64) -> W) -> Vec<W> {
        let mut averaged = weights.to_vec();
        self.for_each_mirror(|_, _, entry, mirror| {
            let mean = round(f64::midpoint(weights[entry].into(), weights[mirror].into()));
            (averaged[entry], averaged[mirror]) = (mean, mean);
            Ok(())
        })
        .expect("the pattern was found symmetric");
        averaged
    }

    /// The matrix of `combine(a_ij, a_ji)`, an entry that is not stored counting as 0.
    fn combined(self, combine: impl Fn(f64, f64) -> f64) -> Result<Csr<'static>> {
        let mirrored = self.transposed()?;
        let narrow = matches!(self.weights, Weights::F32(_));
        let mut offsets = Vec::with_capacity(self.offsets.len());
        offsets.push(0);
        let mut columns = Vec::new();
        let mut weights: Vec<f64> = Vec::new();
        for row in 0..self.n_rows() {
            let mut own = self.row(row).peekable();
            let mut other = mirrored.row(row).peekable();
            loop {
                let own_column = own.peek().map(|&entry| self.columns[entry]);
                let other_column = other.peek().map(|&entry| mirrored.columns[entry]);
                let Some(column) = own_column.into_iter().chain(other_column).min() else { break };
                let weight = own.next_if(|_| own_column == Some(column));
                let weight = weight.map_or(0.0, |entry| self.weights.at(entry));
                let mirror = other.next_if(|_| other_column == Some(column));
                let mirror = mirror.map_or(0.0, |entry| mirrored.weights.at(entry));
                let mut weight = combine(weight, mirror);
                if narrow {
                    weight = f64::from(weight as f32);
                }
                // Half of the smallest float is no weight any more.
                if weight > 0.0 {
                    columns.push(column);
                    weights.push(weight);
                }
            }
            offsets.push(columns.len() as u64);
        }
        let weights = match self.weights {
            Weights::F32(_) => Weights::F32(weights.into_iter().map(|weight| weight as f32).collect()),
            _ => Weights::F64(weights.into()),
        };
        Ok(Csr { offsets: offsets.into(), columns: columns.into(), weights })
    }

    fn transposed(&self) -> Result<Csr<'static>> {
        let (n_rows, n_entries) = (self.n_rows(), self.columns.len());
        let mut offsets = zeros::<u64>(self.offsets.len(), n_rows, n_entries)?;
        for &column in self.columns.iter() {
            offsets[column as usize + 1] += 1;
        }
        for row in 0..self.n_rows() {
            offsets[row + 1] += offsets[row];
        }
        let mut free = zeros::<u64>(offsets.len(), n_rows, n_entries)?;
        free.copy_from_slice(&offsets);
        let mut columns = zeros::<NodeId>(n_entries, n_rows, n_entries)?;
        let mut weights = zeros::<f64>(n_entries, n_rows, n_entries)?;
        for row in 0..self.n_rows() {
            for entry in self.row(row) {
                let slot = &mut free[self.columns[entry] as usize];
                columns[*slot as usize] = row as NodeId;
                weights[*slot as usize] = self.weights.at(entry);
                *slot += 1;
            }
        }
        Ok(Csr { offsets: offsets.into(), columns: columns.into(), weights: Weights::F64(weights.into()) })
    }
}

/// An entry that differs from its mirror image, named from its lower node.
fn asymmetric(from: usize, to: usize, weight: f64, mirror: f64) -> Error {
    let (from, to, weight, mirror) =
        if from <= to { (from, to, weight, mirror) } else { (to, from, mirror, weight) };
    Error::Asymmetric { from: from as u64, to: to as u64, weight, mirror }
}
