//! How many clusters a graph shows, and which: pieces that are clearly apart.
//!
//! Two pieces are apart if the boundary between them is clearly thinner than the thinnest cut through either of them; thinner in N-Cut
//! of the two alone, and than a cloud of points without clusters would show. Communities of modularity are the first
//! pieces, each looked into for finer ones; pieces that are not apart are merged. So neither a range nor a resolution
//! matters. In networks whose degrees differ much there are no such boundaries at all: there the communities count, if
//! their modularity is clearly above that of a random graph with the same degrees.

mod halves;
mod boundary;
mod chance;
mod sparser;
mod merging;
mod given;

use crate::communities::{Communities, Thoroughness};
use crate::error::Result;
use crate::graph::{Graph, LEFT_OUT, NodeId, Parts};
use crate::limits::Limits;
use crate::metrics::{CutScore, Label};
use crate::parallel::prelude::*;
use crate::progress::{Clock, Progress, Stage, Stopped};
use crate::random::mix;
pub(crate) use chance::rewired;
pub(crate) use given::{Division, divisions};
use merging::{Apart, Merging, Sureness};
use sparser::sparser;

/// Pieces of fewer nodes are not looked into.
const MIN_NODES_TO_LOOK_INTO: usize = 16;
/// How sure a boundary inside a community must be, in standard deviations.
const SURE: f64 = 3.0;
/// Clusters of a lower share of the volume, over the mean, are crumbs and not counted.
const MIN_SHARE: f64 = 0.05;
/// In a graph of k neighbours no node has less than half the mean number. Where so many have, it is a network of another kind.
const UNEVEN: f64 = 0.25;
/// A random graph has a modularity of `0.97 / sqrt(mean degree)` (Reichardt, Bornholdt 2006); pieces with no more are left whole.
const RANDOM_MODULARITY: f64 = 0.97;
const ABOVE_RANDOM: f64 = 1.15;
/// Modularity clearly above that of a random graph with the same degrees.
pub(crate) const ABOVE_CHANCE: f64 = 1.2;
/// Where nothing shows, so many times fewer edges are looked at, the strongest of every node: neighbours that reach beyond small
/// clusters hide them.
const FEWER_EDGES: [usize; 3] = [2, 4, 8];
/// Larger graphs are not compared with a random one, but with its estimate.
const MAX_ENTRIES_TO_REWIRE: usize = 40_000_000;

/// The rule.
pub(crate) struct Separation<'a> {
    pub(crate) limits: &'a Limits,
    pub(crate) seed: u64,
}

/// What a graph shows.
pub(crate) struct Separated {
    /// How many clusters.
    pub(crate) n_clusters: usize,
    pub(crate) evidence: Evidence,
}

/// Why so many.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Evidence {
    /// The boundaries between clusters are so many times thinner than cuts through them, at the least. For one cluster: so many
    /// times at the most.
    Boundaries(f64),
    /// No such boundaries, but communities with a modularity above that of chance.
    Communities { modularity: f64, by_chance: f64 },
}

