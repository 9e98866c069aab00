//! Exactly k clusters above the floor, from fewer, or from ones below it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

use crate::error::Result;
use crate::graph::{Graph, NodeId, Parts};
use crate::hierarchy::Merging;
use crate::parallel::prelude::*;
use crate::partition::{ClusterId, density};

use super::bisect::bisect;
use super::is_large;
use super::multilevel::completed;
use super::task::Task;

/// Splits clusters, those first where it costs least, until there are as many as asked for. Where the floor leaves
/// no cluster to split, the largest are cut all the same.
pub(super) fn complete(
    graph: &Graph<'_>,
    mut labels: Vec<ClusterId>,
    n_given: usize,
    task: &Task<'_>,
) -> Result<Vec<ClusterId>> {
    let mut n_clusters = n_given;
    let mut splits: Vec<Option<Split>> = Vec::new();
    let mut unknown: Vec<ClusterId> = (0..n_given as ClusterId).collect();
    while n_clusters < task.n_clusters {
        let parts = Parts::new(graph, &labels, n_clusters)?;
        splits.resize_with(n_clusters, || None);
        let found: Vec<(ClusterId, Option<Split>)> = unknown
            .par_iter()
            .with_max_len(1)
            .map(|&cluster| Ok((cluster, Split::find(&parts, cluster, task)?)))
            .collect::<Result<_>>()?;
        for (cluster, split) in found {
            splits[cluster as usize] = split;
        }
        let gain = |cluster: &usize| splits[*cluster].as_ref().map_or(f64::NEG_INFINITY, |split| split.gain);
        let best = (0..n_clusters).max_by(|a, b| gain(a).total_cmp(&gain(b)).then(b.cmp(a)));
        let Some((best, split)) = best.and_then(|best| splits[best].take().map(|split| (best, split))) else {
            drop(parts);
            return cut_the_largest(graph, labels, n_clusters, task.n_clusters);
        };
        unknown = vec![best as ClusterId, n_clusters as ClusterId];
        let moved = split.moved;
        for node in moved {
            labels[node as usize] = n_clusters as ClusterId;
        }
        n_clusters += 1;
    }
    Ok(labels)
}

/// Merges clusters below the floor into those with which it costs least, and splits others in return.
pub(super) fn repair(graph: &Graph<'_>, labels: Vec<ClusterId>, task: &Task<'_>) -> Result<Vec<ClusterId>> {
    let quotient = graph.contract(&labels, task.n_clusters)?;
    let merging = Merging { floor: task.floor, ..Merging::down_to(task.n_clusters) };
    let ControlFlow::Continue(groups) = merging.finish(&quotient, task.watch)? else {
        return Ok(labels);
    };
    let merged: Vec<ClusterId> = labels.iter().map(|&label| groups.of_node[label as usize]).collect();
    drop(labels);
    if is_large(graph) {
        return Ok(completed(graph, &merged, groups.count, task)?.labels);
    }
    complete(graph, merged, groups.count, task)
}

/// A cluster cut in two.
#[derive(Clone)]
pub(super) struct Split {
    /// The change of the objective.
    pub(super) gain: f64,
    /// The nodes that leave the cluster.
    pub(super) moved: Vec<NodeId>,
}

impl Split {
    /// The best split found of a cluster that leaves both halves at or above the floor.
    pub(super) fn find(parts: &Parts<'_>, cluster: ClusterId, task: &Task<'_>) -> Result<Option<Self>> {
        let part = parts.graph(cluster)?;
        let Some(halves) = bisect(&part, task, u64::from(cluster))? else { return Ok(None) };
        let association: f64 = (0..part.n_nodes() as NodeId)
            .map(|node| part.self_loop(node) + part.neighbors(node).map(|(_, weight)| weight).sum::<f64>())
            .sum();
        let nodes = parts.nodes(cluster);
        let moved: Vec<NodeId> =
            nodes.iter().zip(&halves.labels).filter(|(_, half)| **half == 1).map(|(&node, _)| node).collect();
        let gain = halves.objective - density(association, part.volume());
        Ok(Some(Self { gain, moved }))
    }
}

/// Cuts clusters of largest volume in two of about the same volume, whatever it costs, until there are enough.
fn cut_the_largest(
    graph: &Graph<'_>,
    mut labels: Vec<ClusterId>,
    n_given: usize,
    n_clusters: usize,
) -> Result<Vec<ClusterId>> {
    let parts = Parts::new(graph, &labels, n_given)?;
    let volume = |nodes: &[NodeId]| nodes.iter().map(|&node| graph.degree(node)).sum::<f64>();
    // Volumes are not negative: their bits are in the order of their values. Those of one node cannot be cut.
    let rank = |nodes: &[NodeId]| if nodes.len() > 1 { volume(nodes).to_bits() } else { 0 };
    let mut heap: BinaryHeap<(u64, Reverse<ClusterId>, Vec<NodeId>)> = (0..n_given as ClusterId)
        .map(|cluster| (rank(parts.nodes(cluster)), Reverse(cluster), parts.nodes(cluster).to_vec()))
        .collect();
    drop(parts);
    for new in n_given..n_clusters {
        let (_, Reverse(cluster), mut nodes) = heap.pop().expect("there are clusters");
        nodes.sort_by(|&a, &b| graph.degree(b).total_cmp(&graph.degree(a)).then(a.cmp(&b)));
        let (mut staying, mut moving) = ((0.0, Vec::new()), (0.0, Vec::new()));
        for node in nodes {
            let half = if moving.0 < staying.0 { &mut moving } else { &mut staying };
            half.0 += graph.degree(node);
            half.1.push(node);
        }
        for &node in &moving.1 {
            labels[node as usize] = new as ClusterId;
        }
        for (cluster, nodes) in [(cluster, staying.1), (new as ClusterId, moving.1)] {
            heap.push((rank(&nodes), Reverse(cluster), nodes));
        }
    }
    Ok(labels)
}

/// Clusters of about the same volume, whatever is linked: the heaviest node first, each to the lightest cluster.
pub(super) fn balanced(graph: &Graph<'_>, n_clusters: usize) -> Vec<ClusterId> {
    let mut by_degree: Vec<NodeId> = (0..graph.n_nodes() as NodeId).collect();
    by_degree.sort_by(|&a, &b| graph.degree(b).total_cmp(&graph.degree(a)).then(a.cmp(&b)));
    let mut volumes = vec![0.0f64; n_clusters];
    // Volumes are not negative: their bits are in the order of their values.
    let mut lightest: BinaryHeap<Reverse<(u64, ClusterId)>> =
        (0..n_clusters as ClusterId).map(|cluster| Reverse((0, cluster))).collect();
    let mut labels = vec![0; graph.n_nodes()];
    for node in by_degree {
        let Reverse((_, cluster)) = lightest.pop().expect("every cluster that is taken out is put back");
        labels[node as usize] = cluster;
        volumes[cluster as usize] += graph.degree(node);
        lightest.push(Reverse((volumes[cluster as usize].to_bits(), cluster)));
    }
    labels
}
