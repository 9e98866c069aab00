//! Greedy merging by the N-Cut gain itself, in rounds of reciprocal best partners.
//!
//! Merging clusters `i` and `j` changes the objective by
//! `(A_i + A_j + 2 w_ij) / (D_i + D_j) - A_i / D_i - A_j / D_j`. In a round every cluster picks the neighbour with
//! which that is largest, and those that picked each other merge. A round costs O(edges), needs no heap, and the
//! order of the nodes plays no part: among equal gains a fixed hash of the pair decides, or on unweighted graphs
//! one hub would swallow all.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use crate::disjoint::DisjointSets;
use crate::error::Result;
use crate::graph::{Graph, NodeId};
use crate::parallel::prelude::*;
use crate::partition::density;
use crate::progress::{Progress, Stage, Watch};

use super::propagation::Propagation;
use super::quotient::Linked;

/// A round with fewer pairs than one for this many nodes starves: labels propagate instead, or more nodes join the
/// one they picked.
const STARVED: usize = 10;
/// As [`STARVED`], where a round costs much: over so many entries.
const FAMISHED: usize = 100;
const COSTLY: usize = 1 << 20;
/// A round that starves brings together one node in [`STARVED`]; one in this many where it costs much and is in a hurry.
const HURRIED: usize = 4;
/// Labels propagate while there are this many nodes for each cluster that is to be.
const MANY: usize = 20;
/// Volume that labels spread over, as a share of the cap.
const PROPAGATED_SHARE: f64 = 0.2;
const PROPAGATION_SWEEPS: usize = 8;
/// As [`PROPAGATION_SWEEPS`] over so many links: later sweeps move few, and visit many.
const COSTLY_SWEEPS: usize = 5;
const COSTLY_LINKS: usize = 1 << 23;
/// Graphs with fewer nodes are asked as a whole whether their pairs starve, others by so many nodes.
const LEAST_SAMPLED: usize = 1 << 17;
const SAMPLED: usize = 1 << 12;
/// Nodes that one thread gives partners at a time.
const NODES_PER_TASK: usize = 2048;

/// Nodes whose densities stay in the cache.
const MOST_DENSITIES: usize = 1 << 16;

/// Which clusters may merge, and how far.
#[derive(Clone, Copy)]
pub(crate) struct Merging<'a> {
    /// Merge down to this many.
    pub(crate) target: usize,
    /// Volume below which a cluster must go on merging.
    pub(crate) floor: f64,
    /// Only nodes with the same label merge.
    pub(crate) within: Option<&'a [u32]>,
    /// Volume that no group exceeds.
    pub(crate) largest: f64,
    /// Volume that groups of more than two do not exceed.
    pub(crate) cap: f64,
    /// Volume up to which a node without a pair joins the group of the one it picked.
    pub(crate) crowd: f64,
    /// Whether labels may propagate where pairs starve.
    pub(crate) propagates: bool,
    /// Whether rounds that cost much may be fewer and merge what does not fit so well: splits mend that later.
    pub(crate) hurries: bool,
    /// Weights are looked at as if up to this share larger or smaller.
    pub(crate) noise: f64,
    /// What the noise and the hash of pairs are made of.
    pub(crate) seed: u64,
}

/// Groups of nodes.
pub(crate) struct Groups {
    pub(crate) of_node: Vec<u32>,
    pub(crate) count: usize,
}

/// A node's best partner.
#[derive(Clone, Copy)]
struct Pick {
    gain: f64,
    partner: NodeId,
}

/// The best partner of every node, [`NOBODY`] for none, and what merging with it gains.
struct Picks {
    partners: Vec<NodeId>,
    gains: Vec<f64>,
    seed: u64,
}

impl Picks {
    fn partner(&self, node: NodeId) -> Option<NodeId> {
        Some(self.partners[node as usize]).filter(|&partner| partner != NOBODY)
    }

    /// The order of two nodes by what they picked, then by number.
    fn best_first(&self, a: NodeId, b: NodeId) -> Ordering {
        let hash = |node: NodeId| pair_hash(self.seed, node, self.partners[node as usize]);
        let by_gain = self.gains[b as usize].total_cmp(&self.gains[a as usize]);
        by_gain.then_with(|| hash(a).cmp(&hash(b))).then(a.cmp(&b))
    }
}

