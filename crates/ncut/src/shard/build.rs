//! Rows from edges in any order, in little more memory than the rows take: the edges are looked at three times, and never held.

use super::{Numbers, Shard, ShardArrays};
use crate::error::{Error, Result};
use crate::graph::{NodeId, Weights};

/// Ids are told apart by a bit for every number between the lowest and the highest, if those are at most so many times the
/// entries: a table of ids as they come takes 8 bytes for each.
const BITS_PER_ENTRY: u64 = 16;
/// Numbers whose bits are counted together.
const BITS_PER_RANK: usize = 512;

/// Different ids, to be numbered in ascending order.
enum Ids {
    /// A bit for every number from the lowest, and how many ids stand before each block of bits.
    Bits { lowest: i64, bits: Vec<u64>, ranks: Vec<u32> },
    /// The ids in order, up to `n_sorted`; after that as they came.
    List { ids: Vec<i64>, n_sorted: usize },
}

impl Ids {
    /// For ids from `span.0` to `span.1`, of about so many entries.
    fn new(span: (i64, i64), n_entries: u64) -> Self {
        let width = span.1.abs_diff(span.0).saturating_add(1);
        match width <= n_entries.saturating_mul(BITS_PER_ENTRY).max(1 << 16) {
            true => {
                Self::Bits { lowest: span.0, bits: vec![0; width.div_ceil(64) as usize], ranks: Vec::new() }
            }
            false => Self::List { ids: Vec::new(), n_sorted: 0 },
        }
    }

    fn see(&mut self, seen: &[i64]) -> Result<()> {
        match self {
            Self::Bits { lowest, bits, .. } => {
                for &id in seen {
                    let place = id.wrapping_sub(*lowest) as u64 as usize;
                    let Some(word) = bits.get_mut(place / 64) else { return Err(unknown(id)) };
                    *word |= 1 << (place % 64);
                }
            }
            Self::List { ids, n_sorted } => {
                ids.extend_from_slice(seen);
                if ids.len() > 2 * *n_sorted + (1 << 16) {
                    ids.sort_unstable();
                    ids.dedup();
                    *n_sorted = ids.len();
                }
            }
        }
        Ok(())
    }

    fn finish(&mut self) {
        match self {
            Self::Bits { bits, ranks, .. } => {
                let mut n_before = 0;
                for block in bits.chunks(BITS_PER_RANK / 64) {
                    ranks.push(n_before);
                    n_before += block.iter().map(|word| word.count_ones()).sum::<u32>();
                }
            }
            Self::List { ids, .. } => {
                ids.sort_unstable();
                ids.dedup();
                ids.shrink_to_fit();
            }
        }
    }

    /// How many ids are lower.
    fn rank(&self, id: i64) -> usize {
        match self {
            Self::Bits { lowest, bits, ranks } => {
                let place = (id.saturating_sub(*lowest)).max(0) as usize;
                if place >= 64 * bits.len() {
                    return self.all().len();
                }
                let block = place / BITS_PER_RANK;
                let words = &bits[block * (BITS_PER_RANK / 64)..place / 64];
                let before = words.iter().map(|word| word.count_ones()).sum::<u32>();
                let within = (bits[place / 64] & ((1 << (place % 64)) - 1)).count_ones();
                (ranks[block] + before + within) as usize
            }
            Self::List { ids, .. } => ids.partition_point(|&other| other < id),
        }
    }

    fn all(&self) -> Vec<i64> {
        match self {
            Self::Bits { lowest, bits, .. } => {
                let mut ids = Vec::new();
                for (place, &word) in bits.iter().enumerate() {
                    let mut left = word;
                    while left != 0 {
                        ids.push(lowest + 64 * place as i64 + i64::from(left.trailing_zeros()));
                        left &= left - 1;
                    }
                }
                ids
            }
            Self::List { ids, .. } => ids.clone(),
        }
    }
}

fn unknown(id: i64) -> Error {
    Error::shape(format!("id {id} is outside the range that was announced; the files have changed meanwhile"))
}

/// Makes a shard of the edges that have an end in it, each given as an entry of its row; both directions where both ends are.
///
/// The same edges are shown three times: [`see`](Self::see), [`count`](Self::count) and [`fill`](Self::fill). Parallel edges add
/// up, in the order given.
pub struct ShardBuilder {
    ids: Ids,
    /// The lowest and the highest id that belongs to the shard.
    own: (i64, i64),
    n_below: usize,
    n_local: usize,
    n_ids: usize,
    /// Where every row ends; while filling, where its next entry goes.
    offsets: Vec<u64>,
    columns: Vec<NodeId>,
    weights: Weights<'static>,
}

