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
//! The library never prints, panics on no input, and gives the same labels for the same graph and settings
//! on every run and every machine.

#![warn(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

pub mod error;
pub mod progress;
mod blocks;
mod disjoint;
mod random;
mod mapping;
mod pages;
mod short_rows;
pub mod graph;
pub mod partition;
pub mod metrics;
pub mod newcomers;
pub mod descent;
pub mod hierarchy;
pub mod neighbors;
pub mod image;
pub mod spectral;
pub mod synthetic;
pub mod io;
mod start;
pub mod search;
mod ncut;
mod choose;

pub use choose::{CountCurve, CountReason, CountRow};
pub use error::{Error, Result};
pub use graph::{Array, Components, Graph, GraphBuilder, LEFT_OUT, NodeId, Symmetrize, Weights};
pub use metrics::{Agreement, ClusterSummary, CutScore, Label, NmiNormalization, UNLABELLED};
pub use ncut::{Clustering, ComponentChoice, Ncut, Preset};
pub use partition::{ClusterId, Links, Move, Partition};
pub use progress::{Observer, Progress, Stage, StopReason, unobserved};
