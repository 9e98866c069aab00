//! How many clusters? As many as are clearly apart; or, by the paper's heuristic, the number after which another cluster gains
//! much less.

use std::fmt;
use std::ops::RangeInclusive;

use crate::error::{Error, Result};
use crate::graph::{Graph, NodeId, Subgraph};
use crate::metrics::{CutScore, Label, UNLABELLED};
use crate::objective::{NormalizedCut, Objective, ObjectiveKind};
use crate::progress::{Clock, Progress, Stage, StopReason, Stopped};
use crate::separation::{Evidence, Separated, Separation};
use crate::settings::{ComponentChoice, CountRule, Ncut, Preset};

/// Smaller turns of the curve are ignored: the curves of a single cloud of points turn by up to 0.75.
const MIN_TURN: f64 = 0.9;
/// Cuts smaller than this are all the same: those of clusters that hardly touch.
const SMALL_CUT: f64 = 5e-3;
/// Lower limit of what another cluster gains, so that its logarithm stays finite.
const SMALL_GAP: f64 = 1e-2;

/// A number of clusters that was found out, and why.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct FoundCount {
    /// Number of clusters.
    pub n_clusters: usize,
    /// By which rule.
    pub rule: CountRule,
    /// Why.
    pub reason: CountReason,
    /// Why the work ended early: the number is rough.
    pub stopped: Option<StopReason>,
}

/// Objectives for a range of numbers of clusters, and the number that is suggested.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CountCurve {
    /// One row for each number of clusters, ascending.
    pub rows: Vec<CountRow>,
    /// The number that is suggested. By [boundaries](CountRule::Boundaries) it does not depend on the range, and may lie outside.
    pub suggested: usize,
    /// The number of the range that is nearest to it: itself, unless it lies outside.
    pub best_in_range: usize,
    /// By which rule.
    pub rule: CountRule,
    /// Why.
    pub reason: CountReason,
    /// The number in the range, from 2 on, after which the eigenvalues fall most, where they were computed.
    pub by_eigengap: Option<usize>,
    /// Why the work ended early: smaller numbers of clusters were made by merging alone, and there are no eigenvalues.
    pub stopped: Option<StopReason>,
}

/// What is known about one number of clusters.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CountRow {
    /// Number of clusters.
    pub n_clusters: usize,
    /// The objective that was reached.
    pub objective: f64,
    /// What the last cluster gained: the objective less that of one cluster fewer, evened out so that it never rises.
    /// Not for the first row.
    pub gap: Option<f64>,
    /// How much the curve turns here: the fall of `ln(gap / (1 - gap))` to the next row.
    pub turn: Option<f64>,
    /// The eigenvalue of that number, where computed.
    pub eigenvalue: Option<f64>,
    /// That eigenvalue less the next.
    pub eigengap: Option<f64>,
    /// The labels that have the objective.
    pub labels: Vec<Label>,
}

/// Why a number of clusters is suggested.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum CountReason {
    /// The boundaries between the clusters are clearly thinner than cuts through them.
    Boundaries {
        /// So many times at the least, beyond what a cloud without clusters would show.
        thinner: f64,
    },
    /// No boundary is clearly thinner than cuts through what it separates: there is one cluster.
    NoBoundary {
        /// The largest ratio there was.
        thinner: f64,
    },
    /// No boundaries, but communities with a modularity above that of a random graph with the same degrees.
    Communities {
        /// Their modularity.
        modularity: f64,
        /// That of the random graph.
        by_chance: f64,
    },
    /// The curve turns there, by so much.
    Turn(f64),
    /// The curve turns nowhere clearly, so there is one cluster (or the smallest number of the range).
    NoTurn {
        /// The largest turn there was.
        largest: f64,
    },
    /// There is only one number to choose from.
    OnlyOne,
}

