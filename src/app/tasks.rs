//! Work for confined threads, which may not do it themselves.

use std::panic::resume_unwind;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::scope;

/// Maximum number of tasks that wait.
const MAX_WAITING: usize = 64;

/// Runs `work` in another thread, and performs the tasks that it sends in this one, until
/// it ends. After an error no more tasks are taken, and sending them fails. Returns both
/// results.
pub fn with_tasks<T: Send, R: Send, E>(
    work: impl FnOnce(SyncSender<T>) -> R + Send,
    perform: impl FnMut(T) -> Result<(), E>,
) -> (R, Result<(), E>) {
    let (tasks, received) = sync_channel(MAX_WAITING);
    scope(|scope| {
        let working = scope.spawn(|| work(tasks));
        let performed = received.into_iter().try_for_each(perform);
        let worked = working.join();
        (
            worked.unwrap_or_else(|panic| resume_unwind(panic)),
            performed,
        )
    })
}
