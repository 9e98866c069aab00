//! The settings of a clustering: what may be asked for, and what is refused.

use std::time::Duration;

use crate::constraints::Constraints;
use crate::descent::StoppingRule;
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::limits::Limits;
use crate::metrics::Label;
use crate::objective::ObjectiveKind;
use crate::search::{Choice, Effort, Recombination};

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
    /// Looks longest for a high objective: until the time limit, or until nothing better turns up; without a limit on graphs of
    /// a million entries for several times as long as `default`.
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
            affinity_start: true,
            communities_start: true,
            propagation: true,
            strict_starts: true,
            chains: true,
            only_quick_refinement: false,
            split_rounds: 8,
            coarse_split_rounds: 8,
            v_cycles: 8,
            recombination: Recombination::Patient,
        };
        match self {
            Self::Paper | Self::Fast => Effort {
                hierarchy_start: false,
                communities_start: false,
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
        match self {
            Self::Fast | Self::Default if min_share > 0.0 => Choice::Modularity,
            _ => Choice::Objective,
        }
    }

    /// The share of the mean volume that no cluster falls below, unless another is asked for.
    pub fn min_share(self) -> f64 {
        match self {
            Self::Paper => 0.0,
            Self::Fast | Self::Default | Self::Best => 0.25,
        }
    }
}

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

/// Who says how many clusters there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CountRule {
    /// Clusters are apart where the boundary between them is clearly thinner than any cut through them; whatever the range.
    #[default]
    Boundaries,
    /// The paper's: the number of the range after which the objective gains much less.
    Gap,
}

impl CountRule {
    /// What it is called: `boundaries` or `gap`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Boundaries => "boundaries",
            Self::Gap => "gap",
        }
    }
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
    pub(crate) n_clusters: usize,
    /// Whether the number is to be found out.
    pub(crate) is_auto: bool,
    /// Whether there may be any number, by modularity.
    pub(crate) is_free: bool,
    pub(crate) count_rule: CountRule,
    pub(crate) objective: ObjectiveKind,
    pub(crate) resolution: Option<f64>,
    pub(crate) preset: Preset,
    pub(crate) stopping: StoppingRule,
    pub(crate) min_share: Option<f64>,
    pub(crate) connected: Option<bool>,
    pub(crate) components: ComponentChoice,
    pub(crate) init: Option<Vec<Label>>,
    pub(crate) constraints: Constraints,
    pub(crate) time_limit: Option<Duration>,
    pub(crate) seed: u64,
    pub(crate) effort: Option<Effort>,
    pub(crate) choice: Option<Choice>,
    pub(crate) limits: Limits,
    pub(crate) with_hierarchy: bool,
}

impl Ncut {
    /// Clusters into exactly `n_clusters`, everything else by default.
    pub fn new(n_clusters: usize) -> Self {
        Self {
            n_clusters,
            is_auto: false,
            is_free: false,
            count_rule: CountRule::default(),
            objective: ObjectiveKind::default(),
            resolution: None,
            preset: Preset::default(),
            stopping: StoppingRule::default(),
            min_share: None,
            connected: None,
            components: ComponentChoice::default(),
            init: None,
            constraints: Constraints::default(),
            time_limit: None,
            seed: 0,
            effort: None,
            choice: None,
            limits: Limits::default(),
            with_hierarchy: false,
        }
    }

    /// Clusters into as many as the graph shows: those that [`count`](Self::count) finds and [`choose`](Self::choose) suggests.
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

