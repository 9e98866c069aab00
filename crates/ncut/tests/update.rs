//! Clusters of graphs that change, and how sure labels are.

use ncut::{Before, Clock, Confidence, Graph, Label, Ncut, ObjectiveKind, synthetic::Planted};

fn update(graph: &Graph<'_>, labels: Vec<Label>, n_clusters: usize) -> ncut::Updated {
    let before = Before { labels, gone: Vec::new() };
    Ncut::new(n_clusters).update(graph, &before, Ncut::STAY, &Clock::new()).unwrap()
}

/// The graph without every so-many-th edge.
fn thinned(graph: &Graph<'_>, one_in: usize, first: usize) -> Graph<'static> {
    let edges = graph.edges().enumerate().filter(|(place, _)| place % one_in != first).map(|(_, edge)| edge);
    Graph::from_edges(graph.n_nodes(), edges).unwrap()
}

#[test]
fn a_small_change_moves_few_nodes_and_no_numbers() {
    let graph = Planted::new(2_000, 10).graph(3).unwrap().graph;
    let mut labels: Vec<Label> = Ncut::new(10).solve(&graph).unwrap().labels;
    // Numbers with gaps, in no order.
    labels.iter_mut().for_each(|label| *label = 100 - 7 * *label);
    let first = labels.clone();
    for step in 0..10 {
        let changed = thinned(&graph, 60, step);
        let found = update(&changed, labels.clone(), 0);
        assert!(found.vanished.is_empty() && found.appeared.is_empty() && found.new.is_empty());
        assert_eq!(found.moved.len(), found.labels.iter().zip(&labels).filter(|(a, b)| a != b).count());
        assert!(found.moved.len() < 20, "{} nodes moved", found.moved.len());
        assert_eq!(found.score.n_disconnected, 0);
        labels = found.labels;
    }
    assert!(labels.iter().zip(&first).filter(|(a, b)| a == b).count() > 1_950);
}

/// A node that leaves may cut off others of its cluster; what they lose must not be more than what it gains.
#[test]
fn an_update_of_the_same_graph_loses_nothing() {
    let mut n_changed = 0;
    for seed in 0..60 {
        let graph =
            Planted { mean_degree: 4.0, mixing: 0.5, ..Planted::new(400, 8) }.graph(seed).unwrap().graph;
        let settings = Ncut::new(8).preset(ncut::Preset::Fast).min_share(0.25);
        let found = settings.solve(&graph).unwrap();
        // Labels that single moves can improve: every fortieth node is somewhere near.
        let mut labels = found.labels;
        for node in (0..400).step_by(40) {
            if let Some((neighbor, _)) = graph.neighbors(node).last() {
                labels[node as usize] = labels[neighbor as usize];
            }
        }
        let before = ncut::CutScore::new(&graph, &labels).unwrap();
        let old = Before { labels: labels.clone(), gone: Vec::new() };
        let updated = settings.update(&graph, &old, Ncut::STAY, &Clock::new()).unwrap();
        if before.n_disconnected > 0 {
            continue;
        }
        n_changed += usize::from(updated.labels != labels);
        assert_eq!(updated.score.n_disconnected, 0);
        assert!(updated.score.objective >= before.objective, "seed {seed}");
        assert!(updated.score.smallest_share >= before.smallest_share.min(0.25) - 1e-9, "seed {seed}");
    }
    assert!(n_changed > 5, "only {n_changed} updates changed anything");
}

#[test]
fn the_labels_do_not_depend_on_the_number_of_threads() {
    let graph = Planted::new(3_000, 12).graph(5).unwrap().graph;
    let labels = Ncut::new(12).solve(&graph).unwrap().labels;
    let changed = thinned(&graph, 15, 4);
    let renewed = |n_threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| {
            let before = Before { labels: labels.clone(), gone: Vec::new() };
            Ncut::new(0)
                .limits(ncut::Limits::tiny())
                .update(&changed, &before, 0.0, &Clock::new())
                .unwrap()
                .labels
        })
    };
    assert_eq!(renewed(1), renewed(2));
    assert_eq!(renewed(1), renewed(3));
}

