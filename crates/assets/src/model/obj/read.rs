//! Reader of OBJ files: objects, faces, and names of materials.

use std::collections::HashMap;

use crate::model::Reserve;
use crate::model::edited::{Edited, MAX_FILE, MAX_MATERIALS, MAX_NODES};
use crate::model::math::{cross, subtract, unit};
use crate::model::scene::{Alpha, Corner, Material, Mesh, Node, Part};
use crate::model::{CORNER_BYTES, MAX_CORNERS, Transform};

/// Reads a model: a node for each object, with points in the space of the scene.
/// Ignores lines, points, colors and MTL files. `reserve` accounts for the memory of
/// the scene.
///
/// # Errors
/// Returns the defect and its line.
pub fn read(file: &[u8], reserve: Reserve<'_>) -> Result<Edited, String> {
    if file.len() > MAX_FILE {
        return Err(format!("has more than {MAX_FILE} bytes"));
    }
    let text = std::str::from_utf8(file).map_err(|_| "is no text in UTF-8".to_owned())?;
    // A corner of a face takes two characters, and more memory per character than
    // objects and materials. A position takes six characters, and their number is
    // unlimited.
    let corners = (file.len() / 2).min(MAX_CORNERS);
    let bytes = corners * CORNER_BYTES + 2 * file.len();
    let memory = reserve(bytes).map_err(|error| error.to_string())?;
    let mut reader = Reader::default();
    for (number, line) in (1..).zip(text.lines()) {
        reader
            .line(line)
            .map_err(|problem| format!("line {number}: {problem}"))?;
    }
    Ok(Edited {
        is_flat: true,
        memory,
        ..reader.edited
    })
}

#[derive(Default)]
struct Reader {
    edited: Edited,
    points: Vec<[f32; 3]>,
    uvs: Vec<[f32; 2]>,
    /// The numbers of materials by their names.
    materials: HashMap<String, usize>,
    material: Option<usize>,
    /// The points of the object, by their numbers in the file.
    own_points: HashMap<usize, u32>,
    /// The parts of the object, by their materials.
    parts: HashMap<usize, usize>,
    corners: usize,
}

impl Reader {
    fn line(&mut self, line: &str) -> Result<(), String> {
        // Names may have this sign.
        let values = line.split('#').next().unwrap_or_default();
        let mut words = values.split_whitespace();
        match words.next() {
            Some("v") => self.points.push(numbers(words)?),
            Some("vt") => {
                let [u, v] = numbers(words)?;
                self.uvs.push([u, 1.0 - v]);
            }
            Some("o") => self.object(rest(line))?,
            Some("g") => self.group(rest(line))?,
            Some("usemtl") => self.material = Some(self.material_of(rest(line))?),
            Some("f") => self.face(words)?,
            _ => {}
        }
        Ok(())
    }

    /// Begins an object, unless the current one already has the name of the group: its
    /// faces may be in several groups.
    fn group(&mut self, name: &str) -> Result<(), String> {
        let last = self.edited.scene.nodes.last();
        match last.is_some_and(|last| last.name == name) {
            true => Ok(()),
            false => self.object(name),
        }
    }

    fn object(&mut self, name: &str) -> Result<(), String> {
        let scene = &mut self.edited.scene;
        if scene.nodes.len() == MAX_NODES {
            return Err(format!("is one of more than {MAX_NODES} objects"));
        }
        scene.nodes.push(Node {
            name: name.to_owned(),
            parent: None,
            transform: Transform::IDENTITY,
            mesh: None,
        });
        self.own_points.clear();
        self.parts.clear();
        Ok(())
    }

    fn material_of(&mut self, name: &str) -> Result<usize, String> {
        let materials = &mut self.edited.scene.materials;
        let next = materials.len();
        let number = *self.materials.entry(name.to_owned()).or_insert(next);
        if number == MAX_MATERIALS {
            return Err(format!("is one of more than {MAX_MATERIALS} materials"));
        }
        if number == next {
            materials.push(Material {
                name: name.to_owned(),
                color: [1.0; 4],
                texture: None,
                alpha: Alpha::Opaque,
                double_sided: true,
                unlit: false,
            });
        }
        Ok(number)
    }

