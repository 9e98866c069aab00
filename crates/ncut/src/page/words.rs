//! What a page says: a sentence at the top, a few figures and what they mean.

use super::clusters::{Clusters, MAX_CLUSTERS};
use super::json::Value;
use super::verdict::{Borders, Verdict};
use super::views::MAX_DRAWN;
use super::{CurveShown, Kind, Page, Solver};
use crate::metrics::ClusterSummary;
use crate::objective::ObjectiveKind;
use crate::separation::Division;

/// A number in groups of three digits, with narrow spaces.
pub(super) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    grouped
}

fn counted(number: usize, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// `83 %`, `99.7 %`; all and nothing only where it is so.
fn percent(share: f64) -> String {
    match 100.0 * share {
        part if share >= 1.0 - 1e-9 || part <= 99.0 && (part >= 0.5 || share <= 1e-12) => {
            format!("{part:.0}\u{a0}%")
        }
        part if part < 0.5 => "less than 1\u{a0}%".into(),
        part if part < 99.95 => format!("{part:.1}\u{a0}%"),
        part if part < 99.995 => format!("{part:.2}\u{a0}%"),
        _ => "more than 99.99\u{a0}%".into(),
    }
}

/// The same where there is little room.
fn brief_percent(share: f64) -> String {
    percent(share).replace("more than ", ">\u{2009}").replace("less than ", "<\u{2009}")
}

/// `3.2`; one digit more of what is near 1.
fn times(number: f64) -> String {
    match number {
        number if number >= 50.0 => "more than 50".into(),
        number if number >= 9.95 => format!("{number:.0}"),
        number => format!("{number:.1}"),
    }
}

/// Four decimals, or the leading digits of what is smaller.
fn digits(number: f64) -> String {
    if number == 0.0 || number.abs() >= 1e-3 { format!("{number:.4}") } else { format!("{number:.1e}") }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

impl Kind {
    fn node(self) -> &'static str {
        match self {
            Self::Graph => "node",
            Self::Points => "point",
            Self::Picture => "pixel",
        }
    }

    fn cluster(self) -> &'static str {
        if self == Self::Picture { "region" } else { "cluster" }
    }

    pub(super) fn nouns(self) -> Value {
        let (node, cluster) = (self.node(), self.cluster());
        let plural = |word: &str| Value::from(format!("{word}s"));
        Value::Object(vec![
            ("node", node.into()),
            ("nodes", plural(node)),
            ("Nodes", plural(&capital(node))),
            ("cluster", cluster.into()),
            ("clusters", plural(cluster)),
            ("Cluster", capital(cluster).into()),
            ("Clusters", plural(&capital(cluster))),
        ])
    }
}

/// The sentence at the top, and those below it.
pub(super) struct Heading {
    pub(super) headline: String,
    pub(super) lead: String,
}

/// The share of all weight that is inside clusters.
fn share_inside(rows: &[ClusterSummary]) -> f64 {
    let total: f64 = rows.iter().map(|row| row.volume).sum();
    let inside: f64 = rows.iter().map(|row| row.association).sum();
    if total > 0.0 { inside / total } else { 0.0 }
}

/// The sentence after the number of clusters, without its full stop, and what it means.
fn judged(page: &Page<'_>, clusters: &Clusters) -> (String, String) {
    let noun = page.kind().cluster();
    let inside = percent(share_inside(&clusters.rows));
    let kept = format!(": {inside} of the weight stays inside");
    match &clusters.verdict {
        Verdict::Unknown if page.kind() == Kind::Picture => Default::default(),
        Verdict::Unknown => (kept, String::new()),
        Verdict::Borders(borders) => {
            let &Borders { n_known, n_apart, times: ratio } = borders;
            let thinner = match ratio {
                Some(ratio) if ratio < Division::least_times() => String::new(),
                Some(ratio) => format!(": borders are {} times thinner than cuts through them", times(ratio)),
                None => ": nothing links them".into(),
            };
            // Nearly all weight of a mesh is inside, whatever the clusters.
            let tail = if page.kind() == Kind::Picture { thinner } else { kept };
            let judged = match n_apart {
                0 => ", not apart: their borders are no thinner than cuts through them".to_owned(),
                _ if n_apart < clusters.score.clusters.len() => {
                    format!(", {} of them apart{tail}", grouped(n_apart))
                }
                2 => format!(", apart{tail}"),
                _ => format!(", all apart{tail}"),
            };
            let unknown = match clusters.score.clusters.len() - n_known {
                0 => String::new(),
                n_unknown => format!(" {} too small to tell.", capital(&are(n_unknown, noun))),
            };
            let meaning = format!(
                " A {noun} counts as apart if its border to the {noun} it is linked to most is clearly thinner than the thinnest cut through either of the two.{unknown}"
            );
            (judged, meaning)
        }
        Verdict::Chance(chance) => {
            let word =
                if chance.is_exceeded { ", clearer than by chance" } else { ", no clearer than by chance" };
            let meaning = match chance.inside {
                Some(inside) => format!(
                    " A random graph with the same degrees keeps {} inside as many {noun}s.",
                    percent(inside)
                ),
                None => format!(
                    " Their modularity is {:.2}; a random graph with the same degrees reaches about {:.2}.",
                    clusters.score.modularity, chance.modularity
                ),
            };
            (format!("{word}{kept}"), meaning)
        }
    }
}

