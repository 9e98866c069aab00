//! Merging the most similar pair of clusters, again and again, until k are left (the paper's step c).

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::ControlFlow;

use crate::graph::{Graph, NodeId};
use crate::progress::{Observer, Progress, Stage};

/// Merges, and rows to be filed, between two calls of the observer.
const MERGES_PER_REPORT: usize = 1024;
const ROWS_PER_REPORT: usize = 1 << 14;
/// Halvings a row may owe before they are paid: far from the exponents' end on both sides.
const MAX_HALVINGS: i32 = 400;

/// What the merging made of the clusters.
pub(super) struct Merge {
    /// New cluster of every cluster, numbered by first appearance.
    pub(super) merged_to: Vec<u32>,
    /// The observer broke it off; the rest was merged in haste.
    pub(super) cancelled: bool,
}

/// Merges the most similar pair until `n_clusters` are left; the row of the new cluster is the mean of the
/// two. Among equals the pair with the lowest numbers goes first, a merged cluster keeping its lower one.
/// When no pair is linked any more, the two of smallest volume merge, then the lowest numbers.
pub(super) fn merge(
    similarity: &Graph<'_>,
    volumes: &[f64],
    n_clusters: usize,
    observe: Observer<'_>,
) -> Merge {
    let n_start = similarity.n_nodes();
    let n_merges = n_start.saturating_sub(n_clusters);
    let mut progress = Progress::new(Stage::Hierarchy, n_merges as u64);
    let mut still_going = |done: usize| {
        progress.done = done as u64;
        observe(&progress)
    };
    let ControlFlow::Continue(mut clusters) = Clusters::new(similarity, volumes, &mut still_going) else {
        return Merge { merged_to: merge_in_order(volumes, n_clusters), cancelled: true };
    };
    let mut candidates = clusters.linked_pairs();
    let mut cancelled = false;
    for merge in 0..n_merges {
        if merge.is_multiple_of(MERGES_PER_REPORT) {
            cancelled = still_going(merge).is_break();
            if cancelled {
                break;
            }
        }
        match next_pair(&mut candidates, &clusters) {
            Some((a, b)) => clusters.merge(a, b, &mut candidates),
            None => {
                clusters.merge_smallest(n_merges - merge);
                break;
            }
        }
    }
    let (mut merged_to, n_left) = clusters.numbered();
    if n_left > n_clusters {
        let mut volumes = vec![0.0; n_left];
        for (slot, &cluster) in merged_to.iter().enumerate() {
            volumes[cluster as usize] += clusters.own_volume[slot];
        }
        let hasty = merge_in_order(&volumes, n_clusters);
        for cluster in &mut merged_to {
            *cluster = hasty[*cluster as usize];
        }
    }
    Merge { merged_to, cancelled }
}

/// Merges clusters that follow each other, into `n_clusters` of about the same volume: what is left to do
/// when there is no time.
pub(super) fn merge_in_order(volumes: &[f64], n_clusters: usize) -> Vec<u32> {
    let total: f64 = volumes.iter().sum();
    let mut merged_to = Vec::with_capacity(volumes.len());
    let (mut cluster, mut filled) = (0, 0.0);
    for (place, &volume) in volumes.iter().enumerate() {
        let clusters_after = n_clusters - 1 - cluster;
        let full = filled >= total * (cluster + 1) as f64 / n_clusters as f64;
        let must_open = volumes.len() - place <= clusters_after;
        let is_empty = merged_to.last() != Some(&(cluster as u32));
        if clusters_after > 0 && !is_empty && (full || must_open) {
            cluster += 1;
        }
        merged_to.push(cluster as u32);
        filled += volume;
    }
    merged_to
}

/// The clusters of a merging in progress. Slots are rows of the start; a merged cluster lives in the slot of
/// the longer row, and its number is the lowest of its parts.
///
/// The mean of two rows halves every entry that only one of them has. Halving the longer row entry by entry
/// would make merges with a hub cost its whole row each; instead a slot owes halvings: the similarity of
/// slots `a` and `b` is `rows[a][b] * 2^-(halvings[a] + halvings[b])`. Powers of two are exact, so this is
/// the same arithmetic.
struct Clusters {
    rows: Vec<BTreeMap<NodeId, f64>>,
    halvings: Vec<i32>,
    /// Lowest number of the cluster in a slot; `None` once it was merged into another.
    number: Vec<Option<u32>>,
    merged_into: Vec<u32>,
    /// Volume of the cluster living in a slot, and what the slot started with.
    volume: Vec<f64>,
    own_volume: Vec<f64>,
}

/// A pair of slots that may be merged, by the similarity and the numbers it had when it was filed.
///
/// Every linked pair always has a candidate that ranks at least as high as it does now: similarities fall
/// by halving, and whenever one may have risen the pair is filed again. So the first candidate that is up
/// to date is the right one.
#[derive(PartialEq)]
struct Candidate {
    similarity: f64,
    numbers: (u32, u32),
    slots: (u32, u32),
}

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.similarity
            .total_cmp(&other.similarity)
            .then_with(|| other.numbers.cmp(&self.numbers))
            .then_with(|| other.slots.cmp(&self.slots))
    }
}

