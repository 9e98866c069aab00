//! Lines of text, compressed or not.

use std::cell::Cell;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::error::{Error, Result};
use crate::progress::{Observer, Progress, Stage};

const BUFFER: usize = 1 << 18;
/// Lines between two calls of the observer.
const LINES_PER_REPORT: u64 = 1 << 14;

/// How a text file is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    None,
    Gzip,
    Zstd,
}

impl Compression {
    /// The compression a name tells, and the name without it.
    pub(super) fn of(path: &Path) -> (PathBuf, Self) {
        match ending(path).as_deref() {
            Some("gz") => (path.with_extension(""), Self::Gzip),
            Some("zst") => (path.with_extension(""), Self::Zstd),
            _ => (path.to_path_buf(), Self::None),
        }
    }

    fn reader<'r>(self, packed: impl BufRead + 'r) -> io::Result<Box<dyn BufRead + 'r>> {
        Ok(match self {
            Self::None => Box::new(packed),
            // A gzip file may have several members; `GzDecoder` would stop after the first.
            Self::Gzip => {
                Box::new(BufReader::with_capacity(BUFFER, flate2::bufread::MultiGzDecoder::new(packed)))
            }
            Self::Zstd => Box::new(BufReader::with_capacity(BUFFER, zstd::Decoder::with_buffer(packed)?)),
        })
    }

    /// Lets `fill` write text and packs it into `file`.
    pub(super) fn write(
        self,
        file: &mut dyn Write,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut file = BufWriter::with_capacity(BUFFER, file);
        match self {
            Self::None => fill(&mut file)?,
            Self::Gzip => {
                let mut packer = flate2::write::GzEncoder::new(&mut file, flate2::Compression::default());
                fill(&mut packer)?;
                packer.finish()?;
            }
            Self::Zstd => {
                let mut packer = zstd::Encoder::new(&mut file, 0)?;
                fill(&mut packer)?;
                packer.finish()?;
            }
        }
        file.flush()
    }
}

/// The ending of a file's name, in small letters.
pub(super) fn ending(path: &Path) -> Option<String> {
    path.extension().and_then(OsStr::to_str).map(str::to_lowercase)
}

/// The lines of a text, counted from 1.
pub(super) struct Lines<'a> {
    reader: Box<dyn BufRead + 'a>,
    line: Vec<u8>,
    number: u64,
    /// Bytes taken from the file so far, before unpacking.
    taken: Rc<Cell<u64>>,
    progress: Progress,
    observe: Option<Observer<'a>>,
}

impl<'a> Lines<'a> {
    pub(super) fn open(path: &Path, observe: Option<Observer<'a>>) -> Result<Self> {
        let file = super::open(path)?;
        let size = file.metadata().map_or(0, |data| data.len());
        let taken = Rc::new(Cell::new(0));
        let counted = Counted { file, taken: Rc::clone(&taken) };
        let reader = Compression::of(path).1.reader(BufReader::with_capacity(BUFFER, counted));
        let reader = reader.map_err(|error| unreadable(0, &error))?;
        let progress = Progress::new(Stage::Read, size);
        Ok(Self { reader, line: Vec::new(), number: 0, taken, progress, observe })
    }

    pub(super) fn of_bytes(bytes: &'a [u8]) -> Self {
        let progress = Progress::new(Stage::Read, bytes.len() as u64);
        let taken = Rc::new(Cell::new(0));
        Self { reader: Box::new(bytes), line: Vec::new(), number: 0, taken, progress, observe: None }
    }

    /// The next line without its end, and its number; `None` after the last.
    pub(super) fn next(&mut self) -> Result<Option<(u64, &str)>> {
        self.line.clear();
        let taken = self.reader.read_until(b'\n', &mut self.line);
        if taken.map_err(|error| unreadable(self.number, &error))? == 0 {
            return Ok(None);
        }
        self.number += 1;
        if self.number.is_multiple_of(LINES_PER_REPORT) {
            self.progress.done = self.taken.get();
            if self.observe.as_mut().is_some_and(|observe| observe(&self.progress).is_break()) {
                return Err(Error::Cancelled);
            }
        }
        // A byte order mark is no part of the text.
        if self.number == 1 && self.line.starts_with(b"\xef\xbb\xbf") {
            self.line.drain(..3);
        }
        let mut line = self.line.as_slice();
        line = line.strip_suffix(b"\n").unwrap_or(line);
        line = line.strip_suffix(b"\r").unwrap_or(line);
        match std::str::from_utf8(line) {
            Ok(text) if !text.contains('\0') => Ok(Some((self.number, text))),
            _ => Err(Error::in_file(
                self.number,
                "this is not UTF-8 text; is the file's ending right, and its encoding?",
            )),
        }
    }

    /// The next line that is neither blank nor starts with one of `comments`.
    pub(super) fn next_content(&mut self, comments: &[char]) -> Result<Option<(u64, &str)>> {
        // The borrow checker cannot see that a line that is skipped is let go of, so look first.
        loop {
            let skip = match self.next()? {
                None => return Ok(None),
                Some((_, line)) => {
                    let line = line.trim_start();
                    line.is_empty() || line.starts_with(comments)
                }
            };
            if !skip {
                let line = std::str::from_utf8(&self.line).expect("checked when it was read");
                return Ok(Some((self.number, line.trim())));
            }
        }
    }

    /// Number of the last line read.
    pub(super) fn number(&self) -> u64 {
        self.number
    }
}

fn unreadable(line: u64, error: &io::Error) -> Error {
    let problem = match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            "the compressed data is cut short, or something else follows it".to_string()
        }
        _ => format!("cannot be read: {}", super::plain(error)),
    };
    Error::in_file((line > 0).then_some(line + 1), problem)
}

/// A file that counts the bytes taken from it.
struct Counted {
    file: File,
    taken: Rc<Cell<u64>>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n_bytes = self.file.read(buffer)?;
        self.taken.set(self.taken.get() + n_bytes as u64);
        Ok(n_bytes)
    }
}
