//! View of a character: facts, tables, and each texture as its original file and as
//! PNG.

use bytes::Bytes;
use hpimount_record::Value;

use super::parse::MAGIC;
use crate::bon::{self, Body, Bon, Color, Material, Part, Split, Texture, TextureFile};
use hpimount_assets::model::padded;
use hpimount_assets::view::converted::{Conversion, Converted};
use hpimount_assets::view::import::Editable;
use hpimount_assets::view::node::{Node, known, map};
use hpimount_assets::view::page::{Page, Rows};
use hpimount_assets::view::{AssetContext, Measures, Opened, Preview, ViewFormat};
use hpimount_containers::text::stem;

/// Characters of the ports of THPS2.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: bon::EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[])),
    matches: Some(|bytes| bytes.starts_with(MAGIC) && bon::parse(bytes).is_ok()),
    preview: Some(Preview::new(6, &[])),
    left_out: &[Editable::new(
        "*.png",
        "is a picture of a BON, which is not encoded",
    )],
    ..ViewFormat::new("BON", open)
};

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    let mut bon = bon::parse(bytes)?;
    let warnings = std::mem::take(&mut bon.warnings);
    let mut page = Page::new(FORMAT.name, "BON character", warnings);
    page.fact("version", bon.version.number());
    if let Some(shared) = bon.shared {
        page.fact("vertices", shared.vertices)
            .fact("second_count", shared.second)
            .fact("indices", shared.indices);
    }
    page.fact("unread", bon.unread)
        .measures(measures)
        .list("materials", |bon: &Bon| {
            Box::new(bon.materials.iter().map(material))
        })
        .list("parts", |bon| Box::new(part_tree(&bon.parts).into_iter()))
        .table("materials.tsv", materials)
        .table("parts.tsv", parts);
    for (index, material) in bon.materials.iter().enumerate() {
        if let Some(texture) = &material.texture {
            let number = padded(index, bon.materials.len(), 2);
            add_texture(
                &mut page,
                index,
                texture,
                &format!("{number} {}", stem(&texture.name)),
            );
        }
    }
    Ok(page.show(bon, None))
}

fn measures(bon: &Bon) -> Measures {
    let parts = bon.parts.iter().map(|part| match part.body {
        Body::First { vertices, .. } => Measures::vertices(vertices),
        Body::Later { .. } => Measures::default(),
    });
    let textures = bon.materials.iter();
    let textures = textures.filter_map(|one| one.texture.as_ref()?.file.size());
    let textures = textures.map(|[width, height]| Measures::picture(width, height));
    let all: Measures = parts.chain(textures).sum();
    Measures {
        vertices: bon
            .shared
            .map_or(all.vertices, |shared| Some(shared.vertices.into())),
        ..all
    }
}

/// Adds the texture of the material with this number, as its original file and as PNG.
fn add_texture(page: &mut Page<Bon>, index: usize, texture: &Texture, name: &str) {
    if texture.file.is_shown() {
        page.picture(format!("{name}.png"), move |bon: &Bon| {
            bon.materials[index].texture.as_ref()?.file.picture()
        });
    }
    let extension = match &texture.file {
        TextureFile::Dds(_) => "dds",
        TextureFile::Pvr(_) => "pvr",
        TextureFile::Unknown(_) => return,
    };
    page.stored(format!("{name}.{extension}"), texture.bytes.clone());
}

fn material(material: &Material) -> Node<'_> {
    let color: Value = match material.color {
        Color::Floats(parts) => parts.into_iter().collect(),
        Color::Bytes(parts) => parts.into_iter().collect(),
    };
    let texture = material.texture.as_ref().map(|texture| {
        let size = texture
            .file
            .size()
            .map(|size| size.into_iter().collect::<Value>());
        map([
            ("name", texture.name.clone().into()),
            ("flag", texture.flag.into()),
            ("wrap", Node::numbers(&texture.wrap)),
            ("offset", texture.offset.into()),
            ("size", texture.bytes.len().into()),
            ("kind", kind(&texture.file).into()),
            ("pixels", size.into()),
        ])
    });
    known([
        ("name", material.name.clone().into()),
        ("color", color.into()),
        ("values", Node::numbers(&material.values)),
        ("flag", material.flag.into()),
        ("texture", texture.unwrap_or(Value::Null.into())),
    ])
}

/// Returns the type of a texture's file.
fn kind(file: &TextureFile) -> Option<&'static str> {
    match file {
        TextureFile::Dds(_) => Some("DDS"),
        TextureFile::Pvr(_) => Some("PVR"),
        TextureFile::Unknown(_) => None,
    }
}

