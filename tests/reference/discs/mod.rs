//! Discs and block images.

mod chd;
mod checksums;
mod samples;