impl ShardBuilder {
    /// For rows of ids from `own.0` to `own.1`; all ids are from `span.0` to `span.1`, entries about `n_entries`.
    pub fn new(own: (i64, i64), span: (i64, i64), n_entries: u64) -> Self {
        let ids = Ids::new(span, n_entries);
        let (n_below, n_local, n_ids) = (0, 0, 0);
        let (offsets, columns, weights) = (Vec::new(), Vec::new(), Weights::Unit);
        Self { ids, own, n_below, n_local, n_ids, offsets, columns, weights }
    }

    /// Takes notice of ids, of either end.
    ///
    /// # Errors
    /// When one is outside the span.
    pub fn see(&mut self, ids: &[i64]) -> Result<()> {
        self.ids.see(ids)
    }

    /// Numbers the ids: gives those of the shard and those of ghosts, both ascending.
    pub fn number(&mut self) -> (Vec<i64>, Vec<i64>) {
        self.ids.finish();
        let mut all = self.ids.all();
        let (low, high) = self.own;
        self.n_ids = all.len();
        self.n_below = all.partition_point(|&id| id < low);
        self.n_local = all.partition_point(|&id| id <= high) - self.n_below;
        self.offsets = vec![0; self.n_local + 1];
        let own = all.drain(self.n_below..self.n_below + self.n_local).collect();
        (own, all)
    }

    fn local(&self, id: i64) -> Result<usize> {
        let place = self.ids.rank(id).wrapping_sub(self.n_below);
        if place < self.n_local { Ok(place) } else { Err(unknown(id)) }
    }

    /// Counts the entries of rows.
    ///
    /// # Errors
    /// When an id does not belong to the shard.
    pub fn count(&mut self, rows: &[i64]) -> Result<()> {
        for &row in rows {
            let row = self.local(row)?;
            self.offsets[row + 1] += 1;
        }
        Ok(())
    }

    /// Makes room for what was counted, with weights of so many bits: 0 (all are 1), 32 or 64.
    pub fn allocate(&mut self, weight_bits: u32) {
        for row in 0..self.n_local {
            self.offsets[row + 1] += self.offsets[row];
        }
        let n_entries = self.offsets[self.n_local] as usize;
        // From here on an offset tells where the next entry of the row before goes.
        self.offsets.pop();
        self.columns = vec![0; n_entries];
        self.weights = match weight_bits {
            0 => Weights::Unit,
            32 => vec![0.0f32; n_entries].into(),
            _ => vec![0.0f64; n_entries].into(),
        };
    }

    /// Puts entries in their rows.
    ///
    /// # Errors
    /// When there are other entries than were counted.
    pub fn fill(&mut self, rows: &[i64], columns: &[i64], weights: Option<&[f64]>) -> Result<()> {
        let mut growing = Growing::of(std::mem::replace(&mut self.weights, Weights::Unit));
        for (entry, (&row, &column)) in rows.iter().zip(columns).enumerate() {
            let row = self.local(row)?;
            let rank = self.ids.rank(column);
            if rank >= self.n_ids {
                return Err(unknown(column));
            }
            let place = match rank.checked_sub(self.n_below) {
                None => self.n_local + rank,
                Some(local) if local < self.n_local => local,
                Some(_) => rank,
            };
            let at = self.offsets[row] as usize;
            self.offsets[row] += 1;
            let Some(slot) = self.columns.get_mut(at) else { return Err(unknown(rows[entry])) };
            *slot = place as NodeId;
            growing.set(at, weights.map_or(1.0, |weights| weights[entry]));
        }
        self.weights = growing.finish();
        Ok(())
    }

    /// The shard, when all entries are in: `bounds` are the numbers at which the shards begin, `ghosts` those of the ghosts.
    ///
    /// # Errors
    /// When these do not fit.
    pub fn finish(mut self, index: usize, bounds: Vec<u64>, ghosts: Vec<u64>) -> Result<Shard> {
        self.offsets.insert(0, 0);
        if ghosts.len() + self.n_local != self.n_ids {
            return Err(Error::shape(format!("{} numbers were given for other ghosts", ghosts.len())));
        }
        let mut rows = Rows { offsets: self.offsets, columns: self.columns, weights: self.weights };
        rows.sort();
        rows.merge();
        let Rows { offsets, columns, weights } = rows;
        Shard::new(ShardArrays { bounds, index, offsets, columns, weights, sizes: Vec::new(), ghosts })
    }
}

/// Rows whose entries are not in order yet.
struct Rows {
    offsets: Vec<u64>,
    columns: Vec<NodeId>,
    weights: Weights<'static>,
}

impl Rows {
    fn row(&self, row: usize) -> std::ops::Range<usize> {
        self.offsets[row] as usize..self.offsets[row + 1] as usize
    }

