//! Models of PSX and HGO files, which other programs open.

use std::fs;

use crate::support::assets::one_of_each;
use crate::support::gltf;
use crate::support::views::rendering;
use hpimount_assets::formats::VIEW_FORMATS;
use hpimount_assets::view::Alone;

#[test]
fn the_gltf_validator_finds_no_errors() {
    let directory = tempfile::tempdir().unwrap();
    let mut models = Vec::new();
    for (name, _, bytes) in one_of_each() {
        let mut formats = VIEW_FORMATS.iter();
        let format = formats
            .find(|format| format.shows(name.as_bytes()))
            .unwrap();
        let view = (format.open)(&bytes.into(), &Alone);
        let view = view.unwrap_or_else(|failure| panic!("{name}: {}", failure.error));
        let files = view.files();
        if let Some(index) = files.iter().position(|file| file.name == "model.glb") {
            let path = directory.path().join(format!("{name}.glb"));
            fs::write(&path, rendering(&*view, index)).unwrap();
            models.push(path);
        }
    }
    assert!(models.len() >= 3, "{models:?}");
    gltf::accept(&models);
}
