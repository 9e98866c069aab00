//! `ncut convert`: a graph from one format to another.

use anyhow::Result;
use ncut::io::{GraphFile, GraphFormat, write_graph};

use super::{Opened, check_outputs, open_graph};
use crate::args::ConvertArgs;
use crate::report::{GraphReport, Summary};
use crate::watch::{OnInterrupt, Watch, uninterrupted};

pub(crate) fn run(args: &ConvertArgs) -> Result<()> {
    let summary = Summary::new(args.quiet, &[]);
    GraphFormat::of(&args.output)?;
    check_outputs(&[Some(&args.input)], &[Some(&args.output)])?;
    let mut watch = Watch::start(args.quiet, OnInterrupt::Abandon);
    let Opened { file, .. } = open_graph(&args.input, &args.reading, &summary, &mut watch)?;
    watch.finish();
    let GraphFile { graph, names, .. } = file;
    uninterrupted(|| write_graph(&args.output, &graph, names.as_ref()))?;
    let report = GraphReport::new(&graph, graph.components().count());
    summary.line(&format!("{}: {}", args.input.display(), report.sentence()))?;
    summary.line(&format!("{} written", args.output.display()))
}
