//! Matrix Market: coordinate; general or symmetric; real, integer or pattern.

use std::io::{self, Write};

use super::fields::{parse_count, parse_node, parse_weight};
use super::numbers::{decimal, digits};
use super::text::{Lines, Parsed, as_text, without_end};
use super::{Collected, Contents, GraphFile, TEXT_REMEDY};
use crate::error::{Error, Result};
use crate::graph::{EdgeSorter, Edges, Graph, NodeId, Spilling, Symmetrize, Weights};
use crate::memory;

const COMMENTS: [char; 1] = ['%'];

pub(super) fn read(
    lines: &mut Lines<'_>,
    symmetrize: Symmetrize,
    spilling: Option<&Spilling>,
) -> Result<Contents> {
    let banner = match lines.next()? {
        Some((_, line)) => Banner::parse(line).map_err(|problem| Error::in_file(1, problem))?,
        None => {
            return Err(Error::in_file(None, "is empty; a Matrix Market file starts with %%MatrixMarket"));
        }
    };
    let Some((number, line)) = lines.next_content(&COMMENTS)? else {
        return Err(Error::in_file(lines.number(), "the size line `rows columns entries` is missing"));
    };
    let (n_nodes, n_entries) = parse_sizes(line).map_err(|problem| Error::in_file(number, problem))?;

    let of_nodes = memory::PER_NODE * n_nodes as u64;
    let (budget, what) = (lines.strict_budget(), "a graph with as many nodes as the size line promises");
    memory::check_within(budget, what, of_nodes, "correct that line")?;
    if !(banner.symmetric && spilling.is_some()) {
        // Where edges do not go to files, the matrix must fit.
        let n_stored = if banner.symmetric { n_entries.saturating_mul(2) } else { n_entries };
        let of_entries = memory::matrix(n_stored, !banner.pattern);
        let what = "a graph with as many entries as the size line promises";
        memory::check_within(budget, what, of_entries.saturating_add(of_nodes), TEXT_REMEDY)?;
    }
    let sorter = match banner.symmetric {
        true => EdgeSorter::of_edges().spilling(spilling),
        // Both directions must be at hand to be compared.
        false => EdgeSorter::of_entries(),
    };
    let budget = if banner.symmetric { lines.budget() } else { budget };
    let mut found = Found { sorter, n_found: 0, n_entries, n_nodes, budget };
    let parse = |_: &Found, lines: &[u8]| Chunk::parse(lines, n_nodes, banner.pattern);
    lines.parse_rest(&mut found, parse, Found::take)?;
    let Found { sorter, n_found, .. } = found;
    if n_found < n_entries {
        let problem = format!("the size line promises {n_entries} entries, the file ends after {n_found}");
        return Err(Error::in_file(lines.number(), problem));
    }
    if banner.symmetric {
        return Ok(Contents::Edges(Collected {
            sorter,
            n_nodes,
            names: None,
            header: None,
            ignored_columns: Vec::new(),
        }));
    }
    let graph = sorter.matrix(n_nodes, symmetrize).map_err(Error::counted_from_one)?;
    Ok(Contents::Graph(GraphFile::new(graph, None)))
}

/// Writes the lower triangle.
pub(super) fn write(writer: &mut dyn Write, graph: &Graph<'_>) -> io::Result<()> {
    let pattern = matches!(graph.weights(), Weights::Unit);
    let field = if pattern { "pattern" } else { "real" };
    writeln!(writer, "%%MatrixMarket matrix coordinate {field} symmetric")?;
    writeln!(writer, "{0} {0} {1}", graph.n_nodes(), graph.n_edges())?;
    for (low, high, weight) in graph.edges() {
        write!(writer, "{} {}", high + 1, low + 1)?;
        if !pattern {
            write!(writer, " {weight:?}")?;
        }
        writeln!(writer)?;
    }
    Ok(())
}

struct Banner {
    symmetric: bool,
    pattern: bool,
}

impl Banner {
    fn parse(line: &str) -> Result<Self, String> {
        let line = line.to_lowercase();
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let &["%%matrixmarket", object, format, field, symmetry] = words.as_slice() else {
            return Err(
                "a Matrix Market file starts with `%%MatrixMarket matrix coordinate FIELD SYMMETRY`".into()
            );
        };
        if object != "matrix" || format != "coordinate" {
            return Err(format!("`{object} {format}` cannot be read; a graph is `matrix coordinate`"));
        }
        let pattern = match field {
            "pattern" => true,
            "real" | "integer" | "double" => false,
            _ => {
                return Err(format!(
                    "`{field}` weights cannot be read; they must be real, integer or pattern"
                ));
            }
        };
        let symmetric = match symmetry {
            "symmetric" => true,
            "general" => false,
            _ => {
                return Err(format!(
                    "a `{symmetry}` matrix is no undirected graph; it must be symmetric or general"
                ));
            }
        };
        Ok(Self { symmetric, pattern })
    }
}

/// The entries so far.
struct Found {
    sorter: EdgeSorter,
    n_found: u64,
    n_entries: u64,
    n_nodes: usize,
    /// Bytes of memory that may be taken.
    budget: Option<u64>,
}

