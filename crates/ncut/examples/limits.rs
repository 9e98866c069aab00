//! What the thresholds of the search are worth: each is made four times smaller and four times larger in turn, and objective
//! and time are compared with those of the value in use.
//!
//! `cargo run --release -p ncut --example limits -- DATA > benchmarks/limits.md`, where `DATA/graphs/*.npz` are matrices of
//! scipy.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use ncut::io::{ReadOptions, read_graph};
use ncut::synthetic::Planted;
use ncut::{Clock, Graph, GraphBuilder, Limits, Ncut, Preset};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Runs of which the shortest counts.
const RUNS: usize = 3;

struct Case {
    name: &'static str,
    n_clusters: usize,
    graph: Graph<'static>,
}

/// A threshold, and how it is scaled.
struct Threshold {
    name: &'static str,
    scale: fn(&mut Limits, f64),
}

fn scaled(value: &mut usize, factor: f64) {
    *value = (*value as f64 * factor) as usize;
}

const THRESHOLDS: [Threshold; 15] = [
    Threshold { name: "max_entries_thorough", scale: |l, f| scaled(&mut l.max_entries_thorough, f) },
    Threshold { name: "max_entries_compared", scale: |l, f| scaled(&mut l.max_entries_compared, f) },
    Threshold { name: "max_row_for_chains", scale: |l, f| l.max_row_for_chains *= f },
    Threshold { name: "max_entries_brief", scale: |l, f| scaled(&mut l.max_entries_brief, f) },
    Threshold { name: "min_entries_for_blocks", scale: |l, f| scaled(&mut l.min_entries_for_blocks, f) },
    Threshold {
        name: "min_nodes_for_short_labels",
        scale: |l, f| scaled(&mut l.min_nodes_for_short_labels, f),
    },
    Threshold {
        name: "min_row_for_node_cluster_weights",
        scale: |l, f| scaled(&mut l.min_row_for_node_cluster_weights, f),
    },
    Threshold {
        name: "coarsening.kept_share",
        scale: |l, f| l.coarsening.kept_share = if f < 1.0 { 0.4 } else { 0.8 },
    },
    Threshold {
        name: "coarsening.rebuild_factor",
        scale: |l, f| scaled(&mut l.coarsening.rebuild_factor, f),
    },
    Threshold {
        name: "coarsening.nodes_per_cluster_for_splits",
        scale: |l, f| {
            scaled(&mut l.coarsening.nodes_per_cluster_for_splits.0, f);
            scaled(&mut l.coarsening.nodes_per_cluster_for_splits.1, f);
        },
    },
    Threshold {
        name: "coarsening.costly_round_entries",
        scale: |l, f| scaled(&mut l.coarsening.costly_round_entries, f),
    },
    Threshold {
        name: "coarsening.min_nodes_sampled",
        scale: |l, f| scaled(&mut l.coarsening.min_nodes_sampled, f),
    },
    Threshold {
        name: "coarsening.nodes_per_cluster_for_propagation",
        scale: |l, f| scaled(&mut l.coarsening.nodes_per_cluster_for_propagation, f),
    },
    Threshold {
        name: "coarsening.propagation_sweeps",
        scale: |l, f| l.coarsening.propagation_sweeps = if f < 1.0 { (2, 2) } else { (32, 20) },
    },
    Threshold {
        name: "coarsening.max_contracted_entries",
        scale: |l, f| scaled(&mut l.coarsening.max_contracted_entries, f),
    },
];

fn main() -> Outcome<()> {
    let data = std::env::args().nth(1).ok_or("name the folder with the data")?;
    let cases = cases(Path::new(&data))?;
    println!("# What the thresholds of the search are worth\n");
    println!(
        "Made by `cargo run --release -p ncut --example limits -- DATA`: preset `default` without a share. Every threshold of"
    );
    println!(
        "`Limits` four times smaller and four times larger (`kept_share`: 0.4 and 0.8; sweeps: 2 and 32). A cell is the change"
    );
    println!(
        "of the objective and the time over that with the values in use; `=` where the labels are the same.\n"
    );
    let titles: Vec<String> =
        cases.iter().map(|case| format!("{} ({} entries)", case.name, case.graph.columns().len())).collect();
    println!("| threshold | {} |", titles.join(" | "));
    println!("| --- |{}", " --- |".repeat(cases.len()));
    let used: Vec<Measured> =
        cases.iter().map(|case| measure(case, Limits::default())).collect::<Outcome<_>>()?;
    let values: Vec<String> =
        used.iter().map(|m| format!("{:.4}, {:.2} s", m.objective, m.seconds)).collect();
    println!("| values in use | {} |", values.join(" | "));
    for Threshold { name, scale } in &THRESHOLDS {
        for (sign, factor) in [("/ 4", 0.25), ("x 4", 4.0)] {
            let mut limits = Limits::default();
            scale(&mut limits, factor);
            let mut cells = Vec::new();
            for (case, used) in cases.iter().zip(&used) {
                let found = measure(case, limits)?;
                let change = match found.labels == used.labels {
                    true => "=".to_owned(),
                    false => format!("{:+.4}", found.objective - used.objective),
                };
                cells.push(format!("{change}, {:.2}x", found.seconds / used.seconds));
            }
            println!("| `{name}` {sign} | {} |", cells.join(" | "));
        }
    }
    Ok(())
}

struct Measured {
    labels: Vec<ncut::Label>,
    objective: f64,
    seconds: f64,
}

fn measure(case: &Case, limits: Limits) -> Outcome<Measured> {
    let settings = Ncut::new(case.n_clusters).preset(Preset::Default).min_share(0.0).limits(limits);
    let mut seconds = f64::INFINITY;
    let mut found = None;
    for _ in 0..RUNS {
        let started = Instant::now();
        found = Some(settings.solve(&case.graph)?);
        seconds = seconds.min(started.elapsed().as_secs_f64());
    }
    let found = found.ok_or("there are runs")?;
    Ok(Measured { labels: found.labels, objective: found.objective, seconds })
}

fn cases(data: &Path) -> Outcome<Vec<Case>> {
    let mut cases = Vec::new();
    for (name, n_clusters) in
        [("4elt", 32), ("email-Eu-core", 42), ("ego_facebook", 20), ("PGPgiantcompo", 50)]
    {
        let path = data.join(format!("graphs/{name}.npz"));
        let graph = read_graph(&path, &ReadOptions::default(), &Clock::new())?.graph;
        cases.push(Case { name, n_clusters, graph });
    }
    cases.push(Case { name: "mesh", n_clusters: 20, graph: mesh(450)? });
    cases.push(Case { name: "planted", n_clusters: 100, graph: Planted::new(120_000, 100).graph(1)?.graph });
    cases.push(Case {
        name: "large planted",
        n_clusters: 400,
        graph: Planted::new(500_000, 400).graph(1)?.graph,
    });
    Ok(cases)
}

/// A square of `side * side` nodes, each linked to six around it.
fn mesh(side: u32) -> ncut::Result<Graph<'static>> {
    let mut builder = GraphBuilder::new((side * side) as usize)?;
    for (row, column) in (0..side).flat_map(|row| (0..side).map(move |column| (row, column))) {
        let node = row * side + column;
        let ahead = [(row, column + 1), (row + 1, column), (row + 1, column + 1)];
        for (r, c) in ahead.into_iter().filter(|&(r, c)| r < side && c < side) {
            builder.add_edge(node, r * side + c, 1.0)?;
        }
    }
    builder.finish()
}
