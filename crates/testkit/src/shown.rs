//! HIP archives in mounts, and the companions of their assets.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::mount::Mount;
use crate::sources::names;
use hpimount_containers::hip::asset_id;

/// Returns the companion of an asset, found by the asset's id.
pub fn meta(mount: &Mount, id: u32) -> PathBuf {
    meta_in(mount.path(), id)
}

/// Returns the companion of an asset of the archive that is shown at a path.
pub fn meta_in(archive: &Path, id: u32) -> PathBuf {
    let ids = archive.join("ids");
    let start = format!("{id:08X}");
    let found = names(&ids)
        .into_iter()
        .find(|name| name.starts_with(&start));
    let asset = fs::canonicalize(ids.join(found.expect("every asset has its id"))).unwrap();
    let name = asset.file_name().unwrap().to_str().unwrap();
    asset.with_file_name(format!("{name}.meta"))
}

/// Returns the bytes of a file. Its size must be known before it is opened.
pub fn bytes_of(path: &Path) -> Vec<u8> {
    let size = fs::metadata(path).unwrap().len();
    let bytes = fs::read(path).unwrap();
    assert_eq!(size, bytes.len() as u64, "{}", path.display());
    bytes
}

/// Returns the rows of a table, by the names of the columns.
pub fn rows(path: &Path) -> Vec<BTreeMap<String, String>> {
    let text = String::from_utf8(bytes_of(path)).unwrap();
    let mut lines = text.lines().map(|line| line.split('\t').map(str::to_owned));
    let columns: Vec<String> = lines.next().unwrap().collect();
    lines
        .map(|cells| columns.iter().cloned().zip(cells).collect())
        .collect()
}

/// Returns the companion of an asset of a built archive.
pub fn built(mount: &Mount, name: &str) -> PathBuf {
    meta(mount, asset_id(name.as_bytes()))
}

/// Returns the entries of a directory in the order of the archive.
pub fn listed(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// Returns an attribute, empty if the asset does not have it.
pub fn attribute(path: &Path, name: &str) -> String {
    let value = xattr::get(path, format!("user.hip.{name}")).unwrap();
    String::from_utf8(value.unwrap_or_default()).unwrap()
}

/// A triangle: a texture, and for each corner its position and texture
/// coordinates, in thousandths. The least corner is first.
pub type Triangle = (String, [[i64; 5]; 3]);

pub fn triangle(texture: &str, corners: [[f64; 5]; 3]) -> Triangle {
    let mut corners = corners.map(|corner| corner.map(|value| (value * 1000.0).round() as i64));
    let least = (0..3).min_by_key(|&index| corners[index]).unwrap();
    corners.rotate_left(least);
    (texture.to_owned(), corners)
}

/// Returns the triangles of an OBJ file with the textures of its materials.
pub fn shown_triangles(meta: &Path) -> Vec<Triangle> {
    let mtl = fs::read_to_string(meta.join("model.mtl")).unwrap();
    let mut textures = BTreeMap::new();
    let mut material = "";
    for line in mtl.lines() {
        if let Some(name) = line.strip_prefix("newmtl ") {
            material = name;
        } else if let Some(file) = line.strip_prefix("map_Kd textures/") {
            textures.insert(material, file.trim_end_matches(".png"));
        }
    }
    let obj = String::from_utf8(bytes_of(&meta.join("model.obj"))).unwrap();
    let (mut points, mut uvs, mut triangles) = (Vec::new(), Vec::new(), Vec::new());
    let mut texture = "";
    for line in obj.lines() {
        let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
        let numbers = || rest.split(' ').map(|number| number.parse::<f64>().unwrap());
        match kind {
            "v" => points.push(numbers().take(3).collect::<Vec<_>>()),
            "vt" => uvs.push(numbers().collect::<Vec<_>>()),
            "usemtl" => texture = textures.get(rest).copied().unwrap_or("mat0"),
            "f" => {
                let corners: Vec<_> = rest
                    .split(' ')
                    .map(|corner| {
                        let mut numbers = corner.split('/').map(|n| n.parse::<usize>().unwrap());
                        let point = &points[numbers.next().unwrap() - 1];
                        let uv = &uvs[numbers.next().unwrap() - 1];
                        [point[0], point[1], point[2], uv[0], 1.0 - uv[1]]
                    })
                    .collect();
                triangles.push(triangle(texture, corners.try_into().unwrap()));
            }
            _ => {}
        }
    }
    triangles.sort();
    triangles
}
