//! Beyond the paper: multilevel search with split-merge and recombination.
//!
//! [`Plan`] says what is done with a graph. The phases, each using only those above it:
//!
//! ```text
//! plan         every decision                      solution, task   what is asked for, and what is found
//! coarsen      graph -> levels                     uncoarsen        labels of the last level -> labels of the graph
//! bisect       a cluster -> two halves             split            as many clusters as asked for
//! split_merge  one cluster split, two merged       multilevel       uncoarsen(initial(coarsen(graph)))
//! repair       clusters below the floor            starts           labels that do not come from merging
//! recombine    a population of solutions           exhaustive, components   graphs that need no search
//! ```
//!
//! All phases work under the same constraint, a *floor* for the mass of every cluster, and none gives back less than
//! it was given. Starts compete by one rule, see [`Choice`].

mod plan;
mod solution;
mod task;
mod components;
mod exhaustive;
mod coarsen;
mod uncoarsen;
mod bisect;
mod split;
mod split_merge;
mod multilevel;
mod repair;
mod starts;
mod recombine;

use crate::descent::{Proof, StoppingRule};
use crate::error::Result;
use crate::graph::Graph;
use crate::limits::Limits;
use crate::objective::Objective;
use crate::parallel::join;
use crate::partition::ClusterId;
use crate::progress::{Clock, StopReason, Stopped};

use components::Pieces;
use multilevel::{Pass, multilevel, multilevel_twice};
use recombine::evolve;
use solution::Solution;
use split::balanced;
use split_merge::split_merge;
use task::{Tally, Task};

pub use plan::{Choice, Effort, Facts, Plan, Recombination, Span};

/// A V-cycle is the last when it gains less modularity than this, or takes less than this share from the cut.
const MIN_CYCLE_GAIN: f64 = 5e-4;
/// Noise of the weights in V-cycles: without it the same groups come together again.
const CYCLE_NOISE: f64 = 0.2;
/// How much higher the floor of the stricter starts is.
const STRICTER: f64 = 2.0;

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) n_clusters: usize,
    pub(crate) min_share: f64,
    pub(crate) rule: StoppingRule,
    pub(crate) effort: Effort,
    pub(crate) choice: Choice,
    pub(crate) limits: Limits,
    pub(crate) seed: u64,
}

/// Labels and how they were found.
pub(crate) struct Searched {
    pub(crate) labels: Vec<ClusterId>,
    pub(crate) sweeps: usize,
    pub(crate) moves: u64,
    pub(crate) stop_reason: StopReason,
    pub(crate) plan: Plan,
}

impl Request {
    fn plan(&self, graph: &Graph<'_>) -> Plan {
        Plan::new(Facts::of(graph, self.n_clusters), &self.effort, self.choice, &self.limits)
    }
}

/// Clusters a graph without isolated nodes that has more nodes than clusters are asked for. `given` labels are a start
/// of their own, instead of all others.
pub(crate) fn search<O: Objective>(
    graph: &Graph<'_>,
    objective: O,
    given: Option<Vec<ClusterId>>,
    request: &Request,
    clock: &Clock<'_>,
) -> Result<Searched> {
    let (tally, plan) = (Tally::default(), request.plan(graph));
    let mut task = Task {
        objective,
        n_clusters: request.n_clusters,
        floor: 0.0,
        bundles: None,
        rule: request.rule,
        plan: &plan,
        clock,
        tally: Some(&tally),
    };
    task.floor = request.min_share * task.total_mass(graph) / request.n_clusters as f64;
    let (labels, stop_reason) = labels(graph, given, request, &task)?;
    let stop_reason = clock.stopped().map_or(stop_reason, |Stopped(reason)| reason);
    Ok(Searched { labels, sweeps: tally.sweeps(), moves: tally.moves(), stop_reason, plan })
}

/// Labels of a graph that may be in several pieces.
fn labels<O: Objective>(
    graph: &Graph<'_>,
    given: Option<Vec<ClusterId>>,
    request: &Request,
    task: &Task<'_, O>,
) -> Result<(Vec<ClusterId>, StopReason)> {
    let pieces = Pieces::new(graph, task);
    if let Some(labels) = pieces.grouped(task.n_clusters, task.floor) {
        return Ok((labels, StopReason::LocalOptimum));
    }
    if task.plan.is_exhaustive {
        return Ok((exhaustive::best_of_all(graph, task)?.labels, StopReason::LocalOptimum));
    }
    let bundles = if given.is_none() { pieces.bundled(task.n_clusters, task.floor) } else { None };
    drop(pieces);
    let found = match bundles.filter(|bundles| bundles.count > task.n_clusters) {
        None => solve_one(graph, given, task, request.seed)?,
        Some(bundles) if task.plan.is_large => {
            solve_one(graph, None, &Task { bundles: Some(&bundles), ..*task }, request.seed)?
        }
        Some(bundles) => {
            let bundled = graph.contract(&bundles.of_node, bundles.count)?;
            let plan = request.plan(&bundled);
            let of_bundles = solve_one(&bundled, None, &Task { plan: &plan, ..*task }, request.seed)?;
            let labels = bundles.project(&of_bundles.labels);
            let found = task.solution(task.partition(graph, labels)?, of_bundles.stop_reason);
            // The paper's labels are those of the graph as it is.
            let mut candidates = match task.plan.hierarchy_start && !task.is_stopped() {
                true => vec![starts::paper_at_the_floor(graph, task)?, found],
                false => vec![found],
            };
            take_chosen(&mut candidates, task.plan.choice)
        }
    };
    Ok((found.labels, found.stop_reason))
}

