//! Graphs that were checked once, for Python to hold.

use ncut::io::EdgeColumns;
use ncut::{Graph, Weights};
use ncut_machine::memory_left;
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{Csr, CsrArrays, Rows, rows_arrays, symmetrization};
use crate::running::{check_memory, run};

/// A graph, checked once.
///
/// Every function that takes a graph takes this one too, and neither converts nor checks it again: of use to whoever
/// asks several things of one graph. It never changes, and holds a copy of what it was made from.
///
/// Parameters
/// ----------
/// graph : sparse matrix or array, ndarray, networkx or igraph graph
///     As for `cluster`.
/// symmetrize : {None, "average", "max"}, default=None
///     As for `cluster`.
/// weight : str or None, default="weight"
///     As for `cluster`.
///
/// See Also
/// --------
/// cluster : Clusters it.
///
/// Examples
/// --------
/// >>> import ncut, numpy as np
/// >>> ring = ncut.Graph(np.roll(np.eye(6), 1, axis=1) + np.roll(np.eye(6), -1, axis=1))
/// >>> ring
/// <Graph: 6 nodes, 6 edges>
/// >>> ncut.score(ring, ncut.cluster(ring, 2)).ncut
/// 0.6666666666666667
#[pyclass(frozen, name = "Graph", module = "ncut")]
pub(crate) struct GraphHandle {
    graph: Graph<'static>,
}

impl From<Graph<'static>> for GraphHandle {
    fn from(graph: Graph<'static>) -> Self {
        Self { graph }
    }
}

#[pymethods]
impl GraphHandle {
    #[new]
    #[pyo3(
        signature = (graph, *, symmetrize=None, weight=Some("weight")),
        text_signature = "(graph, *, symmetrize=None, weight='weight')"
    )]
    fn new(graph: Bound<'_, PyAny>, symmetrize: Option<&str>, weight: Option<&str>) -> PyResult<Self> {
        let graphs = graph.py().import("ncut._graphs")?;
        let csr = graphs.call_method1("graph_source", (&graph, weight))?;
        restored_graph(csr.py(), csr.extract()?, symmetrize).map_err(|error| {
            let refusal = error.into_value(csr.py());
            let named = graphs.call_method1("named_refusal", (refusal, graph, weight));
            named.map_or_else(|error| error, PyErr::from_value)
        })
    }

    /// Number of nodes.
    #[getter]
    fn n_nodes(&self) -> usize {
        self.graph.n_nodes()
    }

    /// Number of edges, self-loops included.
    #[getter]
    fn n_edges(&self) -> usize {
        self.graph.n_edges()
    }

    fn __repr__(&self) -> String {
        format!("<Graph: {} nodes, {} edges>", self.graph.n_nodes(), self.graph.n_edges())
    }

    /// The three arrays of its matrix by rows, for scipy; ones are written out, and 32-bit weights stay such.
    fn _arrays<'py>(&self, py: Python<'py>) -> PyResult<CsrArrays<'py>> {
        let graph = &self.graph;
        let needed = 16 * graph.columns().len() as u64 + 8 * graph.n_nodes() as u64;
        check_memory(memory_left(1), "a copy of the graph's matrix", needed)?;
        let weights = match graph.weights() {
            Weights::Unit => vec![1.0; graph.columns().len()].into_pyarray(py).into_any(),
            Weights::F32(weights) => weights.to_vec().into_pyarray(py).into_any(),
            Weights::F64(weights) => weights.to_vec().into_pyarray(py).into_any(),
        };
        rows_arrays(py, graph.offsets(), graph.columns().to_vec(), weights)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyDict>,))> {
        let (indptr, indices, data) = self._arrays(py)?;
        let csr = PyDict::new(py);
        csr.set_item("indptr", indptr)?;
        csr.set_item("indices", indices)?;
        csr.set_item("data", data)?;
        Ok((py.import("ncut._ncut")?.getattr("restored_graph")?, (csr,)))
    }
}

/// The graph of a matrix by rows.
#[pyfunction]
#[pyo3(signature = (source, symmetrize=None))]
pub(crate) fn restored_graph(
    py: Python<'_>,
    source: GraphSource<'_>,
    symmetrize: Option<&str>,
) -> PyResult<GraphHandle> {
    let source = source.source(symmetrize)?;
    Ok(run(py, 1, None, move |_| source.owned())?.into())
}

/// The columns of a table of edges, counted from 0: both ends and the weight if there is one. `None` where the names do
/// not tell.
#[pyfunction]
pub(crate) fn edge_columns(names: Vec<String>) -> Option<(usize, usize, Option<usize>)> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let columns = EdgeColumns::of_header(&names).ok()?;
    let place = |number: &String| number.parse().map(|number: usize| number - 1).ok();
    Some((place(&columns.from)?, place(&columns.to)?, columns.weight.as_ref().and_then(place)))
}

/// What a function is given for a graph.
#[derive(FromPyObject)]
pub(crate) enum GraphSource<'py> {
    Checked(Bound<'py, GraphHandle>),
    Csr(Csr<'py>),
}

impl GraphSource<'_> {
    pub(crate) fn source(&self, symmetrize: Option<&str>) -> PyResult<Source<'_>> {
        let symmetrize = symmetrization(symmetrize)?;
        Ok(match self {
            Self::Checked(handle) => Source::Checked(&handle.get().graph),
            Self::Csr(csr) => {
                let rows = csr.rows(symmetrize)?;
                check_memory(memory_left(1), "checking the matrix", rows.memory_needed())?;
                Source::Rows(rows)
            }
        })
    }
}

/// A graph, or what is to become one, without Python.
pub(crate) enum Source<'a> {
    Checked(&'a Graph<'static>),
    Rows(Rows<'a>),
}

impl Source<'_> {
    /// Lets `work` have the graph: one that was checked before as it is, rows after they are.
    pub(crate) fn with<T>(self, work: impl FnOnce(&Graph<'_>) -> ncut::Result<T>) -> ncut::Result<T> {
        match self {
            Self::Checked(graph) => work(graph),
            Self::Rows(rows) => work(&rows.graph()?),
        }
    }

    fn owned(self) -> ncut::Result<Graph<'static>> {
        match self {
            Self::Checked(graph) => Ok(graph.clone()),
            Self::Rows(rows) => rows.into_owned().graph(),
        }
    }
}
