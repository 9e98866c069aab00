//! The graph every algorithm works on: undirected, weighted, checked once and trusted after.

mod array;
mod build;
mod csr;
mod row_order;
mod edge_runs;
mod row_blocks;
#[cfg(feature = "files")]
mod spill;
mod sorter;
mod symmetry;
mod apart;
mod components;
mod pieces;
mod row_sums;
mod ascending_row_sums;
mod triangle;
mod contract;
mod parts;
mod subgraph;
#[cfg(feature = "files")]
mod verify;
#[cfg(not(feature = "files"))]
#[path = "no_verify.rs"]
mod verify;

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::objective::{Objective, Sums};
use crate::progress::Clock;

pub(crate) use apart::Apart;
pub use array::Array;
pub use build::{GraphBuilder, Symmetrize};
pub use components::Components;
pub use contract::LEFT_OUT;
pub(crate) use contract::Members;
use contract::Rows;
#[cfg(feature = "files")]
pub(crate) use csr::Csr;
#[cfg(feature = "files")]
pub(crate) use edge_runs::{Edges, Run};
pub(crate) use parts::Parts;
pub(crate) use row_sums::RowSums;
#[cfg(feature = "files")]
pub(crate) use sorter::EdgeSorter;
#[cfg(feature = "files")]
pub(crate) use spill::Spilling;
pub(crate) use subgraph::Subgraph;
pub(crate) use triangle::Triangle;
pub(crate) use verify::Seal;
#[cfg(feature = "files")]
pub(crate) use verify::StoredGraph;

/// Number of a node, from 0.
pub type NodeId = u32;

/// An undirected graph with weights `a_ij >= 0`, as the rows of its symmetric matrix (CSR).
///
/// Invariants, checked by every constructor:
/// - `offsets[0] = 0 <= offsets[1] <= … <= offsets[n]` = stored entries; row `i` is
///   `columns[offsets[i]..offsets[i + 1]]`, strictly ascending, every entry below `n`;
/// - `a_ij = a_ji`, to the last bit, and `0 < a_ij < inf`;
/// - the diagonal, when stored, is part of its row; [`Graph::for_each_neighbor`] leaves it out and
///   [`Graph::self_loop`] answers for it;
/// - the total volume is finite.
///
/// A graph owns its arrays or borrows them (`Graph<'a>`), so a matrix that already exists, in memory or
/// in a mapped file, is used in place. The arrays of a mapped file are checked not when it is opened but before they are
/// first used: see [`Graph::verify`].
#[derive(Clone, Debug)]
pub struct Graph<'a> {
    offsets: Array<'a, u64>,
    columns: Array<'a, NodeId>,
    weights: Weights<'a>,
    /// `a_ii` of every node; empty when the graph has no self-loop.
    self_loops: Array<'a, f64>,
    /// `d_i = sum_j a_ij`, the diagonal counted once.
    degrees: Array<'a, f64>,
    /// Size of every node; empty when all are 1.
    sizes: Array<'a, f64>,
    /// Nodes that are never in one cluster.
    apart: Option<Arc<Apart>>,
    n_loops: usize,
    n_isolated: usize,
    volume: f64,
    /// What is yet to be compared, for the arrays of a mapped file.
    seal: Option<Arc<Seal>>,
}

/// The weights of the stored entries, as they were given.
#[derive(Clone, Debug)]
pub enum Weights<'a> {
    /// Every weight is 1; nothing is stored.
    Unit,
    /// 32-bit weights; sums are 64-bit all the same.
    F32(Array<'a, f32>),
    /// 64-bit weights.
    F64(Array<'a, f64>),
}

impl From<Vec<f32>> for Weights<'_> {
    fn from(weights: Vec<f32>) -> Self {
        Self::F32(weights.into())
    }
}

impl From<Vec<f64>> for Weights<'_> {
    fn from(weights: Vec<f64>) -> Self {
        Self::F64(weights.into())
    }
}

impl Weights<'_> {
    /// Weight of stored entry `entry`.
    #[inline]
    pub fn at(&self, entry: usize) -> f64 {
        match self {
            Self::Unit => 1.0,
            Self::F32(weights) => f64::from(weights[entry]),
            Self::F64(weights) => weights[entry],
        }
    }

    /// The same weights, without storage where all are 1.
    fn unit_if_ones(self) -> Self {
        let are_ones = match &self {
            Self::Unit => true,
            Self::F32(weights) => weights.iter().all(|&weight| weight == 1.0),
            Self::F64(weights) => weights.iter().all(|&weight| weight == 1.0),
        };
        if are_ones { Self::Unit } else { self }
    }

    /// How many are stored; `None` when none need be.
    fn len(&self) -> Option<usize> {
        match self {
            Self::Unit => None,
            Self::F32(weights) => Some(weights.len()),
            Self::F64(weights) => Some(weights.len()),
        }
    }
}

