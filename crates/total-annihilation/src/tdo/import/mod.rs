//! Edited GLB and OBJ files as 3DO.
//!
//! Unedited pieces, faces and vertices keep their bytes. If only positions and colors
//! changed, they are patched in place; otherwise the tree is rewritten.

mod faces;
mod write;

use std::collections::{HashMap, HashSet};

use self::faces::{Faces, Surfaces, nearest};
use super::drawn::{Drawn, Script};
use super::textures::Textures;
use crate::pal::Palette;
use crate::pal::colors::Colors;
use crate::pointer::Name;
use crate::tdo::{self, MAX_OBJECTS, Model, ONE, Object};
use hpimount_assets::model::affine::{Affine, NEAR};
use hpimount_assets::model::pairing::{Pairing, deformed};
use hpimount_assets::model::scene::sound_parents;
use hpimount_assets::model::{gltf, obj};
use hpimount_assets::view::import::{Changed, Edit, Imported, NOT_THIS_FILE, Problems};

/// Largest coordinate, in pixels of a map.
const MOST: f32 = 32767.0;

/// Encodes an edited model.
pub(super) fn import(edit: &Edit<'_>) -> Result<Imported, String> {
    let reserve = |bytes| edit.context.reserve(bytes);
    let edited = match edit.part.name.as_str() {
        "model.glb" => gltf::read(edit.file, &reserve)?,
        "model.obj" => obj::read(edit.file, &reserve)?,
        _ => return Err(format!("{NOT_THIS_FILE}: edit model.glb or model.obj")),
    };
    let model = tdo::parse(edit.asset).map_err(|incomplete| incomplete.error.to_string())?;
    let colors = Colors::of_mount(edit.context);
    let script = Script::of(edit.context);
    let drawn = Drawn::new(&model, &colors.palette, &script, edit.context);
    let drawn = drawn.map_err(|error| error.to_string())?;
    let pairing = Pairing::new(&drawn.scene, &edited)?;
    let mut import = Import {
        model: &model,
        script: &script,
        surfaces: Surfaces::new(
            &model,
            &pairing,
            &colors.palette,
            Textures::new(edit.context),
        ),
        pairing: &pairing,
        problems: Problems::default(),
        warnings: Vec::new(),
    };
    import.check_count();
    import.check_materials(&colors.palette);
    let objects = match import.problems.is_empty() {
        true => import.objects(),
        false => Vec::new(),
    };
    let Import {
        problems,
        mut warnings,
        surfaces,
        ..
    } = import;
    problems.check()?;
    if objects == model.objects {
        return Ok(Imported::Unchanged);
    }
    warnings.extend(surfaces.warnings());
    let asset = write::changed(edit.asset, &model, &objects)?;
    Ok(Imported::Changed(Changed {
        asset,
        warnings,
        ..Changed::default()
    }))
}

/// A piece of the new model.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Piece {
    /// One of the old model.
    Old(usize),
    /// A new one, by its edited node.
    New(usize),
}

struct Import<'a> {
    model: &'a Model,
    script: &'a Script,
    surfaces: Surfaces,
    pairing: &'a Pairing<'a>,
    problems: Problems,
    warnings: Vec<String>,
}

