//! What every phase of the search is given, and the refinement that all of them use.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use crate::descent::{
    Descent, Proof, StoppingRule, chains, exchange, settle_active, settle_all, settle_connected,
};
use crate::error::Result;
use crate::graph::{Graph, NodeId};
use crate::hierarchy::{Groups, Merging};
use crate::objective::Objective;
use crate::partition::{ClusterId, Links, Partition};
use crate::progress::{Clock, StopReason};

use super::comply::comply;
use super::connect::{Connected, connected};
use super::plan::{Choice, Plan};
use super::solution::{Bounds, Solution, Worth};

/// Rounds of chains after a descent, at most.
const MAX_CHAIN_ROUNDS: u64 = 3;
/// A round of chains that gains less than this, in units of the objective, is the last.
const MIN_CHAIN_GAIN: f64 = 1e-9;

/// Nodes that are looked at under a ceiling when pairs of clusters exchange nodes, all pairs together.
const MAX_NODES_EXCHANGED: usize = 1 << 23;

/// What is asked for.
#[derive(Clone, Copy)]
pub(super) struct Task<'t, O> {
    pub(super) objective: O,
    pub(super) n_clusters: usize,
    /// Mass that no cluster may fall below.
    pub(super) floor: f64,
    /// Mass that no cluster may exceed; infinite for any.
    pub(super) ceiling: f64,
    /// Whether every cluster is to hold together.
    pub(super) connected: bool,
    /// Whether there are constraints of any kind.
    pub(super) is_constrained: bool,
    /// Groups that coarsening starts from, on a graph too large to be contracted beforehand.
    pub(super) bundles: Option<&'t Groups>,
    pub(super) rule: StoppingRule,
    pub(super) plan: &'t Plan,
    pub(super) clock: &'t Clock<'t>,
    /// Recombination ends when the clock has no more than this left: the next rung needs it.
    pub(super) reserve: Option<Duration>,
    /// Where descents are counted; those on levels and parts of the graph are not.
    pub(super) tally: Option<&'t Tally>,
}

/// What has been done so far on the whole graph, by all threads.
#[derive(Debug, Default)]
pub(super) struct Tally {
    sweeps: AtomicUsize,
    moves: AtomicU64,
}

impl Tally {
    pub(super) fn sweeps(&self) -> usize {
        self.sweeps.load(Ordering::Relaxed)
    }

    pub(super) fn moves(&self) -> u64 {
        self.moves.load(Ordering::Relaxed)
    }

    pub(super) fn add(&self, descent: &Descent) {
        self.sweeps.fetch_add(descent.sweeps, Ordering::Relaxed);
        self.moves.fetch_add(descent.moves, Ordering::Relaxed);
    }
}

impl<'t, O: Objective> Task<'t, O> {
    /// The same task on a level or a part of the graph.
    pub(super) fn uncounted(&self) -> Self {
        Self { tally: None, ..*self }
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.clock.is_stopped()
    }

    /// Whether recombination is to end.
    pub(super) fn is_time_up(&self) -> bool {
        let is_used_up = |reserve| self.clock.left().is_some_and(|left| left <= reserve);
        self.is_stopped() || self.reserve.is_some_and(is_used_up)
    }

    pub(super) fn mass(&self, graph: &Graph<'_>, node: NodeId) -> f64 {
        self.objective.mass(&graph.node_sums::<O>(node))
    }

    /// The masses of all nodes.
    pub(super) fn masses(&self, graph: &Graph<'_>) -> Vec<f64> {
        (0..graph.n_nodes() as NodeId).map(|node| self.mass(graph, node)).collect()
    }

    /// The mass of the whole graph.
    pub(super) fn total_mass(&self, graph: &Graph<'_>) -> f64 {
        if !self.objective.weighs_by_size() {
            return graph.volume();
        }
        (0..graph.n_nodes() as NodeId).map(|node| self.mass(graph, node)).sum()
    }

    /// Whether only linked nodes merge. Without a floor clusters hold together nearly always, however nodes were merged; and so
    /// do those of large graphs without hubs, where nodes of a cluster that are not linked come together fastest.
    pub(super) fn merges_linked_only(&self) -> bool {
        let is_plain = self.plan.is_large && self.plan.facts.is_even;
        self.connected && self.floor > 0.0 && !is_plain
    }

