//! Ratio-Cut: the optimum of tiny graphs, its bound, and what holds for every graph.

mod common;

use common::{Sketch, close, degrees, hold_together, ratio_cut, sketches, tied_sketches};
use ncut::spectral::UpperBound;
use ncut::{Clock, CutScore, Error, Graph, Label, Limits, Ncut, ObjectiveKind, Preset};
use proptest::prelude::*;

fn settings(n_clusters: usize, preset: Preset) -> Ncut {
    Ncut::new(n_clusters).preset(preset).objective(ObjectiveKind::RatioCut).min_share(0.0)
}

/// The part of a sketch that has edges.
fn connected(sketch: &Sketch) -> Sketch {
    let degrees = degrees(&sketch.matrix());
    let mut number = vec![None; sketch.n_nodes];
    let mut n_nodes = 0;
    for node in 0..sketch.n_nodes {
        if degrees[node] > 0.0 {
            number[node] = Some(n_nodes as u32);
            n_nodes += 1;
        }
    }
    let edges = sketch
        .edges
        .iter()
        .filter_map(|&(from, to, weight)| Some((number[from as usize]?, number[to as usize]?, weight)));
    Sketch { n_nodes, edges: edges.collect() }
}

/// Visits all labellings into exactly `k` clusters, numbered by first appearance.
fn for_each_labelling(n: usize, k: usize, labels: &mut Vec<u32>, visit: &mut dyn FnMut(&[u32])) {
    let used = labels.iter().max().map_or(0, |&label| label as usize + 1);
    if labels.len() == n {
        if used == k {
            visit(labels);
        }
        return;
    }
    for label in 0..=used.min(k - 1) {
        labels.push(label as u32);
        for_each_labelling(n, k, labels, visit);
        labels.pop();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    /// With the library's own look at all labellings switched off, and with it.
    #[test]
    fn best_is_the_optimum_of_tiny_graphs(sketch in prop_oneof![sketches(8), tied_sketches(8)]) {
        let sketch = connected(&sketch);
        prop_assume!(sketch.n_nodes > 0);
        let (graph, matrix) = (sketch.graph(), sketch.matrix());
        let mut searching = Limits::default();
        searching.max_nodes_exhaustive = 0;
        for k in 1..=sketch.n_nodes {
            let (mut lowest, mut lowest_connected) = (f64::INFINITY, f64::INFINITY);
            for_each_labelling(sketch.n_nodes, k, &mut Vec::new(), &mut |labels| {
                let ratio_cut = ratio_cut(&matrix, labels);
                lowest = lowest.min(ratio_cut);
                if ratio_cut < lowest_connected && hold_together(&matrix, labels) {
                    lowest_connected = ratio_cut;
                }
            });
            for limits in [searching, Limits::default()] {
                for (connected, lowest) in [(false, lowest), (true, lowest_connected)] {
                    let best = settings(k, Preset::Best).limits(limits).connected(connected);
                    let found = best.solve(&graph).unwrap();
                    prop_assert!(close(found.ratio_cut, lowest), "k = {k}: {} for {lowest}", found.ratio_cut);
                    prop_assert_eq!(found.objective, -found.ratio_cut);
                }
            }
        }
    }

    #[test]
    fn no_labelling_is_above_the_bound(sketch in prop_oneof![sketches(30), tied_sketches(30)], k in 1..8usize) {
        let (graph, k) = (sketch.graph(), k.min(sketch.n_nodes));
        let bound =
            UpperBound::by(ObjectiveKind::RatioCut, &graph, k, &Default::default(), &Clock::new()).unwrap();
        let found = settings(k, Preset::Default).solve(&graph).unwrap();
        let slack = 1e-9 * graph.volume().max(1.0);
        prop_assert!(found.objective <= bound.value + slack, "{} above {}", found.objective, bound.value);
    }

    /// Shares are shares of size.
    #[test]
    fn every_preset_keeps_k_and_the_share_is_one_of_nodes(sketch in sketches(30), k in 1..8usize) {
        let (graph, k) = (sketch.graph(), k.min(sketch.n_nodes));
        for preset in [Preset::Fast, Preset::Default, Preset::Best] {
            let found = settings(k, preset).min_share(0.25).solve(&graph).unwrap();
            let smallest = found.clusters.iter().map(|cluster| cluster.size).min().unwrap();
            prop_assert_eq!(found.clusters.len(), k);
            prop_assert!(close(found.smallest_share, smallest as f64 * k as f64 / sketch.n_nodes as f64));
        }
    }
}

/// An isolated node makes a cluster larger whose cut stays the same: it goes where that helps most.
#[test]
fn isolated_nodes_join_the_cluster_that_gains_most() {
    // A triangle and a pair, linked once; two nodes without edges.
    let edges = [(0, 1, 2.0), (1, 2, 2.0), (0, 2, 2.0), (2, 3, 1.0), (3, 4, 2.0)];
    let graph = Graph::from_edges(7, edges).unwrap();
    let found = settings(2, Preset::Default).solve(&graph).unwrap();
    // The pair has the smaller size: 1/3 + 1/3 after the first, then a tie that goes to the larger volume.
    assert_eq!(found.labels[..5], [0, 0, 0, 1, 1]);
    assert_eq!(found.labels[5], 1);
    assert_eq!(found.labels[6], 0);
    assert!((found.ratio_cut - (1.0 / 4.0 + 1.0 / 3.0)).abs() < 1e-12);
}

#[test]
fn it_is_refused_where_it_makes_no_sense() {
    let path = Graph::from_edges(3, [(0, 1, 1.0), (1, 2, 1.0)]).unwrap();
    let refused = |settings: Ncut| matches!(settings.solve(&path), Err(Error::BadSetting { .. }));
    assert!(refused(settings(2, Preset::Paper)));
    assert!(refused(Ncut::auto().objective(ObjectiveKind::RatioCut)));
}

#[test]
fn scores_name_all_cut_values() {
    let path = Graph::from_edges(4, [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0)]).unwrap();
    let labels: [Label; 4] = [0, 0, 1, 1];
    let score = CutScore::by(ObjectiveKind::RatioCut, &path, &labels).unwrap();
    assert_eq!((score.objective, score.ratio_cut), (-1.0, 1.0));
    assert!((score.ncut - 2.0 / 3.0).abs() < 1e-12);
    assert!((score.modularity - (4.0 / 6.0 - 0.5)).abs() < 1e-12);
    assert_eq!(CutScore::new(&path, &labels).unwrap().objective, 2.0 - score.ncut);
}
