//! GameCube discs (GCM, ISO; NKit v01; TGC, a disc inside a disc).
//!
//! The tree is the same as extracted by Dolphin, so that Dolphin can boot the
//! mount from `sys/main.dol`: `sys/` with the parts of the disc that are not
//! files, and `files/`. All numbers are big-endian. The format is described in
//! `docs/formats/gcm.md`.

mod apply;
mod contents;
mod fst;

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use encoding_rs::SHIFT_JIS;
use serde_json::json;

pub use self::contents::{Contents, Place};
use self::fst::{Fst, Item};
use super::paths::{plain_entry, record, until_nul};
use crate::changes::Changeable;
use crate::file_type::FileType;
use crate::format::{Format, Input};
use crate::io::{Compact, Cursor, Endian, Error, ReadAt, Result, Warnings, read_vec, undamaged};
use crate::volume::{
    Content, Description, DiscImage, FileId, MAX_DEPTH, Mountable, Name, NodeId, Sink, Volume,
};

/// The format of GameCube discs.
pub const FORMAT: Format = Format {
    name: "GCM",
    extensions: &["gcm", "tgc", "iso"],
    types: &[FileType {
        patterns: &["*.gcm", "*.tgc"],
        ..FileType::new("application/x-gamecube-rom", None)
    }],
    matches,
    open,
    change: Some(|input, sink| Ok(Changeable::new(read(input.source, sink)?, apply::apply))),
    ..Format::PLAIN
};

const GAMECUBE: u32 = 0xC233_9F3D;
const WII: u32 = 0x5D1C_9EA3;
const TGC: u32 = 0xAE0F_38A2;

/// Length of `boot.bin`, the disc's header, and of `bi2.bin` after it.
const BOOT: u32 = 0x440;
const BI2: u32 = 0x2000;

/// The numbers of `boot.bin` and `bi2.bin`.
const BOOT_FILE: FileId = FileId(0);
const BI2_FILE: FileId = FileId(1);

/// Offset in `boot.bin` of the offsets of the program and the FST, and the sizes of
/// the FST, and of what follows them.
const OFFSETS: u64 = 0x420;
const OFFSETS_END: u64 = 0x430;

/// Offset of the number of the region.
const REGION: u64 = 0x458;

/// Offset of the apploader, and length of its own header.
const APPLOADER: u32 = BOOT + BI2;
const APPLOADER_HEADER: u32 = 0x20;

/// Length of the header of a DOL, and the number of its sections.
const DOL_HEADER: u64 = 0x100;
const DOL_SECTIONS: usize = 18;

/// Maximum size of an FST: the console, which keeps it in memory, has 24 MiB.
const MAX_FST: u32 = 24 << 20;

/// A disc whose FST has been read.
struct Disc {
    source: Arc<dyn ReadAt>,
    /// Offset and length of each file in the source.
    files: Vec<(u64, u32)>,
    /// The number of the FST.
    fst: FileId,
    info: Description,
    warnings: Vec<String>,
}

/// The parts of a disc that writing it needs.
struct Tables {
    layout: Layout,
    apploader: Option<FileId>,
    dol: Option<FileId>,
    /// The directory of the files.
    files: NodeId,
    /// The numbers in the FST of its files, which are the last ones of the disc.
    rows: Vec<u32>,
}

/// Positions of the parts of a disc in its source. A TGC has its own header
/// before the disc, and its files at other offsets than in its FST.
struct Layout {
    is_tgc: bool,
    /// Offset of the disc's header.
    start: u64,
    dol: u64,
    fst: u64,
    fst_size: u32,
    /// Added to the offsets of files.
    shift: i64,
}

fn numbers<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u32; N]> {
    let bytes = bytes.get(offset..offset.checked_add(4 * N)?)?;
    let (words, _) = bytes.as_chunks();
    let mut numbers = [0; N];
    for (number, &word) in numbers.iter_mut().zip(words) {
        *number = u32::from_be_bytes(word);
    }
    Some(numbers)
}