/// `1 cluster is`, `3 clusters are`.
fn are(number: usize, noun: &str) -> String {
    format!("{} {}", counted(number, noun), if number == 1 { "is" } else { "are" })
}

pub(super) fn heading(page: &Page<'_>, clusters: Option<&Clusters>) -> Heading {
    if let Some(curve) = &page.curve {
        return of_curve(page, curve);
    }
    if !page.solvers.is_empty() {
        return of_solvers(page);
    }
    let Some(clusters) = clusters else {
        return Heading { headline: "No clusters".into(), lead: String::new() };
    };
    let rows = &clusters.rows;
    let noun = page.kind().cluster();
    let size = size_of(page);
    if rows.len() == 1 {
        let lead = match &page.reason {
            Some(reason) => format!("{size}. {}.", capital(reason)),
            None => format!("{size}."),
        };
        return Heading { headline: format!("One {noun}: nothing is divided"), lead };
    }
    let (judged, meaning) = judged(page, clusters);
    let headline = format!("{}{judged}", counted(clusters.score.clusters.len(), noun));
    let mut lead = format!("{size}.{meaning}");
    let extreme = |is_better: fn(f64, f64) -> bool| {
        rows.iter().fold(&rows[0], |best, row| if is_better(row.inside, best.inside) { row } else { best })
    };
    let (clearest, loosest) = (extreme(|a, b| a > b), extreme(|a, b| a < b));
    if page.kind() != Kind::Picture && percent(clearest.inside) != percent(loosest.inside) {
        lead.push_str(&format!(
            " {} {} keeps most inside, {}; {noun} {} least, {}.",
            capital(noun),
            clearest.label,
            percent(clearest.inside),
            loosest.label,
            percent(loosest.inside)
        ));
    }
    if let Some(reason) = &page.reason {
        lead.push_str(&format!(" So many {noun}s {reason}."));
    }
    Heading { headline, lead }
}

fn size_of(page: &Page<'_>) -> String {
    let n_inside = page.labels.iter().filter(|&&label| label >= 0).count();
    let n_nodes = if n_inside > 0 { n_inside } else { page.graph.n_nodes() };
    let n_edges = page.graph.n_edges();
    match page.kind() {
        Kind::Graph => format!("{} and {}", counted(n_nodes, "node"), counted(n_edges, "edge")),
        kind => format!("{}, linked by {}", counted(n_nodes, kind.node()), counted(n_edges, "edge")),
    }
}

fn of_curve(page: &Page<'_>, curve: &CurveShown) -> Heading {
    let (size, noun) = (size_of(page), page.kind().cluster());
    let reason = page.reason.as_deref().unwrap_or("by the curve");
    let headline = match curve.suggested {
        1 => format!("The data show no {noun}s"),
        suggested => format!("The data show {}", counted(suggested, noun)),
    };
    let mut lead = match curve.suggested {
        1 => format!("{size}. One, {reason}."),
        suggested => format!("{size}. {}, {reason}.", counted(suggested, noun)),
    };
    if curve.suggested != curve.best_in_range {
        lead.push_str(&format!(
            " That is outside of the numbers compared here, of which {} is nearest.",
            curve.best_in_range
        ));
    }
    if let Some(by_eigengap) = curve.by_eigengap {
        lead.push_str(&format!(" The largest eigengap is after {by_eigengap}."));
    }
    Heading { headline, lead }
}

fn of_solvers(page: &Page<'_>) -> Heading {
    let best = page.best_solver().unwrap_or(0);
    let Solver { name, objective, .. } = &page.solvers[best];
    let equal: Vec<&str> = page
        .solvers
        .iter()
        .filter(|other| (other.objective - objective).abs() <= 1e-9 * objective.abs())
        .map(|other| &other.name[..])
        .collect();
    let of_all = format!("of {}", counted(page.solvers.len(), "solver"));
    let headline = match equal[..] {
        _ if equal.len() == page.solvers.len() && equal.len() > 1 => {
            format!("All {} solvers reach the same objective", equal.len())
        }
        [] | [_] => format!("{} reaches the highest objective {of_all}", capital(name)),
        [first, second] => format!("{} and {second} reach the highest objective {of_all}", capital(first)),
        _ => format!(
            "{}, {} and {} more reach the highest objective {of_all}",
            capital(equal[0]),
            equal[1],
            equal.len() - 2
        ),
    };
    let bound = match page.bound {
        Some((bound, _)) => {
            let missing = (bound - objective).max(0.0);
            format!(", {} below what no clustering can exceed", digits(missing))
        }
        None => String::new(),
    };
    let lead = format!("{}. The objective of {name} is {}{bound}.", size_of(page), digits(*objective));
    Heading { headline, lead }
}

