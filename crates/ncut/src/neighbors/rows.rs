//! Short copies of points, from which the approximate search estimates distances.
//!
//! Reading rows from memory is what takes time. Where that is fine enough a coordinate becomes a number of 7 bits,
//! a quarter of a float, and the sums are integers: the same on every machine in whatever order they are added.
//! Otherwise it becomes a 32-bit float, and every sum runs over the coordinates from the first to the last, many
//! sums side by side.

use pulp::bytemuck::Pod;

use super::space::Space;
use crate::graph::NodeId;
use crate::pages::Pages;
use crate::parallel::prelude::*;

/// Largest number of a row of bytes: with 7 bits the products of two pairs still fit into 16 bits.
const LARGEST_BYTE: f64 = 127.0;
/// How many steps away neighbours must be for bytes to be fine enough: a distance is then off by less than 1 in 200,
/// and the nearest stay among the few more that are kept.
const MIN_STEPS: f64 = 200.0;
/// Bytes of a register: a row is filled up with zeros to a multiple.
const REGISTER: usize = 32;
/// Features up to which the square of a distance between bytes fits into 31 bits.
const MAX_FEATURES: usize = 1 << 17;
/// Floats that are added side by side.
const LANES: usize = 16;

/// A number that orders like the distance, below 2^31.
pub(super) type Key = u32;

/// Short copies of all points.
pub(super) enum Rows {
    Bytes(Bytes),
    Floats(Floats),
}

impl Rows {
    pub(super) fn new(space: &Space<'_>, n_neighbors: usize) -> Self {
        let (lowest, widest) = ranges(space);
        let step = widest / LARGEST_BYTE;
        if space.n_features() <= MAX_FEATURES && bytes_suffice(space, step, n_neighbors) {
            Self::Bytes(Bytes::new(space, &lowest, step))
        } else {
            Self::Floats(Floats::new(space, &lowest, widest))
        }
    }

    pub(super) fn reordered(&self, order: &[NodeId]) -> Self {
        match self {
            Self::Bytes(rows) => Self::Bytes(rows.reordered(order)),
            Self::Floats(rows) => Self::Floats(rows.reordered(order)),
        }
    }

    pub(super) fn count(&self) -> usize {
        match self {
            Self::Bytes(Bytes { rows, .. }) => rows.count,
            Self::Floats(Floats { rows, .. }) => rows.count,
        }
    }

    /// Numbers of a row.
    pub(super) fn width(&self) -> usize {
        match self {
            Self::Bytes(Bytes { rows, .. }) => rows.width,
            Self::Floats(Floats { rows, .. }) => rows.width,
        }
    }

    /// Writes a row to the front of `values`.
    pub(super) fn write(&self, point: NodeId, values: &mut [f32]) {
        match self {
            Self::Bytes(Bytes { rows, .. }) => {
                values.iter_mut().zip(rows.row(point)).for_each(|(to, &from)| *to = f32::from(from));
            }
            Self::Floats(Floats { rows, .. }) => values[..rows.width].copy_from_slice(rows.row(point)),
        }
    }

    /// Estimates the distances of the first points of `meeting` to all that come after them.
    pub(super) fn measure(&self, meeting: &mut Meeting, ids: &[NodeId], n_first: usize) {
        if n_first == 0 {
            return;
        }
        meeting.stride = ids.len().next_multiple_of(LANES);
        meeting.keys.resize(n_first * meeting.stride, 0);
        match self {
            Self::Bytes(rows) => rows.measure(meeting, ids, n_first),
            Self::Floats(rows) => rows.measure(meeting, ids, n_first),
        }
    }
}

/// What is estimated when points meet; kept to be used again.
#[derive(Default)]
pub(super) struct Meeting {
    keys: Vec<Key>,
    stride: usize,
    /// Coordinates of the points, as many points side by side as there are lanes.
    columns: Vec<f32>,
}

impl Meeting {
    /// The keys of point number `from` and the points from number `from + 1` on up to `end`.
    #[inline(always)]
    pub(super) fn keys(&self, from: usize, end: usize) -> &[Key] {
        &self.keys[from * self.stride..][from + 1..end]
    }
}

/// The lowest value of every column, and the width of the widest.
fn ranges(space: &Space<'_>) -> (Vec<f64>, f64) {
    const PORTION: usize = 1024;
    let nothing = || (vec![f64::INFINITY; space.n_features()], vec![f64::NEG_INFINITY; space.n_features()]);
    let (lowest, highest) = (0..space.count())
        .into_par_iter()
        .with_min_len(PORTION)
        .fold(nothing, |(mut lowest, mut highest), point| {
            let ends = lowest.iter_mut().zip(&mut highest);
            for ((low, high), value) in ends.zip(space.coordinates(point)) {
                *low = low.min(value);
                *high = high.max(value);
            }
            (lowest, highest)
        })
        .reduce(nothing, |mut a, b| {
            a.0.iter_mut().zip(b.0).for_each(|(a, b)| *a = a.min(b));
            a.1.iter_mut().zip(b.1).for_each(|(a, b)| *a = a.max(b));
            a
        });
    let widest = lowest.iter().zip(highest).fold(0.0, |most: f64, (low, high)| most.max(high - low));
    (lowest, widest.max(f64::MIN_POSITIVE))
}

