//! Label propagation with bounded clusters: the first step down for graphs that pairs coarsen badly.
//!
//! Where weights are all alike, the best partner of a node is one of many equals, and next to a hub hardly anyone
//! is picked back. Here every node joins the cluster it is most linked to, again and again, as long as that cluster
//! has room; the votes of all its neighbours tell what a single edge does not.

use crate::blocks::Blocks;
use crate::graph::{NodeId, RowSums};
use crate::partition::ClusterId;
use crate::progress::{Progress, Stage, Watch};
use crate::random::mixed;
use crate::short_rows::{SHORT_ROW, count_pairs};

use super::greedy::Groups;
use super::quotient::Linked;

/// Nodes between two calls of the observer.
const NODES_PER_REPORT: usize = 4096;
/// A sweep that moves fewer than one node in this many is the last.
const SETTLED: usize = 50;

/// How labels spread.
#[derive(Clone, Copy)]
pub(crate) struct Propagation<'a> {
    /// Volume that no cluster exceeds, unless it is a single node.
    pub(crate) largest: f64,
    pub(crate) max_sweeps: usize,
    /// Only nodes with the same label come together.
    pub(crate) within: Option<&'a [u32]>,
    pub(crate) seed: u64,
}

impl Propagation<'_> {
    /// Clusters of `graph`; `None` when the observer said stop.
    pub(crate) fn run(&self, graph: &impl Linked, watch: &dyn Watch) -> Option<Groups> {
        let n_nodes = graph.n_nodes();
        let mut spreading = Spreading {
            propagation: self,
            graph,
            labels: (0..n_nodes as ClusterId).collect(),
            volumes: graph.degrees().to_vec(),
            sweep: 0,
        };
        let mut awake = vec![true; n_nodes];
        let blocks = Blocks::of(n_nodes, graph.n_links());
        let mut votes = Votes::new(n_nodes);
        let mut progress = Progress::new(Stage::Coarsening, n_nodes as u64);
        for sweep in 0..self.max_sweeps {
            spreading.sweep = sweep;
            let n_moves = match &blocks {
                None => spreading.one_by_one(&mut awake, &mut votes, &mut progress, watch)?,
                Some(blocks) => spreading.by_blocks(blocks, &mut awake, &mut votes, &mut progress, watch)?,
            };
            if n_moves < n_nodes / SETTLED {
                break;
            }
        }
        Some(Groups::numbered(spreading.labels))
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
    volumes: Vec<f64>,
    sweep: usize,
}

impl<G: Linked> Spreading<'_, G> {
    /// One visit to every node that is awake; tells how many moved, `None` when the observer said stop.
    fn one_by_one(
        &mut self,
        awake: &mut [bool],
        votes: &mut Votes,
        progress: &mut Progress,
        watch: &dyn Watch,
    ) -> Option<usize> {
        let mut n_moves = 0;
        for node in 0..awake.len() {
            if node.is_multiple_of(NODES_PER_REPORT) {
                progress.done = node as u64;
                if watch.report(progress).is_break() {
                    return None;
                }
            }
            if std::mem::take(&mut awake[node])
                && let Some(label) = self.choice(node as NodeId, votes)
            {
                self.join(node as NodeId, label, awake);
                n_moves += 1;
            }
        }
        Some(n_moves)
    }

    /// As [`one_by_one`](Self::one_by_one): the nodes of a block choose side by side, and join in order.
    fn by_blocks(
        &mut self,
        blocks: &Blocks<Votes>,
        awake: &mut [bool],
        votes: &mut Votes,
        progress: &mut Progress,
        watch: &dyn Watch,
    ) -> Option<usize> {
        let (mut n_moves, n_nodes) = (0, awake.len());
        for block in blocks.ranges() {
            progress.done = block.start as u64;
            if watch.report(progress).is_break() {
                return None;
            }
            let choose = |nodes: &[NodeId], votes: &mut Votes, chosen: &mut Vec<(NodeId, ClusterId)>| {
                self.choose(nodes, votes, |node, label| chosen.push((node, label)));
            };
            let chosen = blocks.ask_together(block, awake, || Votes::new(n_nodes), choose);
            for (node, label) in chosen {
                // Awake again: a neighbour has joined another cluster since.
                let is_stale = std::mem::take(&mut awake[node as usize]);
                let label = if is_stale { self.choice(node, votes) } else { Some(label) };
                if let Some(label) = label.filter(|&label| self.has_room(label, node)) {
                    self.join(node, label, awake);
                    n_moves += 1;
                }
            }
        }
        Some(n_moves)
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
            if let Some(label) = label {
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
        self.volumes[label as usize] + self.graph.degrees()[node as usize] <= self.propagation.largest
    }

    fn join(&mut self, node: NodeId, label: ClusterId, awake: &mut [bool]) {
        let degree = self.graph.degrees()[node as usize];
        let own = std::mem::replace(&mut self.labels[node as usize], label);
        self.volumes[own as usize] -= degree;
        self.volumes[label as usize] += degree;
        self.graph.for_each_link(node, |neighbor, _| awake[neighbor as usize] = true);
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
        for (n_labels, largest) in [(3_000, 45.0), (600, 140.0), (100, 700.0), (30, 1e9)] {
            let labels: Vec<ClusterId> = (0..n_nodes).map(|_| random.below(n_labels)).collect();
            let mut volumes = vec![0.0; n_nodes];
            for (&label, degree) in labels.iter().zip(graph.degrees()) {
                volumes[label as usize] += degree;
            }
            let propagation = Propagation { largest, max_sweeps: 1, within: None, seed: 5 };
            let spreading = Spreading { propagation: &propagation, graph: &graph, labels, volumes, sweep: 2 };
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
