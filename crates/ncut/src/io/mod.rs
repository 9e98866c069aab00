//! Files: graphs and labels in the formats people have, chosen by the file's name.
//!
//! | name | graph |
//! | --- | --- |
//! | `.txt .tsv .csv .edges` | edge list: `from to [weight]` a line |
//! | `.mtx` | Matrix Market, coordinate |
//! | `.graph .metis` | METIS |
//! | `.npz` | `scipy.sparse.save_npz` |
//! | `.graphml .gexf .gml .net .json` | GraphML, GEXF, GML, Pajek, node-link JSON |
//! | `.ncut` | our own: mapped into memory, not read |
//!
//! Text may be compressed: `.gz` or `.zst` after the name. Outputs appear whole or not at all. Labels and tables of
//! points may also be `.parquet`, with the cargo feature `parquet`.

mod binary;
mod classes;
mod columns;
mod described_table;
mod edge_chunk;
mod edge_list;
mod fields;
mod gexf;
mod gml;
mod graphml;
mod labels;
mod listed;
mod wishes;
mod matrix_market;
mod metis;
mod names;
mod numbers;
mod npy;
mod node_link;
mod npz;
mod outline;
mod output;
mod pajek;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(not(feature = "parquet"))]
#[path = "no_parquet.rs"]
mod parquet;
mod table;
mod table_chunk;
mod text;
mod xml;
#[cfg(feature = "zstd")]
mod zst;
#[cfg(not(feature = "zstd"))]
#[path = "no_zst.rs"]
mod zst;

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Cursor, Read, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::graph::{EdgeSorter, Graph, Spilling, Symmetrize};
use crate::memory;
use crate::metrics::Label;
use crate::progress::Clock;

pub use classes::{Classes, read_classes, read_named_classes};
pub use columns::EdgeColumns;
pub use described_table::{TableFile, TableOptions, parse_table_file, read_described_table};
pub use edge_list::Header;
pub use fields::Separator;
pub use labels::{
    LabelFormat, are_written_with_graph, check_labels_writable, parse_labels, read_labels, write_label_grid,
    write_labels, write_labels_text,
};
use listed::{ListedGraph, Listing};
pub use names::Names;
use outline::Outline;
use output::{PIECE, Watched, write_by};
pub use output::{check_writable, remove_temporaries, write_whole};
pub use table::{Table, parse_table, read_table};
use text::{Compression, Lines};
pub use wishes::{
    OldLabels, read_node_weights, read_old_labels, read_pairs, read_some_labels, write_confidence,
};

/// A graph as a file holds it.
#[derive(Clone, Debug)]
pub struct GraphFile {
    /// The graph.
    pub graph: Graph<'static>,
    /// The nodes' own ids, where the format has them (edge lists, and what was made of them).
    pub names: Option<Names>,
    /// The first line of an edge list, where it was taken for a header and skipped.
    pub header: Option<String>,
    /// Columns of an edge list that are not read: their names, or their numbers where there is no header. Of a file without
    /// weights that lists nodes and edges, attributes of the edges that are numbers.
    pub ignored_columns: Vec<String>,
}

impl GraphFile {
    /// A graph whose nodes have these ids, or none.
    fn new(graph: Graph<'static>, names: Option<Names>) -> Self {
        Self { graph, names, header: None, ignored_columns: Vec::new() }
    }

    /// The ends of the first edge, where both are words that no other edge names: they may be a header that nobody knows.
    pub fn first_edge_alone(&self) -> Option<[String; 2]> {
        let names = self.names.as_ref().filter(|_| self.header.is_none())?;
        let only = |node, other| self.graph.neighbors(node).map(|(neighbor, _)| neighbor).eq([other]);
        if self.graph.n_nodes() < 3 || !only(0, 1) || !only(1, 0) {
            return None;
        }
        let ends = [0, 1].map(|node| names.get(node).into_owned());
        ends.iter().all(|name| columns::is_name(name)).then_some(ends)
    }

