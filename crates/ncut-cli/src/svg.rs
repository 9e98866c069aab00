//! Small pictures as SVG.

use std::fmt::Write;

/// Side of a panel's square.
const SIDE: f64 = 280.0;
const TOP: f64 = 50.0;
/// Colours that stay apart for colour-blind eyes (Okabe and Ito).
const COLORS: [&str; 7] = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999"];

/// Colour of a cluster.
pub(crate) fn cluster_color(label: i32) -> &'static str {
    COLORS[label.rem_euclid(COLORS.len() as i32) as usize]
}

/// A picture in the making.
pub(crate) struct Canvas {
    svg: String,
}

impl Canvas {
    pub(crate) fn new(width: f64, height: f64) -> Self {
        let mut svg = String::new();
        let _ = writeln!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>"
        );
        Self { svg }
    }

    /// A square with a title, its left edge at `left`.
    pub(crate) fn panel(&mut self, left: f64, title: &str) -> Panel<'_> {
        let middle = left + SIDE / 2.0;
        let _ = writeln!(self.svg, "<text x=\"{middle}\" y=\"28\" text-anchor=\"middle\">{title}</text>");
        Panel { svg: &mut self.svg, left }
    }

    pub(crate) fn finish(mut self) -> String {
        self.svg.push_str("</svg>\n");
        self.svg
    }
}

/// A curve over whole numbers.
pub(crate) struct Curve<'a> {
    pub(crate) x_label: &'a str,
    pub(crate) y_label: &'a str,
    /// The number of the first value.
    pub(crate) first: usize,
    pub(crate) values: &'a [f64],
    /// The number to point out.
    pub(crate) marked: usize,
}

/// A square of a picture; coordinates run from 0 to 1, to the right and down.
pub(crate) struct Panel<'c> {
    svg: &'c mut String,
    left: f64,
}

impl Panel<'_> {
    pub(crate) fn dot(&mut self, x: f64, y: f64, radius: f64, color: &str) {
        let (x, y) = self.place(x, y);
        let _ = writeln!(self.svg, "<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"{radius}\" fill=\"{color}\"/>");
    }

    pub(crate) fn cell(&mut self, x: f64, y: f64, width: f64, height: f64, color: &str) {
        let (x, y) = self.place(x, y);
        // A little overlap hides the seams between neighbouring cells.
        let (width, height) = (width * SIDE + 0.1, height * SIDE + 0.1);
        let _ = writeln!(
            self.svg,
            "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" fill=\"{color}\"/>"
        );
    }

    pub(crate) fn curve(&mut self, curve: &Curve<'_>) {
        const MARGIN: f64 = 0.13;
        let largest = curve.values.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let across = |place: usize| MARGIN + (1.0 - MARGIN) * place as f64 / curve.values.len() as f64;
        let up = |value: f64| (1.0 - MARGIN) * (1.0 - value / (1.05 * largest));
        self.line((MARGIN, 0.0), (MARGIN, up(0.0)), "#888888");
        self.line((MARGIN, up(0.0)), (1.0, up(0.0)), "#888888");
        // As many numbers as there is room for.
        let step = (largest / 8.0).ceil().max(1.0) as usize;
        for tick in (0..=largest as usize).step_by(step) {
            self.text(MARGIN - 0.02, up(tick as f64) + 0.015, "end", &tick.to_string());
        }
        let step = curve.values.len().div_ceil(15);
        for place in (1..=curve.values.len()).step_by(step) {
            self.text(across(place), up(0.0) + 0.06, "middle", &(curve.first + place - 1).to_string());
        }
        self.text((1.0 + MARGIN) / 2.0, 1.0, "middle", curve.x_label);
        self.text(0.0, -0.02, "start", curve.y_label);
        let marked = (curve.marked + 1).saturating_sub(curve.first);
        self.line((across(marked), 0.0), (across(marked), up(0.0)), "#dddddd");
        for (place, pair) in (1..).zip(curve.values.windows(2)) {
            self.line((across(place), up(pair[0])), (across(place + 1), up(pair[1])), COLORS[0]);
        }
        for (place, &value) in (1..).zip(curve.values) {
            let color = if place == marked { COLORS[5] } else { COLORS[0] };
            self.dot(across(place), up(value), 4.0, color);
        }
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), color: &str) {
        let ((x1, y1), (x2, y2)) = (self.place(from.0, from.1), self.place(to.0, to.1));
        let _ = writeln!(
            self.svg,
            "<line x1=\"{x1:.2}\" y1=\"{y1:.2}\" x2=\"{x2:.2}\" y2=\"{y2:.2}\" stroke=\"{color}\" stroke-width=\"1.5\"/>"
        );
    }

    fn text(&mut self, x: f64, y: f64, anchor: &str, text: &str) {
        let (x, y) = self.place(x, y);
        let _ = writeln!(self.svg, "<text x=\"{x:.2}\" y=\"{y:.2}\" text-anchor=\"{anchor}\">{text}</text>");
    }

    fn place(&self, x: f64, y: f64) -> (f64, f64) {
        (self.left + x * SIDE, TOP + y * SIDE)
    }
}
