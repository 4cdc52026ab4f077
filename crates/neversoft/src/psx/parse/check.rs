//! Consistency of the parts of a file: warnings, and stitching.

use super::{Face, Model, Psx, VertexRef};
use hpimount_containers::io::Warnings;

/// Warns about references to missing things.
pub(super) fn references(psx: &Psx, warnings: &mut Warnings) {
    objects(psx, warnings);
    let sources = psx.stitch_sources().len();
    for (index, model) in psx.models.iter().enumerate() {
        let mut warn = |text| warnings.push(format!("model {index}: {text}"));
        model_faces(psx, model, &mut warn);
        let stitched = model.vertices.iter().filter_map(|v| v.stitched_to());
        let loose = stitched.filter(|&source| source >= sources).count();
        if loose > 0 {
            warn(format!("{loose} vertices are stitched to none"));
        }
        let sprites = model.vertices.iter().filter(|v| v.is_sprite_corner());
        let loose = sprites.filter(|vertex| model.sprite_corner(vertex).is_none());
        let loose = loose.count();
        if loose > 0 {
            warn(format!("{loose} corners of sprites have no axis"));
        }
        if let Some(next) = model.lod.and_then(|lod| lod.next_model())
            && next >= psx.models.len()
        {
            warn(format!("next LOD {next} out of range"));
        }
    }
    let next_lod = |index: usize| {
        let next = psx.models.get(index)?.lod?.next_model()?;
        (next != index).then_some(next)
    };
    for index in cycles(psx.models.len(), next_lod) {
        warnings.push(format!("model {index}: its next LODs form a cycle"));
    }
    textures(psx, warnings);
}

fn objects(psx: &Psx, warnings: &mut Warnings) {
    let is_by_number = psx.has_model_for_each_part();
    for (index, object) in psx.objects.iter().enumerate() {
        let model = object.model;
        if is_by_number && usize::from(model) != index {
            warnings.push(format!(
                "object {index}: is a part and shows the model of its own number, not {model}"
            ));
        } else if usize::from(model) >= psx.models.len() {
            warnings.push(format!("object {index}: model index {model} out of range"));
        }
    }
    let parents = psx.parents().unwrap_or_default();
    for (index, &parent) in parents.iter().enumerate() {
        if usize::from(parent) >= psx.objects.len() {
            warnings.push(format!("object {index}: parent {parent} out of range"));
        }
    }
    let parent_of = |index: usize| {
        let parent = usize::from(*parents.get(index)?);
        (parent != index).then_some(parent)
    };
    for index in cycles(parents.len(), parent_of) {
        warnings.push(format!("object {index}: its parents form a cycle"));
    }
}

fn model_faces(psx: &Psx, model: &Model, warn: &mut impl FnMut(String)) {
    let bad_index = |face: &&Face| {
        let corners = face.indices.iter().take(face.corners());
        let vertices = model.vertices.len();
        corners.clone().any(|&index| usize::from(index) >= vertices)
            || usize::from(face.normal) >= model.normals.len()
    };
    let bad = model.faces.iter().filter(bad_index).count();
    if bad > 0 {
        warn(format!("{bad} faces with bad indices"));
    }
    let colors = psx.gouraud_colors().unwrap_or_default().len();
    let bad_color = |face: &&Face| {
        let mut corners = face.color.iter().take(face.corners());
        face.is_gouraud() && corners.any(|&index| usize::from(index) >= colors)
    };
    let bad = model.faces.iter().filter(bad_color).count();
    if bad > 0 {
        warn(format!("{bad} gouraud faces with bad color indices"));
    }
    for texture in model.textures_used() {
        if texture as usize >= psx.texture_ids.len() {
            warn(format!("texture index {texture} out of range"));
        }
    }
}

fn textures(psx: &Psx, warnings: &mut Warnings) {
    for texture in &psx.textures {
        let (offset, index, palette) = (texture.offset, texture.index, texture.palette);
        if index as usize >= psx.texture_ids.len() {
            warnings.push(format!(
                "texture at {offset:#x}: index {index} out of range"
            ));
        }
        if texture.palette_found() == Some(false) {
            warnings.push(format!(
                "palette {palette:08x} of texture {offset:#x} not in this file"
            ));
        }
    }
}

impl Psx {
    /// Returns the sources of stitched vertices in file order, except for models that
    /// replace another one at a distance.
    pub fn stitch_sources(&self) -> Vec<VertexRef> {
        let mut replaces = vec![false; self.models.len()];
        for (index, model) in self.models.iter().enumerate() {
            if let Some(next) = model.lod.and_then(|lod| lod.next_model())
                && next != index
                && let Some(flag) = replaces.get_mut(next)
            {
                *flag = true;
            }
        }
        let full = self.models.iter().enumerate().zip(replaces);
        full.filter(|(_, replaces)| !replaces)
            .flat_map(|((model, part), _)| {
                let vertices = part.vertices.iter().enumerate();
                vertices
                    .filter(|(_, vertex)| vertex.is_stitch_source())
                    .map(move |(vertex, _)| VertexRef { model, vertex })
            })
            .collect()
    }
}

