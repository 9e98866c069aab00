//! Labels as texts, from any kind of file: integers, or names of classes.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use hashbrown::HashMap;
use serde::Deserialize;

use super::fields::{COMMENTS, Cut, Fields, Separator};
use super::labels::{
    HEADER_NAMES, LabelFormat, LabelsById, TextColumns, check_count, parse_label, read_labels,
};
use super::listed::Listing;
use super::names::Names;
use super::text::Lines;
use super::{GraphFormat, node_link, open, parquet, read_listed};
use crate::error::{Error, Result};
use crate::metrics::{Label, UNLABELLED};

/// Known classes of nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Classes {
    /// The class of every node, -1 for none.
    pub labels: Vec<Label>,
    /// What the classes are called, by number; empty where they are integers.
    pub names: Vec<String>,
}

/// Reads the classes of `n_nodes` nodes, as known labels to compare with: as [`read_labels`], but text, JSON and attributes
/// of nodes may be names of classes, which are numbered by first appearance. An empty one, or -1, means none.
///
/// # Errors
/// As [`read_labels`].
pub fn read_classes(path: &Path, n_nodes: usize, names: Option<&Names>) -> Result<Vec<Label>> {
    Ok(read_named_classes(path, n_nodes, names)?.labels)
}

/// As [`read_classes`], with what the classes are called.
///
/// # Errors
/// As [`read_labels`].
pub fn read_named_classes(path: &Path, n_nodes: usize, names: Option<&Names>) -> Result<Classes> {
    let numbers = || read_labels(path, n_nodes, names).map(Classes::numbered);
    let read = || {
        let format = LabelFormat::of(path)?;
        if matches!(format, LabelFormat::Npy | LabelFormat::Npz) {
            return numbers();
        }
        if format == LabelFormat::Parquet {
            return match parquet::read_texts(open(path)?)? {
                Some(TextColumns { ids, texts }) => {
                    LabelTexts { ids, texts, lines: Vec::new() }.classes(n_nodes, names)
                }
                None => numbers(),
            };
        }
        LabelTexts::read(&mut Lines::open(path, None)?, format, n_nodes)?.classes(n_nodes, names)
    };
    read().map_err(|error: Error| error.at(path))
}

impl Classes {
    /// Classes that are integers.
    fn numbered(labels: Vec<Label>) -> Self {
        Self { labels, names: Vec::new() }
    }

    /// Names numbered by first appearance; an empty one, or -1, is none.
    pub(super) fn of_texts(texts: &[String]) -> Self {
        let mut numbers: HashMap<&str, Label> = HashMap::new();
        let mut classes = Self { labels: Vec::with_capacity(texts.len()), names: Vec::new() };
        for text in texts {
            classes.labels.push(match text.as_str() {
                "" | "-1" => UNLABELLED,
                text => *numbers.entry(text).or_insert_with(|| {
                    classes.names.push(text.to_owned());
                    classes.names.len() as Label - 1
                }),
            });
        }
        classes
    }
}

/// What a file says of each node.
pub(super) struct LabelTexts {
    /// The nodes' ids, where there are any.
    ids: Option<Vec<String>>,
    texts: Vec<String>,
    /// Lines of the texts, where it was text.
    lines: Vec<u64>,
}

/// What a file of JSON may be.
#[derive(Deserialize)]
#[serde(untagged)]
enum Json {
    List(Vec<Text>),
    ById(BTreeMap<String, Text>),
}

/// A label in JSON.
#[derive(Deserialize)]
#[serde(untagged)]
enum Text {
    Number(i64),
    Word(String),
    None(()),
}

impl Text {
    fn text(self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Word(word) => word,
            Self::None(()) => String::new(),
        }
    }
}

impl LabelTexts {
    pub(super) fn read(lines: &mut Lines<'_>, format: LabelFormat, n_nodes: usize) -> Result<Self> {
        match format {
            LabelFormat::Json => Self::from_json(&lines.read_within(most_bytes(n_nodes))?),
            LabelFormat::Attribute(format) => Self::from_attribute(lines, format),
            _ => Self::from_lines(lines, n_nodes),
        }
    }

    fn from_json(bytes: &[u8]) -> Result<Self> {
        let of_graph = node_link::read(bytes, Listing::of_nodes(None));
        if let Ok(listed) = of_graph {
            return Self::of_nodes(listed);
        }
        let json: Json = serde_json::from_slice(bytes).map_err(|_| {
            let problem = "is no list of labels, no object with a label for each id, and no node-link JSON";
            Error::in_file(None, problem)
        })?;
        Ok(match json {
            Json::List(texts) => {
                Self { ids: None, texts: texts.into_iter().map(Text::text).collect(), lines: Vec::new() }
            }
            Json::ById(by_id) => {
                let (ids, texts) = by_id.into_iter().map(|(id, text)| (id, text.text())).unzip();
                Self { ids: Some(ids), texts, lines: Vec::new() }
            }
        })
    }

    fn from_attribute(lines: &mut Lines<'_>, format: GraphFormat) -> Result<Self> {
        Self::of_nodes(read_listed(lines, format, Listing::of_nodes(None))?)
    }

