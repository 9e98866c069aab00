//! Edges in any order, sorted into rows by all threads, with the same result for any number of them.
//!
//! Edges come in portions. Each is parted by blocks of rows when it comes, so that in the end every block is gathered,
//! sorted and merged by itself, in cache; or, where memory is limited, from files (`spill.rs`). Everything is stable: what is parallel in the file is added up in its order.

use std::ops::{AddAssign, Range};

use super::csr::{Csr, Mirror, SHORT_ROW, ascends, zeros};
use super::row_order::{HasEquals, ranks};
use super::spill::{Spill, Spilling};
use super::{Graph, NodeId, Symmetrize, Weights};
use crate::error::{Error, Result};
use crate::parallel::prelude::*;

/// Rows of a block: its entries stay in cache while they are sorted.
pub(super) const BLOCK_ROWS: usize = 1 << 10;

/// An edge that was given less often than this has a weight that 32 bits hold.
const MOST_NARROW: usize = 1 << 24;

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

    pub(crate) fn is_empty(&self) -> bool {
        self.ends.is_empty()
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

    /// Parts edges by blocks of rows, to be added later; work for any thread.
    pub(crate) fn part(&self, edges: &Edges) -> Run {
        Run::new(edges, self.mirror)
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
    // Where 32 bits cannot count the entries of a block, ones are stored like other weights.
    let is_weighted = runs.iter().any(|run| !run.weights.is_empty())
        || sizes.iter().any(|&size| u32::try_from(size).is_err());
    let mut offsets = zeros::<u64>(n_rows + 1, n_rows, n_entries)?;
    let mut columns = zeros::<NodeId>(n_entries, n_rows, n_entries)?;
    let mut weights = zeros::<f64>(if is_weighted { n_entries } else { 0 }, n_rows, n_entries)?;
    let arch = pulp::Arch::new();
    let sort = |block| arch.dispatch(SortBlock { block, runs: &runs });
    let blocks = blocks(first_block, &mut offsets, &mut columns, &mut weights, &sizes);
    let merged: Vec<Merged> = blocks.into_par_iter().map(sort).collect();
    runs.into_par_iter().for_each(drop);
    let mut starts = Vec::with_capacity(n_blocks + 1);
    starts.push(0);
    starts.extend(merged.iter().scan(0, |end, block| {
        *end += block.n_entries;
        Some(*end)
    }));
    let row_ends = offsets[1..].par_chunks_mut(BLOCK_ROWS).zip(&starts);
    row_ends.for_each(|(ends, &start)| ends.iter_mut().for_each(|end| *end += start as u64));
    let weigh = || -> Result<Weights<'static>> {
        match is_weighted {
            true => {
                close_gaps(&mut weights, &sizes, &starts);
                Ok(Weights::F64(weights.into()))
            }
            false if merged.iter().all(|block| block.surplus.is_empty()) => Ok(Weights::Unit),
            false if merged.iter().all(|block| block.surplus.len() < MOST_NARROW) => {
                Ok(how_often(zeros::<f32>(starts[n_blocks], n_rows, n_entries)?, &merged).into())
            }
            false => Ok(how_often(zeros::<f64>(starts[n_blocks], n_rows, n_entries)?, &merged).into()),
        }
    };
    let ((), weights) = crate::parallel::join(|| close_gaps(&mut columns, &sizes, &starts), weigh);
    let weights = weights?;
    Ok(Csr { offsets: offsets.into(), columns: columns.into(), weights })
}

/// A portion of the entries, both directions of every edge, parted by blocks of rows.
pub(crate) struct Run {
    /// The block of rows that `starts` starts with.
    pub(super) first_block: usize,
    /// Where the entries of each block begin, and where the last one ends.
    pub(super) starts: Vec<u32>,
    pub(super) entries: Entries,
    /// One for each of `entries`, or empty where all are 1.
    pub(super) weights: Vec<f64>,
}

