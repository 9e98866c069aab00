//! Modules use only those above them: the order in ARCHITECTURE.md, in `lib.rs` and in the `use` lines is one. Formulas of
//! objectives stand in `objective/` alone.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The modules that a file declares, in its order, each once.
fn declared(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    let mut modules: Vec<String> = Vec::new();
    for line in text.lines() {
        let line = line.strip_prefix("pub ").unwrap_or(line);
        if let Some(name) = line.strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';'))
            && !modules.iter().any(|known| known == name)
        {
            modules.push(name.to_owned());
        }
    }
    modules
}

/// The files of a module: itself, or all in its folder. What a page does in a browser is no Rust.
fn files(folder: &Path, module: &str) -> Vec<PathBuf> {
    let file = folder.join(format!("{module}.rs"));
    if file.is_file() {
        return vec![file];
    }
    let mut files = Vec::new();
    let mut folders = vec![folder.join(module)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                files.push(path);
            }
        }
    }
    files
}

/// The modules that the code of a file names after `prefix`; its tests may name any.
fn used(file: &Path, prefix: &str) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    let code = text.split("#[cfg(test)]").next().unwrap();
    let mut modules = Vec::new();
    for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
        for place in line.split(prefix).skip(1) {
            let name: String = place.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            modules.push(name);
        }
    }
    modules
}

/// Every file of a module names only modules that stand before its own.
fn check_order(folder: &Path, order: &[String], prefix: &str) {
    let place: HashMap<&str, usize> = order.iter().zip(0..).map(|(name, place)| (&name[..], place)).collect();
    for module in order {
        for file in files(folder, module) {
            for name in used(&file, prefix) {
                let Some(other) = place.get(&name[..]) else { continue };
                assert!(
                    name == *module || *other < place[&module[..]],
                    "{} uses `{name}`, which comes after `{module}`",
                    file.display()
                );
            }
        }
    }
}

#[test]
fn modules_use_only_those_above_them() {
    check_order(&source(), &declared(&source().join("lib.rs")), "crate::");
}

#[test]
fn phases_of_the_search_use_only_those_above_them() {
    for folder in ["search", "communities", "separation", "hierarchy", "descent", "objective", "partition"] {
        let folder = source().join(folder);
        check_order(&folder, &declared(&folder.join("mod.rs")), "use super::");
    }
}

#[test]
fn the_architecture_page_has_the_order_of_the_modules() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ARCHITECTURE.md");
    let page = fs::read_to_string(page).unwrap();
    let table = page.split("## The library, in reading order").nth(1).unwrap();
    let table = table.split("\n## ").next().unwrap();
    let mut named: Vec<String> = Vec::new();
    for row in table.lines().filter(|line| line.starts_with("| `")) {
        let cell = row.split('|').nth(1).unwrap();
        let names = cell.split('`').skip(1).step_by(2);
        named.extend(names.map(|name| name.trim_end_matches('/').trim_end_matches(".rs").to_owned()));
    }
    assert_eq!(named, declared(&source().join("lib.rs")));
}

/// What would be a formula: a quotient of two sums of a cluster.
#[test]
fn formulas_stand_in_one_place() {
    let quotients = [
        "association / ",
        "association) / ",
        "/ volume",
        "/ cluster.volume",
        "/ sums.volume",
        ".density",
        "density(",
        "/ sums.size",
    ];
    for module in declared(&source().join("lib.rs")).iter().filter(|module| *module != "objective") {
        // The measure of the improved rotation is another one, with roots of volumes.
        for file in files(&source(), module).iter().filter(|file| !file.ends_with("spectral/rivals.rs")) {
            let text = fs::read_to_string(file).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap();
            for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
                for quotient in quotients {
                    assert!(!line.contains(quotient), "{}: {line}", file.display());
                }
            }
        }
    }
}
