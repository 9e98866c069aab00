//! The help: it fits a terminal of 80 columns, and its examples run.

mod common;

use std::fmt::Write as _;

use common::Bench;
use image::{GrayImage, Luma, Rgb, RgbImage, Rgba, RgbaImage};

const COMMANDS: [&str; 11] = [
    "cluster",
    "points",
    "segment",
    "score",
    "choose",
    "compare",
    "update",
    "convert",
    "demo",
    "completions",
    "man",
];
/// Nodes of every graph, rows of every table.
const N: usize = 240;

fn help(bench: &Bench, command: &str) -> String {
    let mut run = bench.command(&format!("{command} --help"));
    let output = run.env("COLUMNS", "80").output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn help_fits_eighty_columns_and_breaks_no_line_twice() {
    let bench = Bench::new();
    for command in
        ["", "cluster", "points", "segment", "score", "choose", "compare", "update", "convert", "demo", "man"]
    {
        let help = help(&bench, command);
        let lines: Vec<&str> = help.lines().collect();
        for line in &lines {
            assert!(line.chars().count() <= 80, "{command}: {line}");
        }
        // A line of prose is broken only where the next word would not fit.
        let is_prose =
            |line: &str| line.starts_with(|letter: char| letter.is_alphabetic()) && !line.ends_with(':');
        for pair in lines.windows(2).filter(|pair| is_prose(pair[0]) && is_prose(pair[1])) {
            let next_word = pair[1].split(' ').next().unwrap_or_default();
            let width = pair[0].chars().count() + 1 + next_word.chars().count();
            assert!(width > 80, "{command}: `{}` is broken before `{next_word}`", pair[0]);
        }
    }
}

#[test]
fn the_examples_run() {
    let bench = furnished();
    let mut n_examples = 0;
    for command in [&[""], &COMMANDS[..]].concat() {
        let help = help(&bench, command);
        let examples = help.lines().filter(|line| line.starts_with("  ncut "));
        // Where the shell would write is nobody's business here.
        for example in examples.filter(|line| !line.contains('>')) {
            let call = example.trim().split("   ").next().unwrap().trim_start_matches("ncut ");
            // Nobody wants to wait for these here.
            let call = call.replace("--time-limit 60", "--time-limit 1").replace("--best 20", "--best 1");
            let ran = bench.run(&call);
            assert_eq!(ran.code, Some(0), "{call}: {}", ran.stderr);
            n_examples += 1;
        }
    }
    assert!(n_examples > 50, "{n_examples}");
}

#[test]
fn every_command_has_a_manual_page_in_plain_roff() {
    let bench = Bench::new();
    let ran = bench.run("man pages --quiet");
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""));
    let page = |name: &str| bench.read(&format!("pages/{name}.1"));
    let main = page("ncut");
    assert!(main.contains(".TH ncut 1 ") && main.contains(".SH NAME\nncut \\- Normalized"), "{main}");
    for command in COMMANDS {
        let name = format!("ncut-{command}");
        assert!(main.contains(&name.replace('-', "\\-")), "{command} is not on the first page");
        let page = page(&name);
        assert!(page.contains(&format!(".TH {name} 1 ")), "{page}");
        for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS"] {
            assert!(page.contains(&format!(".SH {section}\n")), "{command} has no {section}");
        }
        // Every line is text or a request: no control letters, no colours.
        assert!(page.bytes().all(|byte| byte == b'\n' || byte >= b' '), "{command}");
        // Examples keep their lines.
        let help = help(&bench, command);
        let n_examples = help.lines().filter(|line| line.starts_with("  ncut ")).count();
        let shown =
            page.lines().filter(|line| line.trim_start().starts_with("ncut ") && !line.starts_with('.'));
        assert!(shown.count() >= n_examples, "{command}: {page}");
    }
    let cluster = page("ncut-cluster");
    assert!(cluster.contains("\\-\\-min\\-share") && cluster.contains(".nf\n"));
    let ran = bench.with("file", "x").run("man file/pages");
    assert!(ran.code == Some(1) && ran.stderr.contains("file/pages: cannot be made"), "{ran:?}");
}

