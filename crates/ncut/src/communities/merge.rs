//! Clusters merged down to a given number, each time the two that lose least modularity.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use super::leiden::Labelling;
use super::moving::numbered;
use crate::disjoint::DisjointSets;
use crate::error::{Result, or_stopped};
use crate::graph::{Graph, NodeId};
use crate::objective::Modularity;
use crate::progress::{Clock, Progress, Stage};

/// Merges between two looks at the clock.
const MERGES_PER_REPORT: usize = 64;
/// Pairs, as a multiple of those that there are, whose gain may be computed anew all together. Every merge of a hub changes the gain of
/// all pairs that it is in: on a star of 10 000 leaves that took 51 s and 2.4 GB. Once they are used up, the best of the next
/// few pairs merges.
const RENEWALS_PER_PAIR: usize = 32;
const MIN_RENEWALS: usize = 1 << 16;
const RENEWALS_IN_HASTE: usize = 8;

/// Merges connected clusters until `target` are left, and before that all whose volume is below `floor`, the smallest first,
/// while there are more than `target`. Two clusters merge if there is a weight between them, or if both are whole components of
/// the graph, or several of them.
///
/// When the clock says stop, neighbours merge in the order of their numbers, so that `target` are left all the same.
pub(super) fn merged(
    graph: &Graph<'_>,
    modularity: Modularity,
    labelling: &Labelling,
    target: usize,
    floor: f64,
    clock: &Clock<'_>,
) -> Result<Labelling> {
    if labelling.count <= target {
        return Ok(labelling.clone());
    }
    let contracted = graph.contract_observed(&labelling.labels, labelling.count, clock);
    let Ok(quotient) = or_stopped(contracted)? else { return Ok(joined_in_order(graph, labelling, target)) };
    let mut merging = Merging::new(&quotient, modularity);
    merging.file_all(&quotient);
    let mut progress = Progress::new(Stage::Search, (labelling.count - target) as u64);
    while merging.n_left > target {
        progress.done += 1;
        if progress.done.is_multiple_of(MERGES_PER_REPORT as u64) && clock.report(&progress).is_err() {
            break;
        }
        let small = merging.smallest().filter(|&(volume, _)| volume.0 < floor);
        let pair = match small.and_then(|(_, cluster)| merging.best_partner(cluster)) {
            Some(pair) => Some(pair),
            None => merging.best_pair(),
        };
        let Some((a, b)) = pair else { break };
        merging.merge(a, b);
    }
    let found = merging.labelling().projected(&labelling.clone().into_groups());
    if found.count > target { Ok(joined_in_order(graph, &found, target)) } else { Ok(found) }
}

/// As [`merged`], but only clusters below the floor merge, whatever is left.
pub(super) fn absorbed(
    graph: &Graph<'_>,
    modularity: Modularity,
    labelling: &Labelling,
    floor: f64,
    clock: &Clock<'_>,
) -> Result<Labelling> {
    if floor <= 0.0 {
        return Ok(labelling.clone());
    }
    let contracted = graph.contract_observed(&labelling.labels, labelling.count, clock);
    let Ok(quotient) = or_stopped(contracted)? else { return Ok(labelling.clone()) };
    let mut merging = Merging::new(&quotient, modularity);
    let mut progress = Progress::new(Stage::Search, labelling.count as u64);
    while let Some((_, cluster)) = merging.smallest().filter(|&(volume, _)| volume.0 < floor) {
        progress.done += 1;
        if progress.done.is_multiple_of(MERGES_PER_REPORT as u64) && clock.report(&progress).is_err() {
            break;
        }
        let Some((a, b)) = merging.best_partner(cluster) else { break };
        merging.merge(a, b);
    }
    Ok(merging.labelling().projected(&labelling.clone().into_groups()))
}

