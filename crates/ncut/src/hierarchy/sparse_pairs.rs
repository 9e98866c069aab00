//! The most similar pair of clusters where few pairs are linked: rows and heaps.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::disjoint::DisjointSets;
use crate::graph::{Graph, NodeId};
use crate::progress::Stopped;

use super::similarity::{Pairs, STEPS_PER_REPORT, Similarity};

/// The clusters of a merging in progress. Slots are rows of the start; a merged cluster lives in the slot of
/// the longer row, and its number is the lowest of its parts.
///
/// The mean of two rows halves every entry that only one of them has. To halve the longer row entry by entry
/// would make every merge with a hub cost its whole row; instead a slot owes halvings: the similarity of slots
/// `a` and `b` is `rows[a][b] * 2^-(halvings[a] + halvings[b])`. Powers of two are exact, so this is the same
/// arithmetic.
///
/// For the same reason every pair is filed with one of its slots, the one with the longer row at that time, and
/// ranked there without that slot's own halvings: when a hub is halved, the order of its pairs stays, and only
/// the hub's place among the slots changes.
pub(super) struct Clusters {
    rows: Vec<BTreeMap<NodeId, Stored>>,
    halvings: Vec<i64>,
    /// Lowest number of the cluster in a slot; `None` once it was merged into another.
    number: Vec<Option<u32>>,
    merged_into: Vec<u32>,
    /// Volume of the cluster living in a slot.
    volume: Vec<f64>,
    /// The pairs filed with each slot.
    filed: Vec<BinaryHeap<Filed>>,
    /// The slots by their best pair, and the stamp of each slot's entry that counts.
    best: BinaryHeap<Best>,
    best_stamps: Vec<u32>,
    steps: usize,
}

/// An entry of a row.
#[derive(Clone, Copy)]
struct Stored {
    fraction: f64,
    /// Of a similarity that owes halvings, and fewer of them than there are clusters.
    exponent: i32,
    /// Counts the times the pair was filed: only the last entry counts.
    stamp: u32,
}

impl Stored {
    pub(super) fn new(Similarity { exponent, fraction }: Similarity, stamp: u32) -> Self {
        Self { fraction, exponent: exponent as i32, stamp }
    }

    fn similarity(&self) -> Similarity {
        Similarity { exponent: i64::from(self.exponent), fraction: self.fraction }
    }
}

/// A pair as it was filed with one of its slots: the larger the similarity the better, then the lower the
/// number. (Which number the slot itself has makes no difference to the order of its pairs.)
///
/// Every linked pair has one entry that counts, and it ranks at least as high as the pair does now: similarities
/// fall by halving, and whenever one may have risen the pair is filed again. So the first entry that is up to
/// date is the best pair. The same holds for [`Best`] and the slots.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Filed {
    exponent: i32,
    /// The bits of a fraction, which order as fractions do.
    fraction: u64,
    number: Reverse<u32>,
    other: u32,
    stamp: u32,
}

impl Filed {
    fn similarity(&self) -> Similarity {
        Similarity { exponent: i64::from(self.exponent), fraction: f64::from_bits(self.fraction) }
    }
}

/// The best pair of a slot when it was last looked at.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Best {
    similarity: Similarity,
    numbers: Reverse<(u32, u32)>,
    slots: (u32, u32),
    stamp: u32,
}

impl Clusters {
    pub(super) fn new(
        similarity: Graph<'static>,
        volumes: &[f64],
        still_going: &mut dyn FnMut(usize) -> Result<(), Stopped>,
    ) -> Result<Self, Stopped> {
        let n_slots = similarity.n_nodes();
        let mut clusters = Self {
            rows: Vec::with_capacity(n_slots),
            halvings: vec![0; n_slots],
            number: (0..n_slots as u32).map(Some).collect(),
            merged_into: (0..n_slots as u32).collect(),
            volume: volumes.to_vec(),
            filed: (0..n_slots).map(|_| BinaryHeap::new()).collect(),
            best: BinaryHeap::new(),
            best_stamps: vec![0; n_slots],
            steps: 0,
        };
        for slot in 0..n_slots {
            if slot.is_multiple_of(STEPS_PER_REPORT) {
                still_going(0)?;
            }
            let row = similarity.neighbors(slot as NodeId);
            let stored = |weight| Stored::new(Similarity::new(weight), 0);
            clusters.rows.push(row.map(|(other, weight)| (other, stored(weight))).collect());
        }
        drop(similarity);
        for slot in 0..n_slots {
            if slot.is_multiple_of(STEPS_PER_REPORT) {
                still_going(0)?;
            }
            let mut pairs = Vec::new();
            for &other in clusters.rows[slot].keys() {
                if clusters.owner(slot, other as usize) == slot {
                    pairs.extend(clusters.pair(slot, other as usize));
                }
            }
            clusters.filed[slot] = pairs.into();
            clusters.file_best(slot);
        }
        Ok(clusters)
    }

    /// The slot of a pair that files it.
    fn owner(&self, a: usize, b: usize) -> usize {
        let rank = |slot: usize| (self.rows[slot].len(), Reverse(slot));
        if rank(a) > rank(b) { a } else { b }
    }

