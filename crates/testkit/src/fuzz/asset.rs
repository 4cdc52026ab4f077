//! Assets, with all their generated files.

use std::sync::Arc;

use hpimount_assets::consoles::{banner, save, xbox};
use hpimount_assets::view::{
    self, Alone, AssetContext, AssetKey, AssetRef, Bytes, MakeShared, Shared, View, ViewFormat,
};
use hpimount_crash::hgo;
use hpimount_gta::{col, dff, gxt, ifp, map, txd};
use hpimount_neversoft::{bon, ddm, kat, psh, psx, pvr, qb, rle, tim, trg, vab, vag, xa};

/// A PSX file, alone and as its own texture library.
pub fn psx(data: &[u8]) {
    look(&psx::FORMAT, data, &Alone);
    look(
        &psx::FORMAT,
        data,
        &Mirror("ab", Bytes::copy_from_slice(data)),
    );
}

/// An HGO file, and a table of its blocks.
pub fn hgo(data: &[u8]) {
    look(&hgo::FORMAT, data, &Alone);
    look(&hgo::BLK_FORMAT, data, &Alone);
}

/// An IFP package.
pub fn ifp(data: &[u8]) {
    look(&ifp::FORMAT, data, &Alone);
}

/// A texture dictionary.
pub fn txd(data: &[u8]) {
    look(&txd::FORMAT, data, &Alone);
}

/// A model of Grand Theft Auto, alone and as its own texture dictionary.
pub fn dff(data: &[u8]) {
    look(&dff::FORMAT, data, &Alone);
    look(
        &dff::FORMAT,
        data,
        &Mirror("ab.dff", Bytes::copy_from_slice(data)),
    );
}

/// Definitions and placements of a map.
pub fn map(data: &[u8]) {
    look(&map::IDE_FORMAT, data, &Alone);
    look(&map::IPL_FORMAT, data, &Alone);
}

/// Collision models.
pub fn col(data: &[u8]) {
    look(&col::FORMAT, data, &Alone);
}

/// Texts.
pub fn gxt(data: &[u8]) {
    look(&gxt::FORMAT, data, &Alone);
}

/// Pictures of the PlayStation.
pub fn tim(data: &[u8]) {
    look(&tim::FORMAT, data, &Alone);
}

/// Sounds of the PlayStation.
pub fn vag(data: &[u8]) {
    look(&vag::FORMAT, data, &Alone);
}

/// Banks of sounds, whole and with their sounds in another file.
pub fn vab(data: &[u8]) {
    look(&vab::FORMAT, data, &Alone);
    look_beside("ab.vh", &vab::FORMAT, data);
}

/// Compiled scripts of Pro Skater.
pub fn qb(data: &[u8]) {
    look(&qb::FORMAT, data, &Alone);
    look_beside("ab.qb_compressed", &qb::FORMAT, data);
}

/// Nodes of levels.
pub fn trg(data: &[u8]) {
    look(&trg::FORMAT, data, &Alone);
}

/// Packed pictures.
pub fn rle(data: &[u8]) {
    look(&rle::FORMAT, data, &Alone);
    look_beside("ab.bmr", &rle::FORMAT, data);
    look_beside("ab.zlb", &rle::FORMAT, data);
}

/// Pictures of the Dreamcast.
pub fn pvr(data: &[u8]) {
    look(&pvr::FORMAT, data, &Alone);
}

/// Names of the parts of characters.
pub fn psh(data: &[u8]) {
    look(&psh::FORMAT, data, &Alone);
}

/// Banks of sounds of the Dreamcast, and cues.
pub fn kat(data: &[u8]) {
    look(&kat::FORMAT, data, &Alone);
    look_beside("ab.sfx", &kat::CUE_FORMAT, data);
}

/// Sounds and movies in sectors.
pub fn xa(data: &[u8]) {
    look(&xa::FORMAT, data, &Alone);
    look_beside("ab.str", &xa::MOVIE_FORMAT, data);
}

/// Models of levels, and their textures.
pub fn ddm(data: &[u8]) {
    look(&ddm::FORMAT, data, &Alone);
    look(&ddm::DDX_FORMAT, data, &Alone);
}

/// Characters.
pub fn bon(data: &[u8]) {
    look(&bon::FORMAT, data, &Alone);
}

/// Opens a file with this name. Every file beside it has the same bytes.
fn look_beside(name: &'static str, format: &ViewFormat, data: &[u8]) {
    look(format, data, &Mirror(name, Bytes::copy_from_slice(data)));
}

/// Banners, title images and saves of consoles.
pub fn consoles(data: &[u8]) {
    let formats = [banner::FORMAT, save::FORMAT, xbox::FORMAT, xbox::XPR_FORMAT];
    for format in formats {
        look(&format, data, &Alone);
    }
}

