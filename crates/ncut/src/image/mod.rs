//! From pixels to a graph, and from labels back to a picture.
//!
//! The default is the recipe of the paper's coins (scikit-learn's `plot_coin_segmentation`): blur, scale,
//! link every pixel to the four beside it, weigh by the difference of their values.
//!
//! ```
//! use ncut::image::{Picture, PictureGraph, flat};
//! use ncut::{Clock, Ncut};
//!
//! // Two rows of four pixels, dark on the left and bright on the right.
//! let values = vec![10.0, 11.0, 200.0, 201.0, 12.0, 10.0, 199.0, 200.0];
//! let picture = Picture::new(2, 4, 1, values, 255.0)?;
//! let graph = PictureGraph::default().build(&picture, &Clock::new())?;
//! let labels = Ncut::new(2).solve(&graph)?.labels;
//! assert_eq!(labels, [0, 0, 1, 1, 0, 0, 1, 1]);
//! let drawing = flat(2, 4, &labels)?;
//! assert_ne!(drawing.pixel(0, 0), drawing.pixel(0, 3));
//! # Ok::<(), ncut::Error>(())
//! ```

mod picture;
mod codec;
mod filter;
mod graph;
mod drawing;
mod scribbles;

pub use codec::PictureFormat;
pub use drawing::{boundaries, flat, resize_labels};
pub use graph::{PictureGraph, PixelLinks};
pub use picture::Picture;
pub use scribbles::{Mask, Scribbles};
