//! The graph of a picture: a node for every pixel, links to the pixels around it.

use crate::error::{Error, Result};
use crate::graph::{Graph, NodeId, Symmetrize, Weights};
use crate::memory;
use crate::progress::{Clock, Progress, Stage};

use super::picture::Picture;

/// The largest radius: 31 000 neighbours of each pixel are plenty.
const MAX_RADIUS: f64 = 100.0;

/// Which pixels are linked.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum PixelLinks {
    /// The four beside, above and below.
    #[default]
    Grid4,
    /// The eight around.
    Grid8,
    /// All up to this far away, in pixels (Shi and Malik).
    Radius(f64),
}

/// How a picture becomes a graph. Node `row * width + column` is a pixel.
///
/// In the grids, pixels whose values differ by `g` (for colours the Euclidean length of the difference) are
/// linked with weight `exp(-beta * g / std) + epsilon`. `std` is the standard deviation over all entries of
/// scikit-learn's `img_to_graph`: every difference between a pixel and one beside, above or below it, in both
/// directions, *and the values of the pixels themselves* (for colours their grey value, 0.2125 red + 0.7154
/// green + 0.0721 blue), which stand on that matrix's diagonal. In a picture of one value, where `std` may
/// be 0, every weight is `1 + epsilon`.
///
/// Within a radius the weight is `exp(-g² / sigma_value²) * exp(-distance² / sigma_distance²)` with values
/// from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PictureGraph {
    /// Which pixels are linked.
    pub links: PixelLinks,
    /// How fast the weight falls with the difference (grids).
    pub beta: f64,
    /// What every weight has at least, so that the picture stays connected (grids).
    pub epsilon: f64,
    /// The difference at which the weight has fallen to 1/e (radius).
    pub sigma_value: f64,
    /// The distance in pixels at which the weight has fallen to 1/e (radius).
    pub sigma_distance: f64,
}

impl PictureGraph {
    /// The radius that goes with the default sigmas.
    pub const RADIUS: f64 = 5.0;
}

impl Default for PictureGraph {
    fn default() -> Self {
        Self {
            links: PixelLinks::default(),
            beta: 10.0,
            epsilon: 1e-6,
            sigma_value: 0.1,
            sigma_distance: 4.0,
        }
    }
}

