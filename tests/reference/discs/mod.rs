//! Discs and block images.

mod chd;
mod samples;
mod writers;
