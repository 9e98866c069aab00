//! Labels that break what is asked for brought to comply: nodes that are apart are separated, clusters above the ceiling
//! give nodes away.
//!
//! It is done with as little loss as is easy to see; the descent that follows improves. What cannot be had here, as on a
//! coarse level whose nodes are too heavy, is left for a finer one.

use std::collections::{BinaryHeap, HashMap, VecDeque};

use crate::graph::{Apart, Graph, NodeId};
use crate::objective::Objective;
use crate::partition::{Candidate, ClusterId, Partition};
use crate::random::Random;

/// Steps to separate nodes: so many for each node that is apart from others, and some.
const STEPS_PER_BOUND_NODE: usize = 32;
const MIN_STEPS: usize = 256;
/// Steps for which a node that was moved does not go back.
const TABU_STEPS: usize = 8;
/// Times that overloaded clusters give nodes to those nearer to one with room.
const MAX_ROUNDS: usize = 48;
/// Rounds without progress after which nodes go wherever there is room.
const ROUNDS_IN_VAIN: usize = 3;
/// Nodes of a graph at most in which clusters look for two nodes to swap, each pair being looked at.
const MAX_NODES_TO_SWAP: usize = 1 << 10;

/// Brings labels to comply with the pairs of the graph and with a ceiling, as far as that is easy, whether there is time or not:
/// what is cut short must comply too. Afterwards moves are restricted to what is allowed.
pub(super) fn comply<O: Objective>(partition: &mut Partition<'_, O>, floor: f64, ceiling: f64) {
    partition.lift_restrictions();
    partition.set_floor(0.0);
    if let Some(apart) = partition.graph().apart() {
        separate(partition, apart, ceiling);
    }
    if ceiling < f64::INFINITY {
        Relief { partition, ceiling }.run();
    }
    partition.set_floor(floor);
    partition.set_ceiling(ceiling);
}

fn mass<O: Objective>(partition: &Partition<'_, O>, cluster: ClusterId) -> f64 {
    partition.table().objective_type().mass(&partition.table()[cluster].sums)
}

fn node_mass<O: Objective>(partition: &Partition<'_, O>, node: NodeId) -> f64 {
    partition.table().objective_type().mass(&partition.graph().node_sums::<O>(node))
}

