//! Parquet: edge lists, tables of points, labels and classes.

use std::fs::File;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnDescriptor;

use super::GraphFile;
use super::ReadOptions;
use super::columns::Signs;
use super::edge_list::{self, Header};
use super::fields::Fields;
use super::labels::{LabelColumns, TextColumns};
use super::listed::{Listed, Listing};
use super::names::Names;
use super::npy::half;
use super::table::Table;
use crate::error::{Error, Result};
use crate::graph::{Graph, Weights};
use crate::memory;
use crate::metrics::Label;

/// Rows that are decoded at a time: a damaged file may promise any number.
const BATCH: usize = 1 << 16;
/// Rows of a group in a file that is written.
const ROWS_PER_GROUP: usize = 1 << 20;
const DAMAGED: &str = "is a damaged Parquet file";
/// How pandas calls an index that it writes as a column.
const PANDAS_INDEX: &str = "__index_level_";

/// Whether this build knows the format: it does.
pub(super) fn check_known() -> Result<()> {
    Ok(())
}

/// The columns of a file as a table: all must be numbers, none may be missing.
pub(super) fn read_table(file: File, budget: Option<u64>) -> Result<Table> {
    guarded(|| table(&Columns::open(file)?, budget))
}

/// As [`read_table`], from bytes.
pub(super) fn parse_table(bytes: &[u8], budget: Option<u64>) -> Result<Table> {
    guarded(|| table(&Columns::open(Bytes::copy_from_slice(bytes))?, budget))
}

/// Calls `read`. The crate takes much of what a file says for granted, and panics where a damaged one is wrong.
fn guarded<T>(read: impl FnOnce() -> Result<T>) -> Result<T> {
    let read = std::panic::catch_unwind(std::panic::AssertUnwindSafe(read));
    read.unwrap_or_else(|_| Err(Error::in_file(None, DAMAGED)))
}

fn table<R: ChunkReader + 'static>(file: &Columns<R>, budget: Option<u64>) -> Result<Table> {
    let n_columns = file.kinds.len();
    let groups = file.reader.metadata().row_groups().iter().map(|group| group.num_rows().max(0) as u64);
    // All rows, and those of the largest group once more.
    let n_rows = groups.clone().fold(groups.max().unwrap_or(0), u64::saturating_add);
    let needed = n_rows.saturating_mul(8 * n_columns as u64);
    memory::check_within(
        budget,
        "a table as large as the file promises",
        needed,
        "use fewer rows or columns",
    )?;
    if let Some(column) = file.kinds.iter().position(|kind| matches!(kind, Kind::Text)) {
        return Err(file.refuse(column, "holds text, no numbers; leave it out"));
    }
    let is_f32 = file.kinds.iter().all(|kind| matches!(kind, Kind::F32));
    let (mut narrow, mut wide): (Vec<f32>, Vec<f64>) = (Vec::new(), Vec::new());
    let mut first_row = 0;
    for group in 0..file.reader.num_row_groups() {
        let columns = (0..n_columns).map(|column| file.numbers(group, column, first_row));
        let columns: Vec<Vec<f64>> = columns.collect::<Result<_>>()?;
        let n_rows = columns.first().map_or(0, Vec::len);
        let rows = (0..n_rows).flat_map(|row| columns.iter().map(move |column| column[row]));
        if is_f32 {
            narrow.extend(rows.map(|value| value as f32));
        } else {
            wide.extend(rows);
        }
        first_row += n_rows;
    }
    if first_row == 0 {
        let problem = format!("has 0 rows and {n_columns} columns; there are no points in it");
        return Err(Error::in_file(None, problem));
    }
    if is_f32 { Table::of_f32(narrow, n_columns) } else { Table::of_f64(wide, n_columns) }
}

/// The edges in a file, by the columns that their names or the caller tell; others are passed over, whatever they hold.
pub(super) fn read_edges(file: File, options: &ReadOptions, budget: Option<u64>) -> Result<GraphFile> {
    guarded(|| edges(&Columns::of_any_kind(file)?, options, budget))
}

