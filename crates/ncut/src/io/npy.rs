//! NumPy's `.npy` arrays, as far as graphs and labels need them.
//!
//! Our own reader, because a header must not decide how much memory is reserved: a damaged file of a few
//! bytes may promise terabytes.

use std::io::{self, Read, Write};

use crate::error::{Error, Result};
use crate::memory;

/// An array of numbers, as its bytes.
#[derive(Clone, Debug)]
pub(super) struct Array {
    kind: Kind,
    big_endian: bool,
    item_size: usize,
    pub(super) shape: Vec<usize>,
    /// Row after row: the last index changes fastest.
    bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Bool,
    Signed,
    Unsigned,
    Float,
    Text,
}

/// Bytes of a header at most: it names a type and a shape.
const MAX_HEADER: usize = 1 << 20;
/// What helps when an array is too large.
const REMEDY: &str = "keep fewer or narrower numbers in it";

impl Array {
    /// Reads an array; `name` is what it is called in what is wrong with it. Its numbers may take `budget` bytes of memory
    /// where there is a limit, as bytes and in 64 bits each.
    pub(super) fn read(mut reader: impl Read, name: &str, budget: Option<u64>) -> Result<Self> {
        let refuse = |problem: String| Error::in_file(None, format!("{name} {problem}"));
        let (array, by_column) = Self::read_header(&mut reader).map_err(refuse)?;
        let n_items = array.shape.iter().try_fold(1usize, |count, &length| count.checked_mul(length));
        let n_bytes = n_items.and_then(|n_items| n_items.checked_mul(array.item_size));
        let (Some(n_items), Some(n_bytes)) = (n_items, n_bytes) else {
            return Err(refuse("has an impossible shape".into()));
        };
        let needed = (n_bytes as u64).saturating_add((n_items as u64).saturating_mul(8));
        memory::check_within(budget, "an array as large as its header promises", needed, REMEDY)?;
        let bytes = read_exactly(&mut reader, n_bytes).map_err(|problem| match problem {
            Some(problem) => refuse(problem),
            None => {
                let what = "reading an array";
                Error::TooLittleMemory { what, needed, limit: None, remedy: REMEDY }
            }
        })?;
        // Reading on to the end also makes an archive compare its checksum.
        match reader.read(&mut [0]) {
            Ok(0) if by_column => {
                let bytes = row_after_row(&bytes, &array.shape, array.item_size);
                Ok(Self { bytes, ..array })
            }
            Ok(0) => Ok(Self { bytes, ..array }),
            Ok(_) => Err(refuse("is longer than its header says".into())),
            Err(error) => Err(refuse(short(&error))),
        }
    }

    /// An array that is yet to be read, and whether its numbers come column after column.
    fn read_header(mut reader: impl Read) -> Result<(Self, bool), String> {
        let mut magic = [0; 8];
        fill(&mut reader, &mut magic)?;
        if !magic.starts_with(b"\x93NUMPY") {
            return Err("is no .npy array".into());
        }
        let header_size = if magic[6] == 1 {
            let mut size = [0; 2];
            fill(&mut reader, &mut size)?;
            usize::from(u16::from_le_bytes(size))
        } else {
            let mut size = [0; 4];
            fill(&mut reader, &mut size)?;
            u32::from_le_bytes(size) as usize
        };
        if header_size > MAX_HEADER {
            return Err(format!("has a header of {header_size} bytes; {MAX_HEADER} is the most"));
        }
        let no_memory = || "has a header that no memory is left for".to_string();
        let header =
            read_exactly(&mut reader, header_size).map_err(|problem| problem.unwrap_or_else(no_memory))?;
        let header = std::str::from_utf8(&header).map_err(|_| "has a header that is not text")?;
        Self::parse_header(header)
    }

