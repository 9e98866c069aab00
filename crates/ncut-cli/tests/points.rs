//! `ncut points`, by everything it prints and writes.

mod common;

use common::Bench;
use serde_json::Value;

/// Two groups on a line, far apart.
const LINE: &str = "x\n0\n1\n2\n3\n50\n51\n52\n53\n";

#[test]
fn points_are_clustered_and_the_graph_is_written() {
    let bench = Bench::new().with("line.csv", LINE).with("truth.txt", "0\n0\n0\n0\n1\n1\n1\n1\n");
    let ran =
        bench.run("points line.csv -k 2 --neighbors 3 -o labels.txt --truth truth.txt --graph-out g.npz");
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert!(
        lines[0].starts_with("line.csv: 8 points with 1 feature, 3 exact neighbours in "),
        "{}",
        lines[0]
    );
    assert_eq!(lines[1], "g.npz written");
    assert_eq!(lines[2], "line.csv: 8 nodes, 12 edges, 2 components");
    assert!(lines[3].starts_with("2 clusters, N-Cut 0.0000 (objective 2.0000), "), "{}", lines[3]);
    assert!(ran.stdout.contains("against truth.txt: accuracy 1.0000, NMI 1.0000, ARI 1.0000\n"));
    assert_eq!(bench.read("labels.txt"), "0\n0\n0\n0\n1\n1\n1\n1\n");
    // The graph that was written gives the same labels.
    let again = bench.run("cluster g.npz -k 2 -o - --quiet");
    assert_eq!(again.stdout, bench.read("labels.txt"));
}

#[test]
fn tables_are_read_in_every_form_and_give_the_same_labels() {
    let rows: Vec<(f64, f64)> =
        (0..40).map(|i| (f64::from(i % 7) + 30.0 * f64::from(i / 20), f64::from(i % 5))).collect();
    let text =
        |separator: &str| -> String { rows.iter().map(|(x, y)| format!("{x}{separator}{y}\n")).collect() };
    let npy = |by_column: bool| {
        let order = if by_column { "True" } else { "False" };
        let header = format!("{{'descr': '<f8', 'fortran_order': {order}, 'shape': (40, 2), }}\n");
        let values: Vec<f64> = if by_column {
            rows.iter().map(|row| row.0).chain(rows.iter().map(|row| row.1)).collect()
        } else {
            rows.iter().flat_map(|row| [row.0, row.1]).collect()
        };
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        bytes
    };
    let bench = Bench::new()
        .with("plain.csv", text(","))
        .with("header.csv", format!("# a comment\nwidth,height\n{}", text(",")))
        .with("tabs.tsv", text("\t"))
        .with("spaces.txt", text("  "))
        .with("rows.npy", npy(false))
        .with("columns.npy", npy(true));
    let expected = bench.run("points plain.csv -k 2 --neighbors 5 -o - --quiet").stdout;
    assert_eq!(expected, "0\n".repeat(20) + &"1\n".repeat(20));
    for table in ["header.csv", "tabs.tsv", "spaces.txt", "rows.npy", "columns.npy"] {
        let ran = bench.run(&format!("points {table} -k 2 --neighbors 5 -o - --quiet"));
        assert_eq!(ran.stdout, expected, "{table}: {ran:?}");
    }
    for options in [
        "--affinity knn",
        "--affinity rbf",
        "--affinity adaptive",
        "--affinity adaptive --mutual",
        "--affinity rbf --gamma 0.5",
        "--mutual",
        "--threads 1",
        "--search approximate",
    ] {
        let ran = bench.run(&format!("points rows.npy -k 2 --neighbors 5 -o - --quiet {options}"));
        assert_eq!(ran.stdout, expected, "{options}: {ran:?}");
    }
    assert_eq!(bench.run("points rows.npy -k 2 --affinity cosine -q").code, Some(0));
}

#[test]
fn the_report_tells_what_building_the_graph_took() {
    let bench = Bench::new().with("line.csv", LINE);
    let ran = bench.run("points line.csv -k 2 --json -");
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(report["seconds"]["build"].as_f64().unwrap() > 0.0);
    assert_eq!(report["n_nodes"], 8);
    assert_eq!(report["preset"], "default");
}

#[test]
fn broken_tables_are_refused() {
    for (name, content, message) in [
        ("t.csv", "", "t.csv: holds no rows of numbers"),
        ("t.csv", "a,b\n", "t.csv: holds no rows of numbers"),
        ("t.csv", "1,2\n3\n", "t.csv, line 2: this line has 1 columns, the first has 2"),
        ("t.csv", "a,b\n1,2\n3,x\n", "t.csv, line 3: column 2 is `x`, which is not a number"),
        ("t.csv", "1,b\n1,2\n", "t.csv, line 1: column 2 is `b`, which is not a number"),
        ("t.csv", "1,2\n3,nan\n", "t.csv, line 2: column 2 is nan; fill in or remove such points first"),
        ("t.csv", "1,2\ninf,4\n", "t.csv, line 2: column 1 is inf"),
        ("t.csv", "1,2\n3,\n", "t.csv, line 2: column 2 is empty"),
        (
            "t.csv",
            "1,2\n1e200,4\n",
            "t.csv, line 2: column 1 is 1e200; that is too large: rescale the columns",
        ),
        ("t.npy", "junk that is no array", "t.npy: the array is no .npy array"),
        ("t.npy", "", "t.npy: the array is cut short"),
        ("t.npz", "junk", "t.npz: is no .npz file, or a damaged one"),
        ("t.xyz", "1,2\n", "t.xyz: unknown kind of table"),
        ("t.csv", "1,2\n", "t.csv: 2 clusters were asked of 1 nodes"),
    ] {
        let bench = Bench::new().with(name, content).with("labels.txt", "precious");
        let ran = bench.run(&format!("points {name} -k 2 -o labels.txt --graph-out g.mtx"));
        assert_eq!(ran.code, Some(1), "{content:?}: {ran:?}");
        assert!(ran.stderr.contains(message), "{content:?}: expected «{message}», got {}", ran.stderr);
        assert_eq!(bench.read("labels.txt"), "precious");
    }
    let bench = Bench::new().with("line.csv", LINE);
    for (options, message) in [
        ("--neighbors 0", "line.csv: --neighbors is 0; it must be at least 1"),
        ("--affinity rbf --gamma -1", "line.csv: gamma is -1; it must be a positive number"),
        ("--graph-out g.xyz", "g.xyz: unknown kind of graph file"),
        ("--graph-out line.csv", "line.csv: the output would overwrite the input"),
    ] {
        let ran = bench.run(&format!("points line.csv -k 2 {options}"));
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains(message), "expected «{message}», got {}", ran.stderr);
        assert_eq!(bench.files(), ["line.csv"]);
    }
}

#[test]
fn constant_columns_single_columns_and_duplicates_work() {
    let bench = Bench::new()
        .with("constant.csv", "1,5\n2,5\n30,5\n31,5\n")
        .with("duplicates.csv", "1,2\n".repeat(30) + &"8,9\n".repeat(30));
    let constant = bench.run("points constant.csv -k 2 --neighbors 1 -o - -q");
    assert_eq!(constant.stdout, "0\n0\n1\n1\n");
    let duplicates = bench.run("points duplicates.csv -k 2 -o - -q");
    assert_eq!(duplicates.stdout, "0\n".repeat(30) + &"1\n".repeat(30));
}
