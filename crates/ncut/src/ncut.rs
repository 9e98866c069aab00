//! The front door: settings in, a clustering out.

use std::time::Duration;

use crate::descent::{StoppingRule, descend};
use crate::error::{Error, Result, or_stopped};
use crate::graph::{Graph, Subgraph};
use crate::hierarchy::{InitialLabels, MergeTree, n2hi};
use crate::limits::Limits;
use crate::metrics::{ClusterSummary, CutScore, Label, UNLABELLED, number_by_appearance};
use crate::objective::{Objective, ObjectiveKind, with_objective};
use crate::partition::{ClusterId, Partition};
use crate::progress::{Clock, StopReason, Stopped};
use crate::search::{Choice, Effort, Plan, Recombination, Request, search};
use crate::start;

/// Which algorithms run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Preset {
    /// The paper, to its printed digits: N2HI, then Fast-CD, sequential.
    Paper,
    /// One multilevel pass, and on small meshes and pictures a second.
    Fast,
    /// Several starts and split-merge; of the results the one with the [most useful](Choice) clusters is kept.
    #[default]
    Default,
    /// The highest objective: until the time limit, or until nothing better turns up.
    Best,
}

impl Preset {
    /// The name used in reports and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Fast => "fast",
            Self::Default => "default",
            Self::Best => "best",
        }
    }

    /// What of the search runs. Preset `paper` is none of it.
    pub fn effort(self) -> Effort {
        let all = Effort {
            hierarchy_start: true,
            merging_start: true,
            propagation: true,
            strict_starts: true,
            chains: true,
            only_quick_refinement: false,
            split_rounds: 8,
            v_cycles: 8,
            recombination: Recombination::Patient { restarts: RESTARTS },
        };
        match self {
            Self::Paper | Self::Fast => Effort {
                hierarchy_start: false,
                only_quick_refinement: true,
                split_rounds: 0,
                v_cycles: 1,
                recombination: Recombination::None,
                ..all
            },
            Self::Default => Effort { recombination: Recombination::Brief, ..all },
            Self::Best => all,
        }
    }

    /// How starts compete under a share.
    pub fn choice(self, min_share: f64) -> Choice {
        if self == Self::Default && min_share > 0.0 { Choice::Modularity } else { Choice::Objective }
    }

    /// The share of the mean volume that no cluster falls below, unless another is asked for.
    pub fn min_share(self) -> f64 {
        match self {
            Self::Paper => 0.0,
            Self::Fast | Self::Default | Self::Best => 0.25,
        }
    }
}

/// Populations of preset `best`: without a time limit, and with one, which is there to be used.
const RESTARTS: usize = 2;
const RESTARTS_IN_TIME: usize = 60;

/// Which part of a disconnected graph is clustered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ComponentChoice {
    /// All of it.
    #[default]
    All,
    /// The largest connected component (of several the one with the lowest node); every other node is
    /// labelled -1.
    Largest,
}

/// How to cluster: Normalized Cut into `n_clusters`.
///
/// Every cluster has a node with edges, as long as there are enough of them. Isolated nodes, which contribute
/// nothing wherever they are, join the cluster of largest volume; only when more clusters are asked for than
/// there are nodes with edges do they become clusters, the lowest first.
///
/// ```
/// use ncut::{Graph, Ncut};
/// let graph = Graph::from_edges(4, [(0, 1, 5.0), (1, 2, 0.1), (2, 3, 5.0)])?;
/// let clustering = Ncut::new(2).solve(&graph)?;
/// assert_eq!(clustering.labels, [0, 0, 1, 1]);
/// # Ok::<(), ncut::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Ncut {
    n_clusters: usize,
    /// Whether the number is to be found out.
    is_auto: bool,
    objective: ObjectiveKind,
    preset: Preset,
    stopping: StoppingRule,
    min_share: Option<f64>,
    components: ComponentChoice,
    init: Option<Vec<Label>>,
    time_limit: Option<Duration>,
    seed: u64,
    effort: Option<Effort>,
    choice: Option<Choice>,
    limits: Limits,
    with_hierarchy: bool,
}

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
    /// Normalized Cut, `sum_c (D_c - A_c) / D_c`: smaller is better.
    pub ncut: f64,
    /// Ratio-Cut, `sum_c (D_c - A_c) / n_c`: smaller is better.
    pub ratio_cut: f64,
    /// Modularity: larger is better.
    pub modularity: f64,
    /// The smallest cluster's volume (for Ratio-Cut: its size) over the mean of the clusters.
    pub smallest_share: f64,
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
    /// What the search did; `None` where none was needed, and for preset `paper`.
    pub plan: Option<Plan>,
    /// How the nodes and then the clusters come together, [on request](Ncut::with_hierarchy) and unless stopped.
    pub hierarchy: Option<MergeTree>,
}

