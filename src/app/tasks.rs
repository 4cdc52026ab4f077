//! Work for confined threads, which may not do it themselves.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{ScopedJoinHandle, scope};

/// Maximum number of tasks that wait.
const MAX_WAITING: usize = 64;

/// Maximum number of tasks that wait for one of several threads. They are lists of tasks.
const MAX_LISTS: usize = 4;

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

/// Like [`with_tasks`], with several threads that perform tasks: each has a sender of its own.
/// After an error of one, the others take no more tasks either.
pub(super) fn with_performers<T: Send, R: Send, E: Send>(
    performers: usize,
    work: impl FnOnce(Vec<SyncSender<T>>) -> R + Send,
    perform: impl Fn(T) -> Result<(), E> + Sync,
) -> (R, Result<(), E>) {
    let channels = (0..performers).map(|_| sync_channel(MAX_LISTS));
    let (senders, receivers): (Vec<_>, Vec<_>) = channels.unzip();
    let has_failed = AtomicBool::new(false);
    scope(|scope| {
        let working = scope.spawn(|| work(senders));
        let perform = |received: Receiver<T>| {
            let tasks = received.into_iter();
            let mut tasks = tasks.take_while(|_| !has_failed.load(Ordering::Relaxed));
            let performed = tasks.try_for_each(&perform);
            has_failed.fetch_or(performed.is_err(), Ordering::Relaxed);
            performed
        };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_an_error_no_thread_takes_more_tasks() {
        let (sent, performed) = with_performers(
            2,
            |senders| {
                let _ = senders[0].send(0);
                (1..)
                    .take_while(|&number| senders[1].send(number).is_ok())
                    .count()
            },
            |number| if number == 0 { Err("expected") } else { Ok(()) },
        );
        assert!(performed == Err("expected") && sent < 1_000_000, "{sent}");
    }
}
