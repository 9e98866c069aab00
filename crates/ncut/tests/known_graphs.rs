//! Small graphs whose answers are known.
#![cfg(feature = "neighbors")]

use std::ops::ControlFlow;
use std::time::Duration;

use ncut::hierarchy::{FirstNeighborLevels, n2hi};
use ncut::metrics::Contingency;
use ncut::neighbors::{Points, self_tuning_graph};
use ncut::synthetic::{Planted, five_blocks, two_circles};
use ncut::{
    Agreement, Clock, ComponentChoice, CutScore, Graph, Label, Ncut, NmiNormalization, Preset, StopReason,
};

fn ring(n: u32) -> Graph<'static> {
    Graph::from_edges(n as usize, (0..n).map(|node| (node, (node + 1) % n, 1.0))).unwrap()
}

fn cliques(n_cliques: u32, size: u32) -> Graph<'static> {
    let mut edges = Vec::new();
    for clique in 0..n_cliques {
        let first = clique * size;
        for a in first..first + size {
            edges.extend((a + 1..first + size).map(|b| (a, b, 1.0)));
        }
        edges.push((first, (first + size) % (n_cliques * size), 0.01));
    }
    Graph::from_edges((n_cliques * size) as usize, edges).unwrap()
}

#[test]
fn cliques_are_the_clusters() {
    let found = Ncut::new(4).solve(&cliques(4, 6)).unwrap();
    let expected: Vec<Label> = (0..24).map(|node| node / 6).collect();
    assert_eq!(found.labels, expected);
    assert_eq!(found.stop_reason, StopReason::LocalOptimum);
}

#[test]
fn one_cluster_holds_everything() {
    let found = Ncut::new(1).solve(&ring(7)).unwrap();
    assert_eq!(found.labels, [0; 7]);
    assert_eq!((found.objective, found.ncut, found.smallest_share), (1.0, 0.0, 1.0));
}

#[test]
fn as_many_clusters_as_nodes_are_single_nodes() {
    let found = Ncut::new(5).solve(&ring(5)).unwrap();
    assert_eq!(found.labels, [0, 1, 2, 3, 4]);
    assert_eq!((found.objective, found.ncut), (0.0, 5.0));
}

#[test]
fn self_loops_count_once_in_degree_and_association() {
    let graph = Graph::from_edges(3, [(0, 0, 4.0), (0, 1, 1.0), (1, 2, 1.0)]).unwrap();
    assert_eq!(graph.degrees(), [5.0, 2.0, 1.0]);
    let score = CutScore::new(&graph, &[0, 1, 1]).unwrap();
    assert_eq!(score.objective, 4.0 / 5.0 + 2.0 / 3.0);
    // A node whose only edge is its self-loop is not isolated.
    let alone = Graph::from_edges(3, [(0, 0, 1.0), (1, 2, 1.0)]).unwrap();
    assert_eq!(alone.n_isolated(), 0);
    assert_eq!(Ncut::new(2).solve(&alone).unwrap().labels, [0, 1, 1]);
}

#[test]
fn isolated_nodes_join_the_cluster_of_largest_volume() {
    let graph = Graph::from_edges(6, [(1, 2, 1.0), (4, 5, 3.0)]).unwrap();
    assert_eq!(graph.n_isolated(), 2);
    assert_eq!(Ncut::new(2).solve(&graph).unwrap().labels, [0, 1, 1, 0, 0, 0]);
    // With more clusters than nodes with edges, they become clusters, the lowest first.
    assert_eq!(Ncut::new(5).solve(&graph).unwrap().labels, [0, 1, 2, 3, 3, 4]);
    assert_eq!(Ncut::new(6).solve(&graph).unwrap().labels, [0, 1, 2, 3, 4, 5]);
}

#[test]
fn a_graph_without_edges_has_an_objective_of_zero() {
    let found = Ncut::new(2).solve(&Graph::from_edges(3, []).unwrap()).unwrap();
    assert_eq!(found.labels, [0, 1, 0]);
    assert_eq!((found.objective, found.ncut, found.smallest_share), (0.0, 2.0, 0.0));
}

