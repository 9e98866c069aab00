//! Pajek networks (`.net`): vertices counted from 1, then edges and arcs.

use std::io::{self, Write};

use super::fields::{Cut, Fields, parse_count, parse_node};
use super::listed::{Direction, Listed, ListedGraph, Listing};
use super::outline::Outline;
use super::text::Lines;
use crate::error::{Error, Result};
use crate::graph::NodeId;
use crate::memory;

/// Bytes that the promised nodes may take where nobody says how many there are: a line of twenty letters promises any number.
const UNASKED: u64 = 1 << 30;

/// What the lines that follow are.
enum Section {
    Vertices,
    /// `from to weight` a line.
    Edges(Direction),
    /// `from to to to` a line.
    Lists(Direction),
}

pub(super) fn read(lines: &mut Lines<'_>, how: Listing) -> Result<ListedGraph> {
    let budget = how.budget;
    let mut listed = Listed::new(how);
    let mut fields = Fields::default();
    let mut section = None;
    let mut n_nodes = 0;
    while let Some((number, line)) = lines.next_content(&['%'])? {
        let refuse = |problem: String| Error::in_file(number, problem);
        if let Some(title) = line.strip_prefix('*') {
            let mut words = title.split_whitespace();
            section = match words.next().unwrap_or_default().to_lowercase().as_str() {
                "network" => continue,
                "vertices" if n_nodes > 0 => {
                    return Err(refuse(
                        "here is a second network; give every network a file of its own".into(),
                    ));
                }
                "vertices" => {
                    let count = parse_count(words.next().unwrap_or_default()).map_err(refuse)?;
                    let what = "a graph with as many nodes as the first line promises";
                    let needed = count.saturating_mul(memory::PER_NODE + 64);
                    memory::check_within(budget.or(Some(UNASKED)), what, needed, "correct that line")?;
                    n_nodes = usize::try_from(count)
                        .ok()
                        .filter(|&count| count < NodeId::MAX as usize)
                        .ok_or(Error::TooManyNodes { n_nodes: count })?;
                    for node in 1..=n_nodes {
                        listed.add_node(&node.to_string())?;
                    }
                    Some(Section::Vertices)
                }
                "edges" => Some(Section::Edges(Direction::Both)),
                "arcs" => Some(Section::Edges(Direction::OneWay)),
                "edgeslist" => Some(Section::Lists(Direction::Both)),
                "arcslist" => Some(Section::Lists(Direction::OneWay)),
                other => {
                    let known = "*Vertices, *Edges, *Arcs, *Edgeslist and *Arcslist are";
                    return Err(refuse(format!("`*{other}` cannot be read; {known}")));
                }
            };
            continue;
        }
        fields.split(line, Cut::WhiteSpace).map_err(refuse)?;
        let node =
            |column: usize| parse_node(fields.get(column), n_nodes).map(|node| node + 1).map_err(refuse);
        let named = |error: Error| match error {
            Error::BadFile { problem, .. } => refuse(problem),
            other => other,
        };
        match section {
            None => return Err(refuse("a Pajek network starts with `*Vertices N`".into())),
            Some(Section::Vertices) => {
                let vertex = node(0)?;
                if fields.len() > 1 {
                    listed.set_name(vertex - 1, fields.get(1));
                }
            }
            Some(Section::Edges(direction)) => {
                if fields.len() < 2 {
                    return Err(refuse("an edge is `from to` or `from to weight`".into()));
                }
                let (from, to) = (node(0)?.to_string(), node(1)?.to_string());
                let weight = (fields.len() > 2).then(|| fields.get(2));
                listed.add_edge(&from, &to, weight, direction).map_err(named)?;
            }
            Some(Section::Lists(direction)) => {
                let from = node(0)?.to_string();
                for column in 1..fields.len() {
                    let to = node(column)?.to_string();
                    listed.add_edge(&from, &to, None, direction).map_err(named)?;
                }
            }
        }
    }
    if section.is_none() {
        return Err(Error::in_file(None, "is empty; a Pajek network starts with `*Vertices N`"));
    }
    listed.finish()
}

/// Refuses ids that a quoted word cannot hold.
pub(super) fn check_writable(outline: &Outline<'_>) -> Result<()> {
    match outline.names.and_then(|names| names.iter().find(|id| id.contains(['"', '\n', '\r']))) {
        None => Ok(()),
        Some(id) => Err(Error::in_file(
            None,
            format!(
                "the id `{}` has a quote or a line end, which Pajek cannot hold; choose another format",
                id.escape_debug()
            ),
        )),
    }
}

pub(super) fn write(writer: &mut dyn Write, outline: &Outline<'_>) -> io::Result<()> {
    writeln!(writer, "*Vertices {}", outline.graph.n_nodes())?;
    for node in outline.nodes() {
        writeln!(writer, "{} \"{}\"", node + 1, outline.id(node))?;
    }
    writeln!(writer, "*Edges")?;
    for (from, to, weight) in outline.graph.edges() {
        match outline.is_weighted() {
            true => writeln!(writer, "{} {} {weight:?}", from + 1, to + 1)?,
            false => writeln!(writer, "{} {}", from + 1, to + 1)?,
        }
    }
    Ok(())
}
