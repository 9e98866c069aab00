//! Pictures that say something about another one: painted strokes, and masks.

use std::collections::HashMap;
use std::path::Path;

use super::codec::{decoded, from_image};
use super::picture::n_pixels;
use crate::error::{Error, Result};
use crate::metrics::{Label, UNLABELLED};
use crate::progress::Clock;

/// From this share of full opacity on a pixel is painted.
const MIN_ALPHA: u8 = 128;

/// Known regions of a picture: strokes of several colours on a transparent ground.
#[derive(Clone, Debug, PartialEq)]
pub struct Scribbles {
    height: usize,
    width: usize,
    labels: Vec<Label>,
    colours: Vec<[u8; 3]>,
}

impl Scribbles {
    /// The strokes in the bytes of a picture file: pixels that are at least half opaque, each colour a region, numbered by
    /// first appearance, row by row.
    ///
    /// # Errors
    /// When the bytes are no picture, nothing is painted, or nothing is transparent.
    pub fn decode(bytes: &[u8], name: &Path, clock: &Clock<'_>) -> Result<Self> {
        if bytes.is_empty() {
            return Err(Error::in_file(None, "is empty"));
        }
        let image = decoded(bytes, name, clock)?.into_rgba8();
        let (height, width) = (image.height() as usize, image.width() as usize);
        let mut number: HashMap<[u8; 3], Label> = HashMap::new();
        let mut colours = Vec::new();
        let mut label = |[red, green, blue, alpha]: [u8; 4]| match alpha >= MIN_ALPHA {
            false => UNLABELLED,
            true => *number.entry([red, green, blue]).or_insert_with(|| {
                colours.push([red, green, blue]);
                colours.len() as Label - 1
            }),
        };
        let labels: Vec<Label> = image.pixels().map(|pixel| label(pixel.0)).collect();
        let problem = if colours.is_empty() {
            "has nothing painted: all pixels are transparent"
        } else if labels.iter().all(|&label| label != UNLABELLED) {
            "has no transparent pixel, so there is nothing left to find out; paint on a transparent ground, and save it as .png"
        } else {
            return Ok(Self { height, width, labels, colours });
        };
        Err(Error::in_file(None, problem))
    }

    /// Rows and columns.
    pub fn size(&self) -> (usize, usize) {
        (self.height, self.width)
    }

    /// The region of every pixel, row after row; -1 where nothing is painted.
    pub fn labels(&self) -> &[Label] {
        &self.labels
    }

    /// Red, green and blue of every region.
    pub fn colours(&self) -> &[[u8; 3]] {
        &self.colours
    }

    /// The same for a picture of another size: a pixel has the region that most of the painted pixels in its place have, the
    /// first among equals, so that thin strokes are not lost.
    ///
    /// # Errors
    /// When the size has no pixels, or has more than this one in one direction.
    pub fn scaled_to(&self, height: usize, width: usize) -> Result<Vec<Label>> {
        n_pixels(height, width)?;
        if (height, width) == (self.height, self.width) {
            return Ok(self.labels.clone());
        }
        let mut votes: Vec<HashMap<Label, usize>> = vec![HashMap::new(); height * width];
        for (pixel, &label) in self.labels.iter().enumerate().filter(|(_, label)| **label != UNLABELLED) {
            let (row, column) = (pixel / self.width, pixel % self.width);
            let place = (row * height / self.height) * width + column * width / self.width;
            *votes[place].entry(label).or_insert(0) += 1;
        }
        let most = |votes: &HashMap<Label, usize>| {
            let best = votes.iter().max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0)));
            best.map_or(UNLABELLED, |(&label, _)| label)
        };
        Ok(votes.iter().map(most).collect())
    }
}

/// What is to be divided of a picture: the pixels of a mask that are light and painted.
#[derive(Clone, Debug, PartialEq)]
pub struct Mask {
    height: usize,
    width: usize,
    is_inside: Vec<bool>,
}

impl Mask {
    /// The mask in the bytes of a picture file: pixels lighter than middle grey that are at least half opaque are inside.
    ///
    /// # Errors
    /// When the bytes are no picture, or no pixel is inside.
    pub fn decode(bytes: &[u8], name: &Path, clock: &Clock<'_>) -> Result<Self> {
        if bytes.is_empty() {
            return Err(Error::in_file(None, "is empty"));
        }
        let image = decoded(bytes, name, clock)?;
        // White on a transparent ground is a mask, too; elsewhere transparent is seen over white.
        let opacity = image.color().has_alpha().then(|| image.to_rgba8());
        let is_painted = |pixel: usize| {
            opacity.as_ref().is_none_or(|painted| painted.as_raw()[4 * pixel + 3] >= MIN_ALPHA)
        };
        let picture = from_image(&image).map_err(|error| Error::in_file(None, error.to_string()))?;
        let is_light = |pixel: usize| picture.grey(pixel) > 0.5 * picture.white();
        let is_inside: Vec<bool> =
            (0..picture.n_pixels()).map(|pixel| is_painted(pixel) && is_light(pixel)).collect();
        if !is_inside.contains(&true) {
            let problem = "has no light pixel, so there is nothing to divide; what is to be divided is white";
            return Err(Error::in_file(None, problem));
        }
        Ok(Self { height: picture.height(), width: picture.width(), is_inside })
    }

    /// Rows and columns.
    pub fn size(&self) -> (usize, usize) {
        (self.height, self.width)
    }

    /// Whether each pixel is to be divided, row after row.
    pub fn is_inside(&self) -> &[bool] {
        &self.is_inside
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thin_strokes_survive_scaling() -> Result<()> {
        let mut labels = vec![UNLABELLED; 36];
        labels[0] = 0;
        labels[35] = 1;
        labels[34] = 1;
        labels[28] = 0;
        let scribbles = Scribbles { height: 6, width: 6, labels, colours: vec![[255, 0, 0], [0, 255, 0]] };
        assert_eq!(scribbles.scaled_to(2, 2)?, [0, -1, -1, 1]);
        assert_eq!(scribbles.scaled_to(6, 6)?, scribbles.labels());
        Ok(())
    }
}
