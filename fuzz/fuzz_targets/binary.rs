#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use ncut::Clock;
use ncut::io::{GraphFormat, ReadOptions, Verification, parse_graph};

/// Arrays that may fit together, with right checksums, so that the checks behind these are reached too.
#[derive(Arbitrary, Debug)]
struct File {
    flags: u8,
    counts: [u8; 6],
    columns: Vec<u8>,
    weights: Vec<u8>,
    offsets: Vec<u8>,
    degrees: Vec<u8>,
    names: Vec<u8>,
}

fuzz_target!(|input: (&[u8], File)| {
    let (bytes, file) = input;
    for bytes in [bytes, &sealed(&file)] {
        ncut_fuzz::read_and_cluster(bytes, GraphFormat::Binary);
        // Names are read as they are; only what is asked to be verified is trusted.
        let options = ReadOptions { verification: Verification::AtOnce, ..ReadOptions::default() };
        let _ = parse_graph(bytes, GraphFormat::Binary, &options);
        if let Ok(file) = parse_graph(bytes, GraphFormat::Binary, &ReadOptions::default())
            && file.verify(&Clock::new()).is_ok()
        {
            let names = file.names.unwrap_or_default();
            assert_eq!(names.iter().filter(|id| names.find(id).is_none()).count(), 0);
        }
    }
});

/// The file of these arrays: small numbers, as they are wide in the file.
fn sealed(file: &File) -> Vec<u8> {
    let narrow = |numbers: &[u8]| -> Vec<u8> { numbers.iter().flat_map(|&n| u32::from(n).to_le_bytes()).collect() };
    let wide = |numbers: &[u8]| -> Vec<u8> { numbers.iter().flat_map(|&n| u64::from(n).to_le_bytes()).collect() };
    let floats = |numbers: &[u8]| -> Vec<u8> { numbers.iter().flat_map(|&n| f64::from(n).to_le_bytes()).collect() };
    let loops = if file.flags & 4 != 0 { floats(&file.degrees) } else { Vec::new() };
    let weights = match file.flags & 3 {
        1 => file.weights.iter().flat_map(|&n| f32::from(n).to_le_bytes()).collect(),
        2 => floats(&file.weights),
        _ => Vec::new(),
    };
    let (ends, text) = if file.flags & 8 != 0 { (wide(file.offsets.get(1..).unwrap_or_default()), file.names.clone()) } else { Default::default() };
    let parts = [narrow(&file.columns), weights, wide(&file.offsets), floats(&file.degrees), loops, ends, text];
    let mut bytes = vec![0; 128];
    bytes[..8].copy_from_slice(b"\x89ncut\r\n\x1a");
    bytes[8] = 1;
    bytes[12] = file.flags & 15;
    for (place, &count) in file.counts.iter().enumerate() {
        bytes[16 + 8 * place] = count;
    }
    bytes[48..56].copy_from_slice(&f64::from(file.counts[4]).to_le_bytes());
    for (place, part) in parts.iter().enumerate() {
        bytes[64 + 4 * place..68 + 4 * place].copy_from_slice(&crc32fast::hash(part).to_le_bytes());
        bytes.resize(bytes.len().next_multiple_of(64), 0);
        bytes.extend(part);
    }
    let sum = crc32fast::hash(&bytes[..124]);
    bytes[124..128].copy_from_slice(&sum.to_le_bytes());
    bytes
}
