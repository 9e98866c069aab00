//! What is asked of single nodes: pairs of nodes, weights of nodes, and labels of some of them.

use std::io::BufReader;
use std::path::Path;

use super::fields::{COMMENTS, Cut, Fields, Separator, quoted};
use super::labels::{LabelFormat, parse_label, read_labels};
use super::names::Names;
use super::npy::Array;
use super::text::{Compression, Lines, ending};
use super::{open, write_whole};
use crate::confidence::Confidence;
use crate::error::{Error, Result};
use crate::graph::NodeId;
use crate::metrics::{Label, UNLABELLED};

/// Splits the lines of a text, as label files are split, and calls `take` for each with its columns.
fn for_each_line(path: &Path, mut take: impl FnMut(&Fields) -> Result<(), String>) -> Result<usize> {
    let mut lines = Lines::open(path, None)?;
    let mut fields = Fields::default();
    let mut n_lines = 0;
    while let Some((number, line)) = lines.next_content(&COMMENTS)? {
        let refuse = |problem: String| Error::in_file(number, problem);
        let cut = match Cut::of(line, Separator::Comma) {
            Cut::WhiteSpace => Cut::of(line, Separator::Tab),
            comma => comma,
        };
        fields.split(line, cut).map_err(refuse)?;
        take(&fields).map_err(refuse)?;
        n_lines += 1;
    }
    Ok(n_lines)
}

/// The node that a word stands for: by its id, or by its number where nodes have no ids.
fn node_of(text: &str, n_nodes: usize, names: Option<&Names>) -> Result<NodeId, String> {
    match names {
        Some(names) => names.find(text).ok_or_else(|| format!("`{text}` is no node of the graph")),
        None => node_by_number(text, n_nodes)
            .ok_or_else(|| format!("`{text}` is no node; the nodes are 0 to {}", n_nodes.saturating_sub(1))),
    }
}

fn node_by_number(text: &str, n_nodes: usize) -> Option<NodeId> {
    text.parse::<NodeId>().ok().filter(|&node| (node as usize) < n_nodes)
}

/// Reads pairs of nodes: two ids a line, or two numbers of nodes, from 0, where nodes have no ids. Text, which may be compressed.
///
/// # Errors
/// When the file cannot be read or holds no pair, a line has not two columns, or names no node of the graph.
pub fn read_pairs(path: &Path, n_nodes: usize, names: Option<&Names>) -> Result<Vec<(NodeId, NodeId)>> {
    let read = || {
        let mut pairs = Vec::new();
        for_each_line(path, |fields| {
            if fields.len() != 2 {
                return Err(format!("a line is two nodes, but this one has {} columns", fields.len()));
            }
            let node = |column| node_of(fields.get(column), n_nodes, names);
            pairs.push((node(0)?, node(1)?));
            Ok(())
        })?;
        match pairs.is_empty() {
            true => Err(Error::in_file(None, "holds no pairs; leave it out")),
            false => Ok(pairs),
        }
    };
    read().map_err(|error: Error| error.at(path))
}

/// Reads weights of nodes: a number a line in node order or, where nodes have ids, an id and a number in any order; or a NumPy
/// array. Text may be compressed.
///
/// # Errors
/// When the file cannot be read, or holds not exactly one number of at least 0 for each node.
pub fn read_node_weights(path: &Path, n_nodes: usize, names: Option<&Names>) -> Result<Vec<f64>> {
    let read = || {
        let weights = match LabelFormat::of(path)? {
            LabelFormat::Npy => {
                let room = 16 * (n_nodes as u64 + (1 << 20));
                let array = Array::read(BufReader::new(open(path)?), "the array", Some(room))?;
                array.floats().map_err(|problem| Error::in_file(None, format!("the array {problem}")))?
            }
            LabelFormat::Text => weights_from_text(path, n_nodes, names)?,
            _ => {
                return Err(Error::in_file(
                    None,
                    "weights of nodes are read from text or .npy; convert the file",
                ));
            }
        };
        if weights.len() != n_nodes {
            let problem = format!("holds {} weights, but the graph has {n_nodes} nodes", weights.len());
            return Err(Error::in_file(None, problem));
        }
        match weights.iter().position(|weight| !(*weight >= 0.0 && weight.is_finite())) {
            None => Ok(weights),
            Some(node) => {
                let problem = format!(
                    "the weight of node {node} is {}; it must be a number of at least 0",
                    weights[node]
                );
                Err(Error::in_file(None, problem))
            }
        }
    };
    read().map_err(|error: Error| error.at(path))
}