    /// A pair as it is now, for the files of `slot`; `None` when the other is gone.
    fn pair(&self, slot: usize, other: usize) -> Option<Filed> {
        let number = Reverse(self.number[other]?);
        let stored = self.rows[slot].get(&(other as NodeId))?;
        let similarity = stored.similarity().halved(self.halvings[other]);
        Some(Filed {
            exponent: similarity.exponent as i32,
            fraction: similarity.fraction.to_bits(),
            number,
            other: other as u32,
            stamp: stored.stamp,
        })
    }

    /// The best pair among those filed with a slot, as it is now; entries out of date are put right on the way.
    fn best_of(&mut self, slot: usize) -> Option<Best> {
        let own_number = self.number[slot]?;
        loop {
            self.steps += 1;
            let top = self.filed[slot].peek()?;
            let other = top.other as usize;
            match self.pair(slot, other) {
                Some(pair) if pair == *top => {
                    let Reverse(number) = pair.number;
                    return Some(Best {
                        similarity: pair.similarity().halved(self.halvings[slot]),
                        numbers: Reverse((own_number.min(number), own_number.max(number))),
                        slots: (slot as u32, other as u32),
                        stamp: self.best_stamps[slot],
                    });
                }
                current => {
                    let stamp = top.stamp;
                    self.filed[slot].pop();
                    self.filed[slot].extend(current.filter(|current| current.stamp == stamp));
                }
            }
        }
    }

    fn file_best(&mut self, slot: usize) {
        self.best_stamps[slot] += 1;
        let best = self.best_of(slot);
        self.best.extend(best);
    }

    fn absorb(&mut self, kept: usize, gone: usize) {
        let lowest = self.number[kept].into_iter().chain(self.number[gone].take()).min();
        self.number[kept] = lowest;
        self.merged_into[gone] = kept as u32;
        self.volume[kept] += self.volume[gone];
    }
}

impl Pairs for Clusters {
    fn next_pair(
        &mut self,
        still_going: &mut dyn FnMut() -> Result<(), Stopped>,
    ) -> Result<Option<(usize, usize)>, Stopped> {
        loop {
            if self.steps >= STEPS_PER_REPORT {
                self.steps = 0;
                still_going()?;
            }
            let Some(filed) = self.best.pop() else { return Ok(None) };
            let slot = filed.slots.0 as usize;
            self.steps += 1;
            if filed.stamp != self.best_stamps[slot] {
                continue;
            }
            match self.best_of(slot) {
                Some(best) if best == filed => {
                    return Ok(Some((slot, filed.slots.1 as usize)));
                }
                best => self.best.extend(best),
            }
        }
    }

    /// Files the pairs whose similarity may have risen too.
    fn merge(&mut self, a: usize, b: usize) {
        let (kept, gone) = if self.rows[a].len() >= self.rows[b].len() { (a, b) } else { (b, a) };
        let row = std::mem::take(&mut self.rows[gone]);
        self.filed[gone] = BinaryHeap::new();
        self.rows[kept].remove(&(gone as NodeId));
        let shift = self.halvings[gone] - self.halvings[kept];
        let mut risen = Vec::with_capacity(row.len());
        for (other, stored) in row {
            if other as usize == kept {
                continue;
            }
            let added = stored.similarity().halved(shift);
            let sum = match self.rows[kept].get(&other) {
                Some(own) => Stored::new(own.similarity().plus(added), own.stamp + 1),
                None => Stored::new(added, 0),
            };
            self.rows[kept].insert(other, sum);
            let row = &mut self.rows[other as usize];
            row.remove(&(gone as NodeId));
            row.insert(kept as NodeId, sum);
            risen.push(other as usize);
        }
        self.halvings[kept] += 1;
        self.absorb(kept, gone);
        for other in risen {
            let owner = self.owner(kept, other);
            let pair = self.pair(owner, if owner == kept { other } else { kept });
            self.filed[owner].extend(pair);
            if owner != kept {
                self.file_best(owner);
            }
        }
        self.file_best(kept);
    }

    fn merge_smallest(&mut self, n_merges: usize) {
        // Volumes are sums of weights, so not negative: their bits order as they do.
        let ranked = |clusters: &Self, slot: usize| {
            clusters.number[slot].map(|number| Reverse((clusters.volume[slot].to_bits(), number, slot)))
        };
        let mut smallest: BinaryHeap<_> =
            (0..self.rows.len()).filter_map(|slot| ranked(self, slot)).collect();
        for _ in 0..n_merges {
            let (Some(Reverse((_, _, a))), Some(Reverse((_, _, b)))) = (smallest.pop(), smallest.pop())
            else {
                break;
            };
            self.absorb(a, b);
            smallest.extend(ranked(self, a));
        }
    }

    fn numbered(&mut self) -> (Vec<u32>, usize) {
        let mut merged = DisjointSets::new(self.merged_into.len());
        for (slot, &into) in self.merged_into.iter().enumerate() {
            merged.join(slot, into as usize);
        }
        merged.numbered()
    }
}
