//! numpy arrays as the library's types, in place where the types fit.

use std::borrow::Cow;

use ncut::neighbors::{Points, Values};
use ncut::{Graph, Label, NodeId, Symmetrize, Weights};
use numpy::{Element, IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;

use crate::{named, refused};

/// Whole numbers of either width.
#[derive(FromPyObject)]
pub(crate) enum Integers<'py> {
    Narrow(PyReadonlyArray1<'py, i32>),
    Wide(PyReadonlyArray1<'py, i64>),
}

impl Integers<'_> {
    fn offsets(&self) -> PyResult<Cow<'_, [u64]>> {
        let negative = || PyValueError::new_err("indptr holds a negative number");
        match self {
            Self::Narrow(array) => {
                let offset = |&offset: &i32| u64::try_from(offset).map_err(|_| negative());
                collected(array.as_slice()?.iter().map(offset)).map(Cow::Owned)
            }
            Self::Wide(array) => {
                let offsets = array.as_slice()?;
                if offsets.iter().any(|&offset| offset < 0) {
                    return Err(negative());
                }
                Ok(bytemuck::cast_slice(offsets).into())
            }
        }
    }

    fn columns(&self) -> PyResult<Cow<'_, [NodeId]>> {
        let outside =
            |column: i64| PyValueError::new_err(format!("indices holds {column}, which is no column"));
        match self {
            Self::Narrow(array) => {
                let columns = array.as_slice()?;
                match columns.iter().find(|&&column| column < 0) {
                    Some(&column) => Err(outside(column.into())),
                    None => Ok(bytemuck::cast_slice(columns).into()),
                }
            }
            Self::Wide(array) => {
                let column = |&column: &i64| NodeId::try_from(column).map_err(|_| outside(column));
                collected(array.as_slice()?.iter().map(column)).map(Cow::Owned)
            }
        }
    }
}

/// The items of a copy, or `MemoryError` where there is no room for it.
fn collected<T>(items: impl ExactSizeIterator<Item = PyResult<T>>) -> PyResult<Vec<T>> {
    let mut copy = Vec::new();
    let room = copy.try_reserve_exact(items.len());
    room.map_err(|_| {
        PyMemoryError::new_err("there is no memory for a copy of the matrix's row or column numbers")
    })?;
    for item in items {
        copy.push(item?);
    }
    Ok(copy)
}

/// Weights of either width, or none where all are 1.
#[derive(FromPyObject)]
pub(crate) enum Floats<'py> {
    F32(PyReadonlyArray1<'py, f32>),
    F64(PyReadonlyArray1<'py, f64>),
}

impl Floats<'_> {
    fn weights(&self) -> PyResult<Weights<'_>> {
        Ok(match self {
            Self::F32(array) => Weights::F32(array.as_slice()?.into()),
            Self::F64(array) => Weights::F64(array.as_slice()?.into()),
        })
    }

    /// In 64 bits.
    fn wide(&self) -> PyResult<Cow<'_, [f64]>> {
        Ok(match self {
            Self::F32(array) => array.as_slice()?.iter().map(|&value| f64::from(value)).collect(),
            Self::F64(array) => array.as_slice()?.into(),
        })
    }
}

/// The three arrays of a sparse matrix by rows.
#[derive(FromPyObject)]
pub(crate) struct Csr<'py> {
    #[pyo3(item)]
    indptr: Integers<'py>,
    #[pyo3(item)]
    indices: Integers<'py>,
    #[pyo3(item)]
    data: Floats<'py>,
}

/// Rows of a matrix that are ready to become a graph, without Python.
pub(crate) struct Rows<'a> {
    offsets: Cow<'a, [u64]>,
    columns: Cow<'a, [NodeId]>,
    weights: Weights<'a>,
    symmetrize: Symmetrize,
}

/// What is to be done with a matrix that is not symmetric.
pub(crate) fn symmetrization(name: Option<&str>) -> PyResult<Symmetrize> {
    let choices = [("average", Symmetrize::Average), ("max", Symmetrize::Max)];
    name.map_or(Ok(Symmetrize::Refuse), |name| named("symmetrize", name, &choices))
}

