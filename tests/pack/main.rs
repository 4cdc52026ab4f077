//! The hpipack program.

mod hip;
mod hpi;
mod modding;
mod replace;
#[path = "../support/mod.rs"]
mod support;