impl Ncut {
    /// Clusters into exactly `n_clusters`, everything else by default.
    pub fn new(n_clusters: usize) -> Self {
        Self {
            n_clusters,
            is_auto: false,
            objective: ObjectiveKind::default(),
            preset: Preset::default(),
            stopping: StoppingRule::default(),
            min_share: None,
            components: ComponentChoice::default(),
            init: None,
            time_limit: None,
            seed: 0,
            effort: None,
            choice: None,
            limits: Limits::default(),
            with_hierarchy: false,
        }
    }

    /// Clusters into as many as [`choose`](Self::choose) suggests, of 1 to [`MAX_SUGGESTED`](Self::MAX_SUGGESTED).
    ///
    /// ```
    /// use ncut::{Ncut, synthetic::five_blocks};
    /// let found = Ncut::auto().solve(&five_blocks(0.5, 1)?.graph)?;
    /// assert_eq!(found.clusters.len(), 5);
    /// # Ok::<(), ncut::Error>(())
    /// ```
    pub fn auto() -> Self {
        Self { is_auto: true, ..Self::new(1) }
    }

    /// The largest number of clusters that [`auto`](Self::auto) suggests.
    pub const MAX_SUGGESTED: usize = 20;

    /// Asks for another number of clusters.
    #[must_use]
    pub fn n_clusters(self, n_clusters: usize) -> Self {
        Self { n_clusters, is_auto: false, ..self }
    }

    /// Optimises another objective than Normalized Cut. Preset `paper` knows no other.
    ///
    /// ```
    /// use ncut::{Graph, Ncut, objective::ObjectiveKind};
    /// let path = Graph::from_edges(4, [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0)])?;
    /// let found = Ncut::new(2).objective(ObjectiveKind::RatioCut).solve(&path)?;
    /// assert_eq!(found.labels, [0, 0, 1, 1]);
    /// assert_eq!(found.ratio_cut, 1.0);
    /// # Ok::<(), ncut::Error>(())
    /// ```
    #[must_use]
    pub fn objective(self, objective: ObjectiveKind) -> Self {
        Self { objective, ..self }
    }

    /// The settings that [`choose`](Self::choose) looks at.
    pub(crate) fn in_use(&self) -> (Preset, ObjectiveKind, ComponentChoice, Option<Duration>) {
        (self.preset, self.objective, self.components, self.time_limit)
    }

    /// What the choices among equals, and the variations of preset `best`, are made from.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Chooses the algorithms.
    #[must_use]
    pub fn preset(self, preset: Preset) -> Self {
        Self { preset, ..self }
    }

    /// Chooses the parts of the search one by one, instead of the preset's.
    #[must_use]
    pub fn effort(self, effort: Effort) -> Self {
        Self { effort: Some(effort), ..self }
    }

    /// Chooses how starts compete, instead of the preset's way.
    #[must_use]
    pub fn choice(self, choice: Choice) -> Self {
        Self { choice: Some(choice), ..self }
    }

    /// Replaces the thresholds of size at which the search changes its way; for tests and measurements.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Sweeps at most, of every descent that is made.
    #[must_use]
    pub fn max_sweeps(self, max_sweeps: usize) -> Self {
        Self { stopping: StoppingRule { max_sweeps, ..self.stopping }, ..self }
    }

    /// Stops when a sweep changes the objective by less than this, relatively.
    #[must_use]
    pub fn tolerance(self, tolerance: f64) -> Self {
        Self { stopping: StoppingRule { tolerance, ..self.stopping }, ..self }
    }

