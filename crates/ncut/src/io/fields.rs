//! Columns of a line of text, and the numbers in them.

use super::numbers::{decimal, digits};
use crate::graph::NodeId;

/// Starts of comment lines.
pub(super) const COMMENTS: [char; 2] = ['#', '%'];
/// Said about weights that are Python dictionaries.
pub(super) const NETWORKX_HINT: &str = "; with networkx, write the file with write_weighted_edgelist";

/// What stands between the columns of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Separator {
    /// A comma if the first edge has one, white space otherwise; a semicolon or a `|` where nothing else separates.
    #[default]
    Detect,
    /// A comma (if the first edge has one, otherwise a semicolon or a `|`); ids may hold spaces, or commas in double quotes.
    Comma,
    /// A tab (if the first edge has one); ids may hold spaces.
    Tab,
}

/// Where lines are cut.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Cut {
    WhiteSpace,
    At(char),
}

impl Cut {
    pub(super) fn of(line: &str, separator: Separator) -> Self {
        let stands = |wanted: &char| stands_outside_quotes(line, *wanted);
        let wanted = match separator {
            Separator::Detect | Separator::Comma => ',',
            Separator::Tab => '\t',
        };
        if stands(&wanted) {
            return Self::At(wanted);
        }
        let rarer = [';', '|'].into_iter().find(stands);
        match (separator, rarer) {
            (Separator::Comma, Some(rarer)) if !line.contains('\t') => Self::At(rarer),
            // Ids may hold such letters where blanks separate them, unless the letter stands before every blank.
            (Separator::Detect, Some(rarer)) if !has_free_blank(line.trim(), rarer) => Self::At(rarer),
            _ => Self::WhiteSpace,
        }
    }
}

/// Whether white space stands somewhere that does not follow a separator, or another blank.
fn has_free_blank(line: &str, separator: char) -> bool {
    let mut before = separator;
    line.chars().any(|letter| {
        let is_free = letter.is_whitespace() && before != separator && !before.is_whitespace();
        before = if letter.is_whitespace() && before == separator { separator } else { letter };
        is_free
    })
}

/// What the first row tells about all lines.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    pub(super) cut: Cut,
    pub(super) n_columns: usize,
}

/// The short cut over a separator with nothing unusual around it; `None` leaves the line to [`Fields`].
#[inline]
pub(super) fn after_separator(text: &[u8], cut: Cut) -> Option<&[u8]> {
    match (cut, text) {
        (Cut::WhiteSpace, [b' ' | b'\t', next @ ..]) => Some(without_blanks(next)),
        (Cut::At(separator), &[byte, ref next @ ..]) if char::from(byte) == separator => Some(next),
        _ => None,
    }
}

/// The short cut to the next line, for the end of the last column; `None` leaves the line to [`Fields`].
#[inline]
pub(super) fn after_line(text: &[u8], cut: Cut) -> Option<&[u8]> {
    match if cut == Cut::WhiteSpace { without_blanks(text) } else { text } {
        [b'\n', next @ ..] | [b'\r', b'\n', next @ ..] => Some(next),
        [] => Some(&[]),
        _ => None,
    }
}

/// What follows blanks.
#[inline]
pub(super) fn without_blanks(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', next @ ..] = text {
        text = next;
    }
    text
}

/// Whether a separator stands outside of quotes; only a quote where a column may start opens one.
fn stands_outside_quotes(line: &str, separator: char) -> bool {
    let mut quoted = false;
    let mut may_start = true;
    for letter in line.chars() {
        match letter {
            // Two quotes inside quotes close and open again.
            '"' if quoted || may_start => quoted = !quoted,
            _ if letter == separator && !quoted => return true,
            _ => {}
        }
        may_start = letter.is_whitespace() || letter == separator || letter == '"';
    }
    false
}

/// The columns of a line; quoted ones are unpacked.
#[derive(Default)]
pub(super) struct Fields {
    /// Where each column stands in `text`.
    bounds: Vec<(usize, usize)>,
    text: String,
}

impl Fields {
    /// Columns that were taken apart elsewhere.
    pub(super) fn of(columns: &[&str]) -> Self {
        let mut fields = Self::default();
        for column in columns {
            let start = fields.text.len();
            fields.text.push_str(column);
            fields.bounds.push((start, fields.text.len()));
        }
        fields
    }

    pub(super) fn len(&self) -> usize {
        self.bounds.len()
    }

    pub(super) fn get(&self, column: usize) -> &str {
        let (start, end) = self.bounds[column];
        &self.text[start..end]
    }

    /// Takes a line apart.
    pub(super) fn split(&mut self, line: &str, cut: Cut) -> Result<(), String> {
        self.split_whole(line.trim(), cut)
    }

