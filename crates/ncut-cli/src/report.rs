//! What is said about a clustering: a few lines for people, JSON for programs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};
use ncut::spectral::{BoundStatus, UpperBound};
use ncut::{Agreement, ClusterSummary, Clustering, CutScore, Graph, ObjectiveKind, StopReason};
use serde::Serialize;

use crate::args::SolvingArgs;
use crate::counting::CountReport;
use crate::signals::uninterrupted;
use crate::standard_output;

/// The report on a clustering and the work it took.
#[derive(Serialize)]
pub(crate) struct ClusteringReport {
    #[serde(flatten)]
    pub(crate) graph: GraphReport,
    preset: &'static str,
    objective_name: &'static str,
    /// Of modularity.
    #[serde(skip_serializing_if = "Option::is_none")]
    resolution: Option<f64>,
    min_share: f64,
    /// Where one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_share: Option<f64>,
    connected: bool,
    seed: u64,
    threads: u32,
    #[serde(flatten)]
    pub(crate) cut: CutReport,
    #[serde(flatten)]
    pub(crate) bound: Option<BoundReport>,
    #[serde(flatten)]
    pub(crate) agreement: Option<AgreementReport>,
    /// Why so many clusters, where the number was to be found out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) count: Option<CountReport>,
    stop_reason: &'static str,
    sweeps: usize,
    moves: u64,
    pub(crate) seconds: Seconds,
    pub(crate) peak_memory_bytes: Option<u64>,
    /// What the search did.
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<BTreeMap<&'static str, String>>,
}

impl ClusteringReport {
    pub(crate) fn new(
        graph: &Graph<'_>,
        solving: &SolvingArgs,
        max_share: Option<f64>,
        found: &Clustering,
        seconds: Seconds,
    ) -> Self {
        Self {
            graph: GraphReport::new(graph, found.n_components),
            preset: solving.preset.preset().name(),
            objective_name: found.objective_kind.name(),
            resolution: found.resolution,
            min_share: solving.min_share(),
            max_share,
            connected: solving.is_connected(),
            seed: solving.seed,
            threads: solving.preset.threads(),
            cut: CutReport::of(found),
            bound: None,
            agreement: None,
            count: found.count.as_ref().map(CountReport::new),
            stop_reason: found.stop_reason.name(),
            sweeps: found.sweeps,
            moves: found.moves,
            seconds,
            peak_memory_bytes: peak_memory_bytes(),
            plan: found.plan.as_ref().map(|plan| plan.decisions().into_iter().collect()),
        }
    }

    /// `32 clusters, N-Cut 1.0939 (objective 30.9061), 14 sweeps in 0.05 s`.
    pub(crate) fn sentence(&self) -> String {
        let seconds = self.seconds.solve;
        if let Some(resolution) = self.resolution {
            return format!("{} in {seconds:.2} s", self.cut.modularity_sentence(resolution));
        }
        let work = counted(self.sweeps, "sweep");
        let cut = self.cut.sentence_with(self.bound.as_ref());
        format!("{cut}, {work} in {seconds:.2} s")
    }
}

/// Who stopped the work.
pub(crate) fn stopped_by(reason: StopReason) -> &'static str {
    if reason == StopReason::TimeLimit { "the time limit" } else { "Ctrl-C" }
}

/// A remark when the work was cut short.
pub(crate) fn stop_remark(reason: StopReason) -> Option<&'static str> {
    match reason {
        StopReason::TimeLimit => Some("stopped by the time limit: this is the best so far"),
        StopReason::Cancelled => Some("stopped by Ctrl-C: this is the best so far"),
        StopReason::SweepLimit => Some("stopped by --max-sweeps: more sweeps may improve it"),
        _ => None,
    }
}

/// The report on a graph.
#[derive(Serialize)]
pub(crate) struct GraphReport {
    n_nodes: usize,
    n_edges: usize,
    n_components: usize,
    n_isolated: usize,
}

impl GraphReport {
    pub(crate) fn new(graph: &Graph<'_>, n_components: usize) -> Self {
        Self {
            n_nodes: graph.n_nodes(),
            n_edges: graph.n_edges(),
            n_components,
            n_isolated: graph.n_isolated(),
        }
    }

    pub(crate) fn n_nodes(&self) -> usize {
        self.n_nodes
    }

    /// The nodes and edges of a graph that is too large to look for its components by the way.
    pub(crate) fn sizes(graph: &Graph<'_>) -> String {
        format!("{}, {}", counted(graph.n_nodes(), "node"), counted(graph.n_edges(), "edge"))
    }

