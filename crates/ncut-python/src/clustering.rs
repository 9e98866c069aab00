//! Graphs in, labels and scores out.

use std::time::Duration;

use ncut::descent::StoppingRule;
use ncut::hierarchy::{Merge, MergeTree};
use ncut::spectral::{SpectrumSettings, UpperBound};
use ncut::{
    Agreement, Before, ClusterSummary, ComponentChoice, Confidence, Constraints, CountRow, CountRule,
    CutScore, Label, Ncut, NodeId, ObjectiveKind, Preset,
};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::LabelArray;
use crate::bugs::caught;
use crate::graph::GraphSource;
use crate::running::run;
use crate::{named, refused};

const PRESETS: [(&str, Preset); 4] =
    [("paper", Preset::Paper), ("fast", Preset::Fast), ("default", Preset::Default), ("best", Preset::Best)];
const RULES: [(&str, CountRule); 2] = [("boundaries", CountRule::Boundaries), ("gap", CountRule::Gap)];

pub(crate) const OBJECTIVES: [(&str, ObjectiveKind); 3] = [
    ("ncut", ObjectiveKind::NormalizedCut),
    ("ratio_cut", ObjectiveKind::RatioCut),
    ("modularity", ObjectiveKind::Modularity),
];
const COMPONENTS: [(&str, ComponentChoice); 2] =
    [("all", ComponentChoice::All), ("largest", ComponentChoice::Largest)];

/// Clusters in columns: label, size, weight, share, volume, association, inside, conductance, number of pieces.
type ClusterColumns<'py> = (
    Bound<'py, PyArray1<Label>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<i64>>,
);

fn columns<'py>(py: Python<'py>, clusters: &[ClusterSummary]) -> ClusterColumns<'py> {
    (
        clusters.iter().map(|cluster| cluster.label).collect::<Vec<_>>().into_pyarray(py),
        clusters.iter().map(|cluster| cluster.size as i64).collect::<Vec<_>>().into_pyarray(py),
        clusters.iter().map(|cluster| cluster.weight).collect::<Vec<_>>().into_pyarray(py),
        clusters.iter().map(|cluster| cluster.share).collect::<Vec<_>>().into_pyarray(py),
        clusters.iter().map(|cluster| cluster.volume).collect::<Vec<_>>().into_pyarray(py),
        clusters.iter().map(|cluster| cluster.association).collect::<Vec<_>>().into_pyarray(py),
        clusters.iter().map(|cluster| cluster.inside).collect::<Vec<_>>().into_pyarray(py),
        clusters.iter().map(|cluster| cluster.conductance).collect::<Vec<_>>().into_pyarray(py),
        clusters.iter().map(|cluster| cluster.n_pieces as i64).collect::<Vec<_>>().into_pyarray(py),
    )
}

/// What the solver is asked for.
#[derive(FromPyObject)]
pub(crate) struct Settings<'py> {
    #[pyo3(item)]
    /// None: to be found out, or any number.
    n_clusters: Option<usize>,
    /// Whether there may be any number.
    #[pyo3(item)]
    is_free: bool,
    #[pyo3(item)]
    resolution: Option<f64>,
    #[pyo3(item)]
    preset: String,
    #[pyo3(item)]
    objective: String,
    #[pyo3(item)]
    min_share: Option<f64>,
    #[pyo3(item)]
    connected: Option<bool>,
    #[pyo3(item)]
    components: String,
    #[pyo3(item)]
    init: Option<LabelArray<'py>>,
    #[pyo3(item)]
    time_limit: Option<f64>,
    #[pyo3(item)]
    max_iter: usize,
    #[pyo3(item)]
    tol: f64,
    #[pyo3(item)]
    seed: u64,
    #[pyo3(item)]
    rule: String,
    #[pyo3(item)]
    fixed: Option<LabelArray<'py>>,
    /// Both nodes of every pair, one pair after the other.
    #[pyo3(item)]
    must_link: Option<PyReadonlyArray1<'py, i64>>,
    #[pyo3(item)]
    cannot_link: Option<PyReadonlyArray1<'py, i64>>,
    #[pyo3(item)]
    max_share: Option<f64>,
    #[pyo3(item)]
    node_weight: Option<PyReadonlyArray1<'py, f64>>,
}

