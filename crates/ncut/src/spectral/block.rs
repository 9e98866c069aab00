//! A few vectors side by side, one row a node: what the dense kernels work on.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par, Side};
use rayon::prelude::*;

use crate::pages::Pages;
use crate::random::Random;

/// Rows that one task handles: sums are made of such pieces whatever the number of threads.
pub(super) const ROWS: usize = 4096;

/// Vectors of `n_rows` entries, row after row.
#[derive(Clone)]
pub(super) struct Block {
    pub(super) n_columns: usize,
    pub(super) values: Pages<f64>,
}

impl Block {
    pub(super) fn zeros(n_rows: usize, n_columns: usize) -> Self {
        Self { n_columns, values: Pages::zeros(n_rows * n_columns) }
    }

    /// Random numbers from -1 to 1.
    pub(super) fn random(n_rows: usize, n_columns: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut block = Self::zeros(n_rows, n_columns);
        block.values.iter_mut().for_each(|value| *value = 2.0 * random.uniform() - 1.0);
        block
    }

    pub(super) fn n_rows(&self) -> usize {
        self.values.len().checked_div(self.n_columns).unwrap_or(0)
    }

    pub(super) fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.n_columns..][..self.n_columns]
    }

    /// `self^T other`.
    pub(super) fn products(&self, other: &Self) -> Mat<f64> {
        products(&self.values, self.n_columns, self.n_columns, other)
    }

    /// `self matrix`.
    pub(super) fn times(&self, matrix: MatRef<'_, f64>) -> Self {
        let mut product = Self::zeros(self.n_rows(), matrix.ncols());
        self.times_into(matrix, &mut product);
        product
    }

    /// How far each column of `self matrix` is from `factor` times that of `other`.
    pub(super) fn distances(&self, matrix: MatRef<'_, f64>, other: &Self, factors: &[f64]) -> Vec<f64> {
        let (n_columns, n_all) = (other.n_columns, self.n_columns);
        let rows = self.values.par_chunks(ROWS * n_all).zip(other.values.par_chunks(ROWS * n_columns));
        let pieces: Vec<Vec<f64>> = rows
            .map(|(rows, other)| {
                let rows = MatRef::from_row_major_slice(rows, rows.len() / n_all, n_all);
                let mut product = vec![0.0; other.len()];
                let into = MatMut::from_row_major_slice_mut(&mut product, rows.nrows(), n_columns);
                matmul(into, Accum::Replace, rows, matrix, 1.0, Par::Seq);
                let mut squares = vec![0.0; n_columns];
                for (product, other) in product.chunks_exact(n_columns).zip(other.chunks_exact(n_columns)) {
                    for c in 0..n_columns {
                        squares[c] += (product[c] - factors[c] * other[c]).powi(2);
                    }
                }
                squares
            })
            .collect();
        (0..n_columns).map(|c| pieces.iter().map(|squares| squares[c]).sum::<f64>().sqrt()).collect()
    }

    fn times_into(&self, matrix: MatRef<'_, f64>, product: &mut Self) {
        add_product(product, &self.values, self.n_columns, matrix, Accum::Replace, 1.0);
    }

    /// The length of the longest column.
    fn longest(&self) -> f64 {
        let mut squares = vec![0.0; self.n_columns];
        for row in self.values.chunks_exact(self.n_columns.max(1)) {
            squares.iter_mut().zip(row).for_each(|(square, value)| *square += value * value);
        }
        squares.into_iter().fold(0.0, f64::max).sqrt()
    }

    /// Makes the columns orthonormal and orthogonal to `basis`, keeping what they add to its span; directions that
    /// rounding has swallowed are replaced by random ones. What lies in that span has been subtracted once; the longest
    /// column was `longest` before that. `spare` is room for as many.
    pub(super) fn orthonormalize(&mut self, basis: &Basis, mut longest: f64, seed: u64, spare: &mut Self) {
        // What is left of vectors that lay almost in the span of the basis is mostly rounding.
        const APART: f64 = 1e-4;
        // Once leaves an error of rounding over their independence.
        const INDEPENDENT: f64 = 1e-3;
        for pass in 0..5 {
            let before = self.whiten(seed.wrapping_add(pass), spare);
            if before.shortest > 0.0 && before.shortest >= APART * longest {
                if before.independence < INDEPENDENT {
                    self.whiten(seed, spare);
                }
                return;
            }
            basis.subtract_from(self);
            longest = 1.0;
        }
    }

    /// One pass.
    fn whiten(&mut self, seed: u64, spare: &mut Self) -> Spread {
        const SWALLOWED: f64 = 1e-13;
        let n_columns = self.n_columns;
        let gram = self.products(self);
        let scales: Vec<f64> = (0..n_columns)
            .map(|c| if gram[(c, c)] > 0.0 { 1.0 / gram[(c, c)].sqrt() } else { 0.0 })
            .collect();
        let scaled = Mat::from_fn(n_columns, n_columns, |r, c| gram[(r, c)] * scales[r] * scales[c]);
        let Ok(eigen) = scaled.self_adjoint_eigen(Side::Lower) else {
            *self = Self::random(self.n_rows(), n_columns, seed);
            return Spread::default();
        };
        let (values, vectors) = (eigen.S().column_vector(), eigen.U());
        let largest = (0..n_columns).map(|c| values[c]).fold(0.0, f64::max);
        let is_swallowed = |c: usize| values[c] <= SWALLOWED * largest || values[c].is_nan();
        let turn = Mat::from_fn(n_columns, n_columns, |r, c| {
            if is_swallowed(c) { 0.0 } else { scales[r] * vectors[(r, c)] / values[c].sqrt() }
        });
        self.times_into(turn.as_ref(), spare);
        std::mem::swap(self, spare);
        let lost: Vec<usize> = (0..n_columns).filter(|&c| is_swallowed(c)).collect();
        if lost.is_empty() {
            let shortest = scales.iter().map(|scale| 1.0 / scale).fold(f64::INFINITY, f64::min);
            let independence = (0..n_columns).map(|c| values[c]).fold(f64::INFINITY, f64::min);
            return Spread { shortest: shortest * independence.sqrt(), independence };
        }
        let mut random = Random::new(seed);
        let length = 1.0 / (self.n_rows().max(1) as f64).sqrt();
        for row in self.values.chunks_exact_mut(n_columns) {
            for &column in &lost {
                row[column] = length * random.normal();
            }
        }
        Spread::default()
    }

    /// Both side by side.
    pub(super) fn beside(&self, other: &Self) -> Self {
        if self.n_columns == 0 {
            return other.clone();
        }
        if other.n_columns == 0 {
            return self.clone();
        }
        let mut both = Self::zeros(self.n_rows(), self.n_columns + other.n_columns);
        for (row, entries) in both.values.chunks_exact_mut(self.n_columns + other.n_columns).enumerate() {
            let (left, right) = entries.split_at_mut(self.n_columns);
            left.copy_from_slice(self.row(row));
            right.copy_from_slice(other.row(row));
        }
        both
    }
}

