//! Constrained Laplacian rank (CLR): near the given graph one is learned that falls into exactly so many components.
//!
//! Nie, Wang, Jordan and Huang, *The Constrained Laplacian Rank Algorithm for Graph-Based Clustering*, AAAI 2016.

use super::{Spectrum, SpectrumSettings};
use crate::error::{Error, Result};
use crate::graph::{Graph, GraphBuilder, NodeId, Subgraph};
use crate::memory;
use crate::parallel::prelude::*;
use crate::partition::ClusterId;
use crate::progress::{Clock, Progress, Stage};

/// Rows that are worth a thread.
const ROWS: usize = 512;
/// Rounds with the same factor for lambda: as many as the authors' code makes. From then on it comes nearer to 1.
const FIRST_ROUNDS: usize = 30;
const ROUNDS_PER_FACTOR: usize = 10;
/// Of a difference that weights are divided by: none is smaller.
const SMALLEST: f64 = f64::EPSILON;

/// How far the learned graph is from the given one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Distance {
    /// The sum of the absolute differences of weights, which leaves most of them alone.
    L1,
    /// The sum of their squares.
    L2,
}

/// Clustering by constrained Laplacian rank.
///
/// The weights `S` of a learned graph, rows that add up to 1 and no link that the given graph `A` does not have, minimise
/// `|S - A| + 2 lambda tr(F^T L F)`, where `L` is the Laplacian of `(S + S^T) / 2` and the columns of `F` are its
/// eigenvectors of the `n_clusters` smallest eigenvalues. `S` and `F` are found in turn. `lambda` is doubled while
/// the learned graph has too few connected components and halved where it has too many.
///
/// ```
/// use ncut::{Clock, Graph, spectral::{Distance, LaplacianRank}};
/// let graph = Graph::from_edges(4, [(0, 1, 5.0), (1, 2, 0.1), (2, 3, 5.0)])?;
/// let learned = LaplacianRank::new(2, Distance::L2).run(&graph, &Clock::new())?;
/// assert_eq!(learned.labels, [0, 0, 1, 1]);
/// # Ok::<(), ncut::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaplacianRank {
    /// Components that the learned graph is to have.
    pub n_clusters: usize,
    /// How far the learned graph is from the given one.
    pub distance: Distance,
    /// `lambda` of the first round.
    pub first_lambda: f64,
    /// Rounds at most.
    pub max_rounds: usize,
    /// How the eigenvectors are computed.
    pub spectrum: SpectrumSettings,
}

/// A learned graph.
#[derive(Clone, Debug)]
pub struct LearnedGraph {
    /// The graph, whose weights are `(S + S^T) / 2`.
    pub graph: Graph<'static>,
    /// The component of every node, numbered by first appearance; a node without neighbours is in the largest one.
    pub labels: Vec<ClusterId>,
    /// Connected components, which is how often the Laplacian has the eigenvalue 0; nodes without neighbours left aside.
    /// Other than asked for where all rounds were used up.
    pub n_components: usize,
    /// Rounds that were made.
    pub rounds: usize,
    /// `lambda` of the last round.
    pub lambda: f64,
}

impl LaplacianRank {
    /// As the authors' code has it.
    pub fn new(n_clusters: usize, distance: Distance) -> Self {
        let spectrum = SpectrumSettings::default();
        Self { n_clusters, distance, first_lambda: 0.1, max_rounds: 100, spectrum }
    }

    /// Learns a graph near `graph`.
    ///
    /// # Errors
    /// When the given graph has more components than clusters are asked for (none are ever joined), `first_lambda` is no
    /// positive number, there is not enough memory, or the clock says stop.
    pub fn run(&self, graph: &Graph<'_>, clock: &Clock<'_>) -> Result<LearnedGraph> {
        let (n_clusters, lambda) = (self.n_clusters, self.first_lambda);
        if !(lambda > 0.0 && lambda.is_finite()) {
            let (value, expected) = (lambda.to_string(), "a positive number");
            return Err(Error::BadSetting { name: "the first lambda", value, expected });
        }
        graph.verify()?;
        let (what, remedy) = ("learning a graph", "use fewer neighbours, or ask for fewer clusters");
        memory::check(clock, what, Self::memory_needed(graph, n_clusters), remedy)?;
        let linked = |node: &NodeId| graph.neighbors(*node).next().is_some();
        let nodes: Vec<NodeId> = (0..graph.n_nodes() as NodeId).filter(linked).collect();
        if n_clusters == 0 || n_clusters > nodes.len() {
            let (n_nodes, nodes) = (nodes.len(), "nodes with neighbours");
            return Err(Error::BadClusterCount { n_clusters, n_nodes, nodes });
        }
        let part = Subgraph::between(graph, nodes)?;
        let n_given = part.graph().components().count();
        if n_given > n_clusters {
            return Err(Error::shape(format!(
                "the graph has {n_given} components and CLR joins none; ask for at least as many clusters, or use more neighbours"
            )));
        }
        let learned = self.learn(part.graph(), clock)?;
        let mut found = learned.found;
        let nobody = ClusterId::MAX;
        let mut labels = part.scatter(found.labels, nobody);
        labels.iter_mut().filter(|label| **label == nobody).for_each(|label| *label = learned.largest);
        number_by_first_appearance(&mut labels);
        found.labels = labels;
        if found.graph.n_nodes() < graph.n_nodes() {
            let kept = part.gather(&(0..graph.n_nodes() as NodeId).collect::<Vec<_>>());
            let edges = found.graph.edges();
            let edges = edges.map(|(from, to, weight)| (kept[from as usize], kept[to as usize], weight));
            found.graph = Graph::from_edges(graph.n_nodes(), edges)?;
        }
        Ok(found)
    }

