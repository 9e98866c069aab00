//! Lines of an edge list, taken apart by any thread: numbers by a short cut, everything else by the rules of
//! [`Fields`].

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::columns::Places;
use super::fields::{
    COMMENTS, Cut, Fields, Layout, NETWORKX_HINT, after_line, after_separator, parse_weight,
};
use super::names::{IS_WORD, Numbering, UNSEEN, whole_number};
use super::numbers::{decimal, digits};
use super::text::{as_text, split_first_line};
use crate::error::{Error, Result};
use crate::graph::{EdgeSorter, Edges, NodeId, Run};

/// How the lines of an edge list are laid out.
#[derive(Clone, Copy)]
pub(super) struct EdgeLayout {
    pub(super) layout: Layout,
    /// Where the ends and the weight are, if not in the usual order, or beside other columns.
    pub(super) places: Option<Places>,
}

/// Edges whose ids are looked up together: the processor then waits for many places of a large table at once.
const PENDING: usize = 256;

/// The edges of some lines.
pub(super) struct EdgeChunk {
    /// The edges whose ends both appeared in earlier lines.
    parted: Run,
    /// The others, `UNSEEN` standing for new ids.
    late: EdgeList,
    /// The new ids, in the order of the lines.
    unseen: Vec<Unseen>,
    words: Words,
    /// The first line that is no edge, counted from 1, and why.
    problem: Option<(u64, String)>,
}

/// Edges and their weights.
#[derive(Default)]
struct EdgeList {
    ends: Vec<(NodeId, NodeId)>,
    /// One for each edge, where lines have weights.
    weights: Vec<f64>,
}

/// An id that did not appear in earlier lines.
#[derive(Clone, Copy)]
struct Unseen {
    edge: usize,
    end: End,
    /// A whole number as it is, a word by its place.
    id: u64,
}

#[derive(Clone, Copy)]
enum End {
    From,
    To,
}

impl EdgeChunk {
    /// Takes lines apart, up to the first that is wrong; `numbering` knows the ids of earlier lines.
    pub(super) fn parse(
        lines: &[u8],
        layout: EdgeLayout,
        numbering: &Numbering,
        sorter: &EdgeSorter,
    ) -> Self {
        let mut reading =
            Reading { numbering, edges: EdgeList::default(), unseen: Vec::new(), words: Words::default() };
        let problem = reading.read(lines, layout).err();
        let Reading { mut edges, mut unseen, words, .. } = reading;
        let late = edges.split_off_late(&mut unseen);
        let parted = sorter.part(&Edges::new(edges.ends, edges.weights));
        Self { parted, late, unseen, words, problem }
    }

    /// Numbers the ids that are new, in the order of the lines. Gives the edges that have none, and the others.
    ///
    /// # Errors
    /// The chunk's problem, or when there are more ids than node numbers.
    pub(super) fn number(mut self, numbering: &mut Numbering, lines_before: u64) -> Result<(Run, Edges)> {
        for &Unseen { edge, end, id } in &self.unseen {
            let node = match id & IS_WORD {
                0 => numbering.integer(id)?,
                _ => numbering.word(self.words.get((id & !IS_WORD) as usize))?,
            };
            let ends = &mut self.late.ends[edge];
            match end {
                End::From => ends.0 = node,
                End::To => ends.1 = node,
            }
        }
        match self.problem {
            Some((line, problem)) => Err(Error::in_file(lines_before + line, problem)),
            None => Ok((self.parted, Edges::new(self.late.ends, self.late.weights))),
        }
    }
}

impl EdgeList {
    /// Takes out the edges that have an unseen end, which are then counted by their places among themselves.
    fn split_off_late(&mut self, unseen: &mut [Unseen]) -> Self {
        let mut late = Self::default();
        let mut before = None;
        for unseen in unseen.iter_mut() {
            if before != Some(unseen.edge) {
                late.ends.push(self.ends[unseen.edge]);
                late.weights.extend(self.weights.get(unseen.edge));
            }
            before = Some(unseen.edge);
            unseen.edge = late.ends.len() - 1;
        }
        if !late.ends.is_empty() {
            let is_late = |&(from, to): &(NodeId, NodeId)| from == UNSEEN || to == UNSEEN;
            let mut ends = self.ends.iter();
            self.weights.retain(|_| !ends.next().is_some_and(is_late));
            self.ends.retain(|ends| !is_late(ends));
        }
        late
    }
}

