//! Label propagation with bounded clusters: the first step down for graphs that pairs coarsen badly.
//!
//! Where weights are all alike, the best partner of a node is one of many equals, and next to a hub hardly anyone
//! is picked back. Here every node joins the cluster it is most linked to, again and again, as long as that cluster
//! has room; the votes of all its neighbours tell what a single edge does not.

use crate::blocks::Blocks;
use crate::graph::{NodeId, RowSums};
use crate::partition::ClusterId;
use crate::progress::{Clock, Progress, Stage, Stopped};
use crate::random::mixed;
use crate::short_rows::{SHORT_ROW, count_pairs};

use super::groups::Groups;
use super::quotient::Linked;

/// Nodes between two reports to the clock.
const NODES_PER_REPORT: usize = 4096;
/// A sweep that moves fewer than one node in this many is the last.
const SETTLED: usize = 50;

/// How labels spread.
#[derive(Clone, Copy)]
pub(crate) struct Propagation<'a> {
    /// Mass that no cluster exceeds, unless it is a single node.
    pub(crate) max_mass: f64,
    pub(crate) max_sweeps: usize,
    /// Only nodes with the same label come together.
    pub(crate) within: Option<&'a [u32]>,
    pub(crate) seed: u64,
    /// From this many links on, nodes choose in parallel, block by block.
    pub(crate) min_entries_for_blocks: usize,
}

impl Propagation<'_> {
    /// Clusters of `graph`, whose nodes have the given masses.
    pub(crate) fn run(
        &self,
        graph: &impl Linked,
        masses: &[f64],
        clock: &Clock<'_>,
    ) -> Result<Groups, Stopped> {
        let n_nodes = graph.n_nodes();
        let mut spreading = Spreading {
            propagation: self,
            graph,
            labels: (0..n_nodes as ClusterId).collect(),
            cluster_masses: masses.to_vec(),
            masses,
            is_bound: graph.bound_nodes(),
            sweep: 0,
        };
        let mut active = vec![true; n_nodes];
        let blocks = Blocks::of(n_nodes, graph.n_links(), self.min_entries_for_blocks);
        let mut votes = Votes::new(n_nodes);
        let mut progress = Progress::new(Stage::Coarsening, n_nodes as u64);
        for sweep in 0..self.max_sweeps {
            spreading.sweep = sweep;
            let n_moves = match &blocks {
                None => spreading.one_by_one(&mut active, &mut votes, &mut progress, clock)?,
                Some(blocks) => spreading.by_blocks(blocks, &mut active, &mut votes, &mut progress, clock)?,
            };
            if n_moves < n_nodes / SETTLED {
                break;
            }
        }
        Ok(Groups::numbered(spreading.labels))
    }
}

/// What the neighbours of some nodes vote for.
struct Votes {
    labels: Vec<ClusterId>,
    /// One for each of `labels`, unless all are 1.
    weights: Vec<f64>,
    /// Where those of each node end.
    ends: Vec<usize>,
    sums: RowSums,
    arch: pulp::Arch,
}

impl Votes {
    fn new(n_labels: usize) -> Self {
        let (labels, weights, ends) = (Vec::new(), Vec::new(), Vec::new());
        Self { labels, weights, ends, sums: RowSums::new(n_labels), arch: pulp::Arch::new() }
    }
}

/// Labels on their way.
struct Spreading<'p, G> {
    propagation: &'p Propagation<'p>,
    graph: &'p G,
    labels: Vec<ClusterId>,
    masses: &'p [f64],
    cluster_masses: Vec<f64>,
    /// Nodes that are apart from others keep their labels, so that they never come together; empty where there are none.
    is_bound: Vec<bool>,
    sweep: usize,
}