/// How far the columns of a block were from linear dependence; 0 when one was swallowed.
#[derive(Default)]
struct Spread {
    /// The least eigenvalue of the products of the columns, each made 1 long, ...
    independence: f64,
    /// ... and the length of that combination when they are as long as the shortest.
    shortest: f64,
}

/// Orthonormal vectors side by side, with room for more.
pub(super) struct Basis {
    /// Number of vectors.
    pub(super) count: usize,
    room: usize,
    /// Row after row, each `room` long.
    values: Pages<f64>,
}

impl Basis {
    pub(super) fn new(first: &Block, n_rows: usize, room: usize) -> Self {
        let mut basis = Self { count: 0, room, values: Pages::zeros(n_rows * room) };
        basis.push(first);
        basis
    }

    /// Takes in more vectors, which are orthonormal and orthogonal to those that are there.
    pub(super) fn push(&mut self, vectors: &Block) {
        let places = self.count..self.count + vectors.n_columns;
        for (row, entries) in self.values.chunks_exact_mut(self.room).enumerate() {
            entries[places.clone()].copy_from_slice(vectors.row(row));
        }
        self.count = places.end;
    }

    /// Makes vectors orthonormal and orthogonal to these; `spare` is room for as many.
    pub(super) fn extend_by(&self, block: &mut Block, seed: u64, spare: &mut Block) {
        let longest = block.longest();
        self.subtract_from(block);
        block.orthonormalize(self, longest, seed, spare);
    }

