//! Trigger shapes as lines: pairs of points.

use std::f32::consts::TAU;

use hpimount_assets::model::math::{finite, sin_cos};

/// Number of sides of a circle.
const SIDES: u8 = 24;

/// Returns the edges of a box around the origin by its half extents.
pub(crate) fn of_box(half: [f32; 3]) -> Vec<[f32; 3]> {
    let corner = |bits: usize| {
        std::array::from_fn(|axis| match bits >> axis & 1 {
            0 => finite(-half[axis]),
            _ => finite(half[axis]),
        })
    };
    let starts = (0..8_usize).flat_map(|start| (0..3).map(move |axis| (start, 1 << axis)));
    let edges = starts.filter(|(start, bit)| start & bit == 0);
    edges
        .flat_map(|(start, bit)| [corner(start), corner(start | bit)])
        .collect()
}

/// Returns three circles of a sphere around the origin.
pub(crate) fn of_sphere(radius: f32) -> Vec<[f32; 3]> {
    let planes = [[0, 2], [0, 1], [1, 2]];
    planes
        .into_iter()
        .flat_map(|plane| circle(radius, plane, 0.0))
        .collect()
}

/// Returns the ends and some sides of an upright cylinder. The origin is the center of
/// its lower end.
pub(crate) fn of_cylinder(radius: f32, height: f32) -> Vec<[f32; 3]> {
    let mut lines = of_circle(radius);
    lines.extend(circle(radius, [0, 2], height));
    let (radius, height) = (finite(radius), finite(height));
    for [x, z] in [[radius, 0.0], [-radius, 0.0], [0.0, radius], [0.0, -radius]] {
        lines.extend([[x, 0.0, z], [x, height, z]]);
    }
    lines
}

/// Returns a level circle around the origin.
pub(crate) fn of_circle(radius: f32) -> Vec<[f32; 3]> {
    circle(radius, [0, 2], 0.0).collect()
}

/// Returns a circle in the plane of two axes, at a position on the third axis.
fn circle(radius: f32, [a, b]: [usize; 2], place: f32) -> impl Iterator<Item = [f32; 3]> {
    let point = move |side: u8| {
        let (sine, cosine) = sin_cos(TAU * f32::from(side) / f32::from(SIDES));
        let mut point = [finite(place); 3];
        point[a] = finite(radius * cosine);
        point[b] = finite(radius * sine);
        point
    };
    (0..SIDES).flat_map(move |side| [point(side), point(side + 1)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_has_twelve_edges_of_its_extents() {
        let lines = of_box([1.0, 2.0, 3.0]);
        let lengths = lines.as_chunks::<2>().0.iter().map(|[a, b]| {
            let parts = a.iter().zip(b).map(|(a, b)| (a - b).abs());
            parts.collect::<Vec<_>>()
        });
        let mut lengths: Vec<_> = lengths.collect();
        lengths.sort_by(|a, b| a.partial_cmp(b).unwrap());
        let (x, y, z) = ([2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 6.0]);
        assert_eq!(lengths, [[z; 4], [y; 4], [x; 4]].concat());
    }

    #[test]
    fn round_shapes_keep_their_radius_and_height() {
        let length = |point: &[f32; 3]| point.iter().map(|part| part * part).sum::<f32>().sqrt();
        let on_sphere = |point: &[f32; 3]| (length(point) - 5.0).abs() < 1e-5;
        assert!(of_sphere(5.0).iter().all(on_sphere));
        let cylinder = of_cylinder(5.0, 7.0);
        let on_side = |&[x, _, z]: &[f32; 3]| on_sphere(&[x, 0.0, z]);
        assert!(cylinder.iter().all(on_side));
        assert!(cylinder.iter().all(|[_, y, _]| [0.0, 7.0].contains(y)));
        assert!(of_sphere(f32::NAN).iter().all(|point| *point == [0.0; 3]));
    }
}
