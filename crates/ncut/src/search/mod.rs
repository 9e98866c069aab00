//! Beyond the paper: multilevel search with split-merge and recombination.
//!
//! [`Plan`] says what is done with a graph. The phases, each using only those above it:
//!
//! ```text
//! plan         every decision                      solution, task   what is asked for, and what is found
//! connect      clusters that hold together         comply          nodes apart, and no cluster above the ceiling
//! gather       groups that must not merge, into as many clusters as asked for   balanced   clusters of nearly the same mass
//! coarsen      graph -> levels                     uncoarsen        labels of the last level -> labels of the graph
//! bisect       a cluster -> two halves             split            as many clusters as asked for
//! split_merge  one cluster split, two merged       multilevel       uncoarsen(initial(coarsen(graph)))
//! repair, grow clusters below the floor            starts           labels that do not come from merging
//! few_nodes    moves of two nodes at a time         renew           labels of a graph that has changed
//! recombine    a population of solutions           exhaustive, components   graphs that need no search
//! backtrack    labels that are allowed, by trying
//! ```
//!
//! All phases work under the same constraints, connected clusters and a *floor* for the mass of each, and none gives back less
//! than it was given. Starts compete by one rule, see [`Choice`].

mod plan;
mod solution;
mod connect;
mod comply;
mod task;
mod gather;
mod balanced;
mod components;
mod backtrack;
mod exhaustive;
mod coarsen;
mod uncoarsen;
mod bisect;
mod split;
mod split_merge;
mod multilevel;
mod repair;
mod grow;
mod starts;
mod few_nodes;
mod recombine;
mod renew;

use crate::descent::{Proof, StoppingRule};
use crate::error::Result;
use crate::graph::Graph;
use crate::limits::Limits;
use crate::objective::Objective;
use crate::parallel::{join, prelude::*};
use crate::partition::ClusterId;
use crate::progress::{Clock, StopReason, Stopped};

use components::Pieces;
use grow::grown;
use multilevel::{Pass, completed, from_level, multilevel, multilevel_of_alike, multilevel_twice};
use recombine::{cross, evolve};
use solution::Solution;
use split::balanced;
use split_merge::split_merge;
use task::{Tally, Task};

pub(crate) use backtrack::labels_by_backtracking;
pub use plan::{Choice, Effort, Facts, Plan, Recombination, Span};
pub(crate) use renew::{Renewal, renewed};

/// A V-cycle is the last when it gains less modularity than this, or takes less than this share from the cut.
const MIN_CYCLE_GAIN: f64 = 5e-4;
/// Noise of the weights in V-cycles: without it the same groups come together again.
const CYCLE_NOISE: f64 = 0.2;
/// How much higher the floor of the stricter starts is.
const STRICTER: f64 = 2.0;

/// Starts of highest modularity of which every two are crossed.
const N_CROSSED: usize = 3;

/// Shares that a result without one is compared with; on very large graphs only the first.
pub(crate) const SHARES_TO_COMPARE: [f64; 3] = [0.25, 0.5, 1.0];

/// What is asked for.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) n_clusters: usize,
    pub(crate) rule: StoppingRule,
    /// What is asked for comes last; before it what takes less effort, row by row, or keeps a larger share, in a row. What
    /// these give is kept until something no worse is found: more effort and fewer constraints never give less.
    pub(crate) ladder: Vec<Vec<Rung>>,
    /// Whether every cluster is to hold together.
    pub(crate) connected: bool,
    /// Mass that no cluster may exceed; infinite for any.
    pub(crate) ceiling: f64,
    /// Whether anything else is asked for: nodes that are together, or apart.
    pub(crate) is_constrained: bool,
    pub(crate) limits: Limits,
    pub(crate) seed: u64,
}

impl Request {
    fn asked_share(&self) -> f64 {
        self.ladder.last().and_then(|row| row.last()).map_or(0.0, |asked| asked.min_share)
    }
}

/// One solve of the [ladder](Request::ladder).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rung {
    pub(crate) effort: Effort,
    pub(crate) choice: Choice,
    pub(crate) min_share: f64,
}

