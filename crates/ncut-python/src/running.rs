//! Long work without the interpreter lock: Ctrl-C stops it, a callback is told how it goes.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use ncut::{Clock, Progress, StopReason};
use ncut_machine::memory_left;
use pyo3::exceptions::{PyRuntimeError, PyStopIteration};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::bugs::bug;
use crate::refused;

/// Between two looks for Ctrl-C.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
/// Between two calls of a callback.
const BETWEEN_CALLS: Duration = Duration::from_millis(50);

/// No work is begun with less memory than this.
const LEAST_MEMORY: u64 = 16 << 20;

/// Refuses what needs more memory than is left: where memory is missing later, the interpreter may have to end.
///
/// # Errors
/// `MemoryError`.
pub(crate) fn check_memory(left: Option<u64>, what: &'static str, needed: u64) -> PyResult<()> {
    match left {
        Some(left) if needed > left => {
            let remedy = "free memory, or use a smaller input";
            Err(refused(ncut::Error::TooLittleMemory { what, needed, limit: Some(left), remedy }))
        }
        _ => Ok(()),
    }
}

/// What a callback is told: stage, steps done and in all, iterations, moves, objective, best objective so far.
type Told = (String, u64, u64, usize, u64, Option<f64>, Option<f64>);

fn told(progress: &Progress) -> Told {
    let &Progress { stage, done, total, sweeps, moves, objective, best, .. } = progress;
    (stage.to_string(), done, total, sweeps, moves, objective, best)
}

/// Does `work` on `n_threads` threads of its own while this one waits for signals, which only it can receive, and calls
/// `on_progress`, which stops the work by a true answer or `StopIteration`.
///
/// # Errors
/// When the work was refused, a signal raised an exception (`KeyboardInterrupt`), or the callback did; `InternalError` when
/// the work panicked.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    n_threads: usize,
    on_progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Clock<'_>) -> ncut::Result<T> + Send,
) -> PyResult<T> {
    // Before any thread is made: each sets memory aside.
    let left = memory_left(n_threads as u64 + 1);
    check_memory(left, "the work", LEAST_MEMORY)?;
    let pool = pool_of(n_threads.max(1)).map_err(no_threads)?;
    let is_stopped = AtomicBool::new(false);
    let (tell, mut hear) = mpsc::channel::<Told>();
    let (reply, answer) = mpsc::channel::<()>();
    let is_told = on_progress.is_some();
    let mut failure: Option<PyErr> = None;
    let result = std::thread::scope(|scope| {
        let is_stopped = &is_stopped;
        let worker = std::thread::Builder::new().spawn_scoped(scope, move || {
            let mut next_call = Instant::now();
            let clock = Clock::observed(move |progress: &Progress| {
                if is_told && Instant::now() >= next_call {
                    // The work waits: what the callback says counts from here on.
                    if tell.send(told(progress)).is_ok() {
                        let _ = answer.recv();
                    }
                    next_call = Instant::now() + BETWEEN_CALLS;
                }
                if is_stopped.load(Ordering::Relaxed) {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            });
            clock.allow_memory(left.unwrap_or(u64::MAX));
            pool.install(|| work(&clock))
        });
        let worker = worker.map_err(no_threads)?;
        let stop = || is_stopped.store(true, Ordering::Relaxed);
        loop {
            let heard = py.detach(|| {
                let hear = &mut hear;
                hear.recv_timeout(BETWEEN_LOOKS)
            });
            match heard {
                Ok(told) => {
                    match on_progress.map_or(Ok(false), |callback| says_stop(callback, told)) {
                        Ok(false) => {}
                        Ok(true) => stop(),
                        Err(error) => {
                            failure.get_or_insert(error);
                            stop();
                        }
                    }
                    let _ = reply.send(());
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if let Err(error) = py.check_signals() {
                failure.get_or_insert(error);
                stop();
            }
        }
        Ok::<_, PyErr>(py.detach(|| worker.join()))
    });
    let Ok(result) = result? else { return Err(failure.unwrap_or_else(|| bug(py))) };
    match (failure, result) {
        (Some(failure), _) => Err(failure),
        (None, Err(ncut::Error::Stopped { reason: StopReason::Cancelled })) => {
            Err(PyRuntimeError::new_err("stopped before there was a result"))
        }
        (None, Err(error)) => Err(refused(error)),
        (None, Ok(found)) => Ok(found),
    }
}

/// A pool of `n_threads`, or of as many as the system grants.
fn pool_of(n_threads: usize) -> Result<ThreadPool, rayon::ThreadPoolBuildError> {
    match ThreadPoolBuilder::new().num_threads(n_threads).build() {
        Err(_) if n_threads > 1 => pool_of(n_threads / 2),
        pool => pool,
    }
}

fn no_threads(error: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(format!("no threads to work with: {error}"))
}

fn says_stop(callback: &Bound<'_, PyAny>, told: Told) -> PyResult<bool> {
    match callback.call1(told) {
        Ok(answer) => answer.is_truthy(),
        Err(error) if error.is_instance_of::<PyStopIteration>(callback.py()) => Ok(true),
        Err(error) => Err(error),
    }
}
