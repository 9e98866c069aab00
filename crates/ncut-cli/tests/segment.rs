//! `ncut segment`, by everything it prints and writes, and by what it refuses.

mod common;

use std::fs;
use std::io::Cursor;

use common::Bench;
use image::{DynamicImage, ImageBuffer, ImageFormat, RgbImage, RgbaImage};
use serde_json::Value;

/// A grey picture: a dark half and a bright one, with a little texture.
fn halves(height: usize, width: usize) -> Vec<u8> {
    let value = |pixel: usize| {
        let (row, column) = (pixel / width, pixel % width);
        let half = if column < width / 2 { 40 } else { 200 };
        half + ((row * 7 + column * 3) % 5) as u8
    };
    let pixels: Vec<u8> = (0..height * width).map(value).collect();
    [format!("P5 {width} {height} 255\n").as_bytes(), &pixels].concat()
}

fn png(image: impl Into<DynamicImage>) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.into().write_to(&mut bytes, ImageFormat::Png).unwrap();
    bytes.into_inner()
}

/// Shape and numbers of an array of NumPy.
fn array(bench: &Bench, name: &str) -> (String, Vec<i32>) {
    let file = fs::read(bench.path(name)).unwrap();
    let start = 10 + usize::from(u16::from_le_bytes([file[8], file[9]]));
    let header = String::from_utf8(file[10..start].to_vec()).unwrap();
    assert!(header.contains("'descr': '<i4'"), "{header}");
    let shape = header.split_once('(').unwrap().1.split_once(')').unwrap().0.to_string();
    let numbers = file[start..].chunks_exact(4).map(|b| i32::from_le_bytes(b.try_into().unwrap()));
    (shape, numbers.collect())
}

#[test]
fn segment_prints_a_summary_and_writes_the_labels_by_rows_and_columns() {
    let bench = Bench::new().with("p.pgm", halves(3, 8));
    let ran = bench.run("segment p.pgm -k 2 -o labels.npy");
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert!(
        ran.stdout.starts_with("p.pgm: 8 x 3 pixels; 24 nodes, 37 edges, 1 component\n2 clusters, N-Cut "),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.ends_with("labels.npy written\n"));
    let (shape, labels) = array(&bench, "labels.npy");
    assert_eq!(shape, "3, 8");
    assert_eq!(labels, [0, 0, 0, 0, 1, 1, 1, 1].repeat(3));
}

#[test]
fn every_kind_of_picture_is_written_in_both_styles() {
    let bench = Bench::new().with("p.pgm", halves(8, 16));
    let mut pictures = Vec::new();
    for name in ["a.png", "a.jpg", "a.JPEG", "a.bmp", "a.gif", "a.ppm", "a.qoi", "a.tga", "a.tif", "a.webp"] {
        for style in ["boundaries", "flat"] {
            let ran = bench.run(&format!("segment p.pgm -k 2 -o {name} --style {style} --quiet"));
            assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""), "{name}");
            let picture = image::open(bench.path(name)).unwrap().to_rgb8();
            assert_eq!(picture.dimensions(), (16, 8));
            if name == "a.png" {
                pictures.push(picture);
            }
        }
    }
    let [borders, flat] = &pictures[..] else { panic!("two styles") };
    assert_eq!(borders.get_pixel(0, 0).0, [40; 3], "the input shows through");
    assert_ne!(borders.get_pixel(7, 3).0[0], borders.get_pixel(7, 3).0[1], "a border in colour");
    assert_eq!(flat.get_pixel(0, 0), flat.get_pixel(7, 7));
    assert_ne!(flat.get_pixel(7, 3), flat.get_pixel(8, 3));
}

#[test]
fn the_outputs_of_a_scaled_picture_have_the_size_of_the_input() {
    let bench = Bench::new().with("p.pgm", halves(10, 21));
    let ran = bench.run("segment p.pgm -k 2 --blur 0.5 --scale 0.5 -o labels.npy --json report.json");
    assert!(ran.stdout.starts_with("p.pgm: 21 x 10 pixels, scaled to 10 x 5; 50 nodes, "), "{ran:?}");
    let (shape, labels) = array(&bench, "labels.npy");
    assert_eq!((shape.as_str(), labels.len()), ("10, 21", 210));
    assert_eq!((labels[0], labels[20], labels[209]), (0, 1, 1));
    let report: Value = serde_json::from_str(&bench.read("report.json")).unwrap();
    assert_eq!(
        (&report["height"], &report["width"], &report["n_nodes"]),
        (&10.into(), &21.into(), &50.into())
    );
}

