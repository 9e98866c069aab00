//! Neighbours of any queries: a coarse product for each block of them, a finer one for those it leaves open, and at
//! last every target that the bound cannot exclude.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::parallel::prelude::*;

use super::candidates::{Kept, kept_nearest, most_kept, take_nearest};
use super::packed::{Center, Coarse, Packed, multiply};
use super::tiles::{CHUNK, TILE};
use super::{LARGEST_F32, Nearest, Search};
use crate::graph::NodeId;
use crate::progress::Stopped;

/// Queries that share one pass over the targets.
pub(super) const QUERIES: usize = 768;

/// Searches for `queries`, in parallel; between batches `report` is told how many are done.
pub(in crate::neighbors) fn nearest(
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

/// Whether 32-bit products are fine enough for most of a sample of the queries.
pub(super) fn coarse_suffices(search: &Search<'_>, center: &Center) -> bool {
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
