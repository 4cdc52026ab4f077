//! Locks under all thread interleavings: their files are included here with the
//! locks of `shuttle`, which runs the threads one step at a time in orders of its
//! choice, and reports a deadlock as a failure. `docs/RELIABILITY.md` lists all locks,
//! and why others have no model.

#[path = "../src/sync/awaited.rs"]
#[allow(dead_code, unreachable_pub)]
mod awaited;
#[path = "../src/memory/budget.rs"]
#[allow(dead_code, unreachable_pub)]
mod budget;
#[path = "../src/memory/cache.rs"]
#[allow(dead_code, unreachable_pub)]
mod cache;
#[path = "../src/content/stream/memory.rs"]
#[allow(dead_code, unreachable_pub)]
mod decoder_memory;
#[path = "../src/sync/flights.rs"]
#[allow(dead_code, unreachable_pub)]
mod flights;
#[path = "../src/inspect/queue.rs"]
#[allow(dead_code, unreachable_pub)]
mod queue;
#[path = "../src/sync/tally.rs"]
#[allow(dead_code, unreachable_pub)]
mod tally;

/// Replacements of the library's modules for the included files, with the locks
/// of the model checker.
mod sync {
    pub(super) use super::{flights, tally};
    pub(super) use shuttle::sync::{Condvar, Mutex, MutexGuard};

    pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub(super) fn wait_a_moment<'a, T>(
        changed: &Condvar,
        guard: MutexGuard<'a, T>,
    ) -> MutexGuard<'a, T> {
        wait(changed, guard)
    }

    pub(super) fn wait<'a, T>(changed: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        changed
            .wait(guard)
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Replacements of the library's modules for the included files.
mod memory {
    pub(super) use super::budget;
}

/// Likewise; streams are numbers.
mod slots {
    pub(super) type StreamKey = u32;
}

/// Replacements of the library's modules for requests, because there are no requests.
mod requester {
    use hpimount_containers::io::Error;

    pub(super) trait Outcome {
        fn killed() -> Self;
        fn is_killed(&self) -> bool;
    }

    impl Outcome for &'static str {
        fn killed() -> Self {
            "killed"
        }

        fn is_killed(&self) -> bool {
            *self == "killed"
        }
    }

    pub(super) fn check() -> Result<(), Error> {
        Ok(())
    }

    pub(super) fn is_killed() -> bool {
        false
    }
}

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, Runner, thread};
use testkit::trial;

use awaited::Awaited;
use budget::Budget;
use cache::{Cache, Value};
use decoder_memory::DecoderMemory;
use flights::{Claim, Flight, Flights, Waited};
use queue::Queue;
use requester::Outcome;

/// A block of bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Block(Arc<Vec<u8>>);

type Blocks = Cache<u32, Block, &'static str>;

impl Value for Block {
    fn weight(&self) -> usize {
        self.0.len()
    }
}

/// Room for some blocks, each with an overhead of less than 200 bytes.
const ROOM: usize = 1 << 16;

fn blocks(room: usize) -> (Arc<Budget>, Arc<Blocks>) {
    let budget = Budget::new(room);
    let blocks = Cache::new(&budget, 2);
    (budget, blocks)
}

fn block(byte: u8) -> Block {
    Block(Arc::new(vec![byte; 1000]))
}

/// Runs `scenario` in many orders of its threads' steps: half of them uniformly
/// random, half with few context switches, but at unfavorable times.
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

/// Runs `readers` concurrently, each with its number, and waits for them.
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
fn a_block_that_several_readers_request_is_made_once() {
    in_every_order("one block, three readers: decoded once", || {
        let (_, blocks) = blocks(ROOM);
        let made = Arc::new(AtomicUsize::new(0));
        let (cache, count) = (blocks.clone(), made.clone());
        let got = at_once(3, move |_| {
            let make = || {
                count.fetch_add(1, SeqCst);
                thread::yield_now();
                Ok(block(1))
            };
            cache.get(&1, make)
        });
        assert!(got.iter().all(|got| *got == Ok(block(1))));
        assert_eq!(made.load(SeqCst), 1);
        assert_eq!(blocks.peek(&1), Some(block(1)));
    });
}

