//! View of a level's models: facts, tables, and the models.

use std::io::{self, Write};

use bytes::Bytes;
use get_size2::GetSize;

use super::ddx;
use super::export::{ExportPlan, Textures, name, texture_name};
use crate::ddm::{self, Ddm, Object};
use crate::psx;
use hpimount_assets::model::scene;
use hpimount_assets::model::{Picture, Scene, obj};
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::exported::{self, Exported};
use hpimount_assets::view::import::Editable;
use hpimount_assets::view::node::{self, Node};
use hpimount_assets::view::page::{Page, Rows};
use hpimount_assets::view::{AssetContext, Measures, Opened, Preview, ViewFormat};
use hpimount_containers::text::stem;

/// Models of THPS2X's levels.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: ddm::EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[
        ConvertedFile::named("png", "preview.png"),
        ConvertedFile::first("glb"),
    ])),
    preview: Some(Preview::new(4, &["preview.png"])),
    left_out: &[Editable::new(
        "model.glb",
        "is a model of the Xbox, whose geometry is not rebuilt",
    )],
    ..ViewFormat::new("DDM", open)
};

/// Maximum length of a file with textures or placements in bytes.
const MAX_NEIGHBOR: usize = 16 << 20;

/// File of the scene's materials.
const SCENE_MATERIALS: &str = "scene.mtl";

/// A file, and its export plan.
#[derive(GetSize)]
struct PlannedDdm {
    ddm: Ddm,
    plan: ExportPlan,
}

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Opened {
    let mut ddm = ddm::parse(bytes)?;
    let beside = |extension: &str| {
        let bytes = context.read_sibling(&format!("{}.{extension}", stem(context.name())))?;
        (bytes.len() <= MAX_NEIGHBOR).then_some(bytes)
    };
    let textures = Textures(beside("ddx").and_then(|bytes| ddx::parse(&bytes).ok()));
    let psx = beside("psx").and_then(|bytes| psx::parse(&bytes).ok());
    let mut plan = ExportPlan::new(&ddm, textures, psx.as_ref());
    ddm.warnings.append(std::mem::take(&mut plan.problems));
    let warnings = std::mem::take(&mut ddm.warnings);
    let model = PlannedDdm { ddm, plan };
    let mut page = Page::new(FORMAT.name, "DDM models of a level", warnings);
    page.fact("size", model.ddm.size)
        .fact("shown", model.plan.objects.len())
        .list("objects", |model: &PlannedDdm| {
            Box::new(model.ddm.objects.iter().enumerate().map(object))
        })
        .measures(|model| {
            let counts = sound(model).map(|(_, object)| object.vertex_count());
            counts.map(Measures::vertices).sum()
        })
        .table("objects.tsv", objects)
        .table("materials.tsv", materials);
    if model.plan.has_scene {
        page.file("scene.obj", scene_obj)
            .file(SCENE_MATERIALS, |model: &PlannedDdm, _, out| {
                exported::write_materials(model, "textures/", out)
            });
    }
    exported::add_files(&model, &mut page);
    Ok(page.show(model, None))
}

impl Exported for PlannedDdm {
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

    fn corners(&self) -> usize {
        self.plan.corners
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
        let notes = vec!["Materials of the objects.".into()];
        (self.plan.materials(&self.ddm), notes)
    }
}

fn scene_obj(
    model: &PlannedDdm,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let _memory = context.reserve_scene(model.corners())?;
    obj::write(&model.scene(), SCENE_MATERIALS, out)
}

fn object((index, object): (usize, &Result<Object, String>)) -> Node<'_> {
    let object = match object {
        Ok(object) => object,
        Err(problem) => {
            return node::map([("index", index.into()), ("error", problem.clone().into())]);
        }
    };
    let strips = object.splits.iter().map(|split| object.triangles(split));
    let (triangles, bad) = strips.fold((0, 0), |(triangles, bad), strip| {
        (triangles + strip.0.len(), bad + strip.1)
    });
    let contents = [
        (
            "materials",
            Node::each(&object.materials, |material| node::of(material)),
        ),
        (
            "splits",
            Node::each(&object.splits, |split| node::of(split)),
        ),
        ("triangles", triangles.into()),
        ("bad", bad.into()),
        ("unread", object.unread.into()),
    ];
    node::map(node::entries(&object.header).into_iter().chain(contents))
}

/// Returns the undamaged objects with their numbers.
fn sound(model: &PlannedDdm) -> impl Iterator<Item = (usize, &Object)> {
    let objects = model.ddm.objects.iter().enumerate();
    objects.filter_map(|(index, object)| Some((index, object.as_ref().ok()?)))
}

fn objects(model: &PlannedDdm) -> Rows<'_> {
    let headers = sound(model).map(|(index, object)| ([index.into()], &object.header));
    Rows::keyed(["number"], headers)
}

fn materials(model: &PlannedDdm) -> Rows<'_> {
    let materials = sound(model).flat_map(|(number, object)| {
        let materials = object.materials.iter().enumerate();
        materials.map(move |(index, material)| ([number.into(), index.into()], material))
    });
    Rows::keyed(["object", "index"], materials)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ddm::parse::tests::square;
    use hpimount_assets::view::{Alone, rendered_text};

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
            rendered_text(&FORMAT, &square(), "objects.tsv").unwrap(),
            "number\tindex\tchecksum\tspeed_u\tspeed_v\trate\tparam\tflags\tname\tcenter_x\tcenter_y\t\
             center_z\textent_x\textent_y\textent_z\tradius\tmaterial_count\tvertex_count\t\
             index_count\tsplit_count\n\
             0\t0\t0x6F0F6B9F\t0\t0\t0\t0\t0x00000000\tFloor\t0\t0\t0\t0\t0\t0\t0\t1\t4\t5\t1\n"
        );
        assert_eq!(
            rendered_text(&FORMAT, &square(), "materials.tsv").unwrap(),
            "object\tindex\tname\ttexture\torder\tcolor_r\tcolor_g\tcolor_b\tcolor_a\temissive\t\
             specular\tglossiness\tblend\n\
             0\t0\tm\tfloor.dds\t0\t255\t255\t255\t255\t0\t0\t0\t0\n"
        );
    }
}
