//! Sources on web servers and in buckets.

#![cfg(feature = "remote")]

mod faults;
mod fixtures;
mod http;
mod inspect;
mod line;
mod names;
mod pairs;
mod servers;
mod start;