#[test]
fn a_failure_is_returned_to_all_waiting_readers_and_not_kept() {
    in_every_order("one damaged block, three readers", || {
        let (_, blocks) = blocks(ROOM);
        let cache = blocks.clone();
        let got = at_once(3, move |_| {
            let make = || {
                thread::yield_now();
                Err("damaged")
            };
            cache.get(&1, make)
        });
        assert_eq!(got, vec![Err("damaged"); 3]);
        assert_eq!(blocks.get(&1, || Ok(block(2))), Ok(block(2)));
    });
}

#[test]
fn a_panic_while_decoding_a_block_blocks_no_reader() {
    in_every_order("a panic in one of three readers", || {
        let (_, blocks) = blocks(ROOM);
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
            catch_unwind(AssertUnwindSafe(|| blocks.get(&1, make)))
        });
        let answers: Vec<_> = got.into_iter().filter_map(Result::ok).collect();
        assert_eq!(answers, [Ok(block(3)), Ok(block(3))]);
    });
}

#[test]
fn the_budget_holds_under_concurrency() {
    const BUDGET: usize = 2500;
    in_every_order("a budget of two blocks, four of them requested", || {
        let (budget, blocks) = blocks(BUDGET);
        let (cache, shared) = (blocks.clone(), budget.clone());
        at_once(4, move |number| {
            let number = number as u8;
            let got = cache.get(&number.into(), || Ok(block(number)));
            assert_eq!(got, Ok(block(number)));
            cache.put(&9, block(9));
            assert!(shared.used() <= BUDGET);
        });
        assert!((1..=BUDGET).contains(&budget.used()));
    });
}

#[test]
fn charges_evict_cached_values_and_never_the_reverse() {
    in_every_order("two charges and two blocks in a small budget", || {
        let (budget, cache) = blocks(2500);
        let shared = budget.clone();
        let held = at_once(4, move |number| match number {
            0 | 1 => shared.charge("a tree", 1000).ok(),
            _ => {
                let got = cache.get(&(number as u32), || Ok(block(number as u8)));
                assert_eq!(got, Ok(block(number as u8)));
                None
            }
        });
        let charged = held.iter().flatten().count();
        assert_eq!(charged, 2, "blocks are evicted");
        assert!((2000..=2500).contains(&budget.used()));
        drop(held);
        assert!(budget.used() <= 1500);
    });
}

#[test]
fn only_one_value_may_be_larger_than_the_budget() {
    in_every_order("three trees larger than the budget", || {
        let (budget, _cache) = blocks(1000);
        let shared = budget.clone();
        let held = at_once(3, move |_| {
            let mut charge = shared.empty_charge("a tree");
            charge.grow_beyond(600).is_ok() && charge.grow_beyond(5000).is_ok()
        });
        assert!(held.contains(&true));
        assert_eq!(budget.used(), 0);
    });
}

#[test]
fn a_value_that_exceeds_the_budget_only_temporarily_is_counted_afterwards() {
    alone(|| {
        let (budget, _cache) = blocks(1000);
        let mut tree = budget.empty_charge("a tree");
        assert!(tree.grow_beyond(5000).is_ok());
        assert_eq!(budget.used(), 0);
        assert!(tree.grow_beyond(600).is_ok());
        assert_eq!(budget.used(), 600);
        let mut other = budget.empty_charge("another tree");
        assert!(other.grow_beyond(5000).is_ok());
        drop((tree, other));
        assert_eq!(budget.used(), 0);
    });
}

#[test]
fn reservations_wait_for_each_other_and_all_are_granted() {
    const EXTRA: usize = 16 << 20;
    in_every_order("three parsers, memory for one", || {
        let (budget, _cache) = blocks(1000);
        let shared = budget.clone();
        let granted = at_once(3, move |_| {
            let reserved = shared.reserve("an asset", EXTRA, true);
            thread::yield_now();
            reserved.map(drop).is_ok()
        });
        assert_eq!(granted, [true; 3]);
        assert_eq!(budget.used(), 0);
        assert!(budget.reserve("an asset", EXTRA + 1001, true).is_err());
    });
}

#[test]
fn values_that_depend_on_each_other_never_wait_in_a_cycle() {
    // Like models that refer to each other and are requested concurrently.
    fn get(cache: &Blocks, number: u32, within: &[u32]) -> Block {
        let make = || {
            let next = (number + 1) % 3;
            if within.contains(&next) || number == next {
                return Ok(block(number as u8));
            }
            let mut around = within.to_vec();
            around.push(number);
            get(cache, next, &around);
            Ok(block(number as u8))
        };
        let got = if within.is_empty() {
            cache.get(&number, make)
        } else {
            cache.get_without_waiting(&number, make)
        };
        got.unwrap()
    }
    in_every_order("three values in a circle, three readers", || {
        let (_, cache) = blocks(ROOM);
        let got = at_once(3, move |number| get(&cache, number as u32, &[]));
        assert_eq!(got, [block(0), block(1), block(2)]);
    });
}

