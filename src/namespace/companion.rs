//! Directories that show the contents of files: `X.d` beside an archive,
//! `X.meta` beside an asset, and `converted` in the root of an archive.

use std::sync::LazyLock;

use hashbrown::HashMap;

use crate::formats::VIEW_FORMATS;
use hpimount_containers::format::{Ambiguous, Pair};
use hpimount_containers::formats;
use hpimount_containers::image::IMAGES;
use hpimount_containers::volume::AssetType;

/// Contents of a companion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

/// Suffix of the names of companions of archives.
const INSIDE_SUFFIX: &str = ".d";

/// Suffix of the names of companions of assets.
pub const META_SUFFIX: &str = ".meta";

impl Shows {
    /// Returns whether a name has the suffix of a companion of a file.
    pub fn may_name(name: &str) -> bool {
        name.ends_with(INSIDE_SUFFIX) || name.ends_with(META_SUFFIX)
    }

    /// Returns the name of the companion of the file `name`; for `converted`,
    /// its name inside the directory.
    pub fn name_beside(self, name: &str) -> String {
        match self {
            Self::Inside => [name, INSIDE_SUFFIX].concat(),
            Self::Meta(_) => [name, META_SUFFIX].concat(),
            Self::Converted => CONVERTED.to_owned(),
        }
    }
}

/// Returns the path of the archive whose contents a directory of this path shows, if it is
/// one of these directories.
pub fn archive_of(inside: &str) -> Option<&str> {
    inside.strip_suffix(INSIDE_SUFFIX)
}

/// Visibility of companions of assets.
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
    /// No file has a companion.
    Off,
}