#[test]
fn the_report_has_the_fields_of_cluster_and_the_size() {
    let bench = Bench::new().with("p.pgm", halves(3, 8));
    assert_eq!(bench.run("segment p.pgm -k 2 -o a.npy --graph-out g.npz --json s.json").code, Some(0));
    assert_eq!(bench.run("cluster g.npz -k 2 --json c.json").code, Some(0));
    let report =
        |name: &str| -> serde_json::Map<String, Value> { serde_json::from_str(&bench.read(name)).unwrap() };
    let (mut segment, cluster) = (report("s.json"), report("c.json"));
    assert_eq!(segment.remove("height"), Some(3.into()));
    assert_eq!(segment.remove("width"), Some(8.into()));
    assert_eq!(segment.keys().collect::<Vec<_>>(), cluster.keys().collect::<Vec<_>>());
    assert_eq!(segment["objective"], cluster["objective"], "the graph written is the graph clustered");
}

#[test]
fn the_graph_is_written_in_every_format_that_holds_it() {
    let bench = Bench::new().with("p.pgm", halves(3, 4));
    for (links, n_edges) in [("grid4", 17), ("grid8", 29), ("radius --radius 1", 17)] {
        for name in ["g.mtx", "g.txt.gz", "g.npz"] {
            let ran = bench.run(&format!("segment p.pgm -k 2 --graph {links} -o a.png --graph-out {name}"));
            assert!(ran.stdout.contains(&format!("12 nodes, {n_edges} edges")), "{links}: {ran:?}");
            let scored = bench.run(&format!("cluster {name} -k 2"));
            assert!(scored.stdout.contains(&format!("12 nodes, {n_edges} edges")), "{scored:?}");
        }
    }
}

#[test]
fn small_even_coloured_deep_and_transparent_pictures_work() {
    let colour =
        RgbImage::from_fn(6, 4, |x, _| image::Rgb(if x < 3 { [200, 30, 30] } else { [30, 30, 200] }));
    let deep: ImageBuffer<image::Luma<u16>, Vec<u16>> =
        ImageBuffer::from_fn(6, 4, |x, y| image::Luma([if x < 3 { 1000 + y as u16 } else { 60000 }]));
    let transparent = RgbaImage::from_fn(6, 4, |x, _| image::Rgba([9, 9, 9, if x < 3 { 255 } else { 0 }]));
    let bench = Bench::new()
        .with("one.pgm", b"P5 1 1 255\n\x07")
        .with("row.pgm", halves(1, 6))
        .with("even.pgm", [b"P5 6 4 255\n".as_slice(), &[128; 24]].concat())
        .with("colour.png", png(colour))
        .with("deep.png", png(deep))
        .with("transparent.png", png(transparent));
    assert_eq!(bench.run("segment one.pgm -k 1 -o a.npy").code, Some(0));
    assert_eq!(array(&bench, "a.npy"), ("1, 1".to_string(), vec![0]));
    assert_eq!(bench.run("segment row.pgm -k 2 -o a.npy").code, Some(0));
    assert_eq!(array(&bench, "a.npy"), ("1, 6".to_string(), vec![0, 0, 0, 1, 1, 1]));
    for graph in ["grid4", "grid8", "radius"] {
        assert_eq!(bench.run(&format!("segment even.pgm -k 3 --graph {graph} -o a.npy")).code, Some(0));
        let (_, labels) = array(&bench, "a.npy");
        assert_eq!(labels.iter().max(), Some(&2));
        for name in ["colour.png", "deep.png", "transparent.png"] {
            let ran = bench.run(&format!("segment {name} -k 2 --graph {graph} -o a.npy"));
            assert_eq!(ran.code, Some(0), "{ran:?}");
            assert_eq!(array(&bench, "a.npy").1, [0, 0, 0, 1, 1, 1].repeat(4), "{name}, {graph}");
        }
    }
}