impl Merging<'_> {
    /// Plain greedy merging.
    pub(crate) fn down_to(target: usize) -> Self {
        Self {
            target,
            floor: 0.0,
            within: None,
            largest: f64::INFINITY,
            cap: f64::INFINITY,
            crowd: 0.0,
            propagates: false,
            hurries: false,
            noise: 0.0,
            seed: 0,
        }
    }

    /// Merges the nodes of `graph` round by round until the target is reached, contracting between rounds.
    /// The groups are fewer than the target only where the floor asks for it, and more only where `within`
    /// forbids what is left.
    pub(crate) fn finish(&self, graph: &Graph<'_>, watch: &dyn Watch) -> Result<ControlFlow<(), Groups>> {
        let mut groups = Groups::single(graph.n_nodes());
        let mut contracted: Option<Graph<'static>> = None;
        let mut within: Option<Vec<u32>> = self.within.map(<[u32]>::to_vec);
        loop {
            let current = contracted.as_ref().unwrap_or(graph);
            let merging = Merging { within: within.as_deref(), ..*self };
            let Some(round) = merging.round(current, watch) else {
                let stopped = watch.is_stopped();
                return Ok(if stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(groups) });
            };
            within = within.map(|within| round.carried(&within));
            groups.follow(&round);
            let next = current.contract_observed(&round.of_node, round.count, &mut |p| watch.report(p))?;
            match next {
                ControlFlow::Continue(next) => contracted = Some(next),
                ControlFlow::Break(()) => return Ok(ControlFlow::Break(())),
            }
        }
    }

    /// One round of merges; `None` when nothing is left to merge, or the observer said stop.
    pub(crate) fn round(&self, graph: &Graph<'_>, watch: &dyn Watch) -> Option<Groups> {
        let n_nodes = graph.n_nodes();
        let is_small = |node: NodeId| graph.degree(node) < self.floor;
        let n_small = (0..n_nodes as NodeId).filter(|&node| is_small(node)).count();
        if n_nodes <= self.target.max(1) && (n_small == 0 || n_nodes == 1) {
            return None;
        }
        // Two clusters of sufficient volume merge only while there are too many of them.
        let n_large = n_nodes - n_small;
        let only_small = n_large <= self.target;
        let propagates = self.may_propagate(n_nodes);
        let is_starved = propagates && self.seems_starved(graph, only_small);
        if is_starved && let Some(groups) = self.propagated(graph, watch) {
            return Some(groups);
        }
        let picks = self.picks(graph, only_small, watch)?;

        // Of each pair the lower node.
        let picked_back = |node: &NodeId| {
            picks
                .partner(*node)
                .is_some_and(|partner| *node < partner && picks.partner(partner) == Some(*node))
        };
        let mut pairs: Vec<NodeId> = (0..n_nodes as NodeId).filter(picked_back).collect();
        if propagates
            && !is_starved
            && pairs.len() < n_nodes / STARVED
            && let Some(groups) = self.propagated(graph, watch)
        {
            return Some(groups);
        }
        // Near the end the best go first.
        if n_nodes - pairs.len() < self.target || self.floor > 0.0 {
            pairs.sort_unstable_by(|&a, &b| picks.best_first(a, b));
        }
        let is_costly = graph.columns().len() > COSTLY;
        let part = if is_costly && self.hurries { HURRIED } else { STARVED };
        let mut joining = Joining {
            merging: self,
            picks: &picks,
            sets: DisjointSets::new(n_nodes),
            volumes: graph.degrees().to_vec(),
            is_free: vec![true; n_nodes],
            n_nodes,
            n_left: n_nodes,
            n_large,
            enough: (n_nodes - n_nodes / part).max(self.target).min(n_nodes - 1),
        };
        for node in pairs {
            joining.pair(node);
        }
        if self.crowd > 0.0 {
            joining.crowds();
        }
        if joining.n_joined() < n_nodes / STARVED || joining.n_joined() == 0 {
            let mut followers: Vec<NodeId> = (0..n_nodes as NodeId)
                .filter(|&node| joining.is_free[node as usize] && picks.partner(node).is_some())
                .collect();
            followers.sort_unstable_by(|&a, &b| picks.best_first(a, b));
            if is_costly && joining.n_joined() < n_nodes / FAMISHED {
                joining.one_sided_pairs(&followers);
            }
            joining.followers(&followers);
        }
        if joining.n_joined() == 0 {
            if self.largest < f64::INFINITY {
                return None;
            }
            let (a, b) = self.unlinked_pair(graph, only_small)?;
            joining.sets.join(a as usize, b as usize);
        }
        let (of_node, count) = joining.sets.numbered();
        Some(Groups { of_node, count })
    }

    pub(crate) fn may_propagate(&self, n_nodes: usize) -> bool {
        self.propagates && n_nodes > MANY * self.target
    }

    /// Whether a few nodes of a large graph have so few pairs that there is no need to ask the others.
    fn seems_starved(&self, graph: &Graph<'_>, only_small: bool) -> bool {
        let n_nodes = graph.n_nodes();
        if n_nodes < LEAST_SAMPLED {
            return false;
        }
        let partner = |node| self.pick(graph, &[], node, only_small).map(|pick| pick.partner);
        let is_paired = |&node: &NodeId| partner(node).and_then(partner) == Some(node);
        let sample = (0..n_nodes as NodeId).step_by(n_nodes / SAMPLED);
        // Two nodes a pair; and half as many as would do, for chance.
        sample.filter(is_paired).count() < SAMPLED / STARVED
    }

    /// Groups by labels that propagate; `None` when they are too many or too few, or the observer said stop.
    pub(crate) fn propagated(&self, graph: &impl Linked, watch: &dyn Watch) -> Option<Groups> {
        let is_costly = graph.n_links() > COSTLY_LINKS;
        let propagation = Propagation {
            largest: PROPAGATED_SHARE * self.cap,
            max_sweeps: if is_costly { COSTLY_SWEEPS } else { PROPAGATION_SWEEPS },
            within: self.within,
            seed: self.seed,
        };
        let n_nodes = graph.n_nodes();
        let is_useful =
            |groups: &Groups| groups.count > 2 * self.target && groups.count < n_nodes - n_nodes / STARVED;
        propagation.run(graph, watch).filter(is_useful)
    }

    /// The best partner of every node.
    fn picks(&self, graph: &Graph<'_>, only_small: bool, watch: &dyn Watch) -> Option<Picks> {
        let n_nodes = graph.n_nodes();
        let mut picks = Picks { partners: vec![NOBODY; n_nodes], gains: vec![0.0; n_nodes], seed: self.seed };
        // Where they stay in the cache, densities are computed once.
        let n_densities = if n_nodes <= MOST_DENSITIES { n_nodes } else { 0 };
        let densities: Vec<f64> = (0..n_densities as NodeId)
            .map(|node| density(graph.self_loop(node), graph.degree(node)))
            .collect();
        let pick_chunk = |chunk: usize, partners: &mut [NodeId], gains: &mut [f64]| {
            let mut progress = Progress::new(Stage::Coarsening, n_nodes as u64);
            progress.done = (chunk * NODES_PER_TASK) as u64;
            if watch.report(&progress).is_break() {
                return;
            }
            for (place, (partner, gain)) in partners.iter_mut().zip(gains).enumerate() {
                let node = (chunk * NODES_PER_TASK + place) as NodeId;
                if let Some(pick) = self.pick(graph, &densities, node, only_small) {
                    (*partner, *gain) = (pick.partner, pick.gain);
                }
            }
        };
        if n_nodes <= NODES_PER_TASK {
            pick_chunk(0, &mut picks.partners, &mut picks.gains);
        } else {
            let gains = picks.gains.par_chunks_mut(NODES_PER_TASK);
            let chunks = picks.partners.par_chunks_mut(NODES_PER_TASK).zip(gains).enumerate().with_max_len(1);
            chunks.for_each(|(chunk, (partners, gains))| pick_chunk(chunk, partners, gains));
        }
        (!watch.is_stopped()).then_some(picks)
    }

    fn pick(&self, graph: &Graph<'_>, densities: &[f64], node: NodeId, only_small: bool) -> Option<Pick> {
        let (volume, association) = (graph.degree(node), graph.self_loop(node));
        let own_density = density(association, volume);
        let bound = only_small && volume >= self.floor;
        // A hash is made where there is noise, or where gains are equal.
        let mut best: Option<(f64, NodeId)> = None;
        let mut best_hash: Option<u64> = None;
        let hash_with = |partner: NodeId| pair_hash(self.seed, node, partner);
        graph.for_each_neighbor(node, |partner, weight| {
            let (other_volume, other_association) = (graph.degree(partner), graph.self_loop(partner));
            if (bound && other_volume >= self.floor) || volume + other_volume > self.largest {
                return;
            }
            if self.within.is_some_and(|within| within[node as usize] != within[partner as usize]) {
                return;
            }
            let weight = if self.noise > 0.0 {
                let share = (hash_with(partner) >> 11) as f64 * SCALE_TO_ONE;
                weight * (1.0 + self.noise * (share * 2.0 - 1.0))
            } else {
                weight
            };
            let joint = (association + other_association + 2.0 * weight) / (volume + other_volume);
            // Symmetric in the two, to the last bit: each must see the gain the other sees.
            let other_density = match densities.get(partner as usize) {
                Some(&density) => density,
                None => density(other_association, other_volume),
            };
            let gain = joint - (own_density + other_density);
            let Some((best_gain, best_partner)) = best else {
                best = Some((gain, partner));
                return;
            };
            if gain > best_gain {
                (best, best_hash) = (Some((gain, partner)), None);
            } else if gain == best_gain {
                let known = *best_hash.get_or_insert_with(|| hash_with(best_partner));
                let hash = hash_with(partner);
                if hash < known {
                    (best, best_hash) = (Some((gain, partner)), Some(hash));
                }
            }
        });
        best.map(|(gain, partner)| Pick { gain, partner })
    }

    /// Two nodes to merge where no link is left that may be used: a node of the smallest volume, and the one
    /// with which it costs least.
    fn unlinked_pair(&self, graph: &Graph<'_>, only_small: bool) -> Option<(NodeId, NodeId)> {
        if self.within.is_some() {
            return None;
        }
        let nodes = 0..graph.n_nodes() as NodeId;
        let smallest = nodes.clone().min_by(|&a, &b| graph.degree(a).total_cmp(&graph.degree(b)))?;
        if only_small && graph.degree(smallest) >= self.floor {
            return None;
        }
        let cost = |other: NodeId| {
            let (a, b) = (graph.self_loop(smallest), graph.self_loop(other));
            let (d, e) = (graph.degree(smallest), graph.degree(other));
            density(a, d) + density(b, e) - density(a + b, d + e)
        };
        let others = nodes.filter(|&node| node != smallest);
        let partner = others.min_by(|&a, &b| cost(a).total_cmp(&cost(b)).then(a.cmp(&b)))?;
        Some((smallest, partner))
    }
}

