//! Places of the nodes on the map: drawn by springs, by two eigenvectors, by two principal components.

use super::json::{Value, packed_u16};
use super::layout::{Place, spiral, spring};
use crate::graph::{Graph, NodeId};
#[cfg(any(feature = "files", feature = "neighbors"))]
use crate::points::Points;
use crate::progress::Clock;

/// Nodes up to which a graph is drawn by springs, which takes their square: half a second.
pub(super) const MAX_DRAWN: usize = 1_500;
/// Entries of the matrix up to which eigenvectors are looked for: a few seconds.
#[cfg(feature = "spectral")]
const MAX_SPECTRAL_ENTRIES: usize = 3_000_000;
/// How exact eigenvectors are for a picture.
#[cfg(feature = "spectral")]
const SPECTRAL_TOLERANCE: f64 = 1e-2;
/// A map of the largest component says little where it has a smaller part of the nodes.
#[cfg(feature = "spectral")]
const MIN_PART: f64 = 0.3;
/// Distances from the median beyond so many times the mean are drawn shorter.
#[cfg(feature = "spectral")]
const FAR: f64 = 4.0;
/// Rounds of subspace iteration for the principal components, and points they look at.
#[cfg(any(feature = "files", feature = "neighbors"))]
const ROUNDS: usize = 30;
#[cfg(any(feature = "files", feature = "neighbors"))]
const MAX_SAMPLED_POINTS: usize = 4_000;

/// One way to place the nodes.
pub(super) struct View {
    name: &'static str,
    note: String,
    places: Vec<Place>,
    /// Whether both directions are measured alike.
    is_to_scale: bool,
}

impl View {
    /// The places, as far apart as they come.
    pub(super) fn into_places(self) -> Vec<Place> {
        self.places
    }

    /// The view of some nodes, each place two numbers of 16 bits in the box around all.
    pub(super) fn value(&self, shown: &[NodeId]) -> Value {
        let range = |coordinate: fn(&Place) -> f64| {
            let values = || self.places.iter().map(coordinate);
            let (least, most) =
                (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
            (least, (most - least).max(f64::MIN_POSITIVE))
        };
        let (x, y) = (range(|place| place.0), range(|place| place.1));
        let aspect = if self.is_to_scale { (y.1 / x.1).clamp(0.25, 1.3) } else { 0.8 };
        let packed = |coordinate: fn(&Place) -> f64, (least, length): (f64, f64)| {
            packed_u16(shown.iter().map(|&node| {
                ((coordinate(&self.places[node as usize]) - least) / length * f64::from(u16::MAX)).round()
                    as u16
            }))
        };
        Value::Object(vec![
            ("name", self.name.into()),
            ("note", self.note.as_str().into()),
            ("aspect", Value::short(aspect)),
            ("x", packed(|place| place.0, x)),
            ("y", packed(|place| place.1, y)),
        ])
    }
}

/// The views of a graph: by springs where it is small, beginning with an order of the nodes, and by two eigenvectors.
pub(super) fn of_graph(graph: &Graph<'_>, order: &[usize], clock: &Clock<'_>) -> Vec<View> {
    let mut views = Vec::new();
    if graph.n_nodes() <= MAX_DRAWN && graph.n_edges() > 0 {
        let mut places = spiral(order);
        let links: Vec<(usize, usize, f64)> = graph
            .edges()
            .filter(|(from, to, _)| from != to)
            .map(|(from, to, weight)| (from as usize, to as usize, weight))
            .collect();
        spring(&mut places, &links);
        let note = "Linked nodes are drawn near each other.".to_owned();
        views.push(View { name: "Drawn", note, places, is_to_scale: true });
    }
    views.extend(spectral(graph, clock));
    views
}

/// Places by the second and third eigenvector of the normalized matrix, over the root of the degree; what is outside of the
/// largest component stands below. None where there is no time or memory for it.
#[cfg(feature = "spectral")]
pub(super) fn spectral(graph: &Graph<'_>, clock: &Clock<'_>) -> Option<View> {
    use crate::spectral::{Spectrum, SpectrumSettings};
    if graph.columns().len() > MAX_SPECTRAL_ENTRIES {
        return None;
    }
    let nodes = graph.components().largest();
    let n_outside = graph.n_nodes() - nodes.len();
    if nodes.len() < 4 || (nodes.len() as f64) < MIN_PART * graph.n_nodes() as f64 {
        return None;
    }
    let part = if n_outside == 0 { None } else { Some(graph.induced(&nodes).ok()?) };
    let part = part.as_ref().unwrap_or(graph);
    let settings = SpectrumSettings { tolerance: SPECTRAL_TOLERANCE, ..SpectrumSettings::default() };
    let spectrum = Spectrum::of(part, 3, &settings, clock).ok()?;
    let coordinate = |vector: usize| {
        let entry = |node: NodeId| spectrum.row(node)[vector] / part.degree(node).sqrt();
        evened((0..part.n_nodes() as NodeId).map(entry).collect())
    };
    let (x, y) = (coordinate(1), coordinate(2));
    let (lowest, highest) =
        y.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &y| (low.min(y), high.max(y)));
    let mut places = below(&x, lowest - 0.06 * (highest - lowest), graph.n_nodes(), &nodes);
    for (place, &node) in nodes.iter().enumerate() {
        places[node as usize] = (x[place], y[place]);
    }
    let rest = match n_outside {
        0 => "",
        _ => " What is not linked to the largest component stands in the line below.",
    };
    let note = format!(
        "Places by the second and third eigenvector of the normalized matrix, far ones drawn nearer.{rest}"
    );
    Some(View { name: "Spectral", note, places, is_to_scale: false })
}

