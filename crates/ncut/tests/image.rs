//! Pictures: decoding, blur and scale against scipy and scikit-image, graphs against scikit-learn and against
//! slow code, drawings.
#![cfg(feature = "image")]

use std::io::Cursor;
use std::ops::ControlFlow;
use std::path::Path;

use image::{DynamicImage, GrayAlphaImage, ImageBuffer, ImageFormat, Rgb32FImage, RgbImage, RgbaImage};
use ncut::image::{Picture, PictureFormat, PictureGraph, PixelLinks, boundaries, flat, resize_labels};
use ncut::{Clock, Error, Graph, Label, Ncut};
use proptest::prelude::*;

/// `numpy.random.default_rng(7).integers(0, 256, (4, 5))`.
const PIXELS: [u8; 20] =
    [241, 160, 175, 229, 148, 198, 213, 57, 14, 76, 72, 223, 233, 1, 127, 210, 33, 204, 30, 119];

/// A grey picture as a file of 8 bits.
fn pgm(height: usize, width: usize, pixels: &[u8]) -> Vec<u8> {
    [format!("P5 {width} {height} 255\n").as_bytes(), pixels].concat()
}

fn decode(bytes: &[u8]) -> ncut::Result<Picture> {
    Picture::decode(bytes, Path::new("picture"))
}

fn four_by_five() -> Picture {
    decode(&pgm(4, 5, &PIXELS)).unwrap()
}

fn grey(height: usize, width: usize, values: impl IntoIterator<Item = u8>) -> Picture {
    Picture::new(height, width, 1, values.into_iter().map(f64::from).collect(), 255.0).unwrap()
}

fn file(image: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.into().write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (place, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= tolerance, "{found} instead of {expected} at {place}");
    }
}

fn graph(settings: PictureGraph, picture: &Picture) -> Graph<'static> {
    settings.build(picture, &Clock::new()).unwrap()
}

#[test]
fn blurring_bytes_gives_scipys_bytes() {
    // scipy.ndimage.gaussian_filter(PIXELS as uint8, 1.2), scipy 1.17.1.
    let expected = [
        192.0, 176.0, 154.0, 137.0, 128.0, 176.0, 164.0, 140.0, 117.0, 108.0, 158.0, 151.0, 130.0, 105.0,
        95.0, 149.0, 142.0, 125.0, 103.0, 94.0,
    ];
    let picture = four_by_five();
    let blurred = picture.blur(1.2, &Clock::new()).unwrap();
    assert_eq!(blurred.values(), expected);
    assert_eq!(blurred.white(), 255.0);
}

#[test]
fn blurring_real_numbers_gives_scipys_numbers() {
    // scipy.ndimage.gaussian_filter(PIXELS as float, 1.2), scipy 1.17.1.
    let expected = [
        193.11375418008538,
        176.67836673299286,
        154.8270997638519,
        138.09013915993583,
        129.6215846894263,
        177.431209346108,
        165.06376134951984,
        141.00019735770087,
        118.16836637493097,
        108.85942497540017,
        158.96176266946216,
        151.47231390227074,
        130.4112820394423,
        105.71489762692671,
        96.07116840172321,
        149.7283773094212,
        142.4782725612177,
        125.67583023580826,
        104.19681393451643,
        95.43537738925917,
    ];
    let picture = grey(4, 5, PIXELS);
    assert_close(picture.blur(1.2, &Clock::new()).unwrap().values(), &expected, 1e-12);
}

#[test]
fn an_area_of_one_value_keeps_it_under_every_blur() {
    for sigma in [0.3, 1.0, 1.6, 2.0, 3.3, 20.0] {
        for value in [0, 1, 100, 254, 255] {
            let picture = decode(&pgm(3, 4, &[value; 12])).unwrap();
            let blurred = picture.blur(sigma, &Clock::new()).unwrap();
            assert_eq!(blurred.values(), [f64::from(value); 12], "sigma {sigma}");
        }
    }
}

