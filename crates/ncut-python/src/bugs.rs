//! Panics as exceptions that Python programs can catch: PyO3's own is none of `Exception`.

use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;

/// What the last panic said, and the line it comes from.
static LAST: Mutex<Option<String>> = Mutex::new(None);

/// From now on panics are remembered instead of printed.
pub(crate) fn remember_panics() {
    panic::set_hook(Box::new(|info| {
        let payload = info.payload();
        let text =
            payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
        let what = text.unwrap_or("a panic without a word");
        let place =
            info.location().map_or(String::new(), |at| format!(" ({}, line {})", at.file(), at.line()));
        *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(format!("{what}{place}"));
    }));
}

/// The exception for a panic.
pub(crate) fn bug(py: Python<'_>) -> PyErr {
    let what = LAST.lock().unwrap_or_else(PoisonError::into_inner).take();
    let what = what.unwrap_or_else(|| "a panic without a word".into());
    let message = format!(
        "this is a bug in ncut, unless an array was changed while it was in use: {what}. Please report it to the authors, \
         with this message, ncut.__version__ and, if you may share it, a program that shows it"
    );
    let raised =
        py.import("ncut._errors").and_then(|errors| errors.getattr("InternalError")?.call1((message,)));
    raised.map_or_else(|error| error, PyErr::from_value)
}

/// Does work on the calling thread; a panic in it is an `InternalError`.
pub(crate) fn caught<T>(py: Python<'_>, work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(bug(py)))
}
