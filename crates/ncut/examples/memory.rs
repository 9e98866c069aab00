//! How much memory clustering takes, beyond a matrix that is there already.
//!
//! `memory make GRAPH WEIGHTS FILE` writes a graph of 20 million entries, `memory run FILE CLUSTERS PRESET` clusters it
//! where it lies and tells the rise of the peak in units of the matrix. `memory all FOLDER` does both for many. Two
//! processes, so that nothing which making a graph leaves behind is taken for room. Linux only.

use std::error::Error;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use ncut::synthetic::Planted;
use ncut::{Graph, GraphBuilder, Ncut, Preset, Symmetrize, Weights};

type Outcome<T> = Result<T, Box<dyn Error>>;

const N_ENTRIES: usize = 20_000_000;
const GRAPHS: [&str; 6] = ["planted", "random", "dense", "plane", "powerlaw", "grid"];
const PRESETS: [Preset; 3] = [Preset::Paper, Preset::Fast, Preset::Default];

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match &arguments[..] {
        ["make", graph, weights, file] => make(graph, weights, Path::new(file)),
        ["run", file, clusters, preset] => run(Path::new(file), clusters.parse()?, preset),
        ["all", folder] => all(Path::new(folder)),
        _ => Err("usage: memory make GRAPH unit|f32|f64 FILE | run FILE CLUSTERS PRESET | all FOLDER".into()),
    }
}

fn all(folder: &Path) -> Outcome<()> {
    let itself = std::env::current_exe()?;
    for graph in GRAPHS {
        let file = folder.join(graph);
        Command::new(&itself).args(["make", graph, "f64"]).arg(&file).status()?;
        for preset in PRESETS {
            for clusters in ["8", "20", "1000"] {
                Command::new(&itself).arg("run").arg(&file).args([clusters, preset.name()]).status()?;
            }
        }
        std::fs::remove_file(file)?;
    }
    Ok(())
}

fn run(file: &Path, n_clusters: usize, preset: &str) -> Outcome<()> {
    let preset = [Preset::Paper, Preset::Fast, Preset::Default, Preset::Best]
        .into_iter()
        .find(|known| known.name() == preset)
        .ok_or("no such preset")?;
    let Arrays { offsets, columns, weights } = Arrays::read(file)?;
    let matrix = columns.len() * size_of::<u32>()
        + match &weights {
            Weights::Unit => 0,
            Weights::F32(weights) => size_of_val(&weights[..]),
            Weights::F64(weights) => size_of_val(&weights[..]),
        };
    let borrowed = match &weights {
        Weights::Unit => Weights::Unit,
        Weights::F32(weights) => Weights::F32(weights[..].into()),
        Weights::F64(weights) => Weights::F64(weights[..].into()),
    };
    std::fs::write("/proc/self/clear_refs", "5")?;
    let before = status("VmRSS:")?;
    let start = Instant::now();
    let graph = Graph::from_csr(&offsets[..], &columns[..], borrowed, Symmetrize::Refuse)?;
    let found = Ncut::new(n_clusters).preset(preset).solve(&graph)?;
    let seconds = start.elapsed().as_secs_f64();
    let rise = (status("VmHWM:")? - before) as f64;
    let hash = found
        .labels
        .iter()
        .fold(0u64, |hash, &label| (hash ^ label as u64).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(17));
    println!(
        "{:<10} {:<7} k={n_clusters:<5} rise {:.2} of {:.0} MB, {seconds:.1} s, objective {:.6}, labels {hash:016x}",
        file.file_name().unwrap_or_default().to_string_lossy(),
        preset.name(),
        rise / matrix as f64,
        matrix as f64 / 1e6,
        found.objective,
    );
    Ok(())
}

/// A number of bytes that the kernel tells of this process.
fn status(name: &str) -> Outcome<usize> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with(name)).ok_or("no such line")?;
    let kilobytes: usize = line.split_whitespace().nth(1).ok_or("no number")?.parse()?;
    Ok(kilobytes * 1024)
}

fn make(name: &str, weights: &str, file: &Path) -> Outcome<()> {
    let mut random = Random(7);
    let edges = match name {
        "planted" => planted(),
        "random" => uniform(N_ENTRIES / 20, N_ENTRIES / 2, &mut random),
        "dense" => uniform(N_ENTRIES / 100, N_ENTRIES / 2, &mut random),
        "plane" => plane(N_ENTRIES / 25, 25.0, &mut random),
        "powerlaw" => powerlaw(N_ENTRIES / 20, 10, &mut random),
        "grid" => grid(N_ENTRIES / 4),
        _ => return Err(format!("no graph {name}; there are {}", GRAPHS.join(", ")).into()),
    };
    let n_nodes = 1 + edges.iter().map(|edge| edge.1).max().unwrap_or(0) as usize;
    let mut builder = GraphBuilder::new(n_nodes)?;
    for (from, to) in edges {
        let pair = u64::from(from) << 32 | u64::from(to);
        let weight = if weights == "unit" { 1.0 } else { 0.5 + Random(pair).uniform() };
        builder.add_edge(from, to, if weights == "f32" { f64::from(weight as f32) } else { weight })?;
    }
    Arrays::write(&builder.finish()?, weights == "f32", file)
}

fn planted() -> Vec<(u32, u32)> {
    let planted = Planted::new(N_ENTRIES / 20, 1000).graph(1).expect("the settings are in range");
    planted.graph.edges().map(|(from, to, _)| (from, to)).collect()
}

