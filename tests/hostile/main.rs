//! Broken and malicious input: nothing panics, loops, takes memory out of
//! proportion or shows wrong bytes.

mod changes;
mod checksums;
mod containers;
mod discs;
mod expansion;
#[path = "../support/fuzz/mod.rs"]
mod fuzz;
mod fuzz_targets;
mod heavy_iron;
mod hpi;
mod ifp_hgo;
mod matrix;
mod resources;
#[path = "../support/mod.rs"]
mod support;
mod total_annihilation;