impl Csr<'_> {
    pub(crate) fn rows(&self, symmetrize: Symmetrize) -> PyResult<Rows<'_>> {
        Ok(Rows {
            offsets: self.indptr.offsets()?,
            columns: self.indices.columns()?,
            weights: self.data.weights()?,
            symmetrize,
        })
    }

    pub(crate) fn out_of_sample(&self, n_old: usize) -> PyResult<ncut::out_of_sample::OutOfSample<'_>> {
        let (offsets, columns) = (self.indptr.offsets()?, self.indices.columns()?);
        ncut::out_of_sample::OutOfSample::new(offsets, columns, self.data.wide()?, n_old).map_err(refused)
    }
}

impl<'a> Rows<'a> {
    /// Bytes of memory that checking the rows takes: arrays over the nodes, and rows in order where they are in none.
    pub(crate) fn memory_needed(&self) -> u64 {
        let per_entry = if self.symmetrize == Symmetrize::Refuse { 16 } else { 40 };
        24 * self.offsets.len() as u64 + per_entry * self.columns.len() as u64
    }

    pub(crate) fn graph(self) -> ncut::Result<Graph<'a>> {
        Graph::from_csr(self.offsets, self.columns, self.weights, self.symmetrize)
    }

    /// The same rows, copied where they are borrowed.
    pub(crate) fn into_owned(self) -> Rows<'static> {
        Rows {
            offsets: self.offsets.into_owned().into(),
            columns: self.columns.into_owned().into(),
            weights: match self.weights {
                Weights::Unit => Weights::Unit,
                Weights::F32(weights) => weights.into_owned().into(),
                Weights::F64(weights) => weights.into_owned().into(),
            },
            symmetrize: self.symmetrize,
        }
    }
}

/// A table of points of either width.
#[derive(FromPyObject)]
pub(crate) enum Table<'py> {
    F32(PyReadonlyArray2<'py, f32>),
    F64(PyReadonlyArray2<'py, f64>),
}

impl Table<'_> {
    pub(crate) fn points(&self) -> PyResult<Points<'_>> {
        fn values<'a, T: Element>(array: &'a PyReadonlyArray2<'_, T>) -> PyResult<(&'a [T], usize)> {
            Ok((array.as_slice()?, array.as_array().ncols()))
        }
        let (values, n_features): (Values<'_>, usize) = match self {
            Self::F32(array) => values(array).map(|(values, n_features)| (values.into(), n_features))?,
            Self::F64(array) => values(array).map(|(values, n_features)| (values.into(), n_features))?,
        };
        Points::new(values, n_features).map_err(refused)
    }
}

/// Labels of nodes.
pub(crate) type LabelArray<'py> = PyReadonlyArray1<'py, Label>;

/// The three arrays of a sparse matrix by rows, for scipy.
pub(crate) type CsrArrays<'py> = (Bound<'py, PyAny>, Bound<'py, PyArray1<i32>>, Bound<'py, PyAny>);

/// Rows of a matrix for scipy, whose offsets are as narrow as its column numbers where they can be.
pub(crate) fn rows_arrays<'py>(
    py: Python<'py>,
    offsets: &[u64],
    columns: Vec<NodeId>,
    weights: Bound<'py, PyAny>,
) -> PyResult<CsrArrays<'py>> {
    if columns.iter().any(|&column| column > i32::MAX as u32) {
        return Err(PyValueError::new_err(
            "the graph has more nodes than scipy's 32-bit column numbers can tell apart",
        ));
    }
    let columns: Vec<i32> = bytemuck::cast_vec(columns);
    let offsets = match i32::try_from(columns.len()) {
        Ok(_) => offsets.iter().map(|&offset| offset as i32).collect::<Vec<_>>().into_pyarray(py).into_any(),
        Err(_) => offsets.iter().map(|&offset| offset as i64).collect::<Vec<_>>().into_pyarray(py).into_any(),
    };
    Ok((offsets, columns.into_pyarray(py), weights))
}
