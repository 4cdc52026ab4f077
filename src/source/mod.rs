//! Where bytes come from.

mod file;

pub use self::file::{FileIdentity, FilePool, FileSource, PLACE};
