//! What every part of the search is good for: each is switched off in turn, and the rest is measured.
//!
//! `cargo run --release -p ncut --example ablation -- DATA > benchmarks/ablation.md`, where `DATA/features/*.npz` have
//! arrays `X` and `y` and `DATA/graphs/*.npz` are matrices of scipy.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use ncut::io::{ReadOptions, read_graph, read_labels, read_table};
use ncut::neighbors::{Points, self_tuning_graph};
use ncut::search::{Choice, Effort, Recombination};
use ncut::{Agreement, Clock, CutScore, Graph, Label, Ncut, Preset};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Sets of points: name, number of clusters, divisor of the values.
const SETS: [(&str, usize, f64); 7] = [
    ("german", 2, 1.0),
    ("segment", 7, 1.0),
    ("umist", 20, 255.0),
    ("mnist10_like", 10, 255.0),
    ("msra25", 12, 255.0),
    ("waveform21_5000", 3, 1.0),
    ("keel_letter", 26, 1.0),
];

/// Graphs, and whether they have labels.
const GRAPHS: [(&str, usize, bool); 6] = [
    ("planetoid_cora", 7, true),
    ("email-Eu-core", 42, true),
    ("4elt", 32, false),
    ("airfoil1", 16, false),
    ("PGPgiantcompo", 50, false),
    ("ego_facebook", 20, false),
];

struct Case {
    name: &'static str,
    n_clusters: usize,
    graph: Graph<'static>,
    truth: Option<Vec<Label>>,
}

struct Variant {
    name: &'static str,
    effort: Effort,
    choice: Option<Choice>,
}

fn main() -> Outcome<()> {
    let data = std::env::args().nth(1).ok_or("name the folder with the data")?;
    let cases = cases(Path::new(&data))?;
    println!("# What every part of the search is good for\n");
    println!(
        "Made by `cargo run --release -p ncut --example ablation -- DATA`. Preset `default`; in every column one part is"
    );
    println!(
        "off. Graphs of points are self-tuning ones of 25 neighbours; of planetoid_cora the largest component.\n"
    );
    let variants = variants();

    println!("## Without a share: objective (seconds)\n");
    header("graph", variants.iter().map(|variant| variant.name));
    for case in &cases {
        let mut cells =
            vec![format!("{:.4}", objective(case, &Ncut::new(case.n_clusters).preset(Preset::Paper))?.0)];
        for variant in &variants {
            let (objective, seconds) = objective(case, &settings(case, variant, Some(0.0)))?;
            cells.push(format!("{objective:.4} ({seconds:.2})"));
        }
        println!("| {} | {} |", case.name, cells.join(" | "));
    }

    println!("\n## With the default share: accuracy / NMI (arithmetic)\n");
    header("labelled graph", variants.iter().map(|variant| variant.name));
    let mut means = vec![[0.0; 2]; variants.len() + 1];
    let labelled: Vec<&Case> = cases.iter().filter(|case| case.truth.is_some()).collect();
    for case in &labelled {
        let paper = Ncut::new(case.n_clusters).preset(Preset::Paper);
        let all = variants.iter().map(|variant| settings(case, variant, None));
        let mut cells = Vec::new();
        for (settings, mean) in std::iter::once(paper).chain(all).zip(&mut means) {
            let [accuracy, nmi] = agreement(case, &settings)?;
            mean[0] += accuracy / labelled.len() as f64;
            mean[1] += nmi / labelled.len() as f64;
            cells.push(format!("{accuracy:.3} / {nmi:.3}"));
        }
        println!("| {} | {} |", case.name, cells.join(" | "));
    }
    let means: Vec<String> = means.iter().map(|mean| format!("{:.4} / {:.4}", mean[0], mean[1])).collect();
    println!("| mean | {} |", means.join(" | "));
    Ok(())
}

