//! Communities: clusters of high modularity, as many as there are or exactly as many as asked for, each connected.
//!
//! The Leiden algorithm (Traag, Waltman, van Eck 2019), with labels that are improved again on every level on the way back, and
//! with several runs whose results are recombined: what two of them have in common is contracted and clustered anew
//! (Ovelgönne, Geyer-Schulz 2012).

mod moving;
mod refine;
mod leiden;
mod recombine;
mod merge;
mod exact;

use crate::error::Result;
use crate::graph::Graph;
use crate::limits::Limits;
use crate::objective::Modularity;
use crate::partition::ClusterId;
use crate::progress::Clock;
use exact::{Exactly, Question};
use leiden::{Grouping, Labelling, Leiden};
use moving::{Number, numbered};
use recombine::Patience;

/// How long to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thoroughness {
    /// One cycle of a run.
    Cycle,
    /// One run that ends early on graphs where a cycle takes long: what follows has other aims.
    Start,
    /// One run.
    Run,
    /// Some runs and their recombination, where a run takes milliseconds.
    Recombined,
    /// Populations of runs, until nothing better turns up or, with a time limit, until that.
    Patient,
}

/// Which communities are asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Communities<'a> {
    /// Of modularity; `None` for the one at which there are as many communities as asked for, or else for 1.
    pub(crate) resolution: Option<f64>,
    pub(crate) thoroughness: Thoroughness,
    pub(crate) seed: u64,
    pub(crate) limits: &'a Limits,
}

/// Communities, numbered by first appearance.
pub(crate) struct FoundCommunities {
    pub(crate) labels: Vec<ClusterId>,
    pub(crate) resolution: f64,
}

/// The resolution of modularity as Newman defines it.
pub(crate) const RESOLUTION: f64 = 1.0;

impl Communities<'_> {
    /// As many communities as there are, all of them connected; isolated nodes are communities of their own. `given` labels
    /// are the start, if there are any. When the clock says stop, the communities are those so far.
    pub(crate) fn find(
        &self,
        graph: &Graph<'_>,
        given: Option<&[ClusterId]>,
        clock: &Clock<'_>,
    ) -> Result<FoundCommunities> {
        let resolution = self.resolution.unwrap_or(RESOLUTION);
        let leiden = self.leiden(graph, resolution);
        let patience = self.patience(graph, clock);
        let labelling = match given {
            None => leiden.search(graph, &patience, self.seed, clock)?,
            Some(given) => {
                let mut labelling = labelling(given);
                leiden.run(graph, &mut labelling, patience.max_cycles, self.seed, clock)?;
                labelling
            }
        };
        // A run that was stopped at once has not looked at the labels it was given.
        let labels = labelling.pieces(graph).of_node;
        Ok(FoundCommunities { labels, resolution })
    }

    /// Exactly `n_clusters` communities, fewer than nodes, of a graph without isolated nodes. Each is connected, or consists of whole
    /// components where these are more than clusters. `min_volume` is a floor for the volume of each, which is met where it can be.
    pub(crate) fn find_exactly(
        &self,
        graph: &Graph<'_>,
        n_clusters: usize,
        min_volume: f64,
        given: Option<&[ClusterId]>,
        clock: &Clock<'_>,
    ) -> Result<FoundCommunities> {
        let question = Question {
            leiden: self.leiden(graph, RESOLUTION),
            n_clusters,
            resolution: self.resolution,
            floor: min_volume,
            patience: self.patience(graph, clock),
            seed: self.seed,
        };
        let Exactly { labelling, resolution } = match given {
            None => question.answer(graph, clock)?,
            Some(given) => {
                let resolution = self.resolution.unwrap_or(RESOLUTION);
                let labelling = question.polished(graph, &labelling(given), resolution, clock)?;
                Exactly { labelling, resolution }
            }
        };
        Ok(FoundCommunities { labels: labelling.labels, resolution })
    }

    fn leiden(&self, graph: &Graph<'_>, resolution: f64) -> Leiden<'_> {
        let modularity = Modularity { total: graph.volume(), resolution };
        let is_huge = graph.columns().len() > self.limits.min_entries_for_blocks;
        let grouping = if is_huge { Grouping::Whole } else { Grouping::Refined };
        Leiden { modularity, number: Number::Free, grouping, floor: 0.0, limits: self.limits }
    }

    /// What is tried on a graph of this size.
    fn patience(&self, graph: &Graph<'_>, clock: &Clock<'_>) -> Patience {
        /// Cycles of a start on a graph that is not small. Where there are no communities every cycle finds a little more: a random
        /// graph of 100 000 nodes took minutes.
        const CYCLES_OF_START: usize = 3;
        /// Populations without a limit, and with one, which is there to be used.
        const POPULATIONS: (usize, usize) = (4, 100_000);
        let n_entries = graph.columns().len();
        let one = Patience { n_starts: 1, max_cycles: usize::MAX, max_failures: 0, n_populations: 0 };
        let is_large = n_entries > self.limits.max_entries_thorough;
        let is_huge = n_entries > self.limits.min_entries_for_blocks;
        match self.thoroughness {
            Thoroughness::Cycle => Patience { max_cycles: 1, ..one },
            Thoroughness::Start if n_entries > self.limits.max_entries_brief => {
                Patience { max_cycles: CYCLES_OF_START, ..one }
            }
            Thoroughness::Start | Thoroughness::Run => one,
            _ if is_huge => one,
            // One run of either kind.
            Thoroughness::Recombined if is_large => Patience { n_starts: 2, n_populations: 1, ..one },
            Thoroughness::Recombined => {
                let n_starts = if n_entries <= self.limits.max_entries_brief { 8 } else { 4 };
                Patience { n_starts, max_failures: 2, n_populations: 1, ..one }
            }
            Thoroughness::Patient => {
                let n_populations = if clock.has_limit() { POPULATIONS.1 } else { POPULATIONS.0 };
                Patience { n_starts: 16, max_failures: 8, n_populations, ..one }
            }
        }
    }
}

/// Any labels, numbered by first appearance.
fn labelling(given: &[ClusterId]) -> Labelling {
    let n_labels = given.iter().max().map_or(0, |&last| last as usize + 1);
    let (labels, count) = numbered(given.to_vec(), n_labels);
    Labelling { labels, count }
}
