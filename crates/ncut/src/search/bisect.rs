//! The best way to cut one cluster in two.

use crate::descent::Proof;
use crate::error::Result;
use crate::graph::{Graph, NodeId};
use crate::hierarchy::{Merging, merge_in_order};
use crate::objective::{Objective, Sums};
use crate::partition::ClusterId;

use super::coarsen::{Coarsening, Level};
use super::solution::Solution;
use super::task::Task;
use super::uncoarsen::{AfterUse, Refiner, uncoarsen};

/// Nodes of the graph on which halves are grown.
const GROWTH_NODES: usize = 48;
/// Nodes of that graph at most.
const MAX_GROWTH_NODES: usize = 4 * GROWTH_NODES;
/// Nodes from which halves are grown, at most.
const MAX_SEEDS: usize = 24;

/// Labels 0 and 1 for the nodes of `part`, with a high objective and both masses at or above the floor, if that
/// is possible by growing a half from a node. `None` for a single node, when the floor cannot be met, or when the clock says
/// stop.
pub(super) fn bisect<O: Objective>(
    part: &Graph<'_>,
    task: &Task<'_, O>,
    seed: u64,
) -> Result<Option<Solution>> {
    let mass = task.total_mass(part);
    if part.n_nodes() < 2 || mass < 2.0 * task.floor {
        return Ok(None);
    }
    let task = Task { n_clusters: 2, ceiling: f64::INFINITY, tally: None, ..*task };
    let is_large = task.plan.is_large;
    let coarsening = Coarsening {
        merging: Merging {
            max_mass: if task.floor > 0.0 { (mass / 8.0).max(task.floor / 2.0) } else { f64::INFINITY },
            cap: mass / 8.0,
            connected: task.merges_linked_only(),
            // Where nodes have few neighbours pairs shrink the graph fast enough, and give better halves.
            cluster_small_to: if task.plan.is_sparse(part) { 0.0 } else { mass / GROWTH_NODES as f64 },
            seed,
            ..task.merging_down_to(GROWTH_NODES)
        },
        bundles: None,
        // Parts are small: every level is worth its memory, unless the whole graph is large.
        kept_share: if is_large { task.plan.limits.coarsening.kept_share } else { f64::INFINITY },
        min_kept_nodes: 0,
        held_entries: None,
        is_narrow: is_large,
        clock: task.clock,
    };
    let levels = coarsening.run(part)?;
    if levels.stopped.is_some() {
        return Ok(None);
    }
    let mut kept = levels.kept;
    kept.extend(levels.top.map(|graph| Level::new(graph, levels.last.of_node)));
    // Where links do not lead on, as between the leaves of a star, nodes that follow each other are put together.
    let top = kept.last().and_then(|level| level.graph.as_ref()).unwrap_or(part);
    if top.n_nodes() > MAX_GROWTH_NODES {
        let group_of = merge_in_order(&task.masses(top), MAX_GROWTH_NODES);
        let graph = top.contract(&group_of, MAX_GROWTH_NODES)?;
        kept.push(Level::new(graph, group_of));
    }
    let top = kept.last().and_then(|level| level.graph.as_ref()).unwrap_or(part);
    let Some(labels) = grown_halves(top, &task) else { return Ok(None) };
    let mut refiner = Halves { task: &task, seed, refined: None };
    uncoarsen(part, &mut kept, labels, AfterUse::Drop, &mut refiner, task.clock)?;
    Ok(refiner.refined.filter(Solution::is_feasible))
}

/// Refines two halves on every level.
struct Halves<'h, O> {
    task: &'h Task<'h, O>,
    seed: u64,
    /// The halves of the graph itself.
    refined: Option<Solution>,
}

impl<O: Objective> Refiner for Halves<'_, O> {
    fn wants_rebuilt(&self, _: usize) -> bool {
        true
    }

    fn refine(
        &mut self,
        level: &Graph<'_>,
        labels: Vec<ClusterId>,
        n_below: usize,
    ) -> Result<Vec<ClusterId>> {
        if n_below > 0 && self.task.is_stopped() {
            return Ok(labels);
        }
        let proof = if n_below == 0 { Proof::Full } else { Proof::None };
        let found = self.task.improve(level, labels, proof, self.seed)?;
        let labels = found.labels.clone();
        if n_below == 0 {
            self.refined = Some(found);
        }
        Ok(labels)
    }
}

/// Grows a half from several nodes, each time adding the node that leaves the highest objective, and keeps the
/// best state of all.
fn grown_halves<O: Objective>(graph: &Graph<'_>, task: &Task<'_, O>) -> Option<Vec<ClusterId>> {
    let n_nodes = graph.n_nodes();
    let row_sums: Vec<f64> =
        (0..n_nodes as NodeId).map(|node| graph.neighbors(node).map(|(_, weight)| weight).sum()).collect();
    let all = Sums {
        association: (0..n_nodes).map(|node| graph.self_loop(node as NodeId) + row_sums[node]).sum(),
        volume: graph.volume(),
        size: (0..n_nodes as NodeId).map(|node| graph.node_sums::<O>(node).size).sum(),
    };
    let n_seeds = n_nodes.min(MAX_SEEDS);
    let mut best: Option<(f64, Vec<NodeId>, usize)> = None;
    let mut outside = Outside::default();
    for seed in 0..n_seeds {
        let first = (seed * n_nodes / n_seeds) as NodeId;
        outside.fill::<O>(graph, &row_sums);
        let growth = Growth::from(graph, first, &all, task, &mut outside);
        if let Some((objective, n_inside)) = growth.best
            && best.as_ref().is_none_or(|best| objective > best.0)
        {
            best = Some((objective, growth.order, n_inside));
        }
    }
    let (_, order, n_inside) = best?;
    let mut labels = vec![0; n_nodes];
    for &node in &order[..n_inside] {
        labels[node as usize] = 1;
    }
    Some(labels)
}

