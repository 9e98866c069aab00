//! Exact nearest neighbours: products of matrices propose, direct differences decide.
//!
//! For a query `q` and a target `t`, `|q - t|^2 = |q|^2 + |t|^2 - 2 q·t`, and all the products `q·t` of a block
//! are one matrix product. Computed in floating point with rounding unit `u` its error is below
//! `c (|q| + |t|)^2 <= 2c (|q|^2 + |t|^2)` with `c = (features + 16) u`. So the key
//! `(1 - 2c) (|q|^2 + |t|^2) - 2 q·t` is never above the true squared distance. Of the targets with the smallest
//! keys the first k are measured by direct differences, and those of the others whose key is no larger than the
//! distances found; when the k-th nearest is no farther than the largest key kept, no other target can be nearer.
//! Where that fails the same is done with a finer product, and at last every target that the bound cannot exclude
//! is measured. The result is exact, whatever the machine.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::packed::{Center, Coarse, Packed, multiply};
use super::points::Space;
use crate::graph::NodeId;
use crate::parallel::prelude::*;
use crate::progress::Stopped;

/// Queries that share one pass over the targets.
const QUERIES: usize = 768;
/// Rows and columns of one product.
const TILE: usize = 384;
/// Coordinates below this have sums of squares that 32-bit floats can hold.
const LARGEST_F32: f64 = 1e15;
/// As [`TILE`], for few points.
const SMALL_TILE: usize = 192;
/// Targets whose keys are compared at once.
const CHUNK: usize = 16;

/// What is searched for whom.
#[derive(Clone, Copy)]
pub(super) struct Search<'s> {
    pub(super) queries: &'s Space<'s>,
    pub(super) targets: &'s Space<'s>,
    pub(super) n_neighbors: usize,
    /// Queries are targets themselves, and not to be found.
    pub(super) skip_own: bool,
}

/// The nearest targets of a query, nearest first, the lowest number first among equals.
pub(super) type Nearest = Vec<(f64, NodeId)>;

/// Searches for every point of `space` among all, in parallel; `report` is told how many are done.
///
/// The product of two points serves both of them: blocks of points meet in rounds, each pair of blocks once, so
/// that no block is in two places at a time.
pub(super) fn nearest_of_all(
    search: &Search<'_>,
    report: &mut dyn FnMut(usize) -> Result<(), Stopped>,
) -> Result<Vec<Nearest>, Stopped> {
    let n_points = search.queries.count();
    let everyone: Vec<NodeId> = (0..n_points as NodeId).collect();
    let center = Center::new(search.targets);
    if n_points < 4 * QUERIES && search.targets.largest() < LARGEST_F32 {
        report(0)?;
        return nearest_of_few(search, &center, &everyone, report);
    }
    if n_points < 4 * QUERIES || !coarse_suffices(search, &center) {
        return nearest(search, &everyone, report);
    }
    let block_size = n_points.div_ceil(n_blocks(n_points, crate::parallel::current_num_threads()));
    let mut blocks: Vec<Option<Block>> =
        everyone.par_chunks(block_size).map(|points| Some(Block::new(points, search, &center))).collect();
    let n_blocks = blocks.len();
    // The first round is every block with itself.
    for round in 0..=n_blocks {
        report(n_points * round / (n_blocks + 1))?;
        let mut meetings: Vec<(Block, Option<Block>)> = meetings(n_blocks, round)
            .filter_map(|(a, b)| blocks[a].take().map(|block| (block, b.and_then(|b| blocks[b].take()))))
            .collect();
        meetings.par_iter_mut().for_each(|(a, b)| match b {
            Some(b) => a.meet(b),
            None => a.meet_itself(search.skip_own),
        });
        for block in meetings.into_iter().flat_map(|(a, b)| [Some(a), b]).flatten() {
            let place = block.points[0] as usize / block_size;
            blocks[place] = Some(block);
        }
    }
    let blocks: Vec<Block> = blocks.into_iter().flatten().collect();
    completed(search, blocks.into_par_iter().flat_map_iter(|block| block.measured(search)).collect())
}

