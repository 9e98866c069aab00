//! Every decision that depends on the size of the graph, made once: from what is known of the graph, from what the preset
//! stands for, and from the limits. The phases read the plan.

use std::fmt;

use crate::graph::{Graph, NodeId, Weights};
use crate::limits::Limits;

/// Batches of recombination where it is brief: a child takes milliseconds there, so that a few cost nobody anything. With 8
/// of them two of three networks end 4e-5 lower.
const BRIEF_BATCHES: usize = 16;
/// The same where labels are in doubt, and where pairs of clusters exchange nodes besides. Of 56 planted graphs of 1000 to 5000
/// nodes in two or three clusters near the threshold, 3 were below METIS or KaMinPar with 2 batches, 1 is with 4, at 1.2 times
/// the time; preset `fast` was below on 7 without any.
const BATCHES_IN_DOUBT: usize = 8;
const BATCHES_BESIDE_EXCHANGE: usize = 4;

/// Populations of preset `best`: without a time limit, and with one, which is there to be used.
const POPULATIONS: usize = 2;
const POPULATIONS_IN_TIME: usize = 60;
/// With fewer batches than this a second population would not come as far as the first.
const MIN_BATCHES_TO_RESTART: usize = 40;

/// Clusters of which all pairs exchange nodes, at most.
const MAX_EXCHANGING_CLUSTERS: usize = 8;

/// V-cycles that gain nothing before labels in doubt are left as they are: each groups the nodes in another way.
const V_CYCLES_IN_VAIN: usize = 3;

/// All labellings of more nodes are never looked at, whatever the limits: nodes are bits there.
const MAX_NODES_EXHAUSTIVE: usize = 64;

/// Which parts of the search run: what a [preset](crate::Preset) stands for, and what an ablation switches off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Start from the paper's hierarchy too.
    pub hierarchy_start: bool,
    /// Start from greedy merging.
    pub merging_start: bool,
    /// Start from groups of nodes that look alike, where much weight is between the clusters of other starts.
    pub affinity_start: bool,
    /// Start from communities of high modularity too, where modularity chooses and the graph is no mesh.
    pub communities_start: bool,
    /// Labels propagate where matching stalls.
    pub propagation: bool,
    /// Start under a stricter share too, where modularity chooses.
    pub strict_starts: bool,
    /// Chains of moves after a descent, where they pay.
    pub chains: bool,
    /// Chains and V-cycles only on small sparse graphs, where they take milliseconds.
    pub only_quick_refinement: bool,
    /// Rounds of split-merge for every start; where modularity chooses, on a coarse level only.
    pub split_rounds: usize,
    /// Rounds of split-merge on a coarse level where nodes have many neighbours: there they take little time.
    pub coarse_split_rounds: usize,
    /// V-cycles (coarsening within the clusters, and refining again), at most.
    pub v_cycles: usize,
    /// How long solutions are recombined.
    pub recombination: Recombination,
}

/// How long solutions are recombined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recombination {
    /// Not at all.
    None,
    /// A few times, on small graphs, where the highest objective is what is looked for.
    Brief,
    /// Until nothing better has come for a while; on graphs that are not small for a time that hardly grows with them.
    Patient,
    /// As long as there is time, however large the graph.
    WhileThereIsTime,
}

/// Which of several labellings is kept.
///
/// Plain N-Cut counts a cluster of three nodes as much as one with half of the graph, so that among labellings which
/// differ little in the objective, or even with a better one, there are some that nobody can use: one huge cluster, and
/// the others as small as is allowed. Therefore, where a share is asked for, starts compete by modularity,
/// `sum_c A_c / V - (D_c / V)^2` with `V` the volume of the graph, which weighs every cluster by its volume, and by a part of
/// their cohesion, the mean over the clusters of `A_c / D_c`, which weighs all alike. Each of them is a local optimum of N-Cut
/// under the share. One with a lower objective than the paper's labels, brought to the share, or than what less effort gives,
/// is not taken. Without a share the highest objective is what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The highest objective.
    Objective,
    /// The highest modularity, with a part of the cohesion, among those that are no worse than the paper's.
    Modularity,
}

