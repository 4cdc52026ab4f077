//! View of the models of a level: facts, tables, and the models.

use std::io::{self, Write};

use bytes::Bytes;
use get_size2::GetSize;
use serde_json::{Value, json};

use super::ddx;
use super::export::{ExportPlan, Textures, name, texture_name};
use crate::model::scene;
use crate::model::{Picture, Scene, obj};
use crate::neversoft::ddm::{self, Ddm, Material, Object};
use crate::neversoft::psx;
use crate::view::converted::{Conversion, Converted, ConvertedFile};
use crate::view::damaged::failure;
use crate::view::exported::{self, Exported};
use crate::view::json::Seq;
use crate::view::listed::{Listed, ListedView, whole_files};
use crate::view::{AssetContext, Failure, Preview, Summary, Table, View, ViewFormat, json};

/// Models of THPS2X's levels.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: ddm::EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[
        ConvertedFile::named("png", "preview.png"),
        ConvertedFile::first("glb"),
    ])),
    preview: Some(Preview {
        files: &["preview.png"],
        rank: 4,
    }),
    ..ViewFormat::new("DDM", open)
};

/// Maximum length of a file with textures or places, in bytes.
const MAX_NEIGHBOR: usize = 16 << 20;

/// File of the scene's materials.
const SCENE_MATERIALS: &str = "scene.mtl";

/// A file, and its export plan.
#[derive(GetSize)]
struct Shown {
    ddm: Ddm,
    plan: ExportPlan,
}

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let mut ddm = ddm::parse(bytes).map_err(|error| failure(&FORMAT, bytes, error))?;
    let stem = context.name().rsplit_once('.').map(|(stem, _)| stem);
    let beside = |extension: &str| {
        let bytes = context.read_sibling(&format!("{}.{extension}", stem?))?;
        (bytes.len() <= MAX_NEIGHBOR).then_some(bytes)
    };
    let textures = Textures(beside("ddx").and_then(|bytes| ddx::parse(&bytes).ok()));
    let psx = beside("psx").and_then(|bytes| psx::parse(&bytes).ok());
    let mut plan = ExportPlan::new(&ddm, textures, psx.as_ref());
    ddm.warnings.append(std::mem::take(&mut plan.problems));
    let model = Shown { ddm, plan };
    let mut files = whole_files(&[
        ("info.json", info as _),
        ("info.txt", page),
        ("objects.tsv", objects),
        ("materials.tsv", materials),
    ]);
    if model.plan.has_scene {
        files.push(Listed::whole("scene.obj", scene_obj));
        files.push(Listed::whole(SCENE_MATERIALS, scene_materials));
    }
    exported::add_files(&model, &mut files);
    Ok(Box::new(ListedView { model, files }))
}

impl Exported for Shown {
    fn pictures(&self) -> impl Iterator<Item = (usize, String)> {
        let textures = self.plan.textures.shown();
        textures.map(|(number, stem)| (number, texture_name(number, stem)))
    }

    fn picture(&self, number: usize) -> Option<Picture> {
        self.plan.textures.picture(number)
    }

    fn has_scene(&self) -> bool {
        self.plan.has_scene
    }

    fn scene(&self) -> Scene<'_> {
        self.plan.scene(&self.ddm, &self.plan.objects, true)
    }

    fn part_count(&self) -> usize {
        self.ddm.objects.len()
    }

    fn parts(&self) -> impl Iterator<Item = (usize, String)> {
        let objects = self.plan.objects.iter();
        objects.filter_map(|&index| {
            let object = self.ddm.objects.get(index)?.as_ref().ok()?;
            Some((index, name(object, index)))
        })
    }

    fn part(&self, number: usize) -> Scene<'_> {
        self.plan.scene(&self.ddm, &[number], false)
    }

    fn materials(&self) -> (Vec<scene::Material>, Vec<String>) {
        let scene = self.scene();
        (scene.materials, vec!["Materials of the objects.".into()])
    }
}

fn scene_obj(shown: &Shown, out: &mut dyn Write) -> io::Result<()> {
    obj::write(&shown.scene(), SCENE_MATERIALS, out)
}

fn scene_materials(shown: &Shown, out: &mut dyn Write) -> io::Result<()> {
    exported::write_materials(shown, "textures/", out)
}

