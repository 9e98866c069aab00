//! Labels: one integer a line in node order, or an id and a label; `.npy` and `.npz` arrays; columns of Parquet.

use std::io::{self, BufReader, Cursor, Read, Seek, Write};
use std::path::Path;

use super::classes::{self, LabelTexts};
use super::fields::{COMMENTS, Cut, Fields, Separator, quoted};
use super::names::Names;
use super::npy::{self, Array};
use super::npz::Archive;
use super::parquet;
use super::text::{self, Compression, Lines};
use super::{GraphFormat, open, write_whole};
use crate::error::{Error, Result};
use crate::metrics::{Label, UNLABELLED};

/// Names of the last column by which a header is known.
pub(super) const HEADER_NAMES: [&str; 8] =
    ["label", "labels", "cluster", "class", "community", "group", "species", "y"];

/// A format for labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LabelFormat {
    /// One integer a line in node order or, for a graph whose nodes have ids, an id and an integer in any
    /// order.
    Text,
    /// A NumPy array.
    Npy,
    /// A NumPy archive with an array `y` or `labels`, or only one.
    Npz,
    /// A column of integers or, for a graph whose nodes have ids, a column of ids and one of integers. Needs the
    /// cargo feature `parquet`.
    Parquet,
    /// A list of integers in node order, or an object with one for each id; or node-link JSON.
    Json,
    /// An attribute of the nodes of a graph file, such as `cluster`.
    Attribute(GraphFormat),
}

impl LabelFormat {
    /// The format a file's name tells: an array for `.npy` and `.npz`, columns for `.parquet`, `.json`, an attribute of
    /// nodes for `.graphml`, `.gexf` and `.gml`, text otherwise.
    ///
    /// # Errors
    /// For a kind of file that this build cannot read.
    pub fn of(path: &Path) -> Result<Self> {
        let stem = Compression::of(path).0;
        match text::ending(&stem).as_deref() {
            Some("json") => return Ok(Self::Json),
            Some("graphml" | "gexf" | "gml") => return GraphFormat::of(&stem).map(Self::Attribute),
            _ => {}
        }
        match text::ending(path).as_deref() {
            Some("npy") => Ok(Self::Npy),
            Some("npz") => Ok(Self::Npz),
            Some("parquet") => parquet::check_known().map(|()| Self::Parquet).map_err(|error| error.at(path)),
            _ => Ok(Self::Text),
        }
    }
}

/// Reads the labels of `n_nodes` nodes from a file, in the format its name tells. -1 means none. Text may be
/// compressed.
///
/// # Errors
/// When the file cannot be read, a label is no integer from -1 up, or there is not one for each node.
pub fn read_labels(path: &Path, n_nodes: usize, names: Option<&Names>) -> Result<Vec<Label>> {
    let read = |format| match format {
        LabelFormat::Text => from_text(&mut Lines::open(path, None)?, n_nodes, names),
        LabelFormat::Npy => from_npy(BufReader::new(open(path)?), n_nodes),
        LabelFormat::Npz => from_npz(BufReader::new(open(path)?), n_nodes),
        LabelFormat::Parquet => from_columns(parquet::read_labels(open(path)?)?, n_nodes, names),
        LabelFormat::Json | LabelFormat::Attribute(_) => {
            let texts = LabelTexts::read(&mut Lines::open(path, None)?, format, n_nodes)?;
            texts.labels(n_nodes, names)
        }
    };
    LabelFormat::of(path).and_then(read).map_err(|error| error.at(path))
}

