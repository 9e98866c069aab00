//! A few vectors side by side, one row a node: what the dense kernels work on.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par, Side};
use rayon::prelude::*;

use crate::random::Random;

/// Rows that one task handles: sums are made of such pieces whatever the number of threads.
pub(super) const ROWS: usize = 4096;

/// Vectors of `n_rows` entries, row after row.
#[derive(Clone)]
pub(super) struct Block {
    pub(super) n_columns: usize,
    pub(super) values: Vec<f64>,
}

impl Block {
    pub(super) fn zeros(n_rows: usize, n_columns: usize) -> Self {
        Self { n_columns, values: vec![0.0; n_rows * n_columns] }
    }

    /// Normal random numbers.
    pub(super) fn random(n_rows: usize, n_columns: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        Self { n_columns, values: (0..n_rows * n_columns).map(|_| random.normal()).collect() }
    }

    pub(super) fn n_rows(&self) -> usize {
        self.values.len().checked_div(self.n_columns).unwrap_or(0)
    }

    pub(super) fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.n_columns..][..self.n_columns]
    }

    /// `self^T other`.
    pub(super) fn products(&self, other: &Self) -> Mat<f64> {
        let mut total = Mat::zeros(self.n_columns, other.n_columns);
        if self.n_columns == 0 || other.n_columns == 0 {
            return total;
        }
        let pieces: Vec<Mat<f64>> = self
            .values
            .par_chunks(ROWS * self.n_columns)
            .zip(other.values.par_chunks(ROWS * other.n_columns))
            .map(|(a, b)| {
                let mut piece = Mat::zeros(self.n_columns, other.n_columns);
                let (a, b) = (rows_of(a, self.n_columns), rows_of(b, other.n_columns));
                matmul(piece.as_mut(), Accum::Replace, a.transpose(), b, 1.0, Par::Seq);
                piece
            })
            .collect();
        for piece in pieces {
            total += piece;
        }
        total
    }

    /// `self matrix`.
    pub(super) fn times(&self, matrix: MatRef<'_, f64>) -> Self {
        let mut product = Self::zeros(self.n_rows(), matrix.ncols());
        self.add_product(&mut product, matrix, Accum::Replace, 1.0);
        product
    }

    /// Subtracts the part that lies in the span of `others`, which are orthonormal.
    pub(super) fn subtract_span(&mut self, others: &Self) {
        if others.n_columns > 0 && self.n_columns > 0 {
            let shares = others.products(self);
            others.add_product(self, shares.as_ref(), Accum::Add, -1.0);
        }
    }

    fn add_product(&self, sum: &mut Self, matrix: MatRef<'_, f64>, how: Accum, factor: f64) {
        let (own, theirs) = (self.n_columns, sum.n_columns);
        if own == 0 || theirs == 0 {
            return;
        }
        sum.values.par_chunks_mut(ROWS * theirs).zip(self.values.par_chunks(ROWS * own)).for_each(
            |(sum, rows)| {
                let sum = MatMut::from_row_major_slice_mut(sum, rows.len() / own, theirs);
                matmul(sum, how, rows_of(rows, own), matrix, factor, Par::Seq);
            },
        );
    }

    /// Makes the columns orthonormal, keeping their span; directions that rounding has swallowed are replaced by
    /// random ones, made orthogonal to `others` too.
    pub(super) fn orthonormalize(&mut self, others: &Self, seed: u64) {
        // Twice: the first pass leaves an error of the condition of the vectors times rounding.
        for pass in 0..3 {
            if self.whiten(seed.wrapping_add(pass)) && pass > 0 {
                return;
            }
            self.subtract_span(others);
        }
    }

    /// One pass; whether nothing was swallowed.
    fn whiten(&mut self, seed: u64) -> bool {
        const SWALLOWED: f64 = 1e-13;
        let n_columns = self.n_columns;
        let gram = self.products(self);
        let scales: Vec<f64> = (0..n_columns)
            .map(|c| if gram[(c, c)] > 0.0 { 1.0 / gram[(c, c)].sqrt() } else { 0.0 })
            .collect();
        let scaled = Mat::from_fn(n_columns, n_columns, |r, c| gram[(r, c)] * scales[r] * scales[c]);
        let Ok(eigen) = scaled.self_adjoint_eigen(Side::Lower) else {
            *self = Self::random(self.n_rows(), n_columns, seed);
            return false;
        };
        let (values, vectors) = (eigen.S().column_vector(), eigen.U());
        let largest = (0..n_columns).map(|c| values[c]).fold(0.0, f64::max);
        let is_swallowed = |c: usize| values[c] <= SWALLOWED * largest || values[c].is_nan();
        let turn = Mat::from_fn(n_columns, n_columns, |r, c| {
            if is_swallowed(c) { 0.0 } else { scales[r] * vectors[(r, c)] / values[c].sqrt() }
        });
        *self = self.times(turn.as_ref());
        let lost: Vec<usize> = (0..n_columns).filter(|&c| is_swallowed(c)).collect();
        if !lost.is_empty() {
            let mut random = Random::new(seed);
            let length = 1.0 / (self.n_rows().max(1) as f64).sqrt();
            for row in self.values.chunks_exact_mut(n_columns) {
                for &column in &lost {
                    row[column] = length * random.normal();
                }
            }
        }
        lost.is_empty()
    }

    /// The columns of a range.
    pub(super) fn columns(&self, range: std::ops::Range<usize>) -> Self {
        let values = self.values.chunks_exact(self.n_columns.max(1)).flat_map(|row| &row[range.clone()]);
        Self { n_columns: range.len(), values: values.copied().collect() }
    }

    /// Both side by side.
    pub(super) fn beside(&self, other: &Self) -> Self {
        if self.n_columns == 0 {
            return other.clone();
        }
        if other.n_columns == 0 {
            return self.clone();
        }
        let mut values = Vec::with_capacity(self.values.len() + other.values.len());
        for row in 0..self.n_rows() {
            values.extend_from_slice(self.row(row));
            values.extend_from_slice(other.row(row));
        }
        Self { n_columns: self.n_columns + other.n_columns, values }
    }
}

fn rows_of(values: &[f64], n_columns: usize) -> MatRef<'_, f64> {
    MatRef::from_row_major_slice(values, values.len() / n_columns, n_columns)
}
