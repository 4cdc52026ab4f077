//! A small picture of a scene, drawn without a graphics card: the same bytes
//! wherever it is drawn.
//!
//! The scene is seen from the front, from its left and from above, with
//! parallel rays. There is a depth buffer, and two lights that stand with the
//! viewer. Every pixel is the mean of four.

use super::math::{cross, unit};
use super::scene::{Alpha, Material, Mesh, Wrap};
use super::{MAX_SCENE_PIXELS, Picture, Pixels, Scene, gltf::Pictures};

/// Width and height of a preview in pixels.
pub const EDGE: u32 = 256;

/// Width and height in which it is drawn.
const DRAWN: usize = 2 * EDGE as usize;

/// Part of the picture that the scene fills.
const FILLED: f32 = 0.94;

/// Where the viewer is.
const VIEWER: [f32; 3] = [0.62, 0.52, 0.86];

/// Most pixels that are looked at for all triangles, so that many large ones
/// over each other end. What comes behind is not drawn.
const MOST_WORK: usize = 96 << 20;

/// How much light is everywhere, and how much each of the lights adds.
const AMBIENT: f32 = 0.38;

/// The lights: where they come from, seen by the viewer (right, up, towards
/// the viewer), and how bright they are.
const LIGHTS: [([f32; 3], f32); 2] = [([-0.48, 0.72, 0.5], 0.62), ([0.8, 0.1, 0.59], 0.22)];

/// Draws a scene in its rest pose into a picture with nothing around it.
pub fn draw(scene: &Scene<'_>, pictures: Pictures<'_>) -> Picture {
    let view = View::new();
    let mut faces = faces(scene, &view);
    fit(&mut faces);
    let mut textures = Textures::new(scene, pictures);
    let mut canvas = Canvas::new();
    let mut blended = Vec::new();
    for face in &faces {
        match scene.materials.get(face.material) {
            Some(material) if material.alpha == Alpha::Blend => blended.push(face),
            material => canvas.triangle(face, material, textures.of(material)),
        }
    }
    // The farthest first.
    blended.sort_by(|a, b| a.depth().total_cmp(&b.depth()));
    for face in blended {
        let material = scene.materials.get(face.material);
        canvas.triangle(face, material, textures.of(material));
    }
    canvas.finish()
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
        self.axes.map(|axis| dot(axis, vector))
    }
}

fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// A triangle as it is seen.
struct Face {
    material: usize,
    /// To the right, down, towards the viewer.
    points: [[f32; 3]; 3],
    normals: [[f32; 3]; 3],
    uvs: [[f32; 2]; 3],
    colours: [[u8; 4]; 3],
}

impl Face {
    fn depth(&self) -> f32 {
        self.points.iter().map(|point| point[2]).sum()
    }
}

