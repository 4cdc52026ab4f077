//! DFF: models (FORMATS, GTA 5).

mod animated;
mod drawn;
pub mod export;
mod import;
pub mod parse;
pub(crate) mod plan;
pub(crate) mod textures;
pub mod view;

pub use self::parse::*;
pub use self::view::FORMAT;
