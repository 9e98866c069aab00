//! The page about a clustering, without a browser.

use ncut::synthetic::five_blocks;
use ncut::{Clock, Graph, Label, Ncut, ObjectiveKind, Page, Solver};

/// Two triangles and an edge between them, and a node by itself.
fn triangles() -> Graph<'static> {
    let edges = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5)];
    Graph::from_edges(7, edges.map(|(from, to)| (from, to, 1.0))).unwrap()
}

const LABELS: [i32; 7] = [0, 0, 0, 1, 1, 1, -1];

fn html(page: &Page<'_>) -> String {
    page.html(&Clock::new()).unwrap()
}

#[test]
fn the_same_description_gives_the_same_page() {
    let blocks = five_blocks(0.5, 1).unwrap();
    let found = Ncut::new(5).solve(&blocks.graph).unwrap();
    let page = Page::new("blocks", &blocks.graph, &found.labels);
    assert_eq!(html(&page), html(&page));
}

#[test]
fn a_template_in_a_name_is_not_filled() {
    let graph = triangles();
    let name = |node| format!("{{{{data}}}} {node}");
    let mut page = Page::new("{{script}}", &graph, &LABELS);
    page.name = Some(&name);
    let html = html(&page);
    assert!(html.contains("<p class=\"source\">{{script}}</p>"));
    assert!(html.contains("\"{{data}} 3\""));
}

#[test]
fn every_labelling_has_a_page() {
    let graph = triangles();
    for (labels, headline) in [
        ([-1; 7], "No clusters"),
        ([0; 7], "One cluster: nothing is divided"),
        (LABELS, "2 clusters"),
        ([5, 5, 5, 900, 900, 900, 900], "2 clusters"),
        ([0, 1, 2, 3, 4, 5, 6], "7 clusters: 0\u{a0}% of the weight stays inside"),
    ] {
        for kind in ObjectiveKind::ALL {
            let mut page = Page::new("g", &graph, &labels);
            page.objective = kind;
            let found = self::headline(&page);
            assert!(found.starts_with(headline), "{labels:?}: {found}");
        }
    }
    let empty = Graph::from_edges(3, []).unwrap();
    assert!(html(&Page::new("g", &empty, &[0, 1, 1])).contains("2 clusters"));
}

#[test]
fn of_many_nodes_some_are_drawn_and_the_typical_ones_always() {
    let blocks = five_blocks(0.5, 1).unwrap();
    let found = Ncut::new(5).solve(&blocks.graph).unwrap();
    let mut page = Page::new("blocks", &blocks.graph, &found.labels);
    page.max_nodes = 40;
    let html = html(&page);
    assert!(html.contains("\"count\":500,"));
    let (_, shown) = html.split_once("\"shown\":").unwrap();
    let shown: usize = shown.split_once(',').unwrap().0.parse().unwrap();
    assert!((40..=40 + 5 * 6).contains(&shown), "{shown}");
}

fn headline(page: &Page<'_>) -> String {
    let html = html(page);
    let (_, rest) = html.split_once("<h1>").unwrap();
    rest.split_once("</h1>").unwrap().0.to_owned()
}

/// A square grid of nodes, each linked to the next.
fn mesh(side: u32) -> Graph<'static> {
    let right = (0..side * side).filter(|node| node % side + 1 < side).map(|node| (node, node + 1, 1.0));
    let down = (0..side * (side - 1)).map(|node| (node, node + side, 1.0));
    Graph::from_edges((side * side) as usize, right.chain(down)).unwrap()
}

/// Random pairs of nodes, the same each time.
fn random_graph(n_nodes: u64, n_edges: u64, mixed: fn(u64, u64) -> u64) -> Graph<'static> {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n_nodes
    };
    let mut edges = Vec::new();
    while (edges.len() as u64) < n_edges {
        let (a, b) = (mixed(next(), n_nodes), mixed(next(), n_nodes));
        if a != b {
            edges.push((a as u32, b as u32, 1.0));
        }
    }
    Graph::from_edges(n_nodes as usize, edges).unwrap()
}

