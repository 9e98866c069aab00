//! Large arrays in large pages of memory.

use std::ops::{Deref, DerefMut};

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use memmap2::MmapMut;

/// The size of a large page, or a multiple of it, on the systems that have them.
const LARGE_PAGE: usize = 2 << 20;
/// Arrays of fewer bytes are left to the allocator.
const LEAST: usize = LARGE_PAGE / 4;

/// Numbers in large pages where the system has them, the first at the beginning of a page.
///
/// Where rows are visited in no order, nearly every visit to small pages would have to look up where its page is, and
/// every small page is made by a call of the system.
pub(crate) struct Pages<T> {
    len: usize,
    room: Room<T>,
}

enum Room<T> {
    Mapped(MmapMut),
    Plain(Vec<T>),
}

impl<T: Pod> Pages<T> {
    pub(crate) fn zeros(len: usize) -> Self {
        let n_bytes = len.saturating_mul(size_of::<T>());
        let room = mapped(n_bytes).map_or_else(|| Room::Plain(vec![T::zeroed(); len]), Room::Mapped);
        Self { len, room }
    }
}

fn mapped(n_bytes: usize) -> Option<MmapMut> {
    if n_bytes < LEAST {
        return None;
    }
    // Whole pages, because a map that ends within one may begin within one.
    let map = MmapMut::map_anon(n_bytes.checked_next_multiple_of(LARGE_PAGE)?).ok()?;
    // Advice may be refused; then the pages are small.
    #[cfg(target_os = "linux")]
    let _ = map.advise(memmap2::Advice::HugePage);
    Some(map)
}

impl<T: Pod> Deref for Pages<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        match &self.room {
            Room::Mapped(map) => &cast_slice(map)[..self.len],
            Room::Plain(values) => values,
        }
    }
}

impl<T: Pod> DerefMut for Pages<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.room {
            Room::Mapped(map) => &mut cast_slice_mut(map)[..self.len],
            Room::Plain(values) => values,
        }
    }
}

impl<T: Pod> Clone for Pages<T> {
    fn clone(&self) -> Self {
        let mut copy = Self::zeros(self.len);
        copy.copy_from_slice(self);
        copy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_as_long_as_asked_and_zero() {
        for len in [0, 1, 1000, LEAST / 8, LARGE_PAGE / 8 + 1] {
            let mut pages = Pages::<f64>::zeros(len);
            assert_eq!(pages.len(), len);
            assert!(pages.iter().all(|&value| value == 0.0));
            pages.fill(2.0);
            assert_eq!(pages.clone().iter().sum::<f64>(), 2.0 * len as f64);
        }
    }
}