    /// Finds communities: clusters of high modularity, as many as that makes, each of them connected. A higher resolution gives
    /// more of them; 1 is Newman's modularity. Isolated nodes are communities of their own.
    ///
    /// ```
    /// use ncut::{Graph, Ncut};
    /// // Two triangles and an edge between them.
    /// let edges = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5)];
    /// let graph = Graph::from_edges(6, edges.map(|(from, to)| (from, to, 1.0)))?;
    /// let found = Ncut::communities(1.0).solve(&graph)?;
    /// assert_eq!(found.labels, [0, 0, 0, 1, 1, 1]);
    /// assert!((found.modularity - (6.0 / 7.0 - 0.5)).abs() < 1e-12);
    /// # Ok::<(), ncut::Error>(())
    /// ```
    pub fn communities(resolution: f64) -> Self {
        let objective = ObjectiveKind::Modularity;
        Self { is_free: true, objective, resolution: Some(resolution), ..Self::new(1) }
    }

    /// The largest number of clusters that [`auto`](Self::auto) finds by the [gap](CountRule::Gap).
    pub const MAX_SUGGESTED: usize = 20;

    /// Sets the rule by which a number of clusters is found out.
    #[must_use]
    pub fn count_rule(self, count_rule: CountRule) -> Self {
        Self { count_rule, ..self }
    }