/// Whether all but one of a sample of points are many steps away from their neighbours.
fn bytes_suffice(space: &Space<'_>, step: f64, n_neighbors: usize) -> bool {
    const N_QUERIES: usize = 32;
    const N_TARGETS: usize = 4096;
    let n_points = space.count();
    let spread = |count: usize| (0..count).map(move |place| (place * n_points / count) as NodeId);
    let n_targets = N_TARGETS.min(n_points);
    let rank = 1 + n_neighbors * n_targets / n_points;
    let is_far = |&query: &NodeId| {
        let mut found = Vec::with_capacity(n_targets);
        space.squared_distances(query as usize, space, spread(n_targets), &mut found);
        found.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        found.get(rank).is_some_and(|far| far.0 > (MIN_STEPS * step).powi(2))
    };
    let queries: Vec<NodeId> = spread(N_QUERIES.min(n_points)).collect();
    let n_far = queries.par_iter().filter(|query| is_far(query)).count();
    n_far + 1 >= queries.len()
}

/// Rows of 7-bit numbers.
pub(super) struct Bytes {
    rows: Table<u8>,
    norms: Vec<u32>,
    arch: pulp::Arch,
}

impl Bytes {
    fn new(space: &Space<'_>, lowest: &[f64], step: f64) -> Self {
        let n_features = space.n_features();
        let mut rows = Table::zeros(space.count(), n_features.next_multiple_of(REGISTER));
        let per_step = 1.0 / step;
        let fill = |(point, row): (usize, &mut [u8])| {
            let row = &mut row[..n_features];
            space.centered_into(point, lowest, |value| (value * per_step + 0.5) as u8, row);
        };
        rows.par_rows_mut().enumerate().for_each(fill);
        let square = |row: &[u8]| row.iter().map(|&value| u32::from(value) * u32::from(value)).sum();
        let norms = rows.par_rows().map(square).collect();
        Self { rows, norms, arch: space.arch() }
    }

    fn reordered(&self, order: &[NodeId]) -> Self {
        let norms = order.iter().map(|&point| self.norms[point as usize]).collect();
        Self { rows: self.rows.reordered(order), norms, arch: self.arch }
    }

    fn measure(&self, meeting: &mut Meeting, ids: &[NodeId], n_first: usize) {
        match self.arch {
            #[cfg(target_arch = "x86_64")]
            pulp::Arch::V3(simd) => {
                simd.vectorize(MeasureBytes { rows: self, meeting, ids, n_first, products: simd });
            }
            arch => {
                arch.dispatch(MeasureBytes { rows: self, meeting, ids, n_first, products: Portable });
            }
        }
    }
}

/// How products of bytes are computed.
trait Products: Copy {
    /// The products of a row with four others.
    fn of(self, a: &[u8], b: [&[u8]; 4]) -> [u32; 4];
}

#[derive(Clone, Copy)]
struct Portable;

impl Products for Portable {
    #[inline(always)]
    fn of(self, a: &[u8], b: [&[u8]; 4]) -> [u32; 4] {
        let product = |(&a, &b): (&u8, &u8)| u32::from(a) * u32::from(b);
        b.map(|b| a.iter().zip(b).map(product).sum())
    }
}

#[cfg(target_arch = "x86_64")]
impl Products for pulp::x86::V3 {
    #[inline(always)]
    fn of(self, a: &[u8], b: [&[u8]; 4]) -> [u32; 4] {
        use pulp::Simd;
        use pulp::bytemuck::cast_slice;
        let ones = self.splat_i16x16(1);
        let a: &[pulp::i8x32] = cast_slice(a);
        let b: [&[pulp::i8x32]; 4] = b.map(|b| &cast_slice(b)[..a.len()]);
        let mut sums = [self.splat_u32s(0); 4];
        for place in 0..a.len() {
            for column in 0..4 {
                let pairs = self.multiply_saturating_add_adjacent_i8x32(a[place], b[column][place]);
                let fours = self.multiply_wrapping_add_adjacent_i16x16(pairs, ones);
                sums[column] = self.add_u32s(sums[column], pulp::cast(fours));
            }
        }
        sums.map(|sum| {
            let lanes: [u32; 8] = pulp::cast(sum);
            lanes.iter().sum()
        })
    }
}

/// Work for the widest registers there are is a struct, because only so is all of it sure to be compiled for them.
struct MeasureBytes<'m, P> {
    rows: &'m Bytes,
    meeting: &'m mut Meeting,
    ids: &'m [NodeId],
    n_first: usize,
    products: P,
}