/// To follow a number of clusters in a sentence.
impl fmt::Display for CountReason {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Boundaries { thinner } => write!(
                to,
                "because the boundaries between them are clearly thinner than cuts through them (at least {thinner:.2} times)"
            ),
            Self::NoBoundary { .. } => {
                write!(to, "because no boundary is clearly thinner than the cuts through what it separates")
            }
            Self::Communities { modularity, by_chance } => write!(
                to,
                "communities of modularity {modularity:.3}, where a random graph with the same degrees has {by_chance:.3}"
            ),
            Self::Turn(turn) => write!(to, "after which the gain falls most (turn {turn:.2})"),
            Self::NoTurn { largest } => write!(
                to,
                "because the objective turns nowhere clearly (at most by {largest:.2}, {MIN_TURN} would be clear)"
            ),
            Self::OnlyOne => write!(to, "the only number asked for"),
        }
    }
}

impl Ncut {
    /// How many clusters the graph shows, as [`auto`](Self::auto) takes them, and why.
    ///
    /// # Errors
    /// When a setting does not fit the graph.
    ///
    /// ```
    /// use ncut::{CountReason, Ncut, synthetic::five_blocks};
    /// let found = Ncut::auto().count(&five_blocks(0.5, 1)?.graph, &ncut::Clock::new())?;
    /// assert_eq!(found.n_clusters, 5);
    /// assert!(matches!(found.reason, CountReason::Boundaries { .. }));
    /// # Ok::<(), ncut::Error>(())
    /// ```
    pub fn count(&self, graph: &Graph<'_>, clock: &Clock<'_>) -> Result<FoundCount> {
        if let Some(limit) = self.time_limit {
            clock.limit(limit);
        }
        self.check(graph)?;
        let part = match self.components {
            ComponentChoice::All => Subgraph::whole(graph),
            ComponentChoice::Largest => Subgraph::largest_component(graph)?,
        };
        self.check_memory_to_choose(part.graph(), 1, clock)?;
        match self.count_rule {
            CountRule::Boundaries => self.separate(part.graph(), clock),
            CountRule::Gap => {
                let to = part.graph().n_nodes().min(Self::MAX_SUGGESTED);
                let curve = self.choose_by(part.graph(), 1..=to, clock)?;
                let CountCurve { suggested: n_clusters, rule, reason, stopped, .. } = curve;
                Ok(FoundCount { n_clusters, rule, reason, stopped })
            }
        }
    }

    /// How many clusters are apart, of a graph that was verified.
    pub(crate) fn separate(&self, graph: &Graph<'_>, clock: &Clock<'_>) -> Result<FoundCount> {
        let rule = Separation { limits: &self.limits, seed: self.seed };
        let Separated { n_clusters, evidence } = rule.count(graph, clock)?;
        let reason = match evidence {
            Evidence::Communities { modularity, by_chance } => {
                CountReason::Communities { modularity, by_chance }
            }
            Evidence::Boundaries(thinner) if n_clusters > 1 => CountReason::Boundaries { thinner },
            Evidence::Boundaries(thinner) => CountReason::NoBoundary { thinner },
        };
        let stopped = clock.stopped().map(|Stopped(reason)| reason);
        Ok(FoundCount { n_clusters, rule: CountRule::Boundaries, reason, stopped })
    }

