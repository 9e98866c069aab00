//! Matrix Market: coordinate; general or symmetric; real, integer or pattern.

use std::io::{self, Write};

use super::GraphFile;
use super::fields::{parse_count, parse_node, parse_weight};
use super::text::Lines;
use crate::error::{Error, Result};
use crate::graph::{Graph, GraphBuilder, NodeId, Symmetrize, Weights};

const COMMENTS: [char; 1] = ['%'];

pub(super) fn read(lines: &mut Lines<'_>, symmetrize: Symmetrize) -> Result<GraphFile> {
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

    let mut found = Found::new(banner.symmetric, n_nodes)?;
    let mut n_found: u64 = 0;
    while let Some((number, line)) = lines.next_content(&COMMENTS)? {
        n_found += 1;
        if n_found > n_entries {
            let problem = format!("the size line promises {n_entries} entries, here is one more");
            return Err(Error::in_file(number, problem));
        }
        let (row, column, weight) =
            parse_entry(line, n_nodes, banner.pattern).map_err(|problem| Error::in_file(number, problem))?;
        found.add(row, column, weight)?;
    }
    if n_found < n_entries {
        let problem = format!("the size line promises {n_entries} entries, the file ends after {n_found}");
        return Err(Error::in_file(lines.number(), problem));
    }
    Ok(GraphFile { graph: found.finish(n_nodes, symmetrize)?, names: None, header: None })
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

/// The entries so far: edges of a symmetric file, entries of a matrix otherwise.
enum Found {
    Edges(GraphBuilder),
    Entries { places: Vec<(NodeId, NodeId)>, weights: Vec<f64> },
}

impl Found {
    fn new(symmetric: bool, n_nodes: usize) -> Result<Self> {
        Ok(if symmetric {
            Self::Edges(GraphBuilder::new(n_nodes)?)
        } else {
            Self::Entries { places: Vec::new(), weights: Vec::new() }
        })
    }

    fn add(&mut self, row: NodeId, column: NodeId, weight: f64) -> Result<()> {
        match self {
            Self::Edges(builder) => builder.add_edge(row, column, weight),
            Self::Entries { places, weights } => {
                if weight != 1.0 && weights.is_empty() {
                    weights.resize(places.len(), 1.0);
                }
                if weight != 1.0 || !weights.is_empty() {
                    weights.push(weight);
                }
                places.push((row, column));
                Ok(())
            }
        }
    }

    fn finish(self, n_nodes: usize, symmetrize: Symmetrize) -> Result<Graph<'static>> {
        match self {
            Self::Edges(builder) => builder.finish(),
            Self::Entries { places, weights } => {
                let weights = if weights.is_empty() { Weights::Unit } else { Weights::F64(weights.into()) };
                Graph::from_entries(n_nodes, &places, &weights, symmetrize).map_err(Error::counted_from_one)
            }
        }
    }
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
