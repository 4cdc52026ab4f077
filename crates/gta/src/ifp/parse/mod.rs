//! IFP: the animation packages of Grand Theft Auto III, Vice City and San
//! Andreas, as a typed model.
//!
//! A package contains animations, an animation contains objects (one for every bone
//! that it moves), and an object contains keys. There are four kinds of file (FORMATS,
//! IFP 1): `ANPK`, `ANLF` with a list of `ANPK` packages, `ANP3`, and its older form
//! `ANP2`. Everything is little-endian.

mod anp3;
mod anpk;
mod keys;

pub use keys::{Key, KeyKind, Keys};

use bytes::Bytes;
use get_size2::GetSize;

use hpimount_assets::parse::{Incomplete, finish};
use hpimount_containers::io::Warnings;
use hpimount_containers::io::{Cursor, Endian, Error, Result};

/// Extensions of IFP files.
pub const EXTENSIONS: &[&str] = &["ifp"];

/// The parsed contents of an IFP file.
#[derive(Debug, Default, GetSize)]
pub struct Ifp {
    /// True if the packages are wrapped in an `ANLF` list.
    pub is_list: bool,
    /// The packages: one, or those in an `ANLF` list.
    pub packages: Vec<Package>,
    /// Length of the file in bytes.
    pub file_size: u64,
    /// Absolute offset of the end of the last package. The rest of the file does not
    /// belong to any animation.
    pub parsed_end: u64,
    /// True if the bytes after the last package are all zero.
    pub trailing_zero: bool,
    /// Warnings.
    pub warnings: Warnings,
}

/// Layout of a package.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, GetSize)]
pub enum Version {
    /// Tagged sections and float keys: GTA III, Vice City, and the cutscenes
    /// of San Andreas.
    #[default]
    Anpk,
    /// Like [`Version::Anp3`], without size and flags in an animation.
    Anp2,
    /// Fixed headers, keys usually as 16-bit numbers: San Andreas.
    Anp3,
}

impl Version {
    /// Returns the four characters that the package starts with.
    pub fn magic(self) -> &'static str {
        match self {
            Self::Anpk => "ANPK",
            Self::Anp2 => "ANP2",
            Self::Anp3 => "ANP3",
        }
    }
}

/// A package of animations.
#[derive(Debug, Default, GetSize)]
pub struct Package {
    /// Layout.
    pub version: Version,
    /// Absolute offset of its first byte.
    pub offset: u64,
    /// Size according to its header, without the header's 8 bytes.
    pub declared_size: u32,
    /// Name in scripts.
    pub name: String,
    /// `ANPK`: length of the `INFO` section as stored, without padding.
    pub info_size: Option<u32>,
    /// Number of nonzero bytes after the NULs of names, in the whole package.
    pub junk_after_nul: usize,
    /// The animations, in the order of the file.
    pub animations: Vec<Animation>,
}

impl Package {
    /// Returns the absolute offset of the package's end according to its
    /// header.
    pub fn declared_end(&self) -> u64 {
        self.offset + 8 + u64::from(self.declared_size)
    }
}

/// A wrong size or end in the file. Loaders ignore these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, GetSize)]
pub struct Mismatch {
    /// The stored value: a size in bytes, or an absolute offset.
    pub declared: u64,
    /// As found.
    pub actual: u64,
}

impl Mismatch {
    fn between(declared: u64, actual: u64) -> Option<Self> {
        (declared != actual).then_some(Self { declared, actual })
    }
}

/// An animation.
#[derive(Debug, Default, GetSize)]
pub struct Animation {
    /// Name. Games compare names ignoring case.
    pub name: String,
    /// Absolute offset of its first byte.
    pub offset: u64,
    /// Length in the file, in bytes.
    pub size: u64,
    /// `ANPK`: length of its `INFO` section.
    pub info_size: Option<u32>,
    /// `ANP3`: length of all keys in bytes, as stored.
    pub frame_data_size: Option<u32>,
    /// `ANP3`: bit 0 means that the keys are 16-bit numbers; real files have 0
    /// there as well.
    pub flags: Option<u32>,
    /// `ANPK`: the end of the `DGAN` section according to its header
    /// (absolute), if it is wrong.
    pub end_mismatch: Option<Mismatch>,
    /// The objects, in the order of the file.
    pub objects: Vec<Object>,
}

impl Animation {
    /// Returns the length in seconds: the time of the last key of all objects.
    pub fn duration(&self) -> f32 {
        let ends = self.objects.iter().map(Object::end_time);
        ends.reduce(f32::max).unwrap_or(0.0)
    }

    /// Returns the maximum number of keys of an object.
    pub fn frames(&self) -> usize {
        let counts = self.objects.iter().map(Object::frames);
        counts.max().unwrap_or(0)
    }

    /// Returns whether the animation moves the whole figure: the translation of a root
    /// object changes.
    pub fn has_root_motion(&self) -> bool {
        let roots = self.objects.iter().filter(|object| object.is_root());
        roots.filter_map(|root| root.keys.as_ref()).any(|keys| {
            let first = keys.get(0).and_then(|key| key.translation);
            keys.iter().any(|key| key.translation != first)
        })
    }

