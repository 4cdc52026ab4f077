//! Empty files of converted trees.

use std::fs;
use std::path::Path;

use crate::shared;
use serde_json::Value;
use testkit::files::walk;
use testkit::fuse_test;
use testkit::merging::attribute;
use testkit::mount::Fixture;
use testkit::trial;

/// Intact samples without content of this kind, or with warnings only: no frames,
/// models, textures, animations or pictures.
const NOTHING_TO_SHOW: &[&str] = &[
    "gta/dff/bomb_nested.glb",
    "gta/dff/bomb_nested.png",
    "gta/dff/bomb_zero_chunks.glb",
    "gta/dff/bomb_zero_chunks.png",
    "gta/dff/good_no_geometry.glb",
    "gta/dff/good_no_geometry.png",
    "gta/dff/good_no_geometry_list.glb",
    "gta/dff/good_no_geometry_list.png",
    "gta/txd/bomb_count.png",
    "gta/txd/good_empty.png",
    "hgo/generated/no_joints.glb",
    "hgo/generated/no_joints.png",
    "hgo/generated/pal_textures.glb",
    "hgo/generated/unknown_chunk.glb",
    "hgo/generated/unknown_chunk.png",
    "ifp/generated/anp3_empty.glb",
    "ifp/generated/anpk_empty.glb",
    "psx/generated/bits_sprites.glb",
    "psx/generated/empty_v3.glb",
    "psx/generated/empty_v3.png",
    "psx/generated/empty_v4.glb",
    "psx/generated/empty_v4.png",
    "psx/generated/texlib_l.glb",
    "ta/gaf/empty.png",
    "ta/gaf/zero_frames.png",
];

/// Folders of samples outside of HIP archives.
const FOLDERS: [&str; 6] = ["gta", "hgo", "ifp", "neversoft", "psx", "ta"];

/// Returns whether the asset that a file of a converted tree shows is damaged, or
/// a part of it.
fn is_damaged(root: &Path, file: &Path) -> bool {
    let directory = file.strip_prefix(root.join("converted")).unwrap();
    let source = attribute(file, "source").unwrap();
    let meta = root.join(directory.with_file_name(format!("{source}.meta")));
    let facts = fs::read_to_string(meta.join("info.json")).unwrap();
    meta.join("error.txt").exists() || facts.contains("\"error\": \"") || is_refused(&facts, file)
}

/// Returns whether a warning explains why a part with the extension of a converted file
/// is not shown. A movie is intact even if its first picture is damaged.
fn is_refused(facts: &str, file: &Path) -> bool {
    let facts: Value = serde_json::from_str(facts).unwrap();
    let mut warnings = facts["warnings"].as_array().into_iter().flatten();
    warnings.any(|warning| {
        let parts = warning.as_str().unwrap().split_once(" is not shown: ");
        parts.is_some_and(|(part, _)| Path::new(part).extension() == file.extension())
    })
}

#[fuse_test]
fn a_converted_file_is_empty_only_if_its_asset_is_damaged_or_has_nothing_to_show() {
    let mut found = Vec::new();
    let tried: Vec<_> = trial::some(FOLDERS, 4).collect();
    for folder in &tried {
        let Some(archive) = shared(&format!("samples/{folder}")) else {
            return;
        };
        let mut fixture = Fixture::new();
        fixture.archive = archive;
        let mount = fixture.mount(&[]);
        let root = mount.path();
        let tree = root.join("converted");
        let files = walk(&tree).into_iter().filter(|path| {
            // The files of `X.meta` are checked for all damages elsewhere.
            path.is_file() && !path.iter().any(|part| part == "parts")
        });
        for file in files {
            if fs::metadata(&file).unwrap().len() == 0 && !is_damaged(root, &file) {
                let path = file.strip_prefix(&tree).unwrap();
                found.push(format!("{folder}/{}", path.display()));
            }
        }
    }
    found.sort_unstable();
    let is_tried = |path: &&&str| {
        tried
            .iter()
            .any(|folder| path.starts_with(&format!("{folder}/")))
    };
    let expected: Vec<&str> = NOTHING_TO_SHOW.iter().filter(is_tried).copied().collect();
    assert_eq!(found, expected);
}
