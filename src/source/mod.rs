//! Where bytes come from.

mod file;
mod location;

pub use self::file::{FileIdentity, FilePool, FileSource, PLACE};
pub use self::location::Location;
