//! Other programs edit files of converted trees: Blender models, LibreOffice tables.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tempfile::tempdir;

use crate::converted::Edited;
use crate::values::level;
use fixtures::hip::{Asset, Hip};
use fixtures::hpi::{File, V1, dir, file};
use fixtures::ta::tdo;
use fixtures::{clump, col, heavy_iron};
use hpimount_assets::model::gltf;
use hpimount_containers::hip::{Game, Platform};
use hpimount_containers::hpi::chunk::Method;
use testkit::fuse_test;
use testkit::programs::run_in;

/// Imports a GLB file with Blender's default options, moves the first corner of a mesh
/// unless its name is empty, and exports it.
const BLENDER: &str = r#"
import bpy, numpy, sys
# Debian's version needs the name, which its numpy lacks.
numpy.bool = bool
source, target, name = sys.argv[-3:]
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.import_scene.gltf(filepath=source)
if name:
    mesh = bpy.data.objects[name].data
    place = mesh.vertices[0].co.copy()
    for vertex in mesh.vertices:
        if (vertex.co - place).length < 1e-6:
            vertex.co.x += 0.25
bpy.ops.export_scene.gltf(filepath=target)
"#;

/// Returns a GLB file as Blender saves it; `None` if Blender is not installed.
fn saved_by_blender(glb: &[u8], moved: &str) -> Option<Vec<u8>> {
    let work = tempdir().unwrap();
    let [source, target] = ["in.glb", "out.glb"].map(|name| work.path().join(name));
    fs::write(&source, glb).unwrap();
    let options = ["-b", "--factory-startup", "--python-exit-code", "1"];
    let files = [&source, &target].map(|path| path.to_str().unwrap());
    let script = ["--python-expr", BLENDER, "--", files[0], files[1], moved];
    let has_run = run_in(work.path(), "blender", &[&options[..], &script].concat());
    has_run.then(|| fs::read(target).unwrap())
}

/// Returns the points of each node with a mesh, by its name.
fn points(glb: &[u8]) -> BTreeMap<String, Vec<[i32; 3]>> {
    let scene = gltf::read(glb, &|_| Ok(None)).unwrap().scene;
    let nodes = scene.nodes.iter();
    let with_mesh = nodes.filter_map(|node| Some((node.name.clone(), node.mesh?)));
    with_mesh
        .map(|(name, mesh)| {
            let points = scene.meshes[mesh].points.iter();
            let rounded = |point: &[f32; 3]| point.map(|part| (part * 1000.0).round() as i32);
            let mut points: Vec<_> = points.map(rounded).collect();
            points.sort_unstable();
            points.dedup();
            (name, points)
        })
        .collect()
}

/// A model in an archive.
struct Model {
    edited: Edited,
    /// GLB file.
    path: &'static str,
    /// A node with a mesh, as Blender names it.
    node: &'static str,
}

/// Returns a model of each format that GLB files go back to.
fn models() -> [Model; 4] {
    let size = |parts: [i32; 3]| parts.map(|part| part << 16);
    let mut tank = tdo::object("body");
    let mut turret = tdo::object("turret");
    turret.position = size([0, 8, 0]);
    for (object, least, most) in [
        (&mut tank, [-8, 0, -8], [8, 8, 8]),
        (&mut turret, [-4, 0, -4], [4, 4, 4]),
    ] {
        tdo::add_box(object, size(least), size(most), |_, side| {
            side.color = 20;
            side.flag = 1;
        });
    }
    tank.children.push(turret);
    let tank = file(b"tank.3do", File::new(tdo::file(&tank), Method::Zlib));
    let unit = V1::new(vec![dir(b"objects3d", vec![tank])]).build();
    let square = clump::square(&["wood", "stone"], &[]);
    let frames = clump::frames(&[("root", -1), ("arm", 0), ("hand", 1)]);
    let atomics = [clump::atomic(1, 0), clump::atomic(2, 1)];
    let hand = clump::clump(&frames, &[square.clone(), square], &atomics, &[]);
    let mut level = Hip::target(Game::Bfbb, Platform::GameCube);
    let pyramid = Asset::new(b"MODL", "pyramid.dff", &heavy_iron::pyramid());
    level.layer(0).add(pyramid);
    let of = |name, bytes: &[u8], path, node| Model {
        edited: Edited::new(name, bytes),
        path,
        node,
    };
    [
        of(
            "a.hpi",
            &unit.bytes,
            "converted/objects3d/tank.glb",
            "turret",
        ),
        of("glove.dff", &hand, "converted/glove.glb", "hand"),
        of(
            "a.HIP",
            &level.build(),
            "converted/models/pyramid.glb",
            "atomic_0",
        ),
        of(
            "door.col",
            &col::model(3, "door"),
            "converted/door.col/00 door.glb",
            "mesh",
        ),
    ]
}