/// Entries in as few bits as their columns need.
pub(super) enum Entries {
    Narrow(Vec<u32>),
    Wide(Vec<u64>),
}

/// Bits of the column of a narrow entry; the others tell its row.
const NARROW_BITS: u32 = u32::BITS - BLOCK_ROWS.ilog2();

/// An entry: its row, counted from the first of its block, and its column.
trait Entry: Copy {
    fn new(row: NodeId, column: NodeId) -> Self;
    fn row(self) -> usize;
    fn column(self) -> NodeId;
}

impl Entry for u32 {
    #[inline(always)]
    fn new(row: NodeId, column: NodeId) -> Self {
        row << NARROW_BITS | column
    }

    #[inline(always)]
    fn row(self) -> usize {
        (self >> NARROW_BITS) as usize
    }

    #[inline(always)]
    fn column(self) -> NodeId {
        self & ((1 << NARROW_BITS) - 1)
    }
}

impl Entry for u64 {
    #[inline(always)]
    fn new(row: NodeId, column: NodeId) -> Self {
        (u64::from(row) % BLOCK_ROWS as u64) << 32 | u64::from(column)
    }

    #[inline(always)]
    fn row(self) -> usize {
        (self >> 32) as usize
    }

    #[inline(always)]
    fn column(self) -> NodeId {
        self as NodeId
    }
}

impl Run {
    fn new(edges: &Edges, mirror: Mirror) -> Self {
        let mirrored = |row, column| mirror == Mirror::Yes && row != column;
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
        let mut weights = vec![0.0; if edges.weights.is_empty() { 0 } else { n_entries }];
        let entries = if last >> NARROW_BITS == 0 {
            Entries::Narrow(edges.placed(mirror, &mut starts, &mut weights))
        } else {
            Entries::Wide(edges.placed(mirror, &mut starts, &mut weights))
        };
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

    pub(super) fn part(&self, block: usize) -> Part<'_> {
        let range = self.block(block);
        let weights = if self.weights.is_empty() { None } else { Some(&self.weights[range.clone()]) };
        let entries = match &self.entries {
            Entries::Narrow(entries) => PartEntries::Narrow(&entries[range]),
            Entries::Wide(entries) => PartEntries::Wide(&entries[range]),
        };
        Part { entries, weights }
    }

    /// Bytes of memory, about.
    pub(super) fn n_bytes(&self) -> usize {
        let entries = match &self.entries {
            Entries::Narrow(entries) => size_of_val(&entries[..]),
            Entries::Wide(entries) => size_of_val(&entries[..]),
        };
        entries + size_of_val(&self.weights[..])
    }
}

impl Edges {
    /// The entries, both directions of an edge where it is mirrored, and their weights at the places that `starts` tells
    /// for their blocks.
    fn placed<E: Entry>(&self, mirror: Mirror, starts: &mut [u32], weights: &mut [f64]) -> Vec<E> {
        let mut entries = vec![E::new(0, 0); starts[starts.len() - 1] as usize];
        for (edge, &(row, column)) in self.ends.iter().enumerate() {
            let mut place = |row: NodeId, column: NodeId| {
                let slot = &mut starts[block_of(row) + 1];
                entries[*slot as usize] = E::new(row, column);
                if let Some(&weight) = self.weights.get(edge) {
                    weights[*slot as usize] = weight;
                }
                *slot += 1;
            };
            place(row, column);
            if mirror == Mirror::Yes && row != column {
                place(column, row);
            }
        }
        entries
    }
}

fn block_of(row: NodeId) -> usize {
    row as usize / BLOCK_ROWS
}

/// Entries of one block.
#[derive(Clone, Copy)]
pub(super) struct Part<'r> {
    pub(super) entries: PartEntries<'r>,
    /// `None` where all are 1.
    pub(super) weights: Option<&'r [f64]>,
}

