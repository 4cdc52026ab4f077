//! HPI archives.

mod builders;
mod damage;
mod merging;
pub(crate) mod reader;
mod samples;
