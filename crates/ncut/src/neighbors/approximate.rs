//! Approximate nearest neighbours for many points: random trees make a start, and neighbours of neighbours improve
//! it (NN-descent; Dong, Moses and Li, 2011).
//!
//! Written here rather than taken from a crate because the result must be the same for any number of threads and
//! on any machine. Distances are estimated in a way that is ([`Rows`]). Work is done in fixed portions against a
//! snapshot, and what a portion finds is added to the lists in the end: a list keeps the nearest of all it was
//! offered, so the order of the offers makes no difference. In the end direct differences decide.
//!
//! Memory is what takes time: the points are put in the order of a tree's leaves, so that neighbours stand close to
//! each other.

use super::exact::{self, Nearest, take_nearest};
use super::forest::Sketches;
use super::rows::{Key, Meeting, Rows};
use super::space::Space;
use crate::graph::NodeId;
use crate::parallel::prelude::*;
use crate::progress::Stopped;
use crate::random::mix;

/// Points of a leaf at most, for each neighbour searched and in all.
const LEAF_PER_NEIGHBOR: usize = 4;
const MAX_IN_LEAF: usize = 1024;
/// Neighbours a list has room for beyond those searched.
const SPARE: usize = 6;
/// Neighbours of a point that are introduced to each other in a round: new ones, and old ones to new ones.
const MAX_NEW: usize = 32;
const MAX_OLD: usize = 20;
/// Points whose neighbours are introduced before the lists are updated.
const PORTION: usize = 1 << 14;
/// Rounds at most, and the share of list places that must change for another one.
const MAX_ROUNDS: usize = 12;
const MIN_CHANGE: f64 = 0.005;
/// Points whose neighbours are introduced by one thread at a time.
const CHUNK: usize = 256;
/// Parts of the points that are updated side by side.
const N_PARTS: usize = 64;

/// Searches for all points of `space`.
pub(super) fn nearest(
    space: &Space<'_>,
    n_neighbors: usize,
    skip_own: bool,
    seed: u64,
    report: &mut dyn FnMut(usize) -> Result<(), Stopped>,
) -> Result<Vec<Nearest>, Stopped> {
    let n_points = space.count();
    let rows = Rows::new(space, n_neighbors);
    let sketches = Sketches::new(&rows, seed);
    let leaf_size = (LEAF_PER_NEIGHBOR * n_neighbors).min(MAX_IN_LEAF);
    let order = sketches.leaves(leaf_size, mix(seed, 0)).concat();
    let (sketches, rows) = (sketches.reordered(&order), rows.reordered(&order));
    let mut lists = Lists::new(n_points, n_neighbors + SPARE);
    let n_trees = 4 + (n_points.isqrt() / 130).min(12);
    // Half of the way is the trees, the other half the rounds, of which few are needed.
    for tree in 0..n_trees {
        report(n_points * tree / (2 * n_trees))?;
        lists.join_leaves(&rows, &sketches.leaves(leaf_size, mix(seed, tree as u64)));
    }
    for round in 0..MAX_ROUNDS {
        report(n_points / 2 + n_points * round / (2 * MAX_ROUNDS))?;
        let n_changes = lists.introduce_neighbors(&rows, seed, round, report)?;
        if (n_changes as f64) < MIN_CHANGE * (n_points * n_neighbors) as f64 {
            break;
        }
    }
    report(n_points)?;
    let measured = |place: usize| {
        let point = order[place];
        let mut found = Vec::with_capacity(lists.room + 1);
        let own = (!skip_own).then_some(point);
        let ids = lists.of(place).map(|entry| order[entry.id() as usize]).chain(own);
        space.squared_distances(point as usize, space, ids, &mut found);
        take_nearest(&mut found, n_neighbors);
        (point, found)
    };
    let found: Vec<(NodeId, Nearest)> = (0..n_points).into_par_iter().map(measured).collect();
    let mut in_order: Vec<Nearest> = vec![Vec::new(); n_points];
    for (point, nearest) in found {
        in_order[point as usize] = nearest;
    }
    complete(space, n_neighbors, skip_own, &mut in_order, &mut || report(n_points))?;
    Ok(in_order)
}

