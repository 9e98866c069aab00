//! Work on all threads, by rayon; the only place that names it. Without the feature `threads` the same names work on
//! one thread, with the same results.

#![allow(dead_code, unused_imports, reason = "which names are used depends on the other features")]

#[cfg(feature = "threads")]
pub(crate) use rayon::{current_num_threads, join, prelude};

#[cfg(not(feature = "threads"))]
pub(crate) use sequential::{current_num_threads, join, prelude};

#[cfg(feature = "threads")]
use std::sync::mpsc::{self, RecvTimeoutError};
#[cfg(feature = "threads")]
use std::{panic, thread, time::Duration};

use crate::progress::{Clock, Progress, Stopped};

/// Between two looks at the clock.
#[cfg(feature = "threads")]
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Does work that cannot be stopped on a thread of its own, and reports to the clock meanwhile. When that says stop the
/// work is left alone, to end by itself some time; so it must not be without end. Where there is no thread for it, the
/// work is done here.
///
/// # Errors
/// When the clock says stop before the work is done.
#[cfg(feature = "threads")]
pub(crate) fn aside<T: Send + 'static>(
    clock: &Clock<'_>,
    progress: &Progress,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Stopped> {
    clock.report(progress)?;
    let (give, receive) = mpsc::channel::<Box<dyn FnOnce() + Send>>();
    let (answer, done) = mpsc::channel();
    let work = move || {
        // Nobody waits for work that was left alone.
        let _ = answer.send(work());
    };
    let worker = thread::Builder::new().spawn(move || {
        if let Ok(work) = receive.recv() {
            work();
        }
    });
    match &worker {
        Ok(_) => give.send(Box::new(work)).expect("the thread waits for work"),
        Err(_) => work(),
    }
    loop {
        match done.recv_timeout(BETWEEN_LOOKS) {
            Ok(found) => return Ok(found),
            Err(RecvTimeoutError::Timeout) => clock.report(progress)?,
            Err(RecvTimeoutError::Disconnected) => match worker.map(thread::JoinHandle::join) {
                Ok(Err(panic)) => panic::resume_unwind(panic),
                _ => unreachable!("work that does not panic answers"),
            },
        }
    }
}

/// Does the work, after a look at the clock.
///
/// # Errors
/// When the clock says stop.
#[cfg(not(feature = "threads"))]
pub(crate) fn aside<T>(
    clock: &Clock<'_>,
    progress: &Progress,
    work: impl FnOnce() -> T,
) -> Result<T, Stopped> {
    clock.report(progress)?;
    Ok(work())
}

#[cfg(not(feature = "threads"))]
mod sequential {
    use std::{iter, slice};

    pub(crate) mod prelude {
        pub(crate) use super::{
            IntoParallelIterator, ParallelExtend, ParallelIterator,
            ParallelIterator as IndexedParallelIterator, ParallelSlice, ParallelSliceMut,
        };
    }

    pub(crate) fn current_num_threads() -> usize {
        1
    }

    pub(crate) fn join<A, B>(first: impl FnOnce() -> A, second: impl FnOnce() -> B) -> (A, B) {
        (first(), second())
    }

    /// An iterator with the methods of a parallel one, some of which have other arguments than those of [`Iterator`].
    pub(crate) struct Sequential<I>(I);

    impl<I: Iterator> IntoIterator for Sequential<I> {
        type Item = I::Item;
        type IntoIter = I;

        fn into_iter(self) -> I {
            self.0
        }
    }

    impl<I: Iterator> ParallelIterator for Sequential<I> {}

    pub(crate) trait ParallelIterator: IntoIterator + Sized {
        fn with_min_len(self, _: usize) -> Self {
            self
        }

        fn with_max_len(self, _: usize) -> Self {
            self
        }

        fn map<R, F: Fn(Self::Item) -> R>(self, f: F) -> Sequential<iter::Map<Self::IntoIter, F>> {
            Sequential(self.into_iter().map(f))
        }

        fn map_init<S, R>(
            self,
            init: impl Fn() -> S,
            f: impl Fn(&mut S, Self::Item) -> R,
        ) -> impl ParallelIterator<Item = R> {
            let mut state = init();
            Sequential(self.into_iter().map(move |item| f(&mut state, item)))
        }

        fn filter<F: Fn(&Self::Item) -> bool>(self, f: F) -> Sequential<iter::Filter<Self::IntoIter, F>> {
            Sequential(self.into_iter().filter(f))
        }

        fn filter_map<R, F: Fn(Self::Item) -> Option<R>>(
            self,
            f: F,
        ) -> Sequential<iter::FilterMap<Self::IntoIter, F>> {
            Sequential(self.into_iter().filter_map(f))
        }

        fn flat_map_iter<R: IntoIterator, F: Fn(Self::Item) -> R>(
            self,
            f: F,
        ) -> Sequential<iter::FlatMap<Self::IntoIter, R, F>> {
            Sequential(self.into_iter().flat_map(f))
        }

