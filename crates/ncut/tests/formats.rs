//! The formats of other programs: GraphML, GEXF, GML, Pajek and node-link JSON, and labels in them.
#![cfg(feature = "files")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use ncut::io::{
    GraphFile, GraphFormat, LabelFormat, Names, ReadOptions, Separator, check_labels_writable, parse_graph,
    parse_labels, read_classes, read_graph, read_labels, write_graph, write_labelled_graph, write_labels,
};
use ncut::{Clock, Graph, Label, Symmetrize};
use proptest::prelude::*;
use tempfile::TempDir;

const NAMES: [&str; 7] = ["g.graphml", "g.gexf", "g.gml", "g.net", "g.json", "g.graphml.gz", "g.json.zst"];

fn parse(text: &str, format: GraphFormat) -> ncut::Result<GraphFile> {
    parse_graph(text.as_bytes(), format, &ReadOptions::default())
}

fn read(path: &Path) -> GraphFile {
    read_graph(path, &ReadOptions::default(), &Clock::new()).unwrap_or_else(|error| panic!("{error}"))
}

/// Every edge by the ids of its ends.
fn edges(file: &GraphFile) -> BTreeMap<(String, String), f64> {
    let names = file.names.as_ref().unwrap();
    let id = |node| names.get(node).into_owned();
    let ordered = |a: String, b: String| if a <= b { (a, b) } else { (b, a) };
    file.graph.edges().map(|(a, b, weight)| (ordered(id(a), id(b)), weight)).collect()
}

fn ids(names: Option<&Names>) -> Vec<String> {
    names.unwrap().iter().map(std::borrow::Cow::into_owned).collect()
}

fn expected(edges: &[(&str, &str, f64)]) -> BTreeMap<(String, String), f64> {
    edges.iter().map(|&(a, b, weight)| ((a.to_owned(), b.to_owned()), weight)).collect()
}

/// Three nodes with odd ids and one alone.
fn odd() -> GraphFile {
    let text = "\"a <b> & 'c'\",\"x y\",0.1\n\"x y\",ü,2e-7\nü,ü,1.5\nalone,alone,0\n";
    parse(text, GraphFormat::EdgeList(Separator::Comma)).unwrap()
}

#[test]
fn every_format_gives_back_names_weights_and_single_nodes() {
    let (file, folder) = (odd(), TempDir::new().unwrap());
    for name in NAMES {
        let path = folder.path().join(name);
        write_graph(&path, &file.graph, file.names.as_ref()).unwrap();
        let back = read(&path);
        assert_eq!(ids(back.names.as_ref()), ids(file.names.as_ref()), "{name}");
        assert_eq!(edges(&back), edges(&file), "{name}");
        assert_eq!(back.graph.n_isolated(), 1, "{name}");
    }
}

#[test]
fn labels_are_written_with_the_graph_and_read_by_id() {
    let (file, folder) = (odd(), TempDir::new().unwrap());
    let labels: [Label; 4] = [3, 0, -1, 7];
    for name in ["g.graphml", "g.gexf", "g.gml", "g.gml.gz"] {
        let path = folder.path().join(name);
        write_labelled_graph(&path, &file.graph, file.names.as_ref(), &labels).unwrap();
        assert_eq!(edges(&read(&path)), edges(&file), "{name}");
        assert_eq!(read_labels(&path, 4, file.names.as_ref()).unwrap(), labels, "{name}");
        write_labelled_graph(&path, &file.graph, None, &labels).unwrap();
        assert_eq!(read_labels(&path, 4, None).unwrap(), labels, "{name}, without ids");
        let error = read_labels(&path, 4, file.names.as_ref()).unwrap_err().to_string();
        assert!(error.contains("`0` is no node of the graph"), "{error}");
    }
    let path = folder.path().join("g.csv");
    assert!(
        write_labelled_graph(&path, &file.graph, None, &labels).unwrap_err().to_string().contains(".graphml")
    );
    let path = folder.path().join("short.gml");
    assert!(
        write_labelled_graph(&path, &file.graph, None, &labels[..3])
            .unwrap_err()
            .to_string()
            .contains("3 labels")
    );
    assert!(!path.exists());
}

