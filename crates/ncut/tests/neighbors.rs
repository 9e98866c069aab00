//! Neighbours and graphs of points, against brute force.
#![cfg(feature = "neighbors")]

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use ncut::neighbors::{
    Affinity, Linking, Metric, NeighborSearch, Neighbors, PointGraph, Points, SearchMethod, dense_rbf_graph,
};
use ncut::{Clock, Graph, Weights};

/// Numbers that look random, the same in every run.
fn noise(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..count)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 53) as f64
        })
        .collect()
}

/// Points around `n_centers` centers.
fn blobs(n_points: usize, n_features: usize, n_centers: usize) -> Vec<f64> {
    let centers = noise(n_centers * n_features, 7);
    let spread = noise(n_points * n_features, 8);
    (0..n_points * n_features)
        .map(|place| {
            let (point, feature) = (place / n_features, place % n_features);
            10.0 * centers[(point % n_centers) * n_features + feature] + spread[place]
        })
        .collect()
}

/// Points of 300 features, close enough to each other for bytes to describe them well.
fn long_points() -> Vec<f64> {
    let centers = noise(40 * 300, 11);
    let spread = noise(4000 * 300, 12);
    (0..4000 * 300).map(|place| 0.5 * centers[place % (40 * 300)] + spread[place]).collect()
}

fn search(values: &[f64], n_features: usize, settings: NeighborSearch) -> Neighbors {
    settings.run(Points::new(values, n_features).unwrap(), &Clock::new()).unwrap()
}

