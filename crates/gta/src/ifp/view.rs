//! View of an IFP animation package: facts, tables, the animations on a plain
//! skeleton, and for every animation its keys as JSON and a separate package.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;

use super::keys::{key_type, keys};
use super::{export, import, poses, skeleton};
use crate::Opened;
use crate::ifp::{self, Animation, Ifp, KeyKind, Keys, Mismatch, Object, Package, Version};
use hpimount_assets::model::{gltf, padded, png};
use hpimount_assets::parse::so_far;
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::import::Editable;
use hpimount_assets::view::node::{self, Node, Nodes};
use hpimount_assets::view::page::{Page, Rows};
use hpimount_assets::view::{AssetContext, Measures, Preview, ViewFile, ViewFormat, json};
use hpimount_containers::file_type::{FileType, Magic};
use hpimount_record::Value;

/// IFP animation packages.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: ifp::EXTENSIONS,
    edits: &[
        Editable::new("animations.tsv", "names"),
        Editable::new("animations/*.json", "keys of objects"),
    ],
    import: Some(|edit| import::import(edit, &FORMAT, FOLDER)),
    converted: Conversion::Always(Converted::parts(&[ConvertedFile::first("glb")])),
    matches: Some(|bytes| ifp::parse(bytes).is_ok()),
    preview: Some(Preview::new(11, &["preview.png"])),
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

/// Nesting depth of the keys of an animation, which are written one per line.
const KEY_DEPTH: usize = 4;

fn open(bytes: &Bytes, _siblings: &dyn AssetContext) -> Opened {
    let (ifp, error) = so_far(ifp::parse(bytes));
    let error = match error {
        Some(error) if ifp.packages.is_empty() => return Err(error),
        error => error,
    };
    let mut page = facts_page(&ifp);
    page.table("animations.tsv", animations)
        .table("bones.tsv", bones);
    if error.is_none() {
        add_files(&mut page, &ifp);
    }
    Ok(page.show(ifp, error))
}

fn facts_page(ifp: &Ifp) -> Page<Ifp> {
    let single = ifp.packages.first().filter(|_| !ifp.is_list);
    let (format, games) = match single.map(|package| package.version) {
        Some(Version::Anpk) => ("ANPK", "GTA III, Vice City, cutscenes of San Andreas"),
        Some(version) => (version.magic(), "GTA San Andreas"),
        None => ("ANLF", "list of packages of GTA III, Vice City"),
    };
    let heading = format!("IFP animation package ({format}: {games})");
    let mut page: Page<Ifp> = Page::new(format, heading, ifp.warnings.clone());
    let durations = ifp.animations().map(Animation::duration);
    let longest = ifp.animations().max_by(|one, other| {
        let order = one.duration().total_cmp(&other.duration());
        order.then(std::cmp::Ordering::Greater)
    });
    let moving = ifp.animations().filter(|one| one.has_root_motion());
    let objects = || ifp.animations().flat_map(|animation| &animation.objects);
    if let Some(package) = single {
        for (name, value) in package_facts(package) {
            page.fact(name, value);
        }
    }
    page.fact("file_size", ifp.file_size)
        .fact("parsed_end", ifp.parsed_end)
        .fact("total_duration", durations.fold(0.0, std::ops::Add::add))
        .fact("longest", longest.map(|one| one.name.clone()))
        .fact("root_motion", moving.count())
        .fact("objects", objects().count())
        .fact("bones", bone_uses(ifp).len())
        .fact("keys", objects().map(Object::frames).sum::<usize>())
        .fact("key_types", key_types(objects()));
    let trailing = [
        ("bytes".into(), ifp.trailing().into()),
        ("all_zero".into(), ifp.trailing_zero.into()),
    ];
    page.fact("trailing", Value::Map(trailing.into()))
        .measures(|ifp| {
            let durations = ifp.animations().map(Animation::duration);
            durations.map(Measures::seconds).sum()
        });
    match ifp.is_list {
        true => page.list("packages", |ifp| Box::new(ifp.packages.iter().map(package))),
        false => page.list("animations", |ifp| {
            let packages = ifp.packages.iter().take(1);
            Box::new(packages.flat_map(|one| one.animations.iter().enumerate().map(animation)))
        }),
    };
    page
}

fn package_facts(package: &Package) -> impl Iterator<Item = (&'static str, Value)> {
    let facts = [
        ("name", package.name.clone().into()),
        ("offset", package.offset.into()),
        ("declared_size", package.declared_size.into()),
        ("declared_end", package.declared_end().into()),
        ("info_size", package.info_size.into()),
        ("junk_bytes_after_nul", package.junk_after_nul.into()),
    ];
    let facts = facts.into_iter();
    facts.filter(|(_, value)| *value != Value::Null)
}

