//! Parquet files, with the feature of that name: `cargo test -p ncut --features parquet --test parquet`.
#![cfg(feature = "parquet")]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ncut::io::{
    GraphFile, GraphFormat, LabelFormat, Names, ReadOptions, Separator, parse_graph, parse_labels,
    read_classes, read_graph, read_labels, read_table, write_graph, write_labels,
};
use ncut::neighbors::{NeighborSearch, Values};
use ncut::{Clock, Label};
use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use tempfile::TempDir;

type Group<'g> = SerializedRowGroupWriter<'g, File>;

/// Writes a file of two groups of rows, each filled by `fill`.
fn file(path: &Path, columns: &str, compression: Compression, fill: impl Fn(&mut Group<'_>)) {
    let schema = parse_message_type(&format!("message table {{ {columns} }}")).unwrap();
    let settings = WriterProperties::builder().set_compression(compression).build();
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(settings)).unwrap();
    for _ in 0..2 {
        let mut group = writer.next_row_group().unwrap();
        fill(&mut group);
        group.close().unwrap();
    }
    writer.close().unwrap();
}

fn column<T: DataType>(group: &mut Group<'_>, values: &[T::T], levels: Option<&[i16]>) {
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(values, levels, None).unwrap();
    column.close().unwrap();
}

/// A folder, and a file in it that is written by `write`.
fn written(name: &str, write: impl FnOnce(&Path)) -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(name);
    write(&path);
    (folder, path)
}

fn refusal(columns: &str, fill: impl Fn(&mut Group<'_>)) -> String {
    let (_folder, path) = written("t.parquet", |path| file(path, columns, Compression::SNAPPY, fill));
    let message = read_table(&path, &Clock::new()).unwrap_err().to_string();
    message.split_once("t.parquet: ").unwrap().1.to_string()
}

fn names(ids: &str) -> Names {
    let options = ReadOptions::default();
    parse_graph(ids.as_bytes(), GraphFormat::EdgeList(Separator::Comma), &options).unwrap().names.unwrap()
}

#[test]
fn columns_of_all_kinds_of_numbers_become_a_table() {
    let columns = "required float a; required double b; required int32 c (integer(8,true)); \
                   required int64 d; required boolean e; optional int32 f (integer(32,false));";
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(Default::default()),
        Compression::ZSTD(Default::default()),
    ] {
        let (_folder, path) = written("t.parquet", |path| {
            file(path, columns, compression, |group| {
                column::<FloatType>(group, &[0.5, 1.5], None);
                column::<DoubleType>(group, &[0.1, 0.2], None);
                column::<Int32Type>(group, &[-3, 4], None);
                column::<Int64Type>(group, &[1 << 40, 0], None);
                column::<BoolType>(group, &[true, false], None);
                column::<Int32Type>(group, &[-1, 7], Some(&[1, 1]));
            });
        });
        let table = read_table(&path, &Clock::new()).unwrap();
        assert_eq!((table.n_rows(), table.n_columns()), (4, 6));
        let first = [0.5, 0.1, -3.0, (1u64 << 40) as f64, 1.0, f64::from(u32::MAX)];
        let second = [1.5, 0.2, 4.0, 0.0, 0.0, 7.0];
        let Values::F64(values) = table.points().values() else { panic!("not only floats of 32 bits") };
        assert_eq!(values, [first, second, first, second].concat());
    }
}

#[test]
fn thirty_two_bit_floats_stay_that() {
    let (_folder, path) = written("t.parquet", |path| {
        file(path, "required float a; optional float b;", Compression::SNAPPY, |group| {
            column::<FloatType>(group, &[0.1, 1.0, 2.0], None);
            column::<FloatType>(group, &[0.2, 3.0, 4.0], Some(&[1, 1, 1]));
        });
    });
    let table = read_table(&path, &Clock::new()).unwrap();
    let points = table.points();
    let Values::F32(values) = points.values() else { panic!("32 bits") };
    assert_eq!(values[..4], [0.1f32, 0.2, 1.0, 3.0]);
    assert!(NeighborSearch::default().run(points, &Clock::new()).is_ok());
}

