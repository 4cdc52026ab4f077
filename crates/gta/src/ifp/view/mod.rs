//! View of an IFP animation package: the tables, the animations on a plain
//! skeleton, and for every animation its keys as JSON and a separate package.

mod animation;
mod info;
mod tables;

use std::io::{self, Write};

use bytes::Bytes;

use crate::ifp::{self, Ifp, Keys, poses};
use hpimount_assets::model::{self, gltf, png};
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::listed::{Listed, ListedView, Part, Render, Whole, whole_files};
use hpimount_assets::view::{AssetContext, Failure, Preview, View, ViewFormat};
use hpimount_containers::file_type::{FileType, Magic};

/// IFP animation packages.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: ifp::EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[ConvertedFile::first("glb")])),
    matches: Some(|bytes| ifp::parse(bytes).is_ok()),
    preview: Some(Preview {
        files: &["preview.png"],
        rank: 11,
    }),
    types: &[FileType {
        magic: &[
            Magic::at(0, b"ANPK"),
            Magic::at(0, b"ANP2"),
            Magic::at(0, b"ANP3"),
            Magic::at(0, b"ANLF"),
        ],
        patterns: &["*.ifp"],
        is_opened: true,
        ..FileType::new("application/x-gta-ifp", Some("Grand Theft Auto animations"))
    }],
    ..ViewFormat::new("IFP", open)
};

/// Folder of the animations.
const FOLDER: &str = "animations";

fn open(bytes: &Bytes, _siblings: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    match ifp::parse(bytes) {
        Ok(model) => Ok(Box::new(ListedView {
            files: files(&model),
            model,
        })),
        Err(incomplete) => Err(Box::new(Failure {
            partial: info::partial(&incomplete.model),
            error: incomplete.error,
        })),
    }
}

/// The files of every package, in order.
const FILES: &[(&str, Whole<Ifp>)] = &[
    ("info.json", info::json),
    ("info.txt", info::text),
    ("animations.tsv", tables::animations),
    ("bones.tsv", tables::bones),
];

/// Returns the files, in order: for each animation its keys as text, and then
/// each as a separate package; last the skeleton, and a picture of it.
fn files(ifp: &Ifp) -> Vec<Listed<Ifp>> {
    let mut files = whole_files(FILES);
    let count = ifp.animations().count();
    for (extension, render) in [("json", keys as Part<Ifp>), ("ifp", package)] {
        for (index, animation) in ifp.animations().enumerate() {
            let number = model::padded(index, count, 3);
            let name = format!("{number} {}.{extension}", animation.name);
            files.push(Listed::new(Some(FOLDER), name, Render::Part(render, index)));
        }
    }
    if ifp.animations().any(|animation| animation.frames() > 0) {
        let render = Render::InContext(skeleton, 0);
        files.push(Listed::new(None, "skeleton.glb".to_owned(), render));
        if poses::has_figures(ifp) {
            files.push(Listed::whole("preview.png", |ifp: &Ifp, out| {
                png::write(&poses::draw(ifp), out)
            }));
        }
    }
    files
}

fn skeleton(
    ifp: &Ifp,
    _part: usize,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let scene = super::skeleton::scene(ifp);
    gltf::write(&scene, &|_| None, &|bytes| context.reserve(bytes), out)
}

fn keys(ifp: &Ifp, index: usize, out: &mut dyn Write) -> io::Result<()> {
    match ifp.animations().nth(index) {
        Some(animation) => animation::json(index, animation, out),
        None => Ok(()),
    }
}

fn package(ifp: &Ifp, index: usize, out: &mut dyn Write) -> io::Result<()> {
    let packages = ifp.packages.iter();
    let mut animations = packages.flat_map(|package| {
        let animations = package.animations.iter();
        animations.map(move |animation| (package, animation))
    });
    match animations.nth(index) {
        Some((package, animation)) => super::export::write(package, animation, out),
        None => Ok(()),
    }
}

