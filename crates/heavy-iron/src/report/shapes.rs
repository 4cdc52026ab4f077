//! Positions and extents of triggers (FORMATS, HIP assets 6).

use super::placements::Placed;
use crate::model::level::{Mark, object_transform};
use crate::model::outline;
use crate::object::{Object, trigger_shape};
use crate::record::Value;
use crate::view::{add_all, add_blanks};
use hpimount_assets::model::Transform;
use hpimount_assets::model::math::{add, finite, subtract};
use hpimount_assets::view::Table;

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

    /// Adds the cells of [`Extent::COLUMNS`].
    pub(super) fn add_cells(&self, table: &mut Table<'_>) {
        table.optional_text(self.shape);
        match &self.place {
            Some(place) => add_all(place.translation, table),
            None => add_blanks(3, table),
        }
        let [radius, height, _] = self.size;
        match self.shape {
            Some("box") => {
                add_all(self.size, table);
                add_blanks(2, table);
            }
            Some("cylinder") => {
                add_blanks(3, table);
                add_all([radius, height], table);
            }
            Some(_) => {
                add_blanks(3, table);
                add_all([radius], table);
                add_blanks(1, table);
            }
            None => add_blanks(5, table),
        }
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