/// The nearest of all points, those that were not found for sure searched for once more.
fn completed(search: &Search<'_>, measured: Vec<(Nearest, bool)>) -> Result<Vec<Nearest>, Stopped> {
    let mut found: Vec<Nearest> = Vec::with_capacity(measured.len());
    let mut open = Vec::new();
    for (point, (nearest, complete)) in measured.into_iter().enumerate() {
        found.push(nearest);
        if !complete {
            open.push(point as NodeId);
        }
    }
    for (point, nearest) in open.iter().zip(nearest(search, &open, &mut |_| Ok(()))?) {
        found[*point as usize] = nearest;
    }
    Ok(found)
}

/// Searches for every point of a small space among all. A sample of the points tells a limit for each point that
/// enough keys are likely to be below; then the product of each pair is computed once, for both of its points. A
/// point with too few keys below its limit is not found for sure, and searched for once more.
fn nearest_of_few(
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

/// Who meets whom in a round: everyone by itself in round 0, then a round robin.
fn meetings(n_blocks: usize, round: usize) -> impl Iterator<Item = (usize, Option<usize>)> {
    // In round r the blocks whose numbers add up to r, modulo the number of blocks, meet.
    let partner = move |block: usize| (round + 2 * n_blocks - block) % n_blocks;
    (0..n_blocks).filter_map(move |block| match round {
        0 => Some((block, None)),
        _ if block < partner(block) => Some((block, Some(partner(block)))),
        _ => None,
    })
}

/// Blocks that all threads are busy with: with an odd number as many pairs meet in every round.
fn n_blocks(n_points: usize, n_threads: usize) -> usize {
    let per_round = n_points.div_ceil(2 * n_threads * QUERIES) * n_threads;
    (2 * per_round + 1).min(n_points)
}

/// Whether 32-bit products are fine enough for most of a sample of the queries.
fn coarse_suffices(search: &Search<'_>, center: &Center) -> bool {
    const SAMPLE: usize = 64;
    if search.targets.largest() >= LARGEST_F32 {
        return false;
    }
    let n_points = search.queries.count();
    let sample: Vec<NodeId> = (0..SAMPLE).map(|place| (place * n_points / SAMPLE) as NodeId).collect();
    let mut found = vec![Vec::new(); SAMPLE];
    let places: Vec<usize> = (0..SAMPLE).collect();
    pass::<f32>(search, center, &sample, &places, &mut found).len() * 4 < SAMPLE
}

/// Targets kept for each query, to be measured.
fn most_kept(n_neighbors: usize) -> usize {
    n_neighbors + n_neighbors / 2 + 16
}

/// Points that follow each other, and the targets kept for them so far.
struct Block {
    points: Vec<NodeId>,
    packed: Packed<f32>,
    kept: Vec<Kept<f32>>,
    /// The limit of each point's kept targets, side by side.
    limits: Vec<f32>,
    arch: pulp::Arch,
}

impl Block {
    fn new(points: &[NodeId], search: &Search<'_>, center: &Center) -> Self {
        let most = most_kept(search.n_neighbors);
        let packed = Packed::new(search.targets, center, points.iter().map(|&point| point as usize));
        let kept = points.iter().map(|_| Kept::new(most)).collect();
        let limits = vec![f32::INFINITY; points.len()];
        Self { points: points.to_vec(), packed, kept, limits, arch: search.queries.arch() }
    }

    fn offer(&mut self, row: usize, key: f32, target: NodeId) {
        let kept = &mut self.kept[row];
        if key < kept.limit {
            kept.add(key, target);
            self.limits[row] = kept.limit;
        }
    }

    /// Considers all pairs of points of two blocks, for both.
    fn meet(&mut self, other: &mut Self) {
        let mut products = vec![0.0; TILE * TILE];
        for (rows, columns) in tiles(self.points.len(), other.points.len()) {
            multiply(&self.packed, rows.clone(), &other.packed, columns.clone(), &mut products);
            self.arch.dispatch(Meeting { a: self, rows, b: other, columns, products: &products });
        }
    }

    /// Considers all pairs of points of this block.
    fn meet_itself(&mut self, skip_own: bool) {
        let mut products = vec![0.0; TILE * TILE];
        for (rows, columns) in tiles(self.points.len(), self.points.len()) {
            multiply(&self.packed, rows.clone(), &self.packed, columns.clone(), &mut products);
            for (row, products) in rows.zip(products.chunks_exact(columns.len())) {
                for (column, &product) in columns.clone().zip(products) {
                    if !(skip_own && column == row) {
                        self.offer(row, product + self.packed.rounded_norms[column], self.points[column]);
                    }
                }
            }
        }
    }

    /// The nearest of those kept for each point, and whether no other can be as near.
    fn measured(mut self, search: &Search<'_>) -> Vec<(Nearest, bool)> {
        let mut measured = Vec::new();
        let mut measure = |((kept, &point), &norm): ((&mut Kept<f32>, &NodeId), &f64)| {
            kept.shrink();
            kept_nearest(search, &mut kept.keys, kept.limit, point, norm, &mut measured)
        };
        self.kept.iter_mut().zip(&self.points).zip(&self.packed.norms).map(&mut measure).collect()
    }
}

/// Offers points of two blocks to each other where a product says that they may be near.
///
/// Work for the widest registers there are is a struct, because only so is all of it sure to be compiled for them.
struct Meeting<'m> {
    a: &'m mut Block,
    rows: Range<usize>,
    b: &'m mut Block,
    columns: Range<usize>,
    products: &'m [f32],
}