#[test]
fn scaling_gives_scikit_images_numbers() {
    // skimage.transform.rescale(PIXELS as uint8, 0.6, mode="reflect", anti_aliasing=False), skimage 0.26.0.
    let expected = [
        0.8176470588235295,
        0.4549019607843137,
        0.4516339869281045,
        0.5359477124183006,
        0.8568627450980393,
        0.34183006535947724,
    ];
    let picture = four_by_five();
    let smaller = picture.rescale(0.6, &Clock::new()).unwrap();
    assert_eq!((smaller.height(), smaller.width(), smaller.white()), (2, 3, 1.0));
    assert_close(smaller.values(), &expected, 1e-14);
    // The same with factor 1.7, the first row and the last.
    let first = [
        0.86453081232493,
        0.8052871148459384,
        0.6666841736694678,
        0.6136379551820728,
        0.6278186274509804,
        0.7092261904761905,
        0.6062850140056022,
        0.5569152661064426,
    ];
    let last = [
        0.6290966386554624,
        0.5244747899159663,
        0.32253151260504176,
        0.6570903361344538,
        0.5959033613445378,
        0.13897058823529415,
        0.3070903361344538,
        0.40211834733893553,
    ];
    let larger = picture.rescale(1.7, &Clock::new()).unwrap();
    assert_eq!((larger.height(), larger.width()), (7, 8));
    assert_close(&larger.values()[..8], &first, 1e-14);
    assert_close(&larger.values()[48..], &last, 1e-14);
}

#[test]
fn colours_are_blurred_and_scaled_channel_by_channel() {
    let shifted = |channel: usize| PIXELS.iter().cycle().skip(7 * channel).take(20).copied();
    let colours: Vec<f64> =
        (0..20).flat_map(|pixel| (0..3).map(move |c| f64::from(PIXELS[(pixel + 7 * c) % 20]))).collect();
    let colour = Picture::new(4, 5, 3, colours, 255.0).unwrap();
    let colour = colour.blur(0.8, &Clock::new()).unwrap();
    let colour = colour.rescale(1.5, &Clock::new()).unwrap();
    for channel in 0..3 {
        let single = grey(4, 5, shifted(channel));
        let single = single.blur(0.8, &Clock::new()).unwrap();
        let single = single.rescale(1.5, &Clock::new()).unwrap();
        let of_channel: Vec<f64> = colour.values().iter().skip(channel).step_by(3).copied().collect();
        assert_eq!(of_channel, single.values());
    }
}

#[test]
fn the_four_neighbour_graph_is_scikit_learns() {
    // img_to_graph of the first two rows and three columns of PIXELS, exp(-10 g / std) + 1e-6, diagonal
    // dropped; scikit-learn 1.9.1.
    let expected = [
        1.2078804856980666e-05,
        0.0023414464389589435,
        1.2078804856980666e-05,
        0.1208696029443051,
        0.0005731471096563411,
        0.1208696029443051,
        1.0603762615784793e-06,
        0.0023414464389589435,
        0.1208696029443051,
        0.0005731471096563411,
        0.1208696029443051,
        1.0002857988155112e-06,
        1.0603762615784793e-06,
        1.0002857988155112e-06,
    ];
    let graph = graph(PictureGraph::default(), &grey(2, 3, [241, 160, 175, 198, 213, 57]));
    assert_eq!(graph.offsets(), [0, 2, 5, 7, 9, 12, 14]);
    assert_eq!(graph.columns(), [1, 3, 0, 2, 4, 1, 5, 0, 4, 1, 3, 5, 2, 4]);
    let weights: Vec<f64> = (0..14).map(|entry| graph.weights().at(entry)).collect();
    assert_close(&weights, &expected, 1e-15);
}

#[test]
fn a_picture_of_one_value_makes_an_even_grid() {
    for value in [0, 7, 255] {
        let picture = grey(3, 3, [value; 9]);
        let graph = graph(PictureGraph::default(), &picture);
        assert_eq!(graph.n_edges(), 12);
        assert!(graph.edges().all(|(_, _, weight)| weight == 1.0 + 1e-6));
        let labels = Ncut::new(3).solve(&graph).unwrap().labels;
        assert_eq!(labels.iter().max(), Some(&2));
    }
}

