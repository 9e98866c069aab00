//! Exactly k clusters above the floor, from fewer, or from ones below it.

use rayon::prelude::*;

use crate::error::Result;
use crate::graph::{Graph, NodeId, Parts};
use crate::hierarchy::Merging;
use crate::partition::{ClusterId, density};

use super::bisect::bisect;
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
            .map(|&cluster| Ok((cluster, Split::find(&parts, cluster, task)?)))
            .collect::<Result<_>>()?;
        for (cluster, split) in found {
            splits[cluster as usize] = split;
        }
        let gain = |cluster: &usize| splits[*cluster].as_ref().map_or(f64::NEG_INFINITY, |split| split.gain);
        let best = (0..n_clusters).max_by(|a, b| gain(a).total_cmp(&gain(b)).then(b.cmp(a)));
        let moved = match best.filter(|&best| splits[best].is_some()) {
            Some(best) => {
                unknown = vec![best as ClusterId, n_clusters as ClusterId];
                splits[best].take().map(|split| split.moved).unwrap_or_default()
            }
            None => {
                let (cluster, moved) = heavy_half(graph, &parts, n_clusters);
                unknown = vec![cluster, n_clusters as ClusterId];
                moved
            }
        };
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
    let merging = Merging {
        target: task.n_clusters,
        floor: task.floor,
        within: None,
        propagates: false,
        largest: f64::INFINITY,
        cap: f64::INFINITY,
        noise: 0.0,
        seed: 0,
    };
    let std::ops::ControlFlow::Continue(groups) = merging.finish(&quotient, task.watch)? else {
        return Ok(labels);
    };
    let merged = labels.iter().map(|&label| groups.of_node[label as usize]).collect();
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

/// The nodes that leave the cluster of largest volume which has two nodes, to make two of about the same volume.
fn heavy_half(graph: &Graph<'_>, parts: &Parts<'_>, n_clusters: usize) -> (ClusterId, Vec<NodeId>) {
    let volume = |cluster: ClusterId| -> f64 { parts.nodes(cluster).iter().map(|&node| graph.degree(node)).sum() };
    let largest = (0..n_clusters as ClusterId)
        .filter(|&cluster| parts.nodes(cluster).len() > 1)
        .max_by(|&a, &b| volume(a).total_cmp(&volume(b)).then(b.cmp(&a)))
        .expect("there are more nodes than clusters");
    let mut by_degree = parts.nodes(largest).to_vec();
    by_degree.sort_by(|&a, &b| graph.degree(b).total_cmp(&graph.degree(a)).then(a.cmp(&b)));
    let (mut staying, mut moving, mut moved) = (0.0, 0.0, Vec::new());
    for node in by_degree {
        if moving < staying {
            moving += graph.degree(node);
            moved.push(node);
        } else {
            staying += graph.degree(node);
        }
    }
    (largest, moved)
}
