//! Clusters below the floor grow into those next to them, and all clusters stay connected.
//!
//! The last resort, where splitting and merging did not reach the floor: four parts of about the same mass of a dense graph, say,
//! cannot be had by halving what has no halves.

use crate::descent::Bridges;
use crate::error::Result;
use crate::graph::{Graph, NodeId};
use crate::objective::Objective;
use crate::partition::{ClusterId, Partition};

use super::plan::Choice;
use super::solution::{ROUNDING, Solution};
use super::task::Task;

/// Entries of rows that may be looked at, beside a few times those of the graph: about a second.
const MAX_ENTRIES: usize = 1 << 24;
/// How many times the entries of the graph may be looked at.
const MAX_PASSES: usize = 4;

/// A solution whose clusters are connected, nearer to the floor where that can be had by moving the boundaries of clusters.
pub(super) fn grown<O: Objective>(
    graph: &Graph<'_>,
    start: Solution,
    task: &Task<'_, O>,
) -> Result<Solution> {
    let mut partition = task.partition(graph, start.labels.clone())?;
    partition.set_floor(0.0);
    let mut growth = Growth {
        partition,
        masses: task.masses(graph),
        floor: task.floor * (1.0 - ROUNDING),
        bridges: Bridges::new(graph.n_nodes()),
        was_reached: vec![false; graph.n_nodes()],
        n_entries_left: MAX_ENTRIES + MAX_PASSES * graph.columns().len(),
    };
    growth.run(task);
    let Growth { mut partition, .. } = growth;
    partition.refresh();
    let found = task.solution(partition, start.stop_reason);
    Ok(start.or_preferred(found, Choice::Objective))
}

struct Growth<'g, O> {
    partition: Partition<'g, O>,
    /// The mass of every node.
    masses: Vec<f64>,
    floor: f64,
    bridges: Bridges,
    was_reached: Vec<bool>,
    n_entries_left: usize,
}

impl<O: Objective> Growth<'_, O> {
    /// Lets the lightest cluster take nodes until it is at the floor, and so on. A cluster takes only from those that stay
    /// heavier than it was: the sum of the squared masses falls with every step, so that there is an end.
    fn run(&mut self, task: &Task<'_, O>) {
        let n_clusters = self.partition.n_clusters();
        let mut is_stuck = vec![false; n_clusters];
        while !task.is_stopped() && self.n_entries_left > 0 {
            let light = (0..n_clusters as ClusterId)
                .filter(|&cluster| !is_stuck[cluster as usize] && self.mass(cluster) < self.floor);
            let Some(lightest) = light.min_by(|&a, &b| self.mass(a).total_cmp(&self.mass(b))) else { break };
            match self.grow(lightest) {
                true => is_stuck.fill(false),
                false => is_stuck[lightest as usize] = true,
            }
        }
    }

    fn mass(&self, cluster: ClusterId) -> f64 {
        self.partition.table().objective_type().mass(&self.partition.table()[cluster].sums)
    }

    /// Whether the cluster has taken something from those next to it: first what leaves them at the floor, what costs least
    /// first.
    fn grow(&mut self, cluster: ClusterId) -> bool {
        let graph = self.partition.graph();
        let mut nearby: Vec<NodeId> = Vec::new();
        let labels = self.partition.labels();
        for node in (0..graph.n_nodes() as NodeId).filter(|&node| labels[node as usize] == cluster) {
            let row = &graph.columns()[graph.entries(node)];
            self.n_entries_left = self.n_entries_left.saturating_sub(row.len());
            nearby.extend(row.iter().filter(|&&neighbor| labels[neighbor as usize] != cluster));
        }
        self.n_entries_left = self.n_entries_left.saturating_sub(graph.n_nodes());
        nearby.sort_unstable();
        nearby.dedup();
        // A cluster of whole components is next to nobody: any one node, and what hangs on it, may join it.
        let is_apart = nearby.is_empty();
        if is_apart {
            nearby.extend((0..graph.n_nodes() as NodeId).filter(|&node| labels[node as usize] != cluster));
        }
        let mut by_gain: Vec<(f64, NodeId)> =
            nearby.into_iter().map(|node| (self.partition.gain(node, cluster), node)).collect();
        by_gain.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut has_grown = false;
        for must_stay_at_the_floor in [true, false] {
            for &(_, node) in &by_gain {
                if self.mass(cluster) >= self.floor || self.n_entries_left == 0 {
                    return has_grown;
                }
                has_grown |= self.take(node, cluster, must_stay_at_the_floor);
                if has_grown && is_apart {
                    return true;
                }
            }
            if has_grown {
                break;
            }
        }
        has_grown
    }

    /// Moves a node, and with it what its cluster would lose hold of, unless too little would be left there.
    fn take(&mut self, node: NodeId, to: ClusterId, must_stay_at_the_floor: bool) -> bool {
        let from = self.partition.labels()[node as usize];
        if from == to {
            return false;
        }
        let least = if must_stay_at_the_floor { self.floor } else { self.mass(to) * (1.0 + ROUNDING) };
        let available = self.mass(from) - least;
        if self.masses[node as usize] >= available {
            return false;
        }
        self.n_entries_left = self.n_entries_left.saturating_sub(self.partition.graph().entries(node).len());
        let mut moving = vec![node];
        if self.bridges.is_bridge(&self.partition, node) {
            moving.extend(self.cut_off_by(node));
        }
        let mass: f64 = moving.iter().map(|&node| self.masses[node as usize]).sum();
        if mass >= available {
            return false;
        }
        for node in moving {
            if let Some(step) = self.partition.move_to(node, to) {
                self.partition.apply(step);
            }
        }
        true
    }

    /// What is linked to the rest of its cluster by way of `node` only: all pieces but the heaviest.
    fn cut_off_by(&mut self, node: NodeId) -> Vec<NodeId> {
        let (graph, labels) = (self.partition.graph(), self.partition.labels());
        let own = labels[node as usize];
        let mut pieces: Vec<(f64, Vec<NodeId>)> = Vec::new();
        self.was_reached[node as usize] = true;
        for (first, _) in graph.neighbors(node) {
            if labels[first as usize] != own || self.was_reached[first as usize] {
                continue;
            }
            self.was_reached[first as usize] = true;
            let (mut piece, mut next, mut mass) = (vec![first], 0, 0.0);
            while let Some(&reached) = piece.get(next) {
                mass += self.masses[reached as usize];
                let row = &graph.columns()[graph.entries(reached)];
                self.n_entries_left = self.n_entries_left.saturating_sub(row.len());
                for &neighbor in row {
                    let is_inside = labels[neighbor as usize] == own;
                    if is_inside && !std::mem::replace(&mut self.was_reached[neighbor as usize], true) {
                        piece.push(neighbor);
                    }
                }
                next += 1;
            }
            pieces.push((mass, piece));
        }
        self.was_reached[node as usize] = false;
        pieces.iter().flat_map(|(_, piece)| piece).for_each(|&node| self.was_reached[node as usize] = false);
        let heaviest = (0..pieces.len()).max_by(|&a, &b| pieces[a].0.total_cmp(&pieces[b].0).then(b.cmp(&a)));
        if let Some(heaviest) = heaviest {
            pieces.swap_remove(heaviest);
        }
        pieces.into_iter().flat_map(|(_, piece)| piece).collect()
    }
}