/// As [`read_edges`], from bytes.
pub(super) fn parse_edges(bytes: &[u8], options: &ReadOptions, budget: Option<u64>) -> Result<GraphFile> {
    guarded(|| edges(&Columns::of_any_kind(Bytes::copy_from_slice(bytes))?, options, budget))
}

fn edges<R: ChunkReader + 'static>(
    file: &Columns<R>,
    options: &ReadOptions,
    budget: Option<u64>,
) -> Result<GraphFile> {
    let names: Vec<String> =
        (0..file.n_columns()).map(|column| file.column(column).path().string()).collect();
    let header = Fields::of(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let signs = Signs { first: &header, second: None, header: Header::Yes };
    let places = signs.places(options.columns.as_ref()).map_err(|problem| Error::in_file(None, problem))?;
    for column in [Some(places.from), Some(places.to), places.weight].into_iter().flatten() {
        kind(file.column(column)).map_err(|problem| file.refuse(column, problem))?;
    }
    let groups = file.reader.metadata().row_groups().iter().map(|group| group.num_rows().max(0) as u64);
    // The columns of one group of rows at a time: two ids and a number in each row.
    memory::check_within(
        budget,
        "a list of edges as long as the file promises",
        groups.max().unwrap_or(0).saturating_mul(64),
        "write it with smaller groups of rows, or as .csv",
    )?;
    let mut listed = Listed::new(Listing { budget, symmetrize: options.symmetrize, weight: None });
    let mut first_row = 0;
    for group in 0..file.reader.num_row_groups() {
        let (from, to) = (file.ids(group, places.from, first_row)?, file.ids(group, places.to, first_row)?);
        let weights = places.weight.map(|column| file.numbers(group, column, first_row)).transpose()?;
        for (row, (from, to)) in from.iter().zip(&to).enumerate() {
            let weight = weights.as_ref().map_or(1.0, |weights| weights[row]);
            if !(weight >= 0.0 && weight.is_finite()) {
                let problem = format!(
                    "row {}: the weight of (`{from}`, `{to}`) is {weight}; weights are finite and not negative",
                    first_row + row
                );
                return Err(Error::in_file(None, problem));
            }
            listed.add_pair(from, to, weight)?;
        }
        first_row += from.len();
    }
    if first_row == 0 {
        return Err(Error::in_file(None, "holds no edges"));
    }
    let ignored_columns = places.ignored(header.len(), Some(&header));
    Ok(GraphFile { ignored_columns, ..listed.finish()?.file })
}

/// Writes every edge once: its ends, as numbers where nodes have no ids, and its weight unless all are 1. An isolated node
/// is a self-loop of weight 0, as in an edge list of text.
pub(super) fn write_edges(file: &mut File, graph: &Graph<'_>, names: Option<&Names>) -> io::Result<()> {
    let written = || {
        let is_weighted = graph.n_isolated() > 0 || !matches!(graph.weights(), Weights::Unit);
        let weight = if is_weighted { "required double weight;" } else { "" };
        let id = if names.is_some() { "binary" } else { "int64" };
        let kind = if names.is_some() { "(string)" } else { "" };
        let schema = parse_message_type(&format!(
            "message edges {{ required {id} source {kind}; required {id} target {kind}; {weight} }}"
        ))?;
        let mut writer =
            SerializedFileWriter::new(file, Arc::new(schema), Arc::new(WriterProperties::default()))?;
        let mut rows = edge_list::rows(graph).peekable();
        while rows.peek().is_some() {
            let rows: Vec<(u32, u32, f64)> = rows.by_ref().take(ROWS_PER_GROUP).collect();
            let mut group = writer.next_row_group()?;
            for end in [0, 1] {
                let nodes = rows.iter().map(|&(from, to, _)| [from, to][end]);
                match names {
                    Some(names) => {
                        let ids: Vec<ByteArray> =
                            nodes.map(|node| ByteArray::from(&*names.get(node))).collect();
                        write_column::<ByteArrayType>(&mut group, &ids)?;
                    }
                    None => write_column::<Int64Type>(&mut group, &nodes.map(i64::from).collect::<Vec<_>>())?,
                }
            }
            if is_weighted {
                let weights: Vec<f64> = rows.iter().map(|row| row.2).collect();
                write_column::<DoubleType>(&mut group, &weights)?;
            }
            group.close()?;
        }
        writer.close()?;
        Ok(())
    };
    written().map_err(|error: ParquetError| io::Error::other(error))
}

/// The names of classes in a file, and the ids before them where there are any; `None` where they are numbers.
pub(super) fn read_texts(file: File) -> Result<Option<TextColumns>> {
    guarded(|| {
        let file = Columns::open(file)?;
        let n_columns = file.kinds.len();
        if !(1..=2).contains(&n_columns) {
            let problem = format!("has {n_columns} columns; classes are one column, or an id and a class");
            return Err(Error::in_file(None, problem));
        }
        if !matches!(file.kinds[n_columns - 1], Kind::Text) {
            return Ok(None);
        }
        let (mut ids, mut texts) = (Vec::new(), Vec::new());
        for group in 0..file.reader.num_row_groups() {
            let first_row = texts.len();
            if n_columns == 2 {
                ids.extend(file.ids(group, 0, first_row)?);
            }
            texts.extend(file.ids(group, n_columns - 1, first_row)?);
        }
        Ok(Some(TextColumns { ids: (n_columns == 2).then_some(ids), texts }))
    })
}

/// The labels in a file: a column of integers or, for nodes that have ids, a column of ids and one of integers.
pub(super) fn read_labels(file: File) -> Result<LabelColumns> {
    guarded(|| label_columns(&Columns::open(file)?))
}

/// As [`read_labels`], from bytes.
pub(super) fn parse_labels(bytes: &[u8]) -> Result<LabelColumns> {
    guarded(|| label_columns(&Columns::open(Bytes::copy_from_slice(bytes))?))
}

fn label_columns<R: ChunkReader + 'static>(file: &Columns<R>) -> Result<LabelColumns> {
    let n_columns = file.kinds.len();
    if !(1..=2).contains(&n_columns) {
        let problem = format!("has {n_columns} columns; labels are one column, or an id and a label");
        return Err(Error::in_file(None, problem));
    }
    let column = n_columns - 1;
    let (mut labels, mut ids) = (Vec::new(), Vec::new());
    for group in 0..file.reader.num_row_groups() {
        let first_row = labels.len();
        for value in file.numbers(group, column, first_row)? {
            // Between -2^53 and 2^53 every whole float is that integer.
            if value.fract() != 0.0 || value.abs() > 2f64.powi(53) {
                return Err(file.refuse(column, &format!("holds {value}, which is no integer")));
            }
            labels.push(value as i64);
        }
        if n_columns == 2 {
            ids.extend(file.ids(group, 0, first_row)?);
        }
    }
    Ok(LabelColumns { ids: (n_columns == 2).then_some(ids), labels })
}

