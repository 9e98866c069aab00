//! Exact nearest neighbours: products of matrices propose, direct differences decide.
//!
//! For a query `q` and a target `t`, `|q - t|^2 = |q|^2 + |t|^2 - 2 q·t`, and all the products `q·t` of a block
//! are one matrix product. Computed in floating point with rounding unit `u` its error is below
//! `c (|q| + |t|)^2 <= 2c (|q|^2 + |t|^2)` with `c = (features + 16) u`. So the key
//! `(1 - 2c) (|q|^2 + |t|^2) - 2 q·t` is never above the true squared distance. The targets with the smallest
//! keys are measured by direct differences; when the k-th nearest of those is no farther than the largest key
//! kept, no other target can be nearer. Where that fails the same is done with a finer product, and at last
//! every target that the bound cannot exclude is measured. The result is exact, whatever the machine.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicUsize, Ordering};

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::points::Space;
use crate::graph::NodeId;

/// Queries that share one pass over the targets.
const QUERIES: usize = 768;
/// Queries of one product, and targets of one product.
const QUERY_BLOCK: usize = 256;
const TARGET_BLOCK: usize = 512;
/// Coordinates below this have sums of squares that 32-bit floats can hold.
const LARGEST_F32: f64 = 1e15;
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
    report: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> ControlFlow<(), Vec<Nearest>> {
    let n_points = search.queries.count();
    let everyone: Vec<NodeId> = (0..n_points as NodeId).collect();
    let center = Center::new(search.targets);
    if n_points < 4 * QUERIES || !coarse_suffices(search, &center) {
        return nearest(search, &everyone, report);
    }
    let most = most_kept(search.n_neighbors);
    let mut blocks: Vec<Option<Block>> =
        everyone.chunks(QUERIES).map(|points| Some(Block::new(points, most))).collect();
    let n_blocks = blocks.len();
    // The first round is every block with itself.
    for round in 0..=n_blocks {
        report(n_points * round / (n_blocks + 1))?;
        let mut meetings: Vec<(Block, Option<Block>)> = meetings(n_blocks, round)
            .filter_map(|(a, b)| blocks[a].take().map(|block| (block, b.and_then(|b| blocks[b].take()))))
            .collect();
        meetings.par_iter_mut().for_each(|(a, b)| match b {
            Some(b) => a.meet(b, search, &center),
            None => a.meet_itself(search, &center),
        });
        for block in meetings.into_iter().flat_map(|(a, b)| [Some(a), b]).flatten() {
            let place = block.points[0] as usize / QUERIES;
            blocks[place] = Some(block);
        }
    }
    let blocks: Vec<Block> = blocks.into_iter().flatten().collect();
    let mut found: Vec<Nearest> = Vec::with_capacity(n_points);
    let measured = blocks.into_par_iter().flat_map_iter(|block| block.measured(search, &center));
    let mut open = Vec::new();
    for (point, (nearest, complete)) in measured.collect::<Vec<_>>().into_iter().enumerate() {
        found.push(nearest);
        if !complete {
            open.push(point as NodeId);
        }
    }
    for (point, nearest) in open.iter().zip(nearest(search, &open, &mut |_| ControlFlow::Continue(()))?) {
        found[*point as usize] = nearest;
    }
    ControlFlow::Continue(found)
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
    kept: Vec<Kept<f32>>,
    /// The limit of each point's kept targets, side by side.
    limits: Vec<f32>,
}

impl Block {
    fn new(points: &[NodeId], most: usize) -> Self {
        let kept = points.iter().map(|_| Kept::new(most)).collect();
        Self { points: points.to_vec(), kept, limits: vec![f32::INFINITY; points.len()] }
    }

    fn offer(&mut self, row: usize, key: f32, target: NodeId) {
        let kept = &mut self.kept[row];
        if key < kept.limit {
            kept.add(key, target);
            self.limits[row] = kept.limit;
        }
    }

    /// Considers all pairs of points of two blocks, for both.
    fn meet(&mut self, other: &mut Self, search: &Search<'_>, center: &Center) {
        let (own, others) = (self.packed(search, center), other.packed(search, center));
        for_each_tile(&own, &others, |row, first, products| {
            let own_norm = f32::below(own.norms[row]);
            search.queries.arch().dispatch(|| {
                for (place, products) in products.chunks(CHUNK).enumerate() {
                    let start = first + place * CHUNK;
                    let norms = &others.rounded_norms[start..start + products.len()];
                    let limits = &other.limits[start..start + products.len()];
                    let limit = self.limits[row];
                    let mut near = false;
                    for lane in 0..products.len() {
                        near |= products[lane] + norms[lane] < limit;
                        near |= products[lane] + own_norm < limits[lane];
                    }
                    if near {
                        for (lane, &product) in products.iter().enumerate() {
                            let column = start + lane;
                            self.offer(row, product + others.rounded_norms[column], other.points[column]);
                            other.offer(column, product + own_norm, self.points[row]);
                        }
                    }
                }
            });
        });
    }

    /// Considers all pairs of points of this block.
    fn meet_itself(&mut self, search: &Search<'_>, center: &Center) {
        let own = self.packed(search, center);
        for_each_tile(&own, &own, |row, first, products| {
            for (lane, &product) in products.iter().enumerate() {
                let column = first + lane;
                if !(search.skip_own && column == row) {
                    self.offer(row, product + own.rounded_norms[column], self.points[column]);
                }
            }
        });
    }

    fn packed(&self, search: &Search<'_>, center: &Center) -> Packed<f32> {
        Packed::new(search.targets, center, self.points.iter().map(|&point| point as usize))
    }