#[test]
fn labels_in_json_are_a_list_or_an_object() {
    let (file, folder) = (odd(), TempDir::new().unwrap());
    let labels: [Label; 4] = [3, 0, -1, 7];
    for name in ["l.json", "l.json.gz"] {
        let path = folder.path().join(name);
        write_labels(&path, &labels, file.names.as_ref()).unwrap();
        assert_eq!(read_labels(&path, 4, file.names.as_ref()).unwrap(), labels);
        write_labels(&path, &labels, None).unwrap();
        assert_eq!(read_labels(&path, 4, None).unwrap(), labels);
    }
    let parse = |text: &str| {
        parse_labels(text.as_bytes(), LabelFormat::Json, 2, None).map_err(|error| error.to_string())
    };
    assert_eq!(parse("[1, 0]").unwrap(), [1, 0]);
    assert!(parse("[1, 0, 2]").unwrap_err().contains("holds 3 labels, but the graph has 2 nodes"));
    assert!(parse("[1, \"x\"]").unwrap_err().contains("`x` is no label"));
    assert!(parse("7").unwrap_err().contains("is no list of labels"));
}

#[test]
fn labels_are_not_written_as_any_kind_of_file() {
    let folder = TempDir::new().unwrap();
    for name in ["l.docx", "l.mtx", "l.npz", "l.xlsx", "l.net", "l.npy.gz"] {
        let path = folder.path().join(name);
        let error = check_labels_writable(&path).unwrap_err().to_string();
        assert!(error.contains(".txt .csv .tsv") && error.contains(".graphml"), "{name}: {error}");
        assert!(write_labels(&path, &[0, 1], None).is_err() && !path.exists(), "{name}");
    }
    for name in ["l", "l.txt", "l.csv", "l.json", "graph.part.32", "l.labels", "l.tsv.gz"] {
        write_labels(&folder.path().join(name), &[0, 1], None).unwrap();
    }
}

#[test]
fn classes_may_be_words_in_every_format() {
    let folder = TempDir::new().unwrap();
    let file = parse("a b\nb c\nc d\n", GraphFormat::EdgeList(Separator::Detect)).unwrap();
    let names = file.names.as_ref();
    for (name, text) in [
        ("t.txt", "b virginica\na setosa\nd \"\"\nc setosa\n"),
        ("t.csv", "id,species\nb,virginica\na,setosa\nc,setosa\nd,-1\n"),
        ("t.json", "{\"a\": \"setosa\", \"b\": \"virginica\", \"c\": \"setosa\", \"d\": null}"),
        (
            "t.gml",
            "graph [ node [ id 1 label \"b\" value \"v\" ] node [ id 0 label \"a\" value \"s\" ] \
                   node [ id 2 label \"c\" value \"s\" ] node [ id 3 label \"d\" ] ]",
        ),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        let classes = read_classes(&path, 4, names).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(classes[0], classes[2], "{name}");
        assert_ne!(classes[0], classes[1], "{name}");
        assert_eq!(classes[3], -1, "{name}");
    }
    let path = folder.path().join("words.txt");
    fs::write(&path, "setosa\nvirginica\nsetosa\n").unwrap();
    assert_eq!(read_classes(&path, 3, None).unwrap(), [0, 1, 0]);
    let error = read_labels(&path, 3, None).unwrap_err().to_string();
    assert!(error.contains("line 1: `setosa` is no label"), "{error}");
    fs::write(&path, "5\n-1\n3\n").unwrap();
    assert_eq!(read_classes(&path, 3, None).unwrap(), [5, -1, 3], "integers stay what they are");
    fs::write(&path, "a b c\n").unwrap();
    assert!(read_classes(&path, 3, None).unwrap_err().to_string().contains("line 1: a line is a class"));
}

