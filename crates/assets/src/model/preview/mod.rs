//! Software rendering of a small preview of a scene. The output is
//! deterministic.
//!
//! The scene is seen from its front left and above, in parallel projection. There is
//! a depth buffer, and two lights that are fixed relative to the viewer. Every pixel is
//! the mean of four samples.

mod canvas;

use std::io::{self, Write};

use self::canvas::{BAND, Canvas};
use super::gltf::Pictures;
use super::math::{cross, unit};
use super::pose::Pose;
use super::scene::{Alpha, Corner, Material, Mesh, Node, Wrap};
use super::{Picture, Pixels, PixelsLeft, Reserve, Scene, png};

/// Width and height of a preview in pixels.
pub const EDGE: u32 = 256;

/// Width and height of the rendering.
const DRAWN: usize = 2 * EDGE as usize;

/// Maximum width and height of a picture for a map, in pixels.
pub const MAX_EDGE: u32 = 1024;

/// Fraction of the picture's width or height that the scene fills.
const FILLED: f32 = 0.94;

/// Direction of the viewer.
const VIEWER: [f32; 3] = [0.62, 0.52, 0.86];

/// Maximum number of pixel tests for all triangles, which limits the time for many
/// large overlapping triangles. Further triangles are not drawn.
pub const MAX_WORK: usize = 96 << 20;

/// Maximum number of triangles of a picture, and of transformed points and triangles:
/// nodes may share meshes. Further triangles are not drawn.
const MAX_FACES: usize = 1 << 18;
const MAX_TRIED: usize = 1 << 21;

/// Maximum number of pixels of all decoded textures.
const MAX_PIXELS: u64 = 1 << 24;

/// Writes a preview as a PNG file. `reserve` accounts for the memory of drawing.
///
/// # Errors
/// Returns errors of `reserve` and `out`.
pub fn write(
    scene: &Scene<'_>,
    pictures: Pictures<'_>,
    reserve: Reserve<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let _memory = reserve(memory(scene))?;
    png::write(&draw(scene, pictures), out)
}

/// Returns the memory that drawing a scene takes, in bytes.
pub fn memory(scene: &Scene<'_>) -> usize {
    let meshes = scene.drawn().map(|(_, _, mesh)| mesh);
    let triangles = meshes.map(Mesh::triangles);
    let faces = triangles.fold(0, |sum: usize, count| MAX_FACES.min(sum + count));
    faces * (size_of::<Face>() + size_of::<&Face>())
}

/// Renders a scene in its rest pose into a picture with a transparent
/// background.
pub fn draw(scene: &Scene<'_>, pictures: Pictures<'_>) -> Picture {
    let mut faces = faces(scene, &View::of_preview());
    fit(&mut faces);
    let mut work = MAX_WORK;
    render(scene, &faces, [DRAWN; 2], pictures, &mut work)
}

/// A scene on a map.
#[derive(Debug)]
pub struct OnMap {
    /// Picture.
    pub picture: Picture,
    /// Column and row of the scene's origin in it.
    pub origin: [i32; 2],
}

/// Renders a scene from above as Total Annihilation does, with one pixel for a unit: x
/// is right, z is down, and every two units of height are one pixel up. Returns `None`
/// if nothing is drawn, or a side would exceed [`MAX_EDGE`]. `work` is the remaining
/// number of pixel tests.
pub fn draw_on_map(scene: &Scene<'_>, pictures: Pictures<'_>, work: &mut usize) -> Option<OnMap> {
    let mut faces = faces(scene, &View::of_map());
    let first = faces.first()?.points[0];
    let (mut least, mut most) = (first, first);
    for point in faces.iter().flat_map(|face| face.points) {
        for axis in 0..2 {
            least[axis] = least[axis].min(point[axis]);
            most[axis] = most[axis].max(point[axis]);
        }
    }
    let start = [least[0].floor(), least[1].floor()];
    let size = [0, 1].map(|axis| (most[axis].ceil() - start[axis]).max(1.0));
    let is_small = |edge: &f32| *edge <= MAX_EDGE as f32;
    if !size.iter().all(is_small) || !start.iter().all(|start| start.abs() <= 1e6) {
        return None;
    }
    for point in faces.iter_mut().flat_map(|face| &mut face.points) {
        for (axis, start) in start.iter().enumerate() {
            point[axis] = (point[axis] - start) * 2.0;
        }
    }
    let drawn = size.map(|edge| 2 * edge as usize);
    Some(OnMap {
        picture: render(scene, &faces, drawn, pictures, work),
        origin: start.map(|start| -start as i32),
    })
}

