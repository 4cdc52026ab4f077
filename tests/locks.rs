//! The locks of the cache and of the prefetch, in any order in which threads
//! can come by: their files are included here with the locks of `shuttle`,
//! which runs the threads one step at a time in orders of its choice, and
//! reports a deadlock as a failure.

mod support;

#[path = "../src/content/awaited.rs"]
#[allow(dead_code)]
mod awaited;
#[path = "../src/content/cache.rs"]
#[allow(dead_code)]
mod cache;
#[path = "../src/content/tally.rs"]
#[allow(dead_code)]
mod tally;

/// What the included files take for the standard library's.
mod sync {
    pub(super) use shuttle::sync::{Condvar, Mutex, MutexGuard, PoisonError};
}

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, Runner, thread};

use awaited::Awaited;
use cache::{Cache, Key, Weight};
use support::trial;

type Block = Arc<Vec<u8>>;
type Blocks = Cache<Block, &'static str>;

impl Weight for Block {
    fn weight(&self) -> usize {
        self.len()
    }
}

/// Room for some blocks in one shard: beside its bytes a block costs less
/// than 200.
const ROOM: usize = 1 << 16;

fn key(number: u32) -> Key {
    Key {
        inode: number,
        start: 0,
    }
}

fn block(byte: u8) -> Block {
    Arc::new(vec![byte; 1000])
}

/// Runs `scenario` in many orders of its threads' steps: half of them drawn
/// evenly, half with few but ill-timed changes of thread.
fn in_every_order(what: &str, scenario: fn()) {
    let orders = trial::length(1_000, 100_000);
    let run = |scheduler: Box<dyn Scheduler + Send>| {
        let mut config = Config::new();
        config.silence_warnings = true;
        Runner::new(scheduler, config).run(scenario);
    };
    run(Box::new(RandomScheduler::new(orders / 2)));
    run(Box::new(PctScheduler::new(3, orders / 2)));
    trial::record(what, format!("{orders} orders of steps"), "as promised");
}

/// Runs `readers` at once, each with its number, and waits for them.
fn at_once<T: Send + 'static>(
    readers: usize,
    reader: impl Fn(usize) -> T + Clone + Send + 'static,
) -> Vec<T> {
    let start = |number| {
        let reader = reader.clone();
        thread::spawn(move || reader(number))
    };
    let readers: Vec<_> = (0..readers).map(start).collect();
    let join = |reader: thread::JoinHandle<T>| reader.join().unwrap();
    readers.into_iter().map(join).collect()
}

#[test]
fn a_block_that_several_readers_want_is_made_once() {
    in_every_order("one block, three readers: made once", || {
        let blocks = Arc::new(Blocks::new(ROOM));
        let made = Arc::new(AtomicUsize::new(0));
        let (cache, count) = (blocks.clone(), made.clone());
        let got = at_once(3, move |_| {
            let make = || {
                count.fetch_add(1, SeqCst);
                thread::yield_now();
                Ok(block(1))
            };
            cache.get(key(1), make)
        });
        assert!(got.iter().all(|got| *got == Ok(block(1))));
        assert_eq!(made.load(SeqCst), 1);
        assert_eq!(blocks.peek(key(1)), Some(block(1)));
    });
}

#[test]
fn a_failure_reaches_all_who_wait_and_is_not_kept() {
    in_every_order("one damaged block, three readers", || {
        let blocks = Arc::new(Blocks::new(ROOM));
        let cache = blocks.clone();
        let got = at_once(3, move |_| {
            let make = || {
                thread::yield_now();
                Err("damaged")
            };
            cache.get(key(1), make)
        });
        assert_eq!(got, vec![Err("damaged"); 3]);
        assert_eq!(blocks.get(key(1), || Ok(block(2))), Ok(block(2)));
    });
}

#[test]
fn a_panic_while_a_block_is_made_locks_nobody_out() {
    in_every_order("a panic in one of three readers", || {
        let blocks = Arc::new(Blocks::new(ROOM));
        let made = Arc::new(AtomicUsize::new(0));
        let got = at_once(3, move |_| {
            let make = || {
                thread::yield_now();
                match made.fetch_add(1, SeqCst) {
                    // Without the message of `panic!`.
                    0 => resume_unwind(Box::new("in the decoder")),
                    _ => Ok(block(3)),
                }
            };
            catch_unwind(AssertUnwindSafe(|| blocks.get(key(1), make)))
        });
        let answers: Vec<_> = got.into_iter().filter_map(Result::ok).collect();
        assert_eq!(answers, [Ok(block(3)), Ok(block(3))]);
    });
}

