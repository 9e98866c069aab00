//! Contraction: one node for each group of nodes.

use std::ops::ControlFlow;

use super::{Graph, NodeId, Weights};
use crate::error::{Error, Result};
use crate::progress::{Observer, Progress, Stage, unobserved};

/// Groups between two calls of the observer.
const GROUPS_PER_REPORT: usize = 1 << 14;

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
        unstopped(self.contract_observed(group_of, n_groups, &mut unobserved)?)
    }

    /// As [`contract`](Self::contract); breaks when `observe` does.
    pub(crate) fn contract_observed(
        &self,
        group_of: &[u32],
        n_groups: usize,
        observe: Observer<'_>,
    ) -> Result<ControlFlow<(), Graph<'static>>> {
        let members = Members::new(group_of, n_groups, self)?;
        let sum = |total: f64, _: usize, _: usize| total;
        let degree = |group| members.of(group).iter().map(|&node| self.degree(node)).sum();
        // The degrees are added up too: those of a part are larger than its rows tell.
        let degrees = (0..n_groups).map(degree).collect();
        let rows = self.gather_groups(group_of, &members, sum, Stage::Coarsening, observe);
        let ControlFlow::Continue((offsets, columns, weights)) = rows else {
            return Ok(ControlFlow::Break(()));
        };
        Graph::from_parts_with_degrees(offsets.into(), columns.into(), weights, degrees)
            .map(ControlFlow::Continue)
    }

    /// As [`contract`](Self::contract), by *averages* (the paper's eq. merge): each weight is divided by
    /// the number of node pairs between the two groups. The diagonal, which N2HI never looks at, is left
    /// out.
    ///
    /// # Errors
    /// As [`contract`](Self::contract).
    pub fn contract_average(&self, group_of: &[u32], n_groups: usize) -> Result<Graph<'static>> {
        unstopped(self.contract_average_observed(group_of, n_groups, &mut unobserved)?)
    }

    /// As [`contract_average`](Self::contract_average); breaks when `observe` does.
    pub(crate) fn contract_average_observed(
        &self,
        group_of: &[u32],
        n_groups: usize,
        observe: Observer<'_>,
    ) -> Result<ControlFlow<(), Graph<'static>>> {
        let members = Members::new(group_of, n_groups, self)?;
        let mean = |total: f64, from: usize, to: usize| {
            if from == to {
                0.0
            } else {
                let mean = total / (members.size(from) as f64 * members.size(to) as f64);
                // An average too small for a float is still a link.
                mean.max(f64::MIN_POSITIVE)
            }
        };
        let rows = self.gather_groups(group_of, &members, mean, Stage::Hierarchy, observe);
        let ControlFlow::Continue((offsets, columns, weights)) = rows else {
            return Ok(ControlFlow::Break(()));
        };
        Graph::from_parts(offsets.into(), columns.into(), weights).map(ControlFlow::Continue)
    }

    /// Sums the weights between groups, row by row; `weigh(sum, from, to)` makes the weight of it, 0 for
    /// none. Only `from <= to` is summed and the rest mirrored, so that the result is symmetric to the
    /// last bit.
    fn gather_groups(
        &self,
        group_of: &[u32],
        members: &Members,
        weigh: impl Fn(f64, usize, usize) -> f64,
        stage: Stage,
        observe: Observer<'_>,
    ) -> ControlFlow<(), Rows> {
        let n_groups = members.count();
        let mut progress = Progress::new(stage, n_groups as u64);
        let mut sums = vec![0.0; n_groups];
        let mut touched: Vec<u32> = Vec::new();
        // The upper triangle: row by row, columns ascending.
        let mut upper: Vec<(u32, f64)> = Vec::new();
        let mut upper_ends = Vec::with_capacity(n_groups);
        let mut row_sizes = vec![0u64; n_groups];
        for from in 0..n_groups {
            if from.is_multiple_of(GROUPS_PER_REPORT) {
                progress.done = from as u64;
                observe(&progress)?;
            }
            let mut own = 0.0;
            for &node in members.of(from) {
                own += self.self_loop(node);
                self.for_each_neighbor(node, |neighbor, weight| {
                    let to = group_of[neighbor as usize] as usize;
                    if to == from {
                        own += weight;
                    } else if to > from {
                        if sums[to] == 0.0 {
                            touched.push(to as u32);
                        }
                        sums[to] += weight;
                    }
                });
            }
            if own > 0.0 {
                sums[from] = own;
                touched.push(from as u32);
            }
            touched.sort_unstable();
            for to in touched.drain(..) {
                let weight = weigh(std::mem::take(&mut sums[to as usize]), from, to as usize);
                if weight > 0.0 {
                    upper.push((to, weight));
                    row_sizes[from] += 1;
                    row_sizes[to as usize] += u64::from(to as usize != from);
                }
            }
            upper_ends.push(upper.len());
        }

        let mut offsets = Vec::with_capacity(n_groups + 1);
        offsets.push(0u64);
        let mut end = 0;
        for size in row_sizes {
            end += size;
            offsets.push(end);
        }
        let mut free: Vec<u64> = offsets[..n_groups].to_vec();
        let mut columns: Vec<NodeId> = vec![0; end as usize];
        let mut weights = vec![0.0; end as usize];
        let mut put = |row: usize, neighbor: usize, weight: f64| {
            let entry = free[row] as usize;
            free[row] += 1;
            columns[entry] = neighbor as NodeId;
            weights[entry] = weight;
        };
        // Rows fill in ascending order: all columns below the diagonal of a row come from earlier rows.
        let mut start = 0;
        for (from, &end) in upper_ends.iter().enumerate() {
            for &(to, weight) in &upper[start..end] {
                put(from, to as usize, weight);
                if to as usize != from {
                    put(to as usize, from, weight);
                }
            }
            start = end;
        }
        ControlFlow::Continue((offsets, columns, Weights::F64(weights.into())))
    }
}