impl<G: Linked> Spreading<'_, G> {
    /// One visit to every node that is active; tells how many moved.
    fn one_by_one(
        &mut self,
        active: &mut [bool],
        votes: &mut Votes,
        progress: &mut Progress,
        clock: &Clock<'_>,
    ) -> Result<usize, Stopped> {
        let mut n_moves = 0;
        for node in 0..active.len() {
            if node.is_multiple_of(NODES_PER_REPORT) {
                progress.done = node as u64;
                clock.report(progress)?;
            }
            if std::mem::take(&mut active[node])
                && let Some(label) = self.choice(node as NodeId, votes)
            {
                self.join(node as NodeId, label, active);
                n_moves += 1;
            }
        }
        Ok(n_moves)
    }

    /// As [`one_by_one`](Self::one_by_one): the nodes of a block choose side by side, and join in order.
    fn by_blocks(
        &mut self,
        blocks: &Blocks<Votes>,
        active: &mut [bool],
        votes: &mut Votes,
        progress: &mut Progress,
        clock: &Clock<'_>,
    ) -> Result<usize, Stopped> {
        let (mut n_moves, n_nodes) = (0, active.len());
        for block in blocks.ranges() {
            progress.done = block.start as u64;
            clock.report(progress)?;
            let choose = |nodes: &[NodeId], votes: &mut Votes, chosen: &mut Vec<(NodeId, ClusterId)>| {
                self.choose(nodes, votes, |node, label| chosen.push((node, label)));
            };
            let chosen = blocks.ask_together(block, active, || Votes::new(n_nodes), choose);
            for (node, label) in chosen {
                // Awake again: a neighbour has joined another cluster since.
                let is_stale = std::mem::take(&mut active[node as usize]);
                let label = if is_stale { self.choice(node, votes) } else { Some(label) };
                if let Some(label) = label.filter(|&label| self.has_room(label, node)) {
                    self.join(node, label, active);
                    n_moves += 1;
                }
            }
        }
        Ok(n_moves)
    }

    /// The cluster that a node is most linked to, if that is another one. Staying wins against equals; among others a
    /// hash decides.
    fn choice(&self, node: NodeId, votes: &mut Votes) -> Option<ClusterId> {
        let mut choice = None;
        self.choose(&[node], votes, |_, label| choice = Some(label));
        choice
    }

    /// Calls `chosen` with the [choices](Self::choice) of nodes.
    fn choose(&self, nodes: &[NodeId], votes: &mut Votes, mut chosen: impl FnMut(NodeId, ClusterId)) {
        self.gather(nodes, votes);
        let Votes { labels, weights, ends, sums, arch } = votes;
        let mut start = 0;
        for (&node, &end) in nodes.iter().zip(&*ends) {
            let given =
                Given { labels: &labels[start..end], weights: weights.get(start..end).unwrap_or(&[]) };
            start = end;
            let salt = mixed(self.propagation.seed ^ u64::from(node) << 8 ^ self.sweep as u64);
            let most = if weights.is_empty() && given.labels.len() <= SHORT_ROW {
                self.most_frequent(node, given.labels, salt, *arch)
            } else {
                Most::Unknown
            };
            let label = match most {
                Most::Own => None,
                Most::Other(label) => Some(label),
                Most::Unknown => self.most_linked(node, given, salt, sums),
            };
            if let Some(label) = label
                && !self.is_bound.get(node as usize).is_some_and(|&is_bound| is_bound)
            {
                chosen(node, label);
            }
        }
    }

    /// The labels of the neighbours of nodes. They come from anywhere in memory: all are on their way before the first is
    /// looked at.
    fn gather(&self, nodes: &[NodeId], votes: &mut Votes) {
        let Votes { labels, weights, ends, .. } = votes;
        labels.clear();
        weights.clear();
        ends.clear();
        let within = self.propagation.within;
        let is_unit = self.graph.is_unit();
        for &node in nodes {
            self.graph.for_each_link(node, |neighbor, weight| {
                if within.is_none_or(|within| within[node as usize] == within[neighbor as usize]) {
                    labels.push(self.labels[neighbor as usize]);
                    if !is_unit {
                        weights.push(weight);
                    }
                }
            });
            ends.push(labels.len());
        }
    }

    /// As [`choice`](Self::choice), where links have no weights and are few: by how often each label is there.
    fn most_frequent(&self, node: NodeId, labels: &[ClusterId], salt: u64, arch: pulp::Arch) -> Most {
        let own = self.labels[node as usize];
        let mut counts = [0; SHORT_ROW];
        arch.dispatch(|| count_pairs(labels, &mut counts, |other, label| other == label));
        let counted = || labels.iter().zip(&counts);
        let (mut own_count, mut most) = (0, 0);
        for (&label, &count) in counted() {
            own_count += i32::from(label == own);
            most = most.max(if label == own { 0 } else { count });
        }
        if most <= own_count {
            return Most::Own;
        }
        let mut best = None;
        for (&label, _) in counted().filter(|&(&label, &count)| count == most && label != own) {
            let tie = mixed(salt ^ u64::from(label));
            // Whether there is room is looked up far away in memory.
            if best.is_none_or(|(least, _)| tie < least) && self.has_room(label, node) {
                best = Some((tie, label));
            }
        }
        best.map_or(Most::Unknown, |(_, label)| Most::Other(label))
    }

    /// As [`choice`](Self::choice), for any links.
    fn most_linked(
        &self,
        node: NodeId,
        given: Given<'_>,
        salt: u64,
        sums: &mut RowSums,
    ) -> Option<ClusterId> {
        let own = self.labels[node as usize];
        let mut own_link = 0.0;
        sums.expect(|| given.labels.len());
        for (place, &label) in given.labels.iter().enumerate() {
            let weight = given.weights.get(place).copied().unwrap_or(1.0);
            if label == own {
                own_link += weight;
            } else {
                sums.add(label, weight);
            }
        }
        let tie = |label: ClusterId| mixed(salt ^ u64::from(label));
        let mut best = (own_link, own);
        sums.for_each(|label, link| {
            let is_better = link > best.0 || (link == best.0 && best.1 != own && tie(label) < tie(best.1));
            if is_better && self.has_room(label, node) {
                best = (link, label);
            }
        });
        sums.clear();
        (best.1 != own).then_some(best.1)
    }

    fn has_room(&self, label: ClusterId, node: NodeId) -> bool {
        self.cluster_masses[label as usize] + self.masses[node as usize] <= self.propagation.max_mass
    }

    fn join(&mut self, node: NodeId, label: ClusterId, active: &mut [bool]) {
        let mass = self.masses[node as usize];
        let own = std::mem::replace(&mut self.labels[node as usize], label);
        self.cluster_masses[own as usize] -= mass;
        self.cluster_masses[label as usize] += mass;
        self.graph.for_each_link(node, |neighbor, _| active[neighbor as usize] = true);
    }
}