/// Searches exactly for the points whose lists stayed short. Points of a far group that has fewer than `n_neighbors`
/// points know only each other, and so do the points of a small leaf.
fn complete(
    space: &Space<'_>,
    n_neighbors: usize,
    skip_own: bool,
    found: &mut [Nearest],
    report: &mut dyn FnMut() -> Result<(), Stopped>,
) -> Result<(), Stopped> {
    let short: Vec<NodeId> = (0..)
        .zip(&*found)
        .filter(|(_, nearest)| nearest.len() < n_neighbors)
        .map(|(point, _)| point)
        .collect();
    if short.is_empty() {
        return Ok(());
    }
    let search = exact::Search { queries: space, targets: space, n_neighbors, skip_own };
    let completed = exact::nearest(&search, &short, &mut |_| report())?;
    for (point, nearest) in short.into_iter().zip(completed) {
        found[point as usize] = nearest;
    }
    Ok(())
}

/// A neighbour in a list, in one number that orders by distance, then number of the neighbour: the key in the upper
/// 31 bits, the neighbour in 32, and last whether it was not introduced to the others yet.
#[derive(Clone, Copy)]
struct Entry(u64);

impl Entry {
    /// A place that is not taken: behind everything else.
    const FREE: Self = Self(u64::MAX);

    fn new(key: Key, id: NodeId) -> Self {
        Self(u64::from(key) << 33 | u64::from(id) << 1 | 1)
    }

    fn key(self) -> Key {
        (self.0 >> 33) as Key
    }

    fn id(self) -> NodeId {
        (self.0 >> 1) as NodeId
    }

    fn is_taken(self) -> bool {
        self.0 != Self::FREE.0
    }

    fn is_new(self) -> bool {
        self.0 & 1 == 1
    }

    fn set_old(&mut self) {
        self.0 &= !1;
    }
}

/// The nearest neighbours found so far of every point, nearest first.
struct Lists {
    /// One list after the other; what is free at the end of a list is [`Entry::FREE`].
    entries: Vec<Entry>,
    /// Neighbours in a list.
    room: usize,
}

/// Adds a neighbour if there is none nearer to take its place; tells whether the list changed.
fn add(list: &mut [Entry], key: Key, id: NodeId) -> bool {
    let entry = Entry::new(key, id);
    let place = list.partition_point(|other| other.0 | 1 < entry.0);
    // The same neighbour has the same distance, so it can only be here.
    if list.get(place).is_none_or(|other| other.0 | 1 == entry.0) {
        return false;
    }
    list[place..].rotate_right(1);
    list[place] = entry;
    true
}

/// What has a larger key does not get into the list.
fn limit(list: &[Entry]) -> Key {
    list.last().map_or(0, |last| last.key())
}

impl Lists {
    fn new(n_points: usize, room: usize) -> Self {
        let room = room.clamp(1, n_points.max(2) - 1);
        Self { entries: vec![Entry::FREE; n_points * room], room }
    }

    fn n_points(&self) -> usize {
        self.entries.len() / self.room
    }

    #[inline(always)]
    fn list(&self, point: NodeId) -> &[Entry] {
        &self.entries[point as usize * self.room..][..self.room]
    }

