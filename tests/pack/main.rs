//! The hpipack program.

mod apply;
mod confinement;
mod hip;
mod hpi;
mod modding;
mod replace;
#[path = "../support/mod.rs"]
mod support;
