//! Beyond the paper: multilevel merging, split-merge and recombination.
//!
//! All parts work under the same constraint, a *floor* for the volume of every cluster, and none gives back less than
//! it was given. Starts compete by one rule, see [`Choice`].

mod task;
mod components;
mod exhaustive;
mod bisect;
mod complete;
mod multilevel;
mod split_merge;
mod recombine;
mod starts;

use crate::descent::{Proof, StoppingRule};
use crate::error::Result;
use crate::graph::{Graph, Weights};
use crate::partition::{ClusterId, Partition};
use crate::progress::{StopReason, Watch};

use complete::balanced;
use components::Pieces;
use multilevel::{Coarsening, multilevel};
use recombine::{Span, evolve};
use split_merge::split_merge;
use task::{Solution, Tally, Task};

/// Chains of moves pay where nodes have few neighbours: meshes, pictures.
const MOST_ENTRIES_FOR_CHAINS: f64 = 16.0;
/// On larger graphs splits on a coarse level have to do, and passes that keep the clusters are left out: they cost
/// as much as all the rest, and gain next to nothing.
const MOST_ENTRIES_THOROUGH: usize = 1_000_000;
/// Without weights the first-neighbour hierarchy follows nothing but ties; it is far from a good start, and from larger
/// graphs the way is long.
const MOST_ENTRIES_UNWEIGHTED: usize = 300_000;
/// How much higher the floor of the stricter starts is.
const STRICTER: f64 = 2.0;
/// Where a child takes milliseconds, a few more cost nobody anything.
const MOST_ENTRIES_BRIEF: usize = 300_000;
const BRIEF_BATCHES: usize = 4;

/// Which parts of the search run: what a [preset](crate::Preset) stands for, and what an ablation switches off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Start from the paper's hierarchy too.
    pub first_neighbors: bool,
    /// Start from greedy merging.
    pub merging: bool,
    /// Labels propagate where merging in pairs starves.
    pub propagation: bool,
    /// Start under a stricter share too, where modularity chooses.
    pub stricter: bool,
    /// Chains of moves after a descent, where they pay.
    pub chains: bool,
    /// Rounds of split-merge for every start.
    pub split_rounds: usize,
    /// Passes down and up again with the clusters kept.
    pub cycles: usize,
    /// How long solutions are recombined.
    pub recombination: Recombination,
}

/// How long solutions are recombined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recombination {
    /// Not at all.
    None,
    /// Twice, on small graphs, where the highest objective is what is looked for.
    Brief,
    /// Until nothing better has come for a while, and so many times over.
    Patient {
        /// Populations, one after the other.
        eras: usize,
    },
}

/// Which of several labellings is kept.
///
/// Plain N-Cut counts a cluster of three nodes as much as one with half of the graph, so that among labellings which
/// differ little in the objective, or even with a better one, there are some that nobody can use: one huge cluster, and
/// the others as small as is allowed. Therefore, where a share is asked for, starts compete by modularity,
/// `sum_c A_c / V - (D_c / V)^2` with `V` the volume of the graph, which weighs every cluster by its volume;
/// each of them is a local optimum of N-Cut under the share, and none has a lower objective than the paper's labels,
/// which are brought to the share where they are not. Without a share the highest objective is what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The highest objective.
    Objective,
    /// The highest modularity among those that are no worse than the paper's.
    Modularity,
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) n_clusters: usize,
    pub(crate) min_share: f64,
    pub(crate) rule: StoppingRule,
    pub(crate) effort: Effort,
    pub(crate) choice: Choice,
    pub(crate) seed: u64,
}

/// Labels and how they were found.
pub(crate) struct Searched {
    pub(crate) labels: Vec<ClusterId>,
    pub(crate) sweeps: usize,
    pub(crate) moves: u64,
    pub(crate) stop_reason: StopReason,
}

