//! What can be known of the graph of groups of nodes without making it.

use std::borrow::Cow;
use std::ops::Range;

use crate::error::Result;
use crate::graph::{Apart, Graph, Members, NodeId, RowSums, Weights};
use crate::objective::Objective;
use crate::parallel::prelude::*;
use crate::progress::{Clock, Progress, Stage, Stopped};
use crate::random::mix;

use super::groups::Groups;

/// Links of a group that are kept: those that count when labels spread.
const MAX_LINKS: usize = 32;
/// Groups that the number of entries is estimated by.
const SAMPLED: usize = 1 << 10;
/// Groups whose links one thread sums up at a time, and how many times that before the clock is told.
const GROUPS_PER_TASK: usize = 1 << 10;
const TASKS_PER_REPORT: usize = 32;

/// Another node, and the weight between both.
type Link = (NodeId, f32);

/// Nodes with links to each other.
pub(crate) trait Linked: Sync {
    fn n_nodes(&self) -> usize;

    /// Links of all nodes, one in each direction, or somewhat more.
    fn n_links(&self) -> usize;

    /// What the objective measures shares in, for every node.
    fn masses<O: Objective>(&self, objective: &O) -> Cow<'_, [f64]>;

    /// Whether all links have the weight 1.
    fn is_unit(&self) -> bool;

    /// Calls `visit(other, weight)` for the links of a node to others.
    fn for_each_link(&self, node: NodeId, visit: impl FnMut(NodeId, f64));

    /// Whether each node is apart from some others; empty where none is.
    fn bound_nodes(&self) -> Vec<bool>;

    /// The connected pieces of groups, where they are easy to find and not many more; the groups themselves elsewhere.
    fn pieces_of(&self, groups: Groups) -> Groups {
        groups
    }
}

impl Linked for Graph<'_> {
    fn pieces_of(&self, groups: Groups) -> Groups {
        // A fifth of a random cluster is in hundreds of pieces, though the cluster is in one.
        const MAX_PIECES_PER_GROUP: usize = 2;
        let pieces = self.pieces(&groups.of_node, groups.count);
        match pieces.count <= MAX_PIECES_PER_GROUP * groups.count {
            true => Groups { of_node: pieces.of_node, count: pieces.count },
            false => groups,
        }
    }

    fn n_nodes(&self) -> usize {
        self.n_nodes()
    }

    fn n_links(&self) -> usize {
        self.columns().len()
    }

    fn masses<O: Objective>(&self, objective: &O) -> Cow<'_, [f64]> {
        if !objective.weighs_by_size() {
            // Without sizes the mass is the volume, which need not be copied.
            return self.degrees().into();
        }
        let mass = |node: NodeId| objective.mass(&self.node_sums::<O>(node));
        (0..self.n_nodes() as NodeId).map(mass).collect()
    }

    fn is_unit(&self) -> bool {
        matches!(self.weights(), Weights::Unit)
    }

    #[inline]
    fn for_each_link(&self, node: NodeId, visit: impl FnMut(NodeId, f64)) {
        self.for_each_neighbor(node, visit);
    }

    fn bound_nodes(&self) -> Vec<bool> {
        let is_bound =
            |apart: &Apart| (0..self.n_nodes() as NodeId).map(|node| apart.is_bound(node)).collect();
        self.apart().map(is_bound).unwrap_or_default()
    }
}

/// Groups as the nodes of a graph, whose edges are summed up when they are asked for. Where nearly all edges are left
/// between groups, the graph made of them would take as much memory as the one that is there.
pub(crate) struct Quotient<'q> {
    graph: &'q Graph<'q>,
    group_of: &'q [u32],
    members: Members,
    masses: Vec<f64>,
}

impl<'q> Quotient<'q> {
    pub(crate) fn new<O: Objective>(graph: &'q Graph<'q>, groups: &'q Groups, objective: &O) -> Result<Self> {
        let members = Members::new(&groups.of_node, groups.count, graph)?;
        let of_nodes = graph.masses(objective);
        let mass = |group| members.of(group).iter().map(|&node| of_nodes[node as usize]).sum();
        let masses = (0..groups.count).map(mass).collect();
        Ok(Self { graph, group_of: &groups.of_node, members, masses })
    }

    fn n_groups(&self) -> usize {
        self.members.count()
    }

    /// The links of a group to others.
    fn sum_up(&self, group: usize, links: &mut RowSums) {
        let members = self.members.of(group);
        links.expect(|| members.iter().map(|&node| self.graph.entries(node).len()).sum());
        for &node in members {
            self.graph.for_each_neighbor(node, |neighbor, weight| {
                links.add_other(group as u32, self.group_of[neighbor as usize], weight);
            });
        }
        links.add_waiting();
    }

