//! Models as scenes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use super::blending::Blending;
use super::prelight;
use crate::model::Model;
use hpimount_assets::model::scene::{self, Alpha, Node, Weights};
use hpimount_assets::model::{Scene, Transform};
use hpimount_assets::model::{corners_problem, not_shown};
use hpimount_containers::io::Warnings;
use hpimount_renderware::clump::{Atomic, Clump, Placement};
use hpimount_renderware::export::{self, Surface, TextureState, TextureUse, skeleton};

/// Color of a material whose texture is missing.
const PLACEHOLDER: [f32; 4] = [1.0, 0.0, 1.0, 1.0];

/// The visible parts of a model, determined without decoding vertices.
#[derive(Debug, Default)]
pub struct ExportPlan {
    /// True if there is something to show.
    pub has_scene: bool,
    /// Number of face corners of the scene.
    pub corners: usize,
    /// The textures, in order of first use by a material.
    pub textures: Vec<TextureUse>,
    /// The visible atomics, by clump and atomic number.
    pub atomics: Vec<(usize, usize)>,
    /// Number of the clump with the skeleton.
    pub skeleton: Option<usize>,
    /// Number of triangles of the atomics, including degenerate ones.
    pub triangles: usize,
    /// Blending of geometries, by clump and geometry number.
    pub blended: BTreeMap<(usize, usize), Blending>,
    /// The textures for additive blending.
    pub added: BTreeSet<usize>,
    /// The reasons why the rest is not shown.
    pub problems: Warnings,
}

/// The number of the first material of each geometry in the scene, by clump and
/// geometry number.
type FirstMaterials = HashMap<(usize, usize), usize>;

impl ExportPlan {
    /// Determines the visible parts of `model`. `find` looks up a texture by name.
    pub fn new(model: &Model, mut find: impl FnMut(&str) -> TextureState) -> Self {
        let mut plan = Self::default();
        let corners = plan.choose_atomics(model) + plan.choose_worlds(model);
        plan.check_corners(corners);
        plan.textures = export::look_up(model.texture_names(), &mut find, &mut plan.problems);
        plan
    }

    /// Blends the atomics with the background.
    pub fn blend(&mut self, model: &Model, atomics: &[Option<Blending>]) {
        let clumps = model.clumps.iter().enumerate();
        let geometries = clumps.flat_map(|(number, clump)| {
            let atomics = clump.atomics.iter();
            atomics.map(move |atomic| Some((number, atomic.geometry?)))
        });
        let blended = geometries.zip(atomics).map(|(key, one)| key.zip(*one));
        self.blended = blended.flatten().collect();
        let materials = self.materials(model);
        for range in self.blended_materials(model, Blending::Added) {
            let added = materials.get(range).unwrap_or_default().iter();
            let textures = added.filter_map(|material| material.texture.as_ref());
            self.added.extend(textures.map(|texture| texture.picture));
        }
    }

    /// Returns the numbers of the materials with this blending.
    fn blended_materials(&self, model: &Model, blending: Blending) -> Vec<Range<usize>> {
        let firsts = first_materials(model);
        let chosen = self.blended.iter().filter(|(_, one)| **one == blending);
        let ranges = chosen.filter_map(|(key, _)| {
            let geometry = model.clumps.get(key.0)?.geometries.get(key.1)?;
            let first = *firsts.get(key)?;
            Some(first..first + geometry.materials.len())
        });
        ranges.collect()
    }

    /// Chooses the atomics, and returns their number of corners.
    fn choose_atomics(&mut self, model: &Model) -> usize {
        let mut corners = 0;
        for (number, clump) in model.clumps.iter().enumerate() {
            export::check(number, &clump.geometries, &mut self.problems);
            for (index, atomic) in clump.atomics.iter().enumerate() {
                let geometry = clump.geometry_of(atomic);
                let Some((vertices, triangles)) = geometry.and_then(export::sizes) else {
                    continue;
                };
                corners += vertices.max(3 * triangles);
                self.triangles += triangles;
                self.atomics.push((number, index));
            }
        }
        let mut clumps = model.clumps.iter();
        self.skeleton = clumps.position(|clump| {
            let mut geometries = clump.geometries.iter();
            geometries.any(|one| one.skin.is_some()) && skeleton::bones(clump).is_some()
        });
        corners
    }

    /// Chooses the worlds, which are shown as a whole, and returns their number of
    /// corners.
    fn choose_worlds(&mut self, model: &Model) -> usize {
        let mut corners = 0;
        for (number, world) in model.worlds.iter().enumerate() {
            for (index, sector) in world.sectors.iter().enumerate() {
                if let Some(why) = export::problem(&sector.geometry) {
                    let what = format_args!("sector {index} of world {number}");
                    self.problems.push(not_shown(what, why));
                }
            }
            let (vertices, triangles) = world.sizes();
            corners += vertices.max(3 * triangles);
            self.triangles += triangles;
        }
        corners
    }