    /// The neighbours of a point.
    fn of(&self, point: usize) -> impl Iterator<Item = Entry> + '_ {
        self.list(point as NodeId).iter().copied().take_while(|entry| entry.is_taken())
    }

    /// Introduces all points of a leaf to each other. Leaves have no point in common, so all go side by side.
    fn join_leaves(&mut self, rows: &Rows, leaves: &[Vec<NodeId>]) {
        let room = self.room;
        let join = |meeting: &mut Meeting, ids: &Vec<NodeId>| {
            let mut entries = ids.iter().map(|&id| self.list(id)).collect::<Vec<_>>().concat();
            let mut limits: Vec<Key> = entries.chunks_exact(room).map(limit).collect();
            rows.measure(meeting, ids, ids.len());
            for a in 0..ids.len() {
                for (b, &key) in (a + 1..ids.len()).zip(meeting.keys(a, ids.len())) {
                    for (to, of) in [(a, b), (b, a)] {
                        if key <= limits[to] {
                            let list = &mut entries[to * room..][..room];
                            add(list, key, ids[of]);
                            limits[to] = limit(list);
                        }
                    }
                }
            }
            entries
        };
        let joined: Vec<Vec<Entry>> = leaves.par_iter().map_init(Meeting::default, join).collect();
        for (ids, entries) in leaves.iter().zip(joined) {
            for (&id, list) in ids.iter().zip(entries.chunks_exact(room)) {
                self.entries[id as usize * room..][..room].copy_from_slice(list);
            }
        }
    }

    /// One round: the neighbours of each point are introduced to each other. Returns how often a list changed.
    fn introduce_neighbors(
        &mut self,
        rows: &Rows,
        seed: u64,
        round: usize,
        report: &mut dyn FnMut(usize) -> Result<(), Stopped>,
    ) -> Result<usize, Stopped> {
        let guests = self.invite(mix(seed, round as u64 + 1000));
        let mut n_changes = 0;
        let n_points = self.n_points();
        let arch = pulp::Arch::new();
        for portion in guests.chunks(PORTION) {
            report(n_points / 2 + n_points * round / (2 * MAX_ROUNDS))?;
            let limits: Vec<Key> = self.entries.par_chunks_exact(self.room).map(limit).collect();
            let lists = &*self;
            let offers = portion.par_chunks(CHUNK).map_init(Meeting::default, |meeting, guests| {
                let mut offers: Vec<Vec<Offer>> = vec![Vec::new(); N_PARTS];
                for guests in guests {
                    rows.measure(meeting, &guests.ids, guests.n_new);
                    arch.dispatch(Introduce { guests, meeting, lists, limits: &limits, offers: &mut offers });
                }
                offers
            });
            let offers: Vec<Vec<Vec<Offer>>> = offers.collect();
            n_changes += self.accept(&offers);
        }
        Ok(n_changes)
    }

    /// For every point, those of its neighbours, in either direction, that are introduced this round: chosen by
    /// lot where there are too many. A neighbour that is chosen is new no longer.
    fn invite(&mut self, seed: u64) -> Vec<Guests> {
        let (n_points, room, part_size) = (self.n_points(), self.room, self.part_size());
        let links = |first: usize| {
            let mut links: Vec<Vec<Link>> = vec![Vec::new(); N_PARTS];
            for point in first..(first + CHUNK).min(n_points) {
                for entry in self.of(point) {
                    let link = Link { at: entry.id(), to: point as NodeId, is_new: entry.is_new() };
                    links[link.at as usize / part_size].push(link);
                }
            }
            links
        };
        let links: Vec<Vec<Vec<Link>>> = (0..n_points).into_par_iter().step_by(CHUNK).map(links).collect();
        let parts = self.entries.par_chunks_mut(part_size * room).enumerate();
        let guests = parts.flat_map_iter(|(part, entries)| {
            let first = part * part_size;
            let mut backward: Vec<Vec<Link>> = vec![Vec::new(); entries.len() / room];
            for link in links.iter().flat_map(|links| &links[part]) {
                backward[link.at as usize - first].push(*link);
            }
            let points = (first as NodeId..).zip(entries.chunks_exact_mut(room)).zip(backward);
            points.map(move |((point, list), backward)| Guests::choose(point, list, &backward, seed))
        });
        guests.collect()
    }

    /// Adds what was found to the lists, each part of the points by itself.
    fn accept(&mut self, offers: &[Vec<Vec<Offer>>]) -> usize {
        let (room, part_size) = (self.room, self.part_size());
        let parts = self.entries.par_chunks_mut(part_size * room).enumerate().map(|(part, entries)| {
            let mut n_changes = 0;
            for offer in offers.iter().flat_map(|offers| &offers[part]) {
                let list = &mut entries[(offer.to as usize - part * part_size) * room..][..room];
                n_changes += usize::from(add(list, offer.key, offer.of));
            }
            n_changes
        });
        parts.sum()
    }

    fn part_size(&self) -> usize {
        self.n_points().div_ceil(N_PARTS)
    }
}

