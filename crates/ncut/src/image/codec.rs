//! Picture files: bytes to a picture and back. The decoders are those of the `image` crate.

use std::io::Cursor;
use std::path::Path;

use ::image::codecs::jpeg::JpegEncoder;
use ::image::error::{DecodingError, ImageFormatHint};
use ::image::{
    DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, ImageResult, Limits, RgbImage,
};

use super::picture::Picture;
use crate::error::{Error, Result};
use crate::memory;
use crate::progress::Clock;

/// Quality of JPEG files: borders one pixel wide stay visible.
const JPEG_QUALITY: u8 = 95;

/// A format pictures are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PictureFormat(ImageFormat);

impl PictureFormat {
    /// The format a file's name tells: `.png .jpg .jpeg .bmp .gif .ppm .pnm .qoi .tga .tif .tiff .webp`.
    ///
    /// # Errors
    /// When the ending is another one.
    pub fn of(path: &Path) -> Result<Self> {
        let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
        Ok(Self(match ending.as_deref() {
            Some("png") => ImageFormat::Png,
            Some("jpg" | "jpeg") => ImageFormat::Jpeg,
            Some("bmp") => ImageFormat::Bmp,
            Some("gif") => ImageFormat::Gif,
            Some("ppm" | "pnm") => ImageFormat::Pnm,
            Some("qoi") => ImageFormat::Qoi,
            Some("tga") => ImageFormat::Tga,
            Some("tif" | "tiff") => ImageFormat::Tiff,
            Some("webp") => ImageFormat::WebP,
            _ => {
                let problem = "unknown kind of picture file; known endings are .png .jpg .jpeg .bmp .gif .ppm \
                               .pnm .qoi .tga .tif .tiff .webp";
                return Err(Error::in_file(None, problem).at(path));
            }
        }))
    }

    /// Finds out early whether a picture of this size can be written.
    ///
    /// # Errors
    /// When the format has no room for so many rows or columns.
    pub fn check_size(self, height: usize, width: usize) -> Result<()> {
        let longest = match self.0 {
            ImageFormat::WebP => 1 << 14,
            ImageFormat::Jpeg | ImageFormat::Gif | ImageFormat::Tga => usize::from(u16::MAX),
            _ => i32::MAX as usize,
        };
        if height.max(width) <= longest {
            return Ok(());
        }
        Err(Error::in_file(
            None,
            format!(
                "{width} x {height} pixels are too many, the longest side here is {longest}; write a .png"
            ),
        ))
    }
}

impl Picture {
    /// The picture in the bytes of a file: PNG, JPEG, BMP, GIF (the first frame), PNM, QOI, TGA, TIFF or
    /// WebP. The content tells which; `name` is asked only where it cannot (TGA).
    ///
    /// Grey and colour of 8 and 16 bits, and colour of floats, keep the file's values. What is transparent is
    /// seen over white (and rounded to whole numbers where the file has those). Photographs are turned
    /// upright as their orientation tag says. Colours that are grey everywhere become a grey picture.
    ///
    /// # Errors
    /// When the bytes are no picture, a damaged one, or one cut short.
    pub fn decode(bytes: &[u8], name: &Path) -> Result<Self> {
        Self::decode_by(bytes, name, &Clock::new())
    }

    /// As [`decode`](Self::decode), where the picture must fit the memory that the clock allows.
    ///
    /// # Errors
    /// As [`decode`](Self::decode), or when the picture has too many pixels, before they are decoded.
    pub fn decode_by(bytes: &[u8], name: &Path, clock: &Clock<'_>) -> Result<Self> {
        if bytes.is_empty() {
            return Err(Error::in_file(None, "is empty"));
        }
        let image = decoded(bytes, name, clock)?;
        let picture = from_image(&image);
        picture.map_err(|error| Error::in_file(None, error.to_string()))
    }

    /// The bytes of a file with this picture, 8 bits a value.
    ///
    /// # Errors
    /// When the format cannot hold a picture of this size.
    pub fn encode(&self, format: PictureFormat) -> Result<Vec<u8>> {
        format.check_size(self.height(), self.width())?;
        let (height, width) = (self.height() as u32, self.width() as u32);
        let bytes = (0..self.n_pixels()).flat_map(|pixel| self.colour(pixel)).collect();
        let image = RgbImage::from_raw(width, height, bytes).expect("three bytes for every pixel");
        let mut file = Cursor::new(Vec::new());
        let written = match format.0 {
            ImageFormat::Jpeg => {
                image.write_with_encoder(JpegEncoder::new_with_quality(&mut file, JPEG_QUALITY))
            }
            format => image.write_to(&mut file, format),
        };
        written.map_err(|error| Error::in_file(None, format!("cannot be written: {error}")))?;
        Ok(file.into_inner())
    }

    /// Red, green and blue of the pixel of that number, from 0 to 255.
    pub(super) fn colour(&self, pixel: usize) -> [u8; 3] {
        let byte = |value: f64| (value / self.white() * 255.0).round().clamp(0.0, 255.0) as u8;
        match *self.at(pixel) {
            [red, green, blue] => [byte(red), byte(green), byte(blue)],
            _ => [byte(self.grey(pixel)); 3],
        }
    }
}

pub(super) fn decoded(bytes: &[u8], name: &Path, clock: &Clock<'_>) -> Result<DynamicImage> {
    let refuse = |error: ImageError| Error::in_file(None, problem(&error));
    let decoder = decoder(bytes, name).map_err(refuse)?;
    // The samples, once more where they are turned upright, and as 64-bit floats.
    let n_samples = decoder.total_bytes() / u64::from(decoder.color_type().bytes_per_pixel()).max(1)
        * u64::from(decoder.color_type().channel_count());
    let needed = decoder.total_bytes().saturating_mul(2).saturating_add(n_samples.saturating_mul(8));
    memory::check(clock, "decoding the picture", needed, "use a smaller one")?;
    decode(decoder).map_err(refuse)
}