fn squared(values: &[f64], n_features: usize, a: usize, b: usize) -> f64 {
    let row = |point: usize| &values[point * n_features..][..n_features];
    row(a).iter().zip(row(b)).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// The nearest by sorting all distances, the lowest number first among equals.
fn brute_force(values: &[f64], n_features: usize, point: usize, n_neighbors: usize) -> Vec<(f64, u32)> {
    let n_points = values.len() / n_features;
    let others = (0..n_points).filter(|&other| other != point);
    let mut all: Vec<(f64, u32)> =
        others.map(|other| (squared(values, n_features, point, other), other as u32)).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    all.truncate(n_neighbors);
    all
}

fn assert_exact(values: &[f64], n_features: usize, n_neighbors: usize) {
    let settings = NeighborSearch { n_neighbors, method: SearchMethod::Exact, ..NeighborSearch::default() };
    let found = search(values, n_features, settings);
    for point in (0..values.len() / n_features).step_by(7) {
        let expected = brute_force(values, n_features, point, n_neighbors);
        let got: Vec<(u32, f64)> = found.of(point as u32).collect();
        assert_eq!(got.len(), expected.len());
        for ((id, distance), (expected_distance, expected_id)) in got.into_iter().zip(expected) {
            // Sums in another order may differ in the last digit, and so swap neighbours that are as far.
            assert!((distance - expected_distance).abs() <= 1e-12 * expected_distance, "point {point}");
            assert!(id == expected_id || distance > 0.0, "point {point}: ties at 0 go by number");
        }
    }
}

#[test]
fn the_exact_search_is_exact() {
    // Few points (one block), many (blocks meet), one feature, many features.
    for (n_points, n_features) in [(2, 3), (40, 1), (700, 5), (4000, 3), (3500, 40)] {
        assert_exact(&blobs(n_points, n_features, 9), n_features, 6.min(n_points - 1));
    }
}

#[test]
fn the_exact_search_is_exact_where_products_round() {
    // Far from the origin and close to each other; and over a wide range.
    let shifted: Vec<f64> = noise(4000 * 4, 1).iter().map(|value| 1e7 + value).collect();
    assert_exact(&shifted, 4, 5);
    let wide: Vec<f64> = noise(3200 * 3, 2).iter().map(|value| 10f64.powf(12.0 * value)).collect();
    assert_exact(&wide, 3, 5);
    let huge: Vec<f64> = noise(3200 * 3, 3).iter().map(|value| 1e100 * value).collect();
    assert_exact(&huge, 3, 5);
    let tiny: Vec<f64> = noise(3200 * 3, 4).iter().map(|value| 1e-60 * value).collect();
    assert_exact(&tiny, 3, 5);
}

#[test]
fn duplicates_are_neighbours_by_number_and_never_oneself() {
    // Every point a hundred times: all nearest are at distance 0.
    let few = noise(35 * 4, 5);
    let values: Vec<f64> = (0..3500).flat_map(|point| few[point % 35 * 4..][..4].to_vec()).collect();
    let settings =
        NeighborSearch { n_neighbors: 10, method: SearchMethod::Exact, ..NeighborSearch::default() };
    let found = search(&values, 4, settings);
    for point in [0u32, 1, 34, 35, 1234, 3499] {
        let expected: Vec<u32> =
            (0..3500).filter(|other| other % 35 == point % 35 && *other != point).take(10).collect();
        assert_eq!(found.of(point).map(|(id, _)| id).collect::<Vec<_>>(), expected);
        assert!(found.of(point).all(|(_, squared)| squared == 0.0));
    }
}

#[test]
fn thirty_two_bit_points_are_searched_as_they_are() {
    let values = blobs(3300, 6, 5);
    let narrow: Vec<f32> = values.iter().map(|&value| value as f32).collect();
    let widened: Vec<f64> = narrow.iter().map(|&value| f64::from(value)).collect();
    let settings = NeighborSearch { method: SearchMethod::Exact, ..NeighborSearch::default() };
    let found = settings.run(Points::new(&narrow, 6).unwrap(), &Clock::new()).unwrap();
    assert_eq!(found, search(&widened, 6, settings));
}

#[test]
fn the_cosine_looks_at_directions_only() {
    let values = [1.0, 0.0, 5.0, 0.1, 0.0, 2.0, -3.0, 0.0, 0.0, 0.0];
    let settings = NeighborSearch { n_neighbors: 4, metric: Metric::Cosine, ..NeighborSearch::default() };
    let found = search(&values, 2, settings);
    assert_eq!(found.of(0).map(|(id, _)| id).collect::<Vec<_>>(), [1, 4, 2, 3]);
    let opposite = found.of(0).last().unwrap().1;
    assert!((opposite - 4.0).abs() < 1e-12, "2 (1 - cos 180°)");
}

#[test]
fn the_approximate_search_is_nearly_exact_and_the_same_with_any_number_of_threads() {
    let values = blobs(6000, 24, 40);
    let with = |method| {
        let settings = NeighborSearch { n_neighbors: 15, method, seed: 3, ..NeighborSearch::default() };
        search(&values, 24, settings)
    };
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let approximate = with(SearchMethod::Approximate);
    for threads in [1, 2, 3] {
        assert_eq!(pool(threads).install(|| with(SearchMethod::Approximate)), approximate);
        assert_eq!(pool(threads).install(|| with(SearchMethod::Exact)), with(SearchMethod::Exact));
    }
    let long = long_points();
    let settings = NeighborSearch { method: SearchMethod::Approximate, ..NeighborSearch::default() };
    let approximate_long = search(&long, 300, settings);
    assert_eq!(pool(1).install(|| search(&long, 300, settings)), approximate_long);
    let exact = with(SearchMethod::Exact);
    let ids = |found: &Neighbors, point| found.of(point).map(|(id, _)| id).collect::<BTreeSet<u32>>();
    let hits: usize =
        (0..6000).map(|point| ids(&exact, point).intersection(&ids(&approximate, point)).count()).sum();
    let recall = hits as f64 / (6000.0 * 15.0);
    assert!(recall > 0.98, "recall {recall}");
    assert!((0..6000).all(|point| !ids(&approximate, point).contains(&point)));
}

/// Share of the true neighbours that the approximate search finds.
fn recall(values: &[f64], n_features: usize, metric: Metric) -> f64 {
    let with =
        |method| search(values, n_features, NeighborSearch { n_neighbors: 12, metric, method, seed: 1 });
    let (exact, approximate) = (with(SearchMethod::Exact), with(SearchMethod::Approximate));
    let found = |point| approximate.of(point).map(|(id, _)| id).collect::<BTreeSet<u32>>();
    let hits = |point: usize| {
        let (found, mut wanted) = (found(point as u32), exact.of(point as u32));
        wanted.by_ref().filter(|(id, _)| found.contains(id)).count()
    };
    (0..exact.n_points()).map(hits).sum::<usize>() as f64 / exact.ids().len() as f64
}

#[test]
fn the_approximate_search_finds_neighbours_in_points_of_every_kind() {
    for metric in [Metric::Euclidean, Metric::Cosine] {
        assert!(recall(&long_points(), 300, metric) > 0.97);
    }
    // One feature, a feature that never changes, points far from the origin, coordinates of all sizes.
    assert!(recall(&noise(3000, 1), 1, Metric::Euclidean) > 0.99);
    let flat: Vec<f64> = noise(4000 * 6, 2)
        .iter()
        .enumerate()
        .map(|(place, value)| if place % 6 == 0 { 3.0 } else { *value })
        .collect();
    assert!(recall(&flat, 6, Metric::Euclidean) > 0.98);
    let shifted: Vec<f64> = noise(4000 * 4, 3).iter().map(|value| 1e7 + value).collect();
    assert!(recall(&shifted, 4, Metric::Euclidean) > 0.98);
    for scale in [1e-60, 1e100] {
        let scaled: Vec<f64> = noise(4000 * 5, 4).iter().map(|value| scale * value).collect();
        assert!(recall(&scaled, 5, Metric::Euclidean) > 0.98);
    }
    // A crowd and a few points far away, next to which all of the crowd is in one place.
    let outliers: Vec<f64> = noise(4000 * 50, 5)
        .iter()
        .enumerate()
        .map(|(place, value)| if place / 50 % 400 == 0 { 1e4 * value } else { *value })
        .collect();
    assert!(recall(&outliers, 50, Metric::Euclidean) > 0.9);
}

#[test]
fn the_approximate_search_survives_duplicates_and_few_points() {
    let with = |values: &[f64], n_features: usize| {
        let settings =
            NeighborSearch { n_neighbors: 5, method: SearchMethod::Approximate, ..NeighborSearch::default() };
        search(values, n_features, settings)
    };
    let found = with(&[1.5; 3000 * 2], 2);
    assert!(found.squared_distances().iter().all(|&squared| squared == 0.0));
    for n_points in 1..12 {
        let found = with(&noise(n_points * 3, 6), 3);
        assert_eq!(found.ids().len(), n_points * 5.min(n_points - 1));
    }
}

/// A crowd, a few groups far from it and from each other, and some points many times.
fn groups_apart(
    n_crowd: usize,
    group_size: usize,
    n_groups: usize,
    n_features: usize,
    seed: u64,
) -> Vec<f64> {
    let n_points = n_crowd + n_groups * group_size;
    let mut values = noise(n_points * n_features, seed);
    for group in 0..n_groups {
        let first = (n_crowd + group * group_size) * n_features;
        for value in &mut values[first..first + group_size * n_features] {
            *value += 1000.0 * (group + 1) as f64;
        }
    }
    if seed.is_multiple_of(3) {
        let copied = values[..n_features].to_vec();
        for point in (0..n_points).step_by(5) {
            values[point * n_features..][..n_features].copy_from_slice(&copied);
        }
    }
    values
}

#[test]
fn every_point_has_as_many_neighbours_as_asked_for() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    for seed in 0..60 {
        let (group_size, n_features) = (1 + seed as usize % 30, 1 + seed as usize % 7);
        let values = groups_apart(400, group_size, 1 + seed as usize % 4, n_features, seed + 1);
        let n_points = values.len() / n_features;
        for n_neighbors in [1, 2, 5, 25, 40] {
            let method = SearchMethod::Approximate;
            let settings = NeighborSearch { n_neighbors, method, seed, ..NeighborSearch::default() };
            let found = search(&values, n_features, settings);
            assert_eq!(found.ids().len(), n_points * n_neighbors, "seed {seed}, {n_neighbors} neighbours");
            for point in 0..n_points as u32 {
                let ids: BTreeSet<u32> = found.of(point).map(|(id, _)| id).collect();
                assert_eq!(ids.len(), n_neighbors, "seed {seed}: no neighbour twice");
                assert!(!ids.contains(&point), "seed {seed}: no point is its own neighbour");
            }
            assert_eq!(pool.install(|| search(&values, n_features, settings)), found, "seed {seed}");
            // The way of the paper's affinity, which takes one neighbour more and drops it.
            let affinity = Affinity::SelfTuning;
            graph_of(
                &values,
                n_features,
                PointGraph { affinity, n_neighbors, method, seed, ..Default::default() },
            );
        }
    }
}

