//! GEXF, as Gephi and networkx read and write it.

use std::collections::HashMap;
use std::io::{self, Write};

use super::listed::{Listed, ListedGraph};
use super::outline::Outline;
use super::xml::{Item, Xml, escaped, write_declaration};
use crate::error::{Error, Result};

pub(super) fn read(bytes: &[u8], budget: Option<u64>) -> Result<ListedGraph> {
    let mut xml = Xml::new(bytes)?;
    let mut listed = Listed::new(budget);
    // What the attributes of nodes are called.
    let mut titles: HashMap<String, String> = HashMap::new();
    let (mut describes_nodes, mut node, mut has_graph) = (false, None, false);
    while let Some(item) = xml.next()? {
        let take = || {
            match item {
                Item::Start(element) => match element.name.as_str() {
                    "graph" => has_graph = true,
                    "attributes" => describes_nodes = element.get("class") == Some("node"),
                    "attribute" if describes_nodes => {
                        let title = element.get("title").unwrap_or_default().to_owned();
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
                        let title = key.and_then(|key| titles.get(key));
                        if let (Some(node), Some(title), Some(value)) = (node, title, element.get("value")) {
                            listed.set_attribute(node, title, value);
                        }
                    }
                    "edge" => {
                        let (from, to) = (element.need("source")?, element.need("target")?);
                        listed.add_edge(from, to, element.get("weight"))?;
                    }
                    _ => {}
                },
                Item::End(name) if name == "node" => node = None,
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