/// Returns the kind of keys as shown: the number of `ANP3`, the tag of `ANPK`.
fn key_type(keys: &Keys) -> serde_json::Value {
    match keys.kind().number() {
        Some(number) => number.into(),
        None => keys.kind().name().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::ifp::{self as build, Tail, floats, shorts};
    use hpimount_assets::view::Alone;

    fn rendered(bytes: &[u8], name: &str) -> String {
        hpimount_assets::view::rendered_text(&FORMAT, bytes, name).unwrap()
    }

    fn walk() -> Vec<u8> {
        let keys = [[0, 0, 0, 4096, 0, 0, 0, 0], [0, 0, 0, 4096, 30, 512, 0, 0]].concat();
        let root = build::anp_object("Root", 4, 0, &shorts(&keys));
        let spine = build::anp_object(" Spine", 3, 2, &shorts(&[0, 0, 0, 4096, 60]));
        let still = build::anp_object(" Spine", 3, 2, &[]);
        build::anp(
            true,
            "ped",
            &[("wa\tlk", vec![root, spine]), ("still", vec![still])],
        )
    }

    #[test]
    fn the_animations_table_has_a_row_for_every_animation() {
        assert_eq!(
            rendered(&walk(), "animations.tsv"),
            "index\tname\tobjects\tframes\tduration_s\troot_motion\tkey_types\n\
             0\twa\\tlk\t2\t2\t1\ttrue\t3,4\n\
             1\tstill\t1\t0\t0\tfalse\t3\n"
        );
    }

    #[test]
    fn the_bones_table_counts_the_animations_of_every_bone() {
        assert_eq!(
            rendered(&walk(), "bones.tsv"),
            "bone_id\tname\tanimations\n0\tRoot\t1\n2\t Spine\t2\n"
        );
    }

    #[test]
    fn an_animation_shows_its_keys_one_per_line() {
        assert_eq!(
            rendered(&walk(), "animations/000 wa\tlk.json"),
            r#"{
  "index": 0,
  "name": "wa\tlk",
  "duration": 1.0,
  "objects": [
    {
      "name": "Root",
      "bone_id": 0,
      "type": 4,
      "keys": [
        {"time": 0.0, "rotation": [0.0, 0.0, 0.0, 1.0], "translation": [0.0, 0.0, 0.0]},
        {"time": 0.5, "rotation": [0.0, 0.0, 0.0, 1.0], "translation": [0.5, 0.0, 0.0]}
      ]
    },
    {
      "name": " Spine",
      "bone_id": 2,
      "type": 3,
      "keys": [
        {"time": 1.0, "rotation": [0.0, 0.0, 0.0, 1.0]}
      ]
    }
  ]
}
"#
        );
    }

    #[test]
    fn nan_is_shown_as_null() {
        let keys = floats(&[f32::NAN, 0.0, 0.0, 1.0, f32::INFINITY]);
        let object = build::anpk_object("Root", Tail::Bone(0), Some((b"KR00", &keys)));
        let bytes = build::anpk("ped", &[("walk", &[object])]);
        let text = rendered(&bytes, "animations/000 walk.json");
        assert!(text.contains(r#"{"time": null, "rotation": [null, 0.0, 0.0, 1.0]}"#));
        assert!(rendered(&bytes, "info.json").contains("\"duration\": null,"));
        assert!(rendered(&bytes, "animations.tsv").contains("\tnull\tfalse\tKR00\n"));
    }

    #[test]
    fn the_animations_of_all_packages_of_a_list_are_shown() {
        let list = build::anlf(&[walk_anpk("a"), walk_anpk("b")]);
        let names: Vec<_> = open(&list.clone().into(), &Alone).unwrap().files()[FILES.len()..]
            .iter()
            .map(|file| file.name.clone())
            .collect();
        assert_eq!(
            names,
            ["000 a.json", "001 b.json", "000 a.ifp", "001 b.ifp"]
        );
        assert!(rendered(&list, "animations/001 b.json").contains("\"index\": 1,"));
        let info = rendered(&list, "info.txt");
        assert!(info.contains("packages       2: ped, ped\n"), "{info}");
    }

    fn walk_anpk(name: &str) -> Vec<u8> {
        build::anpk("ped", &[(name, &[])])
    }

    #[test]
    fn the_summary_describes_the_package() {
        assert_eq!(
            rendered(&walk(), "info.txt"),
            "IFP animation package (ANP3: GTA San Andreas)\n\
             \n\
             package        ped\n\
             file size      258 bytes\n\
             animations     2, 1.00 s in total\n\
             longest        wa\\tlk, 1.00 s\n\
             root motion    1 animation\n\
             objects        3\n\
             bones          2\n\
             keys           3\n\
             key types      3,4\n\
             warnings       none\n"
        );
    }

    #[test]
    fn a_damaged_package_shows_what_was_read_before_the_damage() {
        let mut bytes = walk();
        let at = bytes.windows(5).rposition(|name| name == b"still").unwrap();
        bytes.truncate(at + 30);
        let failure = open(&bytes.into(), &Alone).err().unwrap();
        let known = &failure.partial["animations"][0]["objects"];
        assert_eq!(known[1]["bone_id"], 2);
        assert_eq!(failure.partial["animations"][1]["name"], "still");
    }
}
