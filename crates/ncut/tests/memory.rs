//! Clustering a matrix that is there already needs no more than half as much memory again for every byte of it.
//!
//! The example `memory` measures the same on graphs of 20 million entries.

#![cfg(target_os = "linux")]

mod common;

use std::process::Command;

use common::{hash, status};
use ncut::{Graph, Ncut, Preset, Symmetrize, Weights};

/// The rise of the peak, in units of the matrix.
const MOST: f64 = 1.5;
/// Names the preset to a process that measures.
const PRESET: &str = "NCUT_TEST_PRESET";

#[test]
fn a_borrowed_matrix_is_not_copied_twice() {
    // One process a preset, and arrays given back at once: what the allocator keeps for later, up to 64 MB, is little
    // beside a large matrix, but not beside this one.
    for preset in [Preset::Paper, Preset::Fast, Preset::Default] {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "one_preset", "--ignored", "--nocapture"])
            .env(PRESET, preset.name())
            .env("MALLOC_MMAP_THRESHOLD_", "65536")
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn one_preset() {
    let Ok(name) = std::env::var(PRESET) else { return };
    let presets = [Preset::Paper, Preset::Fast, Preset::Default];
    let preset = presets.into_iter().find(|preset| preset.name() == name).unwrap();
    let (offsets, columns, weights) = ring(150_000, 10);
    let matrix = size_of_val(&columns[..]) + size_of_val(&weights[..]);
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = status("VmRSS:");
    let weights = Weights::F64(weights[..].into());
    let graph = Graph::from_csr(&offsets[..], &columns[..], weights, Symmetrize::Refuse).unwrap();
    let found = Ncut::new(8).preset(preset).solve(&graph).unwrap();
    let rise = (status("VmHWM:") - before) as f64 / matrix as f64;
    assert_eq!(found.clusters.len(), 8);
    println!("{name}: {rise:.2}");
    assert!(rise <= MOST, "preset {name} takes {rise:.2} times the matrix");
}

/// Nodes on a ring, each linked to those at the same `n_links` random distances either way: nothing in it to find,
/// and hardly anything that coarsening makes smaller. Made without any array but its own.
fn ring(n_nodes: u32, n_links: u32) -> (Vec<u64>, Vec<u32>, Vec<f64>) {
    let distances: Vec<u32> =
        (1..=n_links).map(|link| 1 + hash(link.into()) as u32 % (n_nodes / 2 - 1)).collect();
    let (mut offsets, mut columns, mut weights) = (vec![0], Vec::new(), Vec::new());
    for node in 0..n_nodes {
        let both = |&distance: &u32| [(node + distance) % n_nodes, (node + n_nodes - distance) % n_nodes];
        let mut row: Vec<u32> = distances.iter().flat_map(both).collect();
        row.sort_unstable();
        row.dedup();
        for neighbor in row {
            let pair = u64::from(node.min(neighbor)) << 32 | u64::from(node.max(neighbor));
            columns.push(neighbor);
            weights.push(0.5 + (hash(pair) >> 11) as f64 / (1u64 << 53) as f64);
        }
        offsets.push(columns.len() as u64);
    }
    (offsets, columns, weights)
}
