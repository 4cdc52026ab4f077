//! Tests of the queue between a walk and its workers with threads of the system;
//! `tests/locks.rs` runs it in every order.

use std::thread;

use super::queue::Queue;

#[test]
fn nobody_waits_for_a_taker_that_has_panicked() {
    let queue = Queue::new(8);
    let adder = queue.adder();
    thread::scope(|scope| {
        let taker = scope.spawn(|| {
            let _ends = queue.ends_with_panic();
            queue.take().unwrap();
            panic!("of a job");
        });
        (0..100).for_each(|number| adder.add(number));
        assert!(taker.join().is_err());
    });
}

#[test]
fn who_adds_waits_until_half_of_a_full_queue_is_empty() {
    let queue = Queue::new(8);
    let adder = queue.adder();
    thread::scope(|scope| {
        scope.spawn(move || (0..9).for_each(|number| adder.add(number)));
        while !queue.is_full() {
            thread::yield_now();
        }
        let mut taken: Vec<_> = std::iter::from_fn(|| queue.take()).take(3).collect();
        assert!(queue.is_full(), "three places are free");
        taken.extend(std::iter::from_fn(|| queue.take()));
        assert_eq!(taken, (0..9).collect::<Vec<_>>());
    });
}
