//! `--report`: a page that is whole or not there, holds all it shows, and is harmless whatever the names. What it does in a
//! browser is tested in the Python package (`tests/test_page.py`).

mod common;

use std::fmt::Write as _;
use std::fs;

use common::{Bench, TRIANGLES};

/// Two triangles of points, named columns.
const TABLE: &str = "length,width\n0.1,1\n0,1.1\n0.1,1.2\n5,9\n5.1,9.2\n5.2,9\n";
/// A picture of two halves.
const PICTURE: &str = "P2\n4 2\n255\n0 0 255 255\n0 0 255 255\n";

fn bench() -> Bench {
    Bench::new().with("g.txt", TRIANGLES).with("t.csv", TABLE).with("p.pgm", PICTURE)
}

/// The data of a page.
fn data(page: &str) -> serde_json::Value {
    let (_, rest) = page.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn every_command_with_a_page_writes_one() {
    for (arguments, headline) in [
        ("cluster g.txt -k 2", "2 clusters, apart: 98\u{a0}% of the weight stays inside"),
        ("points t.csv -k 2 --neighbors 2", "2 clusters, apart: 100\u{a0}% of the weight stays inside"),
        (
            "segment p.pgm -k 2 -o regions.png",
            "2 regions, apart: borders are more than 50 times thinner than cuts through them",
        ),
        ("choose g.txt --to 3", "The data show 2 clusters"),
        ("compare g.txt -k 2", "All 12 solvers reach the same objective"),
    ] {
        let bench = bench();
        let ran = bench.run(&format!("{arguments} --report page.html"));
        assert_eq!(ran.code, Some(0), "{arguments}: {ran:?}");
        assert!(ran.stdout.contains("page.html written\n"), "{arguments}: {ran:?}");
        let page = bench.read("page.html");
        assert!(page.starts_with("<!doctype html>\n") && page.ends_with("</html>\n"), "{arguments}");
        assert!(page.contains(&format!("<h1>{headline}</h1>")), "{arguments}: {}", &page[..1200]);
        assert_eq!(
            data(&page)["clusters"]["label"].as_array().map(Vec::is_empty),
            Some(false),
            "{arguments}"
        );
    }
}

#[test]
fn pixels_outside_a_mask_count_nowhere_on_the_page() {
    let mask = "P2\n4 2\n255\n255 255 255 0\n255 255 255 0\n";
    let bench = bench().with("m.pgm", mask);
    let ran = bench.run("segment p.pgm -k 2 --mask m.pgm -o r.npy --report page.html --json report.json");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let page = bench.read("page.html");
    let report: serde_json::Value = serde_json::from_str(&bench.read("report.json")).unwrap();
    let numbers = |list: &serde_json::Value| -> Vec<f64> {
        list.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
    };
    let clusters = report["clusters"].as_array().unwrap();
    let volumes: Vec<f64> = clusters.iter().map(|cluster| cluster["volume"].as_f64().unwrap()).collect();
    let shown = numbers(&data(&page)["clusters"]["volume"]);
    assert_eq!(shown.len(), volumes.len());
    assert!(shown.iter().zip(&volumes).all(|(a, b)| (a - b).abs() < 1e-9 * b), "{shown:?} {volumes:?}");
    assert!(page.contains("Of 8 pixels 6 are in clusters"));
}

/// The headline of a page.
fn headline(page: &str) -> &str {
    page.split_once("<h1>").unwrap().1.split_once("</h1>").unwrap().0
}

#[test]
fn a_picture_is_judged_by_its_borders() {
    let plain = format!("P2\n24 18\n255\n{}", "0 ".repeat(24 * 18));
    let mut noise = String::from("P2\n24 18\n255\n");
    let mut state = 7u32;
    for _ in 0..24 * 18 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let _ = write!(noise, "{} ", state >> 24);
    }
    let mut squares = String::from("P2\n24 18\n255\n");
    for pixel in 0..24 * 18 {
        let (row, column) = (pixel / 24, pixel % 24);
        let _ = write!(squares, "{} ", 40 * (column / 8) + 100 * (row / 9) + pixel % 2);
    }
    let bench = bench().with("plain.pgm", plain).with("noise.pgm", noise).with("squares.pgm", squares);
    for (picture, judged) in [
        ("plain", "6 regions, not apart: their borders are no thinner than cuts through them"),
        // The thinnest of many random borders may pass for one.
        ("noise", "6 regions, 1 of them apart"),
        ("squares", "6 regions, all apart: borders are "),
    ] {
        let ran = bench.run(&format!("segment {picture}.pgm -k 6 -o r.png --report page.html"));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let page = bench.read("page.html");
        assert!(headline(&page).starts_with(judged), "{picture}: {}", headline(&page));
        assert!(!page.contains("\"name\":\"Modularity\""));
    }
}

