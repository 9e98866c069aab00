//! `choose`, `compare` and `--bound`, by what they print and write.

mod common;

use common::{Bench, TRIANGLES};
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_bound_stands_beside_the_objective() {
    let bench = Bench::new().with("g.txt", TRIANGLES);
    let ran = bench.run("cluster g.txt -k 2 --bound");
    assert!(ran.stdout.contains("2 clusters, N-Cut 0.0328 (objective 1.9672, at most 1.9"), "{}", ran.stdout);
    let report = json(&bench.run("cluster g.txt -k 2 --bound --json - --quiet").stdout);
    let (bound, objective) = (report["upper_bound"].as_f64().unwrap(), report["objective"].as_f64().unwrap());
    assert!(bound >= objective && bound < 2.0);
    assert_eq!(report["bound_status"], "verified");
    assert!(report["seconds"]["bound"].as_f64().unwrap() >= 0.0);
    let plain = json(&bench.run("cluster g.txt -k 2 --json - --quiet").stdout);
    assert!(plain.get("upper_bound").is_none() && plain.get("bound_status").is_none());
}

#[test]
fn components_make_the_bound_exact_and_the_largest_has_its_own() {
    let bench = Bench::new().with("g.txt", "a b\nb c\nc a\nx y\n");
    let report = json(&bench.run("cluster g.txt -k 2 --bound --json - --quiet --min-share 0").stdout);
    assert_eq!((&report["upper_bound"], &report["objective"]), (&Value::from(2.0), &Value::from(2.0)));
    let part = json(&bench.run("cluster g.txt -k 2 --bound --components largest --json - --quiet").stdout);
    assert!((part["upper_bound"].as_f64().unwrap() - 0.5).abs() < 1e-9);
}

#[test]
fn choose_prints_a_table_and_draws_the_curve() {
    let bench = Bench::new().with("g.txt", TRIANGLES);
    let ran = bench.run("choose g.txt --to 5 -o curve.svg --json curve.json");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines[0], "g.txt: 6 nodes, 7 edges, 1 component");
    assert_eq!(lines[1], "     k   objective     N-Cut      gap   turn  eigenvalue  eigengap");
    assert!(lines[2].starts_with("     1      1.0000    0.0000        -      -    1.000000"), "{}", lines[2]);
    assert!(lines[3].starts_with("*    2      1.9672    0.0328   0.9672"), "{}", lines[3]);
    assert!(
        ran.stdout.contains("suggested: 2 clusters, because the boundaries between them are clearly thinner")
    );
    assert!(ran.stdout.ends_with("curve.svg written\ncurve.json written\n"));
    let picture = bench.read("curve.svg");
    assert!(picture.starts_with("<svg") && picture.ends_with("</svg>\n"));
    let report = json(&bench.read("curve.json"));
    assert_eq!((&report["suggested"], &report["rule"]), (&Value::from(2), &Value::from("boundaries")));
    assert_eq!((&report["in_range"], &report["best_in_range"]), (&Value::from(true), &Value::from(2)));
    let outside = bench.run("choose g.txt --from 3 --to 5");
    assert!(outside.stdout.contains("suggested: 2 clusters"), "{}", outside.stdout);
    assert!(
        outside
            .stdout
            .contains("that is outside the range 3 to 5; of the range 3 is nearest by the same rule\n")
    );
    let gap = bench.run("choose g.txt --to 5 --rule gap");
    assert!(
        gap.stdout.contains("suggested: 2 clusters, the last of which gains 0.9672 while another would gain")
    );
    assert_eq!(report["curve"].as_array().unwrap().len(), 5);
    // A range beyond the graph ends with it; one that makes no sense is refused.
    assert_eq!(
        json(&bench.run("choose g.txt --json - --quiet").stdout)["curve"].as_array().unwrap().len(),
        6
    );
    let refused = bench.run("choose g.txt --from 4 --to 3");
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("g.txt") && refused.stderr.contains("4 to 3"), "{}", refused.stderr);
}

