//! The difference between an edited mesh and the shown one.

use std::collections::{BTreeMap, HashMap};

use super::places::Places;
use crate::model::affine::NEAR;
use crate::model::scene::{Corner, Mesh, Weights};

/// Tolerance for normals, weights and parts of colors, which are rounded on the way.
const NEAR_NORMAL: f32 = 0.02;
const NEAR_WEIGHT: f32 = 1e-4;
const NEAR_COLOR: u8 = 1;

/// Maximum number of triangles at one place that are compared.
const MAX_SAME: usize = 64;

/// Attributes to compare, and the scale of the tolerance.
#[derive(Debug, Clone, Copy)]
pub struct Compared {
    /// The largest coordinate of the model.
    pub size: f32,
    /// True if the asset stores normals.
    pub has_normals: bool,
    /// True if it stores texture coordinates.
    pub has_uvs: bool,
    /// True if the asset stores colors and the edited mesh has colors.
    pub has_colors: bool,
}

/// A change of a mesh.
#[derive(Debug, Clone)]
pub enum Change {
    /// It has the same triangles.
    None,
    /// It has the same triangles with other values. This is the shown mesh with these
    /// values.
    Values(Box<Mesh>),
    /// It has other triangles. This is the edited mesh; attributes that programs lose
    /// are restored from vertices at the same places.
    Anew(Box<Mesh>),
}

/// Compares an edited mesh with the shown one. Both use the same numbers for materials
/// and joints.
pub fn change(shown: &Mesh, mut edited: Mesh, compared: &Compared) -> Change {
    let mut places = Places::new(NEAR * compared.size);
    keep_lost(shown, &mut edited, compared, &mut places);
    let uv_size = shown.corners.iter().flat_map(|corner| corner.uv);
    let comparison = Comparison {
        compared: *compared,
        uv_distance: NEAR * uv_size.fold(1.0, |most: f32, part| most.max(part.abs())),
        shown,
        edited: &edited,
    };
    if comparison.has_same_triangles(&mut places) {
        return Change::None;
    }
    match comparison.values() {
        Some(values) => Change::Values(Box::new(values)),
        None => Change::Anew(Box::new(edited)),
    }
}

/// Restores attributes that programs lose, from the shown corners at the same places:
/// colors, alpha, weights, second colors, sets of texture coordinates, and the last
/// bits of numbers.
fn keep_lost(shown: &Mesh, edited: &mut Mesh, compared: &Compared, places: &mut Places) {
    let sets = shown.other_uvs.len();
    let lost_sets = edited.other_uvs.len()..sets;
    edited.other_uvs.resize_with(sets, Vec::new);
    let is_opaque = edited
        .corners
        .iter()
        .all(|corner| corner.color[3] == u8::MAX);
    let lost_weights = edited.weights.is_empty() && !shown.weights.is_empty();
    if lost_weights {
        edited.weights = vec![Weights::default(); edited.points.len()];
    } else if shown.weights.is_empty() {
        edited.weights.clear();
    }
    let mut at: HashMap<u32, Vec<usize>> = HashMap::new();
    for (number, corner) in shown.corners.iter().enumerate() {
        let same = at
            .entry(places.number(shown.points[corner.point as usize]))
            .or_default();
        if same.len() < MAX_SAME {
            same.push(number);
        }
    }
    edited.other_colors = Vec::new();
    for number in 0..edited.corners.len() {
        let corner = edited.corners[number];
        let same = places.find(edited.points[corner.point as usize]);
        let same = same.and_then(|place| at.get(&place)).into_iter().flatten();
        let distance = |other: &Corner| {
            let parts = other.uv.iter().zip(corner.uv).map(|(a, b)| (a - b).abs());
            let turned = other
                .normal
                .iter()
                .zip(corner.normal)
                .map(|(a, b)| (a - b).abs());
            parts.sum::<f32>() + turned.sum::<f32>()
        };
        let nearest = same
            .min_by(|&&a, &&b| distance(&shown.corners[a]).total_cmp(&distance(&shown.corners[b])));
        let old = nearest.map(|&nearest| shown.corners[nearest]);
        if let Some(old) = old {
            edited.points[corner.point as usize] = shown.points[old.point as usize];
            let new = &mut edited.corners[number];
            if is_near(&new.normal, &old.normal, NEAR_NORMAL) {
                new.normal = old.normal;
            }
            if is_near(&new.uv, &old.uv, NEAR) {
                new.uv = old.uv;
            }
        }
        let color = &mut edited.corners[number].color;
        if !compared.has_colors {
            *color = old.map_or([u8::MAX; 4], |old| old.color);
        } else if let Some(old) = old.filter(|_| is_opaque) {
            color[3] = old.color[3];
        }
        for set in lost_sets.clone() {
            let uv = nearest.map_or(corner.uv, |&nearest| shown.other_uvs[set][nearest]);
            edited.other_uvs[set].push(uv);
        }
        if !shown.other_colors.is_empty() {
            let old = nearest.map(|&nearest| shown.other_colors[nearest]);
            edited.other_colors.push(old.unwrap_or([u8::MAX; 4]));
        }
        if let Some(old) = old.filter(|_| lost_weights) {
            edited.weights[corner.point as usize] = shown.weights[old.point as usize];
        }
    }
}

