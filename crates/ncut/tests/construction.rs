//! Graphs from edges, entries, rows and files: the same graph by whatever door it comes.

use ncut::io::{GraphFormat, ReadOptions, Separator, parse_graph, read_graph};
use ncut::{Clock, Graph, GraphBuilder, NodeId, Symmetrize, Weights};

/// The same undirected edges by every door; a weight of 1 is left out where a door can do without weights.
fn by_every_door(n_nodes: usize, edges: &[(NodeId, NodeId, f64)]) -> Vec<(&'static str, Graph<'static>)> {
    let mut builder = GraphBuilder::new(n_nodes).unwrap();
    edges.iter().for_each(|&(from, to, weight)| builder.add_edge(from, to, weight).unwrap());
    let is_unit = edges.iter().all(|edge| edge.2 == 1.0);
    let mirrored = edges.iter().flat_map(|&(from, to, weight)| {
        let back = (from != to).then_some((to, from, weight));
        [Some((from, to, weight)), back].into_iter().flatten()
    });
    let mirrored: Vec<(NodeId, NodeId, f64)> = mirrored.collect();
    let entries: Vec<(NodeId, NodeId)> = mirrored.iter().map(|&(row, column, _)| (row, column)).collect();
    let stored: Vec<f64> = mirrored.iter().map(|entry| entry.2).collect();

    let mut by_row = mirrored.clone();
    by_row.sort_by_key(|entry| entry.0);
    let mut offsets: Vec<u64> = vec![0];
    offsets.extend((0..n_nodes).map(|row| by_row.partition_point(|entry| entry.0 as usize <= row) as u64));
    let columns: Vec<NodeId> = by_row.iter().map(|entry| entry.1).collect();
    let in_rows: Vec<f64> = by_row.iter().map(|entry| entry.2).collect();
    let from_rows =
        |weights| Graph::from_csr(offsets.clone(), columns.clone(), weights, Symmetrize::Refuse).unwrap();
    let from_entries =
        |weights| Graph::from_entries(n_nodes, &entries, &weights, Symmetrize::Refuse).unwrap();

    let line = |&(from, to, weight): &(NodeId, NodeId, f64)| match is_unit {
        true => format!("{} {}\n", from + 1, to + 1),
        false => format!("{} {} {weight:?}\n", from + 1, to + 1),
    };
    let field = if is_unit { "pattern" } else { "real" };
    let market = |symmetry: &str, entries: &[(NodeId, NodeId, f64)]| {
        let lines: String = entries.iter().map(line).collect();
        let head = format!("%%MatrixMarket matrix coordinate {field} {symmetry}");
        let text = format!("{head}\n{n_nodes} {n_nodes} {}\n{lines}", entries.len());
        parse_graph(text.as_bytes(), GraphFormat::MatrixMarket, &ReadOptions::default()).unwrap().graph
    };
    let mut doors = vec![
        ("edges", Graph::from_edges(n_nodes, edges.iter().copied()).unwrap()),
        ("builder", builder.finish().unwrap()),
        ("entries", from_entries(Weights::F64((&stored).into()))),
        ("rows", from_rows(Weights::F64(in_rows.into()))),
        ("symmetric file", market("symmetric", edges)),
        ("general file", market("general", &mirrored)),
    ];
    if is_unit {
        doors.push(("entries without weights", from_entries(Weights::Unit)));
        doors.push(("rows without weights", from_rows(Weights::Unit)));
    }
    doors
}

fn width(graph: &Graph<'_>) -> &'static str {
    match graph.weights() {
        Weights::Unit => "none",
        Weights::F32(_) => "32 bits",
        Weights::F64(_) => "64 bits",
    }
}

#[test]
fn a_graph_and_the_width_of_its_weights_are_the_same_by_every_door() {
    for (edges, expected) in [
        // Given once: nothing is stored. Given twice: counted. With weights: as given, unless all become 1.
        (vec![(0, 1, 1.0), (2, 1, 1.0), (3, 3, 1.0)], "none"),
        (vec![(0, 1, 1.0), (2, 1, 1.0), (1, 0, 1.0), (0, 1, 1.0)], "32 bits"),
        (vec![(0, 1, 1.0), (2, 1, 0.1), (1, 0, 1.0)], "64 bits"),
        (vec![(0, 1, 0.5), (2, 1, 1.0), (1, 0, 0.5)], "none"),
        (vec![(3, 1, 0.1), (1, 3, 0.2), (3, 1, 0.3), (0, 2, 0.0), (2, 2, 4.0)], "64 bits"),
    ] {
        let doors = by_every_door(4, &edges);
        let first: Vec<_> = doors[0].1.edges().collect();
        for (door, graph) in &doors {
            assert_eq!(graph.edges().collect::<Vec<_>>(), first, "{door}: {edges:?}");
            assert_eq!(width(graph), expected, "{door}: {edges:?}");
        }
    }
}

#[test]
fn an_edge_list_counts_its_doubled_edges_like_every_other_door() {
    let text = "1 2\n2 3\n2 1\n";
    let parsed =
        parse_graph(text.as_bytes(), GraphFormat::EdgeList(Separator::Detect), &ReadOptions::default());
    assert_eq!(width(&parsed.unwrap().graph), "32 bits");

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("list.txt");
    std::fs::write(&path, text.repeat(20_000)).unwrap();
    let little_memory = ReadOptions { memory_limit: Some(1 << 20), ..ReadOptions::default() };
    let spilled = read_graph(&path, &little_memory, &Clock::new()).unwrap().graph;
    assert_eq!(width(&spilled), "32 bits");
    assert_eq!(spilled.edges().collect::<Vec<_>>(), [(0, 1, 40_000.0), (1, 2, 20_000.0)]);
}

#[test]
fn thirty_two_bit_weights_are_summed_in_sixty_four_bits_and_rounded_once() {
    // In 32 bits 1 would vanish beside 2^24 twice; together both ones do not.
    let (large, one) = ((1 << 24) as f32, 1.0);
    let entries = [(0, 1), (1, 0), (0, 1), (1, 0), (0, 1), (1, 0)];
    let weights = [large, large, one, one, one, one];
    let from_entries =
        Graph::from_entries(2, &entries, &Weights::F32((&weights[..]).into()), Symmetrize::Refuse).unwrap();
    let by_row = [large, one, one, large, one, one];
    let from_rows = Graph::from_csr(
        vec![0, 3, 6],
        vec![1, 1, 1, 0, 0, 0],
        Weights::F32((&by_row[..]).into()),
        Symmetrize::Refuse,
    )
    .unwrap();
    for graph in [from_entries, from_rows] {
        assert!(matches!(graph.weights(), Weights::F32(weights) if weights[..] == [large + 2.0; 2]));
    }
}

#[test]
fn more_edges_than_wait_in_a_builder_add_up_in_their_order() {
    const N: usize = 1100;
    let mut state = 5u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut sums = vec![0.0; N * N];
    let mut edges = Vec::new();
    for _ in 0..(1 << 21) + 1000 {
        let (from, to) = (next(N as u64) as NodeId, next(N as u64) as NodeId);
        let weight = 0.1 + next(1000) as f64 / 7.0;
        sums[from.min(to) as usize * N + from.max(to) as usize] += weight;
        edges.push((from, to, weight));
    }
    let graph = Graph::from_edges(N, edges).unwrap();
    let mut n_edges = 0;
    for (from, to, weight) in graph.edges() {
        assert_eq!(weight.to_bits(), sums[from as usize * N + to as usize].to_bits());
        n_edges += 1;
    }
    assert_eq!(n_edges, sums.iter().filter(|&&sum| sum > 0.0).count());
}