#[derive(Clone, Copy)]
pub(super) enum PartEntries<'r> {
    Narrow(&'r [u32]),
    Wide(&'r [u64]),
}

impl PartEntries<'_> {
    /// Appends the entries as wide ones.
    pub(super) fn widen(self, wide: &mut Vec<u64>) {
        match self {
            Self::Narrow(entries) => {
                wide.extend(entries.iter().map(|entry| u64::new(entry.row() as NodeId, entry.column())));
            }
            Self::Wide(entries) => wide.extend_from_slice(entries),
        }
    }
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

/// The work for one block, compiled for the widest registers there are.
struct SortBlock<'r, 'm> {
    block: Block<'m>,
    runs: &'r [Run],
}

impl pulp::NullaryFnOnce for SortBlock<'_, '_> {
    type Output = Merged;

    #[inline(always)]
    fn call(self) -> Merged {
        let Self { mut block, runs } = self;
        let number = block.number;
        block.gather(runs.iter().map(|run| run.part(number)));
        if block.weights.is_empty() { block.merge_ones() } else { block.merge() }
    }
}

impl Block<'_> {
    /// Puts every entry into its row, in the order of the parts.
    #[inline(always)]
    fn gather<'r>(&mut self, parts: impl Iterator<Item = Part<'r>> + Clone) {
        for part in parts.clone() {
            match part.entries {
                PartEntries::Narrow(entries) => self.count(entries),
                PartEntries::Wide(entries) => self.count(entries),
            }
        }
        // First where each row starts, then, when all its entries are placed, where it ends.
        let mut end = 0;
        for row_end in self.ends.iter_mut() {
            end += std::mem::replace(row_end, end);
        }
        for part in parts {
            match part.entries {
                PartEntries::Narrow(entries) => self.place(entries, part.weights),
                PartEntries::Wide(entries) => self.place(entries, part.weights),
            }
        }
    }

    #[inline(always)]
    fn count<E: Entry>(&mut self, entries: &[E]) {
        for entry in entries {
            self.ends[entry.row()] += 1;
        }
    }

    #[inline(always)]
    fn place<E: Entry>(&mut self, entries: &[E], weights: Option<&[f64]>) {
        for (place, entry) in entries.iter().enumerate() {
            let slot = &mut self.ends[entry.row()];
            self.columns[*slot as usize] = entry.column();
            if !self.weights.is_empty() {
                self.weights[*slot as usize] = weights.map_or(1.0, |weights| weights[place]);
            }
            *slot += 1;
        }
    }

    /// Sorts the rows, each column once, packing them to the front of the block.
    #[inline(always)]
    fn merge_ones(&mut self) -> Merged {
        let mut surplus = Vec::new();
        let (mut given, mut places) = ([0; SHORT_ROW], [0; SHORT_ROW]);
        let mut start = 0;
        let mut kept = 0;
        for row_end in self.ends.iter_mut() {
            let entries = start..*row_end as usize;
            let sorted = kept..kept + entries.len();
            start = entries.end;
            let row = &mut self.columns[entries.clone()];
            let mut equals = HasEquals::No;
            if ascends(row) {
                self.columns.copy_within(entries, kept);
            } else if let Some(given) = given.get_mut(..entries.len()) {
                given.copy_from_slice(row);
                equals = ranks(given, &mut places);
                let sorted = &mut self.columns[sorted.clone()];
                for (&column, &place) in given.iter().zip(&places) {
                    sorted[place as usize] = column;
                }
            } else {
                row.sort_unstable();
                equals = if ascends(row) { HasEquals::No } else { HasEquals::Yes };
                self.columns.copy_within(entries, kept);
            }
            kept = sorted.end;
            if equals == HasEquals::Yes {
                kept = sorted.start + 1;
                for entry in sorted.start + 1..sorted.end {
                    if self.columns[entry] == self.columns[kept - 1] {
                        surplus.push(kept as u32 - 1);
                    } else {
                        self.columns[kept] = self.columns[entry];
                        kept += 1;
                    }
                }
            }
            *row_end = kept as u64;
        }
        Merged { n_entries: kept, surplus }
    }

    /// Sorts the rows and adds up duplicates in the order they were given, packing the rows to the front of the block.
    #[inline(always)]
    fn merge(&mut self) -> Merged {
        // Columns with the places they had, which makes every key one of its own and any sort a stable one.
        let mut keys: Vec<u64> = Vec::new();
        let (mut columns, mut weights) = (Vec::new(), Vec::new());
        let mut places = [0; SHORT_ROW];
        let mut start = 0;
        let mut kept = 0;
        for row_end in self.ends.iter_mut() {
            let entries = start..*row_end as usize;
            let sorted = kept..kept + entries.len();
            start = entries.end;
            let mut equals = HasEquals::No;
            if ascends(&self.columns[entries.clone()]) {
                self.columns.copy_within(entries.clone(), kept);
                self.weights.copy_within(entries, kept);
            } else {
                columns.clear();
                columns.extend_from_slice(&self.columns[entries.clone()]);
                weights.clear();
                weights.extend_from_slice(&self.weights[entries]);
                let to_columns = &mut self.columns[sorted.clone()];
                let to_weights = &mut self.weights[sorted.clone()];
                if columns.len() <= SHORT_ROW {
                    equals = ranks(&columns, &mut places);
                    for ((&column, &weight), &place) in columns.iter().zip(&weights).zip(&places) {
                        (to_columns[place as usize], to_weights[place as usize]) = (column, weight);
                    }
                } else {
                    equals = HasEquals::Yes;
                    keys.clear();
                    keys.extend(
                        columns.iter().zip(0..).map(|(&column, place)| u64::from(column) << 32 | place),
                    );
                    keys.sort_unstable();
                    for (&key, (column, weight)) in keys.iter().zip(to_columns.iter_mut().zip(to_weights)) {
                        (*column, *weight) = ((key >> 32) as NodeId, weights[key as u32 as usize]);
                    }
                }
            }
            kept = sorted.end;
            if equals == HasEquals::Yes {
                kept = sorted.start + 1;
                for entry in sorted.start + 1..sorted.end {
                    if self.columns[entry] == self.columns[kept - 1] {
                        self.weights[kept - 1] += self.weights[entry];
                    } else {
                        (self.columns[kept], self.weights[kept]) = (self.columns[entry], self.weights[entry]);
                        kept += 1;
                    }
                }
            }
            *row_end = kept as u64;
        }
        Merged { n_entries: kept, surplus: Vec::new() }
    }
}