struct Comparison<'a> {
    compared: Compared,
    uv_distance: f32,
    shown: &'a Mesh,
    edited: &'a Mesh,
}

/// A corner of a mesh.
#[derive(Clone, Copy)]
struct At<'a>(&'a Mesh, u32);

impl<'a> At<'a> {
    fn corner(self) -> &'a Corner {
        &self.0.corners[self.1 as usize]
    }

    fn point(self) -> [f32; 3] {
        self.0.points[self.corner().point as usize]
    }

    fn weights(self) -> Option<&'a Weights> {
        self.0.weights.get(self.corner().point as usize)
    }

    /// Returns its texture coordinates in all sets.
    fn uvs(self) -> impl Iterator<Item = [f32; 2]> {
        let others = self.0.other_uvs.iter();
        let others = others.map(move |set| set[self.1 as usize]);
        std::iter::once(self.corner().uv).chain(others)
    }
}

/// A triangle: its material and the places of its corners, rotated so that their numbers are smallest.
type Key = (usize, [u32; 3]);

impl Comparison<'_> {
    /// Returns true if both meshes have the same triangles, in any order. The edited mesh
    /// may have more degenerate ones, because models are shown without them.
    fn has_same_triangles(&self, places: &mut Places) -> bool {
        let mut known: HashMap<Key, Vec<[u32; 3]>> = HashMap::new();
        for (material, triangle) in triangles(self.shown) {
            let (key, triangle) = key(self.shown, material, triangle, places);
            known.entry(key).or_default().push(triangle);
        }
        let are_same = triangles(self.edited).all(|(material, triangle)| {
            let (key, triangle) = key(self.edited, material, triangle, places);
            let is_it = |other: &[u32; 3]| {
                // The order of corners at one place does not matter.
                let is_same = |old, new| self.is_same(At(self.shown, old), At(self.edited, new));
                (0..3).any(|turn| (0..3).all(|n| is_same(other[(n + turn) % 3], triangle[n])))
            };
            let paired = known.get_mut(&key).and_then(|same| {
                let found = same.iter().take(MAX_SAME).position(is_it);
                found.map(|found| same.swap_remove(found))
            });
            paired.is_some() || is_degenerate(&key)
        });
        are_same && known.values().all(Vec::is_empty)
    }

    /// Returns true if two corners are equal except for rounding.
    fn is_same(&self, one: At<'_>, other: At<'_>) -> bool {
        let (a, b) = (one.corner(), other.corner());
        self.is_near_point(one.point(), other.point())
            && self.is_near_color(a.color, b.color)
            && self.is_near_normal(a.normal, b.normal)
            && has_near_weights(one, other)
            && (one.uvs().zip(other.uvs()))
                .take(1 + self.shown.other_uvs.len())
                .all(|(a, b)| self.is_near_uv(a, b))
    }

    fn is_near_point(&self, a: [f32; 3], b: [f32; 3]) -> bool {
        // Twice the tolerance: two points may be near one place from opposite sides.
        is_near(&a, &b, 2.0 * NEAR * self.compared.size)
    }

    fn is_near_uv(&self, a: [f32; 2], b: [f32; 2]) -> bool {
        !self.compared.has_uvs || is_near(&a, &b, self.uv_distance)
    }

    fn is_near_color(&self, a: [u8; 4], b: [u8; 4]) -> bool {
        !self.compared.has_colors || a.iter().zip(b).all(|(a, b)| a.abs_diff(b) <= NEAR_COLOR)
    }

    fn is_near_normal(&self, a: [f32; 3], b: [f32; 3]) -> bool {
        !self.compared.has_normals || is_near(&a, &b, NEAR_NORMAL)
    }

    /// Returns the shown mesh with the edited values, if triangles, order and materials
    /// are the same.
    fn values(&self) -> Option<Mesh> {
        let (old, new) = (by_material(self.shown), by_material(self.edited));
        let sizes = |all: &BTreeMap<usize, Vec<[u32; 3]>>| -> Vec<(usize, usize)> {
            all.iter()
                .map(|(&material, all)| (material, all.len()))
                .collect()
        };
        if sizes(&old) != sizes(&new) {
            return None;
        }
        let mut corners = vec![None; self.shown.corners.len()];
        let mut points = vec![None; self.shown.points.len()];
        for (old, new) in old.values().flatten().zip(new.values().flatten()) {
            for (&old, &new) in old.iter().zip(new) {
                self.pair(old, new, &mut corners, &mut points)?;
            }
        }
        let mut mesh = self.shown.clone();
        for (point, new) in mesh.points.iter_mut().zip(&points) {
            let new = new.map(|new: u32| self.edited.points[new as usize]);
            if let Some(new) = new.filter(|new| !is_near(point, new, NEAR * self.compared.size)) {
                *point = new;
            }
        }
        for (number, new) in corners.into_iter().enumerate() {
            if let Some(new) = new {
                self.set_corner(&mut mesh, number, new);
            }
        }
        for (weights, new) in mesh.weights.iter_mut().zip(points) {
            if let Some(new) = new {
                *weights = self.edited.weights[new as usize];
            }
        }
        Some(mesh)
    }

    /// Pairs a shown corner and its point with an edited one. Returns `None` for a
    /// conflict with an earlier pair.
    fn pair(
        &self,
        old: u32,
        new: u32,
        corners: &mut [Option<u32>],
        points: &mut [Option<u32>],
    ) -> Option<()> {
        let point = self.edited.corners[new as usize].point;
        let old_point = self.shown.corners[old as usize].point as usize;
        let other = *points[old_point].get_or_insert(point);
        let [a, b] = [other, point].map(|point| &self.edited.points[point as usize]);
        if !is_near(a, b, NEAR * self.compared.size) {
            return None;
        }
        let other = *corners[old as usize].get_or_insert(new);
        let [a, b] = [other, new].map(|corner| At(self.edited, corner));
        self.is_same(a, b).then_some(())
    }

    /// Sets the values of a corner that differ.
    fn set_corner(&self, mesh: &mut Mesh, number: usize, new: u32) {
        let corner = &mut mesh.corners[number];
        let edited = &self.edited.corners[new as usize];
        if !self.is_near_uv(corner.uv, edited.uv) {
            corner.uv = edited.uv;
        }
        if !self.is_near_color(corner.color, edited.color) {
            corner.color = edited.color;
        }
        if !self.is_near_normal(corner.normal, edited.normal) {
            corner.normal = edited.normal;
        }
        for (set, values) in mesh.other_uvs.iter_mut().enumerate() {
            let edited = self.edited.other_uvs[set][new as usize];
            if !self.is_near_uv(values[number], edited) {
                values[number] = edited;
            }
        }
    }
}

