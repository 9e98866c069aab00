//! A population of solutions, recombined.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::ControlFlow;

use crate::error::Result;
use crate::graph::Graph;
use crate::hierarchy::Merging;
use crate::parallel::prelude::*;
use crate::partition::ClusterId;
use crate::progress::{Progress, Stage};
use crate::random::Random;

use super::complete::complete;
use super::is_large;
use super::multilevel::{Coarsening, Level, multilevel, uncoarsen};
use super::split_merge::split_merge;
use super::task::{Solution, Task};

/// Solutions that are kept.
const POPULATION: usize = 16;
/// Solutions made at a time. Not the number of threads: the result must not depend on it.
const BATCH: usize = 4;
/// Noise of the weights for new solutions, and for passes over solutions there are.
const FRESH_NOISE: f64 = 0.2;
const CYCLE_NOISE: f64 = 0.4;
/// Batches without a better solution after which an era ends.
const PATIENCE: usize = 30;
/// Rounds of split-merge for a new solution.
const SPLIT_ROUNDS: usize = 2;

/// How long it may take.
#[derive(Clone, Copy)]
pub(super) struct Span {
    /// Times that a population lives until it has nothing better to give; the next then starts from nothing, or from
    /// the best of all before.
    pub(super) eras: usize,
    /// Batches in an era at most.
    pub(super) batches: usize,
}

/// Improves on `start`, the last of which is the best so far, until the observer says stop or the span is over.
pub(super) fn evolve(
    graph: &Graph<'_>,
    start: Vec<Solution>,
    span: Span,
    task: &Task<'_>,
    seed: u64,
) -> Result<Solution> {
    let mut random = Random::new(seed ^ 0x6e63_7574);
    let mut population = Vec::new();
    for solution in start.into_iter().rev() {
        insert(&mut population, solution);
    }
    let mut elders: Vec<Solution> = vec![population[0].clone()];
    for era in 0..span.eras {
        population = match era {
            0 => population,
            _ if era.is_multiple_of(3) => elders.clone(),
            _ => Vec::new(),
        };
        live(graph, &mut population, &elders[0], span.batches, &mut random, task)?;
        for solution in population.drain(..).take(1) {
            insert(&mut elders, solution);
        }
        if task.is_stopped() {
            break;
        }
    }
    Ok(elders.swap_remove(0))
}

/// One era: batch after batch, until nothing better has come for a while.
fn live(
    graph: &Graph<'_>,
    population: &mut Vec<Solution>,
    best_before: &Solution,
    most_batches: usize,
    random: &mut Random,
    task: &Task<'_>,
) -> Result<()> {
    let mut progress = Progress::new(Stage::Search, 0);
    let mut idle = 0;
    for batch in 0..most_batches {
        let best =
            population.first().filter(|first| first.is_better_than(best_before)).unwrap_or(best_before);
        progress.objective = Some(best.objective);
        progress.done = batch as u64;
        progress.sweeps = task.tally.sweeps();
        progress.moves = task.tally.moves();
        if idle >= PATIENCE || task.watch.report(&progress).is_break() {
            break;
        }
        let plans: Vec<Plan> = (0..BATCH).map(|_| Plan::draw(population, random)).collect();
        let carried_out = |plan: &Plan| plan.carry_out(graph, population, task);
        let children: Vec<Solution> = match is_large(graph) {
            true => plans.iter().map(carried_out).collect::<Result<_>>()?,
            false => plans.par_iter().with_max_len(1).map(carried_out).collect::<Result<_>>()?,
        };
        let before = population.first().cloned();
        for child in children {
            insert(population, child);
        }
        let gained = before.is_none_or(|before| {
            let first = &population[0];
            first.objective > before.objective + 1e-9 || first.is_feasible() != before.is_feasible()
        });
        idle = if gained { 0 } else { idle + 1 };
    }
    Ok(())
}

/// How a new solution is to be made.
enum Plan {
    /// From nothing, with noise.
    Fresh { seed: u64 },
    /// From two of the population, by their numbers; the first is the better.
    Cross { first: usize, second: usize, seed: u64 },
    /// From one of the population, coarsened with noise, clusters kept.
    Cycle { parent: usize, seed: u64 },
}

