//! View of a PSX file: facts, a summary, tables, pictures, models and
//! animations.

mod facts;

use std::io;

use bytes::Bytes;
use get_size2::GetSize;

use crate::psh::{self, Psh};
use crate::psx::export::{Colors, ExportPlan, model_name};
use crate::psx::import::import;
use crate::psx::{self, Psx, neighbors};
use hpimount_assets::model::scene::Material;
use hpimount_assets::model::{Picture, Scene, bvh, obj, padded};
use hpimount_assets::parse::Incomplete;
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::exported::{self, Exported};
use hpimount_assets::view::import::Editable;
use hpimount_assets::view::page::Page;
use hpimount_assets::view::{AssetContext, Opened, Preview, ViewFile, ViewFormat};
use hpimount_containers::file_type::{FileType, Magic};

/// PSX models, levels and texture banks.
///
/// PlayStation programs and pictures have the same extension, so the content decides.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: psx::EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[
        ConvertedFile::named("png", "preview.png"),
        ConvertedFile::first("glb"),
    ])),
    matches: Some(|bytes| psx::parse(bytes).is_ok()),
    types: &[FileType {
        magic: &[
            Magic::at(0, &[3, 0, 2, 0]),
            Magic::at(0, &[4, 0, 2, 0]),
            Magic::at(0, &[6, 0, 2, 0]),
        ],
        priority: 50,
        patterns: &["*.psx"],
        is_opened: true,
        ..FileType::new("model/x-neversoft-psx", Some("Neversoft model or level"))
    }],
    preview: Some(Preview::new(4, &["preview.png"])),
    edits: &[
        Editable::TEXTURES,
        Editable::new(
            "info.json",
            "values of objects, sprites, moving textures, pulsing colors, destructible items and \
             the edges of the collision grid",
        ),
        Editable::new("objects.tsv", "model, x, y, z, angles and flags"),
    ],
    import: Some(import),
    left_out: &[Editable::new(
        "model.glb",
        "is a model of a PSX, whose geometry is not rebuilt",
    )],
    ..ViewFormat::new("PSX", open)
};

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Opened {
    let (mut psx, error) = match psx::parse(bytes).map_err(|incomplete| *incomplete) {
        Ok(psx) => (psx, None),
        Err(Incomplete { error, model }) => match model {
            Some(psx) => (psx, Some(error)),
            None => return Err(error),
        },
    };
    let mut warnings = std::mem::take(&mut psx.warnings);
    if error.is_some() {
        let plan = ExportPlan::new(&psx, Vec::new());
        let page = facts::page(&psx, false, warnings);
        return Ok(page.show(PsxView { psx, plan }, error));
    }
    let neighbors = neighbors::needed(&psx, context.name(), context);
    let mut plan = ExportPlan::new(&psx, neighbors);
    plan.name_parts(part_names(&psx, context).into_iter());
    warnings.append(std::mem::take(&mut plan.problems));
    let mut page = facts::page(&psx, true, warnings);
    let shown = PsxView { psx, plan };
    add_files(&shown, &mut page);
    Ok(page.show(shown, None))
}

/// Parses a file with this name from the asset's directory, and finds its textures.
/// Returns `None` if it is damaged.
pub(crate) fn level(
    bytes: &Bytes,
    name: &str,
    context: &dyn AssetContext,
) -> Option<(Psx, ExportPlan)> {
    let psx = psx::parse(bytes).ok()?;
    let plan = ExportPlan::new(&psx, neighbors::needed(&psx, name, context));
    Some((psx, plan))
}

/// Maximum length of the name of a part in bytes.
const MAX_PART_NAME: usize = 64;

/// Returns the names of a character's parts, with their numbers, from the PSH file with
/// the same stem.
fn part_names(psx: &Psx, context: &dyn AssetContext) -> Vec<(usize, String)> {
    let names = |psh: Psh| {
        let parts = psh.parts.into_iter().map(|part| part.named);
        let mut parts: Vec<_> = parts.map(|one| (one.index as usize, one.name)).collect();
        parts.retain(|(number, name)| *number < psx.objects.len() && name.len() <= MAX_PART_NAME);
        parts
    };
    let stem = context.name().rsplit_once('.').map(|(stem, _)| stem);
    let file = stem
        .filter(|_| psx.parents().is_some())
        .and_then(|stem| context.read_sibling(&format!("{stem}.psh")));
    let psh = file.and_then(|bytes| psh::parse(&bytes).ok());
    psh.map(names).unwrap_or_default()
}

