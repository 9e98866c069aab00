//! What `cluster` and `points` have in common: a graph in, labels and a report out.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use ncut::io::{
    Classes, Names, check_labels_writable, read_labels, read_named_classes, write_confidence,
    write_labels_text,
};
use ncut::neighbors::Points;
use ncut::{Agreement, Clustering, Confidence, Constraints, Graph, Label, Ncut, Page};

use super::steering::{constraints, named};
use super::{check_bound, check_outputs, upper_bound, write_labels_to};
use crate::UsageError;
use crate::args::{ComponentsArg, LabellingArgs, PageArgs, ReportingArgs, SolvingArgs, SteeringArgs};
use crate::counting::NO_CLUSTERS;
use crate::page::{asked, check_page, node_name, title, write_page};
use crate::report::{
    AgreementReport, BoundReport, ClusteringReport, Seconds, Summary, counted, is_stdout, print_data,
    stop_remark, write_json,
};
use crate::signals::uninterrupted;
use crate::watch::Watch;

/// Clusters that a node leans to, in a file of confidence.
pub(super) const TOLD_CLUSTERS: usize = 3;

/// A graph to cluster, and everything that was asked about it.
pub(super) struct Job<'a> {
    /// The command that was called.
    pub(super) command: &'static str,
    /// The file it comes from.
    pub(super) input: &'a Path,
    pub(super) graph: &'a Graph<'a>,
    pub(super) names: Option<&'a Names>,
    /// The points it was made of and the names of their features, where a page is to tell them.
    pub(super) points: Option<(Points<'a>, &'a [String])>,
    /// Known classes that came with the input, and the column they stand in.
    pub(super) known: Option<(Classes, String)>,
    /// How the graph was made, for a page.
    pub(super) made: Vec<(&'static str, String)>,
    pub(super) solving: &'a SolvingArgs,
    pub(super) steering: &'a SteeringArgs,
    pub(super) labelling: &'a LabellingArgs,
    pub(super) reporting: &'a ReportingArgs,
    pub(super) page: &'a PageArgs,
    pub(super) summary: &'a Summary,
    pub(super) started: Instant,
    /// Times so far.
    pub(super) seconds: Seconds,
}

/// Refuses outputs that cannot be written, before any work is done.
pub(super) fn prepare(
    input: &Path,
    labelling: &LabellingArgs,
    steering: &SteeringArgs,
    page: &PageArgs,
    others: &[Option<&Path>],
) -> Result<()> {
    check_page(page)?;
    let of_labels = [labelling.output.as_deref(), labelling.confidence.as_deref(), page.report.as_deref()];
    let outputs: Vec<Option<&Path>> = others.iter().copied().chain(of_labels).collect();
    let inputs = [Some(input), labelling.init.as_deref(), labelling.truth.as_deref()];
    let inputs: Vec<Option<&Path>> = inputs.into_iter().chain(steering.files()).collect();
    check_outputs(&inputs, &outputs)?;
    if labelling.confidence.as_deref().is_some_and(is_stdout) {
        let problem = "--confidence needs a file of its own; standard output is for labels and reports";
        return Err(UsageError(problem.to_owned()).into());
    }
    if let Some(path) = labelling.output.as_deref().filter(|path| !is_stdout(path)) {
        check_labels_writable(path)?;
    }
    Ok(())
}

impl Job<'_> {
    pub(super) fn run(mut self, watch: &Watch) -> Result<()> {
        let reading = Instant::now();
        let labels_of = |path: &Path| read_labels(path, self.graph.n_nodes(), self.names);
        let init = self.labelling.init.as_deref().map(labels_of).transpose()?;
        let classes_of = |path: &Path| read_named_classes(path, self.graph.n_nodes(), self.names);
        let mut truth = self.labelling.truth.as_deref().map(classes_of).transpose()?;
        let constraints = constraints(self.steering, self.graph.n_nodes(), self.names)?;
        let mut against = self.labelling.truth.clone();
        if let Some((classes, column)) = self.known.take() {
            truth = Some(classes);
            against = Some(format!("column {column}").into());
        }
        let truth = truth.zip(against);
        self.seconds.read += reading.elapsed().as_secs_f64();
        watch.check()?;

        let solving = Instant::now();
        check_bound(self.graph, self.solving, watch).map_err(|error| error.at(self.input))?;
        let found = self.settings(init, &constraints).solve_by(self.graph, watch.clock());
        watch.finish();
        let found = found.map_err(|error| match &self.labelling.init {
            Some(init) if matches!(error, ncut::Error::BadLabels { .. }) => error.at(init),
            _ => named(error, self.names).at(self.input),
        })?;
        self.seconds.solve = solving.elapsed().as_secs_f64();
        let bounding = Instant::now();
        let bound = upper_bound(
            self.graph,
            found.clusters.len(),
            self.labelling.components.choice(),
            self.solving,
            watch,
        )?;
        self.seconds.bound = bounding.elapsed().as_secs_f64();
        self.write(&found, bound, truth.as_ref(), watch)
    }

    fn settings(&self, init: Option<Vec<Label>>, constraints: &Constraints) -> Ncut {
        let settings = self.solving.settings().components(self.labelling.components.choice());
        let settings = settings.constraints(constraints.clone());
        match init {
            Some(labels) => settings.init(labels),
            None => settings,
        }
    }

    /// Files first: what is printed may find nobody to read it.
    fn write(
        mut self,
        found: &Clustering,
        bound: Option<BoundReport>,
        truth: Option<&(Classes, PathBuf)>,
        watch: &Watch,
    ) -> Result<()> {
        let writing = Instant::now();
        let (output, json) = (self.labelling.output.as_deref(), self.reporting.json.as_deref());
        let to_file = output.filter(|path| !is_stdout(path));
        if let Some(path) = to_file {
            uninterrupted(|| write_labels_to(path, self.graph, self.names, &found.labels))?;
        }
        if let Some(path) = &self.labelling.confidence {
            let sure = Confidence::of(self.graph, &found.labels, found.objective_kind, TOLD_CLUSTERS)?;
            uninterrupted(|| write_confidence(path, &found.labels, &sure, self.names))?;
        }
        let agreement = match truth {
            Some((truth, path)) => {
                Some(Agreement::new(&found.labels, &truth.labels).map_err(|error| error.at(path))?)
            }
            None => None,
        };
        if let Some(path) = &self.page.report {
            let known =
                truth.zip(agreement).map(|((classes, path), agreement)| (classes, agreement, title(path)));
            self.write_page(path, found, bound.as_ref(), known, watch)?;
        }
        self.seconds.write += writing.elapsed().as_secs_f64();

        self.seconds.total = self.started.elapsed().as_secs_f64();
        let mut report =
            ClusteringReport::new(self.graph, self.solving, self.steering.max_share, found, self.seconds);
        report.bound = bound;
        report.agreement = agreement.map(AgreementReport::new);
        if let Some(path) = json {
            write_json(path, self.command, self.input, &report)?;
        }
        if output.is_some() && to_file.is_none() {
            print_data(|stdout| write_labels_text(stdout, &found.labels, self.names, '\t'))?;
        }
        print_summary(&self, &report, found, truth.map(|truth| truth.1.as_path()))?;
        let (confidence, page) = (self.labelling.confidence.as_deref(), self.page.report.as_deref());
        for path in [to_file, confidence, page, json.filter(|path| !is_stdout(path))].into_iter().flatten() {
            self.summary.line(&format!("{} written", path.display()))?;
        }
        Ok(())
    }
}