#[test]
fn auto_takes_what_choose_suggests() {
    let bench = Bench::new().with("g.txt", TRIANGLES);
    let ran = bench.run("cluster g.txt -k auto -o -");
    assert_eq!(ran.stdout, "a\t0\nb\t0\nc\t0\nd\t1\ne\t1\nf\t1\n");
    assert_eq!(bench.run("cluster g.txt -k many").code, Some(2));
    let report = json(&bench.run("cluster g.txt -k auto --json - --quiet").stdout);
    assert_eq!(
        (&report["count"]["rule"], &report["count"]["is_rough"]),
        (&"boundaries".into(), &false.into())
    );
}

#[test]
fn data_without_clusters_are_told_so() {
    let ring: String = (0..60).map(|node| format!("{node} {}\n", (node + 1) % 60)).collect();
    let bench = Bench::new().with("ring.txt", ring);
    let ran = bench.run("cluster ring.txt -k auto");
    assert!(ran.stdout.contains("the data show no clusters: all nodes are in one"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("N-Cut"), "{}", ran.stdout);
    let ran = bench.run("choose ring.txt --to 4");
    assert!(
        ran.stdout.contains("suggested: 1 cluster. The data show no clusters, because"),
        "{}",
        ran.stdout
    );
}

#[test]
fn compare_lists_every_solver() {
    let bench = Bench::new().with("g.txt", TRIANGLES).with("truth.txt", "0\n0\n0\n1\n1\n1\n");
    let ran = bench.run("compare g.txt -k 2 --truth truth.txt --json table.json");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("2 clusters, objective at most 1.9"), "{}", ran.stdout);
    let report = json(&bench.read("table.json"));
    let solvers: Vec<&str> =
        report["solvers"].as_array().unwrap().iter().map(|row| row["solver"].as_str().unwrap()).collect();
    assert_eq!(
        solvers,
        [
            "N2HI",
            "Fast-CD",
            "EVD+KM",
            "EVD+KM + Fast-CD",
            "Shi-Malik",
            "Shi-Malik + Fast-CD",
            "rotation",
            "rotation + Fast-CD",
            "ISR",
            "ISR + Fast-CD",
            "preset fast",
            "preset default"
        ]
    );
    for row in report["solvers"].as_array().unwrap() {
        assert!((row["objective"].as_f64().unwrap() - 1.9672).abs() < 1e-4, "{row}");
        assert_eq!(row["accuracy"], 1.0);
        assert!(row["gap"].as_f64().unwrap() > 0.0 && row["seconds"].as_f64().unwrap() >= 0.0);
    }
    let with_all = bench.run("compare g.txt -k 2 --all --truth truth.txt --json all.json");
    assert_eq!(with_all.code, Some(0), "{}", with_all.stderr);
    let report = json(&bench.read("all.json"));
    let rows = report["solvers"].as_array().unwrap();
    let more: Vec<&str> = rows[10..15].iter().map(|row| row["solver"].as_str().unwrap()).collect();
    assert_eq!(more, ["CLR-l1", "CLR-l1 + search", "CLR-l2", "CLR-l2 + search", "SBMC"]);
    assert_eq!(rows.len(), solvers.len() + more.len());
    for row in &rows[10..15] {
        assert_eq!(row["accuracy"], 1.0, "{row}");
    }
    assert_eq!(rows[10]["iteration"]["n_components"], 2);
    assert!(rows[14]["iteration"]["residual"].as_f64().unwrap() <= 1e-6);
    assert!(report.get("refused").is_none());
    // What CLR cannot do is told, and the others run all the same.
    let bench = bench.with("pieces.txt", "0 1\n2 3\n4 5\n");
    let ran = bench.run("compare pieces.txt -k 2 --all --json pieces.json");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let told = "CLR-l1 is left out: the graph has 3 components and CLR joins none; ask for at least as many clusters";
    assert!(ran.stdout.contains(told), "{}", ran.stdout);
    let report = json(&bench.read("pieces.json"));
    assert_eq!(report["refused"][1]["solver"], "CLR-l2");
    assert!(report["solvers"].as_array().unwrap().iter().any(|row| row["solver"] == "SBMC"));
    let stopped = bench.run("compare g.txt -k 2 --all --time-limit 0");
    assert!(stopped.stdout.contains("CLR-l1, CLR-l2, SBMC"), "{}", stopped.stdout);
    let refused = bench.run("compare g.txt -k 9");
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("9 clusters were asked of 6 nodes"), "{}", refused.stderr);
}