    /// Lets no cluster's volume fall below this share of the mean volume; 0 is plain N-Cut. Without it the
    /// [preset's own](Preset::min_share) holds. Preset `paper` has no such constraint, so only 0 goes with it.
    #[must_use]
    pub fn min_share(self, min_share: f64) -> Self {
        Self { min_share: Some(min_share), ..self }
    }

    fn effective_min_share(&self) -> f64 {
        self.min_share.unwrap_or_else(|| self.preset.min_share())
    }

    /// Chooses what happens to a disconnected graph.
    #[must_use]
    pub fn components(self, components: ComponentChoice) -> Self {
        Self { components, ..self }
    }

    /// Starts from these labels, one a node, instead of making a start; -1 leaves it to its neighbours.
    #[must_use]
    pub fn init(self, labels: Vec<Label>) -> Self {
        Self { init: Some(labels), ..self }
    }

    /// Returns the best so far after this time, whatever is done until then.
    #[must_use]
    pub fn time_limit(self, limit: Duration) -> Self {
        Self { time_limit: Some(limit), ..self }
    }

    /// Without a time limit of its own: the clock has it.
    pub(crate) fn without_time_limit(self) -> Self {
        Self { time_limit: None, ..self }
    }

    /// Makes the merge tree of the result too: labels for any smaller number of clusters.
    #[must_use]
    pub fn with_hierarchy(self) -> Self {
        Self { with_hierarchy: true, ..self }
    }

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
        let found = match self.is_auto {
            true => self.solve_auto(part.graph(), clock)?,
            false => {
                let init = self.init.as_ref().map(|init| part.gather(init));
                self.solve_part(part.graph(), init.as_deref(), clock)?
            }
        };
        let labels = part.scatter(found.labels, UNLABELLED);
        let score = CutScore::by(self.objective, graph, &labels)?;
        let hierarchy = match self.with_hierarchy {
            true => or_stopped(with_objective!(self.objective, graph, |objective| {
                MergeTree::build(graph, &labels, objective, clock)
            }))?
            .ok(),
            false => None,
        };
        Ok(Clustering {
            labels,
            objective_kind: self.objective,
            objective: score.objective,
            ncut: score.ncut,
            ratio_cut: score.ratio_cut,
            modularity: score.modularity,
            smallest_share: score.smallest_share,
            clusters: score.clusters,
            n_components,
            sweeps: found.sweeps,
            moves: found.moves,
            stop_reason: found.stop_reason,
            plan: found.plan,
            hierarchy,
        })
    }

    /// Finds out how many clusters there are, and makes them. When the clock says stop meanwhile, the clusters that the
    /// number was found with are the result.
    fn solve_auto(&self, graph: &Graph<'_>, clock: &Clock<'_>) -> Result<Found> {
        let max = graph.n_nodes().min(Self::MAX_SUGGESTED);
        let settings = self.clone().components(ComponentChoice::All).without_time_limit();
        let mut curve = settings.choose_by(graph, 1..=max, clock)?;
        let row = curve.rows.swap_remove(curve.suggested - 1);
        let from_curve = |stopped: Stopped| Found {
            labels: row.labels.clone(),
            sweeps: 0,
            moves: 0,
            stop_reason: stopped.0,
            plan: None,
        };
        if let Some(stopped) = clock.stopped() {
            return Ok(from_curve(stopped));
        }
        let found = settings.n_clusters(curve.suggested).solve_part(graph, None, clock)?;
        match clock.stopped() {
            // A search that was cut short may be behind what the curve has.
            Some(stopped) if CutScore::new(graph, &found.labels)?.objective < row.objective => {
                Ok(from_curve(stopped))
            }
            _ => Ok(found),
        }
    }

    fn check(&self, graph: &Graph<'_>) -> Result<()> {
        let tolerance = self.stopping.tolerance;
        if !(tolerance >= 0.0 && tolerance.is_finite()) {
            let (value, expected) = (tolerance.to_string(), "a number of at least 0");
            return Err(Error::BadSetting { name: "tolerance", value, expected });
        }
        let min_share = self.effective_min_share();
        if !(0.0..=1.0).contains(&min_share) {
            let (value, expected) = (min_share.to_string(), "from 0 to 1");
            return Err(Error::BadSetting { name: "min_share", value, expected });
        }
        if self.preset == Preset::Paper && min_share > 0.0 {
            let (value, expected) = (min_share.to_string(), "0 with preset `paper`, which has no share");
            return Err(Error::BadSetting { name: "min_share", value, expected });
        }
        if self.preset == Preset::Paper && self.objective != ObjectiveKind::NormalizedCut {
            let (value, expected) = (self.objective.name().to_owned(), "`ncut` with preset `paper`");
            return Err(Error::BadSetting { name: "objective", value, expected });
        }
        if self.is_auto && self.objective != ObjectiveKind::NormalizedCut {
            let value = self.objective.name().to_owned();
            let expected = "`ncut` where the number of clusters is to be found out";
            return Err(Error::BadSetting { name: "objective", value, expected });
        }
        if self.n_clusters > Label::MAX as usize {
            let (value, expected) = (self.n_clusters.to_string(), "below 2^31");
            return Err(Error::BadSetting { name: "n_clusters", value, expected });
        }
        graph.verify()?;
        match &self.init {
            Some(_) if self.is_auto => {
                Err(Error::labels("starting labels need a number of clusters, which is to be found out"))
            }
            Some(init) if init.len() != graph.n_nodes() => Err(Error::labels(format!(
                "{} starting labels were given for {} nodes",
                init.len(),
                graph.n_nodes()
            ))),
            _ => Ok(()),
        }
    }

    /// Clusters all of `graph`.
    fn solve_part(&self, graph: &Graph<'_>, init: Option<&[Label]>, clock: &Clock<'_>) -> Result<Found> {
        let n_clusters = self.n_clusters;
        if n_clusters == 0 || n_clusters > graph.n_nodes() {
            let nodes = match self.components {
                ComponentChoice::All => "nodes",
                ComponentChoice::Largest => "nodes of the largest component",
            };
            return Err(Error::BadClusterCount { n_clusters, n_nodes: graph.n_nodes(), nodes });
        }
        with_objective!(self.objective, graph, |objective| self.solve_for(objective, graph, init, clock))
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
            Found { labels, sweeps: 0, moves: 0, stop_reason, plan: None }
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
                let descent = descend(&mut partition, &self.stopping, clock);
                (descent.sweeps, descent.moves, descent.stop_reason)
            }
        };
        let labels = partition.into_labels().into_iter().map(|cluster| cluster as Label).collect();
        Ok(Found { labels, sweeps, moves, stop_reason, plan: None })
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
        let mut effort = self.effort.unwrap_or_else(|| self.preset.effort());
        if let Recombination::Patient { restarts } = &mut effort.recombination
            && clock.has_limit()
        {
            *restarts = RESTARTS_IN_TIME;
        }
        let request = Request {
            n_clusters,
            min_share: self.effective_min_share(),
            rule: self.stopping,
            effort,
            choice: self.choice.unwrap_or_else(|| self.preset.choice(self.effective_min_share())),
            limits: self.limits,
            seed: self.seed,
        };
        let part = Subgraph::without_isolated(graph)?;
        let given: Option<Vec<ClusterId>> = given.map(|labels| part.gather(&labels));
        let searched = match O::USES_SIZES {
            false => search(part.graph(), objective, given, &request, clock)?,
            true => search(&part.graph().with_unit_sizes(), objective, given, &request, clock)?,
        };
        let labels = searched.labels.into_iter().map(|cluster| cluster as Label).collect();
        Ok(Found {
            labels: part.scatter(labels, 0),
            sweeps: searched.sweeps,
            moves: searched.moves,
            stop_reason: searched.stop_reason,
            plan: Some(searched.plan),
        })
    }
}

/// Labels and how they were found.
struct Found {
    labels: Vec<Label>,
    sweeps: usize,
    moves: u64,
    stop_reason: StopReason,
    plan: Option<Plan>,
}
