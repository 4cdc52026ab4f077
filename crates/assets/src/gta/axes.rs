//! Axes: those of the games are x to the right, y forward and z up, those of
//! written models x, z and -y.

use crate::model::Transform;

/// The note about axes and units for readers of a model.
pub(super) const NOTE: &str =
    "The root turns the game's axes (x right, y forward, z up) to y up; units are meters.";

/// Returns the transformation of the root node, from the axes of the games.
pub(super) fn upright() -> Transform {
    let half = std::f32::consts::FRAC_1_SQRT_2;
    Transform {
        rotation: [-half, 0.0, 0.0, half],
        ..Transform::IDENTITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_z_axis_of_the_games_points_up() {
        let near = |point, expected: [f32; 3]| {
            let found = upright().apply(point);
            let parts = found.iter().zip(expected);
            assert!(
                parts.clone().all(|(a, b)| (a - b).abs() < 1e-6),
                "{found:?}"
            );
        };
        near([0.0, 0.0, 1.0], [0.0, 1.0, 0.0]);
        near([1.0, 2.0, 3.0], [1.0, 3.0, -2.0]);
    }
}
