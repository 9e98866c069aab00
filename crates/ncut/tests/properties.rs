//! What holds for every graph.

mod common;

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::time::Duration;

use common::{
    canonical, close, degrees, labelled, labelled_with_wild_weights, objective, sketches, tied_sketches,
};
use ncut::descent::{StoppingRule, descend};
use ncut::hierarchy::n2hi;
use ncut::{Clock, CutScore, Graph, Label, Links, Ncut, Partition, StopReason, Symmetrize, Weights};
use proptest::prelude::*;

proptest! {
    #[test]
    fn the_gain_of_a_move_is_the_change_of_the_objective((sketch, labels, k) in labelled(12), node: u32, to: u32) {
        let (graph, matrix) = (sketch.graph(), sketch.matrix());
        let partition = Partition::new(&graph, labels.clone(), k).unwrap();
        let (node, to) = (node % sketch.n_nodes as u32, to % k as u32);
        let mut moved = labels.clone();
        moved[node as usize] = to;
        let change = objective(&matrix, &moved) - objective(&matrix, &labels);
        prop_assert!(close(partition.gain(node, to), change));
    }

    #[test]
    fn the_best_move_is_the_best_of_all_clusters((sketch, labels, k) in labelled(12), node: u32) {
        let graph = sketch.graph();
        let partition = Partition::new(&graph, labels, k).unwrap();
        let node = node % sketch.n_nodes as u32;
        let alone = partition.size(partition.labels()[node as usize]) <= 1 || graph.degree(node) == 0.0;
        let best = (0..k as u32).map(|to| partition.gain(node, to)).fold(0.0, f64::max);
        match partition.best_move(node, &mut Links::new(k)) {
            Some(step) => {
                prop_assert!(!alone && step.gain() > 0.0);
                prop_assert!(close(step.gain(), best) && close(step.gain(), partition.gain(node, step.to())));
            }
            None => prop_assert!(alone || best <= 1e-12),
        }
    }

    #[test]
    fn tracked_sums_equal_fresh_sums((sketch, labels, k) in labelled(12), steps in prop::collection::vec((any::<u32>(), any::<u32>()), 0..60)) {
        let graph = sketch.graph();
        let mut partition = Partition::new(&graph, labels, k).unwrap();
        for (node, to) in steps {
            if let Some(step) = partition.move_to(node % sketch.n_nodes as u32, to % k as u32) {
                partition.apply(step);
            }
        }
        let fresh = Partition::new(&graph, partition.labels().to_vec(), k).unwrap();
        for cluster in 0..k as u32 {
            prop_assert!(close(partition.association(cluster), fresh.association(cluster)));
            prop_assert!(close(partition.volume(cluster), fresh.volume(cluster)));
            prop_assert_eq!(partition.size(cluster), fresh.size(cluster));
        }
        prop_assert!(close(partition.objective(), objective(&sketch.matrix(), partition.labels())));
    }

    #[test]
    fn the_objective_never_falls_within_a_run((sketch, labels, k) in labelled(30)) {
        let graph = sketch.graph();
        let mut partition = Partition::new(&graph, labels, k).unwrap();
        let mut seen = vec![partition.objective()];
        let clock = Clock::observed(|progress| {
            seen.extend(progress.objective);
            ControlFlow::Continue(())
        });
        descend(&mut partition, &StoppingRule::default(), &clock.calling_every(Duration::ZERO));
        prop_assert!(seen.len() > 2);
        prop_assert!(seen.windows(2).all(|pair| pair[1] >= pair[0] - 1e-12));
    }

    /// The objective computed from the graph, not the one the descent keeps.
    #[test]
    fn a_descent_gains_what_it_says_whatever_the_weights((sketch, labels, k) in labelled_with_wild_weights(12)) {
        let (graph, matrix) = (sketch.graph(), sketch.matrix());
        let before = objective(&matrix, &labels);
        let mut partition = Partition::new(&graph, labels, k).unwrap();
        let rule = StoppingRule { max_sweeps: 200, tolerance: 0.0 };
        let descent = descend(&mut partition, &rule, &Clock::new());
        let after = objective(&matrix, partition.labels());
        prop_assert!(after >= before - 1e-9, "fell from {before} to {after}");
        prop_assert!(close(partition.objective(), after));
        // With sums made afresh no move gains what it had missed. (One that gains a last bit may open the way to more.)
        if descent.stop_reason == StopReason::LocalOptimum {
            let again = Partition::new(&graph, partition.labels().to_vec(), k).unwrap();
            let mut links = Links::new(k);
            for node in 0..sketch.n_nodes as u32 {
                let gain = again.best_move(node, &mut links).map_or(0.0, |step| step.gain());
                prop_assert!(gain <= 1e-9, "node {node} gains {gain} from {after}");
            }
        }
    }

    #[test]
    fn a_descent_without_limits_ends_where_no_move_helps((sketch, labels, k) in labelled(20)) {
        let graph = sketch.graph();
        let mut partition = Partition::new(&graph, labels, k).unwrap();
        let rule = StoppingRule { max_sweeps: 1000, tolerance: 0.0 };
        descend(&mut partition, &rule, &Clock::new());
        let mut links = Links::new(k);
        for node in 0..sketch.n_nodes as u32 {
            let step = partition.best_move(node, &mut links);
            prop_assert!(step.is_none_or(|step| step.gain() < 1e-12));
        }
    }

    #[test]
    fn contraction_by_sums_keeps_the_objective(
        (sketch, groups, n_groups) in labelled(14), names in prop::collection::vec(0..3u32, 6)
    ) {
        // Groups that occur, numbered without gaps, and a labelling of the groups.
        let groups = canonical(&groups);
        let n_used = groups.iter().max().unwrap() + 1;
        prop_assume!(n_used <= n_groups);
        let group_of: Vec<u32> = groups.iter().map(|&group| group as u32).collect();
        let (fine, coarse) = (sketch.graph(), sketch.graph().contract(&group_of, n_used).unwrap());
        let coarse_labels: Vec<Label> = names[..n_used].iter().map(|&name| name as Label).collect();
        let fine_labels: Vec<Label> = groups.iter().map(|&group| coarse_labels[group]).collect();
        let (fine_score, coarse_score) =
            (CutScore::new(&fine, &fine_labels).unwrap(), CutScore::new(&coarse, &coarse_labels).unwrap());
        prop_assert!(close(fine_score.objective, coarse_score.objective));
        prop_assert!(close(fine.volume(), coarse.volume()));
    }

    #[test]
    fn contraction_by_averages_is_the_mean_over_pairs_of_nodes((sketch, groups, _) in labelled(14)) {
        let groups = canonical(&groups);
        let n_used = groups.iter().max().unwrap() + 1;
        let group_of: Vec<u32> = groups.iter().map(|&group| group as u32).collect();
        let (matrix, coarse) = (sketch.matrix(), sketch.graph().contract_average(&group_of, n_used).unwrap());
        for a in 0..n_used {
            for b in 0..n_used {
                let members = |group| -> Vec<usize> { (0..groups.len()).filter(|&node| groups[node] == group).collect() };
                let (rows, columns) = (members(a), members(b));
                let pairs: Vec<f64> = rows.iter().flat_map(|&i| columns.iter().map(|&j| matrix[i][j]).collect::<Vec<_>>()).collect();
                let mean = pairs.iter().sum::<f64>() / pairs.len() as f64;
                let stored = coarse.neighbors(a as u32).find(|&(other, _)| other as usize == b).map_or(0.0, |(_, w)| w);
                prop_assert!(a == b || close(stored, mean));
            }
        }
    }

    #[test]
    fn renaming_clusters_changes_nothing_but_names((sketch, labels, k) in labelled(16), shift: u32) {
        let graph = sketch.graph();
        let name = |label: u32| (label + shift % k as u32) % k as u32;
        let mut plain = Partition::new(&graph, labels.clone(), k).unwrap();
        let mut renamed = Partition::new(&graph, labels.into_iter().map(name).collect(), k).unwrap();
        let mut links = Links::new(k);
        'run: for _sweep in 0..4 {
            for node in 0..sketch.n_nodes as u32 {
                let (a, b) = (plain.best_move(node, &mut links), renamed.best_move(node, &mut links));
                prop_assert!(close(a.map_or(0.0, |step| step.gain()), b.map_or(0.0, |step| step.gain())));
                if a.map(|step| name(step.to())) != b.map(|step| step.to()) {
                    // Equally good clusters: the lowest number decides, which is a name.
                    break 'run;
                }
                if let (Some(a), Some(b)) = (a, b) {
                    plain.apply(a);
                    renamed.apply(b);
                }
            }
        }
        prop_assert!(close(plain.objective(), renamed.objective()));
    }

    #[test]
    fn permuting_the_nodes_of_a_graph_without_ties_permutes_n2hi(
        (sketch, order) in sketches(16).prop_flat_map(|sketch| {
            let order: Vec<u32> = (0..sketch.n_nodes as u32).collect();
            (Just(sketch), Just(order).prop_shuffle())
        }),
        k in 1..16usize,
    ) {
        let (graph, permuted) = (sketch.graph(), sketch.renamed(&order).graph());
        let n_connected = graph.n_nodes() - graph.n_isolated();
        prop_assume!(k <= n_connected);
        let labels = n2hi(&graph, k, &Clock::new()).unwrap().labels;
        let other = n2hi(&permuted, k, &Clock::new()).unwrap().labels;
        let connected: Vec<u32> = graph.connected_nodes();
        let here: Vec<u32> = connected.iter().map(|&node| labels[node as usize]).collect();
        let there: Vec<u32> = connected.iter().map(|&node| other[order[node as usize] as usize]).collect();
        prop_assert_eq!(canonical(&here), canonical(&there));
        let as_permuted: Vec<u32> = {
            let mut moved = vec![0; labels.len()];
            for (node, &label) in labels.iter().enumerate() { moved[order[node] as usize] = label; }
            moved
        };
        let permuted_matrix = sketch.renamed(&order).matrix();
        prop_assert!(close(objective(&sketch.matrix(), &labels), objective(&permuted_matrix, &as_permuted)));
    }

    #[test]
    fn two_runs_are_identical(sketch in tied_sketches(24), k in 1..24usize) {
        prop_assume!(k <= sketch.n_nodes);
        let solve = || Ncut::new(k).solve(&sketch.graph()).unwrap();
        prop_assert_eq!(solve(), solve());
    }

    #[test]
    fn exactly_k_clusters_come_back_and_isolated_nodes_are_no_clusters(sketch in tied_sketches(20), k in 1..20usize) {
        prop_assume!(k <= sketch.n_nodes);
        let found = Ncut::new(k).solve(&sketch.graph()).unwrap();
        let degrees = degrees(&sketch.matrix());
        let n_connected = degrees.iter().filter(|&&degree| degree > 0.0).count();
        let used: BTreeSet<Label> = found.labels.iter().copied().collect();
        prop_assert_eq!(used, (0..k as Label).collect());
        let with_edges: BTreeSet<Label> =
            found.labels.iter().zip(&degrees).filter(|&(_, &degree)| degree > 0.0).map(|(&label, _)| label).collect();
        prop_assert_eq!(with_edges.len(), k.min(n_connected));
        prop_assert_eq!(canonical(&found.labels), found.labels.iter().map(|&l| l as usize).collect::<Vec<_>>());
        let labels: Vec<u32> = found.labels.iter().map(|&label| label as u32).collect();
        prop_assert!(close(found.objective, objective(&sketch.matrix(), &labels)));
        prop_assert!((found.ncut - (k as f64 - found.objective)).abs() < 1e-12 * k as f64);
    }

    #[test]
    fn stopping_at_any_moment_gives_exactly_k_clusters(sketch in sketches(24), k in 1..24usize, patience in 0..6usize) {
        prop_assume!(k <= sketch.n_nodes);
        let mut calls = 0;
        let found = Ncut::new(k).solve_by(&sketch.graph(), &Clock::observed(|_| {
            calls += 1;
            if calls > patience { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }));
        let used: BTreeSet<Label> = found.unwrap().labels.into_iter().collect();
        prop_assert_eq!(used, (0..k as Label).collect());
    }

    #[test]
    fn a_warm_start_never_ends_below_where_it_began((sketch, labels, k) in labelled(16)) {
        // A start in which isolated nodes are clusters has to be repaired, which may cost.
        let degrees = degrees(&sketch.matrix());
        let used: BTreeSet<u32> =
            labels.iter().zip(&degrees).filter(|&(_, &degree)| degree > 0.0).map(|(&label, _)| label).collect();
        prop_assume!(used.len() == k);
        let init: Vec<Label> = labels.iter().map(|&label| label as Label).collect();
        let found = Ncut::new(k).min_share(0.0).init(init).solve(&sketch.graph()).unwrap();
        prop_assert!(found.objective >= objective(&sketch.matrix(), &labels) - 1e-12);
        prop_assert_eq!(found.clusters.len(), k);
    }

    #[test]
    fn a_warm_start_with_gaps_is_completed((sketch, labels, k) in labelled(16), gaps: u16) {
        let mut init: Vec<Label> = labels.iter().map(|&label| label as Label).collect();
        for node in 0..init.len() {
            if gaps >> node & 1 == 1 { init[node] = -1; }
        }
        let used: BTreeSet<Label> = init.iter().copied().filter(|&label| label >= 0).collect();
        prop_assume!(used.len() == k);
        let found = Ncut::new(k).init(init).solve(&sketch.graph()).unwrap();
        prop_assert_eq!(found.clusters.len(), k);
    }

    #[test]
    fn a_matrix_and_its_edges_make_the_same_graph(sketch in sketches(12)) {
        let (graph, matrix) = (sketch.graph(), sketch.matrix());
        let mut offsets = vec![0u64];
        let (mut columns, mut weights) = (Vec::new(), Vec::new());
        for row in &matrix {
            // Reversed, and with the zeros: the constructor must sort and drop.
            for (column, &weight) in row.iter().enumerate().rev() {
                columns.push(column as u32);
                weights.push(weight);
            }
            offsets.push(columns.len() as u64);
        }
        let other = Graph::from_csr(offsets, columns, Weights::F64(weights.into()), Symmetrize::Refuse).unwrap();
        prop_assert_eq!(graph.offsets(), other.offsets());
        prop_assert_eq!(graph.columns(), other.columns());
        for node in 0..sketch.n_nodes as u32 {
            prop_assert!(close(graph.degree(node), other.degree(node)));
            prop_assert!(close(graph.self_loop(node), matrix[node as usize][node as usize]));
        }
    }

    #[test]
    fn symmetrizing_is_elementwise(rows in prop::collection::vec(prop::collection::vec(0..4u8, 5), 5)) {
        let entries: Vec<(u32, u32)> = (0..25).map(|place| (place / 5, place % 5)).collect();
        let weights: Vec<f64> = rows.concat().into_iter().map(f64::from).collect();
        let at = |i: usize, j: usize| f64::from(rows[i][j]);
        for (how, expected) in [
            (Symmetrize::Average, (|a, b| (a + b) / 2.0) as fn(f64, f64) -> f64),
            (Symmetrize::Max, f64::max),
        ] {
            let graph = Graph::from_entries(5, &entries, &Weights::F64((&weights).into()), how).unwrap();
            for i in 0..5 {
                for j in 0..5 {
                    let stored = if i == j {
                        graph.self_loop(i as u32)
                    } else {
                        graph.neighbors(i as u32).find(|&(other, _)| other as usize == j).map_or(0.0, |(_, w)| w)
                    };
                    prop_assert_eq!(stored, expected(at(i, j), at(j, i)));
                }
            }
        }
        let symmetric = (0..5).all(|i| (0..5).all(|j| at(i, j) == at(j, i)));
        prop_assert_eq!(Graph::from_entries(5, &entries, &Weights::F64((&weights).into()), Symmetrize::Refuse).is_ok(), symmetric);
    }
}
