//! View of an HGO model: skeleton, layers, materials, textures.

pub mod blk;
mod info;
mod tables;

use bytes::Bytes;
use get_size2::GetSize;

use crate::hgo::export::{ExportPlan, layer_name, texture_name};
use crate::hgo::import::import;
use crate::hgo::{self, Hgo};
use hpimount_assets::model::scene::Material;
use hpimount_assets::model::{Picture, Scene};
use hpimount_assets::parse::so_far;
use hpimount_assets::view::cells;
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::exported::{self, Exported};
use hpimount_assets::view::import::Editable;
use hpimount_assets::view::page::Rows;
use hpimount_assets::view::{AssetContext, Opened, Preview, ViewFormat};
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
    preview: Some(Preview::new(3, &["preview.png"])),
    edits: &[
        Editable::TEXTURES,
        Editable::new(
            "info.json",
            "values of materials, texture animations, joints, points and sprites; bounds; origins and materials of meshes",
        ),
        Editable::new("materials.tsv", "values of materials"),
        Editable::new("joints.tsv", "flags, locator_offset and parent"),
        Editable::new("points.tsv", "joint, x, y and z"),
    ],
    import: Some(import),
    left_out: &[Editable::new(
        "model.glb",
        "is a model of an HGO, whose strips are not rebuilt",
    )],
    ..ViewFormat::new("HGO", open)
};

fn open(bytes: &Bytes, _siblings: &dyn AssetContext) -> Opened {
    let (mut hgo, error) = so_far(hgo::parse(bytes));
    let mut plan = ExportPlan::new(&hgo);
    let mut warnings = std::mem::take(&mut hgo.warnings);
    if error.is_none() {
        warnings.append(std::mem::take(&mut plan.problems));
    }
    let model = PlannedHgo { hgo, plan };
    let mut page = info::page(&model.hgo, warnings);
    page.table("joints.tsv", |model| tables::joints(&model.hgo))
        .cells(INDEX, |model, row, column, text| {
            let path = format!("joints[{row}]");
            cells::of_record(model.hgo.joints.get(row)?, path, column, text)
        })
        .table("layers.tsv", |model| tables::layers(&model.hgo))
        .table("materials.tsv", |model| Rows::of(&model.hgo.materials))
        .cells(INDEX, |model, row, column, text| {
            let path = format!("materials[{row}]");
            cells::of_record(model.hgo.materials.get(row)?, path, column, text)
        })
        .table("textures.tsv", |model| tables::textures(&model.hgo));
    if model.hgo.names.iter().next().is_some() {
        page.file("names.txt", |model, _, out| tables::names(&model.hgo, out));
    }
    page.table("points.tsv", |model| tables::points(&model.hgo))
        .cells(INDEX, |model, row, column, text| {
            tables::point_cell(model.hgo.points.get(row)?, row, column, text)
        })
        .table("blocks.tsv", |model| tables::blocks(&model.hgo));
    if error.is_none() {
        exported::add_files(&model, &mut page);
    }
    Ok(page.show(model, error))
}

/// The key of tables of records.
const INDEX: &[&[&str]] = &[&["index"]];

/// A model, and its export plan.
#[derive(GetSize)]
struct PlannedHgo {
    hgo: Hgo,
    plan: ExportPlan,
}

impl Exported for PlannedHgo {
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