/// Labels and how they were found.
pub(crate) struct Searched {
    pub(crate) labels: Vec<ClusterId>,
    pub(crate) sweeps: usize,
    pub(crate) moves: u64,
    pub(crate) stop_reason: StopReason,
    pub(crate) plan: Plan,
}

/// Clusters a graph without isolated nodes that has more nodes than clusters are asked for. `given` labels are a start
/// of their own, instead of all others.
pub(crate) fn search<O: Objective>(
    graph: &Graph<'_>,
    objective: O,
    given: Option<&[ClusterId]>,
    request: &Request,
    clock: &Clock<'_>,
) -> Result<Searched> {
    let tally = Tally::default();
    let facts = Facts::of(graph, request.n_clusters);
    // Communities under a share that is only compared with cost more than they give, unless it is the usual one.
    let plan_of = |rung: &Rung| {
        let is_usual = rung.min_share <= SHARES_TO_COMPARE[0] || request.asked_share() > 0.0;
        let communities_start = rung.effort.communities_start && is_usual;
        Plan::new(facts, &Effort { communities_start, ..rung.effort }, rung.choice, &request.limits)
    };
    let asked = request.ladder.last().and_then(|row| row.last()).expect("the last rung is what is asked for");
    let plan = plan_of(asked);
    // Where every cluster has a known label, and the most useful clusters are looked for, what follows the labels is: a higher
    // objective would be had against them. On Cora with 20 labels of each class known, accuracy rises from 0.69 to 0.73. On
    // pictures and meshes, where walks take long to get anywhere, the search finds the borders better.
    let spread = match (given, plan.choice) {
        (None, Choice::Modularity) if !facts.is_even => starts::spread(graph, clock),
        _ => None,
    };
    let is_all_known = |&(_, n_known): &(&Vec<ClusterId>, usize)| n_known == request.n_clusters;
    let spread = spread.as_ref().map(|(labels, n_known)| (labels, *n_known)).filter(is_all_known);
    let given = given.or(spread.map(|(labels, _)| &labels[..]));
    // What the row below has found, and the answer so far.
    let mut below: Vec<(f64, Solution)> = Vec::new();
    let mut answer: Option<Solution> = None;
    let mut from_merging = FromMerging::default();
    'ladder: for (effort, row) in request.ladder.iter().enumerate() {
        let is_last_row = effort + 1 == request.ladder.len();
        let mut found: Vec<(f64, Solution)> = Vec::new();
        for (place, rung) in row.iter().enumerate() {
            let is_asked_share = place + 1 == row.len();
            let is_needed = is_last_row || plan_of(rung).is_compared();
            let is_comparable = is_asked_share
                || facts.n_entries <= request.limits.max_entries_compared
                || rung.min_share <= SHARES_TO_COMPARE[0];
            if !is_needed || !is_comparable {
                continue;
            }
            if answer.is_some() && clock.is_stopped() {
                break 'ladder;
            }
            let mut task = Task {
                objective,
                n_clusters: request.n_clusters,
                floor: 0.0,
                ceiling: request.ceiling,
                connected: request.connected,
                is_constrained: request.is_constrained,
                bundles: None,
                rule: request.rule,
                plan: &plan_of(rung),
                clock,
                reserve: None,
                tally: Some(&tally),
            };
            if !is_asked_share && rung.effort.recombination == Recombination::WhileThereIsTime {
                task.reserve = clock.left().map(|left| left * 2 / 3);
            }
            task.floor = rung.min_share * task.total_mass(graph) / request.n_clusters as f64;
            let same = below.iter().filter(|(min_share, _)| *min_share == rung.min_share);
            let stricter = found.iter().filter(|_| is_asked_share);
            let starts: Vec<Vec<ClusterId>> =
                same.chain(stricter).map(|(_, start)| start.labels.clone()).collect();
            let solution = solve_rung(graph, given, starts, &mut from_merging, request.seed, &task)?;
            // Labels under a stricter share are as good an answer as any.
            let is_higher = |answer: &Solution| answer.objective < solution.objective;
            if is_asked_share || answer.as_ref().is_none_or(is_higher) {
                answer = Some(solution.clone());
            }
            if solution.is_feasible() && solution.is_allowed() {
                clock.tell_answer(solution.objective);
            }
            found.push((rung.min_share, solution));
        }
        below = found;
    }
    let Solution { labels, stop_reason, .. } = answer.expect("the first rung gives an answer");
    let stop_reason = clock.stopped().map_or(stop_reason, |Stopped(reason)| reason);
    Ok(Searched { labels, sweeps: tally.sweeps(), moves: tally.moves(), stop_reason, plan })
}

