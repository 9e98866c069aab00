//! Models of clustering other than N-Cut, against slow versions written straight from their formulas.
#![cfg(feature = "spectral")]

mod common;

use std::ops::ControlFlow;

use common::{Sketch, canonical, labelled, sketches};
use faer::{Mat, Side};
use ncut::spectral::{BalancedCut, Distance, LaplacianRank};
use ncut::synthetic::Planted;
use ncut::{Clock, Error, Graph};
use proptest::prelude::*;

type Matrix = Vec<Vec<f64>>;

fn without_diagonal(sketch: &Sketch) -> Matrix {
    let mut matrix = sketch.matrix();
    (0..matrix.len()).for_each(|i| matrix[i][i] = 0.0);
    matrix
}

/// Components by a walk, among nodes that have neighbours; -1 for the others.
fn components(matrix: &Matrix) -> (Vec<i64>, usize) {
    let (mut labels, mut count) = (vec![-1; matrix.len()], 0);
    for first in 0..matrix.len() {
        if labels[first] >= 0 || matrix[first].iter().all(|&weight| weight == 0.0) {
            continue;
        }
        let mut stack = vec![first];
        while let Some(node) = stack.pop() {
            labels[node] = count;
            stack.extend((0..matrix.len()).filter(|&next| matrix[node][next] > 0.0 && labels[next] < 0));
        }
        count += 1;
    }
    (labels, count as usize)
}

/// The eigenvectors of the `k` smallest eigenvalues of the Laplacian, nodes without neighbours left aside: their rows are zeros.
/// `None` where the next eigenvalue is as small: any vectors of both are right.
fn smallest_eigenvectors(matrix: &Matrix, is_linked: &[bool], k: usize) -> Option<Matrix> {
    let nodes: Vec<usize> = (0..matrix.len()).filter(|&node| is_linked[node]).collect();
    let laplacian = Mat::from_fn(nodes.len(), nodes.len(), |r, c| {
        let degree: f64 = if r == c { matrix[nodes[r]].iter().sum() } else { 0.0 };
        degree - matrix[nodes[r]][nodes[c]]
    });
    let eigen = laplacian.self_adjoint_eigen(Side::Lower).unwrap();
    let values = eigen.S().column_vector();
    if k < nodes.len() && values[k] - values[k - 1] < 1e-7 {
        return None;
    }
    let mut rows = vec![vec![0.0; k]; matrix.len()];
    for (place, &node) in nodes.iter().enumerate() {
        rows[node] = (0..k).map(|c| eigen.U()[(place, c)]).collect();
    }
    Some(rows)
}

/// The `x` from 0 up that add up to 1, with the least `sum stiff (x - value)^2`, by halving the interval of the multiplier.
/// `None` where one is 0 but for rounding.
fn projection(values: &[f64], stiff: &[f64]) -> Option<Vec<f64>> {
    let at = |t: f64| values.iter().zip(stiff).map(move |(v, s)| (v - t / s).max(0.0)).collect::<Vec<_>>();
    let (mut low, mut high) = (-1e6, 1e6);
    let reach = values.iter().zip(stiff).map(|(v, s)| (v.abs() + 1.0) * s).fold(1.0, f64::max);
    (low, high) = (low - 2.0 * reach, high + 2.0 * reach);
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if at(middle).iter().sum::<f64>() > 1.0 { low = middle } else { high = middle }
    }
    let t = f64::midpoint(low, high);
    let is_doubtful = values.iter().zip(stiff).any(|(v, s)| (v - t / s).abs() < 1e-8);
    (!is_doubtful).then(|| at(t))
}

struct Slow {
    symmetric: Matrix,
    labels: Vec<i64>,
    n_components: usize,
    rounds: usize,
}

/// The matrix with its weights changed in their eleventh digit, in a few ways. Where that leads to another result, rounding
/// decides, and a sum in another order may do the same: the l1 distance divides by differences that are next to nothing.
fn nudged(matrix: &Matrix) -> impl Iterator<Item = Matrix> {
    [(1e-10, -1e-10), (-1e-10, 0.0), (3e-11, 1e-10)].into_iter().map(|(odd, even)| {
        let nudge = |i: usize, j: usize| 1.0 + if (i * j + i + j) % 2 == 1 { odd } else { even };
        let row = |i: usize| matrix[i].iter().enumerate().map(|(j, weight)| weight * nudge(i, j)).collect();
        (0..matrix.len()).map(row).collect()
    })
}