#[fuse_test]
fn a_model_that_blender_saved_is_unchanged_but_for_the_moved_corner() {
    for Model { edited, path, node } in models() {
        let glb = fs::read(edited.original().path().join(path)).unwrap();
        let Some(saved) = saved_by_blender(&glb, "") else {
            return;
        };
        edited.edit(path, &saved);
        assert!(
            edited.packed() == fs::read(&edited.archive).unwrap(),
            "{path}"
        );
        edited.edit(path, &saved_by_blender(&glb, node).unwrap());
        let name = edited.archive.file_name().unwrap().to_str().unwrap();
        let changed = Edited::new(name, &edited.packed());
        let new = fs::read(changed.original().path().join(path)).unwrap();
        let (old, new) = (points(&glb), points(&new));
        for (name, points) in &old {
            let moved = points.iter().filter(|point| !new[name].contains(point));
            assert_eq!(moved.count(), usize::from(name == node), "{path}: {name}");
        }
    }
}

/// The tables of a level that LibreOffice opens and saves.
const TABLES: [&str; 3] = ["TIMR", "placements", "links"];

/// Converts the tables of a folder with LibreOffice's default options; false if it is not
/// installed.
fn convert_tables(folder: &Path, from: &str, to: &str) -> bool {
    let profile = format!("-env:UserInstallation=file://{}/profile", folder.display());
    let files = TABLES.map(|name| format!("{name}.{from}"));
    let mut arguments = vec![profile.as_str(), "--headless"];
    // Separated by tabs, texts in quotes, UTF-8.
    if from == "tsv" {
        arguments.push("--infilter=Text - txt - csv (StarCalc):9,34,76");
    }
    arguments.extend(["--convert-to", to]);
    arguments.extend(files.each_ref().map(String::as_str));
    run_in(folder, "soffice", &arguments)
}

#[fuse_test]
fn tables_that_libreoffice_saved_change_only_the_edited_cell() {
    let edited = level();
    let work = tempdir().unwrap();
    let path = |name: &str, extension: &str| work.path().join(format!("{name}.{extension}"));
    let shown = edited.original();
    for name in TABLES {
        let table = shown.path().join(format!("converted/tables/{name}.tsv"));
        fs::write(path(name, "tsv"), fs::read(table).unwrap()).unwrap();
    }
    if !convert_tables(work.path(), "tsv", "fods") {
        return;
    }
    let save = || {
        convert_tables(
            work.path(),
            "fods",
            "csv:Text - txt - csv (StarCalc):9,34,76",
        );
        for name in TABLES {
            let saved = fs::read(path(name, "csv")).unwrap();
            edited.edit(&format!("converted/tables/{name}.tsv"), &saved);
        }
        edited.packed()
    };
    assert!(save() == fs::read(&edited.archive).unwrap());
    let timers = fs::read_to_string(path("TIMR", "fods")).unwrap();
    let cell = "office:value=\"2\"";
    assert!(timers.contains(cell), "{timers}");
    fs::write(
        path("TIMR", "fods"),
        timers.replacen(cell, "office:value=\"3.5\"", 1),
    )
    .unwrap();
    let (old, new) = (fs::read(&edited.archive).unwrap(), save());
    let two = 2_f32.to_be_bytes();
    let at = old.windows(4).position(|bytes| bytes == two).unwrap();
    let mut expected = old;
    expected[at..at + 4].copy_from_slice(&3.5_f32.to_be_bytes());
    // The archive has a checksum of the asset.
    let different = (0..new.len()).filter(|&n| new[n] != expected[n]).count();
    assert!(new.len() == expected.len() && different <= 4, "{different}");
}
