//! The best cut through a piece of a graph, near enough and in the time of some products with its matrix.

use super::has_time;
use crate::graph::{Graph, NodeId};
use crate::objective::{NormalizedCut, Objective, Sums};
use crate::progress::Clock;
use crate::random::mixed;

/// Pieces of fewer nodes are not cut in halves.
const MIN_NODES: usize = 2;
/// Neither half has a lower share of the volume than this.
const MIN_PART: f64 = 0.1;
/// Products with the matrix. Slow waves, which tell halves apart, are what is left; in long pieces they are there from the start.
const N_PRODUCTS: usize = 40;
/// Sweeps of moves between the halves.
const N_SWEEPS: usize = 6;
/// A move must gain more than rounding.
const MIN_GAIN: f64 = 1e-12;

/// The half, 0 or 1, of every node of a piece; `None` where they are too few, or there is no time.
pub(super) fn halves(piece: &Graph<'_>, clock: &Clock<'_>) -> Option<Vec<u8>> {
    if piece.n_nodes() < MIN_NODES || clock.is_stopped() {
        return None;
    }
    let half = refined(piece, swept(piece, &slow_wave(piece, clock)));
    (!clock.is_stopped()).then_some(half)
}

/// A vector near the second one of the random walk: distances from the end of the graph, evened out.
fn slow_wave(graph: &Graph<'_>, clock: &Clock<'_>) -> Vec<f64> {
    let n_nodes = graph.n_nodes();
    let (total, degrees) = (graph.volume(), graph.degrees());
    let far =
        distances(graph, 0).into_iter().zip(0..).max_by_key(|&(distance, node)| (distance, u32::MAX - node));
    let from = far.map_or(0, |(_, node)| node);
    // Ties between nodes at the same distance are broken at random.
    let random = |node: usize| mixed(node as u64) as f64 / u64::MAX as f64;
    let mut wave: Vec<f64> = distances(graph, from)
        .into_iter()
        .enumerate()
        .map(|(node, distance)| f64::from(distance) + random(node))
        .collect();
    let mut next = vec![0.0; n_nodes];
    for product in 0..N_PRODUCTS {
        if total <= 0.0 || !has_time(clock, product, N_PRODUCTS) {
            break;
        }
        let mean = wave.iter().zip(degrees).map(|(value, degree)| value * degree).sum::<f64>() / total;
        let mut largest: f64 = 0.0;
        for value in &mut wave {
            *value -= mean;
            largest = largest.max(value.abs());
        }
        let scale = if largest > 0.0 { 0.5 / largest } else { 0.0 };
        for node in 0..n_nodes {
            let mut sum = graph.self_loop(node as NodeId) * wave[node];
            graph.for_each_neighbor(node as NodeId, |neighbor, weight| {
                sum += weight * wave[neighbor as usize];
            });
            let around = if degrees[node] > 0.0 { sum / degrees[node] } else { 0.0 };
            next[node] = scale * (wave[node] + around);
        }
        std::mem::swap(&mut wave, &mut next);
    }
    wave
}

/// Steps from a node; nodes that it does not reach are the farthest.
fn distances(graph: &Graph<'_>, from: NodeId) -> Vec<u32> {
    let mut distances = vec![u32::MAX; graph.n_nodes()];
    let mut queue = vec![from];
    distances[from as usize] = 0;
    let mut place = 0;
    while let Some(&node) = queue.get(place) {
        place += 1;
        let next = distances[node as usize] + 1;
        graph.for_each_neighbor(node, |neighbor, _| {
            let distance = &mut distances[neighbor as usize];
            if *distance == u32::MAX {
                *distance = next;
                queue.push(neighbor);
            }
        });
    }
    let beyond = queue.last().map_or(0, |&last| distances[last as usize]) + 1;
    distances.iter_mut().for_each(|distance| *distance = (*distance).min(beyond));
    distances
}

/// The N-Cut of two sides, one of which has the given volume.
fn ncut(cut: f64, volume: f64, total: f64) -> f64 {
    let side = |volume: f64| Sums { association: volume - cut, volume, size: 0.0 };
    NormalizedCut.cut(NormalizedCut.value_of_both(&side(volume), &side(total - volume)), 2)
}

/// Nodes in the order of the wave, cut where N-Cut is lowest.
fn swept(graph: &Graph<'_>, wave: &[f64]) -> Vec<u8> {
    let n_nodes = graph.n_nodes();
    let (total, floor) = (graph.volume(), MIN_PART * graph.volume());
    let mut order: Vec<NodeId> = (0..n_nodes as NodeId).collect();
    order.sort_by(|&a, &b| wave[a as usize].total_cmp(&wave[b as usize]).then(a.cmp(&b)));
    let mut half = vec![1; n_nodes];
    let (mut cut, mut volume) = (0.0, 0.0);
    let mut best: Option<(f64, usize)> = None;
    for (place, &node) in order.iter().enumerate().take(n_nodes - 1) {
        graph.for_each_neighbor(node, |neighbor, weight| {
            cut += if half[neighbor as usize] == 1 { weight } else { -weight };
        });
        half[node as usize] = 0;
        volume += graph.degree(node);
        let is_fair = volume >= floor && total - volume >= floor;
        // Where no cut is fair, as in a star, the one nearest to the middle is taken.
        let value = match is_fair {
            true => ncut(cut, volume, total),
            false => 3.0 + (2.0 * volume - total).abs() / total,
        };
        if best.is_none_or(|best| value < best.0) {
            best = Some((value, place + 1));
        }
    }
    let n_first = best.map_or(1, |best| best.1);
    half.fill(1);
    for &node in &order[..n_first] {
        half[node as usize] = 0;
    }
    half
}

/// Moves nodes to the other half while N-Cut falls.
fn refined(graph: &Graph<'_>, mut half: Vec<u8>) -> Vec<u8> {
    let (total, floor) = (graph.volume(), MIN_PART * graph.volume());
    let n_nodes = graph.n_nodes() as NodeId;
    let links = |half: &[u8], node: NodeId| {
        let mut links = [0.0; 2];
        graph.for_each_neighbor(node, |neighbor, weight| links[half[neighbor as usize] as usize] += weight);
        links
    };
    let first = (0..n_nodes).filter(|&node| half[node as usize] == 0);
    let (mut cut, mut volume) = first
        .fold((0.0, 0.0), |(cut, volume), node| (cut + links(&half, node)[1], volume + graph.degree(node)));
    for _ in 0..N_SWEEPS {
        let mut has_moved = false;
        for node in 0..n_nodes {
            let own = half[node as usize] as usize;
            let links = links(&half, node);
            if links[1 - own] == 0.0 {
                continue;
            }
            let degree = graph.degree(node);
            let new_cut = cut + links[own] - links[1 - own];
            let new_volume = if own == 0 { volume - degree } else { volume + degree };
            let is_fair = new_volume >= floor && total - new_volume >= floor;
            if is_fair && ncut(new_cut, new_volume, total) < ncut(cut, volume, total) - MIN_GAIN {
                (cut, volume, half[node as usize]) = (new_cut, new_volume, 1 - own as u8);
                has_moved = true;
            }
        }
        if !has_moved {
            break;
        }
    }
    half
}
