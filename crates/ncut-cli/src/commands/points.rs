//! `ncut points`: a table of points in, labels out.

use std::time::Instant;

use anyhow::Result;
use ncut::io::{GraphFormat, TableFile, read_described_table, write_graph};

use super::labelling::{Job, prepare};
use crate::args::PointsArgs;
use crate::report::{Seconds, Summary, counted, grouped};
use crate::signals::uninterrupted;
use crate::watch::{OnInterrupt, Watch};

pub(crate) fn run(args: &PointsArgs) -> Result<()> {
    let started = Instant::now();
    let (json, graph_out) = (args.reporting.json.as_deref(), args.graph_out.as_deref());
    let summary = Summary::new(args.reporting.quiet, &[args.labelling.output.as_deref(), json]);
    args.solving.check()?;
    graph_out.map(GraphFormat::of).transpose()?;
    prepare(&args.table, &args.labelling, &args.steering, &args.page, &[json, graph_out])?;

    let watch = Watch::start(args.reporting.quiet, OnInterrupt::Keep);
    watch.limit_reading(&args.table, args.memory.memory_limit);
    let TableFile { mut table, names, classes } =
        read_described_table(&args.table, &args.describing.options(), watch.clock())?;
    if args.describing.standardize {
        table.standardize();
    }
    watch.check()?;
    let read = started.elapsed().as_secs_f64();
    watch.limit(args.solving.time_limit);

    let building = Instant::now();
    watch.limit_memory(args.memory.memory_limit);
    let (settings, points) = (args.neighbors.graph(args.solving.seed), table.points());
    let graph = settings.build(points, watch.clock());
    let graph = graph.map_err(|error| error.at(&args.table))?;
    watch.check()?;
    let build = building.elapsed().as_secs_f64();
    let size = format!("{} with {}", counted(table.n_rows(), "point"), counted(table.n_columns(), "feature"));
    let method = if settings.is_exact(points) { "exact" } else { "approximate" };
    // Only a page tells what the points are.
    let table = Some(table).filter(|_| args.page.report.is_some());

    let writing = Instant::now();
    if let Some(path) = graph_out {
        uninterrupted(|| write_graph(path, &graph, names.as_ref()))?;
    }
    let write = writing.elapsed().as_secs_f64();
    summary.line(&format!(
        "{}: {size}, {} {method} neighbours in {build:.2} s",
        args.table.display(),
        grouped(args.neighbors.count())
    ))?;
    if let Some(path) = graph_out {
        summary.line(&format!("{} written", path.display()))?;
    }
    watch.limit_memory(args.memory.memory_limit);
    let job = Job {
        command: "points",
        input: &args.table,
        graph: &graph,
        names: names.as_ref(),
        points: table.as_ref().map(|table| (table.points(), table.column_names())),
        made: {
            let standardized = args.describing.standardize.then(|| ("Features", "standardized".to_owned()));
            args.neighbors.described().into_iter().chain(standardized).collect()
        },
        known: classes.map(|classes| (classes, args.describing.truth_column.clone().unwrap_or_default())),
        solving: &args.solving,
        steering: &args.steering,
        labelling: &args.labelling,
        reporting: &args.reporting,
        page: &args.page,
        summary: &summary,
        started,
        seconds: Seconds { read, build, write, ..Seconds::default() },
    };
    job.run(&watch)
}
