//! Edge lists: `from to [weight]` a line, ids being any integers or strings.

use std::io::{self, Write};

use super::edge_chunk::EdgeChunk;
use super::fields::{COMMENTS, Cut, Fields, Layout, Separator, quoted};
use super::names::{Names, Numbering};
use super::text::{Lines, Parsed};
use super::{Collected, TEXT_REMEDY};
use crate::error::{Error, Result};
use crate::graph::{EdgeSorter, Graph, Spilling};
use crate::memory;

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

pub(super) fn read(
    lines: &mut Lines<'_>,
    separator: Separator,
    header: Header,
    spilling: Option<&Spilling>,
) -> Result<Collected> {
    let start = start(lines, separator, header)?;
    let mut list = List {
        numbering: Numbering::default(),
        sorter: EdgeSorter::of_edges().spilling(spilling),
        budget: lines.budget(),
    };
    list.take(vec![start.first_edge])?;
    let parse =
        |list: &List, lines: &[u8]| EdgeChunk::parse(lines, start.layout, &list.numbering, &list.sorter);
    lines.parse_rest(&mut list, parse, List::take)?;
    let List { numbering, sorter, .. } = list;
    let n_nodes = numbering.len();
    Ok(Collected { sorter, n_nodes, names: Some(numbering.finish()), header: start.header })
}

/// What was read so far.
struct List {
    numbering: Numbering,
    sorter: EdgeSorter,
    /// Bytes of memory that may be taken.
    budget: Option<u64>,
}

impl List {
    /// Adds chunks that were parsed side by side. What is new in one of them is new in all, so edges between the same
    /// ends are all parted or all late, and stay in their order.
    fn take(&mut self, chunks: Vec<Parsed<EdgeChunk>>) -> Result<()> {
        let mut parted = Vec::with_capacity(chunks.len());
        let mut late = Vec::with_capacity(chunks.len());
        for Parsed { value: chunk, lines_before } in chunks {
            let (run, edges) = chunk.number(&mut self.numbering, lines_before)?;
            parted.push(run);
            if !edges.is_empty() {
                late.push(edges);
            }
        }
        self.sorter.add_parted(parted)?;
        self.sorter.add(late)?;
        let needed = self.numbering.n_bytes() + self.sorter.memory_needed(self.numbering.len());
        memory::check_within(self.budget, "reading it up to here", needed, TEXT_REMEDY)
    }
}

/// What the first lines tell.
struct Start {
    layout: Layout,
    first_edge: Parsed<EdgeChunk>,
    header: Option<String>,
}

fn start(lines: &mut Lines<'_>, separator: Separator, header: Header) -> Result<Start> {
    let mut fields = Fields::default();
    let mut is_first = true;
    let mut header_line = None;
    while let Some((number, line)) = lines.next_content(&COMMENTS)? {
        let at_line = |problem| Error::in_file(number, problem);
        let cut = find_cut(line, separator, &mut fields).map_err(at_line)?;
        fields.split(line, cut).map_err(at_line)?;
        if std::mem::take(&mut is_first) && is_header(&fields, header) {
            header_line = Some(line.to_string());
            continue;
        }
        let layout = Layout { cut, n_columns: fields.len() };
        let value = EdgeChunk::parse(line.as_bytes(), layout, &Numbering::default(), &EdgeSorter::of_edges());
        let first_edge = Parsed { lines_before: number - 1, value };
        return Ok(Start { layout, first_edge, header: header_line });
    }
    Err(Error::in_file(None, "holds no edges; an edge is a line `from to` or `from to weight`"))
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
        Some(names) => quoted(&names.get(node), between),
        None => node.to_string(),
    };
    let weighted = graph.n_isolated() > 0 || !matches!(graph.weights(), crate::Weights::Unit);
    // Nodes may be called what columns are called; a header of our own keeps their edge one.
    if let (Some(names), Some((from, to, _))) = (names, graph.edges().next())
        && names_columns(&names.get(from), &names.get(to))
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
