//! Sources with everything that can be mounted, and the expected contents of a mount,
//! known before packing.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hpimount::formats::VIEW_FORMATS;
use hpimount_assets::view::{self, Alone};
use hpimount_containers::hpi::chunk::Method;
use proptest::prelude::RngExt;
use proptest::test_runner::TestRng;
use tempfile::TempDir;

use fixtures::hip::{Asset, Hip};
use fixtures::hpi::{File, V1, V2, file};
use fixtures::noise;
use testkit::sources::{ifp, pack_as};
use testkit::views::rendering;

/// The text that is searched for.
pub(super) const NEEDLE: &str = "NEEDLE_zqxj";

/// One file in this many has the needle.
const NEEDLE_EVERY: usize = 7;

/// One file in this many does not compress.
const NOISE_EVERY: usize = 5;

/// Number of directories in a tree.
const DIRECTORIES: usize = 8;

/// The directory of the assets in the HIP archive.
const LAYER: &str = "assets.hip/layers/00-DEFAULT";

/// Length of a file with chunks that are decoded a piece at a time.
const LONG: usize = 1_000_001;

/// Directories of the mount whose whole contents the readers compare.
pub(super) const ROOTS: [&str; 4] = ["zlib.hpi", "lz77.ufo", "assets.hip/layers", "loose"];

/// The expected contents of a file.
pub(super) struct Content {
    pub bytes: Vec<u8>,
    /// A copy on disk.
    pub original: PathBuf,
    pub has_needle: bool,
}

/// A file of the mount.
pub(super) struct Golden {
    /// Below the mount point.
    pub path: PathBuf,
    pub content: Arc<Content>,
}

/// Files with their paths.
type Files = Vec<(String, Vec<u8>)>;

/// The sources of a mount, and its expected contents.
pub(super) struct Set {
    dir: TempDir,
    pub sources: Vec<PathBuf>,
    pub files: Vec<Golden>,
    /// The indices of the files that are generated from assets.
    pub texts: Vec<usize>,
    /// The names in every directory below [`ROOTS`].
    pub directories: Vec<(PathBuf, BTreeSet<String>)>,
}

impl Set {
    /// Creates two HPI archives and a HIP archive, with `count` files each,
    /// half of them larger than 16 KiB, and a folder.
    pub(super) fn new(count: usize) -> Self {
        let mut set = Self {
            dir: tempfile::tempdir().unwrap(),
            sources: Vec::new(),
            files: Vec::new(),
            texts: Vec::new(),
            directories: Vec::new(),
        };
        set.add_trees(count);
        set.add_hip();
        set.add_loose();
        set.directories = directories(&set.files);
        let is_text = |number: &usize| set.files[*number].path.to_str().unwrap().contains(".meta/");
        set.texts = (0..set.files.len()).filter(is_text).collect();
        set
    }

    /// Returns the number of decoded bytes of all files.
    pub(super) fn size(&self) -> usize {
        self.files.iter().map(|file| file.content.bytes.len()).sum()
    }

    /// Returns the files that a walk from a directory finds.
    pub(super) fn below(&self, root: &Path) -> impl Iterator<Item = &Golden> {
        self.files
            .iter()
            .filter(move |file| file.path.starts_with(root))
            .filter(|file| file.path.ancestors().all(is_listed))
    }

    /// Writes the paths of the files of the mount and of their originals to
    /// [`Self::pairs`].
    pub(super) fn write_pairs(&self, mount: &Path) {
        let mut text = String::new();
        for file in &self.files {
            let (copy, original) = (mount.join(&file.path), &file.content.original);
            writeln!(text, "{}\t{}", copy.display(), original.display()).unwrap();
        }
        fs::write(self.pairs(), text).unwrap();
    }

    /// Returns the path of the file with the pairs of paths.
    pub(super) fn pairs(&self) -> PathBuf {
        self.dir.path().join("pairs")
    }

    /// Adds files that the mount must show in each of `parents`. Writes their
    /// originals below a directory `kind`, and returns it.
    fn add(&mut self, kind: &str, files: Files, parents: &[String]) -> PathBuf {
        let originals = self.dir.path().join("originals").join(kind);
        for (path, bytes) in files {
            let original = originals.join(&path);
            fs::create_dir_all(original.parent().unwrap()).unwrap();
            fs::write(&original, &bytes).unwrap();
            let needle = NEEDLE.as_bytes();
            let content = Arc::new(Content {
                has_needle: bytes.windows(needle.len()).any(|part| part == needle),
                original,
                bytes,
            });
            self.files.extend(parents.iter().map(|parent| Golden {
                path: Path::new(parent).join(&path),
                content: content.clone(),
            }));
        }
        originals
    }

    /// Adds a tree that is packed twice, with an archive and an asset in it.
    fn add_trees(&mut self, count: usize) {
        let inner = few_files();
        let walk = ifp(6, 40);
        let mut files = many_files(count);
        files.push(("nested/Inner.ufo".to_owned(), keyed(&inner)));
        files.push(("nested/Walk.ifp".to_owned(), walk.clone()));
        let archives = [("zlib.hpi", "zlib"), ("lz77.ufo", "lz77")];
        let parents = |below: &str| archives.map(|(archive, _)| format!("{archive}{below}"));
        let tree = self.add("tree", files, &parents(""));
        self.add("inner", inner, &parents("/nested/Inner.ufo.d"));
        self.add("walk", shown(&walk), &parents("/nested/Walk.ifp.meta"));
        for (archive, method) in archives {
            let archive = self.dir.path().join(archive);
            pack_as(&tree, &archive, &["--method", method, "--key", "0x7D"]);
            self.sources.push(archive);
        }
    }

