//! Directories that show the contents of files: `X.d` beside an archive,
//! `X.meta` beside an asset, and `converted` in the root of an archive.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use hpimount_assets::formats::VIEW_FORMATS;
use hpimount_assets::view::ViewFormat;
use hpimount_containers::format::PAIRS;
use hpimount_containers::formats::FORMATS;
use hpimount_containers::image::IMAGES;
use hpimount_containers::text::has_extension;
use hpimount_containers::volume::AssetType;

/// What a companion shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shows {
    /// The tree of an archive.
    Inside,
    /// The view of an asset by the format with this number in [`VIEW_FORMATS`].
    Meta(u8),
    /// The converted files of a directory.
    Converted,
}

/// Name of the directory with the converted files of an archive.
pub const CONVERTED: &str = "converted";

impl Shows {
    /// Returns whether a name has the suffix of a companion of a file.
    pub fn may_name(name: &str) -> bool {
        name.ends_with(".d") || name.ends_with(".meta")
    }

    /// Returns the name of the companion of the file `name`; for `converted`,
    /// its name inside the directory.
    pub fn name_beside(self, name: &str) -> String {
        match self {
            Self::Inside => [name, ".d"].concat(),
            Self::Meta(_) => [name, ".meta"].concat(),
            Self::Converted => CONVERTED.to_owned(),
        }
    }
}

/// Which companions of assets are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Meta {
    /// They are listed in folders and in most containers, and hidden elsewhere.
    #[default]
    Default,
    /// They are listed everywhere.
    Visible,
    /// As [`Meta::Default`], and `converted` is listed in the root of every
    /// archive.
    Converted,
    /// They can be looked up but are never listed.
    Hidden,
    /// There are none.
    Off,
}

/// Which files of a tree have listed companions.
#[derive(Debug, Clone, Copy)]
pub struct Companions {
    /// Whether archives have them.
    pub inside: bool,
    /// Whether assets have them.
    pub meta: bool,
    /// Whether the root has one.
    pub converted: bool,
    /// The companion of all other files: set for a single asset without the
    /// extension of its format.
    pub others: Option<Shows>,
}

impl Companions {
    /// No file has one.
    pub const NONE: Self = Self {
        inside: false,
        meta: false,
        converted: false,
        others: None,
    };

    /// Returns what the companion of a file shows, by the type that its volume
    /// gives it, or else by its extension alone.
    pub fn of(self, name: &str, asset: Option<AssetType>) -> Option<Shows> {
        let known = known(name);
        if self.inside && known.is_archive {
            return Some(Shows::Inside);
        }
        if self.meta
            && let Some(format) = view_of(asset).or(known.view)
        {
            return Some(Shows::Meta(format));
        }
        self.others
    }
}

/// The properties of a file that follow from its extension.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    is_archive: bool,
    /// The number in [`VIEW_FORMATS`] of the format that shows it.
    view: Option<u8>,
}

/// Maximum length of the extension of a known format, in bytes.
const MAX_EXTENSION: usize = 7;

/// The extensions of all formats, sorted. Every name of a listing is looked up
/// here.
static KNOWN: LazyLock<Vec<(u64, Known)>> = LazyLock::new(|| {
    let mut all: BTreeMap<u64, Known> = BTreeMap::new();
    let volumes = FORMATS.iter().flat_map(|format| format.extensions);
    let images = IMAGES.iter().flat_map(|format| format.extensions);
    for extension in volumes.chain(images) {
        all.entry(number_of(extension.as_bytes()))
            .or_default()
            .is_archive = true;
    }
    for (number, format) in (0..).zip(VIEW_FORMATS) {
        for extension in format.extensions {
            let known = all.entry(number_of(extension.as_bytes())).or_default();
            known.view = known.view.or(Some(number));
        }
    }
    all.into_iter().collect()
});

/// Returns an extension of at most [`MAX_EXTENSION`] bytes, in lower case, as a
/// unique number.
fn number_of(extension: &[u8]) -> u64 {
    extension.iter().fold(1, |number, letter| {
        number << 8 | u64::from(letter.to_ascii_lowercase())
    })
}

/// Returns the properties of a file with this name by its extension, which may
/// contain a dot. A file called `.hpi` has none.
fn known(name: &str) -> Known {
    let name = name.as_bytes().get(1..).unwrap_or_default();
    let mut end = [0; MAX_EXTENSION + 1];
    let length = name.len().min(end.len());
    end[MAX_EXTENSION + 1 - length..].copy_from_slice(&name[name.len() - length..]);
    end.make_ascii_lowercase();
    let letters = u64::from_be_bytes(end);
    let dots = (0..end.len()).filter(|&place| end[MAX_EXTENSION - place] == b'.');
    let mut found = dots.filter_map(|place| {
        // The dot is replaced by the leading 1 of `number_of`.
        let first = 1 << (8 * place);
        let number = letters & (first - 1) | first;
        let index = KNOWN.binary_search_by_key(&number, |&(number, _)| number);
        index.ok().map(|index| KNOWN[index].1)
    });
    found.next().unwrap_or_default()
}

/// Returns whether a name has an extension. A file called `.hpi` has none.
fn is_named(name: &str, extension: &str) -> bool {
    has_extension(name.as_bytes(), extension) && name.len() > extension.len() + 1
}

/// Returns the name of the second file of a pair, for a file with an ambiguous
/// extension that is an archive only together with it (SEMANTICS, Companions).
pub fn partner(name: &str) -> Option<String> {
    let mut pairs = PAIRS.iter();
    let (bytes, directory) = pairs.find(|(bytes, _)| is_named(name, bytes))?;
    let stem = &name[..name.len() - bytes.len()];
    Some(format!("{stem}{directory}"))
}