fn package(package: &Package) -> Node<'_> {
    let format = ("format", package.version.magic().into());
    let facts = package_facts(package).map(|(name, value)| (name, value.into()));
    let animations =
        || -> Nodes<'_> { Box::new(package.animations.iter().enumerate().map(animation)) };
    let animations = ("animations", Node::Each(Box::new(animations)));
    node::map([format].into_iter().chain(facts).chain([animations]))
}

fn animation((index, animation): (usize, &Animation)) -> Node<'_> {
    let actual = animation.frame_data_mismatch().map(|one| one.actual);
    node::known([
        ("index", index.into()),
        ("name", animation.name.clone().into()),
        ("offset", animation.offset.into()),
        ("size", animation.size.into()),
        ("info_size", animation.info_size.into()),
        ("frame_data_size", animation.frame_data_size.into()),
        ("frame_data_size_actual", actual.into()),
        ("flags", animation.flags.into()),
        ("dgan_end_mismatch", pair(animation.end_mismatch).into()),
        ("duration", animation.duration().into()),
        ("frames", animation.frames().into()),
        ("root_motion", animation.has_root_motion().into()),
        ("objects", Node::each(&animation.objects, object)),
    ])
}

fn object(object: &Object) -> Node<'_> {
    let keys = object.keys.as_ref();
    let kind = keys.map(Keys::kind);
    let (next, prev) = object.siblings().unzip();
    let extra = object.anim_size.map(|_| object.extra.iter().copied());
    node::known([
        ("name", object.name.clone().into()),
        ("bone_id", object.bone_id.into()),
        ("next", next.into()),
        ("prev", prev.into()),
        ("frame_type", key_type(object).into()),
        ("frames", object.frames().into()),
        ("offset", object.offset.into()),
        ("anim_size", object.anim_size.into()),
        ("extra", extra.map(Value::from_iter).into()),
        ("key_size_mismatch", pair(object.key_size_mismatch).into()),
        ("cpan_end_mismatch", pair(object.end_mismatch).into()),
        ("has_translation", kind.map(KeyKind::has_translation).into()),
        ("has_scale", kind.map(KeyKind::has_scale).into()),
        ("compressed", kind.map(KeyKind::is_compressed).into()),
        ("start_time", object.start_time().into()),
        ("end_time", object.end_time().into()),
        ("monotonic", keys.is_none_or(is_monotonic).into()),
        (
            "max_quat_norm_error",
            keys.map_or(Value::Double(0.0), norm_error).into(),
        ),
    ])
}

fn pair(mismatch: Option<Mismatch>) -> Option<Value> {
    mismatch.map(|one| [one.declared, one.actual].into_iter().collect())
}

fn is_monotonic(keys: &Keys) -> bool {
    keys.iter().map(|key| key.time).is_sorted()
}

/// Returns the maximum deviation of the rotations from length 1, rounded to
/// five places.
fn norm_error(keys: &Keys) -> Value {
    let rotations = keys.iter().map(|key| key.rotation.map(f64::from));
    let rotations = rotations.filter(|rotation| rotation.iter().all(|part| part.is_finite()));
    let errors = rotations.map(|rotation| {
        let square: f64 = rotation.iter().map(|part| part * part).sum();
        (square.sqrt() - 1.0).abs()
    });
    Value::Double((errors.fold(0.0, f64::max) * 1e5).round() / 1e5)
}

/// Adds the keys of each animation as text, each animation as a separate package, and
/// last the skeleton with a picture of it.
fn add_files(page: &mut Page<Ifp>, ifp: &Ifp) {
    let count = ifp.animations().count();
    let name =
        |index, animation: &Animation| format!("{} {}", padded(index, count, 3), animation.name);
    let places = (0..).zip(&ifp.packages).flat_map(|(package, one)| {
        let numbers = 0..one.animations.len();
        numbers.map(move |number| (package, number))
    });
    let animations = || places.clone().zip(ifp.animations()).enumerate();
    for (index, ((package, number), animation)) in animations() {
        let file = ViewFile::inside(FOLDER, format!("{}.json", name(index, animation)));
        page.file(file, move |ifp: &Ifp, _, out| {
            let animation = &ifp.packages[package].animations[number];
            json::write_lines(&keys(index, animation), KEY_DEPTH, out)
        });
    }
    for (index, ((package, number), animation)) in animations() {
        let file = ViewFile::inside(FOLDER, format!("{}.ifp", name(index, animation)));
        page.file(file, move |ifp: &Ifp, _, out| {
            let package = &ifp.packages[package];
            export::write(package, &package.animations[number], out)
        });
    }
    if ifp.animations().any(|animation| animation.frames() > 0) {
        page.file("skeleton.glb", |ifp: &Ifp, context, out| {
            let reserve = |bytes| context.reserve(bytes);
            gltf::write(&skeleton::scene(ifp), &|_| None, &reserve, out)
        });
        if poses::has_figures(ifp) {
            page.file("preview.png", |ifp: &Ifp, _, out| {
                png::write(&poses::draw(ifp), out)
            });
        }
    }
}