#[test]
fn components_are_grouped_whole_when_there_are_enough() {
    let graph = Graph::from_edges(8, [(0, 1, 1.0), (2, 3, 1.0), (4, 5, 1.0), (6, 7, 5.0)]).unwrap();
    let found = Ncut::new(3).solve(&graph).unwrap();
    assert_eq!((found.objective, found.n_components), (3.0, 4));
    // The largest has a cluster to itself, the others fill the least full.
    assert_eq!(found.labels, [0, 0, 1, 1, 0, 0, 2, 2]);
    // The paper's hierarchy groups the two of smallest volume and lowest number.
    let paper = Ncut::new(3).preset(Preset::Paper).solve(&graph).unwrap();
    assert_eq!(paper.labels, [0, 0, 0, 0, 1, 1, 2, 2]);
}

#[test]
fn the_largest_component_alone_can_be_clustered() {
    let edges = [(1, 2, 1.0), (2, 3, 0.1), (3, 4, 1.0), (0, 5, 9.0)];
    let graph = Graph::from_edges(6, edges).unwrap();
    let found = Ncut::new(2).components(ComponentChoice::Largest).solve(&graph).unwrap();
    assert_eq!(found.labels, [-1, 0, 0, 1, 1, -1]);
    assert_eq!(found.clusters.iter().map(|cluster| cluster.size).sum::<usize>(), 4);
    assert!((found.objective - 2.0 * 2.0 / 2.1).abs() < 1e-15);
    // A start may leave out what is left out.
    let init = vec![-1, 0, 0, 0, 1, -1];
    let again = Ncut::new(2).components(ComponentChoice::Largest).init(init).solve(&graph).unwrap();
    assert_eq!(again.labels, found.labels);
}

#[test]
fn n2hi_of_a_path_follows_the_heaviest_edges() {
    let weights = [5.0, 1.0, 4.0, 0.5, 3.0, 2.0];
    let edges = (0..6).map(|node| (node, node + 1, weights[node as usize]));
    let graph = Graph::from_edges(7, edges).unwrap();
    let levels: Vec<Vec<u32>> = FirstNeighborLevels::new(&graph).map(|level| level.labels).collect();
    assert_eq!(levels, [vec![0, 0, 1, 1, 2, 2, 2], vec![0; 7]]);
    assert_eq!(n2hi(&graph, 3, &Clock::new()).unwrap().labels, [0, 0, 1, 1, 2, 2, 2]);
    // Mean similarities: 1/4 between the first two, 0.5/6 between the last two.
    assert_eq!(n2hi(&graph, 2, &Clock::new()).unwrap().labels, [0, 0, 0, 0, 1, 1, 1]);
    // Above the first level: single nodes, the heaviest edges first.
    assert_eq!(n2hi(&graph, 5, &Clock::new()).unwrap().labels, [0, 0, 1, 1, 2, 3, 4]);
}

#[test]
fn weights_of_any_size_give_finite_numbers() {
    for scale in [1e-320, 1e-300, 1e300] {
        let graph =
            Graph::from_edges(5, (0..4).map(|node| (node, node + 1, scale * f64::from(node + 1)))).unwrap();
        let found = Ncut::new(2).solve(&graph).unwrap();
        assert!(found.objective.is_finite() && found.objective > 0.0 && found.objective <= 2.0);
    }
    let mixed = Graph::from_edges(6, [(0, 1, 1e300), (1, 2, 1e-300), (2, 3, 1.0), (3, 4, 1e-9), (4, 5, 1e9)])
        .unwrap();
    for k in 1..=6 {
        let found = Ncut::new(k).solve(&mixed).unwrap();
        assert!(found.objective.is_finite() && found.clusters.len() == k);
    }
}