    /// Subtracts from `block` what lies in the span; returns how much of every vector that was.
    pub(super) fn subtract_from(&self, block: &mut Block) -> Mat<f64> {
        let shares = products(&self.values, self.room, self.count, block);
        add_product(block, &self.values, self.room, shares.as_ref(), Accum::Add, -1.0);
        shares
    }

    /// Combinations of the vectors from `first` on.
    pub(super) fn combine(&self, first: usize, matrix: MatRef<'_, f64>) -> Block {
        let mut product = Block::zeros(self.values.len() / self.room, matrix.ncols());
        self.combine_into(first, matrix, &mut product);
        product
    }

    pub(super) fn combine_into(&self, first: usize, matrix: MatRef<'_, f64>, product: &mut Block) {
        add_product(product, &self.values[first..], self.room, matrix, Accum::Replace, 1.0);
    }

    /// Replaces the vectors from `first` on by combinations of them.
    pub(super) fn turn(&mut self, first: usize, matrix: MatRef<'_, f64>) {
        let (room, before, after) = (self.room, self.count - first, matrix.ncols());
        self.values.par_chunks_mut(ROWS * room).for_each(|values| {
            let mut turned = Mat::zeros(values.len() / room, after);
            let rows = MatMut::from_row_major_slice_mut(values, turned.nrows(), room);
            let mut vectors = rows.subcols_mut(first, before);
            matmul(turned.as_mut(), Accum::Replace, vectors.as_ref(), matrix, 1.0, Par::Seq);
            vectors.as_mut().subcols_mut(0, after).copy_from(&turned);
        });
        self.count = first + after;
    }
}

/// `vectors^T other` for the first `count` of the vectors whose rows are `stride` apart.
fn products(vectors: &[f64], stride: usize, count: usize, other: &Block) -> Mat<f64> {
    let mut total = Mat::zeros(count, other.n_columns);
    if count == 0 || other.n_columns == 0 {
        return total;
    }
    let pieces: Vec<Mat<f64>> = vectors
        .par_chunks(ROWS * stride)
        .zip(other.values.par_chunks(ROWS * other.n_columns))
        .map(|(a, b)| {
            let mut piece = Mat::zeros(count, other.n_columns);
            let b = MatRef::from_row_major_slice(b, b.len() / other.n_columns, other.n_columns);
            let a = MatRef::from_row_major_slice_with_stride(a, b.nrows(), count, stride);
            matmul(piece.as_mut(), Accum::Replace, a.transpose(), b, 1.0, Par::Seq);
            piece
        })
        .collect();
    for piece in pieces {
        total += piece;
    }
    total
}

/// Adds `factor vectors matrix` to `sum`, or replaces it; the vectors' rows are `stride` apart.
fn add_product(
    sum: &mut Block,
    vectors: &[f64],
    stride: usize,
    matrix: MatRef<'_, f64>,
    how: Accum,
    factor: f64,
) {
    let n_columns = sum.n_columns;
    if matrix.nrows() == 0 || n_columns == 0 {
        return;
    }
    sum.values.par_chunks_mut(ROWS * n_columns).zip(vectors.par_chunks(ROWS * stride)).for_each(
        |(sum, rows)| {
            let sum = MatMut::from_row_major_slice_mut(sum, sum.len() / n_columns, n_columns);
            let rows = MatRef::from_row_major_slice_with_stride(rows, sum.nrows(), matrix.nrows(), stride);
            matmul(sum, how, rows, matrix, factor, Par::Seq);
        },
    );
}
