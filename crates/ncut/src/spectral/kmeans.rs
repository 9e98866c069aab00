//! k-means: Lloyd's iterations from given labels, or from k-means++ with restarts.

use crate::error::{Error, Result};
use crate::progress::{Clock, Stopped};
use crate::random::Random;

/// How points are divided by k-means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KMeans {
    /// Number of clusters, none of which stays empty.
    pub n_clusters: usize,
    /// Iterations at most.
    pub max_iterations: usize,
    /// Starts by k-means++, of which the best is kept; not used where labels are given.
    pub n_starts: usize,
    /// Seed of the starts.
    pub seed: u64,
}

/// Clusters by k-means.
#[derive(Clone, Debug, PartialEq)]
pub struct KMeansResult {
    /// Cluster of every point.
    pub labels: Vec<u32>,
    /// Sum of the squared distances of the points to the means of their clusters.
    pub inertia: f64,
    /// Iterations of the start that was kept.
    pub iterations: usize,
}

impl KMeans {
    /// `n_clusters` clusters by the best of ten starts.
    pub fn new(n_clusters: usize) -> Self {
        Self { n_clusters, max_iterations: 300, n_starts: 10, seed: 0 }
    }

    /// Divides the points of `n_features` numbers each that stand one after the other in `values`.
    ///
    /// # Errors
    /// When there are fewer points than clusters, no clusters or no starts, or the values are no whole points.
    ///
    /// ```
    /// use ncut::spectral::KMeans;
    /// let found = KMeans::new(2).run(&[0.0, 0.1, 5.0, 5.1], 1)?;
    /// assert_eq!(found.labels[0], found.labels[1]);
    /// assert_ne!(found.labels[1], found.labels[2]);
    /// # Ok::<(), ncut::Error>(())
    /// ```
    pub fn run(&self, values: &[f64], n_features: usize) -> Result<KMeansResult> {
        let points = self.points(values, n_features)?;
        if self.n_starts == 0 {
            let (value, expected) = ("0".into(), "at least 1");
            return Err(Error::BadSetting { name: "n_starts", value, expected });
        }
        let mut random = Random::new(self.seed);
        let mut best: Option<KMeansResult> = None;
        for _ in 0..self.n_starts {
            let means = points.spread_means(self.n_clusters, &mut random);
            let found = self.iterate(&points, means, &Clock::new())?;
            if best.as_ref().is_none_or(|best| found.inertia < best.inertia) {
                best = Some(found);
            }
        }
        Ok(best.expect("there is at least one start"))
    }

    /// The same from labels: the first means are those of their clusters.
    ///
    /// # Errors
    /// As [`run`](Self::run), and when the labels are not one a point, or leave a cluster empty.
    pub fn run_from(&self, values: &[f64], n_features: usize, labels: &[u32]) -> Result<KMeansResult> {
        self.run_from_by(values, n_features, labels, &Clock::new())
    }

    /// As [`run_from`](Self::run_from), unless the clock says stop.
    pub(super) fn run_from_by(
        &self,
        values: &[f64],
        n_features: usize,
        labels: &[u32],
        clock: &Clock<'_>,
    ) -> Result<KMeansResult> {
        let points = self.points(values, n_features)?;
        if labels.len() != points.count() {
            return Err(Error::labels(format!(
                "{} labels were given for {} points",
                labels.len(),
                points.count()
            )));
        }
        let mut sizes = vec![0usize; self.n_clusters];
        for &label in labels {
            *sizes
                .get_mut(label as usize)
                .ok_or_else(|| Error::labels(format!("there is no cluster {label}")))? += 1;
        }
        if let Some(empty) = sizes.iter().position(|&size| size == 0) {
            return Err(Error::labels(format!("cluster {empty} is empty")));
        }
        Ok(self.iterate(&points, points.means(labels, self.n_clusters), clock)?)
    }