    /// Sorts every row, stably: parallel edges add up in the order given, from both of their ends.
    fn sort(&mut self) {
        let Self { offsets, columns, weights } = self;
        let ranges = offsets.windows(2).map(|pair| pair[0] as usize..pair[1] as usize);
        match std::mem::replace(weights, Weights::Unit) {
            Weights::Unit => ranges.for_each(|range| columns[range].sort_unstable()),
            Weights::F32(array) => {
                let mut array = array.into_owned();
                sort_rows(ranges, columns, &mut array);
                *weights = array.into();
            }
            Weights::F64(array) => {
                let mut array = array.into_owned();
                sort_rows(ranges, columns, &mut array);
                *weights = array.into();
            }
        }
    }

    /// Adds up parallel edges.
    fn merge(&mut self) {
        let n_rows = self.offsets.len() - 1;
        let has_same = |row| self.columns[self.row(row)].windows(2).any(|pair| pair[0] == pair[1]);
        if !(0..n_rows).any(has_same) {
            return;
        }
        if matches!(self.weights, Weights::Unit) {
            self.weights = vec![1.0f32; self.columns.len()].into();
        }
        // In place: what is written stands before what is yet to be read.
        let mut weights = Growing::of(std::mem::replace(&mut self.weights, Weights::Unit));
        let mut end = 0;
        for row in 0..n_rows {
            let mut range = self.row(row);
            self.offsets[row] = end as u64;
            while let Some(first) = range.next() {
                let column = self.columns[first];
                let mut sum = weights.at(first);
                while range.start < range.end && self.columns[range.start] == column {
                    sum += weights.at(range.start);
                    range.start += 1;
                }
                self.columns[end] = column;
                weights.set(end, sum);
                end += 1;
            }
        }
        self.offsets[n_rows] = end as u64;
        self.columns.truncate(end);
        self.columns.shrink_to_fit();
        weights.truncate(end);
        self.weights = weights.finish();
    }
}

fn sort_rows<W: Copy>(
    ranges: impl Iterator<Item = std::ops::Range<usize>>,
    columns: &mut [NodeId],
    weights: &mut [W],
) {
    let mut row: Vec<(NodeId, W)> = Vec::new();
    for range in ranges {
        row.clear();
        row.extend(columns[range.clone()].iter().copied().zip(weights[range.clone()].iter().copied()));
        row.sort_by_key(|entry| entry.0);
        for (place, &(column, weight)) in range.zip(&row) {
            (columns[place], weights[place]) = (column, weight);
        }
    }
}

/// Weights of 32 bits as long as they are exact.
enum Growing {
    Unit,
    F32(Vec<f32>),
    F64(Vec<f64>),
}

impl Growing {
    fn of(weights: Weights<'static>) -> Self {
        match weights {
            Weights::Unit => Self::Unit,
            Weights::F32(weights) => Self::F32(weights.into_owned()),
            Weights::F64(weights) => Self::F64(weights.into_owned()),
        }
    }

    /// Keeps a weight exactly: all become wider when one needs it.
    fn widen_for(&mut self, weight: f64) {
        if let Self::F32(weights) = self
            && f64::from(weight as f32) != weight
        {
            *self = Self::F64(weights.iter().map(|&weight| f64::from(weight)).collect());
        }
    }

    fn at(&self, place: usize) -> f64 {
        match self {
            Self::Unit => 1.0,
            Self::F32(weights) => f64::from(weights[place]),
            Self::F64(weights) => weights[place],
        }
    }

    fn truncate(&mut self, length: usize) {
        match self {
            Self::Unit => {}
            Self::F32(weights) => weights.truncate(length),
            Self::F64(weights) => weights.truncate(length),
        }
    }

    fn set(&mut self, place: usize, weight: f64) {
        self.widen_for(weight);
        match self {
            Self::Unit => {}
            Self::F32(weights) => weights[place] = weight as f32,
            Self::F64(weights) => weights[place] = weight,
        }
    }

    /// Makes room for more, little at a time.
    fn reserve(&mut self, n_more: usize) {
        match self {
            Self::F32(weights) if weights.capacity() - weights.len() < n_more => {
                weights.reserve_exact(n_more + weights.len() / 8);
            }
            Self::F64(weights) if weights.capacity() - weights.len() < n_more => {
                weights.reserve_exact(n_more + weights.len() / 8);
            }
            _ => {}
        }
    }

    fn push(&mut self, weight: f64) {
        self.widen_for(weight);
        match self {
            Self::Unit => {}
            Self::F32(weights) => weights.push(weight as f32),
            Self::F64(weights) => weights.push(weight),
        }
    }

