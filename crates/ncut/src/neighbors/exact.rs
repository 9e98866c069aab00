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

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::packed::{Center, Coarse, Packed, multiply};
use super::points::Space;
use crate::graph::NodeId;

/// Queries that share one pass over the targets.
const QUERIES: usize = 768;
/// Rows and columns of one product.
const TILE: usize = 384;
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
    if n_points < 4 * QUERIES && search.targets.largest() < LARGEST_F32 {
        report(0)?;
        return nearest_of_few(search, &center, &everyone, report);
    }
    if n_points < 4 * QUERIES || !coarse_suffices(search, &center) {
        return nearest(search, &everyone, report);
    }
    let block_size = n_points.div_ceil(n_blocks(n_points, rayon::current_num_threads()));
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
fn completed(search: &Search<'_>, measured: Vec<(Nearest, bool)>) -> ControlFlow<(), Vec<Nearest>> {
    let mut found: Vec<Nearest> = Vec::with_capacity(measured.len());
    let mut open = Vec::new();
    for (point, (nearest, complete)) in measured.into_iter().enumerate() {
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

/// Searches for every point of a small space among all: all keys of a point are there at once, and the smallest are
/// taken in two passes over them. The lowest keys of stretches tell a limit that enough keys are below.
fn nearest_of_few(
    search: &Search<'_>,
    center: &Center,
    everyone: &[NodeId],
    report: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> ControlFlow<(), Vec<Nearest>> {
    const ROWS: usize = 96;
    let n_points = everyone.len();
    let most = most_kept(search.n_neighbors);
    let packed = Packed::<f32>::new(search.targets, center, 0..n_points);
    let room = || (vec![0.0; ROWS * n_points], Vec::new(), Kept::new(n_points));
    let measure_rows = |(products, lowest, kept): &mut (Vec<f32>, Vec<f32>, Kept<f32>), first: usize| {
        let rows = first..(first + ROWS).min(n_points);
        multiply(&packed, rows.clone(), &packed, 0..n_points, products);
        let nearest_of_row = |(row, keys): (usize, &mut [f32])| {
            let own = search.skip_own.then_some(row);
            let norms = &packed.rounded_norms;
            search.queries.arch().dispatch(SmallestKeys { keys, norms, own, most, lowest, kept });
            kept_nearest(search, kept, row as NodeId, packed.norms[row])
        };
        rows.zip(products.chunks_exact_mut(n_points)).map(nearest_of_row).collect::<Vec<_>>()
    };
    let starts: Vec<usize> = (0..n_points).step_by(ROWS).collect();
    let measured: Vec<Vec<_>> = starts.into_par_iter().map_init(room, measure_rows).collect();
    report(n_points)?;
    completed(search, measured.into_iter().flatten().collect())
}

/// Takes the smallest keys of a row, `most` of them or a few more, out of the products of it with all points.
struct SmallestKeys<'k> {
    keys: &'k mut [f32],
    norms: &'k [f32],
    own: Option<usize>,
    most: usize,
    /// The lowest keys of stretches; room that is used again.
    lowest: &'k mut Vec<f32>,
    kept: &'k mut Kept<f32>,
}

impl pulp::NullaryFnOnce for SmallestKeys<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { keys, norms, own, most, lowest, kept } = self;
        for (key, &norm) in keys.iter_mut().zip(norms) {
            *key += norm;
        }
        if let Some(own) = own {
            keys[own] = f32::INFINITY;
        }
        // Lane by lane: stretch number i of a run holds keys i, i + 16, i + 32 and so on.
        lowest.clear();
        let run = CHUNK * (keys.len() / (3 * most).next_multiple_of(CHUNK)).max(1);
        for keys in keys.chunks(run) {
            let mut lanes = [f32::INFINITY; CHUNK];
            for keys in keys.chunks_exact(CHUNK) {
                for (lane, &key) in lanes.iter_mut().zip(keys) {
                    *lane = if key < *lane { key } else { *lane };
                }
            }
            lowest.extend(lanes);
        }
        kept.keys.clear();
        kept.limit = f32::INFINITY;
        if lowest.len() > most {
            kept.limit = *lowest.select_nth_unstable_by(most, f32::total_cmp).1;
        }
        let limit = kept.limit;
        for (start, keys) in (0..).step_by(CHUNK).zip(keys.chunks(CHUNK)) {
            let mut any = false;
            for &key in keys {
                any |= key < limit;
            }
            if any {
                let near = (start..).zip(keys).filter(|&(_, &key)| key < limit);
                kept.keys.extend(near.map(|(id, &key)| (key, id)));
            }
        }
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
        let measure = |((kept, &point), &norm)| kept_nearest(search, kept, point, norm);
        self.kept.iter_mut().zip(&self.points).zip(&self.packed.norms).map(measure).collect()
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
    let ranges = |count: usize| (0..count).step_by(TILE).map(move |first| first..(first + TILE).min(count));
    ranges(n_columns).flat_map(move |columns| ranges(n_rows).map(move |rows| (rows, columns.clone())))
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
    let n_first = search.n_neighbors.min(kept.keys.len());
    if n_first > 0 && n_first < kept.keys.len() {
        kept.keys.select_nth_unstable_by(n_first - 1, by_key);
    }
    let mut measured = Vec::with_capacity(kept.keys.len());
    let (first, rest) = kept.keys.split_at_mut(n_first);
    let mut measure = |keys: &[(F, NodeId)]| {
        let ids = keys.iter().map(|&(_, id)| id);
        search.queries.squared_distances(query as usize, search.targets, ids, &mut measured);
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