/// CLR as the formulas have it. `None` where rounding decides.
fn steady_clr(given: &Matrix, k: usize, distance: Distance) -> Option<Slow> {
    let exact = slow_clr(given, k, distance)?;
    for near in nudged(given) {
        let near = slow_clr(&near, k, distance)?;
        let weights = exact.symmetric.iter().flatten().zip(near.symmetric.iter().flatten());
        if weights.into_iter().any(|(a, b)| (a - b).abs() > 1e-7) || near.rounds != exact.rounds {
            return None;
        }
    }
    Some(exact)
}

/// SBMC as the formulas have it. `None` where rounding decides.
fn steady_sbmc(matrix: &Matrix, k: usize, start: &[u32]) -> Option<Vec<u32>> {
    let exact = slow_sbmc(matrix, k, start)?;
    nudged(matrix).all(|near| slow_sbmc(&near, k, start).as_ref() == Some(&exact)).then_some(exact)
}

/// CLR as the formulas have it, 20 rounds at most. `None` where rounding decides.
fn slow_clr(given: &Matrix, k: usize, distance: Distance) -> Option<Slow> {
    let n = given.len();
    let is_linked: Vec<bool> = given.iter().map(|row| row.iter().any(|&weight| weight > 0.0)).collect();
    let mut stiff = vec![vec![1.0; n]; n];
    let mut smooth = smallest_eigenvectors(given, &is_linked, k)?;
    let mut lambda = 0.1;
    for rounds in 1.. {
        let mut learned = vec![vec![0.0; n]; n];
        for i in 0..n {
            let links: Vec<usize> = (0..n).filter(|&j| given[i][j] > 0.0).collect();
            if links.is_empty() {
                continue;
            }
            let cost = |j: usize| smooth[i].iter().zip(&smooth[j]).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
            let row_stiff: Vec<f64> = links.iter().map(|&j| stiff[i][j]).collect();
            let values: Vec<f64> =
                links.iter().map(|&j| given[i][j] - lambda * cost(j) / (2.0 * stiff[i][j])).collect();
            for (&j, weight) in links.iter().zip(projection(&values, &row_stiff)?) {
                learned[i][j] = weight;
                if distance == Distance::L1 {
                    stiff[i][j] = 0.5 / ((weight - given[i][j]).powi(2) + f64::EPSILON).sqrt();
                }
            }
        }
        let mean = |i: usize, j: usize| f64::midpoint(learned[i][j], learned[j][i]);
        let symmetric: Matrix = (0..n).map(|i| (0..n).map(|j| mean(i, j)).collect()).collect();
        let (labels, n_components) = components(&symmetric);
        if n_components == k || rounds == 20 {
            return Some(Slow { symmetric, labels, n_components, rounds });
        }
        if n_components < k {
            lambda *= 2.0;
            smooth = smallest_eigenvectors(&symmetric, &is_linked, k)?;
        } else {
            lambda /= 2.0;
        }
    }
    unreachable!("the rounds end");
}

/// SBMC with every matrix written out; one `s` after the other. `None` where rounding decides between equals: nodes without
/// edges have equal rows, and a sum in another order may give another label.
fn slow_sbmc(matrix: &Matrix, k: usize, start: &[u32]) -> Option<Vec<u32>> {
    let n = matrix.len();
    let volume: f64 = matrix.iter().flatten().sum();
    let mean_degree = if volume > 0.0 { volume / n as f64 } else { 1.0 };
    let mut best = start.to_vec();
    for _round in 0..50 {
        let (scale, before) = best_scale(matrix, k, &best);
        let theta: Matrix = (0..n).map(|i| (0..n).map(|j| scale / 2.0 - matrix[i][j]).collect()).collect();
        let mut y = indicators(&best, k);
        let mut multipliers = vec![vec![0.0; k]; n];
        let mut penalty = mean_degree;
        let mut labels = best.clone();
        for _step in 0..300 {
            let product = times(&theta, &y);
            let g: Matrix = (0..n)
                .map(|i| (0..k).map(|c| y[i][c] + (multipliers[i][c] - product[i][c]) / penalty).collect())
                .collect();
            let product = times(&theta, &g);
            let target: Matrix = (0..n)
                .map(|i| (0..k).map(|c| g[i][c] - (multipliers[i][c] + product[i][c]) / penalty).collect())
                .collect();
            labels = nearest_indicators(&target, k)?;
            y = indicators(&labels, k);
            let mut residual = 0.0;
            for i in 0..n {
                for c in 0..k {
                    residual += (y[i][c] - g[i][c]).powi(2);
                    multipliers[i][c] += penalty * (y[i][c] - g[i][c]);
                }
            }
            if residual.sqrt() <= 1e-6 {
                break;
            }
            penalty *= 1.5;
        }
        if best_scale(matrix, k, &labels).1 <= before {
            break;
        }
        best = labels;
    }
    Some(best)
}

