//! A population of solutions, recombined.

use std::cmp::Ordering;
use std::collections::HashMap;

use crate::error::{Result, or_stopped};
use crate::graph::Graph;
use crate::hierarchy::Merging;
use crate::objective::Objective;
use crate::parallel::prelude::*;
use crate::partition::ClusterId;
use crate::progress::{Progress, Stage};
use crate::random::Random;

use super::coarsen::Level;
use super::gather::groups_at_most_asked;
use super::multilevel::{Pass, multilevel, refined};
use super::plan::Span;
use super::solution::Solution;
use super::split::split_until_enough;
use super::split_merge::split_merge;
use super::task::{Tally, Task};

/// Solutions that are kept.
const POPULATION: usize = 16;
/// Solutions whose objectives differ by less than this, in units of the objective, are the same.
const SAME: f64 = 1e-10;
/// A better solution gains at least this, in units of the objective.
const MIN_GAIN: f64 = 1e-9;
/// Solutions made at a time. Not the number of threads: the result must not depend on it.
const BATCH: usize = 4;
/// Noise of the weights for new solutions, and for passes over solutions there are.
const FRESH_NOISE: f64 = 0.2;
const CYCLE_NOISE: f64 = 0.4;
/// Batches without a better solution after which a population ends.
const PATIENCE: usize = 30;
/// Rounds of split-merge for a new solution.
const SPLIT_ROUNDS: usize = 2;

/// Improves on `start`, the last of which is the best so far, until the clock says stop or the span is over.
pub(super) fn evolve<O: Objective>(
    graph: &Graph<'_>,
    start: Vec<Solution>,
    span: Span,
    task: &Task<'_, O>,
    seed: u64,
) -> Result<Solution> {
    let same = SAME * task.objective.unit();
    let mut random = Random::new(seed ^ 0x6e63_7574);
    let mut population = Vec::new();
    for solution in start.into_iter().rev() {
        insert(&mut population, solution, same);
    }
    // The best of every population so far.
    let mut archive: Vec<Solution> = vec![population[0].clone()];
    for restart in 0..span.restarts {
        population = match restart {
            0 => population,
            _ if restart.is_multiple_of(3) => archive.clone(),
            _ => Vec::new(),
        };
        live(graph, &mut population, &archive[0], span.batches, &mut random, task)?;
        for solution in population.drain(..).take(1) {
            insert(&mut archive, solution, same);
        }
        if task.is_time_up() {
            break;
        }
    }
    Ok(archive.swap_remove(0))
}

/// The life of a population: batch after batch, until nothing better has come for a while.
fn live<O: Objective>(
    graph: &Graph<'_>,
    population: &mut Vec<Solution>,
    best_before: &Solution,
    max_batches: usize,
    random: &mut Random,
    task: &Task<'_, O>,
) -> Result<()> {
    let (same, min_gain) = (SAME * task.objective.unit(), MIN_GAIN * task.objective.unit());
    let mut progress = Progress::new(Stage::Search, 0);
    let mut idle = 0;
    for batch in 0..max_batches {
        let best =
            population.first().filter(|first| first.is_better_than(best_before)).unwrap_or(best_before);
        progress.objective = Some(best.objective);
        // All that is kept of an archive is no lower than its best.
        if best.is_feasible() && best.is_allowed() {
            task.clock.tell_answer(best.objective);
        }
        progress.done = batch as u64;
        progress.sweeps = task.tally.map_or(0, Tally::sweeps);
        progress.moves = task.tally.map_or(0, Tally::moves);
        if idle >= PATIENCE || task.clock.report(&progress).is_err() || task.is_time_up() {
            break;
        }
        let recipes: Vec<Recipe> = (0..BATCH).map(|_| Recipe::draw(population, random)).collect();
        let make = |recipe: &Recipe| recipe.make(graph, population, task);
        let children: Vec<Solution> = match task.plan.is_large {
            true => recipes.iter().map(make).collect::<Result<_>>()?,
            false => recipes.par_iter().with_max_len(1).map(make).collect::<Result<_>>()?,
        };
        let before = population.first().cloned();
        for child in children {
            insert(population, child, same);
        }
        let gained = before.is_none_or(|before| {
            let first = &population[0];
            first.objective > before.objective + min_gain || first.is_feasible() != before.is_feasible()
        });
        idle = if gained { 0 } else { idle + 1 };
    }
    Ok(())
}

/// How a new solution is to be made.
enum Recipe {
    /// From nothing, with noise.
    Fresh { seed: u64 },
    /// From two of the population, by their numbers; the first is the better.
    Cross { first: usize, second: usize, seed: u64 },
    /// From one of the population, coarsened with noise, clusters kept.
    Cycle { parent: usize, seed: u64 },
}

impl Recipe {
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

    fn make<O: Objective>(
        &self,
        graph: &Graph<'_>,
        population: &[Solution],
        task: &Task<'_, O>,
    ) -> Result<Solution> {
        let split_rounds = task.plan.coarse_split_rounds;
        let cycle = |labels: &[ClusterId], seed: u64| {
            let pass = Pass { within: Some(labels), noise: CYCLE_NOISE, seed, split_rounds };
            multilevel(graph, task, &pass)
        };
        let (found, seed) = match *self {
            Self::Fresh { seed } => {
                let pass = Pass { within: None, noise: FRESH_NOISE, seed, split_rounds };
                (multilevel(graph, task, &pass)?, seed)
            }
            Self::Cycle { parent, seed } => (cycle(&population[parent].labels, seed)?, seed),
            Self::Cross { first, second, seed } => {
                let child = cross(graph, &population[first], &population[second], task, seed)?;
                (cycle(&child.labels, seed)?, seed)
            }
        };
        split_merge(graph, found, SPLIT_ROUNDS, task, seed)
    }
}

/// Puts a child in its place, unless the population has it already or is better throughout.
fn insert(population: &mut Vec<Solution>, child: Solution, same: f64) {
    let is_known = |other: &Solution| (other.objective - child.objective).abs() < same;
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
pub(super) fn cross<O: Objective>(
    graph: &Graph<'_>,
    first: &Solution,
    second: &Solution,
    task: &Task<'_, O>,
    seed: u64,
) -> Result<Solution> {
    let (group_of, n_groups) = overlay(&first.labels, &second.labels, task.n_clusters);
    if n_groups <= task.n_clusters {
        return Ok(first.clone());
    }
    let Ok(small) = or_stopped(graph.contract_observed(&group_of, n_groups, task.clock))? else {
        return Ok(first.clone());
    };
    let merging = Merging {
        floor: task.floor,
        connected: task.merges_linked_only(),
        ceiling: task.ceiling,
        noise: FRESH_NOISE,
        seed,
        ..task.merging_down_to(task.n_clusters)
    };
    let mut inherited = vec![0; n_groups];
    for (&group, &label) in group_of.iter().zip(&first.labels) {
        inherited[group as usize] = label;
    }
    let merged = match or_stopped(merging.merge_all(&small, task.clock))? {
        Ok(groups) => {
            let (labels, count) = groups_at_most_asked(&small, groups.of_node, groups.count, task)?;
            Some(split_until_enough(&small, labels, count, task)?)
        }
        Err(_) => None,
    };
    let mut levels = [Level::new(small, group_of)];
    let merged = merged.map(|labels| refined(graph, &mut levels, labels, task, seed)).transpose()?;
    let kept = refined(graph, &mut levels, inherited, task, seed)?;
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
