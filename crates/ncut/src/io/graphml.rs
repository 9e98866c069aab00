//! GraphML, as networkx, igraph, Gephi and yEd read and write it.

use std::collections::HashMap;
use std::io::{self, Write};

use super::listed::{Direction, Listed, ListedGraph, Listing};
use super::outline::Outline;
use super::xml::{Element, Item, Xml, escaped, write_declaration};
use crate::error::{Error, Result};
use crate::graph::NodeId;

/// What an attribute of nodes or edges is called.
struct Key {
    of_nodes: bool,
    name: String,
    /// How well its name says that it is the weight of edges.
    rank: usize,
    default: Option<String>,
}

pub(super) fn read(bytes: &[u8], how: Listing) -> Result<ListedGraph> {
    let mut xml = Xml::new(bytes)?;
    let mut reading = Reading {
        listed: Listed::new(how),
        keys: HashMap::new(),
        key: None,
        node: None,
        edge: None,
        usual: Direction::Both,
        data: None,
        text: String::new(),
        has_graph: false,
        weight_rank: 0,
    };
    while let Some(item) = xml.next()? {
        reading.take(item).map_err(|error| xml.at(error))?;
    }
    match reading.has_graph {
        true => reading.listed.finish(),
        false => Err(Error::in_file(None, "has no <graph>; is it GraphML?")),
    }
}

struct Reading {
    listed: Listed,
    keys: HashMap<String, Key>,
    /// The key being described.
    key: Option<String>,
    node: Option<NodeId>,
    edge: Option<Edge>,
    /// Of edges that do not tell.
    usual: Direction,
    /// The key of the data being read.
    data: Option<String>,
    text: String,
    has_graph: bool,
    /// The highest rank of all keys.
    weight_rank: usize,
}

/// The edge being read.
struct Edge {
    from: String,
    to: String,
    weight: Option<String>,
    direction: Direction,
}

impl Reading {
    fn take(&mut self, item: Item) -> Result<()> {
        match item {
            Item::Start(element) => self.start(&element),
            Item::Text(text) => {
                if self.data.is_some() || self.key.is_some() {
                    self.text.push_str(&text);
                }
                Ok(())
            }
            Item::End(name) => self.end(&name),
        }
    }

    fn start(&mut self, element: &Element) -> Result<()> {
        match element.name.as_str() {
            "graph" if self.node.is_some() || self.edge.is_some() => {
                return Err(Error::in_file(None, "a graph inside a node cannot be read; flatten it first"));
            }
            "graph" if std::mem::replace(&mut self.has_graph, true) => {
                return Err(Error::in_file(
                    None,
                    "here is a second graph; give every graph a file of its own",
                ));
            }
            "graph" => self.usual = Direction::of(element.get("edgedefault").unwrap_or_default()),
            "hyperedge" => {
                return Err(Error::in_file(
                    None,
                    "a hyperedge is no edge between two nodes; expand it first",
                ));
            }
            "key" => {
                let id = element.need("id")?.to_owned();
                let kind = element.get("for").unwrap_or("all");
                let name = element.get("attr.name").unwrap_or(&id).to_owned();
                let is_text = matches!(element.get("attr.type"), Some("string" | "boolean"));
                let is_number = kind != "node" && !is_text;
                let rank = if is_number { self.listed.how.weight_rank(&name) } else { 0 };
                if is_number && kind == "edge" && rank == 0 {
                    self.listed.leave_unread(&name);
                }
                self.weight_rank = self.weight_rank.max(rank);
                self.keys.insert(id.clone(), Key { of_nodes: kind != "edge", name, rank, default: None });
                self.key = Some(id);
                self.text.clear();
            }
            "node" => self.node = Some(self.listed.add_node(element.need("id")?)?),
            "edge" => {
                let (from, to) = (element.need("source")?, element.need("target")?);
                let direction = element.get("directed").map_or(self.usual, Direction::of);
                let (from, to) = (from.to_owned(), to.to_owned());
                self.edge = Some(Edge { from, to, weight: None, direction });
            }
            "data" => {
                self.data = Some(element.need("key")?.to_owned());
                self.text.clear();
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str) -> Result<()> {
        match name {
            "default" => {
                let text = self.text.trim().to_owned();
                if let Some(key) = self.key.as_ref().and_then(|key| self.keys.get_mut(key)) {
                    key.default = Some(text);
                }
            }
            "key" => self.key = None,
            "node" => self.node = None,
            "edge" => {
                if let Some(Edge { from, to, weight, direction }) = self.edge.take() {
                    let is_weight = |key: &&Key| key.rank > 0 && key.rank == self.weight_rank;
                    let usual = || self.keys.values().find(is_weight).and_then(|key| key.default.clone());
                    let weight = weight.or_else(usual);
                    self.listed.add_edge(&from, &to, weight.as_deref(), direction)?;
                }
            }
            "data" => {
                let data = self.data.take();
                let Some(key) = data.and_then(|data| self.keys.get(&data)) else { return Ok(()) };
                let text = self.text.trim();
                match (&mut self.edge, self.node) {
                    (Some(edge), _) if key.rank > 0 && key.rank == self.weight_rank => {
                        edge.weight = Some(text.to_owned());
                    }
                    (None, Some(node)) if key.of_nodes => {
                        if matches!(key.name.as_str(), "name" | "label") {
                            self.listed.set_name(node, text);
                        }
                        self.listed.set_attribute(node, &key.name, text);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
        Ok(())
    }
}

pub(super) fn write(writer: &mut dyn Write, outline: &Outline<'_>) -> io::Result<()> {
    write_declaration(writer)?;
    writeln!(writer, "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">")?;
    if outline.labels.is_some() {
        writeln!(writer, "  <key id=\"cluster\" for=\"node\" attr.name=\"cluster\" attr.type=\"int\"/>")?;
    }
    if outline.is_weighted() {
        writeln!(writer, "  <key id=\"weight\" for=\"edge\" attr.name=\"weight\" attr.type=\"double\"/>")?;
    }
    writeln!(writer, "  <graph edgedefault=\"undirected\">")?;
    for node in outline.nodes() {
        let id = escaped(&outline.id(node));
        match outline.label(node) {
            None => writeln!(writer, "    <node id=\"{id}\"/>")?,
            Some(label) => {
                writeln!(writer, "    <node id=\"{id}\"><data key=\"cluster\">{label}</data></node>")?;
            }
        }
    }
    for (from, to, weight) in outline.graph.edges() {
        let (from, to) = (escaped(&outline.id(from)), escaped(&outline.id(to)));
        match outline.is_weighted() {
            false => writeln!(writer, "    <edge source=\"{from}\" target=\"{to}\"/>")?,
            true => writeln!(
                writer,
                "    <edge source=\"{from}\" target=\"{to}\"><data key=\"weight\">{weight:?}</data></edge>"
            )?,
        }
    }
    writeln!(writer, "  </graph>\n</graphml>")
}
