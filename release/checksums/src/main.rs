//! Labels as checksums, to be compared between machines: `release/machines` runs this program on several and puts what it
//! prints side by side.
//!
//! A line is a graph, what is asked of it, the checksum of the labels, and the checksum of the numbers beside them to the last
//! bit: weights of the graph, objective. Everything is made here from seeds. The graphs and points that `release/machines` has put
//! into a folder are clustered, too, when that is named.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use ncut::image::{Picture, PictureGraph, PixelLinks};
use ncut::neighbors::{Affinity, Linking, PointGraph, Points, SearchMethod};
use ncut::spectral::{BalancedCut, Distance, LaplacianRank, Rival, Spectrum, SpectrumSettings, UpperBound};
use ncut::synthetic::{Planted, five_blocks, two_circles};
use ncut::{
    Before, Clock, Clustering, Confidence, Constraints, CountRule, Graph, GraphBuilder, Label, Limits, Ncut,
    NodeId, ObjectiveKind, Page, Preset,
};

type Outcome<T> = Result<T, Box<dyn Error>>;

const PRESETS: [Preset; 4] = [Preset::Paper, Preset::Fast, Preset::Default, Preset::Best];
const USUAL_PRESETS: [Preset; 3] = [Preset::Paper, Preset::Fast, Preset::Default];
const QUICK_PRESETS: [Preset; 2] = [Preset::Paper, Preset::Fast];

fn main() -> Outcome<()> {
    for case in small_graphs()? {
        case.by_presets(&PRESETS)?;
        case.by_options()?;
    }
    for case in middle_graphs()? {
        case.by_presets(&USUAL_PRESETS)?;
    }
    for case in large_graphs()? {
        case.by_presets(&QUICK_PRESETS)?;
    }
    points()?;
    pictures()?;
    page()?;
    spectra()?;
    if let Some(folder) = std::env::args().nth(1) {
        real(Path::new(&folder))?;
    }
    Ok(())
}

/// A graph and the number of clusters asked of it.
struct Case {
    name: String,
    n_clusters: usize,
    graph: Graph<'static>,
    started: Instant,
}

impl Case {
    fn new(name: &str, n_clusters: usize, graph: Graph<'static>) -> Self {
        Self { name: name.to_owned(), n_clusters, graph, started: Instant::now() }
    }

    /// Prints a line.
    fn tell(&self, setting: &str, labels: &[Label], numbers: &[f64]) {
        let mut of_labels = Checksum::new();
        labels.iter().for_each(|label| of_labels.add(&label.to_le_bytes()));
        println!("{}\t{setting}\t{:08x}\t{:08x}", self.name, of_labels.short(), of_numbers(numbers).short());
        if std::env::var_os("NCUT_TIMES").is_some() {
            eprintln!("{:8.2} s {} {setting}", self.started.elapsed().as_secs_f64(), self.name);
        }
    }

    fn tell_found(&self, setting: &str, found: &Clustering) {
        self.tell(setting, &found.labels, &[found.objective, found.ncut, found.modularity]);
    }

    fn solve(&self, setting: &str, settings: &Ncut) -> Outcome<Clustering> {
        let found = settings.solve(&self.graph)?;
        self.tell_found(setting, &found);
        Ok(found)
    }

    /// The weights and degrees of the graph.
    fn tell_graph(&self) {
        let mut numbers: Vec<f64> = self.graph.edges().map(|(_, _, weight)| weight).collect();
        numbers.extend((0..self.graph.n_nodes()).map(|node| self.graph.degree(node as NodeId)));
        let ends = self.graph.edges().flat_map(|(from, to, _)| [from as Label, to as Label]);
        self.tell("graph", &ends.collect::<Vec<_>>(), &numbers);
    }

    fn by_presets(&self, presets: &[Preset]) -> Outcome<()> {
        self.tell_graph();
        for &preset in presets {
            self.solve(preset.name(), &Ncut::new(self.n_clusters).preset(preset))?;
        }
        Ok(())
    }

