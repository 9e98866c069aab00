//! The upper triangle of a matrix of groups: the half that sums are made in, and all that some need to keep.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::ascending_row_sums::AscendingRowSums;
use super::{Members, NodeId};
use crate::parallel::prelude::*;
use crate::progress::Stopped;

/// Entries that one thread sums up at a time, and how many times that before the clock is told: what is
/// summed up has to wait until it can be put in its place.
const ENTRIES_PER_CHUNK: usize = 1 << 15;
const CHUNKS_PER_REPORT: usize = 16;
/// Entries from which on room is made for all at once, and for how many at most.
const MIN_RESERVED: usize = 1 << 20;
const MAX_RESERVED: usize = 1 << 23;
/// Full arrays grow by this part.
const GROWTH: usize = 8;
/// A triangle with so many entries is mirrored on all threads, which takes room for both.
const MIN_BESIDE: usize = 1 << 15;
const MAX_BESIDE: usize = 1 << 23;
const RANGES_PER_THREAD: usize = 4;
/// Rows are brought together in this many turns at most, and this many entries at least.
const MAX_TURNS: usize = 16;
const MIN_ENTRIES_PER_TURN: usize = 1 << 17;

/// Entries on and above the diagonal, row by row, columns ascending.
#[derive(Clone, Debug)]
pub(crate) struct Triangle<W> {
    /// Where the rows end.
    ends: Vec<usize>,
    columns: Vec<NodeId>,
    weights: Vec<W>,
}

/// A weight as it is stored.
pub(crate) trait Stored: Copy + Default + Send + Sync + Into<f64> {
    fn rounded(weight: f64) -> Self;
}

impl Stored for f64 {
    fn rounded(weight: f64) -> Self {
        weight
    }
}

impl Stored for f32 {
    fn rounded(weight: f64) -> Self {
        weight as f32
    }
}

/// How the rows of groups are summed up.
pub(super) struct Summation<Work, Visit, Weigh> {
    pub(super) n_groups: usize,
    /// Entries that are looked at for a group.
    pub(super) work: Work,
    /// Adds what a group has, to itself and to groups of a higher number.
    pub(super) visit: Visit,
    /// `weigh(sum, from, to)` makes the weight of a sum, 0 for none.
    pub(super) weigh: Weigh,
}

impl<W: Stored> Triangle<W> {
    /// No rows yet; there will be `n_rows`, with at most `n_entries`.
    pub(super) fn with_capacity(n_rows: usize, n_entries: usize) -> Self {
        // Large arrays are large from the start: the system gives memory only as it is filled, lets them grow in their
        // place, and takes back at once what was large when it was asked for. Those that have grown from nothing stay
        // with the allocator for long.
        let n_entries = if n_entries < MIN_RESERVED { 0 } else { n_entries.min(MAX_RESERVED) };
        Self {
            ends: Vec::with_capacity(n_rows),
            columns: Vec::with_capacity(n_entries),
            weights: Vec::with_capacity(n_entries),
        }
    }

    fn row(&self, row: usize) -> Range<usize> {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        start..self.ends[row]
    }

    /// Appends the rows of `groups`, the next ones; breaks when `report` does, which is told how many are done.
    pub(super) fn append<Work, Visit, Weigh>(
        &mut self,
        groups: Range<usize>,
        summation: &Summation<Work, Visit, Weigh>,
        report: &mut dyn FnMut(usize) -> Result<(), Stopped>,
    ) -> Result<(), Stopped>
    where
        Work: Fn(usize) -> usize + Sync,
        Visit: Fn(usize, &mut AscendingRowSums) + Sync,
        Weigh: Fn(f64, usize, usize) -> f64 + Sync,
    {
        let spare: Mutex<Vec<AscendingRowSums>> = Mutex::default();
        let summed = |chunk: &Range<usize>| {
            let take = || spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut sums = take().unwrap_or_else(|| AscendingRowSums::new(summation.n_groups));
            let mut rows = Self::with_capacity(chunk.len(), 0);
            rows.sum_up(chunk.clone(), summation, &mut sums);
            spare.lock().unwrap_or_else(PoisonError::into_inner).push(sums);
            rows
        };
        let mut next = groups.start;
        while next < groups.end {
            report(next)?;
            let mut chunks = Vec::with_capacity(CHUNKS_PER_REPORT);
            while chunks.len() < CHUNKS_PER_REPORT && next < groups.end {
                let start = next;
                let mut n_entries = 0;
                while next < groups.end && n_entries < ENTRIES_PER_CHUNK {
                    n_entries += (summation.work)(next);
                    next += 1;
                }
                chunks.push(start..next);
            }
            if let [chunk] = &chunks[..] {
                self.sum_up(chunk.clone(), summation, &mut AscendingRowSums::new(summation.n_groups));
            } else {
                let rows: Vec<Self> = chunks.par_iter().with_max_len(1).map(summed).collect();
                rows.iter().for_each(|rows| self.extend(rows));
            }
        }
        Ok(())
    }

