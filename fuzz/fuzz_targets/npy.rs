#![no_main]

use libfuzzer_sys::fuzz_target;
use ncut::io::{LabelFormat, parse_labels};

fuzz_target!(|bytes: &[u8]| {
    for n_nodes in [0, 1, 4] {
        for format in [LabelFormat::Npy, LabelFormat::Npz] {
            if let Ok(labels) = parse_labels(bytes, format, n_nodes, None) {
                assert_eq!(labels.len(), n_nodes);
            }
        }
    }
});
