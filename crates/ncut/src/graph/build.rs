//! Constructors: from edges, one by one, and from a full symmetric matrix. All checks live here.

use std::borrow::Cow;
use std::ops::Range;

use super::{Graph, NodeId, Weights};
use crate::error::{Error, Result};

/// Two directions of an edge that differ by no more than this, relatively, are rounding: averaged.
const ROUNDING: f64 = 1e-10;

/// What to do with a matrix that is not symmetric.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Symmetrize {
    /// Refuse it (differences below 1e-10, relatively, are averaged).
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
    /// stands twice, a self-loop once. `weights` has one for each, or is empty when all are 1. Entries
    /// given more than once add up.
    ///
    /// # Errors
    /// As [`Graph::from_csr`].
    pub fn from_entries(
        n_nodes: usize,
        entries: &[(NodeId, NodeId)],
        weights: &[f64],
        symmetrize: Symmetrize,
    ) -> Result<Self> {
        if n_nodes > NodeId::MAX as usize {
            return Err(Error::TooManyNodes { n_nodes: n_nodes as u64 });
        }
        if !weights.is_empty() && weights.len() != entries.len() {
            return Err(Error::shape(format!(
                "there are {} entries but {} weights",
                entries.len(),
                weights.len()
            )));
        }
        if let Some(&(row, column)) = entries.iter().find(|entry| entry.0.max(entry.1) as usize >= n_nodes) {
            return Err(Error::NodeOutOfRange { from: row.into(), to: column.into(), n_nodes });
        }
        let csr = Csr::from_entries(n_nodes, entries, weights, Mirror::No)?;
        Graph::from_csr(csr.offsets, csr.neighbors, csr.weights, symmetrize)
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
    /// let (offsets, neighbors) = ([0, 1, 3, 4], [1, 0, 2, 1]);
    /// let path = Graph::from_csr(&offsets[..], &neighbors[..], Weights::Unit, Symmetrize::Refuse)?;
    /// assert_eq!(path.degree(1), 2.0);
    /// # Ok::<(), ncut::Error>(())
    /// ```
    pub fn from_csr(
        offsets: impl Into<Cow<'a, [u64]>>,
        neighbors: impl Into<Cow<'a, [NodeId]>>,
        weights: Weights<'a>,
        symmetrize: Symmetrize,
    ) -> Result<Self> {
        let mut csr = Csr { offsets: offsets.into(), neighbors: neighbors.into(), weights };
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
        Self::from_parts(csr.offsets, csr.neighbors, csr.weights)
    }

    /// The graph of arrays that already satisfy the invariants; computes degrees and self-loops.
    pub(super) fn from_parts(
        offsets: Cow<'a, [u64]>,
        neighbors: Cow<'a, [NodeId]>,
        weights: Weights<'a>,
    ) -> Result<Self> {
        let n_nodes = offsets.len() - 1;
        if n_nodes == 0 {
            return Err(Error::EmptyGraph);
        }
        let mut degrees = zeros::<f64>(n_nodes, n_nodes, neighbors.len())?;
        let mut self_loops = Vec::new();
        let mut n_loops = 0;
        for node in 0..n_nodes {
            let row = offsets[node] as usize..offsets[node + 1] as usize;
            degrees[node] = row.clone().map(|entry| weights.at(entry)).sum();
            if let Ok(place) = neighbors[row.clone()].binary_search(&(node as NodeId)) {
                if self_loops.is_empty() {
                    self_loops = zeros::<f64>(n_nodes, n_nodes, neighbors.len())?;
                }
                self_loops[node] = weights.at(row.start + place);
                n_loops += 1;
            }
        }
        let volume: f64 = degrees.iter().sum();
        if !volume.is_finite() {
            return Err(Error::WeightOverflow);
        }
        let n_isolated = degrees.iter().filter(|&&degree| degree == 0.0).count();
        Ok(Self { offsets, neighbors, weights, self_loops, degrees, n_loops, n_isolated, volume })
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
        let mut csr = Csr::from_entries(n_nodes, &ends, &weights, Mirror::Yes)?;
        drop((ends, weights));
        csr.tidy()?;
        Graph::from_parts(csr.offsets, csr.neighbors, csr.weights)
    }
}

/// Whether an entry stands for its mirror image too.
#[derive(Clone, Copy, PartialEq)]
enum Mirror {
    Yes,
    No,
}

fn check_weight(from: NodeId, to: NodeId, weight: f64) -> Result<()> {
    if (0.0..f64::INFINITY).contains(&weight) {
        Ok(())
    } else {
        Err(Error::BadWeight { from: from.into(), to: to.into(), weight })
    }
}

