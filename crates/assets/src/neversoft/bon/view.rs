//! View of a character: facts, tables, and each texture as it is stored and as
//! PNG.

use std::io::{self, Write};

use bytes::Bytes;
use serde::{Serialize, Serializer};

use super::parse::MAGIC;
use crate::model::{padded, png};
use crate::neversoft::bon::{self, Body, Bon, Color, Material, Split, Texture, TextureFile};
use crate::neversoft::view::{failure, stem};
use crate::view::converted::{Conversion, Converted};
use crate::view::json::Seq;
use crate::view::listed::{Listed, ListedView, Render, whole_files};
use crate::view::{AssetContext, Failure, Preview, Summary, Table, View, ViewFormat, json};

/// Characters of the ports of THPS2.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: bon::EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[])),
    matches: Some(|bytes| bytes.starts_with(MAGIC) && bon::parse(bytes).is_ok()),
    preview: Some(Preview {
        files: &[],
        rank: 6,
    }),
    ..ViewFormat::new("BON", open)
};

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let model = bon::parse(bytes).map_err(|error| failure(&FORMAT, bytes, error))?;
    let mut files = whole_files(&[
        ("info.json", info as _),
        ("info.txt", page),
        ("materials.tsv", materials),
        ("parts.tsv", parts),
    ]);
    for (index, material) in model.materials.iter().enumerate() {
        let Some(texture) = &material.texture else {
            continue;
        };
        let number = padded(index, model.materials.len(), 2);
        let name = format!("{number} {}", stem(&texture.name));
        if texture.file.is_shown() {
            let render = Render::Part(picture, index);
            files.push(Listed::new(None, format!("{name}.png"), render));
        }
        let extension = match &texture.file {
            TextureFile::Dds(_) => "dds",
            TextureFile::Pvr(_) => "pvr",
            TextureFile::Unknown(_) => continue,
        };
        let render = Render::Part(stored, index);
        let file = Listed::new(None, format!("{name}.{extension}"), render);
        files.push(file.sized(texture.bytes.len() as u64));
    }
    Ok(Box::new(ListedView { model, files }))
}

fn info(bon: &Bon, out: &mut dyn Write) -> io::Result<()> {
    #[derive(Serialize)]
    struct Facts<'a> {
        format: &'static str,
        version: u32,
        materials: Seq<'a, MaterialFacts<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        vertices: Option<u32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        second_count: Option<u32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        indices: Option<u32>,
        parts: Vec<PartFacts<'a>>,
        unread: usize,
        warnings: Vec<String>,
    }
    let facts = Facts {
        format: FORMAT.name,
        version: bon.version.number(),
        materials: Seq::new(|| bon.materials.iter().map(MaterialFacts::new)),
        vertices: bon.shared.map(|shared| shared.vertices),
        second_count: bon.shared.map(|shared| shared.second),
        indices: bon.shared.map(|shared| shared.indices),
        parts: part_facts(bon),
        unread: bon.unread,
        warnings: bon.warnings.texts(),
    };
    json::write_pretty(&facts, out)
}

#[derive(Serialize)]
struct MaterialFacts<'a> {
    name: &'a str,
    color: ColorFacts,
    values: &'a [f32],
    #[serde(skip_serializing_if = "Option::is_none")]
    flag: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    texture: Option<TextureFacts<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ColorFacts {
    Floats([f32; 4]),
    Bytes([u8; 4]),
}

#[derive(Serialize)]
struct TextureFacts<'a> {
    name: &'a str,
    flag: u8,
    wrap: [u8; 2],
    offset: u64,
    size: usize,
    kind: Option<&'static str>,
    pixels: Option<[u32; 2]>,
}

impl<'a> MaterialFacts<'a> {
    fn new(material: &'a Material) -> Self {
        Self {
            name: &material.name,
            color: match material.color {
                Color::Floats(parts) => ColorFacts::Floats(parts),
                Color::Bytes(parts) => ColorFacts::Bytes(parts),
            },
            values: &material.values,
            flag: material.flag,
            texture: material.texture.as_ref().map(|texture| TextureFacts {
                name: &texture.name,
                flag: texture.flag,
                wrap: texture.wrap,
                offset: texture.offset,
                size: texture.bytes.len(),
                kind: kind(&texture.file),
                pixels: texture.file.size(),
            }),
        }
    }
}

/// Returns the kind of the file of a texture.
fn kind(file: &TextureFile) -> Option<&'static str> {
    match file {
        TextureFile::Dds(_) => Some("DDS"),
        TextureFile::Pvr(_) => Some("PVR"),
        TextureFile::Unknown(_) => None,
    }
}

/// A part, and those that belong to it.
#[derive(Serialize)]
struct PartFacts<'a> {
    #[serde(rename = "type")]
    kind: u8,
    name: &'a str,
    #[serde(flatten)]
    body: BodyFacts<'a>,
    children: Vec<PartFacts<'a>>,
    splits: Splits<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum BodyFacts<'a> {
    First {
        flags: u8,
        matrices: &'a [[f32; 11]],
        unknown: [f32; 6],
        vertices: u32,
    },
    Later {
        matrix: [f32; 9],
        position: [f32; 3],
        matrix2: [f32; 9],
        joint_splits: Splits<'a>,
    },
}

/// Strips as lists of numbers: the material, from version 3 on the first index,
/// and the number of indices.
struct Splits<'a>(&'a [Split]);

