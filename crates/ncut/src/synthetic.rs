//! Graphs and points made from a seed: the paper's two examples, and planted clusters for benchmarks.

use crate::error::{Error, Result};
use crate::graph::{Graph, GraphBuilder, NodeId};
use crate::metrics::{Label, UNLABELLED};
use crate::random::Random;

/// Points in the plane and where they come from.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanePoints {
    /// `x0, y0, x1, y1, …`
    pub coordinates: Vec<f64>,
    /// The true cluster of every point, -1 for noise.
    pub labels: Vec<Label>,
}

/// The paper's noisy two circles (its figure 3): 200 points on each of two concentric circles, and
/// `n_noise` points spread evenly over the square around them.
pub fn two_circles(n_noise: usize, seed: u64) -> PlanePoints {
    const POINTS_PER_CIRCLE: usize = 200;
    const RADII: [f64; 2] = [0.5, 1.0];
    const JITTER: f64 = 0.02;
    let mut random = Random::new(seed);
    let mut points = PlanePoints { coordinates: Vec::new(), labels: Vec::new() };
    for (label, radius) in RADII.into_iter().enumerate() {
        for _ in 0..POINTS_PER_CIRCLE {
            let angle = std::f64::consts::TAU * random.uniform();
            points.coordinates.push(radius * libm::cos(angle) + JITTER * random.normal());
            points.coordinates.push(radius * libm::sin(angle) + JITTER * random.normal());
            points.labels.push(label as Label);
        }
    }
    for _ in 0..n_noise {
        points.coordinates.push(2.4 * random.uniform() - 1.2);
        points.coordinates.push(2.4 * random.uniform() - 1.2);
        points.labels.push(UNLABELLED);
    }
    points
}

/// A graph and its true clusters.
#[derive(Clone, Debug)]
pub struct LabelledGraph {
    /// The graph.
    pub graph: Graph<'static>,
    /// The true cluster of every node.
    pub labels: Vec<Label>,
}

/// The paper's five blocks (its figure 1): 5 times 100 nodes, every pair linked with a uniform random
/// weight, larger inside a block (up to 1) than between blocks (up to `noise`).
///
/// # Errors
/// When `noise` is not a positive number.
pub fn five_blocks(noise: f64, seed: u64) -> Result<LabelledGraph> {
    const N_BLOCKS: usize = 5;
    const NODES_PER_BLOCK: usize = 100;
    let n_nodes = N_BLOCKS * NODES_PER_BLOCK;
    if !(noise > 0.0 && noise.is_finite()) {
        return Err(Error::BadSetting {
            name: "noise",
            value: noise.to_string(),
            expected: "a positive number",
        });
    }
    let mut random = Random::new(seed);
    let mut builder = GraphBuilder::new(n_nodes)?;
    for from in 0..n_nodes {
        for to in from + 1..n_nodes {
            let same = from / NODES_PER_BLOCK == to / NODES_PER_BLOCK;
            let weight = random.uniform() * if same { 1.0 } else { noise };
            builder.add_edge(from as NodeId, to as NodeId, weight)?;
        }
    }
    let labels = (0..n_nodes).map(|node| (node / NODES_PER_BLOCK) as Label).collect();
    Ok(LabelledGraph { graph: builder.finish()?, labels })
}

/// A planted partition: clusters whose sizes follow a Pareto law, edges mostly inside them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Planted {
    /// Number of nodes.
    pub n_nodes: usize,
    /// Number of clusters.
    pub n_clusters: usize,
    /// Mean number of edges at a node.
    pub mean_degree: f64,
    /// Share of edges whose ends are drawn from the whole graph.
    pub mixing: f64,
    /// Exponent of the Pareto law of the cluster sizes.
    pub exponent: f64,
    /// Smallest cluster, as a share of the mean size.
    pub smallest: f64,
}

impl Planted {
    /// 20 edges a node, 30 % of them random, sizes by Pareto(1.5), none under 0.3 of the mean.
    pub fn new(n_nodes: usize, n_clusters: usize) -> Self {
        Self { n_nodes, n_clusters, mean_degree: 20.0, mixing: 0.3, exponent: 1.5, smallest: 0.3 }
    }

    /// The graph of `seed`. Nodes are numbered in random order, so that a number says nothing about the
    /// cluster; edges drawn twice count once.
    ///
    /// # Errors
    /// When there are no clusters or more than nodes, or the mean degree is out of range.
    pub fn graph(&self, seed: u64) -> Result<LabelledGraph> {
        let Self { n_nodes, n_clusters, .. } = *self;
        if n_clusters == 0 || n_clusters > n_nodes {
            return Err(Error::BadClusterCount { n_clusters, n_nodes, nodes: "nodes" });
        }
        if !(self.mean_degree >= 0.0 && self.mean_degree <= 1e6) {
            let (value, expected) = (self.mean_degree.to_string(), "from 0 to a million");
            return Err(Error::BadSetting { name: "mean_degree", value, expected });
        }
        let mut random = Random::new(seed);
        let starts = self.cluster_starts(&mut random);
        let mut number: Vec<NodeId> = (0..n_nodes as NodeId).collect();
        for place in (1..n_nodes).rev() {
            number.swap(place, random.below(place as u32 + 1) as usize);
        }
        let mut labels = vec![0; n_nodes];
        for cluster in 0..n_clusters {
            for place in starts[cluster]..starts[cluster + 1] {
                labels[number[place] as usize] = cluster as Label;
            }
        }

        let n_edges = (n_nodes as f64 * self.mean_degree / 2.0) as usize;
        let mut edges: Vec<(NodeId, NodeId)> = Vec::with_capacity(n_edges);
        for _ in 0..n_edges {
            let from = random.below(n_nodes as u32) as usize;
            let to = if random.uniform() < self.mixing {
                random.below(n_nodes as u32) as usize
            } else {
                let cluster = starts.partition_point(|&start| start <= from) - 1;
                let size = starts[cluster + 1] - starts[cluster];
                starts[cluster] + random.below(size as u32) as usize
            };
            let (from, to) = (number[from], number[to]);
            if from != to {
                edges.push((from.min(to), from.max(to)));
            }
        }
        edges.sort_unstable();
        edges.dedup();
        let graph = Graph::from_edges(n_nodes, edges.into_iter().map(|(from, to)| (from, to, 1.0)))?;
        Ok(LabelledGraph { graph, labels })
    }

    /// Where each cluster begins when the nodes stand cluster by cluster.
    fn cluster_starts(&self, random: &mut Random) -> Vec<usize> {
        let draws: Vec<f64> =
            (0..self.n_clusters).map(|_| libm::pow(1.0 - random.uniform(), -1.0 / self.exponent)).collect();
        let mean = draws.iter().sum::<f64>() / self.n_clusters as f64;
        let shares: Vec<f64> = draws.iter().map(|draw| (draw / mean).max(self.smallest)).collect();
        let total: f64 = shares.iter().sum();
        // Every cluster gets a node; the shares divide the others.
        let spare = (self.n_nodes - self.n_clusters) as f64;
        let mut starts = vec![0];
        let mut filled = 0.0;
        for (cluster, share) in shares.iter().enumerate() {
            filled += share;
            starts.push(cluster + 1 + (spare * filled / total).round() as usize);
        }
        starts[self.n_clusters] = self.n_nodes;
        starts
    }
}
