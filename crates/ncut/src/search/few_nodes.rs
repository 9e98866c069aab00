//! Graphs of few nodes under constraints: moves of two nodes at a time, from many starts.
//!
//! Where clusters are full, or as light as they may be, hardly any single move is allowed: two nodes that change places, or
//! that move one after the other, are.

use crate::descent::Proof;
use crate::error::Result;
use crate::graph::{Graph, NodeId};
use crate::objective::{Objective, Sums};
use crate::partition::ClusterId;
use crate::random::Random;

use super::plan::Choice;
use super::solution::{ROUNDING, Solution, shortfall};
use super::task::Task;

/// Graphs with more nodes are left to the search as it is.
const MAX_NODES: usize = 24;
/// Starts drawn at random. With 32 of them one graph in a thousand of nine nodes ends below its optimum.
const STARTS: usize = 96;
/// Rounds of one start at most.
const MAX_ROUNDS: usize = 200;

/// The best of a solution and of what moves of two nodes make of many starts.
pub(super) fn thoroughly<O: Objective>(
    graph: &Graph<'_>,
    mut best: Solution,
    task: &Task<'_, O>,
    seed: u64,
) -> Result<Solution> {
    let n_nodes = graph.n_nodes();
    if n_nodes > MAX_NODES || task.n_clusters < 2 {
        return Ok(best);
    }
    let mut table = Table::new(graph, task);
    let mut random = Random::new(seed ^ 0x7374_6565_7269);
    let mut highest: Option<(Rank, Vec<ClusterId>)> = None;
    for start in 0..STARTS {
        if task.is_stopped() {
            break;
        }
        let labels: Vec<ClusterId> = match start {
            0 => best.labels.clone(),
            _ => (0..n_nodes).map(|_| random.below(task.n_clusters as u32)).collect(),
        };
        table.labels = labels;
        table.fill_empty();
        let rank = table.climb();
        if highest.as_ref().is_none_or(|highest| rank.is_above(&highest.0)) {
            highest = Some((rank, table.labels.clone()));
        }
    }
    if let Some((_, labels)) = highest {
        let found = task.improve(graph, labels, Proof::Full, seed)?;
        best = best.or_preferred(found, Choice::Objective);
    }
    Ok(best)
}

/// What counts when labels are compared: what is not allowed first, then the floor, then the objective.
#[derive(Clone, Copy)]
struct Rank {
    violation: f64,
    shortfall: f64,
    objective: f64,
}

impl Rank {
    /// Better by more than rounding.
    fn is_above(&self, other: &Self) -> bool {
        const TINY: f64 = 1e-12;
        let order = [
            other.violation - self.violation,
            other.shortfall - self.shortfall,
            self.objective - other.objective,
        ];
        order
            .into_iter()
            .find(|difference| difference.abs() > TINY)
            .is_some_and(|difference| difference > 0.0)
    }
}

/// All weights between the nodes, and their labels.
struct Table<'t, 'g, O> {
    graph: &'g Graph<'g>,
    task: &'t Task<'t, O>,
    weights: Vec<f64>,
    nodes: Vec<Sums>,
    apart: Vec<(NodeId, NodeId)>,
    labels: Vec<ClusterId>,
    clusters: Vec<Sums>,
}

impl<'t, 'g, O: Objective> Table<'t, 'g, O> {
    fn new(graph: &'g Graph<'g>, task: &'t Task<'t, O>) -> Self {
        let n_nodes = graph.n_nodes();
        let mut weights = vec![0.0; n_nodes * n_nodes];
        for node in 0..n_nodes as NodeId {
            graph.for_each_neighbor(node, |neighbor, weight| {
                weights[node as usize * n_nodes + neighbor as usize] = weight;
            });
        }
        let bound = graph.apart().map_or(&[][..], |apart| apart.bound());
        let pairs = bound.iter().flat_map(|&node| {
            let partners = graph.apart().into_iter().flat_map(move |apart| apart.partners(node));
            partners.filter(move |&partner| partner > node).map(move |partner| (node, partner))
        });
        Self {
            graph,
            task,
            weights,
            nodes: (0..n_nodes as NodeId).map(|node| graph.node_sums::<O>(node)).collect(),
            apart: pairs.collect(),
            labels: Vec::new(),
            clusters: vec![Sums::default(); task.n_clusters],
        }
    }