#[test]
fn a_search_can_be_stopped() {
    let values = blobs(6000, 8, 10);
    for method in [SearchMethod::Exact, SearchMethod::Approximate] {
        let settings = NeighborSearch { method, ..NeighborSearch::default() };
        let stopped =
            settings.run(Points::new(&values, 8).unwrap(), &Clock::observed(|_| ControlFlow::Break(())));
        assert!(matches!(stopped, Err(ncut::Error::Stopped { .. })));
    }
}

fn graph_of(values: &[f64], n_features: usize, settings: PointGraph) -> Graph<'static> {
    settings.build(Points::new(values, n_features).unwrap(), &Clock::new()).unwrap()
}

#[test]
fn affinities_weigh_edges_as_defined() {
    let line = [0.0, 1.0, 3.0, 7.0];
    let with = |affinity, linking| {
        let settings = PointGraph { affinity, linking, n_neighbors: 1, ..PointGraph::default() };
        graph_of(&line, 1, settings).edges().collect::<Vec<_>>()
    };
    assert_eq!(with(Affinity::Knn, Linking::Union), [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0)]);
    assert_eq!(with(Affinity::Knn, Linking::Mutual), [(0, 1, 1.0)]);
    let rbf = with(Affinity::Rbf { gamma: Some(0.5) }, Linking::Union);
    assert!((rbf[1].2 - (-0.5f64 * 4.0).exp()).abs() < 1e-15);
    // Lengths 1, 2 and 4: the median is 2, gamma 1/8.
    let tuned = with(Affinity::Rbf { gamma: None }, Linking::Union);
    assert!((tuned[0].2 - (-1.0f64 / 8.0).exp()).abs() < 1e-15);
    let plane = [1.0, 0.0, 1.0, 1.0, -1.0, 0.0];
    let cosine = PointGraph { affinity: Affinity::Cosine, n_neighbors: 2, ..PointGraph::default() };
    let edges: Vec<_> = graph_of(&plane, 2, cosine).edges().collect();
    assert_eq!(edges.len(), 1, "angles of 90° and more are no edges");
    assert!((edges[0].2 - 0.5f64.sqrt()).abs() < 1e-15);
}

