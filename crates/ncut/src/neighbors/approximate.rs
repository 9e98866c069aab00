//! Approximate nearest neighbours for many points: random trees make a start, and neighbours of neighbours improve
//! it (NN-descent; Dong, Moses and Li, 2011).
//!
//! Written here rather than taken from a crate because the result must be the same for any number of threads and
//! on any machine. Distances are summed in a fixed order, whatever the width of the machine's registers. Work is
//! done in fixed portions against a snapshot, and what a portion finds is added to the lists in the end: a list
//! keeps the nearest of all it was offered, so the order of the offers makes no difference.
//!
//! Memory is what takes time: trees divide the points by short sketches of them, and the points are put in the
//! order of a tree's leaves, so that neighbours stand close to each other.

use std::ops::ControlFlow;

use memmap2::MmapMut;
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::exact::{Nearest, take_nearest};
use super::points::Space;
use crate::graph::NodeId;
use crate::random::Random;

/// Points of a leaf at most, for each neighbour searched.
const LEAF_PER_NEIGHBOR: usize = 4;
/// Neighbours a list has room for beyond those searched.
const SPARE: usize = 6;
/// Neighbours of a point that are introduced to each other in a round: new ones, and old ones to new ones.
const MOST_NEW: usize = 28;
const MOST_OLD: usize = 16;
/// Points whose neighbours are introduced before the lists are updated.
const PORTION: usize = 1 << 14;
/// Rounds at most, and the share of list places that must change for another one.
const MOST_ROUNDS: usize = 12;
const LEAST_CHANGE: f64 = 0.005;
/// Parts of the points that are updated side by side.
const N_PARTS: usize = 64;

