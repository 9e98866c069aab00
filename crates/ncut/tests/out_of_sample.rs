//! New nodes and new points beside a clustering.
#![cfg(feature = "neighbors")]

mod common;

use common::labelled;
use ncut::hierarchy::{Merge, MergeTree};
use ncut::neighbors::{Affinity, PointGraph, Points, Scale};
use ncut::out_of_sample::OutOfSample;
use ncut::{Clock, ClusterSummary, CutScore, Graph, Label, Symmetrize, Weights};
use proptest::prelude::*;

proptest! {
    #[test]
    fn a_new_node_joins_the_cluster_that_gains_most(
        (sketch, labels, k) in labelled(10),
        weights in prop::collection::vec(0.0..2.0f64, 10),
    ) {
        let graph = sketch.graph();
        let n = sketch.n_nodes;
        let labels: Vec<Label> = labels.iter().map(|&label| label as Label).collect();
        let clusters = CutScore::new(&graph, &labels).unwrap().clusters;
        let links: Vec<(u32, f64)> = (0..n as u32).zip(weights).filter(|link| link.1 > 0.5).collect();
        let new = OutOfSample::new(
            vec![0, links.len() as u64],
            links.iter().map(|link| link.0).collect::<Vec<_>>(),
            links.iter().map(|link| link.1).collect::<Vec<_>>(),
            n,
        );
        let placed = new.unwrap().place(&labels, &clusters).unwrap()[0];
        prop_assert!((0..k as Label).contains(&placed));
        let degree: f64 = links.iter().map(|link| link.1).sum();
        let gain = |cluster: &ClusterSummary| {
            let link: f64 =
                links.iter().filter(|link| labels[link.0 as usize] == cluster.label).map(|link| link.1).sum();
            let before = if cluster.volume > 0.0 { cluster.association / cluster.volume } else { 0.0 };
            (cluster.association + 2.0 * link) / (cluster.volume + degree) - before
        };
        if !links.is_empty() {
            let best = clusters.iter().map(gain).fold(f64::NEG_INFINITY, f64::max);
            let own = clusters.iter().find(|cluster| cluster.label == placed).map(gain).unwrap();
            prop_assert!(own >= best - 1e-12);
        }
    }
}

#[test]
fn a_node_without_links_joins_the_largest_cluster_and_one_without_labelled_neighbors_none() {
    let graph = Graph::from_edges(5, [(0, 1, 1.0), (2, 3, 9.0), (3, 4, 1.0)]).unwrap();
    let labels = [0, 0, 1, 1, -1];
    let clusters = CutScore::new(&graph, &labels).unwrap().clusters;
    let new = OutOfSample::new(vec![0, 0, 1, 3], vec![4, 4, 0], vec![1.0, 0.1, 0.5], 5).unwrap();
    assert_eq!(new.place(&labels, &clusters).unwrap(), [1, -1, 0]);
}

#[test]
fn wrong_links_are_refused() {
    let refused = |offsets: &[u64], columns: &[u32], weights: &[f64]| {
        OutOfSample::new(offsets.to_vec(), columns.to_vec(), weights.to_vec(), 3).unwrap_err().to_string()
    };
    assert!(refused(&[], &[], &[]).contains("row offsets"));
    assert!(refused(&[0, 2, 1], &[0], &[1.0]).contains("row offsets"));
    assert!(refused(&[0, 1], &[0], &[]).contains("1 column numbers but 0 weights"));
    assert!(refused(&[0, 1], &[3], &[1.0]).contains("linked to node 3"));
    assert!(refused(&[0, 1], &[0], &[-1.0]).contains("must not be negative"));
    let new = OutOfSample::new(vec![0, 1], vec![0], vec![1.0], 2).unwrap();
    assert!(new.place(&[0, 7], &[]).unwrap_err().to_string().contains("no cluster 0"));
}

#[test]
fn a_point_of_the_graph_is_linked_like_new_to_itself_and_its_neighbors() {
    let line: Vec<f64> = (0..12).map(|i| f64::from(i) + if i >= 6 { 20.0 } else { 0.0 }).collect();
    let points = Points::new(&line, 1).unwrap();
    for affinity in [Affinity::SelfTuning, Affinity::Knn, Affinity::Rbf { gamma: None }, Affinity::Adaptive] {
        let settings = PointGraph { n_neighbors: 3, affinity, ..PointGraph::default() };
        let linked = settings.link(points, &Clock::new()).unwrap();
        let labels: Vec<Label> = (0..12).map(|i| Label::from(i >= 6)).collect();
        let clusters = CutScore::new(&linked.graph, &labels).unwrap().clusters;
        let new = settings.link_new(points, points, &linked.scale, &Clock::new()).unwrap();
        assert_eq!(new.place(&labels, &clusters).unwrap(), labels);
        // Far away every weight is 0 but to the nearest, which decides.
        let far = Points::new(&[-1e9, 1e9], 1).unwrap();
        let new = settings.link_new(far, points, &linked.scale, &Clock::new()).unwrap();
        assert_eq!(new.place(&labels, &clusters).unwrap(), [0, 1]);
    }
    let adaptive = PointGraph { affinity: Affinity::Adaptive, ..PointGraph::default() };
    let short = Scale::Adaptive { n_neighbors: 3, reach: vec![1.0; 12], total: vec![1.0; 11] };
    let error = adaptive.link_new(points, points, &short, &Clock::new()).unwrap_err();
    assert_eq!(error.to_string(), "11 lengths were given for 12 points");
    let other = Points::new(&[0.0, 1.0], 2).unwrap();
    let error = PointGraph::default().link_new(other, points, &Scale::Knn, &Clock::new()).unwrap_err();
    assert_eq!(error.to_string(), "the new points have 2 features, those of the graph 1");
}

#[test]
fn a_tree_is_checked() {
    let merge = |first, second| Merge { first, second, gain: 0.0 };
    let tree = MergeTree::new(4, vec![0, 1, 3], vec![merge(0, 1), merge(2, 3)]).unwrap();
    assert_eq!(tree.labels(2).unwrap(), [0, 0, -1, 1]);
    for (leaves, merges) in [
        (vec![0, 1, 3], vec![merge(0, 1)]),
        (vec![0, 1, 3], vec![merge(0, 3), merge(1, 2)]),
        (vec![0, 1, 3], vec![merge(0, 1), merge(0, 3)]),
        (vec![1, 0, 3], vec![merge(0, 1), merge(2, 3)]),
        (vec![0, 1, 4], vec![merge(0, 1), merge(2, 3)]),
        (vec![], vec![]),
    ] {
        assert!(MergeTree::new(4, leaves, merges).is_err());
    }
}

#[test]
fn a_32_bit_matrix_may_differ_from_its_transpose_by_its_rounding() {
    let (offsets, columns) = ([0, 1, 2], [1, 0]);
    let graph = |a: f32, b: f32| {
        let weights = Weights::F32(vec![a, b].into());
        Graph::from_csr(&offsets[..], &columns[..], weights, Symmetrize::Refuse)
    };
    assert!(graph(0.3, 0.3f32.next_up()).is_ok());
    assert!(graph(0.3, 0.3001).is_err());
}
