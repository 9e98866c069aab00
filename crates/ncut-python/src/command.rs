//! The command line, for the program `ncut` that comes with the package.

use std::ffi::OsString;

use ncut_cli::NotingAllocator;
use pyo3::prelude::*;

/// Where memory is missing, the command line ends with a message and exit code 1.
#[global_allocator]
static ALLOCATOR: NotingAllocator = NotingAllocator;

/// Runs the command line on `arguments`, the name of the program first, and returns its exit code. It takes over the
/// signals and the threads of the process, which is to end after it.
#[pyfunction]
pub(crate) fn run_command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| ncut_cli::program(arguments))
}