/// Searches for all points of `space`.
pub(super) fn nearest(
    space: &Space<'_>,
    n_neighbors: usize,
    skip_own: bool,
    seed: u64,
    report: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> ControlFlow<(), Vec<Nearest>> {
    let n_points = space.count();
    let sketches = Rows::sketches(space, seed);
    let leaf_size = LEAF_PER_NEIGHBOR * n_neighbors;
    let order = leaves(&sketches, leaf_size, seed, 0).concat();
    let (sketches, rows) = (sketches.reordered(&order), Rows::new(space, &order));
    let mut lists = Lists::new(n_points, n_neighbors + SPARE);
    let n_trees = 4 + (n_points.isqrt() / 130).min(12);
    // Half of the way is the trees, the other half the rounds, of which few are needed.
    for tree in 0..n_trees {
        report(n_points * tree / (2 * n_trees))?;
        lists.join_leaves(&rows, leaves(&sketches, leaf_size, seed, tree));
    }
    for round in 0..MOST_ROUNDS {
        report(n_points / 2 + n_points * round / (2 * MOST_ROUNDS))?;
        let n_changes = lists.introduce_neighbors(&rows, seed, round, report)?;
        if (n_changes as f64) < LEAST_CHANGE * (n_points * n_neighbors) as f64 {
            break;
        }
    }
    report(n_points)?;
    let measured = |(place, list): (usize, Vec<Entry>)| {
        let point = order[place];
        let mut found = Vec::with_capacity(list.len() + 1);
        let own = (!skip_own).then_some(point);
        let ids = list.iter().map(|entry| order[entry.id as usize]).chain(own);
        space.squared_distances(point as usize, space, ids, &mut found);
        take_nearest(&mut found, n_neighbors);
        (point, found)
    };
    let found: Vec<(NodeId, Nearest)> = lists.of_point.into_par_iter().enumerate().map(measured).collect();
    let mut in_order: Vec<Nearest> = vec![Vec::new(); n_points];
    for (point, nearest) in found {
        in_order[point as usize] = nearest;
    }
    ControlFlow::Continue(in_order)
}

/// Lanes of a sum, and coordinates after which it is looked at.
const LANES: usize = 32;
const STRIDE: usize = 256;

/// Numbers in a sketch of a point.
const SKETCH: usize = 2 * LANES;

/// Points in 32 bits, each filled up with zeros to a whole number of lanes.
struct Rows {
    values: Floats,
    width: usize,
    count: usize,
    arch: pulp::Arch,
}

impl Rows {
    /// The points in the given order.
    fn new(space: &Space<'_>, order: &[NodeId]) -> Self {
        let width = space.n_features().next_multiple_of(LANES);
        let mut values = Floats::zeros(order.len() * width);
        let fill = |(row, &point): (&mut [f32], &NodeId)| narrow(space, point as usize, row);
        values.as_mut_slice().par_chunks_exact_mut(width).zip(order).for_each(fill);
        Self { values, width, count: order.len(), arch: space.arch() }
    }

    /// Sketches of the points: their products with random rows of -1 and 1, which keep distances about.
    fn sketches(space: &Space<'_>, seed: u64) -> Self {
        let width = space.n_features().next_multiple_of(LANES);
        let signs: Vec<f32> = (0..SKETCH * width)
            .map(|place| if mix(seed, place as u64) & 1 == 0 { 1.0 } else { -1.0 })
            .collect();
        let arch = space.arch();
        let mut values = Floats::zeros(space.count() * SKETCH);
        values.as_mut_slice().par_chunks_exact_mut(SKETCH).enumerate().for_each_init(
            || vec![0.0; width],
            |row, (point, sketch)| {
                narrow(space, point, row);
                arch.dispatch(Project { row, signs: &signs, sketch });
            },
        );
        Self { values, width: SKETCH, count: space.count(), arch }
    }

    fn reordered(&self, order: &[NodeId]) -> Self {
        let mut values = Floats::zeros(order.len() * self.width);
        for (row, &point) in values.as_mut_slice().chunks_exact_mut(self.width).zip(order) {
            row.copy_from_slice(self.row(point));
        }
        Self { values, width: self.width, count: self.count, arch: self.arch }
    }

    #[inline(always)]
    fn row(&self, point: NodeId) -> &[f32] {
        &self.values.as_slice()[point as usize * self.width..][..self.width]
    }
}

/// Many floats, in large pages where the system has them: rows are visited in no order, and with small pages nearly
/// every visit would have to look up where its page is.
enum Floats {
    Mapped(MmapMut),
    Plain(Vec<f32>),
}

impl Floats {
    fn zeros(len: usize) -> Self {
        let Ok(map) = MmapMut::map_anon((len * size_of::<f32>()).max(1)) else {
            return Self::Plain(vec![0.0; len]);
        };
        // Advice may be refused; then the pages are small.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        Self::Mapped(map)
    }

    #[inline(always)]
    fn as_slice(&self) -> &[f32] {
        match self {
            Self::Mapped(map) => pulp::bytemuck::cast_slice(map),
            Self::Plain(values) => values,
        }
    }

    fn as_mut_slice(&mut self) -> &mut [f32] {
        match self {
            Self::Mapped(map) => pulp::bytemuck::cast_slice_mut(map),
            Self::Plain(values) => values,
        }
    }
}

/// A point in 32 bits, scaled to at most 1 so that no square overflows.
fn narrow(space: &Space<'_>, point: usize, row: &mut [f32]) {
    let scale = 1.0 / space.largest().max(f64::MIN_POSITIVE);
    for (place, value) in row.iter_mut().zip(space.coordinates(point)) {
        *place = (value * scale) as f32;
    }
}

/// The products of a row with rows of signs.
struct Project<'p> {
    row: &'p [f32],
    signs: &'p [f32],
    sketch: &'p mut [f32],
}

// Work for the widest registers there are is a struct, because only so is all of it sure to be compiled for them.
impl WithSimd for Project<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for (product, signs) in self.sketch.iter_mut().zip(self.signs.chunks_exact(self.row.len())) {
            *product = dot(simd, self.row, signs);
        }
    }
}

/// Squared distance of two rows, or any number above `limit` if it is above `limit`.
#[inline(always)]
fn squared_within<S: Simd>(simd: S, a: &[f32], b: &[f32], limit: f32) -> f32 {
    let mut sums = [simd.splat_f32s(0.0); LANES];
    for (a, b) in a.chunks(STRIDE).zip(b.chunks(STRIDE)) {
        add_up(simd, &mut sums, a, b, |a, b| {
            let difference = simd.sub_f32s(a, b);
            simd.mul_f32s(difference, difference)
        });
        let total = total::<S>(&sums);
        if total > limit {
            return total;
        }
    }
    total::<S>(&sums)
}

#[inline(always)]
fn dot<S: Simd>(simd: S, a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [simd.splat_f32s(0.0); LANES];
    add_up(simd, &mut sums, a, b, |a, b| simd.mul_f32s(a, b));
    total::<S>(&sums)
}