impl pulp::NullaryFnOnce for Meeting<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { a, rows, b, columns, products } = self;
        for (row, products) in rows.zip(products.chunks_exact(columns.len())) {
            let norm = a.packed.rounded_norms[row];
            let mut start = columns.start;
            for products in products.chunks(CHUNK) {
                let end = start + products.len();
                let (norms, limits) = (&b.packed.rounded_norms[start..end], &b.limits[start..end]);
                if any_near(products, norm, a.limits[row], norms, limits) {
                    for (column, &product) in (start..end).zip(products) {
                        a.offer(row, product + b.packed.rounded_norms[column], b.points[column]);
                        b.offer(column, product + norm, a.points[row]);
                    }
                }
                start = end;
            }
        }
    }
}

/// Whether a product brings one of its two points below the limit of the other.
#[inline(always)]
fn any_near(products: &[f32], norm: f32, limit: f32, norms: &[f32], limits: &[f32]) -> bool {
    let mut near = false;
    for ((&product, &other_norm), &other_limit) in products.iter().zip(norms).zip(limits) {
        near |= (product + other_norm < limit) | (product + norm < other_limit);
    }
    near
}

/// The tiles of a table of products.
fn tiles(n_rows: usize, n_columns: usize) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
    ranges(n_columns, TILE)
        .flat_map(move |columns| ranges(n_rows, TILE).map(move |rows| (rows, columns.clone())))
}

/// Ranges of `size`, the last one maybe shorter.
fn ranges(count: usize, size: usize) -> impl Iterator<Item = Range<usize>> {
    (0..count).step_by(size).map(move |first| first..(first + size).min(count))
}

/// Searches for `queries`, in parallel; between batches `report` is told how many are done.
pub(super) fn nearest(
    search: &Search<'_>,
    queries: &[NodeId],
    report: &mut dyn FnMut(usize) -> Result<(), Stopped>,
) -> Result<Vec<Nearest>, Stopped> {
    let center = Center::new(search.targets);
    let coarse_fails = AtomicUsize::new(0);
    let batch = QUERIES * crate::parallel::current_num_threads().max(1) * 2;
    let mut found = Vec::with_capacity(queries.len());
    for queries in queries.chunks(batch) {
        report(found.len())?;
        let blocks = queries
            .par_chunks(QUERIES)
            .map(|queries| nearest_of_block(search, &center, queries, &coarse_fails));
        found.par_extend(blocks.flatten_iter());
    }
    Ok(found)
}