/// Writes labels as a column `label`, after a column `id` where there are ids.
pub(super) fn write_labels(file: &mut File, labels: &[Label], names: Option<&Names>) -> io::Result<()> {
    write(file, labels, names).map_err(io::Error::other)
}

fn write(file: &mut File, labels: &[Label], names: Option<&Names>) -> Result<(), ParquetError> {
    let id = if names.is_some() { "required binary id (string);" } else { "" };
    let schema = Arc::new(parse_message_type(&format!("message labels {{ {id} required int32 label; }}"))?);
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(WriterProperties::default()))?;
    let mut group = writer.next_row_group()?;
    if let Some(names) = names {
        let ids: Vec<ByteArray> = names.iter().map(|id| ByteArray::from(&*id)).collect();
        write_column::<ByteArrayType>(&mut group, &ids)?;
    }
    write_column::<Int32Type>(&mut group, labels)?;
    group.close()?;
    writer.close()?;
    Ok(())
}

fn write_column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, &mut File>,
    values: &[T::T],
) -> Result<(), ParquetError> {
    if let Some(mut column) = group.next_column()? {
        column.typed::<T>().write_batch(values, None, None)?;
        column.close()?;
    }
    Ok(())
}

/// What a column holds.
enum Kind {
    F32,
    Number,
    Text,
}

