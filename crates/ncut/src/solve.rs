//! One graph, one number of clusters: the paper's solver or the search, isolated nodes aside.

use crate::communities::{Communities, FoundCommunities, Thoroughness};
use crate::descent::descend;
use crate::error::{Error, Result};
use crate::graph::{Graph, Subgraph};
use crate::hierarchy::{InitialLabels, n2hi};
use crate::metrics::{Label, number_by_appearance};
use crate::objective::{AnyObjective, Modularity, Objective, ObjectiveKind, with_objective};
use crate::partition::{ClusterId, Partition};
use crate::progress::{Clock, StopReason};
use crate::search::{Choice, Effort, Plan, Recombination, Request, Rung, SHARES_TO_COMPARE, search};
use crate::settings::{ComponentChoice, Ncut, Preset};
use crate::start;

impl Ncut {
    /// Clusters all of `graph`.
    pub(crate) fn solve_part(
        &self,
        graph: &Graph<'_>,
        init: Option<&[Label]>,
        clock: &Clock<'_>,
    ) -> Result<Found> {
        let n_clusters = self.n_clusters;
        if self.is_free {
            return self.solve_free(graph, init, clock);
        }
        if n_clusters == 0 || n_clusters > graph.n_nodes() {
            let nodes = match self.components {
                ComponentChoice::All => "nodes",
                ComponentChoice::Largest => "nodes of the largest component",
            };
            return Err(Error::BadClusterCount { n_clusters, n_nodes: graph.n_nodes(), nodes });
        }
        if !self.constraints.is_empty() {
            return self.solve_steered(graph, &self.constraints, init, clock);
        }
        match self.objective {
            ObjectiveKind::Modularity => {
                let resolution = self.resolution.unwrap_or(1.0);
                let objective = AnyObjective::from(Modularity { total: graph.volume(), resolution });
                self.solve_for(objective, graph, init, clock)
            }
            kind => with_objective!(kind, graph, |objective| self.solve_for(objective, graph, init, clock)),
        }
    }

    fn solve_for<O: Objective>(
        &self,
        objective: O,
        graph: &Graph<'_>,
        init: Option<&[Label]>,
        clock: &Clock<'_>,
    ) -> Result<Found> {
        let n_clusters = self.n_clusters;
        let mut found = if n_clusters >= graph.n_nodes() - graph.n_isolated() {
            // Every node with edges is a cluster of its own; a start changes nothing but may be wrong.
            init.map(|init| start::cluster_names(init, n_clusters)).transpose()?;
            let (labels, stop_reason) = (start::all_apart(graph), StopReason::LocalOptimum);
            let is_modularity = self.objective == ObjectiveKind::Modularity;
            let resolution = is_modularity.then(|| self.resolution.unwrap_or(1.0));
            Found { labels, sweeps: 0, moves: 0, stop_reason, resolution, plan: None }
        } else if self.objective == ObjectiveKind::Modularity {
            self.solve_communities(objective, graph, init, clock)?
        } else {
            match self.preset {
                Preset::Paper => self.solve_as_paper(objective, graph, init, clock)?,
                Preset::Fast | Preset::Default | Preset::Best => {
                    self.solve_by_search(objective, graph, init, clock)?
                }
            }
        };
        start::place_isolated(graph, &mut found.labels, n_clusters, objective);
        number_by_appearance(&mut found.labels);
        Ok(found)
    }

    /// N2HI, unless labels are given, then Fast-CD.
    fn solve_as_paper<O: Objective>(
        &self,
        objective: O,
        graph: &Graph<'_>,
        init: Option<&[Label]>,
        clock: &Clock<'_>,
    ) -> Result<Found> {
        let n_clusters = self.n_clusters;
        let InitialLabels { labels, stopped } = match init {
            Some(init) => {
                let labels = start::from_labels(graph, init, n_clusters, objective)?;
                InitialLabels { labels, stopped: None }
            }
            None => n2hi(graph, n_clusters, clock)?,
        };
        let mut partition = Partition::for_objective(objective, graph, labels, n_clusters, &self.limits)?;
        let (sweeps, moves, stop_reason) = match stopped {
            Some(reason) => (0, 0, reason),
            None => {
                clock.tell_answer(partition.objective());
                let descent = descend(&mut partition, &self.stopping, clock);
                (descent.sweeps, descent.moves, descent.stop_reason)
            }
        };
        let labels = partition.into_labels().into_iter().map(|cluster| cluster as Label).collect();
        Ok(Found { labels, sweeps, moves, stop_reason, resolution: None, plan: None })
    }

    /// As many communities as there are.
    fn solve_free(&self, graph: &Graph<'_>, init: Option<&[Label]>, clock: &Clock<'_>) -> Result<Found> {
        let given = init.map(start::any_labels).transpose()?;
        let found = self.communities_asked_for().find(graph, given.as_deref(), clock)?;
        let mut found = found_communities(found, clock);
        number_by_appearance(&mut found.labels);
        Ok(found)
    }

