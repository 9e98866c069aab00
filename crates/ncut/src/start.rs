//! Starting labels: completing given ones, and the place of isolated nodes.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::error::{Error, Result};
use crate::graph::{Graph, NodeId};
use crate::limits::Limits;
use crate::metrics::{Label, UNLABELLED};
use crate::objective::{Objective, Sums};
use crate::partition::{Candidate, ClusterId, Partition};

/// A complete start from given labels: exactly `n_clusters` clusters, each with a node of positive degree.
///
/// A node labelled -1 follows the neighbours it is most linked to;
/// a cluster of isolated nodes only gets the node whose leaving costs least.
pub(crate) fn from_labels<O: Objective>(
    graph: &Graph<'_>,
    given: &[Label],
    n_clusters: usize,
    objective: O,
) -> Result<Vec<ClusterId>> {
    let names = cluster_names(given, n_clusters)?;
    let number = |label: &Label| names.binary_search(label).ok().map(|number| number as ClusterId);
    let labels = follow_neighbors(graph, given.iter().map(number).collect(), n_clusters);
    fill_empty(graph, labels, n_clusters, objective)
}

/// As [`from_labels`], of labels that may name fewer than `n_clusters` clusters: the others get a node each.
pub(crate) fn filled<O: Objective>(
    graph: &Graph<'_>,
    given: &[Label],
    n_clusters: usize,
    objective: O,
) -> Result<Vec<ClusterId>> {
    let names = names(given)?;
    let number = |label: &Label| names.binary_search(label).ok().map(|number| number as ClusterId);
    let labels = follow_neighbors(graph, given.iter().map(number).collect(), n_clusters);
    fill_empty(graph, labels, n_clusters, objective)
}

/// Labels for all nodes, those without one following the neighbours they are most linked to.
pub(crate) fn followed(
    graph: &Graph<'_>,
    labels: Vec<Option<ClusterId>>,
    n_clusters: usize,
) -> Vec<ClusterId> {
    match labels.iter().all(Option::is_some) {
        true => labels.into_iter().flatten().collect(),
        false => follow_neighbors(graph, labels, n_clusters),
    }
}

/// A start from any number of given labels. A node labelled -1 is by itself.
pub(crate) fn any_labels(given: &[Label]) -> Result<Vec<ClusterId>> {
    let names = names(given)?;
    let mut next = names.len() as ClusterId;
    let number = |label: &Label| match names.binary_search(label) {
        Ok(number) => number as ClusterId,
        Err(_) => {
            next += 1;
            next - 1
        }
    };
    Ok(given.iter().map(number).collect())
}

/// The labels in use, ascending, -1 left out; refused unless there are `n_clusters` of them.
pub(crate) fn cluster_names(given: &[Label], n_clusters: usize) -> Result<Vec<Label>> {
    let names = names(given)?;
    if names.len() != n_clusters {
        return Err(Error::labels(format!(
            "the starting labels name {} cluster{}, but {n_clusters} were asked for; ask for as many, or start \
             without labels",
            names.len(),
            if names.len() == 1 { "" } else { "s" }
        )));
    }
    Ok(names)
}

fn names(given: &[Label]) -> Result<Vec<Label>> {
    let mut names: Vec<Label> = given.iter().copied().filter(|&label| label != UNLABELLED).collect();
    names.sort_unstable();
    names.dedup();
    if let Some(&lowest) = names.first().filter(|&&lowest| lowest < UNLABELLED) {
        return Err(Error::labels(format!(
            "the starting label {lowest} is negative; only -1 may be, for none"
        )));
    }
    if names.is_empty() {
        return Err(Error::labels("the starting labels are all -1, so there is nothing to start from"));
    }
    Ok(names)
}

/// Gives every unlabelled node the cluster it is most linked to, from the labelled ones outwards; what
/// they do not reach joins the cluster of largest volume. The lowest number goes first among equals.
fn follow_neighbors(
    graph: &Graph<'_>,
    mut labels: Vec<Option<ClusterId>>,
    n_clusters: usize,
) -> Vec<ClusterId> {
    let mut weights = vec![0.0; n_clusters];
    let mut adjacent = Vec::new();
    let mut reached: Vec<NodeId> =
        (0..labels.len() as NodeId).filter(|&node| labels[node as usize].is_some()).collect();
    let mut met = vec![false; labels.len()];
    while !reached.is_empty() {
        // The unlabelled neighbours of those that were labelled last, each decided by the labels so far.
        let mut frontier = Vec::new();
        for node in reached {
            graph.for_each_neighbor(node, |neighbor, _| {
                let met = &mut met[neighbor as usize];
                if labels[neighbor as usize].is_none() && !std::mem::replace(met, true) {
                    frontier.push(neighbor);
                }
            });
        }
        let mut decide = |node: NodeId| -> ClusterId {
            graph.for_each_neighbor(node, |neighbor, weight| {
                if let Some(cluster) = labels[neighbor as usize] {
                    adjacent.push(cluster);
                    weights[cluster as usize] += weight;
                }
            });
            let heavier = |&a: &ClusterId, &b: &ClusterId| {
                weights[a as usize].total_cmp(&weights[b as usize]).then(b.cmp(&a))
            };
            let best = adjacent.iter().copied().max_by(heavier).expect("a labelled neighbour led here");
            for cluster in adjacent.drain(..) {
                weights[cluster as usize] = 0.0;
            }
            best
        };
        let decided: Vec<ClusterId> = frontier.iter().map(|&node| decide(node)).collect();
        for (&node, cluster) in frontier.iter().zip(decided) {
            labels[node as usize] = Some(cluster);
        }
        reached = frontier;
    }
    let largest = largest_cluster(graph, labels.iter().copied(), n_clusters);
    labels.into_iter().map(|label| label.unwrap_or(largest)).collect()
}