#[test]
fn one_pixel_is_one_region_and_no_more() {
    let graph = graph(PictureGraph::default(), &grey(1, 1, [9]));
    assert_eq!((graph.n_nodes(), graph.n_edges()), (1, 0));
    assert_eq!(Ncut::new(1).solve(&graph).unwrap().labels, [0]);
    let refusal = Ncut::new(2).solve(&graph).unwrap_err();
    assert!(matches!(refusal, Error::BadClusterCount { n_clusters: 2, n_nodes: 1, .. }));
}

#[test]
fn a_line_of_pixels_is_cut_where_its_values_jump() {
    for (height, width) in [(1, 8), (8, 1)] {
        let picture = grey(height, width, [10, 12, 11, 10, 90, 91, 90, 92]);
        for links in [PixelLinks::Grid4, PixelLinks::Grid8, PixelLinks::Radius(2.0)] {
            let graph = graph(PictureGraph { links, ..PictureGraph::default() }, &picture);
            assert_eq!(Ncut::new(2).solve(&graph).unwrap().labels, [0, 0, 0, 0, 1, 1, 1, 1]);
        }
    }
}

/// The graph's matrix from all pairs of pixels.
fn slow_matrix(settings: PictureGraph, picture: &Picture) -> Vec<Vec<f64>> {
    let n_pixels = picture.n_pixels();
    let place = |pixel: usize| ((pixel / picture.width()) as f64, (pixel % picture.width()) as f64);
    let squared_distance = |a: usize, b: usize| {
        let ((y, x), (v, u)) = (place(a), place(b));
        (y - v).powi(2) + (x - u).powi(2)
    };
    let colour = |pixel: usize| picture.pixel(pixel / picture.width(), pixel % picture.width());
    let difference = |a: usize, b: usize| {
        colour(a).iter().zip(colour(b)).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    };
    let pairs = || (0..n_pixels).flat_map(|a| (0..n_pixels).map(move |b| (a, b)));
    let grey = |values: &[f64]| match *values {
        [r, g, b] => 0.2125 * r + 0.7154 * g + 0.0721 * b,
        _ => values[0],
    };
    let mut entries: Vec<f64> = (0..n_pixels).map(|pixel| grey(colour(pixel))).collect();
    let beside = pairs().filter(|&(a, b)| squared_distance(a, b) == 1.0);
    entries.extend(beside.map(|(a, b)| difference(a, b)));
    let mean = entries.iter().sum::<f64>() / entries.len() as f64;
    let std = (entries.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / entries.len() as f64).sqrt();
    let reach = match settings.links {
        PixelLinks::Grid4 => 1.0,
        PixelLinks::Grid8 => 2.0,
        PixelLinks::Radius(radius) => radius * radius,
    };
    let mut matrix = vec![vec![0.0; n_pixels]; n_pixels];
    for (a, b) in pairs().filter(|&(a, b)| a != b && squared_distance(a, b) <= reach) {
        matrix[a][b] = match settings.links {
            PixelLinks::Radius(_) => {
                let value = difference(a, b) / picture.white() / settings.sigma_value;
                (-value.powi(2)).exp() * (-squared_distance(a, b) / settings.sigma_distance.powi(2)).exp()
            }
            _ if std == 0.0 => 1.0 + settings.epsilon,
            _ => (-settings.beta * difference(a, b) / std).exp() + settings.epsilon,
        };
    }
    matrix
}

fn pictures() -> impl Strategy<Value = Picture> {
    (1..7usize, 1..7usize, prop::sample::select(vec![1usize, 3])).prop_flat_map(
        |(height, width, channels)| {
            prop::collection::vec(0.0..255.0f64, height * width * channels)
                .prop_map(move |values| Picture::new(height, width, channels, values, 255.0).unwrap())
        },
    )
}

