//! Constructors: from edges, one by one, and from a full symmetric matrix. All checks live here.

use super::csr::{Csr, check_weight, zeros};
use super::edge_runs::{Edges, Mirror, Run};
use super::sorter::EdgeSorter;
use super::{Array, Graph, NodeId, Weights};
use crate::error::{Error, Result};
use crate::parallel::prelude::*;
use crate::short_rows::SHORT_ROW;

/// Edges that one thread parts by blocks of rows at a time, and how many times that wait for it in a builder.
const EDGES_PER_RUN: usize = 1 << 17;
const RUNS_AT_ONCE: usize = 16;

/// Rows that are worth a thread.
const MIN_ROWS: usize = 1 << 14;

/// What to do with a matrix that is not symmetric.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Symmetrize {
    /// Refuse it (differences below 1e-10, relatively, are averaged; 1e-6 where weights have 32 bits).
    #[default]
    Refuse,
    /// Take the mean of both directions; a direction that is not stored counts as 0.
    Average,
    /// Take the larger of both directions.
    Max,
}

impl Graph<'static> {
    /// A graph of `n_nodes` nodes from its undirected edges, each given once as `(from, to, weight)`.
    ///
    /// Edges given more than once, in either direction, are parallel: their weights add up. Weights of 0
    /// are dropped. For the entries of a symmetric *matrix*, where every edge stands twice, use
    /// [`Graph::from_csr`].
    ///
    /// # Errors
    /// When there are no nodes, an end is not below `n_nodes`, or a weight is negative, NaN or infinite.
    ///
    /// ```
    /// let graph = ncut::Graph::from_edges(3, [(0, 1, 2.0), (1, 2, 0.5), (2, 2, 1.0)])?;
    /// assert_eq!((graph.n_nodes(), graph.n_edges()), (3, 3));
    /// assert_eq!(graph.degree(2), 1.5);
    /// # Ok::<(), ncut::Error>(())
    /// ```
    pub fn from_edges(
        n_nodes: usize,
        edges: impl IntoIterator<Item = (NodeId, NodeId, f64)>,
    ) -> Result<Self> {
        let mut builder = GraphBuilder::new(n_nodes)?;
        for (from, to, weight) in edges {
            builder.add_edge(from, to, weight)?;
        }
        builder.finish()
    }
}

impl Graph<'static> {
    /// A graph from the entries `(row, column)` of its full symmetric matrix, in any order: every edge
    /// stands twice, a self-loop once. Entries given more than once add up.
    ///
    /// # Errors
    /// As [`Graph::from_csr`].
    pub fn from_entries(
        n_nodes: usize,
        entries: &[(NodeId, NodeId)],
        weights: &Weights<'_>,
        symmetrize: Symmetrize,
    ) -> Result<Self> {
        if n_nodes > NodeId::MAX as usize {
            return Err(Error::TooManyNodes { n_nodes: n_nodes as u64 });
        }
        if let Some(n_weights) = weights.len().filter(|&len| len != entries.len()) {
            return Err(Error::shape(format!("there are {} entries but {n_weights} weights", entries.len())));
        }
        if let Some(&(row, column)) = entries.iter().find(|entry| entry.0.max(entry.1) as usize >= n_nodes) {
            return Err(Error::NodeOutOfRange { from: row.into(), to: column.into(), n_nodes });
        }
        for (entry, &(row, column)) in entries.iter().enumerate() {
            check_weight(row, column, weights.at(entry))?;
        }
        let portion = |(portion, ends): (usize, &[(NodeId, NodeId)])| {
            let first = portion * EDGES_PER_RUN;
            let weight_of = |entry: usize| weights.at(first + entry);
            let n_weights = if weights.len().is_some() { ends.len() } else { 0 };
            Edges::new(ends.to_vec(), (0..n_weights).map(weight_of).collect())
        };
        let mut sorter = EdgeSorter::of_entries();
        sorter.add(entries.par_chunks(EDGES_PER_RUN).enumerate().map(portion).collect())?;
        let mut csr = sorter.rows(n_nodes)?;
        // Sums are 64-bit and rounded once.
        if let (Weights::F32(_), Weights::F64(sums)) = (weights, &csr.weights) {
            csr.weights = sums.iter().map(|&sum| sum as f32).collect::<Vec<f32>>().into();
        }
        Graph::from_rows(csr.symmetrized(symmetrize)?)
    }
}

