//! Edge lists as tables: which columns are read, and which first lines are refused.
#![cfg(feature = "files")]

use std::collections::BTreeMap;
use std::fs;

use ncut::Clock;
use ncut::io::{
    EdgeColumns, GraphFile, GraphFormat, Header, ReadOptions, Separator, parse_graph, read_graph, write_graph,
};
use tempfile::TempDir;

fn parse_with(text: &str, options: &ReadOptions) -> ncut::Result<GraphFile> {
    parse_graph(text.as_bytes(), GraphFormat::EdgeList(Separator::Detect), options)
}

fn parse(text: &str) -> ncut::Result<GraphFile> {
    parse_with(text, &ReadOptions::default())
}

fn columns(columns: &str) -> ReadOptions {
    ReadOptions { columns: Some(columns.parse().unwrap()), ..ReadOptions::default() }
}

fn edges(file: &GraphFile) -> BTreeMap<(String, String), f64> {
    let names = file.names.as_ref().unwrap();
    let id = |node| names.get(node).into_owned();
    let ordered = |a: String, b: String| if a <= b { (a, b) } else { (b, a) };
    file.graph.edges().map(|(a, b, weight)| (ordered(id(a), id(b)), weight)).collect()
}

fn expected(edges: &[(&str, &str, f64)]) -> BTreeMap<(String, String), f64> {
    edges.iter().map(|&(a, b, weight)| ((a.to_owned(), b.to_owned()), weight)).collect()
}

#[test]
fn columns_are_found_by_the_names_in_the_header_in_any_order() {
    let wanted = expected(&[("1", "2", 0.5), ("2", "3", 4.0)]);
    for text in [
        "source,target,weight\n1,2,0.5\n2,3,4\n",
        "weight,source,target\n0.5,1,2\n4,2,3\n",
        "Target,Weight,Source\n2,0.5,1\n3,4,2\n",
        "w\tsrc\tdst\n0.5\t1\t2\n4\t2\t3\n",
        "from to value\n1 2 0.5\n2 3 4\n",
        "value node1 node2\n0.5 1 2\n4 2 3\n",
        "u,v,w\n1,2,0.5\n2,3,4\n",
        "w,u,v\n0.5,1,2\n4,2,3\n",
        "a,b,weight\n1,2,0.5\n2,3,4\n",
        "weight,person,friend\n0.5,1,2\n4,2,3\n",
        ":START_ID,:END_ID,weight\n1,2,0.5\n2,3,4\n",
        "source;target;weight\n1;2;0.5\n2;3;4\n",
        "source|target|weight\n1|2|0.5\n2|3|4\n",
        "1; 2; 0.5\n2; 3; 4\n",
    ] {
        let file = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(edges(&file), wanted, "{text}");
        assert!(file.ignored_columns.is_empty(), "{text}");
    }
}

#[test]
fn columns_that_are_neither_ends_nor_weight_are_left_out_and_named() {
    let wanted = expected(&[("1", "2", 1.0), ("2", "3", 1.0)]);
    for (text, ignored) in [
        ("id,source,target\n7,1,2\n8,2,3\n", vec!["id"]),
        (",source,target\n0,1,2\n1,2,3\n", vec!["1"]),
        ("source,target,year\n1,2,1999\n2,3,2001\n", vec!["year"]),
        ("Source,Target,Type,Id,Label\n1,2,Undirected,0,\n2,3,Undirected,1,x\n", vec!["Type", "Id", "Label"]),
        ("source\ttarget\tnote\n1\t2\t\n2\t3\tan odd one\n", vec!["note"]),
        ("id\tsource\ttarget\n\t1\t2\n\t2\t3\n", vec!["id"]),
    ] {
        let file = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(
            (edges(&file), &file.ignored_columns[..]),
            (wanted.clone(), &ignored.map_owned()[..]),
            "{text}"
        );
    }
}

/// Texts as strings of their own.
trait MapOwned {
    fn map_owned(&self) -> Vec<String>;
}

