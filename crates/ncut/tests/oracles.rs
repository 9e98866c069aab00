//! The fast algorithms against slow ones written straight from the paper.

mod common;

use std::collections::BTreeSet;

use common::{Sketch, canonical, close, degrees, labelled, objective, sketches, tied_sketches};
use ncut::descent::{StoppingRule, descend};
use ncut::hierarchy::n2hi;
use ncut::{Clock, Links, Ncut, Partition};
use proptest::prelude::*;

/// Equation FCD-1: the objective of every choice for one node, computed from scratch.
fn choices(matrix: &[Vec<f64>], labels: &[u32], node: usize, k: usize) -> Vec<f64> {
    (0..k as u32)
        .map(|cluster| {
            let mut labels = labels.to_vec();
            labels[node] = cluster;
            objective(matrix, &labels)
        })
        .collect()
}

/// One move of the brute-force coordinate descent, `None` for staying.
fn brute_force_choice(matrix: &[Vec<f64>], labels: &[u32], node: usize, k: usize) -> Option<u32> {
    if !may_move(matrix, labels, node) {
        return None;
    }
    let own = labels[node];
    let choices = choices(matrix, labels, node, k);
    let mut best = own;
    for cluster in 0..k as u32 {
        // Differences below rounding are ties: staying goes first, then the lowest number.
        if choices[cluster as usize] > choices[best as usize] + 1e-12 {
            best = cluster;
        }
    }
    (best != own).then_some(best)
}

/// A node moves unless it is isolated or its cluster would lose its last node with edges.
fn may_move(matrix: &[Vec<f64>], labels: &[u32], node: usize) -> bool {
    let degrees = degrees(matrix);
    let company = (0..labels.len()).filter(|&other| labels[other] == labels[node] && degrees[other] > 0.0);
    degrees[node] > 0.0 && company.count() > 1
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, max_global_rejects: 100_000, ..ProptestConfig::default() })]

    #[test]
    fn fast_cd_makes_the_moves_of_brute_force((sketch, labels, k) in labelled(14)) {
        let (graph, matrix) = (sketch.graph(), sketch.matrix());
        let mut fast = Partition::new(&graph, labels, k).unwrap();
        let mut links = Links::new(k);
        for _sweep in 0..5 {
            for node in 0..sketch.n_nodes {
                let before = fast.labels().to_vec();
                let slow = brute_force_choice(&matrix, &before, node, k);
                let step = fast.best_move(node as u32, &mut links);
                if let Some(step) = step { fast.apply(step); }
                let fast_choice = step.map(|step| step.to());
                if fast_choice != slow {
                    // Only a tie may be decided otherwise.
                    let values = choices(&matrix, &before, node, k);
                    let own = before[node];
                    let (a, b) = (fast_choice.unwrap_or(own) as usize, slow.unwrap_or(own) as usize);
                    prop_assert!((values[a] - values[b]).abs() <= 1e-12, "{values:?}: {a} or {b}");
                }
            }
        }
    }

    #[test]
    fn a_descent_of_one_sweep_visits_the_nodes_in_order((sketch, labels, k) in labelled(14)) {
        let (graph, matrix) = (sketch.graph(), sketch.matrix());
        let mut fast = Partition::new(&graph, labels.clone(), k).unwrap();
        descend(&mut fast, &StoppingRule { max_sweeps: 1, ..StoppingRule::default() }, &Clock::new());
        let mut slow = labels;
        for node in 0..sketch.n_nodes {
            let mut values = choices(&matrix, &slow, node, k);
            let choice = brute_force_choice(&matrix, &slow, node, k);
            values.sort_by(f64::total_cmp);
            // A tie may be decided otherwise by rounding, and everything after it.
            if may_move(&matrix, &slow, node) && values.len() > 1 {
                prop_assume!(values[values.len() - 1] - values[values.len() - 2] > 1e-11);
            }
            if let Some(cluster) = choice { slow[node] = cluster; }
        }
        prop_assert_eq!(fast.labels(), slow);
    }

    #[test]
    fn n2hi_equals_a_dense_implementation_of_the_paper(sketch in sketches(18), k in 1..18usize) {
        check_n2hi(&sketch, k)?;
    }

    #[test]
    fn n2hi_breaks_ties_as_a_dense_implementation_does(sketch in tied_sketches(18), k in 1..18usize) {
        check_n2hi(&sketch, k)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn no_clustering_exceeds_the_exhaustive_optimum(sketch in sketches(8), k in 1..8usize) {
        prop_assume!(k <= sketch.n_nodes);
        let best = exhaustive_optimum(&sketch, k);
        let found = Ncut::new(k).solve(&sketch.graph()).unwrap();
        prop_assert!(found.objective <= best + 1e-12, "{} exceeds {best}", found.objective);
    }
}

