//! Matching by the gain of the objective itself, in rounds of reciprocal best partners.
//!
//! In a round every cluster picks the neighbour with which merging gains most (or costs least), and those that picked each
//! other merge. A round costs O(edges), needs no heap, and the order of the nodes plays no part: among equal gains a
//! fixed hash of the pair decides, or on unweighted graphs one hub would swallow all.

use std::cmp::Ordering;
use std::collections::HashMap;

use crate::disjoint::DisjointSets;
use crate::error::Result;
use crate::graph::{Apart, Graph, NodeId};
use crate::limits::Limits;
use crate::objective::{Objective, Sums};
use crate::parallel::prelude::*;
use crate::progress::{Clock, Progress, Stage, Stopped};

use super::affinity::Affinity;
use super::groups::Groups;
use super::propagation::Propagation;
use super::quotient::Linked;

/// A round that joins fewer than one node in so many stalls: labels propagate instead, or more nodes follow the one they
/// picked.
const STALLED: usize = 10;
/// As [`STALLED`], where a round is costly: so few pairs are not worth it, and one-sided ones are taken too.
const STALLED_COSTLY: usize = 100;
/// A round that stalls joins one node in [`STALLED`]; one in so many where it is costly and splits mend later what does not
/// fit so well.
const JOINED_IF_COSTLY: usize = 4;
/// Mass that propagated labels may cover, as a share of the cap: a fifth of a cluster leaves merging something to decide.
const PROPAGATED_SHARE: f64 = 0.2;

/// Fewer nodes that hang on a single other are no trouble.
const MIN_LEAVES: usize = 1 << 12;

/// Which clusters may merge, and how far. *Mass* is what the objective measures shares in: for N-Cut the volume.
#[derive(Clone, Copy)]
pub(crate) struct Merging<'a, O> {
    pub(crate) objective: O,
    /// Merge down to this many.
    pub(crate) target: usize,
    /// Mass below which a cluster must go on merging.
    pub(crate) floor: f64,
    /// Only nodes that are linked merge, however large they get by it: groups hold together.
    pub(crate) connected: bool,
    /// Only nodes with the same label merge.
    pub(crate) within: Option<&'a [u32]>,
    /// Mass that no group exceeds.
    pub(crate) max_mass: f64,
    /// Mass that no group exceeds, whatever hangs on it: that of the largest cluster allowed. What is apart, and what this keeps
    /// from merging, may leave more groups than the target.
    pub(crate) ceiling: f64,
    /// Mass that groups of more than two do not exceed.
    pub(crate) cap: f64,
    /// Mass up to which a node without a pair joins the group of the one it picked; 0 for never.
    pub(crate) cluster_small_to: f64,
    /// Whether labels may propagate where matching stalls.
    pub(crate) propagates: bool,
    /// Whether costly rounds may be fewer and merge what does not fit so well: splits mend that later.
    pub(crate) has_splits_later: bool,
    /// Weights are looked at as if up to this share larger or smaller.
    pub(crate) noise: f64,
    /// What the noise and the hash of pairs are made of.
    pub(crate) seed: u64,
    pub(crate) limits: &'a Limits,
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

impl<'a, O: Objective> Merging<'a, O> {
    /// Merging by the gain, without any constraint.
    pub(crate) fn down_to(target: usize, objective: O, limits: &'a Limits) -> Self {
        Self {
            objective,
            target,
            floor: 0.0,
            connected: false,
            within: None,
            max_mass: f64::INFINITY,
            ceiling: f64::INFINITY,
            cap: f64::INFINITY,
            cluster_small_to: 0.0,
            propagates: false,
            has_splits_later: false,
            noise: 0.0,
            seed: 0,
            limits,
        }
    }

