//! The canvas of a rendering: triangles as pixels.

use super::{Face, Pixmap, dot};
use crate::model::math::unit;
use crate::model::scene::{Alpha, Material};

/// Number of rows that are rendered at a time. A buffer of all rows would take 5 MiB;
/// mapping and unmapping it for each picture took longer than rendering a small model.
pub(super) const BAND: usize = 64;

/// Ambient light; the lights are added to it.
const AMBIENT: f32 = 0.38;

/// The lights: their directions relative to the viewer (right, up, towards the
/// viewer), and their brightness.
const LIGHTS: Lights = [([-0.48, 0.72, 0.5], 0.62), ([0.8, 0.1, 0.59], 0.22)];

/// The canvas: a band of the picture at a time.
pub(super) struct Canvas {
    width: usize,
    height: usize,
    /// First row of the band.
    top: usize,
    /// Red, green, blue and alpha of each pixel, 0 to 1, not premultiplied.
    colors: Vec<[f32; 4]>,
    depths: Vec<f32>,
    /// The columns of each row that may have been drawn on: most pictures are empty around
    /// the model.
    drawn: Vec<Span>,
    /// [`LIGHTS`] with directions of length 1.
    lights: Lights,
    /// Number of pixels that may still be tested.
    pub(super) work_left: usize,
}

type Lights = [([f32; 3], f32); 2];

impl Canvas {
    /// Creates a canvas of this even width and height.
    pub(super) fn new([width, height]: [usize; 2], work_left: usize) -> Self {
        Self {
            width,
            height,
            top: 0,
            colors: vec![[0.0; 4]; width * BAND],
            depths: vec![f32::NEG_INFINITY; width * BAND],
            drawn: vec![0..0; BAND],
            lights: LIGHTS.map(|(from, bright)| (unit(from).unwrap_or_default(), bright)),
            work_left,
        }
    }

    /// Begins a band, and clears it.
    pub(super) fn begin(&mut self, top: usize) {
        self.top = top;
        for (row, drawn) in self.drawn.iter_mut().enumerate() {
            let pixels = row * self.width + drawn.start..row * self.width + drawn.end;
            self.colors[pixels.clone()].fill([0.0; 4]);
            self.depths[pixels].fill(f32::NEG_INFINITY);
            *drawn = 0..0;
        }
    }

    /// Draws the part of a triangle in the band. Pixels are computed relative
    /// to the triangle's first row, so that they do not depend on the bands.
    pub(super) fn triangle(
        &mut self,
        face: &Face,
        material: Option<&Material>,
        texture: Option<&Pixmap>,
    ) {
        let [a, b, c] = face.points;
        let area = edge(a, b, c);
        // y points down on the screen, so front faces are clockwise.
        let is_behind = area > 0.0;
        let is_culled = is_behind && !material.is_none_or(|material| material.double_sided);
        if area == 0.0 || !area.is_finite() || is_culled {
            return;
        }
        let Some((columns, rows)) = self.covered(&face.points) else {
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
            let columns = inside(&row, columns.len());
            if columns.is_empty() {
                continue;
            }
            let drawn = &mut self.drawn[y - self.top];
            *drawn = around(drawn, left + columns.start..left + columns.end);
            for x in columns {
                let parts = [row[0].at(x), row[1].at(x), row[2].at(x)];
                let depth = parts[0] * a[2] + parts[1] * b[2] + parts[2] * c[2];
                let index = (y - self.top) * self.width + left + x;
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
    pub(super) fn finish(&self, pixels: &mut Vec<[u8; 4]>) {
        let rows = BAND.min(self.height - self.top) / 2;
        let (drawn, _) = self.drawn.as_chunks();
        let pairs = self.colors.chunks_exact(2 * self.width).zip(drawn);
        for (pair, [above, below]) in pairs.take(rows) {
            let drawn = around(above, below.clone());
            let drawn = drawn.start / 2..drawn.end.div_ceil(2);
            let (upper, lower) = pair.split_at(self.width);
            let (upper, lower) = (upper.as_chunks().0, lower.as_chunks().0);
            let pairs = upper[drawn.clone()].iter().zip(&lower[drawn.clone()]);
            let end = pixels.len() + self.width / 2;
            pixels.resize(pixels.len() + drawn.start, [0; 4]);
            pixels.extend(pairs.map(|(&[a, b], &[c, d])| mean([a, b, c, d])));
            pixels.resize(end, [0; 4]);
        }
    }

    /// Returns the columns and rows that a triangle covers, if it is on the
    /// canvas.
    fn covered(&self, points: &[[f32; 3]; 3]) -> Option<(Span, Span)> {
        let span = |axis: usize, end: usize| {
            let [a, b, c] = points.map(|point| point[axis]);
            // Conversions turn NaN into 0.
            let first = (a.min(b).min(c)).floor().max(0.0) as usize;
            let last = (a.max(b).max(c)).ceil().max(0.0) as usize;
            let span = first..last.min(end);
            (!span.is_empty()).then_some(span)
        };
        Some((span(0, self.width)?, span(1, self.height)?))
    }
}

/// Returns the mean of four colors, with their alpha as weight.
fn mean(colors: [[f32; 4]; 4]) -> [u8; 4] {
    let mut sum = [0.0_f32; 4];
    for [red, green, blue, alpha] in colors {
        let parts = [red * alpha, green * alpha, blue * alpha, alpha];
        for (sum, part) in sum.iter_mut().zip(parts) {
            *sum += part;
        }
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
    /// Creates the weight of the corner opposite to a side, for a triangle with this
    /// area. The center of the first pixel is at `first`.
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

/// Returns the columns from the first to the last of both spans.
fn around(one: &Span, other: Span) -> Span {
    match (one.is_empty(), other.is_empty()) {
        (true, _) => other,
        (_, true) => one.clone(),
        _ => one.start.min(other.start)..one.end.max(other.end),
    }
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
    /// True if all corners have the same color.
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

    /// Returns the color at a point, given by the weights of the corners; `None` if the
    /// point is transparent.
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