    fn check_corners(&mut self, corners: usize) {
        self.has_scene = self.triangles > 0;
        self.corners = corners;
        if let Some(why) = corners_problem(corners) {
            self.has_scene = false;
            self.problems.push(not_shown("the model", why));
        }
    }

    /// Returns the memory on the heap in bytes.
    pub fn memory(&self) -> usize {
        self.textures.capacity() * size_of::<TextureUse>()
            + self.textures.iter().map(TextureUse::memory).sum::<usize>()
            + self.atomics.capacity() * size_of::<(usize, usize)>()
            + self.blended.len() * size_of::<((usize, usize), Blending)>()
            + self.added.len() * size_of::<usize>()
    }

    /// Returns notes for readers of the files.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            "x is right, y up, z back, as in the game; lengths are in the game's units.".to_owned(),
            match self.skeleton {
                Some(_) => {
                    "Frames are applied to the vertices; bones are joints in the pose of the file."
                }
                None => "Frames are applied to the vertices; bones are not in this file.",
            }
            .to_owned(),
        ];
        let missing = self
            .textures
            .iter()
            .filter(|texture| !texture.state.is_found());
        notes.extend(missing.map(|texture| {
            format!(
                "Texture {} is missing and replaced by magenta.",
                texture.name
            )
        }));
        notes
    }

    /// Returns the materials of all geometries and then of the worlds, named after
    /// their textures, followed by a plain material.
    pub fn materials(&self, model: &Model) -> Vec<scene::Material> {
        let surface = |flags, has_normals| {
            let surface = Surface::new(flags, has_normals);
            surface.double_sided(true).marked(PLACEHOLDER)
        };
        let geometries = model.clumps.iter().flat_map(|clump| &clump.geometries);
        let geometries = geometries.map(|geometry| {
            let surface = surface(geometry.flags, export::has_normals(geometry));
            (surface, &geometry.materials)
        });
        let worlds = model.worlds.iter().map(|world| {
            let surface = surface(world.flags as u16, world.has_normals());
            (surface, &world.materials)
        });
        let listed = geometries.chain(worlds).flat_map(|(surface, materials)| {
            let materials = materials.iter();
            materials.map(move |material| (surface, material))
        });
        let mut materials = export::materials(listed, &self.textures);
        for blending in [Blending::Alpha, Blending::Added] {
            for range in self.blended_materials(model, blending) {
                for material in materials.get_mut(range).unwrap_or_default() {
                    material.alpha = Alpha::Blend;
                    let [red, green, blue, alpha] = &mut material.color;
                    if blending == Blending::Added && material.texture.is_none() {
                        *alpha *= red.max(*green).max(*blue);
                    }
                }
            }
        }
        materials
    }

    /// Adds the joints, and returns their number.
    fn add_skeleton(&self, model: &Model, scene: &mut Scene<'_>) -> usize {
        let clump = self.skeleton.and_then(|number| model.clumps.get(number));
        let Some((clump, bones)) = clump.and_then(|clump| Some((clump, skeleton::bones(clump)?)))
        else {
            return 0;
        };
        match skeleton::add_joints(clump, &bones, None, scene) {
            true => bones.len(),
            false => 0,
        }
    }

    /// Returns the atomics with their transformations.
    pub fn scene(&self, model: &Model) -> Scene<'static> {
        let mut scene = Scene {
            notes: self.notes(),
            materials: self.materials(model),
            ..Scene::default()
        };
        let firsts = first_materials(model);
        let plain = scene.materials.len() - 1;
        let bones = self.add_skeleton(model, &mut scene);
        for (number, clump) in model.clumps.iter().enumerate() {
            let frame_placements = clump.placements();
            let of_clump = self.atomics.iter().filter(|(clump, _)| *clump == number);
            for &(_, index) in of_clump {
                let Some(atomic) = clump.atomics.get(index) else {
                    continue;
                };
                let placement = atomic
                    .frame
                    .and_then(|frame| frame_placements.get(frame).copied());
                let placement = placement.unwrap_or(Placement::IDENTITY);
                let first = atomic.geometry.and_then(|one| firsts.get(&(number, one)));
                let Some(mut mesh) =
                    mesh_of(clump, atomic, &placement, *first.unwrap_or(&plain), plain)
                else {
                    continue;
                };
                mesh.name = format!("atomic_{}", scene.meshes.len());
                if self.skeleton == Some(number) && bones > 0 {
                    mesh.weights = weights_of(clump, atomic, mesh.points.len(), bones);
                }
                scene.nodes.push(Node {
                    name: mesh.name.clone(),
                    parent: None,
                    transform: Transform::IDENTITY,
                    mesh: Some(scene.meshes.len()),
                });
                scene.meshes.push(mesh);
            }
        }
        self.add_worlds(model, &mut scene);
        // It is needed only where a material is missing.
        let mut parts = scene.meshes.iter().flat_map(|mesh| &mesh.parts);
        if parts.all(|part| part.material != plain) {
            scene.materials.pop();
        }
        scene
    }

    /// Adds each world as one mesh.
    fn add_worlds(&self, model: &Model, scene: &mut Scene<'_>) {
        let geometries = model.clumps.iter().flat_map(|clump| &clump.geometries);
        let mut first: usize = geometries.map(|geometry| geometry.materials.len()).sum();
        for (number, world) in model.worlds.iter().enumerate() {
            let mut mesh = world.mesh();
            prelight::adjust(&mut mesh.colors, world.flags as u16);
            let material = |number: u32| first + number as usize;
            let mut mesh = export::scene_mesh(&mesh, &Placement::IDENTITY, material);
            mesh.name = format!("world_{number}");
            scene.nodes.push(Node {
                name: mesh.name.clone(),
                parent: None,
                transform: Transform::IDENTITY,
                mesh: Some(scene.meshes.len()),
            });
            scene.meshes.push(mesh);
            first += world.materials.len();
        }
    }
}

