//! Known labels, pairs together and apart, shares and weights of nodes: beside all labellings of small graphs, and in the
//! regime of large ones.

mod common;

use common::{Sketch, tied_sketches};
use ncut::{Clustering, Constraints, Graph, Label, Limits, Ncut, ObjectiveKind, Preset};
use proptest::prelude::*;

const PRESETS: [Preset; 3] = [Preset::Fast, Preset::Default, Preset::Best];

/// Wishes about a graph as anyone would write them down.
#[derive(Clone, Debug, Default)]
struct Wishes {
    n_clusters: usize,
    fixed: Option<Vec<Label>>,
    must_link: Vec<(u32, u32)>,
    cannot_link: Vec<(u32, u32)>,
    min_share: f64,
    max_share: Option<f64>,
    weights: Option<Vec<f64>>,
}

impl Wishes {
    fn constraints(&self) -> Constraints {
        let asked = Constraints::new()
            .must_link(self.must_link.iter().copied())
            .cannot_link(self.cannot_link.iter().copied());
        let asked = match &self.fixed {
            Some(fixed) => asked.fixed(fixed.clone()),
            None => asked,
        };
        let asked = match self.max_share {
            Some(max_share) => asked.max_share(max_share),
            None => asked,
        };
        match &self.weights {
            Some(weights) => asked.node_weights(weights.clone()),
            None => asked,
        }
    }

    fn masses(&self, graph: &Graph<'_>, objective: ObjectiveKind) -> Vec<f64> {
        match (&self.weights, objective) {
            (Some(weights), _) => weights.clone(),
            (None, ObjectiveKind::RatioCut) => vec![1.0; graph.n_nodes()],
            (None, _) => graph.degrees().to_vec(),
        }
    }

    /// Whether labels keep everything but the smallest share; clusters may have any numbers where `are_numbered` is not set.
    fn hold(&self, labels: &[Label], masses: &[f64], are_numbered: bool) -> bool {
        let label = |node: u32| labels[node as usize];
        let known: Vec<(u32, Label)> =
            (0..).zip(self.fixed.iter().flatten().copied()).filter(|&(_, known)| known >= 0).collect();
        let has_labels = match are_numbered {
            true => known.iter().all(|&(node, known)| label(node) == known),
            false => known
                .iter()
                .all(|&(a, of_a)| known.iter().all(|&(b, of_b)| (of_a == of_b) == (label(a) == label(b)))),
        };
        let total: f64 = masses.iter().sum();
        let most = self.max_share.unwrap_or(f64::INFINITY) * total / self.n_clusters as f64 * (1.0 + 1e-9);
        has_labels
            && self.must_link.iter().all(|&(a, b)| label(a) == label(b))
            && self.cannot_link.iter().all(|&(a, b)| label(a) != label(b))
            && filled(labels, masses, self.n_clusters).into_iter().all(|mass| mass <= most)
    }

    /// How far the lightest cluster is below the smallest share.
    fn shortfall(&self, labels: &[Label], masses: &[f64]) -> f64 {
        let total: f64 = masses.iter().sum();
        let floor = self.min_share * total / self.n_clusters as f64;
        let lightest = filled(labels, masses, self.n_clusters).into_iter().fold(f64::INFINITY, f64::min);
        (floor * (1.0 - 1e-9) - lightest).max(0.0)
    }
}

fn filled(labels: &[Label], masses: &[f64], n_clusters: usize) -> Vec<f64> {
    let mut filled = vec![0.0; n_clusters];
    for (&label, mass) in labels.iter().zip(masses) {
        filled[label as usize] += mass;
    }
    filled
}

