//! Pages to look at.

use ncut::image::Picture;
use ncut::neighbors::Points;
use ncut::{Agreement, CurvePoint, CurveShown, Label, NodeId, Page};
use numpy::{
    IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3, PyUntypedArrayMethods,
};
use pyo3::prelude::*;

use crate::arrays::LabelArray;
use crate::clustering::OBJECTIVES;
use crate::graph::GraphSource;
use crate::named;
use crate::running::run;

/// What a page shows beside the graph and its labels.
#[derive(FromPyObject)]
pub(crate) struct Description<'py> {
    #[pyo3(item)]
    title: String,
    #[pyo3(item)]
    objective: String,
    #[pyo3(item)]
    names: Option<Vec<String>>,
    #[pyo3(item)]
    points: Option<PyReadonlyArray2<'py, f64>>,
    #[pyo3(item)]
    feature_names: Vec<String>,
    /// Height, width and channels; the value of white; whether all are whole numbers.
    #[pyo3(item)]
    picture: Option<(PyReadonlyArray3<'py, f64>, f64, bool)>,
    /// The region of each pixel of the picture.
    #[pyo3(item)]
    regions: Option<LabelArray<'py>>,
    /// Known classes of the nodes, -1 for none, and what they are called.
    #[pyo3(item)]
    truth: Option<LabelArray<'py>>,
    #[pyo3(item)]
    class_names: Vec<String>,
    #[pyo3(item)]
    curve: Option<Curve<'py>>,
    #[pyo3(item)]
    reason: Option<String>,
    #[pyo3(item)]
    asked: Vec<(String, String)>,
    #[pyo3(item)]
    remarks: Vec<String>,
    #[pyo3(item)]
    max_nodes: usize,
}

/// Objectives over a range of numbers of clusters; NaN for what is not known.
#[derive(FromPyObject)]
pub(crate) struct Curve<'py> {
    #[pyo3(item)]
    n_clusters: PyReadonlyArray1<'py, i64>,
    #[pyo3(item)]
    objectives: PyReadonlyArray1<'py, f64>,
    #[pyo3(item)]
    gaps: PyReadonlyArray1<'py, f64>,
    #[pyo3(item)]
    eigengaps: PyReadonlyArray1<'py, f64>,
    #[pyo3(item)]
    suggested: usize,
    #[pyo3(item)]
    best_in_range: usize,
    #[pyo3(item)]
    by_eigengap: Option<usize>,
}

impl Curve<'_> {
    fn shown(&self) -> PyResult<CurveShown> {
        let known = |value: f64| Some(value).filter(|value| !value.is_nan());
        let (numbers, objectives) = (self.n_clusters.as_slice()?, self.objectives.as_slice()?);
        let (gaps, eigengaps) = (self.gaps.as_slice()?, self.eigengaps.as_slice()?);
        let rows = numbers.iter().zip(objectives).zip(gaps.iter().zip(eigengaps));
        let point = |((&number, &objective), (&gap, &eigengap)): ((&i64, &f64), (&f64, &f64))| CurvePoint {
            n_clusters: number as usize,
            objective,
            gap: known(gap),
            eigengap: known(eigengap),
        };
        Ok(CurveShown {
            rows: rows.map(point).collect(),
            suggested: self.suggested,
            best_in_range: self.best_in_range,
            by_eigengap: self.by_eigengap,
        })
    }
}

/// Where nodes are on the first map, the coordinates of one after the other; none where nothing places them.
#[pyfunction]
pub(crate) fn node_places<'py>(
    py: Python<'py>,
    graph: GraphSource<'py>,
    symmetrize: Option<&str>,
    labels: LabelArray<'py>,
    n_threads: usize,
) -> PyResult<Option<Bound<'py, PyArray1<f64>>>> {
    let (source, labels) = (graph.source(symmetrize)?, labels.as_slice()?);
    let places = run(py, n_threads, None, move |clock| {
        source.with(|graph| Page::new("", graph, labels).places(clock))
    })?;
    let flat = places.map(|places| places.into_iter().flat_map(|(x, y)| [x, y]).collect::<Vec<f64>>());
    Ok(flat.map(|flat| flat.into_pyarray(py)))
}

/// The page about labels of a graph, as HTML.
#[pyfunction]
pub(crate) fn page<'py>(
    py: Python<'py>,
    graph: GraphSource<'py>,
    symmetrize: Option<&str>,
    labels: LabelArray<'py>,
    description: Description<'py>,
    n_threads: usize,
) -> PyResult<String> {
    let kind = named("objective", &description.objective, &OBJECTIVES)?;
    let (source, labels) = (graph.source(symmetrize)?, labels.as_slice()?);
    let regions: Option<&[Label]> = description.regions.as_ref().map(LabelArray::as_slice).transpose()?;
    let truth: Option<&[Label]> = description.truth.as_ref().map(LabelArray::as_slice).transpose()?;
    let curve = description.curve.as_ref().map(Curve::shown).transpose()?;
    let points = match &description.points {
        Some(points) => Some((points.as_slice()?, points.shape()[1])),
        None => None,
    };
    let picture = match &description.picture {
        Some((pixels, white, is_whole)) => {
            let &[height, width, n_channels] = pixels.shape() else {
                unreachable!("the array has three axes")
            };
            Some((pixels.as_slice()?, [height, width, n_channels], *white, *is_whole))
        }
        None => None,
    };
    let Description { title, names, feature_names, class_names, reason, asked, remarks, max_nodes, .. } =
        description;
    run(py, n_threads, None, move |clock| {
        source.with(|graph| {
            let name = |node: NodeId| {
                let known = names.as_ref().and_then(|names| names.get(node as usize));
                known.cloned().unwrap_or_default()
            };
            let picture = match picture {
                Some((pixels, [height, width, n_channels], white, is_whole)) => {
                    let picture = Picture::new(height, width, n_channels, pixels.to_vec(), white)?;
                    Some(if is_whole { picture.whole() } else { picture })
                }
                None => None,
            };
            let mut page = Page::new(title.clone(), graph, labels);
            page.objective = kind;
            page.name = if names.is_some() { Some(&name) } else { None };
            if let Some((values, n_features)) = points {
                page.points = Some((Points::new(values, n_features)?, &feature_names));
            }
            page.picture = picture.as_ref().zip(regions);
            page.truth = truth.map(|classes| (classes, &class_names[..]));
            page.agreement = match truth {
                Some(classes) => Some((Agreement::new(labels, classes)?, "the known classes".to_owned())),
                None => None,
            };
            page.curve = curve.clone();
            page.reason = reason.clone();
            page.asked = asked.clone();
            page.remarks = remarks.clone();
            page.max_nodes = max_nodes;
            page.html(clock)
        })
    })
}