/// A zeroed array for a graph of `n_nodes` and `n_entries`, or a clear error where there is no memory for it.
fn zeros<T: Copy + Default>(len: usize, n_nodes: usize, n_entries: usize) -> Result<Vec<T>> {
    let mut array = Vec::new();
    array.try_reserve_exact(len).map_err(|_| Error::OutOfMemory { n_nodes, n_entries })?;
    array.resize(len, T::default());
    Ok(array)
}

/// How far a matrix is from its transpose.
enum Symmetry {
    Exact,
    Rounded,
}

/// Rows of a matrix on their way to becoming a graph.
struct Csr<'a> {
    offsets: Cow<'a, [u64]>,
    neighbors: Cow<'a, [NodeId]>,
    weights: Weights<'a>,
}

impl Csr<'static> {
    /// Rows from entries in any order, by counting sort; `weights` is empty when all are 1.
    fn from_entries(
        n_rows: usize,
        entries: &[(NodeId, NodeId)],
        weights: &[f64],
        mirror: Mirror,
    ) -> Result<Self> {
        let mirrored = |row, column| mirror == Mirror::Yes && row != column;
        let mut offsets = zeros::<u64>(n_rows + 1, n_rows, entries.len())?;
        for &(row, column) in entries {
            offsets[row as usize + 1] += 1;
            if mirrored(row, column) {
                offsets[column as usize + 1] += 1;
            }
        }
        for row in 0..n_rows {
            offsets[row + 1] += offsets[row];
        }
        let n_entries = offsets[n_rows] as usize;
        let mut neighbors = zeros::<NodeId>(n_entries, n_rows, n_entries)?;
        let n_weights = if weights.is_empty() { 0 } else { n_entries };
        let mut entry_weights = zeros::<f64>(n_weights, n_rows, n_entries)?;
        let mut free = offsets[..n_rows].to_vec();
        for (place, &(row, column)) in entries.iter().enumerate() {
            let mut put = |row: NodeId, column: NodeId| {
                let entry = free[row as usize] as usize;
                free[row as usize] += 1;
                neighbors[entry] = column;
                if let Some(&weight) = weights.get(place) {
                    entry_weights[entry] = weight;
                }
            };
            put(row, column);
            if mirrored(row, column) {
                put(column, row);
            }
        }
        let weights =
            if entry_weights.is_empty() { Weights::Unit } else { Weights::F64(entry_weights.into()) };
        Ok(Self { offsets: offsets.into(), neighbors: neighbors.into(), weights })
    }
}

impl<'a> Csr<'a> {
    fn n_rows(&self) -> usize {
        self.offsets.len() - 1
    }

    fn row(&self, row: usize) -> Range<usize> {
        self.offsets[row] as usize..self.offsets[row + 1] as usize
    }

    fn check_structure(&self) -> Result<()> {
        let n_entries = self.neighbors.len() as u64;
        let Some(n_rows) = self.offsets.len().checked_sub(1) else {
            return Err(Error::shape("the row offsets are empty; a matrix of n rows has n + 1 of them"));
        };
        if n_rows == 0 {
            return Err(Error::EmptyGraph);
        }
        if n_rows > NodeId::MAX as usize {
            return Err(Error::TooManyNodes { n_nodes: n_rows as u64 });
        }
        if self.offsets[0] != 0 {
            return Err(Error::shape(format!("the row offsets start at {} instead of 0", self.offsets[0])));
        }
        if let Some(row) = self.offsets.windows(2).position(|pair| pair[0] > pair[1]) {
            return Err(Error::shape(format!(
                "the row offsets fall from {} to {} at row {row}; they must not decrease",
                self.offsets[row],
                self.offsets[row + 1]
            )));
        }
        if self.offsets[n_rows] != n_entries {
            return Err(Error::shape(format!(
                "the row offsets end at {}, but there are {n_entries} column numbers",
                self.offsets[n_rows]
            )));
        }
        if let Some(n_weights) = self.weights.len().filter(|&len| len as u64 != n_entries) {
            return Err(Error::shape(format!(
                "there are {n_entries} column numbers but {n_weights} weights"
            )));
        }
        if let Some(entry) = self.neighbors.iter().position(|&column| column as usize >= n_rows) {
            let row = self.offsets.partition_point(|&offset| offset <= entry as u64) - 1;
            return Err(Error::NodeOutOfRange {
                from: row as u64,
                to: self.neighbors[entry].into(),
                n_nodes: n_rows,
            });
        }
        Ok(())
    }

