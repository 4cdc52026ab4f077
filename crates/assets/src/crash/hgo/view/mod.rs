//! View of an HGO model: skeleton, layers, materials, textures.

pub mod blk;
mod info;
mod tables;

use bytes::Bytes;
use get_size2::GetSize;

use crate::crash::hgo::export::{ExportPlan, layer_name, texture_name};
use crate::crash::hgo::{self, Hgo};
use crate::model::scene::Material;
use crate::model::{Picture, Scene};
use crate::view::converted::{Conversion, Converted, ConvertedFile};
use crate::view::exported::{self, Exported};
use crate::view::listed::{Listed, ListedView, whole_files};
use crate::view::{AssetContext, Failure, Preview, View, ViewFormat};
use hpimount_containers::file_type::{FileType, Magic};

/// HGO models.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: hgo::EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[
        ConvertedFile::named("png", "preview.png"),
        ConvertedFile::first("glb"),
    ])),
    matches: Some(|bytes| hgo::parse(bytes).is_ok()),
    types: &[FileType {
        magic: &[Magic::at(0, b"FOGH"), Magic::at(0, b"HGOF")],
        patterns: &["*.hgo"],
        is_opened: true,
        ..FileType::new("model/x-crash-hgo", Some("Crash Bandicoot model"))
    }],
    preview: Some(Preview {
        files: &["preview.png"],
        rank: 3,
    }),
    ..ViewFormat::new("HGO", open)
};

fn open(bytes: &Bytes, _siblings: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    match hgo::parse(bytes) {
        Ok(mut hgo) => {
            let mut plan = ExportPlan::new(&hgo);
            hgo.warnings.append(std::mem::take(&mut plan.problems));
            let model = Shown { hgo, plan };
            Ok(Box::new(ListedView {
                files: files(&model),
                model,
            }))
        }
        Err(incomplete) => Err(Box::new(Failure {
            partial: info::partial(&incomplete.model),
            error: incomplete.error,
        })),
    }
}

/// A model, and its export plan.
#[derive(GetSize)]
struct Shown {
    hgo: Hgo,
    plan: ExportPlan,
}

/// Returns the files, in order.
fn files(shown: &Shown) -> Vec<Listed<Shown>> {
    let mut files: Vec<Listed<Shown>> = whole_files(&[
        ("info.json", |shown, out| info::json(&shown.hgo, out)),
        ("info.txt", |shown, out| info::text(&shown.hgo, out)),
        ("joints.tsv", |shown, out| tables::joints(&shown.hgo, out)),
        ("layers.tsv", |shown, out| tables::layers(&shown.hgo, out)),
        ("materials.tsv", |shown, out| {
            tables::materials(&shown.hgo, out)
        }),
        ("textures.tsv", |shown, out| {
            tables::textures(&shown.hgo, out)
        }),
    ]);
    if shown.hgo.names.iter().next().is_some() {
        files.push(Listed::whole("names.txt", |shown, out| {
            tables::names(&shown.hgo, out)
        }));
    }
    files.extend(whole_files(&[
        ("points.tsv", |shown: &Shown, out| {
            tables::points(&shown.hgo, out)
        }),
        ("blocks.tsv", |shown, out| tables::blocks(&shown.hgo, out)),
    ]));
    exported::add_files(shown, &mut files);
    files
}

impl Exported for Shown {
    fn pictures(&self) -> impl Iterator<Item = (usize, String)> {
        let numbers = self.plan.textures.iter();
        numbers.map(|&number| (number, texture_name(&self.hgo, number)))
    }

    fn picture(&self, number: usize) -> Option<Picture> {
        self.plan.picture(&self.hgo, number)
    }

    fn has_scene(&self) -> bool {
        self.plan.has_scene
    }

