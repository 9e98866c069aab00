//! Text packed by zstd.

use std::io::{self, BufRead, Read, Write};

pub(super) fn reader<'r>(packed: impl BufRead + Send + 'r) -> io::Result<Box<dyn Read + Send + 'r>> {
    Ok(Box::new(zstd::Decoder::with_buffer(packed)?))
}

/// Lets `fill` write text and packs it into `file`.
pub(super) fn write(
    file: &mut dyn Write,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut packer = zstd::Encoder::new(file, 0)?;
    fill(&mut packer)?;
    packer.finish()?;
    Ok(())
}
