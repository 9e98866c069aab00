//! Broken files and calls: a message that names file, place and cause; exit code 1; nothing touched.

mod common;

use std::fs;
use std::io::Write;

use common::{Bench, TRIANGLES};

/// A file, how it is called, and what must be said about it.
struct Case {
    name: &'static str,
    content: Vec<u8>,
    message: &'static str,
}

fn case(name: &'static str, content: impl Into<Vec<u8>>, message: &'static str) -> Case {
    Case { name, content: content.into(), message }
}

fn gzip(text: &str) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(text.as_bytes()).unwrap();
    packer.finish().unwrap()
}

fn cut_short(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(bytes.len() * 2 / 3);
    bytes
}

/// A matrix written by `ncut convert`, for breaking.
fn npz() -> Vec<u8> {
    let bench = Bench::new().with("g.txt", TRIANGLES);
    assert_eq!(bench.run("convert g.txt g.npz").code, Some(0));
    fs::read(bench.path("g.npz")).unwrap()
}

const MTX: &str = "%%MatrixMarket matrix coordinate real symmetric\n";
const GENERAL: &str = "%%MatrixMarket matrix coordinate real general\n";

fn broken_graphs() -> Vec<Case> {
    let long = TRIANGLES.repeat(400);
    vec![
        // Edge lists.
        case("g.txt", "", "g.txt: holds no edges"),
        case("g.txt", "# only\n\n% comments\n", "g.txt: holds no edges"),
        case(
            "g.txt",
            "a\nb\n",
            "g.txt, line 1: an edge is `from to` or `from to weight`, but this line has 1 column",
        ),
        case(
            "g.txt",
            "a b 1 9\n",
            "g.txt, line 1: an edge is `from to` or `from to weight`, but this line has 4",
        ),
        case("g.txt", "a b 1\nb c\n", "g.txt, line 2: this line has 2 columns, the first edge has 3"),
        case("g.txt", "a b 1\nb c x\n", "g.txt, line 2: the weight `x` is not a number"),
        case("g.txt", "a b 1\n\nb c -2\n", "g.txt, line 3: the weight -2 is negative"),
        case("g.txt", "a b nan\n", "g.txt, line 1: the weight is nan; weights must be finite"),
        case("g.txt", "a b 1\nb c inf\n", "g.txt, line 2: the weight is inf; weights must be finite"),
        case("g.txt", "a b 1\nb c 1e400\n", "g.txt, line 2: the weight 1e400 is too large"),
        case("g.txt", "a b 1e308\nb c 1e308\n", "g.txt: the weights add up to more than"),
        case("g.csv", "a,b,1\na,,1\n", "g.csv, line 2: an id is empty"),
        case("g.csv", "a,b\n\"c,d\n", "g.csv, line 2: a double quote is opened but not closed"),
        case("g.txt", b"\x7fELF\x00\x01\x02\xff\xfe\x00".as_slice(), "g.txt, line 1: this is not UTF-8 text"),
        case("g.txt", b"a b\nb \xff\xfe\n".as_slice(), "g.txt, line 2: this is not UTF-8 text"),
        // Compression.
        case("g.txt.gz", cut_short(gzip(&long)), "the compressed data is cut short"),
        case("g.txt.gz", TRIANGLES, "g.txt.gz: cannot be read: invalid gzip header"),
        case("g.txt.gz", "", "g.txt.gz: the compressed data is cut short"),
        case("g.txt.zst", TRIANGLES, "g.txt.zst: cannot be read"),
        case("g.txt.zst", cut_short(zstd::encode_all(long.as_bytes(), 0).unwrap()), "cut short"),
        // Matrix Market.
        case("g.mtx", "", "g.mtx: is empty"),
        case("g.mtx", "3 3 1\n1 2 1\n", "g.mtx, line 1: a Matrix Market file starts with"),
        case(
            "g.mtx",
            "%%MatrixMarket matrix array real general\n2 2\n1\n",
            "g.mtx, line 1: `matrix array` cannot be read",
        ),
        case(
            "g.mtx",
            "%%MatrixMarket matrix coordinate complex general\n1 1 0\n",
            "g.mtx, line 1: `complex` weights",
        ),
        case(
            "g.mtx",
            "%%MatrixMarket matrix coordinate real hermitian\n1 1 0\n",
            "g.mtx, line 1: a `hermitian` matrix",
        ),
        case("g.mtx", MTX, "g.mtx, line 1: the size line `rows columns entries` is missing"),
        case("g.mtx", format!("{MTX}3 3\n"), "g.mtx, line 2: the size line must be"),
        case("g.mtx", format!("{MTX}3 4 1\n1 2 1\n"), "g.mtx, line 2: the matrix has 3 rows and 4 columns"),
        case("g.mtx", format!("{MTX}0 0 0\n"), "g.mtx: the graph has no nodes"),
        case(
            "g.mtx",
            format!("{MTX}5000000000 5000000000 0\n"),
            "g.mtx, line 2: 5000000000 nodes are too many",
        ),
        case(
            "g.mtx",
            format!("{MTX}99999999999999999999 3 1\n"),
            "g.mtx, line 2: `99999999999999999999` is not a whole",
        ),
        case(
            "g.mtx",
            format!("{MTX}3 3 2\n2 1 1\n"),
            "g.mtx, line 3: the size line promises 2 entries, the file ends after 1",
        ),
        case(
            "g.mtx",
            format!("{MTX}3 3 1\n2 1 1\n3 1 1\n"),
            "g.mtx, line 4: the size line promises 1 entries, here is one more",
        ),
        case("g.mtx", format!("{MTX}3 3 1\n4 1 1\n"), "g.mtx, line 3: `4` is no node; the nodes are 1 to 3"),
        case("g.mtx", format!("{MTX}3 3 1\n0 1 1\n"), "g.mtx, line 3: `0` is no node"),
        case(
            "g.mtx",
            format!("{MTX}3 3 1\n99999999999999999999 1 1\n"),
            "g.mtx, line 3: `99999999999999999999` is no node",
        ),
        case("g.mtx", format!("{MTX}3 3 1\n2 1\n"), "g.mtx, line 3: the weight of this entry is missing"),
        case("g.mtx", format!("{MTX}3 3 1\n2 1 -1\n"), "g.mtx, line 3: the weight -1 is negative"),
        case(
            "g.mtx",
            format!("{MTX}3 3 1\n2 1 1 1\n"),
            "g.mtx, line 3: an entry is `row column weight`; `1` is too much",
        ),
        case(
            "g.mtx",
            format!("{GENERAL}3 3 1\n1 2 5\n"),
            "the weight of (1, 2) is 5, that of (2, 1) is 0; symmetrize",
        ),
        case("g.mtx", format!("{GENERAL}2 2 2\n1 2 5\n2 1 6\n"), "g.mtx: the matrix is not symmetric"),
        // METIS.
        case("g.graph", "", "g.graph: is empty"),
        case("g.graph", "3\n", "g.graph, line 1: the header must be `nodes edges"),
        case("g.graph", "3 1 7\n2\n1\n\n", "g.graph, line 1: the format `7` is unknown"),
        case("g.graph", "3 1 1 2\n", "g.graph, line 1: `3 1 1 2` gives a number of node weights"),
        case("g.graph", "3 1\n2\n1\n", "g.graph, line 3: the header promises 3 nodes, the file ends after 2"),
        case("g.graph", "2 1\n2\n1\n1\n", "g.graph, line 4: the header promises 2 nodes, here is one more"),
        case(
            "g.graph",
            "2 5\n2\n1\n",
            "g.graph, line 1: the header promises 5 edges, so 10 neighbours, but the lines hold 2",
        ),
        case("g.graph", "2 1\n3\n1\n", "g.graph, line 2: `3` is no node; the nodes are 1 to 2"),
        case("g.graph", "2 1 1\n2\n1 1\n", "g.graph, line 2: neighbour 2 has no weight"),
        case("g.graph", "2 1 10\n\n1 1\n", "g.graph, line 2: node 1 lacks a weight or size"),
        case(
            "g.graph",
            "3 1\n2\n3\n\n",
            "g.graph: the matrix is not symmetric: the weight of (1, 2) is 1, that of (2, 1)",
        ),
        case("g.graph", "x y\n", "g.graph, line 1: `x` is not a whole number"),
        // scipy.
        case("g.npz", "", "g.npz: is no .npz file, or a damaged one"),
        case("g.npz", TRIANGLES, "g.npz: is no .npz file, or a damaged one"),
        case("g.npz", cut_short(npz()), "g.npz: is no .npz file, or a damaged one"),
        // Names.
        case("g.xyz", TRIANGLES, "g.xyz: unknown kind of graph file; known endings are"),
        case("g", TRIANGLES, "g: unknown kind of graph file"),
        case("g.npz.gz", TRIANGLES, "g.npz.gz: an .npz file is compressed inside"),
    ]
}

