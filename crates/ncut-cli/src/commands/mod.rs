//! The commands: read, call the library, write.

pub(crate) mod choose;
pub(crate) mod cluster;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod demo;
mod labelling;
pub(crate) mod man;
pub(crate) mod points;
pub(crate) mod score;
pub(crate) mod segment;
mod steering;
pub(crate) mod update;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Result, bail};
use ncut::io::{
    GraphFile, Names, are_written_with_graph, check_writable, read_graph, write_labelled_graph, write_labels,
};
use ncut::spectral::{Spectrum, SpectrumSettings, UpperBound};
use ncut::{ComponentChoice, Graph, Label, Ncut};

use crate::UsageError;
use crate::args::{Count, ReadingArgs, SolvingArgs};
use crate::report::{BoundReport, Seconds, Summary, descriptor, is_stdout};
use crate::signals::will_write;
use crate::watch::Watch;

/// Refuses outputs that cannot be written, overwrite an input or each other, before any work is done.
fn check_outputs(inputs: &[Option<&Path>], outputs: &[Option<&Path>]) -> Result<()> {
    let outputs: Vec<&Path> = outputs.iter().copied().flatten().collect();
    for (place, output) in outputs.iter().enumerate() {
        if outputs[..place].iter().any(|other| is_same(other, output)) {
            let output =
                if is_stdout(output) { "standard output".into() } else { output.display().to_string() };
            return Err(UsageError(format!("two outputs go to {output}; give them different names")).into());
        }
        if is_stdout(output) {
            continue;
        }
        if inputs.iter().flatten().any(|input| is_same(input, output)) {
            bail!("{}: the output would overwrite the input; give it another name", output.display());
        }
    }
    let n_standard = inputs.iter().flatten().filter(|input| descriptor(input) == Some(0)).count();
    if n_standard > 1 {
        return Err(
            UsageError("only one input can be standard input; give the others names".to_owned()).into()
        );
    }
    for output in outputs.into_iter().filter(|output| !is_stdout(output)) {
        check_writable(output)?;
        will_write(output);
    }
    Ok(())
}

/// Refuses a drawing whose name promises another kind of picture than SVG.
fn check_drawing(path: &Path) -> Result<()> {
    let ending = path.extension().map(std::ffi::OsStr::to_ascii_lowercase);
    match ending {
        Some(ending) if ending != "svg" && descriptor(path).is_none() => {
            bail!("{}: the drawing is SVG; choose a name that ends in .svg", path.display())
        }
        _ => Ok(()),
    }
}

/// Whether two names stand for one file or pipe, or both for standard output. Devices such as `/dev/null` take anything.
fn is_same(a: &Path, b: &Path) -> bool {
    if is_stdout(a) || is_stdout(b) {
        return is_stdout(a) && is_stdout(b);
    }
    if let (Some(a), Some(b)) = (descriptor(a), descriptor(b)) {
        return a == b;
    }
    match (fs::canonicalize(a), fs::canonicalize(b)) {
        (Ok(a), Ok(b)) => a == b && !is_device(&a),
        // Files that are yet to be: the same name in the same folder.
        (Err(_), Err(_)) => a.file_name() == b.file_name() && folder(a) == folder(b),
        _ => false,
    }
}

fn is_device(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        fs::metadata(path).is_ok_and(|data| data.file_type().is_char_device())
    }
    #[cfg(not(unix))]
    {
        !path.is_file()
    }
}

/// The folder a file is in, where there is one.
fn folder(file: &Path) -> Option<PathBuf> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()
}

/// A graph from a file, and the time that took.
struct Opened {
    file: GraphFile,
    seconds: Seconds,
}