/// What the plan depends on of a graph and of what is asked of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Nodes with edges.
    pub n_nodes: usize,
    /// Stored entries, two for every edge.
    pub n_entries: usize,
    /// Whether all weights are 1.
    pub is_unweighted: bool,
    /// Whether all nodes have about as many neighbours, as in meshes and pictures.
    pub is_even: bool,
    /// Clusters asked for.
    pub n_clusters: usize,
}

impl Facts {
    /// The facts of a graph.
    pub fn of(graph: &Graph<'_>, n_clusters: usize) -> Self {
        Self {
            n_nodes: graph.n_nodes(),
            n_entries: graph.columns().len(),
            is_unweighted: matches!(graph.weights(), Weights::Unit),
            is_even: is_even(graph),
            n_clusters,
        }
    }
}

/// The lengths of rows vary by no more than this, as a variance over the square of the mean: those of 4elt and airfoil1 by
/// 0.01, of five networks by 1.3 to 3.1.
const MAX_EVEN_VARIANCE: f64 = 0.1;

fn is_even(graph: &Graph<'_>) -> bool {
    // Nodes that stand for known labels, strokes over a picture say, do not count.
    let is_listed = |node: NodeId| graph.apart().is_some_and(|apart| apart.is_in_list(node));
    let nodes = || (0..graph.n_nodes() as NodeId).filter(|&node| !is_listed(node));
    let n_nodes = nodes().count() as f64;
    let lengths = nodes().map(|node| graph.entries(node).len() as f64);
    let (sum, squares) = lengths.fold((0.0, 0.0), |(sum, squares), n| (sum + n, squares + n * n));
    squares * n_nodes <= (1.0 + MAX_EVEN_VARIANCE) * sum * sum
}

/// What the search does with a graph.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// What it was made for.
    pub facts: Facts,
    /// The parts that may run.
    pub effort: Effort,
    /// Look at all labellings, and do nothing else.
    pub is_exhaustive: bool,
    /// Beside the graph there is at most one other of its size: what makes such graphs runs by itself, coarse graphs have
    /// 32-bit weights, and those that do not fit are made anew when they are needed.
    pub is_large: bool,
    /// Start from the paper's hierarchy.
    pub hierarchy_start: bool,
    /// Start from greedy merging.
    pub merging_start: bool,
    /// Start from groups of nodes that look alike, where the other starts are in doubt.
    pub affinity_start: bool,
    /// Start from communities of high modularity.
    pub communities_start: bool,
    /// Make starts under a stricter share too.
    pub strict_starts: bool,
    /// Which start is kept.
    pub choice: Choice,
    /// Labels propagate where matching stalls.
    pub propagation: bool,
    /// Chains of moves follow a descent.
    pub chains: bool,
    /// Pairs of clusters exchange nodes after a descent, where there are few clusters.
    pub exchanges: bool,
    /// Rounds of split-merge on the graph itself; starts that compete by modularity have none.
    pub split_rounds: usize,
    /// Rounds of split-merge on one coarse level, on the way back to the graph.
    pub coarse_split_rounds: usize,
    /// V-cycles at most, ...
    pub v_cycles: usize,
    /// ... and how many that gain little or nothing are enough.
    pub v_cycles_in_vain: usize,
    /// Recombination of solutions, if any.
    pub recombination: Option<Span>,
    /// Entries that the graphs of kept levels may have all together; `None` for any number.
    pub held_entries: Option<usize>,
    /// The thresholds that everything above follows from, and that the phases ask for single levels.
    pub limits: Limits,
}

/// How long solutions are recombined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Times that a population lives until it has nothing better to give; the next then starts from nothing, or from
    /// the best of all before.
    pub restarts: usize,
    /// Batches of children in one life at most.
    pub batches: usize,
}

