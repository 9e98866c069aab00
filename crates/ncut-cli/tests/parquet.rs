//! Parquet files, in builds with the feature of that name and without.

mod common;

use common::Bench;

const TRIANGLES: &str = "a b\nb c\nc a\nc d\nd e\ne f\nf d\n";

#[test]
#[cfg(not(feature = "parquet"))]
fn a_build_without_it_says_how_to_get_it() {
    let bench = Bench::new().with("g.txt", TRIANGLES).with("x.parquet", "PAR1");
    for arguments in [
        "cluster g.txt -k 2 -o labels.parquet",
        "cluster g.txt -k 2 --truth x.parquet",
        "points x.parquet -k 2",
        "cluster x.parquet -k 2",
        "convert g.txt new.parquet",
    ] {
        let ran = bench.run(arguments);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains("build with --features parquet"), "{}", ran.stderr);
        assert_eq!(bench.files(), ["g.txt", "x.parquet"]);
    }
}

#[test]
#[cfg(feature = "parquet")]
fn labels_go_to_parquet_and_back() {
    let bench = Bench::new().with("g.txt", TRIANGLES).with("x.parquet", "PAR1");
    assert_eq!(bench.run("cluster g.txt -k 2 -o labels.parquet").code, Some(0));
    let ran = bench.run("cluster g.txt -k 2 --truth labels.parquet");
    assert!(ran.code == Some(0) && ran.stdout.contains("accuracy 1.0000"), "{ran:?}");
    // Six ids and six labels are a table as well, but ids are no numbers.
    let ran = bench.run("points labels.parquet -k 2");
    assert!(ran.stderr.contains("labels.parquet: column `id` holds text, no numbers"), "{ran:?}");
    let ran = bench.run("points x.parquet -k 2 -o labels.txt");
    assert!(ran.code == Some(1) && ran.stderr.contains("x.parquet: cannot be read as Parquet"), "{ran:?}");
    assert_eq!(bench.files(), ["g.txt", "labels.parquet", "x.parquet"]);
}

#[test]
#[cfg(feature = "parquet")]
fn edges_go_to_parquet_and_back() {
    let bench = Bench::new().with("g.txt", TRIANGLES);
    assert_eq!(bench.run("convert g.txt g.parquet").code, Some(0));
    let labels = |graph: &str| bench.run(&format!("cluster {graph} -k 2 -o - --quiet")).stdout;
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&labels("g.parquet")), sorted(&labels("g.txt")));
    // Parquet is read from its end, which a pipe has not.
    let piped = bench.shell("cat g.parquet | ncut cluster - --format parquet -k 2 -o - --quiet");
    assert_eq!(sorted(&piped.stdout), sorted(&labels("g.txt")), "{piped:?}");
    let ran = bench.run("cluster g.parquet -k 2 --columns 1,9");
    assert!(ran.code == Some(1) && ran.stderr.contains("there is no column 9"), "{ran:?}");
}
