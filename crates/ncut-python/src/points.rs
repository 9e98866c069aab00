//! Points in, graphs out; where new points belong.

use ncut::neighbors::{
    Affinity, LinkedPoints, Linking, Neighbors, PointGraph, Scale, SearchMethod, weigh_new,
};
use ncut::objective::{Modularity, RatioCut};
use ncut::{ClusterSummary, Confidence, Label, ObjectiveKind};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::{Csr, CsrArrays, LabelArray, Table, rows_arrays};
use crate::bugs::caught;
use crate::clustering::OBJECTIVES;
use crate::graph::GraphHandle;
use crate::running::run;
use crate::{named, refused};

const METHODS: [(&str, SearchMethod); 3] = [
    ("auto", SearchMethod::Auto),
    ("exact", SearchMethod::Exact),
    ("approximate", SearchMethod::Approximate),
];

/// How points become a graph.
#[derive(FromPyObject)]
pub(crate) struct Settings {
    #[pyo3(item)]
    affinity: String,
    #[pyo3(item)]
    n_neighbors: usize,
    #[pyo3(item)]
    gamma: Option<f64>,
    #[pyo3(item)]
    mutual: bool,
    #[pyo3(item)]
    method: String,
    #[pyo3(item)]
    seed: u64,
}

impl Settings {
    fn point_graph(&self) -> PyResult<PointGraph> {
        let affinities = [
            ("self_tuning", Affinity::SelfTuning),
            ("nearest_neighbors", Affinity::Knn),
            ("rbf", Affinity::Rbf { gamma: self.gamma }),
            ("cosine", Affinity::Cosine),
            ("adaptive", Affinity::Adaptive),
        ];
        Ok(PointGraph {
            affinity: named("affinity", &self.affinity, &affinities)?,
            n_neighbors: self.n_neighbors,
            linking: if self.mutual { Linking::Mutual } else { Linking::Union },
            method: named("method", &self.method, &METHODS)?,
            seed: self.seed,
        })
    }
}

/// A graph, and the lengths or the falloff that its weights were made with (empty where there are none); for adaptive weights
/// the reach of all points, then the totals.
type Linked<'py> = (GraphHandle, Bound<'py, PyArray1<f64>>);

fn linked(py: Python<'_>, linked: LinkedPoints) -> Linked<'_> {
    let scale = match linked.scale {
        Scale::SelfTuning(sigma) => sigma,
        Scale::Rbf { gamma } => vec![gamma],
        Scale::Adaptive { mut reach, total, .. } => {
            reach.extend(total);
            reach
        }
        Scale::Knn | Scale::Cosine => Vec::new(),
    };
    (linked.graph.into(), scale.into_pyarray(py))
}

fn scale(settings: &PointGraph, lengths: &[f64]) -> Scale {
    match settings.affinity {
        Affinity::SelfTuning => Scale::SelfTuning(lengths.to_vec()),
        Affinity::Knn => Scale::Knn,
        Affinity::Rbf { .. } => Scale::Rbf { gamma: lengths.first().copied().unwrap_or_default() },
        Affinity::Cosine => Scale::Cosine,
        Affinity::Adaptive => {
            let (reach, total) = lengths.split_at(lengths.len() / 2);
            // A point has no more neighbours than there are others, one of whom only measures.
            let n_neighbors = settings.n_neighbors.min(reach.len().saturating_sub(2)).max(1);
            Scale::Adaptive { n_neighbors, reach: reach.to_vec(), total: total.to_vec() }
        }
    }
}

/// The graph of points.
#[pyfunction]
pub(crate) fn point_graph<'py>(
    py: Python<'py>,
    table: Table<'py>,
    settings: Settings,
    n_threads: usize,
    on_progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Linked<'py>> {
    let (settings, points) = (settings.point_graph()?, table.points()?);
    Ok(linked(py, run(py, n_threads, on_progress.as_ref(), |clock| settings.link(points, clock))?))
}

/// The links of new points to the nearest of those of a graph, as rows of a matrix (new x old).
#[pyfunction]
pub(crate) fn link_new_points<'py>(
    py: Python<'py>,
    new: Table<'py>,
    table: Table<'py>,
    settings: Settings,
    lengths: PyReadonlyArray1<'py, f64>,
    n_threads: usize,
) -> PyResult<CsrArrays<'py>> {
    let (settings, new, points) = (settings.point_graph()?, new.points()?, table.points()?);
    let scale = scale(&settings, lengths.as_slice()?);
    let links = run(py, n_threads, None, |clock| settings.link_new(new, points, &scale, clock))?;
    rows_arrays(
        py,
        links.offsets(),
        links.columns().to_vec(),
        links.weights().to_vec().into_pyarray(py).into_any(),
    )
}

/// Neighbours that Python found: numbers and squared distances, one row a point.
fn neighbors(ids: &PyReadonlyArray2<'_, i64>, squared: &PyReadonlyArray2<'_, f64>) -> PyResult<Neighbors> {
    let id = |&id: &i64| u32::try_from(id).map_err(|_| PyValueError::new_err(format!("{id} is no point")));
    let n_neighbors = ids.shape()[1];
    let ids = ids.as_slice()?.iter().map(id).collect::<PyResult<_>>()?;
    Neighbors::from_rows(n_neighbors, ids, squared.as_slice()?.to_vec()).map_err(refused)
}

