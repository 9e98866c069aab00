//! Tables of points with columns beside the features: ids of the points, and their known classes.

use std::path::Path;

use super::classes::Classes;
use super::fields::{COMMENTS, Cut, Fields, Separator};
use super::names::{Names, Numbering, whole_number};
use super::table::{Table, TableSource};
use super::table_chunk::{check_named, parse_cell};
use super::text::{self, Compression, Lines};
use crate::error::{Error, Result};
use crate::memory;
use crate::progress::Clock;

/// How to read a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableOptions {
    /// The ending that tells the format, such as `csv.gz`, in place of that of the file's name.
    pub format: Option<String>,
    /// The column of the points' ids, by its name in the header or by its number, counted from 1.
    pub id_column: Option<String>,
    /// The column of their known classes: integers, or names.
    pub truth_column: Option<String>,
}

/// A table as a file holds it, with what it tells about its rows.
#[derive(Clone, Debug)]
pub struct TableFile {
    /// The features.
    pub table: Table,
    /// The ids of the points, where a column of them was named.
    pub names: Option<Names>,
    /// The classes of the points, where a column of them was named; -1 for none.
    pub classes: Option<Classes>,
}

/// Reads a table as [`read_table`](super::read_table) does, the columns of ids and classes set apart. These are read from
/// text only.
///
/// # Errors
/// As [`read_table`](super::read_table); also when there is no such column, or an id is there twice.
pub fn read_described_table(path: &Path, options: &TableOptions, clock: &Clock<'_>) -> Result<TableFile> {
    described(TableSource::File(path), path, options, clock)
}

/// Reads a table from the bytes of a file, as [`read_described_table`] does: where there are no files.
///
/// # Errors
/// As [`read_described_table`].
///
/// ```
/// use std::path::Path;
/// use ncut::Clock;
/// use ncut::io::{TableOptions, parse_table_file};
/// let bytes = b"kind,length,width\nowl,3,1\ncat,4,2\n";
/// let options = TableOptions { truth_column: Some("kind".into()), ..TableOptions::default() };
/// let file = parse_table_file(bytes, Path::new("animals.csv"), &options, &Clock::new())?;
/// assert_eq!((file.table.n_rows(), file.table.n_columns()), (2, 2));
/// # Ok::<(), ncut::Error>(())
/// ```
pub fn parse_table_file(
    bytes: &[u8],
    name: &Path,
    options: &TableOptions,
    clock: &Clock<'_>,
) -> Result<TableFile> {
    described(TableSource::Bytes(bytes), name, options, clock)
}

/// Errors name the file by `called`.
fn described(
    source: TableSource<'_>,
    called: &Path,
    options: &TableOptions,
    clock: &Clock<'_>,
) -> Result<TableFile> {
    let name = match &options.format {
        Some(format) => Path::new(&format!("table.{}", format.trim_start_matches('.'))).to_path_buf(),
        None => called.to_path_buf(),
    };
    let read = || {
        if options.id_column.is_none() && options.truth_column.is_none() {
            return Ok(TableFile { table: source.read(&name, clock)?, names: None, classes: None });
        }
        let separator = match text::ending(&Compression::of(&name).0).as_deref() {
            Some("csv") => Separator::Comma,
            Some("tsv") => Separator::Tab,
            Some("txt") => Separator::Detect,
            _ => {
                let problem = "columns of ids and classes are read from .csv, .tsv and .txt; write the table as one of these";
                return Err(Error::in_file(None, problem));
            }
        };
        from_text(&mut source.lines(&name, clock)?, separator, options)
    };
    read().map_err(|error| error.at(called))
}

/// Where the columns are.
struct Columns {
    n_columns: usize,
    id: Option<usize>,
    class: Option<usize>,
}

