//! Arrays of numbers, wherever they are.

use std::borrow::Cow;
use std::ops::Deref;

#[cfg(feature = "mapping")]
use crate::mapping::Mapped;

/// Numbers of a graph: its own, borrowed, or in a file that is mapped into memory. A slice to its users.
#[derive(Clone, Debug)]
pub struct Array<'a, T: 'static>(Place<'a, T>);

#[derive(Clone, Debug)]
enum Place<'a, T: 'static> {
    Owned(Vec<T>),
    Borrowed(&'a [T]),
    #[cfg(feature = "mapping")]
    Mapped(Mapped<T>),
}

impl<T> Deref for Array<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match &self.0 {
            Place::Owned(numbers) => numbers,
            Place::Borrowed(numbers) => numbers,
            #[cfg(feature = "mapping")]
            Place::Mapped(numbers) => numbers,
        }
    }
}

impl<T: Clone> Array<'_, T> {
    /// The numbers as a vector, copied unless they are owned.
    pub fn into_owned(self) -> Vec<T> {
        match self.0 {
            Place::Owned(numbers) => numbers,
            Place::Borrowed(numbers) => numbers.to_vec(),
            #[cfg(feature = "mapping")]
            Place::Mapped(numbers) => numbers.to_vec(),
        }
    }
}

impl<T> Array<'_, T> {
    /// The same numbers, borrowed.
    pub(crate) fn borrowed(&self) -> Array<'_, T> {
        Array(Place::Borrowed(self))
    }
}

impl<T> Default for Array<'_, T> {
    fn default() -> Self {
        Self(Place::Borrowed(&[]))
    }
}

impl<T> From<Vec<T>> for Array<'_, T> {
    fn from(numbers: Vec<T>) -> Self {
        Self(Place::Owned(numbers))
    }
}

impl<'a, T> From<&'a [T]> for Array<'a, T> {
    fn from(numbers: &'a [T]) -> Self {
        Self(Place::Borrowed(numbers))
    }
}

impl<'a, T> From<&'a Vec<T>> for Array<'a, T> {
    fn from(numbers: &'a Vec<T>) -> Self {
        Self(Place::Borrowed(numbers))
    }
}

impl<'a, T: Clone> From<Cow<'a, [T]>> for Array<'a, T> {
    fn from(numbers: Cow<'a, [T]>) -> Self {
        match numbers {
            Cow::Owned(numbers) => numbers.into(),
            Cow::Borrowed(numbers) => numbers.into(),
        }
    }
}

#[cfg(feature = "mapping")]
impl<T> From<Mapped<T>> for Array<'_, T> {
    fn from(numbers: Mapped<T>) -> Self {
        Self(Place::Mapped(numbers))
    }
}

impl<T> FromIterator<T> for Array<'_, T> {
    fn from_iter<I: IntoIterator<Item = T>>(numbers: I) -> Self {
        numbers.into_iter().collect::<Vec<T>>().into()
    }
}