/// Gives every cluster without a node of positive degree one: a node whose move raises the objective most (or
/// lowers it least), the lowest among equals.
fn fill_empty<O: Objective>(
    graph: &Graph<'_>,
    labels: Vec<ClusterId>,
    n_clusters: usize,
    objective: O,
) -> Result<Vec<ClusterId>> {
    let limits = Limits::default();
    let mut partition = Partition::for_objective(objective, graph, labels, n_clusters, &limits)?;
    let empty: Vec<ClusterId> =
        (0..n_clusters as ClusterId).filter(|&cluster| partition.size(cluster) == 0).collect();
    let Some(&any_empty) = empty.first() else { return Ok(partition.into_labels()) };
    // All empty clusters are alike, so a gain is one for any of them, until its node's cluster changes.
    let mut candidates: BinaryHeap<Candidate> = (0..graph.n_nodes() as NodeId)
        .filter_map(|node| partition.move_to(node, any_empty))
        .map(|step| Candidate { gain: step.gain(), node: step.node() })
        .collect();
    for cluster in empty {
        while let Some(filed) = candidates.pop() {
            let Some(step) = partition.move_to(filed.node, cluster) else { continue };
            let current = Candidate { gain: step.gain(), node: filed.node };
            if candidates.peek().is_none_or(|next| current >= *next) {
                partition.apply(step);
                break;
            }
            candidates.push(current);
        }
    }
    Ok(partition.into_labels())
}

/// Labels that put every node of positive degree in a cluster of its own; isolated nodes are in none yet.
pub(crate) fn all_apart(graph: &Graph<'_>) -> Vec<Label> {
    let mut next = 0;
    let labels = graph.degrees().iter().map(|&degree| {
        let label = if degree > 0.0 { next } else { UNLABELLED };
        next += Label::from(degree > 0.0);
        label
    });
    labels.collect()
}

/// Places the isolated nodes: while clusters are missing, each is one of its own, in order; all others join the cluster
/// that gains most by it, among equals the one of largest volume, then the lowest. By N-Cut none gains anything, and they
/// all join the largest; by Ratio-Cut every one of them makes a cluster larger whose cut stays the same.
pub(crate) fn place_isolated<O: Objective>(
    graph: &Graph<'_>,
    labels: &mut [Label],
    n_clusters: usize,
    objective: O,
) {
    if graph.n_isolated() == 0 {
        return;
    }
    let degrees = graph.degrees();
    let mut clusters = vec![Sums::default(); n_clusters];
    for node in graph.connected_nodes() {
        let own = labels[node as usize];
        let cluster = &mut clusters[own as usize];
        let mut inside = graph.self_loop(node);
        graph.for_each_neighbor(node, |neighbor, weight| {
            inside += if labels[neighbor as usize] == own { weight } else { 0.0 };
        });
        let sums = graph.node_sums::<O>(node);
        *cluster = Sums {
            association: cluster.association + inside,
            volume: cluster.volume + sums.volume,
            size: cluster.size + sums.size,
        };
    }
    let n_connected = graph.n_nodes() - graph.n_isolated();
    let entry = |cluster: usize, sums: &Sums, node: &Sums| {
        let gain = objective.value(&sums.with(node, 0.0)) - objective.value(sums);
        (OrderedGain { gain, volume: sums.volume }, Reverse(cluster))
    };
    let mut heap: Option<BinaryHeap<(OrderedGain, Reverse<usize>)>> = None;
    let isolated = (0..graph.n_nodes()).filter(|&node| degrees[node] == 0.0);
    for (next, node) in (n_connected..).zip(isolated) {
        if next < n_clusters {
            labels[node] = next as Label;
            clusters[next] = graph.node_sums::<O>(node as NodeId);
            continue;
        }
        let sums = graph.node_sums::<O>(node as NodeId);
        let of_cluster = |(cluster, of): (usize, &Sums)| entry(cluster, of, &sums);
        let heap = heap.get_or_insert_with(|| clusters.iter().enumerate().map(of_cluster).collect());
        let (_, Reverse(best)) = heap.pop().expect("a cluster that is taken out is put back");
        labels[node] = best as Label;
        clusters[best] = clusters[best].with(&sums, 0.0);
        heap.push(entry(best, &clusters[best], &sums));
    }
}

/// What a cluster gains by an isolated node, and its volume, in the order in which clusters are preferred.
#[derive(Clone, Copy, Debug)]
struct OrderedGain {
    gain: f64,
    volume: f64,
}

impl PartialEq for OrderedGain {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for OrderedGain {}

impl PartialOrd for OrderedGain {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for OrderedGain {
    fn cmp(&self, other: &Self) -> Ordering {
        self.gain.total_cmp(&other.gain).then(self.volume.total_cmp(&other.volume))
    }
}

fn largest_cluster(
    graph: &Graph<'_>,
    labels: impl Iterator<Item = Option<ClusterId>>,
    n_clusters: usize,
) -> ClusterId {
    let mut volumes = vec![0.0; n_clusters];
    for (label, &degree) in labels.zip(graph.degrees()) {
        if let Some(cluster) = label {
            volumes[cluster as usize] += degree;
        }
    }
    let mut largest = 0;
    for cluster in 1..n_clusters {
        if volumes[cluster] > volumes[largest] {
            largest = cluster;
        }
    }
    largest as ClusterId
}