fn variants() -> Vec<Variant> {
    let all = Preset::Default.effort();
    let variant = |name, effort| Variant { name, effort, choice: None };
    vec![
        variant("default", all),
        variant("no N2HI start", Effort { hierarchy_start: false, ..all }),
        variant("no merging start", Effort { merging_start: false, ..all }),
        variant("no propagation", Effort { propagation: false, ..all }),
        variant("no stricter starts", Effort { strict_starts: false, ..all }),
        variant("no chains", Effort { chains: false, ..all }),
        variant("no split-merge", Effort { split_rounds: 0, ..all }),
        variant("no V-cycles", Effort { v_cycles: 0, ..all }),
        variant("no recombination", Effort { recombination: Recombination::None, ..all }),
        Variant { name: "chosen by objective", effort: all, choice: Some(Choice::Objective) },
    ]
}

fn settings(case: &Case, variant: &Variant, min_share: Option<f64>) -> Ncut {
    let mut settings = Ncut::new(case.n_clusters).effort(variant.effort);
    if let Some(choice) = variant.choice {
        settings = settings.choice(choice);
    }
    match min_share {
        Some(min_share) => settings.min_share(min_share),
        None => settings,
    }
}

fn header<'n>(first: &'n str, names: impl Iterator<Item = &'n str>) {
    let names: Vec<&str> = [first, "preset paper"].into_iter().chain(names).collect();
    println!("| {} |\n|{}", names.join(" | "), " --- |".repeat(names.len()));
}

/// The objective, scored afresh, and the seconds it took.
fn objective(case: &Case, settings: &Ncut) -> Outcome<(f64, f64)> {
    let started = Instant::now();
    let found = settings.solve(&case.graph)?;
    let seconds = started.elapsed().as_secs_f64();
    Ok((CutScore::new(&case.graph, &found.labels)?.objective, seconds))
}

fn agreement(case: &Case, settings: &Ncut) -> Outcome<[f64; 2]> {
    let found = settings.solve(&case.graph)?;
    let agreement = Agreement::new(&found.labels, case.truth.as_deref().unwrap_or_default())?;
    Ok([agreement.accuracy.unwrap_or(f64::NAN), agreement.nmi_arithmetic])
}

fn cases(data: &Path) -> Outcome<Vec<Case>> {
    let mut cases = Vec::new();
    for (name, n_clusters, divisor) in SETS {
        let path = data.join(format!("features/{name}.npz"));
        let table = read_table(&path, &Clock::new())?;
        let truth = read_labels(&path, table.n_rows(), None)?;
        // By class, as the paper has them.
        let mut order: Vec<usize> = (0..truth.len()).collect();
        order.sort_by_key(|&row| truth[row]);
        let points = table.points();
        let values: Vec<f64> = order
            .iter()
            .flat_map(|&row| points.coordinates(row).map(|value| value / divisor).collect::<Vec<_>>())
            .collect();
        let graph = self_tuning_graph(Points::new(&values, table.n_columns())?, 25)?;
        let truth = order.iter().map(|&row| truth[row]).collect();
        cases.push(Case { name, n_clusters, graph, truth: Some(truth) });
    }
    for (name, n_clusters, is_labelled) in GRAPHS {
        let graph =
            read_graph(&data.join(format!("graphs/{name}.npz")), &ReadOptions::default(), &Clock::new())?
                .graph;
        let truth = data.join(format!("graphs/{name}.labels.npz"));
        let truth = if is_labelled { Some(read_labels(&truth, graph.n_nodes(), None)?) } else { None };
        // Components would make it easy.
        let nodes = if name == "planetoid_cora" {
            graph.components().largest()
        } else {
            (0..graph.n_nodes() as u32).collect()
        };
        let truth = truth.map(|truth| nodes.iter().map(|&node| truth[node as usize]).collect());
        cases.push(Case { name, n_clusters, graph: graph.induced(&nodes)?, truth });
    }
    Ok(cases)
}