/// Labels of a graph that may be in several pieces; no worse than any of some `starts`.
fn solve_rung<O: Objective>(
    graph: &Graph<'_>,
    given: Option<&[ClusterId]>,
    starts: Vec<Vec<ClusterId>>,
    from_merging: &mut FromMerging,
    seed: u64,
    task: &Task<'_, O>,
) -> Result<Solution> {
    let pieces = Pieces::new(graph, task);
    if let Some(labels) = pieces.grouped(task.n_clusters, task.floor) {
        let grouped = task.solution(task.partition(graph, labels)?, StopReason::LocalOptimum);
        if grouped.is_allowed() {
            return Ok(grouped);
        }
    }
    if task.plan.is_exhaustive
        && let Some(best) = exhaustive::best_of_all(graph, task)?
    {
        return Ok(best);
    }
    // Bundles know nothing of what is apart, and are heavy.
    let is_steered = task.is_steered(graph);
    let may_bundle = given.is_none() && !is_steered;
    let bundles = if may_bundle { pieces.bundled(task.n_clusters, task.floor) } else { None };
    drop(pieces);
    let starts = starts.into_iter().map(|labels| task.improve(graph, labels, Proof::Full, seed));
    let starts: Vec<Solution> = starts.collect::<Result<_>>()?;
    let best_start = starts.into_iter().reduce(|best, other| best.or_preferred(other, Choice::Objective));
    let found = match bundles.filter(|bundles| bundles.count > task.n_clusters) {
        None => solve_one(graph, given, best_start.as_ref(), from_merging, task, seed)?,
        Some(bundles) if task.plan.is_large => {
            let task = &Task { bundles: Some(&bundles), ..*task };
            solve_one(graph, None, best_start.as_ref(), from_merging, task, seed)?
        }
        Some(bundles) => {
            let bundled = graph.contract(&bundles.of_node, bundles.count)?;
            let plan = task.plan.for_graph(&bundled);
            let bundled_task = Task { plan: &plan, ..*task };
            let of_bundles = solve_one(&bundled, None, None, from_merging, &bundled_task, seed)?;
            let labels = bundles.project(&of_bundles.labels);
            let found = task.solution(task.partition(graph, labels)?, of_bundles.stop_reason);
            // The paper's labels are those of the graph as it is.
            let mut candidates = match task.plan.hierarchy_start && !task.is_stopped() {
                true => vec![starts::paper_at_the_floor(graph, task)?, found],
                false => vec![found],
            };
            let yardstick = candidates[0].objective;
            take_chosen(&mut candidates, yardstick, task.plan.choice)
        }
    };
    let found = match best_start {
        Some(start) if start.is_better_than(&found) => start,
        _ => found,
    };
    if found.is_allowed() || task.is_stopped() {
        return Ok(found);
    }
    // Wishes so tight that no repair meets them.
    match labels_by_backtracking(graph, task.objective, task.n_clusters, task.ceiling) {
        Some(labels) => {
            Ok(found.or_preferred(task.improve(graph, labels, Proof::Full, seed)?, Choice::Objective))
        }
        None => Ok(found),
    }
}