/// Every division of nodes into exactly so many clusters, numbered by first appearance.
fn divisions(n_nodes: usize, n_clusters: usize) -> Vec<Vec<Label>> {
    fn extend(labels: &mut Vec<Label>, n_used: usize, n_nodes: usize, k: usize, all: &mut Vec<Vec<Label>>) {
        if n_nodes - labels.len() < k - n_used {
            return;
        }
        if labels.len() == n_nodes {
            all.push(labels.clone());
            return;
        }
        for label in 0..(n_used + 1).min(k) {
            labels.push(label as Label);
            extend(labels, n_used.max(label + 1), n_nodes, k, all);
            labels.pop();
        }
    }
    let mut all = Vec::new();
    extend(&mut Vec::new(), 0, n_nodes, n_clusters, &mut all);
    all
}

/// Graphs of up to nine nodes, and wishes about them, which may contradict each other.
fn wishes(max_nodes: usize) -> impl Strategy<Value = (Sketch, Wishes)> {
    tied_sketches(max_nodes).prop_flat_map(|sketch| {
        let n_nodes = sketch.n_nodes;
        let node = 0..n_nodes as u32;
        let n_clusters = 1..=n_nodes.min(4);
        n_clusters.prop_flat_map(move |n_clusters| {
            let label = prop_oneof![3 => Just(-1), 1 => 0..n_clusters as Label];
            let fixed = prop::option::of(prop::collection::vec(label, n_nodes));
            let pairs = |most: usize| prop::collection::vec((node.clone(), node.clone()), 0..=most);
            let shares = (
                prop::sample::select(vec![0.0, 0.25, 0.7]),
                prop::option::of(prop::sample::select(vec![1.0, 1.2, 1.5, 2.0])),
            );
            let weights = prop::option::of(prop::collection::vec((1..4u32).prop_map(f64::from), n_nodes));
            let sketch = sketch.clone();
            (fixed, pairs(2), pairs(4), shares, weights).prop_map(
                move |(fixed, must_link, cannot_link, (min_share, max_share), weights)| {
                    let is_known = |fixed: &Vec<Label>| fixed.iter().any(|&label| label >= 0);
                    let fixed = fixed.filter(is_known);
                    let wishes =
                        Wishes { n_clusters, fixed, must_link, cannot_link, min_share, max_share, weights };
                    (sketch.clone(), wishes)
                },
            )
        })
    })
}

fn objective_of(found: &Clustering) -> f64 {
    found.objective
}

/// A score that shares no code with the library.
fn score(graph: &Graph<'_>, labels: &[Label], masses: &[f64], kind: ObjectiveKind, k: usize) -> f64 {
    let (mut association, mut volume) = (vec![0.0; k], vec![0.0; k]);
    for node in 0..graph.n_nodes() {
        let own = labels[node] as usize;
        volume[own] += graph.degree(node as u32);
        association[own] += graph.self_loop(node as u32);
        for (other, weight) in graph.neighbors(node as u32) {
            association[own] += if labels[other as usize] == labels[node] { weight } else { 0.0 };
        }
    }
    let size = filled(labels, masses, k);
    let of = |c: usize| match kind {
        ObjectiveKind::RatioCut => (association[c] - volume[c]) / size[c],
        _ if volume[c] == 0.0 => 0.0,
        _ => association[c] / volume[c],
    };
    (0..k).map(of).sum()
}

fn solved(sketch: &Sketch, wishes: &Wishes, settings: Ncut) -> ncut::Result<Clustering> {
    settings.min_share(wishes.min_share).constraints(wishes.constraints()).solve(&sketch.graph())
}

/// The usual limits, but without the library's own look at all labellings.
fn unsearched() -> Limits {
    let mut limits = Limits::default();
    limits.max_nodes_exhaustive = 0;
    limits
}

