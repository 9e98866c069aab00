//! A page to look at: what the clusters are, whether they are good, which are odd, what is in them. One file of HTML that needs
//! nothing else; made without touching any file.

mod clusters;
#[cfg(any(feature = "files", feature = "neighbors"))]
mod features;
mod json;
mod layout;
#[cfg(feature = "image")]
mod shown_picture;
mod truth;
mod verdict;
mod views;
mod words;

use crate::choose::{CountCurve, CountRow};
use crate::error::{Error, Result};
use crate::graph::{Graph, NodeId};
#[cfg(feature = "image")]
use crate::image::Picture;
use crate::metrics::{Agreement, Label};
use crate::objective::ObjectiveKind;
#[cfg(any(feature = "files", feature = "neighbors"))]
use crate::points::Points;
use crate::progress::Clock;

use clusters::{Clusters, byte};
use json::{Value, base64, escaped, packed_u16, packed_u32};
use truth::KnownClasses;
use verdict::verdict;
use words::Heading;

const TEMPLATE: &str = include_str!("assets/page.html");
const STYLE: &str = include_str!("assets/page.css");
/// The parts of the script, each using those before it.
const SCRIPTS: [&str; 14] = [
    include_str!("assets/data.js"),
    include_str!("assets/cut.js"),
    include_str!("assets/colour.js"),
    include_str!("assets/state.js"),
    include_str!("assets/places.js"),
    include_str!("assets/map.js"),
    include_str!("assets/picture.js"),
    include_str!("assets/graph.js"),
    include_str!("assets/detail.js"),
    include_str!("assets/table.js"),
    include_str!("assets/tree.js"),
    include_str!("assets/solvers.js"),
    include_str!("assets/search.js"),
    include_str!("assets/main.js"),
];

/// Nodes drawn on the map at most, unless said otherwise: they stay fluid, in a file of a few megabytes.
const MAX_NODES: usize = 100_000;
/// Edges drawn on the map at most: more are a grey cloud.
const MAX_EDGES: usize = 20_000;
/// Node numbers stand for no cluster.
const NO_ROW: u16 = u16::MAX;
/// A name longer than this is cut: it would be no name.
const MAX_NAME: usize = 200;

/// A clustering to be shown: the graph, the labels, and whatever else is known.
///
/// ```
/// use ncut::{Clock, Graph, Ncut, Page};
/// let graph = Graph::from_edges(4, [(0, 1, 5.0), (1, 2, 0.1), (2, 3, 5.0)])?;
/// let found = Ncut::new(2).solve(&graph)?;
/// let html = Page::new("a path", &graph, &found.labels).html(&Clock::new())?;
/// assert!(html.contains("2 clusters, apart"));
/// # Ok::<(), ncut::Error>(())
/// ```
#[derive(Clone)]
pub struct Page<'a> {
    /// What it is about, such as the name of the input.
    pub title: String,
    /// The graph that was clustered.
    pub graph: &'a Graph<'a>,
    /// The cluster of every node, -1 for none.
    pub labels: &'a [Label],
    /// What was optimised.
    pub objective: ObjectiveKind,
    /// What a node is called; by its number if there are no names.
    pub name: Option<&'a (dyn Fn(NodeId) -> String + 'a)>,
    /// The points that the graph was made of, and the names of their features, as far as they have names.
    #[cfg(any(feature = "files", feature = "neighbors"))]
    pub points: Option<(Points<'a>, &'a [String])>,
    /// The picture that the graph was made of, and the region of each of its pixels.
    #[cfg(feature = "image")]
    pub picture: Option<(&'a Picture, &'a [Label])>,
    /// What the objective of no clustering exceeds, and whether that is certain.
    pub bound: Option<(f64, bool)>,
    /// How the labels agree with known ones, and what these are called.
    pub agreement: Option<(Agreement, String)>,
    /// Known classes of the nodes, -1 for none, and their names by number as far as they have names.
    pub truth: Option<(&'a [Label], &'a [String])>,
    /// Why so many clusters, to follow their number in a sentence.
    pub reason: Option<String>,
    /// Objectives over a range of numbers of clusters. The labels are then those of the largest number.
    pub curve: Option<CurveShown>,
    /// Solvers to be compared. The labels are then those of the best.
    pub solvers: &'a [Solver],
    /// What was asked for: names and values.
    pub asked: Vec<(String, String)>,
    /// Sentences that the reader must not miss.
    pub remarks: Vec<String>,
    /// Nodes drawn at most; of more some are chosen evenly.
    pub max_nodes: usize,
}

