//! Formats of archives, containers and assets: what is read is what was written,
//! and what is shown of it. A folder for each family.

mod containers;
mod heavy_iron;
mod hip;
mod hpi;
mod models;
#[path = "../support/mod.rs"]
mod support;
mod total_annihilation;
