//! Approximate nearest neighbours for many points: each cell of a k-means partition searches the cells around
//! it.
//!
//! Written here rather than taken from a crate for three reasons: the result is the same for any number of
//! threads and on any machine, because every decision rests on direct differences; nearly all work is the same
//! matrix product as in the exact search; and points that are no neighbours of their cell's surroundings are
//! caught by a second step that asks the neighbours' neighbours.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicUsize;

use rayon::prelude::*;

use super::exact::{self, Center, Nearest, Search, Targets, take_nearest};
use super::points::{Metric, Points, Space};
use crate::graph::NodeId;
use crate::random::Random;

/// Points of a cell, about.
const CELL_SIZE: usize = 256;
/// Cells that a cell searches, itself included.
const N_PROBES: usize = 20;
/// Rounds of k-means on the sample.
const N_ROUNDS: usize = 4;
/// Points of the sample for each cell.
const SAMPLE_PER_CELL: usize = 24;
/// Neighbours that are asked for theirs.
const N_ASKED: usize = 8;

/// Searches for all points of `space`.
pub(super) fn nearest(
    space: &Space<'_>,
    n_neighbors: usize,
    skip_own: bool,
    seed: u64,
    report: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> ControlFlow<(), Vec<Nearest>> {
    let n_points = space.count();
    let cells = Cells::new(space, seed, report)?;
    let center = Center::new(space);
    let search = Search { queries: space, targets: space, n_neighbors, skip_own };
    let coarse_fails = AtomicUsize::new(0);
    let mut found: Vec<Nearest> = vec![Vec::new(); n_points];
    let batch = 8 * rayon::current_num_threads().max(1);
    let mut n_done = 0;
    for first in (0..cells.count()).step_by(batch) {
        report(n_done)?;
        let searched: Vec<(usize, Vec<Nearest>)> = (first..(first + batch).min(cells.count()))
            .into_par_iter()
            .map(|cell| {
                let targets = cells.around(cell, n_neighbors + 1);
                let members = cells.members(cell);
                (
                    cell,
                    exact::nearest_of_block(
                        &search,
                        &center,
                        members,
                        Targets::Some(&targets),
                        &coarse_fails,
                    ),
                )
            })
            .collect();
        for (cell, nearest) in searched {
            n_done += nearest.len();
            for (&point, nearest) in cells.members(cell).iter().zip(nearest) {
                found[point as usize] = nearest;
            }
        }
    }
    report(n_done)?;
    ControlFlow::Continue(ask_neighbors(space, &found, n_neighbors, skip_own, &cells))
}

/// Every point asks its nearest neighbours, and those that count it among theirs, for their neighbours.
fn ask_neighbors(
    space: &Space<'_>,
    found: &[Nearest],
    n_neighbors: usize,
    skip_own: bool,
    cells: &Cells,
) -> Vec<Nearest> {
    let mut asked_by: Vec<Vec<NodeId>> = vec![Vec::new(); found.len()];
    for (point, nearest) in found.iter().enumerate() {
        for &(_, other) in nearest.iter().take(N_ASKED) {
            if asked_by[other as usize].len() < N_ASKED {
                asked_by[other as usize].push(point as NodeId);
            }
        }
    }
    let improve = |seen: &mut Vec<NodeId>, point: NodeId| -> Nearest {
        let known = &found[point as usize];
        // A point is seen in this turn when its mark is the turn's: one more than the point's number.
        let turn = point + 1;
        for &(_, other) in known {
            seen[other as usize] = turn;
        }
        if skip_own {
            seen[point as usize] = turn;
        }
        let mut candidates = Vec::new();
        let asked = known.iter().take(N_ASKED).map(|&(_, other)| other);
        for other in asked.chain(asked_by[point as usize].iter().copied()) {
            for &(_, candidate) in &found[other as usize] {
                if seen[candidate as usize] != turn {
                    seen[candidate as usize] = turn;
                    candidates.push(candidate);
                }
            }
        }
        let mut measured = Vec::new();
        space.squared_distances(point as usize, space, candidates.into_iter(), &mut measured);
        measured.extend_from_slice(known);
        take_nearest(&mut measured, n_neighbors);
        measured
    };
    // Cell by cell, because points of a cell have their neighbours in common: they stay in the cache.
    let improved: Vec<(NodeId, Nearest)> = (0..cells.count())
        .into_par_iter()
        // Few pieces, because each needs marks for all points.
        .with_min_len(cells.count().div_ceil(8 * rayon::current_num_threads().max(1)))
        .map_init(
            || vec![0; found.len()],
            |seen, cell| {
                let members = cells.members(cell).iter();
                members.map(|&point| (point, improve(seen, point))).collect::<Vec<_>>()
            },
        )
        .flatten_iter()
        .collect();
    let mut result: Vec<Nearest> = vec![Vec::new(); found.len()];
    for (point, nearest) in improved {
        result[point as usize] = nearest;
    }
    result
}

/// A partition of the points into cells of bounded size.
struct Cells {
    members: Vec<Vec<NodeId>>,
    /// For each cell the cells around it, nearest first, itself included.
    around: Vec<Vec<u32>>,
}

impl Cells {
    fn new(
        space: &Space<'_>,
        seed: u64,
        report: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> ControlFlow<(), Self> {
        let n_points = space.count();
        let n_cells = (n_points / CELL_SIZE).min(4 * n_points.isqrt()).max(1);
        let mut random = Random::new(seed);
        let sample = random.sample(n_points, (SAMPLE_PER_CELL * n_cells).min(n_points));
        let mut centroids: Vec<f64> =
            sample[..n_cells].iter().flat_map(|&point| space.coordinates(point as usize)).collect();
        for _ in 0..N_ROUNDS {
            let assigned = assign(space, &sample, &centroids, 1, report)?;
            centroids = means(space, &sample, &assigned, &centroids);
        }
        let everyone: Vec<NodeId> = (0..n_points as NodeId).collect();
        let assigned = assign(space, &everyone, &centroids, 1, report)?;

        let mut members: Vec<Vec<NodeId>> = vec![Vec::new(); n_cells];
        for (point, cell) in assigned.iter().enumerate() {
            members[cell[0].1 as usize].push(point as NodeId);
        }
        // Duplicates can crowd a cell: cut it, so that no search is larger than planned.
        let largest = 4 * n_points.div_ceil(n_cells);
        let n_features = space.n_features();
        let mut cut_members = Vec::new();
        let mut cut_centroids = Vec::new();
        for (cell, members) in members.into_iter().enumerate() {
            for part in members.chunks(largest) {
                cut_members.push(part.to_vec());
                cut_centroids.extend_from_slice(&centroids[cell * n_features..][..n_features]);
            }
        }
        let points = Points::new(&cut_centroids, n_features).expect("means of good points");
        let centroids = Space::new(points, Metric::Euclidean);
        let cells: Vec<NodeId> = (0..cut_members.len() as NodeId).collect();
        let n_neighbors = N_PROBES.min(cells.len());
        let search = Search { queries: &centroids, targets: &centroids, n_neighbors, skip_own: false };
        let nearest = exact::nearest(&search, &cells, &mut |_| ControlFlow::Continue(()))?;
        let around = nearest.into_iter().enumerate().map(|(cell, nearest)| {
            let mut cells: Vec<u32> = nearest.into_iter().map(|(_, cell)| cell).collect();
            // Among cells with the same centroid it may be missing.
            if !cells.contains(&(cell as u32)) {
                cells.insert(0, cell as u32);
            }
            cells
        });
        ControlFlow::Continue(Self { around: around.collect(), members: cut_members })
    }

    fn count(&self) -> usize {
        self.members.len()
    }

    fn members(&self, cell: usize) -> &[NodeId] {
        &self.members[cell]
    }

    /// All points of the cells around a cell, ascending; at least `n_least` of them, while there are.
    fn around(&self, cell: usize, n_least: usize) -> Vec<NodeId> {
        let mut points: Vec<NodeId> = self.around[cell]
            .iter()
            .flat_map(|&other| self.members[other as usize].iter().copied())
            .collect();
        if points.len() < n_least {
            points = self.members.concat();
        }
        points.sort_unstable();
        points
    }
}

/// The nearest centroids of some points.
fn assign(
    space: &Space<'_>,
    points: &[NodeId],
    centroids: &[f64],
    n_nearest: usize,
    report: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> ControlFlow<(), Vec<Nearest>> {
    let centroids = Points::new(centroids, space.n_features()).expect("means of good points");
    let centroids = Space::new(centroids, Metric::Euclidean);
    let search = Search { queries: space, targets: &centroids, n_neighbors: n_nearest, skip_own: false };
    exact::nearest(&search, points, &mut |_| report(0))
}

/// The means of the points assigned to each centroid; one that has none stays where it is.
fn means(space: &Space<'_>, points: &[NodeId], assigned: &[Nearest], centroids: &[f64]) -> Vec<f64> {
    let n_features = space.n_features();
    let mut sums = vec![0.0; centroids.len()];
    let mut counts = vec![0.0; centroids.len() / n_features];
    for (&point, nearest) in points.iter().zip(assigned) {
        let cell = nearest[0].1 as usize;
        counts[cell] += 1.0;
        for (sum, value) in sums[cell * n_features..].iter_mut().zip(space.coordinates(point as usize)) {
            *sum += value;
        }
    }
    for (place, sum) in sums.iter_mut().enumerate() {
        let count = counts[place / n_features];
        *sum = if count > 0.0 { *sum / count } else { centroids[place] };
    }
    sums
}