#[test]
fn broken_graph_files_are_refused() {
    let cases = broken_graphs();
    assert!(cases.len() >= 40);
    for Case { name, content, message } in cases {
        let bench =
            Bench::new().with(name, &content).with("labels.txt", "precious").with("report.json", "precious");
        let shown = String::from_utf8_lossy(&content[..content.len().min(80)]).into_owned();
        for command in [
            format!("cluster {name} -k 1 -o labels.txt --json report.json"),
            format!("score {name} labels.txt --json report.json"),
            format!("convert {name} out.mtx"),
        ] {
            let ran = bench.run(&command);
            assert_eq!(ran.code, Some(1), "{command} on {shown:?}: {ran:?}");
            assert!(ran.stderr.starts_with("ncut: "), "{ran:?}");
            assert!(
                ran.stderr.contains(message),
                "{command} on {shown:?}: expected «{message}», got {}",
                ran.stderr
            );
            assert!(ran.stderr.contains(name) && !ran.stderr.contains("panicked"), "{ran:?}");
            assert_eq!(ran.stdout, "");
        }
        assert_eq!(bench.read("labels.txt"), "precious");
        assert_eq!(bench.read("report.json"), "precious");
        assert_eq!(bench.files().len(), 3, "nothing new is left behind: {:?}", bench.files());
    }
}

