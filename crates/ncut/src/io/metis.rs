//! METIS: a header `nodes edges [fmt [ncon]]`, then one line a node with its neighbours.

use std::io::{self, Write};

use super::fields::{parse_count, parse_node, parse_weight, without_blanks};
use super::numbers::{decimal, digits};
use super::text::{Lines, Parsed, as_text, without_end};
use super::{GraphFile, TEXT_REMEDY};
use crate::error::{Error, Result};
use crate::graph::{Graph, NodeId, Symmetrize, Weights};
use crate::memory;
use crate::parallel::prelude::*;

const COMMENT: char = '%';
/// Weights a node may have; they are skipped.
const MAX_CONSTRAINTS: u64 = 1 << 16;

/// Reads a graph. The weights and sizes of nodes, which N-Cut does not know, are skipped.
pub(super) fn read(lines: &mut Lines<'_>, symmetrize: Symmetrize) -> Result<GraphFile> {
    let Some((number, line)) = lines.next_content(&[COMMENT])? else {
        return Err(Error::in_file(None, "is empty; a METIS file starts with `nodes edges`"));
    };
    let header = Header::parse(line).map_err(|problem| Error::in_file(number, problem))?;

    let n_entries = header.n_edges.saturating_mul(2);
    let promised = memory::matrix(n_entries, header.edge_weights)
        .saturating_add(memory::PER_NODE.saturating_mul(header.n_nodes as u64));
    let what = "a graph as large as the header promises";
    memory::check_within(lines.strict_budget(), what, promised, TEXT_REMEDY)?;
    let mut rows = Rows {
        header: &header,
        offsets: vec![0],
        neighbors: Vec::new(),
        weights: Vec::new(),
        budget: lines.strict_budget(),
    };
    let parse = |rows: &Rows<'_>, lines: &[u8]| Chunk::parse(lines, rows.header);
    lines.parse_rest(&mut rows, parse, Rows::take)?;
    let n_found = rows.n_rows();
    if n_found < header.n_nodes {
        let problem = format!("the header promises {} nodes, the file ends after {n_found}", header.n_nodes);
        return Err(Error::in_file(lines.number(), problem));
    }
    rows.check_edge_count().map_err(|problem| Error::in_file(number, problem))?;
    let weights = if rows.weights.iter().any(|&weight| weight != 1.0) {
        Weights::F64(rows.weights.into())
    } else {
        Weights::Unit
    };
    let graph = Graph::from_csr(rows.offsets, rows.neighbors, weights, symmetrize);
    Ok(GraphFile::new(graph.map_err(Error::counted_from_one)?, None))
}

/// METIS knows whole weights and no self-loops.
pub(super) fn check_writable(graph: &Graph<'_>) -> Result<()> {
    if let Some(node) = (0..graph.n_nodes() as NodeId).find(|&node| graph.self_loop(node) > 0.0) {
        return Err(Error::in_file(
            None,
            format!(
                "the METIS format has no self-loops, but node {node} has one; write .mtx or .npz instead"
            ),
        ));
    }
    let whole = |weight: f64| weight.fract() == 0.0 && weight < 2f64.powi(53);
    match graph.edges().find(|edge| !whole(edge.2)) {
        None => Ok(()),
        Some((from, to, weight)) => Err(Error::in_file(
            None,
            format!(
                "the METIS format has whole weights, but that of ({from}, {to}) is {weight}; write .mtx or .npz \
                 instead"
            ),
        )),
    }
}

pub(super) fn write(writer: &mut dyn Write, graph: &Graph<'_>) -> io::Result<()> {
    let weighted = !matches!(graph.weights(), Weights::Unit);
    let format = if weighted { " 001" } else { "" };
    writeln!(writer, "{} {}{format}", graph.n_nodes(), graph.n_edges())?;
    for node in 0..graph.n_nodes() as NodeId {
        let mut between = "";
        for (neighbor, weight) in graph.neighbors(node) {
            write!(writer, "{between}{}", neighbor + 1)?;
            if weighted {
                write!(writer, " {}", weight as u64)?;
            }
            between = " ";
        }
        writeln!(writer)?;
    }
    Ok(())
}

struct Header {
    n_nodes: usize,
    n_edges: u64,
    /// Numbers in front of a node's neighbours: its size and its weights.
    n_leading: u64,
    edge_weights: bool,
}

