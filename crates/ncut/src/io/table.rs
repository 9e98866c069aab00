//! Tables of points: arrays and text.

use std::io::{BufReader, Read};
use std::path::Path;

use super::fields::{COMMENTS, Cut, Fields, Layout, Separator};
use super::npy::Array;
use super::npz::Archive;
use super::parquet;
use super::table_chunk::{TableChunk, parse_row};
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
        Ok(Self { values: TableValues::F32(values), n_columns })
    }

    /// Row after row, in 64 bits.
    ///
    /// # Errors
    /// As [`of_f32`](Self::of_f32).
    pub(super) fn of_f64(values: Vec<f64>, n_columns: usize) -> Result<Self> {
        Points::new(&values, n_columns)?;
        Ok(Self { values: TableValues::F64(values), n_columns })
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
    read_table_as(path, path, clock)
}

/// As [`read_table`], in the format that `name` tells.
pub(super) fn read_table_as(path: &Path, name: &Path, clock: &Clock<'_>) -> Result<Table> {
    let lines = || Lines::open_as(path, name, Some(clock));
    let read = || {
        let (stem, compression) = Compression::of(name);
        match (text::ending(&stem).as_deref(), compression) {
            (Some("npy"), Compression::None) => from_npy(BufReader::new(super::open(path)?), clock.memory()),
            (Some("npz"), Compression::None) => from_npz(path, clock.memory()),
            (Some("csv"), _) => from_text(&mut lines()?, Separator::Comma),
            (Some("tsv"), _) => from_text(&mut lines()?, Separator::Tab),
            (Some("txt"), _) => from_text(&mut lines()?, Separator::Detect),
            (Some("parquet"), Compression::None) => {
                parquet::check_known()?;
                parquet::read_table(super::open(path)?, clock.memory())
            }
            _ => Err(Error::in_file(
                None,
                "unknown kind of table; known endings are .npy .npz .parquet and .csv .tsv .txt (also with .gz or \
                 .zst)",
            )),
        }
    };
    read().map_err(|error| error.at(path))
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

fn from_npz(path: &Path, budget: Option<u64>) -> Result<Table> {
    let mut archive = Archive::open(BufReader::new(super::open(path)?), budget)?;
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
    let Some(layout) = read_first_row(lines, separator, &mut values)? else {
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
    Ok(Table { values: TableValues::F64(values), n_columns: layout.n_columns })
}

/// Reads the first row of numbers, which tells how all are laid out; a header may stand before it.
fn read_first_row(
    lines: &mut Lines<'_>,
    separator: Separator,
    values: &mut Vec<f64>,
) -> Result<Option<Layout>> {
    let mut fields = Fields::default();
    let mut may_be_header = true;
    while let Some((number, line)) = lines.next_content(&COMMENTS)? {
        let refuse = |problem: String| Error::in_file(number, problem);
        let cut = Cut::of(line, separator);
        fields.split(line, cut).map_err(refuse)?;
        // A header has no number in it, or it would be a row with a bad cell.
        let is_name =
            |column: usize| fields.get(column).parse::<f64>().is_err() && !fields.get(column).is_empty();
        if std::mem::take(&mut may_be_header) && (0..fields.len()).all(is_name) {
            continue;
        }
        let layout = Layout { cut, n_columns: fields.len() };
        parse_row(&fields, layout, values).map_err(refuse)?;
        return Ok(Some(layout));
    }
    Ok(None)
}
