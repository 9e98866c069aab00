//! Memory is estimated before it is taken: estimates against peaks, each in a process of its own, and refusals.

#![cfg(target_os = "linux")]

mod common;

use std::process::Command;

use common::{hash, status};
use ncut::neighbors::{Affinity, NeighborSearch, PointGraph, Points, SearchMethod};
use ncut::spectral::{BalancedCut, Distance, LaplacianRank, Spectrum, SpectrumSettings};
use ncut::{Clock, Error, Graph, GraphBuilder, Ncut, Preset};

/// Names the case to a process that measures.
const CASE: &str = "NCUT_TEST_NEED";
/// An estimate may be so many times the peak, beside what any work may take.
const MOST: f64 = 5.0;
const BASE: f64 = 64e6;

/// What is measured: a graph or points, and what is done with them.
const CASES: [&str; 15] = [
    "random fast 8",
    "random fast 1000",
    "random default 300",
    "random paper 8",
    "random paper 1000",
    "dense fast 200",
    "dense default 8",
    "dense best 8",
    "grid default 100",
    "grid paper 100",
    "random spectrum 20",
    "random clr 20",
    "random sbmc 20",
    "points exact 25",
    "points adaptive 25",
];

#[test]
fn estimates_are_above_peaks_and_not_far() {
    check(&CASES);
}

#[test]
#[ignore = "some minutes: larger graphs, more presets"]
fn estimates_hold_for_more_cases() {
    check(&[
        "random best 1000",
        "random spectrum 100",
        "large fast 8",
        "large fast 1000",
        "large default 100",
        "large paper 100",
        "wide default 100",
        "wide fast 1000",
        "points approximate 25",
        "points exact 100",
    ]);
}

fn check(cases: &[&str]) {
    for case in cases {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "one_case", "--ignored", "--nocapture"])
            .env(CASE, case)
            .env("RAYON_NUM_THREADS", "2")
            .env("MALLOC_MMAP_THRESHOLD_", "65536")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{case}: {text}{}", String::from_utf8_lossy(&output.stderr));
        let line = text.lines().find(|line| line.starts_with("needs ")).unwrap();
        let numbers: Vec<f64> = line.split_whitespace().skip(1).map(|word| word.parse().unwrap()).collect();
        let (estimate, peak) = (numbers[0], numbers[1]);
        println!("{case:<24} estimate {:6.0} MB, peak {:6.0} MB", estimate / 1e6, peak / 1e6);
        assert!(estimate >= peak, "{case}: {peak} bytes at the peak, {estimate} estimated");
        assert!(estimate <= MOST * peak + BASE, "{case}: {peak} bytes at the peak, {estimate} estimated");
    }
}

#[test]
#[ignore = "run by the tests above, in a process of its own"]
fn one_case() {
    let Ok(case) = std::env::var(CASE) else { return };
    let words: Vec<&str> = case.split(' ').collect();
    let count: usize = words[2].parse().unwrap();
    let (estimate, peak) = match (words[0], words[1]) {
        ("points", method) => {
            let (values, n_features) = (noise(20_000 * 10), 10);
            let points = Points::new(&values, n_features).unwrap();
            let affinity = if method == "adaptive" { Affinity::Adaptive } else { Affinity::SelfTuning };
            let method =
                if method == "approximate" { SearchMethod::Approximate } else { SearchMethod::Exact };
            let settings = PointGraph { affinity, n_neighbors: count, method, ..PointGraph::default() };
            let search = NeighborSearch { n_neighbors: count, method, ..NeighborSearch::default() };
            let peak = rise(|| drop(settings.build(points, &Clock::new()).unwrap()));
            (search.memory_needed(points), peak)
        }
        (graph, "spectrum") => {
            let graph = graph_of(graph);
            let settings = SpectrumSettings { tolerance: 1e-3, ..SpectrumSettings::default() };
            let peak = rise(|| drop(Spectrum::of(&graph, count, &settings, &Clock::new()).unwrap()));
            (Spectrum::memory_needed(&graph, count), peak)
        }
        (graph, "clr") => {
            let graph = graph_of(graph);
            let spectrum = SpectrumSettings { tolerance: 1e-3, ..SpectrumSettings::default() };
            let settings =
                LaplacianRank { max_rounds: 2, spectrum, ..LaplacianRank::new(count, Distance::L1) };
            let peak = rise(|| drop(settings.run(&graph, &Clock::new()).unwrap()));
            (LaplacianRank::memory_needed(&graph, count), peak)
        }
        (graph, "sbmc") => {
            let graph = graph_of(graph);
            let start: Vec<u32> = (0..graph.n_nodes()).map(|node| (node % count) as u32).collect();
            let peak =
                rise(|| drop(BalancedCut::default().run(&graph, count, &start, &Clock::new()).unwrap()));
            (BalancedCut::memory_needed(&graph, count), peak)
        }
        (graph, preset) => {
            let graph = graph_of(graph);
            let presets = [Preset::Paper, Preset::Fast, Preset::Default, Preset::Best];
            let preset = presets.into_iter().find(|known| known.name() == preset).unwrap();
            let settings = Ncut::new(count).preset(preset).time_limit(std::time::Duration::from_secs(20));
            let peak = rise(|| drop(settings.solve(&graph).unwrap()));
            (settings.memory_needed(&graph), peak)
        }
    };
    println!("needs {estimate} {peak}");
}