/// The graph of neighbours that Python found; with 32-bit weights if it `is_narrow`.
#[pyfunction]
pub(crate) fn neighbor_graph<'py>(
    py: Python<'py>,
    ids: PyReadonlyArray2<'py, i64>,
    squared: PyReadonlyArray2<'py, f64>,
    settings: Settings,
    is_narrow: bool,
) -> PyResult<Linked<'py>> {
    let (settings, neighbors) = (settings.point_graph()?, neighbors(&ids, &squared)?);
    let weigh = || {
        let found = settings.weigh(&neighbors)?;
        if is_narrow { Ok(LinkedPoints { graph: found.graph.narrowed()?, ..found }) } else { Ok(found) }
    };
    Ok(linked(py, caught(py, || py.detach(weigh).map_err(refused))?))
}

/// The links of new points whose nearest Python found, as rows of a matrix (new x old).
#[pyfunction]
pub(crate) fn link_new_neighbors<'py>(
    py: Python<'py>,
    ids: PyReadonlyArray2<'py, i64>,
    squared: PyReadonlyArray2<'py, f64>,
    n_points: usize,
    settings: Settings,
    lengths: PyReadonlyArray1<'py, f64>,
) -> PyResult<CsrArrays<'py>> {
    let scale = scale(&settings.point_graph()?, lengths.as_slice()?);
    let neighbors = neighbors(&ids, &squared)?;
    let links = caught(py, || weigh_new(&neighbors, &scale, n_points).map_err(refused))?;
    rows_arrays(
        py,
        links.offsets(),
        links.columns().to_vec(),
        links.weights().to_vec().into_pyarray(py).into_any(),
    )
}

/// The clusters of new nodes, by an objective and the resolution it may have.
#[pyfunction]
pub(crate) fn place<'py>(
    py: Python<'py>,
    links: Csr<'py>,
    labels: LabelArray<'py>,
    weights: PyReadonlyArray1<'py, f64>,
    volumes: PyReadonlyArray1<'py, f64>,
    associations: PyReadonlyArray1<'py, f64>,
    objective: (String, Option<f64>),
) -> PyResult<Bound<'py, PyArray1<Label>>> {
    let (objective, resolution) = objective;
    let kind = named("objective", &objective, &OBJECTIVES)?;
    let labels = labels.as_slice()?;
    let out_of_sample = links.out_of_sample(labels.len())?;
    let clusters = summaries(&weights, &volumes, &associations)?;
    let place = || match kind {
        // The unit of Ratio-Cut is only for telling small differences.
        ObjectiveKind::RatioCut => out_of_sample.place_by(RatioCut::of(1.0, 1), labels, &clusters),
        ObjectiveKind::Modularity => {
            let total = clusters.iter().map(|cluster| cluster.volume).sum();
            let modularity = Modularity { total, resolution: resolution.unwrap_or(1.0) };
            out_of_sample.place_by(modularity, labels, &clusters)
        }
        _ => out_of_sample.place(labels, &clusters),
    };
    let placed = caught(py, || py.detach(place).map_err(refused))?;
    Ok(placed.into_pyarray(py))
}

/// Clusters by their sums, numbered from 0.
fn summaries(
    weights: &PyReadonlyArray1<'_, f64>,
    volumes: &PyReadonlyArray1<'_, f64>,
    associations: &PyReadonlyArray1<'_, f64>,
) -> PyResult<Vec<ClusterSummary>> {
    let sums = volumes.as_slice()?.iter().zip(associations.as_slice()?).zip(weights.as_slice()?);
    let summary = |(label, ((&volume, &association), &weight))| ClusterSummary {
        label: label as Label,
        weight,
        volume,
        association,
        ..ClusterSummary::default()
    };
    Ok(sums.enumerate().map(summary).collect())
}

/// The shares of all clusters in the pulls on new nodes, one row a node.
#[pyfunction]
pub(crate) fn lean<'py>(
    py: Python<'py>,
    links: Csr<'py>,
    labels: LabelArray<'py>,
    weights: PyReadonlyArray1<'py, f64>,
    volumes: PyReadonlyArray1<'py, f64>,
    objective: &str,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let kind = named("objective", objective, &OBJECTIVES)?;
    let labels = labels.as_slice()?;
    let new = links.out_of_sample(labels.len())?;
    let clusters = summaries(&weights, &volumes, &volumes)?;
    let mut shares = Vec::with_capacity(new.count() * clusters.len());
    let mut sums = vec![0.0; clusters.len()];
    for row in new.offsets().windows(2) {
        sums.fill(0.0);
        for entry in row[0] as usize..row[1] as usize {
            let label = labels[new.columns()[entry] as usize];
            if let Some(sum) = usize::try_from(label).ok().and_then(|label| sums.get_mut(label)) {
                *sum += new.weights()[entry];
            }
        }
        shares.extend(Confidence::shares(kind, &sums, &clusters));
    }
    Ok(shares.into_pyarray(py))
}