/// Starts, and what is made of them.
fn solve_one<O: Objective>(
    graph: &Graph<'_>,
    given: Option<Vec<ClusterId>>,
    task: &Task<'_, O>,
    seed: u64,
) -> Result<Solution> {
    let (plan, choice) = (task.plan, task.plan.choice);
    let mut candidates = match given {
        Some(labels) => vec![starts::given(graph, labels, task)?],
        None => all_starts(graph, task, seed)?,
    };
    if candidates.is_empty() || (!candidates.iter().any(Solution::is_feasible) && !task.is_stopped()) {
        candidates.push(task.improve(graph, balanced(graph, task), Proof::Full, seed)?);
    }
    let mut best = take_chosen(&mut candidates, choice);
    if candidates.is_empty() {
        let improved = with_split_merge(graph, best.clone(), task, seed)?;
        best = improved.into_iter().fold(best, |best, other| best.or_preferred(other, choice));
    }
    best = cycled(graph, best, task, seed)?;
    if let Some(span) = plan.recombination {
        candidates.push(best);
        best = evolve(graph, candidates, span, task, seed)?;
    }
    Ok(best)
}

/// What V-cycles make of a solution.
fn cycled<O: Objective>(
    graph: &Graph<'_>,
    mut best: Solution,
    task: &Task<'_, O>,
    seed: u64,
) -> Result<Solution> {
    let choice = task.plan.choice;
    for cycle in 0..task.plan.v_cycles as u64 {
        let seed = seed.wrapping_add(cycle);
        let pass = Pass { within: Some(&best.labels), noise: CYCLE_NOISE, seed, split_rounds: 0 };
        let found = multilevel(graph, task, &pass)?;
        if !found.is_preferred_to(&best, choice) {
            break;
        }
        let is_much = match choice {
            Choice::Modularity => found.modularity > best.modularity + MIN_CYCLE_GAIN,
            Choice::Objective => {
                let cut = task.objective.cut(best.objective, task.n_clusters);
                found.objective > best.objective + MIN_CYCLE_GAIN * cut
            }
        };
        best = found;
        if !is_much {
            break;
        }
    }
    Ok(best)
}

/// The starts, those of the paper first. Where modularity chooses, some are made under a stricter floor than is asked
/// for, which differ less in mass, and then released. Split-merge on the graph itself then is left out: it gains in the
/// objective, and next to nothing in modularity.
fn all_starts<O: Objective>(graph: &Graph<'_>, task: &Task<'_, O>, seed: u64) -> Result<Vec<Solution>> {
    let plan = task.plan;
    if plan.is_large {
        return starts_of_large(graph, task, seed);
    }
    let strict = plan.strict_starts.then_some(Task { floor: STRICTER * task.floor, ..*task });
    let improved = |start: Solution| match plan.choice {
        Choice::Modularity => Ok(vec![start]),
        Choice::Objective => with_split_merge(graph, start, task, seed),
    };
    let from_paper = || -> Result<Vec<Solution>> {
        if !plan.hierarchy_start {
            return Ok(Vec::new());
        }
        let paper = starts::paper(graph, task)?;
        let released = match &strict {
            Some(strict) => starts::paper_released(graph, &paper, strict, task)?,
            None => None,
        };
        let mut all = improved(repair::at_the_floor(graph, paper, task)?)?;
        all.extend(released);
        Ok(all)
    };
    let from_merging = || -> Result<Vec<Solution>> {
        if !plan.merging_start {
            return Ok(Vec::new());
        }
        let pass = Pass { within: None, noise: 0.0, seed, split_rounds: plan.coarse_split_rounds };
        match &strict {
            Some(strict) => multilevel_twice(graph, task, strict, &pass).map(Vec::from),
            None => improved(multilevel(graph, task, &pass)?),
        }
    };
    let (paper, merged) = join(from_paper, from_merging);
    let mut all = paper?;
    all.extend(merged?);
    Ok(all)
}

/// As [`all_starts`], where two graphs beside the one there is would be too many: what makes such graphs runs by itself.
fn starts_of_large<O: Objective>(graph: &Graph<'_>, task: &Task<'_, O>, seed: u64) -> Result<Vec<Solution>> {
    let plan = task.plan;
    let from_paper = plan.hierarchy_start.then(|| starts::hierarchy(graph, task)).transpose()?;
    let pass = Pass { within: None, noise: 0.0, seed, split_rounds: plan.coarse_split_rounds };
    let (paper, merged) = join(
        || from_paper.map(|labels| starts::descended(graph, labels, task)).transpose(),
        || plan.merging_start.then(|| multilevel(graph, task, &pass)).transpose(),
    );
    let paper = paper?.map(|found| repair::at_the_floor(graph, found, task)).transpose()?;
    Ok(paper.into_iter().chain(merged?).collect())
}

/// A start, and what split-merge makes of it.
fn with_split_merge<O: Objective>(
    graph: &Graph<'_>,
    start: Solution,
    task: &Task<'_, O>,
    seed: u64,
) -> Result<Vec<Solution>> {
    if task.plan.split_rounds == 0 {
        return Ok(vec![start]);
    }
    let improved = split_merge(graph, start.clone(), task.plan.split_rounds, task, seed)?;
    Ok(vec![start, improved])
}

/// Takes the one to be kept out of several, the first of which is the yardstick.
fn take_chosen(candidates: &mut Vec<Solution>, choice: Choice) -> Solution {
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
