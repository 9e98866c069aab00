//! The front door: settings in, a clustering out.

use std::ops::ControlFlow;
use std::time::Duration;

use crate::descent::{StoppingRule, descend};
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::hierarchy::{InitialLabels, MergeTree, n2hi};
use crate::metrics::{ClusterSummary, CutScore, Label, UNLABELLED, number_by_appearance};
use crate::partition::{ClusterId, Partition};
use crate::progress::{Instant, Observer, Progress, SharedObserver, StopReason, unobserved};
use crate::search::{Choice, Effort, Recombination, Request, search};
use crate::start;

/// Which algorithms run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Preset {
    /// The paper, to its printed digits: N2HI, then Fast-CD, sequential.
    Paper,
    /// One multilevel pass, and on small meshes and pictures a second.
    Fast,
    /// Several starts, split-merge, and of what they give the clusters that are [most of use](Choice).
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
            first_neighbors: true,
            merging: true,
            propagation: true,
            stricter: true,
            chains: true,
            only_in_passing: false,
            split_rounds: 8,
            cycles: 8,
            recombination: Recombination::Patient { eras: ERAS },
        };
        match self {
            Self::Paper | Self::Fast => Effort {
                first_neighbors: false,
                only_in_passing: true,
                split_rounds: 0,
                cycles: 1,
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
const ERAS: usize = 2;
const ERAS_IN_TIME: usize = 60;

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
    preset: Preset,
    stopping: StoppingRule,
    min_share: Option<f64>,
    components: ComponentChoice,
    init: Option<Vec<Label>>,
    time_limit: Option<Duration>,
    seed: u64,
    effort: Option<Effort>,
    choice: Option<Choice>,
    with_hierarchy: bool,
}

/// What came out.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Clustering {
    /// Cluster of every node, numbered by first appearance; -1 for nodes left out.
    pub labels: Vec<Label>,
    /// `sum_c A_c / D_c`: larger is better.
    pub objective: f64,
    /// Normalized Cut, the number of clusters less the objective: smaller is better.
    pub ncut: f64,
    /// The smallest cluster's volume over the mean volume of the clusters.
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
    /// How the nodes and then the clusters come together, [on request](Ncut::with_hierarchy) and unless stopped.
    pub hierarchy: Option<MergeTree>,
}

impl Ncut {
    /// Clusters into exactly `n_clusters`, everything else by default.
    pub fn new(n_clusters: usize) -> Self {
        Self {
            n_clusters,
            is_auto: false,
            preset: Preset::default(),
            stopping: StoppingRule::default(),
            min_share: None,
            components: ComponentChoice::default(),
            init: None,
            time_limit: None,
            seed: 0,
            effort: None,
            choice: None,
            with_hierarchy: false,
        }
    }

    /// Clusters into as many as [`choose`](Self::choose) suggests, of 1 to [`MOST_SUGGESTED`](Self::MOST_SUGGESTED).
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
    pub const MOST_SUGGESTED: usize = 20;

    /// Asks for another number of clusters.
    #[must_use]
    pub fn n_clusters(self, n_clusters: usize) -> Self {
        Self { n_clusters, is_auto: false, ..self }
    }