impl MapOwned for Vec<&str> {
    fn map_owned(&self) -> Vec<String> {
        self.iter().map(|&text| text.to_owned()).collect()
    }
}

#[test]
fn a_header_that_does_not_tell_the_columns_is_refused() {
    for (text, problem) in [
        ("x,y,z\n1,2,3\n", "does not tell which columns are the ends: `x`, `y`, `z`"),
        ("id,x,weight\n1,2,3\n", "does not tell which columns are the ends"),
        ("x,y,z,t\n1,2,3,4\n", "does not tell which columns are the ends"),
        ("source,x,y\n1,2,3\n", "does not tell which columns are the ends"),
        ("source,target,from,to\n1,2,3,4\n", "has more than one pair of columns that may be the ends"),
        ("source,target,score,count\n1,2,3,4\n", "has more than one column that may be the weight"),
        ("person,pal\n1,2\n", "`person` and `pal` may be a header or an edge; say which with --header yes"),
        ("source,friend\nann,bob\n", "`source` and `friend` may be a header or an edge"),
        ("1,2,3,4\n", "this line has 4 columns; tell the columns of the ends and the weight by number"),
        ("a,b,0.5;c\n", "semicolons or commas may separate the columns here"),
        ("a;b;0,5\n", "semicolons or commas may separate the columns here"),
    ] {
        let error = parse(text).map(|file| edges(&file)).unwrap_err().to_string();
        assert!(error.starts_with("line 1: ") && error.contains(problem), "{text}: {error}");
    }
    let error = parse("source,target\n1,2,3\n").unwrap_err().to_string();
    assert_eq!(error, "line 2: this line has 3 columns, but the header names 2; name them all");
    let error = parse("id,source,target\n1,2,3\n4,5\n").unwrap_err().to_string();
    assert_eq!(error, "line 3: this line has 2 columns, the first has 3");
    let error = parse("id source target\n1 2 3\n4 5\n").unwrap_err().to_string();
    assert_eq!(error, "line 3: this line has 2 columns, the first has 3");
}

#[test]
fn columns_can_be_told_by_name_or_number() {
    let text = "x,y,z,weight\n1,2,9,0.5\n2,3,8,4\n";
    let wanted = expected(&[("1", "2", 0.5), ("2", "3", 4.0)]);
    for names in ["x,y,weight", "1,2,4", "X,y,4", "y,x,Weight"] {
        let file = parse_with(text, &columns(names)).unwrap_or_else(|error| panic!("{names}: {error}"));
        assert_eq!(edges(&file), wanted, "{names}");
        assert_eq!(file.ignored_columns, ["z"]);
    }
    let without = parse_with(text, &columns("x,y")).unwrap();
    assert!(edges(&without).values().all(|&weight| weight == 1.0));
    let plain = parse_with("9 1 2 0.5\n8 2 3 4\n", &columns("2,3,4")).unwrap();
    assert_eq!(edges(&plain), wanted);
    assert_eq!(plain.ignored_columns, ["1"]);
    for (text, names, problem) in [
        (text, "x,q", "there is no column `q` in the header; its columns are `x`, `y`, `z`, `weight`"),
        (text, "1,7", "there is no column 7; this line has 4 columns"),
        (text, "0,1", "there is no column 0"),
        (text, "x,x", "--columns names a column twice"),
        ("x,x,z\n1,2,3\n", "x,z", "there are 2 columns `x`; give the number of one"),
    ] {
        let error = parse_with(text, &columns(names)).unwrap_err().to_string();
        assert!(error.starts_with("line 1: ") && error.contains(problem), "{names}: {error}");
    }
    for bad in ["", "1", "1,2,3,4", "1,,3"] {
        assert!(bad.parse::<EdgeColumns>().is_err(), "{bad}");
    }
}

