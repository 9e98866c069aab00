//! What the person at the terminal sees of long work, and how Ctrl-C stops it.

use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ncut::{Clock, Progress, Stage, StopReason};
use ncut_machine::{memory_left, memory_taken};

use crate::signals;

/// Work shorter than this shows no line.
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
    started: Instant,
    /// Milliseconds after the start when the time is up; 0 without a limit.
    deadline: Arc<AtomicU64>,
}

impl Watch {
    /// Watches from now on; the line is drawn only on a terminal and unless `quiet`.
    pub(crate) fn start(quiet: bool, on_interrupt: OnInterrupt) -> Self {
        let visible = !quiet && std::io::stderr().is_terminal();
        let target = if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        signals::stop_work_first(on_interrupt == OnInterrupt::Keep, &bar);
        let (started, deadline) = (Instant::now(), Arc::new(AtomicU64::new(0)));
        let mut shown = Shown {
            bar: bar.clone(),
            started,
            deadline: Arc::clone(&deadline),
            last_drawing: None,
            phase: None,
            percent: 0,
            best: None,
        };
        Self { bar, clock: Clock::observed(move |progress| shown.observe(progress)), started, deadline }
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
            let deadline = u64::try_from((self.started.elapsed() + limit).as_millis()).unwrap_or(0);
            self.deadline.store(deadline, Ordering::Relaxed);
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

    /// Takes the line away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// What work looks like from outside. Each is passed once or alternates with the next; none begins anew.
#[derive(Clone, Copy, PartialEq)]
enum Phase {
    /// Its steps are counted once, so that a share of them is told.
    Counted(&'static str),
    /// Its stages come back many times.
    Open(&'static str),
}

impl Phase {
    fn of(stage: Stage) -> Self {
        match stage {
            Stage::Read => Self::Counted("reading"),
            Stage::Verify => Self::Counted("verifying"),
            Stage::Neighbors => Self::Counted("finding neighbours"),
            Stage::Picture => Self::Open("preparing the picture"),
            Stage::Spectrum => Self::Open("computing the spectrum"),
            Stage::Write => Self::Open("writing"),
            _ => Self::Open("clustering"),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Counted(name) | Self::Open(name) => name,
        }
    }
}

/// What is on the terminal: one line. Time, the share of a phase and the best objective only go forward.
struct Shown {
    bar: ProgressBar,
    started: Instant,
    deadline: Arc<AtomicU64>,
    last_drawing: Option<Instant>,
    phase: Option<Phase>,
    /// Of the phase.
    percent: u64,
    best: Option<f64>,
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
            self.draw(progress);
            self.last_drawing = Some(Instant::now());
        }
        ControlFlow::Continue(())
    }

    fn draw(&mut self, progress: &Progress) {
        let deadline = self.deadline.load(Ordering::Relaxed);
        if self.last_drawing.is_none() || (deadline > 0 && self.bar.length() != Some(deadline)) {
            let template = if deadline > 0 { "{wide_msg} {bar:20}" } else { "{wide_msg}" };
            let style = ProgressStyle::with_template(template).expect("the templates above are well formed");
            self.bar.set_style(style);
            self.bar.set_length(deadline);
        }
        let phase = Phase::of(progress.stage);
        let percent = (100 * progress.done.min(progress.total)).checked_div(progress.total).unwrap_or(0);
        if self.phase != Some(phase) {
            (self.phase, self.percent) = (Some(phase), 0);
        }
        self.percent = self.percent.max(percent);
        if let Some(best) = progress.best {
            self.best = Some(self.best.map_or(best, |before| before.max(best)));
        }
        let elapsed = self.started.elapsed();
        let mut line = format!("{}  {}", seconds_text(elapsed), phase.name());
        if matches!(phase, Phase::Counted(_)) && progress.total > 0 {
            line.push_str(&format!(" {} %", self.percent));
        }
        if let Some(best) = self.best {
            line.push_str(&format!(", best objective {best:.4}"));
        }
        self.bar.set_message(line);
        self.bar.set_position(elapsed.as_millis() as u64);
    }
}

/// `7.3 s`, `2 min 05 s`.
fn seconds_text(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{:.1} s", time.as_secs_f64().min(59.9)),
        _ => format!("{} min {:02} s", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_seconds_and_minutes() {
        let text = |millis| seconds_text(Duration::from_millis(millis));
        assert_eq!(
            [text(0), text(7_340), text(59_990), text(60_000), text(125_900)],
            ["0.0 s", "7.3 s", "59.9 s", "1 min 00 s", "2 min 05 s"]
        );
    }
}
