//! The assets in the sample HIP archives beside the repository, compared with
//! the results of independent readers.

use std::path::Path;

use crate::heavy_iron::samples::{Archive, Asset, archives};
use hpimount_heavy_iron::sound::{self, Sound};
use hpimount_heavy_iron::texture;

/// Returns the width and the pixels of a PNG file.
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
fn textures_have_the_pixels_that_the_independent_reader_decodes() {
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

/// The pixels of a texture, for comparisons.
trait Pixels {
    fn pixels_of(&self, level: usize) -> Vec<[u8; 4]>;
}

impl Pixels for texture::Texture {
    fn pixels_of(&self, level: usize) -> Vec<[u8; 4]> {
        self.rgba(level).expect("the level exists")
    }
}

/// A WAV file: channels, rate, samples, and the ends of its loop.
#[derive(Debug, PartialEq)]
struct Wav {
    channels: u16,
    rate: u32,
    samples: Vec<i16>,
    loops: Option<(u32, u32)>,
}

impl Wav {
    fn read(path: &Path) -> Self {
        let bytes = std::fs::read(path).unwrap();
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let data = &bytes[44..44 + word(40) as usize];
        let tail = 44 + data.len().next_multiple_of(2);
        let smpl = bytes[tail..].starts_with(b"smpl");
        Self {
            channels: word(20).to_le_bytes()[2].into(),
            rate: word(24),
            samples: data
                .as_chunks()
                .0
                .iter()
                .map(|s| i16::from_le_bytes(*s))
                .collect(),
            loops: smpl.then(|| (word(tail + 8 + 44), word(tail + 8 + 48))),
        }
    }

    fn of(sound: &Sound) -> Self {
        Self {
            channels: sound.channels,
            rate: sound.rate,
            samples: sound.pcm(),
            loops: sound.loops.map(|part| (part.start, part.end)),
        }
    }
}

#[test]
fn sounds_have_the_samples_and_loops_that_the_independent_reader_decodes() {
    let mut decoded = 0;
    for archive in archives(false) {
        let Some(table) = archive.of_types(&["SNDI"]).next() else {
            continue;
        };
        let table = sound::parse_table(&table.bytes, &archive.facts).unwrap();
        assert!(table.warnings.is_empty(), "{:?}", table.warnings);
        for asset in archive.of_types(&["SND", "SNDS"]) {
            let shown = format!("{}: {}", archive.name, asset.name);
            let Some(entry) = table.find(asset.id) else {
                assert_eq!(
                    (&*asset.name, &*asset.expect),
                    ("no_entry", "odd"),
                    "{shown}"
                );
                continue;
            };
            assert_eq!(entry.kind.name(), asset.code, "{shown}");
            let sound = sound::parse(&asset.bytes, entry).unwrap();
            assert!(sound.warnings.is_empty(), "{shown}: {:?}", sound.warnings);
            let golden = Wav::read(&archive.golden(asset, "wav").unwrap());
            assert_eq!(Wav::of(&sound), golden, "{shown}");
            check_native(&archive, asset, &sound);
            decoded += 1;
        }
        assert_eq!(
            table.entries.len(),
            archive
                .goldens()
                .keys()
                .filter(|n| n.ends_with("wav"))
                .count()
        );
    }
    assert!(decoded >= 23 || archives(false).is_empty(), "{decoded}");
}

/// Compares the file with its restored header. The independent reader keeps the stored
/// header; ours corrects the loop end, the first byte and the unused bytes.
fn check_native(archive: &Archive, asset: &Asset, sound: &Sound) {
    let Some((header, extension)) = sound.native_header() else {
        assert!(archive.golden(asset, "dsp").is_none() && archive.golden(asset, "vag").is_none());
        return;
    };
    let mut golden = std::fs::read(archive.golden(asset, extension).unwrap()).unwrap();
    if extension == "dsp" {
        if asset.name == "loop_quirk_end" {
            assert_eq!(golden[0x14..0x18], 1_142_857_u32.to_be_bytes());
            golden[0x14..0x18].copy_from_slice(&3199_u32.to_be_bytes());
        }
        if asset.name == "ps_differs" {
            golden[0x3F] = golden[0x60];
        }
        golden[0x4A..0x60].fill(0);
    }
    let ours = [&header[..], &asset.bytes].concat();
    assert!(ours == golden, "{}: {extension}", asset.name);
}
