//! Whether the arrays of a mapped file are what was written, and a graph.
//!
//! Opening a file looks at its header only. Before an algorithm trusts the arrays they are gone through once, in one
//! pass from front to back, all threads at work: so a file larger than memory is read once.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::{Array, Graph, NodeId, Weights};
use crate::error::{Error, Result};
use crate::parallel::prelude::*;
use crate::progress::{Clock, Progress, Stage, Stopped};
use crate::random::{mix, mixed};

/// Stored entries that one thread goes through at a time.
const BLOCK: u64 = 1 << 18;

/// What a file says about the arrays of a graph, and what was found when they were compared.
#[derive(Debug)]
pub(crate) struct Seal {
    pub(crate) path: Option<PathBuf>,
    /// CRC-32 of each array's bytes.
    pub(crate) columns: u32,
    pub(crate) weights: u32,
    pub(crate) offsets: u32,
    pub(crate) degrees: u32,
    pub(crate) self_loops: u32,
    /// What is wrong, once that is known.
    pub(crate) outcome: OnceLock<Option<String>>,
}

/// A graph as a file holds it, all its sums with it.
pub(crate) struct StoredGraph {
    pub(crate) offsets: Array<'static, u64>,
    pub(crate) columns: Array<'static, NodeId>,
    pub(crate) weights: Weights<'static>,
    pub(crate) self_loops: Array<'static, f64>,
    pub(crate) degrees: Array<'static, f64>,
    pub(crate) n_loops: usize,
    pub(crate) n_isolated: usize,
    pub(crate) volume: f64,
    pub(crate) seal: Option<Arc<Seal>>,
}

impl Graph<'static> {
    /// A graph whose arrays have the right lengths, and are otherwise looked at when it is verified.
    pub(crate) fn from_stored(stored: StoredGraph) -> Self {
        let StoredGraph { offsets, columns, weights, self_loops, degrees, .. } = stored;
        let StoredGraph { n_loops, n_isolated, volume, seal, .. } = stored;
        let (sizes, apart) = (Array::default(), None);
        Self {
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
        }
    }
}

impl Seal {
    /// Compares the arrays with their checksums, unless that was done before.
    pub(super) fn check(&self, graph: &Graph<'_>, clock: &Clock<'_>) -> Result<()> {
        if self.outcome.get().is_none() {
            let found = graph.damage(self, clock)?;
            // Another thread may have found the same meanwhile.
            let _ = self.outcome.set(found);
        }
        match self.outcome.get() {
            Some(Some(problem)) => {
                let error = Error::damaged(problem);
                Err(match &self.path {
                    Some(path) => error.at(path),
                    None => error,
                })
            }
            _ => Ok(()),
        }
    }
}

