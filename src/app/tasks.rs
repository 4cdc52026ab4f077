//! Work for confined threads, which may not do it themselves.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{ScopedJoinHandle, scope};

/// Maximum number of tasks that wait in total.
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
        (joined(working), performed)
    })
}

/// Like [`with_tasks`], with several threads that perform tasks: each those of one sender.
/// Returns the first error of any of them.
pub(super) fn with_performers<T: Send, R: Send, E: Send>(
    performers: usize,
    work: impl FnOnce(Vec<SyncSender<T>>) -> R + Send,
    perform: impl Fn(T) -> Result<(), E> + Sync,
) -> (R, Result<(), E>) {
    let waiting = MAX_WAITING.div_ceil(performers);
    let channels = (0..performers).map(|_| sync_channel(waiting));
    let (senders, receivers): (Vec<_>, Vec<_>) = channels.unzip();
    scope(|scope| {
        let working = scope.spawn(|| work(senders));
        let perform = |received: Receiver<T>| received.into_iter().try_for_each(&perform);
        let performing = receivers
            .into_iter()
            .map(|received| scope.spawn(move || perform(received)));
        let performing: Vec<_> = performing.collect();
        let performed = performing.into_iter().try_for_each(joined);
        (joined(working), performed)
    })
}

/// Waits for the end of a thread, and propagates its panic.
fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}
