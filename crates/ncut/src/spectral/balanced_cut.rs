//! Self-balanced min-cut (SBMC): labels whose indicators, times one number, are nearest to the matrix.
//!
//! Chen, Huang, Nie, Chen and Wu, *A Self-Balanced Min-Cut Algorithm for Image Clustering*, ICCV 2017.

use super::rivals::{check_start, fill_empty, largest};
use crate::error::{Error, Result};
use crate::graph::{Graph, NodeId};
use crate::memory;
use crate::parallel::prelude::*;
use crate::partition::ClusterId;
use crate::progress::{Clock, Progress, Stage, Stopped};

/// Rows that are worth a thread.
const ROWS: usize = 512;

/// Clustering by self-balanced min-cut.
///
/// `|A - s Y Y^T|^2` is made small over a number `s` and indicators `Y` of clusters. For given labels the best `s` is the
/// weight inside the clusters over the sum of their squared sizes; for a given `s` what is left is `tr(Y^T T Y)`,
/// `T = s/2 1 1^T - A`: the cut, and the sum of the squared sizes of the clusters, an exclusive lasso, as the balance. The
/// labels are found by augmented Lagrangian steps: a relaxed `G` and the labels `Y` in turn, with multipliers and a growing
/// penalty that bring them together.
///
/// ```
/// use ncut::{Clock, Graph, spectral::BalancedCut};
/// let graph = Graph::from_edges(4, [(0, 1, 5.0), (1, 2, 0.1), (2, 3, 5.0)])?;
/// let found = BalancedCut::default().run(&graph, 2, &[0, 0, 0, 1], &Clock::new())?;
/// assert_eq!(found.labels, [0, 0, 1, 1]);
/// # Ok::<(), ncut::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BalancedCut {
    /// The first penalty, in mean degrees of the graph. With one much smaller the first steps throw the start away and end
    /// with labels that fit less, so that the start is given back; with one much larger no label moves. Of 0.05 to 2 on
    /// UMist only 1 moves any.
    pub first_penalty: f64,
    /// By how much it grows in a step; the authors take any number between 1 and 2.
    pub growth: f64,
    /// How far `G` and `Y` are apart at the end.
    pub tolerance: f64,
    /// How often `s` is renewed at most; it ends earlier when the labels stay, or fit no better.
    pub max_rounds: usize,
    /// Steps of a round at most.
    pub max_steps: usize,
}

impl Default for BalancedCut {
    fn default() -> Self {
        Self { first_penalty: 1.0, growth: 1.5, tolerance: 1e-6, max_rounds: 50, max_steps: 300 }
    }
}

/// Labels by self-balanced min-cut.
#[derive(Clone, Debug, PartialEq)]
pub struct BalancedCutResult {
    /// Cluster of every node, none of which is empty.
    pub labels: Vec<ClusterId>,
    /// By how much `s Y Y^T` brings the sum of the squared weights down: what is made large.
    pub fit: f64,
    /// How far `G` and `Y` were apart at the end, at the most.
    pub residual: f64,
    /// Rounds and, in all of them, steps.
    pub rounds: usize,
    /// Steps of all rounds.
    pub steps: usize,
}

impl BalancedCut {
    /// Labels for `n_clusters` clusters, from a start that has all of them.
    ///
    /// # Errors
    /// When a setting is out of range, the start is not about the graph or leaves a cluster empty, there is not enough
    /// memory, or the clock says stop.
    pub fn run(
        &self,
        graph: &Graph<'_>,
        n_clusters: usize,
        start: &[ClusterId],
        clock: &Clock<'_>,
    ) -> Result<BalancedCutResult> {
        self.check()?;
        graph.verify()?;
        check_start(graph, n_clusters, start)?;
        let (what, remedy) = ("self-balanced min-cut", "ask for fewer clusters");
        memory::check(clock, what, Self::memory_needed(graph, n_clusters), remedy)?;
        Ok(self.rounds(&Model { graph, n_clusters }, start, clock)?)
    }

    /// Bytes of memory that it takes, at the most: four numbers for every node and cluster.
    pub fn memory_needed(graph: &Graph<'_>, n_clusters: usize) -> u64 {
        let n_nodes = graph.n_nodes() as u64;
        memory::BASE + (40 * n_clusters as u64 + 40).saturating_mul(n_nodes)
    }

    fn check(&self) -> Result<()> {
        let positive = |value: f64| value > 0.0 && value.is_finite();
        let settings = [
            ("the first penalty", self.first_penalty, positive(self.first_penalty), "a positive number"),
            ("the growth of the penalty", self.growth, positive(self.growth - 1.0), "above 1"),
            ("the tolerance", self.tolerance, positive(self.tolerance), "a positive number"),
        ];
        match settings.into_iter().find(|setting| !setting.2) {
            Some((name, value, _, expected)) => {
                Err(Error::BadSetting { name, value: value.to_string(), expected })
            }
            None => Ok(()),
        }
    }

