//! The paper's digits and the real graphs, on the data in the folder that `NCUT_DATA` names.
//!
//! Without it every test here is reported as ignored, never as passed.

mod common;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use common::data::{check, graph, independent_objective, set_graph};
use libtest_mimic::{Arguments, Failed, Trial};
use ncut::io::read_labels;
use ncut::{Agreement, Graph, Label, Ncut, Preset};

/// A set of the paper's, and what preset `paper` gives on its self-tuning graph of 25 neighbours.
struct Expected {
    set: &'static str,
    n_clusters: usize,
    objective: f64,
    /// How far the objective may be off.
    tolerance: f64,
    /// Accuracy, NMI (larger entropy) and ARI, as printed in the paper.
    printed: Option<[f64; 3]>,
}

const SETS: [Expected; 6] = [
    Expected {
        set: "german",
        n_clusters: 2,
        objective: 1.9954,
        tolerance: 5e-5,
        printed: Some([0.6070, 0.0077, 0.0294]),
    },
    Expected {
        set: "segment",
        n_clusters: 7,
        objective: 6.9272,
        tolerance: 5e-5,
        printed: Some([0.4965, 0.4875, 0.3403]),
    },
    Expected {
        set: "umist",
        n_clusters: 20,
        objective: 12.4825,
        tolerance: 5e-5,
        printed: Some([0.4730, 0.6765, 0.3668]),
    },
    Expected { set: "mnist10_like", n_clusters: 10, objective: 8.745302, tolerance: 1e-6, printed: None },
    Expected { set: "msra25", n_clusters: 12, objective: 11.692222, tolerance: 1e-6, printed: None },
    Expected { set: "waveform21_5000", n_clusters: 3, objective: 2.766434, tolerance: 1e-6, printed: None },
];

/// Graphs with isolated nodes and many components, and meshes and webs without.
const GRAPHS: [(&str, usize); 8] = [
    ("email-Eu-core", 42),
    ("hep-th", 100),
    ("planetoid_cora", 7),
    ("airfoil1", 16),
    ("4elt", 32),
    ("PGPgiantcompo", 50),
    ("ego_facebook", 20),
    ("cnr-2000", 100),
];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let data = std::env::var_os("NCUT_DATA").map(PathBuf::from);
    let mut trials = Vec::new();
    for expected in &SETS {
        let data = data.clone().unwrap_or_default();
        let name = format!("the_papers_digits_on_{}", expected.set);
        trials.push(Trial::test(name, move || check_set(&data, expected)));
    }
    for (graph, n_clusters) in GRAPHS {
        let data = data.clone().unwrap_or_default();
        let name = format!("exactly_{n_clusters}_clusters_on_{graph}");
        trials.push(Trial::test(name, move || check_graph(&data, graph, n_clusters)));
    }
    let ignored = data.is_none();
    if ignored {
        eprintln!("NCUT_DATA is not set: the tests on real data are ignored");
    }
    let trials = trials.into_iter().map(|trial| trial.with_ignored_flag(ignored)).collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn check_set(data: &Path, expected: &Expected) -> Result<(), Failed> {
    let (graph, classes) = set_graph(data, expected.set)?;
    let found = Ncut::new(expected.n_clusters).preset(Preset::Paper).solve(&graph)?;
    let objective = independent_objective(&graph, &found.labels);
    let agreement = Agreement::new(&found.labels, &classes)?;
    check((objective - found.objective).abs() < 1e-12 * objective, || {
        format!("reported objective {}, computed {objective}", found.objective)
    })?;
    check((objective - expected.objective).abs() < expected.tolerance, || {
        format!("objective {objective}, expected {}", expected.objective)
    })?;
    if let Some(printed) = expected.printed {
        let measured = [agreement.accuracy.unwrap_or(f64::NAN), agreement.nmi, agreement.ari];
        for (measured, printed) in measured.into_iter().zip(printed) {
            check((measured - printed).abs() < 5.1e-5, || {
                format!("{measured} where the paper prints {printed}")
            })?;
        }
    }
    Ok(())
}

fn check_graph(data: &Path, name: &str, n_clusters: usize) -> Result<(), Failed> {
    let graph = graph(data, name)?;
    for preset in [Preset::Paper, Preset::Fast, Preset::Default] {
        check_clustering(data, name, &graph, &Ncut::new(n_clusters).preset(preset), n_clusters)?;
    }
    Ok(())
}

fn check_clustering(
    data: &Path,
    name: &str,
    graph: &Graph<'_>,
    settings: &Ncut,
    n_clusters: usize,
) -> Result<(), Failed> {
    let found = settings.solve(graph)?;
    let used: BTreeSet<Label> = found.labels.iter().copied().collect();
    check(used == (0..n_clusters as Label).collect(), || format!("{} clusters", used.len()))?;
    let with_edges: BTreeSet<Label> =
        graph.connected_nodes().iter().map(|&n| found.labels[n as usize]).collect();
    check(with_edges.len() == n_clusters, || "a cluster has no node of positive degree".into())?;
    let objective = independent_objective(graph, &found.labels);
    check((objective - found.objective).abs() <= 1e-12 * objective, || {
        format!("reported objective {}, computed {objective}", found.objective)
    })?;
    let numbers = found.clusters.iter().flat_map(|c| [c.volume, c.association]);
    let finite = numbers.chain([found.objective, found.ncut, found.smallest_share]).all(f64::is_finite);
    check(finite, || "a number is not finite".into())?;
    let truth = data.join(format!("graphs/{name}.labels.npz"));
    if truth.exists() {
        let truth = read_labels(&truth, graph.n_nodes(), None)?;
        check(Agreement::new(&found.labels, &truth)?.nmi.is_finite(), || "NMI is not finite".into())?;
    }
    check(settings.solve(graph)? == found, || "a second run differs".into())
}
