//! The collision triangles of a level: triangles of its atomics' strips that the level
//! info lists (FORMATS, HIP assets 7).

use std::io::{self, Write};

use crate::archive::Archive;
use crate::model::{self, JspInfo, is_level_info};
use crate::record::Value;
use hpimount_assets::model::math::finite;
use hpimount_assets::model::scene::{Material, Mesh, Node, Part};
use hpimount_assets::model::{MAX_CORNERS, Scene, Transform, gltf};
use hpimount_assets::view::AssetContext;
use hpimount_renderware::clump::{Clump, Placement, Vertices};

/// Flags of a triangle.
const TURNED: u32 = 2;
const SOLID: u32 = 4;

/// Names of the materials of non-solid and of solid triangles.
const MATERIALS: [&str; 2] = ["not solid", "solid"];

/// The strips of an atomic.
#[derive(Debug, Default)]
struct Strips {
    /// Number of their corners.
    count: usize,
    /// The corners, if they were computed.
    points: Vec<[f32; 3]>,
}

/// Writes the triangles as a GLB file.
pub(crate) fn write(
    info: &JspInfo,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let triangles = info.collision.iter().map(|tree| tree.triangles.len());
    let corners = 3 * triangles.sum::<usize>();
    let _memory = context.reserve_scene(corners.min(MAX_CORNERS))?;
    let scene = scene(info, &strips(context)?);
    gltf::write(&scene, &|_| None, &|bytes| context.reserve(bytes), out)
}

/// Returns the strips of all atomics of a level, in archive order.
fn strips(context: &dyn AssetContext) -> io::Result<Vec<Strips>> {
    let archive = Archive::new(context);
    let mut strips = Vec::new();
    for file in context.find_type(*b"JSP ") {
        let Some(member) = archive.member(file) else {
            continue;
        };
        let bytes = archive.read(&member)?;
        let Some(bytes) = bytes.filter(|bytes| !is_level_info(bytes)) else {
            continue;
        };
        if let Ok(model) = model::parse(&bytes) {
            model
                .clumps
                .iter()
                .for_each(|clump| add_strips(clump, &mut strips));
        }
    }
    Ok(strips)
}

fn add_strips(clump: &Clump, strips: &mut Vec<Strips>) {
    let placements = clump.placements();
    for atomic in &clump.atomics {
        let place = atomic.frame.and_then(|frame| placements.get(frame));
        let place = place.copied().unwrap_or(Placement::IDENTITY);
        let mut own = Strips::default();
        if let Some(geometry) = clump.geometry_of(atomic) {
            let meshes = geometry.meshes.iter();
            own.count = meshes.clone().map(|mesh| mesh.count as usize).sum();
            if let (Vertices::Plain(_), Some(shape)) = (&geometry.vertices, geometry.morphs.first())
            {
                let points: Vec<_> = shape.positions().collect();
                let indices = meshes.flat_map(|mesh| mesh.indices());
                let corners = indices.map(|index| points.get(index as usize).copied());
                let corners = corners.map(|point| place.placed(point.unwrap_or_default()));
                own.points = corners.collect();
            }
        }
        strips.push(own);
    }
}

/// Returns the triangles as a scene.
fn scene(info: &JspInfo, strips: &[Strips]) -> Scene<'static> {
    let mut scene = Scene {
        notes: vec![
            "x is right, y up, z back, as in the game; lengths are in the game's units.".to_owned(),
        ],
        ..Scene::default()
    };
    scene.materials = MATERIALS
        .map(|name| Material {
            name: name.to_owned(),
            ..Material::plain()
        })
        .into();
    let corners = Corners::new(info, strips);
    let mut mesh = Mesh {
        name: "collision".to_owned(),
        ..Mesh::default()
    };
    let mut parts = [0, 1].map(|material| Part {
        material,
        ..Part::default()
    });
    let mut missing = 0;
    let triangles = info.collision.iter().flat_map(|tree| tree.triangles.iter());
    for triangle in triangles {
        let field = |name| triangle.number(name).unwrap_or_default();
        let flags = field("flags");
        let points = corners.triangle(field("atomic") as usize, field("vertex") as usize);
        let Some([a, b, c]) = points.filter(|_| mesh.points.len() + 3 <= MAX_CORNERS) else {
            missing += 1;
            continue;
        };
        let points = match flags & TURNED {
            0 => [a, b, c],
            _ => [b, a, c],
        };
        parts[usize::from(flags & SOLID != 0)]
            .triangles
            .push(mesh.add_flat(points.map(|point| point.map(finite))));
    }
    if missing > 0 {
        scene.notes.push(format!(
            "{missing} triangles are omitted: their corners are unknown, or there are too many."
        ));
    }
    mesh.parts = parts.into();
    scene.nodes.push(Node {
        name: mesh.name.clone(),
        parent: None,
        transform: Transform::IDENTITY,
        mesh: Some(0),
    });
    scene.meshes.push(mesh);
    scene
}

/// The corners of the strips of all atomics.
struct Corners<'a> {
    info: &'a JspInfo,
    strips: &'a [Strips],
    /// The number of the first vector of each atomic.
    starts: Vec<usize>,
}

impl<'a> Corners<'a> {
    fn new(info: &'a JspInfo, strips: &'a [Strips]) -> Self {
        // The vectors of the last atomic come first.
        let mut starts = Vec::with_capacity(strips.len());
        let mut next = 0_usize;
        for strip in strips.iter().rev() {
            starts.push(next);
            next = next.saturating_add(strip.count);
        }
        starts.reverse();
        Self {
            info,
            strips,
            starts,
        }
    }

    /// Returns three successive corners of the strips of an atomic.
    fn triangle(&self, atomic: usize, first: usize) -> Option<[[f32; 3]; 3]> {
        let strips = self.strips.get(atomic)?;
        if self.info.vectors.is_empty() {
            return strips.points.get(first..first + 3)?.try_into().ok();
        }
        if first + 3 > strips.count {
            return None;
        }
        let vector = |number: usize| match self.info.vectors.get(number)?.get("vector")? {
            Value::Vec3(vector) => Some(vector),
            _ => None,
        };
        let start = self.starts.get(atomic)?.checked_add(first)?;
        Some([vector(start)?, vector(start + 1)?, vector(start + 2)?])
    }
}
