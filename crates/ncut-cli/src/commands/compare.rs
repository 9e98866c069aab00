//! `ncut compare`: every solver on one graph, from the same start.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use ncut::hierarchy::n2hi;
use ncut::io::{GraphFile, read_classes};
use ncut::spectral::{Rival, Spectrum, SpectrumSettings, UpperBound};
use ncut::{
    Agreement, Clock, ClusterId, Constraints, CutScore, Graph, Label, Ncut, ObjectiveKind, Preset, StopReason, Stopped,
};
use serde::Serialize;

use super::steering::{constraints, named};
use super::{Opened, check_outputs, open_graph};
use crate::args::CompareArgs;
use crate::report::{AgreementReport, BoundReport, GraphReport, Summary, is_stdout, write_json};
use crate::watch::{OnInterrupt, Watch};

#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    graph: GraphReport,
    n_clusters: usize,
    seed: u64,
    #[serde(flatten)]
    bound: BoundReport,
    /// Seconds the eigenvectors took, which the relaxed solvers include.
    spectrum_seconds: f64,
    largest_residual: Option<f64>,
    /// Why solvers are cut short or left out, if any are.
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_reason: Option<&'static str>,
    left_out: Vec<String>,
    solvers: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    solver: String,
    objective: f64,
    ncut: f64,
    /// What is missing to the upper bound, where that is known.
    gap: Option<f64>,
    smallest_share: f64,
    /// Wishes that are not kept, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    n_violations: Option<usize>,
    #[serde(flatten)]
    agreement: Option<AgreementReport>,
    seconds: f64,
    /// Whether this is only the best so far.
    is_cut_short: bool,
}

pub(crate) fn run(args: &CompareArgs) -> Result<()> {
    let json = args.reporting.json.as_deref();
    let summary = Summary::new(args.reporting.quiet, &[json]);
    let inputs = [Some(args.graph.as_path()), args.truth.as_deref()];
    let inputs: Vec<Option<&Path>> = inputs.into_iter().chain(args.steering.files()).collect();
    check_outputs(&inputs, &[json])?;

    let watch = Watch::start(args.reporting.quiet, OnInterrupt::Keep);
    let Opened { file, .. } = open_graph(&args.graph, &args.reading, &summary, &watch)?;
    let GraphFile { graph, names, .. } = file;
    let truth = match &args.truth {
        Some(path) => Some(read_classes(path, graph.n_nodes(), names.as_ref())?),
        None => None,
    };
    watch.check()?;
    watch.limit(args.time_limit);
    let constraints = constraints(&args.steering, graph.n_nodes(), names.as_ref())?;
    let contest =
        Contest { graph: &graph, n_clusters: args.n_clusters, truth: truth.as_deref(), constraints: &constraints };
    let report = contest.run(args, &watch);
    watch.finish();
    let report = report.map_err(|error| named(error, names.as_ref()).at(&args.graph))?;

    if let Some(path) = json {
        write_json(path, "compare", &args.graph, &report)?;
    }
    summary.line(&format!("{}: {}", args.graph.display(), report.graph.sentence()))?;
    print_table(&summary, &report)?;
    if let Some(path) = json.filter(|path| !is_stdout(path)) {
        summary.line(&format!("{} written", path.display()))?;
    }
    Ok(())
}

/// What all solvers are given.
struct Contest<'a> {
    graph: &'a Graph<'a>,
    n_clusters: usize,
    truth: Option<&'a [Label]>,
    /// What the presets obey; the other solvers know nothing of the kind.
    constraints: &'a Constraints,
}

