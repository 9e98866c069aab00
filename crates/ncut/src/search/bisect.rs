//! The best way to cut one cluster in two.

use std::ops::ControlFlow;

use crate::error::Result;
use crate::graph::{Graph, NodeId};
use crate::hierarchy::{Groups, Merging, merge_in_order};
use crate::partition::{ClusterId, density};

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
    let all = Sums {
        association: (0..n_nodes as NodeId)
            .map(|node| graph.self_loop(node) + graph.neighbors(node).map(|(_, weight)| weight).sum::<f64>())
            .sum(),
        volume: graph.volume(),
    };
    let n_seeds = n_nodes.min(MOST_SEEDS);
    let mut best: Option<(f64, Vec<NodeId>, usize)> = None;
    for seed in 0..n_seeds {
        let first = (seed * n_nodes / n_seeds) as NodeId;
        let growth = Growth::from(graph, first, &all, floor);
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

/// A half that grows node by node.
struct Growth {
    order: Vec<NodeId>,
    /// The highest objective with both volumes at or above the floor, and the number of nodes inside then.
    best: Option<(f64, usize)>,
}

impl Growth {
    fn from(graph: &Graph<'_>, first: NodeId, all: &Sums, floor: f64) -> Self {
        let n_nodes = graph.n_nodes();
        let mut link = vec![0.0; n_nodes];
        let mut outside: Vec<NodeId> = (0..n_nodes as NodeId).collect();
        let mut inside = Sums { association: 0.0, volume: 0.0 };
        // The weight between the half and the rest, in one direction.
        let mut between = 0.0;
        let row_sums: Vec<f64> = (0..n_nodes as NodeId)
            .map(|node| graph.neighbors(node).map(|(_, weight)| weight).sum())
            .collect();
        let mut growth = Self { order: Vec::with_capacity(n_nodes), best: None };
        let mut next = Some(first);
        while let Some(node) = next {
            inside.association += 2.0 * link[node as usize] + graph.self_loop(node);
            inside.volume += graph.degree(node);
            between += row_sums[node as usize] - 2.0 * link[node as usize];
            outside.retain(|&other| other != node);
            growth.order.push(node);
            graph.for_each_neighbor(node, |neighbor, weight| link[neighbor as usize] += weight);
            if outside.is_empty() {
                break;
            }
            let rest = Sums {
                association: all.association - inside.association - 2.0 * between,
                volume: all.volume - inside.volume,
            };
            if inside.volume >= floor && rest.volume >= floor {
                let objective =
                    density(inside.association, inside.volume) + density(rest.association, rest.volume);
                if growth.best.is_none_or(|(best, _)| objective > best) {
                    growth.best = Some((objective, growth.order.len()));
                }
            }
            let objective_with = |node: NodeId| {
                let (own, degree) = (graph.self_loop(node), graph.degree(node));
                let link_in = link[node as usize];
                let link_out = row_sums[node as usize] - link_in;
                density(inside.association + 2.0 * link_in + own, inside.volume + degree)
                    + density(rest.association - 2.0 * link_out - own, rest.volume - degree)
            };
            let scored = outside.iter().map(|&node| (objective_with(node), node));
            next = scored.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))).map(|(_, node)| node);
        }
        growth
    }
}