/// The votes of one node's neighbours.
#[derive(Clone, Copy)]
struct Given<'v> {
    labels: &'v [ClusterId],
    /// One for each of `labels`, or none where all are 1.
    weights: &'v [f64],
}

/// What most neighbours vote for.
enum Most {
    Own,
    Other(ClusterId),
    /// Those that most vote for have no room, or it was not asked.
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Result;
    use crate::random::Random;
    use crate::synthetic::Planted;

    /// However a choice is made, it is the same one.
    #[test]
    fn frequent_labels_are_those_most_linked() -> Result<()> {
        let graph = Planted::new(3_000, 30).graph(1)?.graph;
        let n_nodes = graph.n_nodes();
        let mut random = Random::new(1);
        // From all alone to few clusters; from hardly any room to plenty.
        for (n_labels, max_mass) in [(3_000, 45.0), (600, 140.0), (100, 700.0), (30, 1e9)] {
            let labels: Vec<ClusterId> = (0..n_nodes).map(|_| random.below(n_labels)).collect();
            let mut cluster_masses = vec![0.0; n_nodes];
            for (&label, degree) in labels.iter().zip(graph.degrees()) {
                cluster_masses[label as usize] += degree;
            }
            let propagation = Propagation {
                max_mass,
                max_sweeps: 1,
                within: None,
                seed: 5,
                min_entries_for_blocks: usize::MAX,
            };
            let spreading = Spreading {
                propagation: &propagation,
                graph: &graph,
                labels,
                masses: graph.degrees(),
                cluster_masses,
                is_bound: Vec::new(),
                sweep: 2,
            };
            let mut votes = Votes::new(n_nodes);
            let mut n_known = 0;
            for node in 0..n_nodes as NodeId {
                spreading.gather(&[node], &mut votes);
                let given = Given { labels: &votes.labels, weights: &votes.weights };
                let linked = spreading.most_linked(node, given, 7, &mut votes.sums);
                match spreading.most_frequent(node, given.labels, 7, votes.arch) {
                    Most::Own => assert_eq!(linked, None),
                    Most::Other(label) => assert_eq!(linked, Some(label)),
                    Most::Unknown => continue,
                }
                n_known += 1;
            }
            assert!(n_known > n_nodes / 4, "{n_known} choices for {n_labels} labels");
        }
        Ok(())
    }
}
