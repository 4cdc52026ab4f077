//! The models and levels of the samples are valid glTF.

use std::fs;

use super::samples::{files, samples};
use testkit::gltf;

#[test]
fn the_gltf_validator_finds_no_errors_in_models_and_levels() {
    let folder = tempfile::tempdir().unwrap();
    let mut models = Vec::new();
    for kind in ["ddm", "psx", "trg"] {
        for sample in samples(kind, &[kind]) {
            let Ok(view) = sample.open() else { continue };
            for glb in files(&*view, ".glb") {
                let name = format!("{:03} {}.glb", models.len(), sample.name);
                let path = folder.path().join(name);
                fs::write(&path, glb).unwrap();
                models.push(path);
            }
        }
    }
    if !models.is_empty() {
        assert!(models.len() >= 15, "{models:?}");
        gltf::validate(&models);
    }
}