impl Serialize for Splits<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Numbers<'a>(&'a Split);
        impl Serialize for Numbers<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let Split {
                    material,
                    first,
                    count,
                } = *self.0;
                match first {
                    Some(first) => (material, first, count).serialize(serializer),
                    None => (material, count).serialize(serializer),
                }
            }
        }
        serializer.collect_seq(self.0.iter().map(Numbers))
    }
}

/// Returns the parts as a tree.
fn part_facts(bon: &Bon) -> Vec<PartFacts<'_>> {
    let mut children: Vec<Vec<PartFacts<'_>>> = Vec::new();
    children.resize_with(bon.parts.len(), Vec::new);
    let mut roots = Vec::new();
    // Parts come after their parents.
    for (index, part) in bon.parts.iter().enumerate().rev() {
        let mut inside = std::mem::take(&mut children[index]);
        inside.reverse();
        let facts = PartFacts {
            kind: part.kind,
            name: &part.name,
            body: match &part.body {
                Body::First {
                    flags,
                    matrices,
                    unknown,
                    vertices,
                } => BodyFacts::First {
                    flags: *flags,
                    matrices,
                    unknown: *unknown,
                    vertices: *vertices,
                },
                Body::Later {
                    matrix,
                    position,
                    second_matrix,
                    joint_splits,
                } => BodyFacts::Later {
                    matrix: *matrix,
                    position: *position,
                    matrix2: *second_matrix,
                    joint_splits: Splits(joint_splits),
                },
            },
            children: inside,
            splits: Splits(&part.splits),
        };
        match part.parent {
            Some(parent) => children[parent].push(facts),
            None => roots.push(facts),
        }
    }
    roots.reverse();
    roots
}

fn page(bon: &Bon, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Summary::new("BON character");
    page.line("version", bon.version.number());
    page.list("materials", bon.materials.iter().map(|one| &one.name));
    page.list("parts", bon.parts.iter().map(|part| &part.name));
    page.write(&bon.warnings, out)
}

fn materials(bon: &Bon, out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        "index", "name", "texture", "kind", "width", "height", "offset", "size",
    ];
    let mut table = Table::new(out, &columns)?;
    for (index, material) in bon.materials.iter().enumerate() {
        let texture = material.texture.as_ref();
        let size = texture.and_then(|texture| texture.file.size());
        table
            .cell(index)
            .text(&material.name)
            .optional_text(texture.map(|texture| texture.name.as_str()))
            .optional_text(texture.and_then(|texture| kind(&texture.file)))
            .optional(size.map(|[width, _]| width))
            .optional(size.map(|[_, height]| height))
            .optional(texture.map(|texture| texture.offset))
            .optional(texture.map(|texture| texture.bytes.len()))
            .end_row()?;
    }
    Ok(())
}

fn parts(bon: &Bon, out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        "index", "name", "type", "parent", "x", "y", "z", "vertices", "strips",
    ];
    let mut table = Table::new(out, &columns)?;
    for (index, part) in bon.parts.iter().enumerate() {
        let (position, vertices) = match part.body {
            Body::First { vertices, .. } => (None, Some(vertices)),
            Body::Later { position, .. } => (Some(position), None),
        };
        table.cell(index).text(&part.name).cell(part.kind);
        table.optional(part.parent);
        for axis in 0..3 {
            match position {
                Some(position) => table.float(position[axis]),
                None => table.optional_text(None),
            };
        }
        table.optional(vertices).cell(part.splits.len()).end_row()?;
    }
    Ok(())
}

fn texture(bon: &Bon, index: usize) -> Option<&Texture> {
    bon.materials.get(index)?.texture.as_ref()
}

fn picture(bon: &Bon, index: usize, out: &mut dyn Write) -> io::Result<()> {
    match texture(bon, index).and_then(|texture| texture.file.picture()) {
        Some(picture) => png::write(&picture, out),
        None => Ok(()),
    }
}

fn stored(bon: &Bon, index: usize, out: &mut dyn Write) -> io::Result<()> {
    match texture(bon, index) {
        Some(texture) => out.write_all(&texture.bytes),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::tests::{dreamcast, xbox};
    use super::*;
    use crate::view::{Alone, rendered};
    use serde_json::{Value, json};

    fn names(bytes: Vec<u8>) -> Vec<String> {
        let view = open(&bytes.into(), &Alone).unwrap();
        let files = view.files().into_iter().skip(4);
        files.map(|file| file.name).collect()
    }

    #[test]
    fn each_texture_is_a_picture_and_a_file() {
        assert_eq!(names(xbox()), ["00 shirt.png", "00 shirt.dds"]);
        assert_eq!(names(dreamcast()), ["00 shirt.png", "00 shirt.pvr"]);
        assert_eq!(
            rendered(open, &xbox(), "materials.tsv"),
            "index\tname\ttexture\tkind\twidth\theight\toffset\tsize\n\
             0\tShirt\tshirt\tDDS\t1\t1\t44\t132\n"
        );
    }

    #[test]
    fn parts_are_nested_and_in_a_table() {
        let facts: Value = serde_json::from_str(&rendered(open, &xbox(), "info.json")).unwrap();
        let head = &facts["parts"][0]["children"][0];
        assert_eq!(
            (&head["name"], &head["splits"]),
            (&"Head".into(), &json!([[0, 2, 3]]))
        );
        assert_eq!(
            rendered(open, &xbox(), "parts.tsv"),
            "index\tname\ttype\tparent\tx\ty\tz\tvertices\tstrips\n\
             0\tPelvis\t1\t\t9\t10\t11\t\t1\n\
             1\tHead\t1\t0\t9\t10\t11\t\t1\n"
        );
    }
}