    /// The array without its numbers, and whether these come column after column (NumPy's Fortran order).
    fn parse_header(header: &str) -> Result<(Self, bool), String> {
        let value = |key: &str| -> Result<&str, String> {
            let after = header.split_once(&format!("'{key}':")).map(|(_, after)| after.trim_start());
            after.ok_or_else(|| format!("has a header without '{key}'"))
        };
        let descr = value("descr")?
            .strip_prefix('\'')
            .and_then(|text| text.split_once('\''))
            .map(|(descr, _)| descr)
            .ok_or("has records instead of plain numbers")?;
        let shape = value("shape")?
            .strip_prefix('(')
            .and_then(|text| text.split_once(')'))
            .map(|(shape, _)| shape)
            .ok_or("has a header without a shape")?;
        let shape: Vec<usize> = shape
            .split(',')
            .map(str::trim)
            .filter(|length| !length.is_empty())
            .map(|length| length.parse().map_err(|_| format!("has an impossible shape ({shape})")))
            .collect::<Result<_, _>>()?;
        let by_column = shape.len() > 1 && value("fortran_order")?.starts_with("True");
        let unknown =
            || format!("has numbers of type '{descr}', which cannot be read; convert it with .astype(float)");
        let (order, rest) = descr.split_at_checked(1).ok_or_else(unknown)?;
        let (letter, size) = rest.split_at_checked(1).ok_or_else(unknown)?;
        let size: usize = size.parse().map_err(|_| unknown())?;
        let (kind, allowed): (Kind, &[usize]) = match letter {
            "b" => (Kind::Bool, &[1]),
            "i" => (Kind::Signed, &[1, 2, 4, 8]),
            "u" => (Kind::Unsigned, &[1, 2, 4, 8]),
            "f" => (Kind::Float, &[2, 4, 8]),
            "S" => (Kind::Text, &[]),
            "U" => (Kind::Text, &[]),
            _ => return Err(unknown()),
        };
        if kind != Kind::Text && !allowed.contains(&size) {
            return Err(unknown());
        }
        let item_size = if letter == "U" { size.checked_mul(4).ok_or_else(unknown)? } else { size };
        let array = Self { kind, big_endian: order == ">", item_size, shape, bytes: Vec::new() };
        Ok((array, by_column))
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len().checked_div(self.item_size).unwrap_or(0)
    }

    /// Whether the numbers are 32-bit floats.
    pub(super) fn is_f32(&self) -> bool {
        self.kind == Kind::Float && self.item_size == 4
    }

    /// The numbers as floats.
    pub(super) fn floats(&self) -> Result<Vec<f64>, String> {
        match self.kind {
            Kind::Float if self.is_f32() => Ok(self.f32s().into_iter().map(f64::from).collect()),
            Kind::Float if self.item_size == 2 => {
                Ok(self.items().map(|item| half(self.bits(item) as u16)).collect())
            }
            Kind::Float => Ok(self.items().map(|item| f64::from_bits(self.bits(item))).collect()),
            _ => Ok(self.integers()?.into_iter().map(|number| number as f64).collect()),
        }
    }

    /// The numbers as 32-bit floats; they are that already.
    pub(super) fn f32s(&self) -> Vec<f32> {
        self.items().map(|item| f32::from_bits(self.bits(item) as u32)).collect()
    }

    /// The numbers as integers.
    pub(super) fn integers(&self) -> Result<Vec<i64>, String> {
        let spare = 64 - 8 * self.item_size.min(8) as u32;
        match self.kind {
            Kind::Signed => {
                Ok(self.items().map(|item| ((self.bits(item) << spare) as i64) >> spare).collect())
            }
            Kind::Bool | Kind::Unsigned => self
                .items()
                .map(|item| {
                    i64::try_from(self.bits(item)).map_err(|_| "holds a number beyond 2^63".to_string())
                })
                .collect(),
            Kind::Float => self
                .floats()?
                .into_iter()
                .map(|number| {
                    // Between -2^53 and 2^53 every whole float is that integer.
                    let whole = number.fract() == 0.0 && number.abs() <= 2f64.powi(53);
                    whole
                        .then_some(number as i64)
                        .ok_or_else(|| format!("holds {number}, which is no integer"))
                })
                .collect(),
            Kind::Text => Err("holds text instead of numbers".into()),
        }
    }

