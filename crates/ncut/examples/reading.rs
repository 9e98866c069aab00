//! How long reading takes: `cargo run --release -p ncut --example reading -- FILE...`

use std::path::Path;
use std::time::Instant;

use ncut::Clock;
use ncut::io::{ReadOptions, read_graph};

fn main() -> ncut::Result<()> {
    for file in std::env::args().skip(1) {
        let started = Instant::now();
        let graph = read_graph(Path::new(&file), &ReadOptions::default(), &Clock::new())?.graph;
        let seconds = started.elapsed().as_secs_f64();
        println!("{file}: {} nodes, {} edges in {seconds:.4} s", graph.n_nodes(), graph.n_edges());
    }
    Ok(())
}
