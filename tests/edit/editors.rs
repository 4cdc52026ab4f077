//! Large programs edit files of converted trees: GIMP, Krita, Blender, LibreOffice.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use fixtures::hip::{Asset, Hip};
use fixtures::hpi::{File, V1, dir, file};
use fixtures::png_of;
use fixtures::ta::{pcx::Pcx, tdo};
use hpimount_assets::model::png;
use hpimount_containers::hip::{Game, Platform, asset_id};
use hpimount_containers::hpi::chunk::Method;
use tempfile::tempdir;
use testkit::applied::{open_changed, read_at};
use testkit::fuse_test;
use testkit::mount::has_programs;
use testkit::skip::skip_anywhere;
use testkit::trial;

use crate::kit::Editing;

const PICTURE: &str = "converted/bitmaps/logo.png";
const ASSET: &str = "bitmaps/logo.pcx";
const MODEL: &str = "converted/objects3d/tank.glb";

/// Returns an asset with a picture of 4 x 3 pixels, or its mirror image.
fn logo(is_mirrored: bool) -> Vec<u8> {
    let rows = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]].map(|mut row: [u8; 4]| {
        if is_mirrored {
            row.reverse();
        }
        row
    });
    Pcx::indexed(4, 3, rows.as_flattened().to_vec()).file()
}

/// Mounts an archive with a picture and a model.
fn pictures() -> Editing {
    let mut tank = tdo::object("body");
    let size = |parts: [i32; 3]| parts.map(|part| part << 16);
    tdo::add_box(&mut tank, size([-8, 0, -8]), size([8, 8, 8]), |_, side| {
        side.color = 20;
        side.flag = 1;
    });
    let hpi = V1::new(vec![
        dir(
            b"bitmaps",
            vec![file(b"logo.pcx", File::new(logo(false), Method::Zlib))],
        ),
        dir(
            b"objects3d",
            vec![file(b"tank.3do", File::new(tdo::file(&tank), Method::Zlib))],
        ),
    ]);
    Editing::new("a.hpi", &hpi.build().bytes)
}

/// Runs a program in the mount without a display, with separate settings. It must
/// succeed.
fn run(editing: &Editing, program: &str, arguments: &[&str]) {
    let home = tempdir().unwrap();
    let ran = Command::new(program)
        .args(arguments)
        .current_dir(editing.mount().path())
        .env("HOME", home.path())
        .env("XDG_RUNTIME_DIR", home.path())
        .env("LC_ALL", "C.UTF-8")
        .env_remove("DISPLAY")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned();
    assert!(ran.status.success(), "{program} {arguments:?}: {said}");
}

/// Returns whether to run these programs, which start slowly.
fn has_time_for(programs: &[&str]) -> bool {
    let has_time = trial::part(false, true);
    if !has_time {
        skip_anywhere("takes long; scripts/test --foreign runs it");
    }
    has_time && has_programs(programs)
}

/// Returns a file of the changed archive, by a reader that is independent of the mount.
fn in_archive(editing: &Editing, path: &str) -> Vec<u8> {
    let work = tempdir().unwrap();
    let (archive, nothing) = (work.path().join("a.hpi"), work.path().join("none"));
    fs::write(&archive, editing.assert_applied()).unwrap();
    fs::create_dir(&nothing).unwrap();
    read_at(&open_changed(&archive, &nothing).unwrap(), path)
}

/// Lets GIMP open the picture, change it, and save it over itself.
fn gimp(editing: &Editing, change: &str) {
    let script = format!(
        "(let* ((image (car (gimp-file-load RUN-NONINTERACTIVE \"{PICTURE}\" \"{PICTURE}\")))) \
         {change} \
         (gimp-file-save RUN-NONINTERACTIVE image \
         (car (gimp-image-get-active-layer image)) \"{PICTURE}\" \"{PICTURE}\"))"
    );
    let batch = ["-i", "-d", "-f", "-b", &script, "-b", "(gimp-quit 0)"];
    run(editing, "gimp", &batch);
}

#[fuse_test]
fn a_picture_that_gimp_saved_is_in_the_archive() {
    if !has_time_for(&["gimp"]) {
        return;
    }
    let editing = pictures();
    gimp(&editing, "(gimp-image-flip image ORIENTATION-HORIZONTAL)");
    assert!(in_archive(&editing, ASSET) == logo(true));
    assert_eq!(editing.edits(), [PICTURE]);
    assert_eq!(editing.names("converted/bitmaps"), ["logo.png"]);
    gimp(&editing, "(gimp-image-flip image ORIENTATION-HORIZONTAL)");
    assert!(in_archive(&editing, ASSET) == logo(false));
}

#[fuse_test]
fn a_picture_of_a_wrong_size_that_gimp_saved_is_said_beside_it() {
    if !has_time_for(&["gimp"]) {
        return;
    }
    let editing = pictures();
    gimp(&editing, "(gimp-image-flip image ORIENTATION-HORIZONTAL)");
    // GIMP ignores errors of closing.
    gimp(&editing, "(gimp-image-scale image 5 3)");
    assert!(
        in_archive(&editing, ASSET) == logo(true),
        "the last good one"
    );
    let message = String::from_utf8(editing.read(&format!("{PICTURE}.error.txt"))).unwrap();
    assert!(
        message.contains("has 5x3 pixels, must have 4x3"),
        "{message}"
    );
    let rows = editing.rows();
    let is_said = |row: &String| row.starts_with(&format!("{PICTURE}\trefused"));
    assert!(rows.iter().any(is_said), "{rows:?}");
    let saved = png::read(&editing.read(PICTURE), 1 << 16).unwrap();
    assert_eq!(saved.rgba().len(), 15, "GIMP reads what it has saved");
    gimp(&editing, "(gimp-image-scale image 4 3)");
    assert!(!editing.path(&format!("{PICTURE}.error.txt")).exists());
    assert_eq!(editing.edits(), [PICTURE]);
    editing.assert_applied();
}

