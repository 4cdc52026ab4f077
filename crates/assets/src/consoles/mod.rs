//! Pictures in console menus: banners of GameCube discs, title images of Xbox programs,
//! and icons of PlayStation saves.

pub mod banner;
pub mod save;
pub mod xbox;

use crate::view::ViewFormat;

/// The formats of this family. The first one that an asset belongs to shows it.
pub const FORMATS: &[ViewFormat] = &[banner::FORMAT, save::FORMAT, xbox::FORMAT, xbox::XPR_FORMAT];
