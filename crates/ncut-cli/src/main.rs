//! The program `ncut`.

fn main() -> std::process::ExitCode {
    ncut_cli::main()
}
