//! The largest eigenvalues of a graph's normalized matrix: `spectrum GRAPH K [THREADS]` prints the seconds and then a
//! value and its residual a line.

use std::path::Path;
use std::time::Instant;

use ncut::Clock;
use ncut::io::{ReadOptions, read_graph};
use ncut::spectral::{Spectrum, SpectrumSettings};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, count, threads @ ..] = arguments.as_slice() else {
        return Err("spectrum GRAPH K [THREADS]".into());
    };
    let threads = threads.first().map_or(Ok(1), |threads| threads.parse())?;
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    let graph = read_graph(Path::new(path), &ReadOptions::default(), &Clock::new())?.graph;
    let started = Instant::now();
    let spectrum = Spectrum::of(&graph, count.parse()?, &SpectrumSettings::default(), &Clock::new())?;
    println!("{:.4}", started.elapsed().as_secs_f64());
    for (value, residual) in spectrum.values.iter().zip(&spectrum.residuals) {
        println!("{value:.17} {residual:.3e}");
    }
    Ok(())
}