    /// The nearest of those kept for each point, and whether no other can be as near.
    fn measured(mut self, search: &Search<'_>, center: &Center) -> Vec<(Nearest, bool)> {
        let norms = self.packed(search, center).norms;
        let measure = |((kept, &point), norm)| kept_nearest(search, kept, point, norm);
        self.kept.iter_mut().zip(&self.points).zip(norms).map(measure).collect()
    }
}

/// Calls `visit(row, first, products)` for the products of a row of `a` with rows of `b` from `first` on.
fn for_each_tile(a: &Packed<f32>, b: &Packed<f32>, mut visit: impl FnMut(usize, usize, &[f32])) {
    let mut products = vec![0.0; QUERY_BLOCK * TARGET_BLOCK];
    for first in (0..b.count()).step_by(TARGET_BLOCK) {
        let columns = first..(first + TARGET_BLOCK).min(b.count());
        for first_row in (0..a.count()).step_by(QUERY_BLOCK) {
            let rows = first_row..(first_row + QUERY_BLOCK).min(a.count());
            multiply(a, rows.clone(), b, columns.clone(), &mut products);
            for (row, products) in rows.zip(products.chunks_exact(columns.len())) {
                visit(row, first, products);
            }
        }
    }
}

/// Searches for `queries`, in parallel; between batches `report` is told how many are done.
pub(super) fn nearest(
    search: &Search<'_>,
    queries: &[NodeId],
    report: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> ControlFlow<(), Vec<Nearest>> {
    let center = Center::new(search.targets);
    let coarse_fails = AtomicUsize::new(0);
    let batch = QUERIES * rayon::current_num_threads().max(1) * 2;
    let mut found = Vec::with_capacity(queries.len());
    for queries in queries.chunks(batch) {
        report(found.len())?;
        let blocks = queries
            .par_chunks(QUERIES)
            .map(|queries| nearest_of_block(search, &center, queries, &coarse_fails));
        found.par_extend(blocks.flatten_iter());
    }
    ControlFlow::Continue(found)
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

/// The point around which products are computed: the nearer, the less they round.
struct Center {
    coordinates: Vec<f64>,
}

impl Center {
    /// The mean of all points.
    fn new(space: &Space<'_>) -> Self {
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
trait Coarse: Copy + Send + Sync + PartialOrd + faer::traits::ComplexField + Into<f64> {
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
struct Packed<F> {
    rows: Vec<F>,
    norms: Vec<f64>,
    /// The norms rounded down, so that keys made of them stay bounds.
    rounded_norms: Vec<F>,
    n_features: usize,
}

impl<F: Coarse> Packed<F> {
    fn new(space: &Space<'_>, center: &Center, points: impl ExactSizeIterator<Item = usize>) -> Self {
        let n_features = space.n_features();
        let shrink = 1.0 - 2.0 * (n_features as f64 + 16.0) * F::UNIT;
        let mut rows = Vec::with_capacity(points.len() * n_features);
        let norms: Vec<f64> = points
            .map(|point| shrink * space.centered_into(point, &center.coordinates, F::of, &mut rows))
            .collect();
        let rounded_norms = norms.iter().map(|&norm| F::below(norm)).collect();
        Self { rows, norms, rounded_norms, n_features }
    }

    fn count(&self) -> usize {
        self.norms.len()
    }

    fn block(&self, rows: Range<usize>) -> MatRef<'_, F> {
        let n_rows = rows.len();
        let values = &self.rows[rows.start * self.n_features..rows.end * self.n_features];
        MatRef::from_row_major_slice(values, n_rows, self.n_features)
    }
}

/// `-2 q·t` for rows of `a` and of `b`, row by row into the front of `products`.
fn multiply<F: Coarse>(
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
            let by_key =
                |a: &(F, NodeId), b: &(F, NodeId)| a.0.partial_cmp(&b.0).unwrap_or(std::cmp::Ordering::Equal);
            self.keys.select_nth_unstable_by(self.most, by_key);
            self.limit = self.keys[self.most].0;
            self.keys.truncate(self.most);
        }
    }
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
    let mut failed = Vec::new();
    for (row, kept) in kept.iter_mut().enumerate() {
        let (nearest, complete) = kept_nearest(search, kept, queries[places[row]], norms[row]);
        if !complete {
            failed.push(places[row]);
        }
        found[places[row]] = nearest;
    }
    failed
}

/// Measures the targets kept for a query: the nearest, and whether no other can be as near.
fn kept_nearest<F: Coarse>(
    search: &Search<'_>,
    kept: &mut Kept<F>,
    query: NodeId,
    norm: f64,
) -> (Nearest, bool) {
    kept.shrink();
    let mut measured = Vec::with_capacity(kept.keys.len());
    let ids = kept.keys.iter().map(|&(_, id)| id);
    search.queries.squared_distances(query as usize, search.targets, ids, &mut measured);
    take_nearest(&mut measured, search.n_neighbors);
    let limit: f64 = kept.limit.into();
    let farthest = measured.last().map_or(f64::INFINITY, |last| last.0);
    let complete = limit.is_infinite() || (measured.len() == search.n_neighbors && farthest < limit + norm);
    measured.shrink_to_fit();
    (measured, complete)
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
    let mut products: Vec<F> = std::iter::repeat_n(F::ZERO, QUERY_BLOCK * TARGET_BLOCK).collect();
    let mut ids = Vec::with_capacity(TARGET_BLOCK);
    for first in (0..n_targets).step_by(TARGET_BLOCK) {
        let end = (first + TARGET_BLOCK).min(n_targets);
        ids.clear();
        ids.extend(first as NodeId..end as NodeId);
        let block = Packed::<F>::new(search.targets, center, ids.iter().map(|&id| id as usize));
        for first_row in (0..packed.count()).step_by(QUERY_BLOCK) {
            let rows = first_row..(first_row + QUERY_BLOCK).min(packed.count());
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
