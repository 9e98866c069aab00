//! What surrounds a command: its outputs, signals, threads, and names that stand for the same file.
#![cfg(unix)]

mod common;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{Bench, Ran, TRIANGLES};

const LABELS: &str = "a\t0\nb\t0\nc\t0\nd\t1\ne\t1\nf\t1\n";

fn bench() -> Bench {
    Bench::new().with("g.txt", TRIANGLES)
}

#[test]
fn what_a_descriptor_is_open_for_is_added_to() {
    for (line, kept) in [
        ("ncut cluster g.txt -k 2 -o /dev/stderr 2>>log", "before\n"),
        ("ncut cluster g.txt -k 2 -o /dev/fd/2 2>>log", "before\n"),
        ("ncut cluster g.txt -k 2 -o /dev/fd/7 7>>log", "before\n"),
        ("ncut cluster g.txt -k 2 -o /proc/self/fd/7 7>>log", "before\n"),
        ("ncut cluster g.txt -k 2 -q -o /dev/stdout >>log", "before\n"),
        ("ncut cluster g.txt -k 2 -o link 2>>log", "before\n"),
        ("ncut cluster g.txt -k 2 -o /dev/stderr 2>log", ""),
        ("(echo first >&2; ncut cluster g.txt -k 2 -o /dev/stderr; echo last >&2) 2>log", "first\n"),
    ] {
        let bench = bench().with("log", "before\n");
        symlink("/dev/stderr", bench.path("link")).unwrap();
        let ran = bench.shell(line);
        let last = if line.contains("last") { "last\n" } else { "" };
        assert_eq!(bench.read("log"), format!("{kept}{LABELS}{last}"), "{line}: {ran:?}");
        assert_eq!(ran.code, Some(0), "{line}: {ran:?}");
    }
    let bench = bench().with("log", "before\n");
    assert_eq!(bench.shell("ncut cluster g.txt -k 2 --json /dev/stderr 2>>log").code, Some(0));
    assert!(bench.read("log").starts_with("before\n{\n"));
}