    fn points<'a>(&self, values: &'a [f64], n_features: usize) -> Result<Points<'a>> {
        if n_features == 0 || !values.len().is_multiple_of(n_features) {
            return Err(Error::shape(format!("{} numbers are no points of {n_features} each", values.len())));
        }
        let n_points = values.len() / n_features;
        if self.n_clusters == 0 || self.n_clusters > n_points {
            return Err(Error::BadClusterCount {
                n_clusters: self.n_clusters,
                n_nodes: n_points,
                nodes: "points",
            });
        }
        Ok(Points { values, n_features })
    }

    fn iterate(
        &self,
        points: &Points<'_>,
        mut means: Vec<f64>,
        clock: &Clock<'_>,
    ) -> Result<KMeansResult, Stopped> {
        let mut labels = Vec::new();
        let mut iterations = 0;
        loop {
            clock.check()?;
            let (next, distances) = points.nearest(&means);
            let next = points.without_empty(next, distances, self.n_clusters);
            let is_same = next == labels;
            labels = next;
            if is_same || iterations == self.max_iterations {
                let inertia = (0..points.count())
                    .map(|point| {
                        squared_distance(points.at(point), mean(&means, labels[point], points.n_features))
                    })
                    .sum();
                return Ok(KMeansResult { labels, inertia, iterations });
            }
            means = points.means(&labels, self.n_clusters);
            iterations += 1;
        }
    }
}

struct Points<'a> {
    values: &'a [f64],
    n_features: usize,
}

impl Points<'_> {
    fn count(&self) -> usize {
        self.values.len() / self.n_features
    }

    fn at(&self, point: usize) -> &[f64] {
        &self.values[point * self.n_features..][..self.n_features]
    }

    fn means(&self, labels: &[u32], n_clusters: usize) -> Vec<f64> {
        let mut sums = vec![0.0; n_clusters * self.n_features];
        let mut sizes = vec![0u32; n_clusters];
        for (point, &label) in labels.iter().enumerate() {
            sizes[label as usize] += 1;
            let sum = &mut sums[label as usize * self.n_features..][..self.n_features];
            for (sum, value) in sum.iter_mut().zip(self.at(point)) {
                *sum += value;
            }
        }
        for (sum, &size) in sums.chunks_exact_mut(self.n_features).zip(&sizes) {
            sum.iter_mut().for_each(|sum| *sum /= f64::from(size.max(1)));
        }
        sums
    }

    /// The nearest mean of every point, the first among equals, and its squared distance.
    fn nearest(&self, means: &[f64]) -> (Vec<u32>, Vec<f64>) {
        let nearest = |point: usize| {
            let mut best = (0, f64::INFINITY);
            for (cluster, mean) in means.chunks_exact(self.n_features).enumerate() {
                let distance = squared_distance(self.at(point), mean);
                if distance < best.1 {
                    best = (cluster as u32, distance);
                }
            }
            best
        };
        (0..self.count()).map(nearest).unzip()
    }

    /// Gives every empty cluster the farthest point of a cluster that has others.
    fn without_empty(&self, mut labels: Vec<u32>, mut distances: Vec<f64>, n_clusters: usize) -> Vec<u32> {
        let mut sizes = vec![0u32; n_clusters];
        labels.iter().for_each(|&label| sizes[label as usize] += 1);
        for empty in 0..n_clusters {
            if sizes[empty] > 0 {
                continue;
            }
            let mut farthest = None;
            for (point, &distance) in distances.iter().enumerate() {
                if sizes[labels[point] as usize] > 1 && farthest.is_none_or(|(_, most)| distance > most) {
                    farthest = Some((point, distance));
                }
            }
            let (point, _) = farthest.expect("there are at least as many points as clusters");
            sizes[labels[point] as usize] -= 1;
            sizes[empty] = 1;
            labels[point] = empty as u32;
            distances[point] = 0.0;
        }
        labels
    }

    /// k-means++: means that are points, each drawn by its squared distance to those before.
    fn spread_means(&self, n_clusters: usize, random: &mut Random) -> Vec<f64> {
        let first = random.below(self.count() as u32) as usize;
        let mut means = self.at(first).to_vec();
        let mut distances: Vec<f64> =
            (0..self.count()).map(|point| squared_distance(self.at(point), self.at(first))).collect();
        for _ in 1..n_clusters {
            let total: f64 = distances.iter().sum();
            let mut left = random.uniform() * total;
            let drawn = distances.iter().position(|&distance| {
                left -= distance;
                distance > 0.0 && left <= 0.0
            });
            // Where all points coincide with means, any will do.
            let drawn = drawn.unwrap_or_else(|| random.below(self.count() as u32) as usize);
            means.extend_from_slice(self.at(drawn));
            for (point, distance) in distances.iter_mut().enumerate() {
                *distance = distance.min(squared_distance(self.at(point), self.at(drawn)));
            }
        }
        means
    }
}

fn mean(means: &[f64], cluster: u32, n_features: usize) -> &[f64] {
    &means[cluster as usize * n_features..][..n_features]
}

fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}