/// A file, and its export plan.
#[derive(GetSize)]
struct PsxView {
    psx: Psx,
    plan: ExportPlan,
}

/// File of the scene's materials.
const SCENE_MATERIALS: &str = "scene.mtl";

/// Adds the models, the pictures and the animations.
fn add_files(shown: &PsxView, page: &mut Page<PsxView>) {
    if shown.plan.has_scene {
        page.file("scene.obj", |shown: &PsxView, context, out| {
            let _memory = context.reserve_scene(shown.corners())?;
            let scene = shown.plan.scene(&shown.psx, Colors::Materials);
            obj::write(&scene, SCENE_MATERIALS, out)
        })
        .file(SCENE_MATERIALS, |shown, _, out| {
            exported::write_materials(shown, "textures/", out)
        });
    }
    exported::add_files(shown, page);
    let motions = &shown.plan.motions;
    let last = motions.last().map_or(0, |&last| last + 1);
    for &index in motions {
        let name = format!("{}.bvh", padded(index, last, 3));
        let file = ViewFile::inside("animations", name);
        page.file(file, move |shown: &PsxView, _, out| {
            let scene = shown.plan.motion(&shown.psx, index);
            let motion = scene.animations.first().ok_or(io::ErrorKind::NotFound)?;
            bvh::write(&scene, motion, out)
        });
    }
}

impl Exported for PsxView {
    fn pictures(&self) -> impl Iterator<Item = (usize, String)> {
        let textures = &self.plan.textures;
        (0..textures.len()).map(|number| (number, textures.name(number)))
    }

    fn picture(&self, number: usize) -> Option<Picture> {
        self.plan.textures.picture(&self.psx, number)
    }

    fn has_scene(&self) -> bool {
        self.plan.has_scene
    }

    fn corners(&self) -> usize {
        self.plan.corners
    }

