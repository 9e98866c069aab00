//! Reading and writing: every format gives back what it was given.
#![cfg(feature = "files")]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use common::{close, sketches, tied_sketches};
use ncut::io::{
    GraphFile, GraphFormat, Header, LabelFormat, ReadOptions, Separator, TableOptions, parse_graph,
    parse_graph_file, parse_labels, parse_table_file, read_graph, read_labels, write_graph, write_graph_by,
    write_labels,
};
use ncut::{Clock, Error, Graph, Label, Progress, Stage, StopReason, Stopped, Symmetrize, Weights};
use proptest::prelude::*;
use tempfile::TempDir;

fn read(path: &Path) -> GraphFile {
    read_graph(path, &ReadOptions::default(), &Clock::new()).unwrap()
}

fn written_and_read(graph: &Graph<'_>, name: &str) -> GraphFile {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(name);
    write_graph(&path, graph, None).unwrap();
    read(&path)
}

fn parse_edges(text: &str) -> ncut::Result<GraphFile> {
    parse_graph(text.as_bytes(), GraphFormat::EdgeList(Separator::Detect), &ReadOptions::default())
}

/// Every edge by the ids of its ends.
fn edges_by_id(file: &GraphFile) -> BTreeMap<(String, String), f64> {
    let names = file.names.as_ref().unwrap();
    let id = |node| names.get(node).to_string();
    file.graph
        .edges()
        .map(|(a, b, weight)| {
            let (a, b) = (id(a), id(b));
            (if a <= b { (a, b) } else { (b, a) }, weight)
        })
        .collect()
}

fn assert_same(a: &Graph<'_>, b: &Graph<'_>) {
    assert_eq!(a.n_nodes(), b.n_nodes());
    assert_eq!(a.edges().collect::<Vec<_>>(), b.edges().collect::<Vec<_>>());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn matrices_round_trip(sketch in sketches(12)) {
        let graph = sketch.graph();
        for name in ["g.mtx", "g.mtx.gz", "g.mtx.zst", "g.npz"] {
            assert_same(&graph, &written_and_read(&graph, name).graph);
        }
    }

    #[test]
    fn metis_files_round_trip_whole_weights_without_self_loops(sketch in tied_sketches(12)) {
        let loops_gone: Vec<_> = sketch.edges.iter().copied().filter(|edge| edge.0 != edge.1).collect();
        let graph = Graph::from_edges(sketch.n_nodes, loops_gone).unwrap();
        for name in ["g.graph", "g.metis.gz", "g.graph.zst"] {
            assert_same(&graph, &written_and_read(&graph, name).graph);
        }
    }

    #[test]
    fn edge_lists_round_trip_by_id(sketch in sketches(12)) {
        let graph = sketch.graph();
        for name in ["g.txt", "g.tsv", "g.csv", "g.edges", "g.txt.gz", "g.csv.zst"] {
            let file = written_and_read(&graph, name);
            prop_assert_eq!(file.graph.n_nodes(), graph.n_nodes());
            prop_assert_eq!(file.graph.n_isolated(), graph.n_isolated());
            let expected: BTreeMap<_, _> = graph
                .edges()
                .map(|(a, b, weight)| {
                    let (a, b) = (a.to_string(), b.to_string());
                    (if a <= b { (a, b) } else { (b, a) }, weight)
                })
                .collect();
            prop_assert_eq!(edges_by_id(&file), expected);
        }
    }

    #[test]
    fn odd_ids_survive(ids in prop::collection::btree_set("[ -~]{1,6}", 2..8)) {
        let ids: Vec<String> = ids.into_iter().map(|id| id.trim().to_string()).filter(|id| !id.is_empty()).collect();
        prop_assume!(ids.len() >= 2);
        let quoted = |id: &str| format!("\"{}\"", id.replace('"', "\"\""));
        let lines: Vec<String> = ids.windows(2).map(|pair| format!("{},{}", quoted(&pair[0]), quoted(&pair[1]))).collect();
        let options = ReadOptions { header: Header::No, ..ReadOptions::default() };
        let file = parse_graph(lines.join("\n").as_bytes(), GraphFormat::EdgeList(Separator::Comma), &options).unwrap();
        let folder = TempDir::new().unwrap();
        for name in ["g.csv", "g.tsv", "g.txt"] {
            let path = folder.path().join(name);
            write_graph(&path, &file.graph, file.names.as_ref()).unwrap();
            prop_assert_eq!(edges_by_id(&read(&path)), edges_by_id(&file), "{}", name);
        }
        let labels: Vec<Label> = (0..file.graph.n_nodes() as Label).collect();
        for name in ["labels.txt", "labels.csv", "labels.tsv"] {
            let path = folder.path().join(name);
            write_labels(&path, &labels, file.names.as_ref()).unwrap();
            prop_assert_eq!(&read_labels(&path, labels.len(), file.names.as_ref()).unwrap(), &labels, "{}", name);
        }
    }

    #[test]
    fn labels_round_trip(labels in prop::collection::vec(-1..50i32, 1..40)) {
        let folder = TempDir::new().unwrap();
        for name in ["l.txt", "l.csv", "l.txt.gz", "l.txt.zst", "l.npy", "l"] {
            let path = folder.path().join(name);
            write_labels(&path, &labels, None).unwrap();
            prop_assert_eq!(&read_labels(&path, labels.len(), None).unwrap(), &labels);
        }
    }

    /// The readers' promise in small; `fuzz/` keeps it in large.
    #[test]
    fn damaged_files_never_panic(damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6), cut in any::<prop::sample::Index>()) {
        let graph = Graph::from_edges(4, [(0, 1, 0.5), (1, 2, 2.0), (2, 3, 1.0)]).unwrap();
        let whole = Graph::from_edges(4, [(0, 1, 1.0), (1, 2, 2.0), (2, 3, 1.0)]).unwrap();
        let folder = TempDir::new().unwrap();
        for name in ["g.txt", "g.mtx", "g.mtx.gz", "g.mtx.zst", "g.graph", "g.npz"] {
            let path = folder.path().join(name);
            write_graph(&path, if name == "g.graph" { &whole } else { &graph }, None).unwrap();
            let mut bytes = fs::read(&path).unwrap();
            for (place, value) in &damage {
                let place = place.index(bytes.len());
                bytes[place] = *value;
            }
            bytes.truncate(cut.index(bytes.len()) + 1);
            fs::write(&path, bytes).unwrap();
            let _ = read_graph(&path, &ReadOptions::default(), &Clock::new());
            let _ = read_labels(&path, 4, None);
        }
    }
}

