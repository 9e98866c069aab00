//! The compiled part of the Python package `ncut`: arrays in, arrays out. What a user sees is in `python/ncut`.

#![allow(clippy::needless_pass_by_value, reason = "a Python function owns what it is given")]

mod arrays;
mod bugs;
mod clustering;
mod command;
mod distributed;
mod graph;
mod image;
mod page;
mod points;
mod running;

use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::types::PyAnyMethods;
use pyo3::{PyErr, Python, pymodule};

/// Arrays in, arrays out.
#[pymodule(gil_used = false)]
mod _ncut {
    #[pymodule_export]
    use crate::clustering::{
        choose, cluster, confidence, cut_tree, default_stay, merge_tree, score, settings, update, upper_bound,
    };
    #[pymodule_export]
    use crate::command::run_command;
    #[pymodule_export]
    use crate::distributed::{
        CoarseBuilderHandle, ContractionHandle, PiecesHandle, PropagationHandle, RefinementHandle,
        ShardBuilderHandle, ShardHandle, attach_pieces, parse_edges, piece_links, score_clusters,
    };
    #[pymodule_export]
    use crate::graph::{GraphHandle, edge_columns, restored_graph};
    #[pymodule_export]
    use crate::image::{picture_graph, resize_labels};
    #[pymodule_export]
    use crate::page::{node_places, page};
    #[pymodule_export]
    use crate::points::{lean, link_new_neighbors, link_new_points, neighbor_graph, place, point_graph};

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "Python's name for it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_init]
    fn init(_module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        crate::bugs::remember_panics();
        Ok(())
    }
}

/// A refused input as Python says it.
fn refused(error: ncut::Error) -> PyErr {
    match error {
        ncut::Error::OutOfMemory { .. } => PyMemoryError::new_err(error.to_string()),
        // Without the option of the command line that its own words name.
        ncut::Error::TooLittleMemory { remedy, .. } => {
            PyMemoryError::new_err(format!("{}; {remedy}", error.problem()))
        }
        _ => {
            let message = error.to_string();
            // Nodes between zeros, for those who know their names.
            let marked = error.with_names(|node| format!("\0{node}\0")).to_string();
            let refusal = PyValueError::new_err(message.clone());
            if marked != message {
                Python::attach(|py| refusal.value(py).setattr("with_marked_nodes", marked))
                    .map_or_else(|error| error, |()| refusal)
            } else {
                refusal
            }
        }
    }
}

/// One of several names; `what` is what they name.
fn named<T: Copy>(what: &str, name: &str, choices: &[(&str, T)]) -> Result<T, PyErr> {
    match choices.iter().find(|choice| choice.0 == name) {
        Some(&(_, value)) => Ok(value),
        None => {
            let names: Vec<String> = choices.iter().map(|choice| format!("{:?}", choice.0)).collect();
            Err(PyValueError::new_err(format!("{what} is {name:?}; it must be one of {}", names.join(", "))))
        }
    }
}
