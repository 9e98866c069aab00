//! `ncut compare`: every solver on one graph, from the same start.

use std::time::Instant;

use anyhow::Result;
use ncut::hierarchy::n2hi;
use ncut::io::{GraphFile, read_labels};
use ncut::spectral::{Rival, Spectrum, SpectrumSettings, UpperBound};
use ncut::{Agreement, ClusterId, CutScore, Graph, Label, Ncut, Preset, Progress};
use serde::Serialize;

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
    largest_residual: f64,
    solvers: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    solver: String,
    objective: f64,
    ncut: f64,
    /// What is missing to the upper bound.
    gap: f64,
    smallest_share: f64,
    #[serde(flatten)]
    agreement: Option<AgreementReport>,
    seconds: f64,
}

pub(crate) fn run(args: &CompareArgs) -> Result<()> {
    let json = args.reporting.json.as_deref();
    let summary = Summary::new(args.reporting.quiet, &[json]);
    check_outputs(&[Some(&args.graph), args.truth.as_deref()], &[json])?;

    let mut watch = Watch::start(args.reporting.quiet, OnInterrupt::Abandon);
    let Opened { file, .. } = open_graph(&args.graph, &args.reading, &summary, &mut watch)?;
    let GraphFile { graph, names, .. } = file;
    let truth = match &args.truth {
        Some(path) => Some(read_labels(path, graph.n_nodes(), names.as_ref())?),
        None => None,
    };
    let contest = Contest { graph: &graph, n_clusters: args.n_clusters, truth: truth.as_deref() };
    let report = contest.run(args, &mut watch);
    watch.finish();
    let report = report.map_err(|error| error.at(&args.graph))?;

    if let Some(path) = json {
        write_json(path, &report)?;
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
}

impl Contest<'_> {
    fn run(&self, args: &CompareArgs, watch: &mut Watch) -> ncut::Result<Report> {
        let (graph, k) = (self.graph, self.n_clusters);
        // Refuses a number of clusters that makes no sense, in the words of the front door.
        Ncut::new(k).preset(Preset::Paper).max_sweeps(0).solve(graph)?;
        let started = Instant::now();
        let settings = SpectrumSettings { seed: args.seed, ..SpectrumSettings::default() };
        let spectrum = Spectrum::of(graph, k, &settings, &mut |progress| watch.observe(progress))?;
        watch.check()?;
        let spectrum_seconds = started.elapsed().as_secs_f64();
        let bound = UpperBound::from_spectrum(graph, &spectrum)?;

        let mut rows = Vec::new();
        let mut add = |solver: String, labels: &[Label], seconds: f64| -> ncut::Result<()> {
            rows.push(self.row(solver, labels, bound.value, seconds)?);
            Ok(())
        };
        let started = Instant::now();
        let start = n2hi(graph, k, &mut |progress| watch.observe(progress))?.labels;
        let start_seconds = started.elapsed().as_secs_f64();
        add("N2HI".into(), &as_labels(&start), start_seconds)?;
        let descend = |labels: &[ClusterId], watch: &mut Watch| {
            let started = Instant::now();
            let settings = Ncut::new(k).preset(Preset::Paper).init(as_labels(labels));
            let found = settings.solve_observed(graph, &mut |progress: &Progress| watch.observe(progress))?;
            Ok::<_, ncut::Error>((found.labels, started.elapsed().as_secs_f64()))
        };
        let (labels, seconds) = descend(&start, watch)?;
        add("Fast-CD".into(), &labels, start_seconds + seconds)?;
        for rival in Rival::ALL {
            let started = Instant::now();
            let labels = rival.solve(graph, &spectrum, &start)?;
            let seconds = start_seconds + spectrum_seconds + started.elapsed().as_secs_f64();
            add(rival.name().into(), &as_labels(&labels), seconds)?;
            let (refined, more) = descend(&labels, watch)?;
            add(format!("{} + Fast-CD", rival.name()), &refined, seconds + more)?;
            watch.check()?;
        }
        let presets = [Some(Preset::Fast), Some(Preset::Default), args.time_limit.map(|_| Preset::Best)];
        for preset in presets.into_iter().flatten() {
            let started = Instant::now();
            let mut settings = Ncut::new(k).preset(preset).min_share(0.0).seed(args.seed);
            if let (Preset::Best, Some(limit)) = (preset, args.time_limit) {
                settings = settings.time_limit(limit);
            }
            let found = settings.solve_observed(graph, &mut |progress| watch.observe(progress))?;
            add(format!("preset {}", preset.name()), &found.labels, started.elapsed().as_secs_f64())?;
            watch.check()?;
        }
        Ok(Report {
            graph: GraphReport::new(graph, graph.components().count()),
            n_clusters: k,
            seed: args.seed,
            bound: BoundReport::new(bound),
            spectrum_seconds,
            largest_residual: spectrum.residuals.iter().copied().fold(0.0, f64::max),
            solvers: rows,
        })
    }

    fn row(&self, solver: String, labels: &[Label], bound: f64, seconds: f64) -> ncut::Result<Row> {
        let score = CutScore::new(self.graph, labels)?;
        let agreement = match self.truth {
            Some(truth) => Some(AgreementReport::new(Agreement::new(labels, truth)?)),
            None => None,
        };
        let CutScore { objective, ncut, smallest_share, .. } = score;
        Ok(Row { solver, objective, ncut, gap: bound - objective, smallest_share, agreement, seconds })
    }
}

fn as_labels(clusters: &[ClusterId]) -> Vec<Label> {
    clusters.iter().map(|&cluster| cluster as Label).collect()
}

fn print_table(summary: &Summary, report: &Report) -> Result<()> {
    summary.line(&format!(
        "{} clusters, objective{}",
        report.n_clusters,
        report.bound.phrase().replacen(',', "", 1)
    ))?;
    let with_truth = report.solvers.iter().any(|row| row.agreement.is_some());
    let truth_title = if with_truth { "     ACC     NMI     ARI" } else { "" };
    summary.line(&format!("solver                  objective     N-Cut       gap{truth_title}   seconds"))?;
    for row in &report.solvers {
        let agreement = row.agreement.as_ref().map(AgreementReport::columns).unwrap_or_default();
        summary.line(&format!(
            "{:<20} {:>12.6} {:>9.5} {:>9.5}{agreement} {:>9.4}",
            row.solver, row.objective, row.ncut, row.gap, row.seconds
        ))?;
    }
    Ok(())
}