#[test]
fn thirty_two_bit_weights_stay_thirty_two_bit() {
    let (offsets, neighbors) = (vec![0u64, 1, 2], vec![1u32, 0]);
    let weights = Weights::F32(vec![0.1f32, 0.1].into());
    let graph = Graph::from_csr(offsets, neighbors, weights, Symmetrize::Refuse).unwrap();
    let back = written_and_read(&graph, "g.npz").graph;
    assert!(matches!(back.weights(), Weights::F32(weights) if weights[..] == [0.1f32, 0.1]));
}

#[test]
fn unit_weights_take_no_room() {
    for text in ["1 2\n2 3\n", "1 2 1\n2 3 1.0\n"] {
        assert!(matches!(parse_edges(text).unwrap().graph.weights(), Weights::Unit));
    }
}

#[test]
fn ids_are_numbered_by_first_appearance() {
    let file = parse_edges("# a comment\n% another\n\n 42  -7 \n-7\tx1 \nx1 42\n").unwrap();
    let names = file.names.unwrap();
    assert_eq!(names.iter().collect::<Vec<_>>(), ["42", "-7", "x1"]);
    assert_eq!(file.graph.n_edges(), 3);
}

#[test]
fn a_first_line_is_a_header_only_if_it_can_be_nothing_else() {
    let n_edges = |text: &str| parse_edges(text).map(|file| file.graph.n_edges());
    assert_eq!(n_edges("a b weight\n1 2 3\n").unwrap(), 1, "the weight is not a number");
    assert_eq!(n_edges("Source,Target\n1,2\n").unwrap(), 1, "known names");
    assert_eq!(n_edges("dst src\n1 2\n").unwrap(), 1, "known names, other way round");
    assert_eq!(n_edges("a b\nc d\n").unwrap(), 2, "ids may be words");
    assert!(n_edges("p q\n1 2\n").unwrap_err().to_string().contains("--header yes or --header no"));
    assert_eq!(n_edges("a b\n1 2\n").unwrap(), 1, "letters over numbers");
    assert_eq!(n_edges("a b 7\n1 2 3\n").unwrap(), 2, "a number is a weight");
    for bad in ["a b nan\n1 2 3\n", "a b inf\n1 2 3\n", "a b -1\n"] {
        let error = n_edges(bad).unwrap_err().to_string();
        assert!(error.starts_with("line 1: the weight"), "{error}");
    }
    let with = |header, text: &str| {
        let options = ReadOptions { header, ..ReadOptions::default() };
        parse_graph(text.as_bytes(), GraphFormat::EdgeList(Separator::Detect), &options)
            .unwrap()
            .graph
            .n_edges()
    };
    assert_eq!(with(Header::Yes, "a b\n1 2\n"), 1);
    assert_eq!(with(Header::No, "source target\n1 2\n"), 2);
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_are_no_part_of_ids() {
    let file = parse_edges("\u{feff}a,b\r\nb,c\r\n").unwrap();
    assert_eq!(file.names.unwrap().iter().collect::<Vec<_>>(), ["a", "b", "c"]);
}

#[test]
fn an_empty_id_is_refused() {
    for (text, separator) in [("a,b,1\na,,1\n", Separator::Comma), ("a\tb\t1\na\t\t1\n", Separator::Tab)] {
        let error = parse_graph(text.as_bytes(), GraphFormat::EdgeList(separator), &ReadOptions::default());
        assert_eq!(error.unwrap_err().to_string(), "line 2: an id is empty; an edge needs two");
    }
}

#[test]
fn parallel_edges_add_up_and_zeros_are_dropped() {
    let file = parse_edges("a b 1\nb a 2\na c 0\n").unwrap();
    assert_eq!(file.graph.n_nodes(), 3);
    assert_eq!(file.graph.degrees(), [3.0, 3.0, 0.0]);
}

#[test]
fn a_gzip_with_two_members_is_read_whole() {
    let member = |text: &str| {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        packer.write_all(text.as_bytes()).unwrap();
        packer.finish().unwrap()
    };
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("g.txt.gz");
    fs::write(&path, [member("a b\n"), member("b c\n")].concat()).unwrap();
    assert_eq!(read(&path).graph.n_edges(), 2);
}

#[test]
fn the_bytes_of_a_file_are_read_as_the_file_is() {
    let graph = Graph::from_edges(4, [(0, 1, 5.0), (1, 2, 0.25), (2, 3, 5.0)]).unwrap();
    let folder = TempDir::new().unwrap();
    for name in
        ["g.txt", "g.csv.gz", "g.tsv", "g.mtx", "g.graphml", "g.gml", "g.json.gz", "g.net", "g.npz", "g.ncut"]
    {
        let path = folder.path().join(name);
        write_graph(&path, &graph, None).unwrap();
        let (bytes, options) = (fs::read(&path).unwrap(), ReadOptions::default());
        let file = parse_graph_file(&bytes, Path::new(name), &options, &Clock::new()).unwrap();
        assert_same(&file.graph, &read(&path).graph);
    }
    let refused = |bytes: &[u8], name: &str| {
        let options = ReadOptions::default();
        parse_graph_file(bytes, Path::new(name), &options, &Clock::new()).unwrap_err().to_string()
    };
    assert!(refused(b"1 2\n1 2 -3\n", "g.txt").starts_with("g.txt, line 2: "));
    assert!(refused(b"1 2\n", "g.doc").starts_with("g.doc: unknown kind of graph file"));
    assert!(refused(b"no gzip", "g.txt.gz").starts_with("g.txt.gz"));
}

#[test]
fn the_bytes_of_a_table_are_read_as_the_file_is() {
    let text = "id,x,y\none,1,2\ntwo,3,4.5\n";
    let options = TableOptions { id_column: Some("id".into()), ..TableOptions::default() };
    let file = parse_table_file(text.as_bytes(), Path::new("t.csv"), &options, &Clock::new()).unwrap();
    assert_eq!((file.table.n_rows(), file.table.column_names().join(" ")), (2, "x y".to_owned()));
    assert_eq!(file.names.unwrap().get(1), "two");
    let problem =
        parse_table_file(b"1,2\n3,x\n", Path::new("t.csv"), &TableOptions::default(), &Clock::new());
    assert!(problem.unwrap_err().to_string().starts_with("t.csv, line 2: "));
}

#[test]
fn a_clock_goes_by_the_time_that_it_is_told() {
    static MILLISECONDS: AtomicU64 = AtomicU64::new(5);
    let time = || Duration::from_millis(MILLISECONDS.load(Ordering::Relaxed));
    let clock = Clock::new().timed_by(time);
    clock.limit(Duration::from_millis(10));
    MILLISECONDS.store(14, Ordering::Relaxed);
    assert_eq!((clock.check(), clock.left()), (Ok(()), Some(Duration::from_millis(1))));
    MILLISECONDS.store(15, Ordering::Relaxed);
    assert_eq!(clock.check(), Err(Stopped(StopReason::TimeLimit)));
}

#[test]
fn matrix_market_is_read_as_general_and_symmetric() {
    let parse = |text: &str| parse_graph(text.as_bytes(), GraphFormat::MatrixMarket, &ReadOptions::default());
    let general =
        "%%MatrixMarket matrix coordinate integer general\n% x\n3 3 5\n1 2 5\n2 1 5\n2 3 1\n3 2 1\n3 3 4\n";
    let symmetric = "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n2 1 5\n3 2 1\n3 3 4\n";
    assert_same(&parse(general).unwrap().graph, &parse(symmetric).unwrap().graph);
    assert_eq!(parse(symmetric).unwrap().graph.self_loop(2), 4.0);
    let one_triangle = "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 3\n";
    let error = parse(one_triangle).unwrap_err().to_string();
    assert!(error.contains("(1, 3) is 1") && error.contains("symmetrize"), "{error}");
    let options = ReadOptions { symmetrize: Symmetrize::Max, ..ReadOptions::default() };
    let graph = parse_graph(one_triangle.as_bytes(), GraphFormat::MatrixMarket, &options).unwrap().graph;
    assert_eq!(graph.edges().collect::<Vec<_>>(), [(0, 2, 1.0)]);
}

#[test]
fn all_metis_format_codes_are_read() {
    let path = [(0, 1, 1.0), (1, 2, 1.0)];
    let weighted = [(0, 1, 5.0), (1, 2, 7.0)];
    for (text, edges) in [
        ("4 2\n2\n1 3\n2\n\n", path),
        ("% comment\n4 2 0\n2\n1 3\n% comment\n2\n\n", path),
        ("4 2 1\n2 5\n1 5 3 7\n2 7\n\n", weighted),
        ("4 2 001\n2 5\n1 5 3 7\n2 7\n\n", weighted),
        ("4 2 010\n9 2\n9 1 3\n9 2\n9\n", path),
        ("4 2 10 2\n9 9 2\n9 9 1 3\n9 9 2\n9 9\n", path),
        ("4 2 011\n9 2 5\n9 1 5 3 7\n9 2 7\n9\n", weighted),
        ("4 2 100\n8 2\n8 1 3\n8 2\n8\n", path),
        ("4 2 101\n8 2 5\n8 1 5 3 7\n8 2 7\n8\n", weighted),
        ("4 2 110 3\n8 9 9 9 2\n8 9 9 9 1 3\n8 9 9 9 2\n8 9 9 9\n", path),
        ("4 2 111 1\n8 9 2 5\n8 9 1 5 3 7\n8 9 2 7\n8 9\n", weighted),
    ] {
        let file = parse_graph(text.as_bytes(), GraphFormat::Metis, &ReadOptions::default()).unwrap();
        assert_same(&file.graph, &Graph::from_edges(4, edges).unwrap());
        assert_eq!(file.graph.n_isolated(), 1);
    }
}

/// So many lines that they are read in portions, by several threads.
#[test]
fn long_metis_files_are_read_like_short_ones() {
    let n_nodes = 120_000;
    let wheel = |node: u32| [(node + n_nodes - 1) % n_nodes, (node + 1) % n_nodes];
    let mut lines = vec![format!("{n_nodes} {n_nodes} 011")];
    for node in 0..n_nodes {
        let weight = |other: u32| if node.abs_diff(other) == 1 { node.min(other) % 7 + 1 } else { 9 };
        let [before, after] = wheel(node).map(|other| format!("{} {}", other + 1, weight(other)));
        if node % 1000 == 999 {
            lines.push(format!("% about node {node}"));
        }
        lines.push(format!("1 {before}\t{after} "));
    }
    let read = |lines: &[String]| {
        parse_graph(lines.join("\n").as_bytes(), GraphFormat::Metis, &ReadOptions::default())
            .map_err(|error| error.to_string())
    };
    let weight = |node: u32| if node + 1 == n_nodes { 9.0 } else { f64::from(node % 7 + 1) };
    let edges = (0..n_nodes).map(|node| (node, (node + 1) % n_nodes, weight(node)));
    let expected = Graph::from_edges(n_nodes as usize, edges).unwrap();
    assert_same(&read(&lines).unwrap().graph, &expected);
    let n_lines = lines.len();
    let with = |line: usize, text: &str| {
        let mut lines = lines.clone();
        lines.resize(n_lines.max(line), " ".to_string());
        lines[line - 1] = text.to_string();
        read(&lines)
    };
    assert_same(&with(n_lines + 300, "\t").unwrap().graph, &expected);
    for (line, text, cause) in [
        (90_001, "1 2 3 x 1", "`x` is no node; the nodes are 1 to 120000"),
        (90_001, "1 120001 3 1 1", "`120001` is no node"),
        (90_001, "1 2 3 4", "neighbour 4 has no weight"),
        (90_001, "", "node 89911 lacks a weight or size"),
        (90_001, "1 2 \u{e9}", "is not a number"),
        (n_lines + 1, "1", "the header promises 120000 nodes, here is one more"),
        (n_lines + 70_000, "1 x", "the header promises 120000 nodes, here is one more"),
    ] {
        let error = with(line, text).unwrap_err();
        assert!(error.contains(&format!("line {line}")) && error.contains(cause), "{text:?}: {error}");
    }
    let error = read(&lines[..n_lines - 1]).unwrap_err();
    assert!(error.contains("the file ends after 119999"), "{error}");
}

#[test]
fn metis_cannot_hold_fractions_or_self_loops() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("g.graph");
    for edges in [[(0, 1, 0.5)], [(0, 0, 1.0)]] {
        let error = write_graph(&path, &Graph::from_edges(2, edges).unwrap(), None).unwrap_err().to_string();
        assert!(error.contains("METIS") && error.contains(".mtx"), "{error}");
        assert!(!path.exists());
    }
}

