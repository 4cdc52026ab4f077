//! Models of PSX, HGO, TRG and DDM files, which other programs open.

use std::fs;
use std::sync::Arc;

use fixtures::{assets, playstation};
use hpimount::formats::VIEW_FORMATS;
use hpimount_assets::view::{AssetContext, AssetKey, AssetRef, Bytes, MakeShared, Shared};
use testkit::gltf;

/// The directory of an asset with this name, where `level.psx` is a level.
struct Beside<'a>(&'a str);

impl AssetContext for Beside<'_> {
    fn name(&self) -> &str {
        self.0
    }

    fn find(&self, wanted: AssetKey<'_>) -> Option<AssetRef> {
        (wanted == AssetKey::Sibling("level.psx")).then_some(AssetRef(0))
    }

    fn read(&self, _file: AssetRef) -> Option<Bytes> {
        Some(assets::level(4).into())
    }

    fn shared(&self, _name: &'static str, make: MakeShared<'_>) -> Option<Arc<dyn Shared>> {
        Some(make(self).into())
    }
}

#[test]
fn the_gltf_validator_finds_no_errors() {
    let directory = tempfile::tempdir().unwrap();
    let mut models = Vec::new();
    let assets = assets::one_of_each().into_iter();
    let assets = assets.map(|(name, _, bytes)| (name, bytes));
    for (name, bytes) in assets.chain(playstation::files()) {
        let mut formats = VIEW_FORMATS.iter();
        let format = formats
            .find(|format| format.shows(name.as_bytes()))
            .unwrap();
        let context = Beside(name);
        let view = (format.open)(&bytes.into(), &context);
        let view = view.unwrap_or_else(|failure| panic!("{name}: {failure}"));
        for (index, file) in view.files().iter().enumerate() {
            if ["model.glb", "level.glb"].contains(&file.name.as_str()) {
                let path = directory.path().join(format!("{name}.{}", file.name));
                let mut glb = Vec::new();
                view.render(index, &context, &mut glb).unwrap();
                fs::write(&path, glb).unwrap();
                models.push(path);
            }
        }
    }
    assert!(models.len() >= 5, "{models:?}");
    gltf::accept(&models);
}
