//! Clusters of a graph that has changed a little: they stay as they were where they can.

use std::collections::{HashMap, HashSet};

use crate::error::{Error, Result};
use crate::graph::{Graph, NodeId, Subgraph};
use crate::metrics::{CutScore, Label, UNLABELLED};
use crate::objective::{AnyObjective, Modularity, Objective, ObjectiveKind, with_objective};
use crate::partition::ClusterId;
use crate::progress::{Clock, StopReason};
use crate::search::{Renewal, renewed};
use crate::settings::{ComponentChoice, Ncut, Preset};
use crate::start;

/// Clusters brought up to date.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Updated {
    /// Cluster of every node. Clusters that were there have the numbers they had, new ones numbers above all of these.
    pub labels: Vec<Label>,
    /// Cut values of the labels.
    pub score: CutScore,
    /// Nodes that have another label than before.
    pub moved: Vec<NodeId>,
    /// Nodes that had none.
    pub new: Vec<NodeId>,
    /// Numbers of clusters that are no more; they are not used again.
    pub vanished: Vec<Label>,
    /// Numbers of clusters that were not there before.
    pub appeared: Vec<Label>,
    /// Connected components of the graph.
    pub n_components: usize,
    /// Sweeps of coordinate descent.
    pub sweeps: usize,
    /// Moves of single nodes.
    pub moves: u64,
    /// Why the work ended.
    pub stop_reason: StopReason,
}

/// What is known from before.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Before {
    /// The label of every node of the graph as it is now; -1 for a node that is new.
    pub labels: Vec<Label>,
    /// Labels of nodes that are gone.
    pub gone: Vec<Label>,
}

impl Ncut {
    /// How much more than staying a move must gain, unless something else is asked for, in means of what a node contributes to
    /// the objective.
    ///
    /// Of the network lastfm, which loses 1.5 % of its edges, 98.3 % of the nodes stay with 0.2, 97.9 % with 0; the objective is
    /// 0.9997 and 0.9998 of a fresh run's. From 0.5 on nodes stay that had better move.
    pub const STAY: f64 = 0.2;

    /// Brings clusters up to date after a change of the graph: nodes and edges that came, went or have other weights.
    ///
    /// Nodes keep the numbers of their clusters, new nodes join the clusters they are most linked to, and then nodes move where
    /// that gains more than `stay |objective| / n`. Only nodes next to another cluster are looked at, and whoever is next to a
    /// node that moved. There are as many clusters as before (those of nodes that are gone included), unless the settings have a
    /// number of their own above 0: then clusters are cut in two, or merged, with the number of the larger. The labels are a
    /// start, so that the preset and given starting labels do not matter.
    ///
    /// ```
    /// use ncut::{Before, Clock, Graph, Ncut};
    /// // The edge between 2 and 3 has gone over to 1 and 2, and there is a node 4.
    /// let graph = Graph::from_edges(5, [(0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.0), (3, 4, 1.0)])?;
    /// let before = Before { labels: vec![5, 5, 7, 7, -1], gone: vec![] };
    /// let updated = Ncut::new(0).update(&graph, &before, Ncut::STAY, &Clock::new())?;
    /// assert_eq!(updated.labels, [5, 5, 5, 7, 7]);
    /// assert_eq!((updated.moved, updated.new), (vec![2], vec![4]));
    /// # Ok::<(), ncut::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the labels do not fit the graph, all are -1, `stay` is negative, or a setting does not go with an update: known
    /// labels and other constraints, a number of clusters to be found out, preset `paper`.
    pub fn update(
        &self,
        graph: &Graph<'_>,
        before: &Before,
        stay: f64,
        clock: &Clock<'_>,
    ) -> Result<Updated> {
        if let Some(limit) = self.time_limit {
            clock.limit(limit);
        }
        self.check_update(graph, before, stay)?;
        self.check_memory(graph, clock)?;
        let mut names = before.labels.clone();
        names.retain(|&label| label != UNLABELLED);
        names.sort_unstable();
        names.dedup();
        if names.is_empty() {
            return Err(Error::labels(
                "no node of the graph has an old label, so there is nothing to update; cluster the graph instead",
            ));
        }
        let mut all_names = names.clone();
        all_names.extend(&before.gone);
        all_names.sort_unstable();
        all_names.dedup();
        let n_clusters = if self.n_clusters > 0 { self.n_clusters } else { all_names.len() };
        if n_clusters > graph.n_nodes() {
            return Err(Error::BadClusterCount { n_clusters, n_nodes: graph.n_nodes(), nodes: "nodes" });
        }
        let settings = Self { n_clusters, ..self.clone() };
        let task = Task { settings: &settings, graph, before, names: &names, stay, clock };
        let mut found = match self.objective {
            ObjectiveKind::Modularity => {
                let resolution = self.resolution.unwrap_or(1.0);
                task.solve(AnyObjective::from(Modularity { total: graph.volume(), resolution }))?
            }
            kind => with_objective!(kind, graph, |objective| task.solve(objective))?,
        };
        let highest = all_names.last().copied().unwrap_or(UNLABELLED);
        let (appeared, named) = named(&mut found.labels, &names, highest)?;
        let score = CutScore::by(self.objective, graph, &found.labels)?;
        let is_moved =
            |&node: &usize| before.labels[node] != UNLABELLED && before.labels[node] != found.labels[node];
        let all = || 0..graph.n_nodes();
        Ok(Updated {
            moved: all().filter(is_moved).map(|node| node as NodeId).collect(),
            new: all().filter(|&node| before.labels[node] == UNLABELLED).map(|node| node as NodeId).collect(),
            vanished: all_names.into_iter().filter(|name| named.binary_search(name).is_err()).collect(),
            appeared,
            score,
            n_components: graph.components().count(),
            sweeps: found.sweeps,
            moves: found.moves,
            stop_reason: found.stop_reason,
            labels: found.labels,
        })
    }

