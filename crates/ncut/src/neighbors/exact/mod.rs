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

mod candidates;
mod few_points;
mod packed;
mod queries;
mod round_robin;
mod tiles;

use super::space::Space;
use crate::graph::NodeId;
use crate::progress::Stopped;

pub(super) use candidates::take_nearest;
use few_points::nearest_of_few;
use packed::Center;
pub(super) use queries::nearest;
use queries::{QUERIES, coarse_suffices};
use round_robin::nearest_of_many;

/// Coordinates below this have sums of squares that 32-bit floats can hold.
const LARGEST_F32: f64 = 1e15;

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
    nearest_of_many(search, &center, &everyone, report)
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