#[test]
fn numbers_of_clusters_that_are_gone_are_not_used_again() {
    let graph = Planted::new(400, 4).graph(1).unwrap().graph;
    let labels = Ncut::new(4).solve(&graph).unwrap().labels;
    // All nodes of cluster 2 are new ones: nobody is left of it, and a node of cluster 9 is gone.
    let old: Vec<Label> = labels.iter().map(|&label| if label == 2 { -1 } else { label }).collect();
    let before = Before { labels: old, gone: vec![2, 9] };
    let found = Ncut::new(0).update(&graph, &before, Ncut::STAY, &Clock::new()).unwrap();
    assert_eq!(found.vanished, [2, 9]);
    assert_eq!(found.appeared, [10, 11]);
    let mut used = found.labels.clone();
    used.sort_unstable();
    used.dedup();
    assert_eq!(used, [0, 1, 3, 10, 11]);
    assert_eq!(found.new.len(), labels.iter().filter(|&&label| label == 2).count());
}

#[test]
fn more_or_fewer_clusters_keep_the_numbers_of_the_larger() {
    let graph = Planted::new(600, 6).graph(2).unwrap().graph;
    let labels = Ncut::new(6).solve(&graph).unwrap().labels;
    let more = update(&graph, labels.clone(), 8);
    assert_eq!(more.appeared, [6, 7]);
    assert!(more.vanished.is_empty());
    assert_eq!(more.score.clusters.len(), 8);
    let fewer = update(&graph, labels, 4);
    assert_eq!((fewer.vanished.len(), fewer.appeared.len(), fewer.score.clusters.len()), (2, 0, 4));
}

#[test]
fn isolated_nodes_keep_their_numbers() {
    let edges = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)].map(|(a, b)| (a, b, 1.0));
    let graph = Graph::from_edges(8, edges).unwrap();
    let found = update(&graph, vec![1, 1, 1, 0, 0, 0, 0, -1], 0);
    assert_eq!(found.labels[..7], [1, 1, 1, 0, 0, 0, 0]);
    assert!(found.labels[7] == 0 || found.labels[7] == 1);
}

#[test]
fn what_cannot_be_updated_is_refused() {
    let graph = Planted::new(100, 2).graph(1).unwrap().graph;
    let refused = |settings: Ncut, labels: Vec<Label>, stay: f64| {
        let before = Before { labels, gone: Vec::new() };
        settings.update(&graph, &before, stay, &Clock::new()).unwrap_err().to_string()
    };
    assert!(refused(Ncut::new(0), vec![-1; 100], 0.1).contains("no node of the graph has an old label"));
    assert!(refused(Ncut::new(0), vec![0; 9], 0.1).contains("9 old labels were given for 100 nodes"));
    assert!(refused(Ncut::new(0), vec![-3; 100], 0.1).contains("old label -3"));
    assert!(refused(Ncut::new(0), vec![0; 100], -1.0).contains("stay is -1"));
    assert!(refused(Ncut::auto(), vec![0; 100], 0.1).contains("as many clusters as before"));
    assert!(refused(Ncut::new(200), vec![0; 100], 0.1).contains("200 clusters were asked of 100 nodes"));
}

#[test]
fn nodes_on_a_boundary_are_less_sure_than_those_inside() {
    // Two cliques of five that share a link, and a node between them.
    let clique = |first: u32| (0..5u32).flat_map(move |a| (0..a).map(move |b| (first + a, first + b, 1.0)));
    let between = [(10, 0, 1.0), (10, 5, 1.0)];
    let graph = Graph::from_edges(11, clique(0).chain(clique(5)).chain(between)).unwrap();
    let labels = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0];
    for kind in ObjectiveKind::ALL {
        let sure = Confidence::of(&graph, &labels, kind, 3).unwrap();
        assert!(sure.values.iter().all(|value| (0.0..=1.0).contains(value)));
        assert!(sure.values[10] < 0.1 && sure.values[5] < sure.values[6], "{:?}", sure.values);
        assert_eq!(sure.best(6), [(1, 1.0)]);
        assert_eq!(sure.best(10).len(), 2);
        let total: f64 = sure.best(10).iter().map(|best| best.1).sum();
        assert!((total - 1.0).abs() < 1e-12);
    }
    assert!(Confidence::of(&graph, &[0, 1], ObjectiveKind::NormalizedCut, 3).is_err());
    let none = Confidence::of(&graph, &[-1; 11], ObjectiveKind::NormalizedCut, 3).unwrap();
    assert!(none.values.iter().all(|&value| value == 0.0) && none.best(3).is_empty());
}