    fn by_options(&self) -> Outcome<()> {
        let usual = || Ncut::new(self.n_clusters);
        self.solve("share 0", &usual().min_share(0.0))?;
        self.solve("fast, share 0.8, seed 7", &usual().preset(Preset::Fast).min_share(0.8).seed(7))?;
        self.solve("not connected", &usual().connected(false))?;
        self.solve("ratio-cut", &usual().objective(ObjectiveKind::RatioCut))?;
        self.solve("modularity", &usual().objective(ObjectiveKind::Modularity))?;
        self.solve("communities", &Ncut::communities(1.0))?;
        self.solve("communities, best", &Ncut::communities(0.7).preset(Preset::Best))?;
        self.solve("auto", &Ncut::auto())?;
        self.solve("tiny limits", &usual().limits(Limits::tiny()).min_share(0.0))?;
        self.solve("tiny limits, fast", &usual().limits(Limits::tiny()).preset(Preset::Fast))?;
        let found = self.solve("constraints", &usual().constraints(self.wishes()).preset(Preset::Fast))?;
        let ceiling = Constraints::new().max_share(1.1);
        self.solve("ceiling", &usual().constraints(ceiling).min_share(0.0).preset(Preset::Fast))?;

        let before = Before { labels: self.forgetful(&found.labels), gone: vec![] };
        let updated = Ncut::new(0).update(&self.graph, &before, Ncut::STAY, &Clock::new())?;
        self.tell("update", &updated.labels, &[updated.score.objective]);
        let sure = Confidence::of(&self.graph, &found.labels, ObjectiveKind::NormalizedCut, 2)?;
        let (leaning, shares): (Vec<Label>, Vec<f64>) = sure.members().iter().copied().unzip();
        self.tell("confidence", &leaning, &[sure.values, shares].concat());
        Ok(())
    }

    /// Known labels, and pairs together and apart.
    fn wishes(&self) -> Constraints {
        let n_nodes = self.graph.n_nodes() as NodeId;
        let n_fixed = n_nodes / 20;
        let is_fixed = |node: NodeId| node < n_fixed;
        let label = |node| if is_fixed(node) { (node as usize % self.n_clusters) as Label } else { -1 };
        let pair = |first: NodeId| (first, first + n_nodes / 3);
        Constraints::new()
            .fixed((0..n_nodes).map(label).collect())
            .must_link((n_fixed..2 * n_fixed).map(pair))
            .cannot_link((2 * n_fixed..3 * n_fixed).map(pair))
    }

    /// Labels of which every seventh is forgotten and every eleventh wrong.
    fn forgetful(&self, labels: &[Label]) -> Vec<Label> {
        let n_clusters = self.n_clusters as Label;
        let changed = |(node, &label): (usize, &Label)| match (node % 7, node % 11) {
            (0, _) => -1,
            (_, 0) => (label + 1) % n_clusters,
            _ => label,
        };
        labels.iter().enumerate().map(changed).collect()
    }
}

/// Small graphs of many kinds, which preset `best` is done with within a second.
fn small_graphs() -> Outcome<Vec<Case>> {
    let planted = Planted::new(160, 5).graph(1)?.graph;
    let weighted = reweighted(&planted)?;
    let mesh = mesh(13)?;
    Ok(vec![
        Case::new("planted", 5, planted),
        Case::new("planted, weighted", 5, weighted),
        Case::new("planted, noisy", 4, Planted { mixing: 0.6, ..Planted::new(120, 4) }.graph(3)?.graph),
        Case::new("mesh, weighted", 6, reweighted(&mesh)?),
        Case::new("mesh", 7, mesh),
        Case::new("hubs", 5, hubs(150, 3)?),
        Case::new("random", 4, random(120, 400)?),
        Case::new("pieces", 8, pieces()?),
    ])
}

fn middle_graphs() -> Outcome<Vec<Case>> {
    Ok(vec![
        Case::new("blocks", 5, five_blocks(0.9, 2)?.graph),
        Case::new("planted, 900 nodes", 6, reweighted(&Planted::new(900, 6).graph(1)?.graph)?),
        Case::new("mesh, 1600 nodes, weighted", 12, reweighted(&mesh(40)?)?),
        Case::new("hubs, 800 nodes", 7, hubs(800, 3)?),
    ])
}

/// Beyond the thresholds at which the search changes its way.
fn large_graphs() -> Outcome<Vec<Case>> {
    Ok(vec![
        Case::new("planted, 20 thousand nodes", 40, Planted::new(20_000, 40).graph(1)?.graph),
        Case::new("planted, 60 thousand nodes", 30, reweighted(&Planted::new(60_000, 30).graph(1)?.graph)?),
        Case::new("mesh, 40 thousand nodes", 50, mesh(200)?),
        Case::new("hubs, 10 thousand nodes", 25, hubs(10_000, 6)?),
    ])
}

