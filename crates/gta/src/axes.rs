//! Axes: in the games, x points right, y forward and z up. In written models, y is up,
//! and z is the front as in all GLB files; in maps, -z is north.

use hpimount_assets::model::Transform;

/// The note about axes and units for readers of a map.
pub(super) const NOTE: &str =
    "The root turns the game's axes (x right, y forward, z up) to y up; units are meters.";

/// The note for readers of a model.
pub(super) const FACING: &str = "The root turns the game's axes (x right, y forward, z up) so \
    that y is up and the front is z; units are meters.";

const HALF: f32 = std::f32::consts::FRAC_1_SQRT_2;

/// Returns the transformation of the root node of a map: x, z and -y.
pub(super) fn upright() -> Transform {
    Transform {
        rotation: [-HALF, 0.0, 0.0, HALF],
        ..Transform::IDENTITY
    }
}

/// Returns the transformation of the root node of a model: -x, z and y.
pub(super) fn facing() -> Transform {
    Transform {
        rotation: [0.0, HALF, HALF, 0.0],
        ..Transform::IDENTITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_z_axis_of_the_games_points_up_and_the_front_of_models_is_z() {
        let near = |root: Transform, point, expected: [f32; 3]| {
            let found = root.apply(point);
            let parts = found.iter().zip(expected);
            assert!(
                parts.clone().all(|(a, b)| (a - b).abs() < 1e-6),
                "{found:?}"
            );
        };
        near(upright(), [1.0, 2.0, 3.0], [1.0, 3.0, -2.0]);
        near(facing(), [1.0, 2.0, 3.0], [-1.0, 3.0, 2.0]);
    }
}
