//! The best way to cut one cluster in two.

use std::ops::ControlFlow;

use crate::error::Result;
use crate::graph::{Graph, NodeId};
use crate::hierarchy::{Groups, Merging, merge_in_order};
use crate::partition::{ClusterId, density};

use super::is_sparse;
use super::multilevel::{KEPT_SHARE, Level, uncoarsen};
use super::task::{Solution, Task};

/// Nodes of the graph on which halves are grown.
const FEW: usize = 48;
/// Nodes of that graph at most.
const MANY: usize = 4 * FEW;
/// Nodes from which halves are grown, at most.
const MOST_SEEDS: usize = 24;

/// Labels 0 and 1 for the nodes of `part`, with a high objective and both volumes at or above the floor, if that
/// is possible by growing a half from a node. `None` for a single node, or when the floor cannot be met.
pub(super) fn bisect(part: &Graph<'_>, task: &Task<'_>, seed: u64) -> Result<Option<Solution>> {
    if part.n_nodes() < 2 || part.volume() < 2.0 * task.floor {
        return Ok(None);
    }
    let task = Task { n_clusters: 2, coarse_split_rounds: 0, ..*task };
    let merging = Merging {
        largest: if task.floor > 0.0 { (part.volume() / 8.0).max(task.floor / 2.0) } else { f64::INFINITY },
        cap: part.volume() / 8.0,
        // Where nodes have few neighbours pairs shrink the graph fast enough, and give better halves.
        crowd: if is_sparse(part) { 0.0 } else { part.volume() / FEW as f64 },
        seed,
        ..Merging::down_to(FEW)
    };
    let mut levels: Vec<Level> = Vec::new();
    // The groups that the nodes of the last level are in by now, and the graph of these.
    let mut last = Groups::single(part.n_nodes());
    let mut current: Option<Graph<'static>> = None;
    loop {
        let top = current.as_ref().or(levels.last().and_then(Level::graph)).unwrap_or(part);
        let Some(round) = merging.round(top, task.watch) else { break };
        let next = match task.is_large {
            true => top.contract_narrow(&round.of_node, round.count, &mut |p| task.watch.report(p))?,
            false => top.contract_observed(&round.of_node, round.count, &mut |p| task.watch.report(p))?,
        };
        let ControlFlow::Continue(next) = next else { break };
        last.follow(&round);
        let n_before = levels.last().and_then(Level::graph).unwrap_or(part).n_nodes();
        if !task.is_large || (round.count as f64) < KEPT_SHARE * n_before as f64 {
            let groups = std::mem::replace(&mut last, Groups::single(round.count));
            levels.push(Level::new(next, groups.of_node));
            current = None;
        } else {
            current = Some(next);
        }
    }
    if let Some(graph) = current {
        levels.push(Level::new(graph, last.of_node));
    }
    if task.is_stopped() {
        return Ok(None);
    }
    // Where links do not lead on, as between the leaves of a star, nodes that follow each other are put together.
    let top = levels.last().and_then(Level::graph).unwrap_or(part);
    if top.n_nodes() > MANY {
        let group_of = merge_in_order(top.degrees(), MANY);
        let graph = top.contract(&group_of, MANY)?;
        levels.push(Level::new(graph, group_of));
    }
    let top = levels.last().and_then(Level::graph).unwrap_or(part);
    let Some(labels) = grown_halves(top, task.floor) else { return Ok(None) };
    let halves = uncoarsen(part, &mut levels, labels, 2, &task, seed)?;
    Ok(Some(halves).filter(Solution::is_feasible))
}

/// Grows a half from several nodes, each time adding the node that leaves the highest objective, and keeps the
/// best state of all.
fn grown_halves(graph: &Graph<'_>, floor: f64) -> Option<Vec<ClusterId>> {
    let n_nodes = graph.n_nodes();
    let row_sums: Vec<f64> =
        (0..n_nodes as NodeId).map(|node| graph.neighbors(node).map(|(_, weight)| weight).sum()).collect();
    let all = Sums {
        association: (0..n_nodes).map(|node| graph.self_loop(node as NodeId) + row_sums[node]).sum(),
        volume: graph.volume(),
    };
    let n_seeds = n_nodes.min(MOST_SEEDS);
    let mut best: Option<(f64, Vec<NodeId>, usize)> = None;
    let mut outside = Outside::default();
    for seed in 0..n_seeds {
        let first = (seed * n_nodes / n_seeds) as NodeId;
        outside.fill(graph, &row_sums);
        let growth = Growth::from(graph, first, &all, floor, &mut outside);
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

#[derive(Clone, Copy)]
struct Sums {
    association: f64,
    volume: f64,
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
    scores: Vec<f64>,
}

impl Outside {
    fn fill(&mut self, graph: &Graph<'_>, row_sums: &[f64]) {
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
    }

    /// Takes a node out; tells what it adds to the association of the half, and takes from that of the rest.
    fn take(&mut self, graph: &Graph<'_>, node: NodeId) -> (f64, f64) {
        let place = self.places[node as usize];
        let sums = (self.joining[place], self.leaving[place]);
        self.nodes.swap_remove(place);
        self.joining.swap_remove(place);
        self.leaving.swap_remove(place);
        self.degrees.swap_remove(place);
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
    fn best(&mut self, inside: Sums, rest: Sums) -> Option<NodeId> {
        self.scores.clear();
        let known = self.joining.iter().zip(&self.leaving).zip(&self.degrees);
        self.scores.extend(known.map(|((&joining, &leaving), &degree)| {
            // The sum of the two densities, with one division.
            let (a, d) = (inside.association + joining, inside.volume + degree);
            let (b, e) = (rest.association - leaving, (rest.volume - degree).max(f64::MIN_POSITIVE));
            (a * e + b * d) / (d * e)
        }));
        let highest = self.scores.iter().fold(f64::NEG_INFINITY, |high, &score| high.max(score));
        let among = self.nodes.iter().zip(&self.scores).filter(|(_, score)| **score == highest);
        among.map(|(&node, _)| node).min().or_else(|| self.nodes.iter().copied().min())
    }
}

/// A half that grows node by node.
struct Growth {
    order: Vec<NodeId>,
    /// The highest objective with both volumes at or above the floor, and the number of nodes inside then.
    best: Option<(f64, usize)>,
}

impl Growth {
    fn from(graph: &Graph<'_>, first: NodeId, all: &Sums, floor: f64, outside: &mut Outside) -> Self {
        let (mut inside, mut rest) = (Sums { association: 0.0, volume: 0.0 }, *all);
        let mut growth = Self { order: Vec::with_capacity(graph.n_nodes()), best: None };
        let mut next = Some(first);
        while let Some(node) = next {
            let (joining, leaving) = outside.take(graph, node);
            inside = Sums {
                association: inside.association + joining,
                volume: inside.volume + graph.degree(node),
            };
            rest = Sums { association: rest.association - leaving, volume: all.volume - inside.volume };
            growth.order.push(node);
            if outside.nodes.is_empty() || rest.volume < floor {
                break;
            }
            if inside.volume >= floor {
                let objective =
                    density(inside.association, inside.volume) + density(rest.association, rest.volume);
                if growth.best.is_none_or(|(best, _)| objective > best) {
                    growth.best = Some((objective, growth.order.len()));
                }
            }
            next = outside.best(inside, rest);
        }
        growth
    }
}