    /// Makes sure that what a `.ncut` file holds is what was written, names and all; all other files were checked when
    /// they were read. Algorithms call [`Graph::verify`] themselves; this lets `clock` see it, and stop it.
    ///
    /// # Errors
    /// When the file is damaged, or the clock says stop.
    pub fn verify(&self, clock: &Clock<'_>) -> Result<()> {
        self.graph.verify_observed(clock)?;
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
    /// GraphML: XML.
    GraphMl,
    /// GEXF: XML.
    Gexf,
    /// GML: keys and values.
    Gml,
    /// Pajek: a network of vertices counted from 1.
    Pajek,
    /// Node-link JSON.
    NodeLink,
    /// Columns of both ends and, if there is one, the weight, found as in an edge list. Needs the cargo feature `parquet`.
    Parquet,
    /// Our own: the arrays of a graph, to be mapped into memory.
    Binary,
}

/// How to read a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The ending that tells the format, such as `csv.gz`, in place of that of the file's name.
    pub format: Option<String>,
    /// What to do with a matrix that is not symmetric, and with edges that lead one way. Those of an edge list do where this is
    /// not [`Symmetrize::Refuse`]; otherwise they are edges without a direction.
    pub symmetrize: Symmetrize,
    /// Whether the first line of an edge list is a header.
    pub header: Header,
    /// Which columns of an edge list hold the ends and the weight. By default a header tells, or they are the first. Of GraphML,
    /// GEXF, GML and JSON the weight may be named: `source,target,strength`.
    pub columns: Option<EdgeColumns>,
    /// When the arrays of a `.ncut` file are checked.
    pub verification: Verification,
    /// Bytes of memory that the edges of an edge list or of a symmetric Matrix Market file may take, about. Those that
    /// are more are sorted in temporary files beside the file, and the graph is a mapped one; arrays over the nodes come
    /// on top. Other files that are estimated to need more are refused. What [`Clock::memory`] allows holds in any case.
    pub memory_limit: Option<u64>,
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
            Some("graphml") => Self::GraphMl,
            Some("gexf") => Self::Gexf,
            Some("gml") => Self::Gml,
            Some("net") => Self::Pajek,
            Some("json") => Self::NodeLink,
            Some("parquet") => {
                parquet::check_known().map_err(|error| error.at(path))?;
                Self::Parquet
            }
            Some("ncut") => Self::Binary,
            _ => {
                let problem = "unknown kind of graph file; known endings are .txt .tsv .csv .edges .mtx .graph \
                               .metis .graphml .gexf .gml .net .json (each also with .gz or .zst), .npz, .parquet and .ncut";
                return Err(Error::in_file(None, problem).at(path));
            }
        };
        if matches!(format, Self::Npz | Self::Parquet) && compression != Compression::None {
            let kind = if format == Self::Npz { "an .npz" } else { "a .parquet" };
            let problem = format!("{kind} file is compressed inside; unpack the outer layer");
            return Err(Error::in_file(None, problem).at(path));
        }
        if format == Self::Binary && compression != Compression::None {
            let problem = "an .ncut file is mapped into memory as it is; unpack it first";
            return Err(Error::in_file(None, problem).at(path));
        }
        Ok(format)
    }

    /// Whether a caller may tell where the weights are.
    fn has_columns(self) -> bool {
        !matches!(self, Self::MatrixMarket | Self::Metis | Self::Npz | Self::Pajek | Self::Binary)
    }

    /// Whether the nodes keep their ids in a file of this format.
    pub fn keeps_ids(self) -> bool {
        !matches!(self, Self::MatrixMarket | Self::Metis | Self::Npz)
    }

    /// Whether a file of this format can hold the clusters of the nodes beside the graph.
    pub fn holds_labels(self) -> bool {
        matches!(self, Self::GraphMl | Self::Gexf | Self::Gml)
    }
}

