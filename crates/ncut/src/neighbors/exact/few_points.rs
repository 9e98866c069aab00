//! Neighbours among few points: all pairs at once, below limits that a sample tells.

use std::ops::Range;

use crate::parallel::prelude::*;

use super::candidates::kept_nearest;
use super::packed::{Center, Packed, multiply};
use super::tiles::{SMALL_TILE, ranges};
use super::{Nearest, Search, completed};
use crate::graph::NodeId;
use crate::progress::Stopped;

/// Searches for every point of a small space among all. A sample of the points tells a limit for each point that
/// enough keys are likely to be below; then the product of each pair is computed once, for both of its points. A
/// point with too few keys below its limit is not found for sure, and searched for once more.
pub(super) fn nearest_of_few(
    search: &Search<'_>,
    center: &Center,
    everyone: &[NodeId],
    report: &mut dyn FnMut(usize) -> Result<(), Stopped>,
) -> Result<Vec<Nearest>, Stopped> {
    let n_points = everyone.len();
    let packed = Packed::<f32>::new(search.targets, center, 0..n_points);
    let limits = likely_limits(search, center, &packed);
    let blocks: Vec<Range<usize>> = ranges(n_points, SMALL_TILE).collect();
    let pairs: Vec<(usize, usize)> =
        (0..blocks.len()).flat_map(|a| (a..blocks.len()).map(move |b| (a, b))).collect();
    let near_of_tile = |products: &mut Vec<f32>, (a, b): (usize, usize)| {
        let (rows, columns) = (blocks[a].clone(), blocks[b].clone());
        multiply(&packed, rows.clone(), &packed, columns.clone(), products);
        let norms = &packed.rounded_norms;
        let (skip_own, mut near) = (search.skip_own, Vec::with_capacity(rows.len() * 16));
        let tile = NearOfTile { products, rows, columns, norms, limits: &limits, skip_own, near: &mut near };
        search.queries.arch().dispatch(tile);
        near
    };
    let room = || vec![0.0; SMALL_TILE * SMALL_TILE];
    let near: Vec<Vec<Near>> = pairs.into_par_iter().map_init(room, near_of_tile).collect();
    // The keys of each point, one point after the other.
    let mut ends = vec![0; n_points + 1];
    for near in near.iter().flatten() {
        ends[near.point as usize + 1] += 1;
    }
    for point in 0..n_points {
        ends[point + 1] += ends[point];
    }
    let mut keys = vec![(0.0, 0); ends[n_points]];
    for near in near.iter().flatten() {
        let place = &mut ends[near.point as usize];
        keys[*place] = (near.key, near.other);
        *place += 1;
    }
    drop(near);
    let mut rest = &mut keys[..];
    let mut kept = Vec::with_capacity(n_points);
    for point in 0..n_points {
        let first = if point == 0 { 0 } else { ends[point - 1] };
        let (own, others) = rest.split_at_mut(ends[point] - first);
        kept.push(own);
        rest = others;
    }
    let measured =
        kept.into_par_iter().enumerate().with_min_len(64).map_init(Vec::new, |measured, (point, keys)| {
            kept_nearest(search, keys, limits[point], point as NodeId, packed.norms[point], measured)
        });
    let measured = measured.collect();
    report(n_points)?;
    completed(search, measured)
}

/// For each point a limit that the keys of its neighbours, and of some others, are likely to be below: among a sample
/// of the points enough have such keys. How many keys of all points then are below does not depend on how the points
/// lie, as long as the sample is drawn by chance.
fn likely_limits(search: &Search<'_>, center: &Center, packed: &Packed<f32>) -> Vec<f32> {
    const STRIDE: usize = 8;
    let n_points = packed.count();
    // One of every stretch, by a hash of its number.
    let drawn = |stretch: usize| {
        let hash = (stretch as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 61;
        stretch * STRIDE + hash as usize
    };
    let sample: Vec<usize> = (0..n_points / STRIDE).map(drawn).collect();
    let expected = (search.n_neighbors + 1) as f64 / STRIDE as f64;
    let n_below = (expected + 3.5 * expected.sqrt() + 2.0) as usize;
    if n_below >= sample.len() {
        return vec![f32::INFINITY; n_points];
    }
    let drawn = Packed::<f32>::new(search.targets, center, sample.iter().copied());
    let strips: Vec<Range<usize>> = ranges(n_points, SMALL_TILE).collect();
    let limits_of_strip = |products: &mut Vec<f32>, columns: Range<usize>| {
        let n_columns = columns.len();
        multiply(&drawn, 0..sample.len(), packed, columns.clone(), products);
        if search.skip_own {
            for (row, &own) in sample.iter().enumerate() {
                if columns.contains(&own) {
                    products[row * n_columns + own - columns.start] = f32::INFINITY;
                }
            }
        }
        let (norms, mut limits) = (&drawn.rounded_norms, vec![f32::INFINITY; n_columns]);
        search.queries.arch().dispatch(Ranked { products, norms, rank: n_below, limits: &mut limits });
        limits
    };
    let room = || vec![0.0; sample.len() * SMALL_TILE];
    let limits: Vec<Vec<f32>> = strips.into_par_iter().map_init(room, limits_of_strip).collect();
    limits.concat()
}

/// The key of a certain rank in each column of a table of products.
struct Ranked<'r> {
    products: &'r [f32],
    /// One a row.
    norms: &'r [f32],
    rank: usize,
    limits: &'r mut [f32],
}

