//! Labels of a graph that has changed, brought up to date near the changes.

use std::collections::HashMap;

use crate::descent::{Proof, settle_active};
use crate::error::Result;
use crate::graph::{Graph, NodeId};
use crate::hierarchy::Merging;
use crate::objective::Objective;
use crate::parallel::prelude::*;
use crate::partition::{ClusterId, Links, Partition};
use crate::progress::{Clock, StopReason};

use super::connect::connected;
use super::plan::{Choice, Facts, Plan};
use super::solution::Solution;
use super::split::split_until_enough;
use super::task::{Tally, Task};
use super::{Request, Searched};

/// Nodes that one thread looks at at a time.
const NODES_PER_TASK: usize = 1 << 12;

/// Labels from before.
pub(crate) struct Renewal<'r> {
    /// The clusters that nodes were in, `None` for new ones.
    pub(crate) old: &'r [Option<ClusterId>],
    /// The same with a cluster for every node.
    pub(crate) labels: Vec<ClusterId>,
    /// The old clusters have the numbers below this.
    pub(crate) n_named: usize,
    /// What a move must gain, in means of what a node contributes to the objective.
    pub(crate) stay: f64,
}

/// Brings labels up to date: as many clusters as asked for, each connected where that is asked for. Clusters below `n_named` are
/// the old ones, the others are new; not all numbers need be in use.
pub(crate) fn renewed<O: Objective>(
    graph: &Graph<'_>,
    objective: O,
    renewal: Renewal<'_>,
    request: &Request,
    clock: &Clock<'_>,
) -> Result<Searched> {
    let tally = Tally::default();
    let rung = request.ladder.last().and_then(|row| row.last()).expect("the last rung is what is asked for");
    let plan = Plan::new(Facts::of(graph, request.n_clusters), &rung.effort, rung.choice, &request.limits);
    let mut task = Task {
        objective,
        n_clusters: request.n_clusters,
        floor: 0.0,
        ceiling: f64::INFINITY,
        connected: request.connected,
        is_constrained: false,
        bundles: None,
        rule: request.rule,
        plan: &plan,
        clock,
        reserve: None,
        tally: Some(&tally),
    };
    task.floor = rung.min_share * task.total_mass(graph) / request.n_clusters as f64;
    let (labels, names) = counted_right(graph, renewal.labels, renewal.n_named, &task)?;
    let found = settled(graph, &labels, renewal.old, renewal.stay, &task)?;
    let labels = found.labels.iter().map(|&label| names[label as usize]).collect();
    let stop_reason = clock.stopped().map_or(found.stop_reason, |stopped| stopped.0);
    Ok(Searched { labels, sweeps: tally.sweeps(), moves: tally.moves(), stop_reason, plan })
}

/// Labels improved by moves near the changes that are worth their price.
fn settled<O: Objective>(
    graph: &Graph<'_>,
    labels: &[ClusterId],
    old: &[Option<ClusterId>],
    stay: f64,
    task: &Task<'_, O>,
) -> Result<Solution> {
    let priced = || -> Result<Partition<'_, O>> {
        let mut partition = task.partition(graph, labels.to_vec())?;
        let price = stay * partition.objective().abs() / graph.n_nodes() as f64;
        partition.set_price(price);
        Ok(partition)
    };
    let mut partition = priced()?;
    let price = partition.price();
    let active = near_changes(&partition, old);
    let mut stop_reason = StopReason::LocalOptimum;
    if !task.is_stopped() {
        let mut links = Links::new(task.n_clusters);
        let settled =
            settle_active(&mut partition, active.clone(), &task.rule, Proof::None, &mut links, task.clock);
        task.count(&settled);
        stop_reason = settled.stop_reason;
        if settled.moves > 0 {
            partition.refresh();
        }
    }
    if !task.connected || connected(&partition).is_none() {
        return Ok(task.solution(partition, stop_reason));
    }
    // A node that leaves may cut off others, which then move as well and cost more than it gained. So from the start once more,
    // by moves that keep clusters connected.
    let freely = task.mended(partition, stop_reason);
    let mut partition = priced()?;
    task.mend(&mut partition);
    let stop_reason = task.settle_connected(&mut partition, active);
    let carefully = task.solution(partition, stop_reason);
    let with_price_paid = |mut found: Solution| {
        let moved = found.labels.iter().zip(labels).filter(|(now, before)| now != before).count();
        found.objective -= price * moved as f64;
        found
    };
    Ok(with_price_paid(carefully).or_preferred(with_price_paid(freely), Choice::Objective))
}