proptest! {
    /// What can be had is had, and what cannot is refused.
    #[test]
    fn wishes_are_kept_or_refused((sketch, wishes) in wishes(9), preset in 0..3usize, kind in 0..3usize) {
        let objective = ObjectiveKind::ALL[kind];
        let graph = sketch.graph();
        let masses = wishes.masses(&graph, objective);
        prop_assume!(masses.iter().sum::<f64>() > 0.0);
        let limits = unsearched();
        for limits in [Limits::default(), limits, Limits::tiny()] {
            let settings = Ncut::new(wishes.n_clusters).preset(PRESETS[preset]).objective(objective).limits(limits);
            let can_be_had = || divisions(sketch.n_nodes, wishes.n_clusters).iter().any(|labels| wishes.hold(labels, &masses, false));
            match solved(&sketch, &wishes, settings) {
                Ok(found) => {
                    prop_assert!(wishes.hold(&found.labels, &masses, true), "{:?}", found.labels);
                    let mut used: Vec<Label> = found.labels.clone();
                    used.sort_unstable();
                    used.dedup();
                    prop_assert_eq!(used, (0..wishes.n_clusters as Label).collect::<Vec<_>>());
                }
                Err(error) => prop_assert!(!can_be_had(), "refused: {error}"),
            }
        }
    }

    /// Preset `best` finds the best of all labellings that keep everything, though it does not look at them all.
    #[test]
    fn best_finds_the_constrained_optimum((sketch, wishes) in wishes(9), kind in 0..2usize) {
        // Without any wish it is the plain search, which has tests of its own.
        prop_assume!(!wishes.constraints().is_empty());
        let objective = [ObjectiveKind::NormalizedCut, ObjectiveKind::RatioCut][kind];
        let mut sketch = sketch;
        // No isolated nodes: these have their own conventions.
        let ring = (0..sketch.n_nodes as u32).map(|node| (node, (node + 1) % sketch.n_nodes as u32, 1.0));
        sketch.edges.extend(ring);
        let graph = sketch.graph();
        let masses = wishes.masses(&graph, objective);
        let sizes = match &wishes.weights {
            Some(weights) => weights.clone(),
            None => vec![1.0; sketch.n_nodes],
        };
        let limits = unsearched();
        let settings = Ncut::new(wishes.n_clusters).preset(Preset::Best).objective(objective).limits(limits).connected(false);
        let k = wishes.n_clusters;
        let allowed = divisions(sketch.n_nodes, k).into_iter().filter(|labels| wishes.hold(labels, &masses, false));
        let worth = |labels: &[Label]| (-wishes.shortfall(labels, &masses), score(&graph, labels, &sizes, objective, k));
        let best = allowed.map(|labels| worth(&labels)).max_by(|a, b| a.partial_cmp(b).unwrap());
        match (solved(&sketch, &wishes, settings), best) {
            (Ok(found), Some((shortfall, most))) => {
                let here = worth(&found.labels);
                prop_assert!(here.0 >= shortfall - 1e-9 && (here.0 > shortfall + 1e-9 || here.1 >= most - 1e-9),
                    "{:?}: {here:?}, but {:?} can be had", found.labels, (shortfall, most));
                prop_assert!((objective_of(&found) - here.1).abs() < 1e-9);
            }
            (Err(_), None) => {}
            (Ok(found), None) => prop_assert!(false, "{:?} cannot be", found.labels),
            (Err(error), Some(_)) => prop_assert!(false, "refused: {error}"),
        }
    }
}

/// A planted graph: groups of one size, links mostly inside.
fn planted(n_nodes: u32, k: u32, seed: u64) -> Graph<'static> {
    let mut state = seed;
    let mut draw = |below: u32| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        ((state >> 33) % u64::from(below)) as u32
    };
    let size = n_nodes / k;
    let mut edges = Vec::new();
    for node in 0..n_nodes {
        for _ in 0..5 {
            let group = if draw(6) == 0 { draw(k) } else { (node / size).min(k - 1) };
            edges.push((node, group * size + draw(size), 1.0));
        }
    }
    Graph::from_edges(n_nodes as usize, edges.into_iter().filter(|(a, b, _)| a != b)).unwrap()
}

