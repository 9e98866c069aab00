//! Why an input was refused. Hitting a limit or being cancelled is a [`StopReason`] in the result, and an error only where
//! there is no result yet.

use std::fmt::Display;
use std::path::PathBuf;

use crate::progress::{StopReason, Stopped};

/// `Result` with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An input that was refused: what is wrong, where, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A graph needs at least one node.
    #[error("the graph has no nodes")]
    EmptyGraph,

    /// More nodes than node numbers can tell apart.
    #[error("{n_nodes} nodes are too many: node numbers have 32 bits, so {} is the most", u32::MAX)]
    TooManyNodes {
        /// How many there were.
        n_nodes: u64,
    },

    /// The arrays a graph needs cannot be allocated.
    #[error("not enough memory for a graph of {n_nodes} nodes and {n_entries} stored entries")]
    OutOfMemory {
        /// Nodes of the graph.
        n_nodes: usize,
        /// Stored entries: two for an edge, one for a self-loop.
        n_entries: usize,
    },

    /// The work needs more memory than it may take.
    #[error("{}; {}, or {remedy}", memory_problem(what, *needed, *limit), MORE_MEMORY)]
    TooLittleMemory {
        /// What needs it.
        what: &'static str,
        /// Bytes that are needed, about.
        needed: u64,
        /// Bytes that may be taken; `None` where the system has no more.
        limit: Option<u64>,
        /// What else helps.
        remedy: &'static str,
    },

    /// An edge names a node that does not exist.
    #[error("entry ({from}, {to}) is outside the graph, whose nodes are 0 to {}", n_nodes.saturating_sub(1))]
    NodeOutOfRange {
        /// One end of the edge (the row).
        from: u64,
        /// The other end (the column).
        to: u64,
        /// Nodes of the graph.
        n_nodes: usize,
    },

    /// A negative, NaN or infinite weight.
    #[error("{}", weight_problem(from, to, *weight))]
    BadWeight {
        /// One end of the edge.
        from: u64,
        /// The other end.
        to: u64,
        /// Its weight.
        weight: f64,
    },

    /// The weights are finite, their sum is not.
    #[error("the weights add up to more than a 64-bit float can hold; divide them all by a constant first")]
    WeightOverflow,

    /// The two directions of an edge have different weights.
    #[error("{}", asymmetry_problem(from, to, *weight, *mirror))]
    Asymmetric {
        /// Row of the first entry.
        from: u64,
        /// Its column.
        to: u64,
        /// Weight at (from, to).
        weight: f64,
        /// Weight at (to, from), 0 when nothing is stored there.
        mirror: f64,
    },

    /// Arrays that do not fit together.
    #[error("{problem}")]
    BadShape {
        /// What does not fit.
        problem: String,
    },

    /// The number of clusters is not between 1 and the number of nodes.
    #[error("{n_clusters} clusters were asked of {n_nodes} {nodes}; {}", cluster_remedy(*n_clusters, *n_nodes))]
    BadClusterCount {
        /// The number asked for.
        n_clusters: usize,
        /// Nodes that can be clustered.
        n_nodes: usize,
        /// Which nodes they are.
        nodes: &'static str,
    },

    /// Given labels that cannot be used.
    #[error("{problem}")]
    BadLabels {
        /// What is wrong with them.
        problem: String,
    },

    /// Wishes that contradict each other, or that could not be met.
    #[error("{}", filled(problem, nodes, |node| node.to_string()))]
    Contradiction {
        /// What is wrong; `{0}` stands for the first of the nodes, and so on.
        problem: String,
        /// The nodes.
        nodes: Vec<u32>,
    },

    /// A setting outside its range.
    #[error("{name} is {value}; it must be {expected}")]
    BadSetting {
        /// The setting.
        name: &'static str,
        /// What was given.
        value: String,
        /// What is allowed.
        expected: &'static str,
    },

    /// A file could not be understood.
    #[error("{}", place(path.as_ref(), *line, problem))]
    BadFile {
        /// The file, when it has a name.
        path: Option<PathBuf>,
        /// Line of the file, from 1, for text.
        line: Option<u64>,
        /// What is wrong there.
        problem: String,
    },

    /// What a file holds was refused.
    #[error("{}: {error}", path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// Why.
        error: Box<Error>,
    },

    /// An iteration that came to no end.
    #[error("the {what} did not converge; a smaller number of clusters may help")]
    NotConverged {
        /// What was computed.
        what: &'static str,
    },

    /// The [clock](crate::Clock) stopped the work before there was anything to return.
    #[error("{}", match reason {
        StopReason::TimeLimit => "the time limit was reached before there was a result; allow more time",
        _ => "stopped before there was a result",
    })]
    Stopped {
        /// Why.
        reason: StopReason,
    },
}

/// Tells being stopped, which some callers live with, from being refused.
pub(crate) fn or_stopped<T>(result: Result<T>) -> Result<Result<T, Stopped>> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(Error::Stopped { reason }) => Ok(Err(Stopped(reason))),
        Err(error) => Err(error),
    }
}

impl From<Stopped> for Error {
    fn from(Stopped(reason): Stopped) -> Self {
        Self::Stopped { reason }
    }
}

impl Error {
    /// The same error about nodes with other numbers.
    pub(crate) fn with_nodes(self, number: impl Fn(u32) -> u32) -> Self {
        match self {
            Self::Contradiction { problem, nodes } => {
                Self::Contradiction { problem, nodes: nodes.into_iter().map(number).collect() }
            }
            other => other,
        }
    }

