//! The models of units: files with the names of the units.

use super::{Model, parse};
use hpimount_assets::view::{AssetContext, Wanted};

/// Returns the path of the model of this name.
pub(crate) fn path_of(name: &str) -> String {
    format!("objects3d/{name}.3do")
}

/// Returns the model of this name; `None` if the mount has none, or if it is damaged.
pub(crate) fn of_unit(context: &dyn AssetContext, name: &str) -> Option<Model> {
    let file = context.find(Wanted::Path(&path_of(name)))?;
    parse(&context.read(file)?).ok()
}
