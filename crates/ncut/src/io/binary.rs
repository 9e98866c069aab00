//! Our own binary files (`.ncut`): the arrays of a graph as they stand in memory, to be mapped and used in place.
//!
//! Everything is little-endian. A header of 128 bytes, then the arrays, each starting at a multiple of 64 bytes:
//!
//! | bytes | header |
//! | --- | --- |
//! | 0..8 | `89 6e 63 75 74 0d 0a 1a`: what the file is, and whether somebody changed its line ends |
//! | 8..12 | version, 1 |
//! | 12..16 | flags: weights 0 none (all are 1), 1 of 32 bits, 2 of 64 bits; 4 self-loops; 8 names |
//! | 16..64 | nodes `n`, stored entries `m`, self-loops, isolated nodes, volume (a float), bytes of names |
//! | 64..92 | CRC-32 of each array below |
//! | 92..124 | zeros |
//! | 124..128 | CRC-32 of the header up to here |
//!
//! Arrays: columns (`m` of 32 bits), weights (`m`, as the flags say), row offsets (`n + 1` of 64 bits), degrees (`n`
//! floats of 64 bits), self-loops (`n`, if there are any), ends of names (`n` of 64 bits) and the names' text, UTF-8.
//! The columns come first because a writer that merges runs learns everything else on the way.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use bytemuck::Pod;

use super::names::NameChecksums;
use super::{GraphFile, Names, Verification};
use crate::error::{Error, Result};
use crate::graph::{Array, Csr, EdgeSorter, Graph, NodeId, Seal, Spilling, StoredGraph, Weights};
use crate::mapping::Mapping;

const MAGIC: [u8; 8] = *b"\x89ncut\r\n\x1a";
const VERSION: u32 = 1;
const HEADER_BYTES: usize = 128;
/// A cache line: wide enough for whatever the arrays are read with.
const ALIGNMENT: u64 = 64;
const BUFFER: usize = 1 << 20;

const WEIGHT_BITS: u32 = 3;
const HAS_LOOPS: u32 = 4;
const HAS_NAMES: u32 = 8;

/// The arrays, in the order of the file.
#[derive(Clone, Copy)]
enum Part {
    Columns,
    Weights,
    Offsets,
    Degrees,
    Loops,
    NameEnds,
    NameText,
}

const PARTS: [Part; 7] =
    [Part::Columns, Part::Weights, Part::Offsets, Part::Degrees, Part::Loops, Part::NameEnds, Part::NameText];

/// How wide the weights are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Width {
    None,
    F32,
    F64,
}

#[derive(Clone, Debug)]
struct Header {
    width: Width,
    has_loops: bool,
    has_names: bool,
    n_nodes: u64,
    n_entries: u64,
    n_loops: u64,
    n_isolated: u64,
    volume: f64,
    name_bytes: u64,
    checksums: [u32; PARTS.len()],
}

/// Opens a file by mapping it.
pub(super) fn open(path: &Path, verification: Verification) -> Result<GraphFile> {
    map(&super::open(path)?, Some(path), verification)
}

/// Maps a file that is open.
pub(super) fn map(file: &File, path: Option<&Path>, verification: Verification) -> Result<GraphFile> {
    let problem =
        |error: io::Error| Error::in_file(None, format!("cannot be mapped: {}", super::plain(&error)));
    if file.metadata().map_err(problem)?.len() < HEADER_BYTES as u64 {
        return Err(no_header());
    }
    let mapping = Mapping::of(file).map_err(problem)?;
    let arrays = Arrays { bytes: mapping.bytes(), mapping: Some(&mapping) };
    read(&arrays, path, verification)
}

/// Reads a file that is in memory, copying its arrays.
pub(super) fn parse(bytes: &[u8], verification: Verification) -> Result<GraphFile> {
    read(&Arrays { bytes, mapping: None }, None, verification)
}

fn no_header() -> Error {
    Error::in_file(None, "is no .ncut file, or one cut short: it is too short for a header")
}