/// As networkx 3.4 and igraph 0.11 write them.
#[test]
fn files_of_networkx_and_igraph_are_read() {
    let networkx = "<?xml version='1.0' encoding='utf-8'?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\" \
        xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:schemaLocation=\"http://graphml.graphdrawing.org/xmlns \
        http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd\"><key id=\"d1\" for=\"edge\" attr.name=\"weight\" \
        attr.type=\"double\" /><key id=\"d0\" for=\"node\" attr.name=\"group\" attr.type=\"string\" />\n<graph \
        edgedefault=\"undirected\"><node id=\"ann\">\n  <data key=\"d0\">x</data>\n</node><node id=\"b &amp; b\" />\
        <node id=\"&#252;\" /><edge source=\"ann\" target=\"b &amp; b\"><data key=\"d1\">0.5</data></edge>\
        <edge source=\"b &amp; b\" target=\"&#252;\" /></graph></graphml>\n";
    let igraph = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n\
        <!-- Created by igraph 0.10.13 -->\n  <key id=\"v_name\" for=\"node\" attr.name=\"name\" attr.type=\"string\"/>\n  \
        <key id=\"e_weight\" for=\"edge\" attr.name=\"weight\" attr.type=\"double\"/>\n  <graph id=\"G\" \
        edgedefault=\"undirected\">\n    <node id=\"n0\">\n      <data key=\"v_name\">ann</data>\n    </node>\n    \
        <node id=\"n1\"><data key=\"v_name\">b &amp; b</data></node>\n    <node id=\"n2\"><data key=\"v_name\">ü</data>\
        </node>\n    <edge source=\"n0\" target=\"n1\">\n      <data key=\"e_weight\">0.5</data>\n    </edge>\n    \
        <edge source=\"n1\" target=\"n2\"><data key=\"e_weight\">1</data></edge>\n  </graph>\n</graphml>\n";
    let gexf = "<?xml version='1.0' encoding='utf-8'?>\n<gexf xmlns=\"http://www.gexf.net/1.2draft\" version=\"1.2\">\n  \
        <meta lastmodifieddate=\"2026-01-01\"><creator>NetworkX 3.4</creator></meta>\n  <graph \
        defaultedgetype=\"undirected\" mode=\"static\" name=\"\">\n    <attributes mode=\"static\" class=\"node\">\
        <attribute id=\"0\" title=\"group\" type=\"string\" /></attributes>\n    <nodes>\n      <node id=\"ann\" \
        label=\"ann\"><attvalues><attvalue for=\"0\" value=\"x\" /></attvalues></node>\n      <node id=\"b &amp; b\" \
        label=\"b &amp; b\" />\n      <node id=\"2\" label=\"ü\" />\n    </nodes>\n    <edges>\n      <edge \
        source=\"ann\" target=\"b &amp; b\" id=\"0\" weight=\"0.5\" />\n      <edge source=\"b &amp; b\" target=\"2\" \
        id=\"1\" />\n    </edges>\n  </graph>\n</gexf>";
    let gml = "Creator \"igraph version 0.10.13\"\nVersion 1\ngraph\n[\n  directed 0\n  node\n  [\n    id 0\n    \
        name \"ann\"\n  ]\n  node\n  [\n    id 1\n    name \"b &amp; b\"\n  ]\n  node [ id 2 label \"&#252;\" graphics [ x 1.0 y \
        -2 ] ]\n  edge\n  [\n    source 0\n    target 1\n    weight 0.5\n  ]\n  edge [ source 1 target 2 ]\n]\n";
    let pajek = "*vertices 3\n1 ann 0.0 0.0 ellipse\n2 \"b & b\" 0.0 0.0 ellipse\n3 ü 0.0 0.0 ellipse\n*edges\n1 2 0.5\n\
        2 3 1.0\n";
    let links = "{\"directed\": false, \"multigraph\": false, \"graph\": {}, \"nodes\": [{\"group\": \"x\", \"id\": \
        \"ann\"}, {\"id\": \"b & b\"}, {\"id\": \"\\u00fc\"}], \"links\": [{\"weight\": 0.5, \"source\": \"ann\", \
        \"target\": \"b & b\"}, {\"source\": \"b & b\", \"target\": \"\\u00fc\"}]}";
    let d3 = "{\"nodes\":[{\"name\":\"ann\",\"group\":1},{\"name\":\"b & b\",\"group\":1},{\"name\":\"ü\",\"group\":2}],\
        \"links\":[{\"source\":0,\"target\":1,\"value\":0.5},{\"source\":1,\"target\":2,\"value\":1}]}";
    let wanted = expected(&[("ann", "b & b", 0.5), ("b & b", "ü", 1.0)]);
    for (text, format) in [
        (networkx, GraphFormat::GraphMl),
        (igraph, GraphFormat::GraphMl),
        (gexf, GraphFormat::Gexf),
        (gml, GraphFormat::Gml),
        (pajek, GraphFormat::Pajek),
        (links, GraphFormat::NodeLink),
        (d3, GraphFormat::NodeLink),
    ] {
        let file = parse(text, format).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(edges(&file), wanted, "{text}");
        assert_eq!(ids(file.names.as_ref()), ["ann", "b & b", "ü"]);
    }
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let graphml = |inside: &str| format!("<graphml>\n<graph>\n{inside}\n</graph></graphml>");
    let mut others = Vec::new();
    for (format, text, problem) in [
        (GraphFormat::GraphMl, String::new(), "has no <graph>"),
        (GraphFormat::GraphMl, "a b\nb c\n".into(), "has no <graph>"),
        (GraphFormat::GraphMl, "<graphml>\n<graph>\n".into(), "line 3: the file ends inside an element"),
        (GraphFormat::GraphMl, "<graphml>\n<graph>\n</graphml>".into(), "line 3: this is no XML"),
        (GraphFormat::GraphMl, graphml("<node/>"), "line 3: this <node> has no attribute `id`"),
        (GraphFormat::GraphMl, graphml("<node id='a'/><node id='a'/>"), "line 3: node `a` is listed twice"),
        (GraphFormat::GraphMl, graphml("<node id='a'/>\n<edge source='a' target='b'/>"), "an edge names node `b`, which is not listed"),
        (GraphFormat::GraphMl, graphml("<node id='a'><graph/></node>"), "line 3: a graph inside a node"),
        (GraphFormat::GraphMl, graphml("<hyperedge/>"), "line 3: a hyperedge"),
        (GraphFormat::GraphMl, graphml("<node id='&b;'/>"), "line 3: an entity"),
        (GraphFormat::GraphMl, graphml(""), "the graph has no nodes"),
        (
            GraphFormat::GraphMl,
            format!("<graphml><key id='w' for='edge' attr.name='weight'/>{}", &graphml("<node id='a'/>\n<edge source='a' target='a'><data key='w'>-1</data></edge>")[9..]),
            "line 4: the weight -1 is negative",
        ),
        (GraphFormat::Gexf, "<gexf/>".into(), "has no <graph>"),
        (GraphFormat::Gexf, "<gexf><graph>\n<nodes><node id='a'/>\n<edge source='a' target='a' weight='x'/></nodes></graph></gexf>".into(), "line 3: the weight `x` is not a number"),
        (GraphFormat::Gml, "graph [ node [ id 0 ]".into(), "line 1: the file ends inside a list"),
        (GraphFormat::Gml, "graph [\n node [ label \"a\" ] ]".into(), "line 2: this node has no `id`"),
        (GraphFormat::Gml, "graph [\n\n edge [ source 0 ] ]".into(), "line 3: this edge has no `target`"),
        (GraphFormat::Gml, "graph [ node [ id 0 label \"a ] ]".into(), "line 1: a double quote is opened"),
        (GraphFormat::Gml, "a b\n".into(), "has no `graph [`"),
        (GraphFormat::Gml, "]".into(), "line 1: here is a `]`"),
        (GraphFormat::Gml, "a [ ".repeat(100), "line 1: lists are nested too deeply"),
        (GraphFormat::Pajek, String::new(), "is empty; a Pajek network"),
        (GraphFormat::Pajek, "1 2\n".into(), "line 1: a Pajek network starts with"),
        (GraphFormat::Pajek, "*Vertices x\n".into(), "line 1: `x` is not a whole number"),
        (GraphFormat::Pajek, "*Vertices 2\n*Edges\n1 3\n".into(), "line 3: `3` is no node; the nodes are 1 to 2"),
        (GraphFormat::Pajek, "*Vertices 2\n*Edges\n1 2 -1\n".into(), "line 3: the weight -1 is negative"),
        (GraphFormat::Pajek, "*Vertices 2\n*Matrix\n".into(), "line 2: `*matrix` cannot be read"),
        (GraphFormat::NodeLink, "{".into(), "line 1: is no node-link JSON"),
        (GraphFormat::NodeLink, "{\"nodes\": []}".into(), "line 1: is no node-link JSON"),
        (GraphFormat::NodeLink, "{\"nodes\": [{\"id\": [1]}], \"links\": []}".into(), "the id of node 0 is no text"),
        (GraphFormat::NodeLink, "{\"nodes\": [{\"id\": 1}], \"links\": [{\"source\": 1, \"target\": 1, \"weight\": -2}]}".into(), "edge 0: the weight -2 is negative"),
        (GraphFormat::NodeLink, "{\"nodes\": [{\"id\": 1}], \"links\": [{\"source\": 1, \"target\": 2}]}".into(), "an edge names node `2`"),
    ] {
        let error = parse(&text, format).map(|file| edges(&file)).unwrap_err().to_string();
        if !error.starts_with(problem) {
            others.push(format!("{text}: {error}"));
        }
    }
    assert!(others.is_empty(), "{others:#?}");
}