impl Separation<'_> {
    /// Counts the clusters of a graph, all its components together. When the clock says stop, pieces not compared by
    /// then count as clusters.
    pub(crate) fn count(&self, graph: &Graph<'_>, clock: &Clock<'_>) -> Result<Separated> {
        let found = self.count_in(graph, clock)?;
        for divisor in FEWER_EDGES {
            if found.n_clusters > 1 || clock.is_stopped() {
                break;
            }
            let Some(sparse) = sparser(graph, divisor)? else { break };
            let finer = self.count_in(&sparse, clock)?;
            if finer.n_clusters > 1 && !clock.is_stopped() {
                return Ok(finer);
            }
        }
        Ok(found)
    }

    fn count_in(&self, graph: &Graph<'_>, clock: &Clock<'_>) -> Result<Separated> {
        let communities = self.communities(graph, Thoroughness::Run, clock)?;
        if clock.is_stopped() {
            return Ok(Separated::new(graph, &communities, Evidence::Boundaries(1.0)));
        }
        let pieces = self.all_looked_into(graph, &communities, clock)?;
        let apart = Merging::new(graph, pieces, clock)?.run(Sureness::ByDiscoveries)?;
        let found = Separated::new(graph, &apart.members, Evidence::Boundaries(libm::exp(apart.excess)));
        if is_uneven(graph) && !clock.is_stopped() {
            let by_modularity = self.by_modularity(graph, &communities, clock)?;
            return Ok(by_modularity.filter(|other| other.n_clusters > found.n_clusters).unwrap_or(found));
        }
        Ok(found)
    }

    /// Communities of nodes with edges.
    fn communities(
        &self,
        graph: &Graph<'_>,
        thoroughness: Thoroughness,
        clock: &Clock<'_>,
    ) -> Result<Vec<Vec<NodeId>>> {
        let (resolution, seed) = (None, mix(self.seed, 1));
        let asked = Communities { resolution, thoroughness, seed, limits: self.limits };
        let labels = asked.find(graph, None, clock)?.labels;
        let n_labels = labels.iter().max().map_or(0, |&last| last as usize + 1);
        let mut members: Vec<Vec<NodeId>> = vec![Vec::new(); n_labels];
        for (node, &label) in (0..).zip(&labels) {
            if graph.degree(node) > 0.0 {
                members[label as usize].push(node);
            }
        }
        members.retain(|nodes| !nodes.is_empty());
        Ok(members)
    }

    /// Groups of nodes, all with edges, or the pieces that they consist of.
    fn all_looked_into(
        &self,
        graph: &Graph<'_>,
        groups: &[Vec<NodeId>],
        clock: &Clock<'_>,
    ) -> Result<Vec<Vec<NodeId>>> {
        let mut labels = vec![LEFT_OUT; graph.n_nodes()];
        for (group, nodes) in (0..).zip(groups) {
            for &node in nodes {
                labels[node as usize] = group;
            }
        }
        let parts = Parts::new(graph, &labels, groups.len())?;
        let pieces: Result<Vec<Vec<Vec<NodeId>>>> = (0..groups.len() as u32)
            .into_par_iter()
            .map(|group| {
                let nodes = parts.nodes(group);
                if nodes.len() < MIN_NODES_TO_LOOK_INTO || !has_time(clock, group as usize, groups.len()) {
                    return Ok(vec![nodes.to_vec()]);
                }
                let mut pieces = self.looked_into(&parts.induced(group)?, clock)?;
                for node in pieces.iter_mut().flatten() {
                    *node = nodes[*node as usize];
                }
                Ok(pieces)
            })
            .collect();
        Ok(pieces?.into_iter().flatten().collect())
    }

    /// All of a graph, or the pieces it consists of: modularity puts small clusters of a large graph together.
    fn looked_into(&self, part: &Graph<'_>, clock: &Clock<'_>) -> Result<Vec<Vec<NodeId>>> {
        let whole = || Ok(vec![(0..part.n_nodes() as NodeId).collect()]);
        let finer = self.communities(part, Thoroughness::Cycle, clock)?;
        let modularity = modularity(part, &finer)?;
        let mean_degree = part.columns().len() as f64 / part.n_nodes() as f64;
        if finer.len() < 2 || modularity < ABOVE_RANDOM * RANDOM_MODULARITY / mean_degree.sqrt() {
            return whole();
        }
        let Apart { members, .. } = Merging::new(part, finer, clock)?.run(Sureness::Fixed(SURE))?;
        if members.len() < 2 || clock.is_stopped() {
            return whole();
        }
        self.all_looked_into(part, &members, clock)
    }

    /// The number of communities, if they are more than chance.
    fn by_modularity(
        &self,
        graph: &Graph<'_>,
        communities: &[Vec<NodeId>],
        clock: &Clock<'_>,
    ) -> Result<Option<Separated>> {
        let found = modularity(graph, communities)?;
        let n_entries = graph.columns().len();
        let by_chance = if n_entries <= MAX_ENTRIES_TO_REWIRE {
            let random = rewired(graph, mix(self.seed, 2))?;
            modularity(&random, &self.communities(&random, Thoroughness::Run, clock)?)?
        } else {
            RANDOM_MODULARITY / (n_entries as f64 / graph.n_nodes() as f64).sqrt()
        };
        let evidence = Evidence::Communities { modularity: found, by_chance };
        Ok((found >= ABOVE_CHANCE * by_chance).then(|| Separated::new(graph, communities, evidence)))
    }
}

impl Separated {
    fn new(graph: &Graph<'_>, members: &[Vec<NodeId>], evidence: Evidence) -> Self {
        let mut volumes: Vec<f64> =
            members.iter().map(|nodes| nodes.iter().map(|&node| graph.degree(node)).sum::<f64>()).collect();
        volumes.sort_by(|a, b| b.total_cmp(a));
        let total = graph.volume();
        let is_enough = |&(number, volume): &(usize, f64)| volume * number as f64 >= MIN_SHARE * total;
        let n_clusters = (1..).zip(volumes).filter(is_enough).map(|(number, _)| number).max().unwrap_or(1);
        Self { n_clusters, evidence }
    }
}

/// Whether there is time left, after a look at the clock.
fn has_time(clock: &Clock<'_>, done: usize, total: usize) -> bool {
    let progress = Progress { done: done as u64, ..Progress::new(Stage::Search, total as u64) };
    !matches!(clock.report(&progress), Err(Stopped(_)))
}

/// Modularity that a random graph with as many neighbours of the nodes has (Reichardt, Bornholdt 2007), estimated.
pub(crate) fn random_modularity(graph: &Graph<'_>) -> f64 {
    let counts = || graph.offsets().windows(2).map(|row| (row[1] - row[0]) as f64);
    let (roots, total) = (counts().map(f64::sqrt).sum::<f64>(), counts().sum::<f64>());
    if total > 0.0 { (RANDOM_MODULARITY * roots / total).min(1.0) } else { 0.0 }
}

/// Whether many nodes have much fewer neighbours than the mean.
pub(crate) fn is_uneven(graph: &Graph<'_>) -> bool {
    let offsets = graph.offsets();
    let counts = || offsets.windows(2).map(|row| row[1] - row[0]).filter(|&count| count > 0);
    let (n_nodes, n_entries) = (counts().count() as f64, graph.columns().len() as f64);
    let n_few = counts().filter(|&count| 2.0 * count as f64 * n_nodes < n_entries).count();
    n_few as f64 > UNEVEN * n_nodes
}

fn modularity(graph: &Graph<'_>, members: &[Vec<NodeId>]) -> Result<f64> {
    // Isolated nodes change nothing; they only must have a label.
    let mut labels: Vec<Label> = vec![0; graph.n_nodes()];
    for (label, nodes) in (0..).zip(members) {
        for &node in nodes {
            labels[node as usize] = label;
        }
    }
    Ok(CutScore::new(graph, &labels)?.modularity)
}
