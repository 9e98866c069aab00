//! Ctrl-C and the signals by which a system ends programs: what is half written is removed.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use ncut::io::remove_temporaries;

/// Set by the first Ctrl-C.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// Whether the first Ctrl-C stops the work rather than the program.
static IS_WATCHED: AtomicBool = AtomicBool::new(false);
/// Whether the work has a best so far, which is kept.
static KEEPS_BEST: AtomicBool = AtomicBool::new(false);
/// A file is being written.
static WRITING: AtomicBool = AtomicBool::new(false);
/// The program is being ended.
static ENDING: AtomicBool = AtomicBool::new(false);
/// Files that are to be written.
static OUTPUTS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The line of progress, which is taken away before anything else is said.
static LINE: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// How long a second Ctrl-C waits for a file to be whole.
const MOMENT: Duration = Duration::from_millis(500);
/// A second signal within this time is the first once more: `timeout` sends it to the program and then to its group.
const SAME: Duration = Duration::from_millis(100);
/// When the first Ctrl-C was heard.
static FIRST: OnceLock<Instant> = OnceLock::new();

/// Writes a file: Ctrl-C does not end the program on the way.
pub(crate) fn uninterrupted<T>(write: impl FnOnce() -> T) -> T {
    WRITING.store(true, Ordering::Relaxed);
    let written = write();
    WRITING.store(false, Ordering::Relaxed);
    written
}

/// Names an output, whose temporary file is removed if the program is ended.
pub(crate) fn will_write(output: &Path) {
    let mut outputs = OUTPUTS.lock().unwrap_or_else(PoisonError::into_inner);
    if !outputs.iter().any(|known| known == output) {
        outputs.push(output.to_path_buf());
    }
}

/// From now on the first Ctrl-C stops the work; `keeps_best` if there is then a result. It takes `line` away.
pub(crate) fn stop_work_first(keeps_best: bool, line: &ProgressBar) {
    *LINE.lock().unwrap_or_else(PoisonError::into_inner) = Some(line.clone());
    KEEPS_BEST.store(keeps_best, Ordering::Relaxed);
    IS_WATCHED.store(true, Ordering::Relaxed);
}

/// Whether Ctrl-C was pressed.
pub(crate) fn is_interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// Lets a signal that is ending the program end it.
pub(crate) fn wait_if_ending() {
    while ENDING.load(Ordering::SeqCst) {
        thread::sleep(Duration::from_millis(5));
    }
}

fn interrupt() {
    if !IS_WATCHED.load(Ordering::Relaxed) {
        end(crate::INTERRUPTED);
    }
    if INTERRUPTED.swap(true, Ordering::Relaxed) {
        if FIRST.get().is_some_and(|first| first.elapsed() < SAME) {
            return;
        }
        // Mostly that a file is finished takes a moment only.
        let pressed = Instant::now();
        while WRITING.load(Ordering::Relaxed) && pressed.elapsed() < MOMENT {
            thread::sleep(Duration::from_millis(5));
        }
        end(crate::INTERRUPTED);
    }
    let _ = FIRST.set(Instant::now());
    clear_line();
    if KEEPS_BEST.load(Ordering::Relaxed) {
        let _ = writeln!(io::stderr(), "ncut: stopping, the best so far is kept (once more abandons it)");
    }
}

fn clear_line() {
    if let Some(line) = LINE.lock().unwrap_or_else(PoisonError::into_inner).take() {
        line.finish_and_clear();
    }
}

/// Ends the program; outputs are whole or untouched.
fn end(code: u8) {
    ENDING.store(true, Ordering::SeqCst);
    clear_line();
    let outputs = OUTPUTS.lock().unwrap_or_else(PoisonError::into_inner);
    // Once more, for one that was made meanwhile.
    for output in outputs.iter().chain(outputs.iter()) {
        remove_temporaries(output);
    }
    std::process::exit(i32::from(code));
}

/// Listens to signals, on a thread of its own. Where there is no thread for it, signals end the program as usual.
#[cfg(unix)]
pub(crate) fn listen() {
    use nix::sys::signal::{SigSet, Signal};

    let mut signals = SigSet::empty();
    signals.add(Signal::SIGINT);
    for signal in [Signal::SIGTERM, Signal::SIGHUP] {
        // `nohup` has them ignored.
        if !is_ignored(signal as u32) {
            signals.add(signal);
        }
    }
    if signals.thread_block().is_err() {
        return;
    }
    let hear = move || {
        loop {
            match signals.wait() {
                Ok(Signal::SIGINT) => interrupt(),
                Ok(signal) => end(128 + signal as u8),
                // It is called again where another signal woke it.
                Err(_) => thread::sleep(Duration::from_millis(5)),
            }
        }
    };
    if thread::Builder::new().name("ncut signals".into()).spawn(hear).is_err() {
        let _ = signals.thread_unblock();
    }
}

/// Whether a signal is ignored, as whoever started the program wanted it; Linux tells.
#[cfg(unix)]
fn is_ignored(signal: u32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}

/// Listens to Ctrl-C. Where that cannot be done it ends the program as usual.
#[cfg(not(unix))]
pub(crate) fn listen() {
    let _ = ctrlc::set_handler(interrupt);
}
