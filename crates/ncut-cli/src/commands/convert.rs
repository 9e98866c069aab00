//! `ncut convert`: a graph from one format to another.

use anyhow::Result;
use ncut::io::{GraphFile, GraphFormat, check_writable, read_graph, write_graph};

use crate::args::ConvertArgs;
use crate::report::{GraphReport, Summary};
use crate::watch::Watch;

pub(crate) fn run(args: &ConvertArgs) -> Result<()> {
    let summary = Summary::new(args.quiet, &[]);
    GraphFormat::of(&args.output)?;
    check_writable(&args.output)?;
    let mut watch = Watch::start(args.quiet);
    let GraphFile { graph, names } =
        read_graph(&args.input, &args.reading.options(), &mut |progress| watch.observe(progress))?;
    watch.finish();
    write_graph(&args.output, &graph, names.as_ref())?;
    let report = GraphReport::new(&graph, graph.components().count());
    summary.line(&format!("{}: {}", args.input.display(), report.sentence()))?;
    summary.line(&format!("{} written", args.output.display()))
}