fn first_materials(model: &Model) -> FirstMaterials {
    let mut next = 0;
    let mut firsts = HashMap::new();
    for (number, clump) in model.clumps.iter().enumerate() {
        for (index, geometry) in clump.geometries.iter().enumerate() {
            firsts.insert((number, index), next);
            next += geometry.materials.len();
        }
    }
    firsts
}

/// Returns the mesh of an atomic, transformed by `placement`. `first` is the number of
/// the geometry's first material, and `plain` of the plain material.
fn mesh_of(
    clump: &Clump,
    atomic: &Atomic,
    placement: &Placement,
    first: usize,
    plain: usize,
) -> Option<scene::Mesh> {
    let geometry = clump.geometry_of(atomic)?;
    let mut mesh = geometry.mesh()?;
    prelight::adjust(&mut mesh.colors, geometry.flags);
    let material = |entry| export::material_of(geometry, entry, first, plain);
    Some(export::scene_mesh(&mesh, placement, material))
}

/// Returns the joint weights of the points of an atomic; empty without a skin
/// for this number of bones and points.
fn weights_of(clump: &Clump, atomic: &Atomic, points: usize, bones: usize) -> Vec<Weights> {
    let geometry = clump.geometry_of(atomic);
    geometry.map_or_else(Vec::new, |geometry| {
        skeleton::weights_of(geometry, points, bones)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::model;
    use fixtures::clump as build;
    use hpimount_assets::model::gltf;

    /// Flag of lit geometry.
    const LIT: u8 = 0x20;

    /// Returns the vertex colors in the GLB of a model, each of four 16-bit
    /// numbers; `None` without the attribute.
    fn colors(model: Vec<u8>) -> Option<Vec<[u16; 4]>> {
        let model = model::parse(&model.into()).unwrap();
        let plan = ExportPlan::new(&model, |_| TextureState::Missing);
        let mut glb = Vec::new();
        gltf::write(&plan.scene(&model), &|_| None, &|_| Ok(None), &mut glb).unwrap();
        let length = u32::from_le_bytes(*glb[12..].first_chunk().unwrap()) as usize;
        let json: Value = serde_json::from_slice(&glb[20..20 + length]).unwrap();
        let attributes = &json["meshes"][0]["primitives"][0]["attributes"];
        let number = |value: &Value| value.as_u64().unwrap_or_default() as usize;
        let accessor = &json["accessors"][attributes.get("COLOR_0")?.as_u64()? as usize];
        let view = &json["bufferViews"][number(&accessor["bufferView"])];
        let start = 20 + length + 8 + number(&view["byteOffset"]) + number(&accessor["byteOffset"]);
        let colors = glb[start..].as_chunks::<8>().0.iter();
        let parts = |color: &[u8; 8]| {
            let parts = color.as_chunks::<2>().0;
            std::array::from_fn(|part| u16::from_le_bytes(parts[part]))
        };
        Some(colors.map(parts).take(number(&accessor["count"])).collect())
    }

    fn square(flags: u8, color: [u8; 4]) -> Vec<u8> {
        build::clump(
            &build::frames(&[("root", -1)]),
            &[build::prelit_square(flags, color)],
            &[build::atomic(0, 0)],
            &[],
        )
    }

    fn world(flags: u8, color: [u8; 4]) -> Vec<u8> {
        build::world(
            &build::sector(0, 0, 2, color),
            [1, 3, 0, 1],
            u32::from(flags),
        )
    }

    #[test]
    fn black_colors_are_black_in_the_glb_unless_the_lights_of_the_level_are_added() {
        let black = [0, 0, 0, 255];
        for built in [square, world] {
            assert_eq!(colors(built(LIT, black)), None);
            let shown = colors(built(0, black)).unwrap();
            assert!(shown.len() >= 3, "{shown:?}");
            assert!(shown.iter().all(|color| *color == [0, 0, 0, u16::MAX]));
            // The transparency of a lit model is kept.
            let clear = colors(built(LIT, [0, 0, 0, 0])).unwrap();
            let white = [u16::MAX, u16::MAX, u16::MAX, 0];
            assert!(clear.iter().all(|color| *color == white), "{clear:?}");
        }
    }
}