    /// The first item as text.
    pub(super) fn text(&self) -> String {
        let letters = self.bytes.iter().take(self.item_size).filter(|&&byte| byte != 0);
        letters.map(|&byte| char::from(byte)).collect()
    }

    fn items(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.chunks_exact(self.item_size.max(1))
    }

    fn bits(&self, item: &[u8]) -> u64 {
        let mut bytes = [0; 8];
        bytes[..item.len()].copy_from_slice(item);
        if self.big_endian {
            bytes[..item.len()].reverse();
        }
        u64::from_le_bytes(bytes)
    }
}

/// Items that come with the first index changing fastest, put in the order in which the last one does.
fn row_after_row(bytes: &[u8], shape: &[usize], item_size: usize) -> Vec<u8> {
    let mut ordered = Vec::with_capacity(bytes.len());
    let steps: Vec<usize> = shape
        .iter()
        .scan(item_size, |step, &length| Some(std::mem::replace(step, step.saturating_mul(length))))
        .collect();
    let mut index = vec![0; shape.len()];
    let mut at = 0;
    while ordered.len() < bytes.len() {
        ordered.extend_from_slice(&bytes[at..at + item_size]);
        for dimension in (0..shape.len()).rev() {
            index[dimension] += 1;
            at += steps[dimension];
            if index[dimension] < shape[dimension] {
                break;
            }
            at -= steps[dimension] * shape[dimension];
            index[dimension] = 0;
        }
    }
    ordered
}

/// Writes an array of the given shape; `descr` is NumPy's name of the type of `items`.
pub(super) fn write<const SIZE: usize>(
    writer: &mut dyn Write,
    descr: &str,
    shape: &str,
    items: impl Iterator<Item = [u8; SIZE]>,
) -> io::Result<()> {
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    // The data starts at a multiple of 64 bytes.
    let padding = (64 - (10 + header.len() + 1) % 64) % 64;
    header.extend(std::iter::repeat_n(' ', padding));
    header.push('\n');
    writer.write_all(b"\x93NUMPY\x01\x00")?;
    writer.write_all(&(header.len() as u16).to_le_bytes())?;
    writer.write_all(header.as_bytes())?;
    for item in items {
        writer.write_all(&item)?;
    }
    Ok(())
}

/// The value of a 16-bit float: sign, 5 bits of exponent, 10 of fraction.
pub(super) fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    sign * match exponent {
        0 => libm::scalbn(fraction, -24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => libm::scalbn(1024.0 + fraction, exponent - 25),
    }
}

fn fill(reader: &mut impl Read, buffer: &mut [u8]) -> Result<(), String> {
    reader.read_exact(buffer).map_err(|error| short(&error))
}

/// Bytes for which room is made before any arrive.
const FIRST_BYTES: usize = 1 << 16;

/// Exactly `n_bytes`, reserving memory only as they arrive. Fails without a problem where there is no memory.
fn read_exactly(reader: &mut impl Read, n_bytes: usize) -> Result<Vec<u8>, Option<String>> {
    let mut bytes = Vec::new();
    while bytes.len() < n_bytes {
        let n_more = bytes.len().max(FIRST_BYTES).min(n_bytes - bytes.len());
        bytes.try_reserve_exact(n_more).map_err(|_| None)?;
        let n_read = reader.by_ref().take(n_more as u64).read_to_end(&mut bytes);
        if n_read.map_err(|error| Some(short(&error)))? < n_more {
            let problem = format!("is cut short: {n_bytes} bytes were promised, {} are there", bytes.len());
            return Err(Some(problem));
        }
    }
    Ok(bytes)
}

fn short(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "is cut short".into(),
        _ => format!("cannot be read: {error}"),
    }
}