impl Header {
    fn parse(line: &str) -> Result<Self, String> {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        if !(2..=4).contains(&words.len()) {
            return Err(format!("the header must be `nodes edges [fmt [ncon]]`, but it is `{line}`"));
        }
        let n_nodes = parse_count(words[0])?;
        if n_nodes > u64::from(NodeId::MAX) {
            return Err(Error::TooManyNodes { n_nodes }.to_string());
        }
        let format = words.get(2).copied().unwrap_or("0");
        if format.len() > 3 || !format.bytes().all(|digit| matches!(digit, b'0' | b'1')) {
            return Err(format!("the format `{format}` is unknown; it is up to three digits, each 0 or 1"));
        }
        // The digits from the right: edge weights, node weights, node sizes.
        let digit = |place: usize| format.bytes().rev().nth(place) == Some(b'1');
        let n_constraints = match words.get(3) {
            Some(_) if !digit(1) => {
                return Err(format!("`{line}` gives a number of node weights, but its format has none"));
            }
            Some(count) => {
                let count = parse_count(count)?;
                if count > MAX_CONSTRAINTS {
                    return Err(format!(
                        "{count} weights for every node are too many; {MAX_CONSTRAINTS} is the most"
                    ));
                }
                count
            }
            None => 1,
        };
        Ok(Self {
            n_nodes: n_nodes as usize,
            n_edges: parse_count(words[1])?,
            n_leading: u64::from(digit(2)) + if digit(1) { n_constraints } else { 0 },
            edge_weights: digit(0),
        })
    }
}

/// The rows so far.
struct Rows<'h> {
    header: &'h Header,
    offsets: Vec<u64>,
    neighbors: Vec<NodeId>,
    /// One for each of `neighbors`, where the header promises any.
    weights: Vec<f64>,
    /// Bytes of memory that may be taken.
    budget: Option<u64>,
}

impl Rows<'_> {
    fn n_rows(&self) -> usize {
        self.offsets.len() - 1
    }

    fn take(&mut self, chunks: Vec<Parsed<Chunk>>) -> Result<()> {
        chunks.into_iter().try_for_each(|Parsed { value: chunk, lines_before }| {
            let n_entries = self.neighbors.len() as u64 + chunk.neighbors.len() as u64;
            let (what, remedy) = ("reading it up to here", TEXT_REMEDY);
            let of_nodes = memory::PER_NODE * (self.n_rows() + chunk.ends.len()) as u64;
            let needed = memory::matrix(n_entries, self.header.edge_weights) + of_nodes;
            memory::check_within(self.budget, what, needed, remedy)?;
            memory::reserve(&mut self.offsets, chunk.ends.len(), what, remedy)?;
            memory::reserve(&mut self.neighbors, chunk.neighbors.len(), what, remedy)?;
            memory::reserve(&mut self.weights, chunk.weights.len(), what, remedy)?;
            let added = self.add(&chunk);
            added.map_err(|(line, problem)| Error::in_file(lines_before + line, problem))
        })
    }

    /// Adds the rows of a chunk; tells the line that is wrong, and why.
    fn add(&mut self, chunk: &Chunk) -> Result<(), (u64, String)> {
        let (n_before, n_nodes) = (self.n_rows(), self.header.n_nodes);
        let lacks = |row: usize| {
            format!("node {} lacks a weight or size that the header promises", n_before + row + 1)
        };
        let n_open = n_nodes - n_before;
        if let Some(&blank) = chunk.blanks.first()
            && blank < n_open
            && self.header.n_leading > 0
        {
            return Err((chunk.line_of(blank), lacks(blank)));
        }
        // After the last node only blank lines may follow.
        let n_rows = chunk.ends.len();
        let surplus = (n_open..n_rows).find(|row| chunk.blanks.binary_search(row).is_err());
        let is_beyond = chunk.problem.is_some() && n_rows >= n_open;
        if let Some(row) = surplus.or(is_beyond.then_some(n_rows)) {
            return Err((
                chunk.line_of(row),
                format!("the header promises {n_nodes} nodes, here is one more"),
            ));
        }
        if let Some(problem) = &chunk.problem {
            let problem = match problem {
                Problem::Lacking => lacks(n_rows),
                Problem::Other(problem) => problem.clone(),
            };
            return Err((chunk.line_of(n_rows), problem));
        }
        let n_entries = self.neighbors.len();
        self.offsets.extend(chunk.ends[..n_rows.min(n_open)].iter().map(|end| (n_entries + end) as u64));
        self.neighbors.extend_from_slice(&chunk.neighbors);
        self.weights.extend_from_slice(&chunk.weights);
        Ok(())
    }

    /// Every edge stands in two lines. A self-loop, which METIS does not know but some files have, stands
    /// in one.
    fn check_edge_count(&self) -> Result<(), String> {
        let loops = self.offsets.par_windows(2).enumerate().map(|(node, bounds)| {
            let row = &self.neighbors[bounds[0] as usize..bounds[1] as usize];
            row.iter().filter(|&&neighbor| neighbor as usize == node).count() as u64
        });
        let (n_edges, n_entries, n_loops) =
            (self.header.n_edges, self.neighbors.len() as u64, loops.sum::<u64>());
        let (twice, once) = (n_edges.saturating_mul(2), (n_entries - n_loops) / 2 + n_loops);
        if n_entries == twice || once == n_edges {
            return Ok(());
        }
        Err(format!(
            "the header promises {n_edges} edges, so {twice} neighbours, but the lines hold {n_entries}"
        ))
    }
}

