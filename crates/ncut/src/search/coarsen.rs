//! Coarsening: nodes merge into fewer and fewer, level by level, from the graph to the coarsest level.

use crate::error::{Result, or_stopped};
use crate::graph::Graph;
use crate::hierarchy::{Groups, Merging, Quotient};
use crate::objective::Objective;
use crate::progress::{Clock, Stopped};

/// A graph whose nodes are groups of the nodes of the level below.
pub(super) struct Level {
    /// `None` when there was no room to keep it: it is made anew when it is needed.
    pub(super) graph: Option<Graph<'static>>,
    pub(super) groups: Groups,
}

impl Level {
    pub(super) fn new(graph: Graph<'static>, group_of: Vec<u32>) -> Self {
        Self { groups: Groups { of_node: group_of, count: graph.n_nodes() }, graph: Some(graph) }
    }
}

/// The levels above a graph, and the groups that the nodes of the last of them end in.
pub(super) struct Levels {
    pub(super) kept: Vec<Level>,
    pub(super) last: Groups,
    /// The graph of `last`, where it is neither a level nor the graph itself.
    pub(super) top: Option<Graph<'static>>,
    /// Why there are not more.
    pub(super) stopped: Option<Stopped>,
}

/// How a graph is coarsened.
pub(super) struct Coarsening<'c, O> {
    pub(super) merging: Merging<'c, O>,
    /// Groups to start from.
    pub(super) bundles: Option<&'c Groups>,
    /// A level is kept when it has less than this share of the nodes of the one kept before, and more nodes than
    /// `min_kept_nodes`.
    pub(super) kept_share: f64,
    pub(super) min_kept_nodes: usize,
    /// Entries that the graphs of kept levels may have all together.
    pub(super) held_entries: Option<usize>,
    /// Whether coarse graphs have weights of 32 bits.
    pub(super) is_narrow: bool,
    pub(super) clock: &'c Clock<'c>,
}

impl<O: Objective> Coarsening<'_, O> {
    /// Merges round by round. Of rounds that shrink the graph little only every few are kept as a level.
    ///
    /// Merging may leave nearly all edges in place, as in a graph without clusters. So that never two graphs of the size
    /// of a large one are there beside it, one that has not shrunk much goes before the next is made, from the graph below
    /// all levels; and of the graphs of levels those of the last are kept, as many as there is room for.
    pub(super) fn run(&self, graph: &Graph<'_>) -> Result<Levels> {
        let mut levels =
            Levels { kept: Vec::new(), last: Groups::singletons(graph.n_nodes()), top: None, stopped: None };
        if let Err(stopped) = or_stopped(self.add_levels(graph, &mut levels))? {
            levels.stopped = Some(stopped);
        }
        Ok(levels)
    }

    /// Adds levels until nothing is left to merge. What is there when the clock says stop is whole.
    fn add_levels(&self, graph: &Graph<'_>, levels: &mut Levels) -> Result<()> {
        let Levels { kept, last, top, .. } = levels;
        let mut within: Option<Vec<u32>> = self.merging.within.map(<[u32]>::to_vec);
        let room = self.held_entries.unwrap_or(usize::MAX);
        if let (Some(bundles), None) = (self.bundles, &within) {
            last.compose(bundles);
            *top = Some(self.contract(graph, bundles)?);
        }
        // Whether `last` are the nodes of the current graph one by one: then groups of these need not be there twice.
        let mut is_fresh = top.is_none();
        loop {
            let of_level = kept.last().and_then(|level| level.graph.as_ref());
            let current = top.as_ref().or(of_level);
            let merging = Merging { within: within.as_deref(), ..self.merging };
            let Some(round) = merging.round(current.unwrap_or(graph), self.clock)? else { return Ok(()) };
            within = within.map(|within| round.restrict(&within));
            let round = match is_fresh {
                true => {
                    *last = round;
                    None
                }
                false => {
                    last.compose(&round);
                    Some(round)
                }
            };
            let max_contracted = self.merging.limits.coarsening.max_contracted_entries;
            if current.is_none() && graph.columns().len() > max_contracted {
                while let Some(more) = self.propagate_beside(graph, last, within.as_deref())? {
                    last.compose(&more);
                    within = within.map(|within| more.restrict(&within));
                }
            }
            let n_groups = last.count;
            let next = match current.filter(|current| cost(current) <= room) {
                Some(current) => self.contract(current, round.as_ref().unwrap_or(last))?,
                None => {
                    drop((round, top.take()));
                    kept.iter_mut().for_each(|level| level.graph = None);
                    match kept.is_empty() {
                        true => self.contract(graph, last)?,
                        false => self.contract(graph, &composed(kept, last))?,
                    }
                }
            };
            let n_before = kept.last().map_or(graph.n_nodes(), |level| level.groups.count);
            is_fresh =
                (n_groups as f64) < self.kept_share * n_before as f64 && n_groups > self.min_kept_nodes;
            if is_fresh {
                let groups = std::mem::replace(last, Groups::singletons(n_groups));
                kept.push(Level { graph: Some(next), groups });
                *top = None;
            } else {
                *top = Some(next);
            }
            make_room(kept, top.as_ref().map_or(0, cost), room);
        }
    }

    fn contract(&self, graph: &Graph<'_>, groups: &Groups) -> Result<Graph<'static>> {
        contract(graph, groups, self.is_narrow, self.clock)
    }

    /// Groups of groups whose graph is too large to be made while there are many of them: labels propagate over the
    /// links of the groups instead.
    fn propagate_beside(
        &self,
        graph: &Graph<'_>,
        groups: &Groups,
        within: Option<&[u32]>,
    ) -> Result<Option<Groups>> {
        let merging = Merging { within, ..self.merging };
        if !merging.may_propagate(groups.count) {
            return Ok(None);
        }
        let quotient = Quotient::new(graph, groups, &merging.objective)?;
        let limits = &merging.limits.coarsening;
        let share = (limits.max_contracted_share * graph.columns().len() as f64) as usize;
        if quotient.estimated_entries() <= limits.max_contracted_entries.max(share) {
            return Ok(None);
        }
        if quotient.is_fine() {
            return Ok(merging.propagate(&quotient, self.clock)?);
        }
        let links = quotient.strongest_links(self.clock)?;
        Ok(merging.propagate(&links, self.clock)?)
    }
}

