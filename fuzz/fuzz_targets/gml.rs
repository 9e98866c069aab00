#![no_main]

use libfuzzer_sys::fuzz_target;
use ncut::io::{GraphFormat, LabelFormat, parse_labels};

fuzz_target!(|bytes: &[u8]| {
    ncut_fuzz::read_and_cluster(bytes, GraphFormat::Gml);
    let _ = parse_labels(bytes, LabelFormat::Attribute(GraphFormat::Gml), 4, None);
});
