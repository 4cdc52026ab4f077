//! Formats of archives, containers and assets: reads return the written bytes,
//! and the views show them. A folder for each family.

mod consoles;
mod containers;
mod editable;
mod evidence;
mod gta;
mod heavy_iron;
mod hip;
mod hpi;
mod models;
mod neversoft;
mod patches;
mod total_annihilation;
