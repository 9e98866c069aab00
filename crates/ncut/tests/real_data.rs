//! The paper's digits and the real graphs, on the data in the folder that `NCUT_DATA` names.
//!
//! Without it every test here is reported as ignored, never as passed.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use ncut::io::{ReadOptions, read_graph, read_labels};
use ncut::neighbors::{Points, self_tuning_graph};
use ncut::{Agreement, Graph, Label, Ncut, unobserved};

/// A set of the paper's, and what preset `paper` gives on its self-tuning graph of 25 neighbours.
struct Expected {
    set: &'static str,
    n_clusters: usize,
    /// Grey values are divided by this first.
    divisor: f64,
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
        divisor: 1.0,
        objective: 1.9954,
        tolerance: 5e-5,
        printed: Some([0.6070, 0.0077, 0.0294]),
    },
    Expected {
        set: "segment",
        n_clusters: 7,
        divisor: 1.0,
        objective: 6.9272,
        tolerance: 5e-5,
        printed: Some([0.4965, 0.4875, 0.3403]),
    },
    Expected {
        set: "umist",
        n_clusters: 20,
        divisor: 255.0,
        objective: 12.4825,
        tolerance: 5e-5,
        printed: Some([0.4730, 0.6765, 0.3668]),
    },
    Expected {
        set: "mnist10_like",
        n_clusters: 10,
        divisor: 255.0,
        objective: 8.745302,
        tolerance: 1e-6,
        printed: None,
    },
    Expected {
        set: "msra25",
        n_clusters: 12,
        divisor: 255.0,
        objective: 11.692222,
        tolerance: 1e-6,
        printed: None,
    },
    Expected {
        set: "waveform21_5000",
        n_clusters: 3,
        divisor: 1.0,
        objective: 2.766434,
        tolerance: 1e-6,
        printed: None,
    },
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
    let table = Table::read(&data.join(format!("features/{}.npz", expected.set)))?.sorted_by_class();
    let values: Vec<f64> = table.values.iter().map(|value| value / expected.divisor).collect();
    let graph = self_tuning_graph(Points::new(&values, table.n_features)?, 25)?;
    let found = Ncut::new(expected.n_clusters).solve(&graph)?;
    let objective = independent_objective(&graph, &found.labels);
    let agreement = Agreement::new(&found.labels, &table.classes)?;
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
    let path = data.join(format!("graphs/{name}.npz"));
    let graph = read_graph(&path, &ReadOptions::default(), &mut unobserved)?.graph;
    let found = Ncut::new(n_clusters).solve(&graph)?;
    let used: BTreeSet<Label> = found.labels.iter().copied().collect();
    check(used == (0..n_clusters as Label).collect(), || format!("{} clusters", used.len()))?;
    let with_edges: BTreeSet<Label> =
        graph.connected_nodes().iter().map(|&n| found.labels[n as usize]).collect();
    check(with_edges.len() == n_clusters, || "a cluster has no node of positive degree".into())?;
    let objective = independent_objective(&graph, &found.labels);
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
    check(Ncut::new(n_clusters).solve(&graph)? == found, || "a second run differs".into())
}

fn check(holds: bool, message: impl FnOnce() -> String) -> Result<(), Failed> {
    if holds { Ok(()) } else { Err(message().into()) }
}

/// `sum_c A_c / D_c` from the list of edges.
fn independent_objective(graph: &Graph<'_>, labels: &[Label]) -> f64 {
    let k = labels.iter().max().map_or(0, |&label| label as usize + 1);
    let (mut associations, mut volumes) = (vec![0.0; k], vec![0.0; k]);
    for (from, to, weight) in graph.edges() {
        let (a, b) = (labels[from as usize] as usize, labels[to as usize] as usize);
        if from == to {
            volumes[a] += weight;
            associations[a] += weight;
            continue;
        }
        volumes[a] += weight;
        volumes[b] += weight;
        if a == b {
            associations[a] += 2.0 * weight;
        }
    }
    associations.iter().zip(&volumes).filter(|(_, volume)| **volume > 0.0).map(|(a, d)| a / d).sum()
}

/// A table of points with classes, from an `.npz` file with arrays `X` and `y`.
struct Table {
    values: Vec<f64>,
    n_features: usize,
    classes: Vec<Label>,
}

impl Table {
    fn read(path: &Path) -> Result<Self, Failed> {
        let mut archive = zip::ZipArchive::new(File::open(path)?)?;
        let mut array = |name: &str| -> Result<(String, Vec<u8>), Failed> {
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut archive.by_name(name)?, &mut bytes)?;
            let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
            let data = bytes.split_off(start);
            Ok((String::from_utf8_lossy(&bytes[10..]).into_owned(), data))
        };
        let (header, data) = array("X.npy")?;
        let values = match header.split('\'').nth(3) {
            Some("|u1") => data.iter().map(|&byte| f64::from(byte)).collect(),
            Some("<u2") => {
                data.chunks_exact(2).map(|b| f64::from(u16::from_le_bytes([b[0], b[1]]))).collect()
            }
            Some("<f8") => data.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect(),
            other => return Err(format!("unexpected type {other:?}").into()),
        };
        let (_, data) = array("y.npy")?;
        let classes: Vec<Label> =
            data.chunks_exact(2).map(|b| i32::from(i16::from_le_bytes([b[0], b[1]]))).collect();
        let values: Vec<f64> = values;
        let (n_rows, n_features) = (classes.len(), values.len() / classes.len());
        let by_column = header.contains("'fortran_order': True");
        let stored = |row: usize, column: usize| {
            if by_column { column * n_rows + row } else { row * n_features + column }
        };
        let places = (0..n_rows).flat_map(|row| (0..n_features).map(move |column| (row, column)));
        let values = places.map(|(row, column)| values[stored(row, column)]).collect();
        Ok(Self { values, n_features, classes })
    }

    /// The rows by class, as the paper's files have them; stable.
    fn sorted_by_class(self) -> Self {
        let mut order: Vec<usize> = (0..self.classes.len()).collect();
        order.sort_by_key(|&row| self.classes[row]);
        let row = |row: usize| &self.values[row * self.n_features..][..self.n_features];
        Self {
            values: order.iter().flat_map(|&place| row(place).to_vec()).collect(),
            n_features: self.n_features,
            classes: order.iter().map(|&place| self.classes[place]).collect(),
        }
    }
}