/// A figure: what the page calls it, its name, its value, and what it means.
fn fact(key: &str, name: &str, value: String, meaning: String) -> Value {
    Value::Object(vec![
        ("key", key.into()),
        ("name", name.into()),
        ("value", value.into()),
        ("meaning", meaning.into()),
    ])
}

pub(super) fn facts(page: &Page<'_>, clusters: Option<&Clusters>) -> Vec<Value> {
    let Some(clusters) = clusters else { return Vec::new() };
    let (score, noun, node) = (&clusters.score, page.kind().cluster(), page.kind().node());
    let n_clusters = score.clusters.len();
    let mut facts = Vec::new();
    if let Some(curve) = &page.curve {
        let range = match (curve.rows.first(), curve.rows.last()) {
            (Some(first), Some(last)) => format!("{} to {}", first.n_clusters, last.n_clusters),
            _ => String::new(),
        };
        let meaning = format!("numbers compared: {range}");
        facts.push(fact("suggested", "Suggested", grouped(curve.suggested), meaning));
        if let Some(by_eigengap) = curve.by_eigengap {
            let meaning = "where the eigenvalues fall most, as spectral clustering counts".into();
            facts.push(fact("eigengap", "Largest eigengap", format!("after {by_eigengap}"), meaning));
        }
        return facts;
    }
    let largest = score.clusters.iter().map(|row| row.size).max().unwrap_or(0);
    let smallest = score.clusters.iter().map(|row| row.size).min().unwrap_or(0);
    let sizes = match n_clusters {
        1 => format!("with all {}", counted(largest, node)),
        _ if smallest == largest => format!("of {} each", counted(largest, node)),
        _ => format!("from {} to {}", grouped(smallest), counted(largest, node)),
    };
    facts.push(fact("clusters", &format!("{}s", capital(noun)), grouped(n_clusters), sizes));
    if n_clusters == 1 {
        return facts;
    }
    let inside = share_inside(&clusters.rows);
    let mut meaning = format!("of the weight joins {node}s of one {noun}");
    match clusters.verdict {
        Verdict::Chance(super::verdict::Chance { inside: Some(inside), .. }) => {
            meaning.push_str(&format!("; in a random graph {}", percent(inside)));
        }
        Verdict::Borders(_) if page.kind() == Kind::Picture => {
            meaning.push_str("; nearly all, however a picture is divided");
        }
        _ => {}
    }
    facts.push(fact("inside", "Weight inside", brief_percent(inside), meaning));
    if let Verdict::Borders(Borders { times: Some(ratio), .. }) = clusters.verdict {
        let least = format!("{:.2}", Division::least_times());
        let meaning = format!(
            "times thinner than cuts through the {noun}s, in the middle of all; from {least} on they are apart"
        );
        facts.push(fact("borders", "Borders", times(ratio).replace("more than ", ">\u{2009}"), meaning));
    }
    let at_least = match page.bound {
        Some((bound, is_verified)) if page.objective == ObjectiveKind::NormalizedCut => {
            let certainty = if is_verified { "" } else { " (estimated)" };
            format!("no {n_clusters} {noun}s can be below {}{certainty}", digits(n_clusters as f64 - bound))
        }
        _ => format!(
            "smaller is better, from 0 to {n_clusters}: what each {noun} loses to the others, added up"
        ),
    };
    facts.push(fact("ncut", "N-Cut", digits(score.ncut), at_least));
    if page.objective == ObjectiveKind::RatioCut {
        let meaning = format!("smaller is better: weight cut for each {node}, added up");
        facts.push(fact("ratio", "Ratio-Cut", digits(score.ratio_cut), meaning));
    }
    // In meshes, pictures and graphs of neighbours any clusters have a high one.
    let by_chance = match clusters.verdict {
        Verdict::Chance(chance) => {
            format!("; a random graph with the same degrees has {:.2}", chance.modularity)
        }
        _ => String::new(),
    };
    if !by_chance.is_empty() || page.objective == ObjectiveKind::Modularity {
        // No `-0.000`.
        let modularity = (score.modularity * 1000.0).round() / 1000.0 + 0.0;
        let meaning = format!("larger is better, up to 1{by_chance}");
        facts.push(fact("modularity", "Modularity", format!("{modularity:.3}"), meaning));
    }
    let meaning = format!("times the mean: the smallest {noun}, and {:.2} the largest", score.largest_share);
    facts.push(fact("balance", "Balance", format!("{:.2}", score.smallest_share), meaning));
    let n_inside = clusters.row_of.iter().flatten().count().max(1);
    let n_unsure = clusters
        .row_of
        .iter()
        .zip(&clusters.confidence.values)
        .filter(|(row, sure)| row.is_some() && **sure < UNSURE)
        .count();
    let meaning = format!("of the {node}s: another {noun} pulls on them nearly as much as their own");
    facts.push(fact("unsure", "Unsure", brief_percent(n_unsure as f64 / n_inside as f64), meaning));
    if let Some((agreement, against)) = &page.agreement {
        let value = agreement
            .accuracy
            .map_or_else(|| format!("{:.3}", agreement.ari), |accuracy| format!("{accuracy:.3}"));
        let name = if agreement.accuracy.is_some() { "Accuracy" } else { "Rand index" };
        let meaning = format!("against {against}; NMI {:.3}, ARI {:.3}", agreement.nmi, agreement.ari);
        facts.push(fact("agreement", name, value, meaning));
    }
    facts
}