/// Adds terms to as many registers as make up the lanes: coordinate `i` goes to lane `i % LANES`, whatever the
/// width of a register.
#[inline(always)]
fn add_up<S: Simd>(
    simd: S,
    sums: &mut [S::f32s; LANES],
    a: &[f32],
    b: &[f32],
    term: impl Fn(S::f32s, S::f32s) -> S::f32s,
) {
    let n_registers = LANES / S::F32_LANES;
    let (a, b) = (S::as_simd_f32s(a).0, S::as_simd_f32s(b).0);
    for (a, b) in a.chunks_exact(n_registers).zip(b.chunks_exact(n_registers)) {
        for register in 0..n_registers {
            sums[register] = simd.add_f32s(sums[register], term(a[register], b[register]));
        }
    }
}

/// The lanes added up half by half.
#[inline(always)]
fn total<S: Simd>(sums: &[S::f32s; LANES]) -> f32 {
    let lanes: &[f32] = pulp::bytemuck::cast_slice(&sums[..LANES / S::F32_LANES]);
    let sixteen: [f32; 16] = std::array::from_fn(|lane| lanes[lane] + lanes[lane + 16]);
    let eight: [f32; 8] = std::array::from_fn(|lane| sixteen[lane] + sixteen[lane + 8]);
    let four: [f32; 4] = std::array::from_fn(|lane| eight[lane] + eight[lane + 4]);
    (four[0] + four[2]) + (four[1] + four[3])
}

/// The leaves of a random tree: each split is the plane in the middle between two random points.
fn leaves(rows: &Rows, leaf_size: usize, seed: u64, tree: usize) -> Vec<Vec<NodeId>> {
    let mut open: Vec<(Vec<NodeId>, u64)> =
        vec![((0..rows.count as NodeId).collect(), mix(seed, tree as u64))];
    let mut leaves = Vec::new();
    // Level by level, all splits of a level side by side.
    while !open.is_empty() {
        let split: Vec<Split> =
            open.into_par_iter().map(|(ids, seed)| split(rows, ids, leaf_size, seed)).collect();
        open = Vec::new();
        for split in split {
            match split {
                Split::Leaf(ids) => leaves.push(ids),
                Split::Two(halves) => open.extend(halves),
            }
        }
    }
    leaves
}

enum Split {
    Leaf(Vec<NodeId>),
    Two([(Vec<NodeId>, u64); 2]),
}

fn split(rows: &Rows, ids: Vec<NodeId>, leaf_size: usize, seed: u64) -> Split {
    if ids.len() <= leaf_size.max(2) {
        return Split::Leaf(ids);
    }
    let mut random = Random::new(seed);
    let first = random.below(ids.len() as u32) as usize;
    let second = (first + 1 + random.below(ids.len() as u32 - 1) as usize) % ids.len();
    let (a, b) = (ids[first], ids[second]);
    let (mut left, mut right) = rows.arch.dispatch(Divide { rows, ids: &ids, a, b });
    // Duplicates cannot be told apart by a plane; nor does a plane help that leaves nearly all on one side.
    if left.len().min(right.len()) * 20 < ids.len() {
        (left, right) = ids.iter().partition(|&&id| mix(seed, u64::from(id)) & 1 == 0);
        if left.is_empty() || right.is_empty() {
            return Split::Leaf(ids);
        }
    }
    Split::Two([(left, mix(seed, 1)), (right, mix(seed, 2))])
}

/// Divides points by the plane in the middle between two of them.
struct Divide<'d> {
    rows: &'d Rows,
    ids: &'d [NodeId],
    a: NodeId,
    b: NodeId,
}

impl WithSimd for Divide<'_> {
    type Output = (Vec<NodeId>, Vec<NodeId>);

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let (a, b) = (self.rows.row(self.a), self.rows.row(self.b));
        let normal: Vec<f32> = a.iter().zip(b).map(|(a, b)| a - b).collect();
        let middle: Vec<f32> = a.iter().zip(b).map(|(a, b)| 0.5 * (a + b)).collect();
        let offset = dot(simd, &normal, &middle);
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for &id in self.ids {
            if dot(simd, &normal, self.rows.row(id)) > offset {
                left.push(id);
            } else {
                right.push(id);
            }
        }
        (left, right)
    }
}

/// A hash of two numbers.
fn mix(a: u64, b: u64) -> u64 {
    Random::new(a ^ b.wrapping_mul(0xd6e8_feb8_6659_fd93)).next()
}

