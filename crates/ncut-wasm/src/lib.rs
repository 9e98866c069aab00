//! ncut for JavaScript: the bytes of a file go in, labels and a page come out. It reads and clusters as the command line does,
//! so the labels are the same. The npm package (`npm/`) makes a pleasant module of it.

#![allow(clippy::needless_pass_by_value, reason = "JavaScript gives what it passes")]

mod settings;
mod summary;
mod work;

use std::ops::ControlFlow;
use std::time::Duration;

use ncut::{Clock, Progress};
use wasm_bindgen::prelude::*;

use settings::Settings;
use work::{Kind, Work};

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
/** Is told how the work goes. What `observe` returns says whether to stop: the best so far comes back then. */
export interface Observer {
  observe(stage: string, done: number, total: number, best: number | undefined): boolean;
}
"#;

#[wasm_bindgen]
extern "C" {
    /// Who is told how the work goes.
    #[wasm_bindgen(typescript_type = "Observer")]
    pub type Observer;

    #[wasm_bindgen(method)]
    fn observe(this: &Observer, stage: &str, done: f64, total: f64, best: Option<f64>) -> bool;

    /// The time in milliseconds, in pages, workers and Node alike.
    #[wasm_bindgen(js_namespace = performance, js_name = now)]
    fn milliseconds() -> f64;
}

/// Memory that a module of 32 bits may take, less some room for what is not estimated.
const MEMORY: u64 = (7 << 30) / 2;
/// Between two calls of the observer: it posts messages to a page.
const BETWEEN_CALLS: Duration = Duration::from_millis(50);

fn now() -> Duration {
    Duration::try_from_secs_f64(milliseconds() / 1e3).unwrap_or_default()
}

fn clock(clock: Clock<'_>) -> Clock<'_> {
    let clock = clock.timed_by(now).calling_every(BETWEEN_CALLS);
    clock.allow_memory(MEMORY.saturating_sub(memory_taken()));
    clock
}

#[cfg(target_arch = "wasm32")]
fn memory_taken() -> u64 {
    core::arch::wasm32::memory_size(0) as u64 * 65_536
}

#[cfg(not(target_arch = "wasm32"))]
fn memory_taken() -> u64 {
    0
}

/// A panic is a bug: its words go to the caller, who must not use the module again.
#[wasm_bindgen(start)]
fn tell_bugs() {
    std::panic::set_hook(Box::new(|panic| {
        wasm_bindgen::throw_str(&format!("this is a bug in ncut {}: {panic}", env!("CARGO_PKG_VERSION")));
    }));
}

/// The version of ncut.
#[wasm_bindgen]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

/// Reads the bytes of a file and clusters what is in it: a `graph`, a table of `points`, or a `picture`. The ending of the
/// name tells the format; the settings are JSON.
///
/// # Errors
/// What was refused, with its place and the remedy.
#[wasm_bindgen]
pub fn cluster(
    kind: &str,
    name: &str,
    bytes: &[u8],
    settings: &str,
    observer: Option<Observer>,
) -> Result<Outcome, JsError> {
    let refused = |problem: String| JsError::new(&problem);
    let unknown = || refused(format!("`{kind}` is no kind of file; they are graph, points and picture"));
    let kind = Kind::named(kind).ok_or_else(unknown)?;
    let settings = Settings::parse(settings).map_err(refused)?;
    let clock = clock(match observer {
        None => Clock::new(),
        Some(observer) => Clock::observed(move |progress: &Progress| {
            let Progress { stage, done, total, best, .. } = *progress;
            match observer.observe(&stage.to_string(), done as f64, total as f64, best) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        }),
    });
    Work::run(kind, name, bytes, settings, &clock).map(Outcome).map_err(refused)
}

/// What came out.
#[wasm_bindgen]
pub struct Outcome(Work);

#[wasm_bindgen]
impl Outcome {
    /// The cluster of every node, point or pixel (row after row), numbered by first appearance; -1 for none.
    pub fn labels(&self) -> Vec<i32> {
        self.0.labels().to_vec()
    }

    /// The nodes' ids, in the order of the labels, where the file has them.
    pub fn nodes(&self) -> Option<Vec<String>> {
        self.0.nodes()
    }

    /// Rows and columns of a picture's labels.
    pub fn size(&self) -> Option<Vec<u32>> {
        self.0.size().map(|(height, width)| vec![height as u32, width as u32])
    }

    /// The labels as text: one a line, after the node's id and the separator where nodes have ids.
    #[wasm_bindgen(js_name = labelsText)]
    pub fn labels_text(&self, separator: char) -> String {
        self.0.labels_text(separator)
    }

    /// Figures, as JSON under the names of the command line's report.
    pub fn summary(&self) -> String {
        serde_json::to_string(&self.0.summary()).expect("figures and names are JSON")
    }

    /// A page to look at: one text of HTML that needs nothing else.
    ///
    /// # Errors
    /// When it needs more memory than there is.
    pub fn page(&self) -> Result<String, JsError> {
        self.0.page(&clock(Clock::new())).map_err(|problem| JsError::new(&problem))
    }

    /// The picture with its regions, as the bytes of a PNG: their borders, or each in a colour of its own.
    ///
    /// # Errors
    /// When the file was no picture.
    pub fn drawing(&self, flat: bool) -> Result<Vec<u8>, JsError> {
        self.0.drawing(flat).map_err(|problem| JsError::new(&problem))
    }
}