    /// Asks for another number of clusters.
    #[must_use]
    pub fn n_clusters(self, n_clusters: usize) -> Self {
        Self { n_clusters, is_auto: false, is_free: false, ..self }
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

    /// Sets the resolution of [modularity](ObjectiveKind::Modularity). Without it exactly as many communities as asked for are
    /// looked for at the resolution that makes so many.
    ///
    /// ```
    /// use ncut::{Graph, Ncut, objective::ObjectiveKind};
    /// let path = Graph::from_edges(6, [0, 1, 2, 3, 4].map(|node| (node, node + 1, 1.0)))?;
    /// let found = Ncut::new(3).objective(ObjectiveKind::Modularity).resolution(2.0).solve(&path)?;
    /// assert_eq!(found.labels, [0, 0, 1, 1, 2, 2]);
    /// # Ok::<(), ncut::Error>(())
    /// ```
    #[must_use]
    pub fn resolution(self, resolution: f64) -> Self {
        Self { resolution: Some(resolution), ..self }
    }

    /// What choices among equals, and all variations of the search, are made from.
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

    /// Lets no cluster's volume (for Ratio-Cut: its size) fall below this share of the mean; 0 is the plain objective. Without it the
    /// [preset's own](Preset::min_share) holds, and 0 for modularity. Preset `paper` has no such constraint, so only 0 goes with it.
    #[must_use]
    pub fn min_share(self, min_share: f64) -> Self {
        Self { min_share: Some(min_share), ..self }
    }

    pub(crate) fn effective_min_share(&self) -> f64 {
        let usual = match self.objective {
            ObjectiveKind::Modularity => 0.0,
            _ => self.preset.min_share(),
        };
        self.min_share.unwrap_or(usual)
    }

    /// Whether every cluster is to be connected, as it is with all presets but `paper`, which knows no such constraint. Of a
    /// disconnected graph a cluster may hold whole components besides. It goes before the [share](Self::min_share).
    ///
    /// ```
    /// use ncut::{Graph, Ncut};
    /// // A star: without its centre no two leaves hold together.
    /// let star = Graph::from_edges(5, [1, 2, 3, 4].map(|leaf| (0, leaf, 1.0)))?;
    /// let found = Ncut::new(2).connected(true).solve(&star)?;
    /// assert_eq!(found.clusters.iter().map(|cluster| cluster.size).min(), Some(1));
    /// # Ok::<(), ncut::Error>(())
    /// ```
    #[must_use]
    pub fn connected(self, connected: bool) -> Self {
        Self { connected: Some(connected), ..self }
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.connected.unwrap_or(self.preset != Preset::Paper)
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

    /// Sets what a result must obey: known labels, pairs together and apart, a largest share, weights of the nodes. Preset `paper`
    /// knows nothing of the kind, and communities of any number neither.
    ///
    /// ```
    /// use ncut::{Constraints, Graph, Ncut};
    /// let path = Graph::from_edges(4, [(0, 1, 6.0), (1, 2, 0.1), (2, 3, 5.0)])?;
    /// let asked = Constraints::new().must_link([(0, 3)]);
    /// assert_eq!(Ncut::new(2).constraints(asked).solve(&path)?.labels, [0, 0, 1, 0]);
    /// # Ok::<(), ncut::Error>(())
    /// ```
    #[must_use]
    pub fn constraints(self, constraints: Constraints) -> Self {
        Self { constraints, ..self }
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

    pub(crate) fn check(&self, graph: &Graph<'_>) -> Result<()> {
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
        if self.preset == Preset::Paper && self.is_connected() {
            let (value, expected) = ("yes".to_owned(), "`no` with preset `paper`, which is as published");
            return Err(Error::BadSetting { name: "connected", value, expected });
        }
        if self.preset == Preset::Paper && self.objective != ObjectiveKind::NormalizedCut {
            let (value, expected) = (self.objective.name().to_owned(), "`ncut` with preset `paper`");
            return Err(Error::BadSetting { name: "objective", value, expected });
        }
        if self.is_auto && self.objective != ObjectiveKind::NormalizedCut {
            let value = self.objective.name().to_owned();
            let expected = "`ncut` where that finds out the number of clusters; for as many communities as there are give no number at all";
            return Err(Error::BadSetting { name: "objective", value, expected });
        }
        if self.is_free && self.objective != ObjectiveKind::Modularity {
            let value = self.objective.name().to_owned();
            let expected = "`modularity` where the number of clusters is free";
            return Err(Error::BadSetting { name: "objective", value, expected });
        }
        if self.is_free && min_share > 0.0 {
            let (value, expected) = (min_share.to_string(), "0 where the number of clusters is free");
            return Err(Error::BadSetting { name: "min_share", value, expected });
        }
        self.check_constraints()?;
        if let Some(resolution) = self.resolution {
            let name = "resolution";
            if !(resolution > 0.0 && resolution.is_finite()) {
                let (value, expected) = (resolution.to_string(), "a positive number");
                return Err(Error::BadSetting { name, value, expected });
            }
            if self.objective != ObjectiveKind::Modularity {
                let (value, expected) =
                    (resolution.to_string(), "left out unless the objective is `modularity`");
                return Err(Error::BadSetting { name, value, expected });
            }
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

    fn check_constraints(&self) -> Result<()> {
        let constraints = &self.constraints;
        if let Some(max_share) = constraints.max_share
            && !(max_share >= 1.0 && max_share.is_finite())
        {
            let (value, expected) =
                (max_share.to_string(), "a number of at least 1, the share of the mean cluster");
            return Err(Error::BadSetting { name: "max_share", value, expected });
        }
        let kinds = [
            ("known labels", constraints.fixed.is_some()),
            ("pairs together", !constraints.must_link.is_empty()),
            ("pairs apart", !constraints.cannot_link.is_empty()),
            ("a largest share", constraints.max_share.is_some()),
            ("node weights", constraints.node_weights.is_some()),
        ];
        let Some((name, _)) = kinds.into_iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
        if self.preset == Preset::Paper {
            let expected = "another than `paper`, which is as published, where there are constraints";
            return Err(Error::BadSetting {
                name: "preset",
                value: format!("`paper` with {name}"),
                expected,
            });
        }
        if self.is_free {
            let (value, expected) = (format!("free with {name}"), "given where there are constraints");
            return Err(Error::BadSetting { name: "the number of clusters", value, expected });
        }
        let is_zero = |weight: &f64| *weight == 0.0;
        if self.objective == ObjectiveKind::RatioCut
            && let Some(node) = constraints.node_weights.iter().flatten().position(is_zero)
        {
            let problem =
                "the weight of node {0} is 0; Ratio-Cut divides by weights, which must be above 0".to_owned();
            return Err(Error::Contradiction { problem, nodes: vec![node as u32] });
        }
        Ok(())
    }
}