/// The groups of a round on their way.
struct Joining<'r> {
    merging: &'r Merging<'r>,
    picks: &'r Picks,
    sets: DisjointSets,
    /// Of the groups, by the node that stands for each.
    volumes: Vec<f64>,
    /// Nodes that are in no pair.
    is_free: Vec<bool>,
    n_nodes: usize,
    n_left: usize,
    n_large: usize,
    /// Groups that are few enough for a round that starves.
    enough: usize,
}

impl Joining<'_> {
    fn n_joined(&self) -> usize {
        self.n_nodes - self.n_left
    }

    /// Joins a node with the one that it picked.
    fn pair(&mut self, node: NodeId) {
        let partner = self.picks.partners[node as usize];
        let (a, b) = self.groups(node, partner);
        if self.may_join(a, b) {
            self.join(a, b);
            (self.is_free[node as usize], self.is_free[partner as usize]) = (false, false);
        }
    }

    /// Nodes without a pair join the group of the one they picked where both are small.
    fn crowds(&mut self) {
        for node in (0..self.n_nodes as NodeId).filter(|&node| self.picks.partner(node).is_some()) {
            if !self.is_free[node as usize] || self.n_left <= self.merging.target {
                continue;
            }
            let (a, b) = self.groups(node, self.picks.partners[node as usize]);
            if a != b && self.volumes[a] + self.volumes[b] <= self.merging.crowd {
                self.join(a, b);
            }
        }
    }

    /// Nodes join the one that they picked while that has nobody else, whoever it would have picked.
    fn one_sided_pairs(&mut self, followers: &[NodeId]) {
        for &node in followers {
            let partner = self.picks.partners[node as usize];
            let are_free = self.is_free[node as usize] && self.is_free[partner as usize];
            if self.n_left > self.enough && are_free {
                self.pair(node);
            }
        }
    }

    /// Nodes without a pair join the group of the one they picked. Where that is full, those that picked it come
    /// together by twos and threes.
    fn followers(&mut self, followers: &[NodeId]) {
        let mut gathering: Vec<NodeId> = vec![NOBODY; self.n_nodes];
        for &node in followers {
            if self.n_left <= self.enough {
                break;
            }
            if !self.is_free[node as usize] {
                continue;
            }
            let partner = self.picks.partners[node as usize];
            let waiting = &mut gathering[partner as usize];
            let group = if *waiting == NOBODY { partner } else { *waiting };
            let (a, b) = self.groups(node, group);
            let both = self.volumes[a] + self.volumes[b];
            if (both > self.merging.cap && self.n_left < self.n_nodes) || both > self.merging.largest {
                *waiting = node;
                continue;
            }
            if self.may_join(a, b) {
                self.join(a, b);
            }
        }
    }

    /// Whether two groups are still to merge.
    fn may_join(&self, a: usize, b: usize) -> bool {
        let Merging { target, floor, .. } = *self.merging;
        let has_arrived = if self.volumes[a] >= floor && self.volumes[b] >= floor {
            self.n_left <= target || self.n_large <= target
        } else {
            self.n_left <= target && floor == 0.0
        };
        a != b && !has_arrived
    }

    fn groups(&mut self, a: NodeId, b: NodeId) -> (usize, usize) {
        (self.sets.find(a as usize), self.sets.find(b as usize))
    }

    /// Makes two groups one.
    fn join(&mut self, a: usize, b: usize) {
        let is_large = |volume: f64| usize::from(volume >= self.merging.floor);
        let large_before = is_large(self.volumes[a]) + is_large(self.volumes[b]);
        let both = self.volumes[a] + self.volumes[b];
        self.n_large = self.n_large + is_large(both) - large_before;
        self.sets.join(a, b);
        self.volumes[a.min(b)] = both;
        self.n_left -= 1;
    }
}

