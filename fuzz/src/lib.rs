//! The entry points of the fuzz targets, which `tests/hostile/fuzz_targets.rs` runs without
//! a fuzzer.

#[path = "../../tests/support/fuzz/mod.rs"]
pub mod fuzz;
mod support;
