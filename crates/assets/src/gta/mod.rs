//! Grand Theft Auto III, Vice City and San Andreas.

mod axes;
pub mod col;
pub mod context;
pub mod data;
pub mod dff;
pub mod document;
pub mod gxt;
pub mod ifp;
pub mod map;
mod models;
pub mod report;
mod rows;
mod shear;
pub mod txd;

use serde_json::Value;

use crate::parse::Incomplete;
use crate::view::Failure;

/// Returns the failure for an asset that could not be parsed completely.
fn failure<M>(incomplete: Incomplete<M>, partial: impl FnOnce(&M) -> Value) -> Box<Failure> {
    let Incomplete { error, model } = incomplete;
    let partial = partial(&model);
    Box::new(Failure { error, partial })
}
