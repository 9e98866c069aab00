//! Pieces that are not clearly apart become one.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::boundary::{Boundary, Pieces};
use super::chance::{normal_quantile, significant};
use super::halves::halves;
use super::has_time;
use crate::error::Result;
use crate::graph::{Graph, NodeId, Parts};
use crate::objective::{NormalizedCut, Objective, Sums};
use crate::parallel::prelude::*;
use crate::progress::Clock;

/// A boundary must be so many times thinner at the least, however sure that is (as `ln`): what is real in a large graph may be too
/// little to matter.
pub(super) const MIN_EXCESS: f64 = 0.223_143_551_314_209_76;
/// Wrong boundaries among all that are kept, at the most.
const FALSE_DISCOVERIES: f64 = 0.05;
/// The neighbours of a piece that it is compared with: those it is linked to most.
const N_NEIGHBORS: usize = 4;
/// Boundaries of first pieces must be so many times as sure: a long cluster has many, and the thinnest are found.
const SURER: f64 = 2.0;
/// Of the boundaries of first pieces that make up one between two clusters, the strongest links are looked at; what any of
/// them adds to the mean is limited.
const MAX_BOUNDARIES: usize = 32;
const MAX_PART: f64 = 3.0;

/// How sure a boundary must be.
#[derive(Clone, Copy)]
pub(super) enum Sureness {
    /// So many standard deviations.
    Fixed(f64),
    /// As many as keep the share of wrong boundaries low. Where most boundaries are clear, less is enough for the others.
    ByDiscoveries,
}

/// What is left when all pieces that are not apart were merged.
pub(super) struct Apart {
    pub(super) members: Vec<Vec<NodeId>>,
    /// The least excess of a boundary that was kept; without any, the largest of those that were not.
    pub(super) excess: f64,
}

/// What divides a piece from the one it is linked to most.
pub(super) enum Nearest {
    /// It is linked to none.
    Unlinked,
    /// Neither can be cut, so there is nothing to compare with.
    TooSmall,
    Boundary(Boundary),
}

/// Pieces, those they began as, and how they are linked.
pub(super) struct Merging<'a, 'g> {
    clock: &'a Clock<'a>,
    now: Pieces<'g>,
    first: Pieces<'g>,
    links: Vec<BTreeMap<u32, f64>>,
    first_links: Vec<BTreeMap<u32, f64>>,
    association: Vec<f64>,
    /// The first pieces that a piece consists of; empty once it was merged into another.
    parts: Vec<Vec<u32>>,
    known: HashMap<(u32, u32), Boundary>,
    /// Pairs that are apart, by what excess.
    apart: BTreeMap<(u32, u32), f64>,
    largest_merged: f64,
}

impl<'a, 'g> Merging<'a, 'g> {
    pub(super) fn new(graph: &'g Graph<'g>, members: Vec<Vec<NodeId>>, clock: &'a Clock<'a>) -> Result<Self> {
        let mut of_node = vec![u32::MAX; graph.n_nodes()];
        for (piece, nodes) in (0..).zip(&members) {
            for &node in nodes {
                of_node[node as usize] = piece;
            }
        }
        let n_pieces = members.len();
        let mut links: Vec<BTreeMap<u32, f64>> = vec![BTreeMap::new(); n_pieces];
        let mut association = vec![0.0; n_pieces];
        let mut sums = vec![0.0; n_pieces];
        let mut touched: Vec<u32> = Vec::new();
        for (piece, nodes) in members.iter().enumerate() {
            for &node in nodes {
                graph.for_each_neighbor(node, |neighbor, weight| {
                    let other = of_node[neighbor as usize];
                    if sums[other as usize] == 0.0 {
                        touched.push(other);
                    }
                    sums[other as usize] += weight;
                });
            }
            for other in touched.drain(..) {
                let sum = std::mem::take(&mut sums[other as usize]);
                if other as usize == piece {
                    association[piece] = sum;
                } else {
                    links[piece].insert(other, sum);
                }
            }
        }
        let of_pieces: Result<Vec<Option<Vec<u8>>>> = {
            let parts = Parts::new(graph, &of_node, n_pieces)?;
            (0..n_pieces as u32)
                .into_par_iter()
                .map(|piece| Ok(halves(&parts.induced(piece)?, clock)))
                .collect()
        };
        let mut now = Pieces::new(graph, of_node, members);
        for (piece, halves) in (0..).zip(of_pieces?) {
            now.cut(piece, halves);
        }
        let parts = (0..n_pieces as u32).map(|piece| vec![piece]).collect();
        Ok(Self {
            clock,
            first: now.clone(),
            now,
            first_links: links.clone(),
            links,
            association,
            parts,
            known: HashMap::new(),
            apart: BTreeMap::new(),
            largest_merged: 0.0,
        })
    }