fn indicators(labels: &[u32], k: usize) -> Matrix {
    labels.iter().map(|&label| (0..k).map(|c| f64::from(u8::from(c == label as usize))).collect()).collect()
}

fn times(left: &Matrix, right: &Matrix) -> Matrix {
    let column = |c: usize| right.iter().map(move |row| row[c]);
    left.iter()
        .map(|row| (0..right[0].len()).map(|c| row.iter().zip(column(c)).map(|(a, b)| a * b).sum()).collect())
        .collect()
}

/// The largest of each row; an empty cluster takes the node nearest to it from one that has others. `None` where two are as
/// large but for rounding.
fn nearest_indicators(target: &Matrix, k: usize) -> Option<Vec<u32>> {
    let is_tied = |values: &[f64]| {
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let nearly = 1e-7 * most.abs().max(1.0);
        values.iter().filter(|&&value| most - value <= nearly).count() > 1
    };
    let mut labels: Vec<u32> = Vec::new();
    for row in target {
        if is_tied(row) {
            return None;
        }
        let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        labels.push(row.iter().position(|&value| value == most).unwrap() as u32);
    }
    for empty in 0..k as u32 {
        let size = |labels: &[u32], label: u32| labels.iter().filter(|&&other| other == label).count();
        if size(&labels, empty) == 0 {
            let may_leave = (0..labels.len()).filter(|&node| size(&labels, labels[node]) > 1);
            let at = |node: usize| target[node][empty as usize];
            if is_tied(&may_leave.clone().map(at).collect::<Vec<f64>>()) {
                return None;
            }
            let node = may_leave.reduce(|a, b| if at(b) > at(a) { b } else { a }).unwrap();
            labels[node] = empty;
        }
    }
    Some(labels)
}

