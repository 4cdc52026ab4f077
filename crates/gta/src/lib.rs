#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod axes;
pub mod col;
pub mod data;
pub mod dff;
pub mod document;
#[cfg(test)]
mod dumps;
pub mod gxt;
pub mod ifp;
pub mod map;
mod models;
pub mod report;
mod rows;
mod shear;
pub mod txd;

use hpimount_assets::parse::Incomplete;
use hpimount_assets::view::Failure;
use hpimount_assets::view::ViewFormat;
use serde_json::Value;

/// The formats of this family. The first one that an asset belongs to shows it.
pub const FORMATS: &[ViewFormat] = &[
    col::FORMAT,
    data::COLORS_FORMAT,
    data::FILES_FORMAT,
    data::GROUPS_FORMAT,
    data::HANDLING_FORMAT,
    data::TEXTS_FORMAT,
    data::WATER_FORMAT,
    data::WATERPRO_FORMAT,
    dff::FORMAT,
    gxt::FORMAT,
    ifp::FORMAT,
    map::IDE_FORMAT,
    map::IPL_FORMAT,
    map::ZON_FORMAT,
    txd::FORMAT,
];

/// Returns the failure for an asset that could not be parsed completely.
fn failure<M>(incomplete: Incomplete<M>, partial: impl FnOnce(&M) -> Value) -> Box<Failure> {
    let Incomplete { error, model } = incomplete;
    let partial = partial(&model);
    Box::new(Failure { error, partial })
}