/// A neighbour in a list.
#[derive(Clone, Copy, PartialEq)]
struct Entry {
    squared: f32,
    id: NodeId,
    /// Not introduced to the others yet.
    is_new: bool,
}

/// The nearest neighbours found so far of every point, nearest first.
struct Lists {
    of_point: Vec<Vec<Entry>>,
    room: usize,
}

/// Adds a neighbour if there is none nearer to take its place; tells whether the list changed.
fn add(list: &mut Vec<Entry>, room: usize, squared: f32, id: NodeId) -> bool {
    let before = |entry: &Entry| entry.squared < squared || (entry.squared == squared && entry.id < id);
    if list.len() == room && list.last().is_some_and(before) {
        return false;
    }
    let place = list.partition_point(before);
    // The same neighbour has the same distance, so it can only be here.
    if list.get(place).is_some_and(|entry| entry.id == id) {
        return false;
    }
    if list.len() == room {
        list.pop();
    }
    list.insert(place, Entry { squared, id, is_new: true });
    true
}

#[inline(always)]
fn knows(list: &[Entry], id: NodeId) -> bool {
    list.iter().any(|entry| entry.id == id)
}

fn farthest(list: &[Entry], room: usize) -> f32 {
    if list.len() < room { f32::INFINITY } else { list.last().map_or(f32::INFINITY, |last| last.squared) }
}

impl Lists {
    fn new(n_points: usize, room: usize) -> Self {
        Self { of_point: vec![Vec::new(); n_points], room: room.min(n_points.saturating_sub(1)) }
    }

    /// Introduces all points of a leaf to each other. Leaves have no point in common, so all go side by side.
    fn join_leaves(&mut self, rows: &Rows, leaves: Vec<Vec<NodeId>>) {
        let room = self.room;
        let taken: Vec<(Vec<NodeId>, Vec<Vec<Entry>>)> = leaves
            .into_iter()
            .map(|ids| {
                let lists = ids.iter().map(|&id| std::mem::take(&mut self.of_point[id as usize])).collect();
                (ids, lists)
            })
            .collect();
        let joined: Vec<(Vec<NodeId>, Vec<Vec<Entry>>)> = taken
            .into_par_iter()
            .map(|(ids, mut lists)| {
                rows.arch.dispatch(JoinLeaf { rows, ids: &ids, lists: &mut lists, room });
                (ids, lists)
            })
            .collect();
        for (ids, lists) in joined {
            for (id, list) in ids.into_iter().zip(lists) {
                self.of_point[id as usize] = list;
            }
        }
    }

