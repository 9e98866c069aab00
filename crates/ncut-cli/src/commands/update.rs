//! `ncut update`: old labels and a changed graph in, labels with the same numbers out.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use ncut::io::{
    GraphFile, Names, OldLabels, check_labels_writable, read_classes, read_old_labels, write_labels_text,
};
use ncut::{Agreement, Before, Label, NodeId, Updated};
use serde::Serialize;

use super::{Opened, check_outputs, open_graph, write_labels_to};
use crate::args::UpdateArgs;
use crate::report::{
    AgreementReport, CutReport, GraphReport, Seconds, Summary, counted, is_stdout, peak_memory_bytes,
    print_data, stop_remark, write_json,
};
use crate::signals::uninterrupted;
use crate::watch::{OnInterrupt, Watch};

#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    graph: GraphReport,
    objective_name: &'static str,
    stay: f64,
    #[serde(flatten)]
    cut: CutReport,
    #[serde(flatten)]
    agreement: Option<AgreementReport>,
    n_moved: usize,
    n_new: usize,
    n_gone: usize,
    moved: Vec<MovedReport>,
    new: Vec<NewReport>,
    gone: Vec<NewReport>,
    vanished_clusters: Vec<Label>,
    new_clusters: Vec<Label>,
    stop_reason: &'static str,
    sweeps: usize,
    moves: u64,
    seconds: Seconds,
    peak_memory_bytes: Option<u64>,
}

/// A node that changed its cluster.
#[derive(Serialize)]
struct MovedReport {
    node: String,
    from: Label,
    to: Label,
}

/// A node that came, or went.
#[derive(Serialize)]
struct NewReport {
    node: String,
    label: Label,
}

pub(crate) fn run(args: &UpdateArgs) -> Result<()> {
    let started = Instant::now();
    let (output, json) = (args.output.as_deref(), args.reporting.json.as_deref());
    let summary = Summary::new(args.reporting.quiet, &[output, json]);
    check_outputs(&[Some(&args.graph), Some(&args.old), args.truth.as_deref()], &[output, json])?;
    if let Some(path) = output.filter(|path| !is_stdout(path)) {
        check_labels_writable(path)?;
    }
    let watch = Watch::start(args.reporting.quiet, OnInterrupt::Keep);
    let Opened { file, mut seconds } = open_graph(&args.graph, &args.reading, &summary, &watch)?;
    watch.limit(args.time_limit);
    let GraphFile { graph, names, .. } = file;
    let names = names.as_ref();
    let reading = Instant::now();
    let OldLabels { labels, gone, .. } = read_old_labels(&args.old, graph.n_nodes(), names)?;
    let truth = args.truth.as_deref().map(|path| read_classes(path, graph.n_nodes(), names)).transpose()?;
    seconds.read += reading.elapsed().as_secs_f64();
    watch.check()?;

    let solving = Instant::now();
    let before =
        Before { labels, gone: gone.iter().map(|&(_, label)| label).filter(|&label| label >= 0).collect() };
    let found = args.settings().update(&graph, &before, args.stay, watch.clock());
    watch.finish();
    let found = found.map_err(|error| match error {
        ncut::Error::BadLabels { .. } => error.at(&args.old),
        _ => error.at(&args.graph),
    })?;
    seconds.solve = solving.elapsed().as_secs_f64();

    let writing = Instant::now();
    let to_file = output.filter(|path| !is_stdout(path));
    if let Some(path) = to_file {
        uninterrupted(|| write_labels_to(path, &graph, names, &found.labels))?;
    }
    seconds.write += writing.elapsed().as_secs_f64();
    let agreement = match (&truth, &args.truth) {
        (Some(truth), Some(path)) => {
            Some(Agreement::new(&found.labels, truth).map_err(|error| error.at(path))?)
        }
        _ => None,
    };
    seconds.total = started.elapsed().as_secs_f64();
    let name = |node: NodeId| name_of(node, names);
    let kind = args.objective.kind();
    let report = Report {
        graph: GraphReport::new(&graph, found.n_components),
        objective_name: kind.name(),
        stay: args.stay,
        cut: CutReport::new(&found.score, kind),
        agreement: agreement.map(AgreementReport::new),
        n_moved: found.moved.len(),
        n_new: found.new.len(),
        n_gone: gone.len(),
        moved: found
            .moved
            .iter()
            .map(|&node| MovedReport {
                node: name(node),
                from: before.labels[node as usize],
                to: found.labels[node as usize],
            })
            .collect(),
        new: found
            .new
            .iter()
            .map(|&node| NewReport { node: name(node), label: found.labels[node as usize] })
            .collect(),
        gone: gone.into_iter().map(|(node, label)| NewReport { node, label }).collect(),
        vanished_clusters: found.vanished.clone(),
        new_clusters: found.appeared.clone(),
        stop_reason: found.stop_reason.name(),
        sweeps: found.sweeps,
        moves: found.moves,
        seconds,
        peak_memory_bytes: peak_memory_bytes(),
    };
    if let Some(path) = json {
        write_json(path, "update", &args.graph, &report)?;
    }
    if output.is_some() && to_file.is_none() {
        print_data(|stdout| write_labels_text(stdout, &found.labels, names, '\t'))?;
    }
    print_summary(args, &summary, &report, &found)?;
    for path in [to_file, json.filter(|path| !is_stdout(path))].into_iter().flatten() {
        summary.line(&format!("{} written", path.display()))?;
    }
    Ok(())
}

fn name_of(node: NodeId, names: Option<&Names>) -> String {
    names.map_or_else(|| node.to_string(), |names| names.get(node).into_owned())
}

fn print_summary(args: &UpdateArgs, summary: &Summary, report: &Report, found: &Updated) -> Result<()> {
    summary.line(&format!("{}: {}", args.graph.display(), report.graph.sentence()))?;
    summary.line(&format!("{} in {:.2} s", report.cut.sentence(), report.seconds.solve))?;
    let n_known = report.graph.n_nodes() - report.n_new;
    let percent = 100.0 * report.n_moved as f64 / n_known.max(1) as f64;
    summary.line(&format!(
        "{}: {} moved to another cluster ({percent:.1} % of those known), {} new, {} gone",
        args.old.display(),
        counted(report.n_moved, "node"),
        report.n_new,
        report.n_gone
    ))?;
    for (numbers, what) in [(&found.vanished, "no more"), (&found.appeared, "new")] {
        if !numbers.is_empty() {
            summary.line(&format!("clusters that are {what}: {}", listed(numbers)))?;
        }
    }
    for remark in
        [report.cut.disconnected(), stop_remark(found.stop_reason).map(str::to_owned)].into_iter().flatten()
    {
        summary.line(&remark)?;
    }
    if let (Some(agreement), Some(truth)) = (&report.agreement, &args.truth) {
        summary.line(&agreement.sentence(Path::new(truth), report.graph.n_nodes()))?;
    }
    Ok(())
}

fn listed(numbers: &[Label]) -> String {
    const MAX_TOLD: usize = 20;
    let told: BTreeMap<Label, String> =
        numbers.iter().take(MAX_TOLD).map(|&number| (number, number.to_string())).collect();
    let more = if numbers.len() > MAX_TOLD { ", …" } else { "" };
    format!("{}{more}", told.into_values().collect::<Vec<_>>().join(", "))
}
