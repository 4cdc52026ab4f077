//! Saves with their icons. All numbers are little-endian.

use bytes::Bytes;
use get_size2::GetSize;

use crate::model::{Picture, Pixels};
use crate::parse::color::opaque;
use crate::parse::name::until_nul;
use crate::parse::slice_of;
use hpimount_containers::io::{Error, Result, Warnings};
use hpimount_containers::text::Charset;

/// Extensions of memory cards, and of single saves with their directory entry.
pub const EXTENSIONS: &[&str] = &["mcr", "mcd", "gme", "mcs"];

/// Sizes of a block and of a frame in bytes. A card has 16 blocks.
const BLOCK: usize = 0x2000;
const FRAME: usize = 0x80;

/// Number of the last block; the first one contains the directory.
const LAST: usize = 15;

/// Length of the header of a DexDrive file, in bytes.
const DEX_DRIVE: usize = 0xF40;

/// State of the first block of a save in the directory.
const FIRST: u8 = 0x51;

/// Width and height of an icon in pixels.
const SIDE: usize = 16;

/// Offsets of a save's title, colors and icon frames.
const TITLE: usize = 4;
const COLORS: usize = 0x60;
const ICON: usize = 0x80;

/// Maximum number of frames of an icon.
const MAX_FRAMES: u8 = 3;

/// The saves in a file.
#[derive(Debug, Clone, Default, GetSize)]
pub struct Saves {
    /// The saves.
    pub saves: Vec<Save>,
    /// True if the file is a memory card.
    pub is_card: bool,
    /// Warnings, one sentence each.
    pub warnings: Warnings,
}

/// A save.
#[derive(Debug, Clone, GetSize)]
pub struct Save {
    /// Block on the card.
    pub block: Option<usize>,
    /// File name: the region and number of the game, and the game's own name.
    pub name: Option<String>,
    /// Title.
    pub title: String,
    /// Number of its blocks.
    pub blocks: u8,
    /// Number of frames of its icon.
    pub frames: u8,
    /// Colors and frames.
    #[get_size(ignore)]
    icon: Bytes,
}

/// Returns true if a file begins like a save or a card.
pub fn is_known(bytes: &[u8]) -> bool {
    bytes.starts_with(b"SC") || card_at(bytes).is_some()
}

/// Returns the offset of the card in a file, if it contains one.
fn card_at(bytes: &[u8]) -> Option<usize> {
    let start = if bytes.starts_with(b"123-456-STD") {
        DEX_DRIVE
    } else {
        0
    };
    bytes.get(start..)?.starts_with(b"MC").then_some(start)
}

/// Parses a card, a save, or a save with its directory entry.
///
/// # Errors
/// Returns [`Error::Damaged`] for other files, and for a single save that is cut off.
pub fn parse(bytes: &Bytes) -> Result<Saves> {
    if let Some(start) = card_at(bytes) {
        return Ok(card(bytes, start));
    }
    let (name, start) = match bytes.first() {
        Some(&FIRST) => (bytes.get(..FRAME).map(name_of), FRAME),
        _ => (None, 0),
    };
    let mut save = save(bytes, start)?;
    save.name = name;
    Ok(Saves {
        saves: vec![save],
        ..Saves::default()
    })
}

/// Returns the saves of the card at `start`.
fn card(bytes: &Bytes, start: usize) -> Saves {
    let mut found = Saves {
        is_card: true,
        ..Saves::default()
    };
    for block in 1..=LAST {
        let entry = bytes.get(start + block * FRAME..).unwrap_or_default();
        let Some(entry) = entry.get(..FRAME).filter(|entry| entry[0] == FIRST) else {
            continue;
        };
        match save(bytes, start + block * BLOCK) {
            Ok(save) => found.saves.push(Save {
                block: Some(block),
                name: Some(name_of(entry)),
                ..save
            }),
            Err(error) => found.warnings.push(format!("block {block}: {error}")),
        }
    }
    found
}

/// Returns the name in a directory entry.
fn name_of(entry: &[u8]) -> String {
    until_nul(&entry[0x0A..0x1F])
}

/// Parses the save at `start`.
fn save(bytes: &Bytes, start: usize) -> Result<Save> {
    let at = |offset: usize| (start + offset) as u64;
    let head = bytes.get(start..).and_then(|rest| rest.get(..ICON));
    let head = head.ok_or_else(|| Error::damaged(at(0), "save", "is cut off"))?;
    if !head.starts_with(b"SC") {
        return Err(Error::damaged(at(0), "magic", "is not that of a save"));
    }
    // 0x11 to 0x13: one frame to three.
    let frames = head[2] & 15;
    if head[2] >> 4 != 1 || !(1..=MAX_FRAMES).contains(&frames) {
        let problem = format!("is {:#x}, should be 0x11 to 0x13", head[2]);
        return Err(Error::damaged(at(2), "icon", problem));
    }
    let end = start + ICON + usize::from(frames) * FRAME;
    let icon = bytes.get(start + COLORS..end);
    let icon = icon.ok_or_else(|| Error::damaged(at(ICON), "icon", "is cut off"))?;
    let title = &head[TITLE..COLORS - 28];
    let length = title.iter().position(|&byte| byte == 0);
    let title = Charset::ShiftJis.decode(&title[..length.unwrap_or(title.len())]);
    Ok(Save {
        block: None,
        name: None,
        title: title.chars().map(narrow).collect(),
        blocks: head[3],
        frames,
        icon: slice_of(bytes, icon),
    })
}

