//! `ncut score`: a graph and labels in, their cut values out.

use std::path::Path;

use anyhow::Result;
use ncut::io::{GraphFile, read_classes, read_labels, write_confidence};
use ncut::{Agreement, Confidence};
use serde::Serialize;

use super::labelling::TOLD_CLUSTERS;
use super::steering::{ViolationReport, constraints, named};
use super::{Opened, check_outputs, open_graph};
use crate::args::ScoreArgs;
use crate::report::{AgreementReport, CutReport, GraphReport, Summary, is_stdout, write_json};
use crate::signals::uninterrupted;
use crate::watch::{OnInterrupt, Watch};

#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    graph: GraphReport,
    #[serde(flatten)]
    cut: CutReport,
    #[serde(flatten)]
    agreement: Option<AgreementReport>,
    #[serde(flatten)]
    violations: Option<ViolationReport>,
}

pub(crate) fn run(args: &ScoreArgs) -> Result<()> {
    let outputs = [args.reporting.json.as_deref(), args.confidence.as_deref()];
    let summary = Summary::new(args.reporting.quiet, &outputs);
    let inputs = [Some(args.graph.as_path()), Some(&args.labels), args.truth.as_deref()];
    let inputs: Vec<Option<&Path>> = inputs.into_iter().chain(args.steering.files()).collect();
    check_outputs(&inputs, &outputs)?;

    let watch = Watch::start(args.reporting.quiet, OnInterrupt::Abandon);
    let Opened { file, .. } = open_graph(&args.graph, &args.reading, &summary, &watch)?;
    watch.finish();
    let GraphFile { graph, names, .. } = file;
    let labels = read_labels(&args.labels, graph.n_nodes(), names.as_ref())?;
    let kind = args.objective.kind();
    let constraints = constraints(&args.steering, graph.n_nodes(), names.as_ref())?;
    let score = constraints.score(kind, &graph, &labels).map_err(|error| error.at(&args.labels))?;
    let violations = match constraints.is_empty() {
        true => None,
        false => {
            let violations = constraints.violations(kind, &graph, &labels);
            Some(violations.map_err(|error| named(error, names.as_ref()).at(&args.labels))?)
        }
    };
    let agreement = match &args.truth {
        Some(path) => {
            let truth = read_classes(path, graph.n_nodes(), names.as_ref())?;
            Some(Agreement::new(&labels, &truth).map_err(|error| error.at(path))?)
        }
        None => None,
    };

    let n_components = graph.components().count();
    let report = Report {
        graph: GraphReport::new(&graph, n_components),
        cut: CutReport::new(&score, kind),
        agreement: agreement.map(AgreementReport::new),
        violations: violations.as_ref().map(ViolationReport::new),
    };
    if let Some(path) = &args.confidence {
        let sure = Confidence::of(&graph, &labels, kind, TOLD_CLUSTERS)?;
        uninterrupted(|| write_confidence(path, &labels, &sure, names.as_ref()))?;
    }
    if let Some(path) = &args.reporting.json {
        write_json(path, "score", &args.graph, &report)?;
    }
    summary.line(&format!("{}: {}", args.graph.display(), report.graph.sentence()))?;
    summary.line(&format!("{}: {}", args.labels.display(), report.cut.sentence()))?;
    if let Some(remark) = report.cut.disconnected() {
        summary.line(&remark)?;
    }
    if let (Some(agreement), Some(truth)) = (&report.agreement, &args.truth) {
        summary.line(&agreement.sentence(truth, graph.n_nodes()))?;
    }
    if let Some(violations) = &report.violations {
        summary.line(&violations.sentence())?;
    }
    let written = [args.confidence.as_deref(), args.reporting.json.as_deref()];
    for path in written.into_iter().flatten().filter(|path| !is_stdout(path)) {
        summary.line(&format!("{} written", path.display()))?;
    }
    Ok(())
}
