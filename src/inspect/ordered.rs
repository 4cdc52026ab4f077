//! Running jobs on several threads, with their results in order.

use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::thread::scope;

use super::queue::Queue;

/// The usual number of jobs that are queued at most, and of results that wait for
/// one before them.
const MAX_WAITING: usize = 1024;

/// Runs the jobs that `produce` passes to its argument with `run`, on `threads`
/// threads, and passes the results to `consume` in the order of the jobs.
/// `produce` runs on the calling thread and waits when it is far ahead;
/// `consume` runs on one thread of its own.
///
/// A panic of a job or of `consume` is propagated.
pub(super) fn ordered<J: Send, R: Send>(
    threads: usize,
    produce: impl FnOnce(&mut dyn FnMut(J)),
    run: impl Fn(J) -> R + Sync,
    consume: impl FnMut(R) + Send,
) {
    ordered_within(MAX_WAITING, threads, produce, run, consume);
}

/// Like [`ordered`], with at most `waiting` queued jobs and waiting results.
pub(super) fn ordered_within<J: Send, R: Send>(
    waiting: usize,
    threads: usize,
    produce: impl FnOnce(&mut dyn FnMut(J)),
    run: impl Fn(J) -> R + Sync,
    mut consume: impl FnMut(R) + Send,
) {
    let (results, in_order) = sync_channel::<Receiver<R>>(waiting);
    let queue = Queue::<(J, Sender<R>)>::new(waiting);
    let jobs = queue.adder();
    scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                let _ends = queue.ends_with_panic();
                while let Some((job, result)) = queue.take() {
                    // Nobody receives it if `consume` has panicked.
                    let _ = result.send(run(job));
                }
            });
        }
        scope.spawn(move || {
            for result in in_order {
                // Without a result, its job has panicked.
                if let Ok(result) = result.recv() {
                    consume(result);
                }
            }
        });
        produce(&mut |job| {
            let (result, receiver) = channel();
            // `consume` ends earlier only if it has panicked, which the scope
            // propagates.
            let _ = results.send(receiver);
            jobs.add((job, result));
        });
        drop((jobs, results));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_their_jobs() {
        let mut squares = Vec::new();
        let numbers = |push: &mut dyn FnMut(u64)| (0..5000).for_each(push);
        let square = |number: u64| {
            if number.is_multiple_of(7) {
                std::thread::yield_now();
            }
            number * number
        };
        ordered(4, numbers, square, |result| squares.push(result));
        assert!(
            squares
                .into_iter()
                .eq((0..5000).map(|number| number * number))
        );
    }

    #[test]
    fn a_panic_of_a_job_is_propagated() {
        for count in [1, 5000] {
            let numbers = |push: &mut dyn FnMut(u64)| (0..count).for_each(push);
            let run = || ordered(2, numbers, |_| panic!("expected"), |(): ()| {});
            assert!(std::panic::catch_unwind(run).is_err(), "{count}");
        }
    }
}
