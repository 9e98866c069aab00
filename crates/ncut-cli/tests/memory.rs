//! Memory: small files with large contents, limits that are asked for, and limits of the system. Whatever happens, it is a
//! result or a clear refusal, never a signal.

#![cfg(target_os = "linux")]

mod common;

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use common::{Bench, Ran};
use flate2::Compression;
use flate2::write::GzEncoder;
use image::{GrayImage, Luma};
use ncut::io::write_graph;
use ncut::synthetic::Planted;

impl Bench {
    /// Runs `ncut` with so many megabytes of address space.
    fn run_within(&self, megabytes: u64, arguments: &str) -> Ran {
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("ulimit -v {} && exec \"$0\" \"$@\"", megabytes * 1000));
        command.arg(env!("CARGO_BIN_EXE_ncut")).args(arguments.split_whitespace());
        Ran::from(command.current_dir(self.path("")).output().unwrap())
    }
}

/// A gigabyte of address space is enough to find out that a file needs more than it may take.
fn refused(bench: &Bench, call: &str, why: &[&str]) {
    let ran = bench.run_within(1000, call);
    assert_eq!(ran.code, Some(1), "{call}: {ran:?}");
    for words in why {
        assert!(ran.stderr.contains(words), "{call}: {}", ran.stderr);
    }
    assert_eq!(ran.stderr.lines().count(), 1, "{call}: {}", ran.stderr);
}

#[test]
fn a_size_line_that_promises_too_much_is_refused() {
    let bench = Bench::new()
        .with("nodes.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n100000000 100000000 1\n2 1\n")
        .with("entries.mtx", "%%MatrixMarket matrix coordinate real general\n9 9 9000000000\n2 1 1\n")
        .with("nodes.graph", "100000000 1\n2\n1\n")
        .with("edges.graph", "2 9000000000\n2\n1\n");
    for name in ["nodes.mtx", "entries.mtx", "nodes.graph", "edges.graph"] {
        let call = format!("cluster {name} -k 2 --memory-limit 256M");
        refused(&bench, &call, &[name, "of memory, but only 256 MiB are left for it", "--memory-limit"]);
    }
    // What the system leaves is the limit where none is asked for.
    refused(&bench, "convert nodes.mtx out.ncut", &["nodes.mtx", "needs about 2.2 GiB of memory"]);
    assert!(!bench.path("out.ncut").exists());
}

/// However much memory the machine has: more is to be asked for.
#[test]
fn a_small_file_does_not_take_gigabytes_unasked() {
    let bench = Bench::new()
        .with("nodes.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n100000000 100000000 1\n2 1\n")
        .with("nodes.graph", "100000000 1\n2\n1\n");
    for call in ["cluster nodes.mtx -k 2", "convert nodes.mtx out.ncut", "score nodes.graph nodes.graph"] {
        let ran = bench.run(call);
        assert_eq!(ran.code, Some(1), "{call}: {ran:?}");
        let why = "of memory, but only 1.0 GiB are left for it; allow more (--memory-limit)";
        assert!(ran.stderr.contains(why), "{call}: {}", ran.stderr);
    }
}

#[test]
fn a_line_without_end_is_refused() {
    let bench = Bench::new();
    for (name, start) in [("one.txt.gz", ""), ("later.txt.gz", "1 2\n3 4\n")] {
        let mut file = GzEncoder::new(File::create(bench.path(name)).unwrap(), Compression::fast());
        file.write_all(start.as_bytes()).unwrap();
        let sevens = vec![b'7'; 1 << 20];
        (0..150).for_each(|_| file.write_all(&sevens).unwrap());
        file.finish().unwrap();
    }
    for name in ["one.txt.gz", "later.txt.gz"] {
        let line = &[name, "a line is longer than 67108864 bytes", "--memory-limit"];
        refused(&bench, &format!("cluster {name} -k 2"), line);
        let line = &[name, "a line is longer than 1048576 bytes"];
        refused(&bench, &format!("cluster {name} -k 2 --memory-limit 1M"), line);
        refused(&bench, &format!("points {name} -k 2"), &[name, "a line is longer than"]);
        let labels = format!("score g.txt {name}");
        std::fs::write(bench.path("g.txt"), "1 2\n3 4\n").unwrap();
        refused(&bench, &labels, &[name, "a line is longer than"]);
    }
}

#[test]
fn arrays_that_promise_too_much_are_refused() {
    let bench = Bench::new();
    let header = |shape: &str| {
        let text = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n");
        [b"\x93NUMPY\x01\x00", &(text.len() as u16).to_le_bytes()[..], text.as_bytes()].concat()
    };
    let bench = bench.with("x.npy", header("(40000000, 10)")).with("y.npy", header("(900000000,)"));
    let why = &["x.npy", "an array as large as its header promises", "--memory-limit"];
    refused(&bench, "points x.npy -k 2", why);
    refused(&bench, "points x.npy -k 2 --memory-limit 1G", why);
    std::fs::write(bench.path("g.txt"), "1 2\n3 4\n").unwrap();
    refused(&bench, "score g.txt y.npy", &["y.npy", "an array as large as its header promises"]);
}

