//! What is asked of every part of the search, and what each of them gives.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::descent::{Descent, Proof, StoppingRule, chains, settle_all, settle_awake};
use crate::error::Result;
use crate::graph::{Graph, NodeId};
use crate::hierarchy::Groups;
use crate::partition::{ClusterId, Links, Partition};
use crate::progress::{StopReason, Watch};

use super::Choice;

/// Rounds of chains after a descent, at most.
const MOST_CHAIN_ROUNDS: u64 = 3;
/// A round of chains that gains less than this is the last.
const LEAST_CHAIN_GAIN: f64 = 1e-9;
/// Volumes this much below the floor, relatively, are rounding.
const ROUNDING: f64 = 1e-9;

/// What is asked for.
#[derive(Clone, Copy)]
pub(super) struct Task<'t> {
    pub(super) n_clusters: usize,
    /// Nodes of the whole graph.
    pub(super) n_nodes: usize,
    /// Whether memory is to be spared, at the cost of levels that only refine.
    pub(super) is_large: bool,
    /// Volume that no cluster may fall below.
    pub(super) floor: f64,
    /// Groups that merging starts from, on a graph too large to be contracted beforehand.
    pub(super) bundles: Option<&'t Groups>,
    pub(super) rule: StoppingRule,
    /// Whether chains of moves follow a descent.
    pub(super) chains: bool,
    /// Whether labels propagate where merging in pairs starves.
    pub(super) propagation: bool,
    /// Rounds of split-merge on a coarse level, on the way up.
    pub(super) coarse_split_rounds: usize,
    pub(super) watch: &'t dyn Watch,
    pub(super) tally: &'t Tally,
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
}

/// A labelling and what it is worth.
#[derive(Clone, Debug)]
pub(super) struct Solution {
    pub(super) labels: Vec<ClusterId>,
    pub(super) objective: f64,
    /// `sum_c A_c / V - (D_c / V)^2`, `V` being the volume of the graph.
    pub(super) modularity: f64,
    /// How far the smallest cluster's volume is below the floor.
    shortfall: f64,
    /// Why its last descent ended.
    pub(super) stop_reason: StopReason,
}

impl Solution {
    pub(super) fn new(partition: Partition<'_>, stop_reason: StopReason, task: &Task<'_>) -> Self {
        let total = partition.graph().volume();
        let (mut lowest, mut modularity) = (f64::INFINITY, 0.0);
        for cluster in 0..partition.n_clusters() as ClusterId {
            let (association, volume) = (partition.association(cluster), partition.volume(cluster));
            lowest = volume.min(lowest);
            modularity += association / total - (volume / total) * (volume / total);
        }
        let shortfall = (task.floor * (1.0 - ROUNDING) - lowest).max(0.0);
        Self {
            objective: partition.objective(),
            labels: partition.into_labels(),
            modularity,
            shortfall,
            stop_reason,
        }
    }

    pub(super) fn is_feasible(&self) -> bool {
        self.shortfall == 0.0
    }

    /// Nearer to the floor, or as near and higher in the objective.
    pub(super) fn is_better_than(&self, other: &Self) -> bool {
        self.shortfall < other.shortfall
            || (self.shortfall == other.shortfall && self.objective > other.objective)
    }

    /// The one of the two that is preferred, this one among equals.
    pub(super) fn or_preferred(self, other: Self, choice: Choice) -> Self {
        if other.is_preferred_to(&self, choice) { other } else { self }
    }

    /// Nearer to the floor, or as near and what `choice` asks for.
    pub(super) fn is_preferred_to(&self, other: &Self, choice: Choice) -> bool {
        match choice {
            Choice::Objective => self.is_better_than(other),
            Choice::Modularity => {
                self.shortfall < other.shortfall
                    || (self.shortfall == other.shortfall && self.modularity > other.modularity)
            }
        }
    }
}

impl Task<'_> {
    pub(super) fn is_stopped(&self) -> bool {
        self.watch.is_stopped()
    }

    /// Improves labels by single moves, and by chains of them.
    pub(super) fn improve(
        &self,
        graph: &Graph<'_>,
        labels: Vec<ClusterId>,
        proof: Proof,
        seed: u64,
    ) -> Result<Solution> {
        let mut partition = Partition::new(graph, labels, self.n_clusters)?.with_floor(self.floor);
        if self.is_stopped() {
            return Ok(Solution::new(partition, StopReason::Cancelled, self));
        }
        let mut links = Links::new(self.n_clusters);
        let mut settled = settle_all(&mut partition, &self.rule, proof, &mut links, self.watch);
        self.count(graph, &settled);
        if self.chains && self.rule.max_sweeps > 0 {
            for round in 0..MOST_CHAIN_ROUNDS {
                let everyone = 0..graph.n_nodes() as NodeId;
                let gained =
                    chains(&mut partition, everyone, seed.wrapping_add(round), &mut links, self.watch);
                if gained < LEAST_CHAIN_GAIN || self.is_stopped() {
                    break;
                }
                settled = settle_all(&mut partition, &self.rule, proof, &mut links, self.watch);
                self.count(graph, &settled);
            }
        }
        partition.refresh();
        Ok(Solution::new(partition, settled.stop_reason, self))
    }

    /// Gives all the nodes of some clusters other `labels`, and improves around them.
    pub(super) fn improve_around(
        &self,
        mut partition: Partition<'_>,
        nodes: &[NodeId],
        labels: &[ClusterId],
        seed: u64,
    ) -> Solution {
        let mut awake = vec![false; labels.len()];
        partition.relabel(nodes, labels, |neighbor| awake[neighbor as usize] = true);
        for &node in nodes {
            awake[node as usize] = true;
        }
        let mut links = Links::new(self.n_clusters);
        let settled = settle_awake(&mut partition, awake, &self.rule, Proof::None, &mut links, self.watch);
        if self.chains && self.rule.max_sweeps > 0 {
            chains(&mut partition, nodes.iter().copied(), seed, &mut links, self.watch);
        }
        Solution::new(partition, settled.stop_reason, self)
    }

    /// Counts a descent, if it was one on the whole graph.
    pub(super) fn count(&self, graph: &Graph<'_>, descent: &Descent) {
        if graph.n_nodes() == self.n_nodes {
            self.tally.sweeps.fetch_add(descent.sweeps, Ordering::Relaxed);
            self.tally.moves.fetch_add(descent.moves, Ordering::Relaxed);
        }
    }
}
