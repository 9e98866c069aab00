//! Nodes and edges of a file that lists both, as the formats of other programs do.

use super::fields::parse_weight;
use super::names::{Names, Numbering};
use super::text::as_text;
use super::{GraphFile, TEXT_REMEDY};
use crate::error::{Error, Result};
use crate::graph::{Graph, NodeId};
use crate::memory;

/// Attributes of nodes that are taken for their clusters, the likeliest first.
const CLASSES: [&str; 8] =
    ["cluster", "clusters", "community", "modularity_class", "group", "class", "label_true", "value"];
/// Bytes that an edge takes while a graph is made of all: its ends, its weight, and both of its entries.
const PER_EDGE: u64 = 16 + 48;

/// What was listed so far.
pub(super) struct Listed {
    ids: Numbering,
    is_listed: Vec<bool>,
    /// What nodes are called, where that is not their id.
    names: Vec<Option<String>>,
    edges: Vec<(NodeId, NodeId, f64)>,
    classes: Vec<Vec<Option<String>>>,
    /// Bytes of all names and classes.
    n_letters: u64,
    n_edges_checked: usize,
    budget: Option<u64>,
}

/// A graph, and the clusters that the file tells of its nodes.
pub(super) struct ListedGraph {
    pub(super) file: GraphFile,
    /// By the node's number; none where no attribute of nodes looks like a cluster.
    pub(super) classes: Option<Vec<Option<String>>>,
}

impl Listed {
    /// Nothing yet; what is to come may take `budget` bytes of memory.
    pub(super) fn new(budget: Option<u64>) -> Self {
        Self {
            ids: Numbering::default(),
            is_listed: Vec::new(),
            names: Vec::new(),
            edges: Vec::new(),
            classes: vec![Vec::new(); CLASSES.len()],
            n_letters: 0,
            n_edges_checked: 0,
            budget,
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
    pub(super) fn add_edge(&mut self, from: &str, to: &str, weight: Option<&str>) -> Result<()> {
        let weight = weight.map_or(Ok(1.0), parse_weight).map_err(|problem| Error::in_file(None, problem))?;
        let edge = (self.node(from)?, self.node(to)?, weight);
        self.edges.push(edge);
        if self.edges.len() - self.n_edges_checked >= 1 << 14 {
            self.n_edges_checked = self.edges.len();
            self.check()?;
        }
        Ok(())
    }

    fn check(&self) -> Result<()> {
        let of_nodes = self.ids.n_bytes() + (memory::PER_NODE + 32) * self.ids.len() as u64 + self.n_letters;
        let needed = of_nodes + PER_EDGE * self.edges.len() as u64;
        memory::check_within(self.budget, "reading it up to here", needed, TEXT_REMEDY)
    }

    /// The graph of all that was listed. Nodes go by their names where every node has one and they differ.
    ///
    /// # Errors
    /// When an edge names a node that is not listed, or there is no node.
    pub(super) fn finish(self) -> Result<ListedGraph> {
        self.check()?;
        let Self { ids, is_listed, names, edges, classes, .. } = self;
        let ids = ids.finish();
        if let Some(node) = is_listed.iter().position(|is_listed| !is_listed) {
            let problem = format!("an edge names node `{}`, which is not listed", ids.get(node as NodeId));
            return Err(Error::in_file(None, problem));
        }
        let names = distinct(&names)?.unwrap_or(ids);
        let graph = Graph::from_edges(names.len(), edges)?;
        let n_nodes = names.len();
        let classes = classes.into_iter().find(|classes| !classes.is_empty()).map(|mut classes| {
            classes.resize(n_nodes, None);
            classes
        });
        Ok(ListedGraph { file: GraphFile::new(graph, Some(names)), classes })
    }
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
