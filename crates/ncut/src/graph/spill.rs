//! Edges that are too many for memory: runs in temporary files, each parted by blocks of rows, so that the entries of
//! some blocks are one piece of every file.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::PathBuf;

use super::edge_runs::{Entries, Run};
use crate::error::{Error, Result};

/// How much memory edges may take, and where the others go.
#[derive(Clone, Debug)]
pub(crate) struct Spilling {
    /// Bytes.
    pub(crate) limit: u64,
    pub(crate) folder: PathBuf,
}

/// Runs in files.
pub(super) struct Spill {
    pub(super) how: Spilling,
    pub(super) runs: Vec<SpilledRun>,
}

const BUFFER: usize = 1 << 18;
/// The part of the limit that edges may take before they go to a file: the portions that are being parsed, and what the
/// allocator keeps, need the rest.
const RUN_SHARE: u64 = 3;
/// The part of the limit that entries take when they are read again; sorted, they take nearly as much once more.
const GROUP_SHARE: u64 = 5;

impl Spill {
    /// Takes the runs, if they have become as large as one file should be.
    pub(super) fn take_if_large(&mut self, runs: &mut Vec<Run>) -> Result<()> {
        let n_bytes: usize = runs.iter().map(Run::n_bytes).sum();
        if n_bytes as u64 > self.how.limit / RUN_SHARE { self.take(runs) } else { Ok(()) }
    }

    /// Puts all runs into a file.
    pub(super) fn take(&mut self, runs: &mut Vec<Run>) -> Result<()> {
        if !runs.is_empty() {
            let spilled =
                SpilledRun::write(&self.how, runs).map_err(|error| self.problem("written", &error))?;
            self.runs.push(spilled);
            runs.clear();
        }
        Ok(())
    }

    /// The end of the blocks from `start` on that are to be sorted together.
    pub(super) fn group_end(&self, start: usize, n_blocks: usize) -> usize {
        let mut n_bytes = 0;
        for block in start..n_blocks {
            n_bytes += self.runs.iter().map(|run| run.n_bytes(block)).sum::<u64>();
            if n_bytes > self.how.limit / GROUP_SHARE && block > start {
                return block;
            }
        }
        n_blocks
    }

    fn problem(&self, what: &str, error: &io::Error) -> Error {
        let folder = self.how.folder.display();
        Error::in_file(None, format!("a temporary file in {folder} cannot be {what}: {error}"))
    }
}

/// A file of entries, followed by their weights if any of them is not 1.
pub(super) struct SpilledRun {
    file: File,
    /// Where the entries of each block begin, and where the last one ends.
    starts: Vec<u64>,
    is_weighted: bool,
}

impl SpilledRun {
    /// Brings runs together: blocks in order, and in each the runs in order.
    fn write(how: &Spilling, runs: &[Run]) -> io::Result<Self> {
        let n_blocks = runs.iter().map(|run| run.starts.len()).max().unwrap_or(1) - 1;
        let is_weighted = runs.iter().any(|run| !run.weights.is_empty());
        // Nameless where the system can: gone with the process, whatever ends it.
        let mut file = BufWriter::with_capacity(BUFFER, tempfile::tempfile_in(&how.folder)?);
        let mut starts = vec![0; n_blocks + 1];
        let mut entries = Vec::new();
        for block in 0..n_blocks {
            entries.clear();
            runs.iter().for_each(|run| run.part(block).entries.widen(&mut entries));
            file.write_all(bytemuck::cast_slice(&entries))?;
            starts[block + 1] = starts[block] + entries.len() as u64;
        }
        if is_weighted {
            for (block, run) in (0..n_blocks).flat_map(|block| runs.iter().map(move |run| (block, run))) {
                let range = run.block(block);
                match run.weights.get(range.clone()) {
                    Some(weights) if !run.weights.is_empty() => {
                        file.write_all(bytemuck::cast_slice(weights))?;
                    }
                    _ => range.clone().try_for_each(|_| file.write_all(&1f64.to_ne_bytes()))?,
                }
            }
        }
        Ok(Self { file: file.into_inner().map_err(io::IntoInnerError::into_error)?, starts, is_weighted })
    }

    fn n_bytes(&self, block: usize) -> u64 {
        let n_entries = self.starts.get(block + 1).map_or(0, |end| end - self.starts[block]);
        n_entries * if self.is_weighted { 16 } else { 8 }
    }

    /// The entries of some blocks.
    pub(super) fn load(&self, blocks: Range<usize>) -> Result<Run> {
        let last = self.starts.len() - 1;
        let bounds = &self.starts[blocks.start.min(last)..=blocks.end.min(last)];
        let (start, end) = (bounds[0], bounds[bounds.len() - 1]);
        let n_entries = (end - start) as usize;
        let mut entries = vec![0u64; n_entries];
        let mut weights = vec![0.0; if self.is_weighted { n_entries } else { 0 }];
        let read = |place: u64, bytes: &mut [u8]| {
            let mut file = &self.file;
            file.seek(SeekFrom::Start(place))?;
            file.read_exact(bytes)
        };
        read(8 * start, bytemuck::cast_slice_mut(&mut entries))
            .and_then(|()| read(8 * (self.starts[last] + start), bytemuck::cast_slice_mut(&mut weights)))
            .map_err(|error| Error::in_file(None, format!("a temporary file cannot be read: {error}")))?;
        let starts = bounds.iter().map(|&bound| (bound - start) as u32).collect();
        Ok(Run { first_block: blocks.start, starts, entries: Entries::Wide(entries), weights })
    }
}