    fn scene(&self) -> Scene<'_> {
        self.plan.scene(&self.hgo)
    }

    fn part_count(&self) -> usize {
        self.hgo.layers.len()
    }

    fn parts(&self) -> impl Iterator<Item = (usize, String)> {
        let numbers = self.plan.layers.iter();
        numbers.map(|&number| (number, layer_name(&self.hgo, number)))
    }

    fn part(&self, number: usize) -> Scene<'_> {
        self.plan.layer(&self.hgo, number)
    }

    fn materials(&self) -> (Vec<Material>, Vec<String>) {
        (self.plan.materials(&self.hgo), self.plan.notes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crash::hgo::parse::build::Build;
    use crate::view::Alone;
    use hpimount_containers::io::Endian;

    fn mouse() -> Vec<u8> {
        Build::new(Endian::Big).mouse()
    }

    fn rendered(bytes: &[u8], name: &str) -> String {
        crate::view::rendered(open, bytes, name)
    }

    #[test]
    fn the_joints_table_has_the_rest_pose() {
        assert_eq!(
            rendered(&mouse(), "joints.tsv"),
            "index\tname\tparent\tparent_name\tflags\tx\ty\tz\tlocator_x\tlocator_y\tlocator_z\n\
             0\troot\t\t\t1\t0\t0\t0\t0\t0\t0\n\
             1\thead\t0\troot\t1\t0\t1\t0.5\t0\t0\t0\n"
        );
    }

    #[test]
    fn the_layers_table_has_a_row_for_every_part() {
        assert_eq!(
            rendered(&mouse(), "layers.tsv"),
            "name\tslot\tjoint\tmeshes\tvertices\ttriangles\tskinned\tblend_shapes\n\
             HIGH\trigid\t1\t1\t4\t2\tfalse\t0\n\
             HIGH\tblend_skin\t\t1\t4\t2\tfalse\t1\n"
        );
    }

    #[test]
    fn the_materials_table_has_all_fields() {
        let table = rendered(&mouse(), "materials.tsv");
        let mut lines = table.lines().map(|line| line.split('\t'));
        let cells: Vec<_> = lines.next().unwrap().zip(lines.next().unwrap()).collect();
        assert_eq!(cells.len(), 40);
        assert!(cells.contains(&("diffuse_g", "0.5")));
        assert!(cells.contains(&("attr_alpha", "0")));
        assert!(cells.contains(&("alpha", "1")));
        assert!(cells.contains(&("attributes", "0x00000000")));
        assert!(lines.next().is_none());
    }

    #[test]
    fn the_other_tables_have_a_row_for_every_item() {
        let bytes = mouse();
        assert_eq!(
            rendered(&bytes, "textures.tsv"),
            "index\ttype\tformat\twidth\theight\tmipmaps\toffset\tdata_size\tpalette_size\n\
             0\t0x81\tRGB5A3\t4\t4\t\t84\t32\t0\n"
        );
        assert_eq!(rendered(&bytes, "names.txt"), "root\nhead\nHIGH\nhat\n");
        assert_eq!(
            rendered(&bytes, "points.tsv"),
            "index\tname\tjoint\tjoint_name\tx\ty\tz\n0\that\t1\thead\t0\t0.25\t0\n"
        );
        let blocks = rendered(&bytes, "blocks.tsv");
        assert!(
            blocks.contains("\n1\t1\tNTBL\t8\t32\t31\tname table\n"),
            "{blocks}"
        );
        assert_eq!(blocks.lines().count(), 8);
    }

    #[test]
    fn the_summary_describes_the_model() {
        assert_eq!(
            rendered(&mouse(), "info.txt"),
            "HGO model (Crash Bandicoot: The Wrath of Cortex; big-endian, as on GameCube)\n\
             \n\
             file size      1440 bytes\n\
             joints         2\n\
             layers         1: HIGH\n\
             meshes         2\n\
             vertices       8\n\
             triangles      4\n\
             sprites        1\n\
             blend shapes   1\n\
             materials      1\n\
             textures       1: RGB5A3 4x4\n\
             animated       0\n\
             points         1: hat\n\
             bounds         (3, 4, 5) to (6, 7, 8), radius 1\n\
             warnings       1\n  \
             every sprite of layer 0 is not shown: sprites face the camera, and there are 1\n"
        );
    }

    #[test]
    fn a_damaged_model_shows_what_was_read_before_the_damage() {
        let bytes = mouse();
        let failure = open(&Bytes::copy_from_slice(&bytes[..bytes.len() - 50]), &Alone)
            .err()
            .unwrap();
        assert_eq!(failure.partial["joints"][1]["name"], "head");
        assert_eq!(failure.partial["layers"][0]["blend_skin"][1]["type"], 1);
        assert!(failure.partial["bounds"].is_null());
    }

    #[test]
    fn a_number_without_a_file_renders_to_nothing() {
        let mut text = Vec::new();
        let view = open(&mouse().into(), &Alone).unwrap();
        view.render(usize::MAX, &Alone, &mut text).unwrap();
        assert!(text.is_empty());
    }
}