/// Ends drawn evenly from all nodes: nothing in it to find, and nothing that coarsening makes smaller.
fn uniform(n_nodes: usize, n_edges: usize, random: &mut Random) -> Vec<(u32, u32)> {
    let edges = (0..n_edges).map(|_| (random.below(n_nodes), random.below(n_nodes))).collect();
    tidied(edges)
}

/// Points of the plane, linked with all that are near.
fn plane(n_nodes: usize, mean_degree: f64, random: &mut Random) -> Vec<(u32, u32)> {
    let radius = (mean_degree / (n_nodes as f64 * std::f64::consts::PI)).sqrt();
    let side = (1.0 / radius) as usize;
    let points: Vec<(f64, f64)> = (0..n_nodes).map(|_| (random.uniform(), random.uniform())).collect();
    let cell = |x: f64| ((x * side as f64) as usize).min(side - 1);
    let mut cells: Vec<Vec<u32>> = vec![Vec::new(); side * side];
    for (number, point) in points.iter().enumerate() {
        cells[cell(point.0) * side + cell(point.1)].push(number as u32);
    }
    let mut edges = Vec::new();
    for (number, point) in points.iter().enumerate() {
        let (row, column) = (cell(point.0), cell(point.1));
        for row in row.saturating_sub(1)..(row + 2).min(side) {
            for column in column.saturating_sub(1)..(column + 2).min(side) {
                for &other in cells[row * side + column].iter().filter(|&&other| other > number as u32) {
                    let (x, y) = points[other as usize];
                    if (x - point.0).hypot(y - point.1) <= radius {
                        edges.push((number as u32, other));
                    }
                }
            }
        }
    }
    edges
}

/// Barabasi and Albert: every new node is linked to ends of edges there are.
fn powerlaw(n_nodes: usize, n_links: usize, random: &mut Random) -> Vec<(u32, u32)> {
    let mut ends: Vec<u32> = (0..n_links as u32).collect();
    let mut edges = Vec::new();
    for node in n_links..n_nodes {
        for _ in 0..n_links {
            let other = ends[random.below(ends.len()) as usize];
            edges.push((node as u32, other));
        }
        for place in edges.len() - n_links..edges.len() {
            ends.extend([edges[place].0, edges[place].1]);
        }
    }
    tidied(edges)
}

fn grid(n_nodes: usize) -> Vec<(u32, u32)> {
    let side = (n_nodes as f64).sqrt() as u32;
    let nodes = (0..side).flat_map(|row| (0..side).map(move |column| (row, column)));
    nodes
        .flat_map(|(row, column)| {
            let node = row * side + column;
            let right = (column + 1 < side).then_some((node, node + 1));
            let below = (row + 1 < side).then_some((node, node + side));
            right.into_iter().chain(below)
        })
        .collect()
}

fn tidied(mut edges: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    for edge in &mut edges {
        *edge = (edge.0.min(edge.1), edge.0.max(edge.1));
    }
    edges.retain(|edge| edge.0 != edge.1);
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let bits = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, bound: usize) -> u32 {
        ((u128::from(self.next()) * bound as u128) >> 64) as u32
    }
}

/// The rows of a matrix, as they come from a file.
struct Arrays {
    offsets: Vec<u64>,
    columns: Vec<u32>,
    weights: Weights<'static>,
}

impl Arrays {
    fn write(graph: &Graph<'_>, narrow: bool, file: &Path) -> Outcome<()> {
        let mut file = BufWriter::new(File::create(file)?);
        let width: u64 = match graph.weights() {
            Weights::Unit => 0,
            _ if narrow => 4,
            _ => 8,
        };
        for number in [graph.n_nodes() as u64, graph.columns().len() as u64, width] {
            file.write_all(&number.to_le_bytes())?;
        }
        for offset in graph.offsets() {
            file.write_all(&offset.to_le_bytes())?;
        }
        for column in graph.columns() {
            file.write_all(&column.to_le_bytes())?;
        }
        for entry in 0..graph.columns().len() {
            let weight = graph.weights().at(entry);
            match width {
                0 => {}
                4 => file.write_all(&(weight as f32).to_le_bytes())?,
                _ => file.write_all(&weight.to_le_bytes())?,
            }
        }
        Ok(file.flush()?)
    }

    fn read(file: &Path) -> Outcome<Self> {
        let mut file = BufReader::new(File::open(file)?);
        let header: Vec<u64> = numbers(&mut file, 3, u64::from_le_bytes)?;
        let (n_nodes, n_entries) = (header[0] as usize, header[1] as usize);
        let offsets = numbers(&mut file, n_nodes + 1, u64::from_le_bytes)?;
        let columns = numbers(&mut file, n_entries, u32::from_le_bytes)?;
        let weights = match header[2] {
            0 => Weights::Unit,
            4 => Weights::F32(numbers(&mut file, n_entries, f32::from_le_bytes)?.into()),
            _ => Weights::F64(numbers(&mut file, n_entries, f64::from_le_bytes)?.into()),
        };
        Ok(Self { offsets, columns, weights })
    }
}

fn numbers<T, const WIDTH: usize>(
    file: &mut impl Read,
    count: usize,
    number: fn([u8; WIDTH]) -> T,
) -> Outcome<Vec<T>> {
    let mut numbers = Vec::with_capacity(count);
    let mut bytes = [0; WIDTH];
    for _ in 0..count {
        file.read_exact(&mut bytes)?;
        numbers.push(number(bytes));
    }
    Ok(numbers)
}
