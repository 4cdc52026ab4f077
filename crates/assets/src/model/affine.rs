//! Affine maps with 64-bit numbers, so that a round trip through the scene preserves
//! 32-bit positions.

use super::Transform;
use super::math::unit;

type Vector = [f64; 3];

/// A map of points: the images of the axes, and of the origin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Affine {
    axes: [Vector; 3],
    origin: Vector,
}

/// Tolerance for rounding, relative to the largest number.
pub const NEAR: f32 = 1e-5;

impl Affine {
    /// The map of each point to itself.
    pub const IDENTITY: Self = Self {
        axes: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        origin: [0.0; 3],
    };

    /// Creates a map from the images of the axes and of the origin.
    pub fn new(axes: [[f32; 3]; 3], origin: [f32; 3]) -> Self {
        Self {
            axes: axes.map(|axis| axis.map(f64::from)),
            origin: origin.map(f64::from),
        }
    }

    /// Returns this map after `first`.
    pub fn after(&self, first: &Self) -> Self {
        Self {
            axes: first.axes.map(|axis| self.turn(axis)),
            origin: self.map(first.origin),
        }
    }

    /// Returns the inverse map, or `None` if the map is singular.
    pub fn inverse(&self) -> Option<Self> {
        let [a, b, c] = self.axes;
        let rows = [cross(b, c), cross(c, a), cross(a, b)];
        let volume = dot(a, rows[0]);
        if !volume.is_finite() || volume.abs() < 1e-30 {
            return None;
        }
        let rows = rows.map(|row| row.map(|part| part / volume));
        let axes = std::array::from_fn(|column| rows.map(|row| row[column]));
        let back = Self {
            axes,
            origin: [0.0; 3],
        };
        let origin = back.turn(self.origin).map(|part| 0.0 - part);
        Some(Self { origin, ..back })
    }

    /// Returns the image of a point.
    pub fn apply(&self, point: [f32; 3]) -> [f32; 3] {
        self.map(point.map(f64::from)).map(|part| part as f32)
    }

    /// Returns the image of a normal, scaled to length 1.
    pub fn apply_normal(&self, normal: [f32; 3]) -> [f32; 3] {
        let [a, b, c] = self.axes;
        let rows = [cross(b, c), cross(c, a), cross(a, b)];
        let side = dot(a, rows[0]).signum();
        let parts = normal.map(f64::from);
        let turned: Vector = std::array::from_fn(|axis| {
            side * (0..3).map(|n| parts[n] * rows[n][axis]).sum::<f64>()
        });
        unit(turned.map(|part| part as f32)).unwrap_or(normal)
    }

    /// Returns the image of the origin.
    pub fn origin(&self) -> [f32; 3] {
        self.origin.map(|part| part as f32)
    }

    /// Returns a copy of the map with another image of the origin.
    pub fn at(&self, origin: [f32; 3]) -> Self {
        Self {
            origin: origin.map(f64::from),
            ..*self
        }
    }

    /// Returns the transformation of a node. Shear is lost.
    pub fn transform(&self) -> Transform {
        let [right, up, at] = self.axes.map(|axis| axis.map(|part| part as f32));
        Transform::from_axes([right, up, at, self.origin()])
    }

    /// Returns true if two maps agree, except for rounding, on points at most `size`
    /// from the origin.
    pub fn is_near(&self, other: &Self, size: f32) -> bool {
        let near = |a: &[f64], b: &[f64], most: f64| {
            a.iter()
                .zip(b)
                .all(|(a, b)| (a - b).abs() <= f64::from(NEAR) * most)
        };
        let (own, others) = (self.axes.as_flattened(), other.axes.as_flattened());
        near(own, others, 1.0) && near(&self.origin, &other.origin, size.into())
    }

    /// Returns the scale factor, averaged over all directions.
    pub fn scale(&self) -> f64 {
        let [a, b, c] = self.axes;
        libm::cbrt(dot(a, cross(b, c)).abs())
    }

    /// Returns the lengths of the images of the axes.
    pub fn lengths(&self) -> [f64; 3] {
        self.axes.map(|axis| dot(axis, axis).sqrt())
    }

    /// Returns whether it changes lengths or angles.
    pub fn is_deforming(&self) -> bool {
        let [a, b, c] = self.axes;
        let lengths = self.lengths().map(|length| length - 1.0);
        let angles = [dot(a, b), dot(b, c), dot(c, a)];
        lengths.iter().chain(&angles).any(|off| off.abs() > 1e-3)
    }