/// Nodes below this confidence are unsure; the map draws them hollow.
pub(super) const UNSURE: f64 = 0.12;

/// What is to be known about solvers side by side.
pub(super) const SOLVERS: &str = "The solvers optimise N-Cut alone: no share is asked of the smallest cluster, so preset default need not give here what \
     `ncut cluster` gives, which asks for a quarter of the mean (--min-share 0.25). The maps are coloured like that of the best: \
     clusters that share most nodes with one of its have its colour.";

/// Why a graph is not drawn by springs, to follow what a map shows.
pub(super) fn no_drawing(kind: Kind, n_nodes: usize) -> Option<String> {
    let is_missing = kind == Kind::Graph && n_nodes > MAX_DRAWN;
    is_missing.then(|| format!("Only graphs of up to {} nodes are drawn by springs.", grouped(MAX_DRAWN)))
}

/// What is to be known beside the figures.
pub(super) fn remarks(page: &Page<'_>, clusters: Option<&Clusters>) -> Vec<Value> {
    let mut remarks: Vec<Value> = page.remarks.iter().map(|remark| remark.as_str().into()).collect();
    if clusters.is_some_and(|clusters| clusters.score.clusters.len() > MAX_CLUSTERS) {
        let remark = format!("Only the {} clusters of the largest volume are shown.", grouped(MAX_CLUSTERS));
        remarks.push(remark.into());
    }
    remarks
}

/// What the words of the page mean.
pub(super) fn words(kind: Kind) -> Value {
    let (node, cluster) = (kind.node(), kind.cluster());
    let pair = |word: &str, meaning: String| Value::List(vec![word.into(), meaning.into()]);
    Value::List(vec![
        pair("Weight", format!("how strongly two {node}s are linked")),
        pair(
            "Volume",
            format!(
                "the sum of the weights of all links of a {cluster}'s {node}s, those inside counted from both ends"
            ),
        ),
        pair("Inside", "the share of the volume that does not lead out".into()),
        pair(
            "Conductance",
            format!(
                "what leads out, over the volume of the {cluster} or of the rest, whichever is smaller; 0 is best"
            ),
        ),
        pair("Pieces", format!("connected pieces of a {cluster}; one is usual")),
        pair(
            "N-Cut",
            format!("what leads out of each {cluster} over its volume, added up: smaller is better"),
        ),
        pair(
            "Modularity",
            "the share of the weight that is inside, less what the volumes alone would put there".into(),
        ),
        pair(
            "Balance",
            format!("the volume of the smallest {cluster} over the mean volume: 1 where all are equal"),
        ),
        pair(
            "Borders",
            format!(
                "a border of two {cluster}s is compared, by its N-Cut, with the best cut through either of them; what a cloud of points or a mesh without {cluster}s shows counts as 1"
            ),
        ),
        pair(
            "Confidence",
            format!(
                "how much more the own {cluster} pulls on a {node} than the strongest other: 0 on the boundary, a half for an ordinary {node} that nothing else pulls on"
            ),
        ),
        pair("Unsure", format!("{node}s of a confidence below {UNSURE}")),
        pair("Typical", format!("the {node}s of the highest confidence")),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_all_or_nothing_only_where_they_are() {
        let shown: Vec<String> =
            [0.0, 1e-4, 0.004, 0.126, 0.99, 0.9951, 0.99962, 0.999_999, 1.0].map(percent).to_vec();
        let expected =
            ["0", "less than 1", "less than 1", "13", "99", "99.5", "99.96", "more than 99.99", "100"];
        assert_eq!(shown, expected.map(|number| format!("{number}\u{a0}%")));
    }
}
