//! Steering from the command line: what is asked for is kept, what is wrong is said, and nothing is written then.

mod common;

use std::fs;
use std::io::Cursor;

use common::{Bench, TRIANGLES};
use image::{DynamicImage, ImageFormat, RgbaImage};
use serde_json::Value;

fn bench() -> Bench {
    Bench::new().with("g.txt", TRIANGLES)
}

/// The label of every id in a file of labels.
fn labels(bench: &Bench, name: &str) -> Vec<(String, i32)> {
    let text = bench.read(name);
    let line = |line: &str| line.split_once('\t').map(|(id, label)| (id.to_owned(), label.parse().unwrap()));
    text.lines().filter_map(line).collect()
}

fn label_of(found: &[(String, i32)], id: &str) -> i32 {
    found.iter().find(|known| known.0 == id).unwrap().1
}

#[test]
fn known_labels_are_kept_and_need_not_be_complete() {
    let bench = bench().with("known.txt", "f\t0\na 1\n");
    for preset in ["fast", "default", "best"] {
        for objective in ["ncut", "ratio-cut", "modularity"] {
            let call = format!(
                "cluster g.txt -k 2 --fix known.txt --preset {preset} --objective {objective} -o l.txt"
            );
            let ran = bench.run(&call);
            assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{call}");
            let found = labels(&bench, "l.txt");
            for (id, label) in [("a", 1), ("b", 1), ("c", 1), ("d", 0), ("e", 0), ("f", 0)] {
                assert_eq!(label_of(&found, id), label, "{call}");
            }
        }
    }
}

#[test]
fn pairs_are_kept_and_the_summary_says_what_connected_yields_to() {
    let bench = bench().with("together.txt", "a f\n").with("apart.txt", "a b\nb c\n");
    let ran = bench
        .run("cluster g.txt -k 3 --must-link together.txt --cannot-link apart.txt -o l.txt --json j.json");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let found = labels(&bench, "l.txt");
    assert_eq!(label_of(&found, "a"), label_of(&found, "f"));
    assert_ne!(label_of(&found, "a"), label_of(&found, "b"));
    assert_ne!(label_of(&found, "b"), label_of(&found, "c"));
    let report: Value = serde_json::from_str(&bench.read("j.json")).unwrap();
    assert_eq!(report["n_clusters"], 3);
    // Without pairs, fixed labels tear a cluster apart.
    let torn = bench.with("known.txt", "a 0\nf 0\nb 1\nc 1\nd 1\ne 1\n");
    let ran = torn.run("cluster g.txt -k 2 --fix known.txt");
    assert!(
        ran.stdout.contains("known labels, pairs and the largest share go before holding together"),
        "{}",
        ran.stdout
    );
    let ran = torn.run("cluster g.txt -k 2 --fix known.txt --connected yes -o no.txt");
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("`connected` yes could not be met"), "{}", ran.stderr);
    assert!(!torn.files().contains(&"no.txt".to_owned()));
}

#[test]
fn the_largest_share_is_kept_and_told() {
    let path: String = (0..39).map(|node| format!("{node} {} 1\n", node + 1)).collect();
    let bench = Bench::new()
        .with("p.txt", path)
        .with("w.txt", (0..40).map(|n| format!("{n} 1\n")).collect::<String>());
    let ran = bench.run("cluster p.txt -k 4 --max-share 1 --node-weights w.txt --json - --quiet");
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let sizes: Vec<u64> =
        report["clusters"].as_array().unwrap().iter().map(|c| c["size"].as_u64().unwrap()).collect();
    assert_eq!(sizes, [10, 10, 10, 10]);
    assert_eq!((report["max_share"].as_f64(), report["largest_share"].as_f64()), (Some(1.0), Some(1.0)));
    let ran = bench.run("cluster p.txt -k 4 --max-share 1.1");
    assert!(ran.stdout.contains("times the mean, of 1.1 allowed"), "{}", ran.stdout);
}