/// The `s` with the least `|A - s Y Y^T|^2`, and by how much that is less than with `s = 0`.
fn best_scale(matrix: &Matrix, k: usize, labels: &[u32]) -> (f64, f64) {
    let inside: f64 = (0..matrix.len())
        .flat_map(|i| (0..matrix.len()).map(move |j| (i, j)))
        .filter(|&(i, j)| labels[i] == labels[j])
        .map(|(i, j)| matrix[i][j])
        .sum();
    let size = |c: u32| labels.iter().filter(|&&label| label == c).count() as f64;
    let scale = inside / (0..k as u32).map(|c| size(c).powi(2)).sum::<f64>();
    let distance = |scale: f64| -> f64 {
        let model = |i: usize, j: usize| if labels[i] == labels[j] { scale } else { 0.0 };
        let n = matrix.len();
        (0..n)
            .flat_map(|i| (0..n).map(move |j| (i, j)))
            .map(|(i, j)| (matrix[i][j] - model(i, j)).powi(2))
            .sum()
    };
    (scale, distance(0.0) - distance(scale))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, max_global_rejects: 100_000, ..ProptestConfig::default() })]

    #[test]
    fn clr_equals_a_dense_implementation_of_its_formulas(sketch in sketches(14), k in 1..5usize, is_l1: bool) {
        let matrix = without_diagonal(&sketch);
        let (given, n_given) = components(&matrix);
        let n_linked = given.iter().filter(|&&label| label >= 0).count();
        prop_assume!(n_given >= 1 && n_given <= k && k <= n_linked);
        let distance = if is_l1 { Distance::L1 } else { Distance::L2 };
        let slow = steady_clr(&matrix, k, distance);
        prop_assume!(slow.is_some());
        let slow = slow.unwrap();
        let settings = LaplacianRank { max_rounds: 20, ..LaplacianRank::new(k, distance) };
        let fast = settings.run(&sketch.graph(), &Clock::new()).unwrap();
        prop_assert_eq!((fast.rounds, fast.n_components), (slow.rounds, slow.n_components));
        for (from, row) in slow.symmetric.iter().enumerate() {
            for (to, &weight) in row.iter().enumerate() {
                let learned = fast.graph.neighbors(from as u32).find(|link| link.0 == to as u32);
                let learned = learned.map_or(0.0, |link| link.1);
                prop_assert!((learned - weight).abs() < 1e-6, "({from}, {to}): {learned}, not {weight}");
            }
        }
        let linked = |labels: Vec<i64>| -> Vec<i64> {
            labels.into_iter().zip(&given).filter(|(_, given)| **given >= 0).map(|(label, _)| label).collect()
        };
        let labels: Vec<i64> = fast.labels.iter().map(|&label| i64::from(label)).collect();
        prop_assert_eq!(canonical(&linked(labels)), canonical(&linked(slow.labels)));
    }

    #[test]
    fn a_learned_graph_has_rows_of_weight_1_and_no_new_link(sketch in sketches(30), k in 1..6usize, is_l1: bool) {
        let matrix = without_diagonal(&sketch);
        let (given, n_given) = components(&matrix);
        let n_linked = given.iter().filter(|&&label| label >= 0).count();
        prop_assume!(n_given >= 1 && n_given <= k && k <= n_linked);
        let distance = if is_l1 { Distance::L1 } else { Distance::L2 };
        let learned = LaplacianRank::new(k, distance).run(&sketch.graph(), &Clock::new()).unwrap();
        prop_assert!((learned.graph.volume() - n_linked as f64).abs() < 1e-9 * n_linked as f64);
        for (from, to, _) in learned.graph.edges() {
            prop_assert!(from != to && matrix[from as usize][to as usize] > 0.0);
        }
        // Components that a walk finds, numbered by first appearance, are the labels.
        let mut found = vec![vec![0.0; sketch.n_nodes]; sketch.n_nodes];
        for (from, to, weight) in learned.graph.edges() {
            found[from as usize][to as usize] = weight;
            found[to as usize][from as usize] = weight;
        }
        let (walked, count) = components(&found);
        prop_assert_eq!(count, learned.n_components);
        for (a, b) in (0..sketch.n_nodes).flat_map(|a| (0..a).map(move |b| (a, b))) {
            if walked[a] >= 0 && walked[b] >= 0 {
                prop_assert_eq!(walked[a] == walked[b], learned.labels[a] == learned.labels[b]);
            }
        }
        prop_assert_eq!(canonical(&learned.labels), learned.labels.iter().map(|&label| label as usize).collect::<Vec<_>>());
    }

    #[test]
    fn sbmc_equals_a_dense_implementation_of_its_formulas((sketch, labels, k) in labelled(14)) {
        prop_assume!((0..k as u32).all(|label| labels.contains(&label)));
        let matrix = sketch.matrix();
        let fast = BalancedCut::default().run(&sketch.graph(), k, &labels, &Clock::new()).unwrap();
        let slow = steady_sbmc(&matrix, k, &labels);
        prop_assume!(slow.is_some());
        // Of two rounds that fit alike but for rounding either may be the last.
        let slow = slow.unwrap();
        let (fast_fit, slow_fit) = (best_scale(&matrix, k, &fast.labels).1, best_scale(&matrix, k, &slow).1);
        prop_assert!(fast.labels == slow || (fast_fit - slow_fit).abs() < 1e-9, "{fast_fit} and {slow_fit}");
        prop_assert!((fast.fit - fast_fit).abs() < 1e-9);
    }

    #[test]
    fn sbmc_ends_together_with_all_clusters_and_no_worse_a_fit((sketch, labels, k) in labelled(40)) {
        prop_assume!((0..k as u32).all(|label| labels.contains(&label)));
        let matrix = sketch.matrix();
        let settings = BalancedCut::default();
        let found = settings.run(&sketch.graph(), k, &labels, &Clock::new()).unwrap();
        prop_assert!(found.residual <= settings.tolerance, "{}", found.residual);
        prop_assert!((0..k as u32).all(|label| found.labels.contains(&label)));
        prop_assert!(found.fit >= best_scale(&matrix, k, &labels).1 - 1e-9);
        // The fit is at most all there is.
        prop_assert!(found.fit <= matrix.iter().flatten().map(|weight| weight * weight).sum::<f64>() + 1e-9);
    }
}

fn planted() -> Graph<'static> {
    Planted::new(1500, 6).graph(3).unwrap().graph
}

