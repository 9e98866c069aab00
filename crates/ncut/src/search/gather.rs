//! Groups that must not merge any further gathered into as many clusters as asked for.

use std::collections::HashMap;

use crate::error::Result;
use crate::graph::{Graph, NodeId};
use crate::objective::{Objective, Sums};
use crate::partition::ClusterId;

use super::task::Task;

/// Labels of the nodes of a graph, each a group that merging has left: as many clusters as asked for, or as there are nodes.
/// Nodes that are all apart come first, one in each cluster, then the heaviest; each of the others joins the cluster that
/// gains most by it among those it may be in.
fn gathered<O: Objective>(graph: &Graph<'_>, task: &Task<'_, O>) -> Vec<ClusterId> {
    let n_nodes = graph.n_nodes();
    let n_bound = |node: NodeId| graph.apart().map_or(0, |apart| apart.partners(node).take(n_nodes).count());
    let mut order: Vec<(usize, NodeId)> = (0..n_nodes as NodeId).map(|node| (n_bound(node), node)).collect();
    order.sort_by(|a, b| {
        let by_mass = task.mass(graph, b.1).total_cmp(&task.mass(graph, a.1));
        b.0.cmp(&a.0).then(by_mass).then(a.1.cmp(&b.1))
    });
    const NONE: ClusterId = ClusterId::MAX;
    let mut labels = vec![NONE; n_nodes];
    let mut clusters: Vec<Sums> = Vec::new();
    for (place, &(_, node)) in order.iter().enumerate() {
        let sums = graph.node_sums::<O>(node);
        let mut links: HashMap<ClusterId, f64> = HashMap::new();
        graph.for_each_neighbor(node, |neighbor, weight| {
            let label = labels[neighbor as usize];
            if label != NONE {
                *links.entry(label).or_insert(0.0) += weight;
            }
        });
        let mut conflicts: HashMap<ClusterId, usize> = HashMap::new();
        for partner in graph.apart().into_iter().flat_map(|apart| apart.partners(node)) {
            *conflicts.entry(labels[partner as usize]).or_insert(0) += 1;
        }
        let n_clusters = clusters.len();
        // As many nodes as clusters that are still empty must be left.
        let n_missing = task.n_clusters.saturating_sub(n_clusters);
        let must_open = n_nodes - place <= n_missing;
        let mut best: Option<(usize, f64, f64, ClusterId)> = None;
        for (cluster, before) in (0..).zip(&clusters) {
            let n_conflicts = conflicts.get(&cluster).copied().unwrap_or(0);
            let excess = (task.objective.mass(before) + task.objective.mass(&sums) - task.ceiling).max(0.0);
            let link = links.get(&cluster).copied().unwrap_or(0.0);
            let known = (n_conflicts, excess, -task.objective.merge_gain(before, &sums, link), cluster);
            if best.is_none_or(|best| known < best) {
                best = Some(known);
            }
        }
        // The heaviest are in different clusters at first: the ceiling leaves hardly anything else.
        let opens = n_missing > 0
            && (must_open || best.is_none_or(|best| best.0 > 0 || best.1 > 0.0 || best.2 > 0.0));
        let cluster = match best {
            Some((.., cluster)) if !opens => cluster,
            _ => {
                clusters.push(Sums::default());
                n_clusters as ClusterId
            }
        };
        let link = links.get(&cluster).copied().unwrap_or(0.0);
        let of_cluster = &mut clusters[cluster as usize];
        *of_cluster = of_cluster.merged(&sums, link);
        labels[node as usize] = cluster;
    }
    labels
}

/// Labels of groups, no more than there are to be clusters: where merging has left more, they are gathered. `graph` is that of
/// the groups.
pub(super) fn at_most_asked<O: Objective>(
    graph: &Graph<'_>,
    task: &Task<'_, O>,
) -> Option<(Vec<ClusterId>, usize)> {
    (graph.n_nodes() > task.n_clusters).then(|| (gathered(graph, task), task.n_clusters))
}

/// As [`at_most_asked`], for groups of the nodes of `graph`.
pub(super) fn groups_at_most_asked<O: Objective>(
    graph: &Graph<'_>,
    labels: Vec<ClusterId>,
    count: usize,
    task: &Task<'_, O>,
) -> Result<(Vec<ClusterId>, usize)> {
    if count <= task.n_clusters {
        return Ok((labels, count));
    }
    let quotient = graph.contract(&labels, count)?;
    let (of_group, count) = match at_most_asked(&quotient, task) {
        Some(found) => found,
        None => return Ok((labels, count)),
    };
    Ok((labels.into_iter().map(|group| of_group[group as usize]).collect(), count))
}