    fn fill_empty(&mut self) {
        for cluster in 0..self.task.n_clusters as ClusterId {
            let mut sizes = vec![0; self.task.n_clusters];
            self.labels.iter().for_each(|&label| sizes[label as usize] += 1);
            if sizes[cluster as usize] == 0
                && let Some(node) = self.labels.iter().position(|&label| sizes[label as usize] > 1)
            {
                self.labels[node] = cluster;
            }
        }
    }

    /// What the labels are worth; `None` where a cluster is empty.
    fn rank(&mut self) -> Option<Rank> {
        let n_nodes = self.graph.n_nodes();
        self.clusters.fill(Sums::default());
        let mut used = 0u64;
        for (node, sums) in self.nodes.iter().enumerate() {
            let own = self.labels[node];
            used |= 1 << own;
            let row = &self.weights[node * n_nodes..][..n_nodes];
            let inside: f64 = row
                .iter()
                .zip(&self.labels)
                .map(|(&weight, &label)| if label == own { weight } else { 0.0 })
                .sum();
            let cluster = &mut self.clusters[own as usize];
            cluster.association += inside + sums.association;
            cluster.volume += sums.volume;
            cluster.size += sums.size;
        }
        if used.count_ones() as usize != self.task.n_clusters {
            return None;
        }
        let (objective, ceiling) = (self.task.objective, self.task.ceiling);
        let is_together = |&&(a, b): &&(NodeId, NodeId)| self.labels[a as usize] == self.labels[b as usize];
        let mut violation = self.apart.iter().filter(is_together).count() as f64;
        let (mut lowest, mut value) = (f64::INFINITY, 0.0);
        for cluster in &self.clusters {
            let mass = objective.mass(cluster);
            violation += if mass > ceiling * (1.0 + ROUNDING) { mass / ceiling - 1.0 } else { 0.0 };
            lowest = lowest.min(mass);
            value += objective.value(cluster);
        }
        Some(Rank { violation, shortfall: shortfall(lowest, self.task.floor), objective: value })
    }

    /// Moves one or two nodes at a time, as long as that is better.
    fn climb(&mut self) -> Rank {
        const NOWHERE: Rank = Rank { violation: f64::INFINITY, shortfall: 0.0, objective: 0.0 };
        let (n_nodes, n_clusters) = (self.graph.n_nodes(), self.task.n_clusters as ClusterId);
        let mut rank = self.rank().unwrap_or(NOWHERE);
        for _ in 0..MAX_ROUNDS {
            let mut best: Option<(Rank, [(usize, ClusterId); 2])> = None;
            for first in 0..n_nodes {
                let of_first = self.labels[first];
                for to in (0..n_clusters).filter(|&to| to != of_first) {
                    self.labels[first] = to;
                    for second in first..n_nodes {
                        let of_second = self.labels[second];
                        for also in 0..n_clusters {
                            // The first by itself is the pair of it and itself.
                            if (second == first) != (also == of_second) {
                                continue;
                            }
                            self.labels[second] = also;
                            if let Some(here) = self.rank()
                                && here.is_above(best.as_ref().map_or(&rank, |best| &best.0))
                            {
                                best = Some((here, [(first, to), (second, also)]));
                            }
                        }
                        self.labels[second] = of_second;
                    }
                    self.labels[first] = of_first;
                }
            }
            let Some((better, moves)) = best else { break };
            rank = better;
            for (node, to) in moves {
                self.labels[node] = to;
            }
        }
        rank
    }
}