impl Plan {
    fn draw(population: &[Solution], random: &mut Random) -> Self {
        let n = population.len() as u32;
        let seed = random.next();
        // A population that is still growing does so by half from nothing: it lives on differences.
        if n < 2 || ((n as usize) < POPULATION && random.below(2) == 0) {
            return Self::Fresh { seed };
        }
        let (a, b) = (random.below(n), random.below(n - 1));
        let b = if b >= a { b + 1 } else { b };
        match random.below(8) {
            0 => Self::Fresh { seed },
            1 => Self::Cycle { parent: a.min(b) as usize, seed },
            _ => Self::Cross { first: a.min(b) as usize, second: a.max(b) as usize, seed },
        }
    }

    fn carry_out(&self, graph: &Graph<'_>, population: &[Solution], task: &Task<'_>) -> Result<Solution> {
        let (found, seed) = match *self {
            Self::Fresh { seed } => {
                let how = Coarsening { within: None, noise: FRESH_NOISE, seed };
                (multilevel(graph, task, &how)?, seed)
            }
            Self::Cycle { parent, seed } => {
                let how = Coarsening { within: Some(&population[parent].labels), noise: CYCLE_NOISE, seed };
                (multilevel(graph, task, &how)?, seed)
            }
            Self::Cross { first, second, seed } => {
                let child = cross(graph, &population[first], &population[second], task, seed)?;
                let how = Coarsening { within: Some(&child.labels), noise: CYCLE_NOISE, seed };
                (multilevel(graph, task, &how)?, seed)
            }
        };
        split_merge(graph, found, SPLIT_ROUNDS, task, seed)
    }
}

/// Puts a child in its place, unless the population has it already or is better throughout.
fn insert(population: &mut Vec<Solution>, child: Solution) {
    let is_known = |other: &Solution| (other.objective - child.objective).abs() < 1e-10;
    if population.iter().any(is_known) {
        return;
    }
    population.push(child);
    population.sort_by(rank);
    population.truncate(POPULATION);
}

fn rank(a: &Solution, b: &Solution) -> Ordering {
    b.is_better_than(a).cmp(&a.is_better_than(b))
}

/// Contracts what two solutions agree on, merges that greedily, and refines; or starts from the better of the
/// two there, whichever ends higher.
fn cross(
    graph: &Graph<'_>,
    first: &Solution,
    second: &Solution,
    task: &Task<'_>,
    seed: u64,
) -> Result<Solution> {
    let (group_of, n_groups) = overlay(&first.labels, &second.labels, task.n_clusters);
    if n_groups <= task.n_clusters {
        return Ok(first.clone());
    }
    let small = graph.contract(&group_of, n_groups)?;
    let merging =
        Merging { floor: task.floor, noise: FRESH_NOISE, seed, ..Merging::down_to(task.n_clusters) };
    let mut inherited = vec![0; n_groups];
    for (&group, &label) in group_of.iter().zip(&first.labels) {
        inherited[group as usize] = label;
    }
    let mut levels = [Level::new(small, group_of)];
    let small = levels[0].graph().expect("it was just made");
    let merged = match merging.finish(small, task.watch)? {
        ControlFlow::Continue(groups) => {
            let labels = complete(small, groups.of_node, groups.count, task);
            Some(uncoarsen(graph, &mut levels, labels?, task.n_clusters, task, seed)?)
        }
        ControlFlow::Break(()) => None,
    };
    let kept = uncoarsen(graph, &mut levels, inherited, task.n_clusters, task, seed)?;
    Ok(match merged {
        Some(merged) if merged.is_better_than(&kept) => merged,
        _ => kept,
    })
}

/// The groups of nodes that have both labels in common, numbered by first appearance.
fn overlay(first: &[ClusterId], second: &[ClusterId], n_clusters: usize) -> (Vec<u32>, usize) {
    let mut number = HashMap::new();
    let mut groups = Vec::with_capacity(first.len());
    for (&a, &b) in first.iter().zip(second) {
        let next = number.len() as u32;
        groups.push(*number.entry(u64::from(a) * n_clusters as u64 + u64::from(b)).or_insert(next));
    }
    (groups, number.len())
}
