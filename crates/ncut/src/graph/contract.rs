//! Contraction: one node for each group of nodes.

use std::ops::Range;
use std::sync::Arc;

use super::ascending_row_sums::AscendingRowSums;
use super::triangle::{Stored, Summation, Triangle};
use super::{Array, Graph, NodeId, Weights};
use crate::error::{Error, Result};
use crate::progress::{Clock, Progress, Stage, Stopped};

/// Volumes of graphs whose weights can be rounded to 32 bits without becoming 0 or infinite, but for some that are
/// next to nothing beside the others.
const NARROW_VOLUMES: Range<f64> = 1e-15..1e30;

/// Group of an isolated node that a contraction leaves out.
pub const LEFT_OUT: u32 = u32::MAX;

impl Graph<'_> {
    /// The graph whose nodes are groups of nodes and whose weights are *sums*: `w_IJ = sum of a_ij over
    /// i in I, j in J`, the diagonal included. An edge inside a group therefore puts twice its weight on
    /// the self-loop, and every labelling of the groups has the objective of the nodes it stands for.
    ///
    /// `group_of[i]` is the group of node `i`; every group below `n_groups` needs a node. Isolated nodes
    /// may be [`LEFT_OUT`].
    ///
    /// # Errors
    /// When `group_of` has the wrong length, names a group that does not exist, leaves one empty, or leaves
    /// out a node that has edges.
    ///
    /// ```
    /// let path = ncut::Graph::from_edges(4, [(0, 1, 5.0), (1, 2, 0.5), (2, 3, 5.0)])?;
    /// let pairs = path.contract(&[0, 0, 1, 1], 2)?;
    /// assert_eq!(pairs.self_loop(0), 10.0);
    /// assert_eq!(pairs.degree(0), 10.5);
    /// # Ok::<(), ncut::Error>(())
    /// ```
    pub fn contract(&self, group_of: &[u32], n_groups: usize) -> Result<Graph<'static>> {
        self.verify()?;
        self.contract_observed(group_of, n_groups, &Clock::new())
    }

    /// As [`contract`](Self::contract); breaks when the clock does.
    pub(crate) fn contract_observed(
        &self,
        group_of: &[u32],
        n_groups: usize,
        clock: &Clock<'_>,
    ) -> Result<Graph<'static>> {
        self.contract_as::<f64>(group_of, n_groups, clock)
    }

    /// As [`contract_observed`](Self::contract_observed), with weights rounded to 32 bits where they fit: enough for
    /// a graph that guides a search, not for one that answers for the objective.
    pub(crate) fn contract_narrow(
        &self,
        group_of: &[u32],
        n_groups: usize,
        clock: &Clock<'_>,
    ) -> Result<Graph<'static>> {
        if NARROW_VOLUMES.contains(&self.volume()) {
            self.contract_as::<f32>(group_of, n_groups, clock)
        } else {
            self.contract_as::<f64>(group_of, n_groups, clock)
        }
    }

    fn contract_as<W: Stored>(
        &self,
        group_of: &[u32],
        n_groups: usize,
        clock: &Clock<'_>,
    ) -> Result<Graph<'static>>
    where
        Weights<'static>: From<Vec<W>>,
    {
        let members = Members::new(group_of, n_groups, self)?;
        let sum = |total: f64, _: usize, _: usize| total;
        let sums = self.summed::<W>(group_of, &members, sum, Stage::Coarsening, clock)?;
        drop(members);
        let (offsets, columns, weights) = sums.mirrored();
        // The degrees are added up too: those of a part are larger than its rows tell.
        let degrees = summed_by_group(group_of, n_groups, |node| self.degree(node));
        let sizes = match self.sizes.is_empty() {
            true => Array::default(),
            false => summed_by_group(group_of, n_groups, |node| self.size(node)),
        };
        let graph = Graph::from_parts_with_degrees(offsets.into(), columns.into(), weights.into(), degrees)?;
        let apart = self.apart.as_ref().and_then(|apart| apart.contracted(group_of, n_groups)).map(Arc::new);
        Ok(Graph { sizes, apart, ..graph })
    }

    /// As [`contract`](Self::contract), by *averages* (the paper's eq. merge): each weight is divided by
    /// the number of node pairs between the two groups. The diagonal, which N2HI never looks at, is left
    /// out.
    ///
    /// # Errors
    /// As [`contract`](Self::contract).
    pub fn contract_average(&self, group_of: &[u32], n_groups: usize) -> Result<Graph<'static>> {
        self.verify()?;
        self.contract_average_observed(group_of, n_groups, &Clock::new())
    }

    /// As [`contract_average`](Self::contract_average); breaks when the clock does.
    pub(crate) fn contract_average_observed(
        &self,
        group_of: &[u32],
        n_groups: usize,
        clock: &Clock<'_>,
    ) -> Result<Graph<'static>> {
        let averages = self.averages(group_of, n_groups, clock)?;
        let (offsets, columns, weights) = averages.mirrored();
        Graph::from_parts(offsets.into(), columns.into(), weights.into())
    }

    /// The averages of [`contract_average`](Self::contract_average), one direction of every edge.
    pub(crate) fn averages(
        &self,
        group_of: &[u32],
        n_groups: usize,
        clock: &Clock<'_>,
    ) -> Result<Triangle<f64>> {
        let members = Members::new(group_of, n_groups, self)?;
        Ok(self.summed(group_of, &members, mean_between(&members), Stage::Hierarchy, clock)?)
    }

    /// Sums the weights between groups, row by row; `weigh(sum, from, to)` makes the weight of it, 0 for
    /// none. Only `from <= to` is summed, to be mirrored, so that the result is symmetric to the last bit.
    fn summed<W: Stored>(
        &self,
        group_of: &[u32],
        members: &Members,
        weigh: impl Fn(f64, usize, usize) -> f64 + Sync,
        stage: Stage,
        clock: &Clock<'_>,
    ) -> Result<Triangle<W>, Stopped> {
        let n_groups = members.count();
        let work = |group: usize| members.of(group).iter().map(|&node| self.entries(node).len()).sum();
        let visit = |from: usize, sums: &mut AscendingRowSums| {
            sums.expect(|| work(from));
            let from = from as u32;
            for &node in members.of(from as usize) {
                sums.add_from(from, from, self.self_loop(node));
                self.for_each_neighbor(node, |neighbor, weight| {
                    sums.add_from(from, group_of[neighbor as usize], weight);
                });
            }
        };
        let mut triangle = Triangle::with_capacity(n_groups, self.columns().len() / 2 + n_groups);
        let mut report = reporting(stage, n_groups, clock);
        triangle.append(0..n_groups, &Summation { n_groups, work, visit, weigh }, &mut report)?;
        Ok(triangle)
    }
}

