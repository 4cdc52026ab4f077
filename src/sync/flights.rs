//! Values that another thread is fetching, and the threads that wait for them.
//!
//! `tests/locks.rs` includes this file to test it with the locks of a model
//! checker.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use crate::sync::{Condvar, Mutex, lock, wait};

/// Values that are being fetched, by key.
pub struct Flights<K, V>(Mutex<HashMap<K, Arc<Flight<V>>>>);

/// A value that is being fetched.
pub struct Flight<V> {
    value: Mutex<Option<V>>,
    landed: Condvar,
}

/// The result of [`Flights::claim`].
pub enum Claim<V> {
    /// The value exists.
    Found(V),
    /// Another thread is fetching it.
    Flying(Arc<Flight<V>>),
    /// The caller must fetch it, and must call [`Flights::land`] in any case.
    Mine(Arc<Flight<V>>),
}

impl<K, V> Default for Flights<K, V> {
    fn default() -> Self {
        Self(Mutex::new(HashMap::new()))
    }
}

impl<K: Hash + Eq, V: Clone> Flights<K, V> {
    /// Returns the value from `find`, or the flight of the thread that fetches
    /// it; if there is neither, the caller must fetch it.
    ///
    /// `find` is called with a lock held. The thread that lands a value
    /// publishes it to `find` first, so that nothing is fetched twice.
    pub fn claim(&self, key: K, find: impl FnOnce() -> Option<V>) -> Claim<V> {
        let mut flights = lock(&self.0);
        if let Some(flight) = flights.get(&key) {
            return Claim::Flying(flight.clone());
        }
        if let Some(value) = find() {
            return Claim::Found(value);
        }
        let flight = Arc::new(Flight {
            value: Mutex::new(None),
            landed: Condvar::new(),
        });
        flights.insert(key, flight.clone());
        Claim::Mine(flight)
    }

    /// Passes a value to all waiting threads.
    pub fn land(&self, key: &K, value: V) {
        let flight = lock(&self.0).remove(key);
        if let Some(flight) = flight {
            *lock(&flight.value) = Some(value);
            flight.landed.notify_all();
        }
    }
}

impl<V: Clone> Flight<V> {
    /// Waits for the value.
    pub fn wait(&self) -> V {
        let mut value = lock(&self.value);
        loop {
            if let Some(value) = &*value {
                return value.clone();
            }
            value = wait(&self.landed, value);
        }
    }
}
