//! The builders of the unit tests.

#![allow(dead_code)]

pub(super) use hpimount::io::Endian;

#[path = "../../src/asset/hgo/build.rs"]
pub(super) mod hgo;
#[path = "../../src/asset/ifp/build.rs"]
pub(super) mod ifp;
#[path = "../../src/asset/psx/build.rs"]
pub(super) mod psx;
