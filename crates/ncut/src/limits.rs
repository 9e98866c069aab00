//! Where the search changes its way: thresholds of size, each with what was measured for it.
//!
//! Above a threshold a graph is clustered in less time or memory, at the cost of some quality where parts of the search are
//! left out. `benchmarks/limits.md` shows what each is worth. The thresholds are values and no constants, so that tests can drive every way on graphs of a hundred nodes
//! ([`Limits::tiny`]). Times are those of two cores.

/// Thresholds of the search. *Entries* are stored entries of a graph: two for every edge.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Limits {
    /// Graphs of at most this many nodes are solved by looking at all labellings, by preset `best`: there
    /// are 678 570 of 11 nodes, and 4 213 597 of 12.
    pub max_nodes_exhaustive: usize,
    /// Graphs with more entries are *large*: split-merge runs on a coarse level only, passes that keep the clusters
    /// (V-cycles) are left out, and at most one other graph of that size is held. With a limit four times as high a mesh of
    /// 1.2 million entries takes 2.3 times as long and gains 0.0001 of 19.8; a planted graph of 2.4 million takes twice as
    /// long for the same labels.
    pub max_entries_thorough: usize,
    /// Up to this many entries what less effort gives is computed too, so that more effort never gives less: the paper's labels
    /// on graphs without weights (with weights they are a start at any size), those of preset `fast` on meshes and
    /// pictures, and those under a large share for a result without one. Above, that would take as long as all else.
    pub max_entries_compared: usize,
    /// Chains of moves pay where nodes have few neighbours (entries a node at most): meshes have 6, pictures 4 or 8.
    /// Without chains meshes lose 0.005 to 0.02 and take half the time; four times as many entries allowed, other graphs take
    /// 2.7 to 10 times as long and gain 0.0002 at most.
    pub max_row_for_chains: f64,
    /// Where clusters keep less than this share of their weight inside, on average and beyond what chance would give, edges
    /// as they are may have led coarsening astray, and starts are made that do not trust them. The second is for large graphs,
    /// where these starts take longer than the others.
    pub max_cohesion_in_doubt: (f64, f64),
    /// Preset `fast` has chains and one V-cycle on sparse graphs of at most this many entries, where both take
    /// milliseconds.
    pub max_entries_quick: usize,
    /// Preset `default` recombines a few solutions on graphs of at most this many entries, where one takes milliseconds. That is
    /// four fifths of its time there, for 0.007 to 0.015 of the objective.
    pub max_entries_brief: usize,
    /// Without a time limit, preset `best` recombines one batch of solutions on graphs of so many entries or more, and on smaller
    /// ones as many times more as the square of how much smaller they are.
    pub entries_of_one_batch: usize,
    /// From this many entries on, moves are proposed in parallel against a frozen state, block by block. Below, one thread
    /// is as fast, and every node knows what all before it did. Four times as low or as high: times within what the machine
    /// varies by.
    pub min_entries_for_blocks: usize,

    /// Labels of at least this many nodes are stored a second time in one or two bytes each: fewer are in the cache as
    /// they are.
    pub min_nodes_for_short_labels: usize,
    /// Nodes whose sums one thread computes at a time.
    pub nodes_per_sum: usize,
    /// The weights between all nodes and all clusters are kept in graphs with at least this many entries a row. With a
    /// tenth of the nodes in a wrong cluster a descent is then 1.2 to 4 times as fast with 65 to 1000 entries a row, and no
    /// faster with 20 to 30.
    pub min_row_for_node_cluster_weights: usize,
    /// How many such weights may be kept: 64 MB.
    pub max_node_cluster_weights: usize,

    /// What coarsening looks at.
    pub coarsening: CoarseningLimits,
}

