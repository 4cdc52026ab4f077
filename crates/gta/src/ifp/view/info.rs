//! `info.json` and `info.txt`.
//!
//! `info.json` has everything except the keys, which are in the files of the
//! animations: a package has up to a few hundred thousand.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;

use super::{key_type, tables};
use crate::ifp::{Animation, Ifp, Keys, Mismatch, Object, Package, Version};
use hpimount_assets::view::Summary;
use hpimount_assets::view::json::{self, Seq};

/// Writes `info.json`.
pub(super) fn json(ifp: &Ifp, out: &mut dyn Write) -> io::Result<()> {
    json::write_pretty(&facts(ifp), out)
}

/// Returns the known facts of a damaged package.
pub(super) fn partial(ifp: &Ifp) -> Value {
    let objects = ifp.animations().map(|animation| animation.objects.len());
    let brief = Brief {
        format: format(ifp),
        file_size: ifp.file_size,
        parsed_end: ifp.parsed_end,
        package_count: ifp.packages.len(),
        animation_count: ifp.animations().count(),
        object_count: objects.sum(),
        warnings: ifp.warnings.texts(),
    };
    json::bounded_value(&facts(ifp), &brief)
}

/// Returns the magic number of the file, if known.
fn format(ifp: &Ifp) -> Option<&'static str> {
    if ifp.is_list {
        return Some("ANLF");
    }
    ifp.packages.first().map(|package| package.version.magic())
}

/// The properties of a damaged package with very many objects.
#[derive(Serialize)]
struct Brief {
    format: Option<&'static str>,
    file_size: u64,
    parsed_end: u64,
    package_count: usize,
    animation_count: usize,
    object_count: usize,
    warnings: Vec<String>,
}

fn facts(ifp: &Ifp) -> impl Serialize {
    let packages = || ifp.packages.iter().map(PackageFacts::new);
    FileFacts {
        list: ifp.is_list.then(|| List {
            format: "ANLF",
            packages: Seq::new(packages),
        }),
        single: packages().next().filter(|_| !ifp.is_list),
        file_size: ifp.file_size,
        parsed_end: ifp.parsed_end,
        trailing: Trailing {
            bytes: ifp.trailing(),
            all_zero: ifp.trailing_zero,
        },
        warnings: ifp.warnings.texts(),
    }
}

#[derive(Serialize)]
struct FileFacts<'a> {
    #[serde(flatten)]
    list: Option<List<'a>>,
    #[serde(flatten)]
    single: Option<PackageFacts<'a>>,
    file_size: u64,
    parsed_end: u64,
    trailing: Trailing,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct List<'a> {
    format: &'static str,
    packages: Seq<'a, PackageFacts<'a>>,
}

#[derive(Serialize)]
struct Trailing {
    bytes: u64,
    all_zero: bool,
}

#[derive(Serialize)]
struct PackageFacts<'a> {
    format: &'static str,
    name: &'a str,
    offset: u64,
    declared_size: u32,
    declared_end: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    info_size: Option<u32>,
    junk_bytes_after_nul: usize,
    animations: Seq<'a, AnimationFacts<'a>>,
}

impl<'a> PackageFacts<'a> {
    fn new(package: &'a Package) -> Self {
        let animations = || package.animations.iter().enumerate();
        Self {
            format: package.version.magic(),
            name: &package.name,
            offset: package.offset,
            declared_size: package.declared_size,
            declared_end: package.declared_end(),
            info_size: package.info_size,
            junk_bytes_after_nul: package.junk_after_nul,
            animations: Seq::new(move || {
                animations().map(|(index, animation)| AnimationFacts::new(index, animation))
            }),
        }
    }
}

#[derive(Serialize)]
struct AnimationFacts<'a> {
    index: usize,
    name: &'a str,
    offset: u64,
    size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    info_size: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frame_data_size: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frame_data_size_actual: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flags: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dgan_end_mismatch: Option<[u64; 2]>,
    duration: f32,
    frames: usize,
    root_motion: bool,
    objects: Seq<'a, ObjectFacts<'a>>,
}

impl<'a> AnimationFacts<'a> {
    fn new(index: usize, animation: &'a Animation) -> Self {
        let frame_data = animation.frame_data_mismatch();
        Self {
            index,
            name: &animation.name,
            offset: animation.offset,
            size: animation.size,
            info_size: animation.info_size,
            frame_data_size: animation.frame_data_size,
            frame_data_size_actual: frame_data.map(|mismatch| mismatch.actual),
            flags: animation.flags,
            dgan_end_mismatch: pair(animation.end_mismatch),
            duration: animation.duration(),
            frames: animation.frames(),
            root_motion: animation.has_root_motion(),
            objects: Seq::new(|| animation.objects.iter().map(ObjectFacts::new)),
        }
    }
}