/// Objectives over a range of numbers of clusters, as far as a page shows them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CurveShown {
    /// The numbers, ascending.
    pub rows: Vec<CurvePoint>,
    /// The number that is suggested.
    pub suggested: usize,
    /// The number of the range that is nearest to it.
    pub best_in_range: usize,
    /// The number after which the eigenvalues fall most.
    pub by_eigengap: Option<usize>,
}

/// One number of clusters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CurvePoint {
    /// The number.
    pub n_clusters: usize,
    /// The objective that was reached.
    pub objective: f64,
    /// What the last cluster gained.
    pub gap: Option<f64>,
    /// The eigenvalue of that number less the next.
    pub eigengap: Option<f64>,
}

impl From<&CountCurve> for CurveShown {
    fn from(curve: &CountCurve) -> Self {
        let point = |row: &CountRow| CurvePoint {
            n_clusters: row.n_clusters,
            objective: row.objective,
            gap: row.gap,
            eigengap: row.eigengap,
        };
        Self {
            rows: curve.rows.iter().map(point).collect(),
            suggested: curve.suggested,
            best_in_range: curve.best_in_range,
            by_eigengap: curve.by_eigengap,
        }
    }
}

/// What a solver reached.
#[derive(Clone, Debug)]
pub struct Solver {
    /// What it is called.
    pub name: String,
    /// Its labels.
    pub labels: Vec<Label>,
    /// Their objective.
    pub objective: f64,
    /// Their Normalized Cut.
    pub ncut: f64,
    /// The smallest cluster's volume over the mean.
    pub smallest_share: f64,
    /// What is missing to the upper bound, where that is known.
    pub gap: Option<f64>,
    /// Agreement with known labels, where there are any.
    pub agreement: Option<Agreement>,
    /// How long it took.
    pub seconds: f64,
    /// What is to be known about it.
    pub remark: String,
}

/// What the nodes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(all(feature = "files", feature = "image")),
    allow(dead_code, reason = "points and pictures are features")
)]
enum Kind {
    Graph,
    Points,
    Picture,
}

impl<'a> Page<'a> {
    /// A page about labels of a graph, and nothing else known.
    pub fn new(title: impl Into<String>, graph: &'a Graph<'a>, labels: &'a [Label]) -> Self {
        Self {
            title: title.into(),
            graph,
            labels,
            objective: ObjectiveKind::default(),
            name: None,
            #[cfg(any(feature = "files", feature = "neighbors"))]
            points: None,
            #[cfg(feature = "image")]
            picture: None,
            bound: None,
            agreement: None,
            truth: None,
            reason: None,
            curve: None,
            solvers: &[],
            asked: Vec::new(),
            remarks: Vec::new(),
            max_nodes: MAX_NODES,
        }
    }

