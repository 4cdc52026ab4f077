//! HIP and HOP, the archives of Heavy Iron Studios' games: Scooby-Doo! Night
//! of 100 Frights, SpongeBob SquarePants: Battle for Bikini Bottom, The
//! SpongeBob SquarePants Movie, The Incredibles, Rise of the Underminer and
//! the Ratatouille prototype.
//!
//! The format is described in `docs/formats/hip.md`. The position of an asset's
//! data is taken from its AHDR block only: counts, sizes, paddings, orders and
//! checksums are only shown, with warnings if they are wrong.

mod apply;
mod attributes;
mod block;
mod contents;
mod detect;
mod dyna;
mod hash;
mod hipb;
mod kinds;
mod layer;
mod layout;
mod names;
pub mod needs;
mod offsets;
mod package;
mod places;
mod report;
mod restructure;
mod settings;
pub mod splice;
mod toc;
mod tree;
pub mod write;

pub use detect::{Game, Platform};
pub use hash::{CHECKSUM, asset_id};
pub use hipb::Hipb;
pub use kinds::Type;
pub use layer::name as layer_name;
pub use offsets::{AssetOffsets, Offsets};

use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

use self::contents::Contents;
use self::detect::Detected;
use self::layout::Layout;
use self::toc::Asset;
use crate::changes::Changeable;
use crate::file_type::{FileType, Magic};
use crate::format::{Format, Input, Options};
use crate::io::Warnings;
use crate::io::{Error, ReadAt, Result, read_error};
use crate::text::windows_1252;
use crate::volume::{
    AssetName, AssetTable, AssetType, Content, FileId, Generate, Mountable, RecordedSum, Sink,
    Volume, no_such_file,
};

/// The format of HIP archives.
pub const FORMAT: Format = Format {
    name: "HIP",
    extensions: &["hip", "hop"],
    types: &[FileType {
        magic: &[Magic {
            and: &[Magic::at(4, &[0; 4])],
            ..Magic::at(0, MAGIC)
        }],
        patterns: &["*.hip", "*.hop"],
        has_thumbnail: true,
        ..FileType::archive("application/x-hip-archive", "Heavy Iron archive")
    }],
    matches,
    open: |input, sink| Ok(Box::new(declared(input, sink)?)),
    change: Some(|input, sink| Ok(Changeable::new((declared(input, sink)?, ()), apply::apply))),
    is_plain_folder: false,
    ..Format::PLAIN
};

/// The first bytes of every archive: the name of a block without a body.
const MAGIC: &[u8; 4] = b"HIPA";

/// Number of bytes read at a time to compute a checksum.
const PIECE: usize = 64 * 1024;

/// Range of the hash of its type's name in a DYNA asset.
const DYNA_HASH: std::ops::Range<u32> = 8..12;

/// A HIP archive whose tables have been read.
struct Hip {
    source: Arc<dyn ReadAt>,
    contents: Contents,
    layout: Layout,
    game: Detected<Game>,
    platform: Detected<Platform>,
    /// True if `assets.tsv` shows computed checksums.
    verify: bool,
    /// True if the remaining data of damaged assets is shown.
    force: bool,
    warnings: Vec<String>,
}

/// A file of the archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Item {
    /// The asset with this number.
    Asset(u32),
    /// `info.json`.
    Info,
    /// `assets.tsv`.
    Table,
    /// `types/Settings.ini`.
    Settings,
}

fn matches(input: &Input<'_>) -> Result<bool> {
    let head = input.bytes(0, block::HEADER)?;
    Ok(head.starts_with(MAGIC) && head.len() as u64 == block::HEADER)
}

/// Reads an archive, and declares everything in it to the sink.
fn declared(input: Input<'_>, sink: &mut dyn Sink) -> Result<Hip> {
    let hip = Hip::read(input.source, &input.options)?;
    tree::announce(&hip, sink)?;
    Ok(hip)
}