/// Pairs of nodes from numbers one after the other.
fn pairs(name: &str, numbers: &PyReadonlyArray1<'_, i64>) -> PyResult<Vec<(NodeId, NodeId)>> {
    let node = |&number: &i64| {
        let problem =
            || PyValueError::new_err(format!("{name} names node {number}; nodes are numbers from 0 up"));
        NodeId::try_from(number).map_err(|_| problem())
    };
    numbers.as_slice()?.chunks_exact(2).map(|pair| Ok((node(&pair[0])?, node(&pair[1])?))).collect()
}

impl Settings<'_> {
    fn ncut(&self) -> PyResult<Ncut> {
        let number = || if self.is_free { Ncut::communities(1.0) } else { Ncut::auto() };
        let mut ncut = self
            .n_clusters
            .map_or_else(number, Ncut::new)
            .preset(named("preset", &self.preset, &PRESETS)?)
            .objective(named("objective", &self.objective, &OBJECTIVES)?)
            .components(named("components", &self.components, &COMPONENTS)?)
            .count_rule(named("rule", &self.rule, &RULES)?)
            .max_sweeps(self.max_iter)
            .tolerance(self.tol)
            .seed(self.seed);
        if let Some(resolution) = self.resolution {
            ncut = ncut.resolution(resolution);
        }
        if let Some(min_share) = self.min_share {
            ncut = ncut.min_share(min_share);
        }
        if let Some(connected) = self.connected {
            ncut = ncut.connected(connected);
        }
        ncut = ncut.constraints(self.constraints()?);
        if let Some(init) = &self.init {
            ncut = ncut.init(init.as_slice()?.to_vec());
        }
        if let Some(seconds) = self.time_limit {
            if seconds.is_nan() || seconds < 0.0 {
                let problem = format!("time_limit is {seconds}; it must be a number of seconds, 0 or more");
                return Err(PyValueError::new_err(problem));
            }
            // A limit too long for the clock is no limit.
            ncut = Duration::try_from_secs_f64(seconds).map_or(ncut.clone(), |limit| ncut.time_limit(limit));
        }
        Ok(ncut)
    }

    fn constraints(&self) -> PyResult<Constraints> {
        let mut constraints = Constraints::new();
        if let Some(fixed) = &self.fixed {
            constraints = constraints.fixed(fixed.as_slice()?.to_vec());
        }
        if let Some(numbers) = &self.must_link {
            constraints = constraints.must_link(pairs("must_link", numbers)?);
        }
        if let Some(numbers) = &self.cannot_link {
            constraints = constraints.cannot_link(pairs("cannot_link", numbers)?);
        }
        if let Some(max_share) = self.max_share {
            constraints = constraints.max_share(max_share);
        }
        if let Some(weights) = &self.node_weight {
            constraints = constraints.node_weights(weights.as_slice()?.to_vec());
        }
        Ok(constraints)
    }
}

/// A clustering, as a dict.
#[derive(IntoPyObject)]
pub(crate) struct Found<'py> {
    labels: Bound<'py, PyArray1<Label>>,
    objective: f64,
    resolution: Option<f64>,
    ncut: f64,
    ratio_cut: f64,
    modularity: f64,
    smallest_share: f64,
    largest_share: f64,
    n_disconnected: usize,
    clusters: ClusterColumns<'py>,
    n_components: usize,
    n_iter: usize,
    n_moves: u64,
    stop_reason: &'static str,
}