/// Returns the name of the cue sheet that has the companion instead of a file
/// that may be a CD image.
pub fn sheet(name: &str) -> Option<String> {
    let stem = is_named(name, BIN).then(|| &name[..name.len() - BIN.len()])?;
    Some(format!("{stem}cue"))
}

/// Returns the test of the first bytes for a file of `size` bytes with an
/// ambiguous extension. A `.bin` is tested only if it consists of whole frames,
/// since discs have many that are not images, and only if `looks_for_discs` is
/// set: in a disc image in blocks, every test would decode one.
pub fn test_of_head(name: &str, size: u64, looks_for_discs: bool) -> Option<HeadTest> {
    let may_be = |extension| extension != BIN || looks_for_discs && has_frames(size);
    let mut known = HEADS.iter();
    let found = known.find(|(extension, _)| is_named(name, extension));
    found
        .filter(|(extension, _)| may_be(*extension))
        .map(|&(_, test)| test)
}

/// Returns whether a file of `size` bytes consists of CD frames, with enough of
/// them for the descriptors of a disc.
fn has_frames(size: u64) -> bool {
    [2352, 2448]
        .into_iter()
        .any(|frame| size >= 18 * frame && size.is_multiple_of(frame))
}

/// Extension of CD images, and of many other files.
const BIN: &str = "bin";

/// A test that returns whether the first bytes of a file are those of an
/// archive.
pub type HeadTest = fn(&[u8]) -> bool;

/// Ambiguous extensions, with the tests for archives.
const HEADS: [(&str, HeadTest); 3] = [("img", is_img), (BIN, is_raw_disc), ("pre", is_pre)];

/// Returns whether a file is a GTA archive of version 2 (one of version 1 is
/// recognized by its partner) or a raw CD image.
fn is_img(head: &[u8]) -> bool {
    head.starts_with(b"VER2") || is_raw_disc(head)
}

/// Returns whether a file is a raw CD image, by the start of a sector.
fn is_raw_disc(head: &[u8]) -> bool {
    head.starts_with(&[0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0])
}

/// Returns whether a file is a PRE archive: one with a magic, or with a small
/// number and the start of a printable name.
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

/// Returns the number in [`VIEW_FORMATS`] of the format that shows a file: by
/// the type that its volume gives it, or else by its extension.
pub fn view_format(name: &str, asset: Option<AssetType>) -> Option<u8> {
    view_of(asset).or_else(|| known(name).view)
}

/// Returns the number of the format that shows assets of a type.
fn view_of(asset: Option<AssetType>) -> Option<u8> {
    let code = asset?.code;
    let shows = |format: &ViewFormat| format.asset_types.contains(&code);
    let found = VIEW_FORMATS.iter().position(shows);
    found.map(|number| number as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn companions_follow_from_the_extension_ignoring_case() {
        let all = Companions {
            inside: true,
            meta: true,
            converted: false,
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
    fn every_extension_of_a_format_is_known() {
        for format in FORMATS {
            for extension in format.extensions {
                assert!(known(&format!("a.b.{extension}")).is_archive, "{extension}");
            }
        }
        for format in VIEW_FORMATS {
            for extension in format.extensions {
                assert!(extension.len() <= MAX_EXTENSION, "{extension}");
                let name = format!("a.{}", extension.to_uppercase());
                let shown = known(&name)
                    .view
                    .map(|number| &VIEW_FORMATS[usize::from(number)]);
                assert!(
                    shown.is_some_and(|format| format.shows(name.as_bytes())),
                    "{name}"
                );
            }
        }
        for name in [
            "",
            ".",
            "a",
            "a.",
            "hpi",
            "a.hpi.txt",
            "a.xhpi",
            "a.\0\0hpi",
            ".hpi",
        ] {
            assert!(!known(name).is_archive, "{name:?}");
        }
        assert!(known("..hpi").is_archive);
    }

    #[test]
    fn ambiguous_extensions_need_a_partner_or_the_first_bytes() {
        assert_eq!(partner("gta3.IMG").as_deref(), Some("gta3.dir"));
        assert_eq!(partner("CD.wad").as_deref(), Some("CD.hed"));
        assert_eq!(partner("gta3.dir"), None);
        assert_eq!(partner(".img"), None);
        assert_eq!(sheet("game.BIN").as_deref(), Some("game.cue"));
        assert_eq!(sheet("game.img"), None);
        const FRAMES: u64 = 20 * 2352;
        let test = |name: &str, head: &[u8]| {
            test_of_head(name, FRAMES, true).is_some_and(|test| test(head))
        };
        assert!(test("gta3.img", b"VER2\x10\0\0\0"));
        assert!(!test("floppy.img", b"\xEB\x3C\x90MSDOS"));
        assert!(test("a.pre", b"\x20\0\0\0\x03\0\xCD\xAB"));
        assert!(test("a.pre", b"\x02\0\0\0hawk.psx\0"));
        assert!(!test("a.pre", b"%PDF-1.4"));
        assert!(!test("a.pre", b""));
        assert!(!test("a.bin", b"VER2"));
        let sync = [&[0][..], &[255; 10], &[0, 0, 2, 0, 2]].concat();
        assert!(test("game.BIN", &sync) && test("game.img", &sync));
        assert!(!test("game.bin", &sync[..11]));
        assert!(test_of_head("game.bin", FRAMES, false).is_none());
        assert!(test_of_head("game.bin", FRAMES + 1, true).is_none());
        assert!(test_of_head("game.bin", 17 * 2352, true).is_none());
        assert!(test_of_head("game.bin", 18 * 2448, true).is_some());
        assert!(test_of_head("gta3.img", 1, false).is_some());
    }
}