    fn check_weights(&self) -> Result<()> {
        if self.weights.len().is_some() {
            for row in 0..self.n_rows() {
                for entry in self.row(row) {
                    check_weight(row as NodeId, self.neighbors[entry], self.weights.at(entry))?;
                }
            }
        }
        Ok(())
    }

    /// Rows strictly ascending and no stored zero.
    fn is_tidy(&self) -> bool {
        let no_zero = match &self.weights {
            Weights::Unit => true,
            Weights::F32(weights) => weights.iter().all(|&weight| weight != 0.0),
            Weights::F64(weights) => weights.iter().all(|&weight| weight != 0.0),
        };
        no_zero && (0..self.n_rows()).all(|row| ascends(&self.neighbors[self.row(row)]))
    }

    /// Sorts the rows, adds up duplicates in the order they were given, drops zeros.
    fn tidy(&mut self) -> Result<()> {
        if let Weights::Unit = self.weights {
            let mut duplicates = false;
            let neighbors = self.neighbors.to_mut();
            for pair in self.offsets.windows(2) {
                let row = &mut neighbors[pair[0] as usize..pair[1] as usize];
                row.sort_unstable();
                duplicates |= !ascends(row);
            }
            if !duplicates {
                return Ok(());
            }
            let mut ones = zeros::<f64>(neighbors.len(), self.offsets.len() - 1, neighbors.len())?;
            ones.fill(1.0);
            self.weights = Weights::F64(ones.into());
        }
        let offsets = self.offsets.to_mut();
        let neighbors = self.neighbors.to_mut();
        match &mut self.weights {
            Weights::Unit => {}
            Weights::F32(weights) => merge_rows(offsets, neighbors, weights.to_mut()),
            Weights::F64(weights) => merge_rows(offsets, neighbors, weights.to_mut()),
        }
        Ok(())
    }

    /// Compares every entry with its mirror image.
    fn symmetry(&self) -> Result<Symmetry> {
        let mut exact = true;
        self.for_each_mirror(|row, column, entry, mirror| {
            let (weight, mirrored) = (self.weights.at(entry), self.weights.at(mirror));
            exact &= weight == mirrored;
            if (weight - mirrored).abs() > ROUNDING * weight.max(mirrored) {
                return Err(asymmetric(column, row, mirrored, weight));
            }
            Ok(())
        })?;
        Ok(if exact { Symmetry::Exact } else { Symmetry::Rounded })
    }

    /// Calls `visit(row, column, entry, mirror)` for every stored entry below the diagonal, `mirror` being
    /// the entry at (column, row).
    ///
    /// Rows are visited in ascending order, so the mirrors in any one row come up from left to right: one
    /// cursor a row finds them all in O(entries).
    fn for_each_mirror(&self, mut visit: impl FnMut(usize, usize, usize, usize) -> Result<()>) -> Result<()> {
        let n_rows = self.n_rows();
        let mut cursor: Vec<usize> = (0..n_rows)
            .map(|row| {
                let entries = self.row(row);
                let first = self.neighbors[entries.clone()].partition_point(|&c| c as usize <= row);
                entries.start + first
            })
            .collect();
        // The entry under the cursor of `row` is one that its mirror's row skipped.
        let unmatched = |row: usize, entry: usize| {
            asymmetric(row, self.neighbors[entry] as usize, self.weights.at(entry), 0.0)
        };
        for row in 0..n_rows {
            for entry in self.row(row) {
                let column = self.neighbors[entry] as usize;
                if column >= row {
                    break;
                }
                let mirror = cursor[column];
                let expected = self.row(column).end;
                match self.neighbors[..expected].get(mirror).map(|&c| c as usize) {
                    Some(found) if found == row => visit(row, column, entry, mirror)?,
                    Some(found) if found < row => return Err(unmatched(column, mirror)),
                    _ => return Err(unmatched(row, entry)),
                }
                cursor[column] += 1;
            }
        }
        match (0..n_rows).find(|&row| cursor[row] < self.row(row).end) {
            Some(row) => Err(unmatched(row, cursor[row])),
            None => Ok(()),
        }
    }

    /// Replaces both directions of every edge by their mean; the pattern is symmetric already.
    fn average_in_place(&mut self) {
        let mut pairs = Vec::new();
        self.for_each_mirror(|_, _, entry, mirror| {
            if self.weights.at(entry) != self.weights.at(mirror) {
                pairs.push((entry, mirror));
            }
            Ok(())
        })
        .expect("the pattern was found symmetric");
        for (entry, mirror) in pairs {
            let mean = f64::midpoint(self.weights.at(entry), self.weights.at(mirror));
            match &mut self.weights {
                Weights::Unit => {}
                Weights::F32(weights) => {
                    weights.to_mut()[entry] = mean as f32;
                    weights.to_mut()[mirror] = mean as f32;
                }
                Weights::F64(weights) => {
                    weights.to_mut()[entry] = mean;
                    weights.to_mut()[mirror] = mean;
                }
            }
        }
    }

