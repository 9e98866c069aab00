//! Panics are bugs of ours: they are caught here, and told in words that help to repair them.

use std::fmt;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::{Arc, Mutex, PoisonError};

/// A panic.
#[derive(Debug)]
pub(crate) struct Bug {
    /// What the panic said, and the line it comes from.
    what: String,
}

impl fmt::Display for Bug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "this is a bug in ncut, your input is not to blame: {}\n\
             Please report it to the authors. Send this message, what `ncut --version` says, the command as you typed \
             it and, if you may share it, the input.\n\
             Outputs that were not reported as written are as they were before.",
            self.what
        )
    }
}

impl std::error::Error for Bug {}

/// Does `work`; a panic in it, on any thread, is an error. What it left half done is removed on the way.
pub(crate) fn catch_bugs<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    let first: Arc<Mutex<Option<String>>> = Arc::default();
    let kept = Arc::clone(&first);
    let previous = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        // Others may follow from the first.
        kept.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| described(info));
    }));
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    panic::set_hook(previous);
    done.unwrap_or_else(|_| {
        let what = first.lock().unwrap_or_else(PoisonError::into_inner).take();
        Err(Bug { what: what.unwrap_or_else(|| "a panic without a word".into()) }.into())
    })
}

/// `index out of bounds (crates/ncut/src/points.rs, line 12)`.
fn described(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let text =
        payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
    let what = text.unwrap_or("a panic without a word");
    match info.location() {
        Some(place) => format!("{what} ({}, line {})", place.file(), place.line()),
        None => what.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_told_as_a_bug_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("labels.txt");
        std::fs::write(&output, "precious").unwrap();
        let result = catch_bugs(|| {
            ncut::io::write_whole(&output, |_| panic!("row {} is too long", 7))?;
            Ok(())
        });
        let error = result.unwrap_err();
        assert!(error.is::<Bug>());
        let message = error.to_string();
        assert!(
            message.starts_with("this is a bug in ncut, your input is not to blame: row 7 is too long (")
        );
        assert!(message.contains("bugs.rs, line ") && message.contains("report it to the authors"));
        assert_eq!(std::fs::read_to_string(&output).unwrap(), "precious");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn results_and_refusals_pass() {
        assert_eq!(catch_bugs(|| Ok(3)).unwrap(), 3);
        let refused = catch_bugs::<()>(|| anyhow::bail!("no such file")).unwrap_err();
        assert!(!refused.is::<Bug>() && refused.to_string() == "no such file");
    }
}
