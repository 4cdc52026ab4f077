//! Directories beside files that show what is inside them: `X.d` for an
//! archive, `X.meta` for an asset.

use crate::source::image::IMAGES;
use crate::text::has_extension;
use crate::view::{VIEW_FORMATS, ViewFormat};
use crate::volume::{AssetType, FORMATS, PAIRS};

/// What a companion shows of its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shows {
    /// The tree of an archive.
    Inside,
    /// What the asset format of this number in [`VIEW_FORMATS`] makes of it.
    Meta(u8),
}

impl Shows {
    /// Name of the companion of the file `name`.
    pub fn name_beside(self, name: &str) -> String {
        match self {
            Self::Inside => format!("{name}.d"),
            Self::Meta(_) => format!("{name}.meta"),
        }
    }
}

/// Which companions of assets are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Meta {
    /// They are listed in folders and in containers that are folders in all
    /// but name, and found by name elsewhere.
    #[default]
    Default,
    /// They are listed everywhere.
    Visible,
    /// They are found by name and listed nowhere.
    Hidden,
    /// There are none.
    Off,
}

/// Which files of a tree have companions that are listed.
#[derive(Debug, Clone, Copy)]
pub struct Companions {
    /// Whether archives have them.
    pub inside: bool,
    /// Whether assets have them.
    pub meta: bool,
    /// What every other file has: set for a lone asset that does not have the
    /// extension of its format.
    pub others: Option<Shows>,
}

impl Companions {
    /// No file has one.
    pub const NONE: Self = Self {
        inside: false,
        meta: false,
        others: None,
    };

    /// What the companion of a file with this name shows, if it has one by
    /// what its volume says of the content, or else by its extension alone.
    pub fn of(self, name: &str, asset: Option<AssetType>) -> Option<Shows> {
        if self.inside && is_archive_name(name) {
            return Some(Shows::Inside);
        }
        if self.meta
            && let Some(format) = view_format(name, asset)
        {
            return Some(Shows::Meta(format));
        }
        self.others
    }
}

fn is_archive_name(name: &str) -> bool {
    let has = |known: &&str| is_named(name, known);
    let volumes = FORMATS.iter().flat_map(|format| format.extensions);
    let images = IMAGES.iter().flat_map(|format| format.extensions);
    volumes.chain(images).any(has)
}

/// Whether a name has an extension. A file that is called `.hpi` has none.
fn is_named(name: &str, extension: &str) -> bool {
    has_extension(name.as_bytes(), extension) && name.len() > extension.len() + 1
}

/// For a file whose extension archives and others have: the name of the file
/// beside it with which it is an archive (SEMANTICS, Companions).
pub fn partner(name: &str) -> Option<String> {
    let mut pairs = PAIRS.iter();
    let (bytes, directory) = pairs.find(|(bytes, _)| is_named(name, bytes))?;
    let stem = &name[..name.len() - bytes.len()];
    Some(format!("{stem}{directory}"))
}

/// For a file whose extension archives and others have: whether its first
/// bytes make it an archive.
pub fn test_of_head(name: &str) -> Option<HeadTest> {
    let mut known = HEADS.iter();
    let (_, test) = known.find(|(extension, _)| is_named(name, extension))?;
    Some(*test)
}

/// Whether the first bytes of a file make it an archive.
pub type HeadTest = fn(&[u8]) -> bool;

/// Extensions that archives and others have, and what the first bytes of the
/// archives are.
const HEADS: [(&str, HeadTest); 2] = [("img", is_img), ("pre", is_pre)];

/// A GTA archive of version 2; one of version 1 is told by its partner.
fn is_img(head: &[u8]) -> bool {
    head.starts_with(b"VER2")
}

/// A PRE archive: one with a magic, or a small number and the start of a
/// printable name.
fn is_pre(head: &[u8]) -> bool {
    let number = |at: usize| {
        let bytes = head.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_le_bytes(bytes))
    };
    let Some(files) = number(0) else {
        return false;
    };
    let has_name = head.get(4).is_some_and(|byte| (0x20..0x7F).contains(byte));
    let has_magic = matches!(number(4), Some(0xABCD_0002 | 0xABCD_0003));
    has_magic || has_name && (1..0x1_0000).contains(&files)
}

/// The number in [`VIEW_FORMATS`] of the format that shows a file: that of the
/// type that its volume says it has, or else that of its extension.
pub fn view_format(name: &str, asset: Option<AssetType>) -> Option<u8> {
    let by_type =
        |format: &ViewFormat| asset.is_some_and(|asset| format.asset_types.contains(&asset.code));
    let by_extension = |format: &ViewFormat| format.shows(name.as_bytes());
    let mut formats = VIEW_FORMATS.iter();
    let found = formats.position(by_type);
    let found = found.or_else(|| VIEW_FORMATS.iter().position(by_extension));
    found.map(|number| number as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn companions_go_by_the_extension_in_any_case() {
        let all = Companions {
            inside: true,
            meta: true,
            others: None,
        };
        assert_eq!(all.of("totala1.HPI", None), Some(Shows::Inside));
        assert!(matches!(all.of("ped.IFP", None), Some(Shows::Meta(_))));
        assert_eq!(all.of("readme.txt", None), None);
        assert_eq!(all.of(".hpi", None), None);
        assert_eq!(all.of("gta3.img", None), None);
        assert_eq!(Companions::NONE.of("totala1.HPI", None), None);
        assert_eq!(Shows::Inside.name_beside("a.ufo"), "a.ufo.d");
    }

    #[test]
    fn ambiguous_extensions_need_a_partner_or_the_first_bytes() {
        assert_eq!(partner("gta3.IMG").as_deref(), Some("gta3.dir"));
        assert_eq!(partner("CD.wad").as_deref(), Some("CD.hed"));
        assert_eq!(partner("gta3.dir"), None);
        assert_eq!(partner(".img"), None);
        let test = |name: &str, head: &[u8]| test_of_head(name).is_some_and(|test| test(head));
        assert!(test("gta3.img", b"VER2\x10\0\0\0"));
        assert!(!test("floppy.img", b"\xEB\x3C\x90MSDOS"));
        assert!(test("a.pre", b"\x20\0\0\0\x03\0\xCD\xAB"));
        assert!(test("a.pre", b"\x02\0\0\0hawk.psx\0"));
        assert!(!test("a.pre", b"%PDF-1.4"));
        assert!(!test("a.pre", b""));
        assert!(!test("a.bin", b"VER2"));
    }
}
