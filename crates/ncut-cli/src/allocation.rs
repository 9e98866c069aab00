//! What happens when the system gives no more memory: a line that says so and exit code 1, instead of a signal.
//!
//! Work is refused before it begins where it is estimated to need more than there is (`memory.rs`). What is left is an
//! estimate that was too low, or memory that another process took meanwhile. Calls that can fail still fail, and are
//! told as errors. Where a call cannot fail the standard library aborts, which raises a signal that is caught here.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, Ordering};

/// Exit code for work that was refused, as everywhere.
#[cfg(unix)]
const REFUSED: libc::c_int = 1;

/// Set when the system gave no memory.
static WAS_REFUSED: AtomicBool = AtomicBool::new(false);

/// The system's allocator, which notes when there is no memory. What runs commands has it as its global allocator.
#[derive(Debug)]
pub struct NotingAllocator;

// SAFETY: every call goes to the system's allocator with the same arguments, and what it returns is passed on unchanged.
// Noting a failure is a store to an atomic: it neither allocates nor unwinds.
unsafe impl GlobalAlloc for NotingAllocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the promises of `GlobalAlloc::alloc`, which are those of this call.
        noted(unsafe { System.alloc(layout) })
    }

    #[inline]
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above; the pointer came from `System`, as all do here.
        unsafe { System.dealloc(pointer, layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        noted(unsafe { System.alloc_zeroed(layout) })
    }

    #[inline]
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: as above; the pointer came from `System`, as all do here.
        noted(unsafe { System.realloc(pointer, layout, new_size) })
    }
}

#[inline]
fn noted(pointer: *mut u8) -> *mut u8 {
    if pointer.is_null() {
        WAS_REFUSED.store(true, Ordering::Relaxed);
    }
    pointer
}

/// From now on the process ends with exit code 1 where memory is missing and the work cannot go on.
pub(crate) fn end_without_signal() {
    #[cfg(unix)]
    // SAFETY: the handler calls nothing but `write` and `_exit`, which a handler may call, and reads an atomic. It is a
    // function of the type that `signal` expects.
    unsafe {
        libc::signal(libc::SIGABRT, on_abort as extern "C" fn(libc::c_int) as libc::sighandler_t);
    }
}

#[cfg(unix)]
extern "C" fn on_abort(_: libc::c_int) {
    const MESSAGE: &[u8] =
        b"ncut: out of memory; free some, use --preset fast or a smaller input, or make an .ncut file \
of the graph (`ncut convert IN OUT.ncut --memory-limit 1G`)\n";
    // Any other reason to abort stays one: after this handler the process ends by the signal.
    if WAS_REFUSED.load(Ordering::Relaxed) {
        // SAFETY: the bytes are there as long as the program is, and both calls are allowed in a handler.
        unsafe {
            libc::write(libc::STDERR_FILENO, MESSAGE.as_ptr().cast(), MESSAGE.len());
            libc::_exit(REFUSED);
        }
    }
}
