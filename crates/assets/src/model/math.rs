//! Vectors, quaternions and transformations.

// The functions of the standard library differ between systems in the last bit.
pub use libm::{
    asinf as asin, atan2f as atan2, cosf as cos, exp2, log10, powf, sincosf as sin_cos,
};

/// A vector with three components.
pub(super) type Vector = [f32; 3];

/// A matrix, row by row, for column vectors.
pub type Rows = [[f32; 3]; 3];

/// The identity matrix.
pub(super) const IDENTITY: Rows = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// Transformation of a node relative to its parent: scale, then rotation, then
/// translation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transform {
    /// The translation.
    pub translation: [f32; 3],
    /// The rotation: a unit quaternion x, y, z, w.
    pub rotation: [f32; 4],
    /// The scale along its own axes.
    pub scale: [f32; 3],
}

impl Transform {
    /// The identity.
    pub const IDENTITY: Self = Self::at([0.0; 3]);

    /// Creates a translation.
    pub const fn at(translation: [f32; 3]) -> Self {
        Self {
            translation,
            rotation: [0.0, 0.0, 0.0, 1.0],
            scale: [1.0; 3],
        }
    }

    /// Creates a transformation from a rotation matrix and a translation. Scale and
    /// shear in the matrix are lost.
    pub fn turned(rows: Rows, translation: Vector) -> Self {
        Self {
            translation,
            rotation: quaternion(orthonormal(rows).0),
            scale: [1.0; 3],
        }
    }

    /// Creates a transformation from a matrix written row by row with the
    /// translation in the fourth row, for row vectors. Shear and NaN are lost.
    pub fn from_row_vector_matrix(m: &[f32; 16]) -> Self {
        let m = m.map(finite);
        let rows = [[m[0], m[4], m[8]], [m[1], m[5], m[9]], [m[2], m[6], m[10]]];
        let (turn, scale) = orthonormal(rows);
        Self {
            translation: [m[12], m[13], m[14]],
            rotation: quaternion(turn),
            scale,
        }
    }

    /// Creates a transformation from the images of the three axes and of the
    /// origin. Shear and NaN are lost.
    pub fn from_axes([right, up, at, position]: [Vector; 4]) -> Self {
        let rows = [(right, 0.0), (up, 0.0), (at, 0.0), (position, 1.0)];
        let mut matrix = [0.0; 16];
        for (row, (vector, last)) in matrix.as_chunks_mut::<4>().0.iter_mut().zip(rows) {
            *row = [vector[0], vector[1], vector[2], last];
        }
        Self::from_row_vector_matrix(&matrix)
    }

    /// Composes two rotations: `other`, then this one. Ignores translations and scales.
    pub fn after(&self, other: &Self) -> Self {
        let rotation = quaternion(product(rows(self.rotation), rows(other.rotation)));
        Self {
            rotation,
            ..Self::IDENTITY
        }
    }

    /// Transforms a point from the node to its parent. The result is clamped, so a long
    /// chain of nodes stays finite.
    pub fn apply(&self, point: [f32; 3]) -> [f32; 3] {
        let scaled = std::array::from_fn(|axis| point[axis] * self.scale[axis]);
        add(rotate(self.rotation, scaled), self.translation).map(finite)
    }

    /// Transforms a normal from the node to its parent. The result has length 1.
    pub fn apply_normal(&self, normal: [f32; 3]) -> [f32; 3] {
        let scaled = std::array::from_fn(|axis| normal[axis] / self.scale[axis]);
        unit(rotate(self.rotation, scaled)).unwrap_or(normal)
    }
}

/// Returns the number, or 0 for NaN and infinities. Clamps huge numbers, so sums stay
/// finite.
pub fn finite(value: f32) -> f32 {
    if value.is_finite() {
        value.clamp(-1e18, 1e18)
    } else {
        0.0
    }
}

/// Converts a color component from sRGB to linear.
pub fn linear(part: f32) -> f32 {
    if part <= 0.04045 {
        part / 12.92
    } else {
        powf((part + 0.055) / 1.055, 2.4)
    }
}

/// Converts a color component from linear to sRGB.
pub fn srgb(part: f32) -> f32 {
    if part <= 0.003_130_8 {
        part * 12.92
    } else {
        1.055 * powf(part, 1.0 / 2.4) - 0.055
    }
}

/// Returns the sum.
pub fn add(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|axis| a[axis] + b[axis])
}

/// Returns the difference.
pub fn subtract(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|axis| a[axis] - b[axis])
}

