//! Clusters cut in two: as an offer for split-merge, and until there are as many as asked for.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::error::Result;
use crate::graph::{Graph, NodeId, Parts};
use crate::objective::{Objective, Sums};
use crate::parallel::prelude::*;
use crate::partition::ClusterId;

use super::bisect::bisect;
use super::task::Task;

/// Splits clusters, those first where it costs least, until there are as many as asked for. Where the floor leaves
/// no cluster to split, the largest are cut all the same.
pub(super) fn split_until_enough<O: Objective>(
    graph: &Graph<'_>,
    mut labels: Vec<ClusterId>,
    n_given: usize,
    task: &Task<'_, O>,
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
            if !task.connected {
                return cut_the_largest(graph, labels, n_clusters, task);
            }
            // Holding together goes before the floor.
            return match task.floor > 0.0 && !task.is_stopped() {
                true => split_until_enough(graph, labels, n_clusters, &Task { floor: 0.0, ..*task }),
                false => cut_off_nodes(graph, labels, n_clusters, task.n_clusters),
            };
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
    pub(super) fn find<O: Objective>(
        parts: &Parts<'_>,
        cluster: ClusterId,
        task: &Task<'_, O>,
    ) -> Result<Option<Self>> {
        let part = parts.graph(cluster)?;
        let Some(halves) = bisect(&part, task, u64::from(cluster))? else { return Ok(None) };
        let association: f64 = (0..part.n_nodes() as NodeId)
            .map(|node| part.self_loop(node) + part.neighbors(node).map(|(_, weight)| weight).sum::<f64>())
            .sum();
        let nodes = parts.nodes(cluster);
        let moved: Vec<NodeId> =
            nodes.iter().zip(&halves.labels).filter(|(_, half)| **half == 1).map(|(&node, _)| node).collect();
        let size = (0..part.n_nodes() as NodeId).map(|node| part.node_sums::<O>(node).size).sum();
        let whole = Sums { association, volume: part.volume(), size };
        let gain = halves.objective - task.objective.value(&whole);
        Ok(Some(Self { gain, moved }))
    }
}

/// Cuts clusters of largest mass in two of about the same mass, whatever it costs, until there are enough.
fn cut_the_largest<O: Objective>(
    graph: &Graph<'_>,
    mut labels: Vec<ClusterId>,
    n_given: usize,
    task: &Task<'_, O>,
) -> Result<Vec<ClusterId>> {
    let node_mass = |node: NodeId| task.mass(graph, node);
    let parts = Parts::new(graph, &labels, n_given)?;
    let mass = |nodes: &[NodeId]| nodes.iter().map(|&node| node_mass(node)).sum::<f64>();
    // Masses are not negative: their bits are in the order of their values. Those of one node cannot be cut.
    let rank = |nodes: &[NodeId]| if nodes.len() > 1 { mass(nodes).to_bits() } else { 0 };
    let mut heap: BinaryHeap<(u64, Reverse<ClusterId>, Vec<NodeId>)> = (0..n_given as ClusterId)
        .map(|cluster| (rank(parts.nodes(cluster)), Reverse(cluster), parts.nodes(cluster).to_vec()))
        .collect();
    drop(parts);
    for new in n_given..task.n_clusters {
        let (_, Reverse(cluster), mut nodes) = heap.pop().expect("there are clusters");
        nodes.sort_by(|&a, &b| node_mass(b).total_cmp(&node_mass(a)).then(a.cmp(&b)));
        let (mut staying, mut moving) = ((0.0, Vec::new()), (0.0, Vec::new()));
        for node in nodes {
            let half = if moving.0 < staying.0 { &mut moving } else { &mut staying };
            half.0 += node_mass(node);
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

/// Cuts single nodes off the clusters with the most nodes, until there are enough clusters. What is connected stays so.
fn cut_off_nodes(
    graph: &Graph<'_>,
    mut labels: Vec<ClusterId>,
    n_given: usize,
    n_clusters: usize,
) -> Result<Vec<ClusterId>> {
    let parts = Parts::new(graph, &labels, n_given)?;
    let mut by_size: Vec<Vec<NodeId>> =
        (0..n_given as ClusterId).map(|cluster| parts.nodes(cluster).to_vec()).collect();
    drop(parts);
    by_size.sort_by_key(|nodes| Reverse(nodes.len()));
    let mut was_reached = vec![false; labels.len()];
    let mut new = n_given as ClusterId..n_clusters as ClusterId;
    for nodes in by_size {
        // In the order of a walk outwards every node is reached by way of one before it: the last ones can go.
        let mut walk: Vec<NodeId> = Vec::with_capacity(nodes.len());
        for first in nodes {
            if std::mem::replace(&mut was_reached[first as usize], true) {
                continue;
            }
            let mut next = walk.len();
            walk.push(first);
            while let Some(&node) = walk.get(next) {
                graph.for_each_neighbor(node, |neighbor, _| {
                    let is_inside = labels[neighbor as usize] == labels[node as usize];
                    if is_inside && !std::mem::replace(&mut was_reached[neighbor as usize], true) {
                        walk.push(neighbor);
                    }
                });
                next += 1;
            }
        }
        for (&node, cluster) in walk[1..].iter().rev().zip(&mut new) {
            labels[node as usize] = cluster;
        }
        if new.is_empty() {
            break;
        }
    }
    Ok(labels)
}

/// Clusters of about the same mass, whatever is linked: the heaviest node first, each to the lightest cluster.
pub(super) fn balanced<O: Objective>(graph: &Graph<'_>, task: &Task<'_, O>) -> Vec<ClusterId> {
    let (n_clusters, node_mass) = (task.n_clusters, |node: NodeId| task.mass(graph, node));
    let mut by_mass: Vec<NodeId> = (0..graph.n_nodes() as NodeId).collect();
    by_mass.sort_by(|&a, &b| node_mass(b).total_cmp(&node_mass(a)).then(a.cmp(&b)));
    let mut masses = vec![0.0f64; n_clusters];
    // Masses are not negative: their bits are in the order of their values.
    let mut lightest: BinaryHeap<Reverse<(u64, ClusterId)>> =
        (0..n_clusters as ClusterId).map(|cluster| Reverse((0, cluster))).collect();
    let mut labels = vec![0; graph.n_nodes()];
    for node in by_mass {
        let Reverse((_, cluster)) = lightest.pop().expect("every cluster that is taken out is put back");
        labels[node as usize] = cluster;
        masses[cluster as usize] += node_mass(node);
        lightest.push(Reverse((masses[cluster as usize].to_bits(), cluster)));
    }
    labels
}