#[test]
fn a_time_limit_of_nothing_still_gives_exactly_k_clusters() {
    let planted = Planted::new(3000, 20).graph(1).unwrap();
    let found = Ncut::new(20).time_limit(Duration::ZERO).solve(&planted.graph).unwrap();
    assert_eq!((found.stop_reason, found.clusters.len()), (StopReason::TimeLimit, 20));
    let mut calls = 0;
    let stopped = Ncut::new(20).solve_by(
        &planted.graph,
        &Clock::observed(|_| {
            calls += 1;
            if calls > 8 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }),
    );
    assert_eq!(stopped.unwrap().stop_reason, StopReason::Cancelled);
    let paper = Ncut::new(20).preset(Preset::Paper);
    let limited = paper.clone().max_sweeps(1).solve(&planted.graph).unwrap();
    assert_eq!((limited.stop_reason, limited.sweeps), (StopReason::SweepLimit, 1));
    assert_eq!(paper.max_sweeps(0).solve(&planted.graph).unwrap().sweeps, 0);
    for preset in [Preset::Fast, Preset::Default] {
        let found = Ncut::new(20).preset(preset).max_sweeps(0).solve(&planted.graph).unwrap();
        assert_eq!((found.stop_reason, found.sweeps), (StopReason::SweepLimit, 0), "{preset:?}");
    }
}

/// Values of scikit-learn 1.9 for the same labels.
#[test]
fn agreement_is_measured_as_scikit_learn_does() {
    let found = [0, 0, 1, 1, 1, 1, 2, 0, 1, 1];
    let truth = [0, 0, 0, 1, 1, 1, 2, 2, 2, 2];
    let table = Contingency::new(&found, &truth).unwrap();
    assert_eq!(table.accuracy(), Some(0.6));
    for (normalization, expected) in [
        (NmiNormalization::Max, 0.26733692039994567),
        (NmiNormalization::Arithmetic, 0.29303047136752725),
        (NmiNormalization::Geometric, 0.2943932793188374),
        (NmiNormalization::Min, 0.3241879302658288),
    ] {
        assert!((table.nmi(normalization) - expected).abs() < 1e-12);
    }
    assert!((table.ari() - 0.0196078431372549).abs() < 1e-12);
}

#[test]
fn agreement_of_trivial_labellings_is_defined() {
    let all = |found: &[Label], truth: &[Label]| {
        let agreement = Agreement::new(found, truth).unwrap();
        (agreement.accuracy.unwrap(), agreement.nmi, agreement.ari)
    };
    assert_eq!(all(&[0, 0], &[5, 5]), (1.0, 1.0, 1.0));
    assert_eq!(all(&[0, 1], &[1, 0]), (1.0, 1.0, 1.0));
    assert_eq!(all(&[0, 0], &[0, 1]), (0.5, 0.0, 0.0));
    assert!(Agreement::new(&[-1, -1], &[0, 1]).is_err(), "nothing to compare");
    assert_eq!(all(&[0, 1, -1, 1], &[1, 0, 0, -1]), (1.0, 1.0, 1.0), "-1 is skipped on either side");
    // More clusters than classes, and the other way round.
    assert_eq!(all(&[0, 1, 2, 3], &[0, 0, 1, 1]).0, 0.5);
    assert_eq!(all(&[0, 0, 1, 1], &[0, 1, 2, 3]).0, 0.5);
}

#[test]
fn accuracy_of_very_many_clusters_is_found_or_declined() {
    // A hundred thousand clusters that match one to one: small blocks, so no trouble.
    let labels: Vec<Label> = (0..100_000).collect();
    let reversed: Vec<Label> = labels.iter().rev().copied().collect();
    assert_eq!(Agreement::new(&labels, &reversed).unwrap().accuracy, Some(1.0));
    // Thousands that all overlap: out of reach, and said so.
    let chain: Vec<Label> = (0..20_000).map(|node| node / 2).collect();
    let shifted: Vec<Label> = (0..20_000).map(|node| (node + 1) / 2).collect();
    assert_eq!(Agreement::new(&chain, &shifted).unwrap().accuracy, None);
}