/// Clusters a graph.
#[pyfunction]
#[pyo3(signature = (graph, settings, symmetrize, n_threads, on_progress))]
pub(crate) fn cluster<'py>(
    py: Python<'py>,
    graph: GraphSource<'py>,
    settings: Settings<'py>,
    symmetrize: Option<&str>,
    n_threads: usize,
    on_progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Found<'py>> {
    let ncut = settings.ncut()?;
    let source = graph.source(symmetrize)?;
    let found = run(py, n_threads, on_progress.as_ref(), move |clock| {
        source.with(|graph| ncut.solve_by(graph, clock))
    })?;
    Ok(Found {
        objective: found.objective,
        resolution: found.resolution,
        ncut: found.ncut,
        ratio_cut: found.ratio_cut,
        modularity: found.modularity,
        smallest_share: found.smallest_share,
        largest_share: found.largest_share,
        n_disconnected: found.n_disconnected,
        clusters: columns(py, &found.clusters),
        n_components: found.n_components,
        n_iter: found.sweeps,
        n_moves: found.moves,
        stop_reason: found.stop_reason.name(),
        labels: found.labels.into_pyarray(py),
    })
}

/// Clusters of a changed graph, as a dict.
#[derive(IntoPyObject)]
pub(crate) struct Renewed<'py> {
    labels: Bound<'py, PyArray1<Label>>,
    objective: f64,
    ncut: f64,
    ratio_cut: f64,
    modularity: f64,
    smallest_share: f64,
    largest_share: f64,
    n_disconnected: usize,
    clusters: ClusterColumns<'py>,
    moved: Bound<'py, PyArray1<i64>>,
    new: Bound<'py, PyArray1<i64>>,
    vanished: Bound<'py, PyArray1<Label>>,
    appeared: Bound<'py, PyArray1<Label>>,
    n_iter: usize,
    n_moves: u64,
    stop_reason: &'static str,
}

/// Brings clusters up to date. `old` are the labels of the nodes of the graph and those of nodes that are gone.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "what Python tells")]
pub(crate) fn update<'py>(
    py: Python<'py>,
    graph: GraphSource<'py>,
    settings: Settings<'py>,
    symmetrize: Option<&str>,
    old: (LabelArray<'py>, LabelArray<'py>),
    stay: f64,
    n_threads: usize,
    on_progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Renewed<'py>> {
    let ncut = settings.ncut()?;
    let source = graph.source(symmetrize)?;
    let before = Before { labels: old.0.as_slice()?.to_vec(), gone: old.1.as_slice()?.to_vec() };
    let found = run(py, n_threads, on_progress.as_ref(), move |clock| {
        source.with(|graph| ncut.update(graph, &before, stay, clock))
    })?;
    let nodes =
        |nodes: &[NodeId]| nodes.iter().map(|&node| i64::from(node)).collect::<Vec<_>>().into_pyarray(py);
    Ok(Renewed {
        objective: found.score.objective,
        ncut: found.score.ncut,
        ratio_cut: found.score.ratio_cut,
        modularity: found.score.modularity,
        smallest_share: found.score.smallest_share,
        largest_share: found.score.largest_share,
        n_disconnected: found.score.n_disconnected,
        clusters: columns(py, &found.score.clusters),
        moved: nodes(&found.moved),
        new: nodes(&found.new),
        vanished: found.vanished.into_pyarray(py),
        appeared: found.appeared.into_pyarray(py),
        n_iter: found.sweeps,
        n_moves: found.moves,
        stop_reason: found.stop_reason.name(),
        labels: found.labels.into_pyarray(py),
    })
}

/// The confidence of every node, and the clusters it leans to with their shares, so many for each node.
type Sureness<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<Label>>, Bound<'py, PyArray1<f64>>);

/// How sure labels are.
#[pyfunction]
pub(crate) fn confidence<'py>(
    py: Python<'py>,
    graph: GraphSource<'py>,
    symmetrize: Option<&str>,
    labels: LabelArray<'py>,
    objective: &str,
    n_best: usize,
    n_threads: usize,
) -> PyResult<Sureness<'py>> {
    let kind = named("objective", objective, &OBJECTIVES)?;
    let (source, labels) = (graph.source(symmetrize)?, labels.as_slice()?);
    let sure =
        run(py, n_threads, None, |_| source.with(|graph| Confidence::of(graph, labels, kind, n_best)))?;
    let members = sure.members();
    Ok((
        members.iter().map(|member| member.0).collect::<Vec<_>>().into_pyarray(py),
        members.iter().map(|member| member.1).collect::<Vec<_>>().into_pyarray(py),
    ))
    .map(|(clusters, shares)| (sure.values.clone().into_pyarray(py), clusters, shares))
}