    fn sum_up<Work, Visit, Weigh>(
        &mut self,
        groups: Range<usize>,
        summation: &Summation<Work, Visit, Weigh>,
        sums: &mut AscendingRowSums,
    ) where
        Visit: Fn(usize, &mut AscendingRowSums),
        Weigh: Fn(f64, usize, usize) -> f64,
    {
        for from in groups {
            (summation.visit)(from, sums);
            self.push(from, sums, &summation.weigh);
        }
    }

    fn push(&mut self, from: usize, sums: &mut AscendingRowSums, weigh: impl Fn(f64, usize, usize) -> f64) {
        sums.drain(|to, sum| {
            let weight = W::rounded(weigh(sum, from, to as usize));
            if weight.into() > 0.0 {
                self.columns.push(to);
                self.weights.push(weight);
            }
        });
        self.ends.push(self.columns.len());
    }

    fn extend(&mut self, rows: &Self) {
        let (start, n_more) = (self.columns.len(), rows.columns.len());
        if start + n_more > self.columns.capacity() && start >= MAX_RESERVED {
            let room = n_more.max(start / GROWTH);
            self.columns.reserve_exact(room);
            self.weights.reserve_exact(room);
        }
        self.ends.extend(rows.ends.iter().map(|end| start + end));
        self.columns.extend_from_slice(&rows.columns);
        self.weights.extend_from_slice(&rows.weights);
    }

    /// The whole matrix: offsets, columns, weights.
    pub(super) fn mirrored(self) -> (Vec<u64>, Vec<NodeId>, Vec<W>) {
        if (MIN_BESIDE..=MAX_BESIDE).contains(&self.columns.len()) {
            self.mirrored_beside()
        } else {
            self.mirrored_in_place()
        }
    }

    /// Where the rows of the whole matrix begin, from the number of entries below the diagonal of each.
    fn offsets(&self, below: &[u32]) -> Vec<u64> {
        let mut offsets = Vec::with_capacity(below.len() + 1);
        offsets.push(0);
        let mut end = 0;
        for (row, &below) in below.iter().enumerate() {
            end += u64::from(below) + self.row(row).len() as u64;
            offsets.push(end);
        }
        offsets
    }

    /// The matrix beside the triangle, on all threads: each makes rows that follow each other.
    fn mirrored_beside(self) -> (Vec<u64>, Vec<NodeId>, Vec<W>) {
        let n_rows = self.ends.len();
        let size = n_rows.div_ceil(RANGES_PER_THREAD * crate::parallel::current_num_threads());
        // Calls `visit(column, row, entry)` for the entries above the diagonal in some columns, by rows.
        let for_each_above = |columns: &Range<usize>, visit: &mut dyn FnMut(usize, usize, usize)| {
            for row in 0..columns.end - 1 {
                let entries = self.row(row);
                let least = columns.start.max(row + 1);
                let first =
                    self.columns[entries.clone()].partition_point(|&column| (column as usize) < least);
                for entry in entries.start + first..entries.end {
                    let column = self.columns[entry] as usize;
                    if column >= columns.end {
                        break;
                    }
                    visit(column, row, entry);
                }
            }
        };
        let mut below = vec![0u32; n_rows];
        let range = |part: usize| part * size..n_rows.min((part + 1) * size);
        below.par_chunks_mut(size).enumerate().with_max_len(1).for_each(|(part, below)| {
            let columns = range(part);
            for_each_above(&columns, &mut |column, _, _| below[column - columns.start] += 1);
        });
        let offsets = self.offsets(&below);
        drop(below);
        let n_entries = offsets[n_rows] as usize;
        let (mut columns, mut weights) = (vec![0; n_entries], vec![W::default(); n_entries]);
        let mut parts = Vec::new();
        let (mut columns_left, mut weights_left) = (&mut columns[..], &mut weights[..]);
        for part in 0..n_rows.div_ceil(size) {
            let rows = range(part);
            let count = (offsets[rows.end] - offsets[rows.start]) as usize;
            parts.push((
                rows,
                columns_left.split_off_mut(..count).unwrap_or_default(),
                weights_left.split_off_mut(..count).unwrap_or_default(),
            ));
        }
        parts.into_par_iter().with_max_len(1).for_each(|(rows, columns, weights)| {
            let start = |row: usize| (offsets[row] - offsets[rows.start]) as usize;
            let mut free: Vec<usize> = rows.clone().map(start).collect();
            for_each_above(&rows, &mut |row, column, entry| {
                let place = &mut free[row - rows.start];
                columns[*place] = column as NodeId;
                weights[*place] = self.weights[entry];
                *place += 1;
            });
            for (row, place) in rows.clone().zip(free) {
                let entries = self.row(row);
                let places = place..place + entries.len();
                columns[places.clone()].copy_from_slice(&self.columns[entries.clone()]);
                weights[places].copy_from_slice(&self.weights[entries]);
            }
        });
        (offsets, columns, weights)
    }

