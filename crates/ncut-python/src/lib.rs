//! The compiled part of the Python package `ncut`: arrays in, arrays out. What a user sees is in `python/ncut`.

#![allow(clippy::needless_pass_by_value, reason = "a Python function owns what it is given")]

mod arrays;
mod bugs;
mod clustering;
mod graph;
mod image;
mod points;
mod running;

use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::{PyErr, pymodule};

/// Arrays in, arrays out.
#[pymodule(gil_used = false)]
mod _ncut {
    #[pymodule_export]
    use crate::clustering::{
        choose, cluster, confidence, cut_tree, default_stay, merge_tree, score, settings, update, upper_bound,
    };
    #[pymodule_export]
    use crate::graph::{GraphHandle, restored_graph};
    #[pymodule_export]
    use crate::image::{picture_graph, resize_labels};
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
        _ => PyValueError::new_err(error.to_string()),
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
