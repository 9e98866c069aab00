//! Tables of points: arrays and text.

use std::io::{BufReader, Cursor, Read, Seek};
use std::path::Path;

use super::fields::{COMMENTS, Cut, Fields, Layout, Separator};
use super::npy::Array;
use super::npz::Archive;
use super::parquet;
use super::table_chunk::{TableChunk, check_named, parse_row};
use super::text::{self, Compression, Lines, Parsed};
use crate::error::{Error, Result};
use crate::memory;
use crate::points::Points;
use crate::progress::Clock;

/// Rows of numbers that points can have, as a file holds them: 32-bit floats stay that.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    values: TableValues,
    n_columns: usize,
    /// As a header names them; empty without one.
    column_names: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
enum TableValues {
    F32(Vec<f32>),
    F64(Vec<f64>),
}

impl Table {
    /// Row after row, in 32 bits.
    ///
    /// # Errors
    /// When a number is NaN, infinite or too large for a point, naming its row and column.
    pub(super) fn of_f32(values: Vec<f32>, n_columns: usize) -> Result<Self> {
        Points::new(&values, n_columns)?;
        Ok(Self { values: TableValues::F32(values), n_columns, column_names: Vec::new() })
    }

    /// Row after row, in 64 bits.
    ///
    /// # Errors
    /// As [`of_f32`](Self::of_f32).
    pub(super) fn of_f64(values: Vec<f64>, n_columns: usize) -> Result<Self> {
        Points::new(&values, n_columns)?;
        Ok(Self { values: TableValues::F64(values), n_columns, column_names: Vec::new() })
    }

    /// With the names of its columns.
    pub(super) fn named(self, column_names: Vec<String>) -> Self {
        Self { column_names, ..self }
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        let n_values = match &self.values {
            TableValues::F32(values) => values.len(),
            TableValues::F64(values) => values.len(),
        };
        n_values.checked_div(self.n_columns).unwrap_or(0)
    }

    /// Number of columns.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// The names of the columns, where a header has them; else none.
    pub fn column_names(&self) -> &[String] {
        &self.column_names
    }

    /// Brings every column to mean 0 and standard deviation 1, so that all count alike; a column of one number becomes 0.
    pub fn standardize(&mut self) {
        match &mut self.values {
            TableValues::F32(values) => standardize(values, self.n_columns, f64::from, |value| value as f32),
            TableValues::F64(values) => standardize(values, self.n_columns, |value| value, |value| value),
        }
    }

    /// The rows as points; they were checked when the table was read.
    pub fn points(&self) -> Points<'_> {
        let values = match &self.values {
            TableValues::F32(values) => values.into(),
            TableValues::F64(values) => values.into(),
        };
        Points::unchecked(values, self.n_columns).expect("a table that was checked")
    }
}

fn standardize<T: Copy>(values: &mut [T], n_columns: usize, wide: fn(T) -> f64, narrow: fn(f64) -> T) {
    let n_rows = (values.len() / n_columns.max(1)) as f64;
    for column in 0..n_columns {
        let each = |values: &[T]| {
            values[column..].iter().step_by(n_columns).map(|&value| wide(value)).collect::<Vec<f64>>()
        };
        let numbers = each(values);
        let mean = numbers.iter().sum::<f64>() / n_rows;
        let variance = numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / n_rows;
        // Equal numbers differ from their mean by rounding alone.
        let is_constant = numbers.iter().all(|&number| number == numbers[0]);
        let scale = if is_constant || variance == 0.0 { 0.0 } else { 1.0 / variance.sqrt() };
        for value in values[column..].iter_mut().step_by(n_columns) {
            *value = narrow((wide(*value) - mean) * scale);
        }
    }
}

/// Reads a table from a file, in the format its name tells: `.npy`, `.npz` (array `X` or the only one), `.parquet`
/// (with the feature of that name), or text with a header or without, columns separated by commas, tabs or white
/// space, which may be compressed.
///
/// # Errors
/// When the file cannot be read, or a cell is no number that a point can have, naming file, line and column; or when the clock says stop.
pub fn read_table(path: &Path, clock: &Clock<'_>) -> Result<Table> {
    TableSource::File(path).read(path, clock).map_err(|error| error.at(path))
}

/// Where a table is read from.
#[derive(Clone, Copy)]
pub(super) enum TableSource<'s> {
    File(&'s Path),
    /// The bytes of a file.
    Bytes(&'s [u8]),
}

impl<'s> TableSource<'s> {
    /// The lines of text that is packed as `name` tells.
    pub(super) fn lines(self, name: &Path, clock: &'s Clock<'s>) -> Result<Lines<'s>> {
        match self {
            Self::File(path) => Lines::open_as(path, name, Some(clock)),
            Self::Bytes(bytes) => Lines::of_file(bytes, name, clock),
        }
    }

    /// The table, in the format that `name` tells.
    pub(super) fn read(self, name: &Path, clock: &Clock<'_>) -> Result<Table> {
        let budget = clock.memory();
        let text = |separator: Separator| from_text(&mut self.lines(name, clock)?, separator);
        let (stem, compression) = Compression::of(name);
        match (text::ending(&stem).as_deref(), compression) {
            (Some("npy"), Compression::None) => match self {
                Self::File(path) => from_npy(BufReader::new(super::open(path)?), budget),
                Self::Bytes(bytes) => from_npy(bytes, budget),
            },
            (Some("npz"), Compression::None) => match self {
                Self::File(path) => from_npz(BufReader::new(super::open(path)?), budget),
                Self::Bytes(bytes) => from_npz(Cursor::new(bytes), budget),
            },
            (Some("csv"), _) => text(Separator::Comma),
            (Some("tsv"), _) => text(Separator::Tab),
            (Some("txt"), _) => text(Separator::Detect),
            (Some("parquet"), Compression::None) => {
                parquet::check_known()?;
                match self {
                    Self::File(path) => parquet::read_table(super::open(path)?, budget),
                    Self::Bytes(bytes) => parquet::parse_table(bytes, budget),
                }
            }
            _ => Err(Error::in_file(
                None,
                "unknown kind of table; known endings are .npy .npz .parquet and .csv .tsv .txt (also with .gz or \
                 .zst)",
            )),
        }
    }
}

