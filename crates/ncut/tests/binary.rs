//! Our own binary files: mapped as they are, refused when they are not whole.
#![cfg(feature = "files")]

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use common::sketches;
use ncut::io::{
    GraphFile, GraphFormat, ReadOptions, Separator, Verification, convert_graph, parse_graph, read_graph,
    write_graph,
};
use ncut::{Clock, CutScore, Graph, Ncut, Symmetrize, Weights};
use proptest::prelude::*;
use tempfile::TempDir;

/// Bytes of the header.
const HEADER: usize = 128;

fn options(verification: Verification) -> ReadOptions {
    ReadOptions { verification, ..ReadOptions::default() }
}

fn open(path: &Path) -> ncut::Result<GraphFile> {
    read_graph(path, &options(Verification::AtOnce), &Clock::new())
}

fn assert_same(a: &Graph<'_>, b: &Graph<'_>) {
    assert_eq!(a.offsets(), b.offsets());
    assert_eq!(a.edges().collect::<Vec<_>>(), b.edges().collect::<Vec<_>>());
    assert_eq!(a.degrees(), b.degrees());
    assert_eq!(
        (a.n_self_loops(), a.n_isolated(), a.volume()),
        (b.n_self_loops(), b.n_isolated(), b.volume())
    );
    assert_eq!(std::mem::discriminant(a.weights()), std::mem::discriminant(b.weights()));
    for node in 0..a.n_nodes() as u32 {
        assert_eq!(a.self_loop(node), b.self_loop(node));
    }
}

fn narrow(graph: &Graph<'_>) -> Graph<'static> {
    let weights: Vec<f32> =
        (0..graph.columns().len()).map(|entry| graph.weights().at(entry) as f32).collect();
    let (offsets, columns) = (graph.offsets().to_vec(), graph.columns().to_vec());
    Graph::from_csr(offsets, columns, weights.into(), Symmetrize::Refuse).unwrap()
}

/// A graph with self-loops, an isolated node and names, as a file.
fn small_file(folder: &TempDir) -> (PathBuf, GraphFile) {
    let text = "ann bob 2\nbob eve 0.5\neve eve 3\nzoë zoë 0\nann eve 1\n";
    let format = GraphFormat::EdgeList(Separator::Detect);
    let file = parse_graph(text.as_bytes(), format, &ReadOptions::default()).unwrap();
    let path = folder.path().join("small.ncut");
    write_graph(&path, &file.graph, file.names.as_ref()).unwrap();
    (path, file)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_kind_of_weight_round_trips(sketch in sketches(12)) {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("g.ncut");
        let wide = sketch.graph();
        let pairs: BTreeSet<_> = sketch.edges.iter().map(|&(a, b, _)| (a.min(b), a.max(b))).collect();
        let ones = Graph::from_edges(sketch.n_nodes, pairs.into_iter().map(|(a, b)| (a, b, 1.0))).unwrap();
        for graph in [&wide, &narrow(&wide), &ones] {
            write_graph(&path, graph, None).unwrap();
            let back = open(&path).unwrap();
            assert_same(graph, &back.graph);
            prop_assert!(back.names.is_none());
            let parsed = parse_graph(&fs::read(&path).unwrap(), GraphFormat::Binary, &ReadOptions::default()).unwrap();
            assert_same(graph, &parsed.graph);
        }
    }
}

#[test]
fn names_come_back_and_are_found() {
    let folder = TempDir::new().unwrap();
    let (path, file) = small_file(&folder);
    let back = open(&path).unwrap();
    assert_same(&file.graph, &back.graph);
    let names = back.names.unwrap();
    assert_eq!(names.iter().collect::<Vec<_>>(), ["ann", "bob", "eve", "zoë"]);
    assert_eq!((names.find("zoë"), names.find("zoe")), (Some(3), None));
}

#[test]
fn a_mapped_graph_outlives_its_file_and_gives_the_same_labels() {
    let folder = TempDir::new().unwrap();
    let (path, file) = small_file(&folder);
    let mapped = open(&path).unwrap().graph;
    let copy = mapped.clone();
    drop(mapped);
    fs::remove_file(&path).unwrap();
    let (a, b) = (Ncut::new(2).solve(&copy).unwrap(), Ncut::new(2).solve(&file.graph).unwrap());
    assert_eq!(a.labels, b.labels);
    assert_eq!(a.objective.to_bits(), b.objective.to_bits());
}

#[test]
fn a_file_cut_anywhere_is_refused() {
    let folder = TempDir::new().unwrap();
    let (path, _) = small_file(&folder);
    let bytes = fs::read(&path).unwrap();
    let short = folder.path().join("short.ncut");
    for length in 0..bytes.len() {
        fs::write(&short, &bytes[..length]).unwrap();
        for verification in [Verification::BeforeUse, Verification::AtOnce, Verification::Never] {
            let error = read_graph(&short, &options(verification), &Clock::new()).unwrap_err().to_string();
            assert!(error.contains("short.ncut") && error.contains("short"), "{length}: {error}");
            assert!(parse_graph(&bytes[..length], GraphFormat::Binary, &options(verification)).is_err());
        }
    }
    fs::write(&short, [&bytes[..], b"x"].concat()).unwrap();
    let error = open(&short).unwrap_err().to_string();
    assert!(error.contains("is longer than it should be"), "{error}");
}

#[test]
fn a_changed_byte_is_found_wherever_it_is() {
    let folder = TempDir::new().unwrap();
    let (path, file) = small_file(&folder);
    let bytes = fs::read(&path).unwrap();
    let changed = folder.path().join("changed.ncut");
    for place in 0..bytes.len() {
        for change in [1u8, 0x80] {
            let mut damaged = bytes.clone();
            damaged[place] ^= change;
            fs::write(&changed, &damaged).unwrap();
            match open(&changed) {
                Err(error) => assert!(error.to_string().contains("changed.ncut"), "{error}"),
                // Between two arrays there is nothing to damage.
                Ok(whole) => {
                    assert!(place >= HEADER && bytes[place] == 0, "byte {place}");
                    assert_same(&whole.graph, &file.graph);
                }
            }
            // Opening looks at the header alone; whoever uses the graph hears of it.
            if let Ok(unread) = read_graph(&changed, &ReadOptions::default(), &Clock::new()) {
                let solved = Ncut::new(2).solve(&unread.graph);
                let scored = CutScore::new(&unread.graph, &[0, 0, 1, 1]);
                assert_eq!(solved.is_ok(), scored.is_ok());
                assert_eq!(solved.is_ok(), unread.graph.verify().is_ok());
                let _ = unread.names.unwrap().iter().count();
            }
        }
    }
}

#[test]
fn what_is_no_such_file_says_so() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("g.ncut");
    let refused = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        open(&path).unwrap_err().to_string()
    };
    assert!(refused(b"").contains("is no .ncut file, or one cut short"));
    assert!(refused(&[b'x'; 500]).contains("is no .ncut file; is its ending right?"));
    assert!(refused("1 2\n".repeat(99).as_bytes()).contains("is no .ncut file; is its ending right?"));
    let (small, _) = small_file(&folder);
    let mut bytes = fs::read(small).unwrap();
    bytes[8] = 2;
    let error = refused(&bytes);
    assert!(error.contains("version 2") && error.contains("version 1 only"), "{error}");
    let error = GraphFormat::of(Path::new("g.ncut.gz")).unwrap_err().to_string();
    assert!(error.contains("unpack it first"), "{error}");
}

