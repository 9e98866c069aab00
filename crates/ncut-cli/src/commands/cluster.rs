//! `ncut cluster`: a graph in, labels out.

use std::time::Instant;

use anyhow::Result;

use super::labelling::{Job, prepare};
use super::{Opened, open_graph};
use crate::args::ClusterArgs;
use crate::report::Summary;
use crate::watch::{OnInterrupt, Watch};

pub(crate) fn run(args: &ClusterArgs) -> Result<()> {
    let started = Instant::now();
    let json = args.reporting.json.as_deref();
    let summary = Summary::new(args.reporting.quiet, &[args.labelling.output.as_deref(), json]);
    args.solving.check()?;
    prepare(&args.graph, &args.labelling, &args.steering, &args.page, &[json])?;

    let watch = Watch::start(args.reporting.quiet, OnInterrupt::Keep);
    let Opened { file, seconds } = open_graph(&args.graph, &args.reading, &summary, &watch)?;
    watch.limit(args.solving.time_limit);
    let job = Job {
        command: "cluster",
        input: &args.graph,
        graph: &file.graph,
        names: file.names.as_ref(),
        points: None,
        known: None,
        made: Vec::new(),
        solving: &args.solving,
        steering: &args.steering,
        labelling: &args.labelling,
        reporting: &args.reporting,
        page: &args.page,
        summary: &summary,
        started,
        seconds,
    };
    job.run(&watch)
}
