//! Exactly as many communities as asked for: the resolution at which there are so many, and merging for the rest.

use super::leiden::{Grouping, Labelling, Leiden, MIN_GAIN};
use super::merge::{absorbed, merged};
use super::moving::Number;
use super::recombine::Patience;
use super::refine::Groups;
use crate::error::{Result, or_stopped};
use crate::graph::Graph;
use crate::progress::Clock;
use crate::random::mix;

/// The resolution at which the number of communities is looked for first.
const FIRST_RESOLUTION: f64 = 1.0;
/// Steps of the bisection, and how many it takes at most to find a lower and an upper end.
const MAX_BISECTIONS: usize = 14;
const MAX_EXPANSIONS: usize = 40;
/// A large graph is looked at by way of communities of so high a resolution, and at least so many for each that is asked
/// for.
const BASE_RESOLUTION: f64 = 8.0;
const BASE_PER_CLUSTER: usize = 4;
/// Labellings that are merged down and compared.
const MAX_CANDIDATES: usize = 4;

/// Exactly `n_clusters`, and the resolution at which they were looked for.
pub(super) struct Exactly {
    pub(super) labelling: Labelling,
    pub(super) resolution: f64,
}

/// What is asked for.
pub(super) struct Question<'q> {
    pub(super) leiden: Leiden<'q>,
    pub(super) n_clusters: usize,
    /// `None`: the one at which there are as many communities.
    pub(super) resolution: Option<f64>,
    /// The volume that no cluster should fall below.
    pub(super) floor: f64,
    pub(super) patience: Patience,
    pub(super) seed: u64,
}

/// Communities at some resolution.
struct Seen {
    resolution: f64,
    labelling: Labelling,
}

/// How a number of communities compares with the number asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compared {
    TooFew,
    /// As many, or as many once components that are clusters are put together.
    Right,
    TooMany,
}