/// Searches for one block of queries, in this thread.
fn nearest_of_block(
    search: &Search<'_>,
    center: &Center,
    queries: &[NodeId],
    coarse_fails: &AtomicUsize,
) -> Vec<Nearest> {
    let mut found: Vec<Nearest> = vec![Vec::new(); queries.len()];
    let mut open: Vec<usize> = (0..queries.len()).collect();
    // 32-bit products are twice as fast; where they failed before, they are not tried again.
    let fits = search.queries.largest() < LARGEST_F32 && search.targets.largest() < LARGEST_F32;
    if fits && coarse_fails.load(Ordering::Relaxed) < 3 * QUERIES {
        let failed = pass::<f32>(search, center, queries, &open, &mut found);
        if failed.len() * 4 > queries.len() {
            coarse_fails.fetch_add(failed.len(), Ordering::Relaxed);
        }
        open = failed;
    }
    open = pass::<f64>(search, center, queries, &open, &mut found);
    measure_all_within_bound(search, center, queries, &open, &mut found);
    found
}

/// The targets with the smallest keys so far.
struct Kept<F> {
    keys: Vec<(F, NodeId)>,
    /// How many to keep.
    most: usize,
    /// Nothing at or above this gets in.
    limit: F,
}

impl<F: Coarse> Kept<F> {
    fn new(most: usize) -> Self {
        Self { keys: Vec::with_capacity(2 * most), most, limit: F::INFINITY }
    }

    fn add(&mut self, key: F, target: NodeId) {
        self.keys.push((key, target));
        if self.keys.len() == 2 * self.most {
            self.shrink();
        }
    }

    fn shrink(&mut self) {
        if self.keys.len() > self.most {
            self.keys.select_nth_unstable_by(self.most, by_key);
            self.limit = self.keys[self.most].0;
            self.keys.truncate(self.most);
        }
    }
}

fn by_key<F: Coarse>(a: &(F, NodeId), b: &(F, NodeId)) -> std::cmp::Ordering {
    a.0.partial_cmp(&b.0).unwrap_or(std::cmp::Ordering::Equal)
}

/// Searches for the queries at `places` by products in `F`; returns the places where that was not enough.
fn pass<F: Coarse>(
    search: &Search<'_>,
    center: &Center,
    queries: &[NodeId],
    places: &[usize],
    found: &mut [Nearest],
) -> Vec<usize> {
    if places.is_empty() {
        return Vec::new();
    }
    let most = most_kept(search.n_neighbors);
    let mut kept: Vec<Kept<F>> = places.iter().map(|_| Kept::new(most)).collect();
    let norms = for_each_key::<F>(search, center, queries, places, |row, keys, ids| {
        let kept = &mut kept[row];
        let own = queries[places[row]];
        for (keys, ids) in keys.chunks(CHUNK).zip(ids.chunks(CHUNK)) {
            let limit = kept.limit;
            let mut any = false;
            for &key in keys {
                any |= key < limit;
            }
            if any {
                for (&key, &id) in keys.iter().zip(ids) {
                    if key < kept.limit && !(search.skip_own && id == own) {
                        kept.add(key, id);
                    }
                }
            }
        }
    });
    let (mut failed, mut measured) = (Vec::new(), Vec::new());
    for (row, kept) in kept.iter_mut().enumerate() {
        kept.shrink();
        let (keys, query) = (&mut kept.keys, queries[places[row]]);
        let (nearest, complete) = kept_nearest(search, keys, kept.limit, query, norms[row], &mut measured);
        if !complete {
            failed.push(places[row]);
        }
        found[places[row]] = nearest;
    }
    failed
}

/// Measures the targets kept for a query, those with keys below `limit`: the nearest, and whether no other can be as
/// near. `measured` is room that is used again.
fn kept_nearest<F: Coarse>(
    search: &Search<'_>,
    keys: &mut [(F, NodeId)],
    limit: F,
    query: NodeId,
    norm: f64,
    measured: &mut Nearest,
) -> (Nearest, bool) {
    let n_first = search.n_neighbors.min(keys.len());
    if n_first > 0 && n_first < keys.len() {
        keys.select_nth_unstable_by(n_first - 1, by_key);
    }
    measured.clear();
    let (first, rest) = keys.split_at_mut(n_first);
    let mut measure = |keys: &[(F, NodeId)]| {
        let ids = keys.iter().map(|&(_, id)| id);
        search.queries.squared_distances(query as usize, search.targets, ids, measured);
        measured.iter().fold(0.0, |most, &(squared, _)| squared.max(most))
    };
    // A key is a bound from below: most of the rest need no measuring.
    let farthest = measure(first);
    let mut n_within = 0;
    for place in 0..rest.len() {
        if rest[place].0.into() + norm <= farthest {
            rest.swap(n_within, place);
            n_within += 1;
        }
    }
    measure(&rest[..n_within]);
    take_nearest(measured, search.n_neighbors);
    let limit: f64 = limit.into();
    let farthest = measured.last().map_or(f64::INFINITY, |last| last.0);
    let complete = limit.is_infinite() || (measured.len() == search.n_neighbors && farthest < limit + norm);
    (measured.clone(), complete)
}

