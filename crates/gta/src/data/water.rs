//! water.dat: the surfaces of water (FORMATS, GTA 7.3).

use get_size2::GetSize;

use super::MAX_ROWS;
use crate::axes;
use crate::document::{bounded_lines, fields, text};
use hpimount_assets::model::math::finite;
use hpimount_assets::model::scene::{Alpha, Corner, Material, Mesh, Node, Part};
use hpimount_assets::model::{Scene, Transform};
use hpimount_containers::io::{Result, Warnings};

/// Flag of a surface: it is visible.
const VISIBLE: i64 = 1;

/// The surfaces of a file.
#[derive(Debug, Default, GetSize)]
pub struct Water {
    /// The surfaces of San Andreas.
    pub surfaces: Vec<Surface>,
    /// The rectangles of GTA III and Vice City.
    pub rectangles: Vec<Rectangle>,
    /// Warnings.
    pub warnings: Warnings,
}

/// A surface with three or four corners.
#[derive(Debug, Clone, PartialEq, GetSize)]
pub struct Surface {
    /// Number of its line, from 1.
    pub line: u32,
    /// For each corner its position, its flow along x and y, and the sizes of its big
    /// and small waves.
    pub corners: Vec<[f32; 7]>,
    /// Flags: 1 visible, 2 shallow.
    pub flags: i64,
}

impl Surface {
    /// Returns whether the surface is visible.
    pub fn is_visible(&self) -> bool {
        self.flags & VISIBLE != 0
    }
}

/// A level rectangle.
#[derive(Debug, Clone, Copy, PartialEq, GetSize)]
pub struct Rectangle {
    /// Number of its line, from 1.
    pub line: u32,
    /// Height.
    pub level: f32,
    /// Edges: left, bottom, right, top.
    pub edges: [f32; 4],
}

/// Reads a file.
///
/// # Errors
/// Returns [`Error::Damaged`](hpimount_containers::io::Error::Damaged) for a
/// file that is not a text or has more than 65,536 rows.
pub fn parse(bytes: &[u8]) -> Result<Water> {
    let text = text(bytes)?;
    let mut water = Water::default();
    for line in bounded_lines(&text, &['#', ';'], MAX_ROWS) {
        let line = line?;
        let number = line.number;
        if line.text.trim_start().starts_with('*') {
            break;
        }
        let values = fields(line.text).map(|field| field.parse::<f32>().ok());
        let Some(values) = values.collect::<Option<Vec<_>>>() else {
            if !line.text.trim().eq_ignore_ascii_case("processed") {
                water.warnings.push(format!("line {number}: no numbers"));
            }
            continue;
        };
        match values[..] {
            [level, left, bottom, right, top] => water.rectangles.push(Rectangle {
                line: number,
                level,
                edges: [left, bottom, right, top],
            }),
            _ if matches!(values.len(), 21 | 22 | 28 | 29) => {
                let (corners, flags) = values.as_chunks();
                water.surfaces.push(Surface {
                    line: number,
                    corners: corners.to_vec(),
                    flags: flags.first().map_or(0, |flags| *flags as i64),
                });
            }
            _ => water
                .warnings
                .push(format!("line {number}: {} numbers", values.len())),
        }
    }
    Ok(water)
}

/// Returns the surfaces as a scene. Surfaces that are invisible in the game are hidden.
pub fn scene(water: &Water) -> Scene<'static> {
    let layer = |is_visible| {
        let surfaces = water.surfaces.iter();
        let surfaces = surfaces.filter(move |surface| surface.is_visible() == is_visible);
        surfaces.map(|surface| {
            let corners = surface.corners.iter();
            corners.map(|&[x, y, z, ..]| [x, y, z]).collect::<Vec<_>>()
        })
    };
    let rectangles = water.rectangles.iter();
    let rectangles = rectangles.map(|one| corners(one.level, one.edges).to_vec());
    scene_of([
        Layer {
            name: "visible",
            is_visible: true,
            surfaces: layer(true).chain(rectangles).collect(),
        },
        Layer {
            name: "invisible",
            is_visible: false,
            surfaces: layer(false).collect(),
        },
    ])
}

