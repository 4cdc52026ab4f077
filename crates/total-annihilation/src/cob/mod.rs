//! COB: scripts of units (FORMATS, TA).

mod bos;
mod compile;
mod import;
pub mod parse;

pub use self::bos::{Lines, Place, Remark};
pub(crate) use self::import::{TEXT, import};
pub use self::parse::*;

use hpimount_assets::view::{AssetContext, AssetKey};

/// Returns the path of the script of this name.
pub(crate) fn path_of(name: &str) -> String {
    format!("scripts/{name}.cob")
}

/// Returns the script of this name; `None` if the mount has none, or if it is damaged.
pub(crate) fn of_unit(context: &dyn AssetContext, name: &str) -> Option<Cob> {
    let file = context.find(AssetKey::Path(&path_of(name)))?;
    parse(&context.read(file)?).ok()
}