#[test]
fn labels_are_read_by_id_in_any_order() {
    let file = parse_edges("a b\nb c\n").unwrap();
    let names = file.names.as_ref();
    let parse = |text: &str| parse_labels(text.as_bytes(), LabelFormat::Text, 3, names);
    assert_eq!(parse("c 2\na 0\nb -1\n").unwrap(), [0, -1, 2]);
    assert_eq!(parse("id,label\nc,2\na,0\nb,1\n").unwrap(), [0, 1, 2]);
    assert_eq!(parse("2\n1\n0\n").unwrap(), [2, 1, 0], "one column is in node order");
    assert_eq!(parse("2.000e+00\n1\n0.0\n").unwrap(), [2, 1, 0], "as numpy.savetxt writes them");
    for (bad, cause) in [
        ("a 0\nb 1\n", "node `c` has no label"),
        ("a 0\nb 1\nc 1\nd 1\n", "line 4: `d` is no node"),
        ("a 0\nb 1\na 1\n", "line 3: `a` has a label already"),
        ("0\n1\n", "holds 2 labels, but the graph has 3 nodes"),
        ("0\n1\n2\n3\n", "holds 4 labels, but the graph has 3 nodes"),
        ("0\n1\nx\n", "line 3: `x` is no label"),
        ("0\n1\n-2\n", "line 3: `-2` is no label"),
        ("0\n1\n1.5\n", "line 3: `1.5` is no label"),
        ("0\n1\n99999999999\n", "line 3: `99999999999` is no label"),
        ("0\na 1\n", "line 2: a line is a label, or an id and a label"),
    ] {
        let error = parse(bad).unwrap_err().to_string();
        assert!(error.contains(cause), "{bad:?}: {error}");
    }
}

