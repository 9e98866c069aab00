//! Split-merge: cut one cluster in two, make one of two others.
//!
//! This is the move that coordinate descent lacks: it repairs a wrong allocation of clusters to the regions of a
//! graph, which no sequence of improving single moves does.

use std::collections::{HashMap, HashSet};

use rayon::prelude::*;

use crate::descent::Proof;
use crate::error::Result;
use crate::graph::{Graph, Parts};
use crate::partition::{ClusterId, density};
use crate::random::mixed;

use super::complete::Split;
use super::task::{Solution, Task};

/// Splits tried one by one, when no pair of a split and a merge gains by itself.
const MOST_TRIALS: usize = 4;
/// A pair that loses more than this is not tried.
const WORST_LOSS: f64 = 0.02;

/// Splits of clusters, by what is in the cluster.
#[derive(Default)]
struct SplitCache {
    known: HashMap<u64, Option<Split>>,
}

/// Rounds of splits and merges, as long as they gain, `most_rounds` at most. Never worse than the start.
pub(super) fn split_merge(
    graph: &Graph<'_>,
    start: Solution,
    most_rounds: usize,
    task: &Task<'_>,
    seed: u64,
) -> Result<Solution> {
    let mut best = start;
    let mut cache = SplitCache::default();
    if task.n_clusters < 2 {
        return Ok(best);
    }
    for round in 0..most_rounds {
        let exchanges = cache.exchanges(graph, &best.labels, task)?;
        let gaining = compatible(&exchanges);
        let mut trials: Vec<Vec<&Exchange>> = Vec::new();
        if !gaining.is_empty() {
            trials.push(gaining);
        }
        trials.extend(exchanges.iter().take(MOST_TRIALS).filter(|x| x.gain > -WORST_LOSS).map(|x| vec![x]));
        let mut improved = false;
        for trial in trials {
            if task.is_stopped() {
                return Ok(best);
            }
            let labels = exchanged(&best.labels, &trial);
            let found = task.improve(graph, labels, Proof::Full, seed.wrapping_add(round as u64))?;
            if found.is_better_than(&best) {
                improved =
                    found.objective > best.objective + 1e-9 || found.is_feasible() != best.is_feasible();
                best = found;
                break;
            }
        }
        if !improved {
            break;
        }
    }
    Ok(best)
}

/// A split, and a merge that makes up for it.
struct Exchange {
    split: ClusterId,
    moved: Vec<u32>,
    /// The clusters that become one; the second's number goes to the moved nodes.
    merged: (ClusterId, ClusterId),
    gain: f64,
}

/// The best exchanges that touch no cluster twice and gain.
fn compatible(exchanges: &[Exchange]) -> Vec<&Exchange> {
    let mut touched: HashSet<ClusterId> = HashSet::new();
    let mut chosen = Vec::new();
    for exchange in exchanges.iter().filter(|exchange| exchange.gain > 0.0) {
        let clusters = [exchange.split, exchange.merged.0, exchange.merged.1];
        if clusters.iter().all(|cluster| !touched.contains(cluster)) {
            touched.extend(clusters);
            chosen.push(exchange);
        }
    }
    chosen
}

/// Labels after some exchanges that touch different clusters.
fn exchanged(labels: &[ClusterId], exchanges: &[&Exchange]) -> Vec<ClusterId> {
    let mut labels = labels.to_vec();
    for exchange in exchanges {
        let (kept, vacated) = exchange.merged;
        // The vacated number goes to the moved nodes.
        for label in &mut labels {
            if *label == vacated {
                *label = kept;
            }
        }
        for &node in &exchange.moved {
            labels[node as usize] = vacated;
        }
    }
    labels
}

impl SplitCache {
    /// The best exchange for every cluster that can be split, those that gain most first.
    fn exchanges(
        &mut self,
        graph: &Graph<'_>,
        labels: &[ClusterId],
        task: &Task<'_>,
    ) -> Result<Vec<Exchange>> {
        let n_clusters = task.n_clusters;
        let mut content = vec![0u64; n_clusters];
        for (node, &label) in labels.iter().enumerate() {
            content[label as usize] = content[label as usize].wrapping_add(mixed(node as u64));
        }
        let parts = Parts::new(graph, labels, n_clusters)?;
        let unknown: Vec<ClusterId> = (0..n_clusters as ClusterId)
            .filter(|&cluster| !self.known.contains_key(&content[cluster as usize]))
            .collect();
        let found: Vec<(u64, Option<Split>)> = unknown
            .par_iter()
            .map(|&cluster| Ok((content[cluster as usize], Split::find(&parts, cluster, task)?)))
            .collect::<Result<_>>()?;
        if task.is_stopped() {
            return Ok(Vec::new());
        }
        self.known.extend(found);

        let quotient = graph.contract(labels, n_clusters)?;
        let merges = Merges::new(&quotient);
        let exchange = |cluster: ClusterId| {
            let split = self.known.get(&content[cluster as usize])?.as_ref()?;
            merges.best_without(cluster).map(|(gain, a, b)| Exchange {
                split: cluster,
                moved: split.moved.clone(),
                merged: (a, b),
                gain: split.gain + gain,
            })
        };
        let mut exchanges: Vec<Exchange> = (0..n_clusters as ClusterId).filter_map(exchange).collect();
        exchanges.sort_by(|a, b| b.gain.total_cmp(&a.gain).then(a.split.cmp(&b.split)));
        Ok(exchanges)
    }
}

/// All merges of two linked clusters, those that cost least first.
struct Merges {
    sorted: Vec<(f64, ClusterId, ClusterId)>,
}

impl Merges {
    fn new(quotient: &Graph<'_>) -> Self {
        let gain = |a: ClusterId, b: ClusterId, weight: f64| {
            let (own_a, own_b) = (quotient.self_loop(a), quotient.self_loop(b));
            let (d, e) = (quotient.degree(a), quotient.degree(b));
            density(own_a + own_b + 2.0 * weight, d + e) - density(own_a, d) - density(own_b, e)
        };
        let mut sorted: Vec<_> = quotient
            .edges()
            .filter(|(a, b, _)| a != b)
            .map(|(a, b, weight)| (gain(a, b, weight), a, b))
            .collect();
        sorted.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        Self { sorted }
    }

    fn best_without(&self, cluster: ClusterId) -> Option<(f64, ClusterId, ClusterId)> {
        self.sorted.iter().copied().find(|&(_, a, b)| a != cluster && b != cluster)
    }
}