impl Plan {
    /// The plan for a graph without isolated nodes.
    pub fn new(facts: Facts, effort: &Effort, choice: Choice, limits: &Limits) -> Self {
        let Facts { n_nodes, n_entries, is_unweighted, .. } = facts;
        let is_large = n_entries > limits.max_entries_thorough;
        let is_sparse = is_sparse(n_nodes, n_entries, limits);
        let is_quick = is_sparse && n_entries <= limits.max_entries_quick;
        let may_refine = !effort.only_quick_refinement || is_quick;
        let is_brief = n_entries <= limits.max_entries_brief && choice == Choice::Objective;
        let span = match effort.recombination {
            Recombination::WhileThereIsTime => {
                Some(Span { restarts: POPULATIONS_IN_TIME, batches: usize::MAX })
            }
            Recombination::Patient => Some(patient(n_entries, limits)),
            Recombination::Brief if is_brief => Some(Span { restarts: 1, batches: BRIEF_BATCHES }),
            Recombination::Brief | Recombination::None => None,
        };
        let is_patient =
            matches!(effort.recombination, Recombination::Patient | Recombination::WhileThereIsTime);
        let is_compared = n_entries <= limits.max_entries_compared;
        Self {
            facts,
            effort: *effort,
            is_exhaustive: is_patient && n_nodes <= limits.max_nodes_exhaustive.min(MAX_NODES_EXHAUSTIVE),
            is_large,
            hierarchy_start: effort.hierarchy_start && (is_compared || !is_unweighted),
            merging_start: effort.merging_start,
            affinity_start: effort.affinity_start && !is_sparse,
            communities_start: effort.communities_start
                && choice == Choice::Modularity
                && !is_large
                && !(is_sparse && facts.is_even),
            strict_starts: effort.strict_starts && choice == Choice::Modularity && !is_large,
            choice,
            propagation: effort.propagation,
            chains: effort.chains && is_sparse && may_refine,
            exchanges: false,
            split_rounds: if is_large { 0 } else { effort.split_rounds },
            coarse_split_rounds: match is_sparse {
                true => effort.split_rounds,
                false => effort.coarse_split_rounds,
            },
            v_cycles: if is_large || !may_refine { 0 } else { effort.v_cycles },
            v_cycles_in_vain: 1,
            recombination: span,
            held_entries: is_large.then(|| held_entries(&facts, effort, limits)),
            limits: *limits,
        }
    }

    /// The plan for another graph that stands for the same nodes.
    pub(super) fn for_graph(&self, graph: &Graph<'_>) -> Self {
        Self::new(Facts::of(graph, self.facts.n_clusters), &self.effort, self.choice, &self.limits)
    }

    /// The plan once so much weight is between clusters that labels are in doubt: exchanges then pay, on any graph that is not
    /// large chains of moves and V-cycles, and recombination where it is brief.
    pub(super) fn in_doubt(&self) -> Self {
        let exchanges = self.effort.chains && self.facts.n_clusters <= MAX_EXCHANGING_CLUSTERS;
        if self.is_large {
            return Self { exchanges, ..*self };
        }
        let is_fast = self.effort.recombination == Recombination::None;
        // Where pairs exchange nodes, recombining takes fifty times as long and finds little more.
        let max_entries_brief = match exchanges || is_fast {
            true => self.limits.max_entries_quick,
            false => self.limits.max_entries_brief,
        };
        let batches = if exchanges { BATCHES_BESIDE_EXCHANGE } else { BATCHES_IN_DOUBT };
        // Under a share, with more clusters, it would be nine tenths of the time of preset `fast`.
        let may_recombine = !is_fast || exchanges || self.choice == Choice::Objective;
        let is_brief = may_recombine && self.facts.n_entries <= max_entries_brief;
        let brief = is_brief.then_some(Span { restarts: 1, batches });
        Self {
            chains: self.effort.chains,
            exchanges,
            v_cycles: self.effort.v_cycles,
            v_cycles_in_vain: V_CYCLES_IN_VAIN,
            recombination: self.recombination.or(brief),
            ..*self
        }
    }

    /// Whether a coarse graph is to be clustered as small graphs are. Neighbour graphs, which have weights, gain nothing by it: on three
    /// of 70 000 points the labels are as good, in 1.7 to 2.2 times the time.
    pub(super) fn starts_from_coarse(&self) -> bool {
        self.effort.communities_start && !self.facts.is_even && self.facts.is_unweighted
    }

    /// Whether starts from merging would be the same with another plan for the same graph.
    pub(super) fn merges_like(&self, other: &Self) -> bool {
        let decisions = |plan: &Self| {
            let in_doubt = plan.in_doubt();
            let starts = (plan.merging_start, plan.affinity_start, plan.strict_starts);
            let refinement = (plan.chains, in_doubt.chains, in_doubt.exchanges, plan.coarse_split_rounds);
            (plan.is_large, plan.held_entries, plan.propagation, starts, refinement)
        };
        decisions(self) == decisions(other)
    }