    /// What divides every piece from the piece that it is linked to most.
    pub(super) fn nearest(&self) -> Vec<Nearest> {
        let of_piece = |piece: u32| match self.next_of(piece) {
            None => Nearest::Unlinked,
            Some((_, other)) if self.now.is_cut(piece) || self.now.is_cut(other) => {
                Nearest::Boundary(self.now.boundary(piece, other))
            }
            Some(_) => Nearest::TooSmall,
        };
        (0..self.parts.len() as u32).into_par_iter().map(of_piece).collect()
    }

    /// Merges until all that are left are apart, the most strongly linked first, or until the clock says stop.
    pub(super) fn run(mut self, sureness: Sureness) -> Result<Apart> {
        let min_score = match sureness {
            Sureness::Fixed(score) => score,
            Sureness::ByDiscoveries => self.score_by_discoveries(),
        };
        let mut next: Vec<Option<(f64, u32)>> =
            (0..self.parts.len() as u32).map(|piece| self.next_of(piece)).collect();
        let n_pieces = self.parts.len();
        while has_time(self.clock, self.apart.len(), n_pieces) {
            let strongest = (0..)
                .zip(&next)
                .filter_map(|(piece, next)| next.map(|(strength, other)| (strength, piece, other)))
                .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
            let Some((_, piece, other)) = strongest else { break };
            let (a, b) = (piece.min(other), piece.max(other));
            let excess = self.excess(a, b, min_score);
            let changed = match excess {
                Some(excess) => {
                    self.apart.insert((a, b), excess);
                    vec![a, b]
                }
                None => self.merge(a, b)?,
            };
            for piece in changed {
                next[piece as usize] = self.next_of(piece);
            }
        }
        let is_left = |piece: &u32| !self.parts[*piece as usize].is_empty();
        let kept = self.apart.iter().filter(|((a, b), _)| is_left(a) && is_left(b));
        let least = kept.map(|(_, &excess)| excess).min_by(f64::total_cmp);
        let n_pieces = self.parts.len() as u32;
        let members = (0..n_pieces)
            .filter(is_left)
            .map(|piece| std::mem::take(&mut self.now.members[piece as usize]))
            .collect();
        Ok(Apart { members, excess: least.unwrap_or(self.largest_merged) })
    }

    /// How strongly two pieces are linked: the N-Cut of the two, if there were nothing else.
    fn strength(&self, a: u32, b: u32, link: f64) -> f64 {
        let side = |piece: u32| {
            let association = self.association[piece as usize];
            Sums { association, volume: association + link, size: 0.0 }
        };
        NormalizedCut.cut(NormalizedCut.value_of_both(&side(a), &side(b)), 2)
    }

    /// The piece that is linked most to this one, of its strongest neighbours, if it is not known to be apart.
    fn next_of(&self, piece: u32) -> Option<(f64, u32)> {
        let mut strongest: Vec<(f64, u32)> = self.links[piece as usize]
            .iter()
            .map(|(&other, &link)| (self.strength(piece, other, link), other))
            .collect();
        strongest.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        strongest.truncate(N_NEIGHBORS);
        let is_open = |other: u32| !self.apart.contains_key(&(piece.min(other), piece.max(other)));
        strongest.into_iter().find(|&(_, other)| is_open(other))
    }