    /// About as many entries as the graph of the groups has, by those of some of them.
    pub(crate) fn estimated_entries(&self) -> usize {
        let (n_groups, mut links) = (self.n_groups(), RowSums::new(self.n_groups()));
        let sample = (0..n_groups).step_by(n_groups.div_ceil(SAMPLED).max(1));
        let n_sampled = sample.len();
        let mut n_entries = 0;
        for group in sample {
            self.sum_up(group, &mut links);
            n_entries += links.count();
            links.clear();
        }
        (n_entries as f64 * n_groups as f64 / n_sampled as f64) as usize
    }

    /// Whether the links of a group are hardly fewer than the entries of its nodes, so that they may as well be looked up
    /// there, again and again.
    pub(crate) fn is_fine(&self) -> bool {
        self.n_groups() > self.graph.n_nodes() / 2
    }

    /// The strongest links of every group.
    pub(crate) fn strongest_links(mut self, clock: &Clock<'_>) -> Result<StrongestLinks, Stopped> {
        let n_groups = self.n_groups();
        let (masses, is_bound) = (std::mem::take(&mut self.masses), self.bound_nodes());
        let mut strongest =
            StrongestLinks { masses, is_bound, ends: Vec::with_capacity(n_groups), links: Vec::new() };
        let mut progress = Progress::new(Stage::Coarsening, n_groups as u64);
        let tasks: Vec<Range<usize>> = (0..n_groups)
            .step_by(GROUPS_PER_TASK)
            .map(|first| first..n_groups.min(first + GROUPS_PER_TASK))
            .collect();
        for tasks in tasks.chunks(TASKS_PER_REPORT) {
            progress.done = strongest.ends.len() as u64;
            clock.report(&progress)?;
            let rows: Vec<(Vec<usize>, Vec<Link>)> = tasks
                .par_iter()
                .with_max_len(1)
                .map_init(|| RowSums::new(n_groups), |sums, groups| self.strongest_of(groups.clone(), sums))
                .collect();
            for (counts, links) in rows {
                let mut end = strongest.links.len();
                strongest.links.extend(links);
                strongest.ends.extend(counts.iter().map(|count| {
                    end += count;
                    end
                }));
            }
        }
        Ok(strongest)
    }

    /// The strongest links of some groups, and how many each has.
    fn strongest_of(&self, groups: Range<usize>, sums: &mut RowSums) -> (Vec<usize>, Vec<Link>) {
        let (mut counts, mut kept) = (Vec::with_capacity(groups.len()), Vec::new());
        // The strongest have the lowest keys: positive numbers are ordered as their bits are.
        let mut links: Vec<(u64, NodeId)> = Vec::new();
        for group in groups {
            self.sum_up(group, sums);
            links.clear();
            sums.for_each(|other, weight| {
                // A weight beyond 32 bits is still a link, and a finite one.
                let rounded = (weight as f32).clamp(f32::MIN_POSITIVE, f32::MAX);
                // Among equals a hash decides: by number some groups would be everyone's.
                let hash = mix(group as u64, u64::from(other)) >> 32;
                links.push((u64::from(!rounded.to_bits()) << 32 | hash, other));
            });
            sums.clear();
            if links.len() > MAX_LINKS {
                links.select_nth_unstable(MAX_LINKS);
                links.truncate(MAX_LINKS);
            }
            counts.push(links.len());
            kept.extend(links.iter().map(|&(key, other)| (other, f32::from_bits(!((key >> 32) as u32)))));
        }
        (counts, kept)
    }
}

impl Linked for Quotient<'_> {
    fn n_nodes(&self) -> usize {
        self.n_groups()
    }

    fn n_links(&self) -> usize {
        self.graph.columns().len()
    }

    fn masses<O: Objective>(&self, _: &O) -> Cow<'_, [f64]> {
        self.masses[..].into()
    }

    fn is_unit(&self) -> bool {
        self.graph.is_unit()
    }

    fn bound_nodes(&self) -> Vec<bool> {
        let Some(apart) = self.graph.apart() else { return Vec::new() };
        let mut is_bound = vec![false; self.n_groups()];
        for &node in apart.bound() {
            is_bound[self.group_of[node as usize] as usize] = true;
        }
        is_bound
    }

    /// Two groups with several edges between them have as many links.
    #[inline]
    fn for_each_link(&self, group: NodeId, mut visit: impl FnMut(NodeId, f64)) {
        for &node in self.members.of(group as usize) {
            self.graph.for_each_neighbor(node, |neighbor, weight| {
                let other = self.group_of[neighbor as usize];
                if other != group {
                    visit(other, weight);
                }
            });
        }
    }
}