fn weights_from_text(path: &Path, n_nodes: usize, names: Option<&Names>) -> Result<Vec<f64>> {
    let mut in_order = Vec::new();
    let mut by_id: Option<Vec<Option<f64>>> = None;
    for_each_line(path, |fields| {
        let text = fields.get(fields.len() - 1);
        let weight = text.parse::<f64>().ok().filter(|weight| *weight >= 0.0 && weight.is_finite());
        let weight = weight
            .ok_or_else(|| format!("`{text}` is no weight; weights of nodes are numbers of at least 0"))?;
        match fields.len() {
            1 if by_id.is_none() => {
                in_order.push(weight);
                if in_order.len() > n_nodes {
                    return Err(format!("here is one weight more than the graph has nodes, {n_nodes}"));
                }
            }
            2 if in_order.is_empty() => {
                let node = node_of(fields.get(0), n_nodes, names)?;
                let known = by_id.get_or_insert_with(|| vec![None; n_nodes]);
                if known[node as usize].replace(weight).is_some() {
                    return Err(format!("`{}` has a weight already", fields.get(0)));
                }
            }
            _ => return Err("a line is a weight, or an id and a weight; all lines alike".to_owned()),
        }
        Ok(())
    })?;
    let Some(by_id) = by_id else { return Ok(in_order) };
    match by_id.iter().position(Option::is_none) {
        None => Ok(by_id.into_iter().flatten().collect()),
        Some(node) => {
            let id = names.map_or(node.to_string(), |names| names.get(node as u32).into_owned());
            Err(Error::in_file(None, format!("node `{id}` has no weight; give it 0 if it has none")))
        }
    }
}

/// Reads the labels of some nodes: as [`read_labels`], but in a file with ids, or numbers of nodes, and labels nodes may be left
/// out, which get -1.
///
/// # Errors
/// As [`read_labels`].
pub fn read_some_labels(path: &Path, n_nodes: usize, names: Option<&Names>) -> Result<Vec<Label>> {
    if LabelFormat::of(path)? != LabelFormat::Text {
        return read_labels(path, n_nodes, names);
    }
    let read = || {
        let mut labels = vec![UNLABELLED; n_nodes];
        let mut is_known = vec![false; n_nodes];
        let mut has_ids = false;
        let mut is_first = true;
        for_each_line(path, |fields| {
            if fields.len() == 2 {
                let is_header = std::mem::take(&mut is_first) && parse_label(fields.get(1)).is_err();
                has_ids = true;
                if is_header && node_of(fields.get(0), n_nodes, names).is_err() {
                    return Ok(());
                }
                let (node, label) = (node_of(fields.get(0), n_nodes, names)?, parse_label(fields.get(1))?);
                if std::mem::replace(&mut is_known[node as usize], true) {
                    return Err(format!("`{}` has a label already", fields.get(0)));
                }
                labels[node as usize] = label;
            }
            Ok(())
        })?;
        Ok(has_ids.then_some(labels))
    };
    match read().map_err(|error: Error| error.at(path))? {
        Some(labels) => Ok(labels),
        None => read_labels(path, n_nodes, names),
    }
}

/// Old labels beside the nodes of a graph.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct OldLabels {
    /// Of the nodes of the graph, -1 for those without one.
    pub labels: Vec<Label>,
    /// Nodes that the graph does not have, and their labels. Without ids these are numbers beyond those of the graph.
    pub gone: Vec<(String, Label)>,
}

