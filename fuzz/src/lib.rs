//! The entry points of the fuzz targets. They are those of `tests/fuzzing.rs`,
//! which runs them without a fuzzer.

#[path = "../../tests/support/fuzz/mod.rs"]
pub mod fuzz;
mod support;