/// Returns one node of each cycle among `count` nodes with at most one link
/// each, in time proportional to `count`.
fn cycles(count: usize, next: impl Fn(usize) -> Option<usize>) -> Vec<usize> {
    let mut found = Vec::new();
    let mut walk_of = vec![None; count];
    for start in 0..count {
        let mut node = Some(start);
        while let Some(index) = node {
            match walk_of.get_mut(index) {
                Some(walk @ None) => *walk = Some(start),
                Some(Some(walk)) if *walk == start => {
                    found.push(index);
                    break;
                }
                _ => break,
            }
            node = next(index);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;
    use fixtures::psx::{File, HIER, face, model, object, shorts};

    fn warnings(file: &File) -> Vec<String> {
        parse(&file.bytes().into()).unwrap().warnings.texts()
    }

    fn with_models(models: &[Vec<u8>]) -> File {
        File {
            models: models.to_vec(),
            ..File::new(4)
        }
    }

    const NONE: (i16, i16) = (0x7FFF, -1);

    #[test]
    fn numbers_out_of_range_are_warnings() {
        let bad_vertex = face(0x10, [0, 1, 9, 0], [0; 4], &[]);
        let unused_corner = face(0x10, [0, 1, 2, 9], [0; 4], &[]);
        let gouraud = face(0x810, [0, 1, 2, 0], [0; 4], &[]);
        let textured = face(0x13, [0, 1, 2, 0], [0; 4], &[5, 0, 0, 0]);
        let faces = [bad_vertex, unused_corner, gouraud, textured];
        let vertices = [[0, 0, 0, 0], [0, 3, 0, 2], [0, -1, 0, 2]];
        let mut file = with_models(&[model((500, 7), &vertices, &faces)]);
        file.objects = vec![object(99, [0; 3]), object(0, [0; 3])];
        file.chunks = vec![(HIER, shorts(&[0, 40]))];
        assert_eq!(
            warnings(&file),
            [
                "object 0: model index 99 out of range",
                "object 1: parent 40 out of range",
                "model 0: 1 faces with bad indices",
                "model 0: 1 gouraud faces with bad color indices",
                "model 0: texture index 5 out of range",
                "model 0: 2 vertices are stitched to none",
                "model 0: next LOD 7 out of range",
            ]
        );
    }

    #[test]
    fn a_part_with_the_number_of_another_model_is_a_warning() {
        let part = model(NONE, &[[8, 0, 20, 16]], &[]);
        let mut file = with_models(&[part, model(NONE, &[], &[])]);
        file.objects = vec![object(1, [0; 3]), object(1, [0; 3])];
        let sprite = "model 0: 1 corners of sprites have no axis";
        assert_eq!(warnings(&file), [sprite]);
        file.chunks = vec![(HIER, shorts(&[0, 0]))];
        let expected = "object 0: is a part and shows the model of its own number, not 1";
        assert_eq!(warnings(&file), [expected, sprite]);
        let psx = parse(&file.bytes().into()).unwrap();
        assert_eq!(psx.shown_models().collect::<Vec<_>>(), [0, 1]);
    }

    #[test]
    fn cycles_of_parents_and_of_levels_of_detail_are_warnings() {
        let chain = |next| model((500, next), &[], &[]);
        let mut file = with_models(&[chain(1), chain(2), chain(1), chain(3)]);
        file.objects = (0..3).map(|part| object(part, [0; 3])).collect();
        file.chunks = vec![(HIER, shorts(&[1, 0, 2]))];
        assert_eq!(
            warnings(&file),
            [
                "object 0: its parents form a cycle",
                "model 1: its next LODs form a cycle",
            ]
        );
    }

    #[test]
    fn a_cycle_is_found_once_from_any_start() {
        let next = [Some(1), Some(2), Some(1), Some(0), None, Some(4), Some(9)];
        assert_eq!(cycles(next.len(), |node| *next.get(node)?), [1]);
        assert_eq!(cycles(2, |node| Some(1 - node)), [0]);
    }

    #[test]
    fn stitched_vertices_count_the_sources_of_full_models_only() {
        let sources = [[0, 0, 0, 1], [1, 1, 1, 0], [2, 2, 2, 1]];
        let coarse = model(NONE, &sources[..1], &[]);
        let full = model((500, 0), &sources, &[]);
        let stitched = model(NONE, &[[0, 1, 0, 2]], &[]);
        let psx = parse(&with_models(&[coarse, full, stitched]).bytes().into()).unwrap();
        let known = psx.stitch_sources();
        let reference = |vertex| VertexRef { model: 1, vertex };
        assert_eq!(known, [reference(0), reference(2)]);
        let source = psx.models[2].vertices[0].stitched_to().unwrap();
        assert_eq!(known[source], reference(2));
        assert!(psx.warnings.is_empty());
    }
}
