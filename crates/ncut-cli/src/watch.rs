//! What the person at the terminal sees of long work, and how Ctrl-C stops it.

use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ncut::{Clock, Progress, Stage, StopReason};
use ncut_machine::{memory_left, memory_taken};

use crate::signals;

/// Work shorter than this shows no bar.
const PATIENCE: Duration = Duration::from_millis(300);
const BETWEEN_DRAWINGS: Duration = Duration::from_millis(100);
/// However little was asked for, work may take this: no graph is worth clustering in less.
const LEAST_MEMORY: u64 = 64 << 20;

/// However small a file, so much may be taken to read it without being asked for.
const LEAST_FOR_READING: u64 = 1 << 30;
/// And so much for each of its bytes. Packed text unpacks to some twenty times its size, and takes a few times that as a
/// graph or a table; what takes more is a promise, or made to fill the memory.
const READING_PER_BYTE: u64 = 200;

/// What the first Ctrl-C means.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum OnInterrupt {
    /// The work has a best so far, which is kept.
    Keep,
    /// There is nothing to keep.
    Abandon,
}

/// Shows progress on a terminal and passes Ctrl-C and time limits on, by the one clock of a command.
pub(crate) struct Watch {
    bar: ProgressBar,
    clock: Clock<'static>,
}

impl Watch {
    /// Watches from now on; the bar is drawn only on a terminal and unless `quiet`.
    pub(crate) fn start(quiet: bool, on_interrupt: OnInterrupt) -> Self {
        signals::stop_work_first(on_interrupt == OnInterrupt::Keep);
        let visible = !quiet && std::io::stderr().is_terminal();
        let target = if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        let mut shown = Shown { bar: bar.clone(), started: Instant::now(), last_drawing: None, stage: None };
        Self { bar, clock: Clock::observed(move |progress| shown.observe(progress)) }
    }

    /// The clock that everything the command does is told about.
    pub(crate) fn clock(&self) -> &Clock<'static> {
        &self.clock
    }

    /// Limits the memory of the work from now on: to what was asked for, or to what is left.
    pub(crate) fn limit_memory(&self, asked: Option<u64>) {
        let allowed = match asked {
            Some(asked) => Some(asked.max(LEAST_MEMORY).saturating_sub(memory_taken().unwrap_or(0))),
            None => memory_left(0),
        };
        self.clock.allow_memory(allowed.unwrap_or(u64::MAX));
    }

    /// Limits the memory of reading a file: to what was asked for or is left, and unless it was asked for to what a file of
    /// this size can be expected to hold.
    pub(crate) fn limit_reading(&self, path: &Path, asked: Option<u64>) {
        self.limit_memory(asked);
        // Of a pipe nobody knows how much is to come.
        let file = path.metadata().ok().filter(|file| asked.is_none() && file.is_file());
        if let Some(file) = file {
            let expected = file.len().saturating_mul(READING_PER_BYTE).max(LEAST_FOR_READING);
            self.clock.allow_memory(self.clock.memory().map_or(expected, |left| left.min(expected)));
        }
    }

    /// Limits the time from now on.
    pub(crate) fn limit(&self, limit: Option<Duration>) {
        if let Some(limit) = limit {
            self.clock.limit(limit);
        }
    }

    /// Ends the work if it was interrupted before there was anything to keep.
    pub(crate) fn check(&self) -> ncut::Result<()> {
        match signals::is_interrupted() {
            true => Err(ncut::Error::Stopped { reason: StopReason::Cancelled }),
            false => Ok(()),
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// What is on the terminal.
struct Shown {
    bar: ProgressBar,
    started: Instant,
    last_drawing: Option<Instant>,
    stage: Option<Stage>,
}

impl Shown {
    fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
        if signals::is_interrupted() {
            return ControlFlow::Break(());
        }
        let due = match self.last_drawing {
            None => self.started.elapsed() >= PATIENCE,
            Some(last) => last.elapsed() >= BETWEEN_DRAWINGS,
        };
        if due && !self.bar.is_hidden() && !self.bar.is_finished() {
            self.last_drawing = Some(Instant::now());
            self.draw(progress);
        }
        ControlFlow::Continue(())
    }

    fn draw(&mut self, progress: &Progress) {
        if self.stage != Some(progress.stage) {
            self.stage = Some(progress.stage);
            let template = match progress.stage {
                Stage::Read => "{prefix} {wide_bar} {bytes}/{total_bytes}",
                Stage::Write => "{prefix} {bytes}",
                _ => "{prefix} {wide_bar} {percent}% {msg}",
            };
            let style = ProgressStyle::with_template(template).expect("the templates above are well formed");
            self.bar.set_style(style);
            self.bar.set_prefix(progress.stage.to_string());
        }
        self.bar.set_length(progress.total);
        self.bar.set_position(progress.done);
        if let Some(objective) = progress.objective {
            self.bar.set_message(format!(
                "sweep {}, {} moves, objective {objective:.4}",
                progress.sweeps + 1,
                progress.moves
            ));
        }
    }
}