/// Large graphs go other ways, driven here by tiny limits; threads must not matter.
#[test]
fn large_graphs_keep_all_wishes_with_any_number_of_threads() {
    for seed in 0..6 {
        let (n_nodes, k) = (600, 6);
        let graph = planted(n_nodes, k, seed);
        let mut fixed = vec![-1; n_nodes as usize];
        // Numbers that no appearance would give, some of them in the wrong group.
        for node in (0..n_nodes).step_by(17) {
            fixed[node as usize] = ((node / 100 + 3) % k) as Label;
        }
        fixed[599] = 0;
        let wishes = Wishes {
            n_clusters: k as usize,
            fixed: Some(fixed.clone()),
            must_link: vec![(1, 302), (302, 403), (5, 6)],
            cannot_link: vec![(10, 11), (11, 12), (12, 10), (13, 14), (105, 302)],
            max_share: Some(1.3),
            ..Wishes::default()
        };
        let masses = wishes.masses(&graph, ObjectiveKind::NormalizedCut);
        for preset in PRESETS {
            let solve = || {
                let mut limits = Limits::tiny();
                limits.entries_of_one_batch = 2_000;
                let settings =
                    Ncut::new(k as usize).preset(preset).limits(limits).constraints(wishes.constraints());
                settings.solve(&graph).unwrap()
            };
            let mut found: Vec<Clustering> = Vec::new();
            for n_threads in 1..=3 {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
                found.push(pool.install(solve));
            }
            assert!(wishes.hold(&found[0].labels, &masses, true), "seed {seed}, {}", preset.name());
            assert!(
                found.iter().all(|other| other.labels == found[0].labels),
                "seed {seed}, {}",
                preset.name()
            );
        }
    }
}

/// The message of a refusal.
#[allow(clippy::needless_pass_by_value, reason = "settings are made where they are asked for")]
fn refused(settings: Ncut, graph: &Graph<'_>) -> String {
    settings.solve(graph).unwrap_err().to_string()
}

#[test]
fn contradictions_are_refused_with_a_chain_of_pairs() {
    let graph = planted(12, 2, 1);
    let ask = |constraints: Constraints| refused(Ncut::new(2).constraints(constraints), &graph);
    let chain = Constraints::new().must_link([(1, 4), (4, 7), (2, 3)]).cannot_link([(7, 1)]);
    assert_eq!(
        ask(chain),
        "7 and 1 are to be apart, but 7 is to be with 4, 4 is to be with 1; leave one of these out"
    );
    let mut labels = vec![-1; 12];
    (labels[3], labels[5]) = (0, 1);
    let two_labels = Constraints::new().fixed(labels.clone()).must_link([(3, 9), (5, 9)]);
    assert_eq!(
        ask(two_labels),
        "the known labels 0 and 1 contradict the pairs: 3 has the known label 0, 3 is to be with 9, 9 is to be with 5, 5 has the \
         known label 1; leave one of these out"
    );
    labels[5] = 0;
    let same_label = Constraints::new().fixed(labels.clone()).cannot_link([(3, 5)]);
    assert!(ask(same_label).contains("3 has the known label 0, 5 has the known label 0"));
    labels[5] = 2;
    assert!(
        ask(Constraints::new().fixed(labels))
            .contains("node 5 has the known label 2, but the clusters are 0 to 1")
    );
    let triangle = Constraints::new().cannot_link([(0, 1), (1, 2), (0, 2)]);
    assert!(
        ask(triangle)
            .contains("all to be apart from each other, which takes 3 clusters, but 2 were asked for")
    );
    assert!(ask(Constraints::new().cannot_link([(4, 4)])).contains("node 4 is to be apart from itself"));
    assert!(ask(Constraints::new().must_link([(4, 12)])).contains("the nodes of the graph are 0 to 11"));
    assert!(ask(Constraints::new().fixed(vec![-1; 12])).contains("all -1"));
    assert!(ask(Constraints::new().fixed(vec![0; 5])).contains("5 known labels were given for 12 nodes"));
    assert!(ask(Constraints::new().max_share(0.9)).contains("max_share is 0.9"));
    assert!(
        ask(Constraints::new().node_weights(vec![1.0; 3])).contains("3 node weights were given for 12 nodes")
    );
    assert!(ask(Constraints::new().node_weights(vec![f64::NAN; 12])).contains("the weight of node 0 is NaN"));
    let mut heavy = vec![1.0; 12];
    heavy[8] = 30.0;
    let too_heavy = Constraints::new().node_weights(heavy).max_share(1.2);
    assert!(ask(too_heavy).contains("node 8 weighs 30"));
    let odd = Constraints::new().node_weights(vec![2.0; 12]).max_share(1.0);
    assert!(Ncut::new(2).constraints(odd.clone()).solve(&graph).is_ok());
    assert!(refused(Ncut::new(5).constraints(odd), &graph).contains("which together hold"));
    let everything: Vec<(u32, u32)> = (1..12).map(|node| (0, node)).collect();
    assert!(ask(Constraints::new().must_link(everything)).contains("leave only 1 groups"));
}

