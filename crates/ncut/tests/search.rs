//! Presets `fast`, `default` and `best`: what holds for every graph.

mod common;

use std::ops::ControlFlow;

use common::{Sketch, close, degrees, hold_together, labelled, objective, sketches, tied_sketches};
use ncut::synthetic::Planted;
use ncut::{Clock, Clustering, ComponentChoice, Graph, Label, Limits, Ncut, Preset, StopReason};
use proptest::prelude::*;

const PRESETS: [Preset; 3] = [Preset::Fast, Preset::Default, Preset::Best];

/// All labellings of `n` things into exactly `k` clusters, clusters numbered by first appearance.
fn labellings(n: usize, k: usize) -> Vec<Vec<u32>> {
    fn extend(prefix: &mut Vec<u32>, n: usize, k: usize, all: &mut Vec<Vec<u32>>) {
        let used = prefix.iter().max().map_or(0, |&label| label as usize + 1);
        if prefix.len() == n {
            if used == k {
                all.push(prefix.clone());
            }
            return;
        }
        for label in 0..=used.min(k - 1) {
            prefix.push(label as u32);
            extend(prefix, n, k, all);
            prefix.pop();
        }
    }
    let mut all = Vec::new();
    extend(&mut Vec::new(), n, k, &mut all);
    all
}

/// The nodes of a sketch that have edges, as a matrix of their own.
fn connected(sketch: &Sketch) -> Vec<Vec<f64>> {
    let matrix = sketch.matrix();
    let degrees = degrees(&matrix);
    let nodes: Vec<usize> = (0..sketch.n_nodes).filter(|&node| degrees[node] > 0.0).collect();
    nodes.iter().map(|&i| nodes.iter().map(|&j| matrix[i][j]).collect()).collect()
}

/// The volume of the smallest cluster.
fn smallest_volume(matrix: &[Vec<f64>], labels: &[u32], k: usize) -> f64 {
    let mut volumes = vec![0.0; k];
    for (row, &label) in matrix.iter().zip(labels) {
        volumes[label as usize] += row.iter().sum::<f64>();
    }
    volumes.into_iter().fold(f64::INFINITY, f64::min)
}

/// The highest objective of all labellings whose clusters hold together and have the volume, if there is one.
fn optimum(matrix: &[Vec<f64>], k: usize, floor: f64) -> Option<f64> {
    let all = labellings(matrix.len(), k);
    let is_feasible = |labels: &&Vec<u32>| {
        smallest_volume(matrix, labels, k) >= floor * (1.0 - 1e-9) && hold_together(matrix, labels)
    };
    let feasible = all.iter().filter(is_feasible);
    feasible.map(|labels| objective(matrix, labels)).max_by(f64::total_cmp)
}

