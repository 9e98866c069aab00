//! Graphs so large that their nodes are visited block by block, on all threads.

use ncut::descent::{StoppingRule, settle};
use ncut::synthetic::Planted;
use ncut::{Clock, ClusterId, Links, NodeId, Partition};

#[test]
fn a_large_graph_settles_alike_on_any_number_of_threads_and_is_at_rest_then() {
    let k = 40;
    let planted = Planted { mean_degree: 24.0, ..Planted::new(300_000, k) }.graph(1).unwrap();
    let graph = planted.graph;
    // Half of the nodes start in a wrong cluster.
    let wrong = |node: usize| if node.is_multiple_of(2) { node % k } else { planted.labels[node] as usize };
    let start: Vec<ClusterId> = (0..graph.n_nodes()).map(|node| wrong(node) as ClusterId).collect();
    let settled = |n_threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        let mut partition = Partition::new(&graph, start.clone(), k).unwrap();
        let rule = StoppingRule { max_sweeps: 200, tolerance: 0.0 };
        let descent = pool.install(|| settle(&mut partition, &rule, &Clock::new()));
        (partition, descent)
    };
    let (partition, descent) = settled(1);
    assert!(descent.moves > 100_000, "{descent:?}");
    for n_threads in [2, 3] {
        let (other, other_descent) = settled(n_threads);
        assert!(partition.labels() == other.labels() && descent == other_descent, "{n_threads} threads");
    }
    let mut links = Links::new(k);
    let gains = (0..graph.n_nodes() as NodeId).filter_map(|node| partition.best_move(node, &mut links));
    assert!(gains.map(|step| step.gain()).fold(0.0, f64::max) < 1e-12);
    let fresh = Partition::new(&graph, partition.labels().to_vec(), k).unwrap();
    assert!((partition.objective() - fresh.objective()).abs() < 1e-9);
}