/// Lines being taken apart.
struct Reading<'n> {
    numbering: &'n Numbering,
    edges: EdgeList,
    unseen: Vec<Unseen>,
    words: Words,
}

impl Reading<'_> {
    /// Adds all lines, or those before the first that is wrong: its number, and why.
    fn read(&mut self, lines: &[u8], layout: EdgeLayout) -> Result<(), (u64, String)> {
        if let Some(places) = layout.places {
            return self.read_placed(lines, layout.layout, places);
        }
        let EdgeLayout { layout, .. } = layout;
        // An edge is a dozen letters, more often than not.
        self.edges.ends.reserve(lines.len() / 12);
        if layout.n_columns == 3 {
            self.edges.weights.reserve(lines.len() / 16);
        }
        let mut fields = Fields::default();
        let mut pending = Vec::with_capacity(PENDING);
        let mut rest = lines;
        let mut number = 0;
        while !rest.is_empty() {
            number += 1;
            if let Some((from, to, weight, next)) = plain_edge(rest, layout) {
                if layout.n_columns == 3 {
                    self.edges.weights.push(weight);
                }
                pending.push((from, to));
                if pending.len() == PENDING {
                    self.look_up(&mut pending);
                }
                rest = next;
                continue;
            }
            self.look_up(&mut pending);
            let (line, next) = split_first_line(rest);
            self.add_line(line, layout, &mut fields).map_err(|problem| (number, problem))?;
            rest = next;
        }
        self.look_up(&mut pending);
        Ok(())
    }

    /// The same where the ends and the weight are anywhere among the columns of a line.
    fn read_placed(&mut self, lines: &[u8], layout: Layout, places: Places) -> Result<(), (u64, String)> {
        let mut fields = Fields::default();
        let (mut rest, mut number) = (lines, 0);
        while !rest.is_empty() {
            number += 1;
            let (line, next) = split_first_line(rest);
            let mut add = || {
                let line = as_text(line)?;
                if line.trim().is_empty() || line.trim_start().starts_with(COMMENTS) {
                    return Ok(());
                }
                fields.split_whole(line, layout.cut)?;
                let (from, to, weight) = parse_placed(&fields, layout, places)?;
                self.add_edge(from, to, weight);
                Ok(())
            };
            add().map_err(|problem| (number, problem))?;
            rest = next;
        }
        Ok(())
    }

    /// Adds edges between whole numbers.
    fn look_up(&mut self, pending: &mut Vec<(u64, u64)>) {
        let Self { numbering, edges, .. } = self;
        let start = edges.ends.len();
        let nodes = |&(from, to): &(u64, u64)| (numbering.known_integer(from), numbering.known_integer(to));
        edges.ends.extend(pending.iter().map(nodes));
        for (place, &ids) in pending.iter().enumerate() {
            self.note_unseen(start + place, ids);
        }
        pending.clear();
    }

    #[inline]
    fn note_unseen(&mut self, edge: usize, ids: (u64, u64)) {
        let nodes = self.edges.ends[edge];
        if nodes.0 == UNSEEN {
            self.unseen.push(Unseen { edge, end: End::From, id: ids.0 });
        }
        if nodes.1 == UNSEEN {
            self.unseen.push(Unseen { edge, end: End::To, id: ids.1 });
        }
    }

    fn add_line(&mut self, line: &[u8], layout: Layout, fields: &mut Fields) -> Result<(), String> {
        let line = as_text(line)?.trim();
        if line.is_empty() || line.starts_with(COMMENTS) {
            return Ok(());
        }
        fields.split(line, layout.cut)?;
        let (from, to, weight) = parse_edge(fields, layout.n_columns)?;
        self.add_edge(from, to, (layout.n_columns == 3).then_some(weight));
        Ok(())
    }

    fn add_edge(&mut self, from: &str, to: &str, weight: Option<f64>) {
        let Self { numbering, edges, words, .. } = self;
        let mut known = |id: &str| match whole_number(id.as_bytes()) {
            Some(number) => (numbering.known_integer(number), number),
            None => match numbering.known_word(id) {
                UNSEEN => (UNSEEN, words.place(id) | IS_WORD),
                node => (node, 0),
            },
        };
        let (from, to) = (known(from), known(to));
        edges.ends.push((from.0, to.0));
        edges.weights.extend(weight);
        let place = edges.ends.len() - 1;
        self.note_unseen(place, (from.1, to.1));
    }
}