    /// The matrix of `combine(a_ij, a_ji)`, an entry that is not stored counting as 0.
    fn combined(self, combine: impl Fn(f64, f64) -> f64) -> Result<Csr<'static>> {
        let mirrored = self.transposed()?;
        let mut offsets = Vec::with_capacity(self.offsets.len());
        offsets.push(0);
        let mut neighbors = Vec::new();
        let mut weights: Vec<f64> = Vec::new();
        for row in 0..self.n_rows() {
            let mut own = self.row(row).peekable();
            let mut other = mirrored.row(row).peekable();
            loop {
                let own_column = own.peek().map(|&entry| self.neighbors[entry]);
                let other_column = other.peek().map(|&entry| mirrored.neighbors[entry]);
                let Some(column) = own_column.into_iter().chain(other_column).min() else { break };
                let weight = own.next_if(|_| own_column == Some(column));
                let weight = weight.map_or(0.0, |entry| self.weights.at(entry));
                let mirror = other.next_if(|_| other_column == Some(column));
                let mirror = mirror.map_or(0.0, |entry| mirrored.weights.at(entry));
                neighbors.push(column);
                weights.push(combine(weight, mirror));
            }
            offsets.push(neighbors.len() as u64);
        }
        let weights = match self.weights {
            Weights::F32(_) => Weights::F32(weights.into_iter().map(|weight| weight as f32).collect()),
            _ if weights.iter().all(|&weight| weight == 1.0) => Weights::Unit,
            _ => Weights::F64(weights.into()),
        };
        Ok(Csr { offsets: offsets.into(), neighbors: neighbors.into(), weights })
    }

    fn transposed(&self) -> Result<Csr<'static>> {
        let (n_rows, n_entries) = (self.n_rows(), self.neighbors.len());
        let mut offsets = zeros::<u64>(self.offsets.len(), n_rows, n_entries)?;
        for &column in self.neighbors.iter() {
            offsets[column as usize + 1] += 1;
        }
        for row in 0..self.n_rows() {
            offsets[row + 1] += offsets[row];
        }
        let mut free = offsets.clone();
        let mut neighbors = zeros::<NodeId>(n_entries, n_rows, n_entries)?;
        let mut weights = zeros::<f64>(n_entries, n_rows, n_entries)?;
        for row in 0..self.n_rows() {
            for entry in self.row(row) {
                let slot = &mut free[self.neighbors[entry] as usize];
                neighbors[*slot as usize] = row as NodeId;
                weights[*slot as usize] = self.weights.at(entry);
                *slot += 1;
            }
        }
        Ok(Csr {
            offsets: offsets.into(),
            neighbors: neighbors.into(),
            weights: Weights::F64(weights.into()),
        })
    }
}

/// An entry that differs from its mirror image, named from its lower node.
fn asymmetric(from: usize, to: usize, weight: f64, mirror: f64) -> Error {
    let (from, to, weight, mirror) =
        if from <= to { (from, to, weight, mirror) } else { (to, from, mirror, weight) };
    Error::Asymmetric { from: from as u64, to: to as u64, weight, mirror }
}

fn ascends(row: &[NodeId]) -> bool {
    row.windows(2).all(|pair| pair[0] < pair[1])
}

/// Sorts every row by column, stably, adds up equal columns and drops zeros, packing rows to the front.
fn merge_rows<W>(offsets: &mut [u64], neighbors: &mut Vec<NodeId>, weights: &mut Vec<W>)
where
    W: Copy + PartialEq + Default + std::ops::AddAssign,
{
    let zero = W::default();
    let mut row: Vec<(NodeId, W)> = Vec::new();
    let mut end = 0;
    let mut start = 0;
    for offset in &mut offsets[1..] {
        let entries = start..*offset as usize;
        start = *offset as usize;
        row.clear();
        row.extend(entries.clone().map(|entry| (neighbors[entry], weights[entry])));
        row.sort_by_key(|&(neighbor, _)| neighbor);
        row.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        row.retain(|&(_, weight)| weight != zero);
        for &(neighbor, weight) in &row {
            neighbors[end] = neighbor;
            weights[end] = weight;
            end += 1;
        }
        *offset = end as u64;
    }
    neighbors.truncate(end);
    weights.truncate(end);
}
