//! Edges in any order, sorted into rows by all threads, with the same result for any number of them.
//!
//! Edges come in portions. Each is parted by blocks of rows when it comes, so that in the end every block is gathered,
//! sorted and merged by itself, in cache; or, where memory is limited, from files (`spill.rs`). Everything is stable: what is parallel in the file is added up in its order.

use std::ops::Range;

use rayon::prelude::*;

use super::csr::{Csr, Mirror, ascends, zeros};
use super::spill::{Spill, Spilling};
use super::{Graph, NodeId, Symmetrize, Weights};
use crate::error::{Error, Result};

/// Rows of a block: its entries stay in cache while they are sorted.
pub(super) const BLOCK_ROWS: usize = 1 << 10;

/// A portion of the edges.
#[derive(Debug, Default)]
pub(crate) struct Edges {
    ends: Vec<(NodeId, NodeId)>,
    /// One for each of `ends`, or empty where all are 1.
    weights: Vec<f64>,
}

impl Edges {
    /// Edges whose weights were checked, one for each or none at all; an edge of weight 0 is none.
    pub(crate) fn new(mut ends: Vec<(NodeId, NodeId)>, mut weights: Vec<f64>) -> Self {
        if weights.contains(&0.0) {
            let mut all = weights.iter();
            ends.retain(|_| all.next() != Some(&0.0));
            weights.retain(|&weight| weight != 0.0);
        }
        if weights.iter().all(|&weight| weight == 1.0) {
            weights = Vec::new();
        }
        Self { ends, weights }
    }
}

/// Collects edges and sorts them into rows; those that memory shall not hold, in temporary files.
pub(crate) struct EdgeSorter {
    mirror: Mirror,
    runs: Vec<Run>,
    spill: Option<Spill>,
}

impl EdgeSorter {
    /// For undirected edges, each given once.
    pub(crate) fn of_edges() -> Self {
        Self { mirror: Mirror::Yes, runs: Vec::new(), spill: None }
    }

    /// For the entries of a matrix, where every edge stands twice.
    pub(crate) fn of_entries() -> Self {
        Self { mirror: Mirror::No, ..Self::of_edges() }
    }

    /// The same, with temporary files in `folder` for what takes more than about `limit` bytes of memory.
    pub(crate) fn spilling(self, spilling: Option<&Spilling>) -> Self {
        Self { spill: spilling.map(|spilling| Spill { how: spilling.clone(), runs: Vec::new() }), ..self }
    }

    /// Whether some edges are in files, so that the rows must be [written](Self::for_each_group) one after the other.
    pub(crate) fn is_spilled(&self) -> bool {
        self.spill.as_ref().is_some_and(|spill| !spill.runs.is_empty())
    }

    /// Adds portions, in their order.
    ///
    /// # Errors
    /// When a temporary file cannot be written.
    pub(crate) fn add(&mut self, portions: Vec<Edges>) -> Result<()> {
        let mirror = self.mirror;
        self.runs.par_extend(portions.into_par_iter().map(|edges| Run::new(&edges, mirror)));
        match &mut self.spill {
            Some(spill) => spill.take_if_large(&mut self.runs),
            None => Ok(()),
        }
    }

    /// The graph of all edges; their ends are below `n_nodes`.
    pub(crate) fn graph(self, n_nodes: usize) -> Result<Graph<'static>> {
        let csr = self.rows(n_nodes)?;
        Graph::from_parts(csr.offsets, csr.columns, csr.weights)
    }

    /// A graph from all entries of its matrix.
    ///
    /// # Errors
    /// As [`Graph::from_csr`].
    pub(crate) fn matrix(self, n_nodes: usize, symmetrize: Symmetrize) -> Result<Graph<'static>> {
        let csr = self.rows(n_nodes)?;
        Graph::from_csr(csr.offsets, csr.columns, csr.weights, symmetrize)
    }

    fn rows(self, n_nodes: usize) -> Result<Csr<'static>> {
        if n_nodes == 0 {
            return Err(Error::EmptyGraph);
        }
        sorted(self.runs, 0, n_nodes)
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
            take(sorted(runs, start, n_rows)?)?;
            start = end;
        }
        Ok(())
    }
}