proptest! {
    #[test]
    fn every_graph_is_that_of_all_pairs(
        picture in pictures(),
        links in prop_oneof![
            Just(PixelLinks::Grid4), Just(PixelLinks::Grid8), (1.0..5.0f64).prop_map(PixelLinks::Radius),
        ],
    ) {
        let settings = PictureGraph { links, sigma_value: 0.5, ..PictureGraph::default() };
        let graph = graph(settings, &picture);
        let matrix = slow_matrix(settings, &picture);
        for (node, row) in matrix.iter().enumerate() {
            let expected: Vec<(u32, f64)> =
                (0..).zip(row.iter().copied()).filter(|&(_, weight)| weight > 0.0).collect();
            let found: Vec<(u32, f64)> = graph.neighbors(node as u32).collect();
            prop_assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(&expected) {
                prop_assert_eq!(found.0, expected.0);
                prop_assert!((found.1 - expected.1).abs() <= 1e-12);
            }
        }
    }

    #[test]
    fn damaged_files_are_read_or_refused(
        kind in 0..WRITTEN.len(), damage in prop::collection::vec((0.0..1.0f64, any::<u8>()), 1..4),
    ) {
        let (name, mut bytes) = files_of_every_kind().swap_remove(kind);
        for (place, byte) in damage {
            let place = (place * bytes.len() as f64) as usize;
            bytes[place] = byte;
        }
        let refusal = Picture::decode(&bytes, Path::new(&name)).err();
        let expected = matches!(refusal, None | Some(Error::BadFile { .. }));
        prop_assert!(expected, "{refusal:?}");
    }

    #[test]
    fn labels_survive_being_enlarged_and_brought_back(
        labels in prop::collection::vec(0..5 as Label, 12), factor in 1..5usize,
    ) {
        let (small, large) = ((3, 4), (3 * factor, 4 * factor));
        let enlarged = resize_labels(&labels, small, large).unwrap();
        prop_assert_eq!(resize_labels(&enlarged, large, small).unwrap(), labels);
    }

    #[test]
    fn regions_side_by_side_have_different_colours(
        labels in prop::collection::vec(0..40 as Label, 100),
    ) {
        let drawing = flat(10, 10, &labels).unwrap();
        for row in 0..10 {
            for column in 0..9 {
                let same = labels[10 * row + column] == labels[10 * row + column + 1];
                prop_assert_eq!(drawing.pixel(row, column) == drawing.pixel(row, column + 1), same);
                let same = labels[10 * column + row] == labels[10 * (column + 1) + row];
                prop_assert_eq!(drawing.pixel(column, row) == drawing.pixel(column + 1, row), same);
            }
        }
    }
}

#[test]
fn up_to_32_regions_all_have_different_colours() {
    let labels: Vec<Label> = (0..32).collect();
    let drawing = flat(1, 32, &labels).unwrap();
    let mut colours: Vec<String> = (0..32).map(|column| format!("{:?}", drawing.pixel(0, column))).collect();
    colours.sort();
    colours.dedup();
    assert_eq!(colours.len(), 32);
}

#[test]
fn borders_are_drawn_over_the_picture_and_nothing_else_changes() {
    let picture = grey(2, 4, [10, 20, 30, 40, 50, 60, 70, 80]);
    let drawing = boundaries(&picture, &[0, 0, 1, 1, 0, 0, 1, 1]).unwrap();
    assert_eq!(drawing.pixel(0, 0), [10.0; 3]);
    assert_eq!(drawing.pixel(0, 1), drawing.pixel(1, 1));
    assert_ne!(drawing.pixel(0, 1), [20.0; 3]);
    assert_eq!(drawing.pixel(1, 3), [80.0; 3]);
}

#[test]
fn a_label_for_every_pixel_is_needed() {
    assert!(matches!(flat(2, 2, &[0, 1, 2]), Err(Error::BadLabels { .. })));
    assert!(matches!(boundaries(&grey(1, 2, [0, 1]), &[0]), Err(Error::BadLabels { .. })));
    assert!(matches!(resize_labels(&[0], (1, 2), (2, 2)), Err(Error::BadLabels { .. })));
}

