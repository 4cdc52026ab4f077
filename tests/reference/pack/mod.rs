//! The hpipack program.

mod hip;
mod hpi;
mod replace;
