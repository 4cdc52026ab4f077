//! The hpipack program.

mod apply;
mod confinement;
mod converted;
mod hip;
mod hpi;
mod modding;
mod replace;
#[path = "../support/mod.rs"]
mod support;
