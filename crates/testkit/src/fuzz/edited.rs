//! Edited files that become assets again. For any asset and file, the result is an
//! asset that can be shown. If the first edit lost nothing, a second edit with the same
//! file gives the same asset.

use hpimount::formats::VIEW_FORMATS;
use hpimount_assets::view::import::{Edit, Imported};
use hpimount_assets::view::{
    Alone, AssetContext, AssetKey, AssetRef, Bytes, MakeShared, Shared, ViewFile, ViewFormat, open,
};
use hpimount_containers::volume::AssetType;
use hpimount_heavy_iron::{Game, Platform};
use std::sync::Arc;

use super::seeds;
use fixtures::{heavy_iron as hi, ta};

/// Files of a view that are edited. Heights are the fifth file of a map.
const EDITED: usize = 5;

/// Parts of an input: asset, table of sounds, and the edited file.
type Parts<'a> = (u8, &'a [u8], &'a [u8], &'a [u8]);

/// The archive of a sound: its table.
struct Archive {
    platform: Platform,
    table: Bytes,
}

impl AssetContext for Archive {
    fn name(&self) -> &str {
        "asset"
    }

    fn find(&self, _: AssetKey<'_>) -> Option<AssetRef> {
        None
    }

    fn read(&self, _file: AssetRef) -> Option<Bytes> {
        Some(self.table.clone())
    }

    fn shared(&self, _name: &'static str, make: MakeShared<'_>) -> Option<Arc<dyn Shared>> {
        Some(make(self).into())
    }

    fn asset(&self) -> Option<AssetType> {
        Some(AssetType {
            code: *b"SND ",
            id: 1,
            platform: self.platform,
            endian: self.platform.endian(),
            subtype: 0,
            game: Game::Bfbb,
        })
    }

    fn asset_of(&self, _file: AssetRef) -> Option<AssetType> {
        self.asset()
    }

    fn find_type(&self, _code: [u8; 4]) -> Vec<AssetRef> {
        vec![AssetRef(0)]
    }
}

/// The number of a format and of a platform, the lengths of asset and table, and
/// then asset, table, and the edited file.
pub fn edited(data: &[u8]) {
    let Some((number, asset, table, file)) = parts(data) else {
        return;
    };
    let formats: Vec<&ViewFormat> = importing().collect();
    let format = formats[usize::from(number & 0x3F) % formats.len()];
    let archive = Archive {
        platform: [
            Platform::GameCube,
            Platform::Xbox,
            Platform::PlayStation2,
            Platform::Unknown,
        ][usize::from(number >> 6)],
        table: Bytes::copy_from_slice(table),
    };
    let asset = Bytes::copy_from_slice(asset);
    let view = open(format, &asset, &archive);
    for part in view
        .files()
        .iter()
        .take(16)
        .filter(is_editable)
        .take(EDITED)
    {
        edit(format, &asset, part, file, &archive);
    }
}

fn edit(format: &ViewFormat, asset: &Bytes, part: &ViewFile, file: &[u8], archive: &Archive) {
    let import = format.import.expect("the format has an import");
    let original = asset;
    let imported = |asset: &Bytes, context: &dyn AssetContext| {
        import(&Edit {
            asset,
            original,
            context,
            part,
            file,
        })
    };
    let Ok(Imported::Changed(changed)) = imported(asset, archive) else {
        return;
    };
    let after = Archive {
        table: match changed.others.first() {
            Some((_, table)) => Bytes::copy_from_slice(table),
            None => archive.table.clone(),
        },
        ..*archive
    };
    let asset = Bytes::from(changed.asset);
    let view = open(format, &asset, &after);
    assert!(view.files().contains(part), "{}: {part:?}", format.name);
    if changed.quality.is_none() && changed.warnings.is_empty() {
        match imported(&asset, &after) {
            Ok(Imported::Unchanged) => {}
            // Silence may fill the last frame of a sound.
            Ok(Imported::Changed(again)) => assert!(again.asset == asset, "{}", format.name),
            Err(reason) => panic!("{}: {reason}", format.name),
        }
    }
}

fn is_editable(file: &&ViewFile) -> bool {
    [".png", ".wav", ".txt", ".glb", ".obj", ".bos"]
        .iter()
        .any(|known| file.name.ends_with(known))
}

