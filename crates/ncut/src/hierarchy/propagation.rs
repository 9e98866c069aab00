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

/// What the neighbours of a node vote for.
struct Votes {
    given: Vec<(ClusterId, f64)>,
    sums: RowSums,
}

impl Votes {
    fn new(n_labels: usize) -> Self {
        Self { given: Vec::new(), sums: RowSums::new(n_labels) }
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
            let choice = |node, votes: &mut Votes| Some((node, self.choice(node, votes)?));
            let chosen = blocks.ask(block, awake, || Votes::new(n_nodes), choice);
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
        let Propagation { within, seed, .. } = *self.propagation;
        let own = self.labels[node as usize];
        let mut own_link = 0.0;
        // Labels come from anywhere in memory: all are on their way before the first is looked at.
        votes.given.clear();
        self.graph.for_each_link(node, |neighbor, weight| {
            if within.is_none_or(|within| within[node as usize] == within[neighbor as usize]) {
                votes.given.push((self.labels[neighbor as usize], weight));
            }
        });
        votes.sums.expect(|| votes.given.len());
        for &(label, weight) in &votes.given {
            if label == own {
                own_link += weight;
            } else {
                votes.sums.add(label, weight);
            }
        }
        let salt = mixed(seed ^ u64::from(node) << 8 ^ self.sweep as u64);
        let tie = |label: ClusterId| mixed(salt ^ u64::from(label));
        let mut best = (own_link, own);
        votes.sums.for_each(|label, link| {
            let is_better = link > best.0 || (link == best.0 && best.1 != own && tie(label) < tie(best.1));
            if is_better && self.has_room(label, node) {
                best = (link, label);
            }
        });
        votes.sums.clear();
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