impl PictureGraph {
    /// The graph of `picture`.
    ///
    /// # Errors
    /// When a setting is outside its range, there is no memory for the graph, or the clock says stop.
    pub fn build(&self, picture: &Picture, clock: &Clock<'_>) -> Result<Graph<'static>> {
        self.check()?;
        let links = self.links(picture);
        match self.links {
            PixelLinks::Grid4 | PixelLinks::Grid8 => {
                let steepness = self.beta / spread(picture);
                // Without any spread all differences are 0, and 0 * infinity is no number.
                let steepness = if steepness.is_finite() { steepness } else { 0.0 };
                let weigh = |squared: f64, _| libm::exp(-steepness * squared.sqrt()) + self.epsilon;
                link_pixels(picture, &links, weigh, clock)
            }
            PixelLinks::Radius(_) => {
                let scale = (picture.white() * self.sigma_value).powi(2);
                let weigh = |squared: f64, nearness: f64| libm::exp(-squared / scale) * nearness;
                link_pixels(picture, &links, weigh, clock)
            }
        }
    }

    fn check(&self) -> Result<()> {
        let is_positive = |value: f64| value > 0.0 && value.is_finite();
        let is_share = |value: f64| (0.0..=1.0).contains(&value);
        let refuse =
            |name, value: f64, expected| Err(Error::BadSetting { name, value: value.to_string(), expected });
        if !(self.beta >= 0.0 && self.beta.is_finite()) {
            return refuse("beta", self.beta, "a number of at least 0");
        }
        if !is_share(self.epsilon) {
            return refuse("epsilon", self.epsilon, "from 0 to 1");
        }
        if !is_positive(self.sigma_value) {
            return refuse("sigma_value", self.sigma_value, "a number above 0");
        }
        if !is_positive(self.sigma_distance) {
            return refuse("sigma_distance", self.sigma_distance, "a number above 0");
        }
        match self.links {
            PixelLinks::Radius(radius) if !(1.0..=MAX_RADIUS).contains(&radius) => {
                refuse("radius", radius, "from 1 to 100")
            }
            _ => Ok(()),
        }
    }

    /// The links of a pixel far from the border, by the number of their other end.
    fn links(&self, picture: &Picture) -> Vec<Link> {
        let farthest = match self.links {
            PixelLinks::Grid4 => 1.0,
            PixelLinks::Grid8 => 2.0,
            PixelLinks::Radius(radius) => radius * radius,
        };
        let reach = |length: usize| (farthest.sqrt() as isize).min(length as isize - 1);
        let (down, right) = (reach(picture.height()), reach(picture.width()));
        let mut links = Vec::new();
        for row in -down..=down {
            for column in -right..=right {
                let squared = (row * row + column * column) as f64;
                if 0.0 < squared && squared <= farthest {
                    let nearness = libm::exp(-squared / self.sigma_distance.powi(2));
                    links.push(Link { row, column, nearness });
                }
            }
        }
        links
    }
}

/// A link of a pixel: to the one so many rows below and columns to the right.
struct Link {
    row: isize,
    column: isize,
    /// The weight as far as it comes from the distance.
    nearness: f64,
}

/// Builds the rows of the graph's matrix; `weigh(squared difference, nearness)` makes a weight.
fn link_pixels(
    picture: &Picture,
    links: &[Link],
    weigh: impl Fn(f64, f64) -> f64,
    clock: &Clock<'_>,
) -> Result<Graph<'static>> {
    let (height, width) = (picture.height(), picture.width());
    let n_entries = count_entries(picture, links);
    // Labels and the like of the solver come later.
    let needed =
        memory::matrix(n_entries as u64, true).saturating_add(memory::PER_NODE * picture.n_pixels() as u64);
    memory::check(clock, "the graph of the picture", needed, "scale the picture down")?;
    let no_memory = |_| Error::OutOfMemory { n_nodes: picture.n_pixels(), n_entries };
    let mut offsets: Vec<u64> = Vec::new();
    let mut neighbors: Vec<NodeId> = Vec::new();
    let mut weights: Vec<f64> = Vec::new();
    offsets.try_reserve_exact(picture.n_pixels() + 1).map_err(no_memory)?;
    neighbors.try_reserve_exact(n_entries).map_err(no_memory)?;
    weights.try_reserve_exact(n_entries).map_err(no_memory)?;
    offsets.push(0);
    let mut progress = Progress::new(Stage::Picture, height as u64);
    for row in 0..height {
        for column in 0..width {
            let here = picture.pixel(row, column);
            for link in links {
                let Some(row) = row.checked_add_signed(link.row).filter(|&row| row < height) else {
                    continue;
                };
                let Some(column) = column.checked_add_signed(link.column).filter(|&column| column < width)
                else {
                    continue;
                };
                let pixel = row * width + column;
                neighbors.push(pixel as NodeId);
                weights.push(weigh(squared_difference(here, picture.at(pixel)), link.nearness));
            }
            offsets.push(neighbors.len() as u64);
        }
        progress.done += 1;
        clock.report(&progress)?;
    }
    Graph::from_csr(offsets, neighbors, Weights::F64(weights.into()), Symmetrize::Refuse)
}

/// How many entries the matrix has: each link once for every pixel that has its other end in the picture.
fn count_entries(picture: &Picture, links: &[Link]) -> usize {
    let pixels = |link: &Link| {
        (picture.height() - link.row.unsigned_abs()) * (picture.width() - link.column.unsigned_abs())
    };
    links.iter().map(pixels).fold(0, usize::saturating_add)
}

/// The standard deviation of pixel values and differences together; see [`PictureGraph`].
fn spread(picture: &Picture) -> f64 {
    let (height, width) = (picture.height() as f64, picture.width() as f64);
    let n_entries = height * width + 2.0 * (height * (width - 1.0) + (height - 1.0) * width);
    let mean = sum_of_entries(picture, |entry| entry) / n_entries;
    (sum_of_entries(picture, |entry| (entry - mean).powi(2)) / n_entries).sqrt()
}

/// The sum of `term` over all pixel values and, in both directions, all differences between pixels side by
/// side. Rows are summed first: short sums keep their digits.
fn sum_of_entries(picture: &Picture, term: impl Fn(f64) -> f64) -> f64 {
    let width = picture.width();
    let at_pixel = |pixel: usize| {
        let here = picture.at(pixel);
        let difference = |other: usize| 2.0 * term(squared_difference(here, picture.at(other)).sqrt());
        let right = if (pixel + 1).is_multiple_of(width) { 0.0 } else { difference(pixel + 1) };
        let below = if pixel + width < picture.n_pixels() { difference(pixel + width) } else { 0.0 };
        term(picture.grey(pixel)) + right + below
    };
    let in_row = |row: usize| (row * width..(row + 1) * width).map(at_pixel).sum::<f64>();
    (0..picture.height()).map(in_row).sum()
}

#[inline]
fn squared_difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}