/// Renders triangles on a canvas of this width and height into a picture of half the
/// size.
fn render(
    scene: &Scene<'_>,
    faces: &[Face],
    [width, height]: [usize; 2],
    pictures: Pictures<'_>,
    work: &mut usize,
) -> Picture {
    let mut textures = Textures::new(scene, pictures);
    let blends = |face: &&Face| {
        let material = scene.materials.get(face.material);
        material.is_some_and(|material| material.alpha == Alpha::Blend)
    };
    let (mut blended, mut order): (Vec<_>, Vec<_>) = faces.iter().partition(blends);
    // Farthest first.
    blended.sort_by(|a, b| a.depth().total_cmp(&b.depth()));
    order.extend(blended);
    let mut canvas = Canvas::new([width, height], *work);
    let mut pixels = Vec::with_capacity(width / 2 * (height / 2));
    for top in (0..height).step_by(BAND) {
        canvas.begin(top);
        for face in &order {
            let material = scene.materials.get(face.material);
            canvas.triangle(face, material, textures.of(face.material));
        }
        canvas.finish(&mut pixels);
    }
    *work = canvas.work_left;
    Picture {
        width: (width / 2) as u32,
        height: (height / 2) as u32,
        pixels: Pixels::Rgba(pixels),
    }
}

/// A camera.
struct View {
    /// The viewer's axes: right, up, towards the viewer.
    axes: [[f32; 3]; 3],
    /// The axes of the projection: right, down, towards the viewer.
    projection: [[f32; 3]; 3],
}

impl View {
    fn of_preview() -> Self {
        let axes = axes(VIEWER);
        let [right, up, towards] = axes;
        Self {
            axes,
            projection: [right, up.map(|part| -part), towards],
        }
    }

    /// The view of maps, where points that differ by the viewer's direction share a
    /// pixel.
    fn of_map() -> Self {
        let axes = axes([0.0, 2.0, 1.0]);
        let [right, _, towards] = axes;
        Self {
            axes,
            projection: [right, [0.0, -0.5, 1.0], towards],
        }
    }

    fn normal(&self, vector: [f32; 3]) -> [f32; 3] {
        self.axes.map(|axis| dot(axis, vector))
    }

    fn point(&self, point: [f32; 3]) -> [f32; 3] {
        self.projection.map(|axis| dot(axis, point))
    }
}

/// Returns the axes of a viewer in this direction: right, up, towards the
/// viewer.
fn axes(viewer: [f32; 3]) -> [[f32; 3]; 3] {
    let towards = unit(viewer).unwrap_or([0.0, 0.0, 1.0]);
    let right = unit(cross([0.0, 1.0, 0.0], towards)).unwrap_or([1.0, 0.0, 0.0]);
    [right, cross(towards, right), towards]
}

#[inline]
fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// A projected triangle.
struct Face {
    material: usize,
    /// Right, down, towards the viewer.
    points: [[f32; 3]; 3],
    normals: [[f32; 3]; 3],
    uvs: [[f32; 2]; 3],
    colors: [[u8; 4]; 3],
}

impl Face {
    fn depth(&self) -> f32 {
        self.points.iter().map(|point| point[2]).sum()
    }
}

/// Returns the visible triangles of a scene, or all triangles if none is visible, from
/// the viewer's perspective in the scene's units.
fn faces(scene: &Scene<'_>, view: &View) -> Vec<Face> {
    let pose = Pose::new(scene);
    let visible = faces_of(&pose, view, scene.shown());
    match visible.is_empty() {
        true => faces_of(&pose, view, scene.drawn()),
        false => visible,
    }
}

fn faces_of<'s>(
    pose: &Pose<'_>,
    view: &View,
    nodes: impl Iterator<Item = (usize, &'s Node, &'s Mesh)>,
) -> Vec<Face> {
    let mut faces = Vec::new();
    let mut left = MAX_TRIED;
    for (node, _, mesh) in nodes {
        if mesh.parts.is_empty() {
            continue;
        }
        match left.checked_sub(mesh.points.len() + mesh.triangles()) {
            Some(still) => left = still,
            None => break,
        }
        let points = 0..mesh.points.len();
        let points = points.map(|index| view.point(pose.point(node, mesh, index)));
        let points: Vec<[f32; 3]> = points.collect();
        let normal = |corner: &Corner| view.normal(pose.normal(node, mesh, corner));
        for part in &mesh.parts {
            let seen = part
                .triangles
                .iter()
                .filter_map(|&triangle| face(mesh, &points, &normal, part.material, triangle));
            faces.extend(seen.take(MAX_FACES - faces.len()));
        }
    }
    faces
}

