//! `ncut compare`: every solver on one graph, from the same start.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use ncut::hierarchy::n2hi;
use ncut::io::{GraphFile, read_named_classes};
use ncut::spectral::{BalancedCut, Distance, LaplacianRank, Rival, Spectrum, SpectrumSettings, UpperBound};
use ncut::{
    Agreement, Clock, ClusterId, Constraints, CutScore, Graph, Label, Ncut, ObjectiveKind, Page, Preset,
    Solver, StopReason, Stopped,
};
use serde::Serialize;

use super::steering::{constraints, named};
use super::{Opened, check_outputs, open_graph};
use crate::args::CompareArgs;
use crate::page::{check_page, node_name, title, write_page};
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
    /// Solvers that cannot do it on this graph, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refused: Vec<Refused>,
    solvers: Vec<Row>,
}

#[derive(Serialize)]
struct Refused {
    solver: String,
    reason: String,
}

/// How an iteration of another model ended.
#[derive(Clone, Copy, Default, Serialize)]
struct Iteration {
    rounds: usize,
    /// Components of the graph that was learned.
    #[serde(skip_serializing_if = "Option::is_none")]
    n_components: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lambda: Option<f64>,
    /// Steps of all rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<usize>,
    /// How far its two halves are apart at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    residual: Option<f64>,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    iteration: Option<Iteration>,
    #[serde(skip)]
    labels: Vec<Label>,
    #[serde(skip)]
    compared: Option<Agreement>,
}

impl Row {
    /// What a page tells.
    fn solver(&self) -> Solver {
        let mut remark = if self.is_cut_short { "cut short" } else { "" }.to_owned();
        if let Some(n_violations) = self.n_violations.filter(|&count| count > 0) {
            remark = format!("{n_violations} wishes not kept");
        }
        Solver {
            name: self.solver.clone(),
            labels: self.labels.clone(),
            objective: self.objective,
            ncut: self.ncut,
            smallest_share: self.smallest_share,
            gap: self.gap,
            agreement: self.compared,
            seconds: self.seconds,
            remark,
        }
    }
}

