//! `ncut completions`: a completion script for a shell.

use anyhow::Result;
use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs};
use crate::report::print_data;

pub(crate) fn run(args: &CompletionsArgs) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "ncut", &mut script);
    print_data(|stdout| stdout.write_all(&script))
}
