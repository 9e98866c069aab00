//! Random graphs for property tests, and computations that share no code with the library.

#![allow(dead_code, reason = "every test binary uses its own part")]

#[cfg(all(feature = "files", feature = "neighbors"))]
pub(crate) mod data;

use std::collections::BTreeMap;

use ncut::Graph;
use proptest::prelude::*;

/// A graph as anyone would write it down.
#[derive(Clone, Debug)]
pub(crate) struct Sketch {
    pub(crate) n_nodes: usize,
    pub(crate) edges: Vec<(u32, u32, f64)>,
}

impl Sketch {
    pub(crate) fn graph(&self) -> Graph<'static> {
        Graph::from_edges(self.n_nodes, self.edges.iter().copied()).unwrap()
    }

    /// The full symmetric matrix, every edge in both places, the diagonal once.
    pub(crate) fn matrix(&self) -> Vec<Vec<f64>> {
        let mut matrix = vec![vec![0.0; self.n_nodes]; self.n_nodes];
        for &(from, to, weight) in &self.edges {
            matrix[from as usize][to as usize] += weight;
            if from != to {
                matrix[to as usize][from as usize] += weight;
            }
        }
        matrix
    }

    /// The same graph with node `i` called `name[i]`.
    pub(crate) fn renamed(&self, name: &[u32]) -> Self {
        let edges = self.edges.iter().map(|&(from, to, w)| (name[from as usize], name[to as usize], w));
        Self { n_nodes: self.n_nodes, edges: edges.collect() }
    }
}

/// Graphs of up to `max_nodes` nodes with random real weights, self-loops, parallel edges and isolated nodes.
pub(crate) fn sketches(max_nodes: usize) -> impl Strategy<Value = Sketch> {
    with_weights(max_nodes, 1e-3..1.0f64)
}

/// The same with small whole weights, so that ties abound.
pub(crate) fn tied_sketches(max_nodes: usize) -> impl Strategy<Value = Sketch> {
    with_weights(max_nodes, (1..4u32).prop_map(f64::from))
}

fn with_weights(
    max_nodes: usize,
    weights: impl Strategy<Value = f64> + Clone,
) -> impl Strategy<Value = Sketch> {
    (1..=max_nodes).prop_flat_map(move |n_nodes| {
        let node = 0..n_nodes as u32;
        let edge = (node.clone(), node, weights.clone());
        prop::collection::vec(edge, 0..=4 * n_nodes).prop_map(move |edges| Sketch { n_nodes, edges })
    })
}

/// A graph and a labelling of it, with no regard to its edges.
pub(crate) fn labelled(max_nodes: usize) -> impl Strategy<Value = (Sketch, Vec<u32>, usize)> {
    labels_for(sketches(max_nodes))
}

/// The same with weights over thirty decades.
pub(crate) fn labelled_with_wild_weights(
    max_nodes: usize,
) -> impl Strategy<Value = (Sketch, Vec<u32>, usize)> {
    labels_for(with_weights(max_nodes, (-20.0..10.0f64).prop_map(|exponent| 10f64.powf(exponent))))
}

fn labels_for(sketches: impl Strategy<Value = Sketch>) -> impl Strategy<Value = (Sketch, Vec<u32>, usize)> {
    (sketches, 1..6usize).prop_flat_map(|(sketch, k)| {
        let k = k.min(sketch.n_nodes);
        let labels = prop::collection::vec(0..k as u32, sketch.n_nodes);
        (Just(sketch), labels, Just(k))
    })
}

/// `sum_c cut_c / n_c` of a matrix.
pub(crate) fn ratio_cut(matrix: &[Vec<f64>], labels: &[u32]) -> f64 {
    let k = labels.iter().max().map_or(0, |&label| label as usize + 1);
    let (mut cuts, mut sizes) = (vec![0.0; k], vec![0.0; k]);
    for (row, &label) in matrix.iter().zip(labels) {
        sizes[label as usize] += 1.0;
        for (weight, &other) in row.iter().zip(labels) {
            cuts[label as usize] += if other == label { 0.0 } else { *weight };
        }
    }
    cuts.iter().zip(&sizes).filter(|(_, size)| **size > 0.0).map(|(cut, size)| cut / size).sum()
}

/// `sum_c A_c / D_c` straight from the definition, `0 / 0 = 0`.
pub(crate) fn objective(matrix: &[Vec<f64>], labels: &[u32]) -> f64 {
    let mut sums: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for (i, row) in matrix.iter().enumerate() {
        let (association, volume) = sums.entry(labels[i]).or_default();
        for (j, weight) in row.iter().enumerate() {
            *volume += weight;
            if labels[j] == labels[i] {
                *association += weight;
            }
        }
    }
    sums.values().filter(|sum| sum.1 > 0.0).map(|sum| sum.0 / sum.1).sum()
}

/// Whether every cluster is connected, the components of the graph that it holds as a whole left aside.
pub(crate) fn hold_together<L: Copy + PartialEq>(matrix: &[Vec<f64>], labels: &[L]) -> bool {
    let n_nodes = labels.len();
    let reached = |first: usize, may_pass: &dyn Fn(usize) -> bool| {
        let mut reached = vec![false; n_nodes];
        reached[first] = true;
        let mut stack = vec![first];
        while let Some(node) = stack.pop() {
            for next in 0..n_nodes {
                if matrix[node][next] > 0.0 && may_pass(next) && !std::mem::replace(&mut reached[next], true)
                {
                    stack.push(next);
                }
            }
        }
        reached
    };
    let mut was_seen = vec![false; n_nodes];
    let mut parts: Vec<L> = Vec::new();
    for first in 0..n_nodes {
        if was_seen[first] {
            continue;
        }
        let piece = reached(first, &|node| labels[node] == labels[first]);
        (0..n_nodes).filter(|&node| piece[node]).for_each(|node| was_seen[node] = true);
        if piece != reached(first, &|_| true) {
            if parts.contains(&labels[first]) {
                return false;
            }
            parts.push(labels[first]);
        }
    }
    true
}

/// The labels renamed by first appearance, so that equal partitions are equal.
pub(crate) fn canonical<L: Copy + Ord>(labels: &[L]) -> Vec<usize> {
    let mut names = BTreeMap::new();
    labels
        .iter()
        .map(|&label| {
            let next = names.len();
            *names.entry(label).or_insert(next)
        })
        .collect()
}

/// Degrees from the definition.
pub(crate) fn degrees(matrix: &[Vec<f64>]) -> Vec<f64> {
    matrix.iter().map(|row| row.iter().sum()).collect()
}

pub(crate) fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * a.abs().max(b.abs()).max(1.0)
}

/// A number that looks random.
pub(crate) fn hash(number: u64) -> u64 {
    let bits = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits ^ (bits >> 29)
}

/// A number of bytes that the kernel tells of this process.
pub(crate) fn status(name: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 1024
}