#[test]
fn what_does_not_go_with_constraints_is_refused_by_name() {
    let graph = planted(12, 2, 1);
    let asked = Constraints::new().cannot_link([(0, 1)]);
    let paper = Ncut::new(2).preset(Preset::Paper).min_share(0.0).constraints(asked.clone());
    assert!(refused(paper, &graph).contains("`paper` with pairs apart"));
    assert!(refused(Ncut::communities(1.0).constraints(asked), &graph).contains("free with pairs apart"));
}

/// Two cliques; one node of each must be with the other: a cluster in two pieces, unless that is refused.
#[test]
fn connected_yields_to_known_labels_unless_it_was_asked_for() {
    let clique = |first: u32| (0..4u32).flat_map(move |a| (0..a).map(move |b| (first + a, first + b, 1.0)));
    let links = [(3, 4, 0.1), (7, 8, 0.1)];
    let graph = Graph::from_edges(12, clique(0).chain(clique(4)).chain(clique(8)).chain(links)).unwrap();
    let mut fixed = vec![1; 12];
    (fixed[0], fixed[11]) = (0, 0);
    let asked = Constraints::new().fixed(fixed);
    let found = Ncut::new(2).constraints(asked.clone()).solve(&graph).unwrap();
    assert_eq!(found.n_disconnected, 1);
    assert!(
        refused(Ncut::new(2).connected(true).constraints(asked), &graph)
            .contains("`connected` yes could not be met")
    );
    // A pair counts as a link.
    let pair = Constraints::new().must_link([(0, 11)]).cannot_link([(0, 5), (11, 6)]);
    let found = Ncut::new(2).connected(true).constraints(pair).solve(&graph).unwrap();
    assert_eq!(found.n_disconnected, 0);
}

/// Without the weights a cluster of many light nodes would be heavy by its degrees.
#[test]
fn shares_are_measured_in_weights_of_the_nodes() {
    let graph = planted(300, 3, 4);
    let weights: Vec<f64> = (0..300).map(|node| if node < 100 { 5.0 } else { 1.0 }).collect();
    let asked = Constraints::new().node_weights(weights.clone()).max_share(1.1);
    for objective in ObjectiveKind::ALL {
        let found = Ncut::new(3).objective(objective).constraints(asked.clone()).solve(&graph).unwrap();
        let filled = filled(&found.labels, &weights, 3);
        let mean = weights.iter().sum::<f64>() / 3.0;
        assert!(filled.iter().all(|&mass| mass <= 1.1 * mean * (1.0 + 1e-9)), "{filled:?}");
        let largest = filled.into_iter().fold(0.0, f64::max) / mean;
        assert!((found.largest_share - largest).abs() < 1e-12);
    }
}