/// What a point gives to the others by its nearest and the one after them, from the formula.
fn shares(values: &[f64], n_features: usize, point: usize, n_neighbors: usize) -> Vec<(u32, f64)> {
    let nearest = brute_force(values, n_features, point, n_neighbors + 1);
    let reach = nearest.last().unwrap().0;
    let n_linked = n_neighbors.min(nearest.len().saturating_sub(1)).max(1);
    let total = n_linked as f64 * reach - nearest[..n_linked].iter().map(|pair| pair.0).sum::<f64>();
    nearest[..n_linked].iter().map(|&(squared, other)| (other, (reach - squared) / total)).collect()
}

#[test]
fn adaptive_weights_are_the_mean_of_what_both_ends_share_out() {
    for (n_points, n_neighbors) in [(40, 5), (40, 1), (7, 5), (7, 6), (7, 100), (3, 4)] {
        let values = noise(n_points * 3, 21);
        let settings = PointGraph { affinity: Affinity::Adaptive, n_neighbors, ..PointGraph::default() };
        let graph = graph_of(&values, 3, settings);
        let mut expected = vec![vec![0.0; n_points]; n_points];
        for point in 0..n_points {
            let given = shares(&values, 3, point, n_neighbors);
            assert!((given.iter().map(|share| share.1).sum::<f64>() - 1.0).abs() < 1e-12);
            for (other, share) in given {
                expected[point][other as usize] += share / 2.0;
                expected[other as usize][point] += share / 2.0;
            }
        }
        for (from, row) in expected.iter().enumerate() {
            for (to, &weight) in row.iter().enumerate() {
                let found = graph.neighbors(from as u32).find(|link| link.0 == to as u32);
                let found = found.map_or(0.0, |link| link.1);
                assert!(
                    (found - weight).abs() < 1e-12,
                    "{n_points} points, ({from}, {to}): {found}, not {weight}"
                );
            }
        }
        // All shares add up to the number of points.
        assert!((graph.volume() - n_points as f64).abs() < 1e-9);
        let mutual = graph_of(&values, 3, PointGraph { linking: Linking::Mutual, ..settings });
        for (from, to, weight) in mutual.edges() {
            assert_eq!(
                graph.neighbors(from).find(|link| link.0 == to),
                Some((to, weight)),
                "mutual links are among them"
            );
        }
    }
}