/// The rows of all entries, ascending, duplicates added up: `n_rows` of them from `first_block` on.
fn sorted(runs: Vec<Run>, first_block: usize, n_rows: usize) -> Result<Csr<'static>> {
    let n_blocks = n_rows.div_ceil(BLOCK_ROWS);
    let size = |block| runs.iter().map(|run| run.block(first_block + block).len()).sum();
    let sizes: Vec<usize> = (0..n_blocks).into_par_iter().map(size).collect();
    let n_entries: usize = sizes.iter().sum();
    let is_weighted = runs.iter().any(|run| !run.weights.is_empty());
    let mut offsets = zeros::<u64>(n_rows + 1, n_rows, n_entries)?;
    let mut columns = zeros::<NodeId>(n_entries, n_rows, n_entries)?;
    let mut weights = zeros::<f64>(if is_weighted { n_entries } else { 0 }, n_rows, n_entries)?;
    let mut kept: Vec<usize> = blocks(first_block, &mut offsets, &mut columns, &mut weights, &sizes)
        .into_par_iter()
        .map(|mut block| {
            let number = block.number;
            let parts = runs.iter().map(|run| run.part(number));
            block.gather(parts);
            if is_weighted { block.merge() } else { block.sort() }
        })
        .collect();
    drop(runs);
    if !is_weighted && kept != sizes {
        // Edges that were given twice weigh 2.
        weights = zeros(n_entries, n_rows, n_entries)?;
        let blocks = blocks(first_block, &mut offsets, &mut columns, &mut weights, &sizes);
        let merge = |mut block: Block<'_>| {
            block.weights.fill(1.0);
            block.merge()
        };
        kept = blocks.into_par_iter().map(merge).collect();
    }
    close_gaps(&mut offsets, &mut columns, &mut weights, &sizes, &kept);
    let weights = if weights.is_empty() { Weights::Unit } else { Weights::F64(weights.into()) };
    Ok(Csr { offsets: offsets.into(), columns: columns.into(), weights })
}

/// A portion of the entries, both directions of every edge, parted by blocks of rows.
pub(super) struct Run {
    /// The block of rows that `starts` starts with.
    pub(super) first_block: usize,
    /// Where the entries of each block begin, and where the last one ends.
    pub(super) starts: Vec<u32>,
    pub(super) entries: Vec<[NodeId; 2]>,
    /// One for each of `entries`, or empty where all are 1.
    pub(super) weights: Vec<f64>,
}

impl Run {
    fn new(edges: &Edges, mirror: Mirror) -> Self {
        let mirrored = |row, column| mirror == Mirror::Yes && row != column;
        let block_of = |row: NodeId| row as usize / BLOCK_ROWS;
        let last = edges.ends.iter().map(|&(row, column)| row.max(column)).max().unwrap_or(0);
        // Counted two places on, so that the places become the starts while entries are placed.
        let mut starts: Vec<u32> = vec![0; block_of(last) + 3];
        for &(row, column) in &edges.ends {
            starts[block_of(row) + 2] += 1;
            if mirrored(row, column) {
                starts[block_of(column) + 2] += 1;
            }
        }
        for block in 2..starts.len() {
            starts[block] += starts[block - 1];
        }
        let n_entries = starts[starts.len() - 1] as usize;
        let mut entries = vec![[0; 2]; n_entries];
        let mut weights = vec![0.0; if edges.weights.is_empty() { 0 } else { n_entries }];
        for (edge, &(row, column)) in edges.ends.iter().enumerate() {
            let mut place = |row: NodeId, column: NodeId| {
                let slot = &mut starts[block_of(row) + 1];
                entries[*slot as usize] = [row, column];
                if let Some(&weight) = edges.weights.get(edge) {
                    weights[*slot as usize] = weight;
                }
                *slot += 1;
            };
            place(row, column);
            if mirrored(row, column) {
                place(column, row);
            }
        }
        starts.pop();
        Self { first_block: 0, starts, entries, weights }
    }

    /// Where the entries of a block stand.
    pub(super) fn block(&self, block: usize) -> Range<usize> {
        let place = block - self.first_block;
        match self.starts.get(place..place + 2) {
            Some(bounds) => bounds[0] as usize..bounds[1] as usize,
            None => 0..0,
        }
    }

    fn part(&self, block: usize) -> Part<'_> {
        let range = self.block(block);
        let weights = if self.weights.is_empty() { None } else { Some(&self.weights[range.clone()]) };
        Part { entries: &self.entries[range], weights }
    }
}

/// Entries of one block.
#[derive(Clone, Copy)]
struct Part<'r> {
    entries: &'r [[NodeId; 2]],
    weights: Option<&'r [f64]>,
}

/// Some rows of the matrix in the making.
struct Block<'m> {
    number: usize,
    /// Where each row ends, counted from the first entry of the block.
    ends: &'m mut [u64],
    columns: &'m mut [NodeId],
    /// As many as `columns`, or none where all are 1.
    weights: &'m mut [f64],
}

