//! Random trees over points: what ends up in the same leaf is likely to be near.
//!
//! Trees divide the points by short sketches of them, because reading whole rows takes time.

use pulp::{Simd, WithSimd};

use super::rows::{Rows, Table};
use crate::graph::NodeId;
use crate::parallel::prelude::*;
use crate::random::{Random, mix};

/// Lanes of a sum.
const LANES: usize = 32;
/// Numbers in a sketch of a point.
const SKETCH: usize = 2 * LANES;

/// Short sketches of points.
pub(super) struct Sketches {
    values: Table<f32>,
    arch: pulp::Arch,
}

impl Sketches {
    /// The products of the points with random rows of -1 and 1, which keep distances about; short points are
    /// their own sketches.
    pub(super) fn new(points: &Rows, seed: u64) -> Self {
        let (arch, width) = (pulp::Arch::new(), points.width().next_multiple_of(LANES));
        let mut values = Table::zeros(points.count(), width.min(SKETCH));
        let rows = values.par_rows_mut().enumerate();
        if width <= SKETCH {
            rows.for_each(|(point, row)| points.write(point as NodeId, row));
        } else {
            let sign = |place| if mix(seed, place) & 1 == 0 { 1.0 } else { -1.0 };
            let signs: Vec<f32> = (0..(SKETCH * width) as u64).map(sign).collect();
            rows.for_each_init(
                || vec![0.0; width],
                |row, (point, sketch)| {
                    points.write(point as NodeId, row);
                    arch.dispatch(Project { row, signs: &signs, sketch });
                },
            );
        }
        Self { values, arch }
    }

    pub(super) fn reordered(&self, order: &[NodeId]) -> Self {
        Self { values: self.values.reordered(order), arch: self.arch }
    }

    /// The leaves of a random tree: each split is the plane in the middle between two random points.
    pub(super) fn leaves(&self, leaf_size: usize, seed: u64) -> Vec<Vec<NodeId>> {
        let mut open: Vec<(Vec<NodeId>, u64)> = vec![((0..self.values.count() as NodeId).collect(), seed)];
        let mut leaves = Vec::new();
        // Level by level, all splits of a level side by side.
        while !open.is_empty() {
            let split: Vec<Split> =
                open.into_par_iter().map(|(ids, seed)| self.split(ids, leaf_size, seed)).collect();
            open = Vec::new();
            for split in split {
                match split {
                    Split::Leaf(ids) => leaves.push(ids),
                    Split::Two(halves) => open.extend(halves),
                }
            }
        }
        leaves
    }

    fn split(&self, ids: Vec<NodeId>, leaf_size: usize, seed: u64) -> Split {
        if ids.len() <= leaf_size.max(2) {
            return Split::Leaf(ids);
        }
        let mut random = Random::new(seed);
        let first = random.below(ids.len() as u32) as usize;
        let second = (first + 1 + random.below(ids.len() as u32 - 1) as usize) % ids.len();
        let (a, b) = (ids[first], ids[second]);
        let (mut left, mut right) = self.arch.dispatch(Divide { sketches: &self.values, ids: &ids, a, b });
        // Duplicates cannot be told apart by a plane; nor does a plane help that leaves nearly all on one side.
        if left.len().min(right.len()) * 20 < ids.len() {
            (left, right) = ids.iter().partition(|&&id| mix(seed, u64::from(id)) & 1 == 0);
            if left.is_empty() || right.is_empty() {
                return Split::Leaf(ids);
            }
        }
        Split::Two([(left, mix(seed, 1)), (right, mix(seed, 2))])
    }
}

enum Split {
    Leaf(Vec<NodeId>),
    Two([(Vec<NodeId>, u64); 2]),
}

/// The products of a row with rows of signs.
struct Project<'p> {
    row: &'p [f32],
    signs: &'p [f32],
    sketch: &'p mut [f32],
}

// Work for the widest registers there are is a struct, because only so is all of it sure to be compiled for them.
impl WithSimd for Project<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for (product, signs) in self.sketch.iter_mut().zip(self.signs.chunks_exact(self.row.len())) {
            *product = dot(simd, self.row, signs);
        }
    }
}

/// Divides points by the plane in the middle between two of them.
struct Divide<'d> {
    sketches: &'d Table<f32>,
    ids: &'d [NodeId],
    a: NodeId,
    b: NodeId,
}

impl WithSimd for Divide<'_> {
    type Output = (Vec<NodeId>, Vec<NodeId>);

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let (a, b) = (self.sketches.row(self.a), self.sketches.row(self.b));
        let normal: Vec<f32> = a.iter().zip(b).map(|(a, b)| a - b).collect();
        let middle: Vec<f32> = a.iter().zip(b).map(|(a, b)| 0.5 * (a + b)).collect();
        let offset = dot(simd, &normal, &middle);
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for &id in self.ids {
            if dot(simd, &normal, self.sketches.row(id)) > offset {
                left.push(id);
            } else {
                right.push(id);
            }
        }
        (left, right)
    }
}

/// The product of two rows: coordinate `i` is added to lane `i % LANES`, whatever the width of a register, and the
/// lanes are added up half by half.
#[inline(always)]
fn dot<S: Simd>(simd: S, a: &[f32], b: &[f32]) -> f32 {
    let n_registers = LANES / S::F32_LANES;
    let mut sums = [simd.splat_f32s(0.0); LANES];
    let (a, b) = (S::as_simd_f32s(a).0, S::as_simd_f32s(b).0);
    for (a, b) in a.chunks_exact(n_registers).zip(b.chunks_exact(n_registers)) {
        for register in 0..n_registers {
            sums[register] = simd.add_f32s(sums[register], simd.mul_f32s(a[register], b[register]));
        }
    }
    let lanes: &[f32] = pulp::bytemuck::cast_slice(&sums[..n_registers]);
    let sixteen: [f32; 16] = std::array::from_fn(|lane| lanes[lane] + lanes[lane + 16]);
    let eight: [f32; 8] = std::array::from_fn(|lane| sixteen[lane] + sixteen[lane + 8]);
    let four: [f32; 4] = std::array::from_fn(|lane| eight[lane] + eight[lane + 4]);
    (four[0] + four[2]) + (four[1] + four[3])
}
