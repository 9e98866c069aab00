//! Time limits and Ctrl-C: the best so far is kept.

mod common;

use std::collections::BTreeSet;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{Bench, Ran};
use ncut::synthetic::Planted;
use serde_json::Value;

/// A graph that takes a while, to be read and to be solved.
fn bench_with_a_large_graph(name: &str) -> Bench {
    let bench = Bench::new();
    let planted = Planted::new(300_000, 1000).graph(1).unwrap();
    ncut::io::write_graph(&bench.path(name), &planted.graph, None).unwrap();
    bench
}

fn start(bench: &Bench, arguments: &str) -> Child {
    bench.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

fn finish(child: Child) -> Ran {
    Ran::from(child.wait_with_output().unwrap())
}

fn assert_labels_are_valid(bench: &Bench, k: usize) {
    let labels: BTreeSet<usize> =
        bench.read("labels.txt").lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(labels, (0..k).collect());
}

#[test]
fn a_time_limit_keeps_the_best_so_far() {
    let bench = bench_with_a_large_graph("g.npz");
    let ran = bench.run("cluster g.npz -k 1000 --time-limit 0.2 -o labels.txt --json report.json");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("stopped by the time limit: this is the best so far\n"), "{ran:?}");
    let report: Value = serde_json::from_str(&bench.read("report.json")).unwrap();
    assert_eq!(report["stop_reason"], "time-limit");
    assert!(report["seconds"]["solve"].as_f64().unwrap() < 3.0);
    assert_labels_are_valid(&bench, 1000);
}

/// One clock for the whole command: it ends in time, with a valid result that says what was cut short.
#[test]
fn a_time_limit_holds_for_everything_a_command_does() {
    let bench = bench_with_a_large_graph("g.npz");
    let cut_short = [
        ("cluster g.npz -k auto -o labels.txt", "the number of clusters is a rough guess"),
        ("cluster g.npz -k 100 --bound", "the upper bound was cut short by the time limit: none is known"),
        ("choose g.npz", "cut short by the time limit"),
        ("compare g.npz -k 100", "no time was left for"),
    ];
    for (command, remark) in cut_short {
        let started = Instant::now();
        let ran = bench.run(&format!("{command} --time-limit 0.5"));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.stdout.contains(remark), "{ran:?}");
        assert!(started.elapsed() < Duration::from_secs(10), "{command} took {:?}", started.elapsed());
    }
    assert!(bench.files().contains(&"labels.txt".to_owned()));
}

#[test]
fn a_time_limit_during_the_neighbour_search_leaves_nothing_behind() {
    let rows: String = (0..4000).map(|row| format!("{},{}\n", row % 61, row % 67)).collect();
    let bench = Bench::new().with("points.csv", rows);
    let ran = bench.run("points points.csv -k 5 --time-limit 0 -o labels.txt --graph-out graph.npz");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("the time limit was reached before there was a result"), "{ran:?}");
    assert_eq!(bench.files(), ["points.csv"]);
}

#[test]
fn the_largest_component_is_clustered_into_as_many_as_suggested() {
    let bench = Bench::new().with("g.txt", format!("{}x y 1\n", common::TRIANGLES));
    let ran = bench.run("cluster g.txt -k auto --components largest -o labels.tsv");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(bench.read("labels.tsv").contains("x\t-1\n"), "{ran:?}");
}

#[cfg(unix)]
#[test]
fn the_first_interrupt_keeps_the_best_so_far() {
    let bench = bench_with_a_large_graph("g.ncut");
    let child = start(&bench, "cluster g.ncut -k 1000 -o labels.txt --json report.json --max-sweeps 100000");
    // Long enough for the file to be mapped on a busy machine, too; not for solving.
    sleep(Duration::from_millis(1500));
    interrupt(&child);
    let ran = finish(child);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("ncut: stopping, the best so far is kept"), "{ran:?}");
    let report: Value = serde_json::from_str(&bench.read("report.json")).unwrap();
    assert_eq!(report["stop_reason"], "cancelled");
    assert_labels_are_valid(&bench, 1000);
}

/// Newcomers, 6: where the number of clusters is to be found out, too.
#[cfg(unix)]
#[test]
fn the_first_interrupt_writes_labels_under_auto() {
    let bench = bench_with_a_large_graph("g.ncut");
    let child = start(&bench, "cluster g.ncut -k auto -o labels.txt");
    sleep(Duration::from_millis(1500));
    interrupt(&child);
    let ran = finish(child);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("labels.txt written"), "{ran:?}");
    assert!(bench.read("labels.txt").lines().count() > 1000);
}

#[cfg(unix)]
#[test]
fn the_second_interrupt_abandons_everything() {
    // Reading a matrix does not look at the first interrupt, so the second comes in time.
    let bench = bench_with_a_large_graph("g.npz");
    let child = start(&bench, "cluster g.npz -k 1000 -o labels.txt");
    sleep(Duration::from_millis(60));
    interrupt(&child);
    sleep(Duration::from_millis(30));
    interrupt(&child);
    let ran = finish(child);
    assert_eq!(ran.code, Some(130), "{ran:?}");
    assert_eq!(bench.files(), ["g.npz"]);
}

#[cfg(unix)]
#[test]
fn an_interrupt_while_a_matrix_is_read_leaves_old_labels_alone() {
    let bench = bench_with_a_large_graph("g.npz").with("labels.txt", "precious");
    let child = start(&bench, "cluster g.npz -k 1000 -o labels.txt");
    sleep(Duration::from_millis(60));
    interrupt(&child);
    let ran = finish(child);
    assert_eq!(ran.code, Some(130), "{ran:?}");
    assert_eq!(bench.read("labels.txt"), "precious");
}

#[cfg(unix)]
#[test]
fn an_interrupt_while_reading_stops_at_once() {
    let bench = bench_with_a_large_graph("g.txt.gz");
    let child = start(&bench, "cluster g.txt.gz -k 1000 -o labels.txt");
    sleep(Duration::from_millis(150));
    interrupt(&child);
    let interrupted = Instant::now();
    let ran = finish(child);
    assert!(interrupted.elapsed() < Duration::from_secs(2));
    assert_eq!(ran.code, Some(130), "{ran:?}");
    assert!(ran.stderr.contains("stopped before there was a result"), "{ran:?}");
    assert_eq!(bench.files(), ["g.txt.gz"]);
}

#[cfg(unix)]
#[test]
fn an_interrupt_while_a_graph_is_packed_leaves_the_old_file_alone() {
    let bench = bench_with_a_large_graph("g.ncut").with("out.txt.gz", "precious");
    let child = start(&bench, "convert g.ncut out.txt.gz");
    let is_writing = || bench.files().iter().any(|name| name.starts_with(".ncut-"));
    while !is_writing() {
        sleep(Duration::from_millis(5));
    }
    interrupt(&child);
    let interrupted = Instant::now();
    let ran = finish(child);
    assert!(interrupted.elapsed() < Duration::from_secs(1), "{:?}", interrupted.elapsed());
    assert_eq!(ran.code, Some(130), "{ran:?}");
    assert_eq!(bench.read("out.txt.gz"), "precious");
    assert_eq!(bench.files(), ["g.ncut", "out.txt.gz"]);
}