/// Reads labels from bytes that are not compressed; see [`read_labels`].
///
/// # Errors
/// As [`read_labels`].
pub fn parse_labels(
    bytes: &[u8],
    format: LabelFormat,
    n_nodes: usize,
    names: Option<&Names>,
) -> Result<Vec<Label>> {
    match format {
        LabelFormat::Text => from_text(&mut Lines::of_bytes(bytes), n_nodes, names),
        LabelFormat::Npy => from_npy(bytes, n_nodes),
        LabelFormat::Npz => from_npz(Cursor::new(bytes), n_nodes),
        LabelFormat::Parquet => from_columns(parquet::parse_labels(bytes)?, n_nodes, names),
        LabelFormat::Json | LabelFormat::Attribute(_) => {
            LabelTexts::read(&mut Lines::of_bytes(bytes), format, n_nodes)?.labels(n_nodes, names)
        }
    }
}

/// Finds out early whether [`write_labels`] can succeed, without touching anything.
///
/// # Errors
/// When the file cannot be written, or labels cannot be written in the format its name tells.
pub fn check_labels_writable(path: &Path) -> Result<()> {
    let (stem, compression) = Compression::of(path);
    match text::ending(&stem).as_deref() {
        Some("npy") if compression == Compression::None => super::check_writable(path),
        Some("parquet") if compression == Compression::None => {
            parquet::check_known().map_err(|error| error.at(path))?;
            super::check_writable(path)
        }
        None | Some("txt" | "csv" | "tsv" | "json" | "graphml" | "gexf" | "gml") => {
            super::check_writable(path)
        }
        // Endings that people give to plain text, and parts of METIS, which end in a number.
        Some("dat" | "lab" | "labels" | "clu" | "out" | "part") => super::check_writable(path),
        Some(ending) if ending.bytes().all(|byte| byte.is_ascii_digit()) => super::check_writable(path),
        Some(_) => {
            let problem = "labels cannot be written as this kind of file; they are text (.txt .csv .tsv), .json, with the \
                           graph .graphml .gexf .gml (each also with .gz or .zst), .npy or .parquet";
            Err(Error::in_file(None, problem).at(path))
        }
    }
}

/// Whether labels in a file of this name are an attribute of nodes, so that the graph is written with them
/// ([`write_labelled_graph`](super::write_labelled_graph)).
pub fn are_written_with_graph(path: &Path) -> bool {
    GraphFormat::of(path).is_ok_and(GraphFormat::holds_labels)
}

/// Writes labels in the format the file's name tells, whole or not at all; with `names`, an id and a label
/// a line (columns `id` and `label` of Parquet).
///
/// # Errors
/// When the file cannot be written.
pub fn write_labels(path: &Path, labels: &[Label], names: Option<&Names>) -> Result<()> {
    check_labels_writable(path)?;
    let (stem, compression) = Compression::of(path);
    match text::ending(&stem).as_deref() {
        Some("npy") => write_npy(path, &format!("({},)", labels.len()), labels),
        Some("parquet") => write_whole(path, |file| parquet::write_labels(file, labels, names)),
        Some("json") => write_whole(path, |file| {
            compression.write(file, |writer| classes::write_json(writer, labels, names))
        }),
        Some("graphml" | "gexf" | "gml") => {
            let problem = "such a file holds the graph, too; write it with write_labelled_graph";
            Err(Error::in_file(None, problem).at(path))
        }
        ending => {
            let separator = if ending == Some("csv") { ',' } else { '\t' };
            write_whole(path, |file| {
                compression.write(file, |writer| write_labels_text(writer, labels, names, separator))
            })
        }
    }
}

/// Writes the labels of a picture's pixels, row after row, as a NumPy array of `height` rows and `width`
/// columns (32-bit integers): whole or not at all.
///
/// # Errors
/// When there is not one label for each pixel, or the file cannot be written.
pub fn write_label_grid(path: &Path, labels: &[Label], height: usize, width: usize) -> Result<()> {
    if height.checked_mul(width) != Some(labels.len()) {
        let problem = format!("{} labels do not make {height} rows of {width}", labels.len());
        return Err(Error::labels(problem).at(path));
    }
    write_npy(path, &format!("({height}, {width})"), labels)
}