impl<'a> Graph<'a> {
    /// A graph from the rows of its full symmetric matrix: every edge stands in both rows, a self-loop
    /// once. Row `i` holds the entries `offsets[i]..offsets[i + 1]`.
    ///
    /// Clean arrays (rows ascending, no duplicates, no zeros, symmetric) are used as they are, borrowed
    /// or owned; otherwise a tidy copy is made: rows sorted, duplicates added, zeros dropped.
    ///
    /// # Errors
    /// When the arrays do not fit together, a column is not below the number of rows, a weight is
    /// negative, NaN or infinite, or the matrix is not symmetric and `symmetrize` says to refuse that.
    ///
    /// ```
    /// use ncut::{Graph, Symmetrize, Weights};
    /// let (offsets, columns) = ([0, 1, 3, 4], [1, 0, 2, 1]);
    /// let path = Graph::from_csr(&offsets[..], &columns[..], Weights::Unit, Symmetrize::Refuse)?;
    /// assert_eq!(path.degree(1), 2.0);
    /// # Ok::<(), ncut::Error>(())
    /// ```
    pub fn from_csr(
        offsets: impl Into<Array<'a, u64>>,
        columns: impl Into<Array<'a, NodeId>>,
        weights: Weights<'a>,
        symmetrize: Symmetrize,
    ) -> Result<Self> {
        let mut csr = Csr { offsets: offsets.into(), columns: columns.into(), weights };
        csr.check_structure()?;
        csr.check_weights()?;
        if !csr.is_tidy() {
            csr.weights = csr.weights.unit_if_ones();
            csr = csr.tidied()?;
        }
        Self::from_rows(csr.symmetrized(symmetrize)?)
    }

    /// The graph of rows that already satisfy the invariants.
    pub(super) fn from_rows(csr: Csr<'a>) -> Result<Self> {
        // A graph is the same by whatever door it came.
        Self::from_parts(csr.offsets, csr.columns, csr.weights.unit_if_ones())
    }

    /// The graph of arrays that already satisfy the invariants; computes degrees and self-loops.
    pub(super) fn from_parts(
        offsets: Array<'a, u64>,
        columns: Array<'a, NodeId>,
        weights: Weights<'a>,
    ) -> Result<Self> {
        let n_nodes = offsets.len() - 1;
        let mut degrees = zeros::<f64>(n_nodes, n_nodes, columns.len())?;
        let ends = offsets.par_windows(2).with_min_len(MIN_ROWS);
        degrees.par_iter_mut().zip(ends).for_each(|(degree, ends)| {
            *degree = match weights {
                Weights::Unit => (ends[1] - ends[0]) as f64,
                // Not `sum`, which makes -0.0 of nothing.
                _ => (ends[0]..ends[1]).fold(0.0, |sum, entry| sum + weights.at(entry as usize)),
            };
        });
        Self::from_parts_with_degrees(offsets, columns, weights, degrees)
    }

    /// As [`from_parts`](Self::from_parts), with degrees that may be larger than the sums of the rows: a part
    /// of a larger graph.
    pub(super) fn from_parts_with_degrees(
        offsets: Array<'a, u64>,
        columns: Array<'a, NodeId>,
        weights: Weights<'a>,
        degrees: Vec<f64>,
    ) -> Result<Self> {
        let n_nodes = offsets.len() - 1;
        if n_nodes == 0 {
            return Err(Error::EmptyGraph);
        }
        let loop_at = |node: usize| {
            let row = offsets[node] as usize..offsets[node + 1] as usize;
            let node_columns = &columns[row.clone()];
            // Most rows are short, and have none: counting takes no branch that a processor could guess wrong.
            let is_own = |&&column: &&NodeId| column == node as NodeId;
            if node_columns.len() <= SHORT_ROW && node_columns.iter().filter(is_own).count() == 0 {
                return None;
            }
            let place = node_columns.binary_search(&(node as NodeId)).ok()?;
            Some(weights.at(row.start + place))
        };
        // Only loops are written, so that an array without any takes no memory until it is dropped.
        let mut self_loops = zeros::<f64>(n_nodes, n_nodes, columns.len())?;
        let places = self_loops.par_iter_mut().enumerate().with_min_len(MIN_ROWS);
        let write = |(node, place): (usize, &mut f64)| match loop_at(node) {
            Some(weight) => {
                *place = weight;
                1
            }
            None => 0,
        };
        let n_loops: usize = places.map(write).sum();
        if n_loops == 0 {
            self_loops = Vec::new();
        }
        let volume = degrees.iter().fold(0.0, |sum, degree| sum + degree);
        if !volume.is_finite() {
            return Err(Error::WeightOverflow);
        }
        let n_isolated = degrees.iter().filter(|&&degree| degree == 0.0).count();
        let (self_loops, degrees) = (self_loops.into(), degrees.into());
        let (seal, sizes, apart) = (None, Array::default(), None);
        Ok(Self {
            offsets,
            columns,
            weights,
            self_loops,
            degrees,
            sizes,
            apart,
            n_loops,
            n_isolated,
            volume,
            seal,
        })
    }
}