#[cfg(not(feature = "spectral"))]
pub(super) fn spectral(_: &Graph<'_>, _: &Clock<'_>) -> Option<View> {
    None
}

/// A line of all other nodes, as wide as the map.
#[cfg(feature = "spectral")]
fn below(x: &[f64], level: f64, n_nodes: usize, inside: &[NodeId]) -> Vec<Place> {
    let (least, most) =
        x.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)));
    let n_outside = n_nodes - inside.len();
    let mut places = vec![(f64::NAN, level); n_nodes];
    inside.iter().for_each(|&node| places[node as usize].0 = 0.0);
    let outside = places.iter_mut().filter(|place| place.0.is_nan());
    for (step, place) in outside.enumerate() {
        place.0 = least + (most - least) * (step as f64 + 0.5) / n_outside as f64;
    }
    places
}

/// Coordinates of which few are far beyond all others: these come nearer. The sign is that of the largest.
#[cfg(feature = "spectral")]
fn evened(mut values: Vec<f64>) -> Vec<f64> {
    let mut sorted = values.clone();
    sorted.sort_by(f64::total_cmp);
    let median = sorted[sorted.len() / 2];
    let mean = values.iter().map(|value| (value - median).abs()).sum::<f64>() / values.len() as f64;
    let far = (FAR * mean).max(f64::MIN_POSITIVE);
    let sign = match sorted[sorted.len() - 1].abs() < sorted[0].abs() {
        true => -1.0,
        false => 1.0,
    };
    values.iter_mut().for_each(|value| *value = sign * libm::asinh((*value - median) / far));
    values
}

/// The first two principal components of points; two features are taken as they are.
#[cfg(any(feature = "files", feature = "neighbors"))]
pub(super) fn principal(points: &Points<'_>) -> View {
    let (n_points, n_features) = (points.count(), points.n_features());
    let at = |point: usize, feature: usize| points.values().at(point * n_features + feature);
    if n_features <= 2 {
        let place = |point| (at(point, 0), if n_features == 2 { at(point, 1) } else { 0.0 });
        let note = match n_features {
            2 => "The two features as they are.",
            _ => "The only feature as it is.",
        };
        let places = (0..n_points).map(place).collect();
        return View { name: "As they are", note: note.to_owned(), places, is_to_scale: true };
    }
    let step = n_points.div_ceil(MAX_SAMPLED_POINTS);
    let sampled: Vec<usize> = (0..n_points).step_by(step).collect();
    let mut mean = vec![0.0; n_features];
    for &point in &sampled {
        mean.iter_mut().enumerate().for_each(|(feature, sum)| *sum += at(point, feature));
    }
    mean.iter_mut().for_each(|sum| *sum /= sampled.len() as f64);
    let inner = |point: usize, axis: &[f64]| -> f64 {
        axis.iter().enumerate().map(|(feature, part)| part * (at(point, feature) - mean[feature])).sum()
    };
    // Four axes are followed, so that the first two come out even where the third is nearly as long.
    let mut axes: Vec<Vec<f64>> = (0..n_features.min(4))
        .map(|axis| (0..n_features).map(|feature| start(axis as u64, feature as u64)).collect())
        .collect();
    orthonormalize(&mut axes);
    let mut lengths = vec![0.0; axes.len()];
    for _ in 0..ROUNDS {
        for (axis, length) in axes.iter_mut().zip(&mut lengths) {
            let mut next = vec![0.0; n_features];
            for &point in &sampled {
                let along = inner(point, axis);
                for (feature, sum) in next.iter_mut().enumerate() {
                    *sum += along * (at(point, feature) - mean[feature]);
                }
            }
            *length = axis.iter().zip(&next).map(|(a, b)| a * b).sum();
            *axis = next;
        }
        orthonormalize(&mut axes);
    }
    for axis in &mut axes {
        let largest = axis.iter().fold(0.0, |a: f64, &b| if b.abs() > a.abs() { b } else { a });
        if largest < 0.0 {
            axis.iter_mut().for_each(|part| *part = -*part);
        }
    }
    let squares: f64 = sampled
        .iter()
        .map(|&point| {
            (0..n_features).map(|feature| (at(point, feature) - mean[feature]).powi(2)).sum::<f64>()
        })
        .sum();
    let shown = if squares > 0.0 { (lengths[0] + lengths[1]) / squares } else { 0.0 };
    let note = format!("The first two principal components, {:.0} % of the variance.", 100.0 * shown);
    let places = (0..n_points).map(|point| (inner(point, &axes[0]), inner(point, &axes[1]))).collect();
    View { name: "Principal", note, places, is_to_scale: true }
}

/// Numbers without a pattern to begin with.
#[cfg(any(feature = "files", feature = "neighbors"))]
fn start(axis: u64, feature: u64) -> f64 {
    (crate::random::mix(axis + 1, feature) >> 11) as f64 / (1u64 << 53) as f64 - 0.5
}

/// Gram and Schmidt.
#[cfg(any(feature = "files", feature = "neighbors"))]
fn orthonormalize(axes: &mut [Vec<f64>]) {
    for axis in 0..axes.len() {
        let (before, rest) = axes.split_at_mut(axis);
        let own = &mut rest[0];
        for other in before.iter() {
            let along: f64 = own.iter().zip(other).map(|(a, b)| a * b).sum();
            own.iter_mut().zip(other).for_each(|(a, b)| *a -= along * b);
        }
        let length = own.iter().map(|part| part * part).sum::<f64>().sqrt();
        if length > 0.0 {
            own.iter_mut().for_each(|part| *part /= length);
        }
    }
}