#[test]
fn an_output_that_fails_leaves_what_was_there() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("out.txt");
    fs::write(&path, "precious").unwrap();
    let failed = ncut::io::write_whole(&path, |file| {
        file.write_all(b"half")?;
        Err(std::io::Error::other("the disk is full"))
    });
    assert!(failed.unwrap_err().to_string().contains("the disk is full"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
}

#[cfg(unix)]
#[test]
fn an_output_keeps_its_permissions_and_goes_behind_links() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = TempDir::new().unwrap();
    let (target, link) = (folder.path().join("target.txt"), folder.path().join("link.txt"));
    fs::write(&target, "old").unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&target, &link).unwrap();
    write_labels(&link, &[0, 1], None).unwrap();
    assert_eq!(fs::read_to_string(&target).unwrap(), "0\n1\n");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
    write_labels(Path::new("/dev/null"), &[0, 1], None).unwrap();
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}

#[test]
fn reading_can_be_stopped() {
    let text: String = (0..40_000).map(|node| format!("{node} {}\n", node + 1)).collect();
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("path.txt");
    fs::write(&path, text).unwrap();
    let mut seen = Vec::new();
    let stopped = read_graph(
        &path,
        &ReadOptions::default(),
        &Clock::observed(|progress| {
            seen.push((progress.done, progress.total));
            ControlFlow::Break(())
        }),
    );
    assert!(matches!(stopped, Err(Error::Stopped { .. })));
    assert_eq!(seen.len(), 1);
    assert!(seen[0].0 > 0 && seen[0].0 <= seen[0].1);
}

