//! Nodes and edges of a file that lists both, as the formats of other programs do.

use super::columns::{EdgeColumns, WEIGHTS};
use super::fields::parse_weight;
use super::names::{Names, Numbering};
use super::text::as_text;
use super::{GraphFile, ReadOptions, TEXT_REMEDY};
use crate::error::{Error, Result};
use crate::graph::{Graph, NodeId, Symmetrize, Weights};
use crate::memory;

/// Attributes of nodes that are taken for their clusters, the likeliest first.
const CLASSES: [&str; 8] =
    ["cluster", "clusters", "community", "modularity_class", "group", "class", "label_true", "value"];
/// Attributes of edges that are not read are named up to so many.
const MAX_UNREAD: usize = 8;
/// Bytes that an edge takes while a graph is made of all: its ends, its weight, and both of its entries.
const PER_EDGE: u64 = 16 + 48;

/// How a file that lists nodes and edges is read.
#[derive(Clone, Debug, Default)]
pub(super) struct Listing {
    /// Bytes of memory that it may take.
    pub(super) budget: Option<u64>,
    /// What to do with an arc that has no arc back of the same weight.
    pub(super) symmetrize: Symmetrize,
    /// The attribute of edges that is their weight, where the caller names it.
    pub(super) weight: Option<String>,
}

impl Listing {
    /// As the caller asks for.
    ///
    /// # Errors
    /// When columns are named that such a file has not.
    pub(super) fn by(options: &ReadOptions) -> Result<Self> {
        let weight = match &options.columns {
            None => None,
            Some(EdgeColumns { from, to, weight }) if from == "source" && to == "target" => weight.clone(),
            Some(_) => {
                let problem = "this format names the ends of its edges itself; --columns source,target,NAME tells which \
                               attribute of the edges is their weight";
                return Err(Error::in_file(None, problem));
            }
        };
        Ok(Self { budget: None, symmetrize: options.symmetrize, weight })
    }

    /// For who wants to know about the nodes alone.
    pub(super) fn of_nodes(budget: Option<u64>) -> Self {
        Self { budget, symmetrize: Symmetrize::Max, weight: None }
    }

    /// How well the name of an attribute says that it is the weight of edges; 0 for not at all.
    pub(super) fn weight_rank(&self, name: &str) -> usize {
        match &self.weight {
            Some(asked) => usize::from(asked == name),
            None => {
                let place = WEIGHTS.iter().position(|known| name.eq_ignore_ascii_case(known));
                place.map_or(0, |place| WEIGHTS.len() - place)
            }
        }
    }
}

/// Whether an edge leads one way only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Both,
    OneWay,
}

impl Direction {
    /// What a word says: `directed` or `undirected`, `true` or `false`, 1 or 0.
    pub(super) fn of(word: &str) -> Self {
        match word.trim() {
            "directed" | "true" | "True" | "1" => Self::OneWay,
            _ => Self::Both,
        }
    }
}

/// What was listed so far.
pub(super) struct Listed {
    pub(super) how: Listing,
    ids: Numbering,
    is_listed: Vec<bool>,
    /// What nodes are called, where that is not their id.
    names: Vec<Option<String>>,
    edges: Vec<(NodeId, NodeId, f64)>,
    /// Edges that lead one way only.
    arcs: Vec<(NodeId, NodeId, f64)>,
    has_weights: bool,
    /// Attributes of edges that are numbers and no weights.
    unread: Vec<String>,
    classes: Vec<Vec<Option<String>>>,
    /// Bytes of all names and classes.
    n_letters: u64,
    n_edges_checked: usize,
}

/// A graph, and the clusters that the file tells of its nodes.
pub(super) struct ListedGraph {
    pub(super) file: GraphFile,
    /// By the node's number; none where no attribute of nodes looks like a cluster.
    pub(super) classes: Option<Vec<Option<String>>>,
}

impl Listed {
    /// Nothing yet.
    pub(super) fn new(how: Listing) -> Self {
        Self {
            how,
            ids: Numbering::default(),
            is_listed: Vec::new(),
            names: Vec::new(),
            edges: Vec::new(),
            arcs: Vec::new(),
            has_weights: false,
            unread: Vec::new(),
            classes: vec![Vec::new(); CLASSES.len()],
            n_letters: 0,
            n_edges_checked: 0,
        }
    }

