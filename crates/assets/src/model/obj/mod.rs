//! OBJ and MTL.

mod read;

pub use read::read;

use std::io::{self, Write};

use super::Scene;
use super::scene::{Alpha, Material, Mesh, Texture, Wrap};

/// Writes the transformed meshes of a scene in the rest pose. `library` is the
/// name of the MTL file with the scene's materials.
///
/// The position of a point is followed by the color of its first corner, an
/// extension that many programs read.
///
/// # Errors
/// Returns the errors of `out`.
pub fn write(scene: &Scene<'_>, library: &str, out: &mut dyn Write) -> io::Result<()> {
    comments(&scene.notes, out)?;
    writeln!(out, "mtllib {library}")?;
    let (mut points, mut corners) = (1, 1);
    for (index, node, mesh) in scene.shown() {
        writeln!(out, "o {}", token(&node.name))?;
        vertices(out, scene, index, mesh)?;
        faces(out, scene, mesh, points, corners)?;
        strokes(out, scene, mesh, points)?;
        points += mesh.points.len();
        corners += mesh.corners.len();
    }
    Ok(())
}

/// Writes the materials of a scene. `textures` is the path to the folder of
/// the textures' files.
///
/// # Errors
/// Returns the errors of `out`.
pub fn write_materials(
    materials: &[Material],
    notes: &[String],
    textures: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    comments(notes, out)?;
    for material in materials {
        let [r, g, b, alpha] = material.color;
        writeln!(out, "newmtl {}", token(&material.name))?;
        writeln!(out, "Ka 0 0 0\nKd {r} {g} {b}\nKs 0 0 0\nd {alpha}")?;
        writeln!(out, "illum {}", if material.unlit { 0 } else { 1 })?;
        if let Some(texture) = &material.texture {
            let file = format!("{}{textures}{}.png", options(texture), texture.file);
            writeln!(out, "map_Kd {file}")?;
            // Programs use `map_d` instead of `d`, not in addition to it.
            if material.alpha != Alpha::Opaque && alpha >= 1.0 {
                writeln!(out, "map_d {file}")?;
            }
        }
    }
    Ok(())
}

/// Returns the options of a texture. MTL can express only clamping in both
/// directions.
fn options(texture: &Texture) -> &'static str {
    if texture.wrap == [Wrap::Clamp; 2] {
        "-clamp on "
    } else {
        ""
    }
}

fn comments(notes: &[String], out: &mut dyn Write) -> io::Result<()> {
    notes.iter().try_for_each(|note| writeln!(out, "# {note}"))
}

/// Returns a name without characters that would end the name.
fn token(name: &str) -> String {
    let safe = |c: char| {
        if c.is_whitespace() || c.is_control() {
            '_'
        } else {
            c
        }
    };
    let token: String = name.chars().map(safe).collect();
    if token.is_empty() { "_".into() } else { token }
}

fn vertices(out: &mut dyn Write, scene: &Scene<'_>, node: usize, mesh: &Mesh) -> io::Result<()> {
    let mut colors = vec![[255_u8; 3]; mesh.points.len()];
    for corner in mesh.corners.iter().rev() {
        if let Some(color) = colors.get_mut(corner.point as usize) {
            *color = [corner.color[0], corner.color[1], corner.color[2]];
        }
    }
    for (&point, color) in mesh.points.iter().zip(colors) {
        let [x, y, z] = scene.point(node, point);
        let [r, g, b] = color.map(|part| f32::from(part) / 255.0);
        writeln!(out, "v {x} {y} {z} {r:.3} {g:.3} {b:.3}")?;
    }
    for corner in &mesh.corners {
        let [u, v] = corner.uv;
        writeln!(out, "vt {u} {}", 1.0 - v)?;
    }
    for corner in &mesh.corners {
        let [x, y, z] = scene.normal(node, corner.normal);
        writeln!(out, "vn {x:.4} {y:.4} {z:.4}")?;
    }
    Ok(())
}

fn faces(
    out: &mut dyn Write,
    scene: &Scene<'_>,
    mesh: &Mesh,
    points: usize,
    corners: usize,
) -> io::Result<()> {
    for part in &mesh.parts {
        if let Some(material) = scene.materials.get(part.material) {
            writeln!(out, "usemtl {}", token(&material.name))?;
        }
        part.try_for_each_face(|face| {
            out.write_all(b"f")?;
            for &corner in face {
                let point = mesh.corners.get(corner as usize).map_or(0, |c| c.point);
                let (v, vt) = (points + point as usize, corners + corner as usize);
                write!(out, " {v}/{vt}/{vt}")?;
            }
            out.write_all(b"\n")
        })?;
    }
    Ok(())
}