    /// The same error with nodes by their names, for those who gave nodes names.
    #[must_use]
    pub fn with_names(self, name: impl Fn(u32) -> String) -> Self {
        let of = |node: u64| u32::try_from(node).map_or_else(|_| node.to_string(), &name);
        match self {
            Self::Contradiction { problem, nodes } => {
                Self::BadLabels { problem: filled(&problem, &nodes, name) }
            }
            Self::BadWeight { from, to, weight } => {
                Self::BadShape { problem: weight_problem(&of(from), &of(to), weight) }
            }
            Self::Asymmetric { from, to, weight, mirror } => {
                Self::BadShape { problem: asymmetry_problem(&of(from), &of(to), weight, mirror) }
            }
            other => other,
        }
    }

    /// What is wrong, without what to do about it where that is told apart: too little memory.
    pub fn problem(&self) -> String {
        match self {
            &Self::TooLittleMemory { what, needed, limit, .. } => memory_problem(what, needed, limit),
            other => other.to_string(),
        }
    }

    /// A problem in a file: at a line, when there is one.
    #[cfg(any(feature = "files", feature = "image"))]
    pub(crate) fn in_file(line: impl Into<Option<u64>>, problem: impl Into<String>) -> Self {
        Self::BadFile { path: None, line: line.into(), problem: problem.into() }
    }

    /// A file that is not what was written.
    #[cfg(feature = "files")]
    pub(crate) fn damaged(problem: &str) -> Self {
        Self::in_file(None, format!("the file is damaged: {problem}; make it anew with `ncut convert`"))
    }

    /// Labels that cannot be used.
    pub(crate) fn labels(problem: impl Into<String>) -> Self {
        Self::BadLabels { problem: problem.into() }
    }

    /// Arrays that do not fit together.
    pub(crate) fn shape(problem: impl Into<String>) -> Self {
        Self::BadShape { problem: problem.into() }
    }

    /// The same error for a file that counts rows and columns from 1.
    #[cfg(feature = "files")]
    pub(crate) fn counted_from_one(self) -> Self {
        match self {
            Self::Asymmetric { from, to, weight, mirror } => {
                Self::Asymmetric { from: from + 1, to: to + 1, weight, mirror }
            }
            other => other,
        }
    }

    /// The same error, naming the file it is about.
    #[must_use]
    pub fn at(self, path: impl Into<PathBuf>) -> Self {
        match self {
            Self::BadFile { path: None, line, problem } => {
                Self::BadFile { path: Some(path.into()), line, problem }
            }
            Self::BadFile { .. } | Self::InFile { .. } | Self::Stopped { .. } => self,
            other => Self::InFile { path: path.into(), error: Box::new(other) },
        }
    }
}

/// How to get more memory on the command line.
const MORE_MEMORY: &str = "allow more (--memory-limit)";

/// What lacks, without a remedy.
fn memory_problem(what: &str, needed: u64, limit: Option<u64>) -> String {
    let needed = size_text(needed);
    match limit {
        Some(limit) => {
            format!("{what} needs about {needed} of memory, but only {} are left for it", size_text(limit))
        }
        None => format!("{what} needs another {needed} of memory, which the system does not have"),
    }
}

/// A number of bytes for people: three digits and a unit.
fn size_text(n_bytes: u64) -> String {
    let units = [(1u64 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|unit| n_bytes >= unit.0) {
        Some((unit, name)) => {
            let number = n_bytes as f64 / unit as f64;
            let digits = if number < 9.95 { 1 } else { 0 };
            format!("{number:.digits$} {name}")
        }
        None => format!("{n_bytes} bytes"),
    }
}

fn weight_problem(from: &impl Display, to: &impl Display, weight: f64) -> String {
    format!("the weight of ({from}, {to}) is {weight}; {}", weight_remedy(weight))
}

fn asymmetry_problem(from: &impl Display, to: &impl Display, weight: f64, mirror: f64) -> String {
    format!(
        "the matrix is not symmetric: the weight of ({from}, {to}) is {weight}, that of ({to}, {from}) is {mirror}; \
         symmetrize it first, or have it done (`symmetrize`: average or max)"
    )
}

fn weight_remedy(weight: f64) -> &'static str {
    if weight.is_nan() || weight.is_infinite() {
        "weights must be finite: remove the edge or give it a number"
    } else {
        "weights must not be negative: drop the edge, or shift or square the similarities"
    }
}

fn cluster_remedy(n_clusters: usize, n_nodes: usize) -> String {
    if n_clusters == 0 {
        "ask for at least 1".into()
    } else {
        format!("every cluster needs a node, so ask for at most {n_nodes}")
    }
}

fn place(path: Option<&PathBuf>, line: Option<u64>, problem: &str) -> String {
    match (path, line) {
        (Some(path), Some(line)) => format!("{}, line {line}: {problem}", path.display()),
        (Some(path), None) => format!("{}: {problem}", path.display()),
        (None, Some(line)) => format!("line {line}: {problem}"),
        (None, None) => problem.into(),
    }
}

/// A message with names in the places for nodes.
fn filled(problem: &str, nodes: &[u32], name: impl Fn(u32) -> String) -> String {
    let fill =
        |text: String, (place, &node): (usize, &u32)| text.replace(&format!("{{{place}}}"), &name(node));
    nodes.iter().enumerate().fold(problem.to_owned(), fill)
}
