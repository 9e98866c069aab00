//! The commands, by everything they print and write.

mod common;

use common::{Bench, TRIANGLES};
use serde_json::Value;

/// Times differ from run to run.
fn without_times(text: &str) -> String {
    let mut words: Vec<String> = text.split(' ').map(str::to_string).collect();
    for place in 1..words.len() {
        if words[place].starts_with("s\n") && words[place - 1].parse::<f64>().is_ok() {
            words[place - 1] = "T".into();
        }
    }
    words.join(" ")
}

#[test]
fn cluster_prints_a_summary_and_writes_labels_with_ids() {
    let bench = Bench::new().with("g.txt", TRIANGLES).with("truth.txt", "f 1\ne 1\nd 1\nc 0\nb 0\na 0\n");
    let ran = bench.run("cluster g.txt -k 2 --preset paper -o labels.txt --truth truth.txt");
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert_eq!(
        without_times(&ran.stdout),
        "g.txt: 6 nodes, 7 edges, 1 component\n\
         2 clusters, N-Cut 0.0328 (objective 1.9672), 1 sweep in T s\n\
         against truth.txt: accuracy 1.0000, NMI 1.0000, ARI 1.0000\n\
         labels.txt written\n"
    );
    assert_eq!(bench.read("labels.txt"), "a\t0\nb\t0\nc\t0\nd\t1\ne\t1\nf\t1\n");
}

#[test]
fn labels_go_to_standard_output_and_the_summary_then_to_standard_error() {
    let bench =
        Bench::new().with("g.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n");
    let ran = bench.run("cluster g.mtx -k 2 -o -");
    assert_eq!(ran.stdout, "0\n0\n1\n");
    assert!(ran.stderr.starts_with("g.mtx: 3 nodes, 2 edges, 1 component\n2 clusters, "), "{}", ran.stderr);
    let quiet = bench.run("cluster g.mtx -k 2 -o - --quiet");
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("0\n0\n1\n", ""));
    assert_eq!(bench.files(), ["g.mtx"], "nothing is written without being asked for");
}

#[test]
fn the_json_report_has_every_promised_field() {
    let bench = Bench::new().with("g.txt", TRIANGLES).with("truth.txt", "0\n0\n0\n1\n1\n1\n");
    let ran = bench.run("cluster g.txt -k 2 --truth truth.txt --json - --seed 7 --threads 2 --preset paper");
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let keys: Vec<&str> = report.as_object().unwrap().keys().map(String::as_str).collect();
    for key in [
        "n_nodes",
        "n_edges",
        "n_components",
        "n_isolated",
        "n_clusters",
        "preset",
        "min_share",
        "connected",
        "seed",
        "threads",
        "objective",
        "ncut",
        "smallest_share",
        "n_disconnected_clusters",
        "accuracy",
        "nmi",
        "ari",
        "stop_reason",
        "sweeps",
        "moves",
        "seconds",
        "peak_memory_bytes",
        "clusters",
    ] {
        assert!(keys.contains(&key), "{key} is missing");
    }
    assert!(!keys.contains(&"upper_bound"), "nobody asked for it");
    assert_eq!(report["n_nodes"], 6);
    assert_eq!(report["n_edges"], 7);
    assert_eq!(report["seed"], 7);
    assert_eq!(report["preset"], "paper");
    assert_eq!(report["stop_reason"], "local-optimum");
    assert_eq!(report["accuracy"], 1.0);
    let objective = report["objective"].as_f64().unwrap();
    assert!((objective - 2.0 * 6.0 / 6.1).abs() < 1e-12);
    assert!((report["ncut"].as_f64().unwrap() - (2.0 - objective)).abs() < 1e-12);
    assert_eq!(report["clusters"][1]["label"], 1);
    assert_eq!(report["clusters"][1]["size"], 3);
    assert!((report["clusters"][1]["volume"].as_f64().unwrap() - 6.1).abs() < 1e-12);
    assert_eq!(report["clusters"][1]["association"], 6.0);
    assert_eq!(report["clusters"][1]["n_pieces"], 1);
    for (key, expected) in [("inside", 6.0 / 6.1), ("conductance", 0.1 / 6.1)] {
        assert!((report["clusters"][1][key].as_f64().unwrap() - expected).abs() < 1e-12, "{key}");
    }
    for part in ["read", "build", "solve", "write", "total"] {
        assert!(report["seconds"][part].as_f64().unwrap() >= 0.0, "{part}");
    }
    assert!(ran.stderr.contains("2 clusters"), "the summary is on standard error");
    let without = bench.run("cluster g.txt -k 2 --json report.json");
    assert!(without.stdout.ends_with("report.json written\n"));
    let report: Value = serde_json::from_str(&bench.read("report.json")).unwrap();
    assert!(report.get("accuracy").is_none(), "no truth, no accuracy");
}

