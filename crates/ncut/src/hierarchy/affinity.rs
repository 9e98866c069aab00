//! Affinity: how alike two linked nodes look from the rest of the graph.
//!
//! In a noisy graph without weights a single edge tells nothing: half of them may lead out of a cluster. Random values that
//! are averaged over neighbours again and again tell more: what lives on whole clusters stays, all else fades, so that nodes of
//! one cluster end with values alike. (Algebraic distances, of multigrid.) Labels that spread over links weighted by
//! affinity make groups of nodes that belong together, where links as they are would mix them.

use std::borrow::Cow;

use crate::graph::{Graph, NodeId};
use crate::objective::Objective;
use crate::parallel::prelude::*;
use crate::progress::{Clock, Progress, Stage, Stopped};
use crate::random::{Random, mixed};

use super::quotient::Linked;

/// Random values of a node: a row of them is one line of the cache.
const WIDTH: usize = 16;
type Row = [f32; WIDTH];
/// Averages that are taken between two looks at a sample of links, and in all at the most.
const STEPS_PER_LOOK: usize = 4;
const MAX_LOOKS: usize = 12;
/// Links of the sample.
const N_SAMPLED: usize = 1 << 12;
/// The work is done when links are this much alike on average and a look finds them hardly more so than the one before.
const ALIKE: f64 = 0.2;
const MIN_GROWTH: f64 = 1.1;
/// The least affinity: links that look like none are links all the same.
const MIN_AFFINITY: f32 = 1e-3;
const NODES_PER_TASK: usize = 1 << 10;

/// A graph whose links are weighted by affinity.
pub(crate) struct Affinity<'g> {
    graph: &'g Graph<'g>,
    /// The values of every node, of norm 1.
    rows: Vec<Row>,
}

impl<'g> Affinity<'g> {
    /// Affinities of a graph without isolated nodes.
    pub(crate) fn of(graph: &'g Graph<'g>, seed: u64, clock: &Clock<'_>) -> Result<Self, Stopped> {
        let n_nodes = graph.n_nodes();
        let mut rows = random_rows(n_nodes, seed);
        let mut averages = vec![[0.0; WIDTH]; n_nodes];
        let mut progress = Progress::new(Stage::Coarsening, (MAX_LOOKS * STEPS_PER_LOOK) as u64);
        let mut alike = 0.0;
        for _ in 0..MAX_LOOKS {
            for _ in 0..STEPS_PER_LOOK {
                clock.report(&progress)?;
                progress.done += 1;
                average(graph, &rows, &mut averages, clock)?;
                std::mem::swap(&mut rows, &mut averages);
            }
            // What all nodes have in common never fades.
            subtract_mean(graph, &mut rows);
            let before = std::mem::replace(&mut alike, mean_cosine(graph, &rows));
            if alike > ALIKE && alike < MIN_GROWTH * before {
                break;
            }
        }
        drop(averages);
        rows.par_chunks_mut(NODES_PER_TASK).for_each(|rows| {
            for row in rows {
                let norm = dot(row, row).sqrt();
                *row = row.map(|value| if norm > 0.0 { value / norm } else { 0.0 });
            }
        });
        Ok(Self { graph, rows })
    }
}

impl Linked for Affinity<'_> {
    fn n_nodes(&self) -> usize {
        self.graph.n_nodes()
    }

    fn n_links(&self) -> usize {
        self.graph.columns().len()
    }

    fn masses<O: Objective>(&self, objective: &O) -> Cow<'_, [f64]> {
        self.graph.masses(objective)
    }

    fn is_unit(&self) -> bool {
        false
    }

    fn bound_nodes(&self) -> Vec<bool> {
        self.graph.bound_nodes()
    }

    #[inline]
    fn for_each_link(&self, node: NodeId, mut visit: impl FnMut(NodeId, f64)) {
        let row = &self.rows[node as usize];
        self.graph.for_each_neighbor(node, |neighbor, weight| {
            let affinity = dot(row, &self.rows[neighbor as usize]).max(0.0);
            visit(neighbor, weight * f64::from(affinity * affinity + MIN_AFFINITY));
        });
    }
}