    /// `15 606 nodes, 45 878 edges, 1 component`.
    pub(crate) fn sentence(&self) -> String {
        let mut sentence = format!(
            "{}, {}, {}",
            counted(self.n_nodes, "node"),
            counted(self.n_edges, "edge"),
            counted(self.n_components, "component")
        );
        if self.n_isolated > 0 {
            let _ = write!(sentence, ", {}", counted(self.n_isolated, "isolated node"));
        }
        sentence
    }
}

/// The report on a labelling.
#[derive(Serialize)]
pub(crate) struct CutReport {
    n_clusters: usize,
    /// Nodes that are in a cluster.
    n_labelled: usize,
    objective: f64,
    ncut: f64,
    ratio_cut: f64,
    modularity: f64,
    smallest_share: f64,
    largest_share: f64,
    n_disconnected_clusters: usize,
    clusters: Vec<ClusterReport>,
    #[serde(skip)]
    kind: ObjectiveKind,
}

#[derive(Serialize)]
struct ClusterReport {
    label: i32,
    size: usize,
    share: f64,
    volume: f64,
    association: f64,
    inside: f64,
    conductance: f64,
    n_pieces: usize,
}

impl CutReport {
    /// The report on a result.
    fn of(found: &Clustering) -> Self {
        let score = CutScore {
            objective: found.objective,
            ncut: found.ncut,
            ratio_cut: found.ratio_cut,
            modularity: found.modularity,
            smallest_share: found.smallest_share,
            largest_share: found.largest_share,
            n_disconnected: found.n_disconnected,
            clusters: found.clusters.clone(),
        };
        Self::new(&score, found.objective_kind)
    }

    pub(crate) fn new(score: &CutScore, kind: ObjectiveKind) -> Self {
        let clusters = &score.clusters;
        let row = |cluster: &ClusterSummary| ClusterReport {
            label: cluster.label,
            size: cluster.size,
            share: cluster.share,
            volume: cluster.volume,
            association: cluster.association,
            inside: cluster.inside,
            conductance: cluster.conductance,
            n_pieces: cluster.n_pieces,
        };
        Self {
            n_clusters: clusters.len(),
            n_labelled: clusters.iter().map(|cluster| cluster.size).sum(),
            objective: score.objective,
            ncut: score.ncut,
            ratio_cut: score.ratio_cut,
            modularity: score.modularity,
            smallest_share: score.smallest_share,
            largest_share: score.largest_share,
            n_disconnected_clusters: score.n_disconnected,
            clusters: clusters.iter().map(row).collect(),
            kind,
        }
    }

    pub(crate) fn n_labelled(&self) -> usize {
        self.n_labelled
    }

    /// `32 clusters, N-Cut 1.0939 (objective 30.9061)`.
    pub(crate) fn sentence(&self) -> String {
        self.sentence_with(None)
    }

    /// `32 clusters, N-Cut 1.0939 (objective 30.9061, at most 31.9332)`.
    pub(crate) fn sentence_with(&self, bound: Option<&BoundReport>) -> String {
        let clusters = counted(self.n_clusters, "cluster");
        let bound = bound.map(BoundReport::phrase).unwrap_or_default();
        let (name, cut) = match self.kind {
            ObjectiveKind::RatioCut => ("Ratio-Cut", self.ratio_cut),
            ObjectiveKind::Modularity => return self.modularity_sentence(1.0),
            _ => ("N-Cut", self.ncut),
        };
        format!("{clusters}, {name} {} (objective {:.4}{bound})", digits(cut), self.objective)
    }

    /// `98 clusters, modularity 0.8866`, and with another resolution than 1 `(0.8565 at resolution 2)`.
    fn modularity_sentence(&self, resolution: f64) -> String {
        let (clusters, modularity) = (counted(self.n_clusters, "cluster"), self.modularity);
        let at = match resolution == 1.0 {
            true => String::new(),
            false => format!(" ({:.4} at resolution {})", self.objective, digits(resolution)),
        };
        format!("{clusters}, modularity {modularity:.4}{at}")
    }

    /// A remark when clusters are not connected.
    pub(crate) fn disconnected(&self) -> Option<String> {
        let n_disconnected = self.n_disconnected_clusters;
        (n_disconnected > 0).then(|| {
            let verb = if n_disconnected == 1 { "is" } else { "are" };
            format!(
                "{} of {} {verb} not connected",
                grouped(n_disconnected),
                counted(self.n_clusters, "cluster")
            )
        })
    }