impl Found {
    fn take(&mut self, chunks: Vec<Parsed<Chunk>>) -> Result<()> {
        let take = |Parsed { value: chunk, lines_before }: Parsed<Chunk>| {
            let n_open = (self.n_entries - self.n_found) as usize;
            let one_more = match &chunk.problem {
                _ if chunk.places.len() > n_open => Some(chunk.line_of(n_open)),
                Some((line, _)) if chunk.places.len() == n_open => Some(*line),
                _ => None,
            };
            if let Some(line) = one_more {
                let problem = format!("the size line promises {} entries, here is one more", self.n_entries);
                return Err(Error::in_file(lines_before + line, problem));
            }
            if let Some((line, problem)) = chunk.problem {
                return Err(Error::in_file(lines_before + line, problem));
            }
            self.n_found += chunk.places.len() as u64;
            Ok(Edges::new(chunk.places, chunk.weights))
        };
        let edges: Vec<Edges> = chunks.into_iter().map(take).collect::<Result<_>>()?;
        self.sorter.add(edges)?;
        let needed = self.sorter.memory_needed(self.n_nodes);
        memory::check_within(self.budget, "reading it up to here", needed, TEXT_REMEDY)
    }
}

/// The entries of some lines.
#[derive(Default)]
struct Chunk {
    places: Vec<(NodeId, NodeId)>,
    /// One for each of `places`, unless the matrix is a pattern.
    weights: Vec<f64>,
    /// Lines that hold no entry, counted from 1.
    skipped: Vec<u64>,
    /// The first line that is wrong, counted from 1, and why.
    problem: Option<(u64, String)>,
}

impl Chunk {
    fn parse(lines: &[u8], n_nodes: usize, pattern: bool) -> Self {
        let mut chunk = Self::default();
        for (line, number) in lines.split_inclusive(|&byte| byte == b'\n').zip(1..) {
            match parse_line(without_end(line), n_nodes, pattern) {
                Ok(Some((row, column, weight))) => {
                    chunk.places.push((row, column));
                    if !pattern {
                        chunk.weights.push(weight);
                    }
                }
                Ok(None) => chunk.skipped.push(number),
                Err(problem) => {
                    chunk.problem = Some((number, problem));
                    break;
                }
            }
        }
        chunk
    }

    /// The line of an entry.
    fn line_of(&self, entry: usize) -> u64 {
        self.skipped.iter().fold(entry as u64 + 1, |line, &skipped| line + u64::from(skipped <= line))
    }
}

fn parse_line(line: &[u8], n_nodes: usize, pattern: bool) -> Result<Option<(NodeId, NodeId, f64)>, String> {
    if let Some(entry) = plain_entry(line, n_nodes, pattern) {
        return Ok(Some(entry));
    }
    let line = as_text(line)?.trim();
    if line.is_empty() || line.starts_with(COMMENTS) {
        return Ok(None);
    }
    parse_entry(line, n_nodes, pattern).map(Some)
}

/// The short cut: numbers in digits with one blank between them.
fn plain_entry(line: &[u8], n_nodes: usize, pattern: bool) -> Option<(NodeId, NodeId, f64)> {
    let node = |text| match digits(text, 0) {
        (number, 1..=18, rest) if (1..=n_nodes as u64).contains(&number) => {
            Some(((number - 1) as NodeId, rest))
        }
        _ => None,
    };
    let (row, rest) = node(line)?;
    let (column, rest) = node(rest.strip_prefix(b" ")?)?;
    let (weight, rest) = if pattern { (1.0, rest) } else { decimal(rest.strip_prefix(b" ")?)? };
    rest.is_empty().then_some((row, column, weight))
}

fn parse_sizes(line: &str) -> Result<(usize, u64), String> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let &[rows, columns, entries] = words.as_slice() else {
        return Err(format!("the size line must be `rows columns entries`, but it is `{line}`"));
    };
    let (n_rows, n_columns) = (parse_count(rows)?, parse_count(columns)?);
    if n_rows != n_columns {
        return Err(format!(
            "the matrix has {n_rows} rows and {n_columns} columns; a graph's matrix is square"
        ));
    }
    if n_rows > u64::from(NodeId::MAX) {
        return Err(Error::TooManyNodes { n_nodes: n_rows }.to_string());
    }
    Ok((n_rows as usize, parse_count(entries)?))
}

fn parse_entry(line: &str, n_nodes: usize, pattern: bool) -> Result<(NodeId, NodeId, f64), String> {
    let mut words = line.split_ascii_whitespace();
    let (Some(row), Some(column)) = (words.next(), words.next()) else {
        return Err("an entry needs a row and a column".into());
    };
    let (row, column) = (parse_node(row, n_nodes)?, parse_node(column, n_nodes)?);
    let weight = match (pattern, words.next()) {
        (true, None) => 1.0,
        (false, Some(weight)) => parse_weight(weight)?,
        (true, Some(_)) => return Err("a pattern matrix has no weights, but this entry has one".into()),
        (false, None) => return Err("the weight of this entry is missing".into()),
    };
    match words.next() {
        None => Ok((row, column, weight)),
        Some(extra) => Err(format!("an entry is `row column weight`; `{extra}` is too much")),
    }
}
