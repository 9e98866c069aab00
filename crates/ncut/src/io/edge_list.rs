//! Edge lists: `from to [weight]` a line, ids being any integers or strings.

use std::io::{self, Write};

use super::GraphFile;
use super::fields::{COMMENTS, Cut, Fields, NETWORKX_HINT, Separator, parse_weight, quoted};
use super::names::{Names, Numbering};
use super::text::Lines;
use crate::error::{Error, Result};
use crate::graph::{Graph, GraphBuilder};

/// Names of the two columns by which a header is known.
const HEADER_NAMES: [[&str; 2]; 10] = [
    ["source", "target"],
    ["from", "to"],
    ["src", "dst"],
    ["fromnodeid", "tonodeid"],
    ["from_node_id", "to_node_id"],
    ["node1", "node2"],
    ["node_1", "node_2"],
    ["id1", "id2"],
    ["id_1", "id_2"],
    ["source_id", "target_id"],
];

/// Whether the first line names the columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Header {
    /// Yes if its weight is not a number at all, or its names are known ones such as source and target.
    #[default]
    Detect,
    /// It does.
    Yes,
    /// It does not.
    No,
}

pub(super) fn read(lines: &mut Lines<'_>, separator: Separator, header: Header) -> Result<GraphFile> {
    let mut numbering = Numbering::default();
    let mut builder = GraphBuilder::new(0)?;
    let mut layout: Option<Layout> = None;
    let mut fields = Fields::default();
    let mut is_first = true;
    let mut header_line = None;
    while let Some((number, line)) = lines.next_content(&COMMENTS)? {
        let cut = match &layout {
            Some(layout) => layout.cut,
            None => {
                find_cut(line, separator, &mut fields).map_err(|problem| Error::in_file(number, problem))?
            }
        };
        fields.split(line, cut).map_err(|problem| Error::in_file(number, problem))?;
        if std::mem::take(&mut is_first) && is_header(&fields, header) {
            header_line = Some(line.to_string());
            continue;
        }
        let n_columns = layout.get_or_insert(Layout { cut, n_columns: fields.len() }).n_columns;
        let edge = parse_edge(&fields, n_columns).map_err(|problem| Error::in_file(number, problem))?;
        let (from, to) = (numbering.number(edge.from)?, numbering.number(edge.to)?);
        builder.grow(numbering.len())?;
        builder.add_edge(from, to, edge.weight)?;
    }
    if numbering.len() == 0 {
        return Err(Error::in_file(None, "holds no edges; an edge is a line `from to` or `from to weight`"));
    }
    Ok(GraphFile { graph: builder.finish()?, names: Some(numbering.finish()), header: header_line })
}

/// Writes every edge once. An isolated node is a self-loop of weight 0, which reads back as a node alone.
pub(super) fn write(
    writer: &mut dyn Write,
    graph: &Graph<'_>,
    names: Option<&Names>,
    separator: Separator,
) -> io::Result<()> {
    let between = match separator {
        Separator::Detect => ' ',
        Separator::Comma => ',',
        Separator::Tab => '\t',
    };
    let id = |node: u32| match names {
        Some(names) => quoted(names.get(node), between),
        None => node.to_string(),
    };
    let weighted = graph.n_isolated() > 0 || !matches!(graph.weights(), crate::Weights::Unit);
    // Nodes may be called what columns are called; a header of our own keeps their edge one.
    if let (Some(names), Some((from, to, _))) = (names, graph.edges().next())
        && names_columns(names.get(from), names.get(to))
    {
        writeln!(
            writer,
            "source{between}target{}",
            if weighted { format!("{between}weight") } else { String::new() }
        )?;
    }
    let mut put = |from: u32, to: u32, weight: f64| {
        write!(writer, "{}{between}{}", id(from), id(to))?;
        if weighted {
            write!(writer, "{between}{weight:?}")?;
        }
        writeln!(writer)
    };
    for node in 0..graph.n_nodes() as u32 {
        if graph.degree(node) == 0.0 {
            put(node, node, 0.0)?;
        }
        for entry in graph.entries(node) {
            let to = graph.columns()[entry];
            if node <= to {
                put(node, to, graph.weights().at(entry))?;
            }
        }
    }
    Ok(())
}

/// What the first edge tells about all lines.
struct Layout {
    cut: Cut,
    n_columns: usize,
}

/// Where the lines of an edge list are cut, as its first line tells; refused where that is a guess.
fn find_cut(line: &str, separator: Separator, fields: &mut Fields) -> Result<Cut, String> {
    let cut = Cut::of(line, separator);
    if cut == Cut::WhiteSpace && line.contains(';') && (separator == Separator::Comma || !line.contains(' '))
    {
        return Err("semicolons seem to separate the columns; use commas, tabs or white space".into());
    }
    if separator == Separator::Detect && cut == Cut::At(',') {
        fields.split(line, cut)?;
        let has_blanks = (0..fields.len()).any(|column| fields.get(column).contains(char::is_whitespace));
        if has_blanks && !line.contains('"') && (2..=3).contains(&line.split_ascii_whitespace().count()) {
            return Err(
                "commas or white space may separate the columns here; use one of them only, or name \
                        the file .csv"
                    .into(),
            );
        }
    }
    Ok(cut)
}

fn is_header(fields: &Fields, header: Header) -> bool {
    match header {
        Header::Yes => true,
        Header::No => false,
        Header::Detect => {
            // A missing weight or a Python dictionary is no name of a column.
            let is_name =
                |text: &str| text.parse::<f64>().is_err() && !text.is_empty() && !text.starts_with('{');
            (fields.len() == 3 && is_name(fields.get(2)))
                || (fields.len() >= 2 && names_columns(fields.get(0), fields.get(1)))
        }
    }
}

/// Whether two ids are known names of columns.
fn names_columns(from: &str, to: &str) -> bool {
    let (from, to) = (from.to_lowercase(), to.to_lowercase());
    HEADER_NAMES.iter().any(|&[a, b]| (from == a && to == b) || (from == b && to == a))
}

struct Edge<'f> {
    from: &'f str,
    to: &'f str,
    weight: f64,
}

fn parse_edge(fields: &Fields, n_columns: usize) -> Result<Edge<'_>, String> {
    if !(2..=3).contains(&fields.len()) {
        return Err(format!(
            "an edge is `from to` or `from to weight`, but this line has {} column{}{}",
            fields.len(),
            if fields.len() == 1 { "" } else { "s" },
            if fields.len() > 3 && fields.get(2).starts_with('{') { NETWORKX_HINT } else { "" }
        ));
    }
    if fields.len() != n_columns {
        return Err(format!(
            "this line has {} columns, the first edge has {n_columns}; either all edges have a weight or none",
            fields.len()
        ));
    }
    let (from, to) = (fields.get(0), fields.get(1));
    if from.is_empty() || to.is_empty() {
        return Err("an id is empty; an edge needs two".into());
    }
    let weight = if n_columns == 3 { parse_weight(fields.get(2))? } else { 1.0 };
    Ok(Edge { from, to, weight })
}