/// The least that has to merge, without a look at what it loses.
fn joined_in_order(graph: &Graph<'_>, labelling: &Labelling, target: usize) -> Labelling {
    let mut sets = DisjointSets::new(labelling.count);
    let mut n_left = labelling.count;
    let mut join = |a: usize, b: usize| {
        if n_left > target && sets.find(a) != sets.find(b) {
            sets.join(a, b);
            n_left -= 1;
        }
    };
    for node in 0..graph.n_nodes() as NodeId {
        let own = labelling.labels[node as usize];
        graph.for_each_neighbor(node, |neighbor, _| {
            join(own as usize, labelling.labels[neighbor as usize] as usize);
        });
    }
    // What is left are whole components.
    (1..labelling.count).for_each(|cluster| join(0, cluster));
    let (of_cluster, count) = sets.numbered();
    let labels = labelling.labels.iter().map(|&cluster| of_cluster[cluster as usize]).collect();
    let (labels, count) = numbered(labels, count);
    Labelling { labels, count }
}

/// Clusters that merge. A merged pair has the lower of the two numbers.
///
/// Links and sums of a cluster are in a *slot*: that of the one with more links stays when two merge, so that a hub is not
/// copied for every leaf it takes in.
struct Merging {
    modularity: Modularity,
    /// By slot.
    volumes: Vec<f64>,
    /// Weights to other slots, and how often a cluster has changed; those of clusters that are no more are empty.
    links: Vec<BTreeMap<u32, f64>>,
    changes: Vec<u32>,
    /// The number of the cluster in a slot, and where a cluster is.
    number: Vec<u32>,
    slot: Vec<u32>,
    sets: DisjointSets,
    n_left: usize,
    pairs: BinaryHeap<Pair>,
    renewals_left: usize,
    by_volume: BTreeSet<(Ordered, u32)>,
    /// Of these the ones without a link, which are whole components.
    whole: BTreeSet<(Ordered, u32)>,
}

/// Two linked clusters as they were when they had changed so often, in the order in which they merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    gain: Ordered,
    clusters: Reverse<(u32, u32)>,
    slots: (u32, u32),
    changes: (u32, u32),
}

/// A number that has an order.
#[derive(Clone, Copy, Debug)]
struct Ordered(f64);

impl PartialEq for Ordered {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ordered {}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl Merging {
    fn new(quotient: &Graph<'_>, modularity: Modularity) -> Self {
        let n_clusters = quotient.n_nodes();
        let links: Vec<BTreeMap<u32, f64>> =
            (0..n_clusters as NodeId).map(|cluster| quotient.neighbors(cluster).collect()).collect();
        let volumes = quotient.degrees().to_vec();
        let by_volume: BTreeSet<(Ordered, u32)> =
            volumes.iter().map(|&volume| Ordered(volume)).zip(0..).collect();
        let is_whole = |&&(_, cluster): &&(Ordered, u32)| links[cluster as usize].is_empty();
        let whole = by_volume.iter().filter(is_whole).copied().collect();
        Self {
            modularity,
            volumes,
            links,
            changes: vec![0; n_clusters],
            number: (0..n_clusters as u32).collect(),
            slot: (0..n_clusters as u32).collect(),
            sets: DisjointSets::new(n_clusters),
            n_left: n_clusters,
            pairs: BinaryHeap::new(),
            renewals_left: 0,
            by_volume,
            whole,
        }
    }

    /// Takes notice of all pairs; without it [`best_pair`](Self::best_pair) knows of none.
    fn file_all(&mut self, quotient: &Graph<'_>) {
        for (a, b, link) in quotient.edges().filter(|&(a, b, _)| a != b) {
            self.file(a, b, link);
        }
        self.renewals_left = (RENEWALS_PER_PAIR * self.pairs.len()).max(MIN_RENEWALS);
    }

    /// What the clusters in two slots gain as one, in units of weight.
    fn gain(&self, a: u32, b: u32, link: f64) -> f64 {
        self.modularity.pull_on(self.volumes[a as usize]).of(link, self.volumes[b as usize])
    }

    fn file(&mut self, a: u32, b: u32, link: f64) {
        let number = |slot: u32| self.number[slot as usize];
        let (a, b) = if number(a) < number(b) { (a, b) } else { (b, a) };
        self.pairs.push(Pair {
            gain: Ordered(self.gain(a, b, link)),
            clusters: Reverse((number(a), number(b))),
            slots: (a, b),
            changes: (self.changes[a as usize], self.changes[b as usize]),
        });
    }

    fn smallest(&self) -> Option<(Ordered, u32)> {
        self.by_volume.first().copied()
    }