    /// Returns whether it is more than a rotation and a scale along its axes.
    pub fn is_sheared(&self) -> bool {
        let [a, b, c] = self.axes;
        let [long, wide, high] = self.lengths();
        let sizes = [long * wide, wide * high, high * long];
        let angles = [dot(a, b), dot(b, c), dot(c, a)];
        let mut angles = angles.iter().zip(sizes);
        angles.any(|(angle, size)| angle.abs() > 1e-3 * size)
    }

    /// Returns whether it mirrors.
    pub fn is_mirror(&self) -> bool {
        let [a, b, c] = self.axes;
        dot(a, cross(b, c)) < 0.0
    }

    fn turn(&self, vector: Vector) -> Vector {
        std::array::from_fn(|axis| (0..3).map(|n| vector[n] * self.axes[n][axis]).sum())
    }

    fn map(&self, point: Vector) -> Vector {
        let turned = self.turn(point);
        std::array::from_fn(|axis| turned[axis] + self.origin[axis])
    }
}

impl From<&Transform> for Affine {
    fn from(transform: &Transform) -> Self {
        let [x, y, z, w] = unit_quaternion(transform.rotation);
        let axes = [
            [
                1.0 - 2.0 * (y * y + z * z),
                2.0 * (x * y + z * w),
                2.0 * (x * z - y * w),
            ],
            [
                2.0 * (x * y - z * w),
                1.0 - 2.0 * (x * x + z * z),
                2.0 * (y * z + x * w),
            ],
            [
                2.0 * (x * z + y * w),
                2.0 * (y * z - x * w),
                1.0 - 2.0 * (x * x + y * y),
            ],
        ];
        let scale = transform.scale.map(f64::from);
        Self {
            axes: std::array::from_fn(|axis| axes[axis].map(|part| part * scale[axis])),
            origin: transform.translation.map(f64::from),
        }
    }
}

fn unit_quaternion(rotation: [f32; 4]) -> [f64; 4] {
    let parts = rotation.map(f64::from);
    let length = parts.iter().map(|part| part * part).sum::<f64>().sqrt();
    match length > 1e-12 {
        true => parts.map(|part| part / length),
        false => [0.0, 0.0, 0.0, 1.0],
    }
}

fn cross(a: Vector, b: Vector) -> Vector {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

fn dot(a: Vector, b: Vector) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_map_is_that_of_its_transformation_and_its_inverse_leads_back(
            rotation in prop::array::uniform4(-1.0_f32..1.0),
            scale in prop::array::uniform3(0.1_f32..9.0),
            translation in prop::array::uniform3(-100.0_f32..100.0),
            point in prop::array::uniform3(-100.0_f32..100.0),
        ) {
            let length = rotation.iter().map(|part| part * part).sum::<f32>().sqrt();
            prop_assume!(length > 0.1);
            let rotation = rotation.map(|part| part / length);
            let transform = Transform { translation, rotation, scale };
            let map = Affine::from(&transform);
            let near = |a: [f32; 3], b: [f32; 3], most: f32| {
                a.iter().zip(b).all(|(a, b)| (a - b).abs() < most)
            };
            prop_assert!(near(map.apply(point), transform.apply(point), 0.01));
            let inverse = map.inverse().unwrap();
            prop_assert!(near(inverse.apply(map.apply(point)), point, 0.01));
            prop_assert!(inverse.after(&map).is_near(&Affine::IDENTITY, 100.0));
            let normal = unit(point).unwrap_or([1.0, 0.0, 0.0]);
            prop_assert!(near(map.apply_normal(normal), transform.apply_normal(normal), 1e-3));
            prop_assert!(Affine::from(&map.transform()).is_near(&map, 100.0) || scale.iter().any(|part| *part > 3.0));
        }
    }

    #[test]
    fn a_flat_map_has_no_inverse_and_a_mirror_is_known() {
        let mut map = Affine::IDENTITY;
        map.axes[1] = [0.0; 3];
        assert_eq!(map.inverse(), None);
        map.axes[1] = [0.0, -1.0, 0.0];
        assert!(map.is_mirror() && !Affine::IDENTITY.is_mirror());
    }
}
