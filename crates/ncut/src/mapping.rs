//! Files mapped into memory: the only place of the library with `unsafe`.
//!
//! What earns it: a graph is used in place, its pages are the system's to drop, and opening it costs nothing, whatever its
//! size.

#![allow(unsafe_code)]

use std::fmt;
use std::fs::File;
use std::io;
use std::ops::{Deref, Range};
use std::sync::Arc;

use bytemuck::Pod;
use memmap2::Mmap;

/// A file mapped into memory, to read only.
#[derive(Clone, Debug)]
pub(crate) struct Mapping(Arc<Mmap>);

impl Mapping {
    pub(crate) fn of(file: &File) -> io::Result<Self> {
        // SAFETY: the map is only read, and only as numbers and bytes, of which every bit pattern is one. Nothing is
        // concluded from a value that was read before but that it was a number: indices are checked where they are
        // used, text where it is looked at. Whoever changes the file meanwhile changes the results, and whoever cuts it
        // short ends the process, as the documentation of the format says; our own writers replace files whole.
        let map = unsafe { Mmap::map(file)? };
        Ok(Self(Arc::new(map)))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The numbers in a range of bytes; `None` where it is outside of the file or does not fit them.
    pub(crate) fn numbers<T: Pod>(&self, bytes: Range<usize>) -> Option<Mapped<T>> {
        let numbers: &[T] = bytemuck::try_cast_slice(self.0.get(bytes)?).ok()?;
        // SAFETY: the numbers stand in the map, which neither moves nor goes while the `Arc` beside them lives, and the
        // reference leaves `Mapped` only with a lifetime bound to that of the `Mapped` it is taken from.
        let numbers = unsafe { std::slice::from_raw_parts(numbers.as_ptr(), numbers.len()) };
        Some(Mapped { numbers, _map: Arc::clone(&self.0) })
    }
}

/// Numbers that stand in a mapped file, which stays mapped as long as they are used.
pub(crate) struct Mapped<T: 'static> {
    /// Not for longer than `_map`: never to be given away as it is.
    numbers: &'static [T],
    _map: Arc<Mmap>,
}

impl<T> Clone for Mapped<T> {
    fn clone(&self) -> Self {
        Self { numbers: self.numbers, _map: Arc::clone(&self._map) }
    }
}

impl<T> Deref for Mapped<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.numbers
    }
}

impl<T: fmt::Debug> fmt::Debug for Mapped<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.numbers.fmt(f)
    }
}
