//! Assets of Neversoft's games, and of the PlayStation.

pub mod psx;
pub mod qb;
pub mod tim;
pub mod vab;
pub mod vag;
mod view;