    /// The objectives for every number of clusters in `range`, and which number is suggested.
    ///
    /// By [boundaries](CountRule::Boundaries) the suggestion does not depend on the range, and may lie outside it; by the
    /// [gap](CountRule::Gap) it is one of the range.
    ///
    /// The largest number is solved with these settings, but by preset `fast` (or `paper`); every smaller one starts from the clusters of the next larger,
    /// the best two of which are merged, and is refined. One number beyond the range is looked at too, to see what
    /// another cluster would gain.
    ///
    /// # Errors
    /// When the range is empty, begins at 0 or goes beyond the number of nodes.
    ///
    /// ```
    /// use ncut::{Ncut, synthetic::five_blocks};
    /// let blocks = five_blocks(0.5, 1)?;
    /// let curve = Ncut::new(1).choose(&blocks.graph, 1..=10, &ncut::Clock::new())?;
    /// assert_eq!(curve.suggested, 5);
    /// # Ok::<(), ncut::Error>(())
    /// ```
    pub fn choose(
        &self,
        graph: &Graph<'_>,
        range: RangeInclusive<usize>,
        clock: &Clock<'_>,
    ) -> Result<CountCurve> {
        if let Some(limit) = self.time_limit {
            clock.limit(limit);
        }
        self.check(graph)?;
        let mut settings = self.clone().components(ComponentChoice::All).without_time_limit();
        match self.components {
            ComponentChoice::All => settings.choose_by(graph, range, clock),
            ComponentChoice::Largest => {
                let part = Subgraph::largest_component(graph)?;
                if let Some(nodes) = part.nodes().filter(|_| !self.constraints.is_empty()) {
                    settings.constraints = self.constraints.among(nodes, graph.n_nodes())?;
                }
                let mut curve = settings
                    .choose_by(part.graph(), range, clock)
                    .map_err(|error| error.with_nodes(|node| part.original(node)))?;
                for row in &mut curve.rows {
                    row.labels = part.scatter(std::mem::take(&mut row.labels), UNLABELLED);
                }
                Ok(curve)
            }
        }
    }

    /// As [`choose`](Self::choose), all components of a graph that was verified.
    pub(crate) fn choose_by(
        &self,
        graph: &Graph<'_>,
        range: RangeInclusive<usize>,
        clock: &Clock<'_>,
    ) -> Result<CountCurve> {
        let (from, to) = (*range.start(), *range.end());
        if from == 0 || from > to || to > graph.n_nodes() {
            let value = format!("{from} to {to}");
            let expected = "a range from 1 at the least to the number of nodes at the most";
            return Err(Error::BadSetting { name: "the range of numbers of clusters", value, expected });
        }
        if self.objective != ObjectiveKind::NormalizedCut {
            let value = self.objective.name().to_owned();
            let expected = "`ncut` where that finds out the number of clusters; for as many communities as there are give no number at all";
            return Err(Error::BadSetting { name: "objective", value, expected });
        }
        let least = self.constraints.min_clusters();
        if from < least {
            let (name, value) = ("the range of numbers of clusters", format!("{from} to {to}"));
            let expected = "from the highest known label plus 1 at the least";
            return Err(Error::BadSetting { name, value, expected });
        }
        self.check_memory_to_choose(graph, to, clock)?;
        let found = match self.count_rule {
            CountRule::Boundaries => Some(self.separate(graph, clock)?),
            CountRule::Gap => None,
        };
        // One more on either side: the gap before the first, and the one after the last.
        let (min, max) = ((from.max(2) - 1).max(least), (to + 1).min(graph.n_nodes()));
        let preset = if self.preset == Preset::Paper { Preset::Paper } else { Preset::Fast };
        let mut progress = Progress::new(Stage::Search, (max - min + 1) as u64);
        let mut rows: Vec<(usize, Vec<Label>, f64)> = Vec::new();
        // The numbers from here on downwards were merged only, there being no time to refine them.
        let mut unrefined: Option<Merged> = None;
        for n_clusters in (min..=max).rev() {
            let settings = self.clone().n_clusters(n_clusters).preset(preset);
            let (labels, objective) = match (rows.last(), clock.stopped()) {
                (None, _) => settings.solve_number(graph, None, clock)?,
                (Some((_, labels, _)), None) => {
                    let mut merged = Merged::new(graph, labels, n_clusters + 1)?;
                    merged.merge_best()?;
                    settings.solve_number(graph, Some(&merged.labels(labels)), clock)?
                }
                (Some(_), Some(stopped)) if self.constraints.forbids_something() => {
                    return Err(stopped.into());
                }
                (Some((_, labels, _)), Some(_)) => {
                    if unrefined.is_none() {
                        unrefined = Some(Merged::new(graph, labels, n_clusters + 1)?);
                    }
                    let merged = unrefined.as_mut().expect("it was just made");
                    merged.merge_best()?;
                    let start = &rows[rows.len() - merged.n_merges()].1;
                    (merged.labels(start), merged.objective())
                }
            };
            progress.done += 1;
            // What it says is looked at in the next round.
            let _ = clock.report(&progress);
            rows.push((n_clusters, labels, objective));
        }
        rows.reverse();
        let spectrum = match clock.stopped() {
            Some(_) => None,
            None => eigenvalues(graph, max, clock)?,
        };
        let stopped = clock.stopped().map(|Stopped(reason)| reason);
        let curve = CountCurve { stopped, ..CountCurve::new(rows, range, spectrum.as_deref()) };
        Ok(match found {
            None => curve,
            Some(FoundCount { n_clusters, rule, reason, .. }) => {
                let best_in_range = n_clusters.clamp(from, to);
                CountCurve { suggested: n_clusters, best_in_range, rule, reason, ..curve }
            }
        })
    }
}

