//! Writers of pictures and models in common formats, and readers of edited files.
//!
//! A format is converted to a [`Picture`] or a [`Scene`] by its own `export`; the
//! writers ([`png`], [`apng`], [`obj`], [`gltf`], [`bvh`], [`preview`]) know no format.
//! Output is proportional to input, and bounded: an `ExportPlan` of the format
//! determines beforehand, without decoding, which parts cannot be written, and why.

pub mod affine;
pub mod apng;
pub mod bvh;
pub mod edited;
pub mod gltf;
pub mod math;
pub mod obj;
pub mod pairing;
pub mod palette;
mod picture;
mod pixels;
pub mod png;
mod pose;
pub mod preview;
pub mod quality;
pub mod scene;
mod sheet;
pub mod wav;

use std::any::Any;
use std::fmt::Display;
use std::io;

pub use math::Transform;
pub use picture::{MAX_PIXELS, Picture, Pixels, size_problem};
pub(crate) use pixels::PixelsLeft;
pub use scene::Scene;
pub use sheet::{Scale, reduced, sheet};

/// Temporary memory, released on drop. The caller that reserves it decides how it is
/// counted.
pub type Reservation = Box<dyn Any + Send>;

/// A function that reserves a number of bytes.
pub type Reserve<'a> = &'a dyn Fn(usize) -> io::Result<Option<Reservation>>;

/// Maximum number of face corners of a written scene, counted once per use. Detailed
/// models of mods have a third of it.
pub const MAX_CORNERS: usize = 1 << 20;

/// Memory that a corner takes in a scene, in bytes.
pub const CORNER_BYTES: usize = 96;

/// Maximum number of joints of a written skeleton.
pub const MAX_JOINTS: usize = 1024;

/// Maximum number of curves of a scene, each of one joint in one animation.
pub const MAX_CURVES: usize = 1 << 13;

/// Maximum number of poses, each of one joint in one frame, of all animations
/// of a scene.
pub const MAX_POSES: usize = 1 << 20;

/// Memory of a keyframe of a track in a scene, in bytes: time, translation and
/// rotation, in vectors with up to twice the capacity.
pub const KEY_BYTES: usize = 2 * (1 + 3 + 4) * size_of::<f32>();

/// Formats the message about a hidden item in `info.json` and `info.txt`.
pub fn not_shown(what: impl Display, why: impl Display) -> String {
    format!("{what} is not shown: {why}")
}

/// Returns a reason if a model has too many face corners to be shown.
pub fn corners_problem(corners: usize) -> Option<String> {
    let is_too_large = corners > MAX_CORNERS;
    is_too_large.then(|| format!("it has {corners} corners, more than {MAX_CORNERS}"))
}

/// Returns `number`, which is below `count`, with leading zeros, so that names sort by
/// number. It has at least `width` digits.
pub fn padded(number: usize, count: usize, width: usize) -> String {
    let last = count.saturating_sub(1).max(1);
    let width = width.max(last.ilog10() as usize + 1);
    format!("{number:0width$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_sort_as_numbers() {
        assert_eq!(padded(7, 0, 2), "07");
        assert_eq!(padded(7, 100, 2), "07");
        assert_eq!(padded(7, 101, 2), "007");
        assert_eq!(padded(1234, 12345, 3), "01234");
        for count in [5, 10, 11, 1000, 1001] {
            let names: Vec<String> = (0..count).map(|n| padded(n, count, 3)).collect();
            assert!(names.is_sorted(), "{count}");
        }
    }
}
