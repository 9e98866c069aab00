//! The most similar pair of clusters where most pairs are linked: a table instead of rows and heaps.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::disjoint::DisjointSets;
use crate::graph::Graph;
use crate::progress::Stopped;

use super::similarity::{Pairs, STEPS_PER_REPORT, Similarity};

/// The clusters of a merging in progress, numbered as at the start; a merged cluster keeps the lower number.
pub(super) struct Table {
    n_clusters: usize,
    /// Similarities of the pairs `a < b`, row by row: fractions, 0 where there is no link, and exponents.
    fractions: Vec<f64>,
    exponents: Vec<i32>,
    /// The clusters there are, ascending.
    left: Vec<u32>,
    /// The best pair of a cluster with a higher one.
    best: Vec<Option<Best>>,
    volume: Vec<f64>,
    merged: DisjointSets,
    steps: usize,
}

/// The best pair of a row, or one at least as good that is no more.
#[derive(Clone, Copy)]
struct Best {
    similarity: Similarity,
    other: u32,
    is_gone: bool,
}

impl Best {
    fn ranks_above(&self, other: &Self) -> bool {
        (self.similarity, Reverse(self.other)) > (other.similarity, Reverse(other.other))
    }
}

impl Table {
    pub(super) fn new(
        similarity: &Graph<'_>,
        volumes: &[f64],
        still_going: &mut dyn FnMut(usize) -> Result<(), Stopped>,
    ) -> Result<Self, Stopped> {
        let n_clusters = similarity.n_nodes();
        let n_pairs = n_clusters * n_clusters.saturating_sub(1) / 2;
        let mut table = Self {
            n_clusters,
            fractions: vec![0.0; n_pairs],
            exponents: vec![0; n_pairs],
            left: (0..n_clusters as u32).collect(),
            best: vec![None; n_clusters],
            volume: volumes.to_vec(),
            merged: DisjointSets::new(n_clusters),
            steps: 0,
        };
        for cluster in 0..n_clusters as u32 {
            if cluster.is_multiple_of(64) {
                still_going(0)?;
            }
            similarity.for_each_neighbor(cluster, |other, weight| {
                if other > cluster {
                    table.set(cluster, other, Similarity::new(weight));
                }
            });
            table.find_best(cluster);
        }
        Ok(table)
    }

    /// Place of the pair `a < b`.
    fn place(&self, a: u32, b: u32) -> usize {
        let (a, b) = (a as usize, b as usize);
        a * (2 * self.n_clusters - a - 1) / 2 + b - a - 1
    }

    fn similarity(&self, a: u32, b: u32) -> Option<Similarity> {
        let place = self.place(a.min(b), a.max(b));
        let fraction = self.fractions[place];
        (fraction > 0.0).then(|| Similarity { exponent: i64::from(self.exponents[place]), fraction })
    }

    fn set(&mut self, a: u32, b: u32, similarity: Similarity) {
        let place = self.place(a.min(b), a.max(b));
        self.fractions[place] = similarity.fraction;
        self.exponents[place] = similarity.exponent as i32;
    }

    fn find_best(&mut self, cluster: u32) {
        let first = self.left.partition_point(|&other| other <= cluster);
        let mut best: Option<Best> = None;
        for &other in &self.left[first..] {
            if let Some(similarity) = self.similarity(cluster, other)
                && best.is_none_or(|best| similarity > best.similarity)
            {
                best = Some(Best { similarity, other, is_gone: false });
            }
        }
        self.steps += self.left.len() - first;
        self.best[cluster as usize] = best;
    }
}

impl Pairs for Table {
    fn next_pair(
        &mut self,
        still_going: &mut dyn FnMut() -> Result<(), Stopped>,
    ) -> Result<Option<(usize, usize)>, Stopped> {
        loop {
            if self.steps >= STEPS_PER_REPORT {
                self.steps = 0;
                still_going()?;
            }
            self.steps += self.left.len();
            let mut top: Option<(Similarity, u32)> = None;
            for &cluster in &self.left {
                if let Some(best) = &self.best[cluster as usize]
                    && top.is_none_or(|top| best.similarity > top.0)
                {
                    top = Some((best.similarity, cluster));
                }
            }
            let Some((_, cluster)) = top else { return Ok(None) };
            match self.best[cluster as usize] {
                Some(best) if !best.is_gone => {
                    return Ok(Some((cluster as usize, best.other as usize)));
                }
                _ => self.find_best(cluster),
            }
        }
    }

    fn merge(&mut self, a: usize, b: usize) {
        let (kept, gone) = (a.min(b) as u32, a.max(b) as u32);
        self.absorb(kept, gone);
        for place in 0..self.left.len() {
            let other = self.left[place];
            if other == kept {
                continue;
            }
            let sum = match (self.similarity(kept, other), self.similarity(gone, other)) {
                (Some(own), Some(added)) => Some(own.plus(added)),
                (own, added) => own.or(added),
            };
            if let Some(sum) = sum {
                self.set(kept, other, sum.halved(1));
            }
            // A mean is no more than the larger of the two: what ranked first is a bound for what does now.
            let Some(best) = self.best[other as usize] else { continue };
            let renewed = sum.filter(|_| other < kept).map(|sum| Best {
                similarity: sum.halved(1),
                other: kept,
                is_gone: false,
            });
            let was_one_of_them = best.other == kept || best.other == gone;
            self.best[other as usize] = Some(match renewed {
                Some(renewed) if !best.ranks_above(&renewed) => renewed,
                _ => Best { is_gone: best.is_gone || was_one_of_them, ..best },
            });
        }
        self.steps += self.left.len();
        self.find_best(kept);
    }

    fn merge_smallest(&mut self, n_merges: usize) {
        // Volumes are sums of weights, so not negative: their bits order as they do.
        let ranked =
            |table: &Self, cluster: u32| Reverse((table.volume[cluster as usize].to_bits(), cluster));
        let mut smallest: BinaryHeap<_> = self.left.iter().map(|&cluster| ranked(self, cluster)).collect();
        for _ in 0..n_merges {
            let (Some(Reverse((_, a))), Some(Reverse((_, b)))) = (smallest.pop(), smallest.pop()) else {
                break;
            };
            self.absorb(a.min(b), a.max(b));
            smallest.push(ranked(self, a.min(b)));
        }
    }

    fn numbered(&mut self) -> (Vec<u32>, usize) {
        self.merged.numbered()
    }
}

impl Table {
    fn absorb(&mut self, kept: u32, gone: u32) {
        let place = self.left.binary_search(&gone).expect("a cluster that is merged is there");
        self.left.remove(place);
        self.merged.join(kept as usize, gone as usize);
        self.volume[kept as usize] += self.volume[gone as usize];
        self.best[gone as usize] = None;
    }
}
