//! Load tests of a mount: its contents, the readers, and statistics.

pub mod figures;
pub mod readers;
pub mod set;
