//! Which columns of an edge list hold the ends of an edge and its weight: what a header tells, what the caller says.

use std::str::FromStr;

use super::edge_list::Header;
use super::fields::Fields;

/// Names by which the columns of the two ends are known, in small letters without blanks, dashes and underscores.
const ENDS: [[&str; 2]; 14] = [
    ["source", "target"],
    ["from", "to"],
    ["src", "dst"],
    ["src", "dest"],
    ["source", "destination"],
    ["fromnodeid", "tonodeid"],
    ["fromnode", "tonode"],
    ["sourceid", "targetid"],
    ["sourcenode", "targetnode"],
    ["fromid", "toid"],
    ["node1", "node2"],
    ["id1", "id2"],
    ["nodea", "nodeb"],
    ["startid", "endid"],
];
/// As [`ENDS`], where one of them alone may as well be a node.
const PAIRS: [[&str; 2]; 16] = [
    ["head", "tail"],
    ["start", "end"],
    ["parent", "child"],
    ["follower", "followee"],
    ["follower", "followed"],
    ["sender", "receiver"],
    ["sender", "recipient"],
    ["person", "friend"],
    ["person1", "person2"],
    ["persona", "personb"],
    ["user1", "user2"],
    ["actor1", "actor2"],
    ["author1", "author2"],
    ["gene1", "gene2"],
    ["protein1", "protein2"],
    ["ida", "idb"],
];
/// Pairs that nodes may well be called, too: they name columns only where the next line tells that they do.
const LETTERS: [[&str; 2]; 3] = [["u", "v"], ["i", "j"], ["a", "b"]];
/// Names by which the column of the weight is known, the plainest first.
pub(super) const WEIGHTS: [&str; 12] = [
    "weight",
    "weights",
    "edgeweight",
    "w",
    "value",
    "val",
    "strength",
    "similarity",
    "score",
    "count",
    "counts",
    "frequency",
];
/// Columns that many programs write beside an edge, and that are neither its ends nor its weight.
const OTHERS: [&str; 12] =
    ["", "id", "index", "edge", "edgeid", "key", "type", "label", "kind", "timeset", "time", "timestamp"];

/// Columns of an edge list that the caller names: each by its name in the header, or by its number, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EdgeColumns {
    /// The column of one end.
    pub from: String,
    /// The column of the other.
    pub to: String,
    /// The column of the weight; without one every edge weighs 1.
    pub weight: Option<String>,
}

impl FromStr for EdgeColumns {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let problem = "columns are two ends and, if there is one, the weight, by name or number: \
                       `source,target,weight` or `1,2,3`";
        let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
        if names.iter().any(String::is_empty) {
            return Err(problem.to_owned());
        }
        match <[String; 3]>::try_from(names) {
            Ok([from, to, weight]) => Ok(Self { from, to, weight: Some(weight) }),
            Err(names) => match <[String; 2]>::try_from(names) {
                Ok([from, to]) => Ok(Self { from, to, weight: None }),
                Err(_) => Err(problem.to_owned()),
            },
        }
    }
}

impl EdgeColumns {
    /// The columns that the names of a header tell, by number, counted from 1; for edges that are in no file.
    ///
    /// # Errors
    /// Where that would be a guess.
    ///
    /// ```
    /// use ncut::io::EdgeColumns;
    /// let columns = EdgeColumns::of_header(&["weight", "source", "target"])?;
    /// assert_eq!((&columns.from[..], &columns.to[..], columns.weight.as_deref()), ("2", "3", Some("1")));
    /// # Ok::<(), String>(())
    /// ```
    pub fn of_header(names: &[&str]) -> Result<Self, String> {
        let first = Fields::of(names);
        let places = Signs { first: &first, second: None, header: Header::Yes }.by_names()?;
        let number = |place: usize| (place + 1).to_string();
        Ok(Self { from: number(places.from), to: number(places.to), weight: places.weight.map(number) })
    }
}

/// Places of the ends of an edge and of its weight, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Places {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) weight: Option<usize>,
}

impl Places {
    /// The ends first, then the weight.
    fn in_order(n_columns: usize) -> Self {
        Self { from: 0, to: 1, weight: (n_columns > 2).then_some(2) }
    }

    /// Whether there is nothing else in a line of so many columns, and all in the usual order.
    pub(super) fn are_all_of(self, n_columns: usize) -> bool {
        n_columns <= 3 && self == Self::in_order(n_columns)
    }

    /// Columns that a line must have.
    pub(super) fn n_needed(self) -> usize {
        1 + self.from.max(self.to).max(self.weight.unwrap_or(0))
    }

    /// Names of the columns that are not read.
    pub(super) fn ignored(self, n_columns: usize, header: Option<&Fields>) -> Vec<String> {
        let is_read = |column: usize| [Some(self.from), Some(self.to), self.weight].contains(&Some(column));
        let name = |column: usize| match header
            .filter(|header| column < header.len())
            .map(|header| header.get(column))
        {
            Some(name) if !name.is_empty() => name.to_owned(),
            _ => (column + 1).to_string(),
        };
        (0..n_columns).filter(|&column| !is_read(column)).map(name).collect()
    }
}

