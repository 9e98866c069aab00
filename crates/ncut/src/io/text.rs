//! Lines of text, compressed or not.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::zst;
use crate::error::{Error, Result};
use crate::memory;
use crate::parallel::prelude::*;
use crate::progress::{Clock, Progress, Stage};

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

    fn reader<'r>(self, packed: impl BufRead + Send + 'r) -> io::Result<Box<dyn BufRead + Send + 'r>> {
        Ok(match self {
            Self::None => Box::new(packed),
            // A gzip file may have several members; `GzDecoder` would stop after the first.
            Self::Gzip => {
                Box::new(BufReader::with_capacity(BUFFER, flate2::bufread::MultiGzDecoder::new(packed)))
            }
            Self::Zstd => Box::new(BufReader::with_capacity(BUFFER, zst::reader(packed)?)),
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
            Self::Zstd => zst::write(&mut file, fill)?,
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
    reader: Box<dyn BufRead + Send + 'a>,
    line: Vec<u8>,
    number: u64,
    /// Bytes taken from the file so far, before unpacking.
    taken: Arc<AtomicU64>,
    progress: Progress,
    clock: Option<&'a Clock<'a>>,
    /// Bytes of memory that was asked for; edges beyond it go to files.
    memory_limit: Option<u64>,
    /// Bytes of memory that may be taken in any case.
    budget: Option<u64>,
    /// Bytes of the longest line that is read.
    longest_line: usize,
}

/// The longest line that is read, in bytes: eight million neighbours. A small compressed file may hold a line that no
/// memory holds.
const LONGEST_LINE: u64 = 64 << 20;
/// What a reader may take of a limit that was asked for, however small that is.
const LEAST_LIMIT: u64 = 64 << 20;
const LEAST_LINE: u64 = 1 << 20;

impl<'a> Lines<'a> {
    pub(super) fn open(path: &Path, clock: Option<&'a Clock<'a>>) -> Result<Self> {
        Self::open_as(path, path, clock)
    }

    /// Opens a file that is packed as the ending of `name` tells.
    pub(super) fn open_as(path: &Path, name: &Path, clock: Option<&'a Clock<'a>>) -> Result<Self> {
        let file = super::open(path)?;
        let size = file.metadata().map_or(0, |data| data.len());
        let taken = Arc::new(AtomicU64::new(0));
        let counted = Counted { file, taken: Arc::clone(&taken) };
        Self::packed(counted, taken, name, size, clock)
    }

    fn packed(
        counted: Counted<impl Read + Send + 'a>,
        taken: Arc<AtomicU64>,
        name: &Path,
        size: u64,
        clock: Option<&'a Clock<'a>>,
    ) -> Result<Self> {
        let reader = Compression::of(name).1.reader(BufReader::with_capacity(BUFFER, counted));
        let reader = reader.map_err(|error| unreadable(0, &error))?;
        let progress = Progress::new(Stage::Read, size);
        let budget = clock.and_then(Clock::memory);
        let longest_line = budget.map_or(LONGEST_LINE, |budget| (budget / 4).clamp(LEAST_LINE, LONGEST_LINE));
        Ok(Self {
            reader,
            line: Vec::new(),
            number: 0,
            taken,
            progress,
            clock,
            memory_limit: None,
            budget,
            longest_line: longest_line as usize,
        })
    }

    /// The lines of a file in memory, which is packed as the ending of its name tells.
    pub(super) fn of_file(bytes: &'a [u8], name: &Path, clock: &'a Clock<'a>) -> Result<Self> {
        let taken = Arc::new(AtomicU64::new(0));
        let counted = Counted { file: bytes, taken: Arc::clone(&taken) };
        Self::packed(counted, taken, name, bytes.len() as u64, Some(clock))
    }

    pub(super) fn of_bytes(bytes: &'a [u8]) -> Self {
        let progress = Progress::new(Stage::Read, bytes.len() as u64);
        let taken = Arc::new(AtomicU64::new(0));
        Self {
            reader: Box::new(bytes),
            line: Vec::new(),
            number: 0,
            taken,
            progress,
            clock: None,
            memory_limit: None,
            budget: None,
            // They are in memory already.
            longest_line: usize::MAX,
        }
    }

    /// The same lines, of which no more are parsed at a time than a part of this memory holds. A line may be longer where
    /// more memory was asked for.
    pub(super) fn within(self, memory_limit: Option<u64>) -> Self {
        let longest_line = memory_limit.map(|limit| usize::try_from(limit / 8).unwrap_or(usize::MAX));
        let longest_line = longest_line.map_or(self.longest_line, |longest| longest.max(LEAST_LINE as usize));
        Self { memory_limit, longest_line, ..self }
    }

    /// Bytes of memory that may be taken, whatever was asked for.
    pub(super) fn budget(&self) -> Option<u64> {
        self.budget
    }

    /// Bytes of memory that may be taken where nothing goes to files.
    pub(super) fn strict_budget(&self) -> Option<u64> {
        let asked = self.memory_limit.map(|limit| limit.max(LEAST_LIMIT));
        asked.into_iter().chain(self.budget).min()
    }

    /// The next line without its end, and its number; `None` after the last.
    pub(super) fn next(&mut self) -> Result<Option<(u64, &str)>> {
        self.line.clear();
        let most = (self.longest_line as u64).saturating_add(1);
        let taken = self.reader.by_ref().take(most).read_until(b'\n', &mut self.line);
        if taken.map_err(|error| unreadable(self.number, &error))? == 0 {
            return Ok(None);
        }
        if self.line.len() > self.longest_line {
            return Err(unreadable(self.number, &too_long(self.longest_line)));
        }
        self.number += 1;
        if self.number.is_multiple_of(LINES_PER_REPORT) {
            self.progress.done = self.taken.load(Ordering::Relaxed);
            self.clock.map_or(Ok(()), |clock| clock.report(&self.progress))?;
        }
        // A byte order mark is no part of the text.
        if self.number == 1 && self.line.starts_with(b"\xef\xbb\xbf") {
            self.line.drain(..3);
        }
        let line = without_end(&self.line);
        match as_text(line) {
            Ok(text) => Ok(Some((self.number, text))),
            Err(problem) => Err(Error::in_file(self.number, problem)),
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

    /// All that is left, unpacked, if it has no more than `most` bytes.
    pub(super) fn read_within(&mut self, most: u64) -> Result<Vec<u8>> {
        self.budget = Some(self.budget.map_or(2 * most, |budget| budget.min(2 * most)));
        self.read_all()
    }

    /// All that is left, unpacked: a format that is read as a whole.
    pub(super) fn read_all(&mut self) -> Result<Vec<u8>> {
        let budget = self.strict_budget();
        let mut bytes = Vec::new();
        loop {
            let n_before = bytes.len();
            memory::reserve(&mut bytes, BUFFER, "reading the file", super::TEXT_REMEDY)?;
            let read = self.reader.by_ref().take(BUFFER as u64).read_to_end(&mut bytes);
            read.map_err(|error| unreadable(0, &error))?;
            if bytes.len() == n_before {
                return Ok(bytes);
            }
            // What is made of it takes at least as much again.
            memory::check_within(budget, "reading the file", 2 * bytes.len() as u64, super::TEXT_REMEDY)?;
            self.progress.done = self.taken.load(Ordering::Relaxed);
            self.clock.map_or(Ok(()), |clock| clock.report(&self.progress))?;
        }
    }

    /// The last line read, blanks at its ends included.
    pub(super) fn whole_line(&self) -> &str {
        str::from_utf8(without_end(&self.line)).unwrap_or_default()
    }

    /// Number of the last line read.
    pub(super) fn number(&self) -> u64 {
        self.number
    }
}

/// A line without its end.
pub(super) fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The first line without its end, and what follows it.
pub(super) fn split_first_line(text: &[u8]) -> (&[u8], &[u8]) {
    let end = memchr::memchr(b'\n', text).map_or(text.len(), |end| end + 1);
    let (line, rest) = text.split_at(end);
    (without_end(line), rest)
}

/// A line as text, if it is any.
pub(super) fn as_text(line: &[u8]) -> Result<&str, String> {
    match str::from_utf8(line) {
        Ok(text) if !text.contains('\0') => Ok(text),
        _ => Err("this is not UTF-8 text; is the file's ending right, and its encoding?".into()),
    }
}

/// What became of some lines.
pub(super) struct Parsed<T> {
    /// Number of the line before them.
    pub(super) lines_before: u64,
    pub(super) value: T,
}

/// The least and the most bytes that are parsed in one go.
const PORTION: std::ops::RangeInclusive<u64> = 1 << 18..=1 << 24;
/// The file in so many portions, if they are then large enough.
const PORTIONS: u64 = 256;

impl Lines<'_> {
    /// Parses all lines that are left. `parse` is given portions of whole lines and the state before them, by all threads
    /// at once while the next lines are being read; `take` is given what became of them, in the order of the file, several
    /// at a time, and changes the state.
    pub(super) fn parse_rest<S: Sync, T: Send>(
        &mut self,
        state: &mut S,
        parse: impl Fn(&S, &[u8]) -> T + Sync,
        take: impl Fn(&mut S, Vec<Parsed<T>>) -> Result<()>,
    ) -> Result<()> {
        let n_threads = crate::parallel::current_num_threads();
        let most = self.strict_budget().map_or(u64::MAX, |limit| limit / (128 * n_threads as u64));
        let most = most.clamp(*PORTION.start() / 4, *PORTION.end());
        let portion = (self.progress.total / PORTIONS).max(*PORTION.start()).min(most) as usize;
        // With few portions in a batch, threads wait for each other.
        let most = portion * n_threads * if self.memory_limit.is_some() { 4 } else { 8 };
        // What is learnt from few lines helps with many.
        let mut batch = portion.min(*PORTION.start() as usize);
        let mut rest = Rest {
            reader: &mut self.reader,
            carried: Vec::new(),
            longest_line: self.longest_line,
            failure: None,
        };
        let (mut text, mut next_text) = (Vec::new(), Vec::new());
        rest.fill(&mut text, batch);
        while !text.is_empty() {
            batch = (batch * 2).min(most);
            let portion = portion.min(batch / n_threads);
            let parse = |lines: &[u8]| parse(state, lines);
            let (parsed, ()) = crate::parallel::join(
                || parse_all(&text, portion, &parse),
                || rest.fill(&mut next_text, batch),
            );
            let counted = parsed.into_iter().map(|(n_lines, value)| {
                let lines_before = self.number;
                self.number += n_lines;
                Parsed { lines_before, value }
            });
            take(state, counted.collect())?;
            std::mem::swap(&mut text, &mut next_text);
            self.progress.done = self.taken.load(Ordering::Relaxed);
            self.clock.map_or(Ok(()), |clock| clock.report(&self.progress))?;
        }
        match rest.failure {
            Some(error) => Err(unreadable(self.number, &error)),
            None => Ok(()),
        }
    }
}

/// What became of portions of `text`, and how many lines each had.
fn parse_all<T: Send>(text: &[u8], portion: usize, parse: &(impl Fn(&[u8]) -> T + Sync)) -> Vec<(u64, T)> {
    let mut portions = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.get(portion..).and_then(|tail| tail.iter().position(|&byte| byte == b'\n'));
        let (lines, next) = rest.split_at(end.map_or(rest.len(), |end| portion + end + 1));
        portions.push(lines);
        rest = next;
    }
    let n_lines = |lines: &[u8]| {
        let n_ends = memchr::memchr_iter(b'\n', lines).count() as u64;
        n_ends + u64::from(lines.last() != Some(&b'\n'))
    };
    portions.into_par_iter().map(|lines| (n_lines(lines), parse(lines))).collect()
}

/// The part of a text that is not read yet.
struct Rest<'r, 'a> {
    reader: &'r mut Box<dyn BufRead + Send + 'a>,
    /// The start of a line whose end is not read yet.
    carried: Vec<u8>,
    longest_line: usize,
    /// Why nothing more can be read; what was read before comes first.
    failure: Option<io::Error>,
}

impl Rest<'_, '_> {
    /// Fills `text` with whole lines, about `n_bytes` of them; it stays empty at the end.
    fn fill(&mut self, text: &mut Vec<u8>, n_bytes: usize) {
        text.clear();
        text.append(&mut self.carried);
        while self.failure.is_none() {
            let missing = n_bytes.saturating_sub(text.len()).max(n_bytes / 4);
            if text.try_reserve(missing).is_err() {
                self.failure = Some(io::ErrorKind::OutOfMemory.into());
                break;
            }
            match self.reader.by_ref().take(missing as u64).read_to_end(text) {
                // The last line may have no end.
                Ok(0) => return self.check_lines(text),
                Ok(_) if text.len() < n_bytes => {}
                Ok(_) => {
                    if let Some(end) = text.iter().rposition(|&byte| byte == b'\n') {
                        self.carried.extend_from_slice(&text[end + 1..]);
                        text.truncate(end + 1);
                        return self.check_lines(text);
                    }
                    if text.len() > self.longest_line {
                        self.failure = Some(too_long(self.longest_line));
                    }
                }
                Err(error) => self.failure = Some(error),
            }
        }
        // A line that could not be read to its end is none.
        let end = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        text.truncate(end);
    }

    /// Keeps nothing of a text with a line that is too long.
    fn check_lines(&mut self, text: &mut Vec<u8>) {
        if has_long_line(text, self.longest_line) {
            text.clear();
            self.failure = Some(too_long(self.longest_line));
        }
    }
}

/// Whether a line of `text` has more bytes than `longest`.
fn has_long_line(text: &[u8], longest: usize) -> bool {
    let mut rest = text;
    while let Some(start) = rest.get(..longest) {
        // The last end of a line that is within reach of this line's start.
        let Some(end) = memchr::memrchr(b'\n', start) else { return rest.len() > longest };
        rest = &rest[end + 1..];
    }
    false
}

fn too_long(longest: usize) -> io::Error {
    let problem = format!(
        "a line is longer than {longest} bytes; is this the right kind of file? --memory-limit allows lines of an \
         eighth of it"
    );
    io::Error::new(io::ErrorKind::FileTooLarge, problem)
}

fn unreadable(line: u64, error: &io::Error) -> Error {
    let problem = match error.kind() {
        io::ErrorKind::FileTooLarge => return Error::in_file(None, error.to_string()),
        io::ErrorKind::OutOfMemory => {
            let (needed, remedy) = (LONGEST_LINE, super::TEXT_REMEDY);
            return Error::TooLittleMemory { what: "reading", needed, limit: None, remedy };
        }
        io::ErrorKind::UnexpectedEof => {
            "the compressed data is cut short, or something else follows it".to_string()
        }
        _ => format!("cannot be read: {}", super::plain(error)),
    };
    Error::in_file((line > 0).then_some(line + 1), problem)
}

/// A file that counts the bytes taken from it.
struct Counted<F> {
    file: F,
    taken: Arc<AtomicU64>,
}

impl<F: Read> Read for Counted<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n_bytes = self.file.read(buffer)?;
        self.taken.fetch_add(n_bytes as u64, Ordering::Relaxed);
        Ok(n_bytes)
    }
}