/// Starts, and what is made of them. Those that modularity chooses are no worse than the given start.
fn solve_one<O: Objective>(
    graph: &Graph<'_>,
    given: Option<&[ClusterId]>,
    best_start: Option<&Solution>,
    from_merging: &mut FromMerging,
    task: &Task<'_, O>,
    seed: u64,
) -> Result<Solution> {
    let (plan, choice) = (task.plan, task.plan.choice);
    let (mut candidates, n_references) = match given {
        Some(labels) => (vec![starts::given(graph, labels.to_vec(), task)?], 1),
        None => {
            let Starts { references, others } = all_starts(graph, from_merging, task, seed)?;
            let n_references = references.len();
            (references.into_iter().chain(others).collect(), n_references)
        }
    };
    if candidates.is_empty() || (!candidates.iter().any(Solution::is_feasible) && !task.is_stopped()) {
        let nearest =
            candidates.iter().reduce(|best, other| if other.is_better_than(best) { other } else { best });
        candidates.push(match nearest.filter(|_| task.connected) {
            // Clusters that are linked to nothing of their own would all be taken apart again.
            Some(nearest) => match repair::at_the_floor(graph, nearest.clone(), task)? {
                repaired if repaired.is_feasible() => repaired,
                repaired => {
                    let nearest = nearest.clone().or_preferred(repaired, Choice::Objective);
                    task.improve(graph, grown(graph, nearest, task)?.labels, Proof::Full, seed)?
                }
            },
            None => task.improve(graph, balanced(graph, task), Proof::Full, seed)?,
        });
    }
    let feasible = candidates[..n_references].iter().chain(best_start).filter(|start| start.is_feasible());
    let yardstick = feasible.map(|start| start.objective).fold(f64::NEG_INFINITY, f64::max);
    let mut best = take_chosen(&mut candidates, yardstick, choice);
    if candidates.is_empty() {
        let improved = with_split_merge(graph, best.clone(), task, seed)?;
        best = improved.into_iter().fold(best, |best, other| best.or_preferred(other, choice));
    }
    let in_doubt = plan.in_doubt();
    let task = match best.is_in_doubt(plan) {
        true => &Task { plan: &in_doubt, ..*task },
        false => task,
    };
    best = cycled(graph, best, task, seed)?;
    if let Some(span) = task.plan.recombination {
        candidates.push(best);
        best = evolve(graph, candidates, span, task, seed)?;
    }
    let is_patient = !matches!(task.plan.effort.recombination, Recombination::None | Recombination::Brief);
    if is_patient && task.is_constrained {
        best = few_nodes::thoroughly(graph, best, task, seed)?;
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
    let mut n_in_vain = 0;
    for cycle in 0..task.plan.v_cycles as u64 {
        let seed = seed.wrapping_add(cycle);
        let pass = Pass { within: Some(&best.labels), noise: CYCLE_NOISE, seed, split_rounds: 0 };
        let found = multilevel(graph, task, &pass)?;
        if !found.is_preferred_to(&best, choice) {
            n_in_vain += 1;
            if n_in_vain == task.plan.v_cycles_in_vain {
                break;
            }
            continue;
        }
        let is_much = match choice {
            Choice::Modularity => found.usefulness() > best.usefulness() + MIN_CYCLE_GAIN,
            Choice::Objective => {
                let cut = task.objective.cut(best.objective, task.n_clusters);
                found.objective > best.objective + MIN_CYCLE_GAIN * cut
            }
        };
        best = found;
        n_in_vain += usize::from(!is_much);
        if n_in_vain == task.plan.v_cycles_in_vain {
            break;
        }
    }
    Ok(best)
}

/// What a solve starts from.
#[derive(Default)]
struct Starts {
    /// The paper's labels at the floor; on large graphs all starts. Nothing below the best of them is chosen.
    references: Vec<Solution>,
    /// Others: from merging; made under a stricter floor than is asked for, which differ less in mass, and then released; from
    /// communities.
    others: Vec<Solution>,
}

/// Starts from merging.
struct MergingStarts {
    first: Solution,
    /// Those that do not trust single edges, and one under a stricter floor.
    others: Vec<Solution>,
}

impl MergingStarts {
    fn new<O: Objective>(
        graph: &Graph<'_>,
        strict: Option<&Task<'_, O>>,
        task: &Task<'_, O>,
        seed: u64,
    ) -> Result<Self> {
        let pass = first_pass(task.plan, seed);
        let (first, released) = match strict {
            Some(strict) => {
                let [first, released] = multilevel_twice(graph, task, strict, &pass)?;
                (first, Some(released))
            }
            None => (multilevel(graph, task, &pass)?, None),
        };
        let in_doubt = starts_in_doubt(graph, &first, task, &pass)?;
        Ok(Self { first, others: in_doubt.into_iter().chain(released).collect() })
    }
}

/// Starts from merging that the next rung may take over: they depend on few of a plan's decisions, and take most of the time of
/// preset `fast`.
#[derive(Default)]
struct FromMerging(Vec<(usize, f64, Plan, MergingStarts)>);

impl FromMerging {
    fn take<O: Objective>(&mut self, graph: &Graph<'_>, task: &Task<'_, O>) -> Option<MergingStarts> {
        let is_same = |(n_nodes, floor, plan, _): &(usize, f64, Plan, MergingStarts)| {
            *n_nodes == graph.n_nodes() && *floor == task.floor && plan.merges_like(task.plan)
        };
        let place = self.0.iter().position(is_same)?;
        Some(self.0.swap_remove(place).3)
    }

    fn keep<O: Objective>(&mut self, graph: &Graph<'_>, task: &Task<'_, O>, starts: MergingStarts) {
        if !task.is_stopped() {
            self.0.push((graph.n_nodes(), task.floor, *task.plan, starts));
        }
    }
}

/// The starts. Where modularity chooses, split-merge on the graph itself is left out: it gains in the objective, and next to
/// nothing in modularity.
fn all_starts<O: Objective>(
    graph: &Graph<'_>,
    from_merging: &mut FromMerging,
    task: &Task<'_, O>,
    seed: u64,
) -> Result<Starts> {
    let plan = task.plan;
    if plan.is_large {
        return starts_of_large(graph, task, seed);
    }
    let strict = plan.strict_starts.then_some(Task { floor: STRICTER * task.floor, ..*task });
    let improved = |start: Solution| match plan.choice {
        Choice::Modularity => Ok(vec![start]),
        Choice::Objective => with_split_merge(graph, start, task, seed),
    };
    let from_paper = || -> Result<Starts> {
        if !plan.hierarchy_start {
            return Ok(Starts::default());
        }
        let paper = starts::paper(graph, task)?;
        let released = match &strict {
            Some(strict) => starts::paper_released(graph, &paper, strict, task)?,
            None => None,
        };
        let paper = task.held_together(graph, paper)?;
        let references = improved(repair::at_the_floor(graph, paper, task)?)?;
        Ok(Starts { references, others: released.into_iter().collect() })
    };
    let known = from_merging.take(graph, task);
    let by_merging = || match known {
        Some(starts) => Ok(Some(starts)),
        None if plan.merging_start => MergingStarts::new(graph, strict.as_ref(), task, seed).map(Some),
        None => Ok(None),
    };
    let from_communities = || match plan.communities_start && !task.is_stopped() {
        true => starts::communities(graph, task, seed),
        false => Ok(Vec::new()),
    };
    let ((paper, merged), communities) = join(|| join(from_paper, by_merging), from_communities);
    let mut all = paper?;
    if let Some(merged) = merged? {
        all.others.extend(improved(merged.first.clone())?);
        all.others.extend(merged.others.iter().cloned());
        from_merging.keep(graph, task, merged);
    }
    all.others.extend(communities?);
    if !plan.facts.is_even {
        all.others.extend(starts::known(graph, task, seed)?);
    }
    if plan.communities_start {
        all.others.extend(crossed(graph, &all, task, seed)?);
    }
    let at_the_floor = |start| repair::at_the_floor(graph, start, task);
    all.others = all.others.into_iter().map(at_the_floor).collect::<Result<_>>()?;
    Ok(all)
}

/// What the starts of highest modularity have in common, by twos, clustered anew.
fn crossed<O: Objective>(
    graph: &Graph<'_>,
    starts: &Starts,
    task: &Task<'_, O>,
    seed: u64,
) -> Result<Vec<Solution>> {
    let feasible = starts.references.iter().chain(&starts.others).filter(|start| start.is_feasible());
    let mut by_modularity: Vec<&Solution> = feasible.collect();
    by_modularity.sort_by(|a, b| b.usefulness().total_cmp(&a.usefulness()));
    let highest = &by_modularity[..by_modularity.len().min(N_CROSSED)];
    let pairs: Vec<(&Solution, &Solution)> = (0..highest.len())
        .flat_map(|second| (0..second).map(move |first| (highest[first], highest[second])))
        .collect();
    pairs.par_iter().with_max_len(1).map(|(first, second)| cross(graph, first, second, task, seed)).collect()
}

/// As [`all_starts`], where two graphs beside the one there is would be too many: what makes such graphs runs by itself.
fn starts_of_large<O: Objective>(graph: &Graph<'_>, task: &Task<'_, O>, seed: u64) -> Result<Starts> {
    let plan = task.plan;
    let from_paper = plan.hierarchy_start.then(|| starts::hierarchy(graph, task)).transpose()?;
    let pass = first_pass(plan, seed);
    let (paper, merged) = join(
        || from_paper.map(|labels| starts::descended(graph, labels, task)).transpose(),
        || plan.merging_start.then(|| multilevel(graph, task, &pass)).transpose(),
    );
    let paper = paper?
        .map(|found| repair::at_the_floor(graph, task.held_together(graph, found)?, task))
        .transpose()?;
    let mut references: Vec<Solution> = paper.into_iter().collect();
    if let Some(merged) = merged? {
        let others = starts_in_doubt(graph, &merged, task, &pass)?;
        references.push(merged);
        references.extend(others);
    }
    // Where only linked nodes merge, hubs swallow what is around them, and merging alone ends far below what can be had. On the
    // web graph cnr-2000, 100 clusters, the objective is 89.6 with this start and 78.1 without it (METIS: 83.4).
    if plan.starts_from_coarse() && task.merges_linked_only() && !task.is_stopped() {
        let solve = |level: &Graph<'_>| {
            let plan = plan.for_graph(level);
            let task = Task { plan: &plan, bundles: None, ..task.uncounted() };
            Ok(solve_one(level, None, None, &mut FromMerging::default(), &task, seed)?.labels)
        };
        references.extend(from_level(graph, task, &pass, plan.limits.max_entries_brief, &solve)?);
    }
    let known = starts::known(graph, task, seed)?;
    Ok(Starts { references, others: known.into_iter().collect() })
}