/// What the first line of an edge list is.
pub(super) enum FirstLine {
    /// A header, and what it tells.
    Header(Places),
    /// An edge.
    Edge(Places),
}

/// What a header can be told by.
pub(super) struct Signs<'a> {
    pub(super) first: &'a Fields,
    /// The second line, if there is one.
    pub(super) second: Option<&'a Fields>,
    pub(super) header: Header,
}

impl Signs<'_> {
    /// Where the columns are whose names a format tells apart from edges.
    ///
    /// # Errors
    /// Where they do not tell.
    #[cfg(feature = "parquet")]
    pub(super) fn places(&self, asked: Option<&EdgeColumns>) -> Result<Places, String> {
        match self.first_line(asked)? {
            FirstLine::Header(places) | FirstLine::Edge(places) => Ok(places),
        }
    }

    /// Tells what the first line is.
    ///
    /// # Errors
    /// Where that would be a guess, or a header does not tell which columns to read.
    pub(super) fn first_line(&self, asked: Option<&EdgeColumns>) -> Result<FirstLine, String> {
        match asked {
            Some(asked) => self.by_request(asked),
            None => self.by_itself(),
        }
    }

    fn by_request(&self, asked: &EdgeColumns) -> Result<FirstLine, String> {
        let mut is_by_name = false;
        let mut place = |name: &String| match name.parse::<usize>() {
            Ok(number) if (1..=self.first.len()).contains(&number) => Ok(number - 1),
            Ok(number) => {
                Err(format!("there is no column {number}; this line has {}", columns_text(self.first.len())))
            }
            Err(_) => {
                is_by_name = true;
                self.find(name)
            }
        };
        let (from, to) = (place(&asked.from)?, place(&asked.to)?);
        let weight = asked.weight.as_ref().map(place).transpose()?;
        if from == to || Some(from) == weight || Some(to) == weight {
            return Err(
                "--columns names a column twice; the ends and the weight are columns of their own".to_owned()
            );
        }
        let places = Places { from, to, weight };
        let is_header = match self.header {
            Header::Yes => true,
            Header::No if is_by_name => {
                return Err(
                    "columns can be named only where there is a header; give their numbers".to_owned()
                );
            }
            Header::No => false,
            Header::Detect => {
                let bad_weight = weight.is_some_and(|weight| is_name(self.first.get(weight)));
                is_by_name || bad_weight || self.known_ends(&ENDS).next().is_some()
            }
        };
        if !is_header && weight.is_none() && self.header == Header::Detect {
            self.refuse_words_before_numbers(from, to)?;
        }
        Ok(if is_header { FirstLine::Header(places) } else { FirstLine::Edge(places) })
    }

    /// The column with this name, in the very letters or in others.
    fn find(&self, name: &str) -> Result<usize, String> {
        let places = || 0..self.first.len();
        let exact: Vec<usize> = places().filter(|&column| self.first.get(column) == name).collect();
        let alike = || places().filter(|&column| plain(self.first.get(column)) == plain(name)).collect();
        let found: Vec<usize> = if exact.is_empty() { alike() } else { exact };
        match found[..] {
            [column] => Ok(column),
            [] => {
                Err(format!("there is no column `{name}` in the header; its columns are {}", self.listed()))
            }
            _ => Err(format!("there are {} columns `{name}`; give the number of one", found.len())),
        }
    }

    fn by_itself(&self) -> Result<FirstLine, String> {
        let n_columns = self.first.len();
        let in_order = FirstLine::Edge(Places::in_order(n_columns));
        if self.header == Header::No {
            return match n_columns {
                0..=3 => Ok(in_order),
                _ => Err(format!("this line has {n_columns} columns; {}", remedy_by_number())),
            };
        }
        let are_words = (0..n_columns).all(|column| is_word(self.first.get(column)));
        let names_end =
            n_columns > 2 && are_words && (0..n_columns).any(|column| is_end(self.first.get(column)));
        // A missing weight or a Python dictionary is no name of a column.
        let names_weight = n_columns == 3 && is_name(self.first.get(2));
        let has_pair = || self.known_ends(&ENDS).chain(self.known_ends(&PAIRS)).next().is_some();
        let has_ends = are_words && has_pair() || self.letters_are_names();
        let all_names = n_columns > 3 && are_words;
        let is_header = self.header == Header::Yes || has_ends || names_end || names_weight || all_names;
        if is_header {
            return self.by_names().map(FirstLine::Header);
        }
        if n_columns > 3 {
            let hint = if self.first.get(2).starts_with('{') { super::fields::NETWORKX_HINT } else { "" };
            return Err(match hint {
                "" => format!(
                    "an edge is `from to` or `from to weight`, but this line has {n_columns} columns; {}",
                    remedy_by_number()
                ),
                hint => format!(
                    "an edge is `from to` or `from to weight`, but this line has {n_columns} columns{hint}"
                ),
            });
        }
        if n_columns == 2 {
            self.refuse_words_before_numbers(0, 1)?;
        }
        Ok(in_order)
    }

    /// What the names of a header tell.
    fn by_names(&self) -> Result<Places, String> {
        let n_columns = self.first.len();
        let names: Vec<String> = (0..n_columns).map(|column| plain(self.first.get(column))).collect();
        let weight = self.known_weight(&names)?;
        let mut pairs = self.known_ends(&ENDS);
        let pair = pairs.next();
        if pairs.next().is_some() {
            return Err(self.unfit("has more than one pair of columns that may be the ends"));
        }
        let other_pair = || self.known_ends(&PAIRS).chain(self.known_ends(&LETTERS)).next();
        if let Some((from, to)) = pair.or_else(other_pair) {
            return Ok(Places { from, to, weight });
        }
        let others: Vec<usize> = (0..n_columns).filter(|&column| Some(column) != weight).collect();
        match others[..] {
            // Two columns beside the weight, or alone: nothing else can be the ends.
            [from, to] if others.iter().all(|&column| !OTHERS.contains(&names[column].as_str())) => {
                Ok(Places { from, to, weight })
            }
            _ => Err(self.unfit("does not tell which columns are the ends")),
        }
    }

    fn known_weight(&self, names: &[String]) -> Result<Option<usize>, String> {
        let places = |wanted: &[&str]| -> Vec<usize> {
            (0..names.len()).filter(|&column| wanted.contains(&names[column].as_str())).collect()
        };
        for wanted in [&WEIGHTS[..4], &WEIGHTS[4..]] {
            match places(wanted)[..] {
                [] => {}
                [column] => return Ok(Some(column)),
                _ => return Err(self.unfit("has more than one column that may be the weight")),
            }
        }
        Ok(None)
    }

    /// Columns that are known to be two ends.
    fn known_ends<'s>(&'s self, known: &'s [[&'s str; 2]]) -> impl Iterator<Item = (usize, usize)> + 's {
        let place = |name: &str| (0..self.first.len()).find(|&column| plain(self.first.get(column)) == name);
        known.iter().filter_map(move |&[from, to]| Some((place(from)?, place(to)?)))
    }

    /// Whether `u v` are names of columns, for nodes may be called that: the next line has numbers there.
    fn letters_are_names(&self) -> bool {
        let ends = self.known_ends(&LETTERS).next();
        let are_words = || (0..self.first.len()).all(|column| is_word(self.first.get(column)));
        ends.is_some_and(|(from, to)| are_words() && self.numbers_follow(from, to))
    }

    fn numbers_follow(&self, from: usize, to: usize) -> bool {
        let is_number =
            |line: &Fields, column| column < line.len() && line.get(column).parse::<f64>().is_ok();
        self.second.is_some_and(|second| is_number(second, from) && is_number(second, to))
    }

    fn refuse_words_before_numbers(&self, from: usize, to: usize) -> Result<(), String> {
        let names = [self.first.get(from), self.first.get(to)];
        let one_end = names.iter().any(|name| is_end(name));
        let is_odd = names.iter().all(|name| is_word(name)) && (self.numbers_follow(from, to) || one_end);
        match is_odd {
            false => Ok(()),
            true => Err(format!(
                "`{}` may be a header or an edge; say which with --header yes or --header no",
                names.join("` and `")
            )),
        }
    }

    fn unfit(&self, problem: &str) -> String {
        format!(
            "the header {problem}: {}; name the ends and the weight, as in --columns {} (without a header: --header no)",
            self.listed(),
            if self.first.len() > 2 { "A,B,W" } else { "A,B" }
        )
    }

    fn listed(&self) -> String {
        let names: Vec<String> =
            (0..self.first.len()).map(|column| format!("`{}`", self.first.get(column))).collect();
        names.join(", ")
    }
}