    /// The page, the same for the same description. Where the clock says stop parts of it are left out.
    ///
    /// # Errors
    /// When labels, points or the picture do not fit the graph.
    pub fn html(&self, clock: &Clock<'_>) -> Result<String> {
        self.check()?;
        let n_inside = self.labels.iter().filter(|&&label| label >= 0).count();
        if n_inside == 0 || n_inside == self.labels.len() {
            return self.html_of_all(clock);
        }
        // Nodes without a label take no part in any figure, and so neither do their edges.
        let is_inside = |node: NodeId| self.labels[node as usize] >= 0;
        let edges = self.graph.edges().filter(|&(from, to, _)| is_inside(from) && is_inside(to));
        let graph = Graph::from_edges(self.graph.n_nodes(), edges)?;
        let mut page = Page { graph: &graph, ..self.clone() };
        let (inside, all) = (words::grouped(n_inside), words::grouped(self.labels.len()));
        let what = if self.kind() == Kind::Picture { "pixels" } else { "nodes" };
        page.remarks
            .push(format!("Of {all} {what} {inside} are in clusters; all figures are of these alone."));
        page.html_of_all(clock)
    }

    fn html_of_all(&self, clock: &Clock<'_>) -> Result<String> {
        let clusters = match self.labels.iter().any(|&label| label >= 0) {
            true => {
                let mut clusters = Clusters::of(self.graph, self.labels, self.objective, clock)?;
                // Pages of several clusterings judge none of them.
                if self.curve.is_none() && self.solvers.is_empty() {
                    clusters.verdict = verdict(self.graph, &clusters, self.objective, clock);
                }
                Some(clusters)
            }
            false => None,
        };
        let Heading { headline, lead } = words::heading(self, clusters.as_ref());
        let mut data = String::new();
        self.data(clusters.as_ref(), clock)?.write(&mut data);
        let (title, headline, lead) = (escaped(&self.title), escaped(&headline), escaped(&lead));
        Ok(filled(TEMPLATE, |name| match name {
            "title" => Some(title.clone()),
            "headline" => Some(headline.clone()),
            "lead" => Some(lead.clone()),
            "version" => Some(env!("CARGO_PKG_VERSION").to_owned()),
            "style" => Some(STYLE.to_owned()),
            "script" => Some(SCRIPTS.concat()),
            "data" => Some(data.clone()),
            _ => None,
        }))
    }

    /// Where the nodes are on the first map: drawn by springs, by principal components or by eigenvectors; none where there is
    /// no time or memory for it. Distances mean what they mean on the page.
    ///
    /// # Errors
    /// As [`html`](Self::html).
    pub fn places(&self, clock: &Clock<'_>) -> Result<Option<Vec<(f64, f64)>>> {
        self.check()?;
        let clusters = Clusters::of(self.graph, self.labels, self.objective, clock)?;
        Ok(self.views(&clusters, clock).into_iter().next().map(views::View::into_places))
    }

    fn kind(&self) -> Kind {
        #[cfg(feature = "image")]
        if self.picture.is_some() {
            return Kind::Picture;
        }
        #[cfg(any(feature = "files", feature = "neighbors"))]
        if self.points.is_some() {
            return Kind::Points;
        }
        Kind::Graph
    }

    /// The solver of the highest objective, the first of several.
    fn best_solver(&self) -> Option<usize> {
        let best = |best: Option<usize>, solver: usize| match best {
            Some(known) if self.solvers[solver].objective <= self.solvers[known].objective => Some(known),
            _ => Some(solver),
        };
        (0..self.solvers.len()).fold(None, best)
    }

    fn check(&self) -> Result<()> {
        let n_nodes = self.graph.n_nodes();
        let refuse = |what: &str, count: usize| {
            Err(Error::labels(format!(
                "{count} {what} were given for {n_nodes} nodes; a page needs one for each"
            )))
        };
        for solver in self.solvers {
            if solver.labels.len() != n_nodes {
                return refuse(&format!("labels of {}", solver.name), solver.labels.len());
            }
        }
        if let Some((truth, _)) = self.truth
            && truth.len() != n_nodes
        {
            return refuse("known classes", truth.len());
        }
        #[cfg(any(feature = "files", feature = "neighbors"))]
        if let Some((points, _)) = self.points
            && points.count() != n_nodes
        {
            return refuse("points", points.count());
        }
        match self.labels.len() == n_nodes {
            true => Ok(()),
            false => refuse("labels", self.labels.len()),
        }
    }

