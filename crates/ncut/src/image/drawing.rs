//! Labels as pictures: borders over the original, or a flat colour for every region.

use std::collections::BTreeSet;

use super::picture::{Picture, n_pixels};
use crate::error::{Error, Result};
use crate::metrics::Label;

/// The colour of borders: pink, which stands out from dark and bright and is rare in photographs.
const BORDER: [u8; 3] = [255, 0, 128];
/// Borders are one pixel wide, and one more for every so many pixels of the shorter side.
const SIDE_PER_PIXEL: usize = 1500;
/// Colours that the eye tells apart.
const N_COLOURS: usize = 32;
/// The colour of the first region, often the background.
const FIRST_COLOUR: [u8; 3] = [60, 90, 130];
/// Red, green and blue of the other colours are among these.
const CHANNEL_VALUES: [u8; 5] = [40, 95, 150, 205, 250];
/// How much a difference in red, green and blue counts for the eye.
const EYE: [i32; 3] = [2, 4, 3];
/// The colour of pixels without a label.
const UNLABELLED_COLOUR: [u8; 3] = [0, 0, 0];

/// Labels of a picture brought to another size: each pixel takes the label of the nearest one.
///
/// # Errors
/// When a size has no pixels, or there is not one label for each pixel of `from`.
pub fn resize_labels(labels: &[Label], from: (usize, usize), to: (usize, usize)) -> Result<Vec<Label>> {
    check_labels(from.0, from.1, labels)?;
    n_pixels(to.0, to.1)?;
    // The pixel of `length` that holds the centre of pixel `place` of `new_length`.
    let nearest = |place: usize, new_length: usize, length: usize| {
        ((2 * place + 1) as u128 * length as u128 / (2 * new_length) as u128) as usize
    };
    let columns: Vec<usize> = (0..to.1).map(|column| nearest(column, to.1, from.1)).collect();
    let row = |row: usize| &labels[nearest(row, to.0, from.0) * from.1..][..from.1];
    Ok((0..to.0).flat_map(|y| columns.iter().map(move |&column| row(y)[column])).collect())
}

/// The picture, 8 bits a value, with the borders between regions drawn over it.
///
/// # Errors
/// When there is not one label for each pixel.
pub fn boundaries(picture: &Picture, labels: &[Label]) -> Result<Picture> {
    let (height, width) = (picture.height(), picture.width());
    check_labels(height, width, labels)?;
    let thickness = 1 + height.min(width) / SIDE_PER_PIXEL;
    let is_border = |pixel: usize| {
        let (row, column) = (pixel / width, pixel % width);
        let differs = |other: usize| labels[other] != labels[pixel];
        (1..=thickness).any(|step| {
            (column + step < width && differs(pixel + step))
                || (row + step < height && differs(pixel + step * width))
        })
    };
    let colour = |pixel| if is_border(pixel) { BORDER } else { picture.colour(pixel) };
    from_colours(height, width, (0..labels.len()).map(colour))
}

/// Every region in a flat colour of its own; where there are more regions than the eye tells colours apart,
/// neighbours differ as long as that is possible. Pixels labelled -1 are black.
///
/// # Errors
/// When there is no pixel, or not one label for each.
pub fn flat(height: usize, width: usize, labels: &[Label]) -> Result<Picture> {
    check_labels(height, width, labels)?;
    let (colours, palette) = (region_colours(width, labels), palette());
    let colour = |&label: &Label| {
        let region = usize::try_from(label).ok();
        region.map_or(UNLABELLED_COLOUR, |region| palette[colours[region]])
    };
    from_colours(height, width, labels.iter().map(colour))
}

fn check_labels(height: usize, width: usize, labels: &[Label]) -> Result<()> {
    let n_pixels = n_pixels(height, width)?;
    if labels.len() == n_pixels {
        return Ok(());
    }
    Err(Error::labels(format!("{} labels were given for {n_pixels} pixels", labels.len())))
}

fn from_colours(height: usize, width: usize, colours: impl Iterator<Item = [u8; 3]>) -> Result<Picture> {
    Picture::new(height, width, 3, colours.flatten().map(f64::from).collect(), 255.0).map(Picture::whole)
}

/// The number of every region's colour: its own number while there are colours, and else the first from
/// there on that no neighbour has yet.
fn region_colours(width: usize, labels: &[Label]) -> Vec<usize> {
    let n_regions = labels.iter().max().map_or(0, |&label| (label + 1).max(0) as usize);
    let mut touching = BTreeSet::new();
    for (pixel, &label) in labels.iter().enumerate() {
        let right = if (pixel + 1).is_multiple_of(width) { None } else { labels.get(pixel + 1) };
        for &other in right.into_iter().chain(labels.get(pixel + width)) {
            if other != label && other >= 0 && label >= 0 {
                touching.insert((label.max(other) as usize, label.min(other) as usize));
            }
        }
    }
    let mut colours: Vec<usize> = Vec::with_capacity(n_regions);
    for region in 0..n_regions {
        let before = touching.range((region, 0)..(region + 1, 0));
        let taken: BTreeSet<usize> = before.map(|&(_, other)| colours[other]).collect();
        let mut choices = (region..region + N_COLOURS).map(|choice| choice % N_COLOURS);
        colours.push(choices.find(|choice| !taken.contains(choice)).unwrap_or(region % N_COLOURS));
    }
    colours
}

/// Colours far apart: each is the one farthest from all before it, and from the colour of no label.
fn palette() -> Vec<[u8; 3]> {
    let values = || CHANNEL_VALUES.into_iter();
    let choices: Vec<[u8; 3]> = values()
        .flat_map(|red| values().flat_map(move |green| values().map(move |blue| [red, green, blue])))
        .collect();
    let mut palette = vec![FIRST_COLOUR];
    while palette.len() < N_COLOURS {
        let room = |choice: &[u8; 3]| {
            let taken = palette.iter().chain([&UNLABELLED_COLOUR]);
            taken.map(|taken| contrast(choice, taken)).min()
        };
        palette.extend(choices.iter().copied().max_by_key(room));
    }
    palette
}

/// How different two colours look.
fn contrast(a: &[u8; 3], b: &[u8; 3]) -> i32 {
    let part = |channel: usize| EYE[channel] * (i32::from(a[channel]) - i32::from(b[channel])).pow(2);
    (0..3).map(part).sum()
}