#[test]
fn the_exhaustive_optimum_of_two_triangles_joined_by_a_light_edge_is_found() {
    let triangle = |a, b, c| [(a, b, 1.0), (b, c, 1.0), (a, c, 1.0)];
    let mut edges = [triangle(0, 1, 2), triangle(3, 4, 5)].concat();
    edges.push((2, 3, 0.1));
    let sketch = Sketch { n_nodes: 6, edges };
    let found = Ncut::new(2).solve(&sketch.graph()).unwrap();
    assert_eq!(found.labels, [0, 0, 0, 1, 1, 1]);
    assert!(close(found.objective, exhaustive_optimum(&sketch, 2)));
    assert!(close(found.objective, 2.0 * 6.0 / 6.1));
}

/// The best objective of all labellings into exactly `k` clusters, each with a node of positive degree as
/// long as there are enough of them.
fn exhaustive_optimum(sketch: &Sketch, k: usize) -> f64 {
    let matrix = sketch.matrix();
    let degrees = degrees(&matrix);
    let connected: Vec<usize> = (0..sketch.n_nodes).filter(|&node| degrees[node] > 0.0).collect();
    if k >= connected.len() {
        let labels: Vec<u32> = (0..sketch.n_nodes as u32).collect();
        return objective(&matrix, &labels);
    }
    // Isolated nodes contribute nothing wherever they are: cluster 0.
    let mut labels = vec![0u32; sketch.n_nodes];
    let mut best = f64::NEG_INFINITY;
    visit_partitions(&connected, k, 0, &mut labels, &mut |labels| {
        best = best.max(objective(&matrix, labels));
    });
    best
}

/// Calls `visit` for every way to divide `nodes` into exactly `k` clusters (restricted growth strings).
fn visit_partitions(
    nodes: &[usize],
    k: usize,
    used: usize,
    labels: &mut Vec<u32>,
    visit: &mut dyn FnMut(&[u32]),
) {
    let Some((&node, rest)) = nodes.split_first() else {
        if used == k {
            visit(labels);
        }
        return;
    };
    if used + nodes.len() < k {
        return;
    }
    for label in 0..=used.min(k - 1) {
        labels[node] = label as u32;
        visit_partitions(rest, k, used.max(label + 1), labels, visit);
    }
}

fn check_n2hi(sketch: &Sketch, k: usize) -> Result<(), TestCaseError> {
    let graph = sketch.graph();
    let connected: Vec<usize> = graph.connected_nodes().into_iter().map(|node| node as usize).collect();
    prop_assume!(k <= connected.len());
    let matrix = sketch.matrix();
    let dense: Vec<Vec<f64>> =
        connected.iter().map(|&i| connected.iter().map(|&j| matrix[i][j]).collect()).collect();
    let expected = dense_n2hi(&dense, k);
    let found = n2hi(&graph, k, &Clock::new()).unwrap().labels;
    let found: Vec<u32> = connected.iter().map(|&node| found[node]).collect();
    prop_assert_eq!(canonical(&found), canonical(&expected));
    prop_assert_eq!(found.iter().collect::<BTreeSet<_>>().len(), k);
    Ok(())
}