/// All triangles of a scene, seen by the viewer, in the scene's units.
fn faces(scene: &Scene<'_>, view: &View) -> Vec<Face> {
    let mut faces = Vec::new();
    for (node, mesh) in scene.nodes.iter().enumerate() {
        let Some(mesh) = mesh.mesh.and_then(|mesh| scene.meshes.get(mesh)) else {
            continue;
        };
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
    Some(Face {
        material,
        points: [a?, b?, c?],
        normals: corners.map(|corner| normal(corner.normal)),
        uvs: corners.map(|corner| corner.uv),
        colours: corners.map(|corner| corner.colour),
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

/// The pixels of the textures, each decoded once, when it is first needed.
struct Textures<'a> {
    pictures: Pictures<'a>,
    /// Of each material.
    known: Vec<Option<Option<Pixmap>>>,
    materials: &'a [Material],
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
        Self {
            pictures,
            known: scene.materials.iter().map(|_| None).collect(),
            materials: &scene.materials,
            pixels_left: MAX_SCENE_PIXELS,
        }
    }

    /// The texture of a material.
    fn of(&mut self, material: Option<&Material>) -> Option<&Pixmap> {
        let texture = material?.texture.as_ref()?;
        // Materials that share a texture share its pixels.
        let mut materials = self.materials.iter();
        let first = materials.position(|other| other.texture.as_ref() == Some(texture))?;
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

/// The pixel at a place along an edge of `size` pixels, which is 1 long.
fn wrapped(place: f32, size: usize, wrap: Wrap) -> usize {
    let place = match wrap {
        Wrap::Repeat => place - place.floor(),
        Wrap::Mirror => {
            let within = place - 2.0 * (place / 2.0).floor();
            if within > 1.0 { 2.0 - within } else { within }
        }
        Wrap::Clamp => place,
    };
    // What is no number is 0, and what is negative too.
    ((place * size as f32) as usize).min(size.saturating_sub(1))
}

/// What is drawn on.
struct Canvas {
    /// Red, green, blue and alpha of each pixel, 0 to 1, not premultiplied.
    colours: Vec<[f32; 4]>,
    depths: Vec<f32>,
    work_left: usize,
}

impl Canvas {
    fn new() -> Self {
        Self {
            colours: vec![[0.0; 4]; DRAWN * DRAWN],
            depths: vec![f32::NEG_INFINITY; DRAWN * DRAWN],
            work_left: MOST_WORK,
        }
    }

    fn triangle(&mut self, face: &Face, material: Option<&Material>, texture: Option<&Pixmap>) {
        let [a, b, c] = face.points;
        let area = edge(a, b, c);
        // Points go down on the screen, so that the front is clockwise.
        let is_behind = area > 0.0;
        let is_culled = is_behind && !material.is_none_or(|material| material.double_sided);
        if area == 0.0 || !area.is_finite() || is_culled {
            return;
        }
        let Some((columns, rows)) = covered(&face.points) else {
            return;
        };
        let work = columns.len() * rows.len();
        if work > self.work_left {
            self.work_left = 0;
            return;
        }
        self.work_left -= work;
        let shader = Shader::new(face, material, texture, is_behind);
        let blends = material.is_some_and(|material| material.alpha == Alpha::Blend);
        for y in rows {
            for x in columns.clone() {
                let pixel = [x as f32 + 0.5, y as f32 + 0.5, 0.0];
                let parts = [edge(b, c, pixel), edge(c, a, pixel), edge(a, b, pixel)];
                let parts = parts.map(|part| part / area);
                if parts.iter().any(|&part| part < 0.0) {
                    continue;
                }
                let depth = parts[0] * a[2] + parts[1] * b[2] + parts[2] * c[2];
                let place = y * DRAWN + x;
                if depth <= self.depths[place] {
                    continue;
                }
                let Some(colour) = shader.colour(parts) else {
                    continue;
                };
                if blends {
                    self.colours[place] = over(colour, self.colours[place]);
                } else {
                    self.depths[place] = depth;
                    self.colours[place] = colour;
                }
            }
        }
    }

    /// The picture, each pixel the mean of four.
    fn finish(self) -> Picture {
        let edge = EDGE as usize;
        let pixel = |x: usize, y: usize| {
            let mut sum = [0.0_f32; 4];
            for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                let [red, green, blue, alpha] = self.colours[(2 * y + dy) * DRAWN + 2 * x + dx];
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
        let pixels = (0..edge * edge).map(|place| pixel(place % edge, place / edge));
        Picture {
            width: EDGE,
            height: EDGE,
            pixels: Pixels::Rgba(pixels.collect()),
        }
    }
}

/// Twice the area of a triangle on the screen, with the sign of its winding.
fn edge(a: [f32; 3], b: [f32; 3], c: [f32; 3]) -> f32 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

type Span = std::ops::Range<usize>;

/// The columns and rows in which a triangle is, where it is on the canvas.
fn covered(points: &[[f32; 3]; 3]) -> Option<(Span, Span)> {
    let span = |axis: usize| {
        let [a, b, c] = points.map(|point| point[axis]);
        // Conversions of what is no number give 0.
        let first = (a.min(b).min(c)).floor().max(0.0) as usize;
        let last = (a.max(b).max(c)).ceil().max(0.0) as usize;
        let span = first..last.min(DRAWN);
        (!span.is_empty()).then_some(span)
    };
    Some((span(0)?, span(1)?))
}

/// One colour in front of another.
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

/// The colours of a triangle.
struct Shader<'a> {
    face: &'a Face,
    material: Option<&'a Material>,
    texture: Option<&'a Pixmap>,
    /// How bright each corner is.
    light: [f32; 3],
}

impl<'a> Shader<'a> {
    fn new(
        face: &'a Face,
        material: Option<&'a Material>,
        texture: Option<&'a Pixmap>,
        is_behind: bool,
    ) -> Self {
        let is_unlit = material.is_some_and(|material| material.unlit);
        let light = face.normals.map(|normal| match (is_unlit, is_behind) {
            (true, _) => 1.0,
            (false, true) => brightness(normal.map(|part| -part)),
            (false, false) => brightness(normal),
        });
        Self {
            face,
            material,
            texture,
            light,
        }
    }

    /// The colour at a place, given by the weights of the corners; `None`
    /// where it is transparent.
    fn colour(&self, parts: [f32; 3]) -> Option<[f32; 4]> {
        let sum = |values: [f32; 3]| dot(values, parts);
        let light = sum(self.light);
        let mut colour: [f32; 4] = std::array::from_fn(|axis| {
            let own = sum(self.face.colours.map(|colour| colour[axis].into())) / 255.0;
            own * self.material.map_or(1.0, |material| material.colour[axis])
        });
        if let Some(texture) = self.texture {
            let uv = [0, 1].map(|axis| sum(self.face.uvs.map(|uv| uv[axis])));
            for (part, texel) in colour.iter_mut().zip(texture.at(uv)) {
                *part *= f32::from(texel) / 255.0;
            }
        }
        for part in &mut colour[..3] {
            *part = (*part * light).clamp(0.0, 1.0);
        }
        let alpha = colour[3].clamp(0.0, 1.0);
        colour[3] = match self
            .material
            .map_or(Alpha::Opaque, |material| material.alpha)
        {
            Alpha::Opaque => 1.0,
            Alpha::Mask if alpha < 0.5 => return None,
            Alpha::Mask => 1.0,
            Alpha::Blend if alpha <= 0.0 => return None,
            Alpha::Blend => alpha,
        };
        Some(colour)
    }
}

/// How bright a surface is that faces there, seen by the viewer.
fn brightness(normal: [f32; 3]) -> f32 {
    let lights = LIGHTS.iter().map(|&(from, bright)| {
        let along = dot(unit(from).unwrap_or_default(), normal);
        bright * along.max(0.0)
    });
    AMBIENT + lights.sum::<f32>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::obj::tests::scene;
    use proptest::prelude::*;

    #[test]
    fn a_picture_fills_its_frame_and_is_the_same_again() {
        let picture = draw(&scene(), &|_| None);
        assert_eq!((picture.width, picture.height), (EDGE, EDGE));
        let pixels = picture.rgba();
        let opaque = |pixel: &&[u8; 4]| pixel[3] == 255;
        assert!(pixels.iter().filter(opaque).count() > 10_000);
        assert_eq!(pixels[0], [0; 4], "the corner is empty");
        assert_eq!(draw(&scene(), &|_| None), picture);
    }

    #[test]
    fn what_is_nearer_hides_what_is_behind() {
        let mut scene = scene();
        scene.materials[0].colour = [1.0, 0.0, 0.0, 1.0];
        scene.materials[1].colour = [0.0, 0.0, 1.0, 1.0];
        for corner in &mut scene.meshes[0].corners {
            corner.colour = [255; 4];
        }
        // The blue triangle, which comes last, is moved away.
        let behind = scene.meshes[0].points.clone();
        let away = behind
            .iter()
            .map(|[x, y, z]| [x - 0.62, y - 0.52, z - 0.86]);
        scene.meshes[0].points.extend(away.collect::<Vec<_>>());
        let corners = scene.meshes[0].corners.clone();
        let moved = corners.iter().map(|corner| crate::export::scene::Corner {
            point: corner.point + 3,
            ..*corner
        });
        scene.meshes[0].corners.extend(moved.collect::<Vec<_>>());
        scene.meshes[0].parts[1].triangles = vec![[3, 4, 5]];
        let colours = draw(&scene, &|_| None).rgba();
        assert!(colours.iter().any(|colour| colour[0] > 100));
        assert!(
            colours
                .iter()
                .all(|colour| colour[2] == 0 || colour[0] == 0 || colour[3] < 255)
        );
        assert!(
            !colours
                .iter()
                .any(|colour| colour[2] > 100 && colour[3] == 255)
        );
    }

    proptest! {
        #[test]
        fn no_numbers_make_it_panic(
            bits in proptest::collection::vec(any::<u32>(), 9),
            uvs in proptest::collection::vec(any::<u32>(), 6),
        ) {
            let mut scene = scene();
            for (point, bits) in scene.meshes[0].points.iter_mut().zip(bits.chunks(3)) {
                *point = std::array::from_fn(|axis| f32::from_bits(bits[axis]));
            }
            for (corner, bits) in scene.meshes[0].corners.iter_mut().zip(uvs.chunks(2)) {
                corner.uv = [0, 1].map(|axis| f32::from_bits(bits[axis]));
            }
            let picture = Picture { width: 1, height: 1, pixels: Pixels::Rgba(vec![[255; 4]]) };
            draw(&scene, &|_| Some(picture.clone()));
        }
    }
}