    /// Bytes of memory that learning a graph takes, at the most: the weights of every link, given, learned and in a graph as it
    /// is made, and the eigenvectors.
    pub fn memory_needed(graph: &Graph<'_>, n_clusters: usize) -> u64 {
        let (n_nodes, n_entries) = (graph.n_nodes() as u64, graph.columns().len() as u64);
        let of_vectors = 16 * (n_clusters as u64).saturating_mul(n_nodes);
        let of_links = 110 * n_entries + 150 * n_nodes;
        Spectrum::memory_needed(graph, n_clusters).saturating_add(of_vectors).saturating_add(of_links)
    }

    /// The same for a graph in which every node has a neighbour.
    fn learn(&self, given: &Graph<'_>, clock: &Clock<'_>) -> Result<Learned> {
        let n_clusters = self.n_clusters;
        let mut links = Links::of(given, self.distance);
        let mut progress = Progress::new(Stage::Search, self.max_rounds as u64);
        clock.report(&progress)?;
        let mut smooth = self.smallest(&links.laplacian()?, clock)?;
        let (mut lambda, mut factor, mut rounds) = (self.first_lambda, 2.0_f64, 0);
        loop {
            links.learn(lambda, &smooth, n_clusters);
            rounds += 1;
            progress.done = rounds as u64;
            clock.report(&progress)?;
            let laplacian = links.laplacian()?;
            let n_components = laplacian.components().count();
            if n_components == n_clusters || rounds >= self.max_rounds {
                let graph = links.graph()?;
                let components = graph.components();
                // Of several as large the first.
                let largest =
                    components.largest().first().map_or(0, |&node| components.of_node[node as usize]);
                let labels = components.of_node;
                let found = LearnedGraph { graph, labels, n_components, rounds, lambda };
                return Ok(Learned { found, largest });
            }
            if rounds >= FIRST_ROUNDS && (rounds - FIRST_ROUNDS).is_multiple_of(ROUNDS_PER_FACTOR) {
                factor = factor.sqrt();
            }
            if n_components < n_clusters {
                lambda *= factor;
                smooth = self.smallest(&laplacian, clock)?;
            } else {
                // The eigenvectors stay those of the graph before.
                lambda /= factor;
            }
        }
    }

    /// The eigenvectors of the smallest eigenvalues of a Laplacian, row after row.
    fn smallest(&self, laplacian: &Graph<'_>, clock: &Clock<'_>) -> Result<Vec<f64>> {
        Ok(Spectrum::of(laplacian, self.n_clusters, &self.spectrum, clock)?.vectors)
    }
}

struct Learned {
    found: LearnedGraph,
    /// The label of the largest component.
    largest: ClusterId,
}

/// The links of a graph, both directions of each by itself.
struct Links {
    offsets: Vec<usize>,
    columns: Vec<NodeId>,
    given: Vec<f64>,
    learned: Vec<f64>,
    /// What differences weigh: with the distance L1, as squares that stand for absolute values.
    stiffness: Option<Vec<f64>>,
}

impl Links {
    fn of(graph: &Graph<'_>, distance: Distance) -> Self {
        let (mut columns, mut given, mut offsets) = (Vec::new(), Vec::new(), vec![0]);
        for node in 0..graph.n_nodes() as NodeId {
            graph.for_each_neighbor(node, |other, weight| {
                columns.push(other);
                given.push(weight);
            });
            offsets.push(columns.len());
        }
        let stiffness = (distance == Distance::L1).then(|| vec![1.0; given.len()]);
        Self { offsets, columns, learned: given.clone(), given, stiffness }
    }

