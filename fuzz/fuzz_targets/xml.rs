#![no_main]

use libfuzzer_sys::fuzz_target;
use ncut::io::{GraphFormat, LabelFormat, parse_labels};

fuzz_target!(|bytes: &[u8]| {
    ncut_fuzz::read_and_cluster(bytes, GraphFormat::GraphMl);
    ncut_fuzz::read_and_cluster(bytes, GraphFormat::Gexf);
    let _ = parse_labels(bytes, LabelFormat::Attribute(GraphFormat::GraphMl), 4, None);
});