#[test]
fn a_graph_that_is_too_large_for_the_memory_is_refused_before_any_work() {
    let graph = random(1000, 5000);
    let clock = Clock::new();
    clock.allow_memory(1 << 20);
    let error = Ncut::new(4).solve_by(&graph, &clock).unwrap_err();
    assert!(matches!(error, Error::TooLittleMemory { limit: Some(limit), .. } if limit == 1 << 20));
    let message = error.to_string();
    assert!(message.contains("but only 1.0 MiB are left for it"), "{message}");
    assert!(message.contains("--memory-limit"), "{message}");
    assert!(Ncut::new(4).choose(&graph, 1..=5, &clock).is_err());
    assert!(Spectrum::of(&graph, 4, &SpectrumSettings::default(), &clock).is_err());
    clock.allow_memory(1 << 30);
    assert_eq!(Ncut::new(4).solve_by(&graph, &clock).unwrap().clusters.len(), 4);
}

#[test]
fn points_that_are_too_many_for_the_memory_are_refused() {
    let values = noise(2000);
    let points = Points::new(&values, 1).unwrap();
    let clock = Clock::new();
    clock.allow_memory(1 << 16);
    assert!(PointGraph::default().build(points, &clock).is_err());
}

fn graph_of(name: &str) -> Graph<'static> {
    match name {
        "random" => random(50_000, 450_000),
        "dense" => random(3000, 300_000),
        "grid" => grid(300),
        "large" => random(150_000, 1_500_000),
        "wide" => grid(1000),
        _ => panic!("no such graph"),
    }
}

/// Nothing in it to find, so that nothing makes its coarse graphs smaller.
fn random(n_nodes: u32, n_edges: usize) -> Graph<'static> {
    let mut builder = GraphBuilder::new(n_nodes as usize).unwrap();
    for edge in 0..n_edges as u64 {
        let end = |salt: u64| (hash(2 * edge + salt) % u64::from(n_nodes)) as u32;
        builder.add_edge(end(0), end(1), 0.5 + (hash(edge) % 1000) as f64 / 1000.0).unwrap();
    }
    builder.finish().unwrap()
}

fn grid(side: u32) -> Graph<'static> {
    let mut builder = GraphBuilder::new((side * side) as usize).unwrap();
    for node in 0..side * side {
        if node % side + 1 < side {
            builder.add_edge(node, node + 1, 1.0 + f64::from(node % 7)).unwrap();
        }
        if node + side < side * side {
            builder.add_edge(node, node + side, 1.0 + f64::from(node % 5)).unwrap();
        }
    }
    builder.finish().unwrap()
}

fn noise(count: u64) -> Vec<f64> {
    (0..count).map(|place| (hash(place) >> 11) as f64 / (1u64 << 53) as f64).collect()
}

/// How far the memory of this process rises above what it is, at the peak.
fn rise(work: impl FnOnce()) -> usize {
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = status("VmRSS:");
    work();
    status("VmHWM:") - before
}