#[test]
fn pipes_and_devices_are_written_to() {
    let bench = bench();
    let ran = bench.shell("mkfifo pipe && (cat pipe >copy & ncut cluster g.txt -k 2 -o pipe; wait)");
    assert_eq!((ran.code, bench.read("copy").as_str()), (Some(0), LABELS), "{ran:?}");
    assert!(!fs::metadata(bench.path("pipe")).unwrap().is_file());
    let ran = bench.shell("ncut cluster g.txt -k 2 -q -o /dev/fd/3 3>&1 | cat");
    assert_eq!(ran.stdout, LABELS, "{ran:?}");
    let ran = bench.run("cluster g.txt -k 2 -o /dev/null --json /dev/null");
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn owner_and_mode_are_those_a_plain_write_leaves() {
    let bench = bench().with("old.txt", "old").with("behind.txt", "old");
    fs::set_permissions(bench.path("old.txt"), fs::Permissions::from_mode(0o6751)).unwrap();
    symlink("behind.txt", bench.path("link.txt")).unwrap();
    symlink("new.txt", bench.path("other.txt")).unwrap();
    symlink("other.txt", bench.path("links.txt")).unwrap();
    // Only root can give a file away.
    let is_root = std::os::unix::fs::chown(bench.path("behind.txt"), Some(12), Some(34)).is_ok();
    for output in ["old.txt", "link.txt", "links.txt"] {
        let ran = bench.shell(&format!("umask 027; ncut cluster g.txt -k 2 -o {output}"));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(bench.read(output), LABELS);
    }
    let data = |name: &str| fs::symlink_metadata(bench.path(name)).unwrap();
    assert_eq!(data("old.txt").mode() & 0o7777, 0o751);
    assert!(
        data("link.txt").is_symlink() && data("links.txt").is_symlink() && data("other.txt").is_symlink()
    );
    assert_eq!(data("new.txt").mode() & 0o7777, 0o640);
    if is_root {
        assert_eq!((data("behind.txt").uid(), data("behind.txt").gid()), (12, 34));
    }
}

#[test]
fn an_output_that_is_an_input_is_refused_before_any_work() {
    let bench = bench().with("l.txt", LABELS).with("p.csv", "0,1\n1,0\n").with("g2.txt", TRIANGLES);
    symlink("l.txt", bench.path("link")).unwrap();
    for call in [
        "cluster g.txt -k 2 --init l.txt --json l.txt",
        "cluster g.txt -k 2 --init l.txt -o l.txt",
        "cluster g.txt -k 2 --init l.txt -o link",
        "cluster g.txt -k 2 --truth l.txt --json ./l.txt",
        "cluster g.txt -k 2 -o g.txt",
        "cluster g.txt -k 2 --json g.txt",
        "cluster missing.txt -k 2 -o same --json same",
        "cluster g.txt -k 2 -o - --json /dev/stdout",
        "cluster g.txt -k 2 -o /dev/stderr --json /dev/fd/2",
        "points p.csv -k 1 --init l.txt -o l.txt",
        "points p.csv -k 1 --graph-out p.csv",
        "points p.csv -k 1 --graph-out x.txt -o x.txt",
        "segment g.png -k 2 -o g.png",
        "segment g.png -k 2 -o h.png --json h.png",
        "score g.txt l.txt --json l.txt",
        "score g.txt l.txt --truth g2.txt --json g2.txt",
        "choose g.txt --json g.txt",
        "choose g.txt -o g.txt",
        "choose g.txt -o c.svg --json c.svg",
        "compare g.txt -k 2 --json g.txt",
        "convert g.txt g.txt",
    ] {
        let bench_files = bench.files();
        let ran = bench.run(call);
        let is_of_outputs = ran.stderr.contains("two outputs");
        assert_eq!(ran.code, Some(if is_of_outputs { 2 } else { 1 }), "{call}: {ran:?}");
        assert!(ran.stderr.contains("overwrite the input") || is_of_outputs, "{ran:?}");
        assert_eq!(
            (bench.read("g.txt").as_str(), bench.read("l.txt").as_str()),
            (TRIANGLES, LABELS),
            "{call}"
        );
        assert_eq!(bench.files(), bench_files, "{call}");
    }
}

#[test]
fn output_that_is_lost_is_an_error() {
    let bench = bench();
    for line in [
        "ncut --help >/dev/full",
        "ncut --version >/dev/full",
        "ncut cluster --help >/dev/full",
        "ncut completions bash >/dev/full",
        "ncut cluster g.txt -k 2 >/dev/full",
        "ncut cluster g.txt -k 2 -o - >/dev/full",
        "ncut cluster g.txt -k 2 --json - >/dev/full",
        "ncut demo >/dev/full",
        "ncut --help >&-",
        "ncut cluster g.txt -k 2 -o - >&-",
        "ncut cluster g.txt -k 2 -q -o - >&-",
        "ncut cluster g.txt -k 2 >&-",
        "ncut completions bash >&-",
    ] {
        let ran = bench.shell(line);
        assert_eq!(ran.code, Some(1), "{line}: {ran:?}");
        assert!(ran.stderr.contains("ncut: standard output cannot be written"), "{line}: {ran:?}");
    }
    for line in [
        "ncut cluster g.txt -k 2 -q -o labels.txt >&-",
        "ncut cluster g.txt -k 2 -o - >/dev/null",
        "ncut cluster g.txt -k 2 -o - 2>/dev/full",
        "ncut --help | true",
    ] {
        assert_eq!(bench.shell(line).code, Some(0), "{line}");
    }
}

#[test]
fn exit_codes_do_not_depend_on_standard_error() {
    let bench = bench();
    for redirection in ["2>/dev/full", "2>&-", "2>/dev/null"] {
        for (call, code) in
            [("cluster missing.txt -k 2", 1), ("cluster g.txt -k 2 -o g.txt", 1), ("cluster g.txt -k", 2)]
        {
            assert_eq!(
                bench.shell(&format!("ncut {call} {redirection}")).code,
                Some(code),
                "{call} {redirection}"
            );
        }
    }
}

/// A graph that takes a while to be written.
fn bench_with_much_to_write() -> Bench {
    let bench = Bench::new();
    let planted = ncut::synthetic::Planted::new(200_000, 100).graph(1).unwrap();
    ncut::io::write_graph(&bench.path("g.ncut"), &planted.graph, None).unwrap();
    bench
}

#[test]
fn a_signal_that_ends_the_program_leaves_no_temporary_file() {
    let bench = bench_with_much_to_write().with("out.txt.gz", "precious");
    for (signal, code) in [("TERM", 143), ("HUP", 129)] {
        let child = bench.command("convert g.ncut out.txt.gz").stderr(Stdio::piped()).spawn().unwrap();
        let started = Instant::now();
        let is_writing = || bench.files().iter().any(|name| name.starts_with(".ncut-"));
        // The look whether it can be written leaves one for a moment; the one that stays is being written.
        while !(is_writing() && {
            sleep(Duration::from_millis(30));
            is_writing()
        }) {
            assert!(started.elapsed() < Duration::from_secs(60));
        }
        let sent =
            Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert_eq!(ran.code, Some(code), "{ran:?}");
        assert_eq!(bench.files(), ["g.ncut", "out.txt.gz"]);
        assert_eq!(bench.read("out.txt.gz"), "precious");
    }
}

#[test]
fn a_hangup_that_is_ignored_stays_ignored() {
    let bench = bench();
    let call = "\"$NCUT\" cluster g.txt -k 2 -o pipe & sleep 0.3; kill -HUP $!; cat pipe; wait $!";
    let ignored = bench.shell(&format!("mkfifo pipe; trap '' HUP; {call}"));
    assert_eq!((ignored.code, ignored.stdout.contains(LABELS)), (Some(0), true), "{ignored:?}");
    let heard = bench.shell("\"$NCUT\" cluster g.txt -k 2 -o pipe & sleep 0.3; kill -HUP $!; wait $!");
    assert_eq!(heard.code, Some(129), "{heard:?}");
}

#[test]
fn threads_that_cannot_be_started_are_no_error() {
    let bench = bench();
    // A stack larger than the address space: no thread can be had.
    let run = |call: &str| {
        Ran::from(bench.command(call).env("RUST_MIN_STACK", (1u64 << 47).to_string()).output().unwrap())
    };
    for threads in ["", "--threads 1", "--threads 4"] {
        let ran = run(&format!("cluster g.txt -k 2 -q -o - {threads}"));
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), LABELS, ""), "{threads}");
    }
    for call in ["demo -o -", "convert g.txt g.ncut", "compare g.txt -k 2", "choose g.txt --to 3 --threads 1"]
    {
        let ran = run(call);
        assert_eq!(ran.code, Some(0), "{call}: {ran:?}");
    }
}