#[test]
fn grey_and_colour_of_8_and_16_bits_keep_their_values() {
    let picture = decode(&pgm(1, 3, &[0, 7, 255])).unwrap();
    assert_eq!((picture.n_channels(), picture.white(), picture.values()), (1, 255.0, &[0.0, 7.0, 255.0][..]));

    let colour = RgbImage::from_raw(2, 1, vec![1, 2, 3, 4, 5, 6]).unwrap();
    let picture = decode(&file(colour, ImageFormat::Png)).unwrap();
    assert_eq!((picture.n_channels(), picture.values()), (3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0][..]));

    let deep: ImageBuffer<image::Luma<u16>, _> = ImageBuffer::from_raw(2, 1, vec![300u16, 65535]).unwrap();
    let picture = decode(&file(deep, ImageFormat::Png)).unwrap();
    assert_eq!((picture.white(), picture.values()), (65535.0, &[300.0, 65535.0][..]));

    let deep: ImageBuffer<image::Rgb<u16>, _> = ImageBuffer::from_raw(1, 1, vec![1u16, 300, 65535]).unwrap();
    let picture = decode(&file(deep, ImageFormat::Tiff)).unwrap();
    assert_eq!(picture.values(), [1.0, 300.0, 65535.0]);

    let real = Rgb32FImage::from_raw(1, 1, vec![0.25, 0.5, 1.0]).unwrap();
    let picture = decode(&file(real, ImageFormat::Tiff)).unwrap();
    assert_eq!((picture.white(), picture.values()), (1.0, &[0.25, 0.5, 1.0][..]));
}

#[test]
fn colours_that_are_grey_everywhere_make_a_grey_picture() {
    let colour = RgbImage::from_raw(2, 1, vec![9, 9, 9, 200, 200, 200]).unwrap();
    let picture = decode(&file(colour, ImageFormat::Png)).unwrap();
    assert_eq!((picture.n_channels(), picture.values()), (1, &[9.0, 200.0][..]));
}

#[test]
fn what_is_transparent_is_seen_over_white() {
    let colour = RgbaImage::from_raw(3, 1, vec![10, 20, 30, 255, 10, 20, 30, 0, 0, 100, 200, 51]).unwrap();
    let picture = decode(&file(colour, ImageFormat::Png)).unwrap();
    assert_eq!(picture.pixel(0, 0), [10.0, 20.0, 30.0]);
    assert_eq!(picture.pixel(0, 1), [255.0; 3]);
    assert_eq!(picture.pixel(0, 2), [204.0, 224.0, 244.0]);
    let grey = GrayAlphaImage::from_raw(2, 1, vec![100, 255, 100, 0]).unwrap();
    assert_eq!(decode(&file(grey, ImageFormat::Png)).unwrap().values(), [100.0, 255.0]);
}

const WRITTEN: [(&str, ImageFormat); 9] = [
    ("png", ImageFormat::Png),
    ("jpg", ImageFormat::Jpeg),
    ("bmp", ImageFormat::Bmp),
    ("gif", ImageFormat::Gif),
    ("ppm", ImageFormat::Pnm),
    ("qoi", ImageFormat::Qoi),
    ("tga", ImageFormat::Tga),
    ("tiff", ImageFormat::Tiff),
    ("webp", ImageFormat::WebP),
];

/// A picture too varied to be packed into a few bytes, as a file of every kind.
fn files_of_every_kind() -> Vec<(String, Vec<u8>)> {
    let labels: Vec<Label> = (0..400).map(|pixel| pixel * pixel % 23).collect();
    let drawing = flat(20, 20, &labels).unwrap();
    let file = |ending: &str| {
        let name = format!("picture.{ending}");
        let bytes = drawing.encode(PictureFormat::of(Path::new(&name)).unwrap()).unwrap();
        (name, bytes)
    };
    WRITTEN.iter().map(|(ending, _)| file(ending)).collect()
}

#[test]
fn every_format_written_can_be_read() {
    for (name, bytes) in files_of_every_kind() {
        let picture = Picture::decode(&bytes, Path::new(&name)).unwrap();
        assert_eq!((picture.height(), picture.width(), picture.n_channels()), (20, 20, 3), "{name}");
    }
    for ((name, bytes), (_, format)) in files_of_every_kind().iter().zip(WRITTEN) {
        assert!(image::load_from_memory_with_format(bytes, format).is_ok(), "{name} is not what it says");
    }
}

