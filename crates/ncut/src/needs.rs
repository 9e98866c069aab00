//! How much memory clustering takes, estimated from the size of the graph and what is asked for.
//!
//! Upper estimates: `tests/needs.rs` compares them with peaks, `examples/memory.rs` measures larger graphs. Graphs without
//! clusters to be found take the most, because nothing makes their coarse graphs smaller; a planted graph may take a
//! third of it.

use crate::error::Result;
use crate::graph::Graph;
use crate::memory;
use crate::objective::ObjectiveKind;
use crate::progress::Clock;
use crate::settings::{CountRule, Ncut, Preset};

/// Bytes that the search takes for a node: labels, groups, sums and queues of some levels, values by which nodes look alike;
/// and with preset `best` the
/// populations that were, 60 of them.
const SEARCH_PER_NODE: u64 = 170;
const POPULATIONS_PER_NODE: u64 = 320;
/// Bytes that the search takes for an entry of a graph that is not large: coarse graphs, as they are made and as they are
/// kept, two of them at a time; and what every further thread takes that makes one.
const SEARCH_PER_ENTRY: u64 = 200;
const SEARCH_PER_THREAD_AND_ENTRY: u64 = 40;
/// Threads that make solutions side by side.
const MAX_SIDE_BY_SIDE: u64 = 4;
/// Of a large graph there is one other of its size at the most, with narrow weights.
const SEARCH_PER_FURTHER_ENTRY: u64 = 12;

/// Bytes that communities take for a node: labels, groups, sums and queues of all levels, of every population; for an entry
/// where runs go side by side, and for one of a large graph: coarse graphs, as they are made and as they are kept.
const COMMUNITIES_PER_NODE: u64 = 200;
const COMMUNITIES_PER_ENTRY: u64 = 200;
const COMMUNITIES_PER_FURTHER_ENTRY: u64 = 32;

/// Bytes that comparing pieces takes for a node and for an entry.
const COUNT_PER_NODE: u64 = 60;
const COUNT_PER_ENTRY: u64 = 16;

/// Bytes that the paper's solver takes for a node, for an entry, and for a link of the clusters that it merges in pairs.
const PAPER_PER_NODE: u64 = 140;
const PAPER_PER_ENTRY: u64 = 10;
const PAPER_PER_LINK: u64 = 90;
/// It merges in pairs from the last level with more clusters than asked for: so many times as many, at the most seen.
const PAPER_SLOTS_PER_CLUSTER: u64 = 40;

/// Bytes that constraints take for a node and for an entry: nodes that are together become one, in a graph of its own.
const CONSTRAINED_PER_NODE: u64 = 120;
const CONSTRAINED_PER_ENTRY: u64 = 40;

/// What helps when a graph is too large for the memory.
const REMEDY: &str = "use preset fast with fewer clusters, or a machine with more memory";

impl Ncut {
    /// Bytes of memory that clustering `graph` takes beyond the graph itself: an upper estimate, from the numbers of
    /// nodes, entries and clusters and the preset.
    ///
    /// ```
    /// use ncut::{Graph, Ncut};
    /// let graph = Graph::from_edges(4, [(0, 1, 5.0), (1, 2, 0.1), (2, 3, 5.0)])?;
    /// assert!(Ncut::new(2).memory_needed(&graph) < 1 << 25);
    /// # Ok::<(), ncut::Error>(())
    /// ```
    pub fn memory_needed(&self, graph: &Graph<'_>) -> u64 {
        match self.is_auto {
            true if self.count_rule == CountRule::Gap => self.memory_to_choose(graph, Self::MAX_SUGGESTED),
            true => {
                self.memory_to_count(graph).max(self.memory_to_solve(graph, self.preset, Self::MAX_SUGGESTED))
            }
            false => self.memory_to_solve(graph, self.preset, self.n_clusters),
        }
    }

    /// Refuses a graph that is too large for the memory that the clock allows.
    pub(crate) fn check_memory(&self, graph: &Graph<'_>, clock: &Clock<'_>) -> Result<()> {
        memory::check(clock, "clustering the graph", self.memory_needed(graph), REMEDY)
    }

    /// The same for [`choose`](Self::choose) with up to `n_clusters`.
    pub(crate) fn check_memory_to_choose(
        &self,
        graph: &Graph<'_>,
        n_clusters: usize,
        clock: &Clock<'_>,
    ) -> Result<()> {
        let needed = self.memory_to_choose(graph, n_clusters);
        memory::check(clock, "comparing numbers of clusters", needed, "ask for fewer numbers")
    }