impl Job<'_> {
    fn write_page(
        &self,
        path: &Path,
        found: &Clustering,
        bound: Option<&BoundReport>,
        known: Option<(&Classes, Agreement, String)>,
        watch: &Watch,
    ) -> Result<()> {
        let name = node_name(self.names);
        let mut page = Page::new(title(self.input), self.graph, &found.labels);
        page.objective = found.objective_kind;
        page.name = self.names.is_some().then_some(&name);
        page.points = self.points;
        page.bound = bound.and_then(BoundReport::value_and_certainty);
        page.truth = known.as_ref().map(|(classes, ..)| (&classes.labels[..], &classes.names[..]));
        page.agreement = known.map(|(_, agreement, against)| (agreement, against));
        page.reason = found.count.as_ref().map(|count| count.reason.to_string());
        page.asked = asked(self.command, self.solving, found.clusters.len(), self.made.clone());
        page.remarks.extend(stop_remark(found.stop_reason).map(str::to_owned));
        write_page(path, &page, watch.clock().memory())
    }
}

fn print_summary(
    job: &Job<'_>,
    report: &ClusteringReport,
    found: &Clustering,
    truth: Option<&Path>,
) -> Result<()> {
    let Job { input, labelling, solving, summary, .. } = *job;
    summary.line(&format!("{}: {}", input.display(), report.graph.sentence()))?;
    match &found.count {
        Some(count) if count.n_clusters == 1 && count.stopped.is_none() => {
            summary.line(&format!("{NO_CLUSTERS} ({:.2} s)", report.seconds.solve))?;
        }
        Some(count) => {
            summary.line(&report.sentence())?;
            if count.stopped.is_some() {
                summary.line("the number of clusters is a rough guess: there was no time to compare everything; ask for one with -k")?;
            } else {
                let number = counted(count.n_clusters, "cluster");
                summary.line(&format!("{number}, {}", count.reason))?;
            }
        }
        None => summary.line(&report.sentence())?,
    }
    match labelling.components {
        ComponentsArg::All => {
            if let Some(remark) = report.cut.whole_components(found.n_components) {
                summary.line(&remark)?;
            }
            if let Some(remark) = report.cut.joined_for_share(solving.min_share(), solving.is_connected()) {
                summary.line(&remark)?;
            }
        }
        ComponentsArg::Largest => {
            let inside = report.cut.n_labelled();
            let outside = counted(report.graph.n_nodes() - inside, "node");
            let inside = counted(inside, "node");
            summary
                .line(&format!("the largest component has {inside}; {outside} outside it are labelled -1"))?;
        }
    }
    if let Some(remark) = report.cut.disconnected() {
        let is_steered = job.steering.max_share.is_some() || job.steering.files().iter().any(Option::is_some);
        let why = match is_steered && solving.is_connected() {
            true => ": known labels, pairs and the largest share go before holding together",
            false => "",
        };
        summary.line(&format!("{remark}{why}"))?;
    }
    if let Some(largest) = report.cut.largest(job.steering.max_share) {
        summary.line(&largest)?;
    }
    if let Some(remark) = report.cut.missed_share(solving.min_share()).filter(|_| solving.is_connected()) {
        summary.line(&remark)?;
    }
    if let Some(remark) = stop_remark(found.stop_reason) {
        summary.line(remark)?;
    }
    if let Some(remark) = report.bound.as_ref().and_then(BoundReport::stop_remark) {
        summary.line(&remark)?;
    }
    if let (Some(agreement), Some(truth)) = (&report.agreement, truth) {
        summary.line(&agreement.sentence(truth, report.graph.n_nodes()))?;
    }
    Ok(())
}
