//! Pictures in, graphs out.

use ncut::Label;
use ncut::image::{Picture, PictureGraph, PixelLinks};
use ncut_machine::memory_left;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::arrays::LabelArray;
use crate::bugs::caught;
use crate::graph::GraphHandle;
use crate::running::{check_memory, run};
use crate::{named, refused};

/// How a picture becomes a graph.
#[derive(FromPyObject)]
pub(crate) struct Settings {
    #[pyo3(item)]
    blur: f64,
    #[pyo3(item)]
    scale: Option<f64>,
    #[pyo3(item)]
    links: String,
    #[pyo3(item)]
    beta: f64,
    #[pyo3(item)]
    epsilon: f64,
    #[pyo3(item)]
    radius: f64,
    #[pyo3(item)]
    sigma_value: f64,
    #[pyo3(item)]
    sigma_distance: f64,
}

/// The graph of a blurred and scaled picture, and that picture's rows and columns.
#[pyfunction]
pub(crate) fn picture_graph<'py>(
    py: Python<'py>,
    pixels: PyReadonlyArray3<'py, f64>,
    white: f64,
    is_whole: bool,
    settings: Settings,
    n_threads: usize,
    on_progress: Option<Bound<'py, PyAny>>,
) -> PyResult<(GraphHandle, (usize, usize))> {
    let choices = [
        ("grid4", PixelLinks::Grid4),
        ("grid8", PixelLinks::Grid8),
        ("radius", PixelLinks::Radius(settings.radius)),
    ];
    let &Settings { beta, epsilon, sigma_value, sigma_distance, .. } = &settings;
    let links = named("links", &settings.links, &choices)?;
    let graph = PictureGraph { links, beta, epsilon, sigma_value, sigma_distance };
    let &[height, width, n_channels] = pixels.shape() else { unreachable!("the array has three axes") };
    let pixels = pixels.as_slice()?;
    check_memory(memory_left(n_threads as u64 + 1), "a copy of the picture", 8 * pixels.len() as u64)?;
    let values = pixels.to_vec();
    let built = run(py, n_threads, on_progress.as_ref(), move |clock| {
        let picture = Picture::new(height, width, n_channels, values, white)?;
        let picture = if is_whole { picture.whole() } else { picture };
        let prepared = picture.prepare(settings.blur, settings.scale, clock)?;
        Ok((graph.build(&prepared, clock)?, (prepared.height(), prepared.width())))
    });
    let (graph, size) = built?;
    Ok((graph.into(), size))
}

/// Labels of pixels for a picture of another size.
#[pyfunction]
pub(crate) fn resize_labels<'py>(
    py: Python<'py>,
    labels: LabelArray<'py>,
    from_: (usize, usize),
    to: (usize, usize),
) -> PyResult<Bound<'py, PyArray1<Label>>> {
    let labels = labels.as_slice()?;
    let resized = caught(py, || ncut::image::resize_labels(labels, from_, to).map_err(refused))?;
    Ok(resized.into_pyarray(py))
}
