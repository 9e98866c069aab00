//! `ncut cluster`: a graph in, labels out.

use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use ncut::io::{GraphFile, check_labels_writable, read_graph, read_labels, write_labels, write_labels_text};
use ncut::{Agreement, Clustering, Label, Ncut, StopReason};
use serde::Serialize;

use super::{check_outputs, tell_header};
use crate::args::{ClusterArgs, ComponentsArg};
use crate::report::{
    AgreementReport, CutReport, GraphReport, Seconds, Summary, counted, is_stdout, peak_memory_bytes,
    print_data, write_json,
};
use crate::watch::{OnInterrupt, Watch, uninterrupted};

#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    graph: GraphReport,
    preset: &'static str,
    min_share: f64,
    seed: u64,
    threads: u32,
    #[serde(flatten)]
    cut: CutReport,
    #[serde(flatten)]
    agreement: Option<AgreementReport>,
    stop_reason: &'static str,
    sweeps: usize,
    moves: u64,
    seconds: Seconds,
    peak_memory_bytes: Option<u64>,
}

pub(crate) fn run(args: &ClusterArgs) -> Result<()> {
    let started = Instant::now();
    let outputs = [args.output.as_deref(), args.reporting.json.as_deref()];
    let summary = Summary::new(args.reporting.quiet, &outputs);
    check_outputs(&[Some(&args.graph), args.truth.as_deref()], &outputs)?;
    if let Some(path) = args.output.as_deref().filter(|path| !is_stdout(path)) {
        check_labels_writable(path)?;
    }

    let mut watch = Watch::start(args.reporting.quiet, OnInterrupt::Keep);
    let file = read_graph(&args.graph, &args.reading.options(), &mut |progress| watch.observe(progress))?;
    tell_header(&summary, &args.graph, &file)?;
    let GraphFile { graph, names, .. } = file;
    let labels_of = |path: &Path| read_labels(path, graph.n_nodes(), names.as_ref());
    let init = args.init.as_deref().map(labels_of).transpose()?;
    let truth = args.truth.as_deref().map(labels_of).transpose()?;
    watch.check()?;
    let read = started.elapsed().as_secs_f64();

    let solving = Instant::now();
    let found = settings(args, init).solve_observed(&graph, &mut |progress| watch.observe(progress));
    watch.finish();
    let found = found.map_err(|error| match &args.init {
        Some(init) if matches!(error, ncut::Error::BadLabels { .. }) => error.at(init),
        _ => error.at(&args.graph),
    })?;
    let solve = solving.elapsed().as_secs_f64();

    // Files first: what is printed may find nobody to read it.
    let writing = Instant::now();
    let to_file = args.output.as_deref().filter(|path| !is_stdout(path));
    if let Some(path) = to_file {
        uninterrupted(|| write_labels(path, &found.labels, names.as_ref()))?;
    }
    let write = writing.elapsed().as_secs_f64();
    let agreement = match (truth, &args.truth) {
        (Some(truth), Some(path)) => {
            Some(Agreement::new(&found.labels, &truth).map_err(|error| error.at(path))?)
        }
        _ => None,
    };
    let report = Report {
        graph: GraphReport::new(&graph, found.n_components),
        preset: args.preset.preset().name(),
        min_share: args.min_share,
        seed: args.seed,
        threads: args.preset.threads(args.threads),
        cut: CutReport::new(&found.clusters, found.objective, found.ncut, found.smallest_share),
        agreement: agreement.map(AgreementReport::new),
        stop_reason: found.stop_reason.name(),
        sweeps: found.sweeps,
        moves: found.moves,
        seconds: Seconds { read, solve, write, total: started.elapsed().as_secs_f64(), ..Seconds::default() },
        peak_memory_bytes: peak_memory_bytes(),
    };
    if let Some(path) = &args.reporting.json {
        write_json(path, &report)?;
    }
    if to_file.is_none() && args.output.is_some() {
        print_data(|stdout| write_labels_text(stdout, &found.labels, names.as_ref(), '\t'))?;
    }
    print_summary(args, &summary, &report, &found)?;
    for path in outputs.into_iter().flatten().filter(|path| !is_stdout(path)) {
        summary.line(&format!("{} written", path.display()))?;
    }
    Ok(())
}

fn settings(args: &ClusterArgs, init: Option<Vec<Label>>) -> Ncut {
    let mut settings = Ncut::new(args.n_clusters)
        .preset(args.preset.preset())
        .max_sweeps(args.max_sweeps)
        .min_share(args.min_share)
        .components(args.components.choice());
    if let Some(limit) = args.time_limit {
        settings = settings.time_limit(limit);
    }
    if let Some(labels) = init {
        settings = settings.init(labels);
    }
    settings
}

fn print_summary(args: &ClusterArgs, summary: &Summary, report: &Report, found: &Clustering) -> Result<()> {
    summary.line(&format!("{}: {}", args.graph.display(), report.graph.sentence()))?;
    let work = counted(found.sweeps, "sweep");
    summary.line(&format!("{}, {work} in {:.2} s", report.cut.sentence(), report.seconds.solve))?;
    match args.components {
        ComponentsArg::All => {
            if let Some(remark) = report.cut.whole_components(found.n_components) {
                summary.line(&remark)?;
            }
        }
        ComponentsArg::Largest => {
            let inside = report.cut.n_labelled();
            let outside = counted(report.graph.n_nodes() - inside, "node");
            summary.line(&format!(
                "the largest component has {}; {outside} outside it are labelled -1",
                counted(inside, "node")
            ))?;
        }
    }
    match found.stop_reason {
        StopReason::TimeLimit => summary.line("stopped by the time limit: this is the best so far")?,
        StopReason::Cancelled => summary.line("stopped by Ctrl-C: this is the best so far")?,
        StopReason::SweepLimit => summary.line("stopped by --max-sweeps: more sweeps may improve it")?,
        _ => {}
    }
    if let (Some(agreement), Some(truth)) = (&report.agreement, &args.truth) {
        summary.line(&agreement.sentence(truth, report.graph.n_nodes()))?;
    }
    Ok(())
}
