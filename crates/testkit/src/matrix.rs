//! Every damage of one byte and every truncation of a small source, and the resulting
//! mounts, without FUSE.

use std::fs::OpenOptions;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hpimount::mount::{Error, FileKind, Ino, Options, Sources, Vfs};
use tempfile::TempDir;

use crate::trial;

/// One damage of the bytes of a source.
#[derive(Debug, Clone, Copy)]
pub enum Damage {
    /// The byte at a position is changed.
    Byte(usize, u8),
    /// That many bytes are left.
    Cut(usize),
}

impl Damage {
    /// Returns the damaged source.
    pub fn apply(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Self::Byte(at, byte) => {
                let mut bytes = bytes.to_vec();
                bytes[at] = byte;
                bytes
            }
            Self::Cut(length) => bytes[..length].to_vec(),
        }
    }

    /// Returns whether it affects bytes before `end`.
    pub fn is_before(self, end: usize) -> bool {
        match self {
            Self::Byte(at, _) | Self::Cut(at) => at < end,
        }
    }
}

/// Returns every byte set to 0, set to 0xFF and inverted, and every length; in a long
/// trial also every single bit flipped. Omits damages without effect.
pub fn damages(bytes: &[u8]) -> impl Iterator<Item = Damage> {
    let bits: Range<u32> = trial::length(0..0, 0..8);
    let bytes_damaged = bytes.iter().enumerate().flat_map(move |(at, &byte)| {
        let set = [0, 0xFF].into_iter().filter(move |set| *set != byte);
        let is_new = byte != 0 && byte != 0xFF;
        let flipped = is_new.then_some(!byte);
        let bits = bits.clone().map(move |bit| byte ^ (1 << bit));
        let all = set.chain(flipped).chain(bits);
        all.map(move |byte| Damage::Byte(at, byte))
    });
    bytes_damaged.chain((0..bytes.len()).map(Damage::Cut))
}

/// A source on disk that can be damaged and opened repeatedly.
pub struct Bench {
    /// Keeps the file alive.
    _directory: TempDir,
    file: PathBuf,
    /// The file, or its folder.
    source: PathBuf,
}

impl Bench {
    /// Creates a source that is a file with this name.
    pub fn file(name: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join(name);
        Self {
            source: file.clone(),
            file,
            _directory: directory,
        }
    }

    /// Creates a source that is a folder with a file of this name.
    pub fn folder(name: &str) -> Self {
        let bench = Self::file(name);
        Self {
            source: bench.file.parent().map(Path::to_owned).unwrap(),
            ..bench
        }
    }

    /// Opens these bytes, or returns the reason why they are refused.
    pub fn open(&self, bytes: &[u8]) -> Result<Arc<Vfs>, String> {
        self.open_with(bytes, Options::default())
    }

    /// Opens the converted tree of these bytes.
    pub fn open_converted(&self, bytes: &[u8]) -> Result<Arc<Vfs>, String> {
        let options = Options {
            converted: true,
            ..Options::default()
        };
        self.open_with(bytes, options)
    }

    fn open_with(&self, bytes: &[u8], options: Options) -> Result<Arc<Vfs>, String> {
        // Truncating the file first would write it to the disk each time.
        let mut how = OpenOptions::new();
        let file = how.create(true).write(true).truncate(false);
        let file = file.open(&self.file).unwrap();
        file.write_all_at(bytes, 0).unwrap();
        file.set_len(bytes.len() as u64).unwrap();
        let sources = Sources::one(self.source.clone());
        let options = Options {
            cache_size: 1 << 20,
            ..options
        };
        Vfs::open(&sources, options).map_err(|error| error.cause.to_string())
    }
}

/// An entry of a mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub path: String,
    /// The path's components as the archive's own names.
    pub raw: Vec<Vec<u8>>,
    pub what: What,
    /// Inode number, which identifies a file with several names.
    pub ino: Ino,
}

/// The target of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    Directory,
    Link(Vec<u8>),
    File {
        size: u64,
        /// `None` if reading ends with EIO.
        bytes: Option<Vec<u8>>,
    },
}