/// For the queries that ties or rounding leave open: measures every target that may be as near as the k-th
/// found so far.
fn measure_all_within_bound(
    search: &Search<'_>,
    center: &Center,
    queries: &[NodeId],
    places: &[usize],
    found: &mut [Nearest],
) {
    if places.is_empty() {
        return;
    }
    let radius: Vec<f64> =
        places.iter().map(|&place| found[place].last().map_or(f64::INFINITY, |last| last.0)).collect();
    let query_norms =
        Packed::<f64>::new(search.queries, center, places.iter().map(|&place| queries[place] as usize)).norms;
    let mut within: Vec<Vec<NodeId>> = vec![Vec::new(); places.len()];
    for_each_key::<f64>(search, center, queries, places, |row, keys, ids| {
        let own = queries[places[row]];
        let limit = radius[row] - query_norms[row];
        let near =
            keys.iter().zip(ids).filter(|&(&key, &id)| key <= limit && !(search.skip_own && id == own));
        within[row].extend(near.map(|(_, &id)| id));
    });
    let mut measured = Vec::new();
    for (row, &place) in places.iter().enumerate() {
        let query = queries[place] as usize;
        measured.clear();
        search.queries.squared_distances(query, search.targets, within[row].iter().copied(), &mut measured);
        take_nearest(&mut measured, search.n_neighbors);
        found[place].clone_from(&measured);
    }
}

/// Sorts by distance, then number, and keeps the first `n`.
pub(super) fn take_nearest(measured: &mut Vec<(f64, NodeId)>, n: usize) {
    let by_distance = |a: &(f64, NodeId), b: &(f64, NodeId)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    if n == 0 {
        measured.clear();
    } else if measured.len() > n {
        measured.select_nth_unstable_by(n - 1, by_distance);
        measured.truncate(n);
    }
    measured.sort_unstable_by(by_distance);
}

/// Calls `visit(row, keys, targets)` for blocks of keys, the query's own norm left out of them; `row` counts
/// `places`. Returns the queries' norms.
fn for_each_key<F: Coarse>(
    search: &Search<'_>,
    center: &Center,
    queries: &[NodeId],
    places: &[usize],
    mut visit: impl FnMut(usize, &[F], &[NodeId]),
) -> Vec<f64> {
    let packed = Packed::<F>::new(search.queries, center, places.iter().map(|&p| queries[p] as usize));
    let n_targets = search.targets.count();
    let mut products: Vec<F> = std::iter::repeat_n(F::ZERO, TILE * TILE).collect();
    let mut ids = Vec::with_capacity(TILE);
    for first in (0..n_targets).step_by(TILE) {
        let end = (first + TILE).min(n_targets);
        ids.clear();
        ids.extend(first as NodeId..end as NodeId);
        let block = Packed::<F>::new(search.targets, center, ids.iter().map(|&id| id as usize));
        for first_row in (0..packed.count()).step_by(TILE) {
            let rows = first_row..(first_row + TILE).min(packed.count());
            multiply(&packed, rows.clone(), &block, 0..ids.len(), &mut products);
            for (row, keys) in rows.zip(products.chunks_exact_mut(ids.len())) {
                for (key, &norm) in keys.iter_mut().zip(&block.rounded_norms) {
                    *key = key.plus(norm);
                }
                visit(row, keys, &ids);
            }
        }
    }
    packed.norms
}