#[test]
fn damaged_arrays_are_refused_by_name() {
    // Flip bytes inside the packed arrays, behind their local headers: the checksums notice.
    let good = npz();
    let starts: Vec<usize> =
        good.windows(4).enumerate().filter(|(_, w)| w == b"PK\x03\x04").map(|(at, _)| at).collect();
    assert_eq!(starts.len(), 5);
    for start in starts {
        let mut bytes = good.clone();
        bytes[start + 75] ^= 0x55;
        let ran = Bench::new().with("g.npz", bytes).run("cluster g.npz -k 2");
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(
            ran.stderr.starts_with("ncut: g.npz: array `") && !ran.stderr.contains("panicked"),
            "{ran:?}"
        );
    }
}

#[test]
fn wrong_calls_are_refused() {
    let bench = Bench::new()
        .with("g.txt", TRIANGLES)
        .with("five.txt", "0\n0\n0\n1\n1\n")
        .with("text.txt", "0\n0\n0\n1\n1\nx\n")
        .with("one.txt", "0\n0\n0\n0\n0\n0\n")
        .with("good.txt", "0\n0\n0\n1\n1\n1\n")
        .with("labels.txt", "precious");
    fs::create_dir(bench.path("folder")).unwrap();
    fs::create_dir(bench.path("folder.mtx")).unwrap();
    for (command, message) in [
        ("cluster g.txt -k 0 -o labels.txt", "g.txt: 0 clusters were asked of 6 nodes; ask for at least 1"),
        (
            "cluster g.txt -k 7 -o labels.txt",
            "g.txt: 7 clusters were asked of 6 nodes; every cluster needs a node",
        ),
        ("cluster g.txt -k 3000000000 -o labels.txt", "g.txt: -k is 3000000000"),
        ("cluster g.txt -k 2 --min-share 2 -o labels.txt", "g.txt: --min-share is 2; it must be from 0 to 1"),
        (
            "cluster g.txt -k 2 --preset paper --min-share 0.5 -o labels.txt",
            "g.txt: --min-share is 0.5; it must be 0 with preset `paper`",
        ),
        (
            "cluster missing.txt -k 2 -o labels.txt",
            "missing.txt: cannot be opened: no such file or directory",
        ),
        ("cluster folder.mtx -k 2 -o labels.txt", "folder.mtx: is a directory, not a file"),
        ("cluster g.txt -k 2 -o folder", "folder: cannot be written: is a directory"),
        (
            "cluster g.txt -k 2 -o nowhere/labels.txt",
            "nowhere/labels.txt: cannot be written: no such file or directory",
        ),
        ("cluster g.txt -k 2 -o labels.npz", "labels.npz: labels cannot be written as this kind of file"),
        ("cluster g.txt -k 2 -o g.txt", "g.txt: the output would overwrite the input"),
        ("cluster g.txt -k 2 -o ./folder/../g.txt", "the output would overwrite the input"),
        (
            "cluster g.txt -k 2 --json nowhere/report.json -o labels.txt",
            "nowhere/report.json: cannot be written",
        ),
        (
            "cluster g.txt -k 2 --init five.txt -o labels.txt",
            "five.txt: holds 5 labels, but the graph has 6 nodes",
        ),
        ("cluster g.txt -k 2 --init text.txt -o labels.txt", "text.txt, line 6: `x` is no label"),
        (
            "cluster g.txt -k 2 --init one.txt -o labels.txt",
            "one.txt: the starting labels name 1 cluster, but 2 were asked for",
        ),
        ("cluster g.txt -k 2 --init missing.txt -o labels.txt", "missing.txt: cannot be opened"),
        ("cluster g.txt -k 2 --truth five.txt -o labels.txt", "five.txt: holds 5 labels"),
        ("score g.txt five.txt", "five.txt: holds 5 labels, but the graph has 6 nodes"),
        ("score g.txt good.txt --truth five.txt", "five.txt: holds 5 labels"),
        ("score g.txt missing.txt", "missing.txt: cannot be opened"),
        ("cluster g.txt -k 2 --truth good.txt -o good.txt", "good.txt: the output would overwrite the input"),
        ("cluster g.txt -k 2 -o new/", "new/: cannot be written"),
        ("score g.txt good.txt --json good.txt", "good.txt: the output would overwrite the input"),
        ("convert g.txt ./g.txt", "./g.txt: the output would overwrite the input"),
        ("convert g.txt out.xyz", "out.xyz: unknown kind of graph file"),
        ("convert g.txt nowhere/out.mtx", "nowhere/out.mtx: cannot be written"),
        (
            "convert g.txt out.graph",
            "out.graph: the METIS format has whole weights, but that of (2, 3) is 0.1",
        ),
        ("demo -o nowhere/picture.svg", "nowhere/picture.svg: cannot be written"),
    ] {
        let ran = bench.run(command);
        assert_eq!(ran.code, Some(1), "{command}: {ran:?}");
        assert!(ran.stderr.contains(message), "{command}: expected «{message}», got {}", ran.stderr);
        assert!(!ran.stderr.contains("panicked") && ran.stdout.is_empty(), "{ran:?}");
        assert_eq!(bench.read("labels.txt"), "precious", "{command}");
    }
    assert_eq!(bench.files().len(), 8, "nothing new is left behind: {:?}", bench.files());
}

