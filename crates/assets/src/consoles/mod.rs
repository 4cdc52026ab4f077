//! What consoles show of a game: banners of GameCube discs, title images of Xbox
//! programs, and icons of PlayStation saves.

pub mod banner;
pub mod save;
pub mod xbox;
