//! `ncut score`: a graph and labels in, their cut values out.

use anyhow::Result;
use ncut::io::{GraphFile, read_labels};
use ncut::{Agreement, CutScore};
use serde::Serialize;

use super::{Opened, check_outputs, open_graph};
use crate::args::ScoreArgs;
use crate::report::{AgreementReport, CutReport, GraphReport, Summary, is_stdout, write_json};
use crate::watch::{OnInterrupt, Watch};

#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    graph: GraphReport,
    #[serde(flatten)]
    cut: CutReport,
    #[serde(flatten)]
    agreement: Option<AgreementReport>,
}

pub(crate) fn run(args: &ScoreArgs) -> Result<()> {
    let outputs = [args.reporting.json.as_deref()];
    let summary = Summary::new(args.reporting.quiet, &outputs);
    check_outputs(&[Some(&args.graph), Some(&args.labels), args.truth.as_deref()], &outputs)?;

    let watch = Watch::start(args.reporting.quiet, OnInterrupt::Abandon);
    let Opened { file, .. } = open_graph(&args.graph, &args.reading, &summary, &watch)?;
    watch.finish();
    let GraphFile { graph, names, .. } = file;
    let labels = read_labels(&args.labels, graph.n_nodes(), names.as_ref())?;
    let kind = args.objective.kind();
    let score = CutScore::by(kind, &graph, &labels).map_err(|error| error.at(&args.labels))?;
    let agreement = match &args.truth {
        Some(path) => {
            let truth = read_labels(path, graph.n_nodes(), names.as_ref())?;
            Some(Agreement::new(&labels, &truth).map_err(|error| error.at(path))?)
        }
        None => None,
    };

    let n_components = graph.components().count();
    let report = Report {
        graph: GraphReport::new(&graph, n_components),
        cut: CutReport::new(&score, kind),
        agreement: agreement.map(AgreementReport::new),
    };
    if let Some(path) = &args.reporting.json {
        write_json(path, &report)?;
    }
    summary.line(&format!("{}: {}", args.graph.display(), report.graph.sentence()))?;
    summary.line(&format!("{}: {}", args.labels.display(), report.cut.sentence()))?;
    if let Some(remark) = report.cut.disconnected() {
        summary.line(&remark)?;
    }
    if let (Some(agreement), Some(truth)) = (&report.agreement, &args.truth) {
        summary.line(&agreement.sentence(truth, graph.n_nodes()))?;
    }
    if let Some(path) = args.reporting.json.as_deref().filter(|path| !is_stdout(path)) {
        summary.line(&format!("{} written", path.display()))?;
    }
    Ok(())
}
