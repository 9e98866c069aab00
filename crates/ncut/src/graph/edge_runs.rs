//! Portions of edges, parted by blocks of rows when they come: the entries of one block then stand together.

use std::ops::Range;

use super::NodeId;

/// Rows of a block: its entries stay in cache while they are sorted.
pub(super) const BLOCK_ROWS: usize = 1 << 10;

/// Whether an entry stands for its mirror image too.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Mirror {
    Yes,
    No,
}

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

    #[cfg(feature = "files")]
    pub(crate) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Parted by blocks of rows.
    pub(super) fn parted(&self, mirror: Mirror) -> Run {
        Run::new(&self.ends, &self.weights, mirror)
    }
}

/// A portion of the entries, both directions of every edge, parted by blocks of rows.
#[derive(Clone, Debug)]
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
#[derive(Clone, Debug)]
pub(super) enum Entries {
    Narrow(Vec<u32>),
    Wide(Vec<u64>),
}

/// Bits of the column of a narrow entry; the others tell its row.
const NARROW_BITS: u32 = u32::BITS - BLOCK_ROWS.ilog2();

/// An entry: its row, counted from the first of its block, and its column.
pub(super) trait Entry: Copy {
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
    /// Both ends of edges, and their weights: one for each or none at all.
    pub(super) fn new(ends: &[(NodeId, NodeId)], weights: &[f64], mirror: Mirror) -> Self {
        let mirrored = |row, column| mirror == Mirror::Yes && row != column;
        let last = ends.iter().map(|&(row, column)| row.max(column)).max().unwrap_or(0);
        // Counted two places on, so that the places become the starts while entries are placed.
        let mut starts: Vec<u32> = vec![0; block_of(last) + 3];
        for &(row, column) in ends {
            starts[block_of(row) + 2] += 1;
            if mirrored(row, column) {
                starts[block_of(column) + 2] += 1;
            }
        }
        for block in 2..starts.len() {
            starts[block] += starts[block - 1];
        }
        let n_entries = starts[starts.len() - 1] as usize;
        let mut placed_weights = vec![0.0; if weights.is_empty() { 0 } else { n_entries }];
        let entries = if last >> NARROW_BITS == 0 {
            Entries::Narrow(placed(ends, weights, mirror, &mut starts, &mut placed_weights))
        } else {
            Entries::Wide(placed(ends, weights, mirror, &mut starts, &mut placed_weights))
        };
        starts.pop();
        Self { first_block: 0, starts, entries, weights: placed_weights }
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

    #[cfg(feature = "files")]
    pub(super) fn n_entries(&self) -> usize {
        match &self.entries {
            Entries::Narrow(entries) => entries.len(),
            Entries::Wide(entries) => entries.len(),
        }
    }

    #[cfg(feature = "files")]
    /// Bytes of memory, about.
    pub(super) fn n_bytes(&self) -> usize {
        let entries = match &self.entries {
            Entries::Narrow(entries) => size_of_val(&entries[..]),
            Entries::Wide(entries) => size_of_val(&entries[..]),
        };
        entries + size_of_val(&self.weights[..])
    }
}

/// The entries, both directions of an edge where it is mirrored, and their weights at the places that `starts` tells for
/// their blocks.
fn placed<E: Entry>(
    ends: &[(NodeId, NodeId)],
    weights: &[f64],
    mirror: Mirror,
    starts: &mut [u32],
    placed_weights: &mut [f64],
) -> Vec<E> {
    let mut entries = vec![E::new(0, 0); starts[starts.len() - 1] as usize];
    for (edge, &(row, column)) in ends.iter().enumerate() {
        let mut place = |row: NodeId, column: NodeId| {
            let slot = &mut starts[block_of(row) + 1];
            entries[*slot as usize] = E::new(row, column);
            if let Some(&weight) = weights.get(edge) {
                placed_weights[*slot as usize] = weight;
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

#[cfg(feature = "files")]
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