    /// A node that is listed.
    ///
    /// # Errors
    /// When it is listed for the second time.
    pub(super) fn add_node(&mut self, id: &str) -> Result<NodeId> {
        let node = self.node(id)?;
        match std::mem::replace(&mut self.is_listed[node as usize], true) {
            true => Err(Error::in_file(None, format!("node `{id}` is listed twice"))),
            false => Ok(node),
        }
    }

    /// A node that an edge names.
    fn node(&mut self, id: &str) -> Result<NodeId> {
        let node = match super::names::whole_number(id.as_bytes()) {
            Some(number) => self.ids.integer(number)?,
            None => self.ids.word(id)?,
        };
        if self.is_listed.len() < self.ids.len() {
            self.is_listed.push(false);
            self.names.push(None);
            if self.ids.len().is_multiple_of(1 << 12) {
                self.check()?;
            }
        }
        Ok(node)
    }

    /// An edge of a file that lists no nodes.
    #[cfg(feature = "parquet")]
    pub(super) fn add_pair(&mut self, from: &str, to: &str, weight: f64) -> Result<()> {
        let edge = (self.node(from)?, self.node(to)?, weight);
        for node in [edge.0, edge.1] {
            self.is_listed[node as usize] = true;
        }
        match self.how.symmetrize {
            Symmetrize::Refuse => self.edges.push(edge),
            Symmetrize::Average | Symmetrize::Max => self.arcs.push(edge),
        }
        self.check_now_and_then()
    }

    /// What a node is called.
    pub(super) fn set_name(&mut self, node: NodeId, name: &str) {
        self.n_letters += name.len() as u64;
        self.names[node as usize] = Some(name.to_owned());
    }

    /// An attribute of a node, kept if it may be its cluster.
    pub(super) fn set_attribute(&mut self, node: NodeId, attribute: &str, value: &str) {
        let Some(kind) = CLASSES.iter().position(|known| attribute.eq_ignore_ascii_case(known)) else {
            return;
        };
        let classes = &mut self.classes[kind];
        if classes.len() <= node as usize {
            classes.resize(node as usize + 1, None);
        }
        self.n_letters += 24 + value.len() as u64;
        classes[node as usize] = Some(value.to_owned());
    }

    /// An edge between two nodes, listed before or later.
    pub(super) fn add_edge(
        &mut self,
        from: &str,
        to: &str,
        weight: Option<&str>,
        direction: Direction,
    ) -> Result<()> {
        self.has_weights |= weight.is_some();
        let weight = weight.map_or(Ok(1.0), parse_weight).map_err(|problem| Error::in_file(None, problem))?;
        let edge = (self.node(from)?, self.node(to)?, weight);
        match direction {
            Direction::Both => self.edges.push(edge),
            Direction::OneWay => self.arcs.push(edge),
        }
        self.check_now_and_then()
    }

    /// An attribute of edges that is a number and not their weight.
    pub(super) fn leave_unread(&mut self, attribute: &str) {
        let is_known = self.unread.iter().any(|known| known == attribute);
        if !is_known && self.unread.len() < MAX_UNREAD {
            self.unread.push(attribute.to_owned());
        }
    }

    fn check_now_and_then(&mut self) -> Result<()> {
        let n_edges = self.edges.len() + self.arcs.len();
        if n_edges - self.n_edges_checked >= 1 << 14 {
            self.n_edges_checked = n_edges;
            self.check()?;
        }
        Ok(())
    }

    fn check(&self) -> Result<()> {
        let of_nodes = self.ids.n_bytes() + (memory::PER_NODE + 32) * self.ids.len() as u64 + self.n_letters;
        let needed = of_nodes + PER_EDGE * (self.edges.len() + self.arcs.len()) as u64;
        memory::check_within(self.how.budget, "reading it up to here", needed, TEXT_REMEDY)
    }

