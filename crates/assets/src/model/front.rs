//! Renders the front of a textured square: a letter shows whether it is
//! mirrored or upside down.

use super::math::cross;
use super::{Picture, Scene};

/// A letter without any symmetry.
pub(crate) const LETTER: [&str; 8] = [
    "########", "#.......", "#.......", "######..", "#.......", "#.......", "#.......", "#.......",
];

/// Returns the indices of a picture of the letter, row by row from the top:
/// `ink`, and 0 elsewhere.
pub(crate) fn letter(ink: u8) -> [u8; 64] {
    let pixels = LETTER.iter().flat_map(|row| row.bytes());
    let mut indices = [0; 64];
    for (index, pixel) in indices.iter_mut().zip(pixels) {
        *index = if pixel == b'#' { ink } else { 0 };
    }
    indices
}

/// Renders a scene that is a single square, seen against its normals, with y up
/// and with back faces culled. Returns the rows of the picture, and the
/// distance of the square from the origin along its normal.
pub(crate) fn front_view(scene: &Scene<'_>, texture: &Picture) -> (Vec<String>, f32) {
    let (node, mesh) = scene
        .nodes
        .iter()
        .enumerate()
        .find_map(|(index, node)| Some((index, &scene.meshes[node.mesh?])))
        .expect("the scene has a mesh");
    let front = scene.normal(node, mesh.corners[0].normal);
    let up = [0.0, 1.0, 0.0];
    let right = cross(up, front);
    let dot = |a: [f32; 3], b: [f32; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    // The position of a corner on the screen and on the texture, and its depth.
    let corner = |index: u32| {
        let corner = mesh.corners[index as usize];
        let corner_at = scene.point(node, mesh.points[corner.point as usize]);
        (
            [dot(corner_at, right), dot(corner_at, up)],
            corner.uv,
            dot(corner_at, front),
        )
    };
    let triangles: Vec<_> = mesh
        .parts
        .iter()
        .flat_map(|part| &part.triangles)
        .map(|triangle| triangle.map(corner))
        .collect();
    let all = || triangles.iter().flatten();
    let edge = |axis: usize, pick: fn(f32, f32) -> f32| {
        all()
            .map(|(corner_at, ..)| corner_at[axis])
            .reduce(pick)
            .unwrap()
    };
    let (left, bottom) = (edge(0, f32::min), edge(1, f32::min));
    let (width, height) = (edge(0, f32::max) - left, edge(1, f32::max) - bottom);
    let pixels = texture.rgba();
    let ink = |x: usize, y: usize| {
        let center = [
            left + width * (x as f32 + 0.5) / 8.0,
            bottom + height * (7.5 - y as f32) / 8.0,
        ];
        let seen = triangles.iter().find_map(|[a, b, c]| {
            let area = |p: [f32; 2], q: [f32; 2], r: [f32; 2]| {
                (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])
            };
            let whole = area(a.0, b.0, c.0);
            let parts = [
                area(center, b.0, c.0),
                area(a.0, center, c.0),
                area(a.0, b.0, center),
            ];
            // Clockwise ones have a negative area and are seen from behind.
            let is_inside = whole > 0.0 && parts.iter().all(|&part| part >= 0.0);
            is_inside.then(|| {
                [0, 1].map(|i| {
                    let uv = [a.1[i], b.1[i], c.1[i]];
                    let sum: f32 = uv.iter().zip(parts).map(|(uv, part)| uv * part).sum();
                    sum / whole
                })
            })
        });
        match seen {
            None => ' ',
            Some([u, v]) => {
                let (x, y) = ((u * 8.0) as usize, (v * 8.0) as usize);
                if pixels[8 * y + x] == pixels[0] {
                    '#'
                } else {
                    '.'
                }
            }
        }
    };
    let rows = (0..8).map(|y| (0..8).map(|x| ink(x, y)).collect());
    (rows.collect(), all().next().unwrap().2)
}