fn matches(input: &Input<'_>) -> Result<bool> {
    let head = input.bytes(0, 0x20)?;
    let is_tgc = numbers(&head, 0) == Some([TGC]);
    let magic: Option<[u32; 2]> = numbers(&head, 0x18);
    Ok(is_tgc || magic.is_some_and(|[wii, gamecube]| wii == WII || gamecube == GAMECUBE))
}

fn open(input: Input<'_>, sink: &mut dyn Sink) -> Result<Box<dyn Volume>> {
    Ok(Box::new(read(input.source, sink)?.0))
}

/// Reads the FST of a disc, and declares its files.
fn read(source: Arc<dyn ReadAt>, sink: &mut dyn Sink) -> Result<(Disc, Tables)> {
    let layout = Layout::read(&*source)?;
    let boot = read_vec(&*source, layout.start, BOOT.into(), "boot.bin")?;
    let mut disc = Disc {
        info: describe(&boot, region(&*source, layout.start)?, source.len()).into(),
        source,
        files: Vec::new(),
        fst: BOOT_FILE,
        warnings: Vec::new(),
    };
    let mut warnings = Warnings::default();
    let root = sink.root();
    let sys = sink.dir(root, Name::utf_8("sys"), None)?;
    let (apploader, dol) = disc.add_system(&layout, sys, sink, &mut warnings)?;
    let files = sink.dir(root, Name::utf_8("files"), None)?;
    let rows = disc.add_files(&layout, files, sink, &mut warnings)?;
    disc.files.compact();
    disc.warnings = warnings.texts();
    let tables = Tables {
        layout,
        apploader,
        dol,
        files,
        rows,
    };
    Ok((disc, tables))
}

impl Layout {
    fn read(source: &dyn ReadAt) -> Result<Self> {
        let head = read_vec(source, 0, 0x40, "header")?;
        let mut header = Cursor::new(&head, 0, Endian::Big);
        let mut at = |offset, field| {
            header.seek(offset, field)?;
            header.u32(field)
        };
        if at(0, "magic")? == TGC {
            let start = at(0x08, "header size")?;
            let (real, linked) = (at(0x24, "file area")?, at(0x34, "linked file area")?);
            return Ok(Self {
                is_tgc: true,
                start: start.into(),
                fst: at(0x10, "FST offset")?.into(),
                fst_size: at(0x14, "FST size")?,
                dol: at(0x1C, "DOL offset")?.into(),
                shift: i64::from(real) - i64::from(linked),
            });
        }
        if at(0x18, "Wii magic")? == WII {
            return Err(Error::Unsupported(
                "is a Wii disc, which is encrypted".into(),
            ));
        }
        let head = read_vec(source, 0, BOOT.into(), "boot.bin")?;
        let mut header = Cursor::new(&head, 0, Endian::Big);
        header.seek(0x420, "DOL offset")?;
        Ok(Self {
            is_tgc: false,
            start: 0,
            dol: header.u32("DOL offset")?.into(),
            fst: header.u32("FST offset")?.into(),
            fst_size: header.u32("FST size")?,
            shift: 0,
        })
    }
}

impl Disc {
    fn add(
        &mut self,
        sink: &mut dyn Sink,
        parent: NodeId,
        name: Name<'_>,
        (offset, size): (u64, u32),
    ) -> Result<FileId> {
        let entry = plain_entry(self.files.len(), size.into());
        self.files.push((offset, size));
        sink.file(parent, name, entry)?;
        Ok(entry.file)
    }

    /// Returns the range of a file in the source.
    fn range(&self, file: FileId) -> Option<Range<u64>> {
        let &(offset, size) = self.files.get(file.0 as usize)?;
        Some(offset..offset.saturating_add(size.into()))
    }

    /// Returns the number of bytes of the disc from `offset` on, at most
    /// `size`.
    fn clipped(&self, offset: u64, size: u64) -> u32 {
        let left = self.source.len().saturating_sub(offset);
        u32::try_from(size.min(left)).unwrap_or(u32::MAX)
    }