/// The columns of a file: all plain, with numbers or text.
struct Columns<R: ChunkReader> {
    reader: SerializedFileReader<R>,
    kinds: Vec<Kind>,
}

impl<R: ChunkReader + 'static> Columns<R> {
    /// Columns of which nothing is known yet.
    fn of_any_kind(source: R) -> Result<Self> {
        let reader = SerializedFileReader::new(source).map_err(|error| unreadable(&error))?;
        Ok(Self { reader, kinds: Vec::new() })
    }

    fn n_columns(&self) -> usize {
        self.reader.metadata().file_metadata().schema_descr().num_columns()
    }

    fn open(source: R) -> Result<Self> {
        let mut file = Self::of_any_kind(source)?;
        for column in 0..file.n_columns() {
            let kind = kind(file.column(column)).map_err(|problem| file.refuse(column, problem))?;
            file.kinds.push(kind);
        }
        Ok(file)
    }

    fn column(&self, column: usize) -> &ColumnDescriptor {
        let columns = self.reader.metadata().file_metadata().schema_descr().columns();
        &columns[column]
    }

    fn refuse(&self, column: usize, problem: &str) -> Error {
        Error::in_file(None, format!("column `{}` {problem}", self.column(column).path().string()))
    }

    /// The numbers of a column in one group of rows, of which the first is row `first_row` of the file.
    fn numbers(&self, group: usize, column: usize, first_row: usize) -> Result<Vec<f64>> {
        let unsigned = is_unsigned(self.column(column));
        let values = match self.column_reader(group, column)? {
            ColumnReader::BoolColumnReader(reader) => read(reader, |&value| f64::from(u8::from(value))),
            ColumnReader::Int32ColumnReader(reader) if unsigned => {
                read(reader, |&value| f64::from(value as u32))
            }
            ColumnReader::Int32ColumnReader(reader) => read(reader, |&value| f64::from(value)),
            ColumnReader::Int64ColumnReader(reader) if unsigned => read(reader, |&value| value as u64 as f64),
            ColumnReader::Int64ColumnReader(reader) => read(reader, |&value| value as f64),
            ColumnReader::FloatColumnReader(reader) => read(reader, |&value| f64::from(value)),
            ColumnReader::DoubleColumnReader(reader) => read(reader, |&value| value),
            ColumnReader::FixedLenByteArrayColumnReader(reader) => read(reader, |value| {
                let bytes = value.data();
                half(u16::from_le_bytes([bytes[0], bytes[1]]))
            }),
            _ => return Err(self.refuse(column, "holds text, no numbers")),
        };
        self.complete(values, group, column, first_row)
    }

    /// The ids of a column in one group of rows.
    fn ids(&self, group: usize, column: usize, first_row: usize) -> Result<Vec<String>> {
        let unsigned = is_unsigned(self.column(column));
        let ids = match self.column_reader(group, column)? {
            ColumnReader::Int32ColumnReader(reader) if unsigned => {
                read(reader, |&id| (id as u32).to_string())
            }
            ColumnReader::Int32ColumnReader(reader) => read(reader, ToString::to_string),
            ColumnReader::Int64ColumnReader(reader) if unsigned => {
                read(reader, |&id| (id as u64).to_string())
            }
            ColumnReader::Int64ColumnReader(reader) => read(reader, ToString::to_string),
            ColumnReader::ByteArrayColumnReader(reader) => {
                read(reader, |text| String::from_utf8_lossy(text.data()).into_owned())
            }
            _ => return Err(self.refuse(column, "holds no ids; they are text or integers")),
        };
        self.complete(ids, group, column, first_row)
    }

    fn column_reader(&self, group: usize, column: usize) -> Result<ColumnReader> {
        let reader = self.reader.get_row_group(group).and_then(|group| group.get_column_reader(column));
        reader.map_err(|error| unreadable(&error))
    }

    /// The values that were read, if there is one for each row of the group.
    fn complete<V>(
        &self,
        values: Result<Vec<V>, Problem>,
        group: usize,
        column: usize,
        first_row: usize,
    ) -> Result<Vec<V>> {
        match values {
            Ok(values) if values.len() as i64 == self.reader.metadata().row_group(group).num_rows() => {
                Ok(values)
            }
            Ok(_) => Err(Error::in_file(None, DAMAGED)),
            Err(Problem::Missing { row }) => {
                let (row, name) = (first_row + row, self.column(column).name());
                let problem =
                    format!("row {row}, column `{name}` is empty; fill in or remove such rows first");
                Err(Error::in_file(None, problem))
            }
            Err(Problem::Unreadable(error)) => Err(unreadable(&error)),
        }
    }
}