impl Groups {
    /// Every node by itself.
    pub(crate) fn single(n_nodes: usize) -> Self {
        Self { of_node: (0..n_nodes as u32).collect(), count: n_nodes }
    }

    /// Groups by labels below the number of nodes, numbered by first appearance.
    pub(crate) fn numbered(mut of_node: Vec<u32>) -> Self {
        const UNSEEN: u32 = u32::MAX;
        let mut number = vec![UNSEEN; of_node.len()];
        let mut count = 0;
        for label in &mut of_node {
            let number = &mut number[*label as usize];
            if *number == UNSEEN {
                *number = count;
                count += 1;
            }
            *label = *number;
        }
        Self { of_node, count: count as usize }
    }

    /// Groups of these groups.
    pub(crate) fn follow(&mut self, coarser: &Self) {
        for group in &mut self.of_node {
            *group = coarser.of_node[*group as usize];
        }
        self.count = coarser.count;
    }

    /// A value of every node, which the nodes of a group share, as a value of every group.
    pub(crate) fn carried(&self, values: &[u32]) -> Vec<u32> {
        let mut carried = vec![0; self.count];
        for (&group, &value) in self.of_node.iter().zip(values) {
            carried[group as usize] = value;
        }
        carried
    }
}

const NOBODY: NodeId = NodeId::MAX;