    fn scene(&self) -> Scene<'_> {
        self.plan.scene(&self.psx, Colors::Corners)
    }

    fn part_count(&self) -> usize {
        self.psx.models.len()
    }

    fn parts(&self) -> impl Iterator<Item = (usize, String)> {
        let numbers = self.plan.models.iter();
        numbers.map(|&number| (number, model_name(&self.psx, number)))
    }

    fn part(&self, number: usize) -> Scene<'_> {
        self.plan.model(&self.psx, number)
    }

    fn materials(&self) -> (Vec<Material>, Vec<String>) {
        self.plan.materials(&self.psx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::psx::{File, rich, texture};
    use fixtures::{edited_table, edited_value};
    use hpimount_assets::view::Alone;
    use proptest::prelude::*;

    fn rendered(bytes: &[u8], name: &str) -> String {
        hpimount_assets::view::rendered_text(&FORMAT, bytes, name).unwrap()
    }

    #[test]
    fn objects_have_positions_in_units_and_angles_in_degrees() {
        let mut file = rich();
        file.objects[1][4..8].copy_from_slice(&(-2048_i32).to_le_bytes());
        file.objects[1][18..20].copy_from_slice(&1024_i16.to_le_bytes());
        file.objects[1][0] = 0x22;
        assert_eq!(
            rendered(&file.bytes(), "objects.tsv"),
            "index\tmodel\tx\ty\tz\tangles\tflags\tparent\n\
             0\t0\t0\t0\t0\t0 0 0\t0x0000\t\n\
             1\t1\t-0.5\t-20\t30\t0 90 0\t0x0022\t0\n"
        );
    }

    #[test]
    fn an_object_is_moved_and_turned_by_its_values() {
        let mut file = rich();
        let edited = |path, value| edited_value(&FORMAT, &rich().bytes(), path, value);
        file.objects[1][4..8].copy_from_slice(&(-2048_i32).to_le_bytes());
        assert_eq!(
            edited("objects[1].position[0]", "-2048"),
            Ok(Some(file.bytes()))
        );
        let layout = "follows from the layout of the file, or decides it";
        for (path, value, reason) in [
            ("objects[1].palette_offset", "9", layout),
            ("objects", "[{}]", "has 1 elements, needs 2"),
            ("objects[1].angles", "[1, 2]", "has 2 numbers, needs 3"),
            ("objects[1].parent", "1", "cannot be edited"),
            ("models[0].radius", "1", "cannot be edited"),
            (
                "objects[1].model",
                "65536",
                "\"65536\" is not from 0 to 65535",
            ),
        ] {
            assert_eq!(edited(path, value), Err(reason.to_owned()), "{path}");
        }
    }

    #[test]
    fn cells_of_places_and_angles_are_in_units_and_degrees_however_they_are_written() {
        let bytes: Bytes = rich().bytes().into();
        let row = |x: &str, angles: &str| format!("\n1\t1\t{x}\t-20\t30\t{angles}\t");
        let edited = |x, angles| {
            let texts = [row("10", "0 0 0"), row(x, angles)];
            let texts = texts.each_ref().map(String::as_str);
            let edited = edited_table(&FORMAT, &bytes, "objects.tsv", texts)?;
            let psx = psx::parse(&edited.unwrap_or_else(|| bytes.clone())).unwrap();
            let object = &psx.objects[1];
            Ok((object.position[0], object.angles))
        };
        for x in ["2", " 2", "2 ", "2.0", "0x2"] {
            assert_eq!(edited(x, "0 0x5A  0"), Ok((8192, [0, 1024, 0])), "{x:?}");
        }
        for x in ["two", "nan", "inf", "0x", "1e300"] {
            let problem: String = edited(x, "0 0 0").unwrap_err();
            assert!(problem.contains("line 3, column x"), "{problem}");
        }
    }

    #[test]
    fn models_count_their_faces_by_kind() {
        let text = rendered(&rich().bytes(), "models.tsv");
        let mut lines = text.lines().map(|line| line.split('\t'));
        let cells: Vec<_> = lines.next().unwrap().zip(lines.next().unwrap()).collect();
        for cell in [
            ("name", "0x6F0F6B9F"),
            ("faces", "2"),
            ("triangles", "1"),
            ("invisible", "1"),
            ("lit", "0"),
            ("radius", "100"),
            ("bounds", "-50 -60 -70 50 60 70"),
            ("lod_distance", "32767"),
            ("next_lod", ""),
        ] {
            assert!(cells.contains(&cell), "{cell:?} in {cells:?}");
        }
        assert_eq!(lines.count(), 1);
    }

    #[test]
    fn textures_and_palettes_refer_to_each_other() {
        let bytes = rich().bytes();
        let offset =
            |index: usize| psx::parse(&bytes.clone().into()).unwrap().textures[index].offset;
        assert_eq!(
            rendered(&bytes, "textures.tsv"),
            format!(
                "index\tname\tname_index\toffset\tflags\tcolors\tpalette\tpalette_found\twidth\t\
                 height\tbits\tpixel_format\tdata_size\n\
                 0\t0x0000001E\t0\t{}\t1\t16\t0x000000AA\ttrue\t5\t3\t4\t\t12\n\
                 1\t0x0000001F\t1\t{}\t0\t16\t0x000000BB\tfalse\t4\t2\t4\t\t4\n\
                 2\t0x0000001F\t1\t{}\t2147483648\t65536\t0x00000000\t\t64\t64\t\t\t0\n",
                offset(0),
                offset(1),
                offset(2)
            )
        );
        assert_eq!(
            rendered(&bytes, "palettes.tsv"),
            "index\tid\tcolors\ttransparent\ttextures\n0\t0x000000AA\t16\t0\t1\n"
        );
    }

    #[test]
    fn chunks_are_listed_with_their_meaning() {
        let mut file = rich();
        file.chunks.truncate(1);
        file.chunks.push((0x0A, Vec::new()));
        file.chunks.push((0x1234, vec![1]));
        let text = rendered(&file.bytes(), "chunks.tsv");
        let rows: Vec<_> = text
            .lines()
            .map(|row| row.split('\t').collect::<Vec<_>>())
            .collect();
        let offset = rows[1][1].parse::<usize>().unwrap();
        assert_eq!(rows[0], ["tag", "offset", "length", "meaning"]);
        assert_eq!((rows[1][0], rows[1][3]), ("RGBs", "gouraud colors: 2"));
        assert_eq!(&file.bytes()[offset..offset + 4], [255, 0, 0, 0]);
        let damaged = "collision grid: 0 x 0 cells, 0 entries, damaged";
        assert_eq!((rows[2][0], rows[2][2], rows[2][3]), ("0x0a", "0", damaged));
        assert_eq!((rows[3][0], rows[3][3]), ("0x1234", "unknown"));
    }

    #[test]
    fn animations_are_listed_if_there_are_any() {
        let mut file = rich();
        let bytes = file.bytes();
        let position = |tag: u32| {
            let psx = psx::parse(&bytes.clone().into()).unwrap();
            let chunk = psx.chunks.iter().find(|chunk| chunk.tag == tag);
            chunk.unwrap().offset + 12
        };
        assert_eq!(
            rendered(&bytes, "animations.tsv"),
            format!(
                "index\tkind\tname\tframes\tstored_frames\ttween\toffset\n\
                 0\tkeyframes\t\t2\t2\t0\t{}\n\
                 0\tcompressed\t\t7\t\t\t{}\n\
                 0\tsprite\tsmoke\t1\t\t\t\n",
                position(0x2A),
                position(0x2C)
            )
        );
        file.chunks.clear();
        let files = open(&file.bytes().into(), &Alone).unwrap().files();
        assert!(files.iter().all(|file| file.name != "animations.tsv"));
    }

    #[test]
    fn the_summary_describes_the_file() {
        let text = rendered(&rich().bytes(), "info.txt");
        let heading = "PSX character (version 4: THPS 2 to 4, Spider-Man, Mat Hoffman's Pro BMX, \
                       some ports)\n\n";
        assert!(text.starts_with(heading), "{text}");
        for line in [
            "vertices       6\n",
            "invisible      1\n",
            "bounds min     -3.125, -23.75, -4.375\n",
            "bounds max     13.125, 3.75, 34.375\n",
            "models         2: 0x6F0F6B9F, 0x6F0F6B9F\n",
            "palettes missing 1\n",
            "animations     3\n",
            "chunks         10: RGBs, HIER, block_map, animations_v1, ",
            "warnings       4\n",
        ] {
            assert!(text.contains(line), "{line:?} in {text}");
        }
    }

    /// Returns the error and the facts of a damaged file.
    fn damaged(bytes: Vec<u8>) -> (String, serde_json::Value) {
        let error = rendered(&bytes, "error.txt");
        let info = serde_json::from_str(&rendered(&bytes, "info.json"));
        (error, info.unwrap())
    }

    #[test]
    fn a_damaged_file_shows_only_what_was_read() {
        let mut file = rich();
        file.textures.push(texture([0, 16, 0xAA, 0], [2, 2], &[]));
        let mut bytes = file.bytes();
        bytes.pop();
        let (error, info) = damaged(bytes.clone());
        assert!(error.starts_with("texture 3: record"), "{error}");
        assert_eq!(info["textures"].as_array().unwrap().len(), 3);
        assert_eq!(info["models"][0]["faces"], 2);
        assert!(info.get("kind").is_none());
        let files = open(&bytes.into(), &Alone).unwrap().files();
        assert!(files.iter().all(|file| file.folder.is_none()));
        let (_, only_head) = damaged(vec![4, 0, 2, 0, 1, 0, 0, 0]);
        assert_eq!(
            (&only_head["version"], &only_head["meta_offset"]),
            (&4.into(), &1.into())
        );
        assert!(open(&Bytes::from_static(b"PS-X EXE"), &Alone).is_err());
    }

    /// Opens bytes as a PSX file and renders all files.
    fn open_and_render(bytes: &[u8]) {
        if let Ok(view) = open(&Bytes::copy_from_slice(bytes), &Alone) {
            for index in 0..view.files().len() {
                let mut text = Vec::new();
                view.render(index, &Alone, &mut text).unwrap();
                assert!(!text.is_empty());
            }
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(version in 0..8_u8, rest in proptest::collection::vec(any::<u8>(), 0..400)) {
            open_and_render(&[vec![version, 0, 2, 0], rest].concat());
        }

        #[test]
        fn no_damage_makes_it_panic(
            version in prop_oneof![Just(3), Just(4), Just(6)],
            damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
            lost in 0..40_usize,
        ) {
            let mut bytes = File { version, ..rich() }.bytes();
            for (at, byte) in damage {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            bytes.truncate(bytes.len() - lost);
            open_and_render(&bytes);
        }
    }
}