fn contract(
    graph: &Graph<'_>,
    groups: &Groups,
    is_narrow: bool,
    clock: &Clock<'_>,
) -> Result<Graph<'static>> {
    match is_narrow {
        false => graph.contract_observed(&groups.of_node, groups.count, clock),
        true => graph.contract_narrow(&groups.of_node, groups.count, clock),
    }
}

/// The graph of the last of some levels, made from the graph below all of them.
pub(super) fn rebuild_level(
    graph: &Graph<'_>,
    levels: &[Level],
    clock: &Clock<'_>,
) -> Result<Graph<'static>> {
    let (last, others) = levels.split_last().expect("there is a level to rebuild");
    contract(graph, &composed(others, &last.groups), true, clock)
}

/// Groups of the nodes of the last level, as groups of the nodes below all levels.
fn composed(levels: &[Level], last: &Groups) -> Groups {
    let of_node =
        levels.iter().rev().fold(last.of_node.clone(), |groups, level| level.groups.project(&groups));
    Groups { of_node, count: last.count }
}

/// What a coarse graph takes, in entries: its nodes have an offset, a degree and a self-loop each.
fn cost(graph: &Graph<'_>) -> usize {
    graph.columns().len() + 3 * graph.n_nodes()
}

/// Kept levels and the graph that comes next may cost so many times what levels may.
const HELD_WITH_NEXT: f64 = 1.5;

/// Drops the graphs of the first levels, those with the most entries, until the others fit in. The last stays, unless
/// one that costs `n_next` has been made of it since and both are too many.
fn make_room(levels: &mut [Level], n_next: usize, room: usize) {
    let mut n_entries = 0;
    for (place, level) in levels.iter_mut().rev().enumerate() {
        n_entries += level.graph.as_ref().map_or(0, cost);
        let is_last = place == 0 && n_next == 0;
        let is_too_much = n_entries > room && place > 0;
        if !is_last && (is_too_much || (n_entries + n_next) as f64 > HELD_WITH_NEXT * room as f64) {
            level.graph = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_level_that_the_next_is_made_of_stays_whatever_the_room() -> Result<()> {
        let path = || Graph::from_edges(4, [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0)]);
        let kept = |n_next, room| -> Result<Vec<bool>> {
            let mut levels = vec![Level::new(path()?, vec![0; 8]), Level::new(path()?, vec![0; 4])];
            make_room(&mut levels, n_next, room);
            Ok(levels.iter().map(|level| level.graph.is_some()).collect())
        };
        let cost = cost(&path()?);
        assert_eq!(kept(0, 2 * cost)?, [true, true]);
        assert_eq!(kept(0, cost)?, [false, true]);
        assert_eq!(kept(0, 0)?, [false, true]);
        assert_eq!(kept(1, 2 * cost)?, [true, true]);
        assert_eq!(kept(1, 0)?, [false, false]);
        Ok(())
    }
}
