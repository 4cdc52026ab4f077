//! Credits: CRDT, sections of timed lines (FORMATS, HIP assets 3).

mod import;
pub mod parse;
pub mod view;

pub use self::parse::*;
pub use self::view::FORMAT;
