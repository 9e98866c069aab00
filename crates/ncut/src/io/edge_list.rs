//! Edge lists: `from to [weight]` a line, ids being any integers or strings.

use std::io::{self, Write};

use super::columns::{EdgeColumns, FirstLine, Places, Signs, would_be_misread};
use super::edge_chunk::{EdgeChunk, EdgeLayout};
use super::fields::{COMMENTS, Cut, Fields, Layout, Separator, quoted};
use super::names::{Names, Numbering};
use super::text::{Lines, Parsed};
use super::{Collected, ReadOptions, TEXT_REMEDY};
use crate::error::{Error, Result};
use crate::graph::{EdgeSorter, Graph, Spilling, Symmetrize};
use crate::memory;

/// Whether the first line names the columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Header {
    /// Yes if its weight is not a number at all, or its names are known ones such as source and target; refused where it
    /// may be either.
    #[default]
    Detect,
    /// It does.
    Yes,
    /// It does not.
    No,
}

/// Reads the edges. Where the caller says how both directions become one, each leads one way: an entry of a matrix.
pub(super) fn read(
    lines: &mut Lines<'_>,
    separator: Separator,
    options: &ReadOptions,
    spilling: Option<&Spilling>,
) -> Result<Collected> {
    let sorter = match options.symmetrize {
        Symmetrize::Refuse => EdgeSorter::of_edges().spilling(spilling),
        Symmetrize::Average | Symmetrize::Max => EdgeSorter::of_entries(),
    };
    let start = start(lines, separator, options.header, options.columns.as_ref(), &sorter)?;
    let mut list = List { numbering: Numbering::default(), sorter, budget: lines.budget() };
    list.take(start.first_edges)?;
    let parse =
        |list: &List, lines: &[u8]| EdgeChunk::parse(lines, start.layout, &list.numbering, &list.sorter);
    lines.parse_rest(&mut list, parse, List::take)?;
    let List { numbering, sorter, .. } = list;
    let n_nodes = numbering.len();
    Ok(Collected {
        sorter,
        n_nodes,
        names: Some(numbering.finish()),
        header: start.header,
        ignored_columns: start.ignored_columns,
    })
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
    layout: EdgeLayout,
    /// The lines that were looked at, as far as they are edges.
    first_edges: Vec<Parsed<EdgeChunk>>,
    header: Option<String>,
    ignored_columns: Vec<String>,
}

/// A line that was looked at.
struct Seen {
    number: u64,
    text: String,
    cut: Cut,
    fields: Fields,
}

impl Seen {
    /// Whether white space separates, and all of it is tabs.
    fn has_tabs_only(&self) -> bool {
        self.cut == Cut::WhiteSpace && !self.text.trim().contains(|c: char| c.is_whitespace() && c != '\t')
    }
}

fn look(lines: &mut Lines<'_>, separator: Separator) -> Result<Option<Seen>> {
    let Some((number, line)) = lines.next_content(&COMMENTS)? else { return Ok(None) };
    let at_line = |problem| Error::in_file(number, problem);
    let mut fields = Fields::default();
    let cut = find_cut(line, separator, &mut fields).map_err(at_line)?;
    let trimmed = line.to_owned();
    let text = lines.whole_line().to_owned();
    // A first column may be empty.
    let is_indented = cut == Cut::At('\t') && text.starts_with('\t');
    fields.split_whole(if is_indented { &text } else { &trimmed }, cut).map_err(at_line)?;
    Ok(Some(Seen { number, text, cut, fields }))
}