impl Ncut {
    /// Labels for one number of clusters, and their objective.
    fn solve_number(
        &self,
        graph: &Graph<'_>,
        init: Option<&[Label]>,
        clock: &Clock<'_>,
    ) -> Result<(Vec<Label>, f64)> {
        let labels = self.solve_part(graph, init, clock)?.labels;
        let objective = CutScore::new(graph, &labels)?.objective;
        Ok((labels, objective))
    }
}

/// The largest eigenvalues, unless they do not converge or there is no time for them.
#[cfg(feature = "spectral")]
fn eigenvalues(graph: &Graph<'_>, count: usize, clock: &Clock<'_>) -> Result<Option<Vec<f64>>> {
    use crate::error::or_stopped;
    use crate::spectral::{Spectrum, SpectrumSettings};
    let spectrum = or_stopped(Spectrum::of(graph, count, &SpectrumSettings::default(), clock))?;
    Ok(spectrum.ok().filter(|spectrum| spectrum.is_converged).map(|spectrum| spectrum.values))
}

/// Without the feature `spectral` there are none.
#[cfg(not(feature = "spectral"))]
fn eigenvalues(_: &Graph<'_>, _: usize, _: &Clock<'_>) -> Result<Option<Vec<f64>>> {
    Ok(None)
}

impl CountCurve {
    fn new(
        solved: Vec<(usize, Vec<Label>, f64)>,
        range: RangeInclusive<usize>,
        values: Option<&[f64]>,
    ) -> Self {
        let objectives: Vec<f64> = solved.iter().map(|row| row.2).collect();
        let even = concave(&objectives);
        let least = solved[0].0;
        let gap = |k: usize| {
            let place = k.checked_sub(least)?;
            Some(even.get(place)? - even.get(place.checked_sub(1)?)?)
        };
        let log_odds = |gap: f64| libm::log(gap.max(SMALL_GAP) / (1.0 - gap + SMALL_CUT).max(SMALL_CUT));
        let turn = |k: usize| Some(log_odds(gap(k)?) - log_odds(gap(k + 1)?));
        let value = |k: usize| values.and_then(|values| values.get(k - 1)).copied();
        let rows: Vec<CountRow> = solved
            .into_iter()
            .filter(|row| range.contains(&row.0))
            .map(|(k, labels, objective)| CountRow {
                n_clusters: k,
                objective,
                gap: gap(k),
                turn: turn(k),
                eigenvalue: value(k),
                eigengap: value(k).zip(value(k + 1)).map(|(value, next)| value - next),
                labels,
            })
            .collect();
        let by_eigengap =
            largest(&rows, |row| row.eigengap.filter(|_| row.n_clusters > 1)).map(|best| best.0);
        let (suggested, reason) = match largest(&rows, |row| row.turn) {
            _ if rows.len() == 1 => (rows[0].n_clusters, CountReason::OnlyOne),
            Some((k, turn)) if turn >= MIN_TURN => (k, CountReason::Turn(turn)),
            best => (*range.start(), CountReason::NoTurn { largest: best.map_or(0.0, |best| best.1) }),
        };
        let (best_in_range, rule) = (suggested, CountRule::Gap);
        Self { rows, suggested, best_in_range, rule, reason, by_eigengap, stopped: None }
    }
}