#[test]
fn adaptive_weights_are_equal_where_all_neighbours_are_as_far() {
    let settings = PointGraph { affinity: Affinity::Adaptive, n_neighbors: 2, ..PointGraph::default() };
    // Six points in one place: every one shares its weight among two.
    let graph = graph_of(&[1.5; 6], 1, settings);
    assert!(graph.edges().all(|(_, _, weight)| weight == 0.5), "{graph:?}");
    // Two points have no neighbour to measure by.
    let pair = graph_of(&[0.0, 3.0], 1, settings);
    assert_eq!(pair.edges().collect::<Vec<_>>(), [(0, 1, 1.0)]);
    assert_eq!(graph_of(&[4.0], 1, settings).n_edges(), 0);
}

#[test]
fn all_pairs_can_be_linked() {
    let values = noise(30 * 3, 9);
    let graph = dense_rbf_graph(Points::new(&values, 3).unwrap(), 2.0).unwrap();
    assert_eq!(graph.n_edges(), 30 * 29 / 2);
    for (from, to, weight) in graph.edges() {
        let expected = (-2.0 * squared(&values, 3, from as usize, to as usize)).exp();
        assert!((weight - expected).abs() < 1e-14);
    }
}

#[test]
fn wrong_settings_are_refused() {
    let values = [0.0, 1.0, 2.0];
    let points = Points::new(&values, 1).unwrap();
    let refused = |settings: PointGraph| settings.build(points, &Clock::new()).unwrap_err().to_string();
    let none = PointGraph { n_neighbors: 0, ..PointGraph::default() };
    assert_eq!(refused(none), "n_neighbors is 0; it must be at least 1");
    assert_eq!(refused(PointGraph { affinity: Affinity::Adaptive, ..none }), refused(none));
    let negative = PointGraph { affinity: Affinity::Rbf { gamma: Some(-1.0) }, ..PointGraph::default() };
    assert_eq!(refused(negative), "gamma is -1; it must be a positive number");
    assert!(dense_rbf_graph(points, f64::NAN).is_err());
    let far = Points::new(&[1e200, 0.0], 1).unwrap_err().to_string();
    assert_eq!(
        far,
        "row 0, column 0 is 1e200; that is too large: rescale the columns"
            .replace("1e200", &1e200f64.to_string())
    );
    // More neighbours than points are all others.
    let all = PointGraph { n_neighbors: usize::MAX, ..PointGraph::default() };
    assert_eq!(all.build(points, &Clock::new()).unwrap().n_edges(), 3);
}

#[test]
fn points_of_32_bits_make_weights_of_32_bits_that_are_those_of_64_rounded() {
    let wide: Vec<f64> = blobs(200, 4, 3).iter().map(|&value| f64::from(value as f32)).collect();
    let narrow: Vec<f32> = wide.iter().map(|&value| value as f32).collect();
    for affinity in
        [Affinity::SelfTuning, Affinity::Rbf { gamma: None }, Affinity::Cosine, Affinity::Adaptive]
    {
        let settings = PointGraph { affinity, n_neighbors: 8, ..PointGraph::default() };
        let of_wide = settings.build(Points::new(&wide, 4).unwrap(), &Clock::new()).unwrap();
        let of_narrow = settings.build(Points::new(&narrow, 4).unwrap(), &Clock::new()).unwrap();
        let (Weights::F64(wide), Weights::F32(narrow)) = (of_wide.weights(), of_narrow.weights()) else {
            panic!("{affinity:?}: weights of another width");
        };
        assert_eq!(of_wide.columns(), of_narrow.columns());
        assert!(wide.iter().zip(narrow.iter()).all(|(&wide, &narrow)| wide as f32 == narrow));
    }
}

#[test]
fn narrow_weights_lose_no_edge_and_refuse_what_is_too_large() {
    let tiny = Graph::from_edges(3, [(0, 1, 1e-200), (1, 2, 1.0)]).unwrap().narrowed().unwrap();
    assert_eq!((tiny.n_edges(), tiny.degree(0)), (2, f64::from(f32::MIN_POSITIVE)));
    let error = Graph::from_edges(2, [(0, 1, 1e200)]).unwrap().narrowed().unwrap_err();
    assert!(error.to_string().contains("weights must be finite"), "{error}");
    let unit = Graph::from_edges(2, [(0, 1, 1.0)]).unwrap().narrowed().unwrap();
    assert!(matches!(unit.weights(), Weights::Unit));
}
