//! A few vectors side by side, one row a node: what the dense kernels work on.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par, Side};

use crate::pages::Pages;
use crate::parallel::prelude::*;
use crate::random::Random;

/// Rows that one task handles: sums are made of such pieces whatever the number of threads.
pub(super) const ROWS: usize = 4096;
/// Rows of all blocks side by side, of which many are in memory twice while they are turned.
const TURNED_ROWS: usize = 512;

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

    /// Rows from `first` on, at most so many.
    fn rows(&self, first: usize, n_rows: usize) -> MatRef<'_, f64> {
        let end = self.values.len().min((first + n_rows) * self.n_columns);
        rows_of(&self.values[first * self.n_columns..end], self.n_columns)
    }

    /// `self^T other`.
    pub(super) fn products(&self, other: &Self) -> Mat<f64> {
        products(&[self], other)
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
                let mut product = vec![0.0; other.len()];
                let into = rows_of_mut(&mut product, n_columns);
                matmul(into, Accum::Replace, rows_of(rows, n_all), matrix, 1.0, Par::Seq);
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
        add_products(product, &[self], matrix, Accum::Replace, 1.0);
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
        // Where less than this is left of a vector, what the basis lacks in orthogonality has grown by as much, and it
        // would grow with every step: it is subtracted once more.
        const APART: f64 = 1e-2;
        // Once leaves an error of rounding over their independence.
        const INDEPENDENT: f64 = 0.1;
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

/// Orthonormal vectors, some that stay and blocks that come and go.
pub(super) struct Basis {
    fixed: Block,
    blocks: Vec<Block>,
    /// Blocks that have gone, as room for those that come.
    gone: Vec<Block>,
}

impl Basis {
    pub(super) fn new(fixed: &Block) -> Self {
        Self { fixed: fixed.clone(), blocks: Vec::new(), gone: Vec::new() }
    }

    pub(super) fn n_fixed(&self) -> usize {
        self.fixed.n_columns
    }

    /// The vectors beside those that stay.
    pub(super) fn count(&self) -> usize {
        self.blocks.iter().map(|block| block.n_columns).sum()
    }

    /// Takes in a block, which is orthonormal and orthogonal to those that are there; leaves one of the same size with
    /// whatever numbers.
    pub(super) fn push(&mut self, block: &mut Block) {
        let other = self.gone.pop().unwrap_or_else(|| Block::zeros(block.n_rows(), block.n_columns));
        self.blocks.push(std::mem::replace(block, other));
    }

    /// Lets all blocks go.
    pub(super) fn clear(&mut self) {
        self.gone.append(&mut self.blocks);
    }

    /// Makes vectors orthonormal and orthogonal to these; `spare` is room for as many.
    pub(super) fn extend_by(&self, block: &mut Block, seed: u64, spare: &mut Block) {
        let longest = block.longest();
        self.subtract_from(block);
        block.orthonormalize(self, longest, seed, spare);
    }

    /// Subtracts from `block` what lies in the span; returns how much of the blocks' vectors that was.
    pub(super) fn subtract_from(&self, block: &mut Block) -> Mat<f64> {
        if self.fixed.n_columns > 0 {
            let shares = self.fixed.products(block);
            add_products(block, &[&self.fixed], shares.as_ref(), Accum::Add, -1.0);
        }
        let blocks: Vec<&Block> = self.blocks.iter().collect();
        let shares = products(&blocks, block);
        add_products(block, &blocks, shares.as_ref(), Accum::Add, -1.0);
        shares
    }

    /// Combinations of the blocks.
    pub(super) fn combine(&self, matrix: MatRef<'_, f64>) -> Block {
        let n_rows = self.blocks.first().map_or(0, Block::n_rows);
        let mut combined = Block::zeros(n_rows, matrix.ncols());
        self.combine_into(matrix, &mut combined);
        combined
    }

    pub(super) fn combine_into(&self, matrix: MatRef<'_, f64>, combined: &mut Block) {
        let n_columns = combined.n_columns;
        combined.values.par_chunks_mut(TURNED_ROWS * n_columns).enumerate().for_each(|(piece, combined)| {
            let mut combined = rows_of_mut(combined, n_columns);
            let parts = self.blocks.iter().map(|block| block.rows(piece * TURNED_ROWS, combined.nrows()));
            let rows = side_by_side(parts);
            matmul(combined.as_mut(), Accum::Replace, &rows, matrix, 1.0, Par::Seq);
        });
    }

    /// Replaces the blocks, all of one width, by combinations of them that fill whole blocks.
    pub(super) fn turn(&mut self, matrix: MatRef<'_, f64>) {
        let Some(width) = self.blocks.first().map(|block| block.n_columns) else { return };
        let mut pieces: Vec<Vec<&mut [f64]>> = Vec::new();
        for block in &mut self.blocks {
            let rows = block.values.chunks_mut(TURNED_ROWS * width);
            pieces.resize_with(rows.len(), Vec::new);
            pieces.iter_mut().zip(rows).for_each(|(piece, rows)| piece.push(rows));
        }
        pieces.into_par_iter().for_each(|mut piece| {
            let rows = side_by_side(piece.iter().map(|part| rows_of(part, width)));
            let mut turned = Mat::zeros(rows.nrows(), matrix.ncols());
            matmul(turned.as_mut(), Accum::Replace, &rows, matrix, 1.0, Par::Seq);
            for (place, part) in piece.iter_mut().take(matrix.ncols() / width).enumerate() {
                rows_of_mut(part, width).copy_from(turned.subcols(place * width, width));
            }
        });
        self.gone.extend(self.blocks.drain(matrix.ncols() / width..));
    }
}

/// `blocks^T other`, block under block.
fn products(blocks: &[&Block], other: &Block) -> Mat<f64> {
    let count = blocks.iter().map(|block| block.n_columns).sum();
    let mut total = Mat::zeros(count, other.n_columns);
    if count == 0 || other.n_columns == 0 {
        return total;
    }
    let firsts = (0..other.n_rows()).into_par_iter().step_by(ROWS);
    let pieces: Vec<Mat<f64>> = firsts
        .map(|first| {
            let mut piece = Mat::zeros(count, other.n_columns);
            let (other, mut place) = (other.rows(first, ROWS), 0);
            for block in blocks {
                let part = piece.as_mut().subrows_mut(place, block.n_columns);
                matmul(part, Accum::Replace, block.rows(first, ROWS).transpose(), other, 1.0, Par::Seq);
                place += block.n_columns;
            }
            piece
        })
        .collect();
    for piece in pieces {
        total += piece;
    }
    total
}

/// Adds `factor blocks matrix` to `sum`, or replaces it.
fn add_products(sum: &mut Block, blocks: &[&Block], matrix: MatRef<'_, f64>, how: Accum, factor: f64) {
    let n_columns = sum.n_columns;
    if matrix.nrows() == 0 || n_columns == 0 {
        return;
    }
    sum.values.par_chunks_mut(ROWS * n_columns).enumerate().for_each(|(piece, sum)| {
        let (mut sum, mut place) = (rows_of_mut(sum, n_columns), 0);
        for (block, how) in blocks.iter().zip(std::iter::once(how).chain(std::iter::repeat(Accum::Add))) {
            let part = matrix.subrows(place, block.n_columns);
            matmul(sum.as_mut(), how, block.rows(piece * ROWS, ROWS), part, factor, Par::Seq);
            place += block.n_columns;
        }
    });
}

/// A matrix of some rows of a block.
fn rows_of(values: &[f64], n_columns: usize) -> MatRef<'_, f64> {
    MatRef::from_row_major_slice(values, values.len() / n_columns, n_columns)
}

fn rows_of_mut(values: &mut [f64], n_columns: usize) -> MatMut<'_, f64> {
    let n_rows = values.len() / n_columns;
    MatMut::from_row_major_slice_mut(values, n_rows, n_columns)
}

fn side_by_side<'p>(parts: impl Iterator<Item = MatRef<'p, f64>>) -> Mat<f64> {
    let parts: Vec<MatRef<'_, f64>> = parts.collect();
    let n_columns = parts.iter().map(MatRef::ncols).sum();
    let mut both = Mat::zeros(parts.first().map_or(0, MatRef::nrows), n_columns);
    let mut place = 0;
    for part in parts {
        both.as_mut().subcols_mut(place, part.ncols()).copy_from(part);
        place += part.ncols();
    }
    both
}