/// Walks a whole mount, each directory before its contents, and reads all
/// files.
///
/// # Panics
/// Panics if anything but a read fails, if a read fails with another error than
/// EIO, or if equivalent requests have different results.
pub fn see(vfs: &Vfs) -> Vec<Seen> {
    let mut seen = Vec::new();
    see_directory(vfs, Ino::ROOT, "", &[], &mut seen);
    seen
}

fn see_directory(vfs: &Vfs, directory: Ino, above: &str, raw: &[Vec<u8>], seen: &mut Vec<Seen>) {
    let mut entries = Vec::new();
    vfs.readdir(directory, 0, &mut |name, ino, kind, _| {
        entries.push((name.to_owned(), ino, kind));
        false
    })
    .unwrap();
    for (name, ino, kind) in entries {
        let path = format!("{above}/{name}");
        let attr = vfs.lookup(directory, &name).unwrap();
        assert_eq!((attr.ino, attr.kind), (ino, kind), "{path}");
        assert!(!name.is_empty() && name.len() <= 255, "{path}");
        assert!(!name.contains(['/', '\0']) && name != "." && name != "..");
        let own = match kind {
            FileKind::Symlink => name.into_bytes(),
            _ => vfs.xattr(ino, "user.hpimount.raw_name").unwrap(),
        };
        let raw = [raw, &[own]].concat();
        let what = match kind {
            FileKind::Directory => What::Directory,
            FileKind::Symlink => What::Link(vfs.readlink(ino).unwrap()),
            FileKind::File => {
                let bytes = read(vfs, ino, attr.size);
                let size = attr.size;
                What::File { size, bytes }
            }
        };
        seen.push(Seen {
            path: path.clone(),
            raw: raw.clone(),
            what,
            ino,
        });
        if kind == FileKind::Directory {
            see_directory(vfs, ino, &path, &raw, seen);
        }
    }
}

/// Returns all bytes of a file; `None` after EIO.
fn read(vfs: &Vfs, ino: Ino, size: u64) -> Option<Vec<u8>> {
    const PIECE: u32 = 100_000;
    let mut bytes = Vec::new();
    while (bytes.len() as u64) < size {
        match vfs.read(ino, bytes.len() as u64, PIECE) {
            Ok(piece) => {
                assert!(!piece.is_empty(), "a file is shorter than its size");
                bytes.extend_from_slice(&piece);
            }
            Err(error) => {
                assert_eq!(error, Error::Io);
                return None;
            }
        }
    }
    assert_eq!(bytes.len() as u64, size);
    Some(bytes)
}

/// The result for a damaged source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Refused with an error that has an offset.
    Refused,
    /// Refused because the first eight bytes do not belong to an archive.
    Unknown,
    /// Everything is as without the damage.
    Same,
    /// Some files cannot be read. Everything else is the same as without damage.
    Eio,
    /// No checksum covers the damaged byte, and the mount shows the damaged contents.
    Undetected,
}

/// All outcomes, in their order.
pub const EVERY_OUTCOME: [Outcome; 5] = [
    Outcome::Refused,
    Outcome::Unknown,
    Outcome::Same,
    Outcome::Eio,
    Outcome::Undetected,
];

/// The number of sources with each [`Outcome`], in their order.
pub type Counts = [usize; 5];

/// Returns the difference from an undamaged source: none, failing reads, or other
/// contents.
pub fn compare(whole: &[Seen], now: &[Seen]) -> Outcome {
    let unread = |(whole, now): (&Seen, &Seen)| {
        let same_place = (&whole.path, &whole.raw) == (&now.path, &now.raw);
        match (&whole.what, &now.what) {
            _ if !same_place => false,
            (
                What::File { size: a, .. },
                What::File {
                    size: b,
                    bytes: None,
                },
            ) => a == b,
            (whole, now) => whole == now,
        }
    };
    let same = |(whole, now): (&Seen, &Seen)| {
        (&whole.path, &whole.raw, &whole.what) == (&now.path, &now.raw, &now.what)
    };
    let pairs = || whole.iter().zip(now);
    if whole.len() != now.len() || !pairs().all(unread) {
        Outcome::Undetected
    } else if pairs().all(same) {
        Outcome::Same
    } else {
        Outcome::Eio
    }
}

/// Reports which damage caused a panic.
pub struct DamageReport<'a>(pub &'a str, pub Damage);

impl Drop for DamageReport<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}: {:?}", self.0, self.1);
        }
    }
}
