//! What long work tells its caller, and how the caller stops it.

use std::fmt;
use std::ops::ControlFlow;

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// Reading a file; the steps are bytes.
    Read,
    /// Searching the nearest neighbours of points; the steps are points.
    Neighbors,
    /// Blurring or scaling a picture, or linking its pixels; the steps are rows of pixels.
    Picture,
    /// Building the first-neighbour hierarchy; the steps are nodes and merges.
    Hierarchy,
    /// Coordinate descent; the steps are nodes of the current sweep.
    Descent,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "reading",
            Self::Neighbors => "finding neighbours",
            Self::Picture => "preparing the picture",
            Self::Hierarchy => "first-neighbour hierarchy",
            Self::Descent => "coordinate descent",
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
/// comes back.
pub type Observer<'a> = &'a mut dyn FnMut(&Progress) -> ControlFlow<()>;

/// An observer that lets everything run.
pub fn unobserved(_: &Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
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