#[test]
fn broken_pictures_are_refused() {
    let whole = png(RgbImage::from_fn(40, 40, |x, y| image::Rgb([x as u8, y as u8, (x * y) as u8])));
    let mut changed = whole.clone();
    let middle = changed.len() / 2;
    changed[middle] ^= 0x55;
    let cases: [(&str, &[u8], &str); 6] = [
        ("cut.png", &whole[..whole.len() / 2], "cut.png: is a damaged picture"),
        ("changed.png", &changed, "changed.png: is a damaged picture"),
        ("empty.jpg", b"", "empty.jpg: is empty"),
        ("text.png", b"this is text\n", "text.png: is no picture that can be read"),
        ("short.pgm", b"P5 10 10 255\nabc", "short.pgm: is a damaged picture"),
        ("huge.pgm", b"P5 2000000 2000000 255\n", "huge.pgm: is too large, or damaged"),
    ];
    for (name, content, message) in cases {
        let bench = Bench::new().with(name, content).with("out.png", "precious");
        for output in ["out.png", "new.npy"] {
            let ran = bench.run(&format!("segment {name} -k 1 -o {output} --graph-out g.npz --json r.json"));
            assert_eq!(ran.code, Some(1), "{ran:?}");
            assert!(ran.stderr.starts_with("ncut: ") && ran.stderr.contains(message), "{ran:?}");
            assert!(!ran.stderr.contains("panicked") && ran.stdout.is_empty(), "{ran:?}");
        }
        assert_eq!(bench.read("out.png"), "precious");
        assert_eq!(bench.files().len(), 2, "nothing new is left behind: {:?}", bench.files());
    }
}

#[test]
fn wrong_calls_are_refused() {
    let bench = Bench::new()
        .with("p.pgm", halves(3, 4))
        .with("long.pgm", halves(1, 70_000))
        .with("one.pgm", b"P5 1 1 255\n\x07");
    fs::create_dir(bench.path("folder.png")).unwrap();
    for (arguments, message) in [
        ("missing.png -k 2 -o a.png", "missing.png: cannot be opened: no such file or directory"),
        ("folder.png -k 2 -o a.png", "folder.png: is a directory, not a file"),
        ("one.pgm -k 2 -o a.png", "one.pgm: 2 clusters were asked of 1 nodes; every cluster needs a node"),
        ("p.pgm -k 13 -o a.png", "p.pgm: 13 clusters were asked of 12 nodes"),
        ("p.pgm -k 2 -o a.xyz", "a.xyz: unknown kind of picture file; known endings are"),
        ("long.pgm -k 2 -o a.jpg --graph-out g.npz", "a.jpg: 70000 x 1 pixels are too many"),
        ("long.pgm -k 2 -o a.webp", "a.webp: 70000 x 1 pixels are too many"),
        ("p.pgm -k 2 -o nowhere/a.png", "nowhere/a.png: cannot be written"),
        ("p.pgm -k 2 -o a.png --graph-out g.xyz", "g.xyz: unknown kind of graph file"),
        ("p.pgm -k 2 -o a.png --blur=-1", "p.pgm: --blur is -1; it must be from 0 to 1000"),
        ("p.pgm -k 2 -o a.png --scale 0", "p.pgm: --scale is 0; it must be a number above 0"),
        ("p.pgm -k 2 -o a.png --scale 1e9", "p.pgm: 12"),
        ("p.pgm -k 2 -o a.png --beta=-1", "p.pgm: beta is -1"),
        ("p.pgm -k 2 -o a.png --graph radius --radius 0", "p.pgm: radius is 0; it must be from 1 to 100"),
        ("p.pgm -k 2 -o a.png --min-share 2", "p.pgm: --min-share is 2"),
    ] {
        let ran = bench.run(&format!("segment {arguments}"));
        assert_eq!(ran.code, Some(1), "{arguments}: {ran:?}");
        assert!(ran.stderr.contains(message), "{arguments}: expected «{message}», got {}", ran.stderr);
        assert!(!ran.stderr.contains("panicked"), "{ran:?}");
    }
    assert_eq!(bench.files(), ["folder.png", "long.pgm", "one.pgm", "p.pgm"]);
    let same = bench.run("segment p.pgm -k 2 -o a.npy --graph-out ./a.npy");
    assert!(matches!(same.code, Some(1 | 2)), "{same:?}");
    assert_eq!(bench.run("segment p.pgm -k 2").code, Some(2), "an output is needed");
}

#[test]
fn the_same_call_writes_the_same_bytes() {
    let bench = Bench::new().with("p.pgm", halves(12, 17));
    assert_eq!(bench.run("segment p.pgm -k 5 --style flat -o a.png").code, Some(0));
    assert_eq!(bench.run("segment p.pgm -k 5 --style flat -o b.png --threads 4").code, Some(0));
    assert_eq!(fs::read(bench.path("a.png")).unwrap(), fs::read(bench.path("b.png")).unwrap());
}