impl<P: Products> pulp::NullaryFnOnce for MeasureBytes<'_, P> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { rows: Bytes { rows, norms, .. }, meeting, ids, n_first, products } = self;
        for (from, keys) in meeting.keys.chunks_exact_mut(meeting.stride).take(n_first).enumerate() {
            let (row, norm) = (rows.row(ids[from]), norms[ids[from] as usize]);
            for first in ((from + 1) / 4 * 4..ids.len()).step_by(4) {
                // Those beyond the last are the last once more.
                let four: [NodeId; 4] = std::array::from_fn(|place| ids[(first + place).min(ids.len() - 1)]);
                let products = products.of(row, four.map(|other| rows.row(other)));
                for place in 0..4 {
                    keys[first + place] = norm + norms[four[place] as usize] - 2 * products[place];
                }
            }
        }
    }
}

/// Rows of floats.
pub(super) struct Floats {
    rows: Table<f32>,
    arch: pulp::Arch,
}

impl Floats {
    /// Scaled to at most 1, so that no square overflows.
    fn new(space: &Space<'_>, lowest: &[f64], widest: f64) -> Self {
        let mut rows = Table::zeros(space.count(), space.n_features());
        let scale = 1.0 / widest;
        let fill = |(point, row): (usize, &mut [f32])| {
            space.centered_into(point, lowest, |value| (value * scale) as f32, row);
        };
        rows.par_rows_mut().enumerate().for_each(fill);
        Self { rows, arch: space.arch() }
    }

    fn reordered(&self, order: &[NodeId]) -> Self {
        Self { rows: self.rows.reordered(order), arch: self.arch }
    }

    fn measure(&self, meeting: &mut Meeting, ids: &[NodeId], n_first: usize) {
        self.arch.dispatch(MeasureFloats { rows: &self.rows, meeting, ids, n_first });
    }
}

struct MeasureFloats<'m> {
    rows: &'m Table<f32>,
    meeting: &'m mut Meeting,
    ids: &'m [NodeId],
    n_first: usize,
}

impl pulp::NullaryFnOnce for MeasureFloats<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { rows, meeting: Meeting { keys, stride, columns }, ids, n_first } = self;
        let block_size = rows.width * LANES;
        columns.resize(ids.len().div_ceil(LANES) * block_size, 0.0);
        for (block, ids) in columns.chunks_exact_mut(block_size).zip(ids.chunks(LANES)) {
            for (lane, &id) in ids.iter().enumerate() {
                for (column, &value) in block.chunks_exact_mut(LANES).zip(rows.row(id)) {
                    column[lane] = value;
                }
            }
        }
        for (from, keys) in keys.chunks_exact_mut(*stride).take(n_first).enumerate() {
            let row = rows.row(ids[from]);
            let first = (from + 1) / LANES;
            let blocks = columns.chunks_exact(block_size).zip(keys.chunks_exact_mut(LANES)).skip(first);
            for (block, keys) in blocks {
                let mut sums = [0f32; LANES];
                for (column, &value) in block.chunks_exact(LANES).zip(row) {
                    for lane in 0..LANES {
                        let difference = value - column[lane];
                        sums[lane] += difference * difference;
                    }
                }
                for lane in 0..LANES {
                    keys[lane] = sums[lane].to_bits();
                }
            }
        }
    }
}

/// Many rows of numbers, which are visited in no order.
pub(super) struct Table<T> {
    values: Pages<T>,
    count: usize,
    width: usize,
}

impl<T: Pod + Send + Sync> Table<T> {
    pub(super) fn zeros(count: usize, width: usize) -> Self {
        Self { values: Pages::zeros(count * width), count, width }
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    #[inline(always)]
    pub(super) fn row(&self, point: NodeId) -> &[T] {
        &self.values[point as usize * self.width..][..self.width]
    }

    pub(super) fn par_rows(&self) -> impl IndexedParallelIterator<Item = &[T]> {
        self.values.par_chunks_exact(self.width)
    }

    pub(super) fn par_rows_mut(&mut self) -> impl IndexedParallelIterator<Item = &mut [T]> {
        self.values.par_chunks_exact_mut(self.width)
    }

    pub(super) fn reordered(&self, order: &[NodeId]) -> Self {
        let mut reordered = Self::zeros(self.count, self.width);
        reordered.par_rows_mut().zip(order).for_each(|(row, &point)| row.copy_from_slice(self.row(point)));
        reordered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn products_are_the_same_in_wide_registers() {
        let Some(simd) = pulp::x86::V3::try_new() else { return };
        let row = |seed: usize| (0..96).map(|place| (seed * place * place % 128) as u8).collect::<Vec<u8>>();
        let rows: Vec<Vec<u8>> = (5..9).map(row).chain([vec![127; 96]]).collect();
        for a in &rows {
            let b = std::array::from_fn(|place| rows[place + 1].as_slice());
            assert_eq!(Products::of(simd, a, b), Portable.of(a, b));
        }
    }
}