#[test]
fn what_only_looks_like_clusters_is_not_praised() {
    let mesh = mesh(30);
    let found = Ncut::new(6).solve(&mesh).unwrap();
    let page = Page::new("mesh", &mesh, &found.labels);
    assert_eq!(headline(&page), "6 clusters, not apart: their borders are no thinner than cuts through them");
    assert!(!html(&page).contains("\"Modularity\",\"value\""));

    let random = random_graph(300, 2000, |node, _| node);
    let found = Ncut::new(8).solve(&random).unwrap();
    let page = Page::new("random", &random, &found.labels);
    assert_eq!(headline(&page), "8 clusters, not apart: their borders are no thinner than cuts through them");

    // Degrees that differ much.
    let uneven = random_graph(400, 1600, |node, n_nodes| node.pow(3) / n_nodes.pow(2));
    let found = Ncut::new(6).solve(&uneven).unwrap();
    let page = Page::new("uneven", &uneven, &found.labels);
    assert!(headline(&page).starts_with("6 clusters, no"), "{}", headline(&page));
}

#[test]
fn blocks_are_apart() {
    let blocks = five_blocks(0.5, 1).unwrap();
    let page = Page::new("blocks", &blocks.graph, &blocks.labels);
    assert!(headline(&page).starts_with("5 clusters, all apart: "), "{}", headline(&page));
}

#[test]
fn a_single_cluster_has_no_figures_that_compare() {
    let graph = mesh(3);
    let html = html(&Page::new("g", &graph, &[0; 9]));
    assert!(html.contains("\"with all 9 nodes\"") && !html.contains("\"name\":\"Unsure\""));
    let graph = triangles();
    let html = self::html(&Page::new("g", &graph, &LABELS));
    assert!(html.contains("\"of 3 nodes each\""));
}

#[test]
fn known_classes_are_told_by_name() {
    let graph = triangles();
    let classes: [Label; 7] = [0, 0, 1, 1, 1, 5, -1];
    let names = ["oak".to_owned(), "elm".to_owned()];
    let mut page = Page::new("g", &graph, &LABELS);
    page.truth = Some((&classes, &names));
    let html = html(&page);
    assert!(html.contains(
        "\"truth\":{\"names\":[\"oak\",\"elm\",\"5\"],\"shared\":[[0,0,2],[0,1,1],[1,1,2],[1,2,1]]"
    ));
    page.truth = Some((&classes[1..], &names));
    let refused = page.html(&Clock::new()).unwrap_err().to_string();
    assert!(refused.contains("6 known classes were given for 7 nodes"), "{refused}");
}

#[test]
fn what_does_not_fit_the_graph_is_refused() {
    let graph = triangles();
    let refused = |page: &Page<'_>| page.html(&Clock::new()).unwrap_err().to_string();
    assert!(refused(&Page::new("g", &graph, &LABELS[1..])).contains("6 labels were given for 7 nodes"));
    let solver = Solver {
        name: "mine".into(),
        labels: vec![0],
        objective: 1.0,
        ncut: 0.0,
        smallest_share: 1.0,
        gap: None,
        agreement: None,
        seconds: 0.0,
        remark: String::new(),
    };
    let solvers = [solver];
    let mut page = Page::new("g", &graph, &LABELS);
    page.solvers = &solvers;
    assert!(refused(&page).contains("1 labels of mine were given for 7 nodes"));
}

#[test]
fn places_are_near_for_linked_nodes() {
    let graph = triangles();
    let places = Page::new("g", &graph, &LABELS).places(&Clock::new()).unwrap().unwrap();
    let distance = |a: usize, b: usize| {
        let ((x, y), (u, v)) = (places[a], places[b]);
        ((x - u).powi(2) + (y - v).powi(2)).sqrt()
    };
    assert!(distance(0, 1) < distance(0, 4) && distance(4, 5) < distance(5, 1));
}