#[test]
fn a_block_that_is_made_from_others_never_waits_forever() {
    // Like a text that is made from a model, and that from a file's bytes.
    fn get(cache: &Blocks, number: u8, made: &AtomicUsize) -> Block {
        let make = || {
            made.fetch_add(1, SeqCst);
            match number {
                0 => Ok(block(0)),
                _ => {
                    let inner = get(cache, number - 1, made);
                    Ok(Block(Arc::new([&inner.0[..], &[number][..]].concat())))
                }
            }
        };
        cache.get(&number.into(), make).unwrap()
    }
    in_every_order("blocks decoded from other blocks, four readers", || {
        let (_, blocks) = blocks(ROOM);
        let made = Arc::new(AtomicUsize::new(0));
        let count = made.clone();
        let got = at_once(4, move |number| get(&blocks, [2, 1, 0, 2][number], &count));
        assert_eq!(
            Vec::from_iter(got.iter().map(|got| got.0.len())),
            [1002, 1001, 1000, 1002]
        );
        assert_eq!(made.load(SeqCst), 3);
    });
}

#[test]
fn every_key_has_its_own_block_after_any_order_of_steps() {
    in_every_order("blocks stored, found, decoded and not kept", || {
        let (_, blocks) = blocks(2500);
        at_once(4, move |number| {
            let of = number as u8 % 2;
            let key = u32::from(of);
            let right = |found: Block| assert_eq!(found, block(of));
            match number {
                0 | 1 => blocks.put(&key, block(of)),
                _ => right(blocks.get_and_keep(&key, false, || Ok(block(of))).unwrap()),
            }
            blocks.peek(&key).into_iter().for_each(right);
            right(blocks.get(&key, || Ok(block(of))).unwrap());
        });
    });
}

#[test]
fn waiting_threads_miss_no_change() {
    in_every_order("two threads that add items, two that wait for them", || {
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
            // A lost wake-up would be a deadlock.
            _ => (0..2).filter_map(|_| list.wait_for(Vec::pop)).collect(),
        });
        let mut taken = taken.concat();
        taken.sort_unstable();
        assert_eq!(taken, [0, 1, 2, 3]);
    });
}