/// Clusters a graph without isolated nodes that has more nodes than clusters are asked for. `given` labels are a start
/// of their own, instead of all others.
pub(crate) fn search(
    graph: &Graph<'_>,
    given: Option<Vec<ClusterId>>,
    request: &Request,
    watch: &dyn Watch,
) -> Result<Searched> {
    let Request { n_clusters, min_share, rule, effort, .. } = *request;
    let tally = Tally::default();
    let entries_per_node = graph.columns().len() as f64 / graph.n_nodes() as f64;
    let task = Task {
        n_clusters,
        n_nodes: graph.n_nodes(),
        is_large: is_large(graph),
        floor: min_share * graph.volume() / n_clusters as f64,
        bundles: None,
        rule,
        propagation: effort.propagation,
        coarse_split_rounds: effort.split_rounds,
        chains: effort.chains && entries_per_node <= MOST_ENTRIES_FOR_CHAINS,
        watch,
        tally: &tally,
    };
    let (labels, stop_reason) = labels(graph, given, request, &task)?;
    let stop_reason = if task.is_stopped() { StopReason::Cancelled } else { stop_reason };
    Ok(Searched { labels, sweeps: tally.sweeps(), moves: tally.moves(), stop_reason })
}

fn labels(
    graph: &Graph<'_>,
    given: Option<Vec<ClusterId>>,
    request: &Request,
    task: &Task<'_>,
) -> Result<(Vec<ClusterId>, StopReason)> {
    let pieces = Pieces::new(graph);
    if let Some(labels) = pieces.grouped(task.n_clusters, task.floor) {
        return Ok((labels, StopReason::LocalOptimum));
    }
    if matches!(request.effort.recombination, Recombination::Patient { .. })
        && graph.n_nodes() <= exhaustive::MOST_NODES
    {
        return Ok((exhaustive::best_of_all(graph, task)?.labels, StopReason::LocalOptimum));
    }
    let bundles = if given.is_none() { pieces.bundled(task.n_clusters, task.floor) } else { None };
    drop(pieces);
    match bundles.filter(|bundles| bundles.count > task.n_clusters) {
        None => {
            let found = found(graph, given, request, task)?;
            Ok((found.labels, found.stop_reason))
        }
        Some(bundles) if is_large(graph) => {
            let found = found(graph, None, request, &Task { bundles: Some(&bundles), ..*task })?;
            Ok((found.labels, found.stop_reason))
        }
        Some(bundles) => {
            let bundled = graph.contract(&bundles.of_node, bundles.count)?;
            let of_bundles = found(&bundled, None, request, &Task { n_nodes: bundles.count, ..*task })?;
            let labels = bundles.of_node.iter().map(|&bundle| of_bundles.labels[bundle as usize]).collect();
            let found =
                Solution::new(Partition::new(graph, labels, task.n_clusters)?, of_bundles.stop_reason, task);
            // The paper's labels are those of the graph as it is.
            let mut candidates = match has_first_neighbors(graph, &request.effort) && !task.is_stopped() {
                true => vec![starts::first_neighbors(graph, task)?, found],
                false => vec![found],
            };
            let found = chosen(&mut candidates, request.choice);
            Ok((found.labels, found.stop_reason))
        }
    }
}

/// Starts, and what is made of them.
fn found(
    graph: &Graph<'_>,
    given: Option<Vec<ClusterId>>,
    request: &Request,
    task: &Task<'_>,
) -> Result<Solution> {
    let Request { effort, choice, seed, .. } = *request;
    let mut candidates = match given {
        Some(labels) => with_split_merge(graph, starts::given(graph, labels, task)?, &effort, task, seed)?,
        None => starts(graph, &effort, choice, task, seed)?,
    };
    if !candidates.iter().any(Solution::is_feasible) && !task.is_stopped() {
        let balanced = task.improve(graph, balanced(graph, task.n_clusters), Proof::Full, seed)?;
        candidates.extend(with_split_merge(graph, balanced, &effort, task, seed)?);
    }
    let mut best = chosen(&mut candidates, choice);
    let n_cycles = if is_large(graph) { 0 } else { effort.cycles as u64 };
    for cycle in 0..n_cycles {
        let how = Coarsening { within: Some(&best.labels), noise: 0.2, seed: seed.wrapping_add(cycle) };
        let found = multilevel(graph, &Task { coarse_split_rounds: 0, ..*task }, &how)?;
        if found.is_preferred_to(&best, choice) {
            best = found;
        }
    }
    let is_small = graph.columns().len() <= MOST_ENTRIES_BRIEF;
    let span = match effort.recombination {
        Recombination::Patient { eras } => Some(Span { eras, batches: usize::MAX }),
        Recombination::Brief if is_small && choice == Choice::Objective => {
            Some(Span { eras: 1, batches: BRIEF_BATCHES })
        }
        Recombination::Brief | Recombination::None => None,
    };
    if let Some(span) = span {
        candidates.push(best);
        best = evolve(graph, candidates, span, task, seed)?;
    }
    Ok(best)
}