/// What is left of a block, at the front of its place.
struct Merged {
    n_entries: usize,
    /// The entry, counted from the first of the block, of every edge that was not the first between its ends; only
    /// where none has a weight.
    surplus: Vec<u32>,
}

/// How often each edge was given, in place of zeros.
fn how_often<T: AddAssign + From<u8> + Copy + Send + Sync>(mut counts: Vec<T>, merged: &[Merged]) -> Vec<T> {
    let one = T::from(1);
    let mut rest = &mut counts[..];
    let blocks = merged.iter().map_while(|block| Some((rest.split_off_mut(..block.n_entries)?, block)));
    let blocks: Vec<(&mut [T], &Merged)> = blocks.collect();
    blocks.into_par_iter().for_each(|(counts, block)| {
        counts.fill(one);
        block.surplus.iter().for_each(|&entry| counts[entry as usize] += one);
    });
    counts
}

/// Brings together the blocks of the given sizes, of which only what stands at the front is kept.
fn close_gaps<T: Copy>(numbers: &mut Vec<T>, sizes: &[usize], starts: &[usize]) {
    let mut old_start = 0;
    for (size, new) in sizes.iter().zip(starts.windows(2)) {
        if old_start != new[0] {
            numbers.copy_within(old_start..old_start + new[1] - new[0], new[0]);
        }
        old_start += size;
    }
    numbers.truncate(starts[sizes.len()]);
}