/// Reads a table from text that is not compressed.
///
/// # Errors
/// As [`read_table`].
pub fn parse_table(bytes: &[u8], separator: Separator) -> Result<Table> {
    from_text(&mut Lines::of_bytes(bytes), separator)
}

fn from_npy(reader: impl Read, budget: Option<u64>) -> Result<Table> {
    from_array(&Array::read(reader, "the array", budget)?, "the array")
}

fn from_npz(file: impl Read + Seek, budget: Option<u64>) -> Result<Table> {
    let mut archive = Archive::open(file, budget)?;
    let arrays = archive.names();
    let name = match &arrays[..] {
        _ if arrays.iter().any(|name| name == "X") => "X",
        [only] => only,
        _ => {
            let problem = format!("has no array `X`; its arrays are: {}", arrays.join(", "));
            return Err(Error::in_file(None, problem));
        }
    };
    from_array(&archive.array(name)?, &format!("array `{name}`"))
}

fn from_array(array: &Array, name: &str) -> Result<Table> {
    let refuse = |problem: String| Error::in_file(None, format!("{name} {problem}"));
    let (n_rows, n_columns) = match array.shape[..] {
        [n_rows] => (n_rows, 1),
        [n_rows, n_columns] => (n_rows, n_columns),
        _ => return Err(refuse(format!("has {} dimensions; a table has two", array.shape.len()))),
    };
    if n_rows == 0 || n_columns == 0 {
        return Err(refuse(format!("has {n_rows} rows and {n_columns} columns; there are no points in it")));
    }
    if array.is_f32() {
        Table::of_f32(array.f32s(), n_columns)
    } else {
        Table::of_f64(array.floats().map_err(refuse)?, n_columns)
    }
}

fn from_text(lines: &mut Lines<'_>, separator: Separator) -> Result<Table> {
    let mut values = Vec::new();
    let mut column_names = Vec::new();
    let Some(layout) = read_first_row(lines, separator, &mut values, &mut column_names)? else {
        return Err(Error::in_file(None, "holds no rows of numbers"));
    };
    let parse = |_: &Vec<f64>, lines: &[u8]| TableChunk::parse(lines, layout);
    let budget = lines.budget();
    lines.parse_rest(&mut values, parse, |values, chunks| {
        chunks.into_iter().try_for_each(|Parsed { value: chunk, lines_before }| {
            let (what, remedy) = ("reading it up to here", "save the table as .npy, with 32-bit floats");
            let n_values = values.len() + chunk.values.len();
            memory::check_within(budget, what, 8 * n_values as u64, remedy)?;
            memory::reserve(values, chunk.values.len(), what, remedy)?;
            values.extend_from_slice(&chunk.values);
            let problem = chunk.problem.map(|(line, problem)| Error::in_file(lines_before + line, problem));
            problem.map_or(Ok(()), Err)
        })
    })?;
    Points::unchecked((&values).into(), layout.n_columns)?;
    Ok(Table { values: TableValues::F64(values), n_columns: layout.n_columns, column_names })
}

/// Reads the first row of numbers, which tells how all are laid out; a header may stand before it,
/// whose names are kept.
fn read_first_row(
    lines: &mut Lines<'_>,
    separator: Separator,
    values: &mut Vec<f64>,
    column_names: &mut Vec<String>,
) -> Result<Option<Layout>> {
    let mut fields = Fields::default();
    let mut may_be_header = true;
    while let Some((number, line)) = lines.next_content(&COMMENTS)? {
        let refuse = |problem: String| Error::in_file(number, problem);
        let cut = Cut::of(line, separator);
        fields.split(line, cut).map_err(refuse)?;
        // A header has no number in it, or it would be a row with a bad cell.
        let is_name = |column: usize| fields.get(column).parse::<f64>().is_err();
        let has_name = (0..fields.len()).any(|column| !fields.get(column).is_empty());
        if std::mem::take(&mut may_be_header) && has_name && (0..fields.len()).all(is_name) {
            let names: Vec<&str> = (0..fields.len()).map(|column| fields.get(column)).collect();
            check_named(&names).map_err(refuse)?;
            column_names.extend((0..fields.len()).map(|column| fields.get(column).to_owned()));
            continue;
        }
        let layout = Layout { cut, n_columns: fields.len() };
        parse_row(&fields, layout, values).map_err(refuse)?;
        return Ok(Some(layout));
    }
    Ok(None)
}