    /// Exactly as many communities as asked for; those of isolated nodes are to be placed.
    fn solve_communities<O: Objective>(
        &self,
        objective: O,
        graph: &Graph<'_>,
        init: Option<&[Label]>,
        clock: &Clock<'_>,
    ) -> Result<Found> {
        let n_clusters = self.n_clusters;
        let given = init.map(|init| start::from_labels(graph, init, n_clusters, objective)).transpose()?;
        let part = Subgraph::without_isolated(graph)?;
        let given: Option<Vec<ClusterId>> = given.map(|labels| part.gather(&labels));
        let min_volume = self.effective_min_share() * graph.volume() / n_clusters as f64;
        let asked = self.communities_asked_for();
        let found = asked.find_exactly(part.graph(), n_clusters, min_volume, given.as_deref(), clock)?;
        let found = found_communities(found, clock);
        Ok(Found { labels: part.scatter(found.labels, 0), ..found })
    }

    pub(crate) fn communities_asked_for(&self) -> Communities<'_> {
        let thoroughness = match self.preset {
            Preset::Paper | Preset::Fast => Thoroughness::Run,
            Preset::Default => Thoroughness::Recombined,
            Preset::Best => Thoroughness::Patient,
        };
        let (resolution, seed) = (self.resolution, self.seed);
        Communities { resolution, thoroughness, seed, limits: &self.limits }
    }

    fn solve_by_search<O: Objective>(
        &self,
        objective: O,
        graph: &Graph<'_>,
        init: Option<&[Label]>,
        clock: &Clock<'_>,
    ) -> Result<Found> {
        let n_clusters = self.n_clusters;
        let given = init.map(|init| start::from_labels(graph, init, n_clusters, objective)).transpose()?;
        let request = self.request(init.is_some(), f64::INFINITY, clock);
        let part = Subgraph::without_isolated(graph)?;
        let given: Option<Vec<ClusterId>> = given.map(|labels| part.gather(&labels));
        let searched = match objective.weighs_by_size() {
            false => search(part.graph(), objective, given.as_deref(), &request, clock)?,
            true => search(&part.graph().with_unit_sizes(), objective, given.as_deref(), &request, clock)?,
        };
        let labels = searched.labels.into_iter().map(|cluster| cluster as Label).collect();
        Ok(Found {
            labels: part.scatter(labels, 0),
            sweeps: searched.sweeps,
            moves: searched.moves,
            stop_reason: searched.stop_reason,
            resolution: None,
            plan: Some(searched.plan),
        })
    }

    /// What is asked of the search; no cluster's mass may exceed `ceiling`.
    pub(crate) fn request(&self, is_given: bool, ceiling: f64, clock: &Clock<'_>) -> Request {
        Request {
            n_clusters: self.n_clusters,
            rule: self.stopping,
            ladder: self.ladder(is_given, clock),
            connected: self.is_connected(),
            ceiling,
            is_constrained: !self.constraints.is_empty(),
            limits: self.limits,
            seed: self.seed,
        }
    }

    /// What is asked for, after all that it must not fall below: presets of less effort, and, without a share, the same
    /// with one. Given labels, or parts of the search that were switched off, have nothing to compare with.
    fn ladder(&self, is_given: bool, clock: &Clock<'_>) -> Vec<Vec<Rung>> {
        let min_share = self.effective_min_share();
        let in_time = |mut effort: Effort| {
            if effort.recombination == Recombination::Patient && clock.has_limit() {
                effort.recombination = Recombination::WhileThereIsTime;
            }
            effort
        };
        let rung = |preset: Preset, min_share: f64| Rung {
            effort: in_time(self.effort.unwrap_or_else(|| preset.effort())),
            // Under a ceiling clusters differ little in mass: the objective tells which are the best.
            choice: self.choice.unwrap_or_else(|| match self.constraints.max_share {
                Some(_) => Choice::Objective,
                None => preset.choice(min_share),
            }),
            min_share,
        };
        if is_given || self.effort.is_some() || self.choice.is_some() {
            return vec![vec![rung(self.preset, min_share)]];
        }
        let presets = [Preset::Fast, Preset::Default, Preset::Best];
        let n_rows = presets.iter().take_while(|&&preset| preset != self.preset).count() + 1;
        let row = |&preset: &Preset| {
            // Preset `best` takes all the time there is: with a limit the usual share has a third of it, and
            // others have none.
            let is_brief = preset != Preset::Best || !clock.has_limit();
            let n_stricter = if is_brief { SHARES_TO_COMPARE.len() } else { 1 };
            let stricter = SHARES_TO_COMPARE[..n_stricter].iter().filter(|_| min_share == 0.0);
            stricter.chain([&min_share]).map(|&min_share| rung(preset, min_share)).collect()
        };
        presets[..n_rows].iter().map(row).collect()
    }
}

/// Labels and how they were found.
pub(crate) struct Found {
    pub(crate) labels: Vec<Label>,
    pub(crate) sweeps: usize,
    pub(crate) moves: u64,
    pub(crate) stop_reason: StopReason,
    /// Of modularity.
    pub(crate) resolution: Option<f64>,
    pub(crate) plan: Option<Plan>,
}

fn found_communities(found: FoundCommunities, clock: &Clock<'_>) -> Found {
    let labels = found.labels.into_iter().map(|cluster| cluster as Label).collect();
    let stop_reason = clock.stopped().map_or(StopReason::LocalOptimum, |stopped| stopped.0);
    let resolution = Some(found.resolution);
    Found { labels, sweeps: 0, moves: 0, stop_reason, resolution, plan: None }
}
