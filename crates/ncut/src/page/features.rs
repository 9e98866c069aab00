//! What the features of the points are in each cluster.

use super::json::Value;
use crate::points::Points;

/// Means told at most: clusters times features.
const MAX_MEANS: usize = 60_000;

/// Means and deviations of the features: of all points with a cluster, and the means of every cluster. Of very many features
/// those are told whose means differ most between clusters.
pub(super) fn of_clusters(
    points: &Points<'_>,
    names: &[String],
    row_of: &[Option<u16>],
    n_rows: usize,
) -> Value {
    let n_features = points.n_features();
    let values = points.values();
    let mut sums = vec![0.0; n_rows * n_features];
    let mut sizes = vec![0.0; n_rows];
    for (point, row) in row_of.iter().enumerate() {
        let Some(row) = row.map(usize::from) else { continue };
        sizes[row] += 1.0;
        let own = &mut sums[row * n_features..][..n_features];
        own.iter_mut().enumerate().for_each(|(feature, sum)| *sum += values.at(point * n_features + feature));
    }
    let n_points: f64 = sizes.iter().sum();
    let total = |feature: usize| (0..n_rows).map(|row| sums[row * n_features + feature]).sum::<f64>();
    let means: Vec<f64> = (0..n_features).map(|feature| total(feature) / n_points).collect();
    let mut squares = vec![0.0; n_features];
    for point in (0..row_of.len()).filter(|&point| row_of[point].is_some()) {
        for (feature, square) in squares.iter_mut().enumerate() {
            *square += (values.at(point * n_features + feature) - means[feature]).powi(2);
        }
    }
    let deviations: Vec<f64> = squares.iter().map(|square| (square / n_points).sqrt()).collect();
    let mean_in = |row: usize, feature: usize| sums[row * n_features + feature] / sizes[row].max(1.0);
    let between = |feature: usize| match deviations[feature] {
        0.0 => 0.0,
        deviation => {
            let apart =
                |row: usize| sizes[row] * ((mean_in(row, feature) - means[feature]) / deviation).powi(2);
            (0..n_rows).map(apart).sum()
        }
    };
    let mut told: Vec<usize> = (0..n_features).collect();
    if n_rows * n_features > MAX_MEANS {
        let spread: Vec<f64> = (0..n_features).map(between).collect();
        told.sort_by(|&a, &b| spread[b].total_cmp(&spread[a]).then(a.cmp(&b)));
        told.truncate((MAX_MEANS / n_rows).max(1));
        told.sort_unstable();
    }
    let name = |&feature: &usize| names.get(feature).cloned().unwrap_or(format!("feature {}", feature + 1));
    let column = |of: &[f64]| Value::list(told.iter().map(|&feature| Value::short(of[feature])));
    let of_row = |row: usize| {
        Value::list(told.iter().map(|&feature| Value::short(mean_in(row, feature))).collect::<Vec<_>>())
    };
    Value::Object(vec![
        ("names", Value::list(told.iter().map(name))),
        ("mean", column(&means)),
        ("deviation", column(&deviations)),
        ("of", Value::list((0..n_rows).map(of_row))),
    ])
}
