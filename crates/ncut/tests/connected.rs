//! Clusters that hold together: of a connected graph each is connected, of any other each is but for whole components.

use std::collections::VecDeque;

use ncut::synthetic::Planted;
use ncut::{CutScore, Error, Graph, Label, Limits, Ncut, ObjectiveKind, Preset};

/// How many clusters are in several pieces that are no whole components, by walking through each.
fn n_in_pieces(graph: &Graph<'_>, labels: &[Label]) -> usize {
    let mut was_seen = vec![false; labels.len()];
    let mut n_parts = vec![0; labels.len()];
    for first in 0..labels.len() {
        if was_seen[first] {
            continue;
        }
        let mut is_whole = true;
        let mut queue = VecDeque::from([first]);
        was_seen[first] = true;
        while let Some(node) = queue.pop_front() {
            for (neighbor, _) in graph.neighbors(node as u32) {
                let neighbor = neighbor as usize;
                if labels[neighbor] != labels[first] {
                    is_whole = false;
                } else if !std::mem::replace(&mut was_seen[neighbor], true) {
                    queue.push_back(neighbor);
                }
            }
        }
        n_parts[labels[first] as usize] += usize::from(!is_whole);
    }
    n_parts.iter().filter(|&&n_parts| n_parts > 1).count()
}

/// Every preset, share and objective that the search is for, within the usual limits and within tiny ones, where preset `best`
/// is brief.
fn check_all(name: &str, graph: &Graph<'_>, k: usize) {
    let (usual, tiny) = (Limits::default(), Limits::tiny());
    let ways = [Preset::Fast, Preset::Default].map(|preset| (preset, usual)).into_iter();
    let brief_ways = [Preset::Fast, Preset::Default, Preset::Best].map(|preset| (preset, tiny));
    for (preset, limits) in ways.chain(brief_ways) {
        for share in [0.0, 0.25] {
            for kind in [ObjectiveKind::NormalizedCut, ObjectiveKind::RatioCut] {
                let settings = Ncut::new(k).preset(preset).min_share(share).objective(kind).limits(limits);
                let found = settings.solve(graph).unwrap();
                let what = format!("{name}, {preset:?}, share {share}, {kind:?}");
                assert_eq!(found.clusters.len(), k, "{what}");
                assert_eq!(n_in_pieces(graph, &found.labels), 0, "{what}");
                assert_eq!(found.n_disconnected, 0, "{what}");
            }
        }
    }
}

fn unweighted(n_nodes: usize, edges: impl IntoIterator<Item = (u32, u32)>) -> Graph<'static> {
    Graph::from_edges(n_nodes, edges.into_iter().map(|(from, to)| (from, to, 1.0))).unwrap()
}

/// Preferential attachment: every node is linked to two before it, those with many links more often than others.
fn attached(n_nodes: u32) -> Graph<'static> {
    let mut ends: Vec<u32> = vec![0, 1];
    let mut state = 7u64;
    let mut edges = vec![(0, 1)];
    for node in 2..n_nodes {
        for _ in 0..2 {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            let to = ends[(state >> 33) as usize % ends.len()];
            if to != node {
                edges.push((to, node));
                ends.extend([to, node]);
            }
        }
    }
    unweighted(n_nodes as usize, edges)
}

fn grid(side: u32) -> Graph<'static> {
    let right = (0..side * side).filter(|node| node % side + 1 < side).map(|node| (node, node + 1));
    let down = (0..side * (side - 1)).map(|node| (node, node + side));
    unweighted((side * side) as usize, right.chain(down))
}

#[test]
fn clusters_of_networks_grids_trees_and_stars_are_connected() {
    check_all("attachment", &attached(200), 9);
    check_all("grid", &grid(16), 7);
    check_all("binary tree", &unweighted(255, (1..255).map(|node| ((node - 1) / 2, node))), 9);
    check_all("star", &unweighted(60, (1..60).map(|leaf| (0, leaf))), 6);
    check_all("two stars", &unweighted(60, (2..60).map(|leaf| (leaf % 2, leaf)).chain([(0, 1)])), 6);
    check_all("path", &unweighted(90, (1..90).map(|node| (node - 1, node))), 11);
}

#[test]
fn clusters_of_a_graph_in_pieces_hold_parts_of_one_component_at_most() {
    let ring = |first: u32, size: u32| (0..size).map(move |node| (first + node, first + (node + 1) % size));
    let small = (0..6u32).map(|pair| (70 + 2 * pair, 71 + 2 * pair));
    let graph = unweighted(90, ring(0, 40).chain(ring(40, 30)).chain(small));
    for k in [2, 3, 5, 9] {
        check_all("rings and pairs", &graph, k);
    }
}

#[test]
fn large_ways_keep_planted_clusters_connected() {
    let mut planted = Planted::new(1000, 8);
    planted.mean_degree = 6.0;
    check_all("planted", &planted.graph(3).unwrap().graph, 8);
}

#[test]
fn pieces_are_counted_without_the_components_held_as_a_whole() {
    // A path of five nodes, a pair and a node without edges.
    let graph = unweighted(8, [(0, 1), (1, 2), (2, 3), (3, 4), (5, 6)]);
    let score = CutScore::new(&graph, &[0, 0, 1, 0, 0, 1, 1, 0]).unwrap();
    // Two parts of the path and the node without edges; one node of the path and the pair.
    assert_eq!(score.clusters.iter().map(|cluster| cluster.n_pieces).collect::<Vec<_>>(), [3, 2]);
    assert_eq!(score.n_disconnected, 1);
    assert_eq!(score.clusters[0].inside, 4.0 / 6.0);
    assert_eq!(score.clusters[0].conductance, 2.0 / 4.0);
    let some = CutScore::new(&graph, &[0, 0, 1, 1, 1, -1, -1, -1]).unwrap();
    assert_eq!(some.clusters.iter().map(|cluster| cluster.n_pieces).collect::<Vec<_>>(), [1, 1]);
    assert_eq!((some.n_disconnected, some.clusters[0].conductance), (0, 1.0 / 3.0));
}

#[test]
fn clusters_may_be_in_pieces_on_request_and_the_paper_knows_no_other_way() {
    let star = unweighted(41, (1..41).map(|leaf| (0, leaf)));
    let found = Ncut::new(4).connected(false).solve(&star).unwrap();
    assert!(found.n_disconnected > 0 && found.smallest_share >= 0.25);
    let refused = Ncut::new(4).preset(Preset::Paper).connected(true).solve(&star);
    assert!(matches!(refused, Err(Error::BadSetting { name: "connected", .. })));
    assert!(Ncut::new(4).preset(Preset::Paper).connected(false).solve(&star).is_ok());
}
