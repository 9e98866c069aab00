//! A picture as numbers.

use crate::error::{Error, Result};
use crate::graph::NodeId;

/// Shares of red, green and blue in the grey value of a colour (those of scikit-image's `rgb2gray`).
const GREY_SHARES: [f64; 3] = [0.2125, 0.7154, 0.0721];

/// A picture: rows of pixels from top to bottom, each with one value (grey) or three (red, green, blue).
///
/// Values run from 0, black, to [`white`](Self::white): 255 for a file of 8 bits, 65 535 for one of 16,
/// 1 for one of floats. They are kept on the scale of the file, so that recipes made for it stay exact.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    pub(super) height: usize,
    pub(super) width: usize,
    pub(super) n_channels: usize,
    pub(super) values: Vec<f64>,
    pub(super) white: f64,
    pub(super) grain: Grain,
}

/// Which values a picture can hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Grain {
    /// Whole numbers only, as files of 8 and 16 bits.
    Whole,
    /// Any.
    Real,
}

impl Picture {
    /// A picture of `height` rows and `width` columns with `n_channels` values a pixel, 1 or 3, row after
    /// row; `white` is the value of full brightness.
    ///
    /// # Errors
    /// When there is no pixel, there are more than node numbers, the values are not as many as the shape
    /// needs, one is not finite, or `white` is not above 0.
    pub fn new(height: usize, width: usize, n_channels: usize, values: Vec<f64>, white: f64) -> Result<Self> {
        let n_pixels = n_pixels(height, width)?;
        if n_channels != 1 && n_channels != 3 {
            return Err(Error::shape(format!("a pixel has 1 value or 3, not {n_channels}")));
        }
        if values.len() != n_pixels.saturating_mul(n_channels) {
            return Err(Error::shape(format!(
                "{} values were given for {height} rows of {width} pixels with {n_channels} each",
                values.len()
            )));
        }
        if let Some(place) = values.iter().position(|value| !value.is_finite()) {
            let (row, column) = (place / n_channels / width, place / n_channels % width);
            return Err(Error::shape(format!(
                "the pixel in row {row}, column {column} is {}; pixels must be finite",
                values[place]
            )));
        }
        if !(white > 0.0 && white.is_finite()) {
            let (value, expected) = (white.to_string(), "a number above 0");
            return Err(Error::BadSetting { name: "white", value, expected });
        }
        Ok(Self { height, width, n_channels, values, white, grain: Grain::Real })
    }

    /// The same picture, said to hold whole numbers only, as one of 8 or 16 bits does: blurring rounds to such, and
    /// scaling brings it to 0 to 1 first, as scikit-image does with integers.
    #[must_use]
    pub fn whole(self) -> Self {
        Self { grain: Grain::Whole, ..self }
    }

    /// Rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Values of a pixel: 1 for grey, 3 for colour.
    pub fn n_channels(&self) -> usize {
        self.n_channels
    }

    /// Number of pixels.
    pub fn n_pixels(&self) -> usize {
        self.height * self.width
    }

    /// All values, pixel after pixel, row after row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The value of full brightness.
    pub fn white(&self) -> f64 {
        self.white
    }

    /// The values of a pixel.
    ///
    /// # Panics
    /// When there is no such row or column.
    #[inline]
    pub fn pixel(&self, row: usize, column: usize) -> &[f64] {
        self.at(row * self.width + column)
    }

    /// The values of the pixel of that number, counted row after row.
    #[inline]
    pub(super) fn at(&self, pixel: usize) -> &[f64] {
        &self.values[pixel * self.n_channels..][..self.n_channels]
    }

    /// Brightness of the pixel of that number: its value, or the mean of red, green and blue as the eye
    /// weighs them (0.2125, 0.7154, 0.0721).
    #[inline]
    pub(super) fn grey(&self, pixel: usize) -> f64 {
        match *self.at(pixel) {
            [red, green, blue] => GREY_SHARES[0] * red + GREY_SHARES[1] * green + GREY_SHARES[2] * blue,
            ref values => values.iter().sum(),
        }
    }
}

/// Number of pixels of a picture; each is a node.
pub(super) fn n_pixels(height: usize, width: usize) -> Result<usize> {
    let n_pixels = height as u128 * width as u128;
    if n_pixels == 0 {
        return Err(Error::shape("the picture has no pixels"));
    }
    if n_pixels > u128::from(NodeId::MAX) {
        return Err(Error::TooManyNodes { n_nodes: u64::try_from(n_pixels).unwrap_or(u64::MAX) });
    }
    Ok(n_pixels as usize)
}