/// Listed companions of the files of a tree.
#[derive(Debug, Clone, Copy)]
pub struct Companions {
    /// True if archives have them.
    pub inside: bool,
    /// True if assets have them.
    pub meta: bool,
    /// True if the root has one.
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
    /// gives it, or else by its name alone.
    pub fn of(self, known: Known, asset: Option<AssetType>) -> Option<Shows> {
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

/// The properties of a file that follow from its name.
#[derive(Debug, Clone, Copy, Default)]
pub struct Known {
    is_archive: bool,
    /// True if it is in [`AMBIGUOUS`].
    is_ambiguous: bool,
    /// True if it may be the data of a pair, by its extension: it is an archive if the file with
    /// the directory exists (see [`partners`]).
    pub is_paired: bool,
    /// The number in [`VIEW_FORMATS`] of the format that shows it.
    view: Option<u8>,
}

/// Maximum length of the extension of a known format, or of a whole name, in
/// bytes.
const MAX_EXTENSION: usize = 15;

/// The numbers of whole names, and of the formats in [`VIEW_FORMATS`] that they
/// have, sorted.
static NAMES: LazyLock<Vec<(u128, u8)>> = LazyLock::new(|| {
    let formats = (0..).zip(VIEW_FORMATS.iter());
    let names = formats.flat_map(|(number, format)| {
        let names = format.names.iter();
        names.map(move |name| (number_of(name.as_bytes()), number))
    });
    let mut names: Vec<_> = names.collect();
    names.sort_unstable();
    names
});

/// The extensions of all formats. Every name of a listing is looked up here, so the
/// hash is a faster one than the standard library has.
static KNOWN: LazyLock<HashMap<u128, Known>> = LazyLock::new(|| {
    let mut all: HashMap<u128, Known> = HashMap::new();
    let volumes = formats::all().flat_map(|format| format.extensions);
    let images = IMAGES.iter().flat_map(|format| format.extensions);
    for extension in volumes.chain(images) {
        all.entry(number_of(extension.as_bytes()))
            .or_default()
            .is_archive = true;
    }
    for ambiguous in AMBIGUOUS.iter() {
        let known = all.entry(number_of(ambiguous.extension.as_bytes()));
        known.or_default().is_ambiguous = true;
    }
    for pair in PAIRS.iter() {
        let known = all.entry(number_of(pair.data.as_bytes()));
        known.or_default().is_paired = true;
    }
    for (number, format) in (0..).zip(VIEW_FORMATS.iter()) {
        for extension in format.extensions {
            let known = all.entry(number_of(extension.as_bytes())).or_default();
            known.view = known.view.or(Some(number));
        }
    }
    all
});

/// Returns an extension of at most [`MAX_EXTENSION`] bytes, in lower case, as a
/// unique number.
fn number_of(extension: &[u8]) -> u128 {
    extension.iter().fold(1, |number, letter| {
        number << 8 | u128::from(letter.to_ascii_lowercase())
    })
}

/// Returns the properties of a file with this name.
pub fn known(name: &str) -> Known {
    let known = known_extension(name);
    let whole = || {
        let number = (name.len() <= MAX_EXTENSION).then(|| number_of(name.as_bytes()))?;
        let index = NAMES.binary_search_by_key(&number, |&(number, _)| number);
        index.ok().map(|index| NAMES[index].1)
    };
    Known {
        view: known.view.or_else(whole),
        ..known
    }
}

/// Returns the properties of a file with this name by its extension, which may
/// contain a dot. A file called `.hpi` has none.
fn known_extension(name: &str) -> Known {
    let name = name.as_bytes().get(1..).unwrap_or_default();
    let mut end = [0; MAX_EXTENSION + 1];
    let length = name.len().min(end.len());
    end[MAX_EXTENSION + 1 - length..].copy_from_slice(&name[name.len() - length..]);
    end.make_ascii_lowercase();
    let letters = u128::from_be_bytes(end);
    let mut found = dots(letters).filter_map(|place| {
        // The dot is replaced by the leading 1 of `number_of`.
        let first = 1 << (8 * place);
        let number = letters & (first - 1) | first;
        KNOWN.get(&number).copied()
    });
    found.next().unwrap_or_default()
}

/// Returns the places of the dots among sixteen letters, the last letter's place
/// being 0.
fn dots(letters: u128) -> impl Iterator<Item = u32> {
    const LOW: u128 = u128::from_ne_bytes([0x7F; 16]);
    let other = letters ^ u128::from_ne_bytes([b'.'; 16]);
    // The sum has the highest bit of each byte that has a lower one.
    let mut zeros = !(((other & LOW) + LOW) | other | LOW);
    std::iter::from_fn(move || {
        let place = zeros.trailing_zeros() / 8;
        zeros &= zeros.checked_sub(1)?;
        Some(place)
    })
}

/// The types of assets that formats show, with the numbers of these formats,
/// sorted. Every asset of an archive is looked up here.
static ASSET_TYPES: LazyLock<Vec<([u8; 4], u8)>> = LazyLock::new(|| {
    let formats = (0..).zip(VIEW_FORMATS.iter());
    let types = formats.flat_map(|(number, format)| {
        let types = format.asset_types.iter();
        types.map(move |&code| (code, number))
    });
    // The first format that shows a type counts.
    let mut types: Vec<_> = types.collect();
    types.sort_unstable();
    types.dedup_by_key(|&mut (code, _)| code);
    types
});

/// The pairs of extensions of all formats.
static PAIRS: LazyLock<Vec<Pair>> =
    LazyLock::new(|| formats::all().filter_map(|format| format.pair).collect());

/// The ambiguous extensions of all formats.
static AMBIGUOUS: LazyLock<Vec<&Ambiguous>> =
    LazyLock::new(|| formats::all().flat_map(|format| format.ambiguous).collect());

/// Returns the names of the files that hold the directory of `name`, if its
/// extension is that of the data of a pair. If one of them exists, `name` is an
/// archive (SEMANTICS, Companions).
pub fn partners(name: &str) -> impl Iterator<Item = String> {
    let pairs = known_extension(name).is_paired.then(|| PAIRS.iter());
    let pairs = pairs.into_iter().flatten();
    pairs.filter_map(|pair| pair.directory_of(name))
}

/// Returns the names of the sheets that may describe `name`, such as the cue
/// sheet of a CD image. If one of them exists, it has the companion instead.
pub fn sheets(name: &str) -> impl Iterator<Item = String> {
    AMBIGUOUS.iter().filter_map(|known| known.sheet_of(name))
}

/// Returns the ambiguous extensions that a file of `size` bytes has, if it is
/// to be tested. Those that hardly ever belong to an archive are tested only if
/// `tests_all` is set: in a disc image in blocks, every test would decode one.
pub fn ambiguous(
    name: &str,
    size: u64,
    tests_all: bool,
) -> impl Iterator<Item = &'static Ambiguous> {
    let all = known_extension(name).is_ambiguous.then(|| AMBIGUOUS.iter());
    all.into_iter().flatten().copied().filter(move |known| {
        let may_be = known.may_have.is_none_or(|fits| tests_all && fits(size));
        known.is_of(name) && may_be
    })
}

/// Returns the number in [`VIEW_FORMATS`] of the format that shows a file: by
/// the type that its volume gives it, or else by its name.
pub fn view_format(name: &str, asset: Option<AssetType>) -> Option<u8> {
    view_of(asset).or_else(|| known(name).view)
}

/// Returns the number of the format that shows assets of a type.
fn view_of(asset: Option<AssetType>) -> Option<u8> {
    let code = asset?.code;
    let index = ASSET_TYPES.binary_search_by_key(&code, |&(code, _)| code);
    index.ok().map(|index| ASSET_TYPES[index].1)
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
        assert_eq!(all.of(known("totala1.HPI"), None), Some(Shows::Inside));
        assert!(matches!(
            all.of(known("ped.IFP"), None),
            Some(Shows::Meta(_))
        ));
        assert_eq!(all.of(known("readme.txt"), None), None);
        assert_eq!(all.of(known(".hpi"), None), None);
        assert_eq!(all.of(known("gta3.img"), None), None);
        assert_eq!(Companions::NONE.of(known("totala1.HPI"), None), None);
        assert_eq!(Shows::Inside.name_beside("a.ufo"), "a.ufo.d");
    }