#[test]
fn waiting_threads_end_when_the_list_is_closed() {
    in_every_order("closed while one thread adds items and two wait", || {
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

#[test]
fn every_value_of_a_queue_is_taken_once_and_in_order() {
    in_every_order(
        "a queue of two places, one that adds, two that take",
        || {
            let queue = Arc::new(Queue::new(2));
            let taken = at_once(3, move |number| match number {
                0 => {
                    let adder = queue.adder();
                    (0..5).for_each(|value| adder.add(value));
                    Vec::new()
                }
                _ => std::iter::from_fn(|| queue.take()).collect(),
            });
            assert!(taken.iter().all(|values| values.is_sorted()));
            let mut taken = taken.concat();
            taken.sort_unstable();
            assert_eq!(taken, [0, 1, 2, 3, 4]);
        },
    );
}

#[test]
fn decoders_that_do_not_fit_together_take_turns() {
    const BUDGET: usize = 1000;
    in_every_order("four large decoders of three streams", || {
        let (budget, _cache) = blocks(BUDGET);
        let memory = Arc::new(DecoderMemory::new(&budget));
        let users = Arc::new([const { AtomicUsize::new(0) }; 3]);
        let used = budget.clone();
        at_once(4, move |number| {
            let stream = number % 3;
            let turn = memory.turn(stream as u32, 0).unwrap();
            assert_eq!(
                users[stream].fetch_add(1, SeqCst),
                0,
                "one thread decodes it"
            );
            let charge = turn.charge(600).unwrap();
            thread::yield_now();
            assert!(used.used() <= BUDGET);
            drop(charge);
            users[stream].fetch_sub(1, SeqCst);
        });
        assert_eq!(budget.used(), 0);
    });
}

#[test]
fn decoders_that_read_from_others_never_wait_in_a_cycle() {
    in_every_order(
        "three decoders in a stream that another one decodes",
        || {
            let (budget, _cache) = blocks(1000);
            let memory = Arc::new(DecoderMemory::new(&budget));
            let decoded = at_once(3, move |number| {
                let inner = memory.turn(number as u32, 1).unwrap();
                let held = inner.charge(600);
                let outer = memory.turn(9, 0).unwrap();
                let is_decoded = held.is_ok() && outer.charge(600).is_ok();
                thread::yield_now();
                is_decoded
            });
            assert!(decoded.contains(&true));
            assert_eq!(budget.used(), 0);
        },
    );
}

/// Runs a scenario with one thread.
fn alone(scenario: fn()) {
    shuttle::check_dfs(scenario, None);
}

#[test]
fn the_oldest_block_is_evicted_first() {
    alone(|| {
        let (budget, cache) = blocks(ROOM);
        let made = AtomicUsize::new(0);
        let get = |number: u8| {
            let make = || {
                made.fetch_add(1, SeqCst);
                Ok(block(number))
            };
            assert_eq!(cache.get(&number.into(), make), Ok(block(number)));
            assert!(budget.used() <= ROOM);
        };
        for number in 0..100 {
            get(number);
            get(0);
        }
        assert_eq!(made.swap(0, SeqCst), 100);
        get(0);
        get(99);
        assert_eq!(made.load(SeqCst), 0, "recently used ones are kept");
        get(10);
        assert_eq!(made.load(SeqCst), 1, "long unused ones are evicted");
    });
}

#[test]
fn the_oldest_value_of_all_caches_is_evicted_first() {
    alone(|| {
        let budget = Budget::new(5 * 1200);
        let (first, second) = (Blocks::new(&budget, 1), Blocks::new(&budget, 1));
        first.put(&1, block(1));
        for number in 0..4 {
            second.put(&number, block(0));
        }
        assert!(first.peek(&1).is_some(), "and is now the latest");
        second.put(&4, block(0));
        assert!(first.peek(&1).is_some());
        assert!(second.peek(&0).is_none());
        second.put(&5, block(0));
        for number in 10..15 {
            second.put(&number, block(0));
        }
        assert!(first.peek(&1).is_none());
    });
}

#[test]
fn a_block_larger_than_the_budget_is_returned_but_not_kept() {
    alone(|| {
        let (budget, cache) = blocks(100);
        assert_eq!(cache.get(&1, || Ok(block(7))), Ok(block(7)));
        assert_eq!(budget.used(), 0);
    });
}

/// Waits for a block that is on its way.
fn landed<V: Clone>(flight: &Flight<V>) -> V {
    match flight.wait(&|| true) {
        Waited::Landed(value) => value,
        Waited::Abandoned | Waited::Unwanted => panic!("the flight lands"),
    }
}

#[test]
fn a_block_that_a_killed_reader_was_making_is_made_again_for_the_others() {
    in_every_order("a killed reader and two others", || {
        let (_, blocks) = blocks(ROOM);
        let got = at_once(3, move |number| {
            let make = || match number {
                0 => Err(Outcome::killed()),
                _ => Ok(block(1)),
            };
            (number, blocks.get(&1, make))
        });
        for (number, block_or_error) in got {
            let is_right = block_or_error == Ok(block(1)) || number == 0;
            assert!(is_right, "{number}: {block_or_error:?}");
        }
    });
}

#[test]
fn a_pending_block_is_fetched_once_for_all_readers() {
    in_every_order("one block on its way, three readers", || {
        let (_, blocks) = blocks(ROOM);
        let flights = Flights::<u32, Result<Block, &'static str>>::default();
        let flights = Arc::new(shuttle::sync::Mutex::new(flights));
        let fetched = Arc::new(AtomicUsize::new(0));
        let count = fetched.clone();
        let got = at_once(3, move |_| {
            let find = || blocks.peek(&1).map(Ok);
            let claim = sync::lock(&flights).claim(1, find);
            match claim {
                Claim::Found(found) => found,
                Claim::Flying(flight) => landed(&flight),
                Claim::Mine(flight) => {
                    count.fetch_add(1, SeqCst);
                    let (blocks, flights) = (blocks.clone(), flights.clone());
                    thread::spawn(move || {
                        blocks.put(&1, block(1));
                        let flight = sync::lock(&flights).end(&1).unwrap();
                        flight.land(Ok(block(1)));
                    });
                    landed(&flight)
                }
            }
        });
        assert_eq!(got, vec![Ok(block(1)); 3]);
        assert_eq!(fetched.load(SeqCst), 1);
    });
}