#[test]
fn confidence_is_a_line_a_node() {
    let bench = bench();
    let ran = bench.run("cluster g.txt -k 2 --confidence sure.csv -o l.txt");
    assert!(ran.stdout.contains("sure.csv written"), "{}", ran.stdout);
    let text = bench.read("sure.csv");
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 6);
    let value = |row: usize| rows[row][2].parse::<f64>().unwrap();
    assert_eq!((rows[0][0], rows[0][1], rows[0][3]), ("a", "0", "0"));
    assert!(value(0) > value(2) && value(2) > 0.0, "{text}");
    // The same for labels from anywhere.
    assert_eq!(bench.run("score g.txt l.txt --confidence again.csv").code, Some(0));
    assert_eq!(bench.read("again.csv"), text);
}

#[test]
fn score_and_compare_say_what_is_not_kept() {
    let bench = bench()
        .with("l.txt", "a 0\nb 0\nc 0\nd 1\ne 1\nf 1\n")
        .with("known.txt", "a 1\nd 1\n")
        .with("apart.txt", "a b\n");
    let ran =
        bench.run("score g.txt l.txt --fix known.txt --cannot-link apart.txt --max-share 1.5 --json s.json");
    assert!(ran.stdout.contains("not kept: 1 known label, 1 pair to be apart\n"), "{}", ran.stdout);
    let report: Value = serde_json::from_str(&bench.read("s.json")).unwrap();
    assert_eq!((report["n_violations"].as_u64(), report["n_pairs_together"].as_u64()), (Some(2), Some(1)));
    let ran = bench.run("score g.txt l.txt --must-link apart.txt");
    assert!(ran.stdout.contains("everything that was asked for is kept"), "{}", ran.stdout);
    let ran = bench.run("compare g.txt -k 2 --cannot-link apart.txt --json c.json");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report: Value = serde_json::from_str(&bench.read("c.json")).unwrap();
    for row in report["solvers"].as_array().unwrap() {
        let is_ours = row["solver"].as_str().unwrap().starts_with("preset");
        assert_eq!(row["n_violations"] == 0, is_ours, "{row}");
    }
}

#[test]
fn choose_and_auto_count_under_constraints() {
    let bench = bench().with("known.txt", "a 0\nb 2\n");
    let ran = bench.run("choose g.txt --from 3 --to 4 --fix known.txt");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let ran = bench.run("choose g.txt --to 4 --fix known.txt");
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("from the highest known label plus 1"), "{}", ran.stderr);
    let ran = bench.run("cluster g.txt -k auto --fix known.txt -o l.txt");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(label_of(&labels(&bench, "l.txt"), "b"), 2);
}

#[test]
fn update_keeps_numbers_and_tells_what_changed() {
    let changed = "a b 1\nb c 1\na c 1\nd e 1\nd f 1\ne f 1\nc d 0.1\ng f 1\ng e 1\n";
    let bench = Bench::new().with("old.txt", "a 7\nb 7\nc 7\nd 7\ne 3\nf 3\nz 3\n").with("g.txt", changed);
    let ran = bench.run("update old.txt g.txt -o new.txt --json u.json --stay 0");
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert!(
        ran.stdout
            .contains("old.txt: 1 node moved to another cluster (16.7 % of those known), 1 new, 1 gone\n"),
        "{}",
        ran.stdout
    );
    let found = labels(&bench, "new.txt");
    for (id, label) in [("a", 7), ("b", 7), ("c", 7), ("d", 3), ("e", 3), ("f", 3), ("g", 3)] {
        assert_eq!(label_of(&found, id), label);
    }
    let report: Value = serde_json::from_str(&bench.read("u.json")).unwrap();
    assert_eq!(report["moved"][0]["node"], "d");
    assert_eq!((report["moved"][0]["from"].as_i64(), report["moved"][0]["to"].as_i64()), (Some(7), Some(3)));
    assert_eq!(
        (&report["new"][0]["node"], &report["gone"][0]["node"]),
        (&Value::from("g"), &Value::from("z"))
    );
    // A price nobody pays.
    let ran = bench.run("update old.txt g.txt --stay 100 --json - --quiet");
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["n_moved"], 0);
}

