//! One run of the Leiden algorithm: move nodes, refine, contract, repeat on the coarse graph; then the labels come back
//! down level by level, and nodes move again on each.

use super::moving::{Moving, Number, Patience, numbered};
use super::refine::{Groups, pieces, refined};
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::limits::Limits;
use crate::objective::{Modularity, Objective, Sums};
use crate::partition::ClusterId;
use crate::progress::{Clock, Stopped};
use crate::random::mix;

/// A sweep that moves less than this share of a large graph's nodes is the last on the way to coarser levels.
const FEW_MOVES: f64 = 0.02;
/// Levels with more than this share of the nodes below them are not worth their memory.
const MAX_LEVEL_SHARE: f64 = 0.99;

/// Labels from 0, each the label of a node, and how many there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Labelling {
    pub(super) labels: Vec<ClusterId>,
    pub(super) count: usize,
}

impl Labelling {
    /// Every node by itself.
    pub(super) fn singletons(n_nodes: usize) -> Self {
        Self { labels: (0..n_nodes as ClusterId).collect(), count: n_nodes }
    }

    /// The labels of the nodes of a graph whose groups have these.
    pub(super) fn projected(&self, groups: &Groups) -> Self {
        Self { labels: self.project(&groups.of_node), count: self.count }
    }

    fn project(&self, group_of: &[u32]) -> Vec<ClusterId> {
        group_of.iter().map(|&group| self.labels[group as usize]).collect()
    }

    /// The labels of groups whose nodes have these, all nodes of a group the same.
    pub(super) fn restricted(&self, groups: &Groups) -> Self {
        let mut labels = vec![0; groups.count];
        for (&group, &label) in groups.of_node.iter().zip(&self.labels) {
            labels[group as usize] = label;
        }
        Self { labels, count: self.count }
    }
}

/// What runs have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leiden<'a> {
    pub(super) modularity: Modularity,
    pub(super) number: Number,
    pub(super) limits: &'a Limits,
}

impl Leiden<'_> {
    /// The objective of labels.
    pub(super) fn quality(&self, graph: &Graph<'_>, labelling: &Labelling) -> f64 {
        let mut sums = vec![Sums::default(); labelling.count];
        let labels = &labelling.labels;
        for (node, &label) in (0..).zip(labels) {
            let mut inside = graph.self_loop(node);
            graph.for_each_neighbor(node, |neighbor, weight| {
                inside += if labels[neighbor as usize] == label { weight } else { 0.0 };
            });
            let sums = &mut sums[label as usize];
            sums.association += inside;
            sums.volume += graph.degree(node);
        }
        sums.iter().map(|sums| self.modularity.value(sums)).sum()
    }

    /// Improves labels by at most `max_cycles`, until none gains anything. When the clock says stop, the labels are those
    /// so far.
    pub(super) fn run(
        &self,
        graph: &Graph<'_>,
        labelling: &mut Labelling,
        max_cycles: usize,
        seed: u64,
        clock: &Clock<'_>,
    ) -> Result<()> {
        for cycle in 0..max_cycles {
            let gained = self.cycle(graph, labelling, mix(seed, cycle as u64), clock)?;
            if gained <= super::MIN_GAIN || clock.is_stopped() {
                break;
            }
        }
        Ok(())
    }

    /// One way up the levels and down again; tells what it gained. The communities are connected after it, unless their
    /// number is fixed.
    fn cycle(&self, graph: &Graph<'_>, labelling: &mut Labelling, seed: u64, clock: &Clock<'_>) -> Result<f64> {
        let mut gained = 0.0;
        let climbed = self.climb(graph, labelling, seed, 0, &mut gained, clock);
        match climbed {
            Ok(()) | Err(Error::Stopped { .. }) => {}
            Err(error) => return Err(error),
        }
        if self.number == Number::Free {
            let whole = pieces(graph, &labelling.labels, labelling.count);
            if whole.count > labelling.count {
                *labelling = Labelling { labels: whole.of_node, count: whole.count };
                gained = gained.max(2.0 * super::MIN_GAIN);
            }
        }
        Ok(gained)
    }

    /// Moves nodes, then does the same on the graph of groups, then moves nodes again.
    fn climb(
        &self,
        graph: &Graph<'_>,
        labelling: &mut Labelling,
        seed: u64,
        level: u64,
        gained: &mut f64,
        clock: &Clock<'_>,
    ) -> Result<()> {
        let is_large = graph.columns().len() > self.limits.max_entries_thorough;
        let seed_here = mix(seed, level);
        let patience = if is_large { Patience::Until(FEW_MOVES) } else { Patience::Full };
        self.settle(graph, labelling, seed_here, patience, gained, clock)?;
        let groups = match is_large {
            // What nodes were drawn to each other is contracted whole: refined groups of a large graph would make another
            // graph of nearly its size.
            true => pieces(graph, &labelling.labels, labelling.count),
            false => refined(graph, self.modularity, &labelling.labels, labelling.count, mix(seed_here, 1))?,
        };
        let n_nodes = graph.n_nodes();
        if groups.count < n_nodes && (groups.count as f64) <= MAX_LEVEL_SHARE * n_nodes as f64 {
            let coarse = match is_large {
                true => graph.contract_narrow(&groups.of_node, groups.count, clock)?,
                false => graph.contract_observed(&groups.of_node, groups.count, clock)?,
            };
            let mut on_groups = labelling.restricted(&groups);
            let climbed = self.climb(&coarse, &mut on_groups, seed, level + 1, gained, clock);
            *labelling = on_groups.projected(&groups);
            climbed?;
            self.settle(graph, labelling, mix(seed_here, 2), Patience::Full, gained, clock)?;
        }
        Ok(())
    }

    fn settle(
        &self,
        graph: &Graph<'_>,
        labelling: &mut Labelling,
        seed: u64,
        patience: Patience,
        gained: &mut f64,
        clock: &Clock<'_>,
    ) -> Result<(), Stopped> {
        let n_labels = match self.number {
            Number::Free => graph.n_nodes(),
            Number::Fixed => labelling.count,
        };
        let labels = std::mem::take(&mut labelling.labels);
        let mut moving = Moving::new(graph, self.modularity, self.number, labels, n_labels);
        let settled = moving.settle(seed, patience, self.limits, gained, clock);
        (labelling.labels, labelling.count) = moving.into_labels();
        settled
    }
}

/// The parts that two labellings have in common.
pub(super) fn overlaid(a: &Labelling, b: &Labelling) -> Labelling {
    let mut pairs: Vec<(u64, u32)> =
        a.labels.iter().zip(&b.labels).map(|(&a, &b)| (u64::from(a) << 32) | u64::from(b)).zip(0..).collect();
    pairs.sort_unstable();
    let mut labels = vec![0; pairs.len()];
    let mut count = 0;
    for part in pairs.chunk_by(|a, b| a.0 == b.0) {
        for &(_, node) in part {
            labels[node as usize] = count;
        }
        count += 1;
    }
    let (labels, count) = numbered(labels, count as usize);
    Labelling { labels, count }
}