fn from_text(lines: &mut Lines<'_>, separator: Separator, options: &TableOptions) -> Result<TableFile> {
    let budget = lines.budget();
    let mut fields = Fields::default();
    let (mut columns, mut cut): (Option<Columns>, Option<Cut>) = (None, None);
    let (mut values, mut ids, mut texts) = (Vec::new(), Numbering::default(), Vec::<String>::new());
    let (mut column_names, mut n_rows) = (Vec::new(), 0);
    while let Some((number, line)) = lines.next_content(&COMMENTS)? {
        let refuse = |problem: String| Error::in_file(number, problem);
        // As the first line is cut: a comma may stand in a number elsewhere.
        let cut = *cut.get_or_insert_with(|| Cut::of(line, separator));
        fields.split(line, cut).map_err(refuse)?;
        let Some(Columns { n_columns, id, class }) = columns else {
            let found = Columns::find(&fields, options).map_err(refuse)?;
            let is_header = found.is_header(&fields, options);
            if is_header {
                let features = (0..fields.len()).filter(|&column| found.is_feature(column));
                column_names.extend(features.map(|column| fields.get(column).to_owned()));
                let names: Vec<&str> = (0..fields.len())
                    .map(|column| if found.is_feature(column) { fields.get(column) } else { "id" })
                    .collect();
                check_named(&names).map_err(refuse)?;
            }
            columns = Some(found);
            if is_header {
                continue;
            }
            // The first row is one like the others.
            let found = columns.as_ref().expect("it was just found");
            found.take(&fields, &mut values, &mut ids, &mut texts).map_err(refuse)?;
            n_rows += 1;
            continue;
        };
        Columns { n_columns, id, class }.take(&fields, &mut values, &mut ids, &mut texts).map_err(refuse)?;
        n_rows += 1;
        if n_rows % 4096 == 0 {
            let needed = 8 * values.capacity() as u64 + ids.n_bytes() + 40 * texts.len() as u64;
            memory::check_within(budget, "reading it up to here", needed, "use fewer rows or columns")?;
        }
    }
    let Some(columns) = columns.filter(|_| n_rows > 0) else {
        return Err(Error::in_file(None, "holds no rows of numbers"));
    };
    let n_features = columns.n_features();
    Ok(TableFile {
        table: Table::of_f64(values, n_features)?.named(column_names),
        names: columns.id.map(|_| ids.finish()),
        classes: columns.class.map(|_| Classes::of_texts(&texts)),
    })
}

impl Columns {
    fn find(first: &Fields, options: &TableOptions) -> Result<Self, String> {
        let n_columns = first.len();
        let place = |name: &String| match name.parse::<usize>() {
            Ok(number) if (1..=n_columns).contains(&number) => Ok(number - 1),
            Ok(number) => Err(format!("there is no column {number}; this line has {n_columns} columns")),
            Err(_) => (0..n_columns).find(|&column| first.get(column) == name).ok_or_else(|| {
                let known: Vec<&str> = (0..n_columns).map(|column| first.get(column)).collect();
                format!("there is no column `{name}` in the header; its columns are `{}`", known.join("`, `"))
            }),
        };
        let id = options.id_column.as_ref().map(place).transpose()?;
        let class = options.truth_column.as_ref().map(place).transpose()?;
        if id.is_some() && id == class {
            return Err(
                "ids and classes are columns of their own; --id-column and --truth-column name the same"
                    .into(),
            );
        }
        let columns = Self { n_columns, id, class };
        match columns.n_features() {
            0 => Err("there is no column of numbers beside ids and classes".into()),
            _ => Ok(columns),
        }
    }

    fn n_features(&self) -> usize {
        self.n_columns - usize::from(self.id.is_some()) - usize::from(self.class.is_some())
    }

    fn is_feature(&self, column: usize) -> bool {
        self.id != Some(column) && self.class != Some(column)
    }

    /// Whether the first line names the columns: one was named by the caller, or no feature is a number.
    fn is_header(&self, first: &Fields, options: &TableOptions) -> bool {
        let by_name =
            |name: &Option<String>| name.as_ref().is_some_and(|name| name.parse::<usize>().is_err());
        let is_word = |column: usize| first.get(column).parse::<f64>().is_err();
        let mut features = (0..self.n_columns).filter(|&column| self.is_feature(column));
        by_name(&options.id_column) || by_name(&options.truth_column) || features.all(is_word)
    }

    /// Takes one row.
    fn take(
        &self,
        fields: &Fields,
        values: &mut Vec<f64>,
        ids: &mut Numbering,
        texts: &mut Vec<String>,
    ) -> Result<(), String> {
        if fields.len() != self.n_columns {
            return Err(format!("this line has {} columns, the first has {}", fields.len(), self.n_columns));
        }
        for column in 0..self.n_columns {
            let text = fields.get(column);
            if self.id == Some(column) {
                let n_before = ids.len();
                let numbered = match whole_number(text.as_bytes()) {
                    Some(number) => ids.integer(number),
                    None => ids.word(text),
                };
                numbered.map_err(|error| error.to_string())?;
                if ids.len() == n_before {
                    return Err(format!("the id `{text}` is there twice; ids must differ"));
                }
            } else if self.class == Some(column) {
                texts.push(text.to_owned());
            } else {
                values.push(parse_cell(text, column, self.n_columns)?);
            }
        }
        Ok(())
    }
}
