//! The spectrum and the upper bound, against a dense solver and closed forms.
#![cfg(feature = "spectral")]

use std::f64::consts::PI;

use faer::{Mat, Side};
use ncut::spectral::{BoundStatus, Spectrum, SpectrumSettings, UpperBound};
use ncut::synthetic::Planted;
use ncut::{Clock, Graph, Ncut, NodeId};

/// All eigenvalues, descending, by a solver that knows nothing of graphs.
fn dense(graph: &Graph<'_>) -> Vec<f64> {
    let n = graph.n_nodes();
    let mut matrix = Mat::<f64>::zeros(n, n);
    for (from, to, weight) in graph.edges() {
        let value = weight / (graph.degree(from) * graph.degree(to)).sqrt();
        matrix[(from as usize, to as usize)] = value;
        matrix[(to as usize, from as usize)] = value;
    }
    let mut values = matrix.self_adjoint_eigenvalues(Side::Lower).unwrap();
    values.reverse();
    values
}

fn spectrum(graph: &Graph<'_>, k: usize) -> Spectrum {
    Spectrum::of(graph, k, &BY_BLOCKS, &Clock::new()).unwrap()
}

/// Small graphs too go through the solver for large ones.
const BY_BLOCKS: SpectrumSettings = SpectrumSettings { tolerance: 5e-8, most_dense: 0, seed: 0 };

/// Compares values, residuals, vectors and the bound with the true eigenvalues.
fn check(name: &str, graph: &Graph<'_>, k: usize, expected: &[f64]) -> BoundStatus {
    let found = spectrum(graph, k);
    assert!(found.is_converged, "{name}");
    for (place, (&value, &expected)) in found.values.iter().zip(expected).enumerate() {
        assert!((value - expected).abs() < 1e-8, "{name}, k = {k}: value {place} is {value}, not {expected}");
    }
    assert!(found.residuals.iter().sum::<f64>() < 1e-7, "{name}: {:?}", found.residuals);
    // The residuals are what they say, and the vectors orthonormal.
    let n = graph.n_nodes();
    for c in 0..k {
        let vector = |node: usize| found.row(node as NodeId)[c];
        let mut square = 0.0;
        for node in 0..n {
            let image: f64 = graph
                .neighbors(node as NodeId)
                .chain([(node as NodeId, graph.self_loop(node as NodeId))])
                .filter(|link| link.1 > 0.0)
                .map(|(other, weight)| {
                    weight / (graph.degree(node as NodeId) * graph.degree(other)).sqrt()
                        * vector(other as usize)
                })
                .sum();
            square += (image - found.values[c] * vector(node)).powi(2);
        }
        assert!((square.sqrt() - found.residuals[c]).abs() < 1e-9, "{name}: residual {c}");
        for other in 0..=c {
            let product: f64 = (0..n).map(|node| vector(node) * found.row(node as NodeId)[other]).sum();
            assert!((product - f64::from(other == c)).abs() < 1e-9, "{name}: vectors {other} and {c}");
        }
    }
    let bound = UpperBound::from_spectrum(graph, &found, &Clock::new()).unwrap();
    let truth: f64 = expected[..k].iter().sum();
    assert!(bound.value >= truth - 1e-12 * k as f64, "{name}: bound {} below {truth}", bound.value);
    assert!(bound.value <= truth + 2e-7, "{name}: bound {} above {truth}", bound.value);
    bound.status
}

fn check_densely(name: &str, graph: &Graph<'_>, counts: &[usize]) {
    let expected = dense(graph);
    for &k in counts {
        check(name, graph, k, &expected);
    }
}

/// A small generator for the tests.
fn numbers(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn random_graph(n: usize, mean_degree: f64, seed: u64) -> Graph<'static> {
    let mut next = numbers(seed);
    let n_edges = (n as f64 * mean_degree / 2.0) as usize;
    let edges: Vec<(NodeId, NodeId, f64)> = (0..n_edges)
        .map(|_| ((next() * n as f64) as NodeId, (next() * n as f64) as NodeId, 0.1 + next()))
        .collect();
    Graph::from_edges(n, edges).unwrap()
}

fn ring_graph(n: usize, reach: usize) -> Graph<'static> {
    let edges =
        (0..n).flat_map(|i| (1..=reach).map(move |step| (i as NodeId, ((i + step) % n) as NodeId, 1.0)));
    Graph::from_edges(n, edges).unwrap()
}

#[test]
fn random_graphs_dense_and_sparse_with_loops_and_isolated_nodes() {
    for seed in 0..6 {
        for (n, degree) in [(60, 3.0), (450, 2.0), (500, 6.0), (700, 30.0)] {
            let graph = random_graph(n, degree, seed);
            check_densely(&format!("random {n} {degree} {seed}"), &graph, &[1, 5, 20]);
        }
    }
}

