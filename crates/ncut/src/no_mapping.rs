//! Stands for `mapping.rs` without the feature `mapping`: files are read into memory.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::ops::Range;

use bytemuck::Pod;

/// The bytes of a file.
pub(crate) struct Mapping(Vec<u8>);

impl Mapping {
    pub(crate) fn of(mut file: &File) -> io::Result<Self> {
        let mut bytes = Vec::new();
        file.rewind()?;
        file.read_to_end(&mut bytes)?;
        Ok(Self(bytes))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The numbers in a range of bytes; `None` where it is outside of the file or does not fit them.
    pub(crate) fn numbers<T: Pod>(&self, bytes: Range<usize>) -> Option<Vec<T>> {
        let bytes = self.0.get(bytes).filter(|bytes| bytes.len().is_multiple_of(size_of::<T>()))?;
        Some(bytemuck::pod_collect_to_vec(bytes))
    }
}