fn first_pass(plan: &Plan, seed: u64) -> Pass<'static> {
    Pass { within: None, noise: 0.0, seed, split_rounds: plan.coarse_split_rounds }
}

/// Starts that do not trust single edges, where so much weight is between the clusters of another that edges as they are may
/// have led it astray: from groups of nodes that look alike, and from the whole graph, cut in two again and again.
fn starts_in_doubt<O: Objective>(
    graph: &Graph<'_>,
    merged: &Solution,
    task: &Task<'_, O>,
    pass: &Pass<'_>,
) -> Result<Vec<Solution>> {
    let plan = task.plan.in_doubt();
    let may_start = plan.affinity_start && task.bundles.is_none() && !task.is_stopped();
    if !may_start || !merged.is_in_doubt(&plan) {
        return Ok(Vec::new());
    }
    let task = Task { plan: &plan, ..*task };
    let cut = || match plan.is_large {
        true => Ok(None),
        false => completed(graph, &vec![0; graph.n_nodes()], 1, &task).map(Some),
    };
    let (alike, cut) = join(|| multilevel_of_alike(graph, &task, pass), cut);
    Ok(alike?.into_iter().chain(cut?).collect())
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

/// Takes the one to be kept out of several. Where modularity chooses, one whose objective is below the yardstick only
/// takes the place of one that is not at the floor.
fn take_chosen(candidates: &mut Vec<Solution>, yardstick: f64, choice: Choice) -> Solution {
    let is_admitted = |candidate: &Solution| choice == Choice::Objective || candidate.objective >= yardstick;
    let mut best = 0;
    for place in 1..candidates.len() {
        let (candidate, before) = (&candidates[place], &candidates[best]);
        let is_preferred = match (is_admitted(candidate), is_admitted(before)) {
            (true, true) => candidate.is_preferred_to(before, choice),
            _ => candidate.is_preferred_to(before, Choice::Objective),
        };
        if is_preferred {
            best = place;
        }
    }
    candidates.swap_remove(best)
}