#[test]
fn an_id_may_start_with_a_byte_order_mark() {
    let id = '\u{feff}';
    let edges = format!("b {id}a 1\nb c 1\n\"{id}a\" c 1\n");
    let bench = Bench::new().with("g.txt", edges);
    for name in ["h.txt", "h.csv", "h.tsv", "h.ncut"] {
        assert_eq!(bench.run(&format!("convert g.txt {name}")).code, Some(0));
        assert_eq!(bench.run(&format!("cluster {name} -k 3 -o labels.txt")).code, Some(0));
        let mut lines: Vec<String> = bench.read("labels.txt").lines().map(str::to_string).collect();
        assert!(lines.iter().any(|line| line.starts_with(&format!("\"{id}a\"\t"))), "{name}: {lines:?}");
        // Its line first.
        lines.sort_by_key(|line| !line.contains(id));
        let text = lines.join("\n");
        let ran = Bench::new()
            .with("g.txt", fs::read(bench.path("g.txt")).unwrap())
            .with("labels.txt", &text)
            .run("score g.txt labels.txt");
        assert_eq!(ran.code, Some(0), "{name}: {ran:?}");
    }
    // It is the first id of an edge list, too.
    let bench = Bench::new().with("g.csv", format!("\"{id}a\",b\nb,c\n"));
    assert_eq!(bench.run("convert g.csv h.csv").code, Some(0));
    assert_eq!(bench.run("cluster h.csv -k 1 -o labels.txt").code, Some(0));
    assert!(bench.read("labels.txt").starts_with(&format!("\"{id}a\"\t")), "{}", bench.read("labels.txt"));
}

