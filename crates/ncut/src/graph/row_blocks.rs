//! Blocks of rows in the making: each is sorted and merged by itself, in cache, and then all are joined.

use std::ops::AddAssign;

use crate::parallel::prelude::*;

use super::csr::{Csr, ascends, zeros};
use super::edge_runs::{BLOCK_ROWS, Entry, Part, PartEntries, Run};
use super::row_order::{HasEquals, ranks};
use super::triangle::Stored;
use super::{NodeId, Weights};
use crate::error::Result;
use crate::short_rows::SHORT_ROW;

/// An edge that was given less often than this has a weight that 32 bits hold.
const MAX_NARROW: usize = 1 << 24;

/// The rows of all entries of some runs, ascending, duplicates added up: `n_rows` of them from `first_block` on.
pub(super) fn rows_of_runs(runs: Vec<Run>, first_block: usize, n_rows: usize) -> Result<Csr<'static>> {
    let n_blocks = n_rows.div_ceil(BLOCK_ROWS);
    let size = |block| runs.iter().map(|run| run.block(first_block + block).len()).sum();
    let sizes: Vec<usize> = (0..n_blocks).into_par_iter().map(size).collect();
    let n_entries: usize = sizes.iter().sum();
    let is_weighted = runs.iter().any(|run| !run.weights.is_empty()) || !can_count(&sizes);
    let mut rows = Rows {
        offsets: zeros::<u64>(n_rows + 1, n_rows, n_entries)?,
        columns: zeros::<NodeId>(n_entries, n_rows, n_entries)?,
        weights: zeros::<f64>(if is_weighted { n_entries } else { 0 }, n_rows, n_entries)?,
        sizes,
    };
    let merged = rows.merge_blocks(|block, number| {
        block.gather(runs.iter().map(|run| run.part(first_block + number)));
    });
    runs.into_par_iter().for_each(drop);
    rows.joined(&merged)
}

impl Csr<'_> {
    /// The same rows, ascending, duplicates added up in the order they were given, zeros dropped.
    pub(super) fn tidied(self) -> Result<Csr<'static>> {
        let (offsets, columns) = (self.offsets.into_owned(), self.columns.into_owned());
        match self.weights {
            Weights::F32(weights) => tidied(offsets, columns, weights.into_owned()),
            Weights::F64(weights) => tidied(offsets, columns, weights.into_owned()),
            Weights::Unit => tidied(offsets, columns, Vec::<f64>::new()),
        }
    }
}

/// As [`Csr::tidied`]; no weights where all are 1.
fn tidied<W: Stored>(offsets: Vec<u64>, columns: Vec<NodeId>, weights: Vec<W>) -> Result<Csr<'static>>
where
    Vec<W>: Into<Weights<'static>>,
{
    let (n_rows, n_entries) = (offsets.len() - 1, columns.len());
    let last_of = |block: usize| n_rows.min((block + 1) * BLOCK_ROWS);
    let start_of = |block: usize| offsets[block * BLOCK_ROWS];
    let n_blocks = n_rows.div_ceil(BLOCK_ROWS);
    let sizes: Vec<usize> =
        (0..n_blocks).map(|block| (offsets[last_of(block)] - start_of(block)) as usize).collect();
    let mut rows = Rows { offsets, columns, weights, sizes };
    if rows.weights.is_empty() && !can_count(&rows.sizes) {
        rows.weights = zeros::<W>(n_entries, n_rows, n_entries)?;
        rows.weights.fill(W::rounded(1.0));
    }
    let merged = rows.merge_blocks(|block, _| {
        // From the ends in all rows to those in this block.
        let start = block.start as u64;
        block.ends.iter_mut().for_each(|end| *end -= start);
        block.drop_zeros();
    });
    rows.joined(&merged)
}

/// Whether 32 bits can count the entries of each block; where they cannot, ones are stored like other weights.
fn can_count(sizes: &[usize]) -> bool {
    sizes.iter().all(|&size| u32::try_from(size).is_ok())
}

/// Rows in the making, block after block, each with room for all entries it was given.
struct Rows<W> {
    /// Where each row ends, after a 0; while blocks are worked on, counted from the first entry of the block.
    offsets: Vec<u64>,
    columns: Vec<NodeId>,
    /// As many as `columns`, or none where all are 1.
    weights: Vec<W>,
    /// How many entries each block was given.
    sizes: Vec<usize>,
}