#[test]
fn the_self_tuning_graph_equals_its_definition() {
    let points = two_circles(100, 7);
    let mut rows: Vec<[f64; 2]> = points.coordinates.chunks_exact(2).map(|row| [row[0], row[1]]).collect();
    // Duplicates: among them the point itself may stay, as a self-loop.
    for place in 0..40 {
        rows[place * 10] = rows[place * 10 + 1];
    }
    let (n, n_neighbors) = (rows.len(), 9);
    let length =
        |i: usize, j: usize| ((rows[i][0] - rows[j][0]).powi(2) + (rows[i][1] - rows[j][1]).powi(2)).sqrt();
    let mut kept = vec![vec![false; n]; n];
    for i in 0..n {
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&a, &b| length(i, a).total_cmp(&length(i, b)));
        for &j in &order[1..=n_neighbors] {
            kept[i][j] = true;
            kept[j][i] = true;
        }
    }
    let sigma: Vec<f64> = (0..n)
        .map(|i| {
            let lengths: Vec<f64> = (0..n).filter(|&j| kept[i][j]).map(|j| length(i, j)).collect();
            lengths.iter().sum::<f64>() / lengths.len() as f64
        })
        .collect();
    let flat: Vec<f64> = rows.concat();
    let graph = self_tuning_graph(Points::new(&flat, 2).unwrap(), n_neighbors).unwrap();
    assert!(graph.n_self_loops() > 0);
    for i in 0..n {
        for j in i..n {
            let stored = graph.edges().find(|edge| (edge.0 as usize, edge.1 as usize) == (i, j));
            let expected = (-length(i, j).powi(2) / (2.0 * sigma[i] * sigma[j])).exp();
            match stored {
                Some((_, _, weight)) => assert!(kept[i][j] && (weight - expected).abs() < 1e-12),
                None => assert!(!kept[i][j]),
            }
        }
    }
}

#[test]
fn points_that_all_coincide_are_all_alike() {
    let graph = self_tuning_graph(Points::new(&[3.0; 12], 2).unwrap(), 3).unwrap();
    assert!(graph.edges().all(|(_, _, weight)| weight == 1.0));
    // Fewer points than neighbours: everyone is a neighbour.
    let few = self_tuning_graph(Points::new(&[0.0, 1.0, 3.0], 1).unwrap(), 25).unwrap();
    assert_eq!(few.n_edges(), 3);
    assert_eq!(self_tuning_graph(Points::new(&[1.0], 1).unwrap(), 25).unwrap().n_isolated(), 1);
}

#[test]
fn the_papers_examples_are_solved() {
    let points = two_circles(100, 1);
    let graph = self_tuning_graph(Points::new(&points.coordinates, 2).unwrap(), 10).unwrap();
    let found = Ncut::new(2).solve(&graph).unwrap();
    assert_eq!(Agreement::new(&found.labels, &points.labels).unwrap().accuracy, Some(1.0));
    for seed in 0..5 {
        let blocks = five_blocks(0.5, seed).unwrap();
        let found = Ncut::new(5).solve(&blocks.graph).unwrap();
        assert_eq!(Agreement::new(&found.labels, &blocks.labels).unwrap().accuracy, Some(1.0));
    }
}

#[test]
fn planted_clusters_have_the_promised_shape() {
    let planted = Planted::new(20_000, 50).graph(3).unwrap();
    let sizes = CutScore::new(&planted.graph, &planted.labels).unwrap().clusters;
    assert_eq!(sizes.len(), 50);
    let smallest = sizes.iter().map(|cluster| cluster.size).min().unwrap();
    assert!(smallest as f64 > 0.2 * 400.0);
    let mean_degree = planted.graph.volume() / 20_000.0;
    assert!((19.0..20.0).contains(&mean_degree), "{mean_degree}");
}