    /// Whether more effort should be compared with this plan. On large graphs whose nodes have many neighbours, the starts of
    /// preset `fast` are among those of `default`; and there is an end to what comparing may cost.
    pub(super) fn is_compared(&self) -> bool {
        let is_fast = self.effort.recombination == Recombination::None;
        let Facts { n_nodes, n_entries, .. } = self.facts;
        let is_sparse = is_sparse(n_nodes, n_entries, &self.limits);
        !is_fast || !self.is_large || (is_sparse && n_entries <= self.limits.max_entries_compared)
    }

    /// Whether nodes have so few neighbours that pairs shrink a graph fast and chains of moves pay.
    pub(super) fn is_sparse(&self, graph: &Graph<'_>) -> bool {
        is_sparse(graph.n_nodes(), graph.columns().len(), &self.limits)
    }
}

/// How long preset `best` recombines without a time limit. A batch takes as long as the graph is large, and ever fewer of them
/// keep the whole from growing much faster.
fn patient(n_entries: usize, limits: &Limits) -> Span {
    let batches = ((limits.entries_of_one_batch as f64 / n_entries as f64).powi(2) as usize).max(1);
    Span { restarts: if batches < MIN_BATCHES_TO_RESTART { 1 } else { POPULATIONS }, batches }
}

fn is_sparse(n_nodes: usize, n_entries: usize, limits: &Limits) -> bool {
    n_entries as f64 <= limits.max_row_for_chains * n_nodes as f64
}

/// The entries that the kept levels of a large graph may have.
fn held_entries(facts: &Facts, effort: &Effort, limits: &Limits) -> usize {
    let coarsening = &limits.coarsening;
    // Users choose a preset without splits when memory is short, too.
    let share = match facts.is_unweighted && effort.split_rounds == 0 {
        true => coarsening.held_share_unweighted,
        false => coarsening.held_share,
    };
    let at_least = if facts.is_unweighted { coarsening.held_entries_unweighted } else { 0.0 };
    (share * facts.n_entries as f64).max(at_least) as usize
}

impl fmt::Display for Plan {
    /// One decision a line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (decision, value) in self.decisions() {
            writeln!(f, "{decision}: {value}")?;
        }
        Ok(())
    }
}

impl Plan {
    /// The decisions by name, in the words of a report.
    pub fn decisions(&self) -> Vec<(&'static str, String)> {
        let yes = |is_so: bool| if is_so { "yes" } else { "no" }.to_owned();
        let in_doubt = |is_so: bool| if is_so { "in doubt" } else { "no" }.to_owned();
        let starts = match (self.hierarchy_start, self.merging_start) {
            (true, true) => "hierarchy and merging",
            (true, false) => "hierarchy",
            (false, true) => "merging",
            (false, false) => "none",
        };
        let choice = match self.choice {
            Choice::Objective => "objective",
            Choice::Modularity => "modularity",
        };
        let recombination = match self.recombination {
            None => "none".to_owned(),
            Some(Span { restarts, batches: usize::MAX }) => format!("{restarts} populations"),
            Some(Span { restarts: 1, batches }) => format!("1 population of {batches} batches"),
            Some(Span { restarts, batches }) => format!("{restarts} populations of {batches} batches"),
        };
        let blocks = self.facts.n_entries >= self.limits.min_entries_for_blocks;
        vec![
            ("all labellings", yes(self.is_exhaustive)),
            ("large graph", yes(self.is_large)),
            ("starts", starts.to_owned()),
            ("start from nodes that look alike", in_doubt(self.affinity_start)),
            ("start from communities", yes(self.communities_start)),
            ("starts under a stricter share", yes(self.strict_starts)),
            ("starts compete by", choice.to_owned()),
            ("label propagation", yes(self.propagation)),
            ("moves proposed in parallel", yes(blocks)),
            ("chains of moves", yes(self.chains)),
            ("exchange between pairs of clusters", in_doubt(self.in_doubt().exchanges)),
            ("split-merge rounds", self.split_rounds.to_string()),
            ("split-merge rounds on a coarse level", self.coarse_split_rounds.to_string()),
            ("V-cycles", self.v_cycles.to_string()),
            ("recombination", recombination),
            ("entries of kept levels", self.held_entries.map_or("any".to_owned(), |n| n.to_string())),
        ]
    }
}
