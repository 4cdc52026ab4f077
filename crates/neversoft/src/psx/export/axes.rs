//! Conversion of angles from files with y down to scenes with y up (FORMATS, PSX 1).

use hpimount_assets::model::math::{Rows, product, sin_cos};

/// Returns the matrix of an object's angles (4096 are a full turn), with y up: first
/// about z, then x, then y.
pub(crate) fn turn_of(angles: [i16; 3]) -> Rows {
    // Only rotations about x are the same with y down and y up.
    let [x, y, z] = angles.map(|angle| f32::from(angle) * std::f32::consts::TAU / 4096.0);
    let ((sx, cx), (sy, cy), (sz, cz)) = (sin_cos(x), sin_cos(-y), sin_cos(-z));
    let about_x = [[1.0, 0.0, 0.0], [0.0, cx, -sx], [0.0, sx, cx]];
    let about_y = [[cy, 0.0, sy], [0.0, 1.0, 0.0], [-sy, 0.0, cy]];
    let about_z = [[cz, -sz, 0.0], [sz, cz, 0.0], [0.0, 0.0, 1.0]];
    product(about_y, product(about_x, about_z))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_are_about_axes_with_y_up() {
        let quarter = turn_of([0, 1024, 0]);
        let rotated = quarter.map(|row| row[0]);
        assert!((rotated[2] - 1.0).abs() < 1e-6, "{rotated:?}");
    }
}
