//! What long work tells its caller, and how the caller stops it.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub(crate) use std::time::Instant;

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub(crate) use no_clock::Instant;

/// Where there is no clock, no time passes, and a time limit is none.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
mod no_clock {
    use std::time::Duration;

    #[derive(Clone, Copy, PartialEq, PartialOrd)]
    pub(crate) struct Instant;

    impl Instant {
        pub(crate) fn now() -> Self {
            Self
        }

        pub(crate) fn elapsed(self) -> Duration {
            Duration::ZERO
        }

        pub(crate) fn checked_add(self, _: Duration) -> Option<Self> {
            None
        }
    }
}

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// Reading a file; the steps are bytes.
    Read,
    /// Comparing a mapped file with its checksums; the steps are stored entries.
    Verify,
    /// Searching the nearest neighbours of points; the steps are points.
    Neighbors,
    /// Blurring or scaling a picture, or linking its pixels; the steps are rows of pixels.
    Picture,
    /// Building the first-neighbour hierarchy; the steps are nodes and merges.
    Hierarchy,
    /// Coordinate descent; the steps are nodes of the current sweep.
    Descent,
    /// Merging nodes into fewer and fewer; the steps are nodes.
    Coarsening,
    /// Computing eigenvectors; the steps are pairs.
    Spectrum,
    /// Looking for better clusters than a descent finds; the steps are attempts.
    Search,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "reading",
            Self::Verify => "verifying",
            Self::Neighbors => "finding neighbours",
            Self::Picture => "preparing the picture",
            Self::Hierarchy => "first-neighbour hierarchy",
            Self::Descent => "coordinate descent",
            Self::Coarsening => "coarsening",
            Self::Spectrum => "computing the spectrum",
            Self::Search => "searching",
        })
    }
}

/// A snapshot of running work.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// What is being done.
    pub stage: Stage,
    /// Steps of the stage that are behind us.
    pub done: u64,
    /// Steps of the stage in all; 0 when unknown.
    pub total: u64,
    /// Whole sweeps so far.
    pub sweeps: usize,
    /// Moves so far.
    pub moves: u64,
    /// The objective now, once there is one.
    pub objective: Option<f64>,
}

impl Progress {
    /// The start of a stage.
    pub fn new(stage: Stage, total: u64) -> Self {
        Self { stage, done: 0, total, sweeps: 0, moves: 0, objective: None }
    }
}

/// Told how the work goes; it stops the work by returning [`ControlFlow::Break`], and the best so far
/// comes back. It is called from one thread at a time, not always from the same.
pub type Observer<'a> = &'a mut (dyn FnMut(&Progress) -> ControlFlow<()> + Send);

/// An observer that lets everything run.
pub fn unobserved(_: &Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// What parallel work tells, and how it hears that it is to stop.
pub(crate) trait Watch: Sync {
    /// Tells how the work goes; breaks once the answer was to stop.
    fn report(&self, progress: &Progress) -> ControlFlow<()>;

    /// Whether the answer was to stop.
    fn is_stopped(&self) -> bool;
}

/// An observer that several threads share: one tells at a time, and once it said stop, all hear it.
pub(crate) struct SharedObserver<'a> {
    observer: Mutex<Observer<'a>>,
    stopped: AtomicBool,
    started: Instant,
    /// Microseconds after the start when the observer is to be called again.
    next_call: AtomicU64,
}

/// Microseconds between two calls of a shared observer; none where no time passes.
const BETWEEN_CALLS: u64 = if cfg!(all(target_family = "wasm", target_os = "unknown")) { 0 } else { 2_000 };

impl<'a> SharedObserver<'a> {
    pub(crate) fn new(observer: Observer<'a>) -> Self {
        Self {
            observer: Mutex::new(observer),
            stopped: AtomicBool::new(false),
            started: Instant::now(),
            next_call: AtomicU64::new(0),
        }
    }
}

impl Watch for SharedObserver<'_> {
    /// Tells the observer, unless it was told a moment ago.
    fn report(&self, progress: &Progress) -> ControlFlow<()> {
        let now = self.started.elapsed().as_micros() as u64;
        // Whoever finds the lock taken goes on: the observer is being told.
        if !self.is_stopped()
            && now >= self.next_call.load(Ordering::Relaxed)
            && let Ok(mut observe) = self.observer.try_lock()
        {
            self.next_call.store(now + BETWEEN_CALLS, Ordering::Relaxed);
            if observe(progress).is_break() {
                self.stopped.store(true, Ordering::Relaxed);
            }
        }
        if self.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

/// Why the work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StopReason {
    /// No single move improves the objective.
    LocalOptimum,
    /// The last sweep improved the objective by less than the tolerance.
    SmallImprovement,
    /// The allowed number of sweeps is used up.
    SweepLimit,
    /// The allowed time is used up.
    TimeLimit,
    /// The observer said stop.
    Cancelled,
}

impl StopReason {
    /// The name used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::LocalOptimum => "local-optimum",
            Self::SmallImprovement => "small-improvement",
            Self::SweepLimit => "sweep-limit",
            Self::TimeLimit => "time-limit",
            Self::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