/// A folder with everything the examples name.
fn furnished() -> Bench {
    let groups = |n_groups: usize| move |node: usize| node * n_groups / N;
    let mut edges = String::new();
    for node in 0..N {
        for step in 1..4 {
            writeln!(edges, "{node} {} {}", (node + step) % N, 4 - step).unwrap();
        }
    }
    let by_id = |label: &dyn Fn(usize) -> usize| {
        (0..N).map(|node| format!("{node} {}\n", label(node))).collect::<String>()
    };
    let in_order = |n_groups| (0..N).map(|node| format!("{}\n", groups(n_groups)(node))).collect::<String>();
    let commas = edges.replace(' ', ",");
    let row = |row: usize| format!("{},{},{},{}", row % 3 * 10, row % 7, row % 11, row % 13);
    let table = |head: &str, line: &dyn Fn(usize) -> String| {
        format!("{head}\n{}", (0..N).map(|number| line(number) + "\n").collect::<String>())
    };
    let bench = Bench::new()
        .with("roads.txt", &edges)
        .with("friends.csv", &commas)
        .with("friends.csv.gz", gzip(&commas))
        .with("web.txt.zst", zstd::encode_all(edges.as_bytes(), 0).unwrap())
        .with("mail.csv", format!("n,from,to\n{}", table_of_mail()))
        .with("labels.txt", in_order(32))
        .with("known.txt", in_order(42))
        .with("found.txt", in_order(42))
        .with("groups.txt", by_id(&groups(8)))
        .with("fixed.txt", "0 0\n100 3\n200 7\n")
        .with("together.txt", "0 1\n")
        .with("apart.txt", "0 120\n")
        .with("people.txt", (0..N).map(|node| format!("{}\n", 1 + node % 3)).collect::<String>())
        .with("kinds.txt", (0..N).map(|row| ["noun\n", "verb\n", "name\n"][row % 3]).collect::<String>())
        .with("directed.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 1\n2 3 1\n")
        .with("iris.csv", table("a,b,c,d,species", &|number| format!("{},k{}", row(number), number % 3)))
        .with(
            "rows.csv",
            table("name,a,b,c,d,class", &|number| format!("r{number},{},{}", row(number), number % 3)),
        )
        .with("digits.npy", array())
        .with("words.npy", array())
        .with("cells.npy", array())
        .with("faces.npy", array());
    for (from, to) in [
        ("roads.txt", "roads.mtx"),
        ("roads.txt", "web.mtx"),
        ("roads.txt", "mail.npz"),
        ("roads.txt", "web.ncut"),
        ("roads.txt", "digits.npz"),
        ("roads.txt", "faces.npz"),
        ("plain.txt", "mesh.graph"),
    ] {
        if from == "plain.txt" {
            let plain: String = (0..N).map(|node| format!("{node} {}\n", (node + 1) % N)).collect();
            std::fs::write(bench.path(from), plain).unwrap();
        }
        assert_eq!(bench.run(&format!("convert {from} {to} --quiet")).code, Some(0));
    }
    let shade = |x: u32, y: u32| (40 + 90 * (x / 14 + y / 14) % 200 + (x * 7 + y * 3) % 9) as u8;
    RgbImage::from_fn(40, 30, |x, y| Rgb([shade(x, y), shade(y, x), 128]))
        .save(bench.path("photo.jpg"))
        .unwrap();
    let grey = GrayImage::from_fn(60, 60, |x, y| Luma([shade(x, y)]));
    grey.save(bench.path("coins.png")).unwrap();
    grey.save(bench.path("cells.tif")).unwrap();
    GrayImage::from_fn(40, 30, |x, _| Luma([if x < 30 { 255 } else { 0 }]))
        .save(bench.path("inside.png"))
        .unwrap();
    let scribbles = RgbaImage::from_fn(40, 30, |x, y| match (x, y) {
        (2..6, 5) => Rgba([255, 0, 0, 255]),
        (30..36, 5) => Rgba([0, 255, 0, 255]),
        (15..20, 25) => Rgba([0, 0, 255, 255]),
        _ => Rgba([0, 0, 0, 0]),
    });
    scribbles.save(bench.path("scribbles.png")).unwrap();
    bench
}

fn table_of_mail() -> String {
    (0..N).map(|node| format!("{},{node},{}\n", 1 + node % 5, (node + 1) % N)).collect()
}

fn gzip(text: &str) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut packer, text.as_bytes()).unwrap();
    packer.finish().unwrap()
}

/// A NumPy array of N rows and four columns.
fn array() -> Vec<u8> {
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({N}, 4), }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    for row in 0..N {
        for value in [row % 3 * 10 + 1, row % 7 + 1, row % 11 + 1, row % 13 + 1] {
            bytes.extend((value as f64).to_le_bytes());
        }
    }
    bytes
}
