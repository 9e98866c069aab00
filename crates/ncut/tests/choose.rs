//! How many clusters there are.
#![cfg(all(feature = "neighbors", feature = "spectral"))]

use ncut::neighbors::{Points, self_tuning_graph};
use ncut::synthetic::{five_blocks, two_circles};
use ncut::{Clock, CountCurve, CountReason, CutScore, Graph, Ncut};

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
    let n_right =
        (0..20).filter(|&seed| chosen(&five_blocks(0.5, seed).unwrap().graph, 10).suggested == 5).count();
    assert!(n_right >= 19, "{n_right} of 20");
}

#[test]
fn one_cloud_is_one() {
    for seed in 1..=8 {
        for n_features in [2, 3, 6, 10] {
            let mut normal = normal(100 * seed + n_features);
            let points: Vec<f64> = (0..500 * n_features).map(|_| normal()).collect();
            let graph = self_tuning_graph(Points::new(&points, n_features as usize).unwrap(), 25).unwrap();
            let curve = chosen(&graph, 10);
            assert!(
                matches!(curve.reason, CountReason::NoTurn { .. }),
                "{n_features} {seed}: {:?}",
                curve.reason
            );
            assert_eq!(curve.suggested, 1);
        }
    }
}

#[test]
fn clouds_apart_are_counted() {
    let centers = [(0.0, 0.0), (9.0, 0.0), (0.0, 9.0), (9.0, 9.0), (18.0, 0.0), (18.0, 9.0), (27.0, 4.0)];
    for n_clouds in 2..=7 {
        for seed in 1..=3 {
            let curve = chosen(&clouds(&centers[..n_clouds], seed), 12);
            assert_eq!(curve.suggested, n_clouds, "{n_clouds} clouds, seed {seed}");
        }
    }
    let circles = two_circles(0, 1);
    let graph = self_tuning_graph(Points::new(&circles.coordinates, 2).unwrap(), 10).unwrap();
    assert_eq!(chosen(&graph, 8).suggested, 2);
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
    assert_eq!(Ncut::new(1).choose(&graph, 4..=4, &Clock::new()).unwrap().suggested, 4);
    for (from, to) in [(0, 3), (5, 4), (1, 451)] {
        assert!(Ncut::new(1).choose(&graph, from..=to, &Clock::new()).is_err());
    }
    let tiny = Graph::from_edges(2, [(0, 1, 1.0)]).unwrap();
    assert_eq!(chosen(&tiny, 2).rows.len(), 2);
    assert_eq!(chosen(&Graph::from_edges(1, []).unwrap(), 1).suggested, 1);
}
