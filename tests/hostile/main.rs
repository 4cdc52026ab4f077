//! Broken and malicious input does not cause panics, endless loops, excessive memory
//! use or wrong bytes.

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
