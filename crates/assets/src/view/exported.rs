//! The files that show a model that is exported whole: its scene, its pictures,
//! and each of its parts, from an export plan of the format.

use std::io::{self, Write};

use super::AssetContext;
use super::listed::{Listed, Render};
use crate::model::scene::Material;
use crate::model::{Picture, Scene, gltf, obj, padded, png, preview};

/// Folder of the pictures.
const TEXTURES: &str = "textures";

/// Folder of the parts.
const MODELS: &str = "models";

/// File of the parts' materials.
const MATERIALS: &str = "materials.mtl";

/// A model with its export plan. Pictures and parts have numbers, of which some
/// may not be shown.
pub trait Exported: 'static {
    /// Returns the pictures that are shown: their numbers, and the names of
    /// their files without extension.
    fn pictures(&self) -> impl Iterator<Item = (usize, String)>;

    /// Returns the picture with this number; `None` if it cannot be decoded.
    fn picture(&self, number: usize) -> Option<Picture>;

    /// Returns whether there is a scene of the whole model.
    fn has_scene(&self) -> bool;

    /// Returns the largest number of face corners of a scene.
    fn corners(&self) -> usize;

    /// Returns the scene of the whole model.
    fn scene(&self) -> Scene<'_>;

    /// Returns the number of all parts, shown or not.
    fn part_count(&self) -> usize;

    /// Returns the parts that are shown: their numbers and names.
    fn parts(&self) -> impl Iterator<Item = (usize, String)>;

    /// Returns the scene of the part with this number.
    fn part(&self, number: usize) -> Scene<'_>;

    /// Returns the materials of all parts, and notes about them.
    fn materials(&self) -> (Vec<Material>, Vec<String>);
}

/// Adds the files that show the model: `model.glb` and `preview.png` if it has
/// a scene, its pictures in `textures`, and its parts in `models`.
pub fn add_files<E: Exported>(exported: &E, files: &mut Vec<Listed<E>>) {
    if exported.has_scene() {
        let render = Render::InContext(glb, 0);
        files.push(Listed::new(None, "model.glb".to_owned(), render));
        let render = Render::InContext(drawn, 0);
        files.push(Listed::new(None, "preview.png".to_owned(), render));
    }
    for (number, name) in exported.pictures() {
        let render = Render::Part(picture, number);
        files.push(Listed::new(Some(TEXTURES), format!("{name}.png"), render));
    }
    let mut has_parts = false;
    for (number, name) in exported.parts() {
        let position = padded(number, exported.part_count(), 2);
        let render = Render::InContext(part, number);
        let name = format!("{position} {name}.obj");
        files.push(Listed::new(Some(MODELS), name, render));
        has_parts = true;
    }
    if has_parts {
        let render = Render::Whole(part_materials);
        files.push(Listed::new(Some(MODELS), MATERIALS.to_owned(), render));
    }
}

/// Writes the materials for an OBJ file; `textures` is the path of the folder
/// of the pictures from its own.
pub fn write_materials<E: Exported>(
    exported: &E,
    textures: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (materials, notes) = exported.materials();
    obj::write_materials(&materials, &notes, textures, out)
}

fn glb<E: Exported>(
    exported: &E,
    _part: usize,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let pictures = |number| exported.picture(number);
    let reserve = |bytes| context.reserve(bytes);
    let _memory = context.reserve_scene(exported.corners())?;
    gltf::write(&exported.scene(), &pictures, &reserve, out)
}

fn drawn<E: Exported>(
    exported: &E,
    _part: usize,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let pictures = |number| exported.picture(number);
    let reserve = |bytes| context.reserve(bytes);
    let _memory = context.reserve_scene(exported.corners())?;
    preview::write(&exported.scene(), &pictures, &reserve, out)
}

fn picture<E: Exported>(exported: &E, number: usize, out: &mut dyn Write) -> io::Result<()> {
    match exported.picture(number) {
        Some(picture) => png::write(&picture, out),
        None => Ok(()),
    }
}

fn part<E: Exported>(
    exported: &E,
    number: usize,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let _memory = context.reserve_scene(exported.corners())?;
    obj::write(&exported.part(number), MATERIALS, out)
}

fn part_materials<E: Exported>(exported: &E, out: &mut dyn Write) -> io::Result<()> {
    write_materials(exported, "../textures/", out)
}