/// N2HI on a dense matrix without isolated nodes, as the paper writes it.
fn dense_n2hi(matrix: &[Vec<f64>], k: usize) -> Vec<usize> {
    let n = matrix.len();
    let mut coarsest: Vec<usize> = (0..n).collect();
    let mut similarity = matrix.to_vec();
    let mut labels = coarsest.clone();
    loop {
        let level = join_nearest(&similarity);
        let n_after = level.iter().max().unwrap() + 1;
        if n_after == similarity.len() || n_after < k {
            break;
        }
        labels = labels.iter().map(|&label| level[label]).collect();
        similarity = averages(&similarity, &level);
        coarsest = labels.clone();
        if n_after == k {
            return coarsest;
        }
    }
    let mut similarity = averages(matrix, &coarsest);
    let mut volume = vec![0.0; similarity.len()];
    for (node, row) in matrix.iter().enumerate() {
        volume[coarsest[node]] += row.iter().sum::<f64>();
    }
    // Clusters by number; a merged pair keeps the lower one.
    let mut alive: Vec<usize> = (0..similarity.len()).collect();
    let mut linked: Vec<Vec<bool>> =
        similarity.iter().map(|row| row.iter().map(|&weight| weight > 0.0).collect()).collect();
    while alive.len() > k {
        let mut best: Option<(f64, usize, usize)> = None;
        for (place, &u) in alive.iter().enumerate() {
            for &v in &alive[place + 1..] {
                if linked[u][v] && best.is_none_or(|best| similarity[u][v] > best.0) {
                    best = Some((similarity[u][v], u, v));
                }
            }
        }
        let (u, v) = match best {
            Some((_, u, v)) => (u, v),
            None => {
                let mut by_volume = alive.clone();
                by_volume.sort_by(|&a, &b| volume[a].total_cmp(&volume[b]).then(a.cmp(&b)));
                (by_volume[0].min(by_volume[1]), by_volume[0].max(by_volume[1]))
            }
        };
        for &i in &alive {
            let mean = (similarity[i][u] + similarity[i][v]) / 2.0;
            similarity[i][u] = mean;
            similarity[u][i] = mean;
            let link = linked[i][u] || linked[i][v];
            linked[i][u] = link;
            linked[u][i] = link;
        }
        volume[u] += volume[v];
        alive.retain(|&cluster| cluster != v);
        for label in &mut coarsest {
            if *label == v {
                *label = u;
            }
        }
    }
    coarsest
}

/// Components of "my nearest neighbour is you", numbered by first appearance.
fn join_nearest(similarity: &[Vec<f64>]) -> Vec<usize> {
    let n = similarity.len();
    let mut label: Vec<usize> = (0..n).collect();
    for i in 0..n {
        let mut nearest = None;
        for j in (0..n).filter(|&j| j != i && similarity[i][j] > 0.0) {
            if nearest.is_none_or(|best: usize| similarity[i][j] > similarity[i][best]) {
                nearest = Some(j);
            }
        }
        if let Some(j) = nearest {
            let (a, b) = (label[i], label[j]);
            for entry in &mut label {
                if *entry == a {
                    *entry = b;
                }
            }
        }
    }
    canonical(&label)
}

fn averages(matrix: &[Vec<f64>], labels: &[usize]) -> Vec<Vec<f64>> {
    let n = labels.iter().max().unwrap() + 1;
    let mut sums = vec![vec![0.0; n]; n];
    let mut counts = vec![0.0; n];
    for (i, row) in matrix.iter().enumerate() {
        counts[labels[i]] += 1.0;
        for (j, weight) in row.iter().enumerate() {
            sums[labels[i]][labels[j]] += weight;
        }
    }
    for (a, row) in sums.iter_mut().enumerate() {
        for (b, sum) in row.iter_mut().enumerate() {
            *sum /= counts[a] * counts[b];
        }
    }
    // Exactly symmetric, as the library keeps it.
    for a in 0..n {
        for b in 0..a {
            sums[a][b] = sums[b][a];
        }
    }
    sums
}

#[test]
fn a_hub_that_takes_part_in_every_merge_is_no_trouble() {
    // A star has no level with more than one cluster, so its leaves are merged with the hub one by one.
    let n_leaves = 20_000u32;
    let edges = (1..=n_leaves).map(|leaf| (0, leaf, 1.0 + f64::from(leaf) * 1e-6));
    let graph = ncut::Graph::from_edges(n_leaves as usize + 1, edges).unwrap();
    let k = n_leaves as usize / 2;
    let labels = n2hi(&graph, k, &Clock::new()).unwrap().labels;
    let used: BTreeSet<u32> = labels.iter().copied().collect();
    assert_eq!(used.len(), k);
    // The heaviest leaf goes first.
    assert_eq!(labels[0], labels[n_leaves as usize]);
}