    /// The best weights for the eigenvectors: each row is a projection to the simplex, by itself.
    fn learn(&mut self, lambda: f64, vectors: &[f64], n_vectors: usize) {
        let Self { offsets, columns, given, learned, stiffness } = self;
        let row_of = |node: usize| &vectors[node * n_vectors..][..n_vectors];
        // The squared distance of two rows of eigenvectors is what a link between them costs.
        let cost = |node: usize, entry: usize| {
            let pairs = row_of(node).iter().zip(row_of(columns[entry] as usize));
            pairs.map(|(a, b)| (a - b) * (a - b)).sum::<f64>()
        };
        let n_nodes = offsets.len() - 1;
        let firsts: Vec<usize> = (0..n_nodes).step_by(ROWS).collect();
        let found: Vec<Vec<f64>> = firsts
            .into_par_iter()
            .map(|first| {
                let mut weights = Vec::new();
                for node in first..n_nodes.min(first + ROWS) {
                    let entries = offsets[node]..offsets[node + 1];
                    let stiff = |entry: usize| stiffness.as_ref().map_or(1.0, |stiffness| stiffness[entry]);
                    let row = entries.map(|entry| {
                        let stiff = stiff(entry);
                        (given[entry] - lambda * cost(node, entry) / (2.0 * stiff), stiff)
                    });
                    weights.extend(project(&row.collect::<Vec<_>>()));
                }
                weights
            })
            .collect();
        let mut place = 0;
        for weights in found {
            learned[place..place + weights.len()].copy_from_slice(&weights);
            place += weights.len();
        }
        if let Some(stiffness) = stiffness {
            // |s - a| is the square of it over twice itself.
            for ((stiff, learned), given) in stiffness.iter_mut().zip(learned).zip(given) {
                let difference = *learned - *given;
                *stiff = 0.5 / (difference * difference + SMALLEST).sqrt();
            }
        }
    }

    /// The mean of both directions of every link that is left.
    fn edges(&self) -> Vec<(NodeId, NodeId, f64)> {
        // Rows ascend, and so do the columns of each: the other directions come in the order of a row.
        let mut next = self.offsets.clone();
        let mut edges = Vec::with_capacity(self.columns.len() / 2);
        for node in 0..self.offsets.len() - 1 {
            for entry in self.offsets[node]..self.offsets[node + 1] {
                let other = self.columns[entry] as usize;
                if other < node {
                    continue;
                }
                let mirror = next[other];
                next[other] += 1;
                let weight = f64::midpoint(self.learned[entry], self.learned[mirror]);
                if weight > 0.0 {
                    edges.push((node as NodeId, other as NodeId, weight));
                }
            }
        }
        edges
    }

    fn graph(&self) -> Result<Graph<'static>> {
        Graph::from_edges(self.offsets.len() - 1, self.edges())
    }

    /// The graph whose normalized matrix is `I - L / d`, `d` being the largest degree: self-loops bring all nodes to it. Its
    /// largest eigenvalues are the smallest of the Laplacian `L`, with the same vectors.
    fn laplacian(&self) -> Result<Graph<'static>> {
        let edges = self.edges();
        let mut degrees = vec![0.0; self.offsets.len() - 1];
        for &(from, to, weight) in &edges {
            degrees[from as usize] += weight;
            degrees[to as usize] += weight;
        }
        let largest = degrees.iter().copied().fold(0.0, f64::max);
        let mut builder = GraphBuilder::new(degrees.len())?;
        for (from, to, weight) in edges {
            builder.add_edge(from, to, weight)?;
        }
        for (node, degree) in degrees.into_iter().enumerate() {
            builder.add_edge(node as NodeId, node as NodeId, largest - degree)?;
        }
        builder.finish()
    }
}

/// The nearest point of the simplex: numbers from 0 up that add up to 1, with the least sum of `stiff (x - value)^2`, for
/// pairs of `value` and `stiff`. They are `max(value - t / stiff, 0)` for the one `t` with which they add up to 1.
fn project(row: &[(f64, f64)]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..row.len()).collect();
    // The larger value stiff, the larger t may be.
    order.sort_by(|&a, &b| (row[b].0 * row[b].1).total_cmp(&(row[a].0 * row[a].1)).then(a.cmp(&b)));
    let Some(&top) = order.first() else { return Vec::new() };
    // t counts from where all but the top one are 0: values may be so large that adding 1 changes nothing.
    let zero = row[top].0 * row[top].1;
    let above = |place: usize| if place == top { 0.0 } else { row[place].0 - zero / row[place].1 };
    let (mut sum, mut give, mut level) = (0.0, 0.0, 0.0);
    for &place in &order {
        let (next_sum, next_give) = (sum + above(place), give + 1.0 / row[place].1);
        let next_level = (next_sum - 1.0) / next_give;
        if above(place) * row[place].1 <= next_level {
            break;
        }
        (sum, give, level) = (next_sum, next_give, next_level);
    }
    (0..row.len()).map(|place| (above(place) - level / row[place].1).max(0.0)).collect()
}

fn number_by_first_appearance(labels: &mut [ClusterId]) {
    let n_labels = labels.iter().max().map_or(0, |&largest| largest as usize + 1);
    let (mut number, mut n_numbered) = (vec![ClusterId::MAX; n_labels], 0);
    for label in labels {
        let number = &mut number[*label as usize];
        if *number == ClusterId::MAX {
            *number = n_numbered;
            n_numbered += 1;
        }
        *label = *number;
    }
}
