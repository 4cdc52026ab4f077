//! Positions and extents of triggers (FORMATS, HIP assets 6).

use super::placements::{Placed, parts};
use crate::model::level::{Mark, object_transform};
use crate::model::outline;
use crate::object::{Object, trigger_shape};
use crate::record::Value;
use hpimount_assets::model::Transform;
use hpimount_assets::model::math::{add, finite, subtract};
use hpimount_record::Value as Cell;

/// The extent of a trigger.
pub(super) struct Extent {
    shape: Option<&'static str>,
    /// Position: the center of a box or a sphere, or of the lower end of a cylinder.
    place: Option<Transform>,
    /// The edge lengths of a box, or the radius and the height of another shape.
    size: [f32; 3],
}

impl Extent {
    pub(super) const COLUMNS: [&'static str; 9] = [
        "shape", "center_x", "center_y", "center_z", "size_x", "size_y", "size_z", "radius",
        "height",
    ];

    /// Returns the extent of a trigger, without a position for an object that lacks
    /// one.
    pub(super) fn of(object: &Object) -> Self {
        let shape = match object.field("subtype") {
            Some(Value::Unsigned(number)) => u8::try_from(number).ok().and_then(trigger_shape),
            _ => None,
        };
        let vector = |name| match object.field(name) {
            Some(Value::Vec3(vector)) => vector,
            _ => [0.0; 3],
        };
        let (first, second) = (vector("p0"), vector("p1"));
        let place = Placed::of(object).map(|placed| match shape {
            Some("box") => turned(&placed, add(first, second).map(|part| part / 2.0)),
            Some(_) => Transform::at(first.map(finite)),
            None => Transform::at(placed.position.map(finite)),
        });
        let size = match shape {
            Some("box") => subtract(second, first).map(f32::abs),
            _ => second,
        };
        Self { shape, place, size }
    }

    /// Returns its lines; `None` without a place.
    pub(super) fn mark(&self) -> Option<Mark> {
        let [width, height, _] = self.size;
        let lines = match self.shape {
            Some("box") => outline::of_box(self.size.map(|part| part / 2.0)),
            Some("sphere") => outline::of_sphere(width),
            Some("cylinder") => outline::of_cylinder(width, height),
            Some("circle") => outline::of_circle(width),
            _ => Vec::new(),
        };
        let transform = self.place?;
        Some(Mark { transform, lines })
    }

    /// Returns the cells of [`Extent::COLUMNS`].
    pub(super) fn cells(&self) -> [Cell; Self::COLUMNS.len()] {
        let [x, y, z] = parts(self.place.map(|place| place.translation));
        let size = parts((self.shape == Some("box")).then_some(self.size));
        let [radius, height, _] = self.size;
        let [radius, height] = match self.shape {
            Some("cylinder") => [radius, height].map(Cell::from),
            Some("box") | None => [Cell::Null, Cell::Null],
            Some(_) => [radius.into(), Cell::Null],
        };
        let [width, depth, length] = size;
        let shape = self.shape.into();
        [shape, x, y, z, width, depth, length, radius, height]
    }
}

/// Returns the position of a box at `middle` that is rotated about the position of its
/// object.
fn turned(placed: &Placed, middle: [f32; 3]) -> Transform {
    let angles = placed.angles.unwrap_or_default();
    let place = object_transform(placed.position, angles, [1.0; 3]);
    let center = subtract(middle, placed.position).map(finite);
    Transform {
        translation: place.apply(center),
        ..place
    }
}