/// Thresholds of coarsening.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CoarseningLimits {
    /// A level is kept for refinement when it has less than this share of the nodes of the one kept before. With 0.4 meshes
    /// lose 0.003 to 0.008; with 0.8 two of seven graphs gain up to 0.009 and two lose up to 0.015.
    pub kept_share: f64,
    /// What all kept levels of a large graph may take together, as a share of its entries.
    pub held_share: f64,
    /// As `held_share`, when the graph has no weights (its entries take half of what those of levels do) and the preset
    /// makes no splits: that is the preset for little memory.
    pub held_share_unweighted: f64,
    /// Levels of a graph without weights may always have so many entries: they fit any machine (320 MB).
    pub held_entries_unweighted: f64,
    /// Coarse graphs with more entries are not contracted where labels can spread over the strongest links of groups
    /// instead: a planted graph of 100 million edges then takes half the memory.
    pub max_contracted_entries: usize,
    /// As `max_contracted_entries`, as a share of the entries of the graph; the larger of the two counts.
    pub max_contracted_share: f64,
    /// A level that was not kept is made anew for refinement when it has this many times the nodes of the last refined. Four
    /// times as few or as many: the same labels.
    pub rebuild_factor: usize,
    /// Clusters are split on levels with this many nodes a cluster at the least and, unless the graph is large, at the most.
    /// With a quarter of both planted graphs lose 0.9 of 70 and 5.4 of 280; with four times as many a graph takes up to
    /// 1.5 times as long.
    pub nodes_per_cluster_for_splits: (usize, usize),

    /// A round of matching over more entries is costly: it must shrink the graph more. Four times as few or as many: the same
    /// labels, times within what the machine varies by.
    pub costly_round_entries: usize,
    /// Graphs with more nodes are asked by a sample whether matching will find enough pairs, others as a whole.
    pub min_nodes_sampled: usize,
    /// Nodes of that sample.
    pub n_sampled: usize,
    /// Labels propagate while there are more than this many nodes for each cluster that is to be.
    pub nodes_per_cluster_for_propagation: usize,
    /// Sweeps of label propagation, and how many over more than `costly_propagation_links` links: later sweeps move few
    /// nodes and visit many.
    pub propagation_sweeps: (usize, usize),
    /// See `propagation_sweeps`.
    pub costly_propagation_links: usize,
    /// Nodes that one thread gives partners at a time.
    pub nodes_per_matching_task: usize,
    /// Values of at most so many nodes stay in the cache while partners are looked for.
    pub max_cached_values: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_nodes_exhaustive: 11,
            max_entries_thorough: 1_000_000,
            max_entries_compared: 4_000_000,
            max_row_for_chains: 12.0,
            max_cohesion_in_doubt: (0.8, 0.65),
            max_entries_quick: 50_000,
            max_entries_brief: 300_000,
            entries_of_one_batch: 1_000_000,
            min_entries_for_blocks: 6_000_000,
            min_nodes_for_short_labels: 1 << 16,
            nodes_per_sum: 1 << 17,
            min_row_for_node_cluster_weights: 48,
            max_node_cluster_weights: 1 << 23,
            coarsening: CoarseningLimits {
                kept_share: 0.6,
                held_share: 0.4,
                held_share_unweighted: 0.15,
                held_entries_unweighted: 40e6,
                max_contracted_entries: 1 << 23,
                max_contracted_share: 0.125,
                rebuild_factor: 4,
                nodes_per_cluster_for_splits: (12, 100),
                costly_round_entries: 1 << 20,
                min_nodes_sampled: 1 << 17,
                n_sampled: 1 << 12,
                nodes_per_cluster_for_propagation: 20,
                propagation_sweeps: (8, 5),
                costly_propagation_links: 1 << 23,
                nodes_per_matching_task: 2048,
                max_cached_values: 1 << 16,
            },
        }
    }
}

impl Limits {
    /// Limits under which a graph of a hundred nodes goes every way that a graph of millions goes, for tests: it is large,
    /// is visited in blocks, is matched by samples, has levels that are dropped and made anew. Nothing is solved by looking
    /// at all labellings.
    pub fn tiny() -> Self {
        let usual = Self::default();
        Self {
            max_nodes_exhaustive: 0,
            max_entries_thorough: 80,
            max_entries_quick: 40,
            max_entries_brief: 60,
            entries_of_one_batch: 300,
            min_entries_for_blocks: 100,
            min_nodes_for_short_labels: 8,
            nodes_per_sum: 8,
            min_row_for_node_cluster_weights: 4,
            coarsening: CoarseningLimits {
                held_entries_unweighted: 30.0,
                max_contracted_entries: 60,
                nodes_per_cluster_for_splits: (3, 20),
                costly_round_entries: 80,
                min_nodes_sampled: 12,
                n_sampled: 6,
                nodes_per_cluster_for_propagation: 4,
                costly_propagation_links: 60,
                nodes_per_matching_task: 8,
                max_cached_values: 16,
                ..usual.coarsening
            },
            ..usual
        }
    }
}