#[test]
fn repeated_eigenvalues_are_found_as_often_as_they_are_there() {
    // Sixty rings of 11 nodes, and sixty random pieces.
    let rings =
        (0..60u32).flat_map(|ring| (0..11).map(move |i| (11 * ring + i, 11 * ring + (i + 1) % 11, 1.0)));
    check_densely("sixty rings", &Graph::from_edges(660, rings).unwrap(), &[10, 50, 60, 75, 200]);
    let mut next = numbers(3);
    let pieces = (0..60u32)
        .flat_map(|piece| (0..10).flat_map(move |i| (0..i).map(move |j| (10 * piece + i, 10 * piece + j))));
    let edges: Vec<_> = pieces.map(|(a, b)| (a, b, 0.2 + next())).collect();
    check_densely("sixty pieces", &Graph::from_edges(600, edges).unwrap(), &[10, 50, 70]);
}

#[test]
fn stars_rings_and_bipartite_graphs() {
    let star = Graph::from_edges(600, (1..600).map(|leaf| (0, leaf, 1.0))).unwrap();
    check_densely("star", &star, &[1, 2, 10]);
    check_densely("ring", &ring_graph(500, 1), &[2, 9, 20]);
    check_densely("thick ring", &ring_graph(600, 4), &[2, 9, 20]);
    let bipartite = (0..250u32).flat_map(|a| (250..500).map(move |b| (a, b, 1.0)));
    check_densely("complete bipartite", &Graph::from_edges(500, bipartite).unwrap(), &[1, 2, 10]);
    let complete = (0..420u32).flat_map(|a| (0..a).map(move |b| (a, b, 1.0)));
    check_densely("complete", &Graph::from_edges(420, complete).unwrap(), &[1, 3, 10]);
    let small = Graph::from_edges(7, (0..4u32).flat_map(|a| (0..a).map(move |b| (a, b, 1.0)))).unwrap();
    // 1, the isolated nodes' 0 three times, then -1/3.
    for k in 1..=7 {
        let status = check(
            "K4 and isolated nodes",
            &small,
            k,
            &[1.0, 0.0, 0.0, 0.0, -1.0 / 3.0, -1.0 / 3.0, -1.0 / 3.0],
        );
        assert_eq!(status, BoundStatus::Verified);
    }
}

#[test]
fn a_path_of_ten_thousand_has_its_closed_form() {
    let n = 10_000;
    let path = Graph::from_edges(n, (1..n as NodeId).map(|i| (i - 1, i, 1.0))).unwrap();
    let expected: Vec<f64> = (0..20).map(|j| (PI * j as f64 / (n - 1) as f64).cos()).collect();
    for k in [2, 10] {
        assert_eq!(check("path", &path, k, &expected), BoundStatus::Verified);
    }
}

#[test]
fn a_large_graph_is_bounded_and_the_bound_holds() {
    let planted = Planted::new(2000, 10).graph(1).unwrap();
    let bound = UpperBound::of(&planted.graph, 10, &SpectrumSettings::default(), &Clock::new()).unwrap();
    let found = Ncut::new(10).min_share(0.0).solve(&planted.graph).unwrap();
    assert!(found.objective <= bound.value && bound.value < 10.0);
}

#[test]
fn components_make_it_exact() {
    let edges = (0..5u32)
        .flat_map(|piece| (0..200).map(move |i| (200 * piece + i, 200 * piece + (i + 1) % 200, 1.0)));
    let graph = Graph::from_edges(1000, edges).unwrap();
    for k in 1..=5 {
        let bound = UpperBound::of(&graph, k, &SpectrumSettings::default(), &Clock::new()).unwrap();
        assert_eq!((bound.value, bound.status), (k as f64, BoundStatus::Verified));
    }
    let nothing = Graph::from_edges(5, []).unwrap();
    let bound = UpperBound::of(&nothing, 3, &SpectrumSettings::default(), &Clock::new()).unwrap();
    assert_eq!((bound.value, bound.status), (0.0, BoundStatus::Verified));
}

#[test]
fn the_same_for_every_number_of_threads_and_stopped_at_once() {
    let graph = random_graph(3000, 8.0, 9);
    let of = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| spectrum(&graph, 8))
    };
    let first = of(1);
    for threads in 2..4 {
        assert_eq!(of(threads), first);
    }
    let stop = Clock::observed(|_: &ncut::Progress| std::ops::ControlFlow::Break(()));
    let stopped = Spectrum::of(&graph, 8, &SpectrumSettings::default(), &stop);
    assert!(matches!(stopped, Err(ncut::Error::Stopped { .. })));
    assert!(UpperBound::of(&graph, 8, &SpectrumSettings::default(), &stop).is_err());
    assert!(Spectrum::of(&graph, 0, &SpectrumSettings::default(), &Clock::new()).is_err());
    assert!(Spectrum::of(&graph, 3001, &SpectrumSettings::default(), &Clock::new()).is_err());
}