pub(crate) fn run(args: &CompareArgs) -> Result<()> {
    let json = args.reporting.json.as_deref();
    let summary = Summary::new(args.reporting.quiet, &[json]);
    let inputs = [Some(args.graph.as_path()), args.truth.as_deref()];
    let inputs: Vec<Option<&Path>> = inputs.into_iter().chain(args.steering.files()).collect();
    let page = args.page.report.as_deref();
    check_page(&args.page)?;
    check_outputs(&inputs, &[json, page])?;

    let watch = Watch::start(args.reporting.quiet, OnInterrupt::Keep);
    let Opened { file, .. } = open_graph(&args.graph, &args.reading, &summary, &watch)?;
    let GraphFile { graph, names, .. } = file;
    let truth = match &args.truth {
        Some(path) => Some(read_named_classes(path, graph.n_nodes(), names.as_ref())?),
        None => None,
    };
    watch.check()?;
    watch.limit(args.time_limit);
    let constraints = constraints(&args.steering, graph.n_nodes(), names.as_ref())?;
    let contest = Contest {
        graph: &graph,
        n_clusters: args.n_clusters,
        truth: truth.as_ref().map(|truth| &truth.labels[..]),
        constraints: &constraints,
    };
    let report = contest.run(args, &watch);
    watch.finish();
    let report = report.map_err(|error| named(error, names.as_ref()).at(&args.graph))?;

    if let Some(path) = json {
        write_json(path, "compare", &args.graph, &report)?;
    }
    if let Some(path) = page {
        let solvers: Vec<Solver> = report.solvers.iter().map(Row::solver).collect();
        // The first of the highest objective, as the page has it.
        let before = |best: &Row, row: &Row| row.objective <= best.objective;
        let best = report.solvers.iter().reduce(|best, row| if before(best, row) { best } else { row });
        let name = node_name(names.as_ref());
        let labels = best.map_or(&[][..], |best| &best.labels);
        let mut page = Page::new(title(&args.graph), &graph, labels);
        page.name = names.is_some().then_some(&name);
        page.bound = report.bound.value_and_certainty();
        page.solvers = &solvers;
        page.truth = truth.as_ref().map(|truth| (&truth.labels[..], &truth.names[..]));
        page.asked = vec![
            ("Command".to_owned(), "ncut compare".to_owned()),
            ("Clusters".to_owned(), args.n_clusters.to_string()),
            ("Objective".to_owned(), ObjectiveKind::NormalizedCut.name().to_owned()),
            ("Smallest share".to_owned(), "0: none is asked for".to_owned()),
            ("Seed".to_owned(), args.seed.to_string()),
        ];
        write_page(path, &page, watch.clock().memory())?;
    }
    summary.line(&format!("{}: {}", args.graph.display(), report.graph.sentence()))?;
    print_table(&summary, &report)?;
    for path in [page, json].into_iter().flatten().filter(|path| !is_stdout(path)) {
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
        let mut table = Table::new(self);
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

        let mut of_presets = Table::new(self);
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
        if args.all {
            self.add_other_models(&mut table, &start, start_seconds, args.seed, clock)?;
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
            refused: table.refused,
            solvers,
        })
    }

    /// Models of clustering other than N-Cut: a graph that is learned, a balanced cut.
    fn add_other_models(
        &self,
        table: &mut Table<'_>,
        start: &[ClusterId],
        start_seconds: f64,
        seed: u64,
        clock: &Clock<'_>,
    ) -> ncut::Result<()> {
        let (graph, k) = (self.graph, self.n_clusters);
        for (name, distance) in [("CLR-l1", Distance::L1), ("CLR-l2", Distance::L2)] {
            let started = Instant::now();
            let spectrum = SpectrumSettings { seed, ..SpectrumSettings::default() };
            let settings = LaplacianRank { spectrum, ..LaplacianRank::new(k, distance) };
            let learned = match settings.run(graph, clock) {
                Err(ncut::Error::Stopped { .. }) => {
                    table.left_out.push(name.to_owned());
                    continue;
                }
                Err(error) => {
                    table.refused.push(Refused { solver: name.to_owned(), reason: error.to_string() });
                    continue;
                }
                Ok(learned) if learned.n_components != k => {
                    let (found, rounds) = (learned.n_components, learned.rounds);
                    let reason = format!("its graph has {found} components after {rounds} rounds, not {k}");
                    table.refused.push(Refused { solver: name.to_owned(), reason });
                    continue;
                }
                Ok(learned) => learned,
            };
            let seconds = started.elapsed().as_secs_f64();
            table.add(name.to_owned(), &as_labels(&learned.labels), seconds, false)?;
            table.iterated(Iteration {
                rounds: learned.rounds,
                n_components: Some(learned.n_components),
                lambda: Some(learned.lambda),
                ..Iteration::default()
            });
            // The learned graph as one to cluster: the share keeps its components from being slivers.
            let found = Ncut::new(k).seed(seed).solve_by(&learned.graph, clock)?;
            let seconds = started.elapsed().as_secs_f64();
            table.add(format!("{name} + search"), &found.labels, seconds, clock.is_stopped())?;
        }
        let started = Instant::now();
        match BalancedCut::default().run(graph, k, start, clock) {
            Err(ncut::Error::Stopped { .. }) => table.left_out.push("SBMC".to_owned()),
            Err(error) => return Err(error),
            Ok(found) => {
                let seconds = start_seconds + started.elapsed().as_secs_f64();
                table.add("SBMC".to_owned(), &as_labels(&found.labels), seconds, false)?;
                table.iterated(Iteration {
                    rounds: found.rounds,
                    steps: Some(found.steps),
                    residual: Some(found.residual),
                    ..Iteration::default()
                });
            }
        }
        Ok(())
    }

    fn row(&self, solver: String, labels: &[Label], seconds: f64, is_cut_short: bool) -> ncut::Result<Row> {
        let score = CutScore::new(self.graph, labels)?;
        let compared = self.truth.map(|truth| Agreement::new(labels, truth)).transpose()?;
        let agreement = compared.map(AgreementReport::new);
        let n_violations = match self.constraints.is_empty() {
            true => None,
            false => {
                Some(self.constraints.violations(ObjectiveKind::NormalizedCut, self.graph, labels)?.count())
            }
        };
        let CutScore { objective, ncut, smallest_share, .. } = score;
        let (gap, iteration) = (None, None);
        Ok(Row {
            solver,
            objective,
            ncut,
            gap,
            smallest_share,
            n_violations,
            agreement,
            seconds,
            is_cut_short,
            iteration,
            labels: labels.to_vec(),
            compared,
        })
    }
}

/// Solvers that were run, and those there was no time for.
struct Table<'c> {
    contest: &'c Contest<'c>,
    rows: Vec<Row>,
    left_out: Vec<String>,
    refused: Vec<Refused>,
}

impl<'c> Table<'c> {
    fn new(contest: &'c Contest<'c>) -> Self {
        Self { contest, rows: Vec::new(), left_out: Vec::new(), refused: Vec::new() }
    }

    /// Tells how the iteration behind the last row ended.
    fn iterated(&mut self, iteration: Iteration) {
        if let Some(row) = self.rows.last_mut() {
            row.iteration = Some(iteration);
        }
    }

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
    for Refused { solver, reason } in &report.refused {
        summary.line(&format!("{solver} is left out: {reason}"))?;
    }
    if !report.left_out.is_empty() {
        summary.line(&format!("no time was left for {}", report.left_out.join(", ")))?;
    }
    Ok(())
}
