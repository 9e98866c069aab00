//! Runs the binary in a folder of its own.

#![allow(dead_code, reason = "every test binary uses its own part")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use tempfile::TempDir;

/// A folder to run `ncut` in.
pub(crate) struct Bench {
    folder: TempDir,
}

/// What a run printed.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    /// Puts a file into the folder.
    pub(crate) fn with(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        fs::write(self.path(name), content).unwrap();
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = hearing_signals(env!("CARGO_BIN_EXE_ncut"));
        command.current_dir(self.folder.path()).args(arguments.split_whitespace());
        command
    }

    /// Runs a line of shell in the folder, where `ncut` is the program; so is `$NCUT`, whose process is `$!`.
    #[cfg(unix)]
    pub(crate) fn shell(&self, line: &str) -> Ran {
        let script = format!("ncut() {{ \"$NCUT\" \"$@\"; }}\n{line}");
        let mut command = hearing_signals("sh");
        command.env("NCUT", env!("CARGO_BIN_EXE_ncut"));
        Ran::from(command.current_dir(self.folder.path()).args(["-c", &script]).output().unwrap())
    }

    pub(crate) fn run(&self, arguments: &str) -> Ran {
        Ran::from(self.command(arguments).output().unwrap())
    }
}

/// A program that hears signals, even where those who run the tests have them ignored (`nohup`).
fn hearing_signals(program: &str) -> Command {
    if !cfg!(target_os = "linux") {
        return Command::new(program);
    }
    let mut command = Command::new("env");
    command.args(["--default-signal=HUP,INT,TERM", program]);
    command
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Two triangles joined by a light edge.
pub(crate) const TRIANGLES: &str = "a b 1\nb c 1\na c 1\nd e 1\ne f 1\nd f 1\nc d 0.1\n";