impl Contest<'_> {
    /// Solvers that need no eigenvectors go first: where time is short they are what can be compared.
    fn run(&self, args: &CompareArgs, watch: &Watch) -> ncut::Result<Report> {
        let (graph, k, clock) = (self.graph, self.n_clusters, watch.clock());
        // Refuses a number of clusters that makes no sense, in the words of the front door.
        let unlimited = Clock::new();
        unlimited.allow_memory(clock.memory().unwrap_or(u64::MAX));
        Ncut::new(k).preset(Preset::Paper).max_sweeps(0).solve_by(graph, &unlimited)?;
        let mut table = Table { contest: self, rows: Vec::new(), left_out: Vec::new() };
        let started = Instant::now();
        let initial = n2hi(graph, k, clock)?;
        let (start, start_seconds) = (initial.labels, started.elapsed().as_secs_f64());
        table.add("N2HI".into(), &as_labels(&start), start_seconds, initial.stopped.is_some())?;
        let descend = |labels: &[ClusterId]| {
            let started = Instant::now();
            let settings = Ncut::new(k).preset(Preset::Paper).init(as_labels(labels));
            let found = settings.solve_by(graph, clock)?;
            Ok::<_, ncut::Error>((found.labels, started.elapsed().as_secs_f64(), clock.is_stopped()))
        };
        let (labels, seconds, is_cut_short) = descend(&start)?;
        table.add("Fast-CD".into(), &labels, start_seconds + seconds, is_cut_short)?;

        let mut of_presets = Table { contest: self, rows: Vec::new(), left_out: Vec::new() };
        for preset in [Preset::Fast, Preset::Default, Preset::Best] {
            let own_clock = Clock::observed(|progress| match clock.report(progress) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            });
            own_clock.allow_memory(clock.memory().unwrap_or(u64::MAX));
            match (preset, args.best) {
                (Preset::Best, None) => continue,
                (Preset::Best, Some(limit)) => own_clock.limit(limit),
                _ => {}
            }
            let name = format!("preset {}", preset.name());
            if clock.is_stopped() {
                of_presets.left_out.push(name);
                continue;
            }
            let started = Instant::now();
            let settings = Ncut::new(k).preset(preset).min_share(0.0).seed(args.seed);
            let settings = settings.constraints(self.constraints.clone());
            let found = settings.solve_by(graph, &own_clock)?;
            of_presets.add(name, &found.labels, started.elapsed().as_secs_f64(), clock.is_stopped())?;
        }

        let started = Instant::now();
        let settings = SpectrumSettings { seed: args.seed, ..SpectrumSettings::default() };
        let spectrum = match clock.stopped() {
            Some(stopped) => Err(stopped.into()),
            None => Spectrum::of(graph, k, &settings, clock),
        };
        let spectrum_seconds = started.elapsed().as_secs_f64();
        let (bound, residual) = match &spectrum {
            Ok(spectrum) => {
                let residual = spectrum.residuals.iter().copied().fold(0.0, f64::max);
                (BoundReport::new(UpperBound::from_spectrum(graph, spectrum, clock)?), Some(residual))
            }
            Err(ncut::Error::Stopped { reason }) => (BoundReport::stopped(*reason), None),
            Err(_) => (BoundReport::stopped(StopReason::Cancelled), None),
        };
        for rival in Rival::ALL {
            let refined = format!("{} + Fast-CD", rival.name());
            let started = Instant::now();
            let labels = match &spectrum {
                Ok(spectrum) if !clock.is_stopped() => rival.solve(graph, spectrum, &start, clock),
                _ => Err(ncut::Error::Stopped { reason: StopReason::TimeLimit }),
            };
            let labels = match labels {
                Err(ncut::Error::Stopped { .. }) => {
                    table.left_out.extend([rival.name().to_owned(), refined]);
                    continue;
                }
                labels => labels?,
            };
            let seconds = start_seconds + spectrum_seconds + started.elapsed().as_secs_f64();
            table.add(rival.name().into(), &as_labels(&labels), seconds, false)?;
            let (labels, more, is_cut_short) = descend(&labels)?;
            table.add(refined, &labels, seconds + more, is_cut_short)?;
        }
        // Errors other than being stopped are told.
        if let Err(error) = spectrum
            && !matches!(error, ncut::Error::Stopped { .. })
        {
            return Err(error);
        }
        let mut solvers = table.rows;
        solvers.extend(of_presets.rows);
        for row in &mut solvers {
            row.gap = bound.value().map(|bound| bound - row.objective);
        }
        let mut left_out = table.left_out;
        left_out.extend(of_presets.left_out);
        Ok(Report {
            graph: GraphReport::new(graph, graph.components().count()),
            n_clusters: k,
            seed: args.seed,
            bound,
            spectrum_seconds,
            largest_residual: residual,
            stop_reason: clock.stopped().map(|Stopped(reason)| reason.name()),
            left_out,
            solvers,
        })
    }

    fn row(&self, solver: String, labels: &[Label], seconds: f64, is_cut_short: bool) -> ncut::Result<Row> {
        let score = CutScore::new(self.graph, labels)?;
        let agreement = match self.truth {
            Some(truth) => Some(AgreementReport::new(Agreement::new(labels, truth)?)),
            None => None,
        };
        let n_violations = match self.constraints.is_empty() {
            true => None,
            false => Some(self.constraints.violations(ObjectiveKind::NormalizedCut, self.graph, labels)?.count()),
        };
        let CutScore { objective, ncut, smallest_share, .. } = score;
        let gap = None;
        Ok(Row { solver, objective, ncut, gap, smallest_share, n_violations, agreement, seconds, is_cut_short })
    }
}

/// Solvers that were run, and those there was no time for.
struct Table<'c> {
    contest: &'c Contest<'c>,
    rows: Vec<Row>,
    left_out: Vec<String>,
}

impl Table<'_> {
    fn add(
        &mut self,
        solver: String,
        labels: &[Label],
        seconds: f64,
        is_cut_short: bool,
    ) -> ncut::Result<()> {
        self.rows.push(self.contest.row(solver, labels, seconds, is_cut_short)?);
        Ok(())
    }
}

fn as_labels(clusters: &[ClusterId]) -> Vec<Label> {
    clusters.iter().map(|&cluster| cluster as Label).collect()
}

fn print_table(summary: &Summary, report: &Report) -> Result<()> {
    let bound = match report.bound.value() {
        Some(_) => report.bound.phrase().replacen(',', "", 1),
        None => " without an upper bound".to_owned(),
    };
    summary.line(&format!("{} clusters, objective{bound}", report.n_clusters))?;
    let with_truth = report.solvers.iter().any(|row| row.agreement.is_some());
    let truth_title = if with_truth { "     ACC     NMI     ARI" } else { "" };
    summary.line(&format!("solver                  objective     N-Cut       gap{truth_title}   seconds"))?;
    for row in &report.solvers {
        let agreement = row.agreement.as_ref().map(AgreementReport::columns).unwrap_or_default();
        let gap = row.gap.map_or("-".to_owned(), |gap| format!("{gap:.5}"));
        let mut remark = if row.is_cut_short { "  cut short" } else { "" }.to_owned();
        if let Some(n_violations) = row.n_violations.filter(|&count| count > 0) {
            let wishes = if n_violations == 1 { "wish" } else { "wishes" };
            remark.push_str(&format!("  {n_violations} {wishes} not kept"));
        }
        summary.line(&format!(
            "{:<20} {:>12.6} {:>9.5} {gap:>9}{agreement} {:>9.4}{remark}",
            row.solver, row.objective, row.ncut, row.seconds
        ))?;
    }
    if let Some(remark) = report.bound.stop_remark() {
        summary.line(&remark)?;
    }
    if !report.left_out.is_empty() {
        summary.line(&format!("no time was left for {}", report.left_out.join(", ")))?;
    }
    Ok(())
}
