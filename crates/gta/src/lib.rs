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
mod shear;
pub mod txd;

use std::borrow::Cow;
use std::rc::Rc;

use get_size2::GetSize;
use hpimount_assets::view::page::{Page, Rows};
use hpimount_assets::view::{Opened, ViewFormat};
use hpimount_containers::io::Warnings;
use hpimount_record::Value;

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

/// Returns a table of rows that have a value for each column.
fn table<'a, const N: usize>(
    columns: [&'static str; N],
    rows: impl Iterator<Item = Vec<Value>> + 'a,
) -> Rows<'a> {
    Rows {
        columns: Rc::new(columns.map(Cow::Borrowed)),
        rows: Box::new(rows),
    }
}

/// Returns the page of an asset, with its warnings. `what` describes it in the summary.
fn page<M: GetSize + Send + Sync + 'static>(
    format: &'static str,
    what: &str,
    warnings: &mut Warnings,
) -> Page<M> {
    let heading = format!("{what} (Grand Theft Auto)");
    Page::new(format, heading, std::mem::take(warnings))
}
