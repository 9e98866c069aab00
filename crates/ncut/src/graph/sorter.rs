//! Edges in any order, sorted into rows by all threads, with the same result for any number of them. Whatever graphs
//! are made of comes here: edge lists, files, the builder, entries of a matrix.
//!
//! Edges come in portions. Each is parted by blocks of rows when it comes (`edge_runs.rs`), so that in the end every
//! block is gathered, sorted and merged by itself, in cache (`row_blocks.rs`); or, where memory is limited, from files
//! (`spill.rs`). Everything is stable: what is parallel in the file is added up in its order.

use super::Graph;
#[cfg(feature = "files")]
use super::Symmetrize;
use super::csr::Csr;
#[cfg(feature = "files")]
use super::edge_runs::BLOCK_ROWS;
use super::edge_runs::{Edges, Mirror, Run};
use super::row_blocks::rows_of_runs;
#[cfg(feature = "files")]
use super::spill::{Spill, Spilling};
use crate::error::{Error, Result};
#[cfg(feature = "files")]
use crate::memory;
use crate::parallel::prelude::*;

/// Collects edges and sorts them into rows; those that memory shall not hold, in temporary files.
pub(crate) struct EdgeSorter {
    mirror: Mirror,
    runs: Vec<Run>,
    #[cfg(feature = "files")]
    spill: Option<Spill>,
}

impl EdgeSorter {
    /// For undirected edges, each given once.
    pub(crate) fn of_edges() -> Self {
        Self {
            mirror: Mirror::Yes,
            runs: Vec::new(),
            #[cfg(feature = "files")]
            spill: None,
        }
    }

    /// For the entries of a matrix, where every edge stands twice.
    pub(crate) fn of_entries() -> Self {
        Self { mirror: Mirror::No, ..Self::of_edges() }
    }

    /// For undirected edges that were parted before.
    pub(super) fn of_parted(runs: Vec<Run>) -> Self {
        Self { runs, ..Self::of_edges() }
    }

    /// Parts edges by blocks of rows, to be added later; work for any thread.
    pub(crate) fn part(&self, edges: &Edges) -> Run {
        edges.parted(self.mirror)
    }

    /// Adds portions, in their order.
    ///
    /// # Errors
    /// When a temporary file cannot be written.
    pub(crate) fn add(&mut self, portions: Vec<Edges>) -> Result<()> {
        let runs = portions.into_par_iter().map(|edges| self.part(&edges)).collect();
        self.add_parted(runs)
    }

    /// Adds portions that were parted before, in their order.
    ///
    /// # Errors
    /// When a temporary file cannot be written.
    pub(crate) fn add_parted(&mut self, runs: Vec<Run>) -> Result<()> {
        self.runs.extend(runs);
        #[cfg(feature = "files")]
        if let Some(spill) = &mut self.spill {
            spill.take_if_large(&mut self.runs)?;
        }
        Ok(())
    }

    /// The graph of all edges; their ends are below `n_nodes`.
    pub(crate) fn graph(self, n_nodes: usize) -> Result<Graph<'static>> {
        Graph::from_rows(self.rows(n_nodes)?)
    }

    #[cfg(feature = "files")]
    /// A graph from all entries of its matrix.
    ///
    /// # Errors
    /// As [`Graph::from_csr`].
    pub(crate) fn matrix(self, n_nodes: usize, symmetrize: Symmetrize) -> Result<Graph<'static>> {
        Graph::from_rows(self.rows(n_nodes)?.symmetrized(symmetrize)?)
    }

    /// The rows of all entries, ascending, duplicates added up.
    pub(super) fn rows(self, n_nodes: usize) -> Result<Csr<'static>> {
        if n_nodes == 0 {
            return Err(Error::EmptyGraph);
        }
        rows_of_runs(self.runs, 0, n_nodes)
    }
}

/// Edges of files, which may be more than memory holds.
#[cfg(feature = "files")]
impl EdgeSorter {
    /// The same, with temporary files in `folder` for what takes more than about `limit` bytes of memory.
    pub(crate) fn spilling(self, spilling: Option<&Spilling>) -> Self {
        Self { spill: spilling.map(|spilling| Spill { how: spilling.clone(), runs: Vec::new() }), ..self }
    }

    /// Bytes of memory that making a graph of `n_nodes` takes, with the edges that are in memory now: portions, sorted
    /// rows, arrays over nodes.
    pub(crate) fn memory_needed(&self, n_nodes: usize) -> u64 {
        let in_runs: u64 = self.runs.iter().map(|run| run.n_bytes() as u64).sum();
        let is_weighted = self.runs.iter().any(|run| !run.weights.is_empty());
        let n_entries: u64 = self.runs.iter().map(|run| run.n_entries() as u64).sum();
        in_runs + memory::matrix(n_entries, is_weighted) + memory::PER_NODE * n_nodes as u64
    }

    /// Whether some edges are in files, so that the rows must be [written](Self::for_each_group) one after the other.
    pub(crate) fn is_spilled(&self) -> bool {
        self.spill.as_ref().is_some_and(|spill| !spill.runs.is_empty())
    }

    /// Calls `take` with the rows, some at a time: they are read from their files and sorted then.
    ///
    /// # Errors
    /// When a temporary file cannot be read, or `take` says so.
    pub(crate) fn for_each_group(
        mut self,
        n_nodes: usize,
        mut take: impl FnMut(Csr<'static>) -> Result<()>,
    ) -> Result<()> {
        let Some(mut spill) = self.spill.take() else { return take(self.rows(n_nodes)?) };
        spill.take(&mut self.runs)?;
        drop(self.runs);
        let n_blocks = n_nodes.div_ceil(BLOCK_ROWS);
        let mut start = 0;
        while start < n_blocks {
            let end = spill.group_end(start, n_blocks);
            let runs = spill.runs.iter().map(|run| run.load(start..end)).collect::<Result<Vec<Run>>>()?;
            let n_rows = n_nodes.min(end * BLOCK_ROWS) - start * BLOCK_ROWS;
            take(rows_of_runs(runs, start, n_rows)?)?;
            start = end;
        }
        Ok(())
    }
}
