//! The command line of ncut: flags and glue around the library.

mod allocation;
mod args;
mod commands;
mod report;
mod svg;
mod watch;

use std::io;
use std::num::NonZero;
use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};

/// A call that makes no sense, whatever the input.
#[derive(Debug)]
struct UsageError(String);

impl std::fmt::Display for UsageError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// Exit code for wrong usage; clap has the same.
const USAGE: u8 = 2;
/// Exit code for input that was refused.
const REFUSED: u8 = 1;
/// Exit code after an interrupt that left no result.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    allocation::end_without_signal();
    let cli = Cli::parse();
    // More threads than cores only get in each other's way.
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let threads = cli.command.threads().map_or(cores, |allowed| cores.min(allowed as usize));
    if rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().is_err() {
        // Where the system grants no threads, this one does all the work.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global();
    }
    let done = match cli.command.trusts_files() {
        true => run_on_trust(cli.command),
        false => run(cli.command),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ncut: {error:#}");
            ExitCode::from(if is_interrupt(&error) {
                INTERRUPTED
            } else if error.is::<UsageError>() {
                USAGE
            } else {
                REFUSED
            })
        }
    }
}

/// Whether Ctrl-C left nothing to keep.
fn is_interrupt(error: &anyhow::Error) -> bool {
    let reason = match error.downcast_ref() {
        Some(ncut::Error::Stopped { reason }) => Some(*reason),
        _ => None,
    };
    reason == Some(ncut::StopReason::Cancelled)
}

/// Files that nobody verified may break any promise; what comes of it is told like any other refusal.
fn run_on_trust(command: Command) -> anyhow::Result<()> {
    std::panic::set_hook(Box::new(|_| {}));
    std::panic::catch_unwind(|| run(command)).unwrap_or_else(|_| {
        anyhow::bail!(
            "the graph is not what its file should hold; the file is damaged: run without --verify=no"
        )
    })
}

fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Cluster(args) => commands::cluster::run(&args),
        Command::Points(args) => commands::points::run(&args),
        Command::Segment(args) => commands::segment::run(&args),
        Command::Score(args) => commands::score::run(&args),
        Command::Choose(args) => commands::choose::run(&args),
        Command::Compare(args) => commands::compare::run(&args),
        Command::Convert(args) => commands::convert::run(&args),
        Command::Demo(args) => commands::demo::run(&args),
        Command::Completions(args) => commands::completions::run(&args),
    }
}

/// Whoever read our output has seen enough, as `head` does.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let broken = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    };
    error.chain().any(broken)
}