impl Hip {
    fn read(source: Arc<dyn ReadAt>, options: &Options) -> Result<Self> {
        let mut warnings = Warnings::default();
        let mut contents = Contents::read(&*source, options, &mut warnings)?;
        let hipb = contents.hipb.as_ref();
        let game = detect::game(&contents.package, hipb);
        let assets = contents.toc.assets.iter();
        let first = assets
            .filter(|asset| asset.size > 0)
            .map(|asset| asset.offset)
            .min();
        let platform = detect::platform(&contents.package, hipb, game.value, first);
        let layout = Layout::new(&mut contents.toc, &mut warnings);
        check(&contents, source.len(), &mut warnings);
        find_dyna_types(&mut contents.toc.assets, &*source, platform.value)?;
        Ok(Self {
            source,
            contents,
            layout,
            game,
            platform,
            verify: options.verify,
            force: options.force,
            warnings: warnings.texts(),
        })
    }

    /// Reads the tables of an archive that is to be changed.
    fn to_change(source: Arc<dyn ReadAt>) -> Result<Self> {
        let options = Options {
            to_change: true,
            ..Options::default()
        };
        Self::read(source, &options)
    }

    fn item(&self, file: FileId) -> Option<Item> {
        let assets = self.contents.toc.assets.len() as u32;
        match file.0.checked_sub(assets) {
            None => Some(Item::Asset(file.0)),
            Some(0) => Some(Item::Info),
            Some(1) => Some(Item::Table),
            Some(2) => Some(Item::Settings),
            Some(_) => None,
        }
    }

    fn file(&self, item: Item) -> FileId {
        let assets = self.contents.toc.assets.len() as u32;
        FileId(match item {
            Item::Asset(number) => number,
            Item::Info => assets,
            Item::Table => assets + 1,
            Item::Settings => assets + 2,
        })
    }

    fn asset(&self, number: u32) -> &Asset {
        &self.contents.toc.assets[number as usize]
    }

    /// Returns the size of the file that shows an asset; with `force`, an asset
    /// that extends past the end of the archive is cut there.
    fn shown_size(&self, number: u32) -> u64 {
        let asset = self.asset(number);
        let size = u64::from(asset.size);
        match self.force {
            true => size.min(self.source.len().saturating_sub(asset.offset.into())),
            false => size,
        }
    }

    /// Returns the type of an asset.
    fn type_of(&self, number: u32) -> AssetType {
        let platform = self.platform.value;
        let asset = self.asset(number);
        AssetType {
            code: asset.kind.code,
            platform,
            endian: platform.endian(),
            game: self.game.value,
            subtype: asset.kind.subtype,
            id: asset.id,
        }
    }

    /// Returns the modification time of all files, which is the creation time
    /// in PCRT.
    fn modified(&self) -> Option<i64> {
        let created = self.contents.package.created.as_ref()?;
        Some(created.time.into())
    }

    /// Reads bytes of an asset. A read past the end of the source is attempted
    /// as well, so that the source reports the error.
    fn read_asset(&self, asset: &Asset, position: u64, buf: &mut [u8]) -> Result<()> {
        let offset = u64::from(asset.offset) + position;
        self.source
            .read_exact_at(buf, offset)
            .map_err(|cause| read_error(offset, buf.len() as u64, cause))
    }

    /// Returns whether the checksum of an asset matches its data; `None` for an
    /// asset without a checksum.
    fn checksum_fits(&self, asset: &Asset) -> Result<Option<bool>> {
        let Some(recorded) = asset.recorded_sum() else {
            return Ok(None);
        };
        let size = u64::from(asset.size);
        let mut digest = CHECKSUM.digest();
        let mut piece = vec![0; PIECE.min(asset.size as usize)];
        let mut position = 0;
        while position < size {
            let length = (size - position).min(PIECE as u64) as usize;
            self.read_asset(asset, position, &mut piece[..length])?;
            digest.update(&piece[..length]);
            position += length as u64;
        }
        Ok(Some(digest.finalize() == recorded))
    }
}