/// Neighbours of a point that are to meet, the new ones first.
struct Guests {
    ids: Vec<NodeId>,
    n_new: usize,
}

impl Guests {
    /// Chooses from the neighbours in the list of `point` and those that have `point` in theirs.
    fn choose(point: NodeId, list: &mut [Entry], backward: &[Link], seed: u64) -> Self {
        // The same in either direction, so that duplicates follow each other when sorted.
        let lot = |other: NodeId| {
            let pair = u64::from(point.min(other)) << 32 | u64::from(point.max(other));
            mix(seed, pair) << 32 | u64::from(other)
        };
        let draw = |wanted: bool, most: usize| {
            let taken = list.iter().take_while(|entry| entry.is_taken());
            let forward = taken.filter(|entry| entry.is_new() == wanted).map(|entry| entry.id());
            let backward = backward.iter().filter(|link| link.is_new == wanted).map(|link| link.to);
            let mut lots: Vec<u64> = forward.chain(backward).map(lot).collect();
            lots.sort_unstable();
            lots.dedup();
            lots.truncate(most);
            lots.into_iter().map(|lot| lot as NodeId)
        };
        let mut ids: Vec<NodeId> = draw(true, MAX_NEW).collect();
        let n_new = ids.len();
        if n_new > 0 {
            ids.extend(draw(false, MAX_OLD));
        }
        for entry in list {
            if entry.is_new() && ids[..n_new].contains(&entry.id()) {
                entry.set_old();
            }
        }
        Self { ids, n_new }
    }
}

/// Point `to` has point `at` in its list.
#[derive(Clone, Copy)]
struct Link {
    at: NodeId,
    to: NodeId,
    is_new: bool,
}

/// Offers guests to each other that are near enough.
///
/// Work for the widest registers there are is a struct, because only so is all of it sure to be compiled for them.
struct Introduce<'i> {
    guests: &'i Guests,
    meeting: &'i Meeting,
    lists: &'i Lists,
    limits: &'i [Key],
    offers: &'i mut [Vec<Offer>],
}

impl pulp::NullaryFnOnce for Introduce<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { guests: Guests { ids, n_new }, meeting, lists, limits, offers } = self;
        let part_size = lists.part_size();
        let mut make = |to: NodeId, of: NodeId, key: Key| {
            offers[to as usize / part_size].push(Offer { to, of, key });
        };
        for (place, &a) in ids[..*n_new].iter().enumerate() {
            for (&b, &key) in ids[place + 1..].iter().zip(meeting.keys(place, ids.len())) {
                let (for_a, for_b) = (key <= limits[a as usize], key <= limits[b as usize]);
                // Who knows the other was offered to it, too.
                let is_known =
                    || (for_a && knows(lists.list(a), key, b)) || (for_b && knows(lists.list(b), key, a));
                if (for_a || for_b) && a != b && !is_known() {
                    if for_a {
                        make(a, b, key);
                    }
                    if for_b {
                        make(b, a, key);
                    }
                }
            }
        }
    }
}

/// Whether a neighbour is in a list.
#[inline(always)]
fn knows(list: &[Entry], key: Key, id: NodeId) -> bool {
    let entry = Entry::new(key, id);
    list.iter().fold(false, |known, other| known | (other.0 | 1 == entry.0))
}

/// `of` may be a neighbour of `to`.
#[derive(Clone, Copy)]
struct Offer {
    to: NodeId,
    of: NodeId,
    key: Key,
}
