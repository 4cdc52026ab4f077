//! 3DO: models (FORMATS, TA).

mod drawn;
pub mod export;
mod import;
pub mod parse;
pub mod textures;
pub mod view;

pub(crate) use self::drawn::{Drawn, Script};
pub use self::parse::*;
pub use self::view::FORMAT;

use hpimount_assets::view::{AssetContext, AssetKey};

/// Returns the path of the model with this name.
pub(crate) fn path_of(name: &str) -> String {
    format!("objects3d/{name}.3do")
}

/// Returns the model with this name, or `None` if it is missing or damaged.
pub(crate) fn of_unit(context: &dyn AssetContext, name: &str) -> Option<Model> {
    let file = context.find(AssetKey::Path(&path_of(name)))?;
    parse(&context.read(file)?).ok()
}
