//! Models and levels (FORMATS, HIP assets).

pub(crate) mod animated;
pub mod blending;
pub(crate) mod collision;
pub(crate) mod cutscene;
pub mod export;
pub(crate) mod import;
pub mod level;
pub(crate) mod outline;
pub mod parse;
mod prelight;
pub(crate) mod set;
pub(crate) mod textures;

pub use self::parse::*;
