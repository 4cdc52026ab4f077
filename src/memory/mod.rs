//! The memory budget of a mount, and caches within it.

pub mod budget;
pub mod cache;
pub mod latest;