    /// The largest share, where there is an end to it.
    pub(crate) fn largest(&self, max_share: Option<f64>) -> Option<String> {
        max_share.map(|max_share| {
            format!(
                "the largest cluster has {} times the mean, of {max_share} allowed",
                digits(self.largest_share)
            )
        })
    }

    /// A remark when the share that was asked for was not reached.
    pub(crate) fn missed_share(&self, min_share: f64) -> Option<String> {
        (self.smallest_share < min_share * (1.0 - 1e-6)).then(|| {
            format!(
                "the smallest cluster has {} of the mean, not {min_share}: connected clusters come no nearer",
                digits(self.smallest_share)
            )
        })
    }

    /// A remark when a component is below the share, so that it has a cluster together with a part of another.
    pub(crate) fn joined_for_share(&self, min_share: f64, connected: bool) -> Option<String> {
        let n_mixed = self.clusters.iter().filter(|cluster| cluster.n_pieces > 1).count();
        (connected && min_share > 0.0 && n_mixed > 0).then(|| {
            let verb = if n_mixed == 1 { "holds a small component" } else { "hold small components" };
            format!(
                "{} {verb} beside a part of a larger one, to reach the share of {min_share}; --min-share 0 lets small ones be",
                counted(n_mixed, "cluster")
            )
        })
    }

    /// A remark when clusters are whole components, which is optimal and often not what is wanted.
    pub(crate) fn whole_components(&self, n_components: usize) -> Option<String> {
        let is_whole =
            |cluster: &&ClusterReport| cluster.volume - cluster.association <= 1e-12 * cluster.volume;
        let n_whole = self.clusters.iter().filter(is_whole).count();
        (n_components > 1 && n_whole > 0 && self.n_clusters > 1).then(|| {
            let verb = if n_whole == 1 { "consists" } else { "consist" };
            format!(
                "{} {verb} of whole components; --components largest clusters the largest one only",
                counted(n_whole, "cluster")
            )
        })
    }
}

/// How good a clustering can be at most.
#[derive(Serialize)]
pub(crate) struct BoundReport {
    /// Null when there was no time for it.
    upper_bound: Option<f64>,
    bound_status: &'static str,
    #[serde(skip)]
    stopped: Option<StopReason>,
}

impl BoundReport {
    pub(crate) fn new(bound: UpperBound) -> Self {
        Self { upper_bound: Some(bound.value), bound_status: bound.status.name(), stopped: None }
    }

    /// There was no time for it.
    pub(crate) fn stopped(reason: StopReason) -> Self {
        Self { upper_bound: None, bound_status: "cut-short", stopped: Some(reason) }
    }

    pub(crate) fn value(&self) -> Option<f64> {
        self.upper_bound
    }

    /// The bound, and whether it is verified.
    pub(crate) fn value_and_certainty(&self) -> Option<(f64, bool)> {
        self.upper_bound.map(|bound| (bound, self.bound_status == BoundStatus::Verified.name()))
    }

    /// `, at most 31.9332`, and a word if it is not certain.
    pub(crate) fn phrase(&self) -> String {
        let certainty = if self.bound_status == BoundStatus::Verified.name() { "" } else { ", estimated" };
        self.upper_bound.map_or(String::new(), |bound| format!(", at most {bound:.4}{certainty}"))
    }

    /// A remark when it was cut short.
    pub(crate) fn stop_remark(&self) -> Option<String> {
        let why = stopped_by(self.stopped?);
        Some(format!("the upper bound was cut short by {why}: none is known"))
    }
}

/// The report on the agreement with known labels.
#[derive(Serialize)]
pub(crate) struct AgreementReport {
    /// Null when there are too many clusters to match them.
    accuracy: Option<f64>,
    nmi: f64,
    nmi_arithmetic: f64,
    ari: f64,
    n_compared: usize,
}

impl AgreementReport {
    pub(crate) fn new(agreement: Agreement) -> Self {
        let Agreement { accuracy, nmi, nmi_arithmetic, ari, n_compared, .. } = agreement;
        Self { accuracy, nmi, nmi_arithmetic, ari, n_compared }
    }

    /// ACC, NMI and ARI, eight columns wide each.
    pub(crate) fn columns(&self) -> String {
        let accuracy = self.accuracy.map_or("-".into(), |accuracy| format!("{accuracy:.4}"));
        format!("{accuracy:>8}{:>8.4}{:>8.4}", self.nmi, self.ari)
    }