    fn memory_to_choose(&self, graph: &Graph<'_>, n_clusters: usize) -> u64 {
        let preset = if self.preset == Preset::Paper { Preset::Paper } else { Preset::Fast };
        let to_solve = self.memory_to_solve(graph, preset, n_clusters + 1).max(self.memory_to_solve(
            graph,
            self.preset,
            n_clusters,
        ));
        let to_solve = to_solve.max(self.memory_to_count(graph));
        // The labels of every number are kept.
        let of_labels = 4 * (graph.n_nodes() as u64).saturating_mul(n_clusters as u64 + 1);
        to_solve.max(eigenvalues(graph, n_clusters + 1)).saturating_add(of_labels)
    }

    /// To find communities, and to compare them: which piece and which half every node is in, now and at first, and some pieces
    /// as graphs of their own.
    fn memory_to_count(&self, graph: &Graph<'_>) -> u64 {
        let (n_nodes, n_entries) = (graph.n_nodes() as u64, graph.columns().len() as u64);
        let of_pieces = COUNT_PER_NODE * n_nodes + COUNT_PER_ENTRY * n_entries;
        memory::BASE + self.memory_for_communities(graph) + of_pieces
    }

    fn memory_for_communities(&self, graph: &Graph<'_>) -> u64 {
        let (n_nodes, n_entries) = (graph.n_nodes() as u64, graph.columns().len() as u64);
        let n_first = n_entries.min(self.limits.max_entries_thorough as u64);
        COMMUNITIES_PER_NODE * n_nodes
            + COMMUNITIES_PER_ENTRY * n_first
            + COMMUNITIES_PER_FURTHER_ENTRY * (n_entries - n_first)
    }

    fn memory_to_solve(&self, graph: &Graph<'_>, preset: Preset, n_clusters: usize) -> u64 {
        let (n_nodes, n_entries) = (graph.n_nodes() as u64, graph.columns().len() as u64);
        let of_solver = match preset {
            // Under constraints the search goes on from there.
            _ if self.objective == ObjectiveKind::Modularity && self.constraints.is_empty() => {
                self.memory_for_communities(graph)
            }
            Preset::Paper => {
                let n_slots = (n_clusters as u64).saturating_mul(PAPER_SLOTS_PER_CLUSTER).min(n_nodes);
                let n_links = n_slots.saturating_mul(n_slots).min(n_entries);
                PAPER_PER_NODE * n_nodes + PAPER_PER_ENTRY * n_entries + PAPER_PER_LINK * n_links
            }
            Preset::Fast | Preset::Default | Preset::Best => {
                let max_thorough = self.limits.max_entries_thorough as u64;
                let n_first = n_entries.min(max_thorough);
                let is_recombined = preset == Preset::Best && n_entries <= max_thorough
                    || preset == Preset::Default && n_entries <= self.limits.max_entries_brief as u64;
                let n_further_threads = match is_recombined {
                    true => (crate::parallel::current_num_threads() as u64).clamp(2, MAX_SIDE_BY_SIDE) - 2,
                    false => 0,
                };
                let per_node =
                    SEARCH_PER_NODE + if preset == Preset::Best { POPULATIONS_PER_NODE } else { 0 };
                per_node * n_nodes
                    + (SEARCH_PER_ENTRY + SEARCH_PER_THREAD_AND_ENTRY * n_further_threads) * n_first
                    + SEARCH_PER_FURTHER_ENTRY * (n_entries - n_first)
            }
        };
        // The contracted graph, as it is made; and groups, chances of known labels and numbers of the nodes.
        let of_constraints = match self.constraints.is_empty() {
            true => 0,
            false => CONSTRAINED_PER_NODE * n_nodes + CONSTRAINED_PER_ENTRY * n_entries,
        };
        memory::BASE + of_solver + of_constraints
    }
}

#[cfg(feature = "spectral")]
fn eigenvalues(graph: &Graph<'_>, count: usize) -> u64 {
    crate::spectral::Spectrum::memory_needed(graph, count)
}

/// Without the feature `spectral` there are none.
#[cfg(not(feature = "spectral"))]
fn eigenvalues(_: &Graph<'_>, _: usize) -> u64 {
    0
}
