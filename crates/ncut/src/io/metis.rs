//! METIS: a header `nodes edges [fmt [ncon]]`, then one line a node with its neighbours.

use std::io::{self, Write};

use super::GraphFile;
use super::fields::{parse_count, parse_node, parse_weight};
use super::text::Lines;
use crate::error::{Error, Result};
use crate::graph::{Graph, NodeId, Symmetrize, Weights};

const COMMENT: char = '%';
/// Weights a node may have; they are skipped.
const MOST_CONSTRAINTS: u64 = 1 << 16;

/// Reads a graph. The weights and sizes of nodes, which N-Cut does not know, are skipped.
pub(super) fn read(lines: &mut Lines<'_>, symmetrize: Symmetrize) -> Result<GraphFile> {
    let Some((number, line)) = lines.next_content(&[COMMENT])? else {
        return Err(Error::in_file(None, "is empty; a METIS file starts with `nodes edges`"));
    };
    let header = Header::parse(line).map_err(|problem| Error::in_file(number, problem))?;

    let mut rows = Rows { offsets: vec![0], neighbors: Vec::new(), weights: Vec::new(), n_loops: 0 };
    while let Some((number, line)) = lines.next()? {
        if line.trim_start().starts_with(COMMENT) {
            continue;
        }
        if rows.offsets.len() > header.n_nodes {
            // After the last node only blank lines may follow.
            if line.trim().is_empty() {
                continue;
            }
            let problem = format!("the header promises {} nodes, here is one more", header.n_nodes);
            return Err(Error::in_file(number, problem));
        }
        rows.add(line, &header).map_err(|problem| Error::in_file(number, problem))?;
    }
    let n_found = rows.offsets.len() - 1;
    if n_found < header.n_nodes {
        let problem = format!("the header promises {} nodes, the file ends after {n_found}", header.n_nodes);
        return Err(Error::in_file(lines.number(), problem));
    }
    rows.check_edge_count(header.n_edges).map_err(|problem| Error::in_file(number, problem))?;
    let weights = if header.edge_weights && rows.weights.iter().any(|&weight| weight != 1.0) {
        Weights::F64(rows.weights.into())
    } else {
        Weights::Unit
    };
    let graph = Graph::from_csr(rows.offsets, rows.neighbors, weights, symmetrize);
    Ok(GraphFile { graph: graph.map_err(Error::counted_from_one)?, names: None, header: None })
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
                if count > MOST_CONSTRAINTS {
                    return Err(format!(
                        "{count} weights for every node are too many; {MOST_CONSTRAINTS} is the most"
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

struct Rows {
    offsets: Vec<u64>,
    neighbors: Vec<NodeId>,
    weights: Vec<f64>,
    n_loops: u64,
}

impl Rows {
    fn add(&mut self, line: &str, header: &Header) -> Result<(), String> {
        let node = (self.offsets.len() - 1) as NodeId;
        let mut words = line.split_ascii_whitespace();
        for _ in 0..header.n_leading {
            let Some(word) = words.next() else {
                return Err(format!("node {} lacks a weight or size that the header promises", node + 1));
            };
            parse_weight(word)?;
        }
        while let Some(word) = words.next() {
            let neighbor = parse_node(word, header.n_nodes)?;
            if header.edge_weights {
                let Some(weight) = words.next() else {
                    return Err(format!("neighbour {word} has no weight, which the header promises"));
                };
                self.weights.push(parse_weight(weight)?);
            }
            self.n_loops += u64::from(neighbor == node);
            self.neighbors.push(neighbor);
        }
        self.offsets.push(self.neighbors.len() as u64);
        Ok(())
    }

    /// Every edge stands in two lines. A self-loop, which METIS does not know but some files have, stands
    /// in one.
    fn check_edge_count(&self, n_edges: u64) -> Result<(), String> {
        let n_entries = self.neighbors.len() as u64;
        let (twice, once) = (n_edges.saturating_mul(2), (n_entries - self.n_loops) / 2 + self.n_loops);
        if n_entries == twice || once == n_edges {
            return Ok(());
        }
        Err(format!(
            "the header promises {n_edges} edges, so {twice} neighbours, but the lines hold {n_entries}"
        ))
    }
}