/// The starts, those of the paper first.
fn starts(
    graph: &Graph<'_>,
    effort: &Effort,
    choice: Choice,
    task: &Task<'_>,
    seed: u64,
) -> Result<Vec<Solution>> {
    if is_large(graph) {
        return starts_of_large(graph, effort, task, seed);
    }
    let from_paper = || {
        if !has_first_neighbors(graph, effort) {
            return Ok(Vec::new());
        }
        with_split_merge(graph, starts::first_neighbors(graph, task)?, effort, task, seed)
    };
    let from_merging = || {
        if !effort.merging {
            return Ok(Vec::new());
        }
        let how = Coarsening { within: None, noise: 0.0, seed };
        with_split_merge(graph, multilevel(graph, task, &how)?, effort, task, seed)
    };
    let (paper, merged) = rayon::join(from_paper, from_merging);
    let mut all = paper?;
    all.extend(merged?);
    if effort.stricter && choice == Choice::Modularity {
        all.extend(stricter_starts(graph, effort, task, seed)?);
    }
    Ok(all)
}

/// As [`starts`], where two graphs beside the one there is would be too many: what makes such graphs runs by itself.
fn starts_of_large(graph: &Graph<'_>, effort: &Effort, task: &Task<'_>, seed: u64) -> Result<Vec<Solution>> {
    let from_paper =
        has_first_neighbors(graph, effort).then(|| starts::hierarchy(graph, task)).transpose()?;
    let how = Coarsening { within: None, noise: 0.0, seed };
    let (paper, merged) = rayon::join(
        || from_paper.map(|labels| starts::descended(graph, labels, task)).transpose(),
        || effort.merging.then(|| multilevel(graph, task, &how)).transpose(),
    );
    let paper = paper?.map(|found| starts::at_the_floor(graph, found, task)).transpose()?;
    Ok(paper.into_iter().chain(merged?).collect())
}

/// Starts made under a higher floor than is asked for, which differ less in volume, and then released.
fn stricter_starts(graph: &Graph<'_>, effort: &Effort, task: &Task<'_>, seed: u64) -> Result<Vec<Solution>> {
    let strict = Task { floor: STRICTER * task.floor, ..*task };
    let strict_starts = starts(graph, effort, Choice::Objective, &strict, seed)?;
    strict_starts.into_iter().map(|start| task.improve(graph, start.labels, Proof::Full, seed)).collect()
}

/// A start, and what split-merge makes of it.
fn with_split_merge(
    graph: &Graph<'_>,
    start: Solution,
    effort: &Effort,
    task: &Task<'_>,
    seed: u64,
) -> Result<Vec<Solution>> {
    if effort.split_rounds == 0 || is_large(graph) {
        return Ok(vec![start]);
    }
    let improved = split_merge(graph, start.clone(), effort.split_rounds, task, seed)?;
    Ok(vec![start, improved])
}

/// Whether the paper's hierarchy is a start.
fn has_first_neighbors(graph: &Graph<'_>, effort: &Effort) -> bool {
    let is_unweighted = matches!(graph.weights(), Weights::Unit);
    effort.first_neighbors && !(is_unweighted && graph.columns().len() > MOST_ENTRIES_UNWEIGHTED)
}

fn is_large(graph: &Graph<'_>) -> bool {
    graph.columns().len() > MOST_ENTRIES_THOROUGH
}

/// Takes the one to be kept out of several, the first of which is the yardstick.
fn chosen(candidates: &mut Vec<Solution>, choice: Choice) -> Solution {
    let yardstick = candidates[0].objective;
    let mut best = 0;
    for place in 1..candidates.len() {
        let candidate = &candidates[place];
        let is_admitted = choice == Choice::Objective
            || candidate.objective >= yardstick
            || !candidates[best].is_feasible();
        if is_admitted && candidate.is_preferred_to(&candidates[best], choice) {
            best = place;
        }
    }
    candidates.swap_remove(best)
}
