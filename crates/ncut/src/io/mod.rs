//! Files: graphs and labels in the formats people have, chosen by the file's name.
//!
//! | name | graph |
//! | --- | --- |
//! | `.txt .tsv .csv .edges` | edge list: `from to [weight]` a line |
//! | `.mtx` | Matrix Market, coordinate |
//! | `.graph .metis` | METIS |
//! | `.npz` | `scipy.sparse.save_npz` |
//! | `.ncut` | our own: mapped into memory, not read |
//!
//! Text may be compressed: `.gz` or `.zst` after the name. Outputs appear whole or not at all. Labels and tables of
//! points may also be `.parquet`, with the cargo feature `parquet`.

mod binary;
mod edge_list;
mod fields;
mod labels;
mod matrix_market;
mod metis;
mod names;
mod npy;
mod npz;
mod output;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(not(feature = "parquet"))]
#[path = "no_parquet.rs"]
mod parquet;
mod table;
mod text;

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Write};
use std::path::Path;

use crate::error::{Error, Result};
use crate::graph::{Graph, Symmetrize};
use crate::progress::{Observer, unobserved};

pub use edge_list::Header;
pub use fields::Separator;
pub use labels::{
    LabelFormat, check_labels_writable, parse_labels, read_labels, write_label_grid, write_labels,
    write_labels_text,
};
pub use names::Names;
pub use output::{check_writable, write_whole};
pub use table::{Table, parse_table, read_table};
use text::{Compression, Lines};

/// A graph as a file holds it.
#[derive(Clone, Debug)]
pub struct GraphFile {
    /// The graph.
    pub graph: Graph<'static>,
    /// The nodes' own ids, where the format has them (edge lists, and what was made of them).
    pub names: Option<Names>,
    /// The first line of an edge list, where it was taken for a header and skipped.
    pub header: Option<String>,
}

impl GraphFile {
    /// Makes sure that what a `.ncut` file holds is what was written, names and all; all other files were checked when
    /// they were read. Algorithms call [`Graph::verify`] themselves; this lets `observe` see it, and stop it.
    ///
    /// # Errors
    /// When the file is damaged, or `observe` says stop.
    pub fn verify(&self, observe: Observer<'_>) -> Result<()> {
        self.graph.verify_observed(observe)?;
        self.names.as_ref().map_or(Ok(()), Names::verify)
    }
}

/// A format for graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GraphFormat {
    /// One edge a line: two ids and, if there is one, the weight.
    EdgeList(Separator),
    /// Matrix Market.
    MatrixMarket,
    /// METIS: one node a line.
    Metis,
    /// A sparse matrix of scipy.
    Npz,
    /// Our own: the arrays of a graph, to be mapped into memory.
    Binary,
}

/// How to read a graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// What to do with a matrix that is not symmetric.
    pub symmetrize: Symmetrize,
    /// Whether the first line of an edge list is a header.
    pub header: Header,
    /// When the arrays of a `.ncut` file are checked.
    pub verification: Verification,
}

/// When the arrays of a `.ncut` file are checked. Opening always checks its header, and that everything the header
/// promises is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Verification {
    /// Before they are first used ([`Graph::verify`]): opening takes no longer for a large file than for a small one.
    #[default]
    BeforeUse,
    /// When the file is opened, its names too.
    AtOnce,
    /// Not at all: the file is trusted, and what is done with a damaged one may panic or be wrong.
    Never,
}

impl GraphFormat {
    /// The format a file's name tells, compression endings left aside.
    ///
    /// # Errors
    /// When the ending is not known.
    pub fn of(path: &Path) -> Result<Self> {
        let (stem, compression) = Compression::of(path);
        let format = match text::ending(&stem).as_deref() {
            Some("txt" | "edges") => Self::EdgeList(Separator::Detect),
            Some("tsv") => Self::EdgeList(Separator::Tab),
            Some("csv") => Self::EdgeList(Separator::Comma),
            Some("mtx") => Self::MatrixMarket,
            Some("graph" | "metis") => Self::Metis,
            Some("npz") => Self::Npz,
            Some("ncut") => Self::Binary,
            _ => {
                let problem = "unknown kind of graph file; known endings are .txt .tsv .csv .edges .mtx .graph \
                               .metis (each also with .gz or .zst), .npz and .ncut";
                return Err(Error::in_file(None, problem).at(path));
            }
        };
        if format == Self::Npz && compression != Compression::None {
            return Err(
                Error::in_file(None, "an .npz file is compressed inside; unpack the outer layer").at(path)
            );
        }
        if format == Self::Binary && compression != Compression::None {
            let problem = "an .ncut file is mapped into memory as it is; unpack it first";
            return Err(Error::in_file(None, problem).at(path));
        }
        Ok(format)
    }
}