#[test]
fn a_disconnected_graph_is_explained() {
    let bench =
        Bench::new().with("g.txt", "a b\nb c\nd e\nf g\nx x 0\n".replace('\n', " 1\n").replace("0 1", "0"));
    let ran = bench.run("cluster g.txt -k 3 -o labels.csv");
    assert!(
        ran.stdout.starts_with("g.txt: 8 nodes, 4 edges, 4 components, 1 isolated node\n"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("3 clusters consist of whole components; --components largest"));
    assert_eq!(bench.read("labels.csv"), "a,0\nb,0\nc,0\nd,1\ne,1\nf,2\ng,2\nx,0\n");
    let largest = bench.run("cluster g.txt -k 2 --components largest -o -");
    assert!(largest.stderr.contains("the largest component has 3 nodes; 5 nodes outside it are labelled -1"));
    assert_eq!(largest.stdout, "a\t0\nb\t0\nc\t1\nd\t-1\ne\t-1\nf\t-1\ng\t-1\nx\t-1\n");
}

#[test]
fn clusters_in_pieces_and_shares_that_are_not_met_are_reported() {
    let star: String = (1..41).map(|leaf| format!("0 {leaf}\n")).collect();
    let bench = Bench::new().with("star.txt", star);
    let connected = bench.run("cluster star.txt -k 4 --json connected.json");
    let report: Value = serde_json::from_str(&bench.read("connected.json")).unwrap();
    assert_eq!((&report["connected"], &report["n_disconnected_clusters"]), (&true.into(), &0.into()));
    let missed = "the smallest cluster has 0.0500 of the mean, not 0.25: connected clusters come no nearer\n";
    assert!(connected.stdout.contains(missed), "{}", connected.stdout);
    let apart = bench.run("cluster star.txt -k 4 --connected no -o labels.txt --json apart.json");
    let report: Value = serde_json::from_str(&bench.read("apart.json")).unwrap();
    let n_apart = report["n_disconnected_clusters"].as_u64().unwrap();
    assert!(n_apart > 0 && report["smallest_share"].as_f64().unwrap() >= 0.25);
    let remark = format!("{n_apart} of 4 clusters are not connected\n");
    assert!(apart.stdout.contains(&remark), "{}", apart.stdout);
    assert!(bench.run("score star.txt labels.txt").stdout.contains(&remark));
    let paper = bench.run("cluster star.txt -k 4 --preset paper --connected yes");
    assert_eq!(paper.code, Some(1));
    assert!(
        paper.stderr.contains("connected is yes; it must be `no` with preset `paper`"),
        "{}",
        paper.stderr
    );
}

#[test]
fn score_repeats_what_cluster_reported() {
    let bench = Bench::new().with("g.txt", TRIANGLES);
    bench.run("cluster g.txt -k 3 -o labels.txt --json found.json");
    let ran = bench.run("score g.txt labels.txt --truth labels.txt --json -");
    let (found, scored): (Value, Value) = (
        serde_json::from_str(&bench.read("found.json")).unwrap(),
        serde_json::from_str(&ran.stdout).unwrap(),
    );
    for key in ["objective", "ncut", "smallest_share", "clusters", "n_clusters", "n_nodes"] {
        assert_eq!(found[key], scored[key], "{key}");
    }
    assert_eq!(scored["ari"], 1.0);
    let plain = bench.run("score g.txt labels.txt");
    let (first, second) = plain.stdout.split_once('\n').unwrap();
    assert_eq!(first, "g.txt: 6 nodes, 7 edges, 1 component");
    assert!(second.starts_with("labels.txt: 3 clusters, N-Cut "), "{second}");
}

#[test]
fn score_leaves_out_nodes_labelled_minus_one() {
    let bench = Bench::new().with("g.txt", TRIANGLES).with("l.txt", "0\n0\n0\n-1\n-1\n-1\n");
    let ran = bench.run("score g.txt l.txt --json -");
    let scored: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(scored["n_clusters"], 1);
    assert!((scored["objective"].as_f64().unwrap() - 6.0 / 6.1).abs() < 1e-15);
}

#[test]
fn a_start_is_improved_and_read_in_every_form() {
    let bench = Bench::new()
        .with("g.txt", TRIANGLES)
        .with("bad.txt", "0\n0\n1\n1\n1\n1\n")
        .with("by_id.txt", "f 9\ne 9\nd 9\nc 4\nb 4\na 4\n")
        .with("gaps.txt", "0\n-1\n-1\n-1\n-1\n1\n");
    for init in ["bad.txt", "by_id.txt", "gaps.txt"] {
        let ran = bench.run(&format!("cluster g.txt -k 2 --init {init} -o - --quiet"));
        assert_eq!(ran.stdout, "a\t0\nb\t0\nc\t0\nd\t1\ne\t1\nf\t1\n", "{init}");
    }
    bench.run("cluster g.txt -k 2 -o labels.npy");
    assert_eq!(bench.run("cluster g.txt -k 2 --init labels.npy -q -o -").code, Some(0));
}

#[test]
fn convert_goes_through_every_format_and_back() {
    let bench = Bench::new()
        .with("g.mtx", "%%MatrixMarket matrix coordinate integer symmetric\n4 4 3\n2 1 5\n3 2 1\n4 3 5\n");
    let mut last = "g.mtx".to_string();
    for next in
        ["a.npz", "b.graph", "c.metis.gz", "d.mtx.zst", "e.txt", "f.csv.gz", "g.tsv", "h.edges.zst", "i.mtx"]
    {
        let ran = bench.run(&format!("convert {last} {next}"));
        // The one that comes from an edge list.
        let dropped = match next {
            "i.mtx" => {
                "i.mtx: this format keeps no ids; its nodes are numbers, in the order they first appear\n"
            }
            _ => "",
        };
        assert_eq!(
            ran.stdout,
            format!("{dropped}{last}: 4 nodes, 3 edges, 1 component\n{next} written\n"),
            "{}",
            ran.stderr
        );
        last = next.to_string();
    }
    assert_eq!(
        bench.read("i.mtx"),
        "%%MatrixMarket matrix coordinate real symmetric\n4 4 3\n2 1 5.0\n3 2 1.0\n4 3 5.0\n"
    );
}

#[test]
fn an_asymmetric_matrix_is_symmetrized_on_demand() {
    let bench = Bench::new()
        .with("g.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 2 4\n2 3 2\n3 2 2\n");
    assert_eq!(bench.run("convert g.mtx out.txt").code, Some(1));
    bench.run("convert g.mtx average.txt --symmetrize average");
    assert_eq!(bench.read("average.txt"), "0 1 2.0\n1 2 2.0\n");
    bench.run("convert g.mtx max.txt --symmetrize max");
    assert_eq!(bench.read("max.txt"), "0 1 4.0\n1 2 2.0\n");
}

#[test]
fn demo_prints_a_table_and_writes_a_picture() {
    let bench = Bench::new();
    let ran = bench.run("demo");
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert!(lines[0].starts_with("example       nodes    edges   k  objective   N-Cut  accuracy     NMI"));
    assert!(lines[1].starts_with("two circles     500     3015   2     1.9976  0.0024    1.0000  1.0000"));
    assert!(lines[2].starts_with("five blocks     500   124750   5     1.6541  3.3459    1.0000  1.0000"));
    assert_eq!(lines[4], "ncut-demo.svg written: open it in a browser");
    let picture = bench.read("ncut-demo.svg");
    assert!(picture.starts_with("<svg") && picture.ends_with("</svg>\n"));
    assert_eq!(picture.matches("<circle").count(), 500 + 10);
}

#[test]
fn completions_and_help_are_there() {
    let bench = Bench::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ran = bench.run(&format!("completions {shell}"));
        assert!(ran.code == Some(0) && ran.stdout.contains("cluster"), "{shell}");
    }
    for command in ["cluster", "points", "segment", "score", "convert", "demo", "completions"] {
        let help = bench.run(&format!("{command} --help")).stdout;
        assert!(help.contains("Example"), "{command} has no example");
    }
    assert_eq!(bench.run("").code, Some(2), "no command is wrong usage");
    assert_eq!(bench.run("cluster").code, Some(2));
    assert_eq!(bench.run("cluster g.txt -k two").code, Some(2));
    assert_eq!(bench.run("cluster g.txt -k 2 --preset unknown").code, Some(2));
    assert_eq!(bench.run("cluster g.txt -k 2 --time-limit -1").code, Some(2));
    for outputs in ["-o - --json -", "-o x.txt --json x.txt", "-o x.txt --json ./x.txt"] {
        let ran = bench.run(&format!("cluster g.txt -k 2 {outputs}"));
        assert_eq!(ran.code, Some(2), "{outputs}: {ran:?}");
        assert!(ran.stderr.contains("two outputs go to"), "{ran:?}");
    }
    assert!(bench.run("--version").stdout.starts_with("ncut "));
}