/// Warns about inconsistent numbers.
fn check(contents: &Contents, length: u64, warnings: &mut Warnings) {
    let toc = &contents.toc;
    if let Some(counts) = contents.package.counts {
        for (field, stated, found) in [
            ("assetCount", counts.assets, toc.assets.len()),
            ("layerCount", counts.layers, toc.layers.len()),
        ] {
            if let Some(stated) = stated
                && stated as usize != found
            {
                warnings.push(format!("PCNT: {field} is {stated}, there are {found}"));
            }
        }
    }
    for asset in &toc.assets {
        let end = u64::from(asset.offset) + u64::from(asset.size);
        if end > length {
            warnings.push(format!(
                "asset {:08X} ends at {end:#x}, after the end of the file at {length:#x}",
                asset.id
            ));
        }
    }
}

/// Determines the types of the DYNA assets, which are stored in their data in
/// the byte order of the platform (FORMATS, HIP 10). An asset whose hash is
/// past the end of the source has no type.
fn find_dyna_types(assets: &mut [Asset], source: &dyn ReadAt, platform: Platform) -> Result<()> {
    let dynas = assets.iter_mut();
    for asset in dynas.filter(|asset| &asset.kind.code == b"DYNA" && asset.size >= DYNA_HASH.end) {
        let start = u64::from(asset.offset);
        if start + u64::from(DYNA_HASH.end) > source.len() {
            continue;
        }
        let offset = start + u64::from(DYNA_HASH.start);
        let mut hash = [0; DYNA_HASH.end as usize - DYNA_HASH.start as usize];
        source
            .read_exact_at(&mut hash, offset)
            .map_err(|cause| read_error(offset, hash.len() as u64, cause))?;
        asset.kind.subtype = dyna_type(hash, platform);
    }
    Ok(())
}

/// Returns the number of a DYNA type. If the platform is unknown, the byte
/// order is the one that results in a known type.
fn dyna_type(hash: [u8; 4], platform: Platform) -> u32 {
    let (big, little) = (u32::from_be_bytes(hash), u32::from_le_bytes(hash));
    match platform {
        Platform::GameCube => big,
        Platform::Unknown if dyna::folder(big).is_some() => big,
        _ => little,
    }
}

impl Generate for Hip {
    fn generate(&self, file: FileId, out: &mut dyn Write) -> Result<()> {
        let bytes = match self.item(file) {
            Some(Item::Info) => report::info_file(self),
            Some(Item::Table) => report::assets(self)?,
            Some(Item::Settings) => settings::ini(self).into_bytes(),
            _ => return Err(no_such_file(file)),
        };
        out.write_all(&bytes)
            .map_err(|error| Error::of_output(&error))
    }
}

impl Volume for Hip {
    fn list(&self, directory: FileId, sink: &mut dyn Sink) -> Result<()> {
        let root = sink.root();
        tree::links(self, sink, root, directory)
    }

    fn content(&self, file: FileId) -> Result<Content<'_>> {
        Ok(match self.item(file) {
            Some(Item::Asset(number)) => Content::Extent {
                source: &*self.source,
                offset: self.asset(number).offset.into(),
            },
            Some(_) => Content::Generated(self),
            None => return Err(no_such_file(file)),
        })
    }

    fn layout(&self, file: FileId) -> Range<u64> {
        match self.item(file) {
            // `Settings.ini` has what they have, but for the places of assets.
            Some(Item::Info | Item::Table) => 0..u64::MAX,
            _ => 0..0,
        }
    }

    fn info(&self) -> serde_json::Value {
        report::info(self)
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn assets(&self) -> Option<&dyn AssetTable> {
        Some(self)
    }
}