/// What a column holds, if it can be read.
fn kind(column: &ColumnDescriptor) -> Result<Kind, &'static str> {
    if column.name().starts_with(PANDAS_INDEX) {
        return Err("is the index of a pandas table; write it with index=False");
    }
    if column.path().parts().len() > 1 || column.max_rep_level() > 0 || column.max_def_level() > 1 {
        return Err("is nested; give every number a column of its own");
    }
    let whole = match (column.logical_type_ref(), column.converted_type()) {
        (Some(LogicalType::Integer(_) | LogicalType::Unknown), _) => true,
        (Some(_), _) => false,
        (None, converted) => !matches!(
            converted,
            ConvertedType::DATE
                | ConvertedType::TIME_MILLIS
                | ConvertedType::TIME_MICROS
                | ConvertedType::TIMESTAMP_MILLIS
                | ConvertedType::TIMESTAMP_MICROS
                | ConvertedType::DECIMAL
        ),
    };
    match column.physical_type() {
        Type::FLOAT => Ok(Kind::F32),
        Type::DOUBLE | Type::BOOLEAN => Ok(Kind::Number),
        Type::INT32 | Type::INT64 if whole => Ok(Kind::Number),
        Type::FIXED_LEN_BYTE_ARRAY if is_half(column) => Ok(Kind::Number),
        Type::BYTE_ARRAY => Ok(Kind::Text),
        _ => Err("holds dates, times or decimals, no plain numbers; convert it or leave it out"),
    }
}

fn is_half(column: &ColumnDescriptor) -> bool {
    column.logical_type_ref() == Some(&LogicalType::Float16) && column.type_length() == 2
}

fn is_unsigned(column: &ColumnDescriptor) -> bool {
    use ConvertedType::{UINT_8, UINT_16, UINT_32, UINT_64};
    match column.logical_type_ref() {
        Some(LogicalType::Integer(integer)) => !integer.is_signed,
        _ => matches!(column.converted_type(), UINT_8 | UINT_16 | UINT_32 | UINT_64),
    }
}

/// Why a column cannot be read.
enum Problem {
    Missing { row: usize },
    Unreadable(ParquetError),
}

/// All values of a column in a group of rows.
fn read<T: DataType, V>(
    mut reader: ColumnReaderImpl<T>,
    convert: impl Fn(&T::T) -> V,
) -> Result<Vec<V>, Problem> {
    let mut all = Vec::new();
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    loop {
        values.clear();
        levels.clear();
        let (n_rows, n_values, _) =
            reader.read_records(BATCH, Some(&mut levels), None, &mut values).map_err(Problem::Unreadable)?;
        if n_values < n_rows {
            let missing = levels.iter().position(|&level| level == 0).unwrap_or(0);
            return Err(Problem::Missing { row: all.len() + missing });
        }
        if n_rows == 0 {
            return Ok(all);
        }
        all.extend(values.iter().map(&convert));
    }
}

fn unreadable(error: &ParquetError) -> Error {
    let message = error.to_string();
    let message = message.strip_prefix("Parquet error: ").unwrap_or(&message);
    Error::in_file(
        None,
        match message.strip_prefix("Disabled feature at compile time: ") {
            Some(codec) => format!("is compressed by {codec}; write it with snappy, gzip or zstd"),
            None => format!("cannot be read as Parquet: {message}"),
        },
    )
}