/// Reads a graph from a file, in the format its name or [`ReadOptions::format`] tells.
///
/// # Errors
/// When the file cannot be read or holds no graph, naming file, line and cause; or when the clock says stop.
pub fn read_graph(path: &Path, options: &ReadOptions, clock: &Clock<'_>) -> Result<GraphFile> {
    if path.is_dir() {
        return Err(Error::in_file(None, "is a directory, not a file").at(path));
    }
    let name = options.name_of(path);
    let format = GraphFormat::of(&name).map_err(|error| unknown_name(error, options, path))?;
    Source::File(path, &name, clock).read(format, options).map_err(|error| error.at(path))
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

/// Reads a graph from the bytes of a file, in the format its name or [`ReadOptions::format`] tells, as [`read_graph`] does:
/// where there are no files.
///
/// # Errors
/// As [`read_graph`].
///
/// ```
/// use std::path::Path;
/// use ncut::Clock;
/// use ncut::io::{ReadOptions, parse_graph_file};
/// let file = parse_graph_file(b"ann,bob,2\nbob,eve,1\n", Path::new("friends.csv"), &ReadOptions::default(), &Clock::new())?;
/// assert_eq!(file.graph.n_nodes(), 3);
/// # Ok::<(), ncut::Error>(())
/// ```
pub fn parse_graph_file(
    bytes: &[u8],
    name: &Path,
    options: &ReadOptions,
    clock: &Clock<'_>,
) -> Result<GraphFile> {
    let told = options.name_of(name);
    let format = GraphFormat::of(&told).map_err(|error| unknown_name(error, options, name))?;
    Source::Named(bytes, &told, clock).read(format, options).map_err(|error| error.at(name))
}

/// Reads a graph from one file and writes it to another, in the formats their names tell, whole or not at all. Returns
/// what the second one holds.
///
/// Where [`ReadOptions::memory_limit`] is less than the edges need and the second file is a `.ncut` one, they go to it
/// by way of temporary files beside it, and never are in memory all at once.
///
/// # Errors
/// As [`read_graph`] and [`write_graph`].
pub fn convert_graph(from: &Path, to: &Path, options: &ReadOptions, clock: &Clock<'_>) -> Result<GraphFile> {
    if options.memory_limit.is_none() || GraphFormat::of(to)? != GraphFormat::Binary {
        let file = read_graph(from, options, clock)?;
        write_graph_by(to, &file.graph, file.names.as_ref(), clock)?;
        return Ok(file);
    }
    let name = options.name_of(from);
    let format = GraphFormat::of(&name).map_err(|error| unknown_name(error, options, from))?;
    let spilling = options.spilling_beside(to);
    let contents = Source::File(from, &name, clock).contents(format, options, spilling.as_ref());
    match contents.map_err(|error| error.at(from))? {
        Contents::Edges(edges) if edges.sorter.is_spilled() => {
            let Collected { sorter, n_nodes, names, header, ignored_columns } = edges;
            let mut sorter = Some(sorter);
            let mut refused = None;
            let written = write_by(to, clock, |file| {
                let sorter = sorter.take().expect("it is called once");
                let written = binary::write_sorted(
                    &mut Watched::new(file, clock),
                    sorter,
                    n_nodes,
                    names.as_ref(),
                    spilling.as_ref(),
                );
                written.map_err(|error| {
                    refused = Some(error);
                    io::Error::other("the graph was refused")
                })
            });
            if let (Some(error), None) = (refused, clock.stopped()) {
                return Err(error.at(from));
            }
            written?;
            let trusted = ReadOptions { verification: Verification::Never, ..ReadOptions::default() };
            Ok(GraphFile { header, ignored_columns, ..read_graph(to, &trusted, &Clock::new())? })
        }
        contents => {
            let file = contents.finish(None).map_err(|error| error.at(from))?;
            write_graph_by(to, &file.graph, file.names.as_ref(), clock)?;
            Ok(file)
        }
    }
}

/// Writes a graph to a file, in the format its name tells: whole or not at all.
///
/// # Errors
/// When the file cannot be written, or the format cannot hold the graph.
pub fn write_graph(path: &Path, graph: &Graph<'_>, names: Option<&Names>) -> Result<()> {
    write_graph_by(path, graph, names, &Clock::new())
}

/// As [`write_graph`], telling the clock how it goes.
///
/// # Errors
/// Also when the clock says stop; what was there before is then untouched.
pub fn write_graph_by(
    path: &Path,
    graph: &Graph<'_>,
    names: Option<&Names>,
    clock: &Clock<'_>,
) -> Result<()> {
    write_outline(path, &Outline { graph, names, labels: None }, clock)
}

/// Writes a graph to a file with the cluster of every node, as an attribute `cluster`; in a format that
/// [holds labels](GraphFormat::holds_labels).
///
/// # Errors
/// As [`write_graph`]; also when the format holds none, or there is not one label for each node.
pub fn write_labelled_graph(
    path: &Path,
    graph: &Graph<'_>,
    names: Option<&Names>,
    labels: &[Label],
) -> Result<()> {
    if !GraphFormat::of(path)?.holds_labels() {
        let problem = "a graph with its labels is written as .graphml, .gexf or .gml; choose such a name";
        return Err(Error::in_file(None, problem).at(path));
    }
    if labels.len() != graph.n_nodes() {
        let (n_labels, n_nodes) = (labels.len(), graph.n_nodes());
        return Err(Error::labels(format!("{n_labels} labels do not fit a graph of {n_nodes} nodes")));
    }
    write_outline(path, &Outline { graph, names, labels: Some(labels) }, &Clock::new())
}

fn write_outline(path: &Path, outline: &Outline<'_>, clock: &Clock<'_>) -> Result<()> {
    let Outline { graph, names, .. } = *outline;
    graph.verify_observed(clock)?;
    let write_text = |fill: &dyn Fn(&mut dyn Write) -> io::Result<()>| {
        let fill = |packer: &mut dyn Write| {
            // The clock is asked before text is packed: a packer may take in much before it gives anything out.
            let mut writer = BufWriter::with_capacity(PIECE, Watched::new(packer, clock));
            fill(&mut writer)?;
            writer.flush()
        };
        write_by(path, clock, |file| Compression::of(path).1.write(file, fill))
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
        GraphFormat::GraphMl => {
            xml::check_ids(names).map_err(|error| error.at(path))?;
            write_text(&|writer| graphml::write(writer, outline))
        }
        GraphFormat::Gexf => {
            xml::check_ids(names).map_err(|error| error.at(path))?;
            write_text(&|writer| gexf::write(writer, outline))
        }
        GraphFormat::Gml => write_text(&|writer| gml::write(writer, outline)),
        GraphFormat::Pajek => {
            pajek::check_writable(outline).map_err(|error| error.at(path))?;
            write_text(&|writer| pajek::write(writer, outline))
        }
        GraphFormat::NodeLink => write_text(&|writer| node_link::write(writer, outline)),
        GraphFormat::Npz => write_by(path, clock, |file| npz::write(&mut Watched::new(file, clock), graph)),
        GraphFormat::Parquet => write_by(path, clock, |file| parquet::write_edges(file, graph, names)),
        GraphFormat::Binary => {
            write_by(path, clock, |file| binary::write(&mut Watched::new(file, clock), graph, names))
        }
    }
}

/// All bytes of a file, such as a picture's.
///
/// # Errors
/// When it cannot be read, or has more bytes than the clock allows to take.
pub fn read_bytes(path: &Path, clock: &Clock<'_>) -> Result<Vec<u8>> {
    let read = || {
        let mut bytes = Vec::new();
        let problem = |error: io::Error| Error::in_file(None, format!("cannot be read: {}", plain(&error)));
        let mut file = open(path)?;
        let n_bytes = file.metadata().map_or(0, |data| data.len());
        memory::check(clock, "reading the file", n_bytes, "use a smaller file")?;
        file.read_to_end(&mut bytes).map_err(problem)?;
        Ok(bytes)
    };
    read().map_err(|error: Error| error.at(path))
}

/// What helps when a graph in text is too large.
const TEXT_REMEDY: &str =
    "make an .ncut file of it, which takes no memory (`ncut convert IN OUT.ncut --memory-limit 1G`)";

/// What a file holds.
enum Contents {
    Graph(GraphFile),
    Edges(Collected),
}

/// The edges of a file, to be sorted into the rows of a graph.
struct Collected {
    sorter: EdgeSorter,
    n_nodes: usize,
    names: Option<Names>,
    header: Option<String>,
    ignored_columns: Vec<String>,
}

impl Collected {
    /// The graph of edges that lead one way each.
    fn matrix(self, symmetrize: Symmetrize) -> Result<GraphFile> {
        let Self { sorter, n_nodes, names, header, ignored_columns } = self;
        Ok(GraphFile { graph: sorter.matrix(n_nodes, symmetrize)?, names, header, ignored_columns })
    }
}

impl Contents {
    fn finish(self, spilling: Option<&Spilling>) -> Result<GraphFile> {
        match self {
            Self::Graph(file) => Ok(file),
            Self::Edges(Collected { sorter, n_nodes, names, header, ignored_columns }) => match spilling {
                Some(spilling) if sorter.is_spilled() => {
                    let problem = |error: io::Error| {
                        let folder = spilling.folder.display();
                        Error::in_file(
                            None,
                            format!("no temporary file can be made in {folder}: {}", plain(&error)),
                        )
                    };
                    let mut file = tempfile::tempfile_in(&spilling.folder).map_err(problem)?;
                    binary::write_sorted(&mut file, sorter, n_nodes, names.as_ref(), Some(spilling))?;
                    Ok(GraphFile {
                        header,
                        ignored_columns,
                        ..binary::map(&file, None, Verification::Never)?
                    })
                }
                _ => Ok(GraphFile { graph: sorter.graph(n_nodes)?, names, header, ignored_columns }),
            },
        }
    }
}

/// Says how to tell the format where a name does not.
fn unknown_name(error: Error, options: &ReadOptions, path: &Path) -> Error {
    match (error, &options.format) {
        (Error::BadFile { problem, .. }, Some(format)) => {
            Error::in_file(None, format!("the format is given as `{format}`: {problem}")).at(path)
        }
        (Error::BadFile { problem, .. }, None) => {
            Error::in_file(None, format!("{problem} (--format NAME tells another)")).at(path)
        }
        (error, _) => error,
    }
}

/// Reads a file that lists nodes and edges, with what it tells of clusters; the budget is that of the lines.
fn read_listed(lines: &mut Lines<'_>, format: GraphFormat, how: Listing) -> Result<ListedGraph> {
    if format == GraphFormat::Pajek {
        let budget = lines.strict_budget();
        return pajek::read(lines, Listing { budget, ..how });
    }
    let bytes = lines.read_all()?;
    let budget = lines.strict_budget().map(|budget| budget.saturating_sub(bytes.len() as u64));
    let how = Listing { budget, ..how };
    match format {
        GraphFormat::GraphMl => graphml::read(&bytes, how),
        GraphFormat::Gexf => gexf::read(&bytes, how),
        GraphFormat::Gml => gml::read(&bytes, how),
        _ => node_link::read(&bytes, how),
    }
}

impl ReadOptions {
    /// The name by whose ending a file is read.
    fn name_of(&self, path: &Path) -> PathBuf {
        match &self.format {
            Some(format) => PathBuf::from(format!("graph.{}", format.trim_start_matches('.'))),
            None => path.to_path_buf(),
        }
    }

    /// Temporary files beside `path`, if memory is limited.
    fn spilling_beside(&self, path: &Path) -> Option<Spilling> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        self.memory_limit.map(|limit| Spilling { limit, folder: folder.to_path_buf() })
    }
}

