//! `ncut demo`: two examples of the paper, made, clustered and drawn.

use std::io::{self, Write};
use std::time::Instant;

use anyhow::Result;
use ncut::neighbors::{Points, self_tuning_graph};
use ncut::synthetic::{LabelledGraph, PlanePoints, five_blocks, two_circles};
use ncut::{Agreement, Clustering, Graph, Label, Ncut, Preset};

use super::{check_drawing, check_outputs};
use crate::args::DemoArgs;
use crate::report::{is_stdout, print_data};
use crate::svg::{Canvas, Curve, cluster_color};

const SEED: u64 = 1;
const N_NOISE: usize = 100;
const N_NEIGHBORS: usize = 10;
/// Largest weight between blocks; inside them it is 1.
const BLOCK_NOISE: f64 = 0.5;
/// Numbers of clusters on the curve of the five blocks.
const MAX_CLUSTERS: usize = 10;

/// An example, clustered.
struct Solved {
    name: &'static str,
    graph: Graph<'static>,
    found: Clustering,
    agreement: Agreement,
    seconds: f64,
}

pub(crate) fn run(args: &DemoArgs) -> Result<()> {
    let to_stdout = is_stdout(&args.output);
    check_drawing(&args.output)?;
    check_outputs(&[], &[Some(&args.output)])?;
    let points = two_circles(N_NOISE, SEED);
    let circles =
        Points::new(&points.coordinates, 2).and_then(|points| self_tuning_graph(points, N_NEIGHBORS))?;
    let circles = solve("two circles", circles, &points.labels, 2)?;
    let LabelledGraph { graph, labels } = five_blocks(BLOCK_NOISE, SEED)?;
    let objectives: Vec<f64> = (1..=MAX_CLUSTERS)
        .map(|k| Ok(Ncut::new(k).preset(Preset::Paper).solve(&graph)?.objective))
        .collect::<Result<_>>()?;
    let blocks = solve("five blocks", graph, &labels, 5)?;

    let picture = draw(&points, &circles, &blocks, &objectives);
    if to_stdout {
        // The picture counts.
        let _ = write_table(&mut io::stderr(), &[&circles, &blocks]);
        return print_data(|stdout| stdout.write_all(picture.as_bytes()));
    }
    ncut::io::write_whole(&args.output, |file| file.write_all(picture.as_bytes()))?;
    print_data(|stdout| {
        write_table(stdout, &[&circles, &blocks])?;
        writeln!(stdout, "\n{} written: open it in a browser", args.output.display())
    })
}

fn solve(name: &'static str, graph: Graph<'static>, truth: &[Label], k: usize) -> Result<Solved> {
    let started = Instant::now();
    let found = Ncut::new(k).preset(Preset::Paper).solve(&graph)?;
    let seconds = started.elapsed().as_secs_f64();
    let agreement = Agreement::new(&found.labels, truth)?;
    Ok(Solved { name, graph, found, agreement, seconds })
}

fn write_table(writer: &mut dyn Write, rows: &[&Solved]) -> io::Result<()> {
    writeln!(writer, "example       nodes    edges   k  objective   N-Cut  accuracy     NMI  sweeps   time")?;
    for Solved { name, graph, found, agreement, seconds } in rows {
        writeln!(
            writer,
            "{name:<12} {:>6} {:>8} {:>3} {:>10.4} {:>7.4} {:>9.4} {:>7.4} {:>7} {:>4.1} ms",
            graph.n_nodes(),
            graph.n_edges(),
            found.clusters.len(),
            found.objective,
            found.ncut,
            agreement.accuracy.unwrap_or(f64::NAN),
            agreement.nmi,
            found.sweeps,
            1e3 * seconds
        )?;
    }
    Ok(())
}

fn draw(points: &PlanePoints, circles: &Solved, blocks: &Solved, objectives: &[f64]) -> String {
    let mut canvas = Canvas::new(960.0, 360.0);
    draw_circles(&mut canvas.panel(20.0, "Two circles with 100 noise points, k = 2"), points, circles);
    draw_blocks(&mut canvas.panel(340.0, "Five blocks: weights and the clusters found"), blocks);
    let curve =
        Curve { x_label: "clusters k", y_label: "objective", first: 1, values: objectives, marked: 5 };
    canvas.panel(660.0, "Objective by k: the gap closes after 5").curve(&curve);
    canvas.finish()
}

fn draw_circles(panel: &mut crate::svg::Panel<'_>, points: &PlanePoints, circles: &Solved) {
    for (place, &label) in circles.found.labels.iter().enumerate() {
        let (x, y) = (points.coordinates[2 * place], points.coordinates[2 * place + 1]);
        let noise = points.labels[place] == ncut::UNLABELLED;
        let radius = if noise { 1.6 } else { 3.0 };
        panel.dot((x + 1.25) / 2.5, (1.25 - y) / 2.5, radius, cluster_color(label));
    }
}

/// The weights as a picture of 50 x 50 cells, and beside it the cluster of every node.
fn draw_blocks(panel: &mut crate::svg::Panel<'_>, blocks: &Solved) {
    const CELLS: usize = 50;
    const STRIP: f64 = 0.05;
    let n_nodes = blocks.graph.n_nodes();
    let nodes_per_cell = n_nodes / CELLS;
    let mut sums = vec![0.0; CELLS * CELLS];
    for (from, to, weight) in blocks.graph.edges() {
        let (row, column) = (from as usize / nodes_per_cell, to as usize / nodes_per_cell);
        sums[row * CELLS + column] += weight;
        sums[column * CELLS + row] += weight;
    }
    let largest = sums.iter().copied().fold(0.0, f64::max);
    let side = (1.0 - STRIP) / CELLS as f64;
    for (cell, sum) in sums.iter().enumerate() {
        let shade = 255.0 - 200.0 * sum / largest;
        let (row, column) = ((cell / CELLS) as f64, (cell % CELLS) as f64);
        panel.cell(STRIP + column * side, row * side, side, side, &gray(shade));
    }
    let height = (1.0 - STRIP) / n_nodes as f64;
    let mut node = 0;
    for run in blocks.found.labels.chunk_by(|a, b| a == b) {
        let (top, height) = (node as f64 * height, run.len() as f64 * height);
        panel.cell(0.0, top, 0.8 * STRIP, height, cluster_color(run[0]));
        node += run.len();
    }
}

fn gray(shade: f64) -> String {
    let level = shade.round().clamp(0.0, 255.0) as u8;
    format!("#{level:02x}{level:02x}{level:02x}")
}