impl<'a> Graph<'a> {
    /// Number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.degrees.len()
    }

    /// Number of undirected edges; a self-loop counts as one.
    pub fn n_edges(&self) -> usize {
        (self.columns.len() - self.n_loops) / 2 + self.n_loops
    }

    /// Number of self-loops.
    pub fn n_self_loops(&self) -> usize {
        self.n_loops
    }

    /// Number of nodes of degree 0 (a self-loop is a degree).
    pub fn n_isolated(&self) -> usize {
        self.n_isolated
    }

    /// Degree of a node: the sum of its weights, its self-loop once.
    #[inline]
    pub fn degree(&self, node: NodeId) -> f64 {
        self.degrees[node as usize]
    }

    /// Degrees of all nodes.
    pub fn degrees(&self) -> &[f64] {
        &self.degrees
    }

    /// Sum of all degrees.
    pub fn volume(&self) -> f64 {
        self.volume
    }

    /// Weight of the node's self-loop, 0 without one.
    #[inline]
    pub fn self_loop(&self, node: NodeId) -> f64 {
        self.self_loops.get(node as usize).copied().unwrap_or(0.0)
    }

    /// Size of a node: 1, or as many nodes as it [stands for](Self::with_sizes).
    #[inline]
    pub fn size(&self, node: NodeId) -> f64 {
        self.sizes.get(node as usize).copied().unwrap_or(1.0)
    }

    /// The same graph, whose nodes have the given sizes. Contraction adds them up.
    ///
    /// # Errors
    /// When there is not one size a node, or one is not positive and finite.
    pub fn with_sizes(self, sizes: Vec<f64>) -> Result<Self> {
        if sizes.len() != self.n_nodes() {
            return Err(Error::shape(format!(
                "{} sizes were given for {} nodes",
                sizes.len(),
                self.n_nodes()
            )));
        }
        if let Some(node) = sizes.iter().position(|&size| !(size > 0.0 && size.is_finite())) {
            return Err(Error::shape(format!(
                "the size of node {node} is {}; sizes must be positive numbers",
                sizes[node]
            )));
        }
        Ok(Self { sizes: sizes.into(), ..self })
    }

    /// As [`with_sizes`](Self::with_sizes), for weights that were checked, some of which may be 0.
    pub(crate) fn with_weights(self, weights: Vec<f64>) -> Result<Self> {
        match weights.len() == self.n_nodes() {
            true => Ok(Self { sizes: weights.into(), ..self }),
            false => self.with_sizes(weights),
        }
    }

    /// The same graph with weights of 32 bits. A weight too small for them becomes the smallest normal number, so that no
    /// edge is lost.
    ///
    /// # Errors
    /// When a weight is larger than a 32-bit float can be, or there is no memory.
    pub fn narrowed(self) -> Result<Graph<'a>> {
        let narrow = match &self.weights {
            Weights::Unit | Weights::F32(_) => return Ok(self),
            Weights::F64(weights) => weights.iter().map(|&weight| (weight as f32).max(f32::MIN_POSITIVE)),
        };
        let narrow: Vec<f32> = narrow.collect();
        let (offsets, columns, _) = self.into_parts();
        Graph::from_csr(offsets, columns, Weights::from(narrow), Symmetrize::Refuse)
    }

    /// The same graph, borrowed, whose nodes have a size of their own each, which contraction adds up.
    pub(crate) fn with_unit_sizes(&self) -> Graph<'_> {
        let borrowed = self.borrowed();
        match borrowed.sizes.is_empty() {
            true => Graph { sizes: vec![1.0; self.n_nodes()].into(), ..borrowed },
            false => borrowed,
        }
    }

    /// The same graph, borrowed.
    pub(crate) fn borrowed(&self) -> Graph<'_> {
        let weights = match &self.weights {
            Weights::Unit => Weights::Unit,
            Weights::F32(weights) => Weights::F32(weights.borrowed()),
            Weights::F64(weights) => Weights::F64(weights.borrowed()),
        };
        Graph {
            offsets: self.offsets.borrowed(),
            columns: self.columns.borrowed(),
            weights,
            self_loops: self.self_loops.borrowed(),
            degrees: self.degrees.borrowed(),
            sizes: self.sizes.borrowed(),
            apart: self.apart.clone(),
            seal: self.seal.clone(),
            ..*self
        }
    }

    /// The node as a cluster of its own; its size only where the objective asks for it.
    #[inline]
    pub(crate) fn node_sums<O: Objective>(&self, node: NodeId) -> Sums {
        let size = if O::USES_SIZES { self.size(node) } else { 0.0 };
        Sums { association: self.self_loop(node), volume: self.degree(node), size }
    }

    /// Where the rows begin and end, `n_nodes + 1` numbers.
    pub fn offsets(&self) -> &[u64] {
        &self.offsets
    }

    /// The column numbers of all rows, one row after the other, the diagonal in place.
    pub fn columns(&self) -> &[NodeId] {
        &self.columns
    }

    /// The weights of all rows, in the order of [`columns`](Self::columns).
    pub fn weights(&self) -> &Weights<'a> {
        &self.weights
    }

    /// Offsets, columns and weights, as [`from_csr`](Self::from_csr) takes them.
    pub fn into_parts(self) -> (Array<'a, u64>, Array<'a, NodeId>, Weights<'a>) {
        (self.offsets, self.columns, self.weights)
    }

    /// Makes sure that the arrays are those of a graph, which only those of a mapped file may fail to be: every other
    /// graph was checked when it was made. What finds clusters, scores or writes a graph calls this first; it works once
    /// for a graph and its clones, and answers at once after that.
    ///
    /// # Errors
    /// When the file is damaged, naming it and the array.
    pub fn verify(&self) -> Result<()> {
        self.verify_observed(&Clock::new())
    }

    /// As [`verify`](Self::verify), telling the clock how it goes.
    ///
    /// # Errors
    /// Also when the clock says stop.
    pub fn verify_observed(&self, clock: &Clock<'_>) -> Result<()> {
        self.seal.as_ref().map_or(Ok(()), |seal| seal.check(self, clock))
    }

    /// The positions of a node's stored entries.
    #[inline]
    pub fn entries(&self, node: NodeId) -> std::ops::Range<usize> {
        self.offsets[node as usize] as usize..self.offsets[node as usize + 1] as usize
    }

    /// Calls `visit(neighbor, weight)` for every neighbour in ascending order, the node itself left out.
    ///
    /// This is the inner loop of every algorithm: the kind of weights is looked at once a row, and each
    /// kind has a loop of its own.
    #[inline]
    pub fn for_each_neighbor(&self, node: NodeId, mut visit: impl FnMut(NodeId, f64)) {
        let entries = self.entries(node);
        let row = &self.columns[entries.clone()];
        match &self.weights {
            Weights::Unit => {
                for &neighbor in row {
                    if neighbor != node {
                        visit(neighbor, 1.0);
                    }
                }
            }
            Weights::F32(weights) => {
                for (&neighbor, &weight) in row.iter().zip(&weights[entries]) {
                    if neighbor != node {
                        visit(neighbor, f64::from(weight));
                    }
                }
            }
            Weights::F64(weights) => {
                for (&neighbor, &weight) in row.iter().zip(&weights[entries]) {
                    if neighbor != node {
                        visit(neighbor, weight);
                    }
                }
            }
        }
    }

    /// The node's neighbours and their weights in ascending order, the node itself left out.
    pub fn neighbors(&self, node: NodeId) -> impl Iterator<Item = (NodeId, f64)> + '_ {
        self.entries(node)
            .map(|entry| (self.columns[entry], self.weights.at(entry)))
            .filter(move |&(neighbor, _)| neighbor != node)
    }

    /// Every undirected edge once, as `(from, to, weight)` with `from <= to`, in ascending order.
    pub fn edges(&self) -> impl Iterator<Item = (NodeId, NodeId, f64)> + '_ {
        (0..self.n_nodes() as NodeId).flat_map(move |from| {
            self.entries(from)
                .map(move |entry| (from, self.columns[entry], self.weights.at(entry)))
                .filter(|&(from, to, _)| from <= to)
        })
    }

    /// The nodes of positive degree, ascending.
    pub fn connected_nodes(&self) -> Vec<NodeId> {
        (0..self.n_nodes() as NodeId).filter(|&node| self.degree(node) > 0.0).collect()
    }

    /// The graph between `nodes` (ascending) alone: node `i` of the result is `nodes[i]`.
    ///
    /// # Errors
    /// When `nodes` is empty, not strictly ascending, or names a node that does not exist.
    pub fn induced(&self, nodes: &[NodeId]) -> Result<Graph<'static>> {
        const OUTSIDE: NodeId = NodeId::MAX;
        self.verify()?;
        let n_nodes = self.n_nodes();
        if let Some(pair) = nodes.windows(2).find(|pair| pair[0] >= pair[1]) {
            return Err(Error::shape(format!(
                "the nodes of a subgraph must ascend, but {} stands before {}",
                pair[0], pair[1]
            )));
        }
        if let Some(&last) = nodes.last().filter(|&&last| last as usize >= n_nodes) {
            return Err(Error::NodeOutOfRange { from: last.into(), to: last.into(), n_nodes });
        }
        let mut number = vec![OUTSIDE; n_nodes];
        for (new, &old) in nodes.iter().enumerate() {
            number[old as usize] = new as NodeId;
        }
        let number = |node: NodeId| Some(number[node as usize]).filter(|&number| number != OUTSIDE);
        let (offsets, columns, weights) = self.rows_between(nodes, number);
        let (sizes, apart) = self.carried_to(nodes);
        Ok(Graph { sizes, apart, ..Graph::from_parts(offsets.into(), columns.into(), weights)? })
    }

    /// What a graph of some of the nodes, ascending, takes over: their sizes, where nodes have sizes, and who is apart.
    fn carried_to(&self, nodes: &[NodeId]) -> (Array<'static, f64>, Option<Arc<Apart>>) {
        let sizes = nodes.iter().filter_map(|&node| self.sizes.get(node as usize).copied());
        let apart = self.apart.as_ref().and_then(|apart| apart.among(nodes)).map(Arc::new);
        (sizes.collect(), apart)
    }

    /// The same graph, some of whose nodes are never in one cluster.
    pub(crate) fn with_apart(self, apart: Option<Apart>) -> Self {
        Self { apart: apart.map(Arc::new), ..self }
    }

    /// The nodes that are never in one cluster, if there are any.
    #[inline]
    pub(crate) fn apart(&self) -> Option<&Apart> {
        self.apart.as_deref()
    }

    /// The graph between the nodes of positive degree, which are [`connected_nodes`](Self::connected_nodes). All entries
    /// are theirs, so that the weights are used where they are.
    pub(crate) fn without_isolated(&self) -> Result<Graph<'_>> {
        let mut number: Vec<NodeId> = vec![0; self.n_nodes()];
        let nodes = self.connected_nodes();
        for (new, &old) in nodes.iter().enumerate() {
            number[old as usize] = new as NodeId;
        }
        let mut offsets = vec![0];
        offsets.extend(nodes.iter().map(|&node| self.entries(node).end as u64));
        let columns: Vec<NodeId> = self.columns.iter().map(|&column| number[column as usize]).collect();
        let weights = match &self.weights {
            Weights::Unit => Weights::Unit,
            Weights::F32(weights) => Weights::F32(weights.borrowed()),
            Weights::F64(weights) => Weights::F64(weights.borrowed()),
        };
        let degrees: Vec<f64> = nodes.iter().map(|&node| self.degree(node)).collect();
        let graph = Graph::from_parts_with_degrees(offsets.into(), columns.into(), weights, degrees)?;
        let (sizes, apart) = self.carried_to(&nodes);
        Ok(Graph { sizes, apart, ..graph })
    }

    /// The rows of `nodes` with their entries to nodes that have a `number`, which must ascend with them.
    fn rows_between(&self, nodes: &[NodeId], number: impl Fn(NodeId) -> Option<NodeId>) -> Rows {
        let kept =
            |node: NodeId| self.entries(node).filter_map(|entry| Some((entry, number(self.columns[entry])?)));
        let mut offsets = Vec::with_capacity(nodes.len() + 1);
        let mut end = 0;
        offsets.push(end);
        offsets.extend(nodes.iter().map(|&node| {
            end += kept(node).count() as u64;
            end
        }));
        let mut columns = Vec::with_capacity(end as usize);
        columns.extend(nodes.iter().flat_map(|&node| kept(node)).map(|(_, neighbor)| neighbor));
        let entries = nodes.iter().flat_map(|&node| kept(node)).map(|(entry, _)| entry);
        let weights = match &self.weights {
            Weights::Unit => Weights::Unit,
            Weights::F32(weights) => {
                let mut kept = Vec::with_capacity(end as usize);
                kept.extend(entries.map(|entry| weights[entry]));
                kept.into()
            }
            Weights::F64(weights) => {
                let mut kept = Vec::with_capacity(end as usize);
                kept.extend(entries.map(|entry| weights[entry]));
                kept.into()
            }
        };
        (offsets, columns, weights)
    }
}
