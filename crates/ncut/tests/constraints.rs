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
            let shares = (prop::sample::select(vec![0.0, 0.25, 0.7]), prop::option::of(prop::sample::select(vec![1.0, 1.2, 1.5, 2.0])));
            let weights = prop::option::of(prop::collection::vec((1..4u32).prop_map(f64::from), n_nodes));
            let sketch = sketch.clone();
            (fixed, pairs(2), pairs(4), shares, weights).prop_map(
                move |(fixed, must_link, cannot_link, (min_share, max_share), weights)| {
                    let is_known = |fixed: &Vec<Label>| fixed.iter().any(|&label| label >= 0);
                    let fixed = fixed.filter(is_known);
                    let wishes = Wishes { n_clusters, fixed, must_link, cannot_link, min_share, max_share, weights };
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