/// Collects edges one by one. While all weights are 1, none are stored.
///
/// ```
/// let mut builder = ncut::GraphBuilder::new(2)?;
/// builder.add_edge(0, 1, 3.0)?;
/// let graph = builder.finish()?;
/// assert_eq!(graph.degree(0), 3.0);
/// # Ok::<(), ncut::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct GraphBuilder {
    n_nodes: usize,
    /// The edges that were parted by blocks of rows already.
    runs: Vec<Run>,
    /// The others.
    ends: Vec<(NodeId, NodeId)>,
    /// One for each of `ends`, or empty as long as all are 1.
    weights: Vec<f64>,
}

impl GraphBuilder {
    /// A builder for a graph of `n_nodes` nodes and no edges yet.
    ///
    /// # Errors
    /// When node numbers cannot tell so many nodes apart.
    pub fn new(n_nodes: usize) -> Result<Self> {
        let mut builder = Self { n_nodes: 0, runs: Vec::new(), ends: Vec::new(), weights: Vec::new() };
        builder.grow(n_nodes)?;
        Ok(builder)
    }

    /// Makes sure that the graph has at least `n_nodes` nodes.
    ///
    /// # Errors
    /// When node numbers cannot tell so many nodes apart.
    pub fn grow(&mut self, n_nodes: usize) -> Result<()> {
        if n_nodes > NodeId::MAX as usize {
            return Err(Error::TooManyNodes { n_nodes: n_nodes as u64 });
        }
        self.n_nodes = self.n_nodes.max(n_nodes);
        Ok(())
    }

    /// Adds an undirected edge, or a self-loop when both ends are the same.
    ///
    /// # Errors
    /// When an end does not exist, or the weight is negative, NaN or infinite.
    pub fn add_edge(&mut self, from: NodeId, to: NodeId, weight: f64) -> Result<()> {
        if from.max(to) as usize >= self.n_nodes {
            return Err(Error::NodeOutOfRange { from: from.into(), to: to.into(), n_nodes: self.n_nodes });
        }
        check_weight(from, to, weight)?;
        if weight == 0.0 {
            return Ok(());
        }
        if weight != 1.0 && self.weights.is_empty() {
            self.weights.resize(self.ends.len(), 1.0);
        }
        if weight != 1.0 || !self.weights.is_empty() {
            self.weights.push(weight);
        }
        self.ends.push((from, to));
        if self.ends.len() == RUNS_AT_ONCE * EDGES_PER_RUN {
            self.part();
        }
        Ok(())
    }

    /// The graph of all edges added.
    ///
    /// # Errors
    /// When there are no nodes, or the weights add up to more than a float can hold.
    pub fn finish(mut self) -> Result<Graph<'static>> {
        self.part();
        let Self { n_nodes, runs, .. } = self;
        EdgeSorter::of_parted(runs).graph(n_nodes)
    }

    /// Parts the edges that wait by blocks of rows.
    fn part(&mut self) {
        let (ends, weights) = (std::mem::take(&mut self.ends), std::mem::take(&mut self.weights));
        let weights_of = |run: usize| match weights.len() {
            0 => &[],
            n_weights => &weights[run * EDGES_PER_RUN..n_weights.min((run + 1) * EDGES_PER_RUN)],
        };
        let runs = ends.par_chunks(EDGES_PER_RUN).enumerate();
        self.runs.par_extend(runs.map(|(run, ends)| Run::new(ends, weights_of(run), Mirror::Yes)));
    }
}