#[test]
fn separators_are_found_and_kept_apart_from_ids() {
    let ids = |text: &str, separator| {
        let file =
            parse_graph(text.as_bytes(), GraphFormat::EdgeList(separator), &ReadOptions::default()).unwrap();
        file.names.unwrap().iter().map(std::borrow::Cow::into_owned).collect::<Vec<_>>()
    };
    assert_eq!(ids("Node A;Node B;3\n", Separator::Comma), ["Node A", "Node B"]);
    assert_eq!(ids("Node A|Node B|3\n", Separator::Comma), ["Node A", "Node B"]);
    assert_eq!(ids("\"a;b\";c\n", Separator::Comma), ["a;b", "c"]);
    assert_eq!(ids("sp|P1|X sp|P2|Y 3\n", Separator::Detect), ["sp|P1|X", "sp|P2|Y"], "blanks separate");
    assert_eq!(ids("x;1\ty;2\n", Separator::Detect), ["x;1", "y;2"], "tabs separate");
}

#[test]
fn what_is_written_is_read_whatever_nodes_are_called() {
    let folder = TempDir::new().unwrap();
    let options = ReadOptions { header: Header::No, ..ReadOptions::default() };
    for text in [
        "source target\n1 2\n",
        "a b\n1 2\n",
        "u v\n1 2\n",
        "to x\ny z\n",
        "from,x,2\ny,z,3\n",
        "u v 1\n3 4 2\n",
    ] {
        let file = parse_with(text, &options).unwrap();
        for name in ["g.txt", "g.csv", "g.tsv"] {
            let path = folder.path().join(name);
            write_graph(&path, &file.graph, file.names.as_ref()).unwrap();
            let back = read_graph(&path, &ReadOptions::default(), &Clock::new());
            let back = back.unwrap_or_else(|error| panic!("{}: {error}", fs::read_to_string(&path).unwrap()));
            assert_eq!(edges(&back), edges(&file), "{text} as {name}");
        }
    }
}

#[test]
fn many_lines_with_other_columns_read_the_same_on_every_thread() {
    let rows: String =
        (0..60_000).map(|line| format!("{}.5,x,n{},{}\n", line % 7, line % 900, line % 1013)).collect();
    let text = format!("weight,note,source,target\n{rows}");
    let plain: String =
        (0..60_000).map(|line| format!("n{},{},{}.5\n", line % 900, line % 1013, line % 7)).collect();
    let wanted = edges(&parse(&plain).unwrap());
    for n_threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        assert_eq!(edges(&pool.install(|| parse(&text)).unwrap()), wanted);
    }
}

#[test]
fn pairs_of_common_names_are_a_header_and_dates_are_none() {
    let wanted = expected(&[("ann", "bo", 1.0), ("bo", "cy", 1.0)]);
    for header in ["head,tail", "follower,followee", "protein1,protein2", "id_a,id_b"] {
        let file = parse(&format!("{header}\nann,bo\nbo,cy\n")).unwrap();
        assert_eq!(edges(&file), wanted, "{header}");
    }
    // One of them alone is a node.
    assert_eq!(
        edges(&parse("head,bo\nbo,cy\n").unwrap()),
        expected(&[("bo", "head", 1.0), ("bo", "cy", 1.0)])
    );
    for text in ["a,b,2020-01-01\nb,c,2021-01-01\n", "a b 0x10\nb c 0x11\n"] {
        let refusal = parse(text).unwrap_err().to_string();
        assert!(refusal.contains("line 1") && refusal.contains("not a number"), "{refusal}");
    }
}

#[test]
fn a_first_edge_that_stands_alone_is_noticed() {
    let file = parse("sender1x,sender2x\na,b\nb,c\nc,a\n").unwrap();
    assert_eq!(file.first_edge_alone(), Some(["sender1x".to_owned(), "sender2x".to_owned()]));
    for text in ["a,b\n", "a,b\nb,c\n", "1,2\n3,4\n", "source,target\na,b\nc,d\n"] {
        assert_eq!(parse(text).unwrap().first_edge_alone(), None, "{text}");
    }
}