impl Graph<'_> {
    /// What is wrong with the arrays, if anything.
    fn damage(&self, seal: &Seal, clock: &Clock<'_>) -> Result<Option<String>> {
        let wrong = |array: &str| Ok(Some(format!("the checksum of its {array} is wrong")));
        // Rows cannot be taken from offsets that fall.
        if crc32fast::hash(bytemuck::cast_slice(&self.offsets)) != seal.offsets {
            return wrong("row offsets");
        }
        if let Some(row) = self.offsets.windows(2).position(|pair| pair[0] > pair[1]) {
            return Ok(Some(format!("its row offsets fall at row {row}")));
        }
        let progress = Progress::new(Stage::Verify, self.columns.len() as u64);
        let done = AtomicU64::new(0);
        let blocks: Vec<Result<Block, Stopped>> = self
            .blocks()
            .into_par_iter()
            .with_max_len(1)
            .map(|rows| {
                let block = Block::of(self, rows.clone());
                let n_entries = self.offsets[rows.end] - self.offsets[rows.start];
                let done = done.fetch_add(n_entries, Ordering::Relaxed) + n_entries;
                clock.report(&Progress { done, ..progress }).map(|()| block)
            })
            .collect();
        let mut all = Block::default();
        for block in blocks {
            all.append(&block?);
        }
        if all.columns.finalize() != seal.columns {
            return wrong("column numbers");
        }
        if all.weights.finalize() != seal.weights {
            return wrong("weights");
        }
        if crc32fast::hash(bytemuck::cast_slice(&self.degrees)) != seal.degrees {
            return wrong("degrees");
        }
        if crc32fast::hash(bytemuck::cast_slice(&self.self_loops)) != seal.self_loops {
            return wrong("self-loops");
        }
        if let Some(row) = all.bad_row {
            return Ok(Some(format!("the entries of node {row} are not those of a graph")));
        }
        let volume = self.degrees.iter().fold(0.0, |sum, degree| sum + degree);
        if all.balance != 0 {
            return Ok(Some("it holds edges in one direction only".into()));
        }
        if (all.n_loops, all.n_isolated) != (self.n_loops, self.n_isolated) || volume != self.volume {
            return Ok(Some("its header does not fit the arrays".into()));
        }
        Ok(None)
    }

    /// The rows in portions of about [`BLOCK`] entries; offsets must not fall.
    fn blocks(&self) -> Vec<Range<usize>> {
        // A row counts as one entry more than it has: empty ones take their time too.
        let n_nodes = self.n_nodes() as u64;
        let n_blocks = (self.columns.len() as u64 + n_nodes).div_ceil(BLOCK);
        let start = |block: u64| {
            let (mut low, mut high) = (0, n_nodes);
            while low < high {
                let middle = low.midpoint(high);
                if self.offsets[middle as usize] + middle < block * BLOCK {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            low as usize
        };
        let starts: Vec<usize> = (0..n_blocks).map(start).chain([n_nodes as usize]).collect();
        starts.windows(2).map(|pair| pair[0]..pair[1]).collect()
    }
}

/// What some rows come to.
#[derive(Default)]
struct Block {
    columns: crc32fast::Hasher,
    weights: crc32fast::Hasher,
    /// Hashes of the entries above the diagonal less those of the entries below: 0 when every entry has its mirror
    /// image. A sum, so that no row has to be looked up.
    balance: u64,
    n_loops: usize,
    n_isolated: usize,
    bad_row: Option<usize>,
}

impl Block {
    fn of(graph: &Graph<'_>, rows: Range<usize>) -> Self {
        let entries = graph.offsets[rows.start] as usize..graph.offsets[rows.end] as usize;
        let mut block = Self::default();
        block.columns.update(bytemuck::cast_slice(&graph.columns[entries.clone()]));
        match &graph.weights {
            Weights::Unit => {}
            Weights::F32(weights) => block.weights.update(bytemuck::cast_slice(&weights[entries])),
            Weights::F64(weights) => block.weights.update(bytemuck::cast_slice(&weights[entries])),
        }
        for row in rows {
            if !block.add(graph, row) {
                block.bad_row = Some(row);
                break;
            }
        }
        block
    }

    /// Adds a row; whether it can be one of a graph.
    fn add(&mut self, graph: &Graph<'_>, row: usize) -> bool {
        let mut before = None;
        let mut degree = 0.0;
        let mut self_loop = 0.0;
        for entry in graph.entries(row as NodeId) {
            let (column, weight) = (graph.columns[entry], graph.weights.at(entry));
            let in_range = (column as usize) < graph.n_nodes() && weight > 0.0 && weight < f64::INFINITY;
            if !in_range || before.is_some_and(|before| before >= column) {
                return false;
            }
            before = Some(column);
            degree += weight;
            let (row, column) = (row as u64, u64::from(column));
            match row.cmp(&column) {
                std::cmp::Ordering::Equal => self_loop = weight,
                std::cmp::Ordering::Less => {
                    self.balance = self.balance.wrapping_add(hash(row, column, weight));
                }
                std::cmp::Ordering::Greater => {
                    self.balance = self.balance.wrapping_sub(hash(column, row, weight));
                }
            }
        }
        self.n_loops += usize::from(self_loop > 0.0);
        self.n_isolated += usize::from(degree == 0.0);
        graph.degree(row as NodeId) == degree && graph.self_loop(row as NodeId) == self_loop
    }

    fn append(&mut self, next: &Self) {
        self.columns.combine(&next.columns);
        self.weights.combine(&next.weights);
        self.balance = self.balance.wrapping_add(next.balance);
        self.n_loops += next.n_loops;
        self.n_isolated += next.n_isolated;
        self.bad_row = self.bad_row.or(next.bad_row);
    }
}

fn hash(low: u64, high: u64, weight: f64) -> u64 {
    mix(mixed(low << 32 | high), weight.to_bits())
}