/// Reads a graph from a file, in the format its name tells.
///
/// # Errors
/// When the file cannot be read or holds no graph, naming file, line and cause; or when `observe` says stop.
pub fn read_graph(path: &Path, options: &ReadOptions, observe: Observer<'_>) -> Result<GraphFile> {
    if path.is_dir() {
        return Err(Error::in_file(None, "is a directory, not a file").at(path));
    }
    let format = GraphFormat::of(path)?;
    Source::File(path, observe).read(format, options).map_err(|error| error.at(path))
}

/// Reads a graph from bytes that are not compressed.
///
/// # Errors
/// When they hold no graph, naming line and cause.
///
/// ```
/// use ncut::io::{GraphFormat, ReadOptions, Separator, parse_graph};
/// let format = GraphFormat::EdgeList(Separator::Detect);
/// let file = parse_graph(b"ann bob 2\nbob eve 1\n", format, &ReadOptions::default())?;
/// assert_eq!(file.graph.degree(1), 3.0);
/// assert_eq!(file.names.unwrap().get(2), "eve");
/// # Ok::<(), ncut::Error>(())
/// ```
pub fn parse_graph(bytes: &[u8], format: GraphFormat, options: &ReadOptions) -> Result<GraphFile> {
    Source::Bytes(bytes).read(format, options)
}

/// Writes a graph to a file, in the format its name tells: whole or not at all.
///
/// # Errors
/// When the file cannot be written, or the format cannot hold the graph.
pub fn write_graph(path: &Path, graph: &Graph<'_>, names: Option<&Names>) -> Result<()> {
    graph.verify()?;
    let write_text = |fill: &dyn Fn(&mut dyn Write) -> io::Result<()>| {
        write_whole(path, |file| Compression::of(path).1.write(file, fill))
    };
    match GraphFormat::of(path)? {
        GraphFormat::EdgeList(separator) => {
            write_text(&|writer| edge_list::write(writer, graph, names, separator))
        }
        GraphFormat::MatrixMarket => write_text(&|writer| matrix_market::write(writer, graph)),
        GraphFormat::Metis => {
            metis::check_writable(graph).map_err(|error| error.at(path))?;
            write_text(&|writer| metis::write(writer, graph))
        }
        GraphFormat::Npz => write_whole(path, |file| npz::write(file, graph)),
        GraphFormat::Binary => write_whole(path, |file| binary::write(file, graph, names)),
    }
}

/// All bytes of a file, such as a picture's.
///
/// # Errors
/// When it cannot be read.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    let read = || {
        let mut bytes = Vec::new();
        let problem = |error: io::Error| Error::in_file(None, format!("cannot be read: {}", plain(&error)));
        open(path)?.read_to_end(&mut bytes).map_err(problem)?;
        Ok(bytes)
    };
    read().map_err(|error: Error| error.at(path))
}

/// Where a graph is read from.
enum Source<'s> {
    File(&'s Path, Observer<'s>),
    Bytes(&'s [u8]),
}

impl<'s> Source<'s> {
    fn read(self, format: GraphFormat, options: &ReadOptions) -> Result<GraphFile> {
        match format {
            GraphFormat::EdgeList(separator) => {
                edge_list::read(&mut self.lines()?, separator, options.header)
            }
            GraphFormat::MatrixMarket => matrix_market::read(&mut self.lines()?, options.symmetrize),
            GraphFormat::Metis => metis::read(&mut self.lines()?, options.symmetrize),
            GraphFormat::Npz => match self {
                Self::File(path, _) => npz::read(BufReader::new(open(path)?), options),
                Self::Bytes(bytes) => npz::read(Cursor::new(bytes), options),
            },
            GraphFormat::Binary => {
                let (file, observe) = match self {
                    Self::File(path, observe) => (binary::open(path, options.verification)?, Some(observe)),
                    Self::Bytes(bytes) => (binary::parse(bytes, options.verification)?, None),
                };
                if options.verification == Verification::AtOnce {
                    file.verify(observe.unwrap_or(&mut unobserved))?;
                }
                Ok(file)
            }
        }
    }

    fn lines(self) -> Result<Lines<'s>> {
        match self {
            Self::File(path, observe) => Lines::open(path, Some(observe)),
            Self::Bytes(bytes) => Ok(Lines::of_bytes(bytes)),
        }
    }
}

/// Opens a file for reading; a directory is no file.
fn open(path: &Path) -> Result<File> {
    let problem = |error: io::Error| Error::in_file(None, format!("cannot be opened: {}", plain(&error)));
    let file = File::open(path).map_err(problem)?;
    if file.metadata().map_err(problem)?.is_dir() {
        return Err(Error::in_file(None, "is a directory, not a file"));
    }
    Ok(file)
}

/// An operating system's message without its number.
fn plain(error: &io::Error) -> String {
    let message = error.to_string();
    match message.find(" (os error") {
        Some(end) => message[..end].to_lowercase(),
        None => message,
    }
}
