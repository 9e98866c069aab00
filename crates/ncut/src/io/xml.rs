//! XML as far as graphs need it: elements, their attributes, and text. Entities are never expanded: the five that XML
//! itself knows and characters by their number are all there is.

use std::io::{self, Write};

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::listed::Located;
use super::names::Names;
use crate::error::{Error, Result};

/// An element that begins, or ends, or text between.
pub(super) enum Item {
    Start(Element),
    End(String),
    Text(String),
}

/// An element: its name and attributes, without prefixes.
pub(super) struct Element {
    pub(super) name: String,
    attributes: Vec<(String, String)>,
}

impl Element {
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|attribute| attribute.0 == name).map(|attribute| attribute.1.as_str())
    }

    /// An attribute that must be there.
    pub(super) fn need(&self, name: &str) -> Result<&str> {
        self.get(name)
            .ok_or_else(|| Error::in_file(None, format!("this <{}> has no attribute `{name}`", self.name)))
    }
}

/// A document being read.
pub(super) struct Xml<'t> {
    reader: Reader<&'t [u8]>,
    located: Located<'t>,
    depth: usize,
}

/// Elements inside one another, at most.
const DEEPEST: usize = 256;

impl<'t> Xml<'t> {
    pub(super) fn new(bytes: &'t [u8]) -> Result<Self> {
        let located = Located::new(bytes)?;
        let mut reader = Reader::from_str(located.text);
        reader.config_mut().expand_empty_elements = true;
        Ok(Self { reader, located, depth: 0 })
    }

    /// What comes next; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Item>> {
        loop {
            let event = match self.reader.read_event() {
                Ok(event) => event,
                Err(error) => return Err(self.refuse(&format!("this is no XML: {error}"))),
            };
            let item = match event {
                Event::Start(start) => {
                    self.depth += 1;
                    if self.depth > DEEPEST {
                        return Err(self.refuse("elements are nested too deeply"));
                    }
                    let element = element(&start);
                    Item::Start(element.map_err(|problem| self.refuse(&problem))?)
                }
                Event::End(end) => {
                    self.depth = self.depth.saturating_sub(1);
                    Item::End(String::from_utf8_lossy(end.local_name().as_ref()).into_owned())
                }
                Event::Text(text) => Item::Text(String::from_utf8_lossy(&text).into_owned()),
                Event::CData(text) => Item::Text(String::from_utf8_lossy(&text).into_owned()),
                Event::GeneralRef(name) => {
                    let name = String::from_utf8_lossy(&name).into_owned();
                    Item::Text(unescape(&format!("&{name};")).map_err(|problem| self.refuse(&problem))?)
                }
                Event::Eof if self.depth > 0 => {
                    return Err(self.refuse("the file ends inside an element; it is cut short"));
                }
                Event::Eof => return Ok(None),
                _ => continue,
            };
            return Ok(Some(item));
        }
    }

    /// An error at the place that was read last.
    pub(super) fn refuse(&mut self, problem: &str) -> Error {
        self.at(Error::in_file(None, problem))
    }

    /// The same error, naming the line.
    pub(super) fn at(&mut self, error: Error) -> Error {
        let place = usize::try_from(self.reader.buffer_position()).unwrap_or(usize::MAX);
        self.located.at(place, error)
    }
}

fn element(start: &BytesStart<'_>) -> Result<Element, String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut attributes = Vec::new();
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|error| format!("this is no XML: {error}"))?;
        let value = unescape(&text(&attribute.value))?;
        attributes.push((text(attribute.key.local_name().as_ref()), value));
    }
    Ok(Element { name: text(start.local_name().as_ref()), attributes })
}

/// Text without what stands for single characters; entities that a document defines are refused.
fn unescape(text: &str) -> Result<String, String> {
    let plain = quick_xml::escape::unescape(text);
    plain
        .map(std::borrow::Cow::into_owned)
        .map_err(|_| "an entity such as `&name;` is not expanded here; write the text itself".to_owned())
}

/// Text as the value of an attribute or between elements.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\t' | '\n' | '\r' => escaped.push_str(&format!("&#{};", u32::from(letter))),
            _ => escaped.push(letter),
        }
    }
    escaped
}

/// Refuses ids with characters that XML cannot hold.
pub(super) fn check_ids(names: Option<&Names>) -> Result<()> {
    let is_bad = |letter: char| {
        (letter.is_control() && !matches!(letter, '\t' | '\n' | '\r' | '\u{7f}'..='\u{9f}'))
            || matches!(letter, '\u{fffe}' | '\u{ffff}')
    };
    match names.and_then(|names| names.iter().find(|id| id.contains(is_bad))) {
        None => Ok(()),
        Some(id) => Err(Error::in_file(
            None,
            format!(
                "the id `{}` has a character that XML cannot hold; choose another format",
                id.escape_debug()
            ),
        )),
    }
}

/// The first lines of every document.
pub(super) fn write_declaration(writer: &mut dyn Write) -> io::Result<()> {
    writeln!(writer, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")
}
