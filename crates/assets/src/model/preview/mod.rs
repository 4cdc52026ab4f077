//! Software rendering of a small preview of a scene. The output is
//! deterministic.
//!
//! The scene is seen from the front, from its left and from above, in parallel
//! projection. There is a depth buffer, and two lights that are fixed relative
//! to the viewer. Every pixel is the mean of four.

use super::math::{cross, unit};
use super::scene::{Alpha, Material, Mesh, Node, Wrap};
use super::{MAX_SCENE_PIXELS, Picture, Pixels, Scene, gltf::Pictures};

/// Width and height of a preview in pixels.
pub const EDGE: u32 = 256;

/// Width and height of the rendering.
const DRAWN: usize = 2 * EDGE as usize;

/// Number of rows that are rendered at a time. All rows would need 5 MiB,
/// mapped and unmapped for each picture, which took longer than rendering a
/// small model.
const BAND: usize = 64;

/// Fraction of the width or height of the picture that the scene fills.
const FILLED: f32 = 0.94;

/// Direction of the viewer.
const VIEWER: [f32; 3] = [0.62, 0.52, 0.86];

/// Maximum number of pixels that are tested for all triangles, which limits the
/// time for many large overlapping ones. Further triangles are not drawn.
const MAX_WORK: usize = 96 << 20;

/// Ambient light; each of the lights is added to it.
const AMBIENT: f32 = 0.38;

/// The lights: their directions relative to the viewer (right, up, towards the
/// viewer), and their brightness.
const LIGHTS: Lights = [([-0.48, 0.72, 0.5], 0.62), ([0.8, 0.1, 0.59], 0.22)];

/// Renders a scene in its rest pose into a picture with a transparent
/// background.
pub fn draw(scene: &Scene<'_>, pictures: Pictures<'_>) -> Picture {
    let view = View::new();
    let mut faces = faces(scene, &view, scene.shown());
    if faces.is_empty() {
        faces = self::faces(scene, &view, scene.drawn());
    }
    fit(&mut faces);
    let mut textures = Textures::new(scene, pictures);
    let blends = |face: &&Face| {
        let material = scene.materials.get(face.material);
        material.is_some_and(|material| material.alpha == Alpha::Blend)
    };
    let (mut blended, mut order): (Vec<_>, Vec<_>) = faces.iter().partition(blends);
    // Farthest first.
    blended.sort_by(|a, b| a.depth().total_cmp(&b.depth()));
    order.extend(blended);
    let mut canvas = Canvas::new();
    let mut pixels = Vec::with_capacity((EDGE * EDGE) as usize);
    for top in (0..DRAWN).step_by(BAND) {
        canvas.begin(top);
        for face in &order {
            let material = scene.materials.get(face.material);
            canvas.triangle(face, material, textures.of(face.material));
        }
        canvas.finish(&mut pixels);
    }
    Picture {
        width: EDGE,
        height: EDGE,
        pixels: Pixels::Rgba(pixels),
    }
}

/// The axes of the viewer.
struct View {
    axes: [[f32; 3]; 3],
}

impl View {
    fn new() -> Self {
        let towards = unit(VIEWER).unwrap_or([0.0, 0.0, 1.0]);
        let right = unit(cross([0.0, 1.0, 0.0], towards)).unwrap_or([1.0, 0.0, 0.0]);
        Self {
            axes: [right, cross(towards, right), towards],
        }
    }

    fn seen(&self, vector: [f32; 3]) -> [f32; 3] {
        let [right, up, towards] = self.axes;
        [dot(right, vector), dot(up, vector), dot(towards, vector)]
    }
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

/// Returns the triangles of some nodes of a scene, seen by the viewer, in the
/// scene's units.
fn faces<'s>(
    scene: &Scene<'_>,
    view: &View,
    nodes: impl Iterator<Item = (usize, &'s Node, &'s Mesh)>,
) -> Vec<Face> {
    let mut faces = Vec::new();
    for (node, _, mesh) in nodes {
        if mesh.parts.is_empty() {
            continue;
        }
        let points = mesh.points.iter().map(|&point| {
            let [right, up, towards] = view.seen(scene.point(node, point));
            [right, -up, towards]
        });
        let points: Vec<[f32; 3]> = points.collect();
        let normal = |normal| view.seen(scene.normal(node, normal));
        for part in &mesh.parts {
            let seen = part
                .triangles
                .iter()
                .filter_map(|&triangle| face(mesh, &points, &normal, part.material, triangle));
            faces.extend(seen);
        }
    }
    faces
}

