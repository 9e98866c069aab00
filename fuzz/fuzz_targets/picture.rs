#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use ncut::image::{Picture, PictureFormat, PictureGraph, PixelLinks, boundaries, flat};
use ncut::{Clock, Ncut};

/// Pictures that are larger are only decoded.
const MAX_PIXELS: usize = 256;
/// What decoding may take: a few bytes can promise half a gigabyte of pixels.
const MAX_BYTES: u64 = 64 << 20;

fuzz_target!(|bytes: &[u8]| {
    let clock = Clock::new();
    clock.allow_memory(MAX_BYTES);
    // The name counts only where the content does not tell the format.
    for name in ["picture", "picture.tga"] {
        let Ok(picture) = Picture::decode_by(bytes, Path::new(name), &clock) else { continue };
        assert_eq!(picture.values().len(), picture.n_pixels() * picture.n_channels());
        assert!(picture.values().iter().all(|value| value.is_finite()));
        if picture.n_pixels() <= MAX_PIXELS {
            segment(&picture, bytes.len());
        }
    }
});

/// What `ncut segment` does with a picture.
fn segment(picture: &Picture, choice: usize) {
    let clock = Clock::new();
    let links = [PixelLinks::Grid4, PixelLinks::Grid8, PixelLinks::Radius(2.5)][choice % 3];
    let blurred = picture.blur((choice % 4) as f64, &clock).expect("a small blur");
    let Ok(scaled) = blurred.rescale([1.0, 0.5, 2.0][choice / 3 % 3], &clock) else { return };
    // Values that differ by more than floats can tell are refused.
    let Ok(graph) = PictureGraph { links, ..PictureGraph::default() }.build(&scaled, &clock) else { return };
    assert_eq!(graph.n_nodes(), scaled.n_pixels());
    let k = 1 + choice % graph.n_nodes().min(5);
    let found = Ncut::new(k).min_share(0.0).solve(&graph).expect("k is between 1 and the pixels");
    assert_eq!(found.clusters.len(), k);
    let format = PictureFormat::of(Path::new("regions.png")).expect("a known ending");
    for drawing in [boundaries(&scaled, &found.labels), flat(scaled.height(), scaled.width(), &found.labels)]
    {
        let bytes = drawing.expect("a label for every pixel").encode(format).expect("a small picture");
        let again = Picture::decode(&bytes, Path::new("regions.png")).expect("our own picture");
        assert_eq!((again.height(), again.width()), (scaled.height(), scaled.width()));
    }
}