    /// The graph of all that was listed. Nodes go by their names where every node has one and they differ.
    ///
    /// # Errors
    /// When an edge names a node that is not listed, there is no node, an arc has no arc back and that is refused, or no edge
    /// has the weight that was asked for.
    pub(super) fn finish(self) -> Result<ListedGraph> {
        self.check()?;
        let Self { how, ids, is_listed, names, edges, arcs, has_weights, unread, classes, .. } = self;
        if let Some(asked) = how.weight.filter(|_| !(has_weights || edges.is_empty() && arcs.is_empty())) {
            let others = match &unread[..] {
                [] => String::new(),
                _ => format!("; attributes that are numbers: `{}`", unread.join("`, `")),
            };
            return Err(Error::in_file(None, format!("no edge has the attribute `{asked}`{others}")));
        }
        let ids = ids.finish();
        if let Some(node) = is_listed.iter().position(|is_listed| !is_listed) {
            let problem = format!("an edge names node `{}`, which is not listed", ids.get(node as NodeId));
            return Err(Error::in_file(None, problem));
        }
        let names = distinct(&names)?.unwrap_or(ids);
        let graph = match arcs.is_empty() {
            true => Graph::from_edges(names.len(), edges)?,
            false => of_arcs(names.len(), &edges, &arcs, how.symmetrize)
                .map_err(|error| error.with_names(|node| names.get(node).into_owned()))?,
        };
        let n_nodes = names.len();
        let classes = classes.into_iter().find(|classes| !classes.is_empty()).map(|mut classes| {
            classes.resize(n_nodes, None);
            classes
        });
        let ignored_columns = if has_weights { Vec::new() } else { unread };
        Ok(ListedGraph { file: GraphFile { ignored_columns, ..GraphFile::new(graph, Some(names)) }, classes })
    }
}

/// A graph of edges and arcs, as a matrix tells it.
fn of_arcs(
    n_nodes: usize,
    edges: &[(NodeId, NodeId, f64)],
    arcs: &[(NodeId, NodeId, f64)],
    symmetrize: Symmetrize,
) -> Result<Graph<'static>> {
    let back = |&(from, to, weight): &(NodeId, NodeId, f64)| (from != to).then_some((to, from, weight));
    let entries = edges.iter().copied().chain(edges.iter().filter_map(back)).chain(arcs.iter().copied());
    let (entries, weights): (Vec<(NodeId, NodeId)>, Vec<f64>) =
        entries.map(|(from, to, weight)| ((from, to), weight)).unzip();
    Graph::from_entries(n_nodes, &entries, &Weights::F64(weights.into()), symmetrize)
}

/// Names as ids, if every node has one and no two are the same.
fn distinct(names: &[Option<String>]) -> Result<Option<Names>> {
    let mut numbering = Numbering::default();
    for name in names {
        let Some(name) = name.as_deref().filter(|name| !name.is_empty()) else { return Ok(None) };
        let n_before = numbering.len();
        match super::names::whole_number(name.as_bytes()) {
            Some(number) => numbering.integer(number)?,
            None => numbering.word(name)?,
        };
        if numbering.len() == n_before {
            return Ok(None);
        }
    }
    Ok((!names.is_empty()).then(|| numbering.finish()))
}

/// A text, and the lines of places in it, asked for in ascending order.
pub(super) struct Located<'t> {
    pub(super) text: &'t str,
    place: usize,
    line: u64,
}

impl<'t> Located<'t> {
    pub(super) fn new(bytes: &'t [u8]) -> Result<Self> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let text = as_text(bytes).map_err(|problem| {
            let n_good = str::from_utf8(bytes)
                .map_or_else(|error| error.valid_up_to(), |_| memchr::memchr(0, bytes).unwrap_or(0));
            Error::in_file(1 + memchr::memchr_iter(b'\n', &bytes[..n_good]).count() as u64, problem)
        })?;
        Ok(Self { text, place: 0, line: 1 })
    }

    /// The line that a place is in.
    pub(super) fn line(&mut self, place: usize) -> u64 {
        let place = place.clamp(self.place, self.text.len());
        self.line += memchr::memchr_iter(b'\n', &self.text.as_bytes()[self.place..place]).count() as u64;
        self.place = place;
        self.line
    }

    /// An error about a place; one that names a line already stays.
    pub(super) fn at(&mut self, place: usize, error: Error) -> Error {
        match error {
            Error::BadFile { path, line: None, problem } => {
                Error::BadFile { path, line: Some(self.line(place)), problem }
            }
            other => other,
        }
    }
}
