//! In place of `zst.rs` in a build without zstd: says what else there is.

use std::io::{self, BufRead, Read, Write};

const REMEDY: &str = "this build knows no zstd; unpack the file, or pack it by gzip (.gz)";

pub(super) fn reader<'r>(_: impl BufRead + Send + 'r) -> io::Result<Box<dyn Read + Send + 'r>> {
    Err(io::Error::new(io::ErrorKind::Unsupported, REMEDY))
}

pub(super) fn write(_: &mut dyn Write, _: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, REMEDY))
}