/// The rows of some lines, up to the first that is wrong.
#[derive(Default)]
struct Chunk {
    /// Where each row ends.
    ends: Vec<usize>,
    neighbors: Vec<NodeId>,
    /// One for each of `neighbors`, where edges have weights.
    weights: Vec<f64>,
    /// Rows without a word.
    blanks: Vec<usize>,
    /// Lines that are comments, counted from 1.
    comments: Vec<u64>,
    /// What is wrong with the row after the last.
    problem: Option<Problem>,
}

enum Problem {
    /// A weight or size of the node is missing.
    Lacking,
    Other(String),
}

impl Chunk {
    fn parse(lines: &[u8], header: &Header) -> Self {
        let mut chunk = Self::default();
        // A neighbour is half a dozen letters, more often than not.
        chunk.neighbors.reserve(lines.len() / 6);
        let mut start = 0;
        let ends = memchr::memchr_iter(b'\n', lines).map(|end| end + 1).chain([lines.len()]);
        for (end, number) in ends.zip(1..) {
            let line = without_end(&lines[start..end]);
            // What follows the last end of a line is none.
            if std::mem::replace(&mut start, end) == end {
                break;
            }
            if let Err(problem) = chunk.add(line, number, header) {
                chunk.problem = Some(problem);
                break;
            }
        }
        chunk
    }

    fn add(&mut self, line: &[u8], number: u64, header: &Header) -> Result<(), Problem> {
        let n_before = self.neighbors.len();
        if self.add_plain(line, header).is_none() {
            self.neighbors.truncate(n_before);
            self.weights.truncate(if header.edge_weights { n_before } else { 0 });
            let line = as_text(line).map_err(Problem::Other)?;
            if line.trim_start().starts_with(COMMENT) {
                self.comments.push(number);
                return Ok(());
            }
            self.add_words(line, header)?;
        }
        if self.neighbors.len() == n_before && line.trim_ascii().is_empty() {
            self.blanks.push(self.ends.len());
        }
        self.ends.push(self.neighbors.len());
        Ok(())
    }

    /// The short cut: digits, with nothing unusual around them. `None` leaves the line to the rules.
    fn add_plain(&mut self, line: &[u8], header: &Header) -> Option<()> {
        let mut rest = line;
        for _ in 0..header.n_leading {
            rest = until_blank(decimal(without_blanks(rest))?.1)?;
        }
        loop {
            rest = without_blanks(rest);
            if rest.is_empty() {
                return Some(());
            }
            let (number, n_digits, after) = digits(rest, 0);
            if !(1..=18).contains(&n_digits) || !(1..=header.n_nodes as u64).contains(&number) {
                return None;
            }
            rest = until_blank(after)?;
            if header.edge_weights {
                let (weight, after) = decimal(without_blanks(rest))?;
                rest = until_blank(after)?;
                self.weights.push(weight);
            }
            self.neighbors.push((number - 1) as NodeId);
        }
    }

    fn add_words(&mut self, line: &str, header: &Header) -> Result<(), Problem> {
        let mut words = line.split_ascii_whitespace();
        // A blank line may stand behind the last node.
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        for _ in 0..header.n_leading {
            let word = words.next().ok_or(Problem::Lacking)?;
            parse_weight(word).map_err(Problem::Other)?;
        }
        while let Some(word) = words.next() {
            let neighbor = parse_node(word, header.n_nodes).map_err(Problem::Other)?;
            if header.edge_weights {
                let lacking = || format!("neighbour {word} has no weight, which the header promises");
                let weight = words.next().ok_or_else(|| Problem::Other(lacking()))?;
                self.weights.push(parse_weight(weight).map_err(Problem::Other)?);
            }
            self.neighbors.push(neighbor);
        }
        Ok(())
    }

    /// The line of a row.
    fn line_of(&self, row: usize) -> u64 {
        self.comments.iter().fold(row as u64 + 1, |line, &comment| line + u64::from(comment <= line))
    }
}

/// What follows a word, if that is at its end.
#[inline]
fn until_blank(text: &[u8]) -> Option<&[u8]> {
    matches!(text, [] | [b' ' | b'\t', ..]).then_some(text)
}