impl Question<'_> {
    /// The graph has no isolated nodes, and more nodes than clusters are asked for.
    pub(super) fn answer(&self, graph: &Graph<'_>, clock: &Clock<'_>) -> Result<Exactly> {
        let base = self.base(graph, clock)?;
        let on_base = base.as_ref().map_or(graph, |(coarse, _)| coarse);
        let found = self.answer_on(on_base, clock)?;
        let Some((_, groups)) = &base else { return Ok(found) };
        let labelling = found.labelling.projected(groups);
        let labelling = self.polished(graph, &labelling, found.resolution, clock)?;
        Ok(Exactly { labelling, ..found })
    }

    /// Of a large graph the communities of a high resolution, as a graph that is not.
    fn base(&self, graph: &Graph<'_>, clock: &Clock<'_>) -> Result<Option<(Graph<'static>, Groups)>> {
        if !self.leiden.is_large(graph) {
            return Ok(None);
        }
        let mut resolution = BASE_RESOLUTION * self.resolution.unwrap_or(FIRST_RESOLUTION);
        let mut labelling;
        loop {
            labelling = Labelling::singletons(graph.n_nodes());
            let whole = Leiden { grouping: Grouping::Whole, ..self.leiden.at(resolution) };
            whole.cycle(graph, &mut labelling, self.seed, clock)?;
            let is_enough = labelling.count >= self.n_clusters.saturating_mul(BASE_PER_CLUSTER);
            if is_enough || labelling.count > graph.n_nodes() / 2 || clock.is_stopped() {
                break;
            }
            resolution *= BASE_RESOLUTION;
        }
        if labelling.count < self.n_clusters {
            labelling = Labelling::singletons(graph.n_nodes());
        }
        let groups = labelling.into_groups();
        let contracted = graph.contract_observed(&groups.of_node, groups.count, clock);
        Ok(or_stopped(contracted)?.ok().map(|coarse| (coarse, groups)))
    }

    fn answer_on(&self, graph: &Graph<'_>, clock: &Clock<'_>) -> Result<Exactly> {
        let (resolution, mut candidates) = match self.resolution {
            Some(resolution) => (resolution, self.at_resolution(graph, resolution, clock)?),
            None => self.at_number(graph, clock)?,
        };
        candidates.retain(|seen| seen.labelling.count >= self.n_clusters);
        if candidates.is_empty() {
            candidates.push(Seen { resolution, labelling: Labelling::singletons(graph.n_nodes()) });
        }
        let at = self.leiden.at(resolution);
        let mut best: Option<(f64, Labelling)> = None;
        for seen in candidates {
            let modularity = at.modularity;
            let merged = merged(graph, modularity, &seen.labelling, self.n_clusters, self.floor, clock)?;
            let polished = self.polished(graph, &merged, resolution, clock)?;
            let quality = at.quality(graph, &polished);
            if best.as_ref().is_none_or(|best| quality > best.0 + MIN_GAIN) {
                best = Some((quality, polished));
            }
        }
        let (_, labelling) = best.unwrap_or_else(|| (0.0, Labelling::singletons(graph.n_nodes())));
        Ok(Exactly { labelling, resolution })
    }

    /// Communities of the resolution asked for, and of higher ones until there are enough.
    fn at_resolution(&self, graph: &Graph<'_>, resolution: f64, clock: &Clock<'_>) -> Result<Vec<Seen>> {
        let mut seen = vec![self.thoroughly(graph, resolution, clock)?];
        let mut finer = resolution;
        for _ in 0..MAX_EXPANSIONS {
            let n_enough = seen.iter().filter(|seen| seen.labelling.count >= self.n_clusters).count();
            if n_enough > 1 || clock.is_stopped() {
                break;
            }
            finer *= 2.0;
            seen.push(self.quickly(graph, finer, clock)?);
        }
        Ok(seen)
    }

    /// The resolution at which there are as many communities as asked for, and communities there and nearby.
    fn at_number(&self, graph: &Graph<'_>, clock: &Clock<'_>) -> Result<(f64, Vec<Seen>)> {
        let mut seen: Vec<Seen> = Vec::new();
        let (mut low, mut high): (Option<f64>, Option<f64>) = (None, None);
        let mut resolution = FIRST_RESOLUTION;
        let mut found = None;
        for step in 0..MAX_EXPANSIONS + MAX_BISECTIONS {
            let here = self.quickly(graph, resolution, clock)?;
            let compared = self.compare(graph, &here.labelling);
            seen.push(here);
            match compared {
                Compared::Right => found = Some(resolution),
                Compared::TooFew => low = Some(resolution),
                Compared::TooMany => high = Some(resolution),
            }
            let is_bracketed = low.is_some() && high.is_some();
            if found.is_some() || clock.is_stopped() || is_bracketed && step >= MAX_BISECTIONS {
                break;
            }
            resolution = match (low, high) {
                (Some(low), Some(high)) => (low * high).sqrt(),
                (Some(low), None) => 2.0 * low,
                (None, Some(high)) => 0.5 * high,
                (None, None) => break,
            };
        }
        let resolution = found.unwrap_or(resolution);
        if !clock.is_stopped() {
            seen.push(self.thoroughly(graph, resolution, clock)?);
        }
        // The nearest first, the thorough one before all.
        let distance = |seen: &Seen| (seen.resolution / resolution).max(resolution / seen.resolution);
        seen.reverse();
        seen.retain(|seen| seen.labelling.count >= self.n_clusters);
        seen.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
        seen.truncate(MAX_CANDIDATES);
        Ok((resolution, seen))
    }

    fn compare(&self, graph: &Graph<'_>, labelling: &Labelling) -> Compared {
        let n_whole = n_whole(graph, labelling);
        let n_least = labelling.count - n_whole + n_whole.min(1);
        if self.n_clusters < n_least {
            Compared::TooMany
        } else if self.n_clusters > labelling.count {
            Compared::TooFew
        } else {
            Compared::Right
        }
    }

    /// Communities of a resolution by one run.
    fn quickly(&self, graph: &Graph<'_>, resolution: f64, clock: &Clock<'_>) -> Result<Seen> {
        let at = self.leiden.at(resolution);
        let mut labelling = Labelling::singletons(graph.n_nodes());
        at.run(graph, &mut labelling, self.patience.max_cycles, mix(self.seed, 1), clock)?;
        self.absorbed(graph, resolution, &labelling, clock)
    }

    /// Communities of a resolution by all that the preset has.
    fn thoroughly(&self, graph: &Graph<'_>, resolution: f64, clock: &Clock<'_>) -> Result<Seen> {
        let at = self.leiden.at(resolution);
        let labelling = at.search(graph, &self.patience, mix(self.seed, 2), clock)?;
        self.absorbed(graph, resolution, &labelling, clock)
    }

    /// Communities below the floor join others; if too few are left they stay.
    fn absorbed(
        &self,
        graph: &Graph<'_>,
        resolution: f64,
        labelling: &Labelling,
        clock: &Clock<'_>,
    ) -> Result<Seen> {
        let modularity = self.leiden.at(resolution).modularity;
        let labelling = absorbed(graph, modularity, labelling, self.floor, clock)?;
        Ok(Seen { resolution, labelling })
    }

    /// Improves exactly as many clusters as asked for, which stay as many and connected.
    pub(super) fn polished(
        &self,
        graph: &Graph<'_>,
        labelling: &Labelling,
        resolution: f64,
        clock: &Clock<'_>,
    ) -> Result<Labelling> {
        /// Attempts: what fell apart and was merged again may be improved once more.
        const ROUNDS: usize = 4;
        let is_large = self.leiden.is_large(graph);
        let at = self.leiden.at(resolution);
        let grouping = if is_large { Grouping::Whole } else { at.grouping };
        let fixed = Leiden { number: Number::Fixed, floor: self.floor, grouping, ..at };
        let (n_rounds, max_cycles) = if is_large { (1, 1) } else { (ROUNDS, self.patience.max_cycles) };
        let mut best = self.connected(graph, labelling, resolution, clock)?;
        let mut quality = fixed.quality(graph, &best);
        for round in 0..n_rounds {
            let mut moved = best.clone();
            fixed.run(graph, &mut moved, max_cycles, mix(self.seed, 3 + round as u64), clock)?;
            let moved = self.connected(graph, &moved, resolution, clock)?;
            let improved = fixed.quality(graph, &moved);
            if improved <= quality + MIN_GAIN {
                break;
            }
            (best, quality) = (moved, improved);
        }
        Ok(best)
    }

    /// The pieces of clusters, merged down to as many as asked for.
    fn connected(
        &self,
        graph: &Graph<'_>,
        labelling: &Labelling,
        resolution: f64,
        clock: &Clock<'_>,
    ) -> Result<Labelling> {
        let pieces: Labelling = labelling.pieces(graph).into();
        let modularity = self.leiden.at(resolution).modularity;
        merged(graph, modularity, &pieces, self.n_clusters, self.floor, clock)
    }
}

/// How many clusters are whole components of the graph.
fn n_whole(graph: &Graph<'_>, labelling: &Labelling) -> usize {
    let mut is_whole = vec![true; labelling.count];
    for (node, &label) in (0..).zip(&labelling.labels) {
        graph.for_each_neighbor(node, |neighbor, _| {
            is_whole[label as usize] &= labelling.labels[neighbor as usize] == label;
        });
    }
    is_whole.into_iter().filter(|&is_whole| is_whole).count()
}