/// As GML and node-link JSON have it, and as networkx writes Les Misérables.
#[test]
fn a_value_of_edges_is_their_weight_where_nothing_else_is() {
    let graphml = |keys: &str, data: &str| {
        format!(
            "<graphml>{keys}<graph edgedefault='undirected'><node id='a'/><node id='b'/>\
             <edge source='a' target='b'>{data}</edge></graph></graphml>"
        )
    };
    let value = "<key id='v' for='edge' attr.name='value' attr.type='int'/>";
    let weight = "<key id='w' for='edge' attr.name='weight' attr.type='double'/>";
    let both = "<data key='v'>7</data><data key='w'>3</data>";
    let gexf = "<gexf><graph><attributes class='edge'><attribute id='0' title='value' type='long'/></attributes>\
                <nodes><node id='a'/><node id='b'/></nodes><edges><edge id='0' source='a' target='b'>\
                <attvalues><attvalue for='0' value='5'/></attvalues></edge></edges></graph></gexf>";
    for (text, format, expected) in [
        (graphml(value, "<data key='v'>7</data>"), GraphFormat::GraphMl, 7.0),
        (graphml(&format!("{value}{weight}"), both), GraphFormat::GraphMl, 3.0),
        (graphml(&value.replace("int", "string"), "<data key='v'>x</data>"), GraphFormat::GraphMl, 1.0),
        (gexf.to_owned(), GraphFormat::Gexf, 5.0),
        (gexf.replace("<edge id", "<edge weight='2' id"), GraphFormat::Gexf, 2.0),
    ] {
        let graph = parse(&text, format).unwrap().graph;
        assert_eq!(graph.edges().map(|(_, _, weight)| weight).collect::<Vec<_>>(), [expected], "{text}");
    }
}

