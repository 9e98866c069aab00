//! What long work tells its caller, and how the caller stops it.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// Reading a file; the steps are bytes.
    Read,
    /// Writing a file; the steps are bytes, their number unknown.
    Write,
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
            Self::Write => "writing",
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
    /// The best objective so far, where one graph is clustered into one number of clusters, once there is an answer. It never
    /// falls, and what comes back is no lower.
    pub best: Option<f64>,
}

impl Progress {
    /// The start of a stage.
    pub fn new(stage: Stage, total: u64) -> Self {
        Self { stage, done: 0, total, sweeps: 0, moves: 0, objective: None, best: None }
    }
}

/// The one clock of a piece of work: how it goes, how long it may take, and whether it is to stop.
///
/// It is made at the door and handed to everything that takes time: reading, neighbours, search, eigenpairs, bound. All
/// threads share it. Once it says stop, by its limit or by its observer, it says so for ever.
///
/// ```
/// use std::ops::ControlFlow;
/// use std::time::Duration;
/// use ncut::{Clock, Graph, Ncut, StopReason};
/// let path = Graph::from_edges(4, [(0, 1, 5.0), (1, 2, 0.1), (2, 3, 5.0)])?;
/// let mut n_reports = 0;
/// let clock = Clock::observed(|_: &ncut::Progress| {
///     n_reports += 1;
///     ControlFlow::Break(())
/// });
/// clock.limit(Duration::from_secs(1));
/// let found = Ncut::new(2).solve_by(&path, &clock)?;
/// assert_eq!((found.stop_reason, found.clusters.len()), (StopReason::Cancelled, 2));
/// # Ok::<(), ncut::Error>(())
/// ```
pub struct Clock<'a> {
    observer: Option<Box<dyn Observer + 'a>>,
    started: Moment,
    /// The deadline, in microseconds after the start.
    deadline: AtomicU64,
    /// Microseconds after the start when the observer is to be called again.
    next_call: AtomicU64,
    /// Why to stop, as a number; 0 for go on.
    stopped: AtomicU8,
    /// Microseconds between two calls of the observer.
    between_calls: u64,
    /// Bytes of memory that may be taken.
    memory: AtomicU64,
    /// The best objective so far, as bits; `NOT_ASKED` where several answers would be mixed up, `NONE_YET` before the first.
    best: AtomicU64,
}

/// Bits of a NaN each.
const NOT_ASKED: u64 = u64::MAX;
const NONE_YET: u64 = u64::MAX - 1;

/// Microseconds between two calls of the observer: a call may draw a bar or ask an interpreter. Without a clock it is called
/// at every report.
const BETWEEN_CALLS: u64 = 2_000;

impl Default for Clock<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Clock<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clock").field("stopped", &self.stopped()).finish_non_exhaustive()
    }
}

impl Clock<'_> {
    /// A clock that lets everything run.
    pub fn new() -> Self {
        Self {
            observer: None,
            started: Moment::now(),
            deadline: AtomicU64::new(u64::MAX),
            next_call: AtomicU64::new(0),
            stopped: AtomicU8::new(GOING),
            between_calls: BETWEEN_CALLS,
            memory: AtomicU64::new(u64::MAX),
            best: AtomicU64::new(NOT_ASKED),
        }
    }
}

impl<'a> Clock<'a> {
    /// A clock that tells an observer how the work goes. It stops the work by returning [`ControlFlow::Break`]; the best so
    /// far comes back then. It is called from one thread at a time, not always from the same.
    pub fn observed(observe: impl FnMut(&Progress) -> ControlFlow<()> + Send + 'a) -> Self {
        Self { observer: Some(Box::new(Mutex::new(observe))), ..Clock::new() }
    }

    /// The same clock, with so much time between two calls of the observer, instead of 2 milliseconds.
    #[must_use]
    pub fn calling_every(self, time: Duration) -> Self {
        Self { between_calls: time.as_micros() as u64, ..self }
    }

    /// The same clock, from now on, by a source of time that the caller has: for platforms where the library has none, such as
    /// WebAssembly. `time` tells the time since any fixed moment.
    #[must_use]
    pub fn timed_by(self, time: fn() -> Duration) -> Self {
        Self { started: Moment::by(time), ..self }
    }

    /// Sets a deadline, so long from now. An earlier one stays.
    pub fn limit(&self, limit: Duration) {
        let limit = u64::try_from(limit.as_micros()).unwrap_or(u64::MAX);
        self.deadline.fetch_min(self.started.micros().saturating_add(limit), Ordering::Relaxed);
    }

    /// Whether there is a deadline.
    pub fn has_limit(&self) -> bool {
        self.deadline.load(Ordering::Relaxed) != u64::MAX
    }

    /// The time that is left, if it is limited.
    pub fn left(&self) -> Option<Duration> {
        let left = self.deadline.load(Ordering::Relaxed).saturating_sub(self.started.micros());
        self.has_limit().then(|| Duration::from_micros(left))
    }

