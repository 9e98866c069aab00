//! `ncut segment` on the picture of 24 coins that comes with scikit-image, in the file that `NCUT_COINS`
//! names.
//!
//! Without it every test here is reported as ignored, never as passed.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use common::Bench;
use libtest_mimic::{Arguments, Failed, Trial};

const HEIGHT: usize = 303;
const WIDTH: usize = 384;

/// The coins as discs: row and column of the centre, radius.
///
/// Found once by scikit-image's own tutorial (watershed of the Sobel edges from the markers below 30 and above
/// 150, holes filled, specks under 500 pixels removed): 24 connected regions, each given as its centroid and
/// the radius of a disc of its area.
const COINS: [(f64, f64, f64); 24] = [
    (44.0, 335.0, 28.8),
    (51.0, 155.0, 22.9),
    (51.0, 215.0, 22.7),
    (52.0, 276.0, 19.7),
    (54.0, 44.0, 20.8),
    (56.0, 100.0, 18.7),
    (119.0, 271.0, 24.7),
    (124.0, 45.0, 20.3),
    (124.0, 205.0, 19.6),
    (125.0, 336.0, 19.3),
    (126.0, 102.0, 18.8),
    (127.0, 154.0, 18.5),
    (187.0, 347.0, 31.6),
    (193.0, 212.0, 23.5),
    (194.0, 274.0, 21.8),
    (196.0, 102.0, 21.6),
    (197.0, 44.0, 18.9),
    (198.0, 154.0, 19.1),
    (260.0, 46.0, 28.0),
    (261.0, 172.0, 27.4),
    (263.0, 301.0, 25.2),
    (263.0, 244.0, 23.7),
    (266.0, 114.0, 21.2),
    (268.0, 358.0, 21.7),
];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let coins = std::env::var_os("NCUT_COINS").map(PathBuf::from);
    let ignored = coins.is_none();
    if ignored {
        eprintln!("NCUT_COINS is not set: the test on the picture of the coins is ignored");
    }
    let coins = coins.unwrap_or_default();
    // A higher objective is not always a better picture: it may give a coin to the background.
    let trials = [("paper", 23), ("default --min-share 0", 22)].map(|(preset, least)| {
        let coins = coins.clone();
        let name = format!("segment_separates_the_coins_with_preset_{}", preset.replace(' ', "_"));
        Trial::test(name, move || segment_separates_the_coins(&coins, preset, least))
            .with_ignored_flag(ignored)
    });
    libtest_mimic::run(&arguments, trials.into()).exit_code()
}

fn segment_separates_the_coins(coins: &Path, preset: &str, least: usize) -> Result<(), Failed> {
    let bench = Bench::new().with("coins.png", fs::read(coins)?);
    let ran =
        bench.run(&format!("segment coins.png -k 25 --preset {preset} --blur 2 --scale 0.2 -o labels.npy"));
    if ran.code != Some(0) {
        return Err(format!("{ran:?}").into());
    }
    let n_separated = n_separated(&labels(&fs::read(bench.path("labels.npy"))?)?);
    println!("{n_separated} of {} coins are separated", COINS.len());
    if n_separated < least { Err(format!("only {n_separated} coins are separated").into()) } else { Ok(()) }
}

/// The labels in an array of NumPy.
fn labels(file: &[u8]) -> Result<Vec<usize>, Failed> {
    let start = 10 + usize::from(u16::from_le_bytes([file[8], file[9]]));
    let header = String::from_utf8_lossy(&file[10..start]);
    if !header.contains("'<i4'") || !header.contains("(303, 384)") {
        return Err(format!("unexpected array {header}").into());
    }
    let number = |bytes: &[u8]| i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    Ok(file[start..].chunks_exact(4).map(|bytes| number(bytes) as usize).collect())
}

/// Coins that lie at least 80 % in one region, which holds no other coin and is not the background.
fn n_separated(labels: &[usize]) -> usize {
    let in_coin = |pixel: usize, &(row, column, radius): &(f64, f64, f64)| {
        let (y, x) = ((pixel / WIDTH) as f64, (pixel % WIDTH) as f64);
        (y - row).powi(2) + (x - column).powi(2) <= radius * radius
    };
    let pixels = || 0..HEIGHT * WIDTH;
    let outside = pixels().filter(|&pixel| !COINS.iter().any(|coin| in_coin(pixel, coin)));
    let (background, _) = commonest(labels, outside);
    let regions: Vec<(usize, f64)> =
        COINS.iter().map(|coin| commonest(labels, pixels().filter(|&pixel| in_coin(pixel, coin)))).collect();
    let is_separated = |&&(region, share): &&(usize, f64)| {
        let alone = regions.iter().filter(|other| other.0 == region).count() == 1;
        share >= 0.8 && alone && region != background
    };
    regions.iter().filter(is_separated).count()
}

/// The label that most of the pixels have, and their share.
fn commonest(labels: &[usize], pixels: impl Iterator<Item = usize>) -> (usize, f64) {
    let mut counts = [0usize; 25];
    for pixel in pixels {
        counts[labels[pixel]] += 1;
    }
    let label = (0..counts.len()).max_by_key(|&label| counts[label]).unwrap_or(0);
    (label, counts[label] as f64 / counts.iter().sum::<usize>() as f64)
}
