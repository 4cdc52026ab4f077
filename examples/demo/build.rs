//! The builders of the unit tests.

#![allow(dead_code)]

pub(super) use hpimount_containers::io::Endian;

#[path = "../../crates/assets/src/renderware/clump/build.rs"]
pub(super) mod clump;
#[path = "../../crates/assets/src/crash/hgo/parse/build.rs"]
pub(super) mod hgo;
#[path = "../../crates/assets/src/gta/ifp/parse/build.rs"]
pub(super) mod ifp;
#[path = "../../crates/assets/src/neversoft/psx/parse/build.rs"]
pub(super) mod psx;
