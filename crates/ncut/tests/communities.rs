//! Communities: each of them connected, as many as there are or exactly as many as asked for.

mod common;

use std::collections::BTreeSet;
use std::time::Duration;

use common::{Sketch, canonical, close, degrees, hash, sketches, tied_sketches};
use ncut::synthetic::Planted;
use ncut::{Clustering, ComponentChoice, Graph, Label, Limits, Ncut, ObjectiveKind, Preset, StopReason};
use proptest::prelude::*;

const PRESETS: [Preset; 3] = [Preset::Fast, Preset::Default, Preset::Best];

fn exactly(n_clusters: usize) -> Ncut {
    Ncut::new(n_clusters).objective(ObjectiveKind::Modularity)
}

/// `sum_c A_c / W - g (D_c / W)^2`, straight from the definition.
fn modularity(matrix: &[Vec<f64>], labels: &[usize], resolution: f64) -> f64 {
    let degrees = degrees(matrix);
    let total: f64 = degrees.iter().sum();
    if total == 0.0 {
        return 0.0;
    }
    let mut sum = 0.0;
    for (i, row) in matrix.iter().enumerate() {
        for (j, weight) in row.iter().enumerate().filter(|&(j, _)| labels[j] == labels[i]) {
            sum += weight / total - resolution * degrees[i] / total * (degrees[j] / total);
        }
    }
    sum
}

/// The connected pieces of the clusters of a graph.
fn pieces(graph: &Graph<'_>, labels: &[Label]) -> Vec<(Label, BTreeSet<u32>)> {
    let mut seen = vec![false; graph.n_nodes()];
    let mut pieces = Vec::new();
    for start in 0..graph.n_nodes() as u32 {
        if std::mem::replace(&mut seen[start as usize], true) {
            continue;
        }
        let label = labels[start as usize];
        let (mut piece, mut front) = (BTreeSet::from([start]), vec![start]);
        while let Some(node) = front.pop() {
            for (neighbor, _) in graph.neighbors(node) {
                if labels[neighbor as usize] == label
                    && !std::mem::replace(&mut seen[neighbor as usize], true)
                {
                    piece.insert(neighbor);
                    front.push(neighbor);
                }
            }
        }
        pieces.push((label, piece));
    }
    pieces
}

fn check_free(sketch: &Sketch, found: &Clustering, resolution: f64) -> Result<(), TestCaseError> {
    let graph = sketch.graph();
    // One piece a community, isolated nodes included.
    prop_assert_eq!(pieces(&graph, &found.labels).len(), found.clusters.len());
    let labels = canonical(&found.labels);
    prop_assert!(labels.iter().zip(&found.labels).all(|(&a, &b)| a as Label == b), "numbered by appearance");
    let expected = modularity(&sketch.matrix(), &labels, resolution);
    prop_assert!(close(found.objective, expected), "{} is not {expected}", found.objective);
    prop_assert_eq!(found.resolution, Some(resolution));
    Ok(())
}

fn check_exact(sketch: &Sketch, found: &Clustering, k: usize) -> Result<(), TestCaseError> {
    let graph = sketch.graph();
    prop_assert_eq!(found.clusters.len(), k);
    prop_assert_eq!(found.labels.iter().collect::<BTreeSet<_>>().len(), k);
    let resolution = found.resolution.expect("modularity has a resolution");
    let expected = modularity(&sketch.matrix(), &canonical(&found.labels), resolution);
    prop_assert!(close(found.objective, expected), "{} is not {expected}", found.objective);
    let degrees = degrees(&sketch.matrix());
    let n_connected = degrees.iter().filter(|&&degree| degree > 0.0).count();
    // A cluster is one piece, or consists of whole components; isolated nodes are anywhere.
    let components = graph.components();
    let is_whole = |piece: &BTreeSet<u32>| {
        let first = *piece.first().unwrap();
        components.sizes[components.of_node[first as usize] as usize] == piece.len()
    };
    let mut n_pieces = vec![(0, 0); k];
    for (label, piece) in pieces(&graph, &found.labels) {
        if degrees[*piece.first().unwrap() as usize] == 0.0 {
            continue;
        }
        let (n_whole, n_parts) = &mut n_pieces[label as usize];
        *if is_whole(&piece) { n_whole } else { n_parts } += 1;
    }
    for &(n_whole, n_parts) in &n_pieces {
        prop_assert!(n_parts == 0 || (n_parts, n_whole) == (1, 0), "{n_parts} parts, {n_whole} components");
        prop_assert!(n_parts + n_whole > 0 || k > n_connected, "a cluster of isolated nodes");
    }
    Ok(())
}

