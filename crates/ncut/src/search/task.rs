//! What every phase of the search is given, and the refinement that all of them use.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::descent::{Descent, Proof, StoppingRule, chains, exchange, settle_active, settle_all};
use crate::error::Result;
use crate::graph::{Graph, NodeId};
use crate::hierarchy::{Groups, Merging};
use crate::objective::Objective;
use crate::partition::{ClusterId, Links, Partition};
use crate::progress::{Clock, StopReason};

use super::plan::Plan;
use super::solution::Solution;

/// Rounds of chains after a descent, at most.
const MAX_CHAIN_ROUNDS: u64 = 3;
/// A round of chains that gains less than this, in units of the objective, is the last.
const MIN_CHAIN_GAIN: f64 = 1e-9;

/// What is asked for.
#[derive(Clone, Copy)]
pub(super) struct Task<'t, O> {
    pub(super) objective: O,
    pub(super) n_clusters: usize,
    /// Mass that no cluster may fall below.
    pub(super) floor: f64,
    /// Groups that coarsening starts from, on a graph too large to be contracted beforehand.
    pub(super) bundles: Option<&'t Groups>,
    pub(super) rule: StoppingRule,
    pub(super) plan: &'t Plan,
    pub(super) clock: &'t Clock<'t>,
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

    pub(super) fn mass(&self, graph: &Graph<'_>, node: NodeId) -> f64 {
        self.objective.mass(&graph.node_sums::<O>(node))
    }

    /// The masses of all nodes.
    pub(super) fn masses(&self, graph: &Graph<'_>) -> Vec<f64> {
        (0..graph.n_nodes() as NodeId).map(|node| self.mass(graph, node)).collect()
    }

    /// The mass of the whole graph.
    pub(super) fn total_mass(&self, graph: &Graph<'_>) -> f64 {
        if !O::USES_SIZES {
            return graph.volume();
        }
        (0..graph.n_nodes() as NodeId).map(|node| self.mass(graph, node)).sum()
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
        Ok(partition.with_floor(self.floor))
    }

    pub(super) fn solution(&self, partition: Partition<'_, O>, stop_reason: StopReason) -> Solution {
        Solution::new(partition, stop_reason, self.floor)
    }

    /// Improves labels by single moves, and by chains of them.
    pub(super) fn improve(
        &self,
        graph: &Graph<'_>,
        labels: Vec<ClusterId>,
        proof: Proof,
        seed: u64,
    ) -> Result<Solution> {
        let mut partition = self.partition(graph, labels)?;
        if let Some(stopped) = self.clock.stopped() {
            return Ok(self.solution(partition, stopped.0));
        }
        let mut links = Links::new(self.n_clusters);
        let mut settled = settle_all(&mut partition, &self.rule, proof, &mut links, self.clock);
        self.count(&settled);
        if self.plan.chains && self.rule.max_sweeps > 0 {
            for round in 0..MAX_CHAIN_ROUNDS {
                let everyone = 0..graph.n_nodes() as NodeId;
                let gained =
                    chains(&mut partition, everyone, seed.wrapping_add(round), &mut links, self.clock);
                if gained < MIN_CHAIN_GAIN * self.objective.unit() || self.is_stopped() {
                    break;
                }
                settled = settle_all(&mut partition, &self.rule, proof, &mut links, self.clock);
                self.count(&settled);
            }
        }
        if self.plan.exchanges && self.rule.max_sweeps > 0 && self.exchange_all(&mut partition) > 0.0 {
            settled = settle_all(&mut partition, &self.rule, proof, &mut links, self.clock);
            self.count(&settled);
        }
        partition.refresh();
        Ok(self.solution(partition, settled.stop_reason))
    }

    /// Lets all pairs of clusters exchange nodes.
    fn exchange_all(&self, partition: &mut Partition<'_, O>) -> f64 {
        let mut gained = 0.0;
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
        self.solution(partition, settled.stop_reason)
    }

    pub(super) fn count(&self, descent: &Descent) {
        if let Some(tally) = self.tally {
            tally.add(descent);
        }
    }
}