fn points() -> Outcome<()> {
    let circles = two_circles(40, 5).coordinates;
    let blobs = blobs(300, 12, 6);
    let short: Vec<f32> = blobs.iter().map(|&value| value as f32).collect();
    let [circles, blobs, short] =
        [Points::new(&circles, 2)?, Points::new(&blobs, 12)?, Points::new(&short, 12)?];
    let usual = PointGraph { n_neighbors: 12, ..PointGraph::default() };
    let by = |affinity| PointGraph { affinity, ..usual };
    let approximate = PointGraph { method: SearchMethod::Approximate, ..usual };
    let cases = [
        ("circles, self-tuning", circles, usual, 2),
        ("circles, rbf", circles, by(Affinity::Rbf { gamma: Some(30.0) }), 2),
        ("points, self-tuning", blobs, usual, 6),
        ("points, knn", blobs, by(Affinity::Knn), 6),
        ("points, rbf", blobs, by(Affinity::Rbf { gamma: None }), 6),
        ("points, cosine", blobs, by(Affinity::Cosine), 6),
        ("points, adaptive", blobs, by(Affinity::Adaptive), 6),
        ("points, mutual", blobs, PointGraph { linking: Linking::Mutual, ..usual }, 6),
        ("points, approximate", blobs, approximate, 6),
        ("points, approximate, cosine", blobs, PointGraph { affinity: Affinity::Cosine, ..approximate }, 6),
        ("points of 32 bits, self-tuning", short, usual, 6),
        ("points of 32 bits, adaptive", short, by(Affinity::Adaptive), 6),
        ("points of 32 bits, approximate", short, approximate, 6),
    ];
    for (name, points, settings, n_clusters) in cases {
        let linked = settings.link(points, &Clock::new())?;
        let case = Case::new(name, n_clusters, linked.graph);
        case.by_presets(&USUAL_PRESETS)?;
        // The points themselves, moved a little, as new ones.
        let moved: Vec<f64> = (0..points.count())
            .flat_map(|point| points.coordinates(point).map(|value| 1.01 * value + 0.003))
            .collect();
        let moved = Points::new(&moved, points.n_features())?;
        let new = settings.link_new(moved, points, &linked.scale, &Clock::new())?;
        let found = Ncut::new(n_clusters).preset(Preset::Fast).solve(&case.graph)?;
        case.tell("out of sample", &new.place(&found.labels, &found.clusters)?, new.weights());
    }
    // So many that the search by tiles, and that by trees, have more than one of each.
    for (name, method) in [("exact", SearchMethod::Exact), ("approximate", SearchMethod::Approximate)] {
        let many = self::blobs(4_000, 24, 10);
        let many = Points::new(&many, 24)?;
        let graph = PointGraph { method, ..usual }.build(many, &Clock::new())?;
        Case::new(&format!("4 thousand points, {name}"), 10, graph).by_presets(&QUICK_PRESETS)?;
    }
    Ok(())
}

fn pictures() -> Outcome<()> {
    let clock = Clock::new();
    let grey = picture(24, 20, 1)?;
    let colour = picture(20, 24, 3)?;
    let prepared = picture(90, 70, 3)?.prepare(1.5, Some(0.4), &clock)?.into_owned();
    let whole = picture(60, 48, 1)?.whole().prepare(2.0, Some(0.6), &clock)?.into_owned();
    let by = |links| PictureGraph { links, ..PictureGraph::default() };
    for (name, picture, links) in [
        ("grey picture, grid4", &grey, PixelLinks::Grid4),
        ("grey picture, radius", &grey, PixelLinks::Radius(4.0)),
        ("colour picture, grid8", &colour, PixelLinks::Grid8),
        ("colour picture, blurred and scaled", &prepared, PixelLinks::Grid4),
        ("whole numbers, blurred and scaled", &whole, PixelLinks::Grid4),
    ] {
        let case = Case::new(name, 6, by(links).build(picture, &clock)?);
        case.by_presets(&USUAL_PRESETS)?;
    }
    Ok(())
}

/// The whole page about a clustering, places of the nodes included.
fn page() -> Outcome<()> {
    let case = Case::new("blocks", 5, five_blocks(0.5, 1)?.graph);
    let found = Ncut::new(5).solve(&case.graph)?;
    let html = Page::new("blocks", &case.graph, &found.labels).html(&Clock::new())?;
    let bytes: Vec<Label> = html.bytes().map(Label::from).collect();
    case.tell("page", &bytes, &[]);
    Ok(())
}