    fn data(&self, clusters: Option<&Clusters>, clock: &Clock<'_>) -> Result<Value> {
        let kind = self.kind();
        let pair =
            |(name, value): &(String, String)| Value::List(vec![name.as_str().into(), value.as_str().into()]);
        let mut fields = vec![
            ("kind", if kind == Kind::Picture { "picture" } else { "nodes" }.into()),
            ("nouns", kind.nouns()),
            ("facts", words::facts(self, clusters).into()),
            ("remarks", words::remarks(self, clusters).into()),
            ("asked", Value::list(self.asked.iter().map(pair))),
            ("words", words::words(kind)),
            ("no_drawing", words::no_drawing(kind, self.graph.n_nodes()).into()),
        ];
        if let Some(curve) = &self.curve {
            fields.push(("curve", curve_value(curve)));
            fields.push(("start", curve.best_in_range.into()));
        }
        let Some(clusters) = clusters else {
            return Ok(Value::Object(fields));
        };
        let shown = self.shown(clusters);
        let place_of = |node: NodeId| shown.binary_search(&node).ok();
        fields.push(("clusters", clusters.table(place_of)));
        fields.push(("links", clusters.links()));
        fields.push(("merges", clusters.merges()));
        fields.push(("positions", clusters.places()));
        fields.push(("unsure", words::UNSURE.into()));
        let start = self.curve.as_ref().map(|curve| curve.best_in_range);
        let told = if kind == Kind::Picture { &[][..] } else { &shown };
        fields.push(("cuts", clusters.cuts(self.graph, self.objective, start, told)?));
        if let Some(truth) =
            self.truth.and_then(|(classes, names)| KnownClasses::of(classes, names, clusters))
        {
            fields.push(("truth", truth.value(&shown)));
        }
        fields.extend(self.source(clusters, clock)?);
        if kind != Kind::Picture {
            fields.push(("nodes", self.nodes(clusters, &shown)));
            fields.push((
                "views",
                Value::list(self.views(clusters, clock).iter().map(|view| view.value(&shown))),
            ));
            if kind == Kind::Graph && shown.len() == self.graph.n_nodes() && self.graph.n_edges() <= MAX_EDGES
            {
                let edges = self.graph.edges().filter(|(from, to, _)| from != to);
                fields.push(("edges", packed_u32(edges.flat_map(|(from, to, _)| [from, to]))));
            }
        }
        if let Some(best) = self.best_solver() {
            fields.push(("best", self.solvers[best].name.as_str().into()));
            fields.push((
                "solvers",
                Value::list(self.solvers.iter().map(|solver| solver_value(solver, &shown))),
            ));
            fields.push(("solvers_note", words::SOLVERS.into()));
        }
        Ok(Value::Object(fields))
    }

    /// What the graph was made of: features of points, or the picture.
    #[allow(unused_mut, unused_variables, clippy::unnecessary_wraps, reason = "depends on the features")]
    fn source(&self, clusters: &Clusters, clock: &Clock<'_>) -> Result<Vec<(&'static str, Value)>> {
        let mut fields = Vec::new();
        #[cfg(any(feature = "files", feature = "neighbors"))]
        if let Some((points, names)) = &self.points {
            let value = features::of_clusters(points, names, &clusters.row_of, clusters.rows.len());
            fields.push(("features", value));
        }
        #[cfg(feature = "image")]
        if let Some((picture, labels)) = self.picture {
            let row = |label: Label| u32::from(clusters.row(label).unwrap_or(NO_ROW));
            fields.push(("picture", shown_picture::value(picture, labels, row, clock)?));
        }
        Ok(fields)
    }

    /// The nodes that are drawn, ascending: all, or some of each part of the numbers, and those that are typical.
    fn shown(&self, clusters: &Clusters) -> Vec<NodeId> {
        let (n_nodes, most) = (self.graph.n_nodes(), self.max_nodes.max(1));
        if n_nodes <= most {
            return (0..n_nodes as NodeId).collect();
        }
        let mut shown: Vec<NodeId> = (0..most).map(|place| (place * n_nodes / most) as NodeId).collect();
        shown.extend(clusters.typical.iter().flatten());
        shown.sort_unstable();
        shown.dedup();
        shown
    }

