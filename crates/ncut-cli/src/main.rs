//! The program `ncut`.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: ncut_cli::NotingAllocator = ncut_cli::NotingAllocator;

fn main() -> ExitCode {
    ExitCode::from(ncut_cli::program(std::env::args_os()))
}
