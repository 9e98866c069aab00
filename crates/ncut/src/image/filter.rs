//! Blur and scale, to the digits of scipy and scikit-image.

use std::borrow::Cow;

use super::picture::{Grain, Picture, n_pixels};
use crate::error::{Error, Result};
use crate::memory;
use crate::progress::{Clock, Progress, Stage};

/// The bell is cut off at this many sigmas.
const TRUNCATE: f64 = 4.0;
/// The widest blur; wider ones leave nothing to see.
const MAX_SIGMA: f64 = 1000.0;
/// A sum this little below a whole number is that number, rounded.
const ROUNDING: f64 = 1e-9;

impl Picture {
    /// The picture blurred by a Gaussian of `sigma` pixels, as `scipy.ndimage.gaussian_filter` does it: first
    /// down the columns, then along the rows, mirrored beyond the border (the border pixel itself twice), the
    /// bell cut off at 4 sigma. 0 changes nothing.
    ///
    /// A picture of 8 or 16 bits stays one: after each of the two passes what follows the decimal point is cut
    /// off, as the recipe of the coins has it. (Areas of one value keep it; scipy makes some of them darker by
    /// 1, as its sums happen to be rounded.)
    ///
    /// # Errors
    /// When `sigma` is not from 0 to 1000, or the clock says stop.
    pub fn blur(&self, sigma: f64, clock: &Clock<'_>) -> Result<Cow<'_, Self>> {
        if !(0.0..=MAX_SIGMA).contains(&sigma) {
            let (value, expected) = (sigma.to_string(), "from 0 to 1000");
            return Err(Error::BadSetting { name: "blur", value, expected });
        }
        let bell = half_bell(sigma);
        if bell.len() == 1 {
            return Ok(Cow::Borrowed(self));
        }
        let mut progress = Progress::new(Stage::Picture, 2 * self.height as u64);
        let mut observe_row = || {
            progress.done += 1;
            clock.report(&progress)
        };
        let stride = self.width * self.n_channels;
        memory::check(clock, "the blurred picture", 8 * self.values.len() as u64, "do without the blur")?;
        let mut values = vec![0.0; self.values.len()];
        for (row, blurred) in values.chunks_exact_mut(stride).enumerate() {
            let source = |place: isize| &self.values[mirrored(place, self.height) * stride..][..stride];
            mix(blurred, &bell, |step| {
                let row = row as isize;
                (source(row - step), source(row + step))
            });
            self.settle(blurred);
            observe_row()?;
        }
        let mut wide = Vec::new();
        for row in values.chunks_exact_mut(stride) {
            self.blur_row(row, &bell, &mut wide);
            observe_row()?;
        }
        Ok(Cow::Owned(Self { values, ..*self }))
    }

    /// Blurs a row along itself; `wide` is room for it with its mirrored ends.
    fn blur_row(&self, row: &mut [f64], bell: &[f64], wide: &mut Vec<f64>) {
        let n_channels = self.n_channels;
        let reach = (bell.len() - 1) as isize;
        wide.clear();
        for place in -reach..self.width as isize + reach {
            let column = mirrored(place, self.width);
            wide.extend_from_slice(&row[column * n_channels..][..n_channels]);
        }
        let len = row.len();
        let source = |step: isize| &wide[(reach + step) as usize * n_channels..][..len];
        mix(row, bell, |step| (source(-step), source(step)));
        self.settle(row);
    }

    /// Cuts off fractions where the picture has none.
    fn settle(&self, values: &mut [f64]) {
        if self.grain == Grain::Whole {
            for value in values {
                *value = (*value + ROUNDING).trunc();
            }
        }
    }

    /// Pixels that a picture has at most after [`prepare`](Self::prepare) without a scale: at two million a photograph is
    /// divided within seconds, and its regions are hardly others than at twelve.
    pub const MAX_USUAL_PIXELS: usize = 2_000_000;

    /// The picture blurred, then scaled. Without a scale one of more than [`MAX_USUAL_PIXELS`](Self::MAX_USUAL_PIXELS) is
    /// scaled down to so many, and before that blurred at least so that no detail between two new pixels stands out.
    ///
    /// # Errors
    /// As [`blur`](Self::blur) and [`rescale`](Self::rescale).
    pub fn prepare(&self, blur: f64, scale: Option<f64>, clock: &Clock<'_>) -> Result<Cow<'_, Self>> {
        let usual = (Self::MAX_USUAL_PIXELS as f64 / self.n_pixels() as f64).sqrt().min(1.0);
        let (blur, scale) = match scale {
            Some(scale) => (blur, scale),
            None if usual < 1.0 => (blur.max((1.0 / usual - 1.0) / 2.0), usual),
            None => (blur, 1.0),
        };
        match self.blur(blur, clock)? {
            Cow::Borrowed(picture) => picture.rescale(scale, clock),
            Cow::Owned(blurred) => match blurred.rescale(scale, clock)? {
                Cow::Owned(scaled) => Ok(Cow::Owned(scaled)),
                Cow::Borrowed(_) => Ok(Cow::Owned(blurred)),
            },
        }
    }

    /// The picture scaled by `factor`, as `skimage.transform.rescale(…, mode="reflect", anti_aliasing=False)`
    /// does it: each side is `factor` times as long, rounded (half to even, at least 1), and each new pixel
    /// lies between the four old ones around its centre. As there, the values of a picture of 8 or 16 bits are
    /// first brought to 0 to 1. A picture whose size stays the same is not changed at all.
    ///
    /// # Errors
    /// When `factor` is not above 0, the result has more pixels than node numbers, or the clock says stop.
    pub fn rescale(&self, factor: f64, clock: &Clock<'_>) -> Result<Cow<'_, Self>> {
        if !(factor > 0.0 && factor.is_finite()) {
            let (value, expected) = (factor.to_string(), "a number above 0");
            return Err(Error::BadSetting { name: "scale", value, expected });
        }
        let scaled = |length: usize| (length as f64 * factor).round_ties_even().max(1.0) as usize;
        let (height, width) = (scaled(self.height), scaled(self.width));
        if (height, width) == (self.height, self.width) {
            return Ok(Cow::Borrowed(self));
        }
        let (unit, white) = match self.grain {
            Grain::Whole => (1.0 / self.white, 1.0),
            Grain::Real => (1.0, self.white),
        };
        let n_pixels = n_pixels(height, width)?;
        let of_values = 8 * (n_pixels as u64).saturating_mul(self.n_channels as u64);
        memory::check(clock, "the scaled picture", of_values, "choose a smaller scale")?;
        let mut values = Vec::new();
        let room = values.try_reserve_exact(n_pixels.saturating_mul(self.n_channels));
        room.map_err(|_| Error::OutOfMemory { n_nodes: n_pixels, n_entries: 0 })?;
        let columns: Vec<Between> = (0..width).map(|x| Between::new(x, width, self.width)).collect();
        let mut progress = Progress::new(Stage::Picture, height as u64);
        for y in 0..height {
            let row = Between::new(y, height, self.height);
            for column in &columns {
                values.extend((0..self.n_channels).map(|channel| self.between(&row, column, channel, unit)));
            }
            progress.done += 1;
            clock.report(&progress)?;
        }
        Ok(Cow::Owned(Self { height, width, values, white, grain: Grain::Real, ..*self }))
    }

    /// The value of a channel between four pixels, in the unit of the scaled picture.
    fn between(&self, row: &Between, column: &Between, channel: usize, unit: f64) -> f64 {
        let corners = row.ends.iter().flat_map(|row| column.ends.iter().map(move |column| (row, column)));
        let part = |(&(y, of_row), &(x, of_column)): (&(usize, f64), &(usize, f64))| {
            self.pixel(y, x)[channel] * unit * of_row * of_column
        };
        corners.map(part).sum()
    }
}

/// A place between two pixels of a line, and the share of each.
struct Between {
    ends: [(usize, f64); 2],
}

impl Between {
    /// Where the centre of pixel `place` of `new_length` lies on a line of `length`. Beyond the first and the
    /// last centre the line is mirrored, that pixel itself not repeated.
    fn new(place: usize, new_length: usize, length: usize) -> Self {
        let centre = (place as f64 + 0.5) * (length as f64 / new_length as f64) - 0.5;
        let last = (length - 1) as f64;
        let centre = if centre < 0.0 { -centre } else { centre };
        let centre = if centre > last { (2.0 * last - centre).max(0.0) } else { centre };
        let (low, share) = (centre.floor(), centre - centre.floor());
        let high = (low as usize + 1).min(length - 1);
        Self { ends: [(low as usize, 1.0 - share), (high, 1.0 - (1.0 - share))] }
    }
}

/// The bell's heights from its middle outwards; their sum over both sides is 1.
fn half_bell(sigma: f64) -> Vec<f64> {
    let reach = (TRUNCATE * sigma + 0.5) as usize;
    if reach == 0 {
        return vec![1.0];
    }
    let height = |step: usize| libm::exp(-0.5 / (sigma * sigma) * (step * step) as f64);
    let sum: f64 = (0..=2 * reach).map(|place| height(place.abs_diff(reach))).sum();
    (0..=reach).map(|step| height(step) / sum).collect()
}

/// Fills `line` with the mean of the lines around it, weighed by `bell`; `pair(step)` gives those `step`
/// before and after. The outermost pair is added first, as scipy does it.
fn mix<'a>(line: &mut [f64], bell: &[f64], pair: impl Fn(isize) -> (&'a [f64], &'a [f64])) {
    for (value, middle) in line.iter_mut().zip(pair(0).0) {
        *value = middle * bell[0];
    }
    for (step, weight) in bell.iter().enumerate().skip(1).rev() {
        let (before, after) = pair(step as isize);
        for (value, (before, after)) in line.iter_mut().zip(before.iter().zip(after)) {
            *value += (before + after) * weight;
        }
    }
}

/// The place on a line of `length` that a place beyond its ends shows: `… 1 0 | 0 1 2 | 2 1 …`.
fn mirrored(place: isize, length: usize) -> usize {
    let place = place.rem_euclid(2 * length as isize) as usize;
    place.min(2 * length - 1 - place)
}
