//! Stands for `pages.rs` without the feature `mapping`: large arrays are left to the allocator.

use std::ops::{Deref, DerefMut};

use pulp::bytemuck::Pod;

/// Numbers.
#[derive(Clone)]
pub(crate) struct Pages<T>(Vec<T>);

impl<T: Pod> Pages<T> {
    pub(crate) fn zeros(len: usize) -> Self {
        Self(vec![T::zeroed(); len])
    }
}

impl<T> Deref for Pages<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> DerefMut for Pages<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}