    #[test]
    fn every_extension_and_name_of_a_format_is_known() {
        for format in formats::all() {
            for extension in format.extensions {
                assert!(known(&format!("a.b.{extension}")).is_archive, "{extension}");
            }
        }
        for ambiguous in AMBIGUOUS.iter() {
            let name = format!("a.b.{}", ambiguous.extension);
            assert!(known(&name).is_ambiguous, "{name}");
        }
        for pair in PAIRS.iter() {
            let name = format!("a.b.{}", pair.data);
            assert!(known(&name).is_paired, "{name}");
        }
        for format in VIEW_FORMATS.iter() {
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
            for name in format.names {
                assert!(name.len() <= MAX_EXTENSION, "{name}");
                assert!(known(&name.to_uppercase()).view.is_some(), "{name}");
                assert!(known(&format!("x{name}")).view.is_none(), "{name}");
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
        let partner = |name: &str| partners(name).next();
        assert!(partners("gta3.IMG").eq(["gta3.dir", "gta3.ccd"]));
        assert_eq!(partner("CD.wad").as_deref(), Some("CD.hed"));
        assert_eq!(partner("gta3.dir"), None);
        assert_eq!(partner(".img"), None);
        assert_eq!(sheets("game.BIN").next().as_deref(), Some("game.cue"));
        assert_eq!(sheets("game.img").next(), None);
        assert_eq!(partner("game.mdf").as_deref(), Some("game.mds"));
        const FRAMES: u64 = 20 * 2352;
        let test = |name: &str, head: &[u8]| {
            ambiguous(name, FRAMES, true).any(|known| (known.begins)(head))
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
        let descriptor = [&b"\x01CD001\x01"[..], &[0; 9]].concat();
        let mut known = ambiguous("game.img", 20 * 2048, true).filter(|known| known.at == 0x8000);
        assert!((known.next().unwrap().begins)(&descriptor));
        let is_tested = |name: &str, size, all| ambiguous(name, size, all).next().is_some();
        assert!(!is_tested("game.bin", FRAMES, false));
        assert!(!is_tested("game.bin", FRAMES + 1, true));
        assert!(!is_tested("game.bin", 17 * 2352, true));
        assert!(is_tested("game.bin", 18 * 2448, true));
        assert!(is_tested("gta3.img", 1, false));
    }
}