#[test]
fn a_gzip_of_two_members_is_read_whole() {
    let bytes = [gzip("a b\n"), gzip("b c\n")].concat();
    let ran = Bench::new().with("g.txt.gz", bytes).run("cluster g.txt.gz -k 1");
    assert!(ran.stdout.starts_with("g.txt.gz: 3 nodes, 2 edges, 1 component\n"), "{ran:?}");
}

#[test]
fn damaged_binary_files_are_refused_by_every_command() {
    let bench = Bench::new().with("g.txt", TRIANGLES).with("l.txt", "0\n0\n0\n1\n1\n1\n");
    assert_eq!(bench.run("convert g.txt g.ncut").code, Some(0));
    let mut bytes = fs::read(bench.path("g.ncut")).unwrap();
    // The first column.
    bytes[128] = 200;
    fs::write(bench.path("g.ncut"), &bytes).unwrap();
    for call in [
        "cluster g.ncut -k 2",
        "score g.ncut l.txt",
        "choose g.ncut --to 3",
        "compare g.ncut -k 2",
        "convert g.ncut o.mtx",
    ] {
        let ran = bench.run(call);
        assert_eq!(ran.code, Some(1), "{call}");
        assert_eq!(
            ran.stderr,
            "ncut: g.ncut: the file is damaged: the checksum of its column numbers is wrong; make it anew with `ncut \
             convert`\n"
        );
    }
    let trusted = bench.run("cluster g.ncut -k 2 --verify=no");
    assert_eq!(trusted.code, Some(1));
    assert!(trusted.stderr.contains("the file is damaged: run without --verify=no"), "{}", trusted.stderr);
    assert_eq!(bench.files(), ["g.ncut", "g.txt", "l.txt"]);
}
