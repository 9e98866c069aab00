//! The front door: settings in, a clustering out.

use crate::choose::FoundCount;
use crate::error::{Error, Result, or_stopped};
use crate::graph::{Graph, Subgraph};
use crate::hierarchy::MergeTree;
use crate::metrics::{ClusterSummary, CutScore, Label, UNLABELLED};
use crate::objective::{AnyObjective, ObjectiveKind, with_objective};
use crate::progress::{Clock, StopReason, Stopped};
use crate::search::Plan;
use crate::settings::{ComponentChoice, CountRule, Ncut};
use crate::solve::Found;

/// What came out.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Clustering {
    /// Cluster of every node, numbered by first appearance; -1 for nodes left out.
    pub labels: Vec<Label>,
    /// What was optimised.
    pub objective_kind: ObjectiveKind,
    /// Its value, larger is better: by default `sum_c A_c / D_c`.
    pub objective: f64,
    /// The resolution of modularity, where that was optimised: the one asked for, or the one found.
    pub resolution: Option<f64>,
    /// Normalized Cut, `sum_c (D_c - A_c) / D_c`: smaller is better.
    pub ncut: f64,
    /// Ratio-Cut, `sum_c (D_c - A_c) / n_c`: smaller is better.
    pub ratio_cut: f64,
    /// Modularity at resolution 1: larger is better.
    pub modularity: f64,
    /// The smallest cluster's volume (for Ratio-Cut: its size) over the mean of the clusters.
    pub smallest_share: f64,
    /// The largest cluster's volume (for Ratio-Cut: its size) over the mean of the clusters.
    pub largest_share: f64,
    /// Clusters that are not connected, the components of the graph that they hold as a whole left aside.
    pub n_disconnected: usize,
    /// One row a cluster, by label.
    pub clusters: Vec<ClusterSummary>,
    /// Connected components of the graph.
    pub n_components: usize,
    /// Sweeps of coordinate descent.
    pub sweeps: usize,
    /// Moves of single nodes.
    pub moves: u64,
    /// Why the work ended.
    pub stop_reason: StopReason,
    /// Why so many clusters, where the number was [to be found out](Ncut::auto).
    pub count: Option<FoundCount>,
    /// What the search did; `None` where none was needed, and for preset `paper`.
    pub plan: Option<Plan>,
    /// How the nodes and then the clusters come together, [on request](Ncut::with_hierarchy) and unless stopped.
    pub hierarchy: Option<MergeTree>,
}

impl Ncut {
    /// Clusters the graph.
    ///
    /// # Errors
    /// When the graph has fewer nodes than clusters are asked for, or a setting does not fit it.
    pub fn solve(&self, graph: &Graph<'_>) -> Result<Clustering> {
        self.solve_by(graph, &Clock::new())
    }

    /// Clusters the graph by a [clock](Clock), which is told how it goes. When it says stop, the best so far is returned.
    ///
    /// # Errors
    /// As [`solve`](Self::solve).
    pub fn solve_by(&self, graph: &Graph<'_>, clock: &Clock<'_>) -> Result<Clustering> {
        self.check(graph)?;
        self.check_memory(graph, clock)?;
        if let Some(limit) = self.time_limit {
            clock.limit(limit);
        }
        let components = graph.components();
        let n_components = components.count();
        drop(components);
        let part = match self.components {
            ComponentChoice::All => Subgraph::whole(graph),
            ComponentChoice::Largest => Subgraph::largest_component(graph)?,
        };
        let steered;
        let settings = match part.nodes().filter(|_| !self.constraints.is_empty()) {
            None => self,
            Some(nodes) => {
                steered = self.clone().constraints(self.constraints.among(nodes, graph.n_nodes())?);
                &steered
            }
        };
        let solved = settings.solve_of(part.graph(), &part, clock);
        let (found, count) = solved.map_err(|error| error.with_nodes(|node| part.original(node)))?;
        let labels = part.scatter(found.labels, UNLABELLED);
        let score = self.constraints.score(self.objective, graph, &labels)?;
        if self.connected == Some(true) && score.n_disconnected > 0 && self.constraints.forbids_something() {
            return Err(Error::labels(format!(
                "`connected` yes could not be met: {} of the clusters are in pieces, because of what must be together, apart or \
                 below the largest share; leave some of these out, or allow clusters in pieces",
                score.n_disconnected
            )));
        }
        let modularity = found.resolution.map(|resolution| score.modularity_at(resolution));
        let hierarchy = match self.with_hierarchy {
            true => or_stopped(match modularity {
                Some((modularity, _)) => {
                    MergeTree::build(graph, &labels, AnyObjective::from(modularity), clock)
                }
                None => with_objective!(self.objective, graph, |objective| {
                    MergeTree::build(graph, &labels, objective, clock)
                }),
            })?
            .ok(),
            false => None,
        };
        Ok(Clustering {
            labels,
            objective_kind: self.objective,
            objective: modularity.map_or(score.objective, |(_, value)| value),
            resolution: found.resolution,
            ncut: score.ncut,
            ratio_cut: score.ratio_cut,
            modularity: score.modularity,
            smallest_share: score.smallest_share,
            largest_share: score.largest_share,
            n_disconnected: score.n_disconnected,
            clusters: score.clusters,
            n_components,
            sweeps: found.sweeps,
            moves: found.moves,
            stop_reason: found.stop_reason,
            count,
            plan: found.plan,
            hierarchy,
        })
    }

