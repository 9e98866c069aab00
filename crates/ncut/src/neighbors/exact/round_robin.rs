//! Neighbours among many points: blocks of points meet in rounds, each pair of blocks once.

use std::ops::Range;

use crate::parallel::prelude::*;

use super::candidates::{Kept, kept_nearest, most_kept};
use super::packed::{Center, Packed, multiply};
use super::queries::QUERIES;
use super::tiles::{CHUNK, TILE, tiles};
use super::{Nearest, Search, completed};
use crate::graph::NodeId;
use crate::progress::Stopped;

/// Searches for every point among all. The product of two points serves both of them: blocks of points meet in rounds,
/// each pair of blocks once, so that no block is in two places at a time.
pub(super) fn nearest_of_many(
    search: &Search<'_>,
    center: &Center,
    everyone: &[NodeId],
    report: &mut dyn FnMut(usize) -> Result<(), Stopped>,
) -> Result<Vec<Nearest>, Stopped> {
    let n_points = everyone.len();
    let block_size = n_points.div_ceil(n_blocks(n_points, crate::parallel::current_num_threads()));
    let mut blocks: Vec<Option<Block>> =
        everyone.par_chunks(block_size).map(|points| Some(Block::new(points, search, center))).collect();
    let n_blocks = blocks.len();
    // The first round is every block with itself.
    for round in 0..=n_blocks {
        report(n_points * round / (n_blocks + 1))?;
        let mut meetings: Vec<(Block, Option<Block>)> = meetings(n_blocks, round)
            .filter_map(|(a, b)| blocks[a].take().map(|block| (block, b.and_then(|b| blocks[b].take()))))
            .collect();
        meetings.par_iter_mut().for_each(|(a, b)| match b {
            Some(b) => a.meet(b),
            None => a.meet_itself(search.skip_own),
        });
        for block in meetings.into_iter().flat_map(|(a, b)| [Some(a), b]).flatten() {
            let place = block.points[0] as usize / block_size;
            blocks[place] = Some(block);
        }
    }
    let blocks: Vec<Block> = blocks.into_iter().flatten().collect();
    completed(search, blocks.into_par_iter().flat_map_iter(|block| block.measured(search)).collect())
}

/// Who meets whom in a round: everyone by itself in round 0, then a round robin.
fn meetings(n_blocks: usize, round: usize) -> impl Iterator<Item = (usize, Option<usize>)> {
    // In round r the blocks whose numbers add up to r, modulo the number of blocks, meet.
    let partner = move |block: usize| (round + 2 * n_blocks - block) % n_blocks;
    (0..n_blocks).filter_map(move |block| match round {
        0 => Some((block, None)),
        _ if block < partner(block) => Some((block, Some(partner(block)))),
        _ => None,
    })
}

/// Blocks that all threads are busy with: with an odd number as many pairs meet in every round.
fn n_blocks(n_points: usize, n_threads: usize) -> usize {
    let per_round = n_points.div_ceil(2 * n_threads * QUERIES) * n_threads;
    (2 * per_round + 1).min(n_points)
}

/// Points that follow each other, and the targets kept for them so far.
struct Block {
    points: Vec<NodeId>,
    packed: Packed<f32>,
    kept: Vec<Kept<f32>>,
    /// The limit of each point's kept targets, side by side.
    limits: Vec<f32>,
    arch: pulp::Arch,
}

impl Block {
    fn new(points: &[NodeId], search: &Search<'_>, center: &Center) -> Self {
        let most = most_kept(search.n_neighbors);
        let packed = Packed::new(search.targets, center, points.iter().map(|&point| point as usize));
        let kept = points.iter().map(|_| Kept::new(most)).collect();
        let limits = vec![f32::INFINITY; points.len()];
        Self { points: points.to_vec(), packed, kept, limits, arch: search.queries.arch() }
    }

    fn offer(&mut self, row: usize, key: f32, target: NodeId) {
        let kept = &mut self.kept[row];
        if key < kept.limit {
            kept.add(key, target);
            self.limits[row] = kept.limit;
        }
    }

    /// Considers all pairs of points of two blocks, for both.
    fn meet(&mut self, other: &mut Self) {
        let mut products = vec![0.0; TILE * TILE];
        for (rows, columns) in tiles(self.points.len(), other.points.len()) {
            multiply(&self.packed, rows.clone(), &other.packed, columns.clone(), &mut products);
            self.arch.dispatch(Meeting { a: self, rows, b: other, columns, products: &products });
        }
    }

    /// Considers all pairs of points of this block.
    fn meet_itself(&mut self, skip_own: bool) {
        let mut products = vec![0.0; TILE * TILE];
        for (rows, columns) in tiles(self.points.len(), self.points.len()) {
            multiply(&self.packed, rows.clone(), &self.packed, columns.clone(), &mut products);
            for (row, products) in rows.zip(products.chunks_exact(columns.len())) {
                for (column, &product) in columns.clone().zip(products) {
                    if !(skip_own && column == row) {
                        self.offer(row, product + self.packed.rounded_norms[column], self.points[column]);
                    }
                }
            }
        }
    }

    /// The nearest of those kept for each point, and whether no other can be as near.
    fn measured(mut self, search: &Search<'_>) -> Vec<(Nearest, bool)> {
        let mut measured = Vec::new();
        let mut measure = |((kept, &point), &norm): ((&mut Kept<f32>, &NodeId), &f64)| {
            kept.shrink();
            kept_nearest(search, &mut kept.keys, kept.limit, point, norm, &mut measured)
        };
        self.kept.iter_mut().zip(&self.points).zip(&self.packed.norms).map(&mut measure).collect()
    }
}

/// Offers points of two blocks to each other where a product says that they may be near.
///
/// Work for the widest registers there are is a struct, because only so is all of it sure to be compiled for them.
struct Meeting<'m> {
    a: &'m mut Block,
    rows: Range<usize>,
    b: &'m mut Block,
    columns: Range<usize>,
    products: &'m [f32],
}

impl pulp::NullaryFnOnce for Meeting<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { a, rows, b, columns, products } = self;
        for (row, products) in rows.zip(products.chunks_exact(columns.len())) {
            let norm = a.packed.rounded_norms[row];
            let mut start = columns.start;
            for products in products.chunks(CHUNK) {
                let end = start + products.len();
                let (norms, limits) = (&b.packed.rounded_norms[start..end], &b.limits[start..end]);
                if any_near(products, norm, a.limits[row], norms, limits) {
                    for (column, &product) in (start..end).zip(products) {
                        a.offer(row, product + b.packed.rounded_norms[column], b.points[column]);
                        b.offer(column, product + norm, a.points[row]);
                    }
                }
                start = end;
            }
        }
    }
}

/// Whether a product brings one of its two points below the limit of the other.
#[inline(always)]
fn any_near(products: &[f32], norm: f32, limit: f32, norms: &[f32], limits: &[f32]) -> bool {
    let mut near = false;
    for ((&product, &other_norm), &other_limit) in products.iter().zip(norms).zip(limits) {
        near |= (product + other_norm < limit) | (product + norm < other_limit);
    }
    near
}