/// Surfaces that are shown or hidden together.
pub(super) struct Layer {
    pub(super) name: &'static str,
    pub(super) is_visible: bool,
    /// The corners of each.
    pub(super) surfaces: Vec<Vec<[f32; 3]>>,
}

/// Returns a scene of layers.
pub(super) fn scene_of(layers: [Layer; 2]) -> Scene<'static> {
    let mut scene = Scene {
        notes: vec![axes::NOTE.to_owned()],
        materials: vec![Material {
            name: "water".to_owned(),
            color: [0.1, 0.3, 0.5, 0.7],
            texture: None,
            alpha: Alpha::Blend,
            double_sided: true,
            unlit: true,
        }],
        ..Scene::default()
    };
    scene.nodes.push(node("water", None));
    scene.nodes[0].transform = axes::upright();
    for Layer {
        name,
        is_visible,
        surfaces,
    } in layers
    {
        if surfaces.is_empty() {
            continue;
        }
        let mut mesh = Mesh {
            name: name.to_owned(),
            parts: vec![Part::default()],
            ..Mesh::default()
        };
        for corners in surfaces {
            add(&mut mesh, &corners);
        }
        let index = scene.nodes.len();
        if !is_visible {
            scene.hidden.insert(index);
        }
        let mut node = node(name, Some(0));
        node.mesh = Some(scene.meshes.len());
        scene.nodes.push(node);
        scene.meshes.push(mesh);
    }
    scene
}

fn node(name: &str, parent: Option<usize>) -> Node {
    Node {
        name: name.to_owned(),
        parent,
        transform: Transform::IDENTITY,
        mesh: None,
    }
}

/// Adds a surface: a triangle, or a strip of two.
fn add(mesh: &mut Mesh, corners: &[[f32; 3]]) {
    let first = mesh.points.len() as u32;
    for (point, place) in (first..).zip(corners) {
        mesh.points.push(place.map(finite));
        mesh.corners.push(Corner {
            point,
            normal: [0.0, 0.0, 1.0],
            uv: [0.0; 2],
            color: [255; 4],
        });
    }
    let triangles = [[0, 1, 2], [1, 3, 2]];
    let count = corners.len().saturating_sub(2);
    let triangles = triangles.into_iter().take(count);
    mesh.parts[0]
        .triangles
        .extend(triangles.map(|triangle| triangle.map(|corner| first + corner)));
}

/// Returns the corners of a level rectangle, in the order of a strip, from its
/// height and its edges: left, bottom, right, top.
pub(super) fn corners(level: f32, [left, bottom, right, top]: [f32; 4]) -> [[f32; 3]; 4] {
    let corners = [(left, bottom), (right, bottom), (left, top), (right, top)];
    corners.map(|(x, y)| [x, y, level])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surfaces_have_three_or_four_corners_and_rectangles_edges() {
        let corner = "1 2 3 0.5 0 1 0.2 ";
        let text = format!(
            "processed\n{}1\n{}\n6.0, -9, -8, 9, 8\n1 2 ; odd\nx\n*\n1 2 3\n",
            corner.repeat(4),
            corner.repeat(3)
        );
        let water = parse(text.as_bytes()).unwrap();
        let surfaces: Vec<_> = water
            .surfaces
            .iter()
            .map(|one| (one.line, one.corners.len(), one.is_visible()))
            .collect();
        assert_eq!(surfaces, [(2, 4, true), (3, 3, false)]);
        assert_eq!(
            water.surfaces[0].corners[3],
            [1.0, 2.0, 3.0, 0.5, 0.0, 1.0, 0.2]
        );
        assert_eq!(water.rectangles[0].edges, [-9.0, -8.0, 9.0, 8.0]);
        assert_eq!(
            water.warnings.texts(),
            ["line 5: 2 numbers", "line 6: no numbers"]
        );
        let scene = scene(&water);
        let triangles: Vec<_> = scene.meshes.iter().map(Mesh::triangles).collect();
        assert_eq!(triangles, [4, 1]);
        assert_eq!(scene.hidden.into_iter().collect::<Vec<_>>(), [2]);
    }
}
