#![no_main]

use libfuzzer_sys::fuzz_target;
use ncut::io::{GraphFormat, Separator};

fuzz_target!(|bytes: &[u8]| {
    for separator in [Separator::Detect, Separator::Comma, Separator::Tab] {
        ncut_fuzz::read_and_cluster(bytes, GraphFormat::EdgeList(separator));
    }
});