#[test]
fn columns_that_are_no_numbers_are_refused_by_name() {
    let text = refusal("required float a; required binary city (string);", |group| {
        column::<FloatType>(group, &[1.0], None);
        column::<ByteArrayType>(group, &["Rome".into()], None);
    });
    assert_eq!(text, "column `city` holds text, no numbers; leave it out");
    let day = refusal("required int32 day (date);", |group| column::<Int32Type>(group, &[1], None));
    assert!(day.starts_with("column `day` holds dates, times or decimals"), "{day}");
    let index = refusal("required int64 __index_level_0__;", |group| column::<Int64Type>(group, &[1], None));
    assert!(index.starts_with("column `__index_level_0__` is the index of a pandas table"), "{index}");
    let nested = refusal("required group point { required float x; }", |group| {
        column::<FloatType>(group, &[1.0], None);
    });
    assert!(nested.starts_with("column `point.x` is nested"), "{nested}");
}

#[test]
fn missing_numbers_and_missing_rows_are_refused() {
    let missing = refusal("required float a; optional double b;", |group| {
        column::<FloatType>(group, &[1.0, 2.0, 3.0], None);
        column::<DoubleType>(group, &[1.0, 2.0], Some(&[1, 0, 1]));
    });
    assert_eq!(missing, "row 1, column `b` is empty; fill in or remove such rows first");
    let none = refusal("required float a;", |group| column::<FloatType>(group, &[], None));
    assert_eq!(none, "has 0 rows and 1 columns; there are no points in it");
    let (_folder, path) = written("t.parquet.gz", |path| fs::write(path, "PAR1").unwrap());
    assert!(read_table(&path, &Clock::new()).unwrap_err().to_string().contains("unknown kind of table"));
}

#[test]
fn labels_round_trip_with_ids_and_without() {
    let names = names("ann,bob\nbob,\"eve, née 1\"\n");
    for labels in [vec![2, -1, 0], vec![Label::MAX, 0, 0]] {
        let (_folder, path) = written("l.parquet", |path| write_labels(path, &labels, None).unwrap());
        assert_eq!(read_labels(&path, 3, None).unwrap(), labels);
        assert_eq!(read_labels(&path, 3, Some(&names)).unwrap(), labels);
        write_labels(&path, &labels, Some(&names)).unwrap();
        assert_eq!(read_labels(&path, 3, Some(&names)).unwrap(), labels);
        let without = read_labels(&path, 3, None).unwrap_err().to_string();
        assert!(without.contains("the nodes of this graph have no ids"), "{without}");
    }
}

#[test]
fn labels_by_id_come_in_any_order_and_ids_may_be_numbers() {
    let columns = "required int64 id (integer(64,false)); required double label;";
    let labels_of = |ids: [i64; 2], n_nodes: usize| {
        let (_folder, path) = written("l.parquet", |path| {
            let schema = parse_message_type(&format!("message labels {{ {columns} }}")).unwrap();
            let file = File::create(path).unwrap();
            let mut writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::default()).unwrap();
            let mut group = writer.next_row_group().unwrap();
            column::<Int64Type>(&mut group, &ids, None);
            column::<DoubleType>(&mut group, &[1.0, 0.0], None);
            group.close().unwrap();
            writer.close().unwrap();
        });
        read_labels(&path, n_nodes, Some(&names("18446744073709551615,7\n")))
            .map_err(|error| error.to_string())
    };
    assert_eq!(labels_of([7, -1], 2).unwrap(), [0, 1]);
    assert!(labels_of([7, 7], 2).unwrap_err().ends_with("l.parquet: `7` has a label already"));
    assert!(labels_of([7, 8], 2).unwrap_err().ends_with("l.parquet: `8` is no node of the graph"));
}

#[test]
fn wrong_labels_are_refused() {
    let refused = |columns: &str, fill: &dyn Fn(&mut Group<'_>)| {
        let (_folder, path) = written("l.parquet", |path| file(path, columns, Compression::SNAPPY, fill));
        read_labels(&path, 2, None).unwrap_err().to_string()
    };
    for (label, message) in [
        (0.5, "column `y` holds 0.5, which is no integer"),
        (f64::NAN, "column `y` holds NaN, which is no integer"),
        (-2.0, "the label of node 0 is -2; labels are integers from 0 to 2147483647, -1 for none"),
        (1e300, "which is no integer"),
    ] {
        let text = refused("required double y;", &|group| column::<DoubleType>(group, &[label], None));
        assert!(text.contains(message), "{text}");
    }
    let many = refused("required int32 y;", &|group| column::<Int32Type>(group, &[1, 2], None));
    assert!(many.contains("holds 4 labels, but the graph has 2 nodes"), "{many}");
    let three = refused("required int32 a; required int32 b; required int32 c;", &|group| {
        (0..3).for_each(|_| column::<Int32Type>(group, &[1], None));
    });
    assert!(three.contains("has 3 columns; labels are one column, or an id and a label"), "{three}");
    let text = refused("required binary y (string);", &|group| {
        column::<ByteArrayType>(group, &["x".into()], None);
    });
    assert!(text.contains("column `y` holds text, no numbers"), "{text}");
}