    /// Merges the nodes of `graph` round by round until the target is reached, contracting between rounds.
    /// The groups are fewer than the target only where the floor asks for it, and more only where `within`
    /// forbids what is left.
    pub(crate) fn merge_all(&self, graph: &Graph<'_>, clock: &Clock<'_>) -> Result<Groups> {
        let contract =
            |graph: &Graph<'_>, round: &Groups| graph.contract_observed(&round.of_node, round.count, clock);
        Ok(self.merge_all_by(graph, clock, contract)?.0)
    }

    /// As [`merge_all`](Self::merge_all), with a contraction of the caller's; also gives the graph of the groups, if there
    /// was anything to merge.
    pub(super) fn merge_all_by(
        &self,
        graph: &Graph<'_>,
        clock: &Clock<'_>,
        mut contract: impl FnMut(&Graph<'_>, &Groups) -> Result<Graph<'static>>,
    ) -> Result<(Groups, Option<Graph<'static>>)> {
        let mut groups = Groups::singletons(graph.n_nodes());
        let mut contracted: Option<Graph<'static>> = None;
        let mut within: Option<Vec<u32>> = self.within.map(<[u32]>::to_vec);
        loop {
            let current = contracted.as_ref().unwrap_or(graph);
            let merging = Merging { within: within.as_deref(), ..*self };
            let Some(round) = merging.round(current, clock)? else { return Ok((groups, contracted)) };
            within = within.map(|within| round.restrict(&within));
            groups.compose(&round);
            contracted = Some(contract(current, &round)?);
        }
    }

    fn mass(&self, graph: &Graph<'_>, node: NodeId) -> f64 {
        self.objective.mass(&graph.node_sums::<O>(node))
    }

    /// One round of merges; `None` when nothing is left to merge.
    pub(crate) fn round(&self, graph: &Graph<'_>, clock: &Clock<'_>) -> Result<Option<Groups>, Stopped> {
        let n_nodes = graph.n_nodes();
        let is_small = |node: NodeId| self.mass(graph, node) < self.floor;
        let n_small = (0..n_nodes as NodeId).filter(|&node| is_small(node)).count();
        if n_nodes <= self.target.max(1) && (n_small == 0 || n_nodes == 1) {
            return Ok(None);
        }
        // Two clusters of sufficient mass merge only while there are too many of them.
        let n_large = n_nodes - n_small;
        let only_small = n_large <= self.target;
        let propagates = self.may_propagate(n_nodes);
        let seems_stalled = propagates && self.seems_stalled(graph, only_small);
        if seems_stalled && let Some(groups) = self.propagate(graph, clock)? {
            return Ok(Some(groups));
        }
        let picks = self.picks(graph, only_small, clock)?;

        // Of each pair the lower node.
        let picked_back = |node: &NodeId| {
            picks
                .partner(*node)
                .is_some_and(|partner| *node < partner && picks.partner(partner) == Some(*node))
        };
        let mut pairs: Vec<NodeId> = (0..n_nodes as NodeId).filter(picked_back).collect();
        if propagates
            && !seems_stalled
            && pairs.len() < n_nodes / STALLED
            && let Some(groups) = self.propagate(graph, clock)?
        {
            return Ok(Some(groups));
        }
        // Near the end the best go first.
        if n_nodes - pairs.len() < self.target || self.floor > 0.0 {
            pairs.sort_unstable_by(|&a, &b| picks.best_first(a, b));
        }
        let is_costly = graph.columns().len() > self.limits.coarsening.costly_round_entries;
        let part = if is_costly && self.has_splits_later { JOINED_IF_COSTLY } else { STALLED };
        let mut joining = Joining {
            merging: self,
            picks: &picks,
            sets: DisjointSets::new(n_nodes),
            masses: (0..n_nodes as NodeId).map(|node| self.mass(graph, node)).collect(),
            is_free: vec![true; n_nodes],
            n_nodes,
            n_left: n_nodes,
            n_large,
            enough: (n_nodes - n_nodes / part).max(self.target).min(n_nodes - 1),
            bonds: graph.apart().map(|apart| Bonds::new(apart, n_nodes)),
        };
        if self.connected {
            joining.hanging(graph);
        }
        for node in pairs {
            joining.pair(node);
        }
        if self.cluster_small_to > 0.0 {
            joining.small_clusters();
        }
        if joining.n_joined() < n_nodes / STALLED || joining.n_joined() == 0 {
            let mut followers: Vec<NodeId> = (0..n_nodes as NodeId)
                .filter(|&node| joining.is_free[node as usize] && picks.partner(node).is_some())
                .collect();
            followers.sort_unstable_by(|&a, &b| picks.best_first(a, b));
            if is_costly && joining.n_joined() < n_nodes / STALLED_COSTLY {
                joining.one_sided_pairs(&followers);
            }
            joining.followers(&followers);
            match self.connected {
                true => joining.crowded(&followers),
                false => joining.leaves(graph, &followers),
            }
        }
        if joining.n_joined() == 0 {
            if self.max_mass < f64::INFINITY {
                return Ok(None);
            }
            let Some((a, b)) = self.unlinked_pair(graph, only_small) else { return Ok(None) };
            if !joining.is_allowed(a as usize, b as usize) {
                return Ok(None);
            }
            joining.sets.join(a as usize, b as usize);
        }
        let (of_node, count) = joining.sets.numbered();
        Ok(Some(Groups { of_node, count }))
    }

    pub(crate) fn may_propagate(&self, n_nodes: usize) -> bool {
        self.propagates && n_nodes > self.limits.coarsening.nodes_per_cluster_for_propagation * self.target
    }

    /// Whether a sample of the nodes of a large graph has so few pairs that there is no need to match the others.
    fn seems_stalled(&self, graph: &Graph<'_>, only_small: bool) -> bool {
        let n_nodes = graph.n_nodes();
        if n_nodes < self.limits.coarsening.min_nodes_sampled {
            return false;
        }
        // Many of the sample may pick the same hub, which looks at all its neighbours only once.
        let mut known: HashMap<NodeId, Option<NodeId>> = HashMap::new();
        let mut partner = |node| {
            *known
                .entry(node)
                .or_insert_with(|| self.pick(graph, &[], node, only_small).map(|pick| pick.partner))
        };
        let is_paired = |&node: &NodeId| partner(node).and_then(&mut partner) == Some(node);
        let sample = (0..n_nodes as NodeId).step_by((n_nodes / self.limits.coarsening.n_sampled).max(1));
        // Two nodes a pair; and half as many as would do, for chance.
        sample.filter(is_paired).count() < self.limits.coarsening.n_sampled / STALLED
    }

    /// Groups by label propagation; `None` when they are too many or too few.
    pub(crate) fn propagate(
        &self,
        graph: &impl Linked,
        clock: &Clock<'_>,
    ) -> Result<Option<Groups>, Stopped> {
        let is_costly = graph.n_links() > self.limits.coarsening.costly_propagation_links;
        let (sweeps, sweeps_if_costly) = self.limits.coarsening.propagation_sweeps;
        let propagation = Propagation {
            max_mass: PROPAGATED_SHARE * self.cap,
            max_sweeps: if is_costly { sweeps_if_costly } else { sweeps },
            within: self.within,
            seed: self.seed,
            min_entries_for_blocks: self.limits.min_entries_for_blocks,
        };
        let n_nodes = graph.n_nodes();
        let masses = graph.masses(&self.objective);
        let groups = propagation.run(graph, &masses, clock)?;
        let groups = if self.connected { graph.pieces_of(groups) } else { groups };
        let is_useful = groups.count > 2 * self.target && groups.count < n_nodes - n_nodes / STALLED;
        Ok(is_useful.then_some(groups))
    }

    /// Groups of nodes that look alike, see [`Affinity`]; `None` when they are too many or too few.
    pub(crate) fn alike(&self, graph: &Graph<'_>, clock: &Clock<'_>) -> Result<Option<Groups>, Stopped> {
        self.propagate(&Affinity::of(graph, self.seed, clock)?, clock)
    }

    /// The best partner of every node.
    fn picks(&self, graph: &Graph<'_>, only_small: bool, clock: &Clock<'_>) -> Result<Picks, Stopped> {
        let (n_nodes, per_task) = (graph.n_nodes(), self.limits.coarsening.nodes_per_matching_task);
        let mut picks = Picks { partners: vec![NOBODY; n_nodes], gains: vec![0.0; n_nodes], seed: self.seed };
        // Where they stay in the cache, values are computed once.
        let n_values = if n_nodes <= self.limits.coarsening.max_cached_values { n_nodes } else { 0 };
        let values: Vec<f64> =
            (0..n_values as NodeId).map(|node| self.objective.value(&graph.node_sums::<O>(node))).collect();
        let pick_chunk = |chunk: usize, partners: &mut [NodeId], gains: &mut [f64]| {
            let mut progress = Progress::new(Stage::Coarsening, n_nodes as u64);
            progress.done = (chunk * per_task) as u64;
            clock.report(&progress)?;
            for (place, (partner, gain)) in partners.iter_mut().zip(gains).enumerate() {
                let node = (chunk * per_task + place) as NodeId;
                if let Some(pick) = self.pick(graph, &values, node, only_small) {
                    (*partner, *gain) = (pick.partner, pick.gain);
                }
            }
            Ok(())
        };
        if n_nodes <= per_task {
            pick_chunk(0, &mut picks.partners, &mut picks.gains)?;
        } else {
            let gains = picks.gains.par_chunks_mut(per_task);
            let chunks = picks.partners.par_chunks_mut(per_task).zip(gains).enumerate().with_max_len(1);
            chunks.try_for_each(|(chunk, (partners, gains))| pick_chunk(chunk, partners, gains))?;
        }
        Ok(picks)
    }

    fn pick(&self, graph: &Graph<'_>, values: &[f64], node: NodeId, only_small: bool) -> Option<Pick> {
        let objective = self.objective;
        let own = graph.node_sums::<O>(node);
        let (own_mass, own_value) = (objective.mass(&own), objective.value(&own));
        let must_pick_small = only_small && own_mass >= self.floor;
        let (max_mass, apart) = (self.max_mass.min(self.ceiling), graph.apart());
        let apart = apart.filter(|apart| apart.is_bound(node));
        // A hash is made where there is noise, or where gains are equal.
        let mut best: Option<(f64, NodeId)> = None;
        let mut best_hash: Option<u64> = None;
        let hash_with = |partner: NodeId| pair_hash(self.seed, node, partner);
        graph.for_each_neighbor(node, |partner, weight| {
            let other = graph.node_sums::<O>(partner);
            let other_mass = objective.mass(&other);
            if (must_pick_small && other_mass >= self.floor)
                || own_mass + other_mass > max_mass
                || apart.is_some_and(|apart| apart.are_apart(node, partner))
            {
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
            let other_value = match values.get(partner as usize) {
                Some(&value) => value,
                None => objective.value(&other),
            };
            // Symmetric in the two, to the last bit: each must see the gain the other sees.
            let gain = objective.unclamped(&own.merged(&other, weight)) - (own_value + other_value);
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

    /// Two nodes to merge where no link is left that may be used: a node of the smallest mass, and the one
    /// with which it costs least.
    fn unlinked_pair(&self, graph: &Graph<'_>, only_small: bool) -> Option<(NodeId, NodeId)> {
        if self.within.is_some() {
            return None;
        }
        let nodes = 0..graph.n_nodes() as NodeId;
        let mass = |node: NodeId| self.mass(graph, node);
        let smallest = nodes.clone().min_by(|&a, &b| mass(a).total_cmp(&mass(b)))?;
        if only_small && mass(smallest) >= self.floor {
            return None;
        }
        let sums = |node: NodeId| -> Sums { graph.node_sums::<O>(node) };
        let cost = |other: NodeId| {
            let (a, b) = (sums(smallest), sums(other));
            let value = |sums: &Sums| self.objective.value(sums);
            value(&a) + value(&b) - value(&a.merged(&b, 0.0))
        };
        let others = nodes.filter(|&node| node != smallest);
        let partner = others.min_by(|&a, &b| cost(a).total_cmp(&cost(b)).then(a.cmp(&b)))?;
        Some((smallest, partner))
    }
}

/// The groups of a round on their way.
struct Joining<'r, O> {
    merging: &'r Merging<'r, O>,
    picks: &'r Picks,
    sets: DisjointSets,
    /// Of the groups, by the node that stands for each.
    masses: Vec<f64>,
    /// Nodes that are in no pair.
    is_free: Vec<bool>,
    n_nodes: usize,
    n_left: usize,
    n_large: usize,
    /// Groups that are few enough for a round that stalls.
    enough: usize,
    /// Where some nodes are apart.
    bonds: Option<Bonds<'r>>,
}

/// The nodes in groups that are apart from others.
struct Bonds<'r> {
    apart: &'r Apart,
    /// By the node that stands for the group.
    of_group: Vec<Vec<NodeId>>,
}

impl<'r> Bonds<'r> {
    fn new(apart: &'r Apart, n_nodes: usize) -> Self {
        let mut of_group = vec![Vec::new(); n_nodes];
        for &node in apart.bound() {
            of_group[node as usize].push(node);
        }
        Self { apart, of_group }
    }

    /// Whether a node of one group is apart from one of the other.
    fn keep_apart(&self, a: usize, b: usize, sets: &mut DisjointSets) -> bool {
        let (fewer, other) = match self.of_group[a].len() <= self.of_group[b].len() {
            true => (a, b),
            false => (b, a),
        };
        if self.of_group[other].is_empty() {
            return false;
        }
        let mut partners = self.of_group[fewer].iter().flat_map(|&node| self.apart.partners(node));
        partners.any(|partner| sets.find(partner as usize) == other)
    }

    fn join(&mut self, a: usize, b: usize) {
        let moved = std::mem::take(&mut self.of_group[a.max(b)]);
        self.of_group[a.min(b)].extend(moved);
    }
}

impl<O: Objective> Joining<'_, O> {
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
    fn small_clusters(&mut self) {
        for node in (0..self.n_nodes as NodeId).filter(|&node| self.picks.partner(node).is_some()) {
            if !self.is_free[node as usize] || self.n_left <= self.merging.target {
                continue;
            }
            let (a, b) = self.groups(node, self.picks.partners[node as usize]);
            let is_small = self.masses[a] + self.masses[b] <= self.merging.cluster_small_to;
            if a != b && is_small && self.is_allowed(a, b) {
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
            let both = self.masses[a] + self.masses[b];
            if (both > self.merging.cap && self.n_left < self.n_nodes) || both > self.merging.max_mass {
                if !self.merging.connected {
                    *waiting = node;
                }
                continue;
            }
            if self.may_join(a, b) {
                self.join(a, b);
            }
        }
    }

    /// Nodes that hang on a single other join it, whatever its mass: nowhere else would they hold together.
    fn hanging(&mut self, graph: &Graph<'_>) {
        for node in 0..self.n_nodes as NodeId {
            if graph.neighbors(node).take(2).count() == 1
                && let Some(partner) = self.picks.partner(node)
            {
                let (a, b) = self.groups(node, partner);
                if self.may_join(a, b) {
                    self.join(a, b);
                    self.is_free[node as usize] = false;
                }
            }
        }
    }

    /// Where a round stalls although only linked nodes may merge, they join what they picked beyond the cap.
    fn crowded(&mut self, followers: &[NodeId]) {
        for &node in followers {
            if self.n_left <= self.enough {
                break;
            }
            let (a, b) = self.groups(node, self.picks.partners[node as usize]);
            let both = self.masses[a] + self.masses[b];
            if a != b && both <= self.merging.max_mass && self.may_join(a, b) {
                self.join(a, b);
            }
        }
    }

    /// Where most nodes hang on a single other, those that hang on the same come together by twos, however few groups that
    /// leaves: around a hub rounds would be many otherwise.
    fn leaves(&mut self, graph: &Graph<'_>, followers: &[NodeId]) {
        let is_leaf = |&node: &NodeId| graph.neighbors(node).take(2).count() == 1;
        let leaves: Vec<NodeId> = followers.iter().copied().filter(is_leaf).collect();
        if leaves.len() < MIN_LEAVES.max(self.n_nodes / 2) {
            return;
        }
        let mut waiting: HashMap<NodeId, NodeId> = HashMap::new();
        for node in leaves {
            if self.sets.find(node as usize) != node as usize {
                continue;
            }
            let hub = self.picks.partners[node as usize];
            let Some(other) = waiting.remove(&hub) else {
                waiting.insert(hub, node);
                continue;
            };
            let (a, b) = self.groups(node, other);
            let both = self.masses[a] + self.masses[b];
            if both <= self.merging.cap.min(self.merging.max_mass) && self.may_join(a, b) {
                self.join(a, b);
            }
        }
    }

    /// Whether two groups are still to merge.
    fn may_join(&mut self, a: usize, b: usize) -> bool {
        let (target, floor) = (self.merging.target, self.merging.floor);
        let has_arrived = if self.masses[a] >= floor && self.masses[b] >= floor {
            self.n_left <= target || self.n_large <= target
        } else {
            self.n_left <= target && floor == 0.0
        };
        a != b && !has_arrived && self.is_allowed(a, b)
    }

    /// Whether two groups may be one: none of their nodes are apart, and both are not too large together.
    fn is_allowed(&mut self, a: usize, b: usize) -> bool {
        self.masses[a] + self.masses[b] <= self.merging.ceiling
            && !self.bonds.as_ref().is_some_and(|bonds| bonds.keep_apart(a, b, &mut self.sets))
    }

    fn groups(&mut self, a: NodeId, b: NodeId) -> (usize, usize) {
        (self.sets.find(a as usize), self.sets.find(b as usize))
    }

    /// Makes two groups one.
    fn join(&mut self, a: usize, b: usize) {
        let is_large = |mass: f64| usize::from(mass >= self.merging.floor);
        let large_before = is_large(self.masses[a]) + is_large(self.masses[b]);
        let both = self.masses[a] + self.masses[b];
        self.n_large = self.n_large + is_large(both) - large_before;
        self.sets.join(a, b);
        if let Some(bonds) = &mut self.bonds {
            bonds.join(a, b);
        }
        self.masses[a.min(b)] = both;
        self.n_left -= 1;
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
    use crate::objective::NormalizedCut;

    #[test]
    fn a_node_joins_the_one_it_picked_while_that_is_free_and_beyond_the_cap() {
        // 1 and 2 picked each other, 0 picked 1, 3 picked 0, and 4 picked 1.
        let mut partners = vec![NOBODY; 50];
        partners[..5].copy_from_slice(&[1, 2, 1, 0, 1]);
        let picks = Picks { partners, gains: vec![0.0; 50], seed: 0 };
        let limits = Limits::default();
        let merging = Merging { cap: 1.5, ..Merging::down_to(2, NormalizedCut, &limits) };
        let mut joining = Joining {
            merging: &merging,
            picks: &picks,
            sets: DisjointSets::new(50),
            masses: vec![1.0; 50],
            is_free: vec![true; 50],
            n_nodes: 50,
            n_left: 50,
            n_large: 50,
            enough: 45,
            bonds: None,
        };
        joining.pair(1);
        joining.one_sided_pairs(&[0, 3, 4]);
        let (group, count) = joining.sets.numbered();
        assert_eq!(count, 48);
        assert!(group[1] == group[2] && group[0] == group[3] && group[0] != group[1]);
        assert!(group[4] != group[1]);
    }
}