/// Offsets, columns and weights of the rows of a graph.
pub(super) type Rows = (Vec<u64>, Vec<NodeId>, Weights<'static>);

/// What work gives whose observer never stops it.
fn unstopped(graph: ControlFlow<(), Graph<'static>>) -> Result<Graph<'static>> {
    match graph {
        ControlFlow::Continue(graph) => Ok(graph),
        ControlFlow::Break(()) => Err(Error::Cancelled),
    }
}

/// The nodes of every group, by counting sort.
pub(crate) struct Members {
    starts: Vec<usize>,
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
        let mut starts = vec![0usize; n_groups + 1];
        for (node, &group) in kept() {
            let Some(size) = starts.get_mut(group as usize + 1) else {
                return Err(Error::labels(format!(
                    "node {node} has label {group}, but the labels end at {}",
                    n_groups.saturating_sub(1)
                )));
            };
            *size += 1;
        }
        if let Some(empty) = starts[1..].iter().position(|&size| size == 0) {
            return Err(Error::labels(format!("no node has label {empty}; every cluster needs one")));
        }
        let left_out = |node: &usize| group_of[*node] == LEFT_OUT && graph.degree(*node as NodeId) > 0.0;
        if let Some(node) = (0..n_nodes).find(left_out) {
            return Err(Error::labels(format!("node {node} has edges and cannot be left out")));
        }
        for group in 0..n_groups {
            starts[group + 1] += starts[group];
        }
        let mut free = starts.clone();
        let mut nodes = vec![0; starts[n_groups]];
        for (node, &group) in kept() {
            nodes[free[group as usize]] = node as NodeId;
            free[group as usize] += 1;
        }
        Ok(Self { starts, nodes })
    }

    pub(crate) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    pub(crate) fn size(&self, group: usize) -> usize {
        self.starts[group + 1] - self.starts[group]
    }

    /// The nodes of a group, ascending.
    pub(crate) fn of(&self, group: usize) -> &[NodeId] {
        &self.nodes[self.starts[group]..self.starts[group + 1]]
    }
}
