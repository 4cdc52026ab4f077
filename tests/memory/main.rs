//! Memory that views and requests allocate. A separate program, because it counts
//! allocations.

mod changes;
mod hot_paths;
mod ifp_hgo;
mod models;
mod psx;
mod views;
mod volumes;

use std::time::Duration;

use allocation_counter::measure;
use hpimount_assets::view::ViewFormat;
use testkit::limits::{look, timed};

/// Renders all files of a view, and returns how long it took, and the peak of
/// allocated bytes.
fn look_at(format: &ViewFormat, bytes: &[u8]) -> (Duration, usize) {
    let mut took = Duration::ZERO;
    let info = measure(|| took = timed(|| look(format, bytes)));
    (took, info.bytes_max as usize)
}
