//! The assets in the sample HIP archives beside the repository, against what
//! independent readers found in them.

#[path = "support/heavy_iron/mod.rs"]
mod heavy_iron;
mod support;

use std::path::Path;

use heavy_iron::samples::{Archive, Asset, archives};
use hpimount::asset::heavy_iron::texture;

/// The width and the pixels of a PNG file.
fn png(path: &Path) -> (u32, Vec<[u8; 4]>) {
    let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    assert_eq!(info.color_type, png::ColorType::Rgba);
    (info.width, bytes.as_chunks().0.to_vec())
}

/// Calls `check` with every asset of these types in the good samples.
fn each(types: &[&str], mut check: impl FnMut(&Archive, &Asset)) {
    let mut seen = 0;
    let archives = archives(false);
    for archive in &archives {
        for asset in archive.of_types(types) {
            check(archive, asset);
            seen += 1;
        }
    }
    assert!(seen > 0 || archives.is_empty(), "no assets of {types:?}");
}

#[test]
fn textures_have_the_pixels_that_the_independent_reader_sees() {
    each(&["RWTX", "TEXS"], |archive, asset| {
        let shown = format!("{}: {}", archive.name, asset.name);
        let model = texture::parse(&asset.bytes).unwrap_or_else(|e| panic!("{shown}: {}", e.error));
        assert!(model.warnings.is_empty(), "{shown}: {:?}", model.warnings);
        if asset.bytes.is_empty() {
            assert!(model.textures.is_empty(), "{shown}");
            return;
        }
        assert_eq!(model.textures.len(), 1, "{shown}");
        let texture = &model.textures[0];
        let golden = archive
            .golden(asset, "png")
            .expect("every texture is known");
        let (width, pixels) = png(&golden);
        assert_eq!(
            (texture.width, texture.pixels_of(0)),
            (width, pixels),
            "{shown}"
        );
        for number in 1..texture.levels.len() {
            let level = &texture.levels[number];
            assert_eq!(texture.pixels_of(number).len(), level.pixels(), "{shown}");
        }
    });
}

/// What the tests ask of a texture.
trait Pixels {
    fn pixels_of(&self, level: usize) -> Vec<[u8; 4]>;
}

impl Pixels for texture::Texture {
    fn pixels_of(&self, level: usize) -> Vec<[u8; 4]> {
        self.rgba(level).expect("the level is there")
    }
}
