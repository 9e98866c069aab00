//! `ncut cluster`: a graph in, labels out.

use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use ncut::io::{
    GraphFile, Names, check_labels_writable, read_graph, read_labels, write_labels, write_labels_text,
};
use ncut::{Agreement, Clustering, Label, Ncut};

use super::{check_outputs, tell_header};
use crate::args::{ClusterArgs, ComponentsArg};
use crate::report::{
    AgreementReport, ClusteringReport, Seconds, Summary, counted, is_stdout, peak_memory_bytes, print_data,
    stop_remark, write_json,
};
use crate::watch::{OnInterrupt, Watch};

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

    let agreement = match (truth, &args.truth) {
        (Some(truth), Some(path)) => {
            Some(Agreement::new(&found.labels, &truth).map_err(|error| error.at(path))?)
        }
        _ => None,
    };
    let seconds = Seconds { read, solve, ..Seconds::default() };
    let mut report = ClusteringReport::new(&graph, &args.solving, &found, seconds)?;
    report.agreement = agreement.map(AgreementReport::new);
    print_summary(args, &summary, &report, &found)?;

    let writing = Instant::now();
    if let Some(path) = &args.output {
        put_labels(path, &found.labels, names.as_ref())?;
        if !is_stdout(path) {
            summary.line(&format!("{} written", path.display()))?;
        }
    }
    if let Some(path) = &args.reporting.json {
        report.seconds.write = writing.elapsed().as_secs_f64();
        report.seconds.total = started.elapsed().as_secs_f64();
        report.peak_memory_bytes = peak_memory_bytes();
        write_json(path, &report)?;
        if !is_stdout(path) {
            summary.line(&format!("{} written", path.display()))?;
        }
    }
    Ok(())
}

fn settings(args: &ClusterArgs, init: Option<Vec<Label>>) -> Ncut {
    let settings = args.solving.settings().components(args.components.choice());
    match init {
        Some(labels) => settings.init(labels),
        None => settings,
    }
}

fn print_summary(
    args: &ClusterArgs,
    summary: &Summary,
    report: &ClusteringReport,
    found: &Clustering,
) -> Result<()> {
    summary.line(&format!("{}: {}", args.graph.display(), report.graph.sentence()))?;
    summary.line(&report.sentence())?;
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
    if let Some(remark) = stop_remark(found.stop_reason) {
        summary.line(remark)?;
    }
    if let (Some(agreement), Some(truth)) = (&report.agreement, &args.truth) {
        summary.line(&agreement.sentence(truth, report.graph.n_nodes()))?;
    }
    Ok(())
}

fn put_labels(path: &Path, labels: &[Label], names: Option<&Names>) -> Result<()> {
    if is_stdout(path) {
        return print_data(|stdout| write_labels_text(stdout, labels, names, '\t'));
    }
    Ok(write_labels(path, labels, names)?)
}