#[test]
fn known_classes_are_on_the_page() {
    let table = "length,width,kind\n0.1,1,oak\n0,1.1,oak\n0.1,1.2,oak\n5,9,elm\n5.1,9.2,elm\n5.2,9,oak\n";
    let bench = bench().with("known.csv", table).with("known.txt", "oak\noak\noak\nelm\nelm\noak\n");
    let shared = "[[0,0,3],[1,0,1],[1,1,2]]";
    for arguments in [
        "points known.csv -k 2 --neighbors 2 --truth-column kind",
        "points t.csv -k 2 --neighbors 2 --truth known.txt",
    ] {
        let ran = bench.run(&format!("{arguments} --report page.html"));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let truth = &data(&bench.read("page.html"))["truth"];
        assert_eq!(
            (truth["names"].to_string(), truth["shared"].to_string()),
            (r#"["oak","elm"]"#.into(), shared.into())
        );
    }
}

#[test]
fn a_page_tells_how_it_was_made() {
    let bench = bench();
    for (arguments, pairs) in [
        (
            "cluster g.txt -k 2 --seed 3",
            vec![["Clusters", "2"], ["Smallest share", "0.25 of the mean volume"], ["Seed", "3"]],
        ),
        ("points t.csv -k 2 --neighbors 2", vec![["Neighbours", "2"], ["Affinity", "self-tuning"]]),
        (
            "segment p.pgm -k 2 -o r.png --blur 0.5",
            vec![["Divided at", "4 x 2 pixels"], ["Blur", "sigma 0.5"]],
        ),
        ("compare g.txt -k 2", vec![["Smallest share", "0: none is asked for"]]),
    ] {
        bench.run(&format!("{arguments} --report page.html"));
        let page = data(&bench.read("page.html"));
        let asked = page["asked"].as_array().unwrap();
        for pair in pairs {
            assert!(asked.contains(&serde_json::json!(pair)), "{arguments}: {pair:?} in {asked:?}");
        }
    }
}

#[test]
fn nothing_of_a_page_comes_from_elsewhere() {
    let bench = bench();
    bench.run("cluster g.txt -k 2 --report page.html");
    let page = bench.read("page.html");
    for address in ["src=", "href=", "url(", "@import", "fetch(", "https:"] {
        assert!(!page.contains(address), "{address}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn the_same_labels_give_the_same_page() {
    let bench = bench();
    bench.run("cluster g.txt -k 2 --threads 1 --report first.html");
    bench.run("cluster g.txt -k 2 --threads 2 --report second.html");
    assert_eq!(bench.read("first.html"), bench.read("second.html"));
}

#[test]
fn a_page_tells_ids_and_columns_by_their_names() {
    let bench = bench();
    bench.run("cluster g.txt -k 2 --report page.html");
    let names = &data(&bench.read("page.html"))["nodes"]["names"];
    assert_eq!(names.to_string(), r#"["a","b","c","d","e","f"]"#);
    bench.run("points t.csv -k 2 --neighbors 2 --report page.html");
    let features = &data(&bench.read("page.html"))["features"]["names"];
    assert_eq!(features.to_string(), r#"["length","width"]"#);
}

#[test]
fn names_and_titles_are_harmless() {
    let evil = "</script><script>alert(1)</script>";
    let bench = Bench::new().with("<b>&.csv", TRIANGLES.replace('a', evil).replace(' ', ","));
    let ran = bench.run("cluster <b>&.csv -k 2 --report page.html");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let page = bench.read("page.html");
    assert!(!page.contains("<script>alert") && !page.contains("<b>"), "{}", &page[..600]);
    assert!(page.contains("<p class=\"source\">&lt;b&gt;&amp;.csv</p>"));
    assert_eq!(data(&page)["nodes"]["names"][0], evil);
}

#[test]
fn a_page_under_another_name_is_refused_before_any_work() {
    for command in [
        "cluster g.txt -k 2",
        "points t.csv -k 2",
        "segment p.pgm -k 2 -o regions.png",
        "choose g.txt",
        "compare g.txt -k 2",
    ] {
        let bench = bench();
        let before = bench.files();
        let ran = bench.run(&format!("{command} --report page.pdf"));
        let message =
            "ncut: page.pdf: the report is a page for a browser; choose a name that ends in .html\n";
        assert_eq!((ran.code, &ran.stderr[..]), (Some(1), message), "{command}");
        assert_eq!(bench.files(), before, "{command}");
    }
}

#[test]
fn standard_output_and_the_files_of_others_are_refused() {
    let bench = bench().with("old.html", TRIANGLES);
    for (arguments, code) in [
        ("cluster g.txt -k 2 --report -", 2),
        ("cluster g.txt -k 2 --report page.html --json page.html", 2),
        ("cluster old.html --format txt -k 2 --report old.html", 1),
    ] {
        let ran = bench.run(arguments);
        assert_eq!(ran.code, Some(code), "{arguments}: {ran:?}");
        assert_eq!(bench.read("old.html"), TRIANGLES);
        assert!(!bench.files().contains(&"page.html".to_owned()), "{arguments}");
    }
}

#[cfg(unix)]
#[test]
fn a_page_that_cannot_be_written_leaves_what_was_there() {
    let bench = bench();
    fs::create_dir(bench.path("folder.html")).unwrap();
    let ran = bench.run("cluster g.txt -k 2 --report folder.html");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(bench.files(), ["folder.html", "g.txt", "p.pgm", "t.csv"]);
}

#[test]
fn ten_thousand_named_nodes_take_less_than_five_megabytes() {
    let mut edges = String::from("source,target\n");
    for node in 0..10_000u64 {
        // Rings of a hundred, chords inside each, an edge to the next.
        let (ring, place) = (node / 100, node % 100);
        for step in [1, 7, 13, 31] {
            let _ = writeln!(edges, "somebody-{node},somebody-{}", ring * 100 + (place + step) % 100);
        }
        if place == 0 {
            let _ = writeln!(edges, "somebody-{node},somebody-{}", (node + 100) % 10_000);
        }
    }
    let bench = Bench::new().with("rings.csv", edges);
    let ran = bench.run("cluster rings.csv -k 100 --preset fast --report page.html");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let page = bench.read("page.html");
    assert!(page.len() < 5_000_000, "{} bytes", page.len());
    let nodes = &data(&page)["nodes"];
    assert_eq!(
        (nodes["shown"].as_u64(), nodes["names"].as_array().map(Vec::len)),
        (Some(10_000), Some(10_000))
    );
}
