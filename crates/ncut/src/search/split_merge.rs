//! Split-merge: cut one cluster in two, make one of two others.
//!
//! This is the move that coordinate descent lacks: it repairs a wrong allocation of clusters to the regions of a
//! graph, which no sequence of improving single moves does.

use std::collections::{HashMap, HashSet};

use crate::descent::Proof;
use crate::error::{Result, or_stopped};
use crate::graph::{Graph, NodeId, Parts};
use crate::objective::Objective;
use crate::parallel::prelude::*;
use crate::partition::ClusterId;
use crate::random::mixed;

use super::solution::Solution;
use super::split::Split;
use super::task::Task;

/// Splits tried one by one, when no pair of a split and a merge gains by itself.
const MAX_TRIALS: usize = 4;
/// A pair that loses more than this, in units of the objective, is not tried.
const MAX_LOSS: f64 = 0.02;
/// Rounds that gain less than this, in units of the objective, are the last.
const MIN_GAIN: f64 = 1e-9;

/// Splits of clusters, by what is in the cluster.
#[derive(Default)]
struct SplitCache {
    known: HashMap<u64, Option<Split>>,
    /// The exchanges that were tried.
    tried: HashSet<u64>,
}

/// Rounds of splits and merges, as long as they gain, `max_rounds` at most. Never worse than the start.
pub(super) fn split_merge<O: Objective>(
    graph: &Graph<'_>,
    start: Solution,
    max_rounds: usize,
    task: &Task<'_, O>,
    seed: u64,
) -> Result<Solution> {
    let mut best = start;
    // Of two clusters none is left to be merged with when one is cut in two.
    if task.n_clusters < 3 || max_rounds == 0 || !may_merge(graph, &best.labels, task) {
        return Ok(best);
    }
    let mut cache = SplitCache::default();
    let mut was_improved = false;
    for round in 0..max_rounds {
        let Ok(offers) = or_stopped(cache.offers(graph, &best.labels, task))? else { return Ok(best) };
        let Offers { splits, merges, contents, parts } = offers;
        let partition = task.partition(graph, best.labels.clone())?;
        let mut trials = vec![gaining_together(&splits, &merges)];
        trials.extend(
            best_alone(&splits, &merges, MAX_LOSS * task.objective.unit())
                .into_iter()
                .map(|exchange| vec![exchange]),
        );
        let mut improved = None;
        for trial in trials.into_iter().filter(|trial| !trial.is_empty()) {
            if task.is_stopped() {
                return Ok(best);
            }
            if !cache.is_new(&trial, &contents) {
                continue;
            }
            let labels = exchanged(&best.labels, &trial);
            let touched = trial.iter().flat_map(Exchange::touched);
            let nodes: Vec<NodeId> = touched.flat_map(|cluster| parts.nodes(cluster)).copied().collect();
            let found =
                task.improve_around(partition.clone(), &nodes, &labels, seed.wrapping_add(round as u64));
            if found.is_better_than(&best) {
                improved = Some(found);
                break;
            }
        }
        let Some(found) = improved else { break };
        let is_much = found.objective > best.objective + MIN_GAIN * task.objective.unit()
            || found.is_feasible() != best.is_feasible();
        best = found;
        was_improved = true;
        if !is_much {
            break;
        }
    }
    if was_improved {
        let settled = task.improve(graph, best.labels.clone(), Proof::Full, seed)?;
        if settled.is_better_than(&best) || !best.is_better_than(&settled) {
            best = settled;
        }
    }
    Ok(best)
}

/// Whether the two lightest clusters are not too much for the ceiling: otherwise no merge makes up for a split.
fn may_merge<O: Objective>(graph: &Graph<'_>, labels: &[ClusterId], task: &Task<'_, O>) -> bool {
    if task.ceiling == f64::INFINITY {
        return true;
    }
    let mut masses = vec![0.0; task.n_clusters];
    for (node, &label) in (0..).zip(labels) {
        masses[label as usize] += task.mass(graph, node);
    }
    masses.sort_by(f64::total_cmp);
    masses[0] + masses[1] <= task.ceiling
}

/// What could be done to the clusters of a labelling.
struct Offers<'g> {
    /// The split of every cluster that has one, those that gain most (or cost least) first.
    splits: Vec<(ClusterId, Split)>,
    merges: Merges,
    /// A hash of what is in each cluster.
    contents: Vec<u64>,
    parts: Parts<'g>,
}

/// A split, and a merge that makes up for it.
struct Exchange<'s> {
    cluster: ClusterId,
    split: &'s Split,
    /// The clusters that become one; the second's number goes to the moved nodes.
    merged: (ClusterId, ClusterId),
    gain: f64,
}

impl Exchange<'_> {
    fn touched(&self) -> [ClusterId; 3] {
        [self.cluster, self.merged.0, self.merged.1]
    }
}