    /// The excess of the boundary between two pieces if they are apart: by itself, or by the boundaries of the
    /// first pieces that it consists of. Those count too because one weak boundary inside a cluster would hide all
    /// around it.
    fn excess(&mut self, a: u32, b: u32, min_score: f64) -> Option<f64> {
        let whole = self.now.boundary(a, b);
        let is_clear =
            |boundary: &Boundary, score: f64| boundary.excess >= MIN_EXCESS && boundary.score() >= score;
        if is_clear(&whole, min_score) {
            return Some(whole.excess);
        }
        if self.parts[a as usize].len() + self.parts[b as usize].len() > 2 {
            let mean = self.mean_of_first(a, b);
            if is_clear(&mean, SURER * min_score) {
                return Some(mean.excess);
            }
        }
        self.largest_merged = self.largest_merged.max(whole.excess);
        None
    }

    fn first_boundary(&mut self, a: u32, b: u32) -> Boundary {
        let (a, b) = (a.min(b), a.max(b));
        let first = &self.first;
        *self.known.entry((a, b)).or_insert_with(|| first.boundary(a, b))
    }

    /// The mean of the boundaries between first pieces, by the weight of their links.
    fn mean_of_first(&mut self, a: u32, b: u32) -> Boundary {
        let others: BTreeSet<u32> = self.parts[b as usize].iter().copied().collect();
        let mut pairs: Vec<(f64, u32, u32)> = Vec::new();
        for &part in &self.parts[a as usize] {
            let links = self.first_links[part as usize].iter();
            pairs.extend(
                links.filter(|(other, _)| others.contains(other)).map(|(&other, &link)| (link, part, other)),
            );
        }
        pairs.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        pairs.truncate(MAX_BOUNDARIES);
        let (mut total, mut excess, mut precision) = (0.0, 0.0, 0.0);
        for (link, part, other) in pairs {
            let boundary = self.first_boundary(part, other);
            total += link;
            excess += link * boundary.excess.min(MAX_PART);
            precision += link / boundary.variance;
        }
        if total > 0.0 {
            Boundary { excess: excess / total, variance: total / precision }
        } else {
            Boundary { excess: 0.0, variance: 1.0 }
        }
    }

    /// The score that a boundary needs, by the boundaries of all first pieces to the one they are linked to most.
    fn score_by_discoveries(&mut self) -> f64 {
        let pieces = 0..self.parts.len() as u32;
        let nearest: BTreeSet<(u32, u32)> = pieces
            .filter_map(|piece| self.next_of(piece).map(|(_, other)| (piece.min(other), piece.max(other))))
            .collect();
        let pairs: Vec<(u32, u32)> = nearest.into_iter().collect();
        let first = &self.first;
        let boundaries: Vec<Boundary> = pairs.par_iter().map(|&(a, b)| first.boundary(a, b)).collect();
        let scores = boundaries.iter().map(Boundary::score).collect();
        self.known.extend(pairs.into_iter().zip(boundaries));
        let (n_clear, n_all) = significant(scores, FALSE_DISCOVERIES);
        normal_quantile(FALSE_DISCOVERIES * n_clear.max(1) as f64 / n_all.max(1) as f64)
    }

    /// Merges the second into the first; which pieces have other neighbours now.
    fn merge(&mut self, a: u32, b: u32) -> Result<Vec<u32>> {
        let (at, from) = (a as usize, b as usize);
        let links = std::mem::take(&mut self.links[from]);
        self.association[at] += self.association[from];
        for (other, link) in links {
            if other == a {
                self.association[at] += 2.0 * link;
                self.links[at].remove(&b);
                continue;
            }
            *self.links[at].entry(other).or_default() += link;
            let back = &mut self.links[other as usize];
            back.remove(&b);
            *back.entry(a).or_default() += link;
        }
        let parts = std::mem::take(&mut self.parts[from]);
        self.parts[at].extend(parts);
        let moved = std::mem::take(&mut self.now.members[from]);
        for &node in &moved {
            self.now.of_node[node as usize] = a;
        }
        let members = &mut self.now.members[at];
        members.extend(moved);
        members.sort_unstable();
        let halves = halves(&self.now.graph.induced(members)?, self.clock);
        self.now.cut(a, halves);
        self.apart.retain(|&(first, second), _| first != a && second != a && first != b && second != b);
        Ok([a, b].into_iter().chain(self.links[at].keys().copied()).collect())
    }
}