/// Returns the parts with their children.
fn part_tree(parts: &[Part]) -> Vec<Node<'_>> {
    let mut children: Vec<Vec<Node<'_>>> = Vec::new();
    children.resize_with(parts.len(), Vec::new);
    let mut roots = Vec::new();
    // Parts come after their parents.
    for (index, part) in parts.iter().enumerate().rev() {
        let mut inside = std::mem::take(&mut children[index]);
        inside.reverse();
        let facts = part_facts(part, inside);
        match part.parent {
            Some(parent) => children[parent].push(facts),
            None => roots.push(facts),
        }
    }
    roots.reverse();
    roots
}

fn part_facts<'a>(part: &'a Part, children: Vec<Node<'a>>) -> Node<'a> {
    let mut facts = vec![
        ("type", part.kind.into()),
        ("name", part.name.clone().into()),
    ];
    match &part.body {
        Body::First {
            flags,
            matrices,
            unknown,
            vertices,
        } => facts.extend([
            ("flags", (*flags).into()),
            (
                "matrices",
                Node::each(matrices, |matrix| Node::numbers(matrix)),
            ),
            ("unknown", Node::numbers(unknown)),
            ("vertices", (*vertices).into()),
        ]),
        Body::Later {
            matrix,
            position,
            second_matrix,
            joint_splits,
        } => facts.extend([
            ("matrix", Node::numbers(matrix)),
            ("position", Node::numbers(position)),
            ("matrix2", Node::numbers(second_matrix)),
            ("joint_splits", Node::each(joint_splits, split)),
        ]),
    }
    facts.extend([
        ("children", Node::List(children)),
        ("splits", Node::each(&part.splits, split)),
    ]);
    map(facts)
}

/// Returns a strip: the material, since version 3 the first index, and the number of
/// indices.
fn split(split: &Split) -> Node<'_> {
    let numbers = [
        Some(split.material.into()),
        split.first.map(Value::from),
        Some(split.count.into()),
    ];
    numbers.into_iter().flatten().collect::<Value>().into()
}

fn materials(bon: &Bon) -> Rows<'_> {
    let columns = [
        "index", "name", "texture", "kind", "width", "height", "offset", "size",
    ];
    let rows = bon.materials.iter().enumerate().map(|(index, material)| {
        let texture = material.texture.as_ref();
        let size = texture.and_then(|texture| texture.file.size());
        [
            index.into(),
            material.name.clone().into(),
            texture.map(|texture| texture.name.clone()).into(),
            texture.and_then(|texture| kind(&texture.file)).into(),
            size.map(|[width, _]| width).into(),
            size.map(|[_, height]| height).into(),
            texture.map(|texture| texture.offset).into(),
            texture.map(|texture| texture.bytes.len()).into(),
        ]
    });
    Rows::new(columns, rows)
}

fn parts(bon: &Bon) -> Rows<'_> {
    let columns = [
        "index", "name", "type", "parent", "x", "y", "z", "vertices", "strips",
    ];
    let rows = bon.parts.iter().enumerate().map(|(index, part)| {
        let (position, vertices) = match part.body {
            Body::First { vertices, .. } => ([None; 3], Some(vertices)),
            Body::Later { position, .. } => (position.map(Some), None),
        };
        let [x, y, z] = position.map(Value::from);
        [
            index.into(),
            part.name.clone().into(),
            part.kind.into(),
            part.parent.into(),
            x,
            y,
            z,
            vertices.into(),
            part.splits.len().into(),
        ]
    });
    Rows::new(columns, rows)
}

#[cfg(test)]
mod tests {
    use super::super::parse::tests::{dreamcast, xbox};
    use super::*;
    use hpimount_assets::view::{Alone, rendered_text};
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
            rendered_text(&FORMAT, &xbox(), "materials.tsv").unwrap(),
            "index\tname\ttexture\tkind\twidth\theight\toffset\tsize\n\
             0\tShirt\tshirt\tDDS\t1\t1\t44\t132\n"
        );
    }

    #[test]
    fn parts_are_nested_and_in_a_table() {
        let facts: Value =
            serde_json::from_str(&rendered_text(&FORMAT, &xbox(), "info.json").unwrap()).unwrap();
        let head = &facts["parts"][0]["children"][0];
        assert_eq!(
            (&head["name"], &head["splits"]),
            (&"Head".into(), &json!([[0, 2, 3]]))
        );
        assert_eq!(
            rendered_text(&FORMAT, &xbox(), "parts.tsv").unwrap(),
            "index\tname\ttype\tparent\tx\ty\tz\tvertices\tstrips\n\
             0\tPelvis\t1\t\t9\t10\t11\t\t1\n\
             1\tHead\t1\t0\t9\t10\t11\t\t1\n"
        );
    }
}
