//! Assignment of jobs to workers. Files that are decoded from the start of something larger, such
//! as a solid block, are read by one worker in their order; meanwhile the other workers decode
//! something else.

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;

use super::job::Job;
use crate::content::Key;
use crate::inspect::queue::Queue;
use crate::sync::lock;

/// Maximum number of jobs that wait for a worker in particular. Further ones are
/// run by any worker, which then shares the decoder with others.
const MAX_WAITING: usize = 16 << 10;

/// The jobs of a check.
pub(super) struct Lanes<'q> {
    jobs: &'q Queue<Job>,
    taken: Mutex<Taken>,
}

/// The solid blocks that workers decode, with the jobs that wait for these
/// workers.
#[derive(Default)]
struct Taken {
    lanes: HashMap<Key, VecDeque<Job>>,
    waiting: usize,
}

impl<'q> Lanes<'q> {
    /// Distributes the jobs of a queue.
    pub(super) fn new(jobs: &'q Queue<Job>) -> Self {
        Self {
            jobs,
            taken: Mutex::default(),
        }
    }

    /// Returns the next job of a worker, and its lane if it is the first one there:
    /// the worker runs the others with [`Lanes::next_in`]. `None` at the end.
    pub(super) fn next(&self) -> Option<(Job, Option<Key>)> {
        loop {
            let job = self.jobs.take()?;
            let Some(lane) = job.lane() else {
                return Some((job, None));
            };
            let mut taken = lock(&self.taken);
            let has_room = taken.waiting < MAX_WAITING;
            match taken.lanes.get_mut(&lane) {
                Some(waiting) if has_room => {
                    waiting.push_back(job);
                    taken.waiting += 1;
                }
                Some(_) => return Some((job, None)),
                None => {
                    taken.lanes.insert(lane, VecDeque::new());
                    return Some((job, Some(lane)));
                }
            }
        }
    }

    /// Returns the next job of a lane; gives the lane up after the last one.
    pub(super) fn next_in(&self, lane: Key) -> Option<Job> {
        let mut taken = lock(&self.taken);
        let job = taken.lanes.get_mut(&lane)?.pop_front();
        match job {
            Some(_) => taken.waiting -= 1,
            None => drop(taken.lanes.remove(&lane)),
        }
        job
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::VolumeId;
    use crate::mount::{HeldIno, Ino};
    use hpimount_containers::volume::FileId;

    fn lane(number: u32) -> Key {
        Key {
            volume: VolumeId(0, 0),
            file: FileId(number),
        }
    }

    fn job(ino: u64, lane: Option<Key>) -> Job {
        Job::File {
            ino: HeldIno::kept(Ino(ino)),
            path: String::new(),
            range: 0..1,
            is_asset: false,
            is_whole: true,
            lane,
        }
    }

    fn ino(job: &Job) -> u64 {
        match job {
            Job::File { ino, .. } => ino.0,
            Job::Together { .. } | Job::Images { .. } => 0,
        }
    }

    #[test]
    fn one_worker_gets_the_jobs_of_a_lane_in_order_and_others_what_follows() {
        let jobs = Queue::new(10);
        let lanes = Lanes::new(&jobs);
        let adder = jobs.adder();
        let all = [
            (1, Some(1)),
            (2, Some(1)),
            (3, None),
            (4, Some(1)),
            (5, Some(2)),
        ];
        for (number, of) in all {
            adder.add(job(number, of.map(lane)));
        }
        drop(adder);
        let (first, taken) = lanes.next().unwrap();
        assert_eq!((ino(&first), taken), (1, Some(lane(1))));
        let (other, taken) = lanes.next().unwrap();
        assert_eq!((ino(&other), taken), (3, None));
        let (other, taken) = lanes.next().unwrap();
        assert_eq!((ino(&other), taken), (5, Some(lane(2))));
        assert!(lanes.next().is_none());
        for number in [2, 4] {
            assert_eq!(lanes.next_in(lane(1)).as_ref().map(ino), Some(number));
        }
        assert!(lanes.next_in(lane(1)).is_none());
        assert!(lanes.next_in(lane(2)).is_none());
    }
}