    /// Adds the parts of the disc that are not files, and returns the apploader and the
    /// program.
    fn add_system(
        &mut self,
        layout: &Layout,
        sys: NodeId,
        sink: &mut dyn Sink,
        warnings: &mut Warnings,
    ) -> Result<(Option<FileId>, Option<FileId>)> {
        let (mut apploader_file, mut dol) = (None, None);
        let start = layout.start;
        self.add(sink, sys, Name::utf_8("boot.bin"), (start, BOOT))?;
        let bi2 = start + u64::from(BOOT);
        let bi2 = (bi2, self.clipped(bi2, BI2.into()));
        self.add(sink, sys, Name::utf_8("bi2.bin"), bi2)?;
        let apploader = start + u64::from(APPLOADER);
        match read_vec(
            &*self.source,
            apploader,
            APPLOADER_HEADER.into(),
            "apploader.img",
        ) {
            Ok(header) => {
                let [size, trailer] = numbers(&header, 0x14).unwrap_or_default();
                let length = u64::from(APPLOADER_HEADER) + u64::from(size) + u64::from(trailer);
                let length = self.clipped(apploader, length);
                let name = Name::utf_8("apploader.img");
                apploader_file = Some(self.add(sink, sys, name, (apploader, length))?);
            }
            Err(error) => tolerate(error, warnings)?,
        }
        let fst = (layout.fst, layout.fst_size);
        self.fst = self.add(sink, sys, Name::utf_8("fst.bin"), fst)?;
        match read_vec(&*self.source, layout.dol, DOL_HEADER, "main.dol") {
            Ok(header) => {
                let length = dol_length(&header);
                let clipped = self.clipped(layout.dol, length);
                if u64::from(clipped) < length {
                    warnings.push(format!(
                        "main.dol at {:#x}: its {length} bytes extend past the end of the disc",
                        layout.dol
                    ));
                }
                let name = Name::utf_8("main.dol");
                dol = Some(self.add(sink, sys, name, (layout.dol, clipped))?);
            }
            Err(error) => tolerate(error, warnings)?,
        }
        Ok((apploader_file, dol))
    }

    /// Adds the files of the FST, and returns their numbers there.
    fn add_files(
        &mut self,
        layout: &Layout,
        root: NodeId,
        sink: &mut dyn Sink,
        warnings: &mut Warnings,
    ) -> Result<Vec<u32>> {
        if layout.fst_size > MAX_FST {
            let problem = format!("is {}, more than {MAX_FST}", layout.fst_size);
            return Err(Error::damaged(layout.start + 0x428, "FST size", problem));
        }
        let bytes = read_vec(&*self.source, layout.fst, layout.fst_size.into(), "FST")?;
        let fst = Fst::new(&bytes, layout.fst)?;
        let end = self.source.len();
        let mut parents = vec![root];
        let mut rows = Vec::new();
        fst.walk(warnings, |item, depth, warnings| {
            parents.truncate(depth);
            let (Item::Directory { name } | Item::File { name, .. }) = item;
            let name = Name {
                text: SHIFT_JIS.decode_without_bom_handling(name).0,
                raw: name,
                escaped: false,
            };
            let parent = parents.last().copied().unwrap_or(root);
            match item {
                // `files` is one level.
                Item::Directory { .. } if depth >= MAX_DEPTH => {
                    let problem = format!("is more than {MAX_DEPTH} directories deep");
                    return ControlFlow::Break(Error::damaged(layout.fst, "FST", problem));
                }
                Item::Directory { .. } => match sink.dir(parent, name, None) {
                    Ok(directory) => parents.push(directory),
                    Err(error) => return ControlFlow::Break(error),
                },
                Item::File {
                    number,
                    offset,
                    size,
                    ..
                } => {
                    rows.push(number);
                    let at = u64::from(offset).saturating_add_signed(layout.shift);
                    if at.saturating_add(size.into()) > end {
                        warnings.push(format!(
                            "{}: its {size} bytes at {at:#x} extend past the end of the disc",
                            name.text
                        ));
                    }
                    if let Err(error) = self.add(sink, parent, name, (at, size)) {
                        return ControlFlow::Break(error);
                    }
                }
            }
            ControlFlow::Continue(())
        })?;
        Ok(rows)
    }
}