fn start(
    lines: &mut Lines<'_>,
    separator: Separator,
    header: Header,
    columns: Option<&EdgeColumns>,
    sorter: &EdgeSorter,
) -> Result<Start> {
    let none = || Error::in_file(None, "holds no edges; an edge is a line `from to` or `from to weight`");
    let first = look(lines, separator)?.ok_or_else(none)?;
    let mut second = look(lines, separator)?;
    let signs = Signs { first: &first.fields, second: second.as_ref().map(|line| &line.fields), header };
    let found = signs.first_line(columns).map_err(|problem| Error::in_file(first.number, problem))?;
    let (places, is_header) = match found {
        FirstLine::Header(places) => (places, true),
        FirstLine::Edge(places) => (places, false),
    };
    if is_header && !places.are_all_of(first.fields.len()) && first.has_tabs_only() {
        // Texts beside an edge may hold blanks, or be missing.
        if let Some(line) = second.as_mut().filter(|line| line.text.contains('\t')) {
            line.cut = Cut::At('\t');
            line.fields
                .split_whole(&line.text, line.cut)
                .map_err(|problem| Error::in_file(line.number, problem))?;
        }
    }
    let edges: Vec<&Seen> = [(!is_header).then_some(&first), second.as_ref()].into_iter().flatten().collect();
    let Some(first_edge) = edges.first() else { return Err(none()) };
    let n_columns =
        if is_header { first.fields.len().max(first_edge.fields.len()) } else { first.fields.len() };
    if is_header && first.fields.len() < first_edge.fields.len() {
        let (n_named, n_found) = (first.fields.len(), first_edge.fields.len());
        let problem =
            format!("this line has {n_found} columns, but the header names {n_named}; name them all");
        return Err(Error::in_file(first_edge.number, problem));
    }
    // A header may name a weight that no line has.
    let places = match (columns, places.weight) {
        (None, Some(weight)) if first_edge.fields.len() == 2 && weight == 2 => {
            Places { weight: None, ..places }
        }
        _ => places,
    };
    let n_columns =
        if places.are_all_of(first_edge.fields.len()) { first_edge.fields.len() } else { n_columns };
    let places = (!places.are_all_of(n_columns)).then_some(places);
    let layout = EdgeLayout { layout: Layout { cut: first_edge.cut, n_columns }, places };
    let parse = |line: &&Seen| Parsed {
        lines_before: line.number - 1,
        value: EdgeChunk::parse(line.text.as_bytes(), layout, &Numbering::default(), sorter),
    };
    let named = is_header.then_some(&first.fields);
    Ok(Start {
        layout,
        first_edges: edges.iter().map(parse).collect(),
        ignored_columns: places.map(|places| places.ignored(n_columns, named)).unwrap_or_default(),
        header: is_header.then(|| first.text.trim_matches([' ', '\u{feff}']).trim_end().to_owned()),
    })
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
    let ids = |(from, to, _): (u32, u32, f64)| {
        names.map(|names| [from, to].map(|node| names.get(node).into_owned()))
    };
    let mut first = rows(graph).filter_map(ids);
    if let Some(ids) = first.next()
        && would_be_misread(&ids, first.next().as_ref())
    {
        writeln!(
            writer,
            "source{between}target{}",
            if weighted { format!("{between}weight") } else { String::new() }
        )?;
    }
    for (from, to, weight) in rows(graph) {
        write!(writer, "{}{between}{}", id(from), id(to))?;
        if weighted {
            write!(writer, "{between}{weight:?}")?;
        }
        writeln!(writer)?;
    }
    Ok(())
}

/// What is written of a graph, line by line.
pub(super) fn rows<'g>(graph: &'g Graph<'_>) -> impl Iterator<Item = (u32, u32, f64)> + 'g {
    (0..graph.n_nodes() as u32).flat_map(move |node| {
        let alone = (graph.degree(node) == 0.0).then_some((node, node, 0.0));
        let edges = graph.entries(node).filter_map(move |entry| {
            let to = graph.columns()[entry];
            (node <= to).then(|| (node, to, graph.weights().at(entry)))
        });
        alone.into_iter().chain(edges)
    })
}

/// Where the lines of an edge list are cut, as its first line tells; refused where that is a guess.
fn find_cut(line: &str, separator: Separator, fields: &mut Fields) -> Result<Cut, String> {
    let cut = Cut::of(line, separator);
    if cut == Cut::At(',')
        && !line.contains('"')
        && Cut::of(&line.replace(',', "."), separator) == Cut::At(';')
    {
        fields.split(line, Cut::At(';'))?;
        if fields.len() > 1 {
            return Err(
                "semicolons or commas may separate the columns here; use one of them only, and write weights with a \
                 point (0.5)"
                    .into(),
            );
        }
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