    /// One round: the neighbours of each point are introduced to each other. Returns how often a list changed.
    fn introduce_neighbors(
        &mut self,
        rows: &Rows,
        seed: u64,
        round: usize,
        report: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> ControlFlow<(), usize> {
        let guests = self.invite(mix(seed, round as u64 + 1000));
        let mut n_changes = 0;
        let n_points = rows.count;
        for first in (0..n_points).step_by(PORTION) {
            report(n_points / 2 + n_points * round / (2 * MOST_ROUNDS))?;
            let limits: Vec<f32> = self.of_point.par_iter().map(|list| farthest(list, self.room)).collect();
            let portion = &guests[first..(first + PORTION).min(n_points)];
            let lists = &self.of_point;
            let offers = portion.par_chunks(256).map(|guests| {
                let mut offers: Vec<Vec<Offer>> = vec![Vec::new(); N_PARTS];
                rows.arch.dispatch(Introduce { rows, lists, guests, limits: &limits, offers: &mut offers });
                offers
            });
            let offers: Vec<Vec<Vec<Offer>>> = offers.collect();
            n_changes += self.accept(&offers);
        }
        ControlFlow::Continue(n_changes)
    }

    /// For every point, those of its neighbours, in either direction, that are introduced this round: chosen by
    /// lot where there are too many. A neighbour that is chosen is new no longer.
    fn invite(&mut self, seed: u64) -> Vec<Guests> {
        let n_points = self.of_point.len();
        let mut starts = vec![0usize; n_points + 1];
        for entry in self.of_point.iter().flatten() {
            starts[entry.id as usize + 1] += 1;
        }
        for point in 0..n_points {
            starts[point + 1] += starts[point];
        }
        let mut free = starts.clone();
        let mut backward = vec![(0 as NodeId, false); starts[n_points]];
        for (point, list) in self.of_point.iter().enumerate() {
            for entry in list {
                backward[free[entry.id as usize]] = (point as NodeId, entry.is_new);
                free[entry.id as usize] += 1;
            }
        }
        let choose = |point: usize, list: &mut Vec<Entry>| -> Guests {
            let lot = |other: NodeId| {
                let (low, high) = ((point as u64).min(other.into()), (point as u64).max(other.into()));
                mix(seed, low << 32 | high)
            };
            let forward = list.iter().map(|entry| (entry.id, entry.is_new));
            let all: Vec<(NodeId, bool)> =
                forward.chain(backward[starts[point]..starts[point + 1]].iter().copied()).collect();
            let drawn = |wanted: bool, most: usize| {
                let mut drawn: Vec<(u64, NodeId)> = all
                    .iter()
                    .filter(|guest| guest.1 == wanted)
                    .map(|guest| (lot(guest.0), guest.0))
                    .collect();
                drawn.sort_unstable();
                drawn.dedup();
                drawn.truncate(most);
                drawn.into_iter().map(|(_, id)| id).collect::<Vec<NodeId>>()
            };
            let guests = Guests { new: drawn(true, MOST_NEW), old: drawn(false, MOST_OLD) };
            for entry in list.iter_mut().filter(|entry| entry.is_new) {
                entry.is_new = !guests.new.contains(&entry.id);
            }
            guests
        };
        self.of_point.par_iter_mut().enumerate().map(|(point, list)| choose(point, list)).collect()
    }

    /// Adds what was found to the lists, each part of the points by itself.
    fn accept(&mut self, offers: &[Vec<Vec<Offer>>]) -> usize {
        let room = self.room;
        let part_size = self.of_point.len().div_ceil(N_PARTS);
        let parts = self.of_point.par_chunks_mut(part_size).enumerate().map(|(part, lists)| {
            let mut n_changes = 0;
            for offer in offers.iter().flat_map(|offers| &offers[part]) {
                let list = &mut lists[offer.to as usize - part * part_size];
                n_changes += usize::from(add(list, room, offer.squared, offer.of));
            }
            n_changes
        });
        parts.sum()
    }
}

/// Neighbours of a point that are to meet.
struct Guests {
    new: Vec<NodeId>,
    old: Vec<NodeId>,
}

/// `of` may be a neighbour of `to`.
#[derive(Clone, Copy)]
struct Offer {
    to: NodeId,
    of: NodeId,
    squared: f32,
}

/// Introduces all points of a leaf to each other.
struct JoinLeaf<'j> {
    rows: &'j Rows,
    ids: &'j [NodeId],
    lists: &'j mut [Vec<Entry>],
    room: usize,
}

impl WithSimd for JoinLeaf<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { rows, ids, lists, room } = self;
        let mut limits: Vec<f32> = lists.iter().map(|list| farthest(list, room)).collect();
        for a in 0..ids.len() {
            for b in 0..a {
                let limit = limits[a].max(limits[b]);
                let squared = squared_within(simd, rows.row(ids[a]), rows.row(ids[b]), limit);
                if squared <= limit {
                    add(&mut lists[a], room, squared, ids[b]);
                    add(&mut lists[b], room, squared, ids[a]);
                    limits[a] = farthest(&lists[a], room);
                    limits[b] = farthest(&lists[b], room);
                }
            }
        }
    }
}

/// Measures all pairs of guests of which one at least is new.
struct Introduce<'i> {
    rows: &'i Rows,
    lists: &'i [Vec<Entry>],
    guests: &'i [Guests],
    limits: &'i [f32],
    offers: &'i mut [Vec<Offer>],
}

impl WithSimd for Introduce<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { rows, lists, guests, limits, offers } = self;
        let part_size = rows.count.div_ceil(N_PARTS);
        for Guests { new, old } in guests {
            for (place, &a) in new.iter().enumerate() {
                let limit_a = limits[a as usize];
                for others in [&new[..place], old] {
                    for &b in others {
                        // Who knows the other was offered to it, too.
                        if a == b || knows(&lists[a as usize], b) {
                            continue;
                        }
                        let limit_b = limits[b as usize];
                        let squared = squared_within(simd, rows.row(a), rows.row(b), limit_a.max(limit_b));
                        if squared <= limit_a {
                            offers[a as usize / part_size].push(Offer { to: a, of: b, squared });
                        }
                        if squared <= limit_b {
                            offers[b as usize / part_size].push(Offer { to: b, of: a, squared });
                        }
                    }
                }
            }
        }
    }
}