fn write_npy(path: &Path, shape: &str, labels: &[Label]) -> Result<()> {
    write_whole(path, |file| {
        let mut file = io::BufWriter::new(file);
        npy::write(&mut file, "<i4", shape, labels.iter().map(|label| label.to_le_bytes()))?;
        file.flush()
    })
}

/// Writes labels as text: one a line, after the node's id and `separator` where there are ids.
///
/// # Errors
/// When `writer` fails.
pub fn write_labels_text(
    writer: &mut dyn Write,
    labels: &[Label],
    names: Option<&Names>,
    separator: char,
) -> io::Result<()> {
    for (node, label) in labels.iter().enumerate() {
        if let Some(names) = names {
            write!(writer, "{}{separator}", quoted(&names.get(node as u32), separator))?;
        }
        writeln!(writer, "{label}")?;
    }
    Ok(())
}

fn from_npy(reader: impl Read, n_nodes: usize) -> Result<Vec<Label>> {
    let numbers = Array::read(reader, "the array", Some(room_for(n_nodes)))?.integers();
    from_array(numbers.map_err(|problem| Error::in_file(None, format!("the array {problem}")))?, n_nodes)
}

fn from_npz(file: impl Read + Seek, n_nodes: usize) -> Result<Vec<Label>> {
    let mut archive = Archive::open(file, Some(room_for(n_nodes)))?;
    let arrays = archive.names();
    let known = ["y", "labels"].into_iter().find(|known| arrays.iter().any(|name| name == known));
    let numbers = match (known, &arrays[..]) {
        (Some(name), _) => archive.integers(name)?,
        (None, [only]) => archive.integers(only)?,
        _ => {
            let problem = format!("has no array `y` or `labels`; its arrays are: {}", arrays.join(", "));
            return Err(Error::in_file(None, problem));
        }
    };
    from_array(numbers, n_nodes)
}

/// Labels that are read before they are counted. A file with some too many is told how many it has; one without end, as
/// a small compressed file may be, is read no further.
fn most_labels(n_nodes: usize) -> usize {
    n_nodes.saturating_mul(4).saturating_add(1 << 20)
}

/// Bytes of memory that so many labels may take, as they are stored and in 64 bits.
fn room_for(n_nodes: usize) -> u64 {
    16 * most_labels(n_nodes) as u64
}

fn from_array(numbers: Vec<i64>, n_nodes: usize) -> Result<Vec<Label>> {
    let labels: Result<Vec<Label>> = numbers
        .into_iter()
        .enumerate()
        .map(|(node, number)| {
            check_label(number).ok_or_else(|| {
                let range = format!("labels are integers from 0 to {}, -1 for none", Label::MAX);
                Error::in_file(None, format!("the label of node {node} is {number}; {range}"))
            })
        })
        .collect();
    check_count(labels?, n_nodes)
}

fn from_text(lines: &mut Lines<'_>, n_nodes: usize, names: Option<&Names>) -> Result<Vec<Label>> {
    let mut fields = Fields::default();
    let mut in_order: Vec<Label> = Vec::new();
    let mut by_id: Option<LabelsById<'_>> = None;
    let mut n_columns = None;
    let mut is_first = true;
    while let Some((number, line)) = lines.next_content(&COMMENTS)? {
        let refuse = |problem: String| Error::in_file(number, problem);
        let cut = match Cut::of(line, Separator::Comma) {
            Cut::WhiteSpace => Cut::of(line, Separator::Tab),
            comma => comma,
        };
        fields.split(line, cut).map_err(refuse)?;
        let last = fields.get(fields.len() - 1);
        if std::mem::take(&mut is_first) && HEADER_NAMES.contains(&last.to_lowercase().as_str()) {
            continue;
        }
        if *n_columns.get_or_insert(fields.len()) != fields.len() || fields.len() > 2 {
            let problem = "a line is a label, or an id and a label; all lines alike";
            return Err(refuse(format!("{problem}, but this one has {} columns", fields.len())));
        }
        let label = parse_label(last).map_err(refuse)?;
        if fields.len() == 1 {
            if in_order.len() >= most_labels(n_nodes) {
                return Err(refuse(format!("here is one label more than {n_nodes} nodes can have")));
            }
            in_order.push(label);
            continue;
        }
        let known = match &mut by_id {
            Some(known) => known,
            None => by_id.insert(LabelsById::new(n_nodes, names).map_err(refuse)?),
        };
        known.set(fields.get(0), label).map_err(refuse)?;
    }
    match by_id {
        Some(by_id) => by_id.finish(),
        None => check_count(in_order, n_nodes),
    }
}

