//! What each stage costs, beside a plain sparse matrix-vector product over the same graph.
//!
//! `cargo bench -p ncut` takes a planted graph of 1M nodes and 10M edges. Times on a shared machine say
//! little, so each is the best of a few and printed as a multiple of the product.
//!
//! Run by `cargo test`, which does not pass `--bench`, it takes a small graph and only shows that it works.

use std::hint::black_box;
use std::time::Instant;

use ncut::descent::{StoppingRule, descend};
use ncut::hierarchy::n2hi;
use ncut::io::{ReadOptions, read_graph, write_graph};
use ncut::synthetic::Planted;
use ncut::{Clock, Graph, NodeId, Partition, Symmetrize, Weights};

fn main() {
    let in_full = std::env::args().any(|argument| argument == "--bench");
    let (n_nodes, n_clusters, rounds) = if in_full { (1_000_000, 1000, 3) } else { (5_000, 20, 1) };
    let unit = Planted::new(n_nodes, n_clusters).graph(1).expect("a planted graph").graph;
    println!("planted: {} nodes, {} edges, {n_clusters} clusters", unit.n_nodes(), unit.n_edges());

    let folder = tempfile::tempdir().expect("a folder for files");
    for (name, graph) in [("unit weights", &unit), ("64-bit weights", &weighted(&unit))] {
        println!("\n{name}");
        let x: Vec<f64> = (0..n_nodes).map(|node| 1.0 / (node + 1) as f64).collect();
        let product = best_of(5 * rounds, || multiply(graph, &x));
        println!("  {:<28} {:>8.3} s", "matrix-vector product", product);
        let report = |stage: &str, seconds: f64| {
            println!("  {stage:<28} {seconds:>8.3} s {:>8.1} products", seconds / product);
        };

        for file in ["graph.txt", "graph.mtx", "graph.npz"] {
            let path = folder.path().join(file);
            write_graph(&path, graph, None).expect("a writable folder");
            let read =
                || read_graph(&path, &ReadOptions::default(), &Clock::new()).expect("what was written");
            report(&format!("read {file}"), best_of(1, read));
        }
        for k in [10, n_clusters] {
            report(&format!("N2HI, k = {k}"), best_of(rounds, || n2hi(graph, k, &Clock::new())));
            let start = n2hi(graph, k, &Clock::new()).expect("k fits the graph").labels;
            let one = StoppingRule { max_sweeps: 1, ..StoppingRule::default() };
            let mut fastest = f64::INFINITY;
            for _ in 0..rounds {
                let mut partition = Partition::new(graph, start.clone(), k).expect("labels of the graph");
                fastest = fastest.min(time(|| descend(&mut partition, &one, &Clock::new())));
            }
            report(&format!("one sweep, k = {k}"), fastest);
        }
    }
}

/// The same edges with random weights.
fn weighted(graph: &Graph<'_>) -> Graph<'static> {
    let mix = |from: NodeId, to: NodeId| {
        let bits =
            (u64::from(from.min(to)) << 32 | u64::from(from.max(to))).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        0.5 + (bits >> 40) as f64 / (1 << 24) as f64
    };
    let nodes = 0..graph.n_nodes() as NodeId;
    let weights: Vec<f64> =
        nodes.flat_map(|node| graph.neighbors(node).map(move |(neighbor, _)| mix(node, neighbor))).collect();
    let (offsets, neighbors) = (graph.offsets().to_vec(), graph.columns().to_vec());
    Graph::from_csr(offsets, neighbors, Weights::F64(weights.into()), Symmetrize::Refuse)
        .expect("symmetric weights")
}

/// `y = A x`, the yardstick: one pass over the rows, single-threaded.
fn multiply(graph: &Graph<'_>, x: &[f64]) -> Vec<f64> {
    let row = |node: usize| graph.offsets()[node] as usize..graph.offsets()[node + 1] as usize;
    match graph.weights() {
        Weights::Unit => (0..x.len())
            .map(|node| graph.columns()[row(node)].iter().map(|&neighbor| x[neighbor as usize]).sum())
            .collect(),
        weights => (0..x.len())
            .map(|node| row(node).map(|entry| weights.at(entry) * x[graph.columns()[entry] as usize]).sum())
            .collect(),
    }
}

fn best_of<T>(rounds: usize, mut work: impl FnMut() -> T) -> f64 {
    (0..rounds).map(|_| time(&mut work)).fold(f64::INFINITY, f64::min)
}

fn time<T>(work: impl FnOnce() -> T) -> f64 {
    let started = Instant::now();
    black_box(work());
    started.elapsed().as_secs_f64()
}
