//! Calls that are refused, and what is said about them.
#![cfg(feature = "neighbors")]

use ncut::neighbors::{Points, self_tuning_graph};
use ncut::{Agreement, CutScore, Error, Graph, Ncut, Partition, Symmetrize, Weights};

fn path() -> Graph<'static> {
    Graph::from_edges(3, [(0, 1, 1.0), (1, 2, 1.0)]).unwrap()
}

fn csr(offsets: &[u64], neighbors: &[u32], weights: &[f64]) -> Result<(), Error> {
    let weights = Weights::F64(weights.into());
    Graph::from_csr(offsets, neighbors, weights, Symmetrize::Refuse).map(|_| ())
}

fn edges(n_nodes: usize, edge: (u32, u32, f64)) -> Result<(), Error> {
    Graph::from_edges(n_nodes, [edge]).map(|_| ())
}

#[test]
fn every_refusal_names_the_place_and_the_remedy() {
    let nothing: Result<(), Error> = Graph::from_edges(0, []).map(|_| ());
    let cases: Vec<(Result<(), Error>, &str)> = vec![
        (nothing, "the graph has no nodes"),
        (edges(2, (0, 2, 1.0)), "entry (0, 2) is outside the graph, whose nodes are 0 to 1"),
        (edges(2, (0, 1, -0.5)), "the weight of (0, 1) is -0.5; weights must not be negative"),
        (edges(2, (0, 1, f64::NAN)), "the weight of (0, 1) is NaN; weights must be finite"),
        (edges(2, (0, 1, f64::INFINITY)), "the weight of (0, 1) is inf; weights must be finite"),
        (
            Graph::from_edges(3, [(0, 1, 1e308), (1, 2, 1e308)]).map(|_| ()),
            "the weights add up to more than a 64-bit float can hold",
        ),
        (csr(&[], &[], &[]), "the row offsets are empty"),
        (csr(&[0], &[], &[]), "the graph has no nodes"),
        (csr(&[1, 2], &[0], &[1.0]), "the row offsets start at 1 instead of 0"),
        (csr(&[0, 2, 1], &[0], &[1.0]), "the row offsets fall from 2 to 1 at row 1"),
        (csr(&[0, 1], &[0, 0], &[1.0, 1.0]), "the row offsets end at 1, but there are 2 column numbers"),
        (csr(&[0, 1], &[0], &[]), "there are 1 column numbers but 0 weights"),
        (csr(&[0, 1, 2], &[1, 2], &[1.0, 1.0]), "entry (1, 2) is outside the graph, whose nodes are 0 to 1"),
        (csr(&[0, 1, 2], &[1, 0], &[-1.0, -1.0]), "the weight of (0, 1) is -1"),
        (csr(&[0, 1, 2], &[1, 0], &[1.0, f64::NAN]), "the weight of (1, 0) is NaN"),
        (
            csr(&[0, 1, 2], &[1, 0], &[1.0, 2.0]),
            "the weight of (0, 1) is 1, that of (1, 0) is 2; symmetrize it first",
        ),
        (csr(&[0, 1, 1], &[1], &[3.0]), "the weight of (0, 1) is 3, that of (1, 0) is 0"),
        (csr(&[0, 0, 1], &[0], &[3.0]), "the weight of (0, 1) is 0, that of (1, 0) is 3"),
        (
            Graph::from_entries(2, &[(0, 1)], &Weights::F64(vec![1.0, 2.0].into()), Symmetrize::Refuse)
                .map(|_| ()),
            "there are 1 entries but 2 weights",
        ),
        (
            Graph::from_entries(2, &[(0, 5)], &Weights::Unit, Symmetrize::Refuse).map(|_| ()),
            "entry (0, 5) is outside the graph",
        ),
        (path().contract(&[0, 0], 1).map(|_| ()), "2 labels were given for 3 nodes"),
        (path().contract(&[0, 0, 2], 2).map(|_| ()), "node 2 has label 2, but the labels end at 1"),
        (path().contract(&[0, 0, 0], usize::MAX).map(|_| ()), "groups were asked of 3 nodes"),
        (Partition::new(&path(), vec![0; 3], 1 << 61).map(|_| ()), "clusters were asked of 3 nodes"),
        (Ncut::new(2).init(vec![-1; 3]).solve(&path()).map(|_| ()), "the starting labels are all -1"),
        (CutScore::new(&path(), &[-1; 3]).map(|_| ()), "all nodes are labelled -1"),
        (Agreement::new(&[-2], &[0]).map(|_| ()), "a label is -2"),
        (path().contract(&[0, 0, 0], 2).map(|_| ()), "no node has label 1"),
        (path().contract(&[0, 0, ncut::LEFT_OUT], 1).map(|_| ()), "node 2 has edges and cannot be left out"),
        (path().induced(&[1, 0]).map(|_| ()), "the nodes of a subgraph must ascend"),
        (path().induced(&[0, 3]).map(|_| ()), "entry (3, 3) is outside the graph"),
        (path().induced(&[]).map(|_| ()), "the graph has no nodes"),
        (Partition::new(&path(), vec![0, 0], 1).map(|_| ()), "2 labels were given for 3 nodes"),
        (Partition::new(&path(), vec![0, 0, 4], 2).map(|_| ()), "node 2 has label 4"),
        (Ncut::new(0).solve(&path()).map(|_| ()), "0 clusters were asked of 3 nodes; ask for at least 1"),
        (
            Ncut::new(4).solve(&path()).map(|_| ()),
            "4 clusters were asked of 3 nodes; every cluster needs a node",
        ),
        (Ncut::new(2).min_share(1.5).solve(&path()).map(|_| ()), "min_share is 1.5; it must be from 0 to 1"),
        (Ncut::new(2).min_share(f64::NAN).solve(&path()).map(|_| ()), "min_share is NaN"),
        (Ncut::new(2).tolerance(-1.0).solve(&path()).map(|_| ()), "tolerance is -1"),
        (
            Ncut::new(2).init(vec![0, 1]).solve(&path()).map(|_| ()),
            "2 starting labels were given for 3 nodes",
        ),
        (
            Ncut::new(2).init(vec![0, 0, 0]).solve(&path()).map(|_| ()),
            "the starting labels name 1 cluster, but 2 were asked for",
        ),
        (Ncut::new(2).init(vec![0, 1, -3]).solve(&path()).map(|_| ()), "the starting label -3 is negative"),
        (CutScore::new(&path(), &[0]).map(|_| ()), "1 labels were given for 3 nodes"),
        (CutScore::new(&path(), &[0, -2, 0]).map(|_| ()), "node 1 has label -2"),
        (Agreement::new(&[0], &[0, 1]).map(|_| ()), "1 labels cannot be compared with 2 true ones"),
        (Points::new(&[1.0, f64::NAN], 1).map(|_| ()), "row 1, column 0 is NaN"),
        (Points::new(&[1.0, 2.0, 3.0], 2).map(|_| ()), "3 numbers are no table of points with 2 features"),
        (
            Points::new(&[1.0], 1).and_then(|points| self_tuning_graph(points, 0)).map(|_| ()),
            "n_neighbors is 0; it must be at least 1",
        ),
    ];
    for (result, message) in cases {
        let error = result.expect_err(message).to_string();
        assert!(error.contains(message), "expected «{message}», got «{error}»");
    }
}

#[test]
fn a_component_smaller_than_k_is_refused() {
    let graph = Graph::from_edges(5, [(0, 1, 1.0), (1, 2, 1.0), (3, 4, 1.0)]).unwrap();
    let largest = Ncut::new(4).components(ncut::ComponentChoice::Largest);
    assert!(matches!(largest.solve(&graph), Err(Error::BadClusterCount { n_clusters: 4, n_nodes: 3, .. })));
}

#[test]
fn refusals_name_nodes_as_their_owner_does() {
    let names = ["ann", "bo", "cy"];
    let name = |node: u32| format!("`{}`", names[node as usize]);
    let asymmetric = Error::Asymmetric { from: 0, to: 2, weight: 1.0, mirror: 0.5 };
    let told = asymmetric.with_names(name).to_string();
    assert!(
        told.contains("the weight of (`ann`, `cy`) is 1, that of (`cy`, `ann`) is 0.5; symmetrize"),
        "{told}"
    );
    let negative = Error::BadWeight { from: 1, to: 2, weight: -1.0 };
    let told = negative.with_names(name).to_string();
    assert!(told.starts_with("the weight of (`bo`, `cy`) is -1; weights must not be negative"), "{told}");
}