/// Turns missing data of a disc into a warning, and returns other errors.
fn tolerate(error: Error, warnings: &mut Warnings) -> Result<()> {
    if error.is_fault() {
        return Err(error);
    }
    warnings.push(error.to_string());
    Ok(())
}

/// Returns the length of a DOL: the end of its last section. The header has the
/// offsets of 7 text and 11 data sections at 0, and their sizes at 0x90.
fn dol_length(header: &[u8]) -> u64 {
    let offsets: [u32; DOL_SECTIONS] = numbers(header, 0).unwrap_or_default();
    let sizes: [u32; DOL_SECTIONS] = numbers(header, 0x90).unwrap_or_default();
    let ends = offsets.into_iter().zip(sizes);
    let ends = ends.map(|(offset, size)| u64::from(offset) + u64::from(size));
    ends.max().unwrap_or(0).max(DOL_HEADER)
}

/// Returns the region that the second part of the header of a disc names; `None`
/// if there is no such region, or the disc is cut off.
fn region(source: &dyn ReadAt, start: u64) -> Result<Option<&'static str>> {
    let bytes = undamaged(read_vec(source, start + REGION, 4, "region"))?;
    Ok(match bytes.and_then(|bytes| numbers(&bytes, 0)) {
        Some([0]) => Some("Japan"),
        Some([1]) => Some("America"),
        Some([2]) => Some("Europe"),
        Some([4]) => Some("Korea"),
        _ => None,
    })
}

/// Returns the properties of a disc for `info.json`.
fn describe(boot: &[u8], region: Option<&str>, size: u64) -> serde_json::Value {
    let text = |field: &[u8]| {
        let text = SHIFT_JIS.decode_without_bom_handling(until_nul(field)).0;
        text.into_owned()
    };
    json!({
        "id": text(&boot[..6]),
        "disc": boot[6],
        "version": boot[7],
        "title": text(&boot[0x20..0x400]),
        "region": region,
        "nkit": boot[0x200..].starts_with(b"NKIT"),
        "size": size,
    })
}

impl Volume for Disc {
    fn content(&self, file: FileId) -> Result<Content<'_>> {
        let &(offset, _) = record(&self.files, file)?;
        Ok(Content::Extent {
            source: &*self.source,
            offset,
        })
    }

    fn layout(&self, file: FileId) -> Range<u64> {
        match file {
            BOOT_FILE => OFFSETS..OFFSETS_END,
            file if file == self.fst => 0..u64::MAX,
            _ => 0..0,
        }
    }

    fn info(&self) -> serde_json::Value {
        self.info.value()
    }

    fn images(&self) -> Vec<DiscImage> {
        DiscImage::whole(&self.source)
    }

    fn plain_files(&self, stem: &str) -> Vec<(String, Arc<dyn ReadAt>)> {
        crate::disc::plain::iso(stem, &self.source)
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

impl Mountable for Disc {
    fn memory(&self) -> usize {
        size_of::<Self>() + self.files.capacity() * size_of::<(u64, u32)>() + self.info.memory()
    }
}

#[cfg(test)]
mod tests {
    use super::super::listing::open as open_named;
    use super::*;

    #[test]
    fn a_tgc_is_detected_by_the_bytes_that_nod_and_dolphin_compare() {
        let mut disc = vec![0; 0x8000 + 0x2600];
        disc[..4].copy_from_slice(&[0xAE, 0x0F, 0x38, 0xA2]);
        for (offset, number) in [(0x08, 0x8000_u32), (0x10, 0x8000 + 0x2500), (0x14, 12)] {
            disc[offset..offset + 4].copy_from_slice(&number.to_be_bytes());
        }
        let root = [0x0100_0000_u32, 0, 1].map(u32::to_be_bytes);
        disc[0x8000 + 0x2500..][..12].copy_from_slice(root.as_flattened());
        let (listing, _) = open_named(&FORMAT, "disc.tgc", disc, None).unwrap();
        assert!(listing.paths().contains(&"files/".to_owned()));
    }
}