/// The strongest links of groups. Of two groups one may count the other among its strongest, and not the other way.
pub(crate) struct StrongestLinks {
    masses: Vec<f64>,
    is_bound: Vec<bool>,
    /// Where the links of a group end.
    ends: Vec<usize>,
    links: Vec<Link>,
}

impl StrongestLinks {
    fn of(&self, group: NodeId) -> &[Link] {
        let group = group as usize;
        let start = if group == 0 { 0 } else { self.ends[group - 1] };
        &self.links[start..self.ends[group]]
    }
}

impl Linked for StrongestLinks {
    fn n_nodes(&self) -> usize {
        self.ends.len()
    }

    fn n_links(&self) -> usize {
        self.links.len()
    }

    fn masses<O: Objective>(&self, _: &O) -> Cow<'_, [f64]> {
        self.masses[..].into()
    }

    fn is_unit(&self) -> bool {
        false
    }

    fn bound_nodes(&self) -> Vec<bool> {
        self.is_bound.clone()
    }

    #[inline]
    fn for_each_link(&self, group: NodeId, mut visit: impl FnMut(NodeId, f64)) {
        for &(other, weight) in self.of(group) {
            visit(other, weight.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::propagation::Propagation;
    use crate::objective::NormalizedCut;
    use crate::synthetic::Planted;

    #[test]
    fn links_are_those_of_the_contracted_graph_the_strongest_of_them() -> Result<()> {
        let graph = Planted::new(20_000, 40).graph(1)?.graph;
        for n_groups in [20, 900] {
            let of_node = (0..graph.n_nodes() as u32).map(|node| node % n_groups).collect();
            let groups = Groups { of_node, count: n_groups as usize };
            let contracted = graph.contract(&groups.of_node, groups.count)?;
            let quotient = Quotient::new(&graph, &groups, &NormalizedCut)?;
            let n_estimated = quotient.estimated_entries();
            let links = quotient.strongest_links(&Clock::new())?;
            let mut n_entries = 0;
            for group in 0..n_groups {
                let mut weights: Vec<f64> = Vec::new();
                contracted.for_each_neighbor(group, |_, weight| weights.push(weight));
                n_entries += weights.len();
                weights.sort_unstable_by(|a, b| b.total_cmp(a));
                weights.truncate(MAX_LINKS);
                let mut found: Vec<f64> = Vec::new();
                links.for_each_link(group, |other, weight| {
                    contracted.for_each_neighbor(group, |neighbor, expected| {
                        assert!(neighbor != other || weight == expected);
                    });
                    found.push(weight);
                });
                found.sort_unstable_by(|a, b| b.total_cmp(a));
                assert_eq!(found, weights);
                assert_eq!(links.masses(&NormalizedCut)[group as usize], contracted.degree(group));
            }
            // All groups are asked: there are no more than a sample.
            assert_eq!(n_estimated, n_entries);
        }
        Ok(())
    }

    /// Whether links are summed up or looked up in the graph, labels spread the same way.
    #[test]
    fn labels_spread_over_groups_as_over_their_links() -> Result<()> {
        // A mesh, and pairs of its nodes; those at the end of a row are alone.
        let (n_rows, n_columns) = (60u32, 41u32);
        let at = |row: u32, column: u32| row * n_columns + column;
        let mut edges = Vec::new();
        for row in 0..n_rows {
            for column in 0..n_columns {
                let ahead = [(row, column + 1), (row + 1, column), (row + 1, column + 1)];
                let inside = ahead.into_iter().filter(|&(row, column)| row < n_rows && column < n_columns);
                edges.extend(inside.map(|(r, c)| (at(row, column), at(r, c), 1.0)));
            }
        }
        let graph = Graph::from_edges((n_rows * n_columns) as usize, edges)?;
        let per_row = n_columns.div_ceil(2);
        let pair = |node: u32| node / n_columns * per_row + node % n_columns / 2;
        let of_node = (0..n_rows * n_columns).map(pair).collect();
        let groups = Groups { of_node, count: (n_rows * per_row) as usize };
        let quotient = Quotient::new(&graph, &groups, &NormalizedCut)?;
        assert!(quotient.is_fine());
        let propagation = Propagation {
            max_mass: 200.0,
            max_sweeps: 8,
            within: None,
            seed: 3,
            min_entries_for_blocks: usize::MAX,
        };
        let clock = Clock::new();
        let looked_up = propagation.run(&quotient, &quotient.masses(&NormalizedCut), &clock)?;
        let links = quotient.strongest_links(&clock)?;
        let summed_up = propagation.run(&links, &links.masses(&NormalizedCut), &clock)?;
        assert!(looked_up.count < groups.count / 2, "{} groups", looked_up.count);
        assert_eq!(looked_up.of_node, summed_up.of_node);
        Ok(())
    }
}