#[test]
fn the_budget_holds_whoever_comes_by() {
    const BUDGET: usize = 2500;
    in_every_order("a budget of two blocks, four of them wanted", || {
        let blocks = Arc::new(Blocks::new(BUDGET));
        let cache = blocks.clone();
        at_once(4, move |number| {
            let number = number as u8;
            let got = cache.get(key(number.into()), || Ok(block(number)));
            assert_eq!(got, Ok(block(number)));
            assert!(cache.used() <= BUDGET);
            cache.put(key(9), block(9));
            assert!(cache.used() <= BUDGET);
        });
        assert!(blocks.used() > 0);
    });
}

#[test]
fn a_block_that_is_made_of_others_waits_for_no_reader_for_ever() {
    // As a text is made of a model, and that of the bytes of a file.
    fn get(cache: &Blocks, number: u8, made: &AtomicUsize) -> Block {
        let make = || {
            made.fetch_add(1, SeqCst);
            match number {
                0 => Ok(block(0)),
                _ => Ok(Arc::new(
                    [&*get(cache, number - 1, made), &[number][..]].concat(),
                )),
            }
        };
        cache.get(key(number.into()), make).unwrap()
    }
    in_every_order("blocks made of blocks, four readers", || {
        let blocks = Arc::new(Blocks::new(ROOM));
        let made = Arc::new(AtomicUsize::new(0));
        let count = made.clone();
        let got = at_once(4, move |number| get(&blocks, [2, 1, 0, 2][number], &count));
        assert_eq!(
            Vec::from_iter(got.iter().map(|got| got.len())),
            [1002, 1001, 1000, 1002]
        );
        assert_eq!(made.load(SeqCst), 3);
    });
}

#[test]
fn a_block_is_that_of_its_key_however_it_came_in() {
    in_every_order("blocks put, found, made and not kept", || {
        let blocks = Arc::new(Blocks::new(2500));
        at_once(4, move |number| {
            let of = number as u8 % 2;
            let right = |found: Block| assert_eq!(found, block(of));
            match number {
                0 | 1 => blocks.put(key(of.into()), block(of)),
                _ => right(
                    blocks
                        .get_and_keep(key(of.into()), false, || Ok(block(of)))
                        .unwrap(),
                ),
            }
            blocks.peek(key(of.into())).into_iter().for_each(right);
            right(blocks.get(key(of.into()), || Ok(block(of))).unwrap());
        });
    });
}

#[test]
fn nothing_that_was_noted_is_slept_through() {
    in_every_order("two that note, two that wait for it", || {
        let list = Arc::new(Awaited::<Vec<usize>>::default());
        let taken = at_once(4, move |number| match number {
            0 | 1 => {
                for item in 0..2 {
                    list.change(|all| {
                        all.push(2 * number + item);
                        true
                    });
                }
                Vec::new()
            }
            // A wake-up that got lost would be a deadlock.
            _ => (0..2).filter_map(|_| list.wait_for(Vec::pop)).collect(),
        });
        let mut taken = taken.concat();
        taken.sort_unstable();
        assert_eq!(taken, [0, 1, 2, 3]);
    });
}

#[test]
fn who_waits_or_works_ends_when_all_is_closed() {
    in_every_order("closed while one notes and two wait", || {
        let list = Arc::new(Awaited::<usize>::default());
        at_once(4, move |number| match number {
            0 => list.close(),
            1 => list.change(|items| {
                *items += 1;
                true
            }),
            _ => {
                let take = |items: &mut usize| {
                    *items = items.checked_sub(1)?;
                    Some(())
                };
                while list.wait_for(take).is_some() {}
            }
        });
    });
}

/// Runs what has one thread.
fn alone(scenario: fn()) {
    shuttle::check_dfs(scenario, None);
}

#[test]
fn the_oldest_block_goes_first() {
    alone(|| {
        let cache = Blocks::new(ROOM);
        let made = AtomicUsize::new(0);
        let get = |number: u8| {
            let make = || {
                made.fetch_add(1, SeqCst);
                Ok(block(number))
            };
            assert_eq!(cache.get(key(number.into()), make), Ok(block(number)));
            assert!(cache.used() <= ROOM);
        };
        for number in 0..100 {
            get(number);
            get(0);
        }
        assert_eq!(made.swap(0, SeqCst), 100);
        get(0);
        get(99);
        assert_eq!(made.load(SeqCst), 0, "used lately, still there");
        get(10);
        assert_eq!(made.load(SeqCst), 1, "long unused, gone");
    });
}

#[test]
fn a_block_larger_than_the_budget_is_given_but_not_kept() {
    alone(|| {
        let cache = Blocks::new(100);
        assert_eq!(cache.get(key(1), || Ok(block(7))), Ok(block(7)));
        assert_eq!(cache.used(), 0);
    });
}