    /// Takes a line apart, in which a tab at either end may separate an empty column.
    pub(super) fn split_whole(&mut self, line: &str, cut: Cut) -> Result<(), String> {
        self.bounds.clear();
        self.text.clear();
        // A tab is white space, but not where it separates.
        let blank = |c: char| c.is_whitespace() && cut != Cut::At(c);
        let mut rest = line.trim_matches(blank);
        loop {
            rest = rest.trim_start_matches(blank);
            let start = self.text.len();
            if let Some(quoted) = rest.strip_prefix('"') {
                rest = self.unquote(quoted)?.trim_start_matches(blank);
                let next = match cut {
                    Cut::WhiteSpace => Some(rest),
                    Cut::At(separator) => rest.strip_prefix(separator),
                };
                self.bounds.push((start, self.text.len()));
                match next {
                    Some(next) if cut == Cut::WhiteSpace && next.is_empty() => return Ok(()),
                    Some(next) => rest = next,
                    None if rest.is_empty() => return Ok(()),
                    None => return Err("a quoted id must be followed by a separator".into()),
                }
                continue;
            }
            let (field, next) = match cut {
                Cut::WhiteSpace => match rest.find(|c: char| c.is_ascii_whitespace()) {
                    Some(end) => (&rest[..end], Some(&rest[end..])),
                    None => (rest, None),
                },
                Cut::At(separator) => match rest.split_once(separator) {
                    Some((field, next)) => (field.trim_end(), Some(next)),
                    None => (rest, None),
                },
            };
            self.text.push_str(field);
            self.bounds.push((start, self.text.len()));
            match next {
                Some(next) => rest = next,
                None => return Ok(()),
            }
        }
    }

    /// Unpacks a quoted column and returns what follows it; two quotes stand for one.
    fn unquote<'l>(&mut self, mut quoted: &'l str) -> Result<&'l str, String> {
        loop {
            let Some((part, rest)) = quoted.split_once('"') else {
                return Err("a double quote is opened but not closed on this line".into());
            };
            self.text.push_str(part);
            match rest.strip_prefix('"') {
                Some(more) => {
                    self.text.push('"');
                    quoted = more;
                }
                None => return Ok(rest),
            }
        }
    }
}

/// What a file may start with that is no part of its text.
pub(super) const BYTE_ORDER_MARK: char = '\u{feff}';

/// An id as a column: in quotes where it would be taken apart, or taken for something else, otherwise.
pub(super) fn quoted(id: &str, separator: char) -> String {
    let splits = |c: char| {
        c == separator || matches!(c, ',' | ';' | '|' | '"') || (separator == ' ' && c.is_whitespace())
    };
    let misread = id.starts_with(COMMENTS) || id.starts_with(BYTE_ORDER_MARK);
    if id.contains(splits) || id.trim() != id || misread {
        format!("\"{}\"", id.replace('"', "\"\""))
    } else {
        id.to_string()
    }
}

/// A whole number that is not negative.
pub(super) fn parse_count(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("`{text}` is not a whole number from 0 to {}", u64::MAX))
}

/// A node counted from 1, made to count from 0.
pub(super) fn parse_node(text: &str, n_nodes: usize) -> Result<NodeId, String> {
    let number = match digits(text.as_bytes(), 0) {
        (number, 1..=18, []) => Ok(number),
        _ => text.parse::<u64>(),
    };
    match number {
        Ok(node) if (1..=n_nodes as u64).contains(&node) => Ok((node - 1) as NodeId),
        _ => Err(format!("`{text}` is no node; the nodes are 1 to {n_nodes}")),
    }
}

/// A weight: a finite number of at least 0.
pub(super) fn parse_weight(text: &str) -> Result<f64, String> {
    if let Some((weight, [])) = decimal(text.as_bytes()) {
        return Ok(weight);
    }
    match text.parse::<f64>() {
        Err(_) if text.is_empty() => Err("the weight is missing".into()),
        Err(_) if text.starts_with('{') => Err(format!("the weight `{text}` is not a number{NETWORKX_HINT}")),
        Err(_) => Err(format!("the weight `{text}` is not a number")),
        Ok(weight) if weight.is_nan() || (weight.is_infinite() && !text.contains(char::is_numeric)) => {
            Err(format!("the weight is {text}; weights must be finite: remove the edge or give it a number"))
        }
        Ok(weight) if weight.is_infinite() => Err(format!(
            "the weight {text} is too large for a 64-bit float; divide all weights by a constant"
        )),
        Ok(weight) if weight < 0.0 => {
            Err(format!("the weight {text} is negative; drop the edge, or shift or square the similarities"))
        }
        Ok(weight) => Ok(weight),
    }
}
