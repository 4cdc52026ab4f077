//! The builders of the unit tests.

#![allow(dead_code)]

pub use hpimount_containers::io::Endian;

#[path = "../../crates/assets/src/renderware/clump/build.rs"]
pub mod clump;
#[path = "../../crates/assets/src/gta/col/build.rs"]
pub mod col;
#[path = "../../crates/assets/src/gta/gxt/build.rs"]
pub mod gxt;
#[path = "../../crates/assets/src/crash/hgo/parse/build.rs"]
pub mod hgo;
#[path = "../../crates/assets/src/gta/ifp/parse/build.rs"]
pub mod ifp;
#[path = "../../crates/assets/src/neversoft/psx/parse/build.rs"]
pub mod psx;
#[path = "../../crates/assets/src/gta/txd/build.rs"]
pub mod txd;