#[test]
fn a_closed_pipe_is_no_error_and_loses_no_file() {
    let edges: String = (0..20_000).map(|node| format!("{node} {}\n", node + 1)).collect();
    let bench = Bench::new().with("g.txt", edges);
    for arguments in ["-o - --json report.json", "-o labels.txt --json report.json"] {
        let mut child = bench
            .command(&format!("cluster g.txt -k 2 {arguments}"))
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments}");
        assert!(bench.read("report.json").contains("\"objective\""));
        std::fs::remove_file(bench.path("report.json")).unwrap();
    }
    assert_eq!(bench.read("labels.txt").lines().count(), 20_001);
}

#[test]
fn a_truth_without_overlap_is_refused() {
    let bench = Bench::new()
        .with("g.txt", TRIANGLES)
        .with("none.txt", "-1\n".repeat(6))
        .with("some.txt", "0\n0\n-1\n-1\n1\n1\n");
    for command in ["cluster g.txt -k 2 --truth none.txt", "score g.txt some.txt --truth none.txt"] {
        let ran = bench.run(command);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains("none.txt: no node is labelled on both sides"), "{ran:?}");
    }
    let some = bench.run("cluster g.txt -k 2 --truth some.txt");
    assert!(some.stdout.contains("ARI 1.0000 on the 4 nodes labelled in both\n"), "{some:?}");
    assert_eq!(bench.run("score g.txt none.txt").code, Some(1));
}