#[fuse_test]
fn a_picture_that_krita_exported_is_in_the_archive() {
    if !has_time_for(&["krita", "xvfb-run"]) {
        return;
    }
    let editing = pictures();
    let mut pixels = png::read(&editing.read(PICTURE), 1 << 16).unwrap().rgba();
    pixels.chunks_mut(4).for_each(<[_]>::reverse);
    let work = tempdir().unwrap();
    let other = work.path().join("other.png");
    fs::write(&other, png_of(4, 3, pixels)).unwrap();
    let other = other.to_str().unwrap();
    // It needs a display.
    let export = [
        "-a",
        "krita",
        other,
        "--export",
        "--export-filename",
        PICTURE,
    ];
    run(&editing, "xvfb-run", &export);
    assert!(in_archive(&editing, ASSET) == logo(true));
    assert_eq!(editing.edits(), [PICTURE]);
    assert_eq!(editing.names("converted/bitmaps"), ["logo.png"]);
}

/// Runs a script with Blender.
fn blender(editing: &Editing, script: &str) {
    let options = ["-b", "--factory-startup", "--python-exit-code", "1"];
    // Debian's version needs the name, which its numpy lacks.
    let script = format!("import bpy, numpy\nnumpy.bool = bool\n{script}");
    run(
        editing,
        "blender",
        &[&options[..], &["--python-expr", &script]].concat(),
    );
}

#[fuse_test]
fn a_picture_that_blender_saved_is_in_the_archive() {
    if !has_programs(&["blender"]) {
        return;
    }
    let editing = pictures();
    let script = format!(
        r#"
image = bpy.data.images.load("{PICTURE}")
pixels = list(image.pixels)
rows = [pixels[16 * y:16 * y + 16] for y in range(3)]
image.pixels = [part for row in rows for x in (3, 2, 1, 0) for part in row[4 * x:4 * x + 4]]
image.save()
"#
    );
    blender(&editing, &script);
    assert!(in_archive(&editing, ASSET) == logo(true));
    assert_eq!(editing.edits(), [PICTURE]);
}

#[fuse_test]
fn a_model_that_blender_exported_over_itself_is_in_the_archive() {
    if !has_programs(&["blender"]) {
        return;
    }
    let editing = pictures();
    let original = editing.read("objects3d/tank.3do");
    let export = |moved: f32| {
        let script = format!(
            r#"
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.import_scene.gltf(filepath="{MODEL}")
for object in bpy.data.objects:
    for vertex in object.data.vertices if object.type == "MESH" else []:
        if vertex.co.z > 0.001:
            vertex.co.z += {moved}
bpy.ops.export_scene.gltf(filepath="{MODEL}")
"#
        );
        blender(&editing, &script);
    };
    export(0.0);
    assert!(in_archive(&editing, "objects3d/tank.3do") == original);
    export(1.0);
    let changed = in_archive(&editing, "objects3d/tank.3do");
    assert!(changed != original);
    assert_eq!(changed.len(), original.len());
    assert_eq!(editing.edits(), [MODEL]);
}

/// Mounts a level with a timer of two seconds.
fn level() -> Editing {
    let words = [asset_id(b"FIRST"), 0x0E00_001D, 2.0_f32.to_bits(), 0];
    let timer: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    let mut hip = Hip::target(Game::Bfbb, Platform::GameCube);
    hip.layer(0).add(Asset::new(b"TIMR", "FIRST", &timer));
    Editing::new("a.HIP", &hip.build())
}

/// LibreOffice's format of tables.
const TABLE: &str = "Text - txt - csv (StarCalc):9,34,76";

/// Converts a file with LibreOffice into the folder `to`.
fn convert(editing: &Editing, input: Option<&str>, output: &str, to: &str, file: &Path) {
    let mut arguments = vec!["--headless".to_owned()];
    arguments.extend(input.map(|filter| format!("--infilter={filter}")));
    arguments.extend(["--convert-to", output, "--outdir", to].map(str::to_owned));
    arguments.push(file.to_str().unwrap().to_owned());
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    run(editing, "soffice", &arguments);
}

#[fuse_test]
fn a_table_that_libreoffice_saved_over_itself_is_in_the_archive() {
    const TIMERS: &str = "converted/tables/TIMR.tsv";
    if !has_time_for(&["soffice"]) {
        return;
    }
    let editing = level();
    let image = editing.image();
    let tsv = format!("tsv:{TABLE}");
    convert(
        &editing,
        Some(TABLE),
        &tsv,
        "converted/tables",
        Path::new(TIMERS),
    );
    assert!(editing.image() == image, "no value has changed");
    let work = tempdir().unwrap();
    let folder = work.path().to_str().unwrap();
    convert(&editing, Some(TABLE), "fods", folder, Path::new(TIMERS));
    let fods = work.path().join("TIMR.fods");
    let sheet = fs::read_to_string(&fods).unwrap();
    let changed = sheet.replacen("office:value=\"2\"", "office:value=\"3.5\"", 1);
    assert!(changed != sheet, "{sheet}");
    fs::write(&fods, changed).unwrap();
    convert(&editing, None, &tsv, "converted/tables", &fods);
    let timer = editing.read("layers/00-DEFAULT/FIRST.timr");
    assert_eq!(timer[8..12], 3.5_f32.to_be_bytes());
    assert_eq!(editing.edits(), [TIMERS]);
    editing.assert_applied();
}