/// Files with right checksums and wrong contents are no accident, and do no harm all the same.
#[test]
fn lies_with_right_checksums_are_found() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("path.ncut");
    let graph = Graph::from_edges(3, [(0, 1, 2.0), (1, 2, 3.0)]).unwrap();
    write_graph(&path, &graph, None).unwrap();
    let bytes = fs::read(&path).unwrap();
    // Columns 1, 0 2, 1 at 128; weights of 64 bits at 192; offsets 0 1 3 4 at 256; degrees at 320.
    let (columns, weights, offsets, degrees) = (128..144, 192..224, 256..288, 320..344);
    let with = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = bytes.clone();
        change(&mut bytes);
        for (part, range) in [&columns, &weights, &offsets, &degrees].into_iter().enumerate() {
            let sum = crc32fast::hash(&bytes[range.clone()]);
            bytes[64 + 4 * part..68 + 4 * part].copy_from_slice(&sum.to_le_bytes());
        }
        let sum = crc32fast::hash(&bytes[..124]);
        bytes[124..128].copy_from_slice(&sum.to_le_bytes());
        parse_graph(&bytes, GraphFormat::Binary, &options(Verification::AtOnce))
    };
    assert_same(&with(&|_| {}).unwrap().graph, &graph);
    let put = |at: usize, value: &'static [u8]| {
        with(&move |bytes: &mut Vec<u8>| bytes[at..at + value.len()].copy_from_slice(value))
            .unwrap_err()
            .to_string()
    };
    assert!(put(128, &[9]).contains("the entries of node 0 are not those of a graph"));
    assert!(put(128, &[2]).contains("in one direction only"));
    assert!(put(136, &[0]).contains("the entries of node 1"), "a column twice");
    assert!(put(198, &[0xf0, 0xff]).contains("the entries of node 0"), "a weight of -inf");
    assert!(put(264, &[4]).contains("its row offsets fall"));
    assert!(put(280, &[9]).contains("its row offsets do not start at 0 or do not end"));
    assert!(put(327, &[0x41]).contains("the entries of node 0"), "a degree");
    assert!(put(24, &[9]).contains("is cut short"));
    assert!(put(24, &[255; 8]).contains("promises more than any file can hold"));
    assert!(put(32, &[9]).contains("do not fit together"));
    assert!(put(40, &[1]).contains("its header does not fit the arrays"));
    assert!(put(12, &[3]).contains("weights that do not exist"));
    assert!(put(12, &[32]).contains("which this program does not know"));
    assert!(put(16, &[0]).contains("no nodes"));
}