#[test]
fn a_mapped_graph_gives_what_its_text_gives() {
    let bench = Bench::new().with("g.txt", TRIANGLES);
    let converted = bench.run("convert g.txt g.ncut");
    assert_eq!(converted.stdout, "g.txt: 6 nodes, 7 edges, 1 component\ng.ncut written\n");
    for arguments in ["-k 2 -o -", "-k 2 -o - --preset paper --verify", "-k 2 -o - --verify=no"] {
        let of_text = bench.run(&format!("cluster g.txt --quiet {}", arguments.replace("=no", "")));
        let mapped = bench.run(&format!("cluster g.ncut --quiet {arguments}"));
        assert_eq!((mapped.code, &mapped.stdout), (Some(0), &of_text.stdout), "{}", mapped.stderr);
        assert!(mapped.stdout.starts_with("a\t0\n"), "ids come with the file");
    }
    assert_eq!(bench.run("cluster g.ncut -k 2 -o l.txt --quiet").code, Some(0));
    for call in
        ["score g.ncut l.txt", "choose g.ncut --to 3", "compare g.ncut -k 2", "convert g.ncut back.txt"]
    {
        let ran = bench.run(call);
        assert_eq!(ran.code, Some(0), "{call}: {}", ran.stderr);
    }
    let back = bench.run("cluster back.txt -k 2 -o - --quiet");
    assert_eq!(back.stdout, bench.run("cluster g.txt -k 2 -o - --quiet").stdout);
}

