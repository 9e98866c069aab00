#![no_main]

use libfuzzer_sys::fuzz_target;
use ncut::io::{Separator, parse_table};
use ncut::neighbors::self_tuning_graph;

fuzz_target!(|bytes: &[u8]| {
    for separator in [Separator::Detect, Separator::Comma, Separator::Tab] {
        let Ok(table) = parse_table(bytes, separator) else { continue };
        let points = table.points();
        if points.count() <= 16 {
            let graph = self_tuning_graph(points, 3).expect("good points have a graph");
            assert_eq!(graph.n_nodes(), points.count());
        }
    }
});