/// Where a graph is read from.
enum Source<'s> {
    /// The file, the name by whose ending it is read, and the clock.
    File(&'s Path, &'s Path, &'s Clock<'s>),
    Bytes(&'s [u8]),
    /// The bytes of a file, the name by whose ending they are read, and the clock.
    Named(&'s [u8], &'s Path, &'s Clock<'s>),
}

impl<'s> Source<'s> {
    fn read(self, format: GraphFormat, options: &ReadOptions) -> Result<GraphFile> {
        let spilling = match &self {
            Self::File(path, ..) => options.spilling_beside(path),
            // What is in memory already may as well be sorted there.
            Self::Bytes(_) | Self::Named(..) => None,
        };
        self.contents(format, options, spilling.as_ref())?.finish(spilling.as_ref())
    }

    fn contents(
        self,
        format: GraphFormat,
        options: &ReadOptions,
        spilling: Option<&Spilling>,
    ) -> Result<Contents> {
        let limit = spilling.map(|spilling| spilling.limit);
        if options.columns.is_some() && !format.has_columns() {
            let problem = "columns are named for edge lists; in this format the places of ends and weights are fixed: leave \
                           --columns out";
            return Err(Error::in_file(None, problem));
        }
        match format {
            GraphFormat::EdgeList(separator) => {
                let lines = &mut self.lines()?.within(limit);
                let edges = edge_list::read(lines, separator, options, spilling)?;
                match options.symmetrize {
                    Symmetrize::Refuse => Ok(Contents::Edges(edges)),
                    how => edges.matrix(how).map(Contents::Graph),
                }
            }
            GraphFormat::MatrixMarket => {
                matrix_market::read(&mut self.lines()?.within(limit), options.symmetrize, spilling)
            }
            GraphFormat::Metis => {
                metis::read(&mut self.lines()?.within(limit), options.symmetrize).map(Contents::Graph)
            }
            GraphFormat::GraphMl
            | GraphFormat::Gexf
            | GraphFormat::Gml
            | GraphFormat::Pajek
            | GraphFormat::NodeLink => {
                let how = Listing::by(options)?;
                let listed = read_listed(&mut self.lines()?.within(limit), format, how)?;
                Ok(Contents::Graph(listed.file))
            }
            GraphFormat::Npz => match self {
                Self::File(path, _, clock) => {
                    let budget = limit.into_iter().chain(clock.memory()).min();
                    let file = open(path)?;
                    if is_ordinary(&file) {
                        npz::read(BufReader::new(file), options, budget)
                    } else {
                        // An archive is read from its end, which a pipe has not.
                        let bytes = Lines::open_as(path, Path::new("graph.npz"), Some(clock))?.read_all()?;
                        npz::read(Cursor::new(bytes), options, budget)
                    }
                }
                Self::Bytes(bytes) => npz::read(Cursor::new(bytes), options, None),
                Self::Named(bytes, _, clock) => npz::read(Cursor::new(bytes), options, clock.memory()),
            }
            .map(Contents::Graph),
            GraphFormat::Parquet => {
                match self {
                    Self::File(path, _, clock) => {
                        let budget = limit.into_iter().chain(clock.memory()).min();
                        let file = open(path)?;
                        match is_ordinary(&file) {
                            true => parquet::read_edges(file, options, budget),
                            // It is read from its end, which a pipe has not.
                            false => {
                                let mut lines = Lines::open_as(path, Path::new("graph.npz"), Some(clock))?;
                                parquet::parse_edges(&lines.read_all()?, options, budget)
                            }
                        }
                    }
                    Self::Bytes(bytes) => parquet::parse_edges(bytes, options, None),
                    Self::Named(bytes, _, clock) => parquet::parse_edges(bytes, options, clock.memory()),
                }
            }
            .map(Contents::Graph),
            GraphFormat::Binary => {
                let (file, clock) = match self {
                    Self::File(path, _, clock) => (binary::open(path, options.verification)?, Some(clock)),
                    Self::Bytes(bytes) => (binary::parse(bytes, options.verification)?, None),
                    Self::Named(bytes, _, clock) => {
                        (binary::parse(bytes, options.verification)?, Some(clock))
                    }
                };
                if options.verification == Verification::AtOnce {
                    file.verify(clock.unwrap_or(&Clock::new()))?;
                }
                Ok(Contents::Graph(file))
            }
        }
    }

    fn lines(self) -> Result<Lines<'s>> {
        match self {
            Self::File(path, name, clock) => Lines::open_as(path, name, Some(clock)),
            Self::Bytes(bytes) => Ok(Lines::of_bytes(bytes)),
            Self::Named(bytes, name, clock) => Lines::of_file(bytes, name, clock),
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

/// Whether a file can be read from any place, as pipes cannot.
fn is_ordinary(file: &File) -> bool {
    file.metadata().is_ok_and(|data| data.is_file())
}

/// An operating system's message without its number.
fn plain(error: &io::Error) -> String {
    let message = error.to_string();
    match message.find(" (os error") {
        Some(end) => message[..end].to_lowercase(),
        None => message,
    }
}