    /// The pair that gains most: two that are linked, or the two smallest components.
    fn best_pair(&mut self) -> Option<(u32, u32)> {
        let linked = self.best_linked();
        let mut smallest = self.whole.iter().map(|&(_, cluster)| cluster);
        let apart = smallest.next().zip(smallest.next()).map(|(a, b)| {
            let gain = self.gain(self.slot[a as usize], self.slot[b as usize], 0.0);
            (gain, (a, b))
        });
        match (linked, apart) {
            (Some(linked), Some(apart)) => Some(if apart.0 > linked.0 { apart.1 } else { linked.1 }),
            (linked, apart) => linked.or(apart).map(|(_, pair)| pair),
        }
    }

    /// The two linked clusters that gain most, and what.
    ///
    /// Clusters only grow, and the larger they are the less they gain by the same link: a gain computed before is too high, if
    /// anything, and one that is up to date when it comes first is the highest. Where a link has grown its pair was filed anew.
    fn best_linked(&mut self) -> Option<(f64, (u32, u32))> {
        let mut n_renewed = 0;
        while let Some(pair) = self.pairs.peek().copied() {
            let (a, b) = pair.slots;
            if pair.changes == (self.changes[a as usize], self.changes[b as usize]) {
                return Some((pair.gain.0, pair.clusters.0));
            }
            self.pairs.pop();
            let Some(&link) = self.links[a as usize].get(&b) else { continue };
            n_renewed += 1;
            self.renewals_left = self.renewals_left.saturating_sub(1);
            self.file(a, b, link);
            if self.renewals_left == 0 && n_renewed >= RENEWALS_IN_HASTE {
                let clusters = (self.number[a as usize], self.number[b as usize]);
                return Some((
                    self.gain(a, b, link),
                    (clusters.0.min(clusters.1), clusters.0.max(clusters.1)),
                ));
            }
        }
        None
    }

    /// A cluster and the neighbour that gains most by it; of a whole component the smallest other.
    fn best_partner(&self, cluster: u32) -> Option<(u32, u32)> {
        let slot = self.slot[cluster as usize];
        let links = self.links[slot as usize].iter();
        let gains = links.map(|(&other, &link)| {
            (Ordered(self.gain(slot, other, link)), Reverse(self.number[other as usize]))
        });
        let partner = match gains.max() {
            Some((_, Reverse(other))) => Some(other),
            None => self.whole.iter().map(|&(_, other)| other).find(|&other| other != cluster),
        };
        partner.map(|other| (cluster, other))
    }

    fn merge(&mut self, a: u32, b: u32) {
        let number = a.min(b);
        let (mut kept, mut gone) = (self.slot[a as usize], self.slot[b as usize]);
        if self.links[kept as usize].len() < self.links[gone as usize].len() {
            (kept, gone) = (gone, kept);
        }
        for slot in [kept, gone] {
            let entry = (Ordered(self.volumes[slot as usize]), self.number[slot as usize]);
            self.by_volume.remove(&entry);
            self.whole.remove(&entry);
            self.changes[slot as usize] += 1;
        }
        self.volumes[kept as usize] += self.volumes[gone as usize];
        self.number[kept as usize] = number;
        self.slot[number as usize] = kept;
        self.sets.join(a as usize, b as usize);
        self.n_left -= 1;
        let moved = std::mem::take(&mut self.links[gone as usize]);
        self.links[kept as usize].remove(&gone);
        for (other, link) in moved.into_iter().filter(|&(other, _)| other != kept) {
            let sum = self.links[kept as usize].entry(other).or_default();
            *sum += link;
            let link = *sum;
            let back = &mut self.links[other as usize];
            back.remove(&gone);
            back.insert(kept, link);
            if self.renewals_left > 0 || !self.pairs.is_empty() {
                self.file(kept, other, link);
            }
        }
        let entry = (Ordered(self.volumes[kept as usize]), number);
        self.by_volume.insert(entry);
        if self.links[kept as usize].is_empty() {
            self.whole.insert(entry);
        }
    }

    fn labelling(mut self) -> Labelling {
        let (labels, count) = self.sets.numbered();
        Labelling { labels, count }
    }
}
