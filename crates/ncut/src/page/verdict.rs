//! Whether clusters are more than any way to cut the graph would show.

use super::clusters::Clusters;
use crate::graph::{Graph, NodeId};
use crate::metrics::CutScore;
use crate::objective::ObjectiveKind;
use crate::progress::Clock;
use crate::separation::{ABOVE_CHANCE, Division, divisions, is_uneven, random_modularity, rewired};
use crate::settings::{Ncut, Preset};

/// Of more clusters than this nothing is said.
const MAX_CLUSTERS: usize = 2_000;
/// Entries of the matrix up to which a random graph is made and clustered, a second at the most; of larger graphs its
/// modularity is estimated.
const MAX_ENTRIES_TO_REWIRE: usize = 200_000;
/// Small graphs are compared with the mean of several.
const MOST_RANDOM: usize = 8;
const SEED: u64 = 1;

/// What the clusters are beside other ways to cut the graph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Verdict {
    /// Nothing can be said.
    Unknown,
    /// The borders of clusters beside the cuts through them.
    Borders(Borders),
    /// A network without such borders, beside a random graph with the same degrees.
    Chance(Chance),
}

/// Borders of clusters to those they are linked to most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Borders {
    /// Clusters that were looked at.
    pub(super) n_known: usize,
    /// Clusters whose border is clearly thinner than cuts through them, or that nothing leads out of.
    pub(super) n_apart: usize,
    /// How many times thinner, in the middle of all that have a border.
    pub(super) times: Option<f64>,
}

/// What a random graph with the same degrees shows, in as many clusters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Chance {
    /// Share of the weight that stays inside, unless it is only estimated.
    pub(super) inside: Option<f64>,
    pub(super) modularity: f64,
    /// Whether these clusters are clearly more.
    pub(super) is_exceeded: bool,
}

/// The verdict, O(|E|) some dozen times; none where there is no time left.
pub(super) fn verdict(
    graph: &Graph<'_>,
    clusters: &Clusters,
    kind: ObjectiveKind,
    clock: &Clock<'_>,
) -> Verdict {
    let n_clusters = clusters.score.clusters.len();
    if !(2..=MAX_CLUSTERS).contains(&n_clusters) || graph.volume() <= 0.0 {
        return Verdict::Unknown;
    }
    let mut members: Vec<Vec<NodeId>> = vec![Vec::new(); n_clusters];
    for (node, row) in (0..).zip(&clusters.row_of) {
        if let Some(row) = row {
            members[usize::from(*row)].push(node);
        }
    }
    let Ok(found) = divisions(graph, members, clock) else { return Verdict::Unknown };
    if clock.is_stopped() {
        return Verdict::Unknown;
    }
    let borders = Borders::of(&found);
    // In networks whose degrees differ much there are no thin borders, whatever the clusters.
    if borders.n_apart < n_clusters && is_uneven(graph) {
        return Verdict::Chance(Chance::of(graph, &clusters.score, kind, clock));
    }
    let are_unlinked = found.iter().all(|division| *division == Division::Unlinked);
    if borders.times.is_some() || are_unlinked { Verdict::Borders(borders) } else { Verdict::Unknown }
}

impl Borders {
    fn of(found: &[Division]) -> Self {
        let mut times: Vec<f64> = found
            .iter()
            .filter_map(|division| match division {
                Division::Boundary { times, .. } => Some(*times),
                _ => None,
            })
            .collect();
        times.sort_by(f64::total_cmp);
        let count = |wanted: fn(&Division) -> bool| found.iter().filter(|division| wanted(division)).count();
        Self {
            n_known: count(|division| *division != Division::Unknown),
            n_apart: count(|division| {
                matches!(division, Division::Unlinked | Division::Boundary { is_clear: true, .. })
            }),
            times: times.get(times.len() / 2).copied(),
        }
    }
}

impl Chance {
    fn of(graph: &Graph<'_>, score: &CutScore, kind: ObjectiveKind, clock: &Clock<'_>) -> Self {
        let n_entries = graph.columns().len();
        let n_random = (MAX_ENTRIES_TO_REWIRE / n_entries.max(1)).min(MOST_RANDOM);
        let found: Vec<(f64, f64)> = (0..n_random as u64)
            .map_while(|seed| of_random(graph, score.clusters.len(), kind, SEED + seed, clock))
            .collect();
        let mean = |value: fn(&(f64, f64)) -> f64| found.iter().map(value).sum::<f64>() / found.len() as f64;
        let (inside, modularity) = match found.is_empty() {
            true => (None, random_modularity(graph)),
            false => (Some(mean(|found| found.0)), mean(|found| found.1)),
        };
        Self { inside, modularity, is_exceeded: score.modularity >= ABOVE_CHANCE * modularity.max(0.0) }
    }
}

/// The share inside and the modularity of as many clusters of a random graph; `None` where it cannot be clustered so.
fn of_random(
    graph: &Graph<'_>,
    n_clusters: usize,
    kind: ObjectiveKind,
    seed: u64,
    clock: &Clock<'_>,
) -> Option<(f64, f64)> {
    if clock.is_stopped() {
        return None;
    }
    let random = rewired(graph, seed).ok()?;
    // Nodes without links, such as those in no cluster, would be clusters of their own.
    let random = random.induced(&random.connected_nodes()).ok()?;
    let found = Ncut::new(n_clusters)
        .objective(kind)
        .preset(Preset::Fast)
        .seed(seed)
        .solve_by(&random, clock)
        .ok()?;
    let score = CutScore::new(&random, &found.labels).ok()?;
    let inside: f64 = score.clusters.iter().map(|cluster| cluster.association).sum();
    let all = random.volume();
    (all > 0.0).then(|| (inside / all, score.modularity))
}