#[test]
fn offsets_that_fall_are_refused_without_verification() {
    let bench = Bench::new().with("g.txt", TRIANGLES.replace(" 0.1", " 1"));
    assert_eq!(bench.run("convert g.txt g.ncut").code, Some(0));
    let good = fs::read(bench.path("g.ncut")).unwrap();
    // No weights: 14 columns of 4 bytes after the header, then the offsets.
    let offsets = (128 + 14 * 4_usize).next_multiple_of(64);
    for (row, offset) in [(2, 0_u64), (1, 1 << 60), (3, u64::MAX), (5, 14)] {
        let mut bytes = good.clone();
        bytes[offsets + 8 * row..][..8].copy_from_slice(&offset.to_le_bytes());
        fs::write(bench.path("g.ncut"), &bytes).unwrap();
        let ran = bench.run("cluster g.ncut -k 2 --verify=no");
        if row == 5 {
            // They do not fall: the rows are wrong, and whatever comes of it comes soon.
            assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
            continue;
        }
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains("the file is damaged: its row offsets fall at row"), "{ran:?}");
    }
}

/// A NumPy array of bytes.
fn npy(shape: &str, is_fortran: bool, items: &[u8]) -> Vec<u8> {
    let order = if is_fortran { "True" } else { "False" };
    let header = format!("{{'descr': '|i1', 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(items);
    bytes
}

#[test]
fn arrays_are_read_in_the_order_they_say() {
    // Labels 0 0 0 1 1 1 as three rows of two, and as 1 x 2 x 3.
    let bench = bench()
        .with("rows.npy", npy("(3, 2)", false, &[0, 0, 0, 1, 1, 1]))
        .with("columns.npy", npy("(3, 2)", true, &[0, 0, 1, 0, 1, 1]))
        .with("cube.npy", npy("(1, 2, 3)", true, &[0, 1, 0, 1, 0, 1]))
        .with("flat.npy", npy("(6,)", true, &[0, 0, 0, 1, 1, 1]));
    for labels in ["rows.npy", "columns.npy", "cube.npy", "flat.npy"] {
        let ran = bench.run(&format!("cluster g.txt -k 2 --truth {labels}"));
        assert!(ran.stdout.contains("accuracy 1.0000"), "{labels}: {ran:?}");
        let ran = bench.run(&format!("score g.txt {labels}"));
        assert!(ran.stdout.contains("N-Cut 0.0328"), "{labels}: {ran:?}");
    }
    // Points: four rows of two.
    let bench = Bench::new()
        .with("rows.npy", npy("(4, 2)", false, &[0, 1, 0, 2, 9, 1, 9, 2]))
        .with("columns.npy", npy("(4, 2)", true, &[0, 0, 9, 9, 1, 2, 1, 2]));
    for points in ["rows.npy", "columns.npy"] {
        assert_eq!(bench.run(&format!("points {points} -k 2 --neighbors 1 -q -o -")).stdout, "0\n0\n1\n1\n");
    }
}

#[test]
fn one_approximate_neighbour_is_enough() {
    let mut state = 1_u64;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1 << 24) as f64
    };
    let rows: String = (0..2000).map(|_| format!("{},{},{}\n", noise(), noise(), noise())).collect();
    let ran = Bench::new().with("p.csv", rows).run("points p.csv -k 4 --neighbors 1 --search approximate");
    assert_eq!(ran.code, Some(0), "{ran:?}");
}
