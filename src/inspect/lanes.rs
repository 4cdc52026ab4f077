//! Assignment of jobs to workers. Files that are decoded from the start of something larger, such
//! as a solid block, are read by one worker in their order; meanwhile the other workers decode
//! something else.

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;
use std::thread;

use crate::content::Key;
use crate::sync::lock;

/// Maximum number of jobs of any size that wait for a worker in particular. Further ones are
/// run by any worker, which then shares the decoder with others.
const MAX_WAITING: usize = 16 << 10;

/// The solid blocks that workers decode, with the jobs that wait for these
/// workers.
pub(super) struct Lanes<J>(Mutex<Taken<J>>);

struct Taken<J> {
    lanes: HashMap<Key, VecDeque<J>>,
    waiting: usize,
}

impl<J> Default for Lanes<J> {
    fn default() -> Self {
        Self(Mutex::new(Taken {
            lanes: HashMap::new(),
            waiting: 0,
        }))
    }
}

impl<J> Lanes<J> {
    /// Runs a job, and then the others of its lane that have come meanwhile. If another
    /// worker is in the lane, leaves the job to it. A job without a lane is just run.
    pub(super) fn run(&self, job: J, lane: Option<Key>, run: impl Fn(J)) {
        let Some(lane) = lane else {
            return run(job);
        };
        let Some((job, is_first)) = self.begin(job, lane) else {
            return;
        };
        let _given_up = is_first.then_some(GivenUp { lanes: self, lane });
        run(job);
        let next = || is_first.then(|| self.next_in(lane)).flatten();
        std::iter::from_fn(next).for_each(run);
    }

    /// Returns a job that the worker is to run, and whether it is the first one in its
    /// lane; `None` if it waits for another worker.
    fn begin(&self, job: J, lane: Key) -> Option<(J, bool)> {
        let mut taken = lock(&self.0);
        let has_room = taken.waiting < MAX_WAITING;
        match taken.lanes.get_mut(&lane) {
            Some(waiting) if has_room => {
                waiting.push_back(job);
                taken.waiting += 1;
                None
            }
            Some(_) => Some((job, false)),
            None => {
                taken.lanes.insert(lane, VecDeque::new());
                Some((job, true))
            }
        }
    }

    /// Returns the next job of a lane; gives the lane up after the last one.
    fn next_in(&self, lane: Key) -> Option<J> {
        let mut taken = lock(&self.0);
        let job = taken.lanes.get_mut(&lane)?.pop_front();
        match job {
            Some(_) => taken.waiting -= 1,
            None => drop(taken.lanes.remove(&lane)),
        }
        job
    }
}

/// Gives a lane up, and drops its jobs, if its worker panics: others would wait for their
/// results.
struct GivenUp<'l, J> {
    lanes: &'l Lanes<J>,
    lane: Key,
}

impl<J> Drop for GivenUp<'_, J> {
    fn drop(&mut self) {
        if thread::panicking() {
            let mut taken = lock(&self.lanes.0);
            let dropped = taken.lanes.remove(&self.lane);
            taken.waiting -= dropped.as_ref().map_or(0, VecDeque::len);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::content::VolumeId;
    use hpimount_containers::volume::FileId;

    fn lane(number: u32) -> Key {
        Key {
            volume: VolumeId(0, 0),
            file: FileId(number),
        }
    }

    #[test]
    fn one_worker_gets_the_jobs_of_a_lane_in_order_and_others_what_follows() {
        let lanes = Lanes::default();
        let order = RefCell::new(Vec::new());
        let note = |job: u64| order.borrow_mut().push(job);
        lanes.run(1, Some(lane(1)), |first| {
            note(first);
            if order.borrow().len() > 1 {
                return;
            }
            // Meanwhile, another worker gets these.
            for (number, of) in [(2, Some(1)), (3, None), (4, Some(1)), (5, Some(2))] {
                lanes.run(number, of.map(lane), note);
            }
        });
        assert_eq!(order.take(), [1, 3, 5, 2, 4]);
        assert!(lock(&lanes.0).lanes.is_empty());
    }
}