/// Takes the most similar pair off the heap.
fn next_pair(candidates: &mut BinaryHeap<Candidate>, clusters: &Clusters) -> Option<(usize, usize)> {
    while let Some(filed) = candidates.pop() {
        let (a, b) = (filed.slots.0 as usize, filed.slots.1 as usize);
        let Some(current) = clusters.candidate(a, b) else { continue };
        if current == filed {
            return Some((a, b));
        }
        if current < filed {
            candidates.push(current);
        }
    }
    None
}

impl Clusters {
    fn new(
        similarity: &Graph<'_>,
        volumes: &[f64],
        still_going: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> ControlFlow<(), Self> {
        let n_slots = similarity.n_nodes();
        // Scaled to at most 1 by a power of two: exact, and far from overflow.
        let largest = similarity.edges().map(|edge| edge.2).fold(0.0, f64::max);
        let scale = -libm::frexp(largest).1;
        let mut rows: Vec<BTreeMap<NodeId, f64>> = Vec::with_capacity(n_slots);
        for slot in 0..n_slots {
            if slot.is_multiple_of(ROWS_PER_REPORT) {
                still_going(0)?;
            }
            let row = similarity.row(slot as NodeId);
            rows.push(row.map(|(other, weight)| (other, libm::scalbn(weight, scale))).collect());
        }
        ControlFlow::Continue(Self {
            rows,
            halvings: vec![0; n_slots],
            number: (0..n_slots as u32).map(Some).collect(),
            merged_into: (0..n_slots as u32).collect(),
            own_volume: volumes.to_vec(),
            volume: volumes.to_vec(),
        })
    }

    fn linked_pairs(&self) -> BinaryHeap<Candidate> {
        let pairs = |a: usize| {
            let others = self.rows[a].keys().map(|&b| b as usize);
            others.filter(move |&b| a < b).filter_map(move |b| self.candidate(a, b))
        };
        (0..self.rows.len()).flat_map(pairs).collect()
    }

    /// The pair as it is now; `None` when one of the two is gone.
    fn candidate(&self, a: usize, b: usize) -> Option<Candidate> {
        let (number_a, number_b) = (self.number[a]?, self.number[b]?);
        let stored = *self.rows[a].get(&(b as NodeId))?;
        Some(Candidate {
            similarity: libm::scalbn(stored, -(self.halvings[a] + self.halvings[b])),
            numbers: (number_a.min(number_b), number_a.max(number_b)),
            slots: (a.min(b) as u32, a.max(b) as u32),
        })
    }

    /// Merges two linked clusters and files the pairs whose similarity may have risen.
    fn merge(&mut self, a: usize, b: usize, candidates: &mut BinaryHeap<Candidate>) {
        let (kept, gone) = if self.rows[a].len() >= self.rows[b].len() { (a, b) } else { (b, a) };
        let row = std::mem::take(&mut self.rows[gone]);
        self.rows[kept].remove(&(gone as NodeId));
        let shift = self.halvings[kept] - self.halvings[gone];
        let mut risen = Vec::with_capacity(row.len());
        for (other, stored) in row {
            if other as usize == kept {
                continue;
            }
            let added = libm::scalbn(stored, shift);
            let entry = self.rows[kept].entry(other).or_insert(0.0);
            *entry += added;
            let sum = *entry;
            let row = &mut self.rows[other as usize];
            row.remove(&(gone as NodeId));
            row.insert(kept as NodeId, sum);
            risen.push(other as usize);
        }
        self.halvings[kept] += 1;
        self.absorb(kept, gone);
        if self.halvings[kept] > MAX_HALVINGS {
            self.pay_halvings(kept);
        }
        candidates.extend(risen.into_iter().filter_map(|other| self.candidate(kept, other)));
    }

    fn absorb(&mut self, kept: usize, gone: usize) {
        let lowest = self.number[kept].into_iter().chain(self.number[gone].take()).min();
        self.number[kept] = lowest;
        self.merged_into[gone] = kept as u32;
        self.volume[kept] += self.volume[gone];
    }

    fn pay_halvings(&mut self, slot: usize) {
        let halvings = std::mem::take(&mut self.halvings[slot]);
        let mut row = std::mem::take(&mut self.rows[slot]);
        for (&other, stored) in &mut row {
            *stored = libm::scalbn(*stored, -halvings);
            self.rows[other as usize].insert(slot as NodeId, *stored);
        }
        self.rows[slot] = row;
    }

    /// `n_merges` merges among clusters without links: the two of smallest volume each time.
    fn merge_smallest(&mut self, n_merges: usize) {
        // Volumes are sums of weights, so not negative: their bits order as they do.
        let filed = |clusters: &Self, slot: usize| {
            clusters.number[slot].map(|number| Reverse((clusters.volume[slot].to_bits(), number, slot)))
        };
        let mut smallest: BinaryHeap<_> = (0..self.rows.len()).filter_map(|slot| filed(self, slot)).collect();
        for _ in 0..n_merges {
            let (Some(Reverse((_, _, a))), Some(Reverse((_, _, b)))) = (smallest.pop(), smallest.pop())
            else {
                break;
            };
            self.absorb(a, b);
            smallest.extend(filed(self, a));
        }
    }

    /// The cluster of every slot, numbered by first appearance, and how many there are.
    fn numbered(&self) -> (Vec<u32>, usize) {
        let mut merged = crate::disjoint::DisjointSets::new(self.merged_into.len());
        for (slot, &into) in self.merged_into.iter().enumerate() {
            merged.join(slot, into as usize);
        }
        merged.numbered()
    }
}