/// Weights between a node and the clusters around it, its own included.
fn links_of<O>(partition: &Partition<'_, O>, node: NodeId) -> HashMap<ClusterId, f64>
where
    O: Objective,
{
    let mut links = HashMap::new();
    partition.graph().for_each_neighbor(node, |neighbor, weight| {
        *links.entry(partition.labels()[neighbor as usize]).or_insert(0.0) += weight;
    });
    links
}

/// Takes nodes that are apart out of each other's clusters: one after the other goes where it is with the fewest that it
/// must not be with, and does not come back for a while (min-conflicts with a tabu list).
fn separate<O: Objective>(partition: &mut Partition<'_, O>, apart: &Apart, ceiling: f64) {
    let graph = partition.graph();
    let is_in_conflict = |labels: &[ClusterId], node: NodeId| {
        apart.partners(node).any(|partner| labels[partner as usize] == labels[node as usize])
    };
    let mut waiting: Vec<NodeId> =
        apart.bound().iter().copied().filter(|&node| is_in_conflict(partition.labels(), node)).collect();
    // Light nodes give way to heavy ones.
    waiting.sort_by(|&a, &b| graph.degree(a).total_cmp(&graph.degree(b)).then(a.cmp(&b)));
    let mut waiting: VecDeque<NodeId> = waiting.into();
    let mut tabu: HashMap<(NodeId, ClusterId), usize> = HashMap::new();
    let mut random = Random::new(apart.bound().len() as u64);
    let n_clusters = partition.n_clusters();
    let mut n_with = vec![0u32; n_clusters];
    for step in 0..MIN_STEPS + STEPS_PER_BOUND_NODE * apart.bound().len() {
        let Some(node) = waiting.pop_front() else { return };
        if !is_in_conflict(partition.labels(), node) {
            continue;
        }
        n_with.fill(0);
        for partner in apart.partners(node) {
            n_with[partition.labels()[partner as usize] as usize] += 1;
        }
        let own = partition.labels()[node as usize];
        let links = links_of(partition, node);
        let weight = node_mass(partition, node);
        let mut best: Option<(u32, f64, f64, u64, ClusterId)> = None;
        for cluster in (0..n_clusters as ClusterId).filter(|&cluster| cluster != own) {
            let n_conflicts = n_with[cluster as usize];
            if best.is_some_and(|best| n_conflicts > best.0)
                || tabu.get(&(node, cluster)).is_some_and(|&until| step < until)
            {
                continue;
            }
            let link = |cluster: ClusterId| links.get(&cluster).copied().unwrap_or(0.0);
            let Some(found) = partition.move_by_links(node, cluster, (link(own), link(cluster))) else {
                continue;
            };
            let excess = (mass(partition, cluster) + weight - ceiling).max(0.0);
            let known = (n_conflicts, excess, -found.gain(), random.next(), cluster);
            if best.is_none_or(|best| known < best) {
                best = Some(known);
            }
        }
        let Some((n_conflicts, .., to)) = best else { continue };
        // A node alone in its cluster is with nobody: it may always leave.
        if let Some(found) = partition.move_to(node, to) {
            partition.apply(found);
            tabu.insert((node, own), step + TABU_STEPS + random.below(TABU_STEPS as u32) as usize);
        }
        if n_conflicts > 0 {
            let with = apart.partners(node).filter(|&partner| partition.labels()[partner as usize] == to);
            waiting.extend(with);
            waiting.push_back(node);
        }
    }
}

/// Clusters above the ceiling give nodes to others.
struct Relief<'r, 'g, O> {
    partition: &'r mut Partition<'g, O>,
    ceiling: f64,
}

impl<O: Objective> Relief<'_, '_, O> {
    fn run(&mut self) {
        let mut n_in_vain = 0;
        let mut before = self.excess();
        for _ in 0..MAX_ROUNDS {
            if before <= 0.0 {
                return;
            }
            match n_in_vain < ROUNDS_IN_VAIN {
                true => self.push_to_room(),
                false => {
                    let n_moves = self.send_anywhere() + self.swap_out();
                    if n_moves == 0 {
                        return;
                    }
                }
            }
            let after = self.excess();
            n_in_vain = if after < before { 0 } else { n_in_vain + 1 };
            before = after;
        }
    }

    fn mass(&self, cluster: ClusterId) -> f64 {
        mass(self.partition, cluster)
    }

    fn excess(&self) -> f64 {
        (0..self.partition.n_clusters() as ClusterId)
            .map(|cluster| (self.mass(cluster) - self.ceiling).max(0.0))
            .sum()
    }

    fn overloaded(&self) -> Vec<ClusterId> {
        let clusters = 0..self.partition.n_clusters() as ClusterId;
        clusters.filter(|&cluster| self.mass(cluster) > self.ceiling).collect()
    }

    /// Whether none of the nodes that a node is apart from is in a cluster.
    fn may_be_in(&self, node: NodeId, cluster: ClusterId) -> bool {
        let labels = self.partition.labels();
        let apart = self.partition.graph().apart();
        !apart.is_some_and(|apart| apart.partners(node).any(|partner| labels[partner as usize] == cluster))
    }

    /// How many clusters away one with room is, by links between clusters.
    fn distances(&self) -> Vec<usize> {
        let (graph, labels, n_clusters) =
            (self.partition.graph(), self.partition.labels(), self.partition.n_clusters());
        let overloaded = self.overloaded();
        let mut is_over = vec![false; n_clusters];
        overloaded.iter().for_each(|&cluster| is_over[cluster as usize] = true);
        let lightest = (0..graph.n_nodes() as NodeId)
            .filter(|&node| is_over[labels[node as usize] as usize])
            .map(|node| node_mass(self.partition, node))
            .filter(|&mass| mass > 0.0)
            .fold(f64::INFINITY, f64::min);
        let mut next_to: Vec<Vec<ClusterId>> = vec![Vec::new(); n_clusters];
        let mut last_met = vec![ClusterId::MAX; n_clusters];
        let mut members: Vec<NodeId> = (0..graph.n_nodes() as NodeId).collect();
        members.sort_by_key(|&node| labels[node as usize]);
        for node in members {
            let own = labels[node as usize];
            for &neighbor in &graph.columns()[graph.entries(node)] {
                let other = labels[neighbor as usize];
                if other != own && std::mem::replace(&mut last_met[other as usize], own) != own {
                    next_to[other as usize].push(own);
                }
            }
        }
        let mut distance = vec![usize::MAX; n_clusters];
        let mut reached: Vec<ClusterId> = (0..n_clusters as ClusterId)
            .filter(|&cluster| self.mass(cluster) + lightest <= self.ceiling)
            .collect();
        reached.iter().for_each(|&cluster| distance[cluster as usize] = 0);
        let mut next = 0;
        while let Some(&cluster) = reached.get(next) {
            for &other in &next_to[cluster as usize] {
                if distance[other as usize] == usize::MAX {
                    distance[other as usize] = distance[cluster as usize] + 1;
                    reached.push(other);
                }
            }
            next += 1;
        }
        distance
    }

    /// Every overloaded cluster, the farthest from room first, gives what it has too much to clusters that are nearer, which
    /// may be overloaded themselves then, until it is their turn.
    fn push_to_room(&mut self) {
        let distance = self.distances();
        let mut by_distance: Vec<ClusterId> = (0..self.partition.n_clusters() as ClusterId)
            .filter(|&c| distance[c as usize] != usize::MAX)
            .collect();
        by_distance.sort_by_key(|&cluster| (std::cmp::Reverse(distance[cluster as usize]), cluster));
        for from in by_distance {
            if self.mass(from) > self.ceiling {
                self.give(from, &distance);
            }
        }
    }

    /// The best move of a node to a linked cluster nearer to room, by what it gains for its mass.
    fn nearer(&self, node: NodeId, distance: &[usize]) -> Option<(f64, ClusterId)> {
        let from = self.partition.labels()[node as usize];
        let weight = node_mass(self.partition, node);
        if weight <= 0.0 {
            return None;
        }
        let links = links_of(self.partition, node);
        let own = links.get(&from).copied().unwrap_or(0.0);
        let mut best: Option<(f64, ClusterId)> = None;
        for (&to, &link) in &links {
            let has_room = distance[to as usize] > 0 || self.mass(to) + weight <= self.ceiling;
            if to == from || distance[to as usize] >= distance[from as usize] || !has_room {
                continue;
            }
            if !self.may_be_in(node, to) {
                continue;
            }
            let Some(step) = self.partition.move_by_links(node, to, (own, link)) else { continue };
            let key = (step.gain() / weight, to);
            let is_better = |best: (f64, ClusterId)| key.0 > best.0 || (key.0 == best.0 && to < best.1);
            if best.is_none_or(is_better) {
                best = Some(key);
            }
        }
        best
    }

    fn give(&mut self, from: ClusterId, distance: &[usize]) {
        let graph = self.partition.graph();
        let labels = self.partition.labels();
        let own = (0..graph.n_nodes() as NodeId).filter(|&node| labels[node as usize] == from);
        let candidate = |node| self.nearer(node, distance).map(|(gain, _)| Candidate { gain, node });
        let mut heap: BinaryHeap<Candidate> = own.filter_map(candidate).collect();
        while self.mass(from) > self.ceiling {
            let Some(filed) = heap.pop() else { return };
            if self.partition.labels()[filed.node as usize] != from {
                continue;
            }
            let Some((gain, to)) = self.nearer(filed.node, distance) else { continue };
            let current = Candidate { gain, node: filed.node };
            if heap.peek().is_some_and(|next| current < *next) && gain < filed.gain {
                heap.push(current);
                continue;
            }
            let Some(step) = self.partition.move_to(filed.node, to) else { continue };
            self.partition.apply(step);
            graph.for_each_neighbor(filed.node, |neighbor, _| {
                if self.partition.labels()[neighbor as usize] == from
                    && let Some((gain, _)) = self.nearer(neighbor, distance)
                {
                    heap.push(Candidate { gain, node: neighbor });
                }
            });
        }
    }

    /// Nodes of overloaded clusters go wherever there is room for them, linked or not, those first that lose least.
    fn send_anywhere(&mut self) -> usize {
        let mut n_moves = 0;
        for from in self.overloaded() {
            let graph = self.partition.graph();
            let own: Vec<NodeId> = (0..graph.n_nodes() as NodeId)
                .filter(|&node| self.partition.labels()[node as usize] == from)
                .collect();
            let mut heaviest_first = own;
            heaviest_first.sort_by(|&a, &b| {
                node_mass(self.partition, b).total_cmp(&node_mass(self.partition, a)).then(a.cmp(&b))
            });
            for node in heaviest_first {
                if self.mass(from) <= self.ceiling {
                    break;
                }
                let weight = node_mass(self.partition, node);
                let mut best: Option<(f64, ClusterId)> = None;
                for to in (0..self.partition.n_clusters() as ClusterId).filter(|&to| to != from) {
                    if weight <= 0.0 || self.mass(to) + weight > self.ceiling || !self.may_be_in(node, to) {
                        continue;
                    }
                    let gain = self.partition.gain(node, to);
                    if best.is_none_or(|best| gain > best.0) {
                        best = Some((gain, to));
                    }
                }
                if let Some(step) = best.and_then(|(_, to)| self.partition.move_to(node, to)) {
                    self.partition.apply(step);
                    n_moves += 1;
                }
            }
        }
        n_moves
    }

    /// A heavy node of an overloaded cluster for a lighter one of another that has room for the difference.
    fn swap_out(&mut self) -> usize {
        let graph: &Graph<'_> = self.partition.graph();
        if graph.n_nodes() > MAX_NODES_TO_SWAP {
            return 0;
        }
        let mut n_swaps = 0;
        for from in self.overloaded() {
            let mut best: Option<(f64, NodeId, NodeId)> = None;
            let labels = self.partition.labels();
            let excess = self.mass(from) - self.ceiling;
            for leaving in (0..graph.n_nodes() as NodeId).filter(|&node| labels[node as usize] == from) {
                for coming in (0..graph.n_nodes() as NodeId).filter(|&node| labels[node as usize] != from) {
                    let to = labels[coming as usize];
                    let less = node_mass(self.partition, leaving) - node_mass(self.partition, coming);
                    let left = (excess - less).max(0.0) + (self.mass(to) + less - self.ceiling).max(0.0)
                        - (self.mass(to) - self.ceiling).max(0.0);
                    if less <= 0.0 || left >= excess || best.is_some_and(|best| best.0 <= left) {
                        continue;
                    }
                    let fits = |node: NodeId, other: NodeId, cluster: ClusterId| {
                        graph.apart().is_none_or(|apart| {
                            let mut partners = apart.partners(node).filter(|&partner| partner != other);
                            !partners.any(|partner| labels[partner as usize] == cluster)
                        })
                    };
                    if fits(leaving, coming, to) && fits(coming, leaving, from) {
                        best = Some((left, leaving, coming));
                    }
                }
            }
            let Some((_, leaving, coming)) = best else { continue };
            let to = self.partition.labels()[coming as usize];
            n_swaps += usize::from(swap(self.partition, (leaving, from), (coming, to)));
        }
        n_swaps
    }
}

/// Two nodes change places. One of them may be alone in its cluster, so that the other goes there first.
fn swap<O: Objective>(
    partition: &mut Partition<'_, O>,
    (a, of_a): (NodeId, ClusterId),
    (b, of_b): (NodeId, ClusterId),
) -> bool {
    for (first, to, second, back) in [(a, of_b, b, of_a), (b, of_a, a, of_b)] {
        let Some(step) = partition.move_to(first, to) else { continue };
        partition.apply(step);
        if let Some(other) = partition.move_to(second, back) {
            partition.apply(other);
            return true;
        }
        partition.take_back(&step);
    }
    false
}