/// The same graph in every format that knows directions: `a` to `b` weighs 1, `b` to `a` 9, `b` to `c` 4 with nothing back.
fn directed() -> [(GraphFormat, String); 5] {
    let arcs = [("a", "b", 1), ("b", "a", 9), ("b", "c", 4)];
    let all =
        |edge: &dyn Fn(&str, &str, i32) -> String| arcs.map(|(from, to, weight)| edge(from, to, weight));
    let graphml = all(&|a, b, w| format!("<edge source='{a}' target='{b}'><data key='w'>{w}</data></edge>"));
    let gexf = all(&|a, b, w| format!("<edge source='{a}' target='{b}' weight='{w}'/>"));
    let place = |id: &str| 1 + "abc".find(id).unwrap();
    let gml = all(&|a, b, w| format!("edge [ source {} target {} weight {w} ]", place(a), place(b)));
    let pajek = all(&|a, b, w| format!("{} {} {w}", place(a), place(b)));
    let json = all(&|a, b, w| format!("{{\"source\": \"{a}\", \"target\": \"{b}\", \"weight\": {w}}}"));
    let nodes = "<node id='a'/><node id='b'/><node id='c'/>";
    let key = "<key id='w' for='edge' attr.name='weight' attr.type='double'/>";
    [
        (
            GraphFormat::GraphMl,
            format!(
                "<graphml>{key}<graph edgedefault='directed'>{nodes}{}</graph></graphml>",
                graphml.concat()
            ),
        ),
        (
            GraphFormat::Gexf,
            format!(
                "<gexf><graph defaultedgetype='directed'><nodes>{nodes}</nodes><edges>{}</edges></graph></gexf>",
                gexf.concat()
            ),
        ),
        (
            GraphFormat::Gml,
            format!(
                "graph [ directed 1 node [ id 1 label \"a\" ] node [ id 2 label \"b\" ] node [ id 3 label \"c\" ] {} ]",
                gml.join(" ")
            ),
        ),
        (GraphFormat::Pajek, format!("*Vertices 3\n1 a\n2 b\n3 c\n*Arcs\n{}\n", pajek.join("\n"))),
        (
            GraphFormat::NodeLink,
            format!(
                "{{\"directed\": true, \"nodes\": [{{\"id\": \"a\"}}, {{\"id\": \"b\"}}, {{\"id\": \"c\"}}], \"links\": [{}]}}",
                json.join(", ")
            ),
        ),
    ]
}