impl Import<'_> {
    /// Refuses more new pieces than a model can have.
    fn check_count(&mut self) {
        let count = self.pairing.new.len() + self.model.objects.len();
        if count > MAX_OBJECTS {
            self.problems.add(format!(
                "has {count} pieces, at most {MAX_OBJECTS} are possible"
            ));
        }
    }

    /// Refuses changed colors and textures of materials, which are determined by their
    /// names.
    fn check_materials(&mut self, palette: &Palette) {
        // OBJ files have the names only.
        if self.pairing.edited.is_flat {
            return;
        }
        for (shown, edited) in self.pairing.repainted() {
            let name = &shown.name;
            self.problems.add(match edited.texture {
                Some(_) => format!(
                    "material \"{name}\" has another texture, which is not stored: the name of \
                     a material is that of its texture"
                ),
                None => format!(
                    "material \"{name}\" has another color, which is not stored: call it \
                     \"color {:03}\"",
                    nearest(edited, palette)
                ),
            });
        }
    }

    /// Returns the objects of the new model, parents first.
    fn objects(&mut self) -> Vec<Object> {
        let old = (0..self.model.objects.len()).filter(|node| !self.pairing.deleted.contains(node));
        let new = self.pairing.new.iter().copied();
        let pieces: Vec<Piece> = old.map(Piece::Old).chain(new.map(Piece::New)).collect();
        let numbers = pieces.iter().enumerate();
        let numbers: HashMap<Piece, usize> =
            numbers.map(|(number, &piece)| (piece, number)).collect();
        self.check_deleted();
        let wanted = |number: usize| numbers.get(&self.parent(pieces[number])?).copied();
        let parents = sound_parents(pieces.len(), wanted);
        let mut children = vec![Vec::new(); pieces.len()];
        for (number, parent) in parents.iter().enumerate() {
            if let Some(parent) = parent {
                children[*parent].push(number);
            }
        }
        let roots = (0..pieces.len())
            .rev()
            .filter(|&number| parents[number].is_none());
        let mut pending: Vec<(usize, Option<usize>)> = roots.map(|root| (root, None)).collect();
        let mut objects: Vec<Object> = Vec::with_capacity(pieces.len());
        let mut names: HashSet<String> = self.model.names();
        while let Some((number, parent)) = pending.pop() {
            let above = parents[number].map(|above| pieces[above]);
            let object = self.object(pieces[number], above, &mut names);
            let depth = parent.map_or(0, |parent: usize| objects[parent].depth + 1);
            let index = objects.len();
            pending.extend(
                children[number]
                    .iter()
                    .rev()
                    .map(|&child| (child, Some(index))),
            );
            objects.push(Object {
                parent,
                depth,
                ..object
            });
        }
        objects
    }

    /// Refuses to delete roots, and warns about pieces that the script moves.
    fn check_deleted(&mut self) {
        for &node in &self.pairing.deleted {
            let name = self.model.objects[node].name.to_string();
            if self.model.objects[node].parent.is_none() {
                self.problems
                    .add(format!("node \"{name}\" is gone: it is the root"));
            } else if self.script.names.contains_key(&name.to_ascii_lowercase()) {
                let text = format!("piece \"{name}\" is gone, but the script of the model has it");
                self.warnings.push(text);
            }
        }
    }

    /// Returns the parent of a piece: the piece of the nearest node above it, or else
    /// its old parent.
    fn parent(&self, piece: Piece) -> Option<Piece> {
        let scene = &self.pairing.edited.scene;
        let edited = match piece {
            Piece::Old(node) => self.pairing.nodes[node].filter(|_| !self.pairing.edited.is_flat),
            Piece::New(node) => Some(node),
        };
        let above = |&node: &usize| scene.nodes[node].parent;
        let mut line = std::iter::successors(edited.and_then(|node| above(&node)), above);
        let found = line.find_map(|node| match self.pairing.origins[node] {
            Some(origin) => Some(Piece::Old(origin)),
            None => self.pairing.new.contains(&node).then_some(Piece::New(node)),
        });
        found
            .filter(|found| *found != piece)
            .or_else(|| match piece {
                Piece::New(_) => Some(Piece::Old(0)),
                Piece::Old(node) => {
                    let above = |&node: &usize| self.model.objects[node].parent;
                    let mut line = std::iter::successors(self.model.objects[node].parent, above);
                    line.find(|node| !self.pairing.deleted.contains(node))
                        .map(Piece::Old)
                }
            })
    }

    /// Returns the place of a piece in the scene.
    fn origin(&self, piece: Piece) -> [f32; 3] {
        match piece {
            Piece::Old(node) => self.pairing.origin(node),
            Piece::New(node) => self.pairing.world(node).origin(),
        }
    }

    /// Returns a piece with a parent.
    fn object(
        &mut self,
        piece: Piece,
        above: Option<Piece>,
        names: &mut HashSet<String>,
    ) -> Object {
        let origin = self.origin(piece);
        let parent = above.map_or([0.0; 3], |above| self.origin(above));
        let place: [f32; 3] = std::array::from_fn(|axis| origin[axis] - parent[axis]);
        let (mut object, name) = match piece {
            Piece::Old(node) => {
                let object = self.model.objects[node].clone();
                (object, self.pairing.shown.nodes[node].name.clone())
            }
            Piece::New(node) => {
                let name = self.pairing.edited.scene.nodes[node].name.clone();
                let object = Object {
                    name: Name::new(&self.new_name(&name, names)),
                    selection: -1,
                    ..Object::default()
                };
                (object, name)
            }
        };
        let shown = match piece {
            Piece::Old(node) => self.pairing.shown.nodes[node].transform.translation,
            Piece::New(_) => [f32::NAN; 3],
        };
        let near = NEAR * self.pairing.size;
        for axis in 0..3 {
            let is_same = (place[axis] - shown[axis]).abs() <= near;
            // If a piece has another parent, its shown position is meaningless.
            if !is_same || above != self.old_parent(piece) {
                let axes = [place[0], place[1], 0.0 - place[2]];
                let part = stored(axes[axis]);
                object.position[axis] = part.unwrap_or_else(|problem| {
                    self.problems.add(format!("node \"{name}\": {problem}"));
                    0
                });
            }
        }
        if let Err(problem) = self.set_faces(piece, origin, &name, &mut object) {
            self.problems.add(format!("node \"{name}\": {problem}"));
        }
        object
    }

    fn old_parent(&self, piece: Piece) -> Option<Piece> {
        match piece {
            Piece::Old(node) => self.model.objects[node].parent.map(Piece::Old),
            Piece::New(_) => None,
        }
    }

    /// Sets the faces and vertices of a piece at this place in the scene.
    fn set_faces(
        &mut self,
        piece: Piece,
        [x, y, z]: [f32; 3],
        name: &str,
        object: &mut Object,
    ) -> Result<(), String> {
        let to_piece = Affine::IDENTITY.at([-x, -y, -z]);
        let (shown, mesh) = match piece {
            Piece::Old(node) => {
                let map = to_piece.after(&self.pairing.mesh_world(node));
                let mesh = self.pairing.mesh_of(node, &map)?;
                let shown = self.pairing.shown.nodes[node].mesh;
                let shown = shown.and_then(|mesh| self.pairing.shown.meshes.get(mesh));
                // Programs lose meshes of lines and hidden meshes.
                let has_faces = shown.is_some_and(|shown| shown.triangles() > 0);
                let Some(mesh) = mesh.or_else(|| {
                    let is_here = self.pairing.nodes[node].is_some();
                    (has_faces && is_here).then(Default::default)
                }) else {
                    return Ok(());
                };
                (shown.cloned().unwrap_or_default(), mesh)
            }
            Piece::New(node) => {
                let map = to_piece.after(self.pairing.world(node));
                let mesh = self.pairing.mesh(node, &map)?;
                (Default::default(), mesh.unwrap_or_default())
            }
        };
        let world = match piece {
            Piece::Old(node) => self.pairing.mesh_world(node),
            Piece::New(node) => *self.pairing.world(node),
        };
        if !mesh.points.is_empty() {
            self.warnings.extend(deformed(name, &world));
        }
        let faces = Faces {
            shown: &shown,
            edited: &mesh,
            surfaces: &self.surfaces,
            size: self.pairing.size,
        };
        faces.put_into(object, name, &mut self.problems);
        Ok(())
    }

    /// Returns the name of a new piece, restricted to characters that scripts support.
    fn new_name(&mut self, node: &str, names: &mut HashSet<String>) -> String {
        let letter = |letter: char| match letter {
            'a'..='z' | 'A'..='Z' | '0'..='9' => letter,
            _ => '_',
        };
        let name: String = node.chars().take(MAX_NAME).map(letter).collect();
        let folded = name.to_ascii_lowercase();
        if name.is_empty() {
            self.problems
                .add("has a new node without a name".to_owned());
        } else if !names.insert(folded.clone()) {
            let text = format!("node \"{node}\": another piece is called {name}: rename it");
            self.problems.add(text);
        } else if !self.script.names.is_empty() && !self.script.names.contains_key(&folded) {
            let text = format!("piece \"{name}\" is not in the script of the model");
            self.warnings.push(text);
        }
        name
    }
}

/// Maximum length of a new piece's name.
const MAX_NAME: usize = 63;

/// Converts a coordinate to stored form, or fails with the reason.
fn stored(part: f32) -> Result<i32, String> {
    match part.abs() <= MOST {
        true => Ok((f64::from(part) * f64::from(ONE)).round() as i32),
        false => Err(format!("{part} is past {MOST}")),
    }
}

#[cfg(test)]
mod tests;