    fn face<'a>(&mut self, words: impl Iterator<Item = &'a str>) -> Result<(), String> {
        let corners: Vec<_> = words
            .map(|word| self.corner(word))
            .collect::<Result<_, _>>()?;
        if corners.len() < 3 {
            return Err("a face needs three corners".to_owned());
        }
        self.corners += corners.len();
        if self.corners > MAX_CORNERS {
            return Err(format!("is one of more than {MAX_CORNERS} corners"));
        }
        let material = self.material.unwrap_or(usize::MAX);
        if self.edited.scene.nodes.is_empty() {
            self.object("")?;
        }
        let scene = &mut self.edited.scene;
        let (Some(node), meshes) = (scene.nodes.last_mut(), &mut scene.meshes) else {
            return Ok(());
        };
        let number = *node.mesh.get_or_insert(meshes.len());
        if number == meshes.len() {
            meshes.push(Mesh {
                name: node.name.clone(),
                ..Mesh::default()
            });
            self.edited.uncolored.insert(number);
        }
        let mesh = &mut meshes[number];
        let [a, b, c] = [0, 1, 2].map(|corner: usize| self.points[corners[corner].0]);
        let normal = unit(cross(subtract(b, a), subtract(c, a))).unwrap_or([0.0, 1.0, 0.0]);
        let first = mesh.corners.len() as u32;
        for (point, uv) in corners {
            let next = mesh.points.len() as u32;
            let own = *self.own_points.entry(point).or_insert(next);
            if own == next {
                mesh.points.push(self.points[point]);
            }
            mesh.corners.push(Corner {
                point: own,
                normal,
                uv,
                color: [u8::MAX; 4],
            });
        }
        let next = mesh.parts.len();
        let part = *self.parts.entry(material).or_insert(next);
        if part == next {
            mesh.parts.push(Part {
                material,
                ..Part::default()
            });
        }
        mesh.parts[part].add_polygon(first..mesh.corners.len() as u32);
        Ok(())
    }

    /// Returns the point and the texture coordinates of a corner.
    fn corner(&self, word: &str) -> Result<(usize, [f32; 2]), String> {
        let mut parts = word.split('/');
        let point = index(parts.next().unwrap_or_default(), self.points.len());
        let point = point.ok_or_else(|| format!("{word} has no position"))?;
        let uv = match parts.next().unwrap_or_default() {
            "" => [0.0; 2],
            number => {
                let uv = index(number, self.uvs.len()).map(|uv| self.uvs[uv]);
                uv.ok_or_else(|| format!("{word} has no texture coordinates"))?
            }
        };
        Ok((point, uv))
    }
}

/// Converts a number that counts from 1, or backwards from -1, to an index below
/// `count`.
fn index(number: &str, count: usize) -> Option<usize> {
    let number: i64 = number.parse().ok()?;
    let index = match number {
        1.. => number - 1,
        _ => count as i64 + number,
    };
    usize::try_from(index)
        .ok()
        .filter(|&index| number != 0 && index < count)
}

/// Returns the rest of a line after its first word.
fn rest(line: &str) -> &str {
    let line = line.trim();
    line.split_once(char::is_whitespace)
        .map_or("", |(_, rest)| rest.trim())
}

/// Returns the first numbers of a line.
fn numbers<'a, const N: usize>(
    mut words: impl Iterator<Item = &'a str>,
) -> Result<[f32; N], String> {
    let mut numbers = [0.0; N];
    for number in &mut numbers {
        let word = words.next().ok_or_else(|| format!("needs {N} numbers"))?;
        let value: Option<f32> = word.parse().ok();
        let value = value.filter(|value| value.is_finite());
        *number = value.ok_or_else(|| format!("{word} is no number"))?;
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Edited, String> {
        super::read(text.as_bytes(), &|_| Ok(None))
    }

    #[test]
    fn objects_have_their_points_and_polygons() {
        let text = "o a b\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 1\nvt 1 0 # last\n\
            usemtl red brick\nf 1/1 2/2 3/1 4\nl 1 2\no c\nf -3 -2 -1\n";
        let edited = read(text).unwrap();
        let scene = &edited.scene;
        let names: Vec<_> = scene.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["a b", "c"]);
        assert_eq!(scene.materials[0].name, "red brick");
        let mesh = &scene.meshes[0];
        assert_eq!(
            (mesh.points.len(), mesh.parts[0].polygons.as_slice()),
            (4, &[2][..])
        );
        assert_eq!(mesh.corners[0].uv, [0.0, 0.0]);
        assert_eq!(mesh.corners[1].uv, [1.0, 1.0]);
        assert_eq!(scene.meshes[1].points[0], [1.0, 0.0, 0.0]);
    }

    #[test]
    fn each_object_is_a_node_and_groups_are_parts_of_it() {
        let text = "o gun#1\nv 0 0 0\nv 1 0 0\nv 1 1 0\nusemtl red#2\nf 1 2 3 # all\n\
            g gun#1\nf 1 2 3\no gun#1\nf 1 2 3\ng other\nf 1 2 3\n";
        let scene = read(text).unwrap().scene;
        let names: Vec<_> = scene.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["gun#1", "gun#1", "other"]);
        assert_eq!(scene.materials[0].name, "red#2");
        let triangles: Vec<_> = scene.meshes.iter().map(|mesh| mesh.triangles()).collect();
        assert_eq!(triangles, [2, 1, 1]);
    }

    #[test]
    fn objects_and_materials_are_bounded() {
        let lines = |word: &str| {
            (0..=1 << 16)
                .map(|n| format!("{word} {n}\n"))
                .collect::<String>()
        };
        let error = |text: String| read(&text).err().unwrap();
        assert_eq!(
            error(lines("o")),
            "line 65537: is one of more than 65536 objects"
        );
        assert_eq!(
            error(lines("usemtl")),
            "line 65537: is one of more than 65536 materials"
        );
    }

    #[test]
    fn what_is_not_there_is_an_error_with_its_line() {
        let error = |text| read(text).err().unwrap();
        assert_eq!(error("v 0 0 0\nf 1 1 2"), "line 2: 2 has no position");
        assert_eq!(error("v 0 0 x"), "line 1: x is no number");
        assert_eq!(error("v 0 0"), "line 1: needs 3 numbers");
        assert_eq!(
            error("v 0 0 0\nf 1 1"),
            "line 2: a face needs three corners"
        );
        assert_eq!(
            error("v 0 0 0\nf 1/1 1/1 1/1"),
            "line 2: 1/1 has no texture coordinates"
        );
    }
}