fn face(
    mesh: &Mesh,
    points: &[[f32; 3]],
    normal: &dyn Fn([f32; 3]) -> [f32; 3],
    material: usize,
    triangle: [u32; 3],
) -> Option<Face> {
    let [a, b, c] = triangle.map(|index| mesh.corners.get(index as usize));
    let corners = [a?, b?, c?];
    let [a, b, c] = corners.map(|corner| points.get(corner.point as usize).copied());
    // Flat faces have one normal.
    let flat = corners[0].normal;
    let first = normal(flat);
    let normals = corners.map(|corner| match corner.normal == flat {
        true => first,
        false => normal(corner.normal),
    });
    Some(Face {
        material,
        points: [a?, b?, c?],
        normals,
        uvs: corners.map(|corner| corner.uv),
        colors: corners.map(|corner| corner.color),
    })
}

/// Moves and scales the triangles into the middle of the canvas.
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

/// The pixels of the textures, each decoded once on first use.
struct Textures<'a> {
    pictures: Pictures<'a>,
    materials: &'a [Material],
    /// For each material, the first one with the same texture.
    first: Vec<usize>,
    /// The textures that were decoded, by the first material with each.
    known: Vec<Option<Option<Pixmap>>>,
    pixels_left: u64,
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
            pixels_left: MAX_SCENE_PIXELS,
        }
    }

    /// Returns the texture of a material, by its number.
    fn of(&mut self, material: usize) -> Option<&Pixmap> {
        let texture = self.materials.get(material)?.texture.as_ref()?;
        let first = *self.first.get(material)?;
        if self.known.get(first)?.is_none() {
            let picture = (self.pictures)(texture.picture);
            let size = |picture: &Picture| u64::from(picture.width) * u64::from(picture.height);
            let picture = picture.filter(|picture| size(picture) <= self.pixels_left);
            self.pixels_left -= picture.as_ref().map_or(0, size);
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

/// The canvas: a band of the picture at a time.
struct Canvas {
    /// First row of the band.
    top: usize,
    /// Red, green, blue and alpha of each pixel, 0 to 1, not premultiplied.
    colors: Vec<[f32; 4]>,
    depths: Vec<f32>,
    /// [`LIGHTS`] with directions of length 1.
    lights: Lights,
    work_left: usize,
}

type Lights = [([f32; 3], f32); 2];

impl Canvas {
    fn new() -> Self {
        Self {
            top: 0,
            colors: vec![[0.0; 4]; DRAWN * BAND],
            depths: vec![f32::NEG_INFINITY; DRAWN * BAND],
            lights: LIGHTS.map(|(from, bright)| (unit(from).unwrap_or_default(), bright)),
            work_left: MAX_WORK,
        }
    }

    /// Begins a band, and clears it.
    fn begin(&mut self, top: usize) {
        self.top = top;
        self.colors.fill([0.0; 4]);
        self.depths.fill(f32::NEG_INFINITY);
    }

    /// Draws the part of a triangle in the band. Pixels are computed relative
    /// to the triangle's first row, so that they do not depend on the bands.
    fn triangle(&mut self, face: &Face, material: Option<&Material>, texture: Option<&Pixmap>) {
        let [a, b, c] = face.points;
        let area = edge(a, b, c);
        // y points down on the screen, so front faces are clockwise.
        let is_behind = area > 0.0;
        let is_culled = is_behind && !material.is_none_or(|material| material.double_sided);
        if area == 0.0 || !area.is_finite() || is_culled {
            return;
        }
        let Some((columns, rows)) = covered(&face.points) else {
            return;
        };
        let in_band = rows.start.max(self.top)..rows.end.min(self.top + BAND);
        let work = columns.len() * in_band.len();
        if work > self.work_left {
            self.work_left = 0;
            return;
        }
        self.work_left -= work;
        let shader = Shader::new(face, material, texture, is_behind, &self.lights);
        let blends = material.is_some_and(|material| material.alpha == Alpha::Blend);
        let (left, top) = (columns.start, rows.start);
        let first = [left as f32 + 0.5, top as f32 + 0.5, 0.0];
        let weights = [[b, c], [c, a], [a, b]].map(|side| Slope::new(side, area, first));
        for y in in_band {
            // No `map`, which is not inlined in such loops.
            let [first, second, third] = &weights;
            let y_of_face = y - top;
            let row = [
                first.at_row(y_of_face),
                second.at_row(y_of_face),
                third.at_row(y_of_face),
            ];
            for x in inside(&row, columns.len()) {
                let parts = [row[0].at(x), row[1].at(x), row[2].at(x)];
                let depth = parts[0] * a[2] + parts[1] * b[2] + parts[2] * c[2];
                let index = (y - self.top) * DRAWN + left + x;
                if depth <= self.depths[index] {
                    continue;
                }
                let Some(color) = shader.color(parts) else {
                    continue;
                };
                if blends {
                    self.colors[index] = over(color, self.colors[index]);
                } else {
                    self.depths[index] = depth;
                    self.colors[index] = color;
                }
            }
        }
    }

    /// Adds the rows of the band to the pixels of the picture, each the mean of
    /// four.
    fn finish(&self, pixels: &mut Vec<[u8; 4]>) {
        let edge = EDGE as usize;
        let pixel = |x: usize, y: usize| {
            let mut sum = [0.0_f32; 4];
            for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                let [red, green, blue, alpha] = self.colors[(2 * y + dy) * DRAWN + 2 * x + dx];
                for (sum, part) in sum
                    .iter_mut()
                    .zip([red * alpha, green * alpha, blue * alpha])
                {
                    *sum += part;
                }
                sum[3] += alpha;
            }
            let [red, green, blue, alpha] = sum;
            if alpha <= 0.0 {
                return [0; 4];
            }
            let byte = |part: f32| (part * 255.0 + 0.5) as u8;
            [
                byte(red / alpha),
                byte(green / alpha),
                byte(blue / alpha),
                byte(alpha / 4.0),
            ]
        };
        pixels.extend((0..edge * BAND / 2).map(|index| pixel(index % edge, index / edge)));
    }
}

/// Returns twice the area of a triangle on the screen, with the sign of its
/// winding.
fn edge(a: [f32; 3], b: [f32; 3], c: [f32; 3]) -> f32 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

/// The barycentric weight of a corner, which grows linearly from the opposite
/// side, where it is 0.
#[derive(Clone, Copy)]
struct Slope {
    /// At the first pixel.
    start: f32,
    /// The change from column to column.
    across: f32,
    /// The change from row to row.
    down: f32,
}

impl Slope {
    /// Creates the weight of the corner opposite to a side of a triangle with
    /// this area. The center of the first pixel is at `first`.
    fn new([from, to]: [[f32; 3]; 2], area: f32, first: [f32; 3]) -> Self {
        Self {
            start: edge(from, to, first) / area,
            across: (from[1] - to[1]) / area,
            down: (to[0] - from[0]) / area,
        }
    }

    /// Returns the weights of a row.
    fn at_row(&self, y: usize) -> RowSlope {
        RowSlope {
            start: self.start + self.down * y as f32,
            across: self.across,
        }
    }
}

/// The weight of a corner in one row.
#[derive(Clone, Copy)]
struct RowSlope {
    start: f32,
    across: f32,
}

impl RowSlope {
    fn at(&self, x: usize) -> f32 {
        self.start + self.across * x as f32
    }
}

/// Returns the columns of a row where no weight is negative.
fn inside(row: &[RowSlope; 3], columns: usize) -> Span {
    let (mut start, mut end) = (0, columns);
    for weight in row {
        // Conversions turn NaN into 0 and saturate.
        let zero = -weight.start / weight.across;
        if weight.across > 0.0 {
            start = start.max(zero.ceil() as usize);
        } else if weight.across < 0.0 {
            end = end.min((zero.floor() + 1.0) as usize);
        } else if weight.start < 0.0 {
            end = start;
        }
    }
    start..end
}

type Span = std::ops::Range<usize>;

/// Returns the columns and rows that a triangle covers, if it is on the canvas.
fn covered(points: &[[f32; 3]; 3]) -> Option<(Span, Span)> {
    let span = |axis: usize| {
        let [a, b, c] = points.map(|point| point[axis]);
        // Conversions turn NaN into 0.
        let first = (a.min(b).min(c)).floor().max(0.0) as usize;
        let last = (a.max(b).max(c)).ceil().max(0.0) as usize;
        let span = first..last.min(DRAWN);
        (!span.is_empty()).then_some(span)
    };
    Some((span(0)?, span(1)?))
}

/// Blends one color over another.
fn over(front: [f32; 4], behind: [f32; 4]) -> [f32; 4] {
    let alpha = front[3] + behind[3] * (1.0 - front[3]);
    if alpha <= 0.0 {
        return [0.0; 4];
    }
    let mix = |axis: usize| {
        let hidden = behind[axis] * behind[3] * (1.0 - front[3]);
        (front[axis] * front[3] + hidden) / alpha
    };
    [mix(0), mix(1), mix(2), alpha]
}

/// The colors of a triangle.
struct Shader<'a> {
    texture: Option<&'a Pixmap>,
    uvs: [[f32; 2]; 3],
    /// The brightness of each corner.
    light: [f32; 3],
    /// The color of each corner.
    colors: [[f32; 4]; 3],
    /// Whether all corners have the same color.
    is_even: bool,
    alpha: Alpha,
}