/// A context with the name of the asset. Every file beside it is the asset.
struct Mirror(&'static str, Bytes);

impl AssetContext for Mirror {
    fn name(&self) -> &str {
        self.0
    }

    fn find(&self, _: AssetKey<'_>) -> Option<AssetRef> {
        Some(AssetRef(0))
    }

    fn read(&self, _file: AssetRef) -> Option<Bytes> {
        Some(self.1.clone())
    }

    fn shared(&self, _name: &'static str, make: MakeShared<'_>) -> Option<Arc<dyn Shared>> {
        Some(make(self).into())
    }
}

pub(super) fn look(format: &ViewFormat, data: &[u8], context: &dyn AssetContext) {
    let bytes = Bytes::copy_from_slice(data);
    let _ = format.matches(&bytes);
    let view = match (format.open)(&bytes, context) {
        Ok(view) => view,
        Err(failure) => {
            let text = failure.to_string();
            assert!(text.contains("0x"), "{text}");
            view::open(format, &bytes, context)
        }
    };
    let _ = view.memory();
    for (index, file) in view.files().iter().enumerate() {
        let made = rendering(&*view, index);
        check(format, &file.name, &made);
        if made.len() < 4096 {
            assert_eq!(rendering(&*view, index), made, "{} changes", file.name);
        }
    }
    let past_the_end = view.render(view.files().len(), &Alone, &mut Vec::new());
    assert!(past_the_end.is_err());
}

fn rendering(view: &dyn View, index: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    view.render(index, &Alone, &mut bytes).unwrap();
    bytes
}

/// Texts that may be empty.
const MAYBE_EMPTY: [&str; 3] = ["source.q", "text.txt", "texts.txt"];

/// Asserts that programs can read a generated file.
pub(super) fn check(format: &ViewFormat, name: &str, made: &[u8]) {
    assert!(
        !made.is_empty() || MAYBE_EMPTY.contains(&name),
        "{name} is empty"
    );
    match name.rsplit('.').next() {
        Some("json") => {
            serde_json::from_slice::<serde_json::Value>(made).unwrap();
        }
        Some("txt" | "tsv" | "obj" | "mtl" | "bvh") => check_text(name, made),
        Some("q") => assert!(std::str::from_utf8(made).is_ok(), "{name}"),
        Some("dds") => assert!(made.starts_with(b"DDS "), "{name}"),
        Some("pvr") => assert!(
            made.starts_with(b"GBIX") || made.starts_with(b"PVRT"),
            "{name}"
        ),
        Some("bmp") => assert!(made.starts_with(b"BM"), "{name}"),
        Some("png" | "apng") => {
            let decoder = png::Decoder::new(std::io::Cursor::new(made));
            let mut reader = decoder.read_info().unwrap();
            let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
            reader.next_frame(&mut pixels).unwrap();
        }
        Some("wav") => {
            let length = u32::from_le_bytes(made[4..8].try_into().unwrap()) as usize;
            assert_eq!(
                (&made[..4], length),
                (&b"RIFF"[..], made.len() - 8),
                "{name}"
            );
        }
        Some("glb") => check_glb(made),
        Some("ifp") => assert!(
            (format.open)(&Bytes::copy_from_slice(made), &Alone).is_ok(),
            "{name}"
        ),
        _ => panic!("{name} is of a new kind"),
    }
}

fn check_text(name: &str, made: &[u8]) {
    let text = std::str::from_utf8(made).unwrap();
    if name.ends_with(".tsv") {
        let columns = |line: &str| line.split('\t').count();
        let first = text.lines().next().map_or(0, columns);
        assert!(text.lines().all(|line| columns(line) == first), "{name}");
    }
    // Comments and names may contain anything.
    let has_numbers = |line: &&str| line.starts_with(['v', 'K', 'd', '-']);
    for line in text.lines().filter(has_numbers) {
        let words = line.split_ascii_whitespace();
        let mut numbers = words.filter_map(|word| word.parse::<f64>().ok());
        let is_table = name.ends_with(".txt") || name.ends_with(".tsv");
        assert!(is_table || numbers.all(f64::is_finite), "{name}: {line}");
    }
}

/// Asserts that the lengths in a GLB file are right, and that every view is
/// inside its buffer.
fn check_glb(made: &[u8]) {
    let word = |at: usize| u32::from_le_bytes(made[at..at + 4].try_into().unwrap()) as usize;
    assert_eq!((&made[..4], word(8)), (&b"glTF"[..], made.len()));
    let (json, rest) = made[20..].split_at(word(12));
    let buffer = if rest.is_empty() { 0 } else { rest.len() - 8 };
    let json: serde_json::Value = serde_json::from_slice(json).unwrap();
    for view in json["bufferViews"].as_array().into_iter().flatten() {
        let number = |key: &str| view[key].as_u64().unwrap_or_default() as usize;
        assert!(number("byteOffset") + number("byteLength") <= buffer);
    }
}