fn decoder<'b>(bytes: &'b [u8], name: &Path) -> ImageResult<impl ImageDecoder + 'b> {
    let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format()?;
    if reader.format().is_none()
        && ImageFormat::from_path(name).is_ok_and(|format| format == ImageFormat::Tga)
    {
        reader.set_format(ImageFormat::Tga);
    }
    if reader.format() == Some(ImageFormat::Jpeg) && !is_whole_jpeg(bytes) {
        // The decoder would fill up what is missing with grey.
        return Err(ImageError::Decoding(DecodingError::new(
            ImageFormatHint::Exact(ImageFormat::Jpeg),
            "the end is missing",
        )));
    }
    let decoder = reader.into_decoder()?;
    Limits::default().reserve(decoder.total_bytes())?;
    Ok(decoder)
}

fn decode(mut decoder: impl ImageDecoder) -> ImageResult<DynamicImage> {
    let orientation = decoder.orientation()?;
    let mut image = DynamicImage::from_decoder(decoder)?;
    image.apply_orientation(orientation);
    Ok(image)
}

/// What is wrong with a file, for people.
fn problem(error: &ImageError) -> String {
    match error {
        ImageError::Unsupported(_) => {
            format!("is no picture that can be read: {}", lower_case(&error.to_string()))
        }
        ImageError::Limits(_) => "is too large, or damaged: it promises more than 512 MiB of pixels".into(),
        _ => format!("is a damaged picture: {}", lower_case(&error.to_string())),
    }
}

fn lower_case(message: &str) -> String {
    let mut letters = message.trim_end_matches('.').chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// Whether the end of the picture is there. Between the segments of a JPEG lie scans, in which a marker is
/// 0xff followed by neither 0 nor a restart; the marker 0xd9 ends the picture.
fn is_whole_jpeg(bytes: &[u8]) -> bool {
    const END: u8 = 0xd9;
    let mut at = 2;
    while let Some(&[mark, kind]) = bytes.get(at..at + 2) {
        at += match (mark, kind) {
            (0xff, END) => return true,
            // Within a scan, or filling before a marker.
            (0xff, 0x00 | 0x01 | 0xd0..=0xd8) => 2,
            (0xff, 0xff) => 1,
            (0xff, _) => match bytes.get(at + 2..at + 4) {
                Some(&[high, low]) => 2 + usize::from(u16::from_be_bytes([high, low])),
                _ => return false,
            },
            _ => 1,
        };
    }
    false
}

pub(super) fn from_image(image: &DynamicImage) -> Result<Picture> {
    let (height, width) = (image.height() as usize, image.width() as usize);
    let (n_channels, values, white) = match image {
        DynamicImage::ImageLuma8(image) => opaque::<1, u8>(image),
        DynamicImage::ImageRgb8(image) => opaque::<3, u8>(image),
        DynamicImage::ImageLumaA8(image) => over_white::<2, u8>(image),
        DynamicImage::ImageRgba8(image) => over_white::<4, u8>(image),
        DynamicImage::ImageLuma16(image) => opaque::<1, u16>(image),
        DynamicImage::ImageRgb16(image) => opaque::<3, u16>(image),
        DynamicImage::ImageLumaA16(image) => over_white::<2, u16>(image),
        DynamicImage::ImageRgba16(image) => over_white::<4, u16>(image),
        DynamicImage::ImageRgb32F(image) => opaque::<3, f32>(image),
        DynamicImage::ImageRgba32F(image) => over_white::<4, f32>(image),
        _ => return Err(Error::shape("has a kind of pixels that cannot be read; save it with 8 or 16 bits")),
    };
    let grey = n_channels == 3 && values.chunks_exact(3).all(|c| c[0] == c[1] && c[1] == c[2]);
    let picture = if grey {
        Picture::new(height, width, 1, values.into_iter().step_by(3).collect(), white)?
    } else {
        Picture::new(height, width, n_channels, values, white)?
    };
    Ok(if white > 1.0 { picture.whole() } else { picture })
}

/// A number as files hold it.
trait Sample: Copy + Into<f64> {
    const WHITE: f64;
    /// The nearest value a file can hold.
    fn nearest(value: f64) -> f64;
}

impl Sample for u8 {
    const WHITE: f64 = u8::MAX as f64;
    fn nearest(value: f64) -> f64 {
        value.round()
    }
}

impl Sample for u16 {
    const WHITE: f64 = u16::MAX as f64;
    fn nearest(value: f64) -> f64 {
        value.round()
    }
}

impl Sample for f32 {
    const WHITE: f64 = 1.0;
    fn nearest(value: f64) -> f64 {
        value
    }
}

/// Channels, values and white of samples without alpha.
fn opaque<const CHANNELS: usize, S: Sample>(samples: &[S]) -> (usize, Vec<f64>, f64) {
    (CHANNELS, samples.iter().map(|&sample| sample.into()).collect(), S::WHITE)
}

/// The same for samples whose last channel is alpha, as they look over white.
fn over_white<const SAMPLES: usize, S: Sample>(samples: &[S]) -> (usize, Vec<f64>, f64) {
    let mut values = Vec::with_capacity(samples.len() / SAMPLES * (SAMPLES - 1));
    for pixel in samples.chunks_exact(SAMPLES) {
        let alpha = pixel[SAMPLES - 1].into() / S::WHITE;
        for &sample in &pixel[..SAMPLES - 1] {
            values.push(S::nearest(alpha * sample.into() + (1.0 - alpha) * S::WHITE));
        }
    }
    (SAMPLES - 1, values, S::WHITE)
}