    /// Sets how many bytes of memory the work from here on may take, beyond what is taken already. Work that is
    /// estimated to need more is refused before it begins.
    pub fn allow_memory(&self, n_bytes: u64) {
        self.memory.store(n_bytes, Ordering::Relaxed);
    }

    /// Bytes of memory that may be taken, if they are limited.
    pub fn memory(&self) -> Option<u64> {
        Some(self.memory.load(Ordering::Relaxed)).filter(|&n_bytes| n_bytes != u64::MAX)
    }

    /// From now on one graph is clustered into one number of clusters, and [`Progress::best`] tells of answers.
    pub(crate) fn expect_one_answer(&self) {
        self.best.store(NONE_YET, Ordering::Relaxed);
    }

    /// Tells of an answer that what comes back will not fall below.
    pub(crate) fn tell_answer(&self, objective: f64) {
        let higher = |bits: u64| {
            let best = f64::from_bits(bits);
            (bits != NOT_ASKED && (best.is_nan() || objective > best)).then_some(objective.to_bits())
        };
        let _ = self.best.fetch_update(Ordering::Relaxed, Ordering::Relaxed, higher);
    }

    /// Tells how the work goes. The observer is called unless it was a moment ago.
    ///
    /// # Errors
    /// When the work is to stop.
    pub fn report(&self, progress: &Progress) -> Result<(), Stopped> {
        let now = self.started.micros();
        if let Some(observer) = &self.observer
            && !self.is_stopped()
            && now >= self.next_call.load(Ordering::Relaxed)
        {
            let pause = if self.started.passes() { self.between_calls } else { 0 };
            self.next_call.store(now + pause, Ordering::Relaxed);
            let best = Some(f64::from_bits(self.best.load(Ordering::Relaxed))).filter(|best| !best.is_nan());
            if observer.observe(&Progress { best, ..*progress }).is_break() {
                self.stop(CANCELLED);
            }
        }
        if now >= self.deadline.load(Ordering::Relaxed) {
            self.stop(OUT_OF_TIME);
        }
        self.stopped().map_or(Ok(()), Err)
    }

    /// As [`report`](Self::report), without progress to report.
    ///
    /// # Errors
    /// When the work is to stop.
    pub fn check(&self) -> Result<(), Stopped> {
        if self.started.micros() >= self.deadline.load(Ordering::Relaxed) {
            self.stop(OUT_OF_TIME);
        }
        self.stopped().map_or(Ok(()), Err)
    }

    /// Whether the work was told to stop.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed) != GOING
    }

    /// Why the work was told to stop.
    pub fn stopped(&self) -> Option<Stopped> {
        match self.stopped.load(Ordering::Relaxed) {
            GOING => None,
            OUT_OF_TIME => Some(Stopped(StopReason::TimeLimit)),
            _ => Some(Stopped(StopReason::Cancelled)),
        }
    }

    /// The first reason stays.
    fn stop(&self, reason: u8) {
        let _ = self.stopped.compare_exchange(GOING, reason, Ordering::Relaxed, Ordering::Relaxed);
    }
}

/// An observer that threads share. As a trait, and not as a lock of a reference, it lets a clock be lent for shorter.
trait Observer: Send + Sync {
    fn observe(&self, progress: &Progress) -> ControlFlow<()>;
}

impl<F: FnMut(&Progress) -> ControlFlow<()> + Send> Observer for Mutex<F> {
    fn observe(&self, progress: &Progress) -> ControlFlow<()> {
        match self.try_lock() {
            Ok(mut observe) => observe(progress),
            // Whoever finds the lock taken goes on: the observer is being told.
            Err(_) => ControlFlow::Continue(()),
        }
    }
}

const GOING: u8 = 0;
const OUT_OF_TIME: u8 = 1;
const CANCELLED: u8 = 2;

/// A moment in time.
enum Moment {
    /// Time does not pass: a bare WebAssembly module has no clock, and no limit then.
    #[cfg(target_arch = "wasm32")]
    Timeless,
    #[cfg(not(target_arch = "wasm32"))]
    Instant(std::time::Instant),
    /// The caller's source of time, and what it told then.
    Told { time: fn() -> Duration, then: Duration },
}

impl Moment {
    fn now() -> Self {
        #[cfg(target_arch = "wasm32")]
        return Self::Timeless;
        #[cfg(not(target_arch = "wasm32"))]
        return Self::Instant(std::time::Instant::now());
    }

    fn by(time: fn() -> Duration) -> Self {
        Self::Told { time, then: time() }
    }

    /// Whether time passes.
    fn passes(&self) -> bool {
        #[cfg(target_arch = "wasm32")]
        if matches!(self, Self::Timeless) {
            return false;
        }
        true
    }

    /// Microseconds since then.
    fn micros(&self) -> u64 {
        match self {
            #[cfg(target_arch = "wasm32")]
            Self::Timeless => 0,
            #[cfg(not(target_arch = "wasm32"))]
            Self::Instant(then) => then.elapsed().as_micros() as u64,
            Self::Told { time, then } => time().saturating_sub(*then).as_micros() as u64,
        }
    }
}

/// Carried up by `?` when the work is to stop and there is nothing to give back yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped(pub StopReason);

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
