//! Memory that work may take: a number that the caller gives, compared with an estimate before any of it is taken.
//!
//! Estimates are upper ones, a little above what was measured. What grows beside them, such as the lines of a file, is
//! reserved by calls that can fail.

use crate::error::{Error, Result};
use crate::progress::Clock;

/// What threads, tables and small graphs take, whatever is asked for.
pub(crate) const BASE: u64 = 16 << 20;
/// Bytes of the arrays that a graph has for each of its nodes: where its row begins, its degree, its self-loop.
#[cfg(any(feature = "files", feature = "image"))]
pub(crate) const PER_NODE: u64 = 24;

/// Refuses work that needs more bytes of memory than the clock allows; `remedy` is what else helps.
pub(crate) fn check(clock: &Clock<'_>, what: &'static str, needed: u64, remedy: &'static str) -> Result<()> {
    check_within(clock.memory(), what, needed, remedy)
}

/// The same, given the limit.
pub(crate) fn check_within(
    limit: Option<u64>,
    what: &'static str,
    needed: u64,
    remedy: &'static str,
) -> Result<()> {
    match limit {
        Some(limit) if needed > limit => {
            Err(Error::TooLittleMemory { what, needed, limit: Some(limit), remedy })
        }
        _ => Ok(()),
    }
}

/// Bytes of the matrix of a graph: its columns and, where they are stored, its weights in 64 bits.
#[cfg(any(feature = "files", feature = "image", feature = "spectral"))]
pub(crate) fn matrix(n_entries: u64, is_weighted: bool) -> u64 {
    n_entries.saturating_mul(if is_weighted { 12 } else { 4 })
}

/// Makes room for more items, or tells that there is none.
#[cfg(feature = "files")]
pub(crate) fn reserve<T>(
    items: &mut Vec<T>,
    n_more: usize,
    what: &'static str,
    remedy: &'static str,
) -> Result<()> {
    let needed = n_more.saturating_mul(size_of::<T>()) as u64;
    let room = items.try_reserve(n_more);
    room.map_err(|_| Error::TooLittleMemory { what, needed, limit: None, remedy })
}
