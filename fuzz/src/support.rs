//! The modules of `tests/support` that the entry points need.

#![allow(dead_code, unreachable_pub)]

#[path = "../../tests/support/assets.rs"]
pub mod assets;
#[path = "../../tests/support/build.rs"]
pub mod build;
#[path = "../../tests/support/container_seeds/mod.rs"]
pub mod container_seeds;
#[path = "../../tests/support/consoles.rs"]
pub mod consoles;
#[path = "../../tests/support/containers.rs"]
pub mod containers;
#[path = "../../tests/support/disc.rs"]
pub mod disc;
#[path = "../../tests/support/dreamcast.rs"]
pub mod dreamcast;
#[path = "../../tests/support/full.rs"]
pub mod full;
#[path = "../../tests/support/heavy_iron/mod.rs"]
pub mod heavy_iron;
#[path = "../../tests/support/hip.rs"]
pub mod hip;
#[path = "../../tests/support/hpi/mod.rs"]
pub mod hpi;
#[path = "../../tests/support/patterns.rs"]
mod patterns;
#[path = "../../tests/support/record.rs"]
pub mod record;
#[path = "../../tests/support/playstation.rs"]
pub mod playstation;
#[path = "../../tests/support/rock_ridge.rs"]
pub mod rock_ridge;
#[path = "../../tests/support/ta/mod.rs"]
pub mod ta;
#[path = "../../tests/support/udf.rs"]
pub mod udf;
#[path = "../../tests/support/walked.rs"]
pub mod walked;

pub use patterns::{noise, text};
