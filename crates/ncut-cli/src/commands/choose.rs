//! `ncut choose`: a graph in, a suggestion of the number of clusters out.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use ncut::io::{GraphFile, write_whole};
use ncut::{CountCurve, CountReason, CountRow, CountRule, Ncut, ObjectiveKind, Page, StopReason};
use serde::Serialize;

use super::steering::{constraints, named};
use super::{Opened, check_drawing, check_outputs, open_graph};
use crate::args::ChooseArgs;
use crate::page::{check_page, node_name, title, write_page};
use crate::report::{GraphReport, Summary, counted, is_stdout, print_data, stopped_by, write_json};
use crate::signals::uninterrupted;
use crate::svg::{Canvas, Curve};
use crate::watch::{OnInterrupt, Watch};

#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    graph: GraphReport,
    /// Whatever the range, unless the rule is the gap.
    suggested: usize,
    rule: &'static str,
    reason: String,
    in_range: bool,
    /// The number of the range that is nearest to the suggestion.
    best_in_range: usize,
    by_eigengap: Option<usize>,
    /// Why the smaller numbers were made by merging alone, if they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_reason: Option<&'static str>,
    curve: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    n_clusters: usize,
    objective: f64,
    ncut: f64,
    gap: Option<f64>,
    turn: Option<f64>,
    eigenvalue: Option<f64>,
    eigengap: Option<f64>,
}

impl Row {
    fn new(row: &CountRow) -> Self {
        let &CountRow { n_clusters, objective, gap, turn, eigenvalue, eigengap, .. } = row;
        Self { n_clusters, objective, ncut: n_clusters as f64 - objective, gap, turn, eigenvalue, eigengap }
    }
}

pub(crate) fn run(args: &ChooseArgs) -> Result<()> {
    let (picture, json) = (args.output.as_deref(), args.reporting.json.as_deref());
    let summary = Summary::new(args.reporting.quiet, &[picture, json]);
    let inputs: Vec<Option<&Path>> =
        [Some(args.graph.as_path())].into_iter().chain(args.steering.files()).collect();
    let page = args.page.report.as_deref();
    check_page(&args.page)?;
    check_outputs(&inputs, &[picture, json, page])?;
    picture.map(check_drawing).transpose()?;

    let watch = Watch::start(args.reporting.quiet, OnInterrupt::Keep);
    let Opened { file, .. } = open_graph(&args.graph, &args.reading, &summary, &watch)?;
    let GraphFile { graph, names, .. } = file;
    let constraints = constraints(&args.steering, graph.n_nodes(), names.as_ref())?;
    watch.check()?;
    watch.limit(args.time_limit);
    let settings = Ncut::new(1).seed(args.seed).count_rule(args.rule.rule()).constraints(constraints);
    let settings = match args.min_share {
        Some(min_share) => settings.min_share(min_share),
        None => settings,
    };
    let to = args.to.min(graph.n_nodes());
    let curve = settings.choose(&graph, args.from..=to, watch.clock());
    watch.finish();
    let curve = curve.map_err(|error| named(error, names.as_ref()).at(&args.graph))?;

    let report = Report {
        graph: GraphReport::new(&graph, graph.components().count()),
        suggested: curve.suggested,
        rule: curve.rule.name(),
        reason: reason(&curve),
        in_range: curve.suggested == curve.best_in_range,
        best_in_range: curve.best_in_range,
        by_eigengap: curve.by_eigengap,
        stop_reason: curve.stopped.map(StopReason::name),
        curve: curve.rows.iter().map(Row::new).collect(),
    };
    if let Some(path) = json {
        write_json(path, "choose", &args.graph, &report)?;
    }
    if let Some(path) = picture {
        let drawing = draw(&curve);
        match is_stdout(path) {
            true => print_data(|stdout| stdout.write_all(drawing.as_bytes()))?,
            false => uninterrupted(|| write_whole(path, |file| file.write_all(drawing.as_bytes())))?,
        }
    }
    if let (Some(path), Some(last)) = (page, curve.rows.last()) {
        let name = node_name(names.as_ref());
        let mut page = Page::new(title(&args.graph), &graph, &last.labels);
        page.name = names.is_some().then_some(&name);
        page.curve = Some((&curve).into());
        page.reason = Some(report.reason.clone());
        page.asked = vec![
            ("Command".to_owned(), "ncut choose".to_owned()),
            ("Range".to_owned(), format!("{} to {to}", args.from)),
            ("Rule".to_owned(), report.rule.to_owned()),
            ("Objective".to_owned(), ObjectiveKind::default().name().to_owned()),
            ("Seed".to_owned(), args.seed.to_string()),
        ];
        write_page(path, &page, watch.clock().memory())?;
    }
    summary.line(&format!("{}: {}", args.graph.display(), report.graph.sentence()))?;
    print_table(&summary, &report)?;
    match report.suggested {
        1 if curve.rule == CountRule::Boundaries => {
            summary.line(&format!("suggested: 1 cluster. The data show no clusters, {}", report.reason))?;
        }
        suggested => {
            summary.line(&format!("suggested: {}, {}", counted(suggested, "cluster"), report.reason))?;
        }
    }
    if !report.in_range {
        summary.line(&format!(
            "that is outside the range {} to {to}; of the range {} is nearest by the same rule",
            args.from, report.best_in_range
        ))?;
    }
    if let Some(by_eigengap) = report.by_eigengap {
        summary.line(&format!("the largest eigengap is after {by_eigengap}"))?;
    }
    if let Some(reason) = curve.stopped {
        let why = stopped_by(reason);
        summary.line(&format!(
            "cut short by {why}: what was not reached by then comes from merging alone, so the suggestion is rough"
        ))?;
    }
    for path in [picture, page, json].into_iter().flatten().filter(|path| !is_stdout(path)) {
        summary.line(&format!("{} written", path.display()))?;
    }
    Ok(())
}