fn info(shown: &Shown, out: &mut dyn Write) -> io::Result<()> {
    #[derive(serde::Serialize)]
    struct Facts<'a> {
        format: &'static str,
        size: u32,
        objects: Seq<'a, Value>,
        warnings: Vec<String>,
    }
    let ddm = &shown.ddm;
    let facts = Facts {
        format: FORMAT.name,
        size: ddm.size,
        objects: Seq::new(|| {
            let objects = ddm.objects.iter().enumerate();
            objects.map(|(index, object)| match object {
                Ok(object) => object_facts(object),
                Err(problem) => json!({ "index": index, "error": problem }),
            })
        }),
        warnings: ddm.warnings.texts(),
    };
    json::write_pretty(&facts, out)
}

fn object_facts(object: &Object) -> Value {
    let strips: Vec<_> = object
        .splits
        .iter()
        .map(|split| object.triangles(split))
        .collect();
    json!({
        "index": object.index,
        "checksum": format!("0x{:08X}", object.checksum),
        "name": object.name,
        "speed": object.speed,
        "rate": object.rate,
        "param": object.param,
        "flags": object.flags,
        "center": object.center,
        "extent": object.extent,
        "radius": object.radius,
        "materials": object.materials.iter().map(material_facts).collect::<Vec<_>>(),
        "vertices": object.vertex_count(),
        "indices": object.index_count(),
        "splits": object
            .splits
            .iter()
            .map(|split| [split.material, split.first, split.count])
            .collect::<Vec<_>>(),
        "triangles": strips.iter().map(|(triangles, _)| triangles.len()).sum::<usize>(),
        "bad": strips.iter().map(|(_, bad)| bad).sum::<usize>(),
        "unread": object.unread,
    })
}

fn material_facts(material: &Material) -> Value {
    let [emissive, specular, glossiness] = material.light;
    json!({
        "name": material.name,
        "texture": material.texture,
        "order": material.order,
        "color": material.color,
        "emissive": emissive,
        "specular": specular,
        "glossiness": glossiness,
        "blend": material.blend,
    })
}

fn page(shown: &Shown, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Summary::new("DDM models of a level");
    page.line("objects", shown.ddm.objects.len());
    page.line("shown", shown.plan.objects.len());
    page.list(
        "textures",
        shown
            .pictures()
            .collect::<Vec<_>>()
            .iter()
            .map(|(_, name)| name),
    );
    page.write(&shown.ddm.warnings, out)
}

fn objects(shown: &Shown, out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        "index",
        "name",
        "hash",
        "flags",
        "materials",
        "vertices",
        "triangles",
        "radius",
    ];
    let mut table = Table::new(out, &columns)?;
    for (index, object) in shown.ddm.objects.iter().enumerate() {
        let Ok(object) = object else { continue };
        let strips = object
            .splits
            .iter()
            .map(|split| object.triangles(split).0.len());
        table
            .cell(index)
            .text(&object.name)
            .cell(format_args!("{:08x}", object.checksum))
            .cell(format_args!("{:#x}", object.flags))
            .cell(object.materials.len())
            .cell(object.vertex_count())
            .cell(strips.sum::<usize>())
            .float(object.radius)
            .end_row()?;
    }
    Ok(())
}

fn materials(shown: &Shown, out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        "object", "index", "name", "texture", "order", "color", "blend",
    ];
    let mut table = Table::new(out, &columns)?;
    for (number, object) in shown.ddm.objects.iter().enumerate() {
        let Ok(object) = object else { continue };
        for (index, material) in object.materials.iter().enumerate() {
            let [red, green, blue, alpha] = material.color;
            table
                .cell(number)
                .cell(index)
                .text(&material.name)
                .text(&material.texture)
                .cell(material.order)
                .cell(format_args!("{red} {green} {blue} {alpha}"))
                .cell(material.blend)
                .end_row()?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neversoft::ddm::parse::tests::square;
    use crate::view::{Alone, rendered};

    #[test]
    fn objects_are_tables_and_models() {
        let view = open(&square().into(), &Alone).unwrap();
        let names: Vec<_> = view
            .files()
            .into_iter()
            .skip(4)
            .map(|file| file.name)
            .collect();
        let expected = [
            "scene.obj",
            "scene.mtl",
            "model.glb",
            "preview.png",
            "00 Floor.obj",
            "materials.mtl",
        ];
        assert_eq!(names, expected);
        assert_eq!(
            rendered(open, &square(), "objects.tsv"),
            "index\tname\thash\tflags\tmaterials\tvertices\ttriangles\tradius\n\
             0\tFloor\t6f0f6b9f\t0x0\t1\t4\t2\t0\n"
        );
        assert_eq!(
            rendered(open, &square(), "materials.tsv"),
            "object\tindex\tname\ttexture\torder\tcolor\tblend\n\
             0\t0\tm\tfloor.dds\t0\t255 255 255 255\t0\n"
        );
    }
}
