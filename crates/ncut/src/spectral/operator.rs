//! The normalized matrix `S = D^-1/2 A D^-1/2` at work on blocks of vectors.

use super::block::{Block, ROWS};
use crate::graph::{Graph, NodeId, Weights};
use crate::parallel::prelude::*;

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

    /// `S block`; the block comes back with the rounding of a division and a product.
    pub(super) fn apply_to(&self, block: &mut Block) -> Block {
        let mut image = Block::zeros(self.n_nodes(), block.n_columns);
        self.to_walk(block);
        self.step(block, &mut image, 1.0, 0.0, 0.0);
        self.leave_walk(block);
        self.leave_walk(&mut image);
        image
    }

    /// `D^-1/2 block`: in these terms `S` is `D^-1 A`, which needs no factor for every neighbour.
    pub(super) fn to_walk(&self, block: &mut Block) {
        self.scale(block, |value, root| value / root);
    }

    /// The way back.
    pub(super) fn leave_walk(&self, block: &mut Block) {
        self.scale(block, |value, root| value * root);
    }

    fn scale(&self, block: &mut Block, scaled: impl Fn(f64, f64) -> f64 + Sync) {
        let n_columns = block.n_columns;
        let rows = block.values.par_chunks_mut(ROWS * n_columns).zip(self.roots.par_chunks(ROWS));
        rows.for_each(|(rows, roots)| {
            for (row, &root) in rows.chunks_exact_mut(n_columns).zip(roots) {
                row.iter_mut().for_each(|value| *value = scaled(*value, root));
            }
        });
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
        match self.now.n_columns {
            8 => self.strips::<8>(1),
            16 => self.strips::<16>(1),
            n if n % 8 == 0 => self.strips::<8>(n / 8),
            n => self.strips::<1>(n),
        }
    }
}

impl Step<'_> {
    #[inline(always)]
    fn strips<const WIDTH: usize>(self, n_strips: usize) {
        let weights = &self.operator.weights[..];
        if weights.is_empty() {
            self.rows::<WIDTH>(n_strips, |_| 1.0);
        } else {
            self.rows::<WIDTH>(n_strips, |entry| weights[entry]);
        }
    }

    /// Rows are made of strips of `WIDTH` columns, which are handled one by one.
    #[inline(always)]
    fn rows<const WIDTH: usize>(self, n_strips: usize, weight: impl Fn(usize) -> f64) {
        let Self { operator, first, now, next, factor, shift, drop } = self;
        let (strips, _) = now.values.as_chunks::<WIDTH>();
        let (next, _) = next.as_chunks_mut::<WIDTH>();
        for (place, next) in next.chunks_exact_mut(n_strips).enumerate() {
            let node = first + place;
            let factor = factor * operator.inverse_degrees[node];
            let start = operator.offsets[node];
            let columns = &operator.columns[start..operator.offsets[node + 1]];
            for (strip, next) in next.iter_mut().enumerate() {
                // The diagonal is part of its row.
                let mut sums = [0.0; WIDTH];
                for (entry, &column) in (start..).zip(columns) {
                    let (other, weight) = (&strips[column as usize * n_strips + strip], weight(entry));
                    for c in 0..WIDTH {
                        sums[c] += weight * other[c];
                    }
                }
                let own = &strips[node * n_strips + strip];
                for c in 0..WIDTH {
                    next[c] = factor * sums[c] + shift * own[c] - drop * next[c];
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
