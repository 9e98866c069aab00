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
use multilevel::{Coarsening, multilevel, multilevel_twice};
use recombine::{Span, evolve};
use split_merge::split_merge;
use task::{Solution, Tally, Task};

/// Chains of moves pay where nodes have few neighbours: meshes, pictures.
const MOST_ENTRIES_FOR_CHAINS: f64 = 12.0;
/// On larger graphs splits on a coarse level have to do, and passes that keep the clusters are left out: they cost
/// as much as all the rest, and gain next to nothing.
const MOST_ENTRIES_THOROUGH: usize = 1_000_000;
/// Without weights the first-neighbour hierarchy follows nothing but ties; it is far from a good start, and from larger
/// graphs the way is long.
const MOST_ENTRIES_UNWEIGHTED: usize = 300_000;
/// A pass that keeps the clusters is the last when it gains less modularity than this, or takes less than this share
/// from the cut.
const LEAST_GAIN: f64 = 5e-4;
/// Where chains pay, and they and a pass that keeps the clusters take milliseconds, they are for presets in a hurry too.
const MOST_ENTRIES_IN_PASSING: usize = 50_000;
/// How much higher the floor of the stricter starts is.
const STRICTER: f64 = 2.0;
/// Where a child takes milliseconds, a few more cost nobody anything.
const MOST_ENTRIES_BRIEF: usize = 300_000;
const BRIEF_BATCHES: usize = 6;

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
    /// Chains and passes only on small sparse graphs, where they take milliseconds.
    pub only_in_passing: bool,
    /// Rounds of split-merge for every start; where modularity chooses, on a coarse level only.
    pub split_rounds: usize,
    /// Passes down and up again with the clusters kept, at most.
    pub cycles: usize,
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
    let task = Task {
        n_clusters,
        n_nodes: graph.n_nodes(),
        is_large: is_large(graph),
        floor: min_share * graph.volume() / n_clusters as f64,
        bundles: None,
        rule,
        propagation: effort.propagation,
        coarse_split_rounds: effort.split_rounds,
        chains: effort.chains && is_sparse(graph) && has_time(graph, &effort),
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
        Some(labels) => vec![starts::given(graph, labels, task)?],
        None => starts(graph, &effort, choice, task, seed)?,
    };
    if !candidates.iter().any(Solution::is_feasible) && !task.is_stopped() {
        candidates.push(task.improve(graph, balanced(graph, task.n_clusters), Proof::Full, seed)?);
    }
    let mut best = chosen(&mut candidates, choice);
    if candidates.is_empty() {
        let improved = with_split_merge(graph, best.clone(), &effort, task, seed)?;
        best = improved.into_iter().fold(best, |best, other| best.or_preferred(other, choice));
    }
    let n_cycles = if is_large(graph) || !has_time(graph, &effort) { 0 } else { effort.cycles as u64 };
    for cycle in 0..n_cycles {
        let how = Coarsening { within: Some(&best.labels), noise: 0.2, seed: seed.wrapping_add(cycle) };
        let found = multilevel(graph, &Task { coarse_split_rounds: 0, ..*task }, &how)?;
        if !found.is_preferred_to(&best, choice) {
            break;
        }
        let is_much = match choice {
            Choice::Modularity => found.modularity > best.modularity + LEAST_GAIN,
            Choice::Objective => {
                let ncut = task.n_clusters as f64 - best.objective;
                found.objective > best.objective + LEAST_GAIN * ncut
            }
        };
        best = found;
        if !is_much {
            break;
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

/// The starts, those of the paper first. Where modularity chooses, some are made under a stricter floor than is asked
/// for, which differ less in volume, and then released. Split-merge on the graph itself then is left out: it gains in the
/// objective, and next to nothing in modularity.
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
    let is_strict = effort.stricter && choice == Choice::Modularity;
    let strict = is_strict.then_some(Task { floor: STRICTER * task.floor, ..*task });
    let improved = |start: Solution| match choice {
        Choice::Modularity => Ok(vec![start]),
        Choice::Objective => with_split_merge(graph, start, effort, task, seed),
    };
    let from_paper = || {
        if !has_first_neighbors(graph, effort) {
            return Ok(Vec::new());
        }
        let paper = starts::paper(graph, task)?;
        let released = match &strict {
            Some(strict) => starts::first_neighbors_released(graph, &paper, strict, task)?,
            None => None,
        };
        let mut all = improved(starts::at_the_floor(graph, paper, task)?)?;
        all.extend(released);
        Ok(all)
    };
    let from_merging = || {
        if !effort.merging {
            return Ok(Vec::new());
        }
        let how = Coarsening { within: None, noise: 0.0, seed };
        match &strict {
            Some(strict) => multilevel_twice(graph, task, strict, &how).map(Vec::from),
            None => improved(multilevel(graph, task, &how)?),
        }
    };
    let (paper, merged) = crate::parallel::join(from_paper, from_merging);
    let mut all = paper?;
    all.extend(merged?);
    Ok(all)
}

/// As [`starts`], where two graphs beside the one there is would be too many: what makes such graphs runs by itself.
fn starts_of_large(graph: &Graph<'_>, effort: &Effort, task: &Task<'_>, seed: u64) -> Result<Vec<Solution>> {
    let from_paper =
        has_first_neighbors(graph, effort).then(|| starts::hierarchy(graph, task)).transpose()?;
    let how = Coarsening { within: None, noise: 0.0, seed };
    let (paper, merged) = crate::parallel::join(
        || from_paper.map(|labels| starts::descended(graph, labels, task)).transpose(),
        || effort.merging.then(|| multilevel(graph, task, &how)).transpose(),
    );
    let paper = paper?.map(|found| starts::at_the_floor(graph, found, task)).transpose()?;
    Ok(paper.into_iter().chain(merged?).collect())
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

/// Whether chains and passes that keep the clusters may run.
fn has_time(graph: &Graph<'_>, effort: &Effort) -> bool {
    !effort.only_in_passing || (is_sparse(graph) && graph.columns().len() <= MOST_ENTRIES_IN_PASSING)
}

fn is_sparse(graph: &Graph<'_>) -> bool {
    graph.columns().len() as f64 <= MOST_ENTRIES_FOR_CHAINS * graph.n_nodes() as f64
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