/// The price of a move that updates have unless another is asked for.
#[pyfunction]
pub(crate) fn default_stay() -> f64 {
    Ncut::STAY
}

/// The defaults of the library, to compare those of Python with.
#[pyfunction]
pub(crate) fn settings(preset: &str) -> PyResult<(&'static str, usize, f64, f64, usize)> {
    let StoppingRule { max_sweeps, tolerance } = StoppingRule::default();
    let min_share = named("preset", preset, &PRESETS)?.min_share();
    let n_neighbors = ncut::neighbors::PointGraph::default().n_neighbors;
    Ok((Preset::default().name(), max_sweeps, tolerance, min_share, n_neighbors))
}

/// The scores of a labelling, as a dict; the last four with a truth only.
#[derive(IntoPyObject)]
pub(crate) struct Scored<'py> {
    objective: f64,
    ncut: f64,
    ratio_cut: f64,
    modularity: f64,
    smallest_share: f64,
    largest_share: f64,
    n_disconnected: usize,
    clusters: ClusterColumns<'py>,
    accuracy: Option<f64>,
    nmi: Option<f64>,
    nmi_arithmetic: Option<f64>,
    ari: Option<f64>,
}

/// Scores labels on a graph.
#[pyfunction]
pub(crate) fn score<'py>(
    py: Python<'py>,
    graph: GraphSource<'py>,
    symmetrize: Option<&str>,
    labels: LabelArray<'py>,
    truth: Option<LabelArray<'py>>,
) -> PyResult<Scored<'py>> {
    let (source, labels) = (graph.source(symmetrize)?, labels.as_slice()?);
    let score = run(py, 1, None, |_| source.with(|graph| CutScore::new(graph, labels)))?;
    let agreement = match &truth {
        Some(truth) => {
            let truth = truth.as_slice()?;
            Some(caught(py, || Agreement::new(labels, truth).map_err(refused))?)
        }
        None => None,
    };
    Ok(Scored {
        objective: score.objective,
        ncut: score.ncut,
        ratio_cut: score.ratio_cut,
        modularity: score.modularity,
        smallest_share: score.smallest_share,
        largest_share: score.largest_share,
        n_disconnected: score.n_disconnected,
        clusters: columns(py, &score.clusters),
        accuracy: agreement.as_ref().and_then(|agreement| agreement.accuracy),
        nmi: agreement.as_ref().map(|agreement| agreement.nmi),
        nmi_arithmetic: agreement.as_ref().map(|agreement| agreement.nmi_arithmetic),
        ari: agreement.as_ref().map(|agreement| agreement.ari),
    })
}

/// How good a clustering can be at most, and how sure that is.
#[pyfunction]
pub(crate) fn upper_bound<'py>(
    py: Python<'py>,
    graph: GraphSource<'py>,
    symmetrize: Option<&str>,
    n_clusters: usize,
    settings: (String, u64),
    n_threads: usize,
    on_progress: Option<Bound<'py, PyAny>>,
) -> PyResult<(f64, &'static str)> {
    let source = graph.source(symmetrize)?;
    let (objective, seed) = settings;
    let kind = named("objective", &objective, &OBJECTIVES)?;
    let settings = SpectrumSettings { seed, ..SpectrumSettings::default() };
    let bound = run(py, n_threads, on_progress.as_ref(), |clock| {
        source.with(|graph| UpperBound::by(kind, graph, n_clusters, &settings, clock))
    })?;
    Ok((bound.value, bound.status.name()))
}

/// The curve of objectives, as a dict.
#[derive(IntoPyObject)]
pub(crate) struct Chosen<'py> {
    suggested: usize,
    reason: String,
    rule: &'static str,
    best_in_range: usize,
    is_rough: bool,
    by_eigengap: Option<usize>,
    n_clusters: Bound<'py, PyArray1<i64>>,
    objectives: Bound<'py, PyArray1<f64>>,
    gaps: Bound<'py, PyArray1<f64>>,
    turns: Bound<'py, PyArray1<f64>>,
    eigenvalues: Bound<'py, PyArray1<f64>>,
    eigengaps: Bound<'py, PyArray1<f64>>,
    /// Of the largest number.
    labels: Bound<'py, PyArray1<Label>>,
}