#[test]
fn every_bad_file_has_a_message_and_nothing_is_written() {
    let bad = [
        ("--fix x", "a 0\nq 1\n", "x, line 2: `q` is no node of the graph"),
        ("--fix x", "a 0\na 1\n", "x, line 2: `a` has a label already"),
        ("--fix x", "a zero\nb 1\n", ""),
        ("--fix x", "a 0\nb one\n", "x, line 2: `one` is no label"),
        ("--fix x", "a 5\n", "`a` has the known label 5, but the clusters are 0 to 1"),
        ("--fix x", "a -1\n", "the known labels are all -1"),
        ("--fix x", "", "x: holds 0 labels, but the graph has 6 nodes"),
        ("--fix x", "0\n1\n", "x: holds 2 labels, but the graph has 6 nodes"),
        ("--must-link x", "a b\nc q\n", "x, line 2: `q` is no node of the graph"),
        ("--must-link x", "a b c\n", "x, line 1: a line is two nodes, but this one has 3 columns"),
        ("--must-link x", "", "x: holds no pairs"),
        ("--cannot-link x", "# none\n", "x: holds no pairs"),
        ("--cannot-link x", "a a\n", "`a` is to be apart from itself"),
        (
            "--cannot-link x --must-link y",
            "a c\n",
            "`a` and `c` are to be apart, but `a` is to be with `b`, `b` is to be with `c`",
        ),
        ("--cannot-link x", "a b\nb c\na c\n", "takes 3 clusters, but 2 were asked for"),
        ("--node-weights x", "a 1\nb 2\n", "x: node `c` has no weight"),
        ("--node-weights x", "1\n2\n", "x: holds 2 weights, but the graph has 6 nodes"),
        ("--node-weights x", "a -1\n", "x, line 1: `-1` is no weight"),
        ("--node-weights x", "a 0\nb 0\nc 0\nd 0\ne 0\nf 0\n", "the node weights add up to 0"),
        ("--fix nowhere", "", "nowhere"),
    ];
    for (options, content, message) in bad {
        let bench = bench().with("x", content).with("y", "a b\nb c\n");
        let ran = bench.run(&format!("cluster g.txt -k 2 {options} -o out.txt --json out.json"));
        if message.is_empty() {
            // A first line whose label is a word is a header.
            assert_eq!(ran.code, Some(1), "{options}: {content}");
            continue;
        }
        assert_eq!(ran.code, Some(1), "{options}: {content}");
        assert!(ran.stderr.contains(message), "{options}: {}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
        assert_eq!(bench.files(), ["g.txt", "x", "y"], "{options}");
    }
    let bench = bench();
    for (options, message) in [
        ("--max-share 0.5", "--max-share is 0.5; it must be a number of at least 1"),
        ("--max-share 1.2 --preset paper", "`paper` with a largest share"),
    ] {
        let ran = bench.run(&format!("cluster g.txt -k 2 {options}"));
        assert_eq!(ran.code, Some(1));
        assert!(ran.stderr.contains(message), "{}", ran.stderr);
    }
    let ran = bench.run("cluster g.txt --objective modularity --max-share 1.2");
    assert!(ran.stderr.contains("the number of clusters is free with a largest share"), "{}", ran.stderr);
    assert_eq!(bench.run("cluster g.txt -k 2 --confidence -").code, Some(2));
}

#[test]
fn update_refuses_bad_old_labels() {
    let bad = [
        ("", "no node of the graph has an old label"),
        ("a 1\na 2\n", "old.txt, line 2: `a` has a label already"),
        ("a 1\nb x\n", "old.txt, line 2: `x` is no label"),
        ("1\n2\n", "old.txt, line 1: the nodes of this graph have ids: a line is an id and a label"),
        ("a 1 2\n", "old.txt, line 1"),
        ("q 1\n", "no node of the graph has an old label"),
    ];
    for (old, message) in bad {
        let bench = bench().with("old.txt", old);
        let ran = bench.run("update old.txt g.txt -o new.txt");
        assert_eq!(ran.code, Some(1), "{old}");
        assert!(ran.stderr.contains(message), "{old}: {}", ran.stderr);
        assert_eq!(bench.files(), ["g.txt", "old.txt"]);
    }
    let ran = bench().with("old.txt", "a 1\nb 0\n").run("update old.txt g.txt --stay -1");
    assert!(ran.stderr.contains("stay is -1; it must be a number of at least 0"), "{}", ran.stderr);
}

fn png(image: RgbaImage) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    DynamicImage::from(image).write_to(&mut bytes, ImageFormat::Png).unwrap();
    bytes.into_inner()
}