#[derive(Serialize)]
struct ObjectFacts<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    bone_id: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prev: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frame_type: Option<Value>,
    frames: usize,
    offset: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    anim_size: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra: Option<&'a [i32]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key_size_mismatch: Option<[u64; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpan_end_mismatch: Option<[u64; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    has_translation: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    has_scale: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compressed: Option<bool>,
    start_time: f32,
    end_time: f32,
    monotonic: bool,
    max_quat_norm_error: f64,
}

impl<'a> ObjectFacts<'a> {
    fn new(object: &'a Object) -> Self {
        let kind = object.keys.as_ref().map(Keys::kind);
        let siblings = object.siblings();
        Self {
            name: &object.name,
            bone_id: object.bone_id,
            next: siblings.map(|(next, _)| next),
            prev: siblings.map(|(_, prev)| prev),
            frame_type: object.keys.as_ref().map(key_type),
            frames: object.frames(),
            offset: object.offset,
            anim_size: object.anim_size,
            extra: object.anim_size.map(|_| &object.extra[..]),
            key_size_mismatch: pair(object.key_size_mismatch),
            cpan_end_mismatch: pair(object.end_mismatch),
            has_translation: kind.map(|kind| kind.has_translation()),
            has_scale: kind.map(|kind| kind.has_scale()),
            compressed: kind.map(|kind| kind.is_compressed()),
            start_time: object.start_time(),
            end_time: object.end_time(),
            monotonic: object.keys.as_ref().is_none_or(is_monotonic),
            max_quat_norm_error: object.keys.as_ref().map_or(0.0, norm_error),
        }
    }
}

fn pair(mismatch: Option<Mismatch>) -> Option<[u64; 2]> {
    mismatch.map(|mismatch| [mismatch.declared, mismatch.actual])
}

fn is_monotonic(keys: &Keys) -> bool {
    keys.iter().map(|key| key.time).is_sorted()
}

/// Returns the maximum deviation of the rotations from length 1, rounded to
/// five places.
fn norm_error(keys: &Keys) -> f64 {
    let errors = keys
        .iter()
        .map(|key| key.rotation.map(f64::from))
        .filter(|rotation| rotation.iter().all(|part| part.is_finite()))
        .map(|rotation| {
            let square: f64 = rotation.iter().map(|part| part * part).sum();
            (square.sqrt() - 1.0).abs()
        });
    (errors.fold(0.0, f64::max) * 1e5).round() / 1e5
}

/// Writes `info.txt`.
pub(super) fn text(ifp: &Ifp, out: &mut dyn Write) -> io::Result<()> {
    let mut summary = Summary::new(heading(ifp));
    let names = ifp.packages.iter().map(|package| &package.name);
    if ifp.is_list {
        summary.list("packages", names);
    } else {
        names.for_each(|name| {
            summary.line("package", name);
        });
    }
    summary.line("file size", format!("{} bytes", ifp.file_size));
    if ifp.trailing() > 0 {
        let kind = if ifp.trailing_zero { "zero " } else { "" };
        let text = format!("{} {kind}bytes after the last animation", ifp.trailing());
        summary.line("trailing", text);
    }
    let count = ifp.animations().count();
    let total: f32 = ifp.animations().map(Animation::duration).sum();
    summary.line("animations", format!("{count}, {total:.2} s in total"));
    let longest = ifp.animations().max_by(|one, other| {
        let order = one.duration().total_cmp(&other.duration());
        order.then(std::cmp::Ordering::Greater)
    });
    if let Some(longest) = longest {
        let line = format!("{}, {:.2} s", longest.name, longest.duration());
        summary.line("longest", line);
    }
    let moving = ifp.animations().filter(|a| a.has_root_motion()).count();
    let noun = if moving == 1 {
        "animation"
    } else {
        "animations"
    };
    summary.line("root motion", format!("{moving} {noun}"));
    let objects = || ifp.animations().flat_map(|animation| &animation.objects);
    summary
        .line("objects", objects().count())
        .line("bones", tables::bone_uses(ifp).len())
        .line("keys", objects().map(Object::frames).sum::<usize>())
        .line("key types", tables::key_types(objects()));
    let wrong = ifp
        .animations()
        .filter(|a| a.frame_data_mismatch().is_some());
    let wrong = wrong.count();
    if wrong > 0 {
        let line = format!("{wrong} animations with a wrong size of keys");
        summary.line("harmless", line);
    }
    let junk: usize = ifp.packages.iter().map(|p| p.junk_after_nul).sum();
    if junk > 0 {
        summary.line("harmless", format!("{junk} stray bytes after names"));
    }
    summary.write(&ifp.warnings, out)
}

fn heading(ifp: &Ifp) -> String {
    if ifp.is_list {
        return "List of IFP animation packages (ANLF: GTA III, Vice City)".into();
    }
    let games = match ifp.packages.first().map(|package| package.version) {
        Some(Version::Anpk) => "GTA III, Vice City, cutscenes of San Andreas",
        _ => "GTA San Andreas",
    };
    let magic = format(ifp).unwrap_or_default();
    format!("IFP animation package ({magic}: {games})")
}