impl<'a> Shader<'a> {
    fn new(
        face: &Face,
        material: Option<&Material>,
        texture: Option<&'a Pixmap>,
        is_behind: bool,
        lights: &Lights,
    ) -> Self {
        let is_unlit = material.is_some_and(|material| material.unlit);
        let light = face.normals.map(|normal| match (is_unlit, is_behind) {
            (true, _) => 1.0,
            (false, true) => brightness(normal.map(|part| -part), lights),
            (false, false) => brightness(normal, lights),
        });
        let tint = material.map_or([1.0; 4], |material| material.color);
        let colors = face.colors.map(|color| {
            let part = |axis: usize| f32::from(color[axis]) / 255.0 * tint[axis];
            std::array::from_fn(part)
        });
        let [first, others @ ..] = face.colors;
        Self {
            texture,
            uvs: face.uvs,
            light,
            colors,
            is_even: others.iter().all(|other| *other == first),
            alpha: material.map_or(Alpha::Opaque, |material| material.alpha),
        }
    }

    /// Returns the color at a point, given by the weights of the corners;
    /// `None` if it is transparent.
    fn color(&self, parts: [f32; 3]) -> Option<[f32; 4]> {
        let [a, b, c] = &self.colors;
        let mut color = *a;
        if !self.is_even {
            for (axis, part) in color.iter_mut().enumerate() {
                *part = dot([a[axis], b[axis], c[axis]], parts);
            }
        }
        if let Some(texture) = self.texture {
            let [a, b, c] = &self.uvs;
            let u = dot([a[0], b[0], c[0]], parts);
            let v = dot([a[1], b[1], c[1]], parts);
            let texel = texture.at([u, v]);
            for axis in 0..4 {
                color[axis] *= f32::from(texel[axis]) * (1.0 / 255.0);
            }
        }
        let light = dot(self.light, parts);
        for part in &mut color[..3] {
            *part = (*part * light).clamp(0.0, 1.0);
        }
        let alpha = color[3].clamp(0.0, 1.0);
        color[3] = match self.alpha {
            Alpha::Opaque => 1.0,
            Alpha::Mask if alpha < 0.5 => return None,
            Alpha::Mask => 1.0,
            Alpha::Blend if alpha <= 0.0 => return None,
            Alpha::Blend => alpha,
        };
        Some(color)
    }
}

/// Returns the brightness of a surface with this normal.
fn brightness(normal: [f32; 3], lights: &Lights) -> f32 {
    let lights = lights.iter().map(|&(from, bright)| {
        let along = dot(from, normal);
        bright * along.max(0.0)
    });
    AMBIENT + lights.sum::<f32>()
}

#[cfg(test)]
mod tests;