impl pulp::NullaryFnOnce for Ranked<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { products, norms, rank, limits } = self;
        let n_columns = limits.len();
        let mut lowest = vec![ordered(f32::INFINITY); rank * n_columns];
        let mut keys = vec![0; n_columns];
        for (products, &norm) in products.chunks_exact(n_columns).zip(norms) {
            for (key, &product) in keys.iter_mut().zip(products) {
                *key = ordered(product + norm);
            }
            // Each key sinks to its rank.
            for lowest in lowest.chunks_exact_mut(n_columns) {
                sink(&mut keys, lowest);
            }
        }
        for (limit, &lowest) in limits.iter_mut().zip(&lowest[(rank - 1) * n_columns..]) {
            *limit = unordered(lowest);
        }
    }
}

/// The lower of each two to `lowest`, the higher to `keys`.
#[inline(always)]
fn sink(keys: &mut [i32], lowest: &mut [i32]) {
    for (key, lowest) in keys.iter_mut().zip(lowest) {
        (*lowest, *key) = (*key.min(lowest), *key.max(lowest));
    }
}

/// A number whose order among others is that of the float: least and greatest of integers are one instruction, while
/// those of floats must think of NaN.
#[inline(always)]
fn ordered(float: f32) -> i32 {
    let bits = float.to_bits().cast_signed();
    bits ^ ((bits >> 31) & i32::MAX)
}

/// The float of an [`ordered`] number.
#[inline(always)]
fn unordered(number: i32) -> f32 {
    f32::from_bits((number ^ ((number >> 31) & i32::MAX)).cast_unsigned())
}

/// Another point whose key is below a point's limit.
#[derive(Clone, Copy)]
struct Near {
    point: NodeId,
    other: NodeId,
    key: f32,
}

/// Finds the keys below limits in a table of products: of the rows, and of the columns unless they are the same points.
struct NearOfTile<'t> {
    products: &'t [f32],
    rows: Range<usize>,
    columns: Range<usize>,
    norms: &'t [f32],
    limits: &'t [f32],
    skip_own: bool,
    near: &'t mut Vec<Near>,
}

impl pulp::NullaryFnOnce for NearOfTile<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { products, rows, columns, norms, limits, skip_own, near } = self;
        const BOTH: u64 = 0x0303_0303_0303_0303;
        let diagonal = rows == columns;
        let wanted = if diagonal { ROW * (BOTH / 3) } else { BOTH };
        let (column_norms, column_limits) = (&norms[columns.clone()], &limits[columns.clone()]);
        let mut flags = [0; SMALL_TILE];
        for (row, products) in rows.zip(products.chunks_exact(columns.len())) {
            let (norm, limit) = (norms[row], limits[row]);
            flag_near(products, norm, limit, column_norms, column_limits, &mut flags);
            if diagonal && skip_own {
                flags[row - columns.start] = 0;
            }
            for (first, flags) in (0..).step_by(8).zip(flags.as_chunks::<8>().0) {
                let mut flags = u64::from_le_bytes(*flags) & wanted;
                while flags != 0 {
                    let bit = flags.trailing_zeros() as usize;
                    flags &= flags - 1;
                    let place = first + bit / 8;
                    let (row, column) = (row as NodeId, (columns.start + place) as NodeId);
                    near.push(if bit.is_multiple_of(8) {
                        Near { point: row, other: column, key: products[place] + column_norms[place] }
                    } else {
                        Near { point: column, other: row, key: products[place] + norm }
                    });
                }
            }
        }
    }
}

/// The flag of a product that brings its column below the row's limit, and of one that brings the row below the
/// column's.
const ROW: u64 = 1;
const COLUMN: u64 = 2;

#[inline(always)]
fn flag_near(products: &[f32], norm: f32, limit: f32, norms: &[f32], limits: &[f32], flags: &mut [u8]) {
    let columns = products.iter().zip(norms.iter().zip(limits));
    for (flag, (&product, (&other_norm, &other_limit))) in flags.iter_mut().zip(columns) {
        let of_row = if product + other_norm < limit { ROW as u8 } else { 0 };
        let of_column = if product + norm < other_limit { COLUMN as u8 } else { 0 };
        *flag = of_row | of_column;
    }
}
