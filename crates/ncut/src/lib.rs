//! Normalized-Cut graph clustering: direct, fast, deterministic, with exactly as many clusters as asked for.
//!
//! Given an undirected graph with weights `a_ij >= 0` and degrees `d_i = sum_j a_ij`, the nodes are divided
//! into `k` clusters so that `sum_c A_c / D_c` is large, where `A_c` is the weight inside cluster `c` and
//! `D_c` the sum of its degrees. The Normalized Cut is `k` less that sum.
//!
//! ```
//! use ncut::{Graph, Ncut};
//!
//! let graph = Graph::from_edges(4, [(0, 1, 5.0), (1, 2, 0.1), (2, 3, 5.0)])?;
//! let clustering = Ncut::new(2).solve(&graph)?;
//! assert_eq!(clustering.labels, [0, 0, 1, 1]);
//! assert!(clustering.ncut < 0.02);
//! # Ok::<(), ncut::Error>(())
//! ```
//!
//! [`Ncut`] is the front door; its [`Preset`]s run from the paper's solver to the [`search`] for the best there is. The
//! parts behind it can be used by themselves: [`hierarchy::n2hi`] makes a start, [`descent::descend`] improves it,
//! [`metrics`] scores the result, [`io`] reads and writes files, [`neighbors`] makes graphs of points, [`image`] graphs
//! of pictures.
//!
//! The library never prints and does not panic, whatever the input. It gives the same labels for the same graph and
//! settings on every run and every machine.
//!
//! # Features
//!
//! All but `parquet` are on by default. With `default-features = false` there remain graphs, [`Ncut`] with all its presets,
//! partitions, metrics, hierarchies, out_of_sample and synthetic graphs.
//!
//! | feature | what it adds |
//! | --- | --- |
//! | `files` | the module [`io`] |
//! | `image` | the module [`image`](mod@image) |
//! | `neighbors` | the module [`neighbors`] |
//! | `spectral` | the module [`spectral`], and the eigenvalues of [`Ncut::choose`] |
//! | `mapping` | `.ncut` files are mapped, not read into memory; large arrays are in large pages |
//! | `threads` | all threads work, not one; the results are the same |
//! | `zstd` | text packed as `.zst`, and `files`; it is C code |
//! | `parquet` | `.parquet` files, and `files` |
//!
//! For `wasm32-unknown-unknown` the library builds with all of them but `mapping`, `threads`, `zstd` and `parquet`. There are
//! no files there; [`io::parse_graph_file`] and [`io::parse_table_file`] read bytes. There is no clock either, so a
//! [time limit](Ncut::time_limit) has no effect unless the caller [tells the time](Clock::timed_by).

#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods)]

pub mod progress;
pub mod error;
mod memory;
pub mod limits;
pub mod objective;
mod parallel;
mod disjoint;
mod random;
#[cfg(feature = "mapping")]
#[cfg_attr(not(feature = "files"), allow(dead_code, reason = "only the module `io` maps files"))]
mod mapping;
#[cfg(all(feature = "files", not(feature = "mapping")))]
#[path = "no_mapping.rs"]
mod mapping;
#[cfg(all(feature = "mapping", any(feature = "neighbors", feature = "spectral")))]
mod pages;
#[cfg(all(not(feature = "mapping"), any(feature = "neighbors", feature = "spectral")))]
#[path = "no_pages.rs"]
mod pages;
mod short_rows;
pub mod graph;
mod blocks;
pub mod partition;
pub mod metrics;
mod constraints;
mod confidence;
pub mod out_of_sample;
pub mod shard;
pub mod descent;
pub mod hierarchy;
mod communities;
mod separation;
#[cfg(any(feature = "files", feature = "neighbors"))]
mod points;
#[cfg(feature = "neighbors")]
pub mod neighbors;
#[cfg(feature = "image")]
pub mod image;
#[cfg(feature = "spectral")]
pub mod spectral;
pub mod synthetic;
#[cfg(feature = "files")]
pub mod io;
mod start;
pub mod search;
mod settings;
mod needs;
mod solve;
mod steered;
mod update;
mod choose;
mod ncut;
mod page;

pub use choose::{CountCurve, CountReason, CountRow, FoundCount};
pub use confidence::Confidence;
pub use constraints::{Constraints, Violations};
pub use error::{Error, Result};
pub use graph::{Array, Components, Graph, GraphBuilder, LEFT_OUT, NodeId, Symmetrize, Weights};
pub use limits::{CoarseningLimits, Limits};
pub use metrics::{Agreement, ClusterSummary, CutScore, Label, NmiNormalization, UNLABELLED};
pub use ncut::Clustering;
pub use objective::{Objective, ObjectiveKind};
pub use page::{CurvePoint, CurveShown, Page, Solver};
pub use partition::{ClusterId, ClusterTable, Links, Move, Partition};
pub use progress::{Clock, Progress, Stage, StopReason, Stopped};
pub use settings::{ComponentChoice, CountRule, Ncut, Preset};
pub use update::{Before, Updated};

/// The examples of the documentation's page about the library.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/tutorials/rust.md")]
struct Tutorial;
