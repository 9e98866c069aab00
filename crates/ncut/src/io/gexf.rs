//! GEXF, as Gephi and networkx read and write it.

use std::collections::HashMap;
use std::io::{self, Write};

use super::listed::{Direction, Listed, ListedGraph, Listing};
use super::outline::Outline;
use super::xml::{Item, Xml, escaped, write_declaration};
use crate::error::{Error, Result};

/// The edge being read.
struct Edge {
    from: String,
    to: String,
    weight: Option<String>,
    /// How well the name of the weight says that it is one.
    rank: usize,
    direction: Direction,
}

pub(super) fn read(bytes: &[u8], how: Listing) -> Result<ListedGraph> {
    let mut xml = Xml::new(bytes)?;
    let mut listed = Listed::new(how);
    // What the attributes of nodes are called, and those of edges.
    let mut titles: HashMap<String, String> = HashMap::new();
    let mut edge_titles: HashMap<String, String> = HashMap::new();
    let (mut describes_nodes, mut node, mut has_graph) = (false, None, false);
    let mut edge: Option<Edge> = None;
    let mut usual = Direction::Both;
    while let Some(item) = xml.next()? {
        let take = || {
            match item {
                Item::Start(element) => match element.name.as_str() {
                    "graph" => {
                        has_graph = true;
                        usual = Direction::of(element.get("defaultedgetype").unwrap_or_default());
                    }
                    "attributes" => describes_nodes = element.get("class") == Some("node"),
                    "attribute" => {
                        let title = element.get("title").unwrap_or_default().to_owned();
                        let kind = element.get("type").unwrap_or_default();
                        let is_number = matches!(kind, "integer" | "long" | "float" | "double");
                        if !describes_nodes && is_number && listed.how.weight_rank(&title) == 0 {
                            listed.leave_unread(&title);
                        }
                        let titles = if describes_nodes { &mut titles } else { &mut edge_titles };
                        titles.insert(element.need("id")?.to_owned(), title);
                    }
                    "node" => {
                        let number = listed.add_node(element.need("id")?)?;
                        if let Some(label) = element.get("label") {
                            listed.set_name(number, label);
                        }
                        node = Some(number);
                    }
                    "attvalue" => {
                        // Files of version 1.0 call it `id`.
                        let key = element.get("for").or_else(|| element.get("id"));
                        if let Some(edge) = &mut edge {
                            let title = key.and_then(|key| edge_titles.get(key));
                            let rank = title.map_or(0, |title| listed.how.weight_rank(title));
                            if let Some(value) = element.get("value").filter(|_| rank > edge.rank) {
                                (edge.weight, edge.rank) = (Some(value.to_owned()), rank);
                            }
                            return Ok(());
                        }
                        let title = key.and_then(|key| titles.get(key));
                        if let (Some(node), Some(title), Some(value)) = (node, title, element.get("value")) {
                            listed.set_attribute(node, title, value);
                        }
                    }
                    "edge" => {
                        let (from, to) = (element.need("source")?, element.need("target")?);
                        let direction = element.get("type").map_or(usual, Direction::of);
                        let rank = listed.how.weight_rank("weight");
                        let weight = element.get("weight").filter(|_| rank > 0).map(str::to_owned);
                        let rank = if weight.is_some() { rank } else { 0 };
                        let (from, to) = (from.to_owned(), to.to_owned());
                        edge = Some(Edge { from, to, weight, rank, direction });
                    }
                    _ => {}
                },
                Item::End(name) if name == "node" => node = None,
                Item::End(name) if name == "edge" => {
                    if let Some(Edge { from, to, weight, direction, .. }) = edge.take() {
                        listed.add_edge(&from, &to, weight.as_deref(), direction)?;
                    }
                }
                _ => {}
            }
            Ok(())
        };
        take().map_err(|error: Error| xml.at(error))?;
    }
    match has_graph {
        true => listed.finish(),
        false => Err(Error::in_file(None, "has no <graph>; is it GEXF?")),
    }
}

pub(super) fn write(writer: &mut dyn Write, outline: &Outline<'_>) -> io::Result<()> {
    write_declaration(writer)?;
    writeln!(writer, "<gexf xmlns=\"http://www.gexf.net/1.2draft\" version=\"1.2\">")?;
    writeln!(writer, "  <graph defaultedgetype=\"undirected\" mode=\"static\">")?;
    if outline.labels.is_some() {
        writeln!(writer, "    <attributes class=\"node\" mode=\"static\">")?;
        writeln!(writer, "      <attribute id=\"0\" title=\"cluster\" type=\"integer\"/>")?;
        writeln!(writer, "    </attributes>")?;
    }
    writeln!(writer, "    <nodes>")?;
    for node in outline.nodes() {
        let id = escaped(&outline.id(node));
        match outline.label(node) {
            None => writeln!(writer, "      <node id=\"{id}\" label=\"{id}\"/>")?,
            Some(label) => writeln!(
                writer,
                "      <node id=\"{id}\" label=\"{id}\"><attvalues><attvalue for=\"0\" value=\"{label}\"/></attvalues></node>"
            )?,
        }
    }
    writeln!(writer, "    </nodes>\n    <edges>")?;
    for (number, (from, to, weight)) in outline.graph.edges().enumerate() {
        let (from, to) = (escaped(&outline.id(from)), escaped(&outline.id(to)));
        let weight = if outline.is_weighted() { format!(" weight=\"{weight:?}\"") } else { String::new() };
        writeln!(writer, "      <edge id=\"{number}\" source=\"{from}\" target=\"{to}\"{weight}/>")?;
    }
    writeln!(writer, "    </edges>\n  </graph>\n</gexf>")
}