#[test]
fn a_mask_may_be_white_on_a_transparent_ground() {
    let picture = RgbaImage::from_fn(8, 4, |x, _| image::Rgba([if x < 4 { 0 } else { 200 }, 0, 0, 255]));
    let mask = RgbaImage::from_fn(8, 4, |_, y| image::Rgba(if y < 2 { [255; 4] } else { [0; 4] }));
    let bench = Bench::new().with("p.png", png(picture)).with("m.png", png(mask));
    let ran = bench.run("segment p.png -k 2 --mask m.png -o l.npy --json report.json");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report: serde_json::Value = serde_json::from_str(&bench.read("report.json")).unwrap();
    let sizes =
        report["clusters"].as_array().unwrap().iter().map(|cluster| cluster["size"].as_u64().unwrap());
    assert_eq!(sizes.sum::<u64>(), 16);
}

/// A picture of two halves, and strokes that say the opposite numbers of what would come first.
#[test]
fn scribbles_are_kept_and_masks_leave_pixels_out() {
    let (width, height) = (24, 12);
    let picture = RgbaImage::from_fn(width, height, |x, _| {
        image::Rgba(if x < 12 { [40, 40, 40, 255] } else { [210, 210, 210, 255] })
    });
    let mut strokes = RgbaImage::new(width, height);
    for x in 14..20 {
        strokes.put_pixel(x, 0, image::Rgba([255, 0, 0, 255]));
        strokes.put_pixel(x - 12, 11, image::Rgba([0, 0, 255, 255]));
    }
    // A corner of the dark half belongs to the bright one.
    strokes.put_pixel(0, 0, image::Rgba([255, 0, 0, 255]));
    let mask =
        RgbaImage::from_fn(width, height, |_, y| image::Rgba(if y < 10 { [255; 4] } else { [0, 0, 0, 255] }));
    let bench = Bench::new().with("p.png", png(picture)).with("s.png", png(strokes)).with("m.png", png(mask));
    let grid = |name: &str| {
        let file = fs::read(bench.path(name)).unwrap();
        let start = 10 + usize::from(u16::from_le_bytes([file[8], file[9]]));
        let numbers = file[start..].chunks_exact(4).map(|b| i32::from_le_bytes(b.try_into().unwrap()));
        numbers.collect::<Vec<i32>>()
    };
    let ran = bench.run("segment p.png -k 2 --seeds s.png -o l.npy");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let found = grid("l.npy");
    assert_eq!((found[0], found[1], found[23], found[11 * 24 + 3]), (0, 1, 0, 1));
    assert_eq!((0..12).filter(|row| found[row * 24 + 20] == 0 && found[row * 24 + 5] == 1).count(), 12);
    let ran = bench.run("segment p.png -k 2 --mask m.png -o l.npy");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let found = grid("l.npy");
    assert!(found[..240].iter().all(|&label| label >= 0) && found[240..].iter().all(|&label| label == -1));
    let ran = bench.run("segment p.png -k 2 --seeds s.png --scale 0.5 -o l.npy");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(grid("l.npy")[0], 0);
    for (options, message) in [
        ("--seeds p.png", "p.png: has no transparent pixel"),
        ("--seeds g.txt", "g.txt"),
        ("--mask light.png", "light.png: has 3 x 3 pixels, but the picture has 24 x 12"),
        ("--seeds small.png", "small.png: has nothing painted"),
        ("--mask black.png", "black.png: has no light pixel"),
    ] {
        let bench = Bench::new()
            .with("p.png", fs::read(bench.path("p.png")).unwrap())
            .with("g.txt", TRIANGLES)
            .with("small.png", png(RgbaImage::new(3, 3)))
            .with("light.png", png(RgbaImage::from_pixel(3, 3, image::Rgba([255; 4]))))
            .with("black.png", png(RgbaImage::from_pixel(width, height, image::Rgba([0, 0, 0, 255]))));
        let ran = bench.run(&format!("segment p.png -k 2 {options} -o l.npy"));
        assert_eq!(ran.code, Some(1), "{options}");
        assert!(ran.stderr.contains(message), "{options}: {}", ran.stderr);
        assert!(!bench.files().contains(&"l.npy".to_owned()));
    }
    let ran = bench.run("segment p.png -k 1 --seeds s.png -o l.png");
    assert!(
        ran.stderr.contains("s.png: has 2 colours, each a region, but 1 regions were asked for"),
        "{}",
        ran.stderr
    );
}
