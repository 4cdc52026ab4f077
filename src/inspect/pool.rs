//! Running jobs on several threads.

use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::thread::scope;

use super::lanes::Lanes;
use super::queue::Queue;
use crate::content::Key;

/// Maximum number of queued jobs, and of results that wait for one before them. Large
/// values take [`Room`](super::room::Room) as well.
const MAX_WAITING: usize = 1024;

/// Runs the jobs that `produce` passes to its argument with `run`, on `threads`
/// threads, and returns the result of `produce` after the last job. `produce` runs on the
/// calling thread and waits when it is far ahead. Jobs of the same `lane` are run by one
/// thread, in their order.
///
/// A panic of a job is propagated.
pub(super) fn unordered<J: Send, T>(
    threads: usize,
    produce: impl FnOnce(&mut dyn FnMut(J)) -> T,
    lane: impl Fn(&J) -> Option<Key> + Sync,
    run: impl Fn(J) + Sync,
) -> T {
    let lanes = Lanes::default();
    let run = |job| {
        let lane = lane(&job);
        lanes.run(job, lane, &run);
    };
    let queue = Queue::new(MAX_WAITING);
    let jobs = queue.adder();
    scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                let _ends = queue.ends_with_panic();
                std::iter::from_fn(|| queue.take()).for_each(&run);
            });
        }
        let produced = produce(&mut |job| jobs.add(job));
        drop(jobs);
        produced
    })
}

/// Like [`unordered`], and passes the results of the jobs to `consume` in the order of
/// the jobs, on one thread of its own.
///
/// A panic of `consume` is propagated, too.
pub(super) fn ordered<J: Send, R: Send, T>(
    threads: usize,
    produce: impl FnOnce(&mut dyn FnMut(J)) -> T,
    lane: impl Fn(&J) -> Option<Key> + Sync,
    run: impl Fn(J) -> R + Sync,
    mut consume: impl FnMut(R) + Send,
) -> T {
    let (results, in_order) = sync_channel::<Receiver<R>>(MAX_WAITING);
    scope(|scope| {
        scope.spawn(move || {
            for result in in_order {
                // Without a result, its job has panicked.
                if let Ok(result) = result.recv() {
                    consume(result);
                }
            }
        });
        let produce = move |push: &mut dyn FnMut((J, Sender<R>))| {
            produce(&mut |job| {
                let (result, receiver) = channel();
                // `consume` ends earlier only if it has panicked, which the scope
                // propagates.
                let _ = results.send(receiver);
                push((job, result));
            })
        };
        let lane = |(job, _): &(J, Sender<R>)| lane(job);
        unordered(threads, produce, lane, |(job, result)| {
            // The receiver is gone if `consume` has panicked.
            let _ = result.send(run(job));
        })
    })
}

/// The lane of jobs that any thread may run.
pub(super) fn no_lane<J>(_: &J) -> Option<Key> {
    None
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::content::VolumeId;
    use hpimount_containers::volume::FileId;

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
        ordered(4, numbers, no_lane, square, |result| squares.push(result));
        assert!(
            squares
                .into_iter()
                .eq((0..5000).map(|number| number * number))
        );
    }

    #[test]
    fn a_panic_of_a_job_is_propagated() {
        let lane = Key {
            volume: VolumeId(0, 0),
            file: FileId(0),
        };
        for (count, lane) in [(1, None), (5000, None), (1, Some(lane)), (5000, Some(lane))] {
            let numbers = |push: &mut dyn FnMut(u64)| (0..count).for_each(push);
            let lane = |_: &u64| lane;
            let fail = |_| {
                // Others wait in its lane by then.
                std::thread::sleep(Duration::from_millis(5));
                panic!("expected");
            };
            let run = || ordered(2, numbers, lane, fail, |(): ()| {});
            assert!(std::panic::catch_unwind(run).is_err(), "{count}");
        }
    }
}