impl Mountable for Hip {
    fn memory(&self) -> usize {
        size_of::<Self>() + self.contents.toc.memory() + self.layout.memory()
    }

    fn xattr_names(&self, file: FileId) -> Vec<&'static str> {
        match self.item(file) {
            Some(Item::Asset(number)) => attributes::names(self, number),
            _ => Vec::new(),
        }
    }

    fn xattr(&self, file: FileId, name: &str) -> Result<Option<String>> {
        match self.item(file) {
            Some(Item::Asset(number)) => attributes::value(self, number, name),
            _ => Ok(None),
        }
    }
}

impl AssetTable for Hip {
    fn asset_type(&self, file: FileId) -> Option<AssetType> {
        match self.item(file)? {
            Item::Asset(number) => Some(self.type_of(number)),
            _ => None,
        }
    }

    fn find_id(&self, id: u32) -> Option<FileId> {
        let number = self.layout.find(id)?;
        Some(self.file(Item::Asset(number)))
    }

    fn name(&self, file: FileId) -> Option<String> {
        let Item::Asset(number) = self.item(file)? else {
            return None;
        };
        let name = self.contents.toc.name(self.asset(number));
        (!name.is_empty()).then(|| windows_1252(name).into_owned())
    }

    fn file_names(&self, files: &[FileId]) -> Option<Vec<AssetName>> {
        let number = |file: &FileId| match self.item(*file)? {
            Item::Asset(number) => Some(number),
            _ => None,
        };
        let members: Option<Vec<u32>> = files.iter().map(number).collect();
        let toc = &self.contents.toc;
        Some(names::with_own_stems(toc, &members?, self.platform.value))
    }

    fn files(&self) -> Vec<FileId> {
        let numbers = 0..self.contents.toc.assets.len() as u32;
        numbers
            .map(|number| self.file(Item::Asset(number)))
            .collect()
    }

    fn files_of_type(&self, code: [u8; 4]) -> Vec<FileId> {
        let assets = (0..).zip(&self.contents.toc.assets);
        let found = assets.filter(|(_, asset)| asset.kind.code == code);
        found
            .map(|(number, _)| self.file(Item::Asset(number)))
            .collect()
    }

    fn recorded_sum(&self, file: FileId) -> Option<RecordedSum> {
        let Item::Asset(number) = self.item(file)? else {
            return None;
        };
        let recorded = self.asset(number).recorded_sum()?;
        Some(RecordedSum::new(recorded, &CHECKSUM))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_is_detected_by_its_first_block() {
        let matches = |bytes: &[u8]| {
            matches(&Input::alone(Arc::new(bytes.to_vec()), Options::default())).unwrap()
        };
        assert!(matches(b"HIPA\0\0\0\0PACK"));
        assert!(matches(b"HIPA\0\0\0\0"));
        assert!(!matches(b"HIPA\0\0"));
        assert!(!matches(b"PACK\0\0\0\0"));
    }

    #[test]
    fn an_archive_without_assets_uses_memory_too() {
        let block = |name: &[u8]| [name, &[0; 4]].concat();
        let bytes = [block(b"HIPA"), block(b"PACK"), block(b"DICT")].concat();
        let hip = Hip::read(Arc::new(bytes), &Options::default()).unwrap();
        assert!(hip.memory() >= size_of::<Hip>());
    }

    #[test]
    fn dyna_types_are_in_the_byte_order_of_the_platform() {
        let teleport = asset_id(b"game_object:Teleport");
        let (big, little) = (teleport.to_be_bytes(), teleport.to_le_bytes());
        assert_eq!(dyna_type(big, Platform::GameCube), teleport);
        assert_eq!(dyna_type(little, Platform::Xbox), teleport);
        assert_eq!(dyna_type(little, Platform::PlayStation2), teleport);
        assert_eq!(dyna_type(big, Platform::Unknown), teleport);
        assert_eq!(dyna_type(little, Platform::Unknown), teleport);
    }
}
