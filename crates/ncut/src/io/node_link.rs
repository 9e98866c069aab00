//! Node-link JSON, as networkx and d3 read and write it.

use std::fmt;
use std::io::{self, Write};

use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, Visitor};

use super::listed::{Direction, Listed, ListedGraph, Listing};
use super::names::whole_number;
use super::outline::Outline;
use crate::error::{Error, Result};
use crate::memory;

/// Bytes that the parts of a document take for each byte of its text, at most.
const PER_BYTE: u64 = 40;

#[derive(Deserialize)]
struct Document {
    nodes: Vec<Attributes>,
    #[serde(alias = "links")]
    edges: Vec<Attributes>,
    #[serde(default)]
    directed: bool,
}

/// The attributes of a node, or of an edge.
struct Attributes(Vec<(String, Value)>);

impl Attributes {
    fn get(&self, key: &str) -> Option<&Value> {
        self.0.iter().find(|entry| entry.0 == key).map(|entry| &entry.1)
    }
}

impl<'t> Deserialize<'t> for Attributes {
    fn deserialize<D: Deserializer<'t>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Any)
    }
}

struct Any;

impl<'t> Visitor<'t> for Any {
    type Value = Attributes;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a node or an edge with its attributes")
    }

    fn visit_map<A: de::MapAccess<'t>>(self, mut entries: A) -> Result<Attributes, A::Error> {
        let mut attributes = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            attributes.push(entry);
        }
        Ok(Attributes(attributes))
    }
}

/// A value as text; what is no single value has none.
struct Value(Option<String>);

impl<'t> Deserialize<'t> for Value {
    fn deserialize<D: Deserializer<'t>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'t> Visitor<'t> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value(Some(text.to_owned())))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Value, E> {
        Ok(Value(Some(number.to_string())))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Value, E> {
        Ok(Value(Some(number.to_string())))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Value, E> {
        Ok(Value(Some(number.to_string())))
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value(Some(value.to_string())))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value(None))
    }

    fn visit_seq<A: de::SeqAccess<'t>>(self, mut items: A) -> Result<Value, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value(None))
    }

    fn visit_map<A: de::MapAccess<'t>>(self, mut entries: A) -> Result<Value, A::Error> {
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Value(None))
    }
}

pub(super) fn read(bytes: &[u8], how: Listing) -> Result<ListedGraph> {
    let needed = PER_BYTE.saturating_mul(bytes.len() as u64);
    memory::check_within(how.budget, "a graph in JSON of this size", needed, super::TEXT_REMEDY)?;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let document: Document = serde_json::from_slice(bytes).map_err(|error| {
        let problem = format!("is no node-link JSON (`nodes` and `edges` or `links`): {error}");
        Error::in_file(Some(error.line() as u64).filter(|&line| line > 0), problem)
    })?;
    let mut listed = Listed::new(how);
    let refuse = |problem: String| Error::in_file(None, problem);
    // Where nodes have no ids, edges name them by their places.
    let has_ids = document.nodes.iter().any(|node| node.get("id").is_some());
    for (place, node) in document.nodes.iter().enumerate() {
        let number = match node.get("id") {
            Some(Value(Some(id))) => listed.add_node(id)?,
            Some(Value(None)) => {
                return Err(refuse(format!("the id of node {place} is no text and no number; give it one")));
            }
            None if has_ids => return Err(refuse(format!("node {place} has no `id`"))),
            None => listed.add_node(&place.to_string())?,
        };
        for (key, value) in &node.0 {
            let Value(Some(value)) = value else { continue };
            if key == "name" && !has_ids {
                listed.set_name(number, value);
            }
            listed.set_attribute(number, key, value);
        }
    }
    let direction = if document.directed { Direction::OneWay } else { Direction::Both };
    for (place, edge) in document.edges.iter().enumerate() {
        let end = |key: &str| -> Result<String> {
            let value = edge.get(key).ok_or_else(|| refuse(format!("edge {place} has no `{key}`")))?;
            value.0.clone().ok_or_else(|| refuse(format!("an end of edge {place} is no text and no number")))
        };
        let best = edge.0.iter().max_by_key(|(key, _)| listed.how.weight_rank(key));
        let weight = match best.filter(|(key, _)| listed.how.weight_rank(key) > 0) {
            None => None,
            Some((_, Value(Some(weight)))) => Some(weight.as_str()),
            Some((_, Value(None))) => {
                return Err(refuse(format!("the weight of edge {place} is not a number")));
            }
        };
        if weight.is_none() {
            for (key, value) in &edge.0 {
                let is_number = value.0.as_ref().is_some_and(|value| value.parse::<f64>().is_ok());
                if is_number && !matches!(key.as_str(), "source" | "target" | "id" | "key") {
                    listed.leave_unread(key);
                }
            }
        }
        let added = listed.add_edge(&end("source")?, &end("target")?, weight, direction);
        added.map_err(|error| match error {
            Error::BadFile { problem, .. } => refuse(format!("edge {place}: {problem}")),
            other => other,
        })?;
    }
    listed.finish()
}

/// An id as networkx has it: whole numbers are numbers.
pub(super) fn id_text(id: &str) -> String {
    match whole_number(id.as_bytes()) {
        // Beyond these JSON's numbers are not exact in every program.
        Some(number) if number < 1 << 53 => number.to_string(),
        _ => serde_json::Value::from(id).to_string(),
    }
}

pub(super) fn write(writer: &mut dyn Write, outline: &Outline<'_>) -> io::Result<()> {
    writeln!(writer, "{{\"directed\": false, \"multigraph\": false, \"graph\": {{}},\n\"nodes\": [")?;
    let n_nodes = outline.graph.n_nodes();
    for node in outline.nodes() {
        let id = id_text(&outline.id(node));
        let label = outline.label(node).map_or(String::new(), |label| format!(", \"cluster\": {label}"));
        let comma = if node as usize + 1 < n_nodes { "," } else { "" };
        writeln!(writer, "{{\"id\": {id}{label}}}{comma}")?;
    }
    writeln!(writer, "],\n\"edges\": [")?;
    let n_edges = outline.graph.n_edges();
    for (number, (from, to, weight)) in outline.graph.edges().enumerate() {
        let (from, to) = (id_text(&outline.id(from)), id_text(&outline.id(to)));
        let weight = if outline.is_weighted() { format!(", \"weight\": {weight:?}") } else { String::new() };
        let comma = if number + 1 < n_edges { "," } else { "" };
        writeln!(writer, "{{\"source\": {from}, \"target\": {to}{weight}}}{comma}")?;
    }
    writeln!(writer, "]}}")
}