fn read(arrays: &Arrays<'_>, path: Option<&Path>, verification: Verification) -> Result<GraphFile> {
    if cfg!(target_endian = "big") {
        return Err(Error::in_file(
            None,
            ".ncut files are for little-endian machines, which this is not; use .npz",
        ));
    }
    let header = Header::parse(arrays.bytes)?;
    let places = header.places(arrays.bytes.len() as u64)?;
    let place = |part: Part| places[part as usize].clone();
    let sum = |part: Part| header.checksums[part as usize];
    let offsets: Array<'static, u64> = arrays.numbers(place(Part::Offsets))?;
    if offsets.first() != Some(&0) || offsets.last() != Some(&header.n_entries) {
        return Err(Error::damaged(
            "its row offsets do not start at 0 or do not end at the number of entries",
        ));
    }
    // Rows cannot be taken from offsets that fall. Where the arrays are verified this is found out then.
    if verification == Verification::Never
        && let Some(row) = offsets.windows(2).position(|pair| pair[0] > pair[1])
    {
        return Err(Error::damaged(&format!("its row offsets fall at row {row}")));
    }
    let weights = match header.width {
        Width::None => Weights::Unit,
        Width::F32 => Weights::F32(arrays.numbers(place(Part::Weights))?),
        Width::F64 => Weights::F64(arrays.numbers(place(Part::Weights))?),
    };
    let seal = Seal {
        path: path.map(Path::to_path_buf),
        columns: sum(Part::Columns),
        weights: sum(Part::Weights),
        offsets: sum(Part::Offsets),
        degrees: sum(Part::Degrees),
        self_loops: sum(Part::Loops),
        outcome: OnceLock::new(),
    };
    let graph = Graph::from_stored(StoredGraph {
        offsets,
        columns: arrays.numbers(place(Part::Columns))?,
        weights,
        self_loops: arrays.numbers(place(Part::Loops))?,
        degrees: arrays.numbers(place(Part::Degrees))?,
        n_loops: header.n_loops as usize,
        n_isolated: header.n_isolated as usize,
        volume: header.volume,
        seal: (verification != Verification::Never).then(|| Arc::new(seal)),
    });
    let names = match header.has_names {
        true => {
            let text: Array<'static, u8> = arrays.numbers(place(Part::NameText))?;
            let ends: Array<'static, u64> = arrays.numbers(place(Part::NameEnds))?;
            let checksums = NameChecksums { text: sum(Part::NameText), ends: sum(Part::NameEnds) };
            Some(Names::sealed(text, ends, (verification != Verification::Never).then_some(checksums)))
        }
        false => None,
    };
    Ok(GraphFile::new(graph, names))
}

/// The bytes of a file, mapped or not.
struct Arrays<'b> {
    bytes: &'b [u8],
    mapping: Option<&'b Mapping>,
}

impl Arrays<'_> {
    /// The numbers at a place, which is inside of the file.
    fn numbers<T: Pod>(&self, place: Range<usize>) -> Result<Array<'static, T>> {
        match self.mapping {
            Some(mapping) => mapping.numbers(place).map(Array::from),
            None => self
                .bytes
                .get(place)
                .map(|bytes| bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()),
        }
        .ok_or_else(|| Error::damaged("its arrays do not fit into it"))
    }
}