    pub(crate) fn preset_in_use(&self) -> Preset {
        self.preset
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

    /// Returns the best so far after this time.
    #[must_use]
    pub fn time_limit(self, limit: Duration) -> Self {
        Self { time_limit: Some(limit), ..self }
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
        self.solve_observed(graph, &mut unobserved)
    }

    /// Clusters the graph, telling `observe` how it goes. When it says stop, the best so far is returned.
    ///
    /// # Errors
    /// As [`solve`](Self::solve).
    pub fn solve_observed(&self, graph: &Graph<'_>, observe: Observer<'_>) -> Result<Clustering> {
        self.check(graph)?;
        if self.is_auto {
            let most = graph.n_nodes().min(Self::MOST_SUGGESTED);
            let curve = self.choose(graph, 1..=most, observe)?;
            return self.clone().n_clusters(curve.suggested).solve_observed(graph, observe);
        }
        let components = graph.components();
        let n_components = components.count();
        let found = match self.components {
            ComponentChoice::All => {
                drop(components);
                self.solve_part(graph, self.init.as_deref(), observe)?
            }
            ComponentChoice::Largest => {
                let nodes = components.largest();
                drop(components);
                let part = graph.induced(&nodes)?;
                let init: Option<Vec<Label>> =
                    self.init.as_ref().map(|init| nodes.iter().map(|&node| init[node as usize]).collect());
                let found = self.solve_part(&part, init.as_deref(), observe)?;
                let mut labels = vec![UNLABELLED; graph.n_nodes()];
                for (&node, &label) in nodes.iter().zip(&found.labels) {
                    labels[node as usize] = label;
                }
                Found { labels, ..found }
            }
        };
        let score = CutScore::new(graph, &found.labels)?;
        let hierarchy = match self.with_hierarchy {
            true => MergeTree::build(graph, &found.labels, &SharedObserver::new(observe))?,
            false => None,
        };
        Ok(Clustering {
            labels: found.labels,
            objective: score.objective,
            ncut: score.ncut,
            smallest_share: score.smallest_share,
            clusters: score.clusters,
            n_components,
            sweeps: found.sweeps,
            moves: found.moves,
            stop_reason: found.stop_reason,
            hierarchy,
        })
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
    fn solve_part(&self, graph: &Graph<'_>, init: Option<&[Label]>, observe: Observer<'_>) -> Result<Found> {
        let n_clusters = self.n_clusters;
        if n_clusters == 0 || n_clusters > graph.n_nodes() {
            let nodes = match self.components {
                ComponentChoice::All => "nodes",
                ComponentChoice::Largest => "nodes of the largest component",
            };
            return Err(Error::BadClusterCount { n_clusters, n_nodes: graph.n_nodes(), nodes });
        }
        let mut clock = Clock::new(self.time_limit, observe);
        let mut observe = |progress: &Progress| clock.observe(progress);
        let mut found = if n_clusters >= graph.n_nodes() - graph.n_isolated() {
            // Every node with edges is a cluster of its own; a start changes nothing but may be wrong.
            init.map(|init| start::cluster_names(init, n_clusters)).transpose()?;
            Found {
                labels: start::all_apart(graph),
                sweeps: 0,
                moves: 0,
                stop_reason: StopReason::LocalOptimum,
            }
        } else {
            match self.preset {
                Preset::Paper => self.solve_as_paper(graph, init, &mut observe)?,
                Preset::Fast | Preset::Default | Preset::Best => {
                    self.solve_by_search(graph, init, &mut observe)?
                }
            }
        };
        if found.stop_reason == StopReason::Cancelled && clock.ran_out {
            found.stop_reason = StopReason::TimeLimit;
        }
        start::place_isolated(graph, &mut found.labels, n_clusters);
        number_by_appearance(&mut found.labels);
        Ok(found)
    }

    /// N2HI, unless labels are given, then Fast-CD.
    fn solve_as_paper(
        &self,
        graph: &Graph<'_>,
        init: Option<&[Label]>,
        observe: Observer<'_>,
    ) -> Result<Found> {
        let InitialLabels { labels, cancelled } = match init {
            Some(init) => {
                InitialLabels { labels: start::from_labels(graph, init, self.n_clusters)?, cancelled: false }
            }
            None => n2hi(graph, self.n_clusters, observe)?,
        };
        let mut partition = Partition::new(graph, labels, self.n_clusters)?;
        let (sweeps, moves, stop_reason) = if cancelled {
            (0, 0, StopReason::Cancelled)
        } else {
            let descent = descend(&mut partition, &self.stopping, observe);
            (descent.sweeps, descent.moves, descent.stop_reason)
        };
        let labels = partition.into_labels().into_iter().map(|cluster| cluster as Label).collect();
        Ok(Found { labels, sweeps, moves, stop_reason })
    }
}

impl Ncut {
    fn solve_by_search(
        &self,
        graph: &Graph<'_>,
        init: Option<&[Label]>,
        observe: Observer<'_>,
    ) -> Result<Found> {
        let given = init.map(|init| start::from_labels(graph, init, self.n_clusters)).transpose()?;
        let mut effort = self.effort.unwrap_or_else(|| self.preset.effort());
        if let (Recombination::Patient { eras }, Some(_)) = (&mut effort.recombination, self.time_limit) {
            *eras = ERAS_IN_TIME;
        }
        let request = Request {
            n_clusters: self.n_clusters,
            min_share: self.effective_min_share(),
            rule: self.stopping,
            effort,
            choice: self.choice.unwrap_or_else(|| self.preset.choice(self.effective_min_share())),
            seed: self.seed,
        };
        let connected = (graph.n_isolated() > 0).then(|| graph.connected_nodes());
        let part = connected.is_some().then(|| graph.without_isolated()).transpose()?;
        let watch = SharedObserver::new(observe);
        let of_part = |labels: Vec<ClusterId>| match &connected {
            None => labels,
            Some(nodes) => nodes.iter().map(|&node| labels[node as usize]).collect(),
        };
        let searched = search(part.as_ref().unwrap_or(graph), given.map(of_part), &request, &watch)?;
        let labels = match connected {
            None => searched.labels.into_iter().map(|cluster| cluster as Label).collect(),
            Some(nodes) => {
                let mut labels = vec![0; graph.n_nodes()];
                for (&node, &label) in nodes.iter().zip(&searched.labels) {
                    labels[node as usize] = label as Label;
                }
                labels
            }
        };
        Ok(Found {
            labels,
            sweeps: searched.sweeps,
            moves: searched.moves,
            stop_reason: searched.stop_reason,
        })
    }
}

/// Labels and how they were found.
struct Found {
    labels: Vec<Label>,
    sweeps: usize,
    moves: u64,
    stop_reason: StopReason,
}

/// The caller's observer with a time limit in front of it.
struct Clock<'a> {
    deadline: Option<Instant>,
    ran_out: bool,
    observe: Observer<'a>,
}

impl<'a> Clock<'a> {
    fn new(limit: Option<Duration>, observe: Observer<'a>) -> Self {
        // A limit too long for the clock is no limit.
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        Self { deadline, ran_out: false, observe }
    }

    fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
        if (self.observe)(progress).is_break() {
            return ControlFlow::Break(());
        }
        self.ran_out = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if self.ran_out { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