impl<W: Stored> Rows<W> {
    /// Sorts and merges all blocks; `fill` is called with each before, and its number.
    fn merge_blocks(&mut self, fill: impl Fn(&mut Block<'_, W>, usize) + Sync) -> Vec<Merged> {
        let is_weighted = !self.weights.is_empty();
        let (mut columns, mut weights) = (&mut self.columns[..], &mut self.weights[..]);
        let ends = self.offsets[1..].chunks_mut(BLOCK_ROWS);
        let mut end = 0;
        let blocks = ends.zip(&self.sizes).map(|(ends, &size)| {
            end += size;
            Block {
                start: end - size,
                ends,
                columns: columns.split_off_mut(..size).expect("the sizes add up to all entries"),
                weights: weights
                    .split_off_mut(..if is_weighted { size } else { 0 })
                    .expect("as many as columns"),
            }
        });
        let blocks: Vec<Block<'_, W>> = blocks.collect();
        let arch = pulp::Arch::new();
        let merge = |(number, block)| arch.dispatch(MergeBlock { block, number, fill: &fill });
        blocks.into_par_iter().enumerate().map(merge).collect()
    }

    /// Brings the blocks together, of which only what was merged is kept.
    ///
    /// The one rule for the width of weights: those that were given keep theirs. Edges without weights that were given
    /// more than once count, in 32 bits where these hold all counts.
    fn joined(mut self, merged: &[Merged]) -> Result<Csr<'static>>
    where
        Vec<W>: Into<Weights<'static>>,
    {
        let (n_rows, n_given) = (self.offsets.len() - 1, self.columns.len());
        let mut starts = Vec::with_capacity(merged.len() + 1);
        starts.push(0);
        starts.extend(merged.iter().scan(0, |end, block| {
            *end += block.n_entries;
            Some(*end)
        }));
        let n_entries = starts[merged.len()];
        let row_ends = self.offsets[1..].par_chunks_mut(BLOCK_ROWS).zip(&starts);
        row_ends.for_each(|(ends, &start)| ends.iter_mut().for_each(|end| *end += start as u64));
        let (sizes, mut weights) = (&self.sizes, self.weights);
        let weigh = || -> Result<Weights<'static>> {
            if !weights.is_empty() {
                close_gaps(&mut weights, sizes, &starts);
                return Ok(weights.into());
            }
            if merged.iter().all(|block| block.surplus.is_empty()) {
                return Ok(Weights::Unit);
            }
            if merged.iter().all(|block| block.surplus.len() < MAX_NARROW) {
                return Ok(how_often(zeros::<f32>(n_entries, n_rows, n_given)?, merged).into());
            }
            Ok(how_often(zeros::<f64>(n_entries, n_rows, n_given)?, merged).into())
        };
        let ((), weights) = crate::parallel::join(|| close_gaps(&mut self.columns, sizes, &starts), weigh);
        Ok(Csr { offsets: self.offsets.into(), columns: self.columns.into(), weights: weights? })
    }
}

/// Some rows in the making.
struct Block<'m, W> {
    /// Entries before the first.
    start: usize,
    /// Where each row ends, counted from the first entry of the block.
    ends: &'m mut [u64],
    columns: &'m mut [NodeId],
    /// As many as `columns`, or none where all are 1.
    weights: &'m mut [W],
}

/// The work for one block, compiled for the widest registers there are.
struct MergeBlock<'f, 'm, W, Fill> {
    block: Block<'m, W>,
    number: usize,
    fill: &'f Fill,
}

impl<W: Stored, Fill: Fn(&mut Block<'_, W>, usize)> pulp::NullaryFnOnce for MergeBlock<'_, '_, W, Fill> {
    type Output = Merged;

    #[inline(always)]
    fn call(self) -> Merged {
        let Self { mut block, number, fill } = self;
        fill(&mut block, number);
        if block.weights.is_empty() { block.merge_ones() } else { block.merge() }
    }
}

impl<W: Stored> Block<'_, W> {
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
                self.weights[*slot as usize] = W::rounded(weights.map_or(1.0, |weights| weights[place]));
            }
            *slot += 1;
        }
    }

    /// Drops entries of weight 0, packing the others to the front of the block.
    fn drop_zeros(&mut self) {
        let zero = |&weight: &W| weight.into() == 0.0;
        if !self.weights.iter().any(zero) {
            return;
        }
        let (mut start, mut kept) = (0, 0);
        for row_end in self.ends.iter_mut() {
            for entry in start..*row_end as usize {
                if !zero(&self.weights[entry]) {
                    (self.columns[kept], self.weights[kept]) = (self.columns[entry], self.weights[entry]);
                    kept += 1;
                }
            }
            start = std::mem::replace(row_end, kept as u64) as usize;
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
    /// Sums are 64-bit and rounded once, so that both directions of an edge come out alike.
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
                kept = sorted.start;
                let mut entry = sorted.start;
                while entry < sorted.end {
                    let column = self.columns[entry];
                    let mut sum: f64 = self.weights[entry].into();
                    entry += 1;
                    while entry < sorted.end && self.columns[entry] == column {
                        sum += self.weights[entry].into();
                        entry += 1;
                    }
                    (self.columns[kept], self.weights[kept]) = (column, W::rounded(sum));
                    kept += 1;
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
