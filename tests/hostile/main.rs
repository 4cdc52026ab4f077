//! Broken and malicious input: nothing panics, loops, takes memory out of
//! proportion or shows wrong bytes.

mod changes;
mod checksums;
mod containers;
mod directories;
mod discs;
mod edited_models;
mod expansion;
mod fuzz_targets;
mod heavy_iron;
mod hpi;
mod ifp_hgo;
mod installers;
mod matrix;
mod plain;
mod resources;
mod total_annihilation;
