//! Exact nearest neighbours: products of matrices propose, direct differences decide.
//!
//! For a query `q` and a target `t`, `|q - t|^2 = |q|^2 + |t|^2 - 2 q·t`, and all the products `q·t` of a block
//! are one matrix product. Computed in floating point with rounding unit `u` its error is below
//! `c (|q| + |t|)^2 <= 2c (|q|^2 + |t|^2)` with `c = (features + 16) u`. So the key
//! `(1 - 2c) (|q|^2 + |t|^2) - 2 q·t` is never above the true squared distance. The targets with the smallest
//! keys are measured by direct differences; when the k-th nearest of those is no farther than the largest key
//! kept, no other target can be nearer. Where that fails the same is done with a finer product, and at last
//! every target that the bound cannot exclude is measured. The result is exact, whatever the machine.

use std::ops::ControlFlow;
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

/// Which targets are searched.
#[derive(Clone, Copy)]
pub(super) enum Targets<'t> {
    All,
    /// These, in ascending order.
    Some(&'t [NodeId]),
}

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
            .map(|queries| nearest_of_block(search, &center, queries, Targets::All, &coarse_fails));
        found.par_extend(blocks.flatten_iter());
    }
    ControlFlow::Continue(found)
}

/// Searches for one block of queries among some targets, in this thread.
pub(super) fn nearest_of_block(
    search: &Search<'_>,
    center: &Center,
    queries: &[NodeId],
    targets: Targets<'_>,
    coarse_fails: &AtomicUsize,
) -> Vec<Nearest> {
    let mut found: Vec<Nearest> = vec![Vec::new(); queries.len()];
    let mut open: Vec<usize> = (0..queries.len()).collect();
    // 32-bit products are twice as fast; where they failed before, they are not tried again.
    let fits = search.queries.largest() < LARGEST_F32 && search.targets.largest() < LARGEST_F32;
    if fits && coarse_fails.load(Ordering::Relaxed) < 3 * QUERIES {
        let failed = pass::<f32>(search, center, queries, targets, &open, &mut found);
        if failed.len() * 4 > queries.len() {
            coarse_fails.fetch_add(failed.len(), Ordering::Relaxed);
        }
        open = failed;
    }
    open = pass::<f64>(search, center, queries, targets, &open, &mut found);
    measure_all_within_bound(search, center, queries, targets, &open, &mut found);
    found
}

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
    n_features: usize,
}

impl<F: Coarse> Packed<F> {
    fn new(space: &Space<'_>, center: &Center, points: impl Iterator<Item = usize>) -> Self {
        let n_features = space.n_features();
        let shrink = 1.0 - 2.0 * (n_features as f64 + 16.0) * F::UNIT;
        let (mut rows, mut norms) = (Vec::new(), Vec::new());
        for point in points {
            let mut norm = 0.0;
            rows.extend(space.coordinates(point).zip(&center.coordinates).map(|(value, center)| {
                let value = value - center;
                norm += value * value;
                F::of(value)
            }));
            norms.push(shrink * norm);
        }
        Self { rows, norms, n_features }
    }

    fn count(&self) -> usize {
        self.norms.len()
    }

    fn block(&self, rows: std::ops::Range<usize>) -> MatRef<'_, F> {
        let n_rows = rows.len();
        let values = &self.rows[rows.start * self.n_features..rows.end * self.n_features];
        MatRef::from_row_major_slice(values, n_rows, self.n_features)
    }
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
        Self { keys: Vec::with_capacity(4 * most), most, limit: F::INFINITY }
    }

    fn add(&mut self, key: F, target: NodeId) {
        self.keys.push((key, target));
        if self.keys.len() == 4 * self.most {
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
    targets: Targets<'_>,
    places: &[usize],
    found: &mut [Nearest],
) -> Vec<usize> {
    if places.is_empty() {
        return Vec::new();
    }
    let most = search.n_neighbors + search.n_neighbors / 2 + 16;
    let mut kept: Vec<Kept<F>> = places.iter().map(|_| Kept::new(most)).collect();
    let norms = for_each_key::<F>(search, center, queries, targets, places, |row, keys, ids| {
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
    let mut measured = Vec::new();
    for (row, kept) in kept.iter_mut().enumerate() {
        kept.shrink();
        let query = queries[places[row]];
        let ids = kept.keys.iter().map(|&(_, id)| id);
        search.queries.squared_distances(query as usize, search.targets, ids, &mut measured);
        take_nearest(&mut measured, search.n_neighbors);
        let limit: f64 = kept.limit.into();
        let farthest = measured.last().map_or(f64::INFINITY, |last| last.0);
        let complete =
            limit.is_infinite() || (measured.len() == search.n_neighbors && farthest < limit + norms[row]);
        if !complete {
            failed.push(places[row]);
        }
        found[places[row]] = measured.clone();
    }
    failed
}

/// For the queries that ties or rounding leave open: measures every target that may be as near as the k-th
/// found so far.
fn measure_all_within_bound(
    search: &Search<'_>,
    center: &Center,
    queries: &[NodeId],
    targets: Targets<'_>,
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
    for_each_key::<f64>(search, center, queries, targets, places, |row, keys, ids| {
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
    targets: Targets<'_>,
    places: &[usize],
    mut visit: impl FnMut(usize, &[F], &[NodeId]),
) -> Vec<f64> {
    let packed = Packed::<F>::new(search.queries, center, places.iter().map(|&p| queries[p] as usize));
    let n_targets = match targets {
        Targets::All => search.targets.count(),
        Targets::Some(ids) => ids.len(),
    };
    let mut products: Vec<F> = std::iter::repeat_n(F::ZERO, QUERY_BLOCK * TARGET_BLOCK).collect();
    let mut ids = Vec::with_capacity(TARGET_BLOCK);
    for first in (0..n_targets).step_by(TARGET_BLOCK) {
        let end = (first + TARGET_BLOCK).min(n_targets);
        ids.clear();
        match targets {
            Targets::All => ids.extend(first as NodeId..end as NodeId),
            Targets::Some(all) => ids.extend_from_slice(&all[first..end]),
        }
        let block = Packed::<F>::new(search.targets, center, ids.iter().map(|&id| id as usize));
        // Rounded down, so that the keys stay bounds.
        let norms: Vec<F> = block.norms.iter().map(|&norm| F::below(norm)).collect();
        for first_row in (0..packed.count()).step_by(QUERY_BLOCK) {
            let rows = first_row..(first_row + QUERY_BLOCK).min(packed.count());
            let products = &mut products[..rows.len() * ids.len()];
            matmul(
                MatMut::from_row_major_slice_mut(products, rows.len(), ids.len()),
                Accum::Replace,
                packed.block(rows.clone()),
                block.block(0..ids.len()).transpose(),
                F::MINUS_TWO,
                Par::Seq,
            );
            for (row, keys) in rows.zip(products.chunks_exact_mut(ids.len())) {
                for (key, &norm) in keys.iter_mut().zip(&norms) {
                    *key = key.plus(norm);
                }
                visit(row, keys, &ids);
            }
        }
    }
    packed.norms
}