        fn flatten_iter(self) -> Sequential<iter::Flatten<Self::IntoIter>>
        where
            Self::Item: IntoIterator,
        {
            Sequential(self.into_iter().flatten())
        }

        fn enumerate(self) -> Sequential<iter::Enumerate<Self::IntoIter>> {
            Sequential(self.into_iter().enumerate())
        }

        fn zip<Z: IntoIterator>(self, other: Z) -> Sequential<iter::Zip<Self::IntoIter, Z::IntoIter>> {
            Sequential(self.into_iter().zip(other))
        }

        fn step_by(self, step: usize) -> Sequential<iter::StepBy<Self::IntoIter>> {
            Sequential(self.into_iter().step_by(step))
        }

        /// One sum of all items, as if there was one portion.
        fn fold<S>(
            self,
            identity: impl Fn() -> S,
            f: impl Fn(S, Self::Item) -> S,
        ) -> Sequential<iter::Once<S>> {
            Sequential(iter::once(self.into_iter().fold(identity(), f)))
        }

        fn reduce(
            self,
            identity: impl Fn() -> Self::Item,
            f: impl Fn(Self::Item, Self::Item) -> Self::Item,
        ) -> Self::Item {
            self.into_iter().fold(identity(), f)
        }

        fn for_each(self, f: impl Fn(Self::Item)) {
            self.into_iter().for_each(f);
        }

        fn find_map_first<R>(self, f: impl Fn(Self::Item) -> Option<R>) -> Option<R> {
            self.into_iter().find_map(f)
        }

        fn try_for_each<E>(self, f: impl Fn(Self::Item) -> Result<(), E>) -> Result<(), E> {
            self.into_iter().try_for_each(f)
        }

        fn for_each_init<S>(self, init: impl Fn() -> S, f: impl Fn(&mut S, Self::Item)) {
            let mut state = init();
            self.into_iter().for_each(|item| f(&mut state, item));
        }

        fn collect<C: FromIterator<Self::Item>>(self) -> C {
            self.into_iter().collect()
        }

        fn sum<S: iter::Sum<Self::Item>>(self) -> S {
            self.into_iter().sum()
        }

        fn count(self) -> usize {
            self.into_iter().count()
        }
    }

    pub(crate) trait IntoParallelIterator: IntoIterator + Sized {
        fn into_par_iter(self) -> Sequential<Self::IntoIter> {
            Sequential(self.into_iter())
        }
    }

    impl<I: IntoIterator> IntoParallelIterator for I {}

    pub(crate) trait ParallelExtend<T> {
        fn par_extend(&mut self, items: impl IntoIterator<Item = T>);
    }

    impl<T> ParallelExtend<T> for Vec<T> {
        fn par_extend(&mut self, items: impl IntoIterator<Item = T>) {
            self.extend(items);
        }
    }

    pub(crate) trait ParallelSlice<T> {
        fn par_iter(&self) -> Sequential<slice::Iter<'_, T>>;
        fn par_windows(&self, size: usize) -> Sequential<slice::Windows<'_, T>>;
        fn par_chunks(&self, size: usize) -> Sequential<slice::Chunks<'_, T>>;
        fn par_chunks_exact(&self, size: usize) -> Sequential<slice::ChunksExact<'_, T>>;
    }

    impl<T> ParallelSlice<T> for [T] {
        fn par_iter(&self) -> Sequential<slice::Iter<'_, T>> {
            Sequential(self.iter())
        }

        fn par_windows(&self, size: usize) -> Sequential<slice::Windows<'_, T>> {
            Sequential(self.windows(size))
        }

        fn par_chunks(&self, size: usize) -> Sequential<slice::Chunks<'_, T>> {
            Sequential(self.chunks(size))
        }

        fn par_chunks_exact(&self, size: usize) -> Sequential<slice::ChunksExact<'_, T>> {
            Sequential(self.chunks_exact(size))
        }
    }

    pub(crate) trait ParallelSliceMut<T> {
        fn par_iter_mut(&mut self) -> Sequential<slice::IterMut<'_, T>>;
        fn par_chunks_mut(&mut self, size: usize) -> Sequential<slice::ChunksMut<'_, T>>;
        fn par_chunks_exact_mut(&mut self, size: usize) -> Sequential<slice::ChunksExactMut<'_, T>>;
    }

    impl<T> ParallelSliceMut<T> for [T] {
        fn par_iter_mut(&mut self) -> Sequential<slice::IterMut<'_, T>> {
            Sequential(self.iter_mut())
        }

        fn par_chunks_mut(&mut self, size: usize) -> Sequential<slice::ChunksMut<'_, T>> {
            Sequential(self.chunks_mut(size))
        }

        fn par_chunks_exact_mut(&mut self, size: usize) -> Sequential<slice::ChunksExactMut<'_, T>> {
            Sequential(self.chunks_exact_mut(size))
        }
    }
}