fn start(n_nodes: usize, k: u32) -> Vec<u32> {
    (0..n_nodes as u32).map(|node| node % k).collect()
}

#[test]
fn both_models_are_the_same_with_any_number_of_threads() {
    let graph = planted();
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let clr = || {
        let learned = LaplacianRank::new(8, Distance::L2).run(&graph, &Clock::new()).unwrap();
        (learned.labels, learned.rounds, learned.lambda)
    };
    let sbmc = || BalancedCut::default().run(&graph, 8, &start(1500, 8), &Clock::new()).unwrap();
    let expected = (pool(1).install(clr), pool(1).install(sbmc));
    assert_eq!((pool(3).install(clr), pool(3).install(sbmc)), expected);
    assert_eq!(expected.0.0.iter().max(), Some(&7), "more clusters than were planted are made");
}

#[test]
fn both_models_stop_when_told() {
    let graph = planted();
    for n_reports in [0, 1, 5] {
        let mut left = n_reports;
        let clock = Clock::observed(move |_| {
            left -= 1;
            if left < 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let clock = clock.calling_every(std::time::Duration::ZERO);
        let stopped = LaplacianRank::new(8, Distance::L1).run(&graph, &clock);
        assert!(matches!(stopped, Err(Error::Stopped { .. })), "CLR after {n_reports} reports");
        let stopped = BalancedCut::default().run(&graph, 8, &start(1500, 8), &clock);
        assert!(matches!(stopped, Err(Error::Stopped { .. })), "SBMC on a clock that has said stop");
    }
}

#[test]
fn what_neither_model_can_do_is_refused_with_the_remedy() {
    let two = Graph::from_edges(5, [(0, 1, 1.0), (2, 3, 1.0)]).unwrap();
    let clr = |k| LaplacianRank::new(k, Distance::L2).run(&two, &Clock::new());
    let message = clr(1).unwrap_err().to_string();
    assert!(
        message.contains("the graph has 2 components and CLR joins none; ask for at least as many"),
        "{message}"
    );
    let message = clr(5).unwrap_err().to_string();
    assert!(message.contains("5 clusters were asked of 4 nodes with neighbours"), "{message}");
    assert!(clr(0).is_err());
    // Every node keeps a link: more components than pairs there cannot be, and the result says so.
    let learned = clr(4).unwrap();
    assert_eq!((learned.n_components, learned.rounds), (2, 100));
    // The isolated node joins the first of the largest components.
    assert_eq!(clr(2).unwrap().labels, [0, 0, 1, 1, 0]);
    let nowhere = LaplacianRank { first_lambda: f64::NAN, ..LaplacianRank::new(2, Distance::L2) };
    let message = nowhere.run(&two, &Clock::new()).unwrap_err().to_string();
    assert_eq!(message, "the first lambda is NaN; it must be a positive number");

    let sbmc = |settings: BalancedCut, labels: &[u32]| settings.run(&two, 2, labels, &Clock::new());
    let message = sbmc(BalancedCut::default(), &[0, 0, 0, 0, 0]).unwrap_err().to_string();
    assert_eq!(message, "starting cluster 1 is empty");
    assert!(sbmc(BalancedCut::default(), &[0, 1]).is_err());
    assert!(BalancedCut::default().run(&two, 0, &[0; 5], &Clock::new()).is_err());
    for (settings, expected) in [
        (
            BalancedCut { growth: 1.0, ..BalancedCut::default() },
            "the growth of the penalty is 1; it must be above 1",
        ),
        (
            BalancedCut { first_penalty: -1.0, ..BalancedCut::default() },
            "the first penalty is -1; it must be a positive number",
        ),
        (
            BalancedCut { tolerance: 0.0, ..BalancedCut::default() },
            "the tolerance is 0; it must be a positive number",
        ),
    ] {
        assert_eq!(sbmc(settings, &[0, 1, 0, 1, 0]).unwrap_err().to_string(), expected);
    }
    let clock = Clock::new();
    clock.allow_memory(1 << 20);
    assert!(matches!(
        LaplacianRank::new(2, Distance::L1).run(&two, &clock),
        Err(Error::TooLittleMemory { .. })
    ));
    assert!(matches!(
        BalancedCut::default().run(&two, 2, &[0, 1, 0, 1, 0], &clock),
        Err(Error::TooLittleMemory { .. })
    ));
}
