//! The targets with the smallest keys of a query, and which of them are nearest by direct differences.

use super::packed::Coarse;
use super::{Nearest, Search};
use crate::graph::NodeId;

/// Targets kept for each query, to be measured.
pub(super) fn most_kept(n_neighbors: usize) -> usize {
    n_neighbors + n_neighbors / 2 + 16
}

/// The targets with the smallest keys so far.
pub(super) struct Kept<F> {
    pub(super) keys: Vec<(F, NodeId)>,
    /// How many to keep.
    most: usize,
    /// Nothing at or above this gets in.
    pub(super) limit: F,
}

impl<F: Coarse> Kept<F> {
    pub(super) fn new(most: usize) -> Self {
        Self { keys: Vec::with_capacity(2 * most), most, limit: F::INFINITY }
    }

    pub(super) fn add(&mut self, key: F, target: NodeId) {
        self.keys.push((key, target));
        if self.keys.len() == 2 * self.most {
            self.shrink();
        }
    }

    pub(super) fn shrink(&mut self) {
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

/// Measures the targets kept for a query, those with keys below `limit`: the nearest, and whether no other can be as
/// near. `measured` is room that is used again.
pub(super) fn kept_nearest<F: Coarse>(
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

/// Sorts by distance, then number, and keeps the first `n`.
pub(in crate::neighbors) fn take_nearest(measured: &mut Vec<(f64, NodeId)>, n: usize) {
    let by_distance = |a: &(f64, NodeId), b: &(f64, NodeId)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    if n == 0 {
        measured.clear();
    } else if measured.len() > n {
        measured.select_nth_unstable_by(n - 1, by_distance);
        measured.truncate(n);
    }
    measured.sort_unstable_by(by_distance);
}