/// Whether an edge between these nodes, written first, would not be read as an edge; `second` are those of the next.
pub(super) fn would_be_misread(first: &[String; 2], second: Option<&[String; 2]>) -> bool {
    let number = |ids: &[String; 2]| ids.iter().all(|id| id.parse::<f64>().is_ok());
    let words = first.iter().all(|id| is_word(id));
    let is_pair = PAIRS.iter().any(|pair| pair.iter().all(|end| first.iter().any(|id| plain(id) == *end)));
    is_pair || first.iter().any(|id| is_end(id)) || (words && second.is_some_and(number))
}

/// Whether a name is one by which the column of an end is known.
fn is_end(name: &str) -> bool {
    let name = plain(name);
    ENDS.iter().flatten().any(|&end| end == name)
}

/// A name in small letters, without what programs put between words.
fn plain(name: &str) -> String {
    name.chars()
        .filter(|letter| !matches!(letter, ' ' | '_' | '-' | '.' | ':'))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Whether a text may be the name of a column: no number, and no date either.
pub(super) fn is_name(text: &str) -> bool {
    is_word(text) && text.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

fn is_word(text: &str) -> bool {
    text.parse::<f64>().is_err() && !text.starts_with('{')
}

fn columns_text(n_columns: usize) -> String {
    format!("{n_columns} column{}", if n_columns == 1 { "" } else { "s" })
}

fn remedy_by_number() -> &'static str {
    "tell the columns of the ends and the weight by number, as in --columns 1,2,3"
}