fn animations(ifp: &Ifp) -> Rows<'_> {
    let columns = [
        "index",
        "name",
        "objects",
        "frames",
        "duration_s",
        "root_motion",
        "key_types",
    ];
    let rows = ifp.animations().enumerate().map(|(index, animation)| {
        [
            index.into(),
            animation.name.clone().into(),
            animation.objects.len().into(),
            animation.frames().into(),
            animation.duration().into(),
            animation.has_root_motion().into(),
            key_types(animation.objects.iter()).into(),
        ]
    });
    Rows::new(columns, rows)
}

fn bones(ifp: &Ifp) -> Rows<'_> {
    let uses = bone_uses(ifp).into_iter();
    let rows = uses
        .map(|((bone, name), animations)| [bone.into(), name.to_owned().into(), animations.into()]);
    Rows::new(["bone_id", "name", "animations"], rows)
}

/// A bone: its number, if any, and its name.
type Bone<'a> = (Option<i32>, &'a str);

/// Returns all bones, and the number of animations of each.
fn bone_uses(ifp: &Ifp) -> BTreeMap<Bone<'_>, usize> {
    let mut uses = BTreeMap::new();
    for animation in ifp.animations() {
        let objects = animation.objects.iter();
        // Collecting would take memory for every object before the set is built.
        let mut bones = BTreeSet::new();
        bones.extend(objects.map(|object| (object.bone_id, object.name.as_str())));
        for bone in bones {
            *uses.entry(bone).or_default() += 1;
        }
    }
    uses
}

/// Returns the key kinds of the objects, `3,4` or `KR00,KRT0`.
fn key_types<'a>(objects: impl Iterator<Item = &'a Object>) -> String {
    let keys = objects.filter_map(|object| object.keys.as_ref());
    let mut kinds = BTreeSet::new();
    kinds.extend(keys.map(|keys| keys.kind()));
    let names: Vec<_> = kinds.into_iter().map(KeyKind::name).collect();
    names.join(",")
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
    fn numbers_that_are_not_finite_are_shown_as_texts() {
        let keys = floats(&[f32::NAN, 0.0, 0.0, 1.0, f32::INFINITY]);
        let object = build::anpk_object("Root", Tail::Bone(0), Some((b"KR00", &keys)));
        let bytes = build::anpk("ped", &[("walk", &[object])]);
        let text = rendered(&bytes, "animations/000 walk.json");
        let key = r#"{"time": "Infinity", "rotation": ["NaN:7fc00000", 0.0, 0.0, 1.0]}"#;
        assert!(text.contains(key), "{text}");
        assert!(rendered(&bytes, "animations.tsv").contains("\tInfinity\tfalse\tKR00\n"));
    }

    #[test]
    fn the_animations_of_all_packages_of_a_list_are_shown() {
        let list = build::anlf(&[walk_anpk("a"), walk_anpk("b")]);
        let names: Vec<_> = open(&list.clone().into(), &Alone).unwrap().files()[4..]
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
             name           ped\n\
             offset         0\n\
             declared size  250\n\
             declared end   258\n\
             junk bytes after nul 0\n\
             file size      258\n\
             parsed end     258\n\
             total duration 1\n\
             longest        wa\\tlk\n\
             root motion    1\n\
             objects        3\n\
             bones          2\n\
             keys           3\n\
             key types      3,4\n\
             animations     2: wa\\tlk, still\n\
             warnings       none\n"
        );
    }

    #[test]
    fn a_damaged_package_shows_what_was_read_before_the_damage() {
        let mut bytes = walk();
        let at = bytes.windows(5).rposition(|name| name == b"still").unwrap();
        bytes.truncate(at + 30);
        let info = rendered(&bytes, "info.json");
        assert!(
            info.contains("\"bone_id\": 2,") && info.contains("\"still\""),
            "{info}"
        );
    }
}