#[test]
fn writing_can_be_stopped_and_leaves_what_was_there() {
    let folder = TempDir::new().unwrap();
    let graph = Graph::from_edges(300_000, (1..300_000u32).map(|node| (node - 1, node, 0.1))).unwrap();
    for name in ["g.txt", "g.txt.gz", "g.tsv.zst", "g.mtx", "g.npz", "g.ncut"] {
        let path = folder.path().join(name);
        fs::write(&path, "precious").unwrap();
        let stop = |progress: &Progress| match (progress.stage, progress.done) {
            (Stage::Write, 1..) => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        };
        let clock = Clock::observed(stop).calling_every(Duration::ZERO);
        let error = write_graph_by(&path, &graph, None, &clock).unwrap_err();
        assert!(matches!(error, Error::Stopped { reason: StopReason::Cancelled }), "{name}: {error:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "precious", "{name}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 6);
}

#[test]
fn nearly_symmetric_matrices_are_averaged() {
    let build = |upper: f64, lower: f64| {
        Graph::from_entries(
            2,
            &[(0, 1), (1, 0)],
            &Weights::F64(vec![upper, lower].into()),
            Symmetrize::Refuse,
        )
    };
    let graph = build(1.0, 1.0 + 1e-11).unwrap();
    assert!(close(graph.degree(0), 1.0 + 5e-12) && graph.degree(0) == graph.degree(1));
    let error = build(1.0, 1.0 + 1e-9).unwrap_err().to_string();
    assert!(error.contains("(0, 1)") && error.contains("(1, 0)"), "{error}");
}

/// An array for an archive: name, NumPy's type, shape, bytes.
type Array<'a> = (&'a str, &'a str, &'a str, Vec<u8>);

