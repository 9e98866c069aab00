#![no_main]

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

/// A call: a command, its input by ending and bytes, labels, and options from the lists below.
#[derive(Arbitrary, Debug)]
struct Call<'a> {
    command: u8,
    ending: u8,
    n_clusters: u8,
    options: Vec<(u8, u8)>,
    labels: &'a [u8],
    input: &'a [u8],
}

const COMMANDS: [&str; 7] = ["cluster", "points", "segment", "score", "choose", "compare", "convert"];
const ENDINGS: [&str; 17] = [
    "txt", "csv", "tsv", "mtx", "graph", "npz", "npy", "ncut", "png", "gif", "txt.gz", "txt.zst", "graphml", "gexf",
    "gml", "net", "json",
];
/// Options, and the values they may have. Files are in the folder of the call.
const OPTIONS: [(&str, &[&str]); 36] = [
    ("--affinity", &["knn", "rbf", "cosine", "self-tuning"]),
    ("--beta", &["0", "1", "nan"]),
    ("--blur", &["0", "1.5", "-1"]),
    ("--bound", &[]),
    ("--columns", &["1,2", "2,3,1", "source,target", "a,b,c"]),
    ("--components", &["all", "largest"]),
    ("--format", &["csv", "graphml", "json", "npz", "docx"]),
    ("--from", &["0", "1", "3"]),
    ("--gamma", &["0", "1", "1e300"]),
    ("--graph", &["grid4", "grid8", "radius"]),
    ("--graph-out", &["graph.txt", "graph.npz", "graph.ncut", "graph.mtx", "input.txt"]),
    ("--header", &["yes", "no"]),
    ("--id-column", &["1", "name"]),
    ("--init", &["labels.txt", "labels.npy", "missing.txt"]),
    ("--json", &["report.json", "labels.txt", "output.txt"]),
    ("--max-sweeps", &["0", "1", "3"]),
    ("--memory-limit", &["1M", "1T"]),
    ("--min-share", &["0", "0.25", "1", "2"]),
    ("--mutual", &[]),
    ("--neighbors", &["0", "1", "2", "25"]),
    ("--objective", &["ncut", "ratio-cut", "modularity"]),
    ("--output", &["output.txt", "output.npy", "output.png", "output.svg", "output.gml", "output.json", "labels.txt", "input.txt"]),
    ("--preset", &["paper", "fast", "default", "best"]),
    ("--resolution", &["0", "0.5", "1", "3", "nan"]),
    ("--scale", &["0.5", "1", "2", "0"]),
    ("--search", &["auto", "exact", "approximate"]),
    ("--seed", &["0", "7"]),
    ("--sigma-value", &["0", "0.1"]),
    ("--standardize", &[]),
    ("--style", &["boundaries", "flat"]),
    ("--symmetrize", &["average", "max"]),
    ("--threads", &["1", "2"]),
    ("--to", &["1", "3", "20"]),
    ("--truth-column", &["2", "kind"]),
    ("--truth", &["labels.txt", "labels.npy"]),
    ("--verify=no", &[]),
];

static FOLDER: LazyLock<TempDir> = LazyLock::new(|| TempDir::new().expect("a folder for temporary files"));

fuzz_target!(|call: Call<'_>| {
    let folder = FOLDER.path();
    for entry in fs::read_dir(folder).expect("our own folder").flatten() {
        fs::remove_file(entry.path()).expect("our own file");
    }
    let input = format!("input.{}", ENDINGS[call.ending as usize % ENDINGS.len()]);
    for (name, content) in
        [(input.as_str(), call.input), ("labels.txt", call.labels), ("labels.npy", call.labels)]
    {
        fs::write(folder.join(name), content).expect("our own folder");
    }
    let arguments = arguments(&call, &input, folder);
    let code = ncut_cli::run(arguments.iter().cloned(), |_| {});
    assert!(matches!(code, 0..=2), "exit code {code} after {arguments:?}");
    assert_eq!(
        fs::read(folder.join(&input)).expect("the input"),
        call.input,
        "{arguments:?} changed its input"
    );
    let is_temporary = |name: &OsString| name.to_string_lossy().starts_with(".ncut-");
    let left = fs::read_dir(folder)
        .expect("our own folder")
        .flatten()
        .map(|entry| entry.file_name())
        .find(is_temporary);
    assert_eq!(left, None, "{arguments:?} left a temporary file");
});

fn arguments(call: &Call<'_>, input: &str, folder: &Path) -> Vec<OsString> {
    let in_folder = |name: &str| folder.join(name).into_os_string();
    let command = COMMANDS[call.command as usize % COMMANDS.len()];
    let mut arguments: Vec<OsString> =
        vec!["ncut".into(), command.into(), "--quiet".into(), in_folder(input)];
    match command {
        "score" => arguments.push(in_folder("labels.txt")),
        "convert" => arguments.push(in_folder("output.txt")),
        _ => {
            // Of modularity there are as many clusters as it makes, where no number is given.
            let clusters = match call.n_clusters {
                0 => None,
                255 => Some("auto".into()),
                n_clusters => Some(n_clusters.to_string().into()),
            };
            if let Some(clusters) = clusters.filter(|_| command != "choose") {
                arguments.extend(["-k".into(), clusters]);
            }
            arguments.extend(["--time-limit".into(), "0.1".into()]);
        }
    }
    if command == "segment" {
        arguments.extend(["--output".into(), in_folder("regions.png")]);
    }
    for &(option, value) in call.options.iter().take(8) {
        let (option, values) = OPTIONS[option as usize % OPTIONS.len()];
        arguments.push(option.into());
        if !values.is_empty() {
            let value = values[value as usize % values.len()];
            let is_file = matches!(option, "--graph-out" | "--init" | "--json" | "--output" | "--truth");
            arguments.push(if is_file { in_folder(value) } else { value.into() });
        }
    }
    arguments
}
