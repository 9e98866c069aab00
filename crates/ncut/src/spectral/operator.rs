//! The normalized matrix `S = D^-1/2 A D^-1/2` at work on blocks of vectors.

use rayon::prelude::*;

use super::block::{Block, ROWS};
use crate::graph::{Graph, NodeId};

/// `S` of a graph without isolated nodes.
pub(super) struct Operator<'g> {
    graph: &'g Graph<'g>,
    /// `d_i^1/2`.
    pub(super) roots: Vec<f64>,
    inverse_degrees: Vec<f64>,
    arch: pulp::Arch,
}

impl<'g> Operator<'g> {
    pub(super) fn new(graph: &'g Graph<'g>) -> Self {
        let roots = graph.degrees().iter().map(|degree| degree.sqrt()).collect();
        let inverse_degrees = graph.degrees().iter().map(|degree| 1.0 / degree).collect();
        Self { graph, roots, inverse_degrees, arch: pulp::Arch::new() }
    }

    pub(super) fn n_nodes(&self) -> usize {
        self.graph.n_nodes()
    }

    /// `S block`.
    pub(super) fn apply(&self, block: &Block) -> Block {
        let mut walked = block.clone();
        self.to_walk(&mut walked);
        let mut next = Block::zeros(self.n_nodes(), block.n_columns);
        self.step(&walked, &mut next, 1.0, 0.0, 0.0);
        self.leave_walk(&mut next);
        next
    }

    /// `D^-1/2 block`: in these terms `S` is `D^-1 A`, which needs no factor for every neighbour.
    pub(super) fn to_walk(&self, block: &mut Block) {
        let n_columns = block.n_columns;
        for (row, root) in block.values.chunks_exact_mut(n_columns).zip(&self.roots) {
            row.iter_mut().for_each(|value| *value /= root);
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
    operator: &'s Operator<'s>,
    first: usize,
    now: &'s Block,
    next: &'s mut [f64],
    factor: f64,
    shift: f64,
    drop: f64,
}

/// Columns that are summed at a time: as many as registers hold.
const WIDE: usize = 16;
const NARROW: usize = 4;

impl pulp::NullaryFnOnce for Step<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { operator, first, now, next, factor, shift, drop } = self;
        let n_columns = now.n_columns;
        for (place, next) in next.chunks_exact_mut(n_columns).enumerate() {
            let node = (first + place) as NodeId;
            let factor = factor * operator.inverse_degrees[node as usize];
            let own = now.row(node as usize);
            let mut column = 0;
            while column < n_columns {
                let width = if n_columns - column >= WIDE { WIDE } else { NARROW.min(n_columns - column) };
                let next = &mut next[column..column + width];
                let own = &own[column..column + width];
                let finish = |next: &mut [f64], sums: &[f64]| {
                    for ((next, &own), &sum) in next.iter_mut().zip(own).zip(sums) {
                        *next = factor * sum + shift * own - drop * *next;
                    }
                };
                match width {
                    WIDE => finish(next, &sums::<WIDE>(operator.graph, node, now, column)),
                    NARROW => finish(next, &sums::<NARROW>(operator.graph, node, now, column)),
                    _ => {
                        for (c, next) in next.iter_mut().enumerate() {
                            let [sum] = sums::<1>(operator.graph, node, now, column + c);
                            *next = factor * sum + shift * own[c] - drop * *next;
                        }
                    }
                }
                column += width;
            }
        }
    }
}

/// `sum_j a_ij x_j` for a few columns.
#[inline(always)]
fn sums<const N: usize>(graph: &Graph<'_>, node: NodeId, now: &Block, column: usize) -> [f64; N] {
    let mut sums = [0.0; N];
    let mut add = |neighbor: NodeId, weight: f64| {
        let row = &now.values[neighbor as usize * now.n_columns + column..][..N];
        for (sum, &value) in sums.iter_mut().zip(row) {
            *sum += weight * value;
        }
    };
    graph.for_each_neighbor(node, &mut add);
    let own = graph.self_loop(node);
    if own > 0.0 {
        add(node, own);
    }
    sums
}
