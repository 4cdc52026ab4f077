//! The builders of the unit tests.

#![allow(dead_code)]

pub use hpimount::io::Endian;

#[path = "../../src/asset/hgo/build.rs"]
pub mod hgo;
#[path = "../../src/asset/ifp/build.rs"]
pub mod ifp;
#[path = "../../src/asset/psx/build.rs"]
pub mod psx;