#[test]
fn a_memory_limit_changes_nothing_but_the_memory() {
    let list: String =
        (0..60_000).map(|edge| format!("{} {}\n", edge * 7 % 5_000, edge * 13 % 4_999)).collect();
    let bench = Bench::new().with("g.txt", &list);
    assert_eq!(bench.run("convert g.txt a.ncut --quiet").code, Some(0));
    let ran = bench.run("convert g.txt b.ncut --memory-limit 1M");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.starts_with("g.txt: 5 000 nodes, "), "{}", ran.stdout);
    assert_eq!(std::fs::read(bench.path("a.ncut")).unwrap(), std::fs::read(bench.path("b.ncut")).unwrap());
    let cluster =
        |arguments: &str| bench.run(&format!("cluster {arguments} -k 3 --preset fast -o - --quiet")).stdout;
    assert_eq!(cluster("g.txt --memory-limit 1M"), cluster("g.txt"));
    assert_eq!(bench.files(), ["a.ncut", "b.ncut", "g.txt"]);
    for bad in ["x", "5X", "0", "12", "G"] {
        assert_eq!(bench.run(&format!("convert g.txt c.ncut --memory-limit {bad}")).code, Some(2), "{bad}");
    }
}

#[test]
fn communities_need_no_number() {
    let bench = Bench::new().with("g.txt", TRIANGLES);
    let ran = bench.run("cluster g.txt --objective modularity -o labels.txt");
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert_eq!(
        without_times(&ran.stdout),
        "g.txt: 6 nodes, 7 edges, 1 component\n\
         2 clusters, modularity 0.4836 in T s\n\
         labels.txt written\n"
    );
    assert_eq!(bench.read("labels.txt"), "a\t0\nb\t0\nc\t0\nd\t1\ne\t1\nf\t1\n");
    let finer = bench.run("cluster g.txt --objective modularity --resolution 4");
    assert_eq!(
        without_times(&finer.stdout),
        "g.txt: 6 nodes, 7 edges, 1 component\n\
         6 clusters, modularity -0.1668 (-0.6670 at resolution 4.0000) in T s\n"
    );
}

#[test]
fn modularity_makes_exactly_as_many_clusters_as_asked_for() {
    let bench = Bench::new().with("g.txt", TRIANGLES);
    for (options, n_clusters) in [("-k 3", 3), ("-k 2 --resolution 1", 2), ("-k 6", 6), ("-k 1", 1)] {
        let ran = bench.run(&format!("cluster g.txt --objective modularity {options} --json -"));
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(report["n_clusters"], n_clusters, "{options}");
        assert_eq!((&report["objective_name"], &report["min_share"]), (&"modularity".into(), &0.0.into()));
        for key in ["objective", "resolution", "ncut", "ratio_cut", "modularity"] {
            assert!(report[key].is_f64(), "{key} of {options}");
        }
    }
}

#[test]
fn what_does_not_go_with_modularity_is_wrong_usage() {
    let bench = Bench::new().with("g.txt", TRIANGLES);
    let cases = [
        (
            "--objective modularity -k 2 --bound",
            "there is no upper bound for modularity; leave --bound out, or choose another objective",
        ),
        (
            "--objective modularity -k 2 --preset paper",
            "preset paper knows no modularity; choose another preset, or --objective ncut",
        ),
        (
            "-k 2 --resolution 2",
            "--resolution is for modularity; add --objective modularity, or leave it out",
        ),
        (
            "--objective ratio-cut",
            "the number of clusters is missing; give it with -k (only --objective modularity can do without)",
        ),
    ];
    for (options, message) in cases {
        let ran = bench.run(&format!("cluster g.txt {options}"));
        assert_eq!((ran.code, ran.stderr), (Some(2), format!("ncut: {message}\n")), "{options}");
    }
    let ran = bench.run("cluster g.txt --objective modularity --resolution 0");
    assert_eq!(ran.code, Some(1));
    assert_eq!(ran.stderr, "ncut: g.txt: resolution is 0; it must be a positive number\n");
}

#[test]
fn a_component_below_the_share_is_told_of() {
    let clique = |first: usize, n: usize| -> String {
        (first..first + n).flat_map(|i| (first..i).map(move |j| format!("{j} {i}\n"))).collect()
    };
    let bench = Bench::new().with("g.txt", format!("{}{}{}", clique(0, 12), clique(12, 12), clique(24, 3)));
    let remark =
        "1 cluster holds a small component beside a part of a larger one, to reach the share of 0.25";
    let ran = bench.run("cluster g.txt -k 3");
    assert!(ran.stdout.contains(remark), "{ran:?}");
    assert!(!bench.run("cluster g.txt -k 3 --min-share 0").stdout.contains("small component"));
}