fn blocks<'m>(
    first_block: usize,
    offsets: &'m mut [u64],
    mut columns: &'m mut [NodeId],
    mut weights: &'m mut [f64],
    sizes: &[usize],
) -> Vec<Block<'m>> {
    let is_weighted = !weights.is_empty();
    let ends = offsets[1..].chunks_mut(BLOCK_ROWS);
    let blocks = ends.zip(sizes).zip(first_block..).map(|((ends, &size), number)| Block {
        number,
        ends,
        columns: columns.split_off_mut(..size).expect("the sizes add up to all entries"),
        weights: weights.split_off_mut(..if is_weighted { size } else { 0 }).expect("as many as columns"),
    });
    blocks.collect()
}

impl Block<'_> {
    /// Puts every entry into its row, in the order of the parts.
    fn gather<'r>(&mut self, parts: impl Iterator<Item = Part<'r>> + Clone) {
        let first_row = (self.number * BLOCK_ROWS) as NodeId;
        for part in parts.clone() {
            for &[row, _] in part.entries {
                self.ends[(row - first_row) as usize] += 1;
            }
        }
        // First where each row starts, then, when all its entries are placed, where it ends.
        let mut end = 0;
        for row_end in self.ends.iter_mut() {
            end += std::mem::replace(row_end, end);
        }
        for part in parts {
            for (entry, &[row, column]) in part.entries.iter().enumerate() {
                let slot = &mut self.ends[(row - first_row) as usize];
                self.columns[*slot as usize] = column;
                if !self.weights.is_empty() {
                    self.weights[*slot as usize] = part.weights.map_or(1.0, |weights| weights[entry]);
                }
                *slot += 1;
            }
        }
    }

    /// Sorts the rows; how many entries there are without duplicates, which stay.
    fn sort(&mut self) -> usize {
        let mut start = 0;
        let mut n_different = 0;
        for &end in self.ends.iter() {
            let row = &mut self.columns[start..end as usize];
            row.sort_unstable();
            n_different += row.chunk_by(|a, b| a == b).count();
            start = end as usize;
        }
        n_different
    }

    /// Sorts the rows and adds up duplicates in the order they were given, packing the rows to the front of the block;
    /// how many entries are left.
    fn merge(&mut self) -> usize {
        // Columns with the places they had, which makes every key one of its own and any sort a stable one.
        let mut keys: Vec<u64> = Vec::new();
        let mut weights: Vec<f64> = Vec::new();
        let mut start = 0;
        let mut kept = 0;
        for row_end in self.ends.iter_mut() {
            let entries = start..*row_end as usize;
            start = entries.end;
            if ascends(&self.columns[entries.clone()]) {
                self.columns.copy_within(entries.clone(), kept);
                self.weights.copy_within(entries.clone(), kept);
                kept += entries.len();
                *row_end = kept as u64;
                continue;
            }
            keys.clear();
            let columns = self.columns[entries.clone()].iter().enumerate();
            keys.extend(columns.map(|(place, &column)| u64::from(column) << 32 | place as u64));
            keys.sort_unstable();
            weights.clear();
            weights.extend_from_slice(&self.weights[entries]);
            let mut before = None;
            for &key in &keys {
                let (column, weight) = ((key >> 32) as NodeId, weights[key as u32 as usize]);
                if before == Some(column) {
                    self.weights[kept - 1] += weight;
                } else {
                    (self.columns[kept], self.weights[kept]) = (column, weight);
                    kept += 1;
                }
                before = Some(column);
            }
            *row_end = kept as u64;
        }
        kept
    }
}

/// Brings together the blocks, whose entries stand at the front of their places, and counts rows from the first entry
/// of all.
fn close_gaps(
    offsets: &mut [u64],
    columns: &mut Vec<NodeId>,
    weights: &mut Vec<f64>,
    sizes: &[usize],
    kept: &[usize],
) {
    let (mut start, mut end) = (0, 0);
    for ((ends, &size), &kept) in offsets[1..].chunks_mut(BLOCK_ROWS).zip(sizes).zip(kept) {
        for row_end in ends {
            *row_end += end as u64;
        }
        if start != end {
            columns.copy_within(start..start + kept, end);
            if !weights.is_empty() {
                weights.copy_within(start..start + kept, end);
            }
        }
        start += size;
        end += kept;
    }
    columns.truncate(end);
    weights.truncate(end);
}
