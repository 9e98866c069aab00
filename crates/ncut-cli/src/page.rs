//! Pages to look at.

use std::io::Write;
use std::path::Path;

use anyhow::{Result, bail};
use ncut::io::{Names, write_whole};
use ncut::{Clock, NodeId, Page};

use crate::UsageError;
use crate::args::{Count, PageArgs, SolvingArgs};
use crate::report::{descriptor, is_stdout};
use crate::signals::uninterrupted;

/// Refuses a page whose name promises something else, before any work is done.
pub(crate) fn check_page(args: &PageArgs) -> Result<()> {
    let Some(path) = args.report.as_deref() else { return Ok(()) };
    if is_stdout(path) {
        let problem = "--report needs a file of its own; standard output is for labels and summaries";
        return Err(UsageError(problem.to_owned()).into());
    }
    let ending = path.extension().map(std::ffi::OsStr::to_ascii_lowercase);
    let is_page = ending.is_some_and(|ending| ending == "html" || ending == "htm");
    if !is_page && descriptor(path).is_none() {
        bail!("{}: the report is a page for a browser; choose a name that ends in .html", path.display());
    }
    Ok(())
}

/// What a page about an input is called.
pub(crate) fn title(input: &Path) -> String {
    match input.file_name() {
        Some(name) if input != Path::new("-") => name.to_string_lossy().into_owned(),
        _ => "standard input".to_owned(),
    }
}

/// What nodes are called, where they have names.
pub(crate) fn node_name(names: Option<&Names>) -> impl Fn(NodeId) -> String {
    move |node| names.map_or_else(String::new, |names| names.get(node).into_owned())
}

/// What was asked for; `made` is how the graph was made, and `n_clusters` how many came out.
pub(crate) fn asked(
    command: &str,
    solving: &SolvingArgs,
    n_clusters: usize,
    made: impl IntoIterator<Item = (&'static str, String)>,
) -> Vec<(String, String)> {
    let share = match solving.min_share() {
        0.0 => "0: none is asked for".to_owned(),
        share => format!("{share} of the mean volume"),
    };
    let clusters = match solving.n_clusters {
        Some(Count::Exactly(_)) => n_clusters.to_string(),
        _ => format!("{n_clusters}, found out"),
    };
    let first = [("Command", format!("ncut {command}")), ("Clusters", clusters)];
    let last = [
        ("Preset", solving.preset.preset().name().to_owned()),
        ("Objective", solving.objective.kind().name().to_owned()),
        ("Smallest share", share),
        ("Connected", if solving.is_connected() { "yes" } else { "no" }.to_owned()),
        ("Seed", solving.seed.to_string()),
    ];
    let pairs = first.into_iter().chain(made).chain(last);
    pairs.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Makes a page and writes it, whole or not at all. Time limits are over by now: a page takes seconds at the most.
pub(crate) fn write_page(path: &Path, page: &Page<'_>, memory: Option<u64>) -> Result<()> {
    let clock = Clock::new();
    clock.allow_memory(memory.unwrap_or(u64::MAX));
    let html = page.html(&clock)?;
    uninterrupted(|| write_whole(path, |file| file.write_all(html.as_bytes())))?;
    Ok(())
}
