//! Outputs that appear whole or not at all.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use crate::error::{Error, Result};
use crate::progress::{Clock, Progress, Stage};

/// Writes a file: `fill` writes to a temporary one beside it, which then takes its name, mode and, where that is allowed,
/// owner. What is no ordinary file, such as `/dev/null` or a pipe, is written to as it is; what a descriptor is open for,
/// such as `/dev/stderr` or `/dev/fd/3`, is added to.
///
/// # Errors
/// When it cannot be written; what was there before is then untouched.
pub fn write_whole(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> Result<()> {
    let write = || -> io::Result<()> {
        match destination(path)? {
            Destination::Descriptor(number) => fill(&mut open_descriptor(path, number)?),
            Destination::Special => fill(&mut OpenOptions::new().write(true).open(path)?),
            Destination::Ordinary { path, replaced } => {
                let mut file = temporary_beside(&path)?;
                fill(file.as_file_mut())?;
                if let Some(replaced) = replaced {
                    take_owner_and_mode(file.as_file(), &replaced)?;
                }
                file.as_file().sync_all()?;
                file.persist(&path).map_err(|error| error.error)?;
                Ok(())
            }
        }
    };
    write().map_err(|error| unwritable(&error).at(path))
}

/// As [`write_whole`], for as long as the clock lets it: `fill` asks it by way of [`Watched`]. Once it says stop, what was
/// there before stays.
pub(super) fn write_by(
    path: &Path,
    clock: &Clock<'_>,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<()> {
    write_whole(path, fill).map_err(|error| clock.stopped().map_or(error, Error::from))
}

/// A writer that asks the clock before every piece. After an error it takes in whatever comes and drops it: packers write
/// their end when they are dropped, and the one of archives prints what goes wrong then.
pub(super) struct Watched<'a, W> {
    to: W,
    clock: &'a Clock<'a>,
    progress: Progress,
    has_failed: bool,
}

impl<'a, W> Watched<'a, W> {
    pub(super) fn new(to: W, clock: &'a Clock<'a>) -> Self {
        Self { to, clock, progress: Progress::new(Stage::Write, 0), has_failed: false }
    }
}

impl<W: Write> Watched<'_, W> {
    fn write_piece(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.clock.report(&self.progress).map_err(|_| io::Error::other("stopped"))?;
        let n_written = self.to.write(&bytes[..bytes.len().min(PIECE)])?;
        self.progress.done += n_written as u64;
        Ok(n_written)
    }
}

impl<W: Write> Write for Watched<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.has_failed {
            return Ok(bytes.len());
        }
        let written = self.write_piece(bytes);
        // What a signal interrupted is tried again.
        self.has_failed = written.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::Interrupted);
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

impl<W: Seek> Seek for Watched<'_, W> {
    fn seek(&mut self, place: SeekFrom) -> io::Result<u64> {
        self.to.seek(place)
    }
}

/// Bytes that are written without asking the clock: to pack them takes some hundredths of a second.
pub(super) const PIECE: usize = 1 << 20;

/// Finds out early whether [`write_whole`] can succeed, without touching anything.
///
/// # Errors
/// When it cannot.
pub fn check_writable(path: &Path) -> Result<()> {
    let check = || -> io::Result<()> {
        match destination(path)? {
            Destination::Descriptor(number) => open_descriptor(path, number).map(drop),
            // To open a pipe would wait for whoever reads it.
            Destination::Special => Ok(()),
            Destination::Ordinary { path, .. } => temporary_beside(&path)?.close(),
        }
    };
    check().map_err(|error| unwritable(&error).at(path))
}

/// Removes the temporary files that this process has beside `path`, for a process that is about to end: a
/// [`write_whole`] that is still running will fail.
pub fn remove_temporaries(path: &Path) {
    let Ok(Destination::Ordinary { path, .. }) = destination(path) else { return };
    let Ok(entries) = fs::read_dir(folder_of(&path)) else { return };
    let prefix = prefix();
    let ours = |entry: &fs::DirEntry| entry.file_name().as_encoded_bytes().starts_with(prefix.as_bytes());
    for entry in entries.flatten().filter(ours) {
        let _ = fs::remove_file(entry.path());
    }
}

enum Destination {
    Ordinary {
        path: PathBuf,
        replaced: Option<Metadata>,
    },
    Special,
    /// What this descriptor is open for.
    Descriptor(u32),
}

/// Links that are followed at most.
const MAX_LINKS: usize = 40;

/// Where an output goes: links are followed, so that the file behind them is replaced and not the link.
fn destination(path: &Path) -> io::Result<Destination> {
    let mut path = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        if let Some(number) = descriptor(&path) {
            return Ok(Destination::Descriptor(number));
        }
        match fs::read_link(&path) {
            Ok(target) => path = folder_of(&path).join(target),
            Err(_) => break,
        }
    }
    match fs::metadata(&path) {
        Ok(data) if data.is_dir() => {
            Err(io::Error::new(io::ErrorKind::IsADirectory, "is a directory, not a file"))
        }
        Ok(data) if !data.is_file() => Ok(Destination::Special),
        Ok(data) => {
            // A file that may not be written is not to be replaced either.
            OpenOptions::new().write(true).open(&path)?;
            Ok(Destination::Ordinary { path, replaced: Some(data) })
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Ok(Destination::Ordinary { path, replaced: None })
        }
        Err(error) => Err(error),
    }
}

/// The descriptor of this process that a path names, such as `/dev/fd/3` or `/proc/self/fd/3`.
fn descriptor(path: &Path) -> Option<u32> {
    let number = path.file_name()?.to_str()?.parse().ok()?;
    let folder = fs::canonicalize(path.parent()?).ok()?;
    let is_own = |known: &str| fs::canonicalize(known).is_ok_and(|known| known == folder);
    ["/dev/fd", "/proc/self/fd"].into_iter().any(is_own).then_some(number)
}

/// What a descriptor is open for, to be added to: whoever opened it has written there, or will.
fn open_descriptor(path: &Path, number: u32) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        // The same place in the file, so that neither writes over the other.
        match number {
            1 => return Ok(io::stdout().as_fd().try_clone_to_owned()?.into()),
            2 => return Ok(io::stderr().as_fd().try_clone_to_owned()?.into()),
            _ => {}
        }
    }
    let _ = number;
    OpenOptions::new().append(true).open(path)
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// How the names of temporary files of this process start.
fn prefix() -> String {
    format!(".ncut-{}-", std::process::id())
}

fn temporary_beside(path: &Path) -> io::Result<NamedTempFile> {
    if path.file_name().is_none() || path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "is no name for a file"));
    }
    let prefix = prefix();
    let mut builder = Builder::new();
    builder.prefix(&prefix);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // What any program would create; the user's mask applies.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder_of(path))
}

/// Gives a file the owner and mode of the one it replaces, as if that had been written to.
fn take_owner_and_mode(file: &File, replaced: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
        let own = file.metadata()?;
        // Only root may give files away; others may change the group to one of theirs.
        if own.uid() != replaced.uid() {
            let _ = fchown(file, Some(replaced.uid()), None);
        }
        if own.gid() != replaced.gid() {
            let _ = fchown(file, None, Some(replaced.gid()));
        }
        // Not the bits by which a program runs as its owner: writing to a file takes these away, too.
        file.set_permissions(fs::Permissions::from_mode(replaced.mode() & 0o777))
    }
    #[cfg(not(unix))]
    {
        file.set_permissions(replaced.permissions())
    }
}

fn unwritable(error: &io::Error) -> Error {
    Error::in_file(None, format!("cannot be written: {}", super::plain(error)))
}