#[test]
fn damaged_files_are_refused_and_never_panic() {
    let columns = "required float a; optional double b; required int64 c; optional boolean d;";
    for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY] {
        let (folder, path) = written("t.parquet", |path| {
            file(path, columns, compression, |group| {
                column::<FloatType>(group, &[1.0, 2.0, 1.0], None);
                column::<DoubleType>(group, &[3.0, 4.0, 3.0], Some(&[1, 1, 1]));
                column::<Int64Type>(group, &[1, -1, 1 << 33], None);
                column::<BoolType>(group, &[true, false, true], Some(&[1, 1, 1]));
            });
        });
        let whole = fs::read(&path).unwrap();
        let damaged = folder.path().join("d.parquet");
        for length in 0..whole.len() {
            fs::write(&damaged, &whole[..length]).unwrap();
            assert!(read_table(&damaged, &Clock::new()).is_err(), "{length} bytes of {}", whole.len());
        }
        for place in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[place] ^= 0x80;
            fs::write(&damaged, &bytes).unwrap();
            // What it says may still make sense; then it is a table.
            let _ = read_table(&damaged, &Clock::new());
        }
    }
    let (_folder, path) = written("l.parquet", |path| write_labels(path, &[0, 1, 0, 7], None).unwrap());
    let whole = fs::read(&path).unwrap();
    for place in 0..whole.len() {
        for bit in 0..8 {
            let mut bytes = whole.clone();
            bytes[place] ^= 1 << bit;
            let _ = parse_labels(&bytes, LabelFormat::Parquet, 4, None);
        }
    }
}

fn edges_of(path: &Path, options: &ReadOptions) -> ncut::Result<GraphFile> {
    read_graph(path, options, &Clock::new())
}

/// Ids of both ends and the weight of every edge, in order.
fn told(file: &GraphFile) -> Vec<(String, String, f64)> {
    let id = |node| match &file.names {
        Some(names) => names.get(node).into_owned(),
        None => node.to_string(),
    };
    let mut edges: Vec<_> = file.graph.edges().map(|(from, to, weight)| (id(from), id(to), weight)).collect();
    edges.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
    edges
}

fn texts(values: [&str; 2]) -> [parquet::data_type::ByteArray; 2] {
    values.map(Into::into)
}

#[test]
fn edges_are_read_by_the_names_of_their_columns_and_others_are_told() {
    // A date beside an edge is nobody's business.
    let columns = "required double weight; optional int32 day (date); required binary target (string); \
                   required binary source (string);";
    let (_folder, path) = written("g.parquet", |path| {
        file(path, columns, Compression::SNAPPY, |group| {
            column::<DoubleType>(group, &[2.0, 0.5], None);
            column::<Int32Type>(group, &[17], Some(&[0, 1]));
            column::<ByteArrayType>(group, &texts(["bo", "cy"]), None);
            column::<ByteArrayType>(group, &texts(["ann", "bo"]), None);
        });
    });
    let found = edges_of(&path, &ReadOptions::default()).unwrap();
    let edge = |from: &str, to: &str, weight| (from.to_owned(), to.to_owned(), weight);
    // Both groups of rows hold the same two edges, which count twice.
    assert_eq!(told(&found), [edge("ann", "bo", 4.0), edge("bo", "cy", 1.0)]);
    assert_eq!(found.ignored_columns, ["day"]);
    let asked = ReadOptions { columns: Some("4,3".parse().unwrap()), ..ReadOptions::default() };
    let found = edges_of(&path, &asked).unwrap();
    assert_eq!(told(&found), [edge("ann", "bo", 2.0), edge("bo", "cy", 2.0)]);
    assert_eq!(found.ignored_columns, ["weight", "day"]);
    let asked = ReadOptions { columns: Some("source,day".parse().unwrap()), ..ReadOptions::default() };
    let problem = edges_of(&path, &asked).unwrap_err().to_string();
    assert!(problem.ends_with("g.parquet: column `day` holds dates, times or decimals, no plain numbers; convert it or leave it out"), "{problem}");
}

