//! The threads that all work is done on.

use std::num::NonZero;
use std::sync::mpsc;
use std::thread;

use rayon::{ThreadBuilder, ThreadPoolBuilder};

/// Starts as many threads as are allowed and of use, or as many as the system grants; the calling one is one of them.
pub(crate) fn start(allowed: Option<u32>) {
    // More threads than cores only get in each other's way.
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let wanted = allowed.map_or(cores, |allowed| cores.min(allowed as usize));
    // They are started before the pool is made, because a pool that was refused a thread cannot be made again.
    let mut waiting: Vec<mpsc::Sender<ThreadBuilder>> = (1..wanted).map_while(|_| waiting_thread()).collect();
    let _ = ThreadPoolBuilder::new()
        .num_threads(1 + waiting.len())
        .use_current_thread()
        .spawn_handler(|worker| {
            let thread = waiting.pop().expect("a thread waits for every worker");
            thread.send(worker).map_err(|_| std::io::ErrorKind::BrokenPipe.into())
        })
        .build_global();
}

/// A thread that waits for what it is to do, if the system grants one.
fn waiting_thread() -> Option<mpsc::Sender<ThreadBuilder>> {
    let (give, receive) = mpsc::channel::<ThreadBuilder>();
    let wait = move || {
        if let Ok(worker) = receive.recv() {
            worker.run();
        }
    };
    thread::Builder::new().name("ncut worker".into()).spawn(wait).ok()?;
    Some(give)
}
