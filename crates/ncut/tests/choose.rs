//! How many clusters there are.
#![cfg(all(feature = "neighbors", feature = "spectral"))]

use ncut::neighbors::{Points, self_tuning_graph};
use ncut::synthetic::{Planted, five_blocks, two_circles};
use ncut::{Clock, CountCurve, CountReason, CountRule, CutScore, Graph, Ncut};

fn chosen(graph: &Graph<'_>, most: usize) -> CountCurve {
    Ncut::new(1).choose(graph, 1..=most, &Clock::new()).unwrap()
}

/// Normal random numbers for the tests (Box-Muller over xorshift).
fn normal(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut uniform = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ((state >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    };
    move || (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos()
}

/// Round clouds of 150 points around centers, in the plane.
fn clouds(centers: &[(f64, f64)], seed: u64) -> Graph<'static> {
    let mut normal = normal(seed);
    let points: Vec<f64> = centers
        .iter()
        .flat_map(|&(x, y)| (0..150).map(move |_| (x, y)))
        .flat_map(|(x, y)| [x + normal(), y + normal()])
        .collect();
    self_tuning_graph(Points::new(&points, 2).unwrap(), 25).unwrap()
}

#[test]
fn five_blocks_are_five() {
    let n_right = (0..8)
        .filter(|&seed| {
            Ncut::auto().count(&five_blocks(0.5, seed).unwrap().graph, &Clock::new()).unwrap().n_clusters == 5
        })
        .count();
    assert_eq!(n_right, 8);
}

#[test]
fn one_cloud_is_one() {
    for seed in 1..=8 {
        for n_features in [2, 3, 6, 10] {
            let mut normal = normal(100 * seed + n_features);
            let points: Vec<f64> = (0..500 * n_features).map(|_| normal()).collect();
            let graph = self_tuning_graph(Points::new(&points, n_features as usize).unwrap(), 25).unwrap();
            let found = Ncut::auto().count(&graph, &Clock::new()).unwrap();
            assert!(matches!(found.reason, CountReason::NoBoundary { .. }), "{n_features} {seed}: {found:?}");
            assert_eq!(found.n_clusters, 1);
        }
    }
}

#[test]
fn clouds_apart_are_counted() {
    let centers = [(0.0, 0.0), (9.0, 0.0), (0.0, 9.0), (9.0, 9.0), (18.0, 0.0), (18.0, 9.0), (27.0, 4.0)];
    // One boundary in twenty may be wrong; the graphs of a seed share their clouds.
    let mut wrong = Vec::new();
    for n_clouds in 2..=7 {
        for seed in 1..=3 {
            let found = Ncut::auto().count(&clouds(&centers[..n_clouds], seed), &Clock::new()).unwrap();
            if found.n_clusters != n_clouds {
                wrong.push((n_clouds, seed, found));
            }
        }
    }
    assert!(wrong.len() <= 3, "{wrong:?}");
    assert!(wrong.iter().all(|(n_clouds, _, found)| found.n_clusters.abs_diff(*n_clouds) == 1), "{wrong:?}");
    let circles = two_circles(0, 1);
    let graph = self_tuning_graph(Points::new(&circles.coordinates, 2).unwrap(), 10).unwrap();
    assert_eq!(chosen(&graph, 8).suggested, 2);
}

#[test]
fn planted_clusters_are_counted_however_many() {
    for (n_nodes, n_clusters) in [(900, 6), (1500, 15), (3000, 60)] {
        let planted = Planted { exponent: 8.0, ..Planted::new(n_nodes, n_clusters) }.graph(1).unwrap();
        let found = Ncut::auto().count(&planted.graph, &Clock::new()).unwrap();
        assert_eq!(found.n_clusters, n_clusters);
        assert!(matches!(found.reason, CountReason::Boundaries { thinner } if thinner > 1.25));
    }
}

#[test]
fn the_answer_does_not_depend_on_the_range() {
    let graph = clouds(&[(0.0, 0.0), (9.0, 0.0), (0.0, 9.0)], 5);
    for range in [1..=3, 1..=20, 2..=6, 3..=3] {
        let curve = Ncut::new(1).choose(&graph, range, &Clock::new()).unwrap();
        assert_eq!((curve.suggested, curve.best_in_range, curve.rule), (3, 3, CountRule::Boundaries));
    }
    for (range, nearest) in [(1..=2, 2), (4..=4, 4), (5..=9, 5)] {
        let curve = Ncut::new(1).choose(&graph, range, &Clock::new()).unwrap();
        assert_eq!((curve.suggested, curve.best_in_range), (3, nearest));
    }
}

#[test]
fn the_gap_of_the_paper_is_there_by_its_name() {
    let graph = clouds(&[(0.0, 0.0), (9.0, 0.0), (0.0, 9.0)], 5);
    let by_gap = Ncut::new(1).count_rule(CountRule::Gap);
    let curve = by_gap.choose(&graph, 1..=8, &Clock::new()).unwrap();
    assert_eq!((curve.suggested, curve.rule), (3, CountRule::Gap));
    assert!(matches!(curve.reason, CountReason::Turn(turn) if turn > 0.9));
    assert_eq!(by_gap.choose(&graph, 4..=4, &Clock::new()).unwrap().reason, CountReason::OnlyOne);
    let found = Ncut::auto().count_rule(CountRule::Gap).solve(&graph).unwrap();
    assert_eq!((found.clusters.len(), found.count.unwrap().rule), (3, CountRule::Gap));
}

/// A ring of cliques whose hubs have many neighbours of one edge each: half of the nodes are far below the mean degree.
#[test]
fn communities_count_where_degrees_differ_much() {
    let (n_groups, n_leaves, size) = (8, 30, 42);
    let mut edges = Vec::new();
    for group in 0..n_groups {
        let first = group * size;
        for a in 0..12 {
            edges.extend((a + 1..12).map(|b| (first + a, first + b, 1.0)));
        }
        edges.extend((0..n_leaves).map(|leaf| (first + leaf % 12, first + 12 + leaf, 1.0)));
        edges.push((first, (first + size) % (n_groups * size), 1.0));
    }
    let graph = Graph::from_edges((n_groups * size) as usize, edges).unwrap();
    assert_eq!(Ncut::auto().count(&graph, &Clock::new()).unwrap().n_clusters, n_groups as usize);
}

#[test]
fn graphs_that_show_nothing_are_one_cluster() {
    let empty = Graph::from_edges(5, []).unwrap();
    let loops = Graph::from_edges(3, [(0, 0, 1.0), (1, 1, 1.0)]).unwrap();
    let ring = Graph::from_edges(300, (0..300).map(|node| (node, (node + 1) % 300, 1.0))).unwrap();
    let grid = Graph::from_edges(
        900,
        (0..900).flat_map(|node| {
            let right = (node % 30 < 29).then_some((node, node + 1, 1.0));
            let below = (node < 870).then_some((node, node + 30, 1.0));
            right.into_iter().chain(below)
        }),
    )
    .unwrap();
    for (graph, n_clusters) in [(empty, 1), (loops, 2), (ring, 1), (grid, 1)] {
        let found = Ncut::auto().solve(&graph).unwrap();
        assert_eq!((found.clusters.len(), found.count.unwrap().n_clusters), (n_clusters, n_clusters));
    }
}

#[test]
fn the_curve_is_what_it_says() {
    let graph = clouds(&[(0.0, 0.0), (9.0, 0.0), (0.0, 9.0)], 5);
    let curve = Ncut::new(1).choose(&graph, 2..=6, &Clock::new()).unwrap();
    assert_eq!(curve.rows.iter().map(|row| row.n_clusters).collect::<Vec<_>>(), [2, 3, 4, 5, 6]);
    for row in &curve.rows {
        let score = CutScore::new(&graph, &row.labels).unwrap();
        assert_eq!((score.clusters.len(), score.objective), (row.n_clusters, row.objective));
        assert!(row.gap.is_some() && row.turn.is_some() && row.eigengap.is_some());
        assert!(row.objective <= curve.rows[0].eigenvalue.unwrap() * row.n_clusters as f64);
    }
    assert_eq!((curve.suggested, curve.by_eigengap), (3, Some(3)));
    for (from, to) in [(0, 3), (5, 4), (1, 451)] {
        assert!(Ncut::new(1).choose(&graph, from..=to, &Clock::new()).is_err());
    }
    let tiny = Graph::from_edges(2, [(0, 1, 1.0)]).unwrap();
    assert_eq!(chosen(&tiny, 2).rows.len(), 2);
    assert_eq!(chosen(&Graph::from_edges(1, []).unwrap(), 1).suggested, 1);
}