impl Triangle<f64> {
    /// Averages of these averages, as [`Graph::averages`].
    pub(crate) fn averages(
        &self,
        group_of: &[u32],
        n_groups: usize,
        clock: &Clock<'_>,
    ) -> Result<Self, Stopped> {
        let members = Members::sorted(group_of, n_groups);
        let mut report = reporting(Stage::Hierarchy, n_groups, clock);
        self.grouped(group_of, &members, mean_between(&members), &mut report)
    }
}

/// A value of the nodes, added up in every group, in the order of the nodes.
fn summed_by_group<C: From<Vec<f64>>>(group_of: &[u32], n_groups: usize, value: impl Fn(NodeId) -> f64) -> C {
    let mut sums = vec![0.0; n_groups];
    for (node, &group) in group_of.iter().enumerate().filter(|&(_, &group)| group != LEFT_OUT) {
        sums[group as usize] += value(node as NodeId);
    }
    sums.into()
}

/// What a sum between two groups is on average, and nothing inside a group.
fn mean_between(members: &Members) -> impl Fn(f64, usize, usize) -> f64 + Sync {
    |total, from, to| {
        if from == to {
            return 0.0;
        }
        let mean = total / (members.size(from) as f64 * members.size(to) as f64);
        // An average too small for a float is still a link.
        mean.max(f64::MIN_POSITIVE)
    }
}

fn reporting(stage: Stage, total: usize, clock: &Clock<'_>) -> impl FnMut(usize) -> Result<(), Stopped> {
    let mut progress = Progress::new(stage, total as u64);
    move |done| {
        progress.done = done as u64;
        clock.report(&progress)
    }
}

/// Offsets, columns and weights of the rows of a graph.
pub(super) type Rows = (Vec<u64>, Vec<NodeId>, Weights<'static>);

/// The nodes of every group, by counting sort.
pub(crate) struct Members {
    starts: Vec<u32>,
    nodes: Vec<NodeId>,
}

impl Members {
    pub(crate) fn new(group_of: &[u32], n_groups: usize, graph: &Graph<'_>) -> Result<Self> {
        let n_nodes = graph.n_nodes();
        if group_of.len() != n_nodes {
            return Err(Error::labels(format!("{} labels were given for {n_nodes} nodes", group_of.len())));
        }
        if n_groups > n_nodes {
            return Err(Error::labels(format!("{n_groups} groups were asked of {n_nodes} nodes")));
        }
        let kept = || group_of.iter().enumerate().filter(|&(_, &group)| group != LEFT_OUT);
        let mut is_empty = vec![true; n_groups];
        for (node, &group) in kept() {
            let Some(is_empty) = is_empty.get_mut(group as usize) else {
                return Err(Error::labels(format!(
                    "node {node} has label {group}, but the labels end at {}",
                    n_groups.saturating_sub(1)
                )));
            };
            *is_empty = false;
        }
        if let Some(empty) = is_empty.iter().position(|&is_empty| is_empty) {
            return Err(Error::labels(format!("no node has label {empty}; every cluster needs one")));
        }
        let left_out = |node: &usize| group_of[*node] == LEFT_OUT && graph.degree(*node as NodeId) > 0.0;
        if let Some(node) = (0..n_nodes).find(left_out) {
            return Err(Error::labels(format!("node {node} has edges and cannot be left out")));
        }
        Ok(Self::sorted(group_of, n_groups))
    }

    fn sorted(group_of: &[u32], n_groups: usize) -> Self {
        let kept = || group_of.iter().enumerate().filter(|&(_, &group)| group != LEFT_OUT);
        let mut starts = vec![0u32; n_groups + 1];
        for (_, &group) in kept() {
            starts[group as usize] += 1;
        }
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        // From the ends of the groups to their starts.
        let mut nodes = vec![0; end as usize];
        for (node, &group) in kept().rev() {
            let place = &mut starts[group as usize];
            *place -= 1;
            nodes[*place as usize] = node as NodeId;
        }
        Self { starts, nodes }
    }

    pub(crate) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    pub(crate) fn size(&self, group: usize) -> usize {
        (self.starts[group + 1] - self.starts[group]) as usize
    }

    /// The nodes of a group, ascending.
    pub(crate) fn of(&self, group: usize) -> &[NodeId] {
        &self.nodes[self.starts[group] as usize..self.starts[group + 1] as usize]
    }
}