/// 2^-53.
const SCALE_TO_ONE: f64 = 1.0 / (1u64 << 53) as f64;

/// A hash of two nodes that does not depend on their order.
fn pair_hash(seed: u64, a: NodeId, b: NodeId) -> u64 {
    let pair = u64::from(a.min(b)) << 32 | u64::from(a.max(b));
    crate::random::mixed(pair ^ crate::random::mixed(seed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_joins_the_one_it_picked_while_that_is_free_and_beyond_the_cap() {
        // 1 and 2 picked each other, 0 picked 1, 3 picked 0, and 4 picked 1.
        let mut partners = vec![NOBODY; 50];
        partners[..5].copy_from_slice(&[1, 2, 1, 0, 1]);
        let picks = Picks { partners, gains: vec![0.0; 50], seed: 0 };
        let merging = Merging { cap: 1.5, ..Merging::down_to(2) };
        let mut joining = Joining {
            merging: &merging,
            picks: &picks,
            sets: DisjointSets::new(50),
            volumes: vec![1.0; 50],
            is_free: vec![true; 50],
            n_nodes: 50,
            n_left: 50,
            n_large: 50,
            enough: 45,
        };
        joining.pair(1);
        joining.one_sided_pairs(&[0, 3, 4]);
        let (group, count) = joining.sets.numbered();
        assert_eq!(count, 48);
        assert!(group[1] == group[2] && group[0] == group[3] && group[0] != group[1]);
        assert!(group[4] != group[1]);
    }
}