/// Objectives over a range of numbers of clusters.
#[pyfunction]
pub(crate) fn choose<'py>(
    py: Python<'py>,
    graph: GraphSource<'py>,
    settings: Settings<'py>,
    symmetrize: Option<&str>,
    numbers: (usize, usize),
    n_threads: usize,
    on_progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Chosen<'py>> {
    let (ncut, source) = (settings.ncut()?, graph.source(symmetrize)?);
    let curve = run(py, n_threads, on_progress.as_ref(), |clock| {
        source.with(|graph| ncut.choose(graph, numbers.0..=numbers.1.min(graph.n_nodes()), clock))
    })?;
    let column = |of: fn(&CountRow) -> Option<f64>| {
        curve.rows.iter().map(|row| of(row).unwrap_or(f64::NAN)).collect::<Vec<_>>().into_pyarray(py)
    };
    Ok(Chosen {
        suggested: curve.suggested,
        reason: curve.reason.to_string(),
        rule: curve.rule.name(),
        best_in_range: curve.best_in_range,
        is_rough: curve.stopped.is_some(),
        by_eigengap: curve.by_eigengap,
        n_clusters: curve.rows.iter().map(|row| row.n_clusters as i64).collect::<Vec<_>>().into_pyarray(py),
        objectives: column(|row| Some(row.objective)),
        gaps: column(|row| row.gap),
        turns: column(|row| row.turn),
        eigenvalues: column(|row| row.eigenvalue),
        eigengaps: column(|row| row.eigengap),
        labels: curve.rows.last().map_or(Vec::new(), |row| row.labels.clone()).into_pyarray(py),
    })
}

/// A merge tree: leaves, both parts of every merge, gains.
type TreeArrays<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<f64>>,
);

/// The merge tree of a labelling.
#[pyfunction]
pub(crate) fn merge_tree<'py>(
    py: Python<'py>,
    graph: GraphSource<'py>,
    symmetrize: Option<&str>,
    labels: LabelArray<'py>,
    n_threads: usize,
) -> PyResult<TreeArrays<'py>> {
    let (source, labels) = (graph.source(symmetrize)?, labels.as_slice()?);
    let tree = run(py, n_threads, None, |clock| source.with(|graph| MergeTree::of(graph, labels, clock)))?;
    let part =
        |of: fn(&Merge) -> u32| tree.merges().iter().map(|merge| i64::from(of(merge))).collect::<Vec<_>>();
    Ok((
        tree.leaves().iter().map(|&leaf| i64::from(leaf)).collect::<Vec<_>>().into_pyarray(py),
        part(|merge| merge.first).into_pyarray(py),
        part(|merge| merge.second).into_pyarray(py),
        tree.merges().iter().map(|merge| merge.gain).collect::<Vec<_>>().into_pyarray(py),
    ))
}

/// The labels of a merge tree that is cut into so many clusters.
#[pyfunction]
pub(crate) fn cut_tree<'py>(
    py: Python<'py>,
    n_nodes: usize,
    leaves: PyReadonlyArray1<'py, i64>,
    first: PyReadonlyArray1<'py, i64>,
    second: PyReadonlyArray1<'py, i64>,
    n_clusters: usize,
) -> PyResult<Bound<'py, PyArray1<Label>>> {
    let number = |&number: &i64| {
        u32::try_from(number).map_err(|_| PyValueError::new_err("the tree names what is not there"))
    };
    let leaves: Vec<NodeId> = leaves.as_slice()?.iter().map(number).collect::<PyResult<_>>()?;
    let merge = |(first, second)| Ok(Merge { first: number(first)?, second: number(second)?, gain: 0.0 });
    let merges = first.as_slice()?.iter().zip(second.as_slice()?).map(merge).collect::<PyResult<_>>()?;
    let labels = caught(py, || {
        let tree = MergeTree::new(n_nodes, leaves, merges).map_err(refused)?;
        tree.labels(n_clusters).map_err(refused)
    })?;
    Ok(labels.into_pyarray(py))
}