fn graphs() -> impl Strategy<Value = Sketch> {
    prop_oneof![sketches(12), sketches(40), tied_sketches(12), tied_sketches(40)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn every_community_is_connected(sketch in graphs(), resolution in prop_oneof![Just(1.0), 0.01..8.0f64], seed in 0..5u64) {
        let graph = sketch.graph();
        for preset in PRESETS {
            for limits in [Limits::default(), Limits::tiny()] {
                let settings = Ncut::communities(resolution).preset(preset).limits(limits).seed(seed);
                check_free(&sketch, &settings.solve(&graph).unwrap(), resolution)?;
            }
        }
    }

    #[test]
    fn there_are_exactly_k_and_each_is_connected(
        sketch in graphs(),
        k in 1..20usize,
        resolution in prop_oneof![Just(None), (0.05..4.0f64).prop_map(Some)],
        share in prop_oneof![Just(None), (0.0..=1.0f64).prop_map(Some)],
    ) {
        let (graph, k) = (sketch.graph(), k.min(sketch.n_nodes));
        for preset in [Preset::Fast, Preset::Default] {
            for limits in [Limits::default(), Limits::tiny()] {
                let mut settings = exactly(k).preset(preset).limits(limits);
                settings = resolution.into_iter().fold(settings, Ncut::resolution);
                settings = share.into_iter().fold(settings, Ncut::min_share);
                check_exact(&sketch, &settings.solve(&graph).unwrap(), k)?;
            }
        }
    }

    #[test]
    fn a_stopped_search_keeps_all_promises(sketch in graphs(), k in 1..20usize) {
        let (graph, k) = (sketch.graph(), k.min(sketch.n_nodes));
        for limits in [Limits::default(), Limits::tiny()] {
            let stopped = |settings: Ncut| settings.limits(limits).time_limit(Duration::ZERO).solve(&graph).unwrap();
            check_free(&sketch, &stopped(Ncut::communities(1.0)), 1.0)?;
            check_exact(&sketch, &stopped(exactly(k)), k)?;
        }
    }

    #[test]
    fn given_labels_are_improved(sketch in graphs(), salt in 0..1000u64) {
        let graph = sketch.graph();
        let labels: Vec<Label> = (0..sketch.n_nodes as u64).map(|node| (hash(node ^ salt) % 4) as Label).collect();
        let before = modularity(&sketch.matrix(), &canonical(&labels), 1.0);
        let found = Ncut::communities(1.0).init(labels.clone()).solve(&graph).unwrap();
        check_free(&sketch, &found, 1.0)?;
        prop_assert!(found.objective >= before - 1e-12, "{} is below {before}", found.objective);
        let k = labels.iter().collect::<BTreeSet<_>>().len();
        check_exact(&sketch, &exactly(k).init(labels).solve(&graph).unwrap(), k)?;
    }
}

/// The highest modularity of all labellings.
fn optimum(matrix: &[Vec<f64>], labels: &mut Vec<usize>) -> f64 {
    if labels.len() == matrix.len() {
        return modularity(matrix, labels, 1.0);
    }
    let mut best = f64::NEG_INFINITY;
    for label in 0..=labels.iter().max().map_or(0, |&last| last + 1) {
        labels.push(label);
        best = best.max(optimum(matrix, labels));
        labels.pop();
    }
    best
}

#[test]
fn communities_of_tiny_graphs_are_nearly_always_the_best_there_are() {
    let mut n_missed = 0;
    for salt in 0..60u64 {
        let n_nodes = 4 + salt as usize % 4;
        let mut edges = Vec::new();
        for from in 0..n_nodes as u32 {
            for to in from..n_nodes as u32 {
                let number = hash(salt << 20 | u64::from(from) << 10 | u64::from(to));
                if number.is_multiple_of(2) {
                    edges.push((from, to, 1.0 + (number >> 8 & 3) as f64));
                }
            }
        }
        let sketch = Sketch { n_nodes, edges };
        let best = optimum(&sketch.matrix(), &mut Vec::new());
        let found = Ncut::communities(1.0).solve(&sketch.graph()).unwrap();
        assert!(found.objective > best - 0.02, "{} of {best}: {sketch:?}", found.objective);
        n_missed += usize::from(found.objective < best - 1e-12);
    }
    assert!(n_missed <= 6, "{n_missed} of 60 missed");
}

#[test]
fn labels_do_not_depend_on_the_number_of_threads() {
    let planted = Planted::new(3000, 30).graph(1).unwrap().graph;
    for limits in [Limits::default(), Limits::tiny()] {
        for settings in [Ncut::communities(1.0), exactly(20)] {
            let solved = |n_threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
                pool.install(|| settings.clone().limits(limits).solve(&planted).unwrap())
            };
            let one = solved(1);
            assert!((2..=4).all(|n_threads| solved(n_threads).labels == one.labels));
        }
    }
}

#[test]
fn planted_clusters_are_found() {
    for (n_nodes, n_clusters) in [(2000, 10), (20_000, 50)] {
        let planted = Planted { mixing: 0.2, ..Planted::new(n_nodes, n_clusters) }.graph(7).unwrap();
        let truth = ncut::CutScore::new(&planted.graph, &planted.labels).unwrap().modularity;
        for settings in [Ncut::communities(1.0), exactly(n_clusters)] {
            let found = settings.solve(&planted.graph).unwrap();
            assert!(found.modularity > truth - 1e-4 * truth, "{} of {truth}", found.modularity);
        }
    }
}