/// The different words of a chunk that did not appear before it.
#[derive(Default)]
struct Words {
    text: String,
    ends: Vec<usize>,
    places: HashTable<usize>,
    hasher: DefaultHashBuilder,
}

impl Words {
    fn get(&self, place: usize) -> &str {
        word(&self.text, &self.ends, place)
    }

    /// Where a word stands among the different ones.
    fn place(&mut self, id: &str) -> u64 {
        let Self { text, ends, places, hasher } = self;
        let hash = hasher.hash_one(id);
        if let Some(&place) = places.find(hash, |&place| word(text, ends, place) == id) {
            return place as u64;
        }
        let place = ends.len();
        text.push_str(id);
        ends.push(text.len());
        places.insert_unique(hash, place, |&place| hasher.hash_one(word(text, ends, place)));
        place as u64
    }
}

fn word<'t>(text: &'t str, ends: &[usize], place: usize) -> &'t str {
    let start = place.checked_sub(1).map_or(0, |before| ends[before]);
    &text[start..ends[place]]
}

/// The ends and the weight of a line with other columns, some of which may be empty.
fn parse_placed(
    fields: &Fields,
    layout: Layout,
    places: Places,
) -> Result<(&str, &str, Option<f64>), String> {
    let n_columns = layout.n_columns;
    let fits = match layout.cut {
        // What is missing could be any column.
        Cut::WhiteSpace => fields.len() == n_columns,
        Cut::At(_) => (places.n_needed()..=n_columns).contains(&fields.len()),
    };
    if !fits {
        return Err(format!("this line has {} columns, the first has {n_columns}", fields.len()));
    }
    let (from, to) = (fields.get(places.from), fields.get(places.to));
    if from.is_empty() || to.is_empty() {
        return Err("an id is empty; an edge needs two".into());
    }
    Ok((from, to, places.weight.map(|weight| parse_weight(fields.get(weight))).transpose()?))
}

fn parse_edge(fields: &Fields, n_columns: usize) -> Result<(&str, &str, f64), String> {
    if !(2..=3).contains(&fields.len()) {
        return Err(format!(
            "an edge is `from to` or `from to weight`, but this line has {} column{}{}",
            fields.len(),
            if fields.len() == 1 { "" } else { "s" },
            if fields.len() > 3 && fields.get(2).starts_with('{') { NETWORKX_HINT } else { "" }
        ));
    }
    if fields.len() != n_columns {
        return Err(format!(
            "this line has {} columns, the first edge has {n_columns}; either all edges have a weight or none",
            fields.len()
        ));
    }
    let (from, to) = (fields.get(0), fields.get(1));
    if from.is_empty() || to.is_empty() {
        return Err("an id is empty; an edge needs two".into());
    }
    let weight = if n_columns == 3 { parse_weight(fields.get(2))? } else { 1.0 };
    Ok((from, to, weight))
}

/// The short cut: two whole numbers and, if lines have one, a weight in digits, with nothing unusual around them.
/// Returns the edge and the lines that follow; `None` leaves the line to the rules.
#[inline]
fn plain_edge(text: &[u8], layout: Layout) -> Option<(u64, u64, f64, &[u8])> {
    let (from, text) = plain_id(text)?;
    let (to, text) = plain_id(after_separator(text, layout.cut)?)?;
    let (weight, text) = match layout.n_columns {
        3 => plain_weight(after_separator(text, layout.cut)?)?,
        _ => (1.0, text),
    };
    Some((from, to, weight, after_line(text, layout.cut)?))
}

/// An id as [`whole_number`] knows it, and what follows.
#[inline(always)]
pub(super) fn plain_id(text: &[u8]) -> Option<(u64, &[u8])> {
    let (number, n_digits, rest) = digits(text, 0);
    let is_plain = (1..=18).contains(&n_digits) && (text[0] != b'0' || n_digits == 1);
    is_plain.then_some((number, rest))
}

/// A weight, and what follows.
#[inline]
fn plain_weight(text: &[u8]) -> Option<(f64, &[u8])> {
    if let Some((weight, rest)) = decimal(text)
        && matches!(rest, [] | [b' ' | b'\t' | b'\r' | b'\n', ..])
    {
        return Some((weight, rest));
    }
    let n_letters = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
    let (word, rest) = text.split_at(n_letters);
    let weight = parse_weight(str::from_utf8(word).ok()?).ok()?;
    Some((weight, rest))
}