/// The nodes outside a half, in no order, what is known of them side by side: all are scored again and again.
#[derive(Default)]
struct Outside {
    nodes: Vec<NodeId>,
    /// Where every node is, as long as it is outside.
    places: Vec<usize>,
    /// Twice the weight to the half, and the self-loop.
    joining: Vec<f64>,
    /// Twice the weight to the rest, and the self-loop.
    leaving: Vec<f64>,
    degrees: Vec<f64>,
    sizes: Vec<f64>,
    scores: Vec<f64>,
}

impl Outside {
    fn fill<O: Objective>(&mut self, graph: &Graph<'_>, row_sums: &[f64]) {
        let n_nodes = graph.n_nodes();
        self.nodes.clear();
        self.nodes.extend(0..n_nodes as NodeId);
        self.places.clear();
        self.places.extend(0..n_nodes);
        self.joining.clear();
        self.joining.extend((0..n_nodes as NodeId).map(|node| graph.self_loop(node)));
        self.leaving.clear();
        self.leaving.extend((0..n_nodes).map(|node| graph.self_loop(node as NodeId) + 2.0 * row_sums[node]));
        self.degrees.clear();
        self.degrees.extend_from_slice(graph.degrees());
        self.sizes.clear();
        self.sizes.extend((0..n_nodes as NodeId).map(|node| graph.node_sums::<O>(node).size));
    }

    /// Takes a node out; tells what it adds to the association of the half, and takes from that of the rest.
    fn take(&mut self, graph: &Graph<'_>, node: NodeId) -> (f64, f64) {
        let place = self.places[node as usize];
        let sums = (self.joining[place], self.leaving[place]);
        self.nodes.swap_remove(place);
        self.joining.swap_remove(place);
        self.leaving.swap_remove(place);
        self.degrees.swap_remove(place);
        self.sizes.swap_remove(place);
        if let Some(&moved) = self.nodes.get(place) {
            self.places[moved as usize] = place;
        }
        self.places[node as usize] = usize::MAX;
        graph.for_each_neighbor(node, |neighbor, weight| {
            let place = self.places[neighbor as usize];
            if place != usize::MAX {
                self.joining[place] += 2.0 * weight;
                self.leaving[place] -= 2.0 * weight;
            }
        });
        sums
    }

    /// The node that leaves the highest objective when it joins the half, the lowest among equals.
    fn best<O: Objective>(&mut self, objective: O, inside: Sums, rest: Sums) -> Option<NodeId> {
        self.scores.clear();
        let known = self.joining.iter().zip(&self.leaving).zip(self.degrees.iter().zip(&self.sizes));
        self.scores.extend(known.map(|((&joining, &leaving), (&degree, &size))| {
            let grown = Sums {
                association: inside.association + joining,
                volume: inside.volume + degree,
                size: inside.size + size,
            };
            let left = Sums {
                association: rest.association - leaving,
                volume: rest.volume - degree,
                size: rest.size - size,
            };
            objective.value_of_both(&grown, &left)
        }));
        let highest = self.scores.iter().fold(f64::NEG_INFINITY, |high, &score| high.max(score));
        let among = self.nodes.iter().zip(&self.scores).filter(|(_, score)| **score == highest);
        among.map(|(&node, _)| node).min().or_else(|| self.nodes.iter().copied().min())
    }
}

/// A half that grows node by node.
struct Growth {
    order: Vec<NodeId>,
    /// The highest objective with both masses at or above the floor, and the number of nodes inside then.
    best: Option<(f64, usize)>,
}

impl Growth {
    fn from<O: Objective>(
        graph: &Graph<'_>,
        first: NodeId,
        all: &Sums,
        task: &Task<'_, O>,
        outside: &mut Outside,
    ) -> Self {
        let (objective, floor) = (task.objective, task.floor);
        let (mut inside, mut rest) = (Sums::default(), *all);
        let mut growth = Self { order: Vec::with_capacity(graph.n_nodes()), best: None };
        let mut next = Some(first);
        while let Some(node) = next {
            let (joining, leaving) = outside.take(graph, node);
            let of_node = graph.node_sums::<O>(node);
            inside = Sums {
                association: inside.association + joining,
                volume: inside.volume + of_node.volume,
                size: inside.size + of_node.size,
            };
            rest = Sums {
                association: rest.association - leaving,
                volume: all.volume - inside.volume,
                size: all.size - inside.size,
            };
            growth.order.push(node);
            if outside.nodes.is_empty() || objective.mass(&rest) < floor {
                break;
            }
            if objective.mass(&inside) >= floor {
                let value = objective.value(&inside) + objective.value(&rest);
                if growth.best.is_none_or(|(best, _)| value > best) {
                    growth.best = Some((value, growth.order.len()));
                }
            }
            next = outside.best(objective, inside, rest);
        }
        growth
    }
}