/// Exchanges that gain and touch no cluster twice: the best split with the best merge, and so on.
fn gaining_together<'s>(splits: &'s [(ClusterId, Split)], merges: &Merges) -> Vec<Exchange<'s>> {
    let mut touched: HashSet<ClusterId> = HashSet::new();
    let mut chosen = Vec::new();
    let mut first_left = 0;
    for (cluster, split) in splits {
        if touched.contains(cluster) {
            continue;
        }
        let is_free =
            |&(_, a, b): &(f64, ClusterId, ClusterId)| !touched.contains(&a) && !touched.contains(&b);
        first_left += merges.sorted[first_left..].iter().take_while(|merge| !is_free(merge)).count();
        let mut left = merges.sorted[first_left..].iter().filter(|merge| is_free(merge));
        let Some(&(gain, a, b)) = left.find(|&&(_, a, b)| a != *cluster && b != *cluster) else { continue };
        if split.gain + gain <= 0.0 {
            break;
        }
        touched.extend([*cluster, a, b]);
        chosen.push(Exchange { cluster: *cluster, split, merged: (a, b), gain: split.gain + gain });
    }
    chosen
}

/// The exchanges that gain most, or lose little enough for a descent to make up for it.
fn best_alone<'s>(splits: &'s [(ClusterId, Split)], merges: &Merges, max_loss: f64) -> Vec<Exchange<'s>> {
    let exchange = |(cluster, split): &'s (ClusterId, Split)| {
        let apart = |&&(_, a, b): &&(f64, ClusterId, ClusterId)| a != *cluster && b != *cluster;
        let &(gain, a, b) = merges.sorted.iter().find(apart)?;
        Some(Exchange { cluster: *cluster, split, merged: (a, b), gain: split.gain + gain })
    };
    let mut exchanges: Vec<Exchange<'s>> = splits.iter().filter_map(exchange).collect();
    exchanges.sort_by(|a, b| b.gain.total_cmp(&a.gain));
    exchanges.truncate(MAX_TRIALS);
    exchanges.retain(|exchange| exchange.gain > -max_loss);
    exchanges
}

/// Labels after some exchanges that touch different clusters.
fn exchanged(labels: &[ClusterId], exchanges: &[Exchange<'_>]) -> Vec<ClusterId> {
    let mut becomes: HashMap<ClusterId, ClusterId> = HashMap::new();
    for Exchange { merged: (kept, vacated), .. } in exchanges {
        becomes.insert(*vacated, *kept);
    }
    let mut labels: Vec<ClusterId> =
        labels.iter().map(|label| becomes.get(label).copied().unwrap_or(*label)).collect();
    for Exchange { split, merged: (_, vacated), .. } in exchanges {
        for &node in &split.moved {
            labels[node as usize] = *vacated;
        }
    }
    labels
}

impl SplitCache {
    /// What could be done to the clusters of `labels`.
    fn offers<'g, O: Objective>(
        &mut self,
        graph: &'g Graph<'g>,
        labels: &'g [ClusterId],
        task: &Task<'_, O>,
    ) -> Result<Offers<'g>> {
        let n_clusters = task.n_clusters;
        let mut contents = vec![0u64; n_clusters];
        for (node, &label) in labels.iter().enumerate() {
            contents[label as usize] = contents[label as usize].wrapping_add(mixed(node as u64));
        }
        let parts = Parts::new(graph, labels, n_clusters)?;
        let unknown: Vec<ClusterId> = (0..n_clusters as ClusterId)
            .filter(|&cluster| !self.known.contains_key(&contents[cluster as usize]))
            .collect();
        let found: Vec<(u64, Option<Split>)> = unknown
            .par_iter()
            .with_max_len(1)
            .map(|&cluster| Ok((contents[cluster as usize], Split::find(&parts, cluster, task)?)))
            .collect::<Result<_>>()?;
        // Splits that were not found for want of time are not known to be none.
        task.clock.check()?;
        self.known.extend(found);
        let split = |cluster: ClusterId| {
            let split = self.known.get(&contents[cluster as usize])?.clone()?;
            Some((cluster, split))
        };
        let mut splits: Vec<(ClusterId, Split)> = (0..n_clusters as ClusterId).filter_map(split).collect();
        splits.sort_by(|a, b| b.1.gain.total_cmp(&a.1.gain).then(a.0.cmp(&b.0)));
        let merges = Merges::new(&graph.contract_observed(labels, n_clusters, task.clock)?, task);
        Ok(Offers { splits, merges, contents, parts })
    }

    /// Whether these exchanges have not been tried on clusters that were the same.
    fn is_new(&mut self, trial: &[Exchange<'_>], contents: &[u64]) -> bool {
        let clusters = trial.iter().flat_map(Exchange::touched);
        let hash = clusters.fold(0, |hash, cluster| mixed(hash ^ contents[cluster as usize]));
        self.tried.insert(hash)
    }
}

/// All merges of two linked clusters, those that cost least first.
struct Merges {
    sorted: Vec<(f64, ClusterId, ClusterId)>,
}

impl Merges {
    fn new<O: Objective>(quotient: &Graph<'_>, task: &Task<'_, O>) -> Self {
        let objective = task.objective;
        let is_allowed = |a: ClusterId, b: ClusterId| {
            task.mass(quotient, a) + task.mass(quotient, b) <= task.ceiling
                && !quotient.apart().is_some_and(|apart| apart.are_apart(a, b))
        };
        let sums = |cluster: ClusterId| quotient.node_sums::<O>(cluster);
        let gain = |a: ClusterId, b: ClusterId, weight: f64| objective.merge_gain(&sums(a), &sums(b), weight);
        let mut sorted: Vec<_> = quotient
            .edges()
            .filter(|&(a, b, _)| a != b && is_allowed(a, b))
            .map(|(a, b, weight)| (gain(a, b, weight), a, b))
            .collect();
        sorted.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        Self { sorted }
    }
}