    /// `against truth.txt: accuracy 0.9000, NMI 0.8000, ARI 0.7000`, and on how many nodes if not on all.
    pub(crate) fn sentence(&self, truth: &Path, n_nodes: usize) -> String {
        let accuracy = match self.accuracy {
            Some(accuracy) => format!("accuracy {accuracy:.4}"),
            None => "accuracy not computed (too many clusters overlap)".into(),
        };
        let mut sentence =
            format!("against {}: {accuracy}, NMI {:.4}, ARI {:.4}", truth.display(), self.nmi, self.ari);
        if self.n_compared < n_nodes {
            let _ = write!(sentence, " on the {} labelled in both", counted(self.n_compared, "node"));
        }
        sentence
    }
}

/// Seconds each part of the work took.
#[derive(Clone, Copy, Default, Serialize)]
pub(crate) struct Seconds {
    pub(crate) read: f64,
    /// Comparing a mapped file with its checksums.
    pub(crate) verify: f64,
    pub(crate) build: f64,
    pub(crate) solve: f64,
    /// The upper bound, where it was asked for.
    pub(crate) bound: f64,
    pub(crate) write: f64,
    pub(crate) total: f64,
}

const UNPRINTABLE: &str = "standard output cannot be written";

/// Prints lines for people: to standard output, or to standard error when that carries data.
pub(crate) struct Summary {
    quiet: bool,
    stdout_carries_data: bool,
}

impl Summary {
    pub(crate) fn new(quiet: bool, outputs: &[Option<&Path>]) -> Self {
        let stdout_carries_data = outputs.iter().flatten().any(|path| is_stdout(path));
        Self { quiet, stdout_carries_data }
    }

    pub(crate) fn line(&self, line: &str) -> Result<()> {
        if self.quiet {
            return Ok(());
        }
        if self.stdout_carries_data {
            // The data counts.
            let _ = writeln!(io::stderr(), "{line}");
            return Ok(());
        }
        match standard_output::open().and_then(|mut stdout| writeln!(stdout, "{line}")) {
            // Nobody reads on: no reason to stop.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            printed => printed.context(UNPRINTABLE),
        }
    }
}

/// Whether an output goes to standard output.
pub(crate) fn is_stdout(path: &Path) -> bool {
    path == Path::new("-") || descriptor(path) == Some(1)
}

/// The descriptor of this process that a name stands for, such as `/dev/stderr` or `/dev/fd/3`.
pub(crate) fn descriptor(path: &Path) -> Option<u32> {
    match path.to_str()? {
        "/dev/stdin" => Some(0),
        "/dev/stdout" => Some(1),
        "/dev/stderr" => Some(2),
        name => name.strip_prefix("/dev/fd/").or(name.strip_prefix("/proc/self/fd/"))?.parse().ok(),
    }
}

/// Writes data to standard output.
pub(crate) fn print_data(fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let print = || {
        let mut stdout = BufWriter::new(standard_output::open()?);
        fill(&mut stdout)?;
        stdout.flush()
    };
    print().context(UNPRINTABLE)
}

/// The version of what the JSON holds (docs/report.schema.json): a new one where a name goes or changes its meaning; names
/// may be added at any time.
const SCHEMA_VERSION: u32 = 1;

/// A report, and what it is about.
#[derive(Serialize)]
struct Document<'a, R> {
    schema_version: u32,
    command: &'a str,
    input: String,
    #[serde(flatten)]
    report: &'a R,
}

/// Writes a report of a command on an input as JSON to a file, whole or not at all, or to standard output.
pub(crate) fn write_json(path: &Path, command: &str, input: &Path, report: &impl Serialize) -> Result<()> {
    let input = input.display().to_string();
    let document = Document { schema_version: SCHEMA_VERSION, command, input, report };
    let mut json = serde_json::to_vec_pretty(&document)?;
    json.push(b'\n');
    if is_stdout(path) {
        print_data(|stdout| stdout.write_all(&json))?;
    } else {
        uninterrupted(|| ncut::io::write_whole(path, |file| file.write_all(&json)))?;
    }
    Ok(())
}

/// `1 node`, `15 606 nodes`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// A number in groups of three digits.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

/// Four decimals, or the leading digits of a number smaller than they can show.
fn digits(number: f64) -> String {
    if number == 0.0 || number.abs() >= 1e-3 { format!("{number:.4}") } else { format!("{number:.3e}") }
}

/// Largest memory this process has held, where the system tells.
pub(crate) fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