    fn of_nodes(listed: super::ListedGraph) -> Result<Self> {
        let classes = listed.classes.ok_or_else(|| {
            let problem = "the nodes have no attribute `cluster`, `community`, `group`, `class` or `value`";
            Error::in_file(None, problem)
        })?;
        let ids = listed.file.names.map(|names| names.iter().map(std::borrow::Cow::into_owned).collect());
        let texts = classes.into_iter().map(Option::unwrap_or_default).collect();
        Ok(Self { ids, texts, lines: Vec::new() })
    }

    fn from_lines(lines: &mut Lines<'_>, n_nodes: usize) -> Result<Self> {
        let mut fields = Fields::default();
        let mut found = Self { ids: None, texts: Vec::new(), lines: Vec::new() };
        let mut is_first = true;
        while let Some((number, line)) = lines.next_content(&COMMENTS)? {
            let refuse = |problem: String| Error::in_file(number, problem);
            let cut = match Cut::of(line, Separator::Comma) {
                Cut::WhiteSpace => Cut::of(line, Separator::Tab),
                other => other,
            };
            fields.split(line, cut).map_err(refuse)?;
            let last = fields.get(fields.len() - 1);
            if std::mem::take(&mut is_first) && HEADER_NAMES.contains(&last.to_lowercase().as_str()) {
                continue;
            }
            let has_ids = fields.len() == 2;
            if fields.len() > 2 || (!found.texts.is_empty() && found.ids.is_some() != has_ids) {
                let problem =
                    "a line is a class, or an id and a class (a name with blanks in quotes); all lines alike";
                return Err(refuse(format!("{problem}, but this one has {} columns", fields.len())));
            }
            if found.texts.len() >= n_nodes.saturating_mul(4).saturating_add(1 << 20) {
                return Err(refuse(format!("here is one label more than {n_nodes} nodes can have")));
            }
            if has_ids {
                found.ids.get_or_insert_default().push(fields.get(0).to_owned());
            }
            found.texts.push(last.to_owned());
            found.lines.push(number);
        }
        Ok(found)
    }

    /// The labels, which are integers.
    pub(super) fn labels(self, n_nodes: usize, names: Option<&Names>) -> Result<Vec<Label>> {
        let parse = |(place, text): (usize, &String)| match text.as_str() {
            "" => Ok(UNLABELLED),
            text => {
                parse_label(text).map_err(|problem| Error::in_file(self.lines.get(place).copied(), problem))
            }
        };
        let labels = self.texts.iter().enumerate().map(parse).collect::<Result<Vec<Label>>>()?;
        self.placed(labels, n_nodes, names)
    }

    /// The classes: the labels if all are integers, otherwise numbers of the names.
    fn classes(self, n_nodes: usize, names: Option<&Names>) -> Result<Classes> {
        if self.texts.iter().all(|text| text.is_empty() || parse_label(text).is_ok()) {
            return self.labels(n_nodes, names).map(Classes::numbered);
        }
        let found = Classes::of_texts(&self.texts);
        Ok(Classes { labels: self.placed(found.labels, n_nodes, names)?, names: found.names })
    }

    /// Labels by the nodes' numbers.
    fn placed(&self, labels: Vec<Label>, n_nodes: usize, names: Option<&Names>) -> Result<Vec<Label>> {
        let (Some(ids), Some(names)) = (&self.ids, names) else {
            // Where nodes have no ids, a file that counts them tells them in their order.
            return match &self.ids {
                Some(_) if !self.lines.is_empty() => {
                    let problem = "the nodes of this graph have no ids; give one label a line, in node order";
                    Err(Error::in_file(self.lines.first().copied(), problem))
                }
                _ => check_count(labels, n_nodes),
            };
        };
        let at = |place: usize| self.lines.get(place).copied();
        let mut by_id =
            LabelsById::new(n_nodes, Some(names)).map_err(|problem| Error::in_file(None, problem))?;
        for (place, (id, label)) in ids.iter().zip(labels).enumerate() {
            by_id.set(id, label).map_err(|problem| Error::in_file(at(place), problem))?;
        }
        by_id.finish()
    }
}

/// Bytes that a file of labels in JSON may have: a small packed one may unpack to any number.
fn most_bytes(n_nodes: usize) -> u64 {
    (64 << 20) + 512 * n_nodes as u64
}

/// Writes labels as JSON: a list in node order or, with ids, an object with a label for each.
pub(super) fn write_json(writer: &mut dyn Write, labels: &[Label], names: Option<&Names>) -> io::Result<()> {
    let (open, close) = if names.is_some() { ('{', '}') } else { ('[', ']') };
    writeln!(writer, "{open}")?;
    for (node, label) in labels.iter().enumerate() {
        if let Some(names) = names {
            write!(writer, "{}: ", serde_json::Value::from(names.get(node as u32).as_ref()))?;
        }
        writeln!(writer, "{label}{}", if node + 1 < labels.len() { "," } else { "" })?;
    }
    writeln!(writer, "{close}")
}