    /// Clusters a part of the graph, into as many clusters as asked for or found out.
    fn solve_of(
        &self,
        graph: &Graph<'_>,
        part: &Subgraph<'_>,
        clock: &Clock<'_>,
    ) -> Result<(Found, Option<FoundCount>)> {
        match (self.is_auto, self.count_rule) {
            (true, CountRule::Boundaries) => self.solve_separate(graph, clock),
            (true, CountRule::Gap) => self.solve_by_gap(graph, clock),
            (false, _) => {
                let init = self.init.as_ref().map(|init| part.gather(init));
                clock.expect_one_answer();
                Ok((self.solve_part(graph, init.as_deref(), clock)?, None))
            }
        }
    }

    /// Counts the clusters that are apart, and makes as many. When the clock says stop while they are counted, the number is a
    /// guess, and the clusters are what can be made at once.
    fn solve_separate(&self, graph: &Graph<'_>, clock: &Clock<'_>) -> Result<(Found, Option<FoundCount>)> {
        let settings = self.clone().components(ComponentChoice::All).without_time_limit();
        let mut count = settings.separate(graph, clock)?;
        if count.stopped.is_some() {
            // Pieces not compared are too many.
            count.n_clusters = count.n_clusters.min(Self::MAX_SUGGESTED);
        }
        count.n_clusters = count.n_clusters.max(self.constraints.min_clusters());
        clock.expect_one_answer();
        let found = settings.n_clusters(count.n_clusters).solve_part(graph, None, clock)?;
        Ok((found, Some(count)))
    }

    /// Compares numbers of clusters by the objective, and makes as many as it suggests. When the clock says stop meanwhile,
    /// the clusters that the number was found with are the result.
    fn solve_by_gap(&self, graph: &Graph<'_>, clock: &Clock<'_>) -> Result<(Found, Option<FoundCount>)> {
        let max = graph.n_nodes().min(Self::MAX_SUGGESTED);
        let settings = self.clone().components(ComponentChoice::All).without_time_limit();
        let min = self.constraints.min_clusters();
        let mut curve = settings.choose_by(graph, min..=max.max(min), clock)?;
        let count = FoundCount {
            n_clusters: curve.suggested,
            rule: curve.rule,
            reason: curve.reason,
            stopped: curve.stopped,
        };
        let row = curve.rows.swap_remove(curve.suggested - min);
        let from_curve = |stopped: Stopped| Found {
            labels: row.labels.clone(),
            sweeps: 0,
            moves: 0,
            stop_reason: stopped.0,
            resolution: None,
            plan: None,
        };
        if let Some(stopped) = clock.stopped() {
            return Ok((from_curve(stopped), Some(count)));
        }
        clock.expect_one_answer();
        let found = settings.n_clusters(curve.suggested).solve_part(graph, None, clock)?;
        match clock.stopped() {
            // A search that was cut short may be behind what the curve has.
            Some(stopped) if CutScore::new(graph, &found.labels)?.objective < row.objective => {
                Ok((from_curve(stopped), Some(count)))
            }
            _ => Ok((found, Some(count))),
        }
    }
}