#[test]
fn files_cut_short_are_refused_wherever_the_cut_is() {
    for (name, bytes) in files_of_every_kind() {
        for share in [0, 1, 10, 50, 90] {
            let cut = &bytes[..bytes.len() * share / 100];
            let refusal = Picture::decode(cut, Path::new(&name));
            assert!(matches!(refusal, Err(Error::BadFile { .. })), "{share} % of {name}: {refusal:?}");
        }
    }
}

#[test]
fn what_is_no_picture_is_refused() {
    for bytes in [&b"hello, this is text"[..], b"\x89PNG\r\n\x1a\nrubbish", b"\xff\xd8\xff", b"P5 0 0 255\n"]
    {
        assert!(matches!(decode(bytes), Err(Error::BadFile { .. })), "{bytes:?}");
    }
    // A header that promises terabytes.
    assert!(matches!(decode(b"P5 2000000 2000000 255\n"), Err(Error::BadFile { .. })));
    let not_finite = Rgb32FImage::from_raw(1, 1, vec![0.25, f32::NAN, 1.0]).unwrap();
    let refusal = decode(&file(not_finite, ImageFormat::Tiff)).unwrap_err().to_string();
    assert!(refusal.contains("the pixel in row 0, column 0 is NaN"), "{refusal}");
}

#[test]
fn settings_outside_their_range_are_refused_by_name() {
    let picture = grey(2, 2, [1, 2, 3, 4]);
    let refusal = |error: Error| error.to_string();
    for sigma in [-1.0, f64::NAN, 1e9] {
        assert!(refusal(picture.blur(sigma, &Clock::new()).unwrap_err()).starts_with("blur is "));
    }
    for factor in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(refusal(picture.rescale(factor, &Clock::new()).unwrap_err()).starts_with("scale is "));
    }
    assert!(matches!(picture.rescale(1e9, &Clock::new()), Err(Error::TooManyNodes { .. })));
    let default = PictureGraph::default();
    for (settings, name) in [
        (PictureGraph { beta: -1.0, ..default }, "beta"),
        (PictureGraph { epsilon: 2.0, ..default }, "epsilon"),
        (PictureGraph { sigma_value: 0.0, ..default }, "sigma_value"),
        (PictureGraph { sigma_distance: f64::NAN, ..default }, "sigma_distance"),
        (PictureGraph { links: PixelLinks::Radius(0.5), ..default }, "radius"),
    ] {
        let refused = settings.build(&picture, &Clock::new()).unwrap_err();
        assert!(refusal(refused).starts_with(&format!("{name} is ")));
    }
    assert!(matches!(Picture::new(1, 2, 1, vec![0.0], 1.0), Err(Error::BadShape { .. })));
    assert!(matches!(Picture::new(0, 2, 1, vec![], 1.0), Err(Error::BadShape { .. })));
    assert!(matches!(Picture::new(1, 1, 2, vec![0.0, 0.0], 1.0), Err(Error::BadShape { .. })));
}

#[test]
fn every_stage_can_be_stopped() {
    let picture = grey(4, 5, PIXELS);
    let stop = Clock::observed(|_: &ncut::Progress| ControlFlow::Break(()));
    assert!(matches!(picture.blur(1.0, &stop), Err(Error::Stopped { .. })));
    assert!(matches!(picture.rescale(0.5, &stop), Err(Error::Stopped { .. })));
    assert!(matches!(PictureGraph::default().build(&picture, &stop), Err(Error::Stopped { .. })));
}

/// Found by fuzzing: thirty bytes that promise 450 MB of pixels.
#[test]
fn a_few_bytes_that_promise_many_pixels_are_refused_before_they_are_decoded() {
    let bytes =
        b"qoif\x09\x00\x00\x02\x00\x00\x00\x01\x03\x00\xfe\x0a\x14\x1e\xfe\xc8\x64\0\0\0\0\0\0\0\0\x01";
    let clock = Clock::new();
    clock.allow_memory(64 << 20);
    let error = Picture::decode_by(bytes, Path::new("p.qoi"), &clock).unwrap_err();
    assert!(matches!(error, Error::TooLittleMemory { needed, .. } if needed > 450 << 20), "{error:?}");
}