    fn finish(self) -> Weights<'static> {
        match self {
            Self::Unit => Weights::Unit,
            Self::F32(mut weights) => {
                weights.shrink_to_fit();
                weights.into()
            }
            Self::F64(mut weights) => {
                weights.shrink_to_fit();
                weights.into()
            }
        }
    }
}

/// Makes the shard of a coarse graph of what the shards below say about its rows, portion by portion, rows ascending.
pub struct CoarseBuilder {
    index: usize,
    bounds: Vec<u64>,
    offsets: Vec<u64>,
    /// By their numbers: which ghosts there are is found out in the end. A table of their places by hash, as they come, takes
    /// half as much as the rows where nearly all nodes are ghosts.
    columns: Numbers,
    weights: Growing,
    sizes: Vec<f64>,
}

impl CoarseBuilder {
    /// For shard `index` of those that begin at `bounds`.
    ///
    /// # Errors
    /// When there is no such shard.
    pub fn new(index: usize, bounds: Vec<u64>) -> Result<Self> {
        let (Some(&start), Some(&end)) = (bounds.get(index), bounds.get(index + 1)) else {
            return Err(Error::shape(format!("there is no shard {index}")));
        };
        let sizes = vec![0.0; end.saturating_sub(start) as usize];
        let columns = Numbers::new(bounds.last().copied().unwrap_or(0), std::iter::empty());
        let (offsets, weights) = (vec![0], Growing::F32(Vec::new()));
        Ok(Self { index, bounds, offsets, columns, weights, sizes })
    }

    /// Adds sizes to those of nodes.
    ///
    /// # Errors
    /// When a node is not of this shard.
    pub fn add_sizes(&mut self, nodes: &[u64], sizes: &[f64]) -> Result<()> {
        for (&node, &size) in nodes.iter().zip(sizes) {
            let place = node.wrapping_sub(self.bounds[self.index]) as usize;
            let Some(sum) = self.sizes.get_mut(place) else { return Err(unknown(node as i64)) };
            *sum += size;
        }
        Ok(())
    }

    /// Adds the rows of the next nodes up to, and without, `end`: entries from all shards below, in their order.
    ///
    /// # Errors
    /// When an entry is of another row, or its column is no node.
    pub fn add_rows(&mut self, end: u64, portions: &[(&[u64], &[u64], &[f64])]) -> Result<()> {
        let first = self.bounds[self.index];
        let start = first + (self.offsets.len() - 1) as u64;
        let n_nodes = self.bounds[self.bounds.len() - 1];
        let mut entries: Vec<(u64, u64, f64)> =
            Vec::with_capacity(portions.iter().map(|portion| portion.0.len()).sum());
        for &(rows, columns, weights) in portions {
            if let Some(&row) = rows.iter().find(|&&row| row < start || row >= end) {
                return Err(unknown(row as i64));
            }
            if let Some(&column) = columns.iter().find(|&&column| column >= n_nodes) {
                return Err(unknown(column as i64));
            }
            entries.extend(
                rows.iter().zip(columns).zip(weights).map(|((&row, &column), &weight)| (row, column, weight)),
            );
        }
        self.columns.reserve(entries.len());
        self.weights.reserve(entries.len());
        // Stable: sums are made in the order of the shards.
        entries.sort_by_key(|entry| (entry.0, entry.1));
        let mut next = entries.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).peekable();
        for row in start..end {
            while let Some(same) = next.next_if(|same| same[0].0 == row) {
                self.columns.push(same[0].1);
                self.weights.push(same.iter().map(|entry| entry.2).sum());
            }
            self.offsets.push(self.columns.len() as u64);
        }
        Ok(())
    }

    /// The shard.
    ///
    /// # Errors
    /// When rows are missing.
    pub fn finish(self) -> Result<Shard> {
        let Self { index, bounds, offsets, columns, weights, sizes } = self;
        let own = bounds[index]..bounds[index + 1];
        let last = bounds[bounds.len() - 1].saturating_sub(1) as i64;
        let mut ghosts = Ids::new((0, last), columns.len() as u64);
        for column in columns.iter().filter(|column| !own.contains(column)) {
            ghosts.see(&[column as i64])?;
        }
        ghosts.finish();
        let place = |column: u64| match own.contains(&column) {
            true => (column - own.start) as NodeId,
            false => (sizes.len() + ghosts.rank(column as i64)) as NodeId,
        };
        let columns = columns.into_places(place);
        let ghosts = ghosts.all().into_iter().map(|ghost| ghost as u64).collect();
        let weights = weights.finish();
        Shard::new(ShardArrays { bounds, index, offsets, columns, weights, sizes, ghosts })
    }
}