#[test]
fn verifying_can_be_stopped_and_begun_again() {
    let folder = TempDir::new().unwrap();
    let (path, _) = small_file(&folder);
    let file = read_graph(&path, &ReadOptions::default(), &Clock::new()).unwrap();
    let stopped = file.verify(&Clock::observed(|_| std::ops::ControlFlow::Break(())));
    assert!(matches!(stopped, Err(ncut::Error::Stopped { .. })));
    file.verify(&Clock::new()).unwrap();
    assert!(matches!(file.graph.weights(), Weights::F64(_)));
}

/// A file of a gigabyte with nothing in it opens as fast as a small one: only its ends are looked at.
#[cfg(all(unix, feature = "mapping"))]
#[test]
fn opening_reads_nothing_but_the_header() {
    use std::os::unix::fs::FileExt;
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("large.ncut");
    let (n_nodes, n_entries) = (1u64 << 20, 1u64 << 28);
    let offsets = 128 + 4 * n_entries;
    let degrees = (offsets + 8 * (n_nodes + 1)).next_multiple_of(64);
    let length = (degrees + 8 * n_nodes).next_multiple_of(64);
    let mut header = vec![0; HEADER];
    header[..8].copy_from_slice(b"\x89ncut\r\n\x1a");
    header[8] = 1;
    header[16..24].copy_from_slice(&n_nodes.to_le_bytes());
    header[24..32].copy_from_slice(&n_entries.to_le_bytes());
    let sum = crc32fast::hash(&header[..124]);
    header[124..].copy_from_slice(&sum.to_le_bytes());
    let file = fs::File::create(&path).unwrap();
    file.set_len(length).unwrap();
    file.write_all_at(&header, 0).unwrap();
    file.write_all_at(&n_entries.to_le_bytes(), offsets + 8 * n_nodes).unwrap();
    let started = std::time::Instant::now();
    let graph = read_graph(&path, &ReadOptions::default(), &Clock::new()).unwrap().graph;
    assert!(started.elapsed().as_millis() < 100, "{:?}", started.elapsed());
    assert_eq!(graph.columns().len() as u64, n_entries);
}

/// Sorting in files gives the bytes that sorting in memory gives, and leaves no file behind.
#[test]
fn edges_beyond_the_memory_limit_make_the_same_file() {
    let folder = TempDir::new().unwrap();
    let mut state = 1u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    let mut lists =
        [String::new(), String::new(), String::from("%%MatrixMarket matrix coordinate real symmetric\n")];
    lists[2] += "9000 9000 150000\n";
    for line in 0..150_000 {
        let (from, to) = (next(9_000), next(9_000));
        let weight = if line < 70_000 { 1.0 } else { next(100) as f64 / 7.0 };
        // The first list has no weights, but edges that are there twice.
        lists[0] += &format!("{from} n{to}\n");
        lists[1] += &format!("{from} {to} {weight}\n");
        lists[2] += &format!("{} {} {weight}\n", from + 1, to + 1);
    }
    for (text, name) in lists.iter().zip(["plain.txt", "weighted.txt", "matrix.mtx"]) {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        let (whole, sorted) = (folder.path().join("whole.ncut"), folder.path().join("sorted.ncut"));
        convert_graph(&path, &whole, &ReadOptions::default(), &Clock::new()).unwrap();
        let limited = ReadOptions { memory_limit: Some(1 << 20), ..ReadOptions::default() };
        let file = convert_graph(&path, &sorted, &limited, &Clock::new()).unwrap();
        assert!(fs::read(&whole).unwrap() == fs::read(&sorted).unwrap(), "{name}");
        let read = read_graph(&path, &limited, &Clock::new()).unwrap();
        assert_same(&file.graph, &read.graph);
        assert_same(&open(&whole).unwrap().graph, &read.graph);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "no temporary file is left");
        for path in [path, whole, sorted] {
            fs::remove_file(path).unwrap();
        }
    }
}