fn face(
    mesh: &Mesh,
    points: &[[f32; 3]],
    normal: &dyn Fn(&Corner) -> [f32; 3],
    material: usize,
    triangle: [u32; 3],
) -> Option<Face> {
    let [a, b, c] = triangle.map(|index| mesh.corners.get(index as usize));
    let corners = [a?, b?, c?];
    let [a, b, c] = corners.map(|corner| points.get(corner.point as usize).copied());
    // Flat faces have one normal.
    let flat = corners[0].normal;
    let first = normal(corners[0]);
    let normals = corners.map(|corner| match corner.normal == flat {
        true => first,
        false => normal(corner),
    });
    Some(Face {
        material,
        points: [a?, b?, c?],
        normals,
        uvs: corners.map(|corner| corner.uv),
        colors: corners.map(|corner| corner.color),
    })
}

/// Scales and centers the triangles on the canvas.
fn fit(faces: &mut [Face]) {
    let all = || faces.iter().flat_map(|face| face.points);
    let Some(first) = all().next() else { return };
    let range = |axis: usize| {
        all().fold((first[axis], first[axis]), |(least, most), point| {
            (least.min(point[axis]), most.max(point[axis]))
        })
    };
    let [(left, right), (top, bottom)] = [range(0), range(1)];
    let size = (right - left).max(bottom - top).max(1e-6);
    let scale = FILLED * DRAWN as f32 / size;
    let middle = [(left + right) / 2.0, (top + bottom) / 2.0];
    for point in faces.iter_mut().flat_map(|face| &mut face.points) {
        for (axis, middle) in middle.iter().enumerate() {
            point[axis] = (point[axis] - middle) * scale + DRAWN as f32 / 2.0;
        }
        point[2] *= scale;
    }
}

/// The pixels of the textures, decoded on first use.
struct Textures<'a> {
    pictures: Pictures<'a>,
    materials: &'a [Material],
    /// For each material, the first one with the same texture.
    first: Vec<usize>,
    /// The decoded textures, by the first material with each.
    known: Vec<Option<Option<Pixmap>>>,
    pixels_left: PixelsLeft,
}

/// A decoded texture.
struct Pixmap {
    width: usize,
    height: usize,
    pixels: Vec<[u8; 4]>,
    wrap: [Wrap; 2],
}

impl<'a> Textures<'a> {
    fn new(scene: &'a Scene<'_>, pictures: Pictures<'a>) -> Self {
        let materials = scene.materials.as_slice();
        let first = |material: &Material| {
            let mut others = materials.iter();
            let first = others.position(|other| other.texture == material.texture);
            first.unwrap_or_default()
        };
        Self {
            pictures,
            materials,
            first: materials.iter().map(first).collect(),
            known: materials.iter().map(|_| None).collect(),
            pixels_left: PixelsLeft(MAX_PIXELS),
        }
    }

    /// Returns the texture of a material, by its number.
    fn of(&mut self, material: usize) -> Option<&Pixmap> {
        let texture = self.materials.get(material)?.texture.as_ref()?;
        let first = *self.first.get(material)?;
        if self.known.get(first)?.is_none() {
            let picture = (self.pictures)(texture.picture);
            let picture = picture.and_then(|picture| self.pixels_left.take(picture));
            self.known[first] = Some(picture.map(|picture| Pixmap {
                width: picture.width as usize,
                height: picture.height as usize,
                pixels: picture.rgba(),
                wrap: texture.wrap,
            }));
        }
        self.known[first].as_ref()?.as_ref()
    }
}

impl Pixmap {
    fn at(&self, [u, v]: [f32; 2]) -> [u8; 4] {
        let x = wrapped(u, self.width, self.wrap[0]);
        let y = wrapped(v, self.height, self.wrap[1]);
        let pixel = self.pixels.get(y * self.width + x);
        pixel.copied().unwrap_or_default()
    }
}

/// Returns the pixel at a coordinate in 0 to 1 along an edge of `size` pixels.
fn wrapped(coordinate: f32, size: usize, wrap: Wrap) -> usize {
    let coordinate = match wrap {
        // Most coordinates are in the picture. Without SSE4.1, `floor` is a function call.
        _ if (0.0..1.0).contains(&coordinate) => coordinate,
        Wrap::Repeat => coordinate - coordinate.floor(),
        Wrap::Mirror => {
            let within = coordinate - 2.0 * (coordinate / 2.0).floor();
            if within > 1.0 { 2.0 - within } else { within }
        }
        Wrap::Clamp => coordinate,
    };
    // NaN and negative numbers become 0.
    ((coordinate * size as f32) as usize).min(size.saturating_sub(1))
}

#[cfg(test)]
mod tests;