/// Returns the formats with editable files.
fn importing() -> impl Iterator<Item = &'static ViewFormat> {
    VIEW_FORMATS.iter().filter(|format| format.import.is_some())
}

fn parts(data: &[u8]) -> Option<Parts<'_>> {
    let (&number, data) = data.split_first()?;
    let (asset, data) = part(data)?;
    let (table, file) = part(data)?;
    Some((number, asset, table, file))
}

fn part(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = data.split_first_chunk()?;
    let length = usize::from(u16::from_le_bytes(*length)).min(rest.len());
    Some(rest.split_at(length))
}

/// Returns an input for a file of each asset, which shows another asset.
pub(super) fn edited_seeds() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    let bmp = |shift: u8| ta::bmp::Bmp {
        width: 4,
        height: 2,
        bits: 8,
        colors: (0..=255).map(|n| [n, 9, 255 - n]).collect(),
        rows: (shift..shift + 8).collect(),
    };
    let texts = |text: &[u8]| [&(text.len() as u32).to_le_bytes()[..], text, &[0]].concat();
    let credits = |text| hi::credits_of(false, &[&[(0.0, 2.0, [Some(text), None])]]);
    let section = |version, shift| ta::tnt::Section {
        minimap: (0..1 << 14).map(|at| (at % 64) as u8 + shift).collect(),
        ..ta::tnt::Section::small(version)
    };
    let assets = [
        ("PCX", seeds::pcx()),
        ("BMP", vec![bmp(0).file(), bmp(9).file()]),
        ("GAF", seeds::gaf()),
        ("COB", seeds::cob()),
        ("TIM", seeds::tim()),
        ("PVR", seeds::pvr()),
        ("GXT", seeds::gxt()),
        ("3DO", seeds::tdo()),
        ("DFF", seeds::dff()),
        ("COL", seeds::col()),
        ("HIP texture", seeds::hi_textures()),
        ("HIP text", vec![texts(b"Hello"), texts(b"Bye")]),
        ("HIP credits", vec![credits("Made by"), credits("By")]),
        ("TNT", seeds::tnt()),
        ("SCT", vec![section(3, 0).file(), section(2, 1).file()]),
    ];
    for (name, assets) in assets {
        let reversed: Vec<_> = assets.iter().rev().cloned().collect();
        for (asset, other) in assets.iter().zip(reversed) {
            all.extend(seed(name, 3, asset, &[], &other, &[]));
        }
    }
    let silence = |bytes: usize| vec![0; bytes];
    for (platform, table, length) in [
        (0, hi::dsp_table(1, 140, 22_050), 80),
        (1, hi::xbox_table(1, 1, 2, 22_050, 400), 400),
        (1, hi::xbox_table(1, 0x69, 1, 22_050, 144), 144),
        (2, hi::vag_table(1, 22_050, 160), 160),
    ] {
        let noise = fixtures::noise(5, length);
        all.extend(seed(
            "HIP sound",
            platform,
            &silence(length),
            &table,
            &noise,
            &table,
        ));
    }
    all
}

/// Returns the input for an asset and the first file that shows another one.
fn seed(
    name: &str,
    platform: u8,
    asset: &[u8],
    table: &[u8],
    other: &[u8],
    other_table: &[u8],
) -> Option<Vec<u8>> {
    let number = importing().position(|format| format.name == name)?;
    let format = importing().nth(number)?;
    let archive = Archive {
        platform: [Platform::GameCube, Platform::Xbox, Platform::PlayStation2]
            .get(usize::from(platform))
            .copied()
            .unwrap_or(Platform::Unknown),
        table: Bytes::copy_from_slice(other_table),
    };
    let view = open(format, &Bytes::copy_from_slice(other), &archive);
    let files = view.files();
    let named = files.iter().position(|file| {
        is_editable(&file) && file.name != "info.txt" && file.name != "preview.png"
    })?;
    let mut file = Vec::new();
    view.render(named, &Alone, &mut file).ok()?;
    let length = |bytes: &[u8]| (bytes.len() as u16).to_le_bytes();
    let parts = [
        &[number as u8 | platform << 6][..],
        &length(asset),
        asset,
        &length(table),
        table,
        &file,
    ];
    Some(parts.concat())
}
