//! GraphML, as networkx, igraph, Gephi and yEd read and write it.

use std::collections::HashMap;
use std::io::{self, Write};

use super::listed::{Listed, ListedGraph};
use super::outline::Outline;
use super::xml::{Element, Item, Xml, escaped, write_declaration};
use crate::error::{Error, Result};
use crate::graph::NodeId;

/// What an attribute of nodes or edges is called.
struct Key {
    of_nodes: bool,
    name: String,
    default: Option<String>,
}

pub(super) fn read(bytes: &[u8], budget: Option<u64>) -> Result<ListedGraph> {
    let mut xml = Xml::new(bytes)?;
    let mut reading = Reading {
        listed: Listed::new(budget),
        keys: HashMap::new(),
        key: None,
        node: None,
        edge: None,
        data: None,
        text: String::new(),
        has_graph: false,
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
    edge: Option<(String, String, Option<String>)>,
    /// The key of the data being read.
    data: Option<String>,
    text: String,
    has_graph: bool,
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
                self.keys.insert(id.clone(), Key { of_nodes: kind != "edge", name, default: None });
                self.key = Some(id);
                self.text.clear();
            }
            "node" => self.node = Some(self.listed.add_node(element.need("id")?)?),
            "edge" => {
                let (from, to) = (element.need("source")?, element.need("target")?);
                self.edge = Some((from.to_owned(), to.to_owned(), None));
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
                if let Some((from, to, weight)) = self.edge.take() {
                    let usual =
                        || self.keys.values().find(|key| is_weight(key)).and_then(|key| key.default.clone());
                    let weight = weight.or_else(usual);
                    self.listed.add_edge(&from, &to, weight.as_deref())?;
                }
            }
            "data" => {
                let data = self.data.take();
                let Some(key) = data.and_then(|data| self.keys.get(&data)) else { return Ok(()) };
                let text = self.text.trim();
                match (&mut self.edge, self.node) {
                    (Some(edge), _) if is_weight(key) => edge.2 = Some(text.to_owned()),
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

fn is_weight(key: &Key) -> bool {
    key.name.eq_ignore_ascii_case("weight")
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
