//! The program `ncut`.

mod allocation;

fn main() -> std::process::ExitCode {
    allocation::end_without_signal();
    ncut_cli::main()
}