/// Nodes that are linked to another cluster, and new ones.
fn near_changes<O: Objective>(partition: &Partition<'_, O>, old: &[Option<ClusterId>]) -> Vec<bool> {
    let (graph, labels) = (partition.graph(), partition.labels());
    let is_near = |node: usize| {
        let row = &graph.columns()[graph.entries(node as NodeId)];
        old[node].is_none() || row.iter().any(|&neighbor| labels[neighbor as usize] != labels[node])
    };
    (0..graph.n_nodes()).into_par_iter().with_min_len(NODES_PER_TASK).map(is_near).collect()
}

/// Labels with exactly as many clusters as asked for, numbered from 0, and the old number of each; those that are new have
/// numbers from `n_named` on.
fn counted_right<O: Objective>(
    graph: &Graph<'_>,
    labels: Vec<ClusterId>,
    n_named: usize,
    task: &Task<'_, O>,
) -> Result<(Vec<ClusterId>, Vec<ClusterId>)> {
    // Clusters all of whose nodes are gone, or have no edges any more, are none.
    let mut number: HashMap<ClusterId, ClusterId> = HashMap::new();
    let mut names: Vec<ClusterId> = labels.clone();
    names.sort_unstable();
    names.dedup();
    number.extend(names.iter().zip(0..).map(|(&name, number)| (name, number)));
    let mut labels: Vec<ClusterId> = labels.into_iter().map(|label| number[&label]).collect();
    if names.len() > task.n_clusters {
        let quotient = graph.contract(&labels, names.len())?;
        let merging = Merging { connected: false, ..task.merging_down_to(task.n_clusters) };
        let groups = merging.merge_all(&quotient, task.clock)?;
        // The heaviest of those that merge gives its name.
        let mut heaviest: Vec<Option<(f64, ClusterId)>> = vec![None; groups.count];
        for (cluster, &group) in (0..).zip(&groups.of_node) {
            let mass = task.mass(&quotient, cluster);
            let known = &mut heaviest[group as usize];
            if known.is_none_or(|known| mass > known.0) {
                *known = Some((mass, names[cluster as usize]));
            }
        }
        names = heaviest.into_iter().flatten().map(|(_, name)| name).collect();
        labels = labels.into_iter().map(|label| groups.of_node[label as usize]).collect();
    }
    let n_given = names.len();
    if n_given < task.n_clusters {
        let before = labels.clone();
        labels = split_until_enough(graph, labels, n_given, task)?;
        keep_larger_halves(graph, &before, &mut labels, n_given, task);
        names.extend((n_named as ClusterId..).take(task.n_clusters - n_given));
    }
    Ok((labels, names))
}

/// Of clusters that were cut the heaviest part keeps the number.
fn keep_larger_halves<O: Objective>(
    graph: &Graph<'_>,
    before: &[ClusterId],
    labels: &mut [ClusterId],
    n_given: usize,
    task: &Task<'_, O>,
) {
    let mut masses = vec![0.0; task.n_clusters];
    let mut from = vec![0; task.n_clusters];
    for (node, (&label, &was)) in (0..).zip(labels.iter().zip(before)) {
        masses[label as usize] += task.mass(graph, node);
        from[label as usize] = was;
    }
    let mut new_number: Vec<ClusterId> = (0..task.n_clusters as ClusterId).collect();
    for cluster in n_given..task.n_clusters {
        let kept = from[cluster] as usize;
        let holder = new_number.iter().position(|&number| number as usize == kept).unwrap_or(kept);
        if masses[cluster] > masses[holder] {
            new_number.swap(cluster, holder);
        }
    }
    labels.iter_mut().for_each(|label| *label = new_number[*label as usize]);
}
