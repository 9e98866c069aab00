//! The normalized matrix `S = D^-1/2 A D^-1/2` at work on blocks of vectors.

use rayon::prelude::*;

use super::block::{Block, ROWS};
use crate::graph::{Graph, NodeId, Weights};

/// `S` of a graph without isolated nodes, whose nodes are renumbered: those that are linked come to stand near each
/// other, and so do their rows in memory.
pub(super) struct Operator {
    /// The node of the graph that stands at each place.
    pub(super) order: Vec<NodeId>,
    offsets: Vec<usize>,
    columns: Vec<NodeId>,
    /// Empty where all are 1.
    weights: Vec<f64>,
    /// `d_i^1/2`.
    pub(super) roots: Vec<f64>,
    inverse_degrees: Vec<f64>,
    arch: pulp::Arch,
}

impl Operator {
    pub(super) fn new(graph: &Graph<'_>) -> Self {
        let order = breadth_first(graph);
        let mut place = vec![0; order.len()];
        for (at, &node) in order.iter().enumerate() {
            place[node as usize] = at as NodeId;
        }
        let n_entries = graph.columns().len();
        let is_unit = matches!(graph.weights(), Weights::Unit);
        let (mut offsets, mut columns) = (vec![0], Vec::with_capacity(n_entries));
        let mut weights = Vec::with_capacity(if is_unit { 0 } else { n_entries });
        for &node in &order {
            let entries = graph.entries(node);
            columns.extend(graph.columns()[entries.clone()].iter().map(|&other| place[other as usize]));
            if !is_unit {
                weights.extend(entries.map(|entry| graph.weights().at(entry)));
            }
            offsets.push(columns.len());
        }
        let degrees = || order.iter().map(|&node| graph.degree(node));
        let roots = degrees().map(f64::sqrt).collect();
        let inverse_degrees = degrees().map(|degree| 1.0 / degree).collect();
        Self { offsets, columns, weights, roots, inverse_degrees, arch: pulp::Arch::new(), order }
    }

    pub(super) fn n_nodes(&self) -> usize {
        self.order.len()
    }

    /// Entries of a row.
    pub(super) fn mean_entries(&self) -> f64 {
        self.columns.len() as f64 / self.n_nodes() as f64
    }

    /// A block whose rows are in the order of the graph's own nodes.
    pub(super) fn in_graph_order(&self, block: &Block) -> Block {
        let mut ordered = Block::zeros(self.n_nodes(), block.n_columns);
        for (at, &node) in self.order.iter().enumerate() {
            let place = node as usize * block.n_columns;
            ordered.values[place..place + block.n_columns].copy_from_slice(block.row(at));
        }
        ordered
    }

    /// `S block`.
    pub(super) fn apply(&self, block: &Block) -> Block {
        let zeros = || Block::zeros(self.n_nodes(), block.n_columns);
        let (mut walked, mut next) = (zeros(), zeros());
        self.to_walk(block, &mut walked);
        self.step(&walked, &mut next, 1.0, 0.0, 0.0);
        self.leave_walk(&mut next);
        next
    }

    /// `walked = D^-1/2 block`: in these terms `S` is `D^-1 A`, which needs no factor for every neighbour.
    pub(super) fn to_walk(&self, block: &Block, walked: &mut Block) {
        let n_columns = block.n_columns;
        let rows = block.values.chunks_exact(n_columns).zip(&self.roots);
        for (walked, (row, root)) in walked.values.chunks_exact_mut(n_columns).zip(rows) {
            for (walked, value) in walked.iter_mut().zip(row) {
                *walked = value / root;
            }
        }
    }

    /// The way back.
    pub(super) fn leave_walk(&self, block: &mut Block) {
        let n_columns = block.n_columns;
        for (row, root) in block.values.chunks_exact_mut(n_columns).zip(&self.roots) {
            row.iter_mut().for_each(|value| *value *= root);
        }
    }

    /// `next = factor D^-1 A now + shift now - drop next`, a step of a three-term recurrence.
    pub(super) fn step(&self, now: &Block, next: &mut Block, factor: f64, shift: f64, drop: f64) {
        let n_columns = now.n_columns;
        next.values.par_chunks_mut(ROWS * n_columns).enumerate().for_each(|(piece, next)| {
            self.arch.dispatch(Step { operator: self, first: piece * ROWS, now, next, factor, shift, drop });
        });
    }
}

/// A step for some of the rows.
///
/// Work for the widest registers there are is a struct, because only so is all of it sure to be compiled for them.
struct Step<'s> {
    operator: &'s Operator,
    first: usize,
    now: &'s Block,
    next: &'s mut [f64],
    factor: f64,
    shift: f64,
    drop: f64,
}

impl pulp::NullaryFnOnce for Step<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let weights = &self.operator.weights[..];
        if weights.is_empty() { self.rows(|_| 1.0) } else { self.rows(|entry| weights[entry]) }
    }
}

impl Step<'_> {
    #[inline(always)]
    fn rows(self, weight: impl Fn(usize) -> f64) {
        let Self { operator, first, now, next, factor, shift, drop } = self;
        let n_columns = now.n_columns;
        let columns = &operator.columns[..];
        for (place, next) in next.chunks_exact_mut(n_columns).enumerate() {
            let node = first + place;
            let factor = factor * operator.inverse_degrees[node];
            let own = now.row(node);
            let entries = operator.offsets[node]..operator.offsets[node + 1];
            let mut column = 0;
            while column < n_columns {
                macro_rules! finish {
                    ($width:expr) => {{
                        // The diagonal is part of its row.
                        let mut sums = [0.0; $width];
                        for entry in entries.clone() {
                            let start = columns[entry] as usize * n_columns + column;
                            let (row, weight) = (&now.values[start..start + $width], weight(entry));
                            for c in 0..$width {
                                sums[c] += weight * row[c];
                            }
                        }
                        let (next, own) = (&mut next[column..column + $width], &own[column..column + $width]);
                        for c in 0..$width {
                            next[c] = factor * sums[c] + shift * own[c] - drop * next[c];
                        }
                        column += $width;
                    }};
                }
                match n_columns - column {
                    32.. => finish!(32),
                    16.. => finish!(16),
                    8.. => finish!(8),
                    4.. => finish!(4),
                    _ => finish!(1),
                }
            }
        }
    }
}

/// The nodes in the order in which they are reached, component by component.
fn breadth_first(graph: &Graph<'_>) -> Vec<NodeId> {
    let mut order = Vec::with_capacity(graph.n_nodes());
    let mut is_reached = vec![false; graph.n_nodes()];
    for start in 0..graph.n_nodes() as NodeId {
        if std::mem::replace(&mut is_reached[start as usize], true) {
            continue;
        }
        let mut next = order.len();
        order.push(start);
        while let Some(&node) = order.get(next) {
            next += 1;
            for &other in &graph.columns()[graph.entries(node)] {
                if !std::mem::replace(&mut is_reached[other as usize], true) {
                    order.push(other);
                }
            }
        }
    }
    order
}
