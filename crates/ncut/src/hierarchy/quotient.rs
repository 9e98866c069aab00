//! What can be known of the graph of groups of nodes without making it.

use std::ops::Range;

use rayon::prelude::*;

use crate::error::Result;
use crate::graph::{Graph, Members, NodeId, RowSums, Weights};
use crate::progress::{Progress, Stage, Watch};
use crate::random::mix;

use super::greedy::Groups;

/// Links of a group that are kept: those that count when labels spread.
const MOST_LINKS: usize = 32;
/// Groups that the number of entries is estimated by.
const SAMPLED: usize = 1 << 10;
/// Groups whose links one thread sums up at a time, and how many times that before the observer is asked.
const GROUPS_PER_TASK: usize = 1 << 10;
const TASKS_PER_REPORT: usize = 32;

/// Another node, and the weight between both.
type Link = (NodeId, f32);

/// Nodes with links to each other.
pub(crate) trait Linked: Sync {
    fn n_nodes(&self) -> usize;

    /// Links of all nodes, one in each direction.
    fn n_links(&self) -> usize;

    fn degrees(&self) -> &[f64];

    /// Whether all links have the weight 1.
    fn is_unit(&self) -> bool;

    /// Calls `visit(other, weight)` for the links of a node to others.
    fn for_each_link(&self, node: NodeId, visit: impl FnMut(NodeId, f64));
}

impl Linked for Graph<'_> {
    fn n_nodes(&self) -> usize {
        self.n_nodes()
    }

    fn n_links(&self) -> usize {
        self.columns().len()
    }

    fn degrees(&self) -> &[f64] {
        self.degrees()
    }

    fn is_unit(&self) -> bool {
        matches!(self.weights(), Weights::Unit)
    }

    #[inline]
    fn for_each_link(&self, node: NodeId, visit: impl FnMut(NodeId, f64)) {
        self.for_each_neighbor(node, visit);
    }
}

/// Groups as the nodes of a graph, whose edges are summed up when they are asked for. Where nearly all edges are left
/// between groups, the graph made of them would take as much memory as the one that is there.
pub(crate) struct Quotient<'q> {
    graph: &'q Graph<'q>,
    group_of: &'q [u32],
    members: Members,
}

impl<'q> Quotient<'q> {
    pub(crate) fn new(graph: &'q Graph<'q>, groups: &'q Groups) -> Result<Self> {
        let members = Members::new(&groups.of_node, groups.count, graph)?;
        Ok(Self { graph, group_of: &groups.of_node, members })
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

    /// The strongest links of every group; `None` when the observer said stop.
    pub(crate) fn strongest_links(&self, watch: &dyn Watch) -> Option<StrongestLinks> {
        let n_groups = self.n_groups();
        let degree = |group| self.members.of(group).iter().map(|&node| self.graph.degree(node)).sum();
        let mut strongest = StrongestLinks {
            degrees: (0..n_groups).map(degree).collect(),
            ends: Vec::with_capacity(n_groups),
            links: Vec::new(),
        };
        let mut progress = Progress::new(Stage::Coarsening, n_groups as u64);
        let tasks: Vec<Range<usize>> = (0..n_groups)
            .step_by(GROUPS_PER_TASK)
            .map(|first| first..n_groups.min(first + GROUPS_PER_TASK))
            .collect();
        for tasks in tasks.chunks(TASKS_PER_REPORT) {
            progress.done = strongest.ends.len() as u64;
            if watch.report(&progress).is_break() {
                return None;
            }
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
        Some(strongest)
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
            if links.len() > MOST_LINKS {
                links.select_nth_unstable(MOST_LINKS);
                links.truncate(MOST_LINKS);
            }
            counts.push(links.len());
            kept.extend(links.iter().map(|&(key, other)| (other, f32::from_bits(!((key >> 32) as u32)))));
        }
        (counts, kept)
    }
}

/// The strongest links of groups. Of two groups one may count the other among its strongest, and not the other way.
pub(crate) struct StrongestLinks {
    degrees: Vec<f64>,
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

    fn degrees(&self) -> &[f64] {
        &self.degrees
    }

    fn is_unit(&self) -> bool {
        false
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
    use crate::progress::{SharedObserver, unobserved};
    use crate::synthetic::Planted;

    #[test]
    fn links_are_those_of_the_contracted_graph_the_strongest_of_them() -> Result<()> {
        let graph = Planted::new(20_000, 40).graph(1)?.graph;
        for n_groups in [20, 900] {
            let of_node = (0..graph.n_nodes() as u32).map(|node| node % n_groups).collect();
            let groups = Groups { of_node, count: n_groups as usize };
            let contracted = graph.contract(&groups.of_node, groups.count)?;
            let quotient = Quotient::new(&graph, &groups)?;
            let mut observe = unobserved;
            let links =
                quotient.strongest_links(&SharedObserver::new(&mut observe)).expect("nobody stops it");
            let mut n_entries = 0;
            for group in 0..n_groups {
                let mut weights: Vec<f64> = Vec::new();
                contracted.for_each_neighbor(group, |_, weight| weights.push(weight));
                n_entries += weights.len();
                weights.sort_unstable_by(|a, b| b.total_cmp(a));
                weights.truncate(MOST_LINKS);
                let mut found: Vec<f64> = Vec::new();
                links.for_each_link(group, |other, weight| {
                    contracted.for_each_neighbor(group, |neighbor, expected| {
                        assert!(neighbor != other || weight == expected);
                    });
                    found.push(weight);
                });
                found.sort_unstable_by(|a, b| b.total_cmp(a));
                assert_eq!(found, weights);
                assert_eq!(links.degrees()[group as usize], contracted.degree(group));
            }
            // All groups are asked: there are no more than a sample.
            assert_eq!(quotient.estimated_entries(), n_entries);
        }
        Ok(())
    }
}