/// What rests on eigenvectors. Their last digits depend on the machine: what is compared is labels, numbers of clusters, and
/// values to the digits that are printed.
fn spectra() -> Outcome<()> {
    let clock = Clock::new();
    let settings = SpectrumSettings::default();
    let circles = two_circles(0, 5).coordinates;
    let ring = PointGraph::default().build(Points::new(&circles, 2)?, &clock)?;
    for case in [
        Case::new("blocks", 5, five_blocks(0.5, 1)?.graph),
        Case::new("circles", 2, ring),
        Case::new("planted, 900 nodes", 6, Planted::new(900, 6).graph(1)?.graph),
        Case::new("mesh, 1600 nodes", 12, mesh(40)?),
    ] {
        let graph = &case.graph;
        let spectrum = Spectrum::of(graph, case.n_clusters, &settings, &clock)?;
        let bound = UpperBound::of(graph, case.n_clusters, &settings, &clock)?;
        let printed = |value: f64| (value * 1e4).round() as Label;
        case.tell("bound", &[printed(bound.value)], &[]);
        case.tell(
            "eigenvalues",
            &spectrum.values.iter().map(|&value| printed(value)).collect::<Vec<_>>(),
            &[],
        );
        let start = Ncut::new(case.n_clusters).preset(Preset::Paper).solve(graph)?.labels;
        let start: Vec<u32> = start.into_iter().map(|label| label as u32).collect();
        let tell = |setting: &str, labels: Vec<u32>| {
            case.tell(setting, &labels.into_iter().map(|label| label as Label).collect::<Vec<_>>(), &[]);
        };
        for rival in Rival::ALL {
            tell(rival.name(), rival.solve(graph, &spectrum, &start, &clock)?);
        }
        tell("CLR", LaplacianRank::new(case.n_clusters, Distance::L2).run(graph, &clock)?.labels);
        tell("SBMC", BalancedCut::default().run(graph, case.n_clusters, &start, &clock)?.labels);
        let curve = Ncut::new(1).count_rule(CountRule::Gap).choose(graph, 1..=case.n_clusters + 2, &clock)?;
        let numbers = [curve.suggested, curve.best_in_range, curve.by_eigengap.unwrap_or(0)];
        case.tell("choose", &numbers.map(|number| number as Label), &[]);
    }
    Ok(())
}

/// Graphs and points of files, in a form that needs no reader: numbers of 8 bytes, those of a graph being its nodes and then
/// both ends and the weight of every edge, those of points their features and then all coordinates.
fn real(folder: &Path) -> Outcome<()> {
    for (name, n_clusters) in REAL_GRAPHS {
        let numbers = plain(folder, name)?;
        let (n_nodes, edges) = numbers.split_first().ok_or("an empty file")?;
        let edges = edges.chunks_exact(3).map(|edge| (edge[0] as NodeId, edge[1] as NodeId, edge[2]));
        let graph = Graph::from_edges(*n_nodes as usize, edges)?;
        Case::new(name, n_clusters, graph).by_presets(&QUICK_PRESETS)?;
    }
    for (name, n_clusters) in REAL_POINTS {
        let numbers = plain(folder, name)?;
        let (n_features, values) = numbers.split_first().ok_or("an empty file")?;
        let points = Points::new(values, *n_features as usize)?;
        let graph = PointGraph::default().build(points, &Clock::new())?;
        Case::new(name, n_clusters, graph).by_presets(&QUICK_PRESETS)?;
    }
    Ok(())
}

const REAL_GRAPHS: [(&str, usize); 3] = [("airfoil1", 16), ("email-Eu-core", 42), ("planetoid_cora", 7)];
const REAL_POINTS: [(&str, usize); 2] = [("german", 2), ("segment", 7)];

fn plain(folder: &Path, name: &str) -> Outcome<Vec<f64>> {
    let bytes = std::fs::read(folder.join(name))?;
    let number = |bytes: &[u8]| Ok(f64::from_le_bytes(bytes.try_into()?));
    bytes.chunks_exact(8).map(number).collect()
}

/// The graph with weights between 0.5 and 1.5.
fn reweighted(graph: &Graph<'_>) -> Outcome<Graph<'static>> {
    let mut draw = Draw(9);
    let mut builder = GraphBuilder::new(graph.n_nodes())?;
    for (from, to, _) in graph.edges() {
        builder.add_edge(from, to, 0.5 + draw.uniform())?;
    }
    Ok(builder.finish()?)
}

/// A square of `side * side` nodes, each linked to six around it.
fn mesh(side: NodeId) -> Outcome<Graph<'static>> {
    let mut builder = GraphBuilder::new((side * side) as usize)?;
    for (row, column) in (0..side).flat_map(|row| (0..side).map(move |column| (row, column))) {
        let node = row * side + column;
        let (is_inside, is_above) = (column + 1 < side, row + 1 < side);
        for (other, is_there) in
            [(node + 1, is_inside), (node + side, is_above), (node + side + 1, is_inside && is_above)]
        {
            if is_there {
                builder.add_edge(node, other, 1.0)?;
            }
        }
    }
    Ok(builder.finish()?)
}

