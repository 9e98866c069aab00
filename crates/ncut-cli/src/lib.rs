//! The command line of ncut: flags and glue around the library. A library of its own for `main.rs`, for the program that
//! comes with the Python package, and for tests; what it promises are commands, not functions.

mod allocation;
mod args;
mod bugs;
mod commands;
mod counting;
mod page;
mod report;
mod signals;
mod standard_output;
mod svg;
mod threads;
mod watch;

use std::ffi::OsString;
use std::io::{self, Write};

use clap::Parser;

pub use allocation::NotingAllocator;
use args::{Cli, Command};
use bugs::{Bug, catch_bugs};

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
/// Exit code for input that was refused, and for output that could not be written.
const REFUSED: u8 = 1;
/// Exit code for a bug of ours, `EX_SOFTWARE` of sysexits.
const BUG: u8 = 70;
/// Exit code after an interrupt that left no result.
const INTERRUPTED: u8 = 130;

/// The program: what its arguments ask for, its own name first. It takes over the signals and the threads of the process,
/// and returns the exit code that the process is to end with.
pub fn program(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    allocation::end_without_signal();
    // Threads take over which signals are blocked, so that listening comes first.
    signals::listen();
    let code = run(arguments, threads::start);
    signals::wait_if_ending();
    code
}

/// One command: what `arguments` ask for, the name of the program first. `start_threads` is told how many threads are
/// allowed. Returns the exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>, start_threads: impl FnOnce(Option<u32>)) -> u8 {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(answer) => return print_answer(&answer),
    };
    start_threads(cli.command.threads());
    let is_trusting = cli.command.trusts_files();
    match catch_bugs(|| run_command(cli.command)) {
        Ok(()) => 0,
        Err(error) if is_closed_pipe(&error) => 0,
        // Files that nobody verified may break any promise.
        Err(error) if is_trusting && error.is::<Bug>() => {
            tell("the graph is not what its file should hold; the file is damaged: run without --verify=no");
            REFUSED
        }
        Err(error) => {
            tell(&with_options(&error));
            if is_interrupt(&error) {
                INTERRUPTED
            } else if error.is::<UsageError>() {
                USAGE
            } else if error.is::<Bug>() {
                BUG
            } else {
                REFUSED
            }
        }
    }
}

/// The text of an error, settings called as they are typed here.
fn with_options(error: &anyhow::Error) -> String {
    let text = format!("{error:#}").replace("(`symmetrize`: ", "(--symmetrize ");
    let mut found = error.downcast_ref::<ncut::Error>();
    while let Some(ncut::Error::InFile { error, .. }) = found {
        found = Some(error);
    }
    let Some(ncut::Error::BadSetting { name, .. }) = found else { return text };
    let option = match *name {
        "n_neighbors" => "--neighbors".to_owned(),
        "n_clusters" => "-k".to_owned(),
        "min_share" | "max_share" | "objective" | "preset" | "stay" | "blur" | "scale" => {
            format!("--{}", name.replace('_', "-"))
        }
        _ => return text,
    };
    text.replacen(&format!("{name} is "), &format!("{option} is "), 1)
}

/// Says something on standard error. Where that cannot be written the exit code has to do.
fn tell(message: &str) {
    let _ = writeln!(io::stderr(), "ncut: {message}");
}

/// Prints a help text, the version, or what is wrong with a call; returns the exit code.
fn print_answer(answer: &clap::Error) -> u8 {
    let is_error = answer.use_stderr();
    let printed = match is_error {
        true => answer.print(),
        false => standard_output::open().and_then(|mut stdout| {
            answer.print()?;
            stdout.flush()
        }),
    };
    match printed {
        _ if is_error => USAGE,
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            tell(&format!("standard output cannot be written: {error}"));
            REFUSED
        }
        _ => 0,
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

fn run_command(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Cluster(args) => commands::cluster::run(&args),
        Command::Points(args) => commands::points::run(&args),
        Command::Segment(args) => commands::segment::run(&args),
        Command::Score(args) => commands::score::run(&args),
        Command::Choose(args) => commands::choose::run(&args),
        Command::Compare(args) => commands::compare::run(&args),
        Command::Update(args) => commands::update::run(&args),
        Command::Convert(args) => commands::convert::run(&args),
        Command::Demo(args) => commands::demo::run(&args),
        Command::Completions(args) => commands::completions::run(&args),
        Command::Man(args) => commands::man::run(&args),
    }
}

/// Whoever read our output has seen enough, as `head` does.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let broken = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    };
    error.chain().any(broken)
}