    /// The triangle's own arrays become the matrix, so that both are never there.
    fn mirrored_in_place(mut self) -> (Vec<u64>, Vec<NodeId>, Vec<W>) {
        let n_rows = self.ends.len();
        let mut below = vec![0u32; n_rows];
        for row in 0..n_rows {
            for &column in &self.columns[self.row(row)] {
                below[column as usize] += u32::from(column as usize != row);
            }
        }
        let offsets = self.offsets(&below);
        let end = offsets[n_rows] as usize;
        self.columns.reserve_exact(end - self.columns.len());
        self.columns.resize(end, 0);
        self.weights.reserve_exact(end - self.weights.len());
        self.weights.resize(end, W::default());
        // From the last row on: each goes to a place that no row before it is in.
        for row in (0..n_rows).rev() {
            let place = offsets[row] as usize + below[row] as usize;
            let entries = self.row(row);
            self.columns.copy_within(entries.clone(), place);
            self.weights.copy_within(entries, place);
        }
        let Self { ends, mut columns, mut weights } = self;
        drop(ends);
        // Rows fill in ascending order: all columns below the diagonal of a row come from earlier rows.
        let mut filled = below;
        filled.fill(0);
        for row in 0..n_rows {
            for entry in offsets[row] as usize + filled[row] as usize..offsets[row + 1] as usize {
                let column = columns[entry] as usize;
                if column != row {
                    let mirror = offsets[column] as usize + filled[column] as usize;
                    filled[column] += 1;
                    columns[mirror] = row as NodeId;
                    weights[mirror] = weights[entry];
                }
            }
        }
        (offsets, columns, weights)
    }
}

impl Triangle<f64> {
    pub(crate) fn n_rows(&self) -> usize {
        self.ends.len()
    }

    /// Calls `visit(from, to, weight)` for every entry, by rows. The neighbours of any one node, whether it stands
    /// first or second, come up in ascending order.
    pub(crate) fn for_each_edge(&self, mut visit: impl FnMut(NodeId, NodeId, f64)) {
        for from in 0..self.n_rows() {
            let row = self.row(from);
            for (&to, &weight) in self.columns[row.clone()].iter().zip(&self.weights[row]) {
                visit(from as NodeId, to, weight);
            }
        }
    }

    /// The triangle of groups of its rows. Of a pair of groups, the rows of the lower are needed as a whole, half of
    /// which stands in other rows: they are brought together for a few groups at a time.
    pub(super) fn grouped(
        &self,
        group_of: &[u32],
        members: &Members,
        weigh: impl Fn(f64, usize, usize) -> f64 + Sync,
        report: &mut dyn FnMut(usize) -> Result<(), Stopped>,
    ) -> Result<Self, Stopped> {
        let n_groups = members.count();
        // The row of the two that an entry counts in, and the other.
        let placed = |a: NodeId, b: NodeId| {
            let (group_a, group_b) = (group_of[a as usize], group_of[b as usize]);
            if group_a < group_b { (group_a, a, group_b) } else { (group_b, b, group_a) }
        };
        let mut sizes = vec![0u32; self.n_rows()];
        self.for_each_edge(|a, b, _| {
            let (from, row, to) = placed(a, b);
            sizes[row as usize] += u32::from(from != to);
        });
        let size = |group: usize| members.of(group).iter().map(|&row| sizes[row as usize] as usize).sum();
        let n_entries: usize = sizes.iter().map(|&size| size as usize).sum();
        let per_turn = (n_entries / MAX_TURNS).max(MIN_ENTRIES_PER_TURN);
        let mut grouped = Self::with_capacity(n_groups, n_entries);
        let mut next = 0;
        let mut free = vec![0usize; self.n_rows()];
        let mut brought: Vec<(u32, f64)> = Vec::new();
        while next < n_groups {
            report(next)?;
            let first = next;
            let mut n_brought = 0;
            while next < n_groups && (n_brought == 0 || n_brought + size(next) <= per_turn) {
                for &row in members.of(next) {
                    free[row as usize] = n_brought;
                    n_brought += sizes[row as usize] as usize;
                }
                next += 1;
            }
            let turn = first as u32..next as u32;
            brought.clear();
            brought.resize(n_brought, (0, 0.0));
            self.for_each_edge(|a, b, weight| {
                let (from, row, to) = placed(a, b);
                if from != to && turn.contains(&from) {
                    let place = &mut free[row as usize];
                    brought[*place] = (to, weight);
                    *place += 1;
                }
            });
            let visit = |group: usize, sums: &mut AscendingRowSums| {
                sums.expect(|| size(group));
                for &row in members.of(group) {
                    let end = free[row as usize];
                    for &(to, weight) in &brought[end - sizes[row as usize] as usize..end] {
                        sums.add_from(0, to, weight);
                    }
                }
            };
            let summation = Summation { n_groups, work: size, visit, weigh: &weigh };
            grouped.append(first..next, &summation, report)?;
        }
        Ok(grouped)
    }
}
