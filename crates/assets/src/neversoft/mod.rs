//! Assets of Neversoft's games.

pub mod psx;