/// Reads a graph, or maps it and makes sure that the file is whole.
fn open_graph(path: &Path, reading: &ReadingArgs, summary: &Summary, watch: &Watch) -> Result<Opened> {
    let started = Instant::now();
    // What was asked for is among the options: edges beyond it go to files, so it is no limit for all that is read.
    match reading.memory.memory_limit {
        Some(_) => watch.limit_memory(None),
        None => watch.limit_reading(path, None),
    }
    let file = read_graph(path, &reading.options(), watch.clock())?;
    watch.check()?;
    let read = started.elapsed().as_secs_f64();
    tell_header(summary, path, &file)?;
    file.verify(watch.clock()).map_err(|error| error.at(path))?;
    let verify = started.elapsed().as_secs_f64() - read;
    watch.limit_memory(reading.memory.memory_limit);
    Ok(Opened { file, seconds: Seconds { read, verify, ..Seconds::default() } })
}

/// Writes labels to a file; with the graph, where its format holds both.
fn write_labels_to(
    path: &Path,
    graph: &Graph<'_>,
    names: Option<&Names>,
    labels: &[Label],
) -> ncut::Result<()> {
    match are_written_with_graph(path) {
        true => write_labelled_graph(path, graph, names, labels),
        false => write_labels(path, labels, names),
    }
}

/// Refuses a bound that needs too much memory, before there are labels to be lost.
fn check_bound(graph: &Graph<'_>, solving: &SolvingArgs, watch: &Watch) -> ncut::Result<()> {
    let n_clusters = match solving.n_clusters {
        Some(Count::Exactly(n_clusters)) => n_clusters,
        Some(Count::Auto) | None => Ncut::MAX_SUGGESTED,
    };
    let needed = Spectrum::memory_needed(graph, n_clusters.min(graph.n_nodes()));
    match watch.clock().memory() {
        Some(limit) if solving.bound && needed > limit => {
            let (what, limit, remedy) = ("the bound", Some(limit), "do without --bound");
            Err(ncut::Error::TooLittleMemory { what, needed, limit, remedy })
        }
        _ => Ok(()),
    }
}

/// The upper bound of what was clustered, where it is asked for and there is time for it.
fn upper_bound(
    graph: &Graph<'_>,
    n_clusters: usize,
    components: ComponentChoice,
    solving: &SolvingArgs,
    watch: &Watch,
) -> ncut::Result<Option<BoundReport>> {
    if !solving.bound {
        return Ok(None);
    }
    let part = match components {
        ComponentChoice::All => None,
        ComponentChoice::Largest => Some(graph.induced(&graph.components().largest())?),
    };
    let settings = SpectrumSettings { seed: solving.seed, ..SpectrumSettings::default() };
    let (graph, kind) = (part.as_ref().unwrap_or(graph), solving.objective.kind());
    let bound = UpperBound::by(kind, graph, n_clusters, &settings, watch.clock());
    watch.finish();
    match bound {
        Ok(bound) => Ok(Some(BoundReport::new(bound))),
        Err(ncut::Error::Stopped { reason }) => Ok(Some(BoundReport::stopped(reason))),
        Err(error) => Err(error),
    }
}

/// Tells that the first line was taken for a header, which a typing error can cause, and what was not read.
fn tell_header(summary: &Summary, path: &Path, file: &GraphFile) -> Result<()> {
    let path = path.display();
    if let Some(line) = &file.header {
        summary.line(&format!(
            "{path}: the first line, `{line}`, is taken for a header (--header no reads it as an edge)"
        ))?;
    }
    if let Some([from, to]) = file.first_edge_alone() {
        summary.line(&format!(
            "{path}: the first edge, `{from}` to `{to}`, names nodes that no other edge names (--header yes if they are a header)"
        ))?;
    }
    match &file.ignored_columns[..] {
        [] => Ok(()),
        [column] => {
            summary.line(&format!("{path}: column `{column}` is not read (--columns names those to read)"))
        }
        columns => {
            let columns = columns.join("`, `");
            summary.line(&format!("{path}: columns `{columns}` are not read (--columns names those to read)"))
        }
    }
}
