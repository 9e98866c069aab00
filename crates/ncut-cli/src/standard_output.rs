//! Standard output: what is printed there arrives, or there is an error.

use std::io::{self, StdoutLock};

/// Standard output.
///
/// # Errors
/// When it was closed as the program started (`>&-`).
pub(crate) fn open() -> io::Result<StdoutLock<'static>> {
    match at_start::was_closed() {
        true => Err(io::Error::other("it is closed")),
        false => Ok(io::stdout().lock()),
    }
}

#[cfg(target_os = "linux")]
#[allow(
    unsafe_code,
    reason = "a look before Rust's runtime opens /dev/null in place of a closed standard output"
)]
mod at_start {
    use std::sync::atomic::{AtomicBool, Ordering};

    static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

    pub(super) fn was_closed() -> bool {
        WAS_CLOSED.load(Ordering::Relaxed)
    }

    // SAFETY: the system calls every function pointer in this section once, before `main`. The type is the one it
    // expects: functions may ignore the arguments they are given. `look` asks for the status of a file and stores a
    // flag; neither needs Rust's runtime, and neither panics.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;

    extern "C" fn look() {
        // A system without /proc tells nothing.
        let is_known = std::fs::symlink_metadata("/proc/self/fd").is_ok();
        let is_open = std::fs::symlink_metadata("/proc/self/fd/1").is_ok();
        WAS_CLOSED.store(is_known && !is_open, Ordering::Relaxed);
    }
}

#[cfg(not(target_os = "linux"))]
mod at_start {
    pub(super) fn was_closed() -> bool {
        false
    }
}