/// Every new node is linked to ends of edges there are: few nodes have most of the links.
fn hubs(n_nodes: NodeId, n_links: NodeId) -> Outcome<Graph<'static>> {
    let mut draw = Draw(4);
    let mut ends: Vec<NodeId> = (0..n_links).collect();
    let mut builder = GraphBuilder::new(n_nodes as usize)?;
    for node in n_links..n_nodes {
        let mut others: Vec<NodeId> = (0..n_links).map(|_| ends[draw.below(ends.len())]).collect();
        others.sort_unstable();
        others.dedup();
        for other in others {
            builder.add_edge(node, other, 1.0)?;
            ends.extend([node, other]);
        }
    }
    Ok(builder.finish()?)
}

fn random(n_nodes: usize, n_edges: usize) -> Outcome<Graph<'static>> {
    let mut draw = Draw(8);
    let mut pairs: Vec<(NodeId, NodeId)> = Vec::new();
    while pairs.len() < n_edges {
        let (from, to) = (draw.below(n_nodes) as NodeId, draw.below(n_nodes) as NodeId);
        if from < to {
            pairs.push((from, to));
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    Ok(Graph::from_edges(n_nodes, pairs.into_iter().map(|(from, to)| (from, to, 1.0)))?)
}

/// Planted graphs, a star and a clique that are not linked with each other, and nodes without any edge.
fn pieces() -> Outcome<Graph<'static>> {
    let mut edges: Vec<(NodeId, NodeId, f64)> = Vec::new();
    let mut n_nodes = 0;
    for seed in 0..4 {
        let part = Planted { mean_degree: 8.0, ..Planted::new(50, 2) }.graph(seed)?.graph;
        edges.extend(part.edges().map(|(from, to, weight)| (from + n_nodes, to + n_nodes, weight)));
        n_nodes += 50;
    }
    edges.extend((1..40).map(|leaf| (n_nodes, n_nodes + leaf, 2.0)));
    n_nodes += 40;
    edges.extend((0..12).flat_map(|to| (0..to).map(move |from| (n_nodes + from, n_nodes + to, 0.5))));
    n_nodes += 12;
    Ok(Graph::from_edges(n_nodes as usize + 10, edges)?)
}

/// Clouds of points around as many centres.
fn blobs(n_points: usize, n_features: usize, n_centres: usize) -> Vec<f64> {
    let mut draw = Draw(6);
    let centres: Vec<f64> = (0..n_centres * n_features).map(|_| 4.0 * draw.uniform()).collect();
    let mut points = Vec::with_capacity(n_points * n_features);
    for point in 0..n_points {
        let centre = &centres[point % n_centres * n_features..][..n_features];
        // Twelve even numbers make a bell.
        let mut noise = || (0..12).map(|_| draw.uniform()).sum::<f64>() - 6.0;
        points.extend(centre.iter().map(|place| place + 0.7 * noise()));
    }
    points
}

/// Stripes, a disc and noise, in values from 0 to 255.
fn picture(height: usize, width: usize, n_channels: usize) -> Outcome<Picture> {
    let mut draw = Draw(2);
    let mut values = Vec::with_capacity(height * width * n_channels);
    for (row, column) in (0..height).flat_map(|row| (0..width).map(move |column| (row, column))) {
        let (y, x) = (row as f64 / height as f64 - 0.5, column as f64 / width as f64 - 0.5);
        let is_disc = x * x + y * y < 0.06;
        for channel in 0..n_channels {
            let stripe = if (4.0 * x + 2.0) as usize % 2 == channel % 2 { 60.0 } else { 120.0 };
            let value = if is_disc { 200.0 - 30.0 * channel as f64 } else { stripe };
            values.push((value + 20.0 * draw.uniform()).floor());
        }
    }
    Ok(Picture::new(height, width, n_channels, values, 255.0)?)
}

/// SplitMix64.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}

fn of_numbers(numbers: &[f64]) -> Checksum {
    let mut checksum = Checksum::new();
    numbers.iter().for_each(|number| checksum.add(&number.to_bits().to_le_bytes()));
    checksum
}

/// FNV-1a.
struct Checksum(u64);

impl Checksum {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn short(&self) -> u32 {
        (self.0 ^ (self.0 >> 32)) as u32
    }
}
