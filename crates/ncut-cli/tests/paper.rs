//! The paper's Table 2 by `ncut points`, from the table to the printed digits, on the data in the folder that
//! `NCUT_DATA` names.
//!
//! Without it every test here is reported as ignored, never as passed.

mod common;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use common::{Bench, Ran};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;

/// Data set, number of clusters, and what the paper prints for Fast-CD: objective, ACC, NMI, ARI.
const PRINTED: [(&str, usize, [f64; 4]); 3] = [
    ("german", 2, [1.9954, 0.6070, 0.0077, 0.0294]),
    ("segment", 7, [6.9272, 0.4965, 0.4875, 0.3403]),
    ("umist", 20, [12.4825, 0.4730, 0.6765, 0.3668]),
];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let data = std::env::var_os("NCUT_DATA").map(PathBuf::from);
    let ignored = data.is_none();
    if ignored {
        eprintln!("NCUT_DATA is not set: the tests on the paper's data are ignored");
    }
    let data = data.unwrap_or_default();
    let trials = PRINTED.map(|(set, k, printed)| {
        let table = data.join(format!("features/{set}.npz"));
        let name = format!("points_gives_the_papers_digits_on_{set}");
        Trial::test(name, move || check(&table, k, printed)).with_ignored_flag(ignored)
    });
    libtest_mimic::run(&arguments, trials.into()).exit_code()
}

fn check(table: &Path, k: usize, printed: [f64; 4]) -> Result<(), Failed> {
    let bench = Bench::new();
    let mut command = bench.command(&format!("points -k {k} --preset paper --json - --quiet"));
    command.arg(table).arg("--truth").arg(table);
    let ran = Ran::from(command.output()?);
    let report: Value = serde_json::from_str(&ran.stdout).map_err(|error| format!("{error}: {ran:?}"))?;
    for (field, printed) in ["objective", "accuracy", "nmi", "ari"].into_iter().zip(printed) {
        let measured = report[field].as_f64().unwrap_or(f64::NAN);
        if (measured - printed).abs() > 5.1e-5 || measured.is_nan() {
            return Err(format!("{field} is {measured}, the paper prints {printed}").into());
        }
    }
    Ok(())
}
