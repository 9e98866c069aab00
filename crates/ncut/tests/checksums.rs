//! The labels of many graphs, compared with the list in `checksums.txt`: a change of the code that is not meant to change
//! labels does not.
//!
//! `NCUT_RENEW=1 cargo test --release -p ncut --test checksums` writes the list anew, for a change that is meant to (with
//! `-- NAME` only the graphs whose name has that in it). The
//! graphs are those of the folder that `NCUT_DATA` names, two pictures (`NCUT_COINS`, `NCUT_ASTRONAUT`), and planted
//! graphs, meshes and others above every threshold of the search. What is not there is reported as ignored, and so is a
//! slow one, unless `--include-ignored` asks for it; so are the lines without a share of large graphs.

mod common;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use common::data::{check, graph, set_graph};
use libtest_mimic::{Arguments, Failed, Trial};
use ncut::image::{Picture, PictureGraph};
use ncut::io::read_bytes;
use ncut::synthetic::Planted;
use ncut::{Clock, Graph, GraphBuilder, Label, Ncut, Preset};

const LIST: &str = include_str!("checksums.txt");

/// The lines of a graph.
const SETTINGS: [(Preset, f64); 5] = [
    (Preset::Paper, 0.0),
    (Preset::Fast, 0.0),
    (Preset::Fast, 0.25),
    (Preset::Default, 0.0),
    (Preset::Default, 0.25),
];
/// Graphs with more entries are compared without a share only when slow tests are asked for.
const MAX_ENTRIES_WITHOUT_SHARE: usize = 100_000;

type MakeGraph = Arc<dyn Fn() -> Result<Graph<'static>, Failed> + Send + Sync>;