    /// Merging by the gain of the objective, without any constraint.
    pub(super) fn merging_down_to(&self, target: usize) -> Merging<'t, O> {
        Merging::down_to(target, self.objective, &self.plan.limits)
    }

    pub(super) fn partition<'g>(
        &self,
        graph: &'g Graph<'g>,
        labels: Vec<ClusterId>,
    ) -> Result<Partition<'g, O>> {
        let (n_clusters, limits) = (self.n_clusters, &self.plan.limits);
        let partition = Partition::for_objective(self.objective, graph, labels, n_clusters, limits)?;
        let mut partition = partition.with_floor(self.floor);
        partition.set_ceiling(self.ceiling);
        Ok(partition)
    }

    pub(super) fn bounds(&self) -> Bounds {
        Bounds { floor: self.floor, ceiling: self.ceiling }
    }

    /// Whether there are labels that are not allowed: some nodes of the graph are apart, or there is a ceiling.
    pub(super) fn is_steered(&self, graph: &Graph<'_>) -> bool {
        self.ceiling < f64::INFINITY || graph.apart().is_some()
    }

    /// The partition by labels that were brought to comply where they did not.
    fn complying<'g>(&self, graph: &'g Graph<'g>, labels: Vec<ClusterId>) -> Result<Partition<'g, O>> {
        let mut partition = self.partition(graph, labels)?;
        if self.is_steered(graph) && self.bounds().violation(&partition) > 0.0 {
            comply(&mut partition, self.floor, self.ceiling);
        }
        Ok(partition)
    }

    pub(super) fn solution(&self, partition: Partition<'_, O>, stop_reason: StopReason) -> Solution {
        Solution::new(partition, stop_reason, self.bounds())
    }

    /// Improves labels by single moves, and by chains of them. Where clusters are to hold together, they do in the end; if they
    /// did before, what is found is no worse.
    pub(super) fn improve(
        &self,
        graph: &Graph<'_>,
        labels: Vec<ClusterId>,
        proof: Proof,
        seed: u64,
    ) -> Result<Solution> {
        if !self.connected {
            let (partition, stop_reason) = self.improve_freely(self.complying(graph, labels)?, proof, seed);
            return Ok(self.solution(partition, stop_reason));
        }
        let start = self.complying(graph, labels)?;
        let labels = start.labels().to_vec();
        let before = Worth::of(&start, self.bounds());
        let (mut partition, mut stop_reason) = self.improve_freely(start, proof, seed);
        let Some(reason) = self.mend(&mut partition) else {
            return Ok(self.solution(partition, stop_reason));
        };
        stop_reason = reason;
        let mended = Worth::of(&partition, self.bounds());
        let found = self.solution(partition, stop_reason);
        if self.is_stopped() || !before.is_above(&mended) {
            return Ok(found);
        }
        // What was lost by holding together was gained by falling apart: once more, one careful step at a time.
        let mut start = self.partition(graph, labels)?;
        if connected(&start).is_some() {
            return Ok(found);
        }
        let stop_reason = self.settle_connected(&mut start, vec![true; graph.n_nodes()]);
        Ok(found.or_preferred(self.solution(start, stop_reason), Choice::Objective))
    }

    /// Whatever improves labels, whether clusters hold together or not.
    fn improve_freely<'g>(
        &self,
        mut partition: Partition<'g, O>,
        proof: Proof,
        seed: u64,
    ) -> (Partition<'g, O>, StopReason) {
        if let Some(stopped) = self.clock.stopped() {
            return (partition, stopped.0);
        }
        let mut links = Links::new(self.n_clusters);
        let mut settled = settle_all(&mut partition, &self.rule, proof, &mut links, self.clock);
        self.count(&settled);
        if self.plan.chains && self.rule.max_sweeps > 0 {
            for round in 0..MAX_CHAIN_ROUNDS {
                let everyone = 0..partition.graph().n_nodes() as NodeId;
                let gained =
                    chains(&mut partition, everyone, seed.wrapping_add(round), &mut links, self.clock);
                if gained < MIN_CHAIN_GAIN * self.objective.unit() || self.is_stopped() {
                    break;
                }
                settled = settle_all(&mut partition, &self.rule, proof, &mut links, self.clock);
                self.count(&settled);
            }
        }
        let has_ceiling = self.ceiling < f64::INFINITY;
        if (self.plan.exchanges || has_ceiling)
            && self.rule.max_sweeps > 0
            && self.exchange_all(&mut partition) > 0.0
        {
            settled = settle_all(&mut partition, &self.rule, proof, &mut links, self.clock);
            self.count(&settled);
        }
        partition.refresh();
        (partition, settled.stop_reason)
    }

    /// Brings clusters together that have fallen apart, and improves where that has changed something; `None` where all hold
    /// together.
    pub(super) fn mend(&self, partition: &mut Partition<'_, O>) -> Option<StopReason> {
        let Connected { labels, moved } = connected(partition)?;
        let graph = partition.graph();
        let mut active = vec![false; graph.n_nodes()];
        partition.set_floor(0.0);
        partition.lift_restrictions();
        for node in moved {
            if let Some(step) = partition.move_to(node, labels[node as usize]) {
                partition.apply(step);
            }
            active[node as usize] = true;
            graph.for_each_neighbor(node, |neighbor, _| active[neighbor as usize] = true);
        }
        partition.set_floor(self.floor);
        partition.set_ceiling(self.ceiling);
        if self.is_steered(graph) && self.bounds().violation(partition) > 0.0 {
            // Holding together yields to what must be.
            comply(partition, self.floor, self.ceiling);
        }
        Some(self.settle_connected(partition, active))
    }

    pub(super) fn settle_connected(&self, partition: &mut Partition<'_, O>, active: Vec<bool>) -> StopReason {
        if let Some(stopped) = self.clock.stopped() {
            return stopped.0;
        }
        let mut links = Links::new(self.n_clusters);
        let settled = settle_connected(partition, active, &self.rule, &mut links, self.clock);
        self.count(&settled);
        settled.stop_reason
    }

    /// The same labels, brought together where clusters are to hold together.
    pub(super) fn held_together(&self, graph: &Graph<'_>, found: Solution) -> Result<Solution> {
        if !self.connected {
            return Ok(found);
        }
        let mut partition = self.partition(graph, found.labels.clone())?;
        Ok(match self.mend(&mut partition) {
            Some(stop_reason) => self.solution(partition, stop_reason),
            None => found,
        })
    }

    /// A partition as a solution, brought together where clusters are to hold together.
    pub(super) fn mended(&self, mut partition: Partition<'_, O>, stop_reason: StopReason) -> Solution {
        let mended = if self.connected { self.mend(&mut partition) } else { None };
        self.solution(partition, mended.unwrap_or(stop_reason))
    }

    /// Lets all pairs of clusters exchange nodes; under a ceiling those that are linked, where that does not take long.
    fn exchange_all(&self, partition: &mut Partition<'_, O>) -> f64 {
        let mut gained = 0.0;
        if self.ceiling < f64::INFINITY {
            let n_nodes = partition.graph().n_nodes();
            if n_nodes.saturating_mul(self.n_clusters) > MAX_NODES_EXCHANGED {
                return 0.0;
            }
            let pairs = linked_pairs(partition);
            if pairs.len().saturating_mul(n_nodes) > MAX_NODES_EXCHANGED {
                return 0.0;
            }
            return pairs.into_iter().map(|pair| exchange(partition, pair, self.clock)).sum();
        }
        for second in 1..self.n_clusters as ClusterId {
            for first in 0..second {
                gained += exchange(partition, [first, second], self.clock);
            }
        }
        gained
    }

    /// Gives all the nodes of some clusters other `labels`, and improves around them.
    pub(super) fn improve_around(
        &self,
        mut partition: Partition<'_, O>,
        nodes: &[NodeId],
        labels: &[ClusterId],
        seed: u64,
    ) -> Solution {
        let mut active = vec![false; labels.len()];
        partition.relabel(nodes, labels, |neighbor| active[neighbor as usize] = true);
        for &node in nodes {
            active[node as usize] = true;
        }
        let mut links = Links::new(self.n_clusters);
        let settled = settle_active(&mut partition, active, &self.rule, Proof::None, &mut links, self.clock);
        if self.plan.chains && self.rule.max_sweeps > 0 {
            chains(&mut partition, nodes.iter().copied(), seed, &mut links, self.clock);
        }
        self.mended(partition, settled.stop_reason)
    }

    pub(super) fn count(&self, descent: &Descent) {
        if let Some(tally) = self.tally {
            tally.add(descent);
        }
    }
}

/// Pairs of clusters with links between them, ascending.
fn linked_pairs<O: Objective>(partition: &Partition<'_, O>) -> Vec<[ClusterId; 2]> {
    let (graph, labels) = (partition.graph(), partition.labels());
    let mut pairs: Vec<[ClusterId; 2]> = Vec::new();
    for node in 0..graph.n_nodes() as NodeId {
        let own = labels[node as usize];
        for &neighbor in &graph.columns()[graph.entries(node)] {
            let other = labels[neighbor as usize];
            if own < other && pairs.last() != Some(&[own, other]) {
                pairs.push([own, other]);
            }
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}