/// Reads labels of an earlier graph: an id and a label a line, whether the graph has the node or not; or a label a line where
/// nodes have no ids, those beyond the nodes of the graph being gone.
///
/// # Errors
/// When the file cannot be read, or a line is no label, or names a node twice.
pub fn read_old_labels(path: &Path, n_nodes: usize, names: Option<&Names>) -> Result<OldLabels> {
    let read = || {
        let mut old = OldLabels { labels: vec![UNLABELLED; n_nodes], gone: Vec::new() };
        let format = LabelFormat::of(path)?;
        if !matches!(format, LabelFormat::Text | LabelFormat::Npy) {
            return Err(Error::in_file(
                None,
                "old labels are read from text or .npy; write them as one of these",
            ));
        }
        if format == LabelFormat::Npy {
            let array = Array::read(BufReader::new(open(path)?), "the array", None)?;
            let numbers =
                array.integers().map_err(|problem| Error::in_file(None, format!("the array {problem}")))?;
            for (node, number) in numbers.into_iter().enumerate() {
                old.set(
                    node,
                    parse_label(&number.to_string()).map_err(|problem| Error::in_file(None, problem))?,
                );
            }
            return Ok(old);
        }
        let mut is_known = vec![false; n_nodes];
        let mut n_in_order = 0;
        let mut is_first = true;
        for_each_line(path, |fields| {
            let text = fields.get(fields.len() - 1);
            let is_header = std::mem::take(&mut is_first) && parse_label(text).is_err();
            match (fields.len(), names) {
                _ if is_header => {}
                (1, None) => {
                    old.set(n_in_order, parse_label(text)?);
                    n_in_order += 1;
                }
                (1, Some(_)) => {
                    return Err("the nodes of this graph have ids: a line is an id and a label".to_owned());
                }
                (2, _) => {
                    let (id, label) = (fields.get(0), parse_label(text)?);
                    let node = match names {
                        Some(names) => names.find(id),
                        None => node_by_number(id, n_nodes),
                    };
                    match node {
                        None => old.gone.push((id.to_owned(), label)),
                        Some(node) if std::mem::replace(&mut is_known[node as usize], true) => {
                            return Err(format!("`{id}` has a label already"));
                        }
                        Some(node) => old.labels[node as usize] = label,
                    }
                }
                (n_columns, _) => {
                    return Err(format!(
                        "a line is a label, or an id and a label, but this one has {n_columns} columns"
                    ));
                }
            }
            Ok(())
        })?;
        Ok(old)
    };
    read().map_err(|error: Error| error.at(path))
}

impl OldLabels {
    fn set(&mut self, node: usize, label: Label) {
        match self.labels.get_mut(node) {
            Some(known) => *known = label,
            None => self.gone.push((node.to_string(), label)),
        }
    }
}

/// Writes labels with how sure they are: label, confidence, and the clusters that the node leans to with their shares, the
/// strongest first, after the id where there are ids; whole or not at all. Text, compressed by its ending.
///
/// # Errors
/// When the file cannot be written.
pub fn write_confidence(
    path: &Path,
    labels: &[Label],
    confidence: &Confidence,
    names: Option<&Names>,
) -> Result<()> {
    let (stem, compression) = Compression::of(path);
    let separator = if ending(&stem).as_deref() == Some("csv") { ',' } else { '\t' };
    write_whole(path, |file| {
        compression.write(file, |writer| {
            for (node, (label, value)) in labels.iter().zip(&confidence.values).enumerate() {
                if let Some(names) = names {
                    write!(writer, "{}{separator}", quoted(&names.get(node as u32), separator))?;
                }
                write!(writer, "{label}{separator}{value:.6}")?;
                let best = confidence.best(node);
                for place in 0..confidence.n_best() {
                    match best.get(place) {
                        Some((cluster, share)) => {
                            write!(writer, "{separator}{cluster}{separator}{share:.6}")?;
                        }
                        None => write!(writer, "{separator}-1{separator}0")?,
                    }
                }
                writeln!(writer)?;
            }
            Ok(())
        })
    })
}
