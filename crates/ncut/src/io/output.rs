//! Outputs that appear whole or not at all.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use crate::error::{Error, Result};

/// Writes a file: `fill` writes to a temporary one beside it, which then takes its name. Something that is
/// no ordinary file, such as `/dev/null`, is written to as it is.
///
/// # Errors
/// When it cannot be written; what was there before is then untouched.
pub fn write_whole(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> Result<()> {
    let write = || -> io::Result<()> {
        match destination(path)? {
            Destination::Special => fill(&mut OpenOptions::new().write(true).open(path)?),
            Destination::Ordinary { path, replaced } => {
                let mut file = temporary_beside(&path, replaced.as_ref())?;
                fill(file.as_file_mut())?;
                file.as_file().sync_all()?;
                file.persist(&path).map_err(|error| error.error)?;
                Ok(())
            }
        }
    };
    write().map_err(|error| unwritable(&error).at(path))
}

/// Finds out early whether [`write_whole`] can succeed, without touching anything.
///
/// # Errors
/// When it cannot.
pub fn check_writable(path: &Path) -> Result<()> {
    let check = || -> io::Result<()> {
        match destination(path)? {
            Destination::Special => Ok(()),
            Destination::Ordinary { path, .. } => temporary_beside(&path, None)?.close(),
        }
    };
    check().map_err(|error| unwritable(&error).at(path))
}

enum Destination {
    Ordinary { path: PathBuf, replaced: Option<Metadata> },
    Special,
}

/// Where an output goes: links are followed, so that the file behind them is replaced and not the link.
fn destination(path: &Path) -> io::Result<Destination> {
    match fs::metadata(path) {
        Ok(data) if data.is_dir() => {
            Err(io::Error::new(io::ErrorKind::IsADirectory, "is a directory, not a file"))
        }
        Ok(data) if !data.is_file() => Ok(Destination::Special),
        Ok(data) => {
            // A file that may not be written is not to be replaced either.
            OpenOptions::new().write(true).open(path)?;
            Ok(Destination::Ordinary { path: fs::canonicalize(path)?, replaced: Some(data) })
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // A link to a file that is yet to be.
            let target = fs::read_link(path).ok().map(|target| match path.parent() {
                Some(folder) => folder.join(target),
                None => target,
            });
            Ok(Destination::Ordinary { path: target.unwrap_or_else(|| path.to_path_buf()), replaced: None })
        }
        Err(error) => Err(error),
    }
}

fn temporary_beside(path: &Path, replaced: Option<&Metadata>) -> io::Result<NamedTempFile> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if path.file_name().is_none() || path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "is no name for a file"));
    }
    let mut builder = Builder::new();
    builder.prefix(".ncut-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // What any program would create; the user's mask applies.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let file = builder.tempfile_in(folder)?;
    if let Some(data) = replaced {
        file.as_file().set_permissions(data.permissions())?;
    }
    Ok(file)
}

fn unwritable(error: &io::Error) -> Error {
    Error::in_file(None, format!("cannot be written: {}", super::plain(error)))
}
