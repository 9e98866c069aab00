#![no_main]

use libfuzzer_sys::fuzz_target;
use ncut::io::{GraphFormat, LabelFormat, ReadOptions, Separator, parse_graph, parse_labels};

fuzz_target!(|bytes: &[u8]| {
    let edges = b"a b\nb c\n\"d e\" a\n0 1\n";
    let format = GraphFormat::EdgeList(Separator::Detect);
    // Not `Separator::Comma`: the quoted id must survive white space.
    let file = parse_graph(edges, format, &ReadOptions::default()).expect("a good edge list");
    let n_nodes = file.graph.n_nodes();
    for names in [None, file.names.as_ref()] {
        if let Ok(labels) = parse_labels(bytes, LabelFormat::Text, n_nodes, names) {
            assert_eq!(labels.len(), n_nodes);
            assert!(labels.iter().all(|&label| label >= -1));
        }
    }
});