    fn check_update(&self, graph: &Graph<'_>, before: &Before, stay: f64) -> Result<()> {
        if !(stay >= 0.0 && stay.is_finite()) {
            let (value, expected) = (stay.to_string(), "a number of at least 0");
            return Err(Error::BadSetting { name: "stay", value, expected });
        }
        let problem = if self.preset == Preset::Paper {
            Some("an update goes with every preset but `paper`, which is as published")
        } else if self.is_auto || self.is_free {
            Some("an update has as many clusters as before, or as many as asked for; give a number")
        } else if !self.constraints.is_empty() {
            Some("an update knows no constraints; cluster the graph under them, starting from the old labels")
        } else if self.components != ComponentChoice::All {
            Some("an update takes all components of the graph; leave the choice of components out")
        } else {
            None
        };
        if let Some(problem) = problem {
            return Err(Error::labels(problem));
        }
        if before.labels.len() != graph.n_nodes() {
            return Err(Error::labels(format!(
                "{} old labels were given for {} nodes",
                before.labels.len(),
                graph.n_nodes()
            )));
        }
        if let Some(label) = before.labels.iter().chain(&before.gone).find(|&&label| label < UNLABELLED) {
            return Err(Error::labels(format!(
                "there is an old label {label}; labels are 0 or above, -1 for none"
            )));
        }
        self.check(graph)
    }
}

/// Gives clusters, numbered from 0, their old names; those beyond are new. Returns the names that are new, and all that are in
/// use, ascending.
fn named(labels: &mut [Label], names: &[Label], highest: Label) -> Result<(Vec<Label>, Vec<Label>)> {
    let mut appeared: HashMap<Label, Label> = HashMap::new();
    let mut next = highest;
    let mut used = Vec::new();
    for label in labels.iter_mut() {
        *label = match names.get(*label as usize) {
            Some(&name) => name,
            None => match appeared.get(label) {
                Some(&name) => name,
                None => {
                    next = next.checked_add(1).ok_or_else(|| {
                        Error::labels("there are no numbers left for new clusters; renumber the old labels")
                    })?;
                    appeared.insert(*label, next);
                    next
                }
            },
        };
    }
    used.extend(labels.iter().copied());
    used.sort_unstable();
    used.dedup();
    let mut appeared: Vec<Label> = appeared.into_values().collect();
    appeared.sort_unstable();
    Ok((appeared, used))
}

/// An update under way.
struct Task<'t> {
    settings: &'t Ncut,
    graph: &'t Graph<'t>,
    before: &'t Before,
    /// The old labels that are still there, ascending.
    names: &'t [Label],
    stay: f64,
    clock: &'t Clock<'t>,
}

/// Clusters by number: below the number of names the old ones.
struct Found {
    labels: Vec<Label>,
    sweeps: usize,
    moves: u64,
    stop_reason: StopReason,
}

impl Task<'_> {
    fn solve<O: Objective>(&self, objective: O) -> Result<Found> {
        let Self { settings, graph, before, names, .. } = *self;
        let n_clusters = settings.n_clusters;
        let part = Subgraph::without_isolated(graph)?;
        let inner = part.graph();
        if inner.n_nodes() == inner.n_isolated() || inner.n_nodes() <= n_clusters {
            return Err(Error::labels(format!(
                "the graph has {} nodes with edges, which is too few for an update of {n_clusters} clusters; cluster it instead",
                inner.n_nodes() - inner.n_isolated()
            )));
        }
        let number = |label: Label| names.binary_search(&label).ok().map(|number| number as ClusterId);
        let old: Vec<Option<ClusterId>> = part.gather(&before.labels).into_iter().map(number).collect();
        let labels = start::followed(inner, old.clone(), names.len());
        let renewal = Renewal { old: &old, labels, n_named: names.len(), stay: self.stay };
        let request = settings.request(true, f64::INFINITY, self.clock);
        let found = match objective.weighs_by_size() {
            false => renewed(inner, objective, renewal, &request, self.clock)?,
            true => renewed(&inner.with_unit_sizes(), objective, renewal, &request, self.clock)?,
        };
        // Isolated nodes stay where they were while that is a cluster.
        let in_use: HashSet<ClusterId> = found.labels.iter().copied().collect();
        let scattered = found.labels.iter().map(|&cluster| cluster as Label).collect();
        let mut labels = part.scatter(scattered, UNLABELLED);
        let mut largest = None;
        for node in 0..graph.n_nodes() {
            if labels[node] != UNLABELLED {
                continue;
            }
            let old = number(before.labels[node]);
            let stays = old.filter(|old| in_use.contains(old));
            labels[node] = match stays {
                Some(old) => old as Label,
                None => *largest.get_or_insert_with(|| heaviest(inner, &found.labels)),
            };
        }
        Ok(Found { labels, sweeps: found.sweeps, moves: found.moves, stop_reason: found.stop_reason })
    }
}

/// The cluster of largest volume, the lowest among equals.
fn heaviest(graph: &Graph<'_>, labels: &[ClusterId]) -> Label {
    let n_labels = labels.iter().max().map_or(0, |&last| last as usize + 1);
    let mut volumes = vec![0.0; n_labels];
    for (&label, degree) in labels.iter().zip(graph.degrees()) {
        volumes[label as usize] += degree;
    }
    let mut largest = 0;
    for cluster in 1..n_labels {
        if volumes[cluster] > volumes[largest] {
            largest = cluster;
        }
    }
    largest as Label
}
