//! Points: rows of numbers, checked once.

use crate::parallel::prelude::*;

use crate::error::{Error, Result};
use crate::graph::NodeId;

/// Rows of numbers: one point a row, 32-bit or 64-bit as they are.
#[derive(Clone, Copy, Debug)]
pub struct Points<'a> {
    pub(crate) values: Values<'a>,
    pub(crate) n_features: usize,
}

/// The coordinates of points, one point after the other.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// 32-bit floats.
    F32(&'a [f32]),
    /// 64-bit floats.
    F64(&'a [f64]),
}

impl<'a> From<&'a [f32]> for Values<'a> {
    fn from(values: &'a [f32]) -> Self {
        Self::F32(values)
    }
}

impl<'a> From<&'a [f64]> for Values<'a> {
    fn from(values: &'a [f64]) -> Self {
        Self::F64(values)
    }
}

impl<'a, const N: usize> From<&'a [f32; N]> for Values<'a> {
    fn from(values: &'a [f32; N]) -> Self {
        Self::F32(values)
    }
}

impl<'a, const N: usize> From<&'a [f64; N]> for Values<'a> {
    fn from(values: &'a [f64; N]) -> Self {
        Self::F64(values)
    }
}

impl<'a> From<&'a Vec<f32>> for Values<'a> {
    fn from(values: &'a Vec<f32>) -> Self {
        Self::F32(values)
    }
}

impl<'a> From<&'a Vec<f64>> for Values<'a> {
    fn from(values: &'a Vec<f64>) -> Self {
        Self::F64(values)
    }
}

impl Values<'_> {
    fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
        }
    }

    pub(crate) fn at(&self, place: usize) -> f64 {
        match self {
            Self::F32(values) => f64::from(values[place]),
            Self::F64(values) => values[place],
        }
    }
}

impl<'a> Points<'a> {
    /// Points of `n_features` coordinates each, one after the other in `values`.
    ///
    /// # Errors
    /// When `values` does not divide into points, is empty, holds a NaN or an infinity, or numbers whose
    /// squares a float cannot hold.
    pub fn new(values: impl Into<Values<'a>>, n_features: usize) -> Result<Self> {
        let points = Self::unchecked(values.into(), n_features)?;
        let place = match points.values {
            Values::F32(values) => first_bad(values, n_features),
            Values::F64(values) => first_bad(values, n_features),
        };
        let Some((place, problem)) = place else { return Ok(points) };
        let (row, column, value) = (place / n_features, place % n_features, points.values.at(place));
        Err(Error::shape(format!("row {row}, column {column} is {value}; {problem}")))
    }

    /// As [`new`](Self::new), for coordinates that were checked by [`coordinate_problem`]: only the shape is looked at.
    pub(crate) fn unchecked(values: Values<'a>, n_features: usize) -> Result<Self> {
        if values.len() == 0 || n_features == 0 || !values.len().is_multiple_of(n_features) {
            return Err(Error::shape(format!(
                "{} numbers are no table of points with {n_features} features each",
                values.len()
            )));
        }
        let n_points = values.len() / n_features;
        if n_points > NodeId::MAX as usize {
            return Err(Error::TooManyNodes { n_nodes: n_points as u64 });
        }
        Ok(Self { values, n_features })
    }

    /// Number of points.
    pub fn count(&self) -> usize {
        self.values.len() / self.n_features
    }

    /// The coordinates, one point after the other.
    pub fn values(&self) -> Values<'a> {
        self.values
    }

    /// Number of coordinates of a point.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// The coordinates of a point.
    ///
    /// # Panics
    /// When there are not so many points.
    pub fn coordinates(&self, point: usize) -> impl Iterator<Item = f64> + '_ {
        let first = point * self.n_features;
        (first..first + self.n_features).map(|place| self.values.at(place))
    }
}

/// Why a number cannot be one of `n_features` coordinates of a point: what to do about it.
#[inline]
pub(crate) fn coordinate_problem(value: f64, n_features: usize) -> Option<&'static str> {
    // Far below the end of the floats, so that no sum of squares reaches it.
    if value.abs() < 1e150 / n_features as f64 {
        None
    } else if value.is_finite() {
        Some("that is too large: rescale the columns")
    } else {
        Some("fill in or remove such points first")
    }
}

/// The first number that cannot be a coordinate, and why.
fn first_bad<T: Copy + Into<f64> + Sync>(values: &[T], n_features: usize) -> Option<(usize, &'static str)> {
    const CHUNK: usize = 1 << 16;
    let problem = |&value: &T| coordinate_problem(value.into(), n_features);
    values.par_chunks(CHUNK).enumerate().find_map_first(|(chunk, values)| {
        let place = values.iter().position(|value| problem(value).is_some())?;
        Some((chunk * CHUNK + place, problem(&values[place])?))
    })
}
