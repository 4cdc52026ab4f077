//! Telling that opening a source on a server takes long.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::tell;
use crate::source::remote::Network;

/// Time until the first message, and from one to the next.
const FIRST: Duration = Duration::from_secs(2);
const NEXT: Duration = Duration::from_secs(5);

/// Tells on standard error how much was received, until it is dropped.
pub(super) struct Progress {
    /// Dropped at the end.
    ends: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Begins to tell about a network; nothing happens without one.
    pub(super) fn of(network: Option<&Arc<Network>>) -> Self {
        let (ends, ended) = mpsc::channel::<()>();
        let start = Instant::now();
        let thread = network.cloned().and_then(|network| {
            let work = move || {
                let mut pause = FIRST;
                while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                    let kibibytes = network.received() >> 10;
                    let seconds = start.elapsed().as_secs();
                    tell(format!(
                        "opening takes long: {kibibytes} KiB received after {seconds} s"
                    ));
                    pause = NEXT;
                }
            };
            thread::Builder::new()
                .name("progress".to_owned())
                .spawn(work)
                .ok()
        });
        Self {
            ends: Some(ends),
            thread,
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.ends.take());
        if let Some(thread) = self.thread.take() {
            // It does not panic.
            let _ = thread.join();
        }
    }
}
