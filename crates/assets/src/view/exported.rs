//! Files for a model that is exported as a whole: its scene, its pictures, and each of
//! its parts, according to an export plan of the format.

use std::io::{self, Write};

use get_size2::GetSize;

use super::ViewFile;
use super::page::Page;
use crate::model::scene::Material;
use crate::model::{Picture, Reserve, Scene, gltf, obj, padded, preview};

/// File of the parts' materials.
const MATERIALS: &str = "materials.mtl";

/// A model with its export plan. Pictures and parts are numbered; some may not be
/// shown.
pub trait Exported: 'static {
    /// Returns the visible pictures: their numbers, and the names of their files
    /// without extension.
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

    /// Returns the visible parts: numbers and names.
    fn parts(&self) -> impl Iterator<Item = (usize, String)>;

    /// Returns the scene of the part with this number.
    fn part(&self, number: usize) -> Scene<'_>;

    /// Returns the materials of all parts, and notes about them.
    fn materials(&self) -> (Vec<Material>, Vec<String>);
}

/// Writes a scene with its pictures.
type WriteScene = fn(&Scene<'_>, gltf::Pictures<'_>, Reserve<'_>, &mut dyn Write) -> io::Result<()>;

/// Adds the files that show the model: `model.glb` and `preview.png` if it has
/// a scene, its pictures in `textures`, and its parts in `models`.
pub fn add_files<E: Exported + GetSize + Send + Sync>(exported: &E, page: &mut Page<E>) {
    let scenes: [(&str, WriteScene); 2] =
        [("model.glb", gltf::write), ("preview.png", preview::write)];
    for (name, write) in scenes.into_iter().filter(|_| exported.has_scene()) {
        page.file(name, move |exported: &E, context, out| {
            let pictures = |number| exported.picture(number);
            let reserve = |bytes| context.reserve(bytes);
            let _memory = context.reserve_scene(exported.corners())?;
            write(&exported.scene(), &pictures, &reserve, out)
        });
    }
    for (number, name) in exported.pictures() {
        let file = ViewFile::inside("textures", format!("{name}.png"));
        page.picture(file, move |exported: &E| exported.picture(number));
    }
    let mut has_parts = false;
    for (number, name) in exported.parts() {
        let position = padded(number, exported.part_count(), 2);
        let file = ViewFile::inside("models", format!("{position} {name}.obj"));
        page.file(file, move |exported: &E, context, out| {
            let _memory = context.reserve_scene(exported.corners())?;
            obj::write(&exported.part(number), MATERIALS, out)
        });
        has_parts = true;
    }
    if has_parts {
        page.file(ViewFile::inside("models", MATERIALS), |exported, _, out| {
            write_materials(exported, "../textures/", out)
        });
    }
}

/// Writes the materials for an OBJ file. `textures` is the relative path of the folder
/// of the pictures.
pub fn write_materials<E: Exported>(
    exported: &E,
    textures: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (materials, notes) = exported.materials();
    obj::write_materials(&materials, &notes, textures, out)
}