    fn nodes(&self, clusters: &Clusters, shown: &[NodeId]) -> Value {
        let second = |&node: &NodeId| {
            let own = self.labels[node as usize];
            let best = clusters.confidence.best(node as usize).iter().find(|(label, _)| *label != own);
            best.and_then(|&(label, _)| clusters.row(label)).unwrap_or(NO_ROW)
        };
        let sure: Vec<u8> =
            shown.iter().map(|&node| byte(clusters.confidence.values[node as usize])).collect();
        let name = |node: NodeId, name: &dyn Fn(NodeId) -> String| {
            let text = name(node);
            match text.char_indices().nth(MAX_NAME) {
                Some((end, _)) => format!("{}…", &text[..end]),
                None => text,
            }
        };
        let names = self.name.map(|of| Value::list(shown.iter().map(|&node| name(node, of))));
        let all_shown = shown.len() == self.graph.n_nodes();
        Value::Object(vec![
            ("count", self.graph.n_nodes().into()),
            ("shown", shown.len().into()),
            ("index", if all_shown { Value::Null } else { packed_u32(shown.iter().copied()) }),
            ("label", packed_u16(shown.iter().map(|&node| clusters.row_of[node as usize].unwrap_or(NO_ROW)))),
            ("second", packed_u16(shown.iter().map(second))),
            ("confidence", base64(&sure).into()),
            ("names", names.unwrap_or(Value::Null)),
        ])
    }

    fn views(&self, clusters: &Clusters, clock: &Clock<'_>) -> Vec<views::View> {
        #[cfg(any(feature = "files", feature = "neighbors"))]
        if let Some((points, _)) = &self.points {
            let mut views = vec![views::principal(points)];
            views.extend(views::spectral(self.graph, clock));
            return views;
        }
        views::of_graph(self.graph, &clusters.order(), clock)
    }
}

fn curve_value(curve: &CurveShown) -> Value {
    let row = |row: &CurvePoint| {
        Value::Object(vec![
            ("k", row.n_clusters.into()),
            ("objective", row.objective.into()),
            ("gap", row.gap.into()),
            ("eigengap", row.eigengap.into()),
        ])
    };
    Value::Object(vec![
        ("suggested", curve.suggested.into()),
        ("rows", Value::list(curve.rows.iter().map(row))),
    ])
}

fn solver_value(solver: &Solver, shown: &[NodeId]) -> Value {
    let agreement =
        |value: fn(&Agreement) -> Option<f64>| Value::from(solver.agreement.as_ref().and_then(value));
    let label = |&node: &NodeId| u16::try_from(solver.labels[node as usize]).unwrap_or(NO_ROW);
    Value::Object(vec![
        ("name", solver.name.as_str().into()),
        ("objective", solver.objective.into()),
        ("ncut", solver.ncut.into()),
        ("smallest_share", solver.smallest_share.into()),
        ("gap", solver.gap.into()),
        ("accuracy", agreement(|agreement| agreement.accuracy)),
        ("nmi", agreement(|agreement| Some(agreement.nmi))),
        ("ari", agreement(|agreement| Some(agreement.ari))),
        ("seconds", Value::short(solver.seconds)),
        ("remark", solver.remark.as_str().into()),
        ("labels", packed_u16(shown.iter().map(label))),
    ])
}

/// The template with every `{{name}}` replaced, once: what comes in is not looked at again.
fn filled(template: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut page = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        page.push_str(before);
        let Some((name, after)) = after.split_once("}}") else {
            page.push_str("{{");
            rest = after;
            continue;
        };
        page.push_str(&value(name).unwrap_or_default());
        rest = after;
    }
    page.push_str(rest);
    page
}