/// Returns the ASCII character for a fullwidth one. Titles in Latin letters use these.
fn narrow(character: char) -> char {
    match character {
        '\u{3000}' => ' ',
        '\u{FF01}'..='\u{FF5E}' => {
            char::from_u32(u32::from(character) - 0xFEE0).unwrap_or(character)
        }
        other => other,
    }
}

impl Save {
    /// Returns a frame of the icon. `number` must be below [`Save::frames`].
    pub fn frame(&self, frame: usize) -> Picture {
        let (colors, frames) = self.icon.split_at(ICON - COLORS);
        let color = |stored: &[u8; 2]| match u16::from_le_bytes(*stored) {
            0 => [0; 4],
            stored => opaque(stored),
        };
        let palette = colors.as_chunks().0.iter().map(color).collect();
        let rows = frames.chunks_exact(SIDE * SIDE / 2).nth(frame);
        // The left pixel is in the low half.
        let rows = rows.unwrap_or_default().iter();
        Picture {
            width: SIDE as u32,
            height: SIDE as u32,
            pixels: Pixels::Indexed {
                bits: 4,
                rows: rows.map(|pixels| pixels.rotate_left(4)).collect(),
                palette,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a save with this many frames. All pixels of frame N have color N.
    fn save(frames: u8) -> Vec<u8> {
        let mut bytes = vec![b'S', b'C', 0x10 | frames, 1];
        bytes.extend(b"\x82\x60\x81\x40A");
        bytes.resize(COLORS, 0);
        for color in 0..16_u16 {
            bytes.extend((color * 0x421).to_le_bytes());
        }
        for frame in 0..frames {
            bytes.extend([frame * 0x10; FRAME]);
        }
        bytes.resize(BLOCK, 0);
        bytes
    }

    fn entry(name: &[u8]) -> Vec<u8> {
        let mut entry = vec![0; FRAME];
        entry[0] = FIRST;
        entry[0x0A..0x0A + name.len()].copy_from_slice(name);
        entry
    }

    #[test]
    fn a_save_has_a_title_and_an_icon() {
        let found = parse(&save(3).into()).unwrap();
        let [save] = &found.saves[..] else { panic!() };
        assert_eq!((&*save.title, save.frames, save.blocks), ("A A", 3, 1));
        // Two pixels: the left one is of color 0, which is transparent.
        let pixels = save.frame(2).rgba();
        assert_eq!(pixels[..2], [[0; 4], [16, 16, 16, 255]]);
        let with_entry = [entry(b"BASLUS-00001GAME"), super::tests::save(1)].concat();
        let found = parse(&with_entry.into()).unwrap();
        assert_eq!(found.saves[0].name.as_deref(), Some("BASLUS-00001GAME"));
    }

    #[test]
    fn a_card_has_its_saves_and_the_damaged_ones_are_warnings() {
        let mut card = vec![0; 16 * BLOCK];
        card[..2].copy_from_slice(b"MC");
        for block in [2, 5, 6] {
            card[block * FRAME..][..FRAME].copy_from_slice(&entry(b"BESLES-1"));
        }
        card[2 * BLOCK..3 * BLOCK].copy_from_slice(&save(1));
        card[6 * BLOCK..7 * BLOCK].copy_from_slice(&save(2));
        let check = |bytes: Vec<u8>| {
            let found = parse(&bytes.into()).unwrap();
            let blocks: Vec<_> = found.saves.iter().map(|save| save.block).collect();
            assert_eq!(blocks, [Some(2), Some(6)]);
            assert_eq!(found.warnings.len(), 1);
        };
        let mut dex_drive = b"123-456-STD".to_vec();
        dex_drive.resize(DEX_DRIVE, 0);
        check([dex_drive, card.clone()].concat());
        check(card);
    }

    #[test]
    fn other_files_and_cut_saves_are_damaged() {
        assert!(parse(&b"SC\x14".to_vec().into()).is_err());
        assert!(parse(&save(3)[..ICON + 2 * FRAME].to_vec().into()).is_err());
        let mut wrong = save(1);
        wrong[2] = 0x21;
        assert!(parse(&wrong.into()).is_err());
        assert!(parse(&Bytes::new()).is_err());
    }
}