#[test]
fn a_large_picture_in_a_small_file_is_refused() {
    let bench = Bench::new();
    GrayImage::new(6000, 6000).save(bench.path("p.png")).unwrap();
    let size = std::fs::metadata(bench.path("p.png")).unwrap().len();
    assert!(size < 200_000, "{size}");
    refused(&bench, "segment p.png -k 3 -o o.png", &["p.png", "of memory", "--memory-limit"]);
    let decoding = &["p.png", "decoding the picture needs about", "are left for it", "--memory-limit"];
    refused(&bench, "segment p.png -k 3 -o o.png --memory-limit 100M", decoding);
    assert!(!bench.path("o.png").exists());
}

#[test]
fn a_solver_that_needs_more_than_was_asked_for_is_refused() {
    let bench = Bench::new();
    let planted = Planted::new(100_000, 20).graph(1).unwrap();
    write_graph(&bench.path("g.ncut"), &planted.graph, None).unwrap();
    let why = &["g.ncut", "clustering the graph needs about", "are left for it", "--memory-limit", "fast"];
    refused(&bench, "cluster g.ncut -k 20 --memory-limit 64M", why);
    refused(&bench, "choose g.ncut --memory-limit 64M", &["comparing numbers of clusters needs about"]);
    let ran = bench.run("cluster g.ncut -k 20 --preset fast --memory-limit 1G --quiet");
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn under_some_limits_of_the_system_commands_succeed_or_refuse() {
    let bench = inputs(40_000, 300, 5_000);
    for megabytes in [50, 120, 250, 800] {
        for call in CALLS {
            succeeds_or_refuses(&bench, megabytes, call);
        }
    }
}

#[test]
#[ignore = "some minutes: large inputs, twenty limits"]
fn under_any_limit_of_the_system_commands_succeed_or_refuse() {
    let bench = inputs(300_000, 1500, 100_000);
    for call in CALLS {
        let outcomes = (0..20).map(|step| {
            // From 50 MB to 2 GB.
            let megabytes = (50.0 * 40f64.powf(f64::from(step) / 19.0)).round() as u64;
            let outcome = succeeds_or_refuses(&bench, megabytes, call);
            format!("{megabytes} {outcome}")
        });
        println!("{call}: {}", outcomes.collect::<Vec<_>>().join(", "));
    }
}

const CALLS: [&str; 8] = [
    "cluster g.npz -k 20 --preset fast --time-limit 5",
    "cluster g.ncut -k 20 --time-limit 5",
    "cluster g.txt -k 20 --preset paper --time-limit 5 --memory-limit 2G",
    "points x.npy -k 10 --time-limit 20",
    "segment p.png -k 10 -o o.png --preset fast --time-limit 5",
    "choose g.ncut --to 8 --time-limit 5",
    "convert g.txt out.ncut",
    "convert g.txt out.npz --memory-limit 30M",
];

/// A planted graph in three formats, a picture and a table of points.
fn inputs(n_nodes: usize, side: u32, n_points: usize) -> Bench {
    let bench = Bench::new();
    let planted = Planted::new(n_nodes, 50).graph(1).unwrap();
    for name in ["g.npz", "g.ncut", "g.txt"] {
        write_graph(&bench.path(name), &planted.graph, None).unwrap();
    }
    let grey = |x: u32, y: u32| Luma([(((x / 40 + y / 30) * 37 + x * y % 11) % 256) as u8]);
    GrayImage::from_fn(side, side, grey).save(bench.path("p.png")).unwrap();
    write_points(&bench.path("x.npy"), n_points);
    bench
}

fn write_points(path: &Path, n_points: usize) {
    let text = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({n_points}, 8), }}\n");
    let mut bytes = [b"\x93NUMPY\x01\x00", &(text.len() as u16).to_le_bytes()[..], text.as_bytes()].concat();
    for place in 0..8 * n_points as u64 {
        let noise = place.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let value = (place / 8 % 10) as f32 + noise as f32 / (1 << 25) as f32;
        bytes.extend_from_slice(&value.to_le_bytes());
    }
    std::fs::write(path, bytes).unwrap();
}

/// Exit code 0, or 1 with a line that speaks of memory.
fn succeeds_or_refuses(bench: &Bench, megabytes: u64, call: &str) -> &'static str {
    let ran = bench.run_within(megabytes, call);
    match ran.code {
        Some(0) => "done",
        Some(1) => {
            let last = ran.stderr.lines().last().unwrap_or_default();
            assert!(last.starts_with("ncut: "), "{call} within {megabytes} MB: {ran:?}");
            assert!(last.contains("memory"), "{call} within {megabytes} MB: {ran:?}");
            if last.contains("ncut: out of memory") { "out of memory" } else { "refused" }
        }
        _ => panic!("{call} within {megabytes} MB: {ran:?}"),
    }
}
