//! The command line of ncut: flags and glue around the library.

mod args;
mod commands;
mod report;
mod svg;
mod watch;

use std::io;
use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};

/// Exit code for input that was refused.
const REFUSED: u8 = 1;
/// Exit code after an interrupt that left no result.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        Command::Cluster(args) => commands::cluster::run(&args),
        Command::Score(args) => commands::score::run(&args),
        Command::Convert(args) => commands::convert::run(&args),
        Command::Demo(args) => commands::demo::run(&args),
        Command::Completions(args) => commands::completions::run(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ncut: {error:#}");
            let cancelled = matches!(error.downcast_ref(), Some(ncut::Error::Cancelled));
            ExitCode::from(if cancelled { INTERRUPTED } else { REFUSED })
        }
    }
}

/// Whoever read our output has seen enough, as `head` does.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
