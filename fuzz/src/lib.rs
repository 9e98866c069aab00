//! What every fuzz target does with a graph that was read: use it as a user would.

use ncut::io::{GraphFormat, ReadOptions, parse_graph};
use ncut::{CutScore, Ncut, Symmetrize};

/// Reads a graph and clusters it; whatever the bytes, there is an error or a correct result.
pub fn read_and_cluster(bytes: &[u8], format: GraphFormat) {
    for symmetrize in [Symmetrize::Refuse, Symmetrize::Average, Symmetrize::Max] {
        let options = ReadOptions { symmetrize, ..ReadOptions::default() };
        let Ok(file) = parse_graph(bytes, format, &options) else { continue };
        let n_nodes = file.graph.n_nodes();
        // A file that is mapped is compared with its checksums when it is first used.
        if n_nodes > 64 || file.graph.verify().is_err() {
            continue;
        }
        let k = 1 + bytes.len() % n_nodes;
        let found = Ncut::new(k).solve(&file.graph).expect("k is between 1 and n");
        assert_eq!(found.clusters.len(), k);
        assert!(found.clusters.iter().all(|cluster| cluster.size > 0));
        assert!(found.objective.is_finite() && found.ncut.is_finite());
        let score = CutScore::new(&file.graph, &found.labels).expect("the labels fit the graph");
        assert_eq!(score.objective, found.objective);
    }
}
