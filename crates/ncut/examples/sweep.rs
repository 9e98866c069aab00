//! One sweep beside a sparse matrix-vector product over the same graph, on one thread and on two.
//!
//! `cargo run --release -p ncut --example sweep [NODES CLUSTERS]`. Every time is the best of a few. A sweep is measured
//! twice: over labels of which one in ten is wrong, where nodes move, and over labels at rest, where none does.

use std::hint::black_box;
use std::time::Instant;

use ncut::descent::{StoppingRule, settle};
use ncut::synthetic::Planted;
use ncut::{Clock, ClusterId, Graph, NodeId, Partition, Symmetrize, Weights};

const ROUNDS: usize = 5;
/// One node in so many has a wrong label before a sweep with moves.
const WRONG: usize = 10;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut numbers = std::env::args().skip(1).map(|argument| argument.parse::<usize>());
    let (n_nodes, n_clusters) =
        (numbers.next().unwrap_or(Ok(1_000_000))?, numbers.next().unwrap_or(Ok(1000))?);
    let planted = Planted::new(n_nodes, n_clusters).graph(1)?;
    let unit = planted.graph;
    println!("{} nodes, {} edges\n", unit.n_nodes(), unit.n_edges());
    println!(
        "| weights | clusters | nodes | moves | product s | sweep s, 1 thread | products | 2 threads | faster |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for (name, graph) in
        [("none", &unit), ("32 bits", &weighted::<f32>(&unit)?), ("64 bits", &weighted::<f64>(&unit)?)]
    {
        let x: Vec<f64> = (0..n_nodes).map(|node| 1.0 / (node + 1) as f64).collect();
        let product = best_of(|| multiply(graph, &x));
        for k in [10, n_clusters] {
            let labels: Vec<ClusterId> =
                planted.labels.iter().map(|&label| label as ClusterId % k as ClusterId).collect();
            let mut partition = Partition::new(graph, labels, k)?;
            settle(&mut partition, &StoppingRule { max_sweeps: 100, tolerance: 0.0 }, &Clock::new());
            let at_rest = partition.labels().to_vec();
            let disturb = |(node, &label): (usize, &ClusterId)| {
                if node.is_multiple_of(WRONG) {
                    (scattered(node as u64) % k as u64) as ClusterId
                } else {
                    label
                }
            };
            let disturbed: Vec<ClusterId> = at_rest.iter().enumerate().map(disturb).collect();
            for (state, labels) in [("one in ten wrong", disturbed), ("at rest", at_rest.clone())] {
                let (one, moves) = sweep_seconds(graph, &labels, k, 1)?;
                let (two, _) = sweep_seconds(graph, &labels, k, 2)?;
                println!(
                    "| {name} | {k} | {state} | {moves} | {product:.3} | {one:.3} | {:.2} | {two:.3} | {:.2} |",
                    one / product,
                    one / two
                );
            }
        }
    }
    Ok(())
}

/// The shortest time of a first sweep, and the moves it makes.
fn sweep_seconds(
    graph: &Graph<'_>,
    labels: &[ClusterId],
    k: usize,
    n_threads: usize,
) -> Result<(f64, u64), Box<dyn std::error::Error>> {
    let one = StoppingRule { max_sweeps: 1, tolerance: 0.0 };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build()?;
    // The sums are computed afresh after the last sweep: that time is not the sweep's.
    let (mut all, mut afresh, mut moves) = (f64::INFINITY, f64::INFINITY, 0);
    for _ in 0..ROUNDS {
        let mut partition = Partition::new(graph, labels.to_vec(), k)?;
        let started = Instant::now();
        moves = pool.install(|| settle(&mut partition, &one, &Clock::new())).moves;
        all = all.min(started.elapsed().as_secs_f64());
        let started = Instant::now();
        pool.install(|| partition.refresh());
        afresh = afresh.min(started.elapsed().as_secs_f64());
    }
    Ok((all - afresh, moves))
}

/// The same edges with random weights.
fn weighted<W: FromShare>(graph: &Graph<'_>) -> Result<Graph<'static>, ncut::Error>
where
    Weights<'static>: From<Vec<W>>,
{
    let weigh = |from: NodeId, to: NodeId| {
        let pair = u64::from(from.min(to)) << 32 | u64::from(from.max(to));
        W::from_share(scattered(pair) as f64 / (1 << 24) as f64)
    };
    let nodes = 0..graph.n_nodes() as NodeId;
    let weights: Vec<W> = nodes
        .flat_map(|node| graph.neighbors(node).map(move |(neighbor, _)| weigh(node, neighbor)))
        .collect();
    Graph::from_csr(
        graph.offsets().to_vec(),
        graph.columns().to_vec(),
        Weights::from(weights),
        Symmetrize::Refuse,
    )
}

/// A number of 24 bits that has nothing to do with the given one, but is always the same.
fn scattered(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40
}

trait FromShare {
    fn from_share(share: f64) -> Self;
}

impl FromShare for f32 {
    fn from_share(share: f64) -> Self {
        0.5 + share as f32
    }
}

impl FromShare for f64 {
    fn from_share(share: f64) -> Self {
        0.5 + share
    }
}

/// `y = A x`, the yardstick: one pass over the rows, single-threaded.
fn multiply(graph: &Graph<'_>, x: &[f64]) -> Vec<f64> {
    let row = |node: usize| graph.offsets()[node] as usize..graph.offsets()[node + 1] as usize;
    let columns = graph.columns();
    let at = |node: usize| columns[row(node)].iter().map(|&neighbor| x[neighbor as usize]);
    match graph.weights() {
        Weights::Unit => (0..x.len()).map(|node| at(node).sum()).collect(),
        Weights::F32(weights) => (0..x.len())
            .map(|node| at(node).zip(&weights[row(node)]).map(|(x, &w)| x * f64::from(w)).sum())
            .collect(),
        Weights::F64(weights) => {
            (0..x.len()).map(|node| at(node).zip(&weights[row(node)]).map(|(x, &w)| x * w).sum()).collect()
        }
    }
}

fn best_of<T>(mut work: impl FnMut() -> T) -> f64 {
    let time = |_| {
        let started = Instant::now();
        black_box(work());
        started.elapsed().as_secs_f64()
    };
    (0..ROUNDS).map(time).fold(f64::INFINITY, f64::min)
}