#[test]
fn directed_graphs_are_refused_by_the_names_of_their_nodes_or_made_symmetric_as_a_matrix_is() {
    for (format, text) in directed() {
        let refusal = parse(&text, format).unwrap_err().to_string();
        assert!(refusal.contains("(a, b) is 1") && refusal.contains("is 9"), "{format:?}: {refusal}");
        for (how, wanted) in [
            (Symmetrize::Average, [("a", "b", 5.0), ("b", "c", 2.0)]),
            (Symmetrize::Max, [("a", "b", 9.0), ("b", "c", 4.0)]),
        ] {
            let options = ReadOptions { symmetrize: how, ..ReadOptions::default() };
            let file = parse_graph(text.as_bytes(), format, &options).unwrap();
            assert_eq!(edges(&file), expected(&wanted), "{format:?}");
        }
    }
}

#[test]
fn directions_that_agree_are_one_edge_and_single_edges_may_have_one() {
    let graphml = "<graphml><graph edgedefault='directed'><node id='a'/><node id='b'/><node id='c'/>\
                   <edge source='a' target='b'/><edge source='b' target='a'/>\
                   <edge source='b' target='c' directed='false'/></graph></graphml>";
    let file = parse(graphml, GraphFormat::GraphMl).unwrap();
    assert_eq!(edges(&file), expected(&[("a", "b", 1.0), ("b", "c", 1.0)]));
    let mixed = "*Vertices 3\n1 a\n2 b\n3 c\n*Edges\n1 2 2\n*Arcs\n2 3 1\n3 2 1\n";
    let file = parse(mixed, GraphFormat::Pajek).unwrap();
    assert_eq!(edges(&file), expected(&[("a", "b", 2.0), ("b", "c", 1.0)]));
}

#[test]
fn edges_of_a_list_lead_one_way_where_the_caller_says_how_directions_become_one() {
    for (how, weight) in [(Symmetrize::Refuse, 6.0), (Symmetrize::Average, 3.0), (Symmetrize::Max, 5.0)] {
        let options = ReadOptions { symmetrize: how, ..ReadOptions::default() };
        let text = "x y 1\ny x 5\n";
        let file = parse_graph(text.as_bytes(), GraphFormat::EdgeList(Separator::Detect), &options).unwrap();
        assert_eq!(edges(&file), expected(&[("x", "y", weight)]));
    }
}

