//! `ncut cluster`: a graph in, labels out.

use std::time::Instant;

use anyhow::Result;
use ncut::io::read_graph;

use super::labelling::{Job, prepare};
use super::tell_header;
use crate::args::ClusterArgs;
use crate::report::{Seconds, Summary};
use crate::watch::{OnInterrupt, Watch};

pub(crate) fn run(args: &ClusterArgs) -> Result<()> {
    let started = Instant::now();
    let json = args.reporting.json.as_deref();
    let summary = Summary::new(args.reporting.quiet, &[args.labelling.output.as_deref(), json]);
    prepare(&args.graph, &args.labelling, &[json])?;

    let mut watch = Watch::start(args.reporting.quiet, OnInterrupt::Keep);
    let file = read_graph(&args.graph, &args.reading.options(), &mut |progress| watch.observe(progress))?;
    watch.check()?;
    tell_header(&summary, &args.graph, &file)?;
    let job = Job {
        input: &args.graph,
        graph: &file.graph,
        names: file.names.as_ref(),
        solving: &args.solving,
        labelling: &args.labelling,
        reporting: &args.reporting,
        summary: &summary,
        started,
        seconds: Seconds { read: started.elapsed().as_secs_f64(), ..Seconds::default() },
    };
    job.run(&mut watch)
}
