//! COB: scripts of units (FORMATS, TA).

mod bos;
mod compile;
mod import;
pub mod parse;

pub use self::bos::{Lines, Place, Remark};
pub(crate) use self::import::{TEXT, import};
pub use self::parse::*;

use hpimount_assets::view::{AssetContext, AssetKey};

/// Returns the path of the script with this name.
pub(crate) fn path_of(name: &str) -> String {
    format!("scripts/{name}.cob")
}

/// Returns the script with this name, or `None` if it is missing or damaged.
pub(crate) fn of_unit(context: &dyn AssetContext, name: &str) -> Option<Cob> {
    let file = context.find(AssetKey::Path(&path_of(name)))?;
    parse(&context.read(file)?).ok()
}
