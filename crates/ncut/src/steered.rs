//! One graph, one number of clusters, under [`Constraints`]: contracted, searched, expanded, numbered and checked once more.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::communities::{Communities, Thoroughness};
use crate::constraints::{Constraints, Steering};
use crate::error::Result;
use crate::graph::{Graph, NodeId, Subgraph};
use crate::metrics::{Label, UNLABELLED};
use crate::objective::{AnyObjective, Modularity, NormalizedCut, Objective, ObjectiveKind, RatioCut, Sums};
use crate::partition::ClusterId;
use crate::progress::{Clock, StopReason};
use crate::search::{labels_by_backtracking, search};
use crate::settings::Ncut;
use crate::solve::Found;
use crate::start;

impl Ncut {
    /// Clusters all of `graph` under `constraints`.
    pub(crate) fn solve_steered(
        &self,
        graph: &Graph<'_>,
        constraints: &Constraints,
        init: Option<&[Label]>,
        clock: &Clock<'_>,
    ) -> Result<Found> {
        let steering = Steering::new(constraints, graph.n_nodes(), self.n_clusters)?;
        let weighed = constraints.weighed(graph)?;
        let has_weights = constraints.node_weights.is_some();
        let volume = graph.volume();
        let size = || (0..graph.n_nodes() as NodeId).map(|node| weighed.size(node)).sum();
        let resolution = match self.objective {
            ObjectiveKind::Modularity => Some(self.resolution_under(&steering, graph, clock)?),
            _ => None,
        };
        let modularity = Modularity { total: volume, resolution: resolution.unwrap_or(1.0) };
        let steered = Steered { ncut: self, steering: &steering, graph: &weighed, init, clock };
        let mut found = match (self.objective, has_weights) {
            (ObjectiveKind::NormalizedCut, false) => steered.solve(NormalizedCut)?,
            (ObjectiveKind::NormalizedCut, true) => {
                steered.solve(AnyObjective::from(NormalizedCut).weighed())?
            }
            (ObjectiveKind::RatioCut, _) => {
                steered.solve(AnyObjective::from(RatioCut::of_size(volume, size())))?
            }
            (ObjectiveKind::Modularity, false) => steered.solve(AnyObjective::from(modularity))?,
            (ObjectiveKind::Modularity, true) => steered.solve(AnyObjective::from(modularity).weighed())?,
        };
        found.resolution = resolution;
        let score = constraints.score(self.objective, graph, &found.labels)?;
        constraints.check_kept(&score, &found.labels)?;
        Ok(found)
    }

    /// The resolution of modularity: the one asked for, or the one at which there are as many communities as asked for.
    fn resolution_under(&self, steering: &Steering, graph: &Graph<'_>, clock: &Clock<'_>) -> Result<f64> {
        if let Some(resolution) = self.resolution {
            return Ok(resolution);
        }
        let contracted = steering.contracted(graph)?;
        let part = Subgraph::without_isolated(&contracted)?;
        if self.n_clusters >= part.graph().n_nodes() {
            return Ok(1.0);
        }
        let asked = Communities { thoroughness: Thoroughness::Run, ..self.communities_asked_for() };
        let found = asked.find_exactly(part.graph(), self.n_clusters, 0.0, None, clock)?;
        Ok(found.resolution)
    }
}

/// What is solved under constraints.
struct Steered<'s> {
    ncut: &'s Ncut,
    steering: &'s Steering,
    /// Its nodes have sizes where they were given weights.
    graph: &'s Graph<'s>,
    init: Option<&'s [Label]>,
    clock: &'s Clock<'s>,
}

