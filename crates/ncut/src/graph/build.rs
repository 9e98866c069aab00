//! Constructors: from edges, one by one, and from a full symmetric matrix. All checks live here.

use super::csr::{Csr, Mirror, SHORT_ROW, check_weight, zeros};
use super::symmetry::Symmetry;
use super::{Array, Graph, NodeId, Weights};
use crate::error::{Error, Result};
use crate::parallel::prelude::*;

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
        let csr = Csr::from_entries(n_nodes, entries, weights, Mirror::No)?;
        Graph::from_csr(csr.offsets, csr.columns, csr.weights, symmetrize)
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
            csr.tidy()?;
        }
        match (csr.symmetry(), symmetrize) {
            (Ok(Symmetry::Exact), _) => {}
            (Ok(Symmetry::Rounded), Symmetrize::Refuse) => csr.average_in_place(),
            (Err(asymmetric), Symmetrize::Refuse) => return Err(asymmetric),
            (_, Symmetrize::Average) => csr = csr.combined(f64::midpoint)?,
            (_, Symmetrize::Max) => csr = csr.combined(f64::max)?,
        }
        // Ones need no storage, and a graph is the same by whatever door it came.
        let weights = if csr.weights.are_ones() { Weights::Unit } else { csr.weights };
        Self::from_parts(csr.offsets, csr.columns, weights)
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
            Some((node, weights.at(row.start + place)))
        };
        let nodes = (0..n_nodes).into_par_iter().with_min_len(MIN_ROWS);
        let loops: Vec<(usize, f64)> = nodes.filter_map(loop_at).collect();
        let n_loops = loops.len();
        let mut self_loops = zeros::<f64>(if n_loops == 0 { 0 } else { n_nodes }, n_nodes, columns.len())?;
        for (node, weight) in loops {
            self_loops[node] = weight;
        }
        let volume = degrees.iter().fold(0.0, |sum, degree| sum + degree);
        if !volume.is_finite() {
            return Err(Error::WeightOverflow);
        }
        let n_isolated = degrees.iter().filter(|&&degree| degree == 0.0).count();
        let (self_loops, degrees) = (self_loops.into(), degrees.into());
        let (seal, sizes) = (None, Array::default());
        Ok(Self { offsets, columns, weights, self_loops, degrees, sizes, n_loops, n_isolated, volume, seal })
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
        let mut builder = Self { n_nodes: 0, ends: Vec::new(), weights: Vec::new() };
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
        Ok(())
    }

    /// The graph of all edges added.
    ///
    /// # Errors
    /// When there are no nodes, or the weights add up to more than a float can hold.
    pub fn finish(self) -> Result<Graph<'static>> {
        let Self { n_nodes, ends, weights } = self;
        let weights = if weights.is_empty() { Weights::Unit } else { Weights::F64(weights.into()) };
        let mut csr = Csr::from_entries(n_nodes, &ends, &weights, Mirror::Yes)?;
        drop((ends, weights));
        // Edges in order make rows in order.
        if !csr.is_tidy() {
            csr.tidy()?;
        }
        Graph::from_parts(csr.offsets, csr.columns, csr.weights)
    }

    /// Makes room for so many edges more.
    #[cfg(feature = "neighbors")]
    pub(crate) fn reserve(&mut self, n_edges: usize, weighted: bool) {
        self.ends.reserve_exact(n_edges);
        if weighted {
            self.weights.reserve_exact(n_edges);
        }
    }
}
