//! Planning changes reads the tables of an archive, and nothing of unchanged files.

use std::fs;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tempfile::tempdir;

use fixtures::disc::Disc;
use fixtures::dreamcast;
use fixtures::hip::{Asset, Hip};
use fixtures::hpi::{File, V1, V2, dir, file};
use fixtures::noise;
use hpimount_containers::apply::{Tools, apply};
use hpimount_containers::changes::{Folder, Original, Report};
use hpimount_containers::hip;
use hpimount_containers::hpi::chunk::Method;
use hpimount_containers::io::ReadAt;
use testkit::applied::new_file;
use testkit::hpipack::{hpipack, stderr};

/// Length of the file that stays.
const BIG: usize = 1 << 20;

/// Number of readable bytes at both ends: formats are detected by the first ones, and
/// sectors are read together.
const ENDS: usize = 128 << 10;

/// An original, with the number of bytes read from a range of it.
struct Watched {
    bytes: Vec<u8>,
    range: Range<u64>,
    read: AtomicU64,
}

impl Watched {
    /// Watches the file with the bytes of [`big`] in an archive that stores it.
    fn new(bytes: Vec<u8>) -> Self {
        let begin = &big()[..1000];
        let start = bytes.windows(1000).position(|window| window == begin);
        let start = start.unwrap();
        Self {
            bytes,
            range: (start + ENDS) as u64..(start + BIG - ENDS) as u64,
            read: AtomicU64::new(0),
        }
    }
}

impl ReadAt for Watched {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let end = (offset + buf.len() as u64).min(self.range.end);
        let inside = end.saturating_sub(offset.max(self.range.start));
        self.read.fetch_add(inside, Ordering::Relaxed);
        self.bytes.read_exact_at(buf, offset)
    }
}

fn big() -> Vec<u8> {
    noise(1, BIG)
}

/// An archive with a large file and a small one.
struct Archive {
    name: &'static str,
    /// The file with the data.
    bytes: Vec<u8>,
    /// The description of a disc, or the directory of a pair.
    beside: Option<Vec<u8>>,
    /// The path of the small file.
    small: String,
}

fn archives() -> Vec<Archive> {
    let mut disc = Disc::default();
    disc.file("DATA/BIG.DAT", &big())
        .file("DATA/SMALL.DAT", b"small");
    let tree = || {
        let stored = |bytes: &[u8]| File::new(bytes, Method::Stored);
        let files = vec![
            file(b"big.bin", stored(&big())),
            file(b"small.txt", stored(b"small")),
        ];
        vec![dir(b"data", files)]
    };
    let mut archive = Hip::default();
    archive.layer(0).add(Asset::new(b"MRKR", "big", &big()));
    archive.layer(1).add(Asset::new(b"MRKR", "small", b"small"));
    let sheet = b"FILE \"a.bin\" BINARY\n  TRACK 01 MODE2/2352\n    INDEX 01 00:00:00\n";
    let area = dreamcast::mode_1(&dreamcast::area(&disc), dreamcast::AREA);
    let of = |name, bytes, beside, small: &str| Archive {
        name,
        bytes,
        beside,
        small: small.to_owned(),
    };
    let gdi = b"1\n1 45000 4 2352 a.bin 0\n";
    let id = format!("ids/{:08X}", hip::asset_id(b"small"));
    let mut archives = vec![
        of("a.iso", disc.iso(), None, "DATA/SMALL.DAT"),
        of("a.bin", disc.raw(), None, "DATA/SMALL.DAT"),
        of("a.cue", disc.raw(), Some(sheet.to_vec()), "DATA/SMALL.DAT"),
        of("a.gdi", area, Some(gdi.to_vec()), "DATA/SMALL.DAT"),
        of(
            "a.hpi",
            V1::new(tree()).build().bytes,
            None,
            "data/small.txt",
        ),
        of(
            "b.hpi",
            V2::new(tree()).build().bytes,
            None,
            "data/small.txt",
        ),
        of("a.hip", archive.build(), None, &id),
    ];
    for name in ["a.zip", "a.img", "a.prx", "a.wad"] {
        let work = tempdir().unwrap();
        let folder = work.path().join("folder");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("big.dat"), big()).unwrap();
        fs::write(folder.join("small.txt"), b"small").unwrap();
        let out = work.path().join(name);
        let ran = hpipack(&["--quiet"], &folder, &out);
        assert!(ran.status.success(), "{}", stderr(&ran));
        let beside = fs::read(out.with_extension("hed")).ok();
        archives.push(of(name, fs::read(&out).unwrap(), beside, "small.txt"));
    }
    archives
}

#[test]
fn planning_reads_nothing_of_a_file_that_stays() {
    for archive in archives() {
        let Archive {
            name,
            bytes,
            beside,
            small,
        } = archive;
        // The watched file of a disc is not the description.
        let is_sheet = name.ends_with(".cue") || name.ends_with(".gdi");
        let watched = Arc::new(Watched::new(bytes));
        let other = beside.map(|bytes| Arc::new(bytes) as Arc<dyn ReadAt>);
        let own = watched.clone() as Arc<dyn ReadAt>;
        let (source, partner) = match (is_sheet, other) {
            (true, Some(sheet)) => (sheet, Some(own)),
            (_, other) => (own, other),
        };
        let mut folder = Folder::default();
        folder.insert(&small, new_file(&small, &noise(2, 5000)));
        let original = Original {
            partner: &|_| partner.clone(),
            ..Original::alone(source, name)
        };
        let mut report = Report::default();
        let written = apply(&original, folder, "", Tools::PLAIN, &mut report);
        let written = written.unwrap_or_else(|| panic!("{name}: {:?}", report.refusals));
        assert_eq!(watched.read.load(Ordering::Relaxed), 0, "{name}");
        // The result reads it from the original.
        let files = written.files.into_iter().map(|(_, file)| file);
        for file in files.chain([written.data]) {
            let mut all = vec![0; file.len() as usize];
            file.read_exact_at(&mut all, 0).unwrap();
        }
        let read = watched.read.load(Ordering::Relaxed);
        assert_eq!(read, (BIG - 2 * ENDS) as u64, "{name}");
    }
}