/// Labels in columns.
pub(super) struct LabelColumns {
    /// The nodes' ids, where there are any.
    pub(super) ids: Option<Vec<String>>,
    pub(super) labels: Vec<i64>,
}

/// Names of classes in a column.
pub(super) struct TextColumns {
    /// The nodes' ids, where there are any.
    pub(super) ids: Option<Vec<String>>,
    pub(super) texts: Vec<String>,
}

fn from_columns(columns: LabelColumns, n_nodes: usize, names: Option<&Names>) -> Result<Vec<Label>> {
    let Some(ids) = columns.ids else { return from_array(columns.labels, n_nodes) };
    let refuse = |problem: String| Error::in_file(None, problem);
    let mut by_id = LabelsById::new(n_nodes, names).map_err(refuse)?;
    for (id, number) in ids.iter().zip(columns.labels) {
        let label = check_label(number).ok_or_else(|| refuse(no_label(&number.to_string())))?;
        by_id.set(id, label).map_err(refuse)?;
    }
    by_id.finish()
}

/// Labels that come with the ids of their nodes, in any order.
pub(super) struct LabelsById<'n> {
    names: &'n Names,
    labels: Vec<Option<Label>>,
}

impl<'n> LabelsById<'n> {
    pub(super) fn new(n_nodes: usize, names: Option<&'n Names>) -> Result<Self, String> {
        let names =
            names.ok_or("the nodes of this graph have no ids; give one label a line, in node order")?;
        Ok(Self { names, labels: vec![None; n_nodes] })
    }

    pub(super) fn set(&mut self, id: &str, label: Label) -> Result<(), String> {
        let node = self.names.find(id).ok_or_else(|| format!("`{id}` is no node of the graph"))?;
        match self.labels[node as usize].replace(label) {
            None => Ok(()),
            Some(_) => Err(format!("`{id}` has a label already")),
        }
    }

    pub(super) fn finish(self) -> Result<Vec<Label>> {
        match self.labels.iter().position(Option::is_none) {
            None => Ok(self.labels.into_iter().flatten().collect()),
            Some(node) => {
                let id = self.names.get(node as u32);
                Err(Error::in_file(None, format!("node `{id}` has no label; give it -1 if it has none")))
            }
        }
    }
}

pub(super) fn parse_label(text: &str) -> Result<Label, String> {
    // Some programs write integers as 3.0 or 3e0.
    let whole = |number: f64| (number.fract() == 0.0).then_some(number as i64);
    let number = text.parse::<i64>().ok().or_else(|| text.parse::<f64>().ok().and_then(whole));
    number.and_then(check_label).ok_or_else(|| no_label(text))
}

fn no_label(text: &str) -> String {
    format!("`{text}` is no label; labels are integers from 0 to {}, -1 for none", Label::MAX)
}

fn check_label(number: i64) -> Option<Label> {
    Label::try_from(number).ok().filter(|&label| label >= UNLABELLED)
}

pub(super) fn check_count(labels: Vec<Label>, n_nodes: usize) -> Result<Vec<Label>> {
    if labels.len() == n_nodes {
        return Ok(labels);
    }
    Err(Error::in_file(None, format!("holds {} labels, but the graph has {n_nodes} nodes", labels.len())))
}