#[test]
fn isolated_nodes_are_communities_of_their_own_or_join_the_largest() {
    let triangles = [(0, 1), (1, 2), (0, 2), (4, 5), (5, 6), (4, 6), (2, 4)];
    let graph = Graph::from_edges(8, triangles.map(|(from, to)| (from, to, 1.0))).unwrap();
    assert_eq!(Ncut::communities(1.0).solve(&graph).unwrap().labels, [0, 0, 0, 1, 2, 2, 2, 3]);
    assert_eq!(exactly(2).solve(&graph).unwrap().labels, [0, 0, 0, 0, 1, 1, 1, 0]);
    let empty = Graph::from_edges(3, []).unwrap();
    assert_eq!(Ncut::communities(1.0).solve(&empty).unwrap().labels, [0, 1, 2]);
    assert_eq!(exactly(2).solve(&empty).unwrap().labels, [0, 1, 0]);
}

#[test]
fn small_components_share_a_cluster_where_there_are_more_than_clusters() {
    // A ring of four cliques, and five pairs beside it.
    let mut edges = Vec::new();
    for clique in 0..4u32 {
        let nodes = 5 * clique..5 * clique + 5;
        edges.extend(
            nodes.clone().flat_map(|a| nodes.clone().filter(move |&b| a < b).map(move |b| (a, b, 1.0))),
        );
        edges.push((5 * clique, (5 * clique + 9) % 20, 1.0));
    }
    edges.extend((0..5u32).map(|pair| (20 + 2 * pair, 21 + 2 * pair, 1.0)));
    let graph = Graph::from_edges(30, edges).unwrap();
    let found = exactly(5).solve(&graph).unwrap();
    let expected: Vec<Label> = (0..30).map(|node| (node / 5).min(4)).collect();
    assert_eq!(found.labels, expected);
    let largest = exactly(4).components(ComponentChoice::Largest).solve(&graph).unwrap();
    let expected: Vec<Label> = (0..30).map(|node| if node < 20 { node / 5 } else { -1 }).collect();
    assert_eq!(largest.labels, expected);
}

#[test]
fn a_share_is_met_where_communities_allow_it() {
    let planted = Planted { mixing: 0.1, exponent: 1.2, smallest: 0.05, ..Planted::new(2000, 20) };
    let graph = planted.graph(3).unwrap().graph;
    for share in [0.25, 0.5] {
        let found = exactly(10).min_share(share).solve(&graph).unwrap();
        assert_eq!(found.clusters.len(), 10);
        assert!(found.smallest_share >= share, "{} is below {share}", found.smallest_share);
    }
}

#[test]
fn a_time_limit_is_kept() {
    let graph = Planted::new(20_000, 50).graph(1).unwrap().graph;
    let limit = Duration::from_millis(300);
    let started = std::time::Instant::now();
    let found = Ncut::communities(1.0).preset(Preset::Best).time_limit(limit).solve(&graph).unwrap();
    assert_eq!(found.stop_reason, StopReason::TimeLimit);
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
}

#[test]
fn what_modularity_cannot_do_is_refused() {
    let path = Graph::from_edges(3, [(0, 1, 1.0), (1, 2, 1.0)]).unwrap();
    let cases = [
        (Ncut::communities(0.0), "resolution is 0; it must be a positive number"),
        (Ncut::communities(f64::NAN), "resolution is NaN"),
        (
            Ncut::new(2).resolution(2.0),
            "resolution is 2; it must be left out unless the objective is `modularity`",
        ),
        (exactly(2).preset(Preset::Paper), "objective is modularity; it must be `ncut` with preset `paper`"),
        (
            Ncut::communities(1.0).min_share(0.5),
            "min_share is 0.5; it must be 0 where the number of clusters is free",
        ),
        (
            Ncut::communities(1.0).objective(ObjectiveKind::RatioCut),
            "objective is ratio-cut; it must be `modularity`",
        ),
        (exactly(4), "4 clusters were asked of 3 nodes"),
        (Ncut::communities(1.0).init(vec![0, -2, 0]), "the starting label -2 is negative"),
    ];
    for (settings, message) in cases {
        let error = settings.solve(&path).expect_err(message).to_string();
        assert!(error.contains(message), "expected «{message}», got «{error}»");
    }
}

#[test]
fn communities_around_a_hub_stop_when_told() {
    let n_nodes = 20_000;
    let graph = Graph::from_edges(n_nodes, (1..n_nodes as u32).map(|leaf| (0, leaf, 1.0))).unwrap();
    let began = std::time::Instant::now();
    let limit = Duration::from_millis(300);
    let found = Ncut::new(10).time_limit(limit).solve(&graph).unwrap();
    assert_eq!(found.clusters.len(), 10);
    // Merging leaf after leaf took minutes, and 12 GB, without a look at the clock.
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
}