fn npz(arrays: &[Array<'_>]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, descr, shape, data) in arrays {
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(format!("{name}.npy"), options).unwrap();
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
        archive.write_all(b"\x93NUMPY\x01\x00").unwrap();
        archive.write_all(&(header.len() as u16).to_le_bytes()).unwrap();
        archive.write_all(header.as_bytes()).unwrap();
        archive.write_all(data).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn i64s(numbers: &[i64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn f64s(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// The path 0 - 1 - 2 with weights 2 and 3, as a csr matrix.
fn path_arrays() -> Vec<Array<'static>> {
    vec![
        ("format", "|S3", "()", b"csr".to_vec()),
        ("shape", "<i8", "(2,)", i64s(&[3, 3])),
        ("indptr", "<i8", "(4,)", i64s(&[0, 1, 3, 4])),
        ("indices", "<i8", "(4,)", i64s(&[1, 0, 2, 1])),
        ("data", "<f8", "(4,)", f64s(&[2.0, 2.0, 3.0, 3.0])),
    ]
}

/// The path with some arrays replaced.
fn path_with(changes: &[Array<'static>]) -> Vec<u8> {
    let mut arrays = path_arrays();
    for change in changes {
        match arrays.iter_mut().find(|array| array.0 == change.0) {
            Some(array) => *array = change.clone(),
            None => arrays.push(change.clone()),
        }
    }
    npz(&arrays)
}

#[test]
fn scipys_matrices_are_read_in_all_forms() {
    let path = Graph::from_edges(3, [(0, 1, 2.0), (1, 2, 3.0)]).unwrap();
    let unit = Graph::from_edges(3, [(0, 1, 1.0), (1, 2, 1.0)]).unwrap();
    let i32s = |numbers: &[i32]| numbers.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>();
    let big = |numbers: &[f64]| numbers.iter().flat_map(|n| n.to_be_bytes()).collect::<Vec<u8>>();
    let halves: Vec<u8> = [0x4000u16, 0x4000, 0x4200, 0x4200].iter().flat_map(|n| n.to_le_bytes()).collect();
    let coo: Vec<Array<'static>> = vec![
        ("format", "<U3", "()", b"c\0\0\0o\0\0\0o\0\0\0".to_vec()),
        ("row", "<i4", "(4,)", i32s(&[2, 0, 1, 1])),
        ("col", "<i4", "(4,)", i32s(&[1, 1, 2, 0])),
        ("data", "<f4", "(4,)", [3f32, 2.0, 3.0, 2.0].iter().flat_map(|n| n.to_le_bytes()).collect()),
    ];
    for (changes, expected) in [
        (vec![], &path),
        (vec![("format", "|S3", "()", b"csc".to_vec())], &path),
        (coo, &path),
        (
            vec![
                ("indices", "<i4", "(4,)", i32s(&[1, 0, 2, 1])),
                ("indptr", "<i4", "(4,)", i32s(&[0, 1, 3, 4])),
            ],
            &path,
        ),
        (
            vec![
                ("indices", "<i4", "(4,)", i32s(&[1, 2, 0, 1])),
                ("data", "<f8", "(4,)", f64s(&[2.0, 3.0, 2.0, 3.0])),
            ],
            &path,
        ),
        (vec![("data", ">f8", "(4,)", big(&[2.0, 2.0, 3.0, 3.0]))], &path),
        (vec![("data", "<f2", "(4,)", halves)], &path),
        (vec![("data", "<i8", "(4,)", i64s(&[2, 2, 3, 3]))], &path),
        (vec![("data", "|u1", "(4,)", vec![2, 2, 3, 3])], &path),
        (vec![("data", "|b1", "(4,)", vec![1; 4])], &unit),
    ] {
        let graph =
            parse_graph(&path_with(&changes), GraphFormat::Npz, &ReadOptions::default()).unwrap().graph;
        assert_same(&graph, expected);
    }
}

#[test]
fn thirty_two_bit_entries_in_any_order_stay_thirty_two_bit() {
    let data: Vec<u8> = [0.1f32; 4].iter().flat_map(|n| n.to_le_bytes()).collect();
    let bytes = path_with(&[
        ("format", "|S3", "()", b"coo".to_vec()),
        ("row", "<i8", "(4,)", i64s(&[0, 1, 1, 2])),
        ("col", "<i8", "(4,)", i64s(&[1, 0, 2, 1])),
        ("data", "<f4", "(4,)", data),
    ]);
    let graph = parse_graph(&bytes, GraphFormat::Npz, &ReadOptions::default()).unwrap().graph;
    assert!(matches!(graph.weights(), Weights::F32(_)));
}

#[test]
fn bad_matrices_of_scipy_are_refused() {
    let refused = |changes: &[Array<'static>]| {
        parse_graph(&path_with(changes), GraphFormat::Npz, &ReadOptions::default()).unwrap_err().to_string()
    };
    for (change, cause) in [
        (
            ("indices", "<i8", "(4,)", i64s(&[1, 0, 3, 1])),
            "array `indices` holds 3 at place 2, which is out of range",
        ),
        (("indices", "<i8", "(4,)", i64s(&[1, 0, -1, 1])), "array `indices` holds -1 at place 2"),
        (("indices", "<i8", "(3,)", i64s(&[1, 0, 2])), "there are 3 `indices` but 4 `data`"),
        (
            ("indices", "<f8", "(4,)", f64s(&[1.0, 0.5, 2.0, 1.0])),
            "array `indices` holds 0.5, which is no integer",
        ),
        (("indptr", "<i8", "(3,)", i64s(&[0, 1, 4])), "`indptr` has 3 numbers, but 3 rows need 4"),
        (("indptr", "<i8", "(4,)", i64s(&[0, 3, 1, 4])), "the row offsets fall from 3 to 1 at row 1"),
        (
            ("indptr", "<i8", "(4,)", i64s(&[0, 1, 3, 5])),
            "the row offsets end at 5, but there are 4 column numbers",
        ),
        (("data", "<f8", "(4,)", f64s(&[2.0, 2.0, f64::NAN, 3.0])), "the weight of (1, 2) is NaN"),
        (("data", "<f8", "(4,)", f64s(&[2.0, 2.0, -3.0, -3.0])), "the weight of (1, 2) is -3"),
        (("data", "<f8", "(4,)", f64s(&[2.0, 2.0, f64::INFINITY, 3.0])), "the weight of (1, 2) is inf"),
        (
            ("data", "<f8", "(4,)", f64s(&[2.0, 2.0, 3.0, 4.0])),
            "the weight of (1, 2) is 3, that of (2, 1) is 4",
        ),
        (("data", "<f8", "(0,)", vec![]), "there are 4 `indices` but 0 `data`"),
        (("data", "<f8", "(9,)", f64s(&[1.0; 9])), "there are 4 `indices` but 9 `data`"),
        (("data", "<c16", "(4,)", vec![0; 64]), "numbers of type '<c16'"),
        (("data", "<f8", "(4,)", f64s(&[2.0; 3])), "array `data` is cut short"),
        (("data", "<f8", "(4,)", f64s(&[2.0; 5])), "array `data` is longer than its header says"),
        (("data", "<f8", "(9999999999999999999999,)", vec![]), "has an impossible shape"),
        (("data", "<f8", "(4611686018427387904,)", vec![]), "has an impossible shape"),
        (("shape", "<i8", "(2,)", i64s(&[3, 4])), "the matrix has 3 rows and 4 columns"),
        (("shape", "<i8", "(2,)", i64s(&[0, 0])), "`indptr` has 4 numbers, but 0 rows need 1"),
        (("shape", "<i8", "(1,)", i64s(&[3])), "the matrix has the impossible shape [3]"),
        (("format", "|S3", "()", b"dia".to_vec()), "the matrix format `dia` cannot be read"),
    ] {
        let error = refused(&[change]);
        assert!(error.contains(cause), "expected «{cause}», got «{error}»");
    }
    let features = npz(&[("X", "<f8", "(1,)", f64s(&[1.0]))]);
    let error = parse_graph(&features, GraphFormat::Npz, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("is no matrix of scipy.sparse.save_npz (its arrays are: X)"), "{error}");
}

#[test]
fn halves_of_the_smallest_weight_are_no_edges() {
    let entries = [(0, 1), (1, 2), (2, 1)];
    let weights = Weights::F64(vec![5e-324, 1.0, 1.0].into());
    let graph = Graph::from_entries(3, &entries, &weights, Symmetrize::Average).unwrap();
    assert_eq!(graph.edges().collect::<Vec<_>>(), [(1, 2, 1.0)]);
    assert_eq!(ncut::Ncut::new(1).solve(&graph).unwrap().labels, [0, 0, 0]);
}

#[test]
fn ambiguous_separators_are_not_guessed() {
    for text in ["1 2 0,5\n", "a,b c 1\n"] {
        let error = parse_edges(text).unwrap_err().to_string();
        assert!(error.starts_with("line 1: commas or white"), "{error}");
    }
    let csv = |text: &str| {
        parse_graph(text.as_bytes(), GraphFormat::EdgeList(Separator::Comma), &ReadOptions::default())
    };
    let vinyl = csv("12\" vinyl,shop\n12\" vinyl,home\n").unwrap();
    assert_eq!(vinyl.names.unwrap().iter().collect::<Vec<_>>(), ["12\" vinyl", "shop", "home"]);
    let error = parse_edges("a b {'weight': 1}\n").unwrap_err().to_string();
    assert!(error.contains("write_weighted_edgelist"), "{error}");
    assert_eq!(parse_edges("1,2,\n2,3,1\n").unwrap_err().to_string(), "line 1: the weight is missing");
    assert_eq!(parse_edges("a b w\n1 2 3\n").unwrap().header.as_deref(), Some("a b w"));
}

/// An edge list of many portions, with everything that is unusual somewhere in it.
fn long_list() -> String {
    let mut text = String::from("# ids, words and weights\n");
    let mut state = 1u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    for line in 0..120_000 {
        let (from, to) = (next(5_000), next(5_000));
        let weight = next(1_000) as f64 / 8.0;
        text += &match line % 1_000 {
            0 => format!("node{from} {to} {weight}\n"),
            1 => format!("0{from}\t \"a b\" {weight:e}\r\n"),
            2 => "% nothing\n\n".into(),
            3 => format!("{from}0000000000000000 {to} 0.1234567890123456789\n"),
            4 => format!("  {from} {to} {weight:.20}  \n"),
            _ => format!("{from} {to} {weight}\n"),
        };
    }
    text
}

#[test]
fn a_long_list_reads_the_same_with_any_number_of_threads() {
    let text = long_list();
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("long.txt");
    fs::write(&path, &text).unwrap();
    // The rules, line by line.
    let mut ids: Vec<String> = Vec::new();
    let mut places = BTreeMap::new();
    let mut edges = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with(['#', '%'])) {
        let line = line.replace("\"a b\"", "a_b");
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut node = |id: &str| {
            let id = id.replace('_', " ");
            *places.entry(id.clone()).or_insert_with(|| {
                ids.push(id);
                ids.len() as u32 - 1
            })
        };
        edges.push((node(words[0]), node(words[1]), words[2].parse::<f64>().unwrap()));
    }
    let expected = Graph::from_edges(ids.len(), edges).unwrap();
    for n_threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        let file = pool.install(|| read(&path));
        assert_same(&file.graph, &expected);
        assert_eq!(file.graph.degrees(), expected.degrees());
        assert!(file.names.unwrap().iter().eq(ids.iter().map(String::as_str)));
    }
}

#[test]
fn the_first_bad_line_of_a_long_list_is_named() {
    let mut lines: Vec<String> = long_list().lines().map(str::to_string).collect();
    for (place, bad, problem) in [
        (110_000, "1 2 x", "the weight `x` is not a number"),
        (90_000, "1 2", "this line has 2 columns, the first edge has 3"),
        (60_001, "1 2 -3", "the weight -3 is negative"),
        (7, "1 2 1 4", "an edge is `from to`"),
    ] {
        lines[place - 1] = bad.into();
        let error = parse_edges(&lines.join("\n")).unwrap_err().to_string();
        assert!(error.starts_with(&format!("line {place}: {problem}")), "{error}");
    }
    let mut bytes = long_list().into_bytes();
    let place = bytes.len() / 2;
    bytes[place] = 0xff;
    let line = 1 + bytes[..place].iter().filter(|&&byte| byte == b'\n').count();
    let format = GraphFormat::EdgeList(Separator::Detect);
    let error = parse_graph(&bytes, format, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.starts_with(&format!("line {line}: this is not UTF-8 text")), "{error}");
}

#[test]
fn matrix_market_counts_its_entries_and_lines() {
    let entries: String = (1..60_000)
        .map(|row| format!("{} {row} 0.5\n{}", row + 1, if row % 100 == 0 { "% x\n" } else { "" }))
        .collect();
    let parse = |n_entries: usize, entries: &str| {
        let text =
            format!("%%MatrixMarket matrix coordinate real symmetric\n60000 60000 {n_entries}\n{entries}");
        parse_graph(text.as_bytes(), GraphFormat::MatrixMarket, &ReadOptions::default())
    };
    assert_eq!(parse(59_999, &entries).unwrap().graph.n_edges(), 59_999);
    let error = parse(59_000, &entries).unwrap_err().to_string();
    // Two lines before the entries, a comment after every hundredth.
    assert_eq!(error, "line 59593: the size line promises 59000 entries, here is one more");
    assert!(parse(60_000, &entries).unwrap_err().to_string().contains("the file ends after 59999"));
    let error =
        parse(59_999, &entries.replacen("30001 30000 0.5", "30001 60001 0.5", 1)).unwrap_err().to_string();
    assert_eq!(error, "line 30301: `60001` is no node; the nodes are 1 to 60000");
}
