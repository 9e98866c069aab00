//! A picture small enough for a page, with its regions.

use std::path::Path;

use super::json::{Value, base64, packed_u32};
use crate::error::Result;
use crate::image::{Picture, PictureFormat, resize_labels};
use crate::metrics::Label;
use crate::progress::Clock;

/// Sides are scaled down to so many pixels.
const MAX_SIDE: usize = 900;
/// Pictures up to so many pixels are kept to the last bit.
const MAX_EXACT: usize = 1 << 16;

/// The picture and the rows of its regions as runs: a row and a number of pixels in turn, `none` for pixels without a region.
pub(super) fn value(
    picture: &Picture,
    labels: &[Label],
    row: impl Fn(Label) -> u32,
    clock: &Clock<'_>,
) -> Result<Value> {
    let from = (picture.height(), picture.width());
    let factor = (MAX_SIDE as f64 / from.0.max(from.1) as f64).min(1.0);
    let shown = picture.rescale(factor, clock)?;
    let (height, width) = (shown.height(), shown.width());
    let labels = resize_labels(labels, from, (height, width))?;
    let (name, kind) = if shown.n_pixels() <= MAX_EXACT { ("a.png", "png") } else { ("a.jpg", "jpeg") };
    let bytes = shown.encode(PictureFormat::of(Path::new(name))?)?;
    let runs = labels.chunk_by(|a, b| a == b).flat_map(|run| [row(run[0]), run.len() as u32]);
    Ok(Value::Object(vec![
        ("width", width.into()),
        ("height", height.into()),
        ("data", format!("data:image/{kind};base64,{}", base64(&bytes)).into()),
        ("runs", packed_u32(runs)),
    ]))
}