    /// Returns the stored length of all keys of `ANP3`, if it is wrong.
    pub fn frame_data_mismatch(&self) -> Option<Mismatch> {
        let keys = self
            .objects
            .iter()
            .filter_map(|object| object.keys.as_ref());
        let actual = keys.map(|keys| keys.bytes().len() as u64).sum();
        Mismatch::between(self.frame_data_size?.into(), actual)
    }
}

/// The motion of a bone in an animation.
#[derive(Debug, Default, GetSize)]
pub struct Object {
    /// Name of the bone; may start with a space.
    pub name: String,
    /// Absolute offset of its first byte.
    pub offset: u64,
    /// Number of the bone, -1 if the name is used instead. `None` in the `ANPK`
    /// form that has siblings, see [`Object::extra`].
    pub bone_id: Option<i32>,
    /// `ANPK`: length of the `ANIM` section.
    pub anim_size: Option<u32>,
    /// `ANPK`: the numbers in `ANIM` after the number of keys (FORMATS, IFP 3):
    /// 0, number of keys minus 1, then the bone or two siblings.
    pub extra: Vec<i32>,
    /// `ANPK`: the end of the `CPAN` section according to its header
    /// (absolute), if it is wrong.
    pub end_mismatch: Option<Mismatch>,
    /// `ANPK`: the size of the key section according to its header, if it is
    /// wrong.
    pub key_size_mismatch: Option<Mismatch>,
    /// The keys; `None` if the object has no key section at all.
    pub keys: Option<Keys>,
}

impl Object {
    /// Returns the number of keys.
    pub fn frames(&self) -> usize {
        self.keys.as_ref().map_or(0, Keys::len)
    }

    /// Returns the time of the first key in seconds, 0 without keys.
    pub fn start_time(&self) -> f32 {
        let first = self.keys.as_ref().and_then(|keys| keys.get(0));
        first.map_or(0.0, |key| key.time)
    }

    /// Returns the time of the last key in seconds, 0 without keys.
    pub fn end_time(&self) -> f32 {
        let last = self.keys.as_ref().and_then(Keys::last);
        last.map_or(0.0, |key| key.time)
    }

    /// Returns the next and the previous sibling, in the `ANPK` form that has
    /// them.
    pub fn siblings(&self) -> Option<(i32, i32)> {
        match (self.anim_size, self.extra.as_slice()) {
            (Some(anpk::SIZE_WITH_SIBLINGS), &[_, _, next, prev]) => Some((next, prev)),
            _ => None,
        }
    }

    /// Returns whether the object moves the whole figure: it is bone 0, or a root by
    /// name without bone number.
    fn is_root(&self) -> bool {
        match self.bone_id {
            Some(id) if id >= 0 => id == 0,
            _ => {
                let name = self.name.trim();
                name.eq_ignore_ascii_case("root") || name.eq_ignore_ascii_case("normal")
            }
        }
    }
}

impl Ifp {
    /// Returns all animations, package by package.
    pub fn animations(&self) -> impl Iterator<Item = &Animation> {
        let packages = self.packages.iter();
        packages.flat_map(|package| &package.animations)
    }

    /// Returns the number of bytes after the last package.
    pub fn trailing(&self) -> u64 {
        self.file_size - self.parsed_end
    }
}

/// Parses an IFP file. The keys of the model are slices of `bytes`.
///
/// # Errors
/// Returns [`Incomplete`] with the model so far if the structure is broken: an
/// unknown magic or kind of key, a count that does not fit, a missing field.
/// Wrong sizes and section tags are only warnings, since loaders ignore them.
pub fn parse(bytes: &Bytes) -> std::result::Result<Ifp, Box<Incomplete<Ifp>>> {
    let mut ifp = Ifp {
        file_size: bytes.len() as u64,
        ..Ifp::default()
    };
    let mut cursor = Cursor::new(bytes, 0, Endian::Little);
    let result = file(&mut cursor, bytes, &mut ifp);
    ifp.parsed_end = cursor.offset();
    let tail = &bytes[bytes.len() - cursor.remaining()..];
    ifp.trailing_zero = tail.iter().all(|&byte| byte == 0);
    finish(ifp, result)
}

fn file(cursor: &mut Cursor<'_>, bytes: &Bytes, ifp: &mut Ifp) -> Result<()> {
    let mut head = cursor.clone();
    let magic = head.take(4, "magic")?;
    let version = match magic {
        b"ANP3" => Version::Anp3,
        b"ANP2" => Version::Anp2,
        b"ANPK" => Version::Anpk,
        b"ANLF" => {
            ifp.is_list = true;
            return anpk::list(cursor, bytes, &mut ifp.packages, &mut ifp.warnings);
        }
        other => {
            return Err(Error::damaged(
                0,
                "magic",
                format!(
                    "is \"{}\", should be ANPK, ANLF, ANP2 or ANP3",
                    other.escape_ascii()
                ),
            ));
        }
    };
    hpimount_assets::parse::count::fill(&mut ifp.packages, |package| {
        package.version = version;
        match version {
            Version::Anpk => anpk::package(cursor, bytes, package, &mut ifp.warnings),
            Version::Anp2 | Version::Anp3 => {
                anp3::package(cursor, bytes, package, &mut ifp.warnings)
            }
        }
    })
}