#[test]
fn the_weight_may_be_any_attribute_of_edges_that_the_caller_names() {
    let graphml = "<graphml><key id='k' for='edge' attr.name='tie' attr.type='double'/><graph edgedefault='undirected'>\
                   <node id='a'/><node id='b'/><edge source='a' target='b'><data key='k'>3</data></edge></graph></graphml>";
    let gexf = "<gexf><graph><attributes class='edge'><attribute id='0' title='tie' type='double'/></attributes><nodes>\
                <node id='a'/><node id='b'/></nodes><edges><edge source='a' target='b'><attvalues>\
                <attvalue for='0' value='3'/></attvalues></edge></edges></graph></gexf>";
    let gml =
        "graph [ node [ id 1 label \"a\" ] node [ id 2 label \"b\" ] edge [ source 1 target 2 tie 3 ] ]";
    let json = "{\"nodes\": [{\"id\": \"a\"}, {\"id\": \"b\"}], \"edges\": [{\"source\": \"a\", \"target\": \"b\", \"tie\": 3}]}";
    let named =
        |columns: &str| ReadOptions { columns: Some(columns.parse().unwrap()), ..ReadOptions::default() };
    for (format, text) in [
        (GraphFormat::GraphMl, graphml),
        (GraphFormat::Gexf, gexf),
        (GraphFormat::Gml, gml),
        (GraphFormat::NodeLink, json),
    ] {
        let unread = parse(text, format).unwrap();
        assert_eq!(
            (edges(&unread), &unread.ignored_columns[..]),
            (expected(&[("a", "b", 1.0)]), &["tie".to_owned()][..])
        );
        let read = |columns: &str| parse_graph(text.as_bytes(), format, &named(columns));
        let file = read("source,target,tie").unwrap();
        assert_eq!(
            (edges(&file), file.ignored_columns.len()),
            (expected(&[("a", "b", 3.0)]), 0),
            "{format:?}"
        );
        assert!(
            read("source,target,ties").unwrap_err().to_string().contains("no edge has the attribute `ties`")
        );
        assert!(read("from,to,tie").unwrap_err().to_string().contains("--columns source,target,NAME"));
    }
    let refusal =
        parse_graph(b"*Vertices 2\n*Edges\n1 2 3\n", GraphFormat::Pajek, &named("1,2,3")).unwrap_err();
    assert!(refusal.to_string().contains("leave --columns out"), "{refusal}");
}

#[test]
fn entities_are_never_expanded() {
    let levels: String = (1..10)
        .map(|level| format!("<!ENTITY l{level} \"{}\">\n", format!("&l{};", level - 1).repeat(10)))
        .collect();
    for inside in ["<node id='&l9;'/>", "<node id='a'><data key='k'>&l9;</data></node>"] {
        let bomb = format!(
            "<?xml version=\"1.0\"?>\n<!DOCTYPE g [\n<!ENTITY l0 \"ha\">\n{levels}]>\n<graphml><graph>{inside}</graph></graphml>"
        );
        for format in [GraphFormat::GraphMl, GraphFormat::Gexf] {
            let error = parse(&bomb, format).map(|file| ids(file.names.as_ref())).unwrap_err().to_string();
            assert!(error.contains("is not expanded here"), "{error}");
        }
    }
    let file = "<!DOCTYPE g [<!ENTITY f SYSTEM \"file:///etc/passwd\">]><graphml><graph><node id=\"&f;\"/></graph></graphml>";
    assert!(parse(file, GraphFormat::GraphMl).is_err());
}

