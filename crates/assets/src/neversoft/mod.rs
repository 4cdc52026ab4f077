//! Assets of Neversoft's games, and of the PlayStation.

pub mod bon;
mod color;
pub mod ddm;
pub mod dds;
pub mod kat;
pub mod psh;
pub mod psx;
pub mod pvr;
pub mod qb;
pub mod rle;
pub mod tim;
pub mod trg;
pub mod vab;
pub mod vag;
mod view;
pub mod xa;
