//! `ncut man`: manual pages, one for each command.

use std::fs;
use std::io;

use anyhow::{Context, Result};
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use ncut::io::write_whole;

use crate::args::{Cli, ManArgs};
use crate::report::Summary;
use crate::signals::will_write;

pub(crate) fn run(args: &ManArgs) -> Result<()> {
    let summary = Summary::new(args.quiet, &[]);
    let folder = &args.folder;
    fs::create_dir_all(folder).with_context(|| format!("{}: cannot be made", folder.display()))?;
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    let pages =
        program.get_subcommands().map(|command| (format!("ncut-{}", command.get_name()), command.clone()));
    let main = ("ncut".to_owned(), program.clone());
    for (name, command) in std::iter::once(main).chain(pages) {
        let path = folder.join(format!("{name}.1"));
        will_write(&path);
        let page = page(command).with_context(|| format!("{name} has no page"))?;
        write_whole(&path, |file| io::Write::write_all(file, &page))?;
        summary.line(&format!("{} written", path.display()))?;
    }
    Ok(())
}

/// The page of one command. What stands below its options keeps its lines, for it holds tables and examples.
fn page(command: Command) -> io::Result<Vec<u8>> {
    let below = command.get_after_help().map(ToString::to_string);
    let has_commands = command.has_subcommands();
    let has_version = command.get_version().is_some();
    let man =
        Man::new(command.disable_help_subcommand(true)).source(concat!("ncut ", env!("CARGO_PKG_VERSION")));
    let man = man.manual("ncut").section("1");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if has_commands {
        man.render_subcommands_section(&mut page)?;
    }
    if let Some(below) = below {
        let mut more = Roff::new();
        more.control("SH", ["NOTES"]);
        for paragraph in below.split("\n\n") {
            more.control("PP", []);
            more.control("nf", []);
            for line in paragraph.lines() {
                more.text([roman(line)]);
            }
            more.control("fi", []);
        }
        more.to_writer(&mut page)?;
    }
    if has_version {
        man.render_version_section(&mut page)?;
    }
    Ok(page)
}