/// A graph, the number of clusters asked of it, and whether what it is made of is there.
struct Case {
    name: String,
    n_clusters: usize,
    graph: MakeGraph,
    is_there: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut cases = generated();
    cases.extend(real());
    cases.extend(pictures());
    if std::env::var_os("NCUT_RENEW").is_some() {
        if let Some(part) = &arguments.filter {
            cases.retain(|case| case.name.contains(part));
        }
        return match renew(&cases) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failed) => {
                eprintln!("{failed:?}");
                ExitCode::FAILURE
            }
        };
    }
    let known = listed(LIST);
    let trial = |case: Case| {
        let known: Vec<_> = known.get(&case.name).cloned().unwrap_or_default();
        let Case { name, n_clusters, graph, is_there } = case;
        let run = move || {
            let graph = graph()?;
            let is_compared = |setting: &(Preset, f64)| is_compared(&graph, *setting);
            let found = lines(&name, n_clusters, &graph, is_compared)?;
            let known: Vec<String> = known
                .iter()
                .zip(SETTINGS)
                .filter(|(_, setting)| is_compared(setting))
                .map(|(line, _)| line.clone())
                .collect();
            check(found == known, || format!("labels have changed\nbefore: {known:#?}\nnow: {found:#?}"))
        };
        (run, is_there)
    };
    let trials = cases.into_iter().map(|case| {
        let name = format!("labels_of_{}_are_as_listed", case.name);
        let (run, is_there) = trial(case);
        Trial::test(name, run).with_ignored_flag(!is_there)
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

/// Writes the list for all cases that are there, one after the other; the lines of others stay, and so do those that are
/// compared on request only, unless this is one.
fn renew(cases: &[Case]) -> Result<(), Failed> {
    let mut known = listed(LIST);
    for case in cases.iter().filter(|case| case.is_there) {
        let graph = (case.graph)()?;
        let before = known.get(&case.name).cloned().unwrap_or_default();
        let is_compared =
            |setting: &(Preset, f64)| before.len() < SETTINGS.len() || is_compared(&graph, *setting);
        let mut anew = lines(&case.name, case.n_clusters, &graph, is_compared)?.into_iter();
        let line =
            |(place, setting)| if is_compared(setting) { anew.next() } else { before.get(place).cloned() };
        let all: Vec<String> = SETTINGS.iter().enumerate().filter_map(line).collect();
        known.insert(case.name.clone(), all);
        write_list(&known)?;
    }
    Ok(())
}

fn write_list(known: &BTreeMap<String, Vec<String>>) -> Result<(), Failed> {
    let mut text = String::from("# graph, clusters, preset, share, objective, checksum of the labels\n");
    for line in known.values().flatten() {
        writeln!(text, "{line}")?;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/checksums.txt");
    Ok(std::fs::write(path, text)?)
}

/// Whether a line is compared. Without a share a large graph is solved several times over: by `--include-ignored` only.
fn is_compared(graph: &Graph<'_>, (preset, share): (Preset, f64)) -> bool {
    let is_brief = graph.columns().len() > MAX_ENTRIES_WITHOUT_SHARE && !includes_ignored();
    !is_brief || preset == Preset::Paper || share > 0.0
}

/// The lines of the list by the name of their graph.
fn listed(list: &str) -> BTreeMap<String, Vec<String>> {
    let mut known: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        let name = line.split_whitespace().next().unwrap_or_default();
        known.entry(name.to_owned()).or_default().push(line.to_owned());
    }
    known
}

/// One line for every preset and share.
fn lines(
    name: &str,
    n_clusters: usize,
    graph: &Graph<'_>,
    is_compared: impl Fn(&(Preset, f64)) -> bool,
) -> Result<Vec<String>, Failed> {
    let line = |(preset, min_share): (Preset, f64)| {
        let found = Ncut::new(n_clusters).preset(preset).min_share(min_share).solve(graph)?;
        let (objective, checksum) = (found.objective, checksum(&found.labels));
        Ok(format!("{name} {n_clusters} {} {min_share} {objective:.6} {checksum:016x}", preset.name()))
    };
    SETTINGS.into_iter().filter(is_compared).map(line).collect()
}

fn includes_ignored() -> bool {
    std::env::args().any(|argument| argument.ends_with("ignored"))
}

/// FNV-1a over the labels.
fn checksum(labels: &[Label]) -> u64 {
    let bytes = labels.iter().flat_map(|label| label.to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The graphs and points of the data folder.
fn real() -> Vec<Case> {
    let data = std::env::var_os("NCUT_DATA").map(PathBuf::from);
    let is_there = data.is_some();
    let data = data.unwrap_or_default();
    let graphs = [
        ("4elt", 32),
        ("airfoil1", 16),
        ("PGPgiantcompo", 50),
        ("ego_facebook", 20),
        ("planetoid_cora", 7),
        ("hep-th", 100),
        ("email-Eu-core", 42),
        ("lastfm", 18),
        ("cnr-2000", 40),
    ];
    let sets = [
        ("german", 2),
        ("segment", 7),
        ("umist", 20),
        ("mnist10_like", 10),
        ("msra25", 12),
        ("waveform21_5000", 3),
        ("keel_letter", 26),
    ];
    let of_graph = |(name, n_clusters): (&'static str, usize)| {
        let data = data.clone();
        let graph: MakeGraph = Arc::new(move || self::graph(&data, name));
        Case { name: name.to_owned(), n_clusters, graph, is_there }
    };
    let of_set = |(name, n_clusters): (&'static str, usize)| {
        let data = data.clone();
        let graph: MakeGraph = Arc::new(move || Ok(set_graph(&data, name)?.0));
        Case { name: name.to_owned(), n_clusters, graph, is_there }
    };
    graphs.into_iter().map(of_graph).chain(sets.into_iter().map(of_set)).collect()
}

fn pictures() -> Vec<Case> {
    let case = |name: &str, variable: &str, n_clusters: usize, scale: f64| {
        let path = std::env::var_os(variable).map(PathBuf::from);
        let is_there = path.is_some();
        let path = path.unwrap_or_default();
        let graph: MakeGraph = Arc::new(move || {
            let picture = Picture::decode(&read_bytes(&path, &Clock::new())?, &path)?;
            let blurred = picture.blur(2.0, &Clock::new())?;
            let small = blurred.rescale(scale, &Clock::new())?;
            Ok(PictureGraph::default().build(&small, &Clock::new())?)
        });
        Case { name: name.to_owned(), n_clusters, graph, is_there }
    };
    vec![
        case("coins", "NCUT_COINS", 25, 0.2),
        case("coins_at_full_size", "NCUT_COINS", 25, 1.0),
        case("astronaut", "NCUT_ASTRONAUT", 12, 0.5),
    ]
}

/// Planted graphs and meshes of sizes between the thresholds of the search, with and without weights; and graphs that
/// coarsen badly: hubs, stars, nothing to find.
fn generated() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |name: String, n_clusters: usize, graph: MakeGraph| {
        cases.push(Case { name, n_clusters, graph, is_there: true });
    };
    // Entries: 20 a node. Above 300 thousand, a million, 6 and 8 million entries other ways are taken.
    for (n_nodes, n_clusters) in [(2_000, 8), (20_000, 40), (60_000, 30), (350_000, 400), (500_000, 60)] {
        for weighted in [false, true] {
            let suffix = if weighted { "_weighted" } else { "" };
            let graph = move || {
                let planted = Planted::new(n_nodes, n_clusters).graph(1)?.graph;
                if weighted { reweighted(&planted) } else { Ok(planted) }
            };
            add(format!("planted_{n_nodes}{suffix}"), n_clusters, Arc::new(graph));
        }
    }
    // Few clusters of many nodes, and more noise.
    let noisy = || Ok(Planted { mixing: 0.5, ..Planted::new(100_000, 12) }.graph(3)?.graph);
    add("planted_noisy".to_owned(), 12, Arc::new(noisy));
    for (side, n_clusters) in [(40, 7), (250, 64), (430, 20), (1_100, 100), (1_300, 16)] {
        for weighted in [false, true] {
            let suffix = if weighted { "_weighted" } else { "" };
            let graph = move || {
                let mesh = mesh(side)?;
                if weighted { reweighted(&mesh) } else { Ok(mesh) }
            };
            add(format!("mesh_{side}{suffix}"), n_clusters, Arc::new(graph));
        }
    }
    add("hubs_2000".to_owned(), 9, Arc::new(|| hubs(2_000, 3)));
    add("hubs_100000".to_owned(), 25, Arc::new(|| hubs(100_000, 8)));
    add("star".to_owned(), 5, Arc::new(|| star(3_000)));
    add("random".to_owned(), 10, Arc::new(|| random(80_000, 800_000)));
    // A minute and a half: only on request.
    let is_asked_for = includes_ignored();
    let slow: MakeGraph = Arc::new(|| hubs(600_000, 8));
    cases.push(Case { name: "hubs_600000".to_owned(), n_clusters: 50, graph: slow, is_there: is_asked_for });
    cases
}

/// The graph with weights between 0.5 and 1.5 that depend on the ends of the edge.
fn reweighted(graph: &Graph<'_>) -> Result<Graph<'static>, Failed> {
    let mut builder = GraphBuilder::new(graph.n_nodes())?;
    for (from, to, _) in graph.edges() {
        let pair = u64::from(from) << 32 | u64::from(to);
        builder.add_edge(from, to, 0.5 + (mixed(pair) >> 11) as f64 / (1u64 << 53) as f64)?;
    }
    Ok(builder.finish()?)
}

/// A square of `side * side` nodes, each linked to six around it.
fn mesh(side: u32) -> Result<Graph<'static>, Failed> {
    let mut builder = GraphBuilder::new((side * side) as usize)?;
    for (row, column) in (0..side).flat_map(|row| (0..side).map(move |column| (row, column))) {
        let node = row * side + column;
        if column + 1 < side {
            builder.add_edge(node, node + 1, 1.0)?;
        }
        if row + 1 < side {
            builder.add_edge(node, node + side, 1.0)?;
        }
        if row + 1 < side && column + 1 < side {
            builder.add_edge(node, node + side + 1, 1.0)?;
        }
    }
    Ok(builder.finish()?)
}

/// Barabasi and Albert: every new node is linked to ends of edges there are.
fn hubs(n_nodes: u32, n_links: u32) -> Result<Graph<'static>, Failed> {
    let mut ends: Vec<u32> = (0..n_links).collect();
    let mut builder = GraphBuilder::new(n_nodes as usize)?;
    for node in n_links..n_nodes {
        let n_ends = ends.len() as u64;
        let draw = |link: u32| mixed(u64::from(node) << 8 | u64::from(link)) % n_ends;
        let mut others: Vec<u32> = (0..n_links).map(|link| ends[draw(link) as usize]).collect();
        others.sort_unstable();
        others.dedup();
        for other in others {
            builder.add_edge(node, other, 1.0)?;
            ends.extend([node, other]);
        }
    }
    Ok(builder.finish()?)
}

fn star(n_leaves: u32) -> Result<Graph<'static>, Failed> {
    Ok(Graph::from_edges(n_leaves as usize + 1, (1..=n_leaves).map(|leaf| (0, leaf, 1.0)))?)
}

fn random(n_nodes: u64, n_edges: u64) -> Result<Graph<'static>, Failed> {
    let end = |draw: u64| (mixed(draw) % n_nodes) as u32;
    let mut pairs: Vec<(u32, u32)> =
        (0..n_edges).map(|edge| (end(2 * edge), end(2 * edge + 1))).filter(|(a, b)| a < b).collect();
    pairs.sort_unstable();
    pairs.dedup();
    Ok(Graph::from_edges(n_nodes as usize, pairs.into_iter().map(|(from, to)| (from, to, 1.0)))?)
}

/// A step of SplitMix64.
fn mixed(number: u64) -> u64 {
    let mut bits = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