fn has_near_weights(one: At<'_>, other: At<'_>) -> bool {
    let (Some(one), Some(other)) = (one.weights(), other.weights()) else {
        return one.weights().is_none();
    };
    let of = |weights: &Weights, joint: u16| {
        let same = weights.iter().filter(|one| one.joint == joint);
        same.map(|one| one.weight).sum::<f32>()
    };
    let joints = one.iter().chain(other).map(|one| one.joint);
    joints
        .into_iter()
        .all(|joint| (of(one, joint) - of(other, joint)).abs() <= NEAR_WEIGHT)
}

fn is_near(a: &[f32], b: &[f32], distance: f32) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= distance)
}

fn triangles(mesh: &Mesh) -> impl Iterator<Item = (usize, [u32; 3])> {
    mesh.parts.iter().flat_map(|part| {
        let triangles = part.triangles.iter();
        triangles.map(|triangle| (part.material, *triangle))
    })
}

fn by_material(mesh: &Mesh) -> BTreeMap<usize, Vec<[u32; 3]>> {
    let mut all: BTreeMap<usize, Vec<[u32; 3]>> = BTreeMap::new();
    for (material, triangle) in triangles(mesh) {
        all.entry(material).or_default().push(triangle);
    }
    all
}

/// Returns true if two corners of a triangle are at one place.
fn is_degenerate((_, [a, b, c]): &Key) -> bool {
    a == b || b == c || c == a
}

/// Returns a triangle's key, and its corners in the order of the key.
fn key(mesh: &Mesh, material: usize, triangle: [u32; 3], places: &mut Places) -> (Key, [u32; 3]) {
    let at = triangle.map(|corner| {
        let point = mesh.corners[corner as usize].point;
        places.number(mesh.points[point as usize])
    });
    let turned = |all: [u32; 3], first: usize| [0, 1, 2].map(|n| all[(first + n) % 3]);
    // Two corners may be at one place.
    let first = (0..3).min_by_key(|&first| turned(at, first));
    let first = first.unwrap_or_default();
    ((material, turned(at, first)), turned(triangle, first))
}