impl Header {
    fn parse(bytes: &[u8]) -> Result<Self> {
        let problem = |problem: String| Error::in_file(None, problem);
        if !bytes.starts_with(&MAGIC) && bytes.len() >= MAGIC.len() {
            return Err(problem("is no .ncut file; is its ending right? `ncut convert` makes one".into()));
        }
        let Some(header) = bytes.get(..HEADER_BYTES) else { return Err(no_header()) };
        let u32_at = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().expect("four bytes"));
        let u64_at = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().expect("eight bytes"));
        // Another version may have its checksum elsewhere.
        let version = u32_at(8);
        if version != VERSION {
            return Err(problem(format!(
                "is of version {version} of the .ncut format, but this program knows version {VERSION} only; use \
                 a newer program, or convert the graph anew"
            )));
        }
        if crc32fast::hash(&header[..HEADER_BYTES - 4]) != u32_at(HEADER_BYTES - 4) {
            return Err(Error::damaged("the checksum of its header is wrong"));
        }
        let flags = u32_at(12);
        let width = match flags & WEIGHT_BITS {
            0 => Width::None,
            1 => Width::F32,
            2 => Width::F64,
            _ => return Err(Error::damaged("its header names weights that do not exist")),
        };
        if flags & !(WEIGHT_BITS | HAS_LOOPS | HAS_NAMES) != 0 {
            return Err(problem(format!("has flags {flags:#x}, which this program does not know")));
        }
        let header = Self {
            width,
            has_loops: flags & HAS_LOOPS != 0,
            has_names: flags & HAS_NAMES != 0,
            n_nodes: u64_at(16),
            n_entries: u64_at(24),
            n_loops: u64_at(32),
            n_isolated: u64_at(40),
            volume: f64::from_bits(u64_at(48)),
            name_bytes: u64_at(56),
            checksums: std::array::from_fn(|part| u32_at(64 + 4 * part)),
        };
        if header.n_nodes == 0 {
            return Err(Error::EmptyGraph);
        }
        if header.n_nodes > u64::from(NodeId::MAX) {
            return Err(Error::TooManyNodes { n_nodes: header.n_nodes });
        }
        let fits = header.n_loops <= header.n_nodes.min(header.n_entries)
            && header.has_loops == (header.n_loops > 0)
            && header.n_isolated <= header.n_nodes
            && (0.0..f64::INFINITY).contains(&header.volume);
        if !fits {
            return Err(Error::damaged("the numbers in its header do not fit together"));
        }
        Ok(header)
    }

    fn bytes(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        let width = match self.width {
            Width::None => 0,
            Width::F32 => 1,
            Width::F64 => 2,
        };
        let flag = |is_set: bool, flag: u32| if is_set { flag } else { 0 };
        let flags: u32 = width | flag(self.has_loops, HAS_LOOPS) | flag(self.has_names, HAS_NAMES);
        put(0, &MAGIC);
        put(8, &VERSION.to_le_bytes());
        put(12, &flags.to_le_bytes());
        let counts = [self.n_nodes, self.n_entries, self.n_loops, self.n_isolated];
        for (place, count) in counts.into_iter().enumerate() {
            put(16 + 8 * place, &count.to_le_bytes());
        }
        put(48, &self.volume.to_le_bytes());
        put(56, &self.name_bytes.to_le_bytes());
        for (part, checksum) in self.checksums.iter().enumerate() {
            put(64 + 4 * part, &checksum.to_le_bytes());
        }
        let checksum = crc32fast::hash(&bytes[..HEADER_BYTES - 4]);
        bytes[HEADER_BYTES - 4..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Where the arrays stand in a file of `length` bytes, which must be just as long as they are.
    fn places(&self, length: u64) -> Result<[Range<usize>; PARTS.len()]> {
        let mut places = std::array::from_fn(|_| 0..0);
        let mut end = HEADER_BYTES as u64;
        let impossible = || Error::damaged("its header promises more than any file can hold");
        for part in PARTS {
            let start = end.checked_next_multiple_of(ALIGNMENT).ok_or_else(impossible)?;
            let size = self.size(part).ok_or_else(impossible)?;
            end = start.checked_add(size).ok_or_else(impossible)?;
            let fits = |place: u64| usize::try_from(place).map_err(|_| impossible());
            places[part as usize] = fits(start)?..fits(end)?;
        }
        if end != length {
            let how = if length < end { "is cut short" } else { "is longer than it should be" };
            return Err(Error::in_file(
                None,
                format!(
                    "{how}: {length} bytes are there, but its header promises {end}; make it anew with `ncut convert`"
                ),
            ));
        }
        Ok(places)
    }

    fn size(&self, part: Part) -> Option<u64> {
        let n_named = if self.has_names { self.n_nodes } else { 0 };
        match part {
            Part::Columns => self.n_entries.checked_mul(4),
            Part::Weights => match self.width {
                Width::None => Some(0),
                Width::F32 => self.n_entries.checked_mul(4),
                Width::F64 => self.n_entries.checked_mul(8),
            },
            Part::Offsets => (self.n_nodes + 1).checked_mul(8),
            Part::Degrees => self.n_nodes.checked_mul(8),
            Part::Loops => Some(if self.has_loops { self.n_nodes * 8 } else { 0 }),
            Part::NameEnds => n_named.checked_mul(8),
            Part::NameText => Some(if self.has_names { self.name_bytes } else { 0 }),
        }
    }
}

/// Writes a graph, array by array.
pub(super) fn write(
    file: &mut (impl Write + Seek),
    graph: &Graph<'_>,
    names: Option<&Names>,
) -> io::Result<()> {
    let mut writer = Writer::new(file)?;
    writer.add(graph.columns())?;
    writer.end(Part::Columns)?;
    let width = match graph.weights() {
        Weights::Unit => Width::None,
        Weights::F32(weights) => {
            writer.add(weights)?;
            Width::F32
        }
        Weights::F64(weights) => {
            writer.add(weights)?;
            Width::F64
        }
    };
    writer.end(Part::Weights)?;
    let n_nodes = graph.n_nodes() as NodeId;
    // Sums of rows: a part of a larger graph has other degrees, which no file knows.
    let degrees: Vec<f64> = (0..n_nodes)
        .map(|node| graph.entries(node).fold(0.0, |sum, entry| sum + graph.weights().at(entry)))
        .collect();
    let self_loops: Vec<f64> = match graph.n_self_loops() {
        0 => Vec::new(),
        _ => (0..n_nodes).map(|node| graph.self_loop(node)).collect(),
    };
    writer.finish(width, graph.offsets(), &degrees, &self_loops, names)
}

/// Writes the graph of edges that are in temporary files, some rows at a time.
pub(super) fn write_sorted(
    file: &mut (impl Write + Seek),
    sorter: EdgeSorter,
    n_nodes: usize,
    names: Option<&Names>,
    spilling: Option<&Spilling>,
) -> Result<()> {
    let problem =
        |error: io::Error| Error::in_file(None, format!("cannot be written: {}", super::plain(&error)));
    let mut writer = Writer::new(file).map_err(problem)?;
    let mut rows = WrittenRows::default();
    let folder = spilling.map_or(Path::new("."), |spilling| &spilling.folder);
    sorter.for_each_group(n_nodes, |group| {
        writer.add(&group.columns).and_then(|()| rows.add(&group, folder)).map_err(problem)
    })?;
    if !rows.degrees.iter().fold(0.0, |sum, degree| sum + degree).is_finite() {
        return Err(Error::WeightOverflow);
    }
    let finish = || -> io::Result<()> {
        writer.end(Part::Columns)?;
        let width = match &rows.weights {
            None => Width::None,
            Some(_) if rows.are_narrow => Width::F32,
            Some(_) => Width::F64,
        };
        if let Some(weights) = rows.weights.take() {
            let mut weights = weights.into_inner().map_err(io::IntoInnerError::into_error)?;
            weights.rewind()?;
            let (mut piece, mut narrow) = (vec![0f64; BUFFER / 8], Vec::new());
            let mut n_left = rows.offsets.last().map_or(0, |&n_entries| n_entries as usize);
            while n_left > 0 {
                let piece = &mut piece[..n_left.min(BUFFER / 8)];
                weights.read_exact(bytemuck::cast_slice_mut(piece))?;
                if width == Width::F32 {
                    narrow.clear();
                    narrow.extend(piece.iter().map(|&weight| weight as f32));
                    writer.add(&narrow)?;
                } else {
                    writer.add(piece)?;
                }
                n_left -= piece.len();
            }
        }
        writer.end(Part::Weights)?;
        writer.finish(width, &rows.offsets, &rows.degrees, &rows.self_loops, names)
    };
    finish().map_err(problem)
}

/// What is known of the rows written so far, without their columns.
struct WrittenRows {
    offsets: Vec<u64>,
    degrees: Vec<f64>,
    /// Empty as long as there is none.
    self_loops: Vec<f64>,
    /// A temporary file, from the first weight that is not 1 on: where weights begin is known when all columns are.
    weights: Option<BufWriter<File>>,
    /// Whether 32 bits hold all of them.
    are_narrow: bool,
}

impl Default for WrittenRows {
    fn default() -> Self {
        let (degrees, self_loops) = (Vec::new(), Vec::new());
        Self { offsets: vec![0], degrees, self_loops, weights: None, are_narrow: true }
    }
}

impl WrittenRows {
    fn add(&mut self, group: &Csr<'_>, folder: &Path) -> io::Result<()> {
        let n_before = self.offsets.last().copied().unwrap_or(0);
        if self.weights.is_none() && !matches!(group.weights, Weights::Unit) {
            let mut file = BufWriter::with_capacity(BUFFER, tempfile::tempfile_in(folder)?);
            (0..n_before).try_for_each(|_| file.write_all(&1f64.to_le_bytes()))?;
            self.weights = Some(file);
        }
        self.are_narrow &= !matches!(group.weights, Weights::F64(_));
        if let Some(file) = &mut self.weights {
            match &group.weights {
                Weights::F64(weights) => file.write_all(bytemuck::cast_slice(weights))?,
                weights => {
                    let mut weights = (0..group.columns.len()).map(|entry| weights.at(entry));
                    weights.try_for_each(|weight| file.write_all(&weight.to_le_bytes()))?;
                }
            }
        }
        for bounds in group.offsets.windows(2) {
            let (row, node) = (bounds[0] as usize..bounds[1] as usize, self.degrees.len());
            self.degrees.push(row.clone().fold(0.0, |sum, entry| sum + group.weights.at(entry)));
            self.offsets.push(n_before + bounds[1]);
            let self_loop = group.columns[row.clone()].binary_search(&(node as NodeId));
            if self_loop.is_ok() && self.self_loops.is_empty() {
                self.self_loops = vec![0.0; node];
            }
            if self_loop.is_ok() || !self.self_loops.is_empty() {
                self.self_loops.push(self_loop.map_or(0.0, |place| group.weights.at(row.start + place)));
            }
        }
        Ok(())
    }
}

/// Writes a file front to back; the header comes last, when everything is known.
pub(super) struct Writer<F: Write + Seek> {
    file: BufWriter<F>,
    position: u64,
    /// Bytes and checksum of the array being written.
    checksum: crc32fast::Hasher,
    checksums: [u32; PARTS.len()],
}

impl<F: Write + Seek> Writer<F> {
    pub(super) fn new(file: F) -> io::Result<Self> {
        let mut file = BufWriter::with_capacity(BUFFER, file);
        file.write_all(&[0; HEADER_BYTES])?;
        Ok(Self {
            file,
            position: HEADER_BYTES as u64,
            checksum: crc32fast::Hasher::new(),
            checksums: [0; PARTS.len()],
        })
    }

    /// Adds numbers to the array being written.
    pub(super) fn add<T: Pod>(&mut self, numbers: &[T]) -> io::Result<()> {
        // In pieces that stay in cache between the checksum and the file.
        for piece in bytemuck::cast_slice::<T, u8>(numbers).chunks(BUFFER / 4) {
            self.checksum.update(piece);
            self.file.write_all(piece)?;
            self.position += piece.len() as u64;
        }
        Ok(())
    }

    /// Ends the array being written; the next one starts at the next aligned place.
    fn end(&mut self, part: Part) -> io::Result<()> {
        self.checksums[part as usize] = std::mem::take(&mut self.checksum).finalize();
        if part as usize + 1 < PARTS.len() {
            let next = self.position.next_multiple_of(ALIGNMENT);
            self.file.write_all(&[0; ALIGNMENT as usize][..(next - self.position) as usize])?;
            self.position = next;
        }
        Ok(())
    }

    /// Writes the arrays of nodes, which stand behind those of entries, and the header.
    fn finish(
        mut self,
        width: Width,
        offsets: &[u64],
        degrees: &[f64],
        self_loops: &[f64],
        names: Option<&Names>,
    ) -> io::Result<()> {
        self.add(offsets)?;
        self.end(Part::Offsets)?;
        self.add(degrees)?;
        self.end(Part::Degrees)?;
        self.add(self_loops)?;
        self.end(Part::Loops)?;
        let name_bytes = names.map_or(Ok(0), |names| names.write_ends(|ends| self.add(ends)))?;
        self.end(Part::NameEnds)?;
        names.map_or(Ok(()), |names| names.write_text(|text| self.add(text)))?;
        self.end(Part::NameText)?;
        let n_loops = self_loops.iter().filter(|&&weight| weight > 0.0).count() as u64;
        let header = Header {
            width,
            has_loops: n_loops > 0,
            has_names: names.is_some(),
            n_nodes: degrees.len() as u64,
            n_entries: offsets.last().copied().unwrap_or(0),
            n_loops,
            n_isolated: degrees.iter().filter(|&&degree| degree == 0.0).count() as u64,
            volume: degrees.iter().fold(0.0, |sum, degree| sum + degree),
            name_bytes,
            checksums: self.checksums,
        };
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&header.bytes())?;
        self.file.flush()
    }
}