    fn corners(&self) -> usize {
        self.plan.corners
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
    use crate::hgo::Geometry;
    use fixtures::hgo::Build;
    use fixtures::{edited_value, edited_values};
    use hpimount_assets::view::Alone;
    use hpimount_assets::view::edit::{Edit, Problem, What};
    use hpimount_containers::io::Endian;
    use hpimount_record::Value;

    fn mouse() -> Vec<u8> {
        Build::new(Endian::Big).mouse()
    }

    fn rendered(bytes: &[u8], name: &str) -> String {
        hpimount_assets::view::rendered_text(&FORMAT, bytes, name).unwrap()
    }

    #[test]
    fn the_joints_table_has_the_rest_pose() {
        assert_eq!(
            rendered(&mouse(), "joints.tsv"),
            "index\tflags\tlocator_offset_x\tlocator_offset_y\tlocator_offset_z\tparent\tname\t\
             parent_name\tx\ty\tz\n\
             0\t1\t0\t0\t0\t\troot\t\t0\t0\t0\n\
             1\t1\t0\t0\t0\t0\thead\troot\t0\t1\t0.5\n"
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
        assert!(cells.contains(&("attributes_alpha", "0")));
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
             0\t129\tRGB5A3\t4\t4\t\t84\t32\t0\n"
        );
        assert_eq!(rendered(&bytes, "names.txt"), "root\nhead\nHIGH\nhat\n");
        assert_eq!(
            rendered(&bytes, "points.tsv"),
            "index\tjoint\tname\tjoint_name\tx\ty\tz\n0\t1\that\thead\t0\t0.25\t0\n"
        );
        let blocks = rendered(&bytes, "blocks.tsv");
        assert!(
            blocks.contains("\n1\t1\tNTBL\t8\t32\t31\tname table\n"),
            "{blocks}"
        );
        assert_eq!(blocks.lines().count(), 8);
    }

    #[test]
    fn offsets_of_names_and_lists_of_another_length_are_refused() {
        let bytes = mouse();
        let reason = |path, value| edited_value(&FORMAT, &bytes, path, value).unwrap_err();
        let layout = "follows from the layout of the file, or decides it";
        assert_eq!(reason("joints[1].name", "\"hat\""), layout);
        assert_eq!(reason("joints[1].local", "[1]"), "has 1 numbers, needs 16");
        assert_eq!(
            reason("joints[1].translation", "[0, 0, 0]"),
            "joints[1].translation[1]: cannot be edited"
        );
        assert_eq!(
            reason("materials[0].attributes", r#"{"cull": 9}"#),
            "cull: \"9\" is not at most 3"
        );
        assert_eq!(
            reason("materials[0].diffuse", r#"[0, "red", 0]"#),
            "materials[0].diffuse[1]: \"red\" is not a number that fits into 32 bits"
        );
    }

    #[test]
    fn a_mesh_gets_another_material_and_origin_in_both_byte_orders() {
        for endian in [Endian::Big, Endian::Little] {
            let bytes = Build::new(endian).mouse();
            let geometry = "layers[0].rigid.1[0]";
            let edit = |path: &str, value: &str| {
                let path = format!("{geometry}.{path}");
                let edited = edited_value(&FORMAT, &bytes, &path, value).unwrap();
                hgo::parse(&edited.unwrap().into()).unwrap()
            };
            let of = |hgo: &Hgo| match &hgo.layers[0].parts[0].geometry[0] {
                Geometry::Meshes { origin, meshes, .. } => (*origin, meshes[0].material),
                Geometry::Sprites(_) => unreachable!("it has meshes"),
            };
            let (origin, material) = of(&hgo::parse(&bytes.clone().into()).unwrap());
            assert_eq!(of(&edit("meshes[0].material", "-1")), (origin, -1));
            let moved = edit("origin", &format!("[{}, 2.5, {}]", origin[0], origin[2]));
            assert_eq!(of(&moved), ([origin[0], 2.5, origin[2]], material));
        }
    }

    /// Returns the attributes of the first material after edits, given as places and
    /// JSON.
    fn attributes(edits: &[(&str, &str)]) -> Result<u32, Vec<Problem>> {
        let edits = edits.iter().map(|(place, value)| {
            let path = "materials[0].attributes".to_owned();
            let what = What::Value(path, Value::parse(value).unwrap());
            Edit::new((*place).to_owned(), what)
        });
        let edits: Vec<Edit> = edits.collect();
        let edited = edited_values(&FORMAT, &mouse().into(), &edits, &Alone)?;
        let hgo = hgo::parse(&edited.expect("it changes")).unwrap();
        Ok(hgo.materials[0].attributes.stored)
    }

    #[test]
    fn of_attributes_and_their_groups_the_changed_ones_win() {
        let shown = r#"{"value": "0x00000000", "alpha": 0, "cull": 1, "uvmode": 0}"#;
        assert_eq!(attributes(&[("info.json", shown)]), Ok(0x0010_0000));
        let whole = r#"{"value": "0x00100000", "alpha": 0, "cull": 0, "uvmode": 0}"#;
        assert_eq!(attributes(&[("info.json", whole)]), Ok(0x0010_0000));
    }

    #[test]
    fn groups_of_bits_are_edited_together_unless_they_disagree() {
        let shown = (
            "info.json",
            r#"{"value": "0x00000000", "cull": 1, "alpha": 0}"#,
        );
        let alpha = ("materials.tsv: line 2", r#"{"alpha": "2"}"#);
        assert_eq!(attributes(&[shown, alpha]), Ok(0x8010_0000));
        let other = ("materials.tsv: line 2", r#"{"cull": "2"}"#);
        let path = "materials[0].attributes";
        let problem = format!("{path}: disagrees with {path} in info.json");
        let problems = attributes(&[shown, other]).unwrap_err();
        assert_eq!(problems[0].text, problem);
        assert_eq!((problems[0].edit, problems.len()), (1, 1));
    }

    #[test]
    fn the_summary_describes_the_model() {
        assert_eq!(
            rendered(&mouse(), "info.txt"),
            "HGO model (Crash Bandicoot: The Wrath of Cortex; big-endian, as on GameCube)\n\
             \n\
             endian         big\n\
             file size      1440\n\
             declared size  1440\n\
             meshes         2\n\
             vertices       8\n\
             triangles      4\n\
             sprites        1\n\
             blend shapes   1\n\
             chunks         4\n\
             textures       1\n\
             materials      1\n\
             texture animations 0\n\
             joint index    2\n\
             poi index      1\n\
             joints         2: root, head\n\
             layers         1: HIGH\n\
             points of interest 1: hat\n\
             shadow         1\n\
             warnings       1\n  \
             every sprite of layer 0 is not shown: sprites face the camera, and there are 1\n"
        );
    }

    #[test]
    fn a_damaged_model_shows_what_was_read_before_the_damage() {
        let bytes = mouse();
        let cut = Bytes::copy_from_slice(&bytes[..bytes.len() - 50]);
        let view = open(&cut, &Alone).unwrap();
        let error = view.failure().unwrap().to_string();
        assert!(error.contains(" at 0x"), "{error}");
        let info: serde_json::Value = serde_json::from_str(&rendered(&cut, "info.json")).unwrap();
        assert_eq!(info["joints"][1]["name"], "head");
        assert_eq!(info["layers"][0]["blend_skin"][1]["type"], 1);
        assert!(info["bounds"].is_null());
    }
}
