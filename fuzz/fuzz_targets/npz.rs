#![no_main]

use std::io::{Cursor, Write};

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use ncut::io::GraphFormat;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Arrays that may fit together, so that the checks behind the zip layer are reached too.
#[derive(Arbitrary, Debug)]
struct Matrix<'a> {
    format: Format,
    shape: (u8, u8),
    indptr: Vec<i8>,
    indices: Vec<i8>,
    data: Vec<i8>,
    /// Takes the place of one of the arrays.
    raw: Option<(u8, &'a [u8])>,
}

#[derive(Arbitrary, Debug)]
enum Format {
    Csr,
    Csc,
    Coo,
    Other,
}

fuzz_target!(|input: (&[u8], Matrix<'_>)| {
    let (bytes, matrix) = input;
    ncut_fuzz::read_and_cluster(bytes, GraphFormat::Npz);
    ncut_fuzz::read_and_cluster(&archive(&matrix), GraphFormat::Npz);
});

fn archive(matrix: &Matrix<'_>) -> Vec<u8> {
    let format: &[u8] = match matrix.format {
        Format::Csr => b"csr",
        Format::Csc => b"csc",
        Format::Coo => b"coo",
        Format::Other => b"dia",
    };
    let bytes = |numbers: &[i8]| numbers.iter().map(|&number| number as u8).collect::<Vec<u8>>();
    let offsets = if matches!(matrix.format, Format::Coo) { "row" } else { "indptr" };
    let columns = if matches!(matrix.format, Format::Coo) { "col" } else { "indices" };
    let mut arrays = [
        ("format", npy("|S3", "()", format)),
        ("shape", npy("|u1", "(2,)", &[matrix.shape.0, matrix.shape.1])),
        (offsets, npy("|i1", &format!("({},)", matrix.indptr.len()), &bytes(&matrix.indptr))),
        (columns, npy("|i1", &format!("({},)", matrix.indices.len()), &bytes(&matrix.indices))),
        ("data", npy("|i1", &format!("({},)", matrix.data.len()), &bytes(&matrix.data))),
    ];
    if let Some((place, raw)) = matrix.raw {
        arrays[place as usize % 5].1 = raw.to_vec();
    }
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, content) in arrays {
        zip.start_file(format!("{name}.npy"), stored).expect("memory is writable");
        zip.write_all(&content).expect("memory is writable");
    }
    zip.finish().expect("memory is writable").into_inner()
}

fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}