fn reason(curve: &CountCurve) -> String {
    match curve.reason {
        CountReason::Turn(turn) => {
            let gap = |k: usize| curve.rows.iter().find(|row| row.n_clusters == k).and_then(|row| row.gap);
            match (gap(curve.suggested), gap(curve.suggested + 1)) {
                (Some(last), Some(next)) => format!(
                    "the last of which gains {last:.4} while another would gain {next:.4} (turn {turn:.2})"
                ),
                _ => format!("after which the gain falls most (turn {turn:.2})"),
            }
        }
        other => other.to_string(),
    }
}

fn print_table(summary: &Summary, report: &Report) -> Result<()> {
    let shown =
        |value: Option<f64>, digits: usize| value.map_or("-".into(), |value| format!("{value:.digits$}"));
    summary.line("     k   objective     N-Cut      gap   turn  eigenvalue  eigengap")?;
    for row in &report.curve {
        let mark = if row.n_clusters == report.suggested { '*' } else { ' ' };
        summary.line(&format!(
            "{mark} {:>4} {:>11.4} {:>9.4} {:>8} {:>6} {:>11} {:>9}",
            row.n_clusters,
            row.objective,
            row.ncut,
            shown(row.gap, 4),
            shown(row.turn, 2),
            shown(row.eigenvalue, 6),
            shown(row.eigengap, 6)
        ))?;
    }
    Ok(())
}

fn draw(curve: &CountCurve) -> String {
    let first = curve.rows.first().map_or(1, |row| row.n_clusters);
    let mut canvas = Canvas::new(660.0, 360.0);
    let objectives: Vec<f64> = curve.rows.iter().map(|row| row.objective).collect();
    let gaps: Vec<f64> = curve.rows.iter().map(|row| row.gap.unwrap_or(1.0)).collect();
    let panel = |values| Curve { x_label: "clusters k", y_label: "", first, values, marked: curve.suggested };
    canvas.panel(20.0, "Objective").curve(&panel(&objectives));
    canvas.panel(350.0, "What the last cluster gained").curve(&panel(&gaps));
    canvas.finish()
}
