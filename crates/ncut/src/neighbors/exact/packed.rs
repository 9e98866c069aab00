//! Rows of points made ready for products of matrices.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use crate::neighbors::space::Space;

/// The point around which products are computed: the nearer, the less they round.
pub(super) struct Center {
    coordinates: Vec<f64>,
}

impl Center {
    /// The mean of all points.
    pub(super) fn new(space: &Space<'_>) -> Self {
        let mut coordinates = vec![0.0; space.n_features()];
        for point in 0..space.count() {
            for (sum, value) in coordinates.iter_mut().zip(space.coordinates(point)) {
                *sum += value;
            }
        }
        for sum in &mut coordinates {
            *sum /= space.count() as f64;
        }
        Self { coordinates }
    }
}

/// A float that products are computed in.
pub(super) trait Coarse:
    Copy + Send + Sync + PartialOrd + faer::traits::ComplexField + Into<f64>
{
    /// Rounding unit.
    const UNIT: f64;
    const ZERO: Self;
    const MINUS_TWO: Self;
    const INFINITY: Self;
    fn of(value: f64) -> Self;
    /// The value or one just below it.
    fn below(value: f64) -> Self;
    fn plus(self, other: Self) -> Self;
}

impl Coarse for f32 {
    const UNIT: f64 = f32::EPSILON as f64 / 2.0;
    const ZERO: Self = 0.0;
    const MINUS_TWO: Self = -2.0;
    const INFINITY: Self = f32::INFINITY;
    fn of(value: f64) -> Self {
        value as f32
    }
    fn below(value: f64) -> Self {
        (value as f32).next_down()
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self + other
    }
}

impl Coarse for f64 {
    const UNIT: f64 = f64::EPSILON / 2.0;
    const ZERO: Self = 0.0;
    const MINUS_TWO: Self = -2.0;
    const INFINITY: Self = f64::INFINITY;
    fn of(value: f64) -> Self {
        value
    }
    fn below(value: f64) -> Self {
        value.next_down()
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self + other
    }
}

/// Rows of a space around the center, and `(1 - 2c)` times their squared lengths.
pub(super) struct Packed<F> {
    rows: Vec<F>,
    pub(super) norms: Vec<f64>,
    /// The norms rounded down, so that keys made of them stay bounds.
    pub(super) rounded_norms: Vec<F>,
    n_features: usize,
}

impl<F: Coarse> Packed<F> {
    pub(super) fn new(
        space: &Space<'_>,
        center: &Center,
        points: impl ExactSizeIterator<Item = usize>,
    ) -> Self {
        let n_features = space.n_features();
        let shrink = 1.0 - 2.0 * (n_features as f64 + 16.0) * F::UNIT;
        let mut rows: Vec<F> = std::iter::repeat_n(F::ZERO, points.len() * n_features).collect();
        let norms: Vec<f64> = points
            .zip(rows.chunks_exact_mut(n_features))
            .map(|(point, row)| shrink * space.centered_into(point, &center.coordinates, F::of, row))
            .collect();
        let rounded_norms = norms.iter().map(|&norm| F::below(norm)).collect();
        Self { rows, norms, rounded_norms, n_features }
    }

    pub(super) fn count(&self) -> usize {
        self.norms.len()
    }

    fn block(&self, rows: Range<usize>) -> MatRef<'_, F> {
        let n_rows = rows.len();
        let values = &self.rows[rows.start * self.n_features..rows.end * self.n_features];
        MatRef::from_row_major_slice(values, n_rows, self.n_features)
    }
}

/// `-2 q·t` for rows of `a` and of `b`, row by row into the front of `products`.
pub(super) fn multiply<F: Coarse>(
    a: &Packed<F>,
    rows: Range<usize>,
    b: &Packed<F>,
    columns: Range<usize>,
    products: &mut [F],
) {
    let (n_rows, n_columns) = (rows.len(), columns.len());
    matmul(
        MatMut::from_row_major_slice_mut(&mut products[..n_rows * n_columns], n_rows, n_columns),
        Accum::Replace,
        a.block(rows),
        b.block(columns).transpose(),
        F::MINUS_TWO,
        Par::Seq,
    );
}
