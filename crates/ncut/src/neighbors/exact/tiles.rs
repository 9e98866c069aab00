//! Tables of products, tile by tile: one tile stays in cache.

use std::ops::Range;

/// Rows and columns of one product.
pub(super) const TILE: usize = 384;
/// As [`TILE`], for few points.
pub(super) const SMALL_TILE: usize = 192;
/// Targets whose keys are compared at once.
pub(super) const CHUNK: usize = 16;

/// The tiles of a table of products.
pub(super) fn tiles(n_rows: usize, n_columns: usize) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
    ranges(n_columns, TILE)
        .flat_map(move |columns| ranges(n_rows, TILE).map(move |rows| (rows, columns.clone())))
}

/// Ranges of `size`, the last one maybe shorter.
pub(super) fn ranges(count: usize, size: usize) -> impl Iterator<Item = Range<usize>> {
    (0..count).step_by(size).map(move |first| first..(first + size).min(count))
}
