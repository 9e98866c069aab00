//! Several runs, and what their results have in common: groups of nodes that all put together are contracted, and the
//! graph of these is clustered again.

use super::leiden::{Labelling, Leiden, overlaid};
use super::refine::pieces;
use crate::error::Result;
use crate::graph::Graph;
use crate::parallel::prelude::*;
use crate::progress::Clock;
use crate::random::mix;

/// How long to look for better communities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Patience {
    /// Runs from different orders of the nodes.
    pub(super) n_starts: usize,
    /// Cycles of a run at most.
    pub(super) max_cycles: usize,
    /// Recombinations one after the other without a better result.
    pub(super) max_failures: usize,
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
        start: &Labelling,
        patience: &Patience,
        seed: u64,
        clock: &Clock<'_>,
    ) -> Result<Labelling> {
        let run = |number: usize| {
            let mut labelling = start.clone();
            self.run(graph, &mut labelling, patience.max_cycles, mix(seed, number as u64), clock)?;
            Ok(labelling)
        };
        if patience.n_starts <= 1 {
            return run(0);
        }
        let solve = |number: usize| -> Result<Solution> { Ok(self.solution(graph, run(number)?)) };
        let starts: Vec<usize> = (0..patience.n_starts).collect();
        let solutions: Vec<Result<Solution>> =
            starts.par_iter().with_max_len(1).map(|&number| solve(number)).collect();
        let mut population: Vec<Solution> = solutions.into_iter().collect::<Result<_>>()?;
        sort(&mut population);
        let mut n_failures = 0;
        let mut generation = 0;
        while n_failures < patience.max_failures && !clock.is_stopped() {
            generation += 1;
            let best = population[0].quality;
            let seed = mix(seed, (1 << 32) + generation);
            let pairs: Vec<(usize, usize)> = mates(population.len(), seed);
            let children: Vec<Result<Solution>> = pairs
                .par_iter()
                .with_max_len(1)
                .map(|&(a, b)| self.child(graph, &population[a], &population[b], mix(seed, a as u64), clock))
                .collect();
            for child in children {
                let child = child?;
                if population.iter().all(|other| other.labelling != child.labelling) {
                    population.push(child);
                }
            }
            sort(&mut population);
            population.truncate(patience.n_starts);
            let is_better = population[0].quality > best + super::MIN_GAIN;
            n_failures = if is_better { 0 } else { n_failures + 1 };
            // All alike: nothing is left to recombine.
            if population.len() < 2 {
                break;
            }
        }
        Ok(population.swap_remove(0).labelling)
    }

    fn solution(&self, graph: &Graph<'_>, labelling: Labelling) -> Solution {
        let quality = self.quality(graph, &labelling);
        Solution { labelling, quality }
    }

    /// What two solutions have in common is contracted; the better one goes on from there, and then on the whole graph.
    fn child(
        &self,
        graph: &Graph<'_>,
        a: &Solution,
        b: &Solution,
        seed: u64,
        clock: &Clock<'_>,
    ) -> Result<Solution> {
        let common = overlaid(&a.labelling, &b.labelling);
        let groups = pieces(graph, &common.labels, common.count);
        let coarse = match graph.contract_observed(&groups.of_node, groups.count, clock) {
            Ok(coarse) => coarse,
            Err(crate::Error::Stopped { .. }) => return Ok(a.clone()),
            Err(error) => return Err(error),
        };
        let mut on_groups = Labelling::singletons(groups.count);
        self.run(&coarse, &mut on_groups, usize::MAX, seed, clock)?;
        let mut labelling = on_groups.projected(&groups);
        self.run(graph, &mut labelling, 2, mix(seed, 1), clock)?;
        Ok(self.solution(graph, labelling))
    }
}

/// The best first; among equals in the order there is.
fn sort(population: &mut [Solution]) {
    population.sort_by(|a, b| b.quality.total_cmp(&a.quality));
}

/// Every solution and another one.
fn mates(count: usize, seed: u64) -> Vec<(usize, usize)> {
    let other = |a: usize| {
        let step = 1 + mix(seed, a as u64) as usize % (count - 1);
        (a, (a + step) % count)
    };
    if count < 2 { Vec::new() } else { (0..count).map(other).collect() }
}
