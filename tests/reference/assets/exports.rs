//! Pictures, models and animations of a `.meta` are correct, and independent
//! programs open them.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use crate::shared;
use hpimount::formats::VIEW_FORMATS;
use hpimount_assets::view::{AssetContext, AssetKey, AssetRef, Bytes, MakeShared, Shared, View};
use serde_json::Value;
use testkit::gltf;
use testkit::pictures::pixels;
use testkit::skip::skip;
use testkit::views::rendering;

/// A file in a folder on disk, and the names of all files in the folder.
struct Siblings<'a> {
    path: &'a Path,
    files: Vec<String>,
}

impl<'a> Siblings<'a> {
    fn new(path: &'a Path) -> Self {
        let entries = fs::read_dir(path.parent().unwrap()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let files = names.collect();
        Self { path, files }
    }
}

impl AssetContext for Siblings<'_> {
    fn name(&self) -> &str {
        self.path.file_name().and_then(OsStr::to_str).unwrap_or("")
    }

    fn find(&self, wanted: AssetKey<'_>) -> Option<AssetRef> {
        let AssetKey::Sibling(name) = wanted else {
            return None;
        };
        let found = self.files.iter().position(|file| *file == name)?;
        Some(AssetRef(found as u64))
    }

    fn read(&self, file: AssetRef) -> Option<Bytes> {
        let name = &self.files[file.0 as usize];
        let bytes = fs::read(self.path.with_file_name(name)).ok()?;
        Some(bytes.into())
    }

    fn shared(&self, _name: &'static str, make: MakeShared<'_>) -> Option<Arc<dyn Shared>> {
        Some(make(self).into())
    }
}

/// Returns the view of a file, or `None` if it is damaged.
fn open(path: &Path) -> Option<Box<dyn View>> {
    let name = path.file_name()?.to_str()?;
    let format = VIEW_FORMATS
        .iter()
        .find(|format| format.shows(name.as_bytes()))?;
    (format.open)(&fs::read(path).unwrap().into(), &Siblings::new(path)).ok()
}