impl Steered<'_> {
    fn solve<O: Objective>(&self, objective: O) -> Result<Found> {
        let n_clusters = self.ncut.n_clusters;
        let sized =
            if objective.weighs_by_size() { self.graph.with_unit_sizes() } else { self.graph.borrowed() };
        let contracted = self.steering.contracted(&sized)?;
        let ceiling = self.steering.ceiling(&contracted, n_clusters, objective)?;
        let init = self.init.map(|init| self.start(&contracted, init, objective)).transpose()?;
        let n_connected = contracted.n_nodes() - contracted.n_isolated();
        let mut found = match n_clusters >= n_connected {
            true => Found {
                labels: start::all_apart(&contracted),
                sweeps: 0,
                moves: 0,
                stop_reason: StopReason::LocalOptimum,
                resolution: None,
                plan: None,
            },
            false => self.search(objective, &contracted, init.as_deref(), ceiling)?,
        };
        let placement = Placement { graph: &contracted, objective, n_clusters, ceiling };
        if !placement.place_isolated(&mut found.labels)
            && let Some(labels) = labels_by_backtracking(&contracted, objective, n_clusters, ceiling)
        {
            found.labels = labels.into_iter().map(|label| label as Label).collect();
        }
        self.steering.number(&mut found.labels, n_clusters);
        found.labels = self.steering.project(&found.labels);
        Ok(found)
    }

    /// Given labels as labels of the groups, each cluster having one.
    fn start<O: Objective>(
        &self,
        contracted: &Graph<'_>,
        init: &[Label],
        objective: O,
    ) -> Result<Vec<ClusterId>> {
        let n_clusters = self.ncut.n_clusters;
        start::cluster_names(init, n_clusters)?;
        let of_groups = self.steering.restrict(self.graph, init);
        start::filled(contracted, &of_groups, n_clusters, objective)
    }

    fn search<O: Objective>(
        &self,
        objective: O,
        contracted: &Graph<'_>,
        init: Option<&[ClusterId]>,
        ceiling: f64,
    ) -> Result<Found> {
        let request = self.ncut.request(init.is_some(), ceiling, self.clock);
        let part = Subgraph::without_isolated(contracted)?;
        let given: Option<Vec<ClusterId>> = init.map(|labels| part.gather(labels));
        let searched = search(part.graph(), objective, given.as_deref(), &request, self.clock)?;
        let labels = searched.labels.into_iter().map(|cluster| cluster as Label).collect();
        Ok(Found {
            labels: part.scatter(labels, UNLABELLED),
            sweeps: searched.sweeps,
            moves: searched.moves,
            stop_reason: searched.stop_reason,
            resolution: None,
            plan: Some(searched.plan),
        })
    }
}

/// Where isolated nodes go.
struct Placement<'p, O> {
    graph: &'p Graph<'p>,
    objective: O,
    n_clusters: usize,
    ceiling: f64,
}

impl<O: Objective> Placement<'_, O> {
    /// Gives every isolated node a cluster: those that are apart from others first, then the heaviest. While clusters are
    /// missing each is one of its own; the others join the cluster that gains most by it among those that may have it, among
    /// equals the one of largest volume, then the lowest. `false` where there was none for some node.
    fn place_isolated(&self, labels: &mut [Label]) -> bool {
        let graph = self.graph;
        let may_be_anywhere =
            graph.apart().is_none() && (self.ceiling == f64::INFINITY || !self.objective.weighs_by_size());
        if may_be_anywhere {
            start::place_isolated(graph, labels, self.n_clusters, self.objective);
            return true;
        }
        let mut clusters = vec![Sums::default(); self.n_clusters];
        let mut n_used = 0;
        for node in graph.connected_nodes() {
            let own = labels[node as usize];
            let mut inside = graph.self_loop(node);
            graph.for_each_neighbor(node, |neighbor, weight| {
                inside += if labels[neighbor as usize] == own { weight } else { 0.0 };
            });
            let sums = graph.node_sums::<O>(node);
            let cluster = &mut clusters[own as usize];
            cluster.association += inside;
            cluster.volume += sums.volume;
            cluster.size += sums.size;
            n_used = n_used.max(own as usize + 1);
        }
        let mass = |node: NodeId| self.objective.mass(&graph.node_sums::<O>(node));
        let n_apart = |node: NodeId| graph.apart().map_or(0, |apart| apart.partners(node).count());
        let isolated = (0..graph.n_nodes() as NodeId).filter(|&node| graph.degree(node) == 0.0);
        let mut order: Vec<(Reverse<usize>, NodeId)> =
            isolated.map(|node| (Reverse(n_apart(node)), node)).collect();
        order.sort_by(|a, b| a.0.cmp(&b.0).then(mass(b.1).total_cmp(&mass(a.1))).then(a.1.cmp(&b.1)));
        let mut is_whole = true;
        for (_, node) in order {
            let sums = graph.node_sums::<O>(node);
            if n_used < self.n_clusters {
                (labels[node as usize], clusters[n_used]) = (n_used as Label, sums);
                n_used += 1;
                continue;
            }
            let mut conflicts: HashMap<Label, usize> = HashMap::new();
            for partner in graph.apart().into_iter().flat_map(|apart| apart.partners(node)) {
                *conflicts.entry(labels[partner as usize]).or_insert(0) += 1;
            }
            let mut best: Option<(usize, f64, f64, f64, usize)> = None;
            for (cluster, before) in clusters.iter().enumerate() {
                let n_conflicts = conflicts.get(&(cluster as Label)).copied().unwrap_or(0);
                let after = before.with(&sums, 0.0);
                let excess = (self.objective.mass(&after) - self.ceiling).max(0.0);
                let loss = self.objective.value(before) - self.objective.value(&after);
                let known = (n_conflicts, excess, loss, -before.volume, cluster);
                if best.is_none_or(|best| known < best) {
                    best = Some(known);
                }
            }
            let Some((n_conflicts, excess, _, _, cluster)) = best else { continue };
            is_whole &= n_conflicts == 0 && excess <= 0.0;
            labels[node as usize] = cluster as Label;
            clusters[cluster] = clusters[cluster].with(&sums, 0.0);
        }
        is_whole
    }
}
