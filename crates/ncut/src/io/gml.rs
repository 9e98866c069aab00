//! GML, as networkx and igraph read and write it: keys and values, lists in brackets.

use std::io::{self, Write};

use super::listed::{Direction, Listed, ListedGraph, Listing, Located};
use super::outline::Outline;
use crate::error::{Error, Result};

/// Lists inside one another, at most.
const DEEPEST: usize = 64;

pub(super) fn read(bytes: &[u8], how: Listing) -> Result<ListedGraph> {
    let mut located = Located::new(bytes)?;
    let mut tokens = Tokens { text: located.text, place: 0 };
    let mut listed = Listed::new(how);
    let found = lists(&mut tokens, &mut listed);
    match found.map_err(|error| located.at(tokens.place, error))? {
        true => listed.finish(),
        false => Err(Error::in_file(None, "has no `graph [`; is it GML?")),
    }
}

/// Reads all lists; tells whether one is a graph.
fn lists(tokens: &mut Tokens<'_>, listed: &mut Listed) -> Result<bool> {
    // The keys of the lists that are open.
    let mut open: Vec<&str> = Vec::new();
    let mut record: Vec<(&str, Value<'_>)> = Vec::new();
    let (mut n_graphs, mut direction) = (0, Direction::Both);
    loop {
        let key = match tokens.next()? {
            None if open.is_empty() => return Ok(n_graphs > 0),
            None => return Err(Error::in_file(None, "the file ends inside a list; it is cut short")),
            Some(Token::Close) => {
                match (open.pop(), &open[..]) {
                    (Some("node"), ["graph"]) => add_node(listed, &record)?,
                    (Some("edge"), ["graph"]) => add_edge(listed, &record, direction)?,
                    (None, _) => return Err(Error::in_file(None, "here is a `]` without its `[`")),
                    _ => {}
                }
                continue;
            }
            Some(Token::Word(key)) => key,
            Some(_) => return Err(Error::in_file(None, "here must be a key; is it GML?")),
        };
        let value = match tokens.next()? {
            Some(Token::Open) => {
                if open.is_empty() && key == "graph" {
                    n_graphs += 1;
                    if n_graphs > 1 {
                        let problem = "here is a second graph; give every graph a file of its own";
                        return Err(Error::in_file(None, problem));
                    }
                }
                if open == ["graph"] && matches!(key, "node" | "edge") {
                    record.clear();
                }
                open.push(key);
                if open.len() > DEEPEST {
                    return Err(Error::in_file(None, "lists are nested too deeply"));
                }
                continue;
            }
            Some(Token::Word(word)) => Value::Plain(word),
            Some(Token::Quoted(text)) => Value::Quoted(text),
            _ => return Err(Error::in_file(None, format!("`{key}` has no value"))),
        };
        if open == ["graph"] && key == "directed" {
            direction = Direction::of(&value.text());
        }
        if open.len() == 2 && record.len() < 256 {
            record.push((key, value));
        }
    }
}

enum Value<'t> {
    Plain(&'t str),
    Quoted(&'t str),
}

impl Value<'_> {
    fn text(&self) -> String {
        match self {
            Self::Plain(text) => (*text).to_owned(),
            Self::Quoted(text) => unescaped(text),
        }
    }
}

fn get(record: &[(&str, Value<'_>)], key: &str) -> Option<String> {
    record.iter().find(|entry| entry.0 == key).map(|entry| entry.1.text())
}

fn need(record: &[(&str, Value<'_>)], kind: &str, key: &str) -> Result<String> {
    get(record, key).ok_or_else(|| Error::in_file(None, format!("this {kind} has no `{key}`")))
}

fn add_node(listed: &mut Listed, record: &[(&str, Value<'_>)]) -> Result<()> {
    let node = listed.add_node(&need(record, "node", "id")?)?;
    if let Some(name) = get(record, "label").or_else(|| get(record, "name")) {
        listed.set_name(node, &name);
    }
    for (key, value) in record {
        listed.set_attribute(node, key, &value.text());
    }
    Ok(())
}

fn add_edge(listed: &mut Listed, record: &[(&str, Value<'_>)], direction: Direction) -> Result<()> {
    let (from, to) = (need(record, "edge", "source")?, need(record, "edge", "target")?);
    let best = record.iter().max_by_key(|(key, _)| listed.how.weight_rank(key));
    let weight = best.filter(|(key, _)| listed.how.weight_rank(key) > 0).map(|(_, value)| value.text());
    if weight.is_none() {
        for (key, value) in record {
            let is_number = matches!(value, Value::Plain(text) if text.parse::<f64>().is_ok());
            if is_number && !matches!(*key, "source" | "target" | "id" | "key") {
                listed.leave_unread(key);
            }
        }
    }
    listed.add_edge(&from, &to, weight.as_deref(), direction)
}

enum Token<'t> {
    Word(&'t str),
    Quoted(&'t str),
    Open,
    Close,
}

struct Tokens<'t> {
    text: &'t str,
    place: usize,
}

impl<'t> Tokens<'t> {
    fn next(&mut self) -> Result<Option<Token<'t>>> {
        let text = self.text;
        loop {
            let rest = &text[self.place..];
            let start = rest.trim_start();
            self.place += rest.len() - start.len();
            match start.as_bytes().first() {
                None => return Ok(None),
                // A comment, up to the end of the line.
                Some(b'#') => self.place += start.find('\n').unwrap_or(start.len()),
                Some(b'[') => {
                    self.place += 1;
                    return Ok(Some(Token::Open));
                }
                Some(b']') => {
                    self.place += 1;
                    return Ok(Some(Token::Close));
                }
                Some(b'"') => {
                    let Some(end) = start[1..].find('"') else {
                        return Err(Error::in_file(None, "a double quote is opened but not closed"));
                    };
                    self.place += end + 2;
                    return Ok(Some(Token::Quoted(&start[1..=end])));
                }
                Some(_) => {
                    let end = start.find(|c: char| c.is_whitespace() || matches!(c, '[' | ']' | '"'));
                    let word = &start[..end.unwrap_or(start.len())];
                    self.place += word.len();
                    return Ok(Some(Token::Word(word)));
                }
            }
        }
    }
}

/// Text without what stands for single characters; everything else stays as it is.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        plain.push_str(before);
        let letter = after.split_once(';').and_then(|(name, next)| Some((letter(name)?, next)));
        match letter {
            Some((letter, next)) => {
                plain.push(letter);
                rest = next;
            }
            None => {
                plain.push('&');
                rest = after;
            }
        }
    }
    plain + rest
}

fn letter(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "lt" => Some('<'),
        "gt" => Some('>'),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            ' '..='~' => escaped.push(letter),
            // GML is ASCII.
            _ => escaped.push_str(&format!("&#{};", u32::from(letter))),
        }
    }
    escaped
}

/// A number with a point, which readers of GML tell from an integer by.
fn pointed(weight: f64) -> String {
    let text = format!("{weight:?}");
    match text.split_once('e') {
        Some((mantissa, exponent)) if !mantissa.contains('.') => format!("{mantissa}.0e{exponent}"),
        _ => text,
    }
}

pub(super) fn write(writer: &mut dyn Write, outline: &Outline<'_>) -> io::Result<()> {
    writeln!(writer, "graph [\n  directed 0")?;
    for node in outline.nodes() {
        write!(writer, "  node [\n    id {node}\n    label \"{}\"\n", escaped(&outline.id(node)))?;
        if let Some(label) = outline.label(node) {
            writeln!(writer, "    cluster {label}")?;
        }
        writeln!(writer, "  ]")?;
    }
    for (from, to, weight) in outline.graph.edges() {
        write!(writer, "  edge [\n    source {from}\n    target {to}\n")?;
        if outline.is_weighted() {
            writeln!(writer, "    weight {}", pointed(weight))?;
        }
        writeln!(writer, "  ]")?;
    }
    writeln!(writer, "]")
}