/// Exactly k clusters, none empty, each with a node that has edges while there are enough.
fn check_clusters(sketch: &Sketch, found: &Clustering, k: usize) -> Result<(), TestCaseError> {
    let degrees = degrees(&sketch.matrix());
    prop_assert_eq!(found.labels.len(), sketch.n_nodes);
    let n_connected = degrees.iter().filter(|&&degree| degree > 0.0).count();
    for cluster in 0..k as Label {
        let members = || (0..sketch.n_nodes).filter(|&node| found.labels[node] == cluster);
        prop_assert!(members().next().is_some(), "cluster {cluster} is empty");
        prop_assert!(k > n_connected || members().any(|node| degrees[node] > 0.0));
    }
    prop_assert!(found.labels.iter().all(|&label| (0..k as Label).contains(&label)));
    let labels: Vec<u32> = found.labels.iter().map(|&label| label as u32).collect();
    prop_assert!(close(found.objective, objective(&sketch.matrix(), &labels)));
    prop_assert!(hold_together(&sketch.matrix(), &found.labels), "clusters are in pieces");
    prop_assert_eq!(found.n_disconnected, 0);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 700, ..ProptestConfig::default() })]

    #[test]
    fn best_is_the_optimum_of_tiny_graphs(sketch in prop_oneof![sketches(9), tied_sketches(9)], share in prop_oneof![Just(0.0), Just(0.25), 0.0..1.0f64]) {
        let matrix = connected(&sketch);
        let volume: f64 = degrees(&matrix).iter().sum();
        for k in 1..=matrix.len() {
            let found = Ncut::new(k).preset(Preset::Best).min_share(share).solve(&sketch.graph()).unwrap();
            check_clusters(&sketch, &found, k)?;
            let floor = share * volume / k as f64;
            if let Some(best) = optimum(&matrix, k, floor) {
                prop_assert!(close(found.objective, best), "k = {k}: {} for {best}", found.objective);
                prop_assert!(found.smallest_share >= share * (1.0 - 1e-8), "share {}", found.smallest_share);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn every_preset_gives_exactly_k_clusters(sketch in prop_oneof![sketches(24), tied_sketches(24)], share in prop_oneof![Just(0.0), Just(0.25), 0.0..=1.0f64], k in 1..24usize) {
        let k = k.min(sketch.n_nodes);
        for preset in PRESETS {
            let found = Ncut::new(k).preset(preset).min_share(share).solve(&sketch.graph()).unwrap();
            check_clusters(&sketch, &found, k)?;
        }
    }

    #[test]
    fn default_is_never_below_the_paper(sketch in prop_oneof![sketches(30), tied_sketches(30)], k in 1..12usize) {
        let (graph, k) = (sketch.graph(), k.min(sketch.n_nodes));
        let paper = Ncut::new(k).preset(Preset::Paper).solve(&graph).unwrap();
        prop_assume!(hold_together(&sketch.matrix(), &paper.labels));
        let pure = Ncut::new(k).min_share(0.0).solve(&graph).unwrap();
        prop_assert!(pure.objective >= paper.objective - 1e-12, "{} below {}", pure.objective, paper.objective);
        let shared = Ncut::new(k).solve(&graph).unwrap();
        if paper.smallest_share >= 0.25 {
            prop_assert!(shared.objective >= paper.objective - 1e-12);
            prop_assert!(shared.smallest_share >= 0.25 * (1.0 - 1e-8));
        }
    }

    #[test]
    fn default_meets_the_share_where_it_can_be_met(sketch in sketches(8), k in 2..5usize) {
        let matrix = connected(&sketch);
        prop_assume!(k < matrix.len());
        let floor = 0.25 * degrees(&matrix).iter().sum::<f64>() / k as f64;
        prop_assume!(optimum(&matrix, k, floor).is_some());
        let found = Ncut::new(k).solve(&sketch.graph()).unwrap();
        prop_assert!(found.smallest_share >= 0.25 * (1.0 - 1e-8), "{} of {k}", found.smallest_share);
    }

    #[test]
    fn a_start_of_ones_own_is_never_made_worse((sketch, labels, k) in labelled(20)) {
        let degrees = degrees(&sketch.matrix());
        let is_used = |label: u32| (0..sketch.n_nodes).any(|node| labels[node] == label && degrees[node] > 0.0);
        prop_assume!((0..k as u32).all(is_used));
        let init: Vec<Label> = labels.iter().map(|&label| label as Label).collect();
        for preset in PRESETS {
            let settings = Ncut::new(k).preset(preset).min_share(0.0).init(init.clone());
            for connected in [false, hold_together(&sketch.matrix(), &labels)] {
                let found = settings.clone().connected(connected).solve(&sketch.graph()).unwrap();
                prop_assert!(found.objective >= objective(&sketch.matrix(), &labels) - 1e-12);
            }
        }
    }

    #[test]
    fn the_merge_tree_is_nested_and_adds_up(sketch in prop_oneof![sketches(20), tied_sketches(20)], k in 1..8usize) {
        let (graph, matrix, k) = (sketch.graph(), sketch.matrix(), k.min(sketch.n_nodes));
        let found = Ncut::new(k).with_hierarchy().solve(&graph).unwrap();
        let tree = found.hierarchy.unwrap();
        prop_assert_eq!(tree.merges().len(), sketch.n_nodes - 1);
        prop_assert_eq!(tree.labels(k).unwrap(), found.labels);
        let apart: Vec<u32> = (0..sketch.n_nodes as u32).collect();
        let mut expected = objective(&matrix, &apart);
        let mut finer = tree.labels(sketch.n_nodes).unwrap();
        for (merge, n_clusters) in tree.merges().iter().zip((1..sketch.n_nodes).rev()) {
            expected += merge.gain;
            let labels = tree.labels(n_clusters).unwrap();
            let unsigned: Vec<u32> = labels.iter().map(|&label| label as u32).collect();
            prop_assert!((objective(&matrix, &unsigned) - expected).abs() < 1e-11);
            prop_assert_eq!(labels.iter().max(), Some(&(n_clusters as Label - 1)));
            // What was together stays together.
            for node in 0..sketch.n_nodes {
                let first = finer.iter().position(|&label| label == finer[node]).unwrap();
                prop_assert_eq!(labels[node], labels[first]);
            }
            finer = labels;
        }
        prop_assert!(tree.labels(0).is_err() && tree.labels(sketch.n_nodes + 1).is_err());
    }

    #[test]
    fn whenever_it_is_stopped_there_are_k_clusters(sketch in sketches(40), k in 1..10usize, patience in 0..60usize) {
        let (graph, k) = (sketch.graph(), k.min(sketch.n_nodes));
        for preset in PRESETS {
            let mut calls = 0;
            let found = Ncut::new(k).preset(preset).solve_by(&graph, &Clock::observed(|_| {
                calls += 1;
                if calls > patience { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            }));
            check_clusters(&sketch, &found.unwrap(), k)?;
        }
    }
}

fn with_threads(n_threads: usize, settings: &Ncut, graph: &Graph<'_>) -> Vec<Label> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
    pool.install(|| settings.solve(graph).unwrap().labels)
}

#[test]
fn the_labels_do_not_depend_on_the_number_of_threads() {
    let planted = Planted::new(4000, 12).graph(3).unwrap().graph;
    let small = Planted::new(150, 5).graph(4).unwrap().graph;
    for (preset, graph, k) in
        [(Preset::Fast, &planted, 12), (Preset::Default, &planted, 12), (Preset::Best, &small, 5)]
    {
        for share in [0.0, 0.25] {
            let settings = Ncut::new(k).preset(preset).min_share(share).max_sweeps(20);
            let one = with_threads(1, &settings, graph);
            assert_eq!(one, with_threads(2, &settings, graph), "{preset:?} {share}");
            assert_eq!(one, with_threads(3, &settings, graph), "{preset:?} {share}");
        }
    }
}

/// Clusters of `sizes` nodes, all linked, in a ring.
fn cliques(sizes: &[usize]) -> Graph<'static> {
    let mut edges = Vec::new();
    let mut starts = Vec::new();
    let mut next = 0;
    for &size in sizes {
        starts.push(next);
        for i in next..next + size as u32 {
            edges.extend((next..i).map(|j| (j, i, 1.0)));
        }
        next += size as u32;
    }
    for place in 0..sizes.len() {
        edges.push((starts[place], starts[(place + 1) % sizes.len()] + 1, 0.2));
    }
    Graph::from_edges(next as usize, edges).unwrap()
}

#[test]
fn cliques_of_uneven_sizes_are_found_by_every_preset() {
    let sizes = [5, 8, 13, 6, 20, 9, 7, 30];
    let graph = cliques(&sizes);
    let truth: Vec<Label> =
        sizes.iter().enumerate().flat_map(|(label, &size)| vec![label as Label; size]).collect();
    for preset in PRESETS {
        let found = Ncut::new(8).preset(preset).min_share(0.0).solve(&graph).unwrap();
        assert_eq!(found.labels, truth, "{preset:?}");
    }
}

#[test]
fn a_share_that_slivers_would_break_is_kept() {
    // One dense region and many pairs that hang on to it: plain N-Cut takes the pairs.
    let mut edges: Vec<(u32, u32, f64)> = (0..60u32).flat_map(|i| (0..i).map(move |j| (j, i, 0.1))).collect();
    for pair in 0..8u32 {
        let (a, b) = (60 + 2 * pair, 61 + 2 * pair);
        edges.extend([(a, b, 5.0), (pair, a, 0.05)]);
    }
    let graph = Graph::from_edges(76, edges).unwrap();
    for preset in PRESETS {
        let pure = Ncut::new(4).preset(preset).min_share(0.0).solve(&graph).unwrap();
        assert!(pure.smallest_share < 0.2, "{preset:?}");
        for share in [0.25, 0.5, 0.9] {
            let found = Ncut::new(4).preset(preset).min_share(share).solve(&graph).unwrap();
            assert!(
                found.smallest_share >= share * (1.0 - 1e-8),
                "{preset:?} {share}: {}",
                found.smallest_share
            );
            assert!(found.objective <= pure.objective);
        }
    }
}

#[test]
fn a_share_that_cannot_be_met_is_tried_for() {
    // The centre of a star has half of the volume; four clusters of a quarter there cannot be.
    let star = Graph::from_edges(9, (1..9).map(|leaf| (0, leaf, 1.0))).unwrap();
    for preset in PRESETS {
        let found = Ncut::new(4).preset(preset).min_share(1.0).solve(&star).unwrap();
        assert_eq!(found.clusters.len(), 4);
        assert!(found.smallest_share < 1.0);
    }
}

#[test]
fn small_components_join_others_under_a_share() {
    // A ring of 40, and ten loose pairs of a fortieth of its volume each.
    let ring = (0..40u32).map(|node| (node, (node + 1) % 40, 1.0));
    let pairs = (0..10u32).map(|pair| (40 + 2 * pair, 41 + 2 * pair, 1.0));
    let graph = Graph::from_edges(60, ring.chain(pairs)).unwrap();
    for preset in PRESETS {
        let pure = Ncut::new(5).preset(preset).min_share(0.0).solve(&graph).unwrap();
        assert_eq!(pure.objective, 5.0, "whole components, {preset:?}");
        let found = Ncut::new(5).preset(preset).min_share(0.8).solve(&graph).unwrap();
        assert!(found.smallest_share >= 0.8 * (1.0 - 1e-8), "{preset:?}: {}", found.smallest_share);
        assert!(found.objective < 5.0);
        let largest = Ncut::new(5).preset(preset).components(ComponentChoice::Largest).solve(&graph).unwrap();
        assert!(largest.labels[40..].iter().all(|&label| label == -1));
        assert_eq!(largest.clusters.len(), 5);
    }
}

#[test]
fn a_star_of_many_leaves_is_clustered() {
    let star = Graph::from_edges(20_001, (1..20_001).map(|leaf| (0, leaf, 1.0))).unwrap();
    let mut calls = 0;
    let found = Ncut::new(10)
        .preset(Preset::Fast)
        .solve_by(
            &star,
            &Clock::observed(|_| {
                calls += 1;
                ControlFlow::Continue(())
            }),
        )
        .unwrap();
    assert_eq!(found.clusters.len(), 10);
    assert_ne!(found.stop_reason, StopReason::Cancelled);
}

#[test]
fn a_share_is_met_where_links_do_not_lead_to_it() {
    // The leaves of a star are linked to its centre alone, which has half of the volume.
    let star = Graph::from_edges(4001, (1..4001).map(|leaf| (0, leaf, 1.0))).unwrap();
    // A clique with a long tail, in nearly as many clusters as the tail has nodes.
    let clique = (0..61u32).flat_map(|i| (0..i).map(move |j| (j, i, 1.0)));
    let lollipop = Graph::from_edges(122, clique.chain((60..121).map(|node| (node, node + 1, 1.0)))).unwrap();
    for preset in [Preset::Fast, Preset::Default] {
        for (graph, k) in [(&star, 2), (&star, 10), (&star, 100), (&lollipop, 61)] {
            let found = Ncut::new(k).preset(preset).connected(false).solve(graph).unwrap();
            assert!(found.smallest_share >= 0.25 * (1.0 - 1e-8), "{preset:?} {k}: {}", found.smallest_share);
        }
    }
}

/// Found by chance: node 1 is a component of its own and below the floor, and so is node 0, which hangs on 2.
#[test]
fn a_light_component_takes_a_node_of_another() {
    let edges = [(2, 3, 1.29), (1, 1, 0.199), (0, 2, 0.405), (2, 4, 0.923), (2, 2, 1.1)];
    let graph = Graph::from_edges(5, edges).unwrap();
    for limits in [Limits::tiny(), Limits::default()] {
        for preset in PRESETS {
            let found = Ncut::new(4).preset(preset).min_share(0.25).limits(limits).solve(&graph).unwrap();
            assert_eq!(found.labels, [0, 0, 1, 2, 3], "{preset:?}");
        }
    }
}