#[test]
fn edges_that_are_none_are_refused() {
    let refusal = |columns: &str, fill: &dyn Fn(&mut Group<'_>)| {
        let (_folder, path) =
            written("g.parquet", |path| file(path, columns, Compression::UNCOMPRESSED, fill));
        let message = edges_of(&path, &ReadOptions::default()).unwrap_err().to_string();
        message.split_once("g.parquet: ").unwrap().1.to_string()
    };
    let two = |group: &mut Group<'_>| {
        column::<Int64Type>(group, &[0, 1], None);
        column::<Int64Type>(group, &[1, 2], None);
    };
    let problem = refusal("required int64 p; required int64 q; required int64 r;", &|group| {
        two(group);
        column::<Int64Type>(group, &[1, 2], None);
    });
    assert!(
        problem.starts_with("the header does not tell which columns are the ends: `p`, `q`, `r`"),
        "{problem}"
    );
    let problem =
        refusal("required int64 source; required int64 target; required double weight;", &|group| {
            two(group);
            column::<DoubleType>(group, &[1.0, -2.0], None);
        });
    assert_eq!(problem, "row 1: the weight of (`1`, `2`) is -2; weights are finite and not negative");
    let problem = refusal("required int64 source; optional int64 target;", &|group| {
        column::<Int64Type>(group, &[0, 1], None);
        column::<Int64Type>(group, &[1], Some(&[1, 0]));
    });
    assert_eq!(problem, "row 1, column `target` is empty; fill in or remove such rows first");
    let problem = refusal("required int64 source; required float target;", &|group| {
        column::<Int64Type>(group, &[0, 1], None);
        column::<FloatType>(group, &[1.0, 2.0], None);
    });
    assert_eq!(problem, "column `target` holds no ids; they are text or integers");
}

#[test]
fn edges_round_trip_with_ids_and_weights_and_lonely_nodes() {
    for (text, ids) in [
        ("ann bo 2.5\nbo cy 0.125\ncy cy 1\ndi di 0\n", true),
        ("ann bo\nbo cy\n", true),
        ("0 1\n1 2\n", false),
    ] {
        let options = ReadOptions::default();
        let mut read =
            parse_graph(text.as_bytes(), GraphFormat::EdgeList(Separator::Detect), &options).unwrap();
        if !ids {
            read.names = None;
        }
        let (_folder, path) = written("g.parquet", |path| {
            write_graph(path, &read.graph, read.names.as_ref()).unwrap();
        });
        let again = edges_of(&path, &options).unwrap();
        assert_eq!(told(&again), told(&read));
        assert_eq!(again.graph.n_nodes(), read.graph.n_nodes());
        let bytes = fs::read(&path).unwrap();
        assert_eq!(told(&parse_graph(&bytes, GraphFormat::Parquet, &options).unwrap()), told(&read));
    }
}

#[test]
fn classes_may_be_names() {
    let columns = "required binary id (string); required binary kind (string);";
    let (_folder, path) = written("known.parquet", |path| {
        let group = std::cell::Cell::new(0);
        file(path, columns, Compression::SNAPPY, |writer| {
            let ids = [["a", "b"], ["c", "d"]][group.replace(1)];
            column::<ByteArrayType>(writer, &texts(ids), None);
            column::<ByteArrayType>(writer, &texts(["cat", "dog"]), None);
        });
    });
    let names = names("d,c\nb,a\n");
    assert_eq!(read_classes(&path, 4, Some(&names)).unwrap(), [0, 1, 0, 1].map(|class: Label| 1 - class));
}

#[test]
fn damaged_edges_are_refused_and_never_panic() {
    let options = ReadOptions::default();
    let read = parse_graph(
        b"ann bo 2.5\nbo cy 0.125\ncy ann 1\n",
        GraphFormat::EdgeList(Separator::Detect),
        &options,
    );
    let read = read.unwrap();
    let (_folder, path) =
        written("g.parquet", |path| write_graph(path, &read.graph, read.names.as_ref()).unwrap());
    let whole = fs::read(&path).unwrap();
    let quiet = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    for place in 0..whole.len() {
        for change in [0x01, 0x80, 0xff] {
            let mut bytes = whole.clone();
            bytes[place] ^= change;
            let _ = parse_graph(&bytes, GraphFormat::Parquet, &options);
        }
        let _ = parse_graph(&whole[..place], GraphFormat::Parquet, &options);
    }
    std::panic::set_hook(quiet);
}
