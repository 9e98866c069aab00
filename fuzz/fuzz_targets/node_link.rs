#![no_main]

use libfuzzer_sys::fuzz_target;
use ncut::io::{GraphFormat, LabelFormat, parse_labels};

fuzz_target!(|bytes: &[u8]| {
    ncut_fuzz::read_and_cluster(bytes, GraphFormat::NodeLink);
    let _ = parse_labels(bytes, LabelFormat::Json, 4, None);
});
