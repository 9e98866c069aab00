//! Several runs, and what their results have in common: groups of nodes that two of them put together are contracted, and the
//! graph of these is clustered again.

use super::leiden::{Labelling, Leiden, MIN_GAIN};
use crate::error::{Result, or_stopped};
use crate::graph::Graph;
use crate::parallel::prelude::*;
use crate::progress::{Clock, Progress, Stage};
use crate::random::mix;

/// How long to look for better communities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Patience {
    /// Runs from different orders of the nodes.
    pub(super) n_starts: usize,
    /// Cycles of a run at most.
    pub(super) max_cycles: usize,
    /// Generations of recombined solutions without a better one, after which a population ends.
    pub(super) max_failures: usize,
    /// Populations.
    pub(super) n_populations: usize,
}

/// Labels and what they are worth.
#[derive(Clone, Debug)]
struct Solution {
    labelling: Labelling,
    quality: f64,
}

impl Leiden<'_> {
    /// The best communities that several runs and their recombination find.
    pub(super) fn search(
        &self,
        graph: &Graph<'_>,
        patience: &Patience,
        seed: u64,
        clock: &Clock<'_>,
    ) -> Result<Labelling> {
        let mut best = self.run_from(graph, patience, 0, mix(seed, 0), clock)?;
        if patience.n_starts <= 1 {
            return Ok(best.labelling);
        }
        for population in 0..patience.n_populations {
            if clock.is_stopped() {
                break;
            }
            let seed = mix(seed, (1 << 32) + population as u64);
            best = self.evolve(graph, best, patience, seed, clock)?;
        }
        Ok(best.labelling)
    }

    fn run_from(
        &self,
        graph: &Graph<'_>,
        patience: &Patience,
        number: u64,
        seed: u64,
        clock: &Clock<'_>,
    ) -> Result<Solution> {
        let is_finer = if patience.n_starts > 1 { number % 2 == 1 } else { self.is_large(graph) };
        let labelling = match is_finer {
            true => self.run_from_finer(graph, patience.max_cycles, seed, clock)?,
            false => {
                let mut labelling = Labelling::singletons(graph.n_nodes());
                self.run(graph, &mut labelling, patience.max_cycles, seed, clock)?;
                labelling
            }
        };
        // With one start there is nothing to compare with.
        let quality = if patience.n_starts > 1 { self.quality(graph, &labelling) } else { 0.0 };
        Ok(Solution { labelling, quality })
    }

    /// A population around the best solution so far.
    fn evolve(
        &self,
        graph: &Graph<'_>,
        best: Solution,
        patience: &Patience,
        seed: u64,
        clock: &Clock<'_>,
    ) -> Result<Solution> {
        let starts: Vec<u64> = (1..patience.n_starts as u64).collect();
        let others: Vec<Result<Solution>> = starts
            .par_iter()
            .with_max_len(1)
            .map(|&number| self.run_from(graph, patience, number, mix(seed, number), clock))
            .collect();
        let mut population = vec![best];
        for other in others {
            population.push(other?);
        }
        let mut progress = Progress::new(Stage::Search, 0);
        let mut n_failures = 0;
        for generation in 0.. {
            progress.done = generation;
            let is_alike = population.windows(2).all(|pair| pair[0].labelling == pair[1].labelling);
            if n_failures >= patience.max_failures || is_alike || clock.report(&progress).is_err() {
                break;
            }
            let seed = mix(seed, (1 << 32) + generation);
            let children: Vec<Result<Solution>> = mates(population.len(), seed)
                .par_iter()
                .with_max_len(1)
                .map(|&(a, b)| self.child(graph, &population[a], &population[b], mix(seed, a as u64), clock))
                .collect();
            // A better child takes the place of its parent, not of the worst of all: that would soon be all alike.
            let mut is_failure = true;
            for (solution, child) in population.iter_mut().zip(children) {
                let child = child?;
                if child.quality > solution.quality + MIN_GAIN {
                    *solution = child;
                    is_failure = false;
                }
            }
            n_failures = if is_failure { n_failures + 1 } else { 0 };
        }
        let is_better =
            |best: Solution, other: Solution| if other.quality > best.quality { other } else { best };
        let best = population.into_iter().reduce(is_better);
        Ok(best.expect("a population has a first solution"))
    }

    /// The parts that two solutions have in common are contracted, clustered, and improved on the whole graph.
    fn child(
        &self,
        graph: &Graph<'_>,
        a: &Solution,
        b: &Solution,
        seed: u64,
        clock: &Clock<'_>,
    ) -> Result<Solution> {
        /// Cycles on the whole graph: what the first leaves the next generation finds.
        const CYCLES: usize = 2;
        let groups = a.labelling.overlaid(&b.labelling).pieces(graph);
        let contracted = graph.contract_observed(&groups.of_node, groups.count, clock);
        let Ok(coarse) = or_stopped(contracted)? else { return Ok(a.clone()) };
        let mut on_groups = Labelling::singletons(groups.count);
        self.run(&coarse, &mut on_groups, usize::MAX, seed, clock)?;
        let mut labelling = on_groups.projected(&groups);
        self.run(graph, &mut labelling, CYCLES, mix(seed, 1), clock)?;
        let quality = self.quality(graph, &labelling);
        Ok(Solution { labelling, quality })
    }
}

/// Every solution and another one.
fn mates(count: usize, seed: u64) -> Vec<(usize, usize)> {
    // The remainder of all 64 bits, also where a `usize` has fewer.
    let step = |a: usize| (mix(seed, a as u64) % (count as u64 - 1)) as usize;
    let mate = |a: usize| (a, (a + 1 + step(a)) % count);
    (0..count).map(mate).collect()
}
