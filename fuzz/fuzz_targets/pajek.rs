#![no_main]

use libfuzzer_sys::fuzz_target;
use ncut::io::GraphFormat;

fuzz_target!(|bytes: &[u8]| {
    ncut_fuzz::read_and_cluster(bytes, GraphFormat::Pajek);
});