/// Returns the samples of a format, sorted by name.
fn samples(format: &str) -> Vec<PathBuf> {
    let Some(folder) = shared(&format!("samples/{format}/generated")) else {
        return Vec::new();
    };
    let entries = fs::read_dir(folder).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    paths
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// Returns the files of a view with their paths in `X.meta`.
fn contents(view: &dyn View) -> Files {
    let files = view.files().into_iter().enumerate();
    let file = |(index, file): (usize, hpimount_assets::view::ViewFile)| {
        let path = match file.folder {
            Some(folder) => format!("{folder}/{}", file.name),
            None => file.name,
        };
        (path, rendering(view, index))
    };
    files.map(file).collect()
}

fn info(files: &[(String, Vec<u8>)]) -> Value {
    let info = files.iter().find(|(path, _)| path == "info.json").unwrap();
    serde_json::from_slice(&info.1).unwrap()
}

#[test]
fn every_texture_has_the_known_pixels() {
    for format in ["psx", "hgo"] {
        let Some(golden) = shared(&format!("golden/{format}/generated")) else {
            continue;
        };
        let mut compared = 0;
        for sample in samples(format) {
            let Some(view) = open(&sample) else { continue };
            let files = contents(&*view);
            for number in 0.. {
                let known = golden.join(format!("{}.tex{number:02}.png", name(&sample)));
                let Ok(known) = fs::read(&known) else { break };
                let start = format!("textures/{number:02} ");
                let shown = files.iter().find(|(path, _)| path.starts_with(&start));
                let (path, shown) =
                    shown.unwrap_or_else(|| panic!("{}: no {start}", name(&sample)));
                let ((width, height, shown), known) = (pixels(shown), pixels(&known));
                assert_eq!(
                    (width, height),
                    (known.0, known.1),
                    "{}: {path}",
                    name(&sample)
                );
                // The known pictures mix the colors of blocks in thirds, the hardware in
                // eighths.
                let most = if path.contains("CMPR") { 11 } else { 0 };
                let mut parts = shown.iter().zip(&known.2);
                let is_near = parts.all(|(part, known)| part.abs_diff(*known) <= most);
                assert!(is_near, "{}: {path}", name(&sample));
                compared += 1;
            }
        }
        assert!(compared > 5, "{format}: {compared}");
    }
}

/// The files of a `.meta`, with their paths in it.
type Files = Vec<(String, Vec<u8>)>;

/// Writes the files of all samples of a format, and returns the folders.
fn unpack(format: &str, into: &Path) -> Vec<(PathBuf, Files)> {
    let mut folders = Vec::new();
    for sample in samples(format) {
        let Some(view) = open(&sample) else { continue };
        let folder = into.join(format!("{}.meta", name(&sample)));
        let files = contents(&*view);
        for (path, bytes) in &files {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        folders.push((folder, files));
    }
    folders
}

/// Runs an external program, and returns whether it succeeded and its output.
/// Skips the test and returns `None` if the program is not installed.
fn run_external(program: &str, args: &[&OsStr]) -> Option<(bool, String)> {
    match Command::new(program).args(args).output() {
        Ok(output) => {
            let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
            text += &String::from_utf8_lossy(&output.stderr);
            Some((output.status.success(), text))
        }
        Err(_) => {
            skip(&format!("{program} is not installed"));
            None
        }
    }
}

/// Returns the number after a label of `assimp info`.
fn count(text: &str, label: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(label));
    let line = line.unwrap_or_else(|| panic!("no {label} in {text}"));
    line.trim().parse().unwrap()
}

/// Returns the number of faces that assimp finds in a file.
fn faces(file: &Path) -> Option<u64> {
    let (passed, text) = run_external("assimp", &["info".as_ref(), file.as_ref()])?;
    assert!(passed, "{}: {text}", file.display());
    Some(count(&text, "Faces:"))
}

/// Returns the number of lines of an OBJ file that begin with a word.
fn lines(obj: &[u8], word: &str) -> u64 {
    let text = std::str::from_utf8(obj).unwrap();
    let lines = text
        .lines()
        .filter(|line| line.split(' ').next() == Some(word));
    lines.count() as u64
}

fn sum(list: &Value, of: impl Fn(&Value) -> u64) -> u64 {
    list.as_array().unwrap().iter().map(of).sum()
}

fn number(value: &Value, field: &str) -> u64 {
    value[field].as_u64().unwrap()
}

#[test]
fn pngcheck_finds_no_errors() {
    let into = tempfile::tempdir().unwrap();
    for format in ["psx", "hgo"] {
        for (folder, files) in unpack(format, into.path()) {
            for (path, _) in files.iter().filter(|(path, _)| path.ends_with(".png")) {
                let file = folder.join(path);
                let args = ["-q".as_ref(), file.as_os_str()];
                let Some((passed, text)) = run_external("pngcheck", &args) else {
                    return;
                };
                assert!(
                    passed && text.trim().is_empty(),
                    "{}: {text}",
                    file.display()
                );
            }
        }
    }
}

/// Returns the numbers of vertices and triangles of a PSX model in `info.json`.
fn psx_model(model: &Value) -> (u64, u64) {
    let triangles = number(model, "triangles") + 2 * number(model, "quads");
    (number(model, "vertices"), triangles)
}

/// Returns the number of joints in a GLB file.
fn joints(glb: &[u8]) -> u64 {
    let length = u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
    let json: Value = serde_json::from_slice(&glb[20..20 + length]).unwrap();
    let skins = json["skins"].as_array();
    skins.map_or(0, |skins| {
        skins[0]["joints"].as_array().unwrap().len() as u64
    })
}

#[test]
fn assimp_agrees_with_info_json_on_psx_models() {
    let into = tempfile::tempdir().unwrap();
    for (folder, files) in unpack("psx", into.path()) {
        // Faces that refer to missing vertices are omitted.
        if folder.ends_with("odd_vertex_index.psx.meta") {
            continue;
        }
        let info = info(&files);
        let models = info["models"].as_array().unwrap();
        let objects = info["objects"].as_array().unwrap();
        let shown = objects
            .iter()
            .map(|object| number(object, "model") as usize);
        let mut shown: Vec<usize> = shown.filter(|&model| model < models.len()).collect();
        let triangles =
            |shown: &[usize]| -> u64 { shown.iter().map(|&m| psx_model(&models[m]).1).sum() };
        let in_scene = triangles(&shown);
        // In a level, objects with the same model share its mesh.
        if info["kind"] == "level" {
            shown.sort_unstable();
            shown.dedup();
        }
        let in_glb = triangles(&shown);
        for (path, bytes) in &files {
            let expected = match path.as_str() {
                "scene.obj" => in_scene,
                "model.glb" => in_glb,
                path if path.ends_with(".obj") => {
                    let index: usize = path["models/".len()..][..2].parse().unwrap();
                    let (vertices, triangles) = psx_model(&models[index]);
                    assert_eq!(lines(bytes, "v"), vertices, "{path}");
                    triangles
                }
                _ => continue,
            };
            let file = folder.join(path);
            let Some(found) = faces(&file) else { return };
            assert_eq!(found, expected, "{}", file.display());
            if path == "model.glb" && info["kind"] == "character" {
                assert_eq!(joints(bytes), objects.len() as u64);
            }
        }
    }
}

/// Returns the meshes of an HGO layer in `info.json`.
fn hgo_meshes(layer: &Value) -> Vec<&Value> {
    let slots = ["rigid", "skin", "blend_rigid", "blend_skin"];
    let mut found = Vec::new();
    for slot in slots.iter().filter_map(|slot| layer.get(slot)) {
        let geometry: Vec<&Value> = match slot {
            Value::Object(joints) => joints
                .values()
                .flat_map(|j| j.as_array().unwrap())
                .collect(),
            list => list.as_array().unwrap().iter().collect(),
        };
        let meshes = geometry.into_iter().filter_map(|one| one.get("meshes"));
        found.extend(meshes.flat_map(|meshes| meshes.as_array().unwrap()));
    }
    found
}

#[test]
fn assimp_agrees_with_info_json_on_hgo_models() {
    let into = tempfile::tempdir().unwrap();
    for (folder, files) in unpack("hgo", into.path()) {
        if folder.to_string_lossy().contains(".blk.") {
            continue;
        }
        let info = info(&files);
        let layers = info["layers"].as_array().unwrap();
        let triangles = |layer: &Value| -> u64 {
            hgo_meshes(layer)
                .iter()
                .map(|mesh| number(mesh, "triangles"))
                .sum()
        };
        for (path, bytes) in &files {
            let expected = match path.as_str() {
                "model.glb" => layers.iter().map(triangles).sum(),
                path if path.ends_with(".obj") => {
                    let index: usize = path["models/".len()..][..2].parse().unwrap();
                    let meshes = hgo_meshes(&layers[index]);
                    let vertices: u64 = meshes.iter().map(|mesh| number(mesh, "vertices")).sum();
                    assert_eq!(lines(bytes, "v"), vertices, "{path}");
                    triangles(&layers[index])
                }
                _ => continue,
            };
            let file = folder.join(path);
            let Some(found) = faces(&file) else { return };
            assert_eq!(found, expected, "{}", file.display());
            if path == "model.glb" {
                assert_eq!(joints(bytes), sum(&info["joints"], |_| 1));
            }
        }
    }
}

#[test]
fn the_gltf_validator_finds_no_errors() {
    let into = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    for format in ["psx", "hgo"] {
        for (folder, _) in unpack(format, into.path()) {
            files.push(folder.join("model.glb"));
        }
    }
    if files.is_empty() {
        return;
    }
    files.retain(|file| file.exists());
    assert!(files.len() > 8, "{files:?}");
    gltf::validate(&files);
}