/// The number whose row has the most of something, the first among equals.
fn largest(rows: &[CountRow], of: impl Fn(&CountRow) -> Option<f64>) -> Option<(usize, f64)> {
    let mut best: Option<(usize, f64)> = None;
    for row in rows {
        if let Some(value) = of(row)
            && best.is_none_or(|best| value > best.1)
        {
            best = Some((row.n_clusters, value));
        }
    }
    best
}

/// The least concave curve above: what a solver missed at one number shows at the next, and is evened out.
fn concave(values: &[f64]) -> Vec<f64> {
    let mut hull: Vec<usize> = Vec::new();
    let slope = |a: usize, b: usize| (values[b] - values[a]) / (b - a) as f64;
    for place in 0..values.len() {
        while let [.., before, last] = hull[..]
            && slope(before, last) <= slope(last, place)
        {
            hull.pop();
        }
        hull.push(place);
    }
    let mut even = values.to_vec();
    for pair in hull.windows(2) {
        for place in pair[0]..pair[1] {
            even[place] = values[pair[0]] + slope(pair[0], pair[1]) * (place - pair[0]) as f64;
        }
    }
    even
}

/// Clusters of a labelling that merge, two at a time, by the gain of N-Cut.
struct Merged {
    /// The graph of the clusters as they are now.
    quotient: Graph<'static>,
    /// The cluster that every cluster at the start is in now.
    became: Vec<u32>,
}

impl Merged {
    fn new(graph: &Graph<'_>, labels: &[Label], n_clusters: usize) -> Result<Self> {
        let clusters: Vec<u32> = labels.iter().map(|&label| label as u32).collect();
        let quotient = graph.contract(&clusters, n_clusters)?;
        Ok(Self { quotient, became: (0..n_clusters as u32).collect() })
    }

    fn n_merges(&self) -> usize {
        self.became.len() - self.quotient.n_nodes()
    }

    /// Merges the two clusters that lose least by it, linked or not.
    fn merge_best(&mut self) -> Result<()> {
        let (objective, quotient) = (NormalizedCut, &self.quotient);
        let n_clusters = quotient.n_nodes();
        let sums = |cluster: NodeId| quotient.node_sums::<NormalizedCut>(cluster);
        let mut links = vec![0.0; n_clusters];
        let mut best: Option<(f64, NodeId, NodeId)> = None;
        for a in 0..n_clusters as NodeId {
            links.fill(0.0);
            quotient.for_each_neighbor(a, |b, weight| links[b as usize] = weight);
            for b in a + 1..n_clusters as NodeId {
                let gain = objective.merge_gain(&sums(a), &sums(b), links[b as usize]);
                if best.is_none_or(|best| gain > best.0) {
                    best = Some((gain, a, b));
                }
            }
        }
        let (_, first, second) = best.expect("there are at least two clusters");
        let renamed = |cluster: u32| match cluster {
            cluster if cluster == second => first,
            cluster if cluster > second => cluster - 1,
            _ => cluster,
        };
        let groups: Vec<u32> = (0..n_clusters as u32).map(renamed).collect();
        self.quotient = quotient.contract(&groups, n_clusters - 1)?;
        for cluster in &mut self.became {
            *cluster = renamed(*cluster);
        }
        Ok(())
    }

    /// The labels at the start as they have become.
    fn labels(&self, start: &[Label]) -> Vec<Label> {
        start.iter().map(|&label| self.became[label as usize] as Label).collect()
    }

    fn objective(&self) -> f64 {
        let clusters = 0..self.quotient.n_nodes() as NodeId;
        clusters.map(|cluster| NormalizedCut.value(&self.quotient.node_sums::<NormalizedCut>(cluster))).sum()
    }
}