    /// Adds the files in the directories of the first tree as assets.
    fn add_hip(&mut self) {
        let mut hip = Hip::default();
        hip.layer(0);
        let mut assets = Vec::new();
        for file in self.below(Path::new("zlib.hpi")) {
            let name = file.path.file_name().unwrap().to_str().unwrap();
            if name.starts_with("Tank") {
                hip.add(Asset::new(b"TEXT", name, &file.content.bytes));
                assets.push(Golden {
                    path: Path::new(LAYER).join(name),
                    content: file.content.clone(),
                });
            }
        }
        self.files.extend(assets);
        let archive = self.dir.path().join("assets.hip");
        fs::write(&archive, hip.build()).unwrap();
        self.sources.push(archive);
    }

    /// Adds a folder with an archive of long chunks, and an asset.
    fn add_loose(&mut self) {
        let mut long: Files = (0..3)
            .map(|number| (format!("Long{number}.bin"), lines(1000 + number, LONG)))
            .collect();
        hide_needle(&mut long[1].1);
        let packed = |((name, bytes), method): (&(String, Vec<u8>), _)| {
            file(name.as_bytes(), File::new(bytes.clone(), method))
        };
        let methods = [Method::Zlib, Method::Lz77].into_iter().cycle();
        let archive = V2 {
            chunk_size: None,
            ..V2::new(long.iter().zip(methods).map(packed).collect())
        };
        let run = ifp(3, 100);
        let files = vec![
            ("Long.kmp".to_owned(), archive.build().bytes),
            ("Run.ifp".to_owned(), run.clone()),
        ];
        let parent = |below: &str| [format!("loose{below}")];
        let folder = self.add("loose", files, &parent(""));
        self.add("long", long, &parent("/Long.kmp.d"));
        self.add("run", shown(&run), &parent("/Run.ifp.meta"));
        self.sources.push(folder);
    }
}

/// Returns a text in which every line contains its position, so that no two parts of a
/// file are equal.
fn lines(number: usize, length: usize) -> Vec<u8> {
    let mut text = String::with_capacity(length + 100);
    for line in 0.. {
        if text.len() >= length {
            break;
        }
        writeln!(
            text,
            "[UNIT{number}]\tLine={line};\tDamage={};",
            line * 7 % 9973
        )
        .unwrap();
    }
    text.truncate(length);
    text.into_bytes()
}

fn hide_needle(bytes: &mut Vec<u8>) {
    let middle = bytes.len() / 2;
    bytes.splice(middle..middle, NEEDLE.bytes());
}

/// Returns files of 1 to 512 KiB, the same every time.
fn many_files(count: usize) -> Files {
    let mut random = TestRng::deterministic_rng(Default::default());
    let make = |number| {
        let size = (1 << random.random_range(10..19)) + random.random_range(0..1024);
        let mut bytes = match number % NOISE_EVERY {
            0 => noise(number as u64, size),
            _ => lines(number, size),
        };
        if number % NEEDLE_EVERY == 0 {
            hide_needle(&mut bytes);
        }
        let path = format!("Units{}/Tank{number:04}.text", number % DIRECTORIES);
        (path, bytes)
    };
    (0..count).map(make).collect()
}

fn few_files() -> Files {
    let make = |number: usize| (format!("Inner{number}.txt"), lines(2000 + number, 90_000));
    (0..4).map(make).collect()
}

fn keyed(files: &Files) -> Vec<u8> {
    let entry = |(name, bytes): &(String, Vec<u8>)| {
        file(name.as_bytes(), File::new(bytes.clone(), Method::Lz77))
    };
    V1::new(files.iter().map(entry).collect())
        .keyed(0x3C)
        .build()
        .bytes
}

/// Returns the files in the `.meta` of an IFP file.
fn shown(ifp: &[u8]) -> Files {
    let format = VIEW_FORMATS.iter().find(|format| format.shows(b"x.ifp"));
    let view = view::open(format.unwrap(), &ifp.to_vec().into(), &Alone);
    let files = view.files().into_iter().enumerate();
    let path = |folder: Option<Cow<str>>, name| match folder {
        Some(folder) => format!("{folder}/{name}"),
        None => name,
    };
    files
        .map(|(number, file)| (path(file.folder, file.name), rendering(&*view, number)))
        .collect()
}

/// Returns whether a path is listed in its directory: companions of assets are
/// listed in the folder, but can only be looked up in the archives.
fn is_listed(path: &Path) -> bool {
    path.starts_with("loose") || path.extension().is_none_or(|extension| extension != "meta")
}

/// Returns the names in every directory below [`ROOTS`].
fn directories(files: &[Golden]) -> Vec<(PathBuf, BTreeSet<String>)> {
    let mut directories = BTreeMap::<PathBuf, BTreeSet<String>>::new();
    for file in files {
        let above = file.path.ancestors().skip(1);
        for (directory, inside) in above.zip(file.path.ancestors()) {
            if ROOTS.iter().any(|root| directory.starts_with(root)) {
                let name = inside.file_name().unwrap().to_str().unwrap();
                let names = directories.entry(directory.to_owned()).or_default();
                if is_listed(inside) {
                    names.insert(name.to_owned());
                }
            }
        }
    }
    directories.into_iter().collect()
}