fn random_rows(n_nodes: usize, seed: u64) -> Vec<Row> {
    let mut rows = vec![[0.0; WIDTH]; n_nodes];
    rows.par_chunks_mut(NODES_PER_TASK).enumerate().for_each(|(task, rows)| {
        let mut random = Random::new(mixed(seed ^ mixed(task as u64)));
        for row in rows {
            *row = row.map(|_| (random.uniform() * 2.0 - 1.0) as f32);
        }
    });
    rows
}

/// The mean of the rows of every node's neighbours, and its own by the weight of its self-loop.
fn average(graph: &Graph<'_>, rows: &[Row], averages: &mut [Row], clock: &Clock<'_>) -> Result<(), Stopped> {
    averages.par_chunks_mut(NODES_PER_TASK).enumerate().try_for_each(|(task, averages)| {
        clock.check()?;
        for (place, average) in averages.iter_mut().enumerate() {
            let node = (task * NODES_PER_TASK + place) as NodeId;
            let mut sum = [0.0; WIDTH];
            let mut add = |row: &Row, weight: f64| {
                let weight = weight as f32;
                for (sum, value) in sum.iter_mut().zip(row) {
                    *sum += weight * value;
                }
            };
            let own = graph.self_loop(node);
            if own > 0.0 {
                add(&rows[node as usize], own);
            }
            graph.for_each_neighbor(node, |neighbor, weight| add(&rows[neighbor as usize], weight));
            let scale = 1.0 / graph.degree(node) as f32;
            *average = sum.map(|sum| sum * scale);
        }
        Ok(())
    })
}

/// Subtracts the mean over all nodes, weighted by degree. Sums are made in an order that no number of threads changes.
fn subtract_mean(graph: &Graph<'_>, rows: &mut [Row]) {
    let sums = |(rows, degrees): (&[Row], &[f64])| {
        let mut sums = [0.0; WIDTH];
        for (row, degree) in rows.iter().zip(degrees) {
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum += degree * f64::from(*value);
            }
        }
        sums
    };
    let chunks = rows.par_chunks(NODES_PER_TASK).zip(graph.degrees().par_chunks(NODES_PER_TASK));
    let chunks: Vec<[f64; WIDTH]> = chunks.map(sums).collect();
    let mut means = [0.0; WIDTH];
    for sums in chunks {
        for (mean, sum) in means.iter_mut().zip(sums) {
            *mean += sum / graph.volume();
        }
    }
    rows.par_chunks_mut(NODES_PER_TASK).for_each(|rows| {
        for row in rows {
            for (value, mean) in row.iter_mut().zip(means) {
                *value -= mean as f32;
            }
        }
    });
}

/// How much alike the ends of links are, by a sample.
fn mean_cosine(graph: &Graph<'_>, rows: &[Row]) -> f64 {
    let n_nodes = graph.n_nodes();
    let (mut sum, mut count) = (0.0, 0usize);
    for node in (0..n_nodes).step_by(n_nodes.div_ceil(N_SAMPLED)) {
        let entries = graph.entries(node as NodeId);
        let n_entries = entries.len() as u64;
        if n_entries == 0 {
            continue;
        }
        let entry = entries.start + (mixed(node as u64) % n_entries) as usize;
        let (a, b) = (&rows[node], &rows[graph.columns()[entry] as usize]);
        let norms = f64::from(dot(a, a)).sqrt() * f64::from(dot(b, b)).sqrt();
        if norms > 0.0 {
            sum += f64::from(dot(a, b)) / norms;
        }
        count += 1;
    }
    sum / count.max(1) as f64
}

fn dot(a: &Row, b: &Row) -> f32 {
    // Four sums side by side, which a processor adds at once.
    let mut sums = [0.0; 4];
    for (a, b) in a.chunks_exact(4).zip(b.chunks_exact(4)) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}