/// Returns the cross product.
pub fn cross(a: Vector, b: Vector) -> Vector {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// Returns the scalar product.
pub fn dot(a: Vector, b: Vector) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Returns the vector scaled to length 1, or `None` if it has no direction.
pub fn unit(vector: Vector) -> Option<Vector> {
    let longest = vector
        .iter()
        .fold(0.0_f32, |most, part| most.max(part.abs()));
    // `max` ignores NaN.
    if !vector.iter().all(|part| part.is_finite()) || longest < 1e-18 {
        return None;
    }
    // Scaled first, because the square of a very small or large number is 0 or
    // infinite.
    let near = vector.map(|part| part / longest);
    let length = dot(near, near).sqrt();
    Some(near.map(|part| part / length))
}

/// Returns the transposed matrix.
pub(super) fn transposed(a: Rows) -> Rows {
    std::array::from_fn(|row| std::array::from_fn(|column| a[column][row]))
}

/// Returns the product of two matrices: `a` after `b`.
pub fn product(a: Rows, b: Rows) -> Rows {
    let columns = transposed(b);
    a.map(|row| std::array::from_fn(|column| dot(row, columns[column])))
}

#[cfg(test)]
fn turn(rows: Rows, vector: Vector) -> Vector {
    rows.map(|row| dot(row, vector))
}

/// Returns the rotation and the scale of a matrix, by Gram-Schmidt
/// orthogonalization. A mirroring matrix has a negative scale.
fn orthonormal(rows: Rows) -> (Rows, Vector) {
    let [x, y, z] = transposed(rows);
    let (Some(first), Some(_), Some(_)) = (unit(x), unit(y), unit(z)) else {
        return (IDENTITY, [1.0; 3]);
    };
    let along = dot(first, y);
    let second = unit(subtract(y, first.map(|part| part * along)));
    let Some(second) = second else {
        return (IDENTITY, [1.0; 3]);
    };
    let third = cross(first, second);
    let scale = [dot(first, x), dot(second, y), dot(third, z)];
    let turn = transposed([first, second, third]);
    (
        turn,
        scale.map(|part| if part.abs() < 1e-9 { 1.0 } else { part }),
    )
}

/// Returns the unit quaternion x, y, z, w of a rotation matrix.
pub(super) fn quaternion(m: Rows) -> [f32; 4] {
    let trace = m[0][0] + m[1][1] + m[2][2];
    let parts = if trace > 0.0 {
        let w = 1.0 + trace;
        [m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1], w]
    } else if m[0][0] >= m[1][1] && m[0][0] >= m[2][2] {
        let x = 1.0 + m[0][0] - m[1][1] - m[2][2];
        [x, m[0][1] + m[1][0], m[0][2] + m[2][0], m[2][1] - m[1][2]]
    } else if m[1][1] >= m[2][2] {
        let y = 1.0 - m[0][0] + m[1][1] - m[2][2];
        [m[0][1] + m[1][0], y, m[1][2] + m[2][1], m[0][2] - m[2][0]]
    } else {
        let z = 1.0 - m[0][0] - m[1][1] + m[2][2];
        [m[0][2] + m[2][0], m[1][2] + m[2][1], z, m[1][0] - m[0][1]]
    };
    let length = parts.iter().map(|part| part * part).sum::<f32>().sqrt();
    // Avoids negative zeros.
    parts.map(|part| part / length + 0.0)
}

/// Rotates a vector by a unit quaternion.
pub fn rotate(q: [f32; 4], vector: Vector) -> Vector {
    let axis = [q[0], q[1], q[2]];
    let twice = cross(axis, vector).map(|part| 2.0 * part);
    let across = cross(axis, twice);
    std::array::from_fn(|i| vector[i] + q[3] * twice[i] + across[i])
}

/// Returns the matrix of a unit quaternion.
pub(super) fn rows(q: [f32; 4]) -> Rows {
    transposed(IDENTITY.map(|axis| rotate(q, axis)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn near(a: &[f32], b: &[f32]) -> bool {
        a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-4)
    }

    proptest! {
        #[test]
        fn a_quaternion_and_its_matrix_rotate_alike(
            q in proptest::array::uniform4(-1.0_f32..1.0),
            v in proptest::array::uniform3(-10.0_f32..10.0),
        ) {
            let length = q.iter().map(|part| part * part).sum::<f32>().sqrt();
            prop_assume!(length > 0.1);
            let q = q.map(|part| part / length);
            let matrix = rows(q);
            prop_assert!(near(&turn(matrix, v), &rotate(q, v)));
            let again = quaternion(matrix);
            let sign = if again[3] * q[3] + dot([again[0], again[1], again[2]], [q[0], q[1], q[2]]) < 0.0 { -1.0 } else { 1.0 };
            prop_assert!(near(&again.map(|part| part * sign), &q));
        }

        #[test]
        fn any_matrix_yields_a_valid_transform(bits in proptest::array::uniform16(any::<u32>())) {
            let transform = Transform::from_row_vector_matrix(&bits.map(f32::from_bits));
            let length = transform.rotation.iter().map(|part| part * part).sum::<f32>().sqrt();
            prop_assert!((length - 1.0).abs() < 1e-3, "{:?}", transform);
            prop_assert!(transform.scale.iter().all(|part| part.is_finite() && *part != 0.0));
            prop_assert!(transform.translation.iter().all(|part| part.is_finite()));
        }
    }

    #[test]
    fn an_invalid_vector_has_no_direction() {
        for part in [f32::NAN, f32::INFINITY, 0.0] {
            assert_eq!(unit([part, 0.0, part]), None);
            assert_eq!(unit([part, 1.0, 0.0]).is_some(), part == 0.0);
        }
    }

    #[test]
    fn a_chain_of_huge_transformations_stays_finite() {
        let mut matrix = [0.0; 16];
        for axis in [0, 5, 10] {
            matrix[axis] = f32::MAX;
        }
        matrix[12] = f32::MIN;
        let huge = Transform::from_row_vector_matrix(&matrix);
        let far = (0..4).fold([1.0, -1.0, 0.0], |point, _| huge.apply(point));
        assert!(far.iter().all(|part| part.is_finite()), "{far:?}");
    }

    #[test]
    fn a_matrix_is_decomposed() {
        // Scaled by 2 along x, rotated by a quarter turn about z, translated.
        let matrix = [
            0.0, 2.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 5.0, 6.0, 7.0, 1.0,
        ];
        let transform = Transform::from_row_vector_matrix(&matrix);
        assert!(near(&transform.scale, &[2.0, 1.0, 1.0]));
        assert!(near(&transform.apply([1.0, 0.0, 0.0]), &[5.0, 8.0, 7.0]));
        assert!(near(
            &transform.apply_normal([0.0, 3.0, 0.0]),
            &[-1.0, 0.0, 0.0]
        ));
    }
}