#[test]
fn small_files_that_unpack_to_large_ones_are_refused() {
    let folder = TempDir::new().unwrap();
    let clock = Clock::new();
    clock.allow_memory(16 << 20);
    for (name, head, line) in [
        ("g.graphml.gz", "<graphml><graph>", "<node id='a'/>"),
        ("g.gml.gz", "graph [", " node [ id 0 ]\n"),
        ("g.json.gz", "{\"nodes\": [", "{},"),
    ] {
        let text = format!("{head}{}", line.repeat((64 << 20) / line.len()));
        let path = folder.path().join(name);
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut packer, text.as_bytes()).unwrap();
        fs::write(&path, packer.finish().unwrap()).unwrap();
        let error = read_graph(&path, &ReadOptions::default(), &clock).unwrap_err().to_string();
        assert!(error.contains("needs about") && error.contains("--memory-limit"), "{error}");
    }
    let path = folder.path().join("g.net");
    fs::write(&path, "*Vertices 4000000000\n").unwrap();
    let error = read_graph(&path, &ReadOptions::default(), &clock).unwrap_err().to_string();
    assert!(error.contains("as many nodes as the first line promises"), "{error}");
    // Where nobody says how much memory there is, a line of twenty letters may not take all of it.
    let parsed = parse("*Vertices 400000000\n", GraphFormat::Pajek);
    let error = parsed.map(|file| edges(&file)).unwrap_err().to_string();
    assert!(error.contains("as many nodes as the first line promises"), "{error}");
}

#[test]
fn the_format_can_be_given_where_the_name_tells_none() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("pipe");
    fs::write(&path, "source;target\n1;2\n").unwrap();
    let with = |format: &str| ReadOptions { format: Some(format.into()), ..ReadOptions::default() };
    assert_eq!(read_graph(&path, &with("csv"), &Clock::new()).unwrap().graph.n_edges(), 1);
    let error = read_graph(&path, &ReadOptions::default(), &Clock::new()).unwrap_err().to_string();
    assert!(error.contains("--format NAME"), "{error}");
    let error = read_graph(&path, &with("docx"), &Clock::new()).unwrap_err().to_string();
    assert!(error.contains("the format is given as `docx`: unknown kind of graph file"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_ids_survive_or_are_refused(ids in prop::collection::btree_set("\\PC{1,6}", 2..6)) {
        let ids: Vec<String> = ids.into_iter().collect();
        let nodes: Vec<String> = ids.iter().map(|id| format!("{{\"id\": {id:?}}}")).collect();
        prop_assume!(ids.iter().all(|id| !id.contains(['\\', '"']) && format!("{id:?}") == format!("\"{id}\"")));
        let text = format!("{{\"nodes\": [{}], \"edges\": []}}", nodes.join(","));
        let file = parse(&text, GraphFormat::NodeLink).unwrap();
        let folder = TempDir::new().unwrap();
        for name in ["g.graphml", "g.gexf", "g.gml", "g.json"] {
            let path = folder.path().join(name);
            write_graph(&path, &file.graph, file.names.as_ref()).unwrap();
            prop_assert_eq!(&super_ids(&read(&path)), &ids, "{}", name);
        }
    }

    #[test]
    fn damaged_files_never_panic(damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6), cut in any::<prop::sample::Index>()) {
        let (file, folder) = (odd(), TempDir::new().unwrap());
        for name in ["g.graphml", "g.gexf", "g.gml", "g.net", "g.json"] {
            let path = folder.path().join(name);
            write_graph(&path, &file.graph, file.names.as_ref()).unwrap();
            let mut bytes = fs::read(&path).unwrap();
            for (place, value) in &damage {
                let place = place.index(bytes.len());
                bytes[place] = *value;
            }
            bytes.truncate(cut.index(bytes.len()) + 1);
            fs::write(&path, bytes).unwrap();
            let _ = read_graph(&path, &ReadOptions::default(), &Clock::new());
            let _ = read_classes(&path, 4, None);
        }
    }
}

fn super_ids(file: &GraphFile) -> Vec<String> {
    ids(file.names.as_ref())
}

#[test]
fn graphs_without_ids_are_written_by_number() {
    let graph = Graph::from_edges(3, [(0, 1, 2.0), (1, 2, 1.0)]).unwrap();
    let folder = TempDir::new().unwrap();
    for name in NAMES {
        let path = folder.path().join(name);
        write_graph(&path, &graph, None).unwrap();
        let back = read(&path);
        assert_eq!(back.graph.edges().collect::<Vec<_>>(), graph.edges().collect::<Vec<_>>(), "{name}");

        assert_eq!(ids(back.names.as_ref()), ["0", "1", "2"], "{name}");
    }
}