    fn rounds(
        &self,
        model: &Model<'_>,
        start: &[ClusterId],
        clock: &Clock<'_>,
    ) -> Result<BalancedCutResult, Stopped> {
        let mut best = BalancedCutResult {
            labels: start.to_vec(),
            fit: model.fit(start).1,
            residual: 0.0,
            rounds: 0,
            steps: 0,
        };
        let mut progress = Progress::new(Stage::Search, self.max_rounds as u64);
        for round in 0..self.max_rounds {
            let (scale, _) = model.fit(&best.labels);
            let found = self.one_round(model, scale, &best.labels, &progress, clock)?;
            best.rounds += 1;
            best.steps += found.steps;
            best.residual = best.residual.max(found.residual);
            let (_, fit) = model.fit(&found.labels);
            // Another s may ask for other labels, but not for ones that fit the matrix less.
            if fit <= best.fit {
                break;
            }
            (best.labels, best.fit) = (found.labels, fit);
            progress.done = round as u64 + 1;
        }
        Ok(best)
    }

    /// The labels for one `s`.
    fn one_round(
        &self,
        model: &Model<'_>,
        scale: f64,
        start: &[ClusterId],
        progress: &Progress,
        clock: &Clock<'_>,
    ) -> Result<Round, Stopped> {
        let k = model.n_clusters;
        let mut labels = start.to_vec();
        let mut multipliers = vec![0.0; labels.len() * k];
        let mut penalty = self.first_penalty * model.mean_degree();
        let (mut residual, mut steps) = (f64::INFINITY, 0);
        while steps < self.max_steps {
            clock.report(progress)?;
            steps += 1;
            // G = Y + (multipliers - T Y) / penalty.
            let mut relaxed = model.times(&indicators(&labels, k), scale);
            for (node, row) in relaxed.chunks_exact_mut(k).enumerate() {
                for (cluster, value) in row.iter_mut().enumerate() {
                    let own = f64::from(u8::from(labels[node] as usize == cluster));
                    *value = own + (multipliers[node * k + cluster] - *value) / penalty;
                }
            }
            // Y is the indicator nearest to G - (multipliers + T G) / penalty.
            clock.report(progress)?;
            let mut target = model.times(&relaxed, scale);
            for (place, value) in target.iter_mut().enumerate() {
                *value = relaxed[place] - (multipliers[place] + *value) / penalty;
            }
            labels = fill_empty(target.chunks_exact(k).map(largest).collect(), &target, k);
            let mut square = 0.0;
            for (node, row) in relaxed.chunks_exact(k).enumerate() {
                for (cluster, value) in row.iter().enumerate() {
                    let difference = f64::from(u8::from(labels[node] as usize == cluster)) - value;
                    square += difference * difference;
                    multipliers[node * k + cluster] += penalty * difference;
                }
            }
            residual = square.sqrt();
            if residual <= self.tolerance {
                break;
            }
            penalty *= self.growth;
        }
        Ok(Round { labels, residual, steps })
    }
}

struct Round {
    labels: Vec<ClusterId>,
    residual: f64,
    steps: usize,
}

/// `Y`, row after row.
fn indicators(labels: &[ClusterId], k: usize) -> Vec<f64> {
    let mut rows = vec![0.0; labels.len() * k];
    for (row, &label) in rows.chunks_exact_mut(k).zip(labels) {
        row[label as usize] = 1.0;
    }
    rows
}

struct Model<'g> {
    graph: &'g Graph<'g>,
    n_clusters: usize,
}

impl Model<'_> {
    fn mean_degree(&self) -> f64 {
        let mean = self.graph.volume() / self.graph.n_nodes() as f64;
        if mean > 0.0 { mean } else { 1.0 }
    }

    /// The best `s` for labels, and by how much `s Y Y^T` then brings the sum of the squared weights down.
    fn fit(&self, labels: &[ClusterId]) -> (f64, f64) {
        let (mut sizes, mut inside) = (vec![0.0; self.n_clusters], 0.0);
        for (node, &label) in labels.iter().enumerate() {
            sizes[label as usize] += 1.0;
            inside += self.graph.self_loop(node as NodeId);
            self.graph.for_each_neighbor(node as NodeId, |other, weight| {
                if labels[other as usize] == label {
                    inside += weight;
                }
            });
        }
        let squares: f64 = sizes.iter().map(|size| size * size).sum();
        (inside / squares, inside * (inside / squares))
    }

    /// `T rows`, where `T = scale / 2 1 1^T - A`.
    fn times(&self, rows: &[f64], scale: f64) -> Vec<f64> {
        let (graph, k) = (self.graph, self.n_clusters);
        let mut sums = vec![0.0; k];
        for row in rows.chunks_exact(k) {
            sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
        let mut products = vec![0.0; rows.len()];
        products.par_chunks_mut(ROWS * k).enumerate().for_each(|(piece, products)| {
            for (place, product) in products.chunks_exact_mut(k).enumerate() {
                let node = (piece * ROWS + place) as NodeId;
                let mut subtract = |other: NodeId, weight: f64| {
                    let row = &rows[other as usize * k..][..k];
                    product.iter_mut().zip(row).for_each(|(product, value)| *product -= weight * value);
                };
                graph.for_each_neighbor(node, &mut subtract);
                subtract(node, graph.self_loop(node));
                product.iter_mut().zip(&sums).for_each(|(product, sum)| *product += scale / 2.0 * sum);
            }
        });
        products
    }
}
