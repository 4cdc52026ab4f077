//! The model and the script of a unit: files of the same name, in which pieces have the
//! same names.
//!
//! The views of each show something of the other, so they ask here instead of reading
//! each other's files.

use bytes::Bytes;

use super::cob::{self, Cob};
use super::tdo::{self, Model};
use crate::view::{AssetContext, Wanted};

/// Returns the path of the model of this name.
pub(super) fn model_path(name: &str) -> String {
    format!("objects3d/{name}.3do")
}

/// Returns the path of the script of this name.
pub(super) fn script_path(name: &str) -> String {
    format!("scripts/{name}.cob")
}

/// Returns the model of this name; `None` if the mount has none, or if it is damaged.
pub(super) fn model(context: &dyn AssetContext, name: &str) -> Option<Model> {
    tdo::parse(&read(context, &model_path(name))?).ok()
}

/// Returns the script of this name; `None` if the mount has none, or if it is damaged.
pub(super) fn script(context: &dyn AssetContext, name: &str) -> Option<Cob> {
    cob::parse(&read(context, &script_path(name))?).ok()
}

fn read(context: &dyn AssetContext, path: &str) -> Option<Bytes> {
    context.read(context.find(Wanted::Path(path))?)
}
