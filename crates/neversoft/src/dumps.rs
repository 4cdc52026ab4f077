//! Golden tests: the generated files of small assets, compared with `dumps/`.

use std::io::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use fixtures::ta::bmp::Bmp;
use fixtures::{assets, dumps, playstation, psx};
use hpimount_assets::view::{AssetContext, AssetKey, AssetRef, MakeShared, Shared};

/// An asset, and the files beside it.
pub(crate) struct Beside<'a> {
    pub(crate) name: &'a str,
    pub(crate) others: &'a [(&'a str, Vec<u8>)],
}

impl AssetContext for Beside<'_> {
    fn name(&self) -> &str {
        self.name
    }

    fn find(&self, key: AssetKey<'_>) -> Option<AssetRef> {
        let mut others = self.others.iter();
        let index = others.position(|(other, _)| key == AssetKey::Sibling(other))?;
        Some(AssetRef(index as u64))
    }

    fn read(&self, file: AssetRef) -> Option<Bytes> {
        Some(self.others[file.0 as usize].1.clone().into())
    }

    fn shared(&self, _name: &'static str, make: MakeShared<'_>) -> Option<Arc<dyn Shared>> {
        Some(make(self).into())
    }
}

fn check(name: &str, bytes: Vec<u8>) {
    check_beside(name, bytes, &[]);
}

fn check_beside(name: &str, bytes: Vec<u8>, others: &[(&str, Vec<u8>)]) {
    let mut formats = crate::FORMATS.iter();
    let format = formats.find(|format| format.shows(name.as_bytes()));
    let format = format.unwrap_or_else(|| panic!("{name} has no format"));
    let context = Beside { name, others };
    dumps::check(env!("CARGO_MANIFEST_DIR"), name, format, bytes, &context);
}

/// Returns the file with this name.
fn file(wanted: &str) -> Vec<u8> {
    let mut files = playstation::files().into_iter();
    files.find(|(name, _)| *name == wanted).unwrap().1
}

#[test]
fn the_generated_files_are_as_in_their_dumps() {
    for version in [3, 4, 6] {
        check(&format!("level{version}.psx"), assets::level(version));
    }
    for (name, bytes) in playstation::files() {
        check(name, bytes);
    }
}

#[test]
fn the_generated_files_of_damaged_assets_are_as_in_their_dumps() {
    for (name, mut bytes) in playstation::files() {
        bytes.truncate(bytes.len() * 2 / 3);
        check(&format!("cut_{name}"), bytes);
    }
    let mut level = assets::level(4);
    check("head.psx", level[..8].to_vec());
    check("other.psx", b"PS-X EXE".to_vec());
    level.truncate(level.len() - 1);
    check("cut.psx", level.clone());
    level[4] = 0xFF;
    check("without_chunks.psx", level);
    for (name, at, byte) in [
        ("intro.str", 46, 9),
        ("script.qb", 9, 0xEE),
        ("level_t.trg", 12, 4),
        ("level.ddx", 8, 9),
    ] {
        let mut bytes = file(name);
        bytes[at] = byte;
        check(&format!("odd_{name}"), bytes);
    }
}

#[test]
fn the_generated_files_of_rare_forms_are_as_in_their_dumps() {
    check("blocks.vag", file("sound.vag").split_off(0x30));
    let script = file("script.qb");
    let literals = script.chunks(8).map(|piece| [&[0xFF], piece].concat());
    check(
        "packed.qb_compressed",
        literals.collect::<Vec<_>>().concat(),
    );
    check("plain.bmr", vec![0x1F; 2 * 512 + 8]);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Default::default());
    encoder.write_all(&file("title.rle")).unwrap();
    check("title.zlb", encoder.finish().unwrap());
    let bmp = Bmp {
        width: 1,
        height: 2,
        bits: 24,
        colors: Vec::new(),
        rows: vec![1, 2, 3, 0, 4, 5, 6, 0],
    };
    let bmp = bmp.file();
    let length = bmp.len() as u8;
    let head = [length + 8, 0, 0, 0, length / 2, 0];
    check("inside.rle", [&b"_RLE_16_"[..], &head, &bmp].concat());
}

#[test]
fn the_generated_files_of_assets_with_others_beside_them_are_as_in_their_dumps() {
    let cues = file("cues.sfx");
    check_beside("vab.sfx", cues.clone(), &[("vab.vab", file("bank.vab"))]);
    check_beside("kat.sfx", cues, &[("kat.kat", file("bank.kat"))]);
    let textures = ("textured.ddx", file("level.ddx"));
    check_beside("textured.ddm", file("level.ddm"), &[textures]);
    let level = psx::File {
        chunks: Vec::new(),
        ..psx::rich()
    };
    check("still.psx", level.bytes());
    let models = ("Level.psx", level.bytes());
    check_beside("models_t.trg", file("level_t.trg"), &[models]);
    let names = ("named.psh", file("hawk.psh"));
    check_beside("named.psx", assets::level(4), &[names]);
}
