//! VCDIFF as xdelta3 writes and reads it (section 3 of the specification; RFC 3284).

mod addresses;
mod djw;
mod header;
mod instructions;
mod layout;
mod lzma;
mod secondary;
#[cfg(test)]
mod tests;
mod window;
mod windows;
pub(crate) mod write;

pub(crate) use self::header::{MAGIC, Vcdiff};
pub(crate) use self::windows::{Windows, memory_of_windows};