fn strokes(out: &mut dyn Write, scene: &Scene<'_>, mesh: &Mesh, points: usize) -> io::Result<()> {
    for stroke in &mesh.strokes {
        if let Some(material) = scene.materials.get(stroke.material) {
            writeln!(out, "usemtl {}", token(&material.name))?;
        }
        let element = if stroke.points.len() == 1 { "p" } else { "l" };
        out.write_all(element.as_bytes())?;
        for &point in &stroke.points {
            write!(out, " {}", points + point as usize)?;
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::model::Transform;
    use crate::model::scene::{Corner, Node, Part};

    /// Returns two triangles, one of each material, in a translated node.
    pub(crate) fn scene() -> Scene<'static> {
        let corner = |point: u32| Corner {
            point,
            normal: [0.0, 0.0, 1.0],
            uv: [0.25, 0.25],
            color: [255, 128, 0, 255],
        };
        let material = |name: &str, texture| Material {
            name: name.into(),
            color: [1.0, 0.5, 0.0, 1.0],
            texture,
            alpha: Alpha::Mask,
            double_sided: true,
            unlit: true,
        };
        let texture = Texture {
            picture: 0,
            file: "00 brick".into(),
            wrap: [Wrap::Clamp; 2],
            sharp: true,
        };
        Scene {
            notes: vec!["y is up.".into()],
            materials: vec![
                material("red brick", Some(texture)),
                material("plain", None),
            ],
            meshes: vec![Mesh {
                name: "roof".into(),
                points: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
                corners: (0..3).map(corner).collect(),
                parts: (0..2)
                    .map(|material| Part {
                        material,
                        triangles: vec![[0, 1, 2]],
                        ..Part::default()
                    })
                    .collect(),
                ..Mesh::default()
            }],
            nodes: vec![Node {
                name: "my house".into(),
                parent: None,
                transform: Transform::at([10.0, 0.0, 0.0]),
                mesh: Some(0),
            }],
            ..Scene::default()
        }
    }

    fn text(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
        let mut bytes = Vec::new();
        write(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn meshes_are_written_with_their_transformations() {
        let mut scene = scene();
        scene.nodes.push(Node {
            name: "second".into(),
            parent: Some(0),
            transform: Transform::at([0.0, 0.0, 5.0]),
            mesh: Some(0),
        });
        let text = text(|out| write(&scene, "house.mtl", out));
        assert!(text.starts_with("# y is up.\nmtllib house.mtl\no my_house\n"));
        assert!(text.contains("v 11 0 0 1.000 0.502 0.000\n"), "{text}");
        assert!(text.contains("v 11 0 5 "), "{text}");
        assert!(text.contains("vt 0.25 0.75\n"));
        assert!(text.contains("usemtl red_brick\nf 1/1/1 2/2/2 3/3/3\n"));
        assert!(text.contains("f 4/4/4 5/5/5 6/6/6\n"));
    }

    #[test]
    fn polygons_are_not_cut_into_triangles() {
        let mut scene = scene();
        let mut part = Part::default();
        part.add_polygon(0..4);
        part.add_polygon(4..7);
        part.triangles.push([1, 2, 3]);
        let corner = scene.meshes[0].corners[0];
        scene.meshes[0].corners = vec![corner; 7];
        scene.meshes[0].parts = vec![part];
        let text = text(|out| write(&scene, "house.mtl", out));
        let faces: Vec<_> = text.lines().filter(|line| line.starts_with('f')).collect();
        let expected = [
            "f 1/1/1 1/2/2 1/3/3 1/4/4",
            "f 1/5/5 1/6/6 1/7/7",
            "f 1/2/2 1/3/3 1/4/4",
        ];
        assert_eq!(faces, expected);
    }

    #[test]
    fn materials_refer_to_the_pictures() {
        let scene = scene();
        let text = text(|out| write_materials(&scene.materials, &scene.notes, "../textures/", out));
        assert!(text.contains("newmtl red_brick\n"));
        assert!(text.contains("Kd 1 0.5 0\n"));
        assert!(
            text.contains("map_Kd -clamp on ../textures/00 brick.png\n"),
            "{text}"
        );
        assert_eq!(text.matches("map_d").count(), 1);
        let mut half = scene.materials;
        half[0].color[3] = 0.5;
        half[0].alpha = Alpha::Blend;
        let text = super::tests::text(|out| write_materials(&half, &[], "", out));
        assert!(
            text.contains("d 0.5\n") && !text.contains("map_d"),
            "{text}"
        );
    }
}
