//! The commands: read, call the library, write.

pub(crate) mod cluster;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod demo;
pub(crate) mod score;

use std::fs;
use std::path::Path;

use anyhow::{Result, bail};
use ncut::io::check_writable;

use crate::report::is_stdout;

/// Refuses outputs that cannot be written, overwrite the input or each other, before any work is done.
fn check_outputs(input: &Path, outputs: &[Option<&Path>]) -> Result<()> {
    let outputs: Vec<&Path> = outputs.iter().copied().flatten().collect();
    for (place, output) in outputs.iter().enumerate() {
        if outputs[..place].iter().any(|other| is_same(other, output)) {
            bail!("two outputs go to {}; give them different names", shown(output));
        }
        if is_stdout(output) {
            continue;
        }
        if is_same(input, output) {
            bail!("{}: the output would overwrite the input; give it another name", output.display());
        }
        check_writable(output)?;
    }
    Ok(())
}

fn is_same(a: &Path, b: &Path) -> bool {
    a == b || matches!((fs::canonicalize(a), fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}

fn shown(path: &Path) -> String {
    if is_stdout(path) { "standard output".into() } else { path.display().to_string() }
}
