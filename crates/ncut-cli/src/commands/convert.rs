//! `ncut convert`: a graph from one format to another.

use anyhow::Result;
use ncut::io::{GraphFile, GraphFormat, convert_graph, write_graph_by};

use super::{Opened, check_outputs, open_graph, tell_header};
use crate::args::ConvertArgs;
use crate::report::{GraphReport, Summary};
use crate::signals::uninterrupted;
use crate::watch::{OnInterrupt, Watch};

pub(crate) fn run(args: &ConvertArgs) -> Result<()> {
    let summary = Summary::new(args.quiet, &[]);
    let format = GraphFormat::of(&args.output)?;
    check_outputs(&[Some(&args.input)], &[Some(&args.output)])?;
    let watch = Watch::start(args.quiet, OnInterrupt::Abandon);
    let sizes = if args.reading.memory.memory_limit.is_some() && format == GraphFormat::Binary {
        convert_within_limit(args, &summary, &watch)?
    } else {
        let Opened { file, .. } = open_graph(&args.input, &args.reading, &summary, &watch)?;
        let GraphFile { graph, names, .. } = file;
        let written = uninterrupted(|| write_graph_by(&args.output, &graph, names.as_ref(), watch.clock()));
        watch.finish();
        written?;
        if names.is_some() && !format.keeps_ids() {
            summary.line(&format!(
                "{}: this format keeps no ids; its nodes are numbers, in the order they first appear",
                args.output.display()
            ))?;
        }
        GraphReport::new(&graph, graph.components().count()).sentence()
    };
    summary.line(&format!("{}: {sizes}", args.input.display()))?;
    summary.line(&format!("{} written", args.output.display()))
}

/// Converts without ever having all edges in memory, so that nothing is told that would need them.
fn convert_within_limit(args: &ConvertArgs, summary: &Summary, watch: &Watch) -> Result<String> {
    let options = args.reading.options();
    watch.limit_memory(None);
    let converted = uninterrupted(|| convert_graph(&args.input, &args.output, &options, watch.clock()));
    watch.finish();
    let file = converted?;
    tell_header(summary, &args.input, &file)?;
    Ok(GraphReport::sizes(&file.graph))
}
